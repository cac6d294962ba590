/* Implementation of range.h: the ranges of all values, by passes over the instructions. What a local holds is the hull of
 * all that is stored in it; it grows from nothing until no pass adds to it, ends that keep growing are given up, and what
 * was given up is won back where the ways out of loops limit it (widening, then narrowing). A call's parameters are the
 * hull of all calls, its result that of all its returns. */
#include "compiler/analysis/range.h"

#include <stdlib.h>
#include <string.h>

#define GROWING 3u   /* passes before an end that grows is given up */
#define ENDLESS 24u  /* passes before everything is */
#define SHRINKING 3u /* passes after */
#define ROUNDS 3u /* over the whole program: results of calls reach their callers one round later */

typedef struct sweep {
	pctl_ranges *r;
	const pctl_program *p;
	const pctl_function *fn;
	uint32_t f;
	uint32_t passes;
} sweep;

static const pctl_inst *inst(const sweep *s, uint32_t v)
{
	return &s->p->insts[s->fn->first_inst + v];
}

static uint32_t type_of(const sweep *s, uint32_t v)
{
	return inst(s, v)->type;
}

/* What instruction `at` uses. A scalar stands for all components of itself. */
static pctl_range value(const sweep *s, uint32_t v, uint32_t part, uint32_t at)
{
	return pctl_ranges_value_at(s->r, s->fn, v, part, at);
}

pctl_range pctl_ranges_value(const pctl_ranges *r, const pctl_function *fn, uint32_t v,
			     uint32_t part)
{
	const uint32_t type = r->p->insts[fn->first_inst + v].type,
		       n = pctl_range_parts(r->p, type);

	if (n == 0)
		return pctl_range_all(r->p->types[type].scalar);
	return r->values[r->part[fn->first_inst + v] + (n == 1 ? 0 : part)];
}

pctl_range pctl_ranges_value_at(const pctl_ranges *r, const pctl_function *fn, uint32_t v,
				uint32_t part, uint32_t at)
{
	pctl_range a = pctl_ranges_value(r, fn, v, part);
	uint32_t i = r->first_fact[fn->first_inst + v];

	for (; i != PCTL_NONE; i = r->facts.items[i].next) {
		const pctl_range_fact *f = &r->facts.items[i];

		if (at > f->at && at < f->until)
			a = pctl_range_where(a, (uint16_t)f->op,
					     pctl_ranges_value(r, fn, f->limit, 0));
	}
	return a;
}

pctl_range pctl_ranges_local(const pctl_ranges *r, const pctl_function *fn, uint32_t local)
{
	return r->locals[r->local_part[fn->first_local + local]];
}

/* ---- places ------------------------------------------------------------------------------- */

/* The number of a chain word: a member's, or that of a constant index. */
static int step_number(const pctl_ranges *r, const pctl_function *fn, uint32_t type, uint32_t word,
		       uint32_t *out)
{
	pctl_range index;

	*out = word;
	if (r->p->types[type].kind == PCTL_TYPE_STRUCT)
		return 1;
	index = pctl_ranges_value(r, fn, word, 0);
	*out = (uint32_t)index.lo;
	return index.lo == index.hi && index.lo >= 0;
}

int pctl_range_uniform_path(const pctl_ranges *r, const pctl_function *fn, uint32_t v,
			    uint32_t *var, uint32_t *path, uint32_t *n)
{
	const pctl_inst *in = &r->p->insts[fn->first_inst + v];
	uint32_t taken[PCTL_RANGE_PATH], n_taken = 0, type;
	pctl_place pl;

	while (in->op == PCTL_OP_EXTRACT && n_taken < PCTL_RANGE_PATH) {
		taken[n_taken++] = pctl_arg(r->p, in, 1);
		in = &r->p->insts[fn->first_inst + pctl_arg(r->p, in, 0)];
	}
	if (in->op != PCTL_OP_LOAD || !pctl_place_get(r->p, fn, in, &pl) ||
	    pl.space != PCTL_SPACE_UNIFORM || pl.n_chain + n_taken > PCTL_RANGE_PATH)
		return 0;
	type = pl.root_type;
	*var = pl.root;
	for (*n = 0; *n < pl.n_chain; (*n)++) {
		if (!step_number(r, fn, type, r->p->words[pl.chain + *n], &path[*n]))
			return 0;
		type = pctl_type_step(r->p, type, r->p->words[pl.chain + *n]);
	}
	while (n_taken)
		path[(*n)++] = taken[--n_taken];
	return 1;
}

