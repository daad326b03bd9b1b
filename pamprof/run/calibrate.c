/*
 * The cost of one wrapped call. Apart from the harness because it must not
 * disturb it: its own child, its own ring, an own copy of the resident
 * object. Measured are the two functions that a shim calls around a module,
 * on a handle without rules; the shim's own instructions are some 5 ns.
 */
#include "calibrate.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <security/pam_appl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../modules/call.h"
#include "../base/alloc.h"
#include "../base/child.h"
#include "../source/pam_shim.h"
#include "../trace/segment.h"

#define SLOTS    1024
#define BATCHES  40
#define CALLS    64 /* of a batch */
#define LIMIT_NS 5000000000u

struct calibration {
	const char *dir;
	uint64_t *shared; /* for the result */
};

static int
no_conversation(int count, const struct pam_message **messages,
		struct pam_response **responses, void *data)
{
	(void)count, (void)messages, (void)data;
	*responses = NULL;
	return PAM_CONV_ERR;
}

/* Mean of the CALLS calls of one batch, in ns. */
static uint64_t
batch(const struct call_operations *operations, pam_handle_t *handle)
{
	const struct call_site site = { .handle = handle,
					.kind = KIND_CALL,
					.phase = PHASE_AUTHENTICATE,
					.marker = 1,
					.valid = VALID_MARKER };
	uint64_t start = emit_now();

	for (unsigned i = 0; i < CALLS; i++) {
		struct call_frame frame;

		operations->enter(&frame, &site);
		operations->leave(&frame, PAM_SUCCESS);
	}
	return (emit_now() - start) / CALLS;
}

static int
compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

/* In the child. The median: other processes may disturb some batches. */
static int
measure(void *context)
{
	struct calibration *calibration = context;
	const struct pam_conv conv = { no_conversation, NULL };
	char *path = alloc_format("%s/pamprof_resident.so", calibration->dir);
	void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct call_operations *operations =
	    object ? dlsym(object, CALL_OPERATIONS_NAME) : NULL;
	uint64_t means[BATCHES];
	pam_handle_t *handle;

	free(path);
	if (operations == NULL ||
	    operations->version != CALL_OPERATIONS_VERSION ||
	    operations->frame_size != sizeof(struct call_frame) ||
	    pam_start_confdir("empty", "nobody", &conv, calibration->dir,
			      &handle) != PAM_SUCCESS)
		return 1;
	for (unsigned i = 0; i < BATCHES; i++)
		means[i] = batch(operations, handle);
	pam_end(handle, PAM_SUCCESS);
	qsort(means, BATCHES, sizeof(means[0]), compare);
	*calibration->shared = means[BATCHES / 2];
	return 0;
}

/* A service without rules, which libpam accepts. */
static int
make_service(const char *dir, struct error *error)
{
	char *path = alloc_format("%s/empty", dir);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	int r = fd < 0 ? error_errno(error, "%s: cannot be made", path) : 0;

	if (fd >= 0)
		close(fd);
	free(path);
	return r;
}

static int
make_files(const char *dir, uint32_t options, struct error *error)
{
	char *ring = alloc_format("%s/ring", dir);
	struct shim_folder *shims = NULL;
	int r;

	if ((r = make_service(dir, error)) == 0 &&
	    (r = ring_make(ring, SLOTS, options, error)) == 0)
		r = shim_folder_new(&shims, dir, ring, error);
	shim_folder_free(shims);
	free(ring);
	return r;
}

int
calibrate_call(uint64_t *ns, const char *dir, uint32_t options,
	       struct error *error)
{
	struct calibration calibration = { .dir = dir };
	struct child_end end;
	struct child child;
	int r;

	*ns = 0;
	calibration.shared =
	    mmap(NULL, sizeof(*calibration.shared), PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (calibration.shared == MAP_FAILED)
		return error_errno(error, "no memory");
	if ((r = make_files(dir, options, error)) == 0 &&
	    (r = child_start(&child, CHILD_OWN_GROUP, measure, &calibration,
			     error)) == 0 &&
	    (r = child_wait(&child, LIMIT_NS, &end, error)) == 0) {
		if (end.how != CHILD_EXITED || end.value != 0)
			r = error_set(error, ERROR_SYSTEM,
				      "the calibration did not end well");
		else
			*ns = *calibration.shared;
	}
	munmap(calibration.shared, sizeof(*calibration.shared));
	return r;
}
