/*
 * The sentences a reader of a ticket sees first, and the fine print. Each is
 * put together as one line and then broken to the width there is.
 */
#include "prose.h"

#include <security/pam_appl.h>
#include <stdlib.h>
#include <string.h>

#include "../base/alloc.h"
#include "naming.h"
#include "text.h"
#include "units.h"

#define FAILURES_SHOWN 8
#define INDENT         2

/* Breaks what was collected in line, appends it and empties line. */
static void
say(struct buffer *out, struct buffer *line, const struct render_style *style)
{
	if (line->length)
		text_wrap(out, line->data, style->columns, INDENT);
	buffer_free(line);
}

static const char *
plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static void
consider(struct slowest *slowest, const struct slowest *candidate)
{
	if (candidate->ns > slowest->ns)
		*slowest = *candidate;
}

struct slowest
slowest_of(const struct report *report)
{
	struct slowest slowest = { 0 };

	for (size_t i = 0; i < report->rules_count; i++)
		consider(&slowest, &(struct slowest){
				       .rule = &report->rules[i],
				       .ns = report->rules[i].median_own });
	for (size_t i = 0; i < report->phases_count; i++)
		consider(&slowest, &(struct slowest){
				       .phase = &report->phases[i],
				       .ns = report->phases[i].median_self });
	consider(&slowest, &(struct slowest){ .outside = "loading modules",
					      .ns = report->load_ns });
	consider(&slowest, &(struct slowest){ .outside = "pam_start",
					      .ns = report->start_ns });
	consider(&slowest, &(struct slowest){ .outside = "pam_end",
					      .ns = report->end_ns });
	consider(&slowest,
		 &(struct slowest){ .outside = "nothing that was recorded",
				    .ns = report->remainder });
	return slowest;
}

/* ": 1.30 s waiting", the greatest part of what limit ns went to. */
static void
say_largest(struct buffer *line, const struct split *split, uint64_t limit)
{
	enum record_category category = split_largest(split);
	uint64_t ns = split->ns[category];

	buffer_text(line, ": ");
	unit_time(line, ns < limit ? ns : limit);
	buffer_format(line, " %s", name_category(category));
}

static void
say_slowest(struct buffer *line, const struct report *report, bool unicode)
{
	struct slowest slowest = slowest_of(report);

	if (slowest.ns == 0)
		return;
	buffer_text(line, "; ");
	unit_percent(line, slowest.ns, report->median_wall);
	buffer_text(line, " % in ");
	if (slowest.rule) {
		const struct report_rule *rule = slowest.rule;

		name_call(line, rule->phase, rule->rule, rule->label, unicode);
		say_largest(line, &rule->median_split, slowest.ns);
	} else if (slowest.phase) {
		buffer_format(line, "libpam itself (%s)",
			      name_phase(slowest.phase->phase));
		say_largest(line, &slowest.phase->self_split, slowest.ns);
	} else {
		buffer_text(line, slowest.outside);
	}
}

/* A run that ended by itself and made no call into a phase. */
static bool
start_failed(const struct report *report)
{
	return !report->transactions && report->phases_count == 0 &&
	       report->failures_count == 0 && report_lost(report) == 0;
}

void
prose_verdict(struct buffer *out, const struct report *report,
	      const struct render_style *style)
{
	const struct rule_map *map = report->map;
	struct buffer line = { 0 };
	int verdict;

	text_safe(&line, map->service && *map->service ? map->service : "PAM",
		  style->unicode);
	buffer_text(&line, ": ");
	if (report->runs == 0) {
		buffer_text(&line, "nothing was recorded");
		say(out, &line, style);
		return;
	}
	unit_time(&line, report->median_wall);
	if (report->runs > 1)
		buffer_format(&line, " median of %llu %s",
			      (unsigned long long)report->runs,
			      report->transactions ? "transactions" : "runs");
	if (report_verdict(report, &verdict))
		buffer_format(&line, ", %s", report_pam_name(verdict));
	else if (start_failed(report))
		buffer_text(&line, ", pam_start failed");
	if (report_verdict(report, &verdict) && verdict == PAM_SUCCESS &&
	    report->denied)
		buffer_text(&line, " (not in every run)");
	say_slowest(&line, report, style->unicode);
	say(out, &line, style);
}

static bool
same_failure(const struct report_failure *a, const struct report_failure *b)
{
	return a->outcome == b->outcome && a->result == b->result &&
	       a->phase == b->phase && a->rule == b->rule &&
	       strcmp(a->label ? a->label : "", b->label ? b->label : "") == 0;
}

