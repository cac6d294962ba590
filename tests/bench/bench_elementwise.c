/* A chain of ten elementwise ops as one kernel beside the ten kernels that it stands for and beside a kernel of four elements an
 * invocation that only copies, in the same run; that both give the same bytes is seen first. "of floor": the time that the chain's
 * bytes (its input read once, its result written once) take at the copy's rate, over its own.
 * usage: bench_elementwise PLUGINS HOME DEVICE [N] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/clock.h"
#include "foundation/diag/diag.h"
#include "runtime/exec/session.h"
#include "runtime/graph/elementwise.h"
#include "runtime/plugin/devices.h"

#define TRIES 7u
#define TIMES 8u /* dispatches of a kernel in one list */
#define ROW 1024u
#define OPS 10u

typedef struct bench {
	const pctl_call *call;
	pctl_session *session;
	pctl_kernels *kernels;
	pctl_buffer *buffers[4]; /* x, a row, the result, an intermediate one */
	uint32_t n;
} bench;

/* Ops of a chain: each of what came before and, where it has a second operand, of the row (r) or x. */
typedef struct step {
	const char *name, *text;
	char second;
} step;

#define F1(name, e) "ieee." name, "fn ieee_" name "_f32(x: f32) -> f32 {\n\treturn " e ";\n}\n"
#define F2(name, e) \
	"ieee." name, "fn ieee_" name "_f32(a: f32, b: f32) -> f32 {\n\treturn " e ";\n}\n"
#define U1(name, e) "int." name, "fn int_" name "(x: u32) -> u32 {\n\treturn " e ";\n}\n"
#define U2(name, e) "int." name, "fn int_" name "(a: u32, b: u32) -> u32 {\n\treturn " e ";\n}\n"

static const step floats[OPS] = {{F2("mul", "a * b"), 'r'}, {F2("add", "a + b"), 'x'},
				 {F1("neg", "-x"), 0},	    {F2("max", "max(a, b)"), 'r'},
				 {F2("sub", "a - b"), 'x'}, {F2("mul", "a * b"), 'x'},
				 {F1("abs", "abs(x)"), 0},  {F2("min", "min(a, b)"), 'r'},
				 {F2("add", "a + b"), 'r'}, {F1("floor", "floor(x)"), 0}};
static const step integers[OPS] = {
	{U2("mul", "a * b"), 'r'}, {U2("add", "a + b"), 'x'},
	{U1("not", "~x"), 0},	   {U2("max", "max(a, b)"), 'r'},
	{U2("sub", "a - b"), 'x'}, {U2("xor", "a ^ b"), 'x'},
	{U2("and", "a & b"), 'r'}, {U2("or", "a | b"), 'x'},
	{U2("add", "a + b"), 'r'}, {U1("popcount", "countOneBits(x)"), 0}};
static const step only_floats[OPS] = {{F2("mul", "a * b"), 'x'}, {F2("add", "a + b"), 'x'},
				      {F2("mul", "a * b"), 'x'}, {F2("sub", "a - b"), 'x'},
				      {F2("mul", "a * b"), 'x'}, {F2("add", "a + b"), 'x'},
				      {F2("mul", "a * b"), 'x'}, {F2("sub", "a - b"), 'x'},
				      {F2("mul", "a * b"), 'x'}, {F2("add", "a + b"), 'x'}};

/* Steps first .. first + n - 1 as one kernel: from buffer `from` (0 x, 3 the intermediate one) to `to`. */
static pctl_status plan_of(bench *b, const step *steps, uint32_t dtype, uint32_t first, uint32_t n,
			   uint32_t from, uint32_t to, uint32_t lanes, pctl_job_plan **out)
{
	const pctl_tensor_type all = {dtype, 2, {b->n / ROW, ROW}}, row = {dtype, 1, {ROW}};
	pctl_element_node nodes[OPS + 3] = {
		{.kind = PCTL_ELEMENT_INPUT, .buffer = from, .type = all},
		{.kind = PCTL_ELEMENT_INPUT, .buffer = 0, .type = all},
		{.kind = PCTL_ELEMENT_INPUT, .buffer = 1, .type = row}};
	const pctl_elementwise e = {
		.name = "chain", .nodes = nodes, .n_nodes = 3 + n, .output = to, .lanes = lanes};
	pctl_status status = pctl_job_plan_create("chain", b->call, out);
	uint32_t number;

	for (uint32_t i = 0; status == PCTL_OK && i < 4; i++)
		status = pctl_job_plan_buffer(*out, i < 2 ? PCTL_PLAN_INPUT : PCTL_PLAN_OUTPUT,
					      i == 1 ? ROW * 4 : (uint64_t)b->n * 4, NULL, b->call,
					      &number);
	for (uint32_t i = 0; i < n; i++) {
		const step *s = &steps[first + i];
		pctl_element_node *node = &nodes[3 + i];

		*node = (pctl_element_node){.kind = PCTL_ELEMENT_FUNCTION,
					    .type = all,
					    .op = s->name,
					    .text = s->text,
					    .operand = dtype,
					    .n_in = s->second == 0 ? 1 : 2};
		node->in[0] = i == 0 ? 0 : 2 + i;
		node->in[1] = s->second == 'r' ? 2 : 1;
		if (s->second == 'r') {
			pctl_index_map_stretch(&row, &all, &node->map[1]);
			pctl_index_map_simplify(&node->map[1]);
		}
	}
	return status == PCTL_OK ? pctl_elementwise_plan(b->kernels, &e, b->call, *out) : status;
}

