/*
 * The parser against libpam itself: stacks, written by hand (tests/stacks/
 * syntax) and made at random, are started by tests/fake/stack_oracle, whose
 * modules print every call with its arguments. The same list is worked out
 * here from the parsed rules alone, and must be equal, for the libpam that is
 * installed; and once more when every module has been replaced and a marker
 * been added by the rewriter.
 */
#include "../test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>

#include "../../pamprof/base/alloc.h"
#include "../../pamprof/source/pam_rewrite.h"
#include "stack_text.h"
#include "syntax_draw.h"

#define ANY GROUP_COUNT

enum {
	RANDOM_STACKS = 400
};

/* ---- What the parsed rules predict --------------------------------------*/

/* Per group: the arguments of each call, and whether anything fails. */
struct forecast {
	struct buffer calls[GROUP_COUNT];
	bool bad[GROUP_COUNT];
	bool undefined;
};

/* A module that can be called; drawn words name other files as well. */
static bool
is_called(const struct pam_rule *rule)
{
	return rule->type == RULE_MODULE && rule->path &&
	       strstr(rule->path, "/pam_args.so");
}

/*
 * Whether a rule lets its group go on well: its module returns "ignore" (or
 * success for "ok"), or cannot be called, which counts as a failure.
 */
static bool
goes_well(const struct pam_rule *rule)
{
	const char *control = rule->control.value;

	if (!control)
		return false;
	if (strcasecmp(control, "optional") == 0 ||
	    strcmp(control, "default=ignore") == 0 ||
	    strcmp(control, "success=1 default=ignore") == 0 ||
	    strcmp(control, "success=2 default=ignore") == 0)
		return true;
	return strcasecmp(control, "required") == 0 && is_called(rule);
}

static void
add_call(struct buffer *calls, const struct pam_rule *rule)
{
	/* "@" becomes the function's name. */
	buffer_char(calls, '@');
	if (rule->args_count == 0)
		buffer_text(calls, rule->blank_tail ? " empty" : " null");
	for (size_t i = 0; i < rule->args_count; i++) {
		buffer_char(calls, ' ');
		text_word(calls, rule->args[i].value);
	}
	buffer_char(calls, '\n');
}

static unsigned
group_of(const struct pam_rule *rule, unsigned asked)
{
	if (rule->type == RULE_AT_INCLUDE)
		return asked;
	if (rule->unknown_type)
		return asked == ANY ? GROUP_AUTH : asked;
	return rule->group;
}

static bool forecast_file(struct forecast *forecast,
			  const struct pam_file *file, unsigned asked);

/* False: libpam gives the file up. */
static bool
forecast_rule(struct forecast *forecast, const struct pam_rule *rule,
	      unsigned asked)
{
	unsigned group = group_of(rule, asked);

	if (asked != ANY && group != asked)
		return true;
	if (rule->fatal)
		return false;
	if (rule->type == RULE_MODULE || rule->type == RULE_BROKEN) {
		if (is_called(rule))
			add_call(&forecast->calls[group], rule);
		forecast->bad[group] |= !goes_well(rule);
		return true;
	}
	if (rule->target && forecast_file(forecast, rule->target, group))
		return true;
	if (group == ANY)
		return false;
	/* Debian's libpam then uses an array that nobody has filled. */
	forecast->undefined |= rule->type == RULE_AT_INCLUDE;
	forecast->bad[group] = true;
	return true;
}

static bool
forecast_file(struct forecast *forecast, const struct pam_file *file,
	      unsigned asked)
{
	for (size_t i = 0; i < file->rules_count; i++)
		if (!forecast_rule(forecast, &file->rules[i], asked))
			return false;
	return true;
}

static void
put_calls(struct buffer *out, const struct buffer *calls, const char *name)
{
	for (size_t i = 0; i < calls->length; i++)
		if (calls->data[i] == '@' &&
		    (i == 0 || calls->data[i - 1] == '\n'))
			buffer_text(out, name);
		else
			buffer_char(out, calls->data[i]);
}

