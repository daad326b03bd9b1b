/*
 * pamprof run: reads the command line, prepares everything that can fail
 * before anything is measured, measures, and reports. The parts are in
 * source/ and run/; this file is the order in which they happen.
 */
#include <dirent.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/alloc.h"
#include "../base/message.h"
#include "../base/options.h"
#include "../command.h"
#include "../render/output.h"
#include "../run/calibrate.h"
#include "../run/consequences.h"
#include "../run/interrupt.h"
#include "../run/repeat.h"
#include "../run/workspace.h"
#include "../source/pam_version.h"
#include "../source/pam_wrap.h"
#include "../trace/segment.h"

/* Slots of the ring: a login writes some 100, and is drained meanwhile. */
#define SLOTS            8192
#define SLOTS_IN_PROCESS 65536

#define OPTIONS_OF_RING (RING_CPU | RING_CONVERSATION)

struct run_options {
	const char *stack, *confdir, *user, *phases, *rhost, *tty, *answers,
	    *save, *password_fd;
	unsigned long runs;
	uint64_t timeout_ns;
	bool yes, in_process;
	struct output_options output;
};

/* Everything a run holds; all zero is nothing. */
struct run {
	const struct run_options *options;
	struct pam_login login;
	char *user, *ruser;
	struct pam_stack *stack;
	struct answers *answers;
	struct output output;
	FILE *save;
	struct workspace *workspace;
	char *ring;
	struct pam_wrap *wrap;
	struct interrupt interrupt;
};

static void
defaults(void *options)
{
	struct run_options *o = options;

	o->runs = 1;
	o->timeout_ns = 120 * 1000000000ull;
}

/* ---- The command line --------------------------------------------------- */

/* Adds the names of services in a folder to the sentence. */
static unsigned
append_services(struct buffer *out, const char *folder)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, NULL, alphasort);
	unsigned found = 0;

	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;

		/* common-* are pieces of services (pam-auth-update(8)) */
		if (name[0] != '.' && strncmp(name, "common-", 7) != 0 &&
		    pam_conf_is_service(name))
			buffer_format(out, "%s%s", found++ ? ", " : "", name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return found;
}

static int
no_service(const struct run_options *options, struct error *error)
{
	const char *folder = options->confdir ? options->confdir : "/etc/pam.d";
	struct buffer names = { 0 };

	if (append_services(&names, folder) == 0)
		buffer_text(&names, "none");
	error_set(error, ERROR_USAGE,
		  "which service? Name one, or a file with --stack; in %s "
		  "there are: %s",
		  folder, names.data);
	buffer_free(&names);
	return ERROR_USAGE;
}

/* The name of the user who runs the program; free(3) it. */
static char *
invoking_user(void)
{
	const struct passwd *entry = getpwuid(getuid());

	if (entry != NULL)
		return alloc_string(entry->pw_name);
	return alloc_format("%lu", (unsigned long)getuid());
}

static int
open_answers(struct run *run, struct error *error)
{
	const struct run_options *options = run->options;
	unsigned long fd = ULONG_MAX;

	if (options->answers != NULL && options->password_fd != NULL)
		return error_set(error, ERROR_USAGE,
				 "--answers or --password-fd, not both");
	if (options->password_fd != NULL &&
	    (options_number(options->password_fd, &fd, NULL) != 0 ||
	     fd > INT_MAX))
		return error_set(error, ERROR_USAGE,
				 "--password-fd: \"%s\" is no descriptor",
				 options->password_fd);
	return answers_open(&run->answers, options->answers,
			    options->password_fd ? (int)fd : -1, error);
}

/* No output may destroy what is read, nor another output. */
static int
check_files(const struct run *run, struct error *error)
{
	const struct run_options *options = run->options;
	const char *const files[] = { options->stack, options->answers,
				      options->save };
	const size_t inputs = 2;
	int r = 0;

	for (size_t i = 0; r == 0 && i <= inputs; i++)
		r = output_spares(run->output.stream, files[i], error);
	for (size_t i = 0; r == 0 && run->save != NULL && i < inputs; i++)
		r = output_spares(run->save, files[i], error);
	return r;
}

static int
read_command(struct run *run, int argc, char **argv, struct error *error)
{
	const struct run_options *options = run->options;
	const struct pam_conf_place place = { .service =
						  argc > 0 ? argv[0] : NULL,
					      .stack_file = options->stack,
					      .confdir = options->confdir };
	int r;

	if (argc > 1)
		return error_set(error, ERROR_USAGE,
				 "one service at a time: \"%s\" is too many",
				 argv[1]);
	if (argc == 0 && options->stack == NULL)
		return no_service(options, error);
	run->ruser = invoking_user();
	run->user = alloc_string(options->user ? options->user : run->ruser);
	run->login.user = run->user;
	run->login.ruser = run->ruser;
	run->login.rhost = options->rhost;
	run->login.tty = options->tty;
	if ((r = pam_login_phases(&run->login.phases, options->phases,
				  error)) != 0 ||
	    (r = output_open(&run->output, &options->output, error)) != 0)
		return r;
	return pam_conf_read(&run->stack, &place, error);
}

