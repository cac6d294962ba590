/* Loops with few turns are written out, where their variable indexes a local array: the inner loops of a tile, which make most
 * of the turns of a program. For devices that end loops early; others write them out themselves (on lavapipe and PoCL it
 * was no faster to do it for them). Constants that come of it are folded; nothing else changes. After the float pass, so that
 * what a turn costs is known; before flattening, for the nesting is less. */
#include "compiler/legalize/legal_parts.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/eval/eval.h"

#define NO_LOCAL UINT32_MAX
#define MOST_TURNS 64u
#define LARGEST_LOOP 1024u /* instructions of a loop written out, with what is written out inside */
#define LARGEST_GROWTH 8192u /* instructions added to the whole program */

typedef struct counted {
	uint32_t first, test, update,
		last; /* LOOP, LOOP_TEST, CONTINUING, END_LOOP: indices of program.insts */
	uint32_t local, turns;
	uint8_t scalar;
	uint64_t start, end; /* of the variable; end: after the last turn */
	uint64_t values[MOST_TURNS];
	uint32_t is_chosen;
} counted;

typedef struct legal_unroller {
	const pctl_program *p;
	counted *loops; /* inner ones before those around them */
	uint32_t n_loops, growth;
	uint32_t *written; /* by instruction: how often it is written, as chosen so far */
	uint8_t *depends;  /* by instruction: on the variable that is asked about */
	struct {
		uint64_t bits;
		uint32_t is_known;
	} * known;	 /* by value of the function that is rebuilt; and by local, behind them */
	uint32_t behind; /* the last loop written out ends here, in the function that is rebuilt */
} unroller;

/* ---- which loops -------------------------------------------------------------------------- */

static const pctl_function *function_of(const pctl_program *p, uint32_t at)
{
	uint32_t f = 1;

	while (at >= p->functions[f].first_inst + p->functions[f].n_insts)
		f++;
	return &p->functions[f];
}

/* The local that instruction `at` loads or stores whole; NO_LOCAL: it does something else. */
static uint32_t whole_local(const pctl_program *p, const pctl_function *fn, uint32_t at,
			    uint16_t op)
{
	pctl_place place;

	if (p->insts[at].op != op || !pctl_place_get(p, fn, &p->insts[at], &place) ||
	    place.n_chain || !(place.root & PCTL_PLACE_LOCAL))
		return NO_LOCAL;
	return place.root & ~PCTL_PLACE_LOCAL;
}

static int constant(const pctl_program *p, uint32_t at, uint64_t *out)
{
	const pctl_inst *in = &p->insts[at];

	*out = 0;
	if (in->op == PCTL_OP_CONST)
		*out = pctl_arg(p, in, 0) | (uint64_t)pctl_arg(p, in, 1) << 32;
	return in->op == PCTL_OP_CONST || in->op == PCTL_OP_ZERO;
}

/* Find LOOP_TEST, CONTINUING and END_LOOP; 0 where something leaves the loop in another way. */
static int read_shape(const pctl_program *p, counted *c)
{
	uint32_t loops = 0, switches = 0, depth = 0;

	for (uint32_t i = c->first + 1;; i++) {
		switch (p->insts[i].op) {
		case PCTL_OP_LOOP:
			loops++;
			depth++;
			break;
		case PCTL_OP_SWITCH:
			switches++;
			depth++;
			break;
		case PCTL_OP_IF:
		case PCTL_OP_BLOCK:
			depth++;
			break;
		case PCTL_OP_END_SWITCH:
			switches--;
			depth--;
			break;
		case PCTL_OP_END_IF:
		case PCTL_OP_END_BLOCK:
			depth--;
			break;
		case PCTL_OP_LOOP_TEST:
			c->test = depth ? c->test : i;
			break;
		case PCTL_OP_CONTINUING:
			c->update = depth ? c->update : i;
			break;
		case PCTL_OP_END_LOOP:
			if (!depth) {
				c->last = i;
				return 1;
			}
			loops--;
			depth--;
			break;
		case PCTL_OP_BREAK:
			/* Inside a switch within a loop within this one, and the like, it is not ours. */
			if (!loops && !switches)
				return 0;
			break;
		case PCTL_OP_CONTINUE:
			if (!loops)
				return 0;
			break;
		case PCTL_OP_RETURN:
			return 0;
		default:
			break;
		}
	}
}