/* A component of a value out of a uniform, by what the program declares of it. The check of uniforms before a job takes
 * them as unsigned, so that nothing is negative that has a maximum. */
static pctl_range declared(const sweep *s, uint32_t v, uint32_t part, pctl_range all)
{
	uint32_t path[PCTL_RANGE_PATH + 1], n, var;

	if (!pctl_range_uniform_path(s->r, s->fn, v, &var, path, &n))
		return all;
	if (s->p->types[type_of(s, v)].kind == PCTL_TYPE_VECTOR)
		path[n++] = part;
	for (uint32_t i = 0; i < s->p->n_maxima; i++) {
		const pctl_max *m = &s->p->maxima[i];

		if (m->var == var && m->n_path == n &&
		    memcmp(m->path, path, n * sizeof(*path)) == 0 && m->value <= (uint64_t)all.hi)
			return (pctl_range){0, (int64_t)m->value};
	}
	return all;
}

/* What a local holds where it is loaded: every way out that was not taken since narrows it, and every condition. */
static pctl_range narrowed(const sweep *s, uint32_t local, uint32_t at, pctl_range a)
{
	uint32_t i = s->r->first_exit[s->fn->first_local + local];

	for (; i != PCTL_NONE; i = s->r->exits.items[i].next) {
		const pctl_range_exit *e = &s->r->exits.items[i];

		if (e->offset == 0 && at > e->at && at < e->until)
			a = pctl_range_where(a, e->op, value(s, e->limit, 0, e->where));
	}
	return a;
}

static pctl_range load(const sweep *s, uint32_t v, uint32_t part, pctl_range all)
{
	const pctl_inst *in = inst(s, v);
	const pctl_range *held;
	uint32_t local, n, i;
	pctl_range a = {0, 0};
	pctl_place pl;

	if (!pctl_place_get(s->p, s->fn, in, &pl))
		return all;
	if (!(pl.root & PCTL_PLACE_LOCAL))
		return declared(s, v, part, all);
	local = pl.root & ~PCTL_PLACE_LOCAL;
	n = pctl_range_parts(s->p, pl.root_type);
	held = &s->r->locals[s->r->local_part[s->fn->first_local + local]];
	if (n == 0)
		return all;
	if (pl.n_chain == 0)
		return n > 1 ? held[part] : narrowed(s, local, v, held[0]);
	/* A component by a number; one that is not there is zero. */
	for (i = 0; i < n; i++)
		a = pctl_range_join(a, held[i]);
	if (step_number(s->r, s->fn, pl.root_type, s->p->words[pl.chain], &i) && i < n)
		return held[i];
	return a;
}

static void hold(sweep *s, uint32_t slot, pctl_range a)
{
	pctl_range *now = &s->r->grown[slot];

	*now = pctl_range_join(*now, a);
}

static void store(sweep *s, uint32_t v)
{
	const pctl_inst *in = inst(s, v);
	const uint32_t stored = pctl_arg(s->p, in, 0);
	uint32_t n, first, i, k;
	pctl_place pl;

	if (!pctl_place_get(s->p, s->fn, in, &pl) || !(pl.root & PCTL_PLACE_LOCAL))
		return;
	n = pctl_range_parts(s->p, pl.root_type);
	first = s->r->local_part[s->fn->first_local + (pl.root & ~PCTL_PLACE_LOCAL)];
	for (i = 0; i < n; i++) {
		if (pl.n_chain == 0)
			hold(s, first + i, value(s, stored, i, v));
		else if (!step_number(s->r, s->fn, pl.root_type, s->p->words[pl.chain], &k) ||
			 k == i)
			hold(s, first + i, value(s, stored, 0, v));
	}
}

/* ---- values ------------------------------------------------------------------------------- */

