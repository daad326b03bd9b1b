/*
 * Records in, trees of spans out. Pairs begin and end, nests by process,
 * thread and time, joins processes by transaction, and counts what it cannot
 * place; it never guesses. Records are treated as written by an enemy.
 */
#ifndef PAMPROF_TRACE_ASSEMBLE_H
#define PAMPROF_TRACE_ASSEMBLE_H

#include <stddef.h>

#include "span.h"

/*
 * What was lost or could not be placed; all of them are said in reports.
 * dropped: not written by the observer, or not held here, for want of room.
 * orphaned: text or child without its span or not inside it, and ends that
 * came after their tree had been handed out as unfinished.
 */
struct assembly_loss {
	uint64_t torn;        /* slots whose checksum did not fit */
	uint64_t overwritten; /* lapped before they were read */
	uint64_t dropped;
	uint64_t duplicated; /* the same span begin or end twice */
	uint64_t orphaned;
	uint64_t nonsense; /* impossible field values */
};

/* Adds what a reader of slots has lost to what an assembler has. */
void assembly_loss_add(struct assembly_loss *to,
		       const struct assembly_loss *loss);

struct assembler;

/*
 * Called with a finished tree: a KIND_RUN span with phases and calls below,
 * or, where there is no run (production, trace), a made-up root of kind 0
 * for each transaction whose children are its phases or calls. The tree
 * belongs to the assembler and is gone after the call. A transaction comes
 * in more than one root when parts of it turn up late, or when so much is
 * open that the longest idle ones have to be let go. Spans that no
 * transaction is known of (modules loaded where no phase is recorded) have
 * roots with transaction 0.
 */
typedef void (*assembler_emit)(void *context, const struct span *root);

/*
 * Makes an assembler, to be freed with assembler_free(). It takes the slots
 * of one ring, or of segments of one ring in their order: ids of others mean
 * other spans, see clock_same_ring(). Memory is bounded by what is open, and
 * by some hundred MB whatever the slots say.
 */
struct assembler *assembler_new(assembler_emit emit, void *context);
void assembler_free(struct assembler *assembler);

/* Takes one slot whose checksum has been verified; order is by claim. */
void assembler_feed(struct assembler *assembler, const struct record *slot);

/*
 * Emits everything that is still open, as unfinished. The assembler is then
 * as new, but for its losses, and may take the slots of another ring.
 */
void assembler_finish(struct assembler *assembler);

/* The losses so far; the caller adds torn, overwritten and dropped. */
struct assembly_loss *assembler_loss(struct assembler *assembler);

#endif
