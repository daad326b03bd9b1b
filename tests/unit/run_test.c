/*
 * The harness in parts: phases, answers and conversation,
 * consequences, calibration, orphans, interruption. Whole logins are in
 * tests/stacks and tests/e2e.
 */
#include "../test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../modules/ring_header.h"
#include "../../pamprof/base/alloc.h"
#include "../../pamprof/run/calibrate.h"
#include "../../pamprof/run/consequences.h"
#include "../../pamprof/run/interrupt.h"
#include "../../pamprof/run/orphans.h"
#include "../../pamprof/run/workspace.h"
#include "../../pamprof/source/pam.h"
#include "../../pamprof/source/pam_conv.h"

static char folder[64]; /* of the running test */

static void
folder_make(void)
{
	strcpy(folder, "/tmp/pamprof-run-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
}

static void
folder_remove(void)
{
	char *command = alloc_format("rm -rf '%s'", folder);

	CU_ASSERT_EQUAL(system(command), 0);
	free(command);
}

/* Writes folder/name and returns its path; free(3) it. */
static char *
write_file(const char *name, const char *text)
{
	char *path = alloc_format("%s/%s", folder, name);
	FILE *out = fopen(path, "we");

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	fputs(text, out);
	fclose(out);
	return path;
}

/* ---- Phases ------------------------------------------------------------- */

static void
test_phases(void)
{
	struct error error;
	unsigned phases;

	CU_ASSERT_EQUAL(pam_login_phases(&phases, NULL, &error), 0);
	CU_ASSERT(phases & PAM_PHASE_BIT(PHASE_AUTHENTICATE));
	CU_ASSERT(phases & PAM_PHASE_BIT(PHASE_CLOSE_SESSION));
	CU_ASSERT_FALSE(phases & PAM_PHASE_BIT(PHASE_CHAUTHTOK));
	CU_ASSERT_EQUAL(pam_login_phases(&phases, "account,setcred", &error),
			0);
	CU_ASSERT_EQUAL(phases, PAM_PHASE_BIT(PHASE_ACCT_MGMT) |
				    PAM_PHASE_BIT(PHASE_SETCRED) |
				    PAM_PHASE_BIT(PHASE_DELETE_CRED));
}

static void
test_phases_unknown(void)
{
	static const char *const lists[] = { "",           "auth,",
					     ",auth",      "authenticate",
					     "auth,,auth", "AUTH" };
	struct error error;
	unsigned phases;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		CU_ASSERT_EQUAL(pam_login_phases(&phases, lists[i], &error),
				ERROR_USAGE);
}

/* ---- Answers ------------------------------------------------------------ */

/* One prompt; the answer, to free(3), or NULL. */
static char *
converse(struct conversation *conversation, int style, const char *text)
{
	struct pam_message message = { style, text };
	const struct pam_message *messages = &message;
	struct pam_response *response = NULL;
	char *answer = NULL;
	int result =
	    conversation_converse(1, &messages, &response, conversation);

	CU_ASSERT((result == PAM_SUCCESS) == (response != NULL));
	if (response != NULL)
		answer = response->resp;
	free(response);
	return answer;
}

static void
check_answer(struct conversation *conversation, int style, const char *expected)
{
	char *answer = converse(conversation, style, "?");

	if (expected == NULL)
		CU_ASSERT_PTR_NULL(answer);
	if (expected != NULL)
		CU_ASSERT(answer != NULL && strcmp(answer, expected) == 0);
	free(answer);
}

static void
test_answers_file(void)
{
	struct conversation conversation = { .socket = -1 };
	struct error error;
	char *path;

	folder_make();
	path = write_file("answers", "one\n\nthree");
	CU_ASSERT_EQUAL_FATAL(
	    answers_open(&conversation.answers, path, -1, &error), 0);
	for (int transaction = 0; transaction < 2; transaction++) {
		conversation.next = 0;
		check_answer(&conversation, PAM_PROMPT_ECHO_ON, "one");
		check_answer(&conversation, PAM_PROMPT_ECHO_OFF, "");
		check_answer(&conversation, PAM_PROMPT_ECHO_OFF, "three");
		check_answer(&conversation, PAM_PROMPT_ECHO_OFF, NULL);
	}
	check_answer(&conversation, PAM_BINARY_PROMPT, NULL);
	answers_close(conversation.answers);
	free(path);
	folder_remove();
}

static void
test_answers_descriptor(void)
{
	struct conversation conversation = { .socket = -1 };
	struct error error;
	char rest[8];
	int pipes[2];

	CU_ASSERT_EQUAL_FATAL(pipe2(pipes, O_CLOEXEC), 0);
	CU_ASSERT_EQUAL(write(pipes[1], "first\nmore", 10), 10);
	CU_ASSERT_EQUAL_FATAL(
	    answers_open(&conversation.answers, NULL, pipes[0], &error), 0);
	for (int i = 0; i < 3; i++)
		check_answer(&conversation, PAM_PROMPT_ECHO_OFF, "first");
	check_answer(&conversation, PAM_PROMPT_ECHO_ON, NULL);
	/* What follows the line is not ours. */
	CU_ASSERT_EQUAL(read(pipes[0], rest, sizeof(rest)), 4);
	answers_close(conversation.answers);
	close(pipes[0]);
	close(pipes[1]);
}

static void
test_answers_missing(void)
{
	struct answers *answers;
	struct error error;

	CU_ASSERT_EQUAL(answers_open(&answers, "/nonexistent/a", -1, &error),
			ERROR_SYSTEM);
	CU_ASSERT_PTR_NULL(answers);
	CU_ASSERT_EQUAL(answers_open(&answers, NULL, 1 << 20, &error),
			ERROR_SYSTEM);
	answers_close(NULL);
}

/* A question without an answer is named, without its control bytes. */
static void
test_answers_run_out(void)
{
	struct {
		int style;
		char text[PAM_MAX_MSG_SIZE];
	} question = { PAM_PROMPT_ECHO_OFF, "Token: " };
	struct answers *answers;
	struct error error = { 0 };
	int sockets[2];
	char *path;

	folder_make();
	path = write_file("answers", "");
	CU_ASSERT_EQUAL_FATAL(answers_open(&answers, path, -1, &error), 0);
	CU_ASSERT_EQUAL(
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), 0);
	CU_ASSERT(send(sockets[1], &question, sizeof(question), 0) > 0);
	CU_ASSERT_EQUAL(answers_serve(answers, sockets[0], -1, -1, &error),
			ERROR_INPUT);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "\"Token: \""));
	/* Something else than a question is nobody's business. */
	CU_ASSERT(send(sockets[1], "x", 1, 0) == 1);
	CU_ASSERT_EQUAL(answers_serve(answers, sockets[0], -1, -1, &error), 0);
	close(sockets[0]);
	close(sockets[1]);
	answers_close(answers);
	free(path);
	folder_remove();
}

