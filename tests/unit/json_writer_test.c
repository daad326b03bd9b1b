/*
 * The JSON writer; what it wrote is read back by a parser we did not write.
 */
#include "../../pamprof/render/json_writer.h"

#include <jansson.h>
#include <string.h>

#include "../test.h"

/* Writes [text] and gives back what a reader finds in it. */
static void
check_string(const char *text, const char *expected)
{
	struct buffer out = { 0 };
	struct json_writer writer = { .out = &out };
	json_t *root;

	json_begin_array(&writer, NULL);
	json_put_text(&writer, NULL, text);
	json_end(&writer);
	root = json_loads(out.data, 0, NULL);
	CU_ASSERT_PTR_NOT_NULL(root);
	if (root)
		CU_ASSERT_STRING_EQUAL(
		    json_string_value(json_array_get(root, 0)), expected);
	json_decref(root);
	buffer_free(&out);
}

static void
strings_survive(void)
{
	check_string("", "");
	check_string("plain", "plain");
	check_string("\"quoted\" \\ back", "\"quoted\" \\ back");
	check_string("a\tb\nc\001\033", "a\tb\nc\001\033");
	check_string("M\xc3\xbcller", "M\xc3\xbcller");
	check_string("\xf0\x9f\x94\x92", "\xf0\x9f\x94\x92");
	check_string("\xe2\x80\xae", "\xe2\x80\xae");
	check_string("\xf3\xa0\x81\x81", "\xf3\xa0\x81\x81");
	check_string("bad \xff byte", "bad \\xff byte");
	check_string("\xed\xa0\x80", "\\xed\\xa0\\x80");
}

static void
every_pair_of_bytes_is_valid(void)
{
	struct buffer out = { 0 };
	struct json_writer writer = { .out = &out };
	json_t *root;

	json_begin_array(&writer, NULL);
	for (unsigned first = 1; first < 256; first++)
		for (unsigned second = 1; second < 256; second++)
			json_put_text(&writer, NULL,
				      (char[]){ (char)first, (char)second, 0 });
	json_end(&writer);
	for (size_t i = 0; i < out.length; i++)
		if ((unsigned char)out.data[i] < 0x20 || out.data[i] == 0x7f)
			CU_FAIL("control byte written");
	root = json_loads(out.data, 0, NULL);
	CU_ASSERT_EQUAL(json_array_size(root), 255 * 255);
	json_decref(root);
	buffer_free(&out);
}

static void
structure(void)
{
	struct buffer out = { 0 };
	struct json_writer writer = { .out = &out };

	json_begin_object(&writer, NULL);
	json_begin_array(&writer, "none");
	json_end(&writer);
	json_begin_object(&writer, "empty");
	json_end(&writer);
	json_put_number(&writer, "most", UINT64_MAX);
	json_put_integer(&writer, "least", INT64_MIN);
	json_begin_array(&writer, "list");
	json_put_bool(&writer, NULL, true);
	json_put_null(&writer, NULL);
	json_put_text(&writer, NULL, NULL);
	json_put_fraction(&writer, NULL, 0.8512345);
	json_put_fraction(&writer, NULL, 1);
	json_end(&writer);
	json_end(&writer);
	CU_ASSERT_STRING_EQUAL(out.data,
			       "{\"none\":[],\"empty\":{},"
			       "\"most\":18446744073709551615,"
			       "\"least\":-9223372036854775808,"
			       "\"list\":[true,null,null,0.851235,1.000000]}");
	buffer_free(&out);
}

void
json_writer_tests(void)
{
	static const struct test_row rows[] = {
		{ "strings survive", strings_survive },
		{ "every pair of bytes is valid",
		  every_pair_of_bytes_is_valid },
		{ "structure", structure },
	};

	TEST_SUITE("json_writer", rows);
}
