/*
 * Any command line: split at newlines and read by the rows of a real
 * command. Nothing may crash, and what is left must be among the words.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../pamprof/base/alloc.h"
#include "../../pamprof/base/options.h"

enum {
	WORDS = 32
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = alloc_bytes((const char *)data, size), *rest = text;
	void *options = alloc_zero(1, command_run.options_size);
	char *words[WORDS];
	struct error error;
	int count = 0;

	while (rest && count < WORDS)
		words[count++] = strsep(&rest, "\n");
	(void)options_parse(&command_run, options, &count, words, &error);
	for (int i = 0; i < count; i++)
		if (words[i] < text || words[i] > text + size)
			abort();
	free(options);
	free(text);
	return 0;
}
