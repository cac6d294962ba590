/* See exponent_range.h. The rules are one function for an operation, and a fixpoint over what values flow
 * through: variables, parameters and results. */
#include "compiler/legalize/exponent_range.h"

#include <stdlib.h>

/* Rounds before what still changes is taken for unknown, and before everything is. */
#define ROUNDS 8
#define MOST_ROUNDS 64

static const legal_exponent_range unknown = {LEGAL_LSB_LEAST, LEGAL_TOP_MOST};
static const legal_exponent_range nothing = {LEGAL_LSB_MOST, -LEGAL_LSB_MOST};

static int16_t between(int least, int x, int most)
{
	return (int16_t)(x < least ? least : x > most ? most : x);
}

static int least(int a, int b)
{
	return a < b ? a : b;
}

static int most(int a, int b)
{
	return a > b ? a : b;
}

static legal_exponent_range made(int lsb, int top)
{
	return (legal_exponent_range){between(LEGAL_LSB_LEAST, lsb, LEGAL_LSB_MOST),
				      between(-LEGAL_LSB_MOST, top, LEGAL_TOP_MOST)};
}

static legal_exponent_range either(legal_exponent_range a, legal_exponent_range b)
{
	return made(least(a.lsb, b.lsb), most(a.top, b.top));
}

/* A value of at least 2^low: an f32 has 23 places below its first. */
static legal_exponent_range at_least(int low, int top)
{
	return made(low - 23, top);
}

static legal_exponent_range of_bits(uint32_t bits)
{
	const uint32_t fraction = bits & 0x7fffffu, exponent = (bits >> 23) & 0xffu;
	int zeros = 0;

	if (!(bits << 1) || exponent == 0xff)
		return nothing;
	while (zeros < 23 && !((fraction >> zeros) & 1u))
		zeros++;
	if (!exponent)
		return made(-149 + zeros, -126);
	return made((int)exponent - 150 + zeros, (int)exponent - 126);
}

static int is_f32(const pctl_program *p, uint32_t type)
{
	const pctl_type *t = &p->types[type];

	return (t->kind == PCTL_TYPE_SCALAR || t->kind == PCTL_TYPE_VECTOR) &&
	       t->scalar == PCTL_SCALAR_F32;
}

/* ---- rules -------------------------------------------------------------------------------- */

/* exp2 of |x| < 2^top lies between 2^-n and 2^n; e^x, 10^x likewise with their factors. */
static legal_exponent_range power(const legal_exponent_range *a, int numerator, int denominator)
{
	int n;

	if (a->top > 7)
		return unknown;
	n = a->top < 0 ? 1 : (1 << a->top);
	n = (n * numerator + denominator - 1) / denominator;
	return at_least(-n - 1, n + 1);
}

static legal_exponent_range from(uint8_t scalar)
{
	switch (scalar) {
	case PCTL_SCALAR_I32:
	case PCTL_SCALAR_U32:
		return made(0, 33);
	case PCTL_SCALAR_F16:
		return made(-24, 16);
	case PCTL_SCALAR_BF16:
		return made(-133, LEGAL_TOP_MOST);
	default:
		return unknown;
	}
}

/* Half of a lsb, rounded down. */
static int half(int lsb)
{
	return lsb >= 0 ? lsb / 2 : -((1 - lsb) / 2);
}

/* The result of a strict operation that yields f32; a is its operands. Elementary functions: next to
 * log's zero lie 1 - 2^-24 and 1 + 2^-23, whose logarithms are 2^-24 and more (2^-26 for log10). No f32
 * beyond 1 comes nearer to a zero of sin or cos than that their value is 2^-30 (all of them were tried;
 * the least is cos(0x1.f37c8ap+95), 0x1.bbddp-30). */
