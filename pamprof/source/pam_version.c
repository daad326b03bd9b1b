/*
 * The version of libpam. Separate because it is found without calling it.
 */
#include "pam_version.h"

#include <dlfcn.h>
#include <limits.h>
#include <security/pam_appl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../base/alloc.h"

char *
pam_version(void)
{
	char path[PATH_MAX];
	const char *slash;
	Dl_info info;

	if (dladdr((const void *)(uintptr_t)pam_end, &info) == 0 ||
	    info.dli_fname == NULL || realpath(info.dli_fname, path) == NULL)
		return alloc_string("unknown");
	slash = strrchr(path, '/');
	return alloc_string(slash != NULL ? slash + 1 : path);
}
