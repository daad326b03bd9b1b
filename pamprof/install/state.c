/*
 * The journal as JSON. Apart because its reader must survive what a hand or
 * another version has written: what it does not understand it refuses, since
 * a wrong guess would cost somebody the way into a machine.
 */
#include "state.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/alloc.h"
#include "layout.h"

#define SCHEMA      1
#define STATE_LIMIT (1u << 20)

static const char *const step_names[] = {
	[STEP_PREPARING] = "preparing", [STEP_SWITCHING] = "switching",
	[STEP_ACTIVE] = "active",       [STEP_RESTORING] = "restoring",
	[STEP_RETIRED] = "retired",
};

enum {
	STEPS = sizeof(step_names) / sizeof(step_names[0])
};

static void
entry_free(struct state_entry *entry)
{
	for (size_t i = 0; i < entry->includes_count; i++)
		free(entry->includes[i].path);
	free(entry->includes);
	free(entry->service);
	free(entry->file);
	free(entry->timer);
}

void
state_free(struct state *state)
{
	if (state == NULL)
		return;
	for (size_t i = 0; i < state->count; i++)
		entry_free(&state->entries[i]);
	free(state->entries);
	free(state);
}

struct state_entry *
state_add(struct state *state, const char *service)
{
	struct state_entry *entry;

	state->entries = alloc_array(state->entries, state->count + 1,
				     sizeof(*state->entries));
	entry = &state->entries[state->count++];
	memset(entry, 0, sizeof(*entry));
	entry->service = alloc_string(service);
	return entry;
}

void
state_remove(struct state *state, struct state_entry *entry)
{
	size_t at = (size_t)(entry - state->entries);

	entry_free(entry);
	memmove(entry, entry + 1, (state->count - at - 1) * sizeof(*entry));
	state->count--;
}

struct state_entry *
state_find(const struct state *state, const char *service)
{
	for (size_t i = 0; i < state->count; i++) {
		struct state_entry *entry = &state->entries[i];

		if (entry->step != STEP_RETIRED &&
		    strcmp(entry->service, service) == 0)
			return entry;
	}
	return NULL;
}

static void
add_include(struct state_entry *entry, const char *path, const char *sum)
{
	struct state_include *include;

	entry->includes =
	    alloc_array(entry->includes, entry->includes_count + 1,
			sizeof(*entry->includes));
	include = &entry->includes[entry->includes_count++];
	include->path = alloc_string(path);
	(void)stpncpy(include->sum, sum, CHECKSUM_TEXT - 1);
	include->sum[CHECKSUM_TEXT - 1] = '\0';
}

void
state_include(struct state_entry *entry, const char *path,
	      const struct buffer *bytes)
{
	char sum[CHECKSUM_TEXT];

	atomic_checksum(sum, bytes);
	add_include(entry, path, sum);
}

/* ---- Reading -------------------------------------------------------------*/

static void
take_sum(char sum[CHECKSUM_TEXT], const json_t *json, const char *key)
{
	const char *text = json_string_value(json_object_get(json, key));

	if (text != NULL && strlen(text) < CHECKSUM_TEXT)
		memcpy(sum, text, strlen(text) + 1);
}

static int64_t
take_number(const json_t *json, const char *key)
{
	return json_integer_value(json_object_get(json, key));
}

/* Names become paths: what could lead out of our folders is refused. */
static bool
is_name(const char *text)
{
	return text != NULL && text[0] != '\0' && text[0] != '.' &&
	       strchr(text, '/') == NULL;
}

static bool
take_step(struct state_entry *entry, const json_t *json)
{
	const char *name = json_string_value(json_object_get(json, "step"));

	for (int i = 0; name != NULL && i < STEPS; i++) {
		if (strcmp(step_names[i], name) == 0) {
			entry->step = (enum state_step)i;
			return true;
		}
	}
	return false;
}

