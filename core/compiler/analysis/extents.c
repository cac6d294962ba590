/* Implementation of extents.h: one pass over each function, callees first, which is the order they stand in. */
#include "compiler/analysis/extents.h"

#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "compiler/analysis/analyse_parts.h"

static const struct {
	const char *key, *unit, *doc;
} rows[PCTL_N_EXTENTS] = {
#define PCTL_EXTENT(NAME, key, unit, doc) {#key, unit, doc},
#include "compiler/analysis/extents.def"
#undef PCTL_EXTENT
};

const char *pctl_extent_key(uint32_t extent)
{
	return extent < PCTL_N_EXTENTS ? rows[extent].key : "?";
}

const char *pctl_extent_unit(uint32_t extent)
{
	return extent < PCTL_N_EXTENTS ? rows[extent].unit : "?";
}

const char *pctl_extent_doc(uint32_t extent)
{
	return extent < PCTL_N_EXTENTS ? rows[extent].doc : "?";
}

/* A construct that is open.
 *
 * extra     levels that conditional jumps have added to what still stands in this region
 * target    depth of the shallowest construct that a jump in here leaves or goes on with; its own when there is none
 * turns     of the region so far; test: of a loop's test
 * before    the level it was opened at; deepest: the deepest in it so far
 */
typedef struct open_construct {
	uint32_t inst;
	uint32_t extra, target;
	uint64_t before, deepest;
	uint64_t turns, test;
} open_construct;

typedef struct counter {
	const pctl_program *p;
	const pctl_analyser *z;
	const pctl_function *fn;
	uint32_t f;
	pctl_extents *all;     /* by function */
	uint64_t *share;       /* of the function: the largest share of each extent so far */
	uint32_t *chain;       /* by value: values that wait for each other, this one included */
	uint32_t *levels;      /* by instruction of the program, or NULL */
	open_construct *stack; /* [0] is the function itself */
	uint32_t depth;
	uint32_t level; /* of what stands here */
	uint64_t
		dearest; /* turns of bounded loops within one turn of a loop that counts, the most of all such loops */
	uint32_t dearest_function, dearest_inst;
} counter;

static pctl_extents *own(const counter *c)
{
	return &c->all[c->f];
}

/* A share of an extent that comes from instruction v, or from (function, inst) within it. */
static void note(counter *c, uint32_t extent, uint64_t share, uint32_t function, uint32_t inst)
{
	if (share <= c->share[extent])
		return;
	c->share[extent] = share;
	own(c)->function[extent] = function;
	own(c)->inst[extent] = inst;
}

static void add(counter *c, uint32_t extent, uint64_t share, uint32_t v)
{
	(void)pctl_num_add(own(c)->need[extent], share, &own(c)->need[extent]);
	note(c, extent, share, c->f, v);
}

static void most(counter *c, uint32_t extent, uint64_t need, uint32_t function, uint32_t inst)
{
	if (need > own(c)->need[extent])
		own(c)->need[extent] = need;
	note(c, extent, need, function, inst);
}

/* ---- types -------------------------------------------------------------------------------- */

/* Scalars of an array or struct value; 0 for all else. */
static uint64_t scalars(const pctl_program *p, uint32_t type)
{
	const pctl_type *t = &p->types[type];

	return t->kind == PCTL_TYPE_ARRAY || t->kind == PCTL_TYPE_STRUCT ? (t->size + 3u) / 4 : 0;
}

/* An array or struct, 0 for all else: structs in structs unfold as arrays do. */
static uint64_t composite_bytes(const pctl_program *p, uint32_t type)
{
	const pctl_type *t = &p->types[type];

	return t->kind == PCTL_TYPE_ARRAY || t->kind == PCTL_TYPE_STRUCT ? t->size : 0;
}

/* ---- control ------------------------------------------------------------------------------ */

static void open_region(counter *c, uint32_t v, uint32_t levels)
{
	c->depth++;
	c->stack[c->depth] = (open_construct){
		.inst = v, .target = c->depth, .before = c->level, .deepest = c->level + levels};
	c->level += levels;
}

