/* Ops put into a plan that somebody else makes, as steps of a machine are: with an output in an input's very range copies fall away, and what cannot be so
 * is refused; only who keeps a plan may have assertions in it. */
#include "main.h"

#include <stdlib.h>

#include "foundation/diag/diag.h"
#include "planted/planted.h"
#include "runtime/graph/jobplan.h"

#define N 256u
#define BYTES (N * 4u)
#define PUT                                                               \
	"@group(0) @binding(0) var<storage, read> x: array<u32>;\n"       \
	"@group(0) @binding(1) var<storage, read_write> y: array<u32>;\n" \
	"@compute @workgroup_size(64)\n"                                  \
	"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"       \
	"\tif (id.x < arrayLength(&y)) { y[id.x] = y[id.x] * 3u + x[id.x]; }\n}\n"

/* p.put(by, x): y is x, then 3 y + by. Buffers: by 0, x 1, y 2. */
static const pctl_port in[] = {{"by", "u32[n]", "data", 0, 0}, {"x", "u32[n]", "data", 0, 0}};
static const pctl_port out[] = {{"y", "u32[n]", "data", PCTL_PORT_IN_PLACE(1), 0}};
static const pctl_op_desc put_desc = {PCTL_HEAD(pctl_op_desc),
				      "p.put",
				      "an op",
				      "exactly",
				      1,
				      PCTL_OPDEF_PLAN,
				      'A',
				      PCTL_CLASS_INTEGER,
				      1,
				      2,
				      1,
				      0,
				      in,
				      out,
				      NULL,
				      NULL,
				      NULL};

static pctl_status infer(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			 pctl_op_result *result)
{
	(void)inst;
	(void)call;
	result->out[0] = q->in[0];
	return PCTL_OK;
}

static pctl_status kernel(const pctl_plan_sink *s, uint32_t from, uint32_t to)
{
	const pctl_plan_binding b[2] = {{0, 0, from, 0, 0, 0}, {0, 1, to, 0, 0, 0}};
	const pctl_plan_kernel k = {.head = PCTL_HEAD(pctl_plan_kernel),
				    .name = "k",
				    .wgsl = PUT,
				    .bindings = b,
				    .n_bindings = 2,
				    .groups = {N / 64, 1, 1}};

	return s->kernel(s->ctx, &k);
}

/* In two copies, of which the order is free. */
static pctl_status good(const pctl_plan_sink *s)
{
	pctl_status status = s->copy(s->ctx, 1, BYTES / 2, 2, BYTES / 2, BYTES / 2);

	if (status == PCTL_OK)
		status = s->copy(s->ctx, 1, 0, 2, 0, BYTES / 2);
	return status == PCTL_OK ? kernel(s, 0, 2) : status;
}

static pctl_status asserts(const pctl_plan_sink *s, uint32_t buffer)
{
	const pctl_plan_assert a = {.head = PCTL_HEAD(pctl_plan_assert),
				    .buffer = buffer,
				    .bytes = 4,
				    .expected = 0xdeadu,
				    .message = "found %v"};
	const pctl_status status = good(s);

	return status == PCTL_OK ? s->assert_equal(s->ctx, &a) : status;
}

static pctl_status asserts_of_output(const pctl_plan_sink *s)
{
	return asserts(s, 2);
}

static pctl_status asserts_of_place(const pctl_plan_sink *s)
{
	return asserts(s, 1);
}

static pctl_status reads_late(const pctl_plan_sink *s)
{
	uint32_t t;
	pctl_status status = s->temp(s->ctx, BYTES, &t);

	if (status == PCTL_OK)
		status = good(s);
	return status == PCTL_OK ? kernel(s, 1, t) : status;
}

static pctl_status copies_late(const pctl_plan_sink *s)
{
	pctl_status status = kernel(s, 0, 2);

	return status == PCTL_OK ? s->copy(s->ctx, 1, 0, 2, 0, BYTES) : status;
}

static pctl_status copies_shifted(const pctl_plan_sink *s)
{
	return s->copy(s->ctx, 1, 0, 2, 4, BYTES - 4);
}

