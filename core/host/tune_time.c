/* What a dispatch takes, and what a copy takes, by the clock that can be believed; see tune.h. */
#include <inttypes.h>
#include <stdlib.h>

#include "foundation/base/order.h"
#include "foundation/diag/diag.h"
#include "host/tune_private.h"
#include "runtime/exec/value.h"

#define BUDGET_NS 2000000000u /* of rounds whose number nobody gave */
#define LEAST_ROUNDS 3u
#define MOST_ROUNDS 15u
#define COPY_ROUNDS 7u

static void sort_out(uint64_t *ns, uint32_t n, pctl_tune_time *out)
{
	qsort(ns, n, sizeof(*ns), pctl_order_u64);
	out->rounds = n;
	out->median_ns = ns[n / 2];
	out->least_ns = ns[0];
	out->most_ns = ns[n - 1];
}

void pctl_tune_judge(const pctl_round_time *rounds, uint32_t n, pctl_tune_time *out)
{
	uint64_t device[PCTL_TUNE_ROUNDS_MAX], host[PCTL_TUNE_ROUNDS_MAX];
	const char *why = NULL;

	*out = (pctl_tune_time){.is_device = 1};
	for (uint32_t i = 1; i < n; i++) {
		const pctl_round_time *t = &rounds[i];

		device[i - 1] = t->end_ns - t->begin_ns;
		host[i - 1] = t->host_ns;
		if (why != NULL)
			continue;
		if (!t->has_device)
			why = "the device has no timestamps";
		else if (t->end_ns < t->begin_ns)
			why = "the device's timestamps cannot be: they go backwards";
		else if (device[i - 1] > t->host_ns)
			why = "the device's timestamps cannot be: they say that it took longer "
			      "than the host waited";
	}
	if (why == NULL)
		sort_out(device, n - 1, out);
	if (why == NULL && out->median_ns == 0)
		why = "the device's timestamps cannot be: they say that it took no time";
	if (why != NULL) {
		*out = (pctl_tune_time){.why = why};
		sort_out(host, n - 1, out);
	}
}

/* 1 + `rounds` rounds of a plan, the first to warm up. */
static pctl_status time_plan(const pctl_tuning *x, pctl_session *s, const pctl_job_plan *plan,
			     pctl_value *const *in, const uint64_t *out_bytes, uint32_t rounds,
			     const pctl_call *call, pctl_tune_time *out)
{
	pctl_round_time *times = calloc(1u + rounds, sizeof(*times));
	pctl_value *values[PCTL_PORTS_MAX] = {NULL};
	const pctl_job_run run = {.plan = plan,
				  .repeat = 1u + rounds,
				  .out_bytes = out_bytes,
				  .timeout_ms = x->o->policy->time_ms,
				  .progress = &x->o->progress,
				  .times = times};
	pctl_status status = times == NULL ? pctl_no_memory(call, "times")
					   : pctl_job_execute(s, &run, in, call, values, NULL);

	if (status == PCTL_OK)
		pctl_tune_judge(times, 1u + rounds, out);
	if (status == PCTL_OK && plan->n_out != 0)
		status = pctl_tune_compare(x, values, "the device when it runs again and again",
					   call);
	for (uint32_t i = 0; i < plan->n_out; i++)
		pctl_value_release(values[i]);
	free(times);
	return status;
}

/* ---- a copy -------------------------------------------------------------------------------- */

#define COPY_LANES 64u
static const char copy_text[] =
	"@group(0) @binding(0) var<storage, read> from_here: array<vec4<u32>>;\n"
	"@group(0) @binding(1) var<storage, read_write> to_there: array<vec4<u32>>;\n"
	"@compute @workgroup_size(64)\n"
	"fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) n: "
	"vec3<u32>) {\n"
	"\tlet i = id.x + id.y * n.x * 64u;\n"
	"\tif (i < arrayLength(&to_there)) { to_there[i] = from_here[i]; }\n"
	"}\n";

/* More than a cache holds, less than is felt. */
static uint64_t copy_bytes(pctl_session *s)
{
	const pctl_device_caps *caps = pctl_session_caps(s);
	const uint32_t kind = pctl_session_kind(s);
	uint64_t n = kind == PCTL_DEVICE_REFERENCE  ? 4u << 20
		     : kind == PCTL_DEVICE_DISCRETE ? 512u << 20
						    : 64u << 20;

	if (caps->max_binding_bytes != 0 && n > caps->max_binding_bytes)
		n = caps->max_binding_bytes;
	if (caps->max_buffer_bytes != 0 && n > caps->max_buffer_bytes)
		n = caps->max_buffer_bytes;
	if (caps->memory_bytes != 0 && n > caps->memory_bytes / 8)
		n = caps->memory_bytes / 8;
	return n / (16u * COPY_LANES) * (16u * COPY_LANES);
}

