/*
 * What a stub module can do with PAM: conversation, items, data, tokens,
 * environment, logging. One row of the table per word of an argument.
 * Answers and tokens are only ever traced as "set" or "null".
 */
#include "stub.h"

#include <errno.h>
#include <security/pam_appl.h>
#include <security/pam_ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "stub_tokens.h"

static struct pam_conv kept; /* a copy, for a later call */

static const char *
set_or_null(const void *pointer)
{
	return pointer == NULL ? "null" : "set";
}

/* One message through conv; keeps the answer in the call. */
static void
talk(struct stub_call *call, const struct pam_conv *conv, int style,
     const char *text)
{
	struct pam_message message = { .msg_style = style, .msg = text };
	const struct pam_message *messages = &message;
	struct pam_response *response = NULL;
	int result = conv->conv(1, &messages, &response, conv->appdata_ptr);

	free(call->answer);
	call->answer = response == NULL ? NULL : response->resp;
	stub_trace("conversation gave %d, answer %s", result,
		   set_or_null(call->answer));
	free(response);
}

static void
talk_to_application(struct stub_call *call, int style, const char *text)
{
	const struct pam_conv *conv = NULL;
	int result = pam_get_item(call->handle, PAM_CONV, (const void **)&conv);

	if (result != PAM_SUCCESS || conv == NULL || conv->conv == NULL)
		stub_trace("no conversation: %d", result);
	else
		talk(call, conv, style, text);
}

static void
prompt(struct stub_call *call, const char *value)
{
	talk_to_application(call, PAM_PROMPT_ECHO_OFF, value);
}

static void
echo(struct stub_call *call, const char *value)
{
	talk_to_application(call, PAM_PROMPT_ECHO_ON, value);
}

static void
info(struct stub_call *call, const char *value)
{
	talk_to_application(call, PAM_TEXT_INFO, value);
}

/* Two messages in one call, through libpam's own code. */
static void
library_prompt(struct stub_call *call, const char *value)
{
	char *answer = NULL;
	int result =
	    pam_prompt(call->handle, PAM_PROMPT_ECHO_OFF, &answer, "%s", value);

	stub_trace("pam_prompt gave %d, answer %s", result,
		   set_or_null(answer));
	free(answer);
	stub_trace("pam_info gave %d", pam_info(call->handle, "%s", value));
}

static void
keep_conversation(struct stub_call *call, const char *value)
{
	const struct pam_conv *conv = NULL;

	(void)value;
	if (pam_get_item(call->handle, PAM_CONV, (const void **)&conv) ==
		PAM_SUCCESS &&
	    conv != NULL)
		kept = *conv;
}

static void
use_kept_conversation(struct stub_call *call, const char *value)
{
	if (kept.conv != NULL)
		talk(call, &kept, PAM_PROMPT_ECHO_ON, value);
	else
		stub_trace("no conversation kept");
}

/* Is the function still the one that was kept? */
static void
same_conversation(struct stub_call *call, const char *value)
{
	const struct pam_conv *conv = NULL;

	(void)value;
	pam_get_item(call->handle, PAM_CONV, (const void **)&conv);
	stub_trace("conversation: function %s, data %s",
		   conv && conv->conv == kept.conv ? "same" : "other",
		   conv && conv->appdata_ptr == kept.appdata_ptr ? "same"
								 : "other");
}

/* The conversation a module puts in the application's place. */
static int
own_conversation(int count, const struct pam_message **messages,
		 struct pam_response **responses, void *data)
{
	(void)data;
	stub_trace("own conversation: %d, style %d [%s]", count,
		   messages[0]->msg_style, messages[0]->msg);
	*responses = calloc(count, sizeof(**responses));
	if (*responses == NULL)
		return PAM_BUF_ERR;
	(*responses)[0].resp = strdup("own");
	return PAM_SUCCESS;
}

static void
replace_conversation(struct stub_call *call, const char *value)
{
	struct pam_conv own = { own_conversation, NULL };

	(void)value;
	stub_trace("pam_set_item(conv) gave %d",
		   pam_set_item(call->handle, PAM_CONV, &own));
}

/* Puts the application's own back: pam_ssh-like modules do so. */
static void
restore_conversation(struct stub_call *call, const char *value)
{
	(void)value;
	if (kept.conv != NULL)
		stub_trace("pam_set_item(conv) gave %d",
			   pam_set_item(call->handle, PAM_CONV, &kept));
}

/* Compares the last answer with an item, which says whose answer it is. */
static void
expect(struct stub_call *call, const char *value)
{
	const void *item = NULL;

	pam_get_item(call->handle, pam_item_number(value), &item);
	if (call->answer == NULL || item == NULL ||
	    strcmp(call->answer, item) != 0) {
		stub_trace("an answer that was not for this handle");
		call->result = PAM_AUTH_ERR;
	}
}

