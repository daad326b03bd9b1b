/*
 * Puts shims into the stacks of a private /etc/pam.d, for scripts that want
 * real programs to use them: stack_wrap DIR RING SERVICE... makes the ring
 * if it is not there, wraps each service below DIR/SERVICE and writes the
 * wrapped stack over /etc/pam.d/SERVICE. Only for use in a mount namespace
 * whose /etc is a copy.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../pamprof/base/alloc.h"
#include "../../pamprof/base/buffer.h"
#include "../../pamprof/base/safe_file.h"
#include "../../pamprof/source/pam_wrap.h"
#include "../../pamprof/trace/segment.h"

enum {
	SLOTS = 1 << 14
};

/* Writes the copy's bytes into the service's file, which stays itself. */
static int
put_in_place(const struct pam_wrap *wrap, struct error *error)
{
	char *from = alloc_format("%s/%s", wrap->confdir, wrap->service);
	char *to = alloc_format("/etc/pam.d/%s", wrap->service);
	struct buffer text = { 0 };
	FILE *out = NULL;
	int r = safe_file_read(from, LINKS_REFUSED, 1 << 20, &text, error);

	if (r == 0 && (out = fopen(to, "we")) == NULL)
		r = error_errno(error, "%s", to);
	if (out != NULL) {
		(void)fwrite(text.data, 1, text.length, out);
		if (fclose(out) != 0)
			r = error_errno(error, "%s", to);
	}
	buffer_free(&text);
	free(from);
	free(to);
	return r;
}

static int
wrap_service(const char *dir, const char *ring, const char *service,
	     struct error *error)
{
	struct pam_conf_place place = { .service = service };
	struct pam_stack *stack = NULL;
	struct pam_wrap *wrap = NULL;
	char *below = alloc_format("%s/%s", dir, service);
	int r = pam_conf_read(&stack, &place, error);

	if (r == 0 && mkdir(below, 0755) != 0)
		r = error_errno(error, "%s", below);
	if (r == 0)
		r = pam_wrap_stack(&wrap, stack, below, ring, error);
	if (r == 0)
		r = put_in_place(wrap, error);
	if (r == 0)
		(void)printf("%s: %zu wrapped, %zu not\n", service,
			     wrap->wrapped, wrap->unwrapped);
	pam_wrap_free(wrap);
	pam_conf_free(stack);
	free(below);
	return r;
}

int
main(int argc, char **argv)
{
	struct error error = { 0 };
	int r = 0;

	if (argc < 4) {
		(void)fputs("usage: stack_wrap DIR RING SERVICE...\n", stderr);
		return 2;
	}
	umask(022);
	if (access(argv[2], F_OK) != 0)
		r = ring_make(argv[2], SLOTS, RING_CPU | RING_CONVERSATION,
			      &error);
	for (int i = 3; r == 0 && i < argc; i++)
		r = wrap_service(argv[1], argv[2], argv[i], &error);
	if (r != 0)
		(void)fprintf(stderr, "stack_wrap: %s\n", error.text);
	return r != 0;
}
