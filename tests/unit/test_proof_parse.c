/* Law texts: what is read, what every malformed one is told and where, and that no bytes break the reader. */
#include "test_proof_rig.h"

#include "evidence/proof/law_private.h"

struct good {
	const char *op;
	uint32_t dtype;
	const char *text;
	uint32_t n_vars, n_guards;
};

static const struct good goods[] = {
	{"int.add", PCTL_SCALAR_U32, "add(a, b) = add(b, a)", 2, 0},
	{"int.add", PCTL_DTYPE_U128, "  add ( x , neg( x ) )=0 ", 1, 0},
	{"int.add", PCTL_SCALAR_I32, "a > -3, b <= 0x7f : int.add(a, b) >= -2147483648", 2, 2},
	{"int.popcount", PCTL_SCALAR_U64, "popcount(x) <= width", 1, 0},
	{"int.shl", PCTL_SCALAR_U32, "u32, i32 | b < width: shl(a, b) = mul(a, shl(1, b))", 2, 1},
	{"int.lt", PCTL_SCALAR_I32, "lt(a, b) = gt(b, a)", 2, 0},
	{"int.lt", PCTL_SCALAR_I32, "i32(lt(a, 0)) = i32[1]", 1, 0},
	{"ieee.add", PCTL_SCALAR_F32, "number a: add(a, -0) = a", 1, 1},
	{"ieee.add", PCTL_SCALAR_F16, "f16, bf16 | finite a, normal add(a, c): add(a, c) != +Inf",
	 3, 2},
	{"ieee.exp", PCTL_SCALAR_F32, "exp(0) = 1", 0, 0},
	{"ieee.exp", PCTL_SCALAR_BF16, "exp(-Inf) = +0", 0, 0},
	{"ieee.sqrt", PCTL_SCALAR_F32, "a < -1.5e-7: sqrt(a) = NaN", 1, 1},
	{"ieee.to_f32", PCTL_SCALAR_F16, "f16 | number x: to_f16(to_f32(x)) = x", 1, 1},
	{"ieee.to_f32", PCTL_SCALAR_U32, "x < 16777216: to_u32(to_f32(x)) = x", 1, 1},
	{"ieee.abs", PCTL_SCALAR_F32, "u32(abs(x)) = int.and(u32(x), 0x7fffffff)", 1, 0},
};

static void reads(void **state)
{
	proof_rig r;

	(void)state;
	proof_open(&r);
	for (uint32_t i = 0; i < sizeof(goods) / sizeof(goods[0]); i++) {
		const pctl_op_function f = proof_function(goods[i].op, goods[i].dtype);
		pctl_arena *arena = pctl_arena_create();
		pctl_law_equation e = {0};
		pctl_law_fault fault;
		pctl_law_tree tree;

		if (!pctl_law_parse(goods[i].text, arena, &tree, &fault) ||
		    !pctl_law_type(&tree, &proof_source, &f, arena, &e, &fault))
			fail_msg("\"%s\": %s at %u", goods[i].text, fault.message, fault.at);
		assert_int_equal(e.n_vars, goods[i].n_vars);
		assert_int_equal(e.n_guards, goods[i].n_guards);
		assert_int_equal(e.claim.left->dtype, e.claim.right->dtype);
		pctl_arena_destroy(arena);
	}
	proof_close(&r);
}

/* ---- faults ----------------------------------------------------------------------------------- */

struct bad {
	const char *op;
	uint32_t dtype;
	const char *text;
	uint32_t code, column;
	const char *says;
};

