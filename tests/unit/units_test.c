/*
 * Rounding and units, and text made safe to print.
 */
#include "../../pamprof/render/units.h"

#include <string.h>

#include "../../pamprof/render/text.h"
#include "../test.h"

struct expectation {
	uint64_t ns;
	const char *text;
};

static void
times_alone(void)
{
	static const struct expectation rows[] = {
		{ 0, "0 ns" },
		{ 1, "1 ns" },
		{ 999, "999 ns" },
		{ 1000, "1.00 us" },
		{ 9994, "9.99 us" },
		{ 9996, "10.0 us" },
		{ 99949, "99.9 us" },
		{ 99951, "100 us" },
		{ 231400, "231 us" },
		{ 999499, "999 us" },
		{ 999500, "1.00 ms" },
		{ 999499999, "999 ms" },
		{ 999500000, "1.00 s" },
		{ 1530000000, "1.53 s" },
		{ 90090000000, "90.1 s" },
		{ 3600000000000, "3600 s" },
		{ 36000000000000, "10.0 h" },
		{ UINT64_MAX, "5120000 h" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct buffer out = { 0 };

		unit_time(&out, rows[i].ns);
		CU_ASSERT_STRING_EQUAL(out.data, rows[i].text);
		buffer_free(&out);
	}
}

static void
times_in_a_table(void)
{
	static const struct expectation rows[] = {
		{ 0, "0" },
		{ 21, "0" },
		{ 499, "0" },
		{ 500, "0.001" },
		{ 21400, "0.021" },
		{ 152300, "0.152" },
		{ 999600, "1.00" },
		{ 1523000, "1.52" },
		{ 21449000, "21.4" },
		{ 152300000, "152" },
		{ 999600000, "1000" },
		{ 1534000000, "1530" },
		{ 1535000000, "1540" },
	};
	const struct unit *unit = unit_for(1535000000);

	CU_ASSERT_STRING_EQUAL(unit->name, "ms");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct buffer out = { 0 };

		unit_number(&out, rows[i].ns, unit, 3);
		CU_ASSERT_STRING_EQUAL(out.data, rows[i].text);
		buffer_free(&out);
	}
}

