/*
 * See tape.h. Writes slots with code of its own, so that a mistake in the
 * observers' writer is not one that the tests of the reader share.
 */
#include "tape.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void
keep(void *context, const struct span *root)
{
	struct buffer *out = context;

	if (out->length)
		buffer_char(out, ' ');
	tape_print(out, root);
}

void
tape_open(struct tape *tape, assembler_emit emit, void *context)
{
	memset(tape, 0, sizeof(*tape));
	tape->now = 1000;
	tape->load_ns = 1;
	for (int i = 0; i < TAPE_LANES; i++)
		tape->pid[i] = 100 + i;
	tape->assembler = emit ? assembler_new(emit, context)
			       : assembler_new(keep, &tape->out);
}

void
tape_close(struct tape *tape)
{
	assembler_free(tape->assembler);
	buffer_free(&tape->out);
}

struct record *
tape_top(struct tape *tape)
{
	unsigned depth = tape->depth[tape->lane];

	return depth ? &tape->stack[tape->lane][depth - 1] : NULL;
}

void
tape_feed(struct tape *tape, struct record *slot)
{
	slot->generation = ++tape->generation;
	if (tape->lose)
		return;
	assembler_feed(tape->assembler, slot);
	if (tape->twice)
		assembler_feed(tape->assembler, slot);
}

/* Text slots for an object that does not fit its field. */
static void
feed_text(struct tape *tape, const struct record *owner, const char *text)
{
	size_t length = strlen(text);

	for (unsigned part = 0; part < owner->text_slots; part++) {
		union {
			struct record record;
			struct record_text text;
		} slot = { .text = { .transaction = owner->transaction,
				     .span = owner->span,
				     .version = RECORD_VERSION,
				     .type = RECORD_TEXT,
				     .field = FIELD_OBJECT } };

		slot.text.part = (uint8_t)part;
		slot.text.length =
		    (uint16_t)(length < RECORD_TEXT_SIZE ? length
							 : RECORD_TEXT_SIZE);
		memcpy(slot.text.text, text, slot.text.length);
		text += slot.text.length;
		length -= slot.text.length;
		tape_feed(tape, &slot.record);
	}
}

static void
feed_record(struct tape *tape, struct record *record, const char *object)
{
	size_t length = object ? strlen(object) : 0;
	bool lose = tape->lose;

	memset(record->object, 0, sizeof(record->object));
	memcpy(record->object, object ? object : "",
	       length < sizeof(record->object) ? length
					       : sizeof(record->object));
	record->text_slots = 0;
	if (length >= sizeof(record->object))
		record->text_slots = (uint8_t)((length + RECORD_TEXT_SIZE - 1) /
					       RECORD_TEXT_SIZE);
	tape_feed(tape, record);
	tape->lose = lose || tape->bare;
	feed_text(tape, record, object ? object : "");
	tape->lose = tape->twice = tape->bare = false;
	tape->now += TAPE_STEP;
}

static struct record
fresh(struct tape *tape, unsigned kind, unsigned phase)
{
	struct record record = { .version = RECORD_VERSION,
				 .transaction = tape->transaction,
				 .start_ns = tape->now };

	record.kind = (uint8_t)kind;
	record.phase = (uint8_t)phase;
	record.pid = record.tid = tape->pid[tape->lane];
	record.ppid = 1;
	record.span = tape->generation + 1;
	if (kind == KIND_PHASE)
		record.parent = tape->run;
	if (kind == KIND_CONVERSATION && tape_top(tape))
		record.parent = tape_top(tape)->span;
	memcpy(record.service, "sshd", 5);
	return record;
}

uint64_t
tape_begin(struct tape *tape, unsigned kind, unsigned phase, const char *object)
{
	struct record *record;
	struct record made = fresh(tape, kind, phase);

	if (tape->depth[tape->lane] == TAPE_DEPTH)
		abort();
	record = &tape->stack[tape->lane][tape->depth[tape->lane]++];
	*record = made;
	record->type = RECORD_BEGIN;
	feed_record(tape, record, object);
	if (kind == KIND_RUN)
		tape->run = record->span;
	return record->span;
}

