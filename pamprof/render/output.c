/*
 * Opens the place a report goes to, and looks at the terminal on behalf of
 * the renderers, which look at nothing.
 */
#include "output.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIPED_COLUMNS 80
#define COLUMNS_MIN   72
#define COLUMNS_MAX   200

/* Rows of names; the first is the default. */
static const struct {
	const char *name;
	renderer render;
} formats[] = {
	{ "tree", render_tree },
	{ "json", render_json },
};

static const struct {
	const char *name;
	enum report_sort sort;
} sorts[] = {
	{ "stack", SORT_STACK },
	{ "wall", SORT_WALL },
	{ "cpu", SORT_CPU },
	{ "calls", SORT_CALLS },
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

renderer
render_find(const char *format)
{
	for (size_t i = 0; i < COUNT(formats); i++)
		if (strcmp(formats[i].name, format) == 0)
			return formats[i].render;
	return NULL;
}

static bool
is_stdout(const char *file)
{
	return !file || strcmp(file, "-") == 0;
}

/* The word after the last dot of the file's name, or "". */
static const char *
ending(const char *file)
{
	const char *dot = is_stdout(file) ? NULL : strrchr(file, '.');

	return dot && !strchr(dot, '/') ? dot + 1 : "";
}

static int
choose_format(struct output *output, const struct output_options *options,
	      struct error *error)
{
	if (options->format) {
		output->render = render_find(options->format);
		if (!output->render)
			return error_set(error, ERROR_USAGE,
					 "unknown format \"%s\": tree or json",
					 options->format);
		return 0;
	}
	output->render = render_find(ending(options->file));
	if (!output->render)
		output->render = formats[0].render;
	return 0;
}

static int
choose_sort(struct output *output, const struct output_options *options,
	    struct error *error)
{
	if (!options->sort)
		return 0;
	for (size_t i = 0; i < COUNT(sorts); i++)
		if (strcmp(sorts[i].name, options->sort) == 0) {
			output->style.sort = sorts[i].sort;
			return 0;
		}
	return error_set(error, ERROR_USAGE,
			 "cannot sort by \"%s\": stack, wall, cpu or calls",
			 options->sort);
}

static unsigned
terminal_columns(int descriptor)
{
	struct winsize size;

	if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
		return PIPED_COLUMNS;
	if (size.ws_col < COLUMNS_MIN)
		return COLUMNS_MIN;
	return size.ws_col > COLUMNS_MAX ? COLUMNS_MAX : size.ws_col;
}

/* Whether the environment asks for UTF-8, by locale(7)'s order. */
static bool
is_utf8_locale(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < COUNT(names); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strcasestr(value, "utf-8") ||
			       strcasestr(value, "utf8");
	}
	return false;
}

/* NO_COLOR as on no-color.org: set and not empty. */
static void
choose_style(struct output *output, int descriptor)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
	bool dumb = !term || !*term || strcmp(term, "dumb") == 0;
	bool terminal = isatty(descriptor);

	output->style.columns =
	    terminal ? terminal_columns(descriptor) : PIPED_COLUMNS;
	output->style.bars = terminal && !dumb;
	output->style.colour = terminal && !dumb && !(no_color && *no_color);
	output->style.unicode = is_utf8_locale();
}

/*
 * The file is emptied only when there is something to write: a measurement
 * that fails shall not cost the report of yesterday.
 */
static int
open_file(struct output *output, const char *file, struct error *error)
{
	int descriptor =
	    open(file, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);

	if (descriptor < 0)
		return error_errno(error, "cannot write %s", file);
	output->stream = fdopen(descriptor, "w");
	if (!output->stream) {
		close(descriptor);
		return error_errno(error, "cannot write %s", file);
	}
	output->name = file;
	choose_style(output, descriptor);
	return 0;
}

int
output_open(struct output *output, const struct output_options *options,
	    struct error *error)
{
	int r;

	memset(output, 0, sizeof(*output));
	r = choose_format(output, options, error);
	if (r == 0)
		r = choose_sort(output, options, error);
	if (r != 0)
		return r;
	if (!is_stdout(options->file))
		return open_file(output, options->file, error);
	output->stream = stdout;
	output->name = "standard output";
	choose_style(output, STDOUT_FILENO);
	return 0;
}

int
output_empty(struct output *output, struct error *error)
{
	struct stat status;
	int descriptor = fileno(output->stream);

	if (output->stream != stdout && fstat(descriptor, &status) == 0 &&
	    S_ISREG(status.st_mode) && ftruncate(descriptor, 0) != 0)
		return error_errno(error, "cannot empty %s", output->name);
	return 0;
}

int
output_report(struct output *output, const struct report *report,
	      struct error *error)
{
	struct buffer text = { 0 };
	int r;

	output->render(&text, report, &output->style);
	r = output_empty(output, error);
	if (r == 0 &&
	    (fwrite(text.data, 1, text.length, output->stream) != text.length ||
	     fflush(output->stream) != 0))
		r = error_errno(error, "cannot write %s", output->name);
	buffer_free(&text);
	return r;
}

int
output_spares(FILE *stream, const char *path, struct error *error)
{
	struct stat here, there;

	if (path == NULL || stat(path, &there) != 0 ||
	    fstat(fileno(stream), &here) != 0 || !S_ISREG(here.st_mode) ||
	    here.st_dev != there.st_dev || here.st_ino != there.st_ino)
		return 0;
	return error_set(error, ERROR_USAGE,
			 "%s would be overwritten by other output: it needs a "
			 "file of its own",
			 path);
}

void
output_close(struct output *output)
{
	if (output->stream && output->stream != stdout)
		fclose(output->stream);
	output->stream = NULL;
}

int
report_output(const struct report *report, const struct output_options *options,
	      const char *source, struct error *error)
{
	struct output output;
	int r = output_open(&output, options, error);

	if (r == 0)
		r = output_spares(output.stream, source, error);
	if (r == 0)
		r = output_report(&output, report, error);
	output_close(&output);
	return r;
}
