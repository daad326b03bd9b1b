/*
 * A module call as a pair of records: what the shim (pam_timing) and the
 * audit observer both do around pam_sm_*. Runs inside other people's
 * processes under the rules of ring.h.
 */
#ifndef PAMPROF_CALL_H
#define PAMPROF_CALL_H

#include <security/pam_modules.h>

#include "ring.h"

/* The three functions of libpam in use: an auditor has no link to them. */
struct call_pam {
	int (*get_item)(const pam_handle_t *, int, const void **);
	int (*get_data)(const pam_handle_t *, const char *, const void **);
	int (*set_data)(pam_handle_t *, const char *, void *,
			void (*)(pam_handle_t *, void *, int));
};

/* State of one call, on the caller's stack; opaque to it. */
struct call_frame {
	struct record record;
	struct pam_conv *conversation;  /* libpam's own copy, or NULL */
	void *swapped;                  /* our function in it */
	uint64_t prompt_ns, outer_span; /* of the thread, on entry */
	uint64_t voluntary, involuntary, cpu_ns;
	uint32_t prompts;
	bool recording;
};

/* What names a call before it is made. */
struct call_site {
	pam_handle_t *handle;
	const char *object; /* path of the module, or NULL */
	uint32_t flags, marker;
	uint16_t valid; /* VALID_MARKER or VALID_ARGUMENTS */
	uint8_t kind, phase;
};

/*
 * Writes the begin record, swaps the conversation when the ring asks for it
 * and starts the clocks. Does nothing visible when there is no ring. Keeps
 * errno.
 */
void call_enter(struct call_frame *frame, const struct call_pam *pam,
		const struct call_site *site);

/*
 * Stops the clocks, puts the conversation back if it is still ours and
 * writes the end record with the value the call returned. Keeps errno.
 */
void call_leave(struct call_frame *frame, const struct call_pam *pam,
		pam_handle_t *handle, int result);

/* Records that path was loaded: start and duration in CLOCK_MONOTONIC ns. */
void call_loaded(const char *path, uint64_t start_ns, uint64_t duration_ns);

/* CLOCK_MONOTONIC in ns, through the vDSO. */
uint64_t call_now(void);

#define CALL_OPERATIONS_VERSION 1

/* What the resident object exports, under the name "pamprof_operations". */
struct call_operations {
	uint32_t version, frame_size;
	void (*enter)(struct call_frame *, const struct call_site *);
	void (*leave)(struct call_frame *, pam_handle_t *, int);
	void (*loaded)(const char *, uint64_t, uint64_t);
};

#endif
