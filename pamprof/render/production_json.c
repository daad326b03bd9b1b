/*
 * Production's report and its spans as JSON. The keys are an interface
 * (pamprof(1), pamprof-records(5)): additions only. Durations are integers
 * of ns, times are text, because ns since 1970 do not fit what many readers
 * keep numbers in.
 */
#include "production.h"

#include <string.h>
#include <time.h>

#include "../trace/clock.h"
#include "json_writer.h"

#define SCHEMA 1

static void
put_time(struct json_writer *writer, const char *key, int64_t wall_ns)
{
	struct buffer text = { 0 };

	production_iso(&text, wall_ns);
	json_put_text(writer, key, text.data);
	buffer_free(&text);
}

static void
put_id(struct json_writer *writer, const char *key, uint64_t id)
{
	struct buffer text = { 0 };

	buffer_format(&text, "%016llx", (unsigned long long)id);
	json_put_text(writer, key, text.data);
	buffer_free(&text);
}

/* A name that is not known is null. */
static void
put_name(struct json_writer *writer, const char *key, const char *name)
{
	json_put_text(writer, key, name && name[0] ? name : NULL);
}

static void
put_distribution(struct json_writer *writer, const char *key,
		 const struct histogram *histogram)
{
	struct distribution d;

	histogram_summary(&d, histogram);
	json_begin_object(writer, key);
	json_put_number(writer, "n", d.n);
	json_put_number(writer, "min", d.min);
	json_put_number(writer, "median", d.median);
	json_put_number(writer, "mean", d.mean);
	json_put_number(writer, "p95", d.p95);
	json_put_number(writer, "p99", d.p99);
	json_put_number(writer, "max", d.max);
	json_end(writer);
}

static void
put_rule(struct json_writer *writer, const struct map_rule *rule)
{
	json_put_text(writer, "group", rule ? rule->group : NULL);
	json_put_text(writer, "file", rule ? rule->file : NULL);
	if (rule)
		json_put_number(writer, "line", rule->line);
	else
		json_put_null(writer, "line");
	json_put_text(writer, "control", rule ? rule->control : NULL);
	json_put_text(writer, "module", rule ? rule->module : NULL);
	json_put_text(writer, "args", rule ? rule->args : NULL);
}

static void
put_results(struct json_writer *writer, const struct tally *tally)
{
	json_begin_object(writer, "results");
	for (int i = 0; i < TALLY_RESULTS; i++)
		if (tally->results[i])
			json_put_number(writer, report_pam_name(i),
					tally->results[i]);
	if (tally->results[TALLY_RESULTS])
		json_put_number(writer, "other", tally->results[TALLY_RESULTS]);
	json_end(writer);
}

static void
put_group(struct json_writer *writer, const struct production_report *report,
	  const struct tally *tally)
{
	double whole = (double)report->login_ns;

	json_begin_object(writer, NULL);
	json_put_text(writer, "by", production_by_name(report->by));
	json_put_text(writer, "key", tally->key);
	json_put_number(writer, "calls", tally->calls);
	put_results(writer, tally);
	put_distribution(writer, "wall", &tally->wall);
	json_put_fraction(writer, "share",
			  whole > 0 ? (double)tally->share_ns / whole : 0);
	json_put_number(writer, "total", tally->wall.sum);
	if (report->by <= BY_PHASE) {
		json_put_number(writer, "cpu", tally->cpu_ns);
		json_put_number(writer, "human", tally->human_ns);
	}
	json_put_number(writer, "unfinished", tally->unfinished);
	if (report->by == BY_RULE) {
		json_put_text(writer, "phase", report_phase_name(tally->phase));
		put_rule(writer, tally->has_rule ? &tally->rule : NULL);
	}
	json_end(writer);
}

/* The members of a login, inside an object that has begun. */
static void
put_login(struct json_writer *writer, const struct production_login *login)
{
	put_id(writer, "id", login->id);
	put_time(writer, "start", login->start_ns);
	put_name(writer, "service", login->service);
	put_name(writer, "user", login->user);
	put_name(writer, "host", login->host);
}

static void
put_logins(struct json_writer *writer, const struct production_report *report)
{
	json_begin_array(writer, "logins");
	for (size_t i = 0; i < report->slowest_count; i++) {
		const struct production_login *login = &report->slowest[i];

		json_begin_object(writer, NULL);
		put_login(writer, login);
		json_put_number(writer, "wall", login->wall);
		json_put_text(writer, "verdict",
			      report_pam_name(login->verdict));
		json_put_bool(writer, "unfinished", login->unfinished);
		json_put_bool(writer, "joined_by_process", login->joined);
		json_end(writer);
	}
	json_end(writer);
}

static void
put_opens(struct json_writer *writer, const struct production_report *report)
{
	json_begin_array(writer, "unfinished");
	for (size_t i = 0; i < report->opens_count; i++) {
		const struct production_open *open = &report->opens[i];

		json_begin_object(writer, NULL);
		put_login(writer, &open->login);
		put_time(writer, "entered", open->start_ns);
		json_put_text(writer, "phase", report_phase_name(open->phase));
		json_put_text(writer, "rule", open->rule->key);
		put_rule(writer,
			 open->rule->has_rule ? &open->rule->rule : NULL);
		json_put_integer(writer, "pid", open->pid);
		json_end(writer);
	}
	json_end(writer);
}

