/*
 * The keys of the rule map's JSON, once for writing and reading. Only for
 * trace/.
 */
#ifndef PAMPROF_TRACE_RULE_FIELDS_H
#define PAMPROF_TRACE_RULE_FIELDS_H

#include <stddef.h>

enum rule_field_type {
	RULE_STRING,  /* char * */
	RULE_BOOL,    /* bool */
	RULE_UNSIGNED /* of size bytes: 4 or 8 */
};

struct rule_field {
	const char *name;
	enum rule_field_type type;
	size_t offset, size; /* in struct rule_map or struct map_rule */
};

/* Ended by a row without a name; in the order in which they are written. */
extern const struct rule_field rule_map_fields[], rule_map_rule_fields[];

#endif
