/* Functions and structured control. The IR's regions are SPIR-V's constructs one to one; what has
 * to be known ahead (does an IF have an ELSE, which literals does a SWITCH have) is found by
 * looking forward. */
#include <stdlib.h>
#include <string.h>

#include "spirv/spirv.h"

static pctl_spv_region *push(pctl_spv *e, uint32_t kind)
{
	uint32_t capacity;
	pctl_spv_region *grown;

	if (e->n_regions == e->regions_capacity) {
		capacity = e->regions_capacity ? e->regions_capacity * 2 : 32;
		grown = realloc(e->regions, capacity * sizeof(*grown));
		if (!grown) {
			pctl_spv_fail(e, PCTL_E_NOMEM);
			return &e->nowhere;
		}
		e->regions = grown;
		e->regions_capacity = capacity;
	}
	e->regions[e->n_regions] = (pctl_spv_region){.kind = kind};
	return &e->regions[e->n_regions++];
}

static pctl_spv_region *top(pctl_spv *e)
{
	return &e->regions[e->n_regions - 1];
}

static int opens(uint16_t op)
{
	return op == PCTL_OP_IF || op == PCTL_OP_SWITCH || op == PCTL_OP_LOOP ||
	       op == PCTL_OP_BLOCK;
}

static int closes(uint16_t op)
{
	return op == PCTL_OP_END_IF || op == PCTL_OP_END_SWITCH || op == PCTL_OP_END_LOOP ||
	       op == PCTL_OP_END_BLOCK;
}

/* The next instruction of the region at `index` itself that is `a` or `b`. */
static uint32_t ahead(const pctl_spv *e, uint32_t index, uint16_t a, uint16_t b)
{
	uint32_t depth = 0, i;

	for (i = index + 1; i < e->fn->n_insts; i++) {
		const uint16_t op = e->p->insts[e->fn->first_inst + i].op;

		if (depth == 0 && (op == a || op == b))
			return i;
		if (opens(op))
			depth++;
		else if (closes(op))
			depth--;
	}
	return index;
}

static void begin_if(pctl_spv *e, uint32_t index, const pctl_inst *in)
{
	const uint32_t at = ahead(e, index, PCTL_OP_ELSE, PCTL_OP_END_IF);
	pctl_spv_region *r = push(e, PCTL_SPV_IF);
	const uint32_t then = pctl_spv_id(e);

	r->merge = pctl_spv_id(e);
	if (e->p->insts[e->fn->first_inst + at].op == PCTL_OP_ELSE)
		r->next = pctl_spv_id(e);
	pctl_spv_branch_if(e, pctl_spv_arg(e, in, 0), then, r->next ? r->next : r->merge, r->merge);
	pctl_spv_label(e, then);
}

/* Labels of the cases are consecutive ids in the order of the CASE instructions. */
static void begin_switch(pctl_spv *e, uint32_t index, const pctl_inst *in)
{
	pctl_spv_words targets = {0};
	pctl_spv_region *r = push(e, PCTL_SPV_SWITCH);
	uint32_t head[2] = {pctl_spv_arg(e, in, 0), 0};
	uint32_t at = index, i, pair[2];
	const pctl_inst *c;

	r->merge = pctl_spv_id(e);
	r->next = e->bound;
	pctl_spv_append(e, &targets, head, 2);
	for (;;) {
		at = ahead(e, at, PCTL_OP_CASE, PCTL_OP_END_SWITCH);
		c = &e->p->insts[e->fn->first_inst + at];
		if (c->op != PCTL_OP_CASE)
			break;
		pair[1] = pctl_spv_id(e);
		if (pctl_arg(e->p, c, 0) && targets.n)
			targets.at[1] = pair[1];
		for (i = 1; i < c->n_args; i++) {
			pair[0] = pctl_arg(e->p, c, i);
			pctl_spv_append(e, &targets, pair, 2);
		}
	}
	PCTL_SPV_EFFECT(e, SpvOpSelectionMerge, r->merge, SpvSelectionControlMaskNone);
	pctl_spv_effect(e, SpvOpSwitch, targets.at, targets.n);
	e->block = 0;
	free(targets.at);
}

