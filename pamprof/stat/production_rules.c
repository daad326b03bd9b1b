/*
 * Rules by marker. A record names its rule with a number; what that number
 * means, whether its failure counts and which group it is in is found once
 * for each map and phase, because 40 million records ask for it.
 */
#include "production_rules.h"

#include <stdlib.h>
#include <string.h>

#include "../base/alloc.h"

#define INDEX_MIN 1024u
/* More different ones in one map are forged; they share the last ref. */
#define REFS_MAX (1u << 16)

/*
 * Whether a failure of the rule fails its phase, as pam.conf(5) has it. A
 * bracketed control can say anything: if it does not ignore what it does not
 * name, failures count.
 */
static bool
is_binding(const struct map_rule *rule)
{
	const char *control = rule && rule->control ? rule->control : "";

	if (control[0] == '[')
		return !strstr(control, "default=ignore");
	return strcmp(control, "required") == 0 ||
	       strcmp(control, "requisite") == 0;
}

/* Text after the last slash. */
static const char *
base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const char *
module_of(const struct rule_ref *ref)
{
	if (ref->rule && ref->rule->module)
		return base_of(ref->rule->module);
	return ref->module[0] ? base_of(ref->module) : "(unknown)";
}

/* The tally of the rule itself in that table. */
static struct tally *
tally_of(const struct rule_ref *ref, struct tally_table *table)
{
	const struct map_rule *rule = ref->rule;
	const char *phase = report_phase_name(ref->phase);
	struct tally *tally;
	bool made;
	char *key;

	if (rule)
		key = alloc_format("%s %s:%u %s", phase,
				   rule->file ? rule->file : "?", rule->line,
				   rule->module ? rule->module : "?");
	else if (ref->module[0])
		key = alloc_format("%s %s", phase, ref->module);
	else
		key = alloc_format("%s rule %u", phase, ref->marker);
	tally = tally_find(table, key, &made);
	if (made)
		tally_set_rule(tally, ref->phase, rule);
	free(key);
	return tally;
}

static struct tally *
group_of(const struct rule_refs *refs, const struct rule_ref *ref)
{
	struct tally *tally;
	bool made;

	switch (refs->by) {
	case BY_RULE:
		return tally_of(ref, refs->groups);
	case BY_MODULE:
		return tally_find(refs->groups, module_of(ref), NULL);
	case BY_PHASE:
		tally = tally_find(refs->groups, report_phase_name(ref->phase),
				   &made);
		if (made)
			tally_set_rule(tally, ref->phase, NULL);
		return tally;
	default:
		return NULL;
	}
}

/* FNV-1a over a field that need not end with a zero byte. */
static uint64_t
hash_of(const char *bytes, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < size && bytes[i]; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
	return hash;
}

/* Never 0: phases of calls are not. */
static uint64_t
key_of(const struct record *record)
{
	uint64_t name = record->marker;

	if (!(record->valid & VALID_MARKER))
		name = hash_of(record->object, sizeof(record->object)) |
		       (1ull << 40);
	return name << 4 | record->phase;
}

static size_t
slot_of(const struct rule_refs *refs, uint64_t key)
{
	uint64_t hash = key * 0x9e3779b97f4a7c15u;
	size_t i = (hash >> 32) & (refs->size - 1);

	while (refs->index[i] && refs->refs[refs->index[i] - 1].key != key)
		i = (i + 1) & (refs->size - 1);
	return i;
}

static void
grow(struct rule_refs *refs)
{
	refs->size = refs->size ? refs->size * 2 : INDEX_MIN;
	free(refs->index);
	refs->index = alloc_zero(refs->size, sizeof(*refs->index));
	for (uint32_t i = 0; i < refs->count; i++)
		refs->index[slot_of(refs, refs->refs[i].key)] = i + 1;
}

static const struct rule_ref *
add(struct rule_refs *refs, uint64_t key, const struct record *record)
{
	struct rule_ref *ref;

	if (refs->count >= REFS_MAX)
		return &refs->refs[REFS_MAX - 1];
	if (refs->count == refs->refs_size) {
		refs->refs_size = refs->refs_size * 2 + 64;
		refs->refs = alloc_array(refs->refs, refs->refs_size,
					 sizeof(*refs->refs));
	}
	ref = &refs->refs[refs->count++];
	memset(ref, 0, sizeof(*ref));
	ref->key = key;
	ref->phase = record->phase;
	if (record->valid & VALID_MARKER) {
		ref->marker = record->marker;
		if (refs->map)
			ref->rule = rule_map_find(refs->map, record->marker);
	} else {
		memcpy(ref->module, record->object, sizeof(record->object));
	}
	ref->binding = is_binding(ref->rule);
	ref->group = group_of(refs, ref);
	ref->own =
	    refs->by == BY_RULE ? ref->group : tally_of(ref, refs->rules);
	if (refs->count * 2 > refs->size)
		grow(refs);
	else
		refs->index[slot_of(refs, key)] = (uint32_t)refs->count;
	return ref;
}

const struct rule_ref *
rule_ref_find(struct rule_refs *refs, const struct record *record)
{
	uint64_t key = key_of(record);
	uint32_t found;

	if (!refs->size)
		grow(refs);
	found = refs->index[slot_of(refs, key)];
	return found ? &refs->refs[found - 1] : add(refs, key, record);
}

void
rule_refs_reset(struct rule_refs *refs, const struct rule_map *map)
{
	refs->map = map;
	refs->count = 0;
	if (refs->size)
		memset(refs->index, 0, refs->size * sizeof(*refs->index));
}

void
rule_refs_free(struct rule_refs *refs)
{
	free(refs->refs);
	free(refs->index);
	memset(refs, 0, sizeof(*refs));
}
