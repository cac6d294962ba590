/* The ways out of loops: comparisons of a local that hold wherever a loop goes on. They stand in its test, in a condition
 * at the top level of its body that leaves it, or in a flag that the next turn's test looks at; in conjunctions of those.
 * And conditions: what their comparisons say of locals and of values wherever they hold. */
#include "foundation/base/vec.h"
#include "compiler/analysis/range.h"

#define CONDITIONS_MAX 16u

typedef struct finder {
	pctl_ranges *r;
	const pctl_program *p;
	const pctl_function *fn;
	uint32_t
		loop; /* PCTL_NONE: what is looked at is a condition, which speaks of what comes before `end` */
	uint32_t test, update, end;
	uint32_t beside,
		beside_end; /* of a condition: the region that is not passed where it is spoken of */
	uint32_t no_memory;
} finder;

/* A condition: `sense` is what it is wherever the loop goes on, from `at` on. */
typedef struct condition {
	uint32_t value;
	uint32_t at;
	uint8_t sense;
	uint8_t is_late;
	uint16_t reserved;
} condition;

static const pctl_inst *inst(const finder *s, uint32_t v)
{
	return &s->p->insts[s->fn->first_inst + v];
}

static uint32_t arg(const finder *s, uint32_t v, uint32_t i)
{
	return pctl_arg(s->p, inst(s, v), i);
}

static uint32_t region(const finder *s, uint32_t v)
{
	return s->r->region[s->fn->first_inst + v];
}

static uint32_t next(const finder *s, uint32_t v)
{
	return s->r->z->next[s->fn->first_inst + v] - s->fn->first_inst;
}

static uint32_t first_store(const finder *s, uint32_t local)
{
	return s->r->first_store[s->fn->first_local + local];
}

static uint32_t next_store(const finder *s, uint32_t v)
{
	return s->r->next_store[s->fn->first_inst + v];
}

uint32_t pctl_range_whole_local(const pctl_program *p, const pctl_function *fn, uint32_t v,
				uint16_t op)
{
	const pctl_inst *in = &p->insts[fn->first_inst + v];
	pctl_place pl;

	if (in->op != op || !pctl_place_get(p, fn, in, &pl) || pl.n_chain != 0 ||
	    !(pl.root & PCTL_PLACE_LOCAL))
		return PCTL_NONE;
	return pl.root & ~PCTL_PLACE_LOCAL;
}

uint32_t pctl_range_part_of_loop(const pctl_ranges *r, const pctl_function *fn, uint32_t loop,
				 uint32_t v)
{
	uint32_t at = r->region[fn->first_inst + v];

	for (; at != PCTL_NONE; at = r->region[fn->first_inst + at]) {
		const uint32_t test = r->z->next[fn->first_inst + loop] - fn->first_inst;
		const uint16_t op = r->p->insts[fn->first_inst + at].op;

		if (at == loop || at == test ||
		    at == r->z->next[fn->first_inst + test] - fn->first_inst)
			return at;
		if (op == PCTL_OP_LOOP || op == PCTL_OP_LOOP_TEST || op == PCTL_OP_CONTINUING)
			return PCTL_NONE;
	}
	return PCTL_NONE;
}

/* ---- comparisons -------------------------------------------------------------------------- */

/* The first place behind the load where the local may hold something else: a store, or the loop inside that stores it. */
static uint32_t changed_from(const finder *s, uint32_t local, uint32_t load)
{
	uint32_t v = first_store(s, local), at;

	while (v != PCTL_NONE && v < load)
		v = next_store(s, v);
	if (v == PCTL_NONE || v > s->end)
		return s->end;
	for (at = region(s, v); at != s->loop && at != s->test && at != s->update;
	     at = region(s, at))
		if (s->r->loop[s->fn->first_inst + at] != PCTL_NONE)
			v = s->r->loop[s->fn->first_inst + at];
	return v;
}

/* x of x + c, for a constant c that is not negative; else v itself. */
static uint32_t without_offset(const finder *s, uint32_t v, int64_t *offset)
{
	*offset = 0;
	if (inst(s, v)->op != PCTL_OP_ADD)
		return v;
	for (uint32_t i = 0; i < 2; i++) {
		const uint32_t c = arg(s, v, i);

		if (inst(s, c)->op != PCTL_OP_CONST || arg(s, c, 0) > INT32_MAX)
			continue;
		*offset = arg(s, c, 0);
		return arg(s, v, 1 - i);
	}
	return v;
}

static int is_followed(const finder *s, uint32_t v)
{
	const pctl_type *t = &s->p->types[inst(s, v)->type];

	return t->kind == PCTL_TYPE_SCALAR &&
	       (t->scalar == PCTL_SCALAR_I32 || t->scalar == PCTL_SCALAR_U32);
}

static void keep(finder *s, pctl_range_exit *e)
{
	uint32_t *first = &s->r->first_exit[s->fn->first_local + e->local];

	e->next = *first;
	if (!PCTL_VEC_PUSH(&s->r->exits, *e))
		s->no_memory = 1;
	else
		*first = s->r->exits.n - 1;
}

