/*
 * Records in, trees out: what each slot means, to which run or transaction
 * it belongs, and when that is complete. Groups are kept in group.c, the
 * tree is made in nest.c; this file is the order of events.
 */
#include "assemble.h"

#include <stdlib.h>
#include <string.h>

#include "../base/alloc.h"
#include "group.h"
#include "nest.h"
#include "record_check.h"

/* How many open spans of a thread are told of a new transaction. */
#define LANE_TRIED 8

struct assembler {
	assembler_emit emit;
	void *context;
	struct assembly_loss loss;
	struct group_store store;
	uint64_t last_generation, gaps;
	bool waiting; /* for the text slots of pending */
	struct record pending;
	struct node_text text;
};

struct assembler *
assembler_new(assembler_emit emit, void *context)
{
	struct assembler *assembler = alloc_zero(1, sizeof(*assembler));

	assembler->emit = emit;
	assembler->context = context;
	group_store_init(&assembler->store);
	return assembler;
}

struct assembly_loss *
assembler_loss(struct assembler *assembler)
{
	return &assembler->loss;
}

void
assembly_loss_add(struct assembly_loss *to, const struct assembly_loss *loss)
{
	to->torn += loss->torn;
	to->overwritten += loss->overwritten;
	to->dropped += loss->dropped;
	to->duplicated += loss->duplicated;
	to->orphaned += loss->orphaned;
	to->nonsense += loss->nonsense;
}

/* Hands out a made-up root for each transaction among the loose spans. */
static void
emit_loose(struct assembler *assembler, struct span *loose)
{
	static char empty[1];

	while (loose) {
		uint64_t end = 0, last;
		struct span *child = loose;
		struct span root = { .children = loose };
		struct record *record = &root.record;

		record->version = RECORD_VERSION;
		record->type = RECORD_END;
		record->transaction = loose->record.transaction;
		record->start_ns = loose->record.start_ns;
		record->pid = loose->record.pid;
		record->ppid = loose->record.ppid;
		record->tid = loose->record.tid;
		root.service = loose->service;
		root.rhost = loose->rhost;
		root.tty = loose->tty;
		root.object = empty;
		for (;; child = child->next) {
			last =
			    child->record.start_ns + child->record.duration_ns;
			end = last > end ? last : end;
			root.unfinished |= child->unfinished;
			child->parent = &root;
			if (!child->next || child->next->record.transaction !=
						record->transaction)
				break;
		}
		loose = child->next;
		child->next = NULL;
		record->duration_ns = end - record->start_ns;
		assembler->emit(assembler->context, &root);
	}
}

/* Makes the trees of a group, hands them out, forgets the group. */
static void
emit_group(struct assembler *assembler, struct group *group)
{
	struct nest work = { .count = group->count,
			     .run = group->run_node,
			     .gaps = assembler->gaps };
	struct node *node = group->first;
	struct span *loose;

	work.nodes = alloc_array(NULL, group->count, sizeof(*work.nodes));
	for (size_t i = 0; node; node = node->after)
		work.nodes[i++] = node;
	nest(&work, &loose);
	free(work.nodes);
	assembler->loss.orphaned += work.orphans;
	if (group->run_node)
		assembler->emit(assembler->context, &group->run_node->span);
	emit_loose(assembler, loose);
	group_drop(&assembler->store, group);
}

/*
 * The open span on the record's own thread that it can be part of. Thread
 * ids are used again, and ends get lost: when slots were missed since the
 * span began, only its own transaction is taken to be part of it, and what
 * has none, of which nest() decides.
 */
static struct node *
container(const struct assembler *assembler, const struct node *node)
{
	const struct record *record = &node->span.record;
	struct node *top;

	for (top = id_table_find(&assembler->store.lanes, node->lane); top;
	     top = top->below) {
		const struct record *outer = &top->span.record;

		if (outer->ppid != record->ppid)
			continue;
		if (top->gaps == node->gaps || !record->transaction ||
		    outer->transaction == record->transaction)
			return top;
	}
	return NULL;
}

/* The run a record names, unless its tree has been handed out already. */
static struct group *
named_run(struct assembler *assembler, const struct node *node)
{
	struct group_store *store = &assembler->store;
	const struct record *record = &node->span.record;

	if (record->kind == KIND_RUN)
		return group_of_run(store, node->id);
	if (record->kind != KIND_PHASE || !record->parent ||
	    group_recent(store, record->parent) != RECENT_UNKNOWN)
		return NULL;
	return group_of_run(store, record->parent);
}

