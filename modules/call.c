/*
 * What happens around a module call, for whoever observes it. The order in
 * call_enter() and call_leave() is chosen so that our own work lies outside
 * the two clock readings that make the duration.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "call.h"

#define DATA_NAME "pamprof_transaction"

/* Whether getrusage(2) may be called: not in a process under seccomp. */
static bool may_measure_cpu;

void
call_prepare(void)
{
	static const char field[] = "\nSeccomp:\t0\n";
	char status[4096];
	ssize_t length;
	int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/status",
			      O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	length = syscall(SYS_read, fd, status, sizeof(status));
	syscall(SYS_close, fd);
	may_measure_cpu =
	    length > 0 && memmem(status, length, field, sizeof(field) - 1);
	if (!may_measure_cpu)
		ring_exclude_children();
}

/* Passes and deletion are flags of the call, and phases of the report. */
static uint8_t
phase_of(uint8_t phase, uint32_t flags)
{
	if (phase == PHASE_SETCRED && (flags & PAM_DELETE_CRED) != 0)
		return PHASE_DELETE_CRED;
	if (phase == PHASE_CHAUTHTOK && (flags & PAM_PRELIM_CHECK) != 0)
		return PHASE_CHAUTHTOK_PRELIM;
	if (phase == PHASE_CHAUTHTOK && (flags & PAM_UPDATE_AUTHTOK) != 0)
		return PHASE_CHAUTHTOK_UPDATE;
	return phase;
}

/*
 * The id of the handle's transaction: an integer kept as module data without
 * a clean-up function, so that it survives this object and is inherited by
 * forked children (handle addresses repeat and cannot serve).
 */
uint64_t
call_transaction(const struct call_pam *pam, pam_handle_t *handle,
		 uint64_t wanted)
{
	const void *data = NULL;
	uint64_t id = wanted;

	if (handle == NULL)
		return wanted;
	if (pam->get_data(handle, DATA_NAME, &data) == PAM_SUCCESS)
		return (uintptr_t)data;
	if (id == 0)
		id = ring_transaction();
	if (pam->set_data(handle, DATA_NAME, (void *)(uintptr_t)id, NULL) !=
	    PAM_SUCCESS)
		return wanted;
	return id;
}

/*
 * The strings of a call. The user's name only where it is known to be one:
 * what is typed at a prompt before authentication may be a password.
 */
static void
texts_get(struct emit_texts *texts, const struct call_pam *pam,
	  const struct call_site *site)
{
	static const int items[] = { [FIELD_SERVICE] = PAM_SERVICE,
				     [FIELD_RHOST] = PAM_RHOST,
				     [FIELD_TTY] = PAM_TTY,
				     [FIELD_OBJECT] = PAM_USER };

	memset(texts, 0, sizeof(*texts));
	texts->field[FIELD_OBJECT] = site->object;
	texts->field[FIELD_SERVICE] = site->service;
	if (site->handle == NULL)
		return;
	for (unsigned f = FIELD_SERVICE; f <= FIELD_OBJECT; f++) {
		const void *item = NULL;

		if (f == FIELD_OBJECT && (site->object != NULL ||
					  (site->phase != PHASE_ACCT_MGMT &&
					   site->phase != PHASE_OPEN_SESSION &&
					   site->phase != PHASE_CLOSE_SESSION)))
			continue;
		pam->get_item(site->handle, items[f], &item);
		texts->field[f] = item;
	}
}

/* Swaps the conversation inside libpam's own copy of it. */
static void
conversation_swap(struct call_frame *frame, const struct call_pam *pam)
{
	const void *item = NULL;
	struct pam_conv *conv;

	if (pam->get_item(frame->site.handle, PAM_CONV, &item) != PAM_SUCCESS ||
	    item == NULL)
		return;
	conv = (struct pam_conv *)(uintptr_t)item;
	if (conv->conv == NULL)
		return;
	frame->swapped = conversation_timed(conv->conv);
	if (frame->swapped == NULL)
		return;
	frame->record.valid |= VALID_CONVERSATION;
	if (frame->swapped == conv->conv)
		frame->swapped = NULL; /* somebody further out put it there */
	else
		conv->conv = frame->swapped;
}

/*
 * Puts it back, if what stands there is one of ours: what we put there, or
 * another that the module kept from an earlier call and has set again.
 */
