/* Runs that are looked at for tune.h: on the reference for counts, on the device for times. */
#include "host/tune_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/exec/value.h"

void pctl_tune_result_destroy(pctl_tune_result *r)
{
	if (r != NULL)
		pctl_arena_destroy(r->arena);
}

const pctl_step *pctl_tune_step(const pctl_job_plan *plan)
{
	for (uint32_t i = 0; i < plan->n_steps; i++)
		if (plan->steps[i].kind == PCTL_STEP_KERNEL)
			return &plan->steps[i];
	return NULL;
}

pctl_status pctl_tune_compare(const pctl_tuning *x, pctl_value *const *values, const char *who,
			      const pctl_call *call)
{
	for (uint32_t i = 0; x->compares && i < x->n_right; i++) {
		const uint8_t *data;
		pctl_cid cid;
		pctl_status status = pctl_value_hold(values[i], call, &data);

		if (status == PCTL_OK)
			status = pctl_cid_of(data, pctl_value_bytes(values[i]), call, &cid);
		if (status != PCTL_OK)
			return status;
		if (memcmp(&cid, &x->right[i], sizeof(cid)) != 0)
			return pctl_refuse(call, PC5208_MISMATCH,
					   "output %" PRIu32 " of the kernel has other bytes on %s",
					   i, who);
	}
	return PCTL_OK;
}

/* ---- what a run shows ---------------------------------------------------------------------- */

/* Why two ways to run a kernel may differ, as far as the analysis knows. */
static pctl_status refuse_sweep(const pctl_tuning *x, const pctl_run_observation *view,
				uint32_t port, const pctl_call *call)
{
	const pctl_kernel_module *u = pctl_tune_step(view->plan)->unit;
	char text[PCTL_KERNEL_RACE_SIZE];
	pctl_pos at[2] = {{u->name, 0, 0, 0, 0}};
	const char *why =
		"it is free of races and of orders, so its result hangs on what is swept: "
		"on the size of workgroups, on their number, or on an override";

	if (u->analysis->order_dependent) {
		at[0] = pctl_kernel_order_position(u);
		why = "its result depends on the order of atomic operations";
	} else if (u->analysis->race != PCTL_PROOF_PROVEN) {
		pctl_kernel_race(u, at, text);
		why = "it is not proven free of races: look with `shader run --sanitize`";
	}
	return pctl_refuse_at(
		call, PC5227_SWEEP, &at[0],
		"where the dispatch counts workgroups, give --invocations in its place",
		"%s has other bytes with %s than with %s: %s", view->ports[port].name, x->name,
		x->first, why);
}

static pctl_status refuse_device(const pctl_run_observation *view, uint32_t port,
				 const pctl_call *call)
{
	return pctl_refuse(call, PC5208_MISMATCH, "%s has other bytes on %s than on the reference",
			   view->ports[port].name, pctl_session_name(view->session));
}

/* Outputs as ports give them, compared with those of the run before, or noted for the next. */
static pctl_status look_at_outputs(pctl_tuning *x, const pctl_run_observation *view,
				   const pctl_call *call)
{
	const int first = x->right == NULL;

	x->compares = view->plan->determinism != PCTL_CLASS_APPROXIMATE &&
		      !(x->o->flags & PCTL_RUN_NATIVE);
	if (first) {
		x->right = pctl_arena_array(x->arena, view->n_ports + 1u, sizeof(*x->right));
		x->n_right = view->n_ports;
	}
	if (x->right == NULL)
		return pctl_no_memory(call, "counts");
	for (uint32_t i = 0; i < view->n_ports; i++) {
		uint8_t *data = malloc(view->ports[i].n_bytes + 1);
		pctl_status status =
			data == NULL ? pctl_no_memory(call, "an output")
				     : pctl_run_observation_read(view, i, 0, data,
								 view->ports[i].n_bytes, call);
		pctl_cid cid;

		if (status == PCTL_OK)
			status = pctl_cid_of(data, view->ports[i].n_bytes, call, &cid);
		free(data);
		if (status != PCTL_OK)
			return status;
		if (first || !x->compares)
			x->right[i] = cid;
		else if (memcmp(&cid, &x->right[i], sizeof(cid)) != 0)
			return x->first != NULL ? refuse_sweep(x, view, i, call)
						: refuse_device(view, i, call);
	}
	return PCTL_OK;
}

