/*
 * One login: the calls an application makes from pam_start to pam_end, each
 * written as a span into the ring of the process (modules/ring.h).
 */
#ifndef PAMPROF_SOURCE_PAM_H
#define PAMPROF_SOURCE_PAM_H

#include <security/pam_appl.h>

#include "../../modules/record.h"
#include "../base/error.h"

/* What to log in to, and as whom. NULL: the item is not set. */
struct pam_login {
	const char *confdir; /* for pam_start_confdir(3) */
	const char *service, *user, *rhost, *tty, *ruser;
	unsigned phases; /* bits: 1u << enum record_phase */
};

/* The bit of a phase in pam_login.phases. */
#define PAM_PHASE_BIT(phase) (1u << (phase))

/*
 * Reads a list such as "auth,session"; NULL gives the default: all but
 * password. Returns 0 or ERROR_USAGE that lists the names.
 */
int pam_login_phases(unsigned *phases, const char *list, struct error *error);

/*
 * Does the login, in the order of login(1): the first phase that fails ends
 * it. Writes a KIND_RUN span with one KIND_PHASE span for each call; to be
 * called in a child with the ring attached. Returns the first value that is
 * not PAM_SUCCESS, else PAM_SUCCESS; ERROR_SYSTEM when nothing could be
 * recorded, and then nothing has been called.
 */
int pam_login_run(const struct pam_login *login, const struct pam_conv *conv);

#endif