#define DEEP "neg(neg(neg(neg(neg(neg(neg(neg("
static const struct bad bads[] = {
	{"int.add", PCTL_SCALAR_U32, "", 5301, 1, "the text ends where a term should stand"},
	{"int.add", PCTL_SCALAR_U32, "add(a, 0) = a for every a", 5301, 15,
	 "\"for\" stands where the end of the law should"},
	{"int.add", PCTL_SCALAR_U32, "not associative: it is not", 5301, 1, "neither an operand"},
	{"int.add", PCTL_SCALAR_U32, "add(a, b)", 5301, 10, "ends where a relation"},
	{"int.add", PCTL_SCALAR_U32, "add(a, b) =", 5301, 12, "ends where a term"},
	{"int.add", PCTL_SCALAR_U32, "add(a, b = a", 5301, 10, "\",\" or \")\""},
	{"int.add", PCTL_SCALAR_U32, "add(a b) = a", 5301, 7, "\"b\" stands where"},
	{"int.add", PCTL_SCALAR_U32, "add(a, d) = a", 5301, 8, "\"d\" is neither"},
	{"int.add", PCTL_SCALAR_U32, "add(a, ) = a", 5301, 8, "\")\" stands where a term"},
	{"int.add", PCTL_SCALAR_U32, "add(a, b, c) = a", 5301, 1, "takes 2 operands, not 3"},
	{"int.add", PCTL_SCALAR_U32, "add(a, b, c, a, b) = a", 5301, 16, "at most 4"},
	{"int.add", PCTL_SCALAR_U32, "a == b", 5301, 4, "\"=\" stands where a term"},
	{"int.add", PCTL_SCALAR_U32, "a ! b", 5301, 3, "a relation"},
	{"int.add", PCTL_SCALAR_U32, "a < b: ", 5301, 8, "ends where a term"},
	{"int.add", PCTL_SCALAR_U32, "a < b; a = b", 5301, 6, "\";\" stands where the end"},
	{"int.add", PCTL_SCALAR_U32, "a < b c : a = b", 5301, 7, "\",\" or \":\""},
	{"int.add", PCTL_SCALAR_U32, "unsigned, b != 0: mod(a, b) < b", 5301, 1, "unsigned"},
	{"int.add", PCTL_SCALAR_U32, "f99 | a = a", 5301, 1, "f99"},
	{"int.add", PCTL_SCALAR_U32, "a = 4294967296", 5301, 5, "no number of u32"},
	{"int.add", PCTL_SCALAR_I32, "a = 2147483648", 5301, 5, "no number of i32"},
	{"int.add", PCTL_SCALAR_U32, "a = 1.5", 5301, 5, "no number of u32"},
	{"int.add", PCTL_SCALAR_U32, "a = -0x80000001", 5301, 5, "no number"},
	{"int.add", PCTL_SCALAR_U32, "a = NaN", 5301, 5, "no number"},
	{"int.add", PCTL_SCALAR_U32, "a = 0x", 5301, 5, "no number"},
	{"int.add", PCTL_SCALAR_U32, "a = u32[]", 5301, 9, "\"]\" stands where a number"},
	{"int.add", PCTL_SCALAR_U32, "a = - 1", 5301, 6, "at once"},
	{"ieee.add", PCTL_SCALAR_F16, "a = 0x10000", 5301, 5, "no number of f16"},
	{"ieee.add", PCTL_SCALAR_F32, "a = 2^24", 5301, 6, "\"^\" stands where the end"},
	{"ieee.add", PCTL_SCALAR_F32, "a = 1.5.5", 5301, 5, "no number of f32"},
	{"int.lt", PCTL_SCALAR_I32, "lt(a, b) = a", 5301, 1, "the sides are u32 and i32"},
	{"int.add", PCTL_SCALAR_I32, "add(a, lt(a, b)) = a", 5301, 8,
	 "operands of \"add\" are i32 and u32"},
	{"int.add", PCTL_SCALAR_U64, "u32(a) = 1", 5301, 1, "another size"},
	{"int.add", PCTL_SCALAR_U32, "i32(a, b) = 1", 5301, 1, "one term"},
	{"int.add", PCTL_SCALAR_U32, "u64[5 = 5", 5301, 7, "\"]\""},
	{"int.add", PCTL_SCALAR_U32, "finite a: a = a", 5301, 1, "is no float"},
	{"int.neg", PCTL_SCALAR_U32, DEEP DEEP "a))))))))))))))))=a", 5301, 65, "deeper than"},
	{"int.add", PCTL_SCALAR_U32, "a = a\1", 5301, 6, "byte 0x01"},
	{"int.add", PCTL_SCALAR_U32, "a<b,a<b,a<b,a<b,a<b,a<b,a<b,a<b,a<b:a=b", 5301, 33,
	 "at most 8 guards"},
	{"int.add", PCTL_SCALAR_U32, "plus(a, b) = a", 5302, 1, "no function op \"plus\" on u32"},
	{"int.add", PCTL_SCALAR_U32, "add(a, ieee.neg(a)) = 0", 5302, 8, "\"ieee.neg\" on u32"},
	{"int.add", PCTL_SCALAR_U32, "add@2(a, b) = a", 5301, 1, "\"add\" is neither"},
};

