/*
 * Making text safe and knowing how wide it is. Independent of the locale and
 * of wcwidth(3), because a renderer looks at nothing but its arguments.
 */
#include "text.h"

#include <stdlib.h>
#include <string.h>

struct range {
	uint32_t first, last;
};

static bool
within(const struct range *ranges, size_t count, uint32_t character)
{
	for (size_t i = 0; i < count; i++)
		if (character >= ranges[i].first && character <= ranges[i].last)
			return true;
	return false;
}

#define WITHIN(ranges, character)                                              \
	within(ranges, sizeof(ranges) / sizeof(*(ranges)), character)

/* Shortest forms only: RFC 3629 section 3, by length of the sequence. */
static const struct range by_length[] = {
	{ 0, 0 },          { 0, 0x7f },           { 0x80, 0x7ff },
	{ 0x800, 0xffff }, { 0x10000, 0x10ffff },
};

static size_t
sequence_length(unsigned char lead)
{
	if (lead < 0x80)
		return 1;
	if (lead >= 0xc2 && lead < 0xe0)
		return 2;
	if (lead >= 0xe0 && lead < 0xf0)
		return 3;
	return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

size_t
text_character(const char *text, size_t length, uint32_t *character)
{
	const unsigned char *byte = (const unsigned char *)text;
	size_t size = sequence_length(*byte);
	uint32_t value;

	*character = *byte;
	if (size < 2)
		return size;
	if (size > length)
		return 0;
	value = *byte & (0xffu >> (size + 1));
	for (size_t i = 1; i < size; i++) {
		if ((byte[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (byte[i] & 0x3f);
	}
	if (value < by_length[size].first || value > by_length[size].last ||
	    (value >= 0xd800 && value <= 0xdfff))
		return 0;
	*character = value;
	return size;
}

bool
text_is_control(uint32_t character)
{
	static const struct range controls[] = {
		{ 0, 0x1f },          { 0x7f, 0x9f },     { 0xad, 0xad },
		{ 0x61c, 0x61c },     { 0x200b, 0x200f }, { 0x2028, 0x202e },
		{ 0x2060, 0x206f },   { 0xfeff, 0xfeff }, { 0xfff9, 0xfffb },
		{ 0xe0000, 0xe0fff },
	};

	return WITHIN(controls, character);
}

void
text_safe(struct buffer *out, const char *text, bool unicode)
{
	size_t left = text ? strlen(text) : 0, size;
	uint32_t character;

	for (; left; text += size, left -= size) {
		size = text_character(text, left, &character);
		if (size && !text_is_control(character) &&
		    (unicode || size == 1)) {
			buffer_bytes(out, text, size);
			continue;
		}
		size = size ? size : 1;
		for (size_t i = 0; i < size; i++)
			buffer_format(out, "\\x%02x", (unsigned char)text[i]);
	}
}

/* 0 for marks that combine, 2 for East Asian wide ones and emoji, else 1. */
static size_t
character_width(uint32_t character)
{
	static const struct range none[] = {
		{ 0x300, 0x36f },   { 0x483, 0x489 },   { 0x591, 0x5bd },
		{ 0x610, 0x61a },   { 0x64b, 0x65f },   { 0x1ab0, 0x1aff },
		{ 0x1dc0, 0x1dff }, { 0x20d0, 0x20ff }, { 0xfe00, 0xfe0f },
		{ 0xfe20, 0xfe2f },
	};
	static const struct range wide[] = {
		{ 0x1100, 0x115f },   { 0x2e80, 0x303e },
		{ 0x3041, 0xa4cf },   { 0xac00, 0xd7a3 },
		{ 0xf900, 0xfaff },   { 0xfe30, 0xfe6f },
		{ 0xff00, 0xff60 },   { 0xffe0, 0xffe6 },
		{ 0x1f300, 0x1f64f }, { 0x1f900, 0x1f9ff },
		{ 0x20000, 0x3fffd },
	};

	if (character < 0x300)
		return 1;
	if (WITHIN(none, character))
		return 0;
	return WITHIN(wide, character) ? 2 : 1;
}

/*
 * Bytes of the longest start of safe that fits into columns; *used is how
 * many it takes.
 */
static size_t
fitting(const char *safe, size_t columns, size_t *used)
{
	size_t left = strlen(safe), at = 0;
	uint32_t character;

	*used = 0;
	while (at < left) {
		size_t size = text_character(safe + at, left - at, &character);
		size_t width = character_width(character);

		if (*used + width > columns)
			break;
		*used += width;
		at += size ? size : 1;
	}
	return at;
}

size_t
text_width(const char *safe)
{
	size_t used;

	fitting(safe, SIZE_MAX, &used);
	return used;
}

static const char *
ellipsis(bool unicode, size_t columns)
{
	if (unicode)
		return columns ? "\xe2\x80\xa6" : "";
	return columns > 1 ? ".." : "";
}

void
text_cut(struct buffer *out, const char *safe, size_t columns, bool unicode)
{
	const char *mark = ellipsis(unicode, columns);
	size_t used, fits = fitting(safe, columns, &used);

	if (safe[fits] == '\0') {
		buffer_text(out, safe);
		return;
	}
	fits = fitting(safe, columns - text_width(mark), &used);
	buffer_bytes(out, safe, fits);
	buffer_text(out, mark);
}

void
text_cut_middle(struct buffer *out, const char *safe, size_t columns,
		bool unicode)
{
	size_t width = text_width(safe), tail = columns / 2, used;

	if (width <= columns) {
		buffer_text(out, safe);
		return;
	}
	text_cut(out, safe, columns - tail, unicode);
	buffer_text(out, safe + fitting(safe, width - tail, &used));
}

void
text_wrap(struct buffer *out, const char *safe, size_t columns, size_t indent)
{
	struct buffer word = { 0 };
	bool first = true; /* of its line */
	size_t at = 0;

	while (*safe) {
		size_t length = strcspn(safe, " "), width;

		buffer_bytes(&word, safe, length);
		width = text_width(word.data ? word.data : "");
		if (!first && at + 1 + width > columns) {
			buffer_format(out, "\n%*s", (int)indent, "");
			at = indent;
		} else if (!first) {
			buffer_char(out, ' ');
			at++;
		}
		buffer_text(out, word.data ? word.data : "");
		first = false;
		at += width;
		buffer_free(&word);
		safe += length;
		safe += *safe == ' ';
	}
	buffer_char(out, '\n');
}
