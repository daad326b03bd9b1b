/*
 * Copies of a stack. Apart because three are made of each: the one that goes
 * into production, and the old and the new one with stub modules.
 */
#include "copies.h"

#include <stdlib.h>
#include <string.h>

#include "../base/alloc.h"
#include "atomic.h"

struct copy {
	const struct pam_file *file;
	char *path;
};

struct copies {
	struct copy *copy;
	size_t count;
	pam_shim_for shim;
	void *context;
};

static const char *
path_of(void *context, const struct pam_file *file)
{
	const struct copies *copies = context;

	for (size_t i = 0; i < copies->count; i++)
		if (copies->copy[i].file == file)
			return copies->copy[i].path;
	return NULL;
}

/* Plans a file and, once each, what it reaches. */
static void
plan(struct copies *copies, const struct pam_file *file, const char *dir,
     const char *path)
{
	const char *slash = strrchr(file->path, '/');

	copies->copy =
	    alloc_array(copies->copy, copies->count + 1, sizeof(*copies->copy));
	copies->copy[copies->count].file = file;
	copies->copy[copies->count].path =
	    path != NULL ? alloc_string(path)
			 : alloc_format("%s/%zu-%s", dir, copies->count,
					slash ? slash + 1 : file->path);
	copies->count++;
	for (size_t i = 0; i < file->rules_count; i++) {
		const struct pam_file *target = file->rules[i].target;

		if (target != NULL && path_of(copies, target) == NULL)
			plan(copies, target, dir, NULL);
	}
}

struct copies *
copies_plan(const struct pam_stack *stack, const char *dir,
	    const char *root_path, pam_shim_for shim, void *context)
{
	struct copies *copies = alloc_zero(1, sizeof(*copies));

	copies->shim = shim;
	copies->context = context;
	plan(copies, stack->root, dir, root_path);
	return copies;
}

void
copies_free(struct copies *copies)
{
	if (copies == NULL)
		return;
	for (size_t i = 0; i < copies->count; i++)
		free(copies->copy[i].path);
	free(copies->copy);
	free(copies);
}

static const char *
shim_of(void *context, struct pam_rule *rule)
{
	const struct copies *copies = context;

	return copies->shim(copies->context, rule);
}

static void
rewrite(const struct copies *copies, const struct pam_file *file,
	struct buffer *text)
{
	const struct pam_rewrite how = { shim_of, path_of, (void *)copies };

	pam_rewrite_file(text, file, &how);
}

int
copies_write(const struct copies *copies, struct error *error)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < copies->count; i++) {
		struct buffer text = { 0 };

		rewrite(copies, copies->copy[i].file, &text);
		r = atomic_write(copies->copy[i].path, 0644, &text, error);
		buffer_free(&text);
	}
	return r;
}

void
copies_each(const struct copies *copies, copy_taker take, void *context)
{
	for (size_t i = 0; i < copies->count; i++) {
		struct buffer text = { 0 };

		rewrite(copies, copies->copy[i].file, &text);
		take(context, copies->copy[i].file, copies->copy[i].path,
		     &text);
		buffer_free(&text);
	}
}
