/*
 * The proof, read and driven. Apart from instrument.c, which only may switch
 * what has passed here.
 */
#include "prove.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../modules/trial.h"
#include "../base/alloc.h"
#include "../base/child.h"
#include "../base/places.h"
#include "atomic.h"
#include "confine.h"
#include "copies.h"
#include "layout.h"

#define RULES_MOST   20000 /* expanded; more is no stack of a person's */
#define LOAD_SECONDS 20

/* Every rule of a stack in libpam's order, includes in their place. */
struct flat {
	struct pam_rule **rules;
	size_t count;
};

static void
flatten(struct flat *flat, struct pam_file *file)
{
	for (size_t i = 0; i < file->rules_count; i++) {
		if (flat->count >= RULES_MOST)
			return;
		flat->rules = alloc_array(flat->rules, flat->count + 1,
					  sizeof(*flat->rules));
		flat->rules[flat->count++] = &file->rules[i];
		if (file->rules[i].target != NULL)
			flatten(flat, file->rules[i].target);
	}
}

static bool
same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* Whether all arguments agree, the new one's marker apart. */
static bool
same_arguments(const struct pam_rule *old, const struct pam_rule *new)
{
	char marker[40];
	size_t count = old->args_count;

	if (new->args_count != count + (old->marker != 0))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!same_text(old->args[i].value, new->args[i].value))
			return false;
	(void)snprintf(marker, sizeof(marker), MARKER_PREFIX "%u%s",
		       old->marker, old->blank_tail ? "+" : "");
	return old->marker == 0 || same_text(new->args[count].value, marker);
}

static bool
same_module(const struct pam_rule *old, const struct pam_rule *new)
{
	if (old->type != RULE_MODULE)
		return (old->target == NULL) == (new->target == NULL);
	if (old->marker == 0)
		return same_text(old->module.value, new->module.value);
	return new->path !=
	       NULL &&same_text(base_name(old->path), base_name(new->path));
}

static bool
same_rule(const struct pam_rule *old, const struct pam_rule *new)
{
	return old->type == new->type && old->group == new->group &&
	       old->silent == new->silent && old->fatal == new->fatal &&
	       old->unknown_type ==
		   new->unknown_type &&same_text(old->control.value,
						 new->control.value) &&
	       same_module(old, new) &&
	       (old->type != RULE_MODULE || same_arguments(old, new));
}

static int
compare_flat(const struct flat *old, const struct flat *new,
	     struct error *error)
{
	if (old->count != new->count)
		return error_set(error, ERROR_INPUT,
				 "read back, the new stack has %zu rules "
				 "instead of %zu",
				 new->count, old->count);
	for (size_t i = 0; i < old->count; i++)
		if (!same_rule(old->rules[i], new->rules[i]))
			return error_set(error, ERROR_INPUT,
					 "read back, the rule of %s:%u is "
					 "another one",
					 old->rules[i]->file->path,
					 old->rules[i]->first_line);
	return 0;
}

/* ---- With stubs ----------------------------------------------------------*/

static const char *
stub_for(void *context, struct pam_rule *rule)
{
	(void)rule;
	return context;
}

/*
 * Markers for the trial: that of the rule, or one of those that say "left
 * alone", in both stacks. False when a present module cannot be replaced.
 */
static bool
mark(const struct flat *old, const struct flat *new, unsigned base)
{
	bool whole = true;

	for (size_t i = 0; i < old->count; i++) {
		struct pam_rule *a = old->rules[i], *b = new->rules[i];

		b->marker = a->marker;
		if (a->marker != 0 || a->type != RULE_MODULE || a->path == NULL)
			continue;
		if (a->args_end == 0 || a->escaped)
			whole = false;
		else
			a->marker = b->marker = base + TRIAL_LEFT;
	}
	return whole;
}

/* Takes back the markers that only the trial needs. */
static void
unmark(const struct flat *old, unsigned base)
{
	for (size_t i = 0; i < old->count; i++)
		if (old->rules[i]->marker >= base + TRIAL_LEFT)
			old->rules[i]->marker = 0;
}

/* Writes one stack into dir, which it makes, as the service at root. */
static int
write_stack(const struct pam_stack *stack, const char *dir, const char *root,
	    struct error *error)
{
	char *stub = alloc_format("%s/pam_trial.so", install_path_modules());
	struct copies *copies = NULL;
	int r = atomic_folder(dir, error);