/* The first place behind the load, and not beyond `end`, where the local may hold something else: a store, or the outermost
 * loop behind the load that stores it. A loop around the load comes by it again in each turn. */
static uint32_t held_until(const finder *s, uint32_t local, uint32_t load)
{
	uint32_t until = s->end;

	for (uint32_t v = first_store(s, local); v != PCTL_NONE; v = next_store(s, v)) {
		uint32_t from = v;

		if (v < load)
			continue;
		for (uint32_t at = region(s, v); at != PCTL_NONE; at = region(s, at)) {
			const uint32_t loop = s->r->loop[s->fn->first_inst + at];

			if (loop != PCTL_NONE && loop > load)
				from = loop;
		}
		/* What the other region stores is not on the way, but round a loop. */
		if (from < until && (from < s->beside || from >= s->beside_end))
			until = from;
	}
	return until;
}

/* A condition says this of what it compares: of a value, and of the local that it was loaded from while that is the same. */
static void said(finder *s, const condition *c, uint32_t a, uint16_t op, uint32_t b)
{
	pctl_range_fact f = {.limit = b, .at = c->at, .until = s->end, .op = op};
	pctl_range_exit e = {.fn = s->fn,
			     .loop = PCTL_NONE,
			     .load = a,
			     .limit = b,
			     .where = c->value,
			     .at = c->at,
			     .op = op};
	uint32_t *first = &s->r->first_fact[s->fn->first_inst + a];

	if (!is_followed(s, a) || inst(s, a)->op == PCTL_OP_CONST)
		return;
	f.next = *first;
	if (!PCTL_VEC_PUSH(&s->r->facts, f)) {
		s->no_memory = 1;
		return;
	}
	*first = s->r->facts.n - 1;
	e.local = pctl_range_whole_local(s->p, s->fn, a, PCTL_OP_LOAD);
	if (e.local == PCTL_NONE)
		return;
	e.until = held_until(s, e.local, a);
	keep(s, &e);
}

static void compared(finder *s, const condition *c, uint32_t a, uint16_t op, uint32_t b)
{
	pctl_range_exit e = {.fn = s->fn,
			     .loop = s->loop,
			     .limit = b,
			     .where = c->value,
			     .at = c->at,
			     .op = op,
			     .is_late = c->is_late};

	if (s->loop == PCTL_NONE) {
		said(s, c, a, op, b);
		return;
	}
	e.load = without_offset(s, a, &e.offset);
	e.local = pctl_range_whole_local(s->p, s->fn, e.load, PCTL_OP_LOAD);
	if (e.local == PCTL_NONE || e.load < s->loop || !is_followed(s, a))
		return;
	e.until = changed_from(s, e.local, e.load);
	keep(s, &e);
	if (s->no_memory)
		return;
	if (s->r->loop_exit[s->fn->first_inst + s->loop] == PCTL_NONE)
		s->r->loop_exit[s->fn->first_inst + s->loop] = s->r->exits.n - 1;
}

/* ---- conditions --------------------------------------------------------------------------- */

/* The front end's short circuit: t = a; if (a) { t = b; } for &&, if (!a) for ||. */
static uint32_t short_circuit(const finder *s, uint32_t v, uint32_t local, int sense, uint32_t *to)
{
	const uint32_t a = first_store(s, local), b = a == PCTL_NONE ? a : next_store(s, a);
	uint32_t opened, test;

	if (b == PCTL_NONE || next_store(s, b) != PCTL_NONE ||
	    (s->loop != PCTL_NONE && a < s->loop) || b > v)
		return 0;
	opened = region(s, b);
	if (opened == PCTL_NONE || opened < a || inst(s, opened)->op != PCTL_OP_IF ||
	    region(s, opened) != region(s, a) || region(s, v) != region(s, a))
		return 0;
	test = arg(s, opened, 0);
	if (!sense && inst(s, test)->op == PCTL_OP_NOT)
		test = arg(s, test, 0);
	else if (!sense)
		return 0;
	if (test != arg(s, a, 0))
		return 0;
	to[0] = arg(s, a, 0);
	to[1] = arg(s, b, 0);
	return 2;
}

/* Is it passed in every turn that is not left before it? */
static int is_passed(const finder *s, uint32_t v)
{
	const uint32_t jump = s->r->first_continue[s->fn->first_inst + s->test];

	return region(s, v) == s->update || region(s, v) == s->loop ||
	       (region(s, v) == s->test && (jump == PCTL_NONE || jump > v));
}

/* A flag that is set once a turn: where it is looked at, what it was set to held a turn before. */
static int flag(const finder *s, uint32_t local, condition *c)
{
	uint32_t v = first_store(s, local);

	while (v != PCTL_NONE && v < s->loop)
		v = next_store(s, v);
	/* Loaded before the loop it says nothing of it. */
	if (s->loop == PCTL_NONE || c->is_late || c->value < s->loop || v == PCTL_NONE ||
	    v > s->end || !is_passed(s, v) ||
	    (next_store(s, v) != PCTL_NONE && next_store(s, v) < s->end))
		return 0;
	c->value = arg(s, v, 0);
	c->is_late = 1;
	c->at = s->end; /* of the first turn it says nothing */
	return 1;
}

