/* Main where its workgroup takes several steps and has barriers: what stands outside of the steps, once for all of them
 * (control around barriers, and what it is made of), and which segments the rest falls into. */
#include "spmd/internal.h"

typedef struct walk {
	spmd *s;
	spmd_function *fn;
	const pctl_function *of;
	int changed;
	int found;
	uint32_t user; /* the segment that uses what is visited */
} walk;

static const pctl_inst *inst_at(const walk *w, uint32_t i)
{
	return &w->s->e.p->insts[w->of->first_inst + i];
}

static int is_barrier(uint16_t op)
{
	return op == PCTL_OP_BARRIER || op == PCTL_OP_LOAD_UNIFORM;
}

static int is_jump(uint16_t op)
{
	return op == PCTL_OP_BREAK || op == PCTL_OP_CONTINUE || op == PCTL_OP_RETURN;
}

static void set_waits(walk *w, uint32_t r)
{
	for (; r != SPMD_NONE && !w->fn->regions[r].waits; r = w->fn->regions[r].parent) {
		w->fn->regions[r].waits = 1;
		w->changed = 1;
	}
}

/* The two sides of a condition, or a switch and its cases, stand on one level. */
static void join_sides(walk *w)
{
	spmd_region *regions = w->fn->regions;

	for (uint32_t a = 1; a < w->fn->n_regions; a++) {
		uint32_t b = regions[a].parent;

		if (regions[a].op == PCTL_OP_ELSE)
			for (b = a - 1; regions[b].end != regions[a].begin; b--)
				;
		else if (regions[a].op != PCTL_OP_CASE)
			continue;
		if (regions[a].waits == regions[b].waits)
			continue;
		regions[a].waits = regions[b].waits = 1;
		w->changed = 1;
	}
}

static void find_waits(walk *w)
{
	for (uint32_t i = 0; i < w->of->n_insts; i++)
		if (is_barrier(inst_at(w, i)->op))
			set_waits(w, w->fn->values[i].region);
	do {
		w->changed = 0;
		for (uint32_t i = 0; i < w->of->n_insts; i++) {
			const pctl_inst *in = inst_at(w, i);

			/* What all lanes leave together is left outside of the steps. */
			if (is_jump(in->op) && !w->fn->values[i].partly &&
			    w->fn->regions[spmd_target(w->fn, in, i)].waits)
				set_waits(w, w->fn->values[i].region);
		}
		join_sides(w);
	} while (w->changed);
}

/* ---- by step ---- */

static void argument_by_step(void *context, uint32_t v)
{
	walk *w = context;

	w->found |= w->fn->values[v].by_step;
}

static int is_by_step(walk *w, uint32_t i, const pctl_inst *in)
{
	const pctl_program *p = w->s->e.p;
	pctl_place place;

	w->found = 0;
	if (in->op == PCTL_OP_EXTRACT && inst_at(w, pctl_arg(p, in, 0))->op == PCTL_OP_BUILTIN)
		return spmd_builtin_of(w->s, pctl_arg(p, inst_at(w, pctl_arg(p, in, 0)), 0),
				       pctl_arg(p, in, 1))
			.by_step;
	spmd_each_argument(p, w->of, in, argument_by_step, w);
	if (pctl_place_get(p, w->of, in, &place)) {
		if (place.root & PCTL_PLACE_LOCAL)
			w->found |= w->fn->locals[place.root & ~PCTL_PLACE_LOCAL].by_step;
		else if (in->op == PCTL_OP_STORE)
			w->found = 1;
	}
	return w->found || w->fn->values[i].varies || in->op == PCTL_OP_CALL;
}

static void find_by_step(walk *w)
{
	do {
		w->changed = 0;
		for (uint32_t i = 0; i < w->of->n_insts; i++) {
			const pctl_inst *in = inst_at(w, i);
			spmd_value *v = &w->fn->values[i];
			pctl_place place;
			spmd_local *l;

			if (!v->by_step && is_by_step(w, i, in)) {
				v->by_step = 1;
				w->changed = 1;
			}
			if (!pctl_place_get(w->s->e.p, w->of, in, &place) ||
			    !(place.root & PCTL_PLACE_LOCAL))
				continue;
			l = &w->fn->locals[place.root & ~PCTL_PLACE_LOCAL];
			if (!l->by_step &&
			    (l->varies || (in->op == PCTL_OP_STORE &&
					   (v->by_step || !w->fn->regions[v->region].waits)))) {
				l->by_step = 1;
				w->changed = 1;
			}
		}
	} while (w->changed);
}

/* ---- segments ---- */

static int is_memory(const walk *w, const pctl_inst *in)
{
	pctl_place place;

	return pctl_place_get(w->s->e.p, w->of, in, &place) && in->op != PCTL_OP_ARRAY_LENGTH &&
	       !(place.root & PCTL_PLACE_LOCAL) && place.space != PCTL_SPACE_UNIFORM &&
	       (place.space != PCTL_SPACE_STORAGE ||
		w->s->e.p->vars[place.root].access != PCTL_ACCESS_READ);
}

