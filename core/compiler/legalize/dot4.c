/* Products of packed bytes on a device whose own instruction for them was not shown to be right: bits taken out, multiplied
 * and added, in 32-bit integers. On a device that claims no such instruction they stay, for its backend writes them so. */
#include "compiler/legalize/legal_parts.h"

int pctl_legal_has_dot4(const pctl_program *p)
{
	for (uint32_t i = 0; i < p->n_insts; i++)
		if (p->insts[i].op == PCTL_OP_DOT4_I8 || p->insts[i].op == PCTL_OP_DOT4_U8)
			return 1;
	return 0;
}

/* Byte k of a word, sign-extended where the type is i32. */
static uint32_t byte_of(legal *l, uint32_t type, uint32_t word, uint32_t k)
{
	const uint32_t offset = legal_word(l, 8 * k), count = legal_word(l, 8);

	return legal_emit3(l, PCTL_OP_EXTRACT_BITS, type, word, offset, count);
}

static void instruction(legal *l, uint32_t v, const pctl_inst *in)
{
	const int is_signed = in->op == PCTL_OP_DOT4_I8;
	uint32_t type, word[2], x, y, product, sum = 0;

	if (!is_signed && in->op != PCTL_OP_DOT4_U8) {
		legal_int64_rules.instruction(l, v, in);
		return;
	}
	type = is_signed ? l->t_i32 : l->t_u32;
	for (uint32_t i = 0; i < 2; i++) {
		word[i] = l->values[pctl_arg(l->p, in, i)].id[0];
		if (is_signed)
			word[i] = legal_emit1(l, PCTL_OP_BITCAST, type, word[i]);
	}
	for (uint32_t k = 0; k < 4; k++) {
		x = byte_of(l, type, word[0], k);
		y = byte_of(l, type, word[1], k);
		product = legal_emit2(l, PCTL_OP_MUL, type, x, y);
		sum = k == 0 ? product : legal_emit2(l, PCTL_OP_ADD, type, sum, product);
	}
	l->values[v].id[0] = sum;
}

pctl_status legal_dot4_pass(const pctl_program *p, const pctl_call *call, pctl_program **out)
{
	legal_rules rules = legal_int64_rules;
	struct legal_int64 none = {.source = p};
	legal l = {.call = call, .int64 = &none};

	rules.instruction = instruction;
	return legal_rebuild(&l, p, &rules, 0, NULL, out);
}
