/* Receipts filled in from a run: what its graph asks, what the trace has of each job, what came of it. */
#include <stdio.h>
#include <string.h>

#include "foundation/base/clock.h"
#include "foundation/diag/diag.h"
#include "evidence/receipt/receipt.h"

/* ---- what was asked ----------------------------------------------------------------------- */

static const char *what_of(pctl_receipt *r, const pctl_graph_node *n)
{
	if (n->job->kind == PCTL_JOB_OP)
		return pctl_arena_printf(r->arena, "%s@%u", n->op.desc->name, n->op.desc->version);
	return pctl_arena_dup(r->arena, n->job->shader == NULL ? n->job->id : n->job->shader);
}

static int copy_data(pctl_receipt *r, const pctl_receipt_data *from, uint32_t n,
		     const pctl_receipt_data **out)
{
	pctl_receipt_data *data = pctl_arena_array(r->arena, n + (size_t)1, sizeof(*data));

	*out = data;
	for (uint32_t i = 0; data != NULL && i < n; i++) {
		data[i] = from[i];
		data[i].name = pctl_arena_dup(r->arena, from[i].name);
		data[i].type = pctl_arena_dup(r->arena, from[i].type);
		if (data[i].name == NULL || data[i].type == NULL)
			return 0;
	}
	return data != NULL;
}

static int add_params(pctl_receipt *r, const pctl_graph *g)
{
	pctl_receipt_pair *params =
		pctl_arena_array(r->arena, g->pipeline->n_params + (size_t)1, sizeof(*params));

	r->params = params;
	for (uint32_t i = 0; params != NULL && i < g->pipeline->n_params; i++) {
		params[i].key = pctl_arena_dup(r->arena, g->pipeline->params[i].name);
		params[i].value = pctl_arena_dup(r->arena, g->param_text[i]);
		if (params[i].key == NULL || params[i].value == NULL)
			return 0;
		r->n_params++;
	}
	return params != NULL;
}

static int add_jobs(pctl_receipt *r, const pctl_graph *g)
{
	r->jobs = pctl_arena_array(r->arena, g->n_nodes + (size_t)1, sizeof(*r->jobs));
	for (uint32_t i = 0; r->jobs != NULL && i < g->n_nodes; i++) {
		r->jobs[i].id = pctl_arena_dup(r->arena, g->nodes[i].job->id);
		r->jobs[i].what = what_of(r, &g->nodes[i]);
		r->jobs[i].device = PCTL_RECEIPT_NO_DEVICE;
		r->jobs[i].repeat = g->nodes[i].repeat;
		if (r->jobs[i].id == NULL || r->jobs[i].what == NULL)
			return 0;
		r->n_jobs++;
	}
	return r->jobs != NULL;
}

pctl_status pctl_receipt_ask(pctl_receipt *r, const pctl_graph *g, const pctl_run_options *o,
			     const pctl_receipt_data *texts, uint32_t n_texts,
			     const pctl_call *call)
{
	const char *schedule = pctl_gas_schedule_name(o->schedule);

	r->semantics = PCTL_SEMANTICS_VERSION;
	r->pipeline = pctl_arena_dup(r->arena, g->pipeline->name);
	r->max_class = pctl_class_name(g->pipeline->max_class);
	r->native = (o->flags & PCTL_RUN_NATIVE) != 0;
	r->schedule = pctl_arena_dup(r->arena, schedule);
	r->schedule_id =
		pctl_arena_dup(r->arena, o->schedule_id == NULL ? schedule : o->schedule_id);
	if (r->pipeline == NULL || r->schedule == NULL || r->schedule_id == NULL ||
	    !copy_data(r, texts, n_texts, &r->texts) || !add_params(r, g) || !add_jobs(r, g))
		return pctl_no_memory(call, "a receipt");
	r->n_texts = n_texts;
	return PCTL_OK;
}

/* ---- while it runs ------------------------------------------------------------------------ */

static const pctl_receipt_pair *facts_of(pctl_receipt *r, const pctl_session *s, uint32_t *n_out)
{
	const pctl_key_value *facts;
	const uint32_t n = pctl_session_identity(s, &facts);
	pctl_receipt_pair *pairs = pctl_arena_array(r->arena, n + (size_t)1, sizeof(*pairs));

	for (uint32_t i = 0; pairs != NULL && i < n; i++) {
		pairs[i].key = pctl_arena_dup_n(r->arena, facts[i].key,
						strnlen(facts[i].key, sizeof(facts[i].key)));
		pairs[i].value = pctl_arena_dup_n(r->arena, facts[i].value,
						  strnlen(facts[i].value, sizeof(facts[i].value)));
		if (pairs[i].key == NULL || pairs[i].value == NULL)
			return NULL;
	}
	*n_out = n;
	return pairs;
}

