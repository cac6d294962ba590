/* See granule.h. The rules are one function for an operation, and a fixpoint over locals. */
#include "legal/granule.h"

#include <string.h>

/* Rounds before what still changes is taken for unknown. */
#define ROUNDS 4

static const legal_granule unknown = {LEGAL_GRAIN_LEAST, LEGAL_TOP_MOST};
static const legal_granule nothing = {LEGAL_GRAIN_MOST, -LEGAL_GRAIN_MOST};

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

static legal_granule made(int grain, int top)
{
	return (legal_granule){between(LEGAL_GRAIN_LEAST, grain, LEGAL_GRAIN_MOST),
			       between(-LEGAL_GRAIN_MOST, top, LEGAL_TOP_MOST)};
}

static legal_granule either(legal_granule a, legal_granule b)
{
	return made(least(a.grain, b.grain), most(a.top, b.top));
}

/* A value of at least 2^low: an f32 has 23 places below its first. */
static legal_granule at_least(int low, int top)
{
	return made(low - 23, top);
}

static legal_granule of_bits(uint32_t bits)
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
static legal_granule power(const legal_granule *a, int numerator, int denominator)
{
	int n;

	if (a->top > 7)
		return unknown;
	n = a->top < 0 ? 1 : (1 << a->top);
	n = (n * numerator + denominator - 1) / denominator;
	return at_least(-n - 1, n + 1);
}

static legal_granule from(uint8_t scalar)
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

/* Half of a grain, rounded down. */
static int half(int grain)
{
	return grain >= 0 ? grain / 2 : -((1 - grain) / 2);
}

/* The result of a strict operation that yields f32; a is its operands. Elementary functions: next to
 * log's zero lie 1 - 2^-24 and 1 + 2^-23, whose logarithms are 2^-24 and more (2^-26 for log10). No f32
 * beyond 1 comes nearer to a zero of sin or cos than that their value is 2^-30 (all of them were tried;
 * the least is cos(0x1.f37c8ap+95), 0x1.bbddp-30). */
static legal_granule operation(uint16_t op, const legal_granule *a)
{
	switch (op) {
	case PCTL_OP_FADD:
	case PCTL_OP_FSUB:
		return made(least(a[0].grain, a[1].grain), most(a[0].top, a[1].top) + 1);
	case PCTL_OP_FMUL:
		return made(a[0].grain + a[1].grain, a[0].top + a[1].top + 1);
	case PCTL_OP_FFMA:
		return made(least(a[0].grain + a[1].grain, a[2].grain),
			    most(a[0].top + a[1].top, a[2].top) + 2);
	case PCTL_OP_FDIV:
		return at_least(a[0].grain - a[1].top, a[0].top - a[1].grain + 1);
	case PCTL_OP_FSQRT:
		return at_least(half(a[0].grain), most(0, a[0].top) / 2 + 1);
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
		return made(most(a[0].grain, 0), most(a[0].top, 0) + 1);
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
		return at_least(least(a[0].grain - 1, -30), 1);
	case PCTL_OP_FTAN:
		return at_least(least(a[0].grain - 1, -30), 31);
	case PCTL_OP_FATAN:
		return at_least(least(a[0].grain - 1, -1), 1);
	case PCTL_OP_FTANH:
		return made(LEGAL_GRAIN_LEAST, 1);
	default:
		return unknown;
	}
}

/* The table of a LOOKUP. */
static legal_granule table(const pctl_program *p, const pctl_inst *in)
{
	legal_granule all = nothing;

	for (uint32_t i = 1; i < in->n_args; i++)
		all = either(all, of_bits(pctl_arg(p, in, i)));
	return all;
}

static legal_granule strict(const pctl_program *p, const pctl_function *fn, const pctl_inst *in,
			    const legal_granule *values)
{
	legal_granule a[3] = {unknown, unknown, unknown};

	if (in->op == PCTL_OP_FCONVERT) {
		const uint32_t from_type = pctl_value_type(p, fn, pctl_arg(p, in, 0));

		return p->types[from_type].scalar == PCTL_SCALAR_F32
			       ? values[pctl_arg(p, in, 0)]
			       : from(p->types[from_type].scalar);
	}
	for (uint32_t i = 0; i < in->n_args && i < 3; i++)
		a[i] = values[pctl_arg(p, in, i)];
	return operation(in->op, a);
}

/* Of the operands that are f32, as a mover takes them: components of the result. */
static legal_granule moved(const pctl_program *p, const pctl_function *fn, const pctl_inst *in,
			   const legal_granule *values, uint32_t first, uint32_t end)
{
	legal_granule all = nothing;

	for (uint32_t i = first; i < end; i++) {
		const uint32_t v = pctl_arg(p, in, i);

		all = either(all, is_f32(p, pctl_value_type(p, fn, v)) ? values[v] : unknown);
	}
	return all;
}

