/*
 * The report builder: whose time was it, and do the sums hold? Runs are made
 * by hand; every one of them is checked for exact sums as well.
 */
#include "../../pamprof/stat/report.h"

#include <security/pam_appl.h>
#include <stdlib.h>
#include <string.h>

#include "../../pamprof/base/alloc.h"
#include "../test.h"
#include "spans.h"

static const struct rule_words login[] = {
	{ "/etc/pam.d/login", 3, "auth", "required", "pam_slow.so", "" },
	{ "/etc/pam.d/common-auth", 17, "auth", "[success=1 default=ignore]",
	  "pam_unix.so", "nullok" },
	{ "/etc/pam.d/common-account", 9, "account", "required", "pam_unix.so",
	  "" },
	{ "/etc/pam.d/common-password", 25, "password", "requisite",
	  "pam_unix.so", "obscure" },
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static struct rule_map *
login_map(void)
{
	return map_new(login, COUNT(login));
}

static uint64_t
split_sum(const struct split *split)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < CATEGORY_COUNT; i++)
		sum += split->ns[i];
	return sum;
}

/* What every report must fulfil, to the nanosecond. */
static void
check_sums(const struct report *report)
{
	uint64_t phases = 0, shares;

	for (size_t i = 0; i < report->phases_count; i++) {
		const struct report_phase *phase = &report->phases[i];

		phases += phase->median_wall;
		CU_ASSERT_EQUAL(phase->median_modules + phase->median_self,
				phase->median_wall);
		CU_ASSERT_EQUAL(split_sum(&phase->median_split),
				phase->median_wall);
		CU_ASSERT_EQUAL(split_sum(&phase->self_split),
				phase->median_self);
	}
	for (size_t i = 0; i < report->rules_count; i++)
		CU_ASSERT_EQUAL(split_sum(&report->rules[i].median_split),
				report->rules[i].median_wall);
	shares = report->load_ns + report->start_ns + report->end_ns +
		 report->remainder;
	CU_ASSERT_EQUAL(phases + report->median_outside, report->median_wall);
	CU_ASSERT_EQUAL(shares, report->median_outside);
}

/* Builds, checks the sums, frees the runs. */
static struct report *
build(const struct rule_map *map, struct span **roots, size_t count)
{
	struct report *report = report_of(map, roots, count);

	for (size_t i = 0; i < count; i++)
		span_free(roots[i]);
	check_sums(report);
	return report;
}

static void
give_back(struct report *report, struct rule_map *map)
{
	report_free(report);
	rule_map_free(map);
}

/* A login of 100 ms and what a slow module adds. */
static struct span *
a_run(uint64_t slow)
{
	struct span *run =
	    span_new(NULL, KIND_RUN, PHASE_NONE, 100 * MS + slow);
	struct span *phase, *call;

	phase = span_new(run, KIND_PHASE, PHASE_START, 10 * MS);
	span_pause(phase, 1 * MS);
	span_new(phase, KIND_LOAD, PHASE_START, 2 * MS);
	span_new(phase, KIND_LOAD, PHASE_START, 3 * MS);
	span_pause(run, 5 * MS);
	phase = span_new(run, KIND_PHASE, PHASE_AUTHENTICATE, 50 * MS + slow);
	span_cpu(phase, 21 * MS);
	call = span_call(phase, 1, slow, PAM_SUCCESS);
	span_cpu(call, 0);
	call = span_call(phase, 2, 40 * MS, PAM_SUCCESS);
	span_cpu(call, 20 * MS);
	phase = span_new(run, KIND_PHASE, PHASE_ACCT_MGMT, 20 * MS);
	span_call(phase, 3, 15 * MS, PAM_SUCCESS);
	span_new(run, KIND_PHASE, PHASE_END, 5 * MS);
	return run;
}

