/*
 * A bar on the terminal for measurements that take a while.
 */
#ifndef PAMPROF_RUN_PROGRESS_H
#define PAMPROF_RUN_PROGRESS_H

#include <stdint.h>

struct progress {
	uint64_t start_ns, shown_ns; /* CLOCK_MONOTONIC; 0: not shown */
	unsigned long total;
};

/* Starts the clock for total runs; nothing is shown yet. */
void progress_start(struct progress *progress, unsigned long total);

/*
 * To be called now and then: shows the bar when stderr is a terminal and
 * more than two seconds have passed, at most ten times a second.
 */
void progress_step(struct progress *progress, unsigned long done);

/* Takes the bar away. */
void progress_end(struct progress *progress);

#endif
