/*
 * Shims in a real libpam: stacks are wrapped as `pamprof run` wraps them and
 * driven in a child per test, and the records say what was called. What
 * libpam and the modules notice of it is the matter of the differential
 * tests (pam_oracle_test.c); here it is what is recorded, and what is left.
 */
#include "../test.h"

#include <dlfcn.h>
#include <pthread.h>
#include <security/pam_appl.h>
#include <sys/stat.h>

#include "../../pamprof/base/alloc.h"
#include "../../pamprof/source/pam_wrap.h"
#include "ring_file.h"

enum {
	HANDLES = 1000,
	OVERLAPPING = 50
};

/* The wrapped stack of a running test. */
static struct {
	char dir[64];
	struct pam_wrap *wrap;
} stack;

static int
no_conversation(int count, const struct pam_message **messages,
		struct pam_response **answers, void *appdata)
{
	(void)count;
	(void)messages;
	(void)answers;
	(void)appdata;
	return PAM_CONV_ERR;
}

static struct pam_conv conversation = { no_conversation, NULL };

/* Writes a stack and wraps it; @ in lines is the folder of fake modules. */
static int
wrap(const char *lines, const char *ring)
{
	struct pam_conf_place place = { .service = "shim" };
	struct pam_stack *parsed = NULL;
	struct error error = { 0 };
	char *file;
	FILE *out;
	int r;

	(void)snprintf(stack.dir, sizeof(stack.dir), "%s",
		       "/tmp/pamprof-shim-XXXXXX");
	if (mkdtemp(stack.dir) == NULL)
		abort();
	file = alloc_format("%s.stack", stack.dir);
	out = fopen(file, "we");
	for (const char *c = lines; out != NULL && *c != '\0'; c++) {
		if (*c == '@')
			(void)fprintf(out, "%s/tests/fake", test_build());
		else
			(void)fputc(*c, out);
	}
	if (out == NULL || fclose(out) != 0)
		abort();
	place.stack_file = file;
	r = pam_conf_read(&parsed, &place, &error);
	if (r == 0)
		r = pam_wrap_stack(&stack.wrap, parsed, stack.dir, ring,
				   &error);
	if (r != 0)
		(void)printf("%s ... ", error.text);
	pam_conf_free(parsed);
	unlink(file);
	free(file);
	return r;
}

static void
unwrap(void)
{
	char *command = alloc_format("rm -rf %s", stack.dir);

	pam_wrap_free(stack.wrap);
	stack.wrap = NULL;
	CU_ASSERT_EQUAL(system(command), 0);
	free(command);
}

static pam_handle_t *
start(void)
{
	pam_handle_t *handle = NULL;

	if (pam_start_confdir(stack.wrap->service, "somebody", &conversation,
			      stack.wrap->confdir, &handle) != PAM_SUCCESS)
		return NULL;
	return handle;
}

/* Wraps, runs the body in a child with a ring, cleans up. */
static struct ring_file
run(const char *lines, int (*body)(struct ring_file *), uint32_t options)
{
	struct ring_file file;

	ring_file_make(&file, 1 << 16, options);
	CU_ASSERT_EQUAL_FATAL(wrap(lines, file.path), 0);
	CU_ASSERT_EQUAL(stack.wrap->unwrapped, 0);
	CU_ASSERT_EQUAL(in_child(body, &file), 0);
	unwrap();
	return file;
}

/* Whether a file whose path holds `part` is mapped into this process. */
static bool
is_mapped(const char *part)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[1024];
	bool found = false;

	while (maps != NULL && fgets(line, sizeof(line), maps) != NULL)
		found |= strstr(line, part) != NULL;
	if (maps == NULL || fclose(maps) != 0)
		abort();
	return found;
}

