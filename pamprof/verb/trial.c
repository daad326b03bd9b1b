/*
 * One rule, the whole way: apart from the harness because doctor wants to
 * know at which step it fails, and nothing else.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../modules/ring.h"
#include "../base/alloc.h"
#include "../base/child.h"
#include "../base/safe_file.h"
#include "../run/workspace.h"
#include "../source/pam.h"
#include "../source/pam_wrap.h"
#include "../trace/ring_file.h"
#include "trial.h"

#define TRIAL_SLOTS   64
#define TRIAL_SECONDS 20

struct trial {
	struct pam_stack *stack;
	struct pam_wrap *wrap;
	char *ring;
};

/* pam_permit asks nothing. */
static int
no_conversation(int count, const struct pam_message **messages,
		struct pam_response **answers, void *appdata)
{
	(void)count;
	(void)messages;
	(void)answers;
	(void)appdata;
	return PAM_CONV_ERR;
}

/* In the child; the value is the child's exit status. */
static int
drive(void *context)
{
	const struct trial *trial = context;
	const struct pam_conv conv = { no_conversation, NULL };
	const struct pam_login login = {
		.confdir = trial->wrap->confdir,
		.service = trial->wrap->service,
		.user = "root",
		.phases = PAM_PHASE_BIT(PHASE_AUTHENTICATE),
	};

	ring_attach(trial->ring);
	return pam_login_run(&login, &conv);
}

static void
count_call(void *context, const struct record *slot)
{
	unsigned *count = context;

	*count += slot->kind == KIND_CALL;
}

/* The wrapped stack, in the workspace. */
static int
prepare(struct trial *trial, const char *folder, struct error *error)
{
	const struct buffer rule = { "auth required pam_permit.so\n", 28, 29 };
	char *file = alloc_format("%s/trial", folder);
	char *copies = alloc_format("%s/copies", folder);
	const struct pam_conf_place place = { .stack_file = file };
	int r;

	trial->ring = alloc_format("%s/ring", folder);
	if ((r = safe_file_write(file, 0600, &rule, error)) != 0 ||
	    (r = pam_conf_read(&trial->stack, &place, error)) != 0 ||
	    (r = ring_make(trial->ring, TRIAL_SLOTS, RING_CPU, error)) != 0)
		goto out;
	if (mkdir(copies, 0700) != 0) {
		r = error_errno(error, "%s: cannot be made", copies);
		goto out;
	}
	r = pam_wrap_stack(&trial->wrap, trial->stack, copies, trial->ring,
			   error);
	if (r == 0 && trial->wrap->wrapped == 0)
		r = error_set(error, ERROR_INPUT,
			      "pam_permit.so cannot be wrapped: %s",
			      trial->wrap->map->rules[0].problem);
out:
	free(file);
	free(copies);
	return r;
}

/* Drives it in a child and reads the ring. */
static int
measure(struct trial *trial, struct trial_result *result, struct error *error)
{
	struct assembly_loss loss = { 0 };
	struct ring_reader *reader = NULL;
	struct child child;
	struct child_end end;
	int r;

	if ((r = child_start(&child, CHILD_OWN_GROUP, drive, trial, error)) !=
		0 ||
	    (r = child_wait(&child, TRIAL_SECONDS * 1000000000ull, &end,
			    error)) != 0)
		return r;
	if (end.how != CHILD_EXITED)
		return error_set(error, ERROR_SYSTEM,
				 "a wrapped rule ended the process (signal %d)",
				 end.value);
	result->verdict = end.value;
	if ((r = ring_reader_open(&reader, trial->ring, error)) != 0)
		return r;
	ring_reader_drain(reader, true, &loss, count_call, &result->records);
	ring_reader_close(reader);
	return 0;
}

int
trial_run(struct trial_result *result, struct error *error)
{
	struct workspace *workspace = NULL;
	struct trial trial = { 0 };
	int r;

	memset(result, 0, sizeof(*result));
	if ((r = workspace_make(&workspace, error)) != 0)
		return r;
	snprintf(result->folder, sizeof(result->folder), "%s",
		 workspace_path(workspace));
	if ((r = prepare(&trial, workspace_path(workspace), error)) == 0)
		r = measure(&trial, result, error);
	pam_wrap_free(trial.wrap);
	pam_conf_free(trial.stack);
	free(trial.ring);
	workspace_remove(workspace);
	return r;
}