/* What `op` gives for the variable and a constant, on either side. */
static int apply(const pctl_program *p, const pctl_function *fn, uint32_t at, uint32_t local,
		 uint8_t scalar, uint64_t value, uint64_t *out)
{
	const pctl_inst *in = &p->insts[at];
	uint64_t args[2];

	if (in->n_args != 2 || pctl_op_get(in->op)->kind != PCTL_OPKIND_elem)
		return 0;
	for (uint32_t i = 0; i < 2; i++) {
		const uint32_t operand = fn->first_inst + pctl_arg(p, in, i);

		if (whole_local(p, fn, operand, PCTL_OP_LOAD) == local)
			args[i] = value;
		else if (!constant(p, operand, &args[i]))
			return 0;
	}
	return pctl_eval(in->op, p->types[in->type].scalar, scalar, args, out);
}

/* Between its tests, nothing but the variable's own step may happen in test and update. */
static int is_plain(const pctl_program *p, const pctl_function *fn, uint32_t from, uint32_t to,
		    uint32_t local)
{
	for (uint32_t i = from; i < to; i++) {
		const uint8_t kind = pctl_op_get(p->insts[i].op)->kind;

		if (kind != PCTL_OPKIND_const && kind != PCTL_OPKIND_elem &&
		    whole_local(p, fn, i, PCTL_OP_LOAD) != local &&
		    whole_local(p, fn, i, PCTL_OP_STORE) != local)
			return 0;
	}
	return 1;
}

/* The one store of the loop, at the end of its update. */
static uint32_t only_store(const pctl_program *p, const pctl_function *fn, const counted *c)
{
	uint32_t found = NO_LOCAL;

	for (uint32_t i = c->first; i < c->last; i++) {
		if (whole_local(p, fn, i, PCTL_OP_STORE) != c->local)
			continue;
		if (found != NO_LOCAL || i < c->update)
			return NO_LOCAL;
		found = i;
	}
	return found;
}

static int read_start(const pctl_program *p, const pctl_function *fn, counted *c)
{
	for (uint32_t i = c->first; i-- > fn->first_inst + fn->n_params;) {
		if (whole_local(p, fn, i, PCTL_OP_STORE) == c->local)
			return constant(p, fn->first_inst + pctl_arg(p, &p->insts[i], 0),
					&c->start);
		if (pctl_op_get(p->insts[i].op)->kind == PCTL_OPKIND_control)
			return 0;
	}
	return 0;
}

/* 1: the loop turns a known number of times. */
static int read_turns(const pctl_program *p, const pctl_function *fn, counted *c)
{
	const uint32_t condition = fn->first_inst + pctl_arg(p, &p->insts[c->test], 0);
	const pctl_inst *in = &p->insts[condition];
	uint32_t store;
	uint64_t value, holds;

	if (condition < c->first || in->n_args != 2)
		return 0;
	c->local = whole_local(p, fn, fn->first_inst + pctl_arg(p, in, 0), PCTL_OP_LOAD);
	if (c->local == NO_LOCAL)
		c->local = whole_local(p, fn, fn->first_inst + pctl_arg(p, in, 1), PCTL_OP_LOAD);
	if (c->local == NO_LOCAL)
		return 0;
	c->scalar = p->types[p->locals[fn->first_local + c->local].type].scalar;
	store = only_store(p, fn, c);
	if ((c->scalar != PCTL_SCALAR_U32 && c->scalar != PCTL_SCALAR_I32) || store == NO_LOCAL ||
	    !is_plain(p, fn, c->first + 1, c->test, c->local) ||
	    !is_plain(p, fn, c->update + 1, c->last, c->local) || !read_start(p, fn, c))
		return 0;
	value = c->start;
	for (c->turns = 0; apply(p, fn, condition, c->local, c->scalar, value, &holds);
	     c->turns++) {
		c->end = value;
		if (!holds)
			return 1;
		if (c->turns == MOST_TURNS)
			return 0;
		c->values[c->turns] = value;
		if (!apply(p, fn, fn->first_inst + pctl_arg(p, &p->insts[store], 0), c->local,
			   c->scalar, value, &value))
			return 0;
	}
	return 0;
}

