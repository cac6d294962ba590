/* Floats in programs: what verify takes and refuses, the wire form, overrides, and what the analysis
 * makes of float values and constant tables. */
#include <stdlib.h>

#include "foundation/diag/diag.h"
#include "main.h"
#include "compiler/analysis/analyse.h"
#include "compiler/eval/specialise.h"
#include "test_ir_samples.h"

/* The program, or NULL and the code of the first refusal. */
static pctl_program *finish(pctl_builder *b, uint32_t *code)
{
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_program *p = NULL;

	pctl_builder_finish(b, pctl_diag_list_call(l), &p);
	*code = pctl_diag_list_count(l) ? pctl_diag_list_at(l, 0)->code : 0;
	assert_int_equal(p == NULL, *code != 0);
	pctl_builder_destroy(b);
	pctl_diag_list_destroy(l);
	return p;
}

static uint32_t code_of(pctl_builder *b)
{
	uint32_t code;

	pctl_program_destroy(finish(b, &code));
	return code;
}

/* `op` of zeros: operands of type a (the first of width_a components), result of type r. */
static uint32_t one_op(uint16_t op, uint8_t r, uint8_t a, uint32_t width_r, uint32_t width_a)
{
	uint32_t type_r, type_a, args[3], i, n = 0;
	sample s;

	sample_begin(&s);
	type_r = width_r > 1 ? pctl_build_vector(s.b, r, width_r) : pctl_build_scalar(s.b, r);
	type_a = width_a > 1 ? pctl_build_vector(s.b, a, width_a) : pctl_build_scalar(s.b, a);
	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	while (pctl_op_get(op)->args[n] == 'v')
		n++;
	for (i = 0; i < n; i++)
		args[i] = pctl_build_inst(s.b, PCTL_OP_ZERO, type_a, NULL, 0);
	pctl_build_inst(s.b, op, type_r, args, n);
	sample_entry(&s, pctl_build_function_end(s.b), 1, 1, 1);
	return code_of(s.b);
}

#define GOOD 0
#define BAD PC2021_PROGRAM_OPERAND

