/*
 * Reads an object's dynamic section the way the loader does. Separate because
 * an auditor can ask neither dlsym(3) nor dladdr(3) about the program's
 * objects: it lives in a namespace of its own, and is asked about them before
 * they are usable.
 */
#include <string.h>

#include "audit.h"

/* glibc has relocated these in place, other loaders have not. */
static const void *
pointer(const struct audit_object *object, ElfW(Addr) value)
{
	if (value < object->base)
		value += object->base;
	return (const void *)value;
}

bool
audit_object_read(struct audit_object *object, const struct link_map *map)
{
	memset(object, 0, sizeof(*object));
	object->base = map->l_addr;
	object->dynamic = map->l_ld;
	if (map->l_ld == NULL)
		return false;
	for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
		const void *there = pointer(object, d->d_un.d_ptr);

		if (d->d_tag == DT_SYMTAB)
			object->symbols = there;
		else if (d->d_tag == DT_STRTAB)
			object->strings = there;
		else if (d->d_tag == DT_GNU_HASH)
			object->gnu_hash = there;
		else if (d->d_tag == DT_HASH)
			object->sysv_hash = there;
	}
	return object->symbols != NULL && object->strings != NULL;
}

static bool
has_entry(const struct audit_object *object, ElfW(Sxword) tag, const char *name)
{
	for (const ElfW(Dyn) *d = object->dynamic; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == tag && strncmp(object->strings + d->d_un.d_val,
					       name, strlen(name)) == 0)
			return true;
	}
	return false;
}

bool
audit_object_is(const struct audit_object *object, const char *name)
{
	return has_entry(object, DT_SONAME, name);
}

bool
audit_object_needs(const struct audit_object *object, const char *name)
{
	return has_entry(object, DT_NEEDED, name);
}

/* Whether symbol number i is a function of that name, defined here. */
static bool
is_function(const struct audit_object *object, uint32_t i, const char *name)
{
	const ElfW(Sym) *symbol = &object->symbols[i];

	return symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0 &&
	       ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
	       strcmp(object->strings + symbol->st_name, name) == 0;
}

/* Symbol number by DT_GNU_HASH, 0 if there is none. */
static uint32_t
find_gnu(const struct audit_object *object, const char *name)
{
	const uint32_t *table = object->gnu_hash;
	uint32_t buckets = table[0], first = table[1], hash = 5381, i;
	const uint32_t *bucket =
	    table + 4 + table[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
	const uint32_t *chain = bucket + buckets;

	if (buckets == 0)
		return 0;
	for (const unsigned char *c = (const unsigned char *)name; *c; c++)
		hash = hash * 33 + *c;
	i = bucket[hash % buckets];
	if (i < first)
		return 0;
	for (;; i++) {
		uint32_t entry = chain[i - first];

		if ((entry | 1) == (hash | 1) && is_function(object, i, name))
			return i;
		if ((entry & 1) != 0)
			return 0;
	}
}

/* The same by DT_HASH: every symbol, such objects are rare and small. */
static uint32_t
find_sysv(const struct audit_object *object, const char *name)
{
	for (uint32_t i = 1; i < object->sysv_hash[1]; i++) {
		if (is_function(object, i, name))
			return i;
	}
	return 0;
}

uintptr_t
audit_object_function(const struct audit_object *object, const char *name)
{
	uint32_t i = 0;

	if (object->gnu_hash != NULL)
		i = find_gnu(object, name);
	else if (object->sysv_hash != NULL)
		i = find_sysv(object, name);
	return i == 0 ? 0 : object->base + object->symbols[i].st_value;
}
