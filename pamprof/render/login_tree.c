/*
 * One login of production as a tree: process, phase, call, with the time
 * that had passed when each began. There are no spans of phases in
 * production's records, so their lines are made where the phase changes.
 */
#include "production.h"

#include <string.h>

#include "../trace/clock.h"
#include "naming.h"
#include "text.h"
#include "units.h"

static void
put_time(struct buffer *out, uint64_t ns)
{
	struct buffer text = { 0 };

	unit_time(&text, ns);
	buffer_format(out, "%10s", text.data);
	buffer_free(&text);
}

/* "sshd alice from 192.0.2.1 on ssh", of what is known. */
static void
put_who(struct login_tree *tree, const struct span *span)
{
	const struct span *user = span;
	bool unicode = tree->style->unicode;

	while (user &&
	       (!user->object[0] || !(user->record.valid & VALID_MARKER)))
		user = user->next;
	text_safe(tree->out, span->service, unicode);
	buffer_char(tree->out, ' ');
	text_safe(tree->out, user ? user->object : "-", unicode);
	if (span->rhost[0]) {
		buffer_text(tree->out, " from ");
		text_safe(tree->out, span->rhost, unicode);
	}
	if (span->tty[0]) {
		buffer_text(tree->out, " on ");
		text_safe(tree->out, span->tty, unicode);
	}
}

static void
put_head(struct login_tree *tree, const struct span *first)
{
	tree->start_ns = first->record.start_ns;
	buffer_format(tree->out, "login %016llx  ",
		      (unsigned long long)first->record.transaction);
	production_local(tree->out, clock_wall(tree->header, tree->start_ns));
	buffer_text(tree->out, "  ");
	put_who(tree, first);
	buffer_format(tree->out, "\n\n%10s%10s%10s%10s  %s\n", "at", "wall",
		      "cpu", "human", "call");
}

static void
put_result(struct buffer *out, const struct span *span)
{
	if (span->unfinished)
		buffer_text(out, "  never left");
	else if (span->record.result)
		buffer_format(out, "  %s",
			      report_pam_name(span->record.result));
}

static void
put_call(struct login_tree *tree, const struct span *span, unsigned depth)
{
	const struct record *record = &span->record;
	const struct map_rule *rule =
	    record->valid & VALID_MARKER
		? rule_map_find(tree->map, record->marker)
		: NULL;
	struct buffer *out = tree->out;

	put_time(out, record->start_ns - tree->start_ns);
	if (span->unfinished)
		buffer_format(out, "%30s", "");
	else {
		put_time(out, record->duration_ns);
		put_time(out, record->cpu_ns);
		put_time(out, record->prompt_ns);
	}
	buffer_format(out, "  %*s", (int)depth * 2, "");
	if (record->kind == KIND_CONVERSATION) {
		buffer_text(out, "(conversation)\n");
		return;
	}
	name_module(out, rule,
		    record->valid & VALID_MARKER ? NULL : span->object,
		    tree->style->unicode);
	if (rule && rule->file) {
		buffer_text(out, " (");
		name_place(out, rule, tree->style->unicode);
		buffer_char(out, ')');
	} else if (record->valid & VALID_MARKER) {
		buffer_format(out, " rule %u", record->marker);
	}
	put_result(out, span);
	buffer_char(out, '\n');
}

/* A line where the process or the phase changes. */
static void
put_turn(struct login_tree *tree, const struct span *span, int *phase)
{
	const struct record *record = &span->record;

	if (tree->pid == record->pid && *phase == record->phase)
		return;
	buffer_format(tree->out, "%42s%s", "",
		      report_phase_name((enum record_phase)record->phase));
	if (tree->pid != record->pid)
		buffer_format(tree->out, " in process %d of %d", record->pid,
			      record->ppid);
	buffer_char(tree->out, '\n');
	tree->pid = record->pid;
	*phase = record->phase;
}

static void
put_spans(struct login_tree *tree, const struct span *span, unsigned depth)
{
	int phase = -1;

	for (; span; span = span->next) {
		if (depth == 1)
			put_turn(tree, span, &phase);
		put_call(tree, span, depth);
		tree->spans++;
		/* Modules call modules; nobody needs to see the tenth level. */
		if (depth < 10)
			put_spans(tree, span->children, depth + 1);
	}
}

void
login_tree_root(struct login_tree *tree, const struct span *root)
{
	if (!root->children)
		return;
	if (!tree->spans)
		put_head(tree, root->children);
	put_spans(tree, root->children, 1);
}
