/*
 * What a stub module can do to its process, and the traces of the process'
 * state: time, errno, signals, limits, descriptors, privileges, children,
 * and ways of never returning.
 */
#include "stub.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DESCRIPTORS_SHOWN 256

static uint64_t
now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * UINT64_C(1000000000) + time.tv_nsec;
}

/* In ms, with decimals. */
static void
pause_for(struct stub_call *call, const char *value)
{
	double ms = atof(value);
	struct timespec time = { (time_t)(ms / 1e3),
				 (long)(ms * 1e6) % 1000000000 };

	(void)call;
	while (nanosleep(&time, &time) != 0 && errno == EINTR)
		;
}

/* In ms of this thread's CPU time. */
static void
burn(struct stub_call *call, const char *value)
{
	uint64_t end = now(CLOCK_THREAD_CPUTIME_ID) + atof(value) * 1e6;

	(void)call;
	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

/* What a delay really took is the difference of two such lines. */
static void
show_clocks(struct stub_call *call, const char *value)
{
	uint64_t wall = now(CLOCK_MONOTONIC);

	(void)value;
	stub_trace("%s clocks %llu %llu", call->function,
		   (unsigned long long)wall,
		   (unsigned long long)now(CLOCK_THREAD_CPUTIME_ID));
}

static void
set_errno(struct stub_call *call, const char *value)
{
	call->exit_errno = atoi(value);
}

/*
 * Edits the arguments in place, as modules that use strtok() do: libpam
 * shows the result to the same rule's next call.
 */
static void
mutate(struct stub_call *call, const char *value)
{
	(void)value;
	for (int i = 0; i < call->argc; i++) {
		char *text = (char *)(uintptr_t)call->argv[i];
		char *mark = strchr(text, '~');

		if (mark != NULL)
			*mark = '!';
	}
}

static void
crash(struct stub_call *call, const char *value)
{
	(void)call;
	raise(*value == '\0' ? SIGSEGV : atoi(value));
}

static void
leave(struct stub_call *call, const char *value)
{
	(void)call;
	exit(atoi(value));
}

static void
loop(struct stub_call *call, const char *value)
{
	(void)call;
	(void)value;
	for (;;)
		pause();
}

static void
leave_thread(struct stub_call *call, const char *value)
{
	(void)call;
	(void)value;
	pthread_exit(NULL);
}

static void
set_user(struct stub_call *call, const char *value)
{
	(void)call;
	stub_trace("setuid gave %d", setuid(atoi(value)));
}

static void
change_root(struct stub_call *call, const char *value)
{
	(void)call;
	stub_trace("chroot gave %d", chroot(value) | chdir("/"));
}

static void
limit(int resource, const char *value)
{
	struct rlimit both = { .rlim_cur = atoi(value),
			       .rlim_max = atoi(value) };

	stub_trace("setrlimit gave %d", setrlimit(resource, &both));
}

static void
limit_files(struct stub_call *call, const char *value)
{
	(void)call;
	limit(RLIMIT_NOFILE, value);
}

static void
limit_size(struct stub_call *call, const char *value)
{
	(void)call;
	limit(RLIMIT_FSIZE, value);
}

static void
limit_memory(struct stub_call *call, const char *value)
{
	(void)call;
	limit(RLIMIT_MEMLOCK, value);
}

static void
close_from(struct stub_call *call, const char *value)
{
	(void)call;
	closefrom(atoi(value));
}

/* Opens a file and leaves it open, as careless modules do. */
static void
open_descriptor(struct stub_call *call, const char *value)
{
	(void)call;
	stub_trace("open gave %d", open(value, O_RDONLY));
}

/* A helper: what it inherits, and that it can be waited for. */
static void
start_helper(struct stub_call *call, const char *value)
{
	int status = 0;
	pid_t child = fork();

	(void)call;
	if (child == 0) {
		stub_trace("in a helper");
		_exit(atoi(value));
	}
	if (child > 0)
		waitpid(child, &status, 0);
	stub_trace("helper ended with 0x%x", (unsigned)status);
}

static void
block_signal(struct stub_call *call, const char *value)
{
	sigset_t set;

	(void)call;
	sigemptyset(&set);
	sigaddset(&set, atoi(value));
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static void
ignore_signal(struct stub_call *call, const char *value)
{
	(void)call;
	signal(atoi(value), SIG_IGN);
}

static void
change_umask(struct stub_call *call, const char *value)
{
	(void)call;
	umask(strtol(value, NULL, 8));
}

static void
show_signals(struct stub_call *call, const char *value)
{
	char mask[65] = "", handlers[65] = "";
	struct sigaction action;
	sigset_t set;

	(void)call;
	(void)value;
	sigprocmask(SIG_BLOCK, NULL, &set);
	for (int number = 1; number < 65; number++) {
		mask[number - 1] = sigismember(&set, number) == 1 ? 'b' : '-';
		if (sigaction(number, NULL, &action) != 0)
			handlers[number - 1] = '?';
		else if (action.sa_handler == SIG_DFL)
			handlers[number - 1] = '-';
		else
			handlers[number - 1] =
			    action.sa_handler == SIG_IGN ? 'i' : 'h';
	}
	stub_trace("signals blocked %s handled %s", mask, handlers);
}

/* Without /proc, so that it works in a chroot. */
static void
show_descriptors(struct stub_call *call, const char *value)
{
	char text[DESCRIPTORS_SHOWN * 5] = "";
	size_t used = 0;

	(void)call;
	(void)value;
	for (int fd = 0; fd < DESCRIPTORS_SHOWN; fd++) {
		int flags = fcntl(fd, F_GETFD);

		if (flags >= 0)
			used += sprintf(text + used, " %d%s", fd,
					flags & FD_CLOEXEC ? "c" : "");
	}
	stub_trace("descriptors%s", text);
}

static void
show_process(struct stub_call *call, const char *value)
{
	struct rlimit files, size;
	mode_t mode = umask(0);

	(void)call;
	(void)value;
	umask(mode);
	getrlimit(RLIMIT_NOFILE, &files);
	getrlimit(RLIMIT_FSIZE, &size);
	stub_trace("uid %d/%d umask %03o nofile %llu fsize %llu", (int)getuid(),
		   (int)geteuid(), (unsigned)mode,
		   (unsigned long long)files.rlim_cur,
		   (unsigned long long)size.rlim_cur);
}

const struct stub_action stub_process_actions[] = {
	{ "sleep", pause_for },
	{ "burn", burn },
	{ "clocks", show_clocks },
	{ "errno", set_errno },
	{ "mutate", mutate },
	{ "crash", crash },
	{ "exit", leave },
	{ "loop", loop },
	{ "pthread_exit", leave_thread },
	{ "setuid", set_user },
	{ "chroot", change_root },
	{ "nofile", limit_files },
	{ "fsize", limit_size },
	{ "memlock", limit_memory },
	{ "closefrom", close_from },
	{ "opened", open_descriptor },
	{ "fork", start_helper },
	{ "block", block_signal },
	{ "ignore", ignore_signal },
	{ "umask", change_umask },
	{ "signals", show_signals },
	{ "fds", show_descriptors },
	{ "process", show_process },
	{ NULL, NULL }
};
