/* The pass that takes scalars of 64 bits away: which instructions it touches, and the forms it calls. */
#include "compiler/legalize/legal_parts.h"

static void int64_constant(legal *l, uint32_t v, const pctl_inst *in)
{
	const uint32_t width = legal_is_int64_vector(l, in->type) ? l->p->types[in->type].width : 1;

	if (in->op == PCTL_OP_CONST) {
		const uint32_t low = legal_word(l, pctl_arg(l->p, in, 0));
		const uint32_t high = legal_word(l, pctl_arg(l->p, in, 1));

		l->values[v].id[0] = legal_pair(l, low, high);
		return;
	}
	l->values[v].id[0] =
		legal_emit(l, PCTL_OP_ZERO, width > 1 ? l->t_u2 : legal_type(l, in->type), NULL, 0);
	for (uint32_t k = 1; k < width; k++)
		l->values[v].id[k] = l->values[v].id[0];
}

/* Does the instruction compute with, or yield, something that must go? */
static int touches_int64(const legal *l, const pctl_inst *in)
{
	const char *letter = pctl_op_get(in->op)->args;

	if (l->is_int64[in->type])
		return 1;
	for (uint32_t i = 0; i < in->n_args; i++) {
		if (*letter == 'v' &&
		    l->is_int64[pctl_value_type(l->p, l->fn, pctl_arg(l->p, in, i))])
			return 1;
		if (letter[1] && letter[1] != '*')
			letter++;
	}
	return 0;
}

static int is_elementwise(const legal *l, uint32_t type)
{
	const uint8_t kind = l->p->types[type].kind;

	return kind == PCTL_TYPE_SCALAR || kind == PCTL_TYPE_VECTOR;
}

/* Sign operations on f64 that stay f64: on bits, since devices that are exact otherwise change a NaN's here, and an
 * operation that is not exact would take all of f64 with it. 0: not one of them. */
static int is_sign(const legal *l, const pctl_inst *in)
{
	const pctl_type *t = &l->p->types[in->type];

	return (in->op == PCTL_OP_NNEG || in->op == PCTL_OP_NABS) && t->scalar == PCTL_SCALAR_F64 &&
	       !l->is_int64[in->type] && t->kind == PCTL_TYPE_SCALAR;
}

static void sign(legal *l, uint32_t v, const pctl_inst *in)
{
	const uint32_t low = legal_word(l, in->op == PCTL_OP_NNEG ? 0 : UINT32_MAX);
	const uint32_t high = legal_word(l, in->op == PCTL_OP_NNEG ? 0x80000000u : 0x7fffffffu);
	const uint32_t mask = legal_pair(l, low, high);
	uint32_t id =
		legal_emit1(l, PCTL_OP_BITCAST, l->t_u2, l->values[pctl_arg(l->p, in, 0)].id[0]);

	id = legal_emit2(l, in->op == PCTL_OP_NNEG ? PCTL_OP_XOR : PCTL_OP_AND, l->t_u2, id, mask);
	l->values[v].id[0] = legal_emit1(l, PCTL_OP_BITCAST, legal_type(l, in->type), id);
}

void legal_int64_instruction(legal *l, uint32_t v, const pctl_inst *in)
{
	const uint8_t kind = pctl_op_get(in->op)->kind;
	pctl_place place;

	if (in->op == PCTL_OP_PARAM)
		return; /* made with the function */
	if (pctl_place_get(l->p, l->fn, in, &place))
		legal_memory(l, v, in, &place);
	else if (is_sign(l, in))
		sign(l, v, in);
	else if (legal_div64_form(l, in) != LEGAL_N_INT64)
		legal_div64_divide(l, v, in);
	else if (kind == PCTL_OPKIND_control || !touches_int64(l, in))
		legal_copy(l, v, in);
	else if (kind == PCTL_OPKIND_const)
		int64_constant(l, v, in);
	else if (kind == PCTL_OPKIND_elem && is_elementwise(l, in->type))
		legal_int64_elem(l, v, in);
	else if (kind == PCTL_OPKIND_elem)
		legal_copy(l, v, in); /* a select of whole composites */
	else
		legal_int64_data(l, v, in);
}

/* ---- the pass ----------------------------------------------------------------------------- */

static const char *const int64_names[LEGAL_N_INT64] = {"int64_mul",  "int64_udiv", "int64_umod",
						       "int64_sdiv", "int64_smod", "div64_udiv",
						       "div64_umod", "div64_sdiv", "div64_smod"};

