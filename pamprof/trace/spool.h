/*
 * Records kept in a file until what they refer to is known: a rule map that
 * grows while they arrive. Only for records of our own making; what comes
 * from elsewhere is read as a segment.
 */
#ifndef PAMPROF_TRACE_SPOOL_H
#define PAMPROF_TRACE_SPOOL_H

#include <stdio.h>

#include "ring_file.h"

struct spool;

/*
 * Sees each begin and end record once all its text slots are there, before
 * it is kept, with two of its strings whole, and may change its numbers.
 */
typedef void (*spool_edit)(void *context, struct record *record,
			   const char *service, const char *object);

/*
 * Makes an unnamed file in folder. On failure *spool is NULL; else
 * spool_free() it.
 */
int spool_make(struct spool **spool, const char *folder, spool_edit edit,
	       void *context, struct error *error);
void spool_free(struct spool *spool);

/* A slot_taker: takes the next slot of a ring. Errors are kept for later. */
void spool_take(void *spool, const struct record *slot);

/* Slots taken so far. */
uint64_t spool_count(const struct spool *spool);

/*
 * The end: nothing more is taken. Hands every slot to take, in order, and
 * writes it to out unless that is NULL. Returns 0, or ERROR_SYSTEM, also for
 * what could not be kept before.
 */
int spool_replay(struct spool *spool, slot_taker take, void *context, FILE *out,
		 struct error *error);

#endif
