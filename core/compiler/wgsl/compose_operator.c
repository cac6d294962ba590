/* Float operators and conversions as sequences of opcodes, in the order semantics section 3 gives. */
#include "compiler/wgsl/compose.h"
#include "compiler/wgsl/float.h"

static uint16_t opcode(uint32_t op)
{
	switch (op) {
	case T_PLUS:
		return PCTL_OP_FADD;
	case T_MINUS:
		return PCTL_OP_FSUB;
	case T_STAR:
		return PCTL_OP_FMUL;
	case T_SLASH:
		return PCTL_OP_FDIV;
	case T_EQEQ:
		return PCTL_OP_FEQ;
	case T_NE:
		return PCTL_OP_FNE;
	case T_LT:
		return PCTL_OP_FLT;
	case T_LE:
		return PCTL_OP_FLE;
	case T_GT:
		return PCTL_OP_FGT;
	default:
		return PCTL_OP_FGE;
	}
}

/* x - y * trunc(x / y) */
static struct val remainder_of(struct compose *x, struct val a, struct val b)
{
	struct val q = pctl_wgsl_op2(x, PCTL_OP_FDIV, a, b);

	q = pctl_wgsl_op1(x, PCTL_OP_FTRUNC, q);
	return pctl_wgsl_op2(x, PCTL_OP_FSUB, a, pctl_wgsl_op2(x, PCTL_OP_FMUL, b, q));
}

/* Scalars and vectors; a scalar is spread when it meets a vector. */
static struct val elementwise(struct compose *x, uint32_t op, const struct type *t, struct val a,
			      struct val b)
{
	const struct type *wide = a.t->kind == TY_VECTOR ? a.t : b.t;
	struct val args[2];

	a = pctl_wgsl_splat(x, wide, a);
	b = pctl_wgsl_splat(x, wide, b);
	if (op == T_PERCENT)
		return remainder_of(x, a, b);
	args[0] = a;
	args[1] = b;
	return pctl_wgsl_op(x, opcode(op), t, args, 2);
}

struct val pctl_wgsl_float_dot(struct compose *x, struct val a, struct val b)
{
	struct val products = pctl_wgsl_op2(x, PCTL_OP_FMUL, a, b);
	struct val sum = pctl_wgsl_component(x, products, 0);
	uint32_t i;

	for (i = 1; i < a.t->width; i++)
		sum = pctl_wgsl_op2(x, PCTL_OP_FADD, sum, pctl_wgsl_component(x, products, i));
	return sum;
}

/* Row by row a dot product from the left: all rows at once, column after column. */
static struct val matrix_vector(struct compose *x, struct val m, struct val v)
{
	struct val sum = {.t = NULL}, product;
	uint32_t i;

	for (i = 0; i < m.t->columns; i++) {
		product =
			pctl_wgsl_op2(x, PCTL_OP_FMUL, pctl_wgsl_component(x, m, i),
				      pctl_wgsl_splat(x, m.t->elem, pctl_wgsl_component(x, v, i)));
		sum = i ? pctl_wgsl_op2(x, PCTL_OP_FADD, sum, product) : product;
	}
	return sum;
}

static struct val product(struct compose *x, const struct type *t, struct val a, struct val b)
{
	struct val parts[4];
	uint32_t i;

	if (b.t->kind == TY_VECTOR)
		return matrix_vector(x, a, b);
	for (i = 0; i < b.t->columns; i++) {
		struct val column = pctl_wgsl_component(x, b, i);

		parts[i] = a.t->kind == TY_VECTOR ? pctl_wgsl_float_dot(x, a, column)
						  : matrix_vector(x, a, column);
	}
	return pctl_wgsl_construct(x, t, parts, b.t->columns);
}

struct val pctl_wgsl_float_operator(struct compose *x, uint32_t op, const struct type *t,
				    struct val a, struct val b)
{
	struct val parts[4];
	uint32_t i;

	if (a.t->kind != TY_MATRIX && b.t->kind != TY_MATRIX)
		return elementwise(x, op, t, a, b);
	if (op == T_STAR && a.t->kind != TY_SCALAR && b.t->kind != TY_SCALAR)
		return product(x, t, a, b);
	for (i = 0; i < t->columns; i++)
		parts[i] = elementwise(x, op, t->elem,
				       a.t->kind == TY_MATRIX ? pctl_wgsl_component(x, a, i) : a,
				       b.t->kind == TY_MATRIX ? pctl_wgsl_component(x, b, i) : b);
	return pctl_wgsl_construct(x, t, parts, t->columns);
}

struct val pctl_wgsl_float_cast(struct compose *x, const struct type *t, struct val a)
{
	struct val parts[4];
	uint32_t i;

	if (t->kind == TY_MATRIX) {
		for (i = 0; i < t->columns; i++)
			parts[i] = pctl_wgsl_float_cast(x, t->elem, pctl_wgsl_component(x, a, i));
		return pctl_wgsl_construct(x, t, parts, t->columns);
	}
	if (t->scalar == PCTL_SCALAR_BOOL)
		return pctl_wgsl_test(x, PCTL_OP_FNE, a, pctl_wgsl_float(x, a.t, 0.0));
	if (a.t->scalar == PCTL_SCALAR_BOOL)
		return pctl_wgsl_select(x, a, pctl_wgsl_float(x, t, 1.0),
					pctl_wgsl_float(x, t, 0.0));
	return pctl_wgsl_convert(x, PCTL_OP_FCONVERT, t, a);
}
