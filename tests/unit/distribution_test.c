/*
 * Distributions against figures worked out by hand.
 */
#include "../../pamprof/stat/distribution.h"

#include "../test.h"

static struct distribution
of(const uint64_t *ns, size_t count)
{
	struct samples samples = { 0 };
	struct distribution d;

	for (size_t i = 0; i < count; i++)
		samples_add(&samples, ns[i]);
	distribution_of(&d, &samples);
	samples_free(&samples);
	return d;
}

static void
nothing_is_all_zero(void)
{
	struct distribution d = of(NULL, 0);

	CU_ASSERT_EQUAL(d.n, 0);
	CU_ASSERT_EQUAL(d.min, 0);
	CU_ASSERT_EQUAL(d.max, 0);
	CU_ASSERT_EQUAL(d.p99, 0);
}

static void
one_sample_is_everything(void)
{
	struct distribution d = of((uint64_t[]){ 7 }, 1);

	CU_ASSERT_EQUAL(d.n, 1);
	CU_ASSERT_EQUAL(d.min, 7);
	CU_ASSERT_EQUAL(d.median, 7);
	CU_ASSERT_EQUAL(d.mean, 7);
	CU_ASSERT_EQUAL(d.p95, 7);
	CU_ASSERT_EQUAL(d.p99, 7);
	CU_ASSERT_EQUAL(d.max, 7);
}

static void
median_is_the_lower_one(void)
{
	CU_ASSERT_EQUAL(of((uint64_t[]){ 9, 1 }, 2).median, 1);
	CU_ASSERT_EQUAL(of((uint64_t[]){ 9, 1, 5 }, 3).median, 5);
	CU_ASSERT_EQUAL(of((uint64_t[]){ 9, 1, 5, 3 }, 4).median, 3);
}

static void
mean_is_rounded(void)
{
	CU_ASSERT_EQUAL(of((uint64_t[]){ 1, 2 }, 2).mean, 2);
	CU_ASSERT_EQUAL(of((uint64_t[]){ 1, 1, 2 }, 3).mean, 1);
	CU_ASSERT_EQUAL(of((uint64_t[]){ 1, 2, 2 }, 3).mean, 2);
}

static void
huge_samples_do_not_overflow(void)
{
	uint64_t most = UINT64_MAX;

	CU_ASSERT_EQUAL(of((uint64_t[]){ most, most, most }, 3).mean, most);
	CU_ASSERT_EQUAL(of((uint64_t[]){ most, most - 2 }, 2).mean, most - 1);
}

/* 1 to n, backwards: a percentile is then its own rank. */
static void
percentiles_are_nearest_rank(void)
{
	static const struct {
		size_t n;
		uint64_t p95, p99;
	} rows[] = {
		{ 1, 1, 1 },      { 10, 10, 10 },    { 19, 19, 19 },
		{ 20, 19, 20 },   { 21, 20, 21 },    { 100, 95, 99 },
		{ 101, 96, 100 }, { 200, 190, 198 }, { 1000, 950, 990 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct samples samples = { 0 };
		struct distribution d;

		for (size_t n = rows[i].n; n; n--)
			samples_add(&samples, n);
		distribution_of(&d, &samples);
		samples_free(&samples);
		CU_ASSERT_EQUAL(d.p95, rows[i].p95);
		CU_ASSERT_EQUAL(d.p99, rows[i].p99);
	}
}

void
distribution_tests(void)
{
	static const struct test_row rows[] = {
		{ "nothing is all zero", nothing_is_all_zero },
		{ "one sample is everything", one_sample_is_everything },
		{ "median is the lower one", median_is_the_lower_one },
		{ "mean is rounded", mean_is_rounded },
		{ "huge samples", huge_samples_do_not_overflow },
		{ "percentiles are nearest-rank",
		  percentiles_are_nearest_rank },
	};

	TEST_SUITE("distribution", rows);
}
