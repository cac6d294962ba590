/* One kernel alone on two devices, over plain bytes: what `shader run` does with the files of a reproduction, without
 * starting it. Every binding is an input; what the kernel writes is a copy. */
#include <stdlib.h>
#include <string.h>

#include "evidence/audit/audit_private.h"
#include "runtime/exec/value.h"

static pctl_status open_side(struct pctl_comparison_side *s, const pctl_auditing *a)
{
	const pctl_device_entry *e = a->entries[s->device];
	const pctl_run_options *o = &a->o->run;
	uint32_t flags = (o->flags & PCTL_RUN_IN_PROCESS ? PCTL_INSTANCE_IN_PROCESS : 0) |
			 (o->flags & PCTL_RUN_DEBUG ? PCTL_INSTANCE_DEBUG : 0);
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	pctl_session_options options = {.index = e->in_driver,
					.device_kind = e->kind,
					.name = e->selector,
					.id = e->selector,
					.cache_dir = o->cache_dir,
					.profiles = o->profiles};
	pctl_status status = pctl_backend_instance_open(o->registry, e->backend, e->env, flags,
							&quiet, &s->backend);

	if (status != PCTL_OK)
		return status;
	options.backend = s->backend;
	return pctl_session_open(&options, &quiet, &s->session);
}

static void close_side(struct pctl_comparison_side *s)
{
	pctl_session_close(s->session);
	pctl_backend_instance_close(s->backend, NULL);
	s->session = NULL;
	s->backend = NULL;
}

pctl_status pctl_comparison_open(const pctl_auditing *a, uint32_t device, uint32_t right,
				 pctl_comparison *out)
{
	pctl_status status;

	*out = (pctl_comparison){.a = a, .side = {{.device = device}, {.device = right}}};
	out->kernels = pctl_kernels_create(a->o->run.ops);
	status = out->kernels == NULL ? PCTL_E_NOMEM : open_side(&out->side[0], a);
	if (status == PCTL_OK)
		status = open_side(&out->side[1], a);
	if (status != PCTL_OK)
		pctl_comparison_close(out);
	return status;
}

void pctl_comparison_close(pctl_comparison *b)
{
	close_side(&b->side[0]);
	close_side(&b->side[1]);
	pctl_kernels_destroy(b->kernels);
	b->kernels = NULL;
}

/* In whole words. */
static uint64_t bound_bytes(const pctl_comparison_binding *b)
{
	return (b->n_bytes + 3) & ~3ull;
}

/* The kernel for these workgroups and bytes: proofs hold for a dispatch. */
static pctl_status unit_for(pctl_comparison *b, const pctl_comparison_case *c,
			    const pctl_call *call, const pctl_kernel_module **out)
{
	const pctl_kernel_module *u = c->unit;
	pctl_known_binding *bindings = calloc(c->n_bindings + 1u, sizeof(*bindings));
	const pctl_kernel_source source = {
		u->name,   u->text, u->n_text, u->entry, u->overrides,	u->n_overrides, u->flags,
		c->groups, 0,	    u->turns,  bindings, c->n_bindings, u->subgroup};
	pctl_status status;

	for (uint32_t i = 0; bindings != NULL && i < c->n_bindings; i++)
		bindings[i] = (pctl_known_binding){c->bindings[i].group, c->bindings[i].binding,
						   bound_bytes(&c->bindings[i])};
	status = bindings == NULL ? PCTL_E_NOMEM : pctl_kernels_get(b->kernels, &source, call, out);
	free(bindings);
	return status;
}

static pctl_status make_plan(pctl_comparison *b, const pctl_comparison_case *c,
			     const pctl_call *call, pctl_job_plan **out)
{
	pctl_plan_binding *bindings = calloc(c->n_bindings + 1u, sizeof(*bindings));
	const pctl_kernel_module *unit;
	pctl_status status = bindings == NULL ? PCTL_E_NOMEM : unit_for(b, c, call, &unit);

	*out = NULL;
	if (status == PCTL_OK)
		status = pctl_job_plan_create("shader", call, out);
	for (uint32_t i = 0; status == PCTL_OK && i < c->n_bindings; i++) {
		bindings[i].group = c->bindings[i].group;
		bindings[i].binding = c->bindings[i].binding;
		status = pctl_job_plan_buffer(*out, PCTL_PLAN_INPUT, bound_bytes(&c->bindings[i]),
					      NULL, call, &bindings[i].buffer);
	}
	for (uint32_t i = 0; status == PCTL_OK && i < c->n_bindings; i++)
		if (c->bindings[i].is_written)
			status = pctl_job_plan_buffer(*out, PCTL_PLAN_OUTPUT,
						      bound_bytes(&c->bindings[i]), NULL, call,
						      &bindings[i].buffer);
	for (uint32_t i = 0; status == PCTL_OK && i < c->n_bindings; i++)
		if (c->bindings[i].is_written)
			status = pctl_job_plan_copy(*out, i, bindings[i].buffer, call);
	if (status == PCTL_OK)
		status = pctl_job_plan_kernel(*out, unit, bindings, c->n_bindings, c->groups, call);
	if (status != PCTL_OK) {
		pctl_job_plan_destroy(*out);
		*out = NULL;
	}
	free(bindings);
	return status;
}

