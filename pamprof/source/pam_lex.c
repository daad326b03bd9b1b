/*
 * Joins physical lines to logical ones and splits them into words the way
 * libpam does. Separate from the parser because this is where libpam's
 * versions differ and where its surprises are (PAM_OLD_BUFFER, comments in
 * continued lines, brackets); the parser above sees words only. Where libpam
 * is odd, so is this: the tests compare it with the library.
 */
#include "pam_lex.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../base/alloc.h"

/* Part of a physical line that libpam reads in one go. */
struct piece {
	size_t start, end; /* in the file; the newline is inside */
};

void
pam_lex_start(struct pam_lexer *lexer, const char *text, size_t size,
	      unsigned minor)
{
	*lexer =
	    (struct pam_lexer){ .text = text, .size = size, .minor = minor };
}

void
pam_lex_stop(struct pam_lexer *lexer)
{
	free(lexer->line.text);
	free(lexer->line.offsets);
	lexer->line = (struct pam_line){ 0 };
}

/* A carriage return is no separator: it belongs to its word. */
static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

static void
line_grow(struct pam_line *line, size_t length)
{
	if (length < line->size)
		return;
	line->size = (length + 1) * 2;
	line->text = alloc_array(line->text, line->size, 1);
	line->offsets =
	    alloc_array(line->offsets, line->size, sizeof(*line->offsets));
}

/* Adds bytes of the file to the logical line. */
static void
line_add(struct pam_lexer *lexer, size_t start, size_t end)
{
	struct pam_line *line = &lexer->line;

	line_grow(line, line->length + (end - start));
	memcpy(line->text + line->length, lexer->text + start, end - start);
	for (size_t i = start; i < end; i++)
		line->offsets[line->length++] = i;
	line->text[line->length] = '\0';
}

/* The same for a piece whose last byte is the backslash: it reads as blank. */
static void
line_add_continued(struct pam_lexer *lexer, size_t start, size_t end)
{
	line_add(lexer, start, end);
	if (end > start)
		lexer->line.text[lexer->line.length - 1] = ' ';
}

/* Notes which physical lines the logical one is made of. */
static void
line_place(struct pam_lexer *lexer, unsigned number)
{
	struct pam_line *line = &lexer->line;

	if (line->first_line == 0)
		line->first_line = number;
	line->last_line = number;
}

/* Finds the physical line that begins at the present position. */
static void
enter_line(struct pam_lexer *lexer)
{
	const char *from = lexer->text + lexer->position;
	const char *newline = memchr(from, '\n', lexer->size - lexer->position);

	lexer->line_number++;
	lexer->line_start = lexer->position;
	lexer->line_end =
	    newline ? (size_t)(newline - lexer->text) + 1 : lexer->size;
}

/* Takes the rest of the physical line, but not more than most bytes. */
static bool
take_piece(struct pam_lexer *lexer, size_t most, struct piece *piece)
{
	size_t needs;

	if (lexer->position == lexer->size)
		return false;
	if (lexer->position == lexer->line_end)
		enter_line(lexer);
	piece->start = lexer->position;
	piece->end = lexer->line_end;
	if (piece->end - piece->start > most)
		piece->end = piece->start + most;
	lexer->position = piece->end;
	/* The whole physical line counts: its comment must fit as well. */
	needs = lexer->line.length + (lexer->line_end - lexer->line_start);
	if (needs > lexer->line.needs)
		lexer->line.needs = needs;
	return true;
}

/* The end of a piece without the blanks, tabs and newline at its end. */
static size_t
trimmed_end(const struct pam_lexer *lexer, const struct piece *piece)
{
	size_t end = piece->end;

	while (end > piece->start && is_blank(lexer->text[end - 1]))
		end--;
	return end;
}

static bool
ends_in_backslash(const struct pam_lexer *lexer, const struct piece *piece,
		  size_t end)
{
	return end > piece->start && lexer->text[end - 1] == '\\';
}

static size_t
find_comment(const struct pam_lexer *lexer, size_t start, size_t end)
{
	const char *hash = memchr(lexer->text + start, '#', end - start);

	return hash ? (size_t)(hash - lexer->text) : end;
}

/*
 * libpam before 1.6: a fixed buffer filled by fgets(3). What does not fit is
 * read as the next line, be it the tail of a comment or of a rule. Comments
 * and blank lines inside a continued line are skipped.
 */
