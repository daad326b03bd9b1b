/*
 * Command lines and durations, read by table. The tables are the option rows
 * of command.h, which --help and the check of the man page read as well.
 */
#ifndef PAMPROF_BASE_OPTIONS_H
#define PAMPROF_BASE_OPTIONS_H

#include <stdint.h>

#include "../command.h"

/* What options_parse() returns besides an error code. */
enum options_result {
	OPTIONS_PARSED = 0,
	OPTIONS_HELP = 1 /* --help was met: nothing after it was read */
};

/*
 * Reads argv[0] to argv[*argc - 1] (no program name) by command->options
 * into the struct at options, GNU style: --name, --name=value, --name value,
 * -x, -xvalue, -x value, -xyz for flags; options may follow operands; "--"
 * ends them. The operands are moved to the front of argv and *argc becomes
 * their number. Strings point into argv. The last of repeated options wins.
 * On ERROR_USAGE, options and argv are half done.
 */
int options_parse(const struct command *command, void *options, int *argc,
		  char **argv, struct error *error);

/*
 * Reads a duration: digits, perhaps a fraction, and one of ns us ms s m min
 * h d; no unit means seconds. What is under 1 ns is cut. Returns 0 or
 * ERROR_USAGE; *ns is 0 then.
 */
int options_duration(const char *text, uint64_t *ns, struct error *error);

/* Reads a decimal number without sign. Returns 0 or ERROR_USAGE. */
int options_number(const char *text, unsigned long *number,
		   struct error *error);

#endif
