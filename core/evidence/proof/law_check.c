/* Checking an equation on columns: each side by its own applies, guards by the reference, then byte against byte. */
#include <stdlib.h>
#include <string.h>

#include "runtime/graph/type.h"
#include "compiler/eval/float.h"
#include "evidence/proof/law_private.h"

/* A column that may be a variable's own, which is not released. */
struct value {
	pctl_column c;
	int is_own;
};

static void release(struct value *v)
{
	if (v->is_own)
		free(v->c.data);
	v->c.data = NULL;
}

static pctl_status reserve(struct value *v, uint32_t dtype, uint64_t n, const pctl_call *call)
{
	v->c = (pctl_column){.dtype = dtype, .n = n};
	v->c.data = malloc(n * pctl_dtype_bytes(dtype) + 16);
	v->is_own = 1;
	return v->c.data != NULL ? PCTL_OK : pctl_no_memory(call, "a column of a law");
}

static void broadcast(const pctl_law_term *t, uint64_t n, uint8_t *out)
{
	const uint64_t bytes = pctl_dtype_bytes(t->dtype);
	uint8_t one[16];

	for (uint64_t k = 0; k < 16; k++)
		one[k] = (uint8_t)(t->bits[k / 8] >> (8 * (k % 8)) & 255);
	for (uint64_t i = 0; i < n; i++)
		memcpy(out + i * bytes, one, bytes);
}

/* The value of a term on n tuples, released with release() whatever the status. Depth is the parser's. */
static pctl_status evaluate(const pctl_law_term *t, pctl_evaluator *e, const pctl_column *vars,
			    uint64_t n, const pctl_call *call, struct value *out)
{
	struct value args[4] = {0};
	pctl_column in[4];
	pctl_status status = PCTL_OK;

	*out = (struct value){0};
	if (t->kind == PCTL_LAW_TERM_VAR) {
		out->c = vars[t->var];
		out->c.dtype = t->dtype;
		return PCTL_OK;
	}
	if (t->kind == PCTL_LAW_TERM_CONST) {
		status = reserve(out, t->dtype, n, call);
		if (status == PCTL_OK)
			broadcast(t, n, out->c.data);
		return status;
	}
	for (uint32_t i = 0; status == PCTL_OK && i < t->fn.n_in; i++) {
		status = evaluate(t->args[i], e, vars, n, call, &args[i]);
		in[i] = args[i].c;
	}
	if (status == PCTL_OK)
		status = reserve(out, t->fn.out_dtype, n, call);
	if (status == PCTL_OK)
		status = e->apply(e->ctx, &t->fn, in, n, &out->c, call);
	out->c.dtype = t->dtype; /* its bits may be read as another */
	for (uint32_t i = 0; i < 4; i++)
		release(&args[i]);
	return status;
}

/* ---- order ------------------------------------------------------------------------------------ */

enum { UNORDERED = 2 };

static uint64_t load(const uint8_t *at, uint64_t bytes)
{
	uint64_t v = 0;

	memcpy(&v, at, bytes);
	return v;
}

/* A number that is ordered as the value is, of at most 64 bits. */
static uint64_t rank_of(uint32_t dtype, uint64_t bits, uint64_t bytes)
{
	const uint64_t sign = UINT64_C(1) << (8 * bytes - 1);

	if (dtype == PCTL_SCALAR_I32 || dtype == PCTL_SCALAR_I64)
		return bits ^ sign;
	if (dtype == PCTL_SCALAR_F16 || dtype == PCTL_SCALAR_BF16 || dtype == PCTL_SCALAR_F32)
		return bits & sign ? ~bits & (sign | (sign - 1)) : bits | sign;
	return bits;
}

static uint32_t exponent_mask(uint32_t dtype)
{
	return dtype == PCTL_SCALAR_F16	   ? 0x7c00u
	       : dtype == PCTL_SCALAR_BF16 ? 0x7f80u
					   : 0x7f800000u;
}

