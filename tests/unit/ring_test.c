/*
 * The ring under writers that lap the reader and each other, and under
 * writers that are killed: no reader may ever be handed a slot that nobody
 * wrote, and the counts must add up.
 */
#include "../test.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <time.h>

#include "../../modules/emit.h"
#include "ring_file.h"

enum {
	WRITERS = 64,
	PATTERN_LENGTH = 150 /* of a host name: more than its field holds */
};

static const char letters[] = "abcdefghijklmnopqrstuvwxyz";

/* What writer w puts into its record n can be told from w and n alone. */
static uint64_t
mix(uint64_t writer, uint64_t number, unsigned salt)
{
	uint64_t x = writer * 0x9e3779b97f4a7c15u + number * 0xff51afd7u + salt;

	x ^= x >> 29;
	return x * 0xbf58476d1ce4e5b9u;
}

static void
fill_pattern(char *text, uint64_t writer, uint32_t number)
{
	for (unsigned i = 0; i < PATTERN_LENGTH; i++)
		text[i] = letters[(writer + number + i) % 26];
	text[PATTERN_LENGTH] = '\0';
}

/* A record and its strings, ready to be written. */
struct sample {
	struct record record;
	struct emit_texts texts;
	char host[PATTERN_LENGTH + 1];
};

/* Every third owns a text slot. */
static void
make_sample(struct sample *sample, uint64_t writer, uint32_t number)
{
	memset(sample, 0, sizeof(*sample));
	sample->record.transaction = writer;
	sample->record.count = number;
	sample->record.parent = mix(writer, number, 1);
	sample->record.start_ns = mix(writer, number, 2);
	sample->record.cpu_ns = mix(writer, number, 3);
	sample->record.marker = (uint32_t)mix(writer, number, 4);
	sample->texts.field[FIELD_SERVICE] = "lap";
	fill_pattern(sample->host, writer, number);
	if (number % 3 == 0)
		sample->texts.field[FIELD_RHOST] = sample->host;
}

static bool
write_one(uint64_t writer, uint32_t number)
{
	struct sample sample;

	make_sample(&sample, writer, number);
	return emit_begin(&sample.record, &sample.texts);
}

static bool
is_right_text(const struct record_text *text)
{
	/* The first letter says which record the text belongs to. */
	unsigned first = (unsigned)(text->text[0] - 'a');

	if (text->length != PATTERN_LENGTH || text->field != FIELD_RHOST)
		return false;
	for (unsigned i = 0; i < PATTERN_LENGTH; i++) {
		if (text->text[i] != letters[(first + i) % 26])
			return false;
	}
	return true;
}

/* Whether a slot is, in every byte, one that some writer wrote. */
static bool
is_right(const struct record *record)
{
	uint64_t w = record->transaction;
	uint32_t n = record->count;
	char host[PATTERN_LENGTH + 1];
	bool long_host = n % 3 == 0;

	if (record->type == RECORD_TEXT)
		return is_right_text((const struct record_text *)record);
	fill_pattern(host, w, n);
	return record->type == RECORD_BEGIN && w >= 1 && w <= WRITERS &&
	       record->span == record->generation &&
	       record->parent == mix(w, n, 1) &&
	       record->start_ns == mix(w, n, 2) &&
	       record->cpu_ns == mix(w, n, 3) &&
	       record->marker == (uint32_t)mix(w, n, 4) &&
	       record->text_slots == long_host &&
	       strcmp(record->service, "lap") == 0 &&
	       memcmp(record->rhost, long_host ? host : "",
		      long_host ? 40 : 1) == 0;
}

static void
drain(struct ring_file *file, bool final)
{
	struct record record;

	while (ring_file_take(file, final, &record))
		CU_ASSERT_FATAL(is_right(&record));
}

/* A writer that starts with the others and writes `count` records. */
static pid_t
start_writer(const struct ring_file *file, uint64_t writer, uint32_t count)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	alarm(120);
	ring_attach(file->path);
	for (uint32_t n = 0; n < count; n++) {
		if (!write_one(writer, n))
			_exit(1);
	}
	_exit(0);
}

