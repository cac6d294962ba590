/* Where a difference begins: first the round of the job's repeat, then the step of that round, by running both devices
 * again up to a point and comparing. What a search finds holds if the fault comes each time; a fault that did not come
 * again at all is said to be unknown. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/audit/audit_private.h"
#include "foundation/diag/diag.h"

#define TRIES 3u

/* What one run ended with. */
struct probe {
	const pctl_auditing *a;
	uint32_t job, take; /* take: 1 + the step to copy from the plan, 0 none */
	int keep;	    /* the bytes, not their CIDs alone */
	uint32_t n_ports, n_steps, seen;
	pctl_run_port *ports; /* names in the audit's arena */
	pctl_cid *cids;
	pctl_cid shape; /* of the plan */
	pctl_step step;
};

struct hunt {
	pctl_auditing *a;
	const pctl_call *call; /* says nothing, but can be cancelled */
	uint32_t device, right, job, extra;
	uint64_t seed;
	uint8_t *ignored; /* a port that differed before the round began */
	struct probe probe[2];
};

static void probe_clear(struct probe *p)
{
	free(p->ports);
	free(p->cids);
	p->ports = NULL;
	p->cids = NULL;
	p->seen = p->n_ports = 0;
}

/* Two plans are cut alike when they hash alike. */
static pctl_status shape_of(const pctl_job_plan *plan, const pctl_call *call, pctl_cid *out)
{
	pctl_hasher *h;
	pctl_status status = pctl_hasher_create(call, &h);

	if (status != PCTL_OK)
		return status;
	for (uint32_t i = 0; i < plan->n_buffers && status == PCTL_OK; i++) {
		const uint64_t facts[2] = {plan->buffers[i].kind, plan->buffers[i].n_bytes};

		status = pctl_hasher_update(h, facts, sizeof(facts));
	}
	for (uint32_t i = 0; i < plan->n_steps && status == PCTL_OK; i++) {
		const pctl_step *s = &plan->steps[i];
		const uint64_t facts[] = {
			s->kind,       s->groups[0], s->groups[1],    s->groups[2], s->word,
			s->from,       s->to,	     s->from_offset,  s->to_offset, s->n_bytes,
			s->n_bindings, s->counts,    s->counts_offset};

		status = pctl_hasher_update(h, facts, sizeof(facts));
		if (status == PCTL_OK && s->unit != NULL)
			status = pctl_hasher_update(h, s->unit->cid.digest,
						    sizeof(s->unit->cid.digest));
		for (uint32_t k = 0; status == PCTL_OK && k < s->n_bindings; k++) {
			const pctl_plan_binding *b = &s->bindings[k];
			const uint64_t bound[] = {b->group, b->binding, b->buffer, b->offset,
						  b->n_bytes};

			status = pctl_hasher_update(h, bound, sizeof(bound));
		}
	}
	if (status == PCTL_OK)
		return pctl_hasher_finish(h, out);
	pctl_hasher_destroy(h);
	return status;
}

static int is_own(const pctl_run_port *port)
{
	return port->kind == PCTL_PLAN_OUTPUT || port->kind == PCTL_PLAN_TEMP;
}

static pctl_status take_step(struct probe *p, const pctl_job_plan *plan)
{
	pctl_arena *arena = p->a->r->arena;
	pctl_plan_binding *bindings;

	if (p->take == 0 || p->take > plan->n_steps)
		return PCTL_OK;
	p->step = plan->steps[p->take - 1];
	bindings = pctl_arena_array(arena, p->step.n_bindings, sizeof(*bindings));
	if (bindings == NULL)
		return PCTL_E_NOMEM;
	if (p->step.n_bindings != 0)
		memcpy(bindings, p->step.bindings, p->step.n_bindings * sizeof(*bindings));
	p->step.bindings = bindings;
	return PCTL_OK;
}

