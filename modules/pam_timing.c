/*
 * pam_timing: the shim. A copy of this object stands in a stack in place of
 * one real module, under the same base name; it loads the real module when
 * libpam loads it, passes every call through with the same pointers and
 * returns its value. The recording is done by the resident object; without
 * it, or without a ring, nothing is recorded and nothing else changes.
 *
 * Linked lean, without start files: each object costs a login 20-40 us.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <syslog.h>

#include "call.h"
#include "patch.h"

typedef int (*module_fn)(pam_handle_t *, int, int, const char **);

enum {
	AUTHENTICATE,
	SETCRED,
	ACCT_MGMT,
	OPEN,
	CLOSE,
	CHAUTHTOK,
	FUNCTIONS
};

static const struct {
	char name[24];
	uint8_t phase;
} functions[FUNCTIONS] = {
	[AUTHENTICATE] = { "pam_sm_authenticate", PHASE_AUTHENTICATE },
	[SETCRED] = { "pam_sm_setcred", PHASE_SETCRED },
	[ACCT_MGMT] = { "pam_sm_acct_mgmt", PHASE_ACCT_MGMT },
	[OPEN] = { "pam_sm_open_session", PHASE_OPEN_SESSION },
	[CLOSE] = { "pam_sm_close_session", PHASE_CLOSE_SESSION },
	[CHAUTHTOK] = { "pam_sm_chauthtok", PHASE_CHAUTHTOK },
};

static const struct patch_shim patch
    __attribute__((used)) = { .magic = PATCH_SHIM_MAGIC };

static void *real;
static module_fn real_function[FUNCTIONS];
static const struct call_operations *operations;

/*
 * The real module has gone since the shim was made: libpam would have said
 * so in two lines, and taken every call for PAM_MODULE_UNKNOWN.
 */
static void
say_missing(const struct patch_shim *patched)
{
	const char *why = dlerror();

	if (patched->silent)
		return;
	syslog(LOG_AUTHPRIV | LOG_ERR, "PAM unable to dlopen(%s): %s",
	       patched->name, why != NULL ? why : "");
	syslog(LOG_AUTHPRIV | LOG_ERR, "PAM adding faulty module: %s",
	       patched->name);
}

static const struct call_operations *
find_operations(const char *path)
{
	void *resident = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct call_operations *found;

	if (resident == NULL)
		return NULL;
	found = dlsym(resident, CALL_OPERATIONS_NAME);
	if (found == NULL || found->version != CALL_OPERATIONS_VERSION ||
	    found->frame_size != sizeof(struct call_frame))
		return NULL;
	return found;
}

__attribute__((constructor)) static void
load(void)
{
	/* Through a volatile pointer: written into the file after linking. */
	const struct patch_shim *volatile patched = &patch;
	uint64_t start = emit_now(), duration;
	int saved;

	real = dlopen(patched->real, RTLD_NOW);
	if (real == NULL)
		say_missing(patched);
	for (int i = 0; real != NULL && i < FUNCTIONS; i++)
		real_function[i] =
		    (module_fn)(uintptr_t)dlsym(real, functions[i].name);
	duration = emit_now() - start;
	saved = errno;
	operations = find_operations(patched->resident);
	if (operations != NULL)
		operations->loaded(patched->real, start, duration);
	dlerror();
	errno = saved;
}

__attribute__((destructor)) static void
unload(void)
{
	/* Not the resident object: it stays, and closing it costs 2 us. */
	if (real != NULL)
		dlclose(real);
}

/*
 * Takes our argument off the end: "pamprof=17", or "pamprof=17+" where libpam
 * would have passed a vector although there was no argument.
 */
static void
take_marker(struct call_site *site, int *argc, const char ***argv)
{
	static const char prefix[] = "pamprof=";
	const char *c;
	unsigned i;

	if (*argc < 1)
		return;
	c = (*argv)[*argc - 1];
	for (i = 0; prefix[i] != '\0'; i++, c++) {
		if (*c != prefix[i])
			return;
	}
	for (; *c >= '0' && *c <= '9'; c++)
		site->marker = site->marker * 10 + (uint32_t)(*c - '0');
	site->valid = VALID_MARKER;
	if (--*argc == 0 && *c != '+')
		*argv = NULL;
}

static int
pass(int function, pam_handle_t *handle, int flags, int argc, const char **argv)
{
	struct call_frame frame;
	struct call_site site = { .handle = handle,
				  .flags = (uint32_t)flags,
				  .kind = KIND_CALL };
	module_fn call = real_function[function];
	int result;

	take_marker(&site, &argc, &argv);
	if (call == NULL)
		return PAM_MODULE_UNKNOWN;
	if (operations == NULL)
		return call(handle, flags, argc, argv);
	site.phase = functions[function].phase;
	operations->enter(&frame, &site);
	result = call(handle, flags, argc, argv);
	operations->leave(&frame, result);
	return result;
}

#define ENTRY(symbol, function)                                                \
	__attribute__((visibility("default"))) int symbol(                     \
	    pam_handle_t *handle, int flags, int argc, const char **argv)      \
	{                                                                      \
		return pass(function, handle, flags, argc, argv);              \
	}

/* clang-format off */
ENTRY(pam_sm_authenticate, AUTHENTICATE)
ENTRY(pam_sm_setcred, SETCRED)
ENTRY(pam_sm_acct_mgmt, ACCT_MGMT)
ENTRY(pam_sm_open_session, OPEN)
ENTRY(pam_sm_close_session, CLOSE)
ENTRY(pam_sm_chauthtok, CHAUTHTOK)
