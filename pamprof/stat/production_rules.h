/*
 * From the marker of a record to its rule and group, remembered for each
 * map. Only for stat/production*.c.
 */
#ifndef PAMPROF_STAT_PRODUCTION_RULES_H
#define PAMPROF_STAT_PRODUCTION_RULES_H

#include "production.h"

/* One rule in one phase. */
struct rule_ref {
	uint64_t key;        /* 0: free */
	struct tally *group; /* by rule, module or phase; else NULL */
	struct tally *own;   /* of the rule in this phase; stays */
	const struct map_rule *rule;
	char module[41]; /* where no rule is known */
	uint32_t marker;
	enum record_phase phase;
	bool binding; /* its failure fails the phase */
};

/* All zero is empty. */
struct rule_refs {
	enum production_by by;
	struct tally_table *groups, *rules;
	const struct rule_map *map;
	struct rule_ref *refs;
	uint32_t *index; /* ref + 1, by hash of the key; 0: free */
	size_t size, count, refs_size;
};

/* The ref of a call; never NULL, good until the next call. */
const struct rule_ref *rule_ref_find(struct rule_refs *refs,
				     const struct record *record);

/* Another map: everything is looked up again. */
void rule_refs_reset(struct rule_refs *refs, const struct rule_map *map);
void rule_refs_free(struct rule_refs *refs);

#endif
