/*
 * Takes one run apart: whose time was it? Intervals are cut so that siblings
 * never overlap and no child reaches beyond its parent; that is what makes
 * the sums of a report exact, whatever a recording claims. Apart from
 * report.c, which only counts and keeps.
 */
#include "builder.h"

#include <security/pam_modules.h>
#include <string.h>

#include "../base/alloc.h"

/* Calls deeper than this are part of their parent's time, without a row. */
#define NESTING_LIMIT 32

/* A gap behind the last module shorter than this is libpam's own work. */
#define FAIL_DELAY_FLOOR_NS 1000000u

struct interval {
	uint64_t start, end;
};

/* One row of the report's phases, while its calls are looked at. */
struct pass {
	enum record_phase phase;
	const struct span *first, *until; /* siblings; until is not in it */
	struct interval at;
	bool verdict_known, cpu_known;
	int verdict;
	uint64_t cpu; /* in libpam itself */
};

static uint64_t
length(struct interval at)
{
	return at.end - at.start;
}

static uint64_t
smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t
larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* a - b, or 0. */
static uint64_t
less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t
span_end(const struct span *span)
{
	uint64_t end = span->record.start_ns + span->record.duration_ns;

	return end < span->record.start_ns ? UINT64_MAX : end;
}

/*
 * Cuts the next interval for span out of what is left and moves left->start
 * behind it. A span that never ended lasted until its next sibling began, or
 * to the end of its parent: it was in there when the process died.
 */
static struct interval
cut(struct interval *left, const struct span *span)
{
	struct interval at = { span->record.start_ns, span_end(span) };

	if (span->unfinished)
		at.end = span->next ? span->next->record.start_ns : left->end;
	at.start = smaller(larger(at.start, left->start), left->end);
	at.end = smaller(larger(at.end, at.start), left->end);
	left->start = at.end;
	return at;
}

/* The next span below top in the order of their begins, or NULL. */
static const struct span *
walk(const struct span *span, const struct span *top)
{
	if (span->children)
		return span->children;
	while (span != top && !span->next)
		span = span->parent;
	return span == top ? NULL : span->next;
}

/* From the first to the last moment anything of the tree is known at. */
static struct interval
extent(const struct span *root)
{
	struct interval at = { root->record.start_ns, span_end(root) };

	if (root->record.kind == KIND_RUN && !root->unfinished)
		return at;
	if (root->record.kind != KIND_RUN && root->children)
		at = (struct interval){ root->children->record.start_ns, 0 };
	for (const struct span *span = walk(root, root); span;
	     span = walk(span, root)) {
		at.start = smaller(at.start, span->record.start_ns);
		at.end = larger(at.end, span_end(span));
	}
	return at;
}

static void
keep(struct report_builder *builder, uint32_t row, enum figure_of of,
     const struct split *split)
{
	for (unsigned i = 0; i < CATEGORY_COUNT; i++)
		builder_figure(builder,
			       &(struct figure){ split->ns[i], row, of, i });
}

/* Who waits on whom is not known yet: CPU, people, and the rest. */
static struct split
split_call(const struct record *record, uint64_t wall, uint64_t human)
{
	struct split split = { 0 };

	if (record->valid & VALID_CONVERSATION)
		human = larger(human, record->prompt_ns);
	human = smaller(human, wall);
	if (record->valid & VALID_CPU)
		split.ns[CATEGORY_CPU] = smaller(record->cpu_ns, wall - human);
	split.ns[CATEGORY_HUMAN] = human;
	split.ns[CATEGORY_OTHER] = wall - human - split.ns[CATEGORY_CPU];
	return split;
}

static void
count_call(struct report_builder *builder, uint32_t row,
	   const struct span *call, uint64_t prompts)
{
	struct report_rule *rule = &builder->rules[row].rule;

	builder->calls++;
	rule->calls++;
	rule->prompts += larger(prompts, call->record.prompts);
	if (call->unfinished || call->record.outcome == OUTCOME_EXIT ||
	    call->record.outcome == OUTCOME_SIGNAL)
		rule->unfinished++;
	else
		builder_result(&rule->results, &rule->results_count,
			       call->record.result);
}

/*
 * Measures a call that took the interval at, and those nested in it; depth
 * is 0 for one that libpam made. Returns its split, which sums to at.
 */
static struct split
measure_call(struct report_builder *builder, enum record_phase phase,
	     const struct span *call, struct interval at, unsigned depth)
{
	uint32_t row = builder_rule(builder, phase, call);
	uint64_t human = 0, prompts = 0, nested = 0;
	struct interval left = at;
	struct split split;

	for (const struct span *span = call->children; span;
	     span = span->next) {
		struct interval part = cut(&left, span);

		if (span->record.kind == KIND_CONVERSATION) {
			human += length(part);
			prompts += span->record.prompts;
		} else if (span->record.kind == KIND_CALL &&
			   depth < NESTING_LIMIT) {
			split =
			    measure_call(builder, phase, span, part, depth + 1);
			human += split.ns[CATEGORY_HUMAN];
			nested += length(part);
		}
	}
	split = split_call(&call->record, length(at), human);
	keep(builder, row, depth ? OF_NESTED : OF_RULE, &split);
	builder_figure(builder, &(struct figure){ nested, row, OF_WITHIN, 0 });
	builder->nested |= depth > 0;
	builder->rules[row].own_total += length(at) - nested;
	samples_add(&builder->rules[row].wall, length(at));
	count_call(builder, row, call, prompts);
	return split;
}

