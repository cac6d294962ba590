/* What a step of a pipeline that stays on a device costs the host: 28 layers of 15 small jobs, 100 steps, beside plain runs of the
 * same pipeline. usage: bench_resident HOME DEVICE... [-- LAYERS WIDTH STEPS] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pipectl/resident.h"

#define JOBS 15u

/* One layer; what it reads of the one before, and its own jobs, stand by number. */
static const char *const LAYER[JOBS] = {
	"{ id = \"n%u\"; op = \"tensor.rms_norm@1\"; in : { x = \"%s\"; weight = \"$g\"; }; }",
	"{ id = \"q%u\"; op = \"tensor.matmul@1\"; in : { a = \"n%u.y\"; b = \"$w\"; }; }",
	"{ id = \"k%u\"; op = \"tensor.matmul@1\"; in : { a = \"n%u.y\"; b = \"$w\"; }; }",
	"{ id = \"v%u\"; op = \"tensor.matmul@1\"; in : { a = \"n%u.y\"; b = \"$w\"; }; }",
	"{ id = \"qk%u\"; op = \"ieee.mul@1\"; in : { a = \"q%u.y\"; b = \"k%u.y\"; }; }",
	"{ id = \"sv%u\"; op = \"ieee.mul@1\"; in : { a = \"qk%u.y\"; b = \"v%u.y\"; }; }",
	"{ id = \"o%u\"; op = \"tensor.matmul@1\"; in : { a = \"sv%u.y\"; b = \"$w\"; }; }",
	"{ id = \"r%u\"; op = \"ieee.add@1\"; in : { a = \"o%u.y\"; b = \"%s\"; }; }",
	"{ id = \"m%u\"; op = \"tensor.rms_norm@1\"; in : { x = \"r%u.y\"; weight = \"$g\"; }; }",
	"{ id = \"gate%u\"; op = \"tensor.matmul@1\"; in : { a = \"m%u.y\"; b = \"$w\"; }; }",
	"{ id = \"up%u\"; op = \"tensor.matmul@1\"; in : { a = \"m%u.y\"; b = \"$w\"; }; }",
	"{ id = \"act%u\"; op = \"ieee.silu@1\"; in : { x = \"gate%u.y\"; }; }",
	"{ id = \"mul%u\"; op = \"ieee.mul@1\"; in : { a = \"act%u.y\"; b = \"up%u.y\"; }; }",
	"{ id = \"d%u\"; op = \"tensor.matmul@1\"; in : { a = \"mul%u.y\"; b = \"$w\"; }; }",
	"{ id = \"x%u\"; op = \"ieee.add@1\"; in : { a = \"d%u.y\"; b = \"r%u.y\"; }; }"};

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void hear(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	if (d->severity == PCTL_SEVERITY_ERROR)
		fprintf(stderr, "PC%04u %s\n", d->code, d->message);
}

static void must(pctl_status status, const char *what)
{
	if (status == PCTL_OK)
		return;
	fprintf(stderr, "%s: %s\n", what, pipectl_status_name(status));
	exit(1);
}