static void
unit_of_a_table(void)
{
	static const struct expectation rows[] = {
		{ 0, "ns" },
		{ 9999, "ns" },
		{ 10000, "us" },
		{ 9999000, "us" },
		{ 10000000, "ms" },
		{ 9999000000, "ms" },
		{ 10000000000, "s" },
		{ 9999000000000, "s" },
		{ 9999000000001, "h" },
		{ UINT64_MAX, "h" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		CU_ASSERT_STRING_EQUAL(unit_for(rows[i].ns)->name,
				       rows[i].text);
}

static void
percentages(void)
{
	static const struct {
		uint64_t part, whole;
		const char *text;
	} rows[] = {
		{ 0, 0, "0" },          { 0, 5, "0" },
		{ 5, 5, "100" },        { 85, 100, "85" },
		{ 31, 1000, "3.1" },    { 1, 10000, "0" },
		{ 999, 1000, "100" },   { 104, 1000, "10" },
		{ 99, 1000, "9.9" },    { 996, 10000, "10.0" },
		{ 1, UINT64_MAX, "0" }, { UINT64_MAX, UINT64_MAX, "100" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct buffer out = { 0 };

		unit_percent(&out, rows[i].part, rows[i].whole);
		CU_ASSERT_STRING_EQUAL(out.data, rows[i].text);
		buffer_free(&out);
	}
}

static void
check_safe(const char *text, const char *unicode, const char *ascii)
{
	struct buffer out = { 0 };

	text_safe(&out, text, true);
	CU_ASSERT_STRING_EQUAL(out.data ? out.data : "", unicode);
	buffer_free(&out);
	text_safe(&out, text, false);
	CU_ASSERT_STRING_EQUAL(out.data ? out.data : "", ascii);
	buffer_free(&out);
}

static void
text_is_made_safe(void)
{
	check_safe(NULL, "", "");
	check_safe("plain", "plain", "plain");
	check_safe("a\033[2Jb\n", "a\\x1b[2Jb\\x0a", "a\\x1b[2Jb\\x0a");
	check_safe("\x7f", "\\x7f", "\\x7f");
	check_safe("M\xc3\xbcller", "M\xc3\xbcller", "M\\xc3\\xbcller");
	/* C1 controls are controls in UTF-8 as well: CSI is U+009B. */
	check_safe("\xc2\x9b", "\\xc2\\x9b", "\\xc2\\x9b");
	/* Right-to-left override; a lone byte; overlong; surrogate; cut off. */
	check_safe("\xe2\x80\xae", "\\xe2\\x80\\xae", "\\xe2\\x80\\xae");
	check_safe("\xff", "\\xff", "\\xff");
	check_safe("\xc0\xaf", "\\xc0\\xaf", "\\xc0\\xaf");
	check_safe("\xed\xa0\x80", "\\xed\\xa0\\x80", "\\xed\\xa0\\x80");
	check_safe("\xe2\x82", "\\xe2\\x82", "\\xe2\\x82");
	check_safe("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80",
		   "\\xf4\\x90\\x80\\x80");
}

static void
no_bytes_are_printed_raw(void)
{
	for (unsigned first = 1; first < 256; first++)
		for (unsigned second = 1; second < 256; second++) {
			char text[] = { (char)first, (char)second, 0 };
			struct buffer out = { 0 };

			text_safe(&out, text, false);
			for (size_t i = 0; i < out.length; i++)
				if (out.data[i] < 0x20 || out.data[i] > 0x7e)
					CU_FAIL("byte printed");
			buffer_free(&out);
		}
}

static void
text_is_cut_by_columns(void)
{
	struct buffer out = { 0 };

	CU_ASSERT_EQUAL(text_width("abc"), 3);
	CU_ASSERT_EQUAL(text_width("M\xc3\xbcller"), 6);
	CU_ASSERT_EQUAL(text_width("e\xcc\x81"), 1);    /* e, acute */
	CU_ASSERT_EQUAL(text_width("\xe6\xbc\xa2"), 2); /* one Han */
	text_cut(&out, "abcdefgh", 5, true);
	CU_ASSERT_STRING_EQUAL(out.data, "abcd\xe2\x80\xa6");
	buffer_free(&out);
	text_cut(&out, "abcdefgh", 5, false);
	CU_ASSERT_STRING_EQUAL(out.data, "abc..");
	buffer_free(&out);
	text_cut(&out, "\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2", 4, true);
	CU_ASSERT_STRING_EQUAL(out.data, "\xe6\xbc\xa2\xe2\x80\xa6");
	buffer_free(&out);
	text_cut_middle(&out, "common-session:30", 12, false);
	CU_ASSERT_STRING_EQUAL(out.data, "comm..ion:30");
	buffer_free(&out);
}

static void
prose_is_broken_at_blanks(void)
{
	struct buffer out = { 0 };

	text_wrap(&out, "one two three four five", 10, 2);
	CU_ASSERT_STRING_EQUAL(out.data, "one two\n  three\n  four\n"
					 "  five\n");
	buffer_free(&out);
	text_wrap(&out, "averyveryverylongword b", 10, 2);
	CU_ASSERT_STRING_EQUAL(out.data, "averyveryverylongword\n  b\n");
	buffer_free(&out);
	text_wrap(&out, "short", 10, 2);
	CU_ASSERT_STRING_EQUAL(out.data, "short\n");
	buffer_free(&out);
}

void
units_tests(void)
{
	static const struct test_row rows[] = {
		{ "times alone", times_alone },
		{ "times in a table", times_in_a_table },
		{ "unit of a table", unit_of_a_table },
		{ "percentages", percentages },
		{ "text is made safe", text_is_made_safe },
		{ "no bytes are printed raw", no_bytes_are_printed_raw },
		{ "text is cut by columns", text_is_cut_by_columns },
		{ "prose is broken at blanks", prose_is_broken_at_blanks },
	};

	TEST_SUITE("units", rows);
}
