/* Laws on columns: those of the int library on 8 bits, and that each of the twelve named laws and custom ones are seen
 * to break when an op is made to fail, with the smallest counterexample. */
#include "test_proof_rig.h"

#include "planted/planted.h"

/* ---- a violator: the reference, but for one op ------------------------------------------------- */

enum { PLUS_ONE = 1, SEVEN, ZERO, SWAPPED, ONE_LANE };

static const char *const hows[] = {
	"",  "one more than is right",	    "7",
	"0", "the operands changed places", "one lane's lowest bit",
};

/* From 100 on (first operand) the op `name` answers wrong; SWAPPED and ZERO everywhere. ONE_LANE: the lane-th element of
 * all it ever answers has its lowest bit turned. */
typedef struct violator {
	pctl_evaluator e;
	pctl_evaluator *reference;
	const char *name;
	uint32_t how, applies;
	uint64_t lane, seen;
} violator;

static void spoil(violator *v, const pctl_op_function *f, const pctl_column *in, uint64_t n,
		  pctl_column *out)
{
	const uint64_t bytes = pctl_proof_dtype_bytes(f->dtype);
	const uint64_t out_bytes = pctl_proof_dtype_bytes(f->out_dtype);

	for (uint64_t i = 0; i < n; i++) {
		uint8_t *at = out->data + i * out_bytes;
		uint64_t a = 0;

		memcpy(&a, in[0].data + i * bytes, bytes < 8 ? bytes : 8);
		if (v->how == ONE_LANE)
			*at ^= v->seen + i == v->lane;
		else if (v->how == ZERO)
			memset(at, 0, out_bytes);
		else if (v->how == SEVEN && a >= 100)
			memcpy(at, "\7\0\0\0", 4);
		else if (v->how == PLUS_ONE && a >= 100)
			for (uint64_t k = 0; k < out_bytes && ++at[k] == 0; k++)
				;
	}
	v->seen += n;
}

static pctl_status violate(void *ctx, const pctl_op_function *f, const pctl_column *in, uint64_t n,
			   pctl_column *out, const pctl_call *call)
{
	violator *v = ctx;
	const int is_it = strcmp(f->op.desc->name, v->name) == 0;
	const pctl_column turned[2] = {in[f->n_in > 1 ? 1 : 0], in[0]};
	pctl_status status = v->reference->apply(
		v->reference->ctx, f, is_it && v->how == SWAPPED ? turned : in, n, out, call);

	v->applies += (uint32_t)is_it;
	if (status == PCTL_OK && is_it)
		spoil(v, f, in, n, out);
	return status;
}

static void violator_make(violator *v, proof_rig *r, const char *name, uint32_t how)
{
	*v = (violator){.reference = r->reference, .name = name, .how = how};
	v->e = (pctl_evaluator){.ctx = v, .name = "violator", .apply = violate};
}

/* ---- the laws of the library ------------------------------------------------------------------ */

/* Of ternary laws every fifth block, the last among them: certify runs them all. */
static uint64_t check_all(proof_rig *r, const pctl_law_equation *l)
{
	pctl_domain d = pctl_domain_make(PCTL_DOMAIN_EXHAUSTIVE8, l->dtype, l->n_vars, 1, 0);
	const uint64_t step = l->n_vars == 3 ? 21 * PCTL_PROOF_BLOCK : PCTL_PROOF_BLOCK;
	uint64_t cases = 0;
	pctl_column c[3];

	if (l->n_vars == 0)
		d.n_cases = 1;
	proof_columns(c, 3, PCTL_PROOF_BLOCK);
	for (uint64_t first = 0; first < d.n_cases; first += step) {
		const uint64_t left = d.n_cases - first,
			       n = left < PCTL_PROOF_BLOCK ? left : PCTL_PROOF_BLOCK;
		pctl_law_outcome out;

		pctl_domain_fill(&d, first, n, c);
		assert_int_equal(
			pctl_law_check(l, r->reference, r->reference, c, n, NULL, r->call, &out),
			PCTL_OK);
		if (out.failures != 0)
			fail_msg("\"%s\" fails", l->text);
		assert_int_equal(out.cases + out.skipped, n);
		cases += out.cases;
	}
	proof_columns_free(c, 3);
	return cases;
}

