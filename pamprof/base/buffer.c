/*
 * A growable string: what renderers append to. Separate from alloc.c
 * because it keeps an invariant (data ends with a zero byte that length
 * does not count) that only these functions may touch.
 */
#include "buffer.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"

/* Makes room for extra bytes and the zero after them. */
static void
reserve(struct buffer *buffer, size_t extra)
{
	size_t size = buffer->size ? buffer->size : 64;

	if (extra >= SIZE_MAX / 2 - buffer->length)
		(void)alloc_zero(SIZE_MAX, 2); /* dies with the message */
	while (size < buffer->length + extra + 1)
		size *= 2;
	if (size != buffer->size) {
		buffer->data = alloc_array(buffer->data, size, 1);
		buffer->size = size;
	}
}

void
buffer_bytes(struct buffer *buffer, const void *bytes, size_t length)
{
	reserve(buffer, length);
	if (length)
		memcpy(buffer->data + buffer->length, bytes, length);
	buffer->length += length;
	buffer->data[buffer->length] = '\0';
}

void
buffer_text(struct buffer *buffer, const char *text)
{
	buffer_bytes(buffer, text, strlen(text));
}

void
buffer_char(struct buffer *buffer, char c)
{
	buffer_bytes(buffer, &c, 1);
}

void
buffer_format(struct buffer *buffer, const char *format, ...)
{
	va_list values;
	size_t room;
	int wanted;

	reserve(buffer, 128); /* most calls fit at the first try */
	room = buffer->size - buffer->length;
	va_start(values, format);
	wanted = vsnprintf(buffer->data + buffer->length, room, format, values);
	va_end(values);
	if (wanted >= 0 && (size_t)wanted >= room) {
		reserve(buffer, (size_t)wanted);
		va_start(values, format);
		wanted = vsnprintf(buffer->data + buffer->length,
				   (size_t)wanted + 1, format, values);
		va_end(values);
	}
	if (wanted > 0)
		buffer->length += (size_t)wanted;
	buffer->data[buffer->length] = '\0';
}

void
buffer_free(struct buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct buffer){ 0 };
}

char *
buffer_take(struct buffer *buffer)
{
	char *text = buffer->data ? buffer->data : alloc_string("");

	*buffer = (struct buffer){ 0 };
	return text;
}