static void
put_losses(struct json_writer *writer, const struct assembly_loss *loss)
{
	json_put_number(writer, "lost",
			loss->torn + loss->overwritten + loss->dropped +
			    loss->duplicated + loss->orphaned + loss->nonsense);
	json_begin_object(writer, "losses");
	json_put_number(writer, "torn", loss->torn);
	json_put_number(writer, "overwritten", loss->overwritten);
	json_put_number(writer, "dropped", loss->dropped);
	json_put_number(writer, "duplicated", loss->duplicated);
	json_put_number(writer, "orphaned", loss->orphaned);
	json_put_number(writer, "nonsense", loss->nonsense);
	json_end(writer);
}

static void
put_totals(struct json_writer *writer, const struct production_report *report)
{
	json_begin_object(writer, "totals");
	json_put_number(writer, "records", report->records);
	json_put_number(writer, "calls", report->calls);
	json_put_number(writer, "logins", report->logins);
	json_put_number(writer, "failed", report->failed);
	json_put_number(writer, "unfinished_calls", report->unfinished);
	json_put_number(writer, "joined_by_process", report->joined);
	json_put_number(writer, "closings_only", report->closings);
	if (report->logins) {
		put_time(writer, "first", report->first_ns);
		put_time(writer, "last", report->last_ns);
	}
	json_end(writer);
}

void
production_json(struct buffer *out, const struct production_report *report)
{
	struct json_writer writer = { .out = out };

	json_begin_object(&writer, NULL);
	json_put_number(&writer, "schema", SCHEMA);
	json_put_text(&writer, "tool", "pamprof");
	json_put_text(&writer, "version", PAMPROF_VERSION);
	json_put_text(&writer, "command", "report");
	put_totals(&writer, report);
	put_distribution(&writer, "wall", &report->wall);
	json_put_fraction(&writer, "quantile_error", HISTOGRAM_ERROR);
	put_opens(&writer, report);
	json_begin_array(&writer, "groups");
	for (size_t i = 0; i < report->groups.count; i++)
		put_group(&writer, report, report->groups.tallies[i]);
	json_end(&writer);
	put_logins(&writer, report);
	put_losses(&writer, &report->loss);
	json_end(&writer);
	buffer_char(out, '\n');
}

/* ---- Spans, one line each ------------------------------------------------- */

/* A field that need not end with a zero byte. */
static void
put_field(struct json_writer *writer, const char *key, const char *field,
	  size_t size)
{
	char text[64];
	size_t length = strnlen(field, size);

	memcpy(text, field, length);
	text[length] = '\0';
	put_name(writer, key, text);
}

static void
put_strings(struct json_writer *writer, const struct record *record)
{
	bool user = (record->valid & VALID_MARKER) != 0;

	put_field(writer, "service", record->service, sizeof(record->service));
	put_field(writer, "user", record->object,
		  user ? sizeof(record->object) : 0);
	put_field(writer, "rhost", record->rhost, sizeof(record->rhost));
	put_field(writer, "tty", record->tty, sizeof(record->tty));
}

static void
put_numbers(struct json_writer *writer, const struct record *record)
{
	json_put_text(writer, "result",
		      record->outcome == OUTCOME_RETURNED
			  ? report_pam_name(record->result)
			  : NULL);
	json_put_number(writer, "wall", record->duration_ns);
	if (record->valid & VALID_CPU)
		json_put_number(writer, "cpu", record->cpu_ns);
	else
		json_put_null(writer, "cpu");
	json_put_number(writer, "human", record->prompt_ns);
	json_put_number(writer, "prompts", record->prompts);
	json_put_integer(writer, "pid", record->pid);
	json_put_integer(writer, "ppid", record->ppid);
	json_put_integer(writer, "tid", record->tid);
}

void
production_jsonl_end(struct buffer *out, const struct record *record,
		     const struct ring_header *header,
		     const struct map_rule *rule, uint64_t login)
{
	struct json_writer writer = { .out = out };

	json_begin_object(&writer, NULL);
	put_id(&writer, "login", login);
	put_id(&writer, "transaction", record->transaction);
	json_put_number(&writer, "span", record->span);
	put_field(&writer, "host", header->host, sizeof(header->host) - 1);
	put_time(&writer, "start", clock_wall(header, record->start_ns));
	json_put_text(&writer, "phase",
		      report_phase_name((enum record_phase)record->phase));
	json_put_bool(&writer, "unfinished", false);
	put_strings(&writer, record);
	put_rule(&writer, rule);
	json_put_number(&writer, "marker", record->marker);
	put_numbers(&writer, record);
	json_end(&writer);
	buffer_char(out, '\n');
}

void
production_jsonl_open(struct buffer *out, const struct production_open *open)
{
	struct json_writer writer = { .out = out };

	json_begin_object(&writer, NULL);
	put_id(&writer, "login", open->login.id);
	json_put_number(&writer, "span", open->span);
	put_name(&writer, "host", open->login.host);
	put_time(&writer, "start", open->start_ns);
	json_put_text(&writer, "phase", report_phase_name(open->phase));
	json_put_bool(&writer, "unfinished", true);
	put_name(&writer, "service", open->login.service);
	put_name(&writer, "user", open->login.user);
	put_rule(&writer, open->rule->has_rule ? &open->rule->rule : NULL);
	json_put_null(&writer, "wall");
	json_put_integer(&writer, "pid", open->pid);
	json_end(&writer);
	buffer_char(out, '\n');
}
