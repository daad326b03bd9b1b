/*
 * The checksum that tells a whole slot from a torn one.
 */
#ifndef PAMPROF_CHECKSUM_H
#define PAMPROF_CHECKSUM_H

#include "record.h"

/* A slot as words, whatever its type: without this the compiler may reorder. */
typedef uint64_t __attribute__((may_alias)) record_word;

/*
 * Checksum of a slot: every word but the checksum itself, the generation
 * included, in four independent lanes so that it costs some 20 ns. It tells
 * torn slots from whole ones; it is no defence against forgery.
 */
static inline uint64_t
record_checksum(const void *slot)
{
	const record_word *word = slot;
	uint64_t lane[4] = { 0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u,
			     0x94d049bb133111ebu, 0xd6e8feb86659fd93u };

	lane[0] ^= word[0];
	for (unsigned i = 2; i < RECORD_SIZE / 8; i++) {
		uint64_t *l = &lane[i & 3];

		*l = (*l ^ word[i]) * 0xff51afd7ed558ccdu;
		*l ^= *l >> 32;
	}
	return (lane[0] ^ (lane[1] << 1)) + (lane[2] ^ (lane[3] << 3));
}

#endif
