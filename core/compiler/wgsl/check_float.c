/* Builtin functions of floats: overloads, and their value on constants. Which steps a function is
 * made of is compose_builtin.c's business. */
#include "compiler/wgsl/compose.h"
#include "compiler/wgsl/float.h"

/* 1 when no component of a constant is infinite or NaN, which WGSL forbids; an error otherwise. */
int pctl_wgsl_check_finite(struct wgsl *c, struct expr *e)
{
	const struct type *t = e->type;
	uint32_t i, n = t->kind == TY_STRUCT ? t->structure->at[0]->type->leaves : t->leaves;
	uint32_t scalar = pctl_wgsl_scalar_of(t->kind == TY_STRUCT ? t->structure->at[0]->type : t);

	if (e->stage != STAGE_CONST || !e->leaf || !pctl_wgsl_is_float(scalar))
		return 1;
	for (i = 0; i < n; i++) {
		if (!pctl_wgsl_float_is_special(scalar, e->leaf[i]))
			continue;
		if (c->quiet)
			return 1;
		pctl_wgsl_error(c, PC2407_WGSL_CONST_OVERFLOW, e->pos, e->end,
				"at run time (through `let` or `var`) this is allowed",
				"the constant result is infinite or not a number in %s",
				pctl_wgsl_type_name(c, &c->types.scalar[scalar]));
		pctl_wgsl_set_error(c, e);
		return 0;
	}
	return 1;
}

void pctl_wgsl_fold_float(struct wgsl *c, struct expr *e, const struct builtin *b)
{
	struct compose x = {.c = c, .way = COMPOSE_CONST};
	struct val args[3] = {{.t = NULL}};
	struct expr *a = e->a;
	uint32_t i;

	e->stage = (uint8_t)pctl_wgsl_args_stage(e);
	if (e->stage != STAGE_CONST)
		return;
	for (i = 0; a; a = a->next)
		args[i++] = pctl_wgsl_val(&x, a);
	pctl_wgsl_keep(&x, e, pctl_wgsl_float_call(&x, b, e->type, args));
	/* frexp scales what it then leaves alone; the host's own kernels name infinities. */
	if (pctl_wgsl_check_finite(c, e) && x.special && !c->quiet && b->kind != BUILTIN_SPLIT &&
	    !(c->options->flags & (PCTL_WGSL_NATIVE | PCTL_WGSL_RULES_1))) {
		pctl_wgsl_error(c, PC2407_WGSL_CONST_OVERFLOW, e->pos, e->end,
				"at run time (through `let` or `var`) this is allowed",
				"a step of the constant %s is infinite or not a number", b->name);
		pctl_wgsl_set_error(c, e);
	}
}

/* What f64 has no form of: elementary functions, and what goes through f32 (pctl_wgsl_float_call). */
static int has_no_f64(const struct builtin *b)
{
	return b->kind == BUILTIN_LDEXP || (b->kind == BUILTIN_SPLIT && b->arg == 1) ||
	       (b->kind == BUILTIN_FLOAT && b->arg >= PCTL_OP_FSIN && b->arg < FC_CLAMP);
}

/* 1 when the function takes floats of this type; an error otherwise. */
static int check_f64(struct wgsl *c, struct expr *e, const struct builtin *b, uint32_t scalar)
{
	if (scalar != PCTL_SCALAR_F64 || !has_no_f64(b) || (c->options->flags & PCTL_WGSL_NATIVE))
		return 1;
	pctl_wgsl_error(c, PC2224_WGSL_F64_FUNCTION, e->pos, e->end,
			pctl_wgsl_format(c, "write %s of f32(..)", b->name),
			"\"%s\" does not take f64", b->name);
	pctl_wgsl_set_error(c, e);
	return 0;
}

