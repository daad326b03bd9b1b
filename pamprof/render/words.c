/*
 * Fits what a row says into the room there is. Apart from the table, whose
 * columns are the same for all rows: what is cut here is decided for each
 * row alone, because a long result shall cost no other row its arguments.
 */
#include "words.h"

#include <string.h>

#include "text.h"

#define RED   "\033[31m"
#define PLAIN "\033[0m"

/* What is left of words that are cut as far as they can be. */
#define LEAD_MIN 6
#define NAME_MIN 6
#define FILE_MIN 3

/* From this width on a file name shows both of its ends. */
#define TWO_ENDS 7

/* Columns that each word gets, without the blanks in front of it. */
struct widths {
	size_t lead, name, arguments, note, place;
};

static size_t
width_of(const char *text)
{
	return text ? text_width(text) : 0;
}

static struct widths
widths_of(const struct table_row *row)
{
	return (struct widths){ width_of(row->lead), width_of(row->name),
				width_of(row->arguments), width_of(row->note),
				width_of(row->place) };
}

/* Where the words end that stand in front of the place. */
static size_t
end_of(const struct table_row *row, const struct widths *widths)
{
	return row->indent + widths->name +
	       (widths->lead ? widths->lead + 1 : 0) +
	       (widths->arguments ? widths->arguments + 1 : 0) +
	       (widths->note ? widths->note + 2 : 0);
}

size_t
words_width(const struct table_row *row)
{
	struct widths all = widths_of(row);

	return end_of(row, &all);
}

/* ":17" at the end of "common-auth:17"; or the end. */
static const char *
line_of(const char *place)
{
	const char *colon = strrchr(place, ':');

	if (!colon || colon[1 + strspn(colon + 1, "0123456789")])
		return place + strlen(place);
	return colon;
}

static size_t
least_place(const struct table_row *row, size_t place)
{
	size_t least;

	if (place == 0)
		return 0;
	least = FILE_MIN + text_width(line_of(row->place));
	return least < place ? least : place;
}

/* Takes at most excess columns from *width, and leaves least; the rest. */
static size_t
take(size_t *width, size_t least, size_t excess)
{
	size_t most = *width > least ? *width - least : 0;
	size_t taken = most < excess ? most : excess;

	*width -= taken;
	return excess - taken;
}

static bool
is_object(const char *name)
{
	size_t length = strlen(name);

	return length > 3 && strcmp(name + length - 3, ".so") == 0;
}

/* Where the place begins: in its column, or behind words that reach it. */
static size_t
start_of_place(size_t words, const struct words_room *room)
{
	return words + 2 > room->place ? words + 2 : room->place;
}

/* Everything that gives way after the arguments; what still is too much. */
static size_t
shorten(const struct table_row *row, struct widths *widths,
	const struct words_room *room)
{
	size_t place = widths->place, all = end_of(row, widths), excess;

	if (place)
		all = start_of_place(all, room) + place;
	excess = all > room->end ? all - room->end : 0;

	excess = take(&widths->place, least_place(row, place), excess);
	if (excess && is_object(row->name)) {
		widths->name -= 3;
		/* What is too many of the three goes back to the place. */
		widths->place += excess < 3 ? 3 - excess : 0;
		if (widths->place > place)
			widths->place = place;
		excess = excess < 3 ? 0 : excess - 3;
	}
	excess = take(&widths->lead, LEAD_MIN, excess);
	return take(&widths->name, NAME_MIN, excess);
}

static struct widths
fit(const struct table_row *row, const struct words_room *room)
{
	struct widths widths = widths_of(row), bare;
	size_t limit = widths.place ? room->place - 2 : room->end;
	size_t end = end_of(row, &widths);

	if (end > limit && widths.arguments)
		/* One more, for the blank if nothing remains. */
		if (take(&widths.arguments, 0, end - limit) != 0 ||
		    widths.arguments < 2)
			widths.arguments = 0;
	bare = widths;
	if (shorten(row, &widths, room) == 0)
		return widths;
	widths = bare;
	widths.place = 0;
	take(&widths.note, 0, shorten(row, &widths, room));
	return widths;
}

static void
print_place(struct buffer *out, const char *place, size_t columns, bool unicode)
{
	const char *line = line_of(place);
	struct buffer file = { 0 };
	size_t left = columns - text_width(line);

	buffer_bytes(&file, place, (size_t)(line - place));
	if (left < TWO_ENDS)
		text_cut(out, file.data ? file.data : "", left, unicode);
	else
		text_cut_middle(out, file.data ? file.data : "", left, unicode);
	buffer_text(out, line);
	buffer_free(&file);
}

static void
print_name(struct buffer *out, const struct table_row *row,
	   const struct widths *widths, bool unicode)
{
	size_t width = width_of(row->name);

	if (widths->name + 3 == width && is_object(row->name))
		buffer_bytes(out, row->name, strlen(row->name) - 3);
	else
		text_cut(out, row->name, widths->name, unicode);
}

void
words_print(struct buffer *out, const struct table_row *row,
	    const struct words_room *room, const struct render_style *style)
{
	struct widths widths = fit(row, room);
	size_t end = end_of(row, &widths);
	const char *red = style->colour && row->bad ? RED : "";

	buffer_format(out, "%*s", (int)row->indent, "");
	if (widths.lead) {
		text_cut(out, row->lead, widths.lead, style->unicode);
		buffer_char(out, ' ');
	}
	print_name(out, row, &widths, style->unicode);
	if (widths.arguments) {
		buffer_char(out, ' ');
		text_cut(out, row->arguments, widths.arguments, style->unicode);
	}
	if (widths.note) {
		buffer_format(out, "  %s", red);
		text_cut(out, row->note, widths.note, style->unicode);
		buffer_text(out, *red ? PLAIN : "");
	}
	if (!widths.place)
		return;
	buffer_format(out, "%*s", (int)(start_of_place(end, room) - end), "");
	print_place(out, row->place, widths.place, style->unicode);
}
