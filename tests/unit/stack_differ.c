/*
 * The comparison behind stack_differ.h. It uses the parser, the rewriter and
 * the shim maker directly, not pam_wrap_stack(): a case has two services in
 * one folder, and shims are made once for all cases.
 */
#include "stack_differ.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../modules/call.h"
#include "../../modules/ring_header.h"
#include "../../pamprof/base/alloc.h"
#include "../../pamprof/base/error.h"
#include "../../pamprof/source/pam_rewrite.h"
#include "../../pamprof/source/pam_shim.h"
#include "../../pamprof/trace/ring_file.h"
#include "../test.h"

#define RING_SLOTS    4096
#define CONTEXT_LINES 4

static int
start_shims(struct stack_differ *differ, enum stack_side side)
{
	char *shims = alloc_format("%s/shims", differ->folder);
	char *resident = alloc_format("%s/pamprof_resident.so", shims);
	uint32_t options =
	    side == SIDE_PLAIN ? 0 : RING_CPU | RING_CONVERSATION;
	struct error error = { 0 };
	int r = mkdir(shims, 0755);

	if (r == 0 && side != SIDE_NO_RING)
		r = ring_make(differ->ring, RING_SLOTS, options, &error);
	if (r == 0)
		r = shim_folder_new(&differ->shims, shims, differ->ring,
				    &error);
	if (r == 0 && side == SIDE_ALONE)
		r = unlink(resident);
	if (r != 0)
		printf("no shims: %s\n", error.text);
	free(shims);
	free(resident);
	return r == 0 ? 0 : -1;
}

static int
make_folders(struct stack_differ *differ)
{
	static const char *const folders[] = { "bare", "wrap", "for-svc",
					       "for-second" };
	char name[] = "/tmp/pamprof-differ-XXXXXX";
	char *modules;
	int failed = 0;

	if (mkdtemp(name) == NULL)
		return -1;
	/* Scripts give up privileges: what is bare readable stays so. */
	failed |= chmod(name, 0755);
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		char *path = alloc_format("%s/%s", name, folders[i]);

		failed |= mkdir(path, 0755);
		free(path);
	}
	differ->folder = alloc_string(name);
	differ->bare_folder = alloc_format("%s/bare", name);
	differ->wrapped_folder = alloc_format("%s/wrap", name);
	differ->ring = alloc_format("%s/ring", name);
	differ->audit_ring = alloc_format("%s/audit-ring", name);
	modules = alloc_format("%s/modules", name);
	differ->places.confdir = differ->bare_folder;
	differ->places.modules = modules;
	return failed ? -1 : stack_modules_copy(modules);
}

int
stack_differ_start(struct stack_differ *differ, enum stack_side side)
{
	struct error error = { 0 };
	int r;

	memset(differ, 0, sizeof(*differ));
	r = make_folders(differ);
	if (r == 0 && side != SIDE_BARE)
		r = start_shims(differ, side);
	if (r == 0)
		r = stack_driver_start(&differ->bare, NULL);
	if (r == 0)
		r = stack_driver_start(&differ->wrapped, NULL);
	if (r != 0 || side != SIDE_WRAPPED)
		return r;
	/* Without a ring the auditor would decline and compare nothing. */
	r = ring_make(differ->audit_ring, RING_SLOTS,
		      RING_CPU | RING_CONVERSATION, &error);
	if (r != 0)
		printf("no ring: %s\n", error.text);
	return r != 0
		   ? -1
		   : stack_driver_start(&differ->audited, differ->audit_ring);
}

void
stack_differ_stop(struct stack_differ *differ)
{
	stack_driver_stop(&differ->bare);
	stack_driver_stop(&differ->wrapped);
	stack_driver_stop(&differ->audited);
	shim_folder_free(differ->shims);
	if (differ->folder != NULL)
		stack_folder_remove(differ->folder);
	free((char *)(uintptr_t)differ->places.modules);
	free(differ->ring);
	free(differ->audit_ring);
	free(differ->bare_folder);
	free(differ->wrapped_folder);
	free(differ->folder);
	memset(differ, 0, sizeof(*differ));
}

static void
write_file(const char *folder, const char *name, const struct buffer *text)
{
	char *path = alloc_format("%s/%s", folder, name);
	FILE *out = fopen(path, "we");

	if (out == NULL ||
	    fwrite(text->data, 1, text->length, out) != text->length ||
	    fclose(out) != 0)
		printf("%s cannot be written\n", path);
	free(path);
}

static void
write_case(const struct stack_case *stack, const char *folder)
{
	for (size_t f = 0; f < STACK_FILES; f++) {
		const struct stack_lines *lines = &stack->files[f];
		struct buffer text = { 0 };

		for (size_t i = 0; i < lines->count; i++)
			buffer_text(&text, lines->text[i]);
		if (lines->count > 0)
			write_file(folder, stack_file_names[f], &text);
		buffer_free(&text);
	}
}

