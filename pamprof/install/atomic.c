/*
 * Replacing files. Apart from base/safe_file.c because these belong to the
 * host: attributes travel, and a temporary file has a fixed name, by which
 * the next call finds what a killed one left.
 */
#include "atomic.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "../base/alloc.h"

#define DEPTH_LIMIT 8

void
atomic_checksum(char text[CHECKSUM_TEXT], const struct buffer *bytes)
{
	unsigned char sum[SHA256_DIGEST_LENGTH];

	(void)SHA256((const unsigned char *)(bytes->data ? bytes->data : ""),
		     bytes->length, sum);
	for (unsigned i = 0; i < sizeof(sum); i++)
		(void)snprintf(text + 2UL * i, 3, "%02x", sum[i]);
}

void
atomic_checksum_file(char text[CHECKSUM_TEXT], const char *path)
{
	struct buffer bytes = { 0 };

	text[0] = '\0';
	if (safe_file_read(path, LINKS_FOLLOWED, ATOMIC_LIMIT, &bytes, NULL) ==
	    0)
		atomic_checksum(text, &bytes);
	buffer_free(&bytes);
}

/* DIR/.NAME.pamprof: libpam asks for no such service. */
static char *
temporary_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return alloc_format("%.*s/.%s.pamprof", (int)(slash - path), path,
			    slash + 1);
}

void
atomic_tidy(const char *path)
{
	char *temporary = temporary_name(path);

	(void)unlink(temporary);
	free(temporary);
}

