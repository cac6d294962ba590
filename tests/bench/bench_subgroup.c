/* What a device's own subgroups and products of packed bytes are worth: the sum over a workgroup by `subgroupAdd`, natively and
 * through workgroup memory, beside a tree in workgroup memory, and the same over a subgroup; and chains of `dot4I8Packed` by the device's instruction beside ones of
 * ordinary integers. In one run, on one device; what the probe does not admit is not measured.
 * usage: bench_subgroup PLUGINS HOME DEVICE [N] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compiler/legalize/legal.h"
#include "foundation/diag/diag.h"
#include "runtime/device/probe.h"
#include "runtime/exec/session.h"
#include "runtime/plugin/devices.h"
#include "runtime/plugin/dispatch.h"

#define TRIES 9u
#define ROUNDS 32u /* sums a workgroup, one after another */
#define LOCAL 256u
#define FALLBACK_SIZE 32u /* of subgroups on a device that names none */

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static const char frame[] = "@group(0) @binding(0) var<storage, read> a : array<u32>;\n"
			    "@group(0) @binding(1) var<storage, read_write> r : array<u32>;\n"
			    "var<workgroup> part : array<u32, 256>;\n";

/* Over a workgroup: the subgroups' sums are put down, and everyone adds them up. All of these stand in main. */
static const char by_subgroups[] =
	"    let s = subgroupAdd(x);\n"
	"    if (l %% %uu == 0u) { part[l / %uu] = s; }\n    workgroupBarrier();\n"
	"    var t = 0u;\n    for (var i = 0u; i < %uu; i++) { t += part[i]; }\n"
	"    workgroupBarrier();\n";
static const char by_one[] = "    let t = subgroupAdd(x);\n";

/* A tree in workgroup memory over `%u` consecutive invocations. */
static const char by_tree[] = "    part[l] = x;\n    workgroupBarrier();\n"
			      "    for (var s = %uu; s > 0u; s = s >> 1u) {\n"
			      "      if (l %% %uu < s) { part[l] += part[l + s]; }\n"
			      "      workgroupBarrier();\n    }\n"
			      "    let t = part[l & %uu];\n    workgroupBarrier();\n";

/* Sums over `width` invocations by subgroups of some size, 0: by a tree. */
static void sum_text(char *out, size_t n, uint32_t width, uint32_t subgroup)
{
	size_t used = 0;

	if (subgroup)
		used += (size_t)snprintf(out, n, "//# subgroup = %u\nenable subgroups;\n",
					 subgroup);
	used += (size_t)snprintf(out + used, n - used,
				 "%s@compute @workgroup_size(%u)\n"
				 "fn main(@builtin(global_invocation_id) id : vec3<u32>, "
				 "@builtin(local_invocation_index) l : u32) {\n"
				 "  var x = a[id.x];\n  for (var k = 0u; k < %uu; k++) {\n",
				 frame, LOCAL, ROUNDS);
	if (!subgroup)
		used += (size_t)snprintf(out + used, n - used, by_tree, width / 2, width,
					 ~(width - 1));
	else if (width == subgroup)
		used += (size_t)snprintf(out + used, n - used, "%s", by_one);
	else
		used += (size_t)snprintf(out + used, n - used, by_subgroups, subgroup, subgroup,
					 LOCAL / subgroup);
	snprintf(out + used, n - used, "    x = t ^ (x + k);\n  }\n  r[id.x] = x;\n}\n");
}

/* Four chains, so that no device waits for one product. */
static void dot_text(char *out, size_t n)
{
	snprintf(
		out, n,
		"%s@compute @workgroup_size(%u)\n"
		"fn main(@builtin(global_invocation_id) id : vec3<u32>) {\n"
		"  let x = a[id.x];\n  var p = x; var q = x + 1u; var s = x + 2u; var t = x + 3u;\n"
		"  for (var k = 0u; k < %uu; k++) {\n"
		"    p += u32(dot4I8Packed(p, x)); q += u32(dot4I8Packed(q, x));\n"
		"    s += u32(dot4I8Packed(s, x)); t += u32(dot4I8Packed(t, x));\n  }\n"
		"  r[id.x] = p ^ q ^ s ^ t;\n}\n",
		frame, LOCAL, 2 * ROUNDS);
}

typedef struct bench {
	const pctl_call *call;
	pctl_session *session;
	pctl_kernels *kernels;
	pctl_buffer *buffers[2];
	uint32_t n;    /* elements, a multiple of LOCAL */
	uint64_t seen; /* hash of the results: all forms must agree */
} bench;