/* A construct, or a call, takes so many levels by itself. */
static void keep_levels(const counter *c, uint32_t v, uint64_t levels)
{
	if (c->levels)
		c->levels[c->fn->first_inst + v] =
			levels > UINT32_MAX ? UINT32_MAX : (uint32_t)levels;
}

static void nest(counter *c, uint64_t level, uint32_t function, uint32_t inst)
{
	open_construct *here = &c->stack[c->depth];

	if (level > here->deepest)
		here->deepest = level;
	most(c, PCTL_EXTENT_NESTING, level, function, inst);
}

/* Lanes that jumped skip what follows: drivers without jumps put it under one more condition. */
static void jump(counter *c, uint16_t op)
{
	uint32_t target = c->depth;

	while (op != PCTL_OP_RETURN && target > 0) {
		const uint16_t open = c->p->insts[c->fn->first_inst + c->stack[target].inst].op;

		if (open == PCTL_OP_LOOP || (open == PCTL_OP_SWITCH && op == PCTL_OP_BREAK))
			break;
		target--;
	}
	if (op == PCTL_OP_RETURN)
		target = 0;
	if (target < c->stack[c->depth].target)
		c->stack[c->depth].target = target;
}

static void next_region(counter *c)
{
	c->level -= c->stack[c->depth].extra;
	c->stack[c->depth].extra = 0;
}

static void close_region(counter *c, uint32_t levels)
{
	const open_construct closed = c->stack[c->depth--];
	open_construct *outer = &c->stack[c->depth];

	c->level -= levels + closed.extra;
	keep_levels(c, closed.inst, closed.deepest - closed.before);
	if (closed.deepest > outer->deepest)
		outer->deepest = closed.deepest;
	(void)pctl_num_add(outer->turns, closed.turns, &outer->turns);
	if (closed.target > c->depth)
		return;
	outer->extra++;
	c->level++;
	if (closed.target < outer->target)
		outer->target = closed.target;
}

static void close_loop(counter *c)
{
	open_construct *l = &c->stack[c->depth];
	const pctl_loop_bound *b = &c->z->a->loops[c->z->loop_of[c->fn->first_inst + l->inst]];
	const uint64_t n = b->folded_iterations;
	uint64_t tests, rounds;

	/* What all loops of a counter make together is added at the end (budgets). */
	if (b->bound_kind == PCTL_BOUND_BUDGET) {
		(void)pctl_num_add(l->turns, l->test, &l->turns);
		if (l->turns >= c->dearest) {
			c->dearest = l->turns;
			c->dearest_function = c->f;
			c->dearest_inst = l->inst;
		}
		l->turns = 0;
		close_region(c, 1);
		return;
	}
	/* The test runs once more than the body, in the turn that leaves. */
	(void)pctl_num_add(n, 1, &rounds);
	(void)(pctl_num_add(l->test, 1, &tests) && pctl_num_mul(tests, rounds, &tests));
	(void)pctl_num_mul(l->turns, n, &l->turns);
	(void)pctl_num_add(l->turns, tests, &l->turns);
	note(c, PCTL_EXTENT_TURNS, l->turns, c->f, l->inst);
	close_region(c, 1);
}

static void control(counter *c, uint32_t v, uint16_t op)
{
	switch (op) {
	case PCTL_OP_IF:
	case PCTL_OP_SWITCH:
	case PCTL_OP_LOOP:
		open_region(c, v, 1);
		break;
	case PCTL_OP_BLOCK:
		open_region(c, v, 0);
		break;
	case PCTL_OP_ELSE:
	case PCTL_OP_CASE:
		next_region(c);
		break;
	case PCTL_OP_LOOP_TEST:
		c->stack[c->depth].test = c->stack[c->depth].turns;
		c->stack[c->depth].turns = 0;
		break;
	case PCTL_OP_END_IF:
	case PCTL_OP_END_SWITCH:
		close_region(c, 1);
		break;
	case PCTL_OP_END_LOOP:
		close_loop(c);
		break;
	case PCTL_OP_END_BLOCK:
		close_region(c, 0);
		break;
	case PCTL_OP_BREAK:
	case PCTL_OP_CONTINUE:
	case PCTL_OP_RETURN:
		jump(c, op);
		break;
	default:
		break;
	}
}