static void number_segments(walk *w)
{
	uint32_t segment = 0, is_open = 0, has_store = 0;

	for (uint32_t i = 0; i < w->of->n_insts; i++) {
		const pctl_inst *in = inst_at(w, i);
		spmd_value *v = &w->fn->values[i];
		const uint16_t op = in->op;
		const int is_control =
			pctl_op_get(op)->kind == PCTL_OPKIND_control && op != PCTL_OP_CALL;
		int outside = w->fn->regions[v->region].waits;

		if (outside && is_control && !is_barrier(op) && !is_jump(op) &&
		    op != PCTL_OP_LOOP_TEST && op != PCTL_OP_CONTINUING) {
			/* One that opens or closes a region belongs where the region does. */
			for (uint32_t r = 1; r < w->fn->n_regions; r++)
				if ((w->fn->regions[r].begin == i || w->fn->regions[r].end == i) &&
				    !w->fn->regions[r].waits)
					outside = 0;
		}
		if (outside && !is_control && v->by_step && !is_barrier(op))
			outside = 0;
		if (outside && is_jump(op) && v->partly)
			outside = 0;
		if (!outside) {
			v->segment = segment;
			is_open = 1;
			has_store |= is_memory(w, in) && op != PCTL_OP_LOAD;
			has_store |= op == PCTL_OP_CALL;
		} else if (is_open &&
			   (is_control || is_barrier(op) || (has_store && is_memory(w, in)))) {
			segment++;
			v->ends_segment = 1;
			is_open = has_store = 0;
		}
	}
}

static void keep(void *context, uint32_t v)
{
	walk *w = context;
	spmd_value *of = &w->fn->values[v];

	if (of->segment != SPMD_NONE && of->by_step && of->segment != w->user)
		of->kept = 1;
}

/* A variable that is used in one segment alone, and is stored there first, lives there. */
static void find_homes(walk *w)
{
	pctl_place place;

	for (uint32_t k = 0; k < w->of->n_locals; k++) {
		spmd_local *l = &w->fn->locals[k];
		const pctl_inst *first = inst_at(w, l->first != SPMD_NONE ? l->first : 0);

		if (l->first != SPMD_NONE && first->op == PCTL_OP_STORE && first->n_args == 2 &&
		    w->fn->values[l->first].region == l->scope)
			l->segment = w->fn->values[l->first].segment;
	}
	for (uint32_t i = 0; i < w->of->n_insts; i++) {
		spmd_local *l;

		if (!pctl_place_get(w->s->e.p, w->of, inst_at(w, i), &place) ||
		    !(place.root & PCTL_PLACE_LOCAL))
			continue;
		l = &w->fn->locals[place.root & ~PCTL_PLACE_LOCAL];
		if (w->fn->values[i].segment != w->fn->values[l->first].segment)
			l->segment = SPMD_NONE;
	}
}

static void refuse(walk *w)
{
	uint32_t last_barrier = 0;

	for (uint32_t r = 1; r < w->fn->n_regions; r++) {
		const spmd_region *of = &w->fn->regions[r];

		if (of->waits && of->condition != SPMD_NONE &&
		    (of->diverges || w->fn->values[of->condition].by_step))
			w->s->why =
				"a barrier behind a condition that is computed for each invocation";
	}
	for (uint32_t i = 0; i < w->of->n_insts; i++)
		if (is_barrier(inst_at(w, i)->op))
			last_barrier = i;
	for (uint32_t i = 0; i < w->of->n_insts; i++) {
		const pctl_inst *in = inst_at(w, i);
		uint32_t r = w->fn->values[i].region;

		if (is_barrier(in->op) && w->fn->values[i].by_step &&
		    in->op == PCTL_OP_LOAD_UNIFORM)
			w->s->why = "workgroupUniformLoad of an element that is computed for each "
				    "invocation";
		if (!is_jump(in->op) || w->fn->values[i].segment == SPMD_NONE)
			continue;
		for (; r != SPMD_NONE && !w->fn->regions[r].waits; r = w->fn->regions[r].parent)
			;
		if (in->op == PCTL_OP_RETURN && (i < last_barrier || r != 0))
			w->s->why = "a return of some invocations before a barrier";
		if (in->op != PCTL_OP_RETURN && w->fn->regions[spmd_target(w->fn, in, i)].waits)
			w->s->why = "some invocations leave a loop that has a barrier";
	}
}

void spmd_find_segments(spmd *s)
{
	const uint32_t f = s->e.p->entries[0].function;
	walk w = {.s = s, .fn = &s->functions[f], .of = &s->e.p->functions[f]};

	w.fn->regions[0].waits = 1;
	find_waits(&w);
	find_by_step(&w);
	number_segments(&w);
	for (uint32_t i = 0; i < w.of->n_insts; i++) {
		w.user = w.fn->values[i].segment;
		spmd_each_argument(s->e.p, w.of, inst_at(&w, i), keep, &w);
	}
	find_homes(&w);
	refuse(&w);
	for (uint32_t k = 0; k < w.of->n_locals; k++)
		s->by_step[k] = w.fn->locals[k].by_step && w.fn->locals[k].segment == SPMD_NONE;
}
