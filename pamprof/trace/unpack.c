/*
 * Compressed and plain input behind one read function, with the libraries of
 * gzip (zlib) and zstd. A plain file goes past the buffer of this file
 * straight to the reader's, because that is where speed is asked for; it is
 * read, not mapped, because a mapping can be shortened under us.
 */
#include "unpack.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "../base/alloc.h"
#include "../base/safe_file.h"

#define BUFFER_SIZE (128u << 10)

struct unpack {
	const char *path;
	int fd;
	/* Makes bytes of what is in the buffer; NULL: they are the bytes. */
	ssize_t (*decode)(struct unpack *, void *, size_t, struct error *);
	bool ended, cut; /* of the file; inside something compressed */
	bool between;    /* two members or frames */
	unsigned char *buffer;
	size_t position, length; /* of the buffer */
	z_stream gzip;
	ZSTD_DStream *zstd;
};

/* Reads from the file itself; at most size bytes, 0 at its end. */
static ssize_t
read_some(struct unpack *unpack, void *to, size_t size, struct error *error)
{
	ssize_t got;

	do
		got = read(unpack->fd, to, size);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return error_errno(error, "cannot read %s", unpack->path);
	unpack->ended = got == 0;
	return got;
}

/* Refills an empty buffer; an error code, or 0, at the end as well. */
static int
refill(struct unpack *unpack, struct error *error)
{
	ssize_t got;

	if (unpack->position < unpack->length || unpack->ended)
		return 0;
	got = read_some(unpack, unpack->buffer, BUFFER_SIZE, error);
	if (got < 0)
		return (int)got;
	unpack->position = 0;
	unpack->length = (size_t)got;
	return 0;
}

static int
damaged(const struct unpack *unpack, const char *why, struct error *error)
{
	return error_set(error, ERROR_FORMAT, "%s is damaged: %s", unpack->path,
			 why ? why : "it cannot be decompressed");
}

static ssize_t
decode_gzip(struct unpack *unpack, void *to, size_t size, struct error *error)
{
	z_stream *z = &unpack->gzip;
	int result;

	/* Members may follow each other: cat a.gz b.gz. */
	if (unpack->between)
		(void)inflateReset(z);
	z->next_in = unpack->buffer + unpack->position;
	z->avail_in = (unsigned)(unpack->length - unpack->position);
	z->next_out = to;
	z->avail_out = (unsigned)size;
	result = inflate(z, Z_NO_FLUSH);
	unpack->position = unpack->length - z->avail_in;
	unpack->between = result == Z_STREAM_END;
	if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
		return damaged(unpack, z->msg, error);
	return (ssize_t)(size - z->avail_out);
}

static ssize_t
decode_zstd(struct unpack *unpack, void *to, size_t size, struct error *error)
{
	ZSTD_inBuffer in = { unpack->buffer, unpack->length, unpack->position };
	ZSTD_outBuffer out = { to, size, 0 };
	size_t result = ZSTD_decompressStream(unpack->zstd, &out, &in);

	unpack->position = in.pos;
	if (ZSTD_isError(result))
		return damaged(unpack, ZSTD_getErrorName(result), error);
	unpack->between = result == 0;
	return (ssize_t)out.pos;
}

/* What the first bytes say. */
static int
choose(struct unpack *unpack, struct error *error)
{
	static const unsigned char gzip[] = { 0x1f, 0x8b },
				   zstd[] = { 0x28, 0xb5, 0x2f, 0xfd };

	/* A pipe may hand out its first bytes one by one. */
	while (unpack->length < sizeof(zstd) && !unpack->ended) {
		ssize_t got = read_some(unpack, unpack->buffer + unpack->length,
					BUFFER_SIZE - unpack->length, error);

		if (got < 0)
			return (int)got;
		unpack->length += (size_t)got;
	}
	if (unpack->length >= sizeof(gzip) &&
	    memcmp(unpack->buffer, gzip, sizeof(gzip)) == 0) {
		if (inflateInit2(&unpack->gzip, 15 + 16) != Z_OK)
			return damaged(unpack, unpack->gzip.msg, error);
		unpack->decode = decode_gzip;
	} else if (unpack->length >= sizeof(zstd) &&
		   memcmp(unpack->buffer, zstd, sizeof(zstd)) == 0) {
		unpack->zstd = ZSTD_createDStream();
		if (!unpack->zstd)
			return error_set(error, ERROR_SYSTEM,
					 "no memory to decompress %s",
					 unpack->path);
		unpack->decode = decode_zstd;
	}
	return 0;
}

int
unpack_open(struct unpack **unpack, const char *path, struct error *error)
{
	bool standard = strcmp(path, "-") == 0;
	struct unpack *u;
	int fd, result;

	*unpack = NULL;
	fd = standard
		 ? STDIN_FILENO
		 : safe_file_open(path, LINKS_FOLLOWED, SIZE_MAX / 2, error);
	if (fd < 0)
		return fd;
	u = alloc_zero(1, sizeof(*u));
	u->path = standard ? "the standard input" : path;
	u->fd = fd;
	u->buffer = alloc_zero(1, BUFFER_SIZE);
	result = choose(u, error);
	if (result) {
		unpack_close(u);
		return result;
	}
	*unpack = u;
	return 0;
}

void
unpack_close(struct unpack *unpack)
{
	if (!unpack)
		return;
	if (unpack->decode == decode_gzip)
		(void)inflateEnd(&unpack->gzip);
	(void)ZSTD_freeDStream(unpack->zstd);
	if (unpack->fd != STDIN_FILENO)
		(void)close(unpack->fd);
	free(unpack->buffer);
	free(unpack);
}

/* Plain bytes: those met in choose() first. */
static ssize_t
copy(struct unpack *unpack, void *to, size_t size, struct error *error)
{
	size_t left = unpack->length - unpack->position;

	if (left == 0)
		return read_some(unpack, to, size, error);
	if (left > size)
		left = size;
	memcpy(to, unpack->buffer + unpack->position, left);
	unpack->position += left;
	return (ssize_t)left;
}

/* One step; 0 does not mean the end, ended does. */
static ssize_t
step(struct unpack *unpack, void *to, size_t size, struct error *error)
{
	int result;

	if (!unpack->decode)
		return copy(unpack, to, size, error);
	result = refill(unpack, error);
	if (result)
		return result;
	/* At the end of a member there may be no other. */
	if (unpack->between && unpack->position == unpack->length)
		return 0;
	return unpack->decode(unpack, to, size, error);
}

ssize_t
unpack_read(struct unpack *unpack, void *to, size_t size, struct error *error)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got =
		    step(unpack, (char *)to + done, size - done, error);

		if (got < 0)
			return got;
		done += (size_t)got;
		if (got == 0 && unpack->ended &&
		    unpack->position == unpack->length)
			break;
	}
	if (done < size && unpack->decode && !unpack->between)
		unpack->cut = true;
	return (ssize_t)done;
}

bool
unpack_cut(const struct unpack *unpack)
{
	return unpack->cut;
}