static legal_exponent_range operation(uint16_t op, const legal_exponent_range *a)
{
	switch (op) {
	case PCTL_OP_FADD:
	case PCTL_OP_FSUB:
		return made(least(a[0].lsb, a[1].lsb), most(a[0].top, a[1].top) + 1);
	case PCTL_OP_FMUL:
		return made(a[0].lsb + a[1].lsb, a[0].top + a[1].top + 1);
	case PCTL_OP_FFMA:
		return made(least(a[0].lsb + a[1].lsb, a[2].lsb),
			    most(a[0].top + a[1].top, a[2].top) + 2);
	case PCTL_OP_FDIV:
		return at_least(a[0].lsb - a[1].top, a[0].top - a[1].lsb + 1);
	case PCTL_OP_FSQRT:
		return at_least(half(a[0].lsb), most(0, a[0].top) / 2 + 1);
	case PCTL_OP_FNEG:
	case PCTL_OP_FABS:
		return a[0];
	case PCTL_OP_FMIN:
	case PCTL_OP_FMAX:
		return either(a[0], a[1]);
	case PCTL_OP_FFLOOR:
	case PCTL_OP_FCEIL:
	case PCTL_OP_FTRUNC:
	case PCTL_OP_FROUND:
		return made(most(a[0].lsb, 0), most(a[0].top, 0) + 1);
	case PCTL_OP_FEXP:
		return power(a, 3, 2);
	case PCTL_OP_FEXP2:
		return power(a, 1, 1);
	case PCTL_OP_FEXP10:
		return power(a, 7, 2);
	case PCTL_OP_FLOG:
	case PCTL_OP_FLOG2:
		return at_least(-24, 8);
	case PCTL_OP_FLOG10:
		return at_least(-26, 6);
	case PCTL_OP_FRSQRT:
		return at_least(-64, 76);
	case PCTL_OP_FCBRT:
		return at_least(-50, 44);
	case PCTL_OP_FCOS:
		return at_least(-30, 1);
	case PCTL_OP_FSIN:
		return at_least(least(a[0].lsb - 1, -30), 1);
	case PCTL_OP_FTAN:
		return at_least(least(a[0].lsb - 1, -30), 31);
	case PCTL_OP_FATAN:
		return at_least(least(a[0].lsb - 1, -1), 1);
	case PCTL_OP_FTANH:
		return made(LEGAL_LSB_LEAST, 1);
	default:
		return unknown;
	}
}

/* ---- instructions ------------------------------------------------------------------------- */

/* A function being looked at; v is the exponent ranges of its values. */
typedef struct view {
	const pctl_program *p;
	const pctl_function *fn;
	legal_exponent_ranges *x;
	legal_exponent_range *v;
	int changed, give_up;
} view;

static uint32_t type_of(const view *w, uint32_t value)
{
	return pctl_value_type(w->p, w->fn, value);
}

/* The table of a LOOKUP; out of range gives 0. */
static legal_exponent_range table(const view *w, const pctl_inst *in)
{
	legal_exponent_range all = nothing;

	for (uint32_t i = 1; i < in->n_args; i++)
		all = either(all, of_bits(pctl_arg(w->p, in, i)));
	return all;
}

static legal_exponent_range strict(const view *w, const pctl_inst *in)
{
	legal_exponent_range a[3] = {unknown, unknown, unknown};
	const uint8_t operand = w->p->types[type_of(w, pctl_arg(w->p, in, 0))].scalar;

	if (in->op == PCTL_OP_FCONVERT && operand != PCTL_SCALAR_F32)
		return from(operand);
	for (uint32_t i = 0; i < in->n_args && i < 3; i++)
		a[i] = w->v[pctl_arg(w->p, in, i)];
	return in->op == PCTL_OP_FCONVERT ? a[0] : operation(in->op, a);
}

/* The exponent range of a value that is stored, given or returned whole. */
static legal_exponent_range given(const view *w, uint32_t value)
{
	if (w->p->insts[w->fn->first_inst + value].op == PCTL_OP_ZERO)
		return nothing;
	return is_f32(w->p, type_of(w, value)) ? w->v[value] : unknown;
}

/* Of the operands first..end-1, whose components are those of the result. */
static legal_exponent_range moved(const view *w, const pctl_inst *in, uint32_t first, uint32_t end)
{
	legal_exponent_range all = nothing;

	for (uint32_t i = first; i < end; i++)
		all = either(all, given(w, pctl_arg(w->p, in, i)));
	return all;
}

/* The variable that an instruction touches, if only this program writes to it. */
static legal_exponent_range *variable(const view *w, const pctl_inst *in)
{
	pctl_place place;

	if (!pctl_place_get(w->p, w->fn, in, &place))
		return NULL;
	if (place.root & PCTL_PLACE_LOCAL)
		return &w->x->locals[w->fn->first_local + (place.root & ~PCTL_PLACE_LOCAL)];
	return place.space == PCTL_SPACE_PRIVATE || place.space == PCTL_SPACE_WORKGROUP
		       ? &w->x->vars[place.root]
		       : NULL;
}

/* The exponent range of an instruction that yields an f32; parameters have theirs from the calls. */
static legal_exponent_range value(const view *w, const pctl_inst *in)
{
	const legal_exponent_range *from_memory;

	if (PCTL_IS_STRICT(in->op))
		return strict(w, in);
	switch (in->op) {
	case PCTL_OP_CONST:
		return of_bits(pctl_arg(w->p, in, 0));
	case PCTL_OP_ZERO:
		return nothing;
	case PCTL_OP_LOOKUP:
		return table(w, in);
	case PCTL_OP_LOAD:
	case PCTL_OP_LOAD_UNIFORM:
		from_memory = variable(w, in);
		return from_memory ? *from_memory : unknown;
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
		return unknown;
	}
}

