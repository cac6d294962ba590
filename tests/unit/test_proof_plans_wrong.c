/* Plan ops under proof on devices that are wrong: an element changed, stability broken, a tolerance missed, an edge
 * dropped, another order of sums. Each is caught, and its counterexample made small. */
#include "test_proof_caught.h"

/* Wrong from 33 elements on: the second run of 32. */
static void spoil_scan(const pctl_problem *p, pctl_answer *a)
{
	if (pctl_problem_elements(p) > 32)
		a->data[0][4 * 32] ^= 1;
}

static void test_proof_plans__a_changed_element_is_caught(void **state)
{
	pctl_verdict v;
	pctl_problem p = caught("tensor.scan", PCTL_SCALAR_U32, NULL, spoil_scan,
				"an element from 33 on is wrong", &v);
	char text[256];

	(void)state;
	assert_int_equal(pctl_problem_elements(&p), 33);
	for (uint32_t i = 0; i < 4 * 33; i++)
		assert_int_equal(p.data[0][i], 0);
	assert_string_equal(v.got, "y[32] = 0x00000001");
	assert_string_equal(v.want, "y[32] = 0x00000000");
	pctl_problem_describe(&p, text, sizeof(text));
	assert_non_null(strstr(text, "x=u32[33] 00000000"));
	pctl_problem_clear(&p);
	p = caught("tensor.scan", PCTL_SCALAR_U32,
		   "inclusive: y[0] = x[0] and y[i] - y[i-1] = x[i], modulo 2^width", spoil_scan,
		   "an element from 33 on is wrong", &v);
	assert_int_equal(pctl_problem_elements(&p), 33);
	pctl_problem_clear(&p);
}

/* Two equal keys side by side change places. */
static void spoil_stability(const pctl_problem *p, pctl_answer *a)
{
	uint32_t *keys = (uint32_t *)(void *)a->data[0], *payloads = (uint32_t *)(void *)a->data[1],
		 kept;

	for (uint64_t i = 1; i < pctl_problem_elements(p); i++) {
		if (keys[i] == keys[i - 1]) {
			kept = payloads[i];
			payloads[i] = payloads[i - 1];
			payloads[i - 1] = kept;
			return;
		}
	}
}

static void test_proof_plans__broken_stability_is_caught(void **state)
{
	pctl_verdict v;
	pctl_problem p =
		caught("tensor.sort_pairs", PCTL_SCALAR_U32, "pairs of equal keys keep their order",
		       spoil_stability, "two equal keys change places", &v);

	(void)state;
	assert_int_equal(pctl_problem_elements(&p), 2);
	pctl_problem_clear(&p);
}

static void spoil_permutation(const pctl_problem *p, pctl_answer *a)
{
	if (pctl_problem_elements(p) >= 3)
		memcpy(a->data[1], a->data[1] + 4, 4);
}

static void test_proof_plans__a_lost_payload_is_caught(void **state)
{
	pctl_verdict v;
	pctl_problem p =
		caught("tensor.sort_pairs", PCTL_SCALAR_U32,
		       "keys_sorted ascends and the pairs are a permutation of the input's",
		       spoil_permutation, "a payload is lost", &v);

	(void)state;
	assert_int_equal(pctl_problem_elements(&p), 3);
	pctl_problem_clear(&p);
}

/* Larger by some units in the last place: only what is over the tolerance is a fault. */
static uint32_t units;

static void spoil_sum(const pctl_problem *p, pctl_answer *a)
{
	uint32_t bits;

	(void)p;
	memcpy(&bits, a->data[0], 4);
	if ((bits >> 23 & 0xff) != 0xff)
		bits += units;
	memcpy(a->data[0], &bits, 4);
}

static void test_proof_plans__a_missed_tolerance_is_caught(void **state)
{
	pctl_verdict v;
	pctl_problem p;

	(void)state;
	units = 100000;
	p = caught("ieee.reduce_approx", PCTL_SCALAR_F32,
		   "within ulps of the exact result as the specification measures it", spoil_sum,
		   "a sum beyond its tolerance", &v);
	assert_true(pctl_problem_elements(&p) <= 2);
	assert_non_null(strstr(v.got, "ulp"));
	assert_non_null(strstr(v.want, "within"));
	pctl_problem_clear(&p);
}

