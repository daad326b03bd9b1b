/*
 * Rings as the tool makes and reads them: whole slots come out once and in
 * order, the rest is counted, what is no ring is refused.
 */
#include "../test.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../modules/checksum.h"
#include "../../modules/emit.h"
#include "../../pamprof/trace/clock.h"
#include "ring_hand.h"

static struct ring_reader *
open_reader(void)
{
	struct error error = { 0 };
	struct ring_reader *reader;

	if (ring_reader_open(&reader, hand_path, &error))
		(void)fprintf(stderr, "%s\n", error.text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(reader);
	return reader;
}

static void
make(void)
{
	struct error error = { 0 };
	struct ring_header *header = hand_ring();
	struct stat status;
	uint8_t boot[16];

	CU_ASSERT_EQUAL(stat(hand_path, &status), 0);
	CU_ASSERT_EQUAL(status.st_mode & 07777, 0600);
	CU_ASSERT_EQUAL(status.st_size,
			RING_HEADER_SIZE + HAND_SLOTS * RECORD_SIZE);
	/* Preallocated: a write must never fail for want of room. */
	CU_ASSERT(status.st_blocks * 512 >= status.st_size);
	CU_ASSERT_EQUAL(header->slot_count, HAND_SLOTS);
	CU_ASSERT_EQUAL(header->options, RING_CPU);
	clock_boot_id(boot);
	CU_ASSERT_EQUAL(memcmp(header->boot_id, boot, 16), 0);
	CU_ASSERT(header->host[0]);
	/* A second of tolerance: the clock may be set in between. */
	CU_ASSERT(llabs(header->wall_anchor_ns - clock_anchor()) < 1000000000);
	hand_unmap(header);
	CU_ASSERT_EQUAL(ring_make(hand_path, HAND_SLOTS, 0, &error),
			ERROR_SYSTEM);
	(void)unlink(hand_path);
	CU_ASSERT_EQUAL(ring_make(hand_path, 0, 0, &error), ERROR_INPUT);
	CU_ASSERT_EQUAL(ring_make(hand_path, 3, 0, &error), ERROR_INPUT);
	CU_ASSERT_EQUAL(ring_make(hand_path, RING_SLOT_LIMIT * 2, 0, &error),
			ERROR_INPUT);
	CU_ASSERT_EQUAL(access(hand_path, F_OK), -1);
}

static void
drain(void)
{
	struct ring_header *header = hand_ring();
	struct ring_reader *reader = open_reader();
	struct assembly_loss loss = { 0 }, none = { 0 };
	struct hand_taken taken = { 0 };

	ring_reader_drain(reader, false, &loss, hand_take, &taken);
	CU_ASSERT_EQUAL(taken.count, 0);
	hand_put(header, 3);
	ring_reader_drain(reader, false, &loss, hand_take, &taken);
	hand_put(header, HAND_SLOTS);
	ring_reader_drain(reader, true, &loss, hand_take, &taken);
	CU_ASSERT_EQUAL(taken.count, HAND_SLOTS + 3);
	for (size_t i = 0; i < taken.count; i++)
		CU_ASSERT_EQUAL(taken.generation[i], i + 1);
	CU_ASSERT_EQUAL(memcmp(&loss, &none, sizeof(loss)), 0);
	CU_ASSERT_EQUAL(atomic_load(&ring_reader_header(reader)->head),
			HAND_SLOTS + 3);
	ring_reader_close(reader);
	hand_unmap(header);
}

static void
drain_overwritten(void)
{
	struct ring_header *header = hand_ring();
	struct ring_reader *reader = open_reader();
	struct assembly_loss loss = { 0 };
	struct hand_taken taken = { 0 };

	hand_put(header, 2 * HAND_SLOTS + 5);
	ring_reader_drain(reader, true, &loss, hand_take, &taken);
	CU_ASSERT_EQUAL(taken.count, HAND_SLOTS);
	CU_ASSERT_EQUAL(taken.generation[0], HAND_SLOTS + 6);
	CU_ASSERT_EQUAL(loss.overwritten, HAND_SLOTS + 5);
	CU_ASSERT_EQUAL(loss.torn, 0);
	/* A slot that has run ahead of the head we saw. */
	hand_put(header, 3);
	*hand_slot_at(header, 2 * HAND_SLOTS + 6) =
	    hand_slot(3 * HAND_SLOTS + 6);
	ring_reader_drain(reader, true, &loss, hand_take, &taken);
	CU_ASSERT_EQUAL(taken.count, HAND_SLOTS + 2);
	CU_ASSERT_EQUAL(loss.overwritten, HAND_SLOTS + 6);
	ring_reader_close(reader);
	hand_unmap(header);
}

static void
drain_torn(void)
{
	struct ring_header *header = hand_ring();
	struct ring_reader *reader = open_reader();
	struct assembly_loss loss = { 0 };
	struct hand_taken taken = { 0 };

	hand_put(header, 5);
	hand_slot_at(header, 1)->duration_ns++;  /* half written */
	hand_slot_at(header, 3)->generation = 0; /* not closed yet */
	ring_reader_drain(reader, false, &loss, hand_take, &taken);
	CU_ASSERT_EQUAL(taken.count, 2);
	CU_ASSERT_EQUAL(loss.torn, 1);
	ring_reader_drain(reader, false, &loss, hand_take, &taken);
	CU_ASSERT_EQUAL(taken.count, 2);
	hand_slot_at(header, 3)->generation = 4; /* now it is */
	ring_reader_drain(reader, false, &loss, hand_take, &taken);
	CU_ASSERT_EQUAL(taken.count, 4);
	hand_put(header, 2);
	hand_slot_at(header, 5)->generation = 0;
	ring_reader_drain(reader, true, &loss, hand_take, &taken);
	CU_ASSERT_EQUAL(taken.count, 5);
	CU_ASSERT_EQUAL(taken.generation[4], 7);
	CU_ASSERT_EQUAL(loss.torn, 2);
	ring_reader_close(reader);
	hand_unmap(header);
}

/* A writer killed between claim and close must not stop the reader. */
static void
drain_stalled(void)
{
	struct ring_header *header = hand_ring();
	struct ring_reader *reader = open_reader();
	const struct timespec second = { 1, 100000000 };
	struct assembly_loss loss = { 0 };
	struct hand_taken taken = { 0 };

	hand_put(header, 2);
	hand_slot_at(header, 0)->generation = 0;
	ring_reader_drain(reader, false, &loss, hand_take, &taken);
	CU_ASSERT_EQUAL(taken.count, 0);
	(void)nanosleep(&second, NULL);
	ring_reader_drain(reader, false, &loss, hand_take, &taken);
	CU_ASSERT_EQUAL(taken.count, 1);
	CU_ASSERT_EQUAL(loss.torn, 1);
	ring_reader_close(reader);
	hand_unmap(header);
}

static void
drain_counts(void)
{
	struct ring_header *header = hand_ring();
	struct ring_reader *reader = open_reader();
	struct assembly_loss loss = { 0 };
	struct hand_taken taken = { 0 };
	struct record *slot = hand_slot_at(header, 1);

	atomic_store(&header->dropped, 3);
	ring_reader_drain(reader, false, &loss, hand_take, &taken);
	atomic_store(&header->dropped, 5);
	hand_put(header, 3);
	slot->start_ns = UINT64_MAX / 2; /* in some hundred years */
	slot->checksum = record_checksum(slot);
	ring_reader_drain(reader, false, &loss, hand_take, &taken);
	CU_ASSERT_EQUAL(loss.dropped, 5);
	CU_ASSERT_EQUAL(loss.nonsense, 1);
	CU_ASSERT_EQUAL(taken.count, 2);
	/* A head that goes back is no reason to loop. */
	atomic_store(&header->head, 1);
	ring_reader_drain(reader, true, &loss, hand_take, &taken);
	CU_ASSERT_EQUAL(taken.count, 2);
	atomic_store(&header->head, UINT64_MAX);
	ring_reader_drain(reader, true, &loss, hand_take, &taken);
	CU_ASSERT_EQUAL(taken.count, 2);
	ring_reader_close(reader);
	hand_unmap(header);
}

static void
refuse_ring(const char *says)
{
	struct error error = { 0 };
	struct ring_reader *reader;

	CU_ASSERT(ring_reader_open(&reader, hand_path, &error) < 0);
	CU_ASSERT_PTR_NULL(reader);
	hand_expect(error.text, says);
}

static void
refuse_rings(void)
{
	char other[80];

	for (size_t i = 0; hand_heads[i].says; i++) {
		hand_unmap(hand_ring());
		hand_patch(hand_heads[i].offset, &hand_heads[i].value,
			   hand_heads[i].size);
		refuse_ring(hand_heads[i].says);
	}
	hand_unmap(hand_ring());
	CU_ASSERT_EQUAL(truncate(hand_path, RING_HEADER_SIZE + 1), 0);
	refuse_ring("shortened");
	CU_ASSERT_EQUAL(truncate(hand_path, 100), 0);
	refuse_ring("no ring");
	hand_unmap(hand_ring());
	CU_ASSERT_EQUAL(chmod(hand_path, 0640), 0);
	refuse_ring("0600");
	(void)snprintf(other, sizeof(other), "%s.ring", hand_path);
	CU_ASSERT_EQUAL(rename(hand_path, other), 0);
	CU_ASSERT_EQUAL(chmod(other, 0600), 0);
	CU_ASSERT_EQUAL(symlink(other, hand_path), 0);
	refuse_ring("cannot open");
	(void)unlink(other);
	(void)unlink(hand_path);
	CU_ASSERT_EQUAL(mkfifo(hand_path, 0600), 0);
	refuse_ring("no ring");
}

/* A process of its own writes with the observers' code. */
static int
write_records(unsigned count)
{
	ring_attach(hand_path);
	for (unsigned i = 0; i < count; i++) {
		struct record record = { .kind = KIND_CALL,
					 .phase = PHASE_AUTHENTICATE,
					 .start_ns = emit_now() };

		if (!emit_begin(&record, NULL))
			return 1;
		record.duration_ns = emit_now() - record.start_ns;
		emit_end(&record, NULL);
	}
	return 0;
}

/* While others write, each slot is handed over or counted, once. */
static void
drain_while_written(void)
{
	enum {
		WRITERS = 3,
		RECORDS = 5000
	};
	struct ring_header *header = hand_ring();
	struct ring_reader *reader = open_reader();
	struct assembly_loss loss = { 0 };
	struct hand_taken taken = { 0 };
	pid_t writers[WRITERS];
	int status = 0;

	for (int i = 0; i < WRITERS; i++) {
		writers[i] = fork();
		if (writers[i] == 0) {
			ring_reader_close(reader); /* or valgrind complains */
			_exit(write_records(RECORDS));
		}
	}
	for (int i = 0; i < WRITERS; i++) {
		while (waitpid(writers[i], &status, WNOHANG) == 0)
			ring_reader_drain(reader, false, &loss, hand_take,
					  &taken);
		CU_ASSERT_EQUAL(status, 0);
	}
	ring_reader_drain(reader, true, &loss, hand_take, &taken);
	CU_ASSERT_EQUAL(atomic_load(&header->head), 2 * WRITERS * RECORDS);
	CU_ASSERT_EQUAL(taken.count + loss.overwritten + loss.torn,
			2 * WRITERS * RECORDS);
	CU_ASSERT(taken.count > 0);
	CU_ASSERT_EQUAL(loss.nonsense, 0);
	ring_reader_close(reader);
	hand_unmap(header);
}

void
ring_reader_tests(void)
{
	static const struct test_row rows[] = {
		{ "a ring is made", make },
		{ "a ring is drained", drain },
		{ "overwritten slots", drain_overwritten },
		{ "torn slots and open ones", drain_torn },
		{ "a writer that died", drain_stalled },
		{ "dropped and impossible ones", drain_counts },
		{ "while others write", drain_while_written },
		{ "what is no ring", refuse_rings },
	};
	CU_pSuite suite = TEST_SUITE("ring_reader", rows);

	suite->pInitializeFunc = hand_set_up;
	suite->pCleanupFunc = hand_tear_down;
}
