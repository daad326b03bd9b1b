/*
 * Child processes. Separate because ending one properly has an order that
 * must be right in one place: the group is killed while its leader is still
 * unreaped, for only until then is the number certain to be the child's.
 */
#include "child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t
now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The child's side of child_start(). */
static _Noreturn void
run_body(pid_t parent, enum child_group group, int (*body)(void *),
	 void *context)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127); /* it died before the line above */
	if (group == CHILD_OWN_GROUP)
		(void)setpgid(0, 0);
	_exit(body(context));
}

int
child_start(struct child *child, enum child_group group,
	    int (*body)(void *context), void *context, struct error *error)
{
	pid_t parent = getpid();

	*child = (struct child){ .pidfd = -1, .group = group };
	(void)fflush(NULL); /* or the child might write it once more */
	child->pid = fork();
	if (child->pid == 0)
		run_body(parent, group, body, context);
	if (child->pid < 0) {
		child->pid = 0;
		return error_errno(error, "cannot start a child process");
	}
	/* Both sides do it, so that it is done whoever comes first. */
	if (group == CHILD_OWN_GROUP)
		(void)setpgid(child->pid, child->pid);
	/* -1 before Linux 5.3 and under valgrind: wait_for_end() copes. */
	child->pidfd = (int)syscall(SYS_pidfd_open, child->pid, 0);
	return 0;
}

/* Looks every 5 ms, where the kernel has no descriptors of processes. */
static int
look_for_end(const struct child *child, uint64_t limit_ns)
{
	const struct timespec pause = { .tv_nsec = 5000000 };
	uint64_t start = now_ns();
	siginfo_t info;

	for (;;) {
		info.si_pid = 0;
		if (waitid(P_PID, (id_t)child->pid, &info,
			   WEXITED | WNOHANG | WNOWAIT))
			return -1;
		if (info.si_pid)
			return 1;
		if (now_ns() - start >= limit_ns)
			return 0;
		(void)nanosleep(&pause, NULL);
	}
}

/* Returns 1 when the child has ended, 0 when the time is up, -1 on error. */
static int
wait_for_end(const struct child *child, uint64_t limit_ns)
{
	struct pollfd poll_fd = { .fd = child->pidfd, .events = POLLIN };
	uint64_t start = now_ns(), passed = 0;
	int ready = 0;

	if (child->pidfd < 0)
		return look_for_end(child, limit_ns);
	do {
		uint64_t left = limit_ns - passed;
		struct timespec wait = { .tv_sec = (time_t)(left / 1000000000),
					 .tv_nsec = (long)(left % 1000000000) };

		ready = ppoll(&poll_fd, 1,
			      limit_ns == CHILD_NO_LIMIT ? NULL : &wait, NULL);
		passed = now_ns() - start;
	} while (ready < 0 && errno == EINTR && passed < limit_ns);
	return ready < 0 && errno == EINTR ? 0 : ready;
}

/* Kills the child, and what it started if the group is its own. */
static void
kill_all(const struct child *child)
{
	if (child->group == CHILD_OWN_GROUP)
		(void)kill(-child->pid, SIGKILL);
	(void)kill(child->pid, SIGKILL);
}

/* Ends the group, reaps the leader, forgets both. */
static int
reap(struct child *child, siginfo_t *info)
{
	int r;

	if (child->group == CHILD_OWN_GROUP)
		(void)kill(-child->pid, SIGKILL);
	do
		r = waitid(P_PID, (id_t)child->pid, info, WEXITED);
	while (r < 0 && errno == EINTR);
	if (child->pidfd >= 0)
		(void)close(child->pidfd);
	child->pid = 0;
	child->pidfd = -1;
	return r;
}

int
child_wait(struct child *child, uint64_t limit_ns, struct child_end *end,
	   struct error *error)
{
	siginfo_t info = { 0 };
	int ended;

	*end = (struct child_end){ CHILD_EXITED, 0 };
	if (child->pid <= 0)
		return error_set(error, ERROR_SYSTEM, "no child to wait for");
	ended = wait_for_end(child, limit_ns);
	if (ended <= 0)
		kill_all(child);
	if (reap(child, &info) < 0)
		return error_errno(error, "waiting for a child process");
	end->value = info.si_status;
	if (ended == 0)
		end->how = CHILD_TIMED_OUT;
	else if (info.si_code != CLD_EXITED)
		end->how = CHILD_SIGNALED;
	return 0;
}

void
child_stop(struct child *child)
{
	siginfo_t info = { 0 };

	if (child->pid <= 0)
		return;
	kill_all(child);
	(void)reap(child, &info);
}
