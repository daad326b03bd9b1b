/*
 * The report as it grows: rows for phases and rules, the figures of every
 * run, and at the end the choice of the median run and the distributions.
 * Whose time it was is decided in measure.c.
 */
#include "builder.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include <security/pam_modules.h>

#include "../base/alloc.h"

/*
 * Distinct values kept for one rule. PAM has 32; only a forged recording has
 * more, and it shall not make us slow.
 */
#define RESULTS_LIMIT 64

/* Row of a module that fits no rule, found by phase and path. */
struct label_row {
	char *key;
	uint32_t row;
	UT_hash_handle hh;
};

static const char *const phase_groups[PHASE_COUNT] = {
	[PHASE_AUTHENTICATE] = "auth",
	[PHASE_SETCRED] = "auth",
	[PHASE_DELETE_CRED] = "auth",
	[PHASE_ACCT_MGMT] = "account",
	[PHASE_OPEN_SESSION] = "session",
	[PHASE_CLOSE_SESSION] = "session",
	[PHASE_CHAUTHTOK_PRELIM] = "password",
	[PHASE_CHAUTHTOK_UPDATE] = "password",
	[PHASE_CHAUTHTOK] = "password",
};

const char *
report_phase_group(enum record_phase phase)
{
	return phase < PHASE_COUNT && phase_groups[phase] ? phase_groups[phase]
							  : "";
}

struct report_builder *
report_builder_new(const struct rule_map *map)
{
	struct report_builder *builder = alloc_zero(1, sizeof(*builder));

	builder->map = map;
	builder->rule_index =
	    alloc_zero(map->rules_count + 1, PHASE_COUNT * sizeof(uint32_t));
	return builder;
}

enum record_phase
builder_phase_of(const struct record *record)
{
	if (record->phase == PHASE_SETCRED && record->flags & PAM_DELETE_CRED)
		return PHASE_DELETE_CRED;
	return record->phase < PHASE_COUNT ? record->phase : PHASE_NONE;
}

uint32_t
builder_phase(struct report_builder *builder, enum record_phase phase)
{
	uint32_t *index = &builder->phase_index[phase];

	if (*index == 0) {
		builder->phases[builder->phases_count].phase.phase = phase;
		*index = ++builder->phases_count;
	}
	return *index - 1;
}

const struct map_rule *
builder_find_rule(const struct report_builder *builder, const struct span *call)
{
	/* trace has matched modules and arguments with rules before. */
	if (!(call->record.valid & VALID_MARKER) || !call->record.marker)
		return NULL;
	return rule_map_find(builder->map, call->record.marker);
}

static uint32_t
add_rule(struct report_builder *builder, enum record_phase phase,
	 const struct map_rule *rule, const char *label)
{
	struct rule_row *row;

	if (builder->rules_count == builder->rules_size) {
		builder->rules_size = builder->rules_size * 2 + 16;
		builder->rules =
		    alloc_array(builder->rules, builder->rules_size,
				sizeof(*builder->rules));
	}
	row = &builder->rules[builder->rules_count];
	memset(row, 0, sizeof(*row));
	row->rule.phase = phase;
	row->rule.rule = rule;
	row->rule.label = alloc_string(label);
	row->order = rule ? (size_t)(rule - builder->map->rules)
			  : builder->map->rules_count + builder->rules_count;
	return builder->rules_count++;
}

static uint32_t
label_rule(struct report_builder *builder, enum record_phase phase,
	   const char *label)
{
	char *key = alloc_format("%d %s", phase, label);
	struct label_row *row;

	HASH_FIND_STR(builder->labels, key, row);
	if (row) {
		free(key);
		return row->row;
	}
	row = alloc_zero(1, sizeof(*row));
	row->key = key;
	row->row = add_rule(builder, phase, NULL, label);
	HASH_ADD_KEYPTR(hh, builder->labels, row->key, strlen(row->key), row);
	return row->row;
}

