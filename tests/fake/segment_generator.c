/*
 * Makes a segment of logins as production records them, with distributions
 * that are known: a login has 20 calls (40 records) over sshd's phases, and
 * call c of login l takes (c + 1) * 10 us * (1 + l % 100), so that every
 * quantile can be computed by hand. Every 50th login fails, users repeat
 * after 1000, and every OPEN-th login hangs in its last call.
 *
 *	segment_generator LOGINS [OPEN [HOST [SERVICE]]] > FILE
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../modules/checksum.h"
#include "../../pamprof/trace/segment.h"

#define CALLS 20
/* Logins begin 20 ms apart: some hundred overlap. */
#define APART_NS 20000000u

static const struct {
	enum record_phase phase;
	unsigned rules; /* marker of the first, and how many of them */
	unsigned count;
} phases[] = {
	{ PHASE_AUTHENTICATE, 1, 4 },  { PHASE_ACCT_MGMT, 5, 4 },
	{ PHASE_SETCRED, 1, 4 },       { PHASE_OPEN_SESSION, 9, 4 },
	{ PHASE_CLOSE_SESSION, 9, 4 },
};

static struct map_rule rules[12];
static uint64_t generation;

static void
make_rules(void)
{
	static const char *const groups[] = { "auth", "account", "session" };
	static const char *const modules[] = { "pam_env.so", "pam_unix.so",
					       "pam_sss.so", "pam_permit.so" };

	for (unsigned i = 0; i < 12; i++) {
		rules[i].marker = i + 1;
		rules[i].line = i % 4 + 1;
		rules[i].group = (char *)groups[i / 4];
		rules[i].file = (char *)"/etc/pam.d/sshd";
		rules[i].control = (char *)"required";
		rules[i].module = (char *)modules[i % 4];
		rules[i].path = (char *)modules[i % 4];
	}
}

static void
put(struct record *record)
{
	record->generation = ++generation;
	if (record->type == RECORD_BEGIN)
		record->span = generation;
	record->checksum = record_checksum(record);
	if (fwrite(record, sizeof(*record), 1, stdout) != 1)
		exit(1);
}

/* Both records of a call; hangs: only the first. */
static void
put_call(struct record *record, uint64_t *now, uint64_t ns, bool hangs)
{
	record->type = RECORD_BEGIN;
	record->outcome = OUTCOME_NONE;
	record->start_ns = *now;
	record->duration_ns = 0;
	put(record);
	if (hangs)
		return;
	record->type = RECORD_END;
	record->outcome = OUTCOME_RETURNED;
	record->duration_ns = ns;
	*now += ns;
	put(record);
}

static void
put_login(unsigned long login, const char *service, bool hangs)
{
	struct record record = { .version = RECORD_VERSION,
				 .kind = KIND_CALL,
				 .transaction = login + 1000,
				 .pid = (int)(1000 + login % 30000),
				 .tid = (int)(1000 + login % 30000),
				 .ppid = 1,
				 .valid = VALID_MARKER };
	uint64_t now = 3600000000000u + login * APART_NS;
	bool fails = login % 50 == 49;
	unsigned call = 0;

	strncpy(record.service, service, sizeof(record.service));
	strcpy(record.rhost, "192.0.2.1");
	for (unsigned p = 0; p < 5; p++) {
		record.phase = (uint8_t)phases[p].phase;
		memset(record.object, 0, sizeof(record.object));
		if (phases[p].phase != PHASE_AUTHENTICATE &&
		    phases[p].phase != PHASE_SETCRED)
			(void)snprintf(record.object, sizeof(record.object),
				       "user%03lu", login % 1000);
		for (unsigned i = 0; i < phases[p].count; i++, call++) {
			record.marker = phases[p].rules + i;
			record.result = fails && i == 1 ? 7 : 0;
			put_call(&record, &now,
				 (call + 1) * 10000ull * (1 + login % 100),
				 hangs && call == CALLS - 1);
		}
		if (fails)
			return;
	}
}

int
main(int argc, char **argv)
{
	unsigned long logins = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned long open = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	const char *service = argc > 4 ? argv[4] : "sshd";
	struct ring_header header = { .magic = RING_MAGIC,
				      .version = RECORD_VERSION,
				      .byte_order = RING_BYTE_ORDER,
				      .slot_size = RECORD_SIZE,
				      /* 2026-11-30T00:00:00Z at 0 */
				      .wall_anchor_ns = 1795996800000000000 };
	struct rule_map map = { .rules = rules, .rules_count = 12 };
	static char buffer[1 << 20];

	(void)setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	make_rules();
	strncpy(header.host, argc > 3 ? argv[3] : "one", 63);
	header.boot_id[0] = (uint8_t)header.host[0];
	if (segment_write_head(stdout, &header, &map, NULL))
		return 1;
	for (unsigned long l = 0; l < logins; l++)
		put_login(l, service, open && l % open == 0);
	return fflush(stdout) ? 1 : 0;
}
