/*
 * The reader's side of the ring, and its making. The writer's side is
 * modules/ring.c; they meet in shared memory only, so every word is read
 * once, as something that may change or lie, and believed after checks.
 */
#include "ring_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../modules/checksum.h"
#include "../base/alloc.h"
#include "clock.h"

/* How long a claimed slot may stay open before its writer counts as dead. */
#define STALL_NS 1000000000u

#define WORDS (RECORD_SIZE / 8)

struct ring_reader {
	struct ring_header *shared; /* the mapping */
	struct ring_header copy;
	size_t size;
	uint64_t slots, position, dropped;
	uint64_t now;           /* a reading of the clock, not too old */
	uint64_t stalled_since; /* when position was first found open */
	bool same_boot;
};

/* A slot, copied word by word and read as what it is. */
union slot_copy {
	uint64_t words[WORDS];
	struct record record;
};

/* What became of the slot at a position. */
enum slot_state {
	SLOT_WHOLE,
	SLOT_OPEN, /* claimed, not closed yet */
	SLOT_TORN,
	SLOT_LAPPED
};

static int
fill_ring(int fd, uint64_t slots, uint32_t options)
{
	struct ring_header header = { .version = RECORD_VERSION,
				      .byte_order = RING_BYTE_ORDER,
				      .slot_size = RECORD_SIZE,
				      .options = options,
				      .slot_count = slots };
	off_t size = (off_t)(RING_HEADER_SIZE + slots * RECORD_SIZE);

	memcpy(header.magic, RING_MAGIC, sizeof(header.magic));
	header.wall_anchor_ns = clock_anchor();
	clock_boot_id(header.boot_id);
	(void)gethostname(header.host, sizeof(header.host) - 1);
	if (getrandom(&header.transaction_base, sizeof(uint64_t), 0) < 0)
		return -1;
	/* Handles are numbered upwards from here: leave room above. */
	header.transaction_base >>= 1;
	if ((errno = posix_fallocate(fd, 0, size)))
		return -1;
	return pwrite(fd, &header, sizeof(header), 0) == sizeof(header) ? 0
									: -1;
}

int
ring_make(const char *path, uint64_t slots, uint32_t options,
	  struct error *error)
{
	int fd, result = 0;

	if (!slots || slots > RING_SLOT_LIMIT || (slots & (slots - 1)))
		return error_set(error, ERROR_INPUT,
				 "%s: a ring of %llu slots cannot be made, the "
				 "number must be a power of two up to %llu",
				 path, (unsigned long long)slots,
				 RING_SLOT_LIMIT);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		  0600);
	if (fd < 0)
		return error_errno(error, "cannot make the ring %s", path);
	if (fchmod(fd, 0600) || fill_ring(fd, slots, options)) {
		result = error_errno(error, "cannot fill the ring %s", path);
		(void)unlink(path);
	}
	(void)close(fd);
	return result;
}

int
ring_header_check(const struct ring_header *header, const char *path,
		  struct error *error)
{
	if (memcmp(header->magic, RING_MAGIC, sizeof(header->magic)) != 0)
		return error_set(error, ERROR_FORMAT,
				 "%s is not a recording of pamprof", path);
	if (header->byte_order != RING_BYTE_ORDER)
		return error_set(error, ERROR_FORMAT,
				 "%s was recorded on a machine of another byte "
				 "order, read it there",
				 path);
	if (header->version != RECORD_VERSION)
		return error_set(
		    error, ERROR_FORMAT,
		    "%s has version %u of the format, this pamprof "
		    "reads version %u only",
		    path, header->version, RECORD_VERSION);
	if (header->slot_size != RECORD_SIZE ||
	    header->slot_count > RING_SLOT_LIMIT ||
	    (header->slot_count & (header->slot_count - 1)))
		return error_set(error, ERROR_FORMAT,
				 "%s has an impossible head: %llu slots of %u "
				 "bytes",
				 path, (unsigned long long)header->slot_count,
				 header->slot_size);
	return 0;
}

/* Opens the file, if nobody but its owner or root can have written it. */
static int
open_ring(const char *path, size_t *size, struct error *error)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK |
				O_NOCTTY);

	if (fd < 0)
		return error_errno(error, "cannot open the ring %s", path);
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    (status.st_mode & 077) == 0 &&
	    (status.st_uid == 0 || status.st_uid == geteuid()) &&
	    status.st_size >= RING_HEADER_SIZE) {
		*size = (size_t)status.st_size;
		return fd;
	}
	(void)close(fd);
	return error_set(error, ERROR_INPUT,
			 "%s is no ring: it must be a regular file of mode "
			 "0600 that belongs to root or to you",
			 path);
}

static int
check_ring(const struct ring_reader *reader, const char *path,
	   struct error *error)
{
	uint64_t slots = reader->copy.slot_count;
	int result = ring_header_check(&reader->copy, path, error);

	if (result)
		return result;
	if (!slots)
		return error_set(error, ERROR_FORMAT,
				 "%s is a segment, not a ring", path);
	if (reader->size < RING_HEADER_SIZE + slots * RECORD_SIZE)
		return error_set(error, ERROR_FORMAT,
				 "%s has been shortened, it cannot hold its "
				 "%llu slots",
				 path, (unsigned long long)slots);
	return 0;
}

