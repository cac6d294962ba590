/* See exponent_range.h. A fixpoint over what values flow through: variables, parameters and results; the rules of
 * operations are in exponent_range_rules.c. */
#include "compiler/legalize/exponent_range.h"

#include <stdlib.h>

#include "compiler/analysis/extents.h"
#include "compiler/legalize/contract.h"
#include "compiler/legalize/exponent_range_rules.h"

/* Rounds before what still changes is taken for unknown, and before everything is. */
#define ROUNDS 8
#define MOST_ROUNDS 64

/* A sum that grows by terms below 2^top in magnitude ends at 2^(top + SUM_BITS): half of its last place is that much, and
 * rounding to nearest drops what is less. */
#define SUM_BITS 24
#define SUM_STEPS 256 /* instructions looked at to find out what is added to a variable */

static int least(int a, int b)
{
	return a < b ? a : b;
}

static int most(int a, int b)
{
	return a > b ? a : b;
}

static int is_f32(const pctl_program *p, uint32_t type)
{
	const pctl_type *t = &p->types[type];

	return (t->kind == PCTL_TYPE_SCALAR || t->kind == PCTL_TYPE_VECTOR) &&
	       t->scalar == PCTL_SCALAR_F32;
}

/* ---- instructions ------------------------------------------------------------------------- */

/* What a variable holds: `stored` is put there, `added` is added to what it holds, one after the other. */
typedef struct memory {
	legal_exponent_range stored, added;
} memory;

/* A function being looked at; v is the exponent ranges of its values. */
typedef struct view {
	const pctl_program *p;
	const pctl_function *fn;
	legal_exponent_ranges *x;
	legal_exponent_range *v;
	memory *locals, *vars;
	uint64_t turns; /* of all loops of an invocation; UINT64_MAX: any number */
	int sum_bits; /* what is added to a local of the function is added at most 2^sum_bits - 1 times */
	int changed, give_up;
} view;

static uint32_t type_of(const view *w, uint32_t value)
{
	return pctl_value_type(w->p, w->fn, value);
}

/* The table of a LOOKUP; out of range gives 0. */
static legal_exponent_range table(const view *w, const pctl_inst *in)
{
	legal_exponent_range all = legal_range_nothing;

	for (uint32_t i = 1; i < in->n_args; i++)
		all = legal_range_either(all, legal_range_of_bits(pctl_arg(w->p, in, i)));
	return all;
}

static legal_exponent_range strict(const view *w, const pctl_inst *in)
{
	legal_exponent_range a[3] = {legal_range_unknown, legal_range_unknown, legal_range_unknown};
	const uint8_t operand = w->p->types[type_of(w, pctl_arg(w->p, in, 0))].scalar;

	if (in->op == PCTL_OP_FCONVERT && operand != PCTL_SCALAR_F32)
		return legal_range_from(operand);
	for (uint32_t i = 0; i < in->n_args && i < 3; i++)
		a[i] = w->v[pctl_arg(w->p, in, i)];
	return in->op == PCTL_OP_FCONVERT
		       ? a[0]
		       : legal_range_operation(in->op, a, in->n_args < 3 ? in->n_args : 3);
}

/* The exponent range of a value that is stored, given or returned whole. */
static legal_exponent_range given(const view *w, uint32_t value)
{
	if (w->p->insts[w->fn->first_inst + value].op == PCTL_OP_ZERO)
		return legal_range_nothing;
	return is_f32(w->p, type_of(w, value)) ? w->v[value] : legal_range_unknown;
}

/* Of the operands first..end-1, whose components are those of the result. */
static legal_exponent_range moved(const view *w, const pctl_inst *in, uint32_t first, uint32_t end)
{
	legal_exponent_range all = legal_range_nothing;

	for (uint32_t i = first; i < end; i++)
		all = legal_range_either(all, given(w, pctl_arg(w->p, in, i)));
	return all;
}

/* A variable that an instruction touches, if only this program writes to it: the memory of its own; else NULL.
 * *out: its range. */