static void library(void **state)
{
	uint32_t n_laws = 0, n_ops = 0;
	proof_rig r;

	(void)state;
	proof_open(&r);
	for (uint32_t i = 0; i < proof_source.count(NULL); i++) {
		pctl_arena *arena = pctl_arena_create();
		pctl_law_equation *all;
		uint32_t n, prose;
		pctl_op_function f;
		pctl_op_ref op = {0};

		proof_source.at(NULL, i, &op);
		if (strncmp(op.desc->name, "int.", 4) == 0 &&
		    pctl_function_find(&proof_source, op.desc->name, NULL, PCTL_SCALAR_U32, &f)) {
			if (pctl_laws_of(&proof_source, &f, arena, r.call, &all, &n, &prose) !=
				    PCTL_OK ||
			    prose != 0)
				fail_msg("%s: %s", op.desc->name, proof_last(&r)->message);
			for (uint32_t k = 0; k < n; k++)
				if (check_all(&r, &all[k]) == 0)
					fail_msg("\"%s\" is never seen", all[k].text);
			n_laws += n;
			n_ops++;
		}
		pctl_arena_destroy(arena);
	}
	assert_true(n_ops >= 25 && n_laws >= 2 * n_ops);
	proof_close(&r);
}

/* ---- violations ------------------------------------------------------------------------------- */

struct violation {
	const char *op;
	uint32_t dtype, how;
	pctl_law law;
	const char *spoilt; /* NULL: the op */
	const char *name;   /* of the equation that breaks */
	const char *text;   /* as it reads */
	uint32_t minimal[3];
};
#define U32 PCTL_SCALAR_U32

