/*
 * CPU time and context switches of the calling thread, cheaply.
 */
#ifndef PAMPROF_USAGE_H
#define PAMPROF_USAGE_H

#include <stdint.h>

struct usage {
	uint64_t cpu_ns; /* meaningful as a difference only */
	uint64_t voluntary, involuntary;
};

/*
 * Reads them now, for the thread whose id (gettid(2)) is tid. One system
 * call, getrusage(2), and a second one after the thread has been switched
 * out: getrusage alone knows the CPU time as of the last timer tick only.
 * A thread that was not switched out has used the CPU all the time.
 */
void usage_get(struct usage *usage, int32_t tid);

#endif
