/*
 * The ring in processes that fork, change their user, root and limits, or
 * are confined: who may hold it, who still records, and that nobody is
 * harmed by a ring that is not there or not one. A CUnit test per case, each
 * in a child, since a process attaches to one ring only.
 */
#include "../test.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "../../modules/call.h"
#include "ring_file.h"

enum {
	NOBODY = 65534
};

/* Whether this process has the ring in its memory map. */
static bool
is_mapped(const struct ring_file *file)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	bool found = false;

	while (maps != NULL && fgets(line, sizeof(line), maps) != NULL)
		found |= strstr(line, file->path) != NULL;
	if (maps == NULL || fclose(maps) != 0)
		abort();
	return found;
}

/* One span; whether it could be recorded. */
static bool
write_span(uint32_t count)
{
	struct record record = { .kind = KIND_CALL, .count = count };

	if (!emit_begin(&record, NULL))
		return false;
	emit_end(&record, NULL);
	return true;
}

/* Ends a child's child with the value of body, and gives it back. */
#define CHILD_DOES(body, file) (in_child((body), (file)) == 0)

/* Number of spans with both ends that carry `count`. */
static unsigned
spans(struct ring_file *file, uint32_t count)
{
	struct record record;
	unsigned begins = 0, ends = 0;

	file->next = 0;
	while (ring_file_take(file, true, &record)) {
		begins += record.count == count && record.type == RECORD_BEGIN;
		ends += record.count == count && record.type == RECORD_END;
	}
	return begins == ends ? begins : 1000;
}

/* Runs body in a child with a ring; returns the ring to be looked at. */
static struct ring_file
run(int (*body)(struct ring_file *), uint32_t options)
{
	struct ring_file file;

	ring_file_make(&file, 1024, options);
	CU_ASSERT_EQUAL(in_child(body, &file), 0);
	return file;
}

static bool
is_root(void)
{
	if (geteuid() == 0)
		return true;
	test_skip("needs root");
	return false;
}

static int
forked_body(struct ring_file *file)
{
	NEED(!is_mapped(file));
	NEED(write_span(2));
	NEED(!is_mapped(file));
	NEED(ring_enter());
	NEED(is_mapped(file)); /* for the moment */
	ring_leave();
	NEED(!is_mapped(file));
	return 0;
}

/* A grandchild of a child that has recorded, and of one that has not. */
static int
child_body(struct ring_file *file)
{
	NEED(CHILD_DOES(forked_body, file));
	NEED(forked_body(file) == 0);
	NEED(CHILD_DOES(forked_body, file));
	return 0;
}

static int
forking(struct ring_file *file)
{
	ring_attach(file->path);
	NEED(is_mapped(file));
	NEED(write_span(1));
	NEED(CHILD_DOES(child_body, file));
	NEED(is_mapped(file));
	NEED(write_span(1));
	return 0;
}

static void
children_map_for_a_moment(void)
{
	struct ring_file file = run(forking, 0);

	CU_ASSERT_EQUAL(spans(&file, 1), 2);
	CU_ASSERT_EQUAL(spans(&file, 2), 3);
	ring_file_remove(&file);
}

