/*
 * Rings and segments as files: made, drained, written, and read as if an
 * enemy had written them. The format is pamprof-records(5).
 */
#ifndef PAMPROF_TRACE_SEGMENT_H
#define PAMPROF_TRACE_SEGMENT_H

#include <stdio.h>

#include "../../modules/ring_header.h"
#include "../base/error.h"
#include "assemble.h"
#include "rule_map.h"

/*
 * Makes a ring file of slots (a power of two) at path, mode 0600, owned by
 * the caller, preallocated; path must not exist. options: enum ring_option.
 */
int ring_make(const char *path, uint64_t slots, uint32_t options,
	      struct error *error);

/* A ring being read, the position included. */
struct ring_reader;
int ring_reader_open(struct ring_reader **reader, const char *path,
		     struct error *error);
void ring_reader_close(struct ring_reader *reader);

/*
 * Calls take for each whole slot since the last call, in claim order, and
 * adds torn, overwritten and dropped ones to loss. A slot that is claimed
 * but not closed yet ends the call, unless final is set: then it is torn.
 */
typedef void (*slot_taker)(void *context, const struct record *slot);
void ring_reader_drain(struct ring_reader *reader, bool final,
		       struct assembly_loss *loss, slot_taker take,
		       void *context);

/* Copies the header (anchor, boot id, host) for a segment's head. */
const struct ring_header *ring_reader_header(const struct ring_reader *reader);

/* Writes a segment's head; slots follow with fwrite(3). */
int segment_write_head(FILE *out, const struct ring_header *ring,
		       const struct rule_map *map, struct error *error);

/*
 * Reads a whole segment: the map (to be freed by the caller) first, then
 * every whole slot to take. Damage inside is counted in loss, damage to the
 * head is an error that says what is wrong.
 */
int segment_read(const char *path, struct rule_map **map,
		 struct assembly_loss *loss, slot_taker take, void *context,
		 struct error *error);

#endif