/* The arguments get one float type; abstract integers become floats. 0 after an error. */
static uint32_t unify(struct wgsl *c, struct expr *e, const char *expected)
{
	struct expr *a;
	uint32_t scalar;

	if (!pctl_wgsl_unify(c, e->a, &scalar)) {
		pctl_wgsl_set_error(c, e);
		return 0;
	}
	if (scalar == SCALAR_ABSTRACT) {
		scalar = SCALAR_ABSTRACT_FLOAT;
		for (a = e->a; a; a = a->next)
			if (!pctl_wgsl_coerce(c, a, pctl_wgsl_with_scalar(c, a->type, scalar),
					      "this argument")) {
				pctl_wgsl_set_error(c, e);
				return 0;
			}
	}
	for (a = e->a; a; a = a->next)
		if (!pctl_wgsl_is_float(scalar) || pctl_wgsl_scalar_of(a->type) != scalar ||
		    a->type->kind == TY_ARRAY) {
			pctl_wgsl_refuse_arguments(c, e, expected);
			return 0;
		}
	return scalar;
}

static int settle_all(struct wgsl *c, struct expr *e)
{
	struct expr *a;

	for (a = e->a; a; a = a->next)
		if (!pctl_wgsl_settle(c, a)) {
			pctl_wgsl_set_error(c, e);
			return 0;
		}
	return 1;
}

/* low above high among constants */
static int check_clamp(struct wgsl *c, struct expr *e)
{
	const struct expr *low = e->a->next, *high = low->next;
	uint32_t i;

	if (low->stage != STAGE_CONST || high->stage != STAGE_CONST || c->quiet)
		return 1;
	for (i = 0; i < low->type->leaves; i++) {
		const uint64_t in[2] = {pctl_wgsl_leaf(low, i), pctl_wgsl_leaf(high, i)};

		if (pctl_wgsl_float_eval(PCTL_OP_FGT, low->type->scalar, in)) {
			pctl_wgsl_error(c, PC2406_WGSL_ARGUMENTS, e->pos, e->end, NULL,
					"the constant arguments are out of order: low above high");
			pctl_wgsl_set_error(c, e);
			return 0;
		}
	}
	return 1;
}

/* smoothstep between two equal constants divides by zero. */
static int check_edges(struct wgsl *c, struct expr *e)
{
	const struct expr *low = e->a, *high = low->next;
	uint32_t i;

	if (low->stage != STAGE_CONST || high->stage != STAGE_CONST || c->quiet ||
	    (c->options->flags & (PCTL_WGSL_NATIVE | PCTL_WGSL_RULES_1)))
		return 1;
	for (i = 0; i < low->type->leaves; i++) {
		const uint64_t in[2] = {pctl_wgsl_leaf(low, i), pctl_wgsl_leaf(high, i)};

		if (pctl_wgsl_float_eval(PCTL_OP_FEQ, low->type->scalar, in)) {
			pctl_wgsl_error(c, PC2406_WGSL_ARGUMENTS, e->pos, e->end, NULL,
					"the constant edges of smoothstep are equal");
			pctl_wgsl_set_error(c, e);
			return 0;
		}
	}
	return 1;
}

/* pow of constants: a base below 0, and one that is 0 with an exponent that is not above it, are outside its domain. */
static int check_power(struct wgsl *c, struct expr *e)
{
	const struct expr *base = e->a, *power = e->a->next;
	const uint32_t scalar = base->type->scalar;

	if (base->stage != STAGE_CONST || power->stage != STAGE_CONST || c->quiet ||
	    (c->options->flags & (PCTL_WGSL_NATIVE | PCTL_WGSL_RULES_1)))
		return 1;
	for (uint32_t i = 0; i < base->type->leaves; i++) {
		const uint64_t below[2] = {pctl_wgsl_leaf(base, i), 0};
		const uint64_t above[2] = {pctl_wgsl_leaf(power, i), 0};

		if (!pctl_wgsl_float_eval(PCTL_OP_FLT, scalar, below) &&
		    !(pctl_wgsl_float_eval(PCTL_OP_FEQ, scalar, below) &&
		      pctl_wgsl_float_eval(PCTL_OP_FLE, scalar, above)))
			continue;
		pctl_wgsl_error(
			c, PC2406_WGSL_ARGUMENTS, e->pos, e->end, "write the result, or multiply",
			"pow of constants takes a base above 0, or 0 and an exponent above 0");
		pctl_wgsl_set_error(c, e);
		return 0;
	}
	return 1;
}

