/*
 * The driver's ears: the trace buffer, and functions that stand in for those
 * of libc and libaudit, so that what libpam logs and audits is seen. They
 * work because symbols of the executable come first; the driver must be
 * linked with -rdynamic.
 */
#undef _FORTIFY_SOURCE /* its inline syslog() would be in the way */
#include "driver.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <syslog.h>

#include "probe.h"

#define TRACE_SIZE (1024 * 1024)

static struct trace {
	atomic_size_t used;
	atomic_bool paused;
	char text[TRACE_SIZE];
} * trace;

void
driver_trace_create(void)
{
	trace = mmap(NULL, sizeof(*trace), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (trace == MAP_FAILED) {
		perror("driver: mmap");
		exit(3);
	}
}

void
driver_trace_reset(void)
{
	size_t used = atomic_load(&trace->used);

	memset(trace->text, 0, used < TRACE_SIZE ? used : TRACE_SIZE);
	atomic_store(&trace->used, 0);
	atomic_store(&trace->paused, false);
}

const char *
driver_trace_text(void)
{
	return trace->text;
}

void
driver_trace_pause(bool paused)
{
	atomic_store(&trace->paused, paused);
}

void
probe_trace(const char *text, size_t length)
{
	size_t at;

	if (atomic_load(&trace->paused))
		return;
	at = atomic_fetch_add(&trace->used, length);
	if (at + length < TRACE_SIZE)
		memcpy(trace->text + at, text, length);
}

static void
trace_list(const char *format, va_list list)
{
	char line[PROBE_LINE_MAX];
	int saved = errno;
	int length = vsnprintf(line, sizeof(line) - 1, format, list);

	if (length > (int)sizeof(line) - 2)
		length = sizeof(line) - 2;
	line[length++] = '\n';
	probe_trace(line, length);
	errno = saved;
}

void
probe_printf(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	trace_list(format, list);
	va_end(list);
}

/*
 * Cuts every path down to its last part: the bare and the wrapped stack lie
 * in two folders, and libpam names the module file it was given.
 */
static void
drop_folders(char *text)
{
	char *out = text, *start = text;

	for (const char *in = text; *in != '\0'; in++) {
		if (*in == '/') {
			out = start;
			continue;
		}
		*out++ = *in;
		if (strchr(" ([:", *in) != NULL)
			start = out;
	}
	*out = '\0';
}

static void
log_list(int priority, const char *format, va_list list)
{
	char text[PROBE_LINE_MAX - 32];
	int saved = errno;

	vsnprintf(text, sizeof(text), format, list);
	drop_folders(text);
	probe_printf("syslog %d: %s", priority, text);
	errno = saved;
}

void
vsyslog(int priority, const char *format, va_list list)
{
	log_list(priority, format, list);
}

void
syslog(int priority, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	log_list(priority, format, list);
	va_end(list);
}

void __syslog_chk(int priority, int flag, const char *format, ...);
void __vsyslog_chk(int priority, int flag, const char *format, va_list list);

void
__syslog_chk(int priority, int flag, const char *format, ...)
{
	va_list list;

	(void)flag;
	va_start(list, format);
	log_list(priority, format, list);
	va_end(list);
}

void
__vsyslog_chk(int priority, int flag, const char *format, va_list list)
{
	(void)flag;
	log_list(priority, format, list);
}

int audit_open(void);
int audit_log_acct_message(int fd, int type, const char *program,
			   const char *operation, const char *name, unsigned id,
			   const char *host, const char *address,
			   const char *tty, int result);

/* A descriptor like the real one: it counts against RLIMIT_NOFILE. */
int
audit_open(void)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		probe_printf("audit_open failed: %d", errno);
	return fd;
}

int
audit_log_acct_message(int fd, int type, const char *program,
		       const char *operation, const char *name, unsigned id,
		       const char *host, const char *address, const char *tty,
		       int result)
{
	probe_printf("audit fd=%d type=%d %s [%s] [%s] %d [%s] [%s] [%s] %d",
		     fd, type, program ? program : "-", operation,
		     name ? name : "-", (int)id, host ? host : "-",
		     address ? address : "-", tty ? tty : "-", result);
	return 1;
}