static pctl_status copies_elsewhere(const pctl_plan_sink *s)
{
	uint32_t t;
	pctl_status status = s->temp(s->ctx, BYTES, &t);

	if (status == PCTL_OK)
		status = good(s);
	return status == PCTL_OK ? s->copy(s->ctx, 1, 0, t, 0, BYTES) : status;
}

static pctl_status nests(const pctl_plan_sink *s)
{
	static const uint32_t buffers[3] = {0, 1, 2};
	const pctl_tensor_type type = {.dtype = PCTL_SCALAR_U32, .rank = 1, .dim = {N}};
	const pctl_tensor_type types[3] = {type, type, type};

	return s->op(s->ctx, "p.put", 1, buffers, types, 3, NULL, 0);
}

static pctl_status fills_input(const pctl_plan_sink *s)
{
	return s->fill(s->ctx, 0, 0, BYTES, 0);
}

static pctl_status fills_output(const pctl_plan_sink *s)
{
	return s->fill(s->ctx, 2, BYTES / 2, BYTES / 2, 0);
}

static pctl_status copies_over_input(const pctl_plan_sink *s)
{
	uint32_t t;
	const pctl_status status = s->temp(s->ctx, BYTES, &t);

	return status == PCTL_OK ? s->copy(s->ctx, t, 0, 0, 4, 4) : status;
}

static pctl_status writes_input(const pctl_plan_sink *s)
{
	uint32_t t;
	const pctl_status status = s->temp(s->ctx, BYTES, &t);

	return status == PCTL_OK ? kernel(s, t, 0) : status;
}

/* The nested one has a temporary of this one as an input, and fills it. */
static pctl_status nested_fills(const pctl_plan_sink *s)
{
	static uint32_t depth;
	const pctl_tensor_type type = {.dtype = PCTL_SCALAR_U32, .rank = 1, .dim = {N}};
	const pctl_tensor_type types[3] = {type, type, type};
	uint32_t t[3] = {0, 0, 0};
	pctl_status status = PCTL_OK;

	if (depth != 0)
		return fills_input(s);
	for (uint32_t i = 0; i < 3 && status == PCTL_OK; i++)
		status = s->temp(s->ctx, BYTES, &t[i]);
	depth = 1;
	if (status == PCTL_OK)
		status = s->op(s->ctx, "p.put", 1, t, types, 3, NULL, 0);
	depth = 0;
	return status;
}

static pctl_status (*put_with)(const pctl_plan_sink *s) = good;

static pctl_status plan(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			const pctl_plan_caps *caps, uint32_t flags, const pctl_plan_sink *sink)
{
	(void)inst;
	(void)call;
	(void)q;
	(void)caps;
	(void)flags;
	return put_with(sink);
}

static const pctl_oplib library = {.head = PCTL_HEAD(pctl_oplib), .infer = infer, .plan = plan};

static uint32_t count(void *ctx)
{
	(void)ctx;
	return 1;
}

static void at(void *ctx, uint32_t i, pctl_op_ref *ref)
{
	(void)ctx;
	(void)i;
	*ref = (pctl_op_ref){&library, NULL, &put_desc, 0, 0, "p", "d1"};
}

static const pctl_op_source source = {NULL, count, at};

static int is_over; /* y lies over by, which the op does not declare */

/* A memory of the caller's whose first half is by, and its second x and y. */
static pctl_status put(uint32_t flags, const pctl_call *call, pctl_kernels *kernels,
		       pctl_job_plan **p)
{
	const pctl_planner planner = {
		.ops = &source, .kernels = kernels, .caps = {.head = PCTL_HEAD(pctl_plan_caps)}};
	const pctl_tensor_type type = {.dtype = PCTL_SCALAR_U32, .rank = 1, .dim = {N}};
	const pctl_tensor_type types[2] = {type, type};
	const pctl_op_query q = {.head = PCTL_HEAD(pctl_op_query), .n_in = 2, .in = types};
	pctl_plan_slot slots[3] = {{.n_bytes = BYTES}, {.n_bytes = BYTES}, {.n_bytes = BYTES}};
	pctl_op_ref op;

	at(NULL, 0, &op);
	assert_int_equal(pctl_job_plan_create("j", call, p), PCTL_OK);
	assert_int_equal(
		pctl_job_plan_buffer(*p, PCTL_PLAN_OUTPUT, 2 * BYTES, NULL, call, &slots[0].buffer),
		PCTL_OK);
	slots[1].buffer = slots[0].buffer;
	slots[1].offset = BYTES;
	slots[2] = slots[is_over ? 0 : 1];
	return pctl_job_plan_put(&planner, &op, &q, slots, 3, flags, call, *p);
}

