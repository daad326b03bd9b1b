/*
 * Files whose names come from an administrator or whose content is hostile:
 * read with checks, written so that a reader sees the old or the new one.
 */
#ifndef PAMPROF_BASE_SAFE_FILE_H
#define PAMPROF_BASE_SAFE_FILE_H

#include <limits.h>
#include <sys/types.h>

#include "buffer.h"
#include "error.h"

/* Whether the last component of a path may be a symbolic link. */
enum safe_links {
	LINKS_REFUSED,
	LINKS_FOLLOWED /* /etc/pam.d has them: authselect, alternatives */
};

/*
 * Opens a regular file of at most limit bytes for reading, without blocking
 * on a fifo or touching a device. Returns a descriptor (O_CLOEXEC), or
 * ERROR_INPUT (not such a file) or ERROR_SYSTEM.
 */
int safe_file_open(const char *path, enum safe_links links, size_t limit,
		   struct error *error);

/*
 * Appends the whole of such a file to out; what has grown over limit while
 * it was read is an error. Returns 0, ERROR_INPUT or ERROR_SYSTEM, and out
 * may hold a part then.
 */
int safe_file_read(const char *path, enum safe_links links, size_t limit,
		   struct buffer *out, struct error *error);

/* A file being written beside its final name. All zero: none. */
struct safe_file {
	int fd; /* write here */
	char path[PATH_MAX], temporary[PATH_MAX];
};

/*
 * Makes a temporary file with that mode in path's folder: called before
 * anything is measured, so that a name that cannot be written fails early.
 * A path that is there already must be a regular file. Returns 0,
 * ERROR_INPUT or ERROR_SYSTEM.
 */
int safe_file_create(struct safe_file *file, const char *path, mode_t mode,
		     struct error *error);

/*
 * Writes the bytes, syncs, renames over path and syncs the folder. On
 * failure path is as it was. The file is closed in either case.
 */
int safe_file_commit(struct safe_file *file, const void *bytes, size_t length,
		     struct error *error);

/* Gives up: the temporary file is removed. Nothing if not created. */
void safe_file_abandon(struct safe_file *file);

/* All three in one. */
int safe_file_write(const char *path, mode_t mode, const struct buffer *bytes,
		    struct error *error);

#endif