static void laws_of_text(proof_rig *r, const char *op, uint32_t dtype, const char *text,
			 uint32_t *n, uint32_t *prose, pctl_status *status)
{
	const pctl_law law = {.law = PCTL_LAW_CUSTOM, .custom = text};
	const pctl_op_rules rules = {.head = PCTL_HEAD(pctl_op_rules), .laws = &law, .n_laws = 1};
	const pctl_op_function f = proof_function(op, dtype);
	pctl_arena *arena = pctl_arena_create();
	pctl_law_equation *all;

	*status = pctl_laws_of_rules(&proof_source, &f, &rules, arena, r->call, &all, n, prose);
	pctl_arena_destroy(arena);
}

static void refuses(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) {
		const struct bad *b = &bads[i];
		uint32_t n, prose;
		pctl_status status;
		proof_rig r;

		proof_open(&r);
		laws_of_text(&r, b->op, b->dtype, b->text, &n, &prose, &status);
		if (proof_last(&r) == NULL)
			fail_msg("\"%s\" is taken", b->text);
		if (proof_last(&r)->code != b->code || proof_last(&r)->pos.column != b->column ||
		    strstr(proof_last(&r)->message, b->says) == NULL)
			fail_msg("\"%s\": PC%u at %u: %s", b->text, proof_last(&r)->code,
				 proof_last(&r)->pos.column, proof_last(&r)->message);
		assert_int_equal(n, 0);
		assert_int_equal(prose, b->code == PC5301_LAW_PROSE);
		assert_int_equal(status, b->code == PC5301_LAW_PROSE ? PCTL_OK : PCTL_E_NOT_FOUND);
		proof_close(&r);
	}
}

/* A law of other types is left out, and that is no fault; one with the version of the op's own name is found. */
static void scopes(void **state)
{
	uint32_t n, prose;
	pctl_status status;
	proof_rig r;

	(void)state;
	proof_open(&r);
	laws_of_text(&r, "int.add", PCTL_SCALAR_U64, "u32, i32 | a = a", &n, &prose, &status);
	assert_true(n == 0 && prose == 0 && status == PCTL_OK);
	laws_of_text(&r, "int.add", PCTL_SCALAR_I32, "u32, i32 | a = a", &n, &prose, &status);
	assert_true(n == 1 && prose == 0 && status == PCTL_OK);
	assert_int_equal(pctl_diag_list_count(r.l), 0);
	proof_close(&r);
}

