/* See calibrate.h. The kernels stand for what jobs do: arithmetic, divisions, 64 bits, memory, barriers, atomics, and
 * jobs so small that only their number counts. */
#include "chain/executor/calibrate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/state/cursor.h"
#include "compiler/wgsl/wgsl.h"
#include "foundation/base/clock.h"

#define MOST_RUNS 15u
#define SLOW 20u /* times the wanted time */
#define MOST_GROUPS 32768u
#define MOST_JOBS 16384u
#define GROUP_BYTES 256u /* 64 words a workgroup */

#define FRAME                                                             \
	"@group(0) @binding(0) var<storage, read> x: array<u32>;\n"       \
	"@group(1) @binding(0) var<storage, read_write> y: array<u32>;\n" \
	"@compute @workgroup_size(64)\n"                                  \
	"fn main(@builtin(global_invocation_id) id: vec3<u32>,\n"         \
	"\t@builtin(local_invocation_index) l: u32) {\n"

/* The first word of the output for an input of zeros, beyond those that depend on the number of workgroups. */
typedef struct kernel {
	const char *name, *text;
	uint32_t many_jobs; /* 1: grown in jobs of one workgroup, 0: in workgroups of one job */
	uint32_t first;
} kernel;

static const kernel kernels_[PCTL_CALIBRATION_KERNELS] = {
	{"arithmetic",
	 FRAME "\tvar a = x[id.x];\n"
	       "\tfor (var i = 0u; i < 256u; i++) { a = (a ^ (a >> 13u)) * 2654435761u + i; }\n"
	       "\ty[id.x] = a;\n}\n",
	 0, 0},
	{"division",
	 FRAME "\tvar a = x[id.x] | 1u;\n"
	       "\tfor (var i = 1u; i <= 64u; i++) { a = 4294967295u / (a | i) + a % (i + 7u); }\n"
	       "\ty[id.x] = a;\n}\n",
	 0, 0},
	{"wide",
	 FRAME
	 "\tvar a = u64(x[id.x]) + 1lu;\n"
	 "\tfor (var i = 0u; i < 64u; i++) { a = (a ^ (a >> 29u)) * 13787848793156543929lu; }\n"
	 "\ty[id.x] = u32(a) ^ u32(a >> 32u);\n}\n",
	 0, 0},
	{"memory", FRAME "\ty[id.x] = x[id.x] + 1u;\n}\n", 0, 1},
	{"barrier",
	 "var<workgroup> part: array<u32, 64>;\n" FRAME "\tpart[l] = x[id.x] + l;\n"
	 "\tfor (var i = 0u; i < 16u; i++) {\n"
	 "\t\tworkgroupBarrier();\n"
	 "\t\tlet a = part[(l + i) & 63u];\n"
	 "\t\tworkgroupBarrier();\n"
	 "\t\tpart[l] = part[l] + a;\n"
	 "\t}\n"
	 "\ty[id.x] = part[l];\n}\n",
	 0, 0},
	{"atomic",
	 "@group(0) @binding(0) var<storage, read> x: array<u32>;\n"
	 "@group(1) @binding(0) var<storage, read_write> y: array<atomic<u32>>;\n"
	 "@compute @workgroup_size(64)\n"
	 "fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
	 "\tlet a = x[id.x];\n"
	 "\tfor (var i = 0u; i < 16u; i++) { atomicAdd(&y[(a + id.x + i * 31u) & 255u], 1u); "
	 "}\n}\n",
	 0, 0},
	{"small jobs", FRAME "\ty[id.x] = x[id.x] + 1u;\n}\n", 1, 1},
};

typedef struct bench {
	pctl_executor executor;
	pctl_kernels *kernels;
	const pctl_gas_schedule *schedule;
	const pctl_call *call;
	uint32_t least_ms, runs;
	uint8_t *in, *out; /* of the largest size */
	pctl_task *tasks;
	pctl_task_binding binding[MOST_JOBS];
} bench;

/* The jobs of a size, and their gas. */
static pctl_status make(bench *b, const kernel *k, uint32_t size, pctl_calibration_point *p)
{
	const uint32_t groups[3] = {k->many_jobs ? 1 : size, 1, 1};
	const pctl_kernel_source source = {.name = k->name,
					   .text = k->text,
					   .n_text = strlen(k->text),
					   .flags = PCTL_WGSL_CONSENSUS,
					   .groups = groups};
	const uint64_t n_bytes = (uint64_t)groups[0] * GROUP_BYTES;
	pctl_gas_query q = {
		.groups = {groups[0], 1, 1}, .input_bytes = n_bytes, .output_bytes = n_bytes};
	const pctl_kernel_module *unit;
	pctl_gas_price price;
	pctl_status status = pctl_kernels_get(b->kernels, &source, b->call, &unit);

	if (status != PCTL_OK)
		return status;
	q.program = unit->program;
	q.analysis = unit->analysis;
	status = pctl_gas_price_of(b->schedule, &q, b->call, &price);
	*p = (pctl_calibration_point){
		.kernel = k->name, .jobs = k->many_jobs ? size : 1, .groups = groups[0]};
	if (status == PCTL_OK && __builtin_mul_overflow(price.total, p->jobs, &p->gas))
		status = pctl_refuse(b->call, PC2602_GAS_OVERFLOW, "the gas of a calibration");
	for (uint32_t i = 0; i < p->jobs; i++) {
		b->binding[i] = (pctl_task_binding){0, 0, NULL, b->in + i * n_bytes, n_bytes};
		b->tasks[i] = (pctl_task){.unit = unit,
					  .name = k->name,
					  .groups = {groups[0], 1, 1},
					  .n_bindings = 1,
					  .bindings = &b->binding[i],
					  .output = b->out + i * n_bytes,
					  .n_output = n_bytes};
	}
	return status;
}

