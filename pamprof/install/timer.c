/*
 * Timers of the host. Apart because they are the only files that are made
 * outside our own folders besides the service's own.
 */
#include "timer.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../base/alloc.h"
#include "../base/child.h"
#include "atomic.h"
#include "layout.h"

#define UNITS   "/etc/systemd/system"
#define CRON    "/etc/cron.d"
#define SECONDS 30

static int
become_systemctl(void *words)
{
	char *const *argv = words;
	int null = open("/dev/null", O_RDWR);

	(void)dup2(null, 0);
	(void)dup2(null, 1);
	(void)dup2(null, 2);
	(void)execvp(argv[0], argv);
	return 127;
}

/* Whether systemctl did what it was told. */
static bool
systemctl(const char *verb, const char *unit)
{
	char *argv[] = { "systemctl", (char *)verb, (char *)unit, NULL };
	struct child child;
	struct child_end end = { 0 };

	return child_start(&child, CHILD_OWN_GROUP, become_systemctl, argv,
			   NULL) == 0 &&
	       child_wait(&child, SECONDS * 1000000000ull, &end, NULL) == 0 &&
	       end.how == CHILD_EXITED && end.value == 0;
}

/* Absolute path of the running program, for a file that names it. */
static const char *
program(void)
{
	static char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[length > 0 ? length : 0] = '\0';
	return path;
}

static char *
unit_path(const char *service, const char *suffix)
{
	return alloc_format(UNITS "/pamprof-%s.%s", service, suffix);
}

static int
write_text(char *path, struct buffer *text, struct error *error)
{
	int r = atomic_write(path, 0644, text, error);

	free(path);
	buffer_free(text);
	return r;
}

static int
start_systemd(const char *service, int64_t until, struct error *error)
{
	struct buffer text = { 0 };
	time_t at = (time_t)until;
	struct tm when;
	char stamp[40];
	char *unit = alloc_format("pamprof-%s.timer", service);
	int r;

	(void)gmtime_r(&at, &when);
	(void)strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M:%S UTC", &when);
	buffer_format(&text,
		      "[Unit]\nDescription=End of pamprof instrument %s\n"
		      "[Service]\nType=oneshot\nExecStart=%s status\n",
		      service, program());
	r = write_text(unit_path(service, "service"), &text, error);
	buffer_format(&text,
		      "[Unit]\nDescription=End of pamprof instrument %s\n"
		      "[Timer]\nOnCalendar=%s\nPersistent=true\n"
		      "AccuracySec=1s\n[Install]\nWantedBy=timers.target\n",
		      service, stamp);
	if (r == 0)
		r = write_text(unit_path(service, "timer"), &text, error);
	if (r == 0 && (!systemctl("daemon-reload", NULL) ||
		       !systemctl("enable", unit) || !systemctl("start", unit)))
		r = error_set(error, ERROR_SYSTEM,
			      "systemd does not take the timer %s", unit);
	free(unit);
	return r;
}

static int
start_cron(const char *service, struct error *error)
{
	struct buffer text = { 0 };

	/* cron(8) reads no file with a dot in its name. */
	if (layout_is_image() || access(CRON, W_OK) != 0 ||
	    strchr(service, '.') != NULL)
		return error_set(error, ERROR_SYSTEM,
				 "--for: neither systemd nor cron is here to "
				 "end it in time");
	buffer_format(&text,
		      "# Ends pamprof instrument %s when its time is over.\n"
		      "* * * * * root %s status > /dev/null 2>&1\n",
		      service, program());
	return write_text(alloc_format(CRON "/pamprof-%s", service), &text,
			  error);
}

int
timer_start(const char *service, int64_t until, const char **what,
	    struct error *error)
{
	if (!layout_is_image() && access("/run/systemd/system", F_OK) == 0) {
		*what = "a systemd timer";
		return start_systemd(service, until, error);
	}
	*what = "cron, which looks every minute";
	return start_cron(service, error);
}

void
timer_stop(const char *service)
{
	static const char *const suffixes[] = { "timer", "service" };
	char *cron = alloc_format(CRON "/pamprof-%s", service);
	char *unit = alloc_format("pamprof-%s.timer", service);
	char *path = unit_path(service, "timer");

	atomic_tidy(cron);
	(void)unlink(cron);
	if (access(path, F_OK) == 0 && !layout_is_image()) {
		(void)systemctl("stop", unit);
		(void)systemctl("disable", unit);
	}
	free(path);
	for (int i = 0; i < 2; i++) {
		path = unit_path(service, suffixes[i]);
		atomic_tidy(path);
		(void)unlink(path);
		free(path);
	}
	free(unit);
	free(cron);
}
