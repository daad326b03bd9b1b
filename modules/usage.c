/*
 * CPU time of a thread to the nanosecond at the price of its count of context
 * switches. The CPU clock itself, clock_gettime(2), costs more than all else
 * that a record costs; so it is read only when it must differ from the wall
 * clock: after the thread has been off the CPU.
 */
#include <string.h>
#include <sys/resource.h>

#include "emit.h"
#include "usage.h"

/* When this thread's CPU clock was last read, and how it stood. */
static __thread struct {
	uint64_t now_ns, cpu_ns;
	uint64_t switches;
	int32_t tid; /* a forked child inherits this, and is another thread */
} anchor;

static uint64_t
cpu_clock(void)
{
	struct timespec cpu;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
	return (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec;
}

void
usage_get(struct usage *usage, int32_t tid)
{
	struct rusage counts;
	uint64_t switches;

	if (getrusage(RUSAGE_THREAD, &counts) != 0)
		memset(&counts, 0, sizeof(counts));
	usage->voluntary = (uint64_t)counts.ru_nvcsw;
	usage->involuntary = (uint64_t)counts.ru_nivcsw;
	switches = usage->voluntary + usage->involuntary;
	if (anchor.tid != tid || anchor.switches != switches) {
		anchor.cpu_ns = cpu_clock();
		anchor.now_ns = emit_now();
		anchor.switches = switches;
		anchor.tid = tid;
	}
	usage->cpu_ns = anchor.cpu_ns + (emit_now() - anchor.now_ns);
}