void
tape_end(struct tape *tape, const char *object)
{
	struct record record;

	if (!tape_top(tape))
		abort();
	record = *tape_top(tape);
	tape->depth[tape->lane]--;
	record.type = RECORD_END;
	record.outcome = OUTCOME_RETURNED;
	record.duration_ns = tape->now - record.start_ns;
	feed_record(tape, &record, object);
}

uint64_t
tape_load(struct tape *tape, const char *object)
{
	struct record record = fresh(tape, KIND_LOAD, PHASE_NONE);

	record.type = RECORD_END;
	record.transaction = 0;
	record.start_ns = tape->now - tape->load_ns;
	record.duration_ns = tape->load_ns;
	feed_record(tape, &record, object);
	return record.span;
}

void
tape_kill(struct tape *tape)
{
	struct record record = tape->stack[tape->lane][0];

	tape->depth[tape->lane] = 0;
	record.type = RECORD_END;
	record.outcome = OUTCOME_SIGNAL;
	record.result = 9;
	record.duration_ns = tape->now - record.start_ns;
	feed_record(tape, &record, NULL);
}

void
tape_print(struct buffer *out, const struct span *root)
{
	if (root->record.kind)
		buffer_format(out, "%c%" PRIu64, " RPCVL"[root->record.kind],
			      root -> record.span);
	else
		buffer_format(out, "T%" PRIu64, root->record.transaction);
	if (root->unfinished)
		buffer_char(out, '!');
	if (!root->children)
		return;
	buffer_char(out, '(');
	for (const struct span *child = root->children; child;
	     child = child->next) {
		tape_print(out, child);
		if (child->next)
			buffer_char(out, ' ');
	}
	buffer_char(out, ')');
}

void
tape_print_loss(struct buffer *out, const struct assembly_loss *loss)
{
	const struct {
		const char *name;
		uint64_t count;
	} losses[] = { { "torn", loss->torn },
		       { "overwritten", loss->overwritten },
		       { "dropped", loss->dropped },
		       { "duplicated", loss->duplicated },
		       { "orphaned", loss->orphaned },
		       { "nonsense", loss->nonsense } };

	for (size_t i = 0; i < sizeof(losses) / sizeof(*losses); i++)
		if (losses[i].count)
			buffer_format(out, " %s=%" PRIu64, losses[i].name,
				      losses[i].count);
}

/* What "+" and a letter begin. */
static const struct {
	char letter;
	enum record_kind kind;
	enum record_phase phase;
} beginnings[] = {
	{ 'R', KIND_RUN, PHASE_NONE },
	{ 'P', KIND_PHASE, PHASE_AUTHENTICATE },
	{ 'S', KIND_PHASE, PHASE_START },
	{ 'E', KIND_PHASE, PHASE_END },
	{ 'C', KIND_CALL, PHASE_AUTHENTICATE },
	{ 'V', KIND_CONVERSATION, PHASE_NONE },
};

static void
play_begin(struct tape *tape, char letter)
{
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++)
		if (beginnings[i].letter == letter) {
			tape_begin(tape, beginnings[i].kind,
				   beginnings[i].phase, NULL);
			return;
		}
	abort();
}

static void
play_word(struct tape *tape, const char *word)
{
	switch (*word) {
	case '@':
		tape->lane = (unsigned)atoi(word + 1);
		break;
	case 'T':
		tape->transaction = strtoull(word + 1, NULL, 10);
		break;
	case '~':
		tape->run = 0;
		break;
	case '+':
		play_begin(tape, word[1]);
		break;
	case '-':
		tape_end(tape, NULL);
		break;
	case 'L':
		tape_load(tape, NULL);
		break;
	case 'X':
		tape_kill(tape);
		break;
	case '!':
		tape->lose = true;
		break;
	case '2':
		tape->twice = true;
		break;
	default:
		abort();
	}
}

void
tape_play(struct tape *tape, const char *script)
{
	char words[1024], *rest = words, *word;

	if (strlen(script) >= sizeof(words))
		abort();
	strcpy(words, script);
	while ((word = strsep(&rest, " ")))
		if (*word)
			play_word(tape, word);
}
