/*
 * First page of a ring and of a segment; see pamprof-records(5). A ring is
 * this page and slot_count slots in shared memory; a segment is this page,
 * map_size bytes of rule map (JSON, padded with zero bytes to whole slots)
 * and slots to the end of the file.
 */
#ifndef PAMPROF_RING_HEADER_H
#define PAMPROF_RING_HEADER_H

#include "record.h"

#define RING_MAGIC       "PAMPROF\n"
#define RING_HEADER_SIZE 4096

/* Bits of ring_header.options: what observers shall record. */
enum ring_option {
	RING_CPU = 1u << 0,         /* CPU time and context switches */
	RING_CONVERSATION = 1u << 1 /* time the conversation by swapping it */
};

struct ring_header {
	char magic[8];                /* RING_MAGIC, not terminated */
	uint32_t version, byte_order; /* RECORD_VERSION, RING_BYTE_ORDER */
	uint32_t slot_size, options;
	uint64_t slot_count;       /* a power of two; segments: 0 */
	int64_t wall_anchor_ns;    /* CLOCK_REALTIME less CLOCK_MONOTONIC */
	uint64_t transaction_base; /* random, so that no two rings agree */
	uint64_t map_size;         /* segments only */
	uint8_t boot_id[16];
	char host[64];
	uint8_t reserved0[64 * 3 - 8 - 16 - 32 - 16 - 64];
	_Atomic uint64_t head; /* slots claimed since the ring was made */
	uint8_t reserved1[56];
	_Atomic uint64_t transactions; /* ids handed out */
	uint8_t reserved2[56];
	_Atomic uint64_t dropped; /* records observers could not write */
	uint8_t reserved3[56];
};

#define RING_BYTE_ORDER 0x01020304u
#define RING_SLOT_LIMIT (1ull << 24) /* 4 GiB; larger is refused */

_Static_assert(sizeof(struct ring_header) == 64 * 6, "six cache lines");
#endif
