/*
 * A ring made and drained by code that shares nothing with the tool's reader
 * (pamprof/trace/ring_file.c) but the format. And checks that run in a child,
 * since a process can attach to one ring only.
 */
#ifndef PAMPROF_TESTS_RING_FILE_H
#define PAMPROF_TESTS_RING_FILE_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../modules/checksum.h"
#include "../../modules/ring_header.h"

/* In a body that runs in a child: says what failed and ends it with 1. */
#define NEED(condition)                                                        \
	do {                                                                   \
		if (!(condition)) {                                            \
			(void)dprintf(2, "%d: %s\n", __LINE__, #condition);    \
			return 1;                                              \
		}                                                              \
	} while (0)

struct ring_file {
	char path[64];
	struct ring_header *header;
	size_t size;
	uint64_t next, taken, torn, overwritten;
};

/* Exit status of body(argument) in a child; 128: of a signal. */
static inline int
in_child(int (*body)(struct ring_file *), struct ring_file *argument)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit((alarm(60), body(argument))); /* no hang */
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFSIGNALED(status) ? 128 : WEXITSTATUS(status);
}

/* Makes a ring in a file of its own, or ends the test program. */
static inline void
ring_file_make(struct ring_file *file, uint64_t slots, uint32_t options)
{
	int fd;

	*file = (struct ring_file){ .path = "/dev/shm/pamprof-test-XXXXXX",
				    .size = RING_HEADER_SIZE +
					    slots * RECORD_SIZE };
	fd = mkostemp(file->path, O_CLOEXEC);
	if (fd < 0 || posix_fallocate(fd, 0, (off_t)file->size) != 0)
		abort();
	file->header =
	    mmap(NULL, file->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	/* Not in children: it would look like the ring kept by the code. */
	if (madvise(file->header, file->size, MADV_DONTFORK) != 0)
		abort();
	close(fd);
	*file->header = (struct ring_header){ .version = RECORD_VERSION,
					      .byte_order = RING_BYTE_ORDER,
					      .slot_size = RECORD_SIZE,
					      .slot_count = slots,
					      .options = options,
					      .transaction_base = 1000000 };
	memcpy(file->header->magic, RING_MAGIC, 8);
}

static inline void
ring_file_remove(struct ring_file *file)
{
	munmap(file->header, file->size);
	unlink(file->path);
}

/*
 * Takes the next whole slot; false when there is none (yet). With final set
 * claimed slots that were not closed are torn, as after the end of a run.
 */
static inline bool
ring_file_take(struct ring_file *file, bool final, struct record *out)
{
	uint64_t head, slots = file->header->slot_count;

	for (; file->next < (head = atomic_load(&file->header->head));
	     file->next++) {
		_Atomic uint64_t *slot =
		    (_Atomic uint64_t *)((char *)file->header +
					 RING_HEADER_SIZE +
					 file->next % slots * RECORD_SIZE);
		uint64_t before = atomic_load(slot), words[RECORD_SIZE / 8];

		for (unsigned i = 0; i < RECORD_SIZE / 8; i++)
			words[i] = atomic_load(&slot[i]);
		if (before == file->next + 1 && before == atomic_load(slot) &&
		    words[1] == record_checksum(words)) {
			memcpy(out, words, sizeof(words));
			file->next++;
			file->taken++;
			return true;
		}
		if (before > file->next + 1 || head - file->next > slots)
			file->overwritten++;
		else if (before == file->next + 1 || final)
			file->torn++;
		else
			break;
	}
	return false;
}

#endif
