/*
 * pamprof doctor: what can work on this machine and what is missing, each
 * with the command that mends it. One row of the table below for each check.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <security/pam_appl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../base/alloc.h"
#include "../base/buffer.h"
#include "../base/places.h"
#include "../command.h"
#include "../render/text.h"
#include "../source/pam_conf.h"
#include "trial.h"

#define COLUMNS 79
#define INDENT  18 /* of what was found */

enum state {
	STATE_OK,
	STATE_LIMITED,
	STATE_MISSING
};

/* What a check found: one sentence, and what to do about it. */
struct finding {
	enum state state;
	struct buffer text, remedy;
};

static void
check_user(struct finding *found)
{
	if (geteuid() == 0) {
		buffer_text(&found->text, "root: every stack can be driven");
		return;
	}
	found->state = STATE_LIMITED;
	buffer_text(&found->text,
		    "not root: stacks that read /etc/shadow, set limits or "
		    "register sessions behave as they do for this user");
	buffer_text(&found->remedy, "sudo pamprof ...");
}

static void
check_libpam(struct finding *found)
{
	unsigned minor = pam_conf_libpam_minor();
	char path[PATH_MAX] = "?";
	Dl_info info;

	if (dladdr((void *)(uintptr_t)pam_start_confdir, &info) != 0 &&
	    realpath(info.dli_fname, path) == NULL)
		snprintf(path, sizeof(path), "%s", info.dli_fname);
	buffer_format(&found->text, "Linux-PAM 1.%u, %s", minor, path);
	if (minor >= 5)
		return;
	found->state = STATE_LIMITED;
	buffer_text(&found->remedy,
		    "verdicts are tested with Linux-PAM 1.5 and later; check "
		    "them with pamtester");
}

/* Services in the folder; unreadable ones are counted apart. */
static void
count_services(const char *dir, unsigned *count, unsigned *unreadable)
{
	DIR *open = opendir(dir);
	const struct dirent *entry;

	while (open != NULL && (entry = readdir(open)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		(*count)++;
		if (faccessat(dirfd(open), entry->d_name, R_OK, 0) != 0)
			(*unreadable)++;
	}
	if (open != NULL)
		closedir(open);
}

static void
check_services(struct finding *found)
{
	unsigned count = 0, unreadable = 0;

	count_services("/etc/pam.d", &count, &unreadable);
	count_services("/usr/lib/pam.d", &count, &unreadable);
	buffer_format(&found->text, "%u files in /etc/pam.d and /usr/lib/pam.d",
		      count);
	if (count == 0) {
		found->state = STATE_LIMITED;
		buffer_text(&found->remedy,
			    "name a stack with --stack FILE or --confdir DIR");
	} else if (unreadable > 0) {
		found->state = STATE_LIMITED;
		buffer_format(&found->text, ", %u of them not readable",
			      unreadable);
		buffer_text(&found->remedy, "sudo pamprof ...");
	}
}

static void
check_modules(struct finding *found)
{
	static const char *const names[] = { "pam_timing.so",
					     "pamprof_resident.so",
					     "pamprof_audit.so" };

	buffer_format(&found->text, "%s", install_path_modules());
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char *path =
		    alloc_format("%s/%s", install_path_modules(), names[i]);

		if (access(path, R_OK) != 0) {
			found->state = STATE_MISSING;
			buffer_format(&found->text, ": no %s", names[i]);
		}
		free(path);
	}
	if (found->state != STATE_OK)
		buffer_text(&found->remedy, "make, or make install");
}

static void
check_kernel(struct finding *found)
{
	long size = sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED ||
	    madvise(page, (size_t)size, MADV_WIPEONFORK) != 0) {
		found->state = STATE_MISSING;
		buffer_format(&found->text, "no MADV_WIPEONFORK: %s",
			      strerror(errno));
		buffer_text(&found->remedy, "a kernel of 4.14 or later");
	} else {
		buffer_text(&found->text,
			    "shared memory is kept from forked children");
	}
	if (page != MAP_FAILED)
		munmap(page, (size_t)size);
}

