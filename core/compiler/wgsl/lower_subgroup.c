/* Lowering of the extension subgroups. The size is the declared one, a lane is a local index modulo it; what is made of
 * these two is arithmetic. Operations move i32 and u32: floats go through as words. */
#include "compiler/wgsl/check.h"
#include "compiler/wgsl/float.h"
#include "compiler/wgsl/lower.h"

static const struct type *u32_type(struct lower *l)
{
	return &l->c->types.scalar[PCTL_SCALAR_U32];
}

static uint32_t word(struct lower *l, uint32_t v)
{
	return pctl_wgsl_const(l, PCTL_SCALAR_U32, v);
}

static uint32_t local_index(struct lower *l)
{
	const struct word w = {WORD_LITERAL, PCTL_BUILTIN_LOCAL_INDEX};

	return pctl_wgsl_prelude(l, PCTL_OP_BUILTIN, pctl_wgsl_type_id(l, u32_type(l)), &w, 1);
}

static uint32_t masked_index(struct lower *l, uint32_t mask)
{
	const uint32_t index = local_index(l), bits = word(l, mask);

	return pctl_wgsl_emit2(l, PCTL_OP_AND, u32_type(l), index, bits);
}

/* Invocations of the workgroup divided by the size, rounded up. */
static uint32_t number_of(struct lower *l)
{
	const struct type *u32 = u32_type(l);
	uint32_t product = word(l, 1), i;

	for (i = 0; i < 3; i++) {
		struct expr *e = l->fn->workgroup_size[i];
		uint32_t size;

		if (!e)
			continue;
		size = e->stage == STAGE_CONST ? word(l, (uint32_t)pctl_wgsl_leaf(e, 0))
					       : pctl_wgsl_lower_value(l, e);
		if (e->stage != STAGE_CONST && e->type != u32)
			size = pctl_wgsl_emit1(l, PCTL_OP_BITCAST, u32, size);
		product = pctl_wgsl_emit2(l, PCTL_OP_MUL, u32, product, size);
	}
	product = pctl_wgsl_emit2(l, PCTL_OP_ADD, u32, product, word(l, l->c->subgroup_size - 1));
	return pctl_wgsl_emit2(l, PCTL_OP_SHR, u32, product,
			       word(l, (uint32_t)__builtin_ctz(l->c->subgroup_size)));
}

uint32_t pctl_wgsl_lower_input(struct lower *l, uint32_t input, const struct type *t)
{
	const struct word w = {WORD_LITERAL, input};

	switch (input) {
	case INPUT_SUBGROUP_SIZE:
		return word(l, l->c->subgroup_size);
	case INPUT_SUBGROUP_INVOCATION_ID:
		return masked_index(l, l->c->subgroup_size - 1);
	case INPUT_SUBGROUP_ID:
		return pctl_wgsl_emit2(l, PCTL_OP_SHR, t, local_index(l),
				       word(l, (uint32_t)__builtin_ctz(l->c->subgroup_size)));
	case INPUT_NUM_SUBGROUPS:
		return number_of(l);
	default:
		return pctl_wgsl_prelude(l, PCTL_OP_BUILTIN, pctl_wgsl_type_id(l, t), &w, 1);
	}
}

/* ---- floats as words ---- */

static int is_half(const struct type *t)
{
	return pctl_scalar_bits((uint8_t)pctl_wgsl_scalar_of(t)) == 16;
}

/* The words that hold a value; two halves a word, an odd one beside a zero. */
static const struct type *words_type(struct lower *l, const struct type *t)
{
	const uint32_t width = pctl_wgsl_width(t), n = is_half(t) ? (width + 1) / 2 : width;

	return n == 1 ? u32_type(l) : pctl_wgsl_vector(l->c, PCTL_SCALAR_U32, n);
}

static const struct type *padded_type(struct lower *l, const struct type *t)
{
	return pctl_wgsl_vector(l->c, pctl_wgsl_scalar_of(t), (pctl_wgsl_width(t) + 1) & ~1u);
}

static uint32_t to_words(struct lower *l, const struct type *t, uint32_t v)
{
	const struct type *scalar = &l->c->types.scalar[pctl_wgsl_scalar_of(t)];
	const uint32_t width = pctl_wgsl_width(t);
	struct word parts[4];
	uint32_t i;

	if (is_half(t) && width % 2) {
		for (i = 0; i < width; i++)
			parts[i] = (struct word){
				WORD_VALUE, width == 1 ? v : pctl_wgsl_extract(l, v, scalar, i)};
		parts[i] = (struct word){WORD_VALUE, pctl_wgsl_zero(l, scalar)};
		v = pctl_wgsl_emit(l, PCTL_OP_COMPOSE, pctl_wgsl_type_id(l, padded_type(l, t)),
				   parts, width + 1);
	}
	return pctl_wgsl_emit1(l, PCTL_OP_BITCAST, words_type(l, t), v);
}