/* Drains until all writers have ended; returns how many ended well. */
static unsigned
drain_writers(struct ring_file *file, pid_t *pids)
{
	unsigned left = WRITERS, well = 0;

	while (left > 0) {
		drain(file, false);
		for (unsigned w = 0; w < WRITERS; w++) {
			int status;

			if (pids[w] <= 0 ||
			    waitpid(pids[w], &status, WNOHANG) != pids[w])
				continue;
			pids[w] = 0;
			left--;
			well += WIFEXITED(status) && WEXITSTATUS(status) == 0;
		}
	}
	drain(file, true);
	return well;
}

static void
lap(uint64_t slots, uint32_t records)
{
	struct ring_file file;
	pid_t pids[WRITERS];
	/* records 0, 3, 6, ... own a text slot */
	uint64_t claims = WRITERS * (records + (records + 2) / 3);

	ring_file_make(&file, slots, 0);
	for (unsigned w = 0; w < WRITERS; w++)
		pids[w] = start_writer(&file, w + 1, records);
	CU_ASSERT_EQUAL(drain_writers(&file, pids), WRITERS);
	CU_ASSERT_EQUAL(file.header->head, claims);
	CU_ASSERT_EQUAL(file.taken + file.torn + file.overwritten +
			    file.header->dropped,
			claims);
	CU_ASSERT(file.taken > 0);
	ring_file_remove(&file);
}

static void
lapped_by_many(void)
{
	lap(4, 2000); /* writers lap each other */
	lap(256, 4000);
	lap(4096, 4000);
}

/* With room for all of it nothing is lost and order is that of claims. */
static void
nothing_lost(void)
{
	struct ring_file file;
	pid_t pids[WRITERS];

	ring_file_make(&file, 1 << 15, 0);
	for (unsigned w = 0; w < WRITERS; w++)
		pids[w] = start_writer(&file, w + 1, 300);
	CU_ASSERT_EQUAL(drain_writers(&file, pids), WRITERS);
	CU_ASSERT_EQUAL(file.taken, WRITERS * 400);
	CU_ASSERT_EQUAL(file.torn + file.overwritten, 0);
	ring_file_remove(&file);
}

static void
killed_at_random(void)
{
	struct ring_file file;
	pid_t pids[WRITERS];

	ring_file_make(&file, 1 << 14, 0);
	srandom(7);
	for (unsigned round = 0; round < 8; round++) {
		for (unsigned w = 0; w < WRITERS; w++)
			pids[w] = start_writer(&file, w + 1, UINT32_MAX);
		for (unsigned w = 0; w < WRITERS; w++) {
			struct timespec wait = { .tv_nsec =
						     random() % 1000000 };

			nanosleep(&wait, NULL);
			kill(pids[w], SIGKILL);
		}
		CU_ASSERT_EQUAL(drain_writers(&file, pids), 0);
	}
	CU_ASSERT(file.taken > 0);
	CU_ASSERT_EQUAL(file.taken + file.torn + file.overwritten,
			file.header->head);
	ring_file_remove(&file);
}

