/*
 * Time: records carry CLOCK_MONOTONIC, which means nothing beyond one boot
 * of one machine; the head of a ring or segment says what it stands for.
 */
#ifndef PAMPROF_TRACE_CLOCK_H
#define PAMPROF_TRACE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "../../modules/ring_header.h"

/* CLOCK_MONOTONIC in ns. */
uint64_t clock_now(void);

/* CLOCK_REALTIME less CLOCK_MONOTONIC in ns, as of now. */
int64_t clock_anchor(void);

/* This boot's id, 16 bytes; all zero if the kernel does not tell. */
void clock_boot_id(uint8_t id[16]);

/*
 * Wall time (ns since 1970, UTC) of a monotonic time of that ring or
 * segment. Cut to what fits: heads and records may be hostile.
 */
int64_t clock_wall(const struct ring_header *header, uint64_t monotonic_ns);

/*
 * Whether times of both can be compared: the same boot of the same host.
 * Unknown boots (all zero) compare with nothing.
 */
bool clock_same_boot(const struct ring_header *a, const struct ring_header *b);

/*
 * Whether span ids of both can be compared, that is whether slots of both
 * may go through one assembler: the same ring, or segments of it.
 */
bool clock_same_ring(const struct ring_header *a, const struct ring_header *b);

#endif
