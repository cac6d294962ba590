/* The plan of a function: which values of f32 and f64 are kept as native ones, and where both kinds are wanted.
 * Flow-insensitive: a local is what all stores to it are. */
#include "compiler/legalize/float.h"

#include <string.h>

/* Rounds of a fixpoint before the rest is given up (safe, only slower code). */
#define ROUNDS 64

static const pctl_inst *inst(const legal *l, uint32_t v)
{
	return &l->p->insts[l->fn->first_inst + v];
}

int legal_is_native(const legal *l, uint32_t v)
{
	const uint32_t row = l->floats->choice[l->fn->first_inst + v];

	return row != LEGAL_NO_ROW && legal_row_at(row)->kind == PCTL_FORM_NATIVE;
}

static int is_sign_op(uint16_t op)
{
	return op == PCTL_OP_FNEG || op == PCTL_OP_FABS;
}

/* Puts scalars and vectors together out of parts of its operands, each float from the same. */
static int is_mover(const legal *l, const pctl_inst *in)
{
	switch (in->op) {
	case PCTL_OP_SELECT:
	case PCTL_OP_COMPOSE:
	case PCTL_OP_SPLAT:
	case PCTL_OP_EXTRACT_DYN:
	case PCTL_OP_SHUFFLE:
	case PCTL_OP_INSERT:
		return legal_has_raw(l, in->type);
	case PCTL_OP_EXTRACT:
		return legal_has_raw(l, in->type) &&
		       legal_has_raw(l, pctl_value_type(l->p, l->fn, pctl_arg(l->p, in, 0)));
	default:
		return 0;
	}
}

/* The local that a load or store touches, if that leaves it free to be native: scalars and vectors of
 * f32 or f64 go in and out, and a whole array only as zeros. */
static int raw_local(const legal *l, const pctl_inst *in, uint32_t *local)
{
	pctl_place place;

	if ((in->op != PCTL_OP_LOAD && in->op != PCTL_OP_STORE) ||
	    !pctl_place_get(l->p, l->fn, in, &place) || !(place.root & PCTL_PLACE_LOCAL))
		return 0;
	*local = place.root & ~PCTL_PLACE_LOCAL;
	return legal_has_raw(l, place.end_type) ||
	       (in->op == PCTL_OP_STORE && inst(l, pctl_arg(l->p, in, 0))->op == PCTL_OP_ZERO);
}

/* What a store stores is arithmetic. */
static int stores_arithmetic(const legal *l, const pctl_inst *in)
{
	const uint32_t value = pctl_arg(l->p, in, 0);

	return inst(l, value)->op == PCTL_OP_ZERO || (l->floats->plan[value] & PLAN_ARITHMETIC);
}

/* ---- what nobody sees --------------------------------------------------------------------- */

/* Does this use of a value look at no more than a native operation does? Users come before what they
 * use in this walk. */
static int is_blind_use(const legal *l, uint32_t user)
{
	const uint8_t plan = l->floats->plan[user];

	return legal_is_native(l, user) || ((plan & PLAN_LOOSE) && (plan & PLAN_SEEN));
}

static void find_loose(legal *l)
{
	uint8_t *plan = l->floats->plan;

	for (uint32_t v = 0; v < l->fn->n_insts; v++)
		if ((is_sign_op(inst(l, v)->op) && legal_has_raw(l, inst(l, v)->type)) ||
		    is_mover(l, inst(l, v)))
			plan[v] |= PLAN_LOOSE;
	for (uint32_t v = l->fn->n_insts; v-- > 0;) {
		legal_operands o = {.l = l, .in = inst(l, v)};
		const int blind = is_blind_use(l, v);
		uint32_t i, value;

		while (legal_next_operand(&o, &i, &value)) {
			plan[value] |= PLAN_SEEN;
			if (!blind)
				plan[value] &= (uint8_t)~PLAN_LOOSE;
		}
	}
	for (uint32_t v = 0; v < l->fn->n_insts; v++)
		if (!(plan[v] & PLAN_SEEN))
			plan[v] &= (uint8_t)~PLAN_LOOSE;
}

/* ---- arithmetic --------------------------------------------------------------------------- */

