/*
 * Commands as data: one descriptor each, which carries its own usage and
 * option rows, so that the parser, --help and the check of the man page read
 * the same table. A new command is one file and one row in command.c.
 */
#ifndef PAMPROF_COMMAND_H
#define PAMPROF_COMMAND_H

#include <stddef.h>

#include "base/error.h"

enum option_type {
	OPTION_FLAG,    /* bool */
	OPTION_STRING,  /* const char * */
	OPTION_COUNT,   /* unsigned long, >= 1 */
	OPTION_NUMBER,  /* unsigned long */
	OPTION_DURATION /* uint64_t ns from "2h", "1.5s", "200ms", "30" (s) */
};

struct option_row {
	const char *name; /* without dashes */
	char letter;      /* short form, or 0 */
	enum option_type type;
	size_t offset;        /* into the command's options struct */
	const char *argument; /* "FILE"; NULL for a flag */
	const char *help;     /* one sentence */
};

struct command {
	const char *name, *summary; /* summary: one line, no full stop */
	const char *usage;          /* after "pamprof NAME " */
	const char *description;    /* paragraph for --help */
	const struct option_row *options;
	size_t options_count, options_size; /* rows; size of the struct */
	/*
	 * Does the work. argv are the operands (argc of them). Returns an
	 * exit status, or a negative error code with error filled.
	 */
	int (*act)(const void *options, int argc, char **argv,
		   struct error *error);
	/* Fills the options struct with defaults; may be NULL. */
	void (*defaults)(void *options);
};

extern const struct command command_run, command_trace, command_show,
    command_report, command_doctor, command_instrument, command_restore,
    command_status;

/* All commands, ended by NULL. */
extern const struct command *const commands[];

/* Runs the program: parses argv, finds the command, acts, says errors. */
int command_main(int argc, char **argv);

#endif
