/* What a loop does, and whether it pays to write it twice: see loop_version.c. */
#include "compiler/legalize/loop_version.h"

#include <string.h>

#define LARGEST_LOCALS 256u /* parts that are copied when a loop begins, and when it ends */

/* What a guard and a test cost, in integer operations of one component; and a pass through a loop. */
#define GUARD 4u
#define FMA_GUARD 12u
#define TEST 3u
#define PASSES 8u
#define DEAREST 0xffffffu

const pctl_inst *legal_loop_inst(const pctl_program *p, const legal_loop *s, uint32_t v)
{
	return &p->insts[p->functions[s->function].first_inst + v];
}

int legal_type_is_f32(const pctl_program *p, uint32_t type)
{
	const pctl_type *t = &p->types[type];

	return (t->kind == PCTL_TYPE_SCALAR || t->kind == PCTL_TYPE_VECTOR) &&
	       t->scalar == PCTL_SCALAR_F32;
}

uint32_t legal_type_width(const pctl_program *p, uint32_t type)
{
	return p->types[type].kind == PCTL_TYPE_VECTOR ? p->types[type].width : 1;
}

/* ---- what a loop does --------------------------------------------------------------------- */

/* Parts of a local that are copied one by one: elements and columns of f32. Anything else goes whole, a part a
 * word. */
static uint32_t parts(const pctl_program *p, uint32_t type, uint32_t depth)
{
	const pctl_type *t = &p->types[type];
	uint32_t n, each;

	if (legal_type_is_f32(p, type))
		return 1;
	if (t->kind != PCTL_TYPE_ARRAY && t->kind != PCTL_TYPE_MATRIX)
		return t->size / 4 + 1;
	n = t->kind == PCTL_TYPE_ARRAY ? t->count : t->columns;
	each = depth < LEGAL_DEEPEST_LOCAL ? parts(p, t->elem, depth + 1) : LARGEST_LOCALS + 1;
	return n > LARGEST_LOCALS || each > LARGEST_LOCALS ? LARGEST_LOCALS + 1 : n * each;
}

static int is_from_f32(const pctl_program *p, const pctl_function *fn, const pctl_inst *in)
{
	return legal_type_is_f32(p, pctl_value_type(p, fn, pctl_arg(p, in, 0)));
}

/* An instruction that a fast copy may have. */
static int is_harmless(const pctl_program *p, const pctl_function *fn, const pctl_inst *in)
{
	pctl_place place;

	switch (in->op) {
	case PCTL_OP_BARRIER:
	case PCTL_OP_CALL:
	case PCTL_OP_RETURN:
	case PCTL_OP_LOAD_UNIFORM:
		return 0;
	case PCTL_OP_BITCAST:
		return !is_from_f32(p, fn, in);
	case PCTL_OP_STORE:
		return pctl_place_get(p, fn, in, &place) && (place.root & PCTL_PLACE_LOCAL);
	default:
		break;
	}
	if (pctl_op_get(in->op)->kind == PCTL_OPKIND_atomic ||
	    pctl_op_get(in->op)->kind == PCTL_OPKIND_subgroup)
		return 0;
	return !PCTL_IS_STRICT(in->op) || legal_type_is_f32(p, in->type) || !is_from_f32(p, fn, in);
}

/* Note what is done with each local, in the loop and elsewhere. */
void legal_loop_locals(struct legal_loop_versioner *x, const legal_loop *s)
{
	const pctl_function *fn = &x->p->functions[s->function];
	uint32_t depth = 0, is_late = 0;

	memset(x->locals, 0, fn->n_locals);
	for (uint32_t v = 0; v < fn->n_insts; v++) {
		const pctl_inst *in = legal_loop_inst(x->p, s, v);
		const int is_inside = v >= s->first && v <= s->last;
		pctl_place place;
		uint8_t *local;

		if (is_inside) {
			depth += in->op == PCTL_OP_LOOP || in->op == PCTL_OP_IF ||
				 in->op == PCTL_OP_SWITCH || in->op == PCTL_OP_BLOCK;
			depth -= in->op == PCTL_OP_END_LOOP || in->op == PCTL_OP_END_IF ||
				 in->op == PCTL_OP_END_SWITCH || in->op == PCTL_OP_END_BLOCK;
			is_late |= depth == 1 && in->op == PCTL_OP_CONTINUING;
		}
		if (!pctl_place_get(x->p, fn, in, &place) || !(place.root & PCTL_PLACE_LOCAL))
			continue;
		local = &x->locals[place.root & ~PCTL_PLACE_LOCAL];
		if (!is_inside)
			*local |= LOCAL_OUTSIDE;
		else if (in->op == PCTL_OP_STORE)
			*local |= LOCAL_STORED;
		if (is_inside && !(*local & LOCAL_SEEN) && in->op == PCTL_OP_STORE &&
		    !place.n_chain && depth == 1)
			*local |= LOCAL_FIRST;
		if (is_inside)
			*local |= (uint8_t)(LOCAL_SEEN | (is_late ? LOCAL_LATE : 0));
	}
}

