/*
 * The way back. Apart from instrument.c because it must work when nothing
 * else does: it needs the journal, the kept original and a rename.
 */
#include "restore.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../base/alloc.h"
#include "../base/message.h"
#include "diff.h"
#include "layout.h"
#include "timer.h"

/* Reads a kept file and checks it against the journal. */
static int
read_kept(const struct state_entry *entry, const char *name, const char *sum,
	  struct buffer *bytes, struct error *error)
{
	char *path = layout_folder(entry->service, entry->seq, name);
	char found[CHECKSUM_TEXT];
	int r = safe_file_read(path, LINKS_REFUSED, ATOMIC_LIMIT, bytes, error);

	if (r == 0) {
		atomic_checksum(found, bytes);
		if (strcmp(found, sum) != 0)
			r = error_set(error, ERROR_INPUT,
				      "%s is not what was kept there "
				      "(checksum); %s is left as it is",
				      path, entry->file);
	}
	free(path);
	return r;
}

void
restore_show_edit(const struct state_entry *entry, struct buffer *out)
{
	struct buffer original = { 0 }, ours = { 0 }, now = { 0 };

	(void)read_kept(entry, "original", entry->original, &original, NULL);
	(void)read_kept(entry, "installed", entry->installed, &ours, NULL);
	(void)safe_file_read(entry->file, LINKS_REFUSED, ATOMIC_LIMIT, &now,
			     NULL);
	diff_write(out, &(struct diff_side){ "original", &original },
		   &(struct diff_side){ "instrumented by pamprof", &ours });
	diff_write(out, &(struct diff_side){ "instrumented by pamprof", &ours },
		   &(struct diff_side){ entry->file, &now });
	buffer_free(&original);
	buffer_free(&ours);
	buffer_free(&now);
}

/* A file that is gone is made again; else attributes are kept. */
static int
put_back(const struct state_entry *entry, struct error *error)
{
	struct buffer original = { 0 };
	int r = read_kept(entry, "original", entry->original, &original, error);

	if (r == 0 && access(entry->file, F_OK) != 0 && errno == ENOENT)
		r = atomic_write(entry->file, 0644, &original, error);
	else if (r == 0)
		r = atomic_replace(entry->file, &original, entry->replaced,
				   error);
	buffer_free(&original);
	return r;
}

static int
retire(struct state *state, struct state_entry *entry, struct error *error)
{
	entry->step = STEP_RETIRED;
	entry->retired = time(NULL);
	timer_stop(entry->service);
	return state_write(state, error);
}

/* From STEP_RESTORING on. */
static int
finish(struct state *state, struct state_entry *entry, struct error *error)
{
	char sum[CHECKSUM_TEXT];
	int r = 0;

	atomic_checksum_file(sum, entry->file);
	if (strcmp(sum, entry->original) != 0)
		r = put_back(entry, error);
	return r == 0 ? retire(state, entry, error) : r;
}

static int
keep_edited(const struct state_entry *entry, struct error *error)
{
	char *path =
	    alloc_format(PRODUCTION_FOLDER "/%s.edited", entry->service);
	struct buffer now = { 0 };
	int r = 0;

	if (access(entry->file, F_OK) == 0)
		r = safe_file_read(entry->file, LINKS_REFUSED, ATOMIC_LIMIT,
				   &now, error);
	if (r == 0)
		r = atomic_write(path, 0600, &now, error);
	buffer_free(&now);
	free(path);
	return r;
}

int
restore_entry(struct state *state, struct state_entry *entry, bool force,
	      struct buffer *out, struct error *error)
{
	enum state_step before = entry->step;
	char sum[CHECKSUM_TEXT];
	bool edited;
	int r = 0;

	atomic_checksum_file(sum, entry->file);
	edited = strcmp(sum, entry->installed) != 0 &&
		 strcmp(sum, entry->original) != 0;
	if (edited && !force) {
		restore_show_edit(entry, out);
		return error_set(
		    error, ERROR_INPUT,
		    "%s has been edited since it was "
		    "instrumented; --force puts the original in "
		    "its place and keeps the edited one as " PRODUCTION_FOLDER
		    "/%s.edited",
		    entry->file, entry->service);
	}
	if (edited)
		r = keep_edited(entry, error);
	if (r != 0)
		return r;
	memcpy(entry->replaced, sum, sizeof(sum));
	entry->step = STEP_RESTORING;
	r = state_write(state, error);
	if (r == 0)
		r = finish(state, entry, error);
	else
		entry->step = before;
	return r;
}

/* ---- Repair --------------------------------------------------------------*/