static bool
take_entry(struct state *state, const json_t *json)
{
	const char *service =
	    json_string_value(json_object_get(json, "service"));
	const char *file = json_string_value(json_object_get(json, "file"));
	struct state_entry *entry;
	const json_t *include;
	size_t i;

	if (!is_name(service) || file == NULL ||
	    strncmp(file, PRODUCTION_PAM "/", strlen(PRODUCTION_PAM "/")) != 0)
		return false;
	entry = state_add(state, service);
	entry->file = alloc_string(file);
	entry->seq = (unsigned)take_number(json, "seq");
	take_sum(entry->original, json, "original");
	take_sum(entry->installed, json, "installed");
	take_sum(entry->replaced, json, "replaced");
	entry->since = take_number(json, "since");
	entry->until = take_number(json, "until");
	entry->retired = take_number(json, "retired");
	entry->options = (unsigned)take_number(json, "options");
	entry->wrapped = (unsigned)take_number(json, "wrapped");
	entry->left = (unsigned)take_number(json, "left");
	entry->timer =
	    alloc_string(json_string_value(json_object_get(json, "timer")));
	json_array_foreach(json_object_get(json, "includes"), i, include)
	{
		const char *path =
		    json_string_value(json_object_get(include, "path"));
		char sum[CHECKSUM_TEXT] = "";

		take_sum(sum, include, "sum");
		if (path != NULL)
			add_include(entry, path, sum);
	}
	return take_step(entry, json);
}

static bool
take_state(struct state *state, const json_t *json)
{
	const json_t *entry;
	size_t i;

	if (take_number(json, "schema") != SCHEMA)
		return false;
	state->next = (unsigned)take_number(json, "next");
	json_array_foreach(json_object_get(json, "services"), i, entry)
	{
		if (!take_entry(state, entry))
			return false;
	}
	return state->next > 0;
}

int
state_read(struct state **state, struct error *error)
{
	struct state *new = alloc_zero(1, sizeof(*new));
	struct buffer text = { 0 };
	json_t *json = NULL;
	int r = 0;

	*state = NULL;
	new->next = 1;
	if (access(PRODUCTION_STATE, F_OK) == 0) {
		r = safe_file_read(PRODUCTION_STATE, LINKS_REFUSED, STATE_LIMIT,
				   &text, error);
		json = json_loadb(text.data != NULL ? text.data : "",
				  text.length, 0, NULL);
		if (r == 0 && !take_state(new, json))
			r = error_set(
			    error, ERROR_INPUT,
			    PRODUCTION_STATE
			    " is damaged or of another version; see "
			    "pam_timing(8) for taking it out by hand");
	}
	json_decref(json);
	buffer_free(&text);
	if (r != 0)
		state_free(new);
	else
		*state = new;
	return r;
}

/* ---- Writing -------------------------------------------------------------*/

static json_t *
give_entry(const struct state_entry *entry)
{
	json_t *includes = json_array();
	json_t *json = json_pack(
	    "{ss ss si ss ss ss ss sI sI sI si si si ss? so}", "service",
	    entry->service, "file", entry->file, "seq", (int)entry->seq, "step",
	    step_names[entry->step], "original", entry->original, "installed",
	    entry->installed, "replaced", entry->replaced, "since",
	    (json_int_t)entry->since, "until", (json_int_t)entry->until,
	    "retired", (json_int_t)entry->retired, "options",
	    (int)entry->options, "wrapped", (int)entry->wrapped, "left",
	    (int)entry->left, "timer", entry->timer, "includes", includes);

	for (size_t i = 0; i < entry->includes_count; i++)
		json_array_append_new(includes,
				      json_pack("{ss ss}", "path",
						entry->includes[i].path, "sum",
						entry->includes[i].sum));
	return json;
}

int
state_write(const struct state *state, struct error *error)
{
	json_t *services = json_array();
	json_t *json = json_pack("{si si so}", "schema", SCHEMA, "next",
				 (int)state->next, "services", services);
	struct buffer text = { 0 };
	char *dump;
	int r;

	for (size_t i = 0; i < state->count; i++)
		json_array_append_new(services, give_entry(&state->entries[i]));
	dump = json_dumps(json, JSON_INDENT(1));
	json_decref(json);
	if (dump == NULL)
		return error_set(error, ERROR_SYSTEM,
				 "a file name is not UTF-8: it cannot be "
				 "written to " PRODUCTION_STATE);
	buffer_format(&text, "%s\n", dump);
	r = atomic_write(PRODUCTION_STATE, 0644, &text, error);
	buffer_free(&text);
	free(dump);
	return r;
}
