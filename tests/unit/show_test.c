/*
 * From a saved run to a report in a file: show, and where reports go.
 */
#include "../../pamprof/command.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../modules/checksum.h"
#include "../../pamprof/render/output.h"
#include "../../pamprof/trace/segment.h"
#include "../test.h"
#include "spans.h"

/* Begins with the options that every reporting command has. */
struct show_options {
	struct output_options output;
};

static char folder[] = "/tmp/pamprof-show-XXXXXX";

static int
make_folder(void)
{
	return mkdtemp(folder) ? 0 : -1;
}

static int
remove_folder(void)
{
	return rmdir(folder);
}

static const char *
in_folder(const char *name)
{
	static char path[2][128];
	static unsigned turn;

	turn = !turn;
	(void)snprintf(path[turn], sizeof(path[turn]), "%s/%s", folder, name);
	return path[turn];
}

static const struct rule_words rules[] = {
	{ "/etc/pam.d/login", 3, "auth", "required", "pam_unix.so", "nullok" },
};

/* Writes a slot; the span of a begin is the number of its slot. */
static void
put(FILE *out, enum record_type type, uint64_t generation,
    const struct record *given)
{
	struct record record = *given;

	record.generation = generation;
	record.version = RECORD_VERSION;
	record.type = type;
	record.outcome = type == RECORD_END ? OUTCOME_RETURNED : OUTCOME_NONE;
	record.start_ns += 1000 * MS;
	record.duration_ns = type == RECORD_END ? record.duration_ns : 0;
	record.pid = record.tid = 4711;
	record.ppid = 1;
	record.checksum = record_checksum(&record);
	(void)fwrite(&record, sizeof(record), 1, out);
}

/* A run of 100 ms with an authentication that one rule refuses in 60 ms. */
static void
save_run(const char *path)
{
	struct rule_map *map = map_new(rules, 1);
	struct ring_header header = { .magic = RING_MAGIC,
				      .version = RECORD_VERSION,
				      .byte_order = RING_BYTE_ORDER,
				      .slot_size = RECORD_SIZE };
	const struct record spans[] = {
		{ .span = 1, .duration_ns = 100 * MS, .kind = KIND_RUN },
		{ .span = 2,
		  .parent = 1,
		  .start_ns = 10 * MS,
		  .duration_ns = 80 * MS,
		  .result = 7,
		  .kind = KIND_PHASE,
		  .phase = PHASE_AUTHENTICATE },
		{ .span = 3,
		  .parent = 2,
		  .start_ns = 12 * MS,
		  .duration_ns = 60 * MS,
		  .marker = 1,
		  .valid = VALID_MARKER,
		  .result = 7,
		  .kind = KIND_CALL,
		  .phase = PHASE_AUTHENTICATE },
	};
	FILE *out = fopen(path, "w");

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	CU_ASSERT_EQUAL(segment_write_head(out, &header, map, NULL), 0);
	for (unsigned i = 0; i < 3; i++)
		put(out, RECORD_BEGIN, i + 1, &spans[i]);
	for (unsigned i = 0; i < 3; i++)
		put(out, RECORD_END, i + 4, &spans[2 - i]);
	(void)fclose(out);
	rule_map_free(map);
}

static int
show(const char *file, const struct output_options *output, struct error *error)
{
	struct show_options options = { .output = *output };
	char *argv[] = { (char *)file, NULL };

	return command_show.act(&options, 1, argv, error);
}

static json_int_t
number(const json_t *root, const char *outer, const char *inner)
{
	return json_integer_value(
	    json_object_get(json_object_get(root, outer), inner));
}

static void
saved_run_as_json(void)
{
	const char *saved = in_folder("run"), *file = in_folder("r.json");
	struct error error = { 0 };
	json_t *root, *rule;

	save_run(saved);
	CU_ASSERT_EQUAL(
	    show(saved, &(struct output_options){ .file = file }, &error),
	    EXIT_MEASURED);
	CU_ASSERT_STRING_EQUAL(error.text, "");
	root = json_load_file(file, JSON_REJECT_DUPLICATES, NULL);
	CU_ASSERT_PTR_NOT_NULL(root);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(root, "runs")), 1);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(root, "lost")), 0);
	CU_ASSERT_EQUAL(number(root, "median_run", "wall"), 100 * MS);
	CU_ASSERT_EQUAL(number(root, "median_run", "outside"), 20 * MS);
	rule = json_array_get(json_object_get(root, "rules"), 0);
	CU_ASSERT_EQUAL(number(rule, "results", "PAM_AUTH_ERR"), 1);
	CU_ASSERT_EQUAL(number(rule, "median_run", "wall"), 60 * MS);
	json_decref(root);
	(void)unlink(saved);
	(void)unlink(file);
}

