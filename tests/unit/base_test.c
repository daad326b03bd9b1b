/*
 * The base of the tool: errors, buffers, durations, children, secrets and
 * files, each at its edges.
 */
#include "../test.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../pamprof/base/alloc.h"
#include "../../pamprof/base/buffer.h"
#include "../../pamprof/base/child.h"
#include "../../pamprof/base/message.h"
#include "../../pamprof/base/options.h"
#include "../../pamprof/base/places.h"
#include "../../pamprof/base/safe_file.h"
#include "../../pamprof/base/secret.h"

static void
error_codes(void)
{
	struct error error = { 0 };

	CU_ASSERT_EQUAL(error_exit_status(&error), EXIT_MEASURED);
	CU_ASSERT_EQUAL(error_set(&error, ERROR_USAGE, "%d", 7), ERROR_USAGE);
	CU_ASSERT_STRING_EQUAL(error.text, "7");
	CU_ASSERT_EQUAL(error_exit_status(&error), EXIT_USAGE);
	errno = ENOENT;
	CU_ASSERT_EQUAL(error_errno(&error, "x"), ERROR_SYSTEM);
	CU_ASSERT_STRING_EQUAL(error.text, "x: No such file or directory");
	CU_ASSERT_EQUAL(error_exit_status(&error), EXIT_UNMEASURED);
	CU_ASSERT_EQUAL(error_set(NULL, ERROR_INPUT, "x"), ERROR_INPUT);
}

static void
error_is_cut(void)
{
	struct error error;
	char text[3000];

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	errno = EPERM;
	error_errno(&error, "%s", text);
	CU_ASSERT_EQUAL(strlen(error.text), sizeof(error.text) - 1);
}

static void
buffer_grows(void)
{
	struct buffer buffer = { 0 };
	char *text;

	for (int i = 0; i < 1000; i++)
		buffer_format(&buffer, "%d,", i % 10);
	CU_ASSERT_EQUAL(buffer.length, 2000);
	CU_ASSERT_EQUAL(strlen(buffer.data), 2000);
	buffer_format(&buffer, "%5000s", "x");
	CU_ASSERT_EQUAL(buffer.length, 7000);
	CU_ASSERT_EQUAL(buffer.data[6999], 'x');
	buffer_bytes(&buffer, "\0y", 2);
	CU_ASSERT_EQUAL(buffer.length, 7002);
	text = buffer_take(&buffer);
	CU_ASSERT_EQUAL(text[7001], 'y');
	CU_ASSERT_PTR_NULL(buffer.data);
	free(text);
	text = buffer_take(&buffer);
	CU_ASSERT_STRING_EQUAL(text, "");
	free(text);
}

static void
allocation(void)
{
	char *text = alloc_format("%s-%d", "a", 1);

	CU_ASSERT_STRING_EQUAL(text, "a-1");
	free(text);
	CU_ASSERT_PTR_NULL(alloc_string(NULL));
	CU_ASSERT_PTR_NULL(alloc_bytes(NULL, 3));
	text = alloc_bytes("abc", 2);
	CU_ASSERT_STRING_EQUAL(text, "ab");
	text = alloc_array(text, 0, 8);
	CU_ASSERT_PTR_NOT_NULL(text);
	free(text);
}

static void
durations(void)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{ "30", 30000000000 },
		{ "2h", 7200000000000 },
		{ "1.5s", 1500000000 },
		{ "200ms", 200000000 },
		{ "1us", 1000 },
		{ "7ns", 7 },
		{ "0", 0 },
		{ "0.3m", 18000000000 },
		{ "1min", 60000000000 },
		{ "0.000000001d", 86400 },
		{ "1.9999999999999ns", 1 },
		{ "9223372036854775807ns", INT64_MAX },
	};
	static const char *const bad[] = {
		"",      "s",           "-1",  "+1",
		" 1",    "1 s",         "1.",  "1.s",
		".5s",   "1x",          "1e3", "ms",
		"1.2.3", "9223372037s", "1S",  "99999999999999999999",
	};
	struct error error;
	uint64_t ns;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		CU_ASSERT_EQUAL(options_duration(good[i].text, &ns, &error), 0);
		CU_ASSERT_EQUAL(ns, good[i].ns);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CU_ASSERT_EQUAL(options_duration(bad[i], &ns, &error),
				ERROR_USAGE);
		CU_ASSERT_EQUAL(ns, 0);
	}
}

static int
exit_with(void *status)
{
	return *(int *)status;
}

static int
sleep_long(void *unused)
{
	(void)unused;
	(void)sleep(3600); /* to be killed long before */
	return 0;
}

static int
die(void *unused)
{
	(void)unused;
	(void)raise(SIGKILL);
	return 0;
}

