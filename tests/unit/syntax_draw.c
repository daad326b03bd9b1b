/*
 * Draws PAM configuration from words, gaps and line ends that have something
 * special about them. Separate from the comparison with libpam so that its
 * tables can grow by themselves.
 */
#include "syntax_draw.h"

/* xorshift: the same stacks in every run. */
static unsigned
draw(unsigned long long *state, unsigned below)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (unsigned)((*state >> 11) % below);
}

static const char *const draw_types[] = {
	"auth", "account", "session",  "password", "-auth",      "AUTH",
	"auth", "account", "session",  "password", "[auth]",     "auht",
	"-",    "--auth",  "[account", "[-auth]",  "[password]", "auth"
};
static const char *const draw_controls[] = {
	"required", "required",   "optional", "OPTIONAL", "[default=ignore]",
	"requird",  "[required]", "[x",       "[]",       "[default=ignore]"
};
static const char *const draw_modules[] = { "@M@",   "@M@",        "@M@",
					    "@M@",   "[@M@]",      "@M@",
					    "@M@#c", "/no/pam.so", "[@M@]tail",
					    "@M@\\", "/no/.x",     "@M@\r",
					    "@M@",   "@M@",        "@M@" };
static const char *const draw_args[] = { "a",
					 "k=v",
					 "[x=a b]",
					 "[x=a \\] c]",
					 "\\[",
					 "pre[mid]",
					 "[q=a]tail",
					 "[open",
					 "\"q r\"",
					 "uid >= 1000",
					 "\\",
					 "a\\",
					 "#c",
					 "c#",
					 "[#]",
					 "[]",
					 "user notin a:b",
					 "\\]",
					 "[\\",
					 "\xc3\xa4",
					 "]",
					 "'",
					 "[a\\\n  b]",
					 "\r" };
static const char *const draw_gaps[] = { " ",          " ",       "\t",
					 "  ",         "\\\n",    " \\\n",
					 " \\ \t\n  ", " \\\r\n", " \\\n#c\n",
					 " \\\n\n" };
static const char *const draw_ends[] = { "\n",         "\n",      "\n",
					 " \n",        "\t\t\n",  "\r\n",
					 "\n\n",       "#c\n",    " # c\n",
					 "  # c \\\n", " \\\n",   "\n#c \\\n",
					 "\n \t\n",    "\\\n\\\n" };
static const char *const draw_includes[] = {
	"@include @D@/in%u",          "auth include @D@/in%u",
	"account substack @D@/in%u",  "  @INCLUDE @D@/in%u x # c",
	"session include [@D@/in%u]", "-@include @D@/in%u",
	"auht include @D@/in%u",      "password include @D@/gone%u",
	"auht substack @D@/in%u",     "[auth]substack @D@/in%u",
	"-password [include]@D@/in%u"
};

#define DRAW(state, table)                                                     \
	table[draw(state, sizeof(table) / sizeof((table)[0]))]

/* Arguments that bring a line to about the size of libpam's old buffer. */
static void
draw_filler(struct buffer *out, unsigned long long *state)
{
	unsigned length = 780 + draw(state, 300);

	buffer_char(out, ' ');
	while (length-- > 0)
		buffer_char(out, draw(state, 40) ? 'x' : ' ');
}

static void
draw_rule(struct buffer *out, unsigned long long *state)
{
	buffer_text(out, DRAW(state, draw_types));
	buffer_text(out, DRAW(state, draw_gaps));
	buffer_text(out, DRAW(state, draw_controls));
	buffer_text(out, DRAW(state, draw_gaps));
	buffer_text(out, DRAW(state, draw_modules));
	for (unsigned count = draw(state, 4); count > 0; count--) {
		buffer_text(out, DRAW(state, draw_gaps));
		buffer_text(out, DRAW(state, draw_args));
	}
	if (draw(state, 12) == 0)
		draw_filler(out, state);
}

/* Included files include only files with higher numbers: no loops. */
static void
draw_include(struct buffer *out, unsigned long long *state, unsigned number)
{
	const char *form = DRAW(state, draw_includes);
	unsigned chosen = number + 1 + draw(state, SYNTAX_FILES - 1 - number);

	for (; *form; form++)
		if (form[0] == '%' && form[1] == 'u') {
			buffer_format(out, "%u", chosen);
			form++;
		} else {
			buffer_char(out, *form);
		}
}

void
syntax_draw_file(struct buffer *out, unsigned long long *state, unsigned number)
{
	for (unsigned count = 1 + draw(state, 6); count > 0; count--) {
		if (draw(state, 16) == 0)
			buffer_text(out, "# comment \\\n");
		if (draw(state, 4) == 0 && number < SYNTAX_FILES - 1)
			draw_include(out, state, number);
		else
			draw_rule(out, state);
		buffer_text(out, DRAW(state, draw_ends));
	}
	/* Most files end properly; one that does not is refused whole. */
	if (draw(state, 4))
		buffer_text(out, "\n#\n");
}
