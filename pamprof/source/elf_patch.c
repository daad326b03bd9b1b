/*
 * The two edits that turn the template into a shim. Apart from pam_shim.c
 * because ELF is their only subject; follows elf(5).
 */
#include <elf.h>
#include <link.h>
#include <string.h>

#include "elf_patch.h"

void *
elf_patch_find(void *image, size_t size, const char *magic, size_t length)
{
	char *first = memmem(image, size, magic, length), *after;

	if (first == NULL)
		return NULL;
	after = first + length;
	if (memmem(after, size - (size_t)(after - (char *)image), magic,
		   length) != NULL)
		return NULL;
	return first;
}

/* Program header number i, or NULL past the end or outside the image. */
static const ElfW(Phdr) * segment(const void *image, size_t size, unsigned i)
{
	const ElfW(Ehdr) *header = image;

	if (size < sizeof(*header) || i >= header->e_phnum ||
	    header->e_phentsize != sizeof(ElfW(Phdr)) ||
	    header->e_phoff > size ||
	    (i + 1) * sizeof(ElfW(Phdr)) > size - header->e_phoff)
		return NULL;
	return (const ElfW(Phdr) *)((const char *)image + header->e_phoff) + i;
}

/* File offset of a virtual address; size when there is none. */
static size_t
offset_of(const void *image, size_t size, ElfW(Addr) address)
{
	const ElfW(Phdr) * ph;

	for (unsigned i = 0; (ph = segment(image, size, i)) != NULL; i++) {
		if (ph->p_type == PT_LOAD && address >= ph->p_vaddr &&
		    address - ph->p_vaddr < ph->p_filesz)
			return address - ph->p_vaddr + ph->p_offset;
	}
	return size;
}

/* The value of a dynamic tag; 0 when it is not there. */
static ElfW(Xword) dynamic(const void *image, size_t size, ElfW(Sxword) tag)
{
	const ElfW(Phdr) * ph;

	for (unsigned i = 0; (ph = segment(image, size, i)) != NULL; i++) {
		const ElfW(Dyn) * dyn;
		size_t count = ph->p_filesz / sizeof(*dyn);

		if (ph->p_type != PT_DYNAMIC || ph->p_offset > size ||
		    ph->p_filesz > size - ph->p_offset)
			continue;
		dyn = (const ElfW(Dyn) *)((const char *)image + ph->p_offset);
		for (size_t d = 0; d < count && dyn[d].d_tag != DT_NULL; d++) {
			if (dyn[d].d_tag == tag)
				return dyn[d].d_un.d_val;
		}
	}
	return 0;
}

bool
elf_patch_hide(void *image, size_t size, const char *name)
{
	size_t start = offset_of(image, size, dynamic(image, size, DT_STRTAB));
	size_t length = dynamic(image, size, DT_STRSZ);
	size_t wanted = strlen(name) + 1;
	char *strings = (char *)image + start;

	if (start >= size || length > size - start)
		return false;
	for (size_t i = 1; i + wanted <= length; i++) {
		if (strings[i - 1] == '\0' &&
		    memcmp(strings + i, name, wanted) == 0) {
			strings[i] = '-';
			return true;
		}
	}
	return false;
}
