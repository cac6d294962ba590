/* Private arrays that are made zero where they are first wanted, and not when an invocation begins: on NVIDIA's devices they lie in memory, and what is read by a rare way alone, as an exact sum
 * of what is in doubt, is then not written by all. A flag beside the array says that it is as it began. */
#include "clc/internal.h"

#include <stdio.h>

/* Smaller ones are registers. */
#define ELEMENTS_LEAST 17u

int emit_is_late(const emitter *e, uint32_t v)
{
	const pctl_var *var = &e->p->vars[v];

	return (e->flags & EMIT_WARPS) && !e->by_ticks && !e->whole_groups && v < 64 &&
	       var->space == PCTL_SPACE_PRIVATE && e->p->types[var->type].kind == PCTL_TYPE_ARRAY &&
	       emit_part_count(e->p, var->type) >= ELEMENTS_LEAST;
}

static uint64_t ready_here(const emitter *e)
{
	uint64_t ready = e->late;

	for (uint32_t k = 0; k < e->n_open; k++)
		ready |= e->open[k].late;
	return ready;
}

/* A store of zero to the whole of one, as kernels have that are joined (core/compiler/legalize/join_main.c): in main, which nobody calls who takes it to be ready. */
static int begins_again(const emitter *e, const pctl_inst *in, const pctl_place *place)
{
	return in->op == PCTL_OP_STORE && place->n_chain == 0 &&
	       e->fn_index == e->p->entries[0].function && !(place->root & PCTL_PLACE_LOCAL) &&
	       emit_inst(e, pctl_arg(e->p, in, 0))->op == PCTL_OP_ZERO &&
	       emit_is_late(e, place->root);
}

int emit_begins_again(emitter *e, const pctl_inst *in, const pctl_place *place)
{
	if (!begins_again(e, in, place) || (ready_here(e) >> place->root & 1))
		return 0;
	emit_indent(e);
	text_printf(&e->code, "*z%u = 1u;\n", place->root);
	return 1;
}

/* 1: an instruction from i on, to the end of its region, itself names variable v, and stands under no condition there. */
static int is_named(const emitter *e, uint32_t i, uint32_t v)
{
	uint32_t depth = 0, conditions = 0;

	for (; i < e->fn->n_insts; i++) {
		const pctl_inst *in = emit_inst(e, i);
		pctl_place place;

		if (depth == 0 && (in->op == PCTL_OP_ELSE || emit_closes_region(in->op)))
			return 0;
		depth += (uint32_t)emit_opens_region(in->op);
		depth -= (uint32_t)emit_closes_region(in->op);
		conditions += in->op == PCTL_OP_IF;
		conditions -= in->op == PCTL_OP_END_IF;
		if (conditions == 0 && pctl_place_get(e->p, e->fn, in, &place) && place.root == v &&
		    !begins_again(e, in, &place))
			return 1;
	}
	return 0;
}

uint64_t emit_late(emitter *e, uint32_t i)
{
	uint64_t ready = ready_here(e);

	for (uint32_t v = 0; v < e->p->n_vars; v++) {
		char name[24];

		if (!emit_uses(e, e->fn_index)[v] || !emit_is_late(e, v) || (ready >> v & 1) ||
		    !is_named(e, i, v))
			continue;
		snprintf(name, sizeof(name), "(*q%u)", v);
		emit_indent(e);
		text_printf(&e->code, "if (*z%u) {\n", v);
		e->indent++;
		emit_fill_zero(e, e->p->vars[v].type, name);
		emit_indent(e);
		text_printf(&e->code, "*z%u = 0u;\n", v);
		e->indent--;
		emit_indent(e);
		text_add(&e->code, "}\n");
		ready |= 1ull << v;
	}
	return ready;
}
