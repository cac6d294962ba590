/* The six gates: every shipped op passes them, and for each gate there is an op that does not. */
#include "test_proof_fake.h"

#include "planted/planted.h"
#include "evidence/proof/gates.h"

/* All gates of all ops of a track, rank's and tensor's plans among them; under sanitizers of one op of 12. */
static void shipped(uint32_t track, uint32_t least)
{
	const pctl_selection s = {.track = track, .level = 1};
	pctl_units *list = NULL;
	const uint32_t step = PCTL_TEST_SANITIZED ? 12 : 1;
	uint32_t passed = 0, ran = 0;
	libraries libs;
	pctl_proof_context b;

	libraries_begin(&libs);
	libraries_open(&libs, "ieee");
	libraries_open(&libs, "int");
	libraries_open(&libs, "rank");
	libraries_open(&libs, "tensor");
	b = libraries_bench(&libs);
	assert_int_equal(pctl_units_create(NULL, &list), PCTL_OK);
	assert_int_equal(pctl_gate_units(&b, &s, NULL, list), PCTL_OK);
	assert_true(list->n >= least);
	for (uint32_t i = 0; i < list->n; i += step) {
		const pctl_unit *u = &list->units[i];
		pctl_block block;

		assert_int_equal(u->run(u, &b, 0, NULL, &block), PCTL_OK);
		ran++;
		if (block.failures != 0)
			print_error("%s %s: %s: %s\n", u->subject, u->name, block.first.law,
				    block.first.got);
		if (block.cases != u->n_cases)
			print_error("%s %s: %d cases, not %d\n", u->subject, u->name,
				    (int)block.cases, (int)u->n_cases);
		passed += block.failures == 0 && block.cases == u->n_cases;
	}
	assert_true(ran > 0);
	assert_int_equal(passed, ran);
	pctl_units_destroy(list);
	pctl_kernels_destroy(b.kernels);
}

static void test_gates__integer_ops_pass(void **state)
{
	(void)state;
	shipped(PCTL_TRACK_INTEGER, 75);
}

static void test_gates__strict_ops_pass(void **state)
{
	(void)state;
	shipped(PCTL_TRACK_FLOAT, 140);
}

static void test_gates__approximate_ops_pass(void **state)
{
	(void)state;
	shipped(PCTL_TRACK_APPROXIMATE, 1);
}

/* ---- one op for each gate that does not pass it ------------------------------------------------ */

static const pctl_law inc_laws[] = {FAKE_LAW("fake.inc(x) != x")};

static uint32_t eval_inc(uint32_t a, uint32_t b, uint32_t held)
{
	(void)b;
	(void)held;
	return a + 1;
}

static uint32_t eval_constant(uint32_t a, uint32_t b, uint32_t held)
{
	(void)a;
	(void)b;
	(void)held;
	return 7;
}

static uint32_t eval_held(uint32_t a, uint32_t b, uint32_t held)
{
	(void)a;
	(void)b;
	return held;
}

static uint32_t eval_moody(uint32_t a, uint32_t b, uint32_t held)
{
	static uint32_t mood;

	(void)b;
	(void)held;
	return a + mood++ % 3;
}

#define INC "fn fake_inc(x: u32) -> u32 {\n\treturn x + 1u;\n}\n"

static fake_row *spoiled(fake_library *l)
{
	memset(l, 0, sizeof(*l));
	return fake_add(l, "fake.inc", 1, INC, eval_inc, inc_laws, 1);
}

/* The gates run on the one op, spoiled so: `gate` fails first (NULL: none), for this reason. */
static void expect(fake_library *l, pctl_gate_checks checks, const char *spoilt, const char *gate,
		   const char *why)
{
	libraries libs;
	pctl_proof_context b = fake_bench(l, &libs);
	pctl_block block, again;
	char caught_by[300];
	pctl_op_ref op;

	libs.source.at(libs.source.ctx, 0, &op);
	assert_int_equal(pctl_gate_run(&op, checks, &b, NULL, &block), PCTL_OK);
	assert_true(block.cases > 0);
	if (gate == NULL && block.failures != 0)
		fail_msg("%s: %s", block.first.law, block.first.got);
	if (gate != NULL) {
		assert_true(block.failures > 0);
		assert_string_equal(block.first.law, gate);
		if (strstr(block.first.got, why) == NULL)
			fail_msg("\"%s\" does not say \"%s\"", block.first.got, why);
		snprintf(caught_by, sizeof(caught_by), "gate: %s", block.first.law);
		planted(spoilt, block.first.inputs, caught_by, block.first.got);
	} else {
		assert_int_equal(pctl_gate_run(&op, checks, &b, NULL, &again), PCTL_OK);
		assert_memory_equal(block.digest, again.digest, sizeof(block.digest));
	}
	pctl_kernels_destroy(b.kernels);
}

