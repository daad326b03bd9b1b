/*
 * Parts of instrument that a whole run cannot show: that the proof notices
 * what is wrong, the diff, and what a damaged journal leads to.
 */
#include "../test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../pamprof/base/alloc.h"
#include "../../pamprof/install/atomic.h"
#include "../../pamprof/install/diff.h"
#include "../../pamprof/install/drive.h"

static char folder[64];

static struct buffer
text(const char *bytes)
{
	struct buffer buffer = { 0 };

	buffer_text(&buffer, bytes);
	return buffer;
}

static void
check_diff(const char *old, const char *new, const char *expected)
{
	struct buffer a = text(old), b = text(new), out = { 0 };

	diff_write(&out, &(struct diff_side){ "a", &a },
		   &(struct diff_side){ "b", &b });
	CU_ASSERT_STRING_EQUAL(out.data ? out.data : "", expected);
	buffer_free(&a);
	buffer_free(&b);
	buffer_free(&out);
}

static void
test_diff(void)
{
	check_diff("", "", "");
	check_diff("x\ny\n", "x\ny\n", "");
	check_diff("", "x\n", "--- a\n+++ b\n@@ -0,0 +1,1 @@\n+x\n");
	check_diff("x\n", "", "--- a\n+++ b\n@@ -1,1 +0,0 @@\n-x\n");
	check_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nV\n6\n7\n8\n9\n",
		   "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+V\n 6\n 7\n"
		   " 8\n");
	check_diff("a\033b\n", "", "--- a\n+++ b\n@@ -1,1 +0,0 @@\n-a?b\n");
}

static void
test_checksum(void)
{
	struct buffer abc = text("abc"), none = { 0 };
	char sum[CHECKSUM_TEXT];

	/* FIPS 180-2, appendix B. */
	atomic_checksum(sum, &abc);
	CU_ASSERT_STRING_EQUAL(sum, "ba7816bf8f01cfea414140de5dae2223"
				    "b00361a396177a9cb410ff61f20015ad");
	atomic_checksum(sum, &none);
	CU_ASSERT_STRING_EQUAL(sum, "e3b0c44298fc1c149afbf4c8996fb924"
				    "27ae41e4649b934ca495991b7852b855");
	atomic_checksum_file(sum, "/nobody/has/this");
	CU_ASSERT_STRING_EQUAL(sum, "");
	buffer_free(&abc);
}

/* Writes a stack for the stub: %s is its path. */
static char *
write_stack(const char *name, const char *format)
{
	char *dir = alloc_format("%s/%s", folder, name);
	char *path = alloc_format("%s/test", dir);
	FILE *out;

	CU_ASSERT_EQUAL(mkdir(dir, 0755), 0);
	out = fopen(path, "we");
	for (const char *c = format; out != NULL && *c != '\0'; c++)
		if (*c == '@')
			(void)fprintf(out, "%s/modules/pam_trial.so",
				      test_build());
		else
			(void)putc(*c, out);
	if (out != NULL)
		(void)fclose(out);
	free(path);
	return dir;
}

static int
compare(const char *old, const char *new)
{
	static unsigned number;
	char *a_name = alloc_format("a%u", number);
	char *b_name = alloc_format("b%u", number++);
	char *a = write_stack(a_name, old), *b = write_stack(b_name, new);
	struct error error = { 0 };
	int r = drive_compare(&(struct drive_stack){ a, "test", 10000 },
			      &(struct drive_stack){ b, "test", 10000 }, NULL,
			      50, &error);

	free(a);
	free(b);
	free(a_name);
	free(b_name);
	return r;
}

#define RULES                                                                  \
	"auth [success=1 default=ignore] @ one pamprof=10001\n"                \
	"auth requisite @ pamprof=10002\n"                                     \
	"auth required @ pamprof=10003\n"                                      \
	"account required @ pamprof=10004\n"                                   \
	"session optional @ pamprof=10005\n"                                   \
	"password required @ pamprof=10006\n"

/* Each row is wrong in one thing that the proof must not overlook. */
static void
test_drive(void)
{
	static const char *const wrong[] = {
		"auth [success=1 default=ignore] @ one pamprof=10001\n"
		"auth required @ pamprof=10002\n"
		"auth required @ pamprof=10003\n"
		"account required @ pamprof=10004\n"
		"session optional @ pamprof=10005\n"
		"password required @ pamprof=10006\n",
		"auth [success=2 default=ignore] @ one pamprof=10001\n"
		"auth requisite @ pamprof=10002\n"
		"auth required @ pamprof=10003\n"
		"account required @ pamprof=10004\n"
		"session optional @ pamprof=10005\n"
		"password required @ pamprof=10006\n",
		"auth [success=1 default=ignore] @ two pamprof=10001\n"
		"auth requisite @ pamprof=10002\n"
		"auth required @ pamprof=10003\n"
		"account required @ pamprof=10004\n"
		"session optional @ pamprof=10005\n"
		"password required @ pamprof=10006\n",
		"auth [success=1 default=ignore] @ one pamprof=10001\n"
		"auth required @ pamprof=10003\n"
		"auth requisite @ pamprof=10002\n"
		"account required @ pamprof=10004\n"
		"session optional @ pamprof=10005\n"
		"password required @ pamprof=10006\n",
		RULES "session required pam_nobody_has_it.so\n",
		RULES "session optional @ pamprof=10007\n",
	};

	(void)strcpy(folder, "/tmp/pamprof-install.XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	CU_ASSERT_EQUAL(compare(RULES, RULES), 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CU_ASSERT_EQUAL(compare(RULES, wrong[i]), ERROR_INPUT);
	CU_ASSERT_EQUAL(atomic_remove(folder, NULL), 0);
	CU_ASSERT_NOT_EQUAL(access(folder, F_OK), 0);
}

static const struct test_row rows[] = {
	{ "diff", test_diff },
	{ "checksum", test_checksum },
};

static const struct test_row drive_rows[] = {
	{ "drive", test_drive },
};

void install_tests(void);

void
install_tests(void)
{
	TEST_SUITE("install", rows);
	/* libpam loads the stub. */
	test_external(TEST_SUITE("install_drive", drive_rows));
}
