/* Conditions nested deeper than a device does right are written one after the other. Of a region that cannot stay where
 * it is, each piece stands under a flag that is true while control is in that region; conditions set the flags of their
 * arms, jumps clear those of the regions they leave. Whatever fits goes into a piece as it is. What is executed, and in
 * which order, is what was written: nothing is evaluated that a condition hides.
 *
 * Loops stay loops, at a level of their own, so that the analysis still counts their turns. A call that is too deep
 * wherever it stands is written out. Only the entry point is rewritten; flags are false whenever they are not in use. */
#include "compiler/legalize/flatten.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/analysis/extents.h"

static void region(flattener *x, flat_region *r, uint32_t first);

static uint32_t next_of(const flattener *x, uint32_t v)
{
	return x->next[x->frame->fn->first_inst + v] - x->frame->fn->first_inst;
}

static int escapes(const flattener *x, uint32_t v)
{
	return x->escapes[x->frame->fn->first_inst + v];
}

static int is_opening(uint16_t op)
{
	return op == PCTL_OP_IF || op == PCTL_OP_SWITCH || op == PCTL_OP_LOOP ||
	       op == PCTL_OP_BLOCK;
}

static uint32_t last_of(const flattener *x, uint32_t v)
{
	uint16_t op = flat_inst(x, v)->op;

	if (!is_opening(op))
		return v;
	do {
		v = next_of(x, v);
		op = flat_inst(x, v)->op;
	} while (op != PCTL_OP_END_IF && op != PCTL_OP_END_SWITCH && op != PCTL_OP_END_LOOP &&
		 op != PCTL_OP_END_BLOCK);
	return v;
}

/* Is something straight in [first, end) left by a jump? */
static int is_left(const flattener *x, uint32_t first, uint32_t end)
{
	for (uint32_t v = first; v < end; v = last_of(x, v) + 1)
		if (is_opening(flat_inst(x, v)->op) && escapes(x, v))
			return 1;
	return 0;
}

/* ---- guards ------------------------------------------------------------------------------- */

static void guard_close(flattener *x)
{
	if (!x->guard)
		return;
	flat_emit(x, PCTL_OP_END_IF, 0, NULL, 0);
	flat_group_close(x);
	x->guard = 0;
}

/* What is written next is of this region. */
static void guard_open(flattener *x, const flat_region *r)
{
	uint32_t flag;

	if (!r->guarded || x->guard == r->flag)
		return;
	guard_close(x);
	flag = flat_flag_load(x, r->flag);
	flat_emit(x, PCTL_OP_IF, 0, &flag, 1);
	flat_group_open(x);
	x->guard = r->flag;
}

/* Behind construct v: where a jump leads out of it, what follows depends on the flag. */
static void after(flattener *x, flat_region *r, uint32_t v)
{
	if (!escapes(x, v))
		return;
	guard_close(x);
	r->guarded = 1;
}

/* ---- constructs --------------------------------------------------------------------------- */

static int fits(const flattener *x, const flat_region *r, uint32_t v)
{
	return (uint64_t)x->level + (r->guarded != 0) + x->levels[x->frame->fn->first_inst + v] <=
	       x->limit;
}

/* Instructions v to last as they are. */
static void stay(flattener *x, uint32_t v, uint32_t last)
{
	const uint32_t first = v;

	for (; v <= last; v++)
		flat_want_operands(x, v, first);
	for (v = first; v <= last; v++)
		flat_define(x, v);
}

static void arm(flattener *x, flat_region *r, uint32_t kind, uint32_t flag, uint32_t first,
		uint32_t end)
{
	flat_region inner = {.outer = r, .kind = kind, .flag = flag, .end = end, .guarded = 1};

	region(x, &inner, first);
	guard_close(x);
	flat_flag_give(x, flag);
}

