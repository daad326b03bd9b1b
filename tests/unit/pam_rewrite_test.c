/*
 * The rewriter: texts before and after, what is left alone and why, and the
 * line limit of old libpam to the byte.
 */
#include "../test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../pamprof/base/alloc.h"
#include "../../pamprof/source/pam_rewrite.h"
#include "stack_text.h"

/* Where shims and copies are said to be; "none.so" gets none. */
struct shims {
	const char *folder;
	char *last;
};

static const char *
shim_for(void *context, struct pam_rule *rule)
{
	struct shims *shims = context;

	free(shims->last);
	shims->last = alloc_format("%s/%s", shims->folder, rule->path);
	return strcmp(rule->path, "none.so") == 0 ? NULL : shims->last;
}

static const char *
include_for(void *context, const struct pam_file *file)
{
	(void)context;
	return file->path;
}

/* Stands for pam_conf_read(): every module is there, every include too. */
static void
complete(struct pam_file *file, struct pam_file *target)
{
	for (size_t i = 0; i < file->rules_count; i++) {
		struct pam_rule *rule = &file->rules[i];

		if (rule->type == RULE_MODULE)
			rule->path = alloc_string(rule->module.value);
		else if (rule->type != RULE_BROKEN)
			rule->target = target;
	}
}

/* The text rewritten with shims in folder; rules keep their problems. */
static char *
rewrite(struct pam_file *file, const char *folder)
{
	struct pam_file target = { .path = (char *)"/W/common" };
	struct pam_stack stack = { .root = file };
	struct shims shims = { .folder = folder };
	struct pam_rewrite how = { shim_for, include_for, &shims };
	struct buffer out = { 0 };

	complete(file, &target);
	pam_rewrite_number(&stack, shim_for, &shims);
	pam_rewrite_file(&out, file, &how);
	for (size_t i = 0; i < file->rules_count; i++)
		file->rules[i].target = NULL;
	free(shims.last);
	return buffer_take(&out);
}

static char *
rewrite_text(const char *text, const char *folder, unsigned minor)
{
	struct pam_file *file = text_parse(text, strlen(text), minor, NULL);
	char *result;

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	result = rewrite(file, folder);
	text_free(file);
	return result;
}

static const struct {
	const char *before, *after; /* after NULL: the same */
} texts[] = {
	{ "", NULL },
	{ "# only\n\n#comments \\\n", NULL },
	{ "auth required m.so\n", "auth required /S/m.so pamprof=1\n" },
	{ "auth required m.so", "auth required /S/m.so pamprof=1" },
	{ "-auth\trequired\tm.so\ta  b\t# c\nauth optional n.so\n",
	  "-auth\trequired\t/S/m.so\ta  b pamprof=1\t# c\n"
	  "auth optional /S/n.so pamprof=2\n" },
	{ "auth required m.so# c\n", "auth required /S/m.so pamprof=1# c\n" },
	/* argv would be empty but not NULL: "+". */
	{ "auth required m.so \n", "auth required /S/m.so pamprof=1+ \n" },
	{ "auth required [m.so]\n", "auth required [/S/m.so] pamprof=1+\n" },
	{ "auth required m.so # c\n", "auth required /S/m.so pamprof=1 # c\n" },
	/* Brackets stay, and hold what follows apart. */
	{ "auth [success=1 default=ignore][m.so]a [b \\] c]\n",
	  "auth [success=1 default=ignore][/S/m.so]a [b \\] c] pamprof=1\n" },
	{ "auth required m.so \\\n a \\\n b\n",
	  "auth required /S/m.so \\\n a \\\n b pamprof=1\n" },
	{ "auth required m.so a\r\n", "auth required /S/m.so a\r pamprof=1\n" },
	/* Left alone. */
	{ "auth required m.so [a\n", NULL },
	{ "auth required m.so \\\n# c\n a\n", NULL },
	{ "auth required none.so\n", NULL },
	{ "auht required m.so\nauth\nauth required\n", NULL },
	{ "auth required m.so pamprof=3\n", NULL },
	{ "auth required m.so pamprof=3+ \n", NULL },
	{ "auth required m.so pamprof=3 nullok\n", NULL },
	{ "auth required m.so \\\n", NULL },
	/* Not our marker. */
	{ "auth required m.so pamprof=x pamprof=\n",
	  "auth required /S/m.so pamprof=x pamprof= pamprof=1\n" },
	/* Every include form keeps its kind. */
	{ "@include common\n -@INCLUDE [common] # c\n",
	  "@include /W/common\n -@INCLUDE [/W/common] # c\n" },
	{ "auth include common\naccount [substack]common a\nauht include x\n",
	  "auth include /W/common\naccount [substack]/W/common a\n"
	  "auht include /W/common\n" },
};

static void
texts_are_rewritten(void)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const char *after =
		    texts[i].after ? texts[i].after : texts[i].before;
		char *text = rewrite_text(texts[i].before, "/S", 5);

		CU_ASSERT_STRING_EQUAL(text, after);
		if (strcmp(text, after) != 0)
			(void)fprintf(stderr, "\n%s-> %s", texts[i].before,
				      text);
		free(text);
	}
}

/* The second time nothing is wrapped, nothing changes. */
static void
twice_is_once(void)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char *once = rewrite_text(texts[i].before, "/S", 5);
		char *twice = rewrite_text(once, "/S", 5);

		CU_ASSERT_STRING_EQUAL(twice, once);
		free(once);
		free(twice);
	}
}