/* Writes two records between two stops, for its parent to step through. */
static pid_t
start_stepped(const struct ring_file *file)
{
	struct sample plain, with_text;
	pid_t pid;
	int status;

	make_sample(&plain, 2, 2);
	make_sample(&with_text, 3, 3);
	pid = fork();
	if (pid == 0) {
		alarm(120);
		ring_attach(file->path);
		write_one(1, 1);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		emit_begin(&plain.record, &plain.texts);
		emit_begin(&with_text.record, &with_text.texts);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return -1;
	return pid;
}

/* One instruction; false when the process has ended. */
static bool
step(pid_t pid)
{
	int status;

	return ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == 0 &&
	       waitpid(pid, &status, 0) == pid && WIFSTOPPED(status);
}

/*
 * What a reader finds if the writer ends here. A slot is taken right or is
 * counted; nothing that was whole before is lost, but what it replaces.
 */
static void
check_ended_here(struct ring_file *file)
{
	uint64_t head;
	struct ring_file reader = *file;

	reader.next = reader.taken = reader.torn = reader.overwritten = 0;
	head = reader.header->head;
	drain(&reader, true);
	CU_ASSERT_FATAL(reader.taken + reader.torn + reader.overwritten ==
			head);
	/* one of three records, not more, may be between claim and close */
	CU_ASSERT_FATAL(reader.torn <= 2);
}

/*
 * Every instruction of two records, one with text: memory is what it would
 * be if the writer were killed there. Some of them are killed indeed.
 */
static void
killed_at_every_instruction(void)
{
	struct ring_file file;
	unsigned steps = 0;
	pid_t pid;
	int status;

	ring_file_make(&file, 4, 0);
	pid = start_stepped(&file);
	CU_ASSERT_FATAL(pid > 0);
	for (; step(pid); steps++)
		check_ended_here(&file);
	CU_ASSERT(steps > 300);
	CU_ASSERT_EQUAL(file.header->head, 4);
	ring_file_remove(&file);
	for (unsigned n = 0; n < steps; n += 101) {
		ring_file_make(&file, 2, 0);
		pid = start_stepped(&file);
		CU_ASSERT_FATAL(pid > 0);
		for (unsigned i = 0; i < n; i++)
			step(pid);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		check_ended_here(&file);
		ring_file_remove(&file);
	}
}

/* Another writer writes `count` records meanwhile. */
static void
write_meanwhile(const struct ring_file *file, uint32_t count)
{
	pid_t pid = start_writer(file, 5, count);
	int status = -1;

	CU_ASSERT(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
}

/*
 * A writer stopped at an instruction for more than a lap, which then goes
 * on: two writers in one slot, and neither may come out as the other.
 */
static void
overtaken_at_every_instruction(void)
{
	struct ring_file file;
	bool ended = false;
	int status;

	for (unsigned n = 1; !ended; n += 13) {
		pid_t pid;

		ring_file_make(&file, 2, 0);
		pid = start_stepped(&file);
		CU_ASSERT_FATAL(pid > 0);
		for (unsigned i = 0; i < n && !ended; i++)
			ended = !step(pid);
		write_meanwhile(&file, 4);
		check_ended_here(&file);
		for (unsigned i = 0; i < 40 && !ended; i++) {
			ended = !step(pid);
			check_ended_here(&file);
		}
		if (!ended) {
			ptrace(PTRACE_DETACH, pid, NULL, NULL);
			waitpid(pid, &status, 0);
			ended = false;
		}
		check_ended_here(&file);
		ring_file_remove(&file);
	}
}

/* A writer that sleeps between claim and put for a lap writes nothing. */
static int
late_writer(struct ring_file *file)
{
	struct record late = { .type = RECORD_BEGIN };
	uint64_t index;

	ring_attach(file->path);
	NEED(ring_enter());
	index = ring_claim(1);
	for (unsigned n = 0; n < file->header->slot_count + 1; n++)
		NEED(write_one(1, 1));
	ring_put(index, &late);
	ring_leave();
	return 0;
}

static void
late_writers_drop(void)
{
	struct ring_file file;
	struct ring_header *header;

	ring_file_make(&file, 8, 0);
	header = file.header;
	madvise(header, file.size, MADV_DOFORK);
	CU_ASSERT_EQUAL(in_child(late_writer, &file), 0);
	drain(&file, true);
	CU_ASSERT_EQUAL(file.taken, 8);
	CU_ASSERT_EQUAL(file.torn, 0);
	CU_ASSERT_EQUAL(file.overwritten, 2);
	ring_file_remove(&file);
}

void ring_tests(void);

void
ring_tests(void)
{
	static const struct test_row rows[] = {
		{ "late_writers_drop", late_writers_drop },
	};
	/* Too many processes for valgrind. */
	static const struct test_row many[] = {
		{ "nothing_lost", nothing_lost },
		{ "killed_at_random", killed_at_random },
	};
	static const struct test_row slow[] = {
		{ "lapped_by_many", lapped_by_many },
		{ "killed_at_every_instruction", killed_at_every_instruction },
		{ "overtaken_at_every_instruction",
		  overtaken_at_every_instruction },
	};
	CU_pSuite suite;

	TEST_SUITE("ring", rows);
	test_external(TEST_SUITE("ring_writers", many));
	suite = TEST_SUITE("ring_slow", slow);
	test_slow(suite);
	test_external(suite);
}
