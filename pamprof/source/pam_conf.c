/*
 * Reads a whole stack: the service and "other", each with every file it
 * reaches. Separate from the rest because it is the door: what a caller asks
 * for is turned into the names libpam would use, or refused.
 */
#include "pam_conf.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "../base/alloc.h"
#include "pam_parse.h"
#include "pam_place.h"
#include "pam_reach.h"

bool
pam_conf_is_service(const char *name)
{
	static const char *const leavings[] = {
		".*",       "*~",        "#*",         "*.bak",   "*.old",
		"*.orig",   "*.save",    "*.swp",      "*.tmp",   "*.dpkg-*",
		"*.rpm*",   "*.pam-old", "*.ucf-*",    "*.in",    "*.template",
		"*.sample", "*.example", "*.disabled", "README*", NULL
	};

	for (const char *const *pattern = leavings; *pattern; pattern++)
		if (fnmatch(*pattern, name, 0) == 0)
			return false;
	return name[0] != '\0' && strchr(name, '/') == NULL;
}

unsigned
pam_conf_libpam_minor(void)
{
	static unsigned minor;

	if (minor == 0)
		minor = pam_place_libpam_minor(NULL);
	return minor;
}

/* The name as pam_start(3) takes it: in small letters. */
static int
set_service(struct pam_stack *stack, const struct pam_conf_place *place,
	    struct error *error)
{
	const char *name = place->service;

	if (!name && place->stack_file) {
		name = strrchr(place->stack_file, '/');
		name = name ? name + 1 : place->stack_file;
	}
	if (!name)
		return error_set(error, ERROR_USAGE, "no service is named");
	if (name[0] == '\0' || strchr(name, '/') || strcmp(name, ".") == 0 ||
	    strcmp(name, "..") == 0)
		return error_set(error, ERROR_USAGE,
				 "\"%s\" is no service name; a file is given "
				 "with --stack",
				 name);
	stack->service = alloc_string(name);
	for (char *c = stack->service; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return 0;
}

static int
no_service(const struct pam_stack *stack, const struct pam_conf_place *place,
	   struct error *error)
{
	if (place->stack_file)
		return error_set(error, ERROR_INPUT, "no file %s",
				 place->stack_file);
	if (place->confdir)
		return error_set(error, ERROR_INPUT, "no service %s in %s",
				 stack->service, place->confdir);
	return error_set(error, ERROR_INPUT,
			 "no service %s in /etc/pam.d or /usr/lib/pam.d; "
			 "programs that use this name get the service "
			 "\"other\"",
			 stack->service);
}

static int
read_root(struct pam_reader *reader, const struct pam_conf_place *place)
{
	struct pam_stack *stack = reader->stack;
	struct pam_file *file;
	int r;

	if (place->stack_file)
		r = pam_place_read(&file, place->root, place->stack_file,
				   reader->error);
	else
		r = pam_place_read_service(&file, place, stack->service,
					   reader->error);
	if (r == PAM_PLACE_MISSING)
		return no_service(stack, place, reader->error);
	if (r != 0)
		return r;
	return pam_reach(reader, file, &stack->root);
}

static int
read_other(struct pam_reader *reader, const struct pam_conf_place *place)
{
	struct pam_stack *stack = reader->stack;
	struct pam_file *file;
	int r;

	r = pam_place_read_service(&file, place, "other", reader->error);
	if (r == PAM_PLACE_MISSING)
		return 0;
	if (r != 0)
		return r;
	return pam_reach(reader, file, &stack->other);
}

/* pam.conf is read only where there is no folder of services. */
static int
check_pam_conf(struct pam_stack *stack, const struct pam_conf_place *place,
	       struct error *error)
{
	struct pam_file *file;

	if (place->confdir || place->stack_file)
		return 0;
	if (!pam_place_is_folder(place->root, "/etc/pam.d") &&
	    !pam_place_is_folder(place->root, "/usr/lib/pam.d"))
		return error_set(error, ERROR_INPUT,
				 "neither /etc/pam.d nor /usr/lib/pam.d "
				 "exists; services in /etc/pam.conf are not "
				 "supported");
	if (pam_place_read(&file, place->root, "/etc/pam.conf", NULL) != 0)
		return 0;
	/* Debian installs it with nothing but comments. */
	if (pam_conf_parse(file, NULL) == 0 && file->rules_count != 0)
		pam_reach_note(stack,
			       alloc_format("%s is inactive: libpam reads "
					    "/etc/pam.d instead",
					    file->path));
	pam_place_free(file);
	return 0;
}

int
pam_conf_read(struct pam_stack **result, const struct pam_conf_place *place,
	      struct error *error)
{
	struct pam_stack *stack = alloc_zero(1, sizeof(*stack));
	struct pam_reader reader = { .stack = stack,
				     .root = place->root,
				     .error = error,
				     .minor = place->libpam_minor };
	int r;

	*result = NULL;
	if (reader.minor == 0)
		reader.minor = place->root ? pam_place_libpam_minor(place->root)
					   : pam_conf_libpam_minor();
	r = set_service(stack, place, error);
	if (r == 0)
		r = check_pam_conf(stack, place, error);
	if (r == 0)
		r = read_root(&reader, place);
	if (r == 0)
		r = read_other(&reader, place);
	free(reader.visits);
	if (r != 0)
		pam_conf_free(stack);
	else
		*result = stack;
	return r;
}

void
pam_conf_free(struct pam_stack *stack)
{
	struct pam_file *file, *next;

	if (!stack)
		return;
	for (file = stack->files; file; file = next) {
		next = file->next;
		pam_place_free(file);
	}
	for (size_t i = 0; i < stack->notes_count; i++)
		free(stack->notes[i]);
	free(stack->notes);
	free(stack->service);
	free(stack);
}
