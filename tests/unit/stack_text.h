/*
 * Stacks as text, for tests of the parser, the rewriter and the comparison
 * with libpam.
 */
#ifndef PAMPROF_TESTS_STACK_TEXT_H
#define PAMPROF_TESTS_STACK_TEXT_H

#include "../../pamprof/base/buffer.h"
#include "../../pamprof/source/pam_conf.h"

/* A folder of its own for files of a test, ended by text_folder_end(). */
struct text_folder {
	char path[64];
};
void text_folder_begin(struct text_folder *folder);
void text_folder_end(struct text_folder *folder);

/* Writes a file into the folder; the name may hold slashes. */
void text_folder_put(const struct text_folder *folder, const char *name,
		     const char *text, size_t length);

/*
 * Parses a text as libpam 1.minor would; the rules point into a copy. Free
 * with text_free(). NULL, and error filled, when it is refused.
 */
struct pam_file *text_parse(const char *text, size_t length, unsigned minor,
			    struct error *error);
void text_free(struct pam_file *file);

/*
 * One line per rule: "TYPE GROUP FLAGS <control> <module> <argument>...",
 * control bytes as \xNN.
 */
void text_rules(struct buffer *out, const struct pam_file *file);

/* start, filled up with "x" to length bytes, then end; free(3) it. */
char *text_line(const char *start, size_t length, const char *end);

/* Appends "<value>", control bytes as \xNN. */
void text_word(struct buffer *out, const char *value);

#endif
