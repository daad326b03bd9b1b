/*
 * The writer's side of the ring. Apart from everything else because it is
 * the one piece that every observer shares and that must be right when the
 * process around it forks, changes its user, its root or its limits, or dies
 * at any instruction. Nothing here allocates, locks, prints or waits.
 */
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "checksum.h"
#include "ring.h"

/* States of the one mapping; forked children inherit them. */
enum state {
	UNTRIED, /* nobody has asked for the ring yet */
	TRYING,  /* one thread is mapping it */
	ABSENT,  /* there is no ring for this process */
	READY    /* mapped, by this process or by the one it was forked from */
};

static struct {
	_Atomic int state;
	const char *path;
	struct ring_header *header;
	size_t size;
	uint64_t slot_mask;
	uint32_t options;
	uid_t owner; /* of the file */
	/* A page the kernel wipes in a forked child: nonzero means parent. */
	const volatile unsigned char *sentinel;
	_Atomic int32_t pid, ppid;
	/*
	 * Process (upper half) and thread that have the ring mapped for a
	 * moment, or 0. What a child inherits here names another process and
	 * so counts as 0: nothing has to be reset after a fork.
	 */
	_Atomic uint64_t holder;
	sigset_t signals; /* the holder's mask, to be put back */
	bool no_children; /* set by ring_exclude_children() */
} ring;

/* Cached ids of the thread, valid while thread_pid is the process's pid. */
static __thread int32_t thread_pid, thread_tid;

/* Whether the file is one that only root or the user himself can have made. */
static bool
is_trusted(const struct stat *st)
{
	return S_ISREG(st->st_mode) && (st->st_mode & 077) == 0 &&
	       (st->st_uid == 0 || st->st_uid == geteuid()) &&
	       st->st_size >= RING_HEADER_SIZE + RECORD_SIZE;
}

/* Whether the header describes exactly the file it stands in. */
static bool
is_consistent(const struct ring_header *header, uint64_t size)
{
	uint64_t slots = header->slot_count;

	return __builtin_memcmp(header->magic, RING_MAGIC, 8) == 0 &&
	       header->version == RECORD_VERSION &&
	       header->byte_order == RING_BYTE_ORDER &&
	       header->slot_size == RECORD_SIZE && slots != 0 &&
	       slots <= RING_SLOT_LIMIT && (slots & (slots - 1)) == 0 &&
	       size >= RING_HEADER_SIZE + slots * RECORD_SIZE;
}

/*
 * Maps the file; leaves everything as it was when it will not do. By bare
 * system calls, since open(3) and close(3) are cancellation points, which the
 * call of a module may not become, and may be interposed.
 */
static bool
map_file(void)
{
	struct stat st;
	void *map = MAP_FAILED;
	int fd = (int)syscall(SYS_openat, AT_FDCWD, ring.path,
			      O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK |
				  O_NOCTTY);

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && is_trusted(&st))
		map = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED,
			   fd, 0);
	syscall(SYS_close, fd);
	if (map == MAP_FAILED)
		return false;
	if (!is_consistent(map, st.st_size) ||
	    madvise(map, st.st_size, MADV_DONTFORK) != 0) {
		munmap(map, st.st_size);
		return false;
	}
	/* Other people's records have no place in a core file. */
	madvise(map, st.st_size, MADV_DONTDUMP);
	ring.header = map;
	ring.size = st.st_size;
	ring.owner = st.st_uid;
	ring.slot_mask = ring.header->slot_count - 1;
	ring.options = ring.header->options;
	return true;
}

/* The page that tells a forked child that it is one. */
static bool
map_sentinel(void)
{
	unsigned char *page =
	    mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return false;
	if (madvise(page, sysconf(_SC_PAGESIZE), MADV_WIPEONFORK) != 0) {
		munmap(page, sysconf(_SC_PAGESIZE));
		return false;
	}
	*page = 1;
	ring.sentinel = page;
	return true;
}

