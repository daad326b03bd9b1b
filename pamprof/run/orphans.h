/*
 * Processes that modules started and left behind.
 */
#ifndef PAMPROF_RUN_ORPHANS_H
#define PAMPROF_RUN_ORPHANS_H

#include <stddef.h>
#include <sys/types.h>

/* Children that are none of the measurement's. All zero is none. */
struct orphans {
	pid_t *spared;
	size_t count;
};

/*
 * Makes this process inherit orphans among its descendants (prctl(2),
 * PR_SET_CHILD_SUBREAPER), and notes the children it has already.
 */
void orphans_expect(struct orphans *orphans);

/*
 * Kills and reaps every child that was not noted, and what they leave in
 * turn. To be called when no child of the measurement is wanted any more.
 * Does nothing where the kernel does not list children.
 */
void orphans_end(const struct orphans *orphans);

/* Stops inheriting, frees the list. */
void orphans_forget(struct orphans *orphans);

#endif
