/* Running the units of function ops, a block at a time. */
#include "evidence/proof/functions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/proof/law_private.h"
#include "evidence/proof/regression.h"
#include "evidence/proof/shrink.h"

#define ELEMENT_MAX 16u /* bytes */

void pctl_functions_release(void *ctx)
{
	pctl_functions *s = ctx;

	for (uint32_t i = 0; i < s->n_devices; i++)
		pctl_evaluator_destroy(s->devices[i].e);
	if (s->again != NULL)
		s->b->close_again(s->b, s->again);
	pctl_evaluator_destroy(s->reference);
	for (uint32_t i = 0; i < 4; i++)
		free(s->in[i]);
	free(s->got);
	free(s->want);
	free(s);
}

static pctl_status reserve(uint8_t **out, const pctl_call *call)
{
	if (*out == NULL)
		*out = malloc(PCTL_PROOF_BLOCK * ELEMENT_MAX);
	return *out != NULL ? PCTL_OK : pctl_no_memory(call, "columns");
}

/* The evaluator of a session, the latest one made of several. */
static pctl_status device_of(pctl_functions *s, pctl_session *session, const pctl_call *call,
			     pctl_evaluator **out)
{
	pctl_status status;

	for (uint32_t i = 0; i < s->n_devices; i++) {
		if (s->devices[i].s == session) {
			*out = s->devices[i].e;
			return PCTL_OK;
		}
	}
	if (s->n_devices == sizeof(s->devices) / sizeof(s->devices[0]))
		return pctl_refuse(call, PC1_INTERNAL, "more sessions than units of proof expect");
	status = pctl_evaluator_device(s->b, session, call, out);
	if (status == PCTL_OK) {
		s->devices[s->n_devices].s = session;
		s->devices[s->n_devices++].e = *out;
	}
	return status;
}

/* One block under way. */
struct work {
	const pctl_function_unit *u;
	pctl_functions *s;
	const pctl_call *call;
	pctl_evaluator *device, *reference;
	pctl_column in[4], got, want;
	uint64_t n;
	pctl_hasher *hash;
};

static pctl_status begin(struct work *w, const pctl_unit *u, pctl_proof_context *b, uint64_t block,
			 const pctl_call *call, pctl_block *out)
{
	const pctl_function_unit *ctx = u->ctx;
	const uint64_t first = block * PCTL_PROOF_BLOCK, left = ctx->domain.n_cases - first;
	pctl_status status = PCTL_OK;

	memset(out, 0, sizeof(*out));
	*w = (struct work){.u = ctx, .s = ctx->shared, .call = call};
	w->n = left < PCTL_PROOF_BLOCK ? left : PCTL_PROOF_BLOCK;
	if (pctl_is_cancelled(call))
		return pctl_refuse(call, PC4_CANCELLED, "a proof was cancelled");
	for (uint32_t i = 0; status == PCTL_OK && i < ctx->domain.n_vars; i++) {
		status = reserve(&w->s->in[i], call);
		w->in[i].data = w->s->in[i];
	}
	if (status == PCTL_OK)
		status = reserve(&w->s->got, call);
	if (status == PCTL_OK)
		status = reserve(&w->s->want, call);
	if (status == PCTL_OK && w->s->reference == NULL)
		status = pctl_evaluator_reference(b, call, &w->s->reference);
	if (status == PCTL_OK)
		status = device_of(w->s, b->device, call, &w->device);
	if (status == PCTL_OK)
		status = pctl_hasher_create(call, &w->hash);
	if (status != PCTL_OK)
		return status;
	w->reference = w->s->reference;
	w->got.data = w->s->got;
	w->want.data = w->s->want;
	pctl_domain_fill(&ctx->domain, first, w->n, w->in);
	return PCTL_OK;
}

static pctl_status end(struct work *w, pctl_status status, pctl_block *out)
{
	pctl_cid digest;

	if (status == PCTL_OK)
		pctl_evaluator_judge(w->device, "the whole block", out);

	if (status == PCTL_OK) {
		status = pctl_hasher_finish(w->hash, &digest);
		w->hash = NULL;
	}
	if (status == PCTL_OK)
		memcpy(out->digest, digest.digest, sizeof(out->digest));
	pctl_hasher_destroy(w->hash);
	return status;
}

