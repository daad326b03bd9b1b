/*
 * From a service's file to an instrumented one. The order of steps is the
 * point: everything is made and proved beside the live file, the journal
 * says what is about to happen, and one rename makes it so.
 */
#include "instrument.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../base/alloc.h"
#include "../source/pam_shim.h"
#include "../source/pam_version.h"
#include "../source/pam_wrap.h"
#include "confine.h"
#include "copies.h"
#include "diff.h"
#include "layout.h"
#include "prove.h"
#include "restore.h"
#include "service.h"
#include "timer.h"

/* Distinct real modules and their shims, in order of first use. */
struct shim_pair {
	char *real, *shim;
};

struct work {
	struct state_entry *entry;
	struct pam_stack *stack;
	char *file, *folder, *shims, *installed;
	struct shim_folder *maker; /* NULL: only names are made */
	struct shim_pair *pairs;
	size_t pairs_count;
	struct copies *copies;
	struct buffer unproven, notes;
	unsigned wrapped, left;
};

/* ---- Names of shims ------------------------------------------------------*/

static const char *
keep_pair(struct work *work, const char *real, const char *shim)
{
	struct shim_pair *pair;

	work->pairs = alloc_array(work->pairs, work->pairs_count + 1,
				  sizeof(*work->pairs));
	pair = &work->pairs[work->pairs_count++];
	pair->real = alloc_string(real);
	pair->shim = alloc_string(shim);
	return pair->shim;
}

/* Makes the shim of a rule, or, for --dry-run, the name it would have. */
static const char *
shim_for(void *context, struct pam_rule *rule)
{
	struct work *work = context;
	const char *base = strrchr(rule->path, '/') + 1;
	unsigned number = 1;
	char *name;
	const char *shim;

	for (size_t i = 0; i < work->pairs_count; i++) {
		if (strcmp(work->pairs[i].real, rule->path) == 0)
			return work->pairs[i].shim;
		number +=
		    strcmp(strrchr(work->pairs[i].real, '/') + 1, base) == 0;
	}
	if (work->maker != NULL) {
		shim = shim_folder_shim(work->maker, rule);
		return shim ? keep_pair(work, rule->path, shim) : NULL;
	}
	name = alloc_format("%s/%u/%s", work->shims, number, base);
	shim = keep_pair(work, rule->path, name);
	free(name);
	return shim;
}

/* ---- Planning ------------------------------------------------------------*/

static void
work_free(struct work *work)
{
	for (size_t i = 0; i < work->pairs_count; i++) {
		free(work->pairs[i].real);
		free(work->pairs[i].shim);
	}
	free(work->pairs);
	copies_free(work->copies);
	shim_folder_free(work->maker);
	pam_conf_free(work->stack);
	buffer_free(&work->unproven);
	buffer_free(&work->notes);
	free(work->file);
	free(work->folder);
	free(work->shims);
	free(work->installed);
}

static int
plan(struct work *work, const char *service, unsigned seq, struct error *error)
{
	const struct pam_conf_place place = { .service = service };
	int r = service_file(&work->file, service, &work->notes, error);

	if (r != 0)
		return r;
	work->folder = layout_folder(service, seq, NULL);
	work->installed = layout_folder(service, seq, "installed");
	work->shims = layout_shims(service, seq);
	r = pam_conf_read(&work->stack, &place, error);
	return r == 0 ? service_check_rules(work->stack, error) : r;
}

/* What no marker says, or a word on why there is none. */
static int
count_rules(struct work *work, const struct pam_file *file, struct error *error)
{
	const char *why = NULL;

	for (const struct pam_file *f = work->stack->files; f; f = f->next)
		for (size_t i = 0; i < f->rules_count; i++) {
			const struct pam_rule *rule = &f->rules[i];

			if (rule->type != RULE_MODULE)
				continue;
			work->wrapped += rule->marker != 0;
			if (rule->marker != 0 || rule->problem == NULL)
				continue;
			work->left++;
			why = rule->problem;
			buffer_format(&work->notes, "%s:%u is left alone: %s\n",
				      f->path, rule->first_line, why);
		}
	if (work->wrapped == 0)
		return error_set(error, ERROR_INPUT,
				 "%s: nothing can be instrumented%s%s",
				 file->path, why ? ": " : "", why ? why : "");
	if (work->wrapped >= 9000)
		return error_set(error, ERROR_INPUT, "%s: too many rules",
				 file->path);
	return 0;
}