/*
 * Only authentication and password changes sleep after a refusal, behind the
 * last module (pam_fail_delay(3)). There is no record of it, so it has to be
 * long, to follow a refusal and to have used no CPU to be called deliberate.
 */
static bool
is_fail_delay(const struct pass *pass, uint64_t gap)
{
	return (pass->phase == PHASE_AUTHENTICATE ||
		pass->phase == PHASE_CHAUTHTOK_PRELIM ||
		pass->phase == PHASE_CHAUTHTOK_UPDATE) &&
	       pass->verdict_known && pass->verdict != PAM_SUCCESS &&
	       gap > FAIL_DELAY_FLOOR_NS && pass->cpu_known &&
	       pass->cpu < gap / 4;
}

/* What libpam itself did in self ns, gap of them behind the last module. */
static struct split
split_self(const struct pass *pass, uint64_t self, uint64_t gap)
{
	uint64_t cpu = pass->cpu_known ? smaller(pass->cpu, self) : 0;
	struct split split = { 0 };

	if (is_fail_delay(pass, gap))
		split.ns[CATEGORY_DELIBERATE] = smaller(gap, self - cpu);
	split.ns[CATEGORY_CPU] = cpu;
	split.ns[CATEGORY_OTHER] = self - cpu - split.ns[CATEGORY_DELIBERATE];
	return split;
}

static void
count_phase(struct report_builder *builder, const struct pass *pass,
	    uint32_t number)
{
	struct phase_row *row = &builder->phases[number];

	if (row->run != builder->runs_count) {
		row->run = builder->runs_count;
		row->run_wall = 0;
		samples_add(&row->wall, 0);
	}
	/* An application may make a call twice: one sample for each run. */
	row->run_wall += length(pass->at);
	row->wall.ns[row->wall.count - 1] = row->run_wall;
	if (!pass->verdict_known)
		return;
	builder_result(&row->phase.verdicts, &row->phase.verdicts_count,
		       pass->verdict);
	builder_figure(builder, &(struct figure){ (uint32_t)pass->verdict,
						  number, OF_VERDICT, 0 });
	builder->denied |= pass->verdict != PAM_SUCCESS;
}

static void
measure_pass(struct report_builder *builder, const struct pass *pass)
{
	uint32_t number = builder_phase(builder, pass->phase);
	struct interval left = pass->at;
	uint64_t modules = 0, last = pass->at.start;
	struct split self;

	for (const struct span *span = pass->first; span != pass->until;
	     span = span->next) {
		struct interval at = cut(&left, span);

		if (span->record.kind != KIND_CALL)
			continue;
		measure_call(builder, pass->phase, span, at, 0);
		modules += length(at);
		last = at.end;
	}
	self =
	    split_self(pass, length(pass->at) - modules, pass->at.end - last);
	keep(builder, number, OF_SELF, &self);
	count_phase(builder, pass, number);
}

/* CPU that a phase used outside its modules. */
static void
self_cpu(struct pass *pass, const struct span *phase)
{
	pass->cpu_known =
	    !phase->unfinished && (phase->record.valid & VALID_CPU) != 0;
	pass->cpu = pass->cpu_known ? phase->record.cpu_ns : 0;
	for (const struct span *span = phase->children; span; span = span->next)
		if (span->record.kind == KIND_CALL)
			pass->cpu = less(pass->cpu, span->record.cpu_ns);
}

/*
 * The application calls pam_chauthtok once, libpam runs the stack twice. The
 * first pass ends where the second one's first module begins; libpam's CPU
 * is shared out by length because nobody measured it apart. A second pass
 * means that the first one succeeded.
 */
static void
measure_chauthtok(struct report_builder *builder, const struct pass *whole)
{
	struct pass prelim = *whole, update = *whole;
	const struct span *span = whole->first;
	uint64_t middle;

	while (span && span->record.phase != PHASE_CHAUTHTOK_UPDATE)
		span = span->next;
	prelim.phase = PHASE_CHAUTHTOK_PRELIM;
	if (!span) {
		measure_pass(builder, &prelim);
		return;
	}
	middle = smaller(larger(span->record.start_ns, whole->at.start),
			 whole->at.end);
	update.phase = PHASE_CHAUTHTOK_UPDATE;
	prelim.until = update.first = span;
	prelim.at.end = update.at.start = middle;
	prelim.verdict = PAM_SUCCESS;
	prelim.verdict_known = true;
	if (length(whole->at))
		prelim.cpu =
		    (double)whole->cpu * length(prelim.at) / length(whole->at);
	update.cpu = less(whole->cpu, prelim.cpu);
	measure_pass(builder, &prelim);
	measure_pass(builder, &update);
}

