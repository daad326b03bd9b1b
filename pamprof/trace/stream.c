/*
 * The stream: inputs one after the other, slots verified and counted. It is
 * apart from segment.c, which reads one recording for one tree, because here
 * some hundred million slots have to pass: batches, no copy, no tree.
 */
#include "stream.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../modules/checksum.h"
#include "../base/alloc.h"
#include "../base/safe_file.h"
#include "segment.h"
#include "stream_files.h"
#include "stream_input.h"

/* Slots whose checksums are computed at once. */
#define AHEAD 16

struct stream {
	const struct stream_sink *sink;
	const struct stream_places *places;
	struct rule_map *map;
	struct ring_header header; /* of the ring now being read */
	bool any;                  /* header is set */
	uint64_t last;             /* generation of its last whole slot */
	uint64_t dropped;          /* as far as heads have said */
	uint64_t torn;             /* since last, in this file */
	bool first;                /* no slot of this file seen yet */
};

/* Another head: maybe the same ring in another file, maybe another ring. */
static void
take_head(struct stream *stream, const struct ring_header *header,
	  struct rule_map *map)
{
	bool same = stream->any && stream_one_ring(&stream->header, header);
	uint64_t dropped = atomic_load(&header->dropped);

	if (!same)
		stream->last = stream->dropped = 0;
	stream->header = *header;
	stream->any = true;
	stream->first = true;
	stream->torn = 0;
	if (dropped > stream->dropped) {
		stream->sink->loss->dropped += dropped - stream->dropped;
		stream->dropped = dropped;
	}
	stream->sink->head(stream->sink->context, header, map, same);
	rule_map_free(stream->map);
	stream->map = map;
}

/*
 * A slot out of turn: gaps inside a file were lost before it was written;
 * between two files they may be a file that was not named.
 */
static void
count_missing(struct stream *stream, uint64_t generation)
{
	uint64_t missing = generation - stream->last - 1;

	if (!stream->first && missing > stream->torn)
		stream->sink->loss->overwritten += missing - stream->torn;
	stream->torn = 0;
	stream->first = false;
}

static inline void
take_slot(struct stream *stream, const struct record *slot, uint64_t checksum)
{
	if (!slot->generation || slot->checksum != checksum) {
		stream->sink->loss->torn++;
		stream->torn++;
		return;
	}
	if (slot->generation <= stream->last)
		return; /* seen in another file */
	if (slot->generation != stream->last + 1 || stream->first)
		count_missing(stream, slot->generation);
	stream->last = slot->generation;
	stream->sink->take(stream->sink->context, slot);
}

/*
 * Slots up to another head; how many were taken. Checksums of a few slots
 * are computed in one go, because each of them is a chain of multiplications
 * that the processor can work on side by side.
 */
static size_t
take_slots(struct stream *stream, const struct record *slots, size_t count)
{
	uint64_t checksums[AHEAD];
	size_t done = 0;

	while (done < count) {
		size_t part = count - done < AHEAD ? count - done : AHEAD;

		for (size_t i = 0; i < part; i++)
			checksums[i] = record_checksum(&slots[done + i]);
		for (size_t i = 0; i < part; i++, done++) {
			if (stream_is_head(&slots[done]))
				return done;
			take_slot(stream, &slots[done], checksums[i]);
		}
	}
	return done;
}

/* The slots after a head, up to the next head or the end. */
static int
read_slots(struct stream *stream, struct stream_input *input,
	   struct error *error)
{
	const struct record *slots;
	size_t count, taken;
	int result;

	do {
		result = stream_input_slots(input, &slots, &count, error);
		if (result)
			return result;
		taken = take_slots(stream, slots, count);
		stream_input_skip(input, taken);
	} while (count && taken == count);
	if (stream_input_cut(input))
		stream->sink->loss->torn++;
	return 0;
}

static bool
at_end(struct stream_input *input)
{
	const struct record *slots;
	size_t count = 0;

	return stream_input_slots(input, &slots, &count, NULL) || count == 0;
}

