/*
 * From a group of spans to a tree: which span lies inside which.
 */
#ifndef PAMPROF_TRACE_NEST_H
#define PAMPROF_TRACE_NEST_H

#include "assemble.h"
#include "node.h"

/* Deeper than any stack of PAM calls; renderers may recurse that far. */
#define NEST_DEPTH_MAX 32

/* What belongs together. run is among the nodes, or NULL. */
struct nest {
	struct node **nodes;
	size_t count;
	struct node *run;
	uint64_t gaps;        /* generations missed up to now */
	uint64_t orphans;     /* out: nodes whose place is not where they say */
	struct node **phases; /* inside: by transaction and start */
	size_t phases_count;
};

/*
 * Links children to parents, sorted by start, and leaves the nodes that
 * have no parent (the run is not among them) in *loose, linked by next and
 * sorted by transaction, then by start. Bounds the duration of unfinished
 * spans by what is known to come after them. Reorders the array.
 */
void nest(struct nest *nest, struct span **loose);

#endif
