/*
 * A whole stack, wrapped: private copies of all its files, every rule that
 * allows it calling a shim, ready for pam_start_confdir(3).
 */
#ifndef PAMPROF_SOURCE_PAM_WRAP_H
#define PAMPROF_SOURCE_PAM_WRAP_H

#include "../trace/rule_map.h"
#include "pam_conf.h"

struct pam_wrap {
	char *confdir;        /* for pam_start_confdir(3) */
	char *service;        /* the name to start there */
	struct rule_map *map; /* rules and notes filled in, the rest NULL */
	size_t wrapped, unwrapped; /* rules */
};

/*
 * Writes the copies of stack below dir (which must exist and be empty): the
 * service and "other" in dir/pam.d, what they include in dir/include, shims
 * in dir/shims. With ring_path NULL nothing is wrapped: the copies call the
 * real modules, as a bare stack to compare with. Free *wrap with
 * pam_wrap_free(), which removes no file; dir is the caller's.
 */
int pam_wrap_stack(struct pam_wrap **wrap, struct pam_stack *stack,
		   const char *dir, const char *ring_path, struct error *error);
void pam_wrap_free(struct pam_wrap *wrap);

/*
 * Rules of a stack as a map, in the order of the stack, without writing
 * anything: markers are 0, arguments_hash is set. For trace.
 */
struct rule_map *pam_wrap_map(const struct pam_stack *stack);

#endif
