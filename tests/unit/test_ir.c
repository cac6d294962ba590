/* The program: layout against numbers worked by hand, the wire form there and back, what verify
 * refuses. */
#include <stdlib.h>

#include "foundation/diag/diag.h"
#include "main.h"
#include "test_ir_samples.h"

static pctl_program *finish(pctl_builder *b)
{
	pctl_program *p = NULL;
	pctl_diag_list *l = pctl_diag_list_create();

	if (pctl_builder_finish(b, pctl_diag_list_call(l), &p) != PCTL_OK)
		pctl_diag_render_text(l, stderr, 0);
	pctl_builder_destroy(b);
	pctl_diag_list_destroy(l);
	assert_non_null(p);
	return p;
}

/* The code of the first refusal of finish, 0 when it succeeds. */
static uint32_t refused(pctl_builder *b)
{
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_program *p = NULL;
	pctl_status status = pctl_builder_finish(b, pctl_diag_list_call(l), &p);
	uint32_t code = pctl_diag_list_count(l) ? pctl_diag_list_at(l, 0)->code : 0;

	assert_int_equal(status == PCTL_OK, code == 0);
	assert_int_equal(status == PCTL_OK, p != NULL);
	pctl_program_destroy(p);
	pctl_builder_destroy(b);
	pctl_diag_list_destroy(l);
	return code;
}

static void check_type(const pctl_builder *b, uint32_t type, uint32_t size, uint32_t align,
		       uint32_t stride)
{
	const pctl_type *t = pctl_build_type_at(b, type);

	assert_int_equal(t->size, size);
	assert_int_equal(t->align, align);
	assert_int_equal(t->stride, stride);
}

/* Numbers from the table of WGSL's section on alignment and size; 64-bit by the same rule. */
static void layout(void **state)
{
	pctl_builder *b = pctl_builder_create();
	uint32_t u32 = pctl_build_scalar(b, PCTL_SCALAR_U32);
	uint32_t u64 = pctl_build_scalar(b, PCTL_SCALAR_U64);
	uint32_t v3 = pctl_build_vector(b, PCTL_SCALAR_I32, 3);
	pctl_member_spec m[4] = {{"a", u32, 0, 0, PCTL_OFFSET_AUTO},
				 {"b", v3, 0, 0, PCTL_OFFSET_AUTO},
				 {"c", u32, 16, 0, PCTL_OFFSET_AUTO},
				 {"d", u32, 0, 32, PCTL_OFFSET_AUTO}};
	uint32_t s;

	(void)state;
	check_type(b, u32, 4, 4, 0);
	check_type(b, u64, 8, 8, 0);
	check_type(b, pctl_build_vector(b, PCTL_SCALAR_U32, 2), 8, 8, 0);
	check_type(b, v3, 12, 16, 0);
	check_type(b, pctl_build_vector(b, PCTL_SCALAR_U32, 4), 16, 16, 0);
	check_type(b, pctl_build_vector(b, PCTL_SCALAR_U64, 2), 16, 16, 0);
	check_type(b, pctl_build_vector(b, PCTL_SCALAR_U64, 3), 24, 32, 0);
	check_type(b, pctl_build_vector(b, PCTL_SCALAR_F16, 3), 6, 8, 0);
	check_type(b, pctl_build_matrix(b, PCTL_SCALAR_U32, 2, 3), 32, 16, 16);
	check_type(b, pctl_build_matrix(b, PCTL_SCALAR_U32, 4, 2), 32, 8, 8);
	check_type(b, pctl_build_array(b, v3, 5, 0), 80, 16, 16);
	check_type(b, pctl_build_array(b, v3, 0, 0), 0, 16, 16);
	s = pctl_build_struct(b, m, 2);
	check_type(b, s, 32, 16, 0);
	assert_int_equal(pctl_build_member_at(b, s, 1)->offset, 16);
	s = pctl_build_struct(b, m, 4);
	check_type(b, s, 96, 32, 0);
	assert_int_equal(pctl_build_member_at(b, s, 2)->offset, 28);
	assert_int_equal(pctl_build_member_at(b, s, 3)->offset, 64);
	assert_int_equal(pctl_build_struct(b, m, 4), s);
	assert_int_equal(pctl_build_vector(b, PCTL_SCALAR_I32, 3), v3);
	pctl_builder_destroy(b);
}

