/*
 * The generator behind stack_generator.h. Three things are never made: an
 * include loop, which libpam 1.5 does not survive; a service change while a
 * module has left data or a conversation in the handle, which crashes libpam
 * or not depending on what is mapped where; and a missing @include in an
 * included file, for which libpam uses memory that it has not set.
 */
#include "stack_generator.h"

#include <stdlib.h>
#include <string.h>

#include "../../pamprof/base/alloc.h"
#include "stack_words.h"

#define LINES_MAX 7
#define CALLS_MAX 9

const char *const stack_file_names[STACK_FILES] = { "svc", "second", "other",
						    "include", "inner" };

/* Files include only those behind them. */
static void
include(struct generator *g, struct buffer *out, enum stack_file_index from)
{
	enum stack_file_index to = from == STACK_INCLUDE || percent(g, 30)
				       ? STACK_INNER
				       : STACK_INCLUDE;
	bool missing = percent(g, 1);

	if (percent(g, 25) && !(missing && from == STACK_INCLUDE)) {
		shaken_word(g, out, "@include");
	} else {
		random_group(g, out);
		random_space(g, out);
		shaken_word(g, out, percent(g, 50) ? "include" : "substack");
	}
	buffer_text(out, percent(g, 80) ? " " : "\t ");
	buffer_format(out, "%s/%s", g->places->confdir,
		      missing ? "nowhere" : stack_file_names[to]);
	random_line_end(g, out);
}

static void
no_rule(struct generator *g, struct buffer *out)
{
	static const char *const lines[] = {
		"\n",
		"   \n",
		"# comment\n",
		"\t# auth required pam_deny.so\n",
		"# comment that goes on \\\n",
		"#\n",
		"auth\n",
		"auth required\n",
		"auth required # pam_permit.so\n",
		"session [success=ok\n",
		"nothing required pam_permit.so\n",
		"-account\n",
		"authx required pam_permit.so\n",
		"account [ ] pam_permit.so\n",
		"auth [success=1 pam_deny.so\n",
		"session [success=ok default=bad]pam_permit.so\n",
		"auth\\\n required \\\n# inner\n pam_permit.so\n",
		"password required \\\n\n pam_permit.so\n",
		"svc auth required pam_permit.so\n",
	};

	buffer_text(out, PICK(g, lines));
}

static void
append(struct stack_lines *lines, char *text)
{
	lines->text =
	    alloc_array(lines->text, lines->count + 1, sizeof(*lines->text));
	lines->text[lines->count++] = text;
}

/* One rule of every group, else most calls would find nothing to do. */
static void
plain_rules(struct generator *g, struct stack_lines *lines)
{
	static const char *const groups[] = { "auth", "account", "session",
					      "password" };

	for (size_t i = 0; i < COUNT(groups); i++) {
		struct buffer line = { 0 };

		buffer_format(&line, "%s %s ", groups[i],
			      percent(g, 70) ? "optional" : "required");
		random_module(g, &line);
		random_space(g, &line);
		random_argument(g, &line);
		random_line_end(g, &line);
		append(lines, buffer_take(&line));
	}
}

static void
generate_file(struct generator *g, struct stack_case *stack,
	      enum stack_file_index index)
{
	struct stack_lines *lines = &stack->files[index];
	unsigned count = below(g, LINES_MAX);

	while (count-- > 0) {
		struct buffer line = { 0 };

		if (index != STACK_INNER && percent(g, 15))
			include(g, &line, index);
		else if (percent(g, 7))
			no_rule(g, &line);
		else
			random_rule(g, &line);
		append(lines, buffer_take(&line));
	}
	if (index <= STACK_OTHER && percent(g, 80))
		plain_rules(g, lines);
	/* A backslash at the end of a file makes libpam refuse it whole. */
	if (lines->count == 0 || percent(g, 90))
		append(lines, alloc_string("session optional pam_permit.so\n"));
}

static void
step(struct stack_case *stack, const char *text)
{
	append(&stack->script, alloc_string(text));
}

