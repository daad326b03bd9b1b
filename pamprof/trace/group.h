/*
 * Groups: spans that will become one tree, held until it is complete. Only
 * for the assembler.
 */
#ifndef PAMPROF_TRACE_GROUP_H
#define PAMPROF_TRACE_GROUP_H

#include "assemble.h"
#include "id_table.h"
#include "node.h"

/* Spans held at once; beyond, the oldest transactions are let go. */
#define GROUP_NODES_MAX (1u << 18)

/* Ids remembered after their tree was handed out, to know duplicates. */
#define GROUP_RECENT (1u << 16)

/* A transaction that belongs to a group. */
struct group_transaction {
	uint64_t id;
	struct group *group;
	struct group_transaction *next;
};

/* Either a run, or a transaction without one, or not known yet what. */
struct group {
	struct group *before, *after; /* in the store's list */
	uint64_t run;                 /* span id, or 0 */
	uint64_t transaction;         /* the first; of no run: its own */
	struct group_transaction *transactions;
	struct node *first, *last; /* linked by after */
	struct node *run_node;
	size_t count, open;
	int32_t start_pid; /* process that had the phase "start" */
};

/* Groups in order of use: the one longest untouched first. */
struct group_list {
	struct group *first, *last;
};

struct group_store {
	struct id_table spans, runs, transactions;
	struct id_table lanes; /* innermost open node of each thread */
	struct group_list with_run, without_run;
	struct node *spare; /* nodes to use again */
	size_t held;
	uint64_t *recent;
};

/* Makes an empty store in memory of the caller's. */
void group_store_init(struct group_store *store);

/* Frees what a store holds for itself; it must hold no group any more. */
void group_store_free(struct group_store *store);

/* The group of a run, made if need be. */
struct group *group_of_run(struct group_store *store, uint64_t run);
/* The group of a transaction, or NULL. */
struct group *group_of_transaction(struct group_store *store, uint64_t id);
struct group *group_new(struct group_store *store);

/*
 * Binds a transaction to a group. If it is bound to another one that has no
 * run, that one's spans move over here, and it is gone.
 */
void group_bind(struct group_store *store, struct group *group, uint64_t id);

/* Marks the group as used now. */
void group_touch(struct group_store *store, struct group *group);

/* A node with that id, in the table but in no group yet. */
struct node *group_node_new(struct group_store *store, uint64_t id);
void group_add(struct group *group, struct node *node);

/* Opens a node on its thread; its end closes it. */
void group_lane_push(struct group_store *store, struct node *node);
void group_lane_remove(struct group_store *store, struct node *node);

/* Frees the group and its nodes; their ids become recent ones. */
void group_drop(struct group_store *store, struct group *group);

/* What is remembered of a span whose tree was handed out. */
enum group_memory {
	RECENT_UNKNOWN,
	RECENT_ENDED,     /* its end was part of the tree */
	RECENT_UNFINISHED /* it was handed out without an end */
};
enum group_memory group_recent(const struct group_store *store, uint64_t id);

#endif
