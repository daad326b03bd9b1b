/*
 * The parser on folders of files: what is found, noted and refused. Every
 * folder is a root of its own, so nothing of this machine is read.
 */
#include "../test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stack_text.h"

static void
put(const struct text_folder *folder, const char *name, const char *text)
{
	text_folder_put(folder, name, text, strlen(text));
}

/* Reads service "s" from the folder as a root; what it says goes to error. */
static struct pam_stack *
read_in(const struct text_folder *folder, const char *service,
	struct error *error)
{
	struct pam_conf_place place = { .service = service,
					.root = folder->path,
					.libpam_minor = 5 };
	struct pam_stack *stack;
	int r = pam_conf_read(&stack, &place, error);

	CU_ASSERT_EQUAL(r == 0, stack != NULL);
	return stack;
}

/* Expects that service "s" is refused with a message that has this in it. */
static void
refused(const struct text_folder *folder, const char *part)
{
	struct error error = { 0 };
	struct pam_stack *stack = read_in(folder, "s", &error);

	CU_ASSERT_PTR_NULL(stack);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, part));
	if (!strstr(error.text, part))
		(void)fprintf(stderr, "\n\"%s\" lacks \"%s\"\n", error.text,
			      part);
	pam_conf_free(stack);
}

static void
services_are_found(void)
{
	struct text_folder folder;
	struct pam_stack *stack;
	struct error error = { 0 };

	text_folder_begin(&folder);
	put(&folder, "etc/pam.d/s", "auth required m.so\n");
	put(&folder, "usr/lib/pam.d/s", "account required m.so\n");
	put(&folder, "usr/lib/pam.d/vendor", "session required m.so\n");
	put(&folder, "etc/pam.d/other", "auth required m.so\n");
	stack = read_in(&folder, "S", &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(stack);
	CU_ASSERT_STRING_EQUAL(stack->service, "s");
	CU_ASSERT_PTR_NOT_NULL(strstr(stack->root->path, "/etc/pam.d/s"));
	CU_ASSERT_PTR_NOT_NULL(stack->other);
	pam_conf_free(stack);
	stack = read_in(&folder, "vendor", &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(stack);
	CU_ASSERT_PTR_NOT_NULL(strstr(stack->root->path, "/usr/lib/pam.d/"));
	pam_conf_free(stack);
	stack = read_in(&folder, "other", &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(stack);
	CU_ASSERT_PTR_EQUAL(stack->root, stack->other);
	pam_conf_free(stack);
	stack = read_in(&folder, "gone", &error);
	CU_ASSERT_PTR_NULL(stack);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "no service gone"));
	stack = read_in(&folder, "../s", &error);
	CU_ASSERT_PTR_NULL(stack);
	CU_ASSERT_EQUAL(error.code, ERROR_USAGE);
	text_folder_end(&folder);
}

/* Relative names are looked for in /etc/pam.d and nowhere else. */
static void
includes_are_found(void)
{
	struct text_folder folder;
	struct pam_stack *stack;
	struct error error = { 0 };

	text_folder_begin(&folder);
	put(&folder, "etc/pam.d/s",
	    "@include c\nauth include /abs\nauth include v\n"
	    "account substack c\n@include gone\n");
	put(&folder, "etc/pam.d/c", "auth required m.so\n");
	put(&folder, "abs", "auth required m.so\n");
	put(&folder, "usr/lib/pam.d/v", "auth required m.so\n");
	stack = read_in(&folder, "s", &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(stack);
	CU_ASSERT_PTR_NOT_NULL(stack->root->rules[0].target);
	CU_ASSERT_PTR_NOT_NULL(stack->root->rules[1].target);
	CU_ASSERT_PTR_NULL(stack->root->rules[2].target);
	CU_ASSERT_PTR_NOT_NULL(stack->root->rules[2].problem);
	CU_ASSERT_PTR_EQUAL(stack->root->rules[3].target,
			    stack->root->rules[0].target);
	CU_ASSERT_PTR_NOT_NULL_FATAL(stack->root->rules[4].problem);
	CU_ASSERT_PTR_NOT_NULL(
	    strstr(stack->root->rules[4].problem, "pam_start fails"));
	pam_conf_free(stack);
	text_folder_end(&folder);
}

/* A link inside the root leads inside the root; two names are one file. */
static void
links_stay_inside(void)
{
	struct text_folder folder;
	struct pam_stack *stack;
	struct error error = { 0 };
	char path[128];

	text_folder_begin(&folder);
	put(&folder, "etc/pam.d/o", "auth required m.so\n");
	put(&folder, "store/real", "@include o\n@include p\n");
	(void)snprintf(path, sizeof(path), "%s/etc/pam.d/s", folder.path);
	CU_ASSERT_EQUAL(symlink("/store/real", path), 0);
	(void)snprintf(path, sizeof(path), "%s/etc/pam.d/p", folder.path);
	CU_ASSERT_EQUAL(symlink("o", path), 0);
	stack = read_in(&folder, "s", &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(stack);
	CU_ASSERT_PTR_NOT_NULL(strstr(stack->root->path, "/etc/pam.d/s"));
	CU_ASSERT_EQUAL_FATAL(stack->root->rules_count, 2);
	CU_ASSERT_PTR_NOT_NULL(stack->root->rules[0].target);
	CU_ASSERT_PTR_EQUAL(stack->root->rules[0].target,
			    stack->root->rules[1].target);
	pam_conf_free(stack);
	text_folder_end(&folder);
}

static void
modules_are_found(void)
{
	struct text_folder folder;
	struct pam_stack *stack;
	struct error error = { 0 };
	const struct pam_rule *rules;

	text_folder_begin(&folder);
	put(&folder, "lib/security/isa.so", "");
	put(&folder, "store/abs.so", "");
	put(&folder, "opt//lib/security/x.so", "");
	put(&folder, "etc/pam.d/s",
	    "auth required isa.so\nauth required /store/abs.so\n"
	    "auth required gone.so\nauth required $ISA/isa.so\n"
	    "auth required /opt/$ISA/x.so\nauth required /store\n");
	stack = read_in(&folder, "s", &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(stack);
	rules = stack->root->rules;
	CU_ASSERT_STRING_EQUAL(rules[0].path, "/lib/security/isa.so");
	CU_ASSERT_STRING_EQUAL(rules[1].path, "/store/abs.so");
	CU_ASSERT_PTR_NULL(rules[2].path);
	CU_ASSERT_PTR_NOT_NULL(rules[2].problem);
	CU_ASSERT_STRING_EQUAL(rules[3].path, "/lib/security/isa.so");
	CU_ASSERT_STRING_EQUAL(rules[4].path, "/opt//lib/security/x.so");
	CU_ASSERT_PTR_NULL(rules[5].path);
	pam_conf_free(stack);
	text_folder_end(&folder);
}

static void
loops_are_refused(void)
{
	struct text_folder folder;
	struct pam_stack *stack;
	struct error error = { 0 };

	text_folder_begin(&folder);
	put(&folder, "etc/pam.d/s", "\n@include a\n");
	put(&folder, "etc/pam.d/a", "auth required m.so\nauth include s\n");
	refused(&folder, "includes itself");
	/* Which line, and in which file. */
	refused(&folder, "/etc/pam.d/a:2: ");
	put(&folder, "etc/pam.d/s", "@include\n");
	refused(&folder, "s:1: nothing to include");
	put(&folder, "etc/pam.d/s", "auth substack # c\n");
	refused(&folder, "nothing to include");
	/* Not asked for, so libpam does not see it: no loop. */
	put(&folder, "etc/pam.d/s", "auth include a\n");
	put(&folder, "etc/pam.d/a", "account include s\nsession include\n");
	stack = read_in(&folder, "s", &error);
	CU_ASSERT_PTR_NOT_NULL(stack);
	pam_conf_free(stack);
	text_folder_end(&folder);
}

/* Sixteen levels are read, seventeen are not; nor is what doubles. */
static void
depth_is_limited(void)
{
	struct text_folder folder;
	struct pam_stack *stack;
	struct error error = { 0 };
	char name[32], text[64];

	text_folder_begin(&folder);
	put(&folder, "etc/pam.d/s", "@include f1\n");
	for (int i = 1; i <= 16; i++) {
		(void)snprintf(name, sizeof(name), "etc/pam.d/f%d", i);
		(void)snprintf(text, sizeof(text), "@include f%d\n", i + 1);
		put(&folder, name, i < 16 ? text : "auth required m.so\n");
	}
	stack = read_in(&folder, "s", &error);
	CU_ASSERT_PTR_NOT_NULL(stack);
	pam_conf_free(stack);
	put(&folder, "etc/pam.d/f16", "@include f17\n");
	put(&folder, "etc/pam.d/f17", "");
	refused(&folder, "more than 16 deep");
	for (int i = 1; i <= 15; i++) {
		(void)snprintf(name, sizeof(name), "etc/pam.d/f%d", i);
		(void)snprintf(text, sizeof(text),
			       "@include f%d\n@include f%d\n"
			       "@include f%d\n@include f%d\n",
			       i + 1, i + 1, i + 1, i + 1);
		put(&folder, name, text);
	}
	put(&folder, "etc/pam.d/f16", "auth required m.so\n");
	refused(&folder, "stands for more than");
	text_folder_end(&folder);
}

static void
hostile_files_are_refused(void)
{
	struct text_folder folder;
	char path[128], *huge = text_line("", (1UL << 20) + 1, "");

	text_folder_begin(&folder);
	(void)snprintf(path, sizeof(path), "%s/etc/pam.d/s", folder.path);
	text_folder_put(&folder, "etc/pam.d/s", "auth\0required m.so\n", 19);
	refused(&folder, "zero bytes");
	put(&folder, "etc/pam.d/s", huge);
	free(huge);
	refused(&folder, "more than 1 MiB");
	CU_ASSERT_EQUAL(unlink(path), 0);
	CU_ASSERT_EQUAL(mkfifo(path, 0600), 0);
	refused(&folder, "not a regular file");
	CU_ASSERT_EQUAL(unlink(path), 0);
	CU_ASSERT_EQUAL(mkdir(path, 0700), 0);
	refused(&folder, "not a regular file");
	CU_ASSERT_EQUAL(rmdir(path), 0);
	put(&folder, "etc/pam.d/s", "auth required m.so\n@include fifo\n");
	(void)snprintf(path, sizeof(path), "%s/etc/pam.d/fifo", folder.path);
	CU_ASSERT_EQUAL(mkfifo(path, 0600), 0);
	refused(&folder, "s:2: ");
	text_folder_end(&folder);
}

static void
unreadable_file_is_refused(void)
{
	enum {
		NOBODY = 65534
	};
	bool root = geteuid() == 0;
	struct text_folder folder;
	char path[128];

	text_folder_begin(&folder);
	put(&folder, "etc/pam.d/s", "auth required m.so\n");
	(void)snprintf(path, sizeof(path), "%s/etc/pam.d", folder.path);
	CU_ASSERT_EQUAL(chmod(path, 0), 0);
	if (root)
		CU_ASSERT_EQUAL(seteuid(NOBODY), 0);
	refused(&folder, "ermission denied");
	if (root)
		CU_ASSERT_EQUAL(seteuid(0), 0);
	CU_ASSERT_EQUAL(chmod(path, 0700), 0);
	text_folder_end(&folder);
}

static bool
has_note(const struct pam_stack *stack, const char *part)
{
	for (size_t i = 0; i < stack->notes_count; i++)
		if (strstr(stack->notes[i], part))
			return true;
	return false;
}

static void
oddities_are_noted(void)
{
	struct text_folder folder;
	struct pam_stack *stack;
	struct error error = { 0 };
	char *line = text_line("auth required m.so ", 1100, "\n");

	text_folder_begin(&folder);
	put(&folder, "etc/pam.conf", "# nothing\n");
	put(&folder, "etc/pam.d/s", "auth required m.so\n");
	stack = read_in(&folder, "s", &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(stack);
	CU_ASSERT_EQUAL(stack->notes_count, 0);
	pam_conf_free(stack);
	put(&folder, "etc/pam.conf", "login auth required m.so\n");
	put(&folder, "etc/pam.d/c", line);
	put(&folder, "etc/pam.d/s",
	    "auth requierd m.so\r\n@include c\nauth required .so\n");
	stack = read_in(&folder, "s", &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(stack);
	CU_ASSERT(has_note(stack, "pam.conf is inactive"));
	CU_ASSERT(has_note(stack, "CR LF"));
	CU_ASSERT(has_note(stack, "s:1: control \"requierd\" is wrong"));
	CU_ASSERT(has_note(stack, "c:1: the line is longer"));
	CU_ASSERT(has_note(stack, "refuses the whole file"));
	pam_conf_free(stack);
	free(line);
	text_folder_end(&folder);
}

static void
folders_of_ones_own(void)
{
	struct text_folder folder;
	struct pam_conf_place place = { .service = "s" };
	struct pam_stack *stack;
	struct error error = { 0 };
	char path[128];

	text_folder_begin(&folder);
	refused(&folder, "neither /etc/pam.d nor /usr/lib/pam.d");
	put(&folder, "s", "auth required m.so\n");
	put(&folder, "My-Stack", "account required m.so\n");
	place.confdir = folder.path;
	CU_ASSERT_EQUAL(pam_conf_read(&stack, &place, &error), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(stack);
	CU_ASSERT_PTR_NULL(stack->other);
	pam_conf_free(stack);
	(void)snprintf(path, sizeof(path), "%s/My-Stack", folder.path);
	place.stack_file = path;
	place.service = NULL;
	CU_ASSERT_EQUAL(pam_conf_read(&stack, &place, &error), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(stack);
	CU_ASSERT_STRING_EQUAL(stack->service, "my-stack");
	pam_conf_free(stack);
	text_folder_end(&folder);
}

static void
leavings_are_no_services(void)
{
	static const char *const names[] = { "sshd~",     ".sshd.swp",
					     "a.bak",     "a.dpkg-old",
					     "a.rpmsave", "README",
					     "",          "a/b" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		CU_ASSERT_FALSE(pam_conf_is_service(names[i]));
	CU_ASSERT(pam_conf_is_service("sshd"));
	CU_ASSERT(pam_conf_is_service("gdm-password"));
	CU_ASSERT(pam_conf_is_service("common-auth"));
}

/* Everything here is read with --root, which needs it; valgrind has none. */
static bool
has_openat2(void)
{
	return syscall(SYS_openat2, AT_FDCWD, "/", NULL, 0) != -1 ||
	       errno != ENOSYS;
}

static void
all_skipped(void)
{
	test_skip("openat2(2) is missing here");
}

void
pam_files_tests(void)
{
	static const struct test_row none[] = { { "all", all_skipped } };
	static const struct test_row rows[] = {
		{ "services are found", services_are_found },
		{ "includes are found", includes_are_found },
		{ "links stay inside the root", links_stay_inside },
		{ "modules are found", modules_are_found },
		{ "loops are refused", loops_are_refused },
		{ "depth is limited", depth_is_limited },
		{ "hostile files are refused", hostile_files_are_refused },
		{ "an unreadable file is refused", unreadable_file_is_refused },
		{ "oddities are noted", oddities_are_noted },
		{ "folders of one's own", folders_of_ones_own },
		{ "leavings are no services", leavings_are_no_services },
	};

	if (has_openat2())
		(void)TEST_SUITE("pam_files", rows);
	else
		(void)TEST_SUITE("pam_files", none);
}
