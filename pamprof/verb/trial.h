/*
 * The smallest whole measurement: one rule, wrapped, called once. For
 * `pamprof doctor`.
 */
#ifndef PAMPROF_VERB_TRIAL_H
#define PAMPROF_VERB_TRIAL_H

#include "../base/error.h"

struct trial_result {
	int verdict;      /* of pam_authenticate over pam_permit */
	unsigned records; /* whole ones read back from the ring */
	char folder[256]; /* where the shims were */
};

/*
 * Wraps a stack of one pam_permit rule in a folder of its own, drives it in
 * a child process and reads the ring. Nothing is left behind. On failure
 * error says which step failed.
 */
int trial_run(struct trial_result *result, struct error *error);

#endif