static pctl_status look(void *ctx, const pctl_run_observation *view, const pctl_call *call)
{
	struct probe *p = ctx;
	pctl_status status = PCTL_OK;

	if (view->job != p->job)
		return PCTL_OK;
	p->ports = calloc(view->n_ports + 1u, sizeof(*p->ports));
	p->cids = calloc(view->n_ports + 1u, sizeof(*p->cids));
	if (p->ports == NULL || p->cids == NULL || take_step(p, view->plan) != PCTL_OK)
		return pctl_no_memory(call, "an audit");
	p->n_ports = view->n_ports;
	p->n_steps = view->plan->n_steps;
	status = shape_of(view->plan, call, &p->shape);
	for (uint32_t i = 0; status == PCTL_OK && i < view->n_ports; i++) {
		p->ports[i] = view->ports[i];
		p->ports[i].name = pctl_arena_dup(p->a->r->arena, view->ports[i].name);
		if (is_own(&p->ports[i]) || p->keep)
			status = pctl_auditing_cid(p->a, view, i, p->keep, call, &p->cids[i]);
	}
	p->seen = status == PCTL_OK;
	return status;
}

static pctl_status run_to(struct hunt *h, uint32_t which, const pctl_run_limit *limit,
			  uint32_t take, int keep)
{
	struct probe *p = &h->probe[which];
	const pctl_audit_ask ask = {.device = which == 0 ? h->device : h->right,
				    .extra = h->extra,
				    .seed = h->seed,
				    .limit = limit,
				    .observe = look,
				    .ctx = p};
	pctl_run_result *result = NULL;
	pctl_status status;

	probe_clear(p);
	p->a = h->a;
	p->job = h->job;
	p->take = take;
	p->keep = keep;
	status = pctl_auditing_run(h->a, &ask, h->call, &result);
	pctl_run_result_destroy(result);
	return status != PCTL_OK ? status : p->seen ? PCTL_OK : PCTL_E_INTERNAL;
}

static int ports_differ(const struct hunt *h)
{
	const struct probe *x = &h->probe[0], *y = &h->probe[1];

	for (uint32_t i = 0; i < x->n_ports && i < y->n_ports; i++)
		if (is_own(&x->ports[i]) && !(h->ignored != NULL && h->ignored[i]) &&
		    pctl_cid_compare(&x->cids[i], &y->cids[i]) != 0)
			return 1;
	return 0;
}

static pctl_status run_both(struct hunt *h, uint64_t rounds, int cut, uint32_t steps, uint32_t take,
			    int keep)
{
	const pctl_run_limit limit = {
		.job = h->job, .cut = (uint32_t)cut, .steps = steps, .rounds = rounds};
	pctl_status status = run_to(h, 0, &limit, take, keep);

	return status == PCTL_OK ? run_to(h, 1, &limit, take, keep) : status;
}

/* Does the device still differ from what won, on runs of the whole job. */
static pctl_status comes_again(struct hunt *h, int *out)
{
	const pctl_auditing *a = h->a;
	uint32_t cell = a->first_cell[h->job];
	const pctl_run_limit limit = {.job = h->job, .rounds = UINT64_MAX};
	pctl_status status = PCTL_OK;

	*out = 0;
	for (uint32_t t = 0; t < TRIES && !*out && status == PCTL_OK; t++) {
		status = run_to(h, 0, &limit, 0, 0);
		for (uint32_t i = 0; status == PCTL_OK && i < h->probe[0].n_ports; i++) {
			const pctl_cid *want =
				&a->r->cells[cell + i].cids[pctl_auditing_slot(a, h->right, 0)];

			*out |= pctl_cid_compare(&h->probe[0].cids[i], want) != 0;
		}
	}
	return status;
}

