/*
 * pamprof status: what is in place. Being run now and then, it also finishes
 * what is due (install/restore.h).
 */
#include <string.h>
#include <unistd.h>

#include "../base/message.h"
#include "../command.h"
#include "../install/layout.h"
#include "../install/session.h"
#include "../install/status.h"

struct status_options {
	const char *root;
};

static int
act(const void *values, int argc, char **argv, struct error *error)
{
	const struct status_options *options = values;
	struct session session;
	struct error why = { 0 };
	int r;

	if (argc > 0)
		return error_set(error, ERROR_USAGE,
				 "status takes no operand: %s", argv[0]);
	r = session_begin(&session, options->root,
			  geteuid() == 0 ? SESSION_REPAIRS : SESSION_LOOKS,
			  &why);
	if (r != 0 && options->root != NULL && !layout_is_image()) {
		session_end(&session);
		return error_set(error, why.code, "%s", why.text);
	}
	if (r != 0 && session.state == NULL) {
		/* Where nothing can be written, looking is still possible. */
		message_warn("%s", why.text);
		session_end(&session);
		r = session_begin(&session, NULL, SESSION_LOOKS, error);
	}
	if (r == 0 && status_write(&session.out, session.state) > 0)
		r = EXIT_DENIED;
	session_end(&session);
	return r;
}

static const struct option_row rows[] = {
	{ "root", 0, OPTION_STRING, offsetof(struct status_options, root),
	  "DIR", "look at the system image or chroot in DIR" },
};

const struct command command_status = {
	.name = "status",
	.summary = "say what is instrumented and whether it is stale",
	.usage = "[OPTION...]",
	.description =
	    "Prints which services are instrumented, since and until when and "
	    "who ends it, what has changed underneath, and the state of the "
	    "ring and of the segments. As root it first finishes what an "
	    "earlier command left undone, restores services whose time is over "
	    "or whose timing modules have vanished, and makes a missing ring "
	    "again. Exits 1 if something wants attention.",
	.options = rows,
	.options_count = sizeof(rows) / sizeof(rows[0]),
	.options_size = sizeof(struct status_options),
	.act = act,
};