static void round_trip(pctl_builder *b)
{
	pctl_program *p = finish(b), *q = NULL;
	uint8_t *wire = NULL, *again = NULL;
	uint64_t n = 0, m = 0;
	char *a, *c;

	assert_int_equal(pctl_program_encode(p, NULL, &wire, &n), PCTL_OK);
	assert_int_equal(pctl_program_decode(wire, n, NULL, &q), PCTL_OK);
	assert_int_equal(pctl_program_encode(q, NULL, &again, &m), PCTL_OK);
	assert_int_equal(n, m);
	assert_memory_equal(wire, again, n);
	assert_int_equal(p->caps, q->caps);
	assert_int_equal(p->n_strings, q->n_strings);
	assert_memory_equal(p->strings, q->strings, p->n_strings);
	assert_int_equal(p->n_types, q->n_types);
	assert_memory_equal(p->types, q->types, p->n_types * sizeof(*p->types));
	assert_memory_equal(p->members, q->members, p->n_members * sizeof(*p->members));
	assert_memory_equal(p->vars, q->vars, p->n_vars * sizeof(*p->vars));
	assert_int_equal(p->n_insts, q->n_insts);
	assert_memory_equal(p->insts, q->insts, p->n_insts * sizeof(*p->insts));
	assert_memory_equal(p->words, q->words, p->n_words * sizeof(*p->words));
	a = pctl_program_print(p);
	c = pctl_program_print(q);
	assert_non_null(a);
	assert_string_equal(a, c);
	free(a);
	free(c);
	free(wire);
	free(again);
	pctl_program_destroy(p);
	pctl_program_destroy(q);
}

static void round_trips(void **state)
{
	(void)state;
	round_trip(sample_guarded());
	round_trip(sample_everything());
}

static void finish_sorts_and_drops(void **state)
{
	pctl_program *p = finish(sample_everything());
	uint32_t i;

	(void)state;
	assert_int_equal(p->n_vars, 4);
	assert_string_equal(pctl_str(p, p->vars[0].name), "uniforms");
	assert_string_equal(pctl_str(p, p->vars[1].name), "counter");
	assert_string_equal(pctl_str(p, p->vars[2].name), "data");
	assert_string_equal(pctl_str(p, p->vars[3].name), "shared_words");
	assert_int_equal(p->maxima[0].var, 0);
	for (i = 0; i < p->n_types; i++)
		assert_int_not_equal(p->types[i].scalar, PCTL_SCALAR_F16);
	assert_int_equal(p->caps, PCTL_CAP_I64 | PCTL_CAP_OVERRIDES);
	pctl_program_destroy(p);
}

/* Every truncation and every flipped byte is refused or decodes to a program with exactly those
 * bytes. */
static void damaged_wire(void **state)
{
	pctl_program *p = finish(sample_everything()), *q = NULL;
	uint8_t *wire = NULL, *again = NULL;
	uint64_t n = 0, m = 0, i;
	uint32_t flip, accepted = 0;

	(void)state;
	assert_int_equal(pctl_program_encode(p, NULL, &wire, &n), PCTL_OK);
	for (i = 0; i < n; i++)
		assert_int_not_equal(pctl_program_decode(wire, i, NULL, &q), PCTL_OK);
	for (i = 0; i < n; i++) {
		for (flip = 1; flip < 256; flip <<= 1) {
			wire[i] ^= (uint8_t)flip;
			if (pctl_program_decode(wire, n, NULL, &q) == PCTL_OK) {
				assert_int_equal(pctl_program_encode(q, NULL, &again, &m), PCTL_OK);
				assert_int_equal(m, n);
				assert_memory_equal(again, wire, n);
				free(again);
				pctl_program_destroy(q);
				accepted++;
			}
			wire[i] ^= (uint8_t)flip;
		}
	}
	assert_true(accepted > 0); /* a changed letter of a name is another valid program */
	free(wire);
	pctl_program_destroy(p);
}

/* ---- refusals: each builds the guarded sample's surroundings around one fault ---- */

static void open_main(sample *s)
{
	sample_begin(s);
	s->data = sample_storage(s, "data", s->array, 0, 1);
	pctl_build_function_begin(s->b, "main", NULL, 0, 0);
}

static uint32_t close_main(sample *s)
{
	sample_entry(s, pctl_build_function_end(s->b), 64, 1, 1);
	return refused(s->b);
}

