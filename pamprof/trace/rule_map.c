/*
 * The rule map as a thing in memory: its fields as data, look-up and end.
 * JSON is written in rule_map_write.c and read in rule_map_read.c, secrets
 * are masked in rule_mask.c.
 */
#include "rule_map.h"

#include <stdlib.h>

#include "rule_fields.h"

#define MAP(field, type)                                                       \
	{                                                                      \
#field, type, offsetof(struct rule_map, field),                \
		    sizeof(((struct rule_map *)0)->field)                      \
	}
#define RULE(field, type)                                                      \
	{                                                                      \
#field, type, offsetof(struct map_rule, field),                \
		    sizeof(((struct map_rule *)0)->field)                      \
	}

const struct rule_field rule_map_fields[] = {
	MAP(command, RULE_STRING),   MAP(host, RULE_STRING),
	MAP(pam, RULE_STRING),       MAP(service, RULE_STRING),
	MAP(user, RULE_STRING),      MAP(version, RULE_STRING),
	MAP(in_process, RULE_BOOL),  MAP(overhead_per_call_ns, RULE_UNSIGNED),
	{ NULL, RULE_STRING, 0, 0 },
};

const struct rule_field rule_map_rule_fields[] = {
	RULE(marker, RULE_UNSIGNED), RULE(arguments_hash, RULE_UNSIGNED),
	RULE(group, RULE_STRING),    RULE(file, RULE_STRING),
	RULE(line, RULE_UNSIGNED),   RULE(last_line, RULE_UNSIGNED),
	RULE(depth, RULE_UNSIGNED),  RULE(control, RULE_STRING),
	RULE(module, RULE_STRING),   RULE(path, RULE_STRING),
	RULE(args, RULE_STRING),     RULE(problem, RULE_STRING),
	{ NULL, RULE_STRING, 0, 0 },
};

static void
free_strings(void *object, const struct rule_field *fields)
{
	for (const struct rule_field *f = fields; f->name; f++)
		if (f->type == RULE_STRING)
			free(*(char **)((char *)object + f->offset));
}

void
rule_map_free(struct rule_map *map)
{
	if (!map)
		return;
	for (size_t i = 0; i < map->rules_count; i++)
		free_strings(&map->rules[i], rule_map_rule_fields);
	for (size_t i = 0; i < map->notes_count; i++)
		free(map->notes[i]);
	free_strings(map, rule_map_fields);
	free(map->rules);
	free(map->notes);
	free(map);
}

const struct map_rule *
rule_map_find(const struct rule_map *map, uint32_t marker)
{
	if (!marker)
		return NULL;
	/* Where every rule was wrapped, markers count them. */
	if (marker <= map->rules_count &&
	    map->rules[marker - 1].marker == marker)
		return &map->rules[marker - 1];
	for (size_t i = 0; i < map->rules_count; i++)
		if (map->rules[i].marker == marker)
			return &map->rules[i];
	return NULL;
}

uint32_t
rule_map_hash(const char *const *args, size_t count)
{
	uint32_t hash = 0x811c9dc5u;

	for (size_t i = 0; i < count; i++) {
		const unsigned char *c = (const unsigned char *)args[i];

		do
			hash = (hash ^ *c) * 0x01000193u;
		while (*c++);
	}
	return hash;
}
