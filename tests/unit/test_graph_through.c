/* Plans of a job with elementwise jobs before and behind it (jobplan_through.h): the kernels of the library call functions of the host, and a library
 * that goes past them is refused. What such plans compute is the business of tests/integration/fuse. */
#include "main.h"

#include <stdlib.h>

#include "foundation/diag/diag.h"
#include "planted/planted.h"
#include "runtime/graph/jobplan_through.h"

#define N 256u
#define BYTES (N * 4u)
#define MAIN(e)                                                     \
	"@compute @workgroup_size(64)\n"                            \
	"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n" \
	"\tlet i = id.x;\n\tif (i < arrayLength(&y)) { y[i] = " e "; }\n}\n"
#define Y "@group(0) @binding(1) var<storage, read_write> y: array<u32>;\n"
#define X "@group(0) @binding(0) var<storage, read> x: array<u32>;\n"

enum { READ = PCTL_PLAN_READ_THROUGH(0), WRITE = PCTL_PLAN_WRITE_THROUGH(0) };

/* p.twice(x): y = 2 x. Buffers: x 0, y 1. */
static const pctl_port in[] = {{"x", "u32[n]", "data", PCTL_PORT_THROUGH, 0}};
static const pctl_port out[] = {{"y", "u32[n]", "data", PCTL_PORT_THROUGH, 0}};
static const pctl_op_desc twice = {PCTL_HEAD(pctl_op_desc),
				   "p.twice",
				   "an op",
				   "exactly",
				   1,
				   PCTL_OPDEF_PLAN,
				   'A',
				   PCTL_CLASS_INTEGER,
				   1,
				   1,
				   1,
				   0,
				   in,
				   out,
				   NULL,
				   NULL,
				   NULL};

static pctl_status kernel(const pctl_plan_sink *s, const char *text, uint32_t through,
			  uint64_t write_from)
{
	const pctl_plan_binding b[2] = {{0, 0, 0, 0, 0, 0}, {0, 1, 1, 0, 0, 0}};
	const uint32_t first = strstr(text, X) == NULL ? 1 : 0;
	const pctl_plan_kernel k = {.head = PCTL_HEAD(pctl_plan_kernel),
				    .name = "k",
				    .wgsl = text,
				    .bindings = b + first,
				    .n_bindings = 2 - first,
				    .groups = {N / 64, 1, 1},
				    .through = through,
				    .write_from = write_from};

	return s->kernel(s->ctx, &k);
}

static pctl_status good(const pctl_plan_sink *s)
{
	return kernel(s, Y MAIN("write_through_0(i, 2u * read_through_0(i))"), READ | WRITE, 7);
}

static pctl_status writes_past(const pctl_plan_sink *s)
{
	return kernel(s, Y MAIN("2u * read_through_0(i)"), READ, 0);
}

static pctl_status reads_past(const pctl_plan_sink *s)
{
	return kernel(s, X Y MAIN("write_through_0(i, 2u * x[i])"), WRITE, 0);
}

static pctl_status fills(const pctl_plan_sink *s)
{
	return s->fill(s->ctx, 1, 0, BYTES, 0);
}

static pctl_status copies(const pctl_plan_sink *s)
{
	uint32_t t;
	const pctl_status status = s->temp(s->ctx, BYTES, &t);

	return status == PCTL_OK ? s->copy(s->ctx, 0, 0, t, 0, BYTES) : status;
}

static pctl_status nothing(const pctl_plan_sink *s)
{
	(void)s;
	return PCTL_OK;
}

static pctl_status calls_more(const pctl_plan_sink *s)
{
	return kernel(s, Y MAIN("write_through_0(i, read_through_1(i))"),
		      WRITE | PCTL_PLAN_READ_THROUGH(1), 0);
}

static pctl_status unsupported(const pctl_plan_sink *s)
{
	(void)s;
	return PCTL_E_UNSUPPORTED;
}

static pctl_status (*put_with)(const pctl_plan_sink *s) = good;
static uint32_t asked;

static pctl_status plan(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			const pctl_plan_caps *caps, uint32_t flags, const pctl_plan_sink *sink)
{
	(void)inst;
	(void)call;
	(void)q;
	(void)caps;
	asked = flags;
	return put_with(sink);
}

static const pctl_oplib library = {.head = PCTL_HEAD(pctl_oplib), .plan = plan};
static const pctl_op_source source = {NULL, NULL, NULL};

