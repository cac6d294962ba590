/* Strict operations as native ones or calls of forms, and the passage between native values and
 * their bits. */
#include "compiler/legalize/float.h"

uint32_t legal_splat(legal *l, uint32_t type, uint32_t width, uint32_t k)
{
	const uint32_t id = legal_word(l, k);

	return width == 1 ? id : legal_emit1(l, PCTL_OP_SPLAT, type, id);
}

/* The type of the bits of an old one of floats: u64 for f64, u32 for all others. */
static uint32_t bits_type(legal *l, uint32_t type)
{
	const uint8_t scalar = legal_is_f64(l, type) ? PCTL_SCALAR_U64 : PCTL_SCALAR_U32;
	const uint32_t width = legal_width(l, type);

	return width == 1 ? pctl_build_scalar(l->b, scalar)
			  : pctl_build_vector(l->b, scalar, width);
}

/* A constant of such a type, in every component. */
static uint32_t bits_of(legal *l, uint32_t type, uint64_t k)
{
	const uint32_t width = legal_width(l, type);
	uint32_t id;

	if (!legal_is_f64(l, type))
		return legal_splat(l, bits_type(l, type), width, (uint32_t)k);
	id = pctl_build_const(l->b, pctl_build_scalar(l->b, PCTL_SCALAR_U64), k);
	return width == 1 ? id : legal_emit1(l, PCTL_OP_SPLAT, bits_type(l, type), id);
}

/* Bits whose NaN is the canonical one: magnitudes above infinity are replaced. */
static uint32_t canonical(legal *l, uint32_t old, uint32_t bits)
{
	static const struct {
		uint64_t mask, infinity, quiet;
	} formats[] = {
		[PCTL_SCALAR_F16] = {0x7fffu, 0x7c00u, 0x200u},
		[PCTL_SCALAR_F32] = {0x7fffffffu, 0x7f800000u, 0x400000u},
		[PCTL_SCALAR_BF16] = {0x7fffu, 0x7f80u, 0x40u},
		[PCTL_SCALAR_F64] = {0x7fffffffffffffffu, 0x7ff0000000000000u, 0x8000000000000u}};
	const uint8_t scalar = l->p->types[old].scalar;
	const uint32_t width = legal_width(l, old), type = bits_type(l, old);
	const uint32_t t_bool =
		width == 1 ? l->t_bool : pctl_build_vector(l->b, PCTL_SCALAR_BOOL, width);
	const uint32_t mask = bits_of(l, old, formats[scalar].mask);
	const uint32_t magnitude = legal_emit2(l, PCTL_OP_AND, type, bits, mask);
	const uint32_t inf = bits_of(l, old, formats[scalar].infinity);
	const uint32_t is_nan = legal_emit2(l, PCTL_OP_LT, t_bool, inf, magnitude);
	const uint32_t nan = bits_of(l, old, formats[scalar].infinity | formats[scalar].quiet);

	return legal_emit3(l, PCTL_OP_SELECT, type, is_nan, nan, bits);
}

void legal_float_made_raw(legal *l, uint32_t v, uint32_t id)
{
	const uint32_t type = pctl_value_type(l->p, l->fn, v);
	uint32_t bits;

	l->values[v].id[LEGAL_RAW] = id;
	if (!(l->floats->plan[v] & PLAN_NEED_BITS))
		return;
	bits = legal_emit1(l, PCTL_OP_BITCAST, bits_type(l, type), id);
	if (!legal_is_approximate(l->chooser))
		bits = canonical(l, type, bits);
	l->values[v].id[LEGAL_BITS] = bits;
}

void legal_float_made_mixed(legal *l, uint32_t v, uint32_t id, uint32_t tag)
{
	const uint32_t type = pctl_value_type(l->p, l->fn, v);
	uint32_t right, zero, is_moved;

	if (l->floats->plan[v] & PLAN_NEED_RAW)
		l->values[v].id[LEGAL_RAW] =
			legal_emit1(l, PCTL_OP_BITCAST, legal_raw_type(l, type), id);
	l->values[v].id[LEGAL_BITS] = id;
	if (!(l->floats->plan[v] & PLAN_NEED_BITS) || legal_is_approximate(l->chooser))
		return;
	right = canonical(l, type, id);
	zero = legal_word(l, 0);
	is_moved = legal_emit2(l, PCTL_OP_NE, l->t_bool, tag, zero);
	l->values[v].id[LEGAL_BITS] =
		legal_emit3(l, PCTL_OP_SELECT, bits_type(l, type), is_moved, id, right);
}

void legal_float_made_bits(legal *l, uint32_t v, uint32_t id)
{
	const uint32_t type = pctl_value_type(l->p, l->fn, v);

	l->values[v].id[LEGAL_BITS] = id;
	if (!(l->floats->plan[v] & PLAN_NEED_RAW) || !legal_has_raw(l, type))
		return;
	l->values[v].id[LEGAL_RAW] = legal_emit1(l, PCTL_OP_BITCAST, legal_raw_type(l, type), id);
}

