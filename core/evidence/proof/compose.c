/* Units of compositions: a law that a theorem gives is tested on the composed kernel, whose answers must also be those of
 * the chain of references. */
#include "evidence/proof/compose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/graph/type.h"
#include "evidence/proof/gates.h"
#include "evidence/proof/regression.h"

#define EACH 65536u /* tuples of a domain at most */
#define DOMAINS 3u

_Static_assert(EACH *DOMAINS <= PCTL_PROOF_BLOCK, "one block a unit");

/* As many columns as the law has variables or the composition operands: its kernel is run on them too. */
static uint32_t n_columns(const pctl_derived *d)
{
	const uint32_t operands = d->composition->f.n_in;

	return operands > d->law.n_vars ? operands : d->law.n_vars;
}

static pctl_domain domain(const pctl_derived *d, uint32_t i, uint64_t seed, uint64_t *n)
{
	static const uint32_t kinds[DOMAINS] = {PCTL_DOMAIN_EXHAUSTIVE8, PCTL_DOMAIN_ADVERSARIAL,
						PCTL_DOMAIN_RANDOM};
	const pctl_domain out = pctl_domain_make(kinds[i], d->law.dtype, n_columns(d), seed, EACH);

	/* All triples of 8 bits are too many; random ones stand for them. */
	*n = i == 0 && out.n_cases > EACH ? 0 : out.n_cases < EACH ? out.n_cases : EACH;
	return out;
}

uint64_t pctl_derived_cases(const pctl_derived *d)
{
	uint64_t n, all = 0;

	for (uint32_t i = 0; i < DOMAINS; i++) {
		(void)domain(d, i, 0, &n);
		all += n;
	}
	return all;
}

/* ---- a domain of tuples ----------------------------------------------------------------------- */

/* Columns of the law's variables, and both answers of the composition. */
typedef struct work {
	pctl_column vars[4], got, want;
	uint8_t *memory;
} work;

static pctl_status prepare(work *w, const pctl_derived *d, const pctl_call *call)
{
	const uint64_t bytes = 16u * EACH;

	memset(w, 0, sizeof(*w));
	w->memory = calloc(6, bytes);
	if (w->memory == NULL)
		return pctl_no_memory(call, "a composition");
	for (uint32_t i = 0; i < 4; i++)
		w->vars[i] = (pctl_column){d->law.dtype, 0, 0, w->memory + i * bytes};
	w->got = (pctl_column){d->composition->f.out_dtype, 0, 0, w->memory + 4 * bytes};
	w->want = (pctl_column){d->composition->f.out_dtype, 0, 0, w->memory + 5 * bytes};
	return PCTL_OK;
}

static void hex(const uint8_t *x, uint64_t bytes, char *out, size_t n)
{
	uint8_t value[1][16] = {{0}};

	memcpy(value[0], x, bytes);
	pctl_regression_print((const uint8_t(*)[16])value, 1, bytes, out, n);
}

static void failed(pctl_block *out, const work *w, const pctl_derived *d, uint64_t at,
		   const uint8_t *got, const uint8_t *want, uint64_t bytes, const char *law)
{
	const uint64_t in_bytes = pctl_dtype_bytes(d->law.dtype);
	uint8_t values[4][16] = {{0}};

	if (out->failures++ != 0)
		return;
	for (uint32_t i = 0; i < n_columns(d); i++)
		memcpy(values[i], w->vars[i].data + at * in_bytes, in_bytes);
	pctl_regression_print((const uint8_t(*)[16])values, n_columns(d), in_bytes,
			      out->first.inputs, sizeof(out->first.inputs));
	hex(got, bytes, out->first.got, sizeof(out->first.got));
	hex(want, bytes, out->first.want, sizeof(out->first.want));
	snprintf(out->first.law, sizeof(out->first.law), "%s", law);
}

/* The composed kernel against the chain; the composition may have fewer operands than the law has variables. */
static pctl_status parity(const pctl_derived *d, work *w, uint64_t n, pctl_evaluator *device,
			  pctl_evaluator *reference, pctl_hasher *hash, const pctl_call *call,
			  pctl_block *out)
{
	const pctl_op_function *f = &d->composition->f;
	const uint64_t bytes = pctl_dtype_bytes(f->out_dtype);
	pctl_status status = device->apply(device->ctx, f, w->vars, n, &w->got, call);

	if (status == PCTL_OK)
		status = reference->apply(reference->ctx, f, w->vars, n, &w->want, call);
	if (status == PCTL_OK)
		status = pctl_hasher_update(hash, w->got.data, n * bytes);
	if (status != PCTL_OK || memcmp(w->got.data, w->want.data, n * bytes) == 0)
		return status;
	for (uint64_t i = 0; i < n; i++)
		if (memcmp(w->got.data + i * bytes, w->want.data + i * bytes, bytes) != 0)
			failed(out, w, d, i, w->got.data + i * bytes, w->want.data + i * bytes,
			       bytes, "the chain of references");
	return PCTL_OK;
}

