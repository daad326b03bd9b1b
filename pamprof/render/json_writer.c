/*
 * The JSON writer. Apart from json.c because the rule map and later formats
 * write JSON too, and because escaping is tested on its own.
 */
#include "json_writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

/* Control characters, and marks that would reorder what a terminal shows. */
static void
escape_character(struct buffer *out, uint32_t character)
{
	if (character > 0xffff) {
		character -= 0x10000;
		buffer_format(out, "\\u%04x", 0xd800 + (character >> 10));
		character = 0xdc00 + (character & 0x3ff);
	}
	buffer_format(out, "\\u%04x", character);
}

/* Length of the beginning that is written as it is: most of any text. */
static size_t
plain_length(const char *text)
{
	size_t length = 0;

	while (text[length] >= ' ' && text[length] < 0x7f &&
	       text[length] != '"' && text[length] != '\\')
		length++;
	return length;
}

static void
write_string(struct buffer *out, const char *text)
{
	size_t left = strlen(text), size;
	uint32_t character;

	buffer_char(out, '"');
	for (; left; text += size, left -= size) {
		size = plain_length(text);
		if (size) {
			buffer_bytes(out, text, size);
			continue;
		}
		size = text_character(text, left, &character);
		if (size == 0) {
			size = 1;
			buffer_format(out, "\\\\x%02x", (unsigned char)*text);
		} else if (character == '"' || character == '\\') {
			buffer_format(out, "\\%c", (char)character);
		} else if (text_is_control(character)) {
			escape_character(out, character);
		} else {
			buffer_bytes(out, text, size);
		}
	}
	buffer_char(out, '"');
}

/* Whatever has to stand before a value: a comma, and a key. */
static void
lead_in(struct json_writer *writer, const char *key)
{
	if (writer->started)
		buffer_char(writer->out, ',');
	if (key) {
		write_string(writer->out, key);
		buffer_char(writer->out, ':');
	}
	writer->started = true;
}

static void
begin(struct json_writer *writer, const char *key, const char *brackets)
{
	if (writer->depth == JSON_DEPTH_MAX)
		abort();
	lead_in(writer, key);
	buffer_char(writer->out, brackets[0]);
	writer->closing[writer->depth++] = brackets[1];
	writer->started = false;
}

void
json_begin_object(struct json_writer *writer, const char *key)
{
	begin(writer, key, "{}");
}

void
json_begin_array(struct json_writer *writer, const char *key)
{
	begin(writer, key, "[]");
}

void
json_end(struct json_writer *writer)
{
	if (writer->depth == 0)
		abort();
	buffer_char(writer->out, writer->closing[--writer->depth]);
	writer->started = true;
}

void
json_put_text(struct json_writer *writer, const char *key, const char *text)
{
	if (!text) {
		json_put_null(writer, key);
		return;
	}
	lead_in(writer, key);
	write_string(writer->out, text);
}

void
json_put_number(struct json_writer *writer, const char *key, uint64_t value)
{
	lead_in(writer, key);
	buffer_format(writer->out, "%" PRIu64, value);
}

void
json_put_integer(struct json_writer *writer, const char *key, int64_t value)
{
	lead_in(writer, key);
	buffer_format(writer->out, "%" PRId64, value);
}

void
json_put_fraction(struct json_writer *writer, const char *key, double value)
{
	uint64_t millionths = value > 0 ? (uint64_t)(value * 1e6 + 0.5) : 0;

	/* By hand: the decimal point of printf(3) follows the locale. */
	lead_in(writer, key);
	buffer_format(writer->out, "%" PRIu64 ".%06" PRIu64,
		      millionths / 1000000, millionths % 1000000);
}

void
json_put_bool(struct json_writer *writer, const char *key, bool value)
{
	lead_in(writer, key);
	buffer_text(writer->out, value ? "true" : "false");
}

void
json_put_null(struct json_writer *writer, const char *key)
{
	lead_in(writer, key);
	buffer_text(writer->out, "null");
}
