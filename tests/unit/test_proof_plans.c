/* Plan ops under proof: every problem of every shipped plan op on the reference backend, every law known, and violators
 * that change an element, break stability, miss a tolerance or drop an edge: each is caught and made small. */
#include <stdlib.h>

#include "main.h"

#include "diag/diag.h"
#include "graph/library.h"
#include "graph/type.h"
#include "proof/plans.h"

/* The shipped plugins, and the device named by PIPECTL_PROOF_DEVICE (the reference without). */
static struct {
	pctl_diag_list *said;
	const pctl_call *call;
	pctl_registry *registry;
	pctl_op_library *library;
	pctl_devices *devices;
	pctl_backend_session *backend;
	pctl_bench bench;
} rig;

static void must(pctl_status status, const char *what)
{
	const uint32_t n = pctl_diag_list_count(rig.said);

	if (status != PCTL_OK)
		fail_msg("%s: %s", what,
			 n == 0 ? "nothing said" : pctl_diag_list_at(rig.said, n - 1)->message);
}
#define MUST(x) must(x, #x)

static int set_up(void **state)
{
	static const char *const dirs[] = {PIPECTL_BINARY_DIR "/plugins.d"};
	const pctl_registry_options options = {.dirs = dirs,
					       .n_dirs = 1,
					       .flags = PCTL_REGISTRY_NO_DEFAULT_DIRS,
					       .home = PIPECTL_BINARY_DIR "/test-home",
					       .worker = PIPECTL_BINARY_DIR "/bin/pipectl-worker"};
	pctl_session_options session = {.id = "cpu:0", .name = "cpu:0"};
	const pctl_device_entry *entry;

	(void)state;
	rig.said = pctl_diag_list_create();
	rig.call = pctl_diag_list_call(rig.said);
	MUST(pctl_registry_open(&options, rig.call, &rig.registry));
	rig.library = pctl_op_library_create(rig.registry, rig.call);
	rig.bench.ops = pctl_op_library_source(rig.library);
	rig.bench.kernels = pctl_kernels_create(rig.bench.ops);
	MUST(pctl_devices_find(rig.registry, "cpu", PCTL_DEVICES_IN_PROCESS, rig.call, &rig.devices,
			       &entry));
	MUST(pctl_backend_session_open(rig.registry, entry->backend, entry->env,
				       PCTL_SESSION_IN_PROCESS, rig.call, &rig.backend));
	session.table = rig.backend->table;
	session.inst = rig.backend->inst;
	session.index = entry->in_driver;
	session.device_kind = entry->kind;
	MUST(pctl_session_open(&session, rig.call, &rig.bench.device));
	rig.bench.registry = rig.registry;
	rig.bench.entry = entry;
	rig.bench.reference = rig.bench.device;
	rig.bench.seed = 1;
	rig.bench.cases = 1000;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	pctl_session_close(rig.bench.device);
	pctl_backend_session_close(rig.backend, NULL);
	pctl_devices_destroy(rig.devices);
	pctl_kernels_destroy(rig.bench.kernels);
	pctl_op_library_destroy(rig.library);
	pctl_registry_close(rig.registry);
	pctl_diag_list_destroy(rig.said);
	return 0;
}

static uint32_t count_of(uint32_t code)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < pctl_diag_list_count(rig.said); i++)
		n += pctl_diag_list_at(rig.said, i)->code == code;
	return n;
}

/* ---- every unit holds on the reference ------------------------------------------------------------ */

static uint64_t run_track(uint32_t track, uint32_t level, uint32_t least_units, uint8_t digests[32])
{
	const pctl_selection s = {NULL, track, level};
	pctl_hasher *all;
	uint64_t cases = 0;
	pctl_units *list;
	pctl_cid sum;

	MUST(pctl_units_create(rig.call, &list));
	MUST(pctl_plan_units(&rig.bench, &s, rig.call, list));
	MUST(pctl_hasher_create(rig.call, &all));
	assert_true(list->n >= least_units);
	for (uint32_t i = 0; i < list->n; i++) {
		const pctl_unit *u = &list->units[i];
		uint64_t of_unit = 0, skipped = 0;

		for (uint64_t b = 0; b < u->n_blocks; b++) {
			pctl_block out;

			MUST(u->run(u, &rig.bench, b, rig.call, &out));
			if (out.failures != 0)
				fail_msg("%s %s block %llu: %s: got %s, want %s", u->subject,
					 u->name, (unsigned long long)b, out.first.inputs,
					 out.first.got, out.first.want);
			assert_true(out.cases > 0);
			of_unit += out.cases;
			skipped += out.skipped;
			MUST(pctl_hasher_update(all, out.digest, sizeof(out.digest)));
		}
		assert_int_equal(of_unit, u->n_cases);
		/* A law that nothing was left of proves nothing. */
		if (skipped >= of_unit)
			fail_msg("%s %s: every problem was skipped", u->subject, u->name);
		cases += of_unit;
	}
	MUST(pctl_hasher_finish(all, &sum));
	memcpy(digests, sum.digest, 32);
	pctl_units_destroy(list);
	return cases;
}

