/*
 * One pamprof at a time changes a host.
 */
#ifndef PAMPROF_INSTALL_LOCK_H
#define PAMPROF_INSTALL_LOCK_H

#include "../base/error.h"

/*
 * Waits for the lock and takes it; the folder must be there. Returns its
 * descriptor, which lock_free() or the end of the process gives back, or an
 * error.
 */
int lock_take(struct error *error);
void lock_free(int fd);

#endif