static memory *variable(const view *w, const pctl_inst *in, legal_exponent_range **out)
{
	pctl_place place;

	*out = NULL;
	if (!pctl_place_get(w->p, w->fn, in, &place))
		return NULL;
	if (place.root & PCTL_PLACE_LOCAL) {
		const uint32_t local = w->fn->first_local + (place.root & ~PCTL_PLACE_LOCAL);

		*out = &w->x->locals[local];
		return &w->locals[local];
	}
	if (place.space != PCTL_SPACE_PRIVATE && place.space != PCTL_SPACE_WORKGROUP)
		return NULL;
	*out = &w->x->vars[place.root];
	return &w->vars[place.root];
}

/* What is loaded from memory. */
static legal_exponent_range loaded(const view *w, const pctl_inst *in)
{
	legal_exponent_range *own;
	pctl_place place;

	if (variable(w, in, &own))
		return *own;
	if (w->x->contracts && pctl_place_get(w->p, w->fn, in, &place) &&
	    w->x->contracts[place.root])
		return legal_range_at_least(PCTL_CONTRACT_LEAST, PCTL_CONTRACT_MOST + 1);
	return legal_range_unknown;
}

/* The exponent range of an instruction that yields an f32; parameters have theirs from the calls. */
static legal_exponent_range value(const view *w, const pctl_inst *in)
{
	if (PCTL_IS_STRICT(in->op))
		return strict(w, in);
	switch (in->op) {
	case PCTL_OP_CONST:
		return legal_range_of_bits(pctl_arg(w->p, in, 0));
	case PCTL_OP_ZERO:
		return legal_range_nothing;
	case PCTL_OP_LOOKUP:
		return table(w, in);
	case PCTL_OP_LOAD:
	case PCTL_OP_LOAD_UNIFORM:
		return loaded(w, in);
	case PCTL_OP_CALL:
		return w->x->returns[pctl_arg(w->p, in, 0)];
	case PCTL_OP_SELECT:
		return moved(w, in, 1, 3);
	case PCTL_OP_COMPOSE:
		return moved(w, in, 0, in->n_args);
	case PCTL_OP_INSERT:
		return moved(w, in, 0, 2);
	case PCTL_OP_SPLAT:
	case PCTL_OP_EXTRACT:
	case PCTL_OP_EXTRACT_DYN: /* out of range gives 0 */
	case PCTL_OP_SHUFFLE:
		return moved(w, in, 0, 1);
	default:
		return legal_range_unknown;
	}
}

/* ---- sums --------------------------------------------------------------------------------- */

static int is_sum(const view *w, uint32_t value, const memory *of, memory *m, int *steps);

static void join(memory *m, memory with)
{
	m->stored = legal_range_either(m->stored, with.stored);
	m->added = legal_range_either(m->added, with.added);
}

/* a + b or a - b. */
static int is_sum_of_two(const view *w, const pctl_inst *in, const memory *of, memory *m,
			 int *steps)
{
	const uint32_t a = pctl_arg(w->p, in, 0), b = pctl_arg(w->p, in, 1);
	memory in_a = {legal_range_nothing, legal_range_nothing},
	       in_b = {legal_range_nothing, legal_range_nothing};
	const int a_is = is_sum(w, a, of, &in_a, steps), b_is = is_sum(w, b, of, &in_b, steps);

	if (a_is == b_is)
		return 0;
	join(m, a_is ? in_a : in_b);
	m->added = legal_range_either(m->added, w->v[a_is ? b : a]);
	return 1;
}

static int is_sum_of_fma(const view *w, const pctl_inst *in, const memory *of, memory *m,
			 int *steps)
{
	memory in_c = {legal_range_nothing, legal_range_nothing};

	if (!is_sum(w, pctl_arg(w->p, in, 2), of, &in_c, steps))
		return 0;
	join(m, in_c);
	m->added = legal_range_either(m->added, legal_range_product(w->v[pctl_arg(w->p, in, 0)],
								    w->v[pctl_arg(w->p, in, 1)]));
	return 1;
}

