/* Quotients and remainders of 64-bit integers on a device that has these but must not divide them: calls of the forms
 * of their own (softfloat/int64.wgsl). In a kernel with one such division NVIDIA's Vulkan compiler (580.159) computes
 * `select(x - y, 0, x < y)` and `select(x + y, MAX, x + y < x)` of u64 wrongly; without one it was never seen to.
 * tests/differential/regressions/nvidia-saturate-u64.wgsl */
#include "compiler/legalize/legal_parts.h"

uint32_t legal_div64_form(const legal *l, const pctl_inst *in)
{
	const pctl_type *t = &l->p->types[in->type];
	const int is_signed = t->scalar == PCTL_SCALAR_I64;

	if (l->int64 == NULL || !l->int64->by_softfloat || l->is_int64[in->type] ||
	    (t->kind != PCTL_TYPE_SCALAR && t->kind != PCTL_TYPE_VECTOR) ||
	    (!is_signed && t->scalar != PCTL_SCALAR_U64))
		return LEGAL_N_INT64;
	switch (in->op) {
	case PCTL_OP_DIV:
	case PCTL_OP_DIV_WGSL:
		return is_signed ? LEGAL_DIV64_SDIV : LEGAL_DIV64_UDIV;
	case PCTL_OP_MOD:
		return is_signed ? LEGAL_DIV64_SMOD : LEGAL_DIV64_UMOD;
	default:
		return LEGAL_N_INT64;
	}
}

static uint32_t lane(legal *l, uint32_t scalar, uint32_t value, uint32_t width, uint32_t k)
{
	return width > 1 ? legal_emit2(l, PCTL_OP_EXTRACT, scalar, value, k) : value;
}

/* WGSL's quotient by 0 is the dividend. */
static uint32_t unless_zero(legal *l, uint32_t scalar, uint32_t x, uint32_t y, uint32_t q)
{
	const uint32_t zero = legal_emit(l, PCTL_OP_ZERO, scalar, NULL, 0);
	const uint32_t is_zero = legal_emit2(l, PCTL_OP_EQ, l->t_bool, y, zero);

	return legal_emit3(l, PCTL_OP_SELECT, scalar, is_zero, x, q);
}

void legal_div64_divide(legal *l, uint32_t v, const pctl_inst *in)
{
	const pctl_type *t = &l->p->types[in->type];
	const uint32_t form = l->int64->int64[legal_div64_form(l, in)];
	const uint32_t scalar = pctl_build_scalar(l->b, t->scalar);
	const uint32_t width = t->kind == PCTL_TYPE_VECTOR ? t->width : 1;
	uint32_t lanes[4] = {0};

	for (uint32_t k = 0; k < width; k++) {
		const uint32_t x =
			lane(l, scalar, l->values[pctl_arg(l->p, in, 0)].id[0], width, k);
		const uint32_t y =
			lane(l, scalar, l->values[pctl_arg(l->p, in, 1)].id[0], width, k);

		lanes[k] = legal_emit3(l, PCTL_OP_CALL, scalar, form, x, y);
		if (in->op == PCTL_OP_DIV_WGSL)
			lanes[k] = unless_zero(l, scalar, x, y, lanes[k]);
	}
	l->values[v].id[0] =
		width > 1 ? legal_emit(l, PCTL_OP_COMPOSE, legal_type(l, in->type), lanes, width)
			  : lanes[0];
}
