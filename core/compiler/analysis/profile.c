/* The profile: an interpretation over each function that gathers costs between barriers, the dearer side of
 * branches, and loops either once or multiplied. Calls take the ticks of the callee, which stands
 * earlier and is done. */
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/base/vec.h"
#include "compiler/analysis/profile.h"

typedef struct ticks {
	pctl_tick *items; /* never empty once begun; the last one is open */
	uint32_t n, cap;
} ticks;

typedef struct profile {
	const pctl_program *p;
	const pctl_analysis *a;
	const pctl_cost_table *t;
	int structured, no_memory;
	uint32_t overflow;
	ticks *functions; /* done ones */
	const pctl_function *fn;
	uint32_t next_loop; /* in a->loops: loops come in order */
	ticks *dearest; /* by loop, at the first of those that share its counter: the dearest turn of them all */
} profile;

static int begin(profile *f, ticks *l)
{
	const pctl_tick empty = {0};

	memset(l, 0, sizeof(*l));
	if (PCTL_VEC_PUSH(l, empty))
		return 1;
	f->no_memory = 1;
	return 0;
}

/* *to += n * times, kept at the top when it does not fit. */
static void add(profile *f, uint64_t *to, uint64_t n, uint64_t times)
{
	uint64_t product;

	if (!pctl_num_mul(n, times, &product) || !pctl_num_add(*to, product, to))
		f->overflow = 1;
}

static void end_tick(profile *f, ticks *l, uint32_t barrier, uint64_t times, uint32_t line)
{
	const pctl_tick empty = {0};
	pctl_tick *open = &l->items[l->n - 1];

	if (l->n >= PCTL_TICKS_MAX) {
		f->overflow = 1;
		return;
	}
	open->barrier = barrier;
	open->barriers = times;
	open->line = line;
	if (!PCTL_VEC_PUSH(l, empty))
		f->no_memory = 1;
}

/* Append `more`, multiplied; its first tick goes on where the last of l stopped. */
static void append(profile *f, ticks *l, const ticks *more, uint64_t times)
{
	uint32_t i;

	for (i = 0; i < more->n && !f->no_memory; i++) {
		const pctl_tick *from = &more->items[i];
		pctl_tick *to = &l->items[l->n - 1];

		add(f, &to->integer_ops, from->integer_ops, times);
		add(f, &to->division_ops, from->division_ops, times);
		add(f, &to->atomic_ops, from->atomic_ops, times);
		add(f, &to->storage_read_bytes, from->storage_read_bytes, times);
		add(f, &to->storage_write_bytes, from->storage_write_bytes, times);
		add(f, &to->float_ops, from->float_ops, times);
		add(f, &to->float_division_ops, from->float_division_ops, times);
		add(f, &to->elementary_ops, from->elementary_ops, times);
		if (from->barrier) {
			uint64_t barriers = 0;

			add(f, &barriers, from->barriers, times);
			end_tick(f, l, from->barrier, barriers, from->line);
		}
	}
}

int pctl_cost_tick(const pctl_cost_table *t, const pctl_tick *tick, uint64_t *out)
{
	const uint64_t barrier =
		(tick->barrier & PCTL_BARRIER_WORKGROUP ? t->workgroup_barrier : 0) +
		(tick->barrier & PCTL_BARRIER_STORAGE ? t->storage_barrier : 0);
	const uint64_t pairs[][2] = {
		{tick->integer_ops, t->integer},
		{tick->division_ops, t->division},
		{tick->atomic_ops, t->atomic},
		{pctl_num_div_up(tick->storage_read_bytes, 4), t->read},
		{pctl_num_div_up(tick->storage_write_bytes, 4), t->write},
		{tick->float_ops, t->float_op},
		{tick->float_division_ops, t->float_division},
		{tick->elementary_ops, t->elementary},
		{tick->barriers, barrier},
	};
	uint32_t i;

	*out = 0;
	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		uint64_t product;

		if (!pctl_num_mul(pairs[i][0], pairs[i][1], &product) ||
		    !pctl_num_add(*out, product, out)) {
			*out = UINT64_MAX;
			return 0;
		}
	}
	return 1;
}