static void refused(fake_library *l, const char *spoilt, const char *gate, const char *why)
{
	expect(l, pctl_gate_admission, spoilt, gate, why);
}

static void test_gates__a_plain_op_passes(void **state)
{
	fake_library l;

	(void)state;
	(void)spoiled(&l);
	refused(&l, NULL, NULL, NULL);
}

static void test_gates__category(void **state)
{
	fake_library l;

	(void)state;
	spoiled(&l)->desc.category = 'B';
	refused(&l, "an op of category B", "category", "neither A nor C");
	spoiled(&l)->desc.category = 'C';
	refused(&l, "an op of category C that names no hardware", "category", "names no hardware");
	spoiled(&l)->text = NULL;
	refused(&l, "a function without a text", "category", "neither WGSL");
	spoiled(&l)->desc.kind = PCTL_OPDEF_PLAN;
	refused(&l, "a plan without steps", "category", "nor a plan");
}

static void test_gates__signature(void **state)
{
	static const pctl_port spaced[1] = {{"a b", "u32[...]", "x", 0, 0}};
	static const pctl_port twins[2] = {{"a", "u32[...]", "x", 0, 0},
					   {"a", "u32[...]", "x", 0, 0}};
	static const pctl_port unread[1] = {{"x", "u33[...]", "x", 0, 0}};
	static const pctl_port other[1] = {{"y", "i32[...]", "x", 0, 0}};
	static const pctl_attr_desc beyond[1] = {{"k", "11", "x", PCTL_ATTR_U64, 0, 1, 10}};
	static const pctl_attr_desc kindless[1] = {{"k", "11", "x", 9, 0, 1, 10}};
	fake_library l;
	fake_row *row;

	(void)state;
	spoiled(&l)->desc.in = spaced;
	refused(&l, "a port's name has a space", "signature", "no proper name");
	row = fake_add(memset(&l, 0, sizeof(l)), "fake.inc", 2, INC, eval_inc, inc_laws, 1);
	row->desc.in = twins;
	refused(&l, "two ports of one name", "signature", "one name");
	spoiled(&l)->desc.out = unread;
	refused(&l, "a port's type does not exist", "signature", "cannot be read");
	spoiled(&l)->desc.out = other;
	refused(&l, "a result type that infer does not give", "signature",
		"output port does not allow");
	spoiled(&l)->desc.n_out = 0;
	refused(&l, "an op without a result", "signature", "number of ports");
	spoiled(&l)->desc.convention = 2;
	refused(&l, "a convention that does not exist", "signature", "lookup");
	row = spoiled(&l);
	row->desc.attr = beyond;
	row->desc.n_attr = 1;
	refused(&l, "an attribute's default is out of range", "signature", "out of its range");
	row = spoiled(&l);
	row->desc.attr = kindless;
	row->desc.n_attr = 1;
	refused(&l, "an attribute of no kind", "signature", "proper name or kind");
	spoiled(&l)->text = "fn fake_inc(x: i32) -> u32 {\n\treturn u32(x) + 1u;\n}\n";
	refused(&l, "a text that takes another type", "signature", "PC2");
	spoiled(&l)->text = "fn fake_inc(x: u32) -> i32 {\n\treturn i32(x) + 1i;\n}\n";
	refused(&l, "a text that gives another type", "signature", "PC2");
}

