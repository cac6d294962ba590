/* Builtin functions other than atomics: overloads, and their value on constants. */
#include "compiler/wgsl/compose.h"
#include "compiler/wgsl/float.h"

static const struct expr *arg(const struct expr *e, uint32_t i)
{
	const struct expr *a = e->a;

	while (i--)
		a = a->next;
	return a;
}

static void constant_failed(struct wgsl *c, struct expr *e, uint32_t code, uint32_t scalar)
{
	pctl_wgsl_eval_error(c, code, scalar, e->pos, e->end);
	if (!c->quiet)
		pctl_wgsl_set_error(c, e);
}

/* Value of a function that works component by component. */
static void fold(struct wgsl *c, struct expr *e, const struct builtin *b)
{
	const struct type *t = e->type;
	uint32_t scalar = pctl_wgsl_scalar_of(t), i, k, code = 0;
	uint64_t *out, in[4] = {0, 0, 0, 0};

	out = pctl_wgsl_set_leaves(c, e, t, t->leaves);
	for (i = 0; i < t->leaves && !code; i++) {
		const struct expr *a = e->a;

		for (k = 0; k < b->n_args; k++, a = a->next)
			in[k] = pctl_wgsl_leaf(a, a->type->leaves == 1 ? 0 : i);
		code = pctl_wgsl_eval_builtin(b->arg, scalar, in, &out[i]);
	}
	if (code)
		constant_failed(c, e, code, scalar);
}

static void elementwise(struct wgsl *c, struct expr *e, const struct builtin *b)
{
	const char *expected = b->flags & BF_SIGNED	? "signed integers or floats of one type"
			       : b->flags & BF_ABSTRACT ? "integers or floats of one type"
							: "integers of one type";
	const struct expr *a;
	uint32_t scalar, low;

	if (!pctl_wgsl_unify(c, e->a, &scalar)) {
		pctl_wgsl_set_error(c, e);
		return;
	}
	if ((b->flags & BF_ABSTRACT) && pctl_wgsl_is_float(scalar)) {
		pctl_wgsl_check_float_elementwise(c, e, b);
		return;
	}
	for (a = e->a; a; a = a->next)
		if (a->type != e->a->type || !pctl_wgsl_width(a->type) ||
		    !pctl_wgsl_is_integer(scalar)) {
			pctl_wgsl_refuse_arguments(c, e, expected);
			return;
		}
	if ((b->flags & BF_SIGNED) && (scalar == PCTL_SCALAR_U32 || scalar == PCTL_SCALAR_U64)) {
		pctl_wgsl_refuse_arguments(c, e, expected);
		return;
	}
	if (!(b->flags & BF_ABSTRACT) && !pctl_wgsl_settle(c, e->a)) {
		pctl_wgsl_set_error(c, e);
		return;
	}
	e->type = e->a->type;
	e->stage = (uint8_t)pctl_wgsl_args_stage(e);
	low = b->arg == PCTL_OP_CLAMP;
	if (e->stage == STAGE_CONST) {
		fold(c, e, b);
	} else if (low && arg(e, 1)->stage == STAGE_CONST && arg(e, 2)->stage == STAGE_CONST) {
		uint64_t in[3] = {0, pctl_wgsl_leaf(arg(e, 1), 0), pctl_wgsl_leaf(arg(e, 2), 0)},
			 ignored;
		uint32_t code = pctl_wgsl_eval_builtin(b->arg, scalar, in, &ignored);

		if (code)
			constant_failed(c, e, code, scalar);
	}
}

