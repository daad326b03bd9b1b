/*
 * Production's report for people: what never came back first, then groups or
 * logins, each in one table of one unit. Every string in it was chosen by
 * somebody who may have tried to log in, so all of them go through text.h.
 */
#include "production.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "naming.h"
#include "text.h"
#include "units.h"

#define NUMBERS      47 /* columns of the numbers of a group */
#define LOGINS_SHOWN 5
#define OPENS_SHOWN  20

void
production_iso(struct buffer *out, int64_t wall_ns)
{
	time_t second = (time_t)(wall_ns / 1000000000);
	long rest = (long)(wall_ns % 1000000000);
	char text[64] = "1970-01-01T00:00:00";
	struct tm when;

	if (rest < 0) {
		rest += 1000000000;
		second--;
	}
	if (gmtime_r(&second, &when))
		(void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &when);
	buffer_format(out, "%s.%09ldZ", text, rest);
}

void
production_local(struct buffer *out, int64_t wall_ns)
{
	time_t second = (time_t)(wall_ns / 1000000000);
	char text[64] = "?";
	struct tm when;

	if (localtime_r(&second, &when))
		(void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &when);
	buffer_text(out, text);
}

/* Safe text cut to columns and filled up with blanks. */
static void
cell(struct buffer *out, const char *text, size_t columns,
     const struct render_style *style)
{
	struct buffer safe = { 0 }, cut = { 0 };
	size_t width;

	text_safe(&safe, text, style->unicode);
	text_cut_middle(&cut, safe.data ? safe.data : "", columns,
			style->unicode);
	width = cut.data ? text_width(cut.data) : 0;
	buffer_text(out, cut.data ? cut.data : "");
	for (; width < columns; width++)
		buffer_char(out, ' ');
	buffer_free(&safe);
	buffer_free(&cut);
}

/* A finished text, right in its columns. */
static void
right(struct buffer *out, struct buffer *text, int columns)
{
	buffer_format(out, "%*s", columns, text->data ? text->data : "");
	buffer_free(text);
}

static void
time_cell(struct buffer *out, uint64_t ns, const struct unit *unit)
{
	struct buffer text = { 0 };

	unit_number(&text, ns, unit, 3);
	right(out, &text, 7);
}

/* ---- Groups --------------------------------------------------------------- */

/* Results that are neither success nor "ask the next one". */
static uint64_t
errors_of(const struct tally *tally)
{
	uint64_t errors = 0;

	for (unsigned i = 1; i <= TALLY_RESULTS; i++)
		if (strcmp(report_pam_name((int)i), "PAM_IGNORE") != 0)
			errors += tally->results[i];
	return errors;
}

static const struct unit *
unit_of(const struct production_report *report)
{
	struct distribution d;
	uint64_t most = 0;

	for (size_t i = 0; i < report->groups.count; i++) {
		histogram_summary(&d, &report->groups.tallies[i]->wall);
		most = d.p95 > most ? d.p95 : most;
	}
	return unit_for(most);
}

/* "close pam_unix.so (sshd:12)": shorter than in prose, to fit. */
static void
rule_name(struct buffer *out, const struct tally *tally,
	  const struct render_style *style)
{
	const char *phase = name_phase(tally->phase);

	if (tally->phase == PHASE_CLOSE_SESSION)
		phase = "close";
	else if (tally->phase == PHASE_DELETE_CRED)
		phase = "delete";
	buffer_format(out, "%s ", phase);
	name_module(out, &tally->rule, NULL, style->unicode);
	buffer_text(out, " (");
	name_place(out, &tally->rule, style->unicode);
	buffer_char(out, ')');
}

static void
group_name(struct buffer *out, const struct production_report *report,
	   const struct tally *tally, const struct render_style *style)
{
	struct buffer name = { 0 };

	if (report->by == BY_RULE && tally->has_rule)
		rule_name(&name, tally, style);
	else
		buffer_text(&name, tally->key);
	cell(out, name.data, style->columns - NUMBERS, style);
	buffer_free(&name);
}

static void
group_row(struct buffer *out, const struct production_report *report,
	  const struct tally *tally, const struct unit *unit)
{
	struct buffer share = { 0 };
	struct distribution d;

	histogram_summary(&d, &tally->wall);
	buffer_format(
	    out, "%8llu%6llu",
	    (unsigned long long)(report->by > BY_PHASE ? d.n : tally->calls),
	    (unsigned long long)errors_of(tally));
	time_cell(out, d.median, unit);
	time_cell(out, d.p95, unit);
	time_cell(out, d.p99, unit);
	time_cell(out, d.max, unit);
	unit_percent(&share, tally->share_ns, report->login_ns);
	right(out, &share, 5);
	buffer_char(out, '\n');
}

static void
print_groups(struct buffer *out, const struct production_report *report,
	     const struct render_style *style)
{
	const struct unit *unit = unit_of(report);
	struct buffer heading = { 0 };

	if (!report->groups.count)
		return;
	buffer_format(&heading, "%s (%s)", production_by_name(report->by),
		      unit->name);
	buffer_char(out, '\n');
	cell(out, heading.data, style->columns - NUMBERS, style);
	buffer_format(out, "%8s%6s%7s%7s%7s%7s%5s\n",
		      report->by > BY_PHASE ? "logins" : "calls", "fail",
		      "median", "p95", "p99", "max", "%");
	buffer_free(&heading);
	for (size_t i = 0; i < report->groups.count; i++) {
		group_name(out, report, report->groups.tallies[i], style);
		group_row(out, report, report->groups.tallies[i], unit);
	}
	buffer_format(out, "%% is of the time of all logins; the rest went by "
			   "between the calls.\n");
}

