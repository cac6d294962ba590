/* A matrix product in WGSL by matrix tiles, of 8-bit integers or of f32 summed in f64: by the device's own (what the probe admits) and as
 * ordinary code, in one run on one device. Workgroups of 128 x 128, subgroups of 64 x 64; factors come through workgroup memory, 64 components
 * deep, in two pairs of arrays: while the subgroups multiply out of one, everyone has the next step's words in registers and
 * puts them into the other. The left factor lies by rows, the right one by columns, as torch._int_mm likes them best. Four rows of
 * each result are checked against integers here. Of floats both factors lie by rows, steps are 16 deep, and the rows are checked
 * against the host's fma; WORKGROUP and SUBGROUP are rows x columns, 128x128 and 64x32 where none are named.
 * usage: bench_tiles PLUGINS HOME DEVICE [uniform] [f64[:WORKGROUP:SUBGROUP[:K]] | i8[:64xCOLUMNS]] [N...] */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_tiles.h"
#include "compiler/legalize/legal.h"
#include "foundation/diag/diag.h"
#include "runtime/device/probe.h"
#include "runtime/exec/session.h"
#include "runtime/plugin/devices.h"
#include "runtime/plugin/dispatch.h"

#define TRIES 7u
#define MOST_EMULATED 1024u
#define PRODUCT (1u << 15)	 /* 16 x 16 x 32, signed: bits of pctl_legal_tile_products */
#define FLOAT_PRODUCT (1u << 21) /* 16 x 8 x 16 of f32; two bits below, 16 x 8 x 8 */

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

/* ---- runs ---- */

typedef struct bench {
	const pctl_call *call;
	pctl_session *session;
	pctl_kernels *kernels;
	pctl_buffer *buffers[4];
	void *data[2]; /* of n * n: i8, the right factor by columns; or f32 */
	uint32_t n;
	plan floats; /* rows 0: of integers */
	int by_uniform;
	uint32_t wide; /* of integers a subgroup has 64 rows, and columns of so many tiles */
} bench;