static pctl_status build(bench *b, const char *text, const pctl_legal_options *options,
			 pctl_kernel **out)
{
	const pctl_backend *t = pctl_session_table(b->session);
	pctl_kernel_source source = {.name = "bench.wgsl", .text = text, .n_text = strlen(text)};
	const pctl_kernel_module *unit;
	pctl_program *legal = NULL;
	uint8_t *wire = NULL;
	uint64_t n = 0;
	pctl_status status = pctl_kernels_get(b->kernels, &source, b->call, &unit);

	if (status == PCTL_OK)
		status = pctl_legalise(unit->program, pctl_session_caps(b->session), options,
				       b->call, &legal);
	if (status == PCTL_OK)
		status = pctl_program_encode(legal, b->call, &wire, &n);
	if (status == PCTL_OK)
		status = t->kernel_build(pctl_session_device(b->session), b->call, wire, n, 0, NULL,
					 0, out);
	free(wire);
	pctl_program_destroy(legal);
	return status;
}

static uint64_t hash_results(bench *b)
{
	uint32_t *words = malloc((size_t)b->n * 4);
	uint64_t h = 14695981039346656037ull;

	if (words == NULL ||
	    pctl_session_table(b->session)
			    ->buffer_read(pctl_session_device(b->session), b->call, b->buffers[1],
					  0, words, (uint64_t)b->n * 4) != PCTL_OK)
		h = 0;
	for (uint32_t i = 0; h && i < b->n; i++)
		h = (h ^ words[i]) * 1099511628211ull;
	free(words);
	return h;
}

/* Median seconds of one dispatch; 0: it could not run. */
static double time_kernel(bench *b, const char *text, const pctl_legal_options *options)
{
	const pctl_backend *t = pctl_session_table(b->session);
	pctl_device *dev = pctl_session_device(b->session);
	const pctl_binding bindings[2] = {{0, 0, b->buffers[0], 0, (uint64_t)b->n * 4},
					  {0, 1, b->buffers[1], 0, (uint64_t)b->n * 4}};
	const uint32_t groups[3] = {b->n / LOCAL, 1, 1};
	pctl_completion done = {.head = PCTL_HEAD(pctl_completion)};
	pctl_kernel *kernel = NULL;
	pctl_list *list = NULL;
	double tries[TRIES];
	uint64_t hash;
	pctl_status status = build(b, text, options, &kernel);

	if (status == PCTL_OK)
		status = t->list_begin(dev, b->call, &list);
	if (status == PCTL_OK)
		status = t->list_timestamp(list, b->call, 0);
	if (status == PCTL_OK)
		status = t->list_dispatch(list, b->call, kernel, bindings, 2, groups);
	if (status == PCTL_OK)
		status = t->list_timestamp(list, b->call, 1);
	if (status == PCTL_OK)
		status = t->list_end(list, b->call);
	for (uint32_t i = 0; i <= TRIES && status == PCTL_OK; i++) {
		const double begun = now_ns();
		uint64_t ticket;
		double ns;

		status = t->submit(dev, b->call, list, 1, &ticket);
		if (status == PCTL_OK)
			status = t->wait(dev, b->call, ticket, 300000000000ull, &done);
		ns = done.n_timestamps > 1 && done.timestamps[1] > done.timestamps[0]
			     ? (double)(done.timestamps[1] - done.timestamps[0])
			     : now_ns() - begun;
		if (i > 0) /* the first warms up */
			tries[i - 1] = ns;
	}
	if (list != NULL)
		t->list_destroy(dev, list);
	if (kernel != NULL)
		t->kernel_destroy(dev, kernel);
	if (status != PCTL_OK)
		return 0;
	hash = hash_results(b);
	if (b->seen && hash != b->seen) {
		fprintf(stderr, "bench_subgroup: another result, here:\n%s", text);
		return 0;
	}
	b->seen = hash;
	qsort(tries, TRIES, sizeof(*tries), ascending);
	return tries[TRIES / 2] * 1e-9;
}

static void row(bench *b, const char *device, const char *what, double units, const double s[3])
{
	char cells[3][32];

	for (uint32_t i = 0; i < 3; i++) {
		if (s[i] > 0)
			snprintf(cells[i], sizeof(cells[i]), "%.3f", units / s[i] * 1e-9);
		else
			snprintf(cells[i], sizeof(cells[i]), "-");
	}
	printf("%-20s %-20s %10s %10s %10s\n", device, what, cells[0], cells[1], cells[2]);
	fflush(stdout);
	b->seen = 0;
}

static void measure_sums(bench *b, const char *device, uint32_t width, uint32_t own, uint32_t exact)
{
	pctl_legal_options options = {.head = PCTL_HEAD(pctl_legal_options), .subgroup_size = own};
	char text[4096], name[64];
	double s[3] = {0, 0, 0};

	sum_text(text, sizeof(text), width, own);
	options.subgroup_kinds = exact;
	if (exact)
		s[0] = time_kernel(b, text, &options);
	options.subgroup_kinds = 0;
	s[1] = time_kernel(b, text, &options);
	sum_text(text, sizeof(text), width, 0);
	s[2] = time_kernel(b, text, &options);
	snprintf(name, sizeof(name), "sums of %u by %u", width, own);
	row(b, device, name, (double)b->n * ROUNDS, s);
}