/*
 * A transaction begins under open spans that may have been over: if one of
 * them still ends on this thread, it was not, see end_node().
 */
static void
note_maybe(const struct assembler *assembler, const struct node *node)
{
	struct node *top = id_table_find(&assembler->store.lanes, node->lane);
	uint64_t transaction = node->span.record.transaction;

	for (unsigned tries = 0; top && transaction && tries < LANE_TRIED;
	     tries++) {
		top->maybe = transaction;
		top = top->below;
	}
}

/* Where a new node belongs, from the surest sign to the weakest. */
static struct group *
group_for(struct assembler *assembler, const struct node *node)
{
	struct group_store *store = &assembler->store;
	const struct record *record = &node->span.record;
	struct node *other = NULL;
	struct group *group = named_run(assembler, node);
	bool own = true;

	if (!group && record->parent)
		other = id_table_find(&store->spans, record->parent);
	if (!group && !other)
		other = container(assembler, node);
	if (other) {
		group = other->group;
		own = group->run != 0;
	}
	if (!group && record->transaction)
		group = group_of_transaction(store, record->transaction);
	if (!group) {
		group = group_new(store);
		note_maybe(assembler, node);
	}
	/* A handle that a module uses on its own stays a group of its own. */
	if (own && record->transaction)
		group_bind(store, group, record->transaction);
	if (record->kind == KIND_PHASE && record->phase == PHASE_START &&
	    !other)
		group->start_pid = record->pid;
	return group;
}

/* Makes room for one more span; false if only runs are held. */
static bool
make_room(struct assembler *assembler)
{
	struct group_store *store = &assembler->store;

	while (store->held >= GROUP_NODES_MAX && store->without_run.first)
		emit_group(assembler, store->without_run.first);
	return store->held < GROUP_NODES_MAX;
}

/* A node for a span not seen before, in its group; NULL when full. */
static struct node *
add_node(struct assembler *assembler, const struct record *record,
	 uint64_t ended)
{
	struct group_store *store = &assembler->store;
	struct node *node;

	if (!make_room(assembler)) {
		assembler->loss.dropped++;
		return NULL;
	}
	node = group_node_new(store, record_span(record));
	node->ended = ended;
	node->gaps = assembler->gaps;
	node->lane = node_lane(record);
	node_set(node, record, &assembler->text);
	group_add(group_for(assembler, node), node);
	if (record->kind == KIND_RUN)
		node->group->run_node = node;
	group_touch(store, node->group);
	return node;
}

/* Counts a record of a span whose tree was handed out; false if none was. */
static bool
is_late(struct assembler *assembler, const struct record *record)
{
	switch (group_recent(&assembler->store, record_span(record))) {
	case RECENT_ENDED:
		assembler->loss.duplicated++;
		return true;
	case RECENT_UNFINISHED:
		assembler->loss.orphaned++;
		return true;
	case RECENT_UNKNOWN:
		break;
	}
	return false;
}

static void
take_begin(struct assembler *assembler, const struct record *record)
{
	struct group_store *store = &assembler->store;
	struct node *node = id_table_find(&store->spans, record_span(record));

	if (node) {
		assembler->loss.duplicated++;
		return;
	}
	if (is_late(assembler, record))
		return;
	node = add_node(assembler, record, 0);
	if (node)
		group_lane_push(store, node);
}

/*
 * Whether record can be the end of node. A module that forks and lets the
 * child return as well ends its span twice, once from the wrong process;
 * only a run may be ended by another process than its own.
 */
static bool
ends(struct assembler *assembler, const struct node *node,
     const struct record *record)
{
	const struct record *begin = &node->span.record;

	if (node->ended ||
	    (begin->pid != record->pid && begin->kind != KIND_RUN)) {
		assembler->loss.duplicated++;
		return false;
	}
	if (begin->kind != record->kind || begin->start_ns > record->start_ns) {
		assembler->loss.nonsense++;
		return false;
	}
	return true;
}

