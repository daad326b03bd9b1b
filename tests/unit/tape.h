/*
 * Records made up for tests of the assembler: threads that open and close
 * spans, each slot claimed and fed at once, or lost. What comes out is kept
 * as a line of text.
 */
#ifndef PAMPROF_TESTS_TAPE_H
#define PAMPROF_TESTS_TAPE_H

#include "../../pamprof/base/buffer.h"
#include "../../pamprof/trace/assemble.h"

enum {
	TAPE_LANES = 16,
	TAPE_DEPTH = 64,
	TAPE_STEP = 10 /* ns between two claims */
};

struct tape {
	struct assembler *assembler;
	struct buffer out;
	uint64_t generation, now;
	uint64_t transaction, run; /* what the next records say */
	unsigned lane;             /* the thread that is running */
	uint64_t load_ns;          /* what loading a module takes */
	bool lose;                 /* the next record is lost */
	bool twice;                /* the next slot comes twice */
	bool bare;                 /* the next record loses its text */
	struct record stack[TAPE_LANES][TAPE_DEPTH];
	unsigned depth[TAPE_LANES];
	int32_t pid[TAPE_LANES];
};

/* emit may be NULL: then out collects the trees as tape_print() does. */
void tape_open(struct tape *tape, assembler_emit emit, void *context);
/* Finishes the assembler, frees all. */
void tape_close(struct tape *tape);

/* The innermost open span of the running thread, or NULL. */
struct record *tape_top(struct tape *tape);

/* Begins a span on the running thread; object may be long. Its id. */
uint64_t tape_begin(struct tape *tape, unsigned kind, unsigned phase,
		    const char *object);
/* Ends the innermost one. */
void tape_end(struct tape *tape, const char *object);
/* A span that is written at its end only. */
uint64_t tape_load(struct tape *tape, const char *object);
/* Ends the run, the outermost span, for a process that was killed. */
void tape_kill(struct tape *tape);
/* Feeds a slot just as it is, but for generation. */
void tape_feed(struct tape *tape, struct record *slot);

/*
 * Appends a tree: letter of the kind, id, "!" if unfinished, children in
 * brackets. A made-up root is T and the number of its transaction.
 */
void tape_print(struct buffer *out, const struct span *root);

/* Appends the losses that are not 0, as " duplicated=1". */
void tape_print_loss(struct buffer *out, const struct assembly_loss *loss);

/*
 * Does what the words of a script say:
 *   @2   thread 2 runs        T5  transaction 5       ~  run 0: no parent
 *   +R +P +C +V  begins a run, phase, call, conversation
 *   +S +E  begins the phase "start", "end"; L  a module is loaded
 *   -    ends the innermost   X   ends the run of a killed process
 *   !    the next is lost     2   the next comes twice
 */
void tape_play(struct tape *tape, const char *script);

#endif