static void operands(void **state)
{
	static const struct {
		uint16_t op;
		uint8_t r, a;
		uint32_t width_r, width_a, code;
	} rows[] = {
		{PCTL_OP_FADD, PCTL_SCALAR_F32, PCTL_SCALAR_F32, 1, 1, GOOD},
		{PCTL_OP_FADD, PCTL_SCALAR_BF16, PCTL_SCALAR_BF16, 4, 4, GOOD},
		{PCTL_OP_FADD, PCTL_SCALAR_F16, PCTL_SCALAR_F16, 3, 3, GOOD},
		{PCTL_OP_FADD, PCTL_SCALAR_F64, PCTL_SCALAR_F64, 1, 1, GOOD},
		{PCTL_OP_FSQRT, PCTL_SCALAR_F64, PCTL_SCALAR_F64, 2, 2, GOOD},
		{PCTL_OP_FSIN, PCTL_SCALAR_F64, PCTL_SCALAR_F64, 1, 1, BAD},
		{PCTL_OP_FADD, PCTL_SCALAR_U32, PCTL_SCALAR_U32, 1, 1, BAD},
		{PCTL_OP_FADD, PCTL_SCALAR_F32, PCTL_SCALAR_F16, 1, 1, BAD},
		{PCTL_OP_FADD, PCTL_SCALAR_F32, PCTL_SCALAR_F32, 2, 3, BAD},
		{PCTL_OP_NADD, PCTL_SCALAR_F64, PCTL_SCALAR_F64, 2, 2, GOOD},
		{PCTL_OP_NADD, PCTL_SCALAR_F16, PCTL_SCALAR_F16, 1, 1, GOOD},
		{PCTL_OP_NADD, PCTL_SCALAR_BF16, PCTL_SCALAR_BF16, 1, 1, BAD},
		{PCTL_OP_NSIN, PCTL_SCALAR_F32, PCTL_SCALAR_F32, 1, 1, GOOD},
		{PCTL_OP_FFMA, PCTL_SCALAR_F32, PCTL_SCALAR_F32, 1, 1, GOOD},
		{PCTL_OP_FCBRT, PCTL_SCALAR_F16, PCTL_SCALAR_F16, 1, 1, GOOD},
		{PCTL_OP_FERF, PCTL_SCALAR_BF16, PCTL_SCALAR_BF16, 1, 1, GOOD},
		{PCTL_OP_FEXPM1, PCTL_SCALAR_F64, PCTL_SCALAR_F64, 1, 1, BAD},
		{PCTL_OP_FLT, PCTL_SCALAR_BOOL, PCTL_SCALAR_BF16, 1, 1, GOOD},
		{PCTL_OP_FLT, PCTL_SCALAR_BOOL, PCTL_SCALAR_F32, 2, 2, GOOD},
		{PCTL_OP_FLT, PCTL_SCALAR_BOOL, PCTL_SCALAR_F32, 1, 2, BAD},
		{PCTL_OP_FLT, PCTL_SCALAR_F32, PCTL_SCALAR_F32, 1, 1, BAD},
		{PCTL_OP_FLT, PCTL_SCALAR_BOOL, PCTL_SCALAR_U32, 1, 1, BAD},
		{PCTL_OP_NLT, PCTL_SCALAR_BOOL, PCTL_SCALAR_F64, 1, 1, GOOD},
		{PCTL_OP_FCONVERT, PCTL_SCALAR_F32, PCTL_SCALAR_F16, 4, 4, GOOD},
		{PCTL_OP_FCONVERT, PCTL_SCALAR_BF16, PCTL_SCALAR_F16, 1, 1, GOOD},
		{PCTL_OP_FCONVERT, PCTL_SCALAR_U32, PCTL_SCALAR_F16, 1, 1, GOOD},
		{PCTL_OP_FCONVERT, PCTL_SCALAR_BF16, PCTL_SCALAR_I32, 1, 1, GOOD},
		{PCTL_OP_FCONVERT, PCTL_SCALAR_F32, PCTL_SCALAR_F32, 1, 1, BAD},
		{PCTL_OP_FCONVERT, PCTL_SCALAR_F64, PCTL_SCALAR_F32, 1, 1, GOOD},
		{PCTL_OP_FCONVERT, PCTL_SCALAR_F64, PCTL_SCALAR_U64, 1, 1, GOOD},
		{PCTL_OP_FCONVERT, PCTL_SCALAR_I64, PCTL_SCALAR_F64, 1, 1, GOOD},
		{PCTL_OP_FCONVERT, PCTL_SCALAR_F32, PCTL_SCALAR_U64, 1, 1, BAD},
		{PCTL_OP_NCONVERT, PCTL_SCALAR_F64, PCTL_SCALAR_U64, 1, 1, BAD},
		{PCTL_OP_FCONVERT, PCTL_SCALAR_U64, PCTL_SCALAR_F32, 1, 1, BAD},
		{PCTL_OP_FCONVERT, PCTL_SCALAR_F32, PCTL_SCALAR_BOOL, 1, 1, BAD},
		{PCTL_OP_FCONVERT, PCTL_SCALAR_U32, PCTL_SCALAR_I32, 1, 1, BAD},
		{PCTL_OP_FCONVERT, PCTL_SCALAR_F32, PCTL_SCALAR_F16, 2, 3, BAD},
		{PCTL_OP_NCONVERT, PCTL_SCALAR_F64, PCTL_SCALAR_F32, 1, 1, GOOD},
		{PCTL_OP_NCONVERT, PCTL_SCALAR_I32, PCTL_SCALAR_F64, 1, 1, GOOD},
		{PCTL_OP_NCONVERT, PCTL_SCALAR_F64, PCTL_SCALAR_F64, 1, 1, BAD},
		{PCTL_OP_NCONVERT, PCTL_SCALAR_BF16, PCTL_SCALAR_F32, 1, 1, BAD},
		{PCTL_OP_MUL_HIGH, PCTL_SCALAR_U32, PCTL_SCALAR_U32, 2, 2, GOOD},
		{PCTL_OP_MUL_HIGH, PCTL_SCALAR_I32, PCTL_SCALAR_I32, 1, 1, BAD},
		{PCTL_OP_MUL_HIGH, PCTL_SCALAR_U64, PCTL_SCALAR_U64, 1, 1, BAD},
		/* integer operations take no floats */
		{PCTL_OP_ADD, PCTL_SCALAR_F32, PCTL_SCALAR_F32, 1, 1, BAD},
		{PCTL_OP_MIN, PCTL_SCALAR_F16, PCTL_SCALAR_F16, 1, 1, BAD},
		{PCTL_OP_NEG, PCTL_SCALAR_F32, PCTL_SCALAR_F32, 1, 1, BAD},
		{PCTL_OP_EQ, PCTL_SCALAR_BOOL, PCTL_SCALAR_F32, 1, 1, BAD},
		{PCTL_OP_CAST, PCTL_SCALAR_U32, PCTL_SCALAR_F32, 1, 1, BAD},
		{PCTL_OP_CAST, PCTL_SCALAR_F32, PCTL_SCALAR_U32, 1, 1, BAD},
		{PCTL_OP_DOT, PCTL_SCALAR_F32, PCTL_SCALAR_F32, 1, 4, BAD},
		/* bits may be reinterpreted at will */
		{PCTL_OP_BITCAST, PCTL_SCALAR_U32, PCTL_SCALAR_F32, 1, 1, GOOD},
		{PCTL_OP_BITCAST, PCTL_SCALAR_U32, PCTL_SCALAR_F16, 1, 2, GOOD},
		{PCTL_OP_BITCAST, PCTL_SCALAR_F64, PCTL_SCALAR_U32, 1, 2, GOOD},
		{PCTL_OP_BITCAST, PCTL_SCALAR_F64, PCTL_SCALAR_U32, 1, 1, BAD},
	};
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const uint32_t code =
			one_op(rows[i].op, rows[i].r, rows[i].a, rows[i].width_r, rows[i].width_a);

		if (code != rows[i].code)
			fail_msg("row %u, %s: %u", i, pctl_op_get(rows[i].op)->name, code);
	}
}

