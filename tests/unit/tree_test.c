/*
 * The reports people and programs read, compared with golden files, and what
 * every output must fulfil whatever is in the recording.
 */
#include "../../pamprof/render/render.h"

#include <jansson.h>
#include <security/pam_appl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../pamprof/base/alloc.h"
#include "../../pamprof/render/text.h"
#include "../test.h"
#include "golden.h"
#include "spans.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const struct render_style piped = { .columns = 80 };

static const struct rule_words login[] = {
	{ "/etc/pam.d/login", 12, "auth", "optional", "pam_faildelay.so",
	  "delay=3000000" },
	{ "/etc/pam.d/common-auth", 12, "auth", "required", "pam_slow.so",
	  "delay=1300ms" },
	{ "/etc/pam.d/common-auth", 17, "auth", "[success=1 default=ignore]",
	  "pam_unix.so", "nullok" },
	{ "/etc/pam.d/common-auth", 19, "auth", "requisite", "pam_deny.so",
	  "" },
	{ "/etc/pam.d/common-account", 17, "account", "required", "pam_unix.so",
	  "" },
	{ "/etc/pam.d/common-session-noninteractive", 30, "session", "optional",
	  "pam_systemd.so", "class=user type=tty" },
	{ "/etc/pam.d/common-password", 25, "password", "required",
	  "pam_unix.so", "obscure use_authtok try_first_pass yescrypt" },
};

static void
call(struct span *phase, uint32_t marker, uint64_t ns, uint64_t cpu)
{
	span_cpu(span_call(phase, marker, ns, PAM_SUCCESS), cpu);
}

static struct span *
a_login(uint64_t more)
{
	struct span *run =
	    span_new(NULL, KIND_RUN, PHASE_NONE, 1534 * MS + more);
	struct span *phase = span_new(run, KIND_PHASE, PHASE_START, 3 * MS);

	span_pause(phase, 200 * US);
	span_new(phase, KIND_LOAD, PHASE_START, 2300 * US);
	phase = span_new(run, KIND_PHASE, PHASE_AUTHENTICATE, 1480 * MS + more);
	span_cpu(phase, 152 * MS);
	call(phase, 1, 4 * US, 3 * US);
	call(phase, 2, 1300 * MS + more, 21 * US);
	call(phase, 3, 179400 * US, 151300 * US);
	phase = span_new(run, KIND_PHASE, PHASE_ACCT_MGMT, 1180 * US);
	call(phase, 5, 1150 * US, 800 * US);
	phase = span_new(run, KIND_PHASE, PHASE_SETCRED, 70 * US);
	call(phase, 2, 10 * US, 9 * US);
	call(phase, 3, 20 * US, 18 * US);
	phase = span_new(run, KIND_PHASE, PHASE_OPEN_SESSION, 48 * MS);
	call(phase, 6, 47900 * US, 1100 * US);
	span_new(run, KIND_PHASE, PHASE_END, 400 * US);
	return run;
}

static void
render(struct buffer *out, const struct rule_map *map, struct span **roots,
       size_t count, const struct render_style *style)
{
	struct report *report = report_of(map, roots, count);

	render_tree(out, report, style);
	report_free(report);
}

static void
free_all(struct span **roots, size_t count)
{
	for (size_t i = 0; i < count; i++)
		span_free(roots[i]);
}

/* No line too wide, no blank at its end, no byte that a terminal obeys. */
static void
check_lines(const struct buffer *out, const struct render_style *style)
{
	char *copy = alloc_bytes(out->data, out->length), *rest = copy, *line;

	while ((line = strsep(&rest, "\n"))) {
		size_t length = strlen(line);

		CU_ASSERT(text_width(line) <= style->columns);
		CU_ASSERT(!length || line[length - 1] != ' ');
		for (size_t i = 0; i < length; i++) {
			unsigned char byte = (unsigned char)line[i];

			if (byte < 0x20 || byte == 0x7f ||
			    (byte > 0x7f && !style->unicode))
				CU_FAIL("control byte printed");
		}
	}
	free(copy);
}

