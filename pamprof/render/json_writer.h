/*
 * JSON written through calls that own commas, nesting and escaping, so that
 * no renderer can get them wrong. Output is UTF-8 on one line (RFC 8259).
 */
#ifndef PAMPROF_RENDER_JSON_WRITER_H
#define PAMPROF_RENDER_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/buffer.h"

#define JSON_DEPTH_MAX 32

/* Zeroed but for out: ready for one value. */
struct json_writer {
	struct buffer *out;
	unsigned depth;
	char closing[JSON_DEPTH_MAX]; /* brackets to be closed */
	bool started;                 /* a value stands before the next one */
};

/*
 * Begin an object or array. key is the member's name inside an object, NULL
 * inside an array and at the top. Nesting beyond JSON_DEPTH_MAX ends the
 * program: it is a mistake of the caller.
 */
void json_begin_object(struct json_writer *writer, const char *key);
void json_begin_array(struct json_writer *writer, const char *key);

/* Ends the innermost one. */
void json_end(struct json_writer *writer);

/*
 * Text; NULL is written as null. Controls come as \u00NN, a byte that is no
 * UTF-8 as the four characters \xNN, so that it can still be recognised.
 */
void json_put_text(struct json_writer *writer, const char *key,
		   const char *text);

/* Integers exactly; fractions, not negative, with six decimals. */
void json_put_number(struct json_writer *writer, const char *key,
		     uint64_t value);
void json_put_integer(struct json_writer *writer, const char *key,
		      int64_t value);
void json_put_fraction(struct json_writer *writer, const char *key,
		       double value);

/* The words true, false and null. */
void json_put_bool(struct json_writer *writer, const char *key, bool value);
void json_put_null(struct json_writer *writer, const char *key);

#endif
