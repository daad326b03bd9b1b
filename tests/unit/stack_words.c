/*
 * The tables and the grammar of rules. Apart from stack_generator.c, which
 * makes files and scripts of them. A word that stands twice in a table is
 * twice as likely.
 */
#include "stack_words.h"

#include "../fake/stub_tokens.h"

/* splitmix64. */
static uint64_t
next(struct generator *g)
{
	uint64_t z = (g->state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

unsigned
below(struct generator *g, unsigned limit)
{
	return (unsigned)(next(g) % limit);
}

bool
percent(struct generator *g, unsigned chance)
{
	return below(g, 100) < chance;
}

/* Appends word with the case of its letters shaken now and then. */
void
shaken_word(struct generator *g, struct buffer *out, const char *word)
{
	bool shake = percent(g, 10);

	for (; *word != '\0'; word++)
		buffer_char(out, shake && *word >= 'a' && *word <= 'z' &&
					 percent(g, 50)
				     ? *word - 'a' + 'A'
				     : *word);
}

void
random_space(struct generator *g, struct buffer *out)
{
	static const char *const spaces[] = { " ",     " ",     " ",       "\t",
					      "  ",    " \t ",  "\t\t",    " ",
					      " \\\n", "\\\n ", " \\ \n\t" };

	buffer_text(out, percent(g, 60) ? " " : PICK(g, spaces));
}

static void
return_value(struct generator *g, struct buffer *out)
{
	static const int odd[] = { -1, 32, 99, 12345, 31, 31, 30, 28 };

	if (percent(g, 65))
		buffer_char(out, '0');
	else if (percent(g, 80))
		buffer_format(out, "%u", below(g, PAM_TOKEN_COUNT - 1));
	else
		buffer_format(out, "%d", PICK(g, odd));
}

static void
results(struct generator *g, struct buffer *out)
{
	static const char *const functions[] = { "any",   "any",     "any",
						 "auth",  "setcred", "acct",
						 "open",  "close",   "prelim",
						 "update" };

	buffer_format(out, "%s=", PICK(g, functions));
	return_value(g, out);
	while (percent(g, 30)) {
		buffer_char(out, ',');
		return_value(g, out);
	}
}

static const char *const actions[] = { "prompt=Password:",
				       "echo=login:",
				       "info=hello",
				       "libprompt=Token:",
				       "keepconv",
				       "usekept=again",
				       "getdata=d0",
				       "getdata=d1",
				       "putenv=A=1",
				       "putenv=A",
				       "putenv=B=two",
				       "getenv=A",
				       "setitem=rhost:h",
				       "setitem=user:eve",
				       "setitem=user_prompt:who",
				       "setitem=tty:",
				       "setitem=authtok_type:Odd",
				       "item=user",
				       "item=rhost",
				       "item=service",
				       "getuser",
				       "getuser=Who:",
				       "authtok=new",
				       "authtok=old",
				       "verify",
				       "faildelay=20",
				       "faildelay=3000000",
				       "syslog=message",
				       "callpam",
				       "callself",
				       "errno=13",
				       "errno=2",
				       "errno=0",
				       "mutate",
				       "a~b",
				       "fds",
				       "signals",
				       "process",
				       "fork=3",
				       "block=12",
				       "ignore=13",
				       "umask=077",
				       "opened=/dev/null",
				       "use_first_pass",
				       "try_first_pass",
				       "use_authtok",
				       "authtok_type=Fancy",
				       "[syslog=in a bracket]",
				       "[x \\] y]",
				       "[]",
				       "uid >= 1000",
				       "user = x",
				       "\"quoted text\"",
				       "pre[mid]",
				       "=",
				       "pamprof",
				       "debug" };

/* What leaves something in the handle that points into the module. */
static const char *const leftovers[] = { "data=d0", "data=d1", "replaceconv",
					 "restoreconv", "data=d0" };

/* What changes the process for good. */
static const char *const changes[] = { "setuid=65534", "nofile=8",
				       "closefrom=3",  "fsize=0",
				       "memlock=0",    "chroot=/" };

void
random_argument(struct generator *g, struct buffer *out)
{
	static const char *const functions[] = {
		"auth.", "setcred.", "acct.", "open.", "prelim.", "update."
	};

	if (percent(g, 25)) {
		results(g, out);
		return;
	}
	if (percent(g, 25))
		buffer_text(out, PICK(g, functions));
	if (percent(g, 3))
		buffer_text(out, PICK(g, changes));
	else if (percent(g, 15) && !g->switches)
		buffer_text(out, PICK(g, leftovers));
	else
		buffer_text(out, PICK(g, actions));
}

/* Absolute, relative and with $ISA; there or not, loadable or not. */
void
random_module(struct generator *g, struct buffer *out)
{
	static const char *const stubs[] = { "pam_stub.so", "pam_stub.so",
					     "pam_probe.so", "a/pam_twin.so",
					     "b/pam_twin.so" };
	static const char *const odd[] = {
		"pam_nosetcred.so", "pam_nosession.so",  "pam_nothing.so",
		"pam_missing.so",   "pam_unresolved.so", "pam_text.so",
		"a/../pam_stub.so", "/pam_probe.so"
	};
	static const char *const others[] = {
		"pam_permit.so", "pam_deny.so",          "pam_permit.so",
		"$ISA/no.so",    "pam_no_such_thing.so", "pam_permit"
	};

	if (percent(g, 5))
		buffer_text(out, PICK(g, others));
	else
		buffer_format(out, "%s/%s", g->places->modules,
			      percent(g, 85) ? PICK(g, stubs) : PICK(g, odd));
}

static void
action_list(struct generator *g, struct buffer *out)
{
	static const char *const words[] = { "ignore", "bad", "die",  "ok",
					     "done",   "ok",  "reset" };
	static const char *const broken[] = { "success=",     "=ok",
					      "success",      "oops=ok",
					      "0=ok",         "success=-1",
					      "success=oops", "default=99999" };

	buffer_char(out, '[');
	do {
		if (percent(g, 2))
			buffer_text(out, PICK(g, broken));
		else {
			unsigned value = below(g, PAM_TOKEN_COUNT + 16);

			shaken_word(g, out,
				    value >= PAM_TOKEN_COUNT + 8 ? "success"
				    : value >= PAM_TOKEN_COUNT
					? "default"
					: pam_token_name((int)value));
			buffer_text(out, percent(g, 5) ? " = " : "=");
			if (percent(g, 25))
				buffer_format(out, "%u", below(g, 4));
			else
				shaken_word(g, out, PICK(g, words));
		}
		if (percent(g, 3))
			buffer_text(out, "\\\n");
		buffer_char(out, ' ');
	} while (percent(g, 65));
	buffer_char(out, ']');
}

static void
control(struct generator *g, struct buffer *out)
{
	static const char *const words[] = {
		"required",   "required", "required", "requisite", "sufficient",
		"sufficient", "optional", "optional", "binding",   "requird"
	};

	if (percent(g, 40))
		action_list(g, out);
	else
		shaken_word(g, out, PICK(g, words));
}

void
random_group(struct generator *g, struct buffer *out)
{
	static const char *const groups[] = { "auth",    "auth",    "auth",
					      "account", "session", "session",
					      "password" };

	if (percent(g, 15))
		buffer_char(out, '-');
	shaken_word(g, out, PICK(g, groups));
}

/* What may follow the last word; a backslash takes the next line in. */
void
random_line_end(struct generator *g, struct buffer *out)
{
	static const char *const ends[] = { " ", "\t", "  # comment",
					    " # [auth] x", "#tight" };
	static const char *const odd[] = { " \\", "\\", "\r", "\f" };

	if (percent(g, 20))
		buffer_text(out, PICK(g, ends));
	else if (percent(g, 2))
		buffer_text(out, PICK(g, odd));
	buffer_char(out, '\n');
}

/*
 * An argument list that makes the line 900 to 1100 bytes, around the limit
 * of libpam 1.5. A rule too long to wrap goes to the real module, and if
 * others of the same module are wrapped, the order of unloading changes: so
 * there is one such line at most, with a module of its own.
 */
static void
long_arguments(struct generator *g, struct buffer *out)
{
	unsigned target = 900 + below(g, 200);

	while (out->length < target) {
		unsigned length = 1 + below(g, 20);

		if (out->length + 1 + length > target)
			length = (unsigned)(target - out->length);
		buffer_char(out, ' ');
		for (; length > 0; length--)
			buffer_char(out, 'x');
	}
}

void
random_rule(struct generator *g, struct buffer *out)
{
	unsigned arguments = percent(g, 20) ? 0 : below(g, 6);
	bool is_long = !g->has_long && percent(g, 3);

	if (percent(g, 5))
		random_space(g, out);
	random_group(g, out);
	random_space(g, out);
	control(g, out);
	random_space(g, out);
	if (is_long)
		buffer_format(out, "%s/pam_long.so", g->places->modules);
	else
		random_module(g, out);
	for (; arguments > 0; arguments--) {
		random_space(g, out);
		random_argument(g, out);
	}
	g->has_long |= is_long;
	if (is_long)
		long_arguments(g, out);
	random_line_end(g, out);
}