static uint32_t needed_by(const legal *l, const pctl_inst *in)
{
	const uint32_t first = in->n_args ? pctl_arg(l->p, in, 0) : 0;
	const pctl_type *t = &l->p->types[in->type];
	const int is_signed = pctl_scalar_is_signed(t->scalar);

	switch (in->op) {
	case PCTL_OP_MUL:
		return l->is_int64[in->type] ? 1u << LEGAL_INT64_MUL : 0;
	case PCTL_OP_DOT:
	case PCTL_OP_MATMUL:
		return l->is_int64[pctl_value_type(l->p, l->fn, first)] ? 1u << LEGAL_INT64_MUL : 0;
	case PCTL_OP_DIV:
	case PCTL_OP_DIV_WGSL:
		return l->is_int64[in->type]
			       ? 1u << (is_signed ? LEGAL_INT64_SDIV : LEGAL_INT64_UDIV)
			       : 0;
	case PCTL_OP_MOD:
		return l->is_int64[in->type]
			       ? 1u << (is_signed ? LEGAL_INT64_SMOD : LEGAL_INT64_UMOD)
			       : 0;
	default:
		return 0;
	}
}

/* What the program needs of both modules. The source is open for reading only. */
static void find_needed(legal *l, uint8_t int64[LEGAL_N_INT64], uint8_t soft[LEGAL_N_SOFT])
{
	for (uint32_t f = 1; f < l->p->n_functions; f++) {
		l->fn = &l->p->functions[f];
		for (uint32_t i = 0; i < l->fn->n_insts; i++) {
			const pctl_inst *in = &l->p->insts[l->fn->first_inst + i];
			const uint32_t need = needed_by(l, in);
			const uint32_t form = legal_soft64_form(l, in);
			const uint32_t longer = legal_div64_form(l, in);

			if (longer != LEGAL_N_INT64)
				int64[longer] = 1;
			for (uint32_t k = 0; k < LEGAL_N_INT64; k++)
				int64[k] |= (uint8_t)((need >> k) & 1u);
			if (form < LEGAL_N_SOFT)
				soft[form] = 1;
		}
	}
}

/* Link those of `names` that `need` marks. */
static pctl_status link_named(legal *l, const pctl_program *module, const char *const *names,
			      const uint8_t *need, uint32_t n, uint32_t *linked)
{
	pctl_status status = PCTL_OK;

	if (!legal_source_open(l, module, &legal_int64_rules, 0))
		return l->status;
	for (uint32_t i = 0; i < n && status == PCTL_OK; i++) {
		const uint32_t f = need[i] ? legal_find_function(module, names[i]) : 0;

		if (!need[i])
			continue;
		if (!f)
			status = pctl_refuse(l->call, PC2503_LEGAL_FORMS, "there is no function %s",
					     names[i]);
		else
			linked[i] = legal_link(l, f);
		if (status == PCTL_OK)
			status = l->status;
	}
	legal_source_close(l);
	return status;
}

static int any(const uint8_t *need, uint32_t n)
{
	while (n)
		if (need[--n])
			return 1;
	return 0;
}

static pctl_status link_needed(legal *l)
{
	uint8_t int64[LEGAL_N_INT64] = {0}, soft[LEGAL_N_SOFT] = {0};
	struct legal_int64 *w = l->int64;
	const char *soft_names[LEGAL_N_SOFT];
	const pctl_program *module = NULL;
	pctl_status status = PCTL_OK;

	if (!legal_source_open(l, w->source, &legal_int64_rules, w->scalars))
		return l->status;
	find_needed(l, int64, soft);
	legal_source_close(l);
	for (uint32_t i = 0; i < LEGAL_N_SOFT; i++)
		soft_names[i] = legal_soft64_name(i);
	if (any(int64, LEGAL_N_INT64)) {
		status = legal_softfloat_int64(w->forms, l->call, &module);
		if (status == PCTL_OK)
			status = link_named(l, module, int64_names, int64, LEGAL_N_INT64, w->int64);
	}
	if (status == PCTL_OK && any(soft, LEGAL_N_SOFT)) {
		status = legal_softfloat_float(w->forms, l->call, &module);
		if (status == PCTL_OK)
			status = link_named(l, module, soft_names, soft, LEGAL_N_SOFT, w->soft);
	}
	return status;
}

pctl_status legal_int64_pass(const pctl_program *p, uint32_t int64_scalars, uint32_t by_softfloat,
			     pctl_softfloat *forms, const pctl_call *call, pctl_program **out)
{
	struct legal_int64 w = {.forms = forms,
				.source = p,
				.scalars = int64_scalars,
				.by_softfloat = by_softfloat};
	legal l = {.call = call, .int64 = &w};

	return legal_rebuild(&l, p, &legal_int64_rules, int64_scalars, link_needed, out);
}
