/*
 * The assembler's memory: nodes, the groups they belong to, and the tables
 * that find both. Separate from assemble.c, which decides what a record
 * means and never touches a list.
 */
#include "group.h"

#include <stdlib.h>
#include <string.h>

#include "../base/alloc.h"

void
group_store_init(struct group_store *store)
{
	*store = (struct group_store){ 0 };
	store->recent = alloc_zero(GROUP_RECENT, sizeof(*store->recent));
}

void
group_store_free(struct group_store *store)
{
	while (store->spare) {
		struct node *node = store->spare;

		store->spare = node->after;
		free(node);
	}
	id_table_free(&store->spans);
	id_table_free(&store->runs);
	id_table_free(&store->transactions);
	id_table_free(&store->lanes);
	free(store->recent);
}

static struct group_list *
list_of(struct group_store *store, const struct group *group)
{
	return group->run ? &store->with_run : &store->without_run;
}

static void
list_append(struct group_list *list, struct group *group)
{
	group->after = NULL;
	group->before = list->last;
	if (list->last)
		list->last->after = group;
	else
		list->first = group;
	list->last = group;
}

static void
list_remove(struct group_list *list, struct group *group)
{
	if (group->before)
		group->before->after = group->after;
	else
		list->first = group->after;
	if (group->after)
		group->after->before = group->before;
	else
		list->last = group->before;
}

void
group_touch(struct group_store *store, struct group *group)
{
	struct group_list *list = list_of(store, group);

	/* Runs come out in the order in which they began. */
	if (group->run || list->last == group)
		return;
	list_remove(list, group);
	list_append(list, group);
}

struct group *
group_new(struct group_store *store)
{
	struct group *group = alloc_zero(1, sizeof(*group));

	list_append(&store->without_run, group);
	return group;
}

struct group *
group_of_run(struct group_store *store, uint64_t run)
{
	struct group *group = id_table_find(&store->runs, run);

	if (group)
		return group;
	group = alloc_zero(1, sizeof(*group));
	group->run = run;
	list_append(&store->with_run, group);
	id_table_put(&store->runs, run, group);
	return group;
}

struct group *
group_of_transaction(struct group_store *store, uint64_t id)
{
	struct group_transaction *transaction;

	transaction = id_table_find(&store->transactions, id);
	return transaction ? transaction->group : NULL;
}

/* Moves all of from into group and frees from. */
static void
merge(struct group_store *store, struct group *group, struct group *from)
{
	struct group_transaction **end = &group->transactions;

	for (struct node *node = from->first; node; node = node->after)
		node->group = group;
	if (from->first) {
		if (group->last)
			group->last->after = from->first;
		else
			group->first = from->first;
		group->last = from->last;
	}
	group->count += from->count;
	group->open += from->open;
	if (!group->transaction)
		group->transaction = from->transaction;
	if (!group->start_pid)
		group->start_pid = from->start_pid;
	while (*end)
		end = &(*end)->next;
	*end = from->transactions;
	for (struct group_transaction *t = *end; t; t = t->next)
		t->group = group;
	list_remove(list_of(store, from), from);
	free(from);
}

void
group_bind(struct group_store *store, struct group *group, uint64_t id)
{
	struct group_transaction *bound;

	bound = id_table_find(&store->transactions, id);
	if (bound) {
		if (bound->group != group && !bound->group->run)
			merge(store, group, bound->group);
		return;
	}
	bound = alloc_zero(1, sizeof(*bound));
	bound->id = id;
	bound->group = group;
	bound->next = group->transactions;
	group->transactions = bound;
	if (!group->transaction)
		group->transaction = id;
	id_table_put(&store->transactions, id, bound);
}

struct node *
group_node_new(struct group_store *store, uint64_t id)
{
	struct node *node = store->spare;

	if (node) {
		store->spare = node->after;
		memset(node, 0, sizeof(*node));
	} else {
		node = alloc_zero(1, sizeof(*node));
	}
	node->id = id;
	id_table_put(&store->spans, id, node);
	store->held++;
	return node;
}

void
group_add(struct group *group, struct node *node)
{
	node->group = group;
	node->after = NULL;
	if (group->last)
		group->last->after = node;
	else
		group->first = node;
	group->last = node;
	group->count++;
	group->open += !node->ended;
}

void
group_lane_push(struct group_store *store, struct node *node)
{
	node->above = NULL;
	node->below = id_table_find(&store->lanes, node->lane);
	if (node->below)
		node->below->above = node;
	node->on_lane = true;
	id_table_put(&store->lanes, node->lane, node);
}

void
group_lane_remove(struct group_store *store, struct node *node)
{
	if (!node->on_lane)
		return;
	node->on_lane = false;
	if (node->below)
		node->below->above = node->above;
	if (node->above)
		node->above->below = node->below;
	else if (node->below)
		id_table_put(&store->lanes, node->lane, node->below);
	else
		id_table_remove(&store->lanes, node->lane);
}

static void
node_drop(struct group_store *store, struct node *node)
{
	store->recent[node->id % GROUP_RECENT] = node->id << 1 | !node->ended;
	group_lane_remove(store, node);
	id_table_remove(&store->spans, node->id);
	node_clear(node);
	node->after = store->spare;
	store->spare = node;
	store->held--;
}

void
group_drop(struct group_store *store, struct group *group)
{
	for (struct node *node = group->first, *after; node; node = after) {
		after = node->after;
		node_drop(store, node);
	}
	while (group->transactions) {
		struct group_transaction *transaction = group->transactions;

		group->transactions = transaction->next;
		id_table_remove(&store->transactions, transaction->id);
		free(transaction);
	}
	if (group->run)
		id_table_remove(&store->runs, group->run);
	list_remove(list_of(store, group), group);
	free(group);
}

enum group_memory
group_recent(const struct group_store *store, uint64_t id)
{
	uint64_t kept = store->recent[id % GROUP_RECENT];

	if (!kept || kept >> 1 != id << 1 >> 1)
		return RECENT_UNKNOWN;
	return kept & 1 ? RECENT_UNFINISHED : RECENT_ENDED;
}
