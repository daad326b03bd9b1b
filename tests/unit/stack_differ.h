/*
 * Runs one case bare and wrapped and compares what the application, the
 * modules, the log and the audit record have seen: as text, to the letter.
 */
#ifndef PAMPROF_TESTS_STACK_DIFFER_H
#define PAMPROF_TESTS_STACK_DIFFER_H

#include "stack_driver.h"

struct shim_folder;

/* What the second side of the comparison is. */
enum stack_side {
	SIDE_BARE,    /* bare as well, which must never differ */
	SIDE_WRAPPED, /* shims that record all they can */
	SIDE_PLAIN,   /* shims whose ring asks for no extras */
	SIDE_NO_RING, /* shims that find no ring */
	SIDE_ALONE    /* shims that find not even the resident object */
};

struct stack_differ {
	char *folder, *bare_folder, *wrapped_folder;
	char *ring, *audit_ring;
	struct stack_places places;
	struct shim_folder *shims; /* NULL: both sides are bare */
	struct stack_driver bare, wrapped;
	struct stack_driver audited; /* not running without the auditor */
	int mixed; /* the order of unloading may differ in this case */
	unsigned wrapped_rules, other_rules, refused;
};

/* What came out of one case. Free the texts with stack_outcome_free(). */
struct stack_outcome {
	char *bare, *wrapped, *audited; /* traces; NULL: driver died */
	char *refusal; /* why the tool would not read the stack, or NULL */
	int equal;
};

/*
 * Makes temporary folders, the ring and the shims, and starts the drivers.
 * Returns 0, or -1 with the reason printed; stop it in both cases.
 */
int stack_differ_start(struct stack_differ *differ, enum stack_side side);
void stack_differ_stop(struct stack_differ *differ);

/* Runs the case. */
void stack_differ_run(struct stack_differ *differ,
		      const struct stack_case *stack,
		      struct stack_outcome *outcome);
void stack_outcome_free(struct stack_outcome *outcome);

/* Drops from a case that differs every line without which it still does. */
void stack_differ_shrink(struct stack_differ *differ, struct stack_case *stack);

/* Prints seed, stack, script and the first lines that differ. */
void stack_differ_report(struct stack_differ *differ,
			 const struct stack_case *stack);

#endif