static int is_float(uint32_t dtype)
{
	return dtype < 32 && pctl_float_is((uint8_t)dtype);
}

static int is_nan(uint32_t dtype, uint64_t bits, uint64_t bytes)
{
	const uint64_t all = (UINT64_C(1) << (8 * bytes - 1)) - 1;

	return is_float(dtype) && (bits & all) > exponent_mask(dtype);
}

/* -1, 0, 1 or UNORDERED. */
static int order(uint32_t dtype, const uint8_t *a, const uint8_t *b)
{
	const uint64_t bytes = pctl_dtype_bytes(dtype);
	uint64_t x, y;

	if (bytes == 16) {
		x = load(a + 8, 8);
		y = load(b + 8, 8);
		if (x == y) {
			x = load(a, 8);
			y = load(b, 8);
		}
		return (x > y) - (x < y);
	}
	x = load(a, bytes);
	y = load(b, bytes);
	if (is_nan(dtype, x, bytes) || is_nan(dtype, y, bytes))
		return UNORDERED;
	x = rank_of(dtype, x, bytes);
	y = rank_of(dtype, y, bytes);
	return (x > y) - (x < y);
}

static int class_holds(uint32_t rel, uint32_t dtype, const uint8_t *a)
{
	const uint64_t bytes = pctl_dtype_bytes(dtype), bits = load(a, bytes);
	const uint64_t exponent = bits & exponent_mask(dtype);

	if (rel == PCTL_REL_NUMBER)
		return !is_nan(dtype, bits, bytes);
	return exponent != exponent_mask(dtype) && (rel == PCTL_REL_FINITE || exponent != 0);
}

static int holds(uint32_t rel, uint32_t dtype, const uint8_t *a, const uint8_t *b)
{
	int found;

	if (rel >= PCTL_REL_FINITE)
		return class_holds(rel, dtype, a);
	if (rel == PCTL_REL_EQ || rel == PCTL_REL_NE)
		return (memcmp(a, b, pctl_dtype_bytes(dtype)) == 0) == (rel == PCTL_REL_EQ);
	found = order(dtype, a, b);
	switch (rel) {
	case PCTL_REL_LT:
		return found == -1;
	case PCTL_REL_LE:
		return found == -1 || found == 0;
	case PCTL_REL_GT:
		return found == 1;
	default:
		return found == 1 || found == 0;
	}
}

/* ---- both sides ------------------------------------------------------------------------------- */

struct sides {
	struct value left, right;
	uint8_t *mask; /* of the tuples whose guards hold; NULL: all */
};

static void sides_release(struct sides *s)
{
	release(&s->left);
	release(&s->right);
	free(s->mask);
}

static pctl_status guard(const pctl_relation *g, pctl_evaluator *reference, const pctl_column *vars,
			 uint64_t n, uint8_t *mask, const pctl_call *call)
{
	struct value left = {0}, right = {0};
	const uint64_t bytes = pctl_dtype_bytes(g->left->dtype);
	pctl_status status = evaluate(g->left, reference, vars, n, call, &left);

	if (status == PCTL_OK && g->right != NULL)
		status = evaluate(g->right, reference, vars, n, call, &right);
	for (uint64_t i = 0; status == PCTL_OK && i < n; i++)
		mask[i] &= (uint8_t)holds(g->rel, g->left->dtype, left.c.data + i * bytes,
					  right.c.data == NULL ? NULL : right.c.data + i * bytes);
	release(&left);
	release(&right);
	return status;
}

static pctl_status sides_of(const pctl_law_equation *l, pctl_evaluator *device,
			    pctl_evaluator *reference, const pctl_column *vars, uint64_t n,
			    const pctl_call *call, struct sides *s)
{
	pctl_status status = PCTL_OK;

	*s = (struct sides){0};
	if (l->n_guards != 0) {
		s->mask = malloc(n + 1);
		if (s->mask == NULL)
			return pctl_no_memory(call, "a law");
		memset(s->mask, 1, n);
	}
	for (uint32_t i = 0; status == PCTL_OK && i < l->n_guards; i++)
		status = guard(&l->guards[i], reference, vars, n, s->mask, call);
	if (status == PCTL_OK)
		status = evaluate(l->claim.left, device, vars, n, call, &s->left);
	if (status == PCTL_OK)
		status = evaluate(l->claim.right, device, vars, n, call, &s->right);
	return status;
}

