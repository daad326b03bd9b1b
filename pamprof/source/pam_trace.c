/*
 * Starting a program under the audit observer. Separate from the verb
 * because being somebody's parent on a terminal has rules of its own: what
 * the person types is for the program, and what is sent to us because we are
 * known as the job is passed on.
 */
#include "pam_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../modules/call.h"
#include "../base/alloc.h"
#include "../base/places.h"
#include "../base/safe_file.h"

#define IDLE_MS       20
#define AUDITOR_LIMIT (16 << 20) /* bytes; debug information included */

/* What the child's side of the fork needs. */
struct start {
	const struct pam_trace *trace;
	int failed; /* pipe: gets errno of execvp(3), closed by it */
};

static const int passed_on[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
#define PASSED_ON (sizeof(passed_on) / sizeof(passed_on[0]))

/* Signals that were sent to us and not yet passed on, as bits. */
static volatile sig_atomic_t sent;

/* The terminal signals the whole group: the program has it already. */
static void
note_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (info->si_code > 0)
		return;
	for (unsigned i = 0; i < PASSED_ON; i++) {
		if (passed_on[i] == number)
			sent |= 1 << i;
	}
}

static void
pass_on(const struct child *child)
{
	for (unsigned i = 0; i < PASSED_ON; i++) {
		if ((sent & (1 << i)) != 0)
			(void)kill(child->pid, passed_on[i]);
	}
	sent = 0;
}

/* What is ignored stays so: nohup(1) has set it up for the program. */
static void
catch_signals(struct sigaction *before)
{
	struct sigaction action = { .sa_sigaction = note_signal,
				    .sa_flags = SA_SIGINFO };

	sent = 0;
	for (unsigned i = 0; i < PASSED_ON; i++) {
		(void)sigaction(passed_on[i], NULL, &before[i]);
		if (before[i].sa_handler != SIG_IGN)
			(void)sigaction(passed_on[i], &action, NULL);
	}
}

static void
restore_signals(const struct sigaction *before)
{
	for (unsigned i = 0; i < PASSED_ON; i++)
		(void)sigaction(passed_on[i], &before[i], NULL);
}

/* Puts our auditor behind those that are there. */
static void
set_environment(const struct start *start)
{
	const char *others = getenv("LD_AUDIT");
	char *list = others != NULL && *others != '\0'
			 ? alloc_format("%s:%s", others, start->trace->auditor)
			 : alloc_string(start->trace->auditor);

	(void)setenv("LD_AUDIT", list, 1);
	(void)setenv(AUDIT_RING_VARIABLE, start->trace->ring, 1);
	free(list);
}

/* In the child. Handlers end with the exec, what was ignored stays so. */
static int
become(void *context)
{
	const struct start *start = context;
	int number;

	(void)prctl(PR_SET_PDEATHSIG, 0);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)signal(SIGXFSZ, SIG_DFL);
	set_environment(start);
	(void)execvp(start->trace->argv[0], start->trace->argv);
	number = errno;
	if (write(start->failed, &number, sizeof(number)) < 0)
		return 126;
	return 127;
}

/* Whether the program has been started; waits for the exec. */
static int
check_exec(int failed, const char *program, struct error *error)
{
	int number;
	ssize_t got;

	do
		got = read(failed, &number, sizeof(number));
	while (got < 0 && errno == EINTR);
	if (got != sizeof(number))
		return 0;
	return error_set(error, ERROR_USAGE, "%s cannot be started: %s",
			 program, strerror(number));
}

/* Whether the child has ended; it is left for child_wait() to reap. */
static bool
has_ended(const struct child *child)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)child->pid, &info,
		      WEXITED | WNOHANG | WNOWAIT) != 0 ||
	       info.si_pid != 0;
}

/* The pidfd only makes the end come sooner; there may be none. */
static void
follow(const struct pam_trace *trace, const struct child *child)
{
	struct pollfd ended = { .fd = child->pidfd, .events = POLLIN };

	while (!has_ended(child)) {
		pass_on(child);
		trace->idle(trace->context);
		(void)poll(&ended, 1, IDLE_MS);
	}
}

/* Whether every user can read the file. */
static bool
is_readable(const char *file)
{
	char *path = alloc_string(file), *slash;
	struct stat st;
	bool readable = stat(path, &st) == 0 && (st.st_mode & S_IROTH) != 0;

	while (readable && (slash = strrchr(path, '/')) != NULL) {
		*slash = '\0';
		readable = stat(*path != '\0' ? path : "/", &st) == 0 &&
			   (st.st_mode & S_IXOTH) != 0;
	}
	free(path);
	return readable;
}

int
pam_trace_auditor(char **path, const char *folder, struct error *error)
{
	struct buffer object = { 0 };
	char *installed =
	    alloc_format("%s/pamprof_audit.so", install_path_modules());
	int r = 0;

	*path = NULL;
	if (is_readable(installed)) {
		*path = installed;
		return 0;
	}
	*path = alloc_format("%s/pamprof_audit.so", folder);
	if ((r = safe_file_read(installed, LINKS_FOLLOWED, AUDITOR_LIMIT,
				&object, error)) == 0 &&
	    (r = safe_file_write(*path, 0644, &object, error)) == 0 &&
	    chmod(folder, 0711) != 0)
		r = error_errno(error, "%s", folder);
	buffer_free(&object);
	free(installed);
	return r;
}

/* Starts the program; returns once it is one. */
static int
start_program(struct start *start, struct child *child, struct error *error)
{
	int failed[2], r;

	if (pipe2(failed, O_CLOEXEC) != 0)
		return error_errno(error, "pipe");
	start->failed = failed[1];
	r = child_start(child, CHILD_SAME_GROUP, become, start, error);
	(void)close(failed[1]);
	if (r == 0)
		r = check_exec(failed[0], start->trace->argv[0], error);
	(void)close(failed[0]);
	if (r != 0)
		child_stop(child);
	return r;
}

int
pam_trace_run(const struct pam_trace *trace, struct child_end *end,
	      struct error *error)
{
	struct start start = { .trace = trace };
	struct sigaction before[PASSED_ON];
	struct child child = { 0 };
	int r;

	catch_signals(before);
	r = start_program(&start, &child, error);
	if (r == 0) {
		follow(trace, &child);
		r = child_wait(&child, CHILD_NO_LIMIT, end, error);
	}
	restore_signals(before);
	return r;
}

/* Path of the program as execvp(3) finds it; free(3) it; or NULL. */
static char *
find_program(const char *program)
{
	const char *path = getenv("PATH");
	char *found;

	if (strchr(program, '/') != NULL)
		return alloc_string(program);
	while (path != NULL && *path != '\0') {
		size_t length = strcspn(path, ":");

		found = alloc_format("%.*s/%s", (int)length, path, program);
		if (access(found, X_OK) == 0)
			return found;
		free(found);
		path += length + (path[length] == ':');
	}
	return NULL;
}

bool
pam_trace_is_secure(const char *program)
{
	char *path = find_program(program);
	struct stat st;
	bool secure = false;

	if (path != NULL && stat(path, &st) == 0)
		secure =
		    ((st.st_mode & S_ISUID) != 0 && st.st_uid != getuid()) ||
		    ((st.st_mode & S_ISGID) != 0 && st.st_gid != getgid());
	free(path);
	return secure;
}
