/*
 * Putting the timing module into a live stack.
 */
#ifndef PAMPROF_INSTALL_INSTRUMENT_H
#define PAMPROF_INSTALL_INSTRUMENT_H

#include "state.h"

struct instrument_how {
	int64_t until;      /* CLOCK_REALTIME, s; 0: until restored */
	unsigned options;   /* of the ring: enum ring_option */
	struct buffer *out; /* what was done, for the user */
};

/*
 * Instruments one service, with the lock held and the journal repaired. What
 * cannot be proved is not switched; what differs after the switch is put
 * back. On failure the service's file is as it was. A service that is
 * instrumented already is refused, unless a file it includes has changed
 * since: then it is restored first.
 */
int instrument_service(struct state *state, const char *service,
		       const struct instrument_how *how, struct error *error);

/* Appends what that would change, as unified diffs; writes nothing. */
int instrument_show(const struct state *state, const char *service,
		    struct buffer *out, struct error *error);

#endif