/* ---- sign --------------------------------------------------------------------------------- */

static void sign(legal *l, uint32_t v, const pctl_inst *in)
{
	const uint32_t from = pctl_arg(l->p, in, 0);
	const int is_raw = (l->floats->plan[v] & PLAN_RAW) != 0;
	const uint64_t top = legal_is_f64(l, in->type)	  ? 0x8000000000000000u
			     : legal_has_raw(l, in->type) ? 0x80000000u
							  : 0x8000u;
	const uint32_t type = bits_type(l, in->type);
	uint32_t id = l->values[from].id[LEGAL_BITS], mask;

	if (is_raw)
		id = legal_emit1(l, PCTL_OP_BITCAST, type, l->values[from].id[LEGAL_RAW]);
	mask = bits_of(l, in->type, in->op == PCTL_OP_FNEG ? top : top - 1);
	id = legal_emit2(l, in->op == PCTL_OP_FNEG ? PCTL_OP_XOR : PCTL_OP_AND, type, id, mask);
	if (is_raw)
		l->values[v].id[LEGAL_RAW] =
			legal_emit1(l, PCTL_OP_BITCAST, legal_raw_type(l, in->type), id);
	else
		legal_float_made_bits(l, v, id);
}

/* ---- native ------------------------------------------------------------------------------- */

/* An operand as the native operation takes it: floats raw, integers as they are. */
static uint32_t native_operand(const legal *l, uint32_t v)
{
	const int has_raw = legal_has_raw(l, pctl_value_type(l->p, l->fn, v));

	return l->values[v].id[has_raw ? LEGAL_RAW : LEGAL_BITS];
}

static void native(legal *l, uint32_t v, const pctl_inst *in, uint32_t how)
{
	const int has_raw = legal_has_raw(l, in->type);
	const uint32_t type = has_raw ? legal_raw_type(l, in->type) : legal_type(l, in->type);
	uint16_t op = PCTL_NATIVE_OF(in->op);
	uint32_t args[3] = {0}, id;

	for (uint32_t i = 0; i < in->n_args; i++)
		args[i] = native_operand(l, pctl_arg(l->p, in, i));
	if (how == LEGAL_SWAPPED) {
		op = op == PCTL_OP_NGT ? PCTL_OP_NLT : PCTL_OP_NLE;
		args[2] = args[0];
		args[0] = args[1];
		args[1] = args[2];
	} else if (how == LEGAL_NEGATED) {
		op = PCTL_OP_NEQ;
	}
	if (how == LEGAL_UNFUSED) {
		id = legal_emit2(l, PCTL_OP_NMUL, type, args[0], args[1]);
		id = legal_emit2(l, PCTL_OP_NADD, type, id, args[2]);
	} else {
		id = legal_emit(l, op, type, args, in->n_args);
	}
	if (how == LEGAL_NEGATED)
		id = legal_emit1(l, PCTL_OP_NOT, type, id);
	if (has_raw)
		legal_float_made_raw(l, v, id);
	else
		l->values[v].id[LEGAL_BITS] = id;
}

/* ---- forms -------------------------------------------------------------------------------- */

/* Forms take and give scalars of 64 bits as pairs of words. */
static int is_pair(const legal *l, uint32_t type)
{
	return pctl_scalar_bits(l->p->types[type].scalar) == 64;
}

static uint32_t lane(legal *l, uint32_t v, uint32_t k)
{
	const uint32_t type = pctl_value_type(l->p, l->fn, v);
	uint32_t id = l->values[v].id[LEGAL_BITS];

	if (l->p->types[type].kind == PCTL_TYPE_VECTOR)
		id = legal_emit2(l, PCTL_OP_EXTRACT, legal_type(l, l->p->types[type].elem), id, k);
	return is_pair(l, type) ? legal_emit1(l, PCTL_OP_BITCAST, l->t_u2, id) : id;
}

