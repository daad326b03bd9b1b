/*
 * The numbers in a record that stand for words. They are part of the format
 * (pamprof-records(5)): append, never renumber.
 */
#ifndef PAMPROF_RECORD_KINDS_H
#define PAMPROF_RECORD_KINDS_H

/* What the span is. */
enum record_kind {
	KIND_RUN = 1,      /* one repetition of a measured job (harness) */
	KIND_PHASE,        /* one call of the application into libpam */
	KIND_CALL,         /* one call of a module: a rule of the stack */
	KIND_CONVERSATION, /* one call of the application's conversation */
	KIND_LOAD          /* dlopen of a module; written at its end only */
};

enum record_phase {
	PHASE_NONE,
	PHASE_START, /* pam_start: configuration read, modules loaded */
	PHASE_AUTHENTICATE,
	PHASE_SETCRED,
	PHASE_ACCT_MGMT,
	PHASE_OPEN_SESSION,
	PHASE_CLOSE_SESSION,
	PHASE_DELETE_CRED, /* pam_setcred with PAM_DELETE_CRED */
	PHASE_CHAUTHTOK_PRELIM,
	PHASE_CHAUTHTOK_UPDATE,
	PHASE_CHAUTHTOK, /* pam_chauthtok as a whole: only of KIND_PHASE */
	PHASE_END,       /* pam_end: audit, data clean-up, unloading */
	PHASE_COUNT
};

/* What a span's wall time went to; the split of DESIGN section 2. */
enum record_category {
	CATEGORY_NONE,
	CATEGORY_CPU,
	CATEGORY_CHILD,
	CATEGORY_NAME_RESOLUTION,
	CATEGORY_NETWORK,
	CATEGORY_LOCAL_PEER,
	CATEGORY_FILE,
	CATEGORY_REMOTE_FILE,
	CATEGORY_LOCK,
	CATEGORY_DELIBERATE,
	CATEGORY_HUMAN,
	CATEGORY_OTHER,
	CATEGORY_COUNT
};

/* How a span ended. */
enum record_outcome {
	OUTCOME_NONE,
	OUTCOME_RETURNED, /* result holds the value */
	OUTCOME_SIGNAL,   /* the process died; result is the signal */
	OUTCOME_TIMEOUT,  /* given up by the harness; result is ns / 1e6 */
	OUTCOME_EXIT      /* left without a return; result is the status */
};

/* Bits of record.valid: fields that were measured, not just zero. */
enum record_valid {
	VALID_CPU = 1u << 0,          /* cpu_ns, voluntary, involuntary */
	VALID_CONVERSATION = 1u << 1, /* prompt_ns and prompts were timed */
	VALID_MARKER = 1u << 2,       /* marker names a rule of the map */
	VALID_ARGUMENTS = 1u << 3     /* marker is a hash of the arguments */
};

#endif
