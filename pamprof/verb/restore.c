/*
 * pamprof restore: gives services their original files back.
 */
#include <stdbool.h>
#include <stddef.h>

#include "../command.h"
#include "../install/restore.h"
#include "../install/session.h"

struct restore_options {
	const char *root;
	bool force, yes;
};

static int
restore(struct session *session, const char *service, bool force,
	struct error *error)
{
	struct state_entry *entry = state_find(session->state, service);
	int r;

	if (entry == NULL)
		return error_set(error, ERROR_INPUT,
				 "%s is not instrumented; see pamprof status",
				 service);
	r = restore_entry(session->state, entry, force, &session->out, error);
	if (r == 0)
		buffer_format(&session->out, "%s: the original is back\n",
			      service);
	return r;
}

/* Each that can be is restored; the first error is said. */
static int
restore_all(struct session *session, bool force, struct error *error)
{
	struct error later;
	int r = 0;

	for (size_t i = 0; i < session->state->count; i++) {
		int one;

		if (session->state->entries[i].step == STEP_RETIRED)
			continue;
		one = restore(session, session->state->entries[i].service,
			      force, r == 0 ? error : &later);
		r = r == 0 ? one : r;
	}
	return r;
}

static int
act(const void *values, int argc, char **argv, struct error *error)
{
	const struct restore_options *options = values;
	struct session session;
	int r = session_begin(&session, options->root, SESSION_REPAIRS, error);

	if (r == 0 && options->force)
		r = session_agree(options->yes,
				  "Replace what was edited by the original?",
				  error);
	if (r == 0 && argc == 0)
		r = restore_all(&session, options->force, error);
	for (int i = 0; r == 0 && i < argc; i++)
		r = restore(&session, argv[i], options->force, error);
	session_end(&session);
	return r;
}

static const struct option_row rows[] = {
	{ "force", 0, OPTION_FLAG, offsetof(struct restore_options, force),
	  NULL,
	  "restore a file that somebody has edited, too; the edited one is "
	  "kept" },
	{ "root", 0, OPTION_STRING, offsetof(struct restore_options, root),
	  "DIR", "work on the system image or chroot in DIR" },
	{ "yes", 0, OPTION_FLAG, offsetof(struct restore_options, yes), NULL,
	  "do not ask before --force" },
};

const struct command command_restore = {
	.name = "restore",
	.summary = "take the timing module out again",
	.usage = "[OPTION...] [SERVICE...]",
	.description =
	    "Gives each SERVICE, or every instrumented one, its original file "
	    "back, byte for byte. A file that was edited meanwhile is left "
	    "alone, and both changes are shown, unless --force is given. The "
	    "timing modules stay for another minute, for logins that have read "
	    "the old file and are loading them.",
	.options = rows,
	.options_count = sizeof(rows) / sizeof(rows[0]),
	.options_size = sizeof(struct restore_options),
	.act = act,
};
