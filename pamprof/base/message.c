/*
 * Messages for a person: separate from error.c so that only this file, and
 * no code that can fail, writes to stderr. File names and module arguments
 * in messages come from other people; no byte of them may steer a terminal.
 */
#include "message.h"

#include <langinfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Whether a progress line stands on the terminal. */
static bool progress_shown;

static void
end_progress(void)
{
	if (progress_shown)
		(void)fputs("\r\033[K", stderr);
	progress_shown = false;
}

/* Writes text with control bytes replaced. */
static void
write_clean(const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		(void)fputc(c < ' ' || c == 0x7f ? '?' : c, stderr);
	}
}

static void
say(const char *prefix, const char *text)
{
	end_progress();
	(void)fputs(prefix, stderr);
	write_clean(text);
	(void)fputc('\n', stderr);
}

void
message_error(const struct error *error)
{
	say("pamprof: ", error->text);
}

void
message_warn(const char *format, ...)
{
	char text[1024];
	va_list values;

	va_start(values, format);
	(void)vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	say("pamprof: warning: ", text);
}

/* Columns of the first bytes of UTF-8, as if no character were wide. */
static size_t
columns_of(const char *text, size_t bytes)
{
	size_t columns = 0;

	for (size_t i = 0; i < bytes; i++)
		columns += ((unsigned char)text[i] & 0xc0) != 0x80;
	return columns;
}

/* How many bytes of text, from column at on, are a line's. */
static size_t
line_length(const char *text, size_t at, size_t columns)
{
	size_t fits = strcspn(text, " "), next;

	while (text[fits]) {
		next = fits + 1 + strcspn(text + fits + 1, " ");
		if (at + columns_of(text, next) > columns)
			break;
		fits = next;
	}
	return fits;
}

void
message_warn_folded(const char *text)
{
	const char *prefix = "pamprof: warning: ";
	size_t columns = message_columns(STDERR_FILENO), length;
	char line[1024];

	do {
		length = line_length(text, strlen(prefix), columns);
		(void)snprintf(line, sizeof(line), "%.*s", (int)length, text);
		say(prefix, line);
		prefix = "  ";
		text += length;
		text += *text == ' ';
	} while (*text);
}

void
message_note(const char *format, ...)
{
	char text[1024];
	va_list values;

	va_start(values, format);
	(void)vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	say("", text);
}

void
message_progress(const char *format, ...)
{
	char text[256];
	va_list values;

	end_progress();
	if (!format || !isatty(STDERR_FILENO))
		return;
	va_start(values, format);
	(void)vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	/* A line that wraps could not be taken away again. */
	text[message_columns(STDERR_FILENO) < sizeof(text)
		 ? message_columns(STDERR_FILENO) - 1
		 : sizeof(text) - 1] = '\0';
	write_clean(text);
	(void)fflush(stderr);
	progress_shown = true;
}

bool
message_colour(int fd)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fd) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

bool
message_unicode(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

unsigned
message_columns(int fd)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) || size.ws_col == 0)
		return 80;
	return size.ws_col < 40 ? 40 : size.ws_col;
}
