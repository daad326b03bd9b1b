/*
 * The control field: words and lists of value=action. Separate because the
 * profiler needs no meaning of it, only whether libpam finds one: a misspelt
 * word denies every login and is worth a note. See pam.conf(5).
 */
#include "pam_control.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static const char *const words[] = { "required", "requisite", "optional",
				     "sufficient", NULL };

/* What a module returns, as libpam spells it; first match wins there. */
static const char *const values[] = { "success",
				      "open_err",
				      "symbol_err",
				      "service_err",
				      "system_err",
				      "buf_err",
				      "perm_denied",
				      "auth_err",
				      "cred_insufficient",
				      "authinfo_unavail",
				      "user_unknown",
				      "maxtries",
				      "new_authtok_reqd",
				      "acct_expired",
				      "session_err",
				      "cred_unavail",
				      "cred_expired",
				      "cred_err",
				      "no_module_data",
				      "conv_err",
				      "authtok_err",
				      "authtok_recover_err",
				      "authtok_lock_busy",
				      "authtok_disable_aging",
				      "try_again",
				      "ignore",
				      "abort",
				      "authtok_expired",
				      "module_unknown",
				      "bad_item",
				      "conv_again",
				      "incomplete",
				      "default",
				      NULL };

static const char *const actions[] = { "ignore", "ok",    "done", "bad",
				       "die",    "reset", NULL };

/* The text after the name of the table that it begins with, or NULL. */
static const char *
after_name(const char *text, const char *const *names)
{
	for (; *names; names++)
		if (strncmp(text, *names, strlen(*names)) == 0)
			return text + strlen(*names);
	return NULL;
}

static const char *
skip_space(const char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

/* The text after a jump of one rule or more, or NULL. */
static const char *
after_jump(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return strspn(text, "0") < digits ? text + digits : NULL;
}

const char *
pam_control_check(const char *control)
{
	const char *next;

	for (const char *const *word = words; *word; word++)
		if (strcasecmp(control, *word) == 0)
			return NULL;
	for (control = skip_space(control); *control;
	     control = skip_space(next)) {
		next = after_name(control, values);
		if (!next)
			return "a return value or a control word";
		next = skip_space(next);
		if (*next != '=')
			return "\"=\" after a return value";
		control = skip_space(next + 1);
		next = after_name(control, actions);
		if (!next)
			next = after_jump(control);
		if (!next)
			return "an action or a jump of 1 or more";
	}
	return NULL;
}
