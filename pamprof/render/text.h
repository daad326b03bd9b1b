/*
 * Text from elsewhere (file names, arguments, services) on its way to a
 * terminal or a JSON string.
 */
#ifndef PAMPROF_RENDER_TEXT_H
#define PAMPROF_RENDER_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/buffer.h"

/*
 * Length in bytes of the character at text (length > 0 bytes are there), 0
 * if it is no well-formed UTF-8 (RFC 3629). *character is its code point, or
 * the byte.
 */
size_t text_character(const char *text, size_t length, uint32_t *character);

/*
 * Whether a character can do harm where it is printed: C0, DEL, C1, and the
 * marks that reorder or hide text.
 */
bool text_is_control(uint32_t character);

/*
 * Appends text made safe: controls and malformed bytes, and without unicode
 * everything beyond ASCII, come as \xNN, one for each byte. NULL is "".
 */
void text_safe(struct buffer *out, const char *text, bool unicode);

/* Columns a safe text takes on a terminal: wide characters take two. */
size_t text_width(const char *safe);

/*
 * Appends safe text cut to columns, with an ellipsis at its end if it was
 * cut.
 */
void text_cut(struct buffer *out, const char *safe, size_t columns,
	      bool unicode);

/* The same, cut in the middle: what ends in a line number keeps it. */
void text_cut_middle(struct buffer *out, const char *safe, size_t columns,
		     bool unicode);

/*
 * Appends prose broken at blanks into lines of at most columns, later lines
 * indented; a word that is longer than a line is left whole.
 */
void text_wrap(struct buffer *out, const char *safe, size_t columns,
	       size_t indent);

#endif
