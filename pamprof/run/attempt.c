/*
 * One child. Apart from the loop over runs, because what happens in here
 * must be right for any stack: modules crash, hang, leave, close every
 * descriptor, start daemons, block signals. The child shares nothing with
 * us but the ring, a socket for questions and stderr.
 */
#include "attempt.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "../../modules/emit.h"
#include "../base/child.h"
#include "orphans.h"

#define SOCKET_FD 3 /* in the child; everything above is closed */

/* How often the ring is drained: while a login runs, and while many do. */
#define INTERVAL_NS      50000000u
#define INTERVAL_MANY_NS 1000000u

#define REAPING_NS 10000000000u /* for a record written on its behalf */

/* ---- The child ---------------------------------------------------------- */

/* Signals as a login program has them, whatever our parent ignored. */
static void
reset_signals(void)
{
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		(void)signal(number, SIG_DFL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/*
 * No terminal, since only the parent may ask: a module that opens it gets an
 * error instead of being stopped. What modules print goes to stderr, stdout
 * carries the report. stdin may be a password: modules find it empty.
 */
static void
detach(int socket)
{
	int tty = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (tty >= 0)
		(void)ioctl(tty, TIOCNOTTY);
	if (null >= 0)
		(void)dup2(null, STDIN_FILENO);
	(void)dup2(STDERR_FILENO, STDOUT_FILENO);
	if (socket != SOCKET_FD)
		(void)dup3(socket, SOCKET_FD, O_CLOEXEC);
	closefrom(SOCKET_FD + 1);
}

/*
 * A crash leaves no core file: libpam has copies of the answers. What the
 * kernel pipes to a program ignores the limit, but not the other; that one
 * would take /proc/self away from modules that run without root.
 */
static void
forbid_cores(void)
{
	struct rlimit core;

	if (geteuid() == 0)
		(void)prctl(PR_SET_DUMPABLE, 0);
	if (getrlimit(RLIMIT_CORE, &core) == 0) {
		core.rlim_cur = 0;
		(void)setrlimit(RLIMIT_CORE, &core);
	}
}

/*
 * In-process runs are faster than anybody reads: waits until at least half
 * the ring has been read, so that nothing is overwritten.
 */
static void
wait_for_reader(const struct attempt *attempt, uint64_t slots)
{
	const struct timespec pause = { .tv_nsec = 200000 };
	uint64_t head = 0;

	if (ring_enter()) {
		head = ring_claim(0);
		ring_leave();
	}
	while (head > atomic_load(attempt->drained) + slots / 2)
		nanosleep(&pause, NULL);
}

static int
child_body(void *context)
{
	struct attempt *attempt = context;
	uint64_t slots = ring_reader_header(attempt->reader)->slot_count;
	struct conversation conversation = { .answers = attempt->answers,
					     .socket = SOCKET_FD,
					     .quiet = attempt->quiet };
	const struct pam_conv conv = { conversation_converse, &conversation };
	int result = PAM_SUCCESS;

	reset_signals();
	forbid_cores();
	detach(attempt->sockets[1]);
	ring_attach(attempt->ring);
	for (unsigned long i = 0; i < attempt->runs && result >= 0; i++) {
		conversation.next = 0;
		result = pam_login_run(attempt->login, &conv);
		conversation.quiet = true;
		if (attempt->runs > 1)
			wait_for_reader(attempt, slots);
	}
	return 0;
}

/* ---- The parent --------------------------------------------------------- */

/* A slot of the ring: notes where the runs begin and end. */
static void
take(void *context, const struct record *slot)
{
	struct attempt *attempt = context;

	atomic_store_explicit(attempt->drained, slot->generation,
			      memory_order_relaxed);
	if (slot->type != RECORD_TEXT && slot->kind == KIND_RUN) {
		if (slot->type == RECORD_BEGIN) {
			attempt->open = *slot;
			attempt->open.span = slot->generation;
		} else if (slot->span == attempt->open.span) {
			attempt->open.span = 0;
			attempt->done++;
			attempt->denied += slot->outcome != OUTCOME_RETURNED ||
					   slot->result != PAM_SUCCESS;
		}
		attempt->deadline_ns =
		    slot->start_ns + slot->duration_ns + attempt->timeout_ns;
	}
	attempt->take(attempt->context, slot);
}

static void
drain(struct attempt *attempt, bool final)
{
	ring_reader_drain(attempt->reader, final, attempt->loss, take, attempt);
}

/* Answers a question; the time a person takes is not the module's. */
static int
serve(struct attempt *attempt, const struct child *child, struct error *error)
{
	uint64_t start = emit_now();
	int r = answers_serve(attempt->answers, attempt->sockets[0],
			      attempt->signals, child->pidfd, error);

	attempt->deadline_ns += emit_now() - start;
	return r;
}

/* How long poll may wait, in ms. */
static int
patience(const struct attempt *attempt, const struct child *child)
{
	uint64_t now = emit_now(), left = attempt->deadline_ns - now;
	uint64_t most = INTERVAL_NS;

	/* A kernel without descriptors of processes wakes nobody. */
	if (attempt->runs > 1 || child->pidfd < 0)
		most = INTERVAL_MANY_NS;

	if (now >= attempt->deadline_ns)
		return 0;
	return (int)((left < most ? left : most) / 1000000) + 1;
}

/* Whether the child has ended; it stays to be waited for. */
static bool
has_ended(const struct child *child)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)child->pid, &info,
		      WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid != 0;
}

