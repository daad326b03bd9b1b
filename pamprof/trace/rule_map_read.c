/*
 * The rule map from JSON: hostile text, parsed by jansson, whose limits on
 * depth hold here, and then checked field by field.
 */
#include "rule_map.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "../base/alloc.h"
#include "rule_fields.h"

/* Far above any stack; what a map may claim is bounded by its size too. */
#define RULES_MAX 65536

static int
wrong(struct error *error, const char *key)
{
	return error_set(error, ERROR_FORMAT,
			 "the rule map is damaged: \"%s\" is not what it must "
			 "be",
			 key);
}

static bool
read_number(void *to, size_t size, const json_t *value)
{
	json_int_t number = json_integer_value(value);
	uint32_t small;

	if (!json_is_integer(value) || number < 0)
		return false;
	if (size == sizeof(number)) {
		memcpy(to, &number, size);
		return true;
	}
	small = (uint32_t)number;
	memcpy(to, &small, size);
	return (json_int_t)small == number;
}

static bool
read_field(void *to, const struct rule_field *field, const json_t *value)
{
	switch (field->type) {
	case RULE_STRING:
		*(char **)to = alloc_string(json_string_value(value));
		return json_is_string(value);
	case RULE_BOOL:
		*(bool *)to = json_is_true(value);
		return json_is_boolean(value);
	case RULE_UNSIGNED:
		return read_number(to, field->size, value);
	}
	return false;
}

/* Fields may be absent, but not of another type. */
static int
read_fields(void *object, const struct rule_field *fields, const json_t *json,
	    struct error *error)
{
	for (const struct rule_field *f = fields; f->name; f++) {
		const json_t *value = json_object_get(json, f->name);

		if (value && !read_field((char *)object + f->offset, f, value))
			return wrong(error, f->name);
	}
	return 0;
}

static int
read_notes(struct rule_map *map, const json_t *notes, struct error *error)
{
	size_t count = json_array_size(notes);

	if (!notes)
		return 0;
	if (!json_is_array(notes) || count > RULES_MAX)
		return wrong(error, "notes");
	map->notes = alloc_zero(count, sizeof(*map->notes));
	for (size_t i = 0; i < count; i++) {
		const char *note = json_string_value(json_array_get(notes, i));

		if (!note)
			return wrong(error, "notes");
		map->notes[i] = alloc_string(note);
		map->notes_count = i + 1;
	}
	return 0;
}

static int
read_rules(struct rule_map *map, const json_t *rules, struct error *error)
{
	size_t count = json_array_size(rules);
	int result = 0;

	if (!json_is_array(rules) || count > RULES_MAX)
		return wrong(error, "rules");
	map->rules = alloc_zero(count, sizeof(*map->rules));
	for (size_t i = 0; i < count && !result; i++) {
		const json_t *rule = json_array_get(rules, i);

		map->rules_count = i + 1;
		result = json_is_object(rule)
			     ? read_fields(&map->rules[i], rule_map_rule_fields,
					   rule, error)
			     : wrong(error, "rules");
	}
	return result;
}

static int
read_object(struct rule_map *map, const json_t *json, struct error *error)
{
	const json_t *schema = json_object_get(json, "schema");
	int result;

	if (!json_is_integer(schema))
		return wrong(error, "schema");
	if (json_integer_value(schema) != RULE_MAP_SCHEMA)
		return error_set(error, ERROR_FORMAT,
				 "the rule map has schema %lld, this pamprof "
				 "reads schema %d only",
				 (long long)json_integer_value(schema),
				 RULE_MAP_SCHEMA);
	result = read_fields(map, rule_map_fields, json, error);
	if (!result)
		result = read_notes(map, json_object_get(json, "notes"), error);
	if (!result)
		result = read_rules(map, json_object_get(json, "rules"), error);
	return result;
}

int
rule_map_read(struct rule_map **map, const char *text, size_t length,
	      struct error *error)
{
	json_error_t problem;
	json_t *json;
	int result;

	*map = NULL;
	json = json_loadb(text, length, JSON_REJECT_DUPLICATES, &problem);
	if (!json)
		return error_set(error, ERROR_FORMAT,
				 "the rule map is damaged: %s at byte %d",
				 problem.text, problem.position);
	*map = alloc_zero(1, sizeof(**map));
	result = read_object(*map, json, error);
	json_decref(json);
	if (result) {
		rule_map_free(*map);
		*map = NULL;
	}
	return result;
}