static pctl_range builtin(const sweep *s, uint32_t which, uint32_t d)
{
	const uint32_t *size = s->p->entries[0].workgroup_size, *groups = s->r->z->groups;
	const uint32_t most = s->p->max_dispatch[d] && s->p->max_dispatch[d] < 65535
				      ? s->p->max_dispatch[d]
				      : 65535;
	const int64_t n = groups ? groups[d] : most, least = groups ? groups[d] : 1;

	switch (which) {
	case PCTL_BUILTIN_LOCAL_ID:
		return (pctl_range){0, (int64_t)size[d] - 1};
	case PCTL_BUILTIN_LOCAL_INDEX:
		return (pctl_range){0, (int64_t)size[0] * size[1] * size[2] - 1};
	case PCTL_BUILTIN_WORKGROUP_ID:
		return (pctl_range){0, n ? n - 1 : 0};
	case PCTL_BUILTIN_NUM_WORKGROUPS:
		return (pctl_range){least, n};
	default:
		return (pctl_range){0, n ? n * size[d] - 1 : 0};
	}
}

/* Any element of a constant table, or the zero beside it. */
static pctl_range table(const sweep *s, const pctl_inst *in)
{
	const uint8_t scalar = s->p->types[in->type].scalar;
	const int is_signed = pctl_scalar_is_signed(scalar);
	pctl_range a = {0, 0};

	for (uint32_t i = 1; i < in->n_args; i++) {
		const uint32_t bits = pctl_arg(s->p, in, i);
		const int64_t x = is_signed ? (int64_t)(int32_t)bits : (int64_t)bits;

		a = pctl_range_join(a, (pctl_range){x, x});
	}
	return a;
}

static pctl_range elementwise(const sweep *s, uint32_t at, uint32_t part, pctl_range all)
{
	const pctl_inst *in = inst(s, at);
	const uint32_t first = in->op == PCTL_OP_SELECT && in->n_args > 1;
	const uint8_t operand = s->p->types[type_of(s, pctl_arg(s->p, in, first))].scalar;
	pctl_range args[4];

	for (uint32_t i = 0; i < in->n_args && i < 4; i++) {
		const uint32_t v = pctl_arg(s->p, in, i);

		if (pctl_range_parts(s->p, type_of(s, v)) == 0)
			return all;
		args[i] = value(s, v, part, at);
	}
	return pctl_range_apply(in->op, s->p->types[in->type].scalar, operand, args);
}

static pctl_range composite(const sweep *s, uint32_t v, uint32_t part, pctl_range all)
{
	const pctl_inst *in = inst(s, v);
	const uint32_t from = in->n_args ? pctl_arg(s->p, in, 0) : 0;
	pctl_range a = {0, 0};

	switch (in->op) {
	case PCTL_OP_COMPOSE:
		return value(s, pctl_arg(s->p, in, part), 0, v);
	case PCTL_OP_SPLAT:
		return value(s, from, 0, v);
	case PCTL_OP_SHUFFLE:
		return value(s, from, pctl_arg(s->p, in, 1 + part), v);
	case PCTL_OP_INSERT:
		return pctl_arg(s->p, in, 2) == part ? value(s, pctl_arg(s->p, in, 1), 0, v)
						     : value(s, from, part, v);
	case PCTL_OP_EXTRACT:
		if (s->p->types[type_of(s, from)].kind == PCTL_TYPE_VECTOR)
			return value(s, from, pctl_arg(s->p, in, 1), v);
		return declared(s, v, part, all);
	case PCTL_OP_EXTRACT_DYN:
		for (uint32_t i = 0; i < s->p->types[type_of(s, from)].width; i++)
			a = pctl_range_join(a, value(s, from, i, v));
		return a;
	case PCTL_OP_LOOKUP:
		return table(s, in);
	default:
		return all;
	}
}

/* A lane's value as another lane reads it: lanes that are not there give zero. */
static pctl_range of_lane(const sweep *s, uint32_t v, uint32_t part, pctl_range all)
{
	const pctl_inst *in = inst(s, v);

	switch (in->op) {
	case PCTL_OP_SUBGROUP_BROADCAST:
	case PCTL_OP_SUBGROUP_SHUFFLE:
	case PCTL_OP_SUBGROUP_SHUFFLE_XOR:
	case PCTL_OP_SUBGROUP_SHUFFLE_UP:
	case PCTL_OP_SUBGROUP_SHUFFLE_DOWN:
		return pctl_range_join(value(s, pctl_arg(s->p, in, 0), part, v),
				       (pctl_range){0, 0});
	default:
		return all;
	}
}

