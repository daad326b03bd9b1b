/*
 * Puts timing shims into a stack by byte position. Separate from the parser
 * because it must not interpret: whatever it does not replace leaves as it
 * came, so that an administrator's file stays his.
 */
#include "pam_rewrite.h"

#include <stdlib.h>
#include <string.h>

#include "../base/alloc.h"
#include "pam_lex.h"

/* Below libpam's 1023 on purpose: others edit the file after us. */
#define LINE_MOST 1000

/* " pamprof=4294967295+" */
#define MARKER_MOST (sizeof(" " MARKER_PREFIX "4294967295+") - 1)

bool
pam_rewrite_is_wrapped(const struct pam_rule *rule)
{
	for (size_t i = 0; i < rule->args_count; i++) {
		const char *value = rule->args[i].value;
		size_t digits;

		if (strncmp(value, MARKER_PREFIX, strlen(MARKER_PREFIX)) != 0)
			continue;
		value += strlen(MARKER_PREFIX);
		digits = strspn(value, "0123456789");
		value += digits;
		if (digits && (*value == '\0' || strcmp(value, "+") == 0))
			return true;
	}
	return false;
}

/* ---- Words --------------------------------------------------------------*/

static bool
is_bracketed(const struct pam_rule *rule)
{
	return rule->file->text[rule->module.offset] == '[';
}

/*
 * Whether the name cannot go without taking the end of a line along: it is in
 * brackets, and these go over two lines or are never closed.
 */
static bool
holds_line_end(const struct pam_rule *rule)
{
	const char *raw = rule->file->text + rule->module.offset;

	return raw[0] == '[' && (raw[rule->module.length - 1] != ']' ||
				 memchr(raw, '\n', rule->module.length));
}

/* Whether the word can only be written in brackets. */
static bool
needs_brackets(const char *word)
{
	return word[0] == '[' || strpbrk(word, " \t") != NULL;
}

/* "#" and a line end cannot be written at all; "[x\]" would not end. */
static bool
is_writable(const char *word)
{
	size_t length = strlen(word);

	return length > 0 && strpbrk(word, "#\n") == NULL &&
	       word[length - 1] != '\\';
}

static void
put_word(struct buffer *out, const char *word, bool brackets)
{
	if (!brackets && !needs_brackets(word)) {
		buffer_text(out, word);
		return;
	}
	buffer_char(out, '[');
	for (; *word; word++) {
		if (*word == ']')
			buffer_char(out, '\\');
		buffer_char(out, *word);
	}
	buffer_char(out, ']');
}

static size_t
word_length(const char *word)
{
	size_t length = strlen(word) + strlen("[]");

	for (; *word; word++)
		length += *word == ']';
	return length;
}

/* ---- What can be wrapped ------------------------------------------------*/

/*
 * Whether the rule's line still fits into libpam's buffer with another
 * module word and more bytes besides.
 */
static bool
fits(const struct pam_rule *rule, const char *word, size_t more)
{
	return rule->file->libpam_minor >= PAM_MINOR_UNLIMITED ||
	       rule->assembled + word_length(word) + more <= LINE_MOST;
}

static const char *
obstacle(const struct pam_rule *rule)
{
	if (pam_rewrite_is_wrapped(rule))
		return "wrapped already";
	if (rule->escaped)
		return "a comment or blank line inside the continued line";
	if (rule->args_end == 0 || holds_line_end(rule))
		return "nothing can be added to the line";
	return rule->path ? NULL : "its module is missing";
}

static const char *
shim_obstacle(const struct pam_rule *rule, const char *path)
{
	if (!path)
		return "no timing module could be made for it";
	if (!is_writable(path))
		return "the path of its timing module cannot be written";
	if (!fits(rule, path, MARKER_MOST))
		return "the line would be too long for this libpam "
		       "(1000 bytes)";
	return NULL;
}

