/*
 * Where modules and shipped files lie. Separate because it is the one file
 * compiled with the installation paths, and so the one that PREFIX rebuilds.
 * The environment is not asked: the program runs as root and what lies here
 * is loaded into other programs.
 */
#include "places.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct place {
	const char *beside, *installed;
	char path[PATH_MAX];
};

static struct place modules = { .beside = "modules", .installed = MODULE_DIR };
static struct place configs = { .beside = "configs", .installed = CONFIG_DIR };

/* Folder of the running program, "" if it cannot be told. */
static const char *
program_folder(void)
{
	static char folder[PATH_MAX];
	ssize_t length;

	if (folder[0])
		return folder;
	length = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
	folder[length > 0 ? length : 0] = '\0';
	if (strrchr(folder, '/'))
		*strrchr(folder, '/') = '\0';
	return folder;
}

/* Whether the program stands in a build folder: its modules tell. */
static bool
in_build_folder(void)
{
	char probe[PATH_MAX];
	int length = snprintf(probe, sizeof(probe), "%s/modules/pam_timing.so",
			      program_folder());

	return length > 0 && (size_t)length < sizeof(probe) &&
	       access(probe, R_OK) == 0;
}

static const char *
find(struct place *place)
{
	int length;

	if (place->path[0])
		return place->path;
	if (!in_build_folder())
		return place->installed;
	length = snprintf(place->path, sizeof(place->path), "%s/%s",
			  program_folder(), place->beside);
	if (length < 0 || (size_t)length >= sizeof(place->path)) {
		place->path[0] = '\0';
		return place->installed;
	}
	return place->path;
}

const char *
install_path_modules(void)
{
	return find(&modules);
}

const char *
install_path_configs(void)
{
	return find(&configs);
}
