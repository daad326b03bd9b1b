/*
 * The single surroundings of which random stacks are made, each alone: what
 * a wrapped module and its application must find as they do bare.
 */
#ifndef PAMPROF_TESTS_SURROUNDINGS_ROWS_H
#define PAMPROF_TESTS_SURROUNDINGS_ROWS_H

#include <stdbool.h>

#define SURROUNDINGS_WORDS 5

struct surroundings_row {
	const char *name;
	const char *stack;  /* service "svc"; "@" is the folder of the stubs */
	const char *second; /* service "second", or NULL */
	const char *script; /* of the driver */
	const char *must[SURROUNDINGS_WORDS]; /* found in the trace, so that a
					       * row shows what it says */
	const char *must_not;                 /* or NULL */
	const char *removed; /* module file that goes after wrapping */
	bool root;           /* can only be shown by root */
	bool no_cpu;         /* for a ring that asks for no CPU times */
	/*
	 * For filters of system calls: jobs are forked children of the driver,
	 * where the auditor has to open the ring for each record.
	 */
	bool not_audited;
};

/* Ends with a row without a name. */
extern const struct surroundings_row surroundings_rows[];

#endif
