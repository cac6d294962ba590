/* See calibrate.h. The kernels stand for what jobs do: arithmetic, divisions, 64 bits, memory, barriers, atomics, and
 * jobs so small that only their number counts. */
#include "chain/executor/calibrate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/executor/executor_devices.h"
#include "chain/executor/processor.h"
#include "chain/executor/suite.h"
#include "chain/state/cursor.h"
#include "compiler/analysis/extents.h"
#include "compiler/wgsl/wgsl.h"
#include "foundation/base/clock.h"
#include "foundation/base/order.h"

#define MOST_RUNS 15u
#define SLOW 20u /* times the wanted time */
#define MOST_GROUPS 32768u
#define MOST_JOBS 16384u
#define MOST_BUILDS 16u
#define MOST_BYTES (64u << 20) /* of an output */
#define MOST_INVOCATIONS 256u
#define OUTPUT_STEP 65536u /* bytes that outputs are grown by */

#define FRAME                                                             \
	"@group(0) @binding(0) var<storage, read> x: array<u32>;\n"       \
	"@group(1) @binding(0) var<storage, read_write> y: array<u32>;\n" \
	"@compute @workgroup_size(64)\n"                                  \
	"fn main(@builtin(global_invocation_id) id: vec3<u32>,\n"         \
	"\t@builtin(local_invocation_index) l: u32) {\n"

/* first: word of the output for an input of zeros, beyond those that depend on the number of workgroups; 0: not looked at. */
typedef struct kernel {
	const char *name, *text;
	uint32_t form; /* PCTL_SUITE_* */
	uint32_t first;
} kernel;

#define N_FEW 7u

static const kernel few[N_FEW] = {
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
	{"small jobs", FRAME "\ty[id.x] = x[id.x] + 1u;\n}\n", PCTL_SUITE_JOBS, 1},
};

/* One kernel being measured. */
typedef struct subject {
	pctl_suite_kernel k;
	const char *text;
	uint32_t first;
} subject;

typedef struct bench {
	const pctl_calibrating *how;
	pctl_executor executor;
	pctl_kernels *kernels;
	const pctl_call *call;
	uint32_t runs;
	uint64_t parts;	   /* of a gas: while it is measured, prices are in parts */
	uint64_t number;   /* of the next kernel of its own */
	uint8_t *in, *out; /* of the largest size */
	pctl_task *tasks;
	pctl_task_binding binding[MOST_JOBS];
} bench;

/* A device that is the machine's processors is timed by what these do; one that was not opened yet by the clock. */
static uint64_t now(const bench *b)
{
	const pctl_device_executor *e = b->executor.ctx;
	const pctl_session *session = e->n_devices == 0 ? NULL : e->devices[0].open.session;
	const uint32_t kind = session == NULL ? 0 : pctl_session_kind(session);

	return b->how->is_suite && (kind == PCTL_DEVICE_REFERENCE || kind == PCTL_DEVICE_CPU)
		       ? pctl_processor_ns()
		       : pctl_clock_ns();
}

/* ---- the jobs of a size, and their gas ------------------------------------------------------- */

static uint32_t groups_of(const subject *s, uint32_t size)
{
	return s->k.form == PCTL_SUITE_GROUPS ? size : 1;
}

static uint64_t output_of(const subject *s, uint32_t size)
{
	return s->k.form == PCTL_SUITE_OUTPUT ? (uint64_t)size * OUTPUT_STEP
					      : (uint64_t)groups_of(s, size) * s->k.words * 4u;
}

static uint32_t most_of(const subject *s)
{
	switch (s->k.form) {
	case PCTL_SUITE_JOBS:
		return MOST_JOBS;
	case PCTL_SUITE_OUTPUT:
		return MOST_BYTES / OUTPUT_STEP;
	case PCTL_SUITE_BUILDS:
		return MOST_BUILDS;
	default:
		return MOST_BYTES / (s->k.words * 4u) < MOST_GROUPS ? MOST_BYTES / (s->k.words * 4u)
								    : MOST_GROUPS;
	}
}

