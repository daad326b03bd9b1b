/*
 * Same surroundings, one by one: each row of surroundings_rows.c is run by
 * the driver on the bare stack, on the copy that pam_wrap_stack() makes, and
 * on the bare stack under the auditor; the traces must be equal and must show
 * what the row is about.
 */
#include "../test.h"

#include <CUnit/TestRun.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../modules/ring_header.h"
#include "../../pamprof/base/alloc.h"
#include "../../pamprof/base/buffer.h"
#include "../../pamprof/base/error.h"
#include "../../pamprof/source/pam_wrap.h"
#include "../../pamprof/trace/ring_file.h"
#include "stack_driver.h"
#include "surroundings_rows.h"

#define RING_SLOTS 4096
#define SCRIPT_MAX 64

struct scene {
	char folder[40], *modules, *bare, *wrap;
	char *ring, *audit_ring;
};

/* The row's text with "@" made the folder of the stub modules. */
static void
write_service(const struct scene *scene, const char *name, const char *stack)
{
	char *path = alloc_format("%s/%s", scene->bare, name);
	FILE *out = fopen(path, "we");

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	for (; *stack != '\0'; stack++)
		if (*stack == '@')
			fputs(scene->modules, out);
		else
			putc(*stack, out);
	CU_ASSERT_EQUAL(fclose(out), 0);
	free(path);
}

static void
make_ring(const char *path, const struct surroundings_row *row)
{
	uint32_t options = RING_CONVERSATION | (row->no_cpu ? 0 : RING_CPU);

	CU_ASSERT_EQUAL_FATAL(ring_make(path, RING_SLOTS, options, NULL), 0);
}

