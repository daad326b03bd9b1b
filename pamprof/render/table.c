/*
 * Lays out the table. Widths are computed from what is there, so that a
 * login of three rules is as readable as one of forty; what does not fit is
 * cut from names, never from numbers or results.
 */
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/alloc.h"
#include "text.h"
#include "units.h"
#include "words.h"

#define BAR_CELLS   6
#define BAR_COLUMNS 90 /* a terminal narrower than this has no room */
#define PLACE_MAX   18
#define NAME_MIN    12
#define BOLD        "\033[1m"
#define YELLOW      "\033[1;33m"
#define PLAIN       "\033[0m"
#define NUMBER_SIZE 32

enum number {
	NUMBER_WALL,
	NUMBER_CPU,
	NUMBER_WAIT,
	NUMBER_HUMAN,
	NUMBER_CALLS,
	NUMBER_COUNT
};

static const char *const headings[NUMBER_COUNT] = { NULL, "CPU", "wait",
						    "human", "calls" };

/* How the columns came out. */
struct layout {
	const struct render_style *style;
	const struct unit *unit;
	unsigned decimals;
	bool shown[NUMBER_COUNT], bars;
	size_t whole[NUMBER_COUNT], fraction[NUMBER_COUNT]; /* digits */
	size_t width[NUMBER_COUNT];
	size_t name, place, line;  /* line: for words without a place */
	char heading[NUMBER_SIZE]; /* of the wall time, with the unit */
};

struct table_row *
table_add(struct table *table)
{
	if (table->count == table->size) {
		table->size = table->size * 2 + 32;
		table->rows =
		    alloc_array(table->rows, table->size, sizeof(*table->rows));
	}
	memset(&table->rows[table->count], 0, sizeof(*table->rows));
	return &table->rows[table->count++];
}

void
table_free(struct table *table)
{
	for (size_t i = 0; i < table->count; i++) {
		free(table->rows[i].lead);
		free(table->rows[i].name);
		free(table->rows[i].arguments);
		free(table->rows[i].note);
		free(table->rows[i].place);
	}
	free(table->rows);
	memset(table, 0, sizeof(*table));
}

/* The text of one number; "" where the row has none. */
static void
number_text(char text[NUMBER_SIZE], const struct layout *layout,
	    const struct table_row *row, enum number number)
{
	const uint64_t values[NUMBER_COUNT] = { row->wall, row->cpu, row->wait,
						row->human, row->calls };
	struct buffer out = { 0 };

	text[0] = '\0';
	if (number == NUMBER_HUMAN && !row->human)
		return;
	if (number == NUMBER_CALLS && row->calls)
		buffer_format(&out, "%llu", (unsigned long long)row->calls);
	else if (number == NUMBER_WALL || (number < NUMBER_CALLS && row->split))
		unit_number(&out, values[number], layout->unit,
			    layout->decimals);
	if (out.data)
		snprintf(text, NUMBER_SIZE, "%s", out.data);
	buffer_free(&out);
}

static void
measure_number(struct layout *layout, const struct table *table,
	       enum number number)
{
	char text[NUMBER_SIZE];
	size_t heading = strlen(number ? headings[number] : layout->heading);

	for (size_t i = 0; i < table->count; i++) {
		size_t whole, fraction;

		number_text(text, layout, &table->rows[i], number);
		whole = strcspn(text, ".");
		fraction = strlen(text + whole);
		if (whole > layout->whole[number])
			layout->whole[number] = whole;
		if (fraction > layout->fraction[number])
			layout->fraction[number] = fraction;
	}
	layout->width[number] =
	    layout->whole[number] + layout->fraction[number];
	if (layout->width[number] < heading)
		layout->width[number] = heading;
}

/* Columns left of the names: numbers, the share and its bar, and gaps. */
static size_t
numbers_width(const struct layout *layout)
{
	size_t width = 7 + (layout->bars ? BAR_CELLS + 1 : 0);

	for (unsigned i = 0; i < NUMBER_COUNT; i++)
		if (layout->shown[i])
			width += layout->width[i] + (i ? 2 : 0);
	return width + 2;
}

static bool
has_place(const struct table_row *row)
{
	return row->place && *row->place;
}

static void
measure_names(struct layout *layout, const struct table *table)
{
	size_t numbers = numbers_width(layout), room, name = 4, place = 0;

	for (size_t i = 0; i < table->count; i++) {
		size_t here;

		if (!has_place(&table->rows[i]))
			continue;
		here = text_width(table->rows[i].place);
		if (here > place)
			place = here;
		here = words_width(&table->rows[i]);
		if (here > name)
			name = here;
	}
	room = layout->style->columns > numbers + NAME_MIN
		   ? layout->style->columns - numbers
		   : NAME_MIN;
	if (place > PLACE_MAX && name + 2 + place > room)
		place = PLACE_MAX;
	if (place && name + 2 + place > room)
		name =
		    room > place + 2 + NAME_MIN ? room - place - 2 : NAME_MIN;
	layout->name = place ? name : room;
	layout->place = place;
	layout->line = layout->name + (place ? place + 2 : 0);
	if (layout->line < room)
		layout->line = room;
}