static pctl_status apply(const struct work *w, pctl_evaluator *e, const pctl_column *in,
			 pctl_column *out)
{
	return e->apply(e->ctx, &w->u->f, in, w->n, out, w->call);
}

/* Tuple number i, as 16 bytes a value. */
static void tuple(const struct work *w, uint64_t i, uint8_t (*values)[16])
{
	const uint64_t bytes = pctl_proof_dtype_bytes(w->u->f.dtype);

	for (uint32_t v = 0; v < w->u->domain.n_vars; v++) {
		memset(values[v], 0, 16);
		memcpy(values[v], w->in[v].data + i * bytes, bytes);
	}
}

static void describe(const struct work *w, const uint8_t (*values)[16], const uint8_t got[16],
		     const uint8_t want[16], uint32_t dtype, const char *law, uint32_t minimal,
		     pctl_counterexample *out)
{
	const uint64_t bytes = pctl_proof_dtype_bytes(dtype);

	pctl_regression_print(values, w->u->domain.n_vars, pctl_proof_dtype_bytes(w->u->f.dtype),
			      out->inputs, sizeof(out->inputs));
	pctl_regression_print((const uint8_t(*)[16])got, 1, bytes, out->got, sizeof(out->got));
	pctl_regression_print((const uint8_t(*)[16])want, 1, bytes, out->want, sizeof(out->want));
	snprintf(out->law, sizeof(out->law), "%s", law);
	out->minimal = minimal;
}

/* ---- parity ----------------------------------------------------------------------------------- */

/* Elements of two columns that are not alike; the first in *at. */
static uint64_t differences(const pctl_column *got, const pctl_column *want, uint64_t n,
			    uint64_t *at)
{
	const uint64_t bytes = pctl_proof_dtype_bytes(want->dtype);
	uint64_t found = 0;

	if (memcmp(got->data, want->data, n * bytes) == 0)
		return 0;
	for (uint64_t i = n; i-- > 0;) {
		if (memcmp(got->data + i * bytes, want->data + i * bytes, bytes) == 0)
			continue;
		*at = i;
		found++;
	}
	return found;
}

static pctl_status parity_fails(void *ctx, const pctl_column *vars, uint64_t n, uint8_t *failed,
				const pctl_call *call)
{
	uint8_t got[PCTL_SHRINK_LANES * ELEMENT_MAX], want[PCTL_SHRINK_LANES * ELEMENT_MAX];
	pctl_column a = {.data = got}, b = {.data = want};
	const struct work *w = ctx;
	const pctl_op_function *f = &w->u->f;
	const uint64_t bytes = pctl_proof_dtype_bytes(f->out_dtype);
	pctl_status status = w->device->apply(w->device->ctx, f, vars, n, &a, call);

	if (status == PCTL_OK)
		status = w->reference->apply(w->reference->ctx, f, vars, n, &b, call);
	for (uint64_t i = 0; status == PCTL_OK && i < n; i++)
		failed[i] = memcmp(got + i * bytes, want + i * bytes, bytes) != 0;
	return status;
}

/* Both answers on one tuple. */
static pctl_status answers(struct work *w, uint8_t (*values)[16], uint8_t got[16], uint8_t want[16])
{
	pctl_column in[4], a = {.data = got}, b = {.data = want};
	pctl_status status;

	for (uint32_t v = 0; v < 4; v++)
		in[v] = (pctl_column){.dtype = w->u->f.dtype, .n = 1, .data = values[v]};
	status = w->device->apply(w->device->ctx, &w->u->f, in, 1, &a, w->call);
	return status != PCTL_OK
		       ? status
		       : w->reference->apply(w->reference->ctx, &w->u->f, in, 1, &b, w->call);
}