/* ldexp by a constant that no value of the type can be scaled by. */
static int check_exponent(struct wgsl *c, struct expr *e)
{
	const uint32_t scalar = pctl_wgsl_scalar_of(e->a->type);
	const int64_t most = scalar == PCTL_SCALAR_F16					    ? 16
			     : scalar == PCTL_SCALAR_F64 || scalar == SCALAR_ABSTRACT_FLOAT ? 1024
											    : 128;
	const struct expr *power = e->a->next;
	uint32_t i;

	if (power->stage != STAGE_CONST || c->quiet ||
	    (c->options->flags & (PCTL_WGSL_NATIVE | PCTL_WGSL_RULES_1)))
		return 1;
	for (i = 0; i < power->type->leaves; i++) {
		if ((int64_t)pctl_wgsl_leaf(power, i) <= most)
			continue;
		pctl_wgsl_error(c, PC2406_WGSL_ARGUMENTS, e->pos, e->end, NULL,
				"the constant exponent of ldexp is %lld; for %s it is at most %lld",
				(long long)pctl_wgsl_leaf(power, i),
				pctl_wgsl_type_name(c, &c->types.scalar[scalar]), (long long)most);
		pctl_wgsl_set_error(c, e);
		return 0;
	}
	return 1;
}

void pctl_wgsl_check_float_elementwise(struct wgsl *c, struct expr *e, const struct builtin *b)
{
	const char *expected = b->flags & BF_F32 ? "f32 or a vector of f32" : "floats of one type";
	uint32_t scalar = unify(c, e, expected), i;
	struct expr *a;

	if (!scalar)
		return;
	if (!check_f64(c, e, b, scalar))
		return;
	if ((b->flags & BF_F32) && scalar == SCALAR_ABSTRACT_FLOAT && !settle_all(c, e))
		return;
	if ((b->flags & BF_F32) && pctl_wgsl_scalar_of(e->a->type) != PCTL_SCALAR_F32) {
		pctl_wgsl_refuse_arguments(c, e, expected);
		return;
	}
	for (i = 0, a = e->a; a; a = a->next, i++)
		if (!pctl_wgsl_width(a->type) ||
		    (a->type != e->a->type &&
		     !((b->flags & BF_MIX) && i == 2 && a->type->kind == TY_SCALAR))) {
			pctl_wgsl_refuse_arguments(c, e, expected);
			return;
		}
	if ((b->arg == PCTL_OP_CLAMP && !check_clamp(c, e)) ||
	    (b->kind == BUILTIN_FLOAT && b->arg == FC_SMOOTHSTEP && !check_edges(c, e)) ||
	    (b->kind == BUILTIN_FLOAT && b->arg == PCTL_OP_FPOW && !check_power(c, e)))
		return;
	e->type = e->a->type;
	/* What does not stay constant has a type. */
	if (pctl_wgsl_args_stage(e) != STAGE_CONST) {
		if (!settle_all(c, e))
			return;
		e->type = e->a->type;
	}
	pctl_wgsl_fold_float(c, e, b);
}

static int geometry_takes(const struct expr *e, uint32_t id)
{
	const struct type *t = e->a->type, *u = e->a->next ? e->a->next->type : t;
	const struct expr *third = e->a->next ? e->a->next->next : NULL;

	switch (id) {
	case FC_LENGTH:
	case FC_DISTANCE:
		return pctl_wgsl_width(t) && t == u;
	case FC_CROSS:
		return t->kind == TY_VECTOR && t->width == 3 && t == u;
	case FC_REFRACT:
		return t->kind == TY_VECTOR && t == u && third->type->kind == TY_SCALAR;
	case FC_FACE_FORWARD:
		return t->kind == TY_VECTOR && t == u && t == third->type;
	case FC_DETERMINANT:
		return t->kind == TY_MATRIX && t->columns == t->width;
	default:
		return t->kind == TY_VECTOR && t == u;
	}
}

