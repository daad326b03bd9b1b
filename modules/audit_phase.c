/*
 * Functions that stand in for those of libpam that applications call, so
 * that libpam's own time - loading modules, the failure delay, audit records,
 * clean-up - is known. Separate from audit_module.c because there is one per
 * name and not per object, and because of what only the application's side
 * can tell: when a handle begins and ends, and with it the transaction.
 */
#include <string.h>

#include "audit.h"

#define HANDLES 64 /* open at once in one process; more are not recorded */

/* Transactions by handle; the addresses repeat, so pam_end(3) forgets them. */
static struct {
	_Atomic(const pam_handle_t *) handle;
	uint64_t transaction;
} handles[HANDLES];

/* The real functions: by phase, and pam_start_confdir(3) behind them. */
#define START_CONFDIR PHASE_COUNT

typedef void (*any_fn)(void);
typedef int (*phase_fn)(pam_handle_t *, int); /* pam_end(3) as well */
typedef int (*start_fn)(const char *, const char *, const struct pam_conv *,
			pam_handle_t **);
typedef int (*start_confdir_fn)(const char *, const char *,
				const struct pam_conv *, const char *,
				pam_handle_t **);

static any_fn real[START_CONFDIR + 1];

uint64_t
audit_phase_transaction(const pam_handle_t *handle)
{
	if (handle == NULL) /* a free place is no handle */
		return 0;
	for (unsigned i = 0; i < HANDLES; i++) {
		if (handles[i].handle == handle)
			return handles[i].transaction;
	}
	return 0;
}

static void
forget(const pam_handle_t *handle)
{
	for (unsigned i = 0; i < HANDLES; i++) {
		if (handles[i].handle == handle)
			handles[i].handle = NULL;
	}
}

static void
remember(const pam_handle_t *handle, uint64_t transaction)
{
	forget(handle); /* left over from a pam_end that we did not see */
	for (unsigned i = 0; i < HANDLES; i++) {
		const pam_handle_t *nobody = NULL;

		if (atomic_compare_exchange_strong(&handles[i].handle, &nobody,
						   handle)) {
			handles[i].transaction = transaction;
			return;
		}
	}
	audit_drop();
}

static void
enter(struct call_frame *frame, const struct call_site *site)
{
	int saved = audit_errno_get();

	call_enter(frame, &audit_base.pam, site);
	audit_errno_set(saved);
}

static void
leave(struct call_frame *frame, int result)
{
	int saved = audit_errno_get();

	call_leave(frame, &audit_base.pam, result);
	audit_errno_set(saved);
}

/* There is no handle yet: the id is made first and kept if one comes. */
static struct call_site
start_site(const char *service)
{
	struct call_site site = { .kind = KIND_PHASE,
				  .phase = PHASE_START,
				  .service = service };

	if (ring_enter()) {
		site.transaction = ring_transaction();
		ring_leave();
	}
	return site;
}

static void
started(struct call_frame *frame, int result, pam_handle_t **handle)
{
	if (result == PAM_SUCCESS && frame->site.transaction != 0)
		remember(*handle, frame->site.transaction);
	leave(frame, result);
}

static int
start(const char *service, const char *user, const struct pam_conv *conv,
      pam_handle_t **handle)
{
	struct call_site site = start_site(service);
	struct call_frame frame;
	int result;

	enter(&frame, &site);
	result = ((start_fn)real[PHASE_START])(service, user, conv, handle);
	started(&frame, result, handle);
	return result;
}

static int
start_confdir(const char *service, const char *user,
	      const struct pam_conv *conv, const char *confdir,
	      pam_handle_t **handle)
{
	struct call_site site = start_site(service);
	struct call_frame frame;
	int result;

	enter(&frame, &site);
	result = ((start_confdir_fn)real[START_CONFDIR])(service, user, conv,
							 confdir, handle);
	started(&frame, result, handle);
	return result;
}

/* The handle is gone afterwards: its service is copied before. */
static int
end(pam_handle_t *handle, int status)
{
	struct call_site site = { .kind = KIND_PHASE, .phase = PHASE_END };
	struct call_frame frame;
	char service[256] = "";
	const void *item = NULL;
	int result, saved;

	site.transaction = audit_phase_transaction(handle);
	if (site.transaction == 0 || audit_base.libpam == NULL)
		return ((phase_fn)real[PHASE_END])(handle, status);
	saved = audit_errno_get();
	if (audit_base.pam.get_item(handle, PAM_SERVICE, &item) ==
		PAM_SUCCESS &&
	    item != NULL)
		strncpy(service, item, sizeof(service) - 1);
	audit_errno_set(saved);
	site.service = service;
	site.flags = (uint32_t)status;
	forget(handle);
	enter(&frame, &site);
	result = ((phase_fn)real[PHASE_END])(handle, status);
	leave(&frame, result);
	return result;
}

static int
phase(uint8_t number, pam_handle_t *handle, int flags)
{
	struct call_site site = { .handle = handle,
				  .flags = (uint32_t)flags,
				  .kind = KIND_PHASE,
				  .phase = number };
	struct call_frame frame;
	int result;

	site.transaction = audit_phase_transaction(handle);
	if (site.transaction == 0 || audit_base.libpam == NULL)
		return ((phase_fn)real[number])(handle, flags);
	enter(&frame, &site);
	result = ((phase_fn)real[number])(handle, flags);
	leave(&frame, result);
	return result;
}

#define PHASE_FUNCTION(name, number)                                           \
	static int name(pam_handle_t *handle, int flags)                       \
	{                                                                      \
		return phase(number, handle, flags);                           \
	}

/* clang-format off */
PHASE_FUNCTION(authenticate, PHASE_AUTHENTICATE)
PHASE_FUNCTION(setcred, PHASE_SETCRED)
PHASE_FUNCTION(acct_mgmt, PHASE_ACCT_MGMT)
PHASE_FUNCTION(open_session, PHASE_OPEN_SESSION)
PHASE_FUNCTION(close_session, PHASE_CLOSE_SESSION)
PHASE_FUNCTION(chauthtok, PHASE_CHAUTHTOK)
/* clang-format on */

static const struct {
	const char *name;
	any_fn stand_in;
	uint8_t number; /* of the real function */
} functions[] = {
	{ "pam_start", (any_fn)start, PHASE_START },
	{ "pam_start_confdir", (any_fn)start_confdir, START_CONFDIR },
	{ "pam_end", (any_fn)end, PHASE_END },
	{ "pam_authenticate", (any_fn)authenticate, PHASE_AUTHENTICATE },
	{ "pam_setcred", (any_fn)setcred, PHASE_SETCRED },
	{ "pam_acct_mgmt", (any_fn)acct_mgmt, PHASE_ACCT_MGMT },
	{ "pam_open_session", (any_fn)open_session, PHASE_OPEN_SESSION },
	{ "pam_close_session", (any_fn)close_session, PHASE_CLOSE_SESSION },
	{ "pam_chauthtok", (any_fn)chauthtok, PHASE_CHAUTHTOK },
};

uintptr_t
audit_phase_bind(const char *symbol, uintptr_t function)
{
	for (unsigned i = 0; i < sizeof(functions) / sizeof(functions[0]);
	     i++) {
		if (strcmp(symbol, functions[i].name) != 0)
			continue;
		real[functions[i].number] = (any_fn)function;
		return (uintptr_t)functions[i].stand_in;
	}
	return function;
}
