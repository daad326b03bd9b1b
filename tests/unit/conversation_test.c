/*
 * The functions that stand in for an application's conversation: who gets
 * which, what becomes of them when a call does not come back or a module
 * changes the conversation itself, and that they can run out. libpam is
 * played by a struct; shim_test.c does the same with the real one.
 */
#include "../test.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <time.h>

#include "../../modules/call.h"
#include "ring_file.h"

enum {
	TRAMPOLINES = 32, /* as many as conversation.c has */
	PAUSE_NS = 20000000
};

/* What stands for a pam_handle_t. */
struct handle {
	struct pam_conv conv;
	void *transaction;
};

static int
get_item(const pam_handle_t *pamh, int item, const void **value)
{
	struct handle *handle = (struct handle *)(uintptr_t)pamh;

	*value = item == PAM_CONV ? &handle->conv : NULL;
	return PAM_SUCCESS;
}

static int
get_data(const pam_handle_t *pamh, const char *name, const void **value)
{
	(void)name;
	*value = ((const struct handle *)(const void *)pamh)->transaction;
	return *value != NULL ? PAM_SUCCESS : PAM_NO_MODULE_DATA;
}

static int
set_data(pam_handle_t *pamh, const char *name, void *value,
	 void (*clean)(pam_handle_t *, void *, int))
{
	(void)name;
	(void)clean;
	((struct handle *)(void *)pamh)->transaction = value;
	return PAM_SUCCESS;
}

static const struct call_pam pam = { get_item, get_data, set_data };

static void
enter(struct call_frame *frame, struct handle *handle)
{
	struct call_site site = { .handle = (pam_handle_t *)(void *)handle,
				  .kind = KIND_CALL,
				  .phase = PHASE_AUTHENTICATE };

	call_enter(frame, &pam, &site);
}

/* A conversation that notes its data, waits a little and fails. */
static int
waiting(int count, const struct pam_message **messages,
	struct pam_response **answers, void *appdata)
{
	struct timespec pause = { .tv_nsec = PAUSE_NS };

	(void)messages;
	(void)answers;
	nanosleep(&pause, NULL);
	*(int *)appdata += count;
	errno = EXDEV;
	return PAM_CONV_ERR;
}

static int
counting(int count, const struct pam_message **messages,
	 struct pam_response **answers, void *appdata)
{
	(void)messages;
	(void)answers;
	*(int *)appdata += count;
	return PAM_SUCCESS;
}

static jmp_buf outside;

static int
jumping(int count, const struct pam_message **messages,
	struct pam_response **answers, void *appdata)
{
	(void)count;
	(void)messages;
	(void)answers;
	(void)appdata;
	longjmp(outside, 1);
}

/* One message through a conversation, as a module sends it. */
static int
say(const struct pam_conv *conv, int style)
{
	struct pam_message message = { .msg_style = style, .msg = "x" };
	const struct pam_message *messages = &message;
	struct pam_response *answers = NULL;

	return conv->conv(1, &messages, &answers, conv->appdata_ptr);
}

/* A body that runs in a child with a ring that asks for the conversation. */
static struct ring_file
run(int (*body)(struct ring_file *))
{
	struct ring_file file;

	ring_file_make(&file, 1024, RING_CONVERSATION);
	CU_ASSERT_EQUAL(in_child(body, &file), 0);
	return file;
}

static int
timed(struct ring_file *file)
{
	int talked = 0;
	struct handle handle = { .conv = { waiting, &talked } };
	struct call_frame frame;

	ring_attach(file->path);
	enter(&frame, &handle);
	NEED(handle.conv.conv != waiting && handle.conv.appdata_ptr == &talked);
	errno = ENOTDIR;
	NEED(say(&handle.conv, PAM_PROMPT_ECHO_OFF) == PAM_CONV_ERR);
	NEED(errno == EXDEV);
	say(&handle.conv, PAM_TEXT_INFO);
	errno = ENOTDIR;
	call_leave(&frame, &pam, PAM_SUCCESS);
	NEED(errno == ENOTDIR);
	NEED(handle.conv.conv == waiting && talked == 2);
	return 0;
}

static void
time_and_errno(void)
{
	struct ring_file file = run(timed);
	struct record record, conversation = { 0 };
	uint64_t call = 0;

	while (ring_file_take(&file, true, &record)) {
		if (record.kind == KIND_CONVERSATION)
			conversation = record;
		else
			call = record.span;
	}
	CU_ASSERT_EQUAL(file.taken, 6);
	CU_ASSERT_EQUAL(record.kind, KIND_CALL);
	CU_ASSERT(record.valid & VALID_CONVERSATION);
	CU_ASSERT_EQUAL(record.prompts, 1);
	CU_ASSERT(record.prompt_ns >= 2 * PAUSE_NS);
	CU_ASSERT(record.prompt_ns <= record.duration_ns);
	CU_ASSERT_EQUAL(conversation.parent, call);
	CU_ASSERT_EQUAL(conversation.transaction, record.transaction);
	CU_ASSERT_EQUAL(conversation.result, PAM_CONV_ERR);
	CU_ASSERT(conversation.duration_ns >= PAUSE_NS);
	ring_file_remove(&file);
}

