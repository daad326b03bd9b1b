/*
 * Many recordings as one stream of slots: segments, plain or compressed, of
 * several hosts, and rings in use.
 */
#ifndef PAMPROF_TRACE_STREAM_H
#define PAMPROF_TRACE_STREAM_H

#include "ring_file.h"
#include "rule_map.h"

/* What the slots go to. loss gets torn, overwritten and dropped ones. */
struct stream_sink {
	/*
	 * The slots that follow have this head and map, which are gone when
	 * the next head comes. same_ring: ids go on where they were.
	 */
	void (*head)(void *context, const struct ring_header *header,
		     const struct rule_map *map, bool same_ring);
	slot_taker take; /* whole slots, in the order of their claims */
	void (*end)(void *context); /* the last map is still there; or NULL */
	void *context;
	struct assembly_loss *loss;
};

/* Where recordings lie when none is named. */
struct stream_places {
	const char *ring;     /* the ring in use */
	const char *segments; /* folder of .seg, .seg.gz and .seg.zst */
	const char *maps;     /* folder of folders with a map.json each */
};

/*
 * Reads the recordings named by paths: segments, folders of them, rings, "-"
 * for the standard input; without any, what is at places. Files come in the
 * order in which their rings were written, whatever order they are named in;
 * a slot that two of them have comes once. Several segments may follow each
 * other in one input. A damaged head is an error, in a folder a warning.
 * Memory does not depend on the length of the recordings. Returns 0 or an
 * error code; slots may have gone to the sink before that.
 */
int stream_read(const char *const *paths, size_t count,
		const struct stream_places *places,
		const struct stream_sink *sink, struct error *error);

#endif
