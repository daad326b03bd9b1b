/*
 * The driver program (tests/fake/driver.c) as a process that answers jobs.
 */
#ifndef PAMPROF_TESTS_STACK_DRIVER_H
#define PAMPROF_TESTS_STACK_DRIVER_H

#include <stdio.h>
#include <sys/types.h>

#include "stack_generator.h"

/* All zero: not running. */
struct stack_driver {
	pid_t pid;
	FILE *to, *from;
};

/*
 * Starts BUILD/tests/fake/driver with no descriptors but its three; if ring
 * is not NULL, under our rtld auditor, which records into that ring. Returns
 * 0, or -1 with a message printed.
 */
int stack_driver_start(struct stack_driver *driver, const char *ring);

/* Sends one job; its answer is to be received before the next is sent. */
void stack_driver_send(struct stack_driver *driver, const char *confdir,
		       const struct stack_lines *script);

/* The trace of the job, or NULL if the driver has died; free(3) it. */
char *stack_driver_receive(struct stack_driver *driver);

/* Ends the driver and waits for it; nothing if it is not running. */
void stack_driver_stop(struct stack_driver *driver);

/*
 * Copies the stub modules to folder, which is made: paths of one length
 * wherever the build lies, readable for every user. Returns 0 or -1.
 */
int stack_modules_copy(const char *folder);

/* Slots of a ring that have been written; 0 if it cannot be read. */
uint64_t stack_ring_slots(const char *path);

/* Removes a folder of temporary files and all in it. */
void stack_folder_remove(const char *folder);

#endif
