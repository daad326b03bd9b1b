/*
 * Names become files here: folders are listed, heads are peeked at, and
 * everything is put in order. Ids and times go on from one segment of a ring
 * to the next, so that the order decides what a login is.
 */
#include "stream_files.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../base/alloc.h"
#include "../base/message.h"
#include "stream_input.h"

static bool
ends_with(const char *name, const char *ending)
{
	size_t length = strlen(name), end = strlen(ending);

	return length > end && strcmp(name + length - end, ending) == 0;
}

static int
is_segment(const struct dirent *entry)
{
	const char *name = entry->d_name;

	return name[0] != '.' &&
	       (ends_with(name, ".seg") || ends_with(name, ".seg.gz") ||
		ends_with(name, ".seg.zst"));
}

/* Reads the head and the number of the first slot. */
static int
peek(struct stream_file *file, struct error *error)
{
	struct stream_input input;
	struct rule_map *map = NULL;
	const struct record *slots;
	size_t count = 0;
	int result = stream_input_open(&input, file->path, error);

	if (result)
		return result;
	result = stream_input_head(&input, &file->header, &map, error);
	if (!result && file->header.slot_count)
		file->ring = true;
	else if (!result)
		result = stream_input_slots(&input, &slots, &count, error);
	if (!result && count)
		file->first = slots[0].generation;
	rule_map_free(map);
	stream_input_close(&input);
	return result;
}

static int
add_file(struct stream_files *files, const char *path, struct error *error)
{
	struct stream_file file = { .path = alloc_string(path) };
	int result = 0;

	file.standard = strcmp(path, "-") == 0;
	if (!file.standard)
		result = peek(&file, error);
	if (result) {
		free(file.path);
		return result;
	}
	if (files->count == files->size) {
		files->size = files->size * 2 + 16;
		files->files = alloc_array(files->files, files->size,
					   sizeof(*files->files));
	}
	files->files[files->count++] = file;
	return 0;
}

static int
add_folder(struct stream_files *files, const char *path, struct error *error)
{
	struct dirent **entries;
	int count = scandir(path, &entries, is_segment, alphasort);

	if (count < 0)
		return error_errno(error, "cannot list %s", path);
	for (int i = 0; i < count; i++) {
		char *name = alloc_format("%s/%s", path, entries[i]->d_name);
		struct error skipped;

		if (add_file(files, name, &skipped))
			message_warn("left out: %s", skipped.text);
		free(name);
		free(entries[i]);
	}
	free(entries);
	return 0;
}

int
stream_files_add(struct stream_files *files, const char *path,
		 struct error *error)
{
	struct stat status;

	if (strcmp(path, "-") != 0 && stat(path, &status) == 0 &&
	    S_ISDIR(status.st_mode))
		return add_folder(files, path, error);
	return add_file(files, path, error);
}

static int
compare_rings(const struct ring_header *a, const struct ring_header *b)
{
	int order = memcmp(a->host, b->host, sizeof(a->host));

	if (!order)
		order = memcmp(a->boot_id, b->boot_id, sizeof(a->boot_id));
	if (order)
		return order;
	return (a->transaction_base > b->transaction_base) -
	       (a->transaction_base < b->transaction_base);
}

bool
stream_one_ring(const struct ring_header *a, const struct ring_header *b)
{
	return compare_rings(a, b) == 0;
}

static int
compare(const void *left, const void *right)
{
	const struct stream_file *a = left, *b = right;
	int order = a->standard - b->standard;

	if (!order)
		order = compare_rings(&a->header, &b->header);
	if (!order)
		order = a->ring - b->ring;
	return order ? order : (a->first > b->first) - (a->first < b->first);
}

void
stream_files_sort(struct stream_files *files)
{
	if (files->count)
		qsort(files->files, files->count, sizeof(*files->files),
		      compare);
}

void
stream_files_free(struct stream_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->files[i].path);
	free(files->files);
	memset(files, 0, sizeof(*files));
}