static pctl_status module_of(bench *b, const subject *s, uint32_t n_groups,
			     const pctl_kernel_module **out)
{
	const uint32_t groups[3] = {n_groups, 1, 1};
	char number[24];
	const pctl_override_value own = {.name = "number", .text = number};
	const pctl_kernel_source source = {.name = s->k.name,
					   .text = s->text,
					   .n_text = strlen(s->text),
					   .flags = PCTL_WGSL_CONSENSUS | PCTL_WGSL_FLOATS,
					   .groups = groups,
					   .any_size = 1,
					   .overrides = &own,
					   .n_overrides = s->k.form == PCTL_SUITE_BUILDS};

	snprintf(number, sizeof(number), "%" PRIu64, b->number & UINT32_MAX);
	b->number += s->k.form == PCTL_SUITE_BUILDS;
	return pctl_kernels_get(b->kernels, &source, b->call, out);
}

static pctl_status price(const pctl_gas_schedule *s, const pctl_gas_query *q, uint64_t jobs,
			 const pctl_call *call, uint64_t *out)
{
	pctl_gas_price price;
	pctl_status status = pctl_gas_price_of(s, q, call, &price);

	*out = 0;
	if (status == PCTL_OK && __builtin_mul_overflow(price.total, jobs, out))
		status = pctl_refuse(call, PC2602_GAS_OVERFLOW, "the gas of a calibration");
	return status;
}

/* What one more in each row would add. */
static pctl_status count_units(const bench *b, const pctl_gas_query *q, pctl_calibration_point *p)
{
	pctl_gas_schedule *s = b->how->schedule;
	pctl_status status = PCTL_OK;

	for (uint32_t row = 0; status == PCTL_OK && row < PCTL_GAS_ROWS; row++) {
		const uint64_t was = pctl_gas_row(s, row);
		uint64_t gas = p->parts;

		/* Greater units are no prices. */
		if (row == PCTL_GAS_MEMORY_UNIT_BYTES || row == PCTL_GAS_PARTS ||
		    pctl_gas_row_name(s, row) == NULL || !pctl_gas_row_set(s, row, was + 1))
			continue;
		status = price(s, q, p->jobs, b->call, &gas);
		(void)pctl_gas_row_set(s, row, was);
		p->units[row] = gas - p->parts;
	}
	return status;
}

static pctl_status price_all(bench *b, const subject *s, const pctl_kernel_module *unit,
			     uint64_t n_in, uint64_t n_out, int with_units,
			     pctl_calibration_point *p)
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	pctl_gas_query q = {.program = unit->program,
			    .analysis = unit->analysis,
			    .groups = {(uint32_t)p->groups, 1, 1},
			    .input_bytes = n_in,
			    .output_bytes = n_out,
			    .of = s->k.form == PCTL_SUITE_BUILDS ? PCTL_GAS_OF_BUILD : 0u};
	pctl_extents x;
	pctl_status status = pctl_program_extents(unit->program, &unit->known, b->call, &x);

	q.instructions = x.need[PCTL_EXTENT_INSTRUCTIONS];
	if (status == PCTL_OK)
		status = price(b->how->schedule, &q, p->jobs, b->call, &p->parts);
	p->gas = p->parts / b->parts + (p->parts % b->parts != 0);
	/* The older one may not know what the kernel does. */
	if (status == PCTL_OK && b->how->before != NULL)
		(void)price(b->how->before, &q, p->jobs, &quiet, &p->before);
	return status == PCTL_OK && with_units ? count_units(b, &q, p) : status;
}