static void test_proof_plans__integer_ops_hold_and_digests_repeat(void **state)
{
	uint8_t one[32], two[32];

	(void)state;
	/* Parity of reduce_max and scan in two types, sort and the three of rank, and all their laws. */
	assert_true(run_track(PCTL_TRACK_INTEGER, 4, 8 + 2 + 4 + 3 + 2 + 3 + 3 - 1, one) > 1000);
	(void)run_track(PCTL_TRACK_INTEGER, 4, 1, two);
	assert_memory_equal(one, two, 32);
	assert_int_equal(count_of(PC5351_PLAN_PROSE), 0);
}

static void test_proof_plans__float_ops_hold(void **state)
{
	uint8_t digest[32];

	(void)state;
	assert_true(run_track(PCTL_TRACK_FLOAT, 2, 6 + 6 + 9, digest) > 1000);
	assert_int_equal(count_of(PC5351_PLAN_PROSE), 0);
}

static void test_proof_plans__approximate_ops_hold(void **state)
{
	uint8_t digest[32];

	(void)state;
	assert_true(run_track(PCTL_TRACK_APPROXIMATE, 1, 6, digest) > 100);
	assert_int_equal(count_of(PC5351_PLAN_PROSE), 0);
}

static void test_proof_plans__levels_select(void **state)
{
	const pctl_selection none = {NULL, PCTL_TRACK_INTEGER, 2},
			     one = {"tensor.scan@1", PCTL_TRACK_INTEGER, 3},
			     parity = {"ieee.reduce_*", PCTL_TRACK_FLOAT, 1};
	pctl_units *list;

	(void)state;
	MUST(pctl_units_create(rig.call, &list));
	MUST(pctl_plan_units(&rig.bench, &none, rig.call, list));
	assert_int_equal(list->n, 0);
	MUST(pctl_plan_units(&rig.bench, &one, rig.call, list));
	assert_int_equal(list->n, 6); /* u32 and u64: parity and two laws */
	MUST(pctl_plan_units(&rig.bench, &parity, rig.call, list));
	assert_int_equal(list->n, 12); /* two ops in three types */
	for (uint32_t i = 6; i < 12; i++)
		assert_int_equal(list->units[i].kind, PCTL_UNIT_PARITY);
	pctl_units_destroy(list);
}

/* ---- violators ------------------------------------------------------------------------------------ */

typedef void (*spoiler)(const pctl_problem *p, pctl_answer *a);

typedef struct violator {
	pctl_solver solver;
	pctl_session_solver right;
	spoiler spoil;
} violator;

static pctl_status solve_wrongly(void *ctx, const pctl_problem *p, const pctl_call *call,
				 pctl_answer *out)
{
	violator *v = ctx;
	const pctl_status status = v->right.solver.solve(v->right.solver.ctx, p, call, out);

	if (status == PCTL_OK && !out->refused)
		v->spoil(p, out);
	return status;
}

/* Parity or a law of op on dtype: problems until one fails, which is then made small. */
static pctl_problem caught(const char *op, uint32_t dtype, const char *law, spoiler spoil,
			   pctl_verdict *verdict)
{
	violator v = {.spoil = spoil};
	pctl_session_solver reference;
	pctl_arena *arena = pctl_arena_create();
	pctl_judge j = {rig.bench.ops, &v.solver, &reference.solver, NULL};
	pctl_problem p = {.n_in = 0};
	pctl_problems list;
	uint32_t minimal = 0;
	pctl_op_ref ref;

	v.solver = (pctl_solver){&v, solve_wrongly};
	pctl_solver_session(&v.right, &rig.bench, rig.bench.device);
	pctl_solver_reference(&reference, &rig.bench);
	MUST(pctl_op_find(rig.bench.ops, op, 1, 1, NULL, rig.call, &ref));
	if (law != NULL) {
		j.law = pctl_plan_law_find(ref.desc, law);
		assert_non_null(j.law);
	}
	MUST(pctl_problems_of(&rig.bench, &ref, dtype, arena, rig.call, &list));
	memset(verdict, 0, sizeof(*verdict));
	for (uint64_t i = 0; i < list.n && !verdict->failed; i++) {
		pctl_problem_clear(&p);
		MUST(pctl_problems_make(&list, i, rig.call, &p));
		MUST(pctl_judge_problem(&j, &p, NULL, rig.call, verdict));
	}
	if (!verdict->failed)
		fail_msg("%s: not caught", op);
	MUST(pctl_judge_shrink(&j, &p, rig.call, &minimal));
	assert_int_equal(minimal, 1);
	MUST(pctl_judge_problem(&j, &p, NULL, rig.call, verdict));
	assert_int_equal(verdict->failed, 1);
	pctl_arena_destroy(arena);
	return p;
}

