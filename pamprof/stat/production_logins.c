/*
 * Logins that are over: what they were, and into which groups they go. Apart
 * from production.c, which has the path of each record and must be fast.
 */
#include "production_state.h"

#include <string.h>

#include "../base/alloc.h"
#include "../trace/clock.h"

/*
 * Samples that wait for the end of their logins, of all logins (some 300 MB);
 * with more, which nobody has who does not make them up, slow and fast ones
 * are no longer told apart.
 */
#define KEPT_MAX (4u << 20)

void
production_sample(struct production *production, struct login *login,
		  struct tally *tally, const struct tally_sample *sample)
{
	struct login_sample *kept;

	if (!login || !production->options.slower_ns ||
	    production->kept >= KEPT_MAX) {
		tally_add(tally, sample);
		return;
	}
	if (login->samples_count == login->samples_size) {
		login->samples_size = login->samples_size * 2 + 16;
		login->samples =
		    alloc_array(login->samples, login->samples_size,
				sizeof(*login->samples));
	}
	production->kept++;
	kept = &login->samples[login->samples_count++];
	kept->tally = tally;
	kept->sample = *sample;
}

/* The local hour, as "2026-11-30 14:00". */
static const char *
hour_of(struct production *production, int64_t wall_ns)
{
	time_t second = (time_t)(wall_ns / 1000000000);
	struct tm when;

	if (second / 900 == production->hour && production->hour_key[0])
		return production->hour_key;
	production->hour = second / 900;
	if (!localtime_r(&second, &when) ||
	    !strftime(production->hour_key, sizeof(production->hour_key),
		      "%Y-%m-%d %H:00", &when))
		strcpy(production->hour_key, "?");
	return production->hour_key;
}

/* The group of a whole login, or NULL where calls or phases are grouped. */
static struct tally *
group_of_login(struct production *production,
	       const struct production_login *login)
{
	const char *key = NULL;

	switch (production->options.by) {
	case BY_SERVICE:
		key = login->service;
		break;
	case BY_USER:
		key = login->user;
		break;
	case BY_HOST:
		key = login->host;
		break;
	case BY_HOUR:
		key = hour_of(production, login->start_ns);
		break;
	default:
		return NULL;
	}
	return tally_find(&production->report.groups, key[0] ? key : "-", NULL);
}

/* ---- Logins that are over ------------------------------------------------- */

void
production_end_phase(struct production *production, struct login *login)
{
	struct tally_sample sample = { .wall = login->phase_ns,
				       .cpu = login->phase_cpu,
				       .human = login->phase_human };
	struct tally *tally;

	if (production->options.by == BY_PHASE && login->first) {
		tally = tally_find(&production->report.groups,
				   report_phase_name(login->phase), NULL);
		sample.has_result = true;
		sample.result = login->verdict     ? login->verdict
				: login->succeeded ? 0
						   : login->result;
		if (login->phase != PHASE_CLOSE_SESSION &&
		    login->phase != PHASE_DELETE_CRED)
			sample.share = sample.wall;
		production_sample(production, login, tally, &sample);
	}
	login->phase_ns = login->phase_cpu = login->phase_human = 0;
	login->first = NULL;
}

static void
describe(const struct production *production, const struct login *login,
	 struct production_login *out)
{
	memset(out, 0, sizeof(*out));
	out->id = login->id;
	out->start_ns = clock_wall(&production->header, login->start_ns);
	if (login->end_ns > login->start_ns)
		out->wall = login->end_ns - login->start_ns;
	out->verdict = login->verdict     ? login->verdict
		       : login->succeeded ? 0
					  : login->result;
	out->joined = login->joined;
	memcpy(out->service, login->service, sizeof(login->service));
	memcpy(out->user, login->user, sizeof(login->user));
	memcpy(out->host, production->host, sizeof(out->host));
}

