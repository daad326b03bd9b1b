/*
 * The conversation: what modules ask, and who answers. Answers come from a
 * file, a descriptor or the terminal, are read here and nowhere else, and
 * live in base/secret. A login runs in a child, the terminal belongs to the
 * parent: what the child does not know it asks through a socket.
 */
#ifndef PAMPROF_SOURCE_PAM_CONV_H
#define PAMPROF_SOURCE_PAM_CONV_H

#include <security/pam_appl.h>
#include <stdbool.h>

#include "../base/error.h"

struct answers;

/*
 * Reads the answers: file holds one line for each prompt; password_fd, if
 * not -1, one line that answers every prompt without echo; with neither,
 * prompts go to the terminal, and what is typed is kept. Returns 0,
 * ERROR_INPUT or ERROR_SYSTEM with *answers NULL.
 */
int answers_open(struct answers **answers, const char *file, int password_fd,
		 struct error *error);

/* Wipes and frees all of them; NULL is fine. */
void answers_close(struct answers *answers);

/* A login's side of the conversation; appdata of conversation_converse(). */
struct conversation {
	struct answers *answers;
	int socket;    /* to answers_serve(), SOCK_SEQPACKET; -1: none */
	unsigned next; /* prompts so far in this transaction */
	bool quiet;    /* do not print what modules merely say */
};

/*
 * The conversation function (pam_conv(3)): answers from what is known, asks
 * through the socket otherwise. Notices of modules go to stderr. On
 * PAM_CONV_ERR no response is handed out and copies are wiped.
 */
int conversation_converse(int count, const struct pam_message **messages,
			  struct pam_response **responses, void *conversation);

/*
 * The parent's side: takes one question from the socket, asks the terminal
 * and sends the answer. cancel is a descriptor that ends the wait when it
 * becomes readable, process the pidfd of who asks, or -1. Returns 0 (also
 * when who asked is gone), or ERROR_INPUT that names the prompt when there
 * is no answer to it, or ERROR_SYSTEM (cancelled as well).
 */
int answers_serve(struct answers *answers, int socket, int cancel, int process,
		  struct error *error);

#endif
