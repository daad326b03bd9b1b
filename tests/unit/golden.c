/*
 * Golden files: a layout is judged by eye once, and then kept.
 */
#include "golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test.h"

static int
read_file(struct buffer *out, const char *path)
{
	char part[4096];
	size_t length;
	FILE *file = fopen(path, "r");

	if (!file)
		return -1;
	while ((length = fread(part, 1, sizeof(part), file)) > 0)
		buffer_bytes(out, part, length);
	(void)fclose(file);
	return 0;
}

static void
write_file(const char *path, const struct buffer *text)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return;
	(void)fwrite(text->data, 1, text->length, file);
	(void)fclose(file);
}

int
golden_check(const char *name, const struct buffer *text)
{
	struct buffer path = { 0 }, expected = { 0 };
	int same;

	buffer_format(&path, "tests/golden/%s", name);
	if (getenv("UPDATE_GOLDEN"))
		write_file(test_source(path.data), text);
	same = read_file(&expected, test_source(path.data)) == 0 &&
	       expected.length == text->length &&
	       memcmp(expected.data, text->data, text->length) == 0;
	if (!same)
		(void)printf("\n--- %s\n%s+++ as it is now\n%s", path.data,
			     expected.data ? expected.data : "(not there)\n",
			     text->data ? text->data : "");
	CU_ASSERT(same);
	buffer_free(&path);
	buffer_free(&expected);
	return same;
}
