/*
 * The assembler against random trees: threads that run by turns write spans
 * that begin and end properly nested; what comes out is compared with what
 * was meant. With all slots there the trees are the same; with slots lost
 * no span may have a parent that is not truly around it.
 */
#include "../test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tape.h"

enum {
	STEPS = 2500,
	SEEDS = 150,
	SPANS = 2 * STEPS,
	NAME_SIZE = 600,
	RUN_LANES = 3,   /* 0.. : runs with phases */
	CALL_LANES = 3,  /* then: production, three handles each */
	PHASE_LANES = 3, /* then: transactions with phases, two handles */
	CHILD_LANE = RUN_LANES + CALL_LANES + PHASE_LANES
};

/* A span as it was meant; index is its id. */
struct meant {
	uint64_t parent; /* 0: none */
	uint64_t start, duration, transaction;
	uint8_t kind, phase;
	bool ended, lost; /* lost: one of its records was */
	unsigned seen;
};

struct world {
	struct tape tape;
	uint64_t seed, transactions;
	unsigned loss; /* of 1000 slots */
	struct meant meant[SPANS];
	uint64_t handles[CHILD_LANE][3]; /* 0: not started */
	uint64_t run[RUN_LANES];
	uint64_t made, wrong;
};

static uint64_t
draw(struct world *world, uint64_t limit)
{
	uint64_t x = world->seed += 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return (x ^ (x >> 31)) % limit;
}

/* Every fifth span has a name that needs text slots. */
static const char *
name_of(uint64_t id, char name[NAME_SIZE])
{
	(void)snprintf(name, NAME_SIZE, "%" PRIu64 "%0*d", id,
		       id % 5 ? 1 : (int)(id % 97) * 5 + 40, 7);
	return name;
}

static void
complain(struct world *world, const struct span *span, const char *what)
{
	if (world->wrong++ < 5)
		(void)fprintf(stderr, "span %" PRIu64 ": %s\n",
			      span->record.span, what);
}

/* Whether the parent is truly around the span, nearest or not. */
static bool
is_around(const struct world *world, uint64_t parent, uint64_t id)
{
	while (id && id != parent)
		id = world->meant[id].parent;
	return id == parent;
}

static void
check_parent(struct world *world, const struct span *span)
{
	const struct meant *meant = &world->meant[span->record.span];
	uint64_t parent = 0;

	if (span->parent && span->parent->record.kind)
		parent = span->parent->record.span;
	if (!world->loss && parent != meant->parent)
		complain(world, span, "has another parent");
	if (parent && !is_around(world, parent, span->record.span))
		complain(world, span, "has a wrong parent");
}

static void
check_values(struct world *world, const struct span *span)
{
	const struct meant *meant = &world->meant[span->record.span];
	const struct record *record = &span->record;
	char name[NAME_SIZE];
	size_t length = strlen(span->object);

	name_of(record->span, name);
	if (record->start_ns != meant->start || record->kind != meant->kind ||
	    record->transaction != meant->transaction)
		complain(world, span, "has other values");
	if (!span->unfinished && record->duration_ns != meant->duration)
		complain(world, span, "has another duration");
	if (!world->loss && span->unfinished == meant->ended)
		complain(world, span, "is unfinished, or should be");
	/* The end of a killed run has no name. */
	if (record->kind == KIND_RUN && !*span->object)
		return;
	if (strncmp(span->object, name, length) != 0 ||
	    (length < strlen(name) && (!world->loss || length < 40)))
		complain(world, span, "has another name");
}

static void
check(struct world *world, const struct span *span)
{
	const struct record *record = &span->record;

	if (record->kind) {
		if (record->span >= SPANS || !world->meant[record->span].kind) {
			complain(world, span, "was never made");
			return;
		}
		if (world->meant[record->span].seen++)
			complain(world, span, "came twice");
		check_parent(world, span);
		check_values(world, span);
	}
	for (const struct span *child = span->children; child;
	     child = child->next) {
		if (child->parent != span)
			complain(world, child, "is linked to another parent");
		if (child->next &&
		    child->record.start_ns > child->next->record.start_ns)
			complain(world, child, "is not sorted");
		check(world, child);
	}
}

static void
take(void *context, const struct span *root)
{
	check(context, root);
}

/* Each of a record's slots may be lost. */
static void
perhaps_lose(struct world *world)
{
	world->tape.lose = draw(world, 1000) < world->loss;
	world->tape.bare = draw(world, 1000) < world->loss;
	/* The clock may stand still between two claims, or leap. */
	world->tape.now += draw(world, 3) * draw(world, 1000);
	if (draw(world, 4) == 0)
		world->tape.now -= TAPE_STEP;
}

