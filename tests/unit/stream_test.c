/*
 * Several recordings as one stream: put in order, unpacked, told apart by
 * ring, each slot once; and what is damaged or missing is said.
 */
#include "../test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "../../modules/checksum.h"
#include "../../pamprof/base/safe_file.h"
#include "../../pamprof/base/when.h"
#include "../../pamprof/trace/segment.h"
#include "../../pamprof/trace/stream.h"

static char folder[] = "/tmp/pamprof-stream-XXXXXX";

static int
make_folder(void)
{
	strcpy(folder, "/tmp/pamprof-stream-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int
remove_folder(void)
{
	char command[64];

	(void)snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static const char *
path_of(const char *name)
{
	static char paths[8][64];
	static unsigned turn;
	char *path = paths[turn++ % 8];

	(void)snprintf(path, 64, "%s/%s", folder, name);
	return path;
}

/* What came out of the stream. */
static struct taken {
	uint64_t generations[64];
	size_t slots, heads, rings, ends;
	char hosts[8];
	struct assembly_loss loss;
} taken;

static void
take_head(void *context, const struct ring_header *header,
	  const struct rule_map *map, bool same_ring)
{
	struct taken *t = context;

	CU_ASSERT_PTR_NOT_NULL(map);
	t->rings += !same_ring;
	t->hosts[t->heads++ % 8] = header->host[0];
}

static void
take_slot(void *context, const struct record *slot)
{
	struct taken *t = context;

	t->generations[t->slots++ % 64] = slot->generation;
}

static void
take_end(void *context)
{
	((struct taken *)context)->ends++;
}

static struct error error;

static int
read_stream(const char *const *paths, size_t count)
{
	const struct stream_places places = { "/none/ring", "/none", "/none" };
	const struct stream_sink sink = { take_head, take_slot, take_end,
					  &taken, &taken.loss };

	memset(&taken, 0, sizeof(taken));
	return stream_read(paths, count, &places, &sink, &error);
}

/* Slots first to last of a ring of that host, as a segment's bytes. */
static struct buffer
segment(const char *host, uint64_t first, uint64_t last)
{
	struct ring_header header = { .magic = RING_MAGIC,
				      .version = RECORD_VERSION,
				      .byte_order = RING_BYTE_ORDER,
				      .slot_size = RECORD_SIZE };
	struct rule_map map = { .host = (char *)host };
	struct buffer bytes = { 0 };
	char *data;
	size_t size;
	FILE *out = open_memstream(&data, &size);

	strcpy(header.host, host);
	atomic_store(&header.dropped, 3);
	CU_ASSERT_EQUAL(segment_write_head(out, &header, &map, NULL), 0);
	for (uint64_t g = first; g <= last; g++) {
		struct record record = { .generation = g };

		record.checksum = record_checksum(&record);
		(void)fwrite(&record, sizeof(record), 1, out);
	}
	(void)fclose(out);
	buffer_bytes(&bytes, data, size);
	free(data);
	return bytes;
}

static void
write_bytes(const char *name, const void *bytes, size_t size)
{
	struct buffer buffer = { 0 };

	buffer_bytes(&buffer, bytes, size);
	CU_ASSERT_EQUAL(safe_file_write(path_of(name), 0600, &buffer, NULL), 0);
	buffer_free(&buffer);
}

static void
write_segment(const char *name, const char *host, uint64_t first, uint64_t last)
{
	struct buffer bytes = segment(host, first, last);

	write_bytes(name, bytes.data, bytes.length);
	buffer_free(&bytes);
}

static void
in_order_once(void)
{
	const char *paths[] = { path_of("b"), path_of("other"), path_of("a"),
				path_of("a") };

	write_segment("a", "one", 10, 19);
	write_segment("b", "one", 15, 29);
	write_segment("other", "two", 1, 5);
	CU_ASSERT_EQUAL(read_stream(paths, 4), 0);
	CU_ASSERT_EQUAL(taken.slots, 25);
	for (uint64_t i = 0; i < 20; i++)
		CU_ASSERT_EQUAL(taken.generations[i], 10 + i);
	CU_ASSERT_EQUAL(taken.generations[20], 1);
	CU_ASSERT_EQUAL(taken.rings, 2);
	CU_ASSERT_EQUAL(taken.heads, 4);
	CU_ASSERT_EQUAL(taken.ends, 1);
	CU_ASSERT_EQUAL(strncmp(taken.hosts, "ooot", 4), 0);
	/* Once for each ring, though each of four heads says it. */
	CU_ASSERT_EQUAL(taken.loss.dropped, 6);
	CU_ASSERT_EQUAL(taken.loss.overwritten, 0);
}

static void
unpacked(void)
{
	struct buffer one = segment("one", 1, 600),
		      two = segment("one", 601, 1200);
	const char *paths[] = { path_of("z.zst"), path_of("g.gz") };
	size_t size = ZSTD_compressBound(two.length);
	char *packed = malloc(size);
	gzFile gz = gzopen(paths[1], "wb");

	CU_ASSERT_EQUAL(gzwrite(gz, one.data, (unsigned)one.length),
			(int)one.length);
	(void)gzclose(gz);
	size = ZSTD_compress(packed, size, two.data, two.length, 3);
	write_bytes("z.zst", packed, size);
	CU_ASSERT_EQUAL(read_stream(paths, 2), 0);
	CU_ASSERT_EQUAL(taken.slots, 1200);
	CU_ASSERT_EQUAL(taken.loss.torn, 0);
	/* Cut in the middle: what is there is read, and the loss is said. */
	write_bytes("z.zst", packed, size - 5);
	CU_ASSERT_EQUAL(read_stream(paths, 1), 0);
	CU_ASSERT(taken.slots < 600);
	CU_ASSERT_EQUAL(taken.loss.torn, 1);
	packed[size / 2] ^= 0x55;
	packed[size / 2 + 1] ^= 0x55;
	packed[size / 2 + 2] ^= 0x55;
	write_bytes("z.zst", packed, size);
	(void)read_stream(paths, 1); /* says anything, but comes back */
	free(packed);
	buffer_free(&one);
	buffer_free(&two);
}

static void
one_behind_the_other(void)
{
	struct buffer one = segment("one", 1, 600),
		      two = segment("two", 1, 700);
	const char *path = path_of("both");

	buffer_bytes(&one, two.data, two.length);
	write_bytes("both", one.data, one.length);
	CU_ASSERT_EQUAL(read_stream(&path, 1), 0);
	CU_ASSERT_EQUAL(taken.slots, 1300);
	CU_ASSERT_EQUAL(taken.rings, 2);
	buffer_free(&one);
	buffer_free(&two);
}

static void
damage(void)
{
	struct buffer bytes = segment("one", 1, 9);
	struct buffer gap = segment("one", 20, 29);
	const char *path = path_of("bad");
	char *slots = bytes.data + bytes.length - 9 * RECORD_SIZE;

	slots[3 * RECORD_SIZE + 100] ^= 1;
	/* Ten slots are missing in the middle; half of one at the end. */
	buffer_bytes(&bytes, gap.data + gap.length - 10 * RECORD_SIZE,
		     10 * RECORD_SIZE - 100);
	write_bytes("bad", bytes.data, bytes.length);
	CU_ASSERT_EQUAL(read_stream(&path, 1), 0);
	CU_ASSERT_EQUAL(taken.slots, 17);
	CU_ASSERT_EQUAL(taken.loss.torn, 2);
	CU_ASSERT_EQUAL(taken.loss.overwritten, 10);
	bytes.data[0] = 'Q';
	write_bytes("bad", bytes.data, bytes.length);
	CU_ASSERT_EQUAL(read_stream(&path, 1), ERROR_FORMAT);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "/bad is not a recording"));
	write_bytes("bad", bytes.data, 100);
	CU_ASSERT_EQUAL(read_stream(&path, 1), ERROR_FORMAT);
	path = path_of("missing");
	CU_ASSERT(read_stream(&path, 1) < 0);
	CU_ASSERT_EQUAL(read_stream(NULL, 0), ERROR_INPUT);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "nothing is recorded here"));
	buffer_free(&bytes);
	buffer_free(&gap);
}