static pctl_status parity_counterexample(struct work *w, uint64_t at, pctl_counterexample *out)
{
	const pctl_shrinker s = {
		.ctx = w, .fails = parity_fails, .dtype = w->u->f.dtype, .n_vars = w->u->f.n_in};
	const uint64_t bytes = pctl_proof_dtype_bytes(w->u->f.out_dtype);
	uint8_t values[4][16] = {{0}}, got[16] = {0}, want[16] = {0}, now[16], then[16];
	uint32_t minimal;
	pctl_status status;

	tuple(w, at, values);
	memcpy(got, w->got.data + at * bytes, bytes);
	memcpy(want, w->want.data + at * bytes, bytes);
	status = pctl_shrink(&s, values, w->call, &minimal);
	if (status == PCTL_OK)
		status = answers(w, values, now, then);
	/* What fails in a block alone keeps what the block showed. */
	if (status == PCTL_OK && memcmp(now, then, bytes) != 0) {
		memcpy(got, now, bytes);
		memcpy(want, then, bytes);
	}
	describe(w, (const uint8_t(*)[16])values, got, want, w->u->f.out_dtype, "parity", minimal,
		 out);
	return status;
}

pctl_status pctl_function_run_parity(const pctl_unit *u, pctl_proof_context *b, uint64_t block,
				     const pctl_call *call, pctl_block *out)
{
	struct work w;
	uint64_t at = 0;
	pctl_status status = begin(&w, u, b, block, call, out);

	if (status == PCTL_OK)
		status = apply(&w, w.device, w.in, &w.got);
	if (status == PCTL_OK)
		status = apply(&w, w.reference, w.in, &w.want);
	if (status == PCTL_OK)
		status = pctl_hasher_update(w.hash, w.got.data,
					    w.n * pctl_proof_dtype_bytes(w.got.dtype));
	if (status == PCTL_OK) {
		out->cases = w.n;
		out->failures = differences(&w.got, &w.want, w.n, &at);
	}
	if (status == PCTL_OK && out->failures != 0)
		status = parity_counterexample(&w, at, &out->first);
	return end(&w, status, out);
}

/* ---- laws ------------------------------------------------------------------------------------- */

static pctl_status law_counterexample(struct work *w, const pctl_law_outcome *found,
				      pctl_counterexample *out)
{
	const pctl_law_equation *l = w->u->law;
	pctl_law_outcome again = *found;
	uint8_t values[4][16] = {{0}};
	pctl_column in[4];
	uint32_t minimal;
	pctl_status status;

	tuple(w, found->at, values);
	status = pctl_law_shrink_to(l, w->device, w->reference, values, w->call, &minimal);
	for (uint32_t v = 0; v < 4; v++)
		in[v] = (pctl_column){.dtype = l->dtype, .n = 1, .data = values[v]};
	if (status == PCTL_OK)
		status = pctl_law_check(l, w->device, w->reference, in, 1, NULL, w->call, &again);
	if (again.failures == 0)
		again = *found;
	describe(w, (const uint8_t(*)[16])values, again.left, again.right, l->claim.left->dtype,
		 l->text, minimal, out);
	return status;
}

pctl_status pctl_function_run_law(const pctl_unit *u, pctl_proof_context *b, uint64_t block,
				  const pctl_call *call, pctl_block *out)
{
	pctl_law_outcome found = {0};
	struct work w;
	pctl_status status = begin(&w, u, b, block, call, out);

	if (status == PCTL_OK)
		status = pctl_law_check(w.u->law, w.device, w.reference, w.in, w.n, w.hash, call,
					&found);
	out->cases = found.cases;
	out->failures = found.failures;
	out->skipped = found.skipped;
	if (status == PCTL_OK && found.failures != 0)
		status = law_counterexample(&w, &found, &out->first);
	return end(&w, status, out);
}

pctl_status pctl_function_run_unchecked(const pctl_unit *u, pctl_proof_context *b, uint64_t block,
					const pctl_call *call, pctl_block *out)
{
	const pctl_function_unit *ctx = u->ctx;
	pctl_arena *arena = pctl_arena_create();
	pctl_law_equation *all;
	uint32_t n, n_prose = 0;
	pctl_status status = PCTL_E_NOMEM;

	(void)block;
	memset(out, 0, sizeof(*out));
	if (arena != NULL)
		status = pctl_laws_of(b->ops, &ctx->f, arena, call, &all, &n, &n_prose);
	pctl_arena_destroy(arena);
	if (status == PCTL_E_NOMEM)
		return pctl_no_memory(call, "laws");
	return pctl_refuse(call, PC5305_LAW_UNCHECKED, "%s: not every law can be checked",
			   u->subject);
}