static pctl_status make(bench *b, const subject *s, uint32_t size, int with_units,
			pctl_calibration_point *p)
{
	const uint32_t groups = groups_of(s, size);
	const uint64_t n_in = (uint64_t)groups * s->k.invocations * 4u, n_out = output_of(s, size);
	const int many = s->k.form == PCTL_SUITE_JOBS || s->k.form == PCTL_SUITE_BUILDS;
	const pctl_kernel_module *unit = NULL;
	pctl_status status = PCTL_OK;

	*p = (pctl_calibration_point){.kernel = s->k.name,
				      .row = s->k.row,
				      .is_odd = s->k.is_odd,
				      .is_built = s->k.form == PCTL_SUITE_BUILDS,
				      .jobs = many ? size : 1,
				      .groups = groups};
	for (uint32_t i = 0; status == PCTL_OK && i < p->jobs; i++) {
		if (unit == NULL || s->k.form == PCTL_SUITE_BUILDS)
			status = module_of(b, s, groups, &unit);
		if (status != PCTL_OK)
			return status;
		b->binding[i] = (pctl_task_binding){0, 0, NULL, b->in, n_in};
		b->tasks[i] = (pctl_task){.unit = unit,
					  .name = s->k.name,
					  .groups = {groups, 1, 1},
					  .n_bindings = 1,
					  .bindings = &b->binding[i],
					  .output = b->out + i * n_out,
					  .n_output = n_out};
	}
	return status == PCTL_OK ? price_all(b, s, unit, n_in, n_out, with_units, p) : status;
}

/* ---- time ------------------------------------------------------------------------------------ */

static pctl_status run_once(bench *b, const subject *s, const pctl_calibration_point *p,
			    uint64_t *ns)
{
	const uint64_t began = now(b);
	uint32_t first;
	pctl_status status = b->executor.run(b->executor.ctx, b->tasks, (uint32_t)p->jobs, b->call);

	*ns = now(b) - began;
	if (status != PCTL_OK || s->first == 0)
		return status;
	memcpy(&first, b->tasks[p->jobs - 1].output, sizeof(first));
	return first == s->first ? PCTL_OK
				 : pctl_refuse(b->call, PC5832_CALIBRATION,
					       "%s: kernel \"%s\" gave %" PRIu32 ", not %" PRIu32,
					       b->executor.describe(b->executor.ctx), s->k.name,
					       first, s->first);
}

/* A run that took long enough may have been disturbed: the shorter of two counts. */
static pctl_status run_long(bench *b, const subject *s, const pctl_calibration_point *p,
			    uint64_t *ns)
{
	const uint32_t least_ms = b->how->least_ms;
	uint64_t again = UINT64_MAX;
	pctl_status status = run_once(b, s, p, ns);

	if (status == PCTL_OK && !b->how->is_suite && *ns / 1000000u >= least_ms &&
	    *ns / 1000000u < SLOW * (least_ms + 1ull))
		status = run_once(b, s, p, &again);
	*ns = again < *ns ? again : *ns;
	return status;
}

static pctl_status measure(bench *b, const subject *s, pctl_calibration_point *p)
{
	const uint32_t least_ms = b->how->least_ms, most = most_of(s);
	const int is_own = s->k.form == PCTL_SUITE_BUILDS;
	uint64_t ns[MOST_RUNS], took = 0;
	uint32_t size = 1, runs = b->runs;
	pctl_status status = make(b, s, size, 0, p);

	/* The first run builds the kernel and is not counted. */
	if (status == PCTL_OK)
		status = run_once(b, s, p, &took);
	while (status == PCTL_OK) {
		if (is_own)
			status = make(b, s, size, 0, p);
		if (status == PCTL_OK)
			status = run_long(b, s, p, &took);
		if (status != PCTL_OK || took / 1000000u >= least_ms || size >= most)
			break;
		size = size > most / 4 ? most : size * 4;
		status = make(b, s, size, 0, p);
	}
	/* A simulator takes seconds for the least there is: once is enough. */
	if (took / 1000000u >= SLOW * (least_ms + 1ull))
		runs = 1;
	if (status == PCTL_OK)
		status = make(b, s, size, b->how->is_suite != 0, p);
	for (uint32_t i = 0; status == PCTL_OK && i < runs; i++) {
		pctl_calibration_point again;

		if (is_own && i != 0)
			status = make(b, s, size, 0, &again);
		if (status == PCTL_OK)
			status = run_once(b, s, p, &ns[i]);
	}
	if (status != PCTL_OK)
		return status;
	qsort(ns, runs, sizeof(*ns), pctl_order_u64);
	p->ns = ns[b->how->is_suite ? 0 : runs / 2];
	p->ns += p->ns == 0;
	p->gas_per_ms = (uint64_t)pctl_calibration_rate(p, 0);
	return PCTL_OK;
}