/* ---- Logins --------------------------------------------------------------- */

static void
print_logins(struct buffer *out, const struct production_report *report,
	     const struct render_style *style, size_t most)
{
	size_t count = report->slowest_count;
	const struct unit *unit;

	if (!count)
		return;
	unit = unit_for(report->slowest[0].wall);
	buffer_format(out, "\n%-21s%-18s%-12s%-11s%7s  %s\n", "slowest logins",
		      "id", "service", "user", unit->name, "verdict");
	for (size_t i = 0; i < count && i < most; i++) {
		const struct production_login *login = &report->slowest[i];

		production_local(out, login->start_ns);
		buffer_format(out, "  %016llx  ",
			      (unsigned long long)login->id);
		cell(out, login->service, 11, style);
		buffer_char(out, ' ');
		cell(out, login->user[0] ? login->user : "-", 10, style);
		time_cell(out, login->wall, unit);
		buffer_format(out, "  %s%s\n",
			      login->verdict == 0
				  ? "ok"
				  : report_pam_name(login->verdict) + 4,
			      login->joined ? " *" : "");
	}
	if (most > LOGINS_SHOWN && report->logins > count)
		buffer_format(out, "%llu faster ones are not shown.\n",
			      (unsigned long long)(report->logins - count));
}

static void
print_opens(struct buffer *out, const struct production_report *report,
	    const struct render_style *style)
{
	size_t shown = 0;

	if (!report->unfinished)
		return;
	buffer_format(out,
		      "\n%llu call%s entered and never left: hung, crashed or "
		      "still running.\n",
		      (unsigned long long)report->unfinished,
		      report->unfinished == 1 ? " was" : "s were");
	for (; shown < report->opens_count && shown < OPENS_SHOWN; shown++) {
		const struct production_open *open = &report->opens[shown];
		struct buffer name = { 0 };

		buffer_text(out, "  ");
		production_local(out, open->start_ns);
		buffer_text(out, "  ");
		if (open->rule->has_rule)
			name_call(&name, open->phase, &open->rule->rule, NULL,
				  style->unicode);
		else
			buffer_text(&name, open->rule->key);
		cell(out, name.data, style->columns - 41, style);
		buffer_format(out, "  %016llx\n",
			      (unsigned long long)open->login.id);
		buffer_free(&name);
	}
	if (report->unfinished > shown)
		buffer_format(out, "  and %llu more\n",
			      (unsigned long long)(report->unfinished - shown));
}

/* ---- The whole ------------------------------------------------------------ */

static void
print_head(struct buffer *out, const struct production_report *report)
{
	struct distribution d;

	histogram_summary(&d, &report->wall);
	buffer_format(out, "%llu login%s", (unsigned long long)report->logins,
		      report->logins == 1 ? "" : "s");
	if (report->logins) {
		buffer_text(out, " from ");
		production_local(out, report->first_ns);
		buffer_text(out, " to ");
		production_local(out, report->last_ns);
	}
	if (report->failed)
		buffer_format(out, ", %llu failed",
			      (unsigned long long)report->failed);
	buffer_char(out, '\n');
	if (!d.n)
		return;
	buffer_text(out, "login time: median ");
	unit_time(out, d.median);
	buffer_text(out, ", p95 ");
	unit_time(out, d.p95);
	buffer_text(out, ", p99 ");
	unit_time(out, d.p99);
	buffer_text(out, ", max ");
	unit_time(out, d.max);
	buffer_char(out, '\n');
}

/* What a reader has to know to believe the numbers. */
static void
print_foot(struct buffer *out, const struct production_report *report)
{
	const struct assembly_loss *loss = &report->loss;

	buffer_format(out,
		      "\nA login lasts from its first call to the end of "
		      "its last one, closing left out;\nquantiles are "
		      "within %.1f %%.\n",
		      HISTOGRAM_ERROR * 100);
	if (report->joined)
		buffer_format(out,
			      "%llu login%s (*) joined by process ids: a child "
			      "authenticated.\n",
			      (unsigned long long)report->joined,
			      report->joined == 1 ? "" : "s");
	if (report->closings)
		buffer_format(out, "Of %llu sessions only the end was seen.\n",
			      (unsigned long long)report->closings);
	if (loss->torn + loss->overwritten + loss->dropped + loss->orphaned +
	    loss->nonsense)
		buffer_format(out,
			      "Records lost: %llu overwritten, %llu dropped, "
			      "%llu torn, %llu impossible, %llu odd.\n",
			      (unsigned long long)loss->overwritten,
			      (unsigned long long)loss->dropped,
			      (unsigned long long)loss->torn,
			      (unsigned long long)loss->nonsense,
			      (unsigned long long)loss->orphaned);
}

void
production_tree(struct buffer *out, const struct production_report *report,
		const struct render_style *style, bool logins)
{
	print_head(out, report);
	print_opens(out, report, style);
	if (!logins)
		print_groups(out, report, style);
	print_logins(out, report, style,
		     logins ? PRODUCTION_KEPT : LOGINS_SHOWN);
	print_foot(out, report);
}