/* ---- determinism ------------------------------------------------------------------------------ */

static uint64_t divisor(uint64_t a, uint64_t b)
{
	while (b != 0) {
		const uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Where tuple i stands in the shuffled order: a step without a common divisor visits every place once. */
static uint64_t place(uint64_t i, uint64_t n)
{
	uint64_t step = (n * 618 / 1000) | 1;

	while (divisor(step, n) != 1)
		step += 2;
	return (i * step + n / 3) % n;
}

static void move(const pctl_column *from, pctl_column *to, uint64_t n, int back)
{
	const uint64_t bytes = pctl_proof_dtype_bytes(from->dtype);
	const uint64_t first = place(0, n), step = (place(1 % n, n) + n - first) % n;

	to->dtype = from->dtype;
	to->n = n;
	for (uint64_t i = 0, at = first; i < n; i++, at = (at + step) % n)
		memcpy(to->data + (back ? i : at) * bytes, from->data + (back ? at : i) * bytes,
		       bytes);
}

/* The answers to the tuples in another order, put back in place: in w->want. */
static pctl_status shuffled(struct work *w)
{
	pctl_column in[4] = {{0}}, answer = {0};
	pctl_status status = PCTL_OK;

	for (uint32_t v = 0; status == PCTL_OK && v < w->u->f.n_in; v++) {
		status = reserve(&in[v].data, w->call);
		if (status == PCTL_OK)
			move(&w->in[v], &in[v], w->n, 0);
	}
	if (status == PCTL_OK)
		status = reserve(&answer.data, w->call);
	if (status == PCTL_OK)
		status = apply(w, w->device, in, &answer);
	if (status == PCTL_OK)
		move(&answer, &w->want, w->n, 1);
	for (uint32_t v = 0; v < 4; v++)
		free(in[v].data);
	free(answer.data);
	return status;
}

static pctl_status another_session(struct work *w, pctl_proof_context *b)
{
	pctl_evaluator *e;
	pctl_status status = PCTL_OK;

	if (w->s->again == NULL)
		status = b->open_again(b, w->call, &w->s->again);
	if (status == PCTL_OK)
		status = device_of(w->s, w->s->again, w->call, &e);
	return status == PCTL_OK ? apply(w, e, w->in, &w->want) : status;
}

/* w->want is the second answer, w->got the first, which the digest is of. */
static void compare_again(struct work *w, const char *name, pctl_block *out)
{
	const uint64_t bytes = pctl_proof_dtype_bytes(w->got.dtype);
	uint8_t values[4][16] = {{0}}, first[16] = {0}, second[16] = {0};
	uint64_t at = 0, found = differences(&w->want, &w->got, w->n, &at);
	char law[64];

	out->cases += w->n;
	if (found != 0 && out->failures == 0) {
		tuple(w, at, values);
		memcpy(first, w->got.data + at * bytes, bytes);
		memcpy(second, w->want.data + at * bytes, bytes);
		snprintf(law, sizeof(law), "determinism, %.40s", name);
		describe(w, (const uint8_t(*)[16])values, second, first, w->got.dtype, law, 0,
			 &out->first);
	}
	out->failures += found;
}

pctl_status pctl_function_run_again(const pctl_unit *u, pctl_proof_context *b, uint64_t block,
				    const pctl_call *call, pctl_block *out)
{
	struct work w;
	pctl_status status = begin(&w, u, b, block, call, out);
	const uint32_t times = status == PCTL_OK && w.u->again == PCTL_AGAIN_REPEAT ? 2 : 1;

	if (status == PCTL_OK)
		status = apply(&w, w.device, w.in, &w.got);
	if (status == PCTL_OK)
		status = pctl_hasher_update(w.hash, w.got.data,
					    w.n * pctl_proof_dtype_bytes(w.got.dtype));
	for (uint32_t i = 0; status == PCTL_OK && i < times; i++) {
		if (w.u->again == PCTL_AGAIN_REPEAT)
			status = apply(&w, w.device, w.in, &w.want);
		else if (w.u->again == PCTL_AGAIN_SHUFFLED)
			status = shuffled(&w);
		else
			status = another_session(&w, b);
		if (status == PCTL_OK)
			compare_again(&w, u->name, out);
	}
	return end(&w, status, out);
}
