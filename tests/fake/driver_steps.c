/*
 * The steps of a script that call libpam. Every call is traced with its
 * value and the errno it left, having been made with errno 0.
 */
#include "driver.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stub_tokens.h"
#include "probe.h"

#define RESULT_FORMAT "%s %c = %d errno=%d"

static void
result(struct driver *driver, const char *step, int value)
{
	int left = errno;

	probe_printf(RESULT_FORMAT, step, driver->current->label, value, left);
}

/* "-" stands for NULL, "" (two apostrophes) for the empty string. */
static const char *
text_or_null(const char *word)
{
	if (word == NULL || strcmp(word, "-") == 0)
		return NULL;
	return strcmp(word, "''") == 0 ? "" : word;
}

static void
use(struct driver *driver, char *arguments)
{
	unsigned slot = (unsigned)atoi(arguments);

	if (slot < DRIVER_HANDLES)
		driver->current = &driver->handles[slot];
}

/* start SERVICE USER */
static void
start(struct driver *driver, char *arguments)
{
	struct driver_handle *handle = driver->current;
	struct pam_conv conv = { driver_conversation, handle };
	char *rest = NULL;
	const char *service = strtok_r(arguments, " ", &rest);
	const char *user = strtok_r(NULL, " ", &rest);
	int value;

	errno = 0;
	value = pam_start_confdir(service, text_or_null(user), &conv,
				  driver->confdir, &handle->pam);
	result(driver, "start", value);
	if (value != PAM_SUCCESS)
		handle->pam = NULL;
}

static void
end(struct driver *driver, char *arguments)
{
	int value;

	errno = 0;
	value = pam_end(driver->current->pam, (int)strtol(arguments, NULL, 0));
	driver->current->pam = NULL;
	result(driver, "end", value);
}

/* One of libpam's six, or a longjmp out of it. */
static void
call(struct driver *driver, const char *step,
     int (*function)(pam_handle_t *, int), const char *flags)
{
	int value;

	if (setjmp(driver->back) != 0) {
		probe_printf("%s left by longjmp", step);
		return;
	}
	errno = 0;
	value = function(driver->current->pam, (int)strtol(flags, NULL, 0));
	result(driver, step, value);
}

#define CALL(name, function)                                                   \
	static void name(struct driver *driver, char *arguments)               \
	{                                                                      \
		call(driver, #name, function, arguments);                      \
	}

CALL(auth, pam_authenticate)
CALL(setcred, pam_setcred)
CALL(acct, pam_acct_mgmt)
CALL(open, pam_open_session)
CALL(close, pam_close_session)
CALL(chauthtok, pam_chauthtok)

/* item NAME VALUE */
static void
item(struct driver *driver, char *arguments)
{
	char *rest = NULL;
	const char *name = strtok_r(arguments, " ", &rest);
	int value;

	if (name == NULL)
		return;
	errno = 0;
	value = pam_set_item(driver->current->pam, pam_item_number(name),
			     text_or_null(rest));
	result(driver, "item", value);
}

/* The application keeps a password of its own in the handle. */
static void
token(struct driver *driver, char *arguments)
{
	(void)arguments;
	errno = 0;
	result(driver, "token",
	       pam_set_item(driver->current->pam, PAM_AUTHTOK,
			    driver->current->answer));
}

static void
delay_function(struct driver *driver, char *arguments)
{
	(void)arguments;
	errno = 0;
	result(driver, "delayfn",
	       pam_set_item(driver->current->pam, PAM_FAIL_DELAY,
			    (const void *)(uintptr_t)driver_delay));
}

static void
delay(struct driver *driver, char *arguments)
{
	errno = 0;
	result(driver, "delay",
	       pam_fail_delay(driver->current->pam, atoi(arguments)));
}

static void
environment(struct driver *driver, char *arguments)
{
	errno = 0;
	result(driver, "putenv", pam_putenv(driver->current->pam, arguments));
}

/* Puts the driver's other conversation function in place. */
static void
swap_conversation(struct driver *driver, char *arguments)
{
	struct pam_conv conv = { driver->other ? driver_conversation
					       : driver_conversation_2,
				 driver->current };

	(void)arguments;
	driver->other = !driver->other;
	errno = 0;
	result(driver, "swapconv",
	       pam_set_item(driver->current->pam, PAM_CONV, &conv));
}

static void
mode(struct driver *driver, char *arguments)
{
	static const char *const names[] = { [CONV_ANSWER] = "answer",
					     [CONV_FAIL] = "fail",
					     [CONV_AGAIN] = "again",
					     [CONV_LONGJMP] = "longjmp",
					     [CONV_EXIT] = "exit",
					     [CONV_BLOCK] = "block",
					     [CONV_THREAD_EXIT] =
						 "pthread_exit" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(arguments, names[i]) == 0)
			driver->current->mode = (enum conversation_mode)i;
}

static const char *
conversation_name(const struct pam_conv *conv)
{
	if (conv == NULL)
		return "null";
	if (conv->conv == driver_conversation)
		return "first";
	return conv->conv == driver_conversation_2 ? "second" : "foreign";
}

/* All that the application can read of the handle. */
static void
show(struct driver *driver, char *arguments)
{
	pam_handle_t *pam = driver->current->pam;
	const struct pam_conv *conv = NULL;
	const void *value;
	char **list;

	(void)arguments;
	for (int i = 0; pam_item_name(i) != NULL; i++) {
		int got, number = pam_item_number(pam_item_name(i));

		value = NULL;
		got = pam_get_item(pam, number, &value);
		probe_printf("item %s %d [%s]", pam_item_name(i), got,
			     value ? (const char *)value : "");
	}
	pam_get_item(pam, PAM_CONV, (const void **)&conv);
	probe_printf("item conv %s", conversation_name(conv));
	list = pam == NULL ? NULL : pam_getenvlist(pam);
	for (char **variable = list; variable && *variable; variable++) {
		probe_printf("environment [%s]", *variable);
		free(*variable);
	}
	free(list);
}

const struct driver_step driver_pam_steps[] = { { "use", use },
						{ "start", start },
						{ "end", end },
						{ "auth", auth },
						{ "setcred", setcred },
						{ "acct", acct },
						{ "open", open },
						{ "close", close },
						{ "chauthtok", chauthtok },
						{ "item", item },
						{ "token", token },
						{ "delayfn", delay_function },
						{ "delay", delay },
						{ "putenv", environment },
						{ "swapconv",
						  swap_conversation },
						{ "conv", mode },
						{ "show", show },
						{ NULL, NULL } };