static void
test_converse_limits(void)
{
	struct conversation conversation = { .socket = -1 };
	struct pam_response *responses = (void *)1;
	struct error error;

	CU_ASSERT_EQUAL_FATAL(
	    answers_open(&conversation.answers, NULL, -1, &error), 0);
	CU_ASSERT_EQUAL(
	    conversation_converse(0, NULL, &responses, &conversation),
	    PAM_CONV_ERR);
	CU_ASSERT_PTR_NULL(responses);
	CU_ASSERT_EQUAL(conversation_converse(PAM_MAX_NUM_MSG + 1, NULL,
					      &responses, &conversation),
			PAM_CONV_ERR);
	answers_close(conversation.answers);
}

/* ---- Consequences ------------------------------------------------------- */

/* The list for a stack of that text. */
static unsigned
consequences_of(const char *text, const char *phases, struct buffer *out)
{
	struct pam_login login = { .user = "someone" };
	char *path = write_file("stack", text);
	struct pam_conf_place place = { .stack_file = path, .confdir = folder };
	struct pam_stack *stack;
	struct error error;
	unsigned count;

	free(write_file("other", "session required pam_loginuid.so\n"));
	CU_ASSERT_EQUAL(pam_login_phases(&login.phases, phases, &error), 0);
	CU_ASSERT_EQUAL_FATAL(pam_conf_read(&stack, &place, &error), 0);
	count = consequences_list(out, stack, &login);
	pam_conf_free(stack);
	free(path);
	return count;
}

static const struct {
	const char *stack, *phases;
	unsigned count;
	const char *text; /* part of the list, or NULL */
} consequence_rows[] = {
	{ "auth required pam_faillock.so preauth\n"
	  "auth required pam_faillock.so authfail\n",
	  "auth", 1, "pam_faillock.so (" },
	{ "account required pam_faillock.so\n", "account", 0, NULL },
	{ "auth required pam_permit.so\n", "auth", 0, NULL },
	{ "-session optional pam_systemd.so\n", "session", 1,
	  "registers a session of someone" },
	{ "session optional /lib/security/pam_mkhomedir.so\n", "session", 1,
	  "home directory" },
	{ "session optional pam_mkhomedir.so\n", "auth", 0, NULL },
	{ "password required pam_unix.so\n", "password", 1,
	  "change the password of someone" },
	{ "password required pam_unix.so\n", "auth,account", 0, NULL },
	/* No rule of the group: libpam takes "other", and so do we. */
	{ "auth required pam_permit.so\n", "session", 1, "login uid" },
	{ "auth required pam_exec.so /bin/true\n"
	  "session required pam_lastlog.so\n",
	  "auth,session", 2, "runs a program" },
};