static const struct violation violations[] = {
	{"int.add",
	 U32,
	 PLUS_ONE,
	 {.law = PCTL_LAW_COMMUTATIVE},
	 NULL,
	 "commutative",
	 "add(a, b) = add(b, a)",
	 {100, 0}},
	{"int.add",
	 U32,
	 PLUS_ONE,
	 {.law = PCTL_LAW_ASSOCIATIVE},
	 NULL,
	 "associative",
	 "add(add(a, b), c) = add(a, add(b, c))",
	 {1, 99, 0}},
	{"int.add",
	 U32,
	 PLUS_ONE,
	 {.law = PCTL_LAW_IDENTITY},
	 NULL,
	 "identity on the right",
	 "add(a, 0) = a",
	 {100}},
	{"int.mul",
	 U32,
	 ZERO,
	 {.law = PCTL_LAW_IDENTITY, .a = 1},
	 NULL,
	 "identity on the left",
	 "mul(1, a) = a",
	 {1}},
	{"int.sub",
	 U32,
	 PLUS_ONE,
	 {.law = PCTL_LAW_SELF_INVERSE},
	 NULL,
	 "self-inverse",
	 "sub(a, a) = 0",
	 {100}},
	{"int.or",
	 U32,
	 PLUS_ONE,
	 {.law = PCTL_LAW_IDEMPOTENT},
	 NULL,
	 "idempotent",
	 "or(a, a) = a",
	 {100}},
	{"int.mul",
	 U32,
	 PLUS_ONE,
	 {.law = PCTL_LAW_ABSORBING},
	 NULL,
	 "absorbing on the right",
	 "mul(a, 0) = 0",
	 {100}},
	{"int.or",
	 U32,
	 ZERO,
	 {.law = PCTL_LAW_ABSORBING, .a = UINT64_MAX},
	 NULL,
	 "absorbing on the left",
	 "or(0xffffffff, a) = 0xffffffff",
	 {0}},
	{"int.mul",
	 U32,
	 PLUS_ONE,
	 {.law = PCTL_LAW_DISTRIBUTIVE_OVER, .other = "int.add"},
	 NULL,
	 "distributive over add",
	 "mul(a, add(b, c)) = add(mul(a, b), mul(a, c))",
	 {100, 0, 0}},
	{"int.not",
	 U32,
	 PLUS_ONE,
	 {.law = PCTL_LAW_INVOLUTION},
	 NULL,
	 "involution",
	 "not(not(a)) = a",
	 {0}},
	{"ieee.to_f32",
	 U32,
	 SEVEN,
	 {.law = PCTL_LAW_MONOTONE},
	 NULL,
	 "monotone",
	 "a <= b, number to_f32(a), number to_f32(b): to_f32(a) <= to_f32(b)",
	 {1, 100}},
	{"int.lnot",
	 U32,
	 SEVEN,
	 {.law = PCTL_LAW_BOUNDED, .a = 0, .b = 1},
	 NULL,
	 "bounded from above",
	 "lnot(a) <= 1",
	 {100}},
	{"int.not",
	 PCTL_SCALAR_I32,
	 SEVEN,
	 {.law = PCTL_LAW_BOUNDED, .a = 0, .b = UINT64_MAX},
	 NULL,
	 "bounded from above",
	 "not(a) <= -1",
	 {100}},
	{"int.not",
	 U32,
	 PLUS_ONE,
	 {.law = PCTL_LAW_DE_MORGAN, .other = "int.and", .dual = "int.or"},
	 "int.and",
	 "De Morgan of and and or",
	 "not(and(a, b)) = or(not(a), not(b))",
	 {100, 0}},
	{"int.eq",
	 U32,
	 PLUS_ONE,
	 {.law = PCTL_LAW_COMPLEMENT, .a = 1, .other = "int.ne"},
	 NULL,
	 "complement of ne",
	 "int.add(eq(a, b), ne(a, b)) = 1",
	 {100, 0}},
	{"int.sub",
	 U32,
	 PLUS_ONE,
	 {.law = PCTL_LAW_CUSTOM, .custom = "sub(a, b) = add(a, neg(b))"},
	 NULL,
	 "custom 1",
	 "sub(a, b) = add(a, neg(b))",
	 {100, 0}},
	{"int.sub",
	 U32,
	 SWAPPED,
	 {.law = PCTL_LAW_CUSTOM, .custom = "sub(x, 0) = x"},
	 NULL,
	 "custom 1",
	 "sub(x, 0) = x",
	 {1}},
	{"int.mod",
	 U32,
	 PLUS_ONE,
	 {.law = PCTL_LAW_CUSTOM, .custom = "b != 0: mod(a, b) < b"},
	 NULL,
	 "custom 1",
	 "b != 0: mod(a, b) < b",
	 {100, 1}},
};

static void to_values(const pctl_column *c, uint32_t n_vars, uint64_t i, uint8_t (*values)[16])
{
	for (uint32_t v = 0; v < n_vars; v++) {
		memset(values[v], 0, 16);
		memcpy(values[v], c[v].data + 4 * i, 4);
	}
}

/* The equation of that name, or NULL; all equations must hold of the reference. */
static const pctl_law_equation *equation(proof_rig *r, const struct violation *v, pctl_arena *arena)
{
	const pctl_op_rules rules = {
		.head = PCTL_HEAD(pctl_op_rules), .laws = &v->law, .n_laws = 1};
	const pctl_op_function f = proof_function(v->op, v->dtype);
	const pctl_law_equation *found = NULL;
	pctl_law_equation *all;
	uint32_t n, prose;

	assert_int_equal(
		pctl_laws_of_rules(&proof_source, &f, &rules, arena, r->call, &all, &n, &prose),
		PCTL_OK);
	assert_int_equal(prose, 0);
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(all[i].name, v->name) == 0)
			found = &all[i];
	return found;
}

/* The last failing tuple, one with a first operand from 100 on before others: the way down is the shrinker's. */
static uint64_t far_failing(proof_rig *r, const pctl_law_equation *l, pctl_evaluator *faulty,
			    const pctl_column *c, uint64_t n)
{
	uint64_t last = 0, large = UINT64_MAX;

	for (uint64_t i = 0; i < n; i += i < n - 2000 ? 7 : 1) {
		pctl_law_outcome out;
		pctl_column one[3];

		for (uint32_t k = 0; k < l->n_vars; k++)
			one[k] =
				(pctl_column){.dtype = l->dtype, .n = 1, .data = c[k].data + 4 * i};
		assert_int_equal(
			pctl_law_check(l, faulty, r->reference, one, 1, NULL, r->call, &out),
			PCTL_OK);
		if (out.failures == 0)
			continue;
		last = i;
		if (one[0].data[0] >= 100)
			large = i;
	}
	return large != UINT64_MAX ? large : last;
}

