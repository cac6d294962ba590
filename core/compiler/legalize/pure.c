/* Implementation of pure.h. */
#include "compiler/legalize/pure.h"

#include <stdlib.h>

int legal_is_barrier(uint16_t op)
{
	const uint8_t kind = pctl_op_get(op)->kind;

	return op == PCTL_OP_BARRIER || op == PCTL_OP_LOAD_UNIFORM ||
	       kind == PCTL_OPKIND_subgroup || kind == PCTL_OPKIND_tile;
}

int legal_waits(const legal_purity *x, const pctl_inst *in)
{
	return legal_is_barrier(in->op) ||
	       (in->op == PCTL_OP_CALL && x->waits[pctl_arg(x->p, in, 0)]);
}

static int writes(const pctl_inst *in)
{
	return pctl_op_stores(in->op) || pctl_op_get(in->op)->kind == PCTL_OPKIND_atomic;
}

/* Callees stand before their callers. */
int legal_purity_open(legal_purity *x, const pctl_program *p)
{
	pctl_place place;

	*x = (legal_purity){.p = p};
	x->is_written = calloc(p->n_vars + 1u, 1);
	x->waits = calloc(p->n_functions + 1u, 1);
	if (!x->is_written || !x->waits)
		return 0;
	for (uint32_t f = 0; f < p->n_functions; f++) {
		const pctl_function *fn = &p->functions[f];

		for (uint32_t v = 0; v < fn->n_insts; v++) {
			const pctl_inst *in = &p->insts[fn->first_inst + v];

			x->waits[f] |= (uint8_t)legal_waits(x, in);
			if (writes(in) && pctl_place_get(p, fn, in, &place) &&
			    !(place.root & PCTL_PLACE_LOCAL))
				x->is_written[place.root] = 1;
		}
	}
	return 1;
}

void legal_purity_close(legal_purity *x)
{
	free(x->is_written);
	free(x->waits);
}

static uint32_t of_memory(const legal_purity *x, const pctl_function *fn, const pctl_inst *in)
{
	pctl_place place;

	if (in->op == PCTL_OP_ARRAY_LENGTH)
		return LEGAL_CHEAP;
	if (in->op != PCTL_OP_LOAD || !pctl_place_get(x->p, fn, in, &place))
		return LEGAL_EFFECT;
	if (place.root & PCTL_PLACE_LOCAL)
		return LEGAL_OF_LOCAL;
	return place.space >= PCTL_SPACE_UNIFORM && !x->is_written[place.root] ? LEGAL_DEAR
									       : LEGAL_EFFECT;
}

static int is_dear(uint16_t op)
{
	return PCTL_IS_STRICT(op) || op == PCTL_OP_DIV || op == PCTL_OP_MOD ||
	       op == PCTL_OP_DIV_WGSL || op == PCTL_OP_MATMUL || op == PCTL_OP_LOOKUP;
}

uint32_t legal_purity_of(const legal_purity *x, const pctl_function *fn, const pctl_inst *in)
{
	const uint8_t kind = x->p->types[in->type].kind;

	if ((kind != PCTL_TYPE_SCALAR && kind != PCTL_TYPE_VECTOR) || PCTL_IS_NATIVE(in->op))
		return LEGAL_EFFECT;
	switch (pctl_op_get(in->op)->kind) {
	case PCTL_OPKIND_const:
		if (in->op == PCTL_OP_CONST || in->op == PCTL_OP_ZERO)
			return LEGAL_CONSTANT;
		return in->op == PCTL_OP_BUILTIN ? LEGAL_CHEAP : LEGAL_EFFECT;
	case PCTL_OPKIND_elem:
	case PCTL_OPKIND_bool:
	case PCTL_OPKIND_convert:
	case PCTL_OPKIND_data:
		return is_dear(in->op) ? LEGAL_DEAR : LEGAL_CHEAP;
	case PCTL_OPKIND_memory:
		return of_memory(x, fn, in);
	default:
		return LEGAL_EFFECT;
	}
}

uint32_t legal_loop_end(const pctl_program *p, const pctl_function *fn, uint32_t loop)
{
	uint32_t depth = 1, v = loop;

	while (depth) {
		const uint16_t op = p->insts[fn->first_inst + ++v].op;

		depth += op == PCTL_OP_LOOP;
		depth -= op == PCTL_OP_END_LOOP;
	}
	return v;
}