static void
child_ends(void)
{
	struct child child;
	struct child_end end;
	int status = 42;

	CU_ASSERT_EQUAL(
	    child_start(&child, CHILD_SAME_GROUP, exit_with, &status, NULL), 0);
	CU_ASSERT_EQUAL(child_wait(&child, CHILD_NO_LIMIT, &end, NULL), 0);
	CU_ASSERT_EQUAL(end.how, CHILD_EXITED);
	CU_ASSERT_EQUAL(end.value, 42);
	CU_ASSERT_EQUAL(child.pid, 0);
	CU_ASSERT_EQUAL(child_start(&child, CHILD_OWN_GROUP, die, NULL, NULL),
			0);
	CU_ASSERT_EQUAL(child_wait(&child, CHILD_NO_LIMIT, &end, NULL), 0);
	CU_ASSERT_EQUAL(end.how, CHILD_SIGNALED);
	CU_ASSERT_EQUAL(end.value, SIGKILL);
}

static void
child_times_out(void)
{
	struct child child;
	struct child_end end;

	CU_ASSERT_EQUAL(
	    child_start(&child, CHILD_OWN_GROUP, sleep_long, NULL, NULL), 0);
	CU_ASSERT_EQUAL(child_wait(&child, 10000000, &end, NULL), 0);
	CU_ASSERT_EQUAL(end.how, CHILD_TIMED_OUT);
	CU_ASSERT_EQUAL(end.value, SIGKILL);
	child_stop(&child); /* there is none: must do nothing */
	CU_ASSERT_EQUAL(
	    child_start(&child, CHILD_SAME_GROUP, sleep_long, NULL, NULL), 0);
	child_stop(&child);
	CU_ASSERT_EQUAL(child.pid, 0);
}

/* Starts a grandchild that holds the pipe, and ends at once. */
static int
leave_something_behind(void *unused)
{
	(void)unused;
	if (fork() == 0)
		(void)sleep_long(NULL);
	return 0;
}

static void
child_leaves_nothing(void)
{
	struct child child;
	struct child_end end;
	int ends[2];
	char byte;

	CU_ASSERT_EQUAL_FATAL(pipe2(ends, O_CLOEXEC), 0);
	CU_ASSERT_EQUAL(child_start(&child, CHILD_OWN_GROUP,
				    leave_something_behind, NULL, NULL),
			0);
	(void)close(ends[1]);
	CU_ASSERT_EQUAL(child_wait(&child, CHILD_NO_LIMIT, &end, NULL), 0);
	/* End of file comes only when the grandchild is gone too. */
	CU_ASSERT_EQUAL(read(ends[0], &byte, 1), 0);
	(void)close(ends[0]);
}

static void
secret_from(const char *text, size_t length, int line, const char *expected)
{
	struct secret secret;
	struct error error;
	int ends[2], r;

	CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
	CU_ASSERT_EQUAL(write(ends[1], text, length), (ssize_t)length);
	(void)close(ends[1]);
	CU_ASSERT_EQUAL_FATAL(secret_open(&secret, 100, &error), 0);
	r = line ? secret_read_line(&secret, ends[0], &error)
		 : secret_read(&secret, ends[0], &error);
	CU_ASSERT_EQUAL(r, expected ? 0 : ERROR_INPUT);
	if (expected) {
		CU_ASSERT_PTR_NOT_NULL_FATAL(secret.data);
		CU_ASSERT_STRING_EQUAL(secret.data, expected);
		CU_ASSERT_EQUAL(secret.length, strlen(expected));
	} else {
		CU_ASSERT_PTR_NULL(secret.data);
	}
	secret_wipe(&secret);
	CU_ASSERT_PTR_NULL(secret.data);
	(void)close(ends[0]);
}

static void
secrets(void)
{
	char *large = alloc_zero(1, 9000);

	secret_from("one\ntwo\n", 8, 1, "one");
	secret_from("one\ntwo\n", 8, 0, "one\ntwo\n");
	secret_from("", 0, 1, "");
	memset(large, 'x', 9000);
	secret_from(large, 9000, 0, NULL);
	secret_from(large, 9000, 1, NULL);
	free(large);
}

/* A folder of our own for the file tests. */
static char folder[] = "/tmp/pamprof-base-XXXXXX";

