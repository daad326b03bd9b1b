/*
 * The report over production's records, for people and for programs, and the
 * export of its spans.
 */
#ifndef PAMPROF_RENDER_PRODUCTION_H
#define PAMPROF_RENDER_PRODUCTION_H

#include "../stat/production.h"
#include "../trace/span.h"
#include "render.h"

/* For people; logins: the slowest logins in place of the groups. */
void production_tree(struct buffer *out, const struct production_report *report,
		     const struct render_style *style, bool logins);

/* One line of JSON: pamprof(1). */
void production_json(struct buffer *out,
		     const struct production_report *report);

/* "2026-11-30T14:02:03.123456789Z", and "2026-11-30 14:02:03" local time. */
void production_iso(struct buffer *out, int64_t wall_ns);
void production_local(struct buffer *out, int64_t wall_ns);

/*
 * One line of JSON for a call that ended, or for one that never did:
 * pamprof-records(5). login: id of the login it is part of.
 */
void production_jsonl_end(struct buffer *out, const struct record *record,
			  const struct ring_header *header,
			  const struct map_rule *rule, uint64_t login);
void production_jsonl_open(struct buffer *out,
			   const struct production_open *open);

/*
 * One login as a tree. Roots of the same login follow each other; map has
 * its rules. The first one gets the heading.
 */
struct login_tree {
	struct buffer *out;
	const struct render_style *style;
	const struct rule_map *map;
	const struct ring_header *header;
	uint64_t start_ns, spans; /* spans: printed so far */
	int32_t pid;              /* of the span printed last */
};
void login_tree_root(struct login_tree *tree, const struct span *root);

#endif
