/*
 * The lock. Apart because it is a promise to other processes: flock(2) on a
 * file that is never removed, so that a killed owner leaves it free.
 */
#include "lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "../base/message.h"
#include "layout.h"

int
lock_take(struct error *error)
{
	int fd =
	    open(PRODUCTION_LOCK,
		 O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	int r;

	if (fd < 0)
		return error_errno(error, PRODUCTION_LOCK);
	r = flock(fd, LOCK_EX | LOCK_NB);
	if (r != 0 && errno == EWOULDBLOCK) {
		message_note("waiting for another pamprof that is at work");
		do
			r = flock(fd, LOCK_EX);
		while (r != 0 && errno == EINTR);
	}
	if (r == 0)
		return fd;
	r = error_errno(error, PRODUCTION_LOCK);
	(void)close(fd);
	return r;
}

void
lock_free(int fd)
{
	if (fd >= 0)
		(void)close(fd);
}
