/* The float pass: strict programs become what the device of the chooser does exactly. */
#include "compiler/legalize/float.h"

#include <stdlib.h>

/* Operations without a form that are named, in one go. */
#define REFUSALS 16u

static void constant(legal *l, uint32_t v, const pctl_inst *in)
{
	const int is_f64 = legal_is_f64(l, in->type), is_const = in->op == PCTL_OP_CONST;
	const uint64_t low = is_const ? pctl_arg(l->p, in, 0) : 0;
	const uint64_t bits = low | (is_const ? (uint64_t)pctl_arg(l->p, in, 1) << 32 : 0);
	const uint32_t top = is_f64 ? 0x7ff : 0xff;
	const uint32_t exponent = (uint32_t)(bits >> (is_f64 ? 52 : 23)) & top;
	const uint64_t magnitude = bits & (is_f64 ? UINT64_MAX >> 1 : UINT32_MAX >> 1);
	uint32_t id;

	if (in->op == PCTL_OP_ZERO)
		id = legal_emit(l, PCTL_OP_ZERO, legal_type(l, in->type), NULL, 0);
	else
		id = pctl_build_const(l->b, legal_type(l, in->type), bits);
	l->values[v].id[LEGAL_BITS] = id;
	if (!legal_has_raw(l, in->type) || !(l->floats->plan[v] & PLAN_NEED_RAW))
		return;
	/* A compiler may flush a subnormal literal, or have its own idea of a NaN. */
	if ((exponent == 0 && magnitude) || exponent == top)
		legal_float_made_bits(l, v, id);
	else if (in->op == PCTL_OP_ZERO)
		l->values[v].id[LEGAL_RAW] =
			legal_emit(l, PCTL_OP_ZERO, legal_raw_type(l, in->type), NULL, 0);
	else
		l->values[v].id[LEGAL_RAW] =
			pctl_build_const(l->b, legal_raw_scalar(l, in->type), bits);
}

/* An instruction that moves whole values about, done on native ones. */
static void move_raw(legal *l, uint32_t v, const pctl_inst *in)
{
	legal_operands o = {.l = l, .in = in};
	legal_arguments a;
	uint32_t i, value;

	if (!legal_arguments_open(l, &a, in->n_args))
		return;
	for (i = 0; i < in->n_args; i++)
		a.words[a.n++] = pctl_arg(l->p, in, i);
	while (legal_next_operand(&o, &i, &value)) {
		const int has_raw = legal_has_raw(l, pctl_value_type(l->p, l->fn, value));

		a.words[i] = l->values[value].id[has_raw ? LEGAL_RAW : LEGAL_BITS];
	}
	legal_float_made_raw(l, v,
			     legal_emit(l, in->op, legal_raw_type(l, in->type), a.words, a.n));
	free(a.words);
}

static void instruction(legal *l, uint32_t v, const pctl_inst *in)
{
	const int is_float = in->type && (legal_has_raw(l, in->type) || legal_is_16(l, in->type));
	pctl_place place;

	if (PCTL_IS_STRICT(in->op)) {
		legal_float_strict(l, v, in);
	} else if (pctl_place_get(l->p, l->fn, in, &place)) {
		legal_float_memory(l, v, in, &place);
	} else if (in->op == PCTL_OP_BITCAST) {
		legal_float_bitcast(l, v, in);
	} else if (is_float && (in->op == PCTL_OP_CONST || in->op == PCTL_OP_ZERO)) {
		constant(l, v, in);
	} else if (l->floats->plan[v] & PLAN_RAW) {
		move_raw(l, v, in);
	} else {
		if (in->op != PCTL_OP_PARAM)
			legal_copy(l, v, in);
		if (is_float)
			legal_float_made_bits(l, v, l->values[v].id[LEGAL_BITS]);
	}
}

static const legal_rules rules = {.type = legal_float_type,
				  .stored = legal_float_stored,
				  .local = legal_float_local,
				  .instruction = instruction,
				  .plan = legal_float_plan};

/* ---- choosing and linking ----------------------------------------------------------------- */

/* Choose for strict operation v of l->fn; 0: there is no form. */
/* A product of what was widened from f32 or less is exact in f64, so that product and sum are the fused operation. */
static int is_exact_product(const legal *l, const pctl_inst *in)
{
	for (uint32_t i = 0; i < 2; i++) {
		const pctl_inst *factor = &l->p->insts[l->fn->first_inst + pctl_arg(l->p, in, i)];
		uint32_t from;

		if (factor->op != PCTL_OP_FCONVERT)
			return 0;
		from = pctl_value_type(l->p, l->fn, pctl_arg(l->p, factor, 0));
		if (l->p->types[from].scalar != PCTL_SCALAR_F32 && !legal_is_16(l, from))
			return 0;
	}
	return 1;
}

