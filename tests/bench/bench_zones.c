/* What guard zones cost: a job of a run in buffers of exactly its bytes and the same between zones, and the tasks of a block without
 * zones and with them, in pairs that take turns, so that a busy machine is as busy for both. Half of a run's jobs lie between
 * zones, so a run pays half of what is printed for a job. usage: bench_zones PLUGINS DEVICE [PAIRS] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/clock.h"
#include "foundation/diag/diag.h"
#include "runtime/exec/tasks.h"
#include "runtime/exec/value.h"
#include "runtime/plugin/devices.h"
#include "place.h"

#define WORDS 4096u /* of the job's input and output: a small one pays most */
#define TASKS 1000u
#define TASK_BYTES 256u
#define MOST_PAIRS 1000u

static const char TEXT[] = "@group(0) @binding(0) var<storage, read> x: array<u32>;\n"
			   "@group(1) @binding(0) var<storage, read_write> y: array<u32>;\n"
			   "@compute @workgroup_size(64)\n"
			   "fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
			   "\tif (id.x < arrayLength(&y)) { y[id.x] = x[id.x] * 3u + 1u; }\n}\n";

typedef struct bench {
	const pctl_call *call;
	pctl_session *s;
	const pctl_kernel_module *unit;
	pctl_shapes shapes;
	uint32_t words[WORDS];
	pctl_task tasks[TASKS];
	pctl_task_binding bindings[TASKS];
	uint8_t out[TASKS * TASK_BYTES];
} bench;

static pctl_status run_job(bench *b, int zoned)
{
	pctl_plan_binding bindings[2] = {{0, 0, 0, 0, 0, sizeof(b->words)},
					 {1, 0, 1, 0, 0, sizeof(b->words)}};
	const uint32_t usage = PCTL_BUFFER_STORAGE | PCTL_BUFFER_TRANSFER;
	pctl_plan_buffer buffers[2] = {
		{.kind = PCTL_PLAN_INPUT, .usage = usage, .n_bytes = sizeof(b->words)},
		{.kind = PCTL_PLAN_OUTPUT, .usage = usage, .n_bytes = sizeof(b->words)}};
	pctl_step step = {.kind = PCTL_STEP_KERNEL,
			  .unit = b->unit,
			  .n_bindings = 2,
			  .bindings = bindings,
			  .groups = {WORDS / 64, 1, 1}};
	pctl_job_plan plan = {.name = "job",
			      .buffers = buffers,
			      .steps = &step,
			      .n_buffers = 2,
			      .n_in = 1,
			      .n_out = 1,
			      .n_steps = 1};
	const uint64_t n_out = sizeof(b->words);
	pctl_shape shape = {0};
	pctl_job_run run = {.plan = &plan, .repeat = 1, .out_bytes = &n_out, .shape = &shape};
	pctl_value *in = pctl_value_from_bytes(b->words, sizeof(b->words)), *out = NULL;
	const uint8_t *read;
	pctl_status status = in == NULL ? PCTL_E_NOMEM : PCTL_OK;

	while (status == PCTL_OK && zoned != (shape.before != 0 && shape.thorough == 0))
		shape = pctl_shape_next(&b->shapes, pctl_session_caps(b->s));
	run.shape = zoned ? &shape : NULL;
	if (status == PCTL_OK)
		status = pctl_job_execute(b->s, &run, &in, b->call, &out, NULL);
	if (status == PCTL_OK)
		status = pctl_value_hold(out, b->call, &read);
	pctl_value_release(in);
	pctl_value_release(out);
	return status;
}

