/*
 * Spans and rule maps made by hand, for tests of what comes behind the
 * assembler.
 */
#ifndef PAMPROF_TESTS_SPANS_H
#define PAMPROF_TESTS_SPANS_H

#include "../../pamprof/stat/report.h"

#define US 1000ull
#define MS 1000000ull

/*
 * A span of that kind below parent (NULL: a root), returned from with result
 * 0. It starts where the parent's last child ended, or with the parent, and
 * takes ns, which must be within the parent. span_free() frees a whole tree.
 */
struct span *span_new(struct span *parent, enum record_kind kind,
		      enum record_phase phase, uint64_t ns);
void span_free(struct span *root);

/* Lets ns pass in the parent before the next child. */
void span_pause(struct span *parent, uint64_t ns);

/* A call of the rule with that marker. */
struct span *span_call(struct span *phase, uint32_t marker, uint64_t ns,
		       int result);

/* Sets the CPU time, as measured. */
void span_cpu(struct span *span, uint64_t ns);

/* Empties the end: entered, never left. */
void span_break(struct span *span);

/* A rule for a map: file:line group control module args. */
struct rule_words {
	const char *file;
	unsigned line;
	const char *group, *control, *module, *args;
};

/* A map with these rules, numbered from 1; rule_map_free() it. */
struct rule_map *map_new(const struct rule_words *rules, size_t count);

/* Builds the report of these runs. */
struct report *report_of(const struct rule_map *map, struct span *const *roots,
			 size_t count);

#endif
