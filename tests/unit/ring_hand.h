/*
 * A ring put together by hand, for the tests of what reads rings and
 * segments: slots are closed by code of the tests' own.
 */
#ifndef PAMPROF_TESTS_RING_HAND_H
#define PAMPROF_TESTS_RING_HAND_H

#include "../../modules/ring_header.h"
#include "../../pamprof/trace/ring_file.h"

enum {
	HAND_SLOTS = 16
};

/* Path of the file under test, in a folder made by hand_set_up(). */
extern char hand_path[64];
int hand_set_up(void);
int hand_tear_down(void);

/* A fresh ring at hand_path, mapped for writing; to be unmapped. */
struct ring_header *hand_ring(void);
void hand_unmap(struct ring_header *header);

/* A whole slot for that claim, and where it goes. */
struct record hand_slot(uint64_t index);
struct record *hand_slot_at(struct ring_header *header, uint64_t index);
/* Claims and closes the next slots. */
void hand_put(struct ring_header *header, unsigned count);

/* Writes into the file at hand_path. */
void hand_patch(size_t offset, const void *bytes, size_t size);

/* What a reader handed over; hand_take is a slot_taker. */
struct hand_taken {
	uint64_t generation[64];
	size_t count;
};
void hand_take(void *taken, const struct record *slot);

/* Bytes of a head that make it none of ours, and what the message says. */
struct hand_head {
	size_t offset, size;
	uint64_t value;
	const char *says; /* NULL: end of table */
};
extern const struct hand_head hand_heads[];

/* Fails the test if part is not in text. */
void hand_expect(const char *text, const char *part);

#endif