/* Wrong from 33 elements on: the second run of 32. */
static void spoil_scan(const pctl_problem *p, pctl_answer *a)
{
	if (pctl_problem_elements(p) > 32)
		a->data[0][4 * 32] ^= 1;
}

static void test_proof_plans__a_changed_element_is_caught(void **state)
{
	pctl_verdict v;
	pctl_problem p = caught("tensor.scan", PCTL_SCALAR_U32, NULL, spoil_scan, &v);
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
		   &v);
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
	pctl_problem p = caught("tensor.sort_pairs", PCTL_SCALAR_U32,
				"pairs of equal keys keep their order", spoil_stability, &v);

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
		       spoil_permutation, &v);

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
		   &v);
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
	pctl_judge j = {rig.bench.ops, &v.solver, NULL, NULL};
	pctl_verdict verdict;
	pctl_problem p;

	(void)state;
	v.solver = (pctl_solver){&v, solve_wrongly};
	pctl_solver_session(&v.right, &rig.bench, rig.bench.device);
	MUST(pctl_problem_other(rig.bench.ops, "ieee.reduce_approx", 1, rig.call, &p));
	MUST(pctl_problem_port(&p, 0, &t, rig.call));
	memcpy(p.data[0], x, sizeof(x));
	pctl_problem_set(&p, 0, "add");
	pctl_problem_set(&p, 1, "100");
	j.law = pctl_plan_law_find(
		p.op.desc, "within ulps of the exact result as the specification measures it");
	/* The sum is 2, so is the sum of sizes: a unit is 2^-22, what is added to the bits counts as it is. */
	units = 100;
	MUST(pctl_judge_problem(&j, &p, NULL, rig.call, &verdict));
	assert_int_equal(verdict.failed, 0);
	assert_int_equal(verdict.skipped, 0);
	units = 101;
	MUST(pctl_judge_problem(&j, &p, NULL, rig.call, &verdict));
	assert_int_equal(verdict.failed, 1);
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
	pctl_problem p = caught("rank.prepare", PCTL_SCALAR_U32, law, spoil_chunks, &v);

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
	pctl_problem p = caught("rank.pagerank", PCTL_SCALAR_U32, NULL, spoil_rank, &v);

	(void)state;
	assert_non_null(strstr(v.got, "ranks[1]"));
	pctl_problem_clear(&p);
	p = caught("rank.pagerank", PCTL_SCALAR_U32, "iterations = 0 gives every node 10^15 div n",
		   spoil_rank, &v);
	pctl_problem_clear(&p);
	/* A payload's lowest bit is not hidden by any sum: half the answers are above the bound or below what they were. */
	p = caught("rank.step", PCTL_SCALAR_U32,
		   "renaming the nodes renames the ranks and changes none", spoil_rank, &v);
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
				"any permutation of x gives the same y", spoil_max, &v);
	uint64_t x;

	(void)state;
	assert_int_equal(pctl_problem_elements(&p), 2);
	memcpy(&x, p.data[0], 8);
	assert_true(x == 1 || x == 1ull << 32);
	pctl_problem_clear(&p);
	p = caught("tensor.reduce_max", PCTL_SCALAR_U32,
		   "y is one of the elements, and no element is above y", spoil_max, &v);
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
				spoil_tree, &v);

	(void)state;
	assert_true(pctl_problem_elements(&p) <= 4);
	pctl_problem_clear(&p);
}

/* ---- ops of others -------------------------------------------------------------------------------- */

static pctl_op_desc foreign_desc;
static pctl_op_rules foreign_rules;
static uint32_t foreign_refuses;

static pctl_status foreign_infer(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
				 pctl_op_result *out)
{
	(void)inst;
	out->out[0] = q->in[0];
	if (foreign_refuses)
		return pctl_refuse(call, PC4201_OP_TYPE, "no");
	return q->in[0].dim[0] == q->in[1].dim[0] ? PCTL_OK
						  : pctl_refuse(call, PC4201_OP_TYPE, "no");
}

