/*
 * The auditor's reading of objects, against the loader's own: every object
 * of this process and every function of libpam. What the auditor does inside
 * programs is tested by the comparison of stacks (differ_test.c) and by
 * tests/e2e/trace_*.sh.
 */
#include "../test.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "../../modules/audit_object.c"

static const char *const names[] = {
	"pam_get_item",     "pam_get_data", "pam_set_data", "pam_start",
	"pam_end",          "pam_syslog",   "pam_nothing",  "",
	"__errno_location", "malloc",       "CU_add_suite", "pam_sm_setcred",
};

static struct link_map *
objects(void)
{
	return _r_debug.r_map;
}

/* What the loader finds when it looks at one object's own symbols. */
static uintptr_t
address_in(const struct link_map *map, const char *name)
{
	void *handle = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
	void *found = handle != NULL ? dlsym(handle, name) : NULL;
	Dl_info info;

	if (handle != NULL)
		(void)dlclose(handle);
	/* dlsym() also looks into what the object needs. */
	if (found == NULL || dladdr(found, &info) == 0 ||
	    (uintptr_t)info.dli_fbase != map->l_addr)
		return 0;
	return (uintptr_t)found;
}

static void
functions(void)
{
	unsigned found = 0;

	for (struct link_map *map = objects()->l_next; map != NULL;
	     map = map->l_next) {
		struct audit_object object;

		if (*map->l_name != '/' || !audit_object_read(&object, map))
			continue;
		for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]);
		     i++) {
			uintptr_t ours =
			    audit_object_function(&object, names[i]);

			CU_ASSERT_EQUAL(ours, address_in(map, names[i]));
			found += ours != 0;
		}
	}
	CU_ASSERT(found >= 9);
}

static void
kinds(void)
{
	unsigned libpam = 0, libc = 0;
	struct audit_object object;

	CU_ASSERT(audit_object_read(&object, objects()));
	CU_ASSERT(audit_object_needs(&object, "libpam.so."));
	CU_ASSERT(!audit_object_needs(&object, "libpam.so.1"));
	for (struct link_map *map = objects(); map != NULL; map = map->l_next) {
		if (!audit_object_read(&object, map))
			continue;
		libpam += audit_object_is(&object, "libpam.so.");
		libc += audit_object_is(&object, "libc.so.");
	}
	CU_ASSERT_EQUAL(libpam, 1);
	CU_ASSERT_EQUAL(libc, 1);
}

/* The other hash table, which some linkers still make, finds the same. */
static void
old_hash(void)
{
	struct link_map *map = objects();
	struct audit_object object;
	const ElfW(Sym) * end;
	uint32_t table[2] = { 1, 0 };
	uintptr_t usual;

	while (map != NULL && strstr(map->l_name, "libpam.so") == NULL)
		map = map->l_next;
	CU_ASSERT_PTR_NOT_NULL_FATAL(map);
	CU_ASSERT_FATAL(audit_object_read(&object, map));
	usual = audit_object_function(&object, "pam_get_item");
	/* Symbols end where their strings begin, in every usual object. */
	end = (const void *)object.strings;
	table[1] = (uint32_t)(end - object.symbols);
	object.gnu_hash = NULL;
	object.sysv_hash = table;
	CU_ASSERT_EQUAL(audit_object_function(&object, "pam_get_item"), usual);
	CU_ASSERT_EQUAL(audit_object_function(&object, "pam_nothing"), 0);
	object.sysv_hash = NULL;
	CU_ASSERT_EQUAL(audit_object_function(&object, "pam_get_item"), 0);
}

void audit_tests(void);

void
audit_tests(void)
{
	static const struct test_row rows[] = {
		{ "functions as the loader finds them", functions },
		{ "names of objects", kinds },
		{ "without DT_GNU_HASH", old_hash },
	};

	(void)TEST_SUITE("audit", rows);
}
