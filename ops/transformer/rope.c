/* transformer.rope: pairs of a head's elements turned by their token's position (SEMANTICS.md 18.3). */
#include <math.h>
#include <stdio.h>

#include "common/tensors/exact_reference.h"
#include "kernels.h"
#include "rope.h"

enum { X, TABLE, START, COUNT };

static int is_neighbours(const kit_use *u)
{
	return strcmp(u->q->attr[0].text, "neighbours") == 0;
}

pctl_status rope_of(const kit_use *u, rope *r)
{
	const pctl_tensor_type *x = &u->q->in[X], *table = &u->q->in[TABLE];
	pctl_status status;

	*r = (rope){.s = {x->dim[0], x->dim[1], table->dim[0], START,
			  u->q->n_in > COUNT ? COUNT : SEQUENCES_NONE},
		    .h = x->dim[2],
		    .d = x->dim[3],
		    .pairs = table->dim[1]};
	if (!tensor_is_float(x->dtype) || x->rank != 4)
		return kit_refuse_type(u, X, u->op->desc.in[X].type);
	if (table->dtype != PCTL_SCALAR_F32 || table->rank != 3 || table->dim[2] != 2 ||
	    r->pairs == 0 || 2 * r->pairs > r->d)
		return kit_refuse_type(
			u, TABLE,
			"f32[positions,pairs,2], no more pairs than half a head, and one at least");
	if (u->q->n_in > COUNT + 1)
		return kit_refuse_type(u, COUNT + 1, "starts, and counts or none");
	if (!is_neighbours(u) && strcmp(u->q->attr[0].text, "halves") != 0)
		return kit_refuse_attr(u, "pairing", "is not halves or neighbours");
	status = kit_limit(u, "elements", kit_elements(x), TENSOR_ELEMENTS_MAX);
	if (status == PCTL_OK)
		status = kit_limit(u, "elements of a table", kit_elements(table),
				   TENSOR_ELEMENTS_MAX);
	return status == PCTL_OK ? sequences_types(u, &r->s) : status;
}

static pctl_status rope_infer(const kit_use *u, pctl_op_result *out)
{
	rope r;
	const pctl_status status = rope_of(u, &r);

	out->out[0] = u->q->in[X];
	return status;
}

static void rope_plan(kit_plan *p)
{
	const uint32_t dtype = p->use->q->in[X].dtype;
	uint32_t found;
	tensor_kernel k;
	rope r;

	p->status = rope_of(p->use, &r);
	if (p->status != PCTL_OK || kit_elements(&p->use->q->in[X]) == 0)
		return;
	found = kit_temp(p, SEQUENCES_FOUND);
	k = tensor_kernel_begin(p, "transformer/rope.wgsl", kit_elements(&p->use->q->in[X]),
				kit_dtype_bytes(dtype), r.s.n);
	tensor_kernel_read(&k, "x", kit_dtype_bytes(dtype), kit_in(p, X));
	tensor_kernel_read_bits(&k, "x", dtype, kit_in(p, X));
	tensor_kernel_bind(&k, "turns", "f32", kit_in(p, TABLE));
	k.n_slots += sequences_text(p, &k.w, &r.s, found, k.n_slots, k.slots + k.n_slots);
	kit_wgsl_add(&k.w, KERNEL_NARROW_FLOATS);
	kit_wgsl_named(&k.w, "fn narrow(x: f32) -> u32 {\n\treturn to_$(x);\n}\n",
		       kit_dtype_name(dtype));
	kit_wgsl_add(&k.w, is_neighbours(p->use) ? "const NEIGHBOURS: bool = true;\n"
						 : "const NEIGHBOURS: bool = false;\n");
	kit_wgsl_add(&k.w, KERNEL_ROPE);
	k.params.v[0][0] = (uint32_t)r.s.t;
	k.params.v[0][1] = (uint32_t)r.h;
	k.params.v[0][2] = (uint32_t)r.d;
	k.params.v[0][3] = (uint32_t)r.pairs;
	k.params.v[1][0] = (uint32_t)r.s.n;
	k.params.v[1][1] = (uint32_t)r.s.positions;
	tensor_kernel_run(&k, kit_out(p, 0));
	sequences_assert(p, &r.s, found);
}

/* ---- plain C: a head at a time -------------------------------------------------------------- */

