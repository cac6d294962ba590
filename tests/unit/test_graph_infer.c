/* What infer answers is held against the ports: false views and shapes, ports that are falsely whole, symbols with two values. */
#include "test_graph_fake.h"

#include "planted/planted.h"
#include "runtime/graph/broadcast.h"

#define N 256u

static pctl_status no_steps(const pctl_call *call, const pctl_plan_sink *s)
{
	(void)call;
	(void)s;
	return PCTL_OK;
}

/* The plan of an op of vectors of N elements. */
static pctl_status make(uint32_t op, pctl_diag_list *l)
{
	pctl_kernels *k = pctl_kernels_create(&fake_source);
	const pctl_planner planner = {.ops = &fake_source, .kernels = k};
	const pctl_tensor_type in[2] = {{PCTL_SCALAR_U32, 1, {N}}, {PCTL_SCALAR_U32, 1, {N}}};
	const pctl_op_query q = {
		.head = PCTL_HEAD(pctl_op_query), .op = op, .in = in, .n_in = fake_ops[op].n_in};
	pctl_job_plan *p = NULL;
	pctl_op_ref ref;
	pctl_status status;

	fake_plan_with = no_steps;
	fake_at(NULL, op, &ref);
	status = pctl_job_plan_op(&planner, "j", &ref, &q, in, 0, pctl_diag_list_call(l), &p);
	pctl_job_plan_destroy(p);
	pctl_kernels_destroy(k);
	return status;
}

#define LIES(name, ...)                             \
	static void name(pctl_op_result *out)       \
	{                                           \
		pctl_tensor_type *t = &out->out[0]; \
		out->is_view = 1;                   \
		out->view_stride[0] = 1;            \
		(void)t;                            \
		__VA_ARGS__;                        \
	}
LIES(starts_behind_the_end, out->view_offset = N)
LIES(ends_behind_the_end, out->view_offset = 1)
LIES(steps_past_the_end, out->view_stride[0] = 2)
LIES(steps_beyond_64_bits, out->view_stride[0] = UINT64_MAX)
LIES(starts_beyond_64_bits, out->view_offset = UINT64_MAX)
LIES(is_longer, t->dim[0] = N + 1)
LIES(is_of_another_type, t->dtype = PCTL_SCALAR_I32)
LIES(is_a_matrix, t->rank = 2; t->dim[1] = 1; out->is_view = 0)
LIES(has_many_dimensions, t->rank = 4000)
LIES(gives_a_symbol_another_value, t->dim[0] = N / 2; out->is_view = 0)
LIES(is_no_view_of_two, (void)0)

static void false_views(void **state)
{
	static const struct {
		const char *fault;
		void (*lie)(pctl_op_result *out);
		uint32_t op;
		const char *said;
	} rows[] = {
		{"a view that begins behind its input's end", starts_behind_the_end, FAKE_PLAN,
		 "outside"},
		{"a view whose last element is behind the end", ends_behind_the_end, FAKE_PLAN,
		 "outside"},
		{"a view whose strides pass the end", steps_past_the_end, FAKE_PLAN, "outside"},
		{"a view whose strides pass 2^64", steps_beyond_64_bits, FAKE_PLAN, "outside"},
		{"a view that begins at 2^64 - 1", starts_beyond_64_bits, FAKE_PLAN, "outside"},
		{"a view that is longer than its input's symbol says", is_longer, FAKE_PLAN,
		 "u32[257]"},
		{"a view of another element type", is_of_another_type, FAKE_PLAN, "i32[256]"},
		{"a function op that says it is a view", is_no_view_of_two, FAKE_FUNCTION, "view"},
		{"an output with a dimension too many", is_a_matrix, FAKE_PLAN, "u32[256,1]"},
		{"an output of 4,000 dimensions", has_many_dimensions, FAKE_PLAN, "more than 8"},
		{"an output that gives a symbol another value", gives_a_symbol_another_value,
		 FAKE_PLAN, "u32[128]"},
		{"an elementwise op whose result is not stretched", gives_a_symbol_another_value,
		 FAKE_WHOLE, "another shape"},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pctl_diag_list *l = pctl_diag_list_create();
		pctl_status status;

		fake_infer_with = rows[i].lie;
		status = make(rows[i].op, l);
		fake_infer_with = NULL;
		if (status != pctl_code_status(PC4132_PLAN) || !fake_saw(l, PC4132_PLAN))
			fail_msg("%s: status %d", rows[i].fault, (int)status);
		assert_non_null(strstr(pctl_diag_list_at(l, 0)->message, rows[i].said));
		planted(rows[i].fault, fake_ops[rows[i].op].name, "PC4132",
			pctl_diag_list_at(l, 0)->message);
		pctl_diag_list_destroy(l);
	}
}