/* The least n in (low, high] after which the two differ, where they do after `high`. */
static pctl_status search(struct hunt *h, uint64_t low, uint64_t high, uint64_t rounds,
			  uint64_t *out)
{
	pctl_status status = PCTL_OK;

	while (status == PCTL_OK && high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		status = rounds == 0 ? run_both(h, middle, 0, 0, 0, 0)
				     : run_both(h, rounds, 1, (uint32_t)middle, 0, 0);
		if (status == PCTL_OK && ports_differ(h))
			high = middle;
		else
			low = middle;
		/* A device that fails on a part of a round has shown nothing yet. */
		if (rounds != 0 && status != PCTL_E_CANCELLED && status != PCTL_E_NOMEM)
			status = PCTL_OK;
	}
	*out = high;
	return status;
}

/* ---- the step ----------------------------------------------------------------------------- */

static const pctl_plan_binding *binding_of(const pctl_step *s, uint32_t buffer)
{
	for (uint32_t i = 0; s->kind == PCTL_STEP_KERNEL && i < s->n_bindings; i++)
		if (s->bindings[i].buffer == buffer)
			return &s->bindings[i];
	return NULL;
}

/* The first buffer that differs after the step, one that the step binds if there is one. */
static pctl_status name_buffer(struct hunt *h, pctl_audit_divergence *d)
{
	const struct probe *x = &h->probe[0], *y = &h->probe[1];
	const pctl_plan_binding *b;
	pctl_audit_difference diff;
	uint32_t at = UINT32_MAX;
	pctl_blob got, want;
	pctl_status status;

	for (uint32_t i = x->n_ports; i-- > 0;) {
		if (!is_own(&x->ports[i]) || h->ignored[i] ||
		    pctl_cid_compare(&x->cids[i], &y->cids[i]) == 0)
			continue;
		if (at == UINT32_MAX || binding_of(&x->step, i) != NULL ||
		    binding_of(&x->step, at) == NULL)
			at = i;
	}
	if (at == UINT32_MAX)
		return PCTL_E_NOT_FOUND;
	status = pctl_store_get(h->a->scratch, &x->cids[at], h->call, &got);
	if (status != PCTL_OK)
		return status;
	status = pctl_store_get(h->a->scratch, &y->cids[at], h->call, &want);
	if (status == PCTL_OK) {
		pctl_audit_compare(got.data, want.data,
				   got.n_bytes < want.n_bytes ? got.n_bytes : want.n_bytes,
				   x->ports[at].type.dtype, &diff);
		pctl_blob_release(&want);
	}
	pctl_blob_release(&got);
	if (status != PCTL_OK)
		return status;
	b = binding_of(&x->step, at);
	d->buffer = pctl_arena_printf(
		h->a->r->arena, "%s%s%s", x->ports[at].kind == PCTL_PLAN_OUTPUT ? "output " : "",
		x->ports[at].name,
		b == NULL ? ""
			  : pctl_arena_printf(h->a->r->arena, ", binding %" PRIu32 ":%" PRIu32,
					      b->group, b->binding));
	d->buffer_element = diff.element;
	d->buffer_got = diff.got;
	d->buffer_want = diff.want;
	return d->buffer == NULL ? PCTL_E_NOMEM : PCTL_OK;
}

static const pctl_var *var_of(const pctl_program *p, const pctl_plan_binding *b)
{
	for (uint32_t i = 0; i < p->n_vars; i++)
		if ((p->vars[i].space == PCTL_SPACE_STORAGE ||
		     p->vars[i].space == PCTL_SPACE_UNIFORM) &&
		    p->vars[i].group == b->group && p->vars[i].binding == b->binding)
			return &p->vars[i];
	return NULL;
}

