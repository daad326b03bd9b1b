/*
 * The steps of a script that change the process around libpam: privileges,
 * root folder, limits, descriptors, signals, threads, system call filters.
 */
#include "driver.h"

#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

static void
change_root(struct driver *driver, char *arguments)
{
	(void)driver;
	probe_printf("chroot = %d", chroot(arguments) | chdir("/"));
}

static void
set_user(struct driver *driver, char *arguments)
{
	(void)driver;
	probe_printf("setuid = %d", setuid((uid_t)atoi(arguments)));
}

static void
close_from(struct driver *driver, char *arguments)
{
	(void)driver;
	closefrom(atoi(arguments));
}

static void
limit(int resource, const char *value)
{
	struct rlimit both;

	both.rlim_cur = both.rlim_max = (rlim_t)atoi(value);
	probe_printf("setrlimit = %d", setrlimit(resource, &both));
}

static void
limit_files(struct driver *driver, char *arguments)
{
	(void)driver;
	limit(RLIMIT_NOFILE, arguments);
}

static void
limit_size(struct driver *driver, char *arguments)
{
	(void)driver;
	limit(RLIMIT_FSIZE, arguments);
}

static void
change_mask(struct driver *driver, char *arguments)
{
	(void)driver;
	umask((mode_t)strtol(arguments, NULL, 8));
}

static void
on_signal(int number)
{
	(void)number;
}

/* signal NUMBER: blocked, and with a handler. */
static void
take_signal(struct driver *driver, char *arguments)
{
	struct sigaction action = { .sa_handler = on_signal };
	int number = atoi(arguments);
	sigset_t set;

	(void)driver;
	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_BLOCK, &set, NULL);
	probe_printf("sigaction = %d", sigaction(number, &action, NULL));
}

/* opened PATH: a descriptor of the application, left open. */
static void
open_file(struct driver *driver, char *arguments)
{
	FILE *file = fopen(arguments, "re");

	(void)driver;
	probe_printf("opened %d", file == NULL ? -1 : fileno(file));
}

static void
list_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;

	if (folder == NULL)
		return;
	while ((entry = readdir(folder)) != NULL) {
		char target[256] = "";
		int fd = atoi(entry->d_name);

		if (entry->d_name[0] == '.' || fd == dirfd(folder))
			continue;
		if (readlinkat(dirfd(folder), entry->d_name, target,
			       sizeof(target) - 1) < 0)
			continue;
		/* Not the numbers of pipes and sockets. */
		target[strcspn(target, "[")] = '\0';
		probe_printf("descriptor %d %s", fd, target);
	}
	closedir(folder);
}

/* fds: what a child process would inherit. */
static void
show_descriptors(struct driver *driver, char *arguments)
{
	pid_t child = fork();

	(void)driver;
	(void)arguments;
	if (child == 0) {
		list_descriptors();
		_exit(0);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
}

/* filter NAME: from here on these system calls kill the process. */
static const struct {
	const char *name;
	int calls[12];
} filters[] = {
	{ "getrusage", { __NR_getrusage } },
	/* What the call of a module does not need by itself. */
	{ "all",
	  { __NR_getrusage, __NR_openat, __NR_mremap, __NR_madvise, __NR_prctl,
	    __NR_futex, __NR_getppid, __NR_munmap, __NR_gettid, __NR_getpid } },
};

static void
filter_calls(struct driver *driver, char *arguments)
{
	struct sock_filter code[32] = { BPF_STMT(
	    BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)) };
	struct sock_fprog program = { 1, code };
	const int *calls = filters[strcmp(arguments, "all") == 0].calls;

	(void)driver;
	for (int i = 0; i < 12 && calls[i] != 0; i++) {
		code[program.len++] = (struct sock_filter)BPF_JUMP(
		    BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], 0, 1);
		code[program.len++] = (struct sock_filter)BPF_STMT(
		    BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	}
	code[program.len++] =
	    (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	probe_printf("seccomp = %d",
		     prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

struct threaded {
	struct driver *driver;
	char *line;
};

static void *
in_thread(void *data)
{
	struct threaded *threaded = data;

	driver_step(threaded->driver, threaded->line);
	return NULL;
}

/* cancel STEP: in a thread, cancelled once its conversation has been asked. */
static void
cancel_step(struct driver *driver, char *arguments)
{
	struct driver_handle *handle = driver->current;
	struct threaded threaded = { driver, arguments };
	pthread_t thread;
	void *value = NULL;

	handle->asked = false;
	if (pthread_create(&thread, NULL, in_thread, &threaded) != 0)
		return;
	pthread_mutex_lock(&driver->mutex);
	while (handle->mode == CONV_BLOCK && !handle->asked)
		pthread_cond_wait(&driver->blocked, &driver->mutex);
	pthread_mutex_unlock(&driver->mutex);
	if (handle->mode == CONV_BLOCK)
		pthread_cancel(thread);
	pthread_join(thread, &value);
	probe_printf("thread ended %s",
		     value == PTHREAD_CANCELED ? "cancelled" : "by itself");
}

struct racer {
	pam_handle_t *pam;
	unsigned rounds, failures;
};

static void *
race_one(void *data)
{
	struct racer *racer = data;

	for (unsigned i = 0; i < racer->rounds; i++)
		racer->failures +=
		    pam_authenticate(racer->pam, 0) != PAM_SUCCESS;
	return NULL;
}

/* race ROUNDS: every started handle authenticates in a thread of its own. */
static void
race(struct driver *driver, char *arguments)
{
	struct racer racers[DRIVER_HANDLES];
	pthread_t threads[DRIVER_HANDLES];
	unsigned count = 0;

	driver_trace_pause(true);
	for (unsigned i = 0; i < DRIVER_HANDLES; i++) {
		if (driver->handles[i].pam == NULL)
			continue;
		racers[count] = (struct racer){ driver->handles[i].pam,
						(unsigned)atoi(arguments), 0 };
		if (pthread_create(&threads[count], NULL, race_one,
				   &racers[count]) == 0)
			count++;
	}
	for (unsigned i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	driver_trace_pause(false);
	for (unsigned i = 0; i < count; i++)
		probe_printf("race %u: %u rounds, %u failures", i,
			     racers[i].rounds, racers[i].failures);
}

const struct driver_step driver_process_steps[] = { { "chroot", change_root },
						    { "setuid", set_user },
						    { "closefrom", close_from },
						    { "nofile", limit_files },
						    { "fsize", limit_size },
						    { "umask", change_mask },
						    { "signal", take_signal },
						    { "opened", open_file },
						    { "fds", show_descriptors },
						    { "filter", filter_calls },
						    { "cancel", cancel_step },
						    { "race", race },
						    { NULL, NULL } };