static int choose(legal *l, uint32_t v, const pctl_inst *in)
{
	legal_floats *x = l->floats;
	const uint32_t at = l->fn->first_inst + v;
	const uint8_t result = l->p->types[in->type].scalar;
	const uint8_t operand =
		l->p->types[pctl_value_type(l->p, l->fn, pctl_arg(l->p, in, 0))].scalar;
	uint32_t how = LEGAL_AS_IS, subnormal_free;

	x->choice[at] = legal_choose(l->chooser, in->op, result, operand, &how);
	if (in->op == PCTL_OP_FFMA && operand == PCTL_SCALAR_F64 && !legal_is_native(l, v) &&
	    is_exact_product(l, in) && legal_choose_unfused(l->chooser) != LEGAL_NO_ROW) {
		x->choice[at] = legal_choose_unfused(l->chooser);
		how = LEGAL_UNFUSED;
	}
	if (x->choice[at] != LEGAL_NO_ROW &&
	    legal_row_at(x->choice[at])->kind != PCTL_FORM_NATIVE) {
		subnormal_free = legal_choose_subnormal_free(l->chooser, in->op, result, operand);
		if (subnormal_free != LEGAL_NO_ROW &&
		    legal_is_subnormal_free(l->p, l->fn, in, &x->exponent_ranges)) {
			x->choice[at] = subnormal_free;
			how = LEGAL_AS_IS;
		}
	}
	x->how[at] = (uint8_t)how;
	return x->choice[at] != LEGAL_NO_ROW;
}

/* Choose for every strict operation; those that have no form are named, up to a limit. */
static pctl_status choose_all(legal *l, const pctl_program *p)
{
	legal_floats *x = l->floats;
	pctl_status status = PCTL_OK;
	uint32_t refused = 0;

	l->p = p;
	for (uint32_t f = 1; f < p->n_functions; f++) {
		l->fn = &p->functions[f];
		for (uint32_t v = 0; v < l->fn->n_insts; v++) {
			const pctl_inst *in = &p->insts[l->fn->first_inst + v];

			x->choice[l->fn->first_inst + v] = LEGAL_NO_ROW;
			if (PCTL_IS_STRICT(in->op) && legal_needs_form(l, in) &&
			    !choose(l, v, in) && refused++ < REFUSALS)
				status = legal_refuse_operation(l, v, in);
		}
	}
	return status;
}

/* Link the forms of the rows chosen, in the order of their first use. */
static pctl_status link_chosen(legal *l)
{
	legal_floats *x = l->floats;
	const pctl_program *p = x->source;
	pctl_status status = choose_all(l, p);

	if (status != PCTL_OK)
		return status;
	if (!legal_source_open(l, x->module, &legal_int64_rules, 0))
		return l->status;
	for (uint32_t at = 0; at < p->n_insts && l->status == PCTL_OK; at++) {
		const uint32_t row = PCTL_IS_STRICT(p->insts[at].op) ? x->choice[at] : LEGAL_NO_ROW;
		const uint32_t f = row == LEGAL_NO_ROW ? 0 : legal_row_function(l->chooser, row);

		if (f && !x->row_function[row])
			x->row_function[row] = legal_link(l, f);
	}
	legal_source_close(l);
	return l->status;
}

static void drop(legal_floats *x)
{
	free(x->choice);
	free(x->how);
	free(x->row_function);
	free(x->plan);
	free(x->local_arithmetic);
	free(x->local_raw);
	free(x->local_mixed);
	free(x->local_tag);
	legal_exponent_ranges_drop(&x->exponent_ranges);
	free(x->has16);
}

/* Tables for the longest function and all types. */
static int prepare(legal_floats *x, const pctl_program *p)
{
	uint32_t insts = 1, locals = 1;

	for (uint32_t f = 0; f < p->n_functions; f++) {
		if (p->functions[f].n_insts > insts)
			insts = p->functions[f].n_insts;
		if (p->functions[f].n_locals > locals)
			locals = p->functions[f].n_locals;
	}
	x->choice = calloc(p->n_insts + 1u, sizeof(*x->choice));
	x->how = calloc(p->n_insts + 1u, 1);
	x->row_function = calloc(legal_n_rows() + 1u, sizeof(*x->row_function));
	x->plan = calloc(insts, 1);
	x->local_arithmetic = calloc(locals, 1);
	x->local_raw = calloc(locals, 1);
	x->local_mixed = calloc(locals, 1);
	x->local_tag = calloc(locals, sizeof(*x->local_tag));
	x->has16 = calloc(p->n_types + 1u, 1);
	return legal_exponent_ranges_find(p, &x->exponent_ranges) && x->choice && x->how &&
	       x->row_function && x->plan && x->local_arithmetic && x->local_raw &&
	       x->local_mixed && x->local_tag && x->has16;
}

pctl_status legal_float_pass(const pctl_program *p, const int16_t *assumed,
			     const uint8_t *contracts, const legal_chooser *chooser,
			     const pctl_program *module, const pctl_call *call, pctl_program **out)
{
	legal_floats x = {.module = module,
			  .source = p,
			  .exponent_ranges = {.assumed = assumed, .contracts = contracts}};
	legal l = {.call = call, .chooser = chooser, .floats = &x, .p = p};
	pctl_status status;

	*out = NULL;
	if (!prepare(&x, p)) {
		status = pctl_refuse(call, PC2_NOMEM, "legalising a program");
	} else {
		legal_float_find(&l);
		status = legal_rebuild(&l, p, &rules, 0, link_chosen, out);
	}
	drop(&x);
	return status;
}
