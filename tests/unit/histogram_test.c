/*
 * The bins of histograms against all samples kept: the stated error bound
 * holds for every quantile, and what is said to be exact is.
 */
#include "../test.h"

#include <stdlib.h>
#include <string.h>

#include "../../pamprof/stat/distribution.h"
#include "../../pamprof/stat/histogram.h"

static uint64_t state = 88172645463325252u;

static uint64_t
draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void
near(uint64_t found, uint64_t wanted)
{
	uint64_t off = found > wanted ? found - wanted : wanted - found;

	if (wanted < 2u << HISTOGRAM_BITS)
		CU_ASSERT_EQUAL(off, 0);
	CU_ASSERT((double)off <= (double)wanted * HISTOGRAM_ERROR);
}

/* Compares both summaries of the samples, and frees them. */
static void
compare(struct histogram *histogram, struct samples *samples)
{
	struct distribution found, wanted;

	histogram_summary(&found, histogram);
	distribution_of(&wanted, samples);
	CU_ASSERT_EQUAL(found.n, wanted.n);
	CU_ASSERT_EQUAL(found.min, wanted.min);
	CU_ASSERT_EQUAL(found.max, wanted.max);
	near(found.median, wanted.median);
	near(found.p95, wanted.p95);
	near(found.p99, wanted.p99);
	if (wanted.max < UINT64_MAX / 4096)
		CU_ASSERT_EQUAL(found.mean, wanted.mean);
	histogram_free(histogram);
	samples_free(samples);
}

static void
random_samples(void)
{
	CU_ASSERT(HISTOGRAM_ERROR <= 0.01);
	for (unsigned round = 0; round < 3000; round++) {
		struct histogram histogram = { 0 };
		struct samples samples = { 0 };
		unsigned count = 1 + (unsigned)(draw() % 400);
		unsigned least = (unsigned)(draw() % 64);

		for (unsigned i = 0; i < count; i++) {
			/* All magnitudes, or some, or one. */
			uint64_t ns = draw() >> (least + draw() % (64 - least));

			histogram_add(&histogram, ns);
			samples_add(&samples, ns);
		}
		compare(&histogram, &samples);
	}
}

/* Both sides of every power of two, and of every bin near it. */
static void
edges(void)
{
	for (unsigned bit = 0; bit < 64; bit++)
		for (int off = -3; off <= 3; off++) {
			struct histogram histogram = { 0 };
			struct samples samples = { 0 };
			uint64_t ns = ((uint64_t)1 << bit) + (uint64_t)off;

			histogram_add(&histogram, ns);
			samples_add(&samples, ns);
			histogram_add(&histogram, 0);
			samples_add(&samples, 0);
			histogram_add(&histogram, UINT64_MAX);
			samples_add(&samples, UINT64_MAX);
			compare(&histogram, &samples);
		}
}

static void
nothing(void)
{
	struct histogram histogram = { 0 };
	struct distribution found, zero;

	memset(&zero, 0, sizeof(zero));
	histogram_summary(&found, &histogram);
	CU_ASSERT_EQUAL(memcmp(&found, &zero, sizeof(zero)), 0);
	histogram_free(&histogram);
}

static const struct test_row rows[] = {
	{ "random samples stay within the bound", random_samples },
	{ "edges of bins", edges },
	{ "no sample", nothing },
};

void histogram_tests(void);

void
histogram_tests(void)
{
	TEST_SUITE("histogram", rows);
}