static uint32_t one_const(uint8_t scalar, uint32_t low, uint32_t high)
{
	const uint32_t args[2] = {low, high};
	sample s;

	sample_begin(&s);
	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	pctl_build_inst(s.b, PCTL_OP_CONST, pctl_build_scalar(s.b, scalar), args, 2);
	sample_entry(&s, pctl_build_function_end(s.b), 1, 1, 1);
	return code_of(s.b);
}

static void constants(void **state)
{
	(void)state;
	assert_int_equal(one_const(PCTL_SCALAR_F16, 0xffff, 0), GOOD);
	assert_int_equal(one_const(PCTL_SCALAR_F16, 0x10000, 0), BAD);
	assert_int_equal(one_const(PCTL_SCALAR_BF16, 0x1ffff, 0), BAD);
	assert_int_equal(one_const(PCTL_SCALAR_F32, 0xffc00000, 0), GOOD);
	assert_int_equal(one_const(PCTL_SCALAR_F32, 0, 1), BAD);
	assert_int_equal(one_const(PCTL_SCALAR_F64, 1, 0x3ff00000), GOOD);
}

/* A table of n words 10, 11, 12 .. of `scalar`, read at `index`; what comes out is left in *s. */
static uint32_t table(sample *s, uint8_t scalar, uint32_t index, uint32_t n)
{
	uint32_t *args = calloc(n + 1u, sizeof(*args)), i, v;

	args[0] = index;
	for (i = 0; i < n; i++)
		args[1 + i] = 10 + i;
	v = pctl_build_inst(s->b, PCTL_OP_LOOKUP, pctl_build_scalar(s->b, scalar), args, n + 1);
	free(args);
	return v;
}