/* Pages that nobody wrote are no memory: the source is filled before it is copied. */
static pctl_status copy_plan(const pctl_kernel_module *unit, uint64_t n, const pctl_call *call,
			     pctl_job_plan **out)
{
	const uint32_t workgroups = (uint32_t)(n / (16u * COPY_LANES));
	const uint32_t wide = workgroups < 32768u ? workgroups : 32768u;
	const uint32_t groups[3] = {wide, (workgroups + wide - 1) / wide, 1};
	pctl_plan_binding bindings[2] = {{.binding = 0}, {.binding = 1}};
	pctl_status status = pctl_job_plan_create("copy", call, out);

	for (uint32_t i = 0; status == PCTL_OK && i < 2; i++)
		status = pctl_job_plan_buffer(*out, PCTL_PLAN_TEMP, n, NULL, call,
					      &bindings[i].buffer);
	for (uint32_t i = 0; status == PCTL_OK && i < 2; i++)
		status = pctl_job_plan_zero(*out, bindings[i].buffer, call);
	if (status == PCTL_OK)
		status = pctl_job_plan_kernel(*out, unit, bindings, 2, groups, call);
	return status;
}

static pctl_status measure_copy(pctl_tuning *x, pctl_session *s, const pctl_call *call)
{
	const pctl_kernel_source source = {
		.name = "copy", .text = copy_text, .n_text = sizeof(copy_text) - 1};
	const uint64_t n = copy_bytes(s);
	const pctl_kernel_module *unit;
	pctl_job_plan *plan = NULL;
	pctl_status status = pctl_kernels_get(x->in->kernels, &source, call, &unit);

	if (status == PCTL_OK && n == 0)
		status = pctl_refuse(call, PC5204_MEMORY, "there is no room for a copy");
	if (status == PCTL_OK)
		status = copy_plan(unit, n, call, &plan);
	if (status == PCTL_OK)
		status = time_plan(x, s, plan, NULL, NULL, COPY_ROUNDS, call, &x->result->copy);
	if (status == PCTL_OK)
		x->result->copy_bytes = 2 * n;
	if (plan != NULL)
		pctl_job_plan_destroy(plan);
	return status;
}

/* ---- the kernel ---------------------------------------------------------------------------- */

static uint32_t rounds_of(const pctl_tuning *x, const pctl_run_observation *view)
{
	const uint64_t once = view->ran->stats.dispatch_ns;
	uint64_t n;

	if (x->t->rounds != 0)
		return x->t->rounds;
	n = once == 0 ? MOST_ROUNDS : BUDGET_NS / once;
	return (uint32_t)(n < LEAST_ROUNDS ? LEAST_ROUNDS : n > MOST_ROUNDS ? MOST_ROUNDS : n);
}

pctl_status pctl_tune_measure(pctl_tuning *x, const pctl_run_observation *view,
			      const pctl_call *call)
{
	uint64_t out_bytes[PCTL_PORTS_MAX];
	pctl_diag_list *said;
	pctl_status status;

	for (uint32_t i = 0; i < view->n_ports; i++)
		out_bytes[i] = view->ports[i].n_bytes;
	status = time_plan(x, view->session, view->plan, view->in, out_bytes, rounds_of(x, view),
			   call, &x->result->time);
	if (status != PCTL_OK || x->first != NULL)
		return status;
	/* A device without room or right for a copy still has its time: the reason is shown in place of a limit. */
	said = pctl_diag_list_create();
	if (said == NULL)
		return pctl_no_memory(call, "a copy");
	pctl_diag_list_set_cancel(said, call->cancelled, call->ctx);
	status = measure_copy(x, view->session, pctl_diag_list_call(said));
	if (status != PCTL_OK && status != PCTL_E_CANCELLED && status != PCTL_E_NOMEM &&
	    status != PCTL_E_DEVICE_LOST) {
		x->result->copy_why = pctl_arena_dup(x->result->arena,
						     pctl_diag_list_count(said) == 0
							     ? "it was refused"
							     : pctl_diag_list_at(said, 0)->message);
		status = x->result->copy_why == NULL ? PCTL_E_NOMEM : PCTL_OK;
	}
	for (uint32_t i = 0; status != PCTL_OK && i < pctl_diag_list_count(said); i++)
		(void)pctl_emit(call, pctl_diag_list_at(said, i));
	pctl_diag_list_destroy(said);
	return status;
}
