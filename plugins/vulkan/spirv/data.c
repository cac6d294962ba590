/* Composites: making them, taking them apart, choosing between them, dot and matrix products. */
#include "spirv/spirv.h"

static uint32_t type_of(const pctl_spv *e, const pctl_inst *in, uint32_t i)
{
	return pctl_value_type(e->p, e->fn, pctl_arg(e->p, in, i));
}

/* A composite has no OpSelect before SPIR-V 1.4; a branch around nothing and a phi say the same. */
uint32_t pctl_spv_choose(pctl_spv *e, uint32_t type, uint32_t condition, uint32_t yes, uint32_t no)
{
	const uint32_t then = pctl_spv_id(e);
	const uint32_t other = pctl_spv_id(e);
	const uint32_t merge = pctl_spv_id(e);

	pctl_spv_branch_if(e, condition, then, other, merge);
	pctl_spv_label(e, then);
	pctl_spv_branch(e, merge);
	pctl_spv_label(e, other);
	pctl_spv_branch(e, merge);
	pctl_spv_label(e, merge);
	return PCTL_SPV_VALUE(e, SpvOpPhi, e->plain[type], yes, then, no, other);
}

static uint32_t repeat(pctl_spv *e, uint32_t type, uint32_t scalar, uint32_t width)
{
	const uint32_t parts[4] = {scalar, scalar, scalar, scalar};

	return pctl_spv_value(e, SpvOpCompositeConstruct, type, parts, width);
}

static uint32_t select_op(pctl_spv *e, const pctl_inst *in)
{
	const uint32_t no = pctl_spv_arg(e, in, 2);
	uint32_t condition = pctl_spv_arg(e, in, 0), yes = pctl_spv_arg(e, in, 1);
	pctl_spv_shape s;

	if (!pctl_spv_shape_get(e->p, in->type, &s))
		return pctl_spv_choose(e, in->type, condition, yes, no);
	yes = pctl_spv_nofold_choice(e, in, s, yes);
	if (s.width > 1 && e->p->types[type_of(e, in, 0)].kind == PCTL_TYPE_SCALAR)
		condition = repeat(e, pctl_spv_type(e, 1, s.width), condition, s.width);
	return pctl_spv_select(e, s, condition, yes, no);
}

static uint32_t compose(pctl_spv *e, const pctl_inst *in)
{
	pctl_spv_words parts = {0};
	uint32_t i, id;

	for (i = 0; i < in->n_args; i++) {
		id = pctl_spv_arg(e, in, i);
		pctl_spv_append(e, &parts, &id, 1);
	}
	id = pctl_spv_value(e, SpvOpCompositeConstruct, e->plain[in->type], parts.at, parts.n);
	free(parts.at);
	return id;
}

static uint32_t extract_dyn(pctl_spv *e, const pctl_inst *in)
{
	const uint32_t vector = pctl_spv_arg(e, in, 0);
	const uint32_t index = pctl_spv_arg(e, in, 1);
	const uint32_t width = e->p->types[type_of(e, in, 0)].width;
	const pctl_spv_shape word = {.bits = 32, .width = 1};
	pctl_spv_shape s;
	uint64_t lane[4];
	uint32_t ok, x;

	pctl_spv_shape_get(e->p, in->type, &s);
	if (pctl_spv_literal(e, pctl_arg(e->p, in, 1), lane) == 1)
		return (uint32_t)lane[0] < width
			       ? PCTL_SPV_VALUE(e, SpvOpCompositeExtract, e->plain[in->type],
						vector, (uint32_t)lane[0])
			       : pctl_spv_null(e, e->plain[in->type]);
	ok = PCTL_SPV_VALUE(e, SpvOpULessThan, pctl_spv_type(e, 1, 1), index,
			    pctl_spv_u32(e, width));
	x = pctl_spv_select(e, word, ok, index, pctl_spv_u32(e, 0));
	x = PCTL_SPV_VALUE(e, SpvOpVectorExtractDynamic, e->plain[in->type], vector, x);
	return pctl_spv_select(e, s, ok, x, pctl_spv_null(e, e->plain[in->type]));
}