/* 1: a local array in the loop is indexed by what its variable makes. */
static int indexes_local(const unroller *x, const pctl_function *fn, const counted *c)
{
	const pctl_program *p = x->p;

	for (uint32_t i = c->first; i < c->last; i++) {
		const pctl_inst *in = &p->insts[i];
		legal view = {.p = p, .fn = fn};
		legal_operands o = {.l = &view, .in = in};
		const int is_memory = pctl_op_get(in->op)->kind == PCTL_OPKIND_memory;
		uint32_t at, value;
		pctl_place place;

		x->depends[i] = whole_local(p, fn, i, PCTL_OP_LOAD) == c->local;
		while (legal_next_operand(&o, &at, &value)) {
			if (fn->first_inst + value < c->first ||
			    !x->depends[fn->first_inst + value])
				continue;
			if (is_memory && pctl_place_get(p, fn, in, &place) &&
			    place.root & PCTL_PLACE_LOCAL && at > place.n_values)
				return 1;
			x->depends[i] = !is_memory;
		}
	}
	return 0;
}

static void choose(unroller *x, const pctl_function *fn, counted *c)
{
	uint32_t once = 0;

	for (uint32_t i = c->test + 1; i < c->update; i++) {
		if (x->p->insts[i].op == PCTL_OP_LOOP && x->written[i])
			return; /* a loop that stays is not written more often */
		once += whole_local(x->p, fn, i, PCTL_OP_LOAD) == c->local ? 0 : x->written[i];
	}
	if (!c->turns || once * (uint64_t)c->turns > LARGEST_LOOP ||
	    x->growth + once * (c->turns - 1) > LARGEST_GROWTH || !indexes_local(x, fn, c))
		return;
	c->is_chosen = 1;
	x->growth += once * (c->turns - 1);
	for (uint32_t i = c->first; i <= c->last; i++)
		x->written[i] = i > c->test && i < c->update &&
						whole_local(x->p, fn, i, PCTL_OP_LOAD) != c->local
					? x->written[i] * c->turns
					: 0;
}

/* From the end, so that what is inside comes first. */
static pctl_status find_loops(unroller *x, const pctl_call *call)
{
	const pctl_program *p = x->p;
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_insts; i++)
		n += p->insts[i].op == PCTL_OP_LOOP;
	x->loops = calloc(n + 1u, sizeof(*x->loops));
	x->written = calloc(p->n_insts + 1u, sizeof(*x->written));
	x->depends = calloc(p->n_insts + 1u, 1);
	x->known = calloc(p->n_insts + p->n_locals + 1u, sizeof(*x->known));
	if (!x->loops || !x->written || !x->depends || !x->known)
		return pctl_no_memory(call, "legalising a program");
	for (uint32_t i = 0; i < p->n_insts; i++)
		x->written[i] = pctl_op_get(p->insts[i].op)->kind != PCTL_OPKIND_const;
	for (uint32_t i = p->n_insts; i-- > 0;) {
		counted *c = &x->loops[x->n_loops];
		const pctl_function *fn;

		if (p->insts[i].op != PCTL_OP_LOOP)
			continue;
		*c = (counted){.first = i};
		fn = function_of(p, i);
		if (!read_shape(p, c) || !read_turns(p, fn, c))
			continue;
		choose(x, fn, c);
		x->n_loops += c->is_chosen;
	}
	return PCTL_OK;
}

/* ---- writing ------------------------------------------------------------------------------ */

static void set_constant(legal *l, uint32_t v, uint32_t type, uint64_t bits)
{
	unroller *x = l->unroller;

	x->known[v].is_known = 1;
	x->known[v].bits = bits;
	l->values[v].id[0] = pctl_build_const(l->b, legal_type(l, type), bits);
}

static int is_integer(const pctl_program *p, uint32_t type)
{
	const pctl_type *t = &p->types[type];

	return t->kind == PCTL_TYPE_SCALAR && t->scalar >= PCTL_SCALAR_BOOL &&
	       t->scalar <= PCTL_SCALAR_U32;
}