static uint32_t one_table(uint8_t scalar, uint32_t n)
{
	sample s;

	sample_begin(&s);
	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	table(&s, scalar, sample_builtin(&s, PCTL_BUILTIN_LOCAL_INDEX, 0), n);
	sample_entry(&s, pctl_build_function_end(s.b), 1, 1, 1);
	return code_of(s.b);
}

static void tables(void **state)
{
	(void)state;
	assert_int_equal(one_table(PCTL_SCALAR_U32, 1), GOOD);
	assert_int_equal(one_table(PCTL_SCALAR_F32, 3), GOOD);
	assert_int_equal(one_table(PCTL_SCALAR_F64, 4), GOOD);
	assert_int_equal(one_table(PCTL_SCALAR_U32, 0), BAD);
	assert_int_equal(one_table(PCTL_SCALAR_F64, 3), BAD);
	assert_int_equal(one_table(PCTL_SCALAR_F16, 2), BAD);
	assert_int_equal(one_table(PCTL_SCALAR_BOOL, 2), BAD);
	assert_int_equal(one_table(PCTL_SCALAR_U32, PCTL_LOOKUP_WORDS_MAX), GOOD);
	assert_int_equal(one_table(PCTL_SCALAR_U32, PCTL_LOOKUP_WORDS_MAX + 1), BAD);
}

/* The wire form, its text and the capabilities, of strict and of native programs. */
static void round_trip(pctl_builder *b, uint64_t caps, const char *shows)
{
	pctl_program *p, *q = NULL;
	uint8_t *wire = NULL, *again = NULL;
	uint64_t n = 0, m = 0;
	uint32_t code;
	char *text;

	p = finish(b, &code);
	assert_non_null(p);
	assert_int_equal(p->caps, caps);
	assert_int_equal(pctl_program_encode(p, NULL, &wire, &n), PCTL_OK);
	assert_int_equal(pctl_program_decode(wire, n, NULL, &q), PCTL_OK);
	assert_int_equal(q->caps, caps);
	assert_int_equal(pctl_program_encode(q, NULL, &again, &m), PCTL_OK);
	assert_int_equal(n, m);
	assert_memory_equal(wire, again, n);
	text = pctl_program_print(q);
	assert_non_null(strstr(text, shows));
	free(text);
	free(wire);
	free(again);
	pctl_program_destroy(p);
	pctl_program_destroy(q);
}

static void wire_form(void **state)
{
	uint32_t f64, x;
	sample s;

	(void)state;
	round_trip(sample_floats(),
		   PCTL_CAP_F16 | PCTL_CAP_F32 | PCTL_CAP_BF16 | PCTL_CAP_STRICT_FLOAT, "FFMA %");
	round_trip(sample_floats(),
		   PCTL_CAP_F16 | PCTL_CAP_F32 | PCTL_CAP_BF16 | PCTL_CAP_STRICT_FLOAT, "LOOKUP %");
	sample_begin(&s);
	f64 = pctl_build_scalar(s.b, PCTL_SCALAR_F64);
	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	x = sample_builtin(&s, PCTL_BUILTIN_LOCAL_INDEX, 0);
	x = sample_op(&s, PCTL_OP_MUL_HIGH, x, x);
	pctl_build_op(s.b, PCTL_OP_NSQRT, f64, pctl_build_op(s.b, PCTL_OP_NCONVERT, f64, x, 0), 0);
	sample_entry(&s, pctl_build_function_end(s.b), 1, 1, 1);
	round_trip(s.b, PCTL_CAP_F64 | PCTL_CAP_NATIVE_FLOAT, "MUL_HIGH %");
}

/* ---- overrides ---- */

/* override scale: `scalar` = scale0 * 3 where scale0 is an override with default 0.5, and a store
 * of both. */
