/*
 * What a security module lets the program of a service load.
 */
#ifndef PAMPROF_INSTALL_CONFINE_H
#define PAMPROF_INSTALL_CONFINE_H

#include <stdbool.h>

/*
 * Puts this process, which must be a throw-away one, under the AppArmor
 * profile of the service's program, if there is one in enforce mode. False
 * when that cannot be done, with a sentence (static memory) in *why.
 */
bool confine_self(const char *service, char **why);

/* Whether SELinux enforces, so that a type may forbid what we cannot try. */
bool confine_selinux(void);

#endif
