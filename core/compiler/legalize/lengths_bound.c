/* Bounds of indices: see lengths.c. Values here are 1 + those of the new program, 0: there is none; 1 where nothing is written. */
#include "compiler/legalize/lengths.h"

#define DEEPEST 16u
#define MOST_WORK 400u

typedef struct legal_lengths lengths;

static uint32_t bound(lengths *x, const legal_length_loop *s, uint32_t v, uint32_t at,
		      uint32_t depth);

static const pctl_inst *inst(const lengths *x, uint32_t v)
{
	return &x->p->insts[x->fn->first_inst + v];
}

static int is_u32(const lengths *x, uint32_t v)
{
	const pctl_type *t = &x->p->types[pctl_value_type(x->p, x->fn, v)];

	return t->kind == PCTL_TYPE_SCALAR && t->scalar == PCTL_SCALAR_U32;
}

static int constant(const lengths *x, uint32_t v, uint32_t *out)
{
	const pctl_inst *in = inst(x, v);

	*out = in->op == PCTL_OP_CONST ? pctl_arg(x->p, in, 0) : 0;
	return is_u32(x, v) && (in->op == PCTL_OP_CONST || in->op == PCTL_OP_ZERO);
}

/* ---- writing ------------------------------------------------------------------------------ */

static uint32_t word(lengths *x, uint32_t k)
{
	return x->l ? 1 + legal_word(x->l, k) : 1;
}

static uint32_t op2(lengths *x, uint16_t op, uint32_t a, uint32_t b)
{
	return x->l ? 1 + legal_emit2(x->l, op, x->l->t_u32, a - 1, b - 1) : 1;
}

/* op of two numbers, or of two bools where `of` is t_bool, holds. */
static void require(lengths *x, uint16_t op, uint32_t a, uint32_t b)
{
	uint32_t holds;

	if (!x->l)
		return;
	holds = legal_emit2(x->l, op, x->l->t_bool, a - 1, b - 1);
	if (x->holds)
		holds = legal_emit2(x->l, PCTL_OP_AND, x->l->t_bool, x->holds - 1, holds);
	x->holds = 1 + holds;
}

static uint32_t sum(lengths *x, uint32_t a, uint32_t b)
{
	const uint32_t n = op2(x, PCTL_OP_ADD, a, b);

	require(x, PCTL_OP_GE, n, a);
	return n;
}

/* a has 32 - clz(a) bits: where both have 32 together, the product fits. */
static uint32_t product(lengths *x, uint32_t a, uint32_t b)
{
	uint32_t zeros;

	if (!x->l)
		return 1;
	zeros = legal_emit1(x->l, PCTL_OP_CLZ, x->l->t_u32, a - 1);
	zeros = op2(x, PCTL_OP_ADD, 1 + zeros,
		    1 + legal_emit1(x->l, PCTL_OP_CLZ, x->l->t_u32, b - 1));
	require(x, PCTL_OP_GE, zeros, word(x, 32));
	return op2(x, PCTL_OP_MUL, a, b);
}

/* One less, of what is zero still zero. */
static uint32_t less(lengths *x, uint32_t a)
{
	const uint32_t one = word(x, 1);

	return op2(x, PCTL_OP_SUB, op2(x, PCTL_OP_MAX, a, one), one);
}

/* ---- coordinates -------------------------------------------------------------------------- */

/* The builtin that a value is, or is a component of; 0: none. */
static uint32_t builtin(const lengths *x, uint32_t v, uint32_t *component)
{
	const pctl_inst *in = inst(x, v);

	*component = 0;
	if (in->op == PCTL_OP_EXTRACT) {
		*component = pctl_arg(x->p, in, 1);
		in = inst(x, pctl_arg(x->p, in, 0));
	}
	return in->op == PCTL_OP_BUILTIN ? pctl_arg(x->p, in, 0) : 0;
}

static uint32_t coordinate(lengths *x, uint32_t v)
{
	const uint32_t *size = x->p->entries[0].workgroup_size;
	uint32_t d, group, size_d;

	switch (builtin(x, v, &d)) {
	case PCTL_BUILTIN_LOCAL_INDEX:
		return word(x, size[0] * size[1] * size[2] - 1);
	case PCTL_BUILTIN_LOCAL_ID:
		return word(x, size[d] - 1);
	case PCTL_BUILTIN_GLOBAL_ID:
		if (!x->l)
			return 1;
		group = legal_emit1(x->l, PCTL_OP_BUILTIN,
				    pctl_build_vector(x->l->b, PCTL_SCALAR_U32, 3),
				    PCTL_BUILTIN_WORKGROUP_ID);
		group = 1 + legal_emit2(x->l, PCTL_OP_EXTRACT, x->l->t_u32, group, d);
		size_d = word(x, size[d]);
		group = product(x, group, size_d);
		size_d = word(x, size[d] - 1);
		return sum(x, group, size_d);
	default:
		return 0;
	}
}

enum { OF_LANE = 0, OF_ALL = 1, OF_COORDINATES = 2 };

