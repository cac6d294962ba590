/* Function `spec`: expressions of overrides, which the host computes before the shader runs. It knows
 * scalars and no control, so a vector, matrix, array or struct is the list of its scalars. */
#include "compiler/wgsl/compose.h"
#include "compiler/wgsl/float.h"

static uint16_t opcode(uint32_t token)
{
	static const struct {
		uint8_t token;
		uint16_t op;
	} ops[] = {{T_PLUS, PCTL_OP_ADD},	{T_MINUS, PCTL_OP_SUB},	  {T_STAR, PCTL_OP_MUL},
		   {T_SLASH, PCTL_OP_DIV_WGSL}, {T_PERCENT, PCTL_OP_MOD}, {T_AND, PCTL_OP_AND},
		   {T_ANDAND, PCTL_OP_AND},	{T_OR, PCTL_OP_OR},	  {T_OROR, PCTL_OP_OR},
		   {T_XOR, PCTL_OP_XOR},	{T_SHL, PCTL_OP_SHL},	  {T_SHR, PCTL_OP_SHR},
		   {T_EQEQ, PCTL_OP_EQ},	{T_NE, PCTL_OP_NE},	  {T_LT, PCTL_OP_LT},
		   {T_LE, PCTL_OP_LE},		{T_GT, PCTL_OP_GT},	  {T_GE, PCTL_OP_GE}};
	uint32_t i;

	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (ops[i].token == token)
			return ops[i].op;
	return PCTL_OP_NOT;
}

/* The scalar type of leaf i. */
static const struct type *leaf_type(struct wgsl *c, const struct type *t, uint32_t i)
{
	uint32_t k;

	while (t->kind != TY_SCALAR) {
		if (t->kind == TY_STRUCT) {
			for (k = t->structure->n_members - 1; t->structure->at[k]->first_leaf > i;)
				k--;
			i -= t->structure->at[k]->first_leaf;
			t = t->structure->at[k]->type;
		} else {
			t = t->elem;
			i %= t->leaves;
		}
	}
	return &c->types.scalar[t->scalar];
}

static struct val constant(struct compose *x, const struct expr *e)
{
	uint32_t *parts = pctl_wgsl_alloc(x->c, e->type->leaves * sizeof(*parts)), i;

	for (i = 0; i < e->type->leaves; i++) {
		const struct type *t = leaf_type(x->c, e->type, i);
		const uint64_t bits = pctl_wgsl_leaf(e, i);

		parts[i] =
			pctl_build_const(x->c->builder, pctl_wgsl_ir_type(x->c, t),
					 pctl_scalar_bits(t->scalar) == 64 ? bits : (uint32_t)bits);
	}
	return pctl_wgsl_of_parts(e->type, parts);
}

static struct val binary(struct compose *x, struct expr *e)
{
	struct val args[2];

	args[0] = pctl_wgsl_val(x, e->a);
	args[1] = pctl_wgsl_val(x, e->b);
	if (pctl_wgsl_is_float(pctl_wgsl_scalar_of(e->a->type)))
		return pctl_wgsl_float_operator(x, e->op, e->type, args[0], args[1]);
	return pctl_wgsl_op(x, opcode(e->op), e->type, args, 2);
}

static struct val swizzle(struct compose *x, const struct expr *e, struct val whole)
{
	uint32_t *parts = pctl_wgsl_alloc(x->c, e->n_args * sizeof(*parts)), i;

	for (i = 0; i < e->n_args; i++)
		parts[i] = whole.parts[e->index >> (2 * i) & 3];
	return pctl_wgsl_of_parts(e->type, parts);
}

/* The parts of the arguments one behind the other, a lone scalar in each component of a vector. */
static struct val construct(struct compose *x, struct expr *e)
{
	uint32_t *parts = pctl_wgsl_alloc(x->c, e->type->leaves * sizeof(*parts)), n = 0, i;
	struct expr *a;

	for (a = e->a; a; a = a->next) {
		struct val v = pctl_wgsl_val(x, a);

		if (e->n_args == 1 && a->type->kind == TY_SCALAR && e->type->kind == TY_VECTOR)
			v = pctl_wgsl_splat(x, e->type, v);
		for (i = 0; i < v.t->leaves; i++)
			parts[n++] = v.parts ? v.parts[i] : v.value;
	}
	return pctl_wgsl_of_parts(e->type, parts);
}

