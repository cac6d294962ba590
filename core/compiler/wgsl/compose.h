/* Float operators and builtins as sequences of opcodes, each sequence written once and carried out
 * in one of three ways: on constants while checking, as code of function `spec`, as code of a
 * function. */
#ifndef PIPECTL_COMPILER_WGSL_COMPOSE_H
#define PIPECTL_COMPILER_WGSL_COMPOSE_H

#include "compiler/wgsl/lower.h"

enum compose_way { COMPOSE_CONST, COMPOSE_SPEC, COMPOSE_CODE };

struct compose {
	struct wgsl *c;
	struct lower *l; /* COMPOSE_CODE */
	uint32_t way;
	uint32_t special; /* COMPOSE_CONST: a step gave an infinity or a NaN */
};

/* A value on its way: leaf (NULL: zero) for constants, else value; in `spec` parts, the scalars of what
 * has several. */
struct val {
	const struct type *t;
	const uint64_t *leaf;
	const uint32_t *parts;
	uint32_t value;
};

/* ---- compose.c: single steps ---- */
/* An opcode with operands of one shape; strict ones become native in native mode. */
struct val pctl_wgsl_op(struct compose *x, uint16_t op, const struct type *t,
			const struct val *args, uint32_t n);
struct val pctl_wgsl_op1(struct compose *x, uint16_t op, struct val a);
struct val pctl_wgsl_op2(struct compose *x, uint16_t op, struct val a, struct val b);
struct val pctl_wgsl_op3(struct compose *x, uint16_t op, struct val a, struct val b, struct val d);
/* a < b and the like: bool of the shape. */
struct val pctl_wgsl_test(struct compose *x, uint16_t op, struct val a, struct val b);
struct val pctl_wgsl_select(struct compose *x, struct val condition, struct val yes, struct val no);
/* At most four parts. */
struct val pctl_wgsl_construct(struct compose *x, const struct type *t, const struct val *parts,
			       uint32_t n);
/* Of another type: FCONVERT, CAST, BITCAST of the same number of components. */
struct val pctl_wgsl_convert(struct compose *x, uint16_t op, const struct type *t, struct val a);
/* A constant in every component. */
struct val pctl_wgsl_float(struct compose *x, const struct type *t, double v);
struct val pctl_wgsl_int(struct compose *x, const struct type *t, uint64_t v);
struct val pctl_wgsl_splat(struct compose *x, const struct type *vector, struct val scalar);
struct val pctl_wgsl_component(struct compose *x, struct val whole, uint32_t i);
/* An expression's value: its constant or what it is lowered to. */
struct val pctl_wgsl_val(struct compose *x, struct expr *e);
/* v * 2^e of abstract constants, one rounding. */
struct val pctl_wgsl_scale(struct compose *x, struct val v, struct val e);
/* The value of a constant expression, and the end of what was needed for it. */
void pctl_wgsl_keep(struct compose *x, struct expr *e, struct val v);
/* The bits of a value in another shape of as many, which must not be bool. */
void pctl_wgsl_recast(const struct type *from, const uint64_t *leaf, const struct type *to,
		      uint64_t *out);

/* A value of `spec` from the ids of its scalars. */
struct val pctl_wgsl_of_parts(const struct type *t, const uint32_t *parts);

/* ---- lower_spec.c: the value of an expression of overrides ---- */
struct val pctl_wgsl_spec(struct compose *x, struct expr *e);

/* ---- compose_operator.c ---- */
struct val pctl_wgsl_float_operator(struct compose *x, uint32_t op, const struct type *t,
				    struct val a, struct val b);
/* T(a) where floats are on one side at least. */
struct val pctl_wgsl_float_cast(struct compose *x, const struct type *t, struct val a);
struct val pctl_wgsl_float_dot(struct compose *x, struct val a, struct val b);

/* ---- compose_builtin.c ---- */
struct val pctl_wgsl_float_call(struct compose *x, const struct builtin *b, const struct type *t,
				const struct val *args);

#endif
