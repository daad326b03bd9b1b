/*
 * A stack as files in a folder: the service and each file it includes, with
 * every marked rule calling what a caller wants.
 */
#ifndef PAMPROF_INSTALL_COPIES_H
#define PAMPROF_INSTALL_COPIES_H

#include "../source/pam_rewrite.h"

struct copies;

/*
 * Plans the copies of what stack reaches from its root: the root at
 * root_path, the rest as DIR/N-NAME. stack must stay. Free with
 * copies_free().
 */
struct copies *copies_plan(const struct pam_stack *stack, const char *dir,
			   const char *root_path, pam_shim_for shim,
			   void *context);
void copies_free(struct copies *copies);

/* Writes them (mode 0644) into folders that are there. */
int copies_write(const struct copies *copies, struct error *error);

/* Calls take for each file with its copy's path and text. */
typedef void (*copy_taker)(void *context, const struct pam_file *file,
			   const char *path, const struct buffer *text);
void copies_each(const struct copies *copies, copy_taker take, void *context);

#endif
