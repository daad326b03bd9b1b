/*
 * Where a report goes: stdout or a file, in which format, and what the
 * terminal can show. The same for every command that ends in a report.
 */
#ifndef PAMPROF_RENDER_OUTPUT_H
#define PAMPROF_RENDER_OUTPUT_H

#include <stdio.h>

#include "../base/error.h"
#include "../command.h"
#include "render.h"

/* The options of a command that reports; embed it in the command's own. */
struct output_options {
	const char *format; /* --format, or NULL */
	const char *sort;   /* --sort, or NULL */
	const char *file;   /* -o, or NULL; "-" is stdout */
};

/* Option rows for them: type is the command's struct, field the member. */
/* clang-format off */
#define OUTPUT_OPTION_ROW(name, letter, offset, argument, help) \
	{ (name), (letter), OPTION_STRING, (offset), (argument), (help) }
#define OUTPUT_OPTION_ROWS(type, field) \
	OUTPUT_OPTION_ROW("format", 0, offsetof(type, field) + \
			  offsetof(struct output_options, format), "FORMAT", \
			  "print the report as tree or json"), \
	OUTPUT_OPTION_ROW("sort", 0, offsetof(type, field) + \
			  offsetof(struct output_options, sort), "KEY", \
			  "order rules by stack, wall, cpu or calls"), \
	OUTPUT_OPTION_ROW("output", 'o', offsetof(type, field) + \
			  offsetof(struct output_options, file), "FILE", \
			  "write the report to FILE instead of stdout")
/* clang-format on */

/* A place to write to, opened; all zero is closed. */
struct output {
	FILE *stream;     /* NULL: closed */
	const char *name; /* for messages; of the options */
	renderer render;
	struct render_style style;
};

/*
 * To be called before anything is measured: checks the options' words
 * (ERROR_USAGE) and opens the file (ERROR_SYSTEM). An existing file keeps its
 * content until output_report(). The options must outlive output.
 */
int output_open(struct output *output, const struct output_options *options,
		struct error *error);

/*
 * Drops what the file holds: for those who write to stream themselves, when
 * they have something to write.
 */
int output_empty(struct output *output, struct error *error);

/* Renders and writes; ERROR_SYSTEM when not every byte could be written. */
int output_report(struct output *output, const struct report *report,
		  struct error *error);

/*
 * To be called before anything is written: refuses (ERROR_USAGE) to write to
 * stream if it is the file at path, which is read, or written to, as well.
 * Devices, pipes and a path that is NULL or not there are fine.
 */
int output_spares(FILE *stream, const char *path, struct error *error);

/* Closes the file, if any; may be called twice. */
void output_close(struct output *output);

/*
 * The four of them at once, for commands that measure nothing. source is the
 * file that the report was made from, or NULL.
 */
int report_output(const struct report *report,
		  const struct output_options *options, const char *source,
		  struct error *error);

#endif
