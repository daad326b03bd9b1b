/*
 * What production's records are summed up to: logins over several processes,
 * verdicts, calls never left, filters, groups against a second computation,
 * and strings that somebody made up to do harm.
 */
#include "../test.h"

#include <jansson.h>
#include <security/pam_modules.h>
#include <stdlib.h>
#include <string.h>

#include "../../pamprof/render/production.h"
#include "../../pamprof/stat/logins.h"

#define MS 1000000u

static struct map_rule rules[] = {
	{ .marker = 10001,
	  .group = (char *)"auth",
	  .file = (char *)"/etc/pam.d/sshd",
	  .control = (char *)"required",
	  .module = (char *)"pam_unix.so",
	  .line = 1 },
	{ .marker = 10002,
	  .group = (char *)"auth",
	  .file = (char *)"/etc/pam.d/sshd",
	  .control = (char *)"[success=1 default=ignore]",
	  .module = (char *)"pam_sss.so",
	  .line = 2 },
	{ .marker = 10003,
	  .group = (char *)"account",
	  .file = (char *)"/etc/pam.d/sshd",
	  .control = (char *)"required",
	  .module = (char *)"/lib/security/pam_unix.so",
	  .line = 3 },
};
static const struct rule_map map = { .rules = rules, .rules_count = 3 };
static const struct ring_header header = { .host = "one" };
static struct production *production;
static uint64_t generation, now;

static void
start(const struct production_options *options)
{
	generation = 0;
	now = 1000 * MS;
	production = production_new(options);
	production_head(production, &header, &map, false);
}

static struct record
call(uint64_t transaction, enum record_phase phase, uint32_t marker)
{
	struct record record = { .version = RECORD_VERSION,
				 .kind = KIND_CALL,
				 .transaction = transaction,
				 .phase = (uint8_t)phase,
				 .pid = 100,
				 .tid = 100,
				 .ppid = 1,
				 .marker = marker,
				 .valid = VALID_MARKER,
				 .service = "sshd" };

	if (phase == PHASE_ACCT_MGMT || phase == PHASE_OPEN_SESSION)
		strcpy(record.object, "alice");
	return record;
}

static uint64_t
enter(struct record record)
{
	record.type = RECORD_BEGIN;
	record.generation = record.span = ++generation;
	record.start_ns = now;
	production_take(production, &record);
	return generation;
}

static void
leave(struct record record, uint64_t span, uint64_t start, int result)
{
	record.type = RECORD_END;
	record.outcome = OUTCOME_RETURNED;
	record.generation = ++generation;
	record.span = span;
	record.start_ns = start;
	record.duration_ns = now - start;
	record.result = result;
	production_take(production, &record);
}

/* A whole call, and 1 ms until the next one. */
static void
made(struct record record, uint64_t ns, int result)
{
	uint64_t span = enter(record), begin = now;

	now += ns;
	leave(record, span, begin, result);
	now += MS;
}

static const struct tally *
group(const struct production_report *report, const char *key)
{
	for (size_t i = 0; i < report->groups.count; i++)
		if (strcmp(report->groups.tallies[i]->key, key) == 0)
			return report->groups.tallies[i];
	CU_FAIL("no such group");
	return NULL;
}

/* The production's options but for one. */
static struct production_options
by(enum production_by key)
{
	return (struct production_options){ .by = key,
					    .since_ns = INT64_MIN,
					    .until_ns = INT64_MAX };
}

static void
one_login(void)
{
	struct production_options options = by(BY_RULE);
	const struct production_report *report;
	const struct tally *tally;

	start(&options);
	made(call(7, PHASE_AUTHENTICATE, 10001), 10 * MS, PAM_SUCCESS);
	made(call(7, PHASE_AUTHENTICATE, 10002), 5 * MS, PAM_AUTH_ERR);
	made(call(7, PHASE_ACCT_MGMT, 10003), 2 * MS, PAM_SUCCESS);
	now += 5000000 * (uint64_t)MS / 1000; /* the session */
	made(call(7, PHASE_CLOSE_SESSION, 10003), 50 * MS, PAM_SUCCESS);
	report = production_finish(production);
	CU_ASSERT_EQUAL(report->logins, 1);
	CU_ASSERT_EQUAL(report->failed, 0);
	CU_ASSERT_EQUAL(report->wall.sum, 19 * MS);
	CU_ASSERT_EQUAL(report->slowest_count, 1);
	CU_ASSERT_STRING_EQUAL(report->slowest[0].user, "alice");
	CU_ASSERT_EQUAL(report->slowest[0].verdict, PAM_SUCCESS);
	tally = group(report, "authenticate /etc/pam.d/sshd:2 pam_sss.so");
	CU_ASSERT_EQUAL(tally->calls, 1);
	CU_ASSERT_EQUAL(tally->results[PAM_AUTH_ERR], 1);
	CU_ASSERT_EQUAL(tally->share_ns, 5 * MS);
	tally = group(report, "close_session /etc/pam.d/sshd:3 /lib/security/"
			      "pam_unix.so");
	CU_ASSERT_EQUAL(tally->share_ns, 0);
	production_free(production);
}

