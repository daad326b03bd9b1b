/*
 * Who takes a service out again when its time is over.
 */
#ifndef PAMPROF_INSTALL_TIMER_H
#define PAMPROF_INSTALL_TIMER_H

#include <stdint.h>

#include "../base/error.h"

/*
 * Has `pamprof status`, which restores what is due, run at that time
 * (CLOCK_REALTIME, s), also after a reboot: by a systemd timer where systemd
 * runs, else by cron. *what is a sentence for status (static memory).
 */
int timer_start(const char *service, int64_t until, const char **what,
		struct error *error);

/* Takes the timer away; no timer is fine. */
void timer_stop(const char *service);

#endif
