/* The int library: every integer operation as a function op that kernels may use. Here: what is
 * common to all rows. */
#include "int.h"

#define INT_TYPES "u32|i32|u64|i64|u128[...]"

const pctl_port int_unary_in[1] = {{"x", INT_TYPES, "the operand", 0, 0}};
const pctl_port int_binary_in[2] = {
	{"a", INT_TYPES, "the first operand", 0, 0},
	{"b", INT_TYPES, "the second operand, of a's type and shape", 0, 0},
};
const pctl_port int_out[1] = {
	{"y", INT_TYPES, "the result, of the operands' type and shape", 0, 0}};
const pctl_port int_truth_out[1] = {{"y", "u32[...]", "1 or 0, of the operands' shape", 0, 0}};

/* Index of a type in int_row.wgsl and its form; 0 for a type no op here takes. */
static int form_find(uint32_t dtype, uint32_t *index, int_form *form)
{
	static const struct {
		uint32_t dtype;
		int_form form;
	} forms[INT_FORMS] = {
		{PCTL_SCALAR_U32, {32, 0}}, {PCTL_SCALAR_I32, {32, 1}},	 {PCTL_SCALAR_U64, {64, 0}},
		{PCTL_SCALAR_I64, {64, 1}}, {PCTL_DTYPE_U128, {128, 0}},
	};

	for (uint32_t i = 0; i < INT_FORMS; i++)
		if (forms[i].dtype == dtype) {
			*index = i;
			*form = forms[i].form;
			return 1;
		}
	return 0;
}

const char *int_function(const kit_op *op, uint32_t dtype)
{
	const int_row *row = op->data;
	int_form form;
	uint32_t i;

	return form_find(dtype, &i, &form) ? row->wgsl[i] : NULL;
}

pctl_status int_infer(const kit_use *u, pctl_op_result *out)
{
	const int_row *row = u->op->data;
	const pctl_tensor_type *x = u->q->in;

	for (uint32_t i = 0; i < u->q->n_in; i++) {
		if (!int_function(u->op, x[i].dtype))
			return kit_refuse_type(u, i, u->op->desc.in[i].type);
		if (x[i].dtype != x[0].dtype || !kit_same_shape(&x[i], &x[0]))
			return kit_refuse_type(u, i, "the type and shape of port \"a\"");
	}
	out->out[0] = x[0];
	if (row->truth)
		out->out[0].dtype = PCTL_SCALAR_U32;
	return kit_limit(u, "elements", kit_elements(&x[0]), 1ull << 31);
}

static int_wide load(const void *data, uint64_t i, const int_form *form)
{
	const unsigned char *bytes = (const unsigned char *)data + i * (form->bits / 8);
	int_wide v = 0;

	for (uint32_t k = form->bits / 8; k-- > 0;)
		v = v << 8 | bytes[k];
	if (form->is_signed && v >> (form->bits - 1))
		v |= ~(int_wide)0 << form->bits;
	return v;
}

static void store(void *data, uint64_t i, uint32_t bits, int_wide v)
{
	unsigned char *bytes = (unsigned char *)data + i * (bits / 8);

	for (uint32_t k = 0; k < bits / 8; k++)
		bytes[k] = (unsigned char)(v >> (8 * k) & 255);
}

pctl_status int_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const int_row *row = u->op->data;
	const uint64_t n = kit_elements(&u->q->in[0]);
	int_form form;
	uint32_t index;

	if (!form_find(u->q->in[0].dtype, &index, &form))
		return kit_refuse_type(u, 0, u->op->desc.in[0].type);
	for (uint64_t i = 0; i < n; i++) {
		const int_wide a = load(in[0].data, i, &form);
		const int_wide b = u->q->n_in > 1 ? load(in[1].data, i, &form) : 0;

		store(out[0].data, i, row->truth ? 32 : form.bits, row->eval(a, b, &form));
	}
	return PCTL_OK;
}

static const kit_family *const families[] = {
	&int_arith_family, &int_bits_family,  &int_compare_family,
	&int_logic_family, &int_count_family,
};

static const kit_library library = {families, KIT_COUNT(families), 0};

KIT_PLUGIN("int", library);