/* The number of a session's device, noted when it is seen first. */
static int device_of(pctl_receipt *r, const pctl_session *s, uint32_t *out)
{
	const pctl_profile_record *profile = pctl_session_profile_known(s);
	pctl_receipt_device *grown, *d;
	char key[PCTL_CID_TEXT_SIZE];

	for (*out = 0; *out < r->n_devices; (*out)++)
		if (strcmp(r->devices[*out].selector, pctl_session_id(s)) == 0)
			return 1;
	grown = pctl_arena_array(r->arena, r->n_devices + (size_t)1, sizeof(*grown));
	if (grown == NULL)
		return 0;
	if (r->n_devices != 0)
		memcpy(grown, r->devices, r->n_devices * sizeof(*grown));
	d = &grown[r->n_devices];
	d->selector = pctl_arena_dup(r->arena, pctl_session_id(s));
	d->name = pctl_arena_dup(r->arena, pctl_session_name(s));
	d->profile = profile == NULL
			     ? ""
			     : pctl_arena_dup(r->arena, pctl_cid_format(&profile->key, key));
	d->plugin = d->version = d->sha256 = "";
	d->facts = facts_of(r, s, &d->n_facts);
	r->devices = grown;
	if (d->selector == NULL || d->name == NULL || d->profile == NULL || d->facts == NULL)
		return 0;
	r->n_devices++;
	return 1;
}

static int note_kernels(pctl_receipt *r, const pctl_job_plan *plan, pctl_receipt_job *job)
{
	pctl_cid *kernels = pctl_arena_array(r->arena, plan->n_steps + (size_t)1, sizeof(*kernels));
	uint32_t n = 0;

	for (uint32_t i = 0; kernels != NULL && i < plan->n_steps; i++) {
		uint32_t k = 0;

		if (plan->steps[i].kind != PCTL_STEP_KERNEL)
			continue;
		while (k < n && pctl_cid_compare(&kernels[k], &plan->steps[i].unit->cid) != 0)
			k++;
		kernels[k] = plan->steps[i].unit->cid;
		n += k == n;
	}
	job->kernels = kernels;
	job->n_kernels = n;
	return kernels != NULL;
}

static pctl_status trace(void *ctx, const pctl_run_observation *view, const pctl_call *call)
{
	pctl_receipt *r = ctx;
	pctl_receipt_job *job = &r->jobs[view->job];

	if (view->level == PCTL_TRACE_JOBS) {
		if (!device_of(r, view->session, &job->device) ||
		    !note_kernels(r, view->canonical, job))
			return pctl_no_memory(call, "a receipt");
		job->gas = view->ran->gas;
		job->repeat = view->ran->repeat;
		job->evidence = view->ran->evidence;
		job->races = view->ran->races;
	}
	return pctl_run_trace_add(&r->trace, view, call);
}

void pctl_receipt_trace(pctl_receipt *r, uint32_t level, pctl_run_options *o)
{
	r->level = level;
	o->trace = trace;
	o->trace_ctx = r;
	o->trace_level = level;
	if (level == PCTL_TRACE_STEPS)
		o->flags |= PCTL_RUN_CANONICAL;
}

/* ---- what came of it ---------------------------------------------------------------------- */

static int add_run_data(pctl_receipt *r, const pctl_run_output *from, uint32_t n,
			const pctl_receipt_data **out)
{
	pctl_receipt_data *data = pctl_arena_array(r->arena, n + (size_t)1, sizeof(*data));

	*out = data;
	for (uint32_t i = 0; data != NULL && i < n; i++) {
		data[i].name = pctl_arena_dup(r->arena, from[i].name);
		data[i].type =
			from[i].type.dtype == 0 ? "" : pctl_type_text(r->arena, &from[i].type);
		data[i].cid = from[i].cid;
		data[i].n_bytes = from[i].n_bytes;
		if (data[i].name == NULL || data[i].type == NULL)
			return 0;
	}
	return data != NULL;
}

static int add_libraries(pctl_receipt *r, const pctl_op_source *ops)
{
	const uint32_t n = ops->count(ops->ctx);
	pctl_receipt_pair *libraries =
		pctl_arena_array(r->arena, n + (size_t)1, sizeof(*libraries));

	r->libraries = libraries;
	for (uint32_t i = 0; libraries != NULL && i < n; i++) {
		pctl_receipt_pair *p = &libraries[r->n_libraries];
		pctl_op_ref op;

		ops->at(ops->ctx, i, &op);
		if (r->n_libraries != 0 && strcmp(p[-1].key, op.plugin) == 0)
			continue;
		p->key = pctl_arena_dup(r->arena, op.plugin);
		p->value = pctl_arena_dup(r->arena, op.digest == NULL ? "" : op.digest);
		if (p->key == NULL || p->value == NULL)
			return 0;
		r->n_libraries++;
	}
	return libraries != NULL;
}

