/*
 * Reads the files of tests/stacks. Apart from stacks_test.c, which knows
 * what the sections mean.
 */
#include "stack_script.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../pamprof/base/alloc.h"
#include "../test.h"

static const char *const names[SCRIPT_SECTIONS] = {
	[SCRIPT_CALLS] = "[calls]",   [SCRIPT_PROMPTS] = "[prompts]",
	[SCRIPT_EXPECT] = "[expect]", [SCRIPT_SPANS] = "[spans]",
	[SCRIPT_NEVER] = "[never]",
};

/* Where the next line goes: a file, a section, or nowhere yet. */
struct reader {
	struct script *script;
	const char *dir;
	FILE *file;
	int section; /* or -1 */
};

/* Replaces the words in @ signs. */
static char *
expand(const char *line, const char *dir)
{
	const char *stub = "@STUB@", *folder = "@DIR@";
	struct buffer out = { 0 };

	while (*line != '\0') {
		if (strncmp(line, stub, strlen(stub)) == 0) {
			buffer_format(&out, "%s/tests/fake/pam_stub.so",
				      test_build());
			line += strlen(stub);
		} else if (strncmp(line, folder, strlen(folder)) == 0) {
			buffer_text(&out, dir);
			line += strlen(folder);
		} else {
			buffer_char(&out, *line++);
		}
	}
	return buffer_take(&out);
}

static bool
open_file(struct reader *reader, const char *name)
{
	char *path = alloc_format("%s/%s", reader->dir, name);

	reader->file = fopen(path, "we");
	free(path);
	reader->script->files++;
	return reader->file != NULL;
}

/* "[file NAME]", or NULL. */
static bool
open_named_file(struct reader *reader, const char *header)
{
	char name[128];

	return sscanf(header, "[file %127[^]]]", name) == 1 &&
	       open_file(reader, name);
}

static bool
start_section(struct reader *reader, const char *header)
{
	if (reader->file != NULL)
		fclose(reader->file);
	reader->file = NULL;
	reader->section = -1;
	if (strcmp(header, "[stack]") == 0)
		return open_file(reader, "pam.d/test");
	for (int i = 0; i < SCRIPT_SECTIONS; i++) {
		if (strcmp(header, names[i]) == 0) {
			reader->section = i;
			return true;
		}
	}
	return open_named_file(reader, header);
}

static bool
is_header(const char *line)
{
	return line[0] == '[' && line[strlen(line) - 1] == ']' &&
	       strchr(line, '=') == NULL;
}

static const char *
read_line(struct reader *reader, const char *line)
{
	struct script *script = reader->script;
	int section = reader->section;
	char *whole;

	if (is_header(line))
		return start_section(reader, line) ? NULL : "unknown section";
	whole = expand(line, reader->dir);
	if (reader->file != NULL) {
		fprintf(reader->file, "%s\n", whole);
	} else if (whole[0] != '\0' && whole[0] != '#') {
		if (section < 0) {
			free(whole);
			return "text before the first section";
		}
		script->lines[section] =
		    alloc_array(script->lines[section],
				script->count[section] + 1, sizeof(char *));
		script->lines[section][script->count[section]++] = whole;
		return NULL;
	}
	free(whole);
	return NULL;
}

/* What every stack has: an "other" that refuses, and the answers. */
static bool
write_frame(const struct script *script, const char *dir)
{
	static const char *const groups[] = { "auth", "account", "session",
					      "password" };
	char *answers = alloc_format("%s/answers", dir);
	char *other = alloc_format("%s/pam.d/other", dir);
	FILE *out = fopen(other, "we"), *lines = fopen(answers, "we");

	for (size_t i = 0; out != NULL && i < 4; i++)
		fprintf(out, "%s required pam_deny.so\n", groups[i]);
	for (size_t i = 0; lines && i < script->count[SCRIPT_PROMPTS]; i++) {
		const char *bar = strchr(script->lines[SCRIPT_PROMPTS][i], '|');

		fprintf(lines, "%s\n", bar ? bar + 1 + (bar[1] == ' ') : "");
	}
	if (out != NULL)
		fclose(out);
	if (lines != NULL)
		fclose(lines);
	free(answers);
	free(other);
	return out != NULL && lines != NULL;
}

const char *
script_read(struct script *script, const char *path, const char *dir)
{
	struct reader reader = { script, dir, NULL, -1 };
	char *folder = alloc_format("%s/pam.d", dir), line[2048];
	const char *problem = NULL;
	FILE *in = fopen(path, "re");

	*script = (struct script){ 0 };
	if (in == NULL || mkdir(folder, 0700) != 0)
		problem = "cannot be opened";
	while (problem == NULL && fgets(line, sizeof(line), in) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '\0' && reader.file == NULL)
			continue;
		if (line[0] == '#' && reader.file == NULL)
			continue;
		problem = read_line(&reader, line);
	}
	if (reader.file != NULL)
		fclose(reader.file);
	if (in != NULL)
		fclose(in);
	free(folder);
	if (problem == NULL && !write_frame(script, dir))
		problem = "its files cannot be written";
	return problem;
}

void
script_free(struct script *script)
{
	for (int i = 0; i < SCRIPT_SECTIONS; i++) {
		for (size_t j = 0; j < script->count[i]; j++)
			free(script->lines[i][j]);
		free(script->lines[i]);
	}
	*script = (struct script){ 0 };
}
