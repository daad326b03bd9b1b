/*
 * Runs the driver and prepares the folders it works in. Apart from the
 * comparison because the tests of single surroundings use it, too.
 */
#include "stack_driver.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../modules/call.h"
#include "../../modules/ring_header.h"
#include "../../pamprof/base/alloc.h"
#include "../../pamprof/base/buffer.h"
#include "../test.h"

static void
become_driver(const int to[2], const int from[2], const char *ring)
{
	char *path = alloc_format("%s/tests/fake/driver", test_build());
	char *auditor =
	    alloc_format("%s/modules/pamprof_audit.so", test_build());

	if (dup2(to[0], STDIN_FILENO) < 0 || dup2(from[1], STDOUT_FILENO) < 0)
		_exit(127);
	closefrom(STDERR_FILENO + 1);
	/* Crashes are part of the tests: no reports, no leak check. */
	setenv("ASAN_OPTIONS", "detect_leaks=0:handle_segv=0", 1);
	if (ring != NULL) {
		setenv("LD_AUDIT", auditor, 1);
		setenv(AUDIT_RING_VARIABLE, ring, 1);
	}
	execl(path, path, (char *)NULL);
	perror(path);
	_exit(127);
}

int
stack_driver_start(struct stack_driver *driver, const char *ring)
{
	int to[2], from[2];

	memset(driver, 0, sizeof(*driver));
	if (pipe2(to, O_CLOEXEC) != 0)
		return -1;
	if (pipe2(from, O_CLOEXEC) != 0) {
		close(to[0]);
		close(to[1]);
		return -1;
	}
	fflush(stdout);
	driver->pid = fork();
	if (driver->pid == 0)
		become_driver(to, from, ring);
	close(to[0]);
	close(from[1]);
	driver->to = fdopen(to[1], "w");
	driver->from = fdopen(from[0], "r");
	return driver->pid < 0 || !driver->to || !driver->from ? -1 : 0;
}

void
stack_driver_send(struct stack_driver *driver, const char *confdir,
		  const struct stack_lines *script)
{
	fprintf(driver->to, "confdir %s\n", confdir);
	for (size_t i = 0; i < script->count; i++)
		fprintf(driver->to, "%s\n", script->text[i]);
	fputs("run\n", driver->to);
	fflush(driver->to);
}

char *
stack_driver_receive(struct stack_driver *driver)
{
	struct buffer text = { 0 };
	char *line = NULL;
	size_t size = 0;
	ssize_t length;

	while ((length = getline(&line, &size, driver->from)) > 0) {
		if (strcmp(line, "===\n") == 0)
			break;
		buffer_bytes(&text, line, (size_t)length);
	}
	free(line);
	if (length > 0)
		return buffer_take(&text);
	buffer_free(&text);
	return NULL;
}

void
stack_driver_stop(struct stack_driver *driver)
{
	if (driver->to != NULL)
		fclose(driver->to); /* end of its input */
	if (driver->from != NULL)
		fclose(driver->from);
	if (driver->pid > 0)
		waitpid(driver->pid, NULL, 0);
	memset(driver, 0, sizeof(*driver));
}

static int
copy_file(const char *from, const char *to)
{
	struct buffer bytes = { 0 };
	char block[16384];
	FILE *in = fopen(from, "re"), *out = fopen(to, "we");
	size_t got = 0, put = 0;

	while (in != NULL && (got = fread(block, 1, sizeof(block), in)) > 0)
		buffer_bytes(&bytes, block, got);
	if (in != NULL && out != NULL)
		put = fwrite(bytes.data, 1, bytes.length, out);
	got = bytes.length;
	buffer_free(&bytes);
	if (in != NULL)
		fclose(in);
	if (out == NULL || fclose(out) != 0 || put != got || put == 0) {
		printf("%s cannot be copied to %s\n", from, to);
		return -1;
	}
	return 0;
}

int
stack_modules_copy(const char *folder)
{
	static const char *const names[] = {
		"pam_stub.so",    "pam_nosetcred.so",  "pam_nosession.so",
		"pam_nothing.so", "pam_unresolved.so", NULL
	};
	static const char *const copies[] = { "pam_probe.so", "pam_long.so",
					      "a/pam_twin.so", "b/pam_twin.so",
					      NULL };
	static const char *const folders[] = { "", "a", "b" };
	char *from, *to;
	int failed = 0;
	FILE *text;

	for (size_t i = 0; i < 3; i++) {
		to = alloc_format("%s/%s", folder, folders[i]);
		failed |= mkdir(to, 0755);
		free(to);
	}
	for (const char *const *name = names; *name; name++) {
		from = alloc_format("%s/tests/fake/%s", test_build(), *name);
		to = alloc_format("%s/%s", folder, *name);
		failed |= copy_file(from, to);
		for (const char *const *copy = copies; name == names && *copy;
		     copy++) {
			free(to);
			to = alloc_format("%s/%s", folder, *copy);
			failed |= copy_file(from, to);
		}
		free(from);
		free(to);
	}
	to = alloc_format("%s/pam_text.so", folder);
	if ((text = fopen(to, "we")) != NULL) {
		fputs("This is no object.\n", text);
		failed |= fclose(text);
	}
	free(to);
	return failed || text == NULL ? -1 : 0;
}

uint64_t
stack_ring_slots(const char *path)
{
	struct ring_header header;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	memset(&header, 0, sizeof(header));
	if (fd < 0 || read(fd, &header, sizeof(header)) < 0)
		perror(path);
	if (fd >= 0)
		close(fd);
	return header.head;
}

static int
remove_entry(const char *path, const struct stat *st, int type,
	     struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

void
stack_folder_remove(const char *folder)
{
	nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
