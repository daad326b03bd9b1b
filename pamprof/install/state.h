/*
 * The journal: what has been begun and what is in place, one entry for each
 * service that was ever touched and is not forgotten yet. It is written
 * before each step, so that whoever comes after a kill knows what to finish.
 */
#ifndef PAMPROF_INSTALL_STATE_H
#define PAMPROF_INSTALL_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "atomic.h"

/* How far a service is; in this order. */
enum state_step {
	STEP_PREPARING, /* folders are being filled; its file is untouched */
	STEP_SWITCHING, /* its file is the original or ours */
	STEP_ACTIVE,    /* its file is ours */
	STEP_RESTORING, /* its file is what "replaced" says, or the original */
	STEP_RETIRED    /* the original; folders go after the grace period */
};

/* A file that was copied, with its checksum then. */
struct state_include {
	char *path, sum[CHECKSUM_TEXT];
};

struct state_entry {
	char *service;
	char *file; /* the one that is rewritten, links resolved */
	unsigned seq;
	enum state_step step;
	char original[CHECKSUM_TEXT], installed[CHECKSUM_TEXT],
	    replaced[CHECKSUM_TEXT];
	int64_t since, until, retired; /* CLOCK_REALTIME, s; 0: none */
	unsigned options;              /* of the ring */
	unsigned wrapped, left;        /* rules */
	char *timer;                   /* what ends it in time, or NULL */
	struct state_include *includes;
	size_t includes_count;
};

struct state {
	unsigned next; /* SEQ for the next service */
	struct state_entry *entries;
	size_t count;
};

/*
 * Reads the journal; a missing one is empty. *state is NULL on failure, else
 * to be freed with state_free().
 */
int state_read(struct state **state, struct error *error);
void state_free(struct state *state);

/* Writes it, atomically. */
int state_write(const struct state *state, struct error *error);

/* Adds an empty entry; pointers to others are void afterwards. */
struct state_entry *state_add(struct state *state, const char *service);

/* Forgets one; those behind it move. */
void state_remove(struct state *state, struct state_entry *entry);

/* The entry of a service that is not retired, or NULL. */
struct state_entry *state_find(const struct state *state, const char *service);

/* Records that a file was copied. */
void state_include(struct state_entry *entry, const char *path,
		   const struct buffer *bytes);

#endif
