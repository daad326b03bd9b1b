/*
 * The rule map: written and read back, damaged, and the masking of secrets
 * in arguments, by table.
 */
#include "../test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../pamprof/base/alloc.h"
#include "../../pamprof/trace/id_table.h"
#include "../../pamprof/trace/rule_map.h"

#define TEXT(s) ((char *)(s))

static void
round_trip(void)
{
	char *notes[] = { TEXT("one"), TEXT("two \"quoted\" \\ \t\n\x01\x7f") };
	struct map_rule rules[] = {
		{ .marker = 1,
		  .arguments_hash = UINT32_MAX,
		  .group = TEXT("auth"),
		  .file = TEXT("/etc/pam.d/\xc3\xa9\xff"),
		  .args = TEXT("user = \xe2\x82\xac"),
		  .line = 3,
		  .last_line = 4,
		  .depth = 2 },
		{ .problem = TEXT("cannot be wrapped") },
	};
	struct rule_map map = { .command = TEXT("run"),
				.in_process = true,
				.overhead_per_call_ns = INT64_MAX,
				.notes = notes,
				.notes_count = 2,
				.rules = rules,
				.rules_count = 2 };
	struct buffer out = { 0 }, again = { 0 };
	struct error error = { 0 };
	struct rule_map *back;

	rule_map_write(&out, &map);
	CU_ASSERT_EQUAL_FATAL(
	    rule_map_read(&back, out.data, out.length, &error), 0);
	CU_ASSERT_STRING_EQUAL(back->command, "run");
	CU_ASSERT_PTR_NULL(back->host);
	CU_ASSERT(back->in_process);
	CU_ASSERT_EQUAL(back->overhead_per_call_ns, INT64_MAX);
	CU_ASSERT_STRING_EQUAL(back->notes[1], notes[1]);
	CU_ASSERT_EQUAL(back->rules[0].arguments_hash, UINT32_MAX);
	CU_ASSERT_STRING_EQUAL(back->rules[0].file,
			       "/etc/pam.d/\xc3\xa9\xef\xbf\xbd");
	CU_ASSERT_STRING_EQUAL(back->rules[0].args, "user = \xe2\x82\xac");
	CU_ASSERT_EQUAL(back->rules[0].last_line, 4);
	CU_ASSERT_PTR_EQUAL(rule_map_find(back, 1), &back->rules[0]);
	CU_ASSERT_PTR_NULL(rule_map_find(back, 0));
	CU_ASSERT_PTR_NULL(rule_map_find(back, 2));
	back->rules[0].file[11] = 0;
	rules[0].file = TEXT("/etc/pam.d/");
	out.length = 0;
	rule_map_write(&out, &map);
	rule_map_write(&again, back);
	CU_ASSERT_STRING_EQUAL(out.data, again.data);
	buffer_free(&out);
	buffer_free(&again);
	rule_map_free(back);
}