/* A ring in use, read beside a segment that has its older half. */
static void
ring_and_segment(void)
{
	const char *paths[] = { path_of("ring"), path_of("old") };
	struct ring_header header;
	struct rule_map map = { 0 };
	FILE *ring, *old;

	CU_ASSERT_EQUAL(ring_make(paths[0], 16, 0, &error), 0);
	ring = fopen(paths[0], "r+");
	CU_ASSERT_PTR_NOT_NULL_FATAL(ring);
	CU_ASSERT_EQUAL(fread(&header, sizeof(header), 1, ring), 1);
	old = fopen(paths[1], "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(old);
	CU_ASSERT_EQUAL(segment_write_head(old, &header, &map, &error), 0);
	(void)fseek(ring, RING_HEADER_SIZE, SEEK_SET);
	for (uint64_t g = 1; g <= 12; g++) {
		struct record record = { .generation = g };

		record.checksum = record_checksum(&record);
		(void)fwrite(&record, sizeof(record), 1, ring);
		if (g <= 6)
			(void)fwrite(&record, sizeof(record), 1, old);
	}
	atomic_store(&header.head, 12);
	(void)fseek(ring, 0, SEEK_SET);
	(void)fwrite(&header, sizeof(header), 1, ring);
	(void)fclose(ring);
	(void)fclose(old);
	CU_ASSERT_EQUAL(read_stream(paths, 2), 0);
	CU_ASSERT_EQUAL(taken.slots, 12);
	CU_ASSERT_EQUAL(taken.rings, 1);
	for (uint64_t i = 0; i < 12; i++)
		CU_ASSERT_EQUAL(taken.generations[i], i + 1);
}

static int64_t
when(const char *text)
{
	int64_t ns;

	/* 2026-11-30 12:00:00 UTC */
	if (when_parse(text, 1796040000000000000, &ns, &error))
		return -1;
	return ns / 1000000000;
}

static void
times(void)
{
	const char *zone = getenv("TZ");

	setenv("TZ", "UTC-1", 1);
	tzset();
	CU_ASSERT_EQUAL(when("2026-11-30T12:00:00Z"), 1796040000);
	CU_ASSERT_EQUAL(when("2026-11-30 13:00"), 1796040000);
	CU_ASSERT_EQUAL(when("2026-11-30"), 1796040000 - 13 * 3600);
	CU_ASSERT_EQUAL(when("13:00"), 1796040000);
	CU_ASSERT_EQUAL(when("12:00Z"), 1796040000);
	CU_ASSERT_EQUAL(when("-2h"), 1796040000 - 7200);
	CU_ASSERT_EQUAL(when("-90s"), 1796040000 - 90);
	CU_ASSERT_EQUAL(when("yesterday"), -1);
	CU_ASSERT_EQUAL(when("2026-13-01"), -1);
	CU_ASSERT_EQUAL(when("-"), -1);
	CU_ASSERT_EQUAL(when(""), -1);
	CU_ASSERT_EQUAL(when("12:00 and more"), -1);
	if (zone)
		setenv("TZ", zone, 1);
	else
		unsetenv("TZ");
	tzset();
}

static const struct test_row rows[] = {
	{ "in order, each slot once", in_order_once },
	{ "unpacked", unpacked },
	{ "one behind the other", one_behind_the_other },
	{ "damage", damage },
	{ "a ring and a segment", ring_and_segment },
	{ "times", times },
};

void stream_tests(void);

void
stream_tests(void)
{
	CU_pSuite suite = CU_add_suite("stream", make_folder, remove_folder);

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		(void)CU_add_test(suite, rows[i].name, rows[i].function);
}