/* all, any and the dot product of integers: one operation from part to part. */
static struct val gather(struct compose *x, uint16_t op, struct val v)
{
	struct val sum = pctl_wgsl_component(x, v, 0);
	uint32_t i;

	for (i = 1; i < v.t->leaves; i++)
		sum = pctl_wgsl_op2(x, op, sum, pctl_wgsl_component(x, v, i));
	return sum;
}

/* Column i of the result is row i of the argument. */
static struct val transpose(struct compose *x, const struct expr *e, struct val m)
{
	uint32_t *parts = pctl_wgsl_alloc(x->c, e->type->leaves * sizeof(*parts)), i;
	const uint32_t width = e->type->width;

	for (i = 0; i < e->type->leaves; i++)
		parts[i] = m.parts[i % width * m.t->width + i / width];
	return pctl_wgsl_of_parts(e->type, parts);
}

/* Which element an override chooses is known when it has a value: one behind the other is compared. One that is out of
 * bounds is refused before the value here counts (concrete.c). */
static struct val choose(struct compose *x, struct expr *e)
{
	const struct val all = pctl_wgsl_val(x, e->a), at = pctl_wgsl_val(x, e->b);
	const uint32_t n = e->type->leaves;
	uint32_t *parts = pctl_wgsl_alloc(x->c, n * sizeof(*parts)), i;

	for (i = 0; i < all.t->leaves; i++) {
		const struct type *t = leaf_type(x->c, e->type, i % n);
		struct val part = {.t = t, .value = all.parts[i]};

		if (i >= n)
			part = pctl_wgsl_select(
				x, pctl_wgsl_test(x, PCTL_OP_EQ, at, pctl_wgsl_int(x, at.t, i / n)),
				part, (struct val){.t = t, .value = parts[i % n]});
		parts[i % n] = part.value;
	}
	return pctl_wgsl_of_parts(e->type, parts);
}

/* ---- four bytes in a word ---- */

static struct val byte_at(struct compose *x, struct val word, uint32_t i, const struct type *out)
{
	const struct type *u32 = &x->c->types.scalar[PCTL_SCALAR_U32];

	word = pctl_wgsl_op2(x, PCTL_OP_SHL, word, pctl_wgsl_int(x, u32, 24 - 8 * i));
	return pctl_wgsl_op2(x, PCTL_OP_SHR, pctl_wgsl_convert(x, PCTL_OP_BITCAST, out, word),
			     pctl_wgsl_int(x, u32, 24));
}

static struct val unpack(struct compose *x, const struct type *t, struct val word)
{
	struct val parts[4];
	uint32_t i;

	for (i = 0; i < 4; i++)
		parts[i] = byte_at(x, word, i, t->elem);
	return pctl_wgsl_construct(x, t, parts, 4);
}

static struct val pack(struct compose *x, uint32_t flags, struct val v)
{
	const struct type *u32 = &x->c->types.scalar[PCTL_SCALAR_U32];
	const uint64_t low = flags & PACK_SIGNED ? (uint64_t)-128 : 0,
		       high = flags & PACK_SIGNED ? 127 : 255;
	struct val part, out = {.t = NULL};
	uint32_t i;

	for (i = 0; i < 4; i++) {
		part = pctl_wgsl_component(x, v, i);
		if (flags & PACK_CLAMP)
			part = pctl_wgsl_op3(x, PCTL_OP_CLAMP, part, pctl_wgsl_int(x, part.t, low),
					     pctl_wgsl_int(x, part.t, high));
		part = pctl_wgsl_convert(x, PCTL_OP_BITCAST, u32, part);
		part = pctl_wgsl_op2(x, PCTL_OP_AND, part, pctl_wgsl_int(x, u32, 255));
		part = pctl_wgsl_op2(x, PCTL_OP_SHL, part, pctl_wgsl_int(x, u32, 8 * i));
		out = i ? pctl_wgsl_op2(x, PCTL_OP_OR, out, part) : part;
	}
	return out;
}

static struct val dot4(struct compose *x, const struct type *t, const struct val *args)
{
	struct val sum = pctl_wgsl_int(x, t, 0);
	uint32_t i;

	for (i = 0; i < 4; i++)
		sum = pctl_wgsl_op2(x, PCTL_OP_ADD, sum,
				    pctl_wgsl_op2(x, PCTL_OP_MUL, byte_at(x, args[0], i, t),
						  byte_at(x, args[1], i, t)));
	return sum;
}

