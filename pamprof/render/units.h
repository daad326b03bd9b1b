/*
 * Numbers for people: times in a unit chosen once per table, with three
 * significant digits.
 */
#ifndef PAMPROF_RENDER_UNITS_H
#define PAMPROF_RENDER_UNITS_H

#include <stdint.h>

#include "../base/buffer.h"

/* One scale. */
struct unit {
	const char *name;
	uint64_t ns;    /* in one of it */
	uint64_t up_to; /* ns; beyond it the next unit is used */
};

/* The unit for a table whose largest value is ns. */
const struct unit *unit_for(uint64_t ns);

/*
 * Appends ns in that unit without its name: three significant digits, and
 * never more than decimals behind the point ("1530", "21.4", "0.021").
 */
void unit_number(struct buffer *out, uint64_t ns, const struct unit *unit,
		 unsigned decimals);

/* Appends a time that stands alone, with its unit: "1.30 s", "231 us". */
void unit_time(struct buffer *out, uint64_t ns);

/* Appends part of whole in per cent: "100", "85", "3.1", "0.02", "0". */
void unit_percent(struct buffer *out, uint64_t part, uint64_t whole);

#endif