/* Numbers the service's rules; those of "other" stay as they are. */
static int
number(struct work *work, unsigned seq, struct error *error)
{
	struct pam_file *other = work->stack->other;

	work->stack->other = NULL;
	pam_rewrite_number_from(work->stack, seq * PRODUCTION_MARKERS, shim_for,
				work);
	work->stack->other = other;
	work->copies = copies_plan(work->stack, work->folder, work->installed,
				   shim_for, work);
	return count_rules(work, work->stack->root, error);
}

static int
check_host(struct error *error)
{
	if (geteuid() != 0)
		return error_set(error, ERROR_INPUT,
				 "only root can change PAM configuration");
	return layout_check_shims(error);
}

/* ---- Dry run -------------------------------------------------------------*/

static void
show_copy(void *context, const struct pam_file *file, const char *path,
	  const struct buffer *text)
{
	struct buffer *out = context;
	const struct buffer old = { file->text, file->size, 0 };
	const char *slash = strrchr(path, '/');

	/* The service's own file changes in place, the others are copied. */
	diff_write(
	    out, &(struct diff_side){ file->path, &old },
	    &(struct diff_side){
		strcmp(slash, "/installed") == 0 ? file->path : path, text });
}

int
instrument_show(const struct state *state, const char *service,
		struct buffer *out, struct error *error)
{
	struct work work = { 0 };
	int r = check_host(error);

	if (r == 0)
		r = plan(&work, service, state->next, error);
	if (r == 0)
		r = number(&work, state->next, error);
	if (r == 0) {
		copies_each(work.copies, show_copy, out);
		buffer_text(out, work.notes.data ? work.notes.data : "");
	}
	work_free(&work);
	return r;
}

/* ---- Doing it ------------------------------------------------------------*/

static int
write_in(const struct work *work, const char *name, const struct buffer *bytes,
	 struct error *error)
{
	char *path = alloc_format("%s/%s", work->folder, name);
	int r = atomic_write(path, 0644, bytes, error);

	free(path);
	return r;
}

static int
write_map(const struct work *work, struct error *error)
{
	struct rule_map *map = pam_wrap_map(work->stack);
	struct buffer text = { 0 };
	char host[HOST_NAME_MAX + 1] = "";
	int r;

	(void)gethostname(host, sizeof(host) - 1);
	map->command = alloc_string("instrument");
	map->host = alloc_string(host);
	map->pam = pam_version();
	map->version = alloc_string(PAMPROF_VERSION);
	rule_map_write(&text, map);
	r = write_in(work, "map.json", &text, error);
	buffer_free(&text);
	rule_map_free(map);
	return r;
}

static int
write_list(const struct work *work, struct error *error)
{
	struct buffer list = { 0 };
	int r;

	for (size_t i = 0; i < work->pairs_count; i++)
		buffer_format(&list, "%s\n", work->pairs[i].shim);
	r = write_in(work, "shims", &list, error);
	buffer_free(&list);
	/* For the guard, which cannot read the journal. */
	buffer_format(&list, "%s\n", work->file);
	if (r == 0)
		r = write_in(work, "target", &list, error);
	buffer_free(&list);
	return r;
}

static void
note_copy(void *context, const struct pam_file *file, const char *path,
	  const struct buffer *text)
{
	struct work *work = context;
	const struct buffer old = { file->text, file->size, 0 };

	(void)path;
	if (file != work->stack->root) {
		state_include(work->entry, file->path, &old);
		return;
	}
	atomic_checksum(work->entry->original, &old);
	atomic_checksum(work->entry->installed, text);
}

/* Everything but the switch, beside the live file. */
static int
prepare(struct work *work, struct error *error)
{
	struct state_entry *entry = work->entry;
	const struct pam_file *root = work->stack->root;
	const struct buffer original = { root->text, root->size, 0 };
	int r;

	if ((r = atomic_folder(work->folder, error)) != 0 ||
	    (r = atomic_folder(work->shims, error)) != 0 ||
	    (r = shim_folder_new(&work->maker, work->shims, PRODUCTION_RING,
				 error)) != 0 ||
	    (r = number(work, entry->seq, error)) != 0 ||
	    (r = write_in(work, "original", &original, error)) != 0 ||
	    (r = copies_write(work->copies, error)) != 0 ||
	    (r = write_map(work, error)) != 0 ||
	    (r = write_list(work, error)) != 0 ||
	    (r = atomic_sync(work->shims, error)) != 0 ||
	    (r = atomic_sync(work->folder, error)) != 0)
		return r;
	copies_each(work->copies, note_copy, work);
	entry->wrapped = work->wrapped;
	entry->left = work->left;
	return 0;
}

