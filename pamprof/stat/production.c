/*
 * The flat path from slots to a report. With no record of phases or runs in
 * production there is no tree to make: an end record says all about its
 * call, so it is added to its group at once, and what a login was is known
 * from a small entry when nothing more comes of it (production_logins.c).
 */
#include "production_state.h"

#include <security/pam_modules.h>
#include <stdlib.h>
#include <string.h>

#include "../base/alloc.h"
#include "../trace/clock.h"
#include "../trace/record_check.h"

static const char *const by_names[BY_COUNT] = {
	[BY_RULE] = "rule",       [BY_MODULE] = "module", [BY_PHASE] = "phase",
	[BY_SERVICE] = "service", [BY_USER] = "user",     [BY_HOST] = "host",
	[BY_HOUR] = "hour",
};

const char *
production_by_name(enum production_by by)
{
	return by_names[by];
}

bool
production_by_find(const char *name, enum production_by *by)
{
	for (unsigned i = 0; i < BY_COUNT; i++)
		if (strcmp(name, by_names[i]) == 0) {
			*by = (enum production_by)i;
			return true;
		}
	return false;
}

/* ---- Records -------------------------------------------------------------- */

static bool
is_closing(const struct record *record)
{
	return record->phase == PHASE_CLOSE_SESSION ||
	       record->phase == PHASE_DELETE_CRED;
}

/* A login that was not seen yet: is it wanted? */
static void
filter(const struct production *production, struct login *login)
{
	int64_t start = clock_wall(&production->header, login->start_ns);

	login->left_out = start < production->options.since_ns ||
			  start >= production->options.until_ns;
}

static void
enter(struct production *production, struct login *login,
      const struct record *record, const struct rule_ref *ref)
{
	for (unsigned i = 0; i < LOGIN_CALLS; i++) {
		struct login_call *call = &login->open[i];

		if (call->span)
			continue;
		call->span = record->generation;
		call->start_ns = record->start_ns;
		call->rule = ref->own;
		call->pid = record->pid;
		call->tid = record->tid;
		return;
	}
	production->report.loss.orphaned++;
}

/* Closes the call; whether it was called from inside another module. */
static bool
leave(struct login *login, const struct record *record)
{
	bool nested = false;

	for (unsigned i = 0; i < LOGIN_CALLS; i++) {
		struct login_call *call = &login->open[i];

		if (!call->span)
			continue;
		if (call->span == record->span)
			call->span = 0;
		else if (call->tid == record->tid && call->span < record->span)
			nested = true;
	}
	return nested;
}

/* The application's next call has begun, or the same one once more. */
static void
turn_phase(struct production *production, struct login *login,
	   const struct record *record, const struct rule_ref *ref)
{
	if (login->first && login->phase == record->phase &&
	    login->first != ref->own)
		return;
	production_end_phase(production, login);
	login->first = ref->own;
	login->phase = record->phase;
	/* What decides about a login is not how its credentials were set. */
	if (record->phase == PHASE_SETCRED || is_closing(record))
		return;
	login->verdict = 0;
	login->succeeded = false;
}

/* What the result of a call says about the login. */
static void
judge(struct login *login, const struct record *record,
      const struct rule_ref *ref)
{
	if (record->phase == PHASE_SETCRED || is_closing(record))
		return;
	login->result = record->result;
	if (record->result == 0)
		login->succeeded = true;
	else if (ref->binding && login->verdict == 0 &&
		 record->result != PAM_IGNORE &&
		 (record->result != PAM_NEW_AUTHTOK_REQD ||
		  record->phase == PHASE_ACCT_MGMT))
		login->verdict = record->result;
}

/* The end of a call, on behalf of its login. */
static void
count_call(struct production *production, struct login *login,
	   const struct record *record, const struct rule_ref *ref)
{
	turn_phase(production, login, record, ref);
	judge(login, record, ref);
	login->phase_ns += record->duration_ns;
	login->phase_cpu += record->cpu_ns;
	login->phase_human += record->prompt_ns;
	login->calls++;
	if (is_closing(record))
		return;
	login->begun = true;
	if (record->start_ns < login->start_ns)
		login->start_ns = record->start_ns;
	if (record->start_ns + record->duration_ns > login->end_ns)
		login->end_ns = record->start_ns + record->duration_ns;
}