static const pctl_op_rules *foreign_rules_of(pctl_instance *inst, uint32_t op)
{
	(void)inst;
	(void)op;
	return &foreign_rules;
}

static uint32_t one_op(void *ctx)
{
	(void)ctx;
	return 1;
}

static void foreign_at(void *ctx, uint32_t i, pctl_op_ref *out)
{
	static pctl_oplib lib = {
		.head = PCTL_HEAD(pctl_oplib), .infer = foreign_infer, .rules = foreign_rules_of};

	(void)ctx;
	(void)i;
	*out = (pctl_op_ref){.lib = &lib, .desc = &foreign_desc, .plugin = "foreign", .digest = ""};
}

static void test_proof_plans__an_op_nobody_knows_gets_problems(void **state)
{
	static const pctl_port in[] = {{"x", "u16|f16[r,3]", "", 0, 0}, {"w", "u32[r]", "", 0, 0}};
	static const pctl_port out[] = {{"y", "u16|f16[r,3]", "", 0, 0}};
	static const pctl_law laws[] = {{PCTL_LAW_CUSTOM, 0, 0, 0, NULL, NULL, "y looks like x"}};
	static const pctl_attr_desc attr[] = {{"fast", NULL, "", PCTL_ATTR_BOOL, 0, 0, 1}};
	const pctl_op_source source = {NULL, one_op, foreign_at};
	const pctl_selection s = {NULL, PCTL_TRACK_INTEGER, 3},
			     a = {NULL, PCTL_TRACK_APPROXIMATE, 1};
	pctl_bench bench = {.ops = &source, .seed = 1, .cases = 1000};
	pctl_units *list;

	(void)state;
	foreign_refuses = 0;
	foreign_rules =
		(pctl_op_rules){.head = PCTL_HEAD(pctl_op_rules), .laws = laws, .n_laws = 1};
	foreign_desc = (pctl_op_desc){.head = PCTL_HEAD(pctl_op_desc),
				      .name = "foreign.op",
				      .version = 3,
				      .kind = PCTL_OPDEF_PLAN,
				      .op_class = PCTL_CLASS_INTEGER,
				      .n_in = 2,
				      .n_out = 1,
				      .n_attr = 1,
				      .in = in,
				      .out = out,
				      .attr = attr};
	MUST(pctl_units_create(rig.call, &list));
	MUST(pctl_plan_units(&bench, &s, rig.call, list));
	assert_int_equal(list->n, 2); /* parity in two types; the law is prose, and said to be */
	assert_string_equal(list->units[0].subject, "foreign.op@3 u16");
	assert_non_null(strstr(list->units[0].domain, "fast=false|true"));
	assert_true(list->units[0].n_cases > 100);
	assert_int_equal(count_of(PC5351_PLAN_PROSE), 1);

	/* An approximate op whose measure nobody knows. */
	foreign_desc.op_class = PCTL_CLASS_APPROXIMATE;
	assert_int_equal(pctl_plan_units(&bench, &a, rig.call, list), PCTL_E_UNSUPPORTED);
	assert_int_equal(count_of(PC5352_PLAN_TOLERANCE), 1);

	/* An op that takes nothing. */
	foreign_desc.op_class = PCTL_CLASS_INTEGER;
	foreign_refuses = 1;
	assert_int_equal(pctl_plan_units(&bench, &s, rig.call, list), PCTL_E_FAILED);
	assert_int_equal(count_of(PC5350_PLAN_PROBLEMS), 1);
	pctl_units_destroy(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PCTL_TEST(test_proof_plans__integer_ops_hold_and_digests_repeat),
		PCTL_TEST(test_proof_plans__float_ops_hold),
		PCTL_TEST(test_proof_plans__approximate_ops_hold),
		PCTL_TEST(test_proof_plans__levels_select),
		PCTL_TEST(test_proof_plans__a_changed_element_is_caught),
		PCTL_TEST(test_proof_plans__broken_stability_is_caught),
		PCTL_TEST(test_proof_plans__a_lost_payload_is_caught),
		PCTL_TEST(test_proof_plans__a_missed_tolerance_is_caught),
		PCTL_TEST(test_proof_plans__what_is_within_tolerance_is_not),
		PCTL_TEST(test_proof_plans__a_lost_edge_is_caught),
		PCTL_TEST(test_proof_plans__a_wrong_rank_is_caught),
		PCTL_TEST(test_proof_plans__an_ignored_element_is_caught),
		PCTL_TEST(test_proof_plans__another_order_is_caught),
		PCTL_TEST(test_proof_plans__an_op_nobody_knows_gets_problems),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down) != 0 || tests_skipped != 0;
}
