/* Single steps of composed floats, each in its three ways. */
#include <math.h>
#include <string.h>

#include "compiler/eval/eval.h"
#include "compiler/wgsl/compose.h"
#include "compiler/wgsl/float.h"

/* Leaves on the way to a constant: what is kept of them is copied by pctl_wgsl_keep. */
#define SCRATCH_LEAVES 8192u

static uint64_t *new_leaves(struct compose *x, uint32_t n)
{
	struct wgsl *c = x->c;
	uint64_t *out;

	if (!c->scratch)
		c->scratch = pctl_wgsl_alloc(c, SCRATCH_LEAVES * sizeof(*c->scratch));
	if (n > SCRATCH_LEAVES - c->n_scratch)
		return pctl_wgsl_alloc(c, (size_t)n * sizeof(*out));
	out = c->scratch + c->n_scratch;
	c->n_scratch += n;
	return out;
}

void pctl_wgsl_keep(struct compose *x, struct expr *e, struct val v)
{
	uint64_t *out = pctl_wgsl_set_leaves(x->c, e, v.t, v.t->leaves);
	uint32_t i;

	for (i = 0; i < v.t->leaves; i++)
		out[i] = v.leaf ? v.leaf[i] : 0;
	x->c->n_scratch = 0;
}

static uint64_t leaf_of(const struct val *v, uint32_t i)
{
	return v->leaf ? v->leaf[v->t->leaves == 1 ? 0 : i] : 0;
}

/* Leaves extend the sign of i32 to 64 bits; the evaluator's bits do not. */
static uint64_t bare(uint32_t scalar, uint64_t leaf)
{
	return pctl_scalar_bits((uint8_t)scalar) == 32 ? (uint32_t)leaf : leaf;
}

static uint64_t eval_one(uint16_t op, uint32_t to, uint32_t from, uint64_t *in, uint32_t n)
{
	uint64_t out = 0;
	uint32_t i;

	if (op == PCTL_OP_SELECT)
		return in[0] ? in[1] : in[2];
	if (op == PCTL_OP_FCONVERT)
		return pctl_wgsl_is_float(to) ? pctl_wgsl_float_from(from, to, in[0])
					      : pctl_wgsl_float_to_int(from, to, in[0]);
	if (PCTL_IS_STRICT(op))
		return pctl_wgsl_float_eval(op, from, in);
	for (i = 0; i < n; i++)
		in[i] = bare(from, in[i]);
	if (op == PCTL_OP_BITCAST)
		out = in[0];
	else
		pctl_eval(op, (uint8_t)to, (uint8_t)from, in, &out);
	return pctl_wgsl_wrap(to, out);
}

static struct val eval(struct compose *x, uint16_t op, const struct type *t, const struct val *args,
		       uint32_t n)
{
	uint64_t *out = new_leaves(x, t->leaves), in[4] = {0};
	uint32_t i, k, from = args[op == PCTL_OP_SELECT].t->scalar;

	for (i = 0; i < t->leaves; i++) {
		for (k = 0; k < n; k++)
			in[k] = leaf_of(&args[k], i);
		out[i] = eval_one(op, t->scalar, from, in, n);
		if (PCTL_IS_STRICT(op) && pctl_wgsl_is_float(t->scalar) &&
		    pctl_wgsl_float_is_special(t->scalar, out[i]))
			x->special = 1;
	}
	return (struct val){.t = t, .leaf = out};
}

struct val pctl_wgsl_of_parts(const struct type *t, const uint32_t *parts)
{
	struct val out = {.t = t};

	if (t->kind == TY_SCALAR)
		out.value = parts[0];
	else
		out.parts = parts;
	return out;
}

/* In `spec`, part by part. */
static struct val spec_op(struct compose *x, uint16_t op, const struct type *t,
			  const struct val *args, uint32_t n)
{
	uint32_t *parts = pctl_wgsl_alloc(x->c, t->leaves * sizeof(*parts)), values[4], i, k;
	const uint32_t type = pctl_wgsl_ir_type(x->c, &x->c->types.scalar[t->scalar]);

	for (i = 0; i < t->leaves; i++) {
		for (k = 0; k < n; k++)
			values[k] = args[k].parts ? args[k].parts[i] : args[k].value;
		parts[i] = pctl_build_inst(x->c->builder, op, type, values, n);
	}
	return pctl_wgsl_of_parts(t, parts);
}