static int
unprivileged_body(struct ring_file *file)
{
	NEED(setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
	NEED(prctl(PR_SET_DUMPABLE, 1) == 0); /* to read our own maps */
	NEED(!write_span(3));
	NEED(!ring_enter());
	NEED(!is_mapped(file));
	return 0;
}

static int
giving_up_privileges(struct ring_file *file)
{
	ring_attach(file->path);
	NEED(CHILD_DOES(unprivileged_body, file));
	NEED(setuid(NOBODY) == 0);
	NEED(write_span(4)); /* mapped while it could be */
	return 0;
}

static void
unprivileged_child_holds_nothing(void)
{
	struct ring_file file;

	if (!is_root())
		return;
	file = run(giving_up_privileges, 0);
	CU_ASSERT_EQUAL(spans(&file, 3), 0);
	CU_ASSERT_EQUAL(spans(&file, 4), 1);
	ring_file_remove(&file);
}

static void *
write_many(void *recorded)
{
	for (unsigned i = 0; i < 500; i++)
		*(unsigned *)recorded += write_span(5);
	return NULL;
}

/* Threads of a forked child take turns; who finds it busy goes without. */
static int
threaded_body(void)
{
	pthread_t thread[4];
	unsigned recorded[4] = { 0 };

	for (unsigned i = 0; i < 4; i++)
		NEED(pthread_create(&thread[i], NULL, write_many,
				    &recorded[i]) == 0);
	for (unsigned i = 0; i < 4; i++)
		NEED(pthread_join(thread[i], NULL) == 0);
	NEED(recorded[0] + recorded[1] + recorded[2] + recorded[3] > 0);
	return 0;
}

static int
threaded_child(struct ring_file *file)
{
	NEED(threaded_body() == 0);
	NEED(!is_mapped(file));
	return 0;
}

static int
threads_in_child(struct ring_file *file)
{
	ring_attach(file->path);
	for (unsigned i = 0; i < 20; i++)
		NEED(CHILD_DOES(threaded_child, file));
	return threaded_body();
}

static void
threads_of_children(void)
{
	struct ring_file file;
	struct record record;

	/* Room for all: who is lapped may leave a torn slot, and rightly so. */
	ring_file_make(&file, 1u << 17, 0);
	CU_ASSERT_EQUAL(in_child(threads_in_child, &file), 0);
	while (ring_file_take(&file, true, &record))
		CU_ASSERT_FATAL(record.count == 5);
	CU_ASSERT_EQUAL(file.torn, 0);
	ring_file_remove(&file);
}

static volatile sig_atomic_t handled;

static void
note_mapping(int signal)
{
	(void)signal;
	handled++;
}

/* A handler that jumps away may not leave the ring with the child. */
static int
signalled_body(struct ring_file *file)
{
	sigset_t before, inside, after;

	(void)file;
	signal(SIGUSR1, note_mapping);
	pthread_sigmask(SIG_BLOCK, NULL, &before);
	NEED(ring_enter());
	raise(SIGUSR1);
	pthread_sigmask(SIG_BLOCK, NULL, &inside);
	NEED(handled == 0 && sigismember(&inside, SIGALRM) == 1);
	ring_leave();
	NEED(handled == 1);
	pthread_sigmask(SIG_BLOCK, NULL, &after);
	NEED(sigismember(&after, SIGALRM) == sigismember(&before, SIGALRM));
	return 0;
}

static int
signals_in_child(struct ring_file *file)
{
	ring_attach(file->path);
	NEED(CHILD_DOES(signalled_body, file));
	return 0;
}

static void
signals_wait_in_children(void)
{
	struct ring_file file = run(signals_in_child, 0);

	ring_file_remove(&file);
}

static int
everything_lowered(struct ring_file *file)
{
	struct rlimit none = { 0, 0 }, three = { 3, 3 };

	ring_attach(file->path);
	NEED(chroot("/proc/self") == 0 && chdir("/") == 0);
	NEED(setrlimit(RLIMIT_FSIZE, &none) == 0);
	NEED(setrlimit(RLIMIT_NOFILE, &three) == 0);
	NEED(setrlimit(RLIMIT_AS, &none) == 0);
	closefrom(3);
	NEED(setuid(NOBODY) == 0);
	NEED(write_span(6));
	return 0;
}

static void
survives_chroot_and_limits(void)
{
	struct ring_file file;

	if (!is_root())
		return;
	file = run(everything_lowered, 0);
	CU_ASSERT_EQUAL(spans(&file, 6), 1);
	ring_file_remove(&file);
}

/* A limit that leaves no room for the ring, or no descriptor to open it. */
static int
no_room(struct ring_file *file)
{
	struct rlimit limit = { 0, 0 };
	int descriptors[2];

	(void)file;
	NEED(setrlimit(RLIMIT_AS, &limit) == 0);
	ring_attach(file->path);
	NEED(!write_span(7));
	NEED(pipe(descriptors) == 0 && descriptors[0] < 100);
	return 0;
}

static int
no_descriptor(struct ring_file *file)
{
	struct rlimit limit = { 3, 3 };

	closefrom(3);
	NEED(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	call_prepare();
	ring_attach(file->path);
	NEED(!write_span(7));
	return 0;
}

static void
no_room_no_record(void)
{
	struct ring_file file = run(no_room, 0);

	CU_ASSERT_EQUAL(file.header->head, 0);
	ring_file_remove(&file);
	file = run(no_descriptor, 0);
	CU_ASSERT_EQUAL(file.header->head, 0);
	ring_file_remove(&file);
}

/* Allows everything (allow true), or little more than to write and exit. */
static int
confine(bool allow)
{
	static const int allowed[] = { SYS_write,        SYS_exit_group,
				       SYS_rt_sigreturn, SYS_wait4,
				       SYS_clone,        SYS_set_robust_list,
				       SYS_alarm,        SYS_rseq };
	enum {
		COUNT = sizeof(allowed) / sizeof(allowed[0])
	};
	struct sock_filter code[COUNT * 2 + 2];
	struct sock_fprog program = { .filter = code };

	code[program.len++] = (struct sock_filter)BPF_STMT(
	    BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (unsigned i = 0; i < COUNT; i++) {
		code[program.len++] = (struct sock_filter)BPF_JUMP(
		    BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i], 0, 1);
		code[program.len++] = (struct sock_filter)BPF_STMT(
		    BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	code[program.len++] = (struct sock_filter)BPF_STMT(
	    BPF_RET | BPF_K,
	    allow ? SECCOMP_RET_ALLOW : SECCOMP_RET_KILL_PROCESS);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0;
}

/* libpam as call.c sees it, without a handle behind it. */
static int
get_item(const pam_handle_t *handle, int item, const void **value)
{
	(void)handle;
	*value = item == PAM_SERVICE ? "confined" : NULL;
	return PAM_SUCCESS;
}

static int
get_data(const pam_handle_t *handle, const char *name, const void **value)
{
	(void)handle;
	(void)name;
	(void)value;
	return PAM_NO_MODULE_DATA;
}

static int
set_data(pam_handle_t *handle, const char *name, void *value,
	 void (*clean)(pam_handle_t *, void *, int))
{
	(void)handle;
	(void)name;
	(void)value;
	(void)clean;
	return PAM_SUCCESS;
}

static void
make_call(uint32_t marker)
{
	static const struct call_pam pam = { get_item, get_data, set_data };
	static int handle;
	struct call_site site = { .handle = (pam_handle_t *)&handle,
				  .kind = KIND_CALL,
				  .marker = marker,
				  .phase = PHASE_AUTHENTICATE };
	struct call_frame frame;

	call_enter(&frame, &pam, &site);
	call_leave(&frame, &pam, 7);
}

static int
confined_body(struct ring_file *file)
{
	(void)file;
	make_call(9);
	return 0;
}

/* Under seccomp when it loads us; then only what the ring needs: nothing. */
static int
confined(struct ring_file *file)
{
	int status;
	pid_t pid;

	NEED(confine(true) == 0);
	call_prepare();
	ring_attach(file->path);
	NEED(confine(false) == 0);
	make_call(8);
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		syscall(SYS_exit_group, confined_body(file));
	NEED(pid > 0 && syscall(SYS_wait4, pid, &status, 0, NULL) == pid);
	NEED(status == 0); /* it was not killed for trying to map */
	return 0;
}

static int
unconfined(struct ring_file *file)
{
	call_prepare();
	ring_attach(file->path);
	make_call(8);
	return 0;
}

/* The end record of the only span. */
static struct record
end_record(struct ring_file *file)
{
	struct record record = { 0 };

	while (ring_file_take(file, true, &record))
		;
	CU_ASSERT_EQUAL(file->taken, 2);
	CU_ASSERT_EQUAL(record.type, RECORD_END);
	CU_ASSERT_EQUAL(record.marker, 8);
	CU_ASSERT_EQUAL(record.result, 7);
	CU_ASSERT_STRING_EQUAL(record.service, "confined");
	return record;
}

static void
seccomp_costs_cpu_time_only(void)
{
	struct ring_file file = run(confined, RING_CPU);
	struct record record = end_record(&file);

	CU_ASSERT_EQUAL(record.valid & VALID_CPU, 0);
	CU_ASSERT(record.duration_ns > 0);
	ring_file_remove(&file);
	file = run(unconfined, RING_CPU);
	record = end_record(&file);
	CU_ASSERT(record.valid & VALID_CPU);
	ring_file_remove(&file);
}

void ring_process_tests(void);

void
ring_process_tests(void)
{
	static const struct test_row rows[] = {
		{ "children_map_for_a_moment", children_map_for_a_moment },
		{ "unprivileged_child_holds_nothing",
		  unprivileged_child_holds_nothing },
		{ "threads_of_children", threads_of_children },
		{ "signals_wait_in_children", signals_wait_in_children },
		{ "survives_chroot_and_limits", survives_chroot_and_limits },
		{ "no_room_no_record", no_room_no_record },
		{ "seccomp_costs_cpu_time_only", seccomp_costs_cpu_time_only },
	};

	/* Sanitizers need address space and system calls of their own. */
	test_external(TEST_SUITE("ring_process", rows));
}