static void
one_run(void)
{
	struct rule_map *map = login_map();
	struct span *root = a_run(0);
	struct report *report = build(map, &root, 1);

	CU_ASSERT_EQUAL(report->runs, 1);
	CU_ASSERT_EQUAL(report->median_wall, 100 * MS);
	CU_ASSERT_EQUAL(report->median_outside, 30 * MS);
	CU_ASSERT_EQUAL(report->load_ns, 5 * MS);
	CU_ASSERT_EQUAL(report->start_ns, 5 * MS);
	CU_ASSERT_EQUAL(report->end_ns, 5 * MS);
	CU_ASSERT_EQUAL(report->remainder, 15 * MS);
	CU_ASSERT_EQUAL(report->phases_count, 2);
	CU_ASSERT_EQUAL(report->phases[0].phase, PHASE_AUTHENTICATE);
	CU_ASSERT_EQUAL(report->phases[0].median_self, 10 * MS);
	CU_ASSERT_EQUAL(report->phases[0].self_split.ns[CATEGORY_CPU], MS);
	CU_ASSERT_EQUAL(report->rules_count, 3);
	CU_ASSERT_EQUAL(report->rules[1].median_wall, 40 * MS);
	CU_ASSERT_EQUAL(report->rules[1].median_split.ns[CATEGORY_CPU],
			20 * MS);
	CU_ASSERT_EQUAL(report->rules[1].median_split.ns[CATEGORY_OTHER],
			20 * MS);
	CU_ASSERT_DOUBLE_EQUAL(report->rules[1].share, 0.4, 1e-9);
	CU_ASSERT_EQUAL(report->calls, 3);
	CU_ASSERT_EQUAL(report->overhead_total, 930);
	CU_ASSERT_FALSE(report->denied);
	give_back(report, map);
}

static void
median_run_is_the_lower_one(void)
{
	struct rule_map *map = login_map();
	struct span *roots[] = { a_run(400 * MS), a_run(0), a_run(200 * MS),
				 a_run(100 * MS) };
	struct report *report = build(map, roots, 4);

	CU_ASSERT_EQUAL(report->runs, 4);
	CU_ASSERT_EQUAL(report->median_wall, 200 * MS);
	CU_ASSERT_EQUAL(report->wall.median, 200 * MS);
	CU_ASSERT_EQUAL(report->wall.max, 500 * MS);
	CU_ASSERT_EQUAL(report->rules[0].median_wall, 100 * MS);
	CU_ASSERT_EQUAL(report->rules[0].wall.n, 4);
	CU_ASSERT_EQUAL(report->rules[0].wall.max, 400 * MS);
	CU_ASSERT_DOUBLE_EQUAL(report->rules[0].share, 700. / 1100, 1e-9);
	CU_ASSERT_EQUAL(report->phases[0].wall.n, 4);
	CU_ASSERT_EQUAL(report->phases[0].wall.max, 450 * MS);
	give_back(report, map);
}

/* A failed authentication of 2.1 s whose module took 0.1 s. */
static struct span *
a_refusal(enum record_phase phase, int verdict, uint64_t cpu)
{
	struct span *run = span_new(NULL, KIND_RUN, PHASE_NONE, 2100 * MS);
	struct span *span = span_new(run, KIND_PHASE, phase, 2100 * MS);

	span->record.result = verdict;
	span_cpu(span, cpu);
	span_cpu(span_call(span, 2, 100 * MS, verdict), 0);
	return run;
}

static uint64_t
deliberate(enum record_phase phase, int verdict, uint64_t cpu)
{
	struct rule_map *map = login_map();
	struct span *root = a_refusal(phase, verdict, cpu);
	struct report *report = build(map, &root, 1);
	uint64_t ns = report->phases[0].self_split.ns[CATEGORY_DELIBERATE];

	CU_ASSERT_EQUAL(report->denied, verdict != PAM_SUCCESS);
	give_back(report, map);
	return ns;
}

static void
fail_delay(void)
{
	CU_ASSERT_EQUAL(deliberate(PHASE_AUTHENTICATE, PAM_AUTH_ERR, 0),
			2000 * MS);
	CU_ASSERT_EQUAL(deliberate(PHASE_AUTHENTICATE, PAM_AUTH_ERR, 2 * MS),
			1998 * MS);
	CU_ASSERT_EQUAL(deliberate(PHASE_CHAUTHTOK, PAM_AUTHTOK_ERR, 0),
			2000 * MS);
	/* Busy, granted, or a call that has no delay: not known to be one. */
	CU_ASSERT_EQUAL(deliberate(PHASE_AUTHENTICATE, PAM_AUTH_ERR, 1000 * MS),
			0);
	CU_ASSERT_EQUAL(deliberate(PHASE_AUTHENTICATE, PAM_SUCCESS, 0), 0);
	CU_ASSERT_EQUAL(deliberate(PHASE_ACCT_MGMT, PAM_ACCT_EXPIRED, 0), 0);
}

