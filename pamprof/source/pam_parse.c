/*
 * From words to rules: what libpam makes of each logical line. Separate from
 * pam_conf.c because it opens nothing: a text goes in, rules come out, which
 * is what the fuzzer and most tests need.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/alloc.h"
#include "pam_lex.h"
#include "pam_parse.h"

/* Type words, compared without case; "-" before any of them is allowed. */
static const struct {
	const char *word;
	enum pam_rule_type type;
	enum pam_group group;
} types[] = {
	{ "auth", RULE_MODULE, GROUP_AUTH },
	{ "account", RULE_MODULE, GROUP_ACCOUNT },
	{ "session", RULE_MODULE, GROUP_SESSION },
	{ "password", RULE_MODULE, GROUP_PASSWORD },
	{ "@include", RULE_AT_INCLUDE, GROUP_AUTH },
};

static const struct {
	const char *word;
	enum pam_rule_type type;
} include_words[] = {
	{ "include", RULE_INCLUDE },
	{ "substack", RULE_SUBSTACK },
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

const char *
pam_group_name(enum pam_group group)
{
	for (size_t i = 0; i < GROUP_COUNT; i++)
		if (types[i].group == group)
			return types[i].word;
	return "unknown";
}

/* The first problem of a rule is the one that libpam meets first. */
static void
set_problem(struct pam_rule *rule, char *problem)
{
	if (rule->problem)
		free(problem);
	else
		rule->problem = problem;
}

static void
set_broken(struct pam_rule *rule, char *problem)
{
	rule->type = RULE_BROKEN;
	set_problem(rule, problem);
}

static void
set_type(struct pam_rule *rule)
{
	const char *word = rule->type_word.value;

	rule->silent = word[0] == '-';
	if (rule->silent)
		word++;
	for (size_t i = 0; i < COUNT(types); i++) {
		if (strcasecmp(word, types[i].word) != 0)
			continue;
		rule->type = types[i].type;
		rule->group = types[i].group;
		return;
	}
	rule->type = RULE_MODULE;
	rule->group = GROUP_AUTH;
	rule->unknown_type = true;
}

static void
set_include(struct pam_rule *rule)
{
	for (size_t i = 0; i < COUNT(include_words); i++)
		if (strcasecmp(rule->control.value, include_words[i].word) == 0)
			rule->type = include_words[i].type;
}

/*
 * libpam names a handler after its module's file, up to the last dot, and
 * gives the whole file up when nothing or "?" is left.
 */
static bool
has_no_name(const char *path)
{
	const char *base = strrchr(path, '/');
	const char *dot;
	size_t length;

	base = base ? base + 1 : path;
	dot = strrchr(base, '.');
	length = dot ? (size_t)(dot - base) : strlen(base);
	return length == 0 || (length == 1 && base[0] == '?');
}

static void
check_module(struct pam_rule *rule)
{
	bool named = rule->type == RULE_MODULE || rule->type == RULE_SUBSTACK;

	if (named && has_no_name(rule->module.value)) {
		rule->fatal = true;
		set_broken(rule, alloc_format("\"%s\" is no file name: libpam "
					      "refuses the whole file",
					      rule->module.value));
	} else if (rule->unknown_type && rule->type == RULE_MODULE) {
		set_broken(rule, alloc_format("unknown type \"%s\": libpam "
					      "lets the rule fail without "
					      "calling the module",
					      rule->type_word.value));
	}
}

static void
read_args(struct pam_rule *rule, const struct pam_line *line,
	  struct pam_cursor *cursor)
{
	struct pam_word word = { 0 };
	bool more = !cursor->done;

	while (pam_lex_word(line, cursor, &word)) {
		rule->args = alloc_array(rule->args, rule->args_count + 1,
					 sizeof(*rule->args));
		rule->args[rule->args_count++] = word;
		rule->args_end = word.offset + word.length;
	}
	rule->blank_tail = more && rule->args_count == 0;
}

static void
read_module(struct pam_rule *rule, const struct pam_line *line,
	    struct pam_cursor *cursor)
{
	if (!pam_lex_word(line, cursor, &rule->module)) {
		/* An include without a name is left to pam_conf_read(). */
		if (rule->type == RULE_MODULE)
			set_broken(rule, alloc_string("no module: libpam lets "
						      "the rule fail"));
		return;
	}
	rule->args_end = rule->module.offset + rule->module.length;
	read_args(rule, line, cursor);
	if (cursor->open) {
		rule->args_end = 0;
		if (rule->type == RULE_MODULE)
			set_problem(rule,
				    alloc_string("\"[\" is never closed, so "
						 "nothing can be added"));
	}
	check_module(rule);
}

static void
read_rule(struct pam_rule *rule, const struct pam_line *line)
{
	struct pam_cursor cursor = { 0 };

	rule->first_line = line->first_line;
	rule->last_line = line->last_line;
	rule->escaped = line->escaped;
	rule->assembled = line->needs;
	if (!pam_lex_word(line, &cursor, &rule->type_word)) {
		/* Only from 1.6 on: a continued line with nothing in it. */
		rule->unknown_type = true;
		set_broken(rule, alloc_string("no type: libpam lets the rule "
					      "fail"));
		return;
	}
	set_type(rule);
	if (rule->type != RULE_AT_INCLUDE) {
		if (!pam_lex_word(line, &cursor, &rule->control)) {
			set_broken(rule, alloc_string("no control: libpam "
						      "lets the rule fail"));
			return;
		}
		set_include(rule);
	}
	read_module(rule, line, &cursor);
}

static struct pam_rule *
add_rule(struct pam_file *file)
{
	struct pam_rule *rule;

	/* Doubling: a hostile file has very many lines. */
	if ((file->rules_count & (file->rules_count - 1)) == 0)
		file->rules =
		    alloc_array(file->rules, file->rules_count * 2 + 1,
				sizeof(*file->rules));
	rule = &file->rules[file->rules_count++];
	*rule = (struct pam_rule){ .file = file };
	return rule;
}

static void
add_unfinished(struct pam_file *file, const struct pam_lexer *lexer)
{
	struct pam_rule *rule = add_rule(file);

	rule->last_line = lexer->line_number;
	rule->first_line = lexer->line.first_line;
	if (rule->first_line == 0)
		rule->first_line = rule->last_line;
	rule->unknown_type = rule->fatal = true;
	set_broken(rule, alloc_string("the file ends inside a continued line: "
				      "libpam refuses the whole file"));
}

int
pam_conf_parse(struct pam_file *file, struct error *error)
{
	enum pam_lex_result result;
	struct pam_lexer lexer;
	int r = 0;

	pam_lex_start(&lexer, file->text, file->size, file->libpam_minor);
	while ((result = pam_lex_next(&lexer)) == LEX_LINE)
		read_rule(add_rule(file), &lexer.line);
	if (result == LEX_UNFINISHED)
		add_unfinished(file, &lexer);
	if (result == LEX_ENDLESS)
		r = error_set(error, ERROR_INPUT,
			      "%s:%u: libpam before 1.6 hangs on a continued "
			      "line of exactly 1023 bytes; shorten the line",
			      file->path, lexer.line_number);
	pam_lex_stop(&lexer);
	return r;
}

static void
free_rule(struct pam_rule *rule)
{
	for (size_t i = 0; i < rule->args_count; i++)
		free(rule->args[i].value);
	free(rule->args);
	free(rule->type_word.value);
	free(rule->control.value);
	free(rule->module.value);
	free(rule->path);
	free(rule->problem);
}

void
pam_conf_free_rules(struct pam_file *file)
{
	for (size_t i = 0; i < file->rules_count; i++)
		free_rule(&file->rules[i]);
	free(file->rules);
	file->rules = NULL;
	file->rules_count = 0;
}
