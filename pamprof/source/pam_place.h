/*
 * Where libpam finds services, included files and modules; private to
 * pam_conf. Every function honours --root, inside which symbolic links are
 * followed as if it were the root folder.
 */
#ifndef PAMPROF_SOURCE_PAM_PLACE_H
#define PAMPROF_SOURCE_PAM_PLACE_H

#include "pam_conf.h"

#define PAM_PLACE_MISSING 1 /* what libpam cannot find either */

/* The largest configuration file that is read. */
#define PAM_PLACE_MOST (1024UL * 1024)

/*
 * Opens and reads path (inside root when that is not NULL) into *file: path,
 * text, size, device, inode. Returns 0, PAM_PLACE_MISSING without an error,
 * or a negative error. *file is NULL unless 0 is returned; free it with
 * pam_place_free().
 */
int pam_place_read(struct pam_file **file, const char *root, const char *path,
		   struct error *error);
void pam_place_free(struct pam_file *file);

/* Like pam_place_read() for a service: the folders in libpam's order. */
int pam_place_read_service(struct pam_file **file,
			   const struct pam_conf_place *place,
			   const char *service, struct error *error);

/*
 * The path that libpam opens for a target of include, substack or @include;
 * free(3) it. Debian's libpam looks in /etc/pam.d and nowhere else for a
 * target that is not absolute, whatever folder the service came from.
 */
char *pam_place_include(const char *target);

/*
 * The path that dlopen(3) gets for a module word; free(3) it. NULL when no
 * regular file is there.
 */
char *pam_place_module(const char *root, const char *word);

/* The folders searched for modules, for messages; static memory. */
const char *pam_place_module_folders(void);

/* Whether the folder exists, as far as we are allowed to know. */
bool pam_place_is_folder(const char *root, const char *path);

/* pam_conf_libpam_minor() of the libpam inside root. */
unsigned pam_place_libpam_minor(const char *root);

#endif
