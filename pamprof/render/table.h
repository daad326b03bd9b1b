/*
 * The table of times in the tree report: rows of numbers in one unit, with
 * points under points, fitted into the columns there are.
 */
#ifndef PAMPROF_RENDER_TABLE_H
#define PAMPROF_RENDER_TABLE_H

#include "render.h"

enum row_style {
	ROW_PLAIN,
	ROW_HEAD,   /* of a block: bold */
	ROW_SLOWEST /* stands out where there are colours */
};

/* One line; strings are safe text owned by the row, or NULL. */
struct table_row {
	enum row_style style;
	bool gap;   /* an empty line above */
	bool split; /* cpu, wait and human are known */
	bool bad;   /* note tells of a failure */
	unsigned indent;
	uint64_t wall, own; /* own: what the share is computed from */
	uint64_t cpu, wait, human, calls;
	char *lead, *name, *arguments; /* lead: the phase; may be NULL */
	char *note, *place;            /* note: a result */
};

struct table {
	struct table_row *rows;
	size_t count, size;
	uint64_t total;    /* 100 % */
	bool human, calls; /* which of the columns are wanted */
};

/* Adds a zeroed row; the pointer is good until the next one. */
struct table_row *table_add(struct table *table);

/* Appends the table; frees nothing. */
void table_print(struct buffer *out, const struct table *table,
		 const struct render_style *style);
void table_free(struct table *table);

#endif
