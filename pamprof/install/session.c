/*
 * Begin and end of a command. Apart because the order (root, lock, journal,
 * repair) is what makes concurrent and killed commands harmless, and must be
 * the same in all of them.
 */
#include "session.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/message.h"
#include "layout.h"
#include "lock.h"
#include "restore.h"

static int
open_journal(struct session *session, enum session_kind kind,
	     struct error *error)
{
	struct error later = { 0 };

	if (kind == SESSION_MAKES && layout_make(error) != 0)
		return error->code;
	if (kind != SESSION_LOOKS && access(PRODUCTION_FOLDER, F_OK) == 0) {
		session->lock = lock_take(error);
		if (session->lock < 0)
			return session->lock;
	}
	if (state_read(&session->state, error) != 0)
		return error->code;
	if (session->lock >= 0 &&
	    restore_repair(session->state, &session->out, &later) != 0)
		message_warn("%s", later.text);
	return 0;
}

int
session_begin(struct session *session, const char *root, enum session_kind kind,
	      struct error *error)
{
	int r;

	*session = (struct session){ .lock = -1 };
	(void)umask(022);
	if (kind != SESSION_LOOKS && geteuid() != 0)
		return error_set(error, ERROR_INPUT,
				 "only root can change PAM configuration");
	r = layout_enter(root, error);
	return r == 0 ? open_journal(session, kind, error) : r;
}

void
session_end(struct session *session)
{
	if (session->out.length > 0)
		(void)fwrite(session->out.data, 1, session->out.length, stdout);
	buffer_free(&session->out);
	state_free(session->state);
	lock_free(session->lock);
}

int
session_agree(bool yes, const char *question, struct error *error)
{
	char answer[16] = "";

	if (yes)
		return 0;
	if (isatty(STDIN_FILENO) && isatty(STDERR_FILENO)) {
		(void)fprintf(stderr, "%s [y/N] ", question);
		if (fgets(answer, sizeof(answer), stdin) != NULL &&
		    (answer[0] == 'y' || answer[0] == 'Y'))
			return 0;
		return error_set(error, ERROR_USAGE, "nothing was changed");
	}
	return error_set(error, ERROR_USAGE,
			 "no terminal to ask: add --yes if it is meant");
}