/* The texts of a layer differ in what stands for numbers. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void write_pipeline(FILE *f, uint32_t layers, uint32_t width)
{
	fprintf(f,
		"pipeline : {\n  name = \"decode\";\n  class = \"strict\";\n  inputs : {\n"
		"    t : { type = \"f32[1,%u]\"; };\n    h : { type = \"f32[1,%u]\"; };\n"
		"    w : { type = \"f32[%u,%u]\"; };\n    g : { type = \"f32[%u]\"; };\n  };\n  "
		"jobs = (\n"
		"    { id = \"begin\"; op = \"ieee.add@1\"; in : { a = \"$t\"; b = \"$h\"; }; }",
		width, width, width, width, width);
	for (uint32_t i = 0; i < layers; i++) {
		char before[32];

		snprintf(before, sizeof(before), i == 0 ? "begin.y" : "x%u.y", i - 1);
		for (uint32_t k = 0; k < JOBS; k++) {
			fprintf(f, ",\n    ");
			if (k == 0)
				fprintf(f, LAYER[k], i, before);
			else if (k == 7)
				fprintf(f, LAYER[k], i, i, before);
			else
				fprintf(f, LAYER[k], i, i, i);
		}
	}
	fprintf(f,
		",\n    { id = \"best\"; op = \"tensor.argmax@1\"; in : { x = \"x%u.y\"; }; attr : "
		"{ axis = 1; }; },\n"
		"    { id = \"keep\"; op = \"tensor.softmax@1\"; in : { x = \"x%u.y\"; }; }\n  );\n"
		"  outputs : { token = \"best.y\"; h_after = \"keep.y\"; };\n};\n",
		layers - 1, layers - 1);
}

struct data {
	float *t, *h, *w, *g;
	uint32_t width, steps;
};

static pipectl_input input(const char *name, const float *x, uint64_t n)
{
	return (pipectl_input){
		.head = PCTL_HEAD(pipectl_input), .name = name, .data = x, .n_bytes = 4 * n};
}

static void measure_plain(pipectl_pipeline *pl, const char *device, const pipectl_input *in)
{
	const pipectl_run_options how = {.head = PCTL_HEAD(pipectl_run_options),
					 .backends = &device,
					 .n_backends = 1,
					 .inputs = in,
					 .n_inputs = 4,
					 .flags = PIPECTL_RUN_NO_MEMO};
	double best = 1e30;

	for (uint32_t i = 0; i < 3; i++) {
		const double began = now_us();
		pipectl_result *r = NULL;

		must(pipectl_pipeline_run(pl, &how, &r), "a plain run");
		pipectl_result_release(r);
		best = now_us() - began < best ? now_us() - began : best;
	}
	printf("%-18s plain     %10.0f us a run\n", device, best);
}

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void measure_resident(pipectl_pipeline *pl, const char *device, const pipectl_input *in,
			     const struct data *d)
{
	static const char *const changing[] = {"t"}, *const reads[] = {"token"};
	static const pipectl_setting states[] = {{"h", "h_after"}};
	const pipectl_run_options how = {.head = PCTL_HEAD(pipectl_run_options),
					 .backends = &device,
					 .n_backends = 1,
					 .inputs = in,
					 .n_inputs = 4};
	const pipectl_resident_options o = {.head = PCTL_HEAD(pipectl_resident_options),
					    .changing = changing,
					    .states = states,
					    .reads = reads,
					    .n_changing = 1,
					    .n_states = 1,
					    .n_reads = 1};
	pipectl_resident_facts f = {.head = PCTL_HEAD(pipectl_resident_facts)};
	double *host = calloc(d->steps, sizeof(double)), *parts[4];
	const void *from[] = {d->t};
	const uint64_t from_bytes[] = {4 * d->width}, to_bytes[] = {4};
	uint32_t token;
	void *to[] = {&token};
	pipectl_resident *r = NULL;
	double device_us = 0;
	const double began = now_us();

	must(pipectl_resident_open(pl, &how, &o, &r), "opening");
	printf("%-18s opened in %10.0f us\n", device, now_us() - began);
	for (uint32_t k = 0; k < 4; k++)
		parts[k] = calloc(d->steps, sizeof(double));
	for (uint32_t i = 0; i < d->steps; i++) {
		pipectl_step s = {.head = PCTL_HEAD(pipectl_step)};

		must(pipectl_resident_step(r, from, from_bytes, to, to_bytes, &s, NULL), "a step");
		host[i] = (double)s.host_ns * 1e-3;
		parts[0][i] = (double)s.write_ns * 1e-3;
		parts[1][i] = (double)s.submit_ns * 1e-3;
		parts[2][i] = (double)s.wait_ns * 1e-3;
		parts[3][i] = (double)s.read_ns * 1e-3;
		device_us += (double)s.device_ns * 1e-3 / d->steps;
		if (s.submits != 1)
			exit(1);
	}
	must(pipectl_resident_describe(r, &f), "facts");
	qsort(host, d->steps, sizeof(double), ascending);
	for (uint32_t k = 0; k < 4; k++)
		qsort(parts[k], d->steps, sizeof(double), ascending);
	printf("%-18s resident  %10.0f us a step (median of %u; %.0f the least): write %.1f, "
	       "submit %.1f, "
	       "wait %.1f, read %.1f; device %.0f\n",
	       device, host[d->steps / 2], d->steps, host[0], parts[0][d->steps / 2],
	       parts[1][d->steps / 2], parts[2][d->steps / 2], parts[3][d->steps / 2], device_us);
	printf("%-18s %u dispatches, %u transfers, %u barriers; %" PRIu64 " bytes written, %" PRIu64
	       " read; pools %" PRIu64 " of %" PRIu64 " bytes, in all %" PRIu64 "\n",
	       "", f.dispatches, f.transfers, f.barriers, f.written_bytes, f.read_bytes,
	       f.pool_bytes, f.live_bytes, f.total_bytes);
	printf("{\"bench\":\"resident\",\"device\":\"%s\",\"dispatches\":%u,\"barriers\":%u,\"step_"
	       "us\":%.1f,"
	       "\"write_us\":%.1f,\"submit_us\":%.1f,\"wait_us\":%.1f,\"read_us\":%.1f,\"device_"
	       "us\":%.1f}\n",
	       f.device, f.dispatches, f.barriers, host[d->steps / 2], parts[0][d->steps / 2],
	       parts[1][d->steps / 2], parts[2][d->steps / 2], parts[3][d->steps / 2], device_us);
	pipectl_resident_release(r);
	free(host);
	for (uint32_t k = 0; k < 4; k++)
		free(parts[k]);
}

static float *numbers(uint64_t n, float scale)
{
	float *x = calloc(n, sizeof(float));

	for (uint64_t i = 0; x != NULL && i < n; i++)
		x[i] = scale * (float)((int64_t)(i * UINT64_C(2654435761) % 2001) - 1000) / 1000.0f;
	return x;
}

int main(int argc, char **argv)
{
	uint32_t layers = 28, n = 2;
	struct data d = {.width = 64, .steps = 100};
	pipectl_options o = {.head = PCTL_HEAD(pipectl_options), .diagnostic = hear};
	char path[] = "/tmp/pipectl-bench-XXXXXX.pipe.cfg";
	pipectl_pipeline *pl = NULL;
	pipectl_input in[4];
	pipectl *p = NULL;
	FILE *f;
	int fd;

	while (n < (uint32_t)argc && strcmp(argv[n], "--") != 0)
		n++;
	if (n + 3 < (uint32_t)argc) {
		layers = (uint32_t)strtoul(argv[n + 1], NULL, 10);
		d.width = (uint32_t)strtoul(argv[n + 2], NULL, 10);
		d.steps = (uint32_t)strtoul(argv[n + 3], NULL, 10);
	}
	if (argc < 3 || layers == 0 || d.width == 0 || d.steps == 0) {
		fprintf(stderr, "usage: bench_resident HOME DEVICE... [-- LAYERS WIDTH STEPS]\n");
		return 2;
	}
	fd = mkstemps(path, 9);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (f == NULL)
		return 1;
	write_pipeline(f, layers, d.width);
	fclose(f);
	d.t = numbers(d.width, 1);
	d.h = numbers(d.width, 0.5f);
	d.w = numbers((uint64_t)d.width * d.width, 0.25f);
	d.g = numbers(d.width, 1);
	in[0] = input("t", d.t, d.width);
	in[1] = input("h", d.h, d.width);
	in[2] = input("w", d.w, (uint64_t)d.width * d.width);
	in[3] = input("g", d.g, d.width);
	o.home = argv[1];
	must(pipectl_open(&o, &p), "an installation");
	must(pipectl_pipeline_load(p, path, NULL, 0, &pl), path);
	printf("%u layers of %u jobs, width %u\n", layers, JOBS, d.width);
	for (uint32_t i = 2; i < n; i++) {
		measure_resident(pl, argv[i], in, &d);
		measure_plain(pl, argv[i], in);
	}
	pipectl_pipeline_release(pl);
	pipectl_close(p);
	unlink(path);
	free(d.t);
	free(d.h);
	free(d.w);
	free(d.g);
	return 0;
}