/* PC5303, and names that would be alike. */
static void named(void **state)
{
	static const pctl_law laws[] = {
		{.law = PCTL_LAW_COMMUTATIVE},
		{.law = PCTL_LAW_ASSOCIATIVE},
		{.law = PCTL_LAW_IDENTITY},
		{.law = PCTL_LAW_SELF_INVERSE},
		{.law = PCTL_LAW_ABSORBING},
		{.law = PCTL_LAW_DISTRIBUTIVE_OVER},
		{.law = PCTL_LAW_DISTRIBUTIVE_OVER, .other = "int.add"},
		{.law = PCTL_LAW_DE_MORGAN},
		{.law = PCTL_LAW_COMPLEMENT},
		{.law = 99},
	};
	uint32_t shapes = 0, n, prose;
	pctl_law_equation *all;
	pctl_op_function neg, add, lt;
	pctl_arena *arena = pctl_arena_create();
	pctl_op_rules rules = {.head = PCTL_HEAD(pctl_op_rules), .laws = laws, .n_laws = 10};
	const pctl_law twice[] = {{.law = PCTL_LAW_COMMUTATIVE},
				  {.law = PCTL_LAW_COMMUTATIVE},
				  {.law = PCTL_LAW_MONOTONE},
				  {.law = PCTL_LAW_IDEMPOTENT}};
	proof_rig r;

	(void)state;
	proof_open(&r);
	neg = proof_function("int.neg", PCTL_SCALAR_U32);
	add = proof_function("int.add", PCTL_SCALAR_U32);
	lt = proof_function("int.lt", PCTL_SCALAR_U64);
	assert_int_equal(
		pctl_laws_of_rules(&proof_source, &neg, &rules, arena, r.call, &all, &n, &prose),
		PCTL_E_INVALID);
	for (uint32_t i = 0; i < pctl_diag_list_count(r.l); i++)
		shapes += pctl_diag_list_at(r.l, i)->code == PC5303_LAW_SHAPE;
	/* Two say the same of "distributive", and exact repeats are dropped. */
	assert_true(n == 0 && prose == 0 && shapes >= 9);
	rules.laws = twice;
	rules.n_laws = 4;
	assert_int_equal(
		pctl_laws_of_rules(&proof_source, &add, &rules, arena, r.call, &all, &n, &prose),
		PCTL_E_INVALID);
	assert_int_equal(n, 3);
	assert_string_equal(all[0].name, "commutative");
	assert_string_equal(all[1].name, "commutative (2)");
	/* A truth value of u64 is u32: idempotent is a law of the u32 form. */
	rules.laws = &twice[3];
	rules.n_laws = 1;
	assert_int_equal(
		pctl_laws_of_rules(&proof_source, &lt, &rules, arena, r.call, &all, &n, &prose),
		PCTL_OK);
	assert_int_equal(n, 0);
	pctl_arena_destroy(arena);
	proof_close(&r);
}

/* ---- literals --------------------------------------------------------------------------------- */

struct literal {
	const char *text;
	uint32_t dtype;
	uint64_t low, high;
};

static const struct literal literals[] = {
	{"12", PCTL_SCALAR_U32, 12, 0},
	{"-3", PCTL_SCALAR_U32, 0xfffffffd, 0},
	{"-1", PCTL_SCALAR_U64, UINT64_MAX, 0},
	{"-1", PCTL_DTYPE_U128, UINT64_MAX, UINT64_MAX},
	{"+7", PCTL_SCALAR_I32, 7, 0},
	{"0xffffffff", PCTL_SCALAR_I32, 0xffffffff, 0},
	{"-2147483648", PCTL_SCALAR_I32, 0x80000000, 0},
	{"18446744073709551616", PCTL_DTYPE_U128, 0, 1},
	{"0x123456789abcdef00fedcba987654321", PCTL_DTYPE_U128, 0x0fedcba987654321,
	 0x123456789abcdef0},
	{"width", PCTL_DTYPE_U128, 128, 0},
	{"width", PCTL_SCALAR_F16, 0x4c00, 0},
	{"1", PCTL_SCALAR_F32, 0x3f800000, 0},
	{"1.5", PCTL_SCALAR_F16, 0x3e00, 0},
	{"-0", PCTL_SCALAR_BF16, 0x8000, 0},
	{"+0", PCTL_SCALAR_F32, 0, 0},
	{"65520", PCTL_SCALAR_F16, 0x7c00, 0},
	{"65519", PCTL_SCALAR_F16, 0x7bff, 0},
	{"-Inf", PCTL_SCALAR_F16, 0xfc00, 0},
	{"Inf", PCTL_SCALAR_F32, 0x7f800000, 0},
	{"NaN", PCTL_SCALAR_F32, 0x7fc00000, 0},
	{"NaN", PCTL_SCALAR_BF16, 0x7fc0, 0},
	{"0x7f800001", PCTL_SCALAR_F32, 0x7f800001, 0},
	{"1e-45", PCTL_SCALAR_F32, 1, 0},
};

