/*
 * Logical lines and words of a PAM configuration file, exactly as libpam
 * assembles and splits them; private to pam_conf and its tests.
 */
#ifndef PAMPROF_SOURCE_PAM_LEX_H
#define PAMPROF_SOURCE_PAM_LEX_H

#include "pam_conf.h"

/* First minor version without a limit for lines and with new line joining. */
#define PAM_MINOR_UNLIMITED 6

/* The buffer libpam before 1.6 assembles a line in. */
#define PAM_OLD_BUFFER 1024

enum pam_lex_result {
	LEX_LINE,       /* lexer->line holds the next one */
	LEX_END,        /* no more */
	LEX_UNFINISHED, /* the file ends inside a continued line */
	LEX_ENDLESS     /* libpam would read here for ever */
};

/* One logical line. Every byte of text knows where it comes from. */
struct pam_line {
	char *text; /* ends with a zero byte */
	size_t *offsets;
	size_t length, size;
	size_t needs; /* bytes of libpam's buffer, comments included */
	unsigned first_line, last_line;
	bool escaped; /* see struct pam_rule */
};

struct pam_lexer {
	const char *text; /* not owned; without zero bytes */
	size_t size, position;
	size_t line_start, line_end; /* of the physical line at position */
	unsigned line_number, minor;
	struct pam_line line;
};

/* Starts at the first byte; minor is libpam's, see struct pam_conf_place. */
void pam_lex_start(struct pam_lexer *lexer, const char *text, size_t size,
		   unsigned minor);

/* The next line that is neither blank nor a comment. */
enum pam_lex_result pam_lex_next(struct pam_lexer *lexer);

/* Frees the line, not the text. */
void pam_lex_stop(struct pam_lexer *lexer);

/* Where libpam's tokeniser stands; done is its NULL pointer. */
struct pam_cursor {
	size_t at;
	bool done;
	bool open; /* the last word had a "[" that is never closed */
};

/*
 * Takes the next word of the line: its place in the file and its decoded
 * value, which the caller frees. False, and nothing changed in word, when
 * there is none.
 */
bool pam_lex_word(const struct pam_line *line, struct pam_cursor *cursor,
		  struct pam_word *word);

#endif
