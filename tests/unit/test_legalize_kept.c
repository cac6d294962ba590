/* What the legaliser keeps: programs that need nothing of it, proofs of bounds; and what it
 * refuses. */
#include "main.h"
#include "test_legalize_build.h"

static void test_legalize_kept__untouched(void **state)
{
	const pctl_device_caps with = caps_of(PCTL_CAP_I64);
	uint8_t *wire[2] = {NULL, NULL};
	pctl_program *p, *same = NULL;
	uint32_t v, at;
	uint64_t n[2];
	rig r;

	(void)state;
	legal_open(&r);
	program_begin();
	v = storage(0, pctl_build_array(b, t_u64, 0, 0));
	at = main_begin();
	OP(STORE, 0, OP(MUL, t_u64, OP(LOAD, t_u64, v, at), OP(LOAD, t_u64, v, at)), v, at);
	p = program_end(&r);
	for (uint32_t i = 0; i < p->n_insts; i++)
		if (p->insts[i].op == PCTL_OP_STORE)
			p->insts[i].flags = PCTL_INST_PROVEN(0);
	assert_int_equal(pctl_legalise(p, &with, NULL, &r.call, &same), PCTL_OK);
	assert_int_equal(pctl_program_encode(p, &r.call, &wire[0], &n[0]), PCTL_OK);
	assert_int_equal(pctl_program_encode(same, &r.call, &wire[1], &n[1]), PCTL_OK);
	assert_int_equal(n[0], n[1]);
	assert_memory_equal(wire[0], wire[1], n[0]);
	free(wire[0]);
	free(wire[1]);
	pctl_program_destroy(p);
	pctl_program_destroy(same);
}

static uint32_t count_dot4(const pctl_program *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_insts; i++)
		n += p->insts[i].op == PCTL_OP_DOT4_I8 || p->insts[i].op == PCTL_OP_DOT4_U8;
	return n;
}

/* Products of packed bytes stay where the device has none of its own, for its backend writes them by integers, or where a
 * probe has shown its own to be right. */
static void test_legalize_kept__packed_products(void **state)
{
	static const struct {
		uint64_t caps;
		uint32_t keeps, left;
	} cases[] = {{0, 0, 2}, {PCTL_CAP_DOT4, 0, 0}, {PCTL_CAP_DOT4, 1, 2}};
	uint32_t from, v, at, x, y;
	pctl_program *p, *made;
	rig r;

	(void)state;
	legal_open(&r);
	program_begin();
	from = storage(0, pctl_build_array(b, t_u32, 0, 0));
	v = storage(1, pctl_build_array(b, t_u32, 0, 0));
	at = main_begin();
	x = OP(LOAD, t_u32, from, at);
	y = OP(DOT4_I8, pctl_build_scalar(b, PCTL_SCALAR_I32), x, k(0x80ff7f01));
	OP(STORE, 0, OP(ADD, t_u32, OP(DOT4_U8, t_u32, x, x), OP(BITCAST, t_u32, y)), v, at);
	p = program_end(&r);
	assert_true(pctl_legal_has_dot4(p));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const pctl_device_caps caps = caps_of(cases[i].caps);
		const pctl_legal_options options = {.head = PCTL_HEAD(pctl_legal_options),
						    .keeps_dot4 = cases[i].keeps};

		assert_int_equal(pctl_legalise(p, &caps, &options, &r.call, &made), PCTL_OK);
		assert_int_equal(count_dot4(made), cases[i].left);
		pctl_program_destroy(made);
	}
	pctl_program_destroy(p);
}

/* Proofs follow their chain word, also past the wrapper of a vec3 element. */
static void test_legalize_kept__proofs(void **state)
{
	const pctl_device_caps none = caps_of(0);
	pctl_program *p, *narrow = NULL;
	uint32_t v, at, found = 0;
	rig r;

	(void)state;
	legal_open(&r);
	program_begin();
	v = storage(0, pctl_build_array(b, pctl_build_vector(b, PCTL_SCALAR_U64, 3), 0, 0));
	at = main_begin();
	OP(STORE, 0, OP(LOAD, t_u64, v, at, at), v, at, k(1));
	p = program_end(&r);
	for (uint32_t i = 0; i < p->n_insts; i++)
		if (p->insts[i].op == PCTL_OP_LOAD)
			p->insts[i].flags = PCTL_INST_PROVEN(1);
	assert_int_equal(pctl_legalise(p, &none, NULL, &r.call, &narrow), PCTL_OK);
	for (uint32_t i = 0; i < narrow->n_insts; i++) {
		if (narrow->insts[i].op == PCTL_OP_LOAD) {
			assert_int_equal(narrow->insts[i].n_args,
					 4); /* root, element, wrapper, component */
			assert_int_equal(narrow->insts[i].flags, PCTL_INST_PROVEN(2));
			found++;
		} else {
			assert_int_equal(narrow->insts[i].flags, 0);
		}
	}
	assert_int_equal(found, 1);
	pctl_program_destroy(p);
	pctl_program_destroy(narrow);
}

