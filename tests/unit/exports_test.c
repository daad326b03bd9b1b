/*
 * The objects that run in other people's processes, as files: they export
 * what their .map says and nothing else, need no library they could do
 * without, and the shim is as small as a loaded object can be.
 */
#include "../test.h"

#include <elf.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../pamprof/base/alloc.h"
#include "../../pamprof/base/buffer.h"
#include "../../pamprof/base/safe_file.h"

enum {
	OBJECT_LIMIT = 8 << 20
};

/* A shared object in memory, and its dynamic symbols and entries. */
struct object {
	struct buffer bytes;
	const Elf64_Sym *symbols;
	size_t symbols_count;
	const Elf64_Dyn *dynamic;
	const char *names; /* of both */
};

static const Elf64_Ehdr *
head(const struct object *object)
{
	return (const Elf64_Ehdr *)(const void *)object->bytes.data;
}

static const Elf64_Phdr *
segment(const struct object *object, unsigned i)
{
	return (const Elf64_Phdr *)(const void *)(object->bytes.data +
						  head(object)->e_phoff) +
	       i;
}

static bool
object_open(struct object *object, const char *path)
{
	struct error error = { 0 };
	const Elf64_Shdr *sections;

	memset(object, 0, sizeof(*object));
	if (safe_file_read(path, LINKS_REFUSED, OBJECT_LIMIT, &object->bytes,
			   &error) != 0)
		return false;
	sections = (const Elf64_Shdr *)(const void *)(object->bytes.data +
						      head(object)->e_shoff);
	for (unsigned i = 0; i < head(object)->e_shnum; i++) {
		const char *data = object->bytes.data + sections[i].sh_offset;

		if (sections[i].sh_type == SHT_DYNAMIC)
			object->dynamic = (const void *)data;
		if (sections[i].sh_type != SHT_DYNSYM)
			continue;
		object->symbols = (const void *)data;
		object->symbols_count = sections[i].sh_size / sizeof(Elf64_Sym);
		object->names = object->bytes.data +
				sections[sections[i].sh_link].sh_offset;
	}
	return object->symbols != NULL && object->dynamic != NULL;
}

static bool
exports(const struct object *object, const char *name)
{
	for (size_t i = 1; i < object->symbols_count; i++) {
		const Elf64_Sym *symbol = &object->symbols[i];

		if (symbol->st_shndx != SHN_UNDEF &&
		    strcmp(object->names + symbol->st_name, name) == 0)
			return true;
	}
	return false;
}

static size_t
exports_count(const struct object *object)
{
	size_t count = 0;

	for (size_t i = 1; i < object->symbols_count; i++)
		count += object->symbols[i].st_shndx != SHN_UNDEF;
	return count;
}

/* Every name of a map's "global:" part is exported, and no other. */
static void
check_map(const char *map, const struct object *object)
{
	struct buffer text = { 0 };
	struct error error = { 0 };
	size_t count = 0;
	char *part, *end, *rest = NULL;

	CU_ASSERT_EQUAL_FATAL(
	    safe_file_read(map, LINKS_REFUSED, 65536, &text, &error), 0);
	part = strstr(text.data, "global:");
	CU_ASSERT_FATAL(part != NULL);
	part += strlen("global:");
	end = strstr(part, "local:");
	CU_ASSERT_FATAL(end != NULL);
	*end = '\0';
	for (char *name = strtok_r(part, " \t\n;", &rest); name != NULL;
	     name = strtok_r(NULL, " \t\n;", &rest)) {
		count++;
		if (exports(object, name))
			continue;
		(void)printf("%s: %s is not exported ... ", map, name);
		CU_FAIL("a name of the map is missing");
	}
	CU_ASSERT_EQUAL(exports_count(object), count);
	buffer_free(&text);
}