static void test_gates__lookup_ports(void **state)
{
	static const pctl_port first[2] = {{"lookup", "u32[n]", "x", 0, 0},
					   {"x", "u32[...]", "x", 0, 0}};
	static const pctl_port shapeless[2] = {{"x", "u32[...]", "x", 0, 0},
					       {"lookup", "u32[...]", "x", 0, 0}};
	static const pctl_port negative[2] = {{"x", "u32|i32[...]", "x", 0, 0},
					      {"lookup", "u32[n]", "x", 0, 0}};
	static const pctl_port proper[2] = {{"x", "u32[...]", "x", 0, 0},
					    {"lookup", "u32[n]", "x", 0, 0}};
	static const struct {
		const pctl_port *in;
		uint32_t kind;
		const char *fault, *said;
	} rows[] = {
		{first, PCTL_OPDEF_PLAN, "a lookup port that stands first", "not its first"},
		{proper, PCTL_OPDEF_FUNCTION, "a lookup port of a function", "is a plan's"},
		{shapeless, PCTL_OPDEF_PLAN, "a lookup port of any shape", "how many dimensions"},
		{negative, PCTL_OPDEF_PLAN, "a lookup port indexed by signed numbers", "u64"},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fake_library l;
		fake_row *row = fake_add(memset(&l, 0, sizeof(l)), "fake.inc", 2, INC, eval_inc,
					 inc_laws, 1);

		row->desc.in = rows[i].in;
		row->desc.kind = rows[i].kind;
		row->desc.convention = 2;
		row->desc.category = 'C';
		row->desc.hardware = "none";
		refused(&l, rows[i].fault, "signature", rows[i].said);
	}
}

static void test_gates__flags_of_ports(void **state)
{
	static const pctl_port whole[1] = {{"x", "u32[...]", "x", PCTL_PORT_WHOLE, 0}};
	static const pctl_port list[1] = {{"x", "u32[...]", "x", PCTL_PORT_LIST, 0}};
	static const pctl_port unknown[1] = {{"x", "u32[...]", "x", 64, 0}};
	static const pctl_port out[1] = {{"y", "u32[...]", "x", PCTL_PORT_WHOLE, 0}};
	static const pctl_port through[1] = {{"x", "u32[...]", "x", PCTL_PORT_THROUGH, 0}};
	static const pctl_port out_through[1] = {{"y", "u32[...]", "x", PCTL_PORT_THROUGH, 0}};
	fake_library l;
	fake_row *row;

	(void)state;
	spoiled(&l)->desc.in = whole;
	refused(&l, "the one operand of a function is flagged as whole", "signature",
		"several operands");
	row = spoiled(&l);
	row->desc.in = whole;
	row->desc.kind = PCTL_OPDEF_PLAN;
	row->desc.category = 'C';
	row->desc.hardware = "none";
	refused(&l, "a port of a plan is flagged as whole", "signature", "several operands");
	spoiled(&l)->desc.in = list;
	refused(&l, "an operand of a function is flagged as a list", "signature", "can be a list");
	spoiled(&l)->desc.in = unknown;
	refused(&l, "a port with a flag that does not exist", "signature", "unknown flag");
	spoiled(&l)->desc.out = out;
	refused(&l, "an output is flagged as whole", "signature", "output port has a flag");
	spoiled(&l)->desc.in = through;
	refused(&l, "an operand of a function is flagged to go through functions", "signature",
		"goes through functions");
	spoiled(&l)->desc.out = out_through;
	refused(&l, "a function's output is flagged to go through functions", "signature",
		"one output of a plan");
}

/* Vectors have two or four elements, any shape, and are a function's. */
static void test_gates__vectors(void **state)
{
	static const struct {
		const char *type, *fault, *why;
		uint32_t kind;
	} rows[] = {
		{"vec3<u32>[...]", "a port of vectors of three", "cannot be read",
		 PCTL_OPDEF_FUNCTION},
		{"vec4<u64>[...]", "a port of vectors of u64", "cannot be read",
		 PCTL_OPDEF_FUNCTION},
		{"vec4<u32>[n]", "a port of vectors with a shape", "cannot be read",
		 PCTL_OPDEF_FUNCTION},
		{"vec4<u32>|u32[...]", "a port of vectors or single elements", "cannot be read",
		 PCTL_OPDEF_FUNCTION},
		{"vec4<u32>[...]", "a port of a plan takes vectors", "takes vectors",
		 PCTL_OPDEF_PLAN},
	};
	fake_library l;
	fake_row *row;

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const pctl_port port[1] = {{"v", rows[i].type, "x", 0, 0}};

		row = spoiled(&l);
		row->desc.out = port;
		row->desc.kind = rows[i].kind;
		if (rows[i].kind == PCTL_OPDEF_PLAN) {
			row->desc.category = 'C';
			row->desc.hardware = "none";
		}
		refused(&l, rows[i].fault, "signature", rows[i].why);
	}
}

