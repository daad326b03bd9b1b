/*
 * libFuzzer: any text is parsed for both grammars of libpam, rewritten, and
 * parsed again. Words must lie inside the text; every byte that is neither a
 * wrapped module, nor an include's target, nor a marker must come out as it
 * went in; and the second reading must give the same rules.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../pamprof/base/alloc.h"
#include "../../pamprof/source/pam_lex.h"
#include "../../pamprof/source/pam_parse.h"
#include "../../pamprof/source/pam_place.h"
#include "../../pamprof/source/pam_rewrite.h"

#define REQUIRE(condition)                                                     \
	do {                                                                   \
		if (!(condition))                                              \
			abort();                                               \
	} while (0)

/* Both need brackets and an escape to be written. */
#define SHIM   "/shims of/1/pam_x.so"
#define TARGET "/copies/common]auth"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct pam_file target = { .path = (char *)TARGET };

static struct pam_file *
parse(const char *text, size_t size, unsigned minor)
{
	struct pam_file *file = alloc_zero(1, sizeof(*file));
	struct error error;

	file->path = alloc_string("input");
	file->text = alloc_bytes(text, size);
	file->size = size;
	file->libpam_minor = minor;
	if (pam_conf_parse(file, &error) == 0)
		return file;
	pam_place_free(file);
	return NULL;
}

/* Stands for pam_conf_read(): everything named exists. */
static void
complete(struct pam_file *file)
{
	for (size_t i = 0; i < file->rules_count; i++) {
		struct pam_rule *rule = &file->rules[i];

		if (rule->type == RULE_MODULE)
			rule->path = alloc_string("/real/pam_x.so");
		else if (rule->type != RULE_BROKEN && rule->module.value)
			rule->target = &target;
	}
}

static const char *
shim_for(void *context, struct pam_rule *rule)
{
	(void)context;
	(void)rule;
	return SHIM;
}

static const char *
include_for(void *context, const struct pam_file *file)
{
	(void)context;
	return file->path;
}

static void
rewrite(struct buffer *out, struct pam_file *file)
{
	const struct pam_rewrite how = { shim_for, include_for, NULL };
	struct pam_stack stack = { .root = file };

	complete(file);
	pam_rewrite_number(&stack, shim_for, NULL);
	pam_rewrite_file(out, file, &how);
}

/* ---- Words --------------------------------------------------------------*/

/* The word lies behind the last one, and is what is written there. */
static void
check_word(const struct pam_file *file, const struct pam_word *word, size_t *at)
{
	const char *raw = file->text + word->offset;

	if (!word->value)
		return;
	REQUIRE(word->offset >= *at && word->length > 0);
	REQUIRE(word->offset + word->length <= file->size);
	*at = word->offset + word->length;
	if (raw[0] != '[') {
		REQUIRE(strlen(word->value) == word->length);
		REQUIRE(memcmp(word->value, raw, word->length) == 0);
	} else {
		REQUIRE(strlen(word->value) < word->length);
	}
}

static void
check_words(const struct pam_file *file)
{
	size_t at = 0;
	unsigned line = 1;

	for (size_t i = 0; i < file->rules_count; i++) {
		const struct pam_rule *rule = &file->rules[i];

		REQUIRE(rule->first_line >= line);
		REQUIRE(rule->last_line >= rule->first_line);
		line = rule->last_line;
		check_word(file, &rule->type_word, &at);
		check_word(file, &rule->control, &at);
		check_word(file, &rule->module, &at);
		for (size_t j = 0; j < rule->args_count; j++)
			check_word(file, &rule->args[j], &at);
		REQUIRE(rule->args_end <= file->size);
		REQUIRE(rule->type != RULE_BROKEN || rule->problem);
	}
}

/* ---- Bytes --------------------------------------------------------------*/

struct walk {
	const char *in, *out;
	size_t in_at, out_at;
};

/* Up to here the output repeats the input. */
static void
same_until(struct walk *walk, size_t end)
{
	size_t length = end - walk->in_at;

	REQUIRE(end >= walk->in_at);
	REQUIRE(memcmp(walk->in + walk->in_at, walk->out + walk->out_at,
		       length) == 0);
	walk->in_at = end;
	walk->out_at += length;
}