double pctl_calibration_rate(const pctl_calibration_point *p, int is_before)
{
	return (double)(is_before ? p->before : p->gas) * 1e6 / (double)p->ns;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static pctl_status measure_at(bench *b, uint32_t i, pctl_calibration_point *p)
{
	char *text = b->how->is_suite ? pctl_suite_text(i) : NULL;
	subject s;
	pctl_status status;

	if (b->how->is_suite)
		s = (subject){.k = *pctl_suite_at(i), .text = text};
	else
		s = (subject){.k = {.name = few[i].name,
				    .form = few[i].form,
				    .invocations = 64,
				    .words = 64},
			      .text = few[i].text,
			      .first = few[i].first};
	status = s.text == NULL ? pctl_no_memory(b->call, "a kernel") : measure(b, &s, p);
	free(text);
	return status;
}

static void find_ends(pctl_calibration *c)
{
	int is_priced = 0;

	for (uint32_t i = 0; i < c->n_points; i++) {
		const pctl_calibration_point *p = c->points;

		if (c->gas_per_ms == 0 || p[i].gas_per_ms < c->gas_per_ms)
			c->gas_per_ms = p[i].gas_per_ms;
		if (!p[i].is_built && p[i].gas_per_ms < p[c->least].gas_per_ms)
			c->least = i;
		if (!p[i].is_odd && (p[c->most].is_odd || p[i].gas_per_ms > p[c->most].gas_per_ms))
			c->most = i;
		if (p[i].before == 0)
			continue;
		if (!is_priced ||
		    pctl_calibration_rate(&p[i], 1) < pctl_calibration_rate(&p[c->least_before], 1))
			c->least_before = i;
		if (!is_priced ||
		    pctl_calibration_rate(&p[i], 1) > pctl_calibration_rate(&p[c->most_before], 1))
			c->most_before = i;
		is_priced = 1;
	}
}

pctl_status pctl_calibrate(const pctl_device_executor_options *o, pctl_kernels *kernels,
			   const pctl_calibrating *how, const pctl_call *call,
			   pctl_calibration *out)
{
	const uint32_t n = how->is_suite ? pctl_suite_count() : N_FEW;
	bench *b = calloc(1, sizeof(*b));
	pctl_status status;

	memset(out, 0, sizeof(*out));
	if (b == NULL)
		return pctl_no_memory(call, "a calibration");
	b->how = how;
	b->kernels = kernels;
	b->call = call;
	b->runs = how->runs == 0 ? 1 : how->runs > MOST_RUNS ? MOST_RUNS : how->runs;
	b->number = pctl_clock_ns();
	b->parts = pctl_gas_row_name(how->schedule, PCTL_GAS_PARTS) == NULL
			   ? 1
			   : pctl_gas_row(how->schedule, PCTL_GAS_PARTS);
	(void)pctl_gas_row_set(how->schedule, PCTL_GAS_PARTS, 1);
	b->in = calloc(MOST_GROUPS, MOST_INVOCATIONS * 4u);
	b->out = malloc(MOST_BYTES);
	b->tasks = calloc(MOST_JOBS, sizeof(*b->tasks));
	out->points = calloc(n, sizeof(*out->points));
	status = b->in == NULL || b->out == NULL || b->tasks == NULL || out->points == NULL
			 ? pctl_no_memory(call, "a calibration")
			 : pctl_device_executor_open(o, call, &b->executor);
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++)
		if (!how->is_suite || how->has_floats || !pctl_suite_at(i)->is_float)
			status = measure_at(b, i, &out->points[out->n_points++]);
	if (status == PCTL_OK) {
		find_ends(out);
		snprintf(out->device, sizeof(out->device), "%s",
			 b->executor.describe(b->executor.ctx));
	}
	(void)pctl_gas_row_set(how->schedule, PCTL_GAS_PARTS, b->parts);
	pctl_executor_close(&b->executor);
	free(b->in);
	free(b->out);
	free(b->tasks);
	free(b);
	return status;
}

void pctl_calibration_clear(pctl_calibration *c)
{
	free(c->points);
	c->points = NULL;
	c->n_points = 0;
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