/* The plugin that a selector's first part names. */
static int add_plugins(pctl_receipt *r, const pctl_registry *registry)
{
	pctl_receipt_device *devices =
		pctl_arena_array(r->arena, r->n_devices + (size_t)1, sizeof(*devices));

	if (devices == NULL)
		return 0;
	for (uint32_t i = 0; i < r->n_devices; i++) {
		const char *selector = r->devices[i].selector;
		const pctl_plugin_info *p;

		devices[i] = r->devices[i];
		devices[i].plugin = pctl_arena_dup_n(r->arena, selector, strcspn(selector, ":"));
		p = devices[i].plugin == NULL ? NULL
					      : pctl_registry_find(registry, devices[i].plugin);
		devices[i].version =
			pctl_arena_dup(r->arena, p == NULL || p->version == NULL ? "" : p->version);
		devices[i].sha256 =
			pctl_arena_dup(r->arena, p == NULL || p->sha256 == NULL ? "" : p->sha256);
		if (devices[i].plugin == NULL || devices[i].version == NULL ||
		    devices[i].sha256 == NULL)
			return 0;
	}
	r->devices = devices;
	return 1;
}

/* The file's name without its folder, and a CID of all values in force. */
static pctl_status add_policy(pctl_receipt *r, const pctl_policy *policy, const pctl_call *call)
{
	const char *slash = policy->path == NULL ? NULL : strrchr(policy->path, '/');
	char text[PCTL_CID_TEXT_SIZE];
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	pctl_cid cid;
	pctl_status status;

	r->policy = pctl_arena_dup(r->arena, policy->path == NULL ? "built in"
					     : slash == NULL	  ? policy->path
								  : slash + 1);
	for (uint32_t i = 0; i < pctl_policy_setting_count(policy); i++) {
		const pctl_conf_setting *set = pctl_policy_setting_at(policy, i);

		pctl_str_addf(&s, "%s %zu:%s\n", set->key, strlen(set->value), set->value);
	}
	status = s.failed || r->policy == NULL ? pctl_no_memory(call, "a receipt")
					       : pctl_cid_of(s.data, s.n, call, &cid);
	pctl_str_drop(&s);
	if (status == PCTL_OK) {
		r->policy_id = pctl_arena_dup(r->arena, pctl_cid_format(&cid, text));
		status = r->policy_id == NULL ? pctl_no_memory(call, "a receipt") : PCTL_OK;
	}
	return status;
}

/* Without telemetry a receipt names devices by their selectors alone. */
static void drop_names(pctl_receipt *r)
{
	pctl_receipt_device *devices =
		pctl_arena_array(r->arena, r->n_devices + (size_t)1, sizeof(*devices));

	for (uint32_t i = 0; devices != NULL && i < r->n_devices; i++) {
		devices[i] = r->devices[i];
		devices[i].name = devices[i].selector;
		devices[i].n_facts = 0;
	}
	if (devices == NULL)
		r->n_devices = 0;
	else
		r->devices = devices;
}

pctl_status pctl_receipt_answer(pctl_receipt *r, const pctl_run_options *o,
				const pctl_run_result *result, const pctl_call *call)
{
	char date[PCTL_CLOCK_DATE];

	if (!add_run_data(r, result->inputs, result->n_inputs, &r->inputs) ||
	    !add_run_data(r, result->outputs, result->n_outputs, &r->outputs) ||
	    !add_libraries(r, o->ops) || !add_plugins(r, o->registry))
		return pctl_no_memory(call, "a receipt");
	if (!o->policy->telemetry)
		drop_names(r);
	r->n_inputs = result->n_inputs;
	r->n_outputs = result->n_outputs;
	r->executed = !result->memoised;
	r->evidence = result->evidence;
	for (uint32_t i = 0; result->memoised && i < r->n_jobs; i++)
		r->jobs[i].evidence = result->evidence;
	r->gas = result->gas;
	memcpy(r->memo, result->key, sizeof(r->memo));
	pctl_clock_date(date);
	r->made = pctl_arena_dup(r->arena, date);
	r->version = PIPECTL_VERSION;
	return r->made == NULL ? pctl_no_memory(call, "a receipt") : add_policy(r, o->policy, call);
}