static void
check_tree(const char *name, struct rule_map *map, struct span **roots,
	   size_t count, const struct render_style *style)
{
	struct buffer out = { 0 };

	render(&out, map, roots, count, style);
	if (!style->colour)
		check_lines(&out, style);
	golden_check(name, &out);
	buffer_free(&out);
}

/* Asked five times: what a person took is not the module's. */
static void
prompts(void)
{
	struct rule_map *map = map_new(login, COUNT(login));
	struct span *run = span_new(NULL, KIND_RUN, PHASE_NONE, 9 * 1000 * MS);
	struct span *phase =
	    span_new(run, KIND_PHASE, PHASE_AUTHENTICATE, 9 * 1000 * MS);
	struct span *asking = span_call(phase, 3, 8900 * MS, PAM_SUCCESS);

	for (unsigned i = 0; i < 5; i++) {
		span_new(asking, KIND_CONVERSATION, PHASE_NONE, 1200 * MS);
		span_pause(asking, 500 * MS);
	}
	check_tree("prompts.txt", map, &run, 1, &piped);
	span_free(run);
	rule_map_free(map);
}

static void
five_runs(void)
{
	static const struct render_style by_wall = { .columns = 80,
						     .sort = SORT_WALL };
	static const struct render_style terminal = {
		.columns = 100, .colour = true, .bars = true, .unicode = true
	};
	struct rule_map *map = map_new(login, COUNT(login));
	struct span *roots[] = { a_login(3 * MS), a_login(0), a_login(9 * MS),
				 a_login(1 * MS), a_login(70 * MS) };

	check_tree("login.txt", map, roots, 5, &piped);
	check_tree("login_by_wall.txt", map, roots, 5, &by_wall);
	check_tree("login_terminal.txt", map, roots, 5, &terminal);
	free_all(roots, 5);
	rule_map_free(map);
}

static void
wrong_password(void)
{
	struct rule_map *map = map_new(login, COUNT(login));
	struct span *run = span_new(NULL, KIND_RUN, PHASE_NONE, 2110 * MS);
	struct span *phase =
	    span_new(run, KIND_PHASE, PHASE_AUTHENTICATE, 2109 * MS);
	struct span *unix_call;

	map->rules[1].marker = 0;
	map->rules[1].problem = alloc_string("line would exceed 1000 bytes");
	span_cpu(phase, 100 * MS);
	span_call(phase, 1, 5 * US, PAM_IGNORE);
	unix_call = span_call(phase, 3, 101 * MS, PAM_AUTH_ERR);
	span_cpu(unix_call, 99 * MS);
	span_new(unix_call, KIND_CONVERSATION, PHASE_NONE, 30 * US);
	span_call(phase, 4, 2 * US, PAM_AUTH_ERR);
	phase->record.result = PAM_AUTH_ERR;
	check_tree("wrong_password.txt", map, &run, 1, &piped);
	span_free(run);
	rule_map_free(map);
}

static void
crash_and_losses(void)
{
	struct rule_map *map = map_new(login, COUNT(login));
	struct span *roots[] = { a_login(0), a_login(0), a_login(0) };
	struct buffer out = { 0 };
	struct report *report;

	for (unsigned i = 1; i < 3; i++) {
		struct span *phase = roots[i]->children->next;

		roots[i]->record.outcome = OUTCOME_SIGNAL;
		roots[i]->record.result = 11;
		span_break(phase->children->next->next);
		span_break(phase);
		while (phase->next) {
			struct span *next = phase->next;

			phase->next = next->next;
			span_free(next);
		}
	}
	report = report_of(map, roots, 3);
	report->loss.overwritten = 12;
	report->loss.torn = 1;
	render_tree(&out, report, &piped);
	check_lines(&out, &piped);
	golden_check("crash.txt", &out);
	buffer_free(&out);
	report_free(report);
	free_all(roots, 3);
	rule_map_free(map);
}

