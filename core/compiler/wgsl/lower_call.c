/* Lowering of calls: functions, builtins, constructors, conversions. */
#include "compiler/wgsl/compose.h"
#include "compiler/wgsl/float.h"

#define MAX_FEW 8u

/* The argument values, in order. */
static uint32_t *values_of(struct lower *l, const struct expr *e, uint32_t *few)
{
	uint32_t *out = e->n_args > MAX_FEW ? pctl_wgsl_alloc(l->c, e->n_args * sizeof(*out)) : few,
		 i = 0;
	const struct expr *a;

	for (a = e->a; a; a = a->next)
		out[i++] = pctl_wgsl_lower_value(l, a);
	pctl_wgsl_at_expr(l, e);
	return out;
}

static uint32_t call_function(struct lower *l, const struct expr *e)
{
	struct word *w = pctl_wgsl_alloc(l->c, (e->n_args + 1) * sizeof(*w));
	uint32_t few[MAX_FEW], *values = values_of(l, e, few), i;

	w[0] = (struct word){WORD_LITERAL, e->decl->function->index};
	for (i = 0; i < e->n_args; i++)
		w[i + 1] = (struct word){WORD_VALUE, values[i]};
	return pctl_wgsl_emit(l, PCTL_OP_CALL,
			      e->type->kind == TY_VOID ? 0 : pctl_wgsl_type_id(l, e->type), w,
			      e->n_args + 1);
}

static uint32_t compose(struct lower *l, const struct type *t, const struct word *parts, uint32_t n)
{
	return pctl_wgsl_emit(l, PCTL_OP_COMPOSE, pctl_wgsl_type_id(l, t), parts, n);
}

static uint32_t construct_vector(struct lower *l, const struct expr *e, const uint32_t *values)
{
	const struct expr *a = e->a;
	struct word parts[4];
	uint32_t i, k, n = 0;

	if (e->n_args == 1)
		return a->type->kind == TY_VECTOR
			       ? values[0]
			       : pctl_wgsl_emit1(l, PCTL_OP_SPLAT, e->type, values[0]);
	for (i = 0; a; a = a->next, i++)
		for (k = 0; k < pctl_wgsl_width(a->type); k++)
			parts[n++] = (struct word){
				WORD_VALUE,
				a->type->kind == TY_SCALAR
					? values[i]
					: pctl_wgsl_extract(l, values[i], e->type->elem, k)};
	return compose(l, e->type, parts, n);
}

static uint32_t construct(struct lower *l, const struct expr *e)
{
	uint32_t few[MAX_FEW], *values = values_of(l, e, few), i, n = e->n_args;
	const struct type *t = e->type;
	struct word *parts;

	if (t->kind == TY_VECTOR)
		return construct_vector(l, e, values);
	parts = pctl_wgsl_alloc(l->c, n * sizeof(*parts));
	for (i = 0; i < n; i++)
		parts[i] = (struct word){WORD_VALUE, values[i]};
	if (t->kind == TY_MATRIX && n == t->leaves) {
		for (i = 0; i < t->columns; i++)
			parts[i].v = compose(l, t->elem, parts + i * t->width, t->width);
		n = t->columns;
	}
	return compose(l, t, parts, n);
}

static uint32_t convert(struct lower *l, const struct expr *e)
{
	struct compose x = {.c = l->c, .l = l, .way = COMPOSE_CODE};
	uint32_t value = pctl_wgsl_lower_value(l, e->a), i;
	const struct type *t = e->type;
	struct word columns[4];

	pctl_wgsl_at_expr(l, e);
	if (e->a->type == t)
		return value;
	if (pctl_wgsl_is_float(t->scalar) || pctl_wgsl_is_float(e->a->type->scalar))
		return pctl_wgsl_float_cast(&x, t, (struct val){.t = e->a->type, .value = value})
			.value;
	if (t->kind != TY_MATRIX)
		return pctl_wgsl_emit1(l, PCTL_OP_CAST, t, value);
	for (i = 0; i < t->columns; i++)
		columns[i] = (struct word){
			WORD_VALUE,
			pctl_wgsl_emit1(l, PCTL_OP_CAST, t->elem,
					pctl_wgsl_extract(l, value, e->a->type->elem, i))};
	return compose(l, t, columns, t->columns);
}