/* Of one invocation, or, where the table weighs sides for the workgroup, of all of them with the barrier once. */
static int weigh(const profile *f, const pctl_tick *tick, uint64_t *out)
{
	pctl_tick code = *tick, barrier = {0};
	uint64_t for_barrier;

	if (!f->t->all_sides)
		return pctl_cost_tick(f->t, tick, out);
	code.barriers = 0;
	barrier.barrier = tick->barrier;
	barrier.barriers = tick->barriers;
	return pctl_cost_tick(f->t, &code, out) && pctl_cost_tick(f->t, &barrier, &for_barrier) &&
	       pctl_num_mul(*out, f->a->invocations, out) && pctl_num_add(*out, for_barrier, out);
}

static uint64_t total(const profile *f, const ticks *l)
{
	uint64_t sum = 0, one;
	uint32_t i;

	for (i = 0; i < l->n; i++) {
		if (!weigh(f, &l->items[i], &one) || !pctl_num_add(sum, one, &sum))
			return UINT64_MAX;
	}
	return sum;
}

/* ---- instructions ---- */

static void count_memory(profile *f, ticks *l, const pctl_inst *in)
{
	const pctl_program *p = f->p;
	pctl_tick *open = &l->items[l->n - 1];
	uint32_t type, i;
	pctl_place pl;

	if (!pctl_place_get(p, f->fn, in, &pl))
		return;
	type = pl.root_type;
	for (i = 0; i < pl.n_chain; i++) {
		if (p->types[type].kind != PCTL_TYPE_STRUCT &&
		    !pctl_profile_index_proven(p, f->a, f->fn, &pl, i, type))
			add(f, &open->integer_ops, f->t->index_check, 1);
		type = pctl_type_step(p, type, p->words[pl.chain + i]);
	}
	if (in->op == PCTL_OP_ARRAY_LENGTH || pctl_op_get(in->op)->kind == PCTL_OPKIND_atomic)
		return;
	type = pctl_tile_moved(p, f->fn, in);
	type = p->types[type ? type : pl.end_type].size;
	if (pl.space == PCTL_SPACE_STORAGE || pl.space == PCTL_SPACE_UNIFORM)
		add(f,
		    pctl_op_stores(in->op) ? &open->storage_write_bytes : &open->storage_read_bytes,
		    type, 1);
	else
		add(f, &open->integer_ops, pctl_num_div_up(type, 4), f->t->memory_ops);
}

/* What the opcode itself costs, whatever it does to memory or control. */
static void charge(profile *f, ticks *l, uint32_t v)
{
	const pctl_inst *in = &f->p->insts[f->fn->first_inst + v];
	const uint8_t kind = pctl_cost_kind(f->t, in->op);
	const uint64_t units = kind ? pctl_cost_units(f->p, f->fn, in) : 0;
	pctl_tick *open = &l->items[l->n - 1];

	switch (kind) {
	case PCTL_COST_INTEGER:
		add(f, &open->integer_ops, units, f->t->count[in->op]);
		break;
	case PCTL_COST_DIVISION:
		add(f, &open->division_ops, units, f->t->count[in->op]);
		break;
	case PCTL_COST_ATOMIC:
		add(f, &open->atomic_ops, units, f->t->count[in->op]);
		break;
	case PCTL_COST_FLOAT:
		add(f, &open->float_ops, units, f->t->count[in->op]);
		break;
	case PCTL_COST_FLOAT_DIVISION:
		add(f, &open->float_division_ops, units, f->t->count[in->op]);
		break;
	case PCTL_COST_ELEMENTARY:
		add(f, &open->elementary_ops, units, f->t->count[in->op]);
		break;
	default: /* none, or unpriced: whoever prices the program refuses it */
		break;
	}
}