void
ring_attach(const char *path)
{
	int untried = UNTRIED;

	if (!atomic_compare_exchange_strong(&ring.state, &untried, TRYING))
		return;
	ring.path = path;
	ring.pid = getpid();
	ring.ppid = getppid();
	/* Cached now, while nothing forbids the call. */
	thread_pid = ring.pid;
	thread_tid = gettid();
	atomic_store(&ring.state,
		     map_sentinel() && map_file() ? READY : ABSENT);
}

/* Undoes what enter_child() did to the thread, the mapping apart. */
static void
leave_child(void)
{
	sigset_t signals = ring.signals;

	ring.header = NULL;
	atomic_store(&ring.holder, 0);
	pthread_sigmask(SIG_SETMASK, &signals, NULL);
}

/*
 * Maps the ring in a forked child for one record. Another thread of it that
 * comes at the same time goes without: nobody waits here. Signals wait, since
 * a handler that jumps away would leave the ring with the child for good.
 */
static bool
enter_child(void)
{
	uid_t euid = geteuid();
	uint64_t pid = (uint32_t)getpid();
	uint64_t holder = atomic_load(&ring.holder);
	sigset_t all;

	/* No vain open(2): a refused one may be a line in the audit log. */
	if ((euid != 0 && euid != ring.owner) || holder >> 32 == pid ||
	    !atomic_compare_exchange_strong(&ring.holder, &holder,
					    pid << 32 | (uint32_t)gettid()))
		return false;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &ring.signals);
	ring.pid = (int32_t)pid;
	ring.ppid = getppid();
	if (map_file())
		return true;
	leave_child();
	return false;
}

bool
ring_enter(void)
{
	if (atomic_load_explicit(&ring.state, memory_order_acquire) != READY)
		return false;
	return *ring.sentinel != 0 || (!ring.no_children && enter_child());
}

void
ring_leave(void)
{
	if (*ring.sentinel != 0)
		return;
	munmap(ring.header, ring.size);
	leave_child();
}

void
ring_exclude_children(void)
{
	ring.no_children = true;
}

uint32_t
ring_options(void)
{
	return ring.options;
}

uint64_t
ring_transaction(void)
{
	uint64_t number = atomic_fetch_add_explicit(&ring.header->transactions,
						    1, memory_order_relaxed);

	number += ring.header->transaction_base;
	return number != 0 ? number : 1;
}

void
ring_ids(int32_t *pid, int32_t *ppid, int32_t *tid)
{
	*pid = ring.pid;
	*ppid = ring.ppid;
	if (thread_pid != *pid) {
		thread_tid = gettid();
		thread_pid = *pid;
	}
	*tid = thread_tid;
}

uint64_t
ring_claim(unsigned count)
{
	return atomic_fetch_add_explicit(&ring.header->head, count,
					 memory_order_relaxed);
}

/*
 * A writer that was stopped between claim and put for a whole lap would
 * destroy a newer slot: it drops its own instead, which the reader counts as
 * overwritten. What slips through the gap between this look and the stores is
 * caught by the checksum.
 */
static bool
is_lapped(uint64_t index)
{
	uint64_t head =
	    atomic_load_explicit(&ring.header->head, memory_order_relaxed);

	return head - index > ring.slot_mask + 1;
}

void
ring_put(uint64_t index, void *slot)
{
	record_word *from = slot;
	_Atomic uint64_t *to =
	    (_Atomic uint64_t *)((char *)ring.header + RING_HEADER_SIZE +
				 (index & ring.slot_mask) * RECORD_SIZE);

	if (is_lapped(index))
		return;
	from[0] = index + 1;
	from[1] = record_checksum(slot);
	atomic_store_explicit(&to[0], 0, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	for (unsigned i = 1; i < RECORD_SIZE / 8; i++)
		atomic_store_explicit(&to[i], from[i], memory_order_relaxed);
	atomic_store_explicit(&to[0], from[0], memory_order_release);
}

void
ring_drop(void)
{
	atomic_fetch_add_explicit(&ring.header->dropped, 1,
				  memory_order_relaxed);
}