static uint32_t shuffle(pctl_spv *e, const pctl_inst *in)
{
	const uint32_t vector = pctl_spv_arg(e, in, 0);
	const uint32_t n = in->n_args - 1;
	uint32_t words[6] = {vector, vector};
	uint32_t i;

	if (n == 1)
		return PCTL_SPV_VALUE(e, SpvOpCompositeExtract, e->plain[in->type], vector,
				      pctl_arg(e->p, in, 1));
	for (i = 0; i < n && i < 4; i++)
		words[2 + i] = pctl_arg(e->p, in, 1 + i);
	return pctl_spv_value(e, SpvOpVectorShuffle, e->plain[in->type], words, 2 + n);
}

/* ---- products ---- */

static uint32_t part(pctl_spv *e, uint32_t type, uint32_t composite, uint32_t i)
{
	return PCTL_SPV_VALUE(e, SpvOpCompositeExtract, type, composite, i);
}

static uint32_t sum(pctl_spv *e, uint32_t type, uint32_t so_far, uint32_t x)
{
	return so_far ? PCTL_SPV_VALUE(e, SpvOpIAdd, type, so_far, x) : x;
}

static uint32_t dot(pctl_spv *e, uint32_t bits, uint32_t width, uint32_t a, uint32_t b)
{
	const uint32_t scalar = pctl_spv_type(e, bits, 1);
	const uint32_t product = PCTL_SPV_VALUE(e, SpvOpIMul, pctl_spv_type(e, bits, width), a, b);
	uint32_t i, total = 0;

	for (i = 0; i < width; i++)
		total = sum(e, scalar, total, part(e, scalar, product, i));
	return total;
}

static uint32_t dot4(pctl_spv *e, const pctl_inst *in)
{
	const int is_signed = in->op == PCTL_OP_DOT4_I8;
	const SpvOp extract = is_signed ? SpvOpBitFieldSExtract : SpvOpBitFieldUExtract;
	const uint32_t a = pctl_spv_arg(e, in, 0);
	const uint32_t b = pctl_spv_arg(e, in, 1);
	const uint32_t u32 = pctl_spv_type(e, 32, 1);
	uint32_t i, x, y, total = 0;

	if (e->opt->dot4) {
		e->uses_dot = 1;
		return PCTL_SPV_VALUE(e, is_signed ? SpvOpSDotKHR : SpvOpUDotKHR, u32, a, b,
				      SpvPackedVectorFormatPackedVectorFormat4x8BitKHR);
	}
	for (i = 0; i < 4; i++) {
		x = PCTL_SPV_VALUE(e, extract, u32, a, pctl_spv_u32(e, 8 * i), pctl_spv_u32(e, 8));
		y = PCTL_SPV_VALUE(e, extract, u32, b, pctl_spv_u32(e, 8 * i), pctl_spv_u32(e, 8));
		total = sum(e, u32, total, PCTL_SPV_VALUE(e, SpvOpIMul, u32, x, y));
	}
	return total;
}

/* sum over k of column k of `m` times component k of `v` (both by their IR types). */
static uint32_t mat_vec(pctl_spv *e, uint32_t m_type, uint32_t m, uint32_t v)
{
	const pctl_type *t = &e->p->types[m_type];
	const uint32_t bits = pctl_scalar_bits(t->scalar);
	const uint32_t scalar = pctl_spv_type(e, bits, 1);
	const uint32_t column = pctl_spv_type(e, bits, t->width);
	uint32_t k, x, total = 0;

	for (k = 0; k < t->columns; k++) {
		x = pctl_spv_opaque(e, (pctl_spv_shape){.bits = bits, .width = 1},
				    part(e, scalar, v, k));
		x = repeat(e, column, x, t->width);
		x = PCTL_SPV_VALUE(e, SpvOpIMul, column, part(e, column, m, k), x);
		total = sum(e, column, total, x);
	}
	return total;
}

