/*
 * PAM configuration as libpam reads it: files, lines and rules, each with
 * its place, so that a rule can be named in a report and rewritten without
 * touching any other byte. Follows Linux-PAM 1.5 as patched by Debian, and
 * 1.6 and later where the library in use says so; see pam.conf(5) and the
 * tests, whose oracle is libpam itself.
 */
#ifndef PAMPROF_SOURCE_PAM_CONF_H
#define PAMPROF_SOURCE_PAM_CONF_H

#include <stdbool.h>
#include <stddef.h>

#include "../base/error.h"

enum pam_group {
	GROUP_AUTH,
	GROUP_ACCOUNT,
	GROUP_SESSION,
	GROUP_PASSWORD,
	GROUP_COUNT
};

/* What a logical line is. */
enum pam_rule_type {
	RULE_MODULE,
	RULE_INCLUDE,    /* "auth include common-auth" */
	RULE_SUBSTACK,   /* "auth substack common-auth" */
	RULE_AT_INCLUDE, /* "@include common-auth" (Debian) */
	RULE_BROKEN      /* libpam turns it into a must-fail handler or */
			 /* ignores it; problem says which */
};

/* A piece of the file: where its raw bytes are, and what libpam makes of it. */
struct pam_word {
	size_t offset, length;
	char *value; /* decoded; owned by the rule */
};

struct pam_file;

struct pam_rule {
	const struct pam_file *file;
	unsigned first_line, last_line; /* physical, from 1 */
	enum pam_rule_type type;
	enum pam_group group; /* not for RULE_AT_INCLUDE */
	bool silent;          /* the "-" prefix */
	bool unknown_type;    /* group is the one asked for, else auth */
	bool fatal;           /* libpam refuses the whole file here */
	bool escaped;         /* continuation with inner comment or blank */
	bool blank_tail;      /* no argument, but libpam's argv is not NULL */
	struct pam_word type_word, control, module; /* module or target */
	struct pam_word *args;
	size_t args_count;
	size_t args_end;  /* where one more argument can be put; 0: nowhere */
	size_t assembled; /* bytes the line needs in libpam's buffer, its */
			  /* comment included */
	struct pam_file *target; /* of the three include forms, or NULL */
	char
	    *path; /* absolute, what dlopen(3) gets (without --root), or NULL */
	char *problem;   /* why it is broken or cannot be wrapped, or NULL */
	unsigned marker; /* given by pam_conf_number(), from 1; 0: none */
};

struct pam_file {
	char *path; /* as opened: with --root's prefix */
	char *text; /* size bytes and a zero */
	size_t size;
	unsigned long long device, inode; /* one file, whatever its name */
	unsigned libpam_minor;            /* it was parsed for */
	struct pam_rule *rules;
	size_t rules_count;
	struct pam_file *next; /* of the stack's list */
};

/* One service with every file it reaches; a file is held once. */
struct pam_stack {
	char *service;
	struct pam_file *root;  /* the service's own file */
	struct pam_file *other; /* the "other" service, or NULL */
	struct pam_file *files; /* all of them, in order of first use */
	char **notes; /* for the user: pam.conf inactive, CR line ends, ... */
	size_t notes_count;
};

/* Where to look. All may be NULL for the system's own configuration. */
struct pam_conf_place {
	const char *service;
	const char *stack_file; /* --stack: this file is the service */
	const char *confdir;    /* --confdir: instead of /etc/pam.d */
	const char *root;       /* --root: prefix for everything */
	unsigned libpam_minor;  /* 5 for 1.5.x; 0: of the library in use */
};

/*
 * Reads the stack. On success *stack is to be freed with pam_conf_free(); on
 * failure it is NULL and error names file and line. Includes nest to 16, a
 * loop is refused. Files are opened read-only, without following a FIFO or a
 * device.
 */
int pam_conf_read(struct pam_stack **stack, const struct pam_conf_place *place,
		  struct error *error);
void pam_conf_free(struct pam_stack *stack);

/*
 * Minor version of the libpam in use, as far as its grammar tells: 5 for 1.5
 * and older, 6 for 1.6 and newer.
 */
unsigned pam_conf_libpam_minor(void);

/*
 * False for names that editors, dpkg, rpm or backups leave in /etc/pam.d;
 * such a file is read only when it is asked for by name.
 */
bool pam_conf_is_service(const char *name);

/* "auth" ... for a group. */
const char *pam_group_name(enum pam_group group);

#endif
