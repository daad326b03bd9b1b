/*
 * Open addressing with linear probing and a load of one half; removal moves
 * the rest of the cluster back, so that no tombstones pile up in a stream
 * that adds and removes for days. Separate from the assembler because it
 * knows nothing of records and is tested alone.
 */
#include "id_table.h"

#include <stdlib.h>
#include <sys/random.h>

#include "../base/alloc.h"

#define FIRST_SIZE 64

static size_t
home(const struct id_table *table, uint64_t id)
{
	uint64_t h = (id ^ table->seed) * 0x9e3779b97f4a7c15u;

	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93u;
	return (h ^ (h >> 29)) & (table->size - 1);
}

/* The entry that holds id, or the free one where it would go. */
static struct id_entry *
seek(const struct id_table *table, uint64_t id)
{
	size_t i = home(table, id);

	while (table->entries[i].value && table->entries[i].id != id)
		i = (i + 1) & (table->size - 1);
	return &table->entries[i];
}

void *
id_table_find(const struct id_table *table, uint64_t id)
{
	return table->size ? seek(table, id)->value : NULL;
}

static void
grow(struct id_table *table)
{
	struct id_table old = *table;

	if (!old.size &&
	    getrandom(&table->seed, sizeof(table->seed), GRND_NONBLOCK) < 0)
		table->seed = (uintptr_t)table;
	table->size = old.size ? old.size * 2 : FIRST_SIZE;
	table->entries = alloc_zero(table->size, sizeof(*table->entries));
	for (size_t i = 0; i < old.size; i++)
		if (old.entries[i].value)
			*seek(table, old.entries[i].id) = old.entries[i];
	free(old.entries);
}

void
id_table_put(struct id_table *table, uint64_t id, void *value)
{
	struct id_entry *entry;

	if (table->count * 2 >= table->size)
		grow(table);
	entry = seek(table, id);
	table->count += !entry->value;
	entry->id = id;
	entry->value = value;
}

void
id_table_remove(struct id_table *table, uint64_t id)
{
	struct id_entry *entries = table->entries;
	size_t mask = table->size - 1, hole, next;

	if (!table->size || !seek(table, id)->value)
		return;
	hole = (size_t)(seek(table, id) - entries);
	/* Whatever probed past the hole on its way moves into it. */
	for (next = (hole + 1) & mask; entries[next].value;
	     next = (next + 1) & mask) {
		size_t wanted = home(table, entries[next].id);

		if (((next - wanted) & mask) >= ((next - hole) & mask)) {
			entries[hole] = entries[next];
			hole = next;
		}
	}
	entries[hole].value = NULL;
	table->count--;
}

void
id_table_free(struct id_table *table)
{
	free(table->entries);
	*table = (struct id_table){ 0 };
}