static void test_proof_plans__what_is_within_tolerance_is_not(void **state)
{
	violator v = {.spoil = spoil_sum};
	const pctl_tensor_type t = {PCTL_SCALAR_F32, 1, {2}};
	static const float x[2] = {1.0f, 1.0f};
	pctl_plan_judge j = {rig.context.ops, &v.solver, NULL, NULL, NULL};
	pctl_verdict verdict;
	pctl_plan_law law;
	pctl_problem p;

	(void)state;
	v.solver = (pctl_solver){&v, solve_wrongly};
	pctl_solver_session(&v.right, &rig.context, rig.context.device);
	MUST(pctl_problem_other(rig.context.ops, "ieee.reduce_approx", 1, rig.call, &p));
	MUST(pctl_problem_port(&p, 0, &t, rig.call));
	memcpy(p.data[0], x, sizeof(x));
	pctl_problem_set(&p, 0, "add");
	pctl_problem_set(&p, 1, "100");
	assert_true(pctl_plan_law_find(
		&p.op, "within ulps of the exact result as the specification measures it", &law));
	j.law = &law;
	/* The sum is 2, so is the sum of sizes: a unit is 2^-22, what is added to the bits counts as it is. */
	units = 100;
	MUST(pctl_plan_judge_problem(&j, &p, NULL, rig.call, &verdict));
	assert_int_equal(verdict.failed, 0);
	assert_int_equal(verdict.skipped, 0);
	units = 101;
	MUST(pctl_plan_judge_problem(&j, &p, NULL, rig.call, &verdict));
	assert_int_equal(verdict.failed, 1);
	planted("one unit in the last place beyond a tolerance", p.op.desc->name,
		"tolerance: within 100 ulps", planted_case("1.0 + 1.0", verdict.got, verdict.want));
	pctl_problem_clear(&p);
}

/* The second chunk of node 0 is forgotten. */
static void spoil_chunks(const pctl_problem *p, pctl_answer *a)
{
	const uint64_t n = a->bytes[1] / 8, rows = (n + 255) / 256 * 256,
		       chunks = rows + (n + 256) / 256 * 256;
	uint32_t *words = (uint32_t *)(void *)a->data[0];

	(void)p;
	if (n > 0 && words[rows + 1] > 1)
		words[chunks + 4] = (uint32_t)n;
}

static void test_proof_plans__a_lost_edge_is_caught(void **state)
{
	static const char law[] = "the chunks of node i hold the sources of its in-edges in the "
				  "order of the input, and nothing else";
	pctl_verdict v;
	pctl_problem p = caught("rank.prepare", PCTL_SCALAR_U32, law, spoil_chunks,
				"an edge is forgotten", &v);

	(void)state;
	assert_int_equal(p.in[0].dim[0], 5);
	pctl_problem_clear(&p);
}

static void spoil_rank(const pctl_problem *p, pctl_answer *a)
{
	if (a->bytes[0] > 8 && strcmp(pctl_problem_attr(p, "damping_ppm"), "850000") == 0)
		a->data[0][8] ^= 1;
}

static void test_proof_plans__a_wrong_rank_is_caught(void **state)
{
	pctl_verdict v;
	pctl_problem p = caught("rank.pagerank", PCTL_SCALAR_U32, NULL, spoil_rank,
				"a rank's lowest bit", &v);

	(void)state;
	assert_non_null(strstr(v.got, "ranks[1]"));
	pctl_problem_clear(&p);
	p = caught("rank.pagerank", PCTL_SCALAR_U32, "iterations = 0 gives every node 10^15 div n",
		   spoil_rank, "a rank's lowest bit", &v);
	pctl_problem_clear(&p);
	/* A payload's lowest bit is not hidden by any sum: half the answers are above the bound or below what they were. */
	p = caught("rank.step", PCTL_SCALAR_U32,
		   "renaming the nodes renames the ranks and changes none", spoil_rank,
		   "a rank's lowest bit", &v);
	pctl_problem_clear(&p);
}