/* ---- instructions ------------------------------------------------------------------------- */

/* The callee's body, written out here. */
static void call(counter *c, uint32_t v, uint32_t callee)
{
	static const uint8_t sums[] = {PCTL_EXTENT_INSTRUCTIONS, PCTL_EXTENT_CALLS,
				       PCTL_EXTENT_FUNCTION_MEMORY, PCTL_EXTENT_VALUES,
				       PCTL_EXTENT_TABLES};
	static const uint8_t maxima[] = {PCTL_EXTENT_LARGEST, PCTL_EXTENT_ARRAY,
					 PCTL_EXTENT_EXPRESSION};
	const pctl_extents *inner = &c->all[callee];
	open_construct *here = &c->stack[c->depth];

	for (size_t i = 0; i < sizeof(sums); i++)
		add(c, sums[i], inner->need[sums[i]], v);
	for (size_t i = 0; i < sizeof(maxima); i++)
		most(c, maxima[i], inner->need[maxima[i]], inner->function[maxima[i]],
		     inner->inst[maxima[i]]);
	add(c, PCTL_EXTENT_CALLS, 1, v);
	nest(c, c->level + inner->need[PCTL_EXTENT_NESTING], inner->function[PCTL_EXTENT_NESTING],
	     inner->inst[PCTL_EXTENT_NESTING]);
	keep_levels(c, v, inner->need[PCTL_EXTENT_NESTING]);
	(void)pctl_num_add(here->turns, inner->need[PCTL_EXTENT_TURNS], &here->turns);
	note(c, PCTL_EXTENT_TURNS, inner->need[PCTL_EXTENT_TURNS],
	     inner->function[PCTL_EXTENT_TURNS], inner->inst[PCTL_EXTENT_TURNS]);
}

/* How many values wait for each other up to this one. What is loaded starts anew, but for its indices. */
static uint32_t chain_to(const counter *c, const pctl_inst *in)
{
	const char *letter = pctl_op_get(in->op)->args;
	uint32_t type = 0, longest = 0;
	pctl_place place;

	for (uint32_t i = 0; i < in->n_args; i++) {
		const uint32_t word = pctl_arg(c->p, in, i);
		int is_value = *letter == 'v';

		if (*letter == 'c') {
			is_value = c->p->types[type].kind != PCTL_TYPE_STRUCT;
			type = pctl_type_step(c->p, type, word);
		} else if (*letter == 'g' && pctl_place_get(c->p, c->fn, in, &place)) {
			type = place.root_type;
		}
		if (*letter != 'c' && letter[1] != '\0' && letter[1] != '*')
			letter++;
		if (is_value && c->chain[word] > longest)
			longest = c->chain[word];
	}
	return longest + (pctl_op_get(in->op)->yields && in->n_args != 0);
}

static void instruction(counter *c, uint32_t v, const pctl_inst *in)
{
	add(c, PCTL_EXTENT_INSTRUCTIONS, 1, v);
	if (pctl_op_get(in->op)->yields && in->type != 0)
		add(c, PCTL_EXTENT_VALUES, scalars(c->p, in->type), v);
	if (in->op == PCTL_OP_LOOKUP)
		add(c, PCTL_EXTENT_TABLES, ((uint64_t)in->n_args - 1) * 4, v);
	c->chain[v] = chain_to(c, in);
	most(c, PCTL_EXTENT_EXPRESSION, c->chain[v], c->f, v);
	if (in->op == PCTL_OP_CALL)
		call(c, v, pctl_arg(c->p, in, 0));
	control(c, v, in->op);
	nest(c, c->level, c->f, v);
}

