/*
 * Allocation that cannot fail: it ends the program with EXIT_UNMEASURED and
 * a message. Only for the tool, never for modules/.
 */
#ifndef PAMPROF_BASE_ALLOC_H
#define PAMPROF_BASE_ALLOC_H

#include <stddef.h>

/* Zeroed memory of count * size bytes; free(3) it. Overflow is fatal. */
void *alloc_zero(size_t count, size_t size);

/* Grows (or makes) an array to hold count elements of size bytes. */
void *alloc_array(void *old, size_t count, size_t size);

/* Copies of a string, of length bytes plus a zero; NULL stays NULL. */
char *alloc_string(const char *text);
char *alloc_bytes(const char *text, size_t length);

/* A formatted string; free(3) it. */
char *alloc_format(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#endif
