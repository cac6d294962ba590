/* Verification of control: nesting and placement, visibility of values, code that is never reached,
 * and functions that end without a value. Operand types are verify_inst.c's. */
#include <string.h>

#include "compiler/ir/verify.h"

enum {
	REGION_BODY,
	REGION_THEN,
	REGION_ELSE,
	REGION_SWITCH, /* between SWITCH and the first CASE: empty */
	REGION_CASE,
	REGION_TEST,
	REGION_LOOP,
	REGION_UPDATE,
	REGION_BLOCK
};

typedef struct region {
	uint8_t kind;
	uint8_t ended;	 /* a terminator was the last instruction here */
	uint8_t through; /* control can reach the end of the construct by an earlier part of it */
	uint8_t has_default;
	uint32_t number;
	uint32_t start; /* instruction that opened the construct */
} region;

typedef struct walk {
	pctl_verify *v;
	region stack[PCTL_REGION_DEPTH_MAX + 1];
	uint32_t depth; /* index of the innermost region */
} walk;

int pctl_verify_visible(const pctl_verify *v, uint32_t value)
{
	const pctl_inst *in;

	if (value >= v->at)
		return 0;
	in = &v->p->insts[v->fn->first_inst + value];
	return pctl_op_get(in->op)->yields && in->type && v->open[v->region_of[value]];
}

static region *top(walk *w)
{
	return &w->stack[w->depth];
}

static void enter(walk *w, uint8_t kind)
{
	region *r = top(w);

	r->kind = kind;
	r->ended = 0;
	r->number = w->v->n_regions++;
	w->v->open[r->number] = 1;
}

static void leave(walk *w)
{
	w->v->open[top(w)->number] = 0;
}

static int push(walk *w, uint8_t kind)
{
	if (w->depth == PCTL_REGION_DEPTH_MAX)
		return pctl_verify_complain(w->v, PC2028_PROGRAM_DEPTH,
					    "regions nest deeper than %u", PCTL_REGION_DEPTH_MAX);
	w->depth++;
	memset(top(w), 0, sizeof(region));
	top(w)->start = w->v->at;
	enter(w, kind);
	return 1;
}

/* Close the construct on top; `through` says whether control goes on behind it. */
static void pop(walk *w, int through)
{
	leave(w);
	w->depth--;
	top(w)->ended = !through;
}

static int misplaced(walk *w)
{
	return pctl_verify_complain(w->v, PC2026_PROGRAM_CONTROL,
				    "does not fit the construct it stands in");
}

/* Where a BREAK or CONTINUE goes: the region index of the target, or 0. */
static uint32_t target(const walk *w, int is_continue)
{
	uint32_t i;

	for (i = w->depth; i > 0; i--) {
		switch (w->stack[i].kind) {
		case REGION_TEST:
		case REGION_UPDATE:
			return 0;
		case REGION_LOOP:
			return i;
		case REGION_CASE:
			if (!is_continue)
				return i;
			break;
		default:
			break;
		}
	}
	return 0;
}

static int check_return(walk *w, const pctl_inst *in)
{
	pctl_verify *v = w->v;
	uint32_t i;

	for (i = w->depth; i > 0; i--) {
		if (w->stack[i].kind == REGION_TEST || w->stack[i].kind == REGION_UPDATE)
			return misplaced(w);
	}
	if (in->n_args != (v->fn->return_type != 0))
		return pctl_verify_complain(v, PC2021_PROGRAM_OPERAND,
					    "returns %s value from a function that has %s result",
					    in->n_args ? "a" : "no",
					    v->fn->return_type ? "a" : "no");
	if (in->n_args && pctl_verify_visible(v, pctl_arg(v->p, in, 0)) &&
	    pctl_value_type(v->p, v->fn, pctl_arg(v->p, in, 0)) != v->fn->return_type)
		return pctl_verify_complain(v, PC2021_PROGRAM_OPERAND,
					    "returns a value of another type than the function's");
	return 1;
}

static int next_case(walk *w, const pctl_inst *in)
{
	region *r = top(w);
	const uint32_t is_default = in->n_args ? pctl_arg(w->v->p, in, 0) : 2;

	if (r->kind != REGION_SWITCH && r->kind != REGION_CASE)
		return misplaced(w);
	if (is_default > 1 || (!is_default && in->n_args < 2) || (is_default && r->has_default))
		return pctl_verify_complain(w->v, PC2026_PROGRAM_CONTROL,
					    "is neither the one default nor a list of literals");
	r->has_default |= (uint8_t)is_default;
	if (r->kind == REGION_CASE && !r->ended)
		r->through = 1;
	leave(w);
	enter(w, REGION_CASE);
	return 1;
}

static int end_switch(walk *w)
{
	region *r = top(w);

	if (r->kind != REGION_CASE)
		return misplaced(w);
	if (!r->has_default)
		return pctl_verify_complain(w->v, PC2026_PROGRAM_CONTROL,
					    "closes a switch that has no default");
	pop(w, r->through || !r->ended);
	return 1;
}