static const char *
in_folder(const char *name)
{
	static char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static int
make_folder(void)
{
	return mkdtemp(folder) ? 0 : -1;
}

static int
remove_folder(void)
{
	return rmdir(folder); /* fails if a temporary file was left */
}

static void
file_round_trip(void)
{
	struct buffer in = { 0 }, out = { 0 };
	struct error error;
	struct stat status;

	buffer_bytes(&in, "a\0b", 3);
	for (int i = 0; i < 2; i++) /* new, then replaced */
		CU_ASSERT_EQUAL(
		    safe_file_write(in_folder("f"), 0640, &in, &error), 0);
	CU_ASSERT_EQUAL(stat(in_folder("f"), &status), 0);
	CU_ASSERT_EQUAL(status.st_mode & 07777, 0640);
	CU_ASSERT_EQUAL(
	    safe_file_read(in_folder("f"), LINKS_REFUSED, 3, &out, &error), 0);
	CU_ASSERT_EQUAL(out.length, 3);
	CU_ASSERT_EQUAL(memcmp(out.data, "a\0b", 3), 0);
	CU_ASSERT_EQUAL(
	    safe_file_read(in_folder("f"), LINKS_REFUSED, 2, &out, &error),
	    ERROR_INPUT);
	CU_ASSERT_EQUAL(unlink(in_folder("f")), 0);
	buffer_free(&in);
	buffer_free(&out);
}

static void
file_links(void)
{
	struct error error;
	char target[PATH_MAX];
	int fd;

	(void)snprintf(target, sizeof(target), "%s", in_folder("target"));
	fd = creat(target, 0600);
	(void)close(fd);
	CU_ASSERT_EQUAL(symlink(target, in_folder("link")), 0);
	CU_ASSERT_EQUAL(
	    safe_file_open(in_folder("link"), LINKS_REFUSED, 9, &error),
	    ERROR_INPUT);
	fd = safe_file_open(in_folder("link"), LINKS_FOLLOWED, 9, &error);
	CU_ASSERT_TRUE(fd >= 0);
	(void)close(fd);
	CU_ASSERT_EQUAL(unlink(in_folder("link")), 0);
	CU_ASSERT_EQUAL(unlink(target), 0);
}

static void
file_refused(void)
{
	struct error error;
	struct buffer out = { 0 };

	CU_ASSERT_EQUAL(mkfifo(in_folder("fifo"), 0600), 0);
	/* Must not hang either. */
	CU_ASSERT_EQUAL(
	    safe_file_open(in_folder("fifo"), LINKS_REFUSED, 9, &error),
	    ERROR_INPUT);
	CU_ASSERT_EQUAL(safe_file_write(in_folder("fifo"), 0600, &out, &error),
			ERROR_INPUT);
	CU_ASSERT_EQUAL(unlink(in_folder("fifo")), 0);
	CU_ASSERT_EQUAL(safe_file_open(folder, LINKS_REFUSED, 9, &error),
			ERROR_INPUT);
	CU_ASSERT_EQUAL(
	    safe_file_open(in_folder("none"), LINKS_REFUSED, 9, &error),
	    ERROR_SYSTEM);
	CU_ASSERT_EQUAL(safe_file_write("/dev/null", 0600, &out, &error),
			ERROR_INPUT);
	CU_ASSERT_EQUAL(safe_file_write(in_folder("no/f"), 0600, &out, &error),
			ERROR_SYSTEM);
}

static void
file_abandoned(void)
{
	struct safe_file file, none = { 0 };
	struct error error;

	CU_ASSERT_EQUAL(safe_file_create(&file, in_folder("a"), 0600, &error),
			0);
	CU_ASSERT_EQUAL(access(file.temporary, F_OK), 0);
	safe_file_abandon(&file);
	safe_file_abandon(&file);
	safe_file_abandon(&none);
	CU_ASSERT_NOT_EQUAL(access(in_folder("a"), F_OK), 0);
}

static void
places(void)
{
	char probe[PATH_MAX];

	(void)snprintf(probe, sizeof(probe), "%s/pam_timing.so",
		       install_path_modules());
	CU_ASSERT_EQUAL(access(probe, R_OK), 0);
	CU_ASSERT_EQUAL(install_path_configs()[0], '/');
}

static void
terminal(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	CU_ASSERT_FALSE(message_colour(fd));
	CU_ASSERT_EQUAL(message_columns(fd), 80);
	(void)close(fd);
}

void base_tests(void);

void
base_tests(void)
{
	static const struct test_row rows[] = {
		{ "error codes", error_codes },
		{ "error is cut", error_is_cut },
		{ "buffer grows", buffer_grows },
		{ "allocation", allocation },
		{ "durations", durations },
		{ "child ends", child_ends },
		{ "child times out", child_times_out },
		{ "child leaves nothing", child_leaves_nothing },
		{ "secrets", secrets },
		{ "places", places },
		{ "terminal", terminal },
	};
	static const struct test_row files[] = {
		{ "round trip", file_round_trip },
		{ "links", file_links },
		{ "refused", file_refused },
		{ "abandoned", file_abandoned },
	};
	CU_pSuite suite;

	(void)TEST_SUITE("base", rows);
	suite = CU_add_suite("base_files", make_folder, remove_folder);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		(void)CU_add_test(suite, files[i].name, files[i].function);
}
