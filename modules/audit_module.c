/*
 * Functions that stand in for a module's pam_sm_ ones. Separate from audit.c
 * because these run when the program calls, those when the loader works. An
 * auditor may only give another address, and libpam passes nothing that says
 * which module it calls: so there is one small function for each that can be
 * found at a time, and its number leads to the real one.
 */
#include <string.h>

#include "audit.h"

#define SLOTS 512 /* some 85 modules, each with all six functions */

typedef int (*module_fn)(pam_handle_t *, int, int, const char **);

/*
 * A slot that is free keeps its function: a destructor may still call it
 * while a program ends and the loader has already said good-bye to the
 * module, which is not unmapped then.
 */
struct slot {
	module_fn function;
	const struct link_map *map; /* NULL: free */
	uint8_t phase;
};

static struct slot slots[SLOTS];

static const struct {
	const char *name;
	uint8_t phase;
} functions[] = {
	{ "authenticate", PHASE_AUTHENTICATE },
	{ "setcred", PHASE_SETCRED },
	{ "acct_mgmt", PHASE_ACCT_MGMT },
	{ "open_session", PHASE_OPEN_SESSION },
	{ "close_session", PHASE_CLOSE_SESSION },
	{ "chauthtok", PHASE_CHAUTHTOK },
};

/* FNV-1a over each argument and its zero byte: VALID_ARGUMENTS. */
static uint32_t
arguments_hash(int argc, const char **argv)
{
	uint32_t hash = 2166136261u;

	for (int i = 0; i < argc; i++) {
		const char *c = argv[i];

		do
			hash = (hash ^ (unsigned char)*c) * 16777619u;
		while (*c++ != '\0');
	}
	return hash;
}

/* Whether the function called is a shim's: its last argument says so. */
static bool
is_shim(int argc, const char **argv)
{
	static const char prefix[] = "pamprof=";

	return argc > 0 &&
	       strncmp(argv[argc - 1], prefix, sizeof(prefix) - 1) == 0;
}

/*
 * Before a shim is called: the handle gets the id that its pam_start(3) was
 * recorded with, or the shim would give it one of its own and the two halves
 * of a login would not be known to belong together.
 */
static void
give_transaction(pam_handle_t *handle)
{
	uint64_t id = audit_phase_transaction(handle);
	int saved = audit_errno_get();

	if (id != 0)
		call_transaction(&audit_base.pam, handle, id);
	audit_errno_set(saved);
}

static int
recorded(const struct slot *slot, const struct call_site *site, int argc,
	 const char **argv)
{
	struct call_frame frame;
	int saved = audit_errno_get(), result;

	call_enter(&frame, &audit_base.pam, site);
	audit_errno_set(saved);
	result = slot->function(site->handle, (int)site->flags, argc, argv);
	saved = audit_errno_get();
	call_leave(&frame, &audit_base.pam, result);
	audit_errno_set(saved);
	return result;
}

static int
through(unsigned number, pam_handle_t *handle, int flags, int argc,
	const char **argv)
{
	const struct slot *slot = &slots[number];
	struct call_site site = { .handle = handle,
				  .flags = (uint32_t)flags,
				  .kind = KIND_CALL,
				  .phase = slot->phase,
				  .valid = VALID_ARGUMENTS };

	if (slot->map == NULL || audit_base.libpam == NULL)
		return slot->function(handle, flags, argc, argv);
	if (is_shim(argc, argv)) {
		give_transaction(handle);
		return slot->function(handle, flags, argc, argv);
	}
	site.object = slot->map->l_name;
	site.transaction = audit_phase_transaction(handle);
	site.marker = arguments_hash(argc, argv);
	return recorded(slot, &site, argc, argv);
}

#define STAND_IN(n)                                                            \
	static int stand_in_##n(pam_handle_t *handle, int flags, int argc,     \
				const char **argv)                             \
	{                                                                      \
		return through(0x##n, handle, flags, argc, argv);              \
	}
#define NAME(n) stand_in_##n,

/* clang-format off */
#define SIXTEEN(what, n) \
	what(n##0) what(n##1) what(n##2) what(n##3) \
	what(n##4) what(n##5) what(n##6) what(n##7) \
	what(n##8) what(n##9) what(n##a) what(n##b) \
	what(n##c) what(n##d) what(n##e) what(n##f)
#define PAGE(what, n) \
	SIXTEEN(what, n##0) SIXTEEN(what, n##1) SIXTEEN(what, n##2) \
	SIXTEEN(what, n##3) SIXTEEN(what, n##4) SIXTEEN(what, n##5) \
	SIXTEEN(what, n##6) SIXTEEN(what, n##7) SIXTEEN(what, n##8) \
	SIXTEEN(what, n##9) SIXTEEN(what, n##a) SIXTEEN(what, n##b) \
	SIXTEEN(what, n##c) SIXTEEN(what, n##d) SIXTEEN(what, n##e) \
	SIXTEEN(what, n##f)

PAGE(STAND_IN, 0)
PAGE(STAND_IN, 1)

static const module_fn stand_ins[SLOTS] = {
	PAGE(NAME, 0)
	PAGE(NAME, 1)
};
/* clang-format on */

uint8_t
audit_module_phase(const char *symbol)
{
	static const char prefix[] = "pam_sm_";

	if (strncmp(symbol, prefix, sizeof(prefix) - 1) != 0)
		return PHASE_NONE;
	symbol += sizeof(prefix) - 1;
	for (unsigned i = 0; i < sizeof(functions) / sizeof(functions[0]);
	     i++) {
		if (strcmp(symbol, functions[i].name) == 0)
			return functions[i].phase;
	}
	return PHASE_NONE;
}

/* The loader holds its lock here: nobody else binds or forgets. */
uintptr_t
audit_module_bind(const struct link_map *map, uintptr_t function, uint8_t phase)
{
	struct slot *unused = NULL;

	for (unsigned i = 0; i < SLOTS; i++) {
		struct slot *slot = &slots[i];

		if (slot->map == map && slot->phase == phase &&
		    slot->function == (module_fn)function)
			return (uintptr_t)stand_ins[i];
		if (slot->map == NULL && unused == NULL)
			unused = slot;
	}
	if (unused == NULL) {
		audit_drop();
		return function;
	}
	unused->function = (module_fn)function;
	unused->phase = phase;
	unused->map = map;
	return (uintptr_t)stand_ins[unused - slots];
}

void
audit_module_forget(const struct link_map *map)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		if (slots[i].map == map)
			slots[i].map = NULL;
	}
}
