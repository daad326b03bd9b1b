/*
 * Rings seen from the tool: made, and drained while others write to them.
 * The format is pamprof-records(5).
 */
#ifndef PAMPROF_TRACE_RING_FILE_H
#define PAMPROF_TRACE_RING_FILE_H

#include <stdbool.h>

#include "../../modules/ring_header.h"
#include "../base/error.h"
#include "assemble.h"

/*
 * Makes a ring file of slots (a power of two) at path, mode 0600, owned by
 * the caller, preallocated; path must not exist, and does not afterwards if
 * it fails. options: enum ring_option.
 */
int ring_make(const char *path, uint64_t slots, uint32_t options,
	      struct error *error);

/*
 * Says what is wrong with a head that was read from path; 0 if it is one
 * of ours, with a version, byte order and slot size that this program knows.
 * A ring has slots (a power of two), a segment has none in its head.
 */
int ring_header_check(const struct ring_header *header, const char *path,
		      struct error *error);

/*
 * A ring being read, the position included. Only a regular file of the
 * caller's or root's, closed to others, is opened. On failure *reader is
 * NULL; else ring_reader_close() it.
 */
struct ring_reader;
int ring_reader_open(struct ring_reader **reader, const char *path,
		     struct error *error);
void ring_reader_close(struct ring_reader *reader);

/*
 * Calls take for each whole slot since the last call, in claim order, and
 * adds torn, overwritten and dropped ones to loss, and those that say they
 * started in the future to nonsense. A slot that is claimed but not closed
 * yet ends the call, unless final is set or it has been like that for a
 * second: then its writer died and it is torn.
 */
typedef void (*slot_taker)(void *context, const struct record *slot);
void ring_reader_drain(struct ring_reader *reader, bool final,
		       struct assembly_loss *loss, slot_taker take,
		       void *context);

/*
 * The head as it was at the last drain, for a segment's; it stays where it
 * is until the reader is closed.
 */
const struct ring_header *ring_reader_header(const struct ring_reader *reader);

#endif
