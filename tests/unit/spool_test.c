/*
 * Records kept until their map is known (pamprof trace): order, strings from
 * text slots, edits with a checksum that fits, and what is cut off.
 */
#include "../test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../modules/checksum.h"
#include "../../pamprof/trace/spool.h"

#define SLOTS 16

struct seen {
	unsigned edits, taken;
	char service[64], object[700];
	uint64_t generations[SLOTS];
	uint32_t markers[SLOTS];
};

static void
edit(void *context, struct record *record, const char *service,
     const char *object)
{
	struct seen *seen = context;

	seen->edits++;
	(void)snprintf(seen->service, sizeof(seen->service), "%s", service);
	(void)snprintf(seen->object, sizeof(seen->object), "%s", object);
	record->marker = 100 + seen->edits;
}

static void
take(void *context, const struct record *slot)
{
	struct seen *seen = context;

	CU_ASSERT_EQUAL(slot->checksum, record_checksum(slot));
	seen->generations[seen->taken] = slot->generation;
	seen->markers[seen->taken++] = slot->marker;
}

static void
put(struct spool *spool, void *slot)
{
	struct record *record = slot;

	record->checksum = record_checksum(record);
	spool_take(spool, record);
}

static void
put_record(struct spool *spool, uint64_t generation, const char *object,
	   uint8_t text_slots)
{
	struct record record = { .generation = generation,
				 .span = generation,
				 .start_ns = 1,
				 .pid = 1,
				 .tid = 1,
				 .phase = PHASE_AUTHENTICATE,
				 .version = RECORD_VERSION,
				 .type = RECORD_BEGIN,
				 .kind = KIND_CALL,
				 .text_slots = text_slots,
				 .service = "svc" };

	memcpy(record.object, object, strnlen(object, sizeof(record.object)));
	put(spool, &record);
}

static void
put_text(struct spool *spool, uint64_t generation, uint8_t part,
	 const char *text)
{
	struct record_text slot = { .generation = generation,
				    .span = generation - part - 1,
				    .version = RECORD_VERSION,
				    .type = RECORD_TEXT,
				    .part = part,
				    .field = FIELD_OBJECT };

	slot.length = (uint16_t)strnlen(text, RECORD_TEXT_SIZE);
	memcpy(slot.text, text, slot.length);
	put(spool, &slot);
}

static struct spool *
start(struct seen *seen)
{
	struct spool *spool;
	struct error error;

	memset(seen, 0, sizeof(*seen));
	CU_ASSERT_EQUAL_FATAL(spool_make(&spool, "/tmp", edit, seen, &error),
			      0);
	return spool;
}

static void
in_order(void)
{
	char path[2 * RECORD_TEXT_SIZE], *written = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&written, &size);
	struct seen seen;
	struct spool *spool = start(&seen);

	memset(path, 'p', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	put_record(spool, 1, "short", 0);
	CU_ASSERT_STRING_EQUAL(seen.object, "short");
	put_record(spool, 2, path, 2);
	CU_ASSERT_EQUAL(seen.edits, 1);
	put_text(spool, 3, 0, path);
	put_text(spool, 4, 1, path + RECORD_TEXT_SIZE);
	CU_ASSERT_EQUAL(seen.edits, 2);
	CU_ASSERT_STRING_EQUAL(seen.object, path);
	CU_ASSERT_STRING_EQUAL(seen.service, "svc");
	put_record(spool, 5, "last", 0);
	CU_ASSERT_EQUAL(spool_count(spool), 5);
	CU_ASSERT_EQUAL(spool_replay(spool, take, &seen, out, NULL), 0);
	CU_ASSERT_EQUAL(seen.taken, 5);
	for (unsigned i = 0; i < seen.taken; i++)
		CU_ASSERT_EQUAL(seen.generations[i], i + 1);
	CU_ASSERT_EQUAL(seen.markers[0], 101);
	CU_ASSERT_EQUAL(seen.markers[1], 102);
	CU_ASSERT_EQUAL(seen.markers[4], 103);
	(void)fclose(out);
	CU_ASSERT_EQUAL(size, 5 * RECORD_SIZE);
	free(written);
	spool_free(spool);
}

/* Text that never comes, that belongs to nobody, and slots that are none. */
static void
cut_off(void)
{
	char path[64] = "a path that is longer than its field has bytes";
	struct seen seen;
	struct spool *spool = start(&seen);
	struct record nonsense = { .generation = 9, .version = 200 };

	put_record(spool, 1, path, 1);
	put_record(spool, 3, "next", 0); /* slot 2 was lost */
	CU_ASSERT_EQUAL(seen.edits, 2);
	put_text(spool, 4, 0, "nobody's");
	put(spool, &nonsense);
	put_record(spool, 10, path, 1); /* and here it all ends */
	CU_ASSERT_EQUAL(seen.edits, 2);
	CU_ASSERT_EQUAL(spool_replay(spool, take, &seen, NULL, NULL), 0);
	CU_ASSERT_EQUAL(seen.edits, 3);
	CU_ASSERT_EQUAL(strlen(seen.object), sizeof(nonsense.object));
	CU_ASSERT_EQUAL(seen.taken, 5);
	spool_free(spool);
	spool_free(NULL);
}

static void
failures(void)
{
	struct spool *spool;
	struct seen seen;
	struct error error = { 0 };
	FILE *full = fopen("/dev/full", "w");

	CU_ASSERT_EQUAL(
	    spool_make(&spool, "/nowhere-at-all", edit, &seen, &error),
	    ERROR_SYSTEM);
	CU_ASSERT_PTR_NULL(spool);
	CU_ASSERT_PTR_NOT_NULL_FATAL(full);
	setbuf(full, NULL);
	spool = start(&seen);
	put_record(spool, 1, "x", 0);
	CU_ASSERT_EQUAL(spool_replay(spool, take, &seen, full, &error),
			ERROR_SYSTEM);
	(void)fclose(full);
	spool_free(spool);
}

void spool_tests(void);

void
spool_tests(void)
{
	static const struct test_row rows[] = {
		{ "order and strings", in_order },
		{ "text that is missing", cut_off },
		{ "no place to write", failures },
	};

	(void)TEST_SUITE("spool", rows);
}
