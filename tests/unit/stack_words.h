/*
 * Random words and lines of PAM configuration, for stack_generator.c.
 */
#ifndef PAMPROF_TESTS_STACK_WORDS_H
#define PAMPROF_TESTS_STACK_WORDS_H

#include <stdbool.h>

#include "../../pamprof/base/buffer.h"
#include "stack_generator.h"

#define COUNT(table)   (sizeof(table) / sizeof((table)[0]))
#define PICK(g, table) ((table)[below((g), COUNT(table))])

struct generator {
	uint64_t state;
	const struct stack_places *places;
	bool switches; /* the script changes PAM_SERVICE */
	bool has_long; /* there is a line around libpam's limit */
};

/* A number from 0 to limit - 1. */
unsigned below(struct generator *g, unsigned limit);

/* True in chance of 100 cases. */
bool percent(struct generator *g, unsigned chance);

/* Each appends to out: a word in mixed case now and then; blanks. */
void shaken_word(struct generator *g, struct buffer *out, const char *word);
void random_space(struct generator *g, struct buffer *out);

/* "auth", "-Session"; the path of a module; one argument. */
void random_group(struct generator *g, struct buffer *out);
void random_module(struct generator *g, struct buffer *out);
void random_argument(struct generator *g, struct buffer *out);

/* What may follow the last word, with the newline. */
void random_line_end(struct generator *g, struct buffer *out);

/* One whole rule. */
void random_rule(struct generator *g, struct buffer *out);

#endif
