/*
 * A span of time with its children: what the assembler makes of records and
 * what statistics and renderers read.
 */
#ifndef PAMPROF_TRACE_SPAN_H
#define PAMPROF_TRACE_SPAN_H

#include <stdbool.h>

#include "../../modules/record.h"

struct span {
	struct record record; /* the end record, or the begin if unfinished */
	char *service, *rhost, *tty, *object;  /* whole; "" when unknown */
	bool unfinished;                       /* entered, never left */
	struct span *parent, *children, *next; /* children by start */
};

#endif
