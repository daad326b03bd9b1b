/*
 * Signals that ask the program to end, held back until it has tidied up.
 */
#ifndef PAMPROF_RUN_INTERRUPT_H
#define PAMPROF_RUN_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

#include "../base/error.h"

struct interrupt {
	int fd; /* readable once a signal has come; -1: not held back */
	sigset_t before;
};

/*
 * From now on SIGINT, SIGQUIT, SIGTERM and SIGHUP, unless ignored as under
 * nohup(1), make fd readable instead of ending the program. Children inherit that they
 * are blocked. Returns 0 or ERROR_SYSTEM.
 */
int interrupt_hold(struct interrupt *interrupt, struct error *error);

/*
 * Back to normal: a signal that came takes its effect now, which is usually
 * the end of the program. Nothing if not held back.
 */
void interrupt_release(struct interrupt *interrupt);

#endif
