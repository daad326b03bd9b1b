/*
 * Strings of a span: in the record itself when they fit there, else put
 * together from text slots. Apart from the assembler, which never looks at
 * a string.
 */
#include "node.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "../base/alloc.h"
#include "record_check.h"

/* Where each string is in a record, how large, and where it goes. */
static const struct string_field {
	enum record_field field;
	size_t offset, size, target;
} fields[] = {
	{ FIELD_SERVICE, offsetof(struct record, service),
	  sizeof(((struct record *)0)->service),
	  offsetof(struct span, service) },
	{ FIELD_RHOST, offsetof(struct record, rhost),
	  sizeof(((struct record *)0)->rhost), offsetof(struct span, rhost) },
	{ FIELD_TTY, offsetof(struct record, tty),
	  sizeof(((struct record *)0)->tty), offsetof(struct span, tty) },
	{ FIELD_OBJECT, offsetof(struct record, object),
	  sizeof(((struct record *)0)->object), offsetof(struct span, object) },
};
#define FIELDS (sizeof(fields) / sizeof(*fields))

static char **
target(struct node *node, const struct string_field *field)
{
	return (char **)((char *)&node->span + field->target);
}

static bool
fills_field(const struct record *record, const struct string_field *field)
{
	const char *text = (const char *)record + field->offset;

	return memchr(text, 0, field->size) == NULL;
}

/* The parts of one field, or its cut form when the first one was lost. */
static char *
joined(const struct record *record, const struct string_field *field,
       const struct node_text *text)
{
	char whole[RECORD_TEXT_MAX * RECORD_TEXT_SIZE];
	size_t length = 0;

	for (unsigned i = 0; text && i < text->count; i++) {
		const struct record_text *part = &text->part[i];

		if (part->field != field->field)
			continue;
		memcpy(whole + length, part->text, part->length);
		length += part->length;
	}
	if (!length) {
		memcpy(whole, (const char *)record + field->offset,
		       field->size);
		length = field->size;
	}
	return alloc_bytes(whole, length);
}

void
node_clear(struct node *node)
{
	for (size_t i = 0; i < FIELDS; i++) {
		char **string = target(node, &fields[i]);
		char *inside = (char *)&node->span.record + fields[i].offset;

		if (*string != inside)
			free(*string);
		*string = NULL;
	}
}

void
node_set(struct node *node, const struct record *record,
	 const struct node_text *text)
{
	node_clear(node);
	node->span.record = *record;
	for (size_t i = 0; i < FIELDS; i++) {
		char **string = target(node, &fields[i]);

		if (fills_field(record, &fields[i]))
			*string = joined(record, &fields[i], text);
		else
			*string = (char *)&node->span.record + fields[i].offset;
	}
}

/* Whether slot is the next part of a field that needs text. */
static bool
continues(const struct node_text *text, const struct record *record,
	  const struct record_text *slot)
{
	unsigned parts = 0;

	for (unsigned i = 0; i < text->count; i++)
		parts += text->part[i].field == slot->field;
	for (size_t i = 0; i < FIELDS; i++)
		if (fields[i].field == slot->field)
			return fills_field(record, &fields[i]) &&
			       slot->part == parts;
	return false;
}

bool
node_text_add(struct node_text *text, const struct record *record,
	      const struct record_text *slot)
{
	if (text->count >= record->text_slots ||
	    slot->span != record_span(record) ||
	    slot->transaction != record->transaction ||
	    !continues(text, record, slot))
		return false;
	text->part[text->count++] = *slot;
	return true;
}