static void refuses_values(void **state)
{
	uint32_t x, args[3];
	sample s;

	(void)state;
	open_main(&s); /* a value of a closed region */
	x = sample_compare(&s, PCTL_OP_EQ, sample_const(&s, 1), sample_const(&s, 2));
	sample_mark(&s, PCTL_OP_IF, x, 1);
	x = sample_const(&s, 3);
	sample_mark(&s, PCTL_OP_END_IF, 0, 0);
	sample_op(&s, PCTL_OP_ADD, x, x);
	assert_int_equal(close_main(&s), PC2022_PROGRAM_VALUE);

	open_main(&s); /* a value not yet defined */
	sample_op(&s, PCTL_OP_ADD, 1, 1);
	assert_int_equal(close_main(&s), PC2022_PROGRAM_VALUE);

	open_main(&s); /* a body's value in the update */
	x = pctl_build_local(s.b, "i", s.u32);
	sample_for_begin(&s, x, sample_const(&s, 4));
	args[0] = sample_const(&s, 9);
	sample_mark(&s, PCTL_OP_CONTINUING, 0, 0);
	sample_op(&s, PCTL_OP_ADD, args[0], args[0]);
	sample_mark(&s, PCTL_OP_END_LOOP, 0, 0);
	assert_int_equal(close_main(&s), PC2022_PROGRAM_VALUE);

	open_main(&s); /* mixed types */
	x = pctl_build_const(s.b, s.i32, 1);
	sample_op(&s, PCTL_OP_ADD, x, sample_const(&s, 1));
	assert_int_equal(close_main(&s), PC2021_PROGRAM_OPERAND);

	open_main(&s); /* a condition that is no bool */
	sample_mark(&s, PCTL_OP_IF, sample_const(&s, 1), 1);
	sample_mark(&s, PCTL_OP_END_IF, 0, 0);
	assert_int_equal(close_main(&s), PC2021_PROGRAM_OPERAND);

	open_main(&s); /* high word of a 32-bit constant */
	pctl_build_const(s.b, s.u32, 1ull << 40);
	assert_int_equal(close_main(&s), PC2021_PROGRAM_OPERAND);

	open_main(&s); /* too few and unknown */
	args[0] = sample_const(&s, 1);
	pctl_build_inst(s.b, PCTL_OP_ADD, s.u32, args, 1);
	assert_int_equal(close_main(&s), PC2021_PROGRAM_OPERAND);
	open_main(&s);
	pctl_build_inst(s.b, 0x3ff, s.u32, NULL, 0);
	assert_int_equal(close_main(&s), PC2020_PROGRAM_OPCODE);
}

static void refuses_control(void **state)
{
	const uint32_t one[3] = {0, 7, 7}, other[1] = {1};
	sample s;

	(void)state;
	open_main(&s);
	sample_mark(&s, PCTL_OP_BREAK, 0, 0);
	assert_int_equal(close_main(&s), PC2026_PROGRAM_CONTROL);
	open_main(&s);
	sample_mark(&s, PCTL_OP_BLOCK, 0, 0);
	assert_int_equal(close_main(&s), PC2026_PROGRAM_CONTROL);
	open_main(&s);
	sample_mark(&s, PCTL_OP_END_IF, 0, 0);
	assert_int_equal(close_main(&s), PC2026_PROGRAM_CONTROL);
	open_main(&s);
	sample_mark(&s, PCTL_OP_RETURN, 0, 0);
	sample_const(&s, 1);
	assert_int_equal(close_main(&s), PC2027_PROGRAM_UNREACHABLE);
	open_main(&s); /* no LOOP_TEST */
	sample_mark(&s, PCTL_OP_LOOP, 0, 0);
	sample_mark(&s, PCTL_OP_CONTINUING, 0, 0);
	sample_mark(&s, PCTL_OP_END_LOOP, 0, 0);
	assert_int_equal(close_main(&s), PC2026_PROGRAM_CONTROL);
	open_main(&s); /* a literal twice */
	sample_mark(&s, PCTL_OP_SWITCH, sample_const(&s, 1), 1);
	pctl_build_inst(s.b, PCTL_OP_CASE, 0, one, 3);
	pctl_build_inst(s.b, PCTL_OP_CASE, 0, other, 1);
	sample_mark(&s, PCTL_OP_END_SWITCH, 0, 0);
	assert_int_equal(close_main(&s), PC2026_PROGRAM_CONTROL);
	open_main(&s); /* no default */
	sample_mark(&s, PCTL_OP_SWITCH, sample_const(&s, 1), 1);
	pctl_build_inst(s.b, PCTL_OP_CASE, 0, one, 2);
	sample_mark(&s, PCTL_OP_END_SWITCH, 0, 0);
	assert_int_equal(close_main(&s), PC2026_PROGRAM_CONTROL);
	sample_begin(&s); /* a result that is missing on one path */
	pctl_build_function_begin(s.b, "f", &s.boolean, 1, s.u32);
	sample_mark(&s, PCTL_OP_IF, 0, 1);
	sample_mark(&s, PCTL_OP_RETURN, sample_const(&s, 1), 1);
	sample_mark(&s, PCTL_OP_END_IF, 0, 0);
	pctl_build_function_end(s.b);
	assert_int_equal(refused(s.b), PC2013_PROGRAM_FUNCTION);
}