static void
conversation_restore(struct call_frame *frame, const struct call_pam *pam)
{
	const void *item = NULL;
	struct pam_conv *conv;
	conversation_fn original;

	if (frame->swapped == NULL || frame->site.handle == NULL ||
	    pam->get_item(frame->site.handle, PAM_CONV, &item) != PAM_SUCCESS ||
	    item == NULL)
		return;
	conv = (struct pam_conv *)(uintptr_t)item;
	original = conversation_original(conv->conv);
	if (original != NULL)
		conv->conv = original;
}

/* The begin record; false when there is no ring for this process now. */
static bool
begin(struct call_frame *frame, const struct call_pam *pam)
{
	const struct call_site *site = &frame->site;
	struct record *record = &frame->record;
	struct emit_texts texts;
	uint32_t options;

	if (!ring_enter())
		return false;
	options = ring_options();
	record->transaction =
	    call_transaction(pam, site->handle, site->transaction);
	ring_leave();
	record->kind = site->kind;
	record->phase = phase_of(site->phase, site->flags);
	record->flags = site->flags;
	record->marker = site->marker;
	record->valid = site->valid;
	record->start_ns = emit_now();
	texts_get(&texts, pam, site);
	if (!emit_begin(record, &texts))
		return false;
	if ((options & RING_CONVERSATION) != 0 && site->handle != NULL)
		conversation_swap(frame, pam);
	if ((options & RING_CPU) != 0 && may_measure_cpu)
		record->valid |= VALID_CPU;
	return true;
}

void
call_enter(struct call_frame *frame, const struct call_pam *pam,
	   const struct call_site *site)
{
	struct conversation_clock *clock = conversation_clock();
	int saved = errno;

	memset(frame, 0, sizeof(*frame));
	frame->site = *site;
	if (begin(frame, pam)) {
		frame->prompt_ns = clock->ns;
		frame->prompts = clock->prompts;
		frame->outer_span = clock->span;
		frame->outer_transaction = clock->transaction;
		clock->span = frame->record.span;
		clock->transaction = frame->record.transaction;
		if ((frame->record.valid & VALID_CPU) != 0)
			usage_get(&frame->usage, frame->record.tid);
		frame->record.start_ns = emit_now();
	}
	errno = saved;
}

/* Fills in what the clocks say. */
static void
stop(struct call_frame *frame, uint64_t end)
{
	struct conversation_clock *clock = conversation_clock();
	struct record *record = &frame->record;
	struct usage usage;

	record->duration_ns = end - record->start_ns;
	if ((record->valid & VALID_CPU) != 0) {
		usage_get(&usage, record->tid);
		/* Being switched out between two readings may bend one. */
		record->cpu_ns = usage.cpu_ns > frame->usage.cpu_ns
				     ? usage.cpu_ns - frame->usage.cpu_ns
				     : 0;
		if (record->cpu_ns > record->duration_ns)
			record->cpu_ns = record->duration_ns;
		record->voluntary =
		    (uint32_t)(usage.voluntary - frame->usage.voluntary);
		record->involuntary =
		    (uint32_t)(usage.involuntary - frame->usage.involuntary);
	}
	record->prompt_ns = clock->ns - frame->prompt_ns;
	record->prompts = clock->prompts - frame->prompts;
	clock->span = frame->outer_span;
	clock->transaction = frame->outer_transaction;
}

void
call_leave(struct call_frame *frame, const struct call_pam *pam, int result)
{
	struct record *record = &frame->record;
	struct emit_texts texts;
	uint64_t end;
	int saved;

	if (record->span == 0)
		return;
	end = emit_now();
	saved = errno;
	stop(frame, end);
	conversation_restore(frame, pam);
	record->outcome = OUTCOME_RETURNED;
	record->result = result;
	texts_get(&texts, pam, &frame->site);
	emit_end(record, &texts);
	errno = saved;
}

void
call_loaded(const char *path, uint64_t start_ns, uint64_t duration_ns)
{
	struct record record = { .kind = KIND_LOAD,
				 .outcome = OUTCOME_RETURNED,
				 .start_ns = start_ns,
				 .duration_ns = duration_ns };
	struct emit_texts texts = { .field = { [FIELD_OBJECT] = path } };

	emit_end(&record, &texts);
}
