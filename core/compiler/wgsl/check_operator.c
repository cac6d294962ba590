/* Operators: which types they take and give, and their value on constants. */
#include "compiler/wgsl/compose.h"
#include "compiler/wgsl/float.h"

static const char *op_text(uint32_t op)
{
	return pctl_wgsl_token_text(op);
}

static int is_shift(uint32_t op)
{
	return op == T_SHL || op == T_SHR;
}

static int is_arithmetic(uint32_t op)
{
	return op == T_PLUS || op == T_MINUS || op == T_STAR || op == T_SLASH || op == T_PERCENT;
}

static void no_operator(struct wgsl *c, uint32_t op, const struct expr *a, const struct expr *b,
			uint32_t pos, uint32_t end)
{
	uint32_t sa = pctl_wgsl_scalar_of(a->type), sb = pctl_wgsl_scalar_of(b->type);
	const char *hint = NULL;

	if (is_shift(op))
		hint = "the amount is a u32, or a vector of u32 of the same width";
	else if (sa != sb && pctl_wgsl_is_number(sa) && pctl_wgsl_is_number(sb) &&
		 a->type->kind == TY_SCALAR && b->type->kind == TY_SCALAR)
		hint = pctl_wgsl_format(c, "convert one side, as in %s(..)",
					pctl_wgsl_type_name(c, pctl_wgsl_is_abstract_scalar(sa)
								       ? b->type
								       : a->type));
	pctl_wgsl_error(c, PC2405_WGSL_OPERATOR, pos, end, hint, "%s does not take %s and %s",
			op_text(op), pctl_wgsl_type_name(c, a->type),
			pctl_wgsl_type_name(c, b->type));
}

/* Bring an abstract side to the other side's scalar; for anything else leave it to the caller. */
static int meet(struct wgsl *c, struct expr *a, struct expr *b)
{
	uint32_t sa = pctl_wgsl_scalar_of(a->type), sb = pctl_wgsl_scalar_of(b->type);

	if (sa != sb && pctl_wgsl_yields_to(a->type, sb))
		return pctl_wgsl_coerce(c, a, pctl_wgsl_with_scalar(c, a->type, sb),
					"this operand");
	if (sa != sb && pctl_wgsl_yields_to(b->type, sa))
		return pctl_wgsl_coerce(c, b, pctl_wgsl_with_scalar(c, b->type, sa),
					"this operand");
	return 1;
}

static const struct type *arithmetic(struct wgsl *c, uint32_t op, const struct type *a,
				     const struct type *b)
{
	uint32_t wa = pctl_wgsl_width(a), wb = pctl_wgsl_width(b), s = pctl_wgsl_scalar_of(a);

	if (s != pctl_wgsl_scalar_of(b) || !pctl_wgsl_is_number(s) || a->kind == TY_ARRAY ||
	    b->kind == TY_ARRAY)
		return NULL;
	if (wa && wb)
		return wa == wb || wb == 1 ? a : wa == 1 ? b : NULL;
	if (op == T_PLUS || op == T_MINUS)
		return a == b ? a : NULL;
	if (op != T_STAR)
		return NULL;
	if (wa == 1)
		return b;
	if (wb == 1)
		return a;
	if (wa) /* row vector times matrix */
		return wa == b->width ? pctl_wgsl_vector(c, s, b->columns) : NULL;
	if (wb)
		return wb == a->columns ? pctl_wgsl_vector(c, s, a->width) : NULL;
	return a->columns == b->width ? pctl_wgsl_matrix(c, s, b->columns, a->width) : NULL;
}

static const struct type *result_type(struct wgsl *c, uint32_t op, const struct type *a,
				      const struct type *b)
{
	uint32_t wa = pctl_wgsl_width(a), wb = pctl_wgsl_width(b);
	uint32_t sa = pctl_wgsl_scalar_of(a), sb = pctl_wgsl_scalar_of(b);

	if (is_arithmetic(op))
		return arithmetic(c, op, a, b);
	if (!wa || wa != wb)
		return NULL;
	if (is_shift(op))
		return pctl_wgsl_is_integer(sa) && sb == PCTL_SCALAR_U32 ? a : NULL;
	if (sa != sb)
		return NULL;
	switch (op) {
	case T_ANDAND:
	case T_OROR:
		return sa == PCTL_SCALAR_BOOL && wa == 1 ? a : NULL;
	case T_AND:
	case T_OR:
		return pctl_wgsl_is_float(sa) ? NULL : a;
	case T_XOR:
		return pctl_wgsl_is_integer(sa) ? a : NULL;
	case T_EQEQ:
	case T_NE:
		return pctl_wgsl_shape(c, PCTL_SCALAR_BOOL, wa);
	default:
		return sa != PCTL_SCALAR_BOOL ? pctl_wgsl_shape(c, PCTL_SCALAR_BOOL, wa) : NULL;
	}
}