uint32_t
builder_rule(struct report_builder *builder, enum record_phase phase,
	     const struct span *call)
{
	const struct map_rule *rule = builder_find_rule(builder, call);
	uint32_t *index;

	if (!rule)
		return label_rule(builder, phase,
				  call->object ? call->object : "");
	index = &builder->rule_index[(size_t)(rule - builder->map->rules) *
					 PHASE_COUNT +
				     phase];
	if (*index == 0)
		*index = add_rule(builder, phase, rule, NULL) + 1;
	return *index - 1;
}

void
builder_figure(struct report_builder *builder, const struct figure *figure)
{
	if (figure->ns == 0 && figure->of != OF_VERDICT)
		return;
	if (builder->figures_count == builder->figures_size) {
		builder->figures_size = builder->figures_size * 2 + 64;
		builder->figures = alloc_array(
		    builder->figures, builder->figures_size, sizeof(*figure));
	}
	builder->figures[builder->figures_count++] = *figure;
}

void
builder_result(struct report_result **results, size_t *count, int value)
{
	size_t i = 0;

	while (i < *count && (*results)[i].value != value)
		i++;
	if (i == RESULTS_LIMIT)
		i--;
	if (i == *count) {
		*results = alloc_array(*results, ++*count, sizeof(**results));
		(*results)[i] = (struct report_result){ value, 0 };
	}
	(*results)[i].count++;
}

void
builder_failure(struct report_builder *builder,
		const struct report_failure *failure)
{
	if (builder->failures_count == builder->failures_size) {
		builder->failures_size = builder->failures_size * 2 + 4;
		builder->failures =
		    alloc_array(builder->failures, builder->failures_size,
				sizeof(*failure));
	}
	builder->failures[builder->failures_count++] = *failure;
}

/* The run whose total is the lower median; the first of several. */
static const struct run_figures *
median_run(const struct report_builder *builder, struct distribution *wall,
	   double *total)
{
	struct samples samples = { 0 };

	*total = 0;
	for (size_t i = 0; i < builder->runs_count; i++) {
		samples_add(&samples, builder->runs[i].wall);
		*total += builder->runs[i].wall;
	}
	distribution_of(wall, &samples);
	samples_free(&samples);
	for (size_t i = 0; i < builder->runs_count; i++)
		if (builder->runs[i].wall == wall->median)
			return &builder->runs[i];
	return NULL;
}

static void
apply_rule(struct report_builder *builder, const struct figure *figure)
{
	struct report_rule *rule = &builder->rules[figure->row].rule;
	struct report_phase *phase =
	    &builder->phases[builder_phase(builder, rule->phase)].phase;

	rule->median_wall += figure->ns;
	rule->median_own += figure->ns;
	rule->median_split.ns[figure->category] += figure->ns;
	if (figure->of == OF_NESTED)
		return;
	phase->median_wall += figure->ns;
	phase->median_modules += figure->ns;
	phase->median_split.ns[figure->category] += figure->ns;
}

static void
apply_self(struct report_phase *phase, const struct figure *figure)
{
	phase->median_wall += figure->ns;
	phase->median_self += figure->ns;
	phase->self_split.ns[figure->category] += figure->ns;
	phase->median_split.ns[figure->category] += figure->ns;
}

/* Puts one figure of the median run where it belongs. */
static void
apply(struct report_builder *builder, const struct figure *figure)
{
	switch ((enum figure_of)figure->of) {
	case OF_SELF:
		apply_self(&builder->phases[figure->row].phase, figure);
		break;
	case OF_RULE:
	case OF_NESTED:
		apply_rule(builder, figure);
		break;
	case OF_WITHIN:
		builder->rules[figure->row].rule.median_own -= figure->ns;
		break;
	case OF_VERDICT:
		builder->phases[figure->row].phase.verdict_known = true;
		builder->phases[figure->row].phase.verdict =
		    (int32_t)(uint32_t)figure->ns;
		break;
	}
}

static void
take_median(struct report *report, struct report_builder *builder,
	    const struct run_figures *run)
{
	report->median_wall = run->wall;
	report->median_outside = run->outside;
	report->load_ns = run->load;
	report->start_ns = run->start;
	report->end_ns = run->end;
	report->remainder = run->remainder;
	report->application_ns = run->application;
	for (size_t i = 0; i < run->count; i++)
		apply(builder, &builder->figures[run->first + i]);
}

