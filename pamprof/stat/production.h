/*
 * What production recorded, summed up: the report over segments. Calls go
 * straight into their groups and logins into a table, no tree is made.
 */
#ifndef PAMPROF_STAT_PRODUCTION_H
#define PAMPROF_STAT_PRODUCTION_H

#include "../../modules/ring_header.h"
#include "group.h"

enum production_by {
	BY_RULE,
	BY_MODULE,
	BY_PHASE,
	BY_SERVICE,
	BY_USER,
	BY_HOST,
	BY_HOUR,
	BY_COUNT
};

/* The slowest logins, and calls never left, that are kept one by one. */
#define PRODUCTION_KEPT 100

/* One login; strings are the record's, cut to what a record holds. */
struct production_login {
	uint64_t id, wall;
	int64_t start_ns; /* since 1970, UTC */
	int verdict;
	bool unfinished, joined; /* joined: by process ids alone */
	char service[25], user[41], host[65];
};

/* A call that was entered and never left. */
struct production_open {
	struct production_login login;
	int64_t start_ns;
	enum record_phase phase;
	const struct tally *rule; /* key, rule and phase of it */
	int32_t pid;
	uint64_t span;
};

struct production_options {
	enum production_by by;
	int64_t since_ns, until_ns; /* of a login's start, UTC */
	uint64_t slower_ns;         /* 0: any */
	/* Told of each call never left, if not NULL. */
	void (*opened)(void *context, const struct production_open *open);
	void *context;
};

struct production_report {
	enum production_by by;
	uint64_t records, calls;             /* read; counted in groups */
	uint64_t logins, failed, unfinished; /* unfinished: calls */
	uint64_t joined, closings;           /* closings: sessions only */
	uint64_t login_ns;                   /* all of them, for shares */
	int64_t first_ns, last_ns;           /* starts of logins */
	struct histogram wall;               /* of logins */
	struct tally_table groups;
	struct tally_table rules; /* of opens; the groups, by rule */
	struct production_login slowest[PRODUCTION_KEPT];
	size_t slowest_count;
	struct production_open opens[PRODUCTION_KEPT];
	size_t opens_count;
	struct assembly_loss loss;
};

/*
 * Makes an empty one, to be freed with production_free() (NULL: nothing), or
 * rather one that waits for a head.
 */
struct production;
struct production *production_new(const struct production_options *options);
void production_free(struct production *production);

/* For stream_sink: another head, and a whole slot. */
void production_head(void *production, const struct ring_header *header,
		     const struct rule_map *map, bool same_ring);
void production_take(void *production, const struct record *slot);

/* Losses so far; the reader of the slots adds its own. */
struct assembly_loss *production_loss(struct production *production);

/*
 * Of the slot taken last: the id of its login (0: none), and whether a
 * filter left it out.
 */
uint64_t production_login(const struct production *production, bool *left_out);

/* The rule of a call, or NULL: of the map that is in force now. */
const struct map_rule *production_rule(struct production *production,
				       const struct record *record);

/*
 * Ends what is open, sorts, and hands out the report, which is gone with
 * the production.
 */
const struct production_report *
production_finish(struct production *production);

/* "rule" ..., and back (false: no such word). */
const char *production_by_name(enum production_by by);
bool production_by_find(const char *name, enum production_by *by);

#endif
