/*
 * From calls to rules (pamprof trace): by module, group and arguments, by
 * order where rules are alike, over several services, and what fits nothing.
 */
#include "../test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../pamprof/source/pam_match.h"

/* Two ways to one file, and modules that need not be there. */
#define MODULE "/etc/passwd"
#define WAY    "/etc/../etc/passwd"

static const char template[] = "/tmp/pamprof-match-XXXXXX";
static char folder[sizeof(template)];

static void
write_service(const char *name, const char *text)
{
	char path[sizeof(folder) + 32];
	FILE *out;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	out = fopen(path, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	(void)fputs(text, out);
	(void)fclose(out);
}

static void
make_services(void)
{
	char include[512];

	(void)snprintf(folder, sizeof(folder), "%s", template);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	write_service("shared", "account required " MODULE " x\n");
	(void)snprintf(include, sizeof(include), "account include %s/shared\n",
		       folder);
	write_service("two", include);
	(void)snprintf(include, sizeof(include),
		       "auth required " MODULE " a\n"
		       "auth required " MODULE "\n"
		       "auth required " MODULE " a\n"
		       "auth required " WAY " b\n"
		       "session required " MODULE " a\n"
		       "account include %s/shared\n",
		       folder);
	write_service("one", include);
}

static void
remove_services(void)
{
	static const char *const names[] = { "one", "two", "shared" };
	char path[sizeof(folder) + 32];

	for (unsigned i = 0; i < 3; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		(void)unlink(path);
	}
	(void)rmdir(folder);
}

static uint64_t next_span;

/* A call's begin and end; both must get the same line, which is returned. */
static unsigned
call(struct pam_match *match, const char *service, uint8_t phase,
     const char *argument)
{
	struct record record = { .transaction = 5,
				 .span = ++next_span,
				 .type = RECORD_BEGIN,
				 .kind = KIND_CALL,
				 .phase = phase,
				 .valid = VALID_ARGUMENTS | VALID_CPU };
	struct record end;

	record.marker = rule_map_hash(&argument, argument != NULL);
	end = record;
	end.type = RECORD_END;
	pam_match_record(match, &record, service, MODULE);
	pam_match_record(match, &end, service, MODULE);
	CU_ASSERT_EQUAL(record.marker, end.marker);
	CU_ASSERT_EQUAL(record.valid, end.valid);
	CU_ASSERT_EQUAL(record.valid,
			VALID_CPU | (record.marker ? VALID_MARKER : 0));
	return record.marker;
}

static void
phase(struct pam_match *match, uint8_t number)
{
	struct record record = { .transaction = 5,
				 .span = ++next_span,
				 .type = RECORD_BEGIN,
				 .kind = KIND_PHASE,
				 .phase = number };

	pam_match_record(match, &record, "one", "");
	record.type = RECORD_END;
	pam_match_record(match, &record, "one", "");
}

static void
by_order(void)
{
	struct pam_match *match;
	struct rule_map *map;

	make_services();
	match = pam_match_new(folder);
	phase(match, PHASE_START);
	for (unsigned again = 0; again < 2; again++) {
		phase(match, PHASE_AUTHENTICATE);
		CU_ASSERT_EQUAL(call(match, "one", PHASE_AUTHENTICATE, "a"), 1);
		CU_ASSERT_EQUAL(call(match, "one", PHASE_AUTHENTICATE, NULL),
				2);
		CU_ASSERT_EQUAL(call(match, "one", PHASE_AUTHENTICATE, "a"), 3);
		CU_ASSERT_EQUAL(call(match, "one", PHASE_AUTHENTICATE, "b"), 4);
	}
	/* Another phase of the group begins at the top; a jump skips one. */
	CU_ASSERT_EQUAL(call(match, "one", PHASE_SETCRED, NULL), 2);
	CU_ASSERT_EQUAL(call(match, "one", PHASE_SETCRED, "a"), 3);
	CU_ASSERT_EQUAL(call(match, "one", PHASE_CLOSE_SESSION, "a"), 5);
	phase(match, PHASE_END);
	map = pam_match_map(match);
	CU_ASSERT_EQUAL(map->rules_count, 6);
	CU_ASSERT_EQUAL(map->notes_count, 0);
	CU_ASSERT_STRING_EQUAL(map->service, "one");
	CU_ASSERT_EQUAL(map->rules[2].line, 3);
	rule_map_free(map);
	pam_match_free(match);
	remove_services();
}

/* A file that two services include is one line, not two. */
static void
services(void)
{
	struct pam_match *match;
	struct rule_map *map;

	make_services();
	match = pam_match_new(folder);
	CU_ASSERT_EQUAL(call(match, "two", PHASE_ACCT_MGMT, "x"), 1);
	CU_ASSERT_EQUAL(call(match, "one", PHASE_ACCT_MGMT, "x"), 1);
	CU_ASSERT_EQUAL(call(match, "one", PHASE_AUTHENTICATE, NULL), 3);
	map = pam_match_map(match);
	CU_ASSERT_STRING_EQUAL(map->service, "two,one");
	CU_ASSERT_EQUAL(map->rules_count, 6);
	CU_ASSERT_STRING_EQUAL(map->rules[0].group, "account");
	rule_map_free(map);
	pam_match_free(match);
	remove_services();
}

static void
unmatched(void)
{
	struct pam_match *match;
	struct rule_map *map;

	make_services();
	match = pam_match_new(folder);
	CU_ASSERT_EQUAL(call(match, "one", PHASE_AUTHENTICATE, "c"), 0);
	CU_ASSERT_EQUAL(call(match, "one", PHASE_CHAUTHTOK_PRELIM, "a"), 0);
	CU_ASSERT_EQUAL(call(match, "one", PHASE_START, "a"), 0);
	CU_ASSERT_EQUAL(call(match, "", PHASE_ACCT_MGMT, "x"), 0);
	/* No way out of the folder; an absent service is said once. */
	CU_ASSERT_EQUAL(call(match, "../one", PHASE_ACCT_MGMT, "x"), 6);
	CU_ASSERT_EQUAL(call(match, "none", PHASE_ACCT_MGMT, "x"), 0);
	CU_ASSERT_EQUAL(call(match, "none", PHASE_ACCT_MGMT, "x"), 0);
	map = pam_match_map(match);
	CU_ASSERT_EQUAL(map->notes_count, 2);
	CU_ASSERT_PTR_NOT_NULL(strstr(map->notes[0], "none"));
	CU_ASSERT_PTR_NOT_NULL(strstr(map->notes[1], "6 calls"));
	rule_map_free(map);
	pam_match_free(match);
	remove_services();
}

/* Records of an observer that knows the rule, and of others, stay. */
static void
untouched(void)
{
	struct pam_match *match = pam_match_new(folder);
	struct record record = { .kind = KIND_CALL,
				 .type = RECORD_END,
				 .phase = PHASE_AUTHENTICATE,
				 .marker = 77,
				 .valid = VALID_MARKER };
	struct record before = record;

	pam_match_record(match, &record, "one", MODULE);
	CU_ASSERT_EQUAL(memcmp(&record, &before, sizeof(record)), 0);
	record.kind = before.kind = KIND_CONVERSATION;
	pam_match_record(match, &record, "one", MODULE);
	CU_ASSERT_EQUAL(memcmp(&record, &before, sizeof(record)), 0);
	pam_match_free(match);
	pam_match_free(NULL);
}

void match_tests(void);

void
match_tests(void)
{
	static const struct test_row rows[] = {
		{ "rules that are alike, by order", by_order },
		{ "several services", services },
		{ "calls that fit no rule", unmatched },
		{ "records that need no match", untouched },
	};

	(void)TEST_SUITE("match", rows);
}
