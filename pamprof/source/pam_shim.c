/*
 * Makes shims. Apart from the rewriter, which only asks for a path: here is
 * what has to be known of the module behind a rule before a shim may stand
 * in for it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uthash.h>

#include "../../modules/patch.h"
#include "../base/alloc.h"
#include "../base/buffer.h"
#include "../base/places.h"
#include "../base/safe_file.h"
#include "elf_patch.h"
#include "pam_shim.h"

#define FUNCTIONS      6
#define TEMPLATE_LIMIT (16 << 20) /* bytes; debug information included */
#define PROBE_SECONDS  20 /* a module's constructor that takes longer hangs */
#define PROBE_LOADED   0x40

static const char *const function_names[FUNCTIONS] = {
	"pam_sm_authenticate", "pam_sm_setcred",       "pam_sm_acct_mgmt",
	"pam_sm_open_session", "pam_sm_close_session", "pam_sm_chauthtok"
};

/* One real module; shim is NULL when it cannot have one. */
struct shim {
	char *real, *shim, *problem;
	UT_hash_handle hh;
};

struct shim_folder {
	char *dir, *resident;
	struct buffer template;
	struct shim *shims;
	size_t made;
};

/* Reads a whole file of ours. */
static int
read_template(struct buffer *out, const char *name, struct error *error)
{
	char *path = alloc_format("%s/%s", install_path_modules(), name);
	struct error why = { 0 };
	int r = safe_file_read(path, LINKS_FOLLOWED, TEMPLATE_LIMIT, out, &why);

	if (r != 0)
		r = error_set(error, r,
			      "%s (run `make`, or install pamprof again)",
			      why.text);
	free(path);
	return r;
}

/* Writes a new file; on failure none is left. */
static int
write_object(const char *path, const struct buffer *bytes, struct error *error)
{
	size_t done = 0;
	ssize_t n = 0;
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	int r = 0;

	if (fd < 0)
		return error_errno(error, "%s: cannot be made", path);
	while (done < bytes->length && n >= 0) {
		n = write(fd, bytes->data + done, bytes->length - done);
		if (n > 0)
			done += (size_t)n;
	}
	if (n < 0 || fchmod(fd, 0755) != 0)
		r = error_errno(error, "%s: cannot be written", path);
	if (close(fd) != 0 && r == 0)
		r = error_errno(error, "%s: cannot be written", path);
	if (r != 0)
		unlink(path);
	return r;
}

/* Copies a string into a field of fixed size; false when it does not fit. */
static bool
put(char *field, size_t size, const char *text)
{
	size_t length = strlen(text);

	if (length >= size)
		return false;
	memcpy(field, text, length + 1);
	return true;
}

static int
write_resident(struct shim_folder *folder, const char *ring,
	       struct error *error)
{
	struct buffer bytes = { 0 };
	struct patch_resident *patch;
	int r = read_template(&bytes, "pamprof_resident.so", error);

	if (r != 0)
		goto out;
	patch = elf_patch_find(bytes.data, bytes.length, PATCH_RESIDENT_MAGIC,
			       sizeof(patch->magic));
	if (patch == NULL || !put(patch->ring, sizeof(patch->ring), ring)) {
		r = error_set(
		    error, ERROR_INPUT,
		    "pamprof_resident.so: cannot take the path of the "
		    "ring, %s",
		    ring);
		goto out;
	}
	r = write_object(folder->resident, &bytes, error);
out:
	buffer_free(&bytes);
	return r;
}

int
shim_folder_new(struct shim_folder **folder, const char *dir,
		const char *ring_path, struct error *error)
{
	struct shim_folder *new = alloc_zero(1, sizeof(*new));
	int r;

	*folder = NULL;
	new->dir = alloc_string(dir);
	new->resident = alloc_format("%s/pamprof_resident.so", dir);
	if ((r = read_template(&new->template, "pam_timing.so", error)) != 0 ||
	    (r = write_resident(new, ring_path, error)) != 0) {
		shim_folder_free(new);
		return r;
	}
	*folder = new;
	return 0;
}

void
shim_folder_free(struct shim_folder *folder)
{
	struct shim *shim, *next;

	if (folder == NULL)
		return;
	HASH_ITER (hh, folder->shims, shim, next) {
		HASH_DEL(folder->shims, shim);
		free(shim->real);
		free(shim->shim);
		free(shim->problem);
		free(shim);
	}
	buffer_free(&folder->template);
	free(folder->dir);
	free(folder->resident);
	free(folder);
}

/* In the throw-away process: says through the pipe why it does not load. */
static void
probe_child(const char *path, int out)
{
	int null = open("/dev/null", O_RDWR);
	int found = PROBE_LOADED;
	void *handle;

	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	alarm(PROBE_SECONDS);
	handle = dlopen(path, RTLD_NOW);
	if (handle == NULL) {
		const char *why = dlerror();

		if (write(out, why, strlen(why)) < 0)
			_exit(1);
		_exit(0);
	}
	for (int i = 0; i < FUNCTIONS; i++)
		found |= (dlsym(handle, function_names[i]) != NULL) << i;
	_exit(found);
}

