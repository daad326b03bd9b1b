/*
 * Taking out, and finishing what a killed command has begun.
 */
#ifndef PAMPROF_INSTALL_RESTORE_H
#define PAMPROF_INSTALL_RESTORE_H

#include <stdbool.h>

#include "state.h"

/*
 * Brings back the original bytes of an entry that is active or switching.
 * When the file is neither ours nor the original, somebody edited it: refused
 * with both changes appended to out, unless force is set, and then the edited
 * file is kept as /etc/pamprof/SERVICE.edited. The journal is written before
 * and after. On failure the file is as it was.
 */
int restore_entry(struct state *state, struct state_entry *entry, bool force,
		  struct buffer *out, struct error *error);

/*
 * Brings every entry to an end: begun ones are undone, services whose time
 * is over or whose shims have vanished are restored, folders of retired ones
 * are removed after the grace period, a missing ring is made again. Every
 * command does it first, with the lock held. What was done is appended to
 * out, a line each. One that fails does not keep the others from it; the
 * first error is returned.
 */
int restore_repair(struct state *state, struct buffer *out,
		   struct error *error);

/*
 * The same for one entry, which may be gone afterwards: what instrument does
 * when it cannot go on.
 */
int restore_undo(struct state *state, struct state_entry *entry,
		 struct buffer *out, struct error *error);

/* The original file and ours as diffs against what is there now. */
void restore_show_edit(const struct state_entry *entry, struct buffer *out);

/* Whether every shim that the entry's file calls is there. */
bool restore_shims_present(const struct state_entry *entry);

#endif