static void *
call_once(void *argument)
{
	struct handle *handle = argument;
	struct call_frame frame;

	for (unsigned i = 0; i < 1000; i++) {
		enter(&frame, handle);
		say(&handle->conv, PAM_PROMPT_ECHO_ON);
		call_leave(&frame, &pam, PAM_SUCCESS);
	}
	return NULL;
}

/* Two handles at a time, in one thread and in two: no answer goes astray. */
static int
overlapping(struct ring_file *file)
{
	int first = 0, second = 0;
	struct handle a = { .conv = { counting, &first } };
	struct handle b = { .conv = { counting, &second } };
	struct call_frame frame_a, frame_b;
	pthread_t thread;

	ring_attach(file->path);
	enter(&frame_a, &a);
	enter(&frame_b, &b);
	NEED(a.conv.conv == b.conv.conv); /* one for one function */
	NEED(say(&a.conv, PAM_PROMPT_ECHO_ON) == PAM_SUCCESS && first == 1);
	NEED(say(&b.conv, PAM_PROMPT_ECHO_ON) == PAM_SUCCESS && second == 1);
	call_leave(&frame_a, &pam, PAM_SUCCESS);
	NEED(a.conv.conv == counting && b.conv.conv != counting);
	call_leave(&frame_b, &pam, PAM_SUCCESS);
	NEED(b.conv.conv == counting);
	NEED(pthread_create(&thread, NULL, call_once, &a) == 0);
	call_once(&b);
	NEED(pthread_join(thread, NULL) == 0);
	NEED(first == 1001 && second == 1001);
	NEED(a.conv.conv == counting && b.conv.conv == counting);
	NEED(a.transaction != b.transaction);
	return 0;
}

static void
overlapping_handles(void)
{
	struct ring_file file = run(overlapping);

	ring_file_remove(&file);
}

/* A handle used from inside another's call: what follows is the outer's. */
static int
nested(struct ring_file *file)
{
	int talked = 0;
	struct handle a = { .conv = { counting, &talked } }, b = a;
	struct call_frame outer, inner;

	ring_attach(file->path);
	enter(&outer, &a);
	enter(&inner, &b);
	call_leave(&inner, &pam, PAM_SUCCESS);
	say(&a.conv, PAM_PROMPT_ECHO_ON);
	call_leave(&outer, &pam, PAM_SUCCESS);
	return talked == 1 ? 0 : 1;
}

static void
nested_handles(void)
{
	struct ring_file file = run(nested);
	struct record record = { 0 };
	uint64_t talked_in = 0;

	while (ring_file_take(&file, true, &record)) {
		if (record.kind == KIND_CONVERSATION)
			talked_in = record.transaction;
	}
	CU_ASSERT_NOT_EQUAL(talked_in, 0);
	CU_ASSERT_EQUAL(talked_in, record.transaction); /* the last: outer */
	ring_file_remove(&file);
}

#define FUNCTION(n)                                                            \
	static int own_##n(int count, const struct pam_message **messages,     \
			   struct pam_response **answers, void *appdata)       \
	{                                                                      \
		(void)count;                                                   \
		(void)messages;                                                \
		(void)answers;                                                 \
		*(int *)appdata = n;                                           \
		return n;                                                      \
	}
