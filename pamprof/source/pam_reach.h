/*
 * Follows includes from a service's file; private to pam_conf.
 */
#ifndef PAMPROF_SOURCE_PAM_REACH_H
#define PAMPROF_SOURCE_PAM_REACH_H

#include "pam_conf.h"

struct visit;

/* Set stack, root, minor and error, all else zero; then free(3) visits. */
struct pam_reader {
	struct pam_stack *stack;
	const char *root;
	unsigned minor;
	struct error *error;
	struct visit *visits; /* VISITS for each of stack->files */
	size_t files_count;
	struct pam_file **last; /* where the next file is linked */
};

/*
 * Parses file, which may not be used by the caller any more, and everything
 * it includes into reader->stack. *held is what the stack holds for it: an
 * earlier one if it is the same file. On failure what was read stays in the
 * stack.
 */
int pam_reach(struct pam_reader *reader, struct pam_file *file,
	      struct pam_file **held);

/* Adds a note, whose memory it takes over. */
void pam_reach_note(struct pam_stack *stack, char *note);

#endif
