/* The price of strictness: results a second of every strict operation on a device, beside the device's own operation
 * (class approximate, the vendor's functions) in the same run. `stream` reads operands and writes a result, as an
 * elementwise op does, `wide` four of each an invocation; `loop` keeps four chains of 64 operations in registers. "of copy":
 * bytes a second of a streaming kernel beside those of a kernel of four an invocation that only copies.
 * usage: bench_strict PLUGINS HOME DEVICE [N [OPERATION...]] */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "foundation/diag/diag.h"
#include "runtime/exec/session.h"
#include "runtime/plugin/devices.h"

#define TRIES 5u
#define ROUNDS 64u

typedef struct measured {
	const char *name;
	const char *stream; /* of x, y, z */
	const char *step; /* of x, y, z: the next x; stays in a harmless range. NULL: stream only */
	uint16_t op;
} measured;

static const measured all[] = {
	{"add", "x + y", "x + z", PCTL_OP_FADD},
	{"sub", "x - y", "x - z", PCTL_OP_FSUB},
	{"mul", "x * y", "x * y", PCTL_OP_FMUL},
	{"div", "x / y", "x / y", PCTL_OP_FDIV},
	{"fma", "fma(x, y, z)", "fma(x, y, z)", PCTL_OP_FFMA},
	{"sqrt", "sqrt(x)", "sqrt(x)", PCTL_OP_FSQRT},
	{"min", "min(x, y)", NULL, PCTL_OP_FMIN},
	{"floor", "floor(x)", NULL, PCTL_OP_FFLOOR},
	{"round", "round(x)", NULL, PCTL_OP_FROUND},
	{"lt", "select(0.0, 1.0, x < y)", NULL, PCTL_OP_FLT},
	{"exp", "exp(x)", NULL, PCTL_OP_FEXP},
	{"exp2", "exp2(x)", NULL, PCTL_OP_FEXP2},
	{"exp10", "exp10(x)", NULL, PCTL_OP_FEXP10},
	{"log", "log(x)", NULL, PCTL_OP_FLOG},
	{"log2", "log2(x)", NULL, PCTL_OP_FLOG2},
	{"log10", "log10(x)", NULL, PCTL_OP_FLOG10},
	{"sin", "sin(x)", NULL, PCTL_OP_FSIN},
	{"cos", "cos(x)", NULL, PCTL_OP_FCOS},
	{"tan", "tan(x)", NULL, PCTL_OP_FTAN},
	{"asin", "asin(z)", NULL, PCTL_OP_FASIN},
	{"acos", "acos(z)", NULL, PCTL_OP_FACOS},
	{"atan", "atan(x)", NULL, PCTL_OP_FATAN},
	{"atan2", "atan2(x, y)", NULL, PCTL_OP_FATAN2},
	{"sinh", "sinh(x)", NULL, PCTL_OP_FSINH},
	{"cosh", "cosh(x)", NULL, PCTL_OP_FCOSH},
	{"tanh", "tanh(x)", NULL, PCTL_OP_FTANH},
	{"asinh", "asinh(x)", NULL, PCTL_OP_FASINH},
	{"acosh", "acosh(x + 1.0)", NULL, PCTL_OP_FACOSH},
	{"atanh", "atanh(z)", NULL, PCTL_OP_FATANH},
	{"pow", "pow(x, y)", NULL, PCTL_OP_FPOW},
	{"rsqrt", "rsqrt(x)", NULL, PCTL_OP_FRSQRT},
	{"cbrt", "cbrt(x)", NULL, PCTL_OP_FCBRT},
	{"erf", "erf(x)", NULL, PCTL_OP_FERF},
	{"erfc", "erfc(x)", NULL, PCTL_OP_FERFC},
	{"log1p", "log1p(x)", NULL, PCTL_OP_FLOG1P},
	{"expm1", "expm1(x)", NULL, PCTL_OP_FEXPM1},
};

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

typedef enum shape { STREAM, WIDE, LOOP, N_SHAPES } shape;

static const char *const shape_names[] = {"stream", "wide", "loop"};

