/*
 * Reading files as if an enemy had made them and writing files that others
 * may be reading. Separate because PAM configuration, recordings and reports
 * all need both, and each flag below answers a way to go wrong.
 */
#include "safe_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Checks what was opened, not what the name meant a moment before. */
static int
check(int fd, const char *path, size_t limit, struct error *error)
{
	struct stat status;

	if (fstat(fd, &status))
		return error_errno(error, "%s", path);
	if (!S_ISREG(status.st_mode))
		return error_set(error, ERROR_INPUT, "%s is not a regular file",
				 path);
	if (status.st_size < 0 || (uintmax_t)status.st_size > limit)
		return error_set(error, ERROR_INPUT,
				 "%s is larger than %zu bytes", path, limit);
	return 0;
}

int
safe_file_open(const char *path, enum safe_links links, size_t limit,
	       struct error *error)
{
	/* O_NONBLOCK: the open of a fifo without writer must not hang. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY |
				(links == LINKS_REFUSED ? O_NOFOLLOW : 0));
	int r;

	if (fd < 0 && errno == ELOOP && links == LINKS_REFUSED)
		return error_set(error, ERROR_INPUT,
				 "%s is a symbolic link; name the file "
				 "itself",
				 path);
	if (fd < 0)
		return error_errno(error, "%s", path);
	r = check(fd, path, limit, error);
	if (r == 0)
		return fd;
	(void)close(fd);
	return r;
}

/* Appends until the end or more than limit bytes. */
static int
read_all(int fd, size_t limit, struct buffer *out)
{
	char bytes[16384];
	size_t total = 0;
	ssize_t got;

	while ((got = read(fd, bytes, sizeof(bytes))) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		total += (size_t)got;
		if (total > limit) {
			errno = EFBIG;
			return -1;
		}
		buffer_bytes(out, bytes, (size_t)got);
	}
	return 0;
}

int
safe_file_read(const char *path, enum safe_links links, size_t limit,
	       struct buffer *out, struct error *error)
{
	int fd = safe_file_open(path, links, limit, error), r = 0;

	if (fd < 0)
		return fd;
	if (read_all(fd, limit, out))
		r = error_errno(error, "%s", path);
	(void)close(fd);
	return r;
}

/* Refuses to replace what is no file: -o /dev/null must stay a device. */
static int
check_target(const char *path, struct error *error)
{
	struct stat status;

	if (lstat(path, &status))
		return errno == ENOENT ? 0 : error_errno(error, "%s", path);
	if (S_ISREG(status.st_mode))
		return 0;
	return error_set(error, ERROR_INPUT,
			 "%s is not a regular file and will not be replaced",
			 path);
}

int
safe_file_create(struct safe_file *file, const char *path, mode_t mode,
		 struct error *error)
{
	int r = check_target(path, error);

	*file = (struct safe_file){ .fd = -1 };
	if (r)
		return r;
	if (strlen(path) + sizeof(".XXXXXX") > sizeof(file->temporary))
		return error_set(error, ERROR_INPUT, "too long a name: %s",
				 path);
	(void)snprintf(file->path, sizeof(file->path), "%s", path);
	(void)stpcpy(stpcpy(file->temporary, path), ".XXXXXX");
	file->fd = mkostemp(file->temporary, O_CLOEXEC);
	if (file->fd >= 0 && fchmod(file->fd, mode) == 0)
		return 0;
	r = error_errno(error, "%s cannot be written", path);
	safe_file_abandon(file);
	return r;
}

static int
write_all(int fd, const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t done = write(fd, bytes, length);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		bytes += done;
		length -= (size_t)done;
	}
	return 0;
}

/* A rename survives a crash only when its folder was synced. */
static int
sync_folder(const char *path)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');
	int fd, r;

	(void)snprintf(folder, sizeof(folder), "%.*s",
		       slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	r = fsync(fd);
	/* Some file systems cannot sync a folder; nothing is wrong then. */
	if (r && (errno == EINVAL || errno == EROFS))
		r = 0;
	(void)close(fd);
	return r;
}

int
safe_file_commit(struct safe_file *file, const void *bytes, size_t length,
		 struct error *error)
{
	int r = 0;

	if (write_all(file->fd, bytes, length) || fsync(file->fd) ||
	    rename(file->temporary, file->path))
		r = error_errno(error, "%s cannot be written", file->path);
	else
		file->temporary[0] = '\0';
	if (r == 0 && sync_folder(file->path))
		r = error_errno(error, "folder of %s", file->path);
	safe_file_abandon(file);
	return r;
}

void
safe_file_abandon(struct safe_file *file)
{
	if (file->fd >= 0 && file->path[0]) {
		(void)close(file->fd);
		if (file->temporary[0])
			(void)unlink(file->temporary);
	}
	*file = (struct safe_file){ .fd = -1 };
}

int
safe_file_write(const char *path, mode_t mode, const struct buffer *bytes,
		struct error *error)
{
	struct safe_file file;
	int r = safe_file_create(&file, path, mode, error);

	if (r)
		return r;
	return safe_file_commit(&file, bytes->data, bytes->length, error);
}
