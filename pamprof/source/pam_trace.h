/*
 * A program as it is, started under the audit observer (rtld-audit(7)).
 */
#ifndef PAMPROF_SOURCE_PAM_TRACE_H
#define PAMPROF_SOURCE_PAM_TRACE_H

#include <stdbool.h>

#include "../base/child.h"

/* A program to be traced, and what to do while it runs. */
struct pam_trace {
	char *const *argv;   /* ended by NULL; argv[0] is looked for in PATH */
	const char *ring;    /* absolute path */
	const char *auditor; /* absolute path, see pam_trace_auditor() */
	void (*idle)(void *context); /* called some fifty times a second */
	void *context;
};

/*
 * Starts the program with the auditor in its environment, everything else as
 * it is: descriptors, terminal, signals. Waits until it has ended; children
 * that it leaves behind are not waited for. Signals from the terminal are
 * the program's, those sent to us are passed on. Returns 0 with *end filled,
 * ERROR_USAGE when the program cannot be started, or ERROR_SYSTEM.
 */
int pam_trace_run(const struct pam_trace *trace, struct child_end *end,
		  struct error *error);

/*
 * Whether the loader would leave the auditor out because the program gains
 * privileges when it starts (ld.so(8), secure-execution mode). False for
 * what cannot be found or read.
 */
bool pam_trace_is_secure(const char *program);

/*
 * Finds an auditor that every user can read, or the loader would complain on
 * stderr in programs that run as somebody else: the installed one, or, where
 * that lies in somebody's closed folder, a copy in folder, which is made
 * searchable for all. Sets *path, to be freed.
 */
int pam_trace_auditor(char **path, const char *folder, struct error *error);

#endif
