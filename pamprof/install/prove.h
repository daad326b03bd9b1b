/*
 * That a new stack is the old one with shims, before it is used.
 */
#ifndef PAMPROF_INSTALL_PROVE_H
#define PAMPROF_INSTALL_PROVE_H

#include "../source/pam_conf.h"
#include "drive.h"

/* One stack that is to be instrumented. */
struct proof {
	const char *service;
	struct pam_stack *old; /* numbered */
	const char *folder;    /* /etc/pamprof/SERVICE.SEQ */
	const char *installed; /* the new file of the service, in folder */
	unsigned base;         /* markers are above it */
	const char **shims;    /* distinct paths */
	size_t shims_count;
	bool sshd_agreed;        /* set by prove_before() */
	struct buffer *unproven; /* sentences for the user, a line each */
};

/*
 * Reads the new stack back and compares it with the old one rule by rule;
 * then drives both with stubs (drive.h). Makes folder/trial, which the
 * caller removes with the folder or by prove_done().
 */
int prove_before(struct proof *proof, struct error *error);

/*
 * Loads each shim in a process of its own, confined as the program of the
 * service is where AppArmor confines it.
 */
int prove_shims(const struct proof *proof, struct error *error);

/*
 * After the switch: drives the file that is in place with stubs over its
 * modules against the old stack of prove_before(), and asks sshd -t where
 * the service is sshd.
 */
int prove_after(const struct proof *proof, struct error *error);

/* Removes folder/trial. */
int prove_done(const struct proof *proof, struct error *error);

#endif