static void
put_result(struct buffer *out, const char *name, bool bad)
{
	buffer_format(out, "= %s %s\n", name, bad ? "bad" : "ok");
}

/* What stack_oracle is to print. */
static void
put_forecast(struct buffer *out, const struct forecast *forecast)
{
	const struct buffer *calls = forecast->calls;
	const bool *bad = forecast->bad;

	put_result(out, "start", false);
	put_calls(out, &calls[GROUP_AUTH], "authenticate");
	put_result(out, "authenticate", bad[GROUP_AUTH]);
	put_calls(out, &calls[GROUP_AUTH], "setcred");
	put_calls(out, &calls[GROUP_ACCOUNT], "acct_mgmt");
	put_result(out, "acct_mgmt", bad[GROUP_ACCOUNT]);
	put_calls(out, &calls[GROUP_SESSION], "open_session");
	put_result(out, "open_session", bad[GROUP_SESSION]);
	put_calls(out, &calls[GROUP_SESSION], "close_session");
	put_calls(out, &calls[GROUP_PASSWORD], "prelim");
	if (!bad[GROUP_PASSWORD])
		put_calls(out, &calls[GROUP_PASSWORD], "update");
	put_result(out, "chauthtok", bad[GROUP_PASSWORD]);
}

/* False when what libpam does with the stack depends on stray memory. */
static bool
put_expected(struct buffer *out, const struct pam_stack *stack)
{
	struct forecast forecast = { 0 };

	if (forecast_file(&forecast, stack->root, ANY))
		put_forecast(out, &forecast);
	else
		put_result(out, "start", true);
	for (size_t i = 0; i < GROUP_COUNT; i++)
		buffer_free(&forecast.calls[i]);
	return !forecast.undefined;
}

/* ---- What libpam does ---------------------------------------------------*/

/* Runs the oracle; returns its wait status. */
static int
ask_libpam(struct buffer *out, const char *confdir, const char *service)
{
	char *command = alloc_format("'%s/tests/fake/stack_oracle' '%s' '%s'",
				     test_build(), confdir, service);
	FILE *pipe = popen(command, "r");
	char bytes[4096];
	size_t count;

	free(command);
	CU_ASSERT_PTR_NOT_NULL_FATAL(pipe);
	while ((count = fread(bytes, 1, sizeof(bytes), pipe)) > 0)
		buffer_bytes(out, bytes, count);
	return pclose(pipe);
}

static void
show_difference(const struct buffer *stack, const struct buffer *expected,
		const struct buffer *seen)
{
	(void)fprintf(stderr,
		      "\n---- stack\n%s\n---- from the rules\n%s"
		      "---- from libpam\n%s----\n",
		      stack->data, expected->data, seen->data);
}

/* ---- The rewritten stack ------------------------------------------------*/

/* The same module under another name stands for the shim. */
static const char *
shim_for(void *context, struct pam_rule *rule)
{
	static char *path;

	(void)context;
	free(path);
	path = alloc_format("%s/tests/fake/../fake/pam_args.so", test_build());
	return is_called(rule) ? path : NULL;
}

static const char *
include_for(void *context, const struct pam_file *file)
{
	const struct text_folder *folder = context;
	static char *path;

	free(path);
	path = alloc_format("%s/w%s", folder->path, strrchr(file->path, '/'));
	return path;
}

/* Writes the copies into the folder's folder "w". */
static void
write_copies(const struct text_folder *folder, struct pam_stack *stack)
{
	struct pam_rewrite rewrite = { shim_for, include_for, (void *)folder };

	pam_rewrite_number(stack, shim_for, NULL);
	for (const struct pam_file *file = stack->files; file;
	     file = file->next) {
		char *name = alloc_format("w%s", strrchr(file->path, '/'));
		struct buffer out = { 0 };

		pam_rewrite_file(&out, file, &rewrite);
		text_folder_put(folder, name, out.data ? out.data : "",
				out.length);
		free(name);
		buffer_free(&out);
	}
}

