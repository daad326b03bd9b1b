/*
 * Segments, that is slots in a file with the rule map that explains them:
 * written, and read as if an enemy had written them. The format is
 * pamprof-records(5).
 */
#ifndef PAMPROF_TRACE_SEGMENT_H
#define PAMPROF_TRACE_SEGMENT_H

#include <stdio.h>

#include "../base/error.h"
#include "ring_file.h"
#include "rule_map.h"

/* The largest rule map that is read. */
#define SEGMENT_MAP_MAX (16u << 20)

/*
 * Opens the file of --save, before anything is measured: what is there keeps
 * its content until a head is written. *out is NULL when path is, or on error.
 */
int segment_create(FILE **out, const char *path, struct error *error);

/*
 * Closes it; out may be NULL. Returns result, or an error when that is none
 * and the last of the file could not be written.
 */
int segment_close(FILE *out, const char *path, int result, struct error *error);

/*
 * Writes a segment's head; slots follow with fwrite(3). anchor, boot id,
 * host and dropped are ring's; written again over the first one when all
 * slots are there, it brings dropped up to date.
 */
int segment_write_head(FILE *out, const struct ring_header *ring,
		       const struct rule_map *map, struct error *error);

/* Reads the head alone: for clock.h, before or after the slots. */
int segment_read_head(const char *path, struct ring_header *header,
		      struct error *error);

/*
 * Reads a whole segment: the map (to be freed by the caller) first, then
 * every whole slot to the sink. *map is set before the first of them.
 * Damage inside is counted in its loss, and so are the slots that are missing
 * between two others and what the observers dropped. Damage to the head is
 * an error that says what is wrong, and *map is NULL.
 */
struct slot_sink {
	slot_taker take;
	void *context;
	struct assembly_loss *loss;
};
int segment_read(const char *path, struct rule_map **map,
		 const struct slot_sink *sink, struct error *error);

#endif
