/*
 * Makes shims: copies of the pam_timing template for real modules, and of
 * the resident object for a ring. No compiler is needed; see pam_timing(8).
 */
#ifndef PAMPROF_SOURCE_PAM_SHIM_H
#define PAMPROF_SOURCE_PAM_SHIM_H

#include "pam_conf.h"

struct shim_folder;

/*
 * Begins a folder of shims at dir, which must exist and be empty, all of
 * which record into the ring at ring_path: writes dir/pamprof_resident.so.
 * Templates come from the modules folder (base/places.h). Free *folder with
 * shim_folder_free(), which removes nothing.
 */
int shim_folder_new(struct shim_folder **folder, const char *dir,
		    const char *ring_path, struct error *error);
void shim_folder_free(struct shim_folder *folder);

/*
 * A pam_shim_for (pam_rewrite.h); context is the folder. The first request
 * for a module loads it in a throw-away process, to see that it can be loaded
 * and what it exports, and writes dir/N/NAME, N so that two modules with one
 * base name are kept apart. NULL, with rule->problem set, when the module
 * cannot be loaded or the shim not be made.
 */
const char *shim_folder_shim(void *folder, struct pam_rule *rule);

/* Number of shims made. */
size_t shim_folder_count(const struct shim_folder *folder);

#endif
