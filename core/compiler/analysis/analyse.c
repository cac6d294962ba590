/* The analysis as a whole: what it needs to know of the program's shape, its parts in order, its
 * result. */
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "pipectl/oplib.h"
#include "compiler/analysis/analyse_parts.h"

pctl_pos pctl_analyse_position(const pctl_program *p, uint32_t inst)
{
	pctl_pos pos = {NULL, 0, 0, 0, 0};
	const pctl_origin *o = p->origins ? &p->origins[inst] : NULL;

	if (!o || o->file >= p->n_origin_files)
		return pos;
	pos.file = p->origin_files[o->file];
	pos.line = o->line;
	pos.column = o->column;
	pos.end_column = o->end_column;
	return pos;
}

void pctl_analyse_ask(pctl_analyser *z, const pctl_analysis_query *query)
{
	if (!query)
		return;
	z->groups = query->groups;
	z->bindings = query->bindings;
	z->n_bindings = query->n_bindings;
	z->flags = query->flags;
}

void pctl_analyse_fail(pctl_analyser *z, pctl_status status)
{
	if (z->status == PCTL_OK)
		z->status = status;
}

int pctl_place_is_of_members(const pctl_program *p, const pctl_place *pl)
{
	uint32_t type = pl->root_type, i;

	for (i = 0; i < pl->n_chain && p->types[type].kind == PCTL_TYPE_STRUCT; i++)
		type = pctl_type_step(p, type, p->words[pl->chain + i]);
	return i == pl->n_chain;
}

/* Match what opens with what parts and closes it. The program verified, so they do match. */
int pctl_analyse_constructs(pctl_analyser *z)
{
	uint32_t *stack = calloc(PCTL_REGION_DEPTH_MAX + 2, sizeof(*stack));
	uint32_t depth = 0, i;

	if (!stack)
		return 0;
	for (i = 0; i < z->p->n_insts; i++) {
		switch (z->p->insts[i].op) {
		case PCTL_OP_IF:
		case PCTL_OP_SWITCH:
		case PCTL_OP_LOOP:
		case PCTL_OP_BLOCK:
			stack[depth++] = i;
			break;
		case PCTL_OP_ELSE:
		case PCTL_OP_CASE:
		case PCTL_OP_LOOP_TEST:
		case PCTL_OP_CONTINUING:
			z->next[stack[depth - 1]] = i;
			stack[depth - 1] = i;
			break;
		case PCTL_OP_END_IF:
		case PCTL_OP_END_SWITCH:
		case PCTL_OP_END_LOOP:
		case PCTL_OP_END_BLOCK:
			z->next[stack[--depth]] = i;
			break;
		default:
			break;
		}
	}
	free(stack);
	return 1;
}

static void classify(pctl_analyser *z)
{
	const pctl_program *p = z->p;
	const uint32_t *size = p->entries[0].workgroup_size;
	pctl_analysis *a = z->a;
	uint64_t n;
	uint32_t i;

	/* No float type, no strict operation: types that are not used are not there. What a native
	 * operation gives is the device's business; only the host's own programs hold any. */
	a->determinism = PCTL_CLASS_INTEGER;
	for (i = 0; i < p->n_types; i++) {
		if (p->types[i].scalar >= PCTL_SCALAR_F16 && p->types[i].scalar <= PCTL_SCALAR_F64)
			a->determinism = PCTL_CLASS_STRICT;
	}
	for (i = 0; i < p->n_insts; i++) {
		if (PCTL_IS_NATIVE(p->insts[i].op))
			a->determinism = PCTL_CLASS_APPROXIMATE;
	}
	for (i = 0; i < p->n_vars; i++) {
		const pctl_type *t = &p->types[p->vars[i].type];

		/* Laid out one behind the other, each at its alignment. */
		if (p->vars[i].space == PCTL_SPACE_WORKGROUP)
			a->workgroup_bytes = pctl_num_align(a->workgroup_bytes, t->align) + t->size;
	}
	if (!pctl_num_mul(size[0], size[1], &n) || !pctl_num_mul(n, size[2], &n))
		a->overflow = 1;
	a->invocations = n;
}

static void profile(pctl_analyser *z)
{
	pctl_cost_table costs;
	uint32_t n[2], i;

	pctl_cost_table_default(&costs);
	for (i = 0; i < 2; i++) {
		if (!pctl_profile(z->p, z->a, &costs, (int)i, z->arena, &z->a->ticks[i], &n[i],
				  &z->a->overflow)) {
			pctl_analyse_fail(z, pctl_refuse(z->call, PC2_NOMEM,
							 "no memory to analyse a program"));
			return;
		}
	}
	/* A branch may be dearer on another side under the other schedule, so their numbers can
	 * differ. */
	z->a->n_ticks = n[0];
	z->a->n_structured_ticks = n[1];
}

pctl_status pctl_program_analyse(const pctl_program *p, const pctl_analysis_query *query,
				 const pctl_call *call, pctl_analysis **out)
{
	pctl_analyser z = {.p = p, .call = call};

	*out = NULL;
	pctl_analyse_ask(&z, query);
	if (p->n_entries != 1 || (p->caps & PCTL_CAP_OVERRIDES))
		return pctl_refuse(call, PC2052_ANALYSE_ENTRY, "the program has %u entry points%s",
				   p->n_entries,
				   p->caps & PCTL_CAP_OVERRIDES ? " and overrides" : "");
	z.arena = pctl_arena_create();
	z.a = z.arena ? pctl_arena_alloc(z.arena, sizeof(*z.a)) : NULL;
	z.next = calloc((size_t)p->n_insts + 1, sizeof(*z.next));
	z.loop_of = calloc((size_t)p->n_insts + 1, sizeof(*z.loop_of));
	if (!z.a || !z.next || !z.loop_of || !pctl_analyse_constructs(&z)) {
		z.status = pctl_refuse(call, PC2_NOMEM, "no memory to analyse a program");
		goto out;
	}
	z.a->arena = z.arena;
	classify(&z);
	pctl_analyse_loops(&z);
	if (z.status == PCTL_E_NOMEM)
		goto out; /* of its loops nothing is known, not even how many */
	/* The abstract interpreter takes loops without a bound as any other, so that their barriers are judged too.
	 */
	pctl_analyse_interp(&z);
	/* Whatever else a program is made of: an order that shows is no function of the inputs. Decided here, for every
	 * verb. */
	if (z.a->order_dependent)
		z.a->determinism = PCTL_CLASS_APPROXIMATE;
	if (z.status == PCTL_OK)
		profile(&z);
out:
	free(z.next);
	free(z.loop_of);
	if (z.status == PCTL_OK)
		*out = z.a;
	else
		pctl_arena_destroy(z.arena);
	return z.status;
}

void pctl_analysis_destroy(pctl_analysis *a)
{
	if (a)
		pctl_arena_destroy(a->arena);
}

void pctl_program_mark_proven(pctl_program *p, const pctl_analysis *a)
{
	uint32_t f, v;

	for (f = 0; f < p->n_functions; f++) {
		const pctl_function *fn = &p->functions[f];

		for (v = 0; v < fn->n_insts; v++) {
			pctl_inst *in = &p->insts[fn->first_inst + v];
			pctl_place pl;

			if (pctl_place_get(p, fn, in, &pl))
				in->flags = a->proven[fn->first_inst + v];
		}
	}
}
