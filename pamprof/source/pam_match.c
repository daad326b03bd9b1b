/*
 * From calls to rules. Separate from the parser, which knows files and no
 * calls, and from the observer, which sees calls and no files. A stack is
 * read when its service is first met, not at the end, because that is the
 * stack which the program that is being traced has read as well.
 */
#include "pam_match.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "../base/alloc.h"
#include "pam_conf.h"
#include "pam_wrap.h"

/* Whoever forges records shall not have us read files without end. */
#define SERVICES_LIMIT 64

/* A rule of one service. */
struct known {
	const char *group; /* of the map's rule */
	uint32_t hash, marker;
	char *path; /* canonical */
};

struct service {
	char *name;
	struct known *rules; /* in order of the stack */
	size_t count;
	UT_hash_handle hh;
};

/* How far a transaction has come in the phase it is in. */
struct place {
	uint64_t transaction;
	uint8_t phase;
	size_t next; /* rule of the service at which to look on */
	UT_hash_handle hh;
};

/* A call that has begun. */
struct begun {
	uint64_t span;
	uint32_t marker;
	UT_hash_handle hh;
};

/* An object's path and what it is without links. */
struct canonical {
	char *path, *real;
	UT_hash_handle hh;
};

struct pam_match {
	const char *confdir;
	struct rule_map *map;
	struct service *services;
	struct place *places;
	struct begun *begun;
	struct canonical *canonicals;
	unsigned long unmatched;
};

static const enum pam_group phase_groups[PHASE_COUNT] = {
	[PHASE_NONE] = GROUP_COUNT,
	[PHASE_START] = GROUP_COUNT,
	[PHASE_END] = GROUP_COUNT,
	[PHASE_AUTHENTICATE] = GROUP_AUTH,
	[PHASE_SETCRED] = GROUP_AUTH,
	[PHASE_DELETE_CRED] = GROUP_AUTH,
	[PHASE_ACCT_MGMT] = GROUP_ACCOUNT,
	[PHASE_OPEN_SESSION] = GROUP_SESSION,
	[PHASE_CLOSE_SESSION] = GROUP_SESSION,
	[PHASE_CHAUTHTOK] = GROUP_PASSWORD,
	[PHASE_CHAUTHTOK_PRELIM] = GROUP_PASSWORD,
	[PHASE_CHAUTHTOK_UPDATE] = GROUP_PASSWORD,
};

struct pam_match *
pam_match_new(const char *confdir)
{
	struct pam_match *match = alloc_zero(1, sizeof(*match));

	match->confdir = confdir;
	match->map = alloc_zero(1, sizeof(*match->map));
	return match;
}

/* The path without links, so that two ways to one file are the same. */
static char *
real_path(const char *path)
{
	char *real = realpath(path, NULL);

	return real != NULL ? real : alloc_string(path);
}

static const char *
canonical(struct pam_match *match, const char *path)
{
	struct canonical *known;

	HASH_FIND_STR(match->canonicals, path, known);
	if (known == NULL) {
		known = alloc_zero(1, sizeof(*known));
		known->path = alloc_string(path);
		known->real = real_path(path);
		HASH_ADD_KEYPTR(hh, match->canonicals, known->path,
				strlen(known->path), known);
	}
	return known->real;
}

static void
add_note(struct rule_map *map, char *note)
{
	map->notes =
	    alloc_array(map->notes, map->notes_count + 1, sizeof(*map->notes));
	map->notes[map->notes_count++] = note;
}

/*
 * Puts a service's rule into the map of all, unless another service has
 * included the same line already. The strings of rule are taken over or left.
 * Returns the rule's number.
 */
static uint32_t
add_rule(struct rule_map *map, struct map_rule *rule)
{
	for (size_t i = 0; i < map->rules_count; i++) {
		if (map->rules[i].line == rule->line &&
		    strcmp(map->rules[i].file, rule->file) == 0)
			return map->rules[i].marker;
	}
	map->rules =
	    alloc_array(map->rules, map->rules_count + 1, sizeof(*map->rules));
	map->rules[map->rules_count] = *rule;
	memset(rule, 0, sizeof(*rule));
	map->rules[map->rules_count].marker = (uint32_t)map->rules_count + 1;
	return map->rules[map->rules_count++].marker;
}

static void
add_rules(struct pam_match *match, struct service *service,
	  struct rule_map *from)
{
	service->rules =
	    alloc_zero(from->rules_count + 1, sizeof(*service->rules));
	for (size_t i = 0; i < from->rules_count; i++) {
		struct map_rule *rule = &from->rules[i];
		struct known *known = &service->rules[service->count++];

		known->hash = rule->arguments_hash;
		known->path = real_path(rule->path);
		known->marker = add_rule(match->map, rule);
		/* Markers count rules; strings stay where they are. */
		known->group = match->map->rules[known->marker - 1].group;
	}
	for (size_t i = 0; i < from->notes_count; i++) {
		add_note(match->map, from->notes[i]);
		from->notes[i] = NULL;
	}
}

static void
add_service_name(struct rule_map *map, const char *name)
{
	char *joined = map->service == NULL
			   ? alloc_string(name)
			   : alloc_format("%s,%s", map->service, name);

	free(map->service);
	map->service = joined;
}

/* Reads a service's stack; one that cannot be read has no rules. */
static void
read_stack(struct pam_match *match, struct service *service)
{
	const struct pam_conf_place place = { .service = service->name,
					      .confdir = match->confdir };
	struct pam_stack *stack = NULL;
	struct rule_map *map;
	struct error error = { 0 };

	add_service_name(match->map, service->name);
	if (pam_conf_read(&stack, &place, &error) != 0) {
		add_note(match->map,
			 alloc_format("the stack of %s cannot be read: %s",
				      service->name, error.text));
		return;
	}
	map = pam_wrap_map(stack);
	add_rules(match, service, map);
	rule_map_free(map);
	pam_conf_free(stack);
}

