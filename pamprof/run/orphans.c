/*
 * Nothing of a measured login may go on running, not even a daemon that put
 * itself into a session of its own. Apart from attempt.c because it knows
 * nothing of runs. Not found are processes that a service manager started
 * on a module's behalf: they are nobody's descendants here.
 */
#include "orphans.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "../base/alloc.h"

/* Generations of processes that fork faster than they are killed. */
#define ROUNDS 100

/* All children now; returns an array to free, and their number. */
static pid_t *
children(size_t *count)
{
	FILE *list = fopen("/proc/thread-self/children", "re");
	pid_t *pids = NULL;
	char *word = NULL;
	size_t size = 0;

	*count = 0;
	while (list != NULL && getdelim(&word, &size, ' ', list) > 0) {
		long pid = strtol(word, NULL, 10);

		if (pid <= 1)
			break;
		pids = alloc_array(pids, *count + 1, sizeof(*pids));
		pids[(*count)++] = (pid_t)pid;
	}
	free(word);
	if (list != NULL)
		fclose(list);
	return pids;
}

void
orphans_expect(struct orphans *orphans)
{
	orphans->spared = children(&orphans->count);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static bool
is_spared(const struct orphans *orphans, pid_t pid)
{
	for (size_t i = 0; i < orphans->count; i++) {
		if (orphans->spared[i] == pid)
			return true;
	}
	return false;
}

/* Ends one; false when it may not be ended (another user's). */
static bool
end_one(pid_t pid)
{
	if (kill(pid, SIGKILL) != 0)
		return false;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	return true;
}

void
orphans_end(const struct orphans *orphans)
{
	bool again = true;

	for (unsigned round = 0; again && round < ROUNDS; round++) {
		size_t count;
		pid_t *pids = children(&count);

		again = false;
		for (size_t i = 0; i < count; i++) {
			if (!is_spared(orphans, pids[i]) && end_one(pids[i]))
				again = true;
		}
		free(pids);
	}
}

void
orphans_forget(struct orphans *orphans)
{
	(void)prctl(PR_SET_CHILD_SUBREAPER, 0);
	free(orphans->spared);
	*orphans = (struct orphans){ 0 };
}
