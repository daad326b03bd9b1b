/*
 * The assembler, case by case: scripts of records on one side, trees and
 * losses on the other. Spans are named by the claim of their begin, from 1.
 * Random trees are in assemble_random_test.c.
 */
#include "../test.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../pamprof/trace/group.h"
#include "tape.h"

/* name, script, trees and losses. */
static const char *const scripts[][3] = {
	{ "a whole run", "+R +S L L - T5 +P +C - +C +V - - - +E - -",
	  "R1(P2(L3 L4) P6(C7 C9(V10)) P14)" },
	{ "two runs", "+R +P - - +R +P - -", "R1(P2) R5(P6)" },
	{ "a module that drives libpam itself", "+R T5 +P +C T6 +C - T5 - - -",
	  "R1(P2(C3(C4)))" },
	{ "a call outside any phase", "+R T5 +C - -", "R1(C2)" },
	{ "production: calls without phases", "T5 +C +V - - +C -",
	  "T5(C1(V2) C5)" },
	{ "a module loaded where no phase is recorded", "L T5 +C -",
	  "T0(L1) T5(C2)" },
	{ "trace: phases without a run", "T5 +S L - +P +C - - +E - T6 +C -",
	  "T5(P1(L2) P4(C5) P8) T6(C10)" },
	{ "trace: a transaction known at the end of pam_start only",
	  "+S L T5 - T5 +C -", "T0(P1(L2)) T5(C4)" },
	{ "a handle inside a handle ends first",
	  "T5 +S - +P +C T6 +S - +C - +E - T5 - - +E -",
	  "T5(P1 P3(C4(P5 C7 P9)) P13)" },
	{ "two transactions on two threads",
	  "@0 T5 +C @1 T6 +C @0 +V @1 +V @0 - - @1 - -",
	  "T5(C1(V3)) T6(C2(V4))" },
	{ "two runs on two threads",
	  "@0 +R +P @1 +R +P @0 ~ T5 +C @1 T6 +C @0 - - - @1 - - -",
	  "R1(P2(C5)) R3(P4(C6))" },
	{ "overlapping handles on one thread",
	  "T5 +C - T6 +C - T5 +C - T6 +C -", "T5(C1 C5) T6(C3 C7)" },
	{ "a forked child", "+R T5 +P +C @1 +C - @0 - - -", "R1(P2(C3 C4))" },
	{ "a forked child, the phase not knowing the transaction",
	  "+R +P T5 +C @1 +C - @0 - - -", "R1(P2(C3 C4))" },
	{ "a forked child without a run", "T5 +C @1 +C - @0 -", "T5(C1 C2)" },
	{ "a forked child that outlives the phase",
	  "+R T5 +P +C @1 +C @0 - - @1 - @0 -", "R1(P2(C3) C4)" },
	{ "a forked child that outlives the run",
	  "+R T5 +P +C @1 +C @0 - - - @1 -", "R1(P2(C3) C4!) orphaned=1" },
	{ "killed in a prompt", "+R T5 +P +C - +C +V X",
	  "R1(P2!(C3 C5!(V6!)))" },
	{ "hung: nothing more comes", "+R T5 +P +C", "R1!(P2!(C3!))" },
	{ "hung without a run", "T5 +C +V", "T5!(C1!(V2!))" },
	{ "begin only, of an inner span", "+R T5 +P +C ! - - -",
	  "R1(P2(C3!))" },
	{ "begin only, and a sibling after it", "+R T5 +P +C ! - +C - - -",
	  "R1(P2(C3! C5))" },
	{ "end only, of a call", "+R T5 +P ! +C - - -", "R1(P2(C3))" },
	{ "end only, of a phase", "+R T5 ! +P +C - - -", "R1(P2(C3))" },
	{ "end only, of a run", "! +R T5 +P +C - - -", "R1(P2(C3))" },
	{ "end only, of a run and its phase", "! +R T5 ! +P +C - - -",
	  "R1(P2(C3))" },
	{ "a run that is not there at all", "! +R T5 +P +C - - ! -",
	  "T5(P2(C3)) orphaned=1" },
	{ "a call that is not there at all", "+R T5 +P ! +C +V - ! - - -",
	  "R1(P2) T5(V4) orphaned=1" },
	{ "the run's end is lost, the next run is not its child",
	  "+R T5 +P +C - - ! - ~ T6 +C - T7 +R +P - -",
	  "R9(P10) R1!(P2(C3)) T6(C7)" },
	{ "an end twice", "+R T5 +P +C 2 - - -", "R1(P2(C3)) duplicated=1" },
	{ "a begin twice", "+R T5 +P 2 +C - - -", "R1(P2(C3)) duplicated=1" },
	{ "the run's end twice", "+R T5 +P - 2 -", "R1(P2) duplicated=1" },
	{ "a forked child the run knows nothing of", "+R T5 @1 +C @0 - @1 -",
	  "R1 T5(C2)" },
	{ "loss within a run before its only transaction is known",
	  "+R +P T5 ! L +C - T0 - -", "R1(P2(C4))" },
};

