/* Range contracts: which variables have one, and the proof that nothing needs a guard under them. See contract.h. */
#include "compiler/legalize/contract.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "compiler/legalize/exponent_range.h"
#include "compiler/legalize/legal_parts.h"

#define DEEPEST_TYPE 16u /* what is deeper has no contract */

/* Nothing but f32 in it, so that every word of the buffer is one or padding. */
static int is_all_f32(const pctl_program *p, uint32_t type, uint32_t depth)
{
	const pctl_type *t = &p->types[type];

	switch (t->kind) {
	case PCTL_TYPE_SCALAR:
	case PCTL_TYPE_VECTOR:
		return t->scalar == PCTL_SCALAR_F32;
	case PCTL_TYPE_MATRIX:
	case PCTL_TYPE_ARRAY:
	case PCTL_TYPE_RUNTIME_ARRAY:
		return depth < DEEPEST_TYPE && is_all_f32(p, t->elem, depth + 1);
	case PCTL_TYPE_STRUCT:
		for (uint32_t i = 0; i < t->count; i++)
			if (depth == DEEPEST_TYPE ||
			    !is_all_f32(p, p->members[t->first_member + i].type, depth + 1))
				return 0;
		return 1;
	default:
		return 0;
	}
}

static int is_loaded(const pctl_program *p, uint32_t var)
{
	for (uint32_t f = 1; f < p->n_functions; f++) {
		const pctl_function *fn = &p->functions[f];

		for (uint32_t i = 0; i < fn->n_insts; i++) {
			const pctl_inst *in = &p->insts[fn->first_inst + i];
			pctl_place place;

			if (in->op == PCTL_OP_LOAD && pctl_place_get(p, fn, in, &place) &&
			    place.root == var)
				return 1;
		}
	}
	return 0;
}

uint32_t pctl_contract_vars(const pctl_program *p, uint8_t *is)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_vars; i++) {
		const pctl_var *v = &p->vars[i];
		const int has =
			(v->space == PCTL_SPACE_UNIFORM ||
			 (v->space == PCTL_SPACE_STORAGE && !(v->access & PCTL_ACCESS_WRITE))) &&
			is_all_f32(p, v->type, 0) && is_loaded(p, i);

		if (is)
			is[i] = (uint8_t)has;
		n += (uint32_t)has;
	}
	return n;
}

/* ---- the proof ------------------------------------------------------------------------------ */

/* An operation whose guard goes where no subnormal can be. */
static int is_guarded(const pctl_program *p, const pctl_function *fn, const pctl_inst *in,
		      const legal_chooser *chooser)
{
	uint32_t how, row;
	uint8_t result, operand;

	if (!PCTL_IS_STRICT(in->op))
		return 0;
	result = p->types[in->type].scalar;
	operand = p->types[pctl_value_type(p, fn, pctl_arg(p, in, 0))].scalar;
	if (legal_choose_subnormal_free(chooser, in->op, result, operand) == LEGAL_NO_ROW)
		return 0;
	row = legal_choose(chooser, in->op, result, operand, &how);
	return row != LEGAL_NO_ROW && legal_row_at(row)->kind != PCTL_FORM_NATIVE;
}

static void say(const pctl_program *p, const pctl_function *fn, uint32_t inst, const char *why,
		pctl_contract_proof *proof)
{
	const uint32_t at = fn->first_inst + inst;
	const char *name = pctl_op_get(p->insts[at].op)->name + 1; /* without F */
	char word[32];
	size_t n = 0;

	for (; name[n] && n + 1 < sizeof(word); n++)
		word[n] = (char)tolower((unsigned char)name[n]);
	word[n] = 0;
	snprintf(proof->why, sizeof(proof->why), "%s: %s", word, why);
	if (p->origins)
		proof->where = p->origins[at];
}

static void look(const pctl_program *p, const pctl_function *fn, const legal_chooser *chooser,
		 const legal_exponent_ranges *x, const legal_exponent_ranges *without,
		 pctl_contract_proof *proof)
{
	for (uint32_t i = 0; i < fn->n_insts; i++) {
		const pctl_inst *in = &p->insts[fn->first_inst + i];

		if (!is_guarded(p, fn, in, chooser) || legal_is_subnormal_free(p, fn, in, without))
			continue;
		proof->n_operations++;
		if (proof->verdict == PCTL_CONTRACT_UNPROVEN)
			continue;
		proof->verdict = PCTL_CONTRACT_PROVEN;
		if (legal_is_subnormal_free(p, fn, in, x) && legal_is_finite(p, fn, i, x))
			continue;
		proof->verdict = PCTL_CONTRACT_UNPROVEN;
		say(p, fn, i,
		    legal_is_subnormal_free(p, fn, in, x)
			    ? "an operand or the result may be infinite or a NaN"
			    : "an operand or the result may be subnormal",
		    proof);
	}
}

pctl_status legal_contract_prove(const pctl_program *p, const uint8_t *contracts,
				 const legal_chooser *chooser, const pctl_call *call,
				 pctl_contract_proof *proof)
{
	legal_exponent_ranges with = {.contracts = contracts}, without = {0};
	const int made = legal_exponent_ranges_find(p, &with);
	pctl_status status = PCTL_OK;

	if (legal_exponent_ranges_find(p, &without) && made)
		for (uint32_t f = 1; f < p->n_functions; f++)
			look(p, &p->functions[f], chooser, &with, &without, proof);
	else
		status = pctl_refuse(call, PC2_NOMEM, "legalising a program");
	legal_exponent_ranges_drop(&with);
	legal_exponent_ranges_drop(&without);
	return status;
}
