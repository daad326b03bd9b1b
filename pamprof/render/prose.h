/*
 * The sentences of the tree report, above and below its table.
 */
#ifndef PAMPROF_RENDER_PROSE_H
#define PAMPROF_RENDER_PROSE_H

#include "render.h"

/* The verdict in one sentence, which names what took longest. */
void prose_verdict(struct buffer *out, const struct report *report,
		   const struct render_style *style);

/* Runs that crashed, hung or left; nothing when there are none. */
void prose_failures(struct buffer *out, const struct report *report,
		    const struct render_style *style);

/* Spread of the runs, rules without times, losses, overhead, notes. */
void prose_footers(struct buffer *out, const struct report *report,
		   const struct render_style *style);

/* What took longest in the median run, counted without nested calls. */
struct slowest {
	const struct report_rule *rule;   /* one of the three, or none */
	const struct report_phase *phase; /* libpam itself in it */
	const char *outside;              /* "loading modules" ... */
	uint64_t ns;
};
struct slowest slowest_of(const struct report *report);

#endif
