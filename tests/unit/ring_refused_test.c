/*
 * Files that stand where the ring should be and are none: nothing is
 * recorded, nothing crashes, nothing waits, nothing is left open.
 */
#include "../test.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "../../modules/call.h"
#include "../../pamprof/base/alloc.h"
#include "ring_file.h"

/* Turns a good ring into a bad one; 0, or -1 where that is not possible. */
struct row {
	const char *name;
	int (*spoil)(struct ring_file *file);
};

/* Gives the file another path, made of one string. */
static void
set_path(struct ring_file *file, const char *format, const char *string)
{
	char *path = alloc_format(format, string);

	(void)snprintf(file->path, sizeof(file->path), "%s", path);
	free(path);
}

static int
good(struct ring_file *file)
{
	(void)file;
	return 0;
}

static int
missing(struct ring_file *file)
{
	return unlink(file->path);
}

static int
folder_missing(struct ring_file *file)
{
	set_path(file, "%s.none/ring", file->path);
	return 0;
}

static int
no_path(struct ring_file *file)
{
	file->path[0] = '\0';
	return 0;
}

static int
link_to_ring(struct ring_file *file)
{
	struct ring_file target = *file;

	set_path(file, "%s.link", target.path);
	return symlink(target.path, file->path);
}

static int
fifo(struct ring_file *file)
{
	return unlink(file->path) != 0 ? -1 : mkfifo(file->path, 0600);
}

static int
folder(struct ring_file *file)
{
	return unlink(file->path) != 0 ? -1 : mkdir(file->path, 0700);
}

static int
device(struct ring_file *file)
{
	set_path(file, "/dev/%s", "zero");
	return 0;
}

static int
socket_file(struct ring_file *file)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memcpy(address.sun_path, file->path, sizeof(file->path));
	return unlink(file->path) != 0
		   ? -1
		   : bind(fd, (struct sockaddr *)&address, sizeof(address));
}

static int
wrong_owner(struct ring_file *file)
{
	return chown(file->path, 65534, 65534);
}

static int
readable_by_group(struct ring_file *file)
{
	return chmod(file->path, 0640);
}

static int
empty(struct ring_file *file)
{
	return truncate(file->path, 0);
}

static int
shorter_than_it_says(struct ring_file *file)
{
	return truncate(file->path, (off_t)file->size - 1);
}

static int
header_only(struct ring_file *file)
{
	return truncate(file->path, RING_HEADER_SIZE);
}

static int
no_magic(struct ring_file *file)
{
	file->header->magic[7] = '\0';
	return 0;
}

static int
next_version(struct ring_file *file)
{
	file->header->version++;
	return 0;
}

static int
other_byte_order(struct ring_file *file)
{
	file->header->byte_order = 0x04030201;
	return 0;
}

static int
other_slot_size(struct ring_file *file)
{
	file->header->slot_size = 512;
	return 0;
}

static int
no_slots(struct ring_file *file)
{
	file->header->slot_count = 0;
	return 0;
}

static int
odd_slots(struct ring_file *file)
{
	file->header->slot_count = 3;
	return 0;
}

static int
more_slots_than_fit(struct ring_file *file)
{
	file->header->slot_count *= 2;
	return 0;
}

static int
overflowing_slots(struct ring_file *file)
{
	file->header->slot_count = 1ull << 63;
	return 0;
}

/* A product that is a whole multiple of 2^64: looks as if it fitted. */
static int
wrapping_slots(struct ring_file *file)
{
	file->header->slot_count = 1ull << 56;
	return 0;
}

static int
garbage(struct ring_file *file)
{
	memset(file->header, 0xa5, RING_HEADER_SIZE);
	return 0;
}

static const struct row rows[] = {
	{ "a good one", good },
	{ "missing", missing },
	{ "folder missing", folder_missing },
	{ "no path", no_path },
	{ "symbolic link", link_to_ring },
	{ "FIFO", fifo },
	{ "folder", folder },
	{ "device", device },
	{ "socket", socket_file },
	{ "wrong owner", wrong_owner },
	{ "readable by group", readable_by_group },
	{ "empty", empty },
	{ "shorter than it says", shorter_than_it_says },
	{ "header only", header_only },
	{ "no magic", no_magic },
	{ "next version", next_version },
	{ "other byte order", other_byte_order },
	{ "other slot size", other_slot_size },
	{ "no slots", no_slots },
	{ "odd slots", odd_slots },
	{ "more slots than fit", more_slots_than_fit },
	{ "overflowing slots", overflowing_slots },
	{ "wrapping slots", wrapping_slots },
	{ "garbage", garbage },
};

static int
open_descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* No function of libpam may be asked for anything. */
static int
forbidden_item(const pam_handle_t *handle, int item, const void **value)
{
	(void)handle;
	(void)item;
	(void)value;
	_exit(99);
}

static int
forbidden_data(const pam_handle_t *handle, const char *name, const void **data)
{
	(void)handle;
	(void)name;
	(void)data;
	_exit(99);
}

static int
refused(struct ring_file *file)
{
	static const struct call_pam pam = { forbidden_item, forbidden_data,
					     NULL };
	struct call_site site = { .handle = (pam_handle_t *)file,
				  .kind = KIND_CALL };
	struct call_frame frame;
	struct record record = { 0 };
	int descriptors = open_descriptors();

	call_prepare();
	ring_attach(file->path);
	NEED(open_descriptors() == descriptors);
	NEED(!ring_enter());
	NEED(!emit_begin(&record, NULL));
	NEED(record.span == 0);
	emit_end(&record, NULL);
	call_loaded("x", 0, 0);
	call_enter(&frame, &pam, &site);
	call_leave(&frame, &pam, PAM_SUCCESS);
	return 0;
}

/* And in a child, which might try for itself. */
static int
refused_with_child(struct ring_file *file)
{
	struct record record = { 0 };

	NEED(refused(file) == 0);
	NEED(in_child(refused, file) == 0);
	NEED(!emit_begin(&record, NULL));
	return 0;
}

static int
accepted(struct ring_file *file)
{
	ring_attach(file->path);
	NEED(ring_enter());
	ring_leave();
	return 0;
}

static void
one(const struct row *row)
{
	struct ring_file file, original;
	bool is_good = row->spoil == good;

	ring_file_make(&file, 16, 0);
	original = file;
	if (row->spoil(&file) == 0 &&
	    in_child(is_good ? accepted : refused_with_child, &file) != 0) {
		(void)printf("%s ... ", row->name);
		CU_FAIL("not as it should be");
	}
	if (row->spoil != empty && row->spoil != header_only)
		CU_ASSERT_EQUAL(original.header->transactions,
				row->spoil == garbage ? 0xa5a5a5a5a5a5a5a5 : 0);
	if (strncmp(file.path, original.path, strlen(original.path)) == 0)
		(void)remove(file.path);
	ring_file_remove(&original);
}

static void
all(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		one(&rows[i]);
}

void ring_refused_tests(void);

void
ring_refused_tests(void)
{
	static const struct test_row tests[] = { { "all", all } };

	TEST_SUITE("ring_refused", tests);
}
