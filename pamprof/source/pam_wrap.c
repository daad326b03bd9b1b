/*
 * Puts parser, shim maker and rewriter together: from a stack on the machine
 * to a private copy that is measured. Apart from them so that each can be
 * used, and tested, alone.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/alloc.h"
#include "pam_rewrite.h"
#include "pam_shim.h"
#include "pam_wrap.h"

/* Where each file's copy goes; parallel to stack->files. */
struct copy {
	const struct pam_file *file;
	char *path;
};

struct wrapping {
	struct pam_stack *stack;
	struct copy *copies;
	size_t copies_count;
	struct shim_folder *shims; /* NULL: nothing is wrapped */
};

static const char *
shim_for(void *context, struct pam_rule *rule)
{
	struct wrapping *wrapping = context;

	if (wrapping->shims == NULL)
		return NULL;
	return shim_folder_shim(wrapping->shims, rule);
}

static const char *
include_for(void *context, const struct pam_file *file)
{
	const struct wrapping *wrapping = context;

	for (size_t i = 0; i < wrapping->copies_count; i++) {
		if (wrapping->copies[i].file == file)
			return wrapping->copies[i].path;
	}
	return NULL;
}

/* Gives every file of the stack a place below dir. */
static void
plan_copies(struct wrapping *wrapping, const char *dir, const char *service)
{
	const struct pam_stack *stack = wrapping->stack;
	size_t count = 0;

	for (const struct pam_file *f = stack->files; f != NULL; f = f->next)
		count++;
	wrapping->copies = alloc_zero(count, sizeof(struct copy));
	for (const struct pam_file *f = stack->files; f != NULL; f = f->next) {
		size_t i = wrapping->copies_count++;
		const char *slash = strrchr(f->path, '/');
		char *path;

		if (f == stack->root)
			path = alloc_format("%s/pam.d/%s", dir, service);
		else if (f == stack->other)
			path = alloc_format("%s/pam.d/other", dir);
		else
			path =
			    alloc_format("%s/include/%zu-%s", dir, i,
					 slash != NULL ? slash + 1 : f->path);
		wrapping->copies[i].file = f;
		wrapping->copies[i].path = path;
	}
}

static int
make_folder(const char *dir, const char *name, struct error *error)
{
	char *path = alloc_format("%s/%s", dir, name);
	int r = 0;

	if (mkdir(path, 0755) != 0)
		r = error_errno(error, "%s: cannot be made", path);
	free(path);
	return r;
}

static int
write_copy(const struct copy *copy, const struct pam_rewrite *rewrite,
	   struct error *error)
{
	struct buffer text = { 0 };
	FILE *out = fopen(copy->path, "wxe");
	int r = 0;

	if (out == NULL)
		return error_errno(error, "%s: cannot be made", copy->path);
	pam_rewrite_file(&text, copy->file, rewrite);
	if (text.length > 0)
		fwrite(text.data, 1, text.length, out);
	if (ferror(out) || fchmod(fileno(out), 0644) != 0)
		r = error_errno(error, "%s: cannot be written", copy->path);
	if (fclose(out) != 0 && r == 0)
		r = error_errno(error, "%s: cannot be written", copy->path);
	buffer_free(&text);
	return r;
}

/* What is made on disk: folders, the shims' templates, the copies. */
static int
write_all(struct wrapping *wrapping, const char *dir, const char *ring,
	  struct error *error)
{
	const struct pam_rewrite rewrite = { .shim = shim_for,
					     .include_for = include_for,
					     .context = wrapping };
	char *shims = alloc_format("%s/shims", dir);
	int r;

	if ((r = make_folder(dir, "pam.d", error)) != 0 ||
	    (r = make_folder(dir, "include", error)) != 0 ||
	    (r = make_folder(dir, "shims", error)) != 0)
		goto out;
	if (ring != NULL &&
	    (r = shim_folder_new(&wrapping->shims, shims, ring, error)) != 0)
		goto out;
	pam_rewrite_number(wrapping->stack, shim_for, wrapping);
	for (size_t i = 0; i < wrapping->copies_count && r == 0; i++)
		r = write_copy(&wrapping->copies[i], &rewrite, error);
out:
	free(shims);
	return r;
}

/* The rule's raw control text, as the file has it. */
static char *
raw_text(const struct pam_rule *rule, const struct pam_word *word)
{
	return alloc_bytes(rule->file->text + word->offset, word->length);
}

