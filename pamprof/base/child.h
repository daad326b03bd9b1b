/*
 * Child processes: started as a function of ours, waited for with a limit,
 * and never left behind.
 */
#ifndef PAMPROF_BASE_CHILD_H
#define PAMPROF_BASE_CHILD_H

#include <stdint.h>
#include <sys/types.h>

#include "error.h"

/*
 * Where the child stands towards the terminal. One that may ask a person
 * must stay in the group of the foreground, else the terminal stops it.
 */
enum child_group {
	CHILD_SAME_GROUP,
	CHILD_OWN_GROUP /* child_wait() ends what it leaves behind as well */
};

struct child {
	pid_t pid; /* 0 when there is none */
	int pidfd; /* -1 where the kernel has none */
	enum child_group group;
};

enum child_how {
	CHILD_EXITED,   /* value: exit status */
	CHILD_SIGNALED, /* value: signal */
	CHILD_TIMED_OUT /* it was killed; value: SIGKILL */
};

struct child_end {
	enum child_how how;
	int value;
};

#define CHILD_NO_LIMIT UINT64_MAX

/*
 * Forks; the child calls body(context) and leaves with its value through
 * _exit(2), so buffers and exit handlers of the parent do not run twice. It
 * gets SIGKILL if the parent dies first (PR_SET_PDEATHSIG). Returns 0 or
 * ERROR_SYSTEM with child->pid 0.
 */
int child_start(struct child *child, enum child_group group,
		int (*body)(void *context), void *context, struct error *error);

/*
 * Waits until the child ends or limit_ns have passed; it is killed then, its
 * group too if it has one of its own. Afterwards the child is reaped and
 * child->pid is 0. Returns 0 or ERROR_SYSTEM.
 */
int child_wait(struct child *child, uint64_t limit_ns, struct child_end *end,
	       struct error *error);

/* Kills and reaps a child that may or may not be there. */
void child_stop(struct child *child);

#endif