static int is_canonical_constant(const legal *l, const pctl_inst *in)
{
	const uint64_t low = pctl_arg(l->p, in, 0);
	const uint64_t bits = low | (uint64_t)pctl_arg(l->p, in, 1) << 32;

	if (legal_is_f64(l, in->type))
		return (bits & (UINT64_MAX >> 1)) <= 0x7ff0000000000000u ||
		       bits == 0x7ff8000000000000u;
	return (bits & 0x7fffffffu) <= 0x7f800000u || bits == 0x7fc00000u;
}

/* Every operand of a mover that may be native has the property. */
static int all_operands(const legal *l, const pctl_inst *in, uint8_t property)
{
	legal_operands o = {.l = l, .in = in};
	uint32_t i, value;

	while (legal_next_operand(&o, &i, &value))
		if (legal_has_raw(l, pctl_value_type(l->p, l->fn, value)) &&
		    !(l->floats->plan[value] & property))
			return 0;
	return 1;
}

static int any_operand(const legal *l, const pctl_inst *in, uint8_t property)
{
	legal_operands o = {.l = l, .in = in};
	uint32_t i, value;

	while (legal_next_operand(&o, &i, &value))
		if (legal_has_raw(l, pctl_value_type(l->p, l->fn, value)) &&
		    (l->floats->plan[value] & property))
			return 1;
	return 0;
}

static int is_arithmetic(const legal *l, uint32_t v, const pctl_inst *in)
{
	uint32_t local;

	if (!in->type || !legal_has_raw(l, in->type))
		return 0;
	if (l->floats->plan[v] & PLAN_LOOSE)
		return 1;
	if (is_sign_op(in->op))
		return 0;
	if (PCTL_IS_STRICT(in->op) || in->op == PCTL_OP_ZERO)
		return 1;
	if (in->op == PCTL_OP_CONST)
		return is_canonical_constant(l, in);
	if (is_mover(l, in))
		return all_operands(l, in, PLAN_ARITHMETIC);
	return in->op == PCTL_OP_LOAD && raw_local(l, in, &local) &&
	       l->floats->local_arithmetic[local];
}

/* What may be native at all: nothing but scalars and vectors of it is ever loaded or stored. */
static void find_candidates(legal *l)
{
	uint8_t *candidate = l->floats->local_arithmetic;
	uint32_t local;

	for (uint32_t i = 0; i < l->fn->n_locals; i++)
		candidate[i] =
			(uint8_t)legal_may_be_raw(l, l->p->locals[l->fn->first_local + i].type);
	for (uint32_t v = 0; v < l->fn->n_insts; v++) {
		pctl_place place;

		if (pctl_place_get(l->p, l->fn, inst(l, v), &place) &&
		    (place.root & PCTL_PLACE_LOCAL) && !raw_local(l, inst(l, v), &local))
			candidate[place.root & ~PCTL_PLACE_LOCAL] = 0;
	}
}

/* One look at every instruction; 1 when a local was given up. */
static int arithmetic_round(legal *l)
{
	legal_floats *x = l->floats;
	int changed = 0;

	for (uint32_t v = 0; v < l->fn->n_insts; v++) {
		const pctl_inst *in = inst(l, v);
		uint32_t local;

		if (is_arithmetic(l, v, in))
			x->plan[v] |= PLAN_ARITHMETIC;
		else
			x->plan[v] &= (uint8_t)~PLAN_ARITHMETIC;
		if (in->op != PCTL_OP_STORE || !raw_local(l, in, &local) ||
		    !x->local_arithmetic[local] || stores_arithmetic(l, in))
			continue;
		x->local_arithmetic[local] = 0;
		changed = 1;
	}
	return changed;
}

static void find_arithmetic(legal *l)
{
	find_candidates(l);
	for (uint32_t round = 0; arithmetic_round(l); round++)
		if (round == ROUNDS)
			memset(l->floats->local_arithmetic, 0, l->fn->n_locals);
}

/* ---- raw ---------------------------------------------------------------------------------- */

