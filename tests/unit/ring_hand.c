/*
 * See ring_hand.h.
 */
#include "ring_hand.h"

#include <CUnit/CUnit.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../modules/checksum.h"

char hand_path[64];
static char folder[64];

int
hand_set_up(void)
{
	strcpy(folder, "/tmp/pamprof-ring-XXXXXX");
	if (!mkdtemp(folder))
		return 1;
	(void)snprintf(hand_path, sizeof(hand_path), "%.50s/file", folder);
	return 0;
}

int
hand_tear_down(void)
{
	(void)unlink(hand_path);
	return rmdir(folder);
}

void
hand_take(void *context, const struct record *slot)
{
	struct hand_taken *taken = context;

	if (taken->count < sizeof(taken->generation) / sizeof(uint64_t))
		taken->generation[taken->count] = slot->generation;
	taken->count++;
}

struct ring_header *
hand_ring(void)
{
	struct error error = { 0 };
	struct ring_header *header;
	int fd;

	(void)unlink(hand_path);
	CU_ASSERT_EQUAL_FATAL(
	    ring_make(hand_path, HAND_SLOTS, RING_CPU, &error), 0);
	fd = open(hand_path, O_RDWR | O_CLOEXEC);
	CU_ASSERT_FATAL(fd >= 0);
	header = mmap(NULL, RING_HEADER_SIZE + HAND_SLOTS * RECORD_SIZE,
		      PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CU_ASSERT_FATAL(header != MAP_FAILED);
	(void)close(fd);
	return header;
}

void
hand_unmap(struct ring_header *header)
{
	(void)munmap(header, RING_HEADER_SIZE + HAND_SLOTS * RECORD_SIZE);
}

struct record
hand_slot(uint64_t index)
{
	struct record record = { .generation = index + 1,
				 .version = RECORD_VERSION,
				 .type = RECORD_BEGIN,
				 .kind = KIND_RUN,
				 .start_ns = index };

	record.checksum = record_checksum(&record);
	return record;
}

struct record *
hand_slot_at(struct ring_header *header, uint64_t index)
{
	return (struct record *)((char *)header + RING_HEADER_SIZE) +
	       index % HAND_SLOTS;
}

void
hand_put(struct ring_header *header, unsigned count)
{
	while (count--) {
		uint64_t index = atomic_fetch_add(&header->head, 1);

		*hand_slot_at(header, index) = hand_slot(index);
	}
}

void
hand_patch(size_t offset, const void *bytes, size_t size)
{
	int fd = open(hand_path, O_RDWR | O_CLOEXEC);

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL(pwrite(fd, bytes, size, (off_t)offset), (ssize_t)size);
	(void)close(fd);
}

#define HEAD(field, value, says)                                               \
	{                                                                      \
		offsetof(struct ring_header, field),                           \
		    sizeof(((struct ring_header *)0)->field), value, says      \
	}

const struct hand_head hand_heads[] = {
	HEAD(magic, 0, "is not a recording"),
	HEAD(version, RECORD_VERSION + 1, "has version 2"),
	HEAD(version, 0, "has version 0"),
	HEAD(byte_order, 0x04030201u, "another byte order"),
	HEAD(slot_size, 128, "slots of 128 bytes"),
	HEAD(slot_count, 3, "impossible head: 3 slots"),
	HEAD(slot_count, RING_SLOT_LIMIT * 2, "impossible head"),
	{ 0, 0, 0, NULL },
};

void
hand_expect(const char *text, const char *part)
{
	if (strstr(text, part))
		return;
	(void)fprintf(stderr, "\"%s\" not in \"%s\"\n", part, text);
	CU_FAIL("wrong message");
}
