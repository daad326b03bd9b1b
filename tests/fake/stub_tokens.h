/*
 * Names of PAM return values as pam.conf(5) writes them in a control list,
 * and of the items a test may set or read.
 */
#ifndef PAMPROF_TESTS_STUB_TOKENS_H
#define PAMPROF_TESTS_STUB_TOKENS_H

#define PAM_TOKEN_COUNT 32

/* "success" for 0 and so on; NULL outside 0 to PAM_TOKEN_COUNT - 1. */
const char *pam_token_name(int value);

/*
 * The value of a name or of a decimal number, which may be negative or out
 * of libpam's range; fallback if text is neither.
 */
int pam_token_value(const char *text, int fallback);

/* PAM_USER for "user" and so on; -1 for an unknown name. */
int pam_item_number(const char *name);

/* The name of the index-th item, for loops; NULL after the last. */
const char *pam_item_name(int index);

#endif