static void turn_head(const rope *r, int neighbours, uint32_t dtype, const void *x, uint64_t head,
		      const float *table, void *y)
{
	const tensor_float_format *f = tensor_float_format_of(dtype);
	const uint64_t bytes = kit_dtype_bytes(dtype);

	memcpy((char *)y + head * r->d * bytes, (const char *)x + head * r->d * bytes,
	       r->d * bytes);
	for (uint64_t pair = 0; pair < r->pairs; pair++) {
		const uint64_t first = head * r->d + (neighbours ? 2 * pair : pair);
		const uint64_t at[2] = {first, first + (neighbours ? 1 : r->pairs)};
		const float x0 = (float)tensor_value(dtype, x, at[0]),
			    x1 = (float)tensor_value(dtype, x, at[1]);
		float turn[2], product[2], z[2];

		memcpy(turn, table + 2 * pair, 8);
		product[0] = x1 * turn[1];
		product[1] = x1 * turn[0];
		z[0] = fmaf(x0, turn[0], -product[0]);
		z[1] = fmaf(x0, turn[1], product[1]);
		for (uint32_t i = 0; i < 2; i++)
			tensor_put(y, at[i], bytes, tensor_narrowed(z[i], f));
	}
}

static pctl_status rope_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const uint32_t dtype = u->q->in[X].dtype;
	rope r;
	pctl_status status = rope_of(u, &r);

	if (status != PCTL_OK || out[0].n_bytes == 0)
		return status;
	status = sequences_refuse(u, &r.s, in);
	if (status != PCTL_OK)
		return status;
	memset(out[0].data, 0, out[0].n_bytes);
	for (uint64_t b = 0; b < r.s.n; b++)
		for (uint64_t i = 0; i < sequences_count(&r.s, in, b); i++)
			for (uint64_t h = 0; h < r.h; h++)
				turn_head(&r, is_neighbours(u), dtype, in[X].data,
					  (b * r.s.t + i) * r.h + h,
					  (const float *)in[TABLE].data +
						  2 * r.pairs * (sequences_start(&r.s, in, b) + i),
					  out[0].data);
	return PCTL_OK;
}

/* ---- the op --------------------------------------------------------------------------------- */

static const pctl_op_problems rope_problems = {
	PCTL_HEAD(pctl_op_problems),
	"up to 3 sequences of up to 5 tokens, heads of up to 80 elements", ROPE_PROBLEMS};
static const pctl_port rope_in[] = {
	{"x", "f32|f16|bf16[b,t,h,d]", "heads of each token", 0, 0},
	{"table", "f32[positions,pairs,2]", "transformer.rope_table", 0, 0},
	{"start", "u32[b]",
	 "the position of each sequence's first token; behind it, where there is more, how many "
	 "tokens are real",
	 PCTL_PORT_LIST, 0}};
static const pctl_port rope_out[] = {
	{"y", "f32|f16|bf16[b,t,h,d]", "heads turned, of x's type", 0, 0}};
static const pctl_attr_desc rope_attr[] = {
	{"pairing", "halves", "halves: element i with i + pairs; neighbours: 2 i with 2 i + 1",
	 PCTL_ATTR_STRING, 0, 0, 0}};
static const pctl_law rope_laws[] = {
	TENSOR_LAW("unturned",
		   "a table of 1 and +0 gives x where it is a finite number, not zero, and real"),
	TENSOR_LAW("moved",
		   "positions one further on, with a table that begins one earlier, give y"),
	TENSOR_LAW("token", "the last token alone, at its position, gives its part of y"),
	TENSOR_LAW("sequence", "the last sequence alone gives its part of y"),
	TENSOR_LAW("paired", "the other pairing, of elements in its order, gives y in that order"),
	TENSOR_LAW("padding",
		   "tokens behind the count give +0, and the rest is the same without a count"),
};
static void (*const rope_checks[])(kit_law *) = {rope_law_unturned, rope_law_moved,
						 rope_law_token,    rope_law_sequence,
						 rope_law_paired,   rope_law_padding};

static const kit_op ops[] = {
	TENSOR_OP(rope, 1, "transformer.rope", "heads turned by their positions",
		  "Token i of sequence b stands at p = start[b] + i. Of each pair (x0, x1) of a "
		  "head and the table's cosine c and sine s of p: y0 = "
		  "fma(x0, c, -(x1 * s)),\ny1 = fma(x0, s, x1 * c) in f32, rounded once more to "
		  "x's type; what no pair has is x's. Tokens behind the count "
		  "give +0. A p that\nthe table lacks fails the job, which names the lowest such "
		  "sequence.",
		  PCTL_CLASS_STRICT, rope_in, 3, rope_out, rope_attr, 1, NULL),
};

const kit_family transformer_rope_family = {ops, NULL, KIT_COUNT(ops), 0};
