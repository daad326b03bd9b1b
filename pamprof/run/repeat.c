/*
 * The loop over runs: which run is next, where the slots go, the bar. What
 * happens to one process is in attempt.c.
 */
#include "repeat.h"

#include "attempt.h"
#include "progress.h"

struct loop {
	const struct repeat *repeat;
	struct repeat_result *result;
	struct progress progress;
	bool unsaved;
};

static void
take(void *context, const struct record *slot)
{
	struct loop *loop = context;
	FILE *save = loop->repeat->save;

	if (save != NULL && fwrite(slot, RECORD_SIZE, 1, save) != 1)
		loop->unsaved = true;
	loop->repeat->take(loop->repeat->context, slot);
}

static void
step(void *context, unsigned long done)
{
	struct loop *loop = context;

	progress_step(&loop->progress, loop->result->done + done);
}

/* One child: one run, or all that are left. */
static int
run_some(struct loop *loop, struct ring_reader *reader, struct error *error)
{
	const struct repeat *repeat = loop->repeat;
	struct repeat_result *result = loop->result;
	struct attempt attempt = { .login = repeat->login,
				   .answers = repeat->answers,
				   .ring = repeat->ring,
				   .reader = reader,
				   .loss = &result->loss,
				   .runs = repeat->in_process
					       ? repeat->runs - result->done
					       : 1,
				   .timeout_ns = repeat->timeout_ns,
				   .quiet = result->done > 0,
				   .signals = repeat->signals,
				   .take = take,
				   .step = step,
				   .context = loop };
	int r = attempt_run(&attempt, error);

	result->done += attempt.done;
	result->denied += attempt.denied;
	result->interrupted = attempt.interrupted;
	return r;
}

int
repeat_run(const struct repeat *repeat, struct repeat_result *result,
	   struct error *error)
{
	struct loop loop = { .repeat = repeat, .result = result };
	struct ring_reader *reader;
	int r;

	*result = (struct repeat_result){ 0 };
	if ((r = ring_reader_open(&reader, repeat->ring, error)) != 0)
		return r;
	progress_start(&loop.progress, repeat->runs);
	while (r == 0 && result->done < repeat->runs && !result->interrupted)
		r = run_some(&loop, reader, error);
	progress_end(&loop.progress);
	if (r == 0 && repeat->save != NULL &&
	    (fflush(repeat->save) != 0 || loop.unsaved))
		r = error_errno(error, "the run cannot be saved");
	ring_reader_close(reader);
	return r;
}
