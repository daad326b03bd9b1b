/*
 * The private folder. Apart because removing a tree as root in a folder
 * that everybody may write to has to be right: everything is done relative
 * to open directories, no link is followed, only folders of ours that
 * nobody holds are touched. A folder is held by a lock (flock(2)) on it,
 * which ends with its process, however that ends, and needs no pid.
 */
#include "workspace.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "../base/alloc.h"
#include "../base/buffer.h"

#define NAME_PREFIX "pamprof."
#define DEPTH_LIMIT 8

struct workspace {
	char *path;
	int fd; /* of the folder; holds the lock */
};

/* Removes what is in the directory fd, which is closed. */
static void
remove_content(int fd, unsigned depth)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;

	if (dir == NULL) {
		close(fd);
		return;
	}
	while (depth > 0 && (entry = readdir(dir)) != NULL) {
		int sub;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (unlinkat(dirfd(dir), entry->d_name, 0) == 0)
			continue;
		sub = openat(dirfd(dir), entry->d_name,
			     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (sub >= 0)
			remove_content(sub, depth - 1);
		unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	}
	closedir(dir);
}

/* Opens a folder that can only be ours and takes its lock; -1 if not. */
static int
open_locked(int parent, const char *name)
{
	struct stat st;
	int fd = openat(parent, name,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -1;
	/* Others may pass through to a file they know: pam_trace_auditor(). */
	if (fstat(fd, &st) != 0 || st.st_uid != geteuid() ||
	    (st.st_mode & 066) != 0 || flock(fd, LOCK_EX | LOCK_NB) != 0 ||
	    fstat(fd, &st) != 0 || st.st_nlink == 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Removes the folders of commands that died. */
static void
remove_stale(const char *place)
{
	DIR *dir = opendir(place);
	struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		int fd, copy;

		if (strncmp(entry->d_name, NAME_PREFIX, strlen(NAME_PREFIX)) !=
		    0)
			continue;
		fd = open_locked(dirfd(dir), entry->d_name);
		if (fd < 0)
			continue;
		copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		if (copy >= 0)
			remove_content(copy, DEPTH_LIMIT);
		unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
		close(fd);
	}
	if (dir != NULL)
		closedir(dir);
}

/* Makes a folder below place; false when that place will not do. */
static bool
make_in(struct workspace *workspace, const char *place)
{
	struct statvfs mount;

	if (statvfs(place, &mount) != 0 ||
	    (mount.f_flag & (ST_NOEXEC | ST_RDONLY)) != 0 ||
	    access(place, W_OK | X_OK) != 0)
		return false;
	remove_stale(place);
	/* Again if somebody tidied up between making and locking it. */
	for (int i = 0; i < 10; i++) {
		workspace->path =
		    alloc_format("%s/" NAME_PREFIX "XXXXXX", place);
		if (mkdtemp(workspace->path) != NULL) {
			workspace->fd = open_locked(AT_FDCWD, workspace->path);
			if (workspace->fd >= 0)
				return true;
			rmdir(workspace->path);
		}
		free(workspace->path);
		workspace->path = NULL;
	}
	return false;
}

int
workspace_make(struct workspace **workspace, struct error *error)
{
	const char *places[] = { "/dev/shm", "/run", getenv("XDG_RUNTIME_DIR"),
				 "/tmp", "/var/tmp" };
	struct workspace *new = alloc_zero(1, sizeof(*new));

	*workspace = NULL;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (places[i] == NULL || places[i][0] != '/')
			continue;
		if (make_in(new, places[i])) {
			*workspace = new;
			return 0;
		}
	}
	free(new);
	return error_set(error, ERROR_SYSTEM,
			 "no folder to work in: none of /dev/shm, /run, "
			 "$XDG_RUNTIME_DIR, /tmp and /var/tmp can be written "
			 "to and is mounted without noexec");
}

const char *
workspace_path(const struct workspace *workspace)
{
	return workspace->path;
}

void
workspace_remove(struct workspace *workspace)
{
	int copy;

	if (workspace == NULL)
		return;
	copy = fcntl(workspace->fd, F_DUPFD_CLOEXEC, 0);
	if (copy >= 0)
		remove_content(copy, DEPTH_LIMIT);
	rmdir(workspace->path);
	close(workspace->fd);
	free(workspace->path);
	free(workspace);
}