static void
copy_header(struct ring_reader *reader)
{
	memcpy(&reader->copy, reader->shared, sizeof(reader->copy));
	/* From here on the number of slots is what it was when checked. */
	if (reader->slots)
		reader->copy.slot_count = reader->slots;
}

int
ring_reader_open(struct ring_reader **reader, const char *path,
		 struct error *error)
{
	struct ring_reader *r = NULL;
	struct ring_header here = { 0 };
	size_t size = 0;
	void *map;
	int result, fd;

	*reader = NULL;
	fd = open_ring(path, &size, error);
	if (fd < 0)
		return fd;
	map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	(void)close(fd);
	if (map == MAP_FAILED)
		return error_errno(error, "cannot map the ring %s", path);
	r = alloc_zero(1, sizeof(*r));
	r->shared = map;
	r->size = size;
	copy_header(r);
	result = check_ring(r, path, error);
	if (result) {
		ring_reader_close(r);
		return result;
	}
	r->slots = r->copy.slot_count;
	clock_boot_id(here.boot_id);
	memcpy(here.host, r->copy.host, sizeof(here.host));
	r->same_boot = clock_same_boot(&here, &r->copy);
	*reader = r;
	return 0;
}

void
ring_reader_close(struct ring_reader *reader)
{
	if (!reader)
		return;
	(void)munmap(reader->shared, reader->size);
	free(reader);
}

const struct ring_header *
ring_reader_header(const struct ring_reader *reader)
{
	return &reader->copy;
}

static uint64_t
head_of(const struct ring_reader *reader)
{
	return atomic_load_explicit(&reader->shared->head,
				    memory_order_acquire);
}

/*
 * Copies the slot at the reader's position. The generation is looked at
 * before and after: a writer that laps us sets it to 0 first.
 */
static enum slot_state
copy_slot(const struct ring_reader *reader, union slot_copy *copy)
{
	uint64_t wanted = reader->position + 1, after;
	size_t index = reader->position & (reader->slots - 1);
	_Atomic uint64_t *slot =
	    (_Atomic uint64_t *)((char *)reader->shared + RING_HEADER_SIZE +
				 index * RECORD_SIZE);

	copy->words[0] = atomic_load_explicit(&slot[0], memory_order_acquire);
	if (copy->words[0] == wanted) {
		for (size_t i = 1; i < WORDS; i++)
			copy->words[i] = atomic_load_explicit(
			    &slot[i], memory_order_relaxed);
		atomic_thread_fence(memory_order_acquire);
		after = atomic_load_explicit(&slot[0], memory_order_relaxed);
		if (after == wanted)
			return copy->words[1] == record_checksum(copy)
				   ? SLOT_WHOLE
				   : SLOT_TORN;
	}
	if (copy->words[0] > wanted ||
	    head_of(reader) - reader->position > reader->slots)
		return SLOT_LAPPED;
	return copy->words[0] == wanted ? SLOT_TORN : SLOT_OPEN;
}

/* Whether the slot at the position has been open for too long. */
static bool
has_stalled(struct ring_reader *reader)
{
	uint64_t now = clock_now();

	if (!reader->stalled_since)
		reader->stalled_since = now;
	return now - reader->stalled_since >= STALL_NS;
}

/* Nothing that is in the ring by now can start later than now. */
static bool
is_future(struct ring_reader *reader, const struct record *slot)
{
	if (!reader->same_boot || slot->version != RECORD_VERSION ||
	    (slot->type != RECORD_BEGIN && slot->type != RECORD_END) ||
	    slot->start_ns <= reader->now)
		return false;
	reader->now = clock_now();
	return slot->start_ns > reader->now;
}

/* Skips what has been lapped; the position never passes the head. */
static uint64_t
catch_up(struct ring_reader *reader, struct assembly_loss *loss)
{
	uint64_t head = head_of(reader);

	if (head < reader->position)
		return reader->position;
	if (head - reader->position > reader->slots) {
		loss->overwritten += head - reader->slots - reader->position;
		reader->position = head - reader->slots;
		reader->stalled_since = 0;
	}
	return head;
}

static void
count_dropped(struct ring_reader *reader, struct assembly_loss *loss)
{
	uint64_t dropped = atomic_load_explicit(&reader->shared->dropped,
						memory_order_relaxed);

	loss->dropped += dropped - reader->dropped;
	reader->dropped = dropped;
}

void
ring_reader_drain(struct ring_reader *reader, bool final,
		  struct assembly_loss *loss, slot_taker take, void *context)
{
	union slot_copy slot;
	uint64_t head = catch_up(reader, loss);

	for (; reader->position < head; reader->position++) {
		switch (copy_slot(reader, &slot)) {
		case SLOT_WHOLE:
			if (is_future(reader, &slot.record))
				loss->nonsense++;
			else
				take(context, &slot.record);
			break;
		case SLOT_OPEN:
			if (!final && !has_stalled(reader))
				goto out;
			loss->torn++;
			break;
		case SLOT_TORN:
			loss->torn++;
			break;
		case SLOT_LAPPED:
			loss->overwritten++;
			break;
		}
		reader->stalled_since = 0;
	}
out:
	copy_header(reader);
	count_dropped(reader, loss);
}