static void bit_field(struct wgsl *c, struct expr *e, const struct builtin *b)
{
	uint32_t insert = b->arg == PCTL_OP_INSERT_BITS, scalar;
	struct expr *offset = insert ? e->a->next->next : e->a->next, *count = offset->next;
	const char *expected = insert ? "e, newbits: i32 or u32; offset, count: u32"
				      : "e: i32 or u32; offset, count: u32";
	const struct type *u32 = &c->types.scalar[PCTL_SCALAR_U32];
	struct expr *rest = insert ? e->a->next->next : e->a->next;

	/* The first one or two decide the type; the list is cut for that and put together again. */
	if (insert)
		e->a->next->next = NULL;
	else
		e->a->next = NULL;
	scalar = 0;
	if (!pctl_wgsl_unify(c, e->a, &scalar))
		scalar = 0;
	if (insert)
		e->a->next->next = rest;
	else
		e->a->next = rest;
	if (!scalar || !pctl_wgsl_can_coerce(offset, u32) || !pctl_wgsl_can_coerce(count, u32) ||
	    (insert && e->a->next->type != e->a->type) || !pctl_wgsl_settle(c, e->a) ||
	    (insert && !pctl_wgsl_settle(c, e->a->next))) {
		pctl_wgsl_refuse_arguments(c, e, expected);
		return;
	}
	scalar = pctl_wgsl_scalar_of(e->a->type);
	if (!pctl_wgsl_width(e->a->type) ||
	    (scalar != PCTL_SCALAR_I32 && scalar != PCTL_SCALAR_U32)) {
		pctl_wgsl_refuse_arguments(c, e, expected);
		return;
	}
	if (!pctl_wgsl_coerce(c, offset, u32, "the offset") ||
	    !pctl_wgsl_coerce(c, count, u32, "the count")) {
		pctl_wgsl_set_error(c, e);
		return;
	}
	e->type = e->a->type;
	e->stage = (uint8_t)pctl_wgsl_args_stage(e);
	if (e->stage == STAGE_CONST)
		fold(c, e, b);
	else if (offset->stage == STAGE_CONST && count->stage == STAGE_CONST &&
		 pctl_wgsl_leaf(offset, 0) + pctl_wgsl_leaf(count, 0) > 32)
		constant_failed(c, e, PC2406_WGSL_ARGUMENTS, scalar);
}

static void all_any(struct wgsl *c, struct expr *e, const struct builtin *b)
{
	const struct type *t = e->a->type;
	uint64_t all = 1, any = 0;
	uint32_t i;

	if (!pctl_wgsl_width(t) || t->scalar != PCTL_SCALAR_BOOL) {
		pctl_wgsl_refuse_arguments(c, e, "bool or a vector of bool");
		return;
	}
	e->type = &c->types.scalar[PCTL_SCALAR_BOOL];
	e->stage = e->a->stage;
	if (e->stage != STAGE_CONST)
		return;
	for (i = 0; i < t->leaves; i++) {
		all &= pctl_wgsl_leaf(e->a, i);
		any |= pctl_wgsl_leaf(e->a, i);
	}
	*pctl_wgsl_set_leaves(c, e, e->type, 1) = b->arg == PCTL_OP_ALL ? all : any;
}

/* select(if false, if true, condition) */
static void select_call(struct wgsl *c, struct expr *e)
{
	struct expr *no = e->a, *yes = no->next, *cond = yes->next;
	uint32_t scalar, width, i;
	uint64_t *out;

	yes->next = NULL;
	i = (uint32_t)pctl_wgsl_unify(c, no, &scalar);
	yes->next = cond;
	width = pctl_wgsl_width(no->type);
	if (!i || no->type != yes->type || !width ||
	    pctl_wgsl_scalar_of(cond->type) != PCTL_SCALAR_BOOL ||
	    (pctl_wgsl_width(cond->type) != 1 && pctl_wgsl_width(cond->type) != width)) {
		pctl_wgsl_refuse_arguments(
			c, e, "two scalars or vectors of one type; bool or bools of their width");
		return;
	}
	e->stage = (uint8_t)pctl_wgsl_args_stage(e);
	if ((e->stage != STAGE_CONST || pctl_wgsl_is_late(c, cond)) &&
	    (!pctl_wgsl_settle(c, no) || !pctl_wgsl_settle(c, yes))) {
		pctl_wgsl_set_error(c, e);
		return;
	}
	e->type = no->type;
	if (e->stage != STAGE_CONST)
		return;
	out = pctl_wgsl_set_leaves(c, e, e->type, e->type->leaves);
	for (i = 0; i < e->type->leaves; i++)
		out[i] = pctl_wgsl_leaf(
			pctl_wgsl_leaf(cond, cond->type->leaves == 1 ? 0 : i) ? yes : no, i);
}

