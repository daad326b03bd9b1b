/*
 * What a unit test needs besides CUnit. tests/unit/NAME_test.c exports
 * NAME_tests(), which adds its suites; nothing else lists it.
 */
#ifndef PAMPROF_TESTS_TEST_H
#define PAMPROF_TESTS_TEST_H

#include <CUnit/CUnit.h>
#include <stddef.h>

/* All NAME_tests, ended by NULL; made by the Makefile. */
extern void (*const test_suites[])(void);

struct test_row {
	const char *name;
	void (*function)(void);
};

/*
 * Adds a suite with these tests. Suites are named after their file. Returns
 * it; CU_add_suite(3) and CU_add_test(3) may be used directly as well.
 */
CU_pSuite test_suite(const char *name, const struct test_row *rows,
		     size_t count);
#define TEST_SUITE(name, rows)                                                 \
	test_suite((name), (rows), sizeof(rows) / sizeof((rows)[0]))

/* Leaves the suite out of runs with --fast. */
void test_slow(CU_pSuite suite);

/*
 * Leaves the suite out of sanitizer and valgrind runs: it has programs of
 * the system load our modules, which they cannot in that build.
 */
void test_external(CU_pSuite suite);

/* Whether this is a run with --fast. */
int test_fast(void);

/*
 * Prints that the running test is skipped and why, and counts it. The test
 * returns after it.
 */
void test_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Absolute path of the build folder the tests belong to (static memory). */
const char *test_build(void);

/* Absolute path of a file of the source tree: "tests/golden/x.txt". */
const char *test_source(const char *path);

#endif