static uint32_t matmul(pctl_spv *e, const pctl_inst *in)
{
	const uint32_t a_type = type_of(e, in, 0), b_type = type_of(e, in, 1);
	const pctl_type *ta = &e->p->types[a_type], *tb = &e->p->types[b_type];
	const uint32_t bits = pctl_scalar_bits(ta->scalar);
	const uint32_t a = pctl_spv_arg(e, in, 0), b = pctl_spv_arg(e, in, 1);
	uint32_t parts[4] = {0};
	uint32_t i, n;

	if (tb->kind == PCTL_TYPE_VECTOR)
		return mat_vec(e, a_type, a, b);
	n = tb->columns;
	for (i = 0; i < n && i < 4; i++) {
		const uint32_t column = part(e, pctl_spv_type(e, bits, tb->width), b, i);

		parts[i] = ta->kind == PCTL_TYPE_VECTOR ? dot(e, bits, tb->width, a, column)
							: mat_vec(e, a_type, a, column);
	}
	return pctl_spv_value(e, SpvOpCompositeConstruct, e->plain[in->type], parts, n);
}

static uint32_t transpose(pctl_spv *e, const pctl_inst *in)
{
	const pctl_type *t = &e->p->types[type_of(e, in, 0)];
	const uint32_t scalar = e->plain[e->p->types[t->elem].elem];
	const uint32_t m = pctl_spv_arg(e, in, 0);
	uint32_t columns[4] = {0}, row[4] = {0};
	uint32_t r, c;

	for (r = 0; r < t->width && r < 4; r++) {
		for (c = 0; c < t->columns && c < 4; c++)
			row[c] = PCTL_SPV_VALUE(e, SpvOpCompositeExtract, scalar, m, c, r);
		columns[r] = pctl_spv_value(e, SpvOpCompositeConstruct,
					    e->plain[e->p->types[in->type].elem], row, t->columns);
	}
	return pctl_spv_value(e, SpvOpCompositeConstruct, e->plain[in->type], columns, t->width);
}

static uint32_t all_any(pctl_spv *e, const pctl_inst *in)
{
	if (e->p->types[type_of(e, in, 0)].kind == PCTL_TYPE_SCALAR)
		return pctl_spv_arg(e, in, 0);
	return PCTL_SPV_VALUE(e, in->op == PCTL_OP_ALL ? SpvOpAll : SpvOpAny,
			      pctl_spv_type(e, 1, 1), pctl_spv_arg(e, in, 0));
}

static uint32_t bitcast(pctl_spv *e, const pctl_inst *in)
{
	const uint32_t from = e->plain[type_of(e, in, 0)];
	const uint32_t x = pctl_spv_arg(e, in, 0);

	return from == e->plain[in->type] ? x
					  : PCTL_SPV_VALUE(e, SpvOpBitcast, e->plain[in->type], x);
}

uint32_t pctl_spv_data(pctl_spv *e, const pctl_inst *in)
{
	switch (in->op) {
	case PCTL_OP_ALL:
	case PCTL_OP_ANY:
		return all_any(e, in);
	case PCTL_OP_SELECT:
		return select_op(e, in);
	case PCTL_OP_DOT:
		return dot(e, pctl_scalar_bits(e->p->types[in->type].scalar),
			   e->p->types[type_of(e, in, 0)].width, pctl_spv_arg(e, in, 0),
			   pctl_spv_arg(e, in, 1));
	case PCTL_OP_DOT4_I8:
	case PCTL_OP_DOT4_U8:
		return dot4(e, in);
	case PCTL_OP_BITCAST:
		return bitcast(e, in);
	case PCTL_OP_COMPOSE:
		return compose(e, in);
	case PCTL_OP_SPLAT:
		return repeat(e, e->plain[in->type], pctl_spv_arg(e, in, 0),
			      e->p->types[in->type].width);
	case PCTL_OP_EXTRACT:
		return part(e, e->plain[in->type], pctl_spv_arg(e, in, 0), pctl_arg(e->p, in, 1));
	case PCTL_OP_EXTRACT_DYN:
		return extract_dyn(e, in);
	case PCTL_OP_SHUFFLE:
		return shuffle(e, in);
	case PCTL_OP_INSERT:
		return PCTL_SPV_VALUE(e, SpvOpCompositeInsert, e->plain[in->type],
				      pctl_spv_arg(e, in, 1), pctl_spv_arg(e, in, 0),
				      pctl_arg(e->p, in, 2));
	case PCTL_OP_MATMUL:
		return matmul(e, in);
	case PCTL_OP_TRANSPOSE:
		return transpose(e, in);
	case PCTL_OP_LOOKUP:
		return pctl_spv_lookup(e, in);
	default:
		pctl_spv_fail(e, PCTL_E_UNSUPPORTED);
		return 0;
	}
}