static uint64_t
begin(struct world *world, unsigned kind, unsigned phase)
{
	struct tape *tape = &world->tape;
	const struct record *top = tape_top(tape);
	uint64_t id = tape->generation + 1;
	char name[NAME_SIZE];

	perhaps_lose(world);
	world->meant[id] = (struct meant){ .parent = top ? top->span : 0,
					   .start = tape->now,
					   .transaction = tape->transaction,
					   .kind = (uint8_t)kind,
					   .lost = tape->lose };
	tape_begin(tape, kind, phase, name_of(id, name));
	world->made++;
	return id;
}

static void
note_end(struct world *world, uint64_t id)
{
	struct meant *meant = &world->meant[id];

	meant->ended = true;
	meant->lost |= world->tape.lose;
	meant->duration = world->tape.now - meant->start;
}

static void
end(struct world *world)
{
	uint64_t id = tape_top(&world->tape)->span;
	char name[NAME_SIZE];

	perhaps_lose(world);
	note_end(world, id);
	tape_end(&world->tape, name_of(id, name));
}

static void
load(struct world *world)
{
	struct tape *tape = &world->tape;
	const struct record *top = tape_top(tape);
	uint64_t id = tape->generation + 1;
	char name[NAME_SIZE];

	perhaps_lose(world);
	tape->load_ns = draw(world, tape->now - top->start_ns + 1);
	world->meant[id] = (struct meant){ .parent = top->span,
					   .start = tape->now - tape->load_ns,
					   .duration = tape->load_ns,
					   .kind = KIND_LOAD,
					   .ended = true,
					   .lost = tape->lose };
	tape_load(tape, name_of(id, name));
	world->made++;
}

/* The process of a run dies; its parent writes the run's end. */
static void
kill_run(struct world *world)
{
	struct tape *tape = &world->tape;

	perhaps_lose(world);
	note_end(world, tape->stack[tape->lane][0].span);
	tape_kill(tape);
	tape->pid[tape->lane] += TAPE_LANES;
}

/* A child forked by the module that runs now calls libpam itself. */
static void
call_in_child(struct world *world)
{
	struct tape *tape = &world->tape;
	const struct record *top = tape_top(tape);
	uint64_t outer = world->meant[top->span].parent, id;
	unsigned lane = tape->lane;

	if (!outer || (world->meant[outer].kind != KIND_PHASE &&
		       world->meant[outer].kind != KIND_RUN))
		return;
	tape->transaction = top->transaction;
	tape->lane = CHILD_LANE;
	id = begin(world, KIND_CALL, PHASE_AUTHENTICATE);
	world->meant[id].parent = outer;
	end(world);
	tape->lane = lane;
	tape->pid[CHILD_LANE] += TAPE_LANES;
}

/* A handle of its own, or one that the application has. */
static uint64_t
foreign_handle(struct world *world)
{
	uint64_t handle = world->handles[world->tape.lane][draw(world, 3)];

	return handle && draw(world, 2) ? handle : ++world->transactions;
}

static void
step_in_call(struct world *world)
{
	struct tape *tape = &world->tape;

	tape->transaction = tape_top(tape)->transaction;
	switch (draw(world, 8)) {
	case 0:
		begin(world, KIND_CONVERSATION, PHASE_NONE);
		break;
	case 1:
		if (tape->depth[tape->lane] > 6)
			break;
		tape->transaction = foreign_handle(world);
		begin(world, KIND_CALL, PHASE_ACCT_MGMT);
		break;
	case 2:
		load(world);
		break;
	case 3:
		call_in_child(world);
		break;
	default:
		end(world);
	}
}

/* handle: whose modules are called. */
static void
step_in_phase(struct world *world, uint64_t handle)
{
	struct tape *tape = &world->tape;
	unsigned phase = tape_top(tape)->phase;
	bool calls = phase != PHASE_START && phase != PHASE_END;

	if (draw(world, 4) == 0) {
		end(world);
	} else if (calls) {
		tape->transaction = handle;
		begin(world, KIND_CALL, phase);
	} else {
		load(world);
	}
}

static unsigned
any_phase(struct world *world)
{
	static const unsigned phases[] = { PHASE_START, PHASE_AUTHENTICATE,
					   PHASE_ACCT_MGMT, PHASE_END };

	return phases[draw(world, 4)];
}

