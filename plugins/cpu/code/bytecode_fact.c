/* Making prepared code: what must be known of a function beforehand. How far each value lives in
 * the IR, which lets a loaded variable be read in place, and which variables need no zeroing. */
#include "code/bytecode.h"

#include <stdlib.h>

#define ALIAS_SCAN 512u /* instructions looked through for a store; keeps the pass linear */

static int renames(uint16_t op)
{
	switch (op) {
	case PCTL_OP_COMPOSE:
	case PCTL_OP_SPLAT:
	case PCTL_OP_EXTRACT:
	case PCTL_OP_SHUFFLE:
	case PCTL_OP_INSERT:
	case PCTL_OP_TRANSPOSE:
	case PCTL_OP_BITCAST:
	case PCTL_OP_CAST:
	case PCTL_OP_SELECT: /* both sides may be one register */
	case PCTL_OP_ALL:
	case PCTL_OP_ANY:
	case PCTL_OP_EXTRACT_DYN:
		return 1;
	default:
		return 0;
	}
}

static void used(pctl_cpu_bytecode *f, const pctl_inst *insts, uint32_t value, uint32_t by)
{
	pctl_cpu_fact *facts = f->facts;
	uint32_t last = by;

	if (renames(insts[by].op) && facts[by].last_use > last)
		last = facts[by].last_use;
	/* Read again in the next round of every loop that began after the value was made. */
	for (uint32_t l = facts[by].loop; l != PCTL_CPU_NONE && l > value; l = facts[l].loop)
		if (facts[l].last_use > last)
			last = facts[l].last_use;
	if (last > facts[value].last_use)
		facts[value].last_use = last;
}

static void uses_of(pctl_cpu_bytecode *f, const pctl_inst *insts, uint32_t i)
{
	const pctl_program *p = f->p;
	const pctl_inst *in = &insts[i];
	const char *letters = pctl_op_get(in->op)->args;
	pctl_place place;
	char letter = 0;

	if (pctl_place_get(p, f->fn, in, &place)) {
		uint32_t type = place.root_type;

		for (uint32_t k = 0; k < place.n_values; k++)
			used(f, insts, pctl_arg(p, in, k), i);
		for (uint32_t k = 0; k < place.n_chain; k++) {
			const uint32_t word = p->words[place.chain + k];

			if (p->types[type].kind != PCTL_TYPE_STRUCT)
				used(f, insts, word, i);
			type = pctl_type_step(p, type, word);
		}
		return;
	}
	for (uint32_t k = 0; k < in->n_args; k++) {
		if (*letters && *letters != '*')
			letter = *letters++;
		if (letter == 'v')
			used(f, insts, pctl_arg(p, in, k), i);
	}
}

void pctl_cpu_bytecode_facts(pctl_cpu_bytecode *f)
{
	const pctl_inst *insts = f->p->insts + f->fn->first_inst;
	const uint32_t n = f->fn->n_insts;
	uint32_t loop = PCTL_CPU_NONE, end = n;
	PCTL_CPU_LIST(uint32_t) ends = {0};

	/* Forwards: the loops around; the loop's end is kept as last_use of its LOOP. */
	for (uint32_t i = 0; i < n; i++) {
		f->facts[i] = (pctl_cpu_fact){i, loop, n};
		if (insts[i].op == PCTL_OP_LOOP) {
			loop = i;
		} else if (insts[i].op == PCTL_OP_END_LOOP && loop != PCTL_CPU_NONE) {
			f->facts[loop].last_use = i;
			loop = f->facts[loop].loop;
		}
	}
	/* Backwards: uses after definitions, and the ends of regions. */
	for (uint32_t i = n; i-- > 0;) {
		const uint16_t op = insts[i].op;

		uses_of(f, insts, i);
		switch (op) {
		case PCTL_OP_IF:
		case PCTL_OP_SWITCH:
		case PCTL_OP_LOOP:
		case PCTL_OP_BLOCK:
			end = ends.n ? ends.at[--ends.n] : n;
			break;
		case PCTL_OP_END_IF:
		case PCTL_OP_END_SWITCH:
		case PCTL_OP_END_LOOP:
		case PCTL_OP_END_BLOCK:
			if (pctl_cpu_grow(f, &ends, sizeof(*ends.at)))
				ends.at[ends.n++] = end;
			end = i;
			break;
		case PCTL_OP_ELSE:
		case PCTL_OP_CASE:
		case PCTL_OP_CONTINUING:
		case PCTL_OP_LOOP_TEST:
			end = i;
			break;
		default:
			break;
		}
		f->facts[i].region_end = end;
	}
	free(ends.at);
}

int pctl_cpu_bytecode_may_alias(const pctl_cpu_bytecode *f, uint32_t value, uint32_t root)
{
	const pctl_inst *insts = f->p->insts + f->fn->first_inst;
	const uint32_t last = f->facts[value].last_use;
	pctl_place place;

	if (last - value > ALIAS_SCAN || insts[value].op != PCTL_OP_LOAD)
		return 0;
	for (uint32_t i = value + 1; i <= last && i < f->fn->n_insts; i++) {
		if (insts[i].op == PCTL_OP_CALL && !(root & PCTL_PLACE_LOCAL))
			return 0;
		if (insts[i].op == PCTL_OP_STORE &&
		    pctl_place_get(f->p, f->fn, &insts[i], &place) && place.root == root)
			return 0;
	}
	return 1;
}

void pctl_cpu_bytecode_find_dirty(const pctl_cpu_bytecode *f, uint32_t *end, uint8_t *dirty)
{
	const pctl_inst *insts = f->p->insts + f->fn->first_inst;
	pctl_place place;

	for (uint32_t i = 0; i < f->fn->n_insts; i++) {
		uint32_t local;

		if (!pctl_place_get(f->p, f->fn, &insts[i], &place) ||
		    !(place.root & PCTL_PLACE_LOCAL))
			continue;
		local = place.root & ~PCTL_PLACE_LOCAL;
		if (end[local] == 0) {
			dirty[local] = insts[i].op != PCTL_OP_STORE || place.n_chain != 0;
			end[local] = f->facts[i].region_end;
		}
		dirty[local] |= i >= end[local];
	}
}
