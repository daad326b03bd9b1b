/*
 * Trampolines for the application's conversation function. Apart from the
 * call around which they are used, because a module may keep a copy of the
 * conversation and call it when that call, and even the shim, are long gone:
 * each trampoline is bound to one original function once and for ever, and
 * takes its appdata from the caller like any conversation function.
 *
 * Messages and answers pass through untouched and unread, but for the style
 * of a message, which tells a prompt from a notice.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#include "conversation.h"
#include "emit.h"

#define TRAMPOLINES 32 /* applications have one or two such functions */

static _Atomic(conversation_fn) originals[TRAMPOLINES];
static __thread struct conversation_clock thread_clock;

struct conversation_clock *
conversation_clock(void)
{
	return &thread_clock;
}

/* Whether anything is asked; notices alone are not a prompt. */
static bool
has_prompt(int count, const struct pam_message **messages)
{
	if (messages == NULL || count > PAM_MAX_NUM_MSG)
		return false;
	for (int i = 0; i < count; i++) {
		if (messages[i] != NULL &&
		    messages[i]->msg_style != PAM_TEXT_INFO &&
		    messages[i]->msg_style != PAM_ERROR_MSG)
			return true;
	}
	return false;
}

/* The same shape as a call: a record at each end, errno as it was. */
static int
timed(unsigned number, int count, const struct pam_message **messages,
      struct pam_response **answers, void *appdata)
{
	struct conversation_clock *clock = &thread_clock;
	struct record record = { .kind = KIND_CONVERSATION,
				 .category = CATEGORY_HUMAN,
				 .parent = clock->span,
				 .transaction = clock->transaction };
	int saved = errno, result;

	record.prompts = has_prompt(count, messages);
	record.count = (uint32_t)count;
	record.start_ns = emit_now();
	emit_begin(&record, NULL);
	errno = saved;
	record.start_ns = emit_now();
	result = originals[number](count, messages, answers, appdata);
	record.duration_ns = emit_now() - record.start_ns;
	saved = errno;
	clock->ns += record.duration_ns;
	clock->prompts += record.prompts;
	record.outcome = OUTCOME_RETURNED;
	record.result = result;
	if (record.span != 0)
		emit_end(&record, NULL);
	errno = saved;
	return result;
}

#define TRAMPOLINE(n)                                                          \
	static int trampoline_##n(int count, const struct pam_message **m,     \
				  struct pam_response **a, void *appdata)      \
	{                                                                      \
		return timed(0x##n, count, m, a, appdata);                     \
	}
#define SIXTEEN(name, high)                                                    \
	name(high##0) name(high##1) name(high##2) name(high##3) name(high##4)  \
	    name(high##5) name(high##6) name(high##7) name(high##8)            \
		name(high##9) name(high##a) name(high##b) name(high##c)        \
		    name(high##d) name(high##e) name(high##f)

/* clang-format off */
SIXTEEN(TRAMPOLINE, 0)
SIXTEEN(TRAMPOLINE, 1)

#define NAME(n) trampoline_##n,
static const conversation_fn trampolines[TRAMPOLINES] = {
	SIXTEEN(NAME, 0)
	SIXTEEN(NAME, 1)
};
/* clang-format on */

conversation_fn
conversation_original(conversation_fn fn)
{
	for (unsigned i = 0; i < TRAMPOLINES; i++) {
		if (trampolines[i] == fn)
			return originals[i];
	}
	return NULL;
}

conversation_fn
conversation_timed(conversation_fn original)
{
	if (conversation_original(original) != NULL)
		return original;
	for (unsigned i = 0; i < TRAMPOLINES; i++) {
		conversation_fn bound = NULL;

		if (atomic_compare_exchange_strong(&originals[i], &bound,
						   original) ||
		    bound == original)
			return trampolines[i];
	}
	return NULL;
}