/* Rules that bind when only the right side is constant. 1 when it keeps them. */
static int check_right(struct wgsl *c, uint32_t op, const struct type *left, const struct expr *b)
{
	uint32_t i, scalar = pctl_wgsl_scalar_of(left);
	uint32_t bits = scalar == PCTL_SCALAR_I32 || scalar == PCTL_SCALAR_U32 ? 32 : 64;

	if (c->quiet || b->stage != STAGE_CONST || pctl_wgsl_is_float(scalar) ||
	    !(is_shift(op) || op == T_SLASH || op == T_PERCENT))
		return 1;
	for (i = 0; i < b->type->leaves; i++) {
		uint64_t v = pctl_wgsl_leaf(b, i);
		uint32_t code = is_shift(op) ? (v >= bits ? PC2409_WGSL_CONST_SHIFT : 0)
				: !v	     ? PC2408_WGSL_CONST_DIVISION
					     : 0;

		if (code) {
			pctl_wgsl_eval_error(c, code, scalar, b->pos, b->end);
			return 0;
		}
	}
	return 1;
}

const struct type *pctl_wgsl_operator_type(struct wgsl *c, uint32_t op, struct expr *a,
					   struct expr *b, uint32_t pos, uint32_t end)
{
	const struct type *t;

	if (pctl_wgsl_is_error(a) || pctl_wgsl_is_error(b))
		return NULL;
	if (is_shift(op)) {
		if (pctl_wgsl_is_abstract(b->type) && pctl_wgsl_width(b->type) &&
		    !pctl_wgsl_coerce(c, b, pctl_wgsl_with_scalar(c, b->type, PCTL_SCALAR_U32),
				      "the shift amount"))
			return NULL;
		if (pctl_wgsl_is_late(c, b) && !pctl_wgsl_settle(c, a))
			return NULL;
	} else if (!meet(c, a, b)) {
		return NULL;
	}
	t = result_type(c, op, a->type, b->type);
	if (!t) {
		no_operator(c, op, a, b, pos, end);
		return NULL;
	}
	return check_right(c, op, a->type, b) ? t : NULL;
}

static uint64_t matrix_leaf(const struct expr *e, uint32_t column, uint32_t row)
{
	return pctl_wgsl_leaf(e, column * e->type->width + row);
}

/* Products with a matrix in them, exactly, then checked step by step like any other sum of
 * products. */
static uint32_t eval_product(const struct wgsl *c, const struct expr *a, const struct expr *b,
			     uint32_t scalar, const struct type *t, uint64_t *out)
{
	uint32_t columns = b->type->kind == TY_MATRIX ? b->type->columns : 1;
	uint32_t rows = a->type->kind == TY_MATRIX ? a->type->width : 1;
	uint32_t inner = b->type->width, i, k, m, code = 0;

	(void)t;
	for (i = 0; i < columns && !code; i++)
		for (k = 0; k < rows && !code; k++) {
			uint64_t sum = 0, product;

			for (m = 0; m < inner && !code; m++) {
				uint64_t x = a->type->kind == TY_MATRIX ? matrix_leaf(a, m, k)
									: pctl_wgsl_leaf(a, m);
				uint64_t y = pctl_wgsl_leaf(b, i * inner + m);

				code = pctl_wgsl_eval_binary(c, T_STAR, scalar, x, y, &product);
				if (!code)
					code = pctl_wgsl_eval_binary(c, T_PLUS, scalar, sum,
								     product, &sum);
			}
			out[i * rows + k] = sum;
		}
	return code;
}

