/*
 * How fast, and in how much memory, the report reads recordings from the page
 * cache: records per second for two lengths, the same compressed and through
 * a pipe, and jq doing one grouping over a hundredth of the export. The
 * budget is 10 million records per second on one core; LOGINS=1000000 makes
 * the 10 GB of a large site, a tenth of it is the default here.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUNS    5
#define BUDGET  10e6 /* records per second */
#define RECORDS 40   /* of a login */

static char folder[] = "/tmp/pamprof-report-XXXXXX";

static double
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* What a command took. */
struct cost {
	double seconds, cpu;
	long peak_kib;
};

static struct cost
run(const char *command)
{
	struct cost cost = { 0 };
	struct rusage usage;
	double begin = now();
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) < 0 || status) {
		(void)printf("failed: %s\n", command);
		exit(1);
	}
	cost.seconds = now() - begin;
	cost.cpu =
	    (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	    (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	cost.peak_kib = usage.ru_maxrss;
	return cost;
}

/* The best of some runs: others use the machine too. */
static struct cost
best(const char *command)
{
	struct cost least = run(command);

	for (unsigned i = 1; i < RUNS; i++) {
		struct cost cost = run(command);

		if (cost.seconds < least.seconds)
			least = cost;
	}
	return least;
}

/* One row; returns records per second. */
static double
row(const char *name, const char *command, double records)
{
	struct cost cost = best(command);
	double speed = records / cost.seconds;

	(void)printf("%-34s %7.2f s %7.2f s cpu %7.2f M/s %7.1f MiB\n", name,
		     cost.seconds, cost.cpu, speed / 1e6,
		     (double)cost.peak_kib / 1024);
	return speed;
}

static void
prepare(const char *build, unsigned long logins)
{
	char command[1024];

	(void)snprintf(command, sizeof(command),
		       "cd %s && g=%s/tests/fake/segment_generator && "
		       "$g %lu > short.seg && $g %lu > long.seg && "
		       "$g %lu > part.seg && gzip -1k short.seg && "
		       "%s/pamprof report part.seg --format jsonl > part.jsonl",
		       folder, build, logins / 10, logins, logins / 100, build);
	(void)run(command);
	(void)snprintf(command, sizeof(command),
		       "cd %s && ! command -v zstd > /dev/null || "
		       "zstd -q short.seg",
		       folder);
	(void)run(command);
}

static const struct {
	const char *name, *file; /* file: has to be there, or NULL */
	const char *command;     /* %s: the build folder */
	double part;             /* of the logins */
} rows[] = {
	{ "a tenth of the logins", NULL, "%s/pamprof report short.seg", 0.1 },
	{ "all of them", NULL, "%s/pamprof report long.seg", 1 },
	{ "all of them, by user", NULL, "%s/pamprof report long.seg --by user",
	  1 },
	{ "all of them, slower than 100 ms", NULL,
	  "%s/pamprof report long.seg --slower-than 100ms", 1 },
	{ "all of them, standard input", NULL, "%s/pamprof report - < long.seg",
	  1 },
	{ "a tenth, gzip", "short.seg.gz", "%s/pamprof report short.seg.gz",
	  0.1 },
	{ "a tenth, zstd", "short.seg.zst", "%s/pamprof report short.seg.zst",
	  0.1 },
	{ "a hundredth, as jsonl", NULL,
	  "%s/pamprof report part.seg --format jsonl", 0.01 },
	{ "a hundredth of jsonl, jq", "part.jsonl",
	  "! command -v jq > /dev/null || jq -s 'group_by(.module) | map([.[0]"
	  ".module, length, (map(.wall) | sort | .[length / 2 | floor])])' "
	  "part.jsonl # %s",
	  0.01 },
};

int
main(void)
{
	const char *build = getenv("BUILD"), *wanted = getenv("LOGINS");
	unsigned long logins = wanted ? strtoul(wanted, NULL, 10) : 100000;
	double speed = 0;
	char command[2048];

	if (!build || !mkdtemp(folder))
		return 1;
	prepare(build, logins);
	(void)printf("%lu logins of %d records, best of %d runs\n", logins,
		     RECORDS, RUNS);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int length =
		    snprintf(command, sizeof(command), "cd %s && { ", folder);
		double found;

		/* NOLINTNEXTLINE(clang-diagnostic-format-nonliteral) */
		length +=
		    snprintf(command + length, sizeof(command) - (size_t)length,
			     rows[i].command, build);
		(void)snprintf(command + length,
			       sizeof(command) - (size_t)length,
			       "\n} > result");
		found = row(rows[i].name, command,
			    (double)logins * RECORDS * rows[i].part);
		if (rows[i].part == 1 && found > speed)
			speed = found;
	}
	(void)printf("budget %.0f M/s on one core: %.1f M/s, %s\n",
		     BUDGET / 1e6, speed / 1e6,
		     speed >= BUDGET ? "met" : "not met");
	(void)snprintf(command, sizeof(command), "rm -rf %s", folder);
	return run(command).seconds < 0;
}
