/*
 * What measuring costs: the first three rows of the budgets, as ratios
 * against named peers in one run. Bare and wrapped alternate, so that a slow
 * minute of the machine hits both; medians are printed.
 *
 * It calls itself as "login_bench loop CONFDIR CALLS" for the peers
 * that look at a program from outside.
 */
#include <crypt.h>
#include <limits.h>
#include <security/pam_appl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../modules/emit.h"
#include "../../pamprof/base/alloc.h"
#include "../../pamprof/base/safe_file.h"
#include "../../pamprof/run/workspace.h"
#include "../../pamprof/source/pam_wrap.h"
#include "../../pamprof/trace/ring_file.h"

#define ROUNDS       41
#define RULES        20  /* in one stack, so that libpam's part is small */
#define CALLS        500 /* of that stack, in one round */
#define SLOTS        (1u << 14)
#define TRANSACTIONS 1000

/* One way to run a stack. */
struct way {
	const char *name;
	bool wrapped;
	uint32_t options; /* of its ring */
	char *confdir;
	uint64_t sample[ROUNDS];
};

static char self[PATH_MAX];

/* Ends the benchmark: a figure that was not measured must not be printed. */
static void
check(bool fine, const char *what)
{
	if (fine)
		return;
	fprintf(stderr, "login_bench: %s failed\n", what);
	exit(1);
}

static int
silent(int count, const struct pam_message **messages,
       struct pam_response **answers, void *appdata)
{
	(void)count;
	(void)messages;
	(void)answers;
	(void)appdata;
	return PAM_CONV_ERR;
}

static pam_handle_t *
start(const char *confdir)
{
	static const struct pam_conv conv = { silent, NULL };
	pam_handle_t *handle = NULL;

	check(pam_start_confdir("bench", "root", &conv, confdir, &handle) ==
		  PAM_SUCCESS,
	      "pam_start");
	return handle;
}

/* One login, as an application makes it. */
static void
login(const char *confdir)
{
	pam_handle_t *handle = start(confdir);

	check(pam_authenticate(handle, PAM_SILENT) == PAM_SUCCESS, "auth");
	check(pam_acct_mgmt(handle, PAM_SILENT) == PAM_SUCCESS, "account");
	check(pam_open_session(handle, PAM_SILENT) == PAM_SUCCESS, "open");
	check(pam_close_session(handle, PAM_SILENT) == PAM_SUCCESS, "close");
	pam_end(handle, PAM_SUCCESS);
}

static uint64_t
time_calls(const char *confdir, unsigned calls)
{
	pam_handle_t *handle = start(confdir);
	uint64_t begin = emit_now(), end;

	check(calls > 0, "the number of calls");
	for (unsigned i = 0; i < calls; i++)
		pam_authenticate(handle, PAM_SILENT);
	end = emit_now();
	pam_end(handle, PAM_SUCCESS);
	return (end - begin) / calls / RULES;
}