static pctl_status upload(pctl_session *s, const pctl_comparison_binding *b, const pctl_call *call,
			  pctl_value **out)
{
	const pctl_backend *t = pctl_session_table(s);
	pctl_device *dev = pctl_session_device(s);
	pctl_buffer *buffer;
	pctl_status status = t->buffer_create(
		dev, call, (b->n_bytes + 3) & ~3ull,
		PCTL_BUFFER_STORAGE | PCTL_BUFFER_UNIFORM | PCTL_BUFFER_TRANSFER, &buffer);

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	status = t->buffer_write(dev, call, buffer, 0, b->data, b->n_bytes);
	if (status == PCTL_OK) {
		*out = pctl_value_from_buffer(s, buffer, b->n_bytes);
		status = *out == NULL ? PCTL_E_NOMEM : PCTL_OK;
	}
	if (status != PCTL_OK)
		t->buffer_destroy(dev, buffer);
	return status;
}

/* What the writable bindings hold afterwards, one after another. */
static pctl_status run_side(pctl_comparison *b, struct pctl_comparison_side *s,
			    const pctl_comparison_case *c, const pctl_call *call, uint8_t *to)
{
	pctl_value **in = calloc(c->n_bindings + 1u, sizeof(*in));
	pctl_value **out = calloc(c->n_bindings + 1u, sizeof(*out));
	uint64_t *sizes = calloc(c->n_bindings + 1u, sizeof(*sizes));
	pctl_job_run run = {
		.repeat = 1, .out_bytes = sizes, .timeout_ms = b->a->o->run.policy->time_ms};
	pctl_job_plan *plan = NULL;
	pctl_status status = in == NULL || out == NULL || sizes == NULL
				     ? PCTL_E_NOMEM
				     : make_plan(b, c, call, &plan);
	uint32_t n_out = 0;

	for (uint32_t i = 0; status == PCTL_OK && i < c->n_bindings; i++) {
		if (c->bindings[i].is_written)
			sizes[n_out++] = c->bindings[i].n_bytes;
		status = upload(s->session, &c->bindings[i], call, &in[i]);
	}
	run.plan = plan;
	if (status == PCTL_OK)
		status = pctl_session_qualify(s->session, plan, call);
	if (status == PCTL_OK)
		status = pctl_job_execute(s->session, &run, in, call, out, NULL);
	for (uint32_t i = 0; status == PCTL_OK && i < n_out; i++) {
		status = pctl_value_read(out[i], 0, to, sizes[i], call);
		to += sizes[i];
	}
	for (uint32_t i = 0; in != NULL && out != NULL && i < c->n_bindings; i++) {
		pctl_value_release(in[i]);
		pctl_value_release(out[i]);
	}
	pctl_job_plan_destroy(plan);
	free(in);
	free(out);
	free(sizes);
	return status;
}

int pctl_comparison_differs(pctl_comparison *b, const pctl_comparison_case *c)
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call), .trace_id = c->trace};
	uint64_t n = 0;
	uint8_t *data[2] = {NULL, NULL};
	pctl_status status = PCTL_OK;
	int differs = 0;

	for (uint32_t i = 0; i < c->n_bindings; i++)
		n += c->bindings[i].is_written ? c->bindings[i].n_bytes : 0;
	b->runs++;
	for (uint32_t k = 0; k < 2 && status == PCTL_OK; k++) {
		data[k] = malloc(n + 1u);
		/* One that was lost in the run before is opened again. */
		if (data[k] == NULL)
			status = PCTL_E_NOMEM;
		else if (b->side[k].session == NULL)
			status = open_side(&b->side[k], b->a);
		if (status == PCTL_OK)
			status = run_side(b, &b->side[k], c, &quiet, data[k]);
		if (status == PCTL_E_DEVICE_LOST)
			close_side(&b->side[k]);
	}
	if (status == PCTL_OK)
		differs = memcmp(data[0], data[1], n) != 0;
	free(data[0]);
	free(data[1]);
	return differs;
}