static pctl_program *overridden(uint8_t scalar)
{
	uint32_t type, a, b, x, at, code;
	uint64_t half, three;
	pctl_program *p;
	sample s;

	half = scalar == PCTL_SCALAR_F32 ? 0x3f000000 : scalar == PCTL_SCALAR_F16 ? 0x3800 : 0x3f00;
	three = scalar == PCTL_SCALAR_F32   ? 0x40400000
		: scalar == PCTL_SCALAR_F16 ? 0x4200
					    : 0x4040;
	sample_begin(&s);
	type = pctl_build_scalar(s.b, scalar);
	s.data = sample_storage(&s, "data", pctl_build_array(s.b, type, 2, 0), 0, 1);
	a = pctl_build_override(s.b, "scale", 0xffffffff, type);
	b = pctl_build_override(s.b, "product", 7, type);
	pctl_build_spec_begin(s.b);
	pctl_build_override_default(s.b, a, pctl_build_const(s.b, type, half));
	x = pctl_build_inst(s.b, PCTL_OP_OVERRIDE, type, &a, 1);
	x = pctl_build_op(s.b, PCTL_OP_FMUL, type, x, pctl_build_const(s.b, type, three));
	pctl_build_override_default(s.b, b, x);
	pctl_build_function_end(s.b);
	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	at = sample_const(&s, 0);
	sample_store(&s, pctl_build_inst(s.b, PCTL_OP_OVERRIDE, type, &a, 1), s.data, &at, 1);
	at = sample_const(&s, 1);
	sample_store(&s, pctl_build_inst(s.b, PCTL_OP_OVERRIDE, type, &b, 1), s.data, &at, 1);
	sample_entry(&s, pctl_build_function_end(s.b), 1, 1, 1);
	p = finish(s.b, &code);
	assert_non_null(p);
	return p;
}

/* The two constants in force, or the code of the refusal. */
static uint32_t specialised(const pctl_program *p, const pctl_override_value *v, uint32_t n,
			    uint64_t out[2])
{
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_program *q = NULL;
	uint32_t code, i, found = 0;

	pctl_program_specialise(p, NULL, v, n, pctl_diag_list_call(l), &q);
	code = pctl_diag_list_count(l) ? pctl_diag_list_at(l, 0)->code : 0;
	for (i = 0; q && i < q->n_insts; i++) {
		const uint8_t scalar = q->types[q->insts[i].type].scalar;

		if (q->insts[i].op == PCTL_OP_CONST && scalar != PCTL_SCALAR_U32 && found < 2)
			out[found++] = pctl_arg(q, &q->insts[i], 0);
	}
	pctl_program_destroy(q);
	pctl_diag_list_destroy(l);
	return code;
}

static void overrides(void **state)
{
	static const struct {
		uint8_t scalar;
		const char *text;
		uint64_t bits;	 /* without a text */
		uint64_t out[2]; /* scale, scale * 3 */
		uint32_t code;
	} rows[] = {
		{PCTL_SCALAR_F32, "0.1", 0, {0x3dcccccd, 0x3e99999a}, 0},
		{PCTL_SCALAR_F32, "-2", 0, {0xc0000000, 0xc0c00000}, 0},
		{PCTL_SCALAR_F32, "0x1p-149", 0, {1, 3}, 0},
		{PCTL_SCALAR_F32, NULL, 0xbf800000, {0xbf800000, 0xc0400000}, 0},
		{PCTL_SCALAR_F16, "0.1", 0, {0x2e66, 0x34cc}, 0},
		{PCTL_SCALAR_BF16, "0.1", 0, {0x3dcd, 0x3e9a}, 0},
		{PCTL_SCALAR_F16, "65504", 0, {0x7bff, 0x7c00}, 0},
		{PCTL_SCALAR_F16, "65520", 0, {0, 0}, PC2043_SPECIALISE_RANGE},
		{PCTL_SCALAR_F16, NULL, 0x10000, {0, 0}, PC2043_SPECIALISE_RANGE},
		{PCTL_SCALAR_F32, "true", 0, {0, 0}, PC2043_SPECIALISE_RANGE},
		{PCTL_SCALAR_F32, "0.1f", 0, {0, 0}, PC2043_SPECIALISE_RANGE},
		{PCTL_SCALAR_F32, NULL, 0x100000000, {0, 0}, PC2043_SPECIALISE_RANGE},
	};
	uint64_t out[2];
	pctl_program *p;
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const pctl_override_value v = {
			.name = "scale", .bits = rows[i].bits, .text = rows[i].text};

		p = overridden(rows[i].scalar);
		out[0] = out[1] = 0;
		assert_int_equal(specialised(p, &v, 1, out), rows[i].code);
		assert_int_equal(out[0], rows[i].out[0]);
		assert_int_equal(out[1], rows[i].out[1]);
		pctl_program_destroy(p);
	}
	p = overridden(PCTL_SCALAR_F32);
	assert_int_equal(specialised(p, NULL, 0, out), 0);
	assert_int_equal(out[0], 0x3f000000);
	assert_int_equal(out[1], 0x3fc00000);
	pctl_program_destroy(p);
	assert_true(pctl_override_is_value("-0x1p3"));
	assert_true(pctl_override_is_value("false"));
	assert_false(pctl_override_is_value("1.0f"));
	assert_false(pctl_override_is_value(""));
}