static void
odd_folders_are_quoted(void)
{
	char *text = rewrite_text("auth required m.so a\n", "/a b]", 5);

	CU_ASSERT_STRING_EQUAL(text,
			       "auth required [/a b\\]/m.so] a pamprof=1\n");
	free(text);
	text = rewrite_text("auth required m.so a\n", "/a#b", 5);
	CU_ASSERT_STRING_EQUAL(text, "auth required m.so a\n");
	free(text);
}

/* Reasons are given, and only for what is left alone. */
static void
problems_are_named(void)
{
	static const char text[] = "auth required m.so pamprof=1\n"
				   "auth required m.so \\\n#\n a\n"
				   "auth required m.so [a\n"
				   "auth required none.so\n"
				   "auht required m.so\n"
				   "auth required m.so\n";
	static const char *const parts[] = {
		"wrapped already",  "comment",      "never closed",
		"no timing module", "unknown type", NULL
	};
	struct pam_file *file = text_parse(text, sizeof(text) - 1, 5, NULL);

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	free(rewrite(file, "/S"));
	CU_ASSERT_EQUAL_FATAL(file->rules_count, 6);
	for (size_t i = 0; i < 6; i++) {
		const struct pam_rule *rule = &file->rules[i];

		CU_ASSERT_EQUAL(rule->marker, parts[i] ? 0 : 1);
		if (!parts[i]) {
			CU_ASSERT_PTR_NULL(rule->problem);
			continue;
		}
		CU_ASSERT_PTR_NOT_NULL_FATAL(rule->problem);
		CU_ASSERT_PTR_NOT_NULL(strstr(rule->problem, parts[i]));
	}
	text_free(file);
}

/* Whether a line of this many bytes is wrapped; its end may be a comment. */
static bool
is_wrapped_at(size_t length, const char *start, unsigned minor)
{
	char *line = text_line(start, length - 1, "\n");
	char *text = rewrite_text(line, "/S", minor);
	bool wrapped = strcmp(text, line) != 0;
	size_t first = strcspn(text, "\n") + 1;

	CU_ASSERT(minor >= 6 || !wrapped || first <= 1000);
	free(line);
	free(text);
	return wrapped;
}

static void
old_lines_stay_below_the_limit(void)
{
	static const char args[] = "auth required m.so ";
	static const char comment[] = "auth required m.so # ";
	size_t limit = 0;

	for (size_t length = 900; length <= 1023; length++)
		if (is_wrapped_at(length, args, 5))
			limit = length;
	/* What is added: "/S/", a marker, at most its longest form. */
	CU_ASSERT(limit > 960 && limit < 997);
	CU_ASSERT(is_wrapped_at(limit, comment, 5));
	CU_ASSERT_FALSE(is_wrapped_at(limit + 1, comment, 5));
	CU_ASSERT_FALSE(is_wrapped_at(1500, args, 5));
	CU_ASSERT(is_wrapped_at(1500, args, 6));
}

/* What is continued counts as libpam assembles it. */
static void
continued_lines_count_together(void)
{
	char *line = text_line("auth required m.so \\\n", 980, "\n");
	char *text = rewrite_text(line, "/a-folder", 5);

	CU_ASSERT_STRING_EQUAL(text, line);
	free(text);
	text = rewrite_text(line, "/a-folder", 6);
	CU_ASSERT_STRING_NOT_EQUAL(text, line);
	free(text);
	free(line);
}

/* Files in order of first use, each once; what is included comes first. */
static void
numbers_follow_the_stack(void)
{
	static const char root[] = "auth required a.so\n@include c\n"
				   "auth required d.so\n";
	static const char common[] = "auth required b.so\nauth include c\n";
	struct pam_file *outer = text_parse(root, sizeof(root) - 1, 5, NULL);
	struct pam_file *inner =
	    text_parse(common, sizeof(common) - 1, 5, NULL);
	struct pam_stack stack = { .root = outer, .other = inner };
	struct shims shims = { .folder = "/S" };

	CU_ASSERT_PTR_NOT_NULL_FATAL(outer);
	CU_ASSERT_PTR_NOT_NULL_FATAL(inner);
	complete(outer, inner);
	complete(inner, NULL);
	pam_rewrite_number(&stack, shim_for, &shims);
	CU_ASSERT_EQUAL(outer->rules[0].marker, 1);
	CU_ASSERT_EQUAL(inner->rules[0].marker, 2);
	CU_ASSERT_EQUAL(outer->rules[1].marker, 0);
	CU_ASSERT_EQUAL(outer->rules[2].marker, 3);
	free(shims.last);
	text_free(outer);
	text_free(inner);
}

void
pam_rewrite_tests(void)
{
	static const struct test_row rows[] = {
		{ "texts are rewritten", texts_are_rewritten },
		{ "twice is once", twice_is_once },
		{ "odd folders are quoted", odd_folders_are_quoted },
		{ "problems are named", problems_are_named },
		{ "old lines stay below the limit",
		  old_lines_stay_below_the_limit },
		{ "continued lines count together",
		  continued_lines_count_together },
		{ "numbers follow the stack", numbers_follow_the_stack },
	};

	(void)TEST_SUITE("pam_rewrite", rows);
}
