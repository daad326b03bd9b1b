/*
 * Where the parts of pamprof that are files of their own lie.
 */
#ifndef PAMPROF_BASE_PLACES_H
#define PAMPROF_BASE_PLACES_H

/*
 * Absolute path of the folder that holds pam_timing.so and its companions:
 * "modules" beside the running program if pam_timing.so is there (a build
 * folder), else where `make install` puts them. Static memory.
 */
const char *install_path_modules(void);

/* The same for configs ("configs" beside the program, or share/pamprof). */
const char *install_path_configs(void);

#endif
