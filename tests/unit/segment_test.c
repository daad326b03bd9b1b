/*
 * Segments as files, and the clock their heads carry: what is written comes
 * back, what is damaged is counted, what cannot be a segment is refused.
 */
#include "../test.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../pamprof/base/safe_file.h"
#include "../../pamprof/trace/clock.h"
#include "../../pamprof/trace/segment.h"
#include "ring_hand.h"

/* A segment at hand_path with these slots. */
static int
read_back(struct rule_map **map, struct assembly_loss *loss,
	  struct hand_taken *taken, struct error *error)
{
	const struct slot_sink sink = { hand_take, taken, loss };

	return segment_read(hand_path, map, &sink, error);
}

static void
write_segment(const struct record *slots, size_t count)
{
	struct error error = { 0 };
	struct ring_header *header = hand_ring();
	struct rule_map map = { .command = (char *)"run",
				.service = (char *)"login" };
	FILE *out;

	atomic_store(&header->dropped, 4);
	(void)unlink(hand_path);
	out = fopen(hand_path, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	CU_ASSERT_EQUAL(segment_write_head(out, header, &map, &error), 0);
	CU_ASSERT_EQUAL(fwrite(slots, sizeof(*slots), count, out), count);
	CU_ASSERT_EQUAL(fclose(out), 0);
	hand_unmap(header);
}

static void
segment_whole(void)
{
	struct record slots[300];
	struct error error = { 0 };
	struct assembly_loss loss = { 0 };
	struct ring_header header;
	struct hand_taken taken = { 0 };
	struct rule_map *map;

	for (unsigned i = 0; i < 300; i++)
		slots[i] = hand_slot(i + 70);
	write_segment(slots, 300);
	CU_ASSERT_EQUAL(read_back(&map, &loss, &taken, &error), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(map);
	CU_ASSERT_STRING_EQUAL(map->service, "login");
	CU_ASSERT_EQUAL(taken.count, 300);
	CU_ASSERT_EQUAL(taken.generation[1], 72);
	CU_ASSERT_EQUAL(loss.dropped, 4);
	CU_ASSERT_EQUAL(loss.torn + loss.overwritten + loss.nonsense, 0);
	CU_ASSERT_EQUAL(segment_read_head(hand_path, &header, &error), 0);
	CU_ASSERT(clock_same_ring(&header, &header));
	CU_ASSERT_EQUAL(header.map_size % RECORD_SIZE, 0);
	rule_map_free(map);
}

static void
segment_damaged(void)
{
	struct record slots[6];
	struct error error = { 0 };
	struct assembly_loss loss = { 0 };
	struct hand_taken taken = { 0 };
	struct rule_map *map;
	struct stat status;

	for (unsigned i = 0; i < 6; i++)
		slots[i] = hand_slot(i);
	slots[1].duration_ns = 1;               /* torn */
	slots[2] = hand_slot(10);               /* 8 more are missing */
	memset(&slots[4], 0, sizeof(slots[4])); /* a hole */
	write_segment(slots, 6);
	CU_ASSERT_EQUAL(stat(hand_path, &status), 0);
	CU_ASSERT_EQUAL(truncate(hand_path, status.st_size - 1), 0);
	CU_ASSERT_EQUAL(read_back(&map, &loss, &taken, &error), 0);
	CU_ASSERT_EQUAL(taken.count, 3);
	CU_ASSERT_EQUAL(loss.torn, 3);
	CU_ASSERT_EQUAL(loss.overwritten, 8);
	rule_map_free(map);
}

static void
refuse_segment(const char *says)
{
	struct error error = { 0 };
	struct assembly_loss loss = { 0 };
	struct hand_taken taken = { 0 };
	struct rule_map *map;

	CU_ASSERT(read_back(&map, &loss, &taken, &error) < 0);
	CU_ASSERT_PTR_NULL(map);
	CU_ASSERT_EQUAL(taken.count, 0);
	hand_expect(error.text, says);
}

static void
refuse_segments(void)
{
	static const uint64_t sizes[] = { 1,
					  255,
					  1u << 20,
					  (16u << 20) + RECORD_SIZE,
					  UINT64_MAX - 255,
					  1ull << 63 };
	struct record slot = hand_slot(0);

	for (size_t i = 0; hand_heads[i].says; i++) {
		write_segment(&slot, 1);
		hand_patch(hand_heads[i].offset, &hand_heads[i].value,
			   hand_heads[i].size);
		refuse_segment(hand_heads[i].says);
	}
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		write_segment(&slot, 1);
		hand_patch(offsetof(struct ring_header, map_size), &sizes[i],
			   sizeof(sizes[i]));
		refuse_segment("cannot be");
	}
	write_segment(&slot, 1);
	hand_patch(RING_HEADER_SIZE, "[", 1);
	refuse_segment("damaged");
	hand_patch(RING_HEADER_SIZE, "{\"schema\":9}", 13);
	refuse_segment("schema 9");
	CU_ASSERT_EQUAL(truncate(hand_path, 4095), 0);
	refuse_segment("too short");
	hand_unmap(hand_ring());
	refuse_segment("ring in use");
	(void)unlink(hand_path);
	refuse_segment("No such file");
}

static void
clocks(void)
{
	struct ring_header a = { .wall_anchor_ns = 1000 }, b;

	CU_ASSERT_EQUAL(clock_wall(&a, 5), 1005);
	CU_ASSERT_EQUAL(clock_wall(&a, UINT64_MAX), INT64_MAX);
	CU_ASSERT_EQUAL(clock_wall(&a, INT64_MAX - 1), INT64_MAX);
	/* A boot nobody knows is not even the same as itself. */
	CU_ASSERT_FALSE(clock_same_boot(&a, &a));
	memset(a.boot_id, 7, sizeof(a.boot_id));
	strcpy(a.host, "one");
	b = a;
	CU_ASSERT(clock_same_boot(&a, &b));
	CU_ASSERT(clock_same_ring(&a, &b));
	b.transaction_base = 1;
	CU_ASSERT_FALSE(clock_same_ring(&a, &b));
	strcpy(b.host, "two");
	CU_ASSERT_FALSE(clock_same_boot(&a, &b));
	b = a;
	b.boot_id[15] = 8;
	CU_ASSERT_FALSE(clock_same_boot(&a, &b));
	CU_ASSERT(clock_now() <= clock_now());
}

/* What the man page says of each field; a row of it is "0\t8\tname\t". */
static const struct {
	const char *name;
	size_t offset, size;
} fields[] = {
#define FIELD(type, field)                                                     \
	{                                                                      \
#field, offsetof(struct type, field),                          \
		    sizeof(((struct type *)0)->field)                          \
	}
	FIELD(ring_header, magic),
	FIELD(ring_header, version),
	FIELD(ring_header, byte_order),
	FIELD(ring_header, slot_size),
	FIELD(ring_header, options),
	FIELD(ring_header, slot_count),
	FIELD(ring_header, wall_anchor_ns),
	FIELD(ring_header, transaction_base),
	FIELD(ring_header, map_size),
	FIELD(ring_header, boot_id),
	FIELD(ring_header, host),
	FIELD(ring_header, head),
	FIELD(ring_header, transactions),
	FIELD(ring_header, dropped),
	FIELD(record, generation),
	FIELD(record, checksum),
	FIELD(record, transaction),
	FIELD(record, span),
	FIELD(record, version),
	FIELD(record, type),
	FIELD(record, kind),
	FIELD(record, phase),
	FIELD(record, category),
	FIELD(record, outcome),
	FIELD(record, text_slots),
	FIELD(record, text_part),
	FIELD(record, parent),
	FIELD(record, start_ns),
	FIELD(record, duration_ns),
	FIELD(record, cpu_ns),
	FIELD(record, prompt_ns),
	FIELD(record, pid),
	FIELD(record, ppid),
	FIELD(record, tid),
	FIELD(record, peer_pid),
	FIELD(record, marker),
	FIELD(record, flags),
	FIELD(record, result),
	FIELD(record, voluntary),
	FIELD(record, involuntary),
	FIELD(record, count),
	FIELD(record, prompts),
	FIELD(record, valid),
	FIELD(record, reserved),
	FIELD(record, service),
	FIELD(record, rhost),
	FIELD(record, tty),
	FIELD(record, object),
	FIELD(record_text, part),
	FIELD(record_text, field),
	FIELD(record_text, length),
	FIELD(record_text, reserved),
	FIELD(record_text, text),
};

static void
man_page(void)
{
	struct buffer page = { 0 };
	struct error error = { 0 };

	CU_ASSERT_EQUAL_FATAL(
	    safe_file_read(test_source("modules/pamprof-records.5"),
			   LINKS_FOLLOWED, 1u << 20, &page, &error),
	    0);
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		char row[64];

		(void)snprintf(row, sizeof(row), "\n%zu\t%zu\t%s\t",
			       fields[i].offset, fields[i].size,
			       fields[i].name);
		hand_expect(page.data, row);
	}
	buffer_free(&page);
}

void
segment_tests(void)
{
	static const struct test_row rows[] = {
		{ "a segment is written and read", segment_whole },
		{ "damage inside a segment", segment_damaged },
		{ "what is no segment", refuse_segments },
		{ "clocks", clocks },
		{ "the man page has the offsets", man_page },
	};
	CU_pSuite suite = TEST_SUITE("segment", rows);

	suite->pInitializeFunc = hand_set_up;
	suite->pCleanupFunc = hand_tear_down;
}