static void
step_run(struct world *world)
{
	struct tape *tape = &world->tape;
	unsigned lane = tape->lane;
	uint64_t *handle = &world->handles[lane][0];

	tape->run = world->run[lane];
	if (!tape_top(tape)) {
		*handle = ++world->transactions;
		tape->transaction = draw(world, 2) ? *handle : 0;
		world->run[lane] = begin(world, KIND_RUN, PHASE_NONE);
	} else if (draw(world, 60) == 0) {
		kill_run(world);
	} else if (tape_top(tape)->kind == KIND_PHASE) {
		step_in_phase(world, *handle);
	} else if (tape_top(tape)->kind == KIND_CALL) {
		step_in_call(world);
	} else if (tape_top(tape)->kind == KIND_CONVERSATION ||
		   draw(world, 5) == 0) {
		end(world);
	} else if (draw(world, 5) == 0) {
		tape->transaction = *handle;
		begin(world, KIND_CALL, PHASE_AUTHENTICATE);
	} else {
		/* The harness does not know, other observers do. */
		tape->transaction = *handle % 2 ? *handle : 0;
		begin(world, KIND_PHASE, any_phase(world));
	}
}

/* Production: calls of three handles in no order. */
static void
step_calls(struct world *world)
{
	struct tape *tape = &world->tape;
	uint64_t *handle = &world->handles[tape->lane][draw(world, 3)];

	if (tape_top(tape) && tape_top(tape)->kind == KIND_CALL) {
		step_in_call(world);
	} else if (tape_top(tape)) {
		end(world);
	} else {
		if (!*handle || draw(world, 10) == 0)
			*handle = ++world->transactions;
		tape->transaction = *handle;
		begin(world, KIND_CALL, PHASE_AUTHENTICATE);
	}
}

/* Transactions from pam_start to pam_end, three of them overlapping. */
static void
step_phases(struct world *world)
{
	struct tape *tape = &world->tape;
	uint64_t *handle = &world->handles[tape->lane][draw(world, 3)];
	unsigned phase = PHASE_AUTHENTICATE;

	tape->run = 0;
	if (tape_top(tape) && tape_top(tape)->kind == KIND_CALL) {
		step_in_call(world);
	} else if (tape_top(tape) && tape_top(tape)->kind == KIND_PHASE) {
		step_in_phase(world, tape_top(tape)->transaction);
	} else if (tape_top(tape)) {
		end(world);
	} else {
		if (!*handle)
			phase = PHASE_START;
		else if (draw(world, 5) == 0)
			phase = PHASE_END;
		tape->transaction = *handle ? *handle : ++world->transactions;
		*handle = phase == PHASE_END ? 0 : tape->transaction;
		begin(world, KIND_PHASE, phase);
	}
}

/* What was not lost must have come out, once and whole. */
static void
check_all(struct world *world)
{
	const struct assembly_loss *loss;

	for (uint64_t id = 1; id < SPANS; id++) {
		const struct meant *meant = &world->meant[id];

		if (meant->kind && !meant->lost && meant->seen != 1 &&
		    world->wrong++ < 5)
			(void)fprintf(stderr, "span %" PRIu64 ": is missing\n",
				      id);
	}
	loss = assembler_loss(world->tape.assembler);
	if (!world->loss && (loss->duplicated || loss->orphaned ||
			     loss->nonsense || loss->dropped))
		world->wrong++;
	if (loss->nonsense || loss->duplicated || loss->dropped)
		world->wrong++;
}

static void
play(struct world *world, uint64_t seed, unsigned loss)
{
	struct tape *tape = &world->tape;

	memset(world, 0, sizeof(*world));
	world->seed = seed;
	world->loss = loss;
	tape_open(tape, take, world);
	/* Text slots use up ids as well. */
	for (unsigned i = 0; i < STEPS && tape->generation < SPANS - 20; i++) {
		tape->lane = (unsigned)draw(world, CHILD_LANE);
		if (tape->lane < RUN_LANES)
			step_run(world);
		else if (tape->lane < RUN_LANES + CALL_LANES)
			step_calls(world);
		else
			step_phases(world);
	}
	assembler_finish(tape->assembler);
	check_all(world);
	if (world->wrong) {
		(void)fprintf(stderr, "seed %" PRIu64 ", loss %u\n", seed,
			      loss);
		CU_FAIL("trees differ");
	}
	tape_close(tape);
}

static void
play_seeds(unsigned loss)
{
	struct world *world = malloc(sizeof(*world));

	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		play(world, seed, loss);
	free(world);
}

static void
nothing_lost(void)
{
	play_seeds(0);
}

static void
little_lost(void)
{
	play_seeds(5);
}

static void
much_lost(void)
{
	play_seeds(150);
}

static void
most_lost(void)
{
	play_seeds(700);
}

void
assemble_random_tests(void)
{
	static const struct test_row rows[] = {
		{ "nothing lost: the same trees", nothing_lost },
		{ "1 of 200 records lost: none is misplaced", little_lost },
		{ "15 of 100 records lost", much_lost },
		{ "7 of 10 records lost", most_lost },
	};

	TEST_SUITE("assemble_random", rows);
}
