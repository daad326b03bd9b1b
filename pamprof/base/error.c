/*
 * Errors: one code and one sentence. Separate from message.c because code
 * that can fail only fills an error; it never prints one, and so may be
 * called from a test or a library user that wants silence.
 */
#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void
fill(struct error *error, enum error_code code, const char *format,
     va_list values)
{
	error->code = code;
	(void)vsnprintf(error->text, sizeof(error->text), format, values);
}

int
error_set(struct error *error, enum error_code code, const char *format, ...)
{
	va_list values;

	if (error) {
		va_start(values, format);
		fill(error, code, format, values);
		va_end(values);
	}
	return code;
}

int
error_errno(struct error *error, const char *format, ...)
{
	int number = errno; /* before anything below can change it */
	va_list values;
	size_t used;

	if (error) {
		va_start(values, format);
		fill(error, ERROR_SYSTEM, format, values);
		va_end(values);
		used = strlen(error->text);
		(void)snprintf(error->text + used, sizeof(error->text) - used,
			       ": %s", strerror(number));
		errno = number;
	}
	return ERROR_SYSTEM;
}

int
error_exit_status(const struct error *error)
{
	switch (error->code) {
	case ERROR_NONE:
		return EXIT_MEASURED;
	case ERROR_USAGE:
		return EXIT_USAGE;
	case ERROR_INPUT:
	case ERROR_SYSTEM:
	case ERROR_FORMAT:
		break;
	}
	return EXIT_UNMEASURED;
}
