/*
 * The resident object (pamprof_resident.so): opened by every shim by its
 * absolute path, so that a process has one mapping of the ring however many
 * shims it loads, and never unloaded (-z nodelete), so that a conversation
 * function of ours stays valid when the shims are gone. One copy of it is
 * made for each ring; the tool writes the ring's path into it.
 */
#include "call.h"
#include "patch.h"

static const struct patch_resident patch
    __attribute__((used)) = { .magic = PATCH_RESIDENT_MAGIC };

static const struct call_pam pam = { pam_get_item, pam_get_data, pam_set_data };

static void
enter(struct call_frame *frame, const struct call_site *site)
{
	call_enter(frame, &pam, site);
}

static void
leave(struct call_frame *frame, int result)
{
	call_leave(frame, &pam, result);
}

__attribute__((visibility("default")))
const struct call_operations pamprof_operations = {
	.version = CALL_OPERATIONS_VERSION,
	.frame_size = sizeof(struct call_frame),
	.enter = enter,
	.leave = leave,
	.loaded = call_loaded
};

__attribute__((constructor)) static void
start(void)
{
	/* Through a volatile pointer: the path is written in after linking. */
	const struct patch_resident *volatile patched = &patch;

	call_prepare();
	ring_attach(patched->ring);
}
