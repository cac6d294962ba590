/* What is known of the results of instructions without effect. Unknown operations give a symbol
 * that is the same for the same operands, so that equal expressions stay equal. */
#include <string.h>

#include "compiler/eval/eval.h"
#include "compiler/eval/float.h"
#include "compiler/analysis/interp.h"

const pctl_absvec *pctl_absvec_of(pctl_interp *w, const pctl_absval *const *parts, uint32_t n)
{
	pctl_absvec *c = pctl_arena_alloc(w->arena, sizeof(*c));
	uint32_t i;

	if (!c)
		return NULL;
	c->n = n;
	for (i = 0; i < n; i++) {
		if (!parts[i])
			return NULL;
		c->part[i] = parts[i];
	}
	return c;
}

uint32_t pctl_interp_parts(const pctl_program *p, uint32_t type)
{
	return p->types[type].kind == PCTL_TYPE_VECTOR ? p->types[type].width : 1;
}

uint8_t pctl_interp_scalar(const pctl_program *p, uint32_t type)
{
	const pctl_type *t = &p->types[type];

	/* What is tracked as a whole gets a scalar without a useful range. */
	return t->kind == PCTL_TYPE_SCALAR || t->kind == PCTL_TYPE_VECTOR ||
			       t->kind == PCTL_TYPE_ATOMIC
		       ? t->scalar
		       : PCTL_SCALAR_U64;
}

const pctl_absvec *pctl_absvec_fresh(pctl_interp *w, uint32_t type, uint8_t uniform, uint8_t shared)
{
	const uint8_t scalar = pctl_interp_scalar(w->p, type);
	const uint32_t n = pctl_interp_parts(w->p, type);
	const pctl_absval *parts[4];
	int64_t lo, hi;
	uint32_t i;

	pctl_scalar_range(scalar, &lo, &hi);
	if (shared > w->round_agrees)
		shared = w->round_agrees;
	for (i = 0; i < n; i++)
		parts[i] = pctl_absval_fresh(&w->symbols, scalar, lo, hi, uniform, shared);
	return pctl_absvec_of(w, parts, n);
}

const pctl_absvec *pctl_absvec_zero(pctl_interp *w, uint32_t type)
{
	const uint8_t scalar = pctl_interp_scalar(w->p, type);
	const uint32_t n = pctl_interp_parts(w->p, type);
	const uint8_t kind = w->p->types[type].kind;
	const pctl_absval *parts[4];
	uint32_t i;

	if (kind != PCTL_TYPE_SCALAR && kind != PCTL_TYPE_VECTOR)
		return pctl_absvec_fresh(w, type, PCTL_AGREE_ALL, PCTL_AGREE_ALL);
	for (i = 0; i < n; i++)
		parts[i] = pctl_absval_number(&w->symbols, scalar, 0);
	return pctl_absvec_of(w, parts, n);
}

uint8_t pctl_absvec_uniform(const pctl_absvec *c)
{
	uint8_t least = PCTL_AGREE_ALL;
	uint32_t i;

	for (i = 0; i < c->n; i++) {
		if (c->part[i]->uniform < least)
			least = c->part[i]->uniform;
	}
	return least;
}

uint8_t pctl_absvec_shared(const pctl_absvec *c)
{
	uint8_t least = PCTL_AGREE_ALL;
	uint32_t i;

	for (i = 0; i < c->n; i++) {
		if (c->part[i]->shared < least)
			least = c->part[i]->shared;
	}
	return least;
}

