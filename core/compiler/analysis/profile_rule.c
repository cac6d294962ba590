/* What counting knows of single instructions: the default table of costs, units, and the normative
 * proof rule for indices. Walking the program is profile.c's. */
#include <string.h>

#include "foundation/base/num.h"
#include "compiler/analysis/profile.h"

int pctl_cost_needs_price(uint16_t op)
{
	return op < PCTL_COST_OPS && pctl_op_get(op)->name && !PCTL_IS_NATIVE(op);
}

static uint8_t strict_kind(uint16_t op)
{
	if (op == PCTL_OP_FDIV || op == PCTL_OP_FSQRT || op == PCTL_OP_FRSQRT)
		return PCTL_COST_FLOAT_DIVISION;
	return op >= PCTL_OP_FSIN ? PCTL_COST_ELEMENTARY : PCTL_COST_FLOAT;
}

void pctl_cost_table_default(pctl_cost_table *out)
{
	static const uint16_t free_ops[] = {PCTL_OP_BITCAST,  PCTL_OP_COMPOSE, PCTL_OP_SPLAT,
					    PCTL_OP_EXTRACT,  PCTL_OP_SHUFFLE, PCTL_OP_INSERT,
					    PCTL_OP_TRANSPOSE};
	uint32_t op, i;

	memset(out, 0, sizeof(*out));
	for (op = 0; op < PCTL_COST_OPS; op++) {
		const pctl_op_info *info = pctl_op_get((uint16_t)op);

		if (!pctl_cost_needs_price((uint16_t)op) || info->kind == PCTL_OPKIND_const ||
		    info->kind == PCTL_OPKIND_control || info->kind == PCTL_OPKIND_memory)
			continue;
		out->kind[op] = info->kind == PCTL_OPKIND_atomic ? PCTL_COST_ATOMIC
				: PCTL_IS_STRICT(op)		 ? strict_kind((uint16_t)op)
								 : PCTL_COST_INTEGER;
		out->count[op] = 1;
	}
	for (i = 0; i < sizeof(free_ops) / sizeof(free_ops[0]); i++)
		out->kind[free_ops[i]] = out->count[free_ops[i]] = 0;
	out->kind[PCTL_OP_DIV] = out->kind[PCTL_OP_MOD] = out->kind[PCTL_OP_DIV_WGSL] =
		PCTL_COST_DIVISION;
	out->kind[PCTL_OP_ARRAY_LENGTH] = PCTL_COST_INTEGER;
	out->count[PCTL_OP_ARRAY_LENGTH] = 1;
	for (op = PCTL_OP_SUBGROUP_BROADCAST; op <= PCTL_OP_SUBGROUP_SHUFFLE_DOWN; op++)
		out->count[op] = 2; /* put down and picked up */
	for (op = PCTL_OP_TILE_LOAD_ROWS; op <= PCTL_OP_TILE_STORE_COLUMNS; op++)
		out->count[op] = 3; /* where it lies, and whether it is there */
	out->count[PCTL_OP_TILE_MULTIPLY_ADD] = 2;
	out->count[PCTL_OP_DOT4_I8] = out->count[PCTL_OP_DOT4_U8] = 7; /* a dot of four */
	out->memory_ops = 1;
	out->index_check = 1;
	out->integer = 1;
	out->division = 4;
	out->atomic = 20;
	out->float_op = 1;
	out->float_division = 8;
	out->elementary = 64;
	out->read = 10;
	out->write = 15;
	out->workgroup_barrier = 50;
	out->storage_barrier = 100;
}

/* Components of a type, 64-bit ones twice. */
static uint64_t components(const pctl_program *p, uint32_t type)
{
	const pctl_type *t = &p->types[type];
	const uint64_t each = pctl_scalar_bits(t->scalar) == 64 ? 2 : 1;

	switch (t->kind) {
	case PCTL_TYPE_SCALAR:
	case PCTL_TYPE_ATOMIC:
		return each;
	case PCTL_TYPE_VECTOR:
		return each * t->width;
	case PCTL_TYPE_MATRIX:
		return each * t->width * t->columns;
	default:
		return t->size / 4; /* SELECT of an array or struct */
	}
}

/* What is over all lanes, or over those below, is as many steps as there are lanes, for each component; what is read of
 * one lane is one. */
static uint64_t subgroup_units(const pctl_program *p, const pctl_function *fn, const pctl_inst *in)
{
	uint64_t n;

	if (in->op == PCTL_OP_SUBGROUP_ELECT)
		return 1;
	n = components(p, pctl_value_type(p, fn, pctl_arg(p, in, 0)));
	return in->op < PCTL_OP_SUBGROUP_BROADCAST ? n * pctl_arg(p, in, in->n_args - 1) : n;
}

/* A lane's share of the components; of a product, as many steps each as terms. */
static uint64_t tile_units(const pctl_program *p, const pctl_function *fn, const pctl_inst *in)
{
	const uint32_t moved = pctl_tile_moved(p, fn, in);
	const pctl_type *t = &p->types[moved ? moved : in->type];
	const uint64_t n = (uint64_t)t->width * t->columns / PCTL_TILE_LANES;

	if (moved)
		return n;
	return n * p->types[pctl_value_type(p, fn, pctl_arg(p, in, 0))].columns;
}

