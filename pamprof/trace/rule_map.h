/*
 * The rule map: what the markers in records stand for. It travels with the
 * records (in the header of a segment) as JSON, so that a saved run needs
 * nothing else; see pamprof-records(5).
 */
#ifndef PAMPROF_TRACE_RULE_MAP_H
#define PAMPROF_TRACE_RULE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/buffer.h"
#include "../base/error.h"

#define RULE_MAP_SCHEMA 1

/* One rule. Strings are owned by the map; args has secrets masked. */
struct map_rule {
	uint32_t marker;         /* 0: not wrapped, problem says why */
	uint32_t arguments_hash; /* of the unmasked arguments, for trace */
	char *group, *file, *control, *module, *path, *args, *problem;
	unsigned line, last_line;
	unsigned depth; /* of includes, for the tree */
};

/* All that a report needs to know besides the records themselves. */
struct rule_map {
	char *command, *host, *pam, *service, *user, *version;
	bool in_process;
	uint64_t overhead_per_call_ns; /* calibrated, wall time */
	char **notes;
	size_t notes_count;
	struct map_rule *rules; /* in order of the stack */
	size_t rules_count;
};

/*
 * Appends the map as one JSON object. Strings that are NULL are left out;
 * bytes that are not UTF-8 become U+FFFD.
 */
void rule_map_write(struct buffer *out, const struct rule_map *map);

/*
 * Reads it back; text is hostile. Unknown keys are skipped, an unknown
 * schema is refused. *map is NULL on failure (ERROR_FORMAT), else to be
 * freed with rule_map_free(). Strings that are absent are NULL.
 */
int rule_map_read(struct rule_map **map, const char *text, size_t length,
		  struct error *error);

/* Frees the map and all in it, which must come from malloc(3); or NULL. */
void rule_map_free(struct rule_map *map);

/* The rule with that marker, or NULL; never one that is not wrapped. */
const struct map_rule *rule_map_find(const struct rule_map *map,
				     uint32_t marker);

/* FNV-1a over the arguments, each with its zero byte: VALID_ARGUMENTS. */
uint32_t rule_map_hash(const char *const *args, size_t count);

/*
 * The arguments in one line, to be freed, with "***" for every value that
 * may be a secret (passwd=, bindpw=, ... and passwords in URLs). Arguments
 * are as libpam passes them or as they stand in the file; those with blanks
 * come in brackets.
 */
char *rule_map_mask(const char *const *args, size_t count);

#endif
