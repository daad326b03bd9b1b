/*
 * Same verdicts, same surroundings: random stacks under random scripts, bare
 * and wrapped, must leave the same trace. Seeds are fixed, so a failure
 * repeats; to look at one seed, set PAMPROF_SEED.
 */
#include "../test.h"

#include <stdlib.h>

#include "stack_differ.h"

#define CHUNK       1000
#define CHUNK_FAST  150
#define FAILURES    3 /* shown in full for each chunk */
#define REFUSED_MAX 5 /* percent of the stacks */

static unsigned
compare_chunk(struct stack_differ *differ, uint64_t first, unsigned count)
{
	unsigned failures = 0;

	for (unsigned i = 0; i < count && failures < FAILURES; i++) {
		struct stack_outcome outcome;
		struct stack_case stack;

		stack_generate(&stack, first + i, &differ->places);
		stack_differ_run(differ, &stack, &outcome);
		if (!outcome.equal) {
			failures++;
			stack_differ_shrink(differ, &stack);
			stack_differ_report(differ, &stack);
		}
		stack_outcome_free(&outcome);
		stack_case_free(&stack);
	}
	return failures;
}

static void
chunk(unsigned number)
{
	const char *wanted = getenv("PAMPROF_SEED");
	unsigned count = test_fast() ? CHUNK_FAST : CHUNK;
	uint64_t first = 1 + (uint64_t)number * CHUNK;
	struct stack_differ differ;

	if (wanted != NULL) {
		first = strtoull(wanted, NULL, 10);
		count = number == 0;
	}
	CU_ASSERT_EQUAL_FATAL(stack_differ_start(&differ, SIDE_WRAPPED), 0);
	CU_ASSERT_EQUAL(compare_chunk(&differ, first, count), 0);
	if (count > 1) {
		CU_ASSERT(differ.wrapped_rules > 2 * differ.other_rules);
		CU_ASSERT(differ.refused * 100 <= count * REFUSED_MAX);
		/* Equal because much was done, not because nothing was. */
		CU_ASSERT(stack_ring_slots(differ.ring) > count);
		CU_ASSERT(stack_ring_slots(differ.audit_ring) > count);
	}
	stack_differ_stop(&differ);
}

static void
other_side(enum stack_side side)
{
	struct stack_differ differ;

	CU_ASSERT_EQUAL_FATAL(stack_differ_start(&differ, side), 0);
	CU_ASSERT_EQUAL(compare_chunk(&differ, 1, CHUNK_FAST), 0);
	stack_differ_stop(&differ);
}

/* The method itself: two bare runs never differ. */
static void
bare_equals_bare(void)
{
	other_side(SIDE_BARE);
}

static void
without_extras(void)
{
	other_side(SIDE_PLAIN);
}

static void
without_ring(void)
{
	other_side(SIDE_NO_RING);
}

static void
without_resident(void)
{
	other_side(SIDE_ALONE);
}

/* A row for each, so that a failure says which seeds to look at. */
#define CHUNK_TEST(n)                                                          \
	static void stacks_##n(void)                                           \
	{                                                                      \
		chunk(n);                                                      \
	}

/* clang-format off */
CHUNK_TEST(0) CHUNK_TEST(1) CHUNK_TEST(2) CHUNK_TEST(3) CHUNK_TEST(4)
CHUNK_TEST(5) CHUNK_TEST(6) CHUNK_TEST(7) CHUNK_TEST(8) CHUNK_TEST(9)
    /* clang-format on */

    void differ_tests(void)
{
	static const struct test_row rows[] = {
		{ "two bare runs are equal", bare_equals_bare },
		{ "no CPU times, no conversation", without_extras },
		{ "no ring", without_ring },
		{ "no resident object", without_resident },
		{ "stacks from seed 1", stacks_0 },
		{ "stacks from seed 1001", stacks_1 },
		{ "stacks from seed 2001", stacks_2 },
		{ "stacks from seed 3001", stacks_3 },
		{ "stacks from seed 4001", stacks_4 },
		{ "stacks from seed 5001", stacks_5 },
		{ "stacks from seed 6001", stacks_6 },
		{ "stacks from seed 7001", stacks_7 },
		{ "stacks from seed 8001", stacks_8 },
		{ "stacks from seed 9001", stacks_9 },
	};

	test_external(TEST_SUITE("differ", rows));
}
