/* Dispatches whose workgroups stand in a buffer (SEMANTICS.md 17.11), in plans of an op library: as many run as an earlier kernel found, the
 * price is that of the most, and more than the most end the job. On the reference, and on every device that is here. */
#include "main.h"

#include <stdlib.h>

#include "foundation/diag/diag.h"
#include "planted/planted.h"
#include "runtime/exec/resident.h"
#include "runtime/plugin/registry.h"

#define MOST 4u /* workgroups */
#define N (64u * MOST)
#define BYTES (N * 4u)
#define X "@group(0) @binding(0) var<storage, read> x: array<u32>;\n"
#define Y "@group(0) @binding(1) var<storage, read_write> y: array<u32>;\n"
#define MAIN "fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
/* Element 0 is how many workgroups there are to be, and element 1 along the second dimension. */
#define COUNT                                    \
	X Y "@compute @workgroup_size(1)\n" MAIN \
	    "\tif (id.x < 3u) { y[id.x + 1u] = select(1u, x[id.x], id.x < 2u); }\n}\n"
#define ADD                                       \
	X Y "@compute @workgroup_size(64)\n" MAIN \
	    "\tif (id.x < arrayLength(&y)) { y[id.x] = y[id.x] + x[id.x] + 1u; }\n}\n"

static const pctl_port one_in[] = {{"x", "u32[n]", "data", 0, 0}};
static const pctl_port one_out[] = {{"y", "u32[n]", "data", 0, 0}};
static const pctl_op_desc desc = {.head = PCTL_HEAD(pctl_op_desc),
				  .name = "p.some",
				  .doc = "an op",
				  .spec = "exactly",
				  .version = 1,
				  .kind = PCTL_OPDEF_PLAN,
				  .category = 'A',
				  .op_class = PCTL_CLASS_INTEGER,
				  .convention = 1,
				  .n_in = 1,
				  .n_out = 1,
				  .in = one_in,
				  .out = one_out};

static pctl_status infer(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			 pctl_op_result *out)
{
	(void)inst;
	(void)call;
	out->out[0] = q->in[0];
	return PCTL_OK;
}

static pctl_status kernel(const pctl_plan_sink *s, const char *name, const char *text, uint32_t to,
			  uint32_t groups, uint32_t counts)
{
	const pctl_plan_binding b[2] = {{0, 0, 0, 0, 0, 0}, {0, 1, to, 0, 0, 0}};
	const pctl_plan_kernel k = {.head = PCTL_HEAD(pctl_plan_kernel),
				    .name = name,
				    .wgsl = text,
				    .bindings = b,
				    .n_bindings = 2,
				    .groups = {groups, 1, 1},
				    .counts = counts,
				    .counts_offset = 4};

	return s->kernel(s->ctx, &k);
}

static uint32_t turns = 1, is_direct; /* of the plan */

/* The numbers stand behind another word, in a temporary that the kernel after it writes again. */
static pctl_status plan(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			const pctl_plan_caps *caps, uint32_t flags, const pctl_plan_sink *s)
{
	const pctl_plan_repeat r = {PCTL_HEAD(pctl_plan_repeat), NULL, 0, turns};
	uint32_t t;
	pctl_status status = s->temp(s->ctx, 16, &t);

	(void)inst;
	(void)call;
	(void)q;
	(void)caps;
	(void)flags;
	if (status == PCTL_OK)
		status = s->fill(s->ctx, 1, 0, BYTES, 0);
	if (status == PCTL_OK && turns > 1)
		status = s->repeat(s->ctx, &r);
	if (status == PCTL_OK)
		status = kernel(s, "count", COUNT, t, 3, 0);
	if (status == PCTL_OK)
		status = kernel(s, "add", ADD, 1, MOST, is_direct ? 0 : 1 + t);
	if (status == PCTL_OK)
		status = s->fill(s->ctx, t, 0, 16, 77);
	return status == PCTL_OK && turns > 1 ? s->repeat_end(s->ctx) : status;
}

static const pctl_oplib library = {.head = PCTL_HEAD(pctl_oplib), .infer = infer, .plan = plan};

static uint32_t count(void *ctx)
{
	(void)ctx;
	return 1;
}

static void at(void *ctx, uint32_t i, pctl_op_ref *out)
{
	(void)ctx;
	*out = (pctl_op_ref){&library, NULL, &desc, i, 0, "p", "d1"};
}

static const pctl_op_source source = {NULL, count, at};

struct bench {
	char home[64];
	pctl_diag_list *l;
	const pctl_call *call;
	pctl_registry *registry;
	pctl_kernels *kernels;
	pctl_store *store;
	pctl_policy *policy;
	pctl_gas_schedule *schedule;
};