/* A login in a fresh process: loading counts, as it does in real life. */
static uint64_t
time_login(const char *confdir)
{
	uint64_t *took = mmap(NULL, sizeof(*took), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t result;
	int status = 0;
	pid_t pid;

	check(took != MAP_FAILED, "mmap");
	pid = fork();
	if (pid == 0) {
		uint64_t begin = emit_now();

		login(confdir);
		*took = emit_now() - begin;
		_exit(0);
	}
	check(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0,
	      "a login");
	result = *took;
	munmap(took, sizeof(*took));
	return result;
}

static int
by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static uint64_t
median(uint64_t *sample)
{
	qsort(sample, ROUNDS, sizeof(*sample), by_value);
	return sample[ROUNDS / 2];
}

/*
 * The stack as a folder of its own, where it is "other" as well: libpam loads
 * the modules of "other" for every service, and these shall be the same.
 */
static char *
write_stack(const char *folder, const char *text)
{
	static const char *const names[] = { "bench", "other" };
	const struct buffer bytes = { (char *)(uintptr_t)text, strlen(text),
				      0 };
	char *confdir = alloc_format("%s/pam.d", folder);
	struct error error = { 0 };

	check(mkdir(confdir, 0700) == 0, confdir);
	for (size_t i = 0; i < 2; i++) {
		char *file = alloc_format("%s/%s", confdir, names[i]);

		check(safe_file_write(file, 0600, &bytes, &error) == 0,
		      error.text);
		free(file);
	}
	return confdir;
}

/* One copy of the stack, wrapped or not. */
static void
copy_stack(struct way *way, const char *confdir, const char *dir)
{
	const struct pam_conf_place place = { .service = "bench",
					      .confdir = confdir };
	char *ring = alloc_format("%s.ring", dir);
	struct pam_stack *stack = NULL;
	struct pam_wrap *wrap = NULL;
	struct error error = { 0 };

	check(mkdir(dir, 0700) == 0, dir);
	check(ring_make(ring, SLOTS, way->options, &error) == 0, error.text);
	check(pam_conf_read(&stack, &place, &error) == 0, error.text);
	check(pam_wrap_stack(&wrap, stack, dir, way->wrapped ? ring : NULL,
			     &error) == 0,
	      error.text);
	check(!way->wrapped || wrap->unwrapped == 0, "wrapping");
	way->confdir = alloc_string(wrap->confdir);
	pam_wrap_free(wrap);
	pam_conf_free(stack);
	free(ring);
}

/* Writes the stack and its copies for each way. */
static void
prepare(const char *folder, const char *text, struct way *ways, size_t count)
{
	char *confdir = write_stack(folder, text);

	for (size_t i = 0; i < count; i++) {
		char *dir = alloc_format("%s/%zu", folder, i);

		copy_stack(&ways[i], confdir, dir);
		free(dir);
	}
	free(confdir);
}

/* Runs this program under a peer; returns ns per call as the loop says. */
static uint64_t
under(const char *peer, const struct way *way, unsigned calls)
{
	char *command = alloc_format("%s '%s loop %s %u' 2>/dev/null", peer,
				     self, way->confdir, calls);
	unsigned long long ns = 0;
	char line[256];
	FILE *out = popen(command, "re");

	while (out != NULL && fgets(line, sizeof(line), out) != NULL) {
		if (sscanf(line, "ns per call: %llu", &ns) == 1)
			break;
	}
	while (out != NULL && fgets(line, sizeof(line), out) != NULL)
		continue;
	if (out != NULL)
		pclose(out);
	free(command);
	return ns;
}

static void
print_cost(const char *name, uint64_t ns, uint64_t bare, const char *budget)
{
	if (ns == 0) {
		printf("  %-44s not available here\n", name);
		return;
	}
	printf("  %-44s %8.2f us more, x %-6.2f %s\n", name,
	       ((double)ns - (double)bare) / 1000, (double)ns / (double)bare,
	       budget);
}

static void
bench_call(const char *folder)
{
	struct way ways[] = {
		{ .name = "bare" },
		{ .name = "wall time only", .wrapped = true },
		{ .name = "with CPU", .wrapped = true, .options = RING_CPU },
		{ .name = "with CPU and conversation",
		  .wrapped = true,
		  .options = RING_CPU | RING_CONVERSATION },
	};
	struct buffer stack = { 0 };
	uint64_t bare;

	for (int i = 0; i < RULES; i++)
		buffer_text(&stack, "auth required pam_permit.so\n");
	prepare(folder, stack.data, ways, 4);
	buffer_free(&stack);
	for (int round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < 4; i++)
			ways[i].sample[round] =
			    time_calls(ways[i].confdir, CALLS);
	}
	bare = median(ways[0].sample);
	printf("one call of a module (bare rule, libpam included: %.2f us)\n",
	       (double)bare / 1000);
	print_cost("pam_timing, wall time only", median(ways[1].sample), bare,
		   "(budget 0.3 us)");
	print_cost("pam_timing, CPU and context switches",
		   median(ways[2].sample), bare, "(budget 1.0 us)");
	print_cost("pam_timing, conversation timed too", median(ways[3].sample),
		   bare, "");
	print_cost("bpftrace, a probe at entry and return",
		   under("bpftrace -e 'uprobe:/lib/*/security/pam_permit.so:"
			 "pam_sm_authenticate { @s[tid] = nsecs; } uretprobe:"
			 "/lib/*/security/pam_permit.so:pam_sm_authenticate "
			 "{ @ = hist(nsecs - @s[tid]); }' -c",
			 &ways[0], 20000),
		   bare, "");
	print_cost("strace -f",
		   under("strace -f -o /dev/null sh -c", &ways[0], 2000), bare,
		   "");
}

/* Ten modules that every Debian has and that let anybody in. */
static const char ten_modules[] = "auth required pam_permit.so\n"
				  "auth optional pam_faildelay.so delay=0\n"
				  "auth required pam_nologin.so\n"
				  "auth optional pam_group.so\n"
				  "account required pam_unix.so\n"
				  "account required pam_access.so\n"
				  "account required pam_time.so\n"
				  "session required pam_env.so\n"
				  "session optional pam_umask.so\n"
				  "session required pam_limits.so\n";

