/*
 * A PAM module that does what its arguments say and traces all it can see:
 * function, flags, every argument, errno and its own call counter, loading
 * and unloading. Arguments are worked through in order; "acct.sleep=20" is
 * for one function, "sleep=20" for all. "auth=7,0" gives the results of the
 * first and the second call, "any=25" those of all functions. The actions
 * are in stub_actions.c (PAM) and stub_surroundings.c (the process).
 *
 * Variants of one source, chosen by -D: STUB_NO_SETCRED, STUB_NO_SESSION,
 * STUB_NO_PASSWORD, STUB_NOTHING (no function at all), STUB_UNRESOLVED
 * (needs a symbol nobody has).
 */
#include "stub.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <security/pam_ext.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stub_tokens.h"
#include "probe.h"

#define EXPORT __attribute__((visibility("default")))

static void (*sink)(const char *, size_t);
static char name[64];
static atomic_uint calls; /* since this object was loaded */

#ifdef STUB_UNRESOLVED
extern int pam_stub_symbol_that_nobody_has(void);
EXPORT int (*stub_unresolved)(void) = pam_stub_symbol_that_nobody_has;
#endif

static void
write_to_file(const char *text, size_t length)
{
	const char *path = getenv(PROBE_TRACE_VARIABLE);
	int fd;

	if (path == NULL)
		return;
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (write(fd, text, length) < 0)
		(void)0; /* a test will miss the line */
	close(fd);
}

void
stub_trace(const char *format, ...)
{
	char line[PROBE_LINE_MAX];
	int saved = errno, length;
	va_list list;

	length = snprintf(line, sizeof(line), "%s: ", name);
	va_start(list, format);
	length +=
	    vsnprintf(line + length, sizeof(line) - length - 1, format, list);
	va_end(list);
	if (length > (int)sizeof(line) - 2)
		length = sizeof(line) - 2;
	line[length++] = '\n';
	(sink != NULL ? sink : write_to_file)(line, length);
	errno = saved;
}

const char *
stub_name(void)
{
	return name;
}

/* Keeps the last folder: two modules may have one base name. */
static void
find_name(void)
{
	Dl_info info;
	const char *start;

	if (dladdr((void *)&calls, &info) == 0 || info.dli_fname == NULL)
		return;
	start = strrchr(info.dli_fname, '/');
	while (start != NULL && start > info.dli_fname && start[-1] != '/')
		start--;
	snprintf(name, sizeof(name), "%s",
		 start == NULL ? info.dli_fname : start);
}

__attribute__((constructor)) static void
loaded(void)
{
	*(void **)&sink = dlsym(RTLD_DEFAULT, PROBE_TRACE_SYMBOL);
	find_name();
	stub_trace("loaded");
}

__attribute__((destructor)) static void
unloaded(void)
{
	stub_trace("unloaded after %u calls", calls);
}

/* The count-th of a list such as "7,0,success", from its start again. */
static int
listed_result(const char *list, unsigned count)
{
	char word[32];
	unsigned words = 1;

	for (const char *at = list; *at != '\0'; at++)
		words += *at == ',';
	for (count %= words; count > 0; count--)
		list = strchr(list, ',') + 1;
	snprintf(word, sizeof(word), "%.*s", (int)strcspn(list, ","), list);
	return pam_token_value(word, PAM_SUCCESS);
}

static void
run_action(struct stub_call *call, const char *action)
{
	static const struct stub_action *const tables[] = {
		stub_pam_actions, stub_process_actions
	};
	const char *value = strchr(action, '=');
	size_t length =
	    value == NULL ? strlen(action) : (size_t)(value - action);

	value = value == NULL ? "" : value + 1;
	for (size_t i = 0; i < 2; i++)
		for (const struct stub_action *row = tables[i]; row->name;
		     row++)
			if (strlen(row->name) == length &&
			    memcmp(row->name, action, length) == 0)
				row->run(call, value);
}

/* "auth.sleep=20" of a call of auth gives "sleep=20", of others NULL. */
static const char *
action_of(const struct stub_call *call, const char *argument)
{
	static const char *const functions[] = { "auth",   "setcred", "acct",
						 "open",   "close",   "prelim",
						 "update", NULL };

	for (const char *const *function = functions; *function; function++) {
		size_t length = strlen(*function);

		if (strncmp(argument, *function, length) != 0 ||
		    argument[length] != '.')
			continue;
		return strcmp(call->function, *function) == 0
			   ? argument + length + 1
			   : NULL;
	}
	return argument;
}

static void
work_through(struct stub_call *call)
{
	size_t length = strlen(call->function);
	unsigned count = atomic_fetch_add(&calls, 1);

	for (int i = 0; i < call->argc; i++) {
		const char *argument = call->argv[i];
		const char *action = action_of(call, argument);

		if (strncmp(argument, "any=", 4) == 0)
			call->result = listed_result(argument + 4, count);
		else if (strncmp(argument, call->function, length) == 0 &&
			 argument[length] == '=')
			call->result =
			    listed_result(argument + length + 1, count);
		else if (action != NULL)
			run_action(call, action);
	}
}

__attribute__((unused)) static int
stub(struct stub_call call)
{
	char arguments[PROBE_LINE_MAX / 2] = "";
	size_t used = 0;
	int entry = errno;

	for (int i = 0; i < call.argc && used < sizeof(arguments); i++)
		used += snprintf(arguments + used, sizeof(arguments) - used,
				 " [%s]", call.argv[i]);
	stub_trace("%s flags=0x%x argc=%d argv=%s errno=%d call=%u%s",
		   call.function, (unsigned)call.flags, call.argc,
		   call.argv == NULL ? "null" : "set", entry, calls, arguments);
	call.exit_errno = entry;
	work_through(&call);
	free(call.answer);
	stub_trace("%s returns %d", call.function, call.result);
	errno = call.exit_errno;
	return call.result;
}

#define ENTRY(entry, word)                                                     \
	EXPORT int entry(pam_handle_t *handle, int flags, int argc,            \
			 const char **argv)                                    \
	{                                                                      \
		return stub((struct stub_call){ .handle = handle,              \
						.function = word,              \
						.flags = flags,                \
						.argc = argc,                  \
						.argv = argv });               \
	}

#ifndef STUB_NOTHING
ENTRY(pam_sm_authenticate, "auth")
#ifndef STUB_NO_SETCRED
ENTRY(pam_sm_setcred, "setcred")
#endif
ENTRY(pam_sm_acct_mgmt, "acct")
#ifndef STUB_NO_SESSION
ENTRY(pam_sm_open_session, "open")
ENTRY(pam_sm_close_session, "close")
#endif
#ifndef STUB_NO_PASSWORD
ENTRY(pam_sm_chauthtok, (flags & PAM_PRELIM_CHECK) ? "prelim" : "update")
#endif
#endif

void
stub_call_self(struct stub_call *call)
{
#ifdef STUB_NOTHING
	(void)call;
#else
	static const char *arguments[] = { "auth=9" };

	if (call->argc != 1 || call->argv != arguments)
		stub_trace("self call gave %d",
			   pam_sm_authenticate(call->handle, 0, 1, arguments));
#endif
}