/* The order of the slowest: the same whatever order they ended in. */
static bool
goes_before(const struct production_login *a, const struct production_login *b)
{
	if (a->wall != b->wall)
		return a->wall > b->wall;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns;
	return a->id < b->id;
}

/* Keeps it if it is among the slowest. */
static void
keep_slowest(struct production_report *report,
	     const struct production_login *login)
{
	struct production_login *kept = report->slowest;
	size_t i = report->slowest_count;

	if (i < PRODUCTION_KEPT)
		report->slowest_count++;
	else if (!goes_before(login, &kept[--i]))
		return;
	for (; i > 0 && goes_before(login, &kept[i - 1]); i--)
		kept[i] = kept[i - 1];
	kept[i] = *login;
}

/* Keeps it if it is among the oldest: they hang the longest. */
static void
keep_open(struct production_report *report, const struct production_open *open)
{
	struct production_open *kept = report->opens;
	size_t i = report->opens_count;

	if (i < PRODUCTION_KEPT)
		report->opens_count++;
	else if (open->start_ns >= kept[--i].start_ns)
		return;
	for (; i > 0 && open->start_ns < kept[i - 1].start_ns; i--)
		kept[i] = kept[i - 1];
	kept[i] = *open;
}

/* A session that hangs while it is closed was a login all the same. */
static bool
is_unfinished(const struct login *login)
{
	for (unsigned i = 0; i < LOGIN_CALLS; i++)
		if (login->open[i].span &&
		    login->open[i].rule->phase != PHASE_CLOSE_SESSION &&
		    login->open[i].rule->phase != PHASE_DELETE_CRED)
			return true;
	return false;
}

/* A call that was entered and not left. */
static void
take_open(struct production *production, const struct login_call *call,
	  const struct production_login *described)
{
	struct production_report *report = &production->report;
	struct production_open open = { .login = *described };

	open.start_ns = clock_wall(&production->header, call->start_ns);
	open.phase = call->rule->phase;
	open.rule = call->rule;
	open.pid = call->pid;
	open.span = call->span;
	report->unfinished++;
	call->rule->unfinished++;
	keep_open(report, &open);
	if (production->options.opened)
		production->options.opened(production->options.context, &open);
}

/* Counts a login that ended; one that did not has no duration. */
static void
count_login(struct production *production, const struct login *login,
	    const struct production_login *described)
{
	struct production_report *report = &production->report;
	struct tally *tally = group_of_login(production, described);
	struct tally_sample sample = { .wall = described->wall,
				       .share = described->wall,
				       .result = described->verdict,
				       .has_result = true };

	report->logins++;
	report->failed += described->verdict != 0 && !described->unfinished;
	report->joined += described->joined;
	if (report->logins == 1 || described->start_ns < report->first_ns)
		report->first_ns = described->start_ns;
	if (report->logins == 1 || described->start_ns > report->last_ns)
		report->last_ns = described->start_ns;
	if (tally)
		tally->calls += login->calls;
	if (tally && described->unfinished)
		tally->unfinished++;
	if (described->unfinished)
		return;
	histogram_add(&report->wall, described->wall);
	report->login_ns += described->wall;
	if (tally)
		tally_add(tally, &sample);
	keep_slowest(report, described);
}

void
production_end_login(void *context, struct login *login)
{
	struct production *production = context;
	struct production_login described;

	if (login->left_out)
		return;
	production_end_phase(production, login);
	production->kept -= login->samples_count;
	describe(production, login, &described);
	described.unfinished = is_unfinished(login);
	for (unsigned i = 0; i < LOGIN_CALLS; i++) {
		if (login->open[i].span)
			take_open(production, &login->open[i], &described);
	}
	if (!described.unfinished &&
	    described.wall < production->options.slower_ns)
		return;
	for (size_t i = 0; i < login->samples_count; i++)
		tally_add(login->samples[i].tally, &login->samples[i].sample);
	if (login->begun || described.unfinished)
		count_login(production, login, &described);
	else
		production->report.closings++;
}
