/*
 * Turns spans into slots: fits strings into their fields, what is longer into
 * text slots claimed together with the record. Apart from ring.c, which knows
 * nothing of spans, and from call.c, which knows nothing of slots.
 */
#include <stddef.h>
#include <string.h>

#include "emit.h"

/* Where a field lies in the record. */
#define PLACE(name)                                                            \
	{                                                                      \
		offsetof(struct record, name),                                 \
		    sizeof(((struct record *)0)->name)                         \
	}
static const struct {
	uint16_t offset, size;
} fields[] = {
	[FIELD_SERVICE] = PLACE(service),
	[FIELD_RHOST] = PLACE(rhost),
	[FIELD_TTY] = PLACE(tty),
	[FIELD_OBJECT] = PLACE(object),
};

/*
 * Puts the texts into their fields; sets the lengths of those that are too
 * long and returns how many text slots they need, at most RECORD_TEXT_MAX.
 */
static unsigned
fit(struct record *record, const struct emit_texts *texts, size_t *lengths)
{
	unsigned slots = 0;

	for (unsigned f = FIELD_SERVICE; f <= FIELD_OBJECT; f++) {
		const char *text = texts->field[f];
		char *to = (char *)record + fields[f].offset;
		size_t length, room = RECORD_TEXT_MAX - slots;

		lengths[f] = 0;
		memset(to, 0, fields[f].size);
		if (text == NULL)
			continue;
		length =
		    strnlen(text, room * RECORD_TEXT_SIZE + fields[f].size);
		memcpy(to, text,
		       length < fields[f].size ? length : fields[f].size);
		if (length < fields[f].size || room == 0)
			continue;
		if (length > room * RECORD_TEXT_SIZE)
			length = room * RECORD_TEXT_SIZE;
		lengths[f] = length;
		slots += (length + RECORD_TEXT_SIZE - 1) / RECORD_TEXT_SIZE;
	}
	return slots;
}

/* Writes one field's text slots from *index on. */
static void
put_text(const struct record *owner, unsigned field, const char *text,
	 size_t length, uint64_t *index)
{
	for (unsigned part = 0; length > 0; part++) {
		struct record_text slot = { .transaction = owner->transaction,
					    .span = owner->span,
					    .version = RECORD_VERSION,
					    .type = RECORD_TEXT };

		slot.part = part;
		slot.field = field;
		slot.length =
		    length < RECORD_TEXT_SIZE ? length : RECORD_TEXT_SIZE;
		memcpy(slot.text, text, slot.length);
		text += slot.length;
		length -= slot.length;
		ring_put((*index)++, &slot);
	}
}

/* Claims, numbers and closes the slots of one record. */
static void
put(struct record *record, const struct emit_texts *texts)
{
	size_t lengths[FIELD_OBJECT + 1] = { 0 };
	uint64_t index;

	record->text_slots = texts != NULL ? fit(record, texts, lengths) : 0;
	record->version = RECORD_VERSION;
	ring_ids(&record->pid, &record->ppid, &record->tid);
	/* Last, since a reader waits for what is claimed and not closed. */
	index = ring_claim(1 + record->text_slots);
	if (record->span == 0)
		record->span = index + 1;
	ring_put(index++, record);
	for (unsigned f = FIELD_SERVICE; f <= FIELD_OBJECT; f++) {
		if (lengths[f] > 0)
			put_text(record, f, texts->field[f], lengths[f],
				 &index);
	}
}

bool
emit_begin(struct record *record, const struct emit_texts *texts)
{
	record->span = 0;
	if (!ring_enter())
		return false;
	record->type = RECORD_BEGIN;
	put(record, texts);
	ring_leave();
	return true;
}

void
emit_end(struct record *record, const struct emit_texts *texts)
{
	if (!ring_enter())
		return;
	record->type = RECORD_END;
	put(record, texts);
	ring_leave();
}