/* ---- Preparing ---------------------------------------------------------- */

/* A folder in the workspace; free(3) it. NULL with error set. */
static char *
make_folder(const struct run *run, const char *name, struct error *error)
{
	char *path =
	    alloc_format("%s/%s", workspace_path(run->workspace), name);

	if (mkdir(path, 0755) == 0)
		return path;
	error_errno(error, "%s: cannot be made", path);
	free(path);
	return NULL;
}

static void
add_note(struct rule_map *map, char *note)
{
	map->notes =
	    alloc_array(map->notes, map->notes_count + 1, sizeof(*map->notes));
	map->notes[map->notes_count++] = note;
}

static void
add_notes(const struct run *run, struct rule_map *map)
{
	if (geteuid() != 0)
		add_note(map, alloc_string(
				  "measured without root: modules that read "
				  "shadow passwords or open sessions may "
				  "behave differently than in a real login"));
	if (run->options->in_process)
		add_note(map, alloc_string(
				  "all runs in one process: what modules load "
				  "and keep is only paid for once"));
}

/* What the records do not say, for the report and for --save. */
static void
describe(const struct run *run, struct rule_map *map)
{
	char host[HOST_NAME_MAX + 1] = "";

	gethostname(host, sizeof(host) - 1);
	map->command = alloc_string("run");
	map->host = alloc_string(host);
	map->pam = pam_version();
	map->user = alloc_string(run->user);
	map->version = alloc_string(PAMPROF_VERSION);
	map->in_process = run->options->in_process;
	add_notes(run, map);
}

/* The ring, the wrapped copies, and what a call will cost. */
static int
make_workspace(struct run *run, struct error *error)
{
	char *stack = NULL, *calibration = NULL;
	struct error why;
	uint64_t cost;
	int r;

	if ((r = workspace_make(&run->workspace, error)) != 0)
		return r;
	run->ring = alloc_format("%s/ring", workspace_path(run->workspace));
	stack = make_folder(run, "stack", error);
	calibration = make_folder(run, "calibration", error);
	if (stack == NULL || calibration == NULL) {
		r = ERROR_SYSTEM;
		goto out;
	}
	if ((r = ring_make(run->ring,
			   run->options->in_process ? SLOTS_IN_PROCESS : SLOTS,
			   OPTIONS_OF_RING, error)) != 0 ||
	    (r = pam_wrap_stack(&run->wrap, run->stack, stack, run->ring,
				error)) != 0)
		goto out;
	describe(run, run->wrap->map);
	if (calibrate_call(&cost, calibration, OPTIONS_OF_RING, &why) != 0)
		add_note(run->wrap->map,
			 alloc_format("own overhead unknown: %s", why.text));
	run->wrap->map->overhead_per_call_ns = cost;
out:
	free(stack);
	free(calibration);
	return r;
}

/* Everything that can fail before the first call of the stack. */
static int
prepare(struct run *run, int argc, char **argv, struct error *error)
{
	int r;

	if ((r = read_command(run, argc, argv, error)) != 0 ||
	    (r = open_answers(run, error)) != 0 ||
	    (r = consequences_agree(run->stack, &run->login, run->options->yes,
				    error)) != 0 ||
	    (r = segment_create(&run->save, run->options->save, error)) != 0 ||
	    (r = check_files(run, error)) != 0 ||
	    (r = interrupt_hold(&run->interrupt, error)) != 0)
		return r;
	return make_workspace(run, error);
}

/* ---- Measuring ---------------------------------------------------------- */

static int
write_head(const struct run *run, struct error *error)
{
	struct ring_reader *reader;
	int r;

	if (run->save == NULL)
		return 0;
	if (ftruncate(fileno(run->save), 0) != 0)
		return error_errno(error, "%s", run->options->save);
	if ((r = ring_reader_open(&reader, run->ring, error)) != 0)
		return r;
	r = segment_write_head(run->save, ring_reader_header(reader),
			       run->wrap->map, error);
	ring_reader_close(reader);
	return r;
}

static void
feed(void *assembler, const struct record *slot)
{
	assembler_feed(assembler, slot);
}