/* A region within a construct that stays: what jumps in it skip stands under its flag. */
static void inside(flattener *x, flat_region *r, uint32_t kind, uint32_t first, uint32_t end)
{
	flat_region inner = {.outer = r, .kind = kind, .end = end};

	flat_group_open(x);
	if (is_left(x, first, end)) {
		inner.flag = flat_flag_take(x);
		flat_flag_set(x, inner.flag, 1);
	}
	region(x, &inner, first);
	guard_close(x);
	flat_flag_give(x, inner.flag);
	flat_group_close(x);
}

/* An if or a switch that fits, but for the jumps in it: they become flags. */
static void stay_without_jumps(flattener *x, flat_region *r, uint32_t v, uint32_t last)
{
	const uint32_t kind = flat_inst(x, v)->op == PCTL_OP_IF ? FLAT_ARM : FLAT_CASE;
	const uint32_t level = x->level;
	uint32_t guard, part = v;

	guard_open(x, r);
	flat_want_operands(x, v, v);
	flat_copy(x, v);
	guard = x->guard;
	x->level += guard ? 2 : 1;
	x->guard = 0;
	if (kind == FLAT_CASE) {
		part = next_of(x, v);
		flat_copy(x, part);
	}
	while (part != last) {
		inside(x, r, kind, part + 1, next_of(x, part));
		part = next_of(x, part);
		flat_copy(x, part);
	}
	x->guard = guard;
	x->level = level;
	after(x, r, v);
}

static void flatten_if(flattener *x, flat_region *r, uint32_t v)
{
	const uint32_t condition = pctl_arg(x->p, flat_inst(x, v), 0), part = next_of(x, v);
	const int has_else = flat_inst(x, part)->op == PCTL_OP_ELSE;
	const uint32_t yes = flat_flag_take(x), no = has_else ? flat_flag_take(x) : 0;
	uint32_t id;

	guard_open(x, r);
	flat_want(x, condition);
	flat_store_local(x, flat_value(x, condition), yes);
	if (has_else) {
		id = flat_value(x, condition);
		id = flat_emit(x, PCTL_OP_NOT, x->l->t_bool, &id, 1);
		flat_store_local(x, id, no);
	}
	guard_close(x);
	arm(x, r, FLAT_ARM, yes, v + 1, part);
	if (has_else)
		arm(x, r, FLAT_ARM, no, part + 1, next_of(x, part));
	after(x, r, v);
}

/* The switch stays, and sets the flag of the case that is taken. */
static void flatten_switch(flattener *x, flat_region *r, uint32_t v)
{
	uint32_t n = 0, at, *flags;

	for (at = next_of(x, v); flat_inst(x, at)->op == PCTL_OP_CASE; at = next_of(x, at))
		n++;
	flags = calloc((size_t)n + 1, sizeof(*flags));
	if (!flags) {
		legal_refuse_memory(x->l);
		x->has_failed = 1;
		return;
	}
	guard_open(x, r);
	flat_want_operands(x, v, v);
	flat_copy(x, v);
	n = 0;
	for (at = next_of(x, v); flat_inst(x, at)->op == PCTL_OP_CASE; at = next_of(x, at)) {
		flat_copy(x, at);
		if (next_of(x, at) == at + 1)
			continue;
		flags[n] = flat_flag_take(x);
		flat_flag_set(x, flags[n++], 1);
	}
	flat_copy(x, at);
	guard_close(x);
	n = 0;
	for (at = next_of(x, v); flat_inst(x, at)->op == PCTL_OP_CASE; at = next_of(x, at))
		if (next_of(x, at) != at + 1)
			arm(x, r, FLAT_CASE, flags[n++], at + 1, next_of(x, at));
	free(flags);
	after(x, r, v);
}

static void straight(flattener *x, uint32_t first, uint32_t end)
{
	flat_region r = {.kind = FLAT_STRAIGHT, .end = end};

	region(x, &r, first);
	guard_close(x);
}

