/*
 * Points in time as people write them on a command line.
 */
#ifndef PAMPROF_BASE_WHEN_H
#define PAMPROF_BASE_WHEN_H

#include <stdint.h>

#include "error.h"

/*
 * Reads "2026-11-30", "2026-11-30T08:15", "2026-11-30 08:15:30", with a "Z"
 * for UTC and without one for local time; "08:15" of the day of now_ns; or
 * "-2h", so long before now_ns (see options_duration()). Times are ns since
 * 1970. Returns 0 or ERROR_USAGE; *ns is 0 then.
 */
int when_parse(const char *text, int64_t now_ns, int64_t *ns,
	       struct error *error);

#endif
