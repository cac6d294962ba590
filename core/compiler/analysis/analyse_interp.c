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
	uint8_t *writes; /* NULL, or by function and variable */
} facts_of_code;

/* What a function's callee writes, it writes. */
static void add_callee(const pctl_program *p, const facts_of_code *s, uint32_t f, uint32_t callee)
{
	uint32_t i;

	for (i = 0; s->writes && i < p->n_vars; i++)
		s->writes[f * p->n_vars + i] |= s->writes[callee * p->n_vars + i];
}

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
			if (in->op == PCTL_OP_CALL)
				add_callee(p, s, f, pctl_arg(p, in, 0));
			if (!pctl_place_get(p, fn, in, &pl))
				continue;
			if (!(pl.root & PCTL_PLACE_LOCAL) &&
			    (pctl_op_stores(in->op) ||
			     (info->kind == PCTL_OPKIND_atomic && in->op != PCTL_OP_ATOMIC_LOAD))) {
				s->written[pl.root] = 1;
				if (s->writes)
					s->writes[f * p->n_vars + pl.root] = 1;
			}
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
	const uint64_t n_writes = (uint64_t)p->n_functions * p->n_vars;
	facts_of_code s = {0};
	uint32_t i;

	/* The released rules take a call for one that writes whatever some function writes. */
	if (!(w->z->flags & PCTL_ANALYSE_RELEASED) &&
	    (uint64_t)p->n_insts * p->n_vars <= PCTL_INTERP_WRITES_MAX)
		s.writes = pctl_arena_array(w->arena, (size_t)n_writes, 1);
	s.used = pctl_arena_array(w->arena, p->n_insts, 1);
	s.written = pctl_arena_array(w->arena, p->n_vars, 1);
	s.has_barrier = pctl_arena_array(w->arena, p->n_functions, 1);
	w->visited = pctl_arena_array(w->arena, p->n_insts, 1);
	w->reported = pctl_arena_array(w->arena, p->n_insts, 1);
	w->n_slots = p->n_vars;
	w->state.slots = pctl_arena_array(w->arena, p->n_vars, sizeof(*w->state.slots));
	if (pctl_arena_failed(w->arena) || !s.used || !s.written || !s.has_barrier || !w->visited ||
	    !w->reported || !w->state.slots || !add_coordinates(w))
		return 0;
	survey_code(p, &s);
	w->used = s.used;
	w->written = s.written;
	w->writes = s.writes;
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

static void cannot_prove(pctl_interp *w, uint32_t inst, uint32_t code, const char *what)
{
	const pctl_pos pos = pctl_analyse_position(w->p, inst);

	w->z->a->barriers_uniform = PCTL_PROOF_UNPROVEN;
	pctl_analyse_fail(w->z,
			  pctl_refuse_at(w->z->call, code, &pos, NULL,
					 "the program is too large to prove its %s uniform", what));
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
		if (a->barriers_uniform != PCTL_PROOF_PROVEN)
			continue;
		if (pctl_interp_is_barrier(op))
			cannot_prove(w, i, PC2051_ANALYSE_BARRIER, "barriers");
		else if (pctl_op_get(op)->kind == PCTL_OPKIND_subgroup ||
			 pctl_op_get(op)->kind == PCTL_OPKIND_tile)
			cannot_prove(w, i, PC2055_ANALYSE_SUBGROUP, "subgroup operations");
	}
}

static int lacks_memory(const pctl_interp *w)
{
	return w->symbols.no_memory || pctl_arena_failed(w->arena);
}

static void refuse_memory(pctl_analyser *z)
{
	pctl_analyse_fail(z, pctl_refuse(z->call, PC2_NOMEM, "no memory to analyse a program"));
}

void pctl_analyse_interp(pctl_analyser *z)
{
	pctl_interp w = {.z = z, .p = z->p};

	z->a->barriers_uniform = z->a->loads_uniform = PCTL_PROOF_PROVEN;
	z->a->proven = pctl_arena_array(z->arena, z->p->n_insts, 1);
	w.arena = w.symbols.arena = pctl_arena_create();
	w.symbols.is_released = (z->flags & PCTL_ANALYSE_RELEASED) != 0;
	if (w.arena && z->a->proven && prepare(&w))
		pctl_interp_function(&w, z->p->entries[0].function, NULL);
	else
		w.symbols.no_memory = 1;
	/* What is known of a program never depends on how much memory there was to find out. */
	if (lacks_memory(&w))
		refuse_memory(z);
	else if (w.gave_up)
		assume_nothing(&w);
	else
		pctl_interp_judge(&w);
	if (z->status == PCTL_OK && lacks_memory(&w))
		refuse_memory(z);
	free(w.symbols.items);
	pctl_index_drop(&w.symbols.index);
	free(w.accesses.items);
	free(w.parents.items);
	pctl_arena_destroy(w.arena);
}
