/*
 * Records made of any bytes through the report over production's records, in
 * every grouping and every format. The first byte chooses the options.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../pamprof/render/production.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct rule_map map;
static struct ring_header header = { .host = "fuzz" };

static void
render(const struct production_report *report, bool logins)
{
	const struct render_style style = { .columns = 80, .unicode = true };
	struct buffer tree = { 0 }, json = { 0 };

	production_tree(&tree, report, &style, logins);
	production_json(&json, report);
	for (size_t i = 0; i < tree.length; i++)
		if ((unsigned char)tree.data[i] < ' ' && tree.data[i] != '\n')
			abort();
	buffer_free(&tree);
	buffer_free(&json);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct production_options options = { .since_ns = INT64_MIN,
					      .until_ns = INT64_MAX };
	struct production *production;
	struct buffer lines = { 0 };

	if (size < 1)
		return 0;
	options.by = (enum production_by)(data[0] % BY_COUNT);
	options.slower_ns = data[0] & 16 ? 1000 : 0;
	production = production_new(&options);
	production_head(production, &header, &map, false);
	for (size_t at = 1; at < size; at += 120) {
		struct record record = { .version = RECORD_VERSION,
					 .type = RECORD_END,
					 .kind = KIND_CALL,
					 .generation = at };
		size_t part = size - at < 120 ? size - at : 120;

		/* What comes first in the record is most of its meaning. */
		memcpy((char *)&record + offsetof(struct record, transaction),
		       data + at, part);
		record.version = RECORD_VERSION;
		if (data[0] & 32)
			record.kind = KIND_CALL;
		production_take(production, &record);
		if (record.type == RECORD_END)
			production_jsonl_end(&lines, &record, &header, NULL, 1);
		if (data[0] & 64 && at % 7 == 0)
			production_head(production, &header, &map, at % 2);
	}
	render(production_finish(production), data[0] & 128);
	production_free(production);
	buffer_free(&lines);
	return 0;
}