static void count_inst(profile *f, ticks *l, uint32_t v)
{
	const pctl_inst *in = &f->p->insts[f->fn->first_inst + v];
	const uint32_t at = f->fn->first_inst + v;
	const uint32_t line = f->p->origins ? f->p->origins[at].line : 0;

	if (in->op == PCTL_OP_LOAD_UNIFORM)
		end_tick(f, l, PCTL_BARRIER_WORKGROUP, 1, line);
	if (in->op == PCTL_OP_BARRIER) {
		end_tick(f, l, pctl_arg(f->p, in, 0), 1, line);
		return;
	}
	charge(f, l, v);
	if (in->op == PCTL_OP_CALL) {
		append(f, l, &f->functions[pctl_arg(f->p, in, 0)], 1);
		return;
	}
	count_memory(f, l, in);
	if (in->op == PCTL_OP_LOAD_UNIFORM)
		end_tick(f, l, PCTL_BARRIER_WORKGROUP, 1, line);
}

/* Words of memory that a function's variables, and before the entry point the private ones, take. */
static uint64_t zeroed(const pctl_program *p, const pctl_function *fn)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < fn->n_locals; i++)
		n += pctl_num_div_up(p->types[p->locals[fn->first_local + i].type].size, 4);
	for (uint32_t i = 0; i < p->n_vars && fn == &p->functions[p->entries[0].function]; i++)
		if (p->vars[i].space == PCTL_SPACE_PRIVATE)
			n += pctl_num_div_up(p->types[p->vars[i].type].size, 4);
	return n;
}

/* ---- regions; nesting is at most 256 deep, verify has seen to it ---- */

static uint32_t interp(profile *f, uint32_t v, ticks *l);

static void keep_dearer(profile *f, ticks *best, ticks *side)
{
	if (!best->n || total(f, side) > total(f, best)) {
		free(best->items);
		*best = *side;
	} else {
		free(side->items);
	}
}

/* IF and SWITCH: v opens; returns behind the closing one. */
static uint32_t interp_branch(profile *f, uint32_t v, ticks *l)
{
	const pctl_inst *insts = &f->p->insts[f->fn->first_inst];
	const uint16_t close = insts[v].op == PCTL_OP_IF ? PCTL_OP_END_IF : PCTL_OP_END_SWITCH;
	ticks best = {NULL, 0, 0}, all = {NULL, 0, 0}, side;
	int parts = f->t->all_sides; /* invocations may */

	charge(f, l, v);
	if (parts)
		begin(f, &all);
	if (insts[v].op == PCTL_OP_SWITCH)
		v++; /* the first CASE */
	while (insts[v].op != close && !f->no_memory) {
		if (!begin(f, &side))
			break;
		v = interp(f, v + 1, &side);
		if (side.n > 1)
			parts = 0;
		if (parts)
			append(f, &all, &side, 1);
		keep_dearer(f, &best, &side);
	}
	append(f, l, parts ? &all : &best, 1);
	free(all.items);
	free(best.items);
	return v + 1;
}

/* The first loop that has the counter of loop i. */
static uint32_t first_of(const profile *f, uint32_t i)
{
	const pctl_loop_bound *b = f->a->loops;
	uint32_t k = 0;

	while (b[k].bound_kind != PCTL_BOUND_BUDGET || b[k].counter != b[i].counter)
		k++;
	return k;
}

/* A turn of a loop that counts: what all of them take is the budget times the dearest, added once at the end. */
static void keep_turn(profile *f, uint32_t loop, const ticks *test, const ticks *body,
		      const ticks *update)
{
	ticks turn;

	if (!begin(f, &turn))
		return;
	append(f, &turn, test, 1);
	append(f, &turn, body, 1);
	append(f, &turn, update, 1);
	keep_dearer(f, &f->dearest[first_of(f, loop)], &turn);
}

