/*
 * The words of a table's row: phase, module, arguments, result and place,
 * fitted into the columns that the numbers leave.
 */
#ifndef PAMPROF_RENDER_WORDS_H
#define PAMPROF_RENDER_WORDS_H

#include "table.h"

/* Where the words of a row go; in columns. */
struct words_room {
	size_t place; /* the place begins here, if it can */
	size_t end;   /* nothing is printed from here on */
};

/* Columns of everything but the place, if nothing is cut. */
size_t words_width(const struct table_row *row);

/*
 * Appends the words. When they are too long, these give way, in this order:
 * arguments, the alignment of the place, its file name, ".so", the phase,
 * the module's name, the place, and the result.
 */
void words_print(struct buffer *out, const struct table_row *row,
		 const struct words_room *room,
		 const struct render_style *style);

#endif