static int is_raw(const legal *l, uint32_t v, const pctl_inst *in)
{
	uint32_t local;

	if (!(l->floats->plan[v] & PLAN_ARITHMETIC))
		return 0;
	if (is_sign_op(in->op) || legal_is_native(l, v))
		return 1;
	if (is_mover(l, in))
		return any_operand(l, in, PLAN_RAW);
	return in->op == PCTL_OP_LOAD && raw_local(l, in, &local) && l->floats->local_raw[local];
}

static int raw_round(legal *l)
{
	legal_floats *x = l->floats;
	int changed = 0;

	for (uint32_t v = 0; v < l->fn->n_insts; v++) {
		const pctl_inst *in = inst(l, v);
		uint32_t local;

		if (is_raw(l, v, in))
			x->plan[v] |= PLAN_RAW;
		if (in->op != PCTL_OP_STORE || !raw_local(l, in, &local) ||
		    !x->local_arithmetic[local] || x->local_raw[local] ||
		    !(x->plan[pctl_arg(l->p, in, 0)] & PLAN_RAW))
			continue;
		x->local_raw[local] = 1;
		changed = 1;
	}
	return changed;
}

/* ---- mixed -------------------------------------------------------------------------------- */

/* A scalar or vector that only goes in and out whole. */
static int may_be_mixed(const legal *l, uint32_t local)
{
	for (uint32_t v = 0; v < l->fn->n_insts; v++) {
		const pctl_inst *in = inst(l, v);
		pctl_place place;

		if (pctl_place_get(l->p, l->fn, in, &place) &&
		    place.root == (PCTL_PLACE_LOCAL | local) &&
		    (place.n_chain || (in->op != PCTL_OP_LOAD && in->op != PCTL_OP_STORE)))
			return 0;
	}
	return legal_has_raw(l, l->p->locals[l->fn->first_local + local].type);
}

/* Accumulators that start from something moved: worth it where a native operation makes what is stored. */
static void find_mixed(legal *l)
{
	legal_floats *x = l->floats;
	uint32_t local;

	for (uint32_t v = 0; v < l->fn->n_insts; v++) {
		const pctl_inst *in = inst(l, v);

		if (in->op != PCTL_OP_STORE || !raw_local(l, in, &local) || x->local_raw[local] ||
		    !(x->plan[pctl_arg(l->p, in, 0)] & PLAN_RAW) || !may_be_mixed(l, local))
			continue;
		x->local_mixed[local] = !x->local_arithmetic[local];
	}
}

/* ---- who wants what ----------------------------------------------------------------------- */

static int wants_raw(const legal *l, uint32_t user, const pctl_inst *in, uint32_t i)
{
	uint32_t local;

	if (in->op == PCTL_OP_STORE && raw_local(l, in, &local) && l->floats->local_mixed[local])
		return i == 0 && (l->floats->plan[pctl_arg(l->p, in, 0)] & PLAN_RAW);
	if (in->op == PCTL_OP_STORE)
		return i == 0 && raw_local(l, in, &local) && l->floats->local_raw[local];
	if (legal_is_native(l, user))
		return 1;
	return (is_mover(l, in) || is_sign_op(in->op)) && (l->floats->plan[user] & PLAN_RAW);
}

static void find_needs(legal *l)
{
	for (uint32_t v = 0; v < l->fn->n_insts; v++) {
		legal_operands o = {.l = l, .in = inst(l, v)};
		uint32_t i, value;

		while (legal_next_operand(&o, &i, &value))
			l->floats->plan[value] |=
				wants_raw(l, v, inst(l, v), i) ? PLAN_NEED_RAW : PLAN_NEED_BITS;
	}
}

int legal_float_plan(legal *l)
{
	legal_floats *x = l->floats;
	uint32_t round = 0;

	memset(x->plan, 0, l->fn->n_insts);
	memset(x->local_raw, 0, l->fn->n_locals);
	memset(x->local_mixed, 0, l->fn->n_locals);
	memset(x->local_tag, 0, l->fn->n_locals * sizeof(*x->local_tag));
	find_loose(l);
	find_arithmetic(l);
	while (raw_round(l) && round < ROUNDS)
		round++;
	find_mixed(l);
	find_needs(l);
	return 1;
}