static void
play_scripts(void)
{
	struct tape *tape = malloc(sizeof(*tape));

	for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++) {
		tape_open(tape, NULL, NULL);
		tape_play(tape, scripts[i][1]);
		assembler_finish(tape->assembler);
		tape_print_loss(&tape->out, assembler_loss(tape->assembler));
		if (strcmp(tape->out.data, scripts[i][2]) != 0) {
			(void)fprintf(stderr, "%s: %s\n  is  %s\n  not %s\n",
				      scripts[i][0], scripts[i][1],
				      tape->out.data, scripts[i][2]);
			CU_FAIL("trees differ");
		}
		tape_close(tape);
	}
	free(tape);
}

/* Fields of one byte or more, and values that cannot be. */
static const struct {
	size_t offset, size;
	uint64_t value;
} nonsense[] = {
#define IMPOSSIBLE(field, value)                                               \
	{                                                                      \
		offsetof(struct record, field),                                \
		    sizeof(((struct record *)0)->field), (uint64_t)(value)     \
	}
	IMPOSSIBLE(version, 0),
	IMPOSSIBLE(version, RECORD_VERSION + 1),
	IMPOSSIBLE(type, 0),
	IMPOSSIBLE(type, RECORD_TEXT + 1),
	IMPOSSIBLE(kind, 0),
	IMPOSSIBLE(kind, KIND_LOAD + 1),
	IMPOSSIBLE(kind, 255),
	IMPOSSIBLE(phase, PHASE_COUNT),
	IMPOSSIBLE(phase, PHASE_NONE),
	IMPOSSIBLE(phase, PHASE_START),
	IMPOSSIBLE(phase, PHASE_END),
	IMPOSSIBLE(phase, PHASE_CHAUTHTOK),
	IMPOSSIBLE(category, CATEGORY_COUNT),
	IMPOSSIBLE(outcome, OUTCOME_EXIT + 1),
	IMPOSSIBLE(text_slots, RECORD_TEXT_MAX + 1),
	IMPOSSIBLE(valid, 1u << 4),
	IMPOSSIBLE(pid, 0),
	IMPOSSIBLE(pid, -1),
	IMPOSSIBLE(tid, 0),
	IMPOSSIBLE(start_ns, UINT64_MAX),
	IMPOSSIBLE(duration_ns, UINT64_MAX),
	IMPOSSIBLE(prompt_ns, 6),
	IMPOSSIBLE(span, 0),
	IMPOSSIBLE(span, 3),
	IMPOSSIBLE(span, UINT64_MAX),
	IMPOSSIBLE(parent, 1),
	IMPOSSIBLE(parent, UINT64_MAX),
};

/* A call that began as 1 and ends as 2. */
static struct record
plausible(void)
{
	struct record record = { .version = RECORD_VERSION,
				 .type = RECORD_END,
				 .kind = KIND_CALL,
				 .phase = PHASE_AUTHENTICATE,
				 .outcome = OUTCOME_RETURNED,
				 .span = 1,
				 .start_ns = 10,
				 .duration_ns = 5,
				 .prompt_ns = 5,
				 .transaction = 7,
				 .pid = 100,
				 .tid = 100 };

	return record;
}

static void
refuse_nonsense(void)
{
	struct tape *tape = malloc(sizeof(*tape));

	for (size_t i = 0; i < sizeof(nonsense) / sizeof(*nonsense); i++) {
		struct record record = plausible();

		tape_open(tape, NULL, NULL);
		tape->generation = 1;
		memcpy((char *)&record + nonsense[i].offset, &nonsense[i].value,
		       nonsense[i].size);
		tape_feed(tape, &record);
		assembler_finish(tape->assembler);
		if (assembler_loss(tape->assembler)->nonsense != 1 ||
		    tape->out.length) {
			(void)fprintf(stderr, "row %zu: offset %zu: %s\n", i,
				      nonsense[i].offset, tape->out.data);
			CU_FAIL("nonsense was taken");
		}
		tape_close(tape);
	}
	free(tape);
}