#define NAME(n) own_##n,
#define TEN(m, d)                                                              \
	m(d##0) m(d##1) m(d##2) m(d##3) m(d##4) m(d##5) m(d##6) m(d##7)        \
	    m(d##8) m(d##9)

/* clang-format off */
TEN(FUNCTION, 1) TEN(FUNCTION, 2) TEN(FUNCTION, 3) TEN(FUNCTION, 4)

static const conversation_fn many[] = {
	TEN(NAME, 1) TEN(NAME, 2) TEN(NAME, 3) TEN(NAME, 4)
};
/* clang-format on */

/* More functions than there is room for: the rest is called, not timed. */
static int
running_out(struct ring_file *file)
{
	ring_attach(file->path);
	for (int i = 0; i < 40; i++) {
		int called = 0;
		struct handle handle = { .conv = { many[i], &called } };
		struct call_frame frame;

		enter(&frame, &handle);
		NEED((handle.conv.conv == many[i]) == (i >= TRAMPOLINES));
		NEED(say(&handle.conv, PAM_PROMPT_ECHO_ON) == i + 10);
		NEED(called == i + 10);
		call_leave(&frame, &pam, PAM_SUCCESS);
		NEED(handle.conv.conv == many[i]);
	}
	return 0;
}

static void
more_functions_than_room(void)
{
	struct ring_file file = run(running_out);
	struct record record;
	unsigned timed_calls = 0, calls = 0;

	while (ring_file_take(&file, true, &record)) {
		if (record.kind != KIND_CALL || record.type != RECORD_END)
			continue;
		calls++;
		timed_calls += (record.valid & VALID_CONVERSATION) != 0;
		CU_ASSERT_EQUAL(record.prompts, calls <= TRAMPOLINES);
	}
	CU_ASSERT_EQUAL(calls, 40);
	CU_ASSERT_EQUAL(timed_calls, TRAMPOLINES);
	ring_file_remove(&file);
}

/* The call never comes back, and the handle is used again. */
static int
never_returning(struct ring_file *file)
{
	static struct handle handle = { .conv = { jumping, NULL } };
	static struct call_frame frame;
	conversation_fn ours;

	ring_attach(file->path);
	if (setjmp(outside) == 0) {
		enter(&frame, &handle);
		say(&handle.conv, PAM_PROMPT_ECHO_ON);
	}
	ours = handle.conv.conv;
	NEED(conversation_original(ours) == jumping);
	if (setjmp(outside) == 0)
		say(&handle.conv, PAM_PROMPT_ECHO_ON);
	enter(&frame, &handle);
	NEED(handle.conv.conv == ours); /* not wrapped twice */
	call_leave(&frame, &pam, PAM_SUCCESS);
	NEED((frame.record.valid & VALID_CONVERSATION) != 0);
	return 0;
}

static void
calls_that_never_return(void)
{
	struct ring_file file = run(never_returning);

	ring_file_remove(&file);
}

/* A module that puts a conversation of its own there, around ours or not. */
static int
replacing(struct ring_file *file)
{
	int talked = 0;
	struct handle handle = { .conv = { counting, &talked } };
	struct pam_conv kept;
	struct call_frame frame;

	ring_attach(file->path);
	enter(&frame, &handle);
	kept = handle.conv;
	handle.conv.conv = many[0];
	call_leave(&frame, &pam, PAM_SUCCESS);
	NEED(handle.conv.conv == many[0]);
	NEED(say(&kept, PAM_PROMPT_ECHO_ON) == PAM_SUCCESS && talked == 1);
	enter(&frame, &handle);
	handle.conv = kept; /* put back what it had kept: our function */
	call_leave(&frame, &pam, PAM_SUCCESS);
	NEED(say(&handle.conv, PAM_PROMPT_ECHO_ON) == PAM_SUCCESS);
	NEED(talked == 2);
	enter(&frame, &handle);
	handle.conv.conv = NULL;
	call_leave(&frame, &pam, PAM_SUCCESS);
	NEED(handle.conv.conv == NULL);
	enter(&frame, &handle); /* no conversation at all */
	call_leave(&frame, &pam, PAM_SUCCESS);
	NEED(handle.conv.conv == NULL);
	return 0;
}

static void
modules_that_replace_it(void)
{
	struct ring_file file = run(replacing);

	ring_file_remove(&file);
}

/* Without the option the conversation is not touched. */
static int
not_asked(struct ring_file *file)
{
	int talked = 0;
	struct handle handle = { .conv = { counting, &talked } };
	struct call_frame frame;

	ring_attach(file->path);
	enter(&frame, &handle);
	NEED(handle.conv.conv == counting);
	call_leave(&frame, &pam, PAM_SUCCESS);
	NEED((frame.record.valid & VALID_CONVERSATION) == 0);
	return 0;
}

static void
untouched_when_not_asked(void)
{
	struct ring_file file;

	ring_file_make(&file, 16, RING_CPU);
	CU_ASSERT_EQUAL(in_child(not_asked, &file), 0);
	ring_file_remove(&file);
}

void conversation_tests(void);

void
conversation_tests(void)
{
	static const struct test_row rows[] = {
		{ "time_and_errno", time_and_errno },
		{ "overlapping_handles", overlapping_handles },
		{ "nested_handles", nested_handles },
		{ "more_functions_than_room", more_functions_than_room },
		{ "calls_that_never_return", calls_that_never_return },
		{ "modules_that_replace_it", modules_that_replace_it },
		{ "untouched_when_not_asked", untouched_when_not_asked },
	};

	TEST_SUITE("conversation", rows);
}