static void measure(bench *b, const char *device)
{
	const pctl_backend *t = pctl_session_table(b->session);
	pctl_device *dev = pctl_session_device(b->session);
	const pctl_device_caps *caps = pctl_session_caps(b->session);
	const uint32_t own = caps->subgroup_size ? caps->subgroup_size : FALLBACK_SIZE;
	pctl_legal_options options = {.head = PCTL_HEAD(pctl_legal_options)};
	char text[4096];
	double s[3] = {0, 0, 0};
	uint32_t exact = 0;
	int dot = 0;

	printf("%-20s %-20s %10s %10s %10s\n", "device", "1e9 a s", "own", "emulated", "tree");
	if (caps->caps & PCTL_CAP_SUBGROUPS)
		pctl_probe_subgroups(t, dev, caps, own, PCTL_SUBGROUP_REDUCE | PCTL_SUBGROUP_MOVE,
				     b->call, &exact);
	if (!(exact & PCTL_SUBGROUP_REDUCE))
		fprintf(stderr, "bench_subgroup: own reductions are wrong; own: %s\n",
			exact ? "by shuffles" : "none");
	measure_sums(b, device, own, own, exact);
	measure_sums(b, device, LOCAL, own, exact);
	dot_text(text, sizeof(text));
	if (caps->caps & PCTL_CAP_DOT4)
		pctl_probe_dot4(t, dev, caps, b->call, &dot);
	options.keeps_dot4 = 1;
	s[0] = dot ? time_kernel(b, text, &options) : 0;
	options.keeps_dot4 = 0;
	s[1] = time_kernel(b, text, &options);
	row(b, device, "dot4I8Packed", (double)b->n * 8 * ROUNDS, s);
}

static pctl_status open_bench(bench *b, pctl_registry *r, const pctl_device_entry *e,
			      pctl_backend_instance **backend)
{
	pctl_session_options o = {.id = e->selector,
				  .name = e->selector,
				  .index = e->in_driver,
				  .device_kind = e->kind};
	uint32_t *data = malloc((size_t)b->n * 4);
	pctl_status status = pctl_backend_instance_open(r, e->backend, e->env, 0, b->call, backend);

	o.backend = *backend;
	if (status == PCTL_OK)
		status = pctl_session_open(&o, b->call, &b->session);
	for (uint32_t i = 0; data != NULL && i < b->n; i++)
		data[i] = i * 2654435761u;
	for (uint32_t k = 0; k < 2 && data != NULL && status == PCTL_OK; k++) {
		const pctl_backend *t = pctl_session_table(b->session);
		pctl_device *dev = pctl_session_device(b->session);

		status = t->buffer_create(dev, b->call, (uint64_t)b->n * 4,
					  PCTL_BUFFER_STORAGE | PCTL_BUFFER_TRANSFER,
					  &b->buffers[k]);
		if (status == PCTL_OK)
			status = t->buffer_write(dev, b->call, b->buffers[k], 0, data,
						 (uint64_t)b->n * 4);
	}
	free(data);
	return status;
}

static void close_bench(bench *b, pctl_backend_instance *backend)
{
	for (uint32_t k = 0; k < 2; k++)
		if (b->buffers[k] != NULL)
			pctl_session_table(b->session)
				->buffer_destroy(pctl_session_device(b->session), b->buffers[k]);
	pctl_session_close(b->session);
	pctl_backend_instance_close(backend, NULL);
}

int main(int argc, char **argv)
{
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_registry_options ro = {
		.flags = PCTL_REGISTRY_NO_DEFAULT_DIRS, .n_dirs = 1, .call_ms = 600000};
	bench b = {.call = pctl_diag_list_call(l)};
	pctl_backend_instance *backend = NULL;
	const pctl_device_entry *e;
	pctl_registry *r = NULL;
	pctl_devices *list = NULL;
	pctl_status status;

	if (argc < 4)
		return fprintf(stderr, "usage: bench_subgroup PLUGINS HOME DEVICE [N]\n"), 2;
	ro.dirs = (const char *const *)&argv[1];
	ro.home = argv[2];
	b.n = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) / LOCAL * LOCAL : 1u << 20;
	b.kernels = pctl_kernels_create(NULL);
	status = pctl_registry_open(&ro, b.call, &r);
	if (status == PCTL_OK)
		status = pctl_devices_find(r, argv[3], 0, b.call, &list, &e);
	if (status == PCTL_OK)
		status = open_bench(&b, r, e, &backend);
	if (status == PCTL_OK)
		measure(&b, argv[3]);
	for (uint32_t i = 0; i < pctl_diag_list_count(l); i++)
		fprintf(stderr, "PC%04u %s\n", pctl_diag_list_at(l, i)->code,
			pctl_diag_list_at(l, i)->message);
	close_bench(&b, backend);
	pctl_devices_destroy(list);
	pctl_kernels_destroy(b.kernels);
	pctl_registry_close(r);
	pctl_diag_list_destroy(l);
	return status != PCTL_OK;
}
