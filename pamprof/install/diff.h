/*
 * Two texts as a unified diff, for people who decide.
 */
#ifndef PAMPROF_INSTALL_DIFF_H
#define PAMPROF_INSTALL_DIFF_H

#include "../base/buffer.h"

/*
 * Appends what changes from old to new, three lines around each change, with
 * the two names in its head; nothing when they are the same. Control bytes
 * other than tabs are shown as "?".
 */
struct diff_side {
	const char *name;
	const struct buffer *text;
};
void diff_write(struct buffer *out, const struct diff_side *old,
		const struct diff_side *new);

#endif
