/*
 * Names for the numbers in records, as reports print them: one table per
 * kind of number. The names are part of the JSON format.
 */
#include "report.h"

#include <security/pam_appl.h>
#include <security/pam_modules.h>
#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

#define ROW(name) [name] = #name

static const char *const pam_names[] = {
	ROW(PAM_SUCCESS),
	ROW(PAM_OPEN_ERR),
	ROW(PAM_SYMBOL_ERR),
	ROW(PAM_SERVICE_ERR),
	ROW(PAM_SYSTEM_ERR),
	ROW(PAM_BUF_ERR),
	ROW(PAM_PERM_DENIED),
	ROW(PAM_AUTH_ERR),
	ROW(PAM_CRED_INSUFFICIENT),
	ROW(PAM_AUTHINFO_UNAVAIL),
	ROW(PAM_USER_UNKNOWN),
	ROW(PAM_MAXTRIES),
	ROW(PAM_NEW_AUTHTOK_REQD),
	ROW(PAM_ACCT_EXPIRED),
	ROW(PAM_SESSION_ERR),
	ROW(PAM_CRED_UNAVAIL),
	ROW(PAM_CRED_EXPIRED),
	ROW(PAM_CRED_ERR),
	ROW(PAM_NO_MODULE_DATA),
	ROW(PAM_CONV_ERR),
	ROW(PAM_AUTHTOK_ERR),
	ROW(PAM_AUTHTOK_RECOVERY_ERR),
	ROW(PAM_AUTHTOK_LOCK_BUSY),
	ROW(PAM_AUTHTOK_DISABLE_AGING),
	ROW(PAM_TRY_AGAIN),
	ROW(PAM_IGNORE),
	ROW(PAM_ABORT),
	ROW(PAM_AUTHTOK_EXPIRED),
	ROW(PAM_MODULE_UNKNOWN),
	ROW(PAM_BAD_ITEM),
	ROW(PAM_CONV_AGAIN),
	ROW(PAM_INCOMPLETE),
};

static const char *const phase_names[PHASE_COUNT] = {
	[PHASE_NONE] = "none",
	[PHASE_START] = "start",
	[PHASE_AUTHENTICATE] = "authenticate",
	[PHASE_SETCRED] = "setcred",
	[PHASE_ACCT_MGMT] = "acct_mgmt",
	[PHASE_OPEN_SESSION] = "open_session",
	[PHASE_CLOSE_SESSION] = "close_session",
	[PHASE_DELETE_CRED] = "delete_cred",
	[PHASE_CHAUTHTOK_PRELIM] = "chauthtok_prelim",
	[PHASE_CHAUTHTOK_UPDATE] = "chauthtok_update",
	[PHASE_CHAUTHTOK] = "chauthtok",
	[PHASE_END] = "end",
};

static const char *const category_names[CATEGORY_COUNT] = {
	[CATEGORY_NONE] = "none",
	[CATEGORY_CPU] = "cpu",
	[CATEGORY_CHILD] = "child",
	[CATEGORY_NAME_RESOLUTION] = "name_resolution",
	[CATEGORY_NETWORK] = "network",
	[CATEGORY_LOCAL_PEER] = "local_peer",
	[CATEGORY_FILE] = "file",
	[CATEGORY_REMOTE_FILE] = "remote_file",
	[CATEGORY_LOCK] = "lock",
	[CATEGORY_DELIBERATE] = "deliberate",
	[CATEGORY_HUMAN] = "human",
	[CATEGORY_OTHER] = "other",
};

const char *
report_pam_name(int value)
{
	static char unknown[24];

	if (value >= 0 && (size_t)value < COUNT(pam_names))
		return pam_names[value];
	snprintf(unknown, sizeof(unknown), "PAM_%d", value);
	return unknown;
}

const char *
report_phase_name(enum record_phase phase)
{
	return phase < PHASE_COUNT ? phase_names[phase] : "none";
}

const char *
report_category_name(enum record_category category)
{
	return category < CATEGORY_COUNT ? category_names[category] : "other";
}