static void geometry(struct wgsl *c, struct expr *e, const struct builtin *b)
{
	const char *expected = b->arg == FC_REFRACT ? "two vectors and a scalar of one float type"
			       : b->arg == FC_DETERMINANT ? "a square matrix of floats"
			       : b->arg == FC_CROSS	  ? "two vectors of three floats"
							  : "vectors of one float type";

	if (!unify(c, e, expected))
		return;
	if (pctl_wgsl_args_stage(e) != STAGE_CONST && !settle_all(c, e))
		return;
	if (!geometry_takes(e, b->arg)) {
		pctl_wgsl_refuse_arguments(c, e, expected);
		return;
	}
	e->type = e->a->type;
	if (b->arg == FC_LENGTH || b->arg == FC_DISTANCE)
		e->type = pctl_wgsl_shape(c, e->type->scalar, 1);
	else if (b->arg == FC_DETERMINANT)
		e->type = e->type->elem->elem;
	pctl_wgsl_fold_float(c, e, b);
}

static void ldexp_call(struct wgsl *c, struct expr *e, const struct builtin *b)
{
	const char *expected = "a float or vector of floats; i32 or as many i32";
	struct expr *power = e->a->next;
	const struct type *want;

	e->a->next = NULL;
	want = unify(c, e, expected) ? e->a->type : NULL;
	e->a->next = power;
	if (!want || !check_f64(c, e, b, pctl_wgsl_scalar_of(want)))
		return;
	want = pctl_wgsl_width(want) ? pctl_wgsl_shape(c, PCTL_SCALAR_I32, want->width) : want;
	if (!pctl_wgsl_width(want) || !pctl_wgsl_can_coerce(power, want)) {
		pctl_wgsl_refuse_arguments(c, e, expected);
		return;
	}
	if (!pctl_wgsl_coerce(c, power, want, "the exponent") ||
	    ((pctl_wgsl_args_stage(e) != STAGE_CONST || pctl_wgsl_is_late(c, power)) &&
	     !pctl_wgsl_settle(c, e->a))) {
		pctl_wgsl_set_error(c, e);
		return;
	}
	if (!check_exponent(c, e))
		return;
	e->type = e->a->type;
	pctl_wgsl_fold_float(c, e, b);
}

static void split(struct wgsl *c, struct expr *e, const struct builtin *b)
{
	const char *expected = "a float or vector of floats";

	if (!unify(c, e, expected) || !settle_all(c, e) ||
	    !check_f64(c, e, b, pctl_wgsl_scalar_of(e->a->type)))
		return;
	if (!pctl_wgsl_width(e->a->type)) {
		pctl_wgsl_refuse_arguments(c, e, expected);
		return;
	}
	e->type = pctl_wgsl_split_result(c, b->arg, e->a->type);
	pctl_wgsl_fold_float(c, e, b);
}

static void pack(struct wgsl *c, struct expr *e, const struct builtin *b)
{
	const struct type *floats = pctl_wgsl_vector(c, PCTL_SCALAR_F32, b->arg & FLOAT_8 ? 4 : 2);
	const struct type *u32 = &c->types.scalar[PCTL_SCALAR_U32];
	const struct type *in = b->kind == BUILTIN_PACK_FLOAT ? floats : u32;

	if (!pctl_wgsl_can_coerce(e->a, in)) {
		pctl_wgsl_refuse_arguments(c, e, pctl_wgsl_type_name(c, in));
		return;
	}
	if (!pctl_wgsl_coerce(c, e->a, in, "the argument")) {
		pctl_wgsl_set_error(c, e);
		return;
	}
	e->type = b->kind == BUILTIN_PACK_FLOAT ? u32 : floats;
	pctl_wgsl_fold_float(c, e, b);
}

void pctl_wgsl_check_float_call(struct wgsl *c, struct expr *e, const struct builtin *b)
{
	switch (b->kind) {
	case BUILTIN_GEOMETRY:
		geometry(c, e, b);
		break;
	case BUILTIN_LDEXP:
		ldexp_call(c, e, b);
		break;
	case BUILTIN_SPLIT:
		split(c, e, b);
		break;
	case BUILTIN_PACK_FLOAT:
	case BUILTIN_UNPACK_FLOAT:
		pack(c, e, b);
		break;
	default:
		pctl_wgsl_check_float_elementwise(c, e, b);
	}
}
