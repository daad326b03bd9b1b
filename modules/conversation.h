/*
 * Timing of the application's conversation function: trampolines that stand
 * in for it while a module runs. See PAM.md trap 18 and pam_timing(8).
 */
#ifndef PAMPROF_CONVERSATION_H
#define PAMPROF_CONVERSATION_H

#include <security/pam_appl.h>
#include <stdint.h>

typedef int (*conversation_fn)(int, const struct pam_message **,
			       struct pam_response **, void *);

/* Per-thread sums; they only grow, so nothing dangles after a longjmp. */
struct conversation_clock {
	uint64_t ns;   /* spent in the application's conversation */
	uint64_t span; /* module call now running on this thread, or 0 */
	uint64_t transaction;
	uint32_t prompts;
};

/* The calling thread's clock. */
struct conversation_clock *conversation_clock(void);

/*
 * Returns a function that calls original with the same arguments and adds
 * the time to the clock, and that may be called for as long as the process
 * lives; original itself if it is one already; NULL when no more fit.
 */
conversation_fn conversation_timed(conversation_fn original);

/* The function behind a timed one; NULL if fn is not one of ours. */
conversation_fn conversation_original(conversation_fn fn);

#endif
