/*
 * Services and their files. Apart because it decides from names and links
 * whose file that is, before anybody thinks of changing it.
 */
#include "service.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/alloc.h"
#include "../source/pam_rewrite.h"
#include "layout.h"

/* One file, and the names that may lead to it. */
struct owner {
	const char *service, *base;
	struct stat st;
};

/* su-l of su, sudo-i of sudo: one program, with a file that includes it. */
static bool
is_variant(const char *name, const char *service)
{
	size_t length = strlen(service);

	return strncmp(name, service, length) == 0 &&
	       (strcmp(name + length, "-l") == 0 ||
		strcmp(name + length, "-i") == 0);
}

/* Whether another service's stack reaches the file. */
static bool
reaches(const char *name, const struct owner *owner)
{
	const struct pam_conf_place place = { .service = name };
	struct pam_stack *stack = NULL;
	bool found = false;

	if (pam_conf_read(&stack, &place, NULL) != 0)
		return false;
	/* What "other" reaches belongs to it, not to this service. */
	for (const struct pam_file *f = stack->files; f != NULL; f = f->next)
		if (f->device == owner->st.st_dev &&
		    f->inode == owner->st.st_ino && f != stack->other)
			found = true;
	pam_conf_free(stack);
	return found;
}

static int
check_other(const char *name, const struct owner *owner, struct buffer *notes,
	    struct error *error)
{
	if (strcmp(name, owner->service) == 0 ||
	    strcmp(name, owner->base) == 0 || !pam_conf_is_service(name) ||
	    !reaches(name, owner))
		return 0;
	if (is_variant(name, owner->service)) {
		buffer_format(notes, "%s includes %s: it is seen as well\n",
			      name, owner->service);
		return 0;
	}
	return error_set(error, ERROR_INPUT,
			 "the file of %s is read by the service %s as well; "
			 "name the services that are to be instrumented, not "
			 "the file that they share",
			 owner->service, name);
}

static int
check_owner(const struct owner *owner, struct buffer *notes,
	    struct error *error)
{
	DIR *dir = opendir(PRODUCTION_PAM);
	const struct dirent *entry;
	int r = dir != NULL ? 0 : error_errno(error, PRODUCTION_PAM);

	while (r == 0 && (entry = readdir(dir)) != NULL)
		r = check_other(entry->d_name, owner, notes, error);
	if (dir != NULL)
		(void)closedir(dir);
	return r;
}

/* Follows a link, but not out of the folder. */
static int
resolve(char **file, const char *service, struct error *error)
{
	char real[PATH_MAX], folder[PATH_MAX], *slash;
	char *path = alloc_format(PRODUCTION_PAM "/%s", service);
	int r = 0;

	if (realpath(PRODUCTION_PAM, folder) == NULL ||
	    realpath(path, real) == NULL) {
		r = error_errno(error,
				"%s (a service that is only in another folder "
				"has to be copied there first)",
				path);
	} else {
		slash = strrchr(real, '/');
		*slash = '\0';
		if (strcmp(real, folder) != 0)
			r = error_set(error, ERROR_INPUT,
				      "%s is a symbolic link that leads out "
				      "of the folder: the file there is not "
				      "this service's alone",
				      path);
		else
			*file = alloc_format(PRODUCTION_PAM "/%s", slash + 1);
	}
	free(path);
	return r;
}

int
service_file(char **file, const char *service, struct buffer *notes,
	     struct error *error)
{
	struct owner owner = { .service = service };
	int r;

	*file = NULL;
	if (!pam_conf_is_service(service) ||
	    strpbrk(service, "ABCDEFGHIJKLMNOPQRSTUVWXYZ \t\n%") != NULL ||
	    strlen(service) > 100)
		return error_set(error, ERROR_USAGE,
				 "\"%s\" is not the name of a service",
				 service);
	r = resolve(file, service, error);
	if (r != 0)
		return r;
	owner.base = strrchr(*file, '/') + 1;
	if (stat(*file, &owner.st) != 0)
		r = error_errno(error, "%s", *file);
	if (r == 0)
		r = check_owner(&owner, notes, error);
	if (r != 0) {
		free(*file);
		*file = NULL;
	}
	return r;
}

static bool
has_changed(const char *path, const char *sum)
{
	char now[CHECKSUM_TEXT];

	atomic_checksum_file(now, path);
	return strcmp(now, sum) != 0;
}

/* Whether the change is that the file's own service was instrumented. */
static bool
is_ours(const struct state *state, const struct state_include *include)
{
	for (size_t i = 0; i < state->count; i++) {
		const struct state_entry *entry = &state->entries[i];

		if (entry->step == STEP_ACTIVE &&
		    strcmp(entry->file, include->path) == 0 &&
		    strcmp(entry->original, include->sum) == 0 &&
		    !has_changed(include->path, entry->installed))
			return true;
	}
	return false;
}

static bool
is_stale(const struct state *state, const struct state_include *include)
{
	return has_changed(include->path, include->sum) &&
	       !is_ours(state, include);
}

bool
service_is_stale(const struct state *state, const struct state_entry *entry)
{
	for (size_t i = 0; i < entry->includes_count; i++)
		if (is_stale(state, &entry->includes[i]))
			return true;
	return false;
}

int
service_check_rules(const struct pam_stack *stack, struct error *error)
{
	for (const struct pam_file *f = stack->files; f != NULL; f = f->next)
		for (size_t i = 0; f != stack->other && i < f->rules_count; i++)
			if (pam_rewrite_is_wrapped(&f->rules[i]))
				return error_set(
				    error, ERROR_INPUT,
				    "%s:%u is timed already: another service "
				    "that is instrumented owns the file, and "
				    "%s is seen through it (restore that one, "
				    "or name %s before it)",
				    f->path, f->rules[i].first_line,
				    stack->service, stack->service);
	return 0;
}

unsigned
service_changes(const struct state *state, const struct state_entry *entry,
		struct buffer *out)
{
	unsigned count = 0;

	for (size_t i = 0; i < entry->includes_count; i++) {
		if (!is_stale(state, &entry->includes[i]))
			continue;
		count++;
		buffer_format(out,
			      "  stale: %s has changed since it was copied; "
			      "pamprof instrument %s takes the new one\n",
			      entry->includes[i].path, entry->service);
	}
	if (entry->step == STEP_ACTIVE &&
	    has_changed(entry->file, entry->installed)) {
		count++;
		buffer_format(out,
			      "  edited: %s has changed since it was "
			      "instrumented; restore will want --force\n",
			      entry->file);
	}
	return count;
}

void
service_managers(struct buffer *out)
{
	if (access("/usr/sbin/pam-auth-update", X_OK) == 0)
		buffer_text(out,
			    "pam-auth-update writes the common-* files: it "
			    "changes nothing here, and what is instrumented "
			    "keeps using its copies until it is instrumented "
			    "again\n");
	if (access("/etc/authselect/authselect.conf", F_OK) == 0)
		buffer_text(out,
			    "authselect owns the shared files: \"authselect "
			    "select\" and \"apply-changes\" change nothing "
			    "here, and what is instrumented keeps using its "
			    "copies until it is instrumented again\n");
}
