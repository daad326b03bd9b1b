/*
 * The file system as libpam sees it. Separate because it is the only part of
 * the parser that opens files, and files are the enemy's: they are looked at
 * before they are opened, and opened only if they are regular.
 */
#include "pam_place.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <security/pam_appl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../base/alloc.h"
#include "pam_lex.h"
#include "pam_parse.h"

/* Set by the build for other distributions; Debian's second folder. */
#ifndef PAM_ISA_DIR
#define PAM_ISA_DIR "/lib/security"
#endif

static const char *const service_folders[] = { "/etc/pam.d", "/usr/lib/pam.d" };

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/*
 * Opens path, inside root when that is given: there a link to /etc/x must
 * not lead to our own /etc/x.
 */
static int
open_inside(const char *root, const char *path, int flags)
{
	struct open_how how = { .flags = (unsigned)flags | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT };
	int top, fd, number;

	if (!root)
		return open(path, flags | O_CLOEXEC);
	top = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (top < 0)
		return -1;
	fd = (int)syscall(SYS_openat2, top, path, &how, sizeof(how));
	number = errno;
	(void)close(top);
	errno = number;
	return fd;
}

static bool
stat_inside(const char *root, const char *path, struct stat *status)
{
	int fd = open_inside(root, path, O_PATH);
	bool found = fd >= 0 && fstat(fd, status) == 0;

	if (fd >= 0)
		(void)close(fd);
	return found;
}

bool
pam_place_is_folder(const char *root, const char *path)
{
	struct stat status;

	if (stat_inside(root, path, &status))
		return S_ISDIR(status.st_mode);
	return errno == EACCES; /* said when a file in it is opened */
}

static bool
is_regular(const char *root, const char *path)
{
	struct stat status;

	return stat_inside(root, path, &status) && S_ISREG(status.st_mode);
}

static bool
is_missing(int number)
{
	return number == ENOENT || number == ENOTDIR || number == ELOOP ||
	       number == ENAMETOOLONG;
}

static int
check_kind(const char *path, const struct stat *status, struct error *error)
{
	if (!S_ISREG(status->st_mode))
		return error_set(error, ERROR_INPUT,
				 "%s is not a regular file; PAM configuration "
				 "must be one",
				 path);
	if (status->st_size > (off_t)PAM_PLACE_MOST)
		return error_set(error, ERROR_INPUT,
				 "%s has %lld bytes; more than 1 MiB is not "
				 "read as PAM configuration",
				 path, (long long)status->st_size);
	return 0;
}

static int
open_error(const char *path, struct error *error)
{
	if (errno == EACCES)
		return error_set(error, ERROR_SYSTEM,
				 "%s: permission denied; run as root", path);
	return error_errno(error, "%s", path);
}

/* Opens for reading what has been seen to be a regular file. */
static int
open_regular(int *fd, const char *root, const char *path, struct stat *status,
	     struct error *error)
{
	int look = open_inside(root, path, O_PATH), r = 0;

	*fd = -1;
	if (look < 0)
		return is_missing(errno) ? PAM_PLACE_MISSING
					 : open_error(path, error);
	if (fstat(look, status) != 0)
		r = error_errno(error, "%s", path);
	if (r == 0)
		r = check_kind(path, status, error);
	(void)close(look);
	if (r != 0)
		return r;
	*fd = open_inside(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (*fd < 0)
		return open_error(path, error);
	/* It may have been exchanged between the two. */
	if (fstat(*fd, status) != 0)
		return error_errno(error, "%s", path);
	return check_kind(path, status, error);
}

static int
read_all(int fd, struct pam_file *file, struct error *error)
{
	size_t room = PAM_PLACE_MOST + 1;

	file->text = alloc_zero(room + 1, 1);
	while (file->size < room) {
		ssize_t count =
		    read(fd, file->text + file->size, room - file->size);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return error_errno(error, "%s", file->path);
		if (count == 0)
			break;
		file->size += (size_t)count;
	}
	if (file->size > PAM_PLACE_MOST)
		return error_set(error, ERROR_INPUT,
				 "%s grows while it is read", file->path);
	file->text = alloc_array(file->text, file->size + 1, 1);
	if (memchr(file->text, '\0', file->size))
		return error_set(error, ERROR_INPUT,
				 "%s contains zero bytes: it is no PAM "
				 "configuration",
				 file->path);
	return 0;
}

int
pam_place_read(struct pam_file **result, const char *root, const char *path,
	       struct error *error)
{
	struct pam_file *file = alloc_zero(1, sizeof(*file));
	struct stat status;
	int fd = -1, r;

