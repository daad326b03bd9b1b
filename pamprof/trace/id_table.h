/*
 * A hash table from 64-bit ids to pointers. Spans, runs, transactions and
 * threads are all looked up once or more per record, which is why this is
 * a flat table and not a chained one.
 */
#ifndef PAMPROF_TRACE_ID_TABLE_H
#define PAMPROF_TRACE_ID_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct id_entry {
	uint64_t id;
	void *value; /* NULL: free */
};

/* All zero is an empty table. */
struct id_table {
	struct id_entry *entries;
	size_t size, count; /* size: a power of two, or 0 */
	uint64_t seed;      /* ids may be chosen by an enemy */
};

/* The pointer put under id, or NULL. */
void *id_table_find(const struct id_table *table, uint64_t id);

/* Puts value, which is not NULL, under id, or replaces what is there. */
void id_table_put(struct id_table *table, uint64_t id, void *value);

/* Takes id out; nothing happens if it is not there. */
void id_table_remove(struct id_table *table, uint64_t id);

/* Frees the memory and leaves an empty table; values are the caller's. */
void id_table_free(struct id_table *table);

#endif
