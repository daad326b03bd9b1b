/*
 * Clocks and the anchor between them. Apart from the ring, because reports
 * over segments of other machines need the arithmetic and no ring.
 */
#include "clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define SECOND 1000000000ll

static int64_t
read_clock(clockid_t id)
{
	struct timespec now = { 0 };

	(void)clock_gettime(id, &now);
	return now.tv_sec * SECOND + now.tv_nsec;
}

uint64_t
clock_now(void)
{
	return (uint64_t)read_clock(CLOCK_MONOTONIC);
}

/*
 * The process may be put aside between two readings; the narrowest of a few
 * brackets is the truth to within its width.
 */
int64_t
clock_anchor(void)
{
	int64_t best = INT64_MAX, anchor = 0;

	for (int i = 0; i < 5; i++) {
		int64_t before = read_clock(CLOCK_MONOTONIC);
		int64_t wall = read_clock(CLOCK_REALTIME);
		int64_t after = read_clock(CLOCK_MONOTONIC);

		if (after - before >= best)
			continue;
		best = after - before;
		anchor = wall - (before + best / 2);
	}
	return anchor;
}

void
clock_boot_id(uint8_t id[16])
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	char text[40] = "";
	unsigned digits = 0;

	memset(id, 0, 16);
	if (!file)
		return;
	if (!fgets(text, sizeof(text), file))
		text[0] = 0;
	(void)fclose(file);
	for (const char *c = text; *c && digits < 32; c++) {
		const char *hex = "0123456789abcdef", *at = strchr(hex, *c);

		if (!at)
			continue;
		id[digits / 2] = (uint8_t)(id[digits / 2] << 4 | (at - hex));
		digits++;
	}
}

int64_t
clock_wall(const struct ring_header *header, uint64_t monotonic_ns)
{
	int64_t wall, since = INT64_MAX;

	if (monotonic_ns < INT64_MAX)
		since = (int64_t)monotonic_ns;
	if (__builtin_add_overflow(header->wall_anchor_ns, since, &wall))
		return INT64_MAX;
	return wall;
}

bool
clock_same_boot(const struct ring_header *a, const struct ring_header *b)
{
	static const uint8_t unknown[16];

	return memcmp(a->boot_id, unknown, sizeof(unknown)) != 0 &&
	       memcmp(a->boot_id, b->boot_id, sizeof(unknown)) == 0 &&
	       memcmp(a->host, b->host, sizeof(a->host)) == 0;
}

bool
clock_same_ring(const struct ring_header *a, const struct ring_header *b)
{
	return clock_same_boot(a, b) &&
	       a->transaction_base == b->transaction_base;
}