/* What is not UTF-8 by the letter becomes U+FFFD, byte by byte. */
static void
invalid_bytes(void)
{
	static const struct {
		const char *text, *json;
	} rows[] = {
		{ "\xc0\x80", "\\ufffd\\ufffd" },
		{ "\xe0\x80\x80", "\\ufffd\\ufffd\\ufffd" },
		{ "\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd" },
		{ "\xf4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd" },
		{ "\xe2\x82", "\\ufffd\\ufffd" },
		{ "\xc3", "\\ufffd" },
		{ "\xed\x9f\xbf", "\xed\x9f\xbf" },
		{ "\xf0\x90\x80\x80", "\xf0\x90\x80\x80" },
		{ "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct rule_map map = { .user = TEXT(rows[i].text) };
		struct buffer out = { 0 };
		char expected[64];

		(void)snprintf(expected, sizeof(expected), "\"user\":\"%s\"",
			       rows[i].json);
		rule_map_write(&out, &map);
		CU_ASSERT_PTR_NOT_NULL(strstr(out.data, expected));
		buffer_free(&out);
	}
}

static const struct {
	const char *text;
	const char *says; /* NULL: is read */
} texts[] = {
	{ "{\"schema\":1,\"rules\":[]}", NULL },
	{ "{\"schema\":1,\"rules\":[{}],\"new\":[1]}", NULL },
	{ "", "damaged" },
	{ "{", "damaged" },
	{ "[]", "schema" },
	{ "{}", "schema" },
	{ "{\"schema\":\"1\",\"rules\":[]}", "schema" },
	{ "{\"schema\":2,\"rules\":[]}", "schema 2" },
	{ "{\"schema\":1}", "rules" },
	{ "{\"schema\":1,\"rules\":{}}", "rules" },
	{ "{\"schema\":1,\"rules\":[1]}", "rules" },
	{ "{\"schema\":1,\"rules\":[],\"notes\":1}", "notes" },
	{ "{\"schema\":1,\"rules\":[],\"notes\":[\"a\",1]}", "notes" },
	{ "{\"schema\":1,\"rules\":[],\"user\":1}", "user" },
	{ "{\"schema\":1,\"rules\":[],\"in_process\":1}", "in_process" },
	{ "{\"schema\":1,\"rules\":[{\"marker\":-1}]}", "marker" },
	{ "{\"schema\":1,\"rules\":[{\"marker\":4294967296}]}", "marker" },
	{ "{\"schema\":1,\"rules\":[{\"line\":1.5}]}", "line" },
	{ "{\"schema\":1,\"rules\":[{\"args\":null}]}", "args" },
	{ "{\"schema\":1,\"rules\":[],\"user\":\"a\\u0000b\"}", "damaged" },
	{ "{\"schema\":1,\"rules\":[],\"user\":\"\xff\"}", "damaged" },
	{ "{\"schema\":1,\"schema\":1,\"rules\":[]}", "damaged" },
	{ "{\"schema\":1,\"rules\":[]} x", "damaged" },
};

static void
hostile_texts(void)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct error error = { 0 };
		struct rule_map *map;
		int result = rule_map_read(&map, texts[i].text,
					   strlen(texts[i].text), &error);

		CU_ASSERT_EQUAL(result, texts[i].says ? ERROR_FORMAT : 0);
		CU_ASSERT((map == NULL) == (texts[i].says != NULL));
		if (texts[i].says && !strstr(error.text, texts[i].says)) {
			(void)fprintf(stderr, "%s: %s\n", texts[i].text,
				      error.text);
			CU_FAIL("wrong message");
		}
		rule_map_free(map);
	}
}

/* A text cut anywhere is refused and nothing leaks. */
static void
cut_texts(void)
{
	const char *text = "{\"schema\":1,\"user\":\"u\",\"notes\":[\"n\"],"
			   "\"rules\":[{\"args\":\"a\",\"line\":1}]}";

	for (size_t length = 0; length < strlen(text); length++) {
		struct rule_map *map;

		CU_ASSERT_EQUAL(rule_map_read(&map, text, length, NULL),
				ERROR_FORMAT);
		CU_ASSERT_PTR_NULL(map);
	}
}

