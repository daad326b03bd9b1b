/*
 * The tables behind stub_tokens.h. Apart because the stub module, the driver
 * and the generator of stacks all name the same values.
 */
#include "stub_tokens.h"

#include <security/pam_modules.h>
#include <stdlib.h>
#include <string.h>

/* In the order of their values: _pam_types.h. */
static const char *const tokens[PAM_TOKEN_COUNT] = { "success",
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
						     "incomplete" };

static const struct {
	const char *name;
	int number;
} items[] = {
	{ "service", PAM_SERVICE },   { "user", PAM_USER },
	{ "tty", PAM_TTY },           { "rhost", PAM_RHOST },
	{ "ruser", PAM_RUSER },       { "user_prompt", PAM_USER_PROMPT },
	{ "xdisplay", PAM_XDISPLAY }, { "authtok_type", PAM_AUTHTOK_TYPE },
};

#define ITEM_COUNT ((int)(sizeof(items) / sizeof(items[0])))

const char *
pam_token_name(int value)
{
	return value < 0 || value >= PAM_TOKEN_COUNT ? NULL : tokens[value];
}

int
pam_token_value(const char *text, int fallback)
{
	char *end;
	long number;

	for (int i = 0; i < PAM_TOKEN_COUNT; i++)
		if (strcmp(text, tokens[i]) == 0)
			return i;
	number = strtol(text, &end, 10);
	return end == text || *end != '\0' ? fallback : (int)number;
}

int
pam_item_number(const char *name)
{
	for (int i = 0; i < ITEM_COUNT; i++)
		if (strcmp(name, items[i].name) == 0)
			return items[i].number;
	return -1;
}

const char *
pam_item_name(int index)
{
	return index < 0 || index >= ITEM_COUNT ? NULL : items[index].name;
}