static int local_of(const pctl_program *p, const pctl_function *fn, const pctl_inst *in,
		    uint32_t *local)
{
	pctl_place place;

	if (!pctl_place_get(p, fn, in, &place) || !(place.root & PCTL_PLACE_LOCAL))
		return 0;
	*local = place.root & ~PCTL_PLACE_LOCAL;
	return 1;
}

/* The granule of an instruction that yields an f32. */
static legal_granule value(const pctl_program *p, const pctl_function *fn, const pctl_inst *in,
			   const legal_granule *values, const legal_granule *locals)
{
	uint32_t local;

	if (PCTL_IS_STRICT(in->op))
		return strict(p, fn, in, values);
	switch (in->op) {
	case PCTL_OP_CONST:
		return of_bits(pctl_arg(p, in, 0));
	case PCTL_OP_ZERO:
		return nothing;
	case PCTL_OP_LOOKUP:
		return table(p, in);
	case PCTL_OP_LOAD:
		return local_of(p, fn, in, &local) ? locals[local] : unknown;
	case PCTL_OP_SELECT:
		return moved(p, fn, in, values, 1, 3);
	case PCTL_OP_COMPOSE:
		return moved(p, fn, in, values, 0, in->n_args);
	case PCTL_OP_INSERT:
		return moved(p, fn, in, values, 0, 2);
	case PCTL_OP_SPLAT:
	case PCTL_OP_EXTRACT:
	case PCTL_OP_EXTRACT_DYN: /* out of range gives 0 */
	case PCTL_OP_SHUFFLE:
		return moved(p, fn, in, values, 0, 1);
	default:
		return unknown;
	}
}

/* ---- fixpoint ----------------------------------------------------------------------------- */

static legal_granule stored(const pctl_program *p, const pctl_function *fn, const pctl_inst *in,
			    const legal_granule *values)
{
	const uint32_t v = pctl_arg(p, in, 0);

	if (p->insts[fn->first_inst + v].op == PCTL_OP_ZERO)
		return nothing;
	return is_f32(p, pctl_value_type(p, fn, v)) ? values[v] : unknown;
}

/* One look at every instruction; 1 when a local has grown. */
static int look(const pctl_program *p, const pctl_function *fn, legal_granule *values,
		legal_granule *locals, int give_up)
{
	int changed = 0;

	for (uint32_t v = 0; v < fn->n_insts; v++) {
		const pctl_inst *in = &p->insts[fn->first_inst + v];
		legal_granule now;
		uint32_t local;

		values[v] = in->type && is_f32(p, in->type) ? value(p, fn, in, values, locals)
							    : unknown;
		if (in->op != PCTL_OP_STORE || !local_of(p, fn, in, &local))
			continue;
		now = either(locals[local], stored(p, fn, in, values));
		if (give_up && now.grain != locals[local].grain)
			now.grain = LEGAL_GRAIN_LEAST;
		if (give_up && now.top != locals[local].top)
			now.top = LEGAL_TOP_MOST;
		changed |= now.grain != locals[local].grain || now.top != locals[local].top;
		locals[local] = now;
	}
	return changed;
}

void legal_granules(const pctl_program *p, const pctl_function *fn, legal_granule *values,
		    legal_granule *locals)
{
	int round = 0;

	/* A local starts as zero. */
	for (uint32_t i = 0; i < fn->n_locals; i++)
		locals[i] = nothing;
	while (look(p, fn, values, locals, round >= ROUNDS))
		round++;
}

int legal_is_tame(const pctl_program *p, const pctl_function *fn, const pctl_inst *in,
		  const legal_granule *values)
{
	legal_granule a[3] = {nothing, nothing, nothing};

	for (uint32_t i = 0; i < in->n_args && i < 3; i++) {
		const uint32_t v = pctl_arg(p, in, i);

		if (is_f32(p, pctl_value_type(p, fn, v)))
			a[i] = values[v];
		if (a[i].grain < LEGAL_GRAIN_NORMAL)
			return 0;
	}
	switch (in->op) {
	case PCTL_OP_FADD:
	case PCTL_OP_FSUB:
	case PCTL_OP_FSQRT:
		return 1;
	case PCTL_OP_FMUL:
	case PCTL_OP_FFMA:
		return a[0].grain + a[1].grain >= LEGAL_GRAIN_NORMAL;
	case PCTL_OP_FDIV:
		return a[0].grain - a[1].top >= LEGAL_GRAIN_NORMAL;
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