/* Only the resident object may be left when libpam has gone. */
static int
leaves_the_resident(struct ring_file *file)
{
	(void)file;
	for (unsigned i = 0; i < 3; i++) {
		pam_handle_t *handle = start();

		NEED(handle != NULL);
		NEED(is_mapped("1/pam_stub.so") && is_mapped("fake/pam_stub"));
		NEED(pam_authenticate(handle, 0) == PAM_SUCCESS);
		NEED(pam_end(handle, PAM_SUCCESS) == PAM_SUCCESS);
		NEED(!is_mapped("pam_stub.so"));
		NEED(is_mapped("pamprof_resident.so"));
	}
	return 0;
}

/* Whether a load is that of the stub: its path has a text slot to itself. */
static bool
is_stub(struct ring_file *file, const struct record *load)
{
	struct record next = { 0 };
	const struct record_text *text = (const struct record_text *)&next;

	if (load->text_slots == 0)
		return strstr(load->object, "pam_stub.so") != NULL;
	return ring_file_take(file, true, &next) && next.type == RECORD_TEXT &&
	       text->span == load->span &&
	       strstr(text->text, "pam_stub.so") != NULL;
}

static void
unloading(void)
{
	struct ring_file file =
	    run("auth required @/pam_stub.so\n", leaves_the_resident, 0);
	struct record record;
	unsigned loads = 0, calls = 0;

	while (ring_file_take(&file, true, &record)) {
		/* the "other" service loads modules too */
		loads += record.kind == KIND_LOAD && is_stub(&file, &record);
		calls += record.kind == KIND_CALL && record.type == RECORD_END;
		if (record.type == RECORD_END && record.kind == KIND_CALL) {
			CU_ASSERT_EQUAL(record.marker, 1);
			CU_ASSERT(record.valid & VALID_MARKER);
			CU_ASSERT_EQUAL(record.phase, PHASE_AUTHENTICATE);
		}
	}
	CU_ASSERT_EQUAL(loads, 3);
	CU_ASSERT_EQUAL(calls, 3);
	ring_file_remove(&file);
}

/* A module's call of its own pam_sm_authenticate is its own business. */
static int
calls_itself(struct ring_file *file)
{
	pam_handle_t *handle = start();

	(void)file;
	NEED(handle != NULL);
	NEED(pam_acct_mgmt(handle, 0) == PAM_SUCCESS);
	NEED(pam_setcred(handle, 0) == PAM_SUCCESS);
	pam_end(handle, PAM_SUCCESS);
	return 0;
}

static void
inner_calls(void)
{
	struct ring_file file = run("auth required @/pam_stub.so callself\n"
				    "account required @/pam_stub.so callself\n",
				    calls_itself, 0);
	struct record record;
	unsigned begins = 0;

	while (ring_file_take(&file, true, &record)) {
		begins += record.type == RECORD_BEGIN;
		CU_ASSERT_NOT_EQUAL(record.phase, PHASE_AUTHENTICATE);
	}
	CU_ASSERT_EQUAL(begins, 2);
	ring_file_remove(&file);
}

static int
one_transaction(void)
{
	pam_handle_t *handle = start();

	NEED(handle != NULL);
	NEED(pam_authenticate(handle, 0) == PAM_SUCCESS);
	NEED(pam_acct_mgmt(handle, 0) == PAM_SUCCESS);
	NEED(pam_end(handle, PAM_SUCCESS) == PAM_SUCCESS);
	return 0;
}

static void *
transactions_thread(void *failed)
{
	for (unsigned i = 0; i < HANDLES / 4; i++)
		*(int *)failed |= one_transaction();
	return NULL;
}