/* A port that need not be whole is flagged so: nothing is stretched, the port is named, and full shapes are computed as ever. */
static void falsely_whole(void **state)
{
	pctl_kernels *k = pctl_kernels_create(&fake_source);
	const pctl_planner planner = {.ops = &fake_source, .kernels = k};
	pctl_tensor_type in[2] = {{PCTL_SCALAR_U32, 1, {N}}, {PCTL_SCALAR_U32, 1, {1}}};
	const pctl_op_query q = {
		.head = PCTL_HEAD(pctl_op_query), .op = FAKE_WHOLE, .in = in, .n_in = 2};
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_job_plan *p = NULL;
	pctl_op_ref ref;

	(void)state;
	fake_at(NULL, FAKE_WHOLE, &ref);
	assert_int_equal(
		pctl_job_plan_op(&planner, "j", &ref, &q, in, 0, pctl_diag_list_call(l), &p),
		pctl_code_status(PC4107_BROADCAST));
	assert_non_null(strstr(pctl_diag_list_at(l, 0)->message, "port \"b\" is u32[1]"));
	planted("an elementwise operand is flagged as whole", "fake.whole", "PC4107",
		pctl_diag_list_at(l, 0)->message);
	in[1] = in[0];
	assert_int_equal(
		pctl_job_plan_op(&planner, "j", &ref, &q, in, 0, pctl_diag_list_call(l), &p),
		PCTL_OK);
	assert_int_equal(p->n_steps, 1);
	pctl_job_plan_destroy(p);
	/* The port that is not flagged is stretched to it. */
	in[0].dim[0] = 1;
	assert_int_equal(
		pctl_job_plan_op(&planner, "j", &ref, &q, &in[1], 0, pctl_diag_list_call(l), &p),
		PCTL_OK);
	pctl_job_plan_destroy(p);
	pctl_kernels_destroy(k);
	pctl_diag_list_destroy(l);
}

/* Two inputs of one symbol: the refusal names both places. */
static void symbols_at_dispatch(void **state)
{
	pctl_tensor_type in[2] = {{PCTL_SCALAR_U32, 1, {N}}, {PCTL_SCALAR_U32, 1, {N - 1}}};
	const pctl_op_query q = {
		.head = PCTL_HEAD(pctl_op_query), .op = FAKE_TWO, .in = in, .n_in = 2};
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_op_result result;
	pctl_op_ref ref;

	(void)state;
	fake_at(NULL, FAKE_TWO, &ref);
	assert_int_equal(pctl_op_infer(&ref, &q, "j", NULL, pctl_diag_list_call(l), &result),
			 pctl_code_status(PC4106_DIMENSION));
	assert_string_equal(
		pctl_diag_list_at(l, 0)->message,
		"job \"j\" port \"b\" wants u32[n], what feeds it is u32[255]: n is 255 "
		"in dimension 0, port \"a\" has n = 256 in dimension 0");
	in[1] = in[0];
	assert_int_equal(pctl_op_infer(&ref, &q, "j", NULL, pctl_diag_list_call(l), &result),
			 PCTL_OK);
	pctl_diag_list_destroy(l);
}

/* What a file declares: parameters give symbols numbers, and both places of a contradiction are named. */
static void symbols_declared(void **state)
{
	static const struct {
		const char *x, *a, *b, *first, *second;
	} rows[] = {
		{"5", "n", "n", NULL, NULL},
		{"5", "5", "n", NULL, NULL},
		{"5", "x", "5", NULL, NULL},
		{"5", "3", "4", "the 4 stands in input \"b\"", "the 3 stands in input \"a\""},
		{"5", "3", "x", "the 5 stands in parameter \"x\"", "the 3 stands in input \"a\""},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pctl_kernels *k = pctl_kernels_create(&fake_source);
		const pctl_graph_options o = {.ops = &fake_source, .kernels = k};
		pctl_diag_list *l = pctl_diag_list_create();
		pctl_pipeline *p = NULL;
		pctl_graph *g = NULL;
		const pctl_diag *d;
		char text[512];
		pctl_status status;

		snprintf(text, sizeof(text),
			 "pipeline : { name = \"p\"; class = \"integer\"; params : { x = %s; }; "
			 "inputs : { a : { type = \"u32[%s]\"; }; b : { type = \"u32[%s]\"; }; }; "
			 "jobs = ( { id = \"j\"; op = \"fake.two@2\"; in : { a = \"$a\"; b = "
			 "\"$b\"; "
			 "}; } ); outputs : { y = \"j.a\"; }; };",
			 rows[i].x, rows[i].a, rows[i].b);
		assert_int_equal(pctl_pipeline_read_text("p.cfg", text, strlen(text),
							 pctl_diag_list_call(l), &p),
				 PCTL_OK);
		status = pctl_graph_resolve(p, &o, pctl_diag_list_call(l), NULL, NULL, &g);
		if (rows[i].first == NULL) {
			if (status != PCTL_OK)
				fail_msg("row %u: %s", i, pctl_diag_list_at(l, 0)->message);
		} else {
			assert_true(fake_saw(l, PC4106_DIMENSION));
			d = pctl_diag_list_at(l, 0);
			assert_int_equal(d->n_notes, 3);
			assert_string_equal(d->notes[1].message, rows[i].first);
			assert_string_equal(d->notes[2].message, rows[i].second);
			assert_string_equal(d->notes[1].pos.file, "p.cfg");
		}
		pctl_graph_destroy(g);
		pctl_pipeline_destroy(p);
		pctl_kernels_destroy(k);
		pctl_diag_list_destroy(l);
	}
}

PCTL_TESTS_MAIN(PCTL_TEST(false_views), PCTL_TEST(falsely_whole), PCTL_TEST(symbols_at_dispatch),
		PCTL_TEST(symbols_declared))
