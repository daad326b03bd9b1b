/*
 * The option parser and the command table: what --help prints, what a wrong
 * line says, and that every row is complete, since the parser relies on it.
 */
#include "../test.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../pamprof/base/options.h"

struct sample {
	bool verbose, quiet;
	const char *file;
	unsigned long runs, number;
	uint64_t limit;
};

static const struct option_row rows[] = {
	{ "verbose", 'v', OPTION_FLAG, offsetof(struct sample, verbose), NULL,
	  "Say more." },
	{ "quiet", 'q', OPTION_FLAG, offsetof(struct sample, quiet), NULL,
	  "Say less." },
	{ "file", 'f', OPTION_STRING, offsetof(struct sample, file), "FILE",
	  "A file." },
	{ "runs", 'n', OPTION_COUNT, offsetof(struct sample, runs), "N",
	  "Runs." },
	{ "number", 0, OPTION_NUMBER, offsetof(struct sample, number), "N",
	  "A number." },
	{ "limit", 0, OPTION_DURATION, offsetof(struct sample, limit), "D",
	  "A limit." },
};

static const struct command sample_command = {
	.name = "sample",
	.options = rows,
	.options_count = sizeof(rows) / sizeof(rows[0]),
	.options_size = sizeof(struct sample),
};

enum {
	WORDS = 12
};

/* What one line was read as. */
struct reading {
	struct sample options;
	char line[256], *argv[WORDS];
	int argc, result;
	struct error error;
};

static void
read_line(struct reading *reading, const char *line)
{
	char *word, *rest = reading->line;

	memset(reading, 0, sizeof(*reading));
	(void)snprintf(reading->line, sizeof(reading->line), "%s", line);
	while ((word = strsep(&rest, " ")) && reading->argc < WORDS)
		reading->argv[reading->argc++] = word;
	reading->result =
	    options_parse(&sample_command, &reading->options, &reading->argc,
			  reading->argv, &reading->error);
}

static void
forms_of_options(void)
{
	struct reading r = { 0 };

	read_line(&r, "-vq -n5 -f x one --limit=1.5s two --number 0");
	CU_ASSERT_EQUAL(r.result, OPTIONS_PARSED);
	CU_ASSERT_TRUE(r.options.verbose && r.options.quiet);
	CU_ASSERT_EQUAL(r.options.runs, 5);
	CU_ASSERT_STRING_EQUAL(r.options.file, "x");
	CU_ASSERT_EQUAL(r.options.limit, 1500000000);
	CU_ASSERT_EQUAL(r.argc, 2);
	CU_ASSERT_STRING_EQUAL(r.argv[0], "one");
	CU_ASSERT_STRING_EQUAL(r.argv[1], "two");
	read_line(&r, "--file= --runs 2 --runs=3 -vf-");
	CU_ASSERT_EQUAL(r.result, OPTIONS_PARSED);
	CU_ASSERT_STRING_EQUAL(r.options.file, "-");
	CU_ASSERT_EQUAL(r.options.runs, 3);
}

static void
end_of_options(void)
{
	struct reading r = { 0 };

	read_line(&r, "-v - -- su -q -- --nothing");
	CU_ASSERT_EQUAL(r.result, OPTIONS_PARSED);
	CU_ASSERT_FALSE(r.options.quiet);
	CU_ASSERT_EQUAL(r.argc, 5);
	CU_ASSERT_STRING_EQUAL(r.argv[0], "-");
	CU_ASSERT_STRING_EQUAL(r.argv[1], "su");
	CU_ASSERT_STRING_EQUAL(r.argv[3], "--");
	CU_ASSERT_STRING_EQUAL(r.argv[4], "--nothing");
}

static void
asking_for_help(void)
{
	struct reading r = { 0 };

	read_line(&r, "-v --help --nonsense");
	CU_ASSERT_EQUAL(r.result, OPTIONS_HELP);
	read_line(&r, "-vh");
	CU_ASSERT_EQUAL(r.result, OPTIONS_HELP);
}

static void
wrong_lines(void)
{
	static const struct {
		const char *line, *says;
	} wrong[] = {
		{ "--nothing", "sample has no option --nothing; see pamprof "
			       "sample --help" },
		{ "--verb", "sample has no option --verb; see pamprof "
			    "sample --help" },
		{ "-vx",
		  "sample has no option -vx; see pamprof sample --help" },
		{ "--verbose=1", "--verbose takes no value" },
		{ "-n", "--runs needs a value: N" },
		{ "--file", "--file needs a value: FILE" },
		{ "-n 0", "--runs: at least 1" },
		{ "-n x", "--runs: \"x\" is not a number" },
		{ "--number=-1", "--number: \"-1\" is not a number" },
		{ "--number=99999999999999999999",
		  "--number: \"99999999999999999999\" is too large" },
		{ "--limit=1y",
		  "--limit: \"1y\" is not a duration: write it like 2h, 1.5s, "
		  "200ms or 30 (seconds)" },
	};
	struct reading r = { 0 };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		read_line(&r, wrong[i].line);
		CU_ASSERT_EQUAL(r.result, ERROR_USAGE);
		CU_ASSERT_STRING_EQUAL(r.error.text, wrong[i].says);
	}
}