/* A buffer of parameters of a plan, made on the device. */
static pctl_status buffer_of(bench *b, const pctl_job_plan *p, uint32_t number, pctl_buffer **made,
			     pctl_buffer **out)
{
	const pctl_backend *t = pctl_session_table(b->session);
	pctl_device *dev = pctl_session_device(b->session);
	pctl_status status;

	*out = number < 4 ? b->buffers[number] : *made;
	if (number < 4 || *made != NULL)
		return PCTL_OK;
	status = t->buffer_create(dev, b->call, p->buffers[number].n_bytes,
				  p->buffers[number].usage, made);
	if (status == PCTL_OK)
		status = t->buffer_write(dev, b->call, *made, 0, p->buffers[number].data,
					 p->buffers[number].n_bytes);
	*out = *made;
	return status;
}

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Median seconds of the kernels of n plans one after the other; 0: they could not run. */
static double time_plans(bench *b, pctl_job_plan *const *plans, uint32_t n)
{
	const pctl_backend *t = pctl_session_table(b->session);
	pctl_device *dev = pctl_session_device(b->session);
	pctl_completion done = {.head = PCTL_HEAD(pctl_completion)};
	pctl_buffer *made[OPS] = {NULL};
	pctl_list *list = NULL;
	double tries[TRIES];
	pctl_status status = t->list_begin(dev, b->call, &list);

	if (status == PCTL_OK)
		status = t->list_timestamp(list, b->call, 0);
	for (uint32_t k = 0; status == PCTL_OK && k < TIMES * n; k++) {
		const pctl_job_plan *p = plans[k % n];
		const pctl_step *s = &p->steps[0];
		pctl_binding bindings[10];
		pctl_kernel *kernel;

		status = pctl_session_kernel(b->session, s->unit, b->call, &kernel);
		for (uint32_t i = 0; status == PCTL_OK && i < s->n_bindings; i++) {
			const pctl_plan_binding *from = &s->bindings[i];
			pctl_buffer *buffer = NULL;

			status = buffer_of(b, p, from->buffer, &made[k % n], &buffer);
			bindings[i] = (pctl_binding){from->group, from->binding, buffer,
						     from->offset, from->n_bytes};
		}
		if (status == PCTL_OK)
			status = t->list_dispatch(list, b->call, kernel, bindings, s->n_bindings,
						  s->groups);
	}
	if (status == PCTL_OK)
		status = t->list_timestamp(list, b->call, 1);
	if (status == PCTL_OK)
		status = t->list_end(list, b->call);
	for (uint32_t i = 0; i <= TRIES && status == PCTL_OK; i++) {
		uint64_t ticket, begun = pctl_clock_ns();

		status = t->submit(dev, b->call, list, 1, &ticket);
		if (status == PCTL_OK)
			status = t->wait(dev, b->call, ticket, 300000000000ull, &done);
		if (i > 0) /* the first warms up */
			tries[i - 1] =
				done.n_timestamps > 1 && done.timestamps[1] > done.timestamps[0]
					? (double)(done.timestamps[1] - done.timestamps[0])
					: (double)(pctl_clock_ns() - begun);
	}
	if (list != NULL)
		t->list_destroy(dev, list);
	for (uint32_t i = 0; i < n; i++)
		if (made[i] != NULL)
			t->buffer_destroy(dev, made[i]);
	if (status != PCTL_OK)
		return 0;
	qsort(tries, TRIES, sizeof(*tries), ascending);
	return tries[TRIES / 2] * 1e-9 / TIMES;
}