static uint32_t interp_loop(profile *f, uint32_t v, ticks *l)
{
	const uint32_t number = f->next_loop++;
	const pctl_loop_bound *b = &f->a->loops[number];
	const uint64_t bound =
		f->structured == PCTL_LOOPS_FOLDED ? b->folded_iterations : b->max_iterations;
	ticks test, body, update;
	uint64_t tests = 2;

	memset(&body, 0, sizeof(body));
	memset(&update, 0, sizeof(update));
	if (begin(f, &test) && begin(f, &body) && begin(f, &update)) {
		charge(f, l, v);
		v = interp(f, v + 1, &test);
		charge(f, &test, v);
		v = interp(f, v + 1, &body);
		v = interp(f, v + 1, &update);
		if (f->dearest && b->bound_kind == PCTL_BOUND_BUDGET) {
			keep_turn(f, number, &test, &body, &update);
			goto out;
		}
		if (f->structured && !pctl_num_add(bound, 1, &tests))
			f->overflow = 1;
		append(f, l, &test, tests);
		append(f, l, &body, f->structured ? bound : 1);
		append(f, l, &update, f->structured ? bound : 1);
	}
out:
	free(test.items);
	free(body.items);
	free(update.items);
	return v + 1;
}

/* Walk a region from v on; returns the index of what ends it. */
static uint32_t interp(profile *f, uint32_t v, ticks *l)
{
	const pctl_inst *insts = &f->p->insts[f->fn->first_inst];

	while (v < f->fn->n_insts && !f->no_memory) {
		switch (insts[v].op) {
		case PCTL_OP_IF:
		case PCTL_OP_SWITCH:
			v = interp_branch(f, v, l);
			break;
		case PCTL_OP_LOOP:
			v = interp_loop(f, v, l);
			break;
		case PCTL_OP_ELSE:
		case PCTL_OP_END_IF:
		case PCTL_OP_CASE:
		case PCTL_OP_END_SWITCH:
		case PCTL_OP_LOOP_TEST:
		case PCTL_OP_CONTINUING:
		case PCTL_OP_END_LOOP:
			return v;
		default:
			count_inst(f, l, v++);
			break;
		}
	}
	return v;
}

int pctl_profile(const pctl_program *p, const pctl_analysis *a, const pctl_cost_table *t,
		 int structured, pctl_arena *arena, pctl_tick **out, uint32_t *n_ticks,
		 uint32_t *overflow)
{
	profile f = {.p = p, .a = a, .t = t, .structured = structured};
	const ticks *entry;
	uint32_t i;

	*out = NULL;
	*n_ticks = 0;
	f.functions = calloc((size_t)p->n_functions + 1, sizeof(*f.functions));
	if (structured == PCTL_LOOPS_FOLDED)
		f.dearest = calloc((size_t)a->n_loops + 1, sizeof(*f.dearest));
	if (!f.functions || (structured == PCTL_LOOPS_FOLDED && !f.dearest)) {
		free(f.functions);
		free(f.dearest);
		return 0;
	}
	for (i = 0; i < p->n_functions && !f.no_memory; i++) {
		f.fn = &p->functions[i];
		if (!begin(&f, &f.functions[i]))
			break;
		add(&f, &f.functions[i].items[0].integer_ops, zeroed(p, f.fn), t->zero_ops);
		interp(&f, 0, &f.functions[i]);
	}
	for (i = 0; f.dearest && i < a->n_loops && !f.no_memory; i++)
		if (f.dearest[i].n)
			append(&f, &f.functions[p->entries[0].function], &f.dearest[i],
			       a->loops[i].max_iterations);
	if (!f.no_memory) {
		entry = &f.functions[p->entries[0].function];
		*out = pctl_arena_array(arena, entry->n, sizeof(pctl_tick));
		if (*out) {
			memcpy(*out, entry->items, entry->n * sizeof(pctl_tick));
			*n_ticks = entry->n;
		}
	}
	if (f.overflow)
		*overflow = 1;
	for (i = 0; i < p->n_functions; i++)
		free(f.functions[i].items);
	for (i = 0; f.dearest && i < a->n_loops; i++)
		free(f.dearest[i].items);
	free(f.functions);
	free(f.dearest);
	return *out != NULL;
}
