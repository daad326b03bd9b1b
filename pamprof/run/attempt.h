/*
 * One measured child process: started, watched, and ended whatever it does.
 */
#ifndef PAMPROF_RUN_ATTEMPT_H
#define PAMPROF_RUN_ATTEMPT_H

#include <stdbool.h>

#include "../source/pam.h"
#include "../source/pam_conv.h"
#include "../trace/segment.h"

struct attempt {
	/* Set by the caller. */
	const struct pam_login *login;
	struct answers *answers;
	const char *ring;           /* path */
	struct ring_reader *reader; /* of that ring */
	struct assembly_loss *loss;
	unsigned long runs;  /* that this child shall do */
	uint64_t timeout_ns; /* for each run */
	bool quiet;          /* notices of modules are not shown */
	int signals;     /* signalfd(2) of signals that end the measurement */
	slot_taker take; /* gets every slot, in order */
	void (*step)(void *context, unsigned long done); /* may be NULL */
	void *context;                                   /* of both */

	/* Set by attempt_run(). */
	unsigned long done, denied; /* runs ended; of them not by success */
	bool interrupted;

	/* Its own. */
	struct record open; /* begin of the run that is under way; span 0 */
	_Atomic uint64_t *drained; /* shared: slots read, for in-process */
	uint64_t deadline_ns;      /* CLOCK_MONOTONIC */
	int sockets[2];
	uint64_t waited_ns; /* for a person */
};

/*
 * Starts a child that does the runs, drains the ring while it works, and
 * kills it when a run takes too long. When the child ends within a run, the
 * run's end record is written for it: signal, exit or time-out, so done is
 * at least 1 on success. Nothing of the child survives. Returns 0, or an
 * error when it could not be measured (no answer to a prompt, no record).
 */
int attempt_run(struct attempt *attempt, struct error *error);

#endif
