/* An op library in memory on u32, a row an op, to be spoiled row by row. */
#ifndef PIPECTL_TESTS_UNIT_PROOF_FAKE_H
#define PIPECTL_TESTS_UNIT_PROOF_FAKE_H

#include "test_proof_libraries.h"

#define FAKE_ROWS 8u

/* no_rules: rules() answers NULL. eval gets what the output held before, too. */
typedef struct fake_row {
	pctl_op_desc desc;
	pctl_op_rules rules;
	const char *text;
	uint32_t (*eval)(uint32_t a, uint32_t b, uint32_t held);
	int no_rules;
} fake_row;

typedef struct fake_library {
	fake_row rows[FAKE_ROWS];
	uint32_t n;
} fake_library;

static const pctl_port fake_unary[1] = {{"x", "u32[...]", "the operand", 0, 0}};
static const pctl_port fake_binary[2] = {{"a", "u32[...]", "one operand", 0, 0},
					 {"b", "u32[...]", "the other", 0, 0}};
static const pctl_port fake_result[1] = {{"y", "u32[...]", "the result", 0, 0}};
static const pctl_example fake_examples[2] = {{"small", {1, 2}}, {"large", {0xffffffff, 7}}};

static uint32_t fake_count(pctl_instance *inst)
{
	return ((fake_library *)(void *)inst)->n;
}

static fake_row *fake_at(pctl_instance *inst, uint32_t i)
{
	return &((fake_library *)(void *)inst)->rows[i];
}

static const pctl_op_desc *fake_desc(pctl_instance *inst, uint32_t i)
{
	return &fake_at(inst, i)->desc;
}

static pctl_status fake_infer(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			      pctl_op_result *out)
{
	(void)inst;
	(void)call;
	out->out[0] = q->in[0];
	return q->in[0].dtype == PCTL_SCALAR_U32 ? PCTL_OK : PCTL_E_INVALID;
}

static const char *fake_function(pctl_instance *inst, uint32_t op, uint32_t dtype)
{
	return dtype == PCTL_SCALAR_U32 ? fake_at(inst, op)->text : NULL;
}

static pctl_status fake_reference(pctl_instance *inst, const pctl_call *call,
				  const pctl_op_query *q, const pctl_span *in, pctl_span *out)
{
	const fake_row *row = fake_at(inst, q->op);

	(void)call;
	for (uint64_t i = 0; i < q->in[0].dim[0]; i++) {
		const uint32_t *a = in[0].data, *b = q->n_in > 1 ? in[1].data : in[0].data;
		uint32_t *y = out[0].data;

		y[i] = row->eval(a[i], b[i], y[i]);
	}
	return PCTL_OK;
}

static const pctl_op_rules *fake_rules(pctl_instance *inst, uint32_t op)
{
	const fake_row *row = fake_at(inst, op);

	return row->no_rules ? NULL : &row->rules;
}

static const pctl_oplib fake_lib = {.head = PCTL_HEAD(pctl_oplib),
				    .op_count = fake_count,
				    .op_at = fake_desc,
				    .infer = fake_infer,
				    .function = fake_function,
				    .reference = fake_reference,
				    .rules = fake_rules};

/* Append an op that is in order but for what the caller then changes. */
static inline fake_row *fake_add(fake_library *l, const char *name, uint32_t n_in, const char *text,
				 uint32_t (*eval)(uint32_t, uint32_t, uint32_t),
				 const pctl_law *laws, uint32_t n_laws)
{
	fake_row *row = &l->rows[l->n++];

	assert_true(l->n <= FAKE_ROWS);
	*row = (fake_row){.desc = {.head = PCTL_HEAD(pctl_op_desc),
				   .name = name,
				   .doc = "an op",
				   .spec = "an op",
				   .version = 1,
				   .kind = PCTL_OPDEF_FUNCTION,
				   .category = 'A',
				   .op_class = PCTL_CLASS_INTEGER,
				   .convention = 1,
				   .n_in = n_in,
				   .n_out = 1,
				   .in = n_in == 1 ? fake_unary : fake_binary,
				   .out = fake_result},
			  .rules = {.head = PCTL_HEAD(pctl_op_rules),
				    .laws = laws,
				    .classes = fake_examples,
				    .n_laws = n_laws,
				    .n_classes = 2},
			  .text = text,
			  .eval = eval};
	return row;
}

static inline pctl_proof_context fake_bench(fake_library *l, libraries *libs)
{
	libraries_begin(libs);
	libraries_add(libs, &fake_lib, (pctl_instance *)(void *)l, "fake");
	return libraries_bench(libs);
}

#define FAKE_LAW(text)                                   \
	{                                                \
		.law = PCTL_LAW_CUSTOM, .custom = (text) \
	}

#endif