/* The row above them all must not be refused for another reason. */
static void
take_plausible(void)
{
	struct tape *tape = malloc(sizeof(*tape));
	struct record record = plausible();

	tape_open(tape, NULL, NULL);
	tape->generation = 1;
	tape_feed(tape, &record);
	assembler_finish(tape->assembler);
	CU_ASSERT_STRING_EQUAL(tape->out.data, "T7(C1)");
	CU_ASSERT_EQUAL(assembler_loss(tape->assembler)->nonsense, 0);
	tape_close(tape);
	free(tape);
}

static char long_text[RECORD_TEXT_SIZE * RECORD_TEXT_MAX + 1];

static void
make_long_text(void)
{
	for (size_t i = 0; i + 1 < sizeof(long_text); i++)
		long_text[i] = (char)('a' + i % 23);
}

/* Checks the object of the first child. */
static void
check_object(void *context, const struct span *root)
{
	CU_ASSERT_PTR_NOT_NULL_FATAL(root->children);
	CU_ASSERT_STRING_EQUAL(root->children->object, (char *)context);
	CU_ASSERT_STRING_EQUAL(root->children->service, "sshd");
	CU_ASSERT_STRING_EQUAL(root->children->tty, "");
}

/* A call whose object is text; bare loses the text slots of its end. */
static void
try_object(const char *text, const char *expected, bool bare)
{
	struct tape *tape = malloc(sizeof(*tape));

	tape_open(tape, check_object, (char *)expected);
	tape_begin(tape, KIND_CALL, PHASE_AUTHENTICATE, text);
	tape->bare = bare;
	tape_end(tape, text);
	assembler_finish(tape->assembler);
	tape_close(tape);
	free(tape);
}

static void
join_text(void)
{
	static const size_t lengths[] = { 0,   1,   38,  39,  40,  41,
					  207, 208, 209, 416, 417, 624 };
	char text[sizeof(long_text)];
	char prefix[41];

	make_long_text();
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		(void)snprintf(text, sizeof(text), "%.*s", (int)lengths[i],
			       long_text);
		try_object(text, text, false);
		(void)snprintf(prefix, sizeof(prefix), "%.40s", text);
		try_object(text, prefix, true);
	}
}

/* Text whose owner was lost, and text that claims another owner. */
static void
refuse_orphan_text(void)
{
	struct tape *tape = malloc(sizeof(*tape));
	struct record_text text = { .version = RECORD_VERSION,
				    .type = RECORD_TEXT,
				    .field = FIELD_OBJECT,
				    .length = 10,
				    .span = 1 };
	struct record record = plausible();

	tape_open(tape, NULL, NULL);
	tape_feed(tape, (struct record *)&text);
	CU_ASSERT_EQUAL(assembler_loss(tape->assembler)->orphaned, 1);
	record.text_slots = 2;
	memset(record.object, 'x', sizeof(record.object));
	tape_feed(tape, &record);
	text.transaction = 7;
	text.span = 2;
	tape_feed(tape, (struct record *)&text);
	CU_ASSERT_EQUAL(assembler_loss(tape->assembler)->orphaned, 2);
	text.span = 1;
	text.part = 1;
	tape_feed(tape, (struct record *)&text);
	CU_ASSERT_EQUAL(assembler_loss(tape->assembler)->orphaned, 3);
	assembler_finish(tape->assembler);
	CU_ASSERT_STRING_EQUAL(tape->out.data, "T7(C1)");
	tape_close(tape);
	free(tape);
}

struct handles {
	uint64_t roots, calls;
};

static void
count_handles(void *context, const struct span *root)
{
	struct handles *handles = context;

	handles->roots++;
	for (const struct span *c = root->children; c; c = c->next) {
		CU_ASSERT_EQUAL(c->record.transaction,
				root->record.transaction);
		CU_ASSERT(!c->next ||
			  c->record.start_ns <= c->next->record.start_ns);
		handles->calls += c->record.kind == KIND_CALL;
	}
}

