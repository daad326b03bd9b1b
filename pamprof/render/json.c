/*
 * The report as one JSON object; the keys and their order are an interface
 * (pamprof(1)): additions only. Times are integers of ns.
 */
#include "render.h"

#include <string.h>

#include "json_writer.h"

#define SCHEMA 1

static void
write_distribution(struct json_writer *writer, const char *key,
		   const struct distribution *d)
{
	json_begin_object(writer, key);
	json_put_number(writer, "n", d->n);
	json_put_number(writer, "min", d->min);
	json_put_number(writer, "median", d->median);
	json_put_number(writer, "mean", d->mean);
	json_put_number(writer, "p95", d->p95);
	json_put_number(writer, "p99", d->p99);
	json_put_number(writer, "max", d->max);
	json_end(writer);
}

static void
write_split(struct json_writer *writer, const struct split *split)
{
	json_begin_object(writer, "split");
	for (unsigned i = CATEGORY_NONE + 1; i < CATEGORY_COUNT; i++)
		json_put_number(writer, report_category_name(i), split->ns[i]);
	json_end(writer);
}

static void
write_results(struct json_writer *writer, const char *key,
	      const struct report_result *results, size_t count)
{
	json_begin_object(writer, key);
	for (size_t i = 0; i < count; i++)
		json_put_number(writer, report_pam_name(results[i].value),
				results[i].count);
	json_end(writer);
}

static void
write_phase(struct json_writer *writer, const struct report_phase *phase)
{
	json_begin_object(writer, NULL);
	json_put_text(writer, "phase", report_phase_name(phase->phase));
	json_put_text(writer, "verdict",
		      phase->verdict_known ? report_pam_name(phase->verdict)
					   : NULL);
	write_distribution(writer, "wall", &phase->wall);
	json_begin_object(writer, "median_run");
	json_put_number(writer, "wall", phase->median_wall);
	json_put_number(writer, "modules", phase->median_modules);
	json_put_number(writer, "self", phase->median_self);
	write_split(writer, &phase->median_split);
	json_end(writer);
	write_results(writer, "verdicts", phase->verdicts,
		      phase->verdicts_count);
	json_end(writer);
}

/* Where a rule stands and what it says; a made-up one for a bare path. */
static void
write_place(struct json_writer *writer, const struct map_rule *rule,
	    const char *label)
{
	struct map_rule bare = { .path = (char *)label };

	if (!rule) {
		const char *slash = label ? strrchr(label, '/') : NULL;

		bare.module = (char *)(slash ? slash + 1 : label);
		rule = &bare;
	}
	json_put_text(writer, "group", rule->group);
	json_put_text(writer, "file", rule->file);
	json_put_number(writer, "line", rule->line);
	json_put_text(writer, "control", rule->control);
	json_put_text(writer, "module", rule->module);
	json_put_text(writer, "path", rule->path);
	json_put_text(writer, "args", rule->args);
}

static void
write_rule(struct json_writer *writer, const struct report_rule *rule)
{
	json_begin_object(writer, NULL);
	json_put_text(writer, "phase", report_phase_name(rule->phase));
	write_place(writer, rule->rule, rule->label);
	json_put_number(writer, "calls", rule->calls);
	write_results(writer, "results", rule->results, rule->results_count);
	write_distribution(writer, "wall", &rule->wall);
	json_begin_object(writer, "median_run");
	json_put_number(writer, "wall", rule->median_wall);
	write_split(writer, &rule->median_split);
	json_put_number(writer, "own", rule->median_own);
	json_end(writer);
	json_put_number(writer, "prompts", rule->prompts);
	json_put_fraction(writer, "share", rule->share);
	json_begin_array(writer, "waits");
	json_end(writer);
	json_begin_array(writer, "children");
	json_end(writer);
	json_put_number(writer, "unfinished", rule->unfinished);
	json_end(writer);
}

