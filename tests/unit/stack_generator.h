/*
 * Random stacks and random scripts for the driver (tests/fake/driver.c):
 * every form of control and line that libpam knows or refuses, stub modules
 * that do anything, calls in any order. The same seed gives the same case.
 */
#ifndef PAMPROF_TESTS_STACK_GENERATOR_H
#define PAMPROF_TESTS_STACK_GENERATOR_H

#include <stddef.h>
#include <stdint.h>

/* Pieces of text; each may hold several physical lines. */
struct stack_lines {
	char **text;
	size_t count;
};

enum stack_file_index {
	STACK_SERVICE,
	STACK_SECOND, /* what the service is changed to */
	STACK_OTHER,
	STACK_INCLUDE, /* may include the next one */
	STACK_INNER,
	STACK_FILES
};

struct stack_case {
	uint64_t seed;
	struct stack_lines files[STACK_FILES]; /* count 0: no such file */
	struct stack_lines script;
};

/* Absolute paths: libpam looks for relative ones in the system's folders. */
struct stack_places {
	const char *confdir; /* where the files will lie, for includes */
	const char *modules; /* folder of the stub modules */
};

/* File names in confdir, by index. */
extern const char *const stack_file_names[STACK_FILES];

/* Fills *stack; free it with stack_case_free(). */
void stack_generate(struct stack_case *stack, uint64_t seed,
		    const struct stack_places *places);
void stack_case_free(struct stack_case *stack);

#endif
