/*
 * Which libpam this is.
 */
#ifndef PAMPROF_SOURCE_PAM_VERSION_H
#define PAMPROF_SOURCE_PAM_VERSION_H

/*
 * Describes the libpam in use for reports; free(3) it. The library does not
 * tell its version, so it is the file it was loaded from, links resolved:
 * "libpam.so.0.85.1" belongs to one release.
 */
char *pam_version(void);

#endif
