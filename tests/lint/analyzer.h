/*
 * Included in front of every file that clang-tidy reads. It tells the
 * analyzer, which looks at one file at a time, what it cannot see: that these
 * functions never return 0.
 */
#ifndef PAMPROF_TESTS_LINT_ANALYZER_H
#define PAMPROF_TESTS_LINT_ANALYZER_H

#include "../../pamprof/base/error.h"

#define error_set(error, code, ...)                                            \
	(error_set((error), (code), __VA_ARGS__), (code))
#define error_errno(error, ...)                                                \
	(error_errno((error), __VA_ARGS__), ERROR_SYSTEM)

#endif