static void
conversation_is_human(void)
{
	struct rule_map *map = login_map();
	struct span *run = span_new(NULL, KIND_RUN, PHASE_NONE, 100 * MS);
	struct span *phase =
	    span_new(run, KIND_PHASE, PHASE_AUTHENTICATE, 100 * MS);
	struct span *call = span_call(phase, 2, 100 * MS, PAM_SUCCESS);
	struct report *report;
	const struct split *split;

	span_pause(call, 5 * MS);
	/* A prompt, and a notice: both are the application's time. */
	span_new(call, KIND_CONVERSATION, PHASE_NONE, 60 * MS)->record.prompts =
	    1;
	span_new(call, KIND_CONVERSATION, PHASE_NONE, 10 * MS);
	/* More CPU than there is time left: clocks differ a little. */
	span_cpu(call, 31 * MS);
	report = build(map, &run, 1);
	split = &report->rules[0].median_split;
	CU_ASSERT_EQUAL(report->rules[0].prompts, 1);
	CU_ASSERT_EQUAL(split->ns[CATEGORY_HUMAN], 70 * MS);
	CU_ASSERT_EQUAL(split->ns[CATEGORY_CPU], 30 * MS);
	CU_ASSERT_EQUAL(split->ns[CATEGORY_OTHER], 0);
	give_back(report, map);
}

static void
prompts_timed_by_the_shim(void)
{
	struct rule_map *map = login_map();
	struct span *run = span_new(NULL, KIND_RUN, PHASE_NONE, 100 * MS);
	struct span *phase =
	    span_new(run, KIND_PHASE, PHASE_AUTHENTICATE, 100 * MS);
	struct span *call = span_call(phase, 2, 100 * MS, PAM_SUCCESS);
	struct report *report;

	call->record.valid |= VALID_CONVERSATION;
	call->record.prompt_ns = 60 * MS;
	call->record.prompts = 1;
	report = build(map, &run, 1);
	CU_ASSERT_EQUAL(report->rules[0].prompts, 1);
	CU_ASSERT_EQUAL(report->rules[0].median_split.ns[CATEGORY_HUMAN],
			60 * MS);
	give_back(report, map);
}