struct val pctl_wgsl_op(struct compose *x, uint16_t op, const struct type *t,
			const struct val *args, uint32_t n)
{
	struct val out = {.t = t};
	struct word w[4];
	uint32_t i;

	if (x->way == COMPOSE_CONST)
		return eval(x, op, t, args, n);
	if (PCTL_IS_STRICT(op) && (x->c->options->flags & PCTL_WGSL_NATIVE) &&
	    pctl_op_get(PCTL_NATIVE_OF(op))->name != NULL)
		op = PCTL_NATIVE_OF(op);
	if (x->way == COMPOSE_SPEC)
		return spec_op(x, op, t, args, n);
	for (i = 0; i < n; i++)
		w[i] = (struct word){WORD_VALUE, args[i].value};
	out.value = pctl_wgsl_emit(x->l, op, pctl_wgsl_ir_type(x->c, t), w, n);
	return out;
}

struct val pctl_wgsl_op1(struct compose *x, uint16_t op, struct val a)
{
	return pctl_wgsl_op(x, op, a.t, &a, 1);
}

struct val pctl_wgsl_op2(struct compose *x, uint16_t op, struct val a, struct val b)
{
	const struct val args[2] = {a, b};

	return pctl_wgsl_op(x, op, a.t, args, 2);
}

struct val pctl_wgsl_op3(struct compose *x, uint16_t op, struct val a, struct val b, struct val d)
{
	const struct val args[3] = {a, b, d};

	return pctl_wgsl_op(x, op, a.t, args, 3);
}

struct val pctl_wgsl_test(struct compose *x, uint16_t op, struct val a, struct val b)
{
	const struct val args[2] = {a, b};

	return pctl_wgsl_op(x, op, pctl_wgsl_shape(x->c, PCTL_SCALAR_BOOL, a.t->width), args, 2);
}

struct val pctl_wgsl_select(struct compose *x, struct val condition, struct val yes, struct val no)
{
	const struct val args[3] = {condition, yes, no};

	return pctl_wgsl_op(x, PCTL_OP_SELECT, yes.t, args, 3);
}

struct val pctl_wgsl_convert(struct compose *x, uint16_t op, const struct type *t, struct val a)
{
	return a.t == t ? a : pctl_wgsl_op(x, op, t, &a, 1);
}

struct val pctl_wgsl_int(struct compose *x, const struct type *t, uint64_t v)
{
	struct val out = {.t = t};
	uint32_t *parts, i;
	uint64_t *leaf;
	struct word w;

	if (x->way == COMPOSE_SPEC) {
		w.v = pctl_build_const(x->c->builder,
				       pctl_wgsl_ir_type(x->c, &x->c->types.scalar[t->scalar]),
				       bare(t->scalar, v));
		parts = pctl_wgsl_alloc(x->c, t->leaves * sizeof(*parts));
		for (i = 0; i < t->leaves; i++)
			parts[i] = w.v;
		return pctl_wgsl_of_parts(t, parts);
	} else if (x->way == COMPOSE_CONST) {
		leaf = new_leaves(x, t->leaves);
		for (i = 0; i < t->leaves; i++)
			leaf[i] = v;
		out.leaf = leaf;
	} else if (!v || t->kind == TY_SCALAR) {
		out.value = v ? pctl_wgsl_const(x->l, t->scalar, v) : pctl_wgsl_zero(x->l, t);
	} else {
		w = (struct word){WORD_VALUE, pctl_wgsl_const(x->l, t->scalar, v)};
		out.value =
			pctl_wgsl_prelude(x->l, PCTL_OP_SPLAT, pctl_wgsl_ir_type(x->c, t), &w, 1);
	}
	return out;
}

struct val pctl_wgsl_float(struct compose *x, const struct type *t, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return pctl_wgsl_int(x, t, pctl_wgsl_float_from(SCALAR_ABSTRACT_FLOAT, t->scalar, bits));
}

struct val pctl_wgsl_splat(struct compose *x, const struct type *vector, struct val scalar)
{
	struct val out = {.t = vector};
	struct word w = {WORD_VALUE, scalar.value};
	uint32_t *parts, i;

