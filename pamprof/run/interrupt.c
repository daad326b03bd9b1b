/*
 * Interruption without handlers: the signals are blocked and read from a
 * descriptor, so that no code of ours ever runs inside other code of ours.
 */
#include "interrupt.h"

#include <sys/signalfd.h>
#include <unistd.h>

int
interrupt_hold(struct interrupt *interrupt, struct error *error)
{
	static const int numbers[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	struct sigaction action;
	sigset_t set;

	interrupt->fd = -1;
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (sigaction(numbers[i], NULL, &action) == 0 &&
		    action.sa_handler != SIG_IGN)
			sigaddset(&set, numbers[i]);
	}
	if (sigprocmask(SIG_BLOCK, &set, &interrupt->before) != 0)
		return error_errno(error, "sigprocmask");
	interrupt->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (interrupt->fd >= 0)
		return 0;
	error_errno(error, "signalfd");
	(void)sigprocmask(SIG_SETMASK, &interrupt->before, NULL);
	return ERROR_SYSTEM;
}

void
interrupt_release(struct interrupt *interrupt)
{
	struct signalfd_siginfo info;
	ssize_t got;

	if (interrupt->fd < 0)
		return;
	got = read(interrupt->fd, &info, sizeof(info));
	close(interrupt->fd);
	interrupt->fd = -1;
	(void)sigprocmask(SIG_SETMASK, &interrupt->before, NULL);
	if (got == sizeof(info))
		(void)raise((int)info.ssi_signo);
}
