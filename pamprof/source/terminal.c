/*
 * The terminal. Apart from the conversation, because the command asks its
 * own questions here too, and because echo has to be put back on every way
 * out. /dev/tty is used and not stdin: stdin may be a file or a password.
 */
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "../base/message.h"

#define LINE_SIZE 1024

/* Writes the prompt; no byte of it may steer the terminal. */
static void
write_clean(int tty, const char *text)
{
	char clean[512];
	size_t length = 0;

	for (; *text && length < sizeof(clean); text++) {
		unsigned char c = (unsigned char)*text;

		clean[length++] =
		    (c < ' ' && c != '\n') || c == 0x7f ? '?' : (char)c;
	}
	if (write(tty, clean, length) < 0)
		return; /* the question is lost, the answer may still come */
}

/*
 * Waits until a line can be read. A process that died at its prompt is
 * noticed at once: nobody presses Enter for it.
 */
static int
wait_for_line(int tty, const struct terminal_wait *wait, struct error *error)
{
	struct pollfd fds[] = { { .fd = tty, .events = POLLIN },
				{ .fd = wait->cancel, .events = POLLIN },
				{ .fd = wait->process, .events = POLLIN },
				{ .fd = wait->socket } };

	while (poll(fds, 4, -1) < 0) {
		if (errno != EINTR)
			return error_errno(error, "cannot wait for an answer");
	}
	if (fds[1].revents != 0)
		return error_set(error, ERROR_SYSTEM,
				 "interrupted at a prompt");
	return fds[2].revents != 0 || fds[3].revents != 0 ? TERMINAL_GONE : 0;
}

int
terminal_ask(struct secret *line, const char *prompt, bool echo,
	     const struct terminal_wait *wait, struct error *error)
{
	struct termios before, silent;
	int tty = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC), r;

	*line = (struct secret){ 0 };
	if (tty < 0 || tcgetattr(tty, &before) != 0) {
		if (tty >= 0)
			close(tty);
		return error_set(error, ERROR_INPUT, "there is no terminal");
	}
	message_progress(NULL);
	silent = before;
	silent.c_lflag &= ~(tcflag_t)ECHO;
	silent.c_lflag |= ICANON | ISIG | ECHONL;
	if (!echo)
		(void)tcsetattr(tty, TCSAFLUSH, &silent);
	write_clean(tty, prompt);
	r = wait_for_line(tty, wait, error);
	if (r != 0) /* what is said next begins a line */
		write_clean(tty, "\n");
	else if ((r = secret_open(line, LINE_SIZE, error)) == 0)
		r = secret_read_line(line, tty, error);
	if (!echo)
		(void)tcsetattr(tty, TCSAFLUSH, &before);
	close(tty);
	return r;
}

int
terminal_agree(const char *question)
{
	const struct terminal_wait forever = { -1, -1, -1 };
	struct secret line;
	int yes;

	if (terminal_ask(&line, question, true, &forever, NULL) != 0)
		return -1;
	yes = line.length > 0 && strchr("yY", line.data[0]) != NULL;
	secret_wipe(&line);
	return yes;
}
