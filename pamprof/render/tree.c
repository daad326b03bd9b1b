/*
 * The report for people: a sentence, a table of phases and their rules, and
 * the fine print. What the columns look like is in table.c, the sentences
 * are in prose.c; here it is decided which rows there are.
 */
#include "render.h"

#include <security/pam_appl.h>
#include <stdlib.h>
#include <string.h>

#include "../base/alloc.h"
#include "naming.h"
#include "prose.h"
#include "table.h"
#include "text.h"
#include "units.h"

/* What a row of the table is made from. */
struct sheet {
	const struct report *report;
	const struct render_style *style;
	struct table table;
	struct slowest slowest;
};

static void
set_split(struct table_row *row, const struct split *split)
{
	row->split = true;
	row->cpu = split->ns[CATEGORY_CPU];
	row->human = split->ns[CATEGORY_HUMAN];
	for (unsigned i = 0; i < CATEGORY_COUNT; i++)
		if (i != CATEGORY_CPU && i != CATEGORY_HUMAN)
			row->wait += split->ns[i];
}

/* Values without "PAM_", with their counts when there is more than one. */
static char *
results_text(const struct report_result *results, size_t count,
	     uint64_t unfinished, bool successes)
{
	struct buffer out = { 0 };

	for (size_t i = 0; i < count; i++) {
		if (results[i].value == PAM_SUCCESS && !successes)
			continue;
		if (out.length)
			buffer_text(&out, ", ");
		if (count > 1 || unfinished)
			buffer_format(&out, "%llux ",
				      (unsigned long long)results[i].count);
		buffer_text(&out, report_pam_name(results[i].value) +
				      (successes ? 0 : strlen("PAM_")));
	}
	if (unfinished) {
		if (out.length)
			buffer_text(&out, ", ");
		if (count)
			buffer_format(&out, "%llux ",
				      (unsigned long long)unfinished);
		buffer_text(&out, "NO RETURN");
	}
	return out.length ? buffer_take(&out) : NULL;
}

/* PAM_IGNORE is how a module says that it has no opinion. */
static bool
is_bad(const struct report_result *results, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (results[i].value != PAM_SUCCESS &&
		    results[i].value != PAM_IGNORE)
			return true;
	return false;
}

static void
add_rule(struct sheet *sheet, const struct report_rule *rule, bool flat)
{
	struct table_row *row = table_add(&sheet->table);
	struct buffer name = { 0 }, place = { 0 }, arguments = { 0 };
	bool unicode = sheet->style->unicode;

	if (flat)
		row->lead = alloc_string(name_phase(rule->phase));
	name_module(&name, rule->rule, rule->label, unicode);
	text_safe(&arguments, rule->rule ? rule->rule->args : NULL, unicode);
	name_place(&place, rule->rule, unicode);
	row->style = rule == sheet->slowest.rule ? ROW_SLOWEST : ROW_PLAIN;
	row->indent = flat ? 0 : 2;
	row->wall = rule->median_wall;
	row->own = rule->median_own;
	row->calls = rule->calls;
	set_split(row, &rule->median_split);
	row->name = buffer_take(&name);
	row->arguments = buffer_take(&arguments);
	row->place = buffer_take(&place);
	row->note = results_text(rule->results, rule->results_count,
				 rule->unfinished, false);
	row->bad =
	    rule->unfinished || is_bad(rule->results, rule->results_count);
}

/* libpam's own part of a phase: what its modules do not account for. */
static void
add_self(struct sheet *sheet, const struct report_phase *phase, bool flat)
{
	struct table_row *row = table_add(&sheet->table);
	uint64_t delay = phase->self_split.ns[CATEGORY_DELIBERATE];
	struct buffer name = { 0 };

	if (flat)
		row->lead = alloc_string(name_phase(phase->phase));
	buffer_text(&name, "libpam itself");
	if (delay) {
		buffer_text(&name, ": fail delay ");
		unit_time(&name, delay);
	}
	row->indent = flat ? 0 : 2;
	row->style = phase == sheet->slowest.phase ? ROW_SLOWEST : ROW_PLAIN;
	row->wall = row->own = phase->median_self;
	set_split(row, &phase->self_split);
	row->name = buffer_take(&name);
}

static void
add_phase(struct sheet *sheet, const struct report_phase *phase)
{
	struct table_row *row = table_add(&sheet->table);

	row->style = ROW_HEAD;
	row->gap = sheet->table.count > 1;
	row->wall = row->own = phase->median_wall;
	set_split(row, &phase->median_split);
	row->name = alloc_string(report_phase_name(phase->phase));
	row->note =
	    results_text(phase->verdicts, phase->verdicts_count, 0, true);
	row->bad = is_bad(phase->verdicts, phase->verdicts_count);
	for (size_t i = 0; i < sheet->report->rules_count; i++)
		if (sheet->report->rules[i].phase == phase->phase)
			add_rule(sheet, &sheet->report->rules[i], false);
	add_self(sheet, phase, false);
}