static void spoil_max(const pctl_problem *p, pctl_answer *a)
{
	/* The last element is not looked at. */
	const uint64_t n = pctl_problem_elements(p);
	uint32_t most = 0, v;

	for (uint64_t i = 0; i + 1 < n; i++) {
		memcpy(&v, p->data[0] + 4 * i, 4);
		most = v > most ? v : most;
	}
	if (n > 1)
		memcpy(a->data[0], &most, 4);
}

static void test_proof_plans__an_ignored_element_is_caught(void **state)
{
	pctl_verdict v;
	pctl_problem p = caught("tensor.reduce_max", PCTL_SCALAR_U32,
				"any permutation of x gives the same y", spoil_max,
				"the last element is not looked at", &v);
	uint64_t x;

	(void)state;
	assert_int_equal(pctl_problem_elements(&p), 2);
	memcpy(&x, p.data[0], 8);
	assert_true(x == 1 || x == 1ull << 32);
	pctl_problem_clear(&p);
	p = caught("tensor.reduce_max", PCTL_SCALAR_U32,
		   "y is one of the elements, and no element is above y", spoil_max,
		   "the last element is not looked at", &v);
	assert_int_equal(pctl_problem_elements(&p), 2);
	pctl_problem_clear(&p);
}

/* From left to right where a tree was meant. */
static void spoil_tree(const pctl_problem *p, pctl_answer *a)
{
	float sum, x;

	if (strcmp(pctl_problem_attr(p, "op"), "add") != 0 || pctl_problem_elements(p) < 3 ||
	    strcmp(p->op.desc->name, "ieee.reduce_tree") != 0)
		return;
	memcpy(&sum, p->data[0], 4);
	for (uint64_t i = 1; i < pctl_problem_elements(p); i++) {
		memcpy(&x, p->data[0] + 4 * i, 4);
		sum += x;
	}
	memcpy(a->data[0], &sum, 4);
}

static void test_proof_plans__another_order_is_caught(void **state)
{
	pctl_verdict v;
	pctl_problem p = caught("ieee.reduce_tree", PCTL_SCALAR_F32,
				"n > 1: reduce_tree(x) = op(reduce_tree(x[..m]), "
				"reduce_tree(x[m..])), m the largest "
				"power of two below n",
				spoil_tree, "sums from left to right instead of a tree", &v);

	(void)state;
	assert_true(pctl_problem_elements(&p) <= 4);
	pctl_problem_clear(&p);
}

/* As a device that cuts the fraction of what it gives to ten bits. */
static void spoil_fraction(const pctl_problem *p, pctl_answer *a)
{
	(void)p;
	for (uint64_t i = 0; i < a->bytes[0]; i += 4) {
		uint32_t bits;

		memcpy(&bits, a->data[0] + i, 4);
		bits &= 0xffffe000u;
		memcpy(a->data[0] + i, &bits, 4);
	}
}

/* The first element depends on something that it may not depend on:  a size of a, an attribute, or the first word of a. */
static void spoil_first(const pctl_problem *p, pctl_answer *a, uint64_t depends)
{
	(void)p;
	if (a->bytes[0] >= 4 && depends)
		a->data[0][0] ^= 1;
}

static void spoil_first_row(const pctl_problem *p, pctl_answer *a)
{
	spoil_first(p, a, p->in[0].dim[0] > 1);
}

static void spoil_long(const pctl_problem *p, pctl_answer *a)
{
	spoil_first(p, a, p->in[0].dim[p->in[0].rank - 1] % 2);
}

static void spoil_by_order(const pctl_problem *p, pctl_answer *a)
{
	uint32_t first = 0;

	if (p->bytes[0] >= 4)
		memcpy(&first, p->data[0], 4);
	spoil_first(p, a, first >> 31);
}

static void spoil_transposed(const pctl_problem *p, pctl_answer *a)
{
	spoil_first(p, a, strcmp(pctl_problem_attr(p, "transpose_a"), "true") == 0);
}