static pctl_status run_once(bench *b, const kernel *k, const pctl_calibration_point *p,
			    uint64_t *ns)
{
	const uint64_t began = pctl_clock_ns();
	uint32_t first;
	pctl_status status = b->executor.run(b->executor.ctx, b->tasks, (uint32_t)p->jobs, b->call);

	*ns = pctl_clock_ns() - began;
	if (status != PCTL_OK || k->first == 0)
		return status;
	memcpy(&first, b->tasks[p->jobs - 1].output, sizeof(first));
	return first == k->first ? PCTL_OK
				 : pctl_refuse(b->call, PC5832_CALIBRATION,
					       "%s: kernel \"%s\" gave %" PRIu32 ", not %" PRIu32,
					       b->executor.describe(b->executor.ctx), k->name,
					       first, k->first);
}

static int ascending(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* A run that took long enough may have been disturbed: the shorter of two counts. */
static pctl_status run_long(bench *b, const kernel *k, const pctl_calibration_point *p,
			    uint64_t *ns)
{
	uint64_t again = UINT64_MAX;
	pctl_status status = run_once(b, k, p, ns);

	if (status == PCTL_OK && *ns / 1000000u >= b->least_ms &&
	    *ns / 1000000u < SLOW * (b->least_ms + 1ull))
		status = run_once(b, k, p, &again);
	*ns = again < *ns ? again : *ns;
	return status;
}

static pctl_status measure(bench *b, const kernel *k, pctl_calibration_point *p)
{
	const uint32_t most = k->many_jobs ? MOST_JOBS : MOST_GROUPS;
	uint64_t ns[MOST_RUNS], took = 0;
	uint32_t size = 1, runs = b->runs;
	pctl_status status = make(b, k, size, p);

	/* The first run builds the kernel and is not counted. */
	if (status == PCTL_OK)
		status = run_once(b, k, p, &took);
	while (status == PCTL_OK) {
		status = run_long(b, k, p, &took);
		if (status != PCTL_OK || took / 1000000u >= b->least_ms || size >= most)
			break;
		size = size > most / 4 ? most : size * 4;
		status = make(b, k, size, p);
	}
	/* A simulator takes seconds for the least there is: once is enough. */
	if (took / 1000000u >= SLOW * (b->least_ms + 1ull))
		runs = 1;
	for (uint32_t i = 0; status == PCTL_OK && i < runs; i++)
		status = run_once(b, k, p, &ns[i]);
	if (status != PCTL_OK)
		return status;
	qsort(ns, runs, sizeof(*ns), ascending);
	p->ns = ns[runs / 2];
	p->gas_per_ms = (uint64_t)((double)p->gas * 1e6 / (double)(p->ns == 0 ? 1 : p->ns));
	return PCTL_OK;
}

pctl_status pctl_calibrate(const pctl_device_executor_options *o, pctl_kernels *kernels,
			   const pctl_gas_schedule *schedule, uint32_t least_ms, uint32_t runs,
			   const pctl_call *call, pctl_calibration *out)
{
	const size_t n_bytes = (size_t)MOST_GROUPS * GROUP_BYTES;
	bench *b = calloc(1, sizeof(*b));
	pctl_status status;

	memset(out, 0, sizeof(*out));
	if (b == NULL)
		return pctl_no_memory(call, "a calibration");
	b->kernels = kernels;
	b->schedule = schedule;
	b->call = call;
	b->least_ms = least_ms;
	b->runs = runs == 0 ? 1 : runs > MOST_RUNS ? MOST_RUNS : runs;
	b->in = calloc(1, n_bytes);
	b->out = malloc(n_bytes);
	b->tasks = calloc(MOST_JOBS, sizeof(*b->tasks));
	status = b->in == NULL || b->out == NULL || b->tasks == NULL
			 ? pctl_no_memory(call, "a calibration")
			 : pctl_device_executor_open(o, call, &b->executor);
	for (uint32_t i = 0; status == PCTL_OK && i < PCTL_CALIBRATION_KERNELS; i++) {
		status = measure(b, &kernels_[i], &out->points[i]);
		if (i == 0 || out->points[i].gas_per_ms < out->gas_per_ms)
			out->gas_per_ms = out->points[i].gas_per_ms;
	}
	if (status == PCTL_OK)
		snprintf(out->device, sizeof(out->device), "%s",
			 b->executor.describe(b->executor.ctx));
	pctl_executor_close(&b->executor);
	free(b->in);
	free(b->out);
	free(b->tasks);
	free(b);
	return status;
}

/* ---- what is in force ----------------------------------------------------------------------- */

static pctl_status last_block(pctl_chain_state *s, const pctl_call *call, uint64_t *out)
{
	sqlite3_stmt *stmt = NULL;
	int more = 0;
	pctl_status status = pctl_cursor_open(
		s, call, &stmt, "SELECT height FROM blocks ORDER BY height DESC LIMIT 1", "");

	*out = 0;
	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, call, &more);
	if (status == PCTL_OK && more)
		*out = (uint64_t)sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return status;
}

pctl_status pctl_calibration_params(const char *dir, const pctl_call *call, pctl_params *out)
{
	pctl_chain_state *s = NULL;
	uint64_t last = 0;
	pctl_status status = pctl_chain_state_open(dir, call, &s);

	if (status == PCTL_OK)
		status = pctl_chain_begin(s, call);
	if (status == PCTL_OK)
		status = last_block(s, call, &last);
	if (status == PCTL_OK)
		status = pctl_params_in_force(s, last + 1, call, out);
	if (s != NULL) {
		pctl_chain_rollback(s);
		pctl_chain_state_close(s);
	}
	return status;
}