	if (vector->kind == TY_SCALAR || scalar.t->kind != TY_SCALAR)
		return scalar;
	if (x->way == COMPOSE_CONST)
		return pctl_wgsl_int(x, vector, leaf_of(&scalar, 0));
	if (x->way == COMPOSE_SPEC) {
		parts = pctl_wgsl_alloc(x->c, vector->leaves * sizeof(*parts));
		for (i = 0; i < vector->leaves; i++)
			parts[i] = scalar.value;
		return pctl_wgsl_of_parts(vector, parts);
	}
	/* What is made once, at the start, is spread once. */
	out.value = scalar.value & VALUE_BODY
			    ? pctl_wgsl_emit1(x->l, PCTL_OP_SPLAT, vector, scalar.value)
			    : pctl_wgsl_prelude(x->l, PCTL_OP_SPLAT,
						pctl_wgsl_ir_type(x->c, vector), &w, 1);
	return out;
}

struct val pctl_wgsl_component(struct compose *x, struct val whole, uint32_t i)
{
	struct val out = {.t = pctl_wgsl_part(whole.t, i)};

	if (x->way == COMPOSE_CONST)
		out.leaf = whole.leaf ? whole.leaf + pctl_wgsl_part_leaf(whole.t, i) : NULL;
	else if (x->way == COMPOSE_SPEC)
		return pctl_wgsl_of_parts(out.t, whole.parts + pctl_wgsl_part_leaf(whole.t, i));
	else
		out.value = pctl_wgsl_extract(x->l, whole.value, out.t, i);
	return out;
}

struct val pctl_wgsl_construct(struct compose *x, const struct type *t, const struct val *parts,
			       uint32_t n)
{
	uint32_t i, k, at = 0, body = 0, type, *values;
	struct val out = {.t = t};
	struct word w[4];
	uint64_t *leaf;

	if (x->way == COMPOSE_CONST) {
		leaf = new_leaves(x, t->leaves);
		for (i = 0; i < n; i++)
			for (k = 0; k < parts[i].t->leaves; k++)
				leaf[at++] = leaf_of(&parts[i], k);
		out.leaf = leaf;
		return out;
	}
	if (x->way == COMPOSE_SPEC) {
		values = pctl_wgsl_alloc(x->c, t->leaves * sizeof(*values));
		for (i = 0; i < n; i++)
			for (k = 0; k < parts[i].t->leaves; k++)
				values[at++] = parts[i].parts ? parts[i].parts[k] : parts[i].value;
		return pctl_wgsl_of_parts(t, values);
	}
	type = pctl_wgsl_ir_type(x->c, t);
	for (i = 0; i < n; i++) {
		w[i] = (struct word){WORD_VALUE, parts[i].value};
		body |= parts[i].value & VALUE_BODY;
	}
	out.value = body ? pctl_wgsl_emit(x->l, PCTL_OP_COMPOSE, type, w, n)
			 : pctl_wgsl_prelude(x->l, PCTL_OP_COMPOSE, type, w, n);
	return out;
}

struct val pctl_wgsl_scale(struct compose *x, struct val v, struct val e)
{
	uint64_t *leaf = new_leaves(x, v.t->leaves), bits;
	double number;
	uint32_t i;

	for (i = 0; i < v.t->leaves; i++) {
		bits = leaf_of(&v, i);
		memcpy(&number, &bits, sizeof(number));
		number = ldexp(number, (int)(int64_t)leaf_of(&e, i)); /* IEEE: rounds once */
		memcpy(&leaf[i], &number, sizeof(number));
	}
	return (struct val){.t = v.t, .leaf = leaf};
}

struct val pctl_wgsl_val(struct compose *x, struct expr *e)
{
	struct val out = {.t = e->type};

	if (x->way == COMPOSE_CONST)
		out.leaf = e->leaf;
	else if (x->way == COMPOSE_SPEC)
		out = pctl_wgsl_spec(x, e);
	else
		out.value = pctl_wgsl_lower_value(x->l, e);
	return out;
}

void pctl_wgsl_recast(const struct type *from, const uint64_t *leaf, const struct type *to,
		      uint64_t *out)
{
	const uint32_t in_bits = pctl_scalar_bits(from->scalar),
		       out_bits = pctl_scalar_bits(to->scalar);
	uint32_t i, k;

	for (i = 0; i < to->leaves; i++) {
		uint64_t v = 0;

		for (k = 0; k < out_bits; k++) {
			uint32_t at = i * out_bits + k;

			if (leaf)
				v |= (leaf[at / in_bits] >> (at % in_bits) & 1) << k;
		}
		out[i] = pctl_wgsl_wrap(to->scalar, v);
	}
}