static int has_shape(const measured *m, shape s)
{
	/* Its constants are of one element. */
	return s == WIDE ? m->op != PCTL_OP_FLT : s != LOOP || m->step != NULL;
}

static void write_text(const measured *m, shape s, char *out, size_t n)
{
	static const char of[] = "@group(0) @binding(0) var<storage, read> a : array<%s>;\n"
				 "@group(0) @binding(1) var<storage, read> b : array<%s>;\n"
				 "@group(0) @binding(2) var<storage, read> c : array<%s>;\n"
				 "@group(0) @binding(3) var<storage, read_write> r : array<%s>;\n"
				 "@compute @workgroup_size(256)\n"
				 "fn main(@builtin(global_invocation_id) id : vec3<u32>) {\n"
				 "  let i = id.y * 65536u * 16u + id.x;\n";
	const char *type = s == WIDE ? "vec4<f32>" : "f32";
	char head[1024];

	snprintf(head, sizeof(head), of, type, type, type, type);
	if (s != LOOP)
		snprintf(out, n, "%s  let x = a[i]; let y = b[i]; let z = c[i];\n  r[i] = %s;\n}\n",
			 head, m->stream);
	else
		snprintf(out, n,
			 "fn step(x : f32, y : f32, z : f32) -> f32 { return %s; }\n%s"
			 "  let y = b[i]; let z = c[i];\n"
			 "  var p = a[i]; var q = p + 0.25; var s = p + 0.5; var t = p + 0.75;\n"
			 "  for (var k = 0u; k < %uu; k++) {\n"
			 "    p = step(p, y, z); q = step(q, y, z); s = step(s, y, z); t = step(t, "
			 "y, z);\n  }\n"
			 "  r[i] = (p + q) + (s + t);\n}\n",
			 m->step, head, ROUNDS);
}

typedef struct bench {
	const pctl_call *call;
	pctl_session *session;
	pctl_kernels *kernels;
	pctl_buffer *buffers[4];
	uint32_t n; /* elements, a multiple of 2^20 or below it one of 256 */
} bench;