/* What the law says at the smallest tuple that breaks it, for the table. */
static void tell(proof_rig *r, const struct violation *v, const pctl_law_equation *l,
		 const uint8_t (*values)[16], violator *faulty)
{
	char fault[128], law[64], text[256], got[16], want[16];
	pctl_column one[3];
	pctl_law_outcome out;
	uint32_t word;
	int n = snprintf(text, sizeof(text), "%s, at", l->text);

	for (uint32_t k = 0; k < l->n_vars; k++) {
		one[k] = (pctl_column){
			.dtype = l->dtype, .n = 1, .data = (uint8_t *)(uintptr_t)values[k]};
		memcpy(&word, values[k], 4);
		n += snprintf(text + n, sizeof(text) - (size_t)n, " 0x%08x", word);
	}
	assert_int_equal(pctl_law_check(l, &faulty->e, r->reference, one, 1, NULL, r->call, &out),
			 PCTL_OK);
	assert_int_equal(out.failures, 1);
	memcpy(&word, out.left, 4);
	snprintf(got, sizeof(got), "0x%08x", word);
	memcpy(&word, out.right, 4);
	snprintf(want, sizeof(want), "0x%08x", word);
	snprintf(fault, sizeof(fault), "%s answers wrong: %s", faulty->name, hows[faulty->how]);
	snprintf(law, sizeof(law), "law: %s", l->name);
	planted(fault, v->op, law, planted_case(text, got, want));
}

static void violated(proof_rig *r, const struct violation *v)
{
	const char *spoilt = v->spoilt != NULL ? v->spoilt : v->op;
	pctl_arena *arena = pctl_arena_create();
	const pctl_law_equation *l = equation(r, v, arena);
	pctl_law_outcome good, bad;
	uint8_t values[3][16];
	pctl_column c[3];
	pctl_domain d;
	violator faulty;
	uint64_t n;

	assert_non_null(l);
	assert_string_equal(l->text, v->text);
	d = pctl_domain_make(PCTL_DOMAIN_EXHAUSTIVE8, v->dtype, l->n_vars, 1, 0);
	n = d.n_cases < PCTL_PROOF_BLOCK ? d.n_cases : PCTL_PROOF_BLOCK;
	proof_columns(c, 3, n);
	pctl_domain_fill(&d, 0, n, c);
	violator_make(&faulty, r, spoilt, v->how);
	assert_int_equal(pctl_law_check(l, &faulty.e, r->reference, c, n, NULL, r->call, &bad),
			 PCTL_OK);
	assert_int_equal(pctl_law_check(l, r->reference, r->reference, c, n, NULL, r->call, &good),
			 PCTL_OK);
	/* Bounded by -1 is not of negative operands. */
	if (v->dtype == U32)
		assert_int_equal(good.failures, 0);
	assert_true(bad.failures != 0 && bad.cases != 0);
	to_values(c, l->n_vars, far_failing(r, l, &faulty.e, c, n), values);
	assert_int_equal(pctl_law_shrink(l, &faulty.e, r->reference, values, r->call), PCTL_OK);
	for (uint32_t k = 0; k < l->n_vars; k++) {
		uint32_t got;

		memcpy(&got, values[k], 4);
		if (got != v->minimal[k])
			fail_msg("\"%s\" at operand %u: %u, not %u", l->text, k, got,
				 v->minimal[k]);
	}
	tell(r, v, l, (const uint8_t(*)[16])values, &faulty);
	proof_columns_free(c, 3);
	pctl_arena_destroy(arena);
}