/* Takes the markers out of what the modules printed. */
static void
take_markers_out(struct buffer *calls)
{
	char *text = buffer_take(calls), *at = text, *marker;

	while ((marker = strstr(at, " <" MARKER_PREFIX)) != NULL) {
		char *end = strchr(marker, '>');
		const char *line = marker;

		while (line > text && line[-1] != '\n')
			line--;
		buffer_bytes(calls, at, (size_t)(marker - at));
		/* The marker was all there was: what would argv have been? */
		if (!memchr(line, '<', (size_t)(marker - line)))
			buffer_text(calls, end[-1] == '+' ? " empty" : " null");
		at = end + 1;
	}
	buffer_text(calls, at);
	free(text);
}

/* ---- Both compared ------------------------------------------------------*/

/* Whether libpam does what is expected with the service in a folder. */
static bool
is_seen(const char *confdir, const char *service, const struct buffer *text,
	const struct buffer *expected)
{
	struct buffer seen = { 0 };
	bool equal;

	if (ask_libpam(&seen, confdir, service) != 0)
		buffer_text(&seen, "the oracle ended badly\n");
	take_markers_out(&seen);
	equal = strcmp(expected->data, seen.data) == 0;
	if (!equal)
		show_difference(text, expected, &seen);
	buffer_free(&seen);
	return equal;
}

/* Whether libpam does with the service what its rules say, wrapped or not. */
static bool
agrees(const struct text_folder *folder, const char *service,
       const struct buffer *text)
{
	struct pam_conf_place place = { .service = service,
					.confdir = folder->path };
	struct buffer expected = { 0 };
	struct pam_stack *stack;
	struct error error;
	bool equal = true;
	char *copies;

	if (pam_conf_read(&stack, &place, &error) != 0)
		return false;
	if (put_expected(&expected, stack)) {
		write_copies(folder, stack);
		copies = alloc_format("%s/w", folder->path);
		equal = is_seen(folder->path, service, text, &expected) &&
			is_seen(copies, service, text, &expected);
		free(copies);
	}
	pam_conf_free(stack);
	buffer_free(&expected);
	return equal;
}

/* ---- Stacks by hand -----------------------------------------------------*/

/* The rules that keep every group from falling back to "other". */
static void
put_first_rules(struct buffer *out)
{
	for (unsigned i = 0; i < GROUP_COUNT; i++)
		buffer_format(out, "%s required %s/tests/fake/pam_args.so ok\n",
			      pam_group_name(i), test_build());
}

/* Replaces @M@ by the module and @D@ by the folder. */
static void
put_filled(struct buffer *out, const struct text_folder *folder,
	   const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (length - i >= 3 && memcmp(text + i, "@M@", 3) == 0) {
			buffer_format(out, "%s/tests/fake/pam_args.so",
				      test_build());
			i += 2;
		} else if (length - i >= 3 && memcmp(text + i, "@D@", 3) == 0) {
			buffer_text(out, folder->path);
			i += 2;
		} else {
			buffer_char(out, text[i]);
		}
	}
}

static void
read_file(struct buffer *out, const char *path)
{
	FILE *in = fopen(path, "r");
	char bytes[4096];
	size_t count;

	CU_ASSERT_PTR_NOT_NULL_FATAL(in);
	while ((count = fread(bytes, 1, sizeof(bytes), in)) > 0)
		buffer_bytes(out, bytes, count);
	(void)fclose(in);
}

static void
put_by_hand(const struct text_folder *folder, const char *name,
	    struct buffer *filled)
{
	char *relative = alloc_format("tests/stacks/syntax/%s", name);
	struct buffer raw = { 0 };

