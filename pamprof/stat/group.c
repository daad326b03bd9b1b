/*
 * The groups of a report over production's records. Whoever can log in can
 * make up names, so the number of groups has a limit; what goes beyond it is
 * kept together under one name and not lost.
 */
#include "group.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "../base/alloc.h"

/* uthash wants its handle in the element. */
struct tally_entry {
	struct tally tally;
	UT_hash_handle hh;
};

static struct tally_entry *
find(struct tally_table *table, const char *key)
{
	struct tally_entry *entries = (struct tally_entry *)table->head, *found;

	HASH_FIND_STR(entries, key, found);
	return found;
}

static struct tally *
make(struct tally_table *table, const char *key)
{
	struct tally_entry *entries = (struct tally_entry *)table->head;
	struct tally_entry *entry = alloc_zero(1, sizeof(*entry));

	entry->tally.key = alloc_string(key);
	HASH_ADD_KEYPTR(hh, entries, entry->tally.key, strlen(entry->tally.key),
			entry);
	table->head = &entries->tally;
	if (table->count == table->size) {
		table->size = table->size * 2 + 32;
		table->tallies = alloc_array(table->tallies, table->size,
					     sizeof(struct tally *));
	}
	table->tallies[table->count++] = &entry->tally;
	return &entry->tally;
}

struct tally *
tally_find(struct tally_table *table, const char *key, bool *made)
{
	struct tally_entry *entry = find(table, key);

	if (!entry && table->count >= TALLY_MAX) {
		key = TALLY_OTHER;
		entry = find(table, key);
	}
	if (made)
		*made = !entry;
	return entry ? &entry->tally : make(table, key);
}

void
tally_set_rule(struct tally *tally, enum record_phase phase,
	       const struct map_rule *rule)
{
	tally->phase = phase;
	tally->has_rule = rule;
	if (!rule)
		return;
	tally->rule = *rule;
	tally->rule.group = alloc_string(rule->group);
	tally->rule.file = alloc_string(rule->file);
	tally->rule.control = alloc_string(rule->control);
	tally->rule.module = alloc_string(rule->module);
	tally->rule.path = alloc_string(rule->path);
	tally->rule.args = alloc_string(rule->args);
	tally->rule.problem = NULL;
}

void
tally_add(struct tally *tally, const struct tally_sample *sample)
{
	unsigned result = (unsigned)sample->result;

	histogram_add(&tally->wall, sample->wall);
	tally->share_ns += sample->share;
	tally->cpu_ns += sample->cpu;
	tally->human_ns += sample->human;
	if (sample->has_result)
		tally->results[result < TALLY_RESULTS ? result
						      : TALLY_RESULTS]++;
}

static int
by_time(const void *left, const void *right)
{
	const struct tally *a = *(struct tally *const *)left;
	const struct tally *b = *(struct tally *const *)right;

	if (a->share_ns != b->share_ns)
		return a->share_ns < b->share_ns ? 1 : -1;
	if (a->wall.sum != b->wall.sum)
		return a->wall.sum < b->wall.sum ? 1 : -1;
	return strcmp(a->key, b->key);
}

static int
by_name(const void *left, const void *right)
{
	const struct tally *a = *(struct tally *const *)left;
	const struct tally *b = *(struct tally *const *)right;

	return strcmp(a->key, b->key);
}

void
tally_sort(struct tally_table *table, bool by_key)
{
	if (table->count)
		qsort(table->tallies, table->count, sizeof(*table->tallies),
		      by_key ? by_name : by_time);
}

void
tally_table_free(struct tally_table *table)
{
	struct tally_entry *entries = (struct tally_entry *)table->head;

	HASH_CLEAR(hh, entries);
	for (size_t i = 0; i < table->count; i++) {
		struct tally *tally = table->tallies[i];

		histogram_free(&tally->wall);
		free(tally->key);
		free(tally->rule.group);
		free(tally->rule.file);
		free(tally->rule.control);
		free(tally->rule.module);
		free(tally->rule.path);
		free(tally->rule.args);
		free(tally);
	}
	free(table->tallies);
	memset(table, 0, sizeof(*table));
}
