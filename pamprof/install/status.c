/*
 * The state of a host in words. Apart from the verb because nothing here
 * changes anything, and the verb does.
 */
#include "status.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../../modules/ring_header.h"
#include "../base/alloc.h"
#include "../trace/ring_file.h"
#include "layout.h"
#include "restore.h"
#include "service.h"

static void
write_time(struct buffer *out, const char *word, int64_t when)
{
	time_t at = (time_t)when;
	struct tm local;
	char text[40];

	(void)localtime_r(&at, &local);
	(void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &local);
	buffer_format(out, "%s %s", word, text);
}

static unsigned
write_entry(struct buffer *out, const struct state *state,
	    const struct state_entry *entry)
{
	static const char *const words[] = {
		[STEP_PREPARING] = "being prepared",
		[STEP_SWITCHING] = "being switched",
		[STEP_ACTIVE] = "instrumented",
		[STEP_RESTORING] = "being restored",
		[STEP_RETIRED] = "restored",
	};
	unsigned wanted = 0;

	buffer_format(out, "%s: %s", entry->service, words[entry->step]);
	write_time(out, entry->step == STEP_RETIRED ? "" : " since",
		   entry->step == STEP_RETIRED ? entry->retired : entry->since);
	if (entry->step == STEP_ACTIVE && entry->until != 0) {
		write_time(out, ", until", entry->until);
		buffer_format(out, " by %s",
			      entry->timer ? entry->timer : "no timer");
	}
	if (entry->step == STEP_RETIRED)
		buffer_text(out, ", its timing modules go with the next "
				 "command after a minute");
	if (entry->step == STEP_ACTIVE)
		buffer_format(out, ", %u rules, %u left alone", entry->wrapped,
			      entry->left);
	buffer_char(out, '\n');
	if (entry->step == STEP_RETIRED)
		return 0;
	if (!restore_shims_present(entry)) {
		wanted++;
		buffer_text(out, "  broken: timing modules are missing\n");
	}
	return wanted + service_changes(state, entry, out);
}

static unsigned
write_ring(struct buffer *out)
{
	struct ring_header header = { 0 };
	struct stat st;
	FILE *in = fopen(PRODUCTION_RING, "re");
	uint64_t lost;

	if (in == NULL || fstat(fileno(in), &st) != 0 ||
	    fread(&header, sizeof(header), 1, in) != 1 ||
	    ring_header_check(&header, PRODUCTION_RING, NULL) != 0) {
		buffer_text(out, "ring: none at " PRODUCTION_RING
				 ", so nothing is recorded\n");
		if (in != NULL)
			(void)fclose(in);
		return 1;
	}
	(void)fclose(in);
	lost = header.head > header.slot_count ? header.head - header.slot_count
					       : 0;
	buffer_format(out,
		      "ring: " PRODUCTION_RING ", %jd bytes, %" PRIu64
		      " slots written, %" PRIu64
		      " of them overwritten, %" PRIu64 " records dropped\n",
		      (intmax_t)st.st_size, (uint64_t)header.head, lost,
		      (uint64_t)header.dropped);
	return 0;
}

static void
write_segments(struct buffer *out)
{
	DIR *dir = opendir(PRODUCTION_SEGMENTS);
	const struct dirent *entry;
	intmax_t bytes = 0;
	unsigned count = 0;
	struct stat st;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		if (fstatat(dirfd(dir), entry->d_name, &st,
			    AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		count++;
		bytes += st.st_size;
	}
	if (dir != NULL)
		(void)closedir(dir);
	buffer_format(out,
		      "segments: %u in " PRODUCTION_SEGMENTS ", %jd bytes\n",
		      count, bytes);
}

unsigned
status_write(struct buffer *out, const struct state *state)
{
	unsigned wanted = 0, active = 0;

	for (size_t i = 0; i < state->count; i++) {
		active += state->entries[i].step != STEP_RETIRED;
		wanted += write_entry(out, state, &state->entries[i]);
	}
	if (active == 0) {
		buffer_text(out, "no service is instrumented\n");
		return wanted;
	}
	if (!layout_is_image()) {
		wanted += write_ring(out);
		write_segments(out);
	}
	service_managers(out);
	return wanted;
}