/* ---- analysis ---- */

static pctl_analysis *analysed(pctl_builder *b, pctl_program **p)
{
	const uint32_t groups[3] = {4, 1, 1};
	const pctl_analysis_query query = {.groups = groups};
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_analysis *a = NULL;
	uint32_t code;

	*p = finish(b, &code);
	assert_non_null(*p);
	if (pctl_program_analyse(*p, &query, pctl_diag_list_call(l), &a) != PCTL_OK)
		pctl_diag_render_text(l, stderr, 0);
	assert_non_null(a);
	pctl_diag_list_destroy(l);
	return a;
}

static uint32_t class_of(pctl_builder *b)
{
	pctl_program *p;
	pctl_analysis *a = analysed(b, &p);
	const uint32_t class = a->determinism;

	pctl_analysis_destroy(a);
	pctl_program_destroy(p);
	return class;
}

/* One value of a type, and perhaps an operation. */
static pctl_builder *holding(uint8_t scalar, uint16_t op)
{
	uint32_t type, x;
	sample s;

	sample_begin(&s);
	type = pctl_build_scalar(s.b, scalar);
	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	x = pctl_build_inst(s.b, PCTL_OP_ZERO, type, NULL, 0);
	if (op)
		pctl_build_op(s.b, op, type, x, x);
	sample_entry(&s, pctl_build_function_end(s.b), 1, 1, 1);
	return s.b;
}

static void classes(void **state)
{
	(void)state;
	assert_int_equal(class_of(sample_guarded()), 1);
	assert_int_equal(class_of(sample_floats()), 2);
	assert_int_equal(class_of(holding(PCTL_SCALAR_BF16, 0)), 2);
	assert_int_equal(class_of(holding(PCTL_SCALAR_U32, PCTL_OP_ADD)), 1);
	assert_int_equal(class_of(holding(PCTL_SCALAR_U32, PCTL_OP_MUL_HIGH)), 1);
	assert_int_equal(class_of(holding(PCTL_SCALAR_F32, PCTL_OP_FADD)), 2);
	assert_int_equal(class_of(holding(PCTL_SCALAR_F32, PCTL_OP_NADD)), 3);
}

enum {
	BY_TABLE,
	BY_TABLE_MASKED,
	BY_TABLE_GUARDED,
	BY_TABLE_LESS,
	BY_TABLE_LESS_GUARDED,
	BY_FLOAT,
	BY_FLOAT_CLAMPED,
	BY_NATIVE_TWICE,
	BY_STRICT_TWICE
};

