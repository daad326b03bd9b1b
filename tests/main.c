/*
 * The test program: registers every suite, runs all of them or those named
 * on the command line, and ends with CUnit's summary. Exit status 1 if
 * anything failed, 2 on wrong usage.
 */
#include "test.h"

#include <CUnit/Basic.h>
#include <limits.h>
#include <stdarg.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	SUITE_LIMIT = 64
};

/* Suites of a kind that an option leaves out. */
struct kind {
	const char *name;
	CU_pSuite suites[SUITE_LIMIT];
	size_t count;
	int left_out;
};

static struct kind slow = { .name = "slow" };
static struct kind external = { .name = "external" };
static unsigned skipped;
static char source_folder[PATH_MAX];

CU_pSuite
test_suite(const char *name, const struct test_row *rows, size_t count)
{
	CU_pSuite suite = CU_add_suite(name, NULL, NULL);

	for (size_t i = 0; suite && i < count; i++)
		if (!CU_add_test(suite, rows[i].name, rows[i].function))
			suite = NULL;
	if (!suite) {
		(void)fprintf(stderr, "%s: %s\n", name, CU_get_error_msg());
		exit(2);
	}
	return suite;
}

static void
mark(struct kind *kind, CU_pSuite suite)
{
	if (kind->count == SUITE_LIMIT)
		abort();
	kind->suites[kind->count++] = suite;
}

void
test_slow(CU_pSuite suite)
{
	mark(&slow, suite);
}

void
test_external(CU_pSuite suite)
{
	mark(&external, suite);
}

int
test_fast(void)
{
	return slow.left_out;
}

void
test_skip(const char *format, ...)
{
	char reason[512];
	va_list values;

	va_start(values, format);
	(void)vsnprintf(reason, sizeof(reason), format, values);
	va_end(values);
	(void)printf("skipped: %s ... ", reason);
	skipped++;
}

const char *
test_build(void)
{
	static char folder[PATH_MAX];
	ssize_t length;

	if (folder[0])
		return folder;
	length = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
	folder[length > 0 ? length : 0] = '\0';
	for (int i = 0; i < 2 && strrchr(folder, '/'); i++)
		*strrchr(folder, '/') = '\0'; /* BUILD/tests/main */
	return folder;
}

const char *
test_source(const char *path)
{
	static char whole[PATH_MAX + 256];

	(void)snprintf(whole, sizeof(whole), "%s/%s", source_folder, path);
	return whole;
}

static int
is_marked(const struct kind *kind, CU_pSuite suite)
{
	for (size_t i = 0; i < kind->count; i++)
		if (kind->suites[i] == suite)
			return 1;
	return 0;
}

static int
is_left_out(const struct kind *kind, CU_pSuite suite)
{
	return kind->left_out && is_marked(kind, suite);
}

static int
is_named(CU_pSuite suite, char **names)
{
	for (; *names; names++)
		if (!strcmp(suite->pName, *names))
			return 1;
	return 0;
}

/* Each name must be a suite, or a misspelt one would pass by not running. */
static int
check_names(char **names)
{
	for (; *names; names++)
		if (!CU_get_suite(*names)) {
			(void)fprintf(stderr, "no suite %s; see --list\n",
				      *names);
			return 0;
		}
	return 1;
}

static void
choose(char **names)
{
	CU_pSuite suite = CU_get_registry()->pSuite;

	for (; suite; suite = suite->pNext)
		if (*names ? !is_named(suite, names)
			   : is_left_out(&slow, suite) ||
				 is_left_out(&external, suite))
			CU_set_suite_active(suite, CU_FALSE);
	CU_set_fail_on_inactive(CU_FALSE);
}

static void
list(void)
{
	CU_pSuite suite = CU_get_registry()->pSuite;

	for (; suite; suite = suite->pNext)
		(void)printf("%s%s%s\n", suite->pName,
			     is_marked(&slow, suite) ? " (slow)" : "",
			     is_marked(&external, suite) ? " (external)" : "");
}

static void
run(void)
{
	CU_basic_set_mode(CU_BRM_VERBOSE);
	if (CU_basic_run_tests() != CUE_SUCCESS)
		(void)fprintf(stderr, "%s\n", CU_get_error_msg());
	if (skipped)
		(void)printf("%u skipped: look for \"skipped:\" above\n",
			     skipped);
}

/* The options may stand in any order before the names. */
static int
options(char ***argv)
{
	int listing = 0;

	for (; **argv && !strncmp(**argv, "--", 2); (*argv)++)
		if (!strcmp(**argv, "--fast"))
			slow.left_out = 1;
		else if (!strcmp(**argv, "--internal"))
			external.left_out = 1;
		else if (!strcmp(**argv, "--list"))
			listing = 1;
		else
			return -1;
	return listing;
}

/*
 * Tests send signals and expect what they do. Who started this may ignore
 * some: nohup(1) does, and a shell for what it starts with "&".
 */
static void
heed_signals(void)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM,
				       SIGPIPE };

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		(void)signal(signals[i], SIG_DFL);
}

int
main(int argc, char **argv)
{
	unsigned failures = 1;
	int listing;

	(void)argc;
	heed_signals();
	argv++;
	listing = options(&argv);
	if (listing < 0) {
		(void)fputs(
		    "usage: main [--fast] [--internal] [--list] [SUITE...]\n",
		    stderr);
		return 2;
	}
	if (!getcwd(source_folder, sizeof(source_folder)) ||
	    CU_initialize_registry() != CUE_SUCCESS)
		return 2;
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; test_suites[i]; i++)
		test_suites[i]();
	if (listing) {
		list();
		failures = 0;
	} else if (check_names(argv)) {
		choose(argv);
		run();
		failures = CU_get_number_of_failures() +
			   CU_get_number_of_suites_failed();
	}
	CU_cleanup_registry();
	return failures ? 1 : 0;
}