static void
begin(struct scene *scene, const struct surroundings_row *row)
{
	char *link;

	memset(scene, 0, sizeof(*scene));
	strcpy(scene->folder, "/tmp/pamprof-surroundings-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(scene->folder));
	scene->modules = alloc_format("%s/modules", scene->folder);
	scene->bare = alloc_format("%s/bare", scene->folder);
	scene->wrap = alloc_format("%s/wrap", scene->folder);
	scene->ring = alloc_format("%s/ring", scene->folder);
	scene->audit_ring = alloc_format("%s/audit-ring", scene->folder);
	link = alloc_format("%s/pam_link.so", scene->modules);
	CU_ASSERT_EQUAL_FATAL(chmod(scene->folder, 0755), 0);
	CU_ASSERT_EQUAL_FATAL(mkdir(scene->bare, 0755), 0);
	CU_ASSERT_EQUAL_FATAL(mkdir(scene->wrap, 0755), 0);
	CU_ASSERT_EQUAL_FATAL(stack_modules_copy(scene->modules), 0);
	CU_ASSERT_EQUAL_FATAL(symlink("pam_stub.so", link), 0);
	make_ring(scene->ring, row);
	make_ring(scene->audit_ring, row);
	write_service(scene, "svc", row->stack);
	if (row->second != NULL)
		write_service(scene, "second", row->second);
	free(link);
}

static void
end(struct scene *scene)
{
	stack_folder_remove(scene->folder);
	free(scene->modules);
	free(scene->bare);
	free(scene->wrap);
	free(scene->ring);
	free(scene->audit_ring);
}

/*
 * Wraps one service in a folder of its own, into the scene's one ring;
 * returns the folder in which libpam finds it.
 */
static char *
wrap_service(const struct scene *scene, const char *service)
{
	struct pam_conf_place place = { .service = service,
					.confdir = scene->bare };
	char *dir = alloc_format("%s/%s", scene->wrap, service), *confdir;
	struct pam_stack *stack = NULL;
	struct pam_wrap *wrap = NULL;
	struct error error = { 0 };

	CU_ASSERT_EQUAL_FATAL(mkdir(dir, 0755), 0);
	if (pam_conf_read(&stack, &place, &error) != 0 ||
	    pam_wrap_stack(&wrap, stack, dir, scene->ring, &error) != 0)
		printf("%s ", error.text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(wrap);
	confdir = alloc_string(wrap->confdir);
	pam_wrap_free(wrap);
	pam_conf_free(stack);
	free(dir);
	return confdir;
}

/* Both services beside each other, as an application would find them. */
static char *
wrap_all(const struct scene *scene, const struct surroundings_row *row)
{
	char *confdir = wrap_service(scene, "svc");

	if (row->second != NULL) {
		char *other = wrap_service(scene, "second");
		char *from = alloc_format("%s/second", other);
		char *to = alloc_format("%s/second", confdir);

		CU_ASSERT_EQUAL(rename(from, to), 0);
		free(other);
		free(from);
		free(to);
	}
	return confdir;
}

/* Under the auditor if ring is not NULL. */
static char *
run_script(const char *confdir, const char *script, const char *ring)
{
	struct stack_driver driver;
	char *copy = alloc_string(script), *rest = NULL, *lines[SCRIPT_MAX];
	struct stack_lines steps = { lines, 0 };
	char *trace = NULL, *line = strtok_r(copy, "\n", &rest);

	for (; line != NULL; line = strtok_r(NULL, "\n", &rest))
		lines[steps.count++] = line;
	if (stack_driver_start(&driver, ring) == 0) {
		stack_driver_send(&driver, confdir, &steps);
		trace = stack_driver_receive(&driver);
	}
	stack_driver_stop(&driver);
	free(copy);
	return trace;
}

static void
compare(const char *bare, const char *how, const char *other)
{
	CU_ASSERT_PTR_NOT_NULL_FATAL(other);
	CU_ASSERT_STRING_EQUAL(bare, other);
	if (strcmp(bare, other) != 0)
		printf("\n-- bare:\n%s-- %s:\n%s", bare, how, other);
}

static void
check_shown(const struct surroundings_row *row, const char *bare)
{
	CU_ASSERT_PTR_NOT_NULL_FATAL(bare);
	for (size_t i = 0; i < SURROUNDINGS_WORDS && row->must[i]; i++)
		if (strstr(bare, row->must[i]) == NULL) {
			printf("\nnot shown: %s in\n%s", row->must[i], bare);
			CU_FAIL("a row that does not show what it says");
		}
	if (row->must_not != NULL)
		CU_ASSERT_PTR_NULL(strstr(bare, row->must_not));
}

/* The row with the name of the running test. */
static const struct surroundings_row *
running_row(void)
{
	const struct surroundings_row *row = surroundings_rows;

	while (row->name &&
	       strcmp(row->name, CU_get_current_test()->pName) != 0)
		row++;
	return row;
}

static void
run_row(void)
{
	const struct surroundings_row *row = running_row();
	char *confdir, *bare, *wrapped, *audited = NULL;
	struct scene scene;

	if (row->root && geteuid() != 0) {
		test_skip("needs root");
		return;
	}
	begin(&scene, row);
	confdir = wrap_all(&scene, row);
	if (row->removed != NULL) {
		char *path = alloc_format("%s/%s", scene.modules, row->removed);

		CU_ASSERT_EQUAL(unlink(path), 0);
		free(path);
	}
	bare = run_script(scene.bare, row->script, NULL);
	wrapped = run_script(confdir, row->script, NULL);
	check_shown(row, bare);
	compare(bare, "wrapped", wrapped);
	CU_ASSERT(stack_ring_slots(scene.ring) > 0);
	if (!row->not_audited) {
		audited = run_script(scene.bare, row->script, scene.audit_ring);
		compare(bare, "audited", audited);
		CU_ASSERT(stack_ring_slots(scene.audit_ring) > 0);
	}
	free(bare);
	free(wrapped);
	free(audited);
	free(confdir);
	end(&scene);
}

void
surroundings_tests(void)
{
	CU_pSuite suite = test_suite("surroundings", NULL, 0);
	const struct surroundings_row *row = surroundings_rows;

	for (; row->name; row++)
		CU_add_test(suite, row->name, run_row);
	test_external(suite);
}