static void loop_body(flattener *x, flat_region *b, uint32_t first)
{
	uint32_t id;

	if (is_left(x, first, b->end))
		b->flag = flat_flag_take(x);
	if (b->flag)
		flat_flag_set(x, b->flag, 1);
	region(x, b, first);
	guard_close(x);
	flat_flag_give(x, b->flag);
	if (!b->leave)
		return;
	id = flat_flag_load(x, b->leave);
	flat_emit(x, PCTL_OP_IF, 0, &id, 1);
	flat_emit(x, PCTL_OP_BREAK, 0, NULL, 0);
	flat_emit(x, PCTL_OP_END_IF, 0, NULL, 0);
}

/* A loop whose body is flattened within it. */
static void flatten_loop(flattener *x, flat_region *r, uint32_t v)
{
	const uint32_t test = next_of(x, v), update = next_of(x, test), end = next_of(x, update);
	const uint32_t leave = x->broken[x->frame->fn->first_inst + v] ? flat_flag_take(x) : 0;
	const uint32_t level = x->level;
	flat_region body = {.outer = r, .kind = FLAT_LOOP, .leave = leave, .end = update};

	guard_open(x, r);
	for (uint32_t i = v; i <= end; i++)
		if (i <= test || i >= update)
			flat_want_operands(x, i, v);
	flat_copy(x, v);
	x->level += x->guard ? 2 : 1;
	x->guard = 0;
	flat_group_open(x);
	straight(x, v + 1, test);
	flat_want_operands(x, test, test);
	flat_copy(x, test);
	flat_group_close(x);
	flat_group_open(x);
	loop_body(x, &body, test + 1);
	flat_group_close(x);
	flat_copy(x, update);
	flat_group_open(x);
	straight(x, update + 1, end);
	flat_group_close(x);
	flat_copy(x, end);
	x->level = level;
	x->guard = r->guarded ? r->flag : 0;
	flat_flag_give(x, leave);
	after(x, r, v);
}

static void flatten_block(flattener *x, flat_region *r, uint32_t v, uint32_t end)
{
	flat_region block = {
		.outer = r, .kind = FLAT_BLOCK, .flag = r->flag, .end = end, .guarded = r->guarded};

	region(x, &block, v + 1);
	r->guarded = block.guarded;
}

/* ---- calls -------------------------------------------------------------------------------- */

/* Parameters, locals and the place of the result of a function that is written out here. */
static void begin_call(flattener *x, flat_frame *f, const pctl_inst *call)
{
	const pctl_function *fn = f->fn;

	for (uint32_t i = 0; i < fn->n_params; i++) {
		flat_want(x, pctl_arg(x->p, call, i + 1));
		f->values[i] = x->frame->values[pctl_arg(x->p, call, i + 1)];
	}
	for (uint32_t i = 0; i < fn->n_locals && !x->is_dry; i++) {
		const pctl_local *local = &x->p->locals[fn->first_local + i];
		const uint32_t id = pctl_build_local(x->l->b, pctl_str(x->p, local->name),
						     legal_type(x->l, local->type));

		if (i == 0)
			f->local_base = id;
	}
	if (fn->return_type && !x->is_dry)
		f->result = 1 + pctl_build_local(x->l->b, "", legal_type(x->l, fn->return_type));
	flat_enter(x, f);
	for (uint32_t i = 0; i < fn->n_params; i++)
		flat_keep(x, i);
	for (uint32_t i = 0; i < fn->n_locals; i++) {
		const uint32_t type = x->p->locals[fn->first_local + i].type;
		const uint32_t zero =
			flat_emit(x, PCTL_OP_ZERO, x->is_dry ? 0 : legal_type(x->l, type), NULL, 0);

		flat_store_local(x, zero, 1 + f->local_base + i);
	}
}