/* Calls check for each modules/NAME.map and its object in the build. */
static void
objects_export_their_maps(void)
{
	glob_t maps;

	CU_ASSERT_EQUAL_FATAL(
	    glob(test_source("modules/*.map"), 0, NULL, &maps), 0);
	for (size_t i = 0; i < maps.gl_pathc; i++) {
		const char *base = strrchr(maps.gl_pathv[i], '/') + 1;
		char *path = alloc_format("%s/modules/%.*s.so", test_build(),
					  (int)strlen(base) - 4, base);
		struct object object;

		/* An object without its source yet is not built. */
		if (access(path, F_OK) == 0) {
			CU_ASSERT_FATAL(object_open(&object, path));
			check_map(maps.gl_pathv[i], &object);
			buffer_free(&object.bytes);
		}
		free(path);
	}
	CU_ASSERT(maps.gl_pathc >= 2);
	globfree(&maps);
}

static bool
needs(const struct object *object, const char *library)
{
	for (const Elf64_Dyn *d = object->dynamic; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_NEEDED &&
		    strncmp(object->names + d->d_un.d_val, library,
			    strlen(library)) == 0)
			return true;
	}
	return false;
}

static unsigned
needed_count(const struct object *object)
{
	unsigned count = 0;

	for (const Elf64_Dyn *d = object->dynamic; d->d_tag != DT_NULL; d++)
		count += d->d_tag == DT_NEEDED;
	return count;
}

static unsigned
segments(const struct object *object, unsigned type)
{
	unsigned count = 0;

	for (unsigned i = 0; i < head(object)->e_phnum; i++)
		count += segment(object, i)->p_type == type;
	return count;
}

/* Two segments, no pages to protect again, no library but the C library. */
static void
the_shim_is_lean(void)
{
	struct object object;
	char *path = alloc_format("%s/modules/pam_timing.so", test_build());

	CU_ASSERT_FATAL(object_open(&object, path));
	CU_ASSERT_EQUAL(segments(&object, PT_LOAD), 2);
	CU_ASSERT_EQUAL(segments(&object, PT_GNU_RELRO), 0);
	CU_ASSERT_EQUAL(segments(&object, PT_TLS), 0);
	CU_ASSERT(needed_count(&object) <= 1);
	CU_ASSERT(!needs(&object, "libpam"));
	/* Of libpam it calls nothing: the resident object does. */
	for (size_t i = 1; i < object.symbols_count; i++) {
		const Elf64_Sym *symbol = &object.symbols[i];

		if (symbol->st_shndx == SHN_UNDEF)
			CU_ASSERT(strncmp(object.names + symbol->st_name,
					  "pam_", 4) != 0);
	}
	buffer_free(&object.bytes);
	free(path);
}

/* It stays when the shims go, and what could be executed is not writable. */
static void
the_resident_stays(void)
{
	struct object object;
	bool stays = false;
	char *path =
	    alloc_format("%s/modules/pamprof_resident.so", test_build());

	CU_ASSERT_FATAL(object_open(&object, path));
	for (const Elf64_Dyn *d = object.dynamic; d->d_tag != DT_NULL; d++)
		stays |= d->d_tag == DT_FLAGS_1 &&
			 (d->d_un.d_val & DF_1_NODELETE) != 0;
	CU_ASSERT(stays);
	CU_ASSERT(needs(&object, "libpam.so.0"));
	for (unsigned i = 0; i < head(&object)->e_phnum; i++)
		CU_ASSERT((segment(&object, i)->p_flags & (PF_W | PF_X)) !=
			  (PF_W | PF_X));
	buffer_free(&object.bytes);
	free(path);
}

void exports_tests(void);

void
exports_tests(void)
{
	static const struct test_row rows[] = {
		{ "objects_export_their_maps", objects_export_their_maps },
		{ "the_shim_is_lean", the_shim_is_lean },
		{ "the_resident_stays", the_resident_stays },
	};

	test_external(TEST_SUITE("exports", rows));
}
