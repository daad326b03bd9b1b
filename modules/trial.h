/*
 * What pam_trial.so and the tool share: the results the stub gives and the
 * calls it has got, in memory of the process that drives it.
 */
#ifndef PAMPROF_TRIAL_H
#define PAMPROF_TRIAL_H

#include <stdint.h>

#define TRIAL_RULES  10000 /* markers, by their last four digits */
#define TRIAL_LEFT   9000  /* from here on: rules that are left alone */
#define TRIAL_CALLS  4096
#define TRIAL_SYMBOL "pam_trial_table"

/* The functions of a module; the passes of pam_sm_chauthtok apart. */
enum trial_function {
	TRIAL_AUTHENTICATE,
	TRIAL_SETCRED,
	TRIAL_ACCT_MGMT,
	TRIAL_OPEN_SESSION,
	TRIAL_CLOSE_SESSION,
	TRIAL_CHAUTHTOK_PRELIM,
	TRIAL_CHAUTHTOK_UPDATE,
	TRIAL_FUNCTIONS
};

/* One call: which rule, how, and FNV-1a over its arguments but the marker. */
struct trial_call {
	uint32_t rule, function, flags, arguments;
};

struct trial_table {
	uint8_t result[TRIAL_RULES][TRIAL_FUNCTIONS];
	uint32_t base;  /* what markers of this service are above */
	uint32_t calls; /* may exceed TRIAL_CALLS: not kept */
	struct trial_call call[TRIAL_CALLS];
};

#endif
