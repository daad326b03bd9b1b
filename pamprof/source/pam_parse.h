/*
 * From a text to rules; private to pam_conf and its tests.
 */
#ifndef PAMPROF_SOURCE_PAM_PARSE_H
#define PAMPROF_SOURCE_PAM_PARSE_H

#include "pam_conf.h"

/*
 * Splits file->text (without zero bytes) into file->rules, for
 * file->libpam_minor; opens nothing, so target and path stay NULL.
 * pam_conf_read() does this for every file; tests do it alone. An error names
 * the line that libpam would hang on.
 */
int pam_conf_parse(struct pam_file *file, struct error *error);
void pam_conf_free_rules(struct pam_file *file);

#endif