/* What one binding of the step held before it, on the device that is believed. */
static pctl_status load_binding(struct hunt *h, const pctl_plan_binding *b,
				pctl_comparison_binding *out)
{
	const struct probe *right = &h->probe[1];
	const pctl_program *p = right->step.unit->program;
	const pctl_var *v = var_of(p, b);
	pctl_status status;
	pctl_blob blob;

	if (v == NULL || b->buffer >= right->n_ports)
		return PCTL_E_INTERNAL;
	*out = (pctl_comparison_binding){.group = b->group,
					 .binding = b->binding,
					 .n_bytes = b->n_bytes,
					 .is_written = v->space == PCTL_SPACE_STORAGE &&
						       (v->access & PCTL_ACCESS_WRITE) != 0,
					 .is_fixed =
						 v->space == PCTL_SPACE_UNIFORM ||
						 p->types[v->type].kind != PCTL_TYPE_RUNTIME_ARRAY};
	out->least = out->is_fixed ? out->n_bytes : p->types[v->type].stride;
	out->data = calloc(out->n_bytes + 1u, 1);
	if (out->data == NULL)
		return PCTL_E_NOMEM;
	status = pctl_store_get(h->a->scratch, &right->cids[b->buffer], h->call, &blob);
	if (status != PCTL_OK)
		return status;
	if (b->offset < blob.n_bytes)
		memcpy(out->data, blob.data + b->offset,
		       blob.n_bytes - b->offset < b->n_bytes ? blob.n_bytes - b->offset
							     : b->n_bytes);
	pctl_blob_release(&blob);
	return PCTL_OK;
}

/* The step alone, from the state before it. sure 0: nothing is written unless it differs alone. */
static pctl_status reproduce(struct hunt *h, pctl_audit_divergence *d, uint64_t rounds, int sure)
{
	const pctl_run_limit before = {
		.job = h->job, .cut = 1, .steps = d->step - 1, .rounds = rounds};
	pctl_status status = run_to(h, 1, &before, d->step, 1);
	const pctl_step *s = &h->probe[1].step;
	pctl_comparison_case c = {.unit = s->unit};

	if (status != PCTL_OK || s->kind != PCTL_STEP_KERNEL || h->a->o->repro == NULL)
		return status;
	memcpy(c.groups, s->groups, sizeof(c.groups));
	c.trace = pctl_trace(d->job, d->round, d->step);
	c.bindings = calloc(s->n_bindings + 1u, sizeof(*c.bindings));
	if (c.bindings == NULL)
		return PCTL_E_NOMEM;
	/* The turn flag is the host's: whoever does the step again has one of his own. */
	for (uint32_t i = 0; status == PCTL_OK && i < s->n_bindings; i++)
		if (s->bindings[i].group != PCTL_TURNS_GROUP)
			status = load_binding(h, &s->bindings[i], &c.bindings[c.n_bindings++]);
	if (status == PCTL_OK)
		status = pctl_auditing_reproduce(h->a, d, h->right, &c, sure);
	for (uint32_t i = 0; i < c.n_bindings; i++)
		free(c.bindings[i].data);
	free(c.bindings);
	return status;
}

/* Name what differs after step number `step`. PCTL_E_NOT_FOUND: nothing. */
static pctl_status settle(struct hunt *h, pctl_audit_divergence *d, uint64_t rounds, uint32_t step)
{
	const pctl_step *s = &h->probe[0].step;
	pctl_status status = run_both(h, rounds, 1, step, step, 1);

	if (status == PCTL_OK)
		status = name_buffer(h, d);
	if (status != PCTL_OK)
		return status;
	d->known = 1;
	d->round = (uint32_t)(rounds - 1);
	d->step = step;
	d->kernel = pctl_arena_dup(h->a->r->arena, s->kind == PCTL_STEP_KERNEL ? s->unit->name
						   : s->kind == PCTL_STEP_FILL ? "fill"
									       : "copy");
	return d->kernel == NULL ? PCTL_E_NOMEM : PCTL_OK;
}

/* A fault that strikes the end of whatever runs strikes a fill or copy, too, when the round is cut behind it. Where the
 * next kernel that differs does so alone as well, it is the one to show. */
