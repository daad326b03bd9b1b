/*
 * Where production keeps its files, and whether they may lie there.
 */
#ifndef PAMPROF_INSTALL_LAYOUT_H
#define PAMPROF_INSTALL_LAYOUT_H

#include <stdbool.h>

#include "../base/error.h"

#define PRODUCTION_PAM      "/etc/pam.d"
#define PRODUCTION_FOLDER   "/etc/pamprof" /* 0755, root's */
#define PRODUCTION_STATE    PRODUCTION_FOLDER "/state.json"
#define PRODUCTION_LOCK     PRODUCTION_FOLDER "/lock"
#define PRODUCTION_RUN      "/run/pamprof" /* 0700 */
#define PRODUCTION_RING     PRODUCTION_RUN "/ring"
#define PRODUCTION_SLOTS    16384
#define PRODUCTION_SEGMENTS "/var/log/pamprof" /* 0700 */
#define PRODUCTION_TMPFILES "/etc/tmpfiles.d/pamprof.conf"

/* Markers of one instrumented service: SEQ * PRODUCTION_MARKERS + n. */
#define PRODUCTION_MARKERS 10000

/* Seconds for which a login that read the old file may still load shims. */
#define PRODUCTION_GRACE 60

/* /etc/pamprof/SERVICE.SEQ, or with /NAME behind it; free(3) it. */
char *layout_folder(const char *service, unsigned seq, const char *name);

/* MODULES/shims/SERVICE.SEQ; free(3) it. */
char *layout_shims(const char *service, unsigned seq);

/*
 * Makes root (--root) the root folder of this process, after putting the
 * modules into it that shims are made of. NULL: nothing. What follows works
 * on the image as on a machine, but for the ring, which only the machine
 * itself can make.
 */
int layout_enter(const char *root, struct error *error);
bool layout_is_image(void);

/* Makes MODULES/shims (0755) and the folders above the ring and the state. */
int layout_make(struct error *error);

/*
 * Refuses a shims folder whose mount forbids execution or where another
 * user than root may write on the way to it. To be called after
 * layout_make(), or before it: then the nearest folder that exists counts.
 */
int layout_check_shims(struct error *error);

/*
 * Makes the ring where there is none, with options (enum ring_option), and
 * its folder and tmpfiles.d(5) entry. One that is there stays as it is.
 * Nothing in an image but the entry.
 */
int layout_make_ring(unsigned options, struct error *error);

/* Removes what killed calls for the guard, the ring and their like have left. */
void layout_tidy(void);

/*
 * Copies the guard (configs/guard.sh) to /etc/pamprof/guard, where it stays
 * when pamprof goes. Nothing in an image.
 */
int layout_make_guard(struct error *error);

#endif
