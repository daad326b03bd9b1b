/*
 * Renderers: a finished report in, bytes out. Pure: no clock, environment or
 * terminal is looked at; what they need to know of it is in render_style.
 */
#ifndef PAMPROF_RENDER_RENDER_H
#define PAMPROF_RENDER_RENDER_H

#include "../base/buffer.h"
#include "../stat/report.h"

enum report_sort {
	SORT_STACK,
	SORT_WALL,
	SORT_CPU,
	SORT_CALLS
};

struct render_style {
	unsigned columns;      /* width to fit into; 80 when piped */
	bool colour;           /* terminal that can, NO_COLOR unset */
	bool bars;             /* terminal */
	bool unicode;          /* locale of UTF-8 */
	enum report_sort sort; /* SORT_WALL: blame order */
};

typedef void (*renderer)(struct buffer *out, const struct report *report,
			 const struct render_style *style);

/*
 * For people, in style->columns columns, without a control byte but for
 * colours; and one line of JSON (pamprof(1)), whatever the style.
 */
void render_tree(struct buffer *out, const struct report *report,
		 const struct render_style *style);
void render_json(struct buffer *out, const struct report *report,
		 const struct render_style *style);

/* The renderer for "tree" or "json", or NULL. */
renderer render_find(const char *format);

#endif
