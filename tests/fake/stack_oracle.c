/*
 * What libpam itself makes of a stack:
 *
 *   stack_oracle CONFDIR SERVICE
 *
 * starts the service and calls all six functions. The stack's modules are
 * pam_args.so and print their calls; this adds what libpam returned. A stack
 * that makes libpam hang ends the program by SIGPROF after two seconds of
 * its own CPU time.
 */
#include <security/pam_appl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

/*
 * Hundreds of broken stacks must not fill the host's log: libpam's messages
 * go nowhere. This is what its calls of syslog(3) are compiled to.
 */
void __syslog_chk(int priority, int flag, const char *format, ...);

void
__syslog_chk(int priority, int flag, const char *format, ...)
{
	(void)priority;
	(void)flag;
	(void)format;
}

static int
no_answer(int count, const struct pam_message **messages,
	  struct pam_response **responses, void *data)
{
	(void)count;
	(void)messages;
	(void)data;
	*responses = NULL;
	return PAM_CONV_ERR;
}

static void
print_result(const char *name, int result)
{
	(void)printf("= %s %s\n", name, result == PAM_SUCCESS ? "ok" : "bad");
	(void)fflush(stdout);
}

/*
 * What setcred and close_session return depends on the calls before them,
 * and says nothing about the configuration.
 */
static void
call_all(pam_handle_t *handle)
{
	print_result("authenticate", pam_authenticate(handle, 0));
	(void)pam_setcred(handle, PAM_ESTABLISH_CRED);
	print_result("acct_mgmt", pam_acct_mgmt(handle, 0));
	print_result("open_session", pam_open_session(handle, 0));
	(void)pam_close_session(handle, 0);
	print_result("chauthtok", pam_chauthtok(handle, 0));
}

int
main(int argc, char **argv)
{
	const struct itimerval limit = { .it_value = { .tv_sec = 2 } };
	struct pam_conv conversation = { no_answer, NULL };
	pam_handle_t *handle = NULL;
	int result;

	if (argc != 3)
		return 2;
	(void)setitimer(ITIMER_PROF, &limit, NULL);
	result = pam_start_confdir(argv[2], "nobody", &conversation, argv[1],
				   &handle);
	print_result("start", result);
	if (result == PAM_SUCCESS) {
		call_all(handle);
		(void)pam_end(handle, PAM_SUCCESS);
	}
	(void)fflush(stdout);
	/* libpam leaks what it has read of a stack that it then refuses. */
	_exit(0);
}
