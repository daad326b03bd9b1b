/*
 * Logins that are going on: one entry of a fixed size for each, in a table
 * that is as large as the number of logins open at once asks for.
 */
#ifndef PAMPROF_STAT_LOGINS_H
#define PAMPROF_STAT_LOGINS_H

#include <stdbool.h>

#include "../../modules/record.h"

/* A login of which nothing was heard for so long is over. */
#define LOGIN_IDLE_NS (60 * 1000000000ull)

/* Entered and not left yet; span 0: none. */
struct login_call {
	uint64_t span, start_ns;
	struct tally *rule;
	int32_t pid, tid;
};
#define LOGIN_CALLS 3 /* one, and what it calls in turn */

struct tally;
struct login_sample; /* of the owner */

struct login {
	uint64_t id;    /* transaction; 0: a free entry */
	uint64_t alias; /* transaction that this one is part of, or 0 */
	uint64_t start_ns, end_ns, seen_ns;
	uint64_t phase_ns, phase_cpu, phase_human; /* of the phase now in */
	const struct tally *first; /* rule that phase began with */
	uint32_t calls;
	int32_t pid, result; /* result: the last one */
	int32_t verdict; /* first failure that counts, of that phase; or 0 */
	uint8_t phase;
	bool left_out;  /* by a filter */
	bool begun;     /* has a call that is not of closing */
	bool succeeded; /* a rule of that phase did */
	bool joined;    /* by process, not by transaction */
	struct login_call open[LOGIN_CALLS];
	struct login_sample *samples;
	size_t samples_count, samples_size;
	char service[sizeof(((struct record *)0)->service)];
	char user[sizeof(((struct record *)0)->object)];
};

/* Called once for each login that is over; the entry is gone afterwards. */
typedef void (*login_done)(void *context, struct login *login);

/* Makes an empty table, to be freed with login_table_free(); NULL is none. */
struct login_table;
struct login_table *login_table_new(login_done done, void *context);
void login_table_free(struct login_table *table);

/*
 * The login of a begin or end record of KIND_CALL; *made tells whether the
 * entry is new (its id, pid, service and start are set). It stays where it
 * is until the next call. Where a child authenticated and its parent goes on
 * with a transaction of its own, as sshd does for keyboard-interactive, both
 * are one login, joined by their process ids.
 */
struct login *login_of(struct login_table *table, const struct record *record,
		       bool *made);

/* All logins are over. */
void login_table_flush(struct login_table *table);

#endif
