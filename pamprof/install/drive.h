/*
 * Stacks driven with stub modules: do two of them decide alike?
 */
#ifndef PAMPROF_INSTALL_DRIVE_H
#define PAMPROF_INSTALL_DRIVE_H

#include <stddef.h>

#include "../base/error.h"

#define DRIVE_VECTORS 200

/* One of the two; confdir NULL: the real file of the service. */
struct drive_stack {
	const char *confdir, *service;
	unsigned base; /* of the markers that have results of their own */
};

/* Modules that the stub hides while real files are driven. */
struct drive_hidden {
	const char **paths;
	size_t count;
};

/* drive_compare() could not be done here. */
#define DRIVE_UNPROVEN 1

/*
 * Drives both with the same random result for each rule and function, and
 * compares values, order, flags and arguments of all calls and the verdict
 * of every phase, vectors times, in a child that sends nothing to the system
 * log or to the audit system. hidden (may be NULL): the stub is mounted over
 * these first, for that child alone; where that is not possible nothing is
 * driven. Returns 0 when they agree, DRIVE_UNPROVEN with the reason in
 * error, or an error.
 */
int drive_compare(const struct drive_stack *old, const struct drive_stack *new,
		  const struct drive_hidden *hidden, unsigned vectors,
		  struct error *error);

#endif
