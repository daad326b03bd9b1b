/*
 * What a module call costs more when it is timed: the same stack of one
 * hundred pam_permit rules through libpam, bare and wrapped, with the ring
 * asking for more and more. Rounds of all variants alternate, the fastest of
 * each counts: what is slower was disturbed by something else.
 */
#include <security/pam_appl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../modules/emit.h"
#include "../../pamprof/base/alloc.h"
#include "../../pamprof/source/pam_wrap.h"
#include "../../pamprof/trace/segment.h"

enum {
	RULES = 100,
	LOGINS = 200, /* per round */
	ROUNDS = 15,
	SLOTS = 1 << 12
};

static struct variant {
	const char *name;
	int options;   /* of the ring; -1: not wrapped */
	double budget; /* ns per call, of DESIGN section 9; 0: none */
	pam_handle_t *handle;
	double best;
} variants[] = {
	{ "bare rule", -1, 0, NULL, 0 },
	{ "wall time", 0, 300, NULL, 0 },
	{ "and CPU, switches", RING_CPU, 1000, NULL, 0 },
	{ "and conversation", RING_CPU | RING_CONVERSATION, 1000, NULL, 0 },
};

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

static void
write_stack(const char *path)
{
	FILE *out = fopen(path, "we");

	for (unsigned i = 0; out != NULL && i < RULES; i++)
		(void)fputs("auth required pam_permit.so\n", out);
	if (out == NULL || fclose(out) != 0)
		exit(1);
}

/* Wraps the stack below dir and starts a handle on it. */
static int
prepare(struct variant *variant, const char *dir, struct error *error)
{
	static const struct pam_conv conversation = { no_conversation, NULL };
	char *below = alloc_format("%s/%s", dir, variant->name);
	char *ring = alloc_format("%s/%s.ring", dir, variant->name);
	char *file = alloc_format("%s/stack", dir);
	struct pam_conf_place place = { .service = "bench",
					.stack_file = file };
	struct pam_stack *stack = NULL;
	struct pam_wrap *wrap = NULL;
	bool bare = variant->options < 0;
	int r = pam_conf_read(&stack, &place, error);

	if (r == 0 && mkdir(below, 0700) != 0)
		r = error_errno(error, "%s", below);
	if (r == 0 && !bare)
		r = ring_make(ring, SLOTS, (uint32_t)variant->options, error);
	if (r == 0)
		r = pam_wrap_stack(&wrap, stack, below, bare ? NULL : ring,
				   error);
	if (r == 0 &&
	    pam_start_confdir(wrap->service, "nobody", &conversation,
			      wrap->confdir, &variant->handle) != PAM_SUCCESS)
		r = error_set(error, ERROR_SYSTEM, "pam_start_confdir failed");
	pam_wrap_free(wrap);
	pam_conf_free(stack);
	free(below);
	free(ring);
	free(file);
	return r;
}

/* One round; ns per call. */
static double
measure(struct variant *variant)
{
	uint64_t start = emit_now();

	for (unsigned i = 0; i < LOGINS; i++) {
		if (pam_authenticate(variant->handle, 0) != PAM_SUCCESS)
			exit(1);
	}
	return (double)(emit_now() - start) / LOGINS / RULES;
}

static void
print(void)
{
	const struct variant *bare = &variants[0];
	size_t count = sizeof(variants) / sizeof(variants[0]);

	(void)printf("%-20s %10s %10s %8s %8s %8s\n", "per module call", "ns",
		     "added", "budget", "of it", "x bare");
	for (size_t i = 0; i < count; i++) {
		const struct variant *v = &variants[i];

		(void)printf("%-20s %10.0f %10.0f", v->name, v->best,
			     v->best - bare->best);
		if (v->budget > 0)
			(void)printf(" %8.0f %7.0f%%", v->budget,
				     (v->best - bare->best) / v->budget * 100);
		else
			(void)printf(" %8s %8s", "", "");
		(void)printf(" %8.2f\n", v->best / bare->best);
	}
}

static int
run(const char *dir, struct error *error)
{
	size_t count = sizeof(variants) / sizeof(variants[0]);
	char *file = alloc_format("%s/stack", dir);
	int r = 0;

	write_stack(file);
	free(file);
	for (size_t i = 0; r == 0 && i < count; i++)
		r = prepare(&variants[i], dir, error);
	for (unsigned round = 0; r == 0 && round < ROUNDS; round++) {
		for (size_t i = 0; i < count; i++) {
			double ns = measure(&variants[i]);

			if (round == 0 || ns < variants[i].best)
				variants[i].best = ns;
		}
	}
	for (size_t i = 0; i < count; i++) {
		if (variants[i].handle != NULL)
			pam_end(variants[i].handle, PAM_SUCCESS);
	}
	return r;
}

int
main(void)
{
	char dir[] = "/tmp/pamprof-bench-XXXXXX", *command;
	struct error error = { 0 };
	int r;

	if (mkdtemp(dir) == NULL)
		return 1;
	r = run(dir, &error);
	command = alloc_format("rm -rf %s", dir);
	if (system(command) != 0)
		(void)fprintf(stderr, "%s: cannot be removed\n", dir);
	free(command);
	if (r != 0) {
		(void)fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	print();
	return 0;
}
