/* Loops over loaded f32 values are written twice, for devices that are exact but for subnormals: a fast copy that
 * assumes that no value it meets is tiny, and tests that as it goes, and the loop as it was, which runs
 * where a test failed. The fast copy works on locals of its own, so that there is nothing to undo.
 *
 * A fast copy does no more than put values into locals: no other stores, no calls, no barriers, no way out of the
 * function, and nothing that turns an f32 into another type, so that the way it takes and the places it reads are
 * those of the loop as it was, whatever its f32 values are worth. */
#include "compiler/legalize/loop_version.h"

#include <stdlib.h>

#define LARGEST_GROWTH 4096u /* instructions added to the whole program */
#define MOST_LOOPS 256u	     /* looked at, in a program */
#define ROUNDS 16

static int find_loops(struct legal_loop_versioner *x)
{
	const pctl_program *p = x->p;

	x->loops = calloc(MOST_LOOPS + 1u, sizeof(*x->loops));
	if (!x->loops)
		return 0;
	for (uint32_t f = 1; f < p->n_functions; f++) {
		for (uint32_t v = 0; v < p->functions[f].n_insts && x->n_loops < MOST_LOOPS; v++) {
			legal_loop *s = &x->loops[x->n_loops];
			uint32_t depth = 1;

			*s = (legal_loop){.function = f, .first = v, .last = v};
			if (legal_loop_inst(p, s, v)->op != PCTL_OP_LOOP)
				continue;
			while (depth) {
				const uint16_t op = legal_loop_inst(p, s, ++s->last)->op;

				depth += op == PCTL_OP_LOOP;
				depth -= op == PCTL_OP_END_LOOP;
			}
			x->n_loops++;
		}
	}
	for (uint32_t i = 0; i < x->n_loops; i++)
		x->loops[i].is_open = (uint32_t)legal_loop_pays(x, &x->loops[i]);
	return 1;
}

/* The outermost of those that are still open; how many. */
static uint32_t choose(struct legal_loop_versioner *x)
{
	uint32_t n = 0, function = 0, last = 0;

	for (uint32_t i = 0; i < x->n_loops; i++) {
		legal_loop *s = &x->loops[i];

		s->is_chosen = s->is_open && (s->function != function || s->first > last);
		if (!s->is_chosen)
			continue;
		function = s->function;
		last = s->last;
		n++;
	}
	return n;
}

static int make_lsbs(const struct legal_loop_versioner *x, const pctl_program *p, int16_t **out)
{
	int16_t *all = malloc((p->n_insts + 1u) * sizeof(*all));

	*out = all;
	if (!all)
		return 0;
	for (uint32_t i = 0; i < p->n_insts; i++)
		all[i] = LEGAL_LSB_LEAST;
	for (uint32_t i = 0; i < x->n_lsbs; i++)
		all[p->functions[x->lsbs[i].function].first_inst + x->lsbs[i].value] =
			x->lsbs[i].lsb;
	return 1;
}

/* Close the loops whose fast copy still has guards; -1: no memory, else how many. */
static int close_useless(struct legal_loop_versioner *x, const pctl_program *p,
			 const int16_t *assumed)
{
	legal_exponent_ranges g = {.assumed = assumed};
	int n = 0;

	if (!legal_exponent_ranges_find(p, &g)) {
		legal_exponent_ranges_drop(&g);
		return -1;
	}
	for (uint32_t i = 0; i < x->n_loops; i++) {
		legal_loop *s = &x->loops[i];
		const pctl_function *fn = &p->functions[s->fast_function];

		for (uint32_t v = s->fast_first; s->is_chosen && v < s->fast_end; v++) {
			const pctl_inst *in = &p->insts[fn->first_inst + v];

			if (!legal_loop_guarded(x, p, fn, in) ||
			    legal_is_subnormal_free(p, fn, in, &g))
				continue;
			s->is_chosen = s->is_open = 0;
			n++;
		}
	}
	legal_exponent_ranges_drop(&g);
	return n;
}

/* One try with the loops that are open. PCTL_OK with *out NULL: nothing to do; *again: not with these. */
static pctl_status attempt(struct legal_loop_versioner *x, int *again, int16_t **assumed,
			   pctl_program **out)
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	legal_rules rules = legal_int64_rules;
	legal l = {.call = &quiet, .versioner = x};
	pctl_status status;
	int n;

	*again = 0;
	if (!choose(x))
		return PCTL_OK;
	rules.instruction = legal_loop_version_instruction;
	x->n_lsbs = 0;
	status = legal_rebuild(&l, x->p, &rules, 0, NULL, out);
	/* Regions inside each other may now be deeper than a program's may be. */
	if (status == PCTL_E_INVALID)
		return PCTL_OK;
	if (status != PCTL_OK)
		return status;
	n = make_lsbs(x, *out, assumed) ? close_useless(x, *out, *assumed) : -1;
	if (n == 0 && (*out)->n_insts - x->p->n_insts <= LARGEST_GROWTH)
		return PCTL_OK;
	*again = n > 0;
	free(*assumed);
	pctl_program_destroy(*out);
	*assumed = NULL;
	*out = NULL;
	return n < 0 ? PCTL_E_NOMEM : PCTL_OK;
}

static int prepare(struct legal_loop_versioner *x)
{
	const pctl_program *p = x->p;
	uint32_t insts = 1, locals = 1;

	for (uint32_t f = 0; f < p->n_functions; f++) {
		if (p->functions[f].n_insts > insts)
			insts = p->functions[f].n_insts;
		if (p->functions[f].n_locals > locals)
			locals = p->functions[f].n_locals;
	}
	x->locals = calloc(locals, 1);
	x->renamed = calloc(locals, sizeof(*x->renamed));
	x->fast_id = calloc(insts, sizeof(*x->fast_id));
	return legal_exponent_ranges_find(p, &x->exponent_ranges) && x->locals && x->renamed &&
	       x->fast_id && find_loops(x);
}

pctl_status legal_loop_version_pass(const pctl_program *p, const legal_chooser *chooser,
				    const pctl_call *call, int16_t **assumed, pctl_program **out)
{
	struct legal_loop_versioner x = {.p = p, .chooser = chooser};
	pctl_status status = PCTL_E_NOMEM;
	int again = 1;

	*assumed = NULL;
	*out = NULL;
	if (prepare(&x)) {
		status = PCTL_OK;
		for (int round = 0; again && round < ROUNDS && status == PCTL_OK; round++)
			status = attempt(&x, &again, assumed, out);
	}
	if (status != PCTL_OK)
		status = pctl_refuse(call, PC2_NOMEM, "legalising a program");
	legal_exponent_ranges_drop(&x.exponent_ranges);
	free(x.loops);
	free(x.locals);
	free(x.renamed);
	free(x.fast_id);
	free(x.lsbs);
	return status;
}
