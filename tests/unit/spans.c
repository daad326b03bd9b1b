/*
 * Hand-made spans. Only ends are written: the assembler, which makes spans
 * of records, has tests of its own.
 */
#include "spans.h"

#include <stdlib.h>

#include "../../pamprof/base/alloc.h"

/* Far from zero, as a machine's clock is. */
#define ORIGIN 1000000000000ull

static struct span *
last_child(const struct span *parent)
{
	struct span *last = parent->children;

	while (last && last->next)
		last = last->next;
	return last;
}

/* A pause is kept in the parent's count, which no report looks at. */
static uint64_t
next_start(struct span *parent)
{
	const struct span *last = last_child(parent);
	uint64_t start = parent->record.start_ns;

	if (last)
		start = last->record.start_ns + last->record.duration_ns;
	start += (uint64_t)parent->record.count;
	parent->record.count = 0;
	return start;
}

struct span *
span_new(struct span *parent, enum record_kind kind, enum record_phase phase,
	 uint64_t ns)
{
	struct span *span = alloc_zero(1, sizeof(*span));
	struct span *last = parent ? last_child(parent) : NULL;

	span->record.type = RECORD_END;
	span->record.kind = kind;
	span->record.phase = phase;
	span->record.outcome = OUTCOME_RETURNED;
	span->record.start_ns = parent ? next_start(parent) : ORIGIN;
	span->record.duration_ns = ns;
	span->service = alloc_string("");
	span->rhost = alloc_string("");
	span->tty = alloc_string("");
	span->object = alloc_string("");
	span->parent = parent;
	if (last)
		last->next = span;
	else if (parent)
		parent->children = span;
	return span;
}

void
span_free(struct span *root)
{
	while (root->children) {
		struct span *child = root->children;

		root->children = child->next;
		span_free(child);
	}
	free(root->service);
	free(root->rhost);
	free(root->tty);
	free(root->object);
	free(root);
}

void
span_pause(struct span *parent, uint64_t ns)
{
	parent->record.count = (uint32_t)ns;
}

struct span *
span_call(struct span *phase, uint32_t marker, uint64_t ns, int result)
{
	struct span *span = span_new(phase, KIND_CALL, phase->record.phase, ns);

	span->record.marker = marker;
	span->record.valid = VALID_MARKER;
	span->record.result = result;
	return span;
}

void
span_cpu(struct span *span, uint64_t ns)
{
	span->record.cpu_ns = ns;
	span->record.valid |= VALID_CPU;
}

void
span_break(struct span *span)
{
	span->record.type = RECORD_BEGIN;
	span->record.outcome = OUTCOME_NONE;
	span->record.duration_ns = 0;
	span->unfinished = true;
}

struct rule_map *
map_new(const struct rule_words *rules, size_t count)
{
	struct rule_map *map = alloc_zero(1, sizeof(*map));

	map->command = alloc_string("run");
	map->host = alloc_string("host.example");
	map->pam = alloc_string("1.5.2");
	map->service = alloc_string("login");
	map->user = alloc_string("jane");
	map->version = alloc_string("0.1");
	map->overhead_per_call_ns = 310;
	map->rules = alloc_zero(count + 1, sizeof(*map->rules));
	map->rules_count = count;
	for (size_t i = 0; i < count; i++) {
		struct map_rule *rule = &map->rules[i];

		rule->marker = (uint32_t)i + 1;
		rule->file = alloc_string(rules[i].file);
		rule->line = rule->last_line = rules[i].line;
		rule->group = alloc_string(rules[i].group);
		rule->control = alloc_string(rules[i].control);
		rule->module = alloc_string(rules[i].module);
		rule->path = alloc_format("/lib/security/%s", rules[i].module);
		rule->args = alloc_string(rules[i].args);
	}
	return map;
}

struct report *
report_of(const struct rule_map *map, struct span *const *roots, size_t count)
{
	struct report_builder *builder = report_builder_new(map);
	struct assembly_loss loss = { 0 };

	for (size_t i = 0; i < count; i++)
		report_builder_root(builder, roots[i]);
	return report_builder_finish(builder, &loss);
}
