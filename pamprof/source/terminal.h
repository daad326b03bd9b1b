/*
 * Questions to the person at the controlling terminal.
 */
#ifndef PAMPROF_SOURCE_TERMINAL_H
#define PAMPROF_SOURCE_TERMINAL_H

#include <stdbool.h>

#include "../base/secret.h"

/*
 * Prints the prompt on the controlling terminal and reads one line into
 * *line, which it opens (wipe it), without echo unless echo is set. cancel
 * (or -1) is a descriptor that ends the wait when it becomes readable.
 * Returns 0, ERROR_INPUT when there is no terminal, or ERROR_SYSTEM; *line
 * is empty then. The terminal is left as it was.
 */
int terminal_ask(struct secret *line, const char *prompt, bool echo, int cancel,
		 struct error *error);

/* Asks yes or no: 1 for yes, 0 for no, -1 when there is no terminal. */
int terminal_agree(const char *question);

#endif