static void eval(struct wgsl *c, struct expr *e, const struct type *t)
{
	const struct expr *a = e->a, *b = e->b;
	struct compose x = {.c = c, .way = COMPOSE_CONST};
	uint32_t scalar = pctl_wgsl_scalar_of(a->type), i, code = 0;
	uint64_t *out = pctl_wgsl_set_leaves(c, e, t, t->leaves);
	int is_product = e->op == T_STAR &&
			 (a->type->kind == TY_MATRIX || b->type->kind == TY_MATRIX) &&
			 a->type->leaves > 1 && b->type->leaves > 1;

	if (pctl_wgsl_is_float(scalar)) {
		pctl_wgsl_keep(&x, e,
			       pctl_wgsl_float_operator(&x, e->op, t, pctl_wgsl_val(&x, e->a),
							pctl_wgsl_val(&x, e->b)));
		pctl_wgsl_check_finite(c, e);
		return;
	}
	if (is_product)
		code = eval_product(c, a, b, scalar, t, out);
	else
		for (i = 0; i < t->leaves && !code; i++)
			code = pctl_wgsl_eval_binary(
				c, e->op, scalar, pctl_wgsl_leaf(a, a->type->leaves == 1 ? 0 : i),
				pctl_wgsl_leaf(b, b->type->leaves == 1 ? 0 : i), &out[i]);
	if (code) {
		pctl_wgsl_eval_error(c, code, scalar, e->pos, e->end);
		if (!c->quiet)
			pctl_wgsl_set_error(c, e);
	}
}

void pctl_wgsl_check_binary(struct wgsl *c, struct expr *e)
{
	const struct type *t;
	int dead;

	pctl_wgsl_check_value(c, e->a);
	/* The right side of && and || is not evaluated when a constant left side decides. */
	dead = (e->op == T_ANDAND || e->op == T_OROR) && !pctl_wgsl_is_error(e->a) &&
	       e->a->stage == STAGE_CONST && e->a->type->scalar == PCTL_SCALAR_BOOL &&
	       pctl_wgsl_leaf(e->a, 0) == (e->op == T_OROR);
	c->quiet += (uint32_t)dead;
	pctl_wgsl_check_value(c, e->b);
	c->quiet -= (uint32_t)dead;
	t = pctl_wgsl_operator_type(c, e->op, e->a, e->b, e->pos, e->end);
	if (!t) {
		pctl_wgsl_set_error(c, e);
		return;
	}
	e->type = t;
	e->stage = e->a->stage > e->b->stage ? e->a->stage : e->b->stage;
	if (dead && e->stage == STAGE_CONST) {
		*pctl_wgsl_set_leaves(c, e, t, 1) = e->op == T_OROR;
	} else if (e->stage == STAGE_CONST) {
		eval(c, e, t);
	}
}

void pctl_wgsl_check_unary(struct wgsl *c, struct expr *e)
{
	const struct type *t = pctl_wgsl_check_value(c, e->a);
	uint32_t scalar = pctl_wgsl_scalar_of(t), i, code = 0;
	uint64_t *out;
	int ok;

	if (t->kind == TY_ERROR) {
		pctl_wgsl_set_error(c, e);
		return;
	}
	ok = e->op == T_BANG	? scalar == PCTL_SCALAR_BOOL
	     : e->op == T_TILDE ? pctl_wgsl_is_integer(scalar)
				: pctl_wgsl_is_number(scalar) && scalar != PCTL_SCALAR_U32 &&
					  scalar != PCTL_SCALAR_U64;
	if (!ok || !pctl_wgsl_width(t)) {
		pctl_wgsl_error(c, PC2405_WGSL_OPERATOR, e->pos, e->end,
				e->op == T_MINUS && pctl_wgsl_is_integer(scalar)
					? "write 0u - x to wrap"
				: e->op == T_TILDE && scalar == PCTL_SCALAR_BOOL ? "use !"
										 : NULL,
				"%s does not take %s", op_text(e->op), pctl_wgsl_type_name(c, t));
		pctl_wgsl_set_error(c, e);
		return;
	}
	e->type = t;
	e->stage = e->a->stage;
	if (e->stage != STAGE_CONST)
		return;
	out = pctl_wgsl_set_leaves(c, e, t, t->leaves);
	for (i = 0; i < t->leaves && pctl_wgsl_is_float(scalar); i++)
		out[i] = pctl_wgsl_float_eval(PCTL_OP_FNEG, scalar,
					      &(uint64_t){pctl_wgsl_leaf(e->a, i)});
	if (pctl_wgsl_is_float(scalar))
		return;
	for (i = 0; i < t->leaves && !code; i++)
		code = pctl_wgsl_eval_unary(c, e->op, scalar, pctl_wgsl_leaf(e->a, i), &out[i]);
	if (code) {
		pctl_wgsl_eval_error(c, code, scalar, e->pos, e->end);
		if (!c->quiet)
			pctl_wgsl_set_error(c, e);
	}
}