static int
read_segments(struct stream *stream, const char *path, struct error *error)
{
	struct stream_input input;
	struct ring_header header;
	struct rule_map *map;
	int result = stream_input_open(&input, path, error);

	if (result)
		return result;
	do {
		result = stream_input_head(&input, &header, &map, error);
		if (!result && header.slot_count)
			result = error_set(error, ERROR_FORMAT,
					   "%s is a ring in use, name its file",
					   input.path);
		if (result)
			break;
		take_head(stream, &header, map);
		result = read_slots(stream, &input, error);
	} while (!result && !at_end(&input));
	stream_input_close(&input);
	return result;
}

/* ---- The ring in use ------------------------------------------------------ */

/* Moves the rules of one file of rules to map; a bad one is left out. */
static void
merge_map(struct rule_map *map, const char *path)
{
	struct buffer text = { 0 };
	struct rule_map *part = NULL;

	if (safe_file_read(path, LINKS_REFUSED, SEGMENT_MAP_MAX, &text, NULL) ==
		0 &&
	    rule_map_read(&part, text.data ? text.data : "", text.length,
			  NULL) == 0 &&
	    part->rules_count) {
		map->rules = alloc_array(map->rules,
					 map->rules_count + part->rules_count,
					 sizeof(*map->rules));
		memcpy(map->rules + map->rules_count, part->rules,
		       part->rules_count * sizeof(*part->rules));
		map->rules_count += part->rules_count;
		part->rules_count = 0;
	}
	rule_map_free(part);
	buffer_free(&text);
}

/* The rules of all services of this host. */
static struct rule_map *
read_maps(const char *folder)
{
	struct rule_map *map = alloc_zero(1, sizeof(*map));
	char *pattern = alloc_format("%s/*/map.json", folder);
	glob_t found;

	if (glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			merge_map(map, found.gl_pathv[i]);
		globfree(&found);
	}
	free(pattern);
	return map;
}

/* What the ring reader hands over has been verified. */
static void
take_ring_slot(void *context, const struct record *slot)
{
	struct stream *stream = context;

	if (slot->generation <= stream->last)
		return;
	stream->last = slot->generation;
	stream->sink->take(stream->sink->context, slot);
}

/*
 * Slots that segments have are read again from the ring and left out, so
 * that overwritten ones count only if no segment has them.
 */
static int
read_ring(struct stream *stream, const char *path, struct error *error)
{
	struct assembly_loss loss = { 0 };
	struct ring_reader *reader;
	int result = ring_reader_open(&reader, path, error);
	uint64_t known;

	if (result)
		return result;
	take_head(stream, ring_reader_header(reader),
		  read_maps(stream->places->maps));
	known = stream->last;
	ring_reader_drain(reader, false, &loss, take_ring_slot, stream);
	stream->sink->loss->torn += loss.torn;
	stream->sink->loss->nonsense += loss.nonsense;
	if (loss.overwritten > known)
		stream->sink->loss->overwritten += loss.overwritten - known;
	ring_reader_close(reader);
	return 0;
}

/* ---- All of them ---------------------------------------------------------- */

/* What lies where recordings lie. */
static int
add_places(struct stream_files *files, const struct stream_places *places,
	   struct error *error)
{
	int result = 0;

	if (access(places->segments, F_OK) == 0)
		result = stream_files_add(files, places->segments, error);
	if (!result && access(places->ring, F_OK) == 0)
		result = stream_files_add(files, places->ring, error);
	if (!result && files->count == 0)
		return error_set(error, ERROR_INPUT,
				 "nothing is recorded here: there is no ring "
				 "%s and no segment in %s; name a FILE",
				 places->ring, places->segments);
	return result;
}

int
stream_read(const char *const *paths, size_t count,
	    const struct stream_places *places, const struct stream_sink *sink,
	    struct error *error)
{
	struct stream stream = { .sink = sink, .places = places };
	struct stream_files files = { 0 };
	int result = 0;

	for (size_t i = 0; i < count && !result; i++)
		result = stream_files_add(&files, paths[i], error);
	if (count == 0)
		result = add_places(&files, places, error);
	stream_files_sort(&files);
	for (size_t i = 0; i < files.count && !result; i++) {
		const struct stream_file *file = &files.files[i];

		result = file->ring ? read_ring(&stream, file->path, error)
				    : read_segments(&stream, file->path, error);
	}
	if (sink->end)
		sink->end(sink->context);
	stream_files_free(&files);
	rule_map_free(stream.map);
	return result;
}
