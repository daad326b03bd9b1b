/*
 * Which span lies inside which. On one thread the order of claims answers
 * that exactly, even where begin records were lost or the clock did not
 * move: whatever was claimed between the two ends of a span lies inside it.
 * Times are then required to agree. Between threads and processes only the
 * transaction and the times are left. Separate from the assembler, which
 * decides what belongs together and when it is complete.
 */
#include "nest.h"

#include <stdlib.h>

#include "../base/alloc.h"

/* How many phases of one transaction are looked at for a foreign call. */
#define PHASES_TRIED 64
/* How many siblings are looked at for the end of an unfinished span. */
#define SIBLINGS_TRIED 16

#define ORDER(a, b) ((a) < (b) ? -1 : (a) > (b))

static int
by_lane(const void *left, const void *right)
{
	const struct node *a = *(struct node *const *)left;
	const struct node *b = *(struct node *const *)right;
	int order = ORDER(a->lane, b->lane);

	return order ? order : ORDER(a->id, b->id);
}

static int
by_start(const void *left, const void *right)
{
	const struct node *a = *(struct node *const *)left;
	const struct node *b = *(struct node *const *)right;
	int order = ORDER(a->span.record.start_ns, b->span.record.start_ns);

	return order ? order : ORDER(a->id, b->id);
}

static int
by_transaction(const void *left, const void *right)
{
	const struct node *a = *(struct node *const *)left;
	const struct node *b = *(struct node *const *)right;
	int order =
	    ORDER(a->span.record.transaction, b->span.record.transaction);

	return order ? order : by_start(left, right);
}

static int
by_id(const void *left, const void *right)
{
	const struct node *a = *(struct node *const *)left;
	const struct node *b = *(struct node *const *)right;

	return ORDER(a->id, b->id);
}

/* Whether the clock says that inner lies within outer; exact, same clock. */
static bool
lies_inside(const struct node *inner, const struct node *outer)
{
	uint64_t start = inner->span.record.start_ns;

	if (outer->id >= inner->id || start < outer->span.record.start_ns)
		return false;
	if (!outer->ended)
		return true;
	return (inner->ended ? node_end(inner) : start) <= node_end(outer);
}

/*
 * Whether it is unknown when node ended: its end record may be among those
 * that were lost, or what is around it has returned without it.
 */
static bool
is_uncertain(const struct nest *nest, const struct node *node)
{
	const struct node *run = nest->run;

	if (node->ended)
		return false;
	return node->gaps != nest->gaps || node->limit != UINT64_MAX ||
	       (run && run->ended && run->lane == node->lane &&
		run->span.record.outcome == OUTCOME_RETURNED);
}

/* Finds outer and limit of every node; nodes are sorted by lane and id. */
static void
sweep(struct nest *nest)
{
	struct node *top = NULL;
	uint64_t lane = 0;

	for (size_t i = 0; i < nest->count; i++) {
		struct node *node = nest->nodes[i];

		if (node == nest->run)
			continue;
		if (node->lane != lane)
			top = NULL;
		lane = node->lane;
		while (top && top->limit < node->id)
			top = top->outer;
		while (top && is_uncertain(nest, top))
			top = top->outer;
		node->outer = top;
		node->limit = node->ended ? node->ended : UINT64_MAX;
		if (top && top->limit < node->limit)
			node->limit = top->limit;
		top = node;
	}
}

