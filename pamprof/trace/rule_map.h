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

/* Appends the map as one JSON object. */
void rule_map_write(struct buffer *out, const struct rule_map *map);

/* Reads it back; text is hostile. *map is NULL on failure. */
int rule_map_read(struct rule_map **map, const char *text, size_t length,
		  struct error *error);
void rule_map_free(struct rule_map *map);

/* The rule with that marker, or NULL. */
const struct map_rule *rule_map_find(const struct rule_map *map,
				     uint32_t marker);

/* FNV-1a over the arguments, each with its zero byte: VALID_ARGUMENTS. */
uint32_t rule_map_hash(const char *const *args, size_t count);

#endif
