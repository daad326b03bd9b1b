/*
 * The ring: one mapping of shared memory per process and the four things an
 * observer does with it. Runs inside other people's processes: no heap, no
 * lock, no output, no call that can block, errno left to the caller to save.
 */
#ifndef PAMPROF_RING_H
#define PAMPROF_RING_H

#include <stdbool.h>

#include "ring_header.h"

/*
 * Maps the ring at path for this process, once; later calls return at once.
 * The file must be a regular one, owned by root or the effective user, mode
 * 0600 or less, with a header that fits its size; anything else means that
 * nothing is recorded and nothing more. The mapping is not inherited by
 * children (madvise(2), MADV_DONTFORK). path must stay valid.
 */
void ring_attach(const char *path);

/*
 * To be called before a group of claims. Returns whether records can be
 * written now. In a forked child, which inherits no mapping, it maps the ring
 * anew if the child may open it; such a mapping is dropped by ring_leave().
 */
bool ring_enter(void);

/*
 * Ends what ring_enter() began: a child's own mapping is removed, so that a
 * child that goes on to give up its privileges never holds the ring.
 */
void ring_leave(void);

/* Options of the ring (enum ring_option); 0 when there is none. */
uint32_t ring_options(void);

/* A new id, never 0, unique over all rings; 0 when there is no ring. */
uint64_t ring_transaction(void);

/* Ids of the calling process and thread, cached; correct after fork(2). */
void ring_ids(int32_t *pid, int32_t *ppid, int32_t *tid);

/*
 * Claims count slots (1 to 1 + RECORD_TEXT_MAX) in one atomic add. Returns
 * the index of the first; index + 1 is the generation of the slot there.
 */
uint64_t ring_claim(unsigned count);

/*
 * Closes slot `index` with the RECORD_SIZE bytes at slot, whose generation
 * and checksum are set here. A reader sees the whole slot, or knows that it
 * does not.
 */
void ring_put(uint64_t index, void *slot);

#endif
