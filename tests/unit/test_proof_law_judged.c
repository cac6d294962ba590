/* Laws that random cases judge: none of the ieee library speaks only of values that random bits never are, so that its level would
 * rest on nothing; and a device whose exp ends at the largest number breaks what silu's law says of x far below zero, and no other. */
#include "test_proof_rig.h"

#include "planted/planted.h"

#define CASES UINT64_C(1024)

static void random_columns(uint32_t dtype, uint32_t n_vars, pctl_column *c)
{
	const pctl_domain d = pctl_domain_make(PCTL_DOMAIN_RANDOM, dtype, n_vars, 1, CASES);

	pctl_domain_fill(&d, 0, CASES, c);
}

/* ---- every law is judged ---------------------------------------------------------------------- */

static uint32_t judge_op(proof_rig *r, const char *name, uint32_t dtype, pctl_column *c)
{
	pctl_arena *arena = pctl_arena_create();
	pctl_law_equation *all;
	uint32_t n = 0, prose;
	pctl_op_function f;

	if (!pctl_function_find(&proof_source, name, NULL, dtype, &f))
		goto out;
	assert_int_equal(pctl_laws_of(&proof_source, &f, arena, r->call, &all, &n, &prose),
			 PCTL_OK);
	for (uint32_t k = 0; k < n; k++) {
		pctl_law_outcome found;

		if (all[k].n_vars == 0)
			continue;
		random_columns(all[k].dtype, all[k].n_vars, c);
		assert_int_equal(pctl_law_check(&all[k], r->reference, r->reference, c, CASES, NULL,
						r->call, &found),
				 PCTL_OK);
		if (found.failures != 0)
			fail_msg("%s: \"%s\" fails", name, all[k].text);
		if (found.cases == 0)
			fail_msg("%s: \"%s\": no random case is judged", name, all[k].text);
	}
out:
	pctl_arena_destroy(arena);
	return n;
}

static void every_law(void **state)
{
	static const uint32_t dtypes[] = {PCTL_SCALAR_F32, PCTL_SCALAR_F16, PCTL_SCALAR_BF16};
	uint32_t n = 0;
	pctl_column c[3];
	proof_rig r;

	(void)state;
	proof_open(&r);
	proof_columns(c, 3, CASES);
	for (uint32_t i = 0; i < proof_source.count(NULL); i++) {
		pctl_op_ref op = {0};

		proof_source.at(NULL, i, &op);
		for (uint32_t k = 0; k < 3 && strncmp(op.desc->name, "ieee.", 5) == 0; k++)
			n += judge_op(&r, op.desc->name, dtypes[k], c);
	}
	assert_true(n > 300);
	proof_columns_free(c, 3);
	proof_close(&r);
}

/* ---- a mutant --------------------------------------------------------------------------------- */

/* The reference, but exp gives the largest number where it is above it, and silu is made of that exp. */
typedef struct saturated {
	pctl_evaluator e;
	pctl_evaluator *reference;
} saturated;

static float float_of(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, 4);
	return f;
}

#define LARGEST 0x7f7fffffu
#define INF 0x7f800000u
#define NEGATIVE_INF 0xff800000u
#define NEGATIVE_ZERO 0x80000000u

/* The op's bits, x being its operand. */
static uint32_t mutate(const char *op, uint32_t x, uint32_t bits)
{
	if (strcmp(op, "ieee.exp") == 0)
		return bits == INF && x != INF ? LARGEST : bits;
	if (strcmp(op, "ieee.silu") == 0 && bits == NEGATIVE_ZERO && x != NEGATIVE_ZERO &&
	    x != NEGATIVE_INF) {
		const float quotient = float_of(x) / float_of(LARGEST);

		memcpy(&bits, &quotient, 4);
	}
	return bits;
}

static pctl_status saturate(void *ctx, const pctl_op_function *f, const pctl_column *in, uint64_t n,
			    pctl_column *out, const pctl_call *call)
{
	saturated *s = ctx;
	const pctl_status status = s->reference->apply(s->reference->ctx, f, in, n, out, call);

	for (uint64_t i = 0; status == PCTL_OK && f->dtype == PCTL_SCALAR_F32 && i < n; i++) {
		uint32_t x, y;

		memcpy(&x, in[0].data + 4 * i, 4);
		memcpy(&y, out->data + 4 * i, 4);
		y = mutate(f->op.desc->name, x, y);
		memcpy(out->data + 4 * i, &y, 4);
	}
	return status;
}

static pctl_law_outcome judge(proof_rig *r, const char *text, pctl_evaluator *device,
			      const pctl_column *c, uint64_t n)
{
	const pctl_law law = {.law = PCTL_LAW_CUSTOM, .custom = text};
	const pctl_op_rules rules = {.head = PCTL_HEAD(pctl_op_rules), .laws = &law, .n_laws = 1};
	const pctl_op_function f = proof_function("ieee.silu", PCTL_SCALAR_F32);
	pctl_arena *arena = pctl_arena_create();
	pctl_law_equation *all;
	pctl_law_outcome out;
	uint32_t k, prose;

	assert_int_equal(
		pctl_laws_of_rules(&proof_source, &f, &rules, arena, r->call, &all, &k, &prose),
		PCTL_OK);
	assert_int_equal(k, 1);
	assert_int_equal(pctl_law_check(&all[0], device, r->reference, c, n, NULL, r->call, &out),
			 PCTL_OK);
	pctl_arena_destroy(arena);
	return out;
}

