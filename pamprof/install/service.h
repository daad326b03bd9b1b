/*
 * Whether a service's file may be rewritten: what must be known before the
 * first byte is.
 */
#ifndef PAMPROF_INSTALL_SERVICE_H
#define PAMPROF_INSTALL_SERVICE_H

#include "../source/pam_conf.h"
#include "state.h"

/*
 * Finds the file of a service, through a symbolic link if need be: it must
 * lie in /etc/pam.d and be read by this service alone, its login variant
 * (su-l, sudo-i) apart, which is then named in notes. *file is NULL on
 * failure, else to be freed.
 */
int service_file(char **file, const char *service, struct buffer *notes,
		 struct error *error);

/*
 * Appends a line for each thing that has changed since the entry was made:
 * included files, the service's own. Returns their number.
 */
unsigned service_changes(const struct state *state,
			 const struct state_entry *entry, struct buffer *out);

/*
 * Whether a file that was copied is another one now, by another hand than
 * ours: su-l stays as it is when su is instrumented as well.
 */
bool service_is_stale(const struct state *state,
		      const struct state_entry *entry);

/*
 * Refuses a stack with rules that are timed already, because it includes the
 * file of a service that is instrumented.
 */
int service_check_rules(const struct pam_stack *stack, struct error *error);

/* Appends what pam-auth-update(8) or authselect(8) will do, if here. */
void service_managers(struct buffer *out);

#endif
