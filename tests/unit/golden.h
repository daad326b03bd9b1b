/*
 * Whole outputs compared with files in tests/golden/. With UPDATE_GOLDEN=1
 * in the environment the files are written instead; look at the difference
 * before it is committed.
 */
#ifndef PAMPROF_TESTS_GOLDEN_H
#define PAMPROF_TESTS_GOLDEN_H

#include "../../pamprof/base/buffer.h"

/*
 * Fails the running test when text is not what tests/golden/NAME holds, and
 * prints both. Returns whether they agree.
 */
int golden_check(const char *name, const struct buffer *text);

#endif