/* All comparisons that hold where a condition does. */
static void holds(finder *s, uint32_t value, int sense, uint32_t at, int is_late)
{
	condition todo[CONDITIONS_MAX + 2];
	uint32_t n = 1;

	todo[0] = (condition){value, at, (uint8_t)sense, (uint8_t)is_late, 0};
	while (n && n <= CONDITIONS_MAX && !s->no_memory) {
		condition c = todo[--n];
		const pctl_inst *in = inst(s, c.value);
		const uint32_t local = pctl_range_whole_local(s->p, s->fn, c.value, PCTL_OP_LOAD);
		uint32_t both[2], k = 0;

		if (in->op == PCTL_OP_NOT) {
			c.sense = !c.sense;
			both[k++] = arg(s, c.value, 0);
		} else if (in->op == (c.sense ? PCTL_OP_AND : PCTL_OP_OR)) {
			both[k++] = arg(s, c.value, 0);
			both[k++] = arg(s, c.value, 1);
		} else if (local != PCTL_NONE) {
			k = short_circuit(s, c.value, local, c.sense, both);
			if (!k && flag(s, local, &c))
				both[k++] = c.value;
		} else if (in->op >= PCTL_OP_EQ && in->op <= PCTL_OP_GE) {
			const uint16_t op = c.sense ? in->op : pctl_range_negated(in->op);

			compared(s, &c, arg(s, c.value, 0), op, arg(s, c.value, 1));
			compared(s, &c, arg(s, c.value, 1), pctl_range_mirrored(op),
				 arg(s, c.value, 0));
		}
		while (k) {
			c.value = both[--k];
			todo[n++] = c;
		}
	}
}

/* Does the region that `from` opens always leave the loop? No jump to the update stands before its end. */
static int leaves(const finder *s, uint32_t from, uint32_t to)
{
	const uint32_t jump = s->r->first_continue[s->fn->first_inst + s->test];
	const uint16_t last = inst(s, to - 1)->op;

	return region(s, to - 1) == from && (last == PCTL_OP_BREAK || last == PCTL_OP_RETURN) &&
	       (jump == PCTL_NONE || jump > to);
}

static void in_body(finder *s, uint32_t v)
{
	const uint32_t other = next(s, v);
	const int has_else = inst(s, other)->op == PCTL_OP_ELSE;
	const uint32_t close = has_else ? next(s, other) : other;

	if (leaves(s, v, other))
		holds(s, arg(s, v, 0), 0, close, 1);
	else if (has_else && leaves(s, other, close))
		holds(s, arg(s, v, 0), 1, close, 1);
}

/* Does the region that `from` opens never arrive at its end? */
static int jumps_away(const finder *s, uint32_t from, uint32_t to)
{
	const uint16_t last = inst(s, to - 1)->op;

	return region(s, to - 1) == from &&
	       (last == PCTL_OP_BREAK || last == PCTL_OP_CONTINUE || last == PCTL_OP_RETURN);
}

/* An IF: its condition holds in its one region and not in the other, and behind it, to the end of where it stands, where
 * one of them is never left by its end. */
static void conditional(finder *s, uint32_t v)
{
	const uint32_t other = next(s, v), test = arg(s, v, 0), outer = region(s, v);
	const int has_else = inst(s, other)->op == PCTL_OP_ELSE;
	const uint32_t close = has_else ? next(s, other) : other;

	s->loop = PCTL_NONE;
	s->beside = s->beside_end = 0;
	s->end = other;
	holds(s, test, 1, v, 0);
	s->beside = v;
	s->beside_end = other;
	if (has_else) {
		s->end = close;
		holds(s, test, 0, other, 0);
	}
	s->end = outer == PCTL_NONE ? s->fn->n_insts : next(s, outer);
	if (jumps_away(s, v, other)) {
		holds(s, test, 0, close, 0);
	} else if (has_else && jumps_away(s, other, close)) {
		s->beside = other;
		s->beside_end = close;
		holds(s, test, 1, close, 0);
	}
}

int pctl_range_find_exits(pctl_ranges *r, const pctl_function *fn)
{
	finder s = {.r = r, .p = r->p, .fn = fn};

	for (uint32_t v = 0; v < fn->n_insts && !s.no_memory; v++) {
		if (inst(&s, v)->op != PCTL_OP_LOOP)
			continue;
		s.loop = v;
		s.test = next(&s, v);
		s.update = next(&s, s.test);
		s.end = next(&s, s.update);
		holds(&s, arg(&s, s.test, 0), 1, s.test, 0);
		for (uint32_t i = s.test + 1; i < s.update && !s.no_memory; i++)
			if (inst(&s, i)->op == PCTL_OP_IF && is_passed(&s, i))
				in_body(&s, i);
	}
	for (uint32_t v = 0; v < fn->n_insts && !s.no_memory; v++)
		if (inst(&s, v)->op == PCTL_OP_IF)
			conditional(&s, v);
	return !s.no_memory;
}