/* Removes what belongs to an entry whose file is the original. */
static int
forget(struct state *state, struct state_entry *entry, struct error *error)
{
	char *folder = layout_folder(entry->service, entry->seq, NULL);
	char *shims = layout_shims(entry->service, entry->seq);
	int r;

	timer_stop(entry->service);
	r = atomic_remove(shims, error);
	if (r == 0)
		r = atomic_remove(folder, error);
	if (r == 0) {
		state_remove(state, entry);
		r = state_write(state, error);
	}
	free(folder);
	free(shims);
	return r;
}

bool
restore_shims_present(const struct state_entry *entry)
{
	char *path = layout_folder(entry->service, entry->seq, "shims");
	struct buffer list = { 0 };
	bool present = true;
	char *line, *rest = NULL;

	if (safe_file_read(path, LINKS_REFUSED, ATOMIC_LIMIT, &list, NULL) == 0)
		for (line = strtok_r(list.data, "\n", &rest); line != NULL;
		     line = strtok_r(NULL, "\n", &rest))
			present = present && access(line, R_OK) == 0;
	buffer_free(&list);
	free(path);
	return present;
}

static int
repair_switching(struct state *state, struct state_entry *entry,
		 struct buffer *out, struct error *error)
{
	char sum[CHECKSUM_TEXT];

	atomic_checksum_file(sum, entry->file);
	if (strcmp(sum, entry->original) == 0)
		return forget(state, entry, error);
	if (strcmp(sum, entry->installed) == 0) {
		buffer_format(out,
			      "%s: its instrumentation was broken off; the "
			      "original is back\n",
			      entry->service);
		return restore_entry(state, entry, false, out, error);
	}
	/* Edited in between: its owner decides. */
	entry->step = STEP_ACTIVE;
	return state_write(state, error);
}

static int
repair_active(struct state *state, struct state_entry *entry,
	      struct buffer *out, struct error *error)
{
	bool present = restore_shims_present(entry);

	if (present && (entry->until == 0 || time(NULL) < entry->until))
		return 0;
	buffer_format(out, "%s: %s; the original is back\n", entry->service,
		      present ? "its time is over"
			      : "its timing modules have vanished");
	/* Without its modules an edited file lets nobody in: it goes, too. */
	return restore_entry(state, entry, !present, out, error);
}

static int
repair_restoring(struct state *state, struct state_entry *entry,
		 struct error *error)
{
	char sum[CHECKSUM_TEXT];

	atomic_checksum_file(sum, entry->file);
	if (strcmp(sum, entry->original) == 0 ||
	    strcmp(sum, entry->replaced) == 0)
		return finish(state, entry, error);
	entry->step = STEP_ACTIVE; /* edited in between */
	return state_write(state, error);
}

static int
repair_retired(struct state *state, struct state_entry *entry,
	       struct error *error)
{
	int64_t age = time(NULL) - entry->retired;

	/* A clock that was set back must not keep them for ever. */
	if (age >= 0 && age < PRODUCTION_GRACE)
		return 0;
	return forget(state, entry, error);
}

int
restore_undo(struct state *state, struct state_entry *entry, struct buffer *out,
	     struct error *error)
{
	char *edited =
	    alloc_format(PRODUCTION_FOLDER "/%s.edited", entry->service);

	atomic_tidy(edited);
	free(edited);
	atomic_tidy(entry->file);
	switch (entry->step) {
	case STEP_PREPARING:
		return forget(state, entry, error);
	case STEP_SWITCHING:
		return repair_switching(state, entry, out, error);
	case STEP_ACTIVE:
		return repair_active(state, entry, out, error);
	case STEP_RESTORING:
		return repair_restoring(state, entry, error);
	case STEP_RETIRED:
		return repair_retired(state, entry, error);
	}
	return 0;
}

int
restore_repair(struct state *state, struct buffer *out, struct error *error)
{
	struct error later;
	int r = 0;

	atomic_tidy(PRODUCTION_STATE);
	layout_tidy();
	/* From the end: entries may be removed. */
	for (size_t i = state->count; i-- > 0;) {
		int one = restore_undo(state, &state->entries[i], out,
				       r == 0 ? error : &later);

		r = r == 0 ? one : r;
	}
	for (size_t i = 0; i < state->count; i++) {
		if (state->entries[i].step != STEP_ACTIVE)
			continue;
		if (layout_make_ring(state->entries[i].options, &later) != 0)
			message_warn("%s", later.text);
		return r;
	}
	(void)unlink(PRODUCTION_TMPFILES);
	return r;
}
