/*
 * The frame of each command that changes a host: root folder, lock, journal,
 * repair.
 */
#ifndef PAMPROF_INSTALL_SESSION_H
#define PAMPROF_INSTALL_SESSION_H

#include <stdbool.h>

#include "state.h"

struct session {
	struct state *state;
	struct buffer out; /* for stdout, printed by session_end() */
	int lock;
};

enum session_kind {
	SESSION_MAKES, /* folders are made where there are none */
	SESSION_REPAIRS,
	SESSION_LOOKS /* reads the journal; nothing is changed */
};

/*
 * Enters root (NULL: none), takes the lock, reads the journal and repairs
 * what was left undone. Where nothing was ever instrumented, SESSION_REPAIRS
 * does nothing and *session holds an empty journal. What repair could not do
 * is a warning. On failure session_end() is to be called all the same.
 */
int session_begin(struct session *session, const char *root,
		  enum session_kind kind, struct error *error);

/* Prints what there is to say and gives the lock back. */
void session_end(struct session *session);

/* Asks the terminal; without one, and without yes, ERROR_USAGE. */
int session_agree(bool yes, const char *question, struct error *error);

#endif
