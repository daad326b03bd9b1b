/*
 * Which files a stream reads, and in which order. Only for trace/stream*.c.
 */
#ifndef PAMPROF_TRACE_STREAM_FILES_H
#define PAMPROF_TRACE_STREAM_FILES_H

#include <stdbool.h>

#include "../../modules/ring_header.h"
#include "../base/error.h"

struct stream_file {
	char *path;
	bool ring, standard; /* in use; "-" */
	struct ring_header header;
	uint64_t first; /* generation of its first slot */
};

/* All zero is empty. */
struct stream_files {
	struct stream_file *files;
	size_t count, size;
};

/*
 * Adds a file, or the .seg, .seg.gz and .seg.zst files of a folder; its head
 * is read. Files of a folder that cannot be read are warned of.
 */
int stream_files_add(struct stream_files *files, const char *path,
		     struct error *error);

/* By ring, each in the order of its slots; a ring in use is its end. */
void stream_files_sort(struct stream_files *files);
void stream_files_free(struct stream_files *files);

/* Whether both heads are of one ring. */
bool stream_one_ring(const struct ring_header *a, const struct ring_header *b);

#endif