/* The whole way: a rule wrapped, loaded, called, recorded and read back. */
static void
check_trial(struct finding *found)
{
	struct error error;
	struct trial_result result;

	if (trial_run(&result, &error) != 0) {
		found->state = STATE_MISSING;
		buffer_text(&found->text, error.text);
		buffer_text(
		    &found->remedy,
		    "XDG_RUNTIME_DIR=DIR pamprof ..., DIR on a file system "
		    "mounted without noexec");
		return;
	}
	buffer_format(&found->text,
		      "a wrapped rule returned %s and left %u records; shims "
		      "were loaded from %s",
		      result.verdict == PAM_SUCCESS ? "PAM_SUCCESS" : "failure",
		      result.records, result.folder);
	if (result.verdict != PAM_SUCCESS || result.records == 0) {
		found->state = STATE_MISSING;
		buffer_text(&found->remedy,
			    "AppArmor, SELinux or a noexec mount stops it: "
			    "look into the audit log");
	}
}

static void
check_trace(struct finding *found)
{
	buffer_format(&found->text, "glibc %s has the audit interface",
		      gnu_get_libc_version());
	if (geteuid() == 0)
		return;
	found->state = STATE_LIMITED;
	buffer_text(&found->text,
		    "; set-user-ID programs ignore it unless root starts them");
	buffer_text(&found->remedy, "sudo pamprof trace -- su ...");
}

/* First byte of a small file of the kernel's, or 0. */
static char
first_byte(const char *path)
{
	FILE *in = fopen(path, "re");
	int c = in != NULL ? getc(in) : 0;

	if (in != NULL)
		fclose(in);
	return c > 0 ? (char)c : 0;
}

static void
check_apparmor(struct finding *found)
{
	if (first_byte("/sys/module/apparmor/parameters/enabled") != 'Y') {
		buffer_text(&found->text, "not in use");
		return;
	}
	found->state = STATE_LIMITED;
	buffer_text(&found->text,
		    "in use: a confined program may not load shims from "
		    "pamprof's private folder; run and trace are not confined");
	buffer_text(&found->remedy, "aa-status shows which programs are");
}

static void
check_selinux(struct finding *found)
{
	char enforce = first_byte("/sys/fs/selinux/enforce");

	if (enforce == 0) {
		buffer_text(&found->text, "not in use");
		return;
	}
	if (enforce == '0') {
		buffer_text(&found->text, "permissive");
		return;
	}
	found->state = STATE_LIMITED;
	buffer_text(&found->text,
		    "enforcing: a module that changes domain may lose its "
		    "rights under the harness");
	buffer_text(&found->remedy, "ausearch -m avc -ts recent");
}

static const struct {
	const char *name;
	void (*check)(struct finding *found);
} checks[] = {
	{ "user", check_user },         { "libpam", check_libpam },
	{ "services", check_services }, { "modules", check_modules },
	{ "kernel", check_kernel },     { "trial", check_trial },
	{ "trace", check_trace },       { "apparmor", check_apparmor },
	{ "selinux", check_selinux },
};

/* "name      state   text", and below it what mends it. */
static void
print(const char *name, const char *state, const struct finding *found)
{
	struct buffer line = { 0 }, out = { 0 };

	buffer_format(&line, "%-9s %-7s %s", name, state,
		      found->text.data != NULL ? found->text.data : "");
	text_wrap(&out, line.data, COLUMNS, INDENT);
	buffer_free(&line);
	if (found->remedy.length > 0) {
		buffer_format(&line, "%10s%-8s%s", "", "->",
			      found->remedy.data);
		text_wrap(&out, line.data, COLUMNS, INDENT);
	}
	(void)fputs(out.data, stdout);
	buffer_free(&line);
	buffer_free(&out);
}

static int
act(const void *options, int argc, char **argv, struct error *error)
{
	static const char *const words[] = { "ok", "limited", "missing" };
	int missing = 0;

	(void)options;
	if (argc > 0)
		return error_set(error, ERROR_USAGE,
				 "doctor takes no operand: %s", argv[0]);
	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
		struct finding found = { 0 };

		checks[i].check(&found);
		missing += found.state == STATE_MISSING;
		print(checks[i].name, words[found.state], &found);
		buffer_free(&found.text);
		buffer_free(&found.remedy);
	}
	return missing > 0 ? EXIT_UNMEASURED : EXIT_MEASURED;
}

const struct command command_doctor = {
	.name = "doctor",
	.summary = "say what can work on this machine and what is missing",
	.usage = "",
	.description =
	    "Tries what pamprof needs on this machine, up to one wrapped rule "
	    "that is loaded, called, recorded and read back, and prints for "
	    "each what was found and, where something is missing, what mends "
	    "it. Exits 3 if nothing can be measured here.",
	.act = act,
};