static void bench_open(struct bench *b)
{
	static const char *const dirs[] = {PIPECTL_BINARY_DIR "/plugins.d"};
	pctl_registry_options ro = {.flags = PCTL_REGISTRY_NO_DEFAULT_DIRS,
				    .dirs = dirs,
				    .n_dirs = 1,
				    .worker = PIPECTL_BINARY_DIR "/bin/pipectl-worker"};

	memset(b, 0, sizeof(*b));
	strcpy(b->home, "/tmp/pipectl-counts-XXXXXX");
	assert_non_null(mkdtemp(b->home));
	b->l = pctl_diag_list_create();
	b->call = pctl_diag_list_call(b->l);
	ro.home = b->home;
	assert_int_equal(pctl_registry_open(&ro, b->call, &b->registry), PCTL_OK);
	b->kernels = pctl_kernels_create(&source);
	assert_int_equal(pctl_store_open_memory(b->call, &b->store), PCTL_OK);
	assert_int_equal(pctl_policy_default(b->call, &b->policy), PCTL_OK);
	assert_int_equal(pctl_gas_schedule_read(PIPECTL_SOURCE_DIR "/conf/gas/structured-3.cfg",
						b->call, &b->schedule),
			 PCTL_OK);
}

static void bench_close(struct bench *b)
{
	char command[128];

	pctl_gas_schedule_destroy(b->schedule);
	pctl_policy_destroy(b->policy);
	pctl_store_close(b->store);
	pctl_kernels_destroy(b->kernels);
	pctl_registry_close(b->registry);
	pctl_diag_list_destroy(b->l);
	snprintf(command, sizeof(command), "rm -rf %s", b->home);
	assert_int_equal(system(command), 0);
}

static const char text[] =
	"pipeline : { name = \"p\"; class = \"integer\"; inputs : { d : { type = \"u32[n]\"; }; }; "
	"jobs = ( { id = \"a\"; op = \"p.some@1\"; in : { x = \"$d\"; }; } ); "
	"outputs : { y = \"a.y\"; }; };";

/* x: element i is i, but for the first two. */
static void give(uint32_t *x, uint32_t groups, uint32_t rows)
{
	for (uint32_t i = 0; i < N; i++)
		x[i] = i == 0 ? groups : i == 1 ? rows : i;
}

static pctl_status run(struct bench *b, const char *device, uint32_t flags, uint32_t groups,
		       uint32_t rows, pctl_cid *cid, uint64_t *gas)
{
	pctl_graph_options go = {.ops = &source, .kernels = b->kernels};
	uint32_t x[N];
	const pctl_input_bytes in = {"d", x, BYTES, {0, 0, {0}}};
	pctl_run_options o = {.registry = b->registry,
			      .ops = &source,
			      .store = b->store,
			      .schedule = b->schedule,
			      .policy = b->policy,
			      .given = &in,
			      .n_given = 1,
			      .backends = &device,
			      .n_backends = 1,
			      .flags = flags | PCTL_RUN_FRESH};
	pctl_run_result *r = NULL;
	pctl_pipeline *p;
	pctl_graph *g;
	pctl_status status;

	give(x, groups, rows);
	assert_int_equal(pctl_pipeline_read_text("p.cfg", text, strlen(text), b->call, &p),
			 PCTL_OK);
	assert_int_equal(pctl_graph_resolve(p, &go, b->call, NULL, NULL, &g), PCTL_OK);
	status = pctl_run(g, &o, b->call, &r);
	if (status == PCTL_OK) {
		*cid = r->outputs[0].cid;
		*gas = r->gas;
	}
	pctl_run_result_destroy(r);
	pctl_graph_destroy(g);
	pctl_pipeline_destroy(p);
	return status;
}

/* As many workgroups as were found add; by other means than a run. */
static void want(struct bench *b, uint32_t groups, uint32_t rows, pctl_cid *cid)
{
	uint32_t x[N], y[N] = {0};

	give(x, groups, rows);
	for (uint32_t i = 0; i < N && i < 64 * groups && rows != 0; i++)
		y[i] = turns * (x[i] + 1);
	assert_int_equal(pctl_cid_of(y, sizeof(y), b->call, cid), PCTL_OK);
}

static void as_many_as_found(struct bench *b, const char *device, uint32_t flags)
{
	uint64_t price = 0, gas;
	pctl_cid cid, right;

	for (uint32_t k = 0; k <= 2 * MOST + 1; k++) {
		const uint32_t groups = k % (MOST + 1), rows = k <= MOST;

		if (run(b, device, flags, groups, rows, &cid, &gas) != PCTL_OK)
			fail_msg("%s, %u x %u: %s", device, groups, rows,
				 pctl_diag_list_at(b->l, 0)->message);
		want(b, groups, rows, &right);
		if (pctl_cid_compare(&cid, &right) != 0)
			fail_msg("%s, %u x %u: other bytes", device, groups, rows);
		price = price == 0 ? gas : price;
		assert_int_equal(gas, price);
	}
}