/* Forty rules; each has more arguments than the one before. */
static void
write_forty(struct rule_words *words)
{
	static char names[40][32], arguments[40][160];

	for (unsigned i = 0; i < 40; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "pam_%u.so", i);
		for (unsigned j = 0; j < i; j++)
			(void)memcpy(arguments[i] + (size_t)j * 4, "a=b ", 4);
		words[i] = (struct rule_words){ "/etc/pam.d/common-auth",
						i + 1,
						"auth",
						"required",
						names[i],
						arguments[i] };
	}
}

static void
forty_rules(void)
{
	struct rule_words words[40];
	struct span *run = span_new(NULL, KIND_RUN, PHASE_NONE, 60 * MS);
	struct span *phase =
	    span_new(run, KIND_PHASE, PHASE_AUTHENTICATE, 50 * MS);
	struct rule_map *map;

	write_forty(words);
	map = map_new(words, COUNT(words));
	for (unsigned i = 0; i < 40; i++)
		call(phase, i + 1, (i + 1) * 30 * US, i * US);
	check_tree("forty_rules.txt", map, &run, 1, &piped);
	span_free(run);
	rule_map_free(map);
}

/* Names as a hostile recording may hold them. */
static const struct rule_words hostile[] = {
	{ "/etc/pam.d/\033]0;x\007", 1, "auth", "required", "pam_\033[2J.so",
	  "a\nb\rc" },
	{ "/etc/pam.d/M\xc3\xbcller", 2, "auth", "required",
	  "pam_\xe6\xbc\xa2\xe5\xad\x97.so", "\xff\xfe broken" },
	{ "/etc/pam.d/very-long-name-of-a-file-that-nobody-would-choose-but-me",
	  65535, "auth", "required",
	  "pam_a_module_with_a_name_beyond_any_reason_whatsoever.so",
	  "\xe2\x80\xaetxet lufmrah" },
	{ "", 0, "", "", "", "" },
};

static struct span *
hostile_run(struct rule_map **map)
{
	struct span *run = span_new(NULL, KIND_RUN, PHASE_NONE, 60 * MS);
	struct span *phase =
	    span_new(run, KIND_PHASE, PHASE_AUTHENTICATE, 50 * MS);
	struct span *unknown;

	*map = map_new(hostile, COUNT(hostile));
	free((*map)->service);
	(*map)->service = alloc_string("\033[31mlogin\xff");
	(*map)->notes = alloc_zero(1, sizeof(char *));
	(*map)->notes[0] = alloc_string("bell\007 and \x9b C1");
	(*map)->notes_count = 1;
	for (unsigned i = 0; i < COUNT(hostile); i++)
		span_call(phase, i + 1, (i + 1) * MS, 99);
	unknown = span_call(phase, 77, 5 * MS, -3);
	free(unknown->object);
	unknown->object = alloc_string("/lib/\002unknown\xc3.so");
	return run;
}

static void
hostile_names(void)
{
	static const struct render_style unicode = { .columns = 80,
						     .unicode = true };
	struct rule_map *map;
	struct span *run = hostile_run(&map);

	check_tree("hostile_ascii.txt", map, &run, 1, &piped);
	check_tree("hostile_utf8.txt", map, &run, 1, &unicode);
	span_free(run);
	rule_map_free(map);
}

/* As Debian's stack of sshd: long names, results, phases and places. */
static const struct rule_words narrow[] = {
	{ "/etc/pam.d/login", 9, "auth", "optional", "pam_faildelay.so",
	  "delay=3000000" },
	{ "/etc/pam.d/common-session-noninteractive", 130, "session",
	  "optional", "pam_systemd.so", "class=user" },
	{ "/etc/pam.d/sshd", 33, "session", "optional", "pam_motd.so",
	  "motd=/run/motd.dynamic noupdate" },
	{ "/etc/pam.d/sshd", 40, "session", "required", "pam_selinux_permit.so",
	  "close" },
};