static void function(counter *c, uint32_t f)
{
	uint64_t share[PCTL_N_EXTENTS] = {0};

	c->f = f;
	c->fn = &c->p->functions[f];
	c->share = share;
	c->depth = c->level = 0;
	c->stack[0] = (open_construct){0};
	for (uint32_t i = 0; i < c->fn->n_locals; i++) {
		const uint32_t type = c->p->locals[c->fn->first_local + i].type;

		add(c, PCTL_EXTENT_FUNCTION_MEMORY, c->p->types[type].size, 0);
		most(c, PCTL_EXTENT_ARRAY, composite_bytes(c->p, type), f, 0);
	}
	for (uint32_t v = 0; v < c->fn->n_insts; v++)
		instruction(c, v, &c->p->insts[c->fn->first_inst + v]);
	own(c)->need[PCTL_EXTENT_TURNS] = c->stack[0].turns;
	most(c, PCTL_EXTENT_LARGEST, c->fn->n_insts, f, 0);
}

/* Every loop that counts makes its turns of one budget a counter, and no turn is dearer than the dearest. */
static void budgets(counter *c)
{
	const pctl_analysis *a = c->z->a;
	uint64_t sum = 0, each;
	uint32_t i, k;

	for (i = 0; i < a->n_loops; i++) {
		if (a->loops[i].bound_kind != PCTL_BOUND_BUDGET)
			continue;
		for (k = 0; k < i && (a->loops[k].bound_kind != PCTL_BOUND_BUDGET ||
				      a->loops[k].counter != a->loops[i].counter);
		     k++)
			;
		if (k == i)
			(void)pctl_num_add(sum, a->loops[i].max_iterations, &sum);
	}
	if (!sum)
		return;
	(void)(pctl_num_add(c->dearest, 1, &each) && pctl_num_mul(sum, each, &sum));
	(void)pctl_num_add(own(c)->need[PCTL_EXTENT_TURNS], sum, &own(c)->need[PCTL_EXTENT_TURNS]);
	own(c)->function[PCTL_EXTENT_TURNS] = c->dearest_function;
	own(c)->inst[PCTL_EXTENT_TURNS] = c->dearest_inst;
}

/* Module variables belong to no function. */
static void variables(counter *c)
{
	uint64_t *need = own(c)->need;

	for (uint32_t i = 0; i < c->p->n_vars; i++) {
		const pctl_var *v = &c->p->vars[i];
		const pctl_type *t = &c->p->types[v->type];
		const uint64_t array =
			v->space == PCTL_SPACE_PRIVATE ? composite_bytes(c->p, v->type) : 0;

		if (v->space == PCTL_SPACE_PRIVATE)
			(void)pctl_num_add(need[PCTL_EXTENT_PRIVATE], t->size,
					   &need[PCTL_EXTENT_PRIVATE]);
		/* As analyse.h lays it out. */
		if (v->space == PCTL_SPACE_WORKGROUP)
			need[PCTL_EXTENT_WORKGROUP] =
				pctl_num_align(need[PCTL_EXTENT_WORKGROUP], t->align) + t->size;
		if (array > need[PCTL_EXTENT_ARRAY]) {
			need[PCTL_EXTENT_ARRAY] = array;
			own(c)->function[PCTL_EXTENT_ARRAY] = own(c)->inst[PCTL_EXTENT_ARRAY] = 0;
		}
	}
}

