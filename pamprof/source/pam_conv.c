/*
 * Answers to what modules ask. Apart from the login that uses them so that
 * there is one file in which answers are read, copied and wiped. No answer
 * is ever formatted into a message; prompts are, cleaned of control bytes.
 */
#include "pam_conv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../base/alloc.h"
#include "../base/message.h"
#include "../base/secret.h"
#include "terminal.h"

#define FILE_SIZE 65536 /* of --answers */
#define TYPED_MAX 64    /* prompts of one login at a terminal */

enum source {
	FROM_TERMINAL,
	FROM_FILE,
	FROM_PASSWORD
};

struct answers {
	enum source source;
	struct secret given;            /* the file, or the password */
	struct secret typed[TYPED_MAX]; /* in order of the prompts */
	unsigned typed_count;
};

/* What goes through the socket. */
struct question {
	int style;
	char text[PAM_MAX_MSG_SIZE];
};
struct reply {
	int known;
	char text[PAM_MAX_RESP_SIZE];
};

/* Opens the place and reads it; where is for messages. */
static int
read_given(struct answers *answers, int fd, const char *where,
	   struct error *error)
{
	struct error why = { 0 };
	int r;

	if (fcntl(fd, F_GETFD) < 0)
		return error_set(error, ERROR_SYSTEM,
				 "%s: descriptor %d is not open; the shell "
				 "opens it with %d<FILE",
				 where, fd, fd);
	r = secret_open(&answers->given, FILE_SIZE, &why);

	if (r == 0 && answers->source == FROM_PASSWORD)
		r = secret_read_line(&answers->given, fd, &why);
	else if (r == 0)
		r = secret_read(&answers->given, fd, &why);
	if (r != 0)
		return error_set(error, why.code, "%s: %s", where, why.text);
	return 0;
}

static int
read_file(struct answers *answers, const char *file, struct error *error)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY), r;

	if (fd < 0)
		return error_errno(error, "%s", file);
	r = read_given(answers, fd, file, error);
	close(fd);
	return r;
}

int
answers_open(struct answers **answers, const char *file, int password_fd,
	     struct error *error)
{
	struct answers *new = alloc_zero(1, sizeof(*new));
	int r = 0;

	*answers = NULL;
	if (file != NULL) {
		new->source = FROM_FILE;
		r = read_file(new, file, error);
	} else if (password_fd >= 0) {
		new->source = FROM_PASSWORD;
		r = read_given(new, password_fd, "--password-fd", error);
	}
	if (r != 0) {
		answers_close(new);
		return r;
	}
	*answers = new;
	return 0;
}

void
answers_close(struct answers *answers)
{
	if (answers == NULL)
		return;
	secret_wipe(&answers->given);
	for (unsigned i = 0; i < answers->typed_count; i++)
		secret_wipe(&answers->typed[i]);
	free(answers);
}

/* The line of the file with that number, from 0; false after the last. */
static bool
line_of(const struct secret *file, unsigned number, const char **start,
	size_t *length)
{
	const char *at = file->data, *end = file->data + file->length;

	for (;;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		if (at == end)
			return false;
		if (number-- == 0) {
			*start = at;
			*length = (size_t)((newline ? newline : end) - at);
			return true;
		}
		if (newline == NULL)
			return false;
		at = newline + 1;
	}
}

/* What is known as answer to the prompt of that number and style. */
static bool
find(const struct answers *answers, unsigned number, int style,
     const char **start, size_t *length)
{
	const struct secret *secret = &answers->given;

	if (answers->source == FROM_FILE)
		return line_of(secret, number, start, length);
	if (answers->source == FROM_PASSWORD && style != PAM_PROMPT_ECHO_OFF)
		return false;
	if (answers->source == FROM_TERMINAL) {
		if (number >= answers->typed_count)
			return false;
		secret = &answers->typed[number];
	}
	*start = secret->data;
	*length = secret->length;
	return true;
}

/* Keeps a typed answer for the runs to come; *line is taken over. */
static void
keep(struct answers *answers, struct secret *line)
{
	if (answers->typed_count < TYPED_MAX)
		answers->typed[answers->typed_count++] = *line;
	else
		secret_wipe(line);
	*line = (struct secret){ 0 };
}

/*
 * Whether the descriptor is still our socket: a module that closes
 * everything may have given its number to a file of its own.
 */
static bool
is_socket(int fd)
{
	int type = 0;
	socklen_t size = sizeof(type);

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
	       type == SOCK_SEQPACKET;
}

