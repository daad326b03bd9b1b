/*
 * Runs a program and kills it right before its N-th system call that changes
 * a file: "kill_before N PROGRAM [ARGUMENT...]". Exit status 0 when it was
 * killed there, 3 when it ended by itself before the N-th, so that a script
 * can count up until every point has been tried. Children of the program may
 * run freely, and die with it.
 *
 * Its filter makes the kernel stop the program at those calls only; ptrace(2)
 * and seccomp(2) say how.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* Those that change a file, a folder or what is known of them. */
static const int calls[] = {
	SYS_openat,    SYS_open,      SYS_creat,      SYS_write,
	SYS_pwrite64,  SYS_writev,    SYS_rename,     SYS_renameat,
	SYS_renameat2, SYS_unlink,    SYS_unlinkat,   SYS_mkdir,
	SYS_mkdirat,   SYS_rmdir,     SYS_link,       SYS_linkat,
	SYS_symlink,   SYS_symlinkat, SYS_ftruncate,  SYS_truncate,
	SYS_fallocate, SYS_fsync,     SYS_fdatasync,  SYS_syncfs,
	SYS_chmod,     SYS_fchmod,    SYS_fchmodat,   SYS_chown,
	SYS_fchown,    SYS_fchownat,  SYS_fsetxattr,  SYS_utimensat,
	SYS_flock,     SYS_setxattr,  SYS_removexattr
};

enum {
	CALLS = sizeof(calls) / sizeof(calls[0])
};

/* Stops the tracer at each of the calls from the exec on. */
static void
become(char **argv)
{
	struct sock_filter code[CALLS + 3];
	const struct sock_fprog program = { CALLS + 3, code };

	code[0] = (struct sock_filter)BPF_STMT(
	    BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (unsigned i = 0; i < CALLS; i++)
		code[i + 1] = (struct sock_filter)BPF_JUMP(
		    BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], CALLS - i,
		    0);
	code[CALLS + 1] =
	    (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[CALLS + 2] =
	    (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
	(void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	(void)raise(SIGSTOP);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		_exit(126);
	(void)execvp(argv[0], argv);
	_exit(127);
}

/* An open counts only when it may make or change a file. */
static int
changes(pid_t pid)
{
	struct user_regs_struct regs;
	unsigned long long flags;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &regs) != 0)
		return 0;
	flags = regs.orig_rax == SYS_openat ? regs.rdx
		: regs.orig_rax == SYS_open ? regs.rsi
					    : O_WRONLY;
	return (flags & (O_ACCMODE | O_CREAT | O_TRUNC)) != O_RDONLY;
}

/* Whether the status is that of a stop for the filter. */
static int
is_stop(int status)
{
	return status >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8);
}

static void
go_on(pid_t pid, int status)
{
	int number = WSTOPSIG(status);

	/* Stops of our own making are no signals for the program. */
	if (status >> 16 != 0 || number == SIGTRAP || number == SIGSTOP)
		number = 0;
	(void)ptrace(PTRACE_CONT, pid, NULL, (void *)(long)number);
}

static int
follow(pid_t program, unsigned long last)
{
	unsigned long count = 0;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		if (pid == program && !WIFSTOPPED(status))
			return WIFEXITED(status) ? 3 : 4;
		if (!WIFSTOPPED(status))
			continue;
		if (pid == program && is_stop(status) && changes(pid) &&
		    ++count == last) {
			(void)kill(program, SIGKILL);
			(void)waitpid(program, &status, __WALL);
			return 0;
		}
		go_on(pid, status);
	}
	return 4;
}

int
main(int argc, char **argv)
{
	const long options = PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL |
			     PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
			     PTRACE_O_TRACECLONE;
	int status;
	pid_t pid;

	if (argc < 3) {
		(void)fputs("usage: kill_before N PROGRAM [ARGUMENT...]\n",
			    stderr);
		return 2;
	}
	pid = fork();
	if (pid == 0)
		become(argv + 2);
	if (pid < 0 || waitpid(pid, &status, 0) != pid ||
	    ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)options) != 0)
		return 4;
	(void)ptrace(PTRACE_CONT, pid, NULL, NULL);
	return follow(pid, strtoul(argv[1], NULL, 10));
}
