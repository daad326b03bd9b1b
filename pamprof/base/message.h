/*
 * What the program says on stderr, and what it may assume of a terminal.
 * Reports go to stdout and never through here.
 */
#ifndef PAMPROF_BASE_MESSAGE_H
#define PAMPROF_BASE_MESSAGE_H

#include <stdbool.h>

#include "error.h"

/* Prints "pamprof: " and the sentence. Control bytes are shown as "?". */
void message_error(const struct error *error);

/* The same with "warning: " in front, for what does not stop the program. */
void message_warn(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/*
 * A warning that may be long: broken at blanks into lines as wide as the
 * terminal, or 80 columns, the later ones indented. Words are left whole.
 */
void message_warn_folded(const char *text);

/* One line on stderr, as it is but for control bytes. */
void message_note(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/*
 * Replaces the progress line if stderr is a terminal, else does nothing.
 * Every other message takes the line away first. message_progress(NULL)
 * ends it.
 */
void message_progress(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/*
 * Whether colours may be sent to fd: it is a terminal, NO_COLOR is unset or
 * empty (no-color.org) and TERM is neither unset nor "dumb".
 */
bool message_colour(int fd);

/* Whether the locale's character set is UTF-8; main() has set the locale. */
bool message_unicode(void);

/* Width of the terminal at fd, at least 40; 80 if it is none. */
unsigned message_columns(int fd);

#endif