static void
lay_out(struct layout *layout, const struct table *table,
	const struct render_style *style)
{
	uint64_t largest = table->total;

	for (size_t i = 0; i < table->count; i++)
		if (table->rows[i].wall > largest)
			largest = table->rows[i].wall;
	layout->style = style;
	layout->bars = style->bars && style->columns >= BAR_COLUMNS;
	layout->unit = unit_for(largest);
	/* Ten thousandths of the total are the finest that is shown. */
	layout->decimals = largest / layout->unit->ns >= 1000 ? 2 : 3;
	snprintf(layout->heading, sizeof(layout->heading), "wall %s",
		 layout->unit->name);
	for (unsigned i = 0; i < NUMBER_COUNT; i++) {
		layout->shown[i] = i == NUMBER_HUMAN   ? table->human
				   : i == NUMBER_CALLS ? table->calls
						       : true;
		measure_number(layout, table, i);
	}
	measure_names(layout, table);
}

static void
pad(struct buffer *out, size_t columns)
{
	buffer_format(out, "%*s", (int)columns, "");
}

/* Blanks at the end of a line are noise in a ticket. */
static void
end_line(struct buffer *out)
{
	while (out->length && out->data[out->length - 1] == ' ')
		out->data[--out->length] = '\0';
	buffer_char(out, '\n');
}

static void
print_number(struct buffer *out, const struct layout *layout,
	     const struct table_row *row, enum number number)
{
	char text[NUMBER_SIZE];
	size_t whole, fraction;

	number_text(text, layout, row, number);
	whole = strcspn(text, ".");
	fraction = strlen(text + whole);
	if (number)
		pad(out, 2);
	pad(out, layout->width[number] - layout->fraction[number] - whole);
	buffer_text(out, text);
	pad(out, layout->fraction[number] - fraction);
}

/* Eighths of a cell where the font has them. */
static void
print_bar(struct buffer *out, const struct layout *layout, uint64_t part,
	  uint64_t total)
{
	unsigned long eighths =
	    total ? (double)part / total * BAR_CELLS * 8 + 0.5 : 0;
	unsigned cells = 0;

	if (!layout->style->unicode)
		eighths = (eighths + 4) / 8 * 8;
	for (; eighths >= 8 && cells < BAR_CELLS; eighths -= 8, cells++)
		buffer_text(out, layout->style->unicode ? "\u2588" : "#");
	if (eighths && cells < BAR_CELLS) {
		char partial[] = "\u2588";

		/* U+2588 is a full block, U+258F an eighth of one. */
		partial[2] += 8 - eighths;
		buffer_text(out, partial);
		cells++;
	}
	pad(out, BAR_CELLS - cells);
}

static void
print_share(struct buffer *out, const struct layout *layout,
	    const struct table_row *row, uint64_t total)
{
	struct buffer percent = { 0 };
	size_t whole;

	unit_percent(&percent, row->own, total);
	whole = strcspn(percent.data, ".");
	buffer_format(out, "  %*.*s%-2s", 3, (int)whole, percent.data,
		      percent.data + whole);
	buffer_free(&percent);
	if (!layout->bars)
		return;
	buffer_char(out, ' ');
	if (row->style == ROW_HEAD)
		pad(out, BAR_CELLS);
	else
		print_bar(out, layout, row->own, total);
}

/* Rows without a place, as those of phases, may use its column too. */
static void
print_words(struct buffer *out, const struct layout *layout,
	    const struct table_row *row)
{
	struct words_room room = { .end = layout->line };

	if (has_place(row)) {
		room.place = layout->name + 2;
		room.end = room.place + layout->place;
	}
	words_print(out, row, &room, layout->style);
}

static void
print_row(struct buffer *out, const struct layout *layout,
	  const struct table_row *row, uint64_t total)
{
	static const char *const colours[] = {
		[ROW_PLAIN] = "", [ROW_HEAD] = BOLD, [ROW_SLOWEST] = YELLOW
	};
	bool colour = layout->style->colour && row->style != ROW_PLAIN;

	if (row->gap)
		buffer_char(out, '\n');
	if (colour)
		buffer_text(out, colours[row->style]);
	print_number(out, layout, row, NUMBER_WALL);
	print_share(out, layout, row, total);
	for (unsigned i = NUMBER_CPU; i < NUMBER_COUNT; i++)
		if (layout->shown[i])
			print_number(out, layout, row, i);
	pad(out, 2);
	print_words(out, layout, row);
	if (colour)
		buffer_text(out, PLAIN);
	end_line(out);
}

static void
print_headings(struct buffer *out, const struct layout *layout)
{
	buffer_format(out, "%*s    %%  ", (int)layout->width[NUMBER_WALL],
		      layout->heading);
	if (layout->bars)
		pad(out, BAR_CELLS + 1);
	for (unsigned i = NUMBER_CPU; i < NUMBER_COUNT; i++)
		if (layout->shown[i])
			buffer_format(out, "  %*s", (int)layout->width[i],
				      headings[i]);
	end_line(out);
}

void
table_print(struct buffer *out, const struct table *table,
	    const struct render_style *style)
{
	struct layout layout = { 0 };

	lay_out(&layout, table, style);
	print_headings(out, &layout);
	for (size_t i = 0; i < table->count; i++)
		print_row(out, &layout, &table->rows[i], table->total);
}
