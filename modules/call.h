/*
 * A module call as a pair of records: what the shim (pam_timing) and the
 * audit observer both do around pam_sm_*. Runs inside other people's
 * processes under the rules of ring.h.
 */
#ifndef PAMPROF_CALL_H
#define PAMPROF_CALL_H

#include <security/pam_modules.h>

#include "conversation.h"
#include "emit.h"
#include "usage.h"

/* The three functions of libpam in use: an auditor has no link to them. */
struct call_pam {
	int (*get_item)(const pam_handle_t *, int, const void **);
	int (*get_data)(const pam_handle_t *, const char *, const void **);
	int (*set_data)(pam_handle_t *, const char *, void *,
			void (*)(pam_handle_t *, void *, int));
};

/* What names a call before it is made. */
struct call_site {
	pam_handle_t *handle; /* NULL: libpam is asked for nothing */
	const char *object;   /* path of the module, or NULL */
	const char *service;  /* said of a call without a handle, or NULL */
	uint64_t transaction; /* id where the handle holds none; 0: a new one */
	uint32_t flags;       /* of PAM */
	uint32_t marker;
	uint16_t valid; /* VALID_MARKER or VALID_ARGUMENTS */
	uint8_t kind;   /* KIND_CALL or KIND_PHASE */
	uint8_t phase;  /* PHASE_CHAUTHTOK: the pass is found in the flags */
};

/* State of one call, on the caller's stack; opaque to it. */
struct call_frame {
	struct record record;
	struct call_site site;
	conversation_fn swapped; /* our function in the handle, or NULL */
	/* Of the thread, on entry. */
	uint64_t prompt_ns, outer_span, outer_transaction;
	struct usage usage;
	uint32_t prompts;
};

/*
 * Writes the begin record, swaps the conversation when the ring asks for it
 * and starts the clocks. Does nothing at all when there is no ring. Keeps
 * errno. Calls that never come back to call_leave() do no harm.
 */
void call_enter(struct call_frame *frame, const struct call_pam *pam,
		const struct call_site *site);

/*
 * Stops the clocks, puts the conversation back if it is still ours and
 * writes the end record with the value the call returned. Keeps errno.
 */
void call_leave(struct call_frame *frame, const struct call_pam *pam,
		int result);

/*
 * Id of the handle's transaction. One that holds none yet is given `wanted`,
 * or a new one if that is 0. Only a module may store it (pam_set_data(3)):
 * for the application `wanted` is returned all the same. To be called
 * between ring_enter() and ring_leave().
 */
uint64_t call_transaction(const struct call_pam *pam, pam_handle_t *handle,
			  uint64_t wanted);

/* Records that path was loaded: start and duration in CLOCK_MONOTONIC ns. */
void call_loaded(const char *path, uint64_t start_ns, uint64_t duration_ns);

/*
 * To be called once when the observer is loaded: notes whether the process
 * runs under seccomp, where only clocks that need no system call are read.
 */
void call_prepare(void);

/* Names the path of the ring to the audit observer (audit.c). */
#define AUDIT_RING_VARIABLE "PAMPROF_AUDIT_RING"

#define CALL_OPERATIONS_VERSION 1
#define CALL_OPERATIONS_NAME    "pamprof_operations"

/* What the resident object exports under CALL_OPERATIONS_NAME. */
struct call_operations {
	uint32_t version, frame_size;
	void (*enter)(struct call_frame *, const struct call_site *);
	void (*leave)(struct call_frame *, int);
	void (*loaded)(const char *, uint64_t, uint64_t);
};

#endif
