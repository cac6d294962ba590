/* The ieee library: every strict float operation as a function op that kernels may use, and
 * reductions. Here: what is common to all rows. */
#include "ieee.h"

#define IEEE_FLOATS "f32|f16|bf16[...]"

const pctl_port ieee_unary_in[1] = {{"x", IEEE_FLOATS, "the operand", 0, 0}};
const pctl_port ieee_binary_in[2] = {
	{"a", IEEE_FLOATS, "the first operand", 0, 0},
	{"b", IEEE_FLOATS, "the second operand, of a's type and shape", 0, 0},
};
const pctl_port ieee_ternary_in[3] = {
	{"a", IEEE_FLOATS, "the first factor", 0, 0},
	{"b", IEEE_FLOATS, "the second factor, of a's type and shape", 0, 0},
	{"c", IEEE_FLOATS, "what is added, of a's type and shape", 0, 0},
};
const pctl_port ieee_out[1] = {
	{"y", IEEE_FLOATS, "the result, of the operands' type and shape", 0, 0}};
const pctl_port ieee_truth_out[1] = {{"y", "u32[...]", "1 or 0, of the operands' shape", 0, 0}};

/* Index of a type in ieee_row.wgsl; IEEE_TYPES for a type no op here takes. */
static uint32_t type_index(uint32_t dtype)
{
	static const uint32_t dtypes[IEEE_TYPES] = {
		[IEEE_ON_F32] = PCTL_SCALAR_F32,   [IEEE_ON_F16] = PCTL_SCALAR_F16,
		[IEEE_ON_BF16] = PCTL_SCALAR_BF16, [IEEE_ON_I32] = PCTL_SCALAR_I32,
		[IEEE_ON_U32] = PCTL_SCALAR_U32,
	};
	uint32_t i = 0;

	while (i < IEEE_TYPES && dtypes[i] != dtype)
		i++;
	return i;
}

const char *ieee_function(const kit_op *op, uint32_t dtype)
{
	const ieee_row *row = op->data;
	const uint32_t i = type_index(dtype);

	return i < IEEE_TYPES ? row->wgsl[i] : NULL;
}

pctl_status ieee_infer(const kit_use *u, pctl_op_result *out)
{
	const ieee_row *row = u->op->data;
	const pctl_tensor_type *x = u->q->in;

	for (uint32_t i = 0; i < u->q->n_in; i++) {
		if (!ieee_function(u->op, x[i].dtype))
			return kit_refuse_type(u, i, u->op->desc.in[i].type);
		if (x[i].dtype != x[0].dtype || !kit_same_shape(&x[i], &x[0]))
			return kit_refuse_type(u, i, "the type and shape of port \"a\"");
	}
	out->out[0] = x[0];
	if (row->out)
		out->out[0].dtype = row->out;
	return kit_limit(u, "elements", kit_elements(&x[0]), IEEE_ELEMENTS_MAX);
}

pctl_status ieee_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const ieee_row *row = u->op->data;
	const uint32_t dtype = u->q->in[0].dtype, to = row->out ? row->out : dtype;
	const uint64_t n = kit_elements(&u->q->in[0]);
	const uint32_t from_bytes = (uint32_t)kit_dtype_bytes(dtype);
	const uint32_t to_bytes = (uint32_t)kit_dtype_bytes(to);
	ieee_reals reals;
	uint32_t x[3] = {0};
	ieee_ask ask = {.row = row,
			.x = x,
			.form = ieee_format_of(dtype),
			.out = ieee_format_of(to),
			.reals = &reals,
			.dtype = dtype,
			.mode = ieee_mode(u)};

	ieee_reals_open(&reals);
	for (uint64_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k < u->q->n_in; k++)
			x[k] = ieee_load(in[k].data, i, from_bytes);
		ieee_store(out[0].data, i, to_bytes, row->eval(&ask));
	}
	ieee_reals_close(&reals);
	return PCTL_OK;
}

static const kit_family *const families[] = {
	&ieee_arith_family,  &ieee_compare_family, &ieee_round_family,	&ieee_trig_family,
	&ieee_exp_family,    &ieee_convert_family, &ieee_reduce_family, &ieee_activation_family,
	&ieee_vector_family, &ieee_double_family,
};

static const kit_library library = {families, KIT_COUNT(families), 0};

KIT_PLUGIN("ieee", library);