static double time_copy(bench *b)
{
	static const char text[] =
		"@group(0) @binding(0) var<storage, read> x: array<vec4<u32>>;\n"
		"@group(1) @binding(0) var<storage, read_write> out: array<vec4<u32>>;\n"
		"@compute @workgroup_size(256)\n"
		"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
		"\tlet i = id.x + id.y * 16776960u;\n"
		"\tif (i < arrayLength(&out)) {\n\t\tout[i] = x[i];\n\t}\n}\n";
	const uint64_t bytes = (uint64_t)b->n * 4;
	const pctl_known_binding known[2] = {{0, 0, bytes}, {1, 0, bytes}};
	const uint32_t n = b->n / 4 / 256;
	const uint32_t groups[3] = {n < 65535 ? n : 65535, (n + 65534) / 65535, 1};
	const pctl_kernel_source source = {.name = "copy",
					   .text = text,
					   .n_text = sizeof(text) - 1,
					   .groups = groups,
					   .bindings = known,
					   .n_bindings = 2};
	const pctl_plan_binding bindings[2] = {{.buffer = 0}, {.group = 1, .buffer = 2}};
	pctl_job_plan *plan = NULL;
	const pctl_kernel_module *unit;
	uint32_t number;
	double s = 0;
	pctl_status status = pctl_job_plan_create("copy", b->call, &plan);

	for (uint32_t i = 0; status == PCTL_OK && i < 4; i++)
		status = pctl_job_plan_buffer(plan, i < 2 ? PCTL_PLAN_INPUT : PCTL_PLAN_OUTPUT,
					      i == 1 ? ROW * 4 : bytes, NULL, b->call, &number);
	if (status == PCTL_OK)
		status = pctl_kernels_get(b->kernels, &source, b->call, &unit);
	if (status == PCTL_OK)
		status = pctl_job_plan_kernel(plan, unit, bindings, 2, groups, b->call);
	if (status == PCTL_OK)
		s = time_plans(b, &plan, 1);
	pctl_job_plan_destroy(plan);
	return s;
}

/* What the last kernels left. */
static uint8_t *result_of(bench *b)
{
	const uint64_t bytes = (uint64_t)b->n * 4;
	uint8_t *data = malloc(bytes);

	if (data != NULL &&
	    pctl_session_table(b->session)
			    ->buffer_read(pctl_session_device(b->session), b->call, b->buffers[2],
					  0, data, bytes) != PCTL_OK) {
		free(data);
		data = NULL;
	}
	return data;
}

static int measure(bench *b, const char *device, const char *name, const step *steps,
		   uint32_t dtype, double copy)
{
	pctl_job_plan *fused[2] = {NULL}, *apart[OPS] = {NULL};
	double one[2] = {0}, ten = 0;
	uint8_t *right = NULL;
	pctl_status status = PCTL_OK;
	int good = 1;

	/* Intermediate results go to and fro between two buffers, and end in the result's. */
	for (uint32_t i = 0; status == PCTL_OK && i < OPS; i++)
		status = plan_of(b, steps, dtype, i, 1,
				 i == 0	      ? 0
				 : i % 2 == 1 ? 3
					      : 2,
				 i % 2 == 0 ? 3 : 2, 1, &apart[i]);
	if (status == PCTL_OK)
		ten = time_plans(b, apart, OPS);
	right = ten > 0 ? result_of(b) : NULL;
	for (uint32_t k = 0; status == PCTL_OK && k < 2; k++) {
		uint8_t *mine;

		status = plan_of(b, steps, dtype, 0, OPS, 0, 2, k == 0 ? 4 : 1, &fused[k]);
		if (status == PCTL_OK)
			one[k] = time_plans(b, &fused[k], 1);
		mine = one[k] > 0 ? result_of(b) : NULL;
		good &= mine != NULL && right != NULL && memcmp(mine, right, (size_t)b->n * 4) == 0;
		free(mine);
	}
	printf("%-14s %s  four an invocation %9.1f us, one %9.1f us, ten kernels %9.1f us; of "
	       "floor %.3f, "
	       "%.3f, %.3f\n",
	       name, good ? "same bytes" : "OTHER BYTES", one[0] * 1e6, one[1] * 1e6, ten * 1e6,
	       one[0] > 0 ? copy / one[0] : 0.0, one[1] > 0 ? copy / one[1] : 0.0,
	       ten > 0 ? copy / ten : 0.0);
	fprintf(stderr,
		"{\"bench\":\"elementwise\",\"device\":\"%s\",\"chain\":\"%s\",\"n\":%" PRIu32
		",\"same\":%s,\"fused_s\":%.9f,\"fused_narrow_s\":%.9f,\"apart_s\":%.9f,\"copy_s\":"
		"%.9f}\n",
		device, name, b->n, good ? "true" : "false", one[0], one[1], ten, copy);
	free(right);
	for (uint32_t i = 0; i < OPS; i++)
		pctl_job_plan_destroy(apart[i]);
	pctl_job_plan_destroy(fused[0]);
	pctl_job_plan_destroy(fused[1]);
	return good;
}