/* ---- fixpoint ----------------------------------------------------------------------------- */

static void flow(view *w, legal_exponent_range *into, legal_exponent_range g)
{
	legal_exponent_range now = either(*into, g);

	if (w->give_up && now.lsb != into->lsb)
		now.lsb = LEGAL_LSB_LEAST;
	if (w->give_up && now.top != into->top)
		now.top = LEGAL_TOP_MOST;
	w->changed |= now.lsb != into->lsb || now.top != into->top;
	*into = now;
}

static void flow_call(view *w, const pctl_inst *in)
{
	const pctl_function *callee = &w->p->functions[pctl_arg(w->p, in, 0)];

	for (uint32_t i = 0; i < callee->n_params; i++)
		flow(w, &w->x->values[callee->first_inst + i], given(w, pctl_arg(w->p, in, i + 1)));
}

static void look(view *w, uint32_t function)
{
	const int16_t *assumed = w->x->assumed;

	w->fn = &w->p->functions[function];
	w->v = w->x->values + w->fn->first_inst;
	for (uint32_t i = 0; i < w->fn->n_insts; i++) {
		const pctl_inst *in = &w->p->insts[w->fn->first_inst + i];
		legal_exponent_range *into = in->op == PCTL_OP_STORE ? variable(w, in) : NULL;

		if (in->op != PCTL_OP_PARAM)
			w->v[i] = in->type && is_f32(w->p, in->type) ? value(w, in) : unknown;
		if (assumed && w->v[i].lsb < assumed[w->fn->first_inst + i])
			w->v[i].lsb = assumed[w->fn->first_inst + i];
		if (into)
			flow(w, into, given(w, pctl_arg(w->p, in, 0)));
		else if (in->op == PCTL_OP_CALL)
			flow_call(w, in);
		else if (in->op == PCTL_OP_RETURN && in->n_args)
			flow(w, &w->x->returns[function], given(w, pctl_arg(w->p, in, 0)));
	}
}

static void forget(legal_exponent_range *g, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		g[i] = unknown;
}

static legal_exponent_range *nothings(uint32_t n)
{
	legal_exponent_range *g = calloc(n + 1u, sizeof(*g));

	for (uint32_t i = 0; g && i < n; i++)
		g[i] = nothing;
	return g;
}

int legal_exponent_ranges_find(const pctl_program *p, legal_exponent_ranges *out)
{
	view w = {.p = p, .x = out};
	int round = 0;

	out->values = nothings(p->n_insts);
	out->locals = nothings(p->n_locals);
	out->vars = nothings(p->n_vars);
	out->returns = nothings(p->n_functions);
	if (!out->values || !out->locals || !out->vars || !out->returns)
		return 0;
	do {
		w.changed = 0;
		w.give_up = round++ >= ROUNDS;
		if (round == MOST_ROUNDS) {
			forget(out->values, p->n_insts);
			forget(out->locals, p->n_locals);
			forget(out->vars, p->n_vars);
			forget(out->returns, p->n_functions);
		}
		for (uint32_t f = 1; f < p->n_functions; f++)
			look(&w, f);
	} while (w.changed);
	return 1;
}

void legal_exponent_ranges_drop(legal_exponent_ranges *x)
{
	free(x->values);
	free(x->locals);
	free(x->vars);
	free(x->returns);
}

int legal_is_subnormal_free(const pctl_program *p, const pctl_function *fn, const pctl_inst *in,
			    const legal_exponent_ranges *x)
{
	const legal_exponent_range *values = x->values + fn->first_inst;
	legal_exponent_range a[3] = {nothing, nothing, nothing};

	for (uint32_t i = 0; i < in->n_args && i < 3; i++) {
		const uint32_t v = pctl_arg(p, in, i);

		if (is_f32(p, pctl_value_type(p, fn, v)))
			a[i] = values[v];
		if (a[i].lsb < LEGAL_LSB_NORMAL)
			return 0;
	}
	switch (in->op) {
	case PCTL_OP_FADD:
	case PCTL_OP_FSUB:
	case PCTL_OP_FSQRT:
		return 1;
	case PCTL_OP_FMUL:
	case PCTL_OP_FFMA:
		return a[0].lsb + a[1].lsb >= LEGAL_LSB_NORMAL;
	case PCTL_OP_FDIV:
		return a[0].lsb - a[1].top >= LEGAL_LSB_NORMAL;
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