/* A call whose function is too deep even here: its body is a region of its own, which its returns leave. */
static void write_out(flattener *x, flat_region *r, uint32_t v)
{
	const pctl_inst *call = flat_inst(x, v);
	const pctl_function *fn = &x->p->functions[pctl_arg(x->p, call, 0)];
	flat_frame *caller = x->frame, f;
	flat_region body = {.outer = r, .kind = FLAT_FUNCTION, .end = fn->n_insts, .guarded = 1};

	if (!flat_frame_open(x, &f, fn)) {
		x->has_failed = 1;
		flat_frame_close(&f);
		return;
	}
	guard_open(x, r);
	begin_call(x, &f, call);
	if (is_left(x, 0, fn->n_insts)) {
		body.flag = flat_flag_take(x);
		flat_flag_set(x, body.flag, 1);
		guard_close(x);
	} else {
		body.flag = r->flag;
		body.guarded = r->guarded;
	}
	region(x, &body, fn->n_params);
	if (body.flag != r->flag) {
		guard_close(x);
		flat_flag_give(x, body.flag);
	}
	flat_enter(x, caller);
	caller->kept[v] = f.result;
	caller->group[v] = 0;
	flat_frame_close(&f);
}

static void flatten_call(flattener *x, flat_region *r, uint32_t v)
{
	if (!fits(x, r, v)) {
		write_out(x, r, v);
		return;
	}
	guard_open(x, r);
	stay(x, v, v);
}

/* ---- jumps -------------------------------------------------------------------------------- */

/* The regions that a jump leaves are over: nothing of them follows. */
static void jump(flattener *x, flat_region *r, uint32_t v)
{
	const pctl_inst *in = flat_inst(x, v);

	guard_open(x, r);
	flat_want_operands(x, v, v);
	if (in->op == PCTL_OP_RETURN && in->n_args)
		flat_store_local(x, flat_value(x, pctl_arg(x->p, in, 0)), x->frame->result);
	for (flat_region *q = r; q; q = q->outer) {
		if (q != r && q->flag && q->more)
			flat_flag_set(x, q->flag, 0);
		if (q->kind == FLAT_LOOP && in->op != PCTL_OP_CONTINUE)
			flat_flag_set(x, q->leave, 1);
		if ((q->kind == FLAT_LOOP && in->op != PCTL_OP_RETURN) ||
		    (q->kind == FLAT_CASE && in->op == PCTL_OP_BREAK) || q->kind == FLAT_FUNCTION)
			return;
	}
}

/* ---- the pass ----------------------------------------------------------------------------- */

static void construct(flattener *x, flat_region *r, uint32_t v, uint32_t last)
{
	const int does_fit = fits(x, r, v);

	if (does_fit && !escapes(x, v)) {
		guard_open(x, r);
		stay(x, v, last);
		return;
	}
	switch (flat_inst(x, v)->op) {
	case PCTL_OP_IF:
		if (does_fit)
			stay_without_jumps(x, r, v, last);
		else
			flatten_if(x, r, v);
		break;
	case PCTL_OP_SWITCH:
		if (does_fit)
			stay_without_jumps(x, r, v, last);
		else
			flatten_switch(x, r, v);
		break;
	case PCTL_OP_LOOP:
		flatten_loop(x, r, v);
		break;
	default:
		flatten_block(x, r, v, last);
		break;
	}
}

/* The items of a region from `first` on. The last guard stays open. */
static void region(flattener *x, flat_region *r, uint32_t first)
{
	uint32_t v = first;

	if (++x->depth > LEGAL_FLAT_DEPTH)
		x->has_failed = 1;
	while (v < r->end && !x->has_failed) {
		const uint16_t op = flat_inst(x, v)->op;
		const uint32_t last = last_of(x, v);

		r->more = last + 1 < r->end;
		if (is_opening(op)) {
			construct(x, r, v, last);
		} else if (op == PCTL_OP_BREAK || op == PCTL_OP_CONTINUE || op == PCTL_OP_RETURN) {
			jump(x, r, v);
		} else if (op == PCTL_OP_CALL) {
			flatten_call(x, r, v);
		} else {
			guard_open(x, r);
			stay(x, v, v);
		}
		v = last + 1;
	}
	x->depth--;
}

