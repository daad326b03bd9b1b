/*
 * The checksum that tells a whole slot from a torn one.
 */
#ifndef PAMPROF_CHECKSUM_H
#define PAMPROF_CHECKSUM_H

#include "record.h"

/* A slot as words, whatever its type: without this the compiler may reorder. */
typedef uint64_t __attribute__((may_alias)) record_word;

/* One step of a lane. */
static inline uint64_t
record_mix(uint64_t lane, uint64_t word)
{
	lane = (lane ^ word) * 0xff51afd7ed558ccdu;
	return lane ^ (lane >> 32);
}

/*
 * Checksum of a slot: every word but the checksum itself, the generation
 * included, in four independent lanes, each in a register of its own, so that
 * it costs some 15 ns. It tells torn slots from whole ones; it is no defence
 * against forgery.
 */
static inline uint64_t
record_checksum(const void *slot)
{
	const record_word *word = slot;
	uint64_t a = 0x9e3779b97f4a7c15u ^ word[0], b = 0xbf58476d1ce4e5b9u,
		 c = record_mix(0x94d049bb133111ebu, word[2]),
		 d = record_mix(0xd6e8feb86659fd93u, word[3]);

	for (unsigned i = 4; i < RECORD_SIZE / 8; i += 4) {
		a = record_mix(a, word[i]);
		b = record_mix(b, word[i + 1]);
		c = record_mix(c, word[i + 2]);
		d = record_mix(d, word[i + 3]);
	}
	return (a ^ (b << 1)) + (c ^ (d << 3));
}

#endif