/* words[index] = 1 over array<u32, 16>, the index found in one of those ways. 1 when proven. */
static int index_proven(int way)
{
	uint32_t words, lid, f32, x, y, v, proven = 0;
	pctl_program *p;
	pctl_analysis *a;
	sample s;

	sample_begin(&s);
	f32 = pctl_build_scalar(s.b, PCTL_SCALAR_F32);
	words = sample_var(&s, "words", pctl_build_array(s.b, s.u32, 16, 0), PCTL_SPACE_PRIVATE, 0);
	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	lid = sample_builtin(&s, PCTL_BUILTIN_LOCAL_INDEX, 0);
	switch (way) {
	case BY_TABLE: /* 10 .. 15, or 0 outside: all below 16 */
		x = table(&s, PCTL_SCALAR_U32, lid, 6);
		break;
	case BY_TABLE_MASKED: /* elements 10 .. 17, of which the mask reaches 10 .. 13 */
		x = table(&s, PCTL_SCALAR_U32, sample_op(&s, PCTL_OP_AND, lid, sample_const(&s, 3)),
			  8);
		break;
	case BY_TABLE_GUARDED: /* the same by a condition */
		sample_mark(&s, PCTL_OP_IF,
			    sample_compare(&s, PCTL_OP_LT, lid, sample_const(&s, 6)), 1);
		x = table(&s, PCTL_SCALAR_U32, lid, 8);
		break;
	case BY_TABLE_LESS: /* 10 .. 15 less 10, unless the index is outside: 0 less 10 */
		x = sample_op(&s, PCTL_OP_SUB, table(&s, PCTL_SCALAR_U32, lid, 6),
			      sample_const(&s, 10));
		break;
	case BY_TABLE_LESS_GUARDED:
		sample_mark(&s, PCTL_OP_IF,
			    sample_compare(&s, PCTL_OP_LT, lid, sample_const(&s, 6)), 1);
		x = sample_op(&s, PCTL_OP_SUB, table(&s, PCTL_SCALAR_U32, lid, 6),
			      sample_const(&s, 10));
		break;
	case BY_FLOAT:
	case BY_FLOAT_CLAMPED:
		x = pctl_build_op(s.b, PCTL_OP_FCONVERT, f32, lid, 0);
		x = pctl_build_op(s.b, PCTL_OP_FCONVERT, s.u32, x, 0);
		if (way == BY_FLOAT_CLAMPED)
			x = sample_op(&s, PCTL_OP_MIN, x, sample_const(&s, 15));
		break;
	default: /* the same expression below 16 once, and used once more */
		x = pctl_build_op(s.b, way == BY_NATIVE_TWICE ? PCTL_OP_NCONVERT : PCTL_OP_FCONVERT,
				  f32, lid, 0);
		y = pctl_build_op(s.b, way == BY_NATIVE_TWICE ? PCTL_OP_NCONVERT : PCTL_OP_FCONVERT,
				  s.u32, x, 0);
		x = pctl_build_op(s.b, way == BY_NATIVE_TWICE ? PCTL_OP_NCONVERT : PCTL_OP_FCONVERT,
				  s.u32, x, 0);
		sample_mark(&s, PCTL_OP_IF, sample_compare(&s, PCTL_OP_LT, y, sample_const(&s, 16)),
			    1);
		break;
	}
	sample_store_at(&s, sample_const(&s, 1), words, x);
	if (way == BY_TABLE_GUARDED || way == BY_TABLE_LESS_GUARDED || way == BY_NATIVE_TWICE ||
	    way == BY_STRICT_TWICE)
		sample_mark(&s, PCTL_OP_END_IF, 0, 0);
	sample_entry(&s, pctl_build_function_end(s.b), 64, 1, 1);
	a = analysed(s.b, &p);
	for (v = 0; v < p->n_insts; v++)
		proven += a->proven[v];
	pctl_analysis_destroy(a);
	pctl_program_destroy(p);
	return proven != 0;
}

static void indices(void **state)
{
	(void)state;
	assert_true(index_proven(BY_TABLE));
	assert_true(index_proven(BY_TABLE_MASKED));
	assert_true(index_proven(BY_TABLE_GUARDED));
	assert_false(index_proven(BY_TABLE_LESS));
	assert_true(index_proven(BY_TABLE_LESS_GUARDED));
	assert_false(index_proven(BY_FLOAT));
	assert_true(index_proven(BY_FLOAT_CLAMPED));
	assert_true(index_proven(BY_STRICT_TWICE));
	assert_false(index_proven(BY_NATIVE_TWICE));
}