static void
say_outcome(struct buffer *line, const struct report_failure *failure)
{
	const char *name;

	switch (failure->outcome) {
	case OUTCOME_SIGNAL:
		name = sigabbrev_np(failure->result);
		if (name)
			buffer_format(line, "crashed with SIG%s", name);
		else
			buffer_format(line, "crashed with signal %d",
				      failure->result);
		break;
	case OUTCOME_TIMEOUT:
		buffer_text(line, "was given up after ");
		unit_time(line, (uint64_t)failure->result * 1000000);
		break;
	case OUTCOME_EXIT:
		buffer_format(line, "left through exit(%d)", failure->result);
		break;
	default:
		buffer_text(line, "did not end");
	}
}

static void
say_failure(struct buffer *line, const struct report *report,
	    const struct report_failure *failure, uint64_t count, bool unicode)
{
	if (count == 1)
		buffer_format(line, "run %llu ",
			      (unsigned long long)failure->run);
	else
		buffer_format(line, "%llu of %llu runs ",
			      (unsigned long long)count,
			      (unsigned long long)report->runs);
	say_outcome(line, failure);
	if (failure->rule || failure->label) {
		buffer_text(line, " in ");
		name_call(line, failure->phase, failure->rule, failure->label,
			  unicode);
	} else if (failure->phase != PHASE_NONE) {
		buffer_format(line, " in %s, outside its modules",
			      report_phase_name(failure->phase));
	}
}

/* How many failures are like number i; 0 when an earlier one was. */
static uint64_t
like(const struct report *report, size_t i)
{
	const struct report_failure *failures = report->failures;
	uint64_t count = 0;

	for (size_t j = 0; j < i; j++)
		if (same_failure(&failures[i], &failures[j]))
			return 0;
	for (size_t j = i; j < report->failures_count; j++)
		count += same_failure(&failures[i], &failures[j]);
	return count;
}

void
prose_failures(struct buffer *out, const struct report *report,
	       const struct render_style *style)
{
	struct buffer line = { 0 };
	uint64_t told = 0;
	unsigned lines = 0;

	for (size_t i = 0; i < report->failures_count; i++) {
		uint64_t count = lines < FAILURES_SHOWN ? like(report, i) : 0;

		if (!count)
			continue;
		if (style->colour)
			buffer_text(out, "\033[31m");
		say_failure(&line, report, &report->failures[i], count,
			    style->unicode);
		say(out, &line, style);
		if (style->colour)
			buffer_text(out, "\033[0m");
		told += count;
		lines++;
	}
	if (told < report->failures_count)
		buffer_format(
		    out, "%llu more runs failed elsewhere\n",
		    (unsigned long long)(report->failures_count - told));
}

static void
say_runs(struct buffer *line, const struct report *report)
{
	const struct distribution *wall = &report->wall;
	const struct {
		const char *name;
		uint64_t ns;
	} figures[] = {
		{ "min", wall->min },
		{ "median", wall->median },
		{ "p95", wall->p95 },
		{ "max", wall->max },
	};

	if (report->runs < 2)
		return;
	buffer_format(line, "%llu runs:", (unsigned long long)report->runs);
	for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++) {
		buffer_format(line, "%s %s ", i ? "," : "", figures[i].name);
		unit_time(line, figures[i].ns);
	}
	buffer_text(line, "; the table shows the median run");
}

static void
say_application(struct buffer *line, const struct report *report)
{
	if (!report->transactions || !report->application_ns)
		return;
	unit_time(line, report->application_ns);
	buffer_text(line, " between the calls into PAM were the application's "
			  "and are not in the table");
}

static void
say_nested(struct buffer *line, const struct report *report)
{
	if (report->nested)
		buffer_text(line, "modules called from inside a module have "
				  "rows of their own; % counts their time "
				  "once, wall twice");
}

static void
say_lost(struct buffer *line, const struct report *report)
{
	const struct assembly_loss *loss = &report->loss;
	const struct {
		const char *name;
		uint64_t count;
	} losses[] = {
		{ "torn", loss->torn },
		{ "overwritten", loss->overwritten },
		{ "dropped", loss->dropped },
		{ "duplicated", loss->duplicated },
		{ "without their span", loss->orphaned },
		{ "nonsense", loss->nonsense },
	};
	uint64_t lost = report_lost(report);
	const char *comma = "";

	if (!lost) {
		buffer_text(line, "no records lost");
		return;
	}
	buffer_format(line, "%llu record%s lost (", (unsigned long long)lost,
		      plural(lost));
	for (size_t i = 0; i < sizeof(losses) / sizeof(*losses); i++)
		if (losses[i].count) {
			buffer_format(line, "%s%llu %s", comma,
				      (unsigned long long)losses[i].count,
				      losses[i].name);
			comma = ", ";
		}
	buffer_text(line, "): what they held is missing here");
}

