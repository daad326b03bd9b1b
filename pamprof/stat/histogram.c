/*
 * Log-linear bins. They are apart from distribution.c, which keeps every
 * sample: a run has thousands of them, a month of logins has billions. Bins
 * of one power of two are one block, made when the first sample falls into
 * it, so that a typical group takes a few KiB.
 */
#include "histogram.h"

#include <stdlib.h>
#include <string.h>

#include "../base/alloc.h"

#define BINS (1u << HISTOGRAM_BITS)

/* Octave 0 has the values below BINS, octave o those from BINS << (o - 1). */
static unsigned
octave_of(uint64_t ns)
{
	return ns < BINS ? 0
			 : 64u - HISTOGRAM_BITS - (unsigned)__builtin_clzll(ns);
}

void
histogram_add(struct histogram *histogram, uint64_t ns)
{
	unsigned octave = octave_of(ns);
	unsigned bin = (unsigned)(ns >> (octave ? octave - 1 : 0)) & (BINS - 1);

	if (!histogram->octaves[octave])
		histogram->octaves[octave] = alloc_zero(BINS, sizeof(uint64_t));
	histogram->octaves[octave][bin]++;
	if (histogram->n == 0 || ns < histogram->min)
		histogram->min = ns;
	if (ns > histogram->max)
		histogram->max = ns;
	histogram->n++;
	histogram->sum += ns;
	if (histogram->sum < ns)
		histogram->sum = UINT64_MAX;
}

/* The middle of a bin, or all of it where a bin is one value. */
static uint64_t
middle_of(unsigned octave, unsigned bin)
{
	unsigned shift = octave ? octave - 1 : 0;
	uint64_t first = (uint64_t)(octave ? BINS + bin : bin) << shift;

	return first + (shift ? (uint64_t)1 << (shift - 1) : 0);
}

/* The sample of that rank, from 1; within the bounds that are known. */
static uint64_t
at_rank(const struct histogram *histogram, uint64_t rank)
{
	uint64_t seen = 0, value;

	for (unsigned o = 0; o < HISTOGRAM_OCTAVES; o++) {
		if (!histogram->octaves[o])
			continue;
		for (unsigned b = 0; b < BINS; b++) {
			seen += histogram->octaves[o][b];
			if (seen < rank)
				continue;
			value = middle_of(o, b);
			if (value < histogram->min)
				return histogram->min;
			return value > histogram->max ? histogram->max : value;
		}
	}
	return histogram->max;
}

/* Smallest rank that at least per cent of the samples do not exceed. */
static uint64_t
rank_of(uint64_t n, unsigned per_cent)
{
	return n / 100 * per_cent + (n % 100 * per_cent + 99) / 100;
}

void
histogram_summary(struct distribution *out, const struct histogram *histogram)
{
	uint64_t n = histogram->n;

	memset(out, 0, sizeof(*out));
	if (n == 0)
		return;
	out->n = n;
	out->min = histogram->min;
	out->max = histogram->max;
	out->mean = histogram->sum / n + (histogram->sum % n >= n - n / 2);
	out->median = at_rank(histogram, n / 2 + n % 2);
	out->p95 = at_rank(histogram, rank_of(n, 95));
	out->p99 = at_rank(histogram, rank_of(n, 99));
}

void
histogram_free(struct histogram *histogram)
{
	for (unsigned o = 0; o < HISTOGRAM_OCTAVES; o++)
		free(histogram->octaves[o]);
	memset(histogram, 0, sizeof(*histogram));
}