static void test_gates__places_of_outputs(void **state)
{
	static const pctl_port in[1] = {{"x", "u32[...]", "x", 0, 0}};
	static const pctl_port first[1] = {{"y", "u32[...]", "y", PCTL_PORT_IN_PLACE(0), 0}};
	static const pctl_port second[1] = {{"y", "u32[...]", "y", PCTL_PORT_IN_PLACE(1), 0}};
	static const pctl_port other[1] = {{"y", "u32|i32[...]", "y", PCTL_PORT_IN_PLACE(0), 0}};
	static const pctl_port both[2] = {{"y", "u32[...]", "y", PCTL_PORT_IN_PLACE(0), 0},
					  {"z", "u32[...]", "z", PCTL_PORT_IN_PLACE(0), 0}};
	static const struct {
		const pctl_port *out;
		uint32_t n_out, is_function;
		const char *fault, *why;
	} rows[] = {
		{first, 1, 1, "an output of a function lies in an input's place",
		 "no input of a plan"},
		{second, 1, 0, "an output lies in the place of an input that there is not",
		 "no input of a plan"},
		{other, 1, 0, "an output lies in the place of an input of another type",
		 "another type"},
		{both, 2, 0, "two outputs lie in the place of one input", "place of one input"},
	};
	fake_library l;

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fake_row *row = spoiled(&l);

		row->desc.in = in;
		row->desc.n_in = 1;
		row->desc.out = rows[i].out;
		row->desc.n_out = rows[i].n_out;
		if (!rows[i].is_function) {
			row->desc.kind = PCTL_OPDEF_PLAN;
			row->desc.category = 'C';
			row->desc.hardware = "none";
		}
		refused(&l, rows[i].fault, "signature", rows[i].why);
	}
}

static void test_gates__zero_overhead(void **state)
{
	fake_library l;

	(void)state;
	spoiled(&l)->text = "fn fake_inc(x: u32) -> u32 {\n\tif (x == 0u) {\n\t\treturn 1u;\n\t}\n"
			    "\treturn x + 1u;\n}\n";
	refused(&l, "a text with two returns", "zero overhead", "more than one place");
	/* A helper that returns early cannot be written out either. */
	spoiled(&l)->text =
		"fn fake_inc_low(x: u32) -> u32 {\n\tif (x == 0u) {\n\t\treturn 1u;\n\t}\n"
		"\treturn x + 1u;\n}\n"
		"fn fake_inc(x: u32) -> u32 {\n\treturn fake_inc_low(x);\n}\n";
	refused(&l, "a helper with two returns", "zero overhead", "before its end");
}

static void test_gates__deterministic_reference(void **state)
{
	fake_library l;

	(void)state;
	spoiled(&l)->eval = eval_moody;
	refused(&l, "a reference that counts its calls", "deterministic reference", "other bytes");
	spoiled(&l)->eval = eval_held;
	refused(&l, "a reference that reads its output", "deterministic reference", "other bytes");
}

static void test_gates__observable_reference(void **state)
{
	fake_library l;

	(void)state;
	spoiled(&l)->eval = eval_constant;
	refused(&l, "a reference that always answers 7", "observable reference", "same answer");
}

static void test_gates__rules(void **state)
{
	static const pctl_law unknown[] = {{.law = 99}};
	fake_library l;
	fake_row *row;

	(void)state;
	spoiled(&l)->no_rules = 1;
	refused(&l, "an op without rules", "rules", "no law");
	row = spoiled(&l);
	row->rules.n_laws = row->rules.n_classes = 0;
	refused(&l, "rules without laws and classes", "rules", "no law");
	spoiled(&l)->rules.laws = NULL;
	refused(&l, "a count of laws without laws", "rules", "no table of them");
	spoiled(&l)->rules.laws = unknown;
	refused(&l, "a law of a kind that does not exist", "rules", "unknown kind");
}

PCTL_TESTS_MAIN(PCTL_TEST(test_gates__integer_ops_pass), PCTL_TEST(test_gates__strict_ops_pass),
		PCTL_TEST(test_gates__approximate_ops_pass),
		PCTL_TEST(test_gates__a_plain_op_passes), PCTL_TEST(test_gates__category),
		PCTL_TEST(test_gates__signature), PCTL_TEST(test_gates__flags_of_ports),
		PCTL_TEST(test_gates__vectors), PCTL_TEST(test_gates__places_of_outputs),
		PCTL_TEST(test_gates__lookup_ports), PCTL_TEST(test_gates__zero_overhead),
		PCTL_TEST(test_gates__deterministic_reference),
		PCTL_TEST(test_gates__observable_reference), PCTL_TEST(test_gates__rules))