/* 1: the local is a new one to every pass through the loop, and nobody sees it elsewhere. */
int legal_loop_owns(const struct legal_loop_versioner *x, uint32_t local)
{
	return (x->locals[local] & LOCAL_FIRST) &&
	       !(x->locals[local] & (LOCAL_LATE | LOCAL_OUTSIDE));
}

/* In the fast copy, a value of the loop that nothing is known of unless it is tested. */
int legal_loop_source(const struct legal_loop_versioner *x, const legal_loop *s, uint32_t v)
{
	const pctl_function *fn = &x->p->functions[s->function];
	const pctl_inst *in = legal_loop_inst(x->p, s, v);
	pctl_place place;

	if (!in->type || !legal_type_is_f32(x->p, in->type))
		return 0;
	if (in->op == PCTL_OP_LOAD) {
		pctl_place_get(x->p, fn, in, &place);
		if ((place.root & PCTL_PLACE_LOCAL) &&
		    (x->locals[place.root & ~PCTL_PLACE_LOCAL] & LOCAL_STORED))
			return 0;
	} else if (in->op == PCTL_OP_EXTRACT) {
		if (is_from_f32(x->p, fn, in))
			return 0;
	} else if (in->op != PCTL_OP_BITCAST) {
		return 0;
	}
	return x->exponent_ranges.values[fn->first_inst + v].lsb < LEGAL_INPUT_LSB;
}

/* A value from before the loop that is tested at its beginning. */
int legal_loop_live(const struct legal_loop_versioner *x, const legal_loop *s, uint32_t v)
{
	const pctl_function *fn = &x->p->functions[s->function];
	const pctl_inst *in = legal_loop_inst(x->p, s, v);

	return v < s->first && legal_type_is_f32(x->p, in->type) && in->op != PCTL_OP_CONST &&
	       x->exponent_ranges.values[fn->first_inst + v].lsb < LEGAL_INPUT_LSB;
}

/* An operation whose guard goes where no subnormal can be. */
int legal_loop_guarded(const struct legal_loop_versioner *x, const pctl_program *p,
		       const pctl_function *fn, const pctl_inst *in)
{
	uint32_t how, row;
	uint8_t operand;

	if (in->op != PCTL_OP_FADD && in->op != PCTL_OP_FSUB && in->op != PCTL_OP_FMUL &&
	    in->op != PCTL_OP_FFMA)
		return 0;
	operand = p->types[pctl_value_type(p, fn, pctl_arg(p, in, 0))].scalar;
	row = legal_choose(x->chooser, in->op, operand, operand, &how);
	return row != LEGAL_NO_ROW && legal_row_at(row)->kind != PCTL_FORM_NATIVE &&
	       legal_choose_subnormal_free(x->chooser, in->op, operand, operand) != LEGAL_NO_ROW;
}

/* 1: a fast copy may be made of the loop, and would pay. */
int legal_loop_pays(struct legal_loop_versioner *x, const legal_loop *s)
{
	const pctl_program *p = x->p;
	const pctl_function *fn = &p->functions[s->function];
	uint64_t gain = 0, cost = 0, weight = 1;
	uint32_t copied = 0;

	legal_loop_locals(x, s);
	memset(x->fast_id, 0, fn->n_insts * sizeof(*x->fast_id));
	for (uint32_t i = 0; i < fn->n_locals; i++) {
		const uint32_t type = p->locals[fn->first_local + i].type;

		if (!(x->locals[i] & LOCAL_STORED) || legal_loop_owns(x, i))
			continue;
		copied += parts(p, type, 0);
		if (copied > LARGEST_LOCALS)
			return 0;
	}
	cost += copied * (uint64_t)TEST;
	for (uint32_t v = s->first; v <= s->last; v++) {
		const pctl_inst *in = legal_loop_inst(p, s, v);
		const legal l = {.p = p, .fn = fn};
		legal_operands o = {.l = &l, .in = in};
		uint32_t i, value;

		if (!is_harmless(p, fn, in))
			return 0;
		if (in->op == PCTL_OP_LOOP && weight < DEAREST)
			weight *= PASSES;
		if (in->op == PCTL_OP_END_LOOP && weight > 1)
			weight /= PASSES;
		if (legal_loop_source(x, s, v))
			cost += weight * TEST * legal_type_width(p, in->type);
		if (legal_loop_guarded(x, p, fn, in) &&
		    !legal_is_subnormal_free(p, fn, in, &x->exponent_ranges))
			gain += weight * legal_type_width(p, in->type) *
				(in->op == PCTL_OP_FFMA ? FMA_GUARD : GUARD);
		while (legal_next_operand(&o, &i, &value)) {
			cost += legal_loop_live(x, s, value) && !x->fast_id[value] ? TEST : 0;
			x->fast_id[value] = 1;
		}
	}
	return gain > cost;
}