static void spoil_zero(const pctl_problem *p, pctl_answer *a)
{
	uint32_t bits = 1;

	(void)p;
	if (a->bytes[0] >= 4)
		memcpy(&bits, a->data[0], 4);
	if (bits == 0)
		a->data[0][3] = 0x80;
}

/* As if an odd number of terms were filled up by 0 * 0, which loses a -0. */
static void spoil_filled(const pctl_problem *p, pctl_answer *a)
{
	const int turned = strcmp(pctl_problem_attr(p, "transpose_a"), "true") == 0;
	uint32_t bits;

	if (strcmp(pctl_problem_attr(p, "order"), "sequential") != 0 ||
	    p->in[0].dim[p->in[0].rank - (turned ? 2 : 1)] % 2 == 0)
		return;
	for (uint64_t i = 0; i + 4 <= a->bytes[0]; i += 4) {
		memcpy(&bits, a->data[0] + i, 4);
		if (bits == 0x80000000u)
			a->data[0][i + 3] = 0;
	}
}

static void spoil_zero_sum(const pctl_problem *p, pctl_answer *a)
{
	if (strcmp(p->op.desc->name, "tensor.sum") == 0)
		spoil_zero(p, a);
}

static void test_proof_plans__wrong_products_and_sums_are_caught(void **state)
{
	static const struct {
		const char *op, *law, *spoilt;
		spoiler spoil;
	} rows[] = {
		{"tensor.matmul", NULL, "fractions of products cut to ten bits", spoil_fraction},
		{"tensor.matmul",
		 "a matrix transposed in memory and by its attribute gives the same y",
		 "transposed factors give another bit", spoil_transposed},
		{"tensor.matmul", "the rows of a reversed give the rows of y reversed",
		 "the first row is wrong", spoil_first_row},
		{"tensor.matmul",
		 "but for chunked: columns of 0 behind a over rows of -0 (integers: 0) behind b "
		 "leave y as it is",
		 "padding shows", spoil_long},
		{"tensor.matmul", NULL, "a -0 of order sequential lost in what fills up a block",
		 spoil_filled},
		{"tensor.matmul",
		 "but for chunked: columns of 0 behind a over rows of -0 (integers: 0) behind b "
		 "leave y as it is",
		 "a -0 of order sequential lost where padding shows", spoil_filled},
		{"tensor.matmul",
		 "order exact: columns of a and rows of b reversed together leave y as it is",
		 "the order of terms shows", spoil_by_order},
		{"tensor.matmul",
		 "order exact: k taken twice, of floats the second time with a negated, gives 2 y, "
		 "of floats 0 where y is finite",
		 "a sum of nothing is -0", spoil_zero},
		{"tensor.matmul",
		 "where a and b are of one type of whole bytes: the product of b and a, both "
		 "transposed, transposed is y",
		 "transposed factors give another bit", spoil_transposed},
		{"tensor.matmul", "the products of the rows of a in two parts, joined, are y",
		 "the first row is wrong", spoil_first_row},
		{"tensor.matmul", "the products with the columns of b in two parts, joined, are y",
		 "fractions of products cut to ten bits", spoil_fraction},
		{"tensor.sum", NULL, "fractions of sums cut to ten bits", spoil_fraction},
		{"tensor.sum", "over all axes: x reversed gives the same y",
		 "the sign of the first term shows", spoil_by_order},
		{"tensor.sum",
		 "over all axes: y is tensor.matmul of x as a row and a column of ones",
		 "a sum of zero is -0", spoil_zero_sum},
		{"tensor.mean", "over all axes: x reversed gives the same y",
		 "the sign of the first term shows", spoil_by_order},
		{"tensor.mean", "over all axes: x taken twice gives the same y",
		 "an odd number of terms shows", spoil_long},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pctl_verdict v;
		pctl_problem p = caught(rows[i].op, PCTL_SCALAR_F32, rows[i].law, rows[i].spoil,
					rows[i].spoilt, &v);

		pctl_problem_clear(&p);
	}
}