/* Tables too wide for their use, negative elements and 64-bit ones: nothing wrong is proven. */
static void table_edges(void **state)
{
	const uint32_t outside[] = {15, 16}, negative[] = {3, 0xffffffff};
	const uint32_t wide[] = {3, 0, 4, 0x80000000};
	const uint32_t *const words[] = {outside, negative, wide};
	const uint8_t scalars[] = {PCTL_SCALAR_U32, PCTL_SCALAR_I32, PCTL_SCALAR_U64};
	const uint32_t counts[] = {2, 2, 4};
	uint32_t i, v;

	(void)state;
	for (i = 0; i < 3; i++) {
		uint32_t args[5], x, proven = 0, var;
		pctl_analysis *a;
		pctl_program *p;
		sample s;

		sample_begin(&s);
		var = sample_var(&s, "words", pctl_build_array(s.b, s.u32, 16, 0),
				 PCTL_SPACE_PRIVATE, 0);
		pctl_build_function_begin(s.b, "main", NULL, 0, 0);
		args[0] = sample_builtin(&s, PCTL_BUILTIN_LOCAL_INDEX, 0);
		memcpy(args + 1, words[i], counts[i] * sizeof(uint32_t));
		x = pctl_build_inst(s.b, PCTL_OP_LOOKUP, pctl_build_scalar(s.b, scalars[i]), args,
				    counts[i] + 1);
		if (scalars[i] == PCTL_SCALAR_U64)
			x = pctl_build_op(s.b, PCTL_OP_CAST, s.u32, x, 0);
		sample_store_at(&s, sample_const(&s, 1), var, x);
		sample_entry(&s, pctl_build_function_end(s.b), 64, 1, 1);
		a = analysed(s.b, &p);
		for (v = 0; v < p->n_insts; v++)
			proven += a->proven[v];
		assert_int_equal(proven, 0);
		pctl_analysis_destroy(a);
		pctl_program_destroy(p);
	}
}

/* data[u32(f32(gid))] = 1 may collide; data[gid] with a float value does not. */
static void races(void **state)
{
	uint32_t gid, f32, x, proofs[2], way;
	pctl_analysis *a;
	pctl_program *p;
	sample s;

	(void)state;
	for (way = 0; way < 2; way++) {
		sample_begin(&s);
		f32 = pctl_build_scalar(s.b, PCTL_SCALAR_F32);
		s.data = sample_storage(&s, "data", pctl_build_array(s.b, f32, 0, 0), 0, 1);
		pctl_build_function_begin(s.b, "main", NULL, 0, 0);
		gid = sample_builtin(&s, PCTL_BUILTIN_GLOBAL_ID, 0);
		x = pctl_build_op(s.b, PCTL_OP_FCONVERT, f32, gid, 0);
		x = pctl_build_op(s.b, PCTL_OP_FSIN, f32, x, 0);
		if (way)
			gid = pctl_build_op(s.b, PCTL_OP_FCONVERT, s.u32, x, 0);
		sample_store(&s, x, s.data, &gid, 1);
		sample_entry(&s, pctl_build_function_end(s.b), 64, 1, 1);
		a = analysed(s.b, &p);
		proofs[way] = a->race;
		pctl_analysis_destroy(a);
		pctl_program_destroy(p);
	}
	assert_int_equal(proofs[0], PCTL_PROOF_PROVEN);
	assert_int_equal(proofs[1], PCTL_PROOF_UNPROVEN);
}

PCTL_TESTS_MAIN(PCTL_TEST(operands), PCTL_TEST(constants), PCTL_TEST(tables), PCTL_TEST(wire_form),
		PCTL_TEST(overrides), PCTL_TEST(classes), PCTL_TEST(indices),
		PCTL_TEST(table_edges), PCTL_TEST(races))