static const struct service *
find_service(struct pam_match *match, const char *name)
{
	const char *slash = strrchr(name, '/');
	struct service *service;

	name = slash != NULL ? slash + 1 : name;
	HASH_FIND_STR(match->services, name, service);
	if (service != NULL || *name == '\0' ||
	    HASH_COUNT(match->services) >= SERVICES_LIMIT)
		return service;
	service = alloc_zero(1, sizeof(*service));
	service->name = alloc_string(name);
	HASH_ADD_KEYPTR(hh, match->services, service->name,
			strlen(service->name), service);
	read_stack(match, service);
	return service;
}

static struct place *
find_place(struct pam_match *match, uint64_t transaction)
{
	struct place *place;

	HASH_FIND(hh, match->places, &transaction, sizeof(transaction), place);
	if (place == NULL) {
		place = alloc_zero(1, sizeof(*place));
		place->transaction = transaction;
		HASH_ADD(hh, match->places, transaction, sizeof(transaction),
			 place);
	}
	return place;
}

/* A new phase begins at the top of the stack; pam_end(3) ends it all. */
static void
take_phase(struct pam_match *match, const struct record *record)
{
	struct place *place = find_place(match, record->transaction);

	place->next = 0;
	if (record->phase == PHASE_END && record->type == RECORD_END) {
		HASH_DEL(match->places, place);
		free(place);
	}
}

/* Number of the rule a call is of, 0 if there is none. */
static uint32_t
find_rule(struct pam_match *match, const struct record *record,
	  const struct service *service, const char *object)
{
	struct place *place = find_place(match, record->transaction);
	const char *path = canonical(match, object);
	const char *group = pam_group_name(phase_groups[record->phase]);
	size_t found = SIZE_MAX;

	if (place->phase != record->phase)
		place->next = 0;
	place->phase = record->phase;
	for (size_t i = 0; i < service->count; i++) {
		const struct known *rule = &service->rules[i];

		if (rule->hash != record->marker ||
		    strcmp(rule->group, group) != 0 ||
		    strcmp(rule->path, path) != 0)
			continue;
		if (found == SIZE_MAX || i >= place->next)
			found = i;
		if (i >= place->next)
			break;
	}
	if (found == SIZE_MAX)
		return 0;
	place->next = found + 1;
	return service->rules[found].marker;
}

/* The number that the call's begin got, if this is its end. */
static bool
ends_begun(struct pam_match *match, const struct record *record,
	   uint32_t *marker)
{
	struct begun *begun;

	if (record->type != RECORD_END)
		return false;
	HASH_FIND(hh, match->begun, &record->span, sizeof(record->span), begun);
	if (begun == NULL)
		return false;
	*marker = begun->marker;
	HASH_DEL(match->begun, begun);
	free(begun);
	return true;
}

static void
remember(struct pam_match *match, const struct record *record, uint32_t marker)
{
	struct begun *begun;

	HASH_FIND(hh, match->begun, &record->span, sizeof(record->span), begun);
	if (begun != NULL)
		return;
	begun = alloc_zero(1, sizeof(*begun));
	begun->span = record->span;
	begun->marker = marker;
	HASH_ADD(hh, match->begun, span, sizeof(begun->span), begun);
}

void
pam_match_record(struct pam_match *match, struct record *record,
		 const char *service, const char *object)
{
	const struct service *known;
	uint32_t marker = 0;

	if (record->kind == KIND_PHASE)
		take_phase(match, record);
	if (record->kind != KIND_CALL || record->phase >= PHASE_COUNT ||
	    (record->valid & VALID_ARGUMENTS) == 0)
		return;
	if (!ends_begun(match, record, &marker)) {
		known = find_service(match, service);
		if (known != NULL && phase_groups[record->phase] != GROUP_COUNT)
			marker = find_rule(match, record, known, object);
		if (record->type == RECORD_BEGIN)
			remember(match, record, marker);
		match->unmatched += marker == 0;
	}
	record->valid &= ~VALID_ARGUMENTS;
	if (marker != 0)
		record->valid |= VALID_MARKER;
	record->marker = marker;
}

struct rule_map *
pam_match_map(struct pam_match *match)
{
	struct rule_map *map = match->map;

	if (match->unmatched > 0)
		add_note(map, alloc_format(
				  "%lu calls fit no rule of the stack as it "
				  "is now; they stand under their module's "
				  "path",
				  match->unmatched));
	match->map = alloc_zero(1, sizeof(*map));
	match->unmatched = 0;
	return map;
}

static void
free_services(struct pam_match *match)
{
	struct service *service, *next;

	HASH_ITER (hh, match->services, service, next) {
		HASH_DEL(match->services, service);
		for (size_t i = 0; i < service->count; i++)
			free(service->rules[i].path);
		free(service->rules);
		free(service->name);
		free(service);
	}
}

void
pam_match_free(struct pam_match *match)
{
	struct place *place, *next_place;
	struct begun *begun, *next_begun;
	struct canonical *known, *next_known;

	if (match == NULL)
		return;
	free_services(match);
	HASH_ITER (hh, match->places, place, next_place) {
		HASH_DEL(match->places, place);
		free(place);
	}
	HASH_ITER (hh, match->begun, begun, next_begun) {
		HASH_DEL(match->begun, begun);
		free(begun);
	}
	HASH_ITER (hh, match->canonicals, known, next_known) {
		HASH_DEL(match->canonicals, known);
		free(known->path);
		free(known->real);
		free(known);
	}
	rule_map_free(match->map);
	free(match);
}
