/*
 * Scales as data and one way of rounding. All in integers, so that 999.6 ms
 * becomes 1.00 s and not 1000 ms, on every machine alike.
 */
#include "units.h"

#include <string.h>

#define SECOND 1000000000u
#define HOUR   (3600ull * SECOND)

/*
 * Up to four digits before the point: 1530 ms can be compared with the 0.021
 * below it in a table. The last row takes everything.
 */
static const struct unit table_units[] = {
	{ "ns", 1, 9999 },
	{ "us", 1000, 9999ull * 1000 },
	{ "ms", 1000000, 9999ull * 1000000 },
	{ "s", SECOND, 9999ull * SECOND },
	{ "h", HOUR, UINT64_MAX },
};

/* Alone, a time has one to three digits before the point. */
static const struct unit lone_units[] = {
	{ "ns", 1, 999 },
	{ "us", 1000, 999499 },
	{ "ms", 1000000, 999499999 },
	{ "s", SECOND, 9999ull * SECOND },
	{ "h", HOUR, UINT64_MAX },
};

static const struct unit *
find(const struct unit *unit, uint64_t ns)
{
	while (ns > unit->up_to)
		unit++;
	return unit;
}

const struct unit *
unit_for(uint64_t ns)
{
	return find(table_units, ns);
}

/*
 * Appends part / whole rounded half up to three significant digits. The
 * widest product is 2^64 * 10^decimals, hence the wide type.
 */
static void
quotient(struct buffer *out, uint64_t part, uint64_t whole, unsigned decimals)
{
	static const unsigned powers[] = { 1, 10, 100, 1000, 10000 };
	unsigned __int128 scaled;
	unsigned digits = 0;
	uint64_t value;

	while (digits < decimals && digits < 4 &&
	       (unsigned __int128)part * powers[digits] <
		   (unsigned __int128)whole * 100)
		digits++;
	scaled = (unsigned __int128)part * powers[digits];
	value = (scaled + whole / 2) / whole;
	/* 9.996 was given two decimals and became 10.00. */
	if (digits && value >= 1000) {
		digits--;
		value = (value + 5) / 10;
	}
	for (uint64_t step = 1; digits == 0 && value / step >= 1000;) {
		step *= 10;
		value = (value + step / 2) / step * step;
	}
	if (value == 0)
		digits = 0; /* nothing, or next to it, looks one way */
	buffer_format(out, "%llu",
		      (unsigned long long)(value / powers[digits]));
	if (digits)
		buffer_format(out, ".%0*llu", (int)digits,
			      (unsigned long long)(value % powers[digits]));
}

void
unit_number(struct buffer *out, uint64_t ns, const struct unit *unit,
	    unsigned decimals)
{
	if (ns == 0 || unit->ns == 1)
		decimals = 0;
	quotient(out, ns, unit->ns, decimals);
}

void
unit_time(struct buffer *out, uint64_t ns)
{
	const struct unit *unit = find(lone_units, ns);

	unit_number(out, ns, unit, 2);
	buffer_format(out, " %s", unit->name);
}

void
unit_percent(struct buffer *out, uint64_t part, uint64_t whole)
{
	if (part == 0 || whole == 0) {
		buffer_char(out, '0');
		return;
	}
	if (part <= UINT64_MAX / 100)
		part *= 100;
	else
		whole /= 100;
	/* 99.96 % of something is not all of it, but 100 reads better. */
	quotient(out, part, whole, part / whole >= 10 ? 0 : 1);
}
