/*
 * The table of open logins: open addressing, entries in place, no list to
 * keep in order. Who is over is found when the table is half full, so that
 * the cost is shared by the records that filled it. It is apart from
 * trace/group.c, which keeps every record of what is open for a tree.
 */
#include "logins.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "../base/alloc.h"

#define SIZE_MIN 4096u
/* With so many open at once (some 300 MB) somebody is making them up. */
#define OPEN_MAX (1u << 20)
#define PARENTS  4096u

/* Who authenticated in a child of that process last. */
struct parent {
	uint64_t id;
	int32_t pid;
};

struct login_table {
	login_done done;
	void *context;
	struct login *entries;
	size_t size, count; /* size: a power of two */
	uint64_t seed;      /* ids may be chosen by an enemy */
	struct parent parents[PARENTS];
};

struct login_table *
login_table_new(login_done done, void *context)
{
	struct login_table *table = alloc_zero(1, sizeof(*table));

	table->done = done;
	table->context = context;
	table->size = SIZE_MIN;
	table->entries = alloc_zero(table->size, sizeof(*table->entries));
	if (getrandom(&table->seed, sizeof(table->seed), GRND_NONBLOCK) < 0)
		table->seed = 0;
	table->seed |= 1;
	return table;
}

void
login_table_free(struct login_table *table)
{
	if (!table)
		return;
	free(table->entries);
	free(table);
}

/* The entry of id, or the free one where it belongs. */
static struct login *
slot_of(const struct login_table *table, uint64_t id)
{
	uint64_t hash = (id ^ table->seed) * 0x9e3779b97f4a7c15u;
	size_t i = (hash ^ (hash >> 29)) & (table->size - 1);

	while (table->entries[i].id && table->entries[i].id != id)
		i = (i + 1) & (table->size - 1);
	return &table->entries[i];
}

static bool
is_open(const struct login *login)
{
	for (unsigned i = 0; i < LOGIN_CALLS; i++)
		if (login->open[i].span)
			return true;
	return false;
}

static bool
is_over(const struct login *login, uint64_t now)
{
	return !is_open(login) && now > login->seen_ns &&
	       now - login->seen_ns > LOGIN_IDLE_NS;
}

/* Ends a login; that of an alias is kept under its own id. */
static void
end(struct login_table *table, struct login *login)
{
	if (!login->alias)
		table->done(table->context, login);
	free(login->samples);
	login->samples = NULL;
}

/* Ends what is over, and makes room for what is not. */
static void
sweep(struct login_table *table, uint64_t now)
{
	struct login *old = table->entries;
	size_t size = table->size, alive = 0;
	bool all;

	for (size_t i = 0; i < size; i++)
		alive += old[i].id && !is_over(&old[i], now);
	all = alive > OPEN_MAX;
	if (all)
		alive = 0;
	table->size = SIZE_MIN;
	while (table->size < alive * 4)
		table->size *= 2;
	table->entries = alloc_zero(table->size, sizeof(*table->entries));
	table->count = alive;
	for (size_t i = 0; i < size; i++) {
		if (!old[i].id)
			continue;
		if (all || is_over(&old[i], now))
			end(table, &old[i]);
		else
			*slot_of(table, old[i].id) = old[i];
	}
	free(old);
}

void
login_table_flush(struct login_table *table)
{
	for (size_t i = 0; i < table->size; i++)
		if (table->entries[i].id)
			end(table, &table->entries[i]);
	memset(table->entries, 0, table->size * sizeof(*table->entries));
	table->count = 0;
	memset(table->parents, 0, sizeof(table->parents));
}

static struct login *
make(struct login_table *table, const struct record *record)
{
	struct login *login;

	if (table->count * 2 >= table->size)
		sweep(table, record->start_ns);
	login = slot_of(table, record->transaction);
	table->count++;
	login->id = record->transaction;
	login->start_ns = login->seen_ns = record->start_ns;
	login->pid = record->pid;
	memcpy(login->service, record->service, sizeof(login->service));
	return login;
}

/*
 * A transaction that does not begin with authentication may go on where a
 * child of its process stopped, if that is the same service, got through,
 * and is not long ago.
 */
static struct login *
authenticated_before(const struct login_table *table,
		     const struct record *record)
{
	const struct parent *parent =
	    &table->parents[(uint32_t)record->pid % PARENTS];
	struct login *login;

	if (parent->pid != record->pid || (record->phase != PHASE_ACCT_MGMT &&
					   record->phase != PHASE_SETCRED &&
					   record->phase != PHASE_OPEN_SESSION))
		return NULL;
	login = slot_of(table, parent->id);
	if (!login->id || login->alias || is_open(login) || login->verdict ||
	    !login->succeeded || is_over(login, record->start_ns) ||
	    memcmp(login->service, record->service, sizeof(login->service)) !=
		0)
		return NULL;
	return login;
}

static void
remember_parent(struct login_table *table, const struct record *record,
		const struct login *login)
{
	struct parent *parent =
	    &table->parents[(uint32_t)record->ppid % PARENTS];

	parent->pid = record->ppid;
	parent->id = login->id;
}

/* The login of a transaction not seen yet. */
static struct login *
begin(struct login_table *table, const struct record *record, bool *made)
{
	struct login *login = authenticated_before(table, record), *part;
	uint64_t id = login ? login->id : 0;

	part = make(table, record);
	/* Making room may have moved it, or ended it. */
	login = id ? slot_of(table, id) : part;
	*made = !id || !login->id;
	if (*made)
		return part;
	part->alias = id;
	login->joined = true;
	return login;
}

struct login *
login_of(struct login_table *table, const struct record *record, bool *made)
{
	uint64_t now = record->start_ns + record->duration_ns;
	struct login *login = slot_of(table, record->transaction);

	*made = false;
	if (!login->id)
		login = begin(table, record, made);
	if (login->alias) {
		struct login *whole = slot_of(table, login->alias);

		login->seen_ns = now;
		if (whole->id)
			login = whole;
		else
			login->alias = 0;
	}
	if (now > login->seen_ns)
		login->seen_ns = now;
	if (record->type == RECORD_END && record->ppid > 1 &&
	    (record->phase == PHASE_AUTHENTICATE ||
	     record->phase == PHASE_ACCT_MGMT))
		remember_parent(table, record, login);
	return login;
}
