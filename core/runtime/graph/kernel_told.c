/* What is said of kernel units: where they stand, what they write, how they race. */
#include "runtime/graph/kernel.h"

#include <inttypes.h>
#include <stdio.h>

#include "compiler/ir/tables.h"

pctl_pos pctl_kernel_position(const pctl_kernel_module *u, uint32_t function, uint32_t inst)
{
	const pctl_program *p = u->program;
	pctl_pos pos = {NULL, 0, 0, 0, 0};

	if (function < p->n_functions && inst < p->functions[function].n_insts)
		pos = pctl_program_pos(p, p->functions[function].first_inst + inst);
	if (pos.file == NULL)
		pos.file = u->name;
	return pos;
}

int pctl_kernel_writes(const pctl_program *p, const pctl_function *fn, const pctl_inst *in,
		       uint32_t var, uint64_t *n_bytes)
{
	const uint32_t tile = pctl_tile_moved(p, fn, in);
	pctl_place place;

	*n_bytes = 0;
	if (in->op == PCTL_OP_LOAD || in->op == PCTL_OP_ATOMIC_LOAD ||
	    in->op == PCTL_OP_ARRAY_LENGTH || in->op == PCTL_OP_TILE_LOAD_ROWS ||
	    in->op == PCTL_OP_TILE_LOAD_COLUMNS || !pctl_place_get(p, fn, in, &place) ||
	    place.root != var)
		return 0;
	*n_bytes = p->types[tile ? tile : place.end_type].size;
	return 1;
}

pctl_pos pctl_kernel_order_position(const pctl_kernel_module *u)
{
	return pctl_kernel_position(u, u->analysis->order_function, u->analysis->order_inst);
}

const char *pctl_kernel_order_hint(const pctl_kernel_module *u)
{
	const pctl_program *p = u->program;
	int exchanges = 0, adds_floats = 0;

	for (uint32_t i = 0; i < p->n_insts; i++) {
		const uint16_t op = p->insts[i].op;

		exchanges |= op == PCTL_OP_ATOMIC_CAS;
		adds_floats |= op == PCTL_OP_FADD || op == PCTL_OP_FSUB || op == PCTL_OP_FFMA;
	}
	if (!exchanges)
		return NULL;
	return adds_floats ? "a float atomic made of compare-exchange is rounded at each step, so "
			     "its sum "
			     "depends on who comes first: let each invocation write an element of "
			     "its own "
			     "and add those in one order, or atomicAdd integers of a fixed scale"
			   : "compare-exchange shows who came first: use atomicAdd, atomicMin, "
			     "atomicMax, "
			     "atomicAnd, atomicOr or atomicXor alone, and drop what they return";
}

void pctl_kernel_race(const pctl_kernel_module *u, pctl_pos place[2],
		      char text[PCTL_KERNEL_RACE_SIZE])
{
	const pctl_analysis *a = u->analysis;
	const int is_known = a->race_inst[0] != 0 || a->race_inst[1] != 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < 2; i++)
		place[i] = is_known ? pctl_kernel_position(u, a->race_function[i], a->race_inst[i])
				    : (pctl_pos){u->name, 0, 0, 0, 0};
	if (a->race == PCTL_PROOF_REFUTED)
		snprintf(text, PCTL_KERNEL_RACE_SIZE,
			 "invocations %" PRIu64 " and %" PRIu64 " race for byte %" PRIu64
			 " of \"%.80s\"",
			 a->race_invocation[0], a->race_invocation[1], a->race_address,
			 pctl_str(u->program, u->program->vars[a->race_var].name));
}

pctl_status pctl_kernel_refuse_race(const pctl_kernel_module *u, const char *subject,
				    const pctl_call *call)
{
	char text[PCTL_KERNEL_RACE_SIZE], message[PCTL_KERNEL_RACE_SIZE + 160];
	pctl_pos place[2];
	pctl_note note = {.message = "the other access is here"};
	pctl_diag d = {.head = PCTL_HEAD(pctl_diag),
		       .code = PC4311_POLICY_RACE,
		       .severity = PCTL_SEVERITY_ERROR,
		       .subject = subject,
		       .message = message,
		       .notes = &note,
		       .n_notes = 1};

	pctl_kernel_race(u, place, text);
	d.pos = place[0];
	note.pos = place[1];
	snprintf(message, sizeof(message), "race freedom of %.100s is refuted: %s", subject, text);
	return pctl_emit(call, &d);
}

int pctl_kernel_max_place(const pctl_program *p, const pctl_max *m, uint64_t *offset,
			  uint32_t *bytes)
{
	uint32_t type = p->vars[m->var].type;

	*offset = 0;
	for (uint32_t i = 0; i < m->n_path; i++) {
		*offset += pctl_type_part_offset(p, type, m->path[i]);
		type = pctl_type_step(p, type, m->path[i]);
		if (type == 0)
			return 0;
	}
	*bytes = p->types[type].size;
	return p->types[type].kind == PCTL_TYPE_SCALAR && *bytes <= 8;
}