/* One of the operands first..end-1, of which the value has components. */
static int is_sum_moved(const view *w, const pctl_inst *in, uint32_t first, uint32_t end,
			const memory *of, memory *m, int *steps)
{
	memory all = {legal_range_nothing, legal_range_nothing};
	int found = 0;

	for (uint32_t i = first; i < end; i++) {
		const uint32_t value = pctl_arg(w->p, in, i);
		memory part = {legal_range_nothing, legal_range_nothing};

		if (is_sum(w, value, of, &part, steps))
			found = 1;
		else
			part.stored = given(w, value);
		join(&all, part);
	}
	if (found)
		join(m, all);
	return found;
}

/* 1: the value is what `of` holds, or some of that, with terms added one after the other; *m is joined with what it may be
 * besides. 0: it is anything; *m is as it was. Whatever else of `of` is in the terms only makes their ranges larger. */
static int is_sum(const view *w, uint32_t value, const memory *of, memory *m, int *steps)
{
	const pctl_inst *in = &w->p->insts[w->fn->first_inst + value];
	legal_exponent_range *range;

	if (!in->type || !is_f32(w->p, in->type) || (*steps)-- <= 0)
		return 0;
	switch (in->op) {
	case PCTL_OP_LOAD:
		return variable(w, in, &range) == of;
	case PCTL_OP_FADD:
	case PCTL_OP_FSUB:
		return is_sum_of_two(w, in, of, m, steps);
	case PCTL_OP_FFMA:
		return is_sum_of_fma(w, in, of, m, steps);
	case PCTL_OP_FMIN:
	case PCTL_OP_FMAX:
	case PCTL_OP_INSERT:
		return is_sum_moved(w, in, 0, 2, of, m, steps);
	case PCTL_OP_SELECT:
		return is_sum_moved(w, in, 1, 3, of, m, steps);
	case PCTL_OP_COMPOSE:
		return is_sum_moved(w, in, 0, in->n_args, of, m, steps);
	case PCTL_OP_FNEG:
	case PCTL_OP_FABS:
	case PCTL_OP_SPLAT:
	case PCTL_OP_EXTRACT:
	case PCTL_OP_EXTRACT_DYN:
	case PCTL_OP_SHUFFLE:
		return is_sum_moved(w, in, 0, 1, of, m, steps);
	default:
		return 0;
	}
}

/* Rounding is monotonic, and k terms below 2^top, each rounded, add up to no more than k 2^top, which is an f32 as long
 * as k is at most 2^SUM_BITS; beyond that nothing is added any more. */
static legal_exponent_range held(const memory *m, int bits)
{
	legal_exponent_range r;

	if (m->added.top == legal_range_nothing.top && m->added.is_finite)
		return m->stored;
	r = legal_range_made(least(m->stored.lsb, m->added.lsb),
			     most(m->stored.top, m->added.top) + bits + 1);
	r.is_finite = r.is_finite && m->stored.is_finite && m->added.is_finite;
	return r;
}

/* How often a sum in the function is added to: each of its sums once, and once a turn of a loop. Of a function that is
 * called, and of memory that is not of one call, nothing is counted. */
static int sum_bits(const view *w, uint32_t function)
{
	uint64_t terms = 1;
	int bits = 0;

	if (w->p->n_entries != 1 || w->p->entries[0].function != function ||
	    w->turns >= 1u << SUM_BITS)
		return SUM_BITS;
	for (uint32_t i = 0; i < w->fn->n_insts; i++) {
		const uint16_t op = w->p->insts[w->fn->first_inst + i].op;

		if (op == PCTL_OP_FADD || op == PCTL_OP_FSUB || op == PCTL_OP_FFMA)
			terms += w->turns + 1;
	}
	while (bits < SUM_BITS && UINT64_C(1) << bits < terms)
		bits++;
	return bits;
}

/* ---- fixpoint ----------------------------------------------------------------------------- */

