/*
 * The parts of the rtld-audit observer: what an object is, the functions
 * that stand in for a module's, and those that stand in for libpam's. All
 * run under the rules of ring.h, and nothing here makes a system call while
 * the loader asks about an object.
 */
#ifndef PAMPROF_AUDIT_H
#define PAMPROF_AUDIT_H

#include <link.h>

#include "call.h"

/* An object's dynamic section, as far as we read it. */
struct audit_object {
	ElfW(Addr) base;
	const ElfW(Dyn) * dynamic;
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *gnu_hash, *sysv_hash;
};

/* Fills object in; false for one that has no symbols. */
bool audit_object_read(struct audit_object *object, const struct link_map *map);

/* Whether its DT_SONAME, or one of its DT_NEEDED, begins with name. */
bool audit_object_is(const struct audit_object *object, const char *name);
bool audit_object_needs(const struct audit_object *object, const char *name);

/* Address of a function that the object defines and exports, or 0. */
uintptr_t audit_object_function(const struct audit_object *object,
				const char *name);

/* What of the program's namespace is in use; zero where not there. */
struct audit_base {
	struct call_pam pam;
	const struct link_map *libpam;
	const struct link_map *libc;
	int *(*errno_location)(void); /* the program's errno, not ours */
};
extern struct audit_base audit_base;

/* The program's errno: taken before our work and put back after it. */
int audit_errno_get(void);
void audit_errno_set(int value);

/* Says in the ring that something will be missing from the records. */
void audit_drop(void);

/* ---- Functions of modules (audit_module.c) ------------------------------ */

/* Phase of a pam_sm_ function, PHASE_NONE for any other name. */
uint8_t audit_module_phase(const char *symbol);

/*
 * The function to call in place of `function` of the object at map. The same
 * one for the same function; `function` itself when no slot is free, which
 * counts as one loss, though its calls are not seen either.
 */
uintptr_t audit_module_bind(const struct link_map *map, uintptr_t function,
			    uint8_t phase);

/* The object is about to be unmapped; its addresses may come again. */
void audit_module_forget(const struct link_map *map);

/* ---- Functions of libpam (audit_phase.c) -------------------------------- */

/*
 * The function to call in place of libpam's `function` with that name, or
 * `function` itself if the name is none of the application's calls.
 */
uintptr_t audit_phase_bind(const char *symbol, uintptr_t function);

/* Id given to the handle by its pam_start(3), or 0. */
uint64_t audit_phase_transaction(const pam_handle_t *handle);

#endif
