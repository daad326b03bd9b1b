/*
 * The comparison by driving. Apart from the comparison by reading (prove.c),
 * because here libpam itself is the judge: the same random results go into
 * the old and the new stack, and everything that comes out must agree.
 */
#include "drive.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <security/pam_appl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../modules/trial.h"
#include "../base/alloc.h"
#include "../base/child.h"
#include "../base/places.h"

#define SECONDS 120
#define PHASES  7

/* What the child says, in memory that both have. */
struct answer {
	int value;
	char text[512];
};

struct driving {
	const struct drive_stack *stacks[2];
	const struct drive_hidden *hidden;
	unsigned vectors;
	struct answer *answer;
	struct trial_table **slot; /* the stub's pointer to its table */
};

/* Verdicts of one transaction. */
struct verdicts {
	int start, phase[PHASES];
};

static int
answer(struct driving *driving, int value, const char *text)
{
	driving->answer->value = value;
	(void)snprintf(driving->answer->text, sizeof(driving->answer->text),
		       "%s", text);
	return 0;
}

static int
no_conversation(int count, const struct pam_message **messages,
		struct pam_response **answers, void *appdata)
{
	(void)count;
	(void)messages;
	(void)answers;
	(void)appdata;
	return PAM_CONV_ERR;
}

/* No socket from here on: neither a line in a log nor an audit record. */
static void
forbid_sockets(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 1),
		BPF_STMT(BPF_RET | BPF_K,
			 SECCOMP_RET_ERRNO | (EPROTONOSUPPORT & 0xffff)),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(code) / sizeof(code[0]),
					    code };

	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Success is likely, so that stacks are gone through to their ends. */
static void
draw(struct trial_table *table, unsigned *seed)
{
	for (unsigned rule = 0; rule < TRIAL_LEFT; rule++)
		for (unsigned f = 0; f < TRIAL_FUNCTIONS; f++) {
			unsigned dice = (unsigned)rand_r(seed) >> 4;

			/* Up to PAM_MODULE_UNKNOWN; PAM_INCOMPLETE is none
			 * that a stub could give. */
			table->result[rule][f] =
			    rule == 0 || dice % 8 < 5
				? PAM_SUCCESS
				: (uint8_t)(dice / 8 %
					    (PAM_MODULE_UNKNOWN + 1));
		}
}

static struct verdicts
transact(const struct drive_stack *stack)
{
	static const struct pam_conv conv = { no_conversation, NULL };
	struct verdicts got = { .phase = { 0 } };
	pam_handle_t *handle = NULL;
	int last = 0;

	got.start = stack->confdir != NULL
			? pam_start_confdir(stack->service, "root", &conv,
					    stack->confdir, &handle)
			: pam_start(stack->service, "root", &conv, &handle);
	if (got.start != PAM_SUCCESS)
		return got;
	got.phase[0] = pam_authenticate(handle, PAM_SILENT);
	got.phase[1] = pam_acct_mgmt(handle, PAM_SILENT);
	got.phase[2] = pam_setcred(handle, PAM_ESTABLISH_CRED | PAM_SILENT);
	got.phase[3] = pam_open_session(handle, PAM_SILENT);
	got.phase[4] = pam_close_session(handle, PAM_SILENT);
	got.phase[5] = pam_setcred(handle, PAM_DELETE_CRED | PAM_SILENT);
	got.phase[6] = last = pam_chauthtok(handle, PAM_SILENT);
	(void)pam_end(handle, last);
	return got;
}

/* One vector; what differs, or NULL. */
static const char *
compare(struct driving *driving, struct trial_table *tables[2])
{
	struct verdicts got[2];

	for (int i = 0; i < 2; i++) {
		*driving->slot = tables[i];
		tables[i]->calls = 0;
		memset(tables[i]->call, 0, sizeof(tables[i]->call));
		got[i] = transact(driving->stacks[i]);
	}
	if (memcmp(&got[0], &got[1], sizeof(got[0])) != 0)
		return "a phase ends with another value";
	if (tables[0]->calls != tables[1]->calls)
		return "the number of calls differs";
	if (memcmp(tables[0]->call, tables[1]->call, sizeof(tables[0]->call)) !=
	    0)
		return "a rule is called at another place, or with other "
		       "arguments";
	return NULL;
}

static int
compare_all(struct driving *driving)
{
	struct trial_table *tables[2] = { alloc_zero(1, sizeof(**tables)),
					  alloc_zero(1, sizeof(**tables)) };
	const char *difference = NULL;

	tables[0]->base = tables[1]->base = driving->stacks[1]->base;
	for (unsigned i = 0; difference == NULL && i < driving->vectors; i++) {
		unsigned seed = i + 1;

		draw(tables[0], &seed);
		memcpy(tables[1]->result, tables[0]->result,
		       sizeof(tables[0]->result));
		difference = compare(driving, tables);
	}
	free(tables[0]);
	free(tables[1]);
	if (difference != NULL)
		return answer(driving, ERROR_INPUT, difference);
	return answer(driving, 0, "");
}

/* Covers modules with the stub, in a mount namespace of our own. */
static bool
hide(const struct drive_hidden *hidden, const char *stub)
{
	if (unshare(CLONE_NEWNS) != 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return false;
	for (size_t i = 0; i < hidden->count; i++)
		if (mount(stub, hidden->paths[i], NULL, MS_BIND, NULL) != 0)
			return false;
	return true;
}

/* In the child. */
static int
drive(void *context)
{
	struct driving *driving = context;
	char *stub = alloc_format("%s/pam_trial.so", install_path_modules());
	void *handle;

	if (driving->hidden != NULL && !hide(driving->hidden, stub))
		return answer(driving, DRIVE_UNPROVEN,
			      "no mount namespace can be had here");
	handle = dlopen(stub, RTLD_NOW);
	driving->slot = handle ? dlsym(handle, TRIAL_SYMBOL) : NULL;
	if (driving->slot == NULL)
		return answer(driving, ERROR_SYSTEM,
			      "pam_trial.so cannot be loaded");
	forbid_sockets();
	(void)alarm(SECONDS);
	return compare_all(driving);
}

int
drive_compare(const struct drive_stack *old, const struct drive_stack *new,
	      const struct drive_hidden *hidden, unsigned vectors,
	      struct error *error)
{
	struct answer *answer =
	    mmap(NULL, sizeof(*answer), PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct driving driving = { .stacks = { old, new },
				   .hidden = hidden,
				   .vectors = vectors,
				   .answer = answer };
	struct child child;
	struct child_end end;
	int r;

	if (answer == MAP_FAILED)
		return error_errno(error, "memory for a trial");
	driving.answer->value = ERROR_SYSTEM;
	(void)snprintf(answer->text, sizeof(answer->text),
		       "the child that drives it died");
	r = child_start(&child, CHILD_OWN_GROUP, drive, &driving, error);
	if (r == 0)
		r = child_wait(&child, SECONDS * 1000000000ull, &end, error);
	if (r == 0 && answer->value != 0) {
		r = answer->value;
		(void)error_set(error, ERROR_INPUT, "service %s: %s",
				new->service, answer->text);
	}
	(void)munmap(answer, sizeof(*answer));
	return r;
}
