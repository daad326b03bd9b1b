/*
 * A stack test: a text file in tests/stacks with these sections. Lines that
 * start with "#" are comments, except in [stack].
 *
 *   [stack]    the service's file; @STUB@ is the stub module, @DIR@ the folder
 *              of the test; "other" is pam_deny for every group
 *   [file NAME]  another file, @DIR@/NAME
 *   [calls]    options of pamprof run
 *   [prompts]  a line for each prompt: TEXT | ANSWER
 *   [expect]   exit STATUS; PHASE VERDICT, or "-" when it is not called;
 *              failure OUTCOME RESULT LINE; stderr TEXT; prompts COUNT
 *   [spans]    PHASE LINE|self FIGURE MS TOLERANCE: FIGURE is wall (of the
 *              fastest run), or a category of the median run
 *   [never]    strings that must be written nowhere
 */
#ifndef PAMPROF_TESTS_STACK_SCRIPT_H
#define PAMPROF_TESTS_STACK_SCRIPT_H

#include <stddef.h>

#include "../../pamprof/base/buffer.h"

enum script_section {
	SCRIPT_CALLS,
	SCRIPT_PROMPTS,
	SCRIPT_EXPECT,
	SCRIPT_SPANS,
	SCRIPT_NEVER,
	SCRIPT_SECTIONS
};

struct script {
	/* Lines of each section, without comments and empty ones. */
	char **lines[SCRIPT_SECTIONS];
	size_t count[SCRIPT_SECTIONS];
	size_t files; /* written below dir */
};

/*
 * Reads the script, writes its files below dir: pam.d/test, pam.d/other,
 * answers, and those of [file]. Returns NULL, or a static sentence that says
 * what is wrong with it.
 */
const char *script_read(struct script *script, const char *path,
			const char *dir);
void script_free(struct script *script);

#endif