static pctl_range constant(const sweep *s, uint32_t v, uint32_t part, pctl_range all)
{
	const pctl_inst *in = inst(s, v);
	int64_t x;

	switch (in->op) {
	case PCTL_OP_ZERO:
		return (pctl_range){0, 0};
	case PCTL_OP_CONST:
		x = pctl_scalar_is_signed(s->p->types[in->type].scalar)
			    ? (int64_t)(int32_t)pctl_arg(s->p, in, 0)
			    : (int64_t)pctl_arg(s->p, in, 0);
		return (pctl_range){x, x};
	case PCTL_OP_BUILTIN:
		return builtin(s, pctl_arg(s->p, in, 0), part);
	case PCTL_OP_PARAM:
		return s->r->params[s->r->part[s->fn->first_inst + v] + part];
	default:
		return all;
	}
}

/* Of a runtime array, where it is known how many bytes are bound. */
static pctl_range length(const sweep *s, const pctl_inst *in, pctl_range all)
{
	const pctl_analyser *z = s->r->z;
	const pctl_var *var;
	uint64_t offset = 0;
	uint32_t type;
	pctl_place pl;

	if (!pctl_place_get(s->p, s->fn, in, &pl) || (pl.root & PCTL_PLACE_LOCAL))
		return all;
	var = &s->p->vars[pl.root];
	type = pl.root_type;
	for (uint32_t i = 0; i < pl.n_chain; i++) {
		const uint32_t word = s->p->words[pl.chain + i];

		offset += pctl_type_part_offset(s->p, type, word);
		type = pctl_type_step(s->p, type, word);
	}
	for (uint32_t i = 0; i < z->n_bindings; i++)
		if (z->bindings[i].group == var->group && z->bindings[i].binding == var->binding)
			return pctl_range_length(z->bindings[i].n_bytes, offset,
						 s->p->types[type].stride);
	return all;
}

static pctl_range compute(const sweep *s, uint32_t v, uint32_t part)
{
	const pctl_inst *in = inst(s, v);
	const pctl_range all = pctl_range_all(s->p->types[in->type].scalar);

	switch (pctl_op_get(in->op)->kind) {
	case PCTL_OPKIND_const:
		return constant(s, v, part, all);
	case PCTL_OPKIND_elem:
	case PCTL_OPKIND_convert:
		return elementwise(s, v, part, all);
	case PCTL_OPKIND_data:
		return composite(s, v, part, all);
	case PCTL_OPKIND_subgroup:
		return of_lane(s, v, part, all);
	default:
		if (in->op == PCTL_OP_LOAD)
			return load(s, v, part, all);
		if (in->op == PCTL_OP_ARRAY_LENGTH)
			return length(s, in, all);
		if (in->op == PCTL_OP_CALL)
			return s->r->returns[4 * (size_t)pctl_arg(s->p, in, 0) + part];
		return all;
	}
}

/* ---- passes ------------------------------------------------------------------------------- */

static void join_parts(const sweep *s, uint32_t v, uint32_t at, pctl_range *to)
{
	for (uint32_t i = 0; i < pctl_range_parts(s->p, type_of(s, v)); i++)
		to[i] = pctl_range_join(to[i], value(s, v, i, at));
}

/* The first value of a local: zero, where a load may see it. */
static void begin_locals(sweep *s)
{
	for (uint32_t i = s->fn->first_local; i < s->fn->first_local + s->fn->n_locals; i++)
		for (uint32_t k = s->r->local_part[i]; k < s->r->local_part[i + 1]; k++)
			s->r->grown[k] = s->r->seen[i] ? PCTL_RANGE_NOTHING : (pctl_range){0, 0};
}

static void pass(sweep *s)
{
	pctl_ranges *r = s->r;

	begin_locals(s);
	for (uint32_t v = 0; v < s->fn->n_insts; v++) {
		const uint32_t n = pctl_range_parts(s->p, type_of(s, v));

		if (inst(s, v)->op == PCTL_OP_STORE)
			store(s, v);
		for (uint32_t k = 0; k < n; k++)
			r->values[r->part[s->fn->first_inst + v] + k] = compute(s, v, k);
	}
}