static uint32_t from_words(struct lower *l, const struct type *t, uint32_t v)
{
	const struct type *scalar = &l->c->types.scalar[pctl_wgsl_scalar_of(t)];
	const uint32_t width = pctl_wgsl_width(t);
	struct word w[4];
	uint32_t i;

	if (!is_half(t) || width % 2 == 0)
		return pctl_wgsl_emit1(l, PCTL_OP_BITCAST, t, v);
	v = pctl_wgsl_emit1(l, PCTL_OP_BITCAST, padded_type(l, t), v);
	if (width == 1)
		return pctl_wgsl_extract(l, v, scalar, 0);
	w[0] = (struct word){WORD_VALUE, v};
	for (i = 0; i < width; i++)
		w[1 + i] = (struct word){WORD_LITERAL, i};
	return pctl_wgsl_emit(l, PCTL_OP_SHUFFLE, pctl_wgsl_type_id(l, t), w, 1 + width);
}

/* ---- operations ---- */

/* The operation that moves a value, and its second operand. */
static uint16_t movement(struct lower *l, const struct expr *e, uint32_t arg, struct word *lane)
{
	const uint32_t size = l->c->subgroup_size;

	*lane = (struct word){WORD_LITERAL, 0};
	switch (arg) {
	case SUBGROUP_FIRST:
		return PCTL_OP_SUBGROUP_BROADCAST;
	case PCTL_OP_SUBGROUP_BROADCAST:
		lane->v = (uint32_t)pctl_wgsl_leaf(e->a->next, 0);
		return PCTL_OP_SUBGROUP_BROADCAST;
	case SUBGROUP_QUAD: {
		const uint32_t first = masked_index(l, size - 4);
		const uint32_t id = word(l, (uint32_t)pctl_wgsl_leaf(e->a->next, 0));

		*lane = (struct word){WORD_VALUE,
				      pctl_wgsl_emit2(l, PCTL_OP_OR, u32_type(l), first, id)};
		return PCTL_OP_SUBGROUP_SHUFFLE;
	}
	case SUBGROUP_SWAP_X:
	case SUBGROUP_SWAP_Y:
	case SUBGROUP_SWAP_DIAGONAL:
		*lane = (struct word){WORD_VALUE, word(l, arg - SUBGROUP_SWAP_X + 1)};
		return PCTL_OP_SUBGROUP_SHUFFLE_XOR;
	default:
		*lane = (struct word){WORD_VALUE, pctl_wgsl_lower_value(l, e->a->next)};
		if (e->a->next->type != u32_type(l))
			lane->v = pctl_wgsl_emit1(l, PCTL_OP_BITCAST, u32_type(l), lane->v);
		return (uint16_t)arg;
	}
}

static uint32_t move(struct lower *l, const struct expr *e, uint32_t arg)
{
	const int is_float = pctl_wgsl_is_float(pctl_wgsl_scalar_of(e->type));
	const struct type *t = is_float ? words_type(l, e->type) : e->type;
	uint32_t v = pctl_wgsl_lower_value(l, e->a);
	struct word w[3];
	uint16_t op;

	op = movement(l, e, arg, &w[1]);
	pctl_wgsl_at_expr(l, e);
	if (op == PCTL_OP_SUBGROUP_BROADCAST && w[1].v >= l->c->subgroup_size)
		return pctl_wgsl_zero(l, e->type);
	w[0] = (struct word){WORD_VALUE, is_float ? to_words(l, e->type, v) : v};
	w[2] = (struct word){WORD_LITERAL, l->c->subgroup_size};
	v = pctl_wgsl_emit(l, op, pctl_wgsl_type_id(l, t), w, 3);
	return is_float ? from_words(l, e->type, v) : v;
}

uint32_t pctl_wgsl_lower_subgroup(struct lower *l, const struct expr *e)
{
	const struct builtin *b = pctl_wgsl_builtin_at(e->index);
	struct word w[2];

	if (b->arg == PCTL_OP_SUBGROUP_ELECT) {
		w[0] = (struct word){WORD_LITERAL, l->c->subgroup_size};
		return pctl_wgsl_emit(l, PCTL_OP_SUBGROUP_ELECT, pctl_wgsl_type_id(l, e->type), w,
				      1);
	}
	if (b->kind == BUILTIN_SUBGROUP_MOVE)
		return move(l, e, b->arg);
	w[0] = (struct word){WORD_VALUE, pctl_wgsl_lower_value(l, e->a)};
	w[1] = (struct word){WORD_LITERAL, l->c->subgroup_size};
	pctl_wgsl_at_expr(l, e);
	return pctl_wgsl_emit(l, (uint16_t)b->arg, pctl_wgsl_type_id(l, e->type), w, 2);
}