/* Before: a + b. Behind: what is given, plus c stretched. Inputs a, b, c. */
#define PLUS "fn p_plus(a: u32, b: u32) -> u32 {\n\treturn a + b;\n}\n"
static pctl_status plan_through(const pctl_call *call, pctl_kernels *kernels, pctl_job_plan **p)
{
	const pctl_planner planner = {
		.ops = &source, .kernels = kernels, .caps = {.head = PCTL_HEAD(pctl_plan_caps)}};
	const pctl_tensor_type type = {.dtype = PCTL_SCALAR_U32, .rank = 1, .dim = {N}};
	const pctl_tensor_type one = {.dtype = PCTL_SCALAR_U32, .rank = 1, .dim = {1}};
	const pctl_op_query q = {.head = PCTL_HEAD(pctl_op_query), .n_in = 1, .in = &type};
	const pctl_op_ref op = {&library, NULL, &twice, 0, 0, "p", "d1"};
	const uint64_t bytes[3] = {BYTES, BYTES, 4};
	pctl_element_node nodes[6] = {{.kind = PCTL_ELEMENT_INPUT, .type = type},
				      {.kind = PCTL_ELEMENT_INPUT, .buffer = 1, .type = type},
				      {.kind = PCTL_ELEMENT_INPUT, .buffer = 2, .type = one},
				      {.kind = PCTL_ELEMENT_FUNCTION,
				       .type = type,
				       .op = "p.plus",
				       .text = PLUS,
				       .operand = PCTL_SCALAR_U32,
				       .n_in = 2,
				       .in = {0, 1}},
				      {.kind = PCTL_ELEMENT_GIVEN, .type = type},
				      {.kind = PCTL_ELEMENT_FUNCTION,
				       .type = type,
				       .op = "p.plus",
				       .text = PLUS,
				       .operand = PCTL_SCALAR_U32,
				       .n_in = 2,
				       .in = {4, 2}}};
	const pctl_through t = {.op = &op,
				.q = &q,
				.flags = READ | WRITE,
				.n_nodes = 6,
				.n_functions = 2,
				.n_in = 3,
				.nodes = nodes,
				.functions = {{READ, 3}, {WRITE, 5}},
				.in_bytes = bytes,
				.in = {UINT32_MAX},
				.out_bytes = BYTES};

	pctl_index_map_stretch(&one, &type, &nodes[5].map[1]);
	return pctl_job_plan_through(&planner, "j", &t, call, p);
}

static void through_right(void **state)
{
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_kernels *kernels = pctl_kernels_create(&source);
	const pctl_step *step;
	pctl_job_plan *p;
	uint32_t params = UINT32_MAX;

	(void)state;
	put_with = good;
	assert_int_equal(plan_through(pctl_diag_list_call(l), kernels, &p), PCTL_OK);
	assert_int_equal(asked, READ | WRITE);
	assert_int_equal(p->n_in, 3);
	assert_int_equal(p->n_out, 1);
	assert_int_equal(p->n_steps, 1);
	step = &p->steps[0];
	/* The output, three inputs, and where the kernel's elements begin with the stretched operand's index. */
	assert_int_equal(step->n_bindings, 5);
	for (uint32_t i = 0; i < step->n_bindings; i++)
		if (p->buffers[step->bindings[i].buffer].kind == PCTL_PLAN_PARAMS)
			params = step->bindings[i].buffer;
	assert_true(params != UINT32_MAX);
	assert_int_equal(*(const uint32_t *)p->buffers[params].data, 7);
	pctl_job_plan_destroy(p);
	put_with = unsupported;
	assert_int_equal(plan_through(pctl_diag_list_call(l), kernels, &p), PCTL_E_UNSUPPORTED);
	assert_null(p);
	assert_int_equal(pctl_diag_list_count(l), 0);
	pctl_kernels_destroy(kernels);
	pctl_diag_list_destroy(l);
}

static const struct {
	const char *fault, *words;
	pctl_status (*plan)(const pctl_plan_sink *);
} wrong[] = {
	{"through: an output is written past its function", "that does not call it", writes_past},
	{"through: an input is read past its function", "is named by a command", reads_past},
	{"through: an output is filled", "that does not call it", fills},
	{"through: an input is copied", "is named by a command", copies},
	{"through: nothing is called", "that it was asked to call", nothing},
	{"through: more is called", "was not asked for", calls_more}};

static void through_wrong(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		pctl_diag_list *l = pctl_diag_list_create();
		pctl_kernels *kernels = pctl_kernels_create(&source);
		pctl_job_plan *p;

		put_with = wrong[i].plan;
		assert_int_equal(plan_through(pctl_diag_list_call(l), kernels, &p), PCTL_E_PLUGIN);
		assert_null(p);
		assert_int_equal(pctl_diag_list_at(l, 0)->code, PC4132_PLAN);
		assert_non_null(strstr(pctl_diag_list_at(l, 0)->message, wrong[i].words));
		planted(wrong[i].fault, "p.twice", "PC4132", pctl_diag_list_at(l, 0)->message);
		pctl_kernels_destroy(kernels);
		pctl_diag_list_destroy(l);
	}
}

PCTL_TESTS_MAIN(PCTL_TEST(through_right), PCTL_TEST(through_wrong))
