/*
 * The rule map to JSON. By hand and not by jansson, which refuses strings
 * that are not UTF-8, as file names and arguments may be.
 */
#include "rule_map.h"

#include <inttypes.h>
#include <string.h>

#include "rule_fields.h"

/*
 * Length of the UTF-8 sequence at text: 1 to 4, or 0 if it is none. Neither
 * overlong forms nor surrogates pass.
 */
static size_t
sequence(const unsigned char *text)
{
	static const struct {
		unsigned char first, last, second, second_last;
		size_t length;
	} forms[] = {
		{ 0x01, 0x7f, 0, 0, 1 },       { 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		size_t n = 2;

		if (text[0] < forms[i].first || text[0] > forms[i].last)
			continue;
		if (forms[i].length == 1)
			return 1;
		if (text[1] < forms[i].second || text[1] > forms[i].second_last)
			return 0;
		while (n < forms[i].length && (text[n] & 0xc0) == 0x80)
			n++;
		return n == forms[i].length ? n : 0;
	}
	return 0;
}

static void
write_string(struct buffer *out, const char *text)
{
	const unsigned char *c = (const unsigned char *)text;

	buffer_char(out, '"');
	while (*c) {
		size_t length = sequence(c);

		if (!length)
			buffer_text(out, "\\ufffd");
		else if (*c == '"' || *c == '\\')
			buffer_format(out, "\\%c", *c);
		else if (*c < 0x20 || *c == 0x7f)
			buffer_format(out, "\\u%04x", *c);
		else
			buffer_bytes(out, c, length);
		c += length ? length : 1;
	}
	buffer_char(out, '"');
}

static void
write_number(struct buffer *out, const void *value, size_t size)
{
	uint64_t number = 0;
	uint32_t small;

	if (size == sizeof(small)) {
		memcpy(&small, value, sizeof(small));
		number = small;
	} else {
		memcpy(&number, value, sizeof(number));
	}
	buffer_format(out, "%" PRIu64, number);
}

/* Writes "key":value pairs with a comma before each but the first. */
static void
write_fields(struct buffer *out, const void *object,
	     const struct rule_field *fields, bool first)
{
	for (const struct rule_field *f = fields; f->name; f++) {
		const void *value = (const char *)object + f->offset;

		if (f->type == RULE_STRING && !*(char *const *)value)
			continue;
		buffer_format(out, "%s\"%s\":", first ? "" : ",", f->name);
		first = false;
		switch (f->type) {
		case RULE_STRING:
			write_string(out, *(char *const *)value);
			break;
		case RULE_BOOL:
			buffer_text(out,
				    *(const bool *)value ? "true" : "false");
			break;
		case RULE_UNSIGNED:
			write_number(out, value, f->size);
			break;
		}
	}
}

void
rule_map_write(struct buffer *out, const struct rule_map *map)
{
	buffer_format(out, "{\"schema\":%d", RULE_MAP_SCHEMA);
	write_fields(out, map, rule_map_fields, false);
	buffer_text(out, ",\"notes\":[");
	for (size_t i = 0; i < map->notes_count; i++) {
		if (i)
			buffer_char(out, ',');
		write_string(out, map->notes[i]);
	}
	buffer_text(out, "],\"rules\":[");
	for (size_t i = 0; i < map->rules_count; i++) {
		buffer_text(out, i ? ",{" : "{");
		write_fields(out, &map->rules[i], rule_map_rule_fields, true);
		buffer_char(out, '}');
	}
	buffer_text(out, "]}");
}