/* The end of a span that has begun: it may know its transaction only now. */
static void
end_node(struct assembler *assembler, struct node *node,
	 const struct record *record)
{
	struct group *group = node->group;
	bool known = node->span.record.transaction != 0;

	group_lane_remove(&assembler->store, node);
	node_set(node, record, &assembler->text);
	node->ended = record->generation;
	group->open--;
	if (node->maybe && group->run &&
	    record->pid == (int32_t)(node->lane >> 32) &&
	    group_of_transaction(&assembler->store, node->maybe))
		group_bind(&assembler->store, group, node->maybe);
	if (!known && record->transaction &&
	    (group->run || !group->transaction))
		group_bind(&assembler->store, group, record->transaction);
	group_touch(&assembler->store, group);
}

/* Whether nothing more can come for the group of a span that just ended. */
static bool
is_complete(const struct node *node)
{
	const struct group *group = node->group;
	const struct record *record = &node->span.record;

	if (record->kind == KIND_RUN)
		return true;
	if (group->run)
		return false;
	if (!group->transaction)
		return group->open == 0;
	return record->kind == KIND_PHASE && record->phase == PHASE_END &&
	       record->pid == group->start_pid &&
	       record->transaction == group->transaction;
}

static void
take_end(struct assembler *assembler, const struct record *record)
{
	struct group_store *store = &assembler->store;
	struct node *node = id_table_find(&store->spans, record_span(record));

	if (node) {
		if (!ends(assembler, node, record))
			return;
		end_node(assembler, node, record);
	} else {
		if (is_late(assembler, record))
			return;
		node = add_node(assembler, record, record->generation);
	}
	if (node && is_complete(node))
		emit_group(assembler, node->group);
}

static void
take(struct assembler *assembler, const struct record *record)
{
	if (record->type == RECORD_BEGIN)
		take_begin(assembler, record);
	else
		take_end(assembler, record);
	assembler->text.count = 0;
}

/* The record whose text was awaited is as complete as it gets. */
static void
take_pending(struct assembler *assembler)
{
	if (!assembler->waiting)
		return;
	assembler->waiting = false;
	take(assembler, &assembler->pending);
}

/* Whether slot was claimed together with the record that awaits text. */
static bool
is_awaited(const struct assembler *assembler, const struct record *slot)
{
	const struct record *owner = &assembler->pending;

	return assembler->waiting && slot->generation > owner->generation &&
	       slot->generation - owner->generation <= owner->text_slots;
}

/*
 * Text stands where its owner's claim says: only there is a slot taken for
 * text first, elsewhere it is text without an owner at best.
 */
static void
take_text(struct assembler *assembler, const struct record *slot)
{
	const struct record_text *text = record_as_text(slot);
	const struct record *owner = &assembler->pending;

	if (!text || !node_text_add(&assembler->text, owner, text))
		assembler->loss.orphaned++;
	if (slot->generation - owner->generation == owner->text_slots)
		take_pending(assembler);
}

/* Whatever is missing between two slots may have been an end. */
static void
note_gap(struct assembler *assembler, uint64_t generation)
{
	if (generation != assembler->last_generation + 1)
		assembler->gaps++;
	assembler->last_generation = generation;
}

void
assembler_feed(struct assembler *assembler, const struct record *slot)
{
	if (is_awaited(assembler, slot)) {
		note_gap(assembler, slot->generation);
		take_text(assembler, slot);
		return;
	}
	take_pending(assembler);
	note_gap(assembler, slot->generation);
	if (!record_is_span(slot)) {
		if (record_as_text(slot))
			assembler->loss.orphaned++;
		else
			assembler->loss.nonsense++;
	} else if (!record_is_possible(slot)) {
		assembler->loss.nonsense++;
		assembler->gaps++;
	} else if (slot->text_slots) {
		assembler->pending = *slot;
		assembler->waiting = true;
	} else {
		take(assembler, slot);
	}
}

void
assembler_finish(struct assembler *assembler)
{
	struct group_store *store = &assembler->store;

	take_pending(assembler);
	while (store->with_run.first)
		emit_group(assembler, store->with_run.first);
	while (store->without_run.first)
		emit_group(assembler, store->without_run.first);
	memset(store->recent, 0, GROUP_RECENT * sizeof(*store->recent));
	assembler->last_generation = 0;
	assembler->gaps = 0;
}

void
assembler_free(struct assembler *assembler)
{
	struct group_store *store;

	if (!assembler)
		return;
	store = &assembler->store;
	while (store->with_run.first)
		group_drop(store, store->with_run.first);
	while (store->without_run.first)
		group_drop(store, store->without_run.first);
	group_store_free(store);
	free(assembler);
}
