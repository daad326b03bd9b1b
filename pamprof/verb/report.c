/*
 * pamprof report: what production recorded. Reads rings and segments as one
 * stream, once, and prints a summary, one login, or every span; nothing is
 * measured and nothing on this host changes.
 */
#include <stdlib.h>
#include <string.h>

#include "../base/when.h"
#include "../command.h"
#include "../install/layout.h"
#include "../render/output.h"
#include "../render/production.h"
#include "../trace/clock.h"
#include "../trace/stream.h"

struct report_options {
	const char *by, *since, *until, *login, *format, *file;
	uint64_t slower_ns;
	bool logins;
};

enum form {
	FORM_TREE,
	FORM_JSON,
	FORM_JSONL
};

static const char *const forms[] = { "tree", "json", "jsonl" };

/* All that a report needs on its way. */
struct reporting {
	const struct report_options *options;
	struct production_options wanted;
	enum form form;
	uint64_t login; /* the one that is asked for, or 0 */
	struct output output;
	struct production *production;
	struct buffer text;
	bool emptied, failed; /* the output file; to write to it */
	/* What the slots belong to now. */
	struct ring_header header;
	struct login_tree tree;
	struct assembler *assembler; /* of that login */
};

/* ---- The command line ----------------------------------------------------- */

static int
read_times(struct reporting *reporting, struct error *error)
{
	const struct report_options *options = reporting->options;
	int64_t now = clock_anchor() + (int64_t)clock_now();
	int result = 0;

	reporting->wanted.since_ns = INT64_MIN;
	reporting->wanted.until_ns = INT64_MAX;
	if (options->since)
		result = when_parse(options->since, now,
				    &reporting->wanted.since_ns, error);
	if (!result && options->until)
		result = when_parse(options->until, now,
				    &reporting->wanted.until_ns, error);
	return result;
}

static int
read_login(struct reporting *reporting, struct error *error)
{
	const char *id = reporting->options->login;
	char *end;

	if (!id)
		return 0;
	reporting->login = strtoull(id, &end, 16);
	if (strlen(id) <= 16 &&
	    strspn(id, "0123456789abcdefABCDEF") == strlen(id) &&
	    reporting->login)
		return 0;
	return error_set(error, ERROR_USAGE,
			 "\"%s\" is no login: --logins shows their ids", id);
}

