/*
 * pamprof trace: an unmodified program, with nothing on the host changed. The
 * audit observer records what libpam and the modules do in it and in what it
 * starts; which rules that were is found when the records are read.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/alloc.h"
#include "../base/message.h"
#include "../command.h"
#include "../render/output.h"
#include "../run/calibrate.h"
#include "../run/workspace.h"
#include "../source/pam_match.h"
#include "../source/pam_trace.h"
#include "../source/pam_version.h"
#include "../trace/segment.h"
#include "../trace/spool.h"

/* An ssh login writes some 600 slots; drained fifty times a second. */
#define SLOTS           65536
#define OPTIONS_OF_RING (RING_CPU | RING_CONVERSATION)

struct trace_options {
	const char *confdir, *save;
	struct output_options output;
};

/* Everything a trace holds; all zero is nothing. */
struct tracing {
	const struct trace_options *options;
	struct output output;
	FILE *save;
	struct workspace *workspace;
	char *ring, *auditor;
	struct ring_reader *reader;
	struct pam_match *match;
	struct spool *spool;
	struct assembly_loss loss; /* of the ring */
	struct rule_map *map;
	uint64_t overhead_ns;
};

/* ---- Preparing ---------------------------------------------------------- */

static int
check_command(int argc, char **argv, struct error *error)
{
	if (argc == 0)
		return error_set(error, ERROR_USAGE,
				 "which program? pamprof trace -- COMMAND "
				 "[ARGUMENT...]");
	if (pam_trace_is_secure(argv[0]))
		message_warn("%s gains privileges when it starts, and the "
			     "loader leaves the observer out then; start "
			     "pamprof as root",
			     argv[0]);
	return 0;
}

/* What a call costs; 0, which reports show as unknown, if it cannot be told. */
static void
calibrate(struct tracing *tracing)
{
	char *folder =
	    alloc_format("%s/calibration", workspace_path(tracing->workspace));

	if (mkdir(folder, 0700) == 0)
		(void)calibrate_call(&tracing->overhead_ns, folder,
				     OPTIONS_OF_RING, NULL);
	free(folder);
}

static void
match_record(void *match, struct record *record, const char *service,
	     const char *object)
{
	pam_match_record(match, record, service, object);
}

/* Everything that can fail before the program is started. */
static int
prepare(struct tracing *tracing, int argc, char **argv, struct error *error)
{
	const char *folder;
	int r;

	if ((r = check_command(argc, argv, error)) != 0 ||
	    (r = output_open(&tracing->output, &tracing->options->output,
			     error)) != 0 ||
	    (r = segment_create(&tracing->save, tracing->options->save,
				error)) != 0 ||
	    (r = output_spares(tracing->output.stream, tracing->options->save,
			       error)) != 0 ||
	    (r = workspace_make(&tracing->workspace, error)) != 0)
		return r;
	folder = workspace_path(tracing->workspace);
	tracing->match = pam_match_new(tracing->options->confdir);
	tracing->ring = alloc_format("%s/ring", folder);
	if ((r = pam_trace_auditor(&tracing->auditor, folder, error)) != 0 ||
	    (r = ring_make(tracing->ring, SLOTS, OPTIONS_OF_RING, error)) !=
		0 ||
	    (r = ring_reader_open(&tracing->reader, tracing->ring, error)) !=
		0 ||
	    (r = spool_make(&tracing->spool, folder, match_record,
			    tracing->match, error)) != 0)
		return r;
	calibrate(tracing);
	return 0;
}

/* ---- Following ---------------------------------------------------------- */

static void
drain(struct tracing *tracing, bool final)
{
	ring_reader_drain(tracing->reader, final, &tracing->loss, spool_take,
			  tracing->spool);
}

static void
drain_some(void *context)
{
	drain(context, false);
}

/* How the program ended is told here; our status is about the login. */
static void
tell_end(const char *program, const struct child_end *end)
{
	if (end->how == CHILD_SIGNALED)
		message_note("pamprof: %s was ended by signal %d (%s)", program,
			     end->value, strsignal(end->value));
	else if (end->value != 0)
		message_note("pamprof: %s ended with status %d", program,
			     end->value);
}