/*
 * Watches until the child ends (0), its time is up (1) or it is to be given
 * up: interrupted (1), or an error.
 */
static int
watch(struct attempt *attempt, const struct child *child, struct error *error)
{
	struct pollfd fds[] = { { .fd = child->pidfd, .events = POLLIN },
				{ .fd = attempt->signals, .events = POLLIN },
				{ .fd = attempt->sockets[0],
				  .events = POLLIN } };
	int r = 0;

	while (r == 0) {
		if (poll(fds, 3, patience(attempt, child)) < 0)
			fds[0].revents = fds[1].revents = fds[2].revents = 0;
		drain(attempt, false);
		if (attempt->step != NULL)
			attempt->step(attempt->context, attempt->done);
		if ((fds[1].revents & POLLIN) != 0) {
			attempt->interrupted = true;
			return 1;
		}
		if ((fds[2].revents & POLLIN) != 0)
			r = serve(attempt, child, error);
		else if ((fds[2].revents & POLLHUP) != 0)
			fds[2].fd = -1; /* a module has closed it */
		if (r == 0 && has_ended(child))
			return 0;
		if (r == 0 && emit_now() >= attempt->deadline_ns)
			return 1;
	}
	return r;
}

struct closing {
	const char *ring;
	struct record record;
};

/* In a child, because a process maps a ring once and for good. */
static int
write_end(void *context)
{
	struct closing *closing = context;

	ring_attach(closing->ring);
	if (!ring_enter())
		return 1;
	ring_put(ring_claim(1), &closing->record);
	ring_leave();
	return 0;
}

/* Ends the run on behalf of the child that did not. */
static int
close_run(struct attempt *attempt, const struct child_end *end,
	  struct error *error)
{
	static const uint8_t outcomes[] = { [CHILD_EXITED] = OUTCOME_EXIT,
					    [CHILD_SIGNALED] = OUTCOME_SIGNAL,
					    [CHILD_TIMED_OUT] =
						OUTCOME_TIMEOUT };
	struct closing closing = { attempt->ring, attempt->open };
	struct record *record = &closing.record;
	struct child_end written;
	struct child child;
	int r;

	record->type = RECORD_END;
	record->text_slots = 0;
	record->duration_ns = emit_now() - record->start_ns;
	record->valid = 0;
	record->outcome = outcomes[end->how];
	record->result = end->how == CHILD_TIMED_OUT
			     ? (int32_t)(attempt->timeout_ns / 1000000)
			     : end->value;
	if ((r = child_start(&child, CHILD_SAME_GROUP, write_end, &closing,
			     error)) != 0 ||
	    (r = child_wait(&child, REAPING_NS, &written, error)) != 0)
		return r;
	drain(attempt, true);
	return 0;
}

/* After the child's end: what it left in the ring, and its verdict. */
static int
settle(struct attempt *attempt, const struct child_end *end,
       struct error *error)
{
	int r;

	drain(attempt, true);
	if (attempt->interrupted)
		return 0;
	if (attempt->open.span != 0 &&
	    (r = close_run(attempt, end, error)) != 0)
		return r;
	if (attempt->done == 0 && end->how == CHILD_TIMED_OUT)
		return error_set(error, ERROR_SYSTEM,
				 "the time was up before the login began: "
				 "--timeout has to be longer");
	if (attempt->done == 0)
		return error_set(error, ERROR_SYSTEM,
				 "the measured process recorded nothing: "
				 "it could not use %s",
				 attempt->ring);
	return 0;
}

static int
attempt_open(struct attempt *attempt, struct error *error)
{
	attempt->done = attempt->denied = 0;
	attempt->open.span = 0;
	attempt->deadline_ns = emit_now() + attempt->timeout_ns;
	attempt->drained =
	    mmap(NULL, sizeof(*attempt->drained), PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (attempt->drained == MAP_FAILED)
		return error_errno(error, "no memory");
	/* What other children wrote is read already. */
	atomic_store(attempt->drained, UINT64_MAX / 2);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
		       attempt->sockets) != 0) {
		munmap(attempt->drained, sizeof(*attempt->drained));
		return error_errno(error, "socketpair");
	}
	return 0;
}

int
attempt_run(struct attempt *attempt, struct error *error)
{
	struct child_end end;
	struct child child;
	struct error reaping;
	struct orphans orphans;
	int r = attempt_open(attempt, error), watched;

	if (r != 0)
		return r;
	orphans_expect(&orphans);
	r = child_start(&child, CHILD_OWN_GROUP, child_body, attempt, error);
	close(attempt->sockets[1]);
	if (r == 0) {
		watched = watch(attempt, &child, error);
		/* No time left: it is dead or is killed now. */
		r = child_wait(&child, 0, &end, &reaping);
		orphans_end(&orphans);
		if (watched < 0)
			r = watched;
		else if (r != 0)
			*error = reaping;
		else
			r = settle(attempt, &end, error);
	}
	orphans_forget(&orphans);
	close(attempt->sockets[0]);
	munmap(attempt->drained, sizeof(*attempt->drained));
	return r;
}
