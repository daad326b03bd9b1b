/*
 * The unified diff. Own, because diff(1) need not be installed where logins
 * happen; quadratic, because the files have some hundred lines.
 */
#include "diff.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../base/alloc.h"

#define CONTEXT    3
#define LINES_MOST 4000 /* beyond, everything is called changed */

struct line {
	const char *text;
	size_t length;
};

struct lines {
	struct line *line;
	size_t count;
};

/* One line of the result: ' ', '-' or '+'. */
struct step {
	char sign;
	const struct line *line;
};

struct script {
	struct step *steps;
	size_t count;
};

static struct lines
split(const struct buffer *text)
{
	struct lines lines = { 0 };
	const char *at = text->data, *end = at + text->length;

	while (at != NULL && at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((stop ? stop : end) - at);

		lines.line = alloc_array(lines.line, lines.count + 1,
					 sizeof(*lines.line));
		lines.line[lines.count++] = (struct line){ at, length };
		at += length + 1;
	}
	return lines;
}

static bool
is_same(const struct line *a, const struct line *b)
{
	return a->length == b->length && !memcmp(a->text, b->text, a->length);
}

/* Lengths of the longest common rest, from each pair of places on. */
static unsigned short *
measure(const struct lines *a, const struct lines *b)
{
	size_t width = b->count + 1;
	unsigned short *rest =
	    alloc_zero((a->count + 1) * width, sizeof(*rest));

	if (a->count > LINES_MOST || b->count > LINES_MOST)
		return rest;
	for (size_t i = a->count; i-- > 0;)
		for (size_t j = b->count; j-- > 0;) {
			unsigned short down = rest[(i + 1) * width + j];
			unsigned short right = rest[i * width + j + 1];
			unsigned short both = rest[(i + 1) * width + j + 1];

			if (is_same(&a->line[i], &b->line[j]))
				rest[i * width + j] = both + 1;
			else
				rest[i * width + j] =
				    down >= right ? down : right;
		}
	return rest;
}

static void
add(struct script *script, char sign, const struct line *line)
{
	script->steps[script->count++] = (struct step){ sign, line };
}

static struct script
compare(const struct lines *a, const struct lines *b)
{
	struct script script = {
		alloc_zero(a->count + b->count + 1, sizeof(*script.steps)), 0
	};
	unsigned short *rest = measure(a, b);
	size_t i = 0, j = 0, width = b->count + 1;

	while (i < a->count || j < b->count) {
		if (i < a->count && j < b->count &&
		    is_same(&a->line[i], &b->line[j])) {
			add(&script, ' ', &a->line[i]);
			i++;
			j++;
		} else if (j == b->count ||
			   (i < a->count && rest[(i + 1) * width + j] >=
						rest[i * width + j + 1])) {
			add(&script, '-', &a->line[i++]);
		} else {
			add(&script, '+', &b->line[j++]);
		}
	}
	free(rest);
	return script;
}

static void
put_line(struct buffer *out, const struct step *step)
{
	buffer_char(out, step->sign);
	for (size_t i = 0; i < step->line->length; i++) {
		unsigned char c = (unsigned char)step->line->text[i];

		buffer_char(
		    out, (c < 0x20 && c != '\t') || c == 0x7f ? '?' : (char)c);
	}
	buffer_char(out, '\n');
}

/* Whether a change is within CONTEXT lines of the place. */
static bool
is_near(const struct script *script, size_t at)
{
	size_t from = at > CONTEXT ? at - CONTEXT : 0;

	for (size_t i = from; i <= at + CONTEXT && i < script->count; i++)
		if (script->steps[i].sign != ' ')
			return true;
	return false;
}

/* One hunk from first on; lines[0] and [1] are the line numbers there. */
static size_t
put_hunk(struct buffer *out, const struct script *script, size_t first,
	 const size_t lines[2])
{
	size_t end = first, old = 0, new = 0;

	for (; end < script->count && is_near(script, end); end++) {
		old += script->steps[end].sign != '+';
		new += script->steps[end].sign != '-';
	}
	buffer_format(out, "@@ -%zu,%zu +%zu,%zu @@\n", lines[0] + (old > 0),
		      old, lines[1] + (new > 0), new);
	for (size_t i = first; i < end; i++)
		put_line(out, &script->steps[i]);
	return end;
}

static void
put_script(struct buffer *out, const struct script *script)
{
	size_t lines[2] = { 0, 0 }, i = 0;

	while (i < script->count) {
		size_t end = i + 1;

		if (is_near(script, i))
			end = put_hunk(out, script, i, lines);
		for (; i < end; i++) {
			lines[0] += script->steps[i].sign != '+';
			lines[1] += script->steps[i].sign != '-';
		}
	}
}

void
diff_write(struct buffer *out, const struct diff_side *old,
	   const struct diff_side *new)
{
	struct lines a = split(old->text), b = split(new->text);
	struct script script = compare(&a, &b);
	bool changed = false;

	for (size_t i = 0; i < script.count; i++)
		changed |= script.steps[i].sign != ' ';
	if (changed) {
		buffer_format(out, "--- %s\n+++ %s\n", old->name, new->name);
		put_script(out, &script);
	}
	free(script.steps);
	free(a.line);
	free(b.line);
}