static struct val builtin(struct compose *x, struct expr *e)
{
	const struct builtin *b = pctl_wgsl_builtin_at(e->index);
	struct val args[4] = {{.t = NULL}}, swap;
	struct expr *a;
	uint32_t n = 0;

	for (a = e->a; a; a = a->next)
		args[n++] = pctl_wgsl_val(x, a);
	if (pctl_wgsl_builtin_is_float(b) ||
	    ((b->kind == BUILTIN_ELEMENTWISE || b->kind == BUILTIN_DOT) &&
	     pctl_wgsl_is_float(pctl_wgsl_scalar_of(e->a->type))))
		return pctl_wgsl_float_call(x, b, e->type, args);
	switch (b->kind) {
	case BUILTIN_SELECT:
		swap = args[0];
		args[0] = args[2];
		args[2] = swap;
		break;
	case BUILTIN_ALL:
		if (args[0].t->kind == TY_SCALAR)
			return args[0];
		return gather(x, b->arg == PCTL_OP_ALL ? PCTL_OP_AND : PCTL_OP_OR, args[0]);
	case BUILTIN_DOT:
		return gather(x, PCTL_OP_ADD, pctl_wgsl_op2(x, PCTL_OP_MUL, args[0], args[1]));
	case BUILTIN_TRANSPOSE:
		return transpose(x, e, args[0]);
	case BUILTIN_DOT4:
		return dot4(x, e->type, args);
	case BUILTIN_PACK:
		return pack(x, b->arg, args[0]);
	case BUILTIN_UNPACK:
		return unpack(x, e->type, args[0]);
	default:
		break;
	}
	return pctl_wgsl_op(x, (uint16_t)b->arg, e->type, args, n);
}

static struct val call(struct compose *x, struct expr *e)
{
	struct val v;

	if (e->call == CALL_CONSTRUCT)
		return construct(x, e);
	if (e->call != CALL_CONVERT)
		return builtin(x, e);
	v = pctl_wgsl_val(x, e->a);
	if (e->a->type == e->type)
		return v;
	if (pctl_wgsl_is_float(e->type->scalar) || pctl_wgsl_is_float(e->a->type->scalar))
		return pctl_wgsl_float_cast(x, e->type, v);
	return pctl_wgsl_op(x, PCTL_OP_CAST, e->type, &v, 1);
}

struct val pctl_wgsl_spec(struct compose *x, struct expr *e)
{
	struct val v;

	if (e->stage == STAGE_CONST)
		return constant(x, e);
	switch (e->kind) {
	case EX_NAME:
		v.t = e->type;
		/* Who has no value for it is shown where it is declared. */
		pctl_wgsl_build_origin(x->c, e->decl->pos, e->decl->end);
		v.value = pctl_build_inst(x->c->builder, PCTL_OP_OVERRIDE,
					  pctl_wgsl_ir_type(x->c, e->type), &e->decl->index, 1);
		pctl_wgsl_build_origin(x->c, e->pos, e->end);
		v.leaf = NULL;
		v.parts = NULL;
		return v;
	case EX_UNARY:
		v = pctl_wgsl_val(x, e->a);
		return pctl_wgsl_op1(x,
				     pctl_wgsl_is_float(e->type->scalar) ? PCTL_OP_FNEG
				     : e->op == T_MINUS			 ? PCTL_OP_NEG
									 : PCTL_OP_NOT,
				     v);
	case EX_BINARY:
		return binary(x, e);
	case EX_MEMBER:
		v = pctl_wgsl_val(x, e->a);
		return v.t->kind == TY_STRUCT ? pctl_wgsl_component(x, v, e->index)
					      : swizzle(x, e, v);
	case EX_INDEX:
		if (e->b->stage != STAGE_CONST)
			return choose(x, e);
		v = pctl_wgsl_val(x, e->a);
		return pctl_wgsl_component(x, v, (uint32_t)pctl_wgsl_leaf(e->b, 0));
	default:
		return call(x, e);
	}
}

uint32_t pctl_wgsl_spec_value(struct wgsl *c, struct expr *e)
{
	struct compose x = {.c = c, .way = COMPOSE_SPEC};

	return pctl_wgsl_spec(&x, e).value;
}
