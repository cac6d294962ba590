/* What infer says of how a use of an op can be cut, under proof: parts of ops that say so rightly give the same bytes, and a library that
 * says so of a dimension along which results hang together is caught. */
#include "test_proof_devices.h"

#include "planted/planted.h"

static const pctl_oplib *honest;
static pctl_oplib liar;

static pctl_status infer_falsely(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
				 pctl_op_result *out)
{
	const pctl_status status = honest->infer(inst, call, q, out);

	if (status == PCTL_OK && q->in[0].rank != 0) {
		out->n_cut = 1;
		for (uint32_t i = 0; i < q->n_in; i++)
			out->cut[i] = 1;
	}
	return status;
}

/* Problems of op on dtype that were cut; those that fail are counted, the first is told. */
static uint32_t cut_of(const char *op, uint32_t dtype, int lie, uint32_t *failed,
		       pctl_verdict *first)
{
	pctl_session_solver device, reference, parts;
	const pctl_plan_judge j = {rig.context.ops, &device.solver, &reference.solver, NULL,
				   &parts.solver};
	pctl_arena *arena = pctl_arena_create();
	pctl_problems list;
	pctl_op_ref ref;
	uint32_t n_cut = 0;

	pctl_solver_session(&device, &rig.context, rig.context.device);
	pctl_solver_reference(&reference, &rig.context);
	pctl_solver_parts(&parts, &rig.context, rig.context.device);
	MUST(pctl_op_find(rig.context.ops, op, 1, 1, NULL, rig.call, &ref));
	honest = ref.lib;
	liar = *honest;
	liar.infer = infer_falsely;
	if (lie)
		ref.lib = &liar;
	*failed = 0;
	MUST(pctl_problems_of(&rig.context, &ref, dtype, arena, rig.call, &list));
	for (uint64_t i = 0; i < list.n && i < 400 && (lie ? *failed == 0 : n_cut < 3); i++) {
		pctl_verdict v;
		pctl_answer a;
		pctl_problem p;

		MUST(pctl_problems_make(&list, i, rig.call, &p));
		MUST(parts.solver.solve(parts.solver.ctx, &p, rig.call, &a));
		if (a.n_out != 0) {
			n_cut++;
			MUST(pctl_plan_judge_problem(&j, &p, NULL, rig.call, &v));
			if (v.failed && (*failed)++ == 0)
				*first = v;
		}
		pctl_answer_clear(&a);
		pctl_problem_clear(&p);
	}
	pctl_arena_destroy(arena);
	return n_cut;
}

static void test_proof_plans__parts_hold(void **state)
{
	static const struct {
		const char *op;
		uint32_t dtype;
	} ops[] = {{"tensor.matmul", PCTL_SCALAR_F32},
		   {"tensor.variance", PCTL_SCALAR_F32},
		   {"tensor.rms_norm", PCTL_SCALAR_F32},
		   {"tensor.cumsum", PCTL_SCALAR_F32},
		   {"tensor.convert", PCTL_SCALAR_F32}};

	(void)state;
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		pctl_verdict first;
		uint32_t failed;

		if (cut_of(ops[i].op, ops[i].dtype, 0, &failed, &first) == 0)
			fail_msg("%s: no problem was cut", ops[i].op);
		if (failed != 0)
			fail_msg("%s: %s, not %s", ops[i].op, first.got, first.want);
	}
}

static void test_proof_plans__a_false_cut_is_caught(void **state)
{
	pctl_verdict first;
	uint32_t failed;

	(void)state;
	assert_int_not_equal(cut_of("tensor.cumsum", PCTL_SCALAR_F32, 1, &failed, &first), 0);
	assert_int_not_equal(failed, 0);
	assert_string_equal(first.text, "cut into parts");
	planted("infer says that sums hang together nowhere", "tensor.cumsum", "parity, in parts",
		planted_case("", first.got, first.want));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PCTL_TEST(test_proof_plans__parts_hold),
		PCTL_TEST(test_proof_plans__a_false_cut_is_caught),
	};

	return run_all(tests, sizeof(tests) / sizeof(tests[0]));
}