/* Move from region kind `from` of the construct on top to `to`. */
static int advance(walk *w, uint8_t from, uint8_t to)
{
	region *r = top(w);

	if (r->kind != from)
		return misplaced(w);
	if (!r->ended)
		r->through = 1;
	leave(w);
	enter(w, to);
	return 1;
}

static int jump(walk *w, int is_continue)
{
	uint32_t t = target(w, is_continue);

	if (!t)
		return misplaced(w);
	w->stack[t].through = 1;
	top(w)->ended = 1;
	return 1;
}

static int control(walk *w, const pctl_inst *in)
{
	region *r = top(w);

	switch (in->op) {
	case PCTL_OP_IF:
		return push(w, REGION_THEN);
	case PCTL_OP_ELSE:
		return advance(w, REGION_THEN, REGION_ELSE);
	case PCTL_OP_END_IF:
		if (r->kind != REGION_THEN && r->kind != REGION_ELSE)
			return misplaced(w);
		pop(w, r->kind == REGION_THEN || r->through || !r->ended);
		return 1;
	case PCTL_OP_SWITCH:
		return push(w, REGION_SWITCH);
	case PCTL_OP_CASE:
		return next_case(w, in);
	case PCTL_OP_END_SWITCH:
		return end_switch(w);
	case PCTL_OP_LOOP:
		return push(w, REGION_TEST);
	case PCTL_OP_LOOP_TEST:
		return advance(w, REGION_TEST, REGION_LOOP);
	case PCTL_OP_CONTINUING:
		return advance(w, REGION_LOOP, REGION_UPDATE);
	case PCTL_OP_END_LOOP:
		if (r->kind != REGION_UPDATE)
			return misplaced(w);
		pop(w, 1);
		return 1;
	case PCTL_OP_BLOCK:
		return push(w, REGION_BLOCK);
	case PCTL_OP_END_BLOCK:
		if (r->kind != REGION_BLOCK)
			return misplaced(w);
		pop(w, !r->ended);
		return 1;
	case PCTL_OP_BREAK:
		return jump(w, 0);
	case PCTL_OP_CONTINUE:
		return jump(w, 1);
	case PCTL_OP_RETURN:
		if (!check_return(w, in))
			return 0;
		r->ended = 1;
		return 1;
	default:
		return 1;
	}
}

/* Instructions that may stand right behind a terminator. */
static int closes(uint16_t op)
{
	switch (op) {
	case PCTL_OP_ELSE:
	case PCTL_OP_END_IF:
	case PCTL_OP_CASE:
	case PCTL_OP_END_SWITCH:
	case PCTL_OP_CONTINUING:
	case PCTL_OP_END_LOOP:
	case PCTL_OP_END_BLOCK:
		return 1;
	default:
		return 0;
	}
}

static int is_terminator(uint16_t op)
{
	return op == PCTL_OP_BREAK || op == PCTL_OP_CONTINUE || op == PCTL_OP_RETURN;
}

static int check_place(walk *w, const pctl_inst *in)
{
	pctl_verify *v = w->v;

	if (v->at && is_terminator(v->p->insts[v->fn->first_inst + v->at - 1].op) &&
	    !closes(in->op))
		return pctl_verify_complain(v, PC2027_PROGRAM_UNREACHABLE,
					    "stands behind a jump in the same region");
	if (top(w)->kind == REGION_SWITCH && in->op != PCTL_OP_CASE)
		return misplaced(w);
	if ((in->op == PCTL_OP_PARAM) != (v->at < v->fn->n_params))
		return pctl_verify_complain(v, PC2013_PROGRAM_FUNCTION,
					    "parameters are not exactly the first instructions");
	return 1;
}

int pctl_verify_function(pctl_verify *v, uint32_t f)
{
	walk w;
	uint32_t i;

	v->fn = &v->p->functions[f];
	v->function = f;
	v->at = PCTL_NONE;
	v->n_regions = 0;
	w.v = v;
	w.depth = 0;
	memset(&w.stack[0], 0, sizeof(region));
	enter(&w, REGION_BODY);
	if (f == 0 && (v->fn->n_params || v->fn->return_type || v->fn->n_locals))
		pctl_verify_complain(v, PC2029_PROGRAM_SPEC,
				     "`spec` has parameters, locals or a result");
	for (i = 0; i < v->fn->n_insts; i++) {
		const pctl_inst *in = &v->p->insts[v->fn->first_inst + i];

		v->at = i;
		/* A construct left or entered wrongly would make every later message noise. */
		if (!check_place(&w, in))
			break;
		pctl_verify_inst(v, in);
		if (!control(&w, in))
			break;
		v->region_of[i] = top(&w)->number;
	}
	if (i == v->fn->n_insts) {
		v->at = i ? i - 1 : PCTL_NONE;
		if (w.depth)
			pctl_verify_complain(
				v, PC2026_PROGRAM_CONTROL,
				"the function ends inside the construct of instruction %u",
				top(&w)->start);
		else if (v->fn->return_type && !w.stack[0].ended)
			pctl_verify_complain(v, PC2013_PROGRAM_FUNCTION,
					     "the function can end without its result");
	}
	for (i = 0; i < v->n_regions; i++)
		v->open[i] = 0;
	v->at = PCTL_NONE;
	return 1;
}