static int
by_value(const void *a, const void *b)
{
	const struct report_result *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

static void
sort_results(struct report_result *results, size_t count)
{
	if (count)
		qsort(results, count, sizeof(*results), by_value);
}

static void
take_phases(struct report *report, struct report_builder *builder)
{
	report->phases =
	    alloc_zero(builder->phases_count + 1, sizeof(*report->phases));
	report->phases_count = builder->phases_count;
	for (size_t i = 0; i < builder->phases_count; i++) {
		struct phase_row *row = &builder->phases[i];

		distribution_of(&row->phase.wall, &row->wall);
		sort_results(row->phase.verdicts, row->phase.verdicts_count);
		report->phases[i] = row->phase;
		samples_free(&row->wall);
	}
}

static int
by_stack(const void *a, const void *b, void *context)
{
	const struct report_builder *builder = context;
	const struct rule_row *x = a, *y = b;
	uint32_t px = builder->phase_index[x->rule.phase];
	uint32_t py = builder->phase_index[y->rule.phase];

	if (px != py)
		return px < py ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static void
take_rules(struct report *report, struct report_builder *builder, double total)
{
	report->rules =
	    alloc_zero(builder->rules_count + 1, sizeof(*report->rules));
	report->rules_count = builder->rules_count;
	if (builder->rules_count)
		qsort_r(builder->rules, builder->rules_count,
			sizeof(*builder->rules), by_stack, builder);
	for (size_t i = 0; i < builder->rules_count; i++) {
		struct rule_row *row = &builder->rules[i];

		distribution_of(&row->rule.wall, &row->wall);
		sort_results(row->rule.results, row->rule.results_count);
		if (total > 0)
			row->rule.share = row->own_total / total;
		report->rules[i] = row->rule;
		samples_free(&row->wall);
	}
}

static void
builder_free(struct report_builder *builder)
{
	struct label_row *row, *next;

	HASH_ITER (hh, builder->labels, row, next) {
		HASH_DEL(builder->labels, row);
		free(row->key);
		free(row);
	}
	free(builder->runs);
	free(builder->figures);
	free(builder->rules);
	free(builder->rule_index);
	free(builder);
}

struct report *
report_builder_finish(struct report_builder *builder,
		      const struct assembly_loss *loss)
{
	struct report *report = alloc_zero(1, sizeof(*report));
	const struct run_figures *run;
	double total;

	report->map = builder->map;
	report->runs = builder->runs_count;
	report->loss = *loss;
	report->calls = builder->calls;
	report->overhead_total =
	    builder->calls * builder->map->overhead_per_call_ns;
	report->transactions = builder->transactions;
	report->nested = builder->nested;
	report->denied = builder->denied || builder->failures_count;
	report->failures = builder->failures;
	report->failures_count = builder->failures_count;
	run = median_run(builder, &report->wall, &total);
	if (run)
		take_median(report, builder, run);
	take_phases(report, builder);
	take_rules(report, builder, total);
	builder_free(builder);
	return report;
}

void
report_free(struct report *report)
{
	if (!report)
		return;
	for (size_t i = 0; i < report->phases_count; i++)
		free(report->phases[i].verdicts);
	for (size_t i = 0; i < report->rules_count; i++) {
		free(report->rules[i].results);
		free(report->rules[i].label);
	}
	for (size_t i = 0; i < report->failures_count; i++)
		free(report->failures[i].label);
	free(report->phases);
	free(report->rules);
	free(report->failures);
	free(report);
}

uint64_t
report_lost(const struct report *report)
{
	const struct assembly_loss *loss = &report->loss;

	return loss->torn + loss->overwritten + loss->dropped +
	       loss->duplicated + loss->orphaned + loss->nonsense;
}

bool
report_verdict(const struct report *report, int *verdict)
{
	bool known = false;

	*verdict = PAM_SUCCESS;
	for (size_t i = 0; i < report->phases_count; i++) {
		const struct report_phase *phase = &report->phases[i];

		if (!phase->verdict_known)
			continue;
		known = true;
		if (phase->verdict != PAM_SUCCESS) {
			*verdict = phase->verdict;
			return true;
		}
	}
	return known;
}
