/*
 * The parser: texts against the rules they stand for. What libpam itself
 * thinks of them is asked in pam_oracle_test.c; files are in
 * pam_files_test.c.
 */
#include "../test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../pamprof/source/pam_control.h"
#include "stack_text.h"

/* ---- Texts --------------------------------------------------------------*/

static const struct {
	unsigned minor; /* 0: the same for both grammars */
	const char *text, *rules;
} texts[] = {
	{ 0, "", "" },
	{ 0, "\n \t\n# c\n", "" },
	{ 0, "auth required m.so", "module auth <required> <m.so>\n" },
	{ 0, "-AUTH\tREQUIRED  m.so a  b\n",
	  "module auth silent <REQUIRED> <m.so> <a> <b>\n" },
	/* A blank behind the module is an argv without arguments. */
	{ 0, "auth required m.so \n", "module auth tail <required> <m.so>\n" },
	{ 0, "auth required m.so # c\n", "module auth <required> <m.so>\n" },
	{ 0, "auth required [m.so]\n", "module auth tail <required> <m.so>\n" },
	{ 0, "auth required m.so  # c\n",
	  "module auth tail <required> <m.so>\n" },
	/* Brackets. */
	{ 0, "auth [success=1 default=ignore] m.so [x=a b \\] c] \\[ p[m]\n",
	  "module auth <success=1 default=ignore> <m.so> <x=a b ] c> <\\x5c[> "
	  "<p[m]>\n" },
	{ 0, "[auth][required][m.so][q=a]tail\n",
	  "module auth <required> <m.so> <q=a> <tail>\n" },
	{ 0, "auth required m.so [a b\n",
	  "module auth closed <required> <m.so> <a b\\x0a>\n" },
	{ 0, "auth required m.so [a # b]\n",
	  "module auth closed <required> <m.so> <a >\n" },
	{ 0, "auth required m.so []\n", "module auth <required> <m.so> <>\n" },
	/* Carriage returns are no separators. */
	{ 0, "auth required m.so a\r\n",
	  "module auth <required> <m.so> <a\\x0d>\n" },
	{ 0, "auth required m.so \\\r\nauth required n.so\n",
	  "module auth <required> <m.so> <\\x5c\\x0d>\n"
	  "module auth <required> <n.so>\n" },
	/* Continued lines. */
	{ 0, "auth \\\n required\\\n\tm.so \\ \t\n a\n",
	  "module auth <required> <m.so> <a>\n" },
	{ 0, "auth required m.so\\\nauth required n.so\n",
	  "module auth <required> <m.so> <auth> <required> <n.so>\n" },
	{ 0, "# c \\\nauth required m.so\n",
	  "module auth <required> <m.so>\n" },
	{ 0, "auth required m.so # c \\\nauth required n.so\n",
	  "module auth <required> <m.so>\nmodule auth <required> <n.so>\n" },
	{ 5, "auth required m.so \\\n# c\na\n",
	  "module auth escaped <required> <m.so> <a>\n" },
	{ 6, "auth required m.so \\\n# c\nauth required n.so\n",
	  "module auth escaped tail <required> <m.so>\n"
	  "module auth <required> <n.so>\n" },
	{ 5, "auth required m.so \\\n\n\na\n",
	  "module auth escaped <required> <m.so> <a>\n" },
	{ 6, "\\\n \\\n#c\nauth required m.so\n",
	  "module auth <required> <m.so>\n" },
	{ 5, "[auth] required [m.so \\\n   x] a\n",
	  "module auth <required> <m.so     x> <a>\n" },
	{ 6, "[auth] required [m.so \\\n   x] a\n",
	  "module auth <required> <m.so  x> <a>\n" },
	{ 0, "auth required m.so\naccount required m.so \\\n",
	  "module auth <required> <m.so>\nbroken auth unknown fatal closed\n" },
	{ 0, "auth required m.so \\", "broken auth unknown fatal closed\n" },
	/* Includes. */
	{ 0, "@include x\n @INCLUDE\t/x y # c\n-@include x\n",
	  "@include <x>\n@include </x> <y>\n@include silent <x>\n" },
	{ 0, "auth include x\n-session [SUBSTACK] x a\n",
	  "include auth <include> <x>\n"
	  "substack session silent <SUBSTACK> <x> <a>\n" },
	{ 0, "auht include x\n", "include auth unknown <include> <x>\n" },
	{ 0, "@include\n", "@include closed\n" },
	/* What libpam turns into rules that must fail. */
	{ 0, "auht required m.so a\n",
	  "broken auth unknown <required> <m.so> <a>\n" },
	{ 0, "--auth required m.so\n",
	  "broken auth silent unknown <required> <m.so>\n" },
	{ 0, "account\n", "broken account closed\n" },
	{ 0, "account required\n", "broken account closed <required>\n" },
	/* Handlers without a name: the whole file is refused. */
	{ 0, "auth required /lib/.so\n",
	  "broken auth fatal <required> </lib/.so>\n" },
	{ 0, "auth required ?.so\nauth required []\n",
	  "broken auth fatal <required> <?.so>\n"
	  "broken auth fatal tail <required> <>\n" },
	{ 0, "auth substack dir/\nauth include dir/\n",
	  "broken auth fatal <substack> <dir/>\n"
	  "include auth <include> <dir/>\n" },
	/* A misspelt control is not the parser's to judge. */
	{ 0, "auth requierd m.so\n", "module auth <requierd> <m.so>\n" },
};