static void dot(struct wgsl *c, struct expr *e, const struct builtin *b)
{
	uint32_t scalar, i, code = 0;
	uint64_t sum = 0, product;

	if (!pctl_wgsl_unify(c, e->a, &scalar) || e->a->type != e->a->next->type ||
	    e->a->type->kind != TY_VECTOR || !pctl_wgsl_is_number(scalar)) {
		pctl_wgsl_refuse_arguments(c, e, "two vectors of numbers of one type");
		return;
	}
	e->type = e->a->type->elem;
	if (pctl_wgsl_is_float(scalar)) {
		pctl_wgsl_fold_float(c, e, b);
		return;
	}
	e->stage = (uint8_t)pctl_wgsl_args_stage(e);
	if (e->stage != STAGE_CONST)
		return;
	for (i = 0; i < e->a->type->width && !code; i++) {
		code = pctl_wgsl_eval_binary(c, T_STAR, scalar, pctl_wgsl_leaf(e->a, i),
					     pctl_wgsl_leaf(e->a->next, i), &product);
		if (!code)
			code = pctl_wgsl_eval_binary(c, T_PLUS, scalar, sum, product, &sum);
	}
	*pctl_wgsl_set_leaves(c, e, e->type, 1) = sum;
	if (code)
		constant_failed(c, e, code, scalar);
}

static uint64_t byte_of(uint64_t v, uint32_t i, int is_signed)
{
	uint64_t b = v >> (8 * i) & 0xff;

	return is_signed ? (uint64_t)(int64_t)(int8_t)(uint8_t)b : b;
}

static void dot4(struct wgsl *c, struct expr *e, const struct builtin *b)
{
	const struct type *u32 = &c->types.scalar[PCTL_SCALAR_U32];
	int is_signed = b->arg == PCTL_OP_DOT4_I8;
	uint64_t sum = 0;
	uint32_t i;

	if (!pctl_wgsl_can_coerce(e->a, u32) || !pctl_wgsl_can_coerce(e->a->next, u32)) {
		pctl_wgsl_refuse_arguments(c, e, "u32, u32");
		return;
	}
	if (!pctl_wgsl_coerce(c, e->a, u32, "this argument") ||
	    !pctl_wgsl_coerce(c, e->a->next, u32, "this argument")) {
		pctl_wgsl_set_error(c, e);
		return;
	}
	e->type = &c->types.scalar[is_signed ? PCTL_SCALAR_I32 : PCTL_SCALAR_U32];
	e->stage = (uint8_t)pctl_wgsl_args_stage(e);
	if (e->stage != STAGE_CONST)
		return;
	for (i = 0; i < 4; i++)
		sum += byte_of(pctl_wgsl_leaf(e->a, 0), i, is_signed) *
		       byte_of(pctl_wgsl_leaf(e->a->next, 0), i, is_signed);
	*pctl_wgsl_set_leaves(c, e, e->type, 1) = pctl_wgsl_wrap(e->type->scalar, sum);
}