static int
many_handles(struct ring_file *file)
{
	pam_handle_t *handles[OVERLAPPING];
	pthread_t thread[4];
	int failed[4] = { 0 };

	(void)file;
	for (unsigned i = 0; i < HANDLES; i++)
		NEED(one_transaction() == 0);
	for (unsigned i = 0; i < OVERLAPPING; i++)
		NEED((handles[i] = start()) != NULL);
	for (unsigned i = 0; i < OVERLAPPING; i++)
		NEED(pam_authenticate(handles[i], 0) == PAM_SUCCESS);
	for (unsigned i = OVERLAPPING; i > 0; i--)
		NEED(pam_acct_mgmt(handles[i - 1], 0) == PAM_SUCCESS);
	for (unsigned i = 0; i < OVERLAPPING; i++)
		pam_end(handles[i], PAM_SUCCESS);
	for (unsigned i = 0; i < 4; i++)
		NEED(pthread_create(&thread[i], NULL, transactions_thread,
				    &failed[i]) == 0);
	for (unsigned i = 0; i < 4; i++)
		NEED(pthread_join(thread[i], NULL) == 0 && failed[i] == 0);
	return 0;
}

/* Two calls per handle: every id must be seen twice, auth and account. */
static void
handles_are_told_apart(void)
{
	static unsigned char seen[2 * HANDLES + OVERLAPPING];
	struct ring_file file = run("auth required pam_permit.so\n"
				    "account required pam_permit.so\n",
				    many_handles, 0);
	struct record record;
	unsigned wrong = 0;

	memset(seen, 0, sizeof(seen));
	while (ring_file_take(&file, true, &record)) {
		uint64_t id = record.transaction - 1000000;

		if (record.kind != KIND_CALL || record.type != RECORD_END)
			continue;
		if (id < sizeof(seen))
			seen[id] |= record.phase == PHASE_ACCT_MGMT ? 2 : 1;
		else
			wrong++;
	}
	for (size_t i = 0; i < sizeof(seen); i++)
		wrong += seen[i] != 3;
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_EQUAL(file.header->transactions, sizeof(seen));
	CU_ASSERT_EQUAL(file.torn + file.overwritten, 0);
	ring_file_remove(&file);
}

/* The conversation as a module sees it: kept, and used when all is gone. */
static struct pam_conv kept;
static pam_handle_t *talking;

static int
keeping(int count, const struct pam_message **messages,
	struct pam_response **answers, void *appdata)
{
	const void *item = NULL;

	(void)messages;
	if (talking != NULL &&
	    pam_get_item(talking, PAM_CONV, &item) == PAM_SUCCESS)
		kept = *(const struct pam_conv *)item;
	*(int *)appdata += count;
	*answers = NULL;
	return PAM_CONV_ERR;
}

static int
outlives_the_shim(struct ring_file *file)
{
	int talked = 0;
	struct pam_response *answers;

	(void)file;
	conversation = (struct pam_conv){ keeping, &talked };
	talking = start();
	NEED(talking != NULL);
	pam_authenticate(talking, 0);
	NEED(talked > 0 && kept.conv != NULL && kept.conv != keeping);
	pam_end(talking, PAM_SUCCESS);
	talking = NULL;
	NEED(!is_mapped("pam_stub.so"));
	talked = 0;
	NEED(kept.conv(1, NULL, &answers, kept.appdata_ptr) == PAM_CONV_ERR);
	NEED(talked == 1);
	return 0;
}

static void
kept_conversation(void)
{
	struct ring_file file =
	    run("auth required @/pam_stub.so prompt=x\n", outlives_the_shim, 2);

	ring_file_remove(&file);
}

/* The session's child of a login: same handle, same id, another process. */
static int
setcred_in_child(struct ring_file *file)
{
	(void)file;
	NEED(pam_setcred(talking, PAM_ESTABLISH_CRED) == PAM_SUCCESS);
	NEED(!is_mapped("/dev/shm/pamprof-test"));
	return 0;
}

static int
forks_with_handle(struct ring_file *file)
{
	talking = start();
	NEED(talking != NULL);
	NEED(pam_authenticate(talking, 0) == PAM_SUCCESS);
	NEED(is_mapped("/dev/shm/pamprof-test"));
	NEED(in_child(setcred_in_child, file) == 0);
	pam_end(talking, PAM_SUCCESS);
	return 0;
}

