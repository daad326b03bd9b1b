/*
 * Between measure.c, which takes one run apart, and report.c, which keeps
 * what was found until the median run is known. Nobody else includes it.
 */
#ifndef PAMPROF_STAT_BUILDER_H
#define PAMPROF_STAT_BUILDER_H

#include "distribution.h"
#include "report.h"

/* What a figure belongs to. */
enum figure_of {
	OF_SELF,    /* row is a phase: libpam's own time in it */
	OF_RULE,    /* row is a rule called by libpam */
	OF_NESTED,  /* row is a rule called from inside another rule */
	OF_WITHIN,  /* row is a rule: the part other rules took in it */
	OF_VERDICT, /* row is a phase: ns is the returned value */
};

/*
 * One number of one run. A wall time is the sum of its categories, so the
 * categories that are not zero are all that has to be kept of each run.
 */
struct figure {
	uint64_t ns;
	uint32_t row;
	uint8_t of, category;
};

/* One run, until it is known whether it is the median one. */
struct run_figures {
	uint64_t wall, outside, load, start, end, remainder, application;
	size_t first, count; /* of builder.figures */
};

struct rule_row {
	struct report_rule rule;
	struct samples wall;
	uint64_t own_total; /* over all runs, without nested calls */
	size_t order;       /* in the map; behind it for unknown modules */
};

struct phase_row {
	struct report_phase phase;
	struct samples wall;
	uint64_t run, run_wall; /* the run being measured and its time */
};

struct label_row;

struct report_builder {
	const struct rule_map *map;
	struct run_figures *runs;
	size_t runs_count, runs_size;
	struct figure *figures;
	size_t figures_count, figures_size;
	struct phase_row phases[PHASE_COUNT]; /* in order of appearance */
	size_t phases_count;
	uint32_t phase_index[PHASE_COUNT]; /* row + 1, or 0 */
	struct rule_row *rules;
	size_t rules_count, rules_size;
	uint32_t *rule_index;     /* [phase][rule of the map]: row + 1, or 0 */
	struct label_row *labels; /* hash of rows that fit no rule */
	struct report_failure *failures;
	size_t failures_count, failures_size;
	uint64_t calls;
	bool transactions, nested, denied;
};

/* Row numbers; made when new. */
uint32_t builder_phase(struct report_builder *builder, enum record_phase phase);
uint32_t builder_rule(struct report_builder *builder, enum record_phase phase,
		      const struct span *call);

/* The rule a call is of, or NULL when the map has none that fits. */
const struct map_rule *builder_find_rule(const struct report_builder *builder,
					 const struct span *call);

/* Keeps ns of the run being measured; zero is left out but for a verdict. */
void builder_figure(struct report_builder *builder,
		    const struct figure *figure);

/* Counts a returned value. */
void builder_result(struct report_result **results, size_t *count, int value);

/* Keeps a failure of the run being measured; label is taken over. */
void builder_failure(struct report_builder *builder,
		     const struct report_failure *failure);

/* DELETE_CRED for a setcred with that flag, else the record's own phase. */
enum record_phase builder_phase_of(const struct record *record);

#endif
