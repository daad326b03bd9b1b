/*
 * Where the stub modules and the driver write what they see. The driver
 * exports probe_trace() from the executable, and a module finds it with
 * dlsym(): no descriptor and no path is involved, so that the trace goes on
 * after closefrom(), chroot(), setuid(), a lowered limit and a fork.
 */
#ifndef PAMPROF_TESTS_PROBE_H
#define PAMPROF_TESTS_PROBE_H

#include <stddef.h>

/* Names that modules look up in the program which loaded them. */
#define PROBE_TRACE_SYMBOL "probe_trace"

/* File to append to when the program exports no such function. */
#define PROBE_TRACE_VARIABLE "PROBE_TRACE"

#define PROBE_LINE_MAX 2048

/*
 * Appends text to the trace as it is. Callable from any thread and from a
 * forked child; keeps errno. What no longer fits is dropped.
 */
void probe_trace(const char *text, size_t length);

/* Appends one formatted line, of at most PROBE_LINE_MAX bytes. Keeps errno. */
void probe_printf(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#endif