/* The format's word, or the ending of the output file's name. */
static int
read_form(struct reporting *reporting, struct error *error)
{
	const struct report_options *options = reporting->options;
	const char *dot = options->file ? strrchr(options->file, '.') : NULL;
	const char *word = options->format ? options->format
			   : dot           ? dot + 1
					   : "";

	for (unsigned i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		if (strcmp(word, forms[i]) == 0) {
			reporting->form = (enum form)i;
			return 0;
		}
	if (!options->format)
		return 0;
	return error_set(error, ERROR_USAGE,
			 "unknown format \"%s\": tree, json or jsonl", word);
}

static int
read_options(struct reporting *reporting, struct error *error)
{
	const struct report_options *options = reporting->options;
	int result = read_times(reporting, error);

	if (!result)
		result = read_login(reporting, error);
	if (!result)
		result = read_form(reporting, error);
	if (result)
		return result;
	if (options->by &&
	    !production_by_find(options->by, &reporting->wanted.by))
		return error_set(error, ERROR_USAGE,
				 "cannot group by \"%s\": rule, module, phase, "
				 "service, user, host or hour",
				 options->by);
	reporting->wanted.slower_ns = options->slower_ns;
	if (options->slower_ns && reporting->form == FORM_JSONL)
		return error_set(error, ERROR_USAGE,
				 "--slower-than is known when a login is over, "
				 "jsonl writes each span as it comes");
	if (reporting->login && reporting->form == FORM_JSON)
		return error_set(error, ERROR_USAGE,
				 "a login comes as tree or jsonl");
	return 0;
}

/* ---- Slots on their way --------------------------------------------------- */

/* Writes what is there, all at once. */
static void
flush(struct reporting *reporting)
{
	struct buffer *text = &reporting->text;

	if (!reporting->emptied && output_empty(&reporting->output, NULL))
		reporting->failed = true;
	reporting->emptied = true;
	if (text->length && !reporting->failed &&
	    fwrite(text->data, 1, text->length, reporting->output.stream) !=
		text->length)
		reporting->failed = true;
	text->length = 0;
}

static void
take_root(void *context, const struct span *root)
{
	login_tree_root(context, root);
}

static void
take_head(void *context, const struct ring_header *header,
	  const struct rule_map *map, bool same_ring)
{
	struct reporting *reporting = context;

	/* Spans of the old map first. */
	if (reporting->assembler && !same_ring)
		assembler_finish(reporting->assembler);
	reporting->header = *header;
	reporting->tree.header = &reporting->header;
	reporting->tree.map = map;
	production_head(reporting->production, header, map, same_ring);
}

/* The last map goes: what is open is printed with it. */
static void
take_end(void *context)
{
	struct reporting *reporting = context;

	if (reporting->assembler)
		assembler_finish(reporting->assembler);
}

/* One line for the end of a call. */
static void export(struct reporting *reporting, const struct record *slot,
		   uint64_t login)
{
	if (slot->type != RECORD_END || slot->kind != KIND_CALL ||
	    slot->version != RECORD_VERSION)
		return;
	production_jsonl_end(&reporting->text, slot, &reporting->header,
			     production_rule(reporting->production, slot),
			     login);
	if (reporting->text.length > 1u << 16)
		flush(reporting);
}

static void
take_slot(void *context, const struct record *slot)
{
	struct reporting *reporting = context;
	bool left_out;
	uint64_t login;

	production_take(reporting->production, slot);
	login = production_login(reporting->production, &left_out);
	if (left_out || (reporting->login && login != reporting->login &&
			 slot->transaction != reporting->login))
		return;
	if (reporting->form == FORM_JSONL)
		export(reporting, slot, login);
	else if (reporting->assembler)
		assembler_feed(reporting->assembler, slot);
}

static void
take_open(void *context, const struct production_open *open)
{
	struct reporting *reporting = context;

	if (!reporting->login || reporting->login == open->login.id)
		production_jsonl_open(&reporting->text, open);
	if (reporting->text.length > 1u << 16)
		flush(reporting);
}

/* Reads everything; what is printed meanwhile is jsonl. */
static int
read_all(struct reporting *reporting, const char *const *paths, size_t count,
	 struct error *error)
{
	static const struct stream_places places = { PRODUCTION_RING,
						     PRODUCTION_SEGMENTS,
						     PRODUCTION_FOLDER };
	struct stream_sink sink = { .head = take_head,
				    .take = take_slot,
				    .end = take_end,
				    .context = reporting };

	if (reporting->form == FORM_JSONL) {
		reporting->wanted.opened = take_open;
		reporting->wanted.context = reporting;
	} else if (reporting->login) {
		reporting->tree.out = &reporting->text;
		reporting->tree.style = &reporting->output.style;
		reporting->assembler =
		    assembler_new(take_root, &reporting->tree);
	}
	reporting->production = production_new(&reporting->wanted);
	sink.loss = production_loss(reporting->production);
	return stream_read(paths, count, &places, &sink, error);
}

/* ---- The report ----------------------------------------------------------- */

static int
print(struct reporting *reporting, struct error *error)
{
	const struct production_report *report =
	    production_finish(reporting->production);

	if (reporting->form == FORM_JSON)
		production_json(&reporting->text, report);
	else if (reporting->form == FORM_TREE && !reporting->login)
		production_tree(&reporting->text, report,
				&reporting->output.style,
				reporting->options->logins);
	else if (reporting->assembler && !reporting->tree.spans)
		return error_set(error, ERROR_INPUT,
				 "there is no login %s in these recordings",
				 reporting->options->login);
	flush(reporting);
	if (reporting->failed || fflush(reporting->output.stream) != 0)
		return error_errno(error, "cannot write %s",
				   reporting->output.name);
	return 0;
}

static int
report(const void *data, int argc, char **argv, struct error *error)
{
	const struct report_options *options = data;
	struct output_options output = { .file = options->file };
	struct reporting reporting = { .options = options };
	int result = read_options(&reporting, error);

	if (!result)
		result = output_open(&reporting.output, &output, error);
	if (!result)
		result = read_all(&reporting, (const char *const *)argv,
				  (size_t)argc, error);
	if (!result)
		result = print(&reporting, error);
	output_close(&reporting.output);
	assembler_free(reporting.assembler);
	production_free(reporting.production);
	buffer_free(&reporting.text);
	return result ? result : EXIT_MEASURED;
}

#define ROW(name, letter, type, field, argument, help)                         \
	{                                                                      \
		(name), (letter), (type),                                      \
		    offsetof(struct report_options, field), (argument), (help) \
	}

static const struct option_row report_rows[] = {
	ROW("by", 0, OPTION_STRING, by, "KEY",
	    "group by rule, module, phase, service, user, host or hour"),
	ROW("since", 0, OPTION_STRING, since, "TIME",
	    "only logins that began then or later"),
	ROW("until", 0, OPTION_STRING, until, "TIME",
	    "only logins that began before"),
	ROW("slower-than", 0, OPTION_DURATION, slower_ns, "DURATION",
	    "only logins that took that long or longer"),
	ROW("logins", 0, OPTION_FLAG, logins, NULL,
	    "list the slowest logins instead of groups"),
	ROW("login", 0, OPTION_STRING, login, "ID", "show one login as a tree"),
	ROW("format", 0, OPTION_STRING, format, "FORMAT",
	    "print tree, json, or jsonl: one object per call"),
	ROW("output", 'o', OPTION_STRING, file, "FILE",
	    "write the report to FILE instead of stdout"),
};

const struct command command_report = {
	.name = "report",
	.summary = "tell what production recorded",
	.usage = "[FILE...] [--by KEY] [--logins | --login ID] [OPTION...]",
	.description =
	    "Reads segments (also compressed, also of several hosts), folders "
	    "of them, rings, or \"-\" for the standard input; without a FILE, "
	    "what this host recorded. The exit status says whether that could "
	    "be read, not how the logins went.",
	.options = report_rows,
	.options_count = sizeof(report_rows) / sizeof(*report_rows),
	.options_size = sizeof(struct report_options),
	.act = report,
};