static void begin_loop(pctl_spv *e)
{
	pctl_spv_region *r = push(e, PCTL_SPV_LOOP);
	const uint32_t test = pctl_spv_id(e);

	r->next = pctl_spv_id(e);
	r->merge = pctl_spv_id(e);
	r->go_on = pctl_spv_id(e);
	pctl_spv_branch(e, r->next);
	pctl_spv_label(e, r->next);
	PCTL_SPV_EFFECT(e, SpvOpLoopMerge, r->merge, r->go_on, SpvLoopControlMaskNone);
	pctl_spv_branch(e, test);
	pctl_spv_label(e, test);
}

static void leave(pctl_spv *e, int to_continue)
{
	uint32_t i = e->n_regions;

	while (i-- > 0) {
		const pctl_spv_region *r = &e->regions[i];

		if (r->kind == PCTL_SPV_LOOP || (!to_continue && r->kind == PCTL_SPV_SWITCH)) {
			pctl_spv_branch(e, to_continue ? r->go_on : r->merge);
			return;
		}
	}
	pctl_spv_fail(e, PCTL_E_INTERNAL);
}

static void give_back(pctl_spv *e, const pctl_inst *in)
{
	if (in->n_args)
		PCTL_SPV_EFFECT(e, SpvOpReturnValue, pctl_spv_arg(e, in, 0));
	else
		pctl_spv_effect(e, SpvOpReturn, NULL, 0);
	e->block = 0;
}

static uint32_t call(pctl_spv *e, const pctl_inst *in)
{
	pctl_spv_words w = {0};
	uint32_t i, id = e->fns[pctl_arg(e->p, in, 0)];

	pctl_spv_append(e, &w, &id, 1);
	for (i = 1; i < in->n_args; i++) {
		id = pctl_spv_arg(e, in, i);
		pctl_spv_append(e, &w, &id, 1);
	}
	id = pctl_spv_value(e, SpvOpFunctionCall, in->type ? e->plain[in->type] : pctl_spv_void(e),
			    w.at, w.n);
	free(w.at);
	return id;
}

static void end_region(pctl_spv *e)
{
	const pctl_spv_region r = *top(e);

	pctl_spv_branch(e, r.kind == PCTL_SPV_LOOP ? r.next : r.merge);
	pctl_spv_label(e, r.merge);
	e->n_regions--;
}

void pctl_spv_control(pctl_spv *e, uint32_t index, const pctl_inst *in)
{
	uint32_t body;

	switch (in->op) {
	case PCTL_OP_IF:
		begin_if(e, index, in);
		break;
	case PCTL_OP_SWITCH:
		begin_switch(e, index, in);
		break;
	case PCTL_OP_LOOP:
		begin_loop(e);
		break;
	case PCTL_OP_BLOCK:
	case PCTL_OP_END_BLOCK:
		break; /* scope only, nothing jumps there */
	case PCTL_OP_ELSE:
		pctl_spv_branch(e, top(e)->merge);
		pctl_spv_label(e, top(e)->next);
		break;
	case PCTL_OP_CASE:
		pctl_spv_branch(e, top(e)->merge);
		pctl_spv_label(e, top(e)->next++);
		break;
	case PCTL_OP_LOOP_TEST:
		body = pctl_spv_id(e);
		pctl_spv_branch_if(e, pctl_spv_arg(e, in, 0), body, top(e)->merge, 0);
		pctl_spv_label(e, body);
		break;
	case PCTL_OP_CONTINUING:
		pctl_spv_branch(e, top(e)->go_on);
		pctl_spv_label(e, top(e)->go_on);
		break;
	case PCTL_OP_END_IF:
	case PCTL_OP_END_SWITCH:
	case PCTL_OP_END_LOOP:
		end_region(e);
		break;
	case PCTL_OP_BREAK:
	case PCTL_OP_CONTINUE:
		leave(e, in->op == PCTL_OP_CONTINUE);
		break;
	case PCTL_OP_RETURN:
		give_back(e, in);
		break;
	case PCTL_OP_BARRIER:
		pctl_spv_barrier(e, pctl_arg(e->p, in, 0));
		break;
	case PCTL_OP_CALL:
		e->values[index] = call(e, in);
		break;
	default:
		pctl_spv_fail(e, PCTL_E_UNSUPPORTED);
		break;
	}
}

