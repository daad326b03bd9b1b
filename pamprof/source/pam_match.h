/*
 * Which rule of a stack a call belongs to when only module, group and
 * arguments are known, as the audit observer records it.
 */
#ifndef PAMPROF_SOURCE_PAM_MATCH_H
#define PAMPROF_SOURCE_PAM_MATCH_H

#include "../../modules/record.h"
#include "../trace/rule_map.h"

struct pam_match;

/*
 * Makes a matcher that looks for services in confdir (NULL: the system's)
 * when it first meets them. Free it with pam_match_free(). confdir must
 * stay valid.
 */
struct pam_match *pam_match_new(const char *confdir);
void pam_match_free(struct pam_match *match);

/*
 * Gives a begin or end record the number of its rule: VALID_MARKER in place
 * of VALID_ARGUMENTS. A call that fits no rule keeps neither and is counted.
 * Other records only tell how far a login has come. service and object are
 * the record's own strings, whole. Records come in the order of their claims.
 *
 * Rules of one group with the same module and arguments are told apart by
 * order: libpam calls them in the order of the stack, so the next one that
 * fits is taken.
 */
void pam_match_record(struct pam_match *match, struct record *record,
		      const char *service, const char *object);

/*
 * The rules of all services met, each once, and notes on what could not be
 * read or matched; service is their names, joined by commas. It is the
 * caller's, and nothing more can be matched.
 */
struct rule_map *pam_match_map(struct pam_match *match);

#endif
