/*
 * A span's records: begin, end, and the text slots either may own.
 */
#ifndef PAMPROF_EMIT_H
#define PAMPROF_EMIT_H

#include <time.h>

#include "ring.h"

/* Strings of a span, by enum record_field; NULL where there is none. */
struct emit_texts {
	const char *field[FIELD_OBJECT + 1];
};

/*
 * Writes the begin record: kind, phase and the like are the caller's, ids,
 * strings and record->span are set here. texts may be NULL. Returns false,
 * and record->span is 0, when nothing can be recorded now.
 */
bool emit_begin(struct record *record, const struct emit_texts *texts);

/*
 * Writes the end record of a span begun with emit_begin(), or, when
 * record->span is 0, of one that has no begin and gets its id here.
 */
void emit_end(struct record *record, const struct emit_texts *texts);

/* CLOCK_MONOTONIC in ns, through the vDSO. */
static inline uint64_t
emit_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