/* Asks the parent; returns a copy for libpam, or NULL. */
static char *
ask(struct conversation *conversation, const struct pam_message *message)
{
	struct question question = { .style = message->msg_style };
	struct reply reply;
	struct secret line;
	char *copy = NULL;
	ssize_t got;

	strncpy(question.text, message->msg ? message->msg : "",
		sizeof(question.text) - 1);
	if (!is_socket(conversation->socket) ||
	    send(conversation->socket, &question, sizeof(question),
		 MSG_NOSIGNAL) != sizeof(question))
		return NULL;
	do
		got = recv(conversation->socket, &reply, sizeof(reply), 0);
	while (got < 0 && errno == EINTR);
	if (got == sizeof(reply) && reply.known) {
		reply.text[sizeof(reply.text) - 1] = '\0';
		copy = strdup(reply.text);
		/* For the next transaction of this process. */
		if (secret_open(&line, sizeof(reply.text), NULL) == 0) {
			line.length = strlen(reply.text);
			memcpy(line.data, reply.text, line.length);
			keep(conversation->answers, &line);
		}
	}
	explicit_bzero(&reply, sizeof(reply));
	return copy;
}

/* The answer to one prompt, as a copy for libpam; NULL: there is none. */
static char *
answer(struct conversation *conversation, const struct pam_message *message)
{
	const char *start;
	size_t length;

	if (find(conversation->answers, conversation->next++,
		 message->msg_style, &start, &length))
		return strndup(start, length);
	return ask(conversation, message);
}

/* A module's notice, which may have several lines, on stderr. */
static void
say_notice(const char *text)
{
	while (*text != '\0') {
		size_t length = strcspn(text, "\n");

		message_note("%.*s", (int)length, text);
		text += length + (text[length] == '\n');
	}
}

/* Fills in one response; false when the conversation cannot go on. */
static bool
respond(struct conversation *conversation, const struct pam_message *message,
	struct pam_response *response)
{
	switch (message->msg_style) {
	case PAM_PROMPT_ECHO_OFF:
	case PAM_PROMPT_ECHO_ON:
		response->resp = answer(conversation, message);
		return response->resp != NULL;
	case PAM_TEXT_INFO:
	case PAM_ERROR_MSG:
		if (!conversation->quiet)
			say_notice(message->msg ? message->msg : "");
		return true;
	default:
		return false;
	}
}

int
conversation_converse(int count, const struct pam_message **messages,
		      struct pam_response **responses, void *conversation)
{
	struct pam_response *all;
	int i;

	*responses = NULL;
	if (count <= 0 || count > PAM_MAX_NUM_MSG)
		return PAM_CONV_ERR;
	/* calloc: libpam's modules free it, and may be told of failure. */
	all = calloc((size_t)count, sizeof(*all));
	if (all == NULL)
		return PAM_BUF_ERR;
	for (i = 0; i < count; i++) {
		if (!respond(conversation, messages[i], &all[i]))
			break;
	}
	if (i == count) {
		*responses = all;
		return PAM_SUCCESS;
	}
	for (i = 0; i < count; i++) {
		secret_wipe_string(all[i].resp);
		free(all[i].resp);
	}
	free(all);
	return PAM_CONV_ERR;
}

/* Why a prompt has no answer, for each source. */
static int
no_answer(const struct answers *answers, const char *prompt,
	  struct error *error)
{
	static const char *const reasons[] = {
		[FROM_TERMINAL] = "there is no terminal to ask: give its "
				  "answer with --answers or --password-fd",
		[FROM_FILE] = "--answers has no line left for it",
		[FROM_PASSWORD] = "it is asked with echo, which --password-fd "
				  "does not answer: use --answers"
	};

	return error_set(error, ERROR_INPUT,
			 "a module asks \"%s\" and gets no answer: %s", prompt,
			 reasons[answers->source]);
}

int
answers_serve(struct answers *answers, int socket, int cancel, int process,
	      struct error *error)
{
	const struct terminal_wait wait = { cancel, process, socket };
	struct question question;
	struct reply reply = { 0 };
	struct secret line = { 0 };
	struct error why = { 0 };
	ssize_t got = recv(socket, &question, sizeof(question), MSG_DONTWAIT);
	int r = 0;

	if (got != sizeof(question))
		return 0; /* not from our conversation: the module's fault */
	question.text[sizeof(question.text) - 1] = '\0';
	if (answers->source == FROM_TERMINAL)
		r = terminal_ask(&line, question.text,
				 question.style == PAM_PROMPT_ECHO_ON, &wait,
				 &why);
	if (r == TERMINAL_GONE)
		return 0; /* who waits for it will see */
	if (answers->source != FROM_TERMINAL || r == ERROR_INPUT)
		r = no_answer(answers, question.text, error);
	else if (r != 0)
		r = error_set(error, r, "%s", why.text);
	if (r == 0 && line.data != NULL) {
		reply.known = 1;
		strncpy(reply.text, line.data, sizeof(reply.text) - 1);
		keep(answers, &line);
	}
	/* If it has ended meanwhile, who waits for it will see. */
	(void)send(socket, &reply, sizeof(reply), MSG_NOSIGNAL);
	explicit_bzero(&reply, sizeof(reply));
	return r;
}