static void flow(view *w, legal_exponent_range *into, legal_exponent_range g)
{
	legal_exponent_range now = legal_range_either(*into, g);

	if (w->give_up && now.lsb != into->lsb)
		now.lsb = LEGAL_LSB_LEAST;
	if (w->give_up && now.low != into->low)
		now.low = now.lsb;
	if (w->give_up && now.top != into->top)
		now.top = LEGAL_TOP_MOST;
	w->changed |= now.lsb != into->lsb || now.low != into->low || now.top != into->top ||
		      now.is_finite != into->is_finite;
	*into = now;
}

static void flow_call(view *w, const pctl_inst *in)
{
	const pctl_function *callee = &w->p->functions[pctl_arg(w->p, in, 0)];

	for (uint32_t i = 0; i < callee->n_params; i++)
		flow(w, &w->x->values[callee->first_inst + i], given(w, pctl_arg(w->p, in, i + 1)));
}

static void flow_store(view *w, const pctl_inst *in)
{
	const uint32_t value = pctl_arg(w->p, in, 0);
	legal_exponent_range *range;
	memory *into = variable(w, in, &range);
	memory m = {legal_range_nothing, legal_range_nothing};
	int steps = SUM_STEPS;

	if (!into)
		return;
	if (!is_sum(w, value, into, &m, &steps))
		m.stored = given(w, value);
	flow(w, &into->stored, m.stored);
	flow(w, &into->added, m.added);
	*range = held(into, range >= w->x->locals && range < w->x->locals + w->p->n_locals
				    ? w->sum_bits
				    : SUM_BITS);
}

static void look(view *w, uint32_t function)
{
	const int16_t *assumed = w->x->assumed;

	w->fn = &w->p->functions[function];
	w->v = w->x->values + w->fn->first_inst;
	w->sum_bits = sum_bits(w, function);
	for (uint32_t i = 0; i < w->fn->n_insts; i++) {
		const pctl_inst *in = &w->p->insts[w->fn->first_inst + i];

		if (in->op != PCTL_OP_PARAM)
			w->v[i] = in->type && is_f32(w->p, in->type) ? value(w, in)
								     : legal_range_unknown;
		if (assumed && w->v[i].lsb < assumed[w->fn->first_inst + i])
			w->v[i].lsb = assumed[w->fn->first_inst + i];
		if (w->v[i].low < w->v[i].lsb)
			w->v[i].low = w->v[i].lsb;
		if (in->op == PCTL_OP_STORE)
			flow_store(w, in);
		else if (in->op == PCTL_OP_CALL)
			flow_call(w, in);
		else if (in->op == PCTL_OP_RETURN && in->n_args)
			flow(w, &w->x->returns[function], given(w, pctl_arg(w->p, in, 0)));
	}
}

static void forget(legal_exponent_range *g, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		g[i] = legal_range_unknown;
}

static void forget_memory(memory *m, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		m[i] = (memory){legal_range_unknown, legal_range_nothing};
}

static legal_exponent_range *nothings(uint32_t n)
{
	legal_exponent_range *g = calloc(n + 1u, sizeof(*g));

	for (uint32_t i = 0; g && i < n; i++)
		g[i] = legal_range_nothing;
	return g;
}

static memory *empty_memory(uint32_t n)
{
	memory *m = calloc(n + 1u, sizeof(*m));

	for (uint32_t i = 0; m && i < n; i++)
		m[i] = (memory){legal_range_nothing, legal_range_nothing};
	return m;
}

static void look_at_all(view *w)
{
	const pctl_program *p = w->p;
	int round = 0;

	do {
		w->changed = 0;
		w->give_up = round++ >= ROUNDS;
		if (round == MOST_ROUNDS) {
			forget(w->x->values, p->n_insts);
			forget(w->x->locals, p->n_locals);
			forget(w->x->vars, p->n_vars);
			forget(w->x->returns, p->n_functions);
			forget_memory(w->locals, p->n_locals);
			forget_memory(w->vars, p->n_vars);
		}
		for (uint32_t f = 1; f < p->n_functions; f++)
			look(w, f);
	} while (w->changed);
}

