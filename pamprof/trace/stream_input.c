/*
 * The window on one input, and the heads met in it. Apart from stream.c,
 * which knows several inputs and not one byte of them.
 */
#include "stream_input.h"

#include <stdlib.h>
#include <string.h>

#include "../base/alloc.h"
#include "ring_file.h"
#include "segment.h"

/* Large enough to make reads cheap, small enough for the second cache. */
#define WINDOW (128u << 10)

int
stream_input_open(struct stream_input *input, const char *path,
		  struct error *error)
{
	int result;

	memset(input, 0, sizeof(*input));
	result = unpack_open(&input->unpack, path, error);
	if (result)
		return result;
	input->path = strcmp(path, "-") == 0 ? "the standard input" : path;
	input->window = aligned_alloc(4096, WINDOW);
	if (!input->window) {
		stream_input_close(input);
		return error_errno(error, "cannot read %s", path);
	}
	return 0;
}

void
stream_input_close(struct stream_input *input)
{
	unpack_close(input->unpack);
	free(input->window);
	memset(input, 0, sizeof(*input));
}

/* Moves what is left to the front and fills up the window. */
static int
refill(struct stream_input *input, struct error *error)
{
	size_t left = input->length - input->position;
	ssize_t got;

	if (input->ended)
		return 0;
	memmove(input->window, input->window + input->position, left);
	input->position = 0;
	input->length = left;
	got = unpack_read(input->unpack, input->window + left, WINDOW - left,
			  error);
	if (got < 0)
		return (int)got;
	input->ended = (size_t)got < WINDOW - left;
	input->length += (size_t)got;
	return 0;
}

int
stream_input_slots(struct stream_input *input, const struct record **slots,
		   size_t *count, struct error *error)
{
	int result = 0;

	if (input->length - input->position < RECORD_SIZE)
		result = refill(input, error);
	*slots = (const struct record *)(input->window + input->position);
	*count = (input->length - input->position) / RECORD_SIZE;
	return result;
}

void
stream_input_skip(struct stream_input *input, size_t slots)
{
	input->position += slots * RECORD_SIZE;
}

bool
stream_is_head(const struct record *slot)
{
	return memcmp(slot, RING_MAGIC, sizeof(RING_MAGIC) - 1) == 0;
}

/* Takes size bytes out; fewer are there only at the end: false. */
static int
take_bytes(struct stream_input *input, void *to, size_t size,
	   struct error *error)
{
	size_t done = 0;

	while (done < size) {
		size_t part = input->length - input->position;
		int result = part ? 0 : refill(input, error);

		if (result)
			return result;
		part = input->length - input->position;
		if (part == 0)
			return error_set(
			    error, ERROR_FORMAT,
			    "%s is too short for a recording of pamprof",
			    input->path);
		part = part < size - done ? part : size - done;
		memcpy((char *)to + done, input->window + input->position,
		       part);
		input->position += part;
		done += part;
	}
	return 0;
}

static int
read_map(struct stream_input *input, size_t size, struct rule_map **map,
	 struct error *error)
{
	char *text;
	int result;

	if (size > SEGMENT_MAP_MAX || size % RECORD_SIZE)
		return error_set(error, ERROR_FORMAT,
				 "%s says its rule map has %zu bytes, which "
				 "cannot be",
				 input->path, size);
	text = alloc_zero(1, size + 1);
	result = take_bytes(input, text, size, error);
	if (!result)
		result = rule_map_read(map, text, strlen(text), error);
	free(text);
	return result;
}

int
stream_input_head(struct stream_input *input, struct ring_header *header,
		  struct rule_map **map, struct error *error)
{
	char page[RING_HEADER_SIZE];
	int result = take_bytes(input, page, sizeof(page), error);

	*map = NULL;
	if (result)
		return result;
	memcpy(header, page, sizeof(*header));
	result = ring_header_check(header, input->path, error);
	if (result || header->slot_count)
		return result;
	return read_map(input, header->map_size, map, error);
}

bool
stream_input_cut(const struct stream_input *input)
{
	return input->ended &&
	       (input->position < input->length || unpack_cut(input->unpack));
}
