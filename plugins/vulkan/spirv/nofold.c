/* Floats that a driver may not know. NoContraction and SignedZeroInfNanPreserve forbid a driver to
 * take `x + 0.0` for x or `x * 0.0` for 0, but llvmpipe (Mesa 22.3) promises both and does it all the
 * same when it meets the constant, and a driver without that promise may do it by right. There every
 * float whose bits the driver could find out is mixed with a zero that only the dispatch knows; what
 * is computed from such values is unknown of itself. Integers are left alone, but for one thing: llvmpipe's
 * constants have no type, and it makes a choice between the words of 1.0 or -1.0 and 0.0 a converted
 * boolean, negated; so a zero loses its sign bit's value among integers too. */
#include "spirv/spirv.h"

static int applies(const pctl_spv *e, pctl_spv_shape s)
{
	return s.is_float && s.width <= 4 && (e->opt->opaque_floats & PCTL_SPV_WIDTH(s.bits));
}

/* What stands before the function's own code is written as if it were its body. */
static uint32_t swap_body(pctl_spv *e, uint32_t block)
{
	const pctl_spv_words body = e->body;
	const uint32_t was = e->block;

	e->body = e->opening;
	e->opening = body;
	e->block = block;
	return was;
}

static uint32_t value_at_start(pctl_spv *e, SpvOp op, uint32_t type, const uint32_t *args,
			       uint32_t n)
{
	const uint32_t was = swap_body(e, 1);
	const uint32_t id = pctl_spv_value(e, op, type, args, n);

	swap_body(e, was);
	return id;
}

/* ---- choices between constants ---- */

/* Could the driver find out what this is without running anything? */
static int might_be_constant(const pctl_spv *e, uint32_t v, uint32_t depth)
{
	const pctl_inst *in = &e->p->insts[e->fn->first_inst + v];
	const pctl_op_info *info = pctl_op_get(in->op);
	pctl_place place;

	if (depth > 6 || in->op == PCTL_OP_PARAM || in->op == PCTL_OP_CALL)
		return 1;
	if (pctl_place_get(e->p, e->fn, in, &place))
		return in->op == PCTL_OP_LOAD &&
		       (place.space == PCTL_SPACE_FUNCTION || place.space == PCTL_SPACE_PRIVATE);
	if (info->kind == PCTL_OPKIND_const)
		return in->op != PCTL_OP_BUILTIN;
	for (uint32_t i = 0; i < in->n_args && info->args[i < 3 ? i : 0] == 'v'; i++)
		if (!might_be_constant(e, pctl_arg(e->p, in, i), depth + 1))
			return 0;
	return 1;
}

/* An integer choice of which the driver may know both sides. */
static int is_known_choice(const pctl_spv *e, const pctl_inst *in)
{
	pctl_spv_shape s;

	return in->op == PCTL_OP_SELECT && pctl_spv_shape_get(e->p, in->type, &s) && !s.is_float &&
	       (s.bits == 32 || s.bits == 64) && might_be_constant(e, pctl_arg(e->p, in, 1), 0) &&
	       might_be_constant(e, pctl_arg(e->p, in, 2), 0);
}

static int has_known_choice(const pctl_spv *e)
{
	for (uint32_t i = 0; i < e->fn->n_insts; i++)
		if (is_known_choice(e, &e->p->insts[e->fn->first_inst + i]))
			return 1;
	return 0;
}

void pctl_spv_nofold_begin(pctl_spv *e)
{
	uint32_t x, i;

	for (i = 0; i < 5; i++)
		e->hidden_zero[0][i] = e->hidden_zero[1][i] = 0;
	if (!e->opt->opaque_floats || (!e->float_widths && !has_known_choice(e)))
		return;
	x = pctl_spv_builtin(e, PCTL_BUILTIN_NUM_WORKGROUPS);
	x = PCTL_SPV_VALUE(e, SpvOpCompositeExtract, pctl_spv_type(e, 32, 1), x, 0);
	e->hidden_zero[0][1] = PCTL_SPV_VALUE(e, SpvOpShiftRightLogical, pctl_spv_type(e, 32, 1), x,
					      pctl_spv_u32(e, 31));
}