static void
test_consequences(void)
{
	for (size_t i = 0;
	     i < sizeof(consequence_rows) / sizeof(consequence_rows[0]); i++) {
		struct buffer out = { 0 };
		unsigned count;

		folder_make();
		count = consequences_of(consequence_rows[i].stack,
					consequence_rows[i].phases, &out);
		CU_ASSERT_EQUAL(count, consequence_rows[i].count);
		if (consequence_rows[i].text != NULL)
			CU_ASSERT(out.data != NULL &&
				  strstr(out.data, consequence_rows[i].text));
		buffer_free(&out);
		folder_remove();
	}
}

/* ---- The rest ----------------------------------------------------------- */

/* A call costs something, and not the 100 us of a machine gone wrong. */
static void
test_calibration(void)
{
	struct workspace *workspace;
	struct error error = { 0 };
	uint64_t with = 0, without = 0;
	char *first, *second;

	CU_ASSERT_EQUAL_FATAL(workspace_make(&workspace, &error), 0);
	first = alloc_format("%s/1", workspace_path(workspace));
	second = alloc_format("%s/2", workspace_path(workspace));
	CU_ASSERT_EQUAL(mkdir(first, 0700) | mkdir(second, 0700), 0);
	CU_ASSERT_EQUAL(
	    calibrate_call(&with, first, RING_CPU | RING_CONVERSATION, &error),
	    0);
	CU_ASSERT_EQUAL(calibrate_call(&without, second, 0, &error), 0);
	if (error.text[0] != '\0')
		printf("%s ", error.text);
	CU_ASSERT(with > 20 && with < 100000);
	CU_ASSERT(without > 20 && without < 100000);
	/* The folder is not empty any more. */
	CU_ASSERT(calibrate_call(&with, first, 0, &error) < 0);
	CU_ASSERT_EQUAL(with, 0);
	free(first);
	free(second);
	workspace_remove(workspace);
}

/* A daemon of two forks and a session of its own is ended all the same. */
static void
test_orphans(void)
{
	struct orphans orphans;
	int pipes[2], status;
	pid_t daemon = 0, spared = fork(), starter;

	if (spared == 0) {
		pause();
		_exit(0);
	}
	orphans_expect(&orphans);
	CU_ASSERT_EQUAL_FATAL(pipe2(pipes, O_CLOEXEC), 0);
	starter = fork();
	if (starter == 0) {
		setsid();
		daemon = fork();
		if (daemon == 0) {
			pause();
			_exit(0);
		}
		_exit(write(pipes[1], &daemon, sizeof(daemon)) < 0);
	}
	CU_ASSERT_EQUAL(waitpid(starter, &status, 0), starter);
	CU_ASSERT_EQUAL(read(pipes[0], &daemon, sizeof(daemon)),
			sizeof(daemon));
	CU_ASSERT_EQUAL(kill(daemon, 0), 0);
	orphans_end(&orphans);
	CU_ASSERT_NOT_EQUAL(kill(daemon, 0), 0);
	CU_ASSERT_EQUAL(kill(spared, 0), 0);
	orphans_forget(&orphans);
	kill(spared, SIGKILL);
	waitpid(spared, &status, 0);
	close(pipes[0]);
	close(pipes[1]);
}

/* In a child: the signal is held back, then takes its effect. */
static void
test_interrupt(void)
{
	struct interrupt interrupt;
	struct error error;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		signal(SIGHUP, SIG_IGN);
		if (interrupt_hold(&interrupt, &error) != 0)
			_exit(1);
		raise(SIGHUP); /* ignored before, ignored now */
		raise(SIGTERM);
		interrupt_release(&interrupt);
		_exit(2);
	}
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

void run_tests(void);

void
run_tests(void)
{
	static const struct test_row rows[] = {
		{ "phases", test_phases },
		{ "unknown phases", test_phases_unknown },
		{ "answers from a file", test_answers_file },
		{ "answers from a descriptor", test_answers_descriptor },
		{ "answers that cannot be read", test_answers_missing },
		{ "answers that run out", test_answers_run_out },
		{ "limits of a conversation", test_converse_limits },
		{ "consequences", test_consequences },
		{ "calibration", test_calibration },
		{ "orphans", test_orphans },
		{ "interruption", test_interrupt },
	};

	TEST_SUITE("run", rows);
}
