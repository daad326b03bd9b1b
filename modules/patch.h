/*
 * What the tool writes into copies of the two template objects: found by its
 * magic, exactly once in each file. See pamprof/source/pam_shim.c.
 */
#ifndef PAMPROF_PATCH_H
#define PAMPROF_PATCH_H

#include <stdint.h>

#define PATCH_SHIM_MAGIC     "pamprof shim 01"
#define PATCH_RESIDENT_MAGIC "pamprof ring 01"
#define PATCH_PATH           1024

/* In pam_timing.so. */
struct patch_shim {
	char magic[16];
	char real[PATCH_PATH];     /* absolute path of the real module */
	char resident[PATCH_PATH]; /* of pamprof_resident.so */
	char name[256];            /* the module as the configuration has it */
	uint32_t silent;           /* its first rule has the "-" prefix */
};

/* In pamprof_resident.so. */
struct patch_resident {
	char magic[16];
	char ring[PATCH_PATH];
};

#endif
