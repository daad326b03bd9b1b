/*
 * A private folder for what one command needs on disk while it measures:
 * shims, copies of the stack, the ring.
 */
#ifndef PAMPROF_RUN_WORKSPACE_H
#define PAMPROF_RUN_WORKSPACE_H

#include "../base/error.h"

struct workspace;

/*
 * Makes a folder of mode 0700 on the first mount that allows execution:
 * below /dev/shm, /run, $XDG_RUNTIME_DIR, /tmp, /var/tmp. Folders of earlier
 * commands that have ended without tidying up are removed. Free *workspace
 * with workspace_remove(). On failure it is NULL and error names the places
 * that were tried.
 */
int workspace_make(struct workspace **workspace, struct error *error);

/* Absolute path, valid until it is removed. */
const char *workspace_path(const struct workspace *workspace);

/* Removes the folder with all that is in it; NULL is fine. */
void workspace_remove(struct workspace *workspace);

#endif
