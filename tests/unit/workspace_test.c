/*
 * The private folder of a command: made, held, removed, and tidied up after
 * those that died.
 */
#include "../test.h"

#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../pamprof/base/alloc.h"
#include "../../pamprof/run/workspace.h"

static void
made_and_removed(void)
{
	struct workspace *workspace;
	struct error error;
	struct stat st;
	char *path, *inner;

	CU_ASSERT_EQUAL_FATAL(workspace_make(&workspace, &error), 0);
	path = alloc_string(workspace_path(workspace));
	CU_ASSERT_EQUAL(stat(path, &st), 0);
	CU_ASSERT_EQUAL(st.st_mode & 07777, 0700);
	inner = alloc_format("%s/a", path);
	CU_ASSERT_EQUAL(mkdir(inner, 0700), 0);
	free(inner);
	inner = alloc_format("%s/a/link", path);
	CU_ASSERT_EQUAL(symlink("/etc", inner), 0);
	workspace_remove(workspace);
	CU_ASSERT_NOT_EQUAL(stat(path, &st), 0);
	CU_ASSERT_EQUAL(stat("/etc", &st), 0);
	free(inner);
	free(path);
	workspace_remove(NULL);
}

/*
 * A child makes one and dies without tidying up: the next command does. One
 * that is still held stays.
 */
static void
left_by_the_dead(void)
{
	struct workspace *held, *next;
	struct error error;
	struct stat st;
	char path[256] = "";
	int pipes[2], status;
	pid_t pid;

	CU_ASSERT_EQUAL_FATAL(workspace_make(&held, &error), 0);
	CU_ASSERT_EQUAL_FATAL(pipe2(pipes, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		if (workspace_make(&next, &error) != 0 ||
		    write(pipes[1], workspace_path(next),
			  strlen(workspace_path(next))) < 0 ||
		    chmod(workspace_path(next), 0711) != 0) /* as trace may */
			_exit(1);
		_exit(0);
	}
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT(read(pipes[0], path, sizeof(path) - 1) > 0);
	CU_ASSERT_EQUAL(stat(path, &st), 0);
	CU_ASSERT_EQUAL_FATAL(workspace_make(&next, &error), 0);
	CU_ASSERT_NOT_EQUAL(stat(path, &st), 0);
	CU_ASSERT_EQUAL(stat(workspace_path(held), &st), 0);
	workspace_remove(next);
	workspace_remove(held);
	close(pipes[0]);
	close(pipes[1]);
}

/* A folder that cannot be held does not stay: here for want of descriptors. */
static void
refused(void)
{
	static const char pattern[] = "/var/tmp/pamprof.*"; /* the last place */
	struct rlimit limit;
	struct workspace *workspace;
	glob_t before, after;
	struct error error;
	int status;
	pid_t pid;

	CU_ASSERT_EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = 0;
	(void)glob(pattern, 0, NULL, &before);
	pid = fork();
	if (pid == 0)
		_exit(setrlimit(RLIMIT_NOFILE, &limit) != 0 ||
		      workspace_make(&workspace, &error) != ERROR_SYSTEM);
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT_EQUAL(status, 0);
	(void)glob(pattern, 0, NULL, &after);
	CU_ASSERT(after.gl_pathc <= before.gl_pathc);
	globfree(&before);
	globfree(&after);
}

void workspace_tests(void);

void
workspace_tests(void)
{
	static const struct test_row rows[] = {
		{ "made and removed", made_and_removed },
		{ "left by the dead", left_by_the_dead },
		{ "refused", refused },
	};

	TEST_SUITE("workspace", rows);
}