static void
clean_up(pam_handle_t *handle, void *data, int status)
{
	const void *user = NULL;
	int result = pam_get_item(handle, PAM_USER, &user);

	stub_trace("clean-up of [%s] status=0x%x, user %d [%s]", (char *)data,
		   (unsigned)status, result, user ? (const char *)user : "");
	free(data);
}

static void
data(struct stub_call *call, const char *value)
{
	char *copy = NULL;

	if (asprintf(&copy, "%s of %s in %s", value, stub_name(),
		     call->function) < 0)
		return;
	stub_trace("pam_set_data(%s) gave %d", value,
		   pam_set_data(call->handle, value, copy, clean_up));
}

static void
get_data(struct stub_call *call, const char *value)
{
	const void *found = NULL;
	int result = pam_get_data(call->handle, value, &found);

	stub_trace("pam_get_data(%s) gave %d [%s]", value, result,
		   found ? (const char *)found : "");
}

static void
put_environment(struct stub_call *call, const char *value)
{
	stub_trace("pam_putenv(%s) gave %d", value,
		   pam_putenv(call->handle, value));
}

static void
get_environment(struct stub_call *call, const char *value)
{
	const char *found = pam_getenv(call->handle, value);

	stub_trace("pam_getenv(%s) gave [%s]", value, found ? found : "");
}

/* setitem=rhost:name */
static void
set_item(struct stub_call *call, const char *value)
{
	char word[32];
	size_t length = strcspn(value, ":");

	snprintf(word, sizeof(word), "%.*s", (int)length, value);
	if (value[length] == ':')
		length++;
	stub_trace(
	    "pam_set_item(%s) gave %d", word,
	    pam_set_item(call->handle, pam_item_number(word), value + length));
}

static void
get_item(struct stub_call *call, const char *value)
{
	const void *found = NULL;
	int result = pam_get_item(call->handle, pam_item_number(value), &found);

	stub_trace("pam_get_item(%s) gave %d [%s]", value, result,
		   found ? (const char *)found : "");
}

static void
get_user(struct stub_call *call, const char *value)
{
	const char *user = NULL;
	int result = pam_get_user(call->handle, &user, *value ? value : NULL);

	stub_trace("pam_get_user gave %d [%s]", result, user ? user : "");
}

/* authtok=new and authtok=old; options are the rule's own. */
static void
authentication_token(struct stub_call *call, const char *value)
{
	const char *token = NULL;
	int item = strcmp(value, "old") == 0 ? PAM_OLDAUTHTOK : PAM_AUTHTOK;
	int result = pam_get_authtok(call->handle, item, &token, NULL);

	stub_trace("pam_get_authtok(%s) gave %d, token %s", value, result,
		   set_or_null(token));
}

static void
verify_token(struct stub_call *call, const char *value)
{
	const char *token = NULL;
	int result = pam_get_authtok_noverify(call->handle, &token,
					      *value ? value : NULL);

	stub_trace("pam_get_authtok_noverify gave %d, token %s", result,
		   set_or_null(token));
	result = pam_get_authtok_verify(call->handle, &token, NULL);
	stub_trace("pam_get_authtok_verify gave %d, token %s", result,
		   set_or_null(token));
}

static void
fail_delay(struct stub_call *call, const char *value)
{
	stub_trace("pam_fail_delay(%s) gave %d", value,
		   pam_fail_delay(call->handle, atoi(value)));
}

static void
log_message(struct stub_call *call, const char *value)
{
	pam_syslog(call->handle, LOG_NOTICE, "%s from %s", value,
		   call->function);
}

/* libpam refuses calls of the application's kind from inside a module. */
static void
call_library(struct stub_call *call, const char *value)
{
	(void)value;
	stub_trace("pam_authenticate from a module gave %d",
		   pam_authenticate(call->handle, 0));
	stub_trace("pam_end from a module gave %d",
		   pam_end(call->handle, PAM_SUCCESS));
}

static void
call_self(struct stub_call *call, const char *value)
{
	(void)value;
	stub_call_self(call);
}

const struct stub_action stub_pam_actions[] = {
	{ "prompt", prompt },
	{ "echo", echo },
	{ "info", info },
	{ "libprompt", library_prompt },
	{ "keepconv", keep_conversation },
	{ "usekept", use_kept_conversation },
	{ "sameconv", same_conversation },
	{ "replaceconv", replace_conversation },
	{ "restoreconv", restore_conversation },
	{ "expect", expect },
	{ "data", data },
	{ "getdata", get_data },
	{ "putenv", put_environment },
	{ "getenv", get_environment },
	{ "setitem", set_item },
	{ "item", get_item },
	{ "getuser", get_user },
	{ "authtok", authentication_token },
	{ "verify", verify_token },
	{ "faildelay", fail_delay },
	{ "syslog", log_message },
	{ "callpam", call_library },
	{ "callself", call_self },
	{ NULL, NULL }
};
