/*
 * Bytes of a file as they were before somebody compressed it.
 */
#ifndef PAMPROF_TRACE_UNPACK_H
#define PAMPROF_TRACE_UNPACK_H

#include <stdbool.h>
#include <sys/types.h>

#include "../base/error.h"

struct unpack;

/*
 * Opens a regular file, or the standard input if path is "-". What it is
 * (gzip, zstd, or neither) is told from its first bytes. On failure *unpack
 * is NULL and the code ERROR_INPUT or ERROR_SYSTEM; else unpack_close() it.
 */
int unpack_open(struct unpack **unpack, const char *path, struct error *error);
void unpack_close(struct unpack *unpack);

/*
 * Reads size bytes, fewer only at the end; returns how many, or an error
 * code. A compressed file that stops in the middle just ends: see below.
 */
ssize_t unpack_read(struct unpack *unpack, void *to, size_t size,
		    struct error *error);

/* Whether the end that was met came too early. */
bool unpack_cut(const struct unpack *unpack);

#endif