static void more_than_the_most(struct bench *b, const char *device, uint32_t flags)
{
	static const uint32_t found[][2] = {{MOST + 1, 1}, {1, 2}, {UINT32_MAX, UINT32_MAX}};

	for (uint32_t i = 0; i < sizeof(found) / sizeof(found[0]); i++) {
		const pctl_diag *d;
		uint64_t gas;
		pctl_cid cid;

		assert_int_equal(run(b, device, flags, found[i][0], found[i][1], &cid, &gas),
				 PCTL_E_EXEC);
		/* What was said before is not said again. */
		assert_int_equal(pctl_diag_list_count(b->l), 1);
		d = pctl_diag_list_at(b->l, 0);
		assert_int_equal(d->code, PC5228_COUNTS);
		assert_non_null(strstr(d->message, "kernel add"));
		if (i == 0 && flags != 0)
			planted("a kernel finds more workgroups than its plan declares", "p.some",
				"PC5228", d->message);
	}
}

static void on_the_reference(void **state)
{
	struct bench b;

	(void)state;
	bench_open(&b);
	for (turns = 1; turns <= 3; turns += 2) {
		as_many_as_found(&b, "cpu", PCTL_RUN_IN_PROCESS);
		more_than_the_most(&b, "cpu", PCTL_RUN_IN_PROCESS);
	}
	turns = 1;
	bench_close(&b);
}

/* Where it is not read from a buffer, all workgroups add: this test would see it. */
static void it_matters(void **state)
{
	pctl_cid cid, right;
	struct bench b;
	uint64_t gas;

	(void)state;
	bench_open(&b);
	is_direct = 1;
	assert_int_equal(run(&b, "cpu", PCTL_RUN_IN_PROCESS, 1, 1, &cid, &gas), PCTL_OK);
	is_direct = 0;
	want(&b, 1, 1, &right);
	assert_int_not_equal(pctl_cid_compare(&cid, &right), 0);
	bench_close(&b);
}

/* A pipeline that stays on the device: each step has as many workgroups as its own bytes say, and a step with too many fails alone. */
static void resident(void **state)
{
	static const char *const backends[] = {"cpu"}, *const changing[] = {"d"},
				 *const reads[] = {"y"};
	static const uint32_t found[] = {2, MOST + 1, 0, MOST};
	uint32_t x[N] = {0}, y[N];
	const pctl_input_bytes given = {"d", x, BYTES, {0, 0, {0}}};
	const pctl_resident_options how = {
		.changing = changing, .reads = reads, .n_changing = 1, .n_reads = 1};
	const pctl_resident_input in = {x, BYTES};
	const pctl_resident_output out = {y, BYTES};
	pctl_resident *r;
	pctl_pipeline *p;
	pctl_graph *g;
	struct bench b;

	(void)state;
	bench_open(&b);
	{
		const pctl_graph_options go = {.ops = &source, .kernels = b.kernels};
		const pctl_run_options o = {.registry = b.registry,
					    .ops = &source,
					    .store = b.store,
					    .schedule = b.schedule,
					    .policy = b.policy,
					    .given = &given,
					    .n_given = 1,
					    .backends = backends,
					    .n_backends = 1,
					    .flags = PCTL_RUN_IN_PROCESS};

		assert_int_equal(pctl_pipeline_read_text("p.cfg", text, strlen(text), b.call, &p),
				 PCTL_OK);
		assert_int_equal(pctl_graph_resolve(p, &go, b.call, NULL, NULL, &g), PCTL_OK);
		assert_int_equal(pctl_resident_open(g, &o, &how, b.call, &r), PCTL_OK);
	}
	for (uint32_t k = 0; k < sizeof(found) / sizeof(found[0]); k++) {
		const int fits = found[k] <= MOST;

		give(x, found[k], 1);
		assert_int_equal(pctl_resident_step(r, &in, &out, b.call, NULL, NULL),
				 fits ? PCTL_OK : PCTL_E_EXEC);
		for (uint32_t i = 0; fits && i < N; i++)
			assert_int_equal(y[i], i < 64 * found[k] ? x[i] + 1 : 0);
	}
	assert_int_equal(pctl_diag_list_at(b.l, 0)->code, PC5228_COUNTS);
	pctl_resident_close(r);
	pctl_graph_destroy(g);
	pctl_pipeline_destroy(p);
	bench_close(&b);
}

static void on_devices(void **state)
{
	static const char *const devices[] = {"opencl:0", "vulkan:0"};
	uint32_t ran = 0;

	(void)state;
	for (uint32_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		struct bench b;
		pctl_cid cid;
		uint64_t gas;

		bench_open(&b);
		if (run(&b, devices[i], 0, 1, 1, &cid, &gas) != PCTL_E_UNSUPPORTED) {
			as_many_as_found(&b, devices[i], 0);
			more_than_the_most(&b, devices[i], 0);
			ran++;
		}
		bench_close(&b);
	}
	if (ran == 0)
		PCTL_SKIP("no device of OpenCL or Vulkan counts what a kernel asks for");
}

PCTL_TESTS_MAIN(PCTL_TEST(on_the_reference), PCTL_TEST(it_matters), PCTL_TEST(resident),
		PCTL_TEST(on_devices))
