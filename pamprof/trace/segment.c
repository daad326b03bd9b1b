/*
 * Segments. A segment is data from an enemy: its size, its map and its
 * slots are read piece by piece into memory of our own (a mapping could be
 * shortened under us), and nothing in it decides how much memory is taken
 * beyond SEGMENT_MAP_MAX.
 */
#include "segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../modules/checksum.h"
#include "../base/alloc.h"
#include "../base/safe_file.h"

/* Slots read at once. */
#define BATCH 256

static const char padding[RING_HEADER_SIZE];

int
segment_create(FILE **out, const char *path, struct error *error)
{
	int fd, r;

	*out = NULL;
	if (path == NULL)
		return 0;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
	if (fd < 0)
		return error_errno(error, "%s", path);
	*out = fdopen(fd, "w");
	if (*out != NULL)
		return 0;
	r = error_errno(error, "%s", path);
	close(fd);
	return r;
}

int
segment_close(FILE *out, const char *path, int result, struct error *error)
{
	if (out != NULL && fclose(out) != 0 && result >= 0)
		return error_errno(error, "%s", path);
	return result;
}

int
segment_write_head(FILE *out, const struct ring_header *ring,
		   const struct rule_map *map, struct error *error)
{
	struct ring_header header = *ring;
	struct buffer text = { 0 };
	size_t pad;
	bool done;

	rule_map_write(&text, map);
	pad = -text.length % RECORD_SIZE;
	header.slot_count = 0;
	header.map_size = text.length + pad;
	atomic_store(&header.head, 0);
	atomic_store(&header.transactions, 0);
	errno = 0;
	done =
	    fwrite(&header, sizeof(header), 1, out) == 1 &&
	    fwrite(padding, RING_HEADER_SIZE - sizeof(header), 1, out) == 1 &&
	    fwrite(text.data, 1, text.length, out) == text.length &&
	    fwrite(padding, 1, pad, out) == pad;
	buffer_free(&text);
	return done ? 0 : error_errno(error, "cannot write the recording");
}

/*
 * Reads exactly size bytes unless the file ends before; returns how many,
 * or -1 with errno set.
 */
static ssize_t
read_fully(int fd, void *to, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t part = read(fd, (char *)to + done, size - done);

		if (part == 0)
			break;
		if (part < 0 && errno == EINTR)
			continue;
		if (part < 0)
			return -1;
		done += (size_t)part;
	}
	return (ssize_t)done;
}

/* Opens a segment and reads its first page; the descriptor, or an error. */
static int
open_segment(const char *path, struct ring_header *header, struct error *error)
{
	char page[RING_HEADER_SIZE];
	int fd = safe_file_open(path, LINKS_FOLLOWED, SIZE_MAX / 2, error);
	int result;
	ssize_t got;

	if (fd < 0)
		return fd;
	got = read_fully(fd, page, sizeof(page));
	if (got < 0)
		result = error_errno(error, "cannot read %s", path);
	else if (got < RING_HEADER_SIZE)
		result = error_set(error, ERROR_FORMAT,
				   "%s is too short for a recording of pamprof",
				   path);
	else {
		memcpy(header, page, sizeof(*header));
		result = ring_header_check(header, path, error);
	}
	if (!result && header->slot_count)
		result =
		    error_set(error, ERROR_FORMAT,
			      "%s is a ring in use, not a recording", path);
	if (!result)
		return fd;
	(void)close(fd);
	return result;
}

int
segment_read_head(const char *path, struct ring_header *header,
		  struct error *error)
{
	int fd = open_segment(path, header, error);

	if (fd < 0)
		return fd;
	(void)close(fd);
	return 0;
}

static int
read_map(int fd, const char *path, size_t size, struct rule_map **map,
	 struct error *error)
{
	struct stat status;
	char *text;
	ssize_t got;
	int result;

	if (size > SEGMENT_MAP_MAX || size % RECORD_SIZE ||
	    fstat(fd, &status) ||
	    (uint64_t)status.st_size < RING_HEADER_SIZE + size)
		return error_set(error, ERROR_FORMAT,
				 "%s says its rule map has %zu bytes, which "
				 "cannot be",
				 path, size);
	text = alloc_zero(1, size + 1);
	got = read_fully(fd, text, size);
	if (got == (ssize_t)size)
		result = rule_map_read(map, text, strlen(text), error);
	else
		result =
		    error_errno(error, "cannot read the rule map of %s", path);
	free(text);
	return result;
}

/* What is known while going through the slots. */
struct reading {
	const struct slot_sink *sink;
	uint64_t generation, torn; /* of the last whole slot; torn since */
};

/*
 * Slots are in the order of their claims. What is missing in between was
 * lost before this file was written, if it was not torn inside it.
 */
static void
count_missing(struct reading *reading, uint64_t generation)
{
	uint64_t last = reading->generation, missing = 0;

	if (last && generation > last)
		missing = generation - last - 1;
	if (missing > reading->torn)
		reading->sink->loss->overwritten += missing - reading->torn;
	reading->generation = generation;
	reading->torn = 0;
}

static void
take_slot(struct reading *reading, const struct record *slot)
{
	if (!slot->generation || slot->checksum != record_checksum(slot)) {
		reading->sink->loss->torn++;
		reading->torn++;
		return;
	}
	count_missing(reading, slot->generation);
	reading->sink->take(reading->sink->context, slot);
}

static int
read_slots(int fd, const char *path, struct reading *reading,
	   struct error *error)
{
	struct record *batch = alloc_zero(BATCH, sizeof(*batch));
	ssize_t got;

	do {
		got = read_fully(fd, batch, BATCH * sizeof(*batch));
		for (ssize_t i = 0; i < got / RECORD_SIZE; i++)
			take_slot(reading, &batch[i]);
		/* The file ends in the middle of a slot. */
		if (got > 0 && got % RECORD_SIZE)
			reading->sink->loss->torn++;
	} while (got == BATCH * RECORD_SIZE);
	free(batch);
	return got < 0 ? error_errno(error, "cannot read %s", path) : 0;
}

int
segment_read(const char *path, struct rule_map **map,
	     const struct slot_sink *sink, struct error *error)
{
	struct reading reading = { .sink = sink };
	struct ring_header header;
	int fd, result;

	*map = NULL;
	fd = open_segment(path, &header, error);
	if (fd < 0)
		return fd;
	result = read_map(fd, path, header.map_size, map, error);
	if (!result) {
		sink->loss->dropped += atomic_load(&header.dropped);
		result = read_slots(fd, path, &reading, error);
	}
	if (result) {
		rule_map_free(*map);
		*map = NULL;
	}
	(void)close(fd);
	return result;
}
