/*
 * A PAM module that prints, for each call, the function and the arguments it
 * got, on standard output. Its first argument decides what it returns: "ok"
 * is PAM_SUCCESS, anything else PAM_IGNORE, so that a stack goes on to its
 * end. See tests/fake/stack_oracle.c, which drives it.
 */
#include <security/pam_modules.h>
#include <stdio.h>
#include <string.h>

static void
print_bytes(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text == '\\')
			(void)printf("\\x%02x", (unsigned char)*text);
		else
			(void)putchar(*text);
}

/* "null" and "empty" tell a NULL argv from one without arguments. */
static int
print_call(const char *name, int argc, const char **argv)
{
	(void)printf("%s", name);
	if (argc == 0)
		(void)printf(" %s", argv ? "empty" : "null");
	for (int i = 0; i < argc; i++) {
		(void)printf(" <");
		print_bytes(argv[i]);
		(void)putchar('>');
	}
	(void)putchar('\n');
	return argc > 0 && strcmp(argv[0], "ok") == 0 ? PAM_SUCCESS
						      : PAM_IGNORE;
}

#define ENTRY(function, name)                                                  \
	__attribute__((visibility("default"))) int function(                   \
	    pam_handle_t *handle, int flags, int argc, const char **argv)      \
	{                                                                      \
		(void)handle;                                                  \
		(void)flags;                                                   \
		return print_call(name, argc, argv);                           \
	}

ENTRY(pam_sm_authenticate, "authenticate")
ENTRY(pam_sm_setcred, "setcred")
ENTRY(pam_sm_acct_mgmt, "acct_mgmt")
ENTRY(pam_sm_open_session, "open_session")
ENTRY(pam_sm_close_session, "close_session")

__attribute__((visibility("default"))) int
pam_sm_chauthtok(pam_handle_t *handle, int flags, int argc, const char **argv)
{
	(void)handle;
	return print_call(flags & PAM_PRELIM_CHECK ? "prelim" : "update", argc,
			  argv);
}
