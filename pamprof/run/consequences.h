/*
 * What a measured login changes on this machine beyond the process it runs
 * in, known by the names of modules, and the question whether that is meant.
 */
#ifndef PAMPROF_RUN_CONSEQUENCES_H
#define PAMPROF_RUN_CONSEQUENCES_H

#include <stdbool.h>

#include "../base/buffer.h"
#include "../source/pam.h"
#include "../source/pam_conf.h"

/*
 * Appends a line for every module with consequences that login would call,
 * and nothing when there is none. Returns their number.
 */
unsigned consequences_list(struct buffer *out, const struct pam_stack *stack,
			   const struct pam_login *login);

/*
 * Says the consequences on stderr, if any, and asks the terminal, unless yes
 * is set. Returns 0 to go on, ERROR_USAGE when nobody agreed.
 */
int consequences_agree(const struct pam_stack *stack,
		       const struct pam_login *login, bool yes,
		       struct error *error);

#endif