static void pack(struct wgsl *c, struct expr *e, const struct builtin *b)
{
	const struct type *v4 =
		pctl_wgsl_vector(c, b->arg & PACK_SIGNED ? PCTL_SCALAR_I32 : PCTL_SCALAR_U32, 4);
	const struct type *u32 = &c->types.scalar[PCTL_SCALAR_U32];
	const struct type *in = b->kind == BUILTIN_PACK ? v4 : u32,
			  *out = b->kind == BUILTIN_PACK ? u32 : v4;
	int64_t low = b->arg & PACK_SIGNED ? -128 : 0, high = b->arg & PACK_SIGNED ? 127 : 255;
	uint64_t *leaves, packed = 0;
	uint32_t i;

	if (!pctl_wgsl_can_coerce(e->a, in)) {
		pctl_wgsl_refuse_arguments(c, e, pctl_wgsl_type_name(c, in));
		return;
	}
	if (!pctl_wgsl_coerce(c, e->a, in, "the argument")) {
		pctl_wgsl_set_error(c, e);
		return;
	}
	e->type = out;
	e->stage = e->a->stage;
	if (e->stage != STAGE_CONST)
		return;
	leaves = pctl_wgsl_set_leaves(c, e, out, out->leaves);
	for (i = 0; i < 4; i++) {
		int64_t v;

		if (b->kind == BUILTIN_UNPACK) {
			leaves[i] = byte_of(pctl_wgsl_leaf(e->a, 0), i, b->arg & PACK_SIGNED);
			continue;
		}
		v = (int64_t)pctl_wgsl_leaf(e->a, i);
		if (b->arg & PACK_CLAMP)
			v = v < low ? low : v > high ? high : v;
		packed |= ((uint64_t)v & 0xff) << (8 * i);
	}
	if (b->kind == BUILTIN_PACK)
		leaves[0] = packed;
}

static void transpose(struct wgsl *c, struct expr *e)
{
	const struct type *t = e->a->type;
	uint64_t *out;
	uint32_t i, k;

	if (t->kind != TY_MATRIX) {
		pctl_wgsl_refuse_arguments(c, e, "a matrix");
		return;
	}
	e->type = pctl_wgsl_matrix(c, t->scalar, t->width, t->columns);
	e->stage = e->a->stage;
	if (e->stage != STAGE_CONST)
		return;
	out = pctl_wgsl_set_leaves(c, e, e->type, t->leaves);
	for (i = 0; i < t->columns; i++)
		for (k = 0; k < t->width; k++)
			out[k * t->columns + i] = pctl_wgsl_leaf(e->a, i * t->width + k);
}

static uint32_t bits(const struct type *t)
{
	return pctl_wgsl_width(t) * pctl_scalar_bits(t->scalar);
}

/* An abstract integer of 32 bits is an i32, or a u32 where it is too large for that. */
static int settle_bits(struct wgsl *c, struct expr *e)
{
	uint32_t i;

	if (pctl_wgsl_scalar_of(e->type) == SCALAR_ABSTRACT && pctl_wgsl_width(e->type) &&
	    !pctl_wgsl_is_first_rules(c)) {
		for (i = 0; i < e->type->leaves; i++)
			if (!pctl_wgsl_fits(PCTL_SCALAR_I32, (int64_t)pctl_wgsl_leaf(e, i)))
				return pctl_wgsl_coerce(
					c, e, pctl_wgsl_with_scalar(c, e->type, PCTL_SCALAR_U32),
					"this value");
	}
	return pctl_wgsl_settle(c, e);
}

static void bitcast(struct wgsl *c, struct expr *e)
{
	const struct type *to = pctl_wgsl_check_type(c, e->b), *from;
	uint64_t *out;

	if (to->kind == TY_ERROR || !settle_bits(c, e->a)) {
		pctl_wgsl_set_error(c, e);
		return;
	}
	from = e->a->type;
	if (!pctl_wgsl_width(to) || !pctl_wgsl_width(from) || to->scalar == PCTL_SCALAR_BOOL ||
	    from->scalar == PCTL_SCALAR_BOOL || bits(to) != bits(from)) {
		pctl_wgsl_error(c, PC2406_WGSL_ARGUMENTS, e->pos, e->end, NULL,
				"bitcast from %s to %s: both must be numbers or vectors of them "
				"with as many bits",
				pctl_wgsl_type_name(c, from), pctl_wgsl_type_name(c, to));
		pctl_wgsl_set_error(c, e);
		return;
	}
	e->type = to;
	e->stage = e->a->stage;
	if (e->stage != STAGE_CONST)
		return;
	out = pctl_wgsl_set_leaves(c, e, to, to->leaves);
	pctl_wgsl_recast(from, e->a->leaf, to, out);
	if (!(c->options->flags & PCTL_WGSL_NATIVE)) /* whose kernels name infinities so */
		pctl_wgsl_check_finite(c, e);
}