/* Its value, where all it is made of is known. */
static int fold(legal *l, uint32_t v, const pctl_inst *in)
{
	const unroller *x = l->unroller;
	const uint8_t kind = pctl_op_get(in->op)->kind;
	const uint32_t which = in->op == PCTL_OP_SELECT;
	uint64_t args[4], bits;
	uint32_t type, n = 0;

	if ((kind != PCTL_OPKIND_elem && kind != PCTL_OPKIND_bool && kind != PCTL_OPKIND_convert) ||
	    !in->n_args || in->n_args > 4 || !is_integer(l->p, in->type))
		return 0;
	while (n < in->n_args && x->known[pctl_arg(l->p, in, n)].is_known) {
		args[n] = x->known[pctl_arg(l->p, in, n)].bits;
		n++;
	}
	type = pctl_value_type(l->p, l->fn, pctl_arg(l->p, in, which));
	if (n < in->n_args || !is_integer(l->p, type) ||
	    !pctl_eval(in->op, l->p->types[in->type].scalar, l->p->types[type].scalar, args, &bits))
		return 0;
	set_constant(l, v, in->type, bits);
	return 1;
}

static void instruction(legal *l, uint32_t v, const pctl_inst *in);

static void write_out(legal *l, const counted *c)
{
	unroller *x = l->unroller;
	const uint32_t base = l->fn->first_inst, by_local = l->fn->n_insts + c->local;
	const pctl_type *t = &l->p->types[l->p->locals[l->fn->first_local + c->local].type];
	uint32_t end;

	x->known[by_local].is_known = 1;
	for (uint32_t turn = 0; turn < c->turns; turn++) {
		x->known[by_local].bits = c->values[turn];
		x->behind = 0; /* what was written out inside in the last turn is written again */
		/* The test's constants may be used in the body. */
		for (uint32_t i = c->first + 1; i < c->update && l->status == PCTL_OK; i++) {
			if (i == c->test)
				continue;
			if (l->p->origins)
				pctl_build_origin(l->b, &l->p->origins[i]);
			instruction(l, i - base, &l->p->insts[i]);
		}
	}
	x->known[by_local].is_known = 0;
	end = pctl_build_const(l->b, pctl_build_scalar(l->b, t->scalar), c->end);
	legal_emit2(l, PCTL_OP_STORE, 0, end, PCTL_PLACE_LOCAL | c->local);
	x->behind = c->last - base + 1;
}

static void instruction(legal *l, uint32_t v, const pctl_inst *in)
{
	unroller *x = l->unroller;
	const uint32_t at = l->fn->first_inst + v;
	uint64_t bits;
	uint32_t local;

	if (v == 0) {
		x->behind = 0;
		memset(&x->known[l->fn->n_insts], 0, l->fn->n_locals * sizeof(*x->known));
	}
	if (v < x->behind)
		return;
	for (uint32_t i = 0; in->op == PCTL_OP_LOOP && i < x->n_loops; i++) {
		if (x->loops[i].first == at) {
			write_out(l, &x->loops[i]);
			return;
		}
	}
	x->known[v].is_known = 0;
	local = whole_local(l->p, l->fn, at, PCTL_OP_LOAD);
	if (local != NO_LOCAL && x->known[l->fn->n_insts + local].is_known) {
		set_constant(l, v, in->type, x->known[l->fn->n_insts + local].bits);
		return;
	}
	if (fold(l, v, in))
		return;
	legal_int64_rules.instruction(l, v, in);
	if (constant(l->p, at, &bits) && is_integer(l->p, in->type)) {
		x->known[v].is_known = 1;
		x->known[v].bits = bits;
	}
}

pctl_status legal_unroll_pass(const pctl_program *p, const pctl_call *call, pctl_program **out)
{
	legal_rules rules = legal_int64_rules;
	unroller x = {.p = p};
	legal l = {.call = call, .unroller = &x};
	pctl_status status = find_loops(&x, call);

	*out = NULL;
	rules.instruction = instruction;
	if (status == PCTL_OK && x.n_loops)
		status = legal_rebuild(&l, p, &rules, 0, NULL, out);
	free(x.loops);
	free(x.written);
	free(x.depends);
	free(x.known);
	return status;
}
