/*
 * One input of a stream: an unpacked file, looked at through a window. Only
 * for trace/stream*.c.
 */
#ifndef PAMPROF_TRACE_STREAM_INPUT_H
#define PAMPROF_TRACE_STREAM_INPUT_H

#include "../../modules/ring_header.h"
#include "rule_map.h"
#include "unpack.h"

/* All zero is closed. */
struct stream_input {
	const char *path;
	struct unpack *unpack;
	char *window;
	size_t position, length;
	bool ended;
};

/* Opens it; nothing is read yet. */
int stream_input_open(struct stream_input *input, const char *path,
		      struct error *error);
void stream_input_close(struct stream_input *input);

/*
 * The whole slots now in the window (*count of them, 0 at the end), reading
 * more if there is none. They are good until the next call; those used must
 * be passed to stream_input_skip().
 */
int stream_input_slots(struct stream_input *input, const struct record **slots,
		       size_t *count, struct error *error);
void stream_input_skip(struct stream_input *input, size_t slots);

/* Whether a slot is not one but the beginning of another segment's head. */
bool stream_is_head(const struct record *slot);

/*
 * Reads a head and its map, checked; *map is to be freed by the caller. A
 * ring's head (slot_count is not 0) comes with *map NULL.
 */
int stream_input_head(struct stream_input *input, struct ring_header *header,
		      struct rule_map **map, struct error *error);

/* Bytes of an unfinished slot or of a cut compressed file at the end. */
bool stream_input_cut(const struct stream_input *input);

#endif
