/*
 * An application of PAM that does what a script says and prints what it and
 * the stub modules saw. Reads jobs from standard input:
 *
 *     confdir /folder/with/service/files
 *     start service user
 *     auth 0x8000
 *     end 0
 *     run
 *
 * Each job runs in a forked child, between whose start and end no module is
 * loaded in this process, and is answered by the child's trace, by how it
 * ended and by a line "===". "fork" makes a child do the lines up to "join".
 * Steps are in driver_steps.c and driver_process.c.
 */
#include "driver.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

#define JOB_LINES   256
#define JOB_SECONDS 20 /* a hung job dies of SIGALRM */

struct job {
	char *confdir;
	char *lines[JOB_LINES];
	unsigned count;
};

void
driver_step(struct driver *driver, char *line)
{
	static const struct driver_step *const tables[] = {
		driver_pam_steps, driver_process_steps
	};
	char *arguments = strchr(line, ' ');
	size_t length = strcspn(line, " ");

	arguments = arguments == NULL ? line + length : arguments + 1;
	for (size_t i = 0; i < 2; i++)
		for (const struct driver_step *row = tables[i]; row->name;
		     row++)
			if (strlen(row->name) == length &&
			    memcmp(row->name, line, length) == 0) {
				row->run(driver, arguments);
				return;
			}
	probe_printf("unknown step %s", line);
}

/*
 * Runs lines from first on; returns the line after the last. In a child
 * started by "fork", exits at the matching "join".
 */
static void
run_lines(struct driver *driver, struct job *job)
{
	unsigned line = 0;
	pid_t child;

	while (line < job->count) {
		char *text = job->lines[line++];

		if (strcmp(text, "join") == 0)
			_exit(0);
		if (strcmp(text, "fork") != 0) {
			driver_step(driver, text);
			continue;
		}
		child = fork();
		if (child == 0)
			continue;
		if (child > 0)
			waitpid(child, NULL, 0);
		while (line < job->count &&
		       strcmp(job->lines[line++], "join") != 0)
			;
	}
}

static void
run_child(struct job *job)
{
	struct driver driver = { .confdir = job->confdir };

	pthread_mutex_init(&driver.mutex, NULL);
	pthread_cond_init(&driver.blocked, NULL);
	for (int i = 0; i < DRIVER_HANDLES; i++) {
		struct driver_handle *handle = &driver.handles[i];

		handle->label = (char)('A' + i);
		handle->driver = &driver;
		snprintf(handle->answer, sizeof(handle->answer), "answer-%c",
			 handle->label);
	}
	driver.current = driver.handles;
	alarm(JOB_SECONDS);
	run_lines(&driver, job);
	exit(0);
}

/* Unload traces come after exit(), so the child's end is traced here. */
static void
run_job(struct job *job)
{
	int status = 0;
	pid_t child;

	driver_trace_reset();
	child = fork();
	if (child == 0)
		run_child(job);
	if (child < 0 || waitpid(child, &status, 0) < 0) {
		perror("driver: fork");
		exit(3);
	}
	fputs(driver_trace_text(), stdout);
	if (WIFSIGNALED(status))
		printf("died of signal %d\n", WTERMSIG(status));
	else
		printf("exit %d\n", WEXITSTATUS(status));
	puts("===");
	fflush(stdout);
}

static void
clear_job(struct job *job)
{
	for (unsigned i = 0; i < job->count; i++)
		free(job->lines[i]);
	free(job->confdir);
	memset(job, 0, sizeof(*job));
}

/*
 * Without stdio: a child's exit() would set the shared offset of a file back
 * to what the child thinks has been read.
 */
static char *
read_line(void)
{
	static char buffer[65536];
	static size_t start, end;
	char *newline, *line;
	ssize_t got;

	while ((newline = memchr(buffer + start, '\n', end - start)) == NULL) {
		memmove(buffer, buffer + start, end - start);
		end -= start;
		start = 0;
		got = read(STDIN_FILENO, buffer + end, sizeof(buffer) - end);
		if (got <= 0)
			return NULL;
		end += (size_t)got;
	}
	line = strndup(buffer + start, (size_t)(newline - buffer) - start);
	start = (size_t)(newline - buffer) + 1;
	return line;
}

int
main(void)
{
	struct job job = { 0 };
	char *line;

	driver_trace_create();
	while ((line = read_line()) != NULL) {
		if (strcmp(line, "run") == 0) {
			run_job(&job);
			clear_job(&job);
			free(line);
		} else if (strncmp(line, "confdir ", 8) == 0) {
			free(job.confdir);
			job.confdir = strdup(line + 8);
			free(line);
		} else if (job.count < JOB_LINES) {
			job.lines[job.count++] = line;
		}
	}
	clear_job(&job);
	return 0;
}