static void
check_text(size_t i, unsigned minor)
{
	struct error error = { 0 };
	struct pam_file *file =
	    text_parse(texts[i].text, strlen(texts[i].text), minor, &error);
	struct buffer rules = { 0 };
	char *text;

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	text_rules(&rules, file);
	text = buffer_take(&rules);
	CU_ASSERT_STRING_EQUAL(text, texts[i].rules);
	if (strcmp(text, texts[i].rules) != 0)
		(void)fprintf(stderr, "\n1.%u: %s-> %s", minor, texts[i].text,
			      text);
	free(text);
	text_free(file);
}

static void
texts_become_rules(void)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		for (unsigned minor = 5; minor <= 6; minor++)
			if (!texts[i].minor || texts[i].minor == minor)
				check_text(i, minor);
}

/* Every word's place in the file holds the word as it was written. */
static void
words_have_places(void)
{
	static const char text[] = "# c\n auth [a=b \\] c] \\\n\tm.so [x y]z\n";
	struct pam_file *file = text_parse(text, sizeof(text) - 1, 5, NULL);
	const struct pam_rule *rule;

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_EQUAL_FATAL(file->rules_count, 1);
	rule = &file->rules[0];
	CU_ASSERT_EQUAL(rule->first_line, 2);
	CU_ASSERT_EQUAL(rule->last_line, 3);
	CU_ASSERT_EQUAL(rule->type_word.offset, 5);
	CU_ASSERT_EQUAL(rule->type_word.length, 4);
	CU_ASSERT_EQUAL(memcmp(text + rule->control.offset, "[a=b \\] c]", 10),
			0);
	CU_ASSERT_EQUAL(rule->control.length, 10);
	CU_ASSERT_EQUAL(memcmp(text + rule->module.offset, "m.so ", 5), 0);
	CU_ASSERT_EQUAL(rule->module.length, 4);
	CU_ASSERT_EQUAL_FATAL(rule->args_count, 2);
	CU_ASSERT_EQUAL(memcmp(text + rule->args[0].offset, "[x y]z", 6), 0);
	CU_ASSERT_EQUAL(rule->args[0].length, 5);
	CU_ASSERT_EQUAL(rule->args_end, sizeof(text) - 2);
	text_free(file);
}

/* What does not fit the old buffer is a line of its own. */
static void
long_lines_are_cut(void)
{
	char *line = text_line("#", 1023, "auth required m.so\n");
	struct pam_file *file = text_parse(line, strlen(line), 5, NULL);

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_EQUAL_FATAL(file->rules_count, 1);
	CU_ASSERT_EQUAL(file->rules[0].first_line, 1);
	CU_ASSERT(file->rules[0].assembled > 1023);
	text_free(file);
	file = text_parse(line, strlen(line), 6, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_EQUAL(file->rules_count, 0);
	text_free(file);
	free(line);
}

/* fgets(3) with room for one byte: libpam 1.5 never comes back. */
static void
endless_line_is_refused(void)
{
	char *line = text_line("auth required m.so ", 1022, "\\\n\n");
	struct error error = { 0 };
	struct pam_file *file = text_parse(line, strlen(line), 5, &error);

	CU_ASSERT_PTR_NULL(file);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "text:1: "));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "hangs"));
	text_free(file);
	file = text_parse(line, strlen(line), 6, &error);
	CU_ASSERT_PTR_NOT_NULL(file);
	text_free(file);
	free(line);
}

static void
controls_are_checked(void)
{
	static const char *const good[] = { "required",
					    "Sufficient",
					    "success=1 default=ignore",
					    "",
					    " new_authtok_reqd = ok ",
					    "success=okdefault=bad",
					    "user_unknown=010" };
	static const char *const bad[] = { "requierd",  "include=x",
					   "success",   "success=",
					   "success=0", "success=okay x",
					   "5=ok",      "default=1 x" };

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CU_ASSERT_PTR_NULL(pam_control_check(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT_PTR_NOT_NULL(pam_control_check(bad[i]));
}

void
pam_conf_tests(void)
{
	static const struct test_row rows[] = {
		{ "texts become rules", texts_become_rules },
		{ "words have places", words_have_places },
		{ "long lines are cut", long_lines_are_cut },
		{ "an endless line is refused", endless_line_is_refused },
		{ "controls are checked", controls_are_checked },
	};

	(void)TEST_SUITE("pam_conf", rows);
}
