/*
 * pamprof show: the report of a saved run again, in another format or order.
 * A recording comes from anywhere, so everything in it is somebody else's
 * word; reading it changes nothing on this host.
 */
#include "../command.h"

#include <stdlib.h>

#include "../render/output.h"
#include "../trace/segment.h"

struct show_options {
	struct output_options output;
};

/* From slots to a report; the map is known before the first slot. */
struct reading {
	struct rule_map *map;
	struct assembler *assembler;
	struct report_builder *builder;
};

static void
take_root(void *context, const struct span *root)
{
	struct reading *reading = context;

	if (!reading->builder)
		reading->builder = report_builder_new(reading->map);
	report_builder_root(reading->builder, root);
}

static void
take_slot(void *context, const struct record *slot)
{
	struct reading *reading = context;

	assembler_feed(reading->assembler, slot);
}

/* Reads a segment; *report refers to *map, and both are the caller's. */
static int
read_report(const char *path, struct rule_map **map, struct report **report,
	    struct error *error)
{
	struct reading reading = { 0 };
	struct slot_sink sink = { .take = take_slot, .context = &reading };
	struct assembly_loss loss;
	int r;

	*map = NULL;
	*report = NULL;
	reading.assembler = assembler_new(take_root, &reading);
	sink.loss = assembler_loss(reading.assembler);
	r = segment_read(path, &reading.map, &sink, error);
	if (r == 0) {
		assembler_finish(reading.assembler);
		loss = *assembler_loss(reading.assembler);
		if (!reading.builder)
			reading.builder = report_builder_new(reading.map);
		*report = report_builder_finish(reading.builder, &loss);
		*map = reading.map;
	}
	assembler_free(reading.assembler);
	return r;
}

/* The status says whether the file could be shown, not how the login went. */
static int
show(const void *data, int argc, char **argv, struct error *error)
{
	const struct show_options *options = data;
	struct rule_map *map = NULL;
	struct report *report = NULL;
	int r;

	if (argc != 1)
		return error_set(error, ERROR_USAGE,
				 "show takes one FILE saved by run or trace");
	r = read_report(argv[0], &map, &report, error);
	if (r == 0)
		r = report_output(report, &options->output, argv[0], error);
	report_free(report);
	rule_map_free(map);
	return r == 0 ? EXIT_MEASURED : r;
}

static const struct option_row show_rows[] = {
	OUTPUT_OPTION_ROWS(struct show_options, output),
};

const struct command command_show = {
	.name = "show",
	.summary = "print the report of a saved run again",
	.usage = "FILE [--format tree|json] [--sort KEY] [-o FILE]",
	.description = "Reads a recording made by \"pamprof run --save FILE\" "
		       "or \"pamprof trace --save FILE\" and prints its "
		       "report. Nothing is measured; the exit status is 0 "
		       "even when the recorded login failed.",
	.options = show_rows,
	.options_count = sizeof(show_rows) / sizeof(*show_rows),
	.options_size = sizeof(struct show_options),
	.act = show,
};
