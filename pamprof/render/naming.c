/*
 * Names of things for people, in one place so that a rule is called the same
 * in the verdict, in the table and in the footers.
 */
#include "naming.h"

#include <string.h>

#include "text.h"

static const char *const phases[PHASE_COUNT] = {
	[PHASE_NONE] = "",
	[PHASE_START] = "pam_start",
	[PHASE_AUTHENTICATE] = "auth",
	[PHASE_ACCT_MGMT] = "account",
	[PHASE_OPEN_SESSION] = "session",
	[PHASE_CHAUTHTOK_PRELIM] = "prelim",
	[PHASE_CHAUTHTOK_UPDATE] = "update",
	[PHASE_END] = "pam_end",
};

static const char *const categories[CATEGORY_COUNT] = {
	[CATEGORY_NONE] = "waiting",
	[CATEGORY_CPU] = "CPU",
	[CATEGORY_CHILD] = "in a child process",
	[CATEGORY_NAME_RESOLUTION] = "resolving names",
	[CATEGORY_NETWORK] = "waiting for the network",
	[CATEGORY_LOCAL_PEER] = "waiting for a local service",
	[CATEGORY_FILE] = "in files",
	[CATEGORY_REMOTE_FILE] = "in remote files",
	[CATEGORY_LOCK] = "waiting for a lock",
	[CATEGORY_DELIBERATE] = "fail delay, deliberate",
	[CATEGORY_HUMAN] = "in prompts, human",
	[CATEGORY_OTHER] = "waiting",
};

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

void
name_module(struct buffer *out, const struct map_rule *rule, const char *label,
	    bool unicode)
{
	const char *module = rule ? rule->module : label;

	text_safe(out, module && *module ? base_name(module) : "?", unicode);
}

void
name_place(struct buffer *out, const struct map_rule *rule, bool unicode)
{
	if (!rule || !rule->file)
		return;
	text_safe(out, base_name(rule->file), unicode);
	if (rule->line)
		buffer_format(out, ":%u", rule->line);
}

void
name_call(struct buffer *out, enum record_phase phase,
	  const struct map_rule *rule, const char *label, bool unicode)
{
	buffer_text(out, name_phase(phase));
	buffer_char(out, ' ');
	name_module(out, rule, label, unicode);
	if (!rule || !rule->file)
		return;
	buffer_text(out, " (");
	name_place(out, rule, unicode);
	buffer_char(out, ')');
}

const char *
name_phase(enum record_phase phase)
{
	if (phase < PHASE_COUNT && phases[phase])
		return phases[phase];
	return report_phase_name(phase);
}

const char *
name_category(enum record_category category)
{
	return categories[category < CATEGORY_COUNT ? category : 0];
}

enum record_category
split_largest(const struct split *split)
{
	unsigned largest = CATEGORY_OTHER;

	for (unsigned i = 0; i < CATEGORY_COUNT; i++)
		if (split->ns[i] > split->ns[largest])
			largest = i;
	return largest;
}