static void
write_failure(struct json_writer *writer, const struct report_failure *failure)
{
	static const char *const names[] = {
		[OUTCOME_NONE] = "unfinished", [OUTCOME_RETURNED] = "returned",
		[OUTCOME_SIGNAL] = "signal",   [OUTCOME_TIMEOUT] = "timeout",
		[OUTCOME_EXIT] = "exit",
	};

	json_begin_object(writer, NULL);
	json_put_number(writer, "run", failure->run);
	json_put_text(writer, "outcome",
		      failure->outcome <= OUTCOME_EXIT ? names[failure->outcome]
						       : "unfinished");
	json_put_integer(writer, "result", failure->result);
	json_put_text(writer, "phase",
		      failure->phase == PHASE_NONE
			  ? NULL
			  : report_phase_name(failure->phase));
	json_begin_object(writer, "rule");
	write_place(writer, failure->rule, failure->label);
	json_end(writer);
	json_end(writer);
}

static void
write_head(struct json_writer *writer, const struct report *report)
{
	const struct rule_map *map = report->map;

	json_put_number(writer, "schema", SCHEMA);
	json_put_text(writer, "tool", "pamprof");
	json_put_text(writer, "version", map->version);
	json_put_text(writer, "command", map->command);
	json_put_text(writer, "host", map->host);
	json_put_text(writer, "pam", map->pam);
	json_put_text(writer, "service", map->service);
	json_put_text(writer, "user", map->user);
	json_put_number(writer, "runs", report->runs);
	write_distribution(writer, "wall", &report->wall);
	json_begin_object(writer, "median_run");
	json_put_number(writer, "wall", report->median_wall);
	json_put_number(writer, "outside", report->median_outside);
	json_put_number(writer, "load", report->load_ns);
	json_put_number(writer, "start", report->start_ns);
	json_put_number(writer, "end", report->end_ns);
	json_put_number(writer, "application", report->application_ns);
	json_end(writer);
}

static void
write_losses(struct json_writer *writer, const struct assembly_loss *loss)
{
	json_begin_object(writer, "losses");
	json_put_number(writer, "torn", loss->torn);
	json_put_number(writer, "overwritten", loss->overwritten);
	json_put_number(writer, "dropped", loss->dropped);
	json_put_number(writer, "duplicated", loss->duplicated);
	json_put_number(writer, "orphaned", loss->orphaned);
	json_put_number(writer, "nonsense", loss->nonsense);
	json_end(writer);
}

/* Rules that were left alone, and why. */
static void
write_unmeasured(struct json_writer *writer, const struct rule_map *map)
{
	json_begin_array(writer, "unmeasured");
	for (size_t i = 0; i < map->rules_count; i++) {
		if (map->rules[i].marker || !map->rules[i].problem)
			continue;
		json_begin_object(writer, NULL);
		write_place(writer, &map->rules[i], NULL);
		json_put_text(writer, "problem", map->rules[i].problem);
		json_end(writer);
	}
	json_end(writer);
}

static void
write_tail(struct json_writer *writer, const struct report *report)
{
	const struct rule_map *map = report->map;

	json_put_number(writer, "remainder", report->remainder);
	json_put_number(writer, "lost", report_lost(report));
	json_begin_object(writer, "overhead");
	json_put_number(writer, "per_call", map->overhead_per_call_ns);
	json_put_number(writer, "total", report->overhead_total);
	json_end(writer);
	json_begin_array(writer, "findings");
	json_end(writer);
	json_begin_array(writer, "failures");
	for (size_t i = 0; i < report->failures_count; i++)
		write_failure(writer, &report->failures[i]);
	json_end(writer);
	write_losses(writer, &report->loss);
	write_unmeasured(writer, map);
	json_begin_array(writer, "notes");
	for (size_t i = 0; i < map->notes_count; i++)
		json_put_text(writer, NULL, map->notes[i]);
	json_end(writer);
}

void
render_json(struct buffer *out, const struct report *report,
	    const struct render_style *style)
{
	struct json_writer writer = { .out = out };

	(void)style;
	json_begin_object(&writer, NULL);
	write_head(&writer, report);
	json_begin_array(&writer, "phases");
	for (size_t i = 0; i < report->phases_count; i++)
		write_phase(&writer, &report->phases[i]);
	json_end(&writer);
	json_begin_array(&writer, "rules");
	for (size_t i = 0; i < report->rules_count; i++)
		write_rule(&writer, &report->rules[i]);
	json_end(&writer);
	write_tail(&writer, report);
	json_end(&writer);
	buffer_char(out, '\n');
}
