/*
 * Stacks as text and back. Separate from the tests because three of them
 * need it.
 */
#include "stack_text.h"

#include <CUnit/CUnit.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../pamprof/base/alloc.h"
#include "../../pamprof/source/pam_parse.h"
#include "../../pamprof/source/pam_place.h"

void
text_folder_begin(struct text_folder *folder)
{
	(void)strcpy(folder->path, "/tmp/pamprof-test-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder->path));
}

static int
remove_one(const char *path, const struct stat *status, int kind,
	   struct FTW *walk)
{
	(void)status;
	(void)kind;
	(void)walk;
	return remove(path);
}

void
text_folder_end(struct text_folder *folder)
{
	(void)nftw(folder->path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void
text_folder_put(const struct text_folder *folder, const char *name,
		const char *text, size_t length)
{
	char *path = alloc_format("%s/%s", folder->path, name);
	FILE *out;

	for (char *slash = path + strlen(folder->path) + 1;
	     (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = '/';
	}
	out = fopen(path, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	CU_ASSERT_EQUAL(fwrite(text, 1, length, out), length);
	CU_ASSERT_EQUAL(fclose(out), 0);
	free(path);
}

struct pam_file *
text_parse(const char *text, size_t length, unsigned minor, struct error *error)
{
	struct pam_file *file = alloc_zero(1, sizeof(*file));

	file->path = alloc_string("text");
	file->text = alloc_bytes(text, length);
	file->size = length;
	file->libpam_minor = minor;
	if (pam_conf_parse(file, error) == 0)
		return file;
	text_free(file);
	return NULL;
}

void
text_free(struct pam_file *file)
{
	pam_place_free(file);
}

void
text_word(struct buffer *out, const char *value)
{
	buffer_char(out, '<');
	for (; *value; value++)
		if (*value < ' ' || *value == '\\')
			buffer_format(out, "\\x%02x", (unsigned char)*value);
		else
			buffer_char(out, *value);
	buffer_char(out, '>');
}

static void
put_flags(struct buffer *out, const struct pam_rule *rule)
{
	const struct {
		bool set;
		const char *name;
	} flags[] = {
		{ rule->silent, "silent" },   { rule->unknown_type, "unknown" },
		{ rule->fatal, "fatal" },     { rule->escaped, "escaped" },
		{ rule->blank_tail, "tail" }, { rule->args_end == 0, "closed" },
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (flags[i].set)
			buffer_format(out, " %s", flags[i].name);
}

void
text_rules(struct buffer *out, const struct pam_file *file)
{
	static const char *const types[] = { "module", "include", "substack",
					     "@include", "broken" };

	for (size_t i = 0; i < file->rules_count; i++) {
		const struct pam_rule *rule = &file->rules[i];

		buffer_format(out, "%s", types[rule->type]);
		if (rule->type != RULE_AT_INCLUDE)
			buffer_format(out, " %s", pam_group_name(rule->group));
		put_flags(out, rule);
		if (rule->control.value) {
			buffer_char(out, ' ');
			text_word(out, rule->control.value);
		}
		if (rule->module.value) {
			buffer_char(out, ' ');
			text_word(out, rule->module.value);
		}
		for (size_t j = 0; j < rule->args_count; j++) {
			buffer_char(out, ' ');
			text_word(out, rule->args[j].value);
		}
		buffer_char(out, '\n');
	}
}

char *
text_line(const char *start, size_t length, const char *end)
{
	struct buffer line = { 0 };

	buffer_text(&line, start);
	while (line.length < length)
		buffer_char(&line, 'x');
	buffer_text(&line, end);
	return buffer_take(&line);
}
