/*
 * Places of production. Apart because every rule about them (who may write
 * there, what the mount must allow, what an image lacks) is kept here.
 */
#include "layout.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "../base/alloc.h"
#include "../base/places.h"
#include "../trace/ring_file.h"
#include "atomic.h"

#define MODULE_LIMIT (8u << 20)

static bool image;

char *
layout_folder(const char *service, unsigned seq, const char *name)
{
	return alloc_format(PRODUCTION_FOLDER "/%s.%u%s%s", service, seq,
			    name != NULL ? "/" : "", name != NULL ? name : "");
}

char *
layout_shims(const char *service, unsigned seq)
{
	return alloc_format("%s/shims/%s.%u", install_path_modules(), service,
			    seq);
}

bool
layout_is_image(void)
{
	return image;
}

/* Every folder of an absolute path, as mkdir -p. */
static int
make_folders(const char *path, struct error *error)
{
	char *part = alloc_string(path);
	int r = 0;

	for (char *slash = part; r == 0 && slash != NULL;) {
		slash = strchr(slash + 1, '/');
		if (slash != NULL)
			*slash = '\0';
		if (mkdir(part, 0755) != 0 && errno != EEXIST)
			r = error_errno(error, "%s: cannot be made", part);
		if (slash != NULL)
			*slash = '/';
	}
	free(part);
	return r;
}

/* Puts one module into the image, unless it is there with these bytes. */
static int
put_module(const char *name, const struct buffer *bytes, struct error *error)
{
	char *path = alloc_format("%s/%s", install_path_modules(), name);
	struct buffer there = { 0 };
	int r = make_folders(install_path_modules(), error);

	if (r == 0 && (safe_file_read(path, LINKS_REFUSED, MODULE_LIMIT, &there,
				      NULL) != 0 ||
		       there.length != bytes->length ||
		       memcmp(there.data, bytes->data, bytes->length) != 0))
		r = atomic_write(path, 0644, bytes, error);
	buffer_free(&there);
	free(path);
	return r;
}

int
layout_enter(const char *root, struct error *error)
{
	static const char *const names[] = { "pam_timing.so",
					     "pamprof_resident.so",
					     "pam_trial.so" };
	enum {
		COUNT = sizeof(names) / sizeof(names[0])
	};
	struct buffer bytes[COUNT] = { 0 };
	int r = 0;

	if (root == NULL)
		return 0;
	for (int i = 0; r == 0 && i < COUNT; i++) {
		char *path =
		    alloc_format("%s/%s", install_path_modules(), names[i]);

		r = safe_file_read(path, LINKS_FOLLOWED, MODULE_LIMIT,
				   &bytes[i], error);
		free(path);
	}
	if (r == 0 && (chroot(root) != 0 || chdir("/") != 0))
		r = error_errno(error, "--root %s", root);
	image = r == 0;
	for (int i = 0; i < COUNT; i++) {
		if (r == 0)
			r = put_module(names[i], &bytes[i], error);
		buffer_free(&bytes[i]);
	}
	return r;
}

int
layout_make(struct error *error)
{
	char *shims = alloc_format("%s/shims", install_path_modules());
	int r = make_folders(shims, error);

	free(shims);
	if (r == 0 && mkdir(PRODUCTION_FOLDER, 0755) != 0 && errno != EEXIST)
		r = error_errno(error, PRODUCTION_FOLDER);
	return r;
}

/* Whether only root can exchange what lies in the folder. */
static int
check_folder(const char *path, bool last, struct error *error)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return errno == ENOENT ? 0 : error_errno(error, "%s", path);
	/* A sticky folder keeps its entries with their owners. */
	if (st.st_uid != 0 ||
	    ((st.st_mode & 022) != 0 && (last || (st.st_mode & S_ISVTX) == 0)))
		return error_set(error, ERROR_INPUT,
				 "%s may be written to by others than root: "
				 "timing modules are not put below it",
				 path);
	return 0;
}

int
layout_check_shims(struct error *error)
{
	char path[PATH_MAX], *slash;
	struct statvfs mount;
	bool seen = false, last = true;
	int r = 0;

	if (realpath(install_path_modules(), path) == NULL)
		return error_errno(error, "%s", install_path_modules());
	for (; r == 0; last = false) {
		if (!seen && statvfs(path, &mount) == 0) {
			seen = true;
			if ((mount.f_flag & ST_NOEXEC) != 0)
				return error_set(
				    error, ERROR_INPUT,
				    "%s is mounted with noexec: a timing "
				    "module there could not be loaded",
				    path);
		}
		r = check_folder(path[0] != '\0' ? path : "/", last, error);
		slash = strrchr(path, '/');
		if (slash == NULL)
			break;
		*slash = '\0';
	}
	return r;
}

static int
make_tmpfiles(struct error *error)
{
	static const char text[] =
	    "# Made by pamprof instrument; removed by pamprof restore.\n"
	    "d " PRODUCTION_RUN " 0700 root root -\n";
	const struct buffer bytes = { (char *)text, sizeof(text) - 1, 0 };

	/* Only where the host has such a thing. */
	if (access("/etc/tmpfiles.d", W_OK) != 0 ||
	    access(PRODUCTION_TMPFILES, F_OK) == 0)
		return 0;
	return atomic_write(PRODUCTION_TMPFILES, 0644, &bytes, error);
}

int
layout_make_ring(unsigned options, struct error *error)
{
	struct stat st;
	int r = make_tmpfiles(error);

	if (r != 0 || image || lstat(PRODUCTION_RING, &st) == 0)
		return r;
	if (mkdir(PRODUCTION_RUN, 0700) != 0 && errno != EEXIST)
		return error_errno(error, PRODUCTION_RUN);
	if (lstat(PRODUCTION_RUN, &st) != 0 || !S_ISDIR(st.st_mode) ||
	    st.st_uid != 0 || (st.st_mode & 077) != 0)
		return error_set(error, ERROR_INPUT,
				 PRODUCTION_RUN
				 " is not a folder of mode 0700 that is "
				 "root's");
	/*
	 * Beside its name, then renamed: a login never meets half a ring, and
	 * one that is there is never replaced.
	 */
	(void)unlink(PRODUCTION_RING ".new");
	r = ring_make(PRODUCTION_RING ".new", PRODUCTION_SLOTS, options, error);
	if (r == 0 && rename(PRODUCTION_RING ".new", PRODUCTION_RING) != 0)
		r = error_errno(error, PRODUCTION_RING);
	return r;
}

void
layout_tidy(void)
{
	atomic_tidy(PRODUCTION_FOLDER "/guard");
	atomic_tidy(PRODUCTION_TMPFILES);
	if (!image)
		(void)unlink(PRODUCTION_RING ".new");
}

int
layout_make_guard(struct error *error)
{
	char *path = alloc_format("%s/guard.sh", install_path_configs());
	struct buffer text = { 0 };
	int r = 0;

	if (!image)
		r = safe_file_read(path, LINKS_FOLLOWED, ATOMIC_LIMIT, &text,
				   error);
	if (r == 0 && !image)
		r = atomic_write(PRODUCTION_FOLDER "/guard", 0755, &text,
				 error);
	buffer_free(&text);
	free(path);
	return r;
}