static pctl_status run_tasks(bench *b, int zoned)
{
	const pctl_task_limits limits = {.shapes = zoned ? &b->shapes : NULL};

	return pctl_tasks_run(b->s, &limits, b->tasks, TASKS, b->call, NULL);
}

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static pctl_status pairs(bench *b, const char *device, const char *what, uint32_t n,
			 pctl_status (*run)(bench *b, int zoned))
{
	static double us[2][MOST_PAIRS], ratio[MOST_PAIRS];
	pctl_status status = run(b, 0); /* builds the kernel */

	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		for (uint32_t k = 0; status == PCTL_OK && k < 2; k++) {
			const int zoned = (int)((i ^ k) & 1u);
			const uint64_t began = pctl_clock_ns();

			status = run(b, zoned);
			us[zoned][i] = (double)(pctl_clock_ns() - began) * 1e-3;
		}
		ratio[i] = us[1][i] / us[0][i];
	}
	for (uint32_t k = 0; k < 2; k++)
		qsort(us[k], n, sizeof(us[k][0]), ascending);
	qsort(ratio, n, sizeof(ratio[0]), ascending);
	if (status == PCTL_OK)
		printf("{\"bench\":\"zones\",\"device\":\"%s\",\"of\":\"%s\",\"pairs\":%u,\"us_"
		       "without\":"
		       "%.1f,\"us_with\":%.1f,\"median_ratio\":%.4f}\n",
		       device, what, n, us[0][n / 2], us[1][n / 2], ratio[n / 2]);
	return status;
}

static void fill(bench *b)
{
	for (uint32_t i = 0; i < WORDS; i++)
		b->words[i] = i * 2654435761u;
	for (uint32_t i = 0; i < TASKS; i++) {
		b->bindings[i] = (pctl_task_binding){
			0, 0, NULL, b->words + i % 64 * (TASK_BYTES / 4), TASK_BYTES};
		b->tasks[i] = (pctl_task){.unit = b->unit,
					  .name = "task",
					  .groups = {1, 1, 1},
					  .n_bindings = 1,
					  .bindings = &b->bindings[i],
					  .output = b->out + i * TASK_BYTES,
					  .n_output = TASK_BYTES};
	}
}

int main(int argc, char **argv)
{
	static bench b;
	const uint32_t asked = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 101;
	const uint32_t n = asked == 0 ? 1 : asked < MOST_PAIRS ? asked : MOST_PAIRS;
	const pctl_kernel_source source = {.name = "k", .text = TEXT, .n_text = sizeof(TEXT) - 1};
	pctl_registry_options ro = {.flags = PCTL_REGISTRY_NO_DEFAULT_DIRS,
				    .n_dirs = 1,
				    .cache = bench_cache(),
				    .call_ms = 600000};
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_kernels *kernels = pctl_kernels_create(NULL);
	pctl_backend_instance *backend = NULL;
	const pctl_device_entry *e = NULL;
	pctl_devices *list = NULL;
	pctl_registry *r = NULL;
	pctl_session_options o;
	pctl_status status;

	if (argc < 3)
		return fprintf(stderr, "usage: bench_zones PLUGINS DEVICE [PAIRS]\n"), 2;
	b.call = pctl_diag_list_call(l);
	ro.dirs = (const char *const *)&argv[1];
	status = pctl_registry_open(&ro, b.call, &r);
	if (status == PCTL_OK)
		status = pctl_devices_find(r, argv[2], 0, b.call, &list, &e);
	if (status == PCTL_OK)
		status = pctl_backend_instance_open(r, e->backend, e->env, 0, b.call, &backend);
	if (status == PCTL_OK) {
		o = (pctl_session_options){.backend = backend,
					   .id = e->selector,
					   .name = e->selector,
					   .index = e->in_driver,
					   .device_kind = e->kind};
		status = pctl_session_open(&o, b.call, &b.s);
	}
	if (status == PCTL_OK)
		status = pctl_kernels_get(kernels, &source, b.call, &b.unit);
	if (status == PCTL_OK)
		status = pctl_shapes_draw(b.call, &b.shapes.seed);
	if (status == PCTL_OK)
		status = pctl_shapes_block(&b.shapes, 0, b.call);
	fill(&b);
	if (status == PCTL_OK)
		status = pairs(&b, argv[2], "job", n, run_job);
	if (status == PCTL_OK)
		status = pairs(&b, argv[2], "tasks", n, run_tasks);
	pctl_diag_render_text(l, stderr, 0);
	pctl_session_close(b.s);
	pctl_backend_instance_close(backend, NULL);
	pctl_devices_destroy(list);
	pctl_kernels_destroy(kernels);
	pctl_registry_close(r);
	pctl_diag_list_destroy(l);
	return status != PCTL_OK;
}
