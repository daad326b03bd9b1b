/*
 * Memory for a password: the only place in the tool where one is kept, and
 * the only one where it is wiped.
 */
#ifndef PAMPROF_BASE_SECRET_H
#define PAMPROF_BASE_SECRET_H

#include <stddef.h>

#include "error.h"

/* All zero is none. data ends with a zero byte that length does not count. */
struct secret {
	char *data;
	size_t length, size;
};

/*
 * Makes room for size bytes and the zero in pages of their own: left out of
 * core dumps, locked against swapping where RLIMIT_MEMLOCK allows it.
 * Returns 0 or ERROR_SYSTEM with data NULL.
 */
int secret_open(struct secret *secret, size_t size, struct error *error);

/*
 * Reads fd to its end, straight into the pages. A secret that is longer than
 * the room is ERROR_INPUT. The secret is wiped on failure.
 */
int secret_read(struct secret *secret, int fd, struct error *error);

/* The same to the first newline, which is not kept: a terminal's answer. */
int secret_read_line(struct secret *secret, int fd, struct error *error);

/* Overwrites and unmaps it; an empty secret is fine. */
void secret_wipe(struct secret *secret);

/* Overwrites a copy that somebody else's interface made us take. */
void secret_wipe_string(char *text);

#endif
