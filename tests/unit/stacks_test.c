/*
 * Each tests/stacks/NAME.stack as one test: the stack is run by the built
 * program, saved, shown again, and compared with what the file expects. What
 * must hold for every stack is checked without being asked for: sums, show
 * equal to run, no record lost, no forbidden string in anything written.
 *
 * A sleep never ends early, and on a busy machine late: times may be up to
 * EARLY_MS under what a file says, and its tolerance over it.
 */
#include "../test.h"

#include <fcntl.h>
#include <glob.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../pamprof/base/alloc.h"
#include "../../pamprof/base/child.h"
#include "stack_script.h"

#define EARLY_MS   1.0
#define LIMIT_NS   60000000000u
#define WORDS_MAX  64
#define LINE_WORDS 6

/* One test while it runs. */
struct trial {
	struct script script;
	char dir[64];
	json_t *report;
	int status;
};

static void complain(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

static void
complain(const char *format, ...)
{
	va_list values;

	printf("\n    %s.stack: ", CU_get_current_test()->pName);
	va_start(values, format);
	vprintf(format, values);
	va_end(values);
	CU_FAIL("a stack test");
}

/* ---- Running ------------------------------------------------------------ */

struct program {
	const char *dir, *out;
	char *words[WORDS_MAX];
	int count;
};

static void
word(struct program *program, char *text)
{
	if (program->count < WORDS_MAX - 1)
		program->words[program->count++] = text;
}

static int
become_program(void *context)
{
	struct program *program = context;
	int null = open("/dev/null", O_RDONLY), out, err;

	/* No terminal that could be asked. */
	setsid();
	if (chdir(program->dir) != 0)
		return 126;
	out = open(program->out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	err = open("err", O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		return 126;
	execv(program->words[0], program->words);
	return 127;
}

/* Exit status, or -1 when there was none in time. */
static int
run_program(struct program *program)
{
	struct child_end end;
	struct child child;
	struct error error;

	if (child_start(&child, CHILD_SAME_GROUP, become_program, program,
			&error) != 0 ||
	    child_wait(&child, LIMIT_NS, &end, &error) != 0) {
		complain("%s", error.text);
		return -1;
	}
	return end.how == CHILD_EXITED ? end.value : -1;
}

static void
run_stack(struct trial *trial)
{
	const struct script *script = &trial->script;
	char *path = alloc_format("%s/pamprof", test_build()), *save = NULL;
	struct program run = { .dir = trial->dir, .out = "report" };
	char *fixed[] = { path,       "run",   "test",      "--confdir",
			  "pam.d",    "--yes", "--save",    "saved",
			  "--format", "json",  "--answers", "answers" };

	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		word(&run, fixed[i]);
	for (size_t i = 0; i < script->count[SCRIPT_CALLS]; i++) {
		char *line = script->lines[SCRIPT_CALLS][i];

		for (char *w = strtok_r(line, " ", &save); w != NULL;
		     w = strtok_r(NULL, " ", &save))
			word(&run, w);
	}
	trial->status = run_program(&run);
	free(path);
}

static int
show(const struct trial *trial, char *format, const char *out)
{
	char *path = alloc_format("%s/pamprof", test_build());
	struct program program = { .dir = trial->dir,
				   .out = out,
				   .words = { path, "show", "saved", "--format",
					      format },
				   .count = 5 };
	int status = run_program(&program);

	free(path);
	return status;
}

static void
read_file(const struct trial *trial, const char *name, struct buffer *out)
{
	char *path = alloc_format("%s/%s", trial->dir, name), block[4096];
	FILE *in = fopen(path, "re");
	size_t got;

	while (in != NULL && (got = fread(block, 1, sizeof(block), in)) > 0)
		buffer_bytes(out, block, got);
	if (in != NULL)
		fclose(in);
	free(path);
}

/* ---- Looking into the report -------------------------------------------- */

static const json_t *
find_phase(const struct trial *trial, const char *name)
{
	json_t *phases = json_object_get(trial->report, "phases"), *phase;
	size_t i;

	json_array_foreach(phases, i, phase)
	{
		const char *is =
		    json_string_value(json_object_get(phase, "phase"));

		if (is != NULL && strcmp(is, name) == 0)
			return phase;
	}
	return NULL;
}

static const json_t *
find_rule(const struct trial *trial, const char *phase, int line)
{
	json_t *rules = json_object_get(trial->report, "rules"), *rule;
	size_t i;

	json_array_foreach(rules, i, rule)
	{
		const char *is =
		    json_string_value(json_object_get(rule, "phase"));

		if (is != NULL && strcmp(is, phase) == 0 &&
		    json_integer_value(json_object_get(rule, "line")) == line)
			return rule;
	}
	return NULL;
}

static long long
number(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

static long long
sum(const json_t *split)
{
	const char *key;
	json_t *value;
	long long total = 0;

	json_object_foreach((json_t *)(uintptr_t)split, key, value) total +=
	    json_integer_value(value);
	return total;
}

/* ---- What a file expects ------------------------------------------------ */

static void
expect_verdict(const struct trial *trial, const char *phase,
	       const char *expected)
{
	const json_t *found = find_phase(trial, phase);
	const char *verdict =
	    json_string_value(json_object_get(found, "verdict"));

	if (strcmp(expected, "-") == 0
		? found != NULL
		: strcmp(verdict ? verdict : "null", expected) != 0)
		complain("%s is %s, not %s\n", phase,
			 found ? (verdict ? verdict : "null") : "not called",
			 expected);
}

static void
expect_failure(const struct trial *trial, const char *outcome, int result,
	       int line)
{
	json_t *failures = json_object_get(trial->report, "failures");
	const json_t *failure = json_array_get(failures, 0);
	const json_t *rule = json_object_get(failure, "rule");
	const char *is = json_string_value(json_object_get(failure, "outcome"));

	if (is == NULL || strcmp(is, outcome) != 0 ||
	    number(failure, "result") != result || number(rule, "line") != line)
		complain("failure is %s %lld in line %lld\n", is ? is : "none",
			 number(failure, "result"), number(rule, "line"));
}

static void
expect_prompts(const struct trial *trial, long long expected)
{
	json_t *rules = json_object_get(trial->report, "rules"), *rule;
	long long found = 0;
	size_t i;

	json_array_foreach(rules, i, rule) found += number(rule, "prompts");
	if (found != expected)
		complain("%lld prompts, not %lld\n", found, expected);
}

static void
expect_stderr(const struct trial *trial, const char *text)
{
	struct buffer err = { 0 };

	read_file(trial, "err", &err);
	if (err.data == NULL || strstr(err.data, text) == NULL)
		complain("stderr is without \"%s\":\n%s\n", text,
			 err.data ? err.data : "");
	buffer_free(&err);
}

static void
expect(const struct trial *trial, const char *line)
{
	char name[64], second[64];
	int value, last;

	if (sscanf(line, "exit %d", &value) == 1) {
		if (trial->status != value) {
			complain("exit status %d, not %d\n", trial->status,
				 value);
			expect_stderr(trial, "\001"); /* shows it */
		}
	} else if (sscanf(line, "failure %63s %d %d", name, &value, &last) ==
		   3) {
		expect_failure(trial, name, value, last);
	} else if (sscanf(line, "prompts %d", &value) == 1) {
		expect_prompts(trial, value);
	} else if (strncmp(line, "stderr ", 7) == 0) {
		expect_stderr(trial, line + 7);
	} else if (sscanf(line, "%63s %63s", name, second) == 2) {
		expect_verdict(trial, name, second);
	} else {
		complain("not understood: %s\n", line);
	}
}

/* The figure in ms, or -1. */
static double
figure(const struct trial *trial, const char *phase, const char *where,
       const char *name)
{
	bool self = strcmp(where, "self") == 0;
	const json_t *found = self ? find_phase(trial, phase)
				   : find_rule(trial, phase, atoi(where));
	const json_t *median = json_object_get(found, "median_run");

	if (found == NULL)
		return -1;
	if (strcmp(name, "wall") != 0)
		return (double)number(json_object_get(median, "split"), name) /
		       1e6;
	if (self)
		return (double)number(median, "self") / 1e6;
	return (double)number(json_object_get(found, "wall"), "min") / 1e6;
}

static void
expect_span(const struct trial *trial, const char *line)
{
	char phase[64], where[16], name[32];
	double expected, tolerance, found;

	if (sscanf(line, "%63s %15s %31s %lf %lf", phase, where, name,
		   &expected, &tolerance) != 5) {
		complain("not understood: %s\n", line);
		return;
	}
	found = figure(trial, phase, where, name);
	if (found < expected - EARLY_MS || found > expected + tolerance)
		complain("%s %s: %s is %.3f ms, not %.3f + %.3f\n", phase,
			 where, name, found, expected, tolerance);
}

/* ---- What holds for all of them ----------------------------------------- */

static void
check_sums(const struct trial *trial)
{
	json_t *phases = json_object_get(trial->report, "phases"), *phase;
	json_t *rules = json_object_get(trial->report, "rules"), *rule;
	const json_t *run = json_object_get(trial->report, "median_run");
	long long total = number(run, "outside");
	size_t i;

	json_array_foreach(phases, i, phase)
	{
		const json_t *in = json_object_get(phase, "median_run");

		total += number(in, "wall");
		CU_ASSERT_EQUAL(number(in, "wall"),
				number(in, "modules") + number(in, "self"));
		CU_ASSERT_EQUAL(number(in, "wall"),
				sum(json_object_get(in, "split")));
	}
	CU_ASSERT_EQUAL(total, number(run, "wall"));
	json_array_foreach(rules, i, rule)
	{
		const json_t *in = json_object_get(rule, "median_run");

		CU_ASSERT_EQUAL(number(in, "wall"),
				sum(json_object_get(in, "split")));
	}
	CU_ASSERT_EQUAL(number(trial->report, "lost"), 0);
}

static void
check_shown(const struct trial *trial)
{
	struct buffer report = { 0 }, shown = { 0 };

	CU_ASSERT_EQUAL(show(trial, "json", "shown"), 0);
	CU_ASSERT_EQUAL(show(trial, "tree", "tree"), 0);
	read_file(trial, "report", &report);
	read_file(trial, "shown", &shown);
	CU_ASSERT(report.length > 0);
	CU_ASSERT_EQUAL(report.length, shown.length);
	if (report.length != shown.length ||
	    memcmp(report.data, shown.data, report.length) != 0)
		complain("show differs from run\n");
	buffer_free(&report);
	buffer_free(&shown);
}

static void
check_never(const struct trial *trial, const char *text)
{
	static const char *const files[] = { "report", "shown", "tree", "saved",
					     "err" };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct buffer content = { 0 };

		read_file(trial, files[i], &content);
		if (content.length > 0 && memmem(content.data, content.length,
						 text, strlen(text)) != NULL)
			complain("\"%s\" is in %s\n", text, files[i]);
		buffer_free(&content);
	}
}

static void
check(struct trial *trial)
{
	const struct script *script = &trial->script;
	struct buffer text = { 0 };

	read_file(trial, "report", &text);
	trial->report =
	    json_loadb(text.data ? text.data : "", text.length, 0, NULL);
	buffer_free(&text);
	if (trial->report != NULL) {
		check_sums(trial);
		check_shown(trial);
	}
	for (size_t i = 0; i < script->count[SCRIPT_EXPECT]; i++)
		expect(trial, script->lines[SCRIPT_EXPECT][i]);
	for (size_t i = 0; i < script->count[SCRIPT_SPANS]; i++)
		expect_span(trial, script->lines[SCRIPT_SPANS][i]);
	for (size_t i = 0; i < script->count[SCRIPT_NEVER]; i++)
		check_never(trial, script->lines[SCRIPT_NEVER][i]);
	json_decref(trial->report);
}

static void
remove_folder(const char *dir)
{
	char *command = alloc_format("rm -rf '%s'", dir);

	if (system(command) != 0)
		complain("%s stays\n", dir);
	free(command);
}

static void
run_script(void)
{
	struct trial trial = { .dir = "/tmp/pamprof-stack-XXXXXX" };
	char path[256];
	const char *problem;

	snprintf(path, sizeof(path), "tests/stacks/%s.stack",
		 CU_get_current_test()->pName);
	if (mkdtemp(trial.dir) == NULL) {
		complain("no folder in /tmp\n");
		return;
	}
	problem = script_read(&trial.script, path, trial.dir);
	if (problem != NULL) {
		complain("%s\n", problem);
	} else {
		run_stack(&trial);
		check(&trial);
	}
	remove_folder(trial.dir);
	script_free(&trial.script);
}

void stacks_tests(void);

void
stacks_tests(void)
{
	CU_pSuite suite = test_suite("stacks", NULL, 0);
	char name[128];
	glob_t found;

	if (glob("tests/stacks/*.stack", 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *base = strrchr(found.gl_pathv[i], '/') + 1;

		snprintf(name, sizeof(name), "%.*s", (int)strlen(base) - 6,
			 base);
		CU_add_test(suite, name, run_script);
	}
	globfree(&found);
	test_external(suite);
}
