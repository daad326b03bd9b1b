/*
 * Errors of the tool: a code that decides the exit status and one sentence
 * that names the file, the line and what to do.
 */
#ifndef PAMPROF_BASE_ERROR_H
#define PAMPROF_BASE_ERROR_H

/* Exit statuses of pamprof, documented in pamprof(1). */
enum exit_status {
	EXIT_MEASURED = 0,  /* measured, and the login worked */
	EXIT_DENIED = 1,    /* measured; login failed or budget exceeded */
	EXIT_USAGE = 2,     /* the command line was wrong */
	EXIT_UNMEASURED = 3 /* could not measure */
};

enum error_code {
	ERROR_NONE = 0,
	ERROR_USAGE = -1,  /* -> EXIT_USAGE */
	ERROR_INPUT = -2,  /* a file or stack that cannot be used */
	ERROR_SYSTEM = -3, /* a system call failed */
	ERROR_FORMAT = -4  /* a recording that is not one of ours */
};

struct error {
	enum error_code code;
	char text[1024];
};

/*
 * Fills error (which may be NULL) and returns code, so that a function can
 * end with it. The text is one line without a final newline; what does not
 * fit is cut.
 */
int error_set(struct error *error, enum error_code code, const char *format,
	      ...) __attribute__((format(printf, 3, 4)));

/* The same, with ": " and the text of errno at the end. */
int error_errno(struct error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Exit status for an error's code. */
int error_exit_status(const struct error *error);

#endif