/* ---- functions ---- */

static uint32_t constant(pctl_spv *e, const pctl_inst *in)
{
	pctl_spv_shape s;

	switch (in->op) {
	case PCTL_OP_CONST:
		pctl_spv_shape_get(e->p, in->type, &s);
		return pctl_spv_shape_const(
			e, s, pctl_arg(e->p, in, 0) | (uint64_t)pctl_arg(e->p, in, 1) << 32);
	case PCTL_OP_BUILTIN:
		return pctl_spv_builtin(e, pctl_arg(e->p, in, 0));
	case PCTL_OP_ZERO:
		return e->p->types[in->type].kind == PCTL_TYPE_TILE
			       ? pctl_spv_tile_zero(e, in->type)
			       : pctl_spv_null(e, e->plain[in->type]);
	default:
		pctl_spv_fail(e, PCTL_E_UNSUPPORTED);
		return 0;
	}
}

static void instruction(pctl_spv *e, uint32_t index)
{
	const pctl_inst *in = &e->p->insts[e->fn->first_inst + index];
	const pctl_op_info *info = pctl_op_get(in->op);

	if (in->op == PCTL_OP_PARAM)
		return;
	switch (info->kind) {
	case PCTL_OPKIND_const:
		e->values[index] = constant(e, in);
		break;
	case PCTL_OPKIND_elem:
		e->values[index] =
			in->op == PCTL_OP_SELECT ? pctl_spv_data(e, in) : pctl_spv_elem(e, in);
		break;
	case PCTL_OPKIND_convert:
		e->values[index] =
			in->op == PCTL_OP_BITCAST ? pctl_spv_data(e, in) : pctl_spv_elem(e, in);
		break;
	case PCTL_OPKIND_bool:
	case PCTL_OPKIND_data:
		e->values[index] = pctl_spv_data(e, in);
		break;
	case PCTL_OPKIND_subgroup:
		e->values[index] = pctl_spv_subgroup(e, in);
		break;
	case PCTL_OPKIND_memory:
	case PCTL_OPKIND_atomic:
		e->values[index] = pctl_spv_memory(e, in);
		break;
	case PCTL_OPKIND_tile:
		e->values[index] = in->op == PCTL_OP_TILE_MULTIPLY_ADD
					   ? pctl_spv_tile_product(e, in)
					   : pctl_spv_memory(e, in);
		break;
	default:
		pctl_spv_control(e, index, in);
		break;
	}
	pctl_spv_opaque_value(e, index);
	pctl_spv_nofold_value(e, index);
}

/* Function types are unique: the type is interned as a chain of its parameters. */
static uint32_t function_type(pctl_spv *e, uint32_t result)
{
	pctl_spv_words w = {0};
	uint32_t i, id, part;
	int fresh;

	part = 0;
	pctl_spv_append(e, &w, &part, 1);
	pctl_spv_append(e, &w, &result, 1);
	id = pctl_spv_intern(e, SpvOpTypeFunction, result, 0, 0, &fresh);
	for (i = 0; i < e->fn->n_params; i++) {
		part = e->plain[pctl_value_type(e->p, e->fn, i)];
		pctl_spv_append(e, &w, &part, 1);
		id = pctl_spv_intern(e, SpvOpTypeFunction, id, part, 1, &fresh);
	}
	id = pctl_spv_intern(e, SpvOpTypeFunction, id, 0, 2, &fresh);
	if (fresh && w.n) {
		w.at[0] = id;
		pctl_spv_inst(e, &e->globals, SpvOpTypeFunction, w.at, w.n);
	}
	free(w.at);
	return id;
}

