/*
 * Drives one login. Apart from what starts and watches the process it runs
 * in: this is the only file of the tool that calls a stack. The clocks are
 * read as close to libpam's functions as possible, so that writing records
 * is not measured; what it costs shows as the run's remainder.
 */
#include "pam.h"

#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>

#include "../../modules/emit.h"

/* Names of --phases, and the application's calls each stands for. */
static const struct {
	const char *name;
	unsigned phases;
	bool by_default;
} groups[] = {
	{ "auth", PAM_PHASE_BIT(PHASE_AUTHENTICATE), true },
	{ "account", PAM_PHASE_BIT(PHASE_ACCT_MGMT), true },
	{ "setcred",
	  PAM_PHASE_BIT(PHASE_SETCRED) | PAM_PHASE_BIT(PHASE_DELETE_CRED),
	  true },
	{ "session",
	  PAM_PHASE_BIT(PHASE_OPEN_SESSION) |
	      PAM_PHASE_BIT(PHASE_CLOSE_SESSION),
	  true },
	{ "password", PAM_PHASE_BIT(PHASE_CHAUTHTOK), false },
};

#define GROUPS (sizeof(groups) / sizeof(groups[0]))

/* The calls in the order of an application. */
static const struct step {
	uint8_t phase;
	int flags;
	int (*call)(pam_handle_t *, int);
} steps[] = {
	{ PHASE_AUTHENTICATE, 0, pam_authenticate },
	{ PHASE_ACCT_MGMT, 0, pam_acct_mgmt },
	{ PHASE_CHAUTHTOK, 0, pam_chauthtok },
	{ PHASE_SETCRED, PAM_ESTABLISH_CRED, pam_setcred },
	{ PHASE_OPEN_SESSION, 0, pam_open_session },
	{ PHASE_CLOSE_SESSION, 0, pam_close_session },
	{ PHASE_DELETE_CRED, PAM_DELETE_CRED, pam_setcred },
};

/* A span being measured. */
struct timer {
	struct record record;
	struct emit_texts texts;
	struct rusage usage;
	uint64_t cpu_ns;
};

int
pam_login_phases(unsigned *phases, const char *list, struct error *error)
{
	*phases = 0;
	for (size_t i = 0; list == NULL && i < GROUPS; i++)
		*phases |= groups[i].by_default ? groups[i].phases : 0;
	while (list != NULL) {
		size_t length = strcspn(list, ","), i = 0;

		while (i < GROUPS &&
		       (strlen(groups[i].name) != length ||
			memcmp(groups[i].name, list, length) != 0))
			i++;
		if (i == GROUPS)
			return error_set(error, ERROR_USAGE,
					 "--phases: no phase \"%.*s\"; there "
					 "are auth, account, setcred, session "
					 "and password",
					 (int)length, list);
		*phases |= groups[i].phases;
		list = list[length] == ',' ? list + length + 1 : NULL;
	}
	return 0;
}

/*
 * CPU time of the thread. Not from getrusage(2), which knows what the last
 * tick of the scheduler knew: up to 4 ms would go to the wrong phase.
 */
static uint64_t
cpu_now(void)
{
	struct timespec now = { 0 };

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Begins a span; false when it cannot be recorded. */
static bool
timer_start(struct timer *timer, const struct pam_login *login)
{
	timer->texts.field[FIELD_SERVICE] = login->service;
	timer->texts.field[FIELD_RHOST] = login->rhost;
	timer->texts.field[FIELD_TTY] = login->tty;
	timer->record.start_ns = emit_now();
	if (!emit_begin(&timer->record, &timer->texts))
		return false;
	if (getrusage(RUSAGE_THREAD, &timer->usage) == 0)
		timer->record.valid = VALID_CPU;
	timer->cpu_ns = cpu_now();
	timer->record.start_ns = emit_now();
	return true;
}

static void
timer_stop(struct timer *timer, int result)
{
	struct record *record = &timer->record;
	uint64_t end = emit_now(), cpu_ns = cpu_now();
	struct rusage now;

	if (record->span == 0)
		return;
	record->duration_ns = end - record->start_ns;
	if (getrusage(RUSAGE_THREAD, &now) != 0)
		record->valid = 0;
	if (record->valid != 0) {
		record->cpu_ns = cpu_ns - timer->cpu_ns;
		record->voluntary = now.ru_nvcsw - timer->usage.ru_nvcsw;
		record->involuntary = now.ru_nivcsw - timer->usage.ru_nivcsw;
	}
	record->outcome = OUTCOME_RETURNED;
	record->result = result;
	emit_end(record, &timer->texts);
}

static struct timer
timer_phase(uint64_t run, unsigned phase, int flags)
{
	return (struct timer){ .record = { .kind = KIND_PHASE,
					   .phase = (uint8_t)phase,
					   .parent = run,
					   .flags = (uint32_t)flags } };
}

/* pam_start and the items, which a caller sets before anything else. */
static int
start(const struct pam_login *login, const struct pam_conv *conv, uint64_t run,
      pam_handle_t **handle)
{
	const struct {
		int item;
		const char *value;
	} items[] = { { PAM_RHOST, login->rhost },
		      { PAM_TTY, login->tty },
		      { PAM_RUSER, login->ruser } };
	struct timer timer = timer_phase(run, PHASE_START, 0);
	int result;

	timer_start(&timer, login);
	result = pam_start_confdir(login->service, login->user, conv,
				   login->confdir, handle);
	timer_stop(&timer, result);
	for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
		if (result == PAM_SUCCESS && items[i].value != NULL)
			result = pam_set_item(*handle, items[i].item,
					      items[i].value);
	}
	return result;
}

/* One call, timed. */
static int
call(const struct pam_login *login, pam_handle_t *handle, uint64_t run,
     const struct step *step, int flags)
{
	struct timer timer = timer_phase(run, step->phase, flags);
	int result;

	timer_start(&timer, login);
	result = step->call(handle, flags);
	timer_stop(&timer, result);
	return result;
}

/*
 * The calls, up to the first that fails. An expired password is no failure
 * if it is to be changed: login(1) then asks for a new one.
 */
static int
call_all(const struct pam_login *login, pam_handle_t *handle, uint64_t run)
{
	int result = PAM_SUCCESS;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		const struct step *step = &steps[i];
		int flags = step->flags;

		if ((login->phases & PAM_PHASE_BIT(step->phase)) == 0)
			continue;
		if (result == PAM_NEW_AUTHTOK_REQD &&
		    step->phase == PHASE_CHAUTHTOK)
			flags |= PAM_CHANGE_EXPIRED_AUTHTOK;
		else if (result != PAM_SUCCESS)
			break;
		result = call(login, handle, run, step, flags);
	}
	return result;
}

int
pam_login_run(const struct pam_login *login, const struct pam_conv *conv)
{
	struct timer run = { .record = { .kind = KIND_RUN } };
	struct timer end;
	pam_handle_t *handle = NULL;
	int result;

	if (!timer_start(&run, login))
		return ERROR_SYSTEM;
	result = start(login, conv, run.record.span, &handle);
	if (result == PAM_SUCCESS)
		result = call_all(login, handle, run.record.span);
	if (handle != NULL) {
		end = timer_phase(run.record.span, PHASE_END, 0);
		timer_start(&end, login);
		pam_end(handle, result);
		timer_stop(&end, PAM_SUCCESS);
	}
	timer_stop(&run, result);
	return result;
}
