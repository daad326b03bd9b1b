/*
 * What the entry points of the stub module (pam_stub.c) and its actions
 * (stub_actions.c, stub_surroundings.c) share.
 */
#ifndef PAMPROF_TESTS_STUB_H
#define PAMPROF_TESTS_STUB_H

#include <security/pam_modules.h>

/* One call of a module function, while it runs. */
struct stub_call {
	pam_handle_t *handle;
	const char *function; /* "auth", "prelim", ... */
	int flags, argc;
	const char **argv;
	int result;     /* what will be returned */
	int exit_errno; /* errno at return */
	char *answer;   /* to the last prompt; freed, never traced */
};

struct stub_action {
	const char *name;
	void (*run)(struct stub_call *call, const char *value);
};

/* Tables that end with a row without a name. */
extern const struct stub_action stub_pam_actions[];
extern const struct stub_action stub_process_actions[];

/* One line of trace, prefixed with the module's name. Keeps errno. */
void stub_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Calls this object's pam_sm_authenticate through the symbol table. */
void stub_call_self(struct stub_call *call);

/* This object's name in traces: its last folder and its file name. */
const char *stub_name(void);

#endif