/* What became of the throw-away process: a problem, or NULL and *found. */
static char *
probe_result(int status, const struct buffer *why, int *found)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		return alloc_format("does not finish loading within %d s",
				    PROBE_SECONDS);
	if (WIFSIGNALED(status))
		return alloc_format("crashes when it is loaded (signal %d)",
				    WTERMSIG(status));
	*found = WEXITSTATUS(status);
	if ((*found & PROBE_LOADED) == 0)
		return alloc_format("cannot be loaded: %s",
				    why->length > 0 ? why->data : "it exits");
	return NULL;
}

/*
 * Loads the module elsewhere. Returns NULL and a bit for each function in
 * *found, or the problem with it.
 */
static char *
probe(const char *path, int *found)
{
	struct buffer why = { 0 };
	char block[512], *problem;
	struct pollfd end = { .events = POLLIN };
	int pipes[2], status = 0;
	ssize_t n;
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC) != 0)
		return alloc_format("cannot be tried: %s", strerror(errno));
	pid = fork();
	if (pid == 0)
		probe_child(path, pipes[1]);
	close(pipes[1]);
	end.fd = pipes[0];
	/* Not for ever: a daemon the module started may hold the pipe. */
	while (pid > 0 && poll(&end, 1, (PROBE_SECONDS + 1) * 1000) == 1 &&
	       (n = read(pipes[0], block, sizeof(block))) > 0)
		buffer_bytes(&why, block, (size_t)n);
	close(pipes[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	problem = pid > 0 ? probe_result(status, &why, found)
			  : alloc_format("cannot be tried: fork failed");
	buffer_free(&why);
	return problem;
}

/* Fills in a copy of the template; false when something does not fit. */
static bool
patch_template(struct buffer *bytes, const struct shim_folder *folder,
	       const struct pam_rule *rule, int found)
{
	struct patch_shim *patch = elf_patch_find(
	    bytes->data, bytes->length, PATCH_SHIM_MAGIC, sizeof(patch->magic));

	if (patch == NULL ||
	    !put(patch->real, sizeof(patch->real), rule->path) ||
	    !put(patch->resident, sizeof(patch->resident), folder->resident) ||
	    !put(patch->name, sizeof(patch->name), rule->module.value))
		return false;
	patch->silent = rule->silent;
	for (int i = 0; i < FUNCTIONS; i++) {
		if ((found & 1 << i) == 0 &&
		    !elf_patch_hide(bytes->data, bytes->length,
				    function_names[i]))
			return false;
	}
	return true;
}

/* A free name below the folder: N/BASE, N counted up until it is free. */
static char *
free_name(const struct shim_folder *folder, const char *real)
{
	const char *base = strrchr(real, '/') + 1;

	for (unsigned n = 1;; n++) {
		char *sub = alloc_format("%s/%u", folder->dir, n);
		char *path = alloc_format("%s/%s", sub, base);
		bool made = mkdir(sub, 0755) == 0 || errno == EEXIST;
		bool taken = access(path, F_OK) == 0;

		free(sub);
		if (made && taken) {
			free(path);
			continue;
		}
		return path;
	}
}

/* Makes the shim, or says in shim->problem why there is none. */
static void
make_shim(struct shim_folder *folder, const struct pam_rule *rule,
	  struct shim *shim)
{
	struct buffer bytes = { 0 };
	struct error error;
	char *path = NULL;
	int found = 0;

	shim->problem = probe(rule->path, &found);
	if (shim->problem != NULL)
		return;
	buffer_bytes(&bytes, folder->template.data, folder->template.length);
	if (!patch_template(&bytes, folder, rule, found)) {
		shim->problem = alloc_string("its path is too long for a shim");
		goto out;
	}
	path = free_name(folder, rule->path);
	if (write_object(path, &bytes, &error) != 0) {
		shim->problem = alloc_string(error.text);
		goto out;
	}
	shim->shim = path;
	path = NULL;
	folder->made++;
out:
	free(path);
	buffer_free(&bytes);
}

const char *
shim_folder_shim(void *context, struct pam_rule *rule)
{
	struct shim_folder *folder = context;
	struct shim *shim;

	HASH_FIND_STR(folder->shims, rule->path, shim);
	if (shim == NULL) {
		shim = alloc_zero(1, sizeof(*shim));
		shim->real = alloc_string(rule->path);
		make_shim(folder, rule, shim);
		HASH_ADD_KEYPTR(hh, folder->shims, shim->real,
				strlen(shim->real), shim);
	}
	if (shim->shim == NULL && rule->problem == NULL)
		rule->problem = alloc_string(shim->problem);
	return shim->shim;
}

size_t
shim_folder_count(const struct shim_folder *folder)
{
	return folder->made;
}