static void
add_rule(struct rule_map *map, const struct pam_rule *rule, unsigned depth)
{
	const char **args = alloc_zero(rule->args_count + 1, sizeof(*args));
	struct map_rule *to;

	map->rules =
	    alloc_array(map->rules, map->rules_count + 1, sizeof(*map->rules));
	to = &map->rules[map->rules_count++];
	for (size_t i = 0; i < rule->args_count; i++)
		args[i] = rule->args[i].value;
	*to = (struct map_rule){
		.marker = rule->marker,
		.arguments_hash = rule_map_hash(args, rule->args_count),
		.group = alloc_string(pam_group_name(rule->group)),
		.file = alloc_string(rule->file->path),
		.control = raw_text(rule, &rule->control),
		.module = alloc_string(
		    rule->module.value != NULL ? rule->module.value : ""),
		.path = alloc_string(rule->path != NULL ? rule->path : ""),
		.args = rule_map_mask(args, rule->args_count),
		.problem = alloc_string(rule->problem),
		.line = rule->first_line,
		.last_line = rule->last_line,
		.depth = depth
	};
	free(args);
}

/* Whether the map holds the rule already: a file may be included twice. */
static bool
has_rule(const struct rule_map *map, const struct pam_rule *rule)
{
	for (size_t i = 0; i < map->rules_count; i++) {
		if (map->rules[i].line == rule->first_line &&
		    strcmp(map->rules[i].file, rule->file->path) == 0)
			return true;
	}
	return false;
}

/* The rules of one file, of one group only when it is not GROUP_COUNT. */
static void
add_file(struct rule_map *map, const struct pam_file *file, enum pam_group only,
	 unsigned depth)
{
	for (size_t i = 0; i < file->rules_count && depth <= 16; i++) {
		const struct pam_rule *rule = &file->rules[i];

		if (rule->type == RULE_AT_INCLUDE && rule->target != NULL)
			add_file(map, rule->target, only, depth + 1);
		else if (only != GROUP_COUNT && rule->group != only)
			continue;
		else if (rule->target != NULL)
			add_file(map, rule->target, rule->group, depth + 1);
		else if (!has_rule(map, rule))
			add_rule(map, rule, depth);
	}
}

static bool
has_group(const struct rule_map *map, enum pam_group group)
{
	for (size_t i = 0; i < map->rules_count; i++) {
		if (strcmp(map->rules[i].group, pam_group_name(group)) == 0)
			return true;
	}
	return false;
}

struct rule_map *
pam_wrap_map(const struct pam_stack *stack)
{
	struct rule_map *map = alloc_zero(1, sizeof(*map));

	map->service = alloc_string(stack->service);
	add_file(map, stack->root, GROUP_COUNT, 0);
	/* libpam takes "other" for the groups the service has no rule of. */
	for (int g = 0; g < GROUP_COUNT && stack->other != NULL; g++) {
		if (!has_group(map, (enum pam_group)g))
			add_file(map, stack->other, (enum pam_group)g, 0);
	}
	map->notes = alloc_zero(stack->notes_count + 1, sizeof(*map->notes));
	map->notes_count = stack->notes_count;
	for (size_t i = 0; i < stack->notes_count; i++)
		map->notes[i] = alloc_string(stack->notes[i]);
	return map;
}

static void
wrapping_free(struct wrapping *wrapping)
{
	for (size_t i = 0; i < wrapping->copies_count; i++)
		free(wrapping->copies[i].path);
	free(wrapping->copies);
	shim_folder_free(wrapping->shims);
}

/* The name under which libpam will find the copy: as it lowers it. */
static char *
service_name(const struct pam_stack *stack)
{
	const char *slash = strrchr(stack->service, '/');
	char *name = alloc_string(slash != NULL ? slash + 1 : stack->service);

	for (char *c = name; *c != '\0'; c++) {
		if (*c >= 'A' && *c <= 'Z')
			*c += 'a' - 'A';
	}
	return name;
}

int
pam_wrap_stack(struct pam_wrap **wrap, struct pam_stack *stack, const char *dir,
	       const char *ring_path, struct error *error)
{
	struct wrapping wrapping = { .stack = stack };
	struct pam_wrap *new = alloc_zero(1, sizeof(*new));
	int r;

	*wrap = NULL;
	new->service = service_name(stack);
	new->confdir = alloc_format("%s/pam.d", dir);
	plan_copies(&wrapping, dir, new->service);
	r = write_all(&wrapping, dir, ring_path, error);
	if (r == 0) {
		new->map = pam_wrap_map(stack);
		for (size_t i = 0; i < new->map->rules_count; i++) {
			if (new->map->rules[i].marker != 0)
				new->wrapped++;
			else
				new->unwrapped++;
		}
		*wrap = new;
	} else {
		pam_wrap_free(new);
	}
	wrapping_free(&wrapping);
	return r;
}

void
pam_wrap_free(struct pam_wrap *wrap)
{
	if (wrap == NULL)
		return;
	rule_map_free(wrap->map);
	free(wrap->confdir);
	free(wrap->service);
	free(wrap);
}
