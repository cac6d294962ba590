/* The forms themselves: they compile as one module, every row of forms.def and soft64.def names a
 * function of it, and the functions take and give what the tables promise. What they compute is
 * tests/forms's business. */
#include "compiler/legalize/legal_parts.h"
#include "main.h"
#include "rig.h"

static void hear(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	fprintf(stderr, "%s:%u: PC%04u: %s\n", d->pos.file ? d->pos.file : "", d->pos.line, d->code,
		d->message);
}

static const pctl_call call = {.head = PCTL_HEAD(pctl_call), .diag = hear};

static const pctl_program *module_of(pctl_softfloat *forms)
{
	const pctl_program *module = NULL;

	assert_int_equal(legal_softfloat_float(forms, &call, &module), PCTL_OK);
	return module;
}

static uint8_t carried(uint8_t scalar)
{
	return scalar == PCTL_SCALAR_I32 || scalar == PCTL_SCALAR_BOOL ? scalar : PCTL_SCALAR_U32;
}

/* A type that carries a scalar: of 64 bits as two words. */
static int carries(const pctl_type *t, uint8_t scalar)
{
	if (pctl_scalar_bits(scalar) == 64)
		return t->kind == PCTL_TYPE_VECTOR && t->scalar == PCTL_SCALAR_U32 && t->width == 2;
	return t->kind == PCTL_TYPE_SCALAR && t->scalar == carried(scalar);
}

/* 1: function f takes n values of `operand` and gives a `result`. */
static int has_shape(const pctl_program *m, uint32_t f, uint32_t n, uint8_t operand, uint8_t result)
{
	const pctl_function *fn = &m->functions[f];
	const pctl_type *r = &m->types[fn->return_type];

	if (fn->n_params != n || !carries(r, result))
		return 0;
	for (uint32_t i = 0; i < n; i++)
		if (!carries(&m->types[pctl_value_type(m, fn, i)], operand))
			return 0;
	return 1;
}

static void test_legalize_softfloat__rows(void **state)
{
	const pctl_program *m;
	pctl_softfloat *forms = NULL;
	uint32_t bad = 0;

	(void)state;
	assert_int_equal(pctl_softfloat_create(&call, &forms), PCTL_OK);
	m = module_of(forms);
	for (uint32_t i = 0; i < legal_n_rows(); i++) {
		const legal_row *row = legal_row_at(i);
		const char *args = pctl_op_get(row->op)->args;
		const uint16_t native = PCTL_NATIVE_OF(row->op);
		uint8_t result = row->op == PCTL_OP_FCONVERT ? row->result : row->operand;
		uint32_t f;

		if (!row->function) {
			assert_int_equal(row->kind, PCTL_FORM_NATIVE);
			continue;
		}
		if (native >= PCTL_OP_NEQ && native <= PCTL_OP_NGE)
			result = PCTL_SCALAR_BOOL;
		f = legal_find_function(m, row->function);
		if (!f)
			fprintf(stderr, "forms.def names %s, which is in no file\n", row->function);
		else if (!has_shape(m, f, (uint32_t)strlen(args), row->operand, result))
			fprintf(stderr, "%s does not take or give what its row says\n",
				row->function);
		else
			continue;
		bad++;
	}
	pctl_softfloat_destroy(forms);
	assert_int_equal(bad, 0);
}

static void test_legalize_softfloat__soft_doubles(void **state)
{
	const pctl_program *m;
	pctl_softfloat *forms = NULL;
	uint32_t bad = 0;

	(void)state;
	assert_int_equal(pctl_softfloat_create(&call, &forms), PCTL_OK);
	m = module_of(forms);
	for (uint32_t i = 0; i < LEGAL_N_SOFT; i++) {
		const uint32_t f = legal_find_function(m, legal_soft64_name(i));

		if (!f) {
			fprintf(stderr, "soft64.def names %s, which is in no file\n",
				legal_soft64_name(i));
			bad++;
		}
		/* Soft doubles stand on integers alone. */
		for (uint32_t k = 0; f && k < m->functions[f].n_insts; k++)
			assert_int_not_equal(
				m->types[m->insts[m->functions[f].first_inst + k].type].scalar,
				PCTL_SCALAR_F64);
	}
	pctl_softfloat_destroy(forms);
	assert_int_equal(bad, 0);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_legalize_softfloat__rows),
		PCTL_TEST(test_legalize_softfloat__soft_doubles))
