/*
 * The record: one span as an observer writes it. Shared by every observer
 * and by the tool, so it holds types and numbers only, no code that differs
 * between the two. The format is documented in pamprof-records(5); a change
 * here is a change of RECORD_VERSION and of that page.
 */
#ifndef PAMPROF_RECORD_H
#define PAMPROF_RECORD_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "record_kinds.h"

#define RECORD_VERSION   1
#define RECORD_SIZE      256
#define RECORD_TEXT_SIZE 208 /* bytes of text in one text slot */
#define RECORD_TEXT_MAX  3   /* text slots one span may own */

/* What a slot holds: the two ends of a span, or text that belongs to one. */
enum record_type {
	RECORD_BEGIN = 1,
	RECORD_END,
	RECORD_TEXT
};

/*
 * One slot. All integers are of the machine's byte order; the header of the
 * ring or segment says which. Strings end with a zero byte unless they fill
 * their field, in which case text slots carry the whole of it.
 */
struct record {
	uint64_t generation; /* claim index + 1; 0: never written */
	uint64_t checksum;   /* record_checksum() of the rest */
	uint64_t transaction;
	uint64_t span;
	uint8_t version, type, kind, phase; /* the first two as in text */
	uint8_t category, outcome, text_slots, text_part;
	uint64_t parent;
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint64_t duration_ns;
	uint64_t cpu_ns;    /* own thread */
	uint64_t prompt_ns; /* inside the conversation */
	int32_t pid, ppid, tid, peer_pid;
	uint32_t marker; /* number of the rule in the map file */
	uint32_t flags;  /* the PAM flags of the call */
	int32_t result;
	uint32_t voluntary, involuntary; /* context switches */
	uint32_t count;
	uint16_t prompts; /* calls of the conversation */
	uint16_t valid;
	uint8_t reserved[12];
	char service[24], rhost[40], tty[16], object[40];
};

/*
 * A slot of type RECORD_TEXT. Version and type stand where they stand in a
 * record, or one could pass for the other.
 */
struct record_text {
	uint64_t generation, checksum, transaction, span;
	uint8_t version, type, part, field; /* field: enum record_field */
	uint16_t length;
	uint8_t reserved[10];
	char text[RECORD_TEXT_SIZE];
};

enum record_field {
	FIELD_SERVICE = 1,
	FIELD_RHOST,
	FIELD_TTY,
	FIELD_OBJECT
};

_Static_assert(offsetof(struct record, type) ==
		   offsetof(struct record_text, type),
	       "the type tells the two apart");
_Static_assert(sizeof(struct record) == RECORD_SIZE, "record is one slot");
_Static_assert(sizeof(struct record_text) == RECORD_SIZE, "text is one slot");

#endif