	if (r == 0) {
		copies = copies_plan(stack, dir, root, stub_for, stub);
		r = copies_write(copies, error);
	}
	copies_free(copies);
	free(stub);
	return r;
}

/*
 * The service "other", which libpam takes for the groups that a service has
 * no rule of. It is left alone, so all its rules are.
 */
static int
read_other(struct pam_stack **other, struct flat *flat, struct error *error)
{
	const struct pam_conf_place place = { .service = "other" };
	int r = 0;

	*other = NULL;
	if (access(PRODUCTION_PAM "/other", F_OK) != 0)
		return 0;
	r = pam_conf_read(other, &place, error);
	if (r == 0)
		flatten(flat, (*other)->root);
	return r;
}

static int
write_trial(const struct proof *proof, const struct pam_stack *stack,
	    const char *name, struct error *error)
{
	char *dir = alloc_format("%s/trial/%s", proof->folder, name);
	char *root = alloc_format("%s/%s", dir, proof->service);
	char *sub = alloc_format("%s/other.d", dir);
	char *other_root = alloc_format("%s/other", dir);
	struct pam_stack *other = NULL;
	struct flat flat = { 0 };
	int r = write_stack(stack, dir, root, error);

	if (r == 0 && strcmp(proof->service, "other") != 0)
		r = read_other(&other, &flat, error);
	if (other != NULL && !mark(&flat, &flat, proof->base))
		r = error_set(error, ERROR_INPUT,
			      "the service \"other\" has a rule that cannot "
			      "be given a stub");
	if (r == 0 && other != NULL)
		r = write_stack(other, sub, other_root, error);
	free(flat.rules);
	pam_conf_free(other);
	free(other_root);
	free(sub);
	free(root);
	free(dir);
	return r;
}

static int
drive_trial(const struct proof *proof, const struct drive_hidden *hidden,
	    struct error *error)
{
	char *old_dir = alloc_format("%s/trial/old", proof->folder);
	char *new_dir = alloc_format("%s/trial/new", proof->folder);
	const struct drive_stack old = { old_dir, proof->service, proof->base };
	const struct drive_stack new = { hidden == NULL ? new_dir : NULL,
					 proof->service, proof->base };
	int r = drive_compare(&old, &new, hidden, DRIVE_VECTORS, error);

	free(old_dir);
	free(new_dir);
	return r;
}

static int
try_both(const struct proof *proof, const struct pam_stack *new,
	 struct error *error)
{
	char *dir = alloc_format("%s/trial", proof->folder);
	int r = atomic_folder(dir, error);

	if (r == 0)
		r = write_trial(proof, proof->old, "old", error);
	if (r == 0)
		r = write_trial(proof, new, "new", error);
	if (r == 0)
		r = drive_trial(proof, NULL, error);
	free(dir);
	return r;
}

static int
become_sshd(void *context)
{
	int null = open("/dev/null", O_RDWR);

	(void)context;
	(void)dup2(null, 0);
	(void)dup2(null, 1);
	(void)dup2(null, 2);
	(void)execl("/usr/sbin/sshd", "sshd", "-t", (char *)NULL);
	return 127;
}

/* Whether sshd -t finds no fault; true for every other service. */
static bool
ask_sshd(const struct proof *proof)
{
	struct child child;
	struct child_end end = { 0 };

	if (strcmp(proof->service, "sshd") != 0 ||
	    access("/usr/sbin/sshd", X_OK) != 0)
		return true;
	return child_start(&child, CHILD_OWN_GROUP, become_sshd, NULL, NULL) ==
		   0 &&
	       child_wait(&child, LOAD_SECONDS * 1000000000ull, &end, NULL) ==
		   0 &&
	       end.how == CHILD_EXITED && end.value == 0;
}

int
prove_before(struct proof *proof, struct error *error)
{
	const struct pam_conf_place place = { .service = proof->service,
					      .stack_file = proof->installed };
	struct pam_stack *new = NULL;
	struct flat a = { 0 }, b = { 0 };
	int r = pam_conf_read(&new, &place, error);

	if (r == 0) {
		flatten(&a, proof->old->root);
		flatten(&b, new->root);
		r = compare_flat(&a, &b, error);
	}
	if (r == 0 && mark(&a, &b, proof->base))
		r = try_both(proof, new, error);
	else if (r == 0)
		buffer_text(proof->unproven,
			    "verdicts: a rule of this stack cannot be given a "
			    "stub, so it was compared by reading only\n");
	unmark(&a, proof->base);
	proof->sshd_agreed = ask_sshd(proof);
	free(a.rules);
	free(b.rules);
	pam_conf_free(new);
	return r;
}