static pctl_status build(bench *b, const source *s, const pctl_legal_options *options,
			 pctl_kernel **out)
{
	const pctl_backend *t = pctl_session_table(b->session);
	pctl_kernel_source file = {.name = "bench.wgsl", .text = s->text, .n_text = s->n};
	const pctl_kernel_module *unit;
	pctl_program *legal = NULL;
	uint8_t *wire = NULL;
	uint64_t n = 0;
	pctl_status status = pctl_kernels_get(b->kernels, &file, b->call, &unit);

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

static uint32_t out_bytes(const bench *b)
{
	return b->floats.rows ? 8 : 4;
}

static int is_sum(const bench *b, uint32_t i, uint32_t j, const void *got)
{
	const int8_t *x = (const int8_t *)b->data[0] + (size_t)i * b->n,
		     *y = (const int8_t *)b->data[1] + (size_t)j * b->n;
	const float *x_f = (const float *)b->data[0] + (size_t)i * b->n,
		    *y_f = (const float *)b->data[1] + j;
	double chain = 0;
	int32_t sum = 0;

	if (b->floats.rows) {
		for (uint32_t k = 0; k < b->n; k++)
			chain = fma((double)x_f[k], (double)y_f[(size_t)k * b->n], chain);
		return memcmp(got, &chain, 8) == 0;
	}
	for (uint32_t k = 0; k < b->n; k++)
		sum += x[k] * y[k];
	return memcmp(got, &sum, 4) == 0;
}

/* Four rows: the first, the last, and two between. */
static int is_right(bench *b)
{
	const uint32_t rows[4] = {0, b->n / 3, b->n / 2 + 7, b->n - 1}, bytes = out_bytes(b);
	char *row = malloc((size_t)b->n * bytes);
	int right = row != NULL;

	for (uint32_t i = 0; i < 4 && right; i++) {
		right = pctl_session_table(b->session)
				->buffer_read(pctl_session_device(b->session), b->call,
					      b->buffers[2], (uint64_t)rows[i] * b->n * bytes, row,
					      (uint64_t)b->n * bytes) == PCTL_OK;
		/* Of floats, whose right factor is read across, one column in five. */
		for (uint32_t j = 0; j < b->n && right; j += b->floats.rows ? 5 : 1) {
			right = is_sum(b, rows[i], j, row + (size_t)j * bytes);
			if (!right)
				fprintf(stderr, "bench_tiles: (%u, %u) is wrong\n", rows[i], j);
		}
	}
	free(row);
	return right;
}

/* Median seconds of one product; 0: it could not run, or is wrong. */
static double time_kernel(bench *b, const source *s, const pctl_legal_options *options)
{
	const pctl_backend *t = pctl_session_table(b->session);
	pctl_device *dev = pctl_session_device(b->session);
	const uint64_t bytes = (uint64_t)b->n * b->n * (b->floats.rows ? 4 : 1);
	const uint64_t bytes_out = (uint64_t)b->n * b->n * out_bytes(b);
	const pctl_binding bindings[4] = {{0, 0, b->buffers[0], 0, bytes},
					  {0, 1, b->buffers[1], 0, bytes},
					  {0, 2, b->buffers[2], 0, bytes_out},
					  {0, 3, b->buffers[3], 0, 16}};
	const uint32_t groups[3] = {b->n / (b->floats.rows ? b->floats.columns : TILE),
				    b->n / (b->floats.rows ? b->floats.rows : TILE), 1};
	pctl_completion done = {.head = PCTL_HEAD(pctl_completion)};
	pctl_kernel *kernel = NULL;
	pctl_list *list = NULL;
	double tries[TRIES];
	const double begun_build = now_ns();
	pctl_status status = build(b, s, options, &kernel);

	fprintf(stderr, "bench_tiles: built in %.1f s\n", (now_ns() - begun_build) * 1e-9);
	if (status == PCTL_OK)
		status = t->list_begin(dev, b->call, &list);
	if (status == PCTL_OK)
		status = t->list_fill(list, b->call, b->buffers[2], 0, bytes_out, 0xa5a5a5a5u);
	if (status == PCTL_OK)
		status = t->list_barrier(list, b->call);
	if (status == PCTL_OK)
		status = t->list_timestamp(list, b->call, 0);
	if (status == PCTL_OK)
		status = t->list_dispatch(list, b->call, kernel, bindings, b->by_uniform ? 4 : 3,
					  groups);
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
	if (status != PCTL_OK || !is_right(b))
		return 0;
	qsort(tries, TRIES, sizeof(*tries), ascending);
	return tries[TRIES / 2] * 1e-9;
}

static void cell(double operations, double seconds)
{
	if (seconds > 0)
		printf(" %10.2f", operations / seconds * 1e-12);
	else
		printf(" %10s", "-");
}

/* What the host would admit. */
static void ask(bench *b, pctl_legal_options *options)
{
	const uint32_t kinds = PCTL_SUBGROUP_VOTE | PCTL_SUBGROUP_MOVE;
	const pctl_backend *t = pctl_session_table(b->session);
	pctl_device *dev = pctl_session_device(b->session);
	const pctl_device_caps *caps = pctl_session_caps(b->session);

	options->subgroup_size = PCTL_TILE_LANES;
	if (caps->caps & PCTL_CAP_SUBGROUPS)
		pctl_probe_subgroups(t, dev, caps, PCTL_TILE_LANES, kinds, b->call,
				     &options->subgroup_kinds);
	if ((caps->caps & PCTL_CAP_TILES) && (options->subgroup_kinds & kinds) == kinds)
		pctl_probe_tiles(t, dev, caps,
				 b->floats.rows ? FLOAT_PRODUCT >> (b->floats.inner == 8 ? 2 : 0)
						: PRODUCT,
				 b->call, &options->tile_products);
}

static pctl_status measure(bench *b, const char *device, const pctl_legal_options *own)
{
	pctl_legal_options ordinary = *own;
	const pctl_backend *t = pctl_session_table(b->session);
	pctl_device *dev = pctl_session_device(b->session);
	const uint64_t count = (uint64_t)b->n * b->n, bytes = count * (b->floats.rows ? 4 : 1);
	const double operations = 2.0 * (double)count * b->n;
	pctl_status status = PCTL_OK;
	static source s;

	ordinary.tile_products = 0;
	for (uint32_t i = 0; i < 2; i++) {
		uint64_t x = 88172645463325252ull + i;

		b->data[i] = malloc(bytes);
		for (uint64_t at = 0; b->data[i] && at < count; at++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			if (b->floats.rows)
				((float *)b->data[i])[at] = (float)(int32_t)x * 0x1p-31f;
			else
				((int8_t *)b->data[i])[at] = (int8_t)x;
		}
	}
	for (uint32_t i = 0; i < 3 && status == PCTL_OK; i++) {
		status = t->buffer_create(dev, b->call, i == 2 ? count * out_bytes(b) : bytes,
					  PCTL_BUFFER_STORAGE | PCTL_BUFFER_TRANSFER,
					  &b->buffers[i]);
		if (status == PCTL_OK && i < 2)
			status = b->data[i] ? t->buffer_write(dev, b->call, b->buffers[i], 0,
							      b->data[i], bytes)
					    : PCTL_E_NOMEM;
	}
	if (status == PCTL_OK)
		status = t->buffer_create(dev, b->call, 16,
					  PCTL_BUFFER_UNIFORM | PCTL_BUFFER_TRANSFER,
					  &b->buffers[3]);
	if (status == PCTL_OK)
		status = t->buffer_write(dev, b->call, b->buffers[3], 0, &b->n, 4);
	if (status == PCTL_OK) {
		printf("%-20s %-8u", device, b->n);
		if (b->floats.rows)
			write_floats(&s, &b->floats, b->by_uniform ? 0 : b->n);
		else
			write_integers(&s, b->by_uniform ? 0 : b->n, b->wide);
		cell(operations, own->tile_products ? time_kernel(b, &s, own) : 0);
		cell(operations, b->n <= MOST_EMULATED ? time_kernel(b, &s, &ordinary) : 0);
		printf("\n");
		fflush(stdout);
	}
	for (uint32_t i = 0; i < 4; i++) {
		if (b->buffers[i])
			t->buffer_destroy(dev, b->buffers[i]);
		b->buffers[i] = NULL;
	}
	free(b->data[0]);
	free(b->data[1]);
	return status;
}

int main(int argc, char **argv)
{
	static const uint32_t sizes[] = {1024, 2048, 4096, 8192};
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_registry_options ro = {
		.flags = PCTL_REGISTRY_NO_DEFAULT_DIRS, .n_dirs = 1, .call_ms = 600000};
	pctl_legal_options options = {.head = PCTL_HEAD(pctl_legal_options)};
	bench b = {.call = pctl_diag_list_call(l)};
	pctl_backend_instance *backend = NULL;
	const pctl_device_entry *e;
	pctl_registry *r = NULL;
	pctl_devices *list = NULL;
	pctl_status status;
	uint32_t columns = 64;
	int first = 4, bad = 0;

	if (argc > first && !strcmp(argv[first], "uniform")) {
		b.by_uniform = 1;
		first++;
	}
	if (argc > first && !strncmp(argv[first], "f64", 3)) {
		b.floats = (plan){128, 128, 64, 32, 16};
		bad = argv[first][3] &&
		      sscanf(argv[first] + 3, ":%ux%u:%ux%u:%u", &b.floats.rows, &b.floats.columns,
			     &b.floats.own_rows, &b.floats.own_columns, &b.floats.inner) < 4;
		bad |= b.floats.inner != 8 && b.floats.inner != 16;
		first++;
	} else if (argc > first && !strncmp(argv[first], "i8", 2)) {
		bad = argv[first][2] && sscanf(argv[first] + 2, ":64x%u", &columns) != 1;
		bad |= columns != 16 && columns != 32 && columns != 64;
		first++;
	}
	b.wide = columns / 16;
	if (argc < 4 || bad)
		return fprintf(stderr, "usage: bench_tiles PLUGINS HOME DEVICE [uniform] "
				       "[f64[:WORKGROUP:SUBGROUP[:K]] | i8[:64xCOLUMNS]] [N...]\n"),
		       2;
	ro.dirs = (const char *const *)&argv[1];
	ro.home = argv[2];
	b.kernels = pctl_kernels_create(NULL);
	status = pctl_registry_open(&ro, b.call, &r);
	if (status == PCTL_OK)
		status = pctl_devices_find(r, argv[3], 0, b.call, &list, &e);
	if (status == PCTL_OK)
		status = pctl_backend_instance_open(r, e->backend, e->env, 0, b.call, &backend);
	if (status == PCTL_OK) {
		pctl_session_options o = {.id = e->selector,
					  .name = e->selector,
					  .index = e->in_driver,
					  .device_kind = e->kind,
					  .backend = backend};

		status = pctl_session_open(&o, b.call, &b.session);
	}
	if (status == PCTL_OK) {
		const double begun = now_ns();

		ask(&b, &options);
		fprintf(stderr, "bench_tiles: probed in %.1f s\n", (now_ns() - begun) * 1e-9);
		printf("%-20s %-8s %10s %10s\n", "device", "1e12 a s", "own", "ordinary");
	}
	for (int i = 0; status == PCTL_OK && i < (argc > first ? argc - first : 4); i++) {
		b.n = argc > first ? (uint32_t)strtoul(argv[first + i], NULL, 10) : sizes[i];
		if (b.n == 0 || b.n % TILE)
			return fprintf(stderr, "bench_tiles: sides are multiples of %u\n", TILE), 2;
		status = measure(&b, argv[3], &options);
	}
	for (uint32_t i = 0; i < pctl_diag_list_count(l); i++)
		fprintf(stderr, "PC%04u %s\n", pctl_diag_list_at(l, i)->code,
			pctl_diag_list_at(l, i)->message);
	pctl_session_close(b.session);
	pctl_backend_instance_close(backend, NULL);
	pctl_devices_destroy(list);
	pctl_kernels_destroy(b.kernels);
	pctl_registry_close(r);
	pctl_diag_list_destroy(l);
	return status != PCTL_OK;
}
