/*
 * What a production holds while it is made. Only for stat/production*.c.
 */
#ifndef PAMPROF_STAT_PRODUCTION_STATE_H
#define PAMPROF_STAT_PRODUCTION_STATE_H

#include <time.h>

#include "logins.h"
#include "production_rules.h"

/* A sample that waits for the end of its login: whether it is slow. */
struct login_sample {
	struct tally *tally;
	struct tally_sample sample;
};

struct production {
	struct production_options options;
	struct production_report report;
	struct login_table *logins;
	struct rule_refs refs;
	struct ring_header header;
	char host[sizeof(((struct ring_header *)0)->host) + 1];
	uint64_t login; /* of the slot taken last */
	bool left_out;
	size_t kept; /* samples, in all logins */
	time_t hour; /* of hour_key */
	char hour_key[32];
};

/* Adds a sample, or keeps it until it is known how slow the login is. */
void production_sample(struct production *production, struct login *login,
		       struct tally *tally, const struct tally_sample *sample);

/* The phase a login was in has ended: one sample where phases are grouped. */
void production_end_phase(struct production *production, struct login *login);

/* A login_done: counts what has ended, lists what has not. */
void production_end_login(void *production, struct login *login);

#endif
