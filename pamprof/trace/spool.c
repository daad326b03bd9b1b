/*
 * The spool. In a file and not in memory because a traced daemon may run for
 * days. Slots stay what they were, in their order, but for the numbers that
 * the editor changes; then the checksum is made anew.
 */
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../modules/checksum.h"
#include "../base/alloc.h"
#include "node.h"
#include "record_check.h"

struct spool {
	FILE *file;
	spool_edit edit;
	void *context;
	uint64_t count;
	int error_number;      /* of the first write that failed */
	struct record pending; /* waits for its text slots */
	struct node_text text;
	bool waiting;
};

int
spool_make(struct spool **spool, const char *folder, spool_edit edit,
	   void *context, struct error *error)
{
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w+");

	*spool = NULL;
	if (file == NULL) {
		error_errno(error, "%s: no file can be made there", folder);
		if (fd >= 0)
			(void)close(fd);
		return ERROR_SYSTEM;
	}
	*spool = alloc_zero(1, sizeof(**spool));
	(*spool)->file = file;
	(*spool)->edit = edit;
	(*spool)->context = context;
	return 0;
}

void
spool_free(struct spool *spool)
{
	if (spool == NULL)
		return;
	(void)fclose(spool->file);
	free(spool);
}

uint64_t
spool_count(const struct spool *spool)
{
	return spool->count;
}

static void
keep(struct spool *spool, const void *slot)
{
	spool->count++;
	if (spool->error_number == 0 &&
	    fwrite(slot, RECORD_SIZE, 1, spool->file) != 1)
		spool->error_number = errno;
}

/* Edits the record whose texts are complete, and keeps it and them. */
static void
keep_pending(struct spool *spool)
{
	struct node strings = { 0 };

	if (!spool->waiting)
		return;
	spool->waiting = false;
	node_set(&strings, &spool->pending, &spool->text);
	spool->edit(spool->context, &spool->pending, strings.span.service,
		    strings.span.object);
	node_clear(&strings);
	spool->pending.checksum = record_checksum(&spool->pending);
	keep(spool, &spool->pending);
	for (unsigned i = 0; i < spool->text.count; i++)
		keep(spool, &spool->text.part[i]);
}

void
spool_take(void *context, const struct record *slot)
{
	struct spool *spool = context;
	const struct record_text *text = record_as_text(slot);

	/* Text slots were claimed together with their record. */
	if (spool->waiting && text != NULL &&
	    node_text_add(&spool->text, &spool->pending, text)) {
		if (spool->text.count == spool->pending.text_slots)
			keep_pending(spool);
		return;
	}
	keep_pending(spool);
	if (!record_is_span(slot) || !record_is_possible(slot)) {
		keep(spool, slot);
		return;
	}
	spool->pending = *slot;
	spool->text.count = 0;
	spool->waiting = true;
	if (slot->text_slots == 0)
		keep_pending(spool);
}

int
spool_replay(struct spool *spool, slot_taker take, void *context, FILE *out,
	     struct error *error)
{
	struct record slot;

	keep_pending(spool);
	if (spool->error_number == 0 && fflush(spool->file) != 0)
		spool->error_number = errno;
	if (spool->error_number != 0) {
		errno = spool->error_number;
		return error_errno(error, "records could not be kept");
	}
	rewind(spool->file);
	while (fread(&slot, sizeof(slot), 1, spool->file) == 1) {
		take(context, &slot);
		if (out != NULL && fwrite(&slot, sizeof(slot), 1, out) != 1)
			return error_errno(error, "cannot write the recording");
	}
	return ferror(spool->file)
		   ? error_errno(error, "records could not be read back")
		   : 0;
}