/* ij,jk->ik without the last j. */
static void spoil_summed_index(const pctl_problem *p, pctl_answer *a)
{
	const uint64_t m = p->in[0].dim[0], n = p->in[0].dim[1], k = p->in[1].dim[1];

	if (strcmp(pctl_problem_attr(p, "equation"), "ij,jk->ik") != 0 || n == 0 ||
	    a->bytes[0] != 4 * m * k)
		return;
	for (uint64_t i = 0; i < m * k; i++) {
		uint32_t x, b, y;

		memcpy(&x, p->data[0] + 4 * (i / k * n + n - 1), 4);
		memcpy(&b, p->data[1] + 4 * ((n - 1) * k + i % k), 4);
		memcpy(&y, a->data[0] + 4 * i, 4);
		y -= x * b;
		memcpy(a->data[0] + 4 * i, &y, 4);
	}
}

/* A matrix is written as its transpose would lie. */
static void spoil_orientation(const pctl_problem *p, pctl_answer *a)
{
	const uint64_t rows = a->out[0].dim[0], columns = a->out[0].dim[1];
	uint8_t *kept;

	if (strcmp(p->op.desc->name, "tensor.einsum") != 0 || a->out[0].rank != 2 ||
	    a->bytes[0] != 4 * rows * columns || a->bytes[0] == 0)
		return;
	kept = malloc(a->bytes[0]);
	assert_non_null(kept);
	memcpy(kept, a->data[0], a->bytes[0]);
	for (uint64_t i = 0; i < rows * columns; i++)
		memcpy(a->data[0] + 4 * (i % columns * rows + i / columns), kept + 4 * i, 4);
	free(kept);
}

/* The second element of a diagonal is the one before it in its row. */
static void change_diagonal(pctl_problem *p)
{
	if (strcmp(p->op.desc->name, "tensor.einsum") == 0 &&
	    strcmp(pctl_problem_attr(p, "equation"), "ii->i") == 0 && p->in[0].dim[0] > 1)
		memcpy(p->data[0] + 4 * (p->in[0].dim[0] + 1), p->data[0] + 4, 4);
}

static void test_proof_plans__wrong_einsums_are_caught(void **state)
{
	static const struct {
		const char *law, *spoilt;
		spoiler spoil;
		void (*change)(pctl_problem *p);
	} rows[] = {
		{NULL, "the last value of a summed index is dropped", spoil_summed_index, NULL},
		{"of two or more: the first two and their letters change places, and y is the same",
		 "the last value of a summed index is dropped", spoil_summed_index, NULL},
		{NULL, "the result lies transposed", spoil_orientation, NULL},
		{"the letters of y reversed give y with its axes reversed",
		 "the result lies transposed", spoil_orientation, NULL},
		{NULL, "a diagonal is read beside itself", NULL, change_diagonal},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pctl_verdict v;
		pctl_problem p =
			caught_by("tensor.einsum", PCTL_SCALAR_U32, rows[i].law,
				  (violator){.spoil = rows[i].spoil, .change = rows[i].change},
				  rows[i].spoilt, &v);

		pctl_problem_clear(&p);
	}
}

/* Of equal elements the last one instead of the first. */
static void spoil_tie(const pctl_problem *p, pctl_answer *a)
{
	uint32_t found = 0;

	if (p->in[0].rank != 1 || a->bytes[0] != 4)
		return;
	memcpy(&found, a->data[0], 4);
	for (uint64_t i = found; i < p->in[0].dim[0]; i++)
		if (memcmp(p->data[0] + 4 * i, p->data[0] + 4 * found, 4) == 0)
			a->data[0][0] = (uint8_t)i;
}

static void spoil_axis(const pctl_problem *p, pctl_answer *a)
{
	spoil_first(p, a, p->in[0].rank > 1 && strcmp(pctl_problem_attr(p, "axes"), "1") == 0);
}

static void spoil_batch(const pctl_problem *p, pctl_answer *a)
{
	spoil_first(p, a, p->in[0].rank > 1 && p->in[0].dim[0] > 1);
	if (p->in[0].rank > 1 && p->in[0].dim[0] > 1 && a->bytes[0] >= 8)
		a->data[0][a->bytes[0] - 4] ^= 1;
}