/* Of a value from before the loop: made of what all of the workgroup has, or of that and coordinates; or neither. */
static uint32_t made_of(const lengths *x, uint32_t v, uint32_t depth)
{
	const pctl_inst *in = inst(x, v);
	uint32_t a, b, k;
	pctl_place place;

	if (depth == DEEPEST || !is_u32(x, v))
		return OF_LANE;
	switch (in->op) {
	case PCTL_OP_CONST:
	case PCTL_OP_ZERO:
	case PCTL_OP_ARRAY_LENGTH:
		return OF_ALL;
	case PCTL_OP_LOAD:
		return pctl_place_get(x->p, x->fn, in, &place) && place.space == PCTL_SPACE_UNIFORM
			       ? OF_ALL
			       : OF_LANE;
	case PCTL_OP_BUILTIN:
	case PCTL_OP_EXTRACT:
		k = builtin(x, v, &a);
		if (x->p->n_entries != 1 || !k)
			return OF_LANE;
		return k >= PCTL_BUILTIN_WORKGROUP_ID ? OF_ALL : OF_COORDINATES;
	case PCTL_OP_ADD:
	case PCTL_OP_MUL:
		a = made_of(x, pctl_arg(x->p, in, 0), depth + 1);
		b = made_of(x, pctl_arg(x->p, in, 1), depth + 1);
		return !a || !b ? OF_LANE : a > b ? a : b;
	case PCTL_OP_SHL:
	case PCTL_OP_SHR:
	case PCTL_OP_DIV:
	case PCTL_OP_DIV_WGSL:
	case PCTL_OP_MOD:
	case PCTL_OP_AND:
		if (!constant(x, pctl_arg(x->p, in, 1), &k))
			return OF_LANE;
		return made_of(x, pctl_arg(x->p, in, 0), depth + 1);
	default:
		return OF_LANE;
	}
}

/* ---- what loops compare ------------------------------------------------------------------- */

/* The local that an instruction loads as a whole; PCTL_NONE: none. */
static uint32_t loaded(const lengths *x, uint32_t v)
{
	pctl_place place;

	return inst(x, v)->op == PCTL_OP_LOAD && pctl_place_get(x->p, x->fn, inst(x, v), &place) &&
			       (place.root & PCTL_PLACE_LOCAL) && !place.n_chain
		       ? place.root & ~PCTL_PLACE_LOCAL
		       : PCTL_NONE;
}

/* Between the beginning of loop o and its update, a local is stored to. */
static int is_stored(const lengths *x, const legal_length_loop *o, uint32_t local)
{
	pctl_place place;

	for (uint32_t v = o->first; v < o->update; v++)
		if (pctl_op_stores(inst(x, v)->op) &&
		    pctl_place_get(x->p, x->fn, inst(x, v), &place) &&
		    place.root == (local | PCTL_PLACE_LOCAL))
			return 1;
	return 0;
}

/* Value a of the test of loop o is value v, wherever v is used: itself behind the test, or the same local, which keeps until the
 * update what was tested. */
static int is_tested(const lengths *x, const legal_length_loop *o, uint32_t a, uint32_t v,
		     uint32_t at)
{
	const uint32_t local = loaded(x, v);

	if (a <= o->first || a >= o->test || !is_u32(x, a))
		return 0;
	if (a == v)
		return at > o->test && at < o->last;
	return local != PCTL_NONE && loaded(x, a) == local && v > o->test && v < o->update &&
	       !is_stored(x, o, local);
}

/* What the condition c says that v is below, or no more than. */
static uint32_t compared(lengths *x, const legal_length_loop *s, const legal_length_loop *o,
			 uint32_t c, uint32_t v, uint32_t at, uint32_t depth)
{
	const pctl_inst *in = inst(x, c);
	const int turned = in->op == PCTL_OP_GT || in->op == PCTL_OP_GE;
	uint32_t limit;

	if (c <= o->first || c >= o->test || depth == DEEPEST)
		return 0;
	if (in->op == PCTL_OP_AND) {
		limit = compared(x, s, o, pctl_arg(x->p, in, 0), v, at, depth + 1);
		return limit ? limit : compared(x, s, o, pctl_arg(x->p, in, 1), v, at, depth + 1);
	}
	if (in->op < PCTL_OP_LT || in->op > PCTL_OP_GE ||
	    !is_tested(x, o, pctl_arg(x->p, in, (uint32_t)turned), v, at))
		return 0;
	limit = bound(x, s, pctl_arg(x->p, in, (uint32_t)!turned), c, depth + 1);
	if (!limit || in->op == PCTL_OP_LE || in->op == PCTL_OP_GE)
		return limit;
	return less(x, limit);
}

static uint32_t tested(lengths *x, const legal_length_loop *s, uint32_t v, uint32_t at,
		       uint32_t depth)
{
	uint32_t limit = 0;

	for (uint32_t i = x->around[v]; i != PCTL_NONE && !limit; i = x->loops[i].outer) {
		const legal_length_loop *o = &x->loops[i];

		limit = compared(x, s, o, pctl_arg(x->p, inst(x, o->test), 0), v, at, depth);
	}
	return limit;
}

