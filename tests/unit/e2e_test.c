/*
 * Each tests/e2e/NAME.sh as one test: a script that drives the built program
 * as a person would. Exit status 0 passes, 77 skips (its last line says
 * why), anything else fails and shows what it printed. Names that start with
 * "slow_" make up a suite of their own.
 */
#include "../test.h"

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../pamprof/base/buffer.h"
#include "../../pamprof/base/child.h"
#include "../../pamprof/base/safe_file.h"

enum {
	SKIPPED = 77,
	LIMIT_SECONDS = 180,
	OUTPUT_LIMIT = 16 << 20
};

static char output_path[PATH_MAX];

/* In the child: becomes the script. */
static int
become_script(void *path)
{
	int out = open(output_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	int in = open("/dev/null", O_RDONLY);

	if (out < 0 || in < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 ||
	    dup2(out, 2) < 0 || setenv("BUILD", test_build(), 1))
		return 126;
	execl("/bin/bash", "bash", (char *)path, (char *)NULL);
	return 127;
}

/* The last line of what the script printed. */
static const char *
last_line(struct buffer *output)
{
	char *newline;

	while (output->length && output->data[output->length - 1] == '\n')
		output->data[--output->length] = '\0';
	if (!output->length)
		return "(no reason printed)";
	newline = strrchr(output->data, '\n');
	return newline ? newline + 1 : output->data;
}

static void
judge(const char *path, const struct child_end *end, struct buffer *output)
{
	char verdict[PATH_MAX + 64];

	if (end->how == CHILD_EXITED && end->value == SKIPPED) {
		test_skip("%s", last_line(output));
		return;
	}
	if (end->how == CHILD_EXITED && end->value == 0)
		return;
	(void)snprintf(verdict, sizeof(verdict), "%s: %s %d", path,
		       end->how == CHILD_EXITED      ? "exit status"
		       : end->how == CHILD_TIMED_OUT ? "over time, signal"
						     : "signal",
		       end->value);
	(void)printf("\n%s\n%s\n", output->length ? output->data : "", verdict);
	CU_FAIL("the script failed");
}

static void
run_script(void)
{
	char path[PATH_MAX];
	struct error error = { 0 };
	struct child child;
	struct child_end end;
	struct buffer output = { 0 };

	(void)snprintf(path, sizeof(path), "tests/e2e/%s.sh",
		       CU_get_current_test()->pName);
	(void)snprintf(output_path, sizeof(output_path), "%s/tests/e2e-%s.log",
		       test_build(), CU_get_current_test()->pName);
	if (child_start(&child, CHILD_OWN_GROUP, become_script, path, &error) ||
	    child_wait(&child, LIMIT_SECONDS * 1000000000ull, &end, &error) ||
	    safe_file_read(output_path, LINKS_REFUSED, OUTPUT_LIMIT, &output,
			   &error)) {
		(void)printf("%s\n", error.text);
		CU_FAIL("the script could not be run");
	} else {
		judge(path, &end, &output);
	}
	buffer_free(&output);
}

/* Adds the scripts that match to a suite. */
static CU_pSuite
add_scripts(const char *name, const char *pattern, int slow)
{
	CU_pSuite suite = NULL;
	glob_t found;
	char test[256];

	if (glob(pattern, 0, NULL, &found))
		return NULL;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *base = strrchr(found.gl_pathv[i], '/') + 1;

		if (slow != !strncmp(base, "slow_", 5))
			continue;
		if (!suite)
			suite = test_suite(name, NULL, 0);
		(void)snprintf(test, sizeof(test), "%.*s",
			       (int)strlen(base) - 3, base);
		(void)CU_add_test(suite, test, run_script);
	}
	globfree(&found);
	return suite;
}

void e2e_tests(void);

void
e2e_tests(void)
{
	CU_pSuite quick = add_scripts("e2e", "tests/e2e/*.sh", 0);
	CU_pSuite slow = add_scripts("e2e_slow", "tests/e2e/slow_*.sh", 1);

	if (quick)
		test_external(quick);
	if (slow) {
		test_external(slow);
		test_slow(slow);
	}
}