static pctl_status blame_kernel(struct hunt *h, pctl_audit_divergence *d, uint64_t rounds,
				uint32_t n_steps)
{
	pctl_status status = PCTL_OK;

	for (uint32_t k = d->step + 1; status == PCTL_OK && k <= n_steps; k++) {
		pctl_audit_divergence other = *d;

		status = settle(h, &other, rounds, k);
		if (status == PCTL_OK && h->probe[0].step.kind == PCTL_STEP_KERNEL) {
			status = reproduce(h, &other, rounds, 0);
			if (status == PCTL_OK && other.reproduced != 0)
				*d = other;
			return status;
		}
		if (status == PCTL_E_NOT_FOUND)
			status = PCTL_OK;
	}
	return status;
}

/* Ports that differ before the round's first step are not of its making: temporaries hold what earlier rounds left. */
static pctl_status find_step(struct hunt *h, pctl_audit_divergence *d, uint64_t rounds)
{
	pctl_status status = run_both(h, rounds, 1, 0, 0, 0);
	uint32_t n_steps = h->probe[0].n_steps;
	uint64_t first;

	if (status == PCTL_OK && pctl_cid_compare(&h->probe[0].shape, &h->probe[1].shape) != 0) {
		h->extra |= PCTL_RUN_CANONICAL;
		status = run_both(h, rounds, 1, 0, 0, 0);
		n_steps = h->probe[0].n_steps;
	}
	if (status != PCTL_OK)
		return status;
	h->ignored = calloc(h->probe[0].n_ports + 1u, 1);
	if (h->ignored == NULL)
		return PCTL_E_NOMEM;
	for (uint32_t i = 0; i < h->probe[0].n_ports; i++)
		h->ignored[i] = pctl_cid_compare(&h->probe[0].cids[i], &h->probe[1].cids[i]) != 0;
	status = run_both(h, rounds, 1, n_steps, 0, 0);
	if (status == PCTL_OK && !ports_differ(h))
		return PCTL_E_NOT_FOUND;
	if (status == PCTL_OK)
		status = search(h, 0, n_steps, rounds, &first);
	if (status == PCTL_OK)
		status = settle(h, d, rounds, (uint32_t)first);
	if (status != PCTL_OK)
		return status;
	return h->probe[0].step.kind == PCTL_STEP_KERNEL ? reproduce(h, d, rounds, 1)
							 : blame_kernel(h, d, rounds, n_steps);
}

static pctl_status hunt(struct hunt *h, pctl_audit_divergence *d)
{
	uint64_t repeat = h->a->graph->nodes[h->job].repeat, rounds = 1;
	pctl_status status;
	int again;

	status = comes_again(h, &again);
	if (status != PCTL_OK || !again)
		return status;
	if (repeat > 1)
		status = search(h, 0, repeat, 0, &rounds);
	return status == PCTL_OK ? find_step(h, d, rounds) : status;
}

pctl_status pctl_auditing_bisect(pctl_auditing *a, pctl_audit_divergence *d, uint32_t job,
				 uint32_t right)
{
	pctl_diag_list *quiet = pctl_diag_list_create();
	struct hunt h = {.a = a,
			 .device = d->device,
			 .right = right,
			 .job = job,
			 .seed = pctl_auditing_seed(d->device, d->repeat)};
	pctl_status status;

	if (quiet == NULL)
		return pctl_no_memory(a->call, "an audit");
	pctl_diag_list_set_cancel(quiet, a->call->cancelled, a->call->ctx);
	h.call = pctl_diag_list_call(quiet);
	status = hunt(&h, d);
	probe_clear(&h.probe[0]);
	probe_clear(&h.probe[1]);
	free(h.ignored);
	/* Whatever else went wrong in a search only leaves the place unknown: the verdict stands without it. */
	if (status == PCTL_E_CANCELLED || pctl_is_cancelled(a->call))
		status = pctl_refuse(a->call, PC4_CANCELLED, "while a difference was looked for");
	else if (status == PCTL_E_NOMEM)
		status = pctl_no_memory(a->call, "an audit");
	else
		status = PCTL_OK;
	pctl_diag_list_destroy(quiet);
	return status;
}
