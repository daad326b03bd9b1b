/*
 * Questions to the person at the controlling terminal.
 */
#ifndef PAMPROF_SOURCE_TERMINAL_H
#define PAMPROF_SOURCE_TERMINAL_H

#include <stdbool.h>

#include "../base/secret.h"

/*
 * What ends the wait for an answer besides the answer; -1: not watched.
 * Either of the last two tells that nobody waits for it any more.
 */
struct terminal_wait {
	int cancel;  /* becomes readable */
	int process; /* pidfd of the process that asks */
	int socket;  /* is hung up; data on it are no matter */
};

/*
 * Prints the prompt on the controlling terminal and reads one line into
 * *line, which it opens (wipe it), without echo unless echo is set. Returns
 * 0, TERMINAL_GONE when who asked is gone, ERROR_INPUT when there is no
 * terminal, or ERROR_SYSTEM (cancelled as well); *line is empty unless 0.
 * The terminal is left as it was.
 */
#define TERMINAL_GONE 1
int terminal_ask(struct secret *line, const char *prompt, bool echo,
		 const struct terminal_wait *wait, struct error *error);

/* Asks yes or no: 1 for yes, 0 for no, -1 when there is no terminal. */
int terminal_agree(const char *question);

#endif