/* Runs, assembles, reports; returns the exit status or an error. */
static int
measure(struct run *run, struct error *error)
{
	struct report_builder *builder = report_builder_new(run->wrap->map);
	struct assembler *assembler =
	    assembler_new(report_builder_root, builder);
	struct repeat repeat = { .login = &run->login,
				 .answers = run->answers,
				 .ring = run->ring,
				 .runs = run->options->runs,
				 .timeout_ns = run->options->timeout_ns,
				 .in_process = run->options->in_process,
				 .signals = run->interrupt.fd,
				 .save = run->save,
				 .take = feed,
				 .context = assembler };
	struct repeat_result result = { 0 };
	struct report *report;
	int r;

	run->login.confdir = run->wrap->confdir;
	run->login.service = run->wrap->service;
	if ((r = write_head(run, error)) == 0)
		r = repeat_run(&repeat, &result, error);
	assembler_finish(assembler);
	assembly_loss_add(assembler_loss(assembler), &result.loss);
	report = report_builder_finish(builder, assembler_loss(assembler));
	assembler_free(assembler);
	if (r == 0 && result.interrupted)
		r = error_set(error, ERROR_SYSTEM, "interrupted");
	else if (r == 0)
		r = output_report(&run->output, report, error);
	if (r == 0 && result.denied > 0)
		r = EXIT_DENIED;
	report_free(report);
	return r;
}

/* Undoes prepare(), as far as it came. */
static void
release(struct run *run)
{
	pam_wrap_free(run->wrap);
	workspace_remove(run->workspace);
	output_close(&run->output);
	answers_close(run->answers);
	pam_conf_free(run->stack);
	free(run->ring);
	free(run->user);
	free(run->ruser);
	message_progress(NULL);
	interrupt_release(&run->interrupt);
}

static int
act(const void *options, int argc, char **argv, struct error *error)
{
	struct run run = { .options = options, .interrupt.fd = -1 };
	int r = prepare(&run, argc, argv, error);

	if (r == 0)
		r = measure(&run, error);
	r = segment_close(run.save, run.options->save, r, error);
	release(&run);
	return r;
}

/* clang-format off */
#define ROW(name, letter, type, member, argument, help) \
	{ name, letter, type, offsetof(struct run_options, member), argument, \
	  help }

static const struct option_row rows[] = {
	ROW("stack", 0, OPTION_STRING, stack, "FILE",
	    "measure the stack in FILE instead of a service's"),
	ROW("confdir", 0, OPTION_STRING, confdir, "DIR",
	    "look for the service in DIR instead of /etc/pam.d"),
	ROW("user", 'u', OPTION_STRING, user, "USER",
	    "log in as USER instead of the one who runs pamprof"),
	ROW("runs", 'n', OPTION_COUNT, runs, "RUNS",
	    "repeat the login RUNS times"),
	ROW("phases", 0, OPTION_STRING, phases, "LIST",
	    "of auth, account, setcred, session, password; all but password "
	    "if not given"),
	ROW("rhost", 0, OPTION_STRING, rhost, "HOST",
	    "tell modules that the login comes from HOST"),
	ROW("tty", 0, OPTION_STRING, tty, "TTY",
	    "tell modules that the login is on TTY"),
	ROW("answers", 0, OPTION_STRING, answers, "FILE",
	    "answer each prompt with a line of FILE, from the first line "
	    "again in every run"),
	ROW("password-fd", 0, OPTION_STRING, password_fd, "N",
	    "answer prompts without echo with the line read from descriptor "
	    "N"),
	ROW("yes", 0, OPTION_FLAG, yes, NULL,
	    "do not ask before running what changes this machine"),
	ROW("in-process", 0, OPTION_FLAG, in_process, NULL,
	    "do all runs in one process, for throughput"),
	ROW("timeout", 0, OPTION_DURATION, timeout_ns, "TIME",
	    "kill a run that takes longer; 120s if not given"),
	ROW("save", 0, OPTION_STRING, save, "FILE",
	    "keep the records in FILE for pamprof show"),
	OUTPUT_OPTION_ROWS(struct run_options, output),
};
/* clang-format on */

const struct command command_run = {
	.name = "run",
	.summary = "drive a PAM stack and report the time of every rule",
	.usage = "[SERVICE] [OPTION...]",
	.description =
	    "Logs in through the stack of a PAM service, or of a file, and "
	    "reports where the time goes, rule by rule. Every run is a process "
	    "of its own; the stack is measured as a private copy, and no file "
	    "of the machine is changed by pamprof, but modules do what they "
	    "do: those known to change something are named first.",
	.options = rows,
	.options_count = sizeof(rows) / sizeof(rows[0]),
	.options_size = sizeof(struct run_options),
	.act = act,
	.defaults = defaults
};