/* Columns of 16-bit floats are loaded one by one; their own index is in bounds as it stands. */
static void test_legalize_kept__leaf_proofs(void **state)
{
	const pctl_device_caps caps = caps_of(PCTL_CAP_STORE16);
	const pctl_legal_options options = {.head = PCTL_HEAD(pctl_legal_options)};
	pctl_program *p, *made = NULL;
	uint32_t v, at, matrix, found = 0;
	rig r;

	(void)state;
	legal_open(&r);
	program_begin();
	matrix = pctl_build_matrix(b, PCTL_SCALAR_F16, 3, 2);
	v = storage(0, pctl_build_array(b, matrix, 0, 0));
	at = main_begin();
	OP(STORE, 0, OP(LOAD, matrix, v, at), v, at);
	p = program_end(&r);
	for (uint32_t i = 0; i < p->n_insts; i++)
		if (p->insts[i].op == PCTL_OP_LOAD)
			p->insts[i].flags = PCTL_INST_PROVEN(0);
	assert_int_equal(pctl_legalise(p, &caps, &options, &r.call, &made), PCTL_OK);
	for (uint32_t i = 0; i < made->n_insts; i++) {
		const pctl_inst *in = &made->insts[i];

		if (in->op != PCTL_OP_LOAD && in->op != PCTL_OP_STORE)
			continue;
		assert_int_equal(in->flags,
				 PCTL_INST_PROVEN(1) |
					 (in->op == PCTL_OP_LOAD ? PCTL_INST_PROVEN(0) : 0));
		found++;
	}
	assert_int_equal(found, 6);
	pctl_program_destroy(p);
	pctl_program_destroy(made);
}

static void test_legalize_kept__refused(void **state)
{
	const pctl_device_caps none = caps_of(PCTL_CAP_I64);
	pctl_program *p, *out = NULL;
	uint32_t v, at, t_f32;
	rig r;

	(void)state;
	legal_open(&r);
	r.loud = 0;
	program_begin();
	t_f32 = pctl_build_scalar(b, PCTL_SCALAR_F32);
	v = storage(0, pctl_build_array(b, t_f32, 0, 0));
	at = main_begin();
	OP(STORE, 0, OP(LOAD, t_f32, v, at), v, at);
	p = program_end(&r);
	assert_int_equal(pctl_legalise(p, &none, NULL, &r.call, &out), PCTL_E_UNSUPPORTED);
	assert_int_equal(r.last_code, PC2501_LEGAL_CAPABILITY);
	assert_null(out);
	pctl_program_destroy(p);
}

/* An array of 16-bit floats moved whole: one part more than is allowed, and the most that is. */
static void test_legalize_kept__too_many_parts(void **state)
{
	const pctl_device_caps none = caps_of(PCTL_CAP_I64 | PCTL_CAP_STORE16);
	const pctl_legal_options options = {.head = PCTL_HEAD(pctl_legal_options)};
	rig r;

	(void)state;
	legal_open(&r);
	r.loud = 0;
	for (uint32_t n = 4096; n <= 4097; n++) {
		pctl_program *p, *out = NULL;
		uint32_t array, from, to;
		pctl_status s;

		program_begin();
		array = pctl_build_array(b, pctl_build_scalar(b, PCTL_SCALAR_F16), n, 0);
		from = storage(0, array);
		to = storage(1, array);
		main_begin();
		OP(STORE, 0, OP(LOAD, array, from), to);
		p = program_end(&r);
		s = pctl_legalise(p, &none, &options, &r.call, &out);
		assert_int_equal(s, n == 4096 ? PCTL_OK : PCTL_E_LIMIT);
		if (s)
			assert_int_equal(r.last_code, PC2505_LEGAL_LEAVES);
		pctl_program_destroy(p);
		pctl_program_destroy(out);
	}
}

/* 8-bit integers are named by a capability that no device has yet: nothing stands in for them. */
static void test_legalize_kept__narrow_integers(void **state)
{
	const pctl_device_caps none = caps_of(PCTL_CAP_I64);
	pctl_program *p, *out = NULL;
	uint32_t t_u8, from, to;
	rig r;

	(void)state;
	legal_open(&r);
	r.loud = 0;
	program_begin();
	t_u8 = pctl_build_scalar(b, PCTL_SCALAR_U8);
	from = storage(0, t_u8);
	to = storage(1, t_u8);
	main_begin();
	OP(STORE, 0, OP(LOAD, t_u8, from), to);
	p = program_end(&r);
	assert_true(p->caps & PCTL_CAP_NARROW);
	assert_false(r.caps.caps & PCTL_CAP_NARROW);
	assert_int_equal(pctl_legalise(p, &none, NULL, &r.call, &out), PCTL_E_UNSUPPORTED);
	assert_int_equal(r.last_code, PC2501_LEGAL_CAPABILITY);
	assert_null(out);
	pctl_program_destroy(p);
}

/* Overrides are given values before, since sizes and constants depend on them. */
static void test_legalize_kept__unspecialised(void **state)
{
	const pctl_device_caps none = caps_of(PCTL_CAP_I64);
	pctl_program *p = NULL, *out = NULL;
	uint32_t n, v;
	rig r;

	(void)state;
	legal_open(&r);
	r.loud = 0;
	program_begin();
	n = pctl_build_override(b, "n", 7, t_u32);
	v = storage(0, t_u32);
	main_begin();
	OP(STORE, 0, OP(OVERRIDE, t_u32, n), v);
	p = program_end(&r);
	assert_int_equal(pctl_legalise(p, &none, NULL, &r.call, &out), PCTL_E_INVALID);
	assert_int_equal(r.last_code, PC2502_LEGAL_UNSPECIALISED);
	assert_null(out);
	pctl_program_destroy(p);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_legalize_kept__too_many_parts),
		PCTL_TEST(test_legalize_kept__narrow_integers),
		PCTL_TEST(test_legalize_kept__unspecialised),
		PCTL_TEST(test_legalize_kept__untouched), PCTL_TEST(test_legalize_kept__refused),
		PCTL_TEST(test_legalize_kept__packed_products),
		PCTL_TEST(test_legalize_kept__proofs), PCTL_TEST(test_legalize_kept__leaf_proofs))
