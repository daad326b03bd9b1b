/*
 * Follows includes: which files libpam would read for a service, and for
 * which group. Separate from pam_conf.c because here it is decided what must
 * be refused before libpam sees it: a loop or a nameless include ends the
 * process that calls pam_start(3).
 */
#include "pam_reach.h"

#include <stdlib.h>
#include <string.h>

#include "../base/alloc.h"
#include "pam_control.h"
#include "pam_lex.h"
#include "pam_parse.h"
#include "pam_place.h"

#define DEPTH_MOST    16    /* libpam's own limit from 1.6 on */
#define FILES_MOST    1024  /* of one stack */
#define HANDLERS_MOST 65536 /* of one service, every include counted */

/* Which rules of a file are asked for: one group, or all of them. */
#define ANY_GROUP GROUP_COUNT
#define VISITS    (GROUP_COUNT + 1)

/* What is known about a file when it is read for a group. */
struct visit {
	enum {
		VISIT_NEW,
		VISIT_OPEN,
		VISIT_DONE
	} state;
	unsigned height; /* levels of includes below */
	size_t handlers; /* rules it stands for */
};

/* ---- Files --------------------------------------------------------------*/

void
pam_reach_note(struct pam_stack *stack, char *note)
{
	stack->notes = alloc_array(stack->notes, stack->notes_count + 1,
				   sizeof(*stack->notes));
	stack->notes[stack->notes_count++] = note;
}

static void
note_line_ends(struct pam_stack *stack, const struct pam_file *file)
{
	if (memmem(file->text, file->size, "\r\n", 2))
		pam_reach_note(
		    stack,
		    alloc_format("%s has lines that end in CR LF: libpam "
				 "takes the CR as part of the last word",
				 file->path));
}

static void
note_rule(struct pam_stack *stack, const struct pam_rule *rule)
{
	const char *wanted = NULL;

	if (rule->fatal)
		pam_reach_note(stack,
			       alloc_format("%s:%u: %s", rule->file->path,
					    rule->first_line, rule->problem));
	if (rule->type == RULE_MODULE)
		wanted = pam_control_check(rule->control.value);
	if (wanted)
		pam_reach_note(
		    stack,
		    alloc_format("%s:%u: control \"%s\" is wrong (libpam "
				 "expected %s): the module runs, then "
				 "the rule fails",
				 rule->file->path, rule->first_line,
				 rule->control.value, wanted));
	if (rule->file->libpam_minor < PAM_MINOR_UNLIMITED &&
	    rule->assembled >= PAM_OLD_BUFFER)
		pam_reach_note(
		    stack,
		    alloc_format("%s:%u: the line is longer than libpam's "
				 "buffer of 1023 bytes; what does not "
				 "fit is read as a line of its own",
				 rule->file->path, rule->first_line));
}

static void
find_module(const char *root, struct pam_rule *rule)
{
	if (rule->type != RULE_MODULE)
		return;
	rule->path = pam_place_module(root, rule->module.value);
	if (rule->path || rule->problem)
		return;
	if (rule->module.value[0] == '/')
		rule->problem =
		    alloc_format("no module %s", rule->module.value);
	else
		rule->problem =
		    alloc_format("no module %s in %s", rule->module.value,
				 pam_place_module_folders());
}

/* The file of the stack that is the same file, whatever its name. */
static struct pam_file *
find_file(const struct pam_stack *stack, const struct pam_file *file)
{
	struct pam_file *held = stack->files;

	while (held &&
	       (held->device != file->device || held->inode != file->inode))
		held = held->next;
	return held;
}

/*
 * Takes a file that has just been read into the stack, or drops it when it
 * is there already; *held is the one to use.
 */
static int
hold_file(struct pam_reader *reader, struct pam_file *file,
	  struct pam_file **held)
{
	int r;

	*held = find_file(reader->stack, file);
	if (*held) {
		pam_place_free(file);
		return 0;
	}
	if (reader->files_count == FILES_MOST) {
		pam_place_free(file);
		return error_set(reader->error, ERROR_INPUT,
				 "the stack has more than %d files",
				 FILES_MOST);
	}
	*held = *reader->last = file;
	reader->last = &file->next;
	reader->visits = alloc_array(reader->visits, reader->files_count + 1,
				     VISITS * sizeof(*reader->visits));
	memset(&reader->visits[reader->files_count++ * VISITS], 0,
	       VISITS * sizeof(*reader->visits));
	file->libpam_minor = reader->minor;
	r = pam_conf_parse(file, reader->error);
	if (r != 0)
		return r;
	note_line_ends(reader->stack, file);
	for (size_t i = 0; i < file->rules_count; i++) {
		find_module(reader->root, &file->rules[i]);
		note_rule(reader->stack, &file->rules[i]);
	}
	return 0;
}

static struct visit *
find_visit(const struct pam_reader *reader, const struct pam_file *file,
	   unsigned group)
{
	const struct pam_file *held = reader->stack->files;
	size_t i = 0;

	for (; held != file; held = held->next)
		i++;
	return &reader->visits[i * VISITS + group];
}

/* ---- Includes -----------------------------------------------------------*/

static int visit_file(struct pam_reader *reader, struct pam_file *file,
		      unsigned group, unsigned depth);

/* Puts the place of a rule in front of an error. */
static int
at_rule(const struct pam_rule *rule, struct error *error)
{
	char *text;

	if (!error)
		return ERROR_INPUT;
	text = alloc_string(error->text);
	(void)error_set(error, error->code, "%s:%u: %s", rule->file->path,
			rule->first_line, text);
	free(text);
	return error->code;
}