static pctl_status measure(const pctl_program *p, const pctl_analysis_query *known,
			   const pctl_call *call, pctl_extents *out, uint32_t *levels)
{
	/* A loop without a bound is an answer here. */
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	pctl_analyser z = {.p = p, .call = &quiet};
	counter c = {.p = p, .z = &z, .levels = levels};
	uint32_t longest = 0;
	pctl_status status = PCTL_OK;

	pctl_analyse_ask(&z, known);
	z.flags = 0;
	memset(out, 0, sizeof(*out));
	if (p->n_entries != 1 || (p->caps & PCTL_CAP_OVERRIDES))
		return pctl_refuse(call, PC2052_ANALYSE_ENTRY, "the program has %u entry points%s",
				   p->n_entries,
				   p->caps & PCTL_CAP_OVERRIDES ? " and overrides" : "");
	for (uint32_t f = 0; f < p->n_functions; f++)
		if (p->functions[f].n_insts > longest)
			longest = p->functions[f].n_insts;
	z.arena = pctl_arena_create();
	z.a = z.arena ? pctl_arena_alloc(z.arena, sizeof(*z.a)) : NULL;
	z.next = calloc((size_t)p->n_insts + 1, sizeof(*z.next));
	z.loop_of = calloc((size_t)p->n_insts + 1, sizeof(*z.loop_of));
	c.all = calloc((size_t)p->n_functions + 1, sizeof(*c.all));
	c.chain = calloc((size_t)longest + 1, sizeof(*c.chain));
	c.stack = calloc(PCTL_REGION_DEPTH_MAX + 2, sizeof(*c.stack));
	if (!z.a || !z.next || !z.loop_of || !c.all || !c.chain || !c.stack ||
	    !pctl_analyse_constructs(&z)) {
		status = pctl_refuse(call, PC2_NOMEM, "no memory to measure a program");
		goto out;
	}
	pctl_analyse_loops(&z);
	if (z.status == PCTL_E_NOMEM || (p->n_insts != 0 && !z.a->loops)) {
		status = pctl_refuse(call, PC2_NOMEM, "no memory to measure a program");
		goto out;
	}
	for (uint32_t f = 0; f < p->n_functions; f++)
		function(&c, f);
	c.f = p->entries[0].function;
	budgets(&c);
	variables(&c);
	*out = *own(&c);
out:
	free(c.all);
	free(c.chain);
	free(c.stack);
	free(z.next);
	free(z.loop_of);
	pctl_arena_destroy(z.arena);
	return status;
}

pctl_status pctl_program_extents(const pctl_program *p, const pctl_analysis_query *known,
				 const pctl_call *call, pctl_extents *out)
{
	return measure(p, known, call, out, NULL);
}

pctl_status pctl_program_levels(const pctl_program *p, const pctl_call *call, uint32_t *out)
{
	pctl_extents x;

	memset(out, 0, p->n_insts * sizeof(*out));
	return measure(p, NULL, call, &x, out);
}

/* Callees stand before their callers. */
pctl_status pctl_program_depth(const pctl_program *p, const pctl_call *call, uint64_t *depth,
			       uint32_t *function, uint32_t *inst)
{
	uint32_t *all = calloc((size_t)p->n_functions + 1, sizeof(*all));

	*depth = 0;
	*function = *inst = 0;
	if (all == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory to measure a program");
	for (uint32_t f = 0; f < p->n_functions; f++) {
		all[f] = 1;
		for (uint32_t v = 0; v < p->functions[f].n_insts; v++) {
			const pctl_inst *in = &p->insts[p->functions[f].first_inst + v];
			const uint32_t callee = in->op == PCTL_OP_CALL ? pctl_arg(p, in, 0) : f;

			if (callee == f || all[callee] + 1 <= all[f])
				continue;
			all[f] = all[callee] + 1;
			if (f == p->entries[0].function) {
				*function = f;
				*inst = v;
			}
		}
	}
	*depth = all[p->entries[0].function];
	free(all);
	return PCTL_OK;
}

uint32_t pctl_extents_over(const pctl_extents *x, const pctl_extent_limits *l)
{
	uint32_t i = 0;

	while (i < PCTL_N_EXTENTS && (l->most[i] == 0 || x->need[i] <= l->most[i]))
		i++;
	return i;
}

void pctl_extent_limits_least(pctl_extent_limits *a, const pctl_extent_limits *b)
{
	for (uint32_t i = 0; i < PCTL_N_EXTENTS; i++)
		if (b->most[i] != 0 && (a->most[i] == 0 || b->most[i] < a->most[i]))
			a->most[i] = b->most[i];
}

pctl_pos pctl_extents_position(const pctl_program *p, const pctl_extents *x, uint32_t extent)
{
	const uint32_t f = x->function[extent];

	return pctl_analyse_position(
		p, f < p->n_functions ? p->functions[f].first_inst + x->inst[extent] : 0);
}