/* Two refusals and a third try; then one who gives up. */
static void
verdicts(void)
{
	struct production_options options = by(BY_PHASE);
	const struct production_report *report;

	start(&options);
	for (unsigned i = 0; i < 3; i++) {
		made(call(7, PHASE_AUTHENTICATE, 10001), MS,
		     i < 2 ? PAM_AUTH_ERR : PAM_SUCCESS);
		made(call(7, PHASE_AUTHENTICATE, 10002), MS, PAM_IGNORE);
	}
	made(call(7, PHASE_ACCT_MGMT, 10003), MS, PAM_SUCCESS);
	made(call(8, PHASE_AUTHENTICATE, 10001), MS, PAM_MAXTRIES);
	made(call(8, PHASE_AUTHENTICATE, 10002), MS, PAM_SUCCESS);
	report = production_finish(production);
	CU_ASSERT_EQUAL(report->logins, 2);
	CU_ASSERT_EQUAL(report->failed, 1);
	CU_ASSERT_EQUAL(report->slowest[0].verdict, PAM_SUCCESS);
	CU_ASSERT_EQUAL(report->slowest[1].verdict, PAM_MAXTRIES);
	CU_ASSERT_STRING_EQUAL(report->slowest[1].user, "");
	CU_ASSERT_EQUAL(group(report, "authenticate")->calls, 4);
	CU_ASSERT_EQUAL(group(report, "authenticate")->results[PAM_AUTH_ERR],
			2);
	CU_ASSERT_EQUAL(group(report, "acct_mgmt")->calls, 1);
	production_free(production);
}

/*
 * sshd: the child of a process authenticates and checks the account, the
 * process itself opens the session with a transaction of its own.
 */
static void
joined_by_process(bool succeeds, pid_t parent, unsigned logins)
{
	struct production_options options = by(BY_USER);
	const struct production_report *report;
	struct record child = call(7, PHASE_AUTHENTICATE, 10001);
	struct record session = call(9, PHASE_OPEN_SESSION, 10003);

	start(&options);
	child.pid = child.tid = 200;
	child.ppid = 100;
	session.pid = session.tid = parent;
	made(child, 10 * MS, succeeds ? PAM_SUCCESS : PAM_AUTH_ERR);
	made(session, 10 * MS, PAM_SUCCESS);
	made(session, 10 * MS, PAM_SUCCESS);
	report = production_finish(production);
	CU_ASSERT_EQUAL(report->logins, logins);
	CU_ASSERT_EQUAL(report->joined, logins == 1);
	CU_ASSERT_EQUAL(report->slowest[0].joined, logins == 1);
	if (logins == 1)
		CU_ASSERT_EQUAL(report->slowest[0].wall, 32 * MS);
	production_free(production);
}

static void
processes(void)
{
	struct production_options options = by(BY_USER);
	const struct production_report *report;
	struct record other = call(7, PHASE_OPEN_SESSION, 10003);

	joined_by_process(true, 100, 1);
	joined_by_process(true, 101, 2);
	joined_by_process(false, 100, 2);
	/* One transaction in two processes needs no guess. */
	start(&options);
	made(call(7, PHASE_AUTHENTICATE, 10001), 10 * MS, PAM_SUCCESS);
	other.pid = other.tid = 999;
	made(other, 10 * MS, PAM_SUCCESS);
	report = production_finish(production);
	CU_ASSERT_EQUAL(report->logins, 1);
	CU_ASSERT_EQUAL(report->joined, 0);
	CU_ASSERT_EQUAL(report->wall.sum, 21 * MS);
	CU_ASSERT_EQUAL(group(report, "alice")->wall.n, 1);
	CU_ASSERT_EQUAL(group(report, "alice")->calls, 2);
	production_free(production);
}

