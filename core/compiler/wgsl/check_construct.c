/* Constructors and conversions: T(), T(value), T(parts..), and the ones that infer their element
 * type. */
#include <string.h>

#include "compiler/wgsl/compose.h"
#include "compiler/wgsl/float.h"

static int check_args(struct wgsl *c, struct expr *e)
{
	struct expr *a;
	int ok = 1;

	for (a = e->a; a; a = a->next)
		ok &= pctl_wgsl_check_value(c, a)->kind != TY_ERROR;
	return ok;
}

/* The latest stage of the arguments; constants too large to keep count as run-time values. */
static uint32_t stage_of(const struct expr *e, const struct type *t)
{
	const uint32_t stage = pctl_wgsl_args_stage(e);

	return stage == STAGE_CONST && t->leaves > WGSL_MAX_LEAVES ? STAGE_RUNTIME : stage;
}

/* What made e a run-time value though all its parts are constants: a value with more scalars than a constant has. NULL: nothing. */
static const struct expr *too_large(const struct expr *e)
{
	const struct expr *a, *found = NULL;

	if (!e || e->stage != STAGE_RUNTIME)
		return NULL;
	if (e->kind != EX_CALL)
		return (found = too_large(e->a)) ? found : too_large(e->b);
	for (a = e->a; a && !found; a = a->next)
		found = too_large(a);
	return found || pctl_wgsl_args_stage(e) != STAGE_CONST || e->type->leaves <= WGSL_MAX_LEAVES
		       ? found
		       : e;
}

void pctl_wgsl_not_constant(struct wgsl *c, const struct expr *e, const char *hint,
			    const char *what)
{
	const struct expr *large = pctl_wgsl_is_first_rules(c) ? NULL : too_large(e);

	if (large)
		pctl_wgsl_error(c, PC2109_WGSL_PROGRAM_SIZE, large->pos, large->end,
				"use a buffer for tables",
				"%s; a constant has at most %u scalars, and this value has %u",
				what, WGSL_MAX_LEAVES, large->type->leaves);
	else
		pctl_wgsl_error(c, PC2410_WGSL_NOT_CONST, e->pos, e->end, hint, "%s", what);
}

static void fold_construct(struct wgsl *c, struct expr *e)
{
	const struct expr *a;
	uint32_t at = 0, i;
	uint64_t *out;

	e->stage = (uint8_t)stage_of(e, e->type);
	if (e->stage != STAGE_CONST)
		return;
	for (a = e->a; a && !a->leaf; a = a->next)
		;
	if (!a)
		return; /* all zero */
	if (e->type->leaves > WGSL_MAX_CONST_LEAVES - c->n_const_leaves) {
		if (!c->const_full) /* once is enough */
			pctl_wgsl_error(c, PC2109_WGSL_PROGRAM_SIZE, e->pos, e->end,
					"use a buffer for tables",
					"the constants of the text grow over %u scalars here",
					WGSL_MAX_CONST_LEAVES);
		c->const_full = 1;
		pctl_wgsl_set_error(c, e);
		return;
	}
	c->n_const_leaves += e->type->leaves;
	out = pctl_wgsl_set_leaves(c, e, e->type, e->type->leaves);
	if (e->n_args == 1 && e->a->type->kind == TY_SCALAR && e->type->kind == TY_VECTOR) {
		for (i = 0; i < e->type->leaves; i++)
			out[i] = pctl_wgsl_leaf(e->a, 0);
		return;
	}
	for (a = e->a; a; a = a->next)
		for (i = 0; i < a->type->leaves; i++)
			out[at++] = pctl_wgsl_leaf(a, i);
}

static int is_wide(uint32_t scalar)
{
	return scalar == PCTL_SCALAR_I64 || scalar == PCTL_SCALAR_U64;
}

static void convert(struct wgsl *c, struct expr *e, const struct type *t)
{
	struct compose x = {.c = c, .way = COMPOSE_CONST};
	struct expr *a = e->a;
	uint32_t from, i;
	uint64_t *out;

	e->call = CALL_CONVERT;
	from = pctl_wgsl_scalar_of(a->type);
	if (pctl_wgsl_is_abstract(a->type) && pctl_wgsl_can_coerce(a, t)) {
		/* A constant must fit. */
		if (!pctl_wgsl_coerce(c, a, t, "the value")) {
			pctl_wgsl_set_error(c, e);
			return;
		}
		from = t->scalar;
	} else if (pctl_wgsl_is_float(from) != pctl_wgsl_is_float(t->scalar) &&
		   (is_wide(from) || is_wide(t->scalar)) && from != PCTL_SCALAR_F64 &&
		   t->scalar != PCTL_SCALAR_F64) {
		pctl_wgsl_error(c, PC2221_WGSL_WIDE_FLOAT, e->pos, e->end,
				PCTL_WGSL_HAS_F64(c->options->flags)
					? "convert through i32, u32 or f64"
					: "convert through i32 or u32",
				"there is no conversion from %s to %s",
				pctl_wgsl_type_name(c, a->type), pctl_wgsl_type_name(c, t));
		pctl_wgsl_set_error(c, e);
		return;
	}
	e->type = t;
	e->stage = a->stage;
	if (a->stage != STAGE_CONST)
		return;
	if (pctl_wgsl_is_float(from) || pctl_wgsl_is_float(t->scalar)) {
		if (from == t->scalar)
			e->leaf = a->leaf;
		else
			pctl_wgsl_keep(&x, e, pctl_wgsl_float_cast(&x, t, pctl_wgsl_val(&x, a)));
		pctl_wgsl_check_finite(c, e);
		return;
	}
	out = pctl_wgsl_set_leaves(c, e, t, t->leaves);
	for (i = 0; i < t->leaves; i++)
		out[i] = pctl_wgsl_eval_cast(from, t->scalar, pctl_wgsl_leaf(a, i));
}