/* Median seconds of one dispatch; 0: it could not run. */
static double time_kernel(bench *b, const char *name, shape s, const char *text)
{
	const pctl_backend *t = pctl_session_table(b->session);
	pctl_device *dev = pctl_session_device(b->session);
	pctl_kernel_source source = {.name = name, .text = text, .n_text = strlen(text)};
	const uint32_t n = s == WIDE ? b->n / 4 : b->n, x = n < 1u << 20 ? n / 256 : 4096;
	const uint32_t groups[3] = {x, n / 256 / x, 1};
	pctl_completion done = {.head = PCTL_HEAD(pctl_completion)};
	const pctl_kernel_module *unit;
	pctl_binding bindings[4];
	pctl_kernel *kernel;
	pctl_list *list = NULL;
	double tries[TRIES];
	pctl_status status = pctl_kernels_get(b->kernels, &source, b->call, &unit);

	if (status == PCTL_OK)
		status = pctl_session_kernel(b->session, unit, b->call, &kernel);
	for (uint32_t i = 0; i < 4; i++)
		bindings[i] = (pctl_binding){0, i, b->buffers[i], 0, (uint64_t)b->n * 4};
	if (status == PCTL_OK)
		status = t->list_begin(dev, b->call, &list);
	if (status == PCTL_OK)
		status = t->list_timestamp(list, b->call, 0);
	if (status == PCTL_OK)
		status = t->list_dispatch(list, b->call, kernel, bindings, 4, groups);
	if (status == PCTL_OK)
		status = t->list_timestamp(list, b->call, 1);
	if (status == PCTL_OK)
		status = t->list_end(list, b->call);
	for (uint32_t i = 0; i <= TRIES && status == PCTL_OK; i++) {
		uint64_t ticket;
		double begun = now_ns(), ns;

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
	if (status != PCTL_OK)
		return 0;
	qsort(tries, TRIES, sizeof(*tries), ascending);
	return tries[TRIES / 2] * 1e-9;
}

static pctl_status open_bench(bench *b, pctl_registry *r, const pctl_device_entry *e,
			      pctl_profiles *profiles, uint32_t legal_flags,
			      pctl_backend_instance **backend)
{
	pctl_session_options o = {.id = e->selector,
				  .name = e->selector,
				  .profiles = profiles,
				  .legal_flags = legal_flags,
				  .index = e->in_driver,
				  .device_kind = e->kind};
	float *data = malloc((size_t)b->n * 4);
	pctl_status status = pctl_backend_instance_open(r, e->backend, e->env, 0, b->call, backend);

	if (status != PCTL_OK)
		goto out;
	o.backend = *backend;
	status = pctl_session_open(&o, b->call, &b->session);
	/* x in [0.5, 8.5), y close to 1 so that chains stay in range, z in (0, 1). */
	for (uint32_t k = 0; k < 4 && status == PCTL_OK; k++) {
		for (uint32_t i = 0; i < b->n; i++) {
			const float u = (float)((i * 2654435761u + k * 40503u) >> 8) * 0x1p-24f;

			data[i] = k == 0   ? 0.5f + 8.0f * u
				  : k == 1 ? 0.995f + 0.01f * u
				  : k == 2 ? 0.01f + 0.9f * u
					   : 0;
		}
		const pctl_backend *t = pctl_session_table(b->session);
		pctl_device *device = pctl_session_device(b->session);

		status = t->buffer_create(device, b->call, (uint64_t)b->n * 4,
					  PCTL_BUFFER_STORAGE | PCTL_BUFFER_TRANSFER,
					  &b->buffers[k]);
		if (status == PCTL_OK)
			status = t->buffer_write(device, b->call, b->buffers[k], 0, data,
						 (uint64_t)b->n * 4);
	}
out:
	free(data);
	return status;
}

static void close_bench(bench *b, pctl_backend_instance *backend)
{
	for (uint32_t k = 0; k < 4; k++)
		if (b->buffers[k] != NULL)
			pctl_session_table(b->session)
				->buffer_destroy(pctl_session_device(b->session), b->buffers[k]);
	pctl_session_close(b->session);
	pctl_backend_instance_close(backend, NULL);
}

/* Whether an operation is among those that were named. */
static int is_wanted(const char *name, char *const *only, int n_only)
{
	for (int i = 0; i < n_only; i++)
		if (strcmp(only[i], name) == 0)
			return 1;
	return n_only == 0;
}

/* Operands that a stream reads: z alone, or x, or x with others. */
static uint32_t operands(const measured *m)
{
	const uint32_t y = strchr(m->stream, 'y') != NULL, z = strchr(m->stream, 'z') != NULL;

	return y + z + (y || !z);
}

static void measure_shape(bench *strict, bench *native, const char *device, const measured *m,
			  shape sh, const char *form, double copy)
{
	const double results = (double)strict->n * (sh == LOOP ? 4.0 * ROUNDS : 1.0) * 1e-9;
	const double bytes = sh == LOOP ? 0 : (double)strict->n * 4.0 * (operands(m) + 1);
	char text[4096];
	double s, n;

	write_text(m, sh, text, sizeof(text));
	s = time_kernel(strict, m->name, sh, text);
	n = time_kernel(native, m->name, sh, text);
	printf("%-8s %-8s %-6s %12.3f %12.3f %6.2f %8.2f\n", m->name, form, shape_names[sh],
	       s > 0 ? results / s : 0.0, n > 0 ? results / n : 0.0, s > 0 && n > 0 ? n / s : 0.0,
	       s > 0 && copy > 0 ? bytes / s / copy : 0.0);
	fprintf(stderr,
		"{\"bench\":\"strict\",\"device\":\"%s\",\"op\":\"%s\",\"form\":\"%s\","
		"\"kernel\":\"%s\",\"strict_per_s\":%.0f,\"native_per_s\":%.0f,"
		"\"of_copy\":%.3f}\n",
		device, m->name, form, shape_names[sh], s > 0 ? results / s * 1e9 : 0.0,
		n > 0 ? results / n * 1e9 : 0.0, s > 0 && copy > 0 ? bytes / s / copy : 0.0);
	fflush(stdout);
}

/* Bytes a second of a kernel that only copies, read and written. */
static double measure_copy(bench *b, shape s)
{
	const measured copy = {.name = "copy", .stream = "x"};
	char text[4096];
	double t;

	write_text(&copy, s, text, sizeof(text));
	t = time_kernel(b, copy.name, s, text);
	return t > 0 ? 8.0 * (double)b->n / t : 0;
}

static void measure(bench *strict, bench *native, const char *device, char *const *only, int n_only)
{
	static const char *const kinds[] = {"none", "native", "guarded", "f64", "int"};
	const pctl_profile_record *profile = NULL;
	double copy;

	if (pctl_session_profile(strict->session, strict->call, &profile) != PCTL_OK ||
	    profile == NULL)
		return;
	copy = measure_copy(native, WIDE);
	printf("copy: %.0f GB/s read and written, one element an invocation: %.0f GB/s\n",
	       copy * 1e-9, measure_copy(native, STREAM) * 1e-9);
	printf("%-8s %-8s %-6s %12s %12s %6s %8s\n", "op", "form", "", "strict G/s", "native G/s",
	       "ratio", "of copy");
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		uint32_t kind = 0;

		if (!is_wanted(all[i].name, only, n_only))
			continue;
		pctl_legal_form(&profile->profile, pctl_session_caps(strict->session), all[i].op,
				PCTL_SCALAR_F32, &kind);
		for (shape s = STREAM; s < N_SHAPES; s++)
			if (has_shape(&all[i], s))
				measure_shape(strict, native, device, &all[i], s,
					      kind < 5 ? kinds[kind] : "?", copy);
	}
}