/* Where in phases, by transaction and start, the later ones begin. */
static size_t
phases_after(struct node **phases, size_t count, const struct node *key)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_transaction(&phases[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The innermost phase of that transaction that contains node. */
static struct node *
phase_with(const struct nest *nest, const struct node *node,
	   uint64_t transaction)
{
	struct node key = { .id = node->id };
	size_t i;

	key.span.record.start_ns = node->span.record.start_ns;
	key.span.record.transaction = transaction;
	i = phases_after(nest->phases, nest->phases_count, &key);
	for (unsigned tries = 0; i-- > 0 && tries < PHASES_TRIED; tries++) {
		struct node *phase = nest->phases[i];

		if (phase->span.record.transaction != transaction)
			break;
		/* What is still open has outlived a phase that is not. */
		if (!node->ended && phase->ended)
			continue;
		if (phase->lane != node->lane && lies_inside(node, phase) &&
		    !is_uncertain(nest, phase))
			return phase;
	}
	return NULL;
}

/*
 * The phase that contains a call made elsewhere: by a forked child or by
 * another thread of the application. The phases of a run may not know the
 * transaction; it has one at a time.
 */
static struct node *
phase_around(const struct nest *nest, const struct node *node)
{
	struct node *phase = NULL;

	if (node->span.record.transaction)
		phase = phase_with(nest, node, node->span.record.transaction);
	if (!phase && nest->run && node->span.record.transaction)
		phase = phase_with(nest, node, 0);
	return phase;
}

/* The node with that id; nodes are sorted by id. */
static struct node *
named(struct node **nodes, size_t count, uint64_t id)
{
	struct node key = { .id = id }, *wanted = &key, **found;

	found = bsearch(&wanted, nodes, count, sizeof(*nodes), by_id);
	return found ? *found : NULL;
}

/*
 * The parent of a node that is not the run. An orphan gets none, and is
 * counted where it must have had one.
 */
static struct node *
parent_of(struct nest *nest, const struct node *node)
{
	const struct record *record = &node->span.record;
	struct node *parent = node->outer;

	if (record->parent)
		parent = named(nest->nodes, nest->count, record->parent);
	else if (!parent)
		parent = phase_around(nest, node);
	/* A run whose end was lost may have been over by then. */
	if (!parent && !record->parent && nest->run) {
		parent = nest->run;
		if (is_uncertain(nest, parent)) {
			nest->orphans++;
			return NULL;
		}
	}
	if (parent && lies_inside(node, parent) &&
	    (!nest->run || lies_inside(node, nest->run)))
		return parent;
	/* At the top of a transaction without a run nothing is amiss. */
	nest->orphans += parent || record->parent;
	return NULL;
}

static void
collect_phases(struct nest *nest)
{
	nest->phases = alloc_array(NULL, nest->count, sizeof(*nest->phases));
	nest->phases_count = 0;
	for (size_t i = 0; i < nest->count; i++)
		if (nest->nodes[i]->span.record.kind == KIND_PHASE)
			nest->phases[nest->phases_count++] = nest->nodes[i];
	qsort(nest->phases, nest->phases_count, sizeof(*nest->phases),
	      by_transaction);
}

/* Gives every node its parent; nodes are sorted by id. */
static void
find_parents(struct nest *nest)
{
	collect_phases(nest);
	for (size_t i = 0; i < nest->count; i++) {
		struct node *node = nest->nodes[i], *parent = NULL;

		if (node != nest->run)
			parent = parent_of(nest, node);
		node->span.parent = parent ? &parent->span : NULL;
	}
	free(nest->phases);
	nest->phases = NULL;
}

/* Nodes are sorted by id, so a parent's depth is known before a child's. */
static void
limit_depth(struct nest *nest)
{
	for (size_t i = 0; i < nest->count; i++) {
		struct node *node = nest->nodes[i];
		struct node *parent = (struct node *)node->span.parent;

		node->depth = parent ? parent->depth + 1 : 0;
		if (node->depth <= NEST_DEPTH_MAX)
			continue;
		node->span.parent = NULL;
		node->depth = 0;
		nest->orphans++;
	}
}

/* Nodes are sorted by start; put in front one by one, last first. */
static void
link_children(struct nest *nest)
{
	for (size_t i = 0; i < nest->count; i++)
		nest->nodes[i]->span.children = NULL;
	for (size_t i = nest->count; i-- > 0;) {
		struct span *span = &nest->nodes[i]->span;

		span->next = NULL;
		if (!span->parent)
			continue;
		span->next = span->parent->children;
		span->parent->children = span;
	}
}

/* The first later sibling on the same thread: node was over by then. */
static const struct span *
follower(const struct node *node)
{
	const struct span *next = node->span.next;

	for (unsigned tries = 0; next && tries < SIBLINGS_TRIED; tries++) {
		if (((const struct node *)next)->lane == node->lane)
			return next;
		next = next->next;
	}
	return NULL;
}

/*
 * An unfinished span lasted at most to the end of what is around it, or to
 * the start of what came next. Nodes are sorted by start: parents first.
 */
static void
bound_unfinished(struct nest *nest)
{
	for (size_t i = 0; i < nest->count; i++) {
		struct node *node = nest->nodes[i];
		const struct node *parent = (struct node *)node->span.parent;
		struct record *record = &node->span.record;
		const struct span *next = follower(node);
		uint64_t end = 0;

		node->span.unfinished = !node->ended;
		node->end_known = node->ended;
		if (node->ended || !parent)
			continue;
		node->end_known = parent->end_known || next;
		if (parent->end_known)
			end = node_end(parent);
		if (next && (!end || next->record.start_ns < end))
			end = next->record.start_ns;
		if (end > record->start_ns)
			record->duration_ns = end - record->start_ns;
	}
}

static void
collect_loose(struct nest *nest, struct span **loose)
{
	*loose = NULL;
	qsort(nest->nodes, nest->count, sizeof(*nest->nodes), by_transaction);
	for (size_t i = nest->count; i-- > 0;) {
		struct node *node = nest->nodes[i];

		if (node == nest->run || node->span.parent)
			continue;
		node->span.next = *loose;
		*loose = &node->span;
	}
}

void
nest(struct nest *nest, struct span **loose)
{
	nest->orphans = 0;
	if (nest->run)
		nest->run->limit =
		    nest->run->ended ? nest->run->ended : UINT64_MAX;
	qsort(nest->nodes, nest->count, sizeof(*nest->nodes), by_lane);
	sweep(nest);
	qsort(nest->nodes, nest->count, sizeof(*nest->nodes), by_id);
	find_parents(nest);
	limit_depth(nest);
	qsort(nest->nodes, nest->count, sizeof(*nest->nodes), by_start);
	link_children(nest);
	bound_unfinished(nest);
	collect_loose(nest, loose);
}