int legal_exponent_ranges_find(const pctl_program *p, legal_exponent_ranges *out)
{
	view w = {.p = p, .x = out, .turns = UINT64_MAX};
	pctl_extents extents;
	int made_all;

	out->values = nothings(p->n_insts);
	out->locals = nothings(p->n_locals);
	out->vars = nothings(p->n_vars);
	out->returns = nothings(p->n_functions);
	w.locals = empty_memory(p->n_locals);
	w.vars = empty_memory(p->n_vars);
	made_all = out->values && out->locals && out->vars && out->returns && w.locals && w.vars;
	if (made_all && p->n_entries == 1) {
		const pctl_status status = pctl_program_extents(p, NULL, NULL, &extents);

		made_all = status != PCTL_E_NOMEM;
		if (status == PCTL_OK)
			w.turns = extents.need[PCTL_EXTENT_TURNS];
	}
	if (made_all)
		look_at_all(&w);
	free(w.locals);
	free(w.vars);
	return made_all;
}

void legal_exponent_ranges_drop(legal_exponent_ranges *x)
{
	free(x->values);
	free(x->locals);
	free(x->vars);
	free(x->returns);
}

int legal_is_finite(const pctl_program *p, const pctl_function *fn, uint32_t inst,
		    const legal_exponent_ranges *x)
{
	const pctl_inst *in = &p->insts[fn->first_inst + inst];
	const legal_exponent_range *values = x->values + fn->first_inst;

	for (uint32_t i = 0; i < in->n_args && i < 3; i++) {
		const uint32_t v = pctl_arg(p, in, i);

		if (is_f32(p, pctl_value_type(p, fn, v)) && !values[v].is_finite)
			return 0;
	}
	return !is_f32(p, in->type) || values[inst].is_finite;
}

int legal_is_subnormal_free(const pctl_program *p, const pctl_function *fn, const pctl_inst *in,
			    const legal_exponent_ranges *x)
{
	const legal_exponent_range *values = x->values + fn->first_inst;
	legal_exponent_range a[3] = {legal_range_nothing, legal_range_nothing, legal_range_nothing};

	for (uint32_t i = 0; i < in->n_args && i < 3; i++) {
		const uint32_t v = pctl_arg(p, in, i);

		if (is_f32(p, pctl_value_type(p, fn, v)))
			a[i] = values[v];
		if (a[i].low < LEGAL_LSB_NORMAL)
			return 0;
	}
	switch (in->op) {
	case PCTL_OP_FADD:
	case PCTL_OP_FSUB:
		return a[0].lsb >= LEGAL_LSB_NORMAL && a[1].lsb >= LEGAL_LSB_NORMAL;
	case PCTL_OP_FMUL:
		return a[0].low + a[1].low >= LEGAL_LSB_NORMAL;
	case PCTL_OP_FFMA:
		return a[0].lsb + a[1].lsb >= LEGAL_LSB_NORMAL && a[2].lsb >= LEGAL_LSB_NORMAL;
	case PCTL_OP_FDIV:
		return a[0].low - a[1].top >= LEGAL_LSB_NORMAL;
	case PCTL_OP_FSQRT:
	case PCTL_OP_FMIN:
	case PCTL_OP_FMAX:
	case PCTL_OP_FEQ:
	case PCTL_OP_FNE:
	case PCTL_OP_FLT:
	case PCTL_OP_FLE:
	case PCTL_OP_FGT:
	case PCTL_OP_FGE:
	case PCTL_OP_FFLOOR:
	case PCTL_OP_FCEIL:
	case PCTL_OP_FTRUNC:
	case PCTL_OP_FROUND:
		return 1;
	case PCTL_OP_FCONVERT:
		return p->types[pctl_value_type(p, fn, pctl_arg(p, in, 0))].scalar !=
		       PCTL_SCALAR_F32;
	default:
		return 0;
	}
}