static void
say_overhead(struct buffer *line, const struct report *report)
{
	if (!report->calls)
		return;
	buffer_format(line, "own overhead: %llu module call%s x ",
		      (unsigned long long)report->calls, plural(report->calls));
	unit_time(line, report->map->overhead_per_call_ns);
	buffer_text(line, " = ");
	unit_time(line, report->overhead_total);
	buffer_text(line, ", contained in the times");
}

/* Which rules of the map have a row. */
static bool *
called_rules(const struct report *report)
{
	bool *called = alloc_zero(report->map->rules_count + 1, sizeof(bool));

	for (size_t i = 0; i < report->rules_count; i++)
		if (report->rules[i].rule)
			called[report->rules[i].rule - report->map->rules] =
			    true;
	return called;
}

static bool
group_ran(const struct report *report, const char *group)
{
	for (size_t i = 0; i < report->phases_count; i++)
		if (strcmp(report_phase_group(report->phases[i].phase),
			   group ? group : "") == 0)
			return true;
	return false;
}

/* "3 rules of account, session": the groups no call was made for. */
static void
say_groups_without_calls(struct buffer *line, const struct report *report)
{
	static const char *const groups[] = { "auth", "account", "session",
					      "password" };
	const struct rule_map *map = report->map;
	struct buffer names = { 0 };
	unsigned rules = 0;

	for (size_t g = 0; g < sizeof(groups) / sizeof(*groups); g++) {
		unsigned before = rules;

		if (group_ran(report, groups[g]))
			continue;
		for (size_t i = 0; i < map->rules_count; i++)
			rules += map->rules[i].marker && map->rules[i].group &&
				 !strcmp(map->rules[i].group, groups[g]);
		if (rules > before)
			buffer_format(&names, "%s%s", names.length ? ", " : "",
				      groups[g]);
	}
	if (rules)
		buffer_format(line, "%s%u rule%s of %s",
			      line->length ? ", " : "not called: ", rules,
			      plural(rules), names.data);
	buffer_free(&names);
}

/* Names those that could have been called, and counts those that could not. */
static void
say_not_called(struct buffer *line, const struct report *report, bool unicode)
{
	const struct rule_map *map = report->map;
	bool *called = called_rules(report);

	for (size_t i = 0; i < map->rules_count; i++) {
		const struct map_rule *rule = &map->rules[i];

		if (called[i] || !rule->marker ||
		    !group_ran(report, rule->group))
			continue;
		buffer_text(line, line->length ? ", " : "not called: ");
		name_module(line, rule, NULL, unicode);
		buffer_text(line, " (");
		name_place(line, rule, unicode);
		buffer_char(line, ')');
	}
	say_groups_without_calls(line, report);
	free(called);
}

static void
say_unmeasured(struct buffer *out, const struct report *report,
	       const struct render_style *style)
{
	const struct rule_map *map = report->map;
	struct buffer line = { 0 };

	for (size_t i = 0; i < map->rules_count; i++) {
		const struct map_rule *rule = &map->rules[i];

		if (rule->marker || !rule->problem)
			continue;
		buffer_text(&line, "not measured: ");
		name_module(&line, rule, NULL, style->unicode);
		buffer_text(&line, " (");
		name_place(&line, rule, style->unicode);
		buffer_text(&line, "): ");
		text_safe(&line, rule->problem, style->unicode);
		say(out, &line, style);
	}
}

void
prose_footers(struct buffer *out, const struct report *report,
	      const struct render_style *style)
{
	static void (*const lines[])(struct buffer *, const struct report *) = {
		say_runs, say_application, say_nested, say_lost, say_overhead,
	};
	struct buffer line = { 0 };

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		lines[i](&line, report);
		say(out, &line, style);
	}
	say_not_called(&line, report, style->unicode);
	say(out, &line, style);
	say_unmeasured(out, report, style);
	for (size_t i = 0; i < report->map->notes_count; i++) {
		buffer_text(&line, "note: ");
		text_safe(&line, report->map->notes[i], style->unicode);
		say(out, &line, style);
	}
}
