/*
 * The checks of record_check.h. They are apart from the assembler so that
 * "what is impossible" can be read, and tested, in one place.
 */
#include "record_check.h"

#include <stddef.h>

#define VALID_ALL                                                              \
	(VALID_CPU | VALID_CONVERSATION | VALID_MARKER | VALID_ARGUMENTS)

/* Byte fields with a largest value each. */
static const struct {
	size_t offset;
	uint8_t least, most;
} ranges[] = {
	{ offsetof(struct record, kind), KIND_RUN, KIND_LOAD },
	{ offsetof(struct record, phase), 0, PHASE_COUNT - 1 },
	{ offsetof(struct record, category), 0, CATEGORY_COUNT - 1 },
	{ offsetof(struct record, outcome), 0, OUTCOME_EXIT },
	{ offsetof(struct record, text_slots), 0, RECORD_TEXT_MAX },
};

bool
record_is_span(const struct record *slot)
{
	return slot->version == RECORD_VERSION &&
	       (slot->type == RECORD_BEGIN || slot->type == RECORD_END);
}

const struct record_text *
record_as_text(const struct record *slot)
{
	const struct record_text *text = (const struct record_text *)slot;

	if (text->version != RECORD_VERSION || text->type != RECORD_TEXT)
		return NULL;
	if (text->field < FIELD_SERVICE || text->field > FIELD_OBJECT)
		return NULL;
	if (text->part >= RECORD_TEXT_MAX || !text->length ||
	    text->length > RECORD_TEXT_SIZE)
		return NULL;
	return text;
}

uint64_t
record_span(const struct record *slot)
{
	if (slot->type == RECORD_BEGIN || slot->kind == KIND_LOAD)
		return slot->generation;
	return slot->span;
}

static bool
in_ranges(const struct record *slot)
{
	const uint8_t *bytes = (const uint8_t *)slot;

	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
		uint8_t value = bytes[ranges[i].offset];

		if (value < ranges[i].least || value > ranges[i].most)
			return false;
	}
	return !(slot->valid & ~VALID_ALL);
}

/* A module is called in no phase but these; libpam's own are not its. */
static bool
phase_fits(const struct record *slot)
{
	if (slot->kind == KIND_CALL)
		return slot->phase >= PHASE_AUTHENTICATE &&
		       slot->phase <= PHASE_CHAUTHTOK_UPDATE;
	return slot->kind != KIND_PHASE || slot->phase != PHASE_NONE;
}

/* Ids are claim order: a span begins before it ends, parents come first. */
static bool
ids_fit(const struct record *slot)
{
	uint64_t span = record_span(slot);

	if (slot->kind == KIND_LOAD && slot->type != RECORD_END)
		return false;
	/* The observer may leave out what the slot says anyway. */
	if (span == slot->generation && slot->span && slot->span != span)
		return false;
	return span && span <= slot->generation && slot->parent < span;
}

bool
record_is_possible(const struct record *slot)
{
	return slot->generation && in_ranges(slot) && phase_fits(slot) &&
	       ids_fit(slot) && slot->pid > 0 && slot->tid > 0 &&
	       slot->start_ns + slot->duration_ns >= slot->start_ns &&
	       (slot->type == RECORD_BEGIN ||
		slot->prompt_ns <= slot->duration_ns);
}
