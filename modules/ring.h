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
 * To be called before one record and its text slots are written; whether
 * that can be done. A forked child inherits no mapping: it maps the ring for
 * itself if it still may, and only until ring_leave(), so that a child that
 * goes on to give up its privileges never holds the ring. To be followed by
 * ring_leave() if, and only if, it returned true.
 */
bool ring_enter(void);
void ring_leave(void);

/*
 * Forked children shall write nothing: for a process under seccomp, whose
 * children may have been forbidden the calls that mapping takes.
 */
void ring_exclude_children(void);

/* Those below are for use between ring_enter() and ring_leave(). */

/* Options of the ring (enum ring_option). */
uint32_t ring_options(void);

/* A new id, never 0, unique over all rings. */
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

/* Counts something that an observer had to leave out: a loss in reports. */
void ring_drop(void);

#endif
