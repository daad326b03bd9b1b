/*
 * What pamprof itself costs: said in every report.
 */
#ifndef PAMPROF_RUN_CALIBRATE_H
#define PAMPROF_RUN_CALIBRATE_H

#include <stdint.h>

#include "../base/error.h"

/*
 * Measures the wall time, in ns, that recording adds to one module call: the
 * resident object is driven in a throw-away child against a ring of its own
 * with the given options (enum ring_option). dir must exist and be empty.
 * Returns 0, or an error with *ns 0.
 */
int calibrate_call(uint64_t *ns, const char *dir, uint32_t options,
		   struct error *error);

#endif