/* Authentication records have no user; in others it may be a module. */
static void
take_user(struct login *login, const struct record *record)
{
	if ((record->valid & VALID_MARKER) && record->object[0] &&
	    (record->phase == PHASE_ACCT_MGMT ||
	     record->phase == PHASE_OPEN_SESSION))
		memcpy(login->user, record->object, sizeof(login->user));
}

static void
take_end(struct production *production, struct login *login,
	 const struct record *record, const struct rule_ref *ref)
{
	struct tally_sample sample = {
		.wall = record->duration_ns,
		.cpu = record->cpu_ns,
		.human = record->prompt_ns,
		.result = record->result,
		.has_result = record->outcome == OUTCOME_RETURNED,
	};
	bool nested = login && leave(login, record);

	if (production->left_out)
		return;
	production->report.calls++;
	if (login && !nested)
		count_call(production, login, record, ref);
	if (login)
		take_user(login, record);
	if (!ref->group || production->options.by == BY_PHASE)
		return;
	if (!nested && !is_closing(record))
		sample.share = sample.wall;
	production_sample(production, login, ref->group, &sample);
}

/* A begin or end of a call. */
static void
take_call(struct production *production, const struct record *record)
{
	const struct rule_ref *ref = rule_ref_find(&production->refs, record);
	struct login *login = NULL;
	bool made = false;

	production->left_out = false;
	if (record->transaction)
		login = login_of(production->logins, record, &made);
	if (made)
		filter(production, login);
	if (login) {
		production->login = login->id;
		production->left_out = login->left_out;
	}
	if (record->type == RECORD_END)
		take_end(production, login, record, ref);
	else if (login)
		enter(production, login, record, ref);
}

void
production_take(void *context, const struct record *slot)
{
	struct production *production = context;

	production->report.records++;
	if (!record_is_span(slot)) {
		production->report.loss.nonsense += !record_as_text(slot);
		return;
	}
	production->login = 0;
	if (!record_is_possible(slot))
		production->report.loss.nonsense++;
	else if (slot->kind == KIND_CALL)
		take_call(production, slot);
}

void
production_head(void *context, const struct ring_header *header,
		const struct rule_map *map, bool same_ring)
{
	struct production *production = context;

	/* Ids and times of another ring are other logins. */
	if (!same_ring)
		login_table_flush(production->logins);
	production->header = *header;
	memcpy(production->host, header->host, sizeof(header->host));
	rule_refs_reset(&production->refs, map);
}

/* ---- From first to last --------------------------------------------------- */

struct production *
production_new(const struct production_options *options)
{
	struct production *production = alloc_zero(1, sizeof(*production));

	production->options = *options;
	production->report.by = options->by;
	production->logins = login_table_new(production_end_login, production);
	production->refs.by = options->by;
	production->refs.groups = &production->report.groups;
	production->refs.rules = &production->report.rules;
	return production;
}

void
production_free(struct production *production)
{
	if (!production)
		return;
	login_table_free(production->logins);
	rule_refs_free(&production->refs);
	tally_table_free(&production->report.groups);
	tally_table_free(&production->report.rules);
	histogram_free(&production->report.wall);
	free(production);
}

struct assembly_loss *
production_loss(struct production *production)
{
	return &production->report.loss;
}

uint64_t
production_login(const struct production *production, bool *left_out)
{
	*left_out = production->left_out;
	return production->login;
}

const struct map_rule *
production_rule(struct production *production, const struct record *record)
{
	return rule_ref_find(&production->refs, record)->rule;
}

const struct production_report *
production_finish(struct production *production)
{
	struct tally_table *groups = &production->report.groups;

	login_table_flush(production->logins);
	if (production->options.by <= BY_PHASE)
		for (size_t i = 0; i < groups->count; i++)
			groups->tallies[i]->calls = groups->tallies[i]->wall.n;
	tally_sort(groups, production->options.by == BY_HOUR);
	return &production->report;
}