static void
call_step(struct generator *g, struct stack_case *stack)
{
	static const char *const calls[] = {
		"auth 0",          "auth 0",         "auth 0x8000",
		"auth 0x8001",     "setcred 2",      "setcred 2",
		"setcred 0x8004",  "setcred 0x10",   "setcred 8",
		"acct 0",          "acct 0x8000",    "open 0",
		"open 0x8000",     "close 0x8000",   "close 0",
		"chauthtok 0",     "chauthtok 0x20", "chauthtok 0x8020",
		"chauthtok 0x4000"
	};

	step(stack, PICK(g, calls));
}

static void
change_step(struct generator *g, struct stack_case *stack)
{
	static const char *const steps[] = { "item user bob",
					     "item user -",
					     "item rhost 10.0.0.1",
					     "item tty /dev/tty1",
					     "item user_prompt Name:",
					     "token",
					     "delay 5000",
					     "putenv A=app",
					     "putenv A",
					     "swapconv",
					     "conv fail",
					     "conv answer",
					     "conv again",
					     "show",
					     "fds",
					     "umask 027",
					     "signal 10",
					     "opened /dev/null" };
	static const char *const rough[] = { "chroot /tmp", "setuid 65534",
					     "closefrom 3", "nofile 6",
					     "nofile 3",    "fsize 0" };

	if (g->switches && percent(g, 30))
		step(stack, percent(g, 80) ? "item service second"
					   : "item service unknown");
	else
		step(stack, percent(g, 10) ? PICK(g, rough) : PICK(g, steps));
}

static void
random_calls(struct generator *g, struct stack_case *stack)
{
	unsigned count = below(g, CALLS_MAX);

	while (count-- > 0) {
		if (percent(g, 4)) {
			step(stack, "fork");
			call_step(g, stack);
			step(stack, "end 0x40000000");
			step(stack, "join");
		} else if (percent(g, 25)) {
			change_step(g, stack);
		} else {
			call_step(g, stack);
		}
	}
}

/* What login programs do. */
static void
login(struct generator *g, struct stack_case *stack)
{
	static const char *const calls[] = { "auth 0",    "acct 0",
					     "setcred 2", "open 0",
					     "show",      "close 0x8000",
					     "setcred 4" };

	for (size_t i = 0; i < COUNT(calls); i++) {
		step(stack, calls[i]);
		if (percent(g, 10))
			change_step(g, stack);
	}
}

static void
transaction(struct generator *g, struct stack_case *stack)
{
	static const char *const starts[] = { "start svc -", "start second ''",
					      "start unknown joe" };

	step(stack, percent(g, 85) ? "start svc joe" : PICK(g, starts));
	step(stack, "delayfn");
	if (percent(g, 40))
		login(g, stack);
	else
		random_calls(g, stack);
	if (percent(g, 95))
		step(stack, percent(g, 50) ? "end 0" : "end 7");
}

static void
generate_script(struct generator *g, struct stack_case *stack)
{
	transaction(g, stack);
	if (percent(g, 15)) {
		step(stack, "use 1");
		transaction(g, stack);
		step(stack, "use 0");
		random_calls(g, stack);
	}
}

void
stack_generate(struct stack_case *stack, uint64_t seed,
	       const struct stack_places *places)
{
	struct generator g = { .state = seed, .places = places };

	memset(stack, 0, sizeof(*stack));
	stack->seed = seed;
	g.switches = percent(&g, 15);
	generate_file(&g, stack, STACK_SERVICE);
	generate_file(&g, stack, STACK_INCLUDE);
	generate_file(&g, stack, STACK_INNER);
	if (g.switches || percent(&g, 10))
		generate_file(&g, stack, STACK_SECOND);
	if (percent(&g, 20))
		generate_file(&g, stack, STACK_OTHER);
	generate_script(&g, stack);
}

static void
free_lines(struct stack_lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free(lines->text[i]);
	free(lines->text);
}

void
stack_case_free(struct stack_case *stack)
{
	for (size_t i = 0; i < STACK_FILES; i++)
		free_lines(&stack->files[i]);
	free_lines(&stack->script);
	memset(stack, 0, sizeof(*stack));
}
