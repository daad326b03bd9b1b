/*
 * What is in place, for people.
 */
#ifndef PAMPROF_INSTALL_STATUS_H
#define PAMPROF_INSTALL_STATUS_H

#include "state.h"

/*
 * Appends a paragraph for each service in the journal, what has changed
 * underneath, the ring and the segments. Returns the number of things that
 * want somebody's attention.
 */
unsigned status_write(struct buffer *out, const struct state *state);

#endif