/* The zero in `width` lanes of `bits` bits, made once a function. */
static uint32_t zero(pctl_spv *e, uint32_t bits, uint32_t width)
{
	uint32_t *made = &e->hidden_zero[bits == 64][width], x, parts[4], i;

	if (*made)
		return *made;
	if (width == 1) {
		x = e->hidden_zero[0][1];
		*made = value_at_start(e, SpvOpUConvert, pctl_spv_type(e, 64, 1), &x, 1);
		return *made;
	}
	x = zero(e, bits, 1);
	for (i = 0; i < 4; i++)
		parts[i] = x;
	*made = value_at_start(e, SpvOpCompositeConstruct, pctl_spv_type(e, bits, width), parts,
			       width);
	return *made;
}

uint32_t pctl_spv_nofold_choice(pctl_spv *e, const pctl_inst *in, pctl_spv_shape s, uint32_t value)
{
	if (!e->hidden_zero[0][1] || !is_known_choice(e, in))
		return value;
	return PCTL_SPV_VALUE(e, SpvOpBitwiseOr, pctl_spv_shape_type(e, s), value,
			      zero(e, s.bits, s.width));
}

/* One word, or lanes of the same bits. */
static uint32_t mixed(pctl_spv *e, pctl_spv_shape s, uint32_t bits, uint32_t width, uint32_t value)
{
	const uint32_t type = pctl_spv_type(e, bits, width), by = zero(e, bits, width);

	value = PCTL_SPV_VALUE(e, SpvOpBitcast, type, value);
	value = PCTL_SPV_VALUE(e, SpvOpBitwiseOr, type, value, by);
	return PCTL_SPV_VALUE(e, SpvOpBitcast, pctl_spv_shape_type(e, s), value);
}

/* Without 16-bit integers a half is the lower half of a word, without 64-bit ones a double is two. */
static uint32_t mixed_lane(pctl_spv *e, pctl_spv_shape s, uint32_t value)
{
	if (s.bits == 64)
		return mixed(e, s, 32, 2, value);
	s.width = 2;
	value = PCTL_SPV_VALUE(e, SpvOpCompositeConstruct, pctl_spv_shape_type(e, s), value, value);
	value = mixed(e, s, 32, 1, value);
	s.width = 1;
	return PCTL_SPV_VALUE(e, SpvOpCompositeExtract, pctl_spv_shape_type(e, s), value, 0);
}

static uint32_t nofold(pctl_spv *e, pctl_spv_shape s, uint32_t value)
{
	const pctl_spv_shape lane = {.bits = s.bits, .width = 1, .is_float = 1};
	const uint32_t type = pctl_spv_shape_type(e, lane);
	uint32_t parts[4], i;

	if (s.bits == 32 || (s.bits == 64 && e->opt->int64)) {
		e->uses_int64 |= s.bits == 64;
		return mixed(e, s, s.bits, s.width, value);
	}
	if (s.width == 1)
		return mixed_lane(e, s, value);
	for (i = 0; i < s.width; i++)
		parts[i] = mixed_lane(e, lane,
				      PCTL_SPV_VALUE(e, SpvOpCompositeExtract, type, value, i));
	return pctl_spv_value(e, SpvOpCompositeConstruct, pctl_spv_shape_type(e, s), parts,
			      s.width);
}

/* A constant is hidden once a function, where the function starts. */
static uint32_t nofold_constant(pctl_spv *e, pctl_spv_shape s, uint32_t value)
{
	const uint32_t fn = (uint32_t)(e->fn - e->p->functions);
	int fresh;
	const uint32_t id = pctl_spv_intern(e, SpvOpCopyObject, value, fn, 0, &fresh);
	uint32_t was, x;

	if (fresh) {
		/* What `nofold` asks to stand at the start goes there before it. */
		zero(e, s.bits == 64 && e->opt->int64 ? 64 : 32,
		     s.bits == 32 || (s.bits == 64 && e->opt->int64) ? s.width
		     : s.bits == 64				     ? 2
								     : 1);
		was = swap_body(e, 1);
		x = nofold(e, s, value);
		PCTL_SPV_PUT(e, &e->body, SpvOpCopyObject, pctl_spv_shape_type(e, s), id, x);
		swap_body(e, was);
	}
	return id;
}

/* ---- which values ---- */

static int is_read_only(const pctl_spv *e, const pctl_place *place)
{
	return !e->opt->null_vars && (place->space == PCTL_SPACE_UNIFORM ||
				      (place->space == PCTL_SPACE_STORAGE &&
				       e->p->vars[place->root].access == PCTL_ACCESS_READ));
}

