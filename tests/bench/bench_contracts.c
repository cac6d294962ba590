/* What range contracts are worth: one product of f32 matrices (tiles of 128 by 128 in workgroup memory, 8 by 8 elements an
 * invocation) on every device named, in one run: with guards, under contracts without them, and by the device's own floats;
 * and what looking at the inputs costs. All devices must give the same bytes, native ones left out.
 * usage: bench_contracts PLUGINS HOME SIDE DEVICE... */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compiler/legalize/contract.h"
#include "foundation/diag/diag.h"
#include "runtime/exec/session.h"
#include "runtime/plugin/devices.h"

#define TRIES 5u
#define TILE 128u
#define TIMEOUT_NS UINT64_C(300000000000)

static const char product[] =
	"@group(0) @binding(0) var<storage, read> a : array<f32>;\n"
	"@group(0) @binding(1) var<storage, read> b : array<f32>;\n"
	"@group(0) @binding(2) var<storage, read_write> c : array<f32>;\n"
	"var<workgroup> ta : array<array<f32, 128>, 8>;\n"
	"var<workgroup> tb : array<array<f32, 128>, 8>;\n"
	"@compute @workgroup_size(16, 16)\n"
	"fn main(@builtin(workgroup_id) g : vec3<u32>, @builtin(local_invocation_id) l : "
	"vec3<u32>,\n"
	"        @builtin(local_invocation_index) index : u32) {\n"
	"  var acc : array<array<f32, 8>, 8>;\n"
	"  for (var t = 0u; t < %uu; t += 8u) {\n"
	"    for (var j = 0u; j < 4u; j++) {\n"
	"      let e = index + j * 256u;\n"
	"      ta[e & 7u][e >> 3u] = a[(g.y * 128u + (e >> 3u)) * %uu + t + (e & 7u)];\n"
	"      tb[e >> 7u][e & 127u] = b[(t + (e >> 7u)) * %uu + g.x * 128u + (e & 127u)];\n"
	"    }\n"
	"    workgroupBarrier();\n"
	"    for (var k = 0u; k < 8u; k++) {\n"
	"      var x : array<f32, 8>;\n"
	"      var y : array<f32, 8>;\n"
	"      for (var j = 0u; j < 8u; j++) { x[j] = ta[k][l.y * 8u + j]; y[j] = tb[k][l.x * 8u + "
	"j]; }\n"
	"      for (var i = 0u; i < 8u; i++) {\n"
	"        for (var j = 0u; j < 8u; j++) { acc[i][j] = %s; }\n"
	"      }\n"
	"    }\n"
	"    workgroupBarrier();\n"
	"  }\n"
	"  for (var i = 0u; i < 8u; i++) {\n"
	"    for (var j = 0u; j < 8u; j++) {\n"
	"      c[(g.y * 128u + l.y * 8u + i) * %uu + g.x * 128u + l.x * 8u + j] = acc[i][j];\n"
	"    }\n"
	"  }\n"
	"}\n";

static const struct {
	const char *name, *text;
} sums[] = {{"fma", "fma(x[i], y[j], acc[i][j])"}, {"mul, add", "acc[i][j] + x[i] * y[j]"}};

typedef struct side {
	pctl_backend_instance *backend;
	pctl_session *session;
	pctl_buffer *buffers[4]; /* a, b, c, what the check says */
} side;

typedef struct bench {
	const pctl_call *call;
	pctl_registry *registry;
	pctl_profiles *profiles;
	pctl_kernels *kernels;
	uint32_t n; /* of a side */
	uint64_t bytes;
	float *data[2];
	uint8_t *result, *right; /* right: of the first strict run of each sum */
	uint32_t has_right, differs;
} bench;

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Median seconds of one dispatch. */
static pctl_status time_of(bench *b, side *s, pctl_kernel *kernel, const pctl_binding *bindings,
			   uint32_t n, const uint32_t groups[3], double *seconds)
{
	const pctl_backend *t = pctl_session_table(s->session);
	pctl_device *dev = pctl_session_device(s->session);
	pctl_completion done = {.head = PCTL_HEAD(pctl_completion)};
	pctl_list *list = NULL;
	double tries[TRIES];
	pctl_status status = t->list_begin(dev, b->call, &list);

	if (status == PCTL_OK)
		status = t->list_timestamp(list, b->call, 0);
	if (status == PCTL_OK)
		status = t->list_dispatch(list, b->call, kernel, bindings, n, groups);
	if (status == PCTL_OK)
		status = t->list_timestamp(list, b->call, 1);
	if (status == PCTL_OK)
		status = t->list_end(list, b->call);
	for (uint32_t i = 0; i <= TRIES && status == PCTL_OK; i++) {
		const double begun = now_s();
		uint64_t ticket;
		double took;

		status = t->submit(dev, b->call, list, 1, &ticket);
		if (status == PCTL_OK)
			status = t->wait(dev, b->call, ticket, TIMEOUT_NS, &done);
		took = done.n_timestamps > 1 && done.timestamps[1] > done.timestamps[0]
			       ? (double)(done.timestamps[1] - done.timestamps[0]) * 1e-9
			       : now_s() - begun;
		if (i > 0) /* the first warms up */
			tries[i - 1] = took;
	}
	if (list != NULL)
		t->list_destroy(dev, list);
	qsort(tries, TRIES, sizeof(*tries), ascending);
	*seconds = tries[TRIES / 2];
	return status;
}

