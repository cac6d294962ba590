/* A program decoded from its wire form is the program: for every WGSL file
 * given, it prints the same, encodes to the same bytes, and, specialised, gives devices the same
 * bytes to build from. Devices only ever get the wire form, so equal bytes are equal programs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/eval/specialise.h"
#include "compiler/wgsl/wgsl.h"

/* The wire form of the program, made ready to run where it has one entry; NULL where it cannot be. */
static uint8_t *ready(const pctl_program *p, uint64_t *n)
{
	uint8_t *wire = NULL;
	pctl_program *s;

	*n = 0;
	if (pctl_program_specialise(p, NULL, NULL, 0, NULL, &s) != PCTL_OK)
		return NULL;
	if (pctl_program_encode(s, NULL, &wire, n) != PCTL_OK)
		wire = NULL;
	pctl_program_destroy(s);
	return wire;
}

static int same(const uint8_t *a, uint64_t n_a, const uint8_t *b, uint64_t n_b)
{
	return (a == NULL) == (b == NULL) && n_a == n_b && (n_a == 0 || memcmp(a, b, n_a) == 0);
}

/* 1 when all holds; *specialised counts programs that could be made ready. */
static int holds(const pctl_program *p, uint32_t *specialised)
{
	uint8_t *wire = NULL, *again = NULL, *run = NULL, *run_again = NULL;
	char *text = pctl_program_print(p), *text_again = NULL;
	uint64_t n = 0, n_again = 0, n_run, n_run_again;
	pctl_program *q = NULL;
	int ok = 0;

	if (!text || pctl_program_encode(p, NULL, &wire, &n) != PCTL_OK ||
	    pctl_program_decode(wire, n, NULL, &q) != PCTL_OK ||
	    pctl_program_encode(q, NULL, &again, &n_again) != PCTL_OK)
		goto out;
	text_again = pctl_program_print(q);
	run = ready(p, &n_run);
	run_again = ready(q, &n_run_again);
	*specialised += run != NULL;
	ok = text_again && strcmp(text, text_again) == 0 && same(wire, n, again, n_again) &&
	     same(run, n_run, run_again, n_run_again) && p->caps == q->caps;
out:
	pctl_program_destroy(q);
	free(wire);
	free(again);
	free(run);
	free(run_again);
	free(text);
	free(text_again);
	return ok;
}

static char *read_text(const char *name, size_t *n)
{
	FILE *f = fopen(name, "rb");
	char *text = malloc(1u << 20);

	*n = f && text ? fread(text, 1, 1u << 20, f) : 0;
	if (f)
		fclose(f);
	return text;
}

int main(int argc, char **argv)
{
	uint32_t held = 0, specialised = 0, left_out = 0, faults = 0;

	for (int i = 1; i < argc; i++) {
		const pctl_wgsl_options options = {.file = argv[i]};
		pctl_program *p = NULL;
		size_t n;
		char *text = read_text(argv[i], &n);

		/* Texts with errors, in native mode or with `//# use` are others' to test. */
		if (!text || n == 0 || pctl_wgsl_compile(text, n, &options, NULL, &p) != PCTL_OK) {
			left_out++;
		} else if (holds(p, &specialised)) {
			held++;
		} else {
			printf("FAILED %s\n", argv[i]);
			faults++;
		}
		pctl_program_destroy(p);
		free(text);
	}
	printf("%u programs held, %u of them specialised; %u left out; %u faults\n", held,
	       specialised, left_out, faults);
	return faults > 0 || held < 20 || specialised < 20;
}