static void put_right(void **state)
{
	pctl_diag_list *l = pctl_diag_list_create();
	const pctl_call *call = pctl_diag_list_call(l);
	pctl_kernels *kernels = pctl_kernels_create(&source);
	pctl_job_plan *p;

	(void)state;
	put_with = good;
	assert_int_equal(put(0, call, kernels, &p), PCTL_OK);
	assert_int_equal(p->n_steps, 1); /* the kernel; both copies fell away */
	assert_int_equal(p->steps[0].kind, PCTL_STEP_KERNEL);
	pctl_job_plan_destroy(p);
	put_with = asserts_of_output;
	assert_int_equal(put(PCTL_PUT_KEPT, call, kernels, &p), PCTL_OK);
	assert_int_equal(p->n_checks, 1);
	assert_int_equal(p->checks[0].offset, BYTES);
	pctl_job_plan_destroy(p);
	pctl_kernels_destroy(kernels);
	pctl_diag_list_destroy(l);
}

static const struct {
	const char *fault, *words;
	pctl_status (*plan)(const pctl_plan_sink *);
	uint32_t flags, is_over;
} wrong[] = {
	{"put: an input is read where its output lies", "is bound to a kernel", reads_late, 1, 0},
	{"put: a place is copied behind what writes it", "behind what writes", copies_late, 1, 0},
	{"put: a place is copied to another place", "copied elsewhere", copies_shifted, 1, 0},
	{"put: a place is copied elsewhere", "copied elsewhere", copies_elsewhere, 1, 0},
	{"put: an assertion about a place", "an assertion about", asserts_of_place, 1, 0},
	{"put: a place goes to a nested op", "goes to a nested op", nests, 1, 0},
	{"put: an assertion that nobody looks at", "within a repeat", asserts_of_output, 0, 0},
	{"put: an input that lies in a memory is filled", "a fill of an input", fills_input, 0, 0},
	{"put: an input that lies in a memory is copied over", "a copy over an input",
	 copies_over_input, 0, 0},
	{"put: a kernel writes an input that lies in a memory", "a kernel writes an input",
	 writes_input, 0, 0},
	{"put: an output is filled that lies over an input", "output that lies over an input",
	 fills_output, 0, 1},
	{"put: a nested op fills its input, a temporary", "a fill of an input", nested_fills, 0,
	 0}};

static void put_wrong(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		pctl_diag_list *l = pctl_diag_list_create();
		pctl_kernels *kernels = pctl_kernels_create(&source);
		pctl_job_plan *p;

		put_with = wrong[i].plan;
		is_over = (int)wrong[i].is_over;
		assert_int_equal(put(wrong[i].flags ? PCTL_PUT_KEPT : 0, pctl_diag_list_call(l),
				     kernels, &p),
				 PCTL_E_PLUGIN);
		assert_int_equal(pctl_diag_list_at(l, 0)->code, PC4132_PLAN);
		assert_non_null(strstr(pctl_diag_list_at(l, 0)->message, wrong[i].words));
		planted(wrong[i].fault, "p.put", "PC4132", pctl_diag_list_at(l, 0)->message);
		pctl_job_plan_destroy(p);
		pctl_kernels_destroy(kernels);
		pctl_diag_list_destroy(l);
	}
	is_over = 0;
}

PCTL_TESTS_MAIN(PCTL_TEST(put_right), PCTL_TEST(put_wrong))