static void
remove_case(const char *folder)
{
	for (size_t f = 0; f < STACK_FILES; f++) {
		char *path = alloc_format("%s/%s", folder, stack_file_names[f]);

		unlink(path);
		free(path);
	}
}

struct wrapping {
	struct stack_differ *differ;
	const char *service;
	char *path; /* of the last include asked for */
};

static const char *
shim_for(void *context, struct pam_rule *rule)
{
	struct wrapping *wrapping = context;

	return shim_folder_shim(wrapping->differ->shims, rule);
}

/*
 * The same file name in a folder of the service: what is wrapped in it
 * depends on the groups for which it is included.
 */
static const char *
include_for(void *context, const struct pam_file *file)
{
	struct wrapping *wrapping = context;

	free(wrapping->path);
	wrapping->path =
	    alloc_format("%s/for-%s/%s", wrapping->differ->folder,
			 wrapping->service, strrchr(file->path, '/') + 1);
	return wrapping->path;
}

static void
count_rules(struct stack_differ *differ, const struct pam_file *file)
{
	for (size_t i = 0; i < file->rules_count; i++)
		if (file->rules[i].marker != 0)
			differ->wrapped_rules++;
		else
			differ->other_rules++;
}

/*
 * Whether a rule was left alone (line limit, inner comment) whose module is
 * called through a shim elsewhere. The module then has two users, and is
 * unloaded when the later of the two goes.
 */
static int
is_mixed(const struct pam_stack *stack, const char *path)
{
	int seen = 0;

	for (const struct pam_file *f = stack->files; f != NULL; f = f->next)
		for (size_t i = 0; i < f->rules_count; i++)
			if (f->rules[i].path != NULL &&
			    strcmp(f->rules[i].path, path) == 0)
				seen |= f->rules[i].marker != 0 ? 1 : 2;
	return seen == 3;
}

static int
has_mixed(const struct pam_stack *stack)
{
	for (const struct pam_file *f = stack->files; f != NULL; f = f->next)
		for (size_t i = 0; i < f->rules_count; i++)
			if (f->rules[i].path != NULL &&
			    is_mixed(stack, f->rules[i].path))
				return 1;
	return 0;
}

/* Returns why the stack cannot be read, or NULL. */
static char *
wrap_service(struct stack_differ *differ, const char *service)
{
	struct wrapping wrapping = { .differ = differ, .service = service };
	struct pam_conf_place place = { .service = service,
					.confdir = differ->bare_folder };
	struct pam_rewrite rewrite = { .shim = shim_for,
				       .include_for = include_for,
				       .context = &wrapping };
	struct pam_stack *stack = NULL;
	struct error error = { 0 };

	if (pam_conf_read(&stack, &place, &error) != 0)
		return alloc_string(error.text);
	pam_rewrite_number(stack, shim_for, &wrapping);
	for (struct pam_file *file = stack->files; file; file = file->next) {
		struct buffer text = { 0 };

		pam_rewrite_file(&text, file, &rewrite);
		if (file == stack->root || file == stack->other)
			write_file(differ->wrapped_folder,
				   strrchr(file->path, '/') + 1, &text);
		else
			write_file("", include_for(&wrapping, file), &text);
		count_rules(differ, file);
		buffer_free(&text);
	}
	differ->mixed |= has_mixed(stack);
	pam_conf_free(stack);
	free(wrapping.path);
	return NULL;
}

/* Writes both folders. Returns a refusal or NULL. */
static char *
prepare(struct stack_differ *differ, const struct stack_case *stack)
{
	char *refusal = NULL;

	differ->mixed = 0;
	remove_case(differ->bare_folder);
	remove_case(differ->wrapped_folder);
	write_case(stack, differ->bare_folder);
	/* What a missing include or a refusal leaves unwrapped stays bare. */
	write_case(stack, differ->wrapped_folder);
	if (differ->shims == NULL)
		return NULL;
	if (stack->files[STACK_SERVICE].count > 0)
		refusal = wrap_service(differ, "svc");
	if (stack->files[STACK_SECOND].count > 0 && refusal == NULL)
		refusal = wrap_service(differ, "second");
	return refusal;
}

/* Takes the lines about unloading out of a trace. */
static void
drop_unloads(char *text)
{
	char *out = text;

	while (text != NULL && *text != '\0') {
		size_t length = strcspn(text, "\n") + 1;

		if (memmem(text, length, ": unloaded after", 16) == NULL) {
			memmove(out, text, length);
			out += length;
		}
		text += length;
	}
	if (text != NULL)
		*out = '\0';
}