/* ---- what is computed --------------------------------------------------------------------- */

static uint32_t operand(lengths *x, const legal_length_loop *s, uint32_t v, uint32_t i,
			uint32_t depth)
{
	return bound(x, s, pctl_arg(x->p, inst(x, v), i), v, depth + 1);
}

static int has(lengths *x, const legal_length_loop *s, uint32_t v, uint32_t i, uint32_t depth)
{
	legal *l = x->l;
	int is;

	x->l = NULL;
	is = operand(x, s, v, i, depth) != 0;
	x->l = l;
	return is;
}

/* No more than either of two operands is. */
static uint32_t either(lengths *x, const legal_length_loop *s, uint32_t v, uint32_t depth)
{
	const int a = has(x, s, v, 0, depth), b = has(x, s, v, 1, depth);
	uint32_t k;

	for (uint32_t i = 0; i < 2; i++)
		if (constant(x, pctl_arg(x->p, inst(x, v), i), &k))
			return word(x, k);
	if (a && b) {
		const uint32_t first = operand(x, s, v, 0, depth);

		return op2(x, PCTL_OP_MIN, first, operand(x, s, v, 1, depth));
	}
	return a ? operand(x, s, v, 0, depth) : b ? operand(x, s, v, 1, depth) : 0;
}

static uint32_t remainder_of(lengths *x, const legal_length_loop *s, uint32_t v, uint32_t depth)
{
	uint32_t k;

	if (constant(x, pctl_arg(x->p, inst(x, v), 1), &k) && k)
		return word(x, k - 1);
	return has(x, s, v, 1, depth) ? less(x, operand(x, s, v, 1, depth))
				      : operand(x, s, v, 0, depth);
}

static uint32_t computed(lengths *x, const legal_length_loop *s, uint32_t v, uint32_t depth)
{
	const pctl_inst *in = inst(x, v);
	uint32_t a, k = 0;

	switch (in->op) {
	case PCTL_OP_CONST:
	case PCTL_OP_ZERO:
		return constant(x, v, &k) ? word(x, k) : 0;
	case PCTL_OP_BUILTIN:
	case PCTL_OP_EXTRACT:
		return x->p->n_entries == 1 ? coordinate(x, v) : 0;
	case PCTL_OP_AND:
	case PCTL_OP_MIN:
		return either(x, s, v, depth);
	case PCTL_OP_MOD:
		return remainder_of(x, s, v, depth);
	case PCTL_OP_ADD:
	case PCTL_OP_MUL:
		if (!has(x, s, v, 1, depth) || (a = operand(x, s, v, 0, depth)) == 0)
			return 0;
		return (in->op == PCTL_OP_ADD ? sum : product)(x, a, operand(x, s, v, 1, depth));
	case PCTL_OP_SHL:
		if (!constant(x, pctl_arg(x->p, in, 1), &k) ||
		    (a = operand(x, s, v, 0, depth)) == 0)
			return 0;
		return product(x, a, word(x, 1u << (k & 31)));
	case PCTL_OP_SHR:
	case PCTL_OP_DIV:
	case PCTL_OP_DIV_WGSL:
		/* By what is no constant: no more than before. */
		if ((a = operand(x, s, v, 0, depth)) == 0 ||
		    !constant(x, pctl_arg(x->p, in, 1), &k) || !k)
			return a;
		return op2(x, in->op, a, word(x, k));
	default:
		return 0;
	}
}

static uint32_t bound(lengths *x, const legal_length_loop *s, uint32_t v, uint32_t at,
		      uint32_t depth)
{
	uint32_t limit;

	if (depth >= DEEPEST || x->work++ > MOST_WORK || !is_u32(x, v))
		return 0;
	if (v < s->first && made_of(x, v, 0) != OF_COORDINATES)
		return x->l ? 1 + x->l->values[v].id[0] : 1;
	limit = v < s->first ? 0 : tested(x, s, v, at, depth);
	return limit ? limit : computed(x, s, v, depth);
}

uint32_t legal_length_bound(lengths *x, const legal_length_loop *s, uint32_t v, uint32_t at)
{
	x->l = NULL;
	x->work = 0;
	return bound(x, s, v, at, 0);
}

void legal_length_require(lengths *x, legal *l, const legal_length_loop *s, uint32_t at,
			  const legal_length_access *access)
{
	const pctl_place *place = &access->place;
	uint32_t words[PCTL_TYPE_DEPTH_MAX + 2], most, length;

	x->l = l;
	x->work = 0;
	most = bound(x, s, access->index, at, 0);
	words[0] = place->root;
	for (uint32_t i = 0; i < access->step; i++)
		words[1 + i] = x->p->words[place->chain + i];
	length = legal_emit(l, PCTL_OP_ARRAY_LENGTH, l->t_u32, words, 1 + access->step);
	require(x, PCTL_OP_LT, most, 1 + length);
}