static void
bench_login(const char *folder)
{
	struct way ways[] = { { .name = "bare" },
			      { .name = "wrapped",
				.wrapped = true,
				.options = RING_CPU | RING_CONVERSATION } };
	uint64_t hash[ROUNDS], more[ROUNDS], bare, extra, yescrypt;

	prepare(folder, ten_modules, ways, 2);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begin = emit_now();

		check(crypt("correct horse", "$y$j9T$abcdefghijklmnop") != NULL,
		      "crypt");
		hash[round] = emit_now() - begin;
		for (size_t i = 0; i < 2; i++)
			ways[i].sample[round] = time_login(ways[i].confdir);
		more[round] =
		    ways[1].sample[round] > ways[0].sample[round]
			? ways[1].sample[round] - ways[0].sample[round]
			: 0;
	}
	bare = median(ways[0].sample);
	extra = median(more);
	yescrypt = median(hash);
	printf("one login over 10 modules in a fresh process (bare: %.2f ms, "
	       "one yescrypt: %.1f ms)\n",
	       (double)bare / 1e6, (double)yescrypt / 1e6);
	printf("  %-44s %8.0f us more, x %-6.2f (budget 300 us)\n",
	       "wrapped, loading included", (double)extra / 1000,
	       (double)(bare + extra) / (double)bare);
	printf("  %-44s %8.2f %%  (budget 2 %%)\n", "that is, of one yescrypt",
	       100 * (double)extra / (double)yescrypt);
}

/* Logins a second since begin. */
static double
rate(unsigned count, uint64_t begin)
{
	return count / ((double)(emit_now() - begin) / 1e9);
}

static void
run_harness(const char *folder, unsigned count)
{
	char *command = alloc_format(
	    "%.*s/../../pamprof run bench --confdir %s/pam.d -u root --phases "
	    "auth,account,session --in-process -n %u --yes -o /dev/null",
	    (int)(strrchr(self, '/') - self), self, folder, count);

	check(system(command) == 0, "pamprof run --in-process");
	free(command);
}

/* In a private mount namespace, where the stack is the machine's. */
static void
run_pamtester(const char *folder, unsigned count)
{
	char *command = alloc_format(
	    "unshare -m sh -c 'mount --bind %s/pam.d /etc/pam.d && "
	    "for i in $(seq %u); do pamtester bench root authenticate "
	    "acct_mgmt open_session close_session; done' >/dev/null 2>&1",
	    folder, count);

	check(system(command) == 0, "pamtester");
	free(command);
}

/* The same work as the harness's child, without the harness. */
static void
run_loop(const struct way *way, unsigned count)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		for (unsigned i = 0; i < count; i++)
			login(way->confdir);
		_exit(0);
	}
	check(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0,
	      "the bare loop");
}

static void
bench_harness(const char *folder)
{
	struct way way = { .wrapped = true,
			   .options = RING_CPU | RING_CONVERSATION };
	double loop = 0, harness = 0, tester = 0;

	prepare(folder, ten_modules, &way, 1);
	run_harness(folder, 1);
	for (int round = 0; round < 5; round++) {
		uint64_t begin = emit_now();

		run_loop(&way, TRANSACTIONS);
		loop += rate(TRANSACTIONS, begin) / 5;
		begin = emit_now();
		run_harness(folder, TRANSACTIONS);
		harness += rate(TRANSACTIONS, begin) / 5;
		begin = emit_now();
		if (geteuid() == 0) {
			run_pamtester(folder, TRANSACTIONS / 10);
			tester += rate(TRANSACTIONS / 10, begin) / 5;
		}
	}
	printf("the harness in one process (bare libpam loop over the same "
	       "wrapped stack: %.0f logins/s)\n",
	       loop);
	printf("  %-44s %8.0f logins/s, %.0f %% of the loop (budget 90 %%)\n",
	       "pamprof run --in-process", harness, 100 * harness / loop);
	printf("  %-44s %8.0f logins/s, a process for each\n", "pamtester",
	       tester);
}

/* Runs one benchmark in a folder of its own. */
static void
in_workspace(void (*bench)(const char *folder))
{
	struct workspace *workspace = NULL;
	struct error error;

	check(workspace_make(&workspace, &error) == 0, error.text);
	bench(workspace_path(workspace));
	workspace_remove(workspace);
}

int
main(int argc, char **argv)
{
	check(realpath("/proc/self/exe", self) != NULL, "realpath");
	if (argc == 4 && strcmp(argv[1], "loop") == 0) {
		printf("ns per call: %llu\n",
		       (unsigned long long)time_calls(
			   argv[2], (unsigned)strtoul(argv[3], NULL, 10)));
		return 0;
	}
	in_workspace(bench_call);
	in_workspace(bench_login);
	in_workspace(bench_harness);
	return 0;
}
