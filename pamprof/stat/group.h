/*
 * Groups of samples: one tally each, found by its key. Memory is bounded by
 * the number of groups, and that is bounded too.
 */
#ifndef PAMPROF_STAT_GROUP_H
#define PAMPROF_STAT_GROUP_H

#include <stdbool.h>

#include "histogram.h"

/* Beyond that many, samples go to the group TALLY_OTHER. */
#define TALLY_MAX     10000
#define TALLY_OTHER   "(other)"
#define TALLY_RESULTS 32 /* PAM return values that have a count of their own */

struct tally {
	char *key;
	enum record_phase phase; /* of a rule or a phase */
	struct map_rule rule;    /* of a rule: a copy; else all zero */
	bool has_rule;
	uint64_t calls, unfinished;
	uint64_t share_ns; /* time that is part of a login's time */
	uint64_t cpu_ns, human_ns;
	uint64_t results[TALLY_RESULTS + 1]; /* the last: any other value */
	struct histogram wall;
};

struct tally_sample {
	uint64_t wall, share, cpu, human; /* ns */
	int result;
	bool has_result;
};

/* All zero is empty. */
struct tally_table {
	struct tally *head; /* of uthash */
	struct tally **tallies;
	size_t count, size;
};

/*
 * The tally of that key, made when it is new (*made, unless NULL, tells).
 * It stays where it is until tally_table_free().
 */
struct tally *tally_find(struct tally_table *table, const char *key,
			 bool *made);

/* Says which rule it is of; the strings are copied. NULL: none is known. */
void tally_set_rule(struct tally *tally, enum record_phase phase,
		    const struct map_rule *rule);

/* Adds a sample; calls is the caller's to count. */
void tally_add(struct tally *tally, const struct tally_sample *sample);

/* Sorts tallies: most time first, or by key. Finding goes on working. */
void tally_sort(struct tally_table *table, bool by_key);
void tally_table_free(struct tally_table *table);

#endif