/* Numbers a rule with marker if it can be wrapped. */
static bool
number_rule(struct pam_rule *rule, unsigned marker, pam_shim_for shim,
	    void *context)
{
	const char *why;

	rule->marker = 0;
	if (rule->type != RULE_MODULE || rule->problem)
		return false;
	why = obstacle(rule);
	if (!why && shim) {
		rule->marker = marker;
		why = shim_obstacle(rule, shim(context, rule));
	}
	rule->marker = why ? 0 : marker;
	if (why && !rule->problem)
		rule->problem = alloc_string(why);
	return !why;
}

struct numbering {
	unsigned last;
	pam_shim_for shim;
	void *context;
	const struct pam_file **done;
	size_t done_count;
};

static bool
is_done(const struct numbering *numbering, const struct pam_file *file)
{
	for (size_t i = 0; i < numbering->done_count; i++)
		if (numbering->done[i] == file)
			return true;
	return false;
}

/* A file's rules in order, what a rule includes in its place. */
static void
number_file(struct numbering *numbering, struct pam_file *file)
{
	if (!file || is_done(numbering, file))
		return;
	numbering->done =
	    alloc_array(numbering->done, numbering->done_count + 1,
			sizeof(*numbering->done));
	numbering->done[numbering->done_count++] = file;
	for (size_t i = 0; i < file->rules_count; i++) {
		struct pam_rule *rule = &file->rules[i];

		number_file(numbering, rule->target);
		if (number_rule(rule, numbering->last + 1, numbering->shim,
				numbering->context))
			numbering->last++;
	}
}

void
pam_rewrite_number(struct pam_stack *stack, pam_shim_for shim, void *context)
{
	pam_rewrite_number_from(stack, 0, shim, context);
}

void
pam_rewrite_number_from(struct pam_stack *stack, unsigned base,
			pam_shim_for shim, void *context)
{
	struct numbering numbering = { .last = base,
				       .shim = shim,
				       .context = context };

	number_file(&numbering, stack->root);
	number_file(&numbering, stack->other);
	free(numbering.done);
}

/* ---- Writing ------------------------------------------------------------*/

static void
copy_until(struct buffer *out, const struct pam_file *file, size_t *at,
	   size_t end)
{
	buffer_bytes(out, file->text + *at, end - *at);
	*at = end;
}

/* Writes word in place of the module or target of the rule. */
static void
replace_module(struct buffer *out, const struct pam_rule *rule, size_t *at,
	       const char *word)
{
	copy_until(out, rule->file, at, rule->module.offset);
	put_word(out, word, is_bracketed(rule));
	*at += rule->module.length;
}

/*
 * The shim sees from "+" that libpam would have passed an argv that is not
 * NULL though there is no argument.
 */
static void
write_wrapped(struct buffer *out, const struct pam_rule *rule, size_t *at,
	      const char *shim)
{
	replace_module(out, rule, at, shim);
	copy_until(out, rule->file, at, rule->args_end);
	buffer_format(out, " " MARKER_PREFIX "%u%s", rule->marker,
		      rule->blank_tail ? "+" : "");
}

static void
write_include(struct buffer *out, const struct pam_rule *rule, size_t *at,
	      const char *target)
{
	if (target && !holds_line_end(rule) && is_writable(target) &&
	    fits(rule, target, 0))
		replace_module(out, rule, at, target);
}

void
pam_rewrite_file(struct buffer *out, const struct pam_file *file,
		 const struct pam_rewrite *rewrite)
{
	size_t at = 0;

	for (size_t i = 0; i < file->rules_count; i++) {
		struct pam_rule *rule = &file->rules[i];
		const char *shim = NULL;

		if (rule->target)
			write_include(out, rule, &at,
				      rewrite->include_for(rewrite->context,
							   rule->target));
		else if (rule->marker && rewrite->shim)
			shim = rewrite->shim(rewrite->context, rule);
		if (shim)
			write_wrapped(out, rule, &at, shim);
	}
	copy_until(out, file, &at, file->size);
}