static void
forked_transaction(void)
{
	struct ring_file file =
	    run("auth required pam_permit.so\n", forks_with_handle, RING_CPU);
	struct record record, first = { 0 }, last = { 0 };

	while (ring_file_take(&file, true, &record)) {
		if (record.type != RECORD_END || record.kind != KIND_CALL)
			continue;
		first = last;
		last = record;
	}
	CU_ASSERT_EQUAL(first.phase, PHASE_AUTHENTICATE);
	CU_ASSERT_EQUAL(last.phase, PHASE_SETCRED);
	CU_ASSERT_EQUAL(first.transaction, last.transaction);
	CU_ASSERT_NOT_EQUAL(first.pid, last.pid);
	CU_ASSERT_EQUAL(last.ppid, first.pid);
	CU_ASSERT_EQUAL(last.tid, last.pid);
	CU_ASSERT(last.valid & VALID_CPU);
	ring_file_remove(&file);
}

/* Values are the same whatever stands where the ring should be. */
static int
same_values(struct ring_file *file)
{
	pam_handle_t *handle = start();

	(void)file;
	NEED(handle != NULL);
	NEED(pam_authenticate(handle, 0) == PAM_SUCCESS);
	NEED(pam_acct_mgmt(handle, 0) == PAM_AUTH_ERR);
	NEED(pam_end(handle, PAM_SUCCESS) == PAM_SUCCESS);
	return 0;
}

static void
without_ring(void)
{
	static const char lines[] = "auth required pam_permit.so\n"
				    "account required pam_deny.so\n";
	struct ring_file file;
	uint64_t recorded;

	ring_file_make(&file, 16, 0);
	CU_ASSERT_EQUAL_FATAL(wrap(lines, file.path), 0);
	CU_ASSERT_EQUAL(in_child(same_values, &file), 0);
	recorded = file.header->head;
	CU_ASSERT(recorded > 0);
	file.header->version++;
	CU_ASSERT_EQUAL(in_child(same_values, &file), 0);
	unlink(file.path);
	CU_ASSERT_EQUAL(in_child(same_values, &file), 0);
	CU_ASSERT_EQUAL(mkfifo(file.path, 0600), 0);
	CU_ASSERT_EQUAL(in_child(same_values, &file), 0);
	CU_ASSERT_EQUAL(file.header->head, recorded);
	unwrap();
	ring_file_remove(&file);
}

/* Nor does the resident object have to be there, or be one. */
static void
without_resident(void)
{
	struct ring_file file;
	char *resident;
	FILE *out;

	ring_file_make(&file, 16, 0);
	CU_ASSERT_EQUAL_FATAL(wrap("auth required pam_permit.so\n"
				   "account required pam_deny.so\n",
				   file.path),
			      0);
	resident = alloc_format("%s/shims/pamprof_resident.so", stack.dir);
	CU_ASSERT_EQUAL_FATAL(unlink(resident), 0);
	CU_ASSERT_EQUAL(in_child(same_values, &file), 0);
	out = fopen(resident, "we");
	CU_ASSERT_FATAL(out != NULL);
	(void)fputs("no object", out);
	CU_ASSERT_EQUAL(fclose(out), 0);
	CU_ASSERT_EQUAL(in_child(same_values, &file), 0);
	CU_ASSERT_EQUAL(file.header->head, 0);
	free(resident);
	unwrap();
	ring_file_remove(&file);
}

void shim_tests(void);

void
shim_tests(void)
{
	static const struct test_row rows[] = {
		{ "unloading", unloading },
		{ "inner_calls", inner_calls },
		{ "handles_are_told_apart", handles_are_told_apart },
		{ "kept_conversation", kept_conversation },
		{ "forked_transaction", forked_transaction },
		{ "without_ring", without_ring },
		{ "without_resident", without_resident },
	};

	test_external(TEST_SUITE("shim", rows));
}