static int
write_all(int fd, const struct buffer *bytes)
{
	size_t done = 0;

	while (done < bytes->length) {
		ssize_t n = write(fd, bytes->data + done, bytes->length - done);

		if (n < 0 && errno != EINTR)
			return -1;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* A rename survives a power cut only when its folder was synced. */
static int
sync_folder_of(const char *path)
{
	char *folder =
	    alloc_format("%.*s", (int)(strrchr(path, '/') - path), path);
	int fd =
	    open(folder[0] ? folder : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = fd < 0 ? -1 : fsync(fd);

	if (r != 0 && errno == EINVAL)
		r = 0; /* a file system that cannot sync folders */
	if (fd >= 0)
		(void)close(fd);
	free(folder);
	return r;
}

static int
copy_attribute(int from, int to, const char *name, struct error *error)
{
	char value[65536];
	ssize_t size;

	if (strcmp(name, "security.ima") == 0)
		return error_set(error, ERROR_INPUT,
				 "the file bears an IMA signature, which a "
				 "changed file cannot have");
	size = fgetxattr(from, name, value, sizeof(value));
	if (size < 0 || fsetxattr(to, name, value, (size_t)size, 0) != 0)
		return error_errno(error, "attribute %s cannot be kept", name);
	return 0;
}

/* Owner, mode, ACLs, labels: ACLs are attributes, and chmod(2) keeps them. */
static int
copy_attributes(int from, int to, struct error *error)
{
	char names[65536];
	ssize_t length = flistxattr(from, names, sizeof(names));
	struct stat st;
	int r = 0;

	if (fstat(from, &st) != 0 || fchown(to, st.st_uid, st.st_gid) != 0)
		return error_errno(error, "its owner cannot be kept");
	if (length < 0 && errno != ENOTSUP)
		return error_errno(error, "its attributes cannot be read");
	for (ssize_t i = 0; r == 0 && i < length;
	     i += (ssize_t)strlen(names + i) + 1)
		r = copy_attribute(from, to, names + i, error);
	if (r == 0 && fchmod(to, st.st_mode & 07777) != 0)
		r = error_errno(error, "its mode cannot be kept");
	return r;
}

static int
open_temporary(const char *temporary, struct error *error)
{
	int fd;

	(void)unlink(temporary);
	fd = open(temporary,
		  O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	return fd >= 0 ? fd : error_errno(error, "%s", temporary);
}

/* Ends what open_temporary() began, well (r 0) or not. */
static int
finish(const char *temporary, int fd, int r, struct error *error)
{
	if (fd >= 0 && close(fd) != 0 && r == 0)
		r = error_errno(error, "%s", temporary);
	if (fd >= 0 && r != 0)
		(void)unlink(temporary);
	return r;
}

static int
put_in_place(const char *temporary, const char *path, struct error *error)
{
	if (rename(temporary, path) != 0) {
		error_errno(error, "%s cannot be replaced", path);
		(void)unlink(temporary);
		return ERROR_SYSTEM;
	}
	if (sync_folder_of(path) != 0)
		return error_errno(error, "folder of %s", path);
	return 0;
}

int
atomic_write(const char *path, mode_t mode, const struct buffer *bytes,
	     struct error *error)
{
	char *temporary = temporary_name(path);
	int fd = open_temporary(temporary, error);
	int r = fd < 0 ? fd : 0;

	if (r == 0 && (write_all(fd, bytes) != 0 || fchmod(fd, mode) != 0 ||
		       fsync(fd) != 0))
		r = error_errno(error, "%s cannot be written", path);
	r = finish(temporary, fd, r, error);
	if (r == 0)
		r = put_in_place(temporary, path, error);
	free(temporary);
	return r;
}

/* Opens the file to be replaced, if it is one that can be. */
static int
open_replaced(const char *path, struct error *error)
{
	struct stat st;
	int fd = safe_file_open(path, LINKS_REFUSED, ATOMIC_LIMIT, error);

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) == 0 && st.st_nlink == 1)
		return fd;
	(void)close(fd);
	return error_set(error, ERROR_INPUT,
			 "%s has a second name (a hard link): it cannot be "
			 "replaced without parting the two",
			 path);
}

static int
check_expected(const char *path, const char *expected, struct error *error)
{
	char sum[CHECKSUM_TEXT];

	if (expected == NULL)
		return 0;
	atomic_checksum_file(sum, path);
	if (strcmp(sum, expected) == 0)
		return 0;
	return error_set(error, ERROR_INPUT,
			 "%s has been changed in this moment; try again", path);
}

int
atomic_replace(const char *path, const struct buffer *bytes,
	       const char *expected, struct error *error)
{
	char *temporary = temporary_name(path);
	struct error inner = { 0 };
	int old = open_replaced(path, error), fd = -1;
	int r = old < 0 ? old : 0;

	if (r == 0)
		r = fd = open_temporary(temporary, error);
	if (fd >= 0) {
		r = copy_attributes(old, fd, &inner);
		if (r != 0)
			error_set(error, r, "%s: %s", path, inner.text);
		else if (write_all(fd, bytes) != 0 || fsync(fd) != 0)
			r = error_errno(error, "%s cannot be written", path);
	}
	if (r == 0)
		r = check_expected(path, expected, error);
	r = finish(temporary, fd, r < 0 ? r : 0, error);
	if (r == 0)
		r = put_in_place(temporary, path, error);
	if (old >= 0)
		(void)close(old);
	free(temporary);
	return r;
}

int
atomic_folder(const char *path, struct error *error)
{
	if (mkdir(path, 0755) != 0)
		return error_errno(error, "%s: cannot be made", path);
	if (chmod(path, 0755) != 0)
		return error_errno(error, "%s: cannot be opened to all", path);
	return 0;
}

/* Removes what is in the folder fd, which is closed. */
static void
remove_content(int fd, unsigned depth)
{
	DIR *dir = fdopendir(fd);
	const struct dirent *entry;

	if (dir == NULL) {
		(void)close(fd);
		return;
	}
	while (depth > 0 && (entry = readdir(dir)) != NULL) {
		int sub;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		sub = openat(dirfd(dir), entry->d_name,
			     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (sub >= 0)
			remove_content(sub, depth - 1);
		(void)unlinkat(dirfd(dir), entry->d_name,
			       sub >= 0 ? AT_REMOVEDIR : 0);
	}
	(void)closedir(dir);
}

int
atomic_remove(const char *path, struct error *error)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		remove_content(fd, DEPTH_LIMIT);
	if (rmdir(path) != 0 && errno != ENOENT)
		return error_errno(error, "%s: cannot be removed", path);
	return 0;
}

int
atomic_sync(const char *folder, struct error *error)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = 0;

	if (fd < 0 || syncfs(fd) != 0)
		r = error_errno(error, "%s", folder);
	if (fd >= 0)
		(void)close(fd);
	return r;
}