static void
thousand_sequential(void)
{
	struct tape *tape = malloc(sizeof(*tape));
	struct handles handles = { 0 };

	tape_open(tape, count_handles, &handles);
	for (tape->transaction = 1; tape->transaction <= 1000;
	     tape->transaction++) {
		tape_play(tape, "+S - +C - +C - +E -");
		/* Each is out as soon as it is over. */
		CU_ASSERT_EQUAL(handles.roots, tape->transaction);
	}
	assembler_finish(tape->assembler);
	CU_ASSERT_EQUAL(handles.roots, 1000);
	CU_ASSERT_EQUAL(handles.calls, 2000);
	tape_close(tape);
	free(tape);
}

static void
thousand_overlapping(void)
{
	struct tape *tape = malloc(sizeof(*tape));
	struct handles handles = { 0 };

	tape_open(tape, count_handles, &handles);
	for (int round = 0; round < 3; round++)
		for (tape->transaction = 1; tape->transaction <= 1000;
		     tape->transaction++)
			tape_play(tape, "+C -");
	CU_ASSERT_EQUAL(handles.roots, 0);
	assembler_finish(tape->assembler);
	CU_ASSERT_EQUAL(handles.roots, 1000);
	CU_ASSERT_EQUAL(handles.calls, 3000);
	tape_close(tape);
	free(tape);
}

/* A hundred thousand times more transactions than may be held. */
static void
bounded(void)
{
	struct tape *tape = malloc(sizeof(*tape));
	struct handles handles = { 0 };
	uint64_t count = GROUP_NODES_MAX + 100000;

	tape_open(tape, count_handles, &handles);
	for (tape->transaction = 1; tape->transaction <= count;
	     tape->transaction++)
		tape_play(tape, "+C -");
	CU_ASSERT_EQUAL(handles.roots, 100000);
	assembler_finish(tape->assembler);
	CU_ASSERT_EQUAL(handles.roots, count);
	CU_ASSERT_EQUAL(assembler_loss(tape->assembler)->dropped, 0);
	tape_close(tape);
	free(tape);
}

/* Runs are never let go: what does not fit is counted. */
static void
bounded_runs(void)
{
	struct tape *tape = malloc(sizeof(*tape));

	tape_open(tape, NULL, NULL);
	tape_play(tape, "+R T5 +P");
	for (unsigned i = 0; i < GROUP_NODES_MAX; i++)
		tape_play(tape, "+C -");
	CU_ASSERT_EQUAL(tape->out.length, 0);
	/* Its begin and its end. */
	CU_ASSERT_EQUAL(assembler_loss(tape->assembler)->dropped, 4);
	tape_close(tape);
	free(tape);
}

static void
check_durations(void *context, const struct span *root)
{
	const struct span *phase = root->children, *first, *second;

	(void)context;
	CU_ASSERT_PTR_NOT_NULL_FATAL(phase);
	first = phase->children;
	CU_ASSERT_PTR_NOT_NULL_FATAL(first);
	second = first->next;
	CU_ASSERT_PTR_NOT_NULL_FATAL(second);
	CU_ASSERT_EQUAL(root->record.duration_ns, 6 * TAPE_STEP);
	CU_ASSERT_EQUAL(phase->record.duration_ns, 5 * TAPE_STEP);
	CU_ASSERT_EQUAL(first->record.duration_ns, TAPE_STEP);
	CU_ASSERT_EQUAL(second->record.duration_ns, 2 * TAPE_STEP);
	CU_ASSERT_EQUAL(second->children->record.duration_ns, TAPE_STEP);
	CU_ASSERT_PTR_EQUAL(second->children->parent, second);
	CU_ASSERT_PTR_EQUAL(second->parent, phase);
	CU_ASSERT_PTR_NULL(root->parent);
}

/* Unfinished spans of a killed run last until its end. */
static void
killed_durations(void)
{
	struct tape *tape = malloc(sizeof(*tape));

	tape_open(tape, check_durations, NULL);
	tape_play(tape, "+R T5 +P +C - +C +V X");
	tape_close(tape);
	free(tape);
}

void
assemble_tests(void)
{
	static const struct test_row rows[] = {
		{ "scripts", play_scripts },
		{ "nonsense is refused", refuse_nonsense },
		{ "what is possible is taken", take_plausible },
		{ "text is joined", join_text },
		{ "text without its owner", refuse_orphan_text },
		{ "1,000 handles one after the other", thousand_sequential },
		{ "1,000 handles at once", thousand_overlapping },
		{ "transactions held are bounded", bounded },
		{ "a run's spans are bounded", bounded_runs },
		{ "unfinished spans last to the end", killed_durations },
	};

	TEST_SUITE("assemble", rows);
}