static void values(void **state)
{
	uint64_t bits[2];

	(void)state;
	for (uint32_t i = 0; i < sizeof(literals) / sizeof(literals[0]); i++) {
		const struct literal *l = &literals[i];

		if (!pctl_law_literal(l->text, strlen(l->text), l->dtype, bits) ||
		    bits[0] != l->low || bits[1] != l->high)
			fail_msg("%s of dtype %u", l->text, l->dtype);
	}
	assert_false(pctl_law_literal("340282366920938463463374607431768211456", 39,
				      PCTL_DTYPE_U128, bits));
	assert_false(pctl_law_literal("", 0, PCTL_SCALAR_U32, bits));
	assert_false(pctl_law_literal("-", 1, PCTL_SCALAR_U32, bits));
	assert_false(pctl_law_literal("0x1p3", 5, PCTL_SCALAR_F32, bits));
}

/* ---- any bytes -------------------------------------------------------------------------------- */

static uint64_t state_of_noise = 1;

static uint32_t noise(uint32_t below)
{
	state_of_noise = state_of_noise * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((state_of_noise >> 33) % below);
}

/* Good texts with bytes changed, cut, and joined; and bytes of any value. Typing follows where reading succeeds. */
static void any_bytes(void **state)
{
	static const char marks[] = "()|:,=<>!-+.abcx0159 uf[]\1\377";
	uint32_t taken = 0;
	pctl_op_function f;
	proof_rig r;

	(void)state;
	proof_open(&r);
	f = proof_function("int.add", PCTL_SCALAR_U32);
	for (uint32_t i = 0; i < 30000; i++) {
		pctl_arena *arena = pctl_arena_create();
		const char *from = goods[noise(sizeof(goods) / sizeof(goods[0]))].text;
		pctl_law_equation e = {0};
		pctl_law_fault fault;
		pctl_law_tree tree;
		char text[200];

		snprintf(text, sizeof(text), "%s", from);
		for (uint32_t k = noise(4); k > 0 && text[0] != '\0'; k--)
			text[noise((uint32_t)strlen(text))] = marks[noise(sizeof(marks))];
		if (noise(8) == 0)
			for (uint32_t k = 0; k < 60; k++)
				text[k] = (char)(noise(255) + 1);
		if (pctl_law_parse(text, arena, &tree, &fault) &&
		    pctl_law_type(&tree, &proof_source, &f, arena, &e, &fault))
			taken++;
		else
			assert_true(fault.code != 0 && fault.message[0] != '\0' &&
				    fault.at <= strlen(text));
		pctl_arena_destroy(arena);
	}
	assert_true(taken > 100 && taken < 25000);
	proof_close(&r);
}

static void is_limited(void **state)
{
	pctl_arena *arena = pctl_arena_create();
	char *text = malloc(5000);
	pctl_law_fault fault;
	pctl_law_tree tree;

	(void)state;
	memset(text, '(', 4999);
	text[4999] = '\0';
	assert_false(pctl_law_parse(text, arena, &tree, &fault));
	assert_non_null(strstr(fault.message, "longer than"));
	text[900] = '\0';
	for (uint32_t i = 0; i < 900; i += 2)
		memcpy(text + i, "f(", 2);
	assert_false(pctl_law_parse(text, arena, &tree, &fault));
	assert_non_null(strstr(fault.message, "deeper"));
	free(text);
	pctl_arena_destroy(arena);
}

PCTL_TESTS_MAIN(PCTL_TEST(reads), PCTL_TEST(refuses), PCTL_TEST(scopes), PCTL_TEST(named),
		PCTL_TEST(values), PCTL_TEST(any_bytes), PCTL_TEST(is_limited))
