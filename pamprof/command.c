/*
 * The table of commands and the way from argv to one of them. A command is
 * one row here and one file elsewhere; help is printed from its descriptor,
 * so that it cannot disagree with what the parser accepts.
 */
#include "command.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/message.h"
#include "base/options.h"
#include "render/text.h"

#define HELP_COLUMNS 79

const struct command *const commands[] = {
	&command_run,     &command_trace,  &command_show,
	&command_report,  &command_doctor, &command_instrument,
	&command_restore, &command_status, NULL
};

/* "-n, --runs RUNS" or "    --yes". */
static void
option_name(struct buffer *out, const struct option_row *row)
{
	if (row->letter)
		buffer_format(out, "-%c, --%s", row->letter, row->name);
	else
		buffer_format(out, "    --%s", row->name);
	if (row->argument)
		buffer_format(out, " %s", row->argument);
}

static void
option_help(struct buffer *out, const struct option_row *row)
{
	enum {
		COLUMN = 28
	};
	struct buffer name = { 0 }, line = { 0 };

	option_name(&name, row);
	if (name.length + 2 >= COLUMN) {
		buffer_format(out, "  %s\n", name.data);
		buffer_format(&line, "%*s%s", COLUMN, "", row->help);
	} else {
		buffer_format(&line, "  %-*s%s", COLUMN - 2, name.data,
			      row->help);
	}
	text_wrap(out, line.data, HELP_COLUMNS, COLUMN);
	buffer_free(&name);
	buffer_free(&line);
}

static int
help_command(const struct command *command)
{
	const struct option_row help = { .name = "help",
					 .letter = 'h',
					 .help = "print this" };
	struct buffer out = { 0 };

	buffer_format(&out, "usage: pamprof %s%s%s\n\n", command->name,
		      command->usage[0] ? " " : "", command->usage);
	text_wrap(&out, command->description, HELP_COLUMNS, 0);
	buffer_char(&out, '\n');
	for (size_t i = 0; i < command->options_count; i++)
		option_help(&out, &command->options[i]);
	option_help(&out, &help);
	(void)fputs(out.data, stdout);
	buffer_free(&out);
	return EXIT_MEASURED;
}

static int
help_program(void)
{
	(void)printf("usage: pamprof COMMAND [OPTION...] [OPERAND...]\n\n"
		     "Shows where the time of a login goes.\n\n");
	for (size_t i = 0; commands[i]; i++)
		(void)printf("  %-12s%s\n", commands[i]->name,
			     commands[i]->summary);
	(void)printf("\npamprof COMMAND --help tells more; so does "
		     "pamprof(1).\n");
	return EXIT_MEASURED;
}

static const struct command *
find(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

/* Parses the command's words and acts; its errors are left in error. */
static int
act(const struct command *command, int argc, char **argv, struct error *error)
{
	void *options = alloc_zero(1, command->options_size);
	int r;

	if (command->defaults)
		command->defaults(options);
	r = options_parse(command, options, &argc, argv, error);
	if (r == OPTIONS_HELP)
		r = help_command(command);
	else if (r == OPTIONS_PARSED)
		r = command->act(options, argc, argv, error);
	free(options);
	return r;
}

/* What the first word asks for besides a command, or -1. */
static int
program_option(const char *word)
{
	if (!strcmp(word, "--help") || !strcmp(word, "-h") ||
	    !strcmp(word, "help"))
		return help_program();
	if (!strcmp(word, "--version")) {
		(void)printf("pamprof %s\n", PAMPROF_VERSION);
		return EXIT_MEASURED;
	}
	return -1;
}

/*
 * Output that could not be written is a failure, whatever was measured; what
 * failed before is in error and says more.
 */
static int
flush(int status, struct error *error)
{
	if (status < 0 || (fflush(stdout) == 0 && !ferror(stdout)))
		return status;
	return error_errno(error, "the report could not be written to stdout");
}

int
command_main(int argc, char **argv)
{
	struct error error = { 0 };
	const struct command *command;
	int r;

	/* A closed pipe and a limit are reported, and leave nothing behind. */
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	if (argc < 2)
		r = error_set(&error, ERROR_USAGE,
			      "which command? see pamprof --help");
	else if ((r = program_option(argv[1])) >= 0)
		r = flush(r, &error);
	else if (!(command = find(argv[1])))
		r = error_set(&error, ERROR_USAGE,
			      "no command \"%s\"; see pamprof --help", argv[1]);
	else
		r = flush(act(command, argc - 2, argv + 2, &error), &error);
	message_progress(NULL);
	if (r >= 0)
		return r;
	message_error(&error);
	return error_exit_status(&error);
}