static void violators(void **state)
{
	uint32_t seen = 0;
	proof_rig r;

	(void)state;
	proof_open(&r);
	for (uint32_t i = 0; i < sizeof(violations) / sizeof(violations[0]); i++) {
		violated(&r, &violations[i]);
		seen |= 1u << violations[i].law.law;
	}
	assert_int_equal(seen, (1u << (PCTL_LAW_CUSTOM + 1)) - 2);
	proof_close(&r);
}

/* ---- both sides stand alone ------------------------------------------------------------------- */

#define TUPLES (UINT64_C(1) << 20)

static void one_lane_in_a_million(void **state)
{
	const struct violation v = {.op = "int.add",
				    .dtype = U32,
				    .law = {.law = PCTL_LAW_COMMUTATIVE},
				    .name = "commutative"};
	pctl_arena *arena = pctl_arena_create();
	uint64_t failures = 0, lane = 3 * PCTL_PROOF_BLOCK + 777;
	const pctl_law_equation *l;
	pctl_domain d = pctl_domain_make(PCTL_DOMAIN_RANDOM, U32, 2, 7, TUPLES);
	pctl_column c[2];
	violator faulty;
	proof_rig r;

	(void)state;
	proof_open(&r);
	l = equation(&r, &v, arena);
	proof_columns(c, 2, PCTL_PROOF_BLOCK);
	violator_make(&faulty, &r, "int.add", ONE_LANE);
	faulty.lane = lane; /* of the right side of the second block */
	for (uint64_t first = 0; first < TUPLES; first += PCTL_PROOF_BLOCK) {
		uint8_t values[2][16], before[2][16];
		uint32_t words[2];
		char text[128];
		pctl_law_outcome out;

		pctl_domain_fill(&d, first, PCTL_PROOF_BLOCK, c);
		assert_int_equal(pctl_law_check(l, &faulty.e, r.reference, c, PCTL_PROOF_BLOCK,
						NULL, r.call, &out),
				 PCTL_OK);
		failures += out.failures;
		if (out.failures == 0)
			continue;
		assert_true(first == PCTL_PROOF_BLOCK && out.at == 777);
		assert_int_equal(out.left[0] ^ out.right[0], 1);
		memcpy(words, c[0].data + 4 * out.at, 4);
		memcpy(words + 1, c[1].data + 4 * out.at, 4);
		snprintf(text, sizeof(text), "case %u of %u, at 0x%08x 0x%08x, bit 0",
			 (unsigned)(first + out.at), (unsigned)TUPLES, words[0], words[1]);
		planted("one lane of 10^6 has its lowest bit turned", "int.add", "law: commutative",
			text);
		to_values(c, 2, out.at, values);
		memcpy(before, values, sizeof(before));
		/* It does not fail alone: nothing smaller is claimed. */
		assert_int_equal(pctl_law_shrink(l, &faulty.e, r.reference, values, r.call),
				 PCTL_OK);
		assert_memory_equal(before, values, sizeof(before));
	}
	assert_int_equal(failures, 1);
	assert_true(faulty.applies >= 8); /* two a block */
	proof_columns_free(c, 2);
	pctl_arena_destroy(arena);
	proof_close(&r);
}

/* ---- floats ----------------------------------------------------------------------------------- */

struct counted {
	const char *text;
	uint64_t cases, failures;
};

/* All 65536 values of f16. NaNs: 2046, infinities 2, zeros 2, subnormals 2046. */
static const struct counted counts[] = {
	{"neg(neg(a)) = a", 65536, 0},
	{"number a: neg(neg(a)) = a", 63490, 0},
	{"finite a: abs(a) < Inf", 63488, 0},
	{"normal a: a != +0", 61440, 0},
	{"finite a: add(a, neg(a)) = +0", 63488, 0},
	{"abs(a) >= +0", 65536, 2046},
	{"a <= a", 65536, 2046},
	{"a = a", 65536, 0},
	{"a != NaN", 65536, 1},
	{"a < +0", 65536, 65536 - 31745}, /* -0 is below +0, all numbers with a sign are */
	{"a <= -0", 65536, 65536 - 31745},
	{"-0 < +0", 1, 0},
	{"a > -Inf", 65536, 2047},
	{"u32[width] = 32", 1, 0},
	{"a < 0x7c00: abs(a) <= 65504", 31744 + 31744 + 1, 1}, /* -Inf */
	{"f16 | width = 16", 1, 0},
	{"normal 1.5: 0x3e00 = 1.5", 1, 0},
	{"lt(a, 1) = eq(a, a)", 65536, 65536 - 47105 - 2046},
	{"number a: bf16(abs(f16(bf16(a)))) = bf16(abs(a))", 63490, 0},
};