static pctl_status law(const pctl_derived *d, work *w, uint64_t n, pctl_evaluator *device,
		       pctl_evaluator *reference, pctl_hasher *hash, const pctl_call *call,
		       pctl_block *out)
{
	const uint64_t bytes = pctl_dtype_bytes(d->law.claim.left->dtype);
	pctl_law_outcome outcome = {0};
	const pctl_status status =
		pctl_law_check(&d->law, device, reference, w->vars, n, hash, call, &outcome);

	out->cases += outcome.cases;
	out->skipped += outcome.skipped;
	if (status != PCTL_OK || outcome.failures == 0)
		return status;
	failed(out, w, d, outcome.at, outcome.left, outcome.right, bytes, d->theorem);
	out->failures += outcome.failures - 1;
	return PCTL_OK;
}

pctl_status pctl_derived_check(const pctl_derived *d, pctl_evaluator *device,
			       pctl_evaluator *reference, uint64_t seed, const pctl_call *call,
			       pctl_block *out)
{
	pctl_hasher *hash = NULL;
	pctl_cid cid;
	work w;
	pctl_status status = prepare(&w, d, call);

	memset(out, 0, sizeof(*out));
	if (status == PCTL_OK)
		status = pctl_hasher_create(call, &hash);
	for (uint32_t i = 0; i < DOMAINS && status == PCTL_OK; i++) {
		uint64_t n;
		const pctl_domain tuples = domain(d, i, seed, &n);

		if (n == 0)
			continue;
		pctl_domain_fill(&tuples, 0, n, w.vars);
		for (uint32_t k = 0; k < 4; k++)
			w.vars[k].n = n;
		status = parity(d, &w, n, device, reference, hash, call, out);
		if (status == PCTL_OK)
			status = law(d, &w, n, device, reference, hash, call, out);
	}
	if (status == PCTL_OK)
		pctl_evaluator_judge(device, "all tuples", out);
	if (status == PCTL_OK) {
		status = pctl_hasher_finish(hash, &cid);
		hash = NULL;
		memcpy(out->digest, cid.digest, sizeof(out->digest));
	}
	pctl_hasher_destroy(hash);
	free(w.memory);
	return status;
}

/* ---- units ------------------------------------------------------------------------------------ */

static pctl_status run(const pctl_unit *u, pctl_proof_context *b, uint64_t block,
		       const pctl_call *call, pctl_block *out)
{
	pctl_evaluator *device = NULL, *reference = NULL;
	pctl_status status = pctl_evaluator_device(b, b->device, call, &device);

	(void)block;
	if (status == PCTL_OK)
		status = pctl_evaluator_reference(b, call, &reference);
	if (status == PCTL_OK)
		status = pctl_derived_check(u->ctx, device, reference, b->seed, call, out);
	pctl_evaluator_destroy(reference);
	pctl_evaluator_destroy(device);
	return status;
}

static pctl_status add(pctl_proof_context *b, pctl_derived *d, uint32_t track,
		       const pctl_call *call, pctl_units *list)
{
	pctl_unit u = {.subject = d->composition->subject,
		       .name = d->theorem,
		       .kind = PCTL_UNIT_COMPOSITION,
		       .level = 4,
		       .track = track,
		       .n_cases = pctl_derived_cases(d),
		       .n_blocks = 1,
		       .ctx = d,
		       .run = run};
	pctl_status status = pctl_function_program(b, &d->composition->f, call, u.program);

	u.domain = pctl_arena_printf(list->arena, "%sadversarial, random seed %llu",
				     n_columns(d) < 3 ? "8 bits exhaustive, " : "",
				     (unsigned long long)b->seed);
	if (status == PCTL_OK && u.domain == NULL)
		status = pctl_no_memory(call, "compositions");
	return status == PCTL_OK ? pctl_units_add(list, &u, call) : status;
}

pctl_status pctl_composition_units(pctl_proof_context *b, const pctl_selection *s,
				   const pctl_call *call, pctl_units *list)
{
	static const uint32_t integers[] = {PCTL_SCALAR_U32, PCTL_SCALAR_I32},
			      floats[] = {PCTL_SCALAR_F32, PCTL_SCALAR_F16, PCTL_SCALAR_BF16};
	const int is_float = s->track == PCTL_TRACK_FLOAT;
	const uint32_t *dtypes = is_float ? floats : integers, n_dtypes = is_float ? 3 : 2;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; i < n_dtypes && status == PCTL_OK; i++) {
		pctl_derived *derived;
		uint32_t n = 0;

		status = pctl_derive(b->ops, s, dtypes[i], list->arena, call, &derived, &n);
		for (uint32_t k = 0; k < n && status == PCTL_OK; k++)
			status = add(b, &derived[k], s->track, call, list);
	}
	return status;
}
