/*
 * A span while it is being assembled: the public span and what the
 * assembler and the nesting need to know besides. Only for trace/.
 */
#ifndef PAMPROF_TRACE_NODE_H
#define PAMPROF_TRACE_NODE_H

#include "span.h"

struct group;

struct node {
	struct span span; /* first: a span is its node */
	uint64_t id;
	uint64_t ended; /* generation of its end record; 0: none seen */
	uint64_t gaps;  /* seen by the assembler before it began */
	uint64_t lane;  /* node_lane() of its first record */
	struct group *group;
	struct node *after;         /* in its group's list */
	struct node *above, *below; /* among the open spans of its lane */
	bool on_lane;
	uint64_t maybe; /* transaction seen on its lane while it was open */

	/* Filled by nest(). */
	struct node *outer; /* what contains it on its lane, by claim */
	uint64_t limit;     /* last generation that can be inside it */
	unsigned depth;
	bool end_known;
};

/* One number for a thread of a process. */
static inline uint64_t
node_lane(const struct record *record)
{
	return (uint64_t)(uint32_t)record->pid << 32 | (uint32_t)record->tid;
}

/* When it ended, in ns; for an unfinished one as far as it is known. */
static inline uint64_t
node_end(const struct node *node)
{
	return node->span.record.start_ns + node->span.record.duration_ns;
}

/* Text slots that belong to one record, in order. */
struct node_text {
	unsigned count;
	struct record_text part[RECORD_TEXT_MAX];
};

/*
 * Takes over a record: copies it and points the span's strings at it, or at
 * memory of their own where text slots carry them. text may be NULL.
 */
void node_set(struct node *node, const struct record *record,
	      const struct node_text *text);

/* Frees the strings that are not in the record. */
void node_clear(struct node *node);

/* Adds a text slot of record; false if it cannot belong there. */
bool node_text_add(struct node_text *text, const struct record *record,
		   const struct record_text *slot);

#endif
