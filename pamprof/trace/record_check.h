/*
 * Whether a slot can be what it says it is. Whoever can write to a ring can
 * write anything; what is impossible is refused here, one slot at a time.
 */
#ifndef PAMPROF_TRACE_RECORD_CHECK_H
#define PAMPROF_TRACE_RECORD_CHECK_H

#include <stdbool.h>

#include "../../modules/record.h"

/* Whether a whole slot, checksum verified, is a begin or end record. */
bool record_is_span(const struct record *slot);

/* Whether it is a text slot; NULL if not, or if its text is impossible. */
const struct record_text *record_as_text(const struct record *slot);

/*
 * Whether the fields of a begin or end record are possible: numbers in
 * range, version ours, start plus duration within 64 bits, ids in the order
 * in which they must have been claimed.
 */
bool record_is_possible(const struct record *slot);

/* The id of the span a begin or end record belongs to. */
uint64_t record_span(const struct record *slot);

#endif
