/*
 * libFuzzer: a hostile segment goes the whole way from the file through the
 * reader and the assembler to the trees. It must not crash, leak or run
 * away, and every tree must be sound: links both ways, children sorted and
 * inside their parents, no deeper than promised.
 *
 * The input is either a whole segment, or (first byte odd) slots in short
 * form, whose generation and checksum are made right here, as no mutation
 * would find them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../modules/checksum.h"
#include "../../pamprof/trace/nest.h"
#include "../../pamprof/trace/segment.h"

/* Slot i in short form: these bytes, spread over a plausible record. */
enum {
	SHORT = 8
};

/* Written by sums over all bytes, so that all of them are read. */
static volatile uint64_t sink;

#define REQUIRE(condition)                                                     \
	do {                                                                   \
		if (!(condition))                                              \
			abort();                                               \
	} while (0)

static uint64_t
end_of(const struct span *span)
{
	return span->record.start_ns + span->record.duration_ns;
}

static void
check(const struct span *span, unsigned depth)
{
	REQUIRE(depth <= NEST_DEPTH_MAX + 1);
	sink += strlen(span->service) + strlen(span->rhost) +
		strlen(span->tty) + strlen(span->object);
	for (const struct span *child = span->children; child;
	     child = child->next) {
		REQUIRE(child->parent == span);
		REQUIRE(child->record.start_ns >= span->record.start_ns);
		REQUIRE(span->unfinished || child->unfinished ||
			end_of(child) <= end_of(span));
		REQUIRE(!child->next ||
			child->record.start_ns <= child->next->record.start_ns);
		check(child, depth + 1);
	}
}

static void
emit(void *context, const struct span *root)
{
	(void)context;
	REQUIRE(!root->parent && !root->next);
	check(root, 0);
}

static void
feed(void *context, const struct record *slot)
{
	assembler_feed(context, slot);
}

/* A slot from a few bytes: threads, ids and times from small ranges. */
static void
expand(struct record *slot, const uint8_t *bytes, uint64_t generation)
{
	memset(slot, 0, sizeof(*slot));
	slot->generation = generation + (bytes[7] & 7);
	slot->version = RECORD_VERSION;
	slot->type = (bytes[0] & 3) + 1;
	slot->kind = bytes[0] >> 2 & 7;
	slot->phase = bytes[1] & 15;
	slot->text_slots = bytes[1] >> 6;
	slot->pid = slot->tid = 1 + (bytes[2] & 3);
	slot->tid += bytes[2] >> 2 & 1;
	slot->ppid = bytes[2] >> 7;
	slot->transaction = bytes[3] & 7;
	slot->span = slot->generation - (bytes[4] & 15);
	if (slot->type == RECORD_BEGIN)
		slot->span = slot->generation;
	slot->parent = bytes[3] & 8 ? slot->span - (bytes[3] >> 4) - 1 : 0;
	slot->start_ns = generation * 4 + (bytes[5] & 31);
	slot->duration_ns = bytes[6];
	slot->outcome = OUTCOME_RETURNED;
	memset(slot->object, 'o', bytes[4] >> 4 ? sizeof(slot->object) : 3);
	if (slot->type == RECORD_TEXT) {
		struct record_text *text = (struct record_text *)slot;

		text->part = bytes[5] & 3;
		text->field = bytes[5] >> 2 & 7;
		text->length = bytes[6];
	}
	slot->checksum = record_checksum(slot);
}

/* A segment made of slots in short form; to be freed. */
static uint8_t *
compose(const uint8_t *data, size_t size, size_t *length)
{
	static const char map[RECORD_SIZE] = "{\"schema\":1,\"rules\":[]}";
	struct ring_header header = { .version = RECORD_VERSION,
				      .byte_order = RING_BYTE_ORDER,
				      .slot_size = RECORD_SIZE,
				      .map_size = sizeof(map) };
	size_t count = size / SHORT;
	uint64_t generation = 1;
	uint8_t *segment;

	*length = RING_HEADER_SIZE + sizeof(map) + count * RECORD_SIZE;
	segment = calloc(1, *length);
	REQUIRE(segment);
	memcpy(header.magic, RING_MAGIC, sizeof(header.magic));
	memcpy(segment, &header, sizeof(header));
	memcpy(segment + RING_HEADER_SIZE, map, sizeof(map));
	for (size_t i = 0; i < count; i++) {
		struct record slot;

		expand(&slot, data + i * SHORT, generation);
		generation = slot.generation + 1;
		memcpy(segment + *length - (count - i) * RECORD_SIZE, &slot,
		       sizeof(slot));
	}
	return segment;
}

static void
run(const char *path)
{
	struct assembler *assembler = assembler_new(emit, NULL);
	const struct slot_sink sink = { feed, assembler,
					assembler_loss(assembler) };
	struct error error = { 0 };
	struct rule_map *map;

	(void)segment_read(path, &map, &sink, &error);
	assembler_finish(assembler);
	assembler_free(assembler);
	rule_map_free(map);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *made = NULL;
	size_t length = size;
	char path[32];
	int fd = memfd_create("segment", MFD_CLOEXEC);

	REQUIRE(fd >= 0);
	if (size && data[0] & 1) {
		made = compose(data + 1, size - 1, &length);
		data = made;
	}
	REQUIRE(write(fd, data, length) == (ssize_t)length);
	free(made);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	run(path);
	(void)close(fd);
	return 0;
}
