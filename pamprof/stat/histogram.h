/*
 * Distributions of any number of samples in bounded memory: bins whose width
 * grows with the value.
 */
#ifndef PAMPROF_STAT_HISTOGRAM_H
#define PAMPROF_STAT_HISTOGRAM_H

#include "report.h"

/* Each power of two is cut into 2 ^ HISTOGRAM_BITS bins of one width. */
#define HISTOGRAM_BITS    6
#define HISTOGRAM_OCTAVES (64 - HISTOGRAM_BITS + 1)

/*
 * A quantile is off by half a bin at most: this part of the true one, or
 * nothing below 2 ^ (HISTOGRAM_BITS + 1) ns. Number, least, mean and greatest
 * are exact.
 */
#define HISTOGRAM_ERROR (1.0 / (2 << HISTOGRAM_BITS))

/* All zero is empty. */
struct histogram {
	uint64_t n, min, max, sum;            /* sum: cut to 64 bits */
	uint64_t *octaves[HISTOGRAM_OCTAVES]; /* NULL: nothing in it */
};

/* Adds a sample in ns. */
void histogram_add(struct histogram *histogram, uint64_t ns);

/*
 * Summarises it, with quantiles as distribution_of() has them: the lower
 * median, and nearest rank for p95 and p99.
 */
void histogram_summary(struct distribution *out,
		       const struct histogram *histogram);

/* Frees the memory and leaves an empty one. */
void histogram_free(struct histogram *histogram);

#endif