static void walk(flattener *x)
{
	const pctl_function *fn = &x->p->functions[x->entry];
	const legal outer = *x->l;
	flat_region root = {.kind = FLAT_FUNCTION, .end = fn->n_insts};
	flat_frame f;

	x->n_groups = x->last_group = x->guard = x->level = 0;
	x->n_spare = x->n_flags = x->depth = x->size = 0;
	x->frame = NULL;
	if (flat_frame_open(x, &f, fn)) {
		flat_enter(x, &f);
		flat_group_open(x);
		if (is_left(x, fn->n_params, fn->n_insts)) {
			root.flag = flat_flag_take(x);
			flat_flag_set(x, root.flag, 1);
		}
		region(x, &root, fn->n_params);
		guard_close(x);
		flat_group_close(x);
	} else {
		x->has_failed = 1;
	}
	flat_frame_close(&f);
	x->l->fn = outer.fn;
	x->l->values = outer.values;
	x->l->local_base = outer.local_base;
}

/* ---- the pass ----------------------------------------------------------------------------- */

static void instruction(legal *l, uint32_t v, const pctl_inst *in)
{
	if (l->function != l->flattener->entry)
		legal_int64_rules.instruction(l, v, in);
	else if (v == 0)
		walk(l->flattener);
}

static int left_out(const legal *l, uint32_t f)
{
	return f != l->flattener->entry && !l->flattener->called[f];
}

/* What a function that stays calls stays. */
static void spread_calls(flattener *x)
{
	for (uint32_t f = x->p->n_functions; f-- > 1;) {
		const pctl_function *fn = &x->p->functions[f];

		for (uint32_t i = 0; x->called[f] && i < fn->n_insts; i++) {
			const pctl_inst *in = &x->p->insts[fn->first_inst + i];

			if (in->op == PCTL_OP_CALL)
				x->called[pctl_arg(x->p, in, 0)] = 1;
		}
	}
}

pctl_status legal_flatten(const pctl_program *p, uint32_t limit, const pctl_call *call,
			  pctl_program **out)
{
	legal_rules rules = legal_int64_rules;
	flattener x;
	legal l = {.call = call, .flattener = &x, .p = p};
	pctl_status status = flat_open(&x, p, limit, call);

	*out = NULL;
	rules.instruction = instruction;
	rules.left_out = left_out;
	if (status == PCTL_OK) {
		x.l = &l;
		x.is_dry = 1;
		walk(&x);
		x.is_dry = 0;
		spread_calls(&x);
		status = l.status;
	}
	if (status == PCTL_OK && !x.has_failed)
		status = legal_rebuild(&l, p, &rules, 0, NULL, out);
	flat_close(&x);
	return status;
}

pctl_status legal_flatten_pass(const pctl_program *p, uint32_t limit,
			       const pctl_analysis_query *known, const pctl_call *call,
			       pctl_program **out)
{
	pctl_extents before, after_it;
	pctl_status status;

	*out = NULL;
	if (!limit || p->n_entries != 1)
		return PCTL_OK;
	status = pctl_program_extents(p, known, call, &before);
	if (status != PCTL_OK || before.need[PCTL_EXTENT_NESTING] <= limit)
		return status;
	status = legal_flatten(p, limit, call, out);
	if (status == PCTL_OK && *out)
		status = pctl_program_extents(*out, known, call, &after_it);
	/* A loop that is left through flags may turn without end, as far as anybody can prove then. */
	if (status == PCTL_OK && *out &&
	    after_it.need[PCTL_EXTENT_NESTING] < before.need[PCTL_EXTENT_NESTING] &&
	    (after_it.need[PCTL_EXTENT_TURNS] != UINT64_MAX ||
	     before.need[PCTL_EXTENT_TURNS] == UINT64_MAX))
		return PCTL_OK;
	pctl_program_destroy(*out);
	*out = NULL;
	return status;
}
