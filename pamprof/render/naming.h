/*
 * How rules, places and phases are called in text for people. Everything
 * appended is safe to print.
 */
#ifndef PAMPROF_RENDER_NAMING_H
#define PAMPROF_RENDER_NAMING_H

#include "render.h"

/* "pam_unix.so"; label is the path of a module without a rule. */
void name_module(struct buffer *out, const struct map_rule *rule,
		 const char *label, bool unicode);

/* "common-auth:17"; nothing when the rule is NULL. */
void name_place(struct buffer *out, const struct map_rule *rule, bool unicode);

/* "auth pam_unix.so (common-auth:17)", for prose. */
void name_call(struct buffer *out, enum record_phase phase,
	       const struct map_rule *rule, const char *label, bool unicode);

/* The phase in few letters: "auth", "account", "setcred" ... */
const char *name_phase(enum record_phase phase);

/* A category as the end of "1.30 s ...": "CPU", "waiting" ... */
const char *name_category(enum record_category category);

/* The category that took most of a split. */
enum record_category split_largest(const struct split *split);

#endif