/* Lengths are read once, where the function starts, so that no check waits for them. */
static void load_lengths(pctl_spv *e)
{
	const uint32_t u32 = pctl_spv_type(e, 32, 1);
	uint32_t i, at;
	pctl_place place;

	memset(e->lengths, 0, sizeof(e->lengths));
	for (i = 0; i < e->fn->n_insts; i++) {
		const pctl_inst *in = &e->p->insts[e->fn->first_inst + i];
		const pctl_spv_binding *b;

		if (!pctl_place_get(e->p, e->fn, in, &place) || place.space != PCTL_SPACE_STORAGE)
			continue;
		b = &e->interface.bindings[place.root];
		if (!b->stride || e->lengths[place.root])
			continue;
		if (e->opt->null_vars >> place.root & 1) {
			e->lengths[place.root] = pctl_spv_u32(e, 0);
			continue;
		}
		at = PCTL_SPV_VALUE(e, SpvOpAccessChain,
				    pctl_spv_pointer(e, SpvStorageClassPushConstant, u32), e->push,
				    pctl_spv_u32(e, b->length_slot));
		e->lengths[place.root] = pctl_spv_raw_load(e, u32, at, SpvStorageClassPushConstant);
	}
}

static void declare_locals(pctl_spv *e)
{
	uint32_t i;

	for (i = 0; i < e->fn->n_locals; i++) {
		const uint32_t of = e->p->locals[e->fn->first_local + i].type, type = e->plain[of];

		if (e->p->types[of].kind != PCTL_TYPE_TILE) {
			e->locals[i] = pctl_spv_variable(e, type, pctl_spv_null(e, type));
			continue;
		}
		e->locals[i] = pctl_spv_variable(e, type, 0);
		pctl_spv_raw_store(e, e->locals[i], pctl_spv_tile_zero(e, of),
				   SpvStorageClassFunction);
	}
}

void pctl_spv_function(pctl_spv *e, uint32_t index, int is_entry)
{
	const pctl_function *fn = &e->p->functions[index];
	const uint32_t result = fn->return_type ? e->plain[fn->return_type] : pctl_spv_void(e);
	uint32_t i, type, label;

	e->fn = fn;
	e->variables.n = e->opening.n = e->body.n = e->n_regions = 0;
	memset(e->values, 0, (size_t)fn->n_insts * sizeof(*e->values));
	type = function_type(e, result);
	e->fns[index] = pctl_spv_id(e);
	PCTL_SPV_PUT(e, &e->functions, SpvOpFunction, result, e->fns[index],
		     SpvFunctionControlMaskNone, type);
	for (i = 0; i < fn->n_params; i++) {
		e->values[i] = pctl_spv_id(e);
		PCTL_SPV_PUT(e, &e->functions, SpvOpFunctionParameter,
			     e->plain[pctl_value_type(e->p, fn, i)], e->values[i]);
	}
	label = pctl_spv_id(e);
	PCTL_SPV_PUT(e, &e->functions, SpvOpLabel, label);
	e->block = label;
	declare_locals(e);
	pctl_spv_opaque_begin(e);
	pctl_spv_nofold_begin(e);
	pctl_spv_append(e, &e->opening, e->body.at, e->body.n);
	e->body.n = 0;
	pctl_spv_nofold_locals(e);
	for (i = 0; i < fn->n_params; i++)
		pctl_spv_opaque_value(e, i);
	if (is_entry)
		pctl_spv_prologue(e);
	load_lengths(e);
	for (i = 0; i < fn->n_insts && e->status == PCTL_OK; i++)
		instruction(e, i);
	if (e->block)
		pctl_spv_effect(e, fn->return_type ? SpvOpUnreachable : SpvOpReturn, NULL, 0);
	pctl_spv_append(e, &e->functions, e->variables.at, e->variables.n);
	pctl_spv_append(e, &e->functions, e->opening.at, e->opening.n);
	pctl_spv_append(e, &e->functions, e->body.at, e->body.n);
	pctl_spv_inst(e, &e->functions, SpvOpFunctionEnd, NULL, 0);
}