/* A range that grew: after some passes the end that still moves is given up, after many more both are. */
static pctl_range widened(const sweep *s, pctl_range old, pctl_range now, pctl_range all)
{
	if (s->passes >= ENDLESS)
		return all;
	if (s->passes >= GROWING && now.lo < old.lo)
		now.lo = all.lo;
	if (s->passes >= GROWING && now.hi > old.hi)
		now.hi = all.hi;
	return now;
}

/* What the pass found is added to what is held; 1: there was something new. */
static int grow(sweep *s)
{
	pctl_ranges *r = s->r;
	int has_grown = 0;

	for (uint32_t i = s->fn->first_local; i < s->fn->first_local + s->fn->n_locals; i++) {
		const pctl_range all = pctl_range_all(s->p->types[s->p->locals[i].type].scalar);

		for (uint32_t k = r->local_part[i]; k < r->local_part[i + 1]; k++) {
			const pctl_range old = r->locals[k];
			const pctl_range now = pctl_range_join(old, r->grown[k]);

			if ((now.lo == old.lo && now.hi == old.hi) && s->passes != ENDLESS)
				continue;
			r->locals[k] = widened(s, old, now, all);
			has_grown = 1;
		}
	}
	s->passes++;
	return has_grown;
}

static void follow_function(sweep *s)
{
	pctl_ranges *r = s->r;
	const uint32_t first = r->local_part[s->fn->first_local];
	const size_t n = r->local_part[s->fn->first_local + s->fn->n_locals] - first;

	for (size_t k = 0; k < n; k++)
		r->locals[first + k] = PCTL_RANGE_NOTHING;
	do {
		pass(s);
	} while (grow(s));
	for (uint32_t i = 0; i < SHRINKING; i++) {
		memcpy(&r->locals[first], &r->grown[first], n * sizeof(*r->locals));
		pass(s);
	}
}

/* What calls hand over, and what the function gives back. */
static void follow_calls(sweep *s)
{
	pctl_range *given = &s->r->returns[4 * (size_t)s->f];

	for (uint32_t i = 0; i < 4; i++)
		given[i] = PCTL_RANGE_NOTHING;
	for (uint32_t v = 0; v < s->fn->n_insts; v++) {
		const pctl_inst *in = inst(s, v);

		if (in->op == PCTL_OP_RETURN && in->n_args)
			join_parts(s, pctl_arg(s->p, in, 0), v, given);
		for (uint32_t i = 1; in->op == PCTL_OP_CALL && i < in->n_args; i++) {
			const pctl_function *callee = &s->p->functions[pctl_arg(s->p, in, 0)];

			join_parts(s, pctl_arg(s->p, in, i), v,
				   &s->r->params[s->r->part[callee->first_inst + i - 1]]);
		}
	}
}

static void follow(pctl_ranges *r)
{
	const pctl_program *p = r->p;

	for (uint32_t f = 0; f < p->n_functions; f++)
		for (uint32_t i = 0; i < 4; i++)
			r->returns[4 * (size_t)f + i] =
				pctl_range_all(p->types[p->functions[f].return_type].scalar);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		for (uint32_t i = 0; i < r->part[p->n_insts]; i++)
			r->params[i] = PCTL_RANGE_NOTHING;
		/* Callers stand behind what they call. */
		for (uint32_t f = p->n_functions; f-- > 0;) {
			sweep s = {.r = r, .p = p, .fn = &p->functions[f], .f = f};

			follow_function(&s);
			follow_calls(&s);
		}
	}
}

pctl_ranges *pctl_ranges_create(const pctl_analyser *z)
{
	pctl_ranges *r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	r->z = z;
	r->p = z->p;
	if (!pctl_range_open_tables(r)) {
		pctl_ranges_destroy(r);
		return NULL;
	}
	follow(r);
	return r;
}

void pctl_ranges_destroy(pctl_ranges *r)
{
	if (!r)
		return;
	free(r->region);
	free(r->loop);
	free(r->loop_exit);
	free(r->first_continue);
	free(r->next_store);
	free(r->first_store);
	free(r->first_exit);
	free(r->part);
	free(r->local_part);
	free(r->seen);
	free(r->values);
	free(r->params);
	free(r->locals);
	free(r->grown);
	free(r->returns);
	free(r->exits.items);
	free(r->first_fact);
	free(r->facts.items);
	free(r);
}
