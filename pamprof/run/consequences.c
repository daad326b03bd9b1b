/*
 * The table of modules with consequences: a new one is a new row. Apart
 * from the command because it is knowledge about other people's modules,
 * taken from their manual pages.
 */
#include "consequences.h"

#include <string.h>

#include "../base/message.h"
#include "../source/terminal.h"

#define AUTH     PAM_PHASE_BIT(PHASE_AUTHENTICATE)
#define SETCRED  PAM_PHASE_BIT(PHASE_SETCRED)
#define ACCOUNT  PAM_PHASE_BIT(PHASE_ACCT_MGMT)
#define OPEN     PAM_PHASE_BIT(PHASE_OPEN_SESSION)
#define PASSWORD PAM_PHASE_BIT(PHASE_CHAUTHTOK)
#define ALL      (AUTH | SETCRED | ACCOUNT | OPEN | PASSWORD)

/* Nesting of includes, as pam_conf_read() limits it. */
#define DEPTH_LIMIT 16

static const struct consequence {
	const char *module; /* NULL: any module */
	unsigned phases;
	const char *text;
} table[] = {
	{ "pam_faillock.so", AUTH, "counts failed logins and may lock %s out" },
	{ "pam_tally2.so", AUTH, "counts failed logins and may lock %s out" },
	{ "pam_tally.so", AUTH, "counts failed logins and may lock %s out" },
	{ "pam_abl.so", AUTH, "counts failures and may block %s and the host" },
	{ "pam_shield.so", AUTH, "counts failures and may block the host" },
	{ "pam_mkhomedir.so", OPEN, "makes a home directory for %s" },
	{ "pam_oddjob_mkhomedir.so", OPEN, "makes a home directory for %s" },
	{ "pam_systemd.so", OPEN,
	  "registers a session of %s and may start a service manager" },
	{ "pam_systemd_home.so", AUTH | OPEN, "unlocks the home area of %s" },
	{ "pam_elogind.so", OPEN, "registers a session of %s" },
	{ "pam_ck_connector.so", OPEN, "registers a session of %s" },
	{ "pam_lastlog.so", OPEN | ACCOUNT, "writes lastlog and wtmp for %s" },
	{ "pam_lastlog2.so", OPEN, "writes the last login of %s" },
	{ "pam_loginuid.so", OPEN,
	  "sets the login uid, for the measured process only" },
	{ "pam_exec.so", ALL, "runs a program" },
	{ "pam_script.so", ALL, "runs programs" },
	{ "pam_python.so", ALL, "runs a script" },
	{ "pam_mount.so", OPEN, "mounts file systems of %s" },
	{ "pam_namespace.so", OPEN, "makes instance directories for %s" },
	{ "pam_setquota.so", OPEN, "sets the disk quota of %s" },
	{ "pam_timestamp.so", OPEN,
	  "lets %s in without a password for a time" },
	{ "pam_ssh.so", OPEN, "starts an agent for %s" },
	{ "pam_gnome_keyring.so", OPEN, "starts a daemon for %s" },
	{ "pam_kwallet5.so", OPEN, "starts a daemon for %s" },
	{ NULL, PASSWORD, "may change the password of %s" },
};

#define ROWS (sizeof(table) / sizeof(table[0]))

/* The phases in which libpam runs the rules of a group. */
static const unsigned phases_of[GROUP_COUNT] = { [GROUP_AUTH] = AUTH | SETCRED,
						 [GROUP_ACCOUNT] = ACCOUNT,
						 [GROUP_SESSION] = OPEN,
						 [GROUP_PASSWORD] = PASSWORD };

/* A walk over the rules of one group. */
struct search {
	struct buffer *out;
	const char *user;
	unsigned phases; /* that are run and that the group has */
	unsigned rules;  /* modules met */
	bool found[ROWS];
};

static const char *
base_name(const struct pam_rule *rule)
{
	const char *name = rule->module.value ? rule->module.value : "";
	const char *slash = strrchr(name, '/');

	return slash != NULL ? slash + 1 : name;
}

/* Appends what a row says, once. */
static void
note(struct search *search, const struct pam_rule *rule, size_t row)
{
	const char *text = table[row].text, *user = strstr(text, "%s");

	if (search->found[row])
		return;
	search->found[row] = true;
	buffer_format(search->out, "%s (%s:%u) ", base_name(rule),
		      rule->file->path, rule->first_line);
	if (user == NULL)
		buffer_text(search->out, text);
	else
		buffer_format(search->out, "%.*s%s%s", (int)(user - text), text,
			      search->user, user + 2);
	buffer_char(search->out, '\n');
}

static void
look_at(struct search *search, const struct pam_rule *rule)
{
	const char *name = base_name(rule);

	search->rules++;
	for (size_t i = 0; i < ROWS; i++) {
		if ((table[i].phases & search->phases) == 0)
			continue;
		if (table[i].module == NULL || !strcmp(table[i].module, name))
			note(search, rule, i);
	}
}

/* Follows includes as libpam does: only rules of the group count. */
static void
walk(struct search *search, const struct pam_file *file, enum pam_group group,
     unsigned depth)
{
	for (size_t i = 0; i < file->rules_count && depth > 0; i++) {
		const struct pam_rule *rule = &file->rules[i];

		if (rule->type != RULE_AT_INCLUDE && rule->group != group)
			continue;
		if (rule->target != NULL)
			walk(search, rule->target, group, depth - 1);
		else if (rule->type == RULE_MODULE)
			look_at(search, rule);
	}
}

unsigned
consequences_list(struct buffer *out, const struct pam_stack *stack,
		  const struct pam_login *login)
{
	struct search search = { .out = out,
				 .user = login->user ? login->user : "?" };
	unsigned count = 0;

	for (unsigned g = 0; g < GROUP_COUNT; g++) {
		search.rules = 0;
		search.phases = phases_of[g] & login->phases;
		if (search.phases == 0)
			continue;
		walk(&search, stack->root, (enum pam_group)g, DEPTH_LIMIT);
		/* "other" stands in for groups the service has no rule of. */
		if (search.rules == 0 && stack->other != NULL)
			walk(&search, stack->other, (enum pam_group)g,
			     DEPTH_LIMIT);
	}
	for (size_t i = 0; i < ROWS; i++)
		count += search.found[i];
	return count;
}

/* One warning for each line of the list. */
static void
say(char *list)
{
	char *save = NULL;

	for (char *line = strtok_r(list, "\n", &save); line != NULL;
	     line = strtok_r(NULL, "\n", &save))
		message_warn_folded(line);
}

int
consequences_agree(const struct pam_stack *stack, const struct pam_login *login,
		   bool yes, struct error *error)
{
	struct buffer list = { 0 };
	int agreed = 1;

	if (consequences_list(&list, stack, login) > 0) {
		say(list.data);
		if (!yes)
			agreed = terminal_agree("Run it? [y/N] ");
	}
	buffer_free(&list);
	if (agreed > 0)
		return 0;
	return error_set(error, ERROR_USAGE,
			 agreed < 0 ? "the run has the consequences above: say "
				      "--yes if they are wanted"
				    : "nothing was run");
}