int main(int argc, char **argv)
{
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_registry_options ro = {
		.flags = PCTL_REGISTRY_NO_DEFAULT_DIRS, .n_dirs = 1, .call_ms = 600000};
	pctl_profiles_options po = {.home = NULL};
	bench strict = {.call = pctl_diag_list_call(l)}, native = {.call = pctl_diag_list_call(l)};
	pctl_backend_instance *backends[2] = {NULL, NULL};
	const pctl_device_entry *e;
	pctl_profiles *profiles = NULL;
	pctl_registry *r = NULL;
	pctl_devices *list = NULL;
	pctl_status status;

	if (argc < 4)
		return fprintf(stderr,
			       "usage: bench_strict PLUGINS HOME DEVICE [N [OPERATION...]]\n"),
		       2;
	ro.dirs = (const char *const *)&argv[1];
	ro.home = po.home = argv[2];
	strict.n = native.n = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 1u << 20;
	strict.kernels = pctl_kernels_create(NULL);
	native.kernels = strict.kernels;
	status = pctl_registry_open(&ro, strict.call, &r);
	if (status == PCTL_OK)
		status = pctl_profiles_open(&po, strict.call, &profiles);
	if (status == PCTL_OK)
		status = pctl_devices_find(r, argv[3], 0, strict.call, &list, &e);
	if (status == PCTL_OK)
		status = open_bench(&strict, r, e, profiles, 0, &backends[0]);
	if (status == PCTL_OK)
		status = open_bench(&native, r, e, profiles, PCTL_LEGAL_NATIVE, &backends[1]);
	if (status == PCTL_OK)
		measure(&strict, &native, argv[3], argv + 5, argc > 5 ? argc - 5 : 0);
	for (uint32_t i = 0; i < pctl_diag_list_count(l); i++)
		fprintf(stderr, "PC%04u %s\n", pctl_diag_list_at(l, i)->code,
			pctl_diag_list_at(l, i)->message);
	close_bench(&strict, backends[0]);
	close_bench(&native, backends[1]);
	pctl_devices_destroy(list);
	pctl_kernels_destroy(strict.kernels);
	pctl_profiles_close(profiles);
	pctl_registry_close(r);
	pctl_diag_list_destroy(l);
	return status != PCTL_OK;
}