/* The bytes of the tuples whose guards hold, moved together when some do not. */
static pctl_status hash_side(const struct sides *s, const struct value *v, uint64_t n,
			     uint64_t skipped, pctl_hasher *hash, const pctl_call *call)
{
	const uint64_t bytes = pctl_dtype_bytes(v->c.dtype);
	pctl_status status;
	uint8_t *packed;
	uint64_t k = 0;

	if (skipped == 0)
		return pctl_hasher_update(hash, v->c.data, n * bytes);
	packed = malloc(n * bytes + 1);
	if (packed == NULL)
		return pctl_no_memory(call, "a law");
	for (uint64_t i = 0; i < n; i++)
		if (s->mask[i])
			memcpy(packed + k++ * bytes, v->c.data + i * bytes, bytes);
	status = pctl_hasher_update(hash, packed, k * bytes);
	free(packed);
	return status;
}

static uint64_t count_skipped(const uint8_t *mask, uint64_t n)
{
	uint64_t skipped = 0;

	for (uint64_t i = 0; mask != NULL && i < n; i++)
		skipped += mask[i] == 0;
	return skipped;
}

static void compare(const pctl_law_equation *l, const struct sides *s, uint64_t n,
		    pctl_law_outcome *out)
{
	const uint32_t dtype = l->claim.left->dtype;
	const uint64_t bytes = pctl_dtype_bytes(dtype);
	const uint8_t *left = s->left.c.data, *right = s->right.c.data;

	if (l->claim.rel == PCTL_REL_EQ && memcmp(left, right, n * bytes) == 0)
		return;
	for (uint64_t i = 0; i < n; i++) {
		if ((s->mask != NULL && !s->mask[i]) ||
		    holds(l->claim.rel, dtype, left + i * bytes, right + i * bytes))
			continue;
		if (out->failures++ != 0)
			continue;
		out->at = i;
		memcpy(out->left, left + i * bytes, bytes);
		memcpy(out->right, right + i * bytes, bytes);
	}
}

pctl_status pctl_law_check(const pctl_law_equation *l, pctl_evaluator *device,
			   pctl_evaluator *reference, const pctl_column *vars, uint64_t n,
			   pctl_hasher *hash, const pctl_call *call, pctl_law_outcome *out)
{
	struct sides s;
	pctl_status status = sides_of(l, device, reference, vars, n, call, &s);

	*out = (pctl_law_outcome){0};
	if (status == PCTL_OK) {
		out->skipped = count_skipped(s.mask, n);
		out->cases = n - out->skipped;
		compare(l, &s, n, out);
	}
	if (status == PCTL_OK && hash != NULL)
		status = hash_side(&s, &s.left, n, out->skipped, hash, call);
	if (status == PCTL_OK && hash != NULL)
		status = hash_side(&s, &s.right, n, out->skipped, hash, call);
	sides_release(&s);
	return status;
}

pctl_status pctl_law_lanes(const pctl_law_equation *l, pctl_evaluator *device,
			   pctl_evaluator *reference, const pctl_column *vars, uint64_t n,
			   uint8_t *failed, const pctl_call *call)
{
	const uint32_t dtype = l->claim.left->dtype;
	const uint64_t bytes = pctl_dtype_bytes(dtype);
	struct sides s;
	pctl_status status = sides_of(l, device, reference, vars, n, call, &s);

	for (uint64_t i = 0; status == PCTL_OK && i < n; i++)
		failed[i] = (s.mask == NULL || s.mask[i]) &&
			    !holds(l->claim.rel, dtype, s.left.c.data + i * bytes,
				   s.right.c.data + i * bytes);
	sides_release(&s);
	return status;
}