	*result = NULL;
	file->path = alloc_format("%s%s", root ? root : "", path);
	r = open_regular(&fd, root, path, &status, error);
	if (r == 0)
		r = read_all(fd, file, error);
	if (fd >= 0)
		(void)close(fd);
	if (r != 0) {
		pam_place_free(file);
		return r;
	}
	file->device = status.st_dev;
	file->inode = status.st_ino;
	*result = file;
	return 0;
}

void
pam_place_free(struct pam_file *file)
{
	if (!file)
		return;
	pam_conf_free_rules(file);
	free(file->path);
	free(file->text);
	free(file);
}

int
pam_place_read_service(struct pam_file **file,
		       const struct pam_conf_place *place, const char *service,
		       struct error *error)
{
	int r = PAM_PLACE_MISSING;

	*file = NULL;
	for (size_t i = 0; i < COUNT(service_folders); i++) {
		const char *folder =
		    place->confdir ? place->confdir : service_folders[i];
		char *path = alloc_format("%s/%s", folder, service);

		r = pam_place_read(file, place->root, path, error);
		free(path);
		/* A private folder is the only one; a file hides the next. */
		if (r != PAM_PLACE_MISSING || place->confdir)
			break;
	}
	return r;
}

char *
pam_place_include(const char *target)
{
	if (target[0] == '/')
		return alloc_string(target);
	return alloc_format("%s/%s", service_folders[0], target);
}

/* The folder libpam itself was loaded from, without hard-coding one. */
static const char *
library_folder(void)
{
	static char *folder;
	Dl_info info;

	if (folder)
		return folder;
	/* A program linked with libpam.a is not the library. */
	if (dladdr((void *)pam_start, &info) != 0 && info.dli_fname &&
	    info.dli_fname[0] == '/' && strstr(info.dli_fname, "/libpam.so"))
		folder = alloc_bytes(
		    info.dli_fname,
		    (size_t)(strrchr(info.dli_fname, '/') - info.dli_fname));
	else
		folder = alloc_string("/lib");
	return folder;
}

/* Where modules are that are named without a folder. */
static const char *
module_folder(void)
{
#ifdef PAM_SECURITY_DIR
	return PAM_SECURITY_DIR;
#else
	static char *folder;

	if (!folder)
		folder = alloc_format("%s/security", library_folder());
	return folder;
#endif
}

const char *
pam_place_module_folders(void)
{
	static char *text;

	if (!text)
		text = alloc_format("%s and %s", module_folder(), PAM_ISA_DIR);
	return text;
}

/* path itself when a module can be there, else NULL and path is freed. */
static char *
keep_regular(const char *root, char *path)
{
	if (path[0] == '/' && is_regular(root, path))
		return path;
	free(path);
	return NULL;
}

char *
pam_place_module(const char *root, const char *word)
{
	const char *isa = strstr(word, "$ISA");
	char *path;

	if (word[0] == '/') {
		path = keep_regular(root, alloc_string(word));
	} else {
		path = keep_regular(
		    root, alloc_format("%s/%s", module_folder(), word));
		if (!path)
			path = keep_regular(
			    root, alloc_format("%s/%s", PAM_ISA_DIR, word));
	}
	/* libpam expands $ISA only after the name as it is has failed. */
	if (!path && isa)
		path = keep_regular(
		    root, alloc_format("%.*s%s%s", (int)(isa - word), word,
				       PAM_ISA_DIR, isa + strlen("$ISA")));
	return path;
}

/*
 * The library does not tell its version, and 1.5 and 1.6 have one soname.
 * This message came with the new grammar.
 */
unsigned
pam_place_libpam_minor(const char *root)
{
	static const char sign[] = "maximum level of inclusions reached";
	unsigned minor = PAM_MINOR_UNLIMITED - 1;
	struct pam_file library = { 0 };
	int fd;

	library.path = alloc_format("%s/libpam.so.0", library_folder());
	fd = open_inside(root, library.path, O_RDONLY | O_NONBLOCK);
	if (fd >= 0) {
		/* Zero bytes are an error to read_all(), not to us. */
		(void)read_all(fd, &library, NULL);
		if (memmem(library.text, library.size, sign, strlen(sign)))
			minor = PAM_MINOR_UNLIMITED;
		(void)close(fd);
	}
	free(library.path);
	free(library.text);
	return minor;
}