uint64_t pctl_cost_units(const pctl_program *p, const pctl_function *fn, const pctl_inst *in)
{
	const pctl_op_info *info = pctl_op_get(in->op);
	uint32_t first;
	const pctl_type *a;

	if (info->kind == PCTL_OPKIND_memory || info->kind == PCTL_OPKIND_atomic)
		return 1;
	if (info->kind == PCTL_OPKIND_subgroup)
		return subgroup_units(p, fn, in);
	if (info->kind == PCTL_OPKIND_tile)
		return tile_units(p, fn, in);
	if (!in->n_args || info->args[0] != 'v')
		return in->type ? components(p, in->type) : 1;
	first = pctl_value_type(p, fn, pctl_arg(p, in, 0));
	a = &p->types[first];
	if ((in->op >= PCTL_OP_EQ && in->op <= PCTL_OP_GE) || info->kind == PCTL_OPKIND_bool)
		return components(p, first);
	if (in->op == PCTL_OP_DOT)
		return 2 * components(p, first) - components(p, in->type);
	if (in->op == PCTL_OP_MATMUL)
		return (2ull * (a->kind == PCTL_TYPE_MATRIX ? a->columns : a->width) - 1) *
		       components(p, in->type);
	return in->type ? components(p, in->type) : 1;
}

/* ---- the proof rule ---- */

typedef struct rule {
	const pctl_program *p;
	const pctl_function *fn;
	const pctl_place *place;
	uint32_t step;
	uint32_t length; /* literal, or 0 for a runtime array */
} rule;

static const pctl_inst *inst(const rule *r, uint32_t v)
{
	return &r->p->insts[r->fn->first_inst + v];
}

static int is_const(const rule *r, uint32_t v, uint64_t *out)
{
	const pctl_inst *in = inst(r, v);

	*out = 0;
	if (in->op == PCTL_OP_CONST)
		*out = pctl_arg(r->p, in, 0) | (uint64_t)pctl_arg(r->p, in, 1) << 32;
	return in->op == PCTL_OP_CONST || in->op == PCTL_OP_ZERO;
}

/* v is the ARRAY_LENGTH of the runtime array stepped into. */
static int is_own_length(const rule *r, uint32_t v)
{
	const pctl_inst *in = inst(r, v);
	pctl_place pl;
	uint32_t i;

	if (r->length || in->op != PCTL_OP_ARRAY_LENGTH || !pctl_place_get(r->p, r->fn, in, &pl) ||
	    pl.root != r->place->root || pl.n_chain != r->step)
		return 0;
	for (i = 0; i < pl.n_chain; i++) {
		if (r->p->words[pl.chain + i] != r->p->words[r->place->chain + i])
			return 0;
	}
	return 1;
}

/* v is at most L - less, by its form. */
static int is_limit(const rule *r, uint32_t v, uint32_t less)
{
	const pctl_inst *in = inst(r, v);
	uint64_t c;

	if (is_const(r, v, &c))
		return r->length && c <= r->length - less;
	if (!less)
		return is_own_length(r, v);
	return in->op == PCTL_OP_SUB && is_own_length(r, pctl_arg(r->p, in, 0)) &&
	       is_const(r, pctl_arg(r->p, in, 1), &c) && c == 1;
}

static int is_loop_variable(const rule *r, const pctl_analysis *a, uint32_t v)
{
	const uint32_t f = (uint32_t)(r->fn - r->p->functions);
	const pctl_inst *in = inst(r, v);
	pctl_place pl;
	uint32_t i;

	if (in->op != PCTL_OP_LOAD || !pctl_place_get(r->p, r->fn, in, &pl) || pl.n_chain ||
	    !(pl.root & PCTL_PLACE_LOCAL))
		return 0;
	for (i = 0; i < a->n_loops; i++) {
		const pctl_loop_bound *b = &a->loops[i];

		if (b->function == f && (b->local | PCTL_PLACE_LOCAL) == pl.root &&
		    b->literal_below && b->inst < v && v < b->update && r->length &&
		    b->literal_below <= r->length && v > b->test)
			return 1;
	}
	return 0;
}

int pctl_profile_index_proven(const pctl_program *p, const pctl_analysis *a,
			      const pctl_function *fn, const pctl_place *place, uint32_t step,
			      uint32_t type)
{
	const pctl_type *t = &p->types[type];
	const uint32_t v = p->words[place->chain + step];
	const pctl_inst *in = &p->insts[fn->first_inst + v];
	const int is_unsigned = p->types[in->type].scalar == PCTL_SCALAR_U32;
	rule r = {.p = p, .fn = fn, .place = place, .step = step};
	uint32_t x, y;
	uint64_t c;

	switch (t->kind) {
	case PCTL_TYPE_VECTOR:
		r.length = t->width;
		break;
	case PCTL_TYPE_MATRIX:
		r.length = t->columns;
		break;
	default:
		r.length = t->count;
		break;
	}
	if (is_const(&r, v, &c))
		return !r.length || c < r.length;
	if (is_loop_variable(&r, a, v))
		return 1;
	if (!is_unsigned || in->n_args != 2)
		return 0;
	x = pctl_arg(p, in, 0);
	y = pctl_arg(p, in, 1);
	switch (in->op) {
	case PCTL_OP_MOD:
		return is_limit(&r, y, 0);
	case PCTL_OP_AND:
	case PCTL_OP_MIN:
		return is_limit(&r, x, 1) || is_limit(&r, y, 1);
	default:
		return 0;
	}
}
