/* Regions of a function, as a table, and which jumps leave which. */
#include "spmd/internal.h"

#include <stdlib.h>

static int opens(uint16_t op)
{
	return op == PCTL_OP_IF || op == PCTL_OP_ELSE || op == PCTL_OP_SWITCH ||
	       op == PCTL_OP_CASE || op == PCTL_OP_LOOP || op == PCTL_OP_BLOCK;
}

static int closes(uint16_t op)
{
	return op == PCTL_OP_ELSE || op == PCTL_OP_END_IF || op == PCTL_OP_END_SWITCH ||
	       op == PCTL_OP_CASE || op == PCTL_OP_END_LOOP || op == PCTL_OP_END_BLOCK;
}

/* The innermost region after the one(s) that instruction i closes. */
static uint32_t close_of(spmd_function *fn, uint32_t at, uint16_t op, uint32_t i)
{
	if (op == PCTL_OP_CASE && fn->regions[at].op != PCTL_OP_CASE)
		return at; /* the first of its switch */
	fn->regions[at].end = i;
	if (op == PCTL_OP_END_SWITCH && fn->regions[at].op == PCTL_OP_CASE) {
		at = fn->regions[at].parent;
		fn->regions[at].end = i;
	}
	return fn->regions[at].parent;
}

static uint32_t condition_of(const spmd *s, const spmd_function *fn, const pctl_inst *in,
			     uint32_t parent, uint32_t closed)
{
	if (in->op == PCTL_OP_IF || in->op == PCTL_OP_SWITCH)
		return pctl_arg(s->e.p, in, 0);
	if (in->op == PCTL_OP_ELSE)
		return fn->regions[closed].condition;
	return in->op == PCTL_OP_CASE ? fn->regions[parent].condition : SPMD_NONE;
}

pctl_status spmd_find_regions(spmd *s, uint32_t f)
{
	const pctl_function *of = &s->e.p->functions[f];
	spmd_function *fn = &s->functions[f];
	uint32_t at = 0, n = 1;

	for (uint32_t i = 0; i < of->n_insts; i++)
		n += (uint32_t)opens(s->e.p->insts[of->first_inst + i].op);
	fn->regions = calloc(n, sizeof(*fn->regions));
	fn->values = calloc(of->n_insts + 1u, sizeof(*fn->values));
	fn->locals = calloc(of->n_locals + 1u, sizeof(*fn->locals));
	if (!fn->regions || !fn->values || !fn->locals)
		return pctl_refuse(s->e.call, PC2_NOMEM, "opencl: writing the source of a kernel");
	fn->regions[0] = (spmd_region){.parent = SPMD_NONE,
				       .end = of->n_insts,
				       .condition = SPMD_NONE,
				       .left_at = SPMD_NONE};
	fn->n_regions = 1;
	for (uint32_t i = 0; i < of->n_insts; i++) {
		const pctl_inst *in = &s->e.p->insts[of->first_inst + i];
		const uint32_t closed = at;

		fn->values[i].segment = SPMD_NONE;
		if (closes(in->op))
			at = close_of(fn, at, in->op, i);
		fn->values[i].region = at;
		if (in->op == PCTL_OP_LOOP_TEST) {
			fn->regions[at].test = i;
			fn->regions[at].condition = pctl_arg(s->e.p, in, 0);
		} else if (in->op == PCTL_OP_CONTINUING) {
			fn->regions[at].continuing = i;
		}
		if (!opens(in->op))
			continue;
		fn->regions[fn->n_regions] =
			(spmd_region){.parent = at,
				      .op = in->op,
				      .begin = i,
				      .condition = condition_of(s, fn, in, at, closed),
				      .left_at = SPMD_NONE};
		at = fn->n_regions++;
	}
	return PCTL_OK;
}

uint32_t spmd_target(const spmd_function *fn, const pctl_inst *in, uint32_t i)
{
	uint32_t r = fn->values[i].region;

	if (in->op == PCTL_OP_RETURN)
		return 0;
	while (r && fn->regions[r].op != PCTL_OP_LOOP &&
	       (in->op == PCTL_OP_CONTINUE || fn->regions[r].op != PCTL_OP_SWITCH))
		r = fn->regions[r].parent;
	return r;
}

/* Some lanes have left for a place that lies behind i in the same region. */
static int is_left(const spmd_region *r, uint32_t i)
{
	return i > r->left_at && (r->op != PCTL_OP_LOOP || i < r->continuing);
}

int spmd_diverges(const spmd_function *fn, uint32_t i, uint32_t up)
{
	uint32_t r = fn->values[i].region;

	for (; r != up; r = fn->regions[r].parent)
		if (fn->regions[r].diverges || is_left(&fn->regions[r], i))
			return 1;
	return is_left(&fn->regions[up], i);
}

void spmd_each_argument(const pctl_program *p, const pctl_function *fn, const pctl_inst *in,
			void (*visit)(void *context, uint32_t value), void *context)
{
	const char *letters = pctl_op_get(in->op)->args;
	pctl_place place;
	uint32_t type;

	for (uint32_t i = 0, k = 0; i < in->n_args && letters[k] && letters[k] != 'g'; i++) {
		if (letters[k] == 'v')
			visit(context, pctl_arg(p, in, i));
		if (letters[k + 1] != '*')
			k++;
	}
	if (!pctl_place_get(p, fn, in, &place))
		return;
	type = place.root_type;
	for (uint32_t i = 0; i < place.n_chain; i++) {
		const uint32_t word = p->words[place.chain + i];

		if (p->types[type].kind != PCTL_TYPE_STRUCT)
			visit(context, word);
		type = pctl_type_step(p, type, word);
	}
}
