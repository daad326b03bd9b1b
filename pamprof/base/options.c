/*
 * The option parser. getopt_long(3) is not used because it prints its own
 * messages, accepts abbreviations (which turn a new option into a change of
 * meaning of old command lines) and would need a second table beside the
 * rows that --help and the man page are made from.
 */
#include "options.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The command line while it is read. */
struct reader {
	const struct command *command;
	void *options;
	int argc, next, operands;
	char **argv;
	struct error *error;
};

static const struct {
	const char *name;
	uint64_t ns;
} units[] = {
	{ "", 1000000000u },
	{ "ns", 1 },
	{ "us", 1000 },
	{ "ms", 1000000 },
	{ "s", 1000000000u },
	{ "m", 60 * 1000000000ull },
	{ "min", 60 * 1000000000ull },
	{ "h", 3600 * 1000000000ull },
	{ "d", 86400 * 1000000000ull },
};

static uint64_t
unit_ns(const char *name)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(units[i].name, name))
			return units[i].ns;
	return 0;
}

/* Adds the fraction at *text times unit; integers only, so no locale. */
static uint64_t
fraction_ns(const char **text, uint64_t unit)
{
	uint64_t scale = 1, digits = 0;

	for (; isdigit((unsigned char)**text); (*text)++) {
		if (scale >= 1000000000u)
			continue; /* too small to count */
		digits = digits * 10 + (uint64_t)(**text - '0');
		scale *= 10;
	}
	/* unit / scale first would lose "0.3m"; 86400e9 * 1e9 is too long */
	return (uint64_t)((unsigned __int128)unit * digits / scale);
}

int
options_duration(const char *text, uint64_t *ns, struct error *error)
{
	size_t whole = strspn(text, "0123456789"), length = whole;
	const char *fraction = text + whole;
	uint64_t unit, value = 0;
	bool overflow = false;

	*ns = 0;
	if (text[length] == '.')
		length += 1 + strspn(text + length + 1, "0123456789");
	unit = unit_ns(text + length);
	if (whole == 0 || unit == 0 || text[length - 1] == '.')
		return error_set(error, ERROR_USAGE,
				 "\"%s\" is not a duration: write it like "
				 "2h, 1.5s, 200ms or 30 (seconds)",
				 text);
	for (size_t i = 0; i < whole; i++)
		overflow |= __builtin_mul_overflow(value, 10, &value) ||
			    __builtin_add_overflow(
				value, (uint64_t)(text[i] - '0'), &value);
	overflow |= __builtin_mul_overflow(value, unit, &value);
	if (*fraction++ == '.')
		overflow |= __builtin_add_overflow(
		    value, fraction_ns(&fraction, unit), &value);
	/* The half of what fits, so that a time can be added. */
	if (overflow || value > INT64_MAX)
		return error_set(error, ERROR_USAGE,
				 "\"%s\" is too long a duration", text);
	*ns = value;
	return 0;
}

int
options_number(const char *text, unsigned long *number, struct error *error)
{
	unsigned long value = 0;
	const char *c = text;

	*number = 0;
	for (; isdigit((unsigned char)*c); c++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (unsigned long)(*c - '0'),
					   &value))
			return error_set(error, ERROR_USAGE,
					 "\"%s\" is too large", text);
	if (c == text || *c)
		return error_set(error, ERROR_USAGE, "\"%s\" is not a number",
				 text);
	*number = value;
	return 0;
}

/* Stores text as the value of row. */
static int
store(const struct option_row *row, void *options, const char *text,
      struct error *error)
{
	void *place = (char *)options + row->offset;
	int r = 0;

	switch (row->type) {
	case OPTION_FLAG:
		*(bool *)place = true;
		break;
	case OPTION_STRING:
		*(const char **)place = text;
		break;
	case OPTION_COUNT:
	case OPTION_NUMBER:
		r = options_number(text, place, error);
		if (!r && row->type == OPTION_COUNT &&
		    *(unsigned long *)place == 0)
			r = error_set(error, ERROR_USAGE, "at least 1");
		break;
	case OPTION_DURATION:
		r = options_duration(text, place, error);
		if (!r && *(uint64_t *)place == 0)
			r = error_set(error, ERROR_USAGE, "longer than 0");
		break;
	}
	return r;
}

/*
 * Gives row its value: text if it came with the option, else the next word.
 * Says which option an error is about.
 */
static int
take(struct reader *reader, const struct option_row *row, const char *text)
{
	struct error why = { 0 };

	if (row->type != OPTION_FLAG && !text) {
		if (reader->next >= reader->argc)
			return error_set(reader->error, ERROR_USAGE,
					 "--%s needs a value: %s", row->name,
					 row->argument);
		text = reader->argv[reader->next++];
	}
	if (!store(row, reader->options, text, &why))
		return OPTIONS_PARSED;
	return error_set(reader->error, ERROR_USAGE, "--%s: %s", row->name,
			 why.text);
}

static int
unknown(struct reader *reader, const char *option)
{
	const struct command *command = reader->command;
	/* The option of a program that was named without "--" before it. */
	bool program = reader->operands && strstr(command->usage, "-- ");

	return error_set(reader->error, ERROR_USAGE,
			 "%s has no option %s; %ssee pamprof %s --help",
			 command->name, option,
			 program ? "put -- before the program, or " : "",
			 command->name);
}

static int
parse_long(struct reader *reader, const char *word)
{
	const char *name = word + 2, *equals = strchrnul(name, '=');
	size_t length = (size_t)(equals - name);

	if (!strcmp(name, "help"))
		return OPTIONS_HELP;
	for (size_t i = 0; i < reader->command->options_count; i++) {
		const struct option_row *row = &reader->command->options[i];

		if (strlen(row->name) != length ||
		    memcmp(row->name, name, length) != 0)
			continue;
		if (row->type == OPTION_FLAG && *equals)
			return error_set(reader->error, ERROR_USAGE,
					 "--%s takes no value", row->name);
		return take(reader, row, *equals ? equals + 1 : NULL);
	}
	return unknown(reader, word);
}

static const struct option_row *
find_letter(const struct command *command, char letter)
{
	for (size_t i = 0; i < command->options_count; i++)
		if (command->options[i].letter == letter)
			return &command->options[i];
	return NULL;
}

static int
parse_short(struct reader *reader, const char *word)
{
	const struct option_row *row;

	for (const char *c = word + 1; *c; c++) {
		row = find_letter(reader->command, *c);
		if (!row && *c == 'h')
			return OPTIONS_HELP;
		if (!row)
			return unknown(reader, word);
		if (row->type != OPTION_FLAG)
			return take(reader, row, c[1] ? c + 1 : NULL);
		(void)take(reader, row, NULL);
	}
	return OPTIONS_PARSED;
}

int
options_parse(const struct command *command, void *options, int *argc,
	      char **argv, struct error *error)
{
	struct reader reader = { command, options, *argc, 0, 0, argv, error };
	bool only_operands = false;
	int r = OPTIONS_PARSED;

	while (r == OPTIONS_PARSED && reader.next < reader.argc) {
		char *word = argv[reader.next++];

		if (only_operands || word[0] != '-' || !word[1])
			argv[reader.operands++] = word;
		else if (!strcmp(word, "--"))
			only_operands = true;
		else if (word[1] == '-')
			r = parse_long(&reader, word);
		else
			r = parse_short(&reader, word);
	}
	*argc = reader.operands;
	return r;
}