static void
reading_what_is_no_recording(void)
{
	static const char *const files[] = { "/dev/null", "/dev/null/run",
					     "/proc/self/exe" };
	struct output_options output = { .file = "/dev/null" };

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct error error = { 0 };

		CU_ASSERT(show(files[i], &output, &error) < 0);
		CU_ASSERT_EQUAL(error_exit_status(&error), EXIT_UNMEASURED);
		CU_ASSERT(error.text[0] != '\0');
	}
}

static void
wrong_words(void)
{
	static const struct output_options rows[] = {
		{ .format = "yaml" },
		{ .format = "" },
		{ .sort = "size" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct output output;
		struct error error = { 0 };

		CU_ASSERT(output_open(&output, &rows[i], &error) < 0);
		CU_ASSERT_EQUAL(error_exit_status(&error), EXIT_USAGE);
		CU_ASSERT_PTR_NULL(output.stream);
		output_close(&output);
	}
}

static renderer
chosen(const char *format, const char *name)
{
	const char *file = in_folder(name);
	struct output_options options = { .format = format, .file = file };
	struct output output;
	renderer render;

	CU_ASSERT_EQUAL(output_open(&output, &options, NULL), 0);
	render = output.render;
	CU_ASSERT_EQUAL(output.style.columns, 80);
	CU_ASSERT_FALSE(output.style.colour);
	CU_ASSERT_FALSE(output.style.bars);
	output_close(&output);
	(void)unlink(file);
	return render;
}

static void
format_from_the_name(void)
{
	CU_ASSERT(chosen(NULL, "x.json") == render_json);
	CU_ASSERT(chosen(NULL, "x.txt") == render_tree);
	CU_ASSERT(chosen(NULL, "x") == render_tree);
	CU_ASSERT(chosen("tree", "x.json") == render_tree);
	CU_ASSERT(chosen("json", "x.txt") == render_json);
}

static char *
content(const char *path)
{
	static char text[4096];
	FILE *file = fopen(path, "r");
	size_t length = 0;

	if (file) {
		length = fread(text, 1, sizeof(text) - 1, file);
		(void)fclose(file);
	}
	text[length] = '\0';
	return text;
}

/* A measurement that fails must not cost an earlier report. */
static void
file_is_kept_until_there_is_a_report(void)
{
	const char *file = in_folder("old");
	struct output_options options = { .file = file };
	struct rule_map *map = map_new(rules, 1);
	struct report *report = report_of(map, NULL, 0);
	FILE *old = fopen(file, "w");
	struct output output;

	for (unsigned i = 0; i < 100; i++)
		(void)fputs("yesterday's report\n", old);
	(void)fclose(old);
	CU_ASSERT_EQUAL(output_open(&output, &options, NULL), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(content(file), "yesterday"));
	CU_ASSERT_EQUAL(output_report(&output, report, NULL), 0);
	CU_ASSERT_PTR_NULL(strstr(content(file), "yesterday"));
	CU_ASSERT_PTR_NOT_NULL(strstr(content(file), "nothing was recorded"));
	output_close(&output);
	output_close(&output);
	(void)unlink(file);
	report_free(report);
	rule_map_free(map);
}

static void
disk_that_is_full(void)
{
	struct output_options options = { .file = "/dev/full" };
	struct rule_map *map = map_new(rules, 1);
	struct report *report = report_of(map, NULL, 0);
	struct error error = { 0 };

	CU_ASSERT_EQUAL(report_output(report, &options, NULL, &error),
			ERROR_SYSTEM);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "/dev/full"));
	options.file = "/dev/null/report";
	CU_ASSERT_EQUAL(report_output(report, &options, NULL, &error),
			ERROR_SYSTEM);
	report_free(report);
	rule_map_free(map);
}

void
show_tests(void)
{
	static const struct test_row rows[] = {
		{ "saved run as JSON", saved_run_as_json },
		{ "reading what is no recording",
		  reading_what_is_no_recording },
		{ "wrong words", wrong_words },
		{ "format from the name", format_from_the_name },
		{ "file is kept until there is a report",
		  file_is_kept_until_there_is_a_report },
		{ "disk that is full", disk_that_is_full },
	};
	CU_pSuite suite = TEST_SUITE("show", rows);

	suite->pInitializeFunc = make_folder;
	suite->pCleanupFunc = remove_folder;
}