/* A row is whole: the parser and --help look at every field. */
static void
check_row(const struct command *command, size_t index)
{
	const struct option_row *row = &command->options[index];

	CU_ASSERT_PTR_NOT_NULL_FATAL(row->name);
	CU_ASSERT_PTR_NOT_NULL_FATAL(row->help);
	CU_ASSERT_NOT_EQUAL(strcmp(row->name, "help"), 0);
	CU_ASSERT_TRUE(row->help[0] && !strchr(row->help, '\n'));
	CU_ASSERT_EQUAL(row->type == OPTION_FLAG, row->argument == NULL);
	CU_ASSERT_TRUE(row->offset < command->options_size);
	CU_ASSERT_TRUE(row->letter == 0 || isalnum(row->letter));
	for (size_t i = 0; i < index; i++) {
		const struct option_row *other = &command->options[i];

		CU_ASSERT_NOT_EQUAL(strcmp(row->name, other->name), 0);
		CU_ASSERT_TRUE(!row->letter || row->letter != other->letter);
	}
}

static void
the_table(void)
{
	for (size_t i = 0; commands[i]; i++) {
		const struct command *c = commands[i];

		CU_ASSERT_TRUE(c->name && c->name[0] && c->act);
		CU_ASSERT_TRUE(c->summary && c->usage && c->description);
		CU_ASSERT_TRUE(strlen(c->summary) <= 66);
		for (size_t j = 0; j < i; j++)
			CU_ASSERT_NOT_EQUAL(strcmp(c->name, commands[j]->name),
					    0);
		for (size_t j = 0; j < c->options_count; j++)
			check_row(c, j);
	}
}

/* What holds where an option is not given, as the manual says. */
static void
the_defaults(void)
{
	const struct command *c = &command_run;
	char *values = calloc(1, c->options_size);
	unsigned found = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(values);
	c->defaults(values);
	for (size_t i = 0; i < c->options_count; i++) {
		const void *value = values + c->options[i].offset;

		if (!strcmp(c->options[i].name, "timeout"))
			found += *(const uint64_t *)value == 120000000000u;
		if (!strcmp(c->options[i].name, "runs"))
			found += *(const unsigned long *)value == 1;
	}
	CU_ASSERT_EQUAL(found, 2);
	free(values);
}

/* Runs the built program; returns its exit status, out has its output. */
static int
run(const char *words, char *out, size_t size)
{
	char line[4096];
	size_t length;
	FILE *pipe;
	int status;

	(void)snprintf(line, sizeof(line), "%s/pamprof %s 2>&1", test_build(),
		       words);
	pipe = popen(line, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(pipe);
	length = fread(out, 1, size - 1, pipe);
	out[length] = '\0';
	status = pclose(pipe);
	return status >= 0 && status % 256 == 0 ? status / 256 : -1;
}

static void
the_program(void)
{
	static char out[65536];
	char words[64];

	CU_ASSERT_EQUAL(run("", out, sizeof(out)), EXIT_USAGE);
	CU_ASSERT_EQUAL(run("--version", out, sizeof(out)), 0);
	CU_ASSERT_EQUAL(strncmp(out, "pamprof ", 8), 0);
	CU_ASSERT_EQUAL(run("nothing", out, sizeof(out)), EXIT_USAGE);
	CU_ASSERT_STRING_EQUAL(
	    out, "pamprof: no command \"nothing\"; see pamprof --help\n");
	CU_ASSERT_EQUAL(run("--help >/dev/full", out, sizeof(out)),
			EXIT_UNMEASURED);
	CU_ASSERT_EQUAL(run("--help", out, sizeof(out)), 0);
	for (size_t i = 0; commands[i]; i++)
		CU_ASSERT_PTR_NOT_NULL(strstr(out, commands[i]->name));
	for (size_t i = 0; commands[i]; i++) {
		(void)snprintf(words, sizeof(words), "%s --help",
			       commands[i]->name);
		CU_ASSERT_EQUAL(run(words, out, sizeof(out)), 0);
		for (char *l = strtok(out, "\n"); l; l = strtok(NULL, "\n"))
			CU_ASSERT_TRUE(strlen(l) <= 80);
	}
}

void command_tests(void);

void
command_tests(void)
{
	static const struct test_row tests[] = {
		{ "forms of options", forms_of_options },
		{ "end of options", end_of_options },
		{ "asking for help", asking_for_help },
		{ "wrong lines", wrong_lines },
		{ "the table", the_table },
		{ "the defaults", the_defaults },
		{ "the program", the_program },
	};

	(void)TEST_SUITE("command", tests);
}