static struct proof
proof_of(struct work *work)
{
	struct proof proof = { .service = work->entry->service,
			       .old = work->stack,
			       .folder = work->folder,
			       .installed = work->installed,
			       .base = work->entry->seq * PRODUCTION_MARKERS,
			       .shims_count = work->pairs_count,
			       .unproven = &work->unproven };

	proof.shims = alloc_zero(work->pairs_count, sizeof(*proof.shims));
	for (size_t i = 0; i < work->pairs_count; i++)
		proof.shims[i] = work->pairs[i].shim;
	return proof;
}

static int
start_timer(struct state_entry *entry, struct error *error)
{
	const char *what = NULL;
	int r;

	if (entry->until == 0)
		return 0;
	r = timer_start(entry->service, entry->until, &what, error);
	if (r == 0)
		entry->timer = alloc_string(what);
	return r;
}

/* The switch itself, between two lines of the journal. */
static int
change(struct state *state, struct work *work, const struct proof *proof,
       struct error *error)
{
	struct state_entry *entry = work->entry;
	struct buffer text = { 0 };
	int r = safe_file_read(work->installed, LINKS_REFUSED, ATOMIC_LIMIT,
			       &text, error);

	entry->step = STEP_SWITCHING;
	if (r == 0)
		r = state_write(state, error);
	if (r == 0)
		r = atomic_replace(entry->file, &text, entry->original, error);
	buffer_free(&text);
	if (r == 0)
		r = prove_after(proof, error);
	if (r == 0)
		r = prove_done(proof, error);
	if (r != 0)
		return r;
	entry->step = STEP_ACTIVE;
	return state_write(state, error);
}

static int
prove_and_change(struct state *state, struct work *work, struct error *error)
{
	struct proof proof = proof_of(work);
	int r;

	if ((r = prove_before(&proof, error)) != 0 ||
	    (r = prove_shims(&proof, error)) != 0 ||
	    (r = layout_make_guard(error)) != 0 ||
	    (r = layout_make_ring(work->entry->options, error)) != 0 ||
	    (r = start_timer(work->entry, error)) != 0)
		goto out;
	r = change(state, work, &proof, error);
out:
	free(proof.shims);
	return r;
}

static void
tell(const struct work *work, struct buffer *out)
{
	buffer_format(out, "%s: instrumented, %u rules%s\n",
		      work->entry->service, work->wrapped,
		      work->left ? ", some left alone" : "");
	buffer_text(out, work->notes.data ? work->notes.data : "");
	buffer_text(out, work->unproven.data ? "unproven: " : "");
	buffer_text(out, work->unproven.data ? work->unproven.data : "");
	buffer_text(out, "unproven: that real modules accept a password; log "
			 "in once before closing this session\n");
	if (confine_selinux())
		buffer_text(out, "unproven: that SELinux lets the program load "
				 "the timing modules; see ausearch -m avc\n");
}

/* Takes the begun entry back; the first error is the one that is said. */
static void
undo(struct state *state, struct state_entry *entry, struct buffer *out)
{
	struct error later = { 0 };

	if (restore_undo(state, entry, out, &later) != 0)
		buffer_format(out, "%s; the next pamprof command tries again\n",
			      later.text);
}

static int
begin(struct state *state, struct work *work, const struct instrument_how *how,
      struct error *error)
{
	struct state_entry *entry = work->entry;

	entry->seq = state->next++;
	entry->file = alloc_string(work->file);
	entry->step = STEP_PREPARING;
	entry->since = time(NULL);
	entry->until = how->until;
	entry->options = how->options;
	return state_write(state, error);
}

static int
refresh(struct state *state, const char *service, struct buffer *out,
	struct error *error)
{
	struct state_entry *entry = state_find(state, service);

	if (entry == NULL)
		return 0;
	if (!service_is_stale(state, entry))
		return error_set(error, ERROR_INPUT,
				 "%s is instrumented already; see pamprof "
				 "status",
				 service);
	return restore_entry(state, entry, false, out, error);
}

int
instrument_service(struct state *state, const char *service,
		   const struct instrument_how *how, struct error *error)
{
	struct work work = { 0 };
	int r;

	if ((r = check_host(error)) != 0 || (r = layout_make(error)) != 0 ||
	    (r = refresh(state, service, how->out, error)) != 0 ||
	    (r = plan(&work, service, state->next, error)) != 0)
		goto out;
	work.entry = state_add(state, service);
	r = begin(state, &work, how, error);
	if (r == 0)
		r = prepare(&work, error);
	if (r == 0)
		r = prove_and_change(state, &work, error);
	if (r == 0)
		tell(&work, how->out);
	else
		undo(state, work.entry, how->out);
out:
	work_free(&work);
	return r;
}