static void floats(void **state)
{
	pctl_arena *arena = pctl_arena_create();
	pctl_domain d;
	pctl_column c[2];
	proof_rig r;

	(void)state;
	proof_open(&r);
	proof_columns(c, 2, 65536);
	d = pctl_domain_make(PCTL_DOMAIN_EXHAUSTIVE16, PCTL_SCALAR_F16, 1, 1, 0);
	pctl_domain_fill(&d, 0, 65536, c);
	for (uint32_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		const struct violation v = {
			.op = "ieee.neg",
			.dtype = PCTL_SCALAR_F16,
			.law = {.law = PCTL_LAW_CUSTOM, .custom = counts[i].text},
			.name = "custom 1"};
		const pctl_law_equation *l = equation(&r, &v, arena);
		pctl_law_outcome out;

		if (l == NULL)
			fail_msg("%s: %s", counts[i].text, proof_last(&r)->message);
		assert_int_equal(pctl_law_check(l, r.reference, r.reference, c,
						l->n_vars == 0 ? 1 : 65536, NULL, r.call, &out),
				 PCTL_OK);
		if (out.cases != counts[i].cases || out.failures != counts[i].failures)
			fail_msg("\"%s\": %u of %u fail", counts[i].text, (unsigned)out.failures,
				 (unsigned)out.cases);
	}
	proof_columns_free(c, 2);
	pctl_arena_destroy(arena);
	proof_close(&r);
}

/* A guard is the reference's: a device whose op is always false cannot excuse itself. The digest is of both sides of
 * what the guard leaves. */
static void guards_and_digests(void **state)
{
	const struct violation v = {.op = "int.mod",
				    .dtype = U32,
				    .law = {.law = PCTL_LAW_CUSTOM,
					    .custom = "lnot(b) = 0, lt(a, 4) = 1: mod(a, b) <= a"},
				    .name = "custom 1"};
	static const uint32_t a[4] = {9, 3, 2, 1}, b[4] = {1, 2, 0, 7};
	static const uint32_t sides[4] = {1, 1, 3, 1}; /* of the second and fourth tuple */
	pctl_column c[2] = {{.dtype = U32, .n = 4, .data = (uint8_t *)(uintptr_t)a},
			    {.dtype = U32, .n = 4, .data = (uint8_t *)(uintptr_t)b}};
	pctl_arena *arena = pctl_arena_create();
	pctl_law_outcome out;
	pctl_hasher *hash;
	pctl_cid got, want;
	violator faulty;
	proof_rig r;

	(void)state;
	proof_open(&r);
	violator_make(&faulty, &r, "int.lt", ZERO);
	assert_int_equal(pctl_hasher_create(r.call, &hash), PCTL_OK);
	assert_int_equal(pctl_law_check(equation(&r, &v, arena), &faulty.e, r.reference, c, 4, hash,
					r.call, &out),
			 PCTL_OK);
	assert_int_equal(pctl_hasher_finish(hash, &got), PCTL_OK);
	assert_int_equal(pctl_cid_of(sides, sizeof(sides), r.call, &want), PCTL_OK);
	assert_true(out.cases == 2 && out.skipped == 2 && out.failures == 0);
	assert_memory_equal(&got, &want, sizeof(got));
	pctl_arena_destroy(arena);
	proof_close(&r);
}

PCTL_TESTS_MAIN(PCTL_TEST(library), PCTL_TEST(violators), PCTL_TEST(one_lane_in_a_million),
		PCTL_TEST(floats), PCTL_TEST(guards_and_digests))