static pctl_status describe(pctl_tuning *x, const pctl_run_observation *view, const pctl_call *call)
{
	const pctl_step *step = pctl_tune_step(view->plan);
	const pctl_program *p = step->unit->program;
	pctl_tune_result *r = x->result;

	r->entry = pctl_arena_dup(r->arena, pctl_str(p, p->entries[0].name));
	r->device = pctl_arena_dup(r->arena, pctl_session_name(view->session));
	r->compared = (uint32_t)x->compares;
	r->invocations = step->unit->analysis->invocations;
	for (uint32_t i = 0; i < 3; i++) {
		r->groups[i] = step->groups[i];
		r->workgroup[i] = p->entries[0].workgroup_size[i];
		r->invocations *= step->groups[i];
	}
	return r->entry == NULL || r->device == NULL ? pctl_no_memory(call, "a result") : PCTL_OK;
}

static pctl_status observe(void *ctx, const pctl_run_observation *view, const pctl_call *call)
{
	pctl_tuning *x = ctx;
	pctl_status status = look_at_outputs(x, view, call);

	if (status == PCTL_OK && x->times)
		status = describe(x, view, call);
	if (status == PCTL_OK && x->counts)
		status = pctl_tune_count(x, view, call);
	if (status == PCTL_OK && x->times)
		status = pctl_tune_remarks(x, view, call);
	if (status == PCTL_OK && x->times)
		status = pctl_tune_measure(x, view, call);
	return status;
}

/* ---- runs ---------------------------------------------------------------------------------- */

static pctl_status run(pctl_tuning *x, const pctl_graph *g, int on_reference, const pctl_call *call)
{
	static const char *const reference[] = {PCTL_REFERENCE};
	pctl_run_options o = *x->o;
	pctl_run_result *result = NULL;
	pctl_status status;

	if (on_reference) {
		o.backends = reference;
		o.n_backends = 1;
	}
	o.flags |= PCTL_RUN_FRESH;
	o.observe = observe;
	o.observe_ctx = x;
	status = pctl_run(g, &o, call, &result);
	pctl_run_result_destroy(result);
	return status;
}

static pctl_status result_create(pctl_tuning *x, const pctl_call *call)
{
	pctl_arena *arena = pctl_arena_create();

	x->result = arena == NULL ? NULL : pctl_arena_alloc(arena, sizeof(*x->result));
	if (x->result == NULL) {
		pctl_arena_destroy(arena);
		return pctl_no_memory(call, "a result");
	}
	*x->result = (pctl_tune_result){.arena = arena};
	return PCTL_OK;
}

pctl_status pctl_tune_kernel(pctl_installation *in, const pctl_graph *g, const pctl_run_options *o,
			     const pctl_tune_options *t, const pctl_call *call,
			     pctl_tune_result **out)
{
	pctl_tuning x = {.in = in, .o = o, .t = t};
	pctl_status status = result_create(&x, call);

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	x.arena = x.result->arena;
	if (t->counts == PCTL_TUNE_BY_REFERENCE) {
		x.counts = 1;
		status = run(&x, g, 1, call);
	}
	x.counts = t->counts == PCTL_TUNE_BY_DEVICE;
	x.times = 1;
	if (status == PCTL_OK)
		status = run(&x, g, 0, call);
	if (status == PCTL_OK)
		*out = x.result;
	else
		pctl_tune_result_destroy(x.result);
	return status;
}

pctl_status pctl_tune_sweep(pctl_installation *in, const pctl_graph *const *graphs,
			    const char *const *names, uint32_t n, const pctl_run_options *o,
			    const pctl_tune_options *t, const pctl_call *call,
			    pctl_tune_result **results)
{
	pctl_tuning x = {.in = in, .o = o, .t = t, .times = 1, .arena = pctl_arena_create()};
	pctl_status status = x.arena == NULL ? pctl_no_memory(call, "a sweep") : PCTL_OK;

	for (uint32_t i = 0; i < n; i++)
		results[i] = NULL;
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		x.name = names[i];
		x.first = names[0];
		status = result_create(&x, call);
		if (status != PCTL_OK)
			break;
		results[i] = x.result;
		status = run(&x, graphs[i], 0, call);
	}
	pctl_arena_destroy(x.arena);
	return status;
}