static uint8_t least(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

/* ---- instructions ---- */

static const pctl_absvec *argument(const pctl_interp *w, const pctl_inst *in, uint32_t i)
{
	return w->values[pctl_arg(w->p, in, i)];
}

static const pctl_absvec *elementwise(pctl_interp *w, const pctl_inst *in)
{
	const uint8_t scalar = pctl_interp_scalar(w->p, in->type);
	const uint32_t n = pctl_interp_parts(w->p, in->type);
	const pctl_absval *parts[4] = {NULL}, *args[4];
	uint32_t i, j;

	for (i = 0; i < n; i++) {
		for (j = 0; j < in->n_args && j < 4; j++) {
			const pctl_absvec *c = argument(w, in, j);

			args[j] = c->part[c->n == n ? i : 0];
		}
		parts[i] = pctl_absval_component(w, in->op, scalar, args, j);
	}
	return pctl_absvec_of(w, parts, n);
}

static const pctl_absval *coordinate(pctl_interp *w, uint32_t symbol)
{
	const pctl_symbol *x = &w->symbols.items[symbol];
	pctl_affine f = {0};

	if (x->lo == x->hi) {
		f.constant = x->lo;
	} else {
		f.n = 1;
		f.term[0].symbol = symbol;
		f.term[0].factor = 1;
	}
	return pctl_absval_affine(&w->symbols, PCTL_SCALAR_U32, &f,
				  f.n ? x->uniform : PCTL_AGREE_ALL,
				  f.n ? x->shared : PCTL_AGREE_ALL, NULL);
}

static const pctl_absval *weighted(pctl_interp *w, const pctl_absval *a, const pctl_absval *b,
				   int64_t factor)
{
	return a && b ? pctl_absval_linear(w, PCTL_SCALAR_U32, PCTL_OP_ADD, a, b, factor) : NULL;
}

static const pctl_absvec *builtin(pctl_interp *w, const pctl_inst *in)
{
	const uint32_t *size = w->p->entries[0].workgroup_size, which = pctl_arg(w->p, in, 0);
	const pctl_absval *parts[4] = {NULL};
	uint32_t d;

	if (which == PCTL_BUILTIN_LOCAL_INDEX) {
		parts[0] = weighted(w, coordinate(w, PCTL_SYMBOL_LOCAL),
				    coordinate(w, PCTL_SYMBOL_LOCAL + 1), size[0]);
		parts[0] = weighted(w, parts[0], coordinate(w, PCTL_SYMBOL_LOCAL + 2),
				    (int64_t)size[0] * size[1]);
		return pctl_absvec_of(w, parts, 1);
	}
	for (d = 0; d < 3; d++) {
		const pctl_absval *local = coordinate(w, PCTL_SYMBOL_LOCAL + d);
		const pctl_absval *group = coordinate(w, PCTL_SYMBOL_GROUP + d);

		if (which == PCTL_BUILTIN_LOCAL_ID)
			parts[d] = local;
		else if (which == PCTL_BUILTIN_WORKGROUP_ID)
			parts[d] = group;
		else if (which == PCTL_BUILTIN_GLOBAL_ID)
			parts[d] = weighted(w, local, group, size[d]);
		else if (w->z->groups)
			parts[d] =
				pctl_absval_number(&w->symbols, PCTL_SCALAR_U32, w->z->groups[d]);
		else
			parts[d] = pctl_absval_made(&w->symbols, PCTL_SCALAR_U32, 1,
						    w->symbols.items[PCTL_SYMBOL_GROUP + d].hi + 1,
						    PCTL_OP_BUILTIN, d, NULL, 0);
	}
	return pctl_absvec_of(w, parts, 3);
}

const pctl_absval *pctl_interp_local_x(pctl_interp *w)
{
	return coordinate(w, PCTL_SYMBOL_LOCAL);
}

/* A value made of others in a way that is not followed: who agrees on all of them agrees on it. */
static const pctl_absvec *mixture(pctl_interp *w, const pctl_inst *in)
{
	const char *pattern = pctl_op_get(in->op)->args;
	uint8_t uniform = PCTL_AGREE_ALL, shared = PCTL_AGREE_ALL;
	uint32_t i;

	for (i = 0; i < in->n_args; i++) {
		if (*pattern == 'v') {
			uniform = least(uniform, pctl_absvec_uniform(argument(w, in, i)));
			shared = least(shared, pctl_absvec_shared(argument(w, in, i)));
		}
		if (pattern[1] != '*')
			pattern++;
	}
	return pctl_absvec_fresh(w, in->type, uniform, shared);
}

/* Elements first .. last of a constant table as numbers: their range; 0 when one of them does not
 * fit in a form. */
static int table_range(pctl_interp *w, const pctl_inst *in, uint8_t scalar, uint32_t first,
		       uint32_t last, int64_t *lo, int64_t *hi)
{
	const uint32_t words = pctl_scalar_bits(scalar) / 32;
	int64_t most_lo, most_hi;
	uint32_t i;

	pctl_scalar_range(scalar, &most_lo, &most_hi);
	w->steps += (last - first) / 8;
	for (i = first; i <= last; i++) {
		uint64_t bits = pctl_arg(w->p, in, 1 + i * words);
		int64_t value;

		if (words == 2)
			bits |= (uint64_t)pctl_arg(w->p, in, 2 + i * words) << 32;
		value = pctl_eval_signed(scalar, bits);
		if (words == 2 && (value <= most_lo || value >= most_hi ||
				   (value < 0 && !pctl_scalar_is_signed(scalar))))
			return 0;
		*lo = value < *lo ? value : *lo;
		*hi = value > *hi ? value : *hi;
	}
	return 1;
}

/* An element of a constant table: in the range of the elements that the index can reach here. The
 * instruction is part of the symbol's identity, so that tables are not mixed up. */
static const pctl_absvec *lookup(pctl_interp *w, const pctl_inst *in)
{
	const uint8_t scalar = pctl_interp_scalar(w->p, in->type);
	const uint32_t words = pctl_scalar_bits(scalar) / 32, n = (in->n_args - 1) / words;
	const pctl_absval *index = pctl_absval_exact(&w->symbols, argument(w, in, 0)->part[0]),
			  *one;
	const uint32_t aux = (uint32_t)(in - w->p->insts);
	int64_t lo = INT64_MAX, hi = INT64_MIN, first, last;

	if (!index)
		return NULL;
	first = index->lo;
	last = index->hi;
	if (index->form.n == 1 && index->form.term[0].factor == 1 && !index->form.constant)
		pctl_fact_narrow(&w->symbols, w->state.facts, index->form.term[0].symbol, &first,
				 &last);
	if (first < 0 || last >= n)
		lo = hi = 0; /* outside, the element is 0 */
	first = first > 0 ? first : 0;
	last = last < n ? last : (int64_t)n - 1;
	if (pctl_float_is(scalar) || (first <= last && !table_range(w, in, scalar, (uint32_t)first,
								    (uint32_t)last, &lo, &hi)))
		pctl_scalar_range(scalar, &lo, &hi);
	one = lo == hi ? pctl_absval_number(&w->symbols, scalar,
					    words == 1 ? (uint32_t)lo : (uint64_t)lo)
		       : pctl_absval_made(&w->symbols, scalar, lo, hi, in->op, aux, &index, 1);
	return pctl_absvec_of(w, &one, 1);
}

static const pctl_absvec *composite(pctl_interp *w, const pctl_inst *in)
{
	const uint32_t n = pctl_interp_parts(w->p, in->type);
	const pctl_type *t = &w->p->types[in->type];
	const pctl_absvec *from = in->n_args ? argument(w, in, 0) : NULL;
	const pctl_absval *parts[4] = {NULL};
	uint32_t i;

	switch (in->op) {
	case PCTL_OP_LOOKUP:
		return lookup(w, in);
	case PCTL_OP_COMPOSE:
		for (i = 0; t->kind == PCTL_TYPE_VECTOR && i < n; i++)
			parts[i] = argument(w, in, i)->part[0];
		return t->kind == PCTL_TYPE_VECTOR ? pctl_absvec_of(w, parts, n) : mixture(w, in);
	case PCTL_OP_SPLAT:
		for (i = 0; i < n; i++)
			parts[i] = from->part[0];
		return pctl_absvec_of(w, parts, n);
	case PCTL_OP_EXTRACT:
		if (from->n == 1)
			return mixture(w, in);
		parts[0] = from->part[pctl_arg(w->p, in, 1)];
		return pctl_absvec_of(w, parts, 1);
	case PCTL_OP_SHUFFLE:
		for (i = 0; i < n; i++)
			parts[i] = from->part[pctl_arg(w->p, in, 1 + i)];
		return pctl_absvec_of(w, parts, n);
	case PCTL_OP_INSERT:
		if (t->kind != PCTL_TYPE_VECTOR)
			return mixture(w, in);
		for (i = 0; i < n; i++)
			parts[i] = i == pctl_arg(w->p, in, 2) ? argument(w, in, 1)->part[0]
							      : from->part[i];
		return pctl_absvec_of(w, parts, n);
	default:
		return mixture(w, in);
	}
}

/* ALL and ANY of a single bool are the bool; of a vector, AND or OR of its components. */
static const pctl_absvec *quantified(pctl_interp *w, const pctl_inst *in)
{
	const pctl_absvec *c = argument(w, in, 0);
	const pctl_absval *all = c->part[0];
	uint32_t i;

	for (i = 1; i < c->n && all; i++)
		all = pctl_absval_logic(w, in->op == PCTL_OP_ALL ? PCTL_OP_AND : PCTL_OP_OR, all,
					c->part[i]);
	return pctl_absvec_of(w, &all, 1);
}

const pctl_absvec *pctl_interp_value(pctl_interp *w, const pctl_inst *in)
{
	const pctl_op_info *info = pctl_op_get(in->op);
	const uint8_t kind = w->p->types[in->type].kind;
	const pctl_absval *one;

	switch (info->kind) {
	case PCTL_OPKIND_const:
		if (in->op == PCTL_OP_BUILTIN)
			return builtin(w, in);
		if (in->op == PCTL_OP_ZERO)
			return pctl_absvec_zero(w, in->type);
		one = pctl_absval_number(&w->symbols, pctl_interp_scalar(w->p, in->type),
					 pctl_arg(w->p, in, 0) | (uint64_t)pctl_arg(w->p, in, 1)
									 << 32);
		return pctl_absvec_of(w, &one, 1);
	case PCTL_OPKIND_bool:
		return quantified(w, in);
	case PCTL_OPKIND_elem:
	case PCTL_OPKIND_convert:
		if (kind != PCTL_TYPE_SCALAR && kind != PCTL_TYPE_VECTOR)
			return mixture(w, in);
		if (in->op == PCTL_OP_BITCAST &&
		    argument(w, in, 0)->n != pctl_interp_parts(w->p, in->type))
			return mixture(w, in);
		return elementwise(w, in);
	default:
		return composite(w, in);
	}
}

/* Each lane, or each subgroup, has a value of its own; a workgroup of one subgroup agrees on what is over all lanes, and
 * what all agree on before stays so where missing lanes change nothing. */
const pctl_absvec *pctl_interp_subgroup(pctl_interp *w, const pctl_inst *in)
{
	const uint32_t *size = w->p->entries[0].workgroup_size;
	const uint64_t invocations = (uint64_t)size[0] * size[1] * size[2];
	const int is_alone = invocations <= pctl_arg(w->p, in, in->n_args - 1);
	uint8_t uniform = PCTL_AGREE_NONE;

	switch (in->op) {
	case PCTL_OP_SUBGROUP_MIN:
	case PCTL_OP_SUBGROUP_MAX:
	case PCTL_OP_SUBGROUP_AND:
	case PCTL_OP_SUBGROUP_OR:
	case PCTL_OP_SUBGROUP_ALL:
	case PCTL_OP_SUBGROUP_ANY:
		uniform =
			is_alone ? PCTL_AGREE_GROUP
				 : least(PCTL_AGREE_GROUP, pctl_absvec_uniform(argument(w, in, 0)));
		break;
	case PCTL_OP_SUBGROUP_ADD:
	case PCTL_OP_SUBGROUP_MUL:
	case PCTL_OP_SUBGROUP_XOR:
	case PCTL_OP_SUBGROUP_BALLOT:
	case PCTL_OP_SUBGROUP_BROADCAST:
		uniform = is_alone ? PCTL_AGREE_GROUP : PCTL_AGREE_NONE;
		break;
	default:
		break;
	}
	return pctl_absvec_fresh(w, in->type, uniform, PCTL_AGREE_NONE);
}