static void
never_left(void)
{
	struct production_options options = by(BY_RULE);
	const struct production_report *report;
	struct buffer text = { 0 };
	const struct render_style style = { .columns = 80 };

	start(&options);
	made(call(7, PHASE_AUTHENTICATE, 10001), MS, PAM_SUCCESS);
	(void)enter(call(7, PHASE_AUTHENTICATE, 10002));
	now += 2 * LOGIN_IDLE_NS;
	/* Thousands of others do not make it forgotten. */
	for (unsigned i = 0; i < 20000; i++)
		made(call(1000 + i, PHASE_ACCT_MGMT, 10003), MS, PAM_SUCCESS);
	report = production_finish(production);
	CU_ASSERT_EQUAL(report->logins, 20001);
	CU_ASSERT_EQUAL(report->wall.n, 20000);
	CU_ASSERT_EQUAL(report->unfinished, 1);
	CU_ASSERT_EQUAL(report->opens[0].login.id, 7);
	CU_ASSERT_EQUAL(report->opens[0].rule->rule.line, 2);
	production_tree(&text, report, &style, false);
	CU_ASSERT_PTR_NOT_NULL(strstr(text.data, "1 call was entered and never "
						 "left"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text.data, "auth pam_sss.so (sshd:2)"));
	buffer_free(&text);
	production_free(production);
}

/* A module that calls another one: its time counts once for the login. */
static void
nested(void)
{
	struct production_options options = by(BY_PHASE);
	const struct production_report *report;
	struct record outer = call(7, PHASE_AUTHENTICATE, 10001);
	struct record inner = call(7, PHASE_AUTHENTICATE, 10002);
	uint64_t begin, span;

	start(&options);
	span = enter(outer);
	begin = now;
	now += MS;
	made(inner, 5 * MS, PAM_AUTH_ERR);
	leave(outer, span, begin, PAM_SUCCESS);
	report = production_finish(production);
	CU_ASSERT_EQUAL(group(report, "authenticate")->wall.sum, 7 * MS);
	CU_ASSERT_EQUAL(group(report, "authenticate")->calls, 1);
	production_free(production);
}

static void
filters(void)
{
	struct production_options options = by(BY_MODULE);
	const struct production_report *report;

	options.since_ns = 2000 * (int64_t)MS;
	options.until_ns = 4000 * (int64_t)MS;
	options.slower_ns = 30 * MS;
	start(&options);
	/* Ten logins a second, of 10, 20, 30, 40 ms in turn. */
	for (unsigned i = 0; i < 50; i++) {
		now = (1000 + i * 100) * (uint64_t)MS;
		made(call(i + 1, PHASE_AUTHENTICATE, 10001),
		     (i % 4 + 1) * 10 * MS, PAM_SUCCESS);
	}
	report = production_finish(production);
	/* 10 to 29 are in time; of 20, half are slow enough. */
	CU_ASSERT_EQUAL(report->logins, 10);
	CU_ASSERT_EQUAL(report->wall.min, 30 * MS);
	CU_ASSERT_EQUAL(group(report, "pam_unix.so")->calls, 10);
	CU_ASSERT_EQUAL(group(report, "pam_unix.so")->wall.min, 30 * MS);
	production_free(production);
}

/* Another ring has other transactions, whatever their numbers are. */
static void
rings(void)
{
	static const struct ring_header two = { .host = "two" };
	struct production_options options = by(BY_HOST);
	const struct production_report *report;

	start(&options);
	made(call(7, PHASE_AUTHENTICATE, 10001), MS, PAM_SUCCESS);
	production_head(production, &header, &map, true);
	made(call(7, PHASE_ACCT_MGMT, 10003), MS, PAM_SUCCESS);
	production_head(production, &two, &map, false);
	made(call(7, PHASE_ACCT_MGMT, 10003), MS, PAM_SUCCESS);
	report = production_finish(production);
	CU_ASSERT_EQUAL(report->logins, 2);
	CU_ASSERT_EQUAL(group(report, "one")->calls, 2);
	CU_ASSERT_EQUAL(group(report, "two")->calls, 1);
	production_free(production);
}

static unsigned
draw(void)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 16);
}

