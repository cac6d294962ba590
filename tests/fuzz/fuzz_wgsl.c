/* Any text through the front end: it survives, fails only with a diagnostic that has a position,
 * and what it accepts is a program that verifies and keeps its bytes through the wire form. The
 * first byte chooses consensus rules or native mode. */
#include <stdlib.h>
#include <string.h>

#include "compiler/wgsl/wgsl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void count(void *ctx, const pctl_diag *d)
{
	if (d->severity != PCTL_SEVERITY_ERROR || !d->message || !*d->message)
		abort();
	if (d->code < 2100 || d->code > 2499)
		abort(); /* the program the front end built was refused, or memory is short */
	if (d->code != PC2108_WGSL_TOO_MANY_ERRORS &&
	    (!d->pos.line || !d->pos.column || d->pos.end_column <= d->pos.column))
		abort();
	++*(uint32_t *)ctx;
}

static int find(void *ctx, const char *op, uint32_t version, uint32_t dtype, const char **text)
{
	(void)ctx;
	if (strcmp(op, "int.twice") != 0 || version != 1 || dtype != PCTL_SCALAR_U32)
		return 0;
	*text = "fn int_twice(x: u32) -> u32 { return x * 2u; }\n";
	return 1;
}

static uint32_t names(void *ctx, uint32_t capacity, const char **out)
{
	(void)ctx;
	if (capacity)
		out[0] = "int.twice";
	return capacity ? 1 : 0;
}

static void check_program(pctl_program *p)
{
	uint8_t *wire, *again;
	uint64_t n_wire, n_again;
	pctl_program *q;
	char *text = pctl_program_print(p);

	if (!text || pctl_program_encode(p, NULL, &wire, &n_wire) != PCTL_OK)
		abort();
	if (pctl_program_decode(wire, n_wire, NULL, &q) != PCTL_OK ||
	    pctl_program_encode(q, NULL, &again, &n_again) != PCTL_OK)
		abort();
	if (n_wire != n_again || memcmp(wire, again, n_wire) != 0)
		abort();
	pctl_program_destroy(q);
	free(again);
	free(wire);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const pctl_wgsl_library library = {NULL, find, names};
	pctl_wgsl_options options = {.file = "fuzz.wgsl", .library = &library};
	uint32_t errors = 0;
	pctl_call call = {.head = PCTL_HEAD(pctl_call), .ctx = &errors, .diag = count};
	pctl_program *p;
	pctl_status status;

	if (!n)
		return 0;
	options.flags = data[0] & 1 ? PCTL_WGSL_CONSENSUS : data[0] & 2 ? PCTL_WGSL_NATIVE : 0;
	status = pctl_wgsl_compile((const char *)data + 1, n - 1, &options, &call, &p);
	if ((status == PCTL_OK) != (p != NULL) || (status == PCTL_OK) != (errors == 0))
		abort();
	if (p)
		check_program(p);
	pctl_program_destroy(p);
	return 0;
}