/* What tells rows apart is there: module, result, line; cut is the rest. */
static void
words_give_way(void)
{
	static const struct render_style by_wall = { .columns = 80,
						     .sort = SORT_WALL };
	struct rule_map *map = map_new(narrow, COUNT(narrow));
	struct span *run = span_new(NULL, KIND_RUN, PHASE_NONE, 1900 * MS);
	struct span *phase =
	    span_new(run, KIND_PHASE, PHASE_AUTHENTICATE, 1200 * MS);
	struct buffer out = { 0 };

	span_cpu(span_call(phase, 1, 1100 * MS, PAM_IGNORE), 60 * MS);
	phase = span_new(run, KIND_PHASE, PHASE_CLOSE_SESSION, 600 * MS);
	span_cpu(phase, 153 * MS);
	span_cpu(span_call(phase, 2, 300 * MS, PAM_SERVICE_ERR), 151 * MS);
	span_cpu(span_call(phase, 3, 100 * MS, PAM_IGNORE), 200 * US);
	span_call(phase, 4, 30 * MS, PAM_AUTHINFO_UNAVAIL);
	check_tree("narrow.txt", map, &run, 1, &piped);
	check_tree("narrow_by_wall.txt", map, &run, 1, &by_wall);
	render(&out, map, &run, 1, &by_wall);
	CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "pam_motd.so"));
	CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "pam_systemd"));
	CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "SERVICE_ERR"));
	CU_ASSERT_PTR_NOT_NULL(strstr(out.data, ":130\n"));
	buffer_free(&out);
	span_free(run);
	rule_map_free(map);
}

/* Any width must do, with every kind of row. */
static void
every_width(void)
{
	struct rule_map *map;
	struct span *run = hostile_run(&map);

	for (unsigned columns = 72; columns <= 200; columns++) {
		struct render_style style = { .columns = columns,
					      .bars = columns % 2,
					      .unicode = columns % 3 == 0 };
		struct buffer out = { 0 };

		style.sort = columns % 4;
		render(&out, map, &run, 1, &style);
		check_lines(&out, &style);
		buffer_free(&out);
	}
	span_free(run);
	rule_map_free(map);
}

static void
nothing(void)
{
	struct rule_map *map = map_new(login, COUNT(login));

	check_tree("nothing.txt", map, NULL, 0, &piped);
	rule_map_free(map);
}

static void
check_json(const char *name, struct rule_map *map, struct span **roots,
	   size_t count)
{
	struct report *report = report_of(map, roots, count);
	struct buffer out = { 0 };
	json_t *root;

	render_json(&out, report, &piped);
	root = json_loads(out.data, JSON_REJECT_DUPLICATES, NULL);
	CU_ASSERT_PTR_NOT_NULL(root);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(root, "schema")), 1);
	golden_check(name, &out);
	json_decref(root);
	buffer_free(&out);
	report_free(report);
}

static void
json_reports(void)
{
	struct rule_map *map = map_new(login, COUNT(login));
	struct span *roots[] = { a_login(3 * MS), a_login(0), a_login(9 * MS) };
	struct span *run;

	check_json("login.json", map, roots, 3);
	check_json("nothing.json", map, NULL, 0);
	free_all(roots, 3);
	rule_map_free(map);
	run = hostile_run(&map);
	check_json("hostile.json", map, &run, 1);
	span_free(run);
	rule_map_free(map);
}

static void
formats_by_name(void)
{
	CU_ASSERT(render_find("tree") == render_tree);
	CU_ASSERT(render_find("json") == render_json);
	CU_ASSERT_PTR_NULL(render_find("yaml"));
	CU_ASSERT_PTR_NULL(render_find(""));
}

void
tree_tests(void)
{
	static const struct test_row rows[] = {
		{ "five runs", five_runs },
		{ "prompts", prompts },
		{ "wrong password", wrong_password },
		{ "crash and losses", crash_and_losses },
		{ "forty rules", forty_rules },
		{ "hostile names", hostile_names },
		{ "words give way", words_give_way },
		{ "every width", every_width },
		{ "nothing", nothing },
		{ "json", json_reports },
		{ "formats by name", formats_by_name },
	};

	TEST_SUITE("tree", rows);
}