static const struct {
	const char *args[4];
	const char *masked;
} masks[] = {
	{ { "nullok", "try_first_pass" }, "nullok try_first_pass" },
	{ { "passwd=x", "debug" }, "passwd=*** debug" },
	{ { "PassWord=x" }, "PassWord=***" },
	{ { "secret=a=b" }, "secret=***" },
	{ { "bindpw=x", "pass=y", "token=z", "key=k" },
	  "bindpw=*** pass=*** token=*** key=***" },
	{ { "passwd=" }, "passwd=***" },
	{ { "client_secret=x", "api-key=x", "db.passwd=x" },
	  "client_secret=*** api-key=*** db.passwd=***" },
	{ { "dbpasswd=x", "rootbindpw=x", "pam_pw=x" },
	  "dbpasswd=*** rootbindpw=*** pam_pw=***" },
	{ { "keytab=/etc/krb5.keytab", "monkey=1", "bypass=1" },
	  "keytab=/etc/krb5.keytab monkey=1 bypass=1" },
	{ { "secretfile=/etc/x", "passwdfile=/y", "pass_file=z" },
	  "secretfile=/etc/x passwdfile=/y pass_file=z" },
	{ { "[passwd=my secret]", "x" }, "[passwd=***] x" },
	{ { "[query=select a where PW = b c]" },
	  "[query=select a where PW = ***]" },
	{ { "passwd=my secret" }, "[passwd=***]" },
	{ { "host=h passwd=p dbname=d" }, "[host=h passwd=***]" },
	{ { "dsn=user=u;password=p;x=y" }, "dsn=user=u;password=***" },
	{ { "uri=ldap://u:p@host/x" }, "uri=ldap://u:***@host/x" },
	{ { "uri=ldap://u:p@q@host/?passwd=x" },
	  "uri=ldap://u:***@host/?passwd=***" },
	{ { "uri=ldaps://host:636/" }, "uri=ldaps://host:636/" },
	{ { "uid", ">=", "1000" }, "uid >= 1000" },
	{ { "a ] b", "" }, "[a \\] b] []" },
	{ { "=x", "==", "=" }, "=x == =" },
};

static void
mask_secrets(void)
{
	for (size_t i = 0; i < sizeof(masks) / sizeof(*masks); i++) {
		size_t count = 0;
		char *masked;

		while (count < 4 && masks[i].args[count])
			count++;
		masked = rule_map_mask(masks[i].args, count);
		if (strcmp(masked, masks[i].masked) != 0) {
			(void)fprintf(stderr, "%s\n", masked);
			CU_FAIL("masked otherwise");
		}
		free(masked);
	}
}

static void
mask_nothing(void)
{
	char *masked = rule_map_mask(NULL, 0);

	CU_ASSERT_STRING_EQUAL(masked, "");
	free(masked);
}

static void
hash(void)
{
	const char *one[] = { "ab" }, *two[] = { "a", "b" };

	/* FNV-1a's offset basis, and of one zero byte: its published prime. */
	CU_ASSERT_EQUAL(rule_map_hash(NULL, 0), 0x811c9dc5u);
	CU_ASSERT_EQUAL(rule_map_hash((const char *[]){ "" }, 1), 0x050c5d1fu);
	CU_ASSERT_NOT_EQUAL(rule_map_hash(one, 1), rule_map_hash(two, 2));
}

/* The table under the assembler against a plain array. */
static void
id_table(void)
{
	enum {
		IDS = 512
	};
	static char marks[IDS];
	bool there[IDS] = { false };
	struct id_table table = { 0 };
	uint32_t x = 1;
	size_t count = 0;

	CU_ASSERT_PTR_NULL(id_table_find(&table, 1));
	id_table_remove(&table, 1);
	for (unsigned i = 0; i < 200000; i++) {
		unsigned id = (x = x * 1664525u + 1013904223u) >> 23;

		CU_ASSERT_PTR_EQUAL(id_table_find(&table, id),
				    there[id] ? &marks[id] : NULL);
		count += there[id] ? -1 : 1;
		there[id] = !there[id];
		if (there[id])
			id_table_put(&table, id, &marks[id]);
		else
			id_table_remove(&table, id);
		CU_ASSERT_EQUAL(table.count, count);
	}
	id_table_free(&table);
}

void
rule_map_tests(void)
{
	static const struct test_row rows[] = {
		{ "written and read", round_trip },
		{ "bytes that are not UTF-8", invalid_bytes },
		{ "hostile texts", hostile_texts },
		{ "cut texts", cut_texts },
		{ "secrets are masked", mask_secrets },
		{ "no arguments", mask_nothing },
		{ "hash of arguments", hash },
		{ "table of ids", id_table },
	};

	TEST_SUITE("rule_map", rows);
}
