/*
 * Edits to a copy of a shared object in memory, just those that making a
 * shim needs: no byte moves, no size changes.
 */
#ifndef PAMPROF_SOURCE_ELF_PATCH_H
#define PAMPROF_SOURCE_ELF_PATCH_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The one place in image where magic (length bytes) stands; NULL when it is
 * not there or there twice.
 */
void *elf_patch_find(void *image, size_t size, const char *magic,
		     size_t length);

/*
 * Makes the dynamic symbol `name` impossible to look up, by changing its
 * first character in the dynamic string table: its hash no longer fits, and
 * dlsym(3) says that it is missing. Returns whether it was found and hidden.
 */
bool elf_patch_hide(void *image, size_t size, const char *name);

#endif