int
prove_done(const struct proof *proof, struct error *error)
{
	char *dir = alloc_format("%s/trial", proof->folder);
	int r = atomic_remove(dir, error);

	free(dir);
	return r;
}

/* ---- Shims ---------------------------------------------------------------*/

struct load {
	const struct proof *proof;
	int out;
};

static int
say(const struct load *load, const char *text)
{
	return write(load->out, text, strlen(text)) < 0 ? 2 : 1;
}

/* In the child. */
static int
load_all(void *context)
{
	const struct load *load = context;
	char *why = NULL;

	if (!confine_self(load->proof->service, &why))
		return say(load, why);
	for (size_t i = 0; i < load->proof->shims_count; i++)
		if (dlopen(load->proof->shims[i], RTLD_NOW) == NULL)
			return say(load, dlerror());
	return 0;
}

int
prove_shims(const struct proof *proof, struct error *error)
{
	struct load load = { .proof = proof };
	struct child child;
	struct child_end end = { 0 };
	char why[512];
	ssize_t length;
	int pipes[2], r;

	if (pipe2(pipes, O_CLOEXEC | O_NONBLOCK) != 0)
		return error_errno(error, "pipe");
	load.out = pipes[1];
	r = child_start(&child, CHILD_OWN_GROUP, load_all, &load, error);
	if (r == 0)
		r = child_wait(&child, LOAD_SECONDS * 1000000000ull, &end,
			       error);
	length = read(pipes[0], why, sizeof(why) - 1);
	why[length > 0 ? length : 0] = '\0';
	(void)close(pipes[0]);
	(void)close(pipes[1]);
	if (r == 0 && (end.how != CHILD_EXITED || end.value != 0))
		r = error_set(error, ERROR_INPUT,
			      "a timing module cannot be loaded in a fresh "
			      "process: %s",
			      length > 0 ? why : "the process ended");
	return r;
}

/* ---- In place ------------------------------------------------------------*/

/* The stub covers the shims and whatever rules were left alone. */
static void
add_left(struct drive_hidden *hidden, const struct flat *flat)
{
	for (size_t i = 0; i < flat->count; i++) {
		const struct pam_rule *rule = flat->rules[i];
		bool known = rule->marker != 0 || rule->path == NULL ||
			     rule->type != RULE_MODULE;

		for (size_t j = 0; !known && j < hidden->count; j++)
			known = strcmp(hidden->paths[j], rule->path) == 0;
		if (known)
			continue;
		hidden->paths = alloc_array(hidden->paths, hidden->count + 1,
					    sizeof(*hidden->paths));
		hidden->paths[hidden->count++] = rule->path;
	}
}

int
prove_after(const struct proof *proof, struct error *error)
{
	char *trial = alloc_format("%s/trial", proof->folder);
	struct drive_hidden hidden = { 0 };
	struct flat flat = { 0 };
	struct error why = { 0 };
	struct pam_stack *other = NULL;
	int r = read_other(&other, &flat, error);

	if (r != 0)
		goto out;
	r = DRIVE_UNPROVEN;
	flatten(&flat, proof->old->root);
	for (size_t i = 0; i < proof->shims_count; i++) {
		hidden.paths = alloc_array(hidden.paths, hidden.count + 1,
					   sizeof(*hidden.paths));
		hidden.paths[hidden.count++] = proof->shims[i];
	}
	add_left(&hidden, &flat);
	/* In an image "/" may be no mount of its own: leave the host's be. */
	if (access(trial, F_OK) == 0 && !layout_is_image())
		r = drive_trial(proof, &hidden, &why);
	if (r == DRIVE_UNPROVEN) {
		buffer_format(proof->unproven,
			      "the file in place was not driven%s%s\n",
			      why.text[0] ? ": " : "", why.text);
		r = 0;
	} else if (r != 0) {
		r = error_set(error, r, "in place, %s", why.text);
	}
	if (!proof->sshd_agreed)
		buffer_text(proof->unproven,
			    "sshd -t, which found fault with sshd's own "
			    "configuration before anything was changed\n");
	else if (r == 0 && !ask_sshd(proof))
		r = error_set(error, ERROR_INPUT,
			      "sshd -t finds fault since the switch");
out:
	free(hidden.paths);
	free(flat.rules);
	pam_conf_free(other);
	free(trial);
	return r;
}