static int
follow(struct tracing *tracing, char **argv, struct error *error)
{
	const struct pam_trace trace = { .argv = argv,
					 .ring = tracing->ring,
					 .auditor = tracing->auditor,
					 .idle = drain_some,
					 .context = tracing };
	struct child_end end;
	int r = pam_trace_run(&trace, &end, error);

	if (r != 0)
		return r;
	drain(tracing, true);
	tell_end(argv[0], &end);
	if (spool_count(tracing->spool) == 0)
		return error_set(error, ERROR_INPUT,
				 "%s made no call to PAM that could be seen",
				 argv[0]);
	return 0;
}

/* ---- Reporting ---------------------------------------------------------- */

/* What the records do not say. */
static void
describe(struct tracing *tracing)
{
	char host[HOST_NAME_MAX + 1] = "";

	tracing->map = pam_match_map(tracing->match);
	(void)gethostname(host, sizeof(host) - 1);
	tracing->map->command = alloc_string("trace");
	tracing->map->host = alloc_string(host);
	tracing->map->pam = pam_version();
	tracing->map->version = alloc_string(PAMPROF_VERSION);
	tracing->map->overhead_per_call_ns = tracing->overhead_ns;
}

static int
write_head(const struct tracing *tracing, struct error *error)
{
	if (tracing->save == NULL)
		return 0;
	if (ftruncate(fileno(tracing->save), 0) != 0)
		return error_errno(error, "%s", tracing->options->save);
	return segment_write_head(tracing->save,
				  ring_reader_header(tracing->reader),
				  tracing->map, error);
}

static void
feed(void *assembler, const struct record *slot)
{
	assembler_feed(assembler, slot);
}

/* Returns the exit status or an error. */
static int
report(struct tracing *tracing, struct error *error)
{
	struct report_builder *builder;
	struct assembler *assembler;
	struct report *report;
	int r;

	describe(tracing);
	builder = report_builder_new(tracing->map);
	assembler = assembler_new(report_builder_root, builder);
	r = write_head(tracing, error);
	if (r == 0)
		r = spool_replay(tracing->spool, feed, assembler, tracing->save,
				 error);
	assembler_finish(assembler);
	assembly_loss_add(assembler_loss(assembler), &tracing->loss);
	report = report_builder_finish(builder, assembler_loss(assembler));
	assembler_free(assembler);
	if (r == 0)
		r = output_report(&tracing->output, report, error);
	if (r == 0)
		r = report->denied ? EXIT_DENIED : EXIT_MEASURED;
	report_free(report);
	return r;
}

static void
release(struct tracing *tracing)
{
	spool_free(tracing->spool);
	pam_match_free(tracing->match);
	ring_reader_close(tracing->reader);
	workspace_remove(tracing->workspace);
	output_close(&tracing->output);
	rule_map_free(tracing->map);
	free(tracing->ring);
	free(tracing->auditor);
}

static int
act(const void *options, int argc, char **argv, struct error *error)
{
	struct tracing tracing = { .options = options };
	int r;

	argv[argc] = NULL; /* behind it are words that were options */
	r = prepare(&tracing, argc, argv, error);
	if (r == 0)
		r = follow(&tracing, argv, error);
	if (r == 0)
		r = report(&tracing, error);
	r = segment_close(tracing.save, tracing.options->save, r, error);
	release(&tracing);
	return r;
}

static const struct option_row rows[] = {
	{ "confdir", 0, OPTION_STRING, offsetof(struct trace_options, confdir),
	  "DIR", "look for the stacks in DIR instead of /etc/pam.d" },
	{ "save", 0, OPTION_STRING, offsetof(struct trace_options, save),
	  "FILE", "keep the records in FILE for pamprof show" },
	OUTPUT_OPTION_ROWS(struct trace_options, output),
};

const struct command command_trace = {
	.name = "trace",
	.summary = "report the PAM calls of a program as it is",
	.usage = "[OPTION...] -- COMMAND [ARGUMENT...]",
	.description =
	    "Runs a program that uses PAM, such as su, login, sudo or sshd -D, "
	    "and reports what libpam and every rule did in it, in the children "
	    "it forks and in what it starts, until it ends. No file is changed "
	    "and the program notices nothing: its input, output and terminal "
	    "are its own, and the report comes when it has ended. It has to "
	    "be started by root where it would otherwise gain privileges.",
	.options = rows,
	.options_count = sizeof(rows) / sizeof(rows[0]),
	.options_size = sizeof(struct trace_options),
	.act = act,
};
