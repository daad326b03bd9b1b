/*
 * pam_trial: stands in for every module of a stack while pamprof proves that
 * a rewritten stack decides as the old one does. It does nothing but give
 * the result that the table has for the rule, and note the call. Never in a
 * stack that a person logs in through: without a table every call is refused.
 */
#include <security/pam_modules.h>
#include <stddef.h>

#include "trial.h"

/* Set by the process that drives the stack, after it has loaded us. */
__attribute__((visibility("default"))) struct trial_table *pam_trial_table;

#define MARKER "pamprof="

/* The number behind the marker's prefix, or -1 if it is no marker. */
static long
marker(const char *argument)
{
	long number = 0;

	for (const char *c = MARKER; *c != '\0'; c++, argument++)
		if (*argument != *c)
			return -1;
	for (; *argument >= '0' && *argument <= '9'; argument++)
		number = number * 10 + (*argument - '0');
	return number;
}

static uint32_t
add(uint32_t hash, const char *text)
{
	do
		hash = (hash ^ (unsigned char)*text) * 16777619u;
	while (*text++ != '\0');
	return hash;
}

static int
call(enum trial_function function, int flags, int argc, const char **argv)
{
	struct trial_table *table = pam_trial_table;
	struct trial_call made = { .function = function,
				   .flags = (uint32_t)flags,
				   .arguments = 2166136261u };

	if (table == NULL)
		return PAM_SYSTEM_ERR;
	for (int i = 0; i < argc; i++) {
		long number = marker(argv[i]);

		if (number < 0)
			made.arguments = add(made.arguments, argv[i]);
		else
			made.rule = (uint32_t)number - table->base;
	}
	/* In the real file these bear no marker, or another service's. */
	if (made.rule >= TRIAL_LEFT)
		made.rule = 0;
	if (table->calls < TRIAL_CALLS)
		table->call[table->calls] = made;
	table->calls++;
	return table->result[made.rule][function];
}

#define ENTRY(symbol, function)                                                \
	__attribute__((visibility("default"))) int symbol(                     \
	    pam_handle_t *handle, int flags, int argc, const char **argv)      \
	{                                                                      \
		(void)handle;                                                  \
		return call(function, flags, argc, argv);                      \
	}

/* clang-format off */
ENTRY(pam_sm_authenticate, TRIAL_AUTHENTICATE)
ENTRY(pam_sm_setcred, TRIAL_SETCRED)
ENTRY(pam_sm_acct_mgmt, TRIAL_ACCT_MGMT)
ENTRY(pam_sm_open_session, TRIAL_OPEN_SESSION)
ENTRY(pam_sm_close_session, TRIAL_CLOSE_SESSION)
ENTRY(pam_sm_chauthtok, flags & PAM_PRELIM_CHECK ? TRIAL_CHAUTHTOK_PRELIM
						  : TRIAL_CHAUTHTOK_UPDATE)
