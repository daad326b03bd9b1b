/*
 * Checks the control field of a rule; private to pam_conf.
 */
#ifndef PAMPROF_SOURCE_PAM_CONTROL_H
#define PAMPROF_SOURCE_PAM_CONTROL_H

/*
 * NULL when libpam understands the decoded control ("required",
 * "success=1 default=ignore" ...), else what it expected. libpam still calls
 * the module of a rule whose control is wrong, and then lets the rule fail.
 */
const char *pam_control_check(const char *control);

#endif
