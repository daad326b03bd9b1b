/*
 * Exact distributions of samples that are all kept.
 */
#ifndef PAMPROF_STAT_DISTRIBUTION_H
#define PAMPROF_STAT_DISTRIBUTION_H

#include "report.h"

/* Samples in ns as they come; all zero is empty. */
struct samples {
	uint64_t *ns;
	size_t count, size;
};

/* Keeps one; samples_free() leaves an empty one. */
void samples_add(struct samples *samples, uint64_t ns);
void samples_free(struct samples *samples);

/*
 * Sorts the samples and summarises them: median is the lower median, p95 and
 * p99 are nearest-rank, mean is rounded half up.
 */
void distribution_of(struct distribution *out, struct samples *samples);

#endif