static void
nested_call_counts_once(void)
{
	struct rule_map *map = login_map();
	struct span *run = span_new(NULL, KIND_RUN, PHASE_NONE, 100 * MS);
	struct span *phase =
	    span_new(run, KIND_PHASE, PHASE_AUTHENTICATE, 100 * MS);
	struct span *call = span_call(phase, 1, 90 * MS, PAM_SUCCESS);
	struct report *report;

	call->record.phase = PHASE_AUTHENTICATE;
	span_call(call, 2, 70 * MS, PAM_SUCCESS);
	report = build(map, &run, 1);
	CU_ASSERT_TRUE(report->nested);
	CU_ASSERT_EQUAL(report->phases[0].median_modules, 90 * MS);
	CU_ASSERT_EQUAL(report->rules[0].median_wall, 90 * MS);
	CU_ASSERT_EQUAL(report->rules[0].median_own, 20 * MS);
	CU_ASSERT_EQUAL(report->rules[1].median_wall, 70 * MS);
	CU_ASSERT_EQUAL(report->rules[1].median_own, 70 * MS);
	CU_ASSERT_DOUBLE_EQUAL(report->rules[0].share, 0.2, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(report->rules[1].share, 0.7, 1e-9);
	give_back(report, map);
}

static void
chauthtok_has_two_passes(void)
{
	struct rule_map *map = login_map();
	struct span *run = span_new(NULL, KIND_RUN, PHASE_NONE, 100 * MS);
	struct span *phase =
	    span_new(run, KIND_PHASE, PHASE_CHAUTHTOK, 100 * MS);
	struct span *call;
	struct report *report;

	span_pause(phase, 1 * MS);
	call = span_call(phase, 4, 20 * MS, PAM_SUCCESS);
	call->record.phase = PHASE_CHAUTHTOK_PRELIM;
	span_pause(phase, 4 * MS);
	call = span_call(phase, 4, 50 * MS, PAM_AUTHTOK_ERR);
	call->record.phase = PHASE_CHAUTHTOK_UPDATE;
	phase->record.result = PAM_AUTHTOK_ERR;
	report = build(map, &run, 1);
	CU_ASSERT_EQUAL(report->phases_count, 2);
	CU_ASSERT_EQUAL(report->phases[0].phase, PHASE_CHAUTHTOK_PRELIM);
	CU_ASSERT_EQUAL(report->phases[0].median_wall, 25 * MS);
	CU_ASSERT_EQUAL(report->phases[0].median_self, 5 * MS);
	CU_ASSERT_EQUAL(report->phases[0].verdict, PAM_SUCCESS);
	CU_ASSERT_EQUAL(report->phases[1].phase, PHASE_CHAUTHTOK_UPDATE);
	CU_ASSERT_EQUAL(report->phases[1].median_wall, 75 * MS);
	CU_ASSERT_EQUAL(report->phases[1].verdict, PAM_AUTHTOK_ERR);
	CU_ASSERT_EQUAL(report->rules_count, 2);
	give_back(report, map);
}

static void
setcred_that_deletes(void)
{
	struct rule_map *map = login_map();
	struct span *run = span_new(NULL, KIND_RUN, PHASE_NONE, 10 * MS);
	struct span *phase = span_new(run, KIND_PHASE, PHASE_SETCRED, 5 * MS);
	struct report *report;

	span_call(phase, 2, 5 * MS, PAM_SUCCESS);
	phase = span_new(run, KIND_PHASE, PHASE_SETCRED, 5 * MS);
	phase->record.flags = PAM_DELETE_CRED;
	span_call(phase, 2, 5 * MS, PAM_SUCCESS);
	report = build(map, &run, 1);
	CU_ASSERT_EQUAL(report->phases_count, 2);
	CU_ASSERT_EQUAL(report->phases[1].phase, PHASE_DELETE_CRED);
	CU_ASSERT_EQUAL(report->rules_count, 2);
	CU_ASSERT_EQUAL(report->rules[1].phase, PHASE_DELETE_CRED);
	give_back(report, map);
}

/* The process dies in a module: the time up to then is the module's. */
static void
crash_in_a_module(void)
{
	struct rule_map *map = login_map();
	struct span *run = span_new(NULL, KIND_RUN, PHASE_NONE, 100 * MS);
	struct span *phase =
	    span_new(run, KIND_PHASE, PHASE_AUTHENTICATE, 100 * MS);
	struct span *call;
	struct report *report;

	span_call(phase, 1, 30 * MS, PAM_SUCCESS);
	call = span_call(phase, 2, 0, 0);
	span_break(span_new(call, KIND_CONVERSATION, PHASE_NONE, 0));
	span_break(call);
	span_break(phase);
	run->record.outcome = OUTCOME_SIGNAL;
	run->record.result = 11;
	report = build(map, &run, 1);
	CU_ASSERT_TRUE(report->denied);
	CU_ASSERT_EQUAL(report->failures_count, 1);
	CU_ASSERT_EQUAL(report->failures[0].run, 1);
	CU_ASSERT_EQUAL(report->failures[0].outcome, OUTCOME_SIGNAL);
	CU_ASSERT_EQUAL(report->failures[0].result, 11);
	CU_ASSERT_EQUAL(report->failures[0].phase, PHASE_AUTHENTICATE);
	CU_ASSERT_PTR_EQUAL(report->failures[0].rule, &map->rules[1]);
	CU_ASSERT_FALSE(report->phases[0].verdict_known);
	CU_ASSERT_EQUAL(report->rules[1].unfinished, 1);
	CU_ASSERT_EQUAL(report->rules[1].median_wall, 70 * MS);
	give_back(report, map);
}

/* trace without phases: a module that fits no rule, time in between. */
static void
calls_without_phases(void)
{
	struct rule_map *map = login_map();
	struct span *root = span_new(NULL, 0, PHASE_NONE, 0);
	struct span *call;
	struct report *report;

	root->record.duration_ns = 1000 * MS;
	call = span_new(root, KIND_CALL, PHASE_AUTHENTICATE, 40 * MS);
	call->record.valid = VALID_MARKER;
	call->record.marker = 2;
	span_pause(root, 10 * MS);
	call = span_new(root, KIND_CALL, PHASE_AUTHENTICATE, 30 * MS);
	free(call->object);
	call->object = alloc_string("/opt/pam_strange.so");
	span_pause(root, 500 * MS);
	span_new(root, KIND_CALL, PHASE_ACCT_MGMT, 20 * MS);
	report = build(map, &root, 1);
	CU_ASSERT_TRUE(report->transactions);
	CU_ASSERT_EQUAL(report->median_wall, 100 * MS);
	CU_ASSERT_EQUAL(report->application_ns, 500 * MS);
	CU_ASSERT_EQUAL(report->phases_count, 2);
	CU_ASSERT_EQUAL(report->phases[0].median_wall, 80 * MS);
	CU_ASSERT_EQUAL(report->phases[0].median_self, 10 * MS);
	CU_ASSERT_FALSE(report->phases[0].verdict_known);
	CU_ASSERT_EQUAL(report->rules_count, 3);
	CU_ASSERT_PTR_EQUAL(report->rules[0].rule, &map->rules[1]);
	CU_ASSERT_PTR_NULL(report->rules[1].rule);
	CU_ASSERT_STRING_EQUAL(report->rules[1].label, "/opt/pam_strange.so");
	give_back(report, map);
}

static void
nothing_was_recorded(void)
{
	struct rule_map *map = login_map();
	struct report *report = build(map, NULL, 0);

	CU_ASSERT_EQUAL(report->runs, 0);
	CU_ASSERT_EQUAL(report->median_wall, 0);
	give_back(report, map);
}

static uint64_t
chance(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

/* A tree in which nothing fits: overlaps, overruns, wrong kinds. */
static void
grow_nonsense(struct span *parent, unsigned depth, uint64_t *state)
{
	for (uint64_t i = chance(state) % 5; i && depth < 5; i--) {
		struct span *span =
		    span_new(parent, chance(state) % 7, chance(state) % 14,
			     chance(state) % MS);

		span->record.start_ns -= chance(state) % MS;
		if (chance(state) % 16 == 0)
			span->record.start_ns = chance(state) << 33;
		if (chance(state) % 16 == 0)
			span->record.duration_ns = UINT64_MAX;
		span->record.valid = chance(state) % 16;
		span->record.marker = chance(state) % 6;
		span->record.cpu_ns = chance(state) % (2 * MS);
		span->record.prompt_ns = chance(state) % (2 * MS);
		span->record.outcome = chance(state) % 6;
		span->record.result = (int)chance(state) % 40 - 4;
		span->unfinished = chance(state) % 8 == 0;
		grow_nonsense(span, depth + 1, state);
	}
}

static void
sums_hold_for_nonsense(void)
{
	struct rule_map *map = login_map();
	uint64_t state = 42;

	for (unsigned i = 0; i < 2000; i++) {
		struct span *roots[3];

		for (unsigned j = 0; j < 3; j++) {
			roots[j] = span_new(NULL, chance(&state) % 2, 0,
					    chance(&state) % (5 * MS));
			roots[j]->unfinished = chance(&state) % 8 == 0;
			grow_nonsense(roots[j], 0, &state);
		}
		report_free(build(map, roots, 3));
	}
	rule_map_free(map);
}

static void
names(void)
{
	CU_ASSERT_STRING_EQUAL(report_pam_name(0), "PAM_SUCCESS");
	CU_ASSERT_STRING_EQUAL(report_pam_name(7), "PAM_AUTH_ERR");
	CU_ASSERT_STRING_EQUAL(report_pam_name(31), "PAM_INCOMPLETE");
	CU_ASSERT_STRING_EQUAL(report_pam_name(32), "PAM_32");
	CU_ASSERT_STRING_EQUAL(report_pam_name(-1), "PAM_-1");
	for (int i = 0; i < 32; i++)
		CU_ASSERT_PTR_NOT_NULL(report_pam_name(i));
	for (int i = 0; i < PHASE_COUNT; i++)
		CU_ASSERT_PTR_NOT_NULL(report_phase_name(i));
	for (int i = 0; i < CATEGORY_COUNT; i++)
		CU_ASSERT_PTR_NOT_NULL(report_category_name(i));
	CU_ASSERT_STRING_EQUAL(report_phase_name(99), "none");
	CU_ASSERT_STRING_EQUAL(report_phase_group(PHASE_DELETE_CRED), "auth");
}

void
report_tests(void)
{
	static const struct test_row rows[] = {
		{ "one run", one_run },
		{ "median run is the lower one", median_run_is_the_lower_one },
		{ "fail delay", fail_delay },
		{ "conversation is human", conversation_is_human },
		{ "prompts timed by the shim", prompts_timed_by_the_shim },
		{ "nested call counts once", nested_call_counts_once },
		{ "chauthtok has two passes", chauthtok_has_two_passes },
		{ "setcred that deletes", setcred_that_deletes },
		{ "crash in a module", crash_in_a_module },
		{ "calls without phases", calls_without_phases },
		{ "nothing was recorded", nothing_was_recorded },
		{ "sums hold for nonsense", sums_hold_for_nonsense },
		{ "names", names },
	};

	TEST_SUITE("report", rows);
}
