/*
 * Files of a live host: replaced whole, with everything about them but their
 * bytes kept, so that a process killed anywhere leaves the old or the new.
 */
#ifndef PAMPROF_INSTALL_ATOMIC_H
#define PAMPROF_INSTALL_ATOMIC_H

#include "../base/buffer.h"
#include "../base/safe_file.h"

#define ATOMIC_LIMIT  (1024UL * 1024)
#define CHECKSUM_TEXT 65

/* SHA-256 in hexadecimal digits. */
void atomic_checksum(char text[CHECKSUM_TEXT], const struct buffer *bytes);

/* That of a file; "" when it is not there or cannot be read. */
void atomic_checksum_file(char text[CHECKSUM_TEXT], const char *path);

/*
 * Writes a file of ours: beside its name, synced, renamed, folder synced. The
 * temporary name is fixed and what a killed call left there is removed.
 */
int atomic_write(const char *path, mode_t mode, const struct buffer *bytes,
		 struct error *error);

/*
 * Replaces a file that must be there, a regular one with a single name,
 * keeping owner, mode and extended attributes (ACLs and SELinux label
 * included). expected (may be NULL) is the checksum it must have right before
 * the rename. An IMA signature cannot be kept and is refused.
 */
int atomic_replace(const char *path, const struct buffer *bytes,
		   const char *expected, struct error *error);

/* Removes what a killed call for this path has left. */
void atomic_tidy(const char *path);

/* Makes a folder; one that is there is an error. */
int atomic_folder(const char *path, struct error *error);

/* Removes a folder with all in it; one that is not there is fine. */
int atomic_remove(const char *path, struct error *error);

/* Writes everything on the folder's file system to disk. */
int atomic_sync(const char *folder, struct error *error);

#endif
