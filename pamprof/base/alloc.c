/*
 * Allocation that ends the program instead of failing. Separate so that
 * everything that may exit for want of memory is in one file that modules/
 * never links: code inside another process must drop its record and go on.
 */
#include "alloc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

static _Noreturn void
out_of_memory(void)
{
	(void)fputs("pamprof: out of memory\n", stderr);
	exit(EXIT_UNMEASURED);
}

void *
alloc_zero(size_t count, size_t size)
{
	/* calloc checks the product; one byte so that NULL means failure. */
	void *memory = calloc(count ? count : 1, size ? size : 1);

	if (!memory)
		out_of_memory();
	return memory;
}

void *
alloc_array(void *old, size_t count, size_t size)
{
	void *memory;

	if (count == 0 || size == 0)
		count = size = 1; /* realloc(p, 0) may free */
	memory = reallocarray(old, count, size);
	if (!memory)
		out_of_memory();
	return memory;
}

char *
alloc_string(const char *text)
{
	return text ? alloc_bytes(text, strlen(text)) : NULL;
}

char *
alloc_bytes(const char *text, size_t length)
{
	char *copy;

	if (!text)
		return NULL;
	if (length == SIZE_MAX)
		out_of_memory();
	copy = malloc(length + 1);
	if (!copy)
		out_of_memory();
	memcpy(copy, text, length);
	copy[length] = '\0';
	return copy;
}

char *
alloc_format(const char *format, ...)
{
	char *text;
	va_list values;

	va_start(values, format);
	if (vasprintf(&text, format, values) < 0)
		out_of_memory();
	va_end(values);
	return text;
}
