/*
 * What the parts of the PAM driver share: its state, its conversation and
 * its table of steps.
 */
#ifndef PAMPROF_TESTS_DRIVER_H
#define PAMPROF_TESTS_DRIVER_H

#include <pthread.h>
#include <security/pam_appl.h>
#include <setjmp.h>
#include <stdbool.h>

#define DRIVER_HANDLES 4

enum conversation_mode {
	CONV_ANSWER,
	CONV_FAIL,    /* returns PAM_CONV_ERR */
	CONV_AGAIN,   /* returns PAM_CONV_AGAIN */
	CONV_LONGJMP, /* back to the driver's step */
	CONV_EXIT,    /* exit(7) */
	CONV_BLOCK,   /* waits to be cancelled */
	CONV_THREAD_EXIT
};

struct driver;

/* One handle with its own conversation data. */
struct driver_handle {
	pam_handle_t *pam;
	char label;
	char answer[32];
	enum conversation_mode mode;
	bool asked; /* set by CONV_BLOCK, under the driver's mutex */
	struct driver *driver;
};

struct driver {
	const char *confdir;
	struct driver_handle handles[DRIVER_HANDLES];
	struct driver_handle *current;
	jmp_buf back;
	pthread_mutex_t mutex;
	pthread_cond_t blocked;
	bool other; /* the handles' PAM_CONV is the second function */
};

struct driver_step {
	const char *name;
	void (*run)(struct driver *driver, char *arguments);
};

/* Tables that end with a row without a name: PAM calls, process changes. */
extern const struct driver_step driver_pam_steps[];
extern const struct driver_step driver_process_steps[];

/* Runs one line; an unknown step is traced as such. */
void driver_step(struct driver *driver, char *line);

/* The conversation, which traces messages but never answers. */
int driver_conversation(int count, const struct pam_message **messages,
			struct pam_response **responses, void *data);

/* A second function that does the same, for PAM_CONV being replaced. */
int driver_conversation_2(int count, const struct pam_message **messages,
			  struct pam_response **responses, void *data);

/* PAM_FAIL_DELAY: traces instead of sleeping. */
void driver_delay(int result, unsigned usec, void *data);

/* Trace buffer (driver_trace.c): shared with every child. */
void driver_trace_create(void);
void driver_trace_reset(void);
const char *driver_trace_text(void);
void driver_trace_pause(bool paused);

#endif