/* The product by one kernel (NULL: there is none); its bytes are compared where they must be the same. */
static pctl_status time_product(bench *b, side *s, pctl_kernel *kernel, int is_strict,
				double *seconds)
{
	const uint32_t groups[3] = {b->n / TILE, b->n / TILE, 1};
	pctl_binding bindings[3];
	pctl_status status;

	*seconds = 0;
	if (kernel == NULL)
		return PCTL_OK;
	for (uint32_t i = 0; i < 3; i++)
		bindings[i] = (pctl_binding){0, i, s->buffers[i], 0, b->bytes};
	status = time_of(b, s, kernel, bindings, 3, groups, seconds);
	if (status != PCTL_OK || !is_strict)
		return status;
	status = pctl_session_table(s->session)
			 ->buffer_read(pctl_session_device(s->session), b->call, s->buffers[2], 0,
				       b->result, b->bytes);
	if (!b->has_right)
		memcpy(b->right, b->result, b->bytes);
	b->has_right = 1;
	b->differs += memcmp(b->right, b->result, b->bytes) != 0;
	return status;
}

/* Seconds of looking at both inputs. */
static pctl_status time_check(bench *b, side *s, double *seconds)
{
	pctl_kernel *check;
	uint32_t groups[3];
	pctl_status status = pctl_session_range_check(s->session, b->call, &check);

	*seconds = 0;
	pctl_session_range_groups(s->session, b->bytes / 4, groups);
	for (uint32_t i = 0; i < 2 && status == PCTL_OK; i++) {
		const pctl_binding bindings[2] = {{0, 0, s->buffers[i], 0, b->bytes},
						  {0, 1, s->buffers[3], 0, 4}};
		double one;

		status = time_of(b, s, check, bindings, 2, groups, &one);
		*seconds += one;
	}
	return status;
}

static pctl_status open_side(bench *b, const pctl_device_entry *e, uint32_t legal_flags, side *s)
{
	pctl_session_options o = {.id = e->selector,
				  .name = e->selector,
				  .profiles = b->profiles,
				  .legal_flags = legal_flags,
				  .index = e->in_driver,
				  .device_kind = e->kind};
	const uint32_t usage = PCTL_BUFFER_STORAGE | PCTL_BUFFER_TRANSFER;
	pctl_status status = pctl_backend_instance_open(b->registry, e->backend, e->env, 0, b->call,
							&s->backend);

	o.backend = s->backend;
	if (status == PCTL_OK)
		status = pctl_session_open(&o, b->call, &s->session);
	for (uint32_t i = 0; i < 4 && status == PCTL_OK; i++) {
		const pctl_backend *t = pctl_session_table(s->session);
		pctl_device *dev = pctl_session_device(s->session);

		status = t->buffer_create(dev, b->call, i == 3 ? 4 : b->bytes, usage,
					  &s->buffers[i]);
		if (status == PCTL_OK && i < 2)
			status = t->buffer_write(dev, b->call, s->buffers[i], 0, b->data[i],
						 b->bytes);
	}
	return status;
}

static void close_side(side *s)
{
	for (uint32_t i = 0; i < 4; i++)
		if (s->buffers[i] != NULL)
			pctl_session_table(s->session)
				->buffer_destroy(pctl_session_device(s->session), s->buffers[i]);
	pctl_session_close(s->session);
	pctl_backend_instance_close(s->backend, NULL);
}

/* GFLOP/s, 0 where there is no time. */
static double rate(const bench *b, double seconds)
{
	return seconds > 0 ? 2e-9 * b->n * b->n * b->n / seconds : 0;
}

