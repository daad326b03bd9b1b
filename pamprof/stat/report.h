/*
 * The finished report: what renderers turn into bytes. Built once from
 * trees of spans; const afterwards. All times in ns.
 */
#ifndef PAMPROF_STAT_REPORT_H
#define PAMPROF_STAT_REPORT_H

#include <stddef.h>

#include "../trace/assemble.h"
#include "../trace/rule_map.h"

/* Distribution of a sample: D of the JSON report. All zero when n is 0. */
struct distribution {
	uint64_t n, min, median, mean, p95, p99, max;
};

/* Wall time by category (enum record_category); sums to the wall exactly. */
struct split {
	uint64_t ns[CATEGORY_COUNT];
};

struct report_result {
	int value; /* PAM return value */
	uint64_t count;
};

/* One rule in one phase. */
struct report_rule {
	enum record_phase phase;
	const struct map_rule *rule; /* of report.map; NULL: label says */
	char *label; /* path of a module that fits no rule, or NULL */
	uint64_t calls, prompts, unfinished; /* unfinished: of calls */
	struct report_result *results;
	size_t results_count;
	struct distribution wall;
	uint64_t median_wall; /* in the median run */
	uint64_t median_own;  /* the same without calls nested in it */
	struct split median_split;
	double share; /* own part of the wall time of all runs, 0 to 1 */
};

struct report_phase {
	enum record_phase phase;
	int verdict;        /* of the median run; verdicts has all */
	bool verdict_known; /* false: never returned */
	struct report_result *verdicts;
	size_t verdicts_count;
	struct distribution wall;
	uint64_t median_wall, median_modules, median_self;
	struct split median_split, self_split; /* of wall, of self */
};

/* A run that did not end by itself. */
struct report_failure {
	uint64_t run;                /* from 1 */
	enum record_outcome outcome; /* OUTCOME_NONE: a call never ended */
	int result;                  /* signal, exit status, or ms */
	enum record_phase phase;
	const struct map_rule *rule; /* it was in, or NULL */
	char *label; /* path of the module when no rule is known, or NULL */
};

struct report {
	const struct rule_map *map;
	uint64_t runs;
	struct distribution wall;             /* of the runs */
	uint64_t median_wall, median_outside; /* of the median run */
	/* Of the median run's outside, with remainder: all there is. */
	uint64_t load_ns, start_ns, end_ns; /* start without loading */
	/*
	 * Where the trees are transactions (trace), wall is the time inside
	 * libpam; what the application did in between is here.
	 */
	uint64_t application_ns;
	bool transactions;
	bool nested; /* calls inside calls were seen */
	bool denied; /* in any run a phase was refused, or a run failed */
	struct report_phase *phases; /* in order of the application's calls */
	size_t phases_count;
	struct report_rule *rules; /* in order of phase, then of the stack */
	size_t rules_count;
	struct report_failure *failures;
	size_t failures_count;
	uint64_t remainder; /* of the median run: not in any phase or load */
	struct assembly_loss loss;
	uint64_t calls;          /* all module calls, for the overhead */
	uint64_t overhead_total; /* calls * map->overhead_per_call_ns */
};

/* Collects runs; report_builder_root is an assembler_emit. */
struct report_builder;
struct report_builder *report_builder_new(const struct rule_map *map);
void report_builder_root(void *builder, const struct span *root);

/*
 * Finishes: the median run is chosen, distributions are computed. Frees the
 * builder. The report refers to map, which must outlive it.
 */
struct report *report_builder_finish(struct report_builder *builder,
				     const struct assembly_loss *loss);
void report_free(struct report *report);

/* Sum of all losses. */
uint64_t report_lost(const struct report *report);

/* The median run's first verdict that is not PAM_SUCCESS; false: unknown. */
bool report_verdict(const struct report *report, int *verdict);

/* "PAM_SUCCESS" ... ; "PAM_99" in a static buffer for unknown values. */
const char *report_pam_name(int value);
/* "authenticate" ... */
const char *report_phase_name(enum record_phase phase);
/* "auth" ..., the group of rules a phase calls; "" for none. */
const char *report_phase_group(enum record_phase phase);
/* "cpu" ... */
const char *report_category_name(enum record_category category);

#endif