static void
added(struct walk *walk, const char *text)
{
	REQUIRE(strncmp(walk->out + walk->out_at, text, strlen(text)) == 0);
	walk->out_at += strlen(text);
}

/* Whether the target is still there, with the byte or the end behind it. */
static bool
is_kept(const struct walk *walk, const struct pam_rule *rule)
{
	return strncmp(walk->in + walk->in_at, walk->out + walk->out_at,
		       rule->module.length + 1) == 0;
}

static void
check_rule_bytes(struct walk *walk, const struct pam_rule *rule)
{
	char marker[32];

	if (rule->marker) {
		same_until(walk, rule->module.offset);
		added(walk, "[" SHIM "]");
		walk->in_at += rule->module.length;
		same_until(walk, rule->args_end);
		(void)snprintf(marker, sizeof(marker), " pamprof=%u%s",
			       rule->marker, rule->blank_tail ? "+" : "");
		added(walk, marker);
	} else if (rule->target) {
		same_until(walk, rule->module.offset);
		/* Old lines that are too long keep their target. */
		if (is_kept(walk, rule))
			return;
		added(walk, rule->file->text[rule->module.offset] == '['
				? "[/copies/common\\]auth]"
				: TARGET);
		walk->in_at += rule->module.length;
	}
}

static void
check_bytes(const struct pam_file *file, const struct buffer *out)
{
	struct walk walk = { .in = file->text, .out = out->data };

	for (size_t i = 0; i < file->rules_count; i++)
		check_rule_bytes(&walk, &file->rules[i]);
	same_until(&walk, file->size);
	REQUIRE(walk.out_at == out->length);
}

/* ---- Rules --------------------------------------------------------------*/

static bool
same_value(const struct pam_word *a, const struct pam_word *b)
{
	if (!a->value || !b->value)
		return a->value == b->value;
	return strcmp(a->value, b->value) == 0;
}

/* b is what a has become. */
static void
check_rule(const struct pam_rule *a, const struct pam_rule *b)
{
	REQUIRE(a->type == b->type && a->group == b->group);
	REQUIRE(a->silent == b->silent && a->unknown_type == b->unknown_type);
	REQUIRE(a->fatal == b->fatal && a->escaped == b->escaped);
	REQUIRE(same_value(&a->type_word, &b->type_word));
	REQUIRE(same_value(&a->control, &b->control));
	REQUIRE(b->args_count == a->args_count + (a->marker != 0));
	for (size_t i = 0; i < a->args_count; i++)
		REQUIRE(same_value(&a->args[i], &b->args[i]));
	if (a->marker) {
		REQUIRE(pam_rewrite_is_wrapped(b));
		REQUIRE(!pam_rewrite_is_wrapped(a));
		REQUIRE(strcmp(b->module.value, SHIM) == 0);
		REQUIRE(b->file->libpam_minor >= PAM_MINOR_UNLIMITED ||
			b->assembled <= 1000);
	} else if (!a->target || strcmp(b->module.value, TARGET) != 0) {
		REQUIRE(same_value(&a->module, &b->module));
	}
}

static void
check_again(const struct pam_file *file, const struct buffer *out)
{
	struct pam_file *again =
	    parse(out->data, out->length, file->libpam_minor);
	struct buffer twice = { 0 };

	REQUIRE(again && again->rules_count == file->rules_count);
	for (size_t i = 0; i < file->rules_count; i++)
		check_rule(&file->rules[i], &again->rules[i]);
	rewrite(&twice, again);
	REQUIRE(twice.length == out->length);
	REQUIRE(memcmp(twice.data, out->data, out->length) == 0);
	buffer_free(&twice);
	pam_place_free(again);
}

static void
check(const char *text, size_t size, unsigned minor)
{
	struct pam_file *file = parse(text, size, minor);
	struct buffer out = { 0 };

	if (!file)
		return;
	check_words(file);
	rewrite(&out, file);
	if (out.data) {
		check_bytes(file, &out);
		check_again(file, &out);
	}
	buffer_free(&out);
	pam_place_free(file);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Such a file is refused before it is parsed. */
	if (size && memchr(data, '\0', size))
		return 0;
	check((const char *)data, size, PAM_MINOR_UNLIMITED - 1);
	check((const char *)data, size, PAM_MINOR_UNLIMITED);
	return 0;
}
