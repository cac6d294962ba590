/* The abstract interpreter from outside: what it is told of the code before, and what becomes of its results. */
#include <stdlib.h>
#include <string.h>

#include "compiler/analysis/interp.h"

static int add_coordinates(pctl_interp *w)
{
	const pctl_program *p = w->p;
	uint32_t d;

	for (d = 0; d < PCTL_SYMBOL_COORDINATES; d++) {
		pctl_symbol x = {0};

		if (d < PCTL_SYMBOL_GROUP) {
			x.hi = (int64_t)p->entries[0].workgroup_size[d] - 1;
		} else {
			const uint32_t g = d - PCTL_SYMBOL_GROUP;
			const uint32_t most = p->max_dispatch[g] && p->max_dispatch[g] < 65535
						      ? p->max_dispatch[g]
						      : 65535;

			x.hi = (int64_t)(w->z->groups ? w->z->groups[g] : most) - 1;
			if (x.hi < 0)
				x.hi = 0;
			x.uniform = x.shared = PCTL_AGREE_GROUP;
		}
		if (!PCTL_VEC_PUSH(&w->symbols, x))
			return 0;
	}
	return 1;
}

typedef struct facts_of_code {
	uint8_t *used, *written, *has_barrier;
} facts_of_code;

static void survey_code(const pctl_program *p, const facts_of_code *s)
{
	uint32_t f, v, i;

	for (f = 0; f < p->n_functions; f++) {
		const pctl_function *fn = &p->functions[f];

		for (v = 0; v < fn->n_insts; v++) {
			const pctl_inst *in = &p->insts[fn->first_inst + v];
			const pctl_op_info *info = pctl_op_get(in->op);
			const char *pattern = info->args;
			pctl_place pl;

			for (i = 0; i < in->n_args && *pattern && *pattern != 'g'; i++) {
				if (*pattern == 'v')
					s->used[fn->first_inst + pctl_arg(p, in, i)] = 1;
				if (pattern[1] != '*')
					pattern++;
			}
			if (pctl_interp_is_barrier(in->op) ||
			    (in->op == PCTL_OP_CALL && s->has_barrier[pctl_arg(p, in, 0)]))
				s->has_barrier[f] = 1;
			if (!pctl_place_get(p, fn, in, &pl))
				continue;
			if (!(pl.root & PCTL_PLACE_LOCAL) &&
			    (in->op == PCTL_OP_STORE ||
			     (info->kind == PCTL_OPKIND_atomic && in->op != PCTL_OP_ATOMIC_LOAD)))
				s->written[pl.root] = 1;
			/* An index counts as a use, also where the word is a member's number: it
			 * only weakens. */
			for (i = 0; i < pl.n_chain; i++) {
				if (p->words[pl.chain + i] < fn->n_insts)
					s->used[fn->first_inst + p->words[pl.chain + i]] = 1;
			}
		}
	}
}

static int prepare(pctl_interp *w)
{
	const pctl_program *p = w->p;
	facts_of_code s;
	uint32_t i;

	s.used = pctl_arena_array(w->arena, p->n_insts, 1);
	s.written = pctl_arena_array(w->arena, p->n_vars, 1);
	s.has_barrier = pctl_arena_array(w->arena, p->n_functions, 1);
	w->visited = pctl_arena_array(w->arena, p->n_insts, 1);
	w->reported = pctl_arena_array(w->arena, p->n_insts, 1);
	w->n_slots = p->n_vars;
	w->state.slots = pctl_arena_array(w->arena, p->n_vars, sizeof(*w->state.slots));
	if (!s.used || !s.written || !s.has_barrier || !w->visited || !w->reported ||
	    !w->state.slots || !add_coordinates(w))
		return 0;
	survey_code(p, &s);
	w->used = s.used;
	w->written = s.written;
	w->has_barrier = s.has_barrier;
	w->round_agrees = PCTL_AGREE_ALL;
	w->state.intervals = pctl_interp_new_interval(w);
	for (i = 0; i < p->n_vars; i++) {
		w->state.slots[i] = pctl_absvec_zero(
			w, p->vars[i].space == PCTL_SPACE_PRIVATE ? p->vars[i].type : 0);
		if (!w->state.slots[i])
			return 0;
	}
	return 1;
}

/* What holds when the interpreter was not finished: nothing. */
static void assume_nothing(pctl_interp *w)
{
	const pctl_program *p = w->p;
	pctl_analysis *a = w->z->a;
	uint32_t i;

	memset(a->proven, 0, p->n_insts);
	a->race = PCTL_PROOF_UNPROVEN;
	for (i = 0; i < p->n_insts; i++) {
		const uint16_t op = p->insts[i].op;

		if (pctl_op_get(op)->kind == PCTL_OPKIND_atomic && op != PCTL_OP_ATOMIC_LOAD)
			a->order_dependent = 1;
		if (pctl_interp_is_barrier(op) && a->barriers_uniform == PCTL_PROOF_PROVEN) {
			const pctl_pos pos = pctl_analyse_position(p, i);

			a->barriers_uniform = PCTL_PROOF_UNPROVEN;
			pctl_analyse_fail(
				w->z,
				pctl_refuse_at(
					w->z->call, PC2051_ANALYSE_BARRIER, &pos, NULL,
					"the program is too large to prove its barriers uniform"));
		}
	}
}

void pctl_analyse_interp(pctl_analyser *z)
{
	pctl_interp w = {.z = z, .p = z->p};

	z->a->barriers_uniform = z->a->loads_uniform = PCTL_PROOF_PROVEN;
	z->a->proven = pctl_arena_array(z->arena, z->p->n_insts, 1);
	w.arena = w.symbols.arena = pctl_arena_create();
	if (!w.arena || !z->a->proven || !prepare(&w)) {
		pctl_analyse_fail(
			z, pctl_refuse(z->call, PC2_NOMEM, "no memory to analyse a program"));
	} else {
		pctl_interp_function(&w, z->p->entries[0].function, NULL);
		if (w.gave_up || w.symbols.no_memory)
			assume_nothing(&w);
		else
			pctl_interp_judge(&w);
	}
	free(w.symbols.items);
	pctl_index_drop(&w.symbols.index);
	free(w.accesses.items);
	free(w.parents.items);
	pctl_arena_destroy(w.arena);
}
