/*
 * Distributions, computed exactly from kept samples: a harness makes few
 * enough of them, and a p99 that is a bucket's edge is no p99. Apart from
 * the report so that it can be tested against figures worked out by hand.
 */
#include "distribution.h"

#include <stdlib.h>
#include <string.h>

#include "../base/alloc.h"

void
samples_add(struct samples *samples, uint64_t ns)
{
	if (samples->count == samples->size) {
		samples->size = samples->size ? samples->size * 2 : 8;
		samples->ns = alloc_array(samples->ns, samples->size,
					  sizeof(*samples->ns));
	}
	samples->ns[samples->count++] = ns;
}

void
samples_free(struct samples *samples)
{
	free(samples->ns);
	memset(samples, 0, sizeof(*samples));
}

static int
ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Nearest rank: the smallest sample with percent % of them at or below it. */
static uint64_t
percentile(const struct samples *sorted, unsigned percent)
{
	size_t whole = sorted->count / 100, rest = sorted->count % 100;
	size_t rank = whole * percent + (rest * percent + 99) / 100;

	return sorted->ns[rank ? rank - 1 : 0];
}

/*
 * Adds quotients and remainders apart, so that samples near 2^64 (a hostile
 * recording has them) cannot overflow the sum.
 */
static uint64_t
rounded_mean(const struct samples *samples)
{
	uint64_t n = samples->count, mean = 0, rest = 0;

	for (size_t i = 0; i < n; i++) {
		mean += samples->ns[i] / n;
		rest += samples->ns[i] % n;
		if (rest >= n) {
			rest -= n;
			mean++;
		}
	}
	return mean + (rest >= n - rest ? 1 : 0);
}

void
distribution_of(struct distribution *out, struct samples *samples)
{
	memset(out, 0, sizeof(*out));
	if (samples->count == 0)
		return;
	qsort(samples->ns, samples->count, sizeof(*samples->ns), ascending);
	out->n = samples->count;
	out->min = samples->ns[0];
	out->max = samples->ns[samples->count - 1];
	out->median = samples->ns[(samples->count - 1) / 2];
	out->mean = rounded_mean(samples);
	out->p95 = percentile(samples, 95);
	out->p99 = percentile(samples, 99);
}
