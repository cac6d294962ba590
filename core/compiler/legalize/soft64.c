/* Native operations on f64 where the device's own are not exact: calls of soft doubles. The pairs of
 * words themselves are the wide pass's. */
#include "compiler/legalize/legal_parts.h"

static const struct {
	uint16_t op;
	uint8_t result, operand;
	const char *function;
} rows[] = {
#define LEGAL_SOFT64(NAME, op, result, operand, function) \
	{PCTL_OP_##op, PCTL_SCALAR_##result, PCTL_SCALAR_##operand, function},
#include "compiler/legalize/soft64.def"
#undef LEGAL_SOFT64
};

const char *legal_soft64_name(uint32_t form)
{
	return rows[form].function;
}

static uint16_t base_of(uint16_t op)
{
	switch (op) {
	case PCTL_OP_NNE:
		return PCTL_OP_NEQ;
	case PCTL_OP_NGT:
		return PCTL_OP_NLT;
	case PCTL_OP_NGE:
		return PCTL_OP_NLE;
	default:
		return op;
	}
}

static uint32_t find(uint16_t op, uint8_t result, uint8_t operand)
{
	uint32_t i = 0;

	while (i < LEGAL_N_SOFT &&
	       (rows[i].op != op || rows[i].result != result || rows[i].operand != operand))
		i++;
	return i;
}

uint32_t legal_soft64_form(const legal *l, const pctl_inst *in)
{
	uint8_t result, operand;

	if (!PCTL_IS_NATIVE(in->op))
		return LEGAL_N_SOFT;
	result = l->p->types[in->type].scalar;
	operand = l->p->types[pctl_value_type(l->p, l->fn, pctl_arg(l->p, in, 0))].scalar;
	if (!(l->int64_scalars & (1u << PCTL_SCALAR_F64)) ||
	    (result != PCTL_SCALAR_F64 && operand != PCTL_SCALAR_F64))
		return LEGAL_N_SOFT;
	return find(base_of(in->op), result, operand);
}

static uint32_t sign_bit(legal *l, uint16_t op, uint32_t x, uint32_t mask)
{
	const uint32_t low = legal_low(l, x), high = legal_high(l, x), k = legal_word(l, mask);

	return legal_pair(l, low, legal_emit2(l, op, l->t_u32, high, k));
}

uint32_t legal_soft64_op(legal *l, uint16_t op, const uint32_t *args)
{
	uint32_t words[4] = {0}, form, type, id;

	if (op == PCTL_OP_NNEG)
		return sign_bit(l, PCTL_OP_XOR, args[0], 0x80000000u);
	if (op == PCTL_OP_NABS)
		return sign_bit(l, PCTL_OP_AND, args[0], 0x7fffffffu);
	type = op >= PCTL_OP_NEQ && op <= PCTL_OP_NGE ? l->t_bool : l->t_u2;
	form = find(base_of(op), type == l->t_bool ? PCTL_SCALAR_BOOL : PCTL_SCALAR_F64,
		    PCTL_SCALAR_F64);
	if (form == LEGAL_N_SOFT) {
		l->status = pctl_refuse(l->call, PC2501_LEGAL_CAPABILITY,
					"%s of 64-bit floats has no exact integer form",
					pctl_op_get(op)->name);
		return 0;
	}
	words[0] = l->int64->soft[form];
	for (uint32_t i = 0; i < 3; i++)
		words[i + 1] = args[i];
	if (op == PCTL_OP_NGT || op == PCTL_OP_NGE) {
		words[1] = args[1];
		words[2] = args[0];
	}
	id = legal_emit(l, PCTL_OP_CALL, type, words,
			1 + (op == PCTL_OP_NFMA		? 3u
			     : pctl_op_get(op)->args[1] ? 2u
							: 1u));
	return op == PCTL_OP_NNE ? legal_emit1(l, PCTL_OP_NOT, l->t_bool, id) : id;
}

uint32_t legal_soft64_convert(legal *l, uint8_t result, uint8_t operand, uint32_t x)
{
	const uint32_t form = find(PCTL_OP_NCONVERT, result, operand);
	uint32_t type = l->t_u2, id;

	if (result == operand)
		return x;
	if (form == LEGAL_N_SOFT) {
		l->status = pctl_refuse(l->call, PC2501_LEGAL_CAPABILITY,
					"the conversion of %s to %s has no exact integer form",
					pctl_scalar_name(operand), pctl_scalar_name(result));
		return 0;
	}
	if (operand == PCTL_SCALAR_F32)
		x = legal_emit1(l, PCTL_OP_BITCAST, l->t_u32, x);
	if (result != PCTL_SCALAR_F64)
		type = result == PCTL_SCALAR_I32 ? l->t_i32 : l->t_u32;
	id = legal_emit2(l, PCTL_OP_CALL, type, l->int64->soft[form], x);
	if (result != PCTL_SCALAR_F32)
		return id;
	type = pctl_build_scalar(l->b, PCTL_SCALAR_F32);
	return legal_emit1(l, PCTL_OP_BITCAST, type, id);
}