static void wrong(struct wgsl *c, struct expr *e, const struct type *t, const char *expected)
{
	pctl_wgsl_error(c, PC2406_WGSL_ARGUMENTS, e->pos, e->end, NULL,
			"%s is made from %s, found (%s)", pctl_wgsl_type_name(c, t), expected,
			pctl_wgsl_argument_types(c, e));
	pctl_wgsl_set_error(c, e);
}

/* Each argument to the type part(i) of the constructed one. */
static int coerce_parts(struct wgsl *c, struct expr *e, const struct type *t)
{
	struct expr *a;
	uint32_t i = 0;

	for (a = e->a; a; a = a->next, i++) {
		const char *what =
			t->kind == TY_STRUCT
				? pctl_wgsl_format(c, "member \"%s\"",
						   pctl_wgsl_sym_text(c, t->structure->at[i]->sym))
				: "this element";

		if (!pctl_wgsl_coerce(c, a, pctl_wgsl_part(t, i), what))
			return 0;
	}
	return 1;
}

static void construct_vector(struct wgsl *c, struct expr *e, const struct type *t)
{
	struct expr *a;
	uint32_t n = 0;

	if (e->n_args == 1 && e->a->type->kind == TY_VECTOR && e->a->type->width == t->width) {
		convert(c, e, t);
		return;
	}
	for (a = e->a; a; a = a->next) {
		n += pctl_wgsl_width(a->type) ? pctl_wgsl_width(a->type) : 5;
		if (pctl_wgsl_width(a->type) &&
		    !pctl_wgsl_coerce(c, a, pctl_wgsl_with_scalar(c, a->type, t->scalar),
				      "this component")) {
			pctl_wgsl_set_error(c, e);
			return;
		}
	}
	if (n != t->width && !(n == 1 && e->n_args == 1)) {
		wrong(c, e, t, pctl_wgsl_format(c, "one scalar or %u components", t->width));
		return;
	}
	e->type = t;
	fold_construct(c, e);
}

static void construct_matrix(struct wgsl *c, struct expr *e, const struct type *t)
{
	const struct type *part;
	struct expr *a;

	if (e->n_args == 1 && e->a->type->kind == TY_MATRIX && e->a->type->columns == t->columns &&
	    e->a->type->width == t->width) {
		convert(c, e, t);
		return;
	}
	part = e->n_args == t->columns ? t->elem : t->elem->elem;
	if (e->n_args != t->columns && e->n_args != t->leaves) {
		wrong(c, e, t,
		      pctl_wgsl_format(c, "%u columns or %u scalars", t->columns, t->leaves));
		return;
	}
	for (a = e->a; a; a = a->next)
		if (!pctl_wgsl_coerce(c, a, part, "this part")) {
			pctl_wgsl_set_error(c, e);
			return;
		}
	e->type = t;
	fold_construct(c, e);
}

void pctl_wgsl_check_construct(struct wgsl *c, struct expr *e, const struct type *t)
{
	int ok = check_args(c, e);

	e->call = CALL_CONSTRUCT;
	e->type = t;
	if (!ok || t->kind == TY_ERROR) {
		pctl_wgsl_set_error(c, e);
		return;
	}
	if (!t->plain) {
		pctl_wgsl_error(c, PC2404_WGSL_TYPE, e->pos, e->end, NULL,
				"values of %s cannot be made", pctl_wgsl_type_name(c, t));
		pctl_wgsl_set_error(c, e);
		return;
	}
	if (!e->n_args) {
		e->call = CALL_ZERO;
		e->stage = t->kind == TY_TILE ? STAGE_RUNTIME : STAGE_CONST;
		return;
	}
	switch (t->kind) {
	case TY_SCALAR:
		if (e->n_args != 1 || e->a->type->kind != TY_SCALAR)
			wrong(c, e, t, "one scalar");
		else
			convert(c, e, t);
		return;
	case TY_VECTOR:
		construct_vector(c, e, t);
		return;
	case TY_MATRIX:
		construct_matrix(c, e, t);
		return;
	default:
		if (e->n_args != pctl_wgsl_parts(t)) {
			pctl_wgsl_error(c, PC2406_WGSL_ARGUMENTS, e->pos, e->end, NULL,
					"%s is made from %u values, found %u",
					pctl_wgsl_type_name(c, t), pctl_wgsl_parts(t), e->n_args);
			pctl_wgsl_set_error(c, e);
		} else if (!coerce_parts(c, e, t)) {
			pctl_wgsl_set_error(c, e);
		} else {
			fold_construct(c, e);
		}
	}
}

