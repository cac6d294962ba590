/* Ops of the transformer library under proof on a device that is wrong: every law of embed, lora, the ops of experts, penalty and sample catches a fault that
 * its problems show. Rope and attention are not here. */
#include "test_proof_caught.h"

static int is_ours(const pctl_problem *p)
{
	return strncmp(p->op.desc->name, "transformer.", 12) == 0;
}

static void spoil_first(const pctl_problem *p, pctl_answer *a)
{
	if (is_ours(p) && a->bytes[0] != 0)
		a->data[0][0] ^= 1;
}

static void spoil_last(const pctl_problem *p, pctl_answer *a)
{
	if (is_ours(p) && a->bytes[0] != 0)
		a->data[0][a->bytes[0] - 4] ^= 1;
}

/* The last dimension of the first input is even. */
static void spoil_even(const pctl_problem *p, pctl_answer *a)
{
	const pctl_tensor_type *t = &p->in[0];

	if (t->rank != 0 && t->dim[t->rank - 1] % 2 == 0)
		spoil_first(p, a);
}

static void spoil_packed(const pctl_problem *p, pctl_answer *a)
{
	if (p->in[1].dtype != PCTL_SCALAR_F32)
		spoil_first(p, a);
}

static void spoil_biased(const pctl_problem *p, pctl_answer *a)
{
	if (p->n_in == 4 && p->bytes[3] != 0)
		spoil_first(p, a);
}

/* The first word of the second input is odd. */
static void spoil_by_order(const pctl_problem *p, pctl_answer *a)
{
	if (p->bytes[1] != 0 && p->data[1][0] & 1)
		spoil_first(p, a);
}

/* The last word of the second input is odd. */
static void spoil_by_last(const pctl_problem *p, pctl_answer *a)
{
	if (p->bytes[1] != 0 && p->data[1][p->bytes[1] - 4] & 1)
		spoil_first(p, a);
}

/* top_k of the first row is asked for. */
static void spoil_asked(const pctl_problem *p, pctl_answer *a)
{
	if (p->n_in == 7 && p->bytes[2] != 0 && p->data[2][0] != 0)
		spoil_first(p, a);
}

static void test_proof_plans__faults_of_transformers_are_caught(void **state)
{
	static const struct {
		const char *op;
		uint32_t dtype;
		const char *law;
		spoiler spoil;
		const char *spoilt;
	} rows[] = {
		{"transformer.embed", PCTL_SCALAR_U32,
		 "of another type than f32: a table made f32 gives the same y", spoil_packed,
		 "a bit where the table is not f32"},
		{"transformer.embed", PCTL_SCALAR_U32,
		 "the tokens in reverse order give the rows of y so", spoil_first,
		 "the first element's lowest bit"},
		{"transformer.embed", PCTL_SCALAR_U32,
		 "y as the table, its rows in turn, with scale 1 gives y", spoil_first,
		 "the first element's lowest bit"},
		{"transformer.lora", PCTL_SCALAR_F32,
		 "of matrices: y is y0 + scale * d, each step an op of its own", spoil_last,
		 "the last element's lowest bit"},
		{"transformer.lora", PCTL_SCALAR_F32,
		 "of matrices: the rows of y0 and x reversed give the rows of y so", spoil_first,
		 "the first element's lowest bit"},
		{"transformer.moe_route", PCTL_SCALAR_F32,
		 "the rows of the logits reversed give those of experts and weights so",
		 spoil_first, "another first expert"},
		{"transformer.moe_route", PCTL_SCALAR_F32,
		 "of matrices: experts and weights are what softmax, topk, sum and div give one by "
		 "one",
		 spoil_last, "another last expert"},
		{"transformer.moe_route", PCTL_SCALAR_F32,
		 "without NaN that have a sign: experts of -Inf behind change nothing", spoil_even,
		 "another expert where there is an even number of them"},
		{"transformer.moe_linear", PCTL_SCALAR_F32,
		 "x and experts with their rows reversed give the rows of y so", spoil_first,
		 "the first element's lowest bit"},
		{"transformer.moe_linear", PCTL_SCALAR_F32,
		 "without a bias, of whole bytes: the last place is tensor.matmul's product with "
		 "its expert's matrix",
		 spoil_last, "the last element's lowest bit"},
		{"transformer.moe_linear", PCTL_SCALAR_F32,
		 "experts that w has not give the canonical NaN", spoil_last,
		 "the last element's lowest bit"},
		{"transformer.moe_linear", PCTL_SCALAR_F32,
		 "of a bias of f32: y is y without it, and ieee.add of it", spoil_biased,
		 "a bit where there is a bias"},
		{"transformer.moe_combine", PCTL_SCALAR_F32,
		 "the experts of all rows in reverse order give the same", spoil_by_order,
		 "the first weight's lowest bit shows"},
		{"transformer.moe_combine", PCTL_SCALAR_F32,
		 "of three dimensions: it is tensor.einsum of bk,bkm->bm", spoil_first,
		 "the first element's lowest bit"},
		{"transformer.penalty", PCTL_SCALAR_F32,
		 "where no token counts y is the logits, to the bit", spoil_last,
		 "the last element's lowest bit"},
		{"transformer.penalty", PCTL_SCALAR_F32,
		 "other tokens behind the first count give the same y", spoil_by_last,
		 "a token that does not count shows"},
		{"transformer.penalty", PCTL_SCALAR_F32,
		 "all rows in reverse order give the rows of y so", spoil_first,
		 "the first element's lowest bit"},
		{"transformer.penalty", PCTL_SCALAR_F32,
		 "y is what ops of one step each give of the counts", spoil_last,
		 "the last element's lowest bit"},
		{"transformer.sample", PCTL_SCALAR_F32,
		 "all rows in reverse order give the tokens so", spoil_first,
		 "another token in the first row"},
		{"transformer.sample", PCTL_SCALAR_F32, "with temperature 0 it is tensor.argmax",
		 spoil_last, "another token in the last row"},
		{"transformer.sample", PCTL_SCALAR_F32,
		 "with top_k 1, and with top_p 0, it is a greatest logit's, where there is none "
		 "above all numbers",
		 spoil_last, "another token in the last row"},
		{"transformer.sample", PCTL_SCALAR_F32,
		 "tokens of -Inf behind change nothing, where one is above -Inf", spoil_even,
		 "another token where there is an even number of them"},
		{"transformer.sample", PCTL_SCALAR_F32,
		 "top_k of the number of tokens, top_p of 1 and min_p of 0 are none", spoil_asked,
		 "another token where top_k is asked for"},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pctl_verdict v;
		pctl_problem p = caught(rows[i].op, rows[i].dtype, rows[i].law, rows[i].spoil,
					rows[i].spoilt, &v);

		pctl_problem_clear(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PCTL_TEST(test_proof_plans__faults_of_transformers_are_caught),
	};

	return run_all(tests, sizeof(tests) / sizeof(tests[0]));
}