static pctl_status measure(bench *b, const char *device, uint32_t sum, side *strict, side *native)
{
	char text[sizeof(product) + 256];
	pctl_kernel_source source = {.name = "product.wgsl", .text = text};
	double guarded, contract, own, check;
	const pctl_kernel_module *unit;
	pctl_kernel *kernel[3] = {NULL};
	pctl_status status;

	snprintf(text, sizeof(text), product, b->n, b->n, b->n, sums[sum].text, b->n);
	source.n_text = strlen(text);
	status = pctl_kernels_get(b->kernels, &source, b->call, &unit);
	if (status == PCTL_OK)
		status = pctl_session_kernel(strict->session, unit, b->call, &kernel[0]);
	if (status == PCTL_OK)
		status = pctl_session_contract_kernel(strict->session, unit, b->call, &kernel[1]);
	if (status == PCTL_OK)
		status = pctl_session_kernel(native->session, unit, b->call, &kernel[2]);
	if (status == PCTL_OK)
		status = time_product(b, strict, kernel[0], 1, &guarded);
	if (status == PCTL_OK)
		status = time_product(b, strict, kernel[1], 1, &contract);
	if (status == PCTL_OK)
		status = time_product(b, native, kernel[2], 0, &own);
	if (status == PCTL_OK)
		status = time_check(b, strict, &check);
	if (status != PCTL_OK)
		return status;
	printf("%-20s %-9s %10.2f %10.2f %10.2f %8.3f %8.2f\n", device, sums[sum].name,
	       rate(b, guarded), rate(b, contract), rate(b, own), check * 1e3,
	       (contract > 0 ? own / (contract + check) : own / guarded));
	fprintf(stderr,
		"{\"bench\":\"contracts\",\"device\":\"%s\",\"sum\":\"%s\",\"side\":%" PRIu32
		",\"as_written_s\":%.9f,\"contract_s\":%.9f,\"native_s\":%.9f,\"check_s\":%.9f}\n",
		device, sums[sum].name, b->n, guarded, contract, own, check);
	fflush(stdout);
	return PCTL_OK;
}

static pctl_status on_device(bench *b, const char *device, uint32_t sum)
{
	side strict = {NULL}, native = {NULL};
	pctl_devices *list = NULL;
	const pctl_device_entry *e;
	pctl_status status = pctl_devices_find(b->registry, device, 0, b->call, &list, &e);

	if (status == PCTL_OK)
		status = open_side(b, e, 0, &strict);
	if (status == PCTL_OK)
		status = open_side(b, e, PCTL_LEGAL_NATIVE, &native);
	if (status == PCTL_OK)
		status = measure(b, device, sum, &strict, &native);
	close_side(&strict);
	close_side(&native);
	pctl_devices_destroy(list);
	return status;
}

/* Either sign, of magnitudes from 2^-4 to 1. */
static int fill(bench *b)
{
	b->bytes = (uint64_t)b->n * b->n * 4;
	b->result = malloc(b->bytes);
	b->right = malloc(b->bytes);
	for (uint32_t k = 0; k < 2; k++) {
		b->data[k] = malloc(b->bytes);
		for (uint64_t i = 0; b->data[k] != NULL && i < b->bytes / 4; i++) {
			const uint32_t r =
				(uint32_t)((i * 2 + k) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
			const float v = 0.0625f + (float)(r >> 9) * 0x1p-23f * 0.9f;

			b->data[k][i] = r & 1u ? v : -v;
		}
	}
	return b->result != NULL && b->right != NULL && b->data[0] != NULL && b->data[1] != NULL;
}

int main(int argc, char **argv)
{
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_registry_options ro = {
		.flags = PCTL_REGISTRY_NO_DEFAULT_DIRS, .n_dirs = 1, .call_ms = 600000};
	pctl_profiles_options po = {.home = NULL};
	bench b = {.call = pctl_diag_list_call(l)};
	pctl_status status;

	if (argc < 5)
		return fprintf(stderr, "usage: bench_contracts PLUGINS HOME SIDE DEVICE...\n"), 2;
	ro.dirs = (const char *const *)&argv[1];
	ro.home = po.home = argv[2];
	b.n = (uint32_t)strtoul(argv[3], NULL, 10) / TILE * TILE;
	b.kernels = pctl_kernels_create(NULL);
	status = b.n != 0 && fill(&b) ? PCTL_OK : PCTL_E_NOMEM;
	if (status == PCTL_OK)
		status = pctl_registry_open(&ro, b.call, &b.registry);
	if (status == PCTL_OK)
		status = pctl_profiles_open(&po, b.call, &b.profiles);
	printf("side %" PRIu32
	       ", GFLOP/s; check: ms for both inputs; ratio: own floats' time / ours "
	       "with the check\n%-20s %-9s %10s %10s %10s %8s %8s\n",
	       b.n, "device", "sum", "guarded", "contract", "own", "check", "ratio");
	for (uint32_t sum = 0; sum < 2 && status == PCTL_OK; sum++) {
		b.has_right = 0;
		for (int i = 4; i < argc && status == PCTL_OK; i++)
			status = on_device(&b, argv[i], sum);
	}
	printf("%s\n", b.differs ? "BYTES DIFFER" : "all strict results have the same bytes");
	for (uint32_t i = 0; i < pctl_diag_list_count(l); i++)
		fprintf(stderr, "PC%04u %s\n", pctl_diag_list_at(l, i)->code,
			pctl_diag_list_at(l, i)->message);
	pctl_kernels_destroy(b.kernels);
	pctl_profiles_close(b.profiles);
	pctl_registry_close(b.registry);
	pctl_diag_list_destroy(l);
	for (int k = 0; k < 2; k++)
		free(b.data[k]);
	free(b.result);
	free(b.right);
	return status != PCTL_OK || b.differs;
}