static int
same(const char *one, const char *other)
{
	return one != NULL && other != NULL && strcmp(one, other) == 0;
}

static char *
receive(const struct stack_differ *differ, struct stack_driver *driver)
{
	char *trace = stack_driver_receive(driver);

	if (differ->mixed)
		drop_unloads(trace);
	return trace;
}

void
stack_differ_run(struct stack_differ *differ, const struct stack_case *stack,
		 struct stack_outcome *outcome)
{
	memset(outcome, 0, sizeof(*outcome));
	outcome->refusal = prepare(differ, stack);
	differ->refused += outcome->refusal != NULL;
	/* All at once, so that they share the processors. */
	stack_driver_send(&differ->bare, differ->bare_folder, &stack->script);
	stack_driver_send(&differ->wrapped, differ->wrapped_folder,
			  &stack->script);
	if (differ->audited.pid != 0)
		stack_driver_send(&differ->audited, differ->bare_folder,
				  &stack->script);
	outcome->bare = receive(differ, &differ->bare);
	outcome->wrapped = receive(differ, &differ->wrapped);
	outcome->equal = same(outcome->bare, outcome->wrapped);
	if (differ->audited.pid == 0)
		return;
	outcome->audited = receive(differ, &differ->audited);
	outcome->equal &= same(outcome->bare, outcome->audited);
}

void
stack_outcome_free(struct stack_outcome *outcome)
{
	free(outcome->bare);
	free(outcome->wrapped);
	free(outcome->audited);
	free(outcome->refusal);
	memset(outcome, 0, sizeof(*outcome));
}

static int
differs(struct stack_differ *differ, const struct stack_case *stack)
{
	struct stack_outcome outcome;
	int equal;

	stack_differ_run(differ, stack, &outcome);
	equal = outcome.equal;
	stack_outcome_free(&outcome);
	return !equal;
}

/* Returns how many lines could be dropped. */
static unsigned
shrink_lines(struct stack_differ *differ, struct stack_case *stack,
	     struct stack_lines *lines)
{
	unsigned dropped = 0;

	for (size_t i = lines->count; i-- > 0;) {
		char *text = lines->text[i];
		size_t after = lines->count - i - 1;

		memmove(lines->text + i, lines->text + i + 1,
			after * sizeof(*lines->text));
		lines->count--;
		if (differs(differ, stack)) {
			free(text);
			dropped++;
			continue;
		}
		memmove(lines->text + i + 1, lines->text + i,
			after * sizeof(*lines->text));
		lines->text[i] = text;
		lines->count++;
	}
	return dropped;
}

void
stack_differ_shrink(struct stack_differ *differ, struct stack_case *stack)
{
	unsigned dropped;

	do {
		dropped = shrink_lines(differ, stack, &stack->script);
		for (size_t f = 0; f < STACK_FILES; f++)
			dropped +=
			    shrink_lines(differ, stack, &stack->files[f]);
	} while (dropped > 0);
}

static void
print_lines(const char *title, const char *text, size_t from)
{
	size_t line = 0;

	printf("  -- %s, from line %zu:\n", title, from + 1);
	while (text != NULL && *text != '\0' &&
	       line < from + 2 * CONTEXT_LINES) {
		size_t length = strcspn(text, "\n");

		if (line++ >= from)
			printf("  %.*s\n", (int)length, text);
		text += length + (text[length] == '\n');
	}
}

/* Number of the line before the first difference, less some context. */
static size_t
first_difference(const char *one, const char *other)
{
	size_t line = 0;

	for (; one && other && *one == *other && *one; one++, other++)
		line += *one == '\n';
	return line < CONTEXT_LINES ? 0 : line - CONTEXT_LINES;
}

void
stack_differ_report(struct stack_differ *differ, const struct stack_case *stack)
{
	struct stack_outcome outcome;
	const char *other;
	size_t from;

	stack_differ_run(differ, stack, &outcome);
	other = same(outcome.bare, outcome.wrapped) ? outcome.audited
						    : outcome.wrapped;
	from = first_difference(outcome.bare, other);
	printf("\nseed %llu differs%s%s\n", (unsigned long long)stack->seed,
	       outcome.refusal ? ", refused: " : "",
	       outcome.refusal ? outcome.refusal : "");
	for (size_t f = 0; f < STACK_FILES; f++)
		for (size_t i = 0; i < stack->files[f].count; i++)
			printf("  %s: %s", stack_file_names[f],
			       stack->files[f].text[i]);
	for (size_t i = 0; i < stack->script.count; i++)
		printf("  script: %s\n", stack->script.text[i]);
	print_lines("bare", outcome.bare, from);
	print_lines(other == outcome.audited ? "audited" : "wrapped", other,
		    from);
	stack_outcome_free(&outcome);
}
