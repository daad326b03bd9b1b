/*
 * Prints a stack as text, for tests that compare one reading with another:
 *
 *   stack_dump [--root DIR] [--confdir DIR] [--minor N] [--stack FILE]
 *              [--rewrite DIR] [SERVICE]
 *
 * One line per rule, in the order of the files; nothing but what libpam
 * would make of it. With --rewrite the copies of all files are written to
 * DIR, each module called through DIR/shims/N/NAME, and DIR/SERVICE is to be
 * read back: "wrapped" stands for that path and its marker, so that a faithful
 * copy prints the same, apart from file names.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../pamprof/base/alloc.h"
#include "../../pamprof/source/pam_rewrite.h"

static const char *const type_names[] = { "module", "include", "substack",
					  "@include", "broken" };

struct copies {
	const char *dir;
	const struct pam_stack *stack;
	char **shims; /* by marker, made on demand */
	size_t shims_count;
};

/* The shim's place: the marker keeps equal base names apart. */
static const char *
shim_for(void *context, struct pam_rule *rule)
{
	struct copies *copies = context;
	const char *base = strrchr(rule->path, '/') + 1;

	while (copies->shims_count <= rule->marker) {
		copies->shims =
		    alloc_array(copies->shims, copies->shims_count + 1,
				sizeof(*copies->shims));
		copies->shims[copies->shims_count++] = NULL;
	}
	if (!copies->shims[rule->marker])
		copies->shims[rule->marker] = alloc_format(
		    "%s/shims/%u/%s", copies->dir, rule->marker, base);
	return copies->shims[rule->marker];
}

/* The copy's place: its number among the files of the stack. */
static char *
copy_path(const struct copies *copies, const struct pam_file *file)
{
	const struct pam_file *held = copies->stack->files;
	unsigned number = 0;

	if (file == copies->stack->root)
		return alloc_format("%s/%s", copies->dir,
				    copies->stack->service);
	if (file == copies->stack->other)
		return alloc_format("%s/other", copies->dir);
	for (; held != file; held = held->next)
		number++;
	return alloc_format("%s/file%u", copies->dir, number);
}

static const char *
include_for(void *context, const struct pam_file *file)
{
	static char *path;

	free(path);
	path = copy_path(context, file);
	return path;
}

/* A regular file with any content, so that the copy's rule finds a module. */
static void
write_file(const char *path, const char *data, size_t length)
{
	FILE *out = fopen(path, "w");

	if (!out || fwrite(data, 1, length, out) != length ||
	    fclose(out) != 0) {
		(void)fprintf(stderr, "%s: %s\n", path, strerror(errno));
		exit(3);
	}
}

static void
write_shim(const char *path)
{
	char *folder = alloc_bytes(path, (size_t)(strrchr(path, '/') - path));

	(void)mkdir(folder, 0700);
	write_file(path, "", 0);
	free(folder);
}

static void
write_copies(struct pam_stack *stack, const char *dir)
{
	struct copies copies = { .dir = dir, .stack = stack };
	struct pam_rewrite rewrite = { shim_for, include_for, &copies };
	char *shims = alloc_format("%s/shims", dir);

	(void)mkdir(shims, 0700);
	pam_rewrite_number(stack, shim_for, &copies);
	for (const struct pam_file *file = stack->files; file;
	     file = file->next) {
		struct buffer out = { 0 };
		char *path = copy_path(&copies, file);

		pam_rewrite_file(&out, file, &rewrite);
		write_file(path, out.data ? out.data : "", out.length);
		buffer_free(&out);
		free(path);
	}
	for (size_t i = 0; i < copies.shims_count; i++) {
		if (copies.shims[i])
			write_shim(copies.shims[i]);
		free(copies.shims[i]);
	}
	free(copies.shims);
	free(shims);
}

/* Bytes that would hide or break the line are shown as \xNN. */
static void
print_word(const char *label, const char *value)
{
	(void)printf(" %s<", label);
	for (; value && *value; value++)
		if (*value < ' ' || *value == '\\')
			(void)printf("\\x%02x", (unsigned char)*value);
		else
			(void)putchar(*value);
	(void)putchar('>');
}

static const char *
base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

/* A wrapped rule prints as what it wraps. */
static void
print_rule(const struct pam_rule *rule)
{
	bool wrapped = pam_rewrite_is_wrapped(rule);
	size_t args_count = rule->args_count - wrapped;
	bool tail = rule->blank_tail;

	if (wrapped) {
		const char *marker = rule->args[args_count].value;

		tail = marker[strlen(marker) - 1] == '+';
	}
	(void)printf("  %s %s%s%s%s%s", type_names[rule->type],
		     pam_group_name(rule->group), rule->silent ? " -" : "",
		     rule->unknown_type ? " unknown" : "",
		     rule->fatal ? " fatal" : "", tail ? " tail" : "");
	print_word("", rule->control.value);
	if (rule->target)
		print_word("file", "");
	else
		print_word("", base_name(rule->module.value));
	for (size_t i = 0; i < args_count; i++)
		print_word("", rule->args[i].value);
	(void)putchar('\n');
}

static void
print_stack(const struct pam_stack *stack)
{
	for (size_t i = 0; i < stack->notes_count; i++)
		(void)fprintf(stderr, "note: %s\n", stack->notes[i]);
	for (const struct pam_file *file = stack->files; file;
	     file = file->next) {
		(void)printf("file%s%s\n", file == stack->root ? " root" : "",
			     file == stack->other ? " other" : "");
		for (size_t i = 0; i < file->rules_count; i++) {
			if (file->rules[i].problem)
				(void)fprintf(stderr, "%s:%u: %s\n", file->path,
					      file->rules[i].first_line,
					      file->rules[i].problem);
			print_rule(&file->rules[i]);
		}
	}
}

static int
read_options(int argc, char **argv, struct pam_conf_place *place,
	     const char **dir)
{
	static const struct option options[] = {
		{ "root", required_argument, NULL, 'r' },
		{ "confdir", required_argument, NULL, 'c' },
		{ "stack", required_argument, NULL, 's' },
		{ "minor", required_argument, NULL, 'm' },
		{ "rewrite", required_argument, NULL, 'w' },
		{ NULL, 0, NULL, 0 }
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'r')
			place->root = optarg;
		else if (c == 'c')
			place->confdir = optarg;
		else if (c == 's')
			place->stack_file = optarg;
		else if (c == 'm')
			place->libpam_minor = (unsigned)atoi(optarg);
		else if (c == 'w')
			*dir = optarg;
		else
			return 2;
	}
	place->service = argv[optind];
	return 0;
}

int
main(int argc, char **argv)
{
	struct pam_conf_place place = { 0 };
	struct pam_stack *stack;
	const char *dir = NULL;
	struct error error;

	if (read_options(argc, argv, &place, &dir) != 0)
		return 2;
	if (pam_conf_read(&stack, &place, &error) != 0) {
		(void)fprintf(stderr, "stack_dump: %s\n", error.text);
		return error_exit_status(&error);
	}
	if (dir)
		write_copies(stack, dir);
	print_stack(stack);
	pam_conf_free(stack);
	return 0;
}