/* Random records against sums kept apart. */
static void
groups_again(void)
{
	static const char *const keys[] = {
		"authenticate /etc/pam.d/sshd:1 pam_unix.so",
		"authenticate /etc/pam.d/sshd:2 pam_sss.so",
		"acct_mgmt /etc/pam.d/sshd:3 /lib/security/pam_unix.so",
	};
	struct production_options options = by(BY_RULE);
	const struct production_report *report;
	uint64_t calls[3] = { 0 }, ns[3] = { 0 }, errors[3] = { 0 };

	start(&options);
	for (unsigned i = 0; i < 30000; i++) {
		unsigned rule = draw() % 3;
		uint64_t length = 1 + draw() % 100000;
		int result = draw() % 4 ? PAM_SUCCESS : PAM_PERM_DENIED;

		made(call(1 + i / 20,
			  rule < 2 ? PHASE_AUTHENTICATE : PHASE_ACCT_MGMT,
			  10001 + rule),
		     length, result);
		calls[rule]++;
		ns[rule] += length;
		errors[rule] += result != PAM_SUCCESS;
	}
	report = production_finish(production);
	CU_ASSERT_EQUAL(report->logins, 1500);
	CU_ASSERT_EQUAL(report->calls, 30000);
	for (unsigned i = 0; i < 3; i++) {
		const struct tally *tally = group(report, keys[i]);

		CU_ASSERT_EQUAL(tally->calls, calls[i]);
		CU_ASSERT_EQUAL(tally->wall.sum, ns[i]);
		CU_ASSERT_EQUAL(tally->results[PAM_PERM_DENIED], errors[i]);
	}
	production_free(production);
}

static void
expect_safe(const struct buffer *text)
{
	for (size_t i = 0; i < text->length; i++)
		CU_ASSERT(text->data[i] == '\n' ||
			  ((unsigned char)text->data[i] >= 0x20 &&
			   (unsigned char)text->data[i] < 0x7f));
}

static void
expect_json(const struct buffer *text)
{
	json_error_t problem;
	json_t *json = json_loadb(text->data, text->length, 0, &problem);

	CU_ASSERT_PTR_NOT_NULL(json);
	json_decref(json);
}

static void
hostile(void)
{
	static const char bad[] = "\033[2J\n\"\\\x9b\xff\xc0\x80'; \t";
	const struct render_style style = { .columns = 80 };

	for (unsigned key = 0; key < BY_COUNT; key++) {
		struct production_options options = by(key);
		const struct production_report *report;
		struct buffer tree = { 0 }, json = { 0 }, line = { 0 };
		struct record record = call(7, PHASE_ACCT_MGMT, 77);

		/* Fields without an end. */
		memset(record.object, '\033', sizeof(record.object));
		memset(record.service, '\n', sizeof(record.service));
		memcpy(record.object, bad, sizeof(bad) - 1);
		memcpy(record.rhost, bad, sizeof(bad) - 1);
		memcpy(record.tty, bad, sizeof(record.tty));
		start(&options);
		made(record, MS, 12345);
		record.valid = 0;
		record.phase = PHASE_AUTHENTICATE;
		made(record, MS, -1);
		(void)enter(record);
		production_jsonl_end(&line, &record, &header, NULL, 7);
		report = production_finish(production);
		production_tree(&tree, report, &style, key % 2);
		production_json(&json, report);
		expect_safe(&tree);
		expect_json(&json);
		expect_json(&line);
		line.length = 0;
		production_jsonl_open(&line, &report->opens[0]);
		expect_json(&line);
		buffer_free(&tree);
		buffer_free(&json);
		buffer_free(&line);
		production_free(production);
	}
}

/* A thousand names a second make no more groups than there may be. */
static void
too_many_groups(void)
{
	struct production_options options = by(BY_USER);
	const struct production_report *report;

	start(&options);
	for (unsigned i = 0; i < TALLY_MAX + 500; i++) {
		struct record record = call(i + 1, PHASE_ACCT_MGMT, 10003);

		(void)snprintf(record.object, sizeof(record.object), "u%u", i);
		made(record, MS, PAM_SUCCESS);
	}
	report = production_finish(production);
	CU_ASSERT_EQUAL(report->logins, TALLY_MAX + 500);
	CU_ASSERT_EQUAL(report->groups.count, TALLY_MAX + 1);
	CU_ASSERT_EQUAL(group(report, TALLY_OTHER)->wall.n, 500);
	production_free(production);
}

static const struct test_row rows[] = {
	{ "one login", one_login },
	{ "verdicts", verdicts },
	{ "logins over several processes", processes },
	{ "calls never left", never_left },
	{ "a module inside another", nested },
	{ "filters", filters },
	{ "several rings", rings },
	{ "groups computed again", groups_again },
	{ "strings that do harm", hostile },
	{ "too many groups", too_many_groups },
};

void production_tests(void);

void
production_tests(void)
{
	TEST_SUITE("production", rows);
}