static void refuses_memory(void **state)
{
	uint32_t atomic, args[3];
	sample s;

	(void)state;
	sample_begin(&s); /* a store to read-only memory */
	s.data = sample_storage(&s, "data", s.array, 0, 0);
	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	sample_store_at(&s, sample_const(&s, 1), s.data, sample_const(&s, 0));
	assert_int_equal(close_main(&s), PC2025_PROGRAM_ACCESS);

	open_main(&s); /* a plain load of a whole runtime array */
	sample_load(&s, s.array, s.data, NULL, 0);
	assert_int_equal(close_main(&s), PC2024_PROGRAM_PLACE);

	open_main(&s); /* a chain deeper than the type */
	args[0] = args[1] = sample_const(&s, 0);
	sample_load(&s, s.u32, s.data, args, 2);
	assert_int_equal(close_main(&s), PC2024_PROGRAM_PLACE);

	sample_begin(&s); /* a plain load of an atomic, an atomic in private memory */
	atomic = pctl_build_atomic(s.b, PCTL_SCALAR_U32);
	s.data = sample_storage(&s, "data", atomic, 0, 1);
	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	sample_load(&s, s.u32, s.data, NULL, 0);
	assert_int_equal(close_main(&s), PC2024_PROGRAM_PLACE);
	sample_begin(&s);
	sample_var(&s, "x", pctl_build_atomic(s.b, PCTL_SCALAR_U32), PCTL_SPACE_PRIVATE, 0);
	assert_int_equal(refused(s.b), PC2011_PROGRAM_VARIABLE);

	sample_begin(&s); /* one binding for two */
	sample_storage(&s, "a", s.array, 4, 1);
	sample_storage(&s, "b", s.array, 4, 1);
	assert_int_equal(refused(s.b), PC2011_PROGRAM_VARIABLE);

	sample_begin(&s); /* size 0 */
	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	sample_entry(&s, pctl_build_function_end(s.b), 0, 1, 1);
	assert_int_equal(refused(s.b), PC2014_PROGRAM_ENTRY);

	sample_begin(&s); /* recursion */
	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	args[0] = 1;
	pctl_build_inst(s.b, PCTL_OP_CALL, 0, args, 1);
	assert_int_equal(close_main(&s), PC2021_PROGRAM_OPERAND);
}

static void a_million_instructions(void **state)
{
	uint8_t *wire = NULL;
	pctl_program *p, *q = NULL;
	uint64_t n = 0;
	uint32_t i, x;
	sample s;

	(void)state;
	open_main(&s);
	x = sample_const(&s, 3);
	for (i = 0; i < (1u << 20) - 1; i++)
		x = sample_op(&s, PCTL_OP_ADD, x, x);
	sample_entry(&s, pctl_build_function_end(s.b), 64, 1, 1);
	p = finish(s.b);
	assert_int_equal(pctl_program_encode(p, NULL, &wire, &n), PCTL_OK);
	assert_int_equal(pctl_program_decode(wire, n, NULL, &q), PCTL_OK);
	assert_int_equal(q->n_insts, 1u << 20);
	free(wire);
	pctl_program_destroy(p);
	pctl_program_destroy(q);
}

PCTL_TESTS_MAIN(PCTL_TEST(layout), PCTL_TEST(round_trips), PCTL_TEST(finish_sorts_and_drops),
		PCTL_TEST(damaged_wire), PCTL_TEST(refuses_values), PCTL_TEST(refuses_control),
		PCTL_TEST(refuses_memory), PCTL_TEST(a_million_instructions))