static pctl_status open_bench(bench *b, pctl_registry *r, const pctl_device_entry *e,
			      pctl_profiles *profiles, pctl_backend_instance **backend)
{
	pctl_session_options o = {.id = e->selector,
				  .name = e->selector,
				  .profiles = profiles,
				  .index = e->in_driver,
				  .device_kind = e->kind};
	float *data = malloc((size_t)b->n * 4);
	pctl_status status = pctl_backend_instance_open(r, e->backend, e->env, 0, b->call, backend);

	o.backend = *backend;
	if (status == PCTL_OK)
		status = pctl_session_open(&o, b->call, &b->session);
	for (uint32_t i = 0; data != NULL && i < b->n; i++)
		data[i] = 0.5f + (float)((i * 2654435761u) >> 8) * 0x1p-24f;
	for (uint32_t k = 0; k < 4 && status == PCTL_OK && data != NULL; k++) {
		const pctl_backend *t = pctl_session_table(b->session);
		pctl_device *device = pctl_session_device(b->session);
		const uint64_t bytes = k == 1 ? ROW * 4 : (uint64_t)b->n * 4;

		status = t->buffer_create(device, b->call, bytes,
					  PCTL_BUFFER_STORAGE | PCTL_BUFFER_TRANSFER,
					  &b->buffers[k]);
		if (status == PCTL_OK && k < 2)
			status = t->buffer_write(device, b->call, b->buffers[k], 0, data, bytes);
	}
	free(data);
	return data == NULL ? PCTL_E_NOMEM : status;
}

int main(int argc, char **argv)
{
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_registry_options ro = {
		.flags = PCTL_REGISTRY_NO_DEFAULT_DIRS, .n_dirs = 1, .call_ms = 600000};
	pctl_profiles_options po = {.home = NULL};
	bench b = {.call = pctl_diag_list_call(l)};
	pctl_backend_instance *backend = NULL;
	const pctl_device_entry *e;
	pctl_profiles *profiles = NULL;
	pctl_registry *r = NULL;
	pctl_devices *list = NULL;
	pctl_status status;
	double copy = 0;
	int good = 0;

	if (argc < 4)
		return fprintf(stderr, "usage: bench_elementwise PLUGINS HOME DEVICE [N]\n"), 2;
	ro.dirs = (const char *const *)&argv[1];
	ro.home = po.home = argv[2];
	b.n = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) / ROW * ROW : 1u << 20;
	b.kernels = pctl_kernels_create(NULL);
	status = pctl_registry_open(&ro, b.call, &r);
	if (status == PCTL_OK)
		status = pctl_profiles_open(&po, b.call, &profiles);
	if (status == PCTL_OK)
		status = pctl_devices_find(r, argv[3], 0, b.call, &list, &e);
	if (status == PCTL_OK)
		status = open_bench(&b, r, e, profiles, &backend);
	if (status == PCTL_OK) {
		copy = time_copy(&b);
		printf("%s, %" PRIu32
		       " elements of 4 bytes: copy %.1f us, %.0f GB/s read and written\n",
		       argv[3], b.n, copy * 1e6, copy > 0 ? 8e-9 * b.n / copy : 0.0);
		good = measure(&b, argv[3], "f32 and row", floats, PCTL_SCALAR_F32, copy);
		good &= measure(&b, argv[3], "f32", only_floats, PCTL_SCALAR_F32, copy);
		good &= measure(&b, argv[3], "u32 and row", integers, PCTL_SCALAR_U32, copy);
	}
	for (uint32_t i = 0; i < pctl_diag_list_count(l); i++)
		fprintf(stderr, "PC%04u %s\n", pctl_diag_list_at(l, i)->code,
			pctl_diag_list_at(l, i)->message);
	for (uint32_t k = 0; k < 4; k++)
		if (b.buffers[k] != NULL)
			pctl_session_table(b.session)->buffer_destroy(
				pctl_session_device(b.session), b.buffers[k]);
	pctl_session_close(b.session);
	pctl_backend_instance_close(backend, NULL);
	pctl_devices_destroy(list);
	pctl_kernels_destroy(b.kernels);
	pctl_profiles_close(profiles);
	pctl_registry_close(r);
	pctl_diag_list_destroy(l);
	return status != PCTL_OK || !good;
}
