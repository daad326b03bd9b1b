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
 * (and then sets rule->problem, owned by the rule).
 */
typedef const char *(*pam_shim_for)(void *context, struct pam_rule *rule);

/*
 * Decides for every module rule whether it can be wrapped, and numbers those
 * that can: rule->marker from 1 on in order of first use, 0 and a problem
 * for the rest (broken, unknown module, already wrapped, line limit, inner
 * comments).
 */
void pam_rewrite_number(struct pam_stack *stack, pam_shim_for shim,
			void *context);

/*
 * Appends the file with every numbered rule's module word replaced by its
 * shim and its marker added as last argument, and every include form
 * pointing to include_for(target), an absolute path. All other bytes stay.
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