int pctl_wgsl_unify(struct wgsl *c, struct expr *first, uint32_t *scalar)
{
	struct expr *a;

	*scalar = SCALAR_ABSTRACT;
	for (a = first; a; a = a->next) {
		uint32_t s = pctl_wgsl_scalar_of(a->type);

		if (s == SCALAR_ABSTRACT_FLOAT)
			*scalar = s;
		else if (s != SCALAR_ABSTRACT) {
			*scalar = s;
			break;
		}
	}
	for (a = first; a; a = a->next)
		if (pctl_wgsl_is_abstract(a->type) && pctl_wgsl_scalar_of(a->type) != *scalar &&
		    pctl_wgsl_is_number(*scalar) &&
		    !pctl_wgsl_coerce(c, a, pctl_wgsl_with_scalar(c, a->type, *scalar),
				      "this argument"))
			return 0;
	return 1;
}

static void infer_array(struct wgsl *c, struct expr *e)
{
	const struct type *elem = e->a ? e->a->type : NULL;
	struct expr *a;
	uint32_t scalar;

	if (!elem) {
		pctl_wgsl_error(c, PC2406_WGSL_ARGUMENTS, e->pos, e->end,
				"write array<TYPE, COUNT>()",
				"array() without elements has no type");
		pctl_wgsl_set_error(c, e);
		return;
	}
	if (!pctl_wgsl_unify(c, e->a, &scalar)) {
		pctl_wgsl_set_error(c, e);
		return;
	}
	elem = e->a->type;
	for (a = e->a; a; a = a->next)
		if (a->type != elem || !elem->plain) {
			pctl_wgsl_error(c, PC2404_WGSL_TYPE, a->pos, a->end, NULL,
					"this element is %s, the first is %s",
					pctl_wgsl_type_name(c, a->type),
					pctl_wgsl_type_name(c, elem));
			pctl_wgsl_set_error(c, e);
			return;
		}
	if (elem->nesting >= WGSL_MAX_COMPOSITE ||
	    (!pctl_wgsl_is_abstract(elem) &&
	     pctl_wgsl_stride_of(c, elem) * e->n_args > WGSL_MAX_TYPE_BYTES)) {
		pctl_wgsl_error(c, PC2436_WGSL_TYPE_SIZE, e->pos, e->end, NULL,
				"this array is too large");
		pctl_wgsl_set_error(c, e);
		return;
	}
	e->type = pctl_wgsl_array(c, elem, e->n_args, NULL);
	fold_construct(c, e);
	if (pctl_wgsl_is_abstract(e->type) && e->stage != STAGE_CONST)
		pctl_wgsl_settle(c, e);
}

void pctl_wgsl_check_infer(struct wgsl *c, struct expr *e, const struct builtin *b)
{
	const struct type *t = NULL;
	uint32_t scalar;

	e->call = CALL_CONSTRUCT;
	if (!check_args(c, e)) {
		pctl_wgsl_set_error(c, e);
		return;
	}
	if (b->kind == BUILTIN_ARRAY) {
		infer_array(c, e);
		return;
	}
	if (!pctl_wgsl_unify(c, e->a, &scalar)) {
		pctl_wgsl_set_error(c, e);
		return;
	}
	/* WGSL knows matrices of floats only; ours of integers are written with their type. */
	if (b->kind == BUILTIN_MATRIX && scalar == SCALAR_ABSTRACT &&
	    !(c->options->flags & PCTL_WGSL_CONSENSUS))
		scalar = SCALAR_ABSTRACT_FLOAT;
	if (b->kind == BUILTIN_VECTOR && scalar)
		t = pctl_wgsl_vector(c, scalar, b->arg);
	else if (b->kind == BUILTIN_MATRIX && pctl_wgsl_is_number(scalar))
		t = pctl_wgsl_matrix(c, scalar, b->arg / 8, b->arg % 8);
	if (t)
		pctl_wgsl_check_construct(c, e, t);
	else
		pctl_wgsl_wrong_arguments(c, e, "numbers");
	if (!t)
		pctl_wgsl_set_error(c, e);
}