	read_file(&raw, test_source(relative));
	/* Files to be included have no rules put in front. */
	if (!strstr(name, "-part"))
		put_first_rules(filled);
	put_filled(filled, folder, raw.data ? raw.data : "", raw.length);
	text_folder_put(folder, name, filled->data, filled->length);
	buffer_free(&raw);
	free(relative);
}

static void
stacks_by_hand(void)
{
	struct dirent **names;
	struct text_folder folder;
	int count = scandir(test_source("tests/stacks/syntax"), &names, NULL,
			    alphasort);
	struct buffer *texts;

	CU_ASSERT_FATAL(count > 2);
	texts = alloc_zero((size_t)count, sizeof(*texts));
	text_folder_begin(&folder);
	text_folder_put(&folder, "other", "", 0);
	for (int i = 0; i < count; i++)
		if (names[i]->d_name[0] != '.')
			put_by_hand(&folder, names[i]->d_name, &texts[i]);
	for (int i = 0; i < count; i++) {
		if (names[i]->d_name[0] != '.' &&
		    !strstr(names[i]->d_name, "-part")) {
			bool equal =
			    agrees(&folder, names[i]->d_name, &texts[i]);

			if (!equal)
				(void)fprintf(stderr, "differs: %s\n",
					      names[i]->d_name);
			CU_ASSERT(equal);
		}
		buffer_free(&texts[i]);
		free(names[i]);
	}
	free(names);
	free(texts);
	text_folder_end(&folder);
}

/* ---- Stacks at random ---------------------------------------------------*/

/*
 * A stack of one service (number 0) and what it may include. False when the
 * parser refuses it because libpam would hang or crash.
 */
static bool
compare_random(const struct text_folder *folder, unsigned long long *state)
{
	struct pam_conf_place place = { .service = "in0",
					.confdir = folder->path };
	struct buffer all = { 0 };
	struct pam_stack *stack;
	struct error error;
	bool readable, equal = true;

	for (unsigned number = 0; number < SYNTAX_FILES; number++) {
		struct buffer raw = { 0 }, text = { 0 };
		char name[16];

		if (number == 0)
			put_first_rules(&text);
		syntax_draw_file(&raw, state, number);
		put_filled(&text, folder, raw.data, raw.length);
		(void)snprintf(name, sizeof(name), "in%u", number);
		text_folder_put(folder, name, text.data, text.length);
		buffer_format(&all, "[%s]\n%s\n", name, text.data);
		buffer_free(&raw);
		buffer_free(&text);
	}
	readable = pam_conf_read(&stack, &place, &error) == 0;
	if (readable) {
		pam_conf_free(stack);
		equal = agrees(folder, "in0", &all);
	} else if (!strstr(error.text, "hangs") &&
		   !strstr(error.text, "crash")) {
		(void)fprintf(stderr, "refused: %s\n", error.text);
		equal = false;
	}
	CU_ASSERT(equal);
	buffer_free(&all);
	return readable;
}

static void
stacks_at_random(void)
{
	const char *wanted = getenv("ORACLE_STACKS");
	const char *seed = getenv("ORACLE_SEED");
	unsigned long long state =
	    seed ? strtoull(seed, NULL, 10) : 88172645463;
	int count = wanted ? atoi(wanted) : RANDOM_STACKS, compared = 0;
	struct text_folder folder;

	if (test_fast())
		count = RANDOM_STACKS / 8;
	text_folder_begin(&folder);
	text_folder_put(&folder, "other", "", 0);
	for (int i = 0; i < count; i++)
		compared += compare_random(&folder, &state);
	CU_ASSERT(compared > count * 3 / 4);
	text_folder_end(&folder);
}

void
pam_oracle_tests(void)
{
	static const struct test_row rows[] = {
		{ "stacks by hand", stacks_by_hand },
		{ "stacks at random", stacks_at_random },
	};

	(void)TEST_SUITE("pam_oracle", rows);
}