static void call_form(legal *l, uint32_t v, const pctl_inst *in, uint32_t function, uint32_t how)
{
	const pctl_type *t = &l->p->types[in->type];
	const uint32_t width = legal_width(l, in->type), type = legal_type(l, in->type);
	const uint32_t scalar = width == 1 ? type : legal_type(l, t->elem);
	uint32_t lanes[4] = {0}, args[4] = {0}, id;

	for (uint32_t k = 0; k < width; k++) {
		args[0] = function;
		for (uint32_t i = 0; i < in->n_args && i < 3; i++) {
			const uint32_t at = how == LEGAL_SWAPPED ? in->n_args - 1 - i : i;

			args[i + 1] = lane(l, pctl_arg(l->p, in, at), k);
		}
		lanes[k] = legal_emit(l, PCTL_OP_CALL, is_pair(l, in->type) ? l->t_u2 : scalar,
				      args, in->n_args + 1);
		if (is_pair(l, in->type))
			lanes[k] = legal_emit1(l, PCTL_OP_BITCAST, scalar, lanes[k]);
		if (how == LEGAL_NEGATED)
			lanes[k] = legal_emit1(l, PCTL_OP_NOT, scalar, lanes[k]);
	}
	id = width == 1 ? lanes[0] : legal_emit(l, PCTL_OP_COMPOSE, type, lanes, width);
	legal_float_made_bits(l, v, id);
}

/* Only a NaN changes in a conversion to the same type. */
static int is_same_type(const legal *l, const pctl_inst *in)
{
	return in->op == PCTL_OP_FCONVERT &&
	       pctl_value_type(l->p, l->fn, pctl_arg(l->p, in, 0)) == in->type;
}

int legal_needs_form(const legal *l, const pctl_inst *in)
{
	return in->op != PCTL_OP_FNEG && in->op != PCTL_OP_FABS && !is_same_type(l, in);
}

void legal_float_strict(legal *l, uint32_t v, const pctl_inst *in)
{
	const uint32_t at = l->fn->first_inst + v, row = l->floats->choice[at];
	const uint32_t from = pctl_arg(l->p, in, 0);

	if (in->op == PCTL_OP_FNEG || in->op == PCTL_OP_FABS)
		sign(l, v, in);
	else if (is_same_type(l, in))
		legal_float_made_bits(l, v, canonical(l, in->type, l->values[from].id[LEGAL_BITS]));
	else if (legal_is_native(l, v))
		native(l, v, in, l->floats->how[at]);
	else
		call_form(l, v, in, l->floats->row_function[row], l->floats->how[at]);
}

/* ---- bitcast ------------------------------------------------------------------------------ */

/* Components of 32 bits of a value without 16-bit floats, as u32, at most two. */
static uint32_t words_of(legal *l, uint32_t id, uint32_t size, uint32_t out[2])
{
	const uint32_t n = size / 4;

	id = legal_emit1(l, PCTL_OP_BITCAST, n == 1 ? l->t_u32 : l->t_u2, id);
	if (n == 1) {
		out[0] = id;
	} else {
		out[0] = legal_low(l, id);
		out[1] = legal_high(l, id);
	}
	return n;
}

/* To components of 16 bits, the lower half of a word first. */
static uint32_t split(legal *l, uint32_t id, uint32_t size, uint32_t type)
{
	uint32_t words[2] = {0}, lanes[4] = {0};
	const uint32_t n = words_of(l, id, size, words);

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t mask = legal_word(l, 0xffff), by = legal_word(l, 16);

		lanes[2 * i] = legal_emit2(l, PCTL_OP_AND, l->t_u32, words[i], mask);
		lanes[2 * i + 1] = legal_emit2(l, PCTL_OP_SHR, l->t_u32, words[i], by);
	}
	return legal_emit(l, PCTL_OP_COMPOSE, type, lanes, 2 * n);
}

static uint32_t join(legal *l, uint32_t id, uint32_t size, uint32_t type)
{
	const uint32_t n = size / 4;
	uint32_t words[2] = {0};

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t low = legal_emit2(l, PCTL_OP_EXTRACT, l->t_u32, id, 2 * i);
		const uint32_t high = legal_emit2(l, PCTL_OP_EXTRACT, l->t_u32, id, 2 * i + 1);
		const uint32_t by = legal_word(l, 16);
		const uint32_t up = legal_emit2(l, PCTL_OP_SHL, l->t_u32, high, by);

		words[i] = legal_emit2(l, PCTL_OP_OR, l->t_u32, low, up);
	}
	if (n == 2)
		words[0] = legal_pair(l, words[0], words[1]);
	return legal_emit1(l, PCTL_OP_BITCAST, type, words[0]);
}

void legal_float_bitcast(legal *l, uint32_t v, const pctl_inst *in)
{
	const uint32_t from = pctl_arg(l->p, in, 0), size = l->p->types[in->type].size;
	const uint32_t from_type = pctl_value_type(l->p, l->fn, from);
	const uint32_t type = legal_type(l, in->type);
	uint32_t id = l->values[from].id[LEGAL_BITS];

	if (legal_is_16(l, in->type) && !legal_is_16(l, from_type))
		id = split(l, id, size, type);
	else if (!legal_is_16(l, in->type) && legal_is_16(l, from_type))
		id = join(l, id, size, type);
	else if (type != legal_type(l, from_type))
		id = legal_emit1(l, PCTL_OP_BITCAST, type, id);
	legal_float_made_bits(l, v, id);
}