/* ---- builtins made of others ---- */

static uint32_t shifts(struct lower *l, const struct type *v4u, int down)
{
	static const uint64_t up_leaves[4] = {0, 8, 16, 24}, down_leaves[4] = {24, 16, 8, 0};

	return pctl_wgsl_const_value(l, v4u, down ? down_leaves : up_leaves);
}

static uint32_t unpack(struct lower *l, const struct expr *e, uint32_t is_signed)
{
	const struct type *v4u = pctl_wgsl_vector(l->c, PCTL_SCALAR_U32, 4), *t = e->type;
	static const uint64_t bytes[4] = {255, 255, 255, 255}, tops[4] = {24, 24, 24, 24};
	uint32_t v = pctl_wgsl_lower_value(l, e->a);

	pctl_wgsl_at_expr(l, e);
	v = pctl_wgsl_emit1(l, PCTL_OP_SPLAT, v4u, v);
	if (!is_signed) {
		v = pctl_wgsl_emit2(l, PCTL_OP_SHR, v4u, v, shifts(l, v4u, 0));
		return pctl_wgsl_emit2(l, PCTL_OP_AND, v4u, v,
				       pctl_wgsl_const_value(l, v4u, bytes));
	}
	v = pctl_wgsl_emit2(l, PCTL_OP_SHL, v4u, v, shifts(l, v4u, 1));
	v = pctl_wgsl_emit1(l, PCTL_OP_BITCAST, t, v);
	return pctl_wgsl_emit2(l, PCTL_OP_SHR, t, v, pctl_wgsl_const_value(l, v4u, tops));
}

static uint32_t pack(struct lower *l, const struct expr *e, uint32_t flags)
{
	const struct type *v4u = pctl_wgsl_vector(l->c, PCTL_SCALAR_U32, 4), *in = e->a->type,
			  *u32 = e->type;
	static const uint64_t bytes[4] = {255, 255, 255, 255};
	static const uint64_t low[4] = {(uint64_t)-128, (uint64_t)-128, (uint64_t)-128,
					(uint64_t)-128};
	static const uint64_t high[4] = {127, 127, 127, 127};
	uint32_t v = pctl_wgsl_lower_value(l, e->a), i, out;

	pctl_wgsl_at_expr(l, e);
	if (flags & PACK_CLAMP) {
		if (flags & PACK_SIGNED)
			v = pctl_wgsl_emit3(l, PCTL_OP_CLAMP, in, v,
					    pctl_wgsl_const_value(l, in, low),
					    pctl_wgsl_const_value(l, in, high));
		else
			v = pctl_wgsl_emit2(l, PCTL_OP_MIN, in, v,
					    pctl_wgsl_const_value(l, in, bytes));
	}
	if (flags & PACK_SIGNED)
		v = pctl_wgsl_emit1(l, PCTL_OP_BITCAST, v4u, v);
	if (flags != PACK_CLAMP)
		v = pctl_wgsl_emit2(l, PCTL_OP_AND, v4u, v, pctl_wgsl_const_value(l, v4u, bytes));
	v = pctl_wgsl_emit2(l, PCTL_OP_SHL, v4u, v, shifts(l, v4u, 0));
	out = pctl_wgsl_extract(l, v, u32, 0);
	for (i = 1; i < 4; i++)
		out = pctl_wgsl_emit2(l, PCTL_OP_OR, u32, out, pctl_wgsl_extract(l, v, u32, i));
	return out;
}

static uint32_t atomic(struct lower *l, const struct expr *e, const struct builtin *b)
{
	const struct type *elem = e->a->type->elem->elem;
	uint32_t values[2], n = 0, old;
	const struct expr *a;
	struct word parts[2];
	struct place p;

	pctl_wgsl_lower_place(l, e->a, &p);
	for (a = e->a->next; a; a = a->next)
		values[n++] = pctl_wgsl_lower_value(l, a);
	pctl_wgsl_at_expr(l, e);
	old = pctl_wgsl_access(l, (uint16_t)b->arg,
			       b->arg == PCTL_OP_ATOMIC_STORE ? 0 : pctl_wgsl_type_id(l, elem),
			       values, n, &p);
	if (b->kind != BUILTIN_ATOMIC_CAS)
		return old;
	parts[0] = (struct word){WORD_VALUE, old};
	parts[1] = (struct word){WORD_VALUE, pctl_wgsl_emit2(l, PCTL_OP_EQ,
							     &l->c->types.scalar[PCTL_SCALAR_BOOL],
							     old, values[0])};
	return compose(l, e->type, parts, 2);
}

