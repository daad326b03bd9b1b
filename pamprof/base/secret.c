/*
 * The password buffer. Separate so that every read of a secret and every
 * wipe can be found, and tested, in one short file. stdio is not used for
 * reading: its buffer would keep a copy.
 */
#include "secret.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int
secret_open(struct secret *secret, size_t size, struct error *error)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t whole = (size / page + 1) * page;
	void *data;

	*secret = (struct secret){ 0 };
	data = mmap(NULL, whole, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (data == MAP_FAILED)
		return error_errno(error, "no memory for a password");
	/* Best effort: a user's limit may be 0, and tests must still work. */
	(void)mlock(data, whole);
	(void)madvise(data, whole, MADV_DONTDUMP);
	secret->data = data;
	secret->size = whole;
	return 0;
}

static int
read_until(struct secret *secret, int fd, bool line, struct error *error)
{
	/* One byte at a time for a line: what follows is not ours. */
	size_t step = line ? 1 : secret->size;
	ssize_t got;

	while (secret->length + 1 < secret->size) {
		size_t room = secret->size - 1 - secret->length;

		got = read(fd, secret->data + secret->length,
			   step < room ? step : room);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			error_errno(error, "a password cannot be read");
			secret_wipe(secret);
			return ERROR_SYSTEM;
		}
		if (got == 0 || (line && secret->data[secret->length] == '\n'))
			break;
		secret->length += (size_t)got;
	}
	if (secret->length + 1 >= secret->size) {
		secret_wipe(secret);
		return error_set(error, ERROR_INPUT,
				 "the answers are too long");
	}
	secret->data[secret->length] = '\0'; /* over the newline */
	return 0;
}

int
secret_read(struct secret *secret, int fd, struct error *error)
{
	return read_until(secret, fd, false, error);
}

int
secret_read_line(struct secret *secret, int fd, struct error *error)
{
	return read_until(secret, fd, true, error);
}

void
secret_wipe(struct secret *secret)
{
	if (secret->data) {
		explicit_bzero(secret->data, secret->size);
		(void)munmap(secret->data, secret->size);
	}
	*secret = (struct secret){ 0 };
}

void
secret_wipe_string(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
}