static void
add_plain(struct sheet *sheet, const char *name, uint64_t ns, unsigned indent)
{
	struct table_row *row;

	if (ns == 0)
		return;
	row = table_add(&sheet->table);
	row->wall = row->own = ns;
	row->name = alloc_string(name);
	row->indent = indent;
	if (sheet->slowest.outside && ns == sheet->slowest.ns)
		row->style = ROW_SLOWEST;
}

static void
add_outside(struct sheet *sheet, unsigned indent)
{
	const struct report *report = sheet->report;

	add_plain(sheet, "loading modules", report->load_ns, indent);
	add_plain(sheet, report->load_ns ? "pam_start, the rest" : "pam_start",
		  report->start_ns, indent);
	add_plain(sheet, "pam_end", report->end_ns, indent);
	add_plain(sheet, "between the calls", report->remainder, indent);
}

static void
add_head(struct sheet *sheet, const char *name, uint64_t ns)
{
	struct table_row *row = table_add(&sheet->table);

	row->style = ROW_HEAD;
	row->gap = sheet->table.count > 1;
	row->wall = row->own = ns;
	row->name = alloc_string(name);
}

static void
add_stack(struct sheet *sheet)
{
	for (size_t i = 0; i < sheet->report->phases_count; i++)
		add_phase(sheet, &sheet->report->phases[i]);
	if (sheet->report->median_outside) {
		add_head(sheet, "outside the phases",
			 sheet->report->median_outside);
		add_outside(sheet, 2);
	}
}

/* By name, where times do not tell rows apart. */
static int
by_words(const struct table_row *a, const struct table_row *b)
{
	int order = strcmp(a->lead ? a->lead : "", b->lead ? b->lead : "");

	if (order == 0)
		order = strcmp(a->name, b->name);
	return order
		   ? order
		   : strcmp(a->place ? a->place : "", b->place ? b->place : "");
}

static int
by_wall(const void *a, const void *b)
{
	const struct table_row *x = a, *y = b;

	return x->wall != y->wall ? (x->wall < y->wall) - (x->wall > y->wall)
				  : by_words(x, y);
}

static int
by_cpu(const void *a, const void *b)
{
	const struct table_row *x = a, *y = b;

	return x->cpu != y->cpu ? (x->cpu < y->cpu) - (x->cpu > y->cpu)
				: by_wall(a, b);
}

static int
by_calls(const void *a, const void *b)
{
	const struct table_row *x = a, *y = b;

	return x->calls != y->calls
		   ? (x->calls < y->calls) - (x->calls > y->calls)
		   : by_wall(a, b);
}

/* Blame order: everything that took time, whatever phase it was in. */
static void
add_flat(struct sheet *sheet)
{
	static int (*const orders[])(const void *, const void *) = {
		[SORT_STACK] = by_wall,
		[SORT_WALL] = by_wall,
		[SORT_CPU] = by_cpu,
		[SORT_CALLS] = by_calls,
	};
	const struct report *report = sheet->report;

	for (size_t i = 0; i < report->rules_count; i++)
		add_rule(sheet, &report->rules[i], true);
	for (size_t i = 0; i < report->phases_count; i++)
		add_self(sheet, &report->phases[i], true);
	add_outside(sheet, 0);
	qsort(sheet->table.rows, sheet->table.count, sizeof(*sheet->table.rows),
	      orders[sheet->style->sort]);
}

/*
 * A column that says the same everywhere is left out, and so are prompts
 * that a machine answered in no time.
 */
static void
choose_columns(struct sheet *sheet)
{
	const struct report *report = sheet->report;
	uint64_t human = 0;

	for (size_t i = 0; i < report->rules_count; i++) {
		human += report->rules[i].median_split.ns[CATEGORY_HUMAN];
		sheet->table.calls |= report->rules[i].calls != report->runs;
	}
	sheet->table.human = human > 0 && human >= report->median_wall / 1000;
}

void
render_tree(struct buffer *out, const struct report *report,
	    const struct render_style *style)
{
	struct sheet sheet = { .report = report,
			       .style = style,
			       .table = { .total = report->median_wall },
			       .slowest = slowest_of(report) };

	prose_verdict(out, report, style);
	prose_failures(out, report, style);
	buffer_char(out, '\n');
	if (report->runs) {
		choose_columns(&sheet);
		if (style->sort == SORT_STACK)
			add_stack(&sheet);
		else
			add_flat(&sheet);
		add_head(&sheet, "total", report->median_wall);
		table_print(out, &sheet.table, style);
		buffer_char(out, '\n');
	}
	prose_footers(out, report, style);
	table_free(&sheet.table);
}
