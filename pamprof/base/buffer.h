/*
 * A growable string. Memory that cannot be had ends the program (this is
 * the tool, never somebody else's process).
 */
#ifndef PAMPROF_BASE_BUFFER_H
#define PAMPROF_BASE_BUFFER_H

#include <stddef.h>

/* All zero is an empty buffer. data is NULL or ends with a zero byte. */
struct buffer {
	char *data;
	size_t length, size;
};

/* Appends; see the name. buffer_bytes may append zero bytes. */
void buffer_bytes(struct buffer *buffer, const void *bytes, size_t length);
void buffer_text(struct buffer *buffer, const char *text);
void buffer_char(struct buffer *buffer, char c);
void buffer_format(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Frees the memory and leaves an empty buffer. */
void buffer_free(struct buffer *buffer);

/* Hands the string over ("" when empty) and leaves an empty buffer. */
char *buffer_take(struct buffer *buffer);

#endif