static uint32_t float_call(struct lower *l, const struct expr *e, const struct builtin *b,
			   const uint32_t *values)
{
	struct compose x = {.c = l->c, .l = l, .way = COMPOSE_CODE};
	struct val args[3] = {{.t = NULL}};
	const struct expr *a = e->a;
	uint32_t i;

	for (i = 0; a; a = a->next, i++)
		args[i] = (struct val){.t = a->type, .value = values[i]};
	return pctl_wgsl_float_call(&x, b, e->type, args).value;
}

static uint32_t builtin(struct lower *l, const struct expr *e)
{
	const struct builtin *b = pctl_wgsl_builtin_at(e->index);
	uint32_t few[MAX_FEW], *v, i;
	struct word w[4];
	struct place p;

	switch (b->kind) {
	case BUILTIN_SUBGROUP_REDUCE:
	case BUILTIN_SUBGROUP_VOTE:
	case BUILTIN_SUBGROUP_MOVE:
		return pctl_wgsl_lower_subgroup(l, e);
	case BUILTIN_TILE_LOAD:
	case BUILTIN_TILE_STORE:
	case BUILTIN_TILE_PRODUCT:
		return pctl_wgsl_lower_tile(l, e);
	case BUILTIN_ARRAY_LENGTH:
	case BUILTIN_UNIFORM_LOAD:
		pctl_wgsl_lower_place(l, e->a, &p);
		pctl_wgsl_at_expr(l, e);
		return pctl_wgsl_load(l, (uint16_t)b->arg, e->type, &p);
	case BUILTIN_BARRIER:
		w[0] = (struct word){WORD_LITERAL, b->arg};
		return pctl_wgsl_emit(l, PCTL_OP_BARRIER, 0, w, 1);
	case BUILTIN_ATOMIC_FN:
	case BUILTIN_ATOMIC_CAS:
		return atomic(l, e, b);
	case BUILTIN_PACK:
		return pack(l, e, b->arg);
	case BUILTIN_UNPACK:
		return unpack(l, e, b->arg);
	default:
		break;
	}
	v = values_of(l, e, few);
	if (pctl_wgsl_builtin_is_float(b) ||
	    ((b->kind == BUILTIN_ELEMENTWISE || b->kind == BUILTIN_DOT) &&
	     pctl_wgsl_is_float(pctl_wgsl_scalar_of(e->a->type))))
		return float_call(l, e, b, v);
	if (b->kind == BUILTIN_SELECT)
		return pctl_wgsl_emit3(l, PCTL_OP_SELECT, e->type, v[2], v[1], v[0]);
	if (b->kind == BUILTIN_BITCAST && e->a->type == e->type)
		return v[0];
	if (b->arg == PCTL_OP_ABS &&
	    (e->type->scalar == PCTL_SCALAR_U32 || e->type->scalar == PCTL_SCALAR_U64))
		return v[0];
	for (i = 0; i < e->n_args; i++)
		w[i] = (struct word){WORD_VALUE, v[i]};
	return pctl_wgsl_emit(l, (uint16_t)b->arg, pctl_wgsl_type_id(l, e->type), w, e->n_args);
}

uint32_t pctl_wgsl_lower_call(struct lower *l, const struct expr *e)
{
	switch (e->call) {
	case CALL_FUNCTION:
		return e->decl->function->has_pointers ? pctl_wgsl_lower_pointer_call(l, e)
						       : call_function(l, e);
	case CALL_BUILTIN:
		return builtin(l, e);
	case CALL_CONVERT:
		return convert(l, e);
	case CALL_ZERO:
		return pctl_wgsl_zero(l, e->type);
	default:
		return construct(l, e);
	}
}
