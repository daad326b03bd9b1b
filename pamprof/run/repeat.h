/*
 * A login, measured as often as asked, each time in a fresh process or all
 * times in one.
 */
#ifndef PAMPROF_RUN_REPEAT_H
#define PAMPROF_RUN_REPEAT_H

#include <stdbool.h>
#include <stdio.h>

#include "../source/pam.h"
#include "../source/pam_conv.h"
#include "../trace/segment.h"

struct repeat {
	const struct pam_login *login;
	struct answers *answers;
	const char *ring; /* path of the ring the stack records into */
	unsigned long runs;
	uint64_t timeout_ns; /* for each run */
	bool in_process;
	int signals;     /* signalfd(2): what becomes readable ends it */
	FILE *save;      /* gets every slot, or NULL */
	slot_taker take; /* gets every slot, in order */
	void *context;
};

struct repeat_result {
	unsigned long done, denied; /* runs; of them without success */
	bool interrupted;
	struct assembly_loss loss; /* torn, overwritten, dropped */
};

/*
 * Does the runs. A run that crashes, hangs or is refused is a result, and
 * the next one is done. Returns 0, or an error when a run could not be
 * measured; slots before it have been taken then.
 */
int repeat_run(const struct repeat *repeat, struct repeat_result *result,
	       struct error *error);

#endif