static void mul_high(struct wgsl *c, struct expr *e)
{
	const struct expr *a;
	uint64_t *out;
	uint32_t i;

	for (a = e->a; a; a = a->next)
		if (!pctl_wgsl_can_coerce(a, pctl_wgsl_with_scalar(c, a->type, PCTL_SCALAR_U32)) ||
		    !pctl_wgsl_width(a->type) || a->type->width != e->a->type->width) {
			pctl_wgsl_refuse_arguments(c, e, "two u32 or vectors of u32 of one width");
			return;
		}
	e->type = pctl_wgsl_with_scalar(c, e->a->type, PCTL_SCALAR_U32);
	if (!pctl_wgsl_coerce(c, e->a, e->type, "this argument") ||
	    !pctl_wgsl_coerce(c, e->a->next, e->type, "this argument")) {
		pctl_wgsl_set_error(c, e);
		return;
	}
	e->stage = (uint8_t)pctl_wgsl_args_stage(e);
	if (e->stage != STAGE_CONST)
		return;
	out = pctl_wgsl_set_leaves(c, e, e->type, e->type->leaves);
	for (i = 0; i < e->type->leaves; i++)
		out[i] = pctl_wgsl_leaf(e->a, i) * pctl_wgsl_leaf(e->a->next, i) >> 32;
}

static void array_length(struct wgsl *c, struct expr *e)
{
	const struct type *t = e->a->type;

	if (t->kind != TY_POINTER || t->elem->kind != TY_RUNTIME_ARRAY) {
		pctl_wgsl_error(c, PC2406_WGSL_ARGUMENTS, e->pos, e->end,
				t->kind == TY_RUNTIME_ARRAY ? "write &" : NULL,
				"arrayLength takes a pointer to a runtime array, found %s",
				pctl_wgsl_type_name(c, t));
		pctl_wgsl_set_error(c, e);
		return;
	}
	e->type = &c->types.scalar[PCTL_SCALAR_U32];
}

static void uniform_load(struct wgsl *c, struct expr *e)
{
	const struct type *t = e->a->type;

	if (t->kind != TY_POINTER || t->space != PCTL_SPACE_WORKGROUP || !t->elem->plain) {
		pctl_wgsl_error(
			c, PC2406_WGSL_ARGUMENTS, e->pos, e->end,
			t->kind == TY_POINTER && t->elem->kind == TY_ATOMIC
				? "use workgroupBarrier() and atomicLoad"
				: NULL,
			"workgroupUniformLoad takes a pointer to plain workgroup memory, found %s",
			pctl_wgsl_type_name(c, t));
		pctl_wgsl_set_error(c, e);
		return;
	}
	e->type = t->elem;
}

