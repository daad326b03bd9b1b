/*
 * Turns a parsed stack into one whose rules call timing shims: one line in,
 * one line out, edited by byte position; see pam_timing(8).
 */
#ifndef PAMPROF_SOURCE_PAM_REWRITE_H
#define PAMPROF_SOURCE_PAM_REWRITE_H

#include "../base/buffer.h"
#include "pam_conf.h"

#define MARKER_PREFIX "pamprof="

/*
 * Gives the path of the shim for a rule, or NULL to leave the rule alone
 * (and then may set rule->problem, owned by the rule). While rules are being
 * numbered rule->marker is the number the rule would get. The path need only
 * last until the next call.
 */
typedef const char *(*pam_shim_for)(void *context, struct pam_rule *rule);

/*
 * Decides for every module rule whether it can be wrapped, and numbers those
 * that can: rule->marker from 1 on in order of first use, 0 and a problem
 * for the rest (broken, unknown module, already wrapped, inner comments, or
 * a line that would have more than 1000 bytes for libpam before 1.6). With
 * shim NULL every rule is taken to get one. To be called once per stack.
 */
void pam_rewrite_number(struct pam_stack *stack, pam_shim_for shim,
			void *context);

/* The same with markers from base + 1 on: one ring serves many stacks. */
void pam_rewrite_number_from(struct pam_stack *stack, unsigned base,
			     pam_shim_for shim, void *context);

/*
 * Appends the file with every numbered rule's module word replaced by its
 * shim and " pamprof=MARKER" put behind its last argument, and every include
 * form that has a target pointing to include_for(target), an absolute path.
 * All other bytes stay. "+" follows the marker when libpam would have passed
 * argc 0 and an argv that is not NULL (rule->blank_tail). An include line
 * that would grow beyond old libpam's limit keeps its target.
 */
struct pam_rewrite {
	pam_shim_for shim;
	const char *(*include_for)(void *context, const struct pam_file *);
	void *context;
};
void pam_rewrite_file(struct buffer *out, const struct pam_file *file,
		      const struct pam_rewrite *rewrite);

/* Whether a rule has been wrapped by us already (marker argument present). */
bool pam_rewrite_is_wrapped(const struct pam_rule *rule);

#endif
