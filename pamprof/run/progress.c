/*
 * The progress bar. Apart from the loop it belongs to, which should not
 * care what a bar looks like.
 */
#include "progress.h"

#include "../../modules/emit.h"
#include "../base/message.h"

#define PATIENCE_NS 2000000000u /* a shorter measurement shows no bar */
#define INTERVAL_NS 100000000u
#define WIDTH       30

void
progress_start(struct progress *progress, unsigned long total)
{
	*progress = (struct progress){ .start_ns = emit_now(), .total = total };
}

void
progress_step(struct progress *progress, unsigned long done)
{
	uint64_t now = emit_now(), passed = now - progress->start_ns;
	char bar[WIDTH + 1];

	if (progress->total < 2 || passed < PATIENCE_NS ||
	    now - progress->shown_ns < INTERVAL_NS)
		return;
	progress->shown_ns = now;
	for (unsigned i = 0; i < WIDTH; i++)
		bar[i] = i < done * WIDTH / progress->total ? '#' : '-';
	bar[WIDTH] = '\0';
	if (done > 0)
		message_progress("[%s] %lu of %lu runs, %.0f s left", bar, done,
				 progress->total,
				 (double)passed / 1e9 / (double)done *
				     (double)(progress->total - done));
	else
		message_progress("[%s] first of %lu runs", bar,
				 progress->total);
}

void
progress_end(struct progress *progress)
{
	if (progress->shown_ns != 0)
		message_progress(NULL);
	progress->shown_ns = 0;
}