/* Is it certain that the driver does not know the bits: they come from bound memory that nothing
 * here has written, or from a float, which is hidden already. */
static int is_unknown(const pctl_spv *e, uint32_t v, uint32_t depth)
{
	const pctl_inst *in = &e->p->insts[e->fn->first_inst + v];
	const pctl_type *t = &e->p->types[in->type];
	pctl_place place;
	uint32_t i, n = 0;

	if (depth > 4)
		return 0;
	switch (in->op) {
	case PCTL_OP_LOAD:
		return pctl_place_get(e->p, e->fn, in, &place) && is_read_only(e, &place);
	case PCTL_OP_BITCAST:
		return is_unknown(e, pctl_arg(e->p, in, 0), depth + 1);
	case PCTL_OP_SHUFFLE:
	case PCTL_OP_EXTRACT:
		return is_unknown(e, pctl_arg(e->p, in, 0), depth + 1);
	case PCTL_OP_COMPOSE:
		for (i = 0; i < in->n_args; i++)
			n += is_unknown(e, pctl_arg(e->p, in, i), depth + 1) != 0;
		return n == in->n_args;
	default:
		return t->scalar >= PCTL_SCALAR_F16 && t->scalar <= PCTL_SCALAR_F64 &&
		       (t->kind == PCTL_TYPE_SCALAR || t->kind == PCTL_TYPE_VECTOR);
	}
}

static int might_be_known(const pctl_spv *e, const pctl_inst *in)
{
	const uint32_t arg = in->n_args ? pctl_arg(e->p, in, 0) : 0;
	pctl_spv_shape s;
	pctl_place place;

	switch (in->op) {
	case PCTL_OP_EXTRACT_DYN:
		return 1; /* the zero of an index that is outside */
	case PCTL_OP_EXTRACT:
		return !pctl_spv_shape_get(e->p, pctl_value_type(e->p, e->fn, arg), &s) &&
		       e->p->insts[e->fn->first_inst + arg].op != PCTL_OP_COMPOSE;
	case PCTL_OP_LOAD:
	case PCTL_OP_LOAD_UNIFORM:
		/* A local that is one value starts as a hidden zero. */
		return pctl_place_get(e->p, e->fn, in, &place) &&
		       (place.space != PCTL_SPACE_FUNCTION || place.n_chain ||
			!pctl_spv_shape_get(e->p, place.root_type, &s)) &&
		       !is_read_only(e, &place);
	case PCTL_OP_BITCAST:
	case PCTL_OP_NCONVERT:
		return pctl_spv_shape_get(e->p, pctl_value_type(e->p, e->fn, arg), &s) &&
		       !s.is_float && !is_unknown(e, arg, 0);
	default:
		return 0;
	}
}

void pctl_spv_nofold_value(pctl_spv *e, uint32_t index)
{
	const pctl_inst *in = &e->p->insts[e->fn->first_inst + index];
	uint64_t lane[4];
	pctl_spv_shape s;

	if (!e->hidden_zero[0][1] || !e->values[index] || !in->type ||
	    !pctl_spv_shape_get(e->p, in->type, &s) || !applies(e, s))
		return;
	if (in->op == PCTL_OP_CONST || in->op == PCTL_OP_ZERO ||
	    (in->op == PCTL_OP_LOOKUP && pctl_spv_literal(e, pctl_arg(e->p, in, 0), lane) == 1))
		e->values[index] = nofold_constant(e, s, e->values[index]);
	else if (e->block && might_be_known(e, in))
		e->values[index] = nofold(e, s, e->values[index]);
}

/* Locals start as zero, too; where one is a single value, as a zero that nobody knows. */
void pctl_spv_nofold_locals(pctl_spv *e)
{
	pctl_spv_shape s;
	uint32_t i, x;

	for (i = 0; i < e->fn->n_locals && e->hidden_zero[0][1]; i++) {
		const uint32_t type = e->p->locals[e->fn->first_local + i].type;

		if (!pctl_spv_shape_get(e->p, type, &s) || !applies(e, s))
			continue;
		x = nofold_constant(e, s, pctl_spv_null(e, e->plain[type]));
		pctl_spv_raw_store(e, e->locals[i], x, SpvStorageClassFunction);
	}
}