static enum pam_lex_result
assemble_old(struct pam_lexer *lexer)
{
	struct pam_line *line = &lexer->line;
	struct piece piece;

	for (;;) {
		size_t room = PAM_OLD_BUFFER - line->length;
		size_t first, end, comment;

		/* fgets() with room for its zero only returns "" for ever. */
		if (room == 1)
			return LEX_ENDLESS;
		if (!take_piece(lexer, room - 1, &piece))
			return line->length ? LEX_UNFINISHED : LEX_END;
		first = piece.start;
		while (first < piece.end && is_blank(lexer->text[first]))
			first++;
		comment = find_comment(lexer, first, piece.end);
		if (first == comment) {
			if (line->length == 0)
				line->needs = 0;
			line->escaped = line->length != 0;
			continue;
		}
		line_place(lexer, lexer->line_number);
		end = trimmed_end(lexer, &piece);
		if (comment == piece.end &&
		    ends_in_backslash(lexer, &piece, end)) {
			line_add_continued(lexer, piece.start, end);
			continue;
		}
		line_add(lexer, piece.start, comment);
		return LEX_LINE;
	}
}

/*
 * libpam from 1.6 on: lines of any length; leading blanks of each piece go;
 * a comment or a blank line ends a continued line.
 */
static enum pam_lex_result
assemble_new(struct pam_lexer *lexer)
{
	struct pam_line *line = &lexer->line;
	bool continued = false;
	struct piece piece;

	while (take_piece(lexer, SIZE_MAX, &piece)) {
		size_t first = piece.start;
		size_t end = trimmed_end(lexer, &piece);
		size_t comment = find_comment(lexer, first, piece.end);

		while (first < comment && (lexer->text[first] == ' ' ||
					   lexer->text[first] == '\t'))
			first++;
		if (comment == piece.end &&
		    ends_in_backslash(lexer, &piece, end)) {
			/* A lone backslash reads as blank, and goes too. */
			if (first + 1 < end) {
				line_place(lexer, lexer->line_number);
				line_add_continued(lexer, first, end);
			}
			continued = true;
			continue;
		}
		if (first == comment || lexer->text[first] == '\n')
			line->escaped = line->length != 0;
		else
			line_place(lexer, lexer->line_number);
		if (line->length ||
		    (first < comment && lexer->text[first] != '\n'))
			line_add(lexer, first, comment);
		if (line->length)
			return LEX_LINE;
		line->needs = 0;
		continued = false;
	}
	return continued ? LEX_UNFINISHED : LEX_END;
}

enum pam_lex_result
pam_lex_next(struct pam_lexer *lexer)
{
	struct pam_line *line = &lexer->line;

	line_grow(line, 0);
	line->text[0] = '\0';
	line->length = line->needs = 0;
	line->first_line = line->last_line = 0;
	line->escaped = false;
	return lexer->minor < PAM_MINOR_UNLIMITED ? assemble_old(lexer)
						  : assemble_new(lexer);
}

/*
 * A word in brackets: "\]" stands for "]", every other backslash for itself,
 * and without a closing bracket the rest of the line belongs to it. Returns
 * where reading stopped; value is filled with what is inside.
 */
static size_t
bracketed(const char *text, size_t at, char *value)
{
	while (text[at] && text[at] != ']') {
		if (text[at] == '\\' && text[at + 1] == ']')
			at++;
		*value++ = text[at++];
	}
	*value = '\0';
	return at;
}

bool
pam_lex_word(const struct pam_line *line, struct pam_cursor *cursor,
	     struct pam_word *word)
{
	const char *text = line->text;
	size_t start = cursor->at, end;

	if (cursor->done)
		return false;
	while (is_blank(text[start]))
		start++;
	cursor->open = false;
	if (text[start] == '[') {
		word->value = alloc_bytes(text + start, line->length - start);
		end = bracketed(text, start + 1, word->value);
		cursor->open = text[end] == '\0';
	} else {
		end = start;
		while (text[end] && !is_blank(text[end]))
			end++;
		if (end == start) {
			cursor->done = true;
			return false;
		}
		word->value = alloc_bytes(text + start, end - start);
	}
	/* libpam steps over the byte that ended the word: "]" or a blank. */
	cursor->at = text[end] ? end + 1 : end;
	cursor->done = text[cursor->at] == '\0';
	if (text[start] == '[' && text[end] == ']')
		end++;
	word->offset = line->offsets[start];
	word->length = line->offsets[end - 1] + 1 - word->offset;
	return true;
}