static void spoil_unweighted(const pctl_problem *p, pctl_answer *a)
{
	spoil_first(p, a, p->in[1].dim[0] == 0);
}

static void test_proof_plans__wrong_reductions_and_norms_are_caught(void **state)
{
	static const struct {
		const char *op, *law, *spoilt;
		spoiler spoil;
	} rows[] = {
		{"tensor.max", NULL, "fractions of results cut to ten bits", spoil_fraction},
		{"tensor.max",
		 "but for products of more than two floats: x reversed along the reduced axes "
		 "gives the same y",
		 "the sign of the first term shows", spoil_by_order},
		{"tensor.min",
		 "but for products of more than two floats: of two parts of x along an axis, y of "
		 "both y is y",
		 "an odd number of terms shows", spoil_long},
		{"tensor.max",
		 "but for products of more than two floats: x with its axes in reverse order gives "
		 "y with its "
		 "own so",
		 "another axis is reduced", spoil_axis},
		{"tensor.any", "a result is the same where its terms are all there is",
		 "other results show", spoil_batch},
		{"tensor.argmax",
		 "x up to the element at y, without it, has another max (min), or NaN alone",
		 "the last of equal elements wins", spoil_tie},
		{"tensor.prod", NULL, "fractions of products cut to ten bits", spoil_fraction},
		{"tensor.variance",
		 "ddof 0: terms taken twice give the same y, and negated ones too",
		 "an odd number of terms shows", spoil_long},
		{"tensor.cumsum", NULL, "the boundary of a part shows", spoil_scan},
		{"tensor.cumsum",
		 "x reversed along the axis, summed from its other end, gives y reversed",
		 "the sign of the first term shows", spoil_by_order},
		{"tensor.softmax", NULL, "fractions of quotients cut to ten bits", spoil_fraction},
		{"tensor.softmax",
		 "-Inf before and behind every row without NaN in y leaves y as it is between",
		 "the sign of the first element shows", spoil_by_order},
		{"tensor.softmax",
		 "without -Inf: y is e / S of e = exp(x - m), each step an op of its own",
		 "fractions of quotients cut to ten bits", spoil_fraction},
		{"tensor.softmax",
		 "of matrices along their rows: y times values is the same rows by rows",
		 "other rows show", spoil_batch},
		{"tensor.layer_norm", "y is what the steps give, each an op of its own",
		 "fractions of quotients cut to ten bits", spoil_fraction},
		{"tensor.logsumexp", "x reversed along the axis gives the same y",
		 "the sign of the first element shows", spoil_by_order},
		{"tensor.layer_norm",
		 "the last of the outermost dimension gives the same where it is all there is",
		 "other rows show", spoil_batch},
		{"tensor.rms_norm", "without a weight y is what weights of 1 give",
		 "a weight that is not there shows", spoil_unweighted},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pctl_verdict v;
		pctl_problem p = caught(rows[i].op, PCTL_SCALAR_F32, rows[i].law, rows[i].spoil,
					rows[i].spoilt, &v);

		pctl_problem_clear(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PCTL_TEST(test_proof_plans__a_changed_element_is_caught),
		PCTL_TEST(test_proof_plans__broken_stability_is_caught),
		PCTL_TEST(test_proof_plans__a_lost_payload_is_caught),
		PCTL_TEST(test_proof_plans__a_missed_tolerance_is_caught),
		PCTL_TEST(test_proof_plans__what_is_within_tolerance_is_not),
		PCTL_TEST(test_proof_plans__a_lost_edge_is_caught),
		PCTL_TEST(test_proof_plans__a_wrong_rank_is_caught),
		PCTL_TEST(test_proof_plans__an_ignored_element_is_caught),
		PCTL_TEST(test_proof_plans__another_order_is_caught),
		PCTL_TEST(test_proof_plans__wrong_products_and_sums_are_caught),
		PCTL_TEST(test_proof_plans__wrong_einsums_are_caught),
		PCTL_TEST(test_proof_plans__wrong_reductions_and_norms_are_caught),
	};

	return run_all(tests, sizeof(tests) / sizeof(tests[0]));
}
