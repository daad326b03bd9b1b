/*
 * pamprof instrument: puts the timing module into live services, or shows
 * what that would change.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../modules/ring_header.h"
#include "../command.h"
#include "../install/instrument.h"
#include "../install/session.h"

struct instrument_options {
	const char *root;
	uint64_t duration;
	bool dry_run, yes, no_cpu, no_conversation;
};

static int
show(struct session *session, int argc, char **argv, struct error *error)
{
	int r = 0;

	for (int i = 0; r == 0 && i < argc; i++)
		r = instrument_show(session->state, argv[i], &session->out,
				    error);
	return r;
}

static int
instrument(struct session *session, const struct instrument_options *options,
	   char **services, struct error *error)
{
	const int64_t seconds = (int64_t)(options->duration / 1000000000u);
	const struct instrument_how how = {
		.until = seconds != 0 ? time(NULL) + seconds : 0,
		.options = (options->no_cpu ? 0u : RING_CPU) |
			   (options->no_conversation ? 0u : RING_CONVERSATION),
		.out = &session->out,
	};
	int r = session_agree(options->yes,
			      "Put timing modules into live services?", error);

	for (; r == 0 && *services != NULL; services++)
		r = instrument_service(session->state, *services, &how, error);
	return r;
}

static int
act(const void *values, int argc, char **argv, struct error *error)
{
	const struct instrument_options *options = values;
	struct session session;
	int r;

	if (argc == 0)
		return error_set(error, ERROR_USAGE,
				 "which service? for example: pamprof "
				 "instrument sshd");
	argv[argc] = NULL; /* behind it are words that were options */
	if (options->duration != 0 &&
	    (options->duration < 60000000000u || options->root != NULL))
		return error_set(
		    error, ERROR_USAGE,
		    "--for wants at least a minute, and no --root");
	r = session_begin(&session, options->root,
			  options->dry_run ? SESSION_LOOKS : SESSION_MAKES,
			  error);
	if (r == 0 && options->dry_run)
		r = show(&session, argc, argv, error);
	else if (r == 0)
		r = instrument(&session, options, argv, error);
	session_end(&session);
	return r;
}

static const struct option_row rows[] = {
	{ "dry-run", 0, OPTION_FLAG,
	  offsetof(struct instrument_options, dry_run), NULL,
	  "print what would change as a unified diff and change nothing" },
	{ "for", 0, OPTION_DURATION,
	  offsetof(struct instrument_options, duration), "TIME",
	  "take it out again after TIME, at least a minute" },
	{ "root", 0, OPTION_STRING, offsetof(struct instrument_options, root),
	  "DIR", "work on the system image or chroot in DIR" },
	{ "no-cpu", 0, OPTION_FLAG, offsetof(struct instrument_options, no_cpu),
	  NULL, "record no CPU time and no context switches" },
	{ "no-conversation", 0, OPTION_FLAG,
	  offsetof(struct instrument_options, no_conversation), NULL,
	  "do not tell the time of prompts apart" },
	{ "yes", 0, OPTION_FLAG, offsetof(struct instrument_options, yes), NULL,
	  "do not ask" },
};

const struct command command_instrument = {
	.name = "instrument",
	.summary = "put the timing module into services of this host",
	.usage = "[OPTION...] SERVICE...",
	.description =
	    "Rewrites the file of each SERVICE so that its rules are timed in "
	    "every login from now on. Files that it includes are copied and "
	    "included from the copy; no other file changes. The new stack is "
	    "proved to decide as the old one before it is put in place, and "
	    "again there, and the old one comes back by itself if it does not. "
	    "pamprof restore takes it out.",
	.options = rows,
	.options_count = sizeof(rows) / sizeof(rows[0]),
	.options_size = sizeof(struct instrument_options),
	.act = act,
};