/*
 * Debian's libpam judges the handler that stands for a failed @include by
 * the control of the rule before it when the file is itself included.
 */
static void
set_missing(struct pam_rule *rule, const char *path, unsigned group)
{
	const char *effect = "libpam lets the rule fail";

	if (rule->type == RULE_AT_INCLUDE)
		effect = group == ANY_GROUP ? "pam_start fails"
					    : "what libpam does is undefined";
	rule->problem = alloc_format("no file %s: %s", path, effect);
}

/* Opens the target of an include, once. */
static int
open_target(struct pam_reader *reader, struct pam_rule *rule, unsigned group)
{
	struct pam_file *file;
	char *path;
	int r;

	if (rule->target || rule->problem)
		return 0;
	if (!rule->module.value) {
		(void)error_set(reader->error, ERROR_INPUT,
				"nothing to include is named; libpam would "
				"crash here, so name a file or remove the "
				"line");
		return at_rule(rule, reader->error);
	}
	path = pam_place_include(rule->module.value);
	r = pam_place_read(&file, reader->root, path, reader->error);
	if (r < 0)
		r = at_rule(rule, reader->error);
	else if (r == PAM_PLACE_MISSING)
		set_missing(rule, path, group);
	else
		r = hold_file(reader, file, &rule->target);
	free(path);
	return r < 0 ? r : 0;
}

/* Whether libpam reads on behind a rule's type when it wants one group. */
static bool
is_asked_for(const struct pam_rule *rule, unsigned group)
{
	return group == ANY_GROUP || rule->type == RULE_AT_INCLUDE ||
	       rule->unknown_type || rule->group == group;
}

/* The group for which a rule's target is read. */
static unsigned
target_group(const struct pam_rule *rule, unsigned group)
{
	if (group != ANY_GROUP || rule->type == RULE_AT_INCLUDE)
		return group;
	return rule->group;
}

static int
visit_target(struct pam_reader *reader, struct pam_rule *rule,
	     struct visit *visit, unsigned group, unsigned depth)
{
	const struct visit *below;
	int r;

	r = open_target(reader, rule, group);
	if (r != 0 || !rule->target)
		return r;
	group = target_group(rule, group);
	if (find_visit(reader, rule->target, group)->state == VISIT_OPEN)
		r = error_set(reader->error, ERROR_INPUT,
			      "%s includes itself; libpam would crash here, "
			      "so remove the line",
			      rule->target->path);
	else if (depth == DEPTH_MOST)
		r = error_set(reader->error, ERROR_INPUT,
			      "includes are more than %d deep", DEPTH_MOST);
	if (r != 0)
		return at_rule(rule, reader->error);
	r = visit_file(reader, rule->target, group, depth + 1);
	if (r != 0)
		return r;
	/* Files may have been added: the array may have moved. */
	below = find_visit(reader, rule->target, group);
	visit->handlers += below->handlers;
	if (visit->height < below->height + 1)
		visit->height = below->height + 1;
	return 0;
}

static int
check_size(const struct pam_file *file, const struct visit *visit,
	   unsigned depth, struct error *error)
{
	if (depth + visit->height > DEPTH_MOST)
		return error_set(error, ERROR_INPUT,
				 "%s: includes are more than %d deep",
				 file->path, DEPTH_MOST);
	if (visit->handlers > HANDLERS_MOST)
		return error_set(error, ERROR_INPUT,
				 "%s stands for more than %d rules", file->path,
				 HANDLERS_MOST);
	return 0;
}

static bool
is_include(const struct pam_rule *rule)
{
	return rule->type == RULE_INCLUDE || rule->type == RULE_SUBSTACK ||
	       rule->type == RULE_AT_INCLUDE;
}

/*
 * A handler without a name, met while an include is read, is left half made
 * by libpam 1.5, which follows the wild pointer in it later.
 */
static int
check_fatal(const struct pam_rule *rule, unsigned group, struct error *error)
{
	if (group == ANY_GROUP || !rule->module.value)
		return 0;
	(void)error_set(error, ERROR_INPUT,
			"%s; libpam may crash here, so correct the name or "
			"remove the line",
			rule->problem);
	return at_rule(rule, error);
}

/*
 * Follows what libpam would load from a file for a group. A file is gone
 * through once per group, so that a few lines cannot cost hours.
 */
static int
visit_file(struct pam_reader *reader, struct pam_file *file, unsigned group,
	   unsigned depth)
{
	struct visit visit = *find_visit(reader, file, group);
	int r = 0;

	if (visit.state == VISIT_DONE)
		return check_size(file, &visit, depth, reader->error);
	find_visit(reader, file, group)->state = VISIT_OPEN;
	for (size_t i = 0; i < file->rules_count && r == 0; i++) {
		struct pam_rule *rule = &file->rules[i];

		if (!is_asked_for(rule, group))
			continue;
		if (rule->fatal) {
			r = check_fatal(rule, group, reader->error);
			break;
		}
		if (is_include(rule))
			r = visit_target(reader, rule, &visit, group, depth);
		else
			visit.handlers++;
		if (r == 0)
			r = check_size(file, &visit, depth, reader->error);
	}
	visit.state = VISIT_DONE;
	*find_visit(reader, file, group) = visit;
	return r;
}

int
pam_reach(struct pam_reader *reader, struct pam_file *file,
	  struct pam_file **held)
{
	int r;

	if (!reader->last)
		reader->last = &reader->stack->files;
	r = hold_file(reader, file, held);
	return r != 0 ? r : visit_file(reader, *held, ANY_GROUP, 0);
}