/* The law of the library that begins so. */
static const char *law_of(const char *beginning)
{
	const pctl_op_function f = proof_function("ieee.silu", PCTL_SCALAR_F32);
	const pctl_op_rules *rules = f.op.lib->rules(f.op.inst, f.op.index);

	for (uint32_t i = 0; i < rules->n_laws; i++)
		if (strncmp(rules->laws[i].custom, beginning, strlen(beginning)) == 0)
			return rules->laws[i].custom;
	fail_msg("no law of silu begins \"%s\"", beginning);
	return NULL;
}

static void mutant(void **state)
{
	pctl_law_outcome out;
	char text[256], got[16], want[16];
	uint32_t words[3];
	pctl_column c;
	saturated s;
	proof_rig r;

	(void)state;
	proof_open(&r);
	proof_columns(&c, 1, CASES);
	random_columns(PCTL_SCALAR_F32, 1, &c);
	s = (saturated){.reference = r.reference};
	s.e = (pctl_evaluator){.ctx = &s, .name = "saturated", .apply = saturate};
	/* Both sides of the first law have the same wrong exp; -Inf alone is no random case. */
	out = judge(&r, law_of("x > -Inf:"), &s.e, &c, CASES);
	assert_true(out.cases != 0 && out.failures == 0);
	out = judge(&r, law_of("x >= 40:"), &s.e, &c, CASES);
	assert_true(out.cases != 0 && out.failures == 0);
	out = judge(&r, "x = -Inf: silu(x) = -0", &s.e, &c, CASES);
	assert_true(out.cases == 0 && out.skipped == CASES);
	out = judge(&r, law_of("f32 |"), &s.e, &c, CASES);
	assert_true(out.cases > CASES / 8 && out.failures == out.cases);
	memcpy(words, c.data + 4 * out.at, 4);
	memcpy(words + 1, out.left, 4);
	memcpy(words + 2, out.right, 4);
	snprintf(text, sizeof(text), "%s, at 0x%08x", law_of("f32 |"), words[0]);
	snprintf(got, sizeof(got), "0x%08x", words[1]);
	snprintf(want, sizeof(want), "0x%08x", words[2]);
	planted("exp ends at the largest number, and silu is made of it", "ieee.silu",
		"law: custom 2", planted_case(text, got, want));
	proof_columns_free(&c, 1);
	proof_close(&r);
}

/* ---- the bounds are the first values of their kind -------------------------------------------- */

struct bound {
	const char *op;
	uint32_t dtype, zero, number; /* bits: the bound, and its neighbour nearer zero */
};

static const struct bound bounds[] = {
	{"ieee.silu", PCTL_SCALAR_F32, 0xc2b17218, 0xc2b17217},
	{"ieee.silu", PCTL_SCALAR_F16, 0xc98c, 0xc98b},
	{"ieee.silu", PCTL_SCALAR_BF16, 0xc2b2, 0xc2b1},
	{"ieee.mish", PCTL_SCALAR_F32, 0xc1851592, 0xc1851591},
	{"ieee.mish", PCTL_SCALAR_F16, 0xc7a0, 0xc79f},
	{"ieee.mish", PCTL_SCALAR_BF16, 0xc0b2, 0xc0b1},
};

static void first_zeros(void **state)
{
	proof_rig r;

	(void)state;
	proof_open(&r);
	for (uint32_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
		const struct bound *b = &bounds[i];
		const pctl_op_function f = proof_function(b->op, b->dtype);
		const uint64_t bytes = pctl_proof_dtype_bytes(b->dtype);
		const uint32_t sign = 1u << (8 * bytes - 1);
		uint32_t y[2] = {0, 0};
		pctl_column in, out;

		proof_columns(&in, 1, 2);
		proof_columns(&out, 1, 2);
		in.dtype = out.dtype = b->dtype;
		memcpy(in.data, &b->zero, bytes);
		memcpy(in.data + bytes, &b->number, bytes);
		assert_int_equal(r.reference->apply(r.reference->ctx, &f, &in, 2, &out, r.call),
				 PCTL_OK);
		memcpy(&y[0], out.data, bytes);
		memcpy(&y[1], out.data + bytes, bytes);
		if (y[0] != sign || y[1] <= sign)
			fail_msg("%s at 0x%x and 0x%x: 0x%x and 0x%x", b->op, b->zero, b->number,
				 y[0], y[1]);
		proof_columns_free(&in, 1);
		proof_columns_free(&out, 1);
	}
	proof_close(&r);
}

PCTL_TESTS_MAIN(PCTL_TEST(every_law), PCTL_TEST(mutant), PCTL_TEST(first_zeros))