void pctl_wgsl_check_builtin_call(struct wgsl *c, struct expr *e, const struct builtin *b)
{
	struct expr *a;
	int ok = 1;

	e->call = CALL_BUILTIN;
	e->index = c->syms[e->sym].builtin - 1;
	if (pctl_wgsl_builtin_is_tile(b)) {
		pctl_wgsl_check_tile_call(c, e, b);
		return;
	}
	for (a = e->a; a; a = a->next) {
		/* A runtime array without & would be called unreadable; arrayLength says it better.
		 */
		if (b->kind == BUILTIN_ARRAY_LENGTH)
			pctl_wgsl_check_expr(c, a);
		else
			pctl_wgsl_check_value(c, a);
		ok &= a->type->kind != TY_ERROR;
	}
	e->type = &c->types.none;
	if (e->n_args != b->n_args ||
	    (e->has_templates ? !e->b || e->b->next || b->kind != BUILTIN_BITCAST
			      : b->kind == BUILTIN_BITCAST)) {
		pctl_wgsl_error(c, PC2406_WGSL_ARGUMENTS, e->pos, e->end,
				b->kind == BUILTIN_BITCAST ? "write bitcast<TYPE>(value)" : NULL,
				e->n_args != b->n_args ? "\"%s\" takes %u arguments, found %u"
						       : "\"%s\" has wrong template arguments",
				b->name, b->n_args, e->n_args);
		ok = 0;
	}
	if (!ok) {
		pctl_wgsl_set_error(c, e);
		return;
	}
	switch (b->kind) {
	case BUILTIN_ELEMENTWISE:
		elementwise(c, e, b);
		break;
	case BUILTIN_BITS:
		bit_field(c, e, b);
		break;
	case BUILTIN_ALL:
		all_any(c, e, b);
		break;
	case BUILTIN_SELECT:
		select_call(c, e);
		break;
	case BUILTIN_DOT:
		dot(c, e, b);
		break;
	case BUILTIN_DOT4:
		dot4(c, e, b);
		break;
	case BUILTIN_PACK:
	case BUILTIN_UNPACK:
		pack(c, e, b);
		break;
	case BUILTIN_TRANSPOSE:
		transpose(c, e);
		break;
	case BUILTIN_BITCAST:
		bitcast(c, e);
		break;
	case BUILTIN_MUL_HIGH:
		mul_high(c, e);
		break;
	case BUILTIN_FLOAT:
	case BUILTIN_GEOMETRY:
	case BUILTIN_LDEXP:
	case BUILTIN_SPLIT:
	case BUILTIN_PACK_FLOAT:
	case BUILTIN_UNPACK_FLOAT:
		pctl_wgsl_check_float_call(c, e, b);
		break;
	case BUILTIN_ARRAY_LENGTH:
		array_length(c, e);
		break;
	case BUILTIN_UNIFORM_LOAD:
		uniform_load(c, e);
		break;
	case BUILTIN_BARRIER:
		break;
	case BUILTIN_SUBGROUP_REDUCE:
	case BUILTIN_SUBGROUP_VOTE:
	case BUILTIN_SUBGROUP_MOVE:
		pctl_wgsl_check_subgroup(c, e, b);
		break;
	default:
		pctl_wgsl_check_atomic(c, e, b);
	}
}

void pctl_wgsl_check_atomic(struct wgsl *c, struct expr *e, const struct builtin *b)
{
	const struct type *t = e->a->type, *value;
	struct expr *a;

	if (t->kind != TY_POINTER || t->elem->kind != TY_ATOMIC) {
		pctl_wgsl_error(c, PC2433_WGSL_ATOMIC, e->a->pos, e->a->end,
				t->kind == TY_ATOMIC ? "write &" : NULL,
				"%s takes a pointer to an atomic, found %s", b->name,
				pctl_wgsl_type_name(c, t));
		pctl_wgsl_set_error(c, e);
		return;
	}
	if (t->access != PCTL_ACCESS_READ_WRITE) {
		pctl_wgsl_error(c, PC2415_WGSL_ACCESS, e->a->pos, e->a->end,
				"write var<storage, read_write>", "atomics need read_write access");
		pctl_wgsl_set_error(c, e);
		return;
	}
	value = t->elem->elem;
	for (a = e->a->next; a; a = a->next)
		if (!pctl_wgsl_coerce(c, a, value, "the value")) {
			pctl_wgsl_set_error(c, e);
			return;
		}
	e->type = b->arg == PCTL_OP_ATOMIC_STORE ? &c->types.none
		  : b->arg == PCTL_OP_ATOMIC_CAS ? pctl_wgsl_cas_result(c, value->scalar)
						 : value;
}
