/*
 * PAM configuration at random: valid, odd and broken. "@M@" stands for a
 * module and "@D@" for the folder of the files in0, in1 ...
 */
#ifndef PAMPROF_TESTS_SYNTAX_DRAW_H
#define PAMPROF_TESTS_SYNTAX_DRAW_H

#include "../../pamprof/base/buffer.h"

enum {
	SYNTAX_FILES = 5
}; /* in0 is the service, the rest is included */

/*
 * Appends the text of file in<number>, which includes only files of higher
 * numbers. One state gives one sequence of texts; it must not be 0.
 */
void syntax_draw_file(struct buffer *out, unsigned long long *state,
		      unsigned number);

#endif
