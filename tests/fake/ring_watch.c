/*
 * Looks at a ring from outside, for scripts:
 *   ring_watch once RING    prints "PID UID NAME" of each process that has it
 *                           in its memory; status 1 if one is unprivileged
 *   ring_watch always RING  the same over and over until SIGTERM, printing
 *                           only what is wrong
 *   ring_watch calls RING   drains it: prints "SERVICE PHASE" per call
 * A process is unprivileged when none of its user ids is root's: setuid
 * programs and daemons that act for a user for a moment keep one.
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "../../pamprof/base/alloc.h"
#include "../../pamprof/stat/report.h"
#include "../../pamprof/trace/segment.h"

static volatile sig_atomic_t stopped;

static void
stop(int signal)
{
	(void)signal;
	stopped = 1;
}

/* Ids and name of a process; false when it has gone. */
static bool
read_status(const char *pid, unsigned uids[4], char name[64])
{
	char *path = alloc_format("/proc/%s/status", pid);
	FILE *status = fopen(path, "re");
	char line[512];
	bool found = false;

	free(path);
	while (status != NULL && fgets(line, sizeof(line), status) != NULL) {
		if (strncmp(line, "Name:", 5) == 0)
			(void)sscanf(line, "Name: %63s", name);
		found |= sscanf(line, "Uid: %u %u %u %u", &uids[0], &uids[1],
				&uids[2], &uids[3]) == 4;
	}
	if (status != NULL)
		(void)fclose(status);
	return found;
}

/* Whether the file is mapped, by device and inode: paths may differ. */
static bool
has_mapped(const char *pid, const struct stat *ring)
{
	char *path = alloc_format("/proc/%s/maps", pid);
	FILE *maps = fopen(path, "re");
	char line[1024];
	bool found = false;

	free(path);
	while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
		unsigned high, low;
		unsigned long inode;

		found |= sscanf(line, "%*s %*s %*s %x:%x %lu", &high, &low,
				&inode) == 3 &&
			 inode == ring->st_ino && high == major(ring->st_dev) &&
			 low == minor(ring->st_dev);
	}
	if (maps != NULL)
		(void)fclose(maps);
	return found;
}

static bool
is_privileged(const unsigned uids[4])
{
	return uids[0] == 0 || uids[1] == 0 || uids[2] == 0;
}

/* One look at all processes; number of those that should not have it. */
static unsigned
look(const struct stat *ring, bool verbose)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	unsigned wrong = 0;

	while (processes != NULL && (entry = readdir(processes)) != NULL) {
		unsigned uids[4];
		char name[64] = "";

		if (entry->d_name[0] < '0' || entry->d_name[0] > '9' ||
		    !read_status(entry->d_name, uids, name))
			continue;
		/* Asked again: it may have become a setuid program meanwhile. */
		if ((is_privileged(uids) && !verbose) ||
		    !has_mapped(entry->d_name, ring) ||
		    !read_status(entry->d_name, uids, name) ||
		    (is_privileged(uids) && !verbose))
			continue;
		wrong += !is_privileged(uids);
		(void)printf("%s %u %s\n", entry->d_name, uids[1], name);
	}
	if (processes != NULL)
		closedir(processes);
	return wrong;
}

static int
watch(const struct stat *ring)
{
	unsigned wrong = 0;

	signal(SIGTERM, stop);
	while (!stopped)
		wrong += look(ring, false);
	return wrong != 0;
}

static void
print_call(void *context, const struct record *slot)
{
	(void)context;
	if (slot->type == RECORD_END && slot->kind == KIND_CALL)
		(void)printf("%.*s %s\n", (int)sizeof(slot->service),
			     slot->service,
			     report_phase_name((enum record_phase)slot->phase));
}

static int
print_calls(const char *path)
{
	struct assembly_loss loss = { 0 };
	struct error error = { 0 };
	struct ring_reader *reader;

	if (ring_reader_open(&reader, path, &error) != 0) {
		(void)fprintf(stderr, "ring_watch: %s\n", error.text);
		return 1;
	}
	ring_reader_drain(reader, true, &loss, print_call, NULL);
	ring_reader_close(reader);
	return loss.torn + loss.overwritten + loss.dropped != 0;
}

int
main(int argc, char **argv)
{
	struct stat ring;

	if (argc == 3 && stat(argv[2], &ring) != 0) {
		perror(argv[2]);
		return 2;
	}
	if (argc == 3 && strcmp(argv[1], "once") == 0)
		return look(&ring, true) != 0;
	if (argc == 3 && strcmp(argv[1], "always") == 0)
		return watch(&ring);
	if (argc == 3 && strcmp(argv[1], "calls") == 0)
		return print_calls(argv[2]);
	(void)fputs("usage: ring_watch once|always|calls RING\n", stderr);
	return 2;
}