static void
measure_phase(struct report_builder *builder, const struct span *span,
	      struct interval at)
{
	struct pass pass = { .phase = builder_phase_of(&span->record),
			     .first = span->children,
			     .at = at,
			     .verdict = span->record.result };

	pass.verdict_known =
	    !span->unfinished && (span->record.outcome == OUTCOME_RETURNED ||
				  span->record.outcome == OUTCOME_NONE);
	self_cpu(&pass, span);
	if (pass.phase == PHASE_CHAUTHTOK)
		measure_chauthtok(builder, &pass);
	else
		measure_pass(builder, &pass);
}

/*
 * Calls that nobody put into a phase (trace without phases): a phase is then
 * a series of calls of the same kind, from the first to the last. Returns
 * the last one.
 */
static const struct span *
measure_series(struct report_builder *builder, const struct span *first,
	       struct interval *left, uint64_t *ns)
{
	struct pass pass = { .phase = builder_phase_of(&first->record),
			     .first = first,
			     .until = first->next };
	const struct span *last = first;

	pass.at.start =
	    smaller(larger(first->record.start_ns, left->start), left->end);
	cut(left, first);
	while (pass.until && pass.until->record.kind == KIND_CALL &&
	       builder_phase_of(&pass.until->record) == pass.phase) {
		last = pass.until;
		cut(left, last);
		pass.until = last->next;
	}
	pass.at.end = larger(left->start, pass.at.start);
	measure_pass(builder, &pass);
	*ns += length(pass.at);
	return last;
}

/* pam_start: modules are loaded in it. */
static void
measure_start(struct run_figures *run, const struct span *start,
	      struct interval at)
{
	struct interval left = at;
	uint64_t load = 0;

	for (const struct span *span = start->children; span;
	     span = span->next) {
		struct interval part = cut(&left, span);

		if (span->record.kind == KIND_LOAD)
			load += length(part);
	}
	run->load += load;
	run->start += length(at) - load;
}

/* Everything right below the root; returns the time in phases. */
static uint64_t
measure_children(struct report_builder *builder, struct run_figures *run,
		 const struct span *root, struct interval left)
{
	uint64_t phases = 0;

	for (const struct span *span = root->children; span;
	     span = span->next) {
		unsigned kind = span->record.kind, phase = span->record.phase;
		struct interval at;

		if (kind == KIND_CALL) {
			span = measure_series(builder, span, &left, &phases);
			continue;
		}
		at = cut(&left, span);
		if (kind == KIND_LOAD)
			run->load += length(at);
		else if (kind == KIND_PHASE && phase == PHASE_START)
			measure_start(run, span, at);
		else if (kind == KIND_PHASE && phase == PHASE_END)
			run->end += length(at);
		else if (kind == KIND_PHASE) {
			measure_phase(builder, span, at);
			phases += length(at);
		}
	}
	return phases;
}

/* The innermost span that was never left, or NULL. */
static const struct span *
open_span(const struct span *root)
{
	const struct span *open = NULL;

	for (const struct span *span = root; span;) {
		const struct span *last = NULL;

		for (span = span->children; span; span = span->next)
			if (span->unfinished)
				last = span;
		open = last ? last : open;
		span = last;
	}
	return open;
}

/* Whether a run ended badly, where, and how. */
static void
note_failure(struct report_builder *builder, const struct span *root)
{
	const struct span *open = open_span(root);
	struct report_failure failure = { .run = builder->runs_count + 1,
					  .outcome = root->record.outcome,
					  .result = root->record.result };

	if (failure.outcome == OUTCOME_RETURNED)
		failure.outcome = OUTCOME_NONE;
	if (!open && failure.outcome == OUTCOME_NONE && !root->unfinished)
		return;
	/* A conversation that hangs is one of the module that asked. */
	while (open && open != root && open->record.kind == KIND_CONVERSATION)
		open = open->parent;
	if (open && open != root)
		failure.phase = builder_phase_of(&open->record);
	if (open && open->record.kind == KIND_CALL) {
		failure.rule = builder_find_rule(builder, open);
		if (!failure.rule)
			failure.label = alloc_string(open->object);
	}
	builder_failure(builder, &failure);
}

void
report_builder_root(void *context, const struct span *root)
{
	struct report_builder *builder = context;
	struct run_figures run = { .first = builder->figures_count };
	struct interval at = extent(root);
	uint64_t phases;

	note_failure(builder, root);
	/* Rows tell the run being measured by this number, so it is first. */
	builder->runs_count++;
	phases = measure_children(builder, &run, root, at);
	run.wall = length(at);
	run.outside = run.wall - phases;
	run.remainder = run.outside - run.load - run.start - run.end;
	if (root->record.kind != KIND_RUN) {
		builder->transactions = true;
		run.application = run.remainder;
		run.wall -= run.remainder;
		run.outside -= run.remainder;
		run.remainder = 0;
	}
	run.count = builder->figures_count - run.first;
	if (builder->runs_count > builder->runs_size) {
		builder->runs_size = builder->runs_count * 2;
		builder->runs =
		    alloc_array(builder->runs, builder->runs_size, sizeof(run));
	}
	builder->runs[builder->runs_count - 1] = run;
}
