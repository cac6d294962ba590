/* The worker's side of an op library: asks its table what the host asks, records its plans, and lets its reference work on
 * shared memory. What the library says is passed on as it is; the host judges it. */
#include <stdlib.h>

#include "runtime/ipc/recording.h"
#include "runtime/ipc/serve_objects.h"

/* Its laws, without the mark of those that a slot judges that is not there. 0: no memory. */
static int copy_laws(pctl_ipc_server *s, pctl_op_rules *rules)
{
	pctl_law *laws;

	if ((PCTL_HAS(s->ops, pctl_oplib, law) && s->ops->law) || !rules->laws ||
	    rules->n_laws > PCTL_OPS_ROWS_MAX)
		return 1;
	laws = pctl_arena_array(s->arena, rules->n_laws, sizeof(*laws));
	if (!laws)
		return 0;
	for (uint32_t i = 0; i < rules->n_laws; i++) {
		laws[i] = rules->laws[i];
		if (laws[i].law == PCTL_LAW_CUSTOM)
			laws[i].a = 0;
	}
	rules->laws = laws;
	return 1;
}

static pctl_status describe(pctl_ipc_server *s, uint32_t i, pctl_ipc_described *out)
{
	const pctl_op_desc *d = s->ops->op_at(s->inst, i);
	const pctl_op_problems *problems;
	const pctl_op_rules *rules;

	if (!d || !PCTL_HAS(d, pctl_op_desc, hardware) || d->head.major != PCTL_ABI_MAJOR)
		return pctl_refuse(&s->call, PC3017_PLUGIN_SHORT,
				   "op %u has no or a short description", i);
	memcpy(&out->desc, d, PCTL_SIZE_WITH(pctl_op_desc, hardware));
	if (PCTL_HAS(d, pctl_op_desc, deprecated))
		out->desc.deprecated = d->deprecated;
	rules = s->ops->rules(s->inst, i);
	if (!rules || !PCTL_HAS(rules, pctl_op_rules, n_alternates))
		return pctl_refuse(&s->call, PC3025_PLUGIN_OP_RULES, "op %u has no rules", i);
	memcpy(&out->rules, rules, PCTL_SIZE_WITH(pctl_op_rules, n_alternates));
	if (!copy_laws(s, &out->rules))
		return PCTL_E_NOMEM;
	for (uint32_t k = 0; k < PCTL_OPS_DTYPES; k++)
		out->functions[k] = s->ops->function(s->inst, i, pctl_ops_dtypes[k]);
	problems = PCTL_HAS(s->ops, pctl_oplib, problem) && s->ops->problems && s->ops->problem
			   ? s->ops->problems(s->inst, i)
			   : NULL;
	if (problems && PCTL_HAS(problems, pctl_op_problems, n))
		memcpy(&out->problems, problems, PCTL_SIZE_WITH(pctl_op_problems, n));
	return PCTL_OK;
}

pctl_status pctl_serve_ops(pctl_ipc_server *s, const pctl_ipc_nothing *a,
			   pctl_ipc_described_list *r)
{
	const uint32_t n = s->ops->op_count(s->inst);
	pctl_status status = PCTL_OK;
	pctl_ipc_described *ops;

	(void)a;
	if (n > PCTL_OPS_MAX)
		return pctl_refuse(&s->call, PC3023_PLUGIN_OPS, "%u ops, more than %u", n,
				   PCTL_OPS_MAX);
	ops = pctl_arena_array(s->arena, n, sizeof(*ops));
	if (!ops)
		return PCTL_E_NOMEM;
	for (uint32_t i = 0; i < n && !status; i++)
		status = describe(s, i, &ops[i]);
	r->ops = ops;
	r->n_ops = n;
	return status;
}

pctl_status pctl_serve_infer(pctl_ipc_server *s, const pctl_op_query *a, pctl_ipc_inferred *r)
{
	const pctl_op_desc *d = s->ops->op_at(s->inst, a->op);
	pctl_op_result *result = pctl_arena_alloc(s->arena, sizeof(*result));
	pctl_status status;

	if (!result)
		return PCTL_E_NOMEM;
	result->head = (pctl_head)PCTL_HEAD(pctl_op_result);
	status = s->ops->infer(s->inst, &s->call, a, result);
	r->measure = result->measure;
	r->types = result->out;
	r->is_view = result->is_view != 0;
	r->view_offset = result->view_offset;
	memcpy(r->view_stride, result->view_stride, sizeof(r->view_stride));
	r->n_cut = result->n_cut < PCTL_RANK_MAX ? result->n_cut : PCTL_RANK_MAX;
	for (uint32_t i = 0; i < PCTL_PORTS_MAX; i++)
		r->cut[i] = result->cut[i];
	r->n_types = !d ? 0 : d->n_out < PCTL_PORTS_MAX ? d->n_out : PCTL_PORTS_MAX;
	return status;
}

/* What was recorded, unless it became too large. */
static pctl_status give(pctl_ipc_server *s, pctl_ops_recorder *r, const char *what,
			pctl_status status, pctl_ipc_recording *out)
{
	s->record = r->out;
	if (!status && r->out.failed)
		status = pctl_refuse(&s->call, PC3109_WORKER_LIMIT, "%s larger than %u bytes", what,
				     PCTL_OPS_PLAN_BYTES);
	s->record.failed = 0;
	out->commands = (pctl_ipc_bytes){s->record.data, s->record.n};
	return status;
}

#define RECORD_KEPT (1u << 20) /* bytes that wait for the next one */

/* One that goes on in the memory of the last one. */
static pctl_ops_recorder recorder(pctl_ipc_server *s, uint32_t next)
{
	pctl_ops_recorder r = {.next = next};

	if (s->record.cap > RECORD_KEPT)
		pctl_ipc_out_drop(&s->record);
	r.out = s->record;
	r.out.n = 0;
	return r;
}

pctl_status pctl_serve_plan(pctl_ipc_server *s, const pctl_ipc_plan *a, pctl_ipc_recording *r)
{
	pctl_ops_recorder rec = recorder(s, a->next_buffer);
	pctl_plan_sink sink;

	pctl_ops_record_plan(&rec, &sink);
	return give(s, &rec, "a plan is",
		    s->ops->plan(s->inst, &s->call, &a->query, &a->caps, a->flags, &sink), r);
}

/* Where each span lies in the shared memory. */
static int place(const pctl_ipc_window *w, const pctl_ipc_span *spans, uint32_t n, pctl_span *out)
{
	for (uint32_t i = 0; i < n; i++) {
		if (spans[i].offset > w->n_bytes || spans[i].n_bytes > w->n_bytes - spans[i].offset)
			return 0;
		out[i] = (pctl_span){w->data + spans[i].offset, spans[i].n_bytes};
	}
	return 1;
}

/* The memory that came with the request. */
static int attach(pctl_ipc_server *s, pctl_ipc_window *w)
{
	const int fd = s->fd;

	s->fd = -1;
	return pctl_ipc_window_attach(fd, w);
}

pctl_status pctl_serve_reference(pctl_ipc_server *s, const pctl_ipc_reference *a,
				 pctl_ipc_nothing *r)
{
	pctl_span from[PCTL_PORTS_MAX], to[PCTL_PORTS_MAX];
	pctl_status status;
	pctl_ipc_window w;

	(void)r;
	if (!attach(s, &w))
		return pctl_serve_bad(s);
	if (a->n_inputs == a->query.n_in && place(&w, a->inputs, a->n_inputs, from) &&
	    place(&w, a->outputs, a->n_outputs, to))
		status = s->ops->reference(s->inst, &s->call, &a->query, from, to);
	else
		status = pctl_serve_bad(s);
	pctl_ipc_window_close(&w);
	return status;
}

pctl_status pctl_serve_problem(pctl_ipc_server *s, const pctl_ipc_problem *a, pctl_ipc_recording *r)
{
	pctl_ops_recorder rec = recorder(s, 0);
	pctl_problem_sink sink;

	if (!PCTL_HAS(s->ops, pctl_oplib, problem) || !s->ops->problem)
		return pctl_serve_bad(s);
	pctl_ops_record_problem(&rec, &sink);
	return give(s, &rec, "what a law or problem asks for is",
		    s->ops->problem(s->inst, &s->call, a->op, a->dtype, a->number, a->seed, &sink),
		    r);
}

pctl_status pctl_serve_law(pctl_ipc_server *s, const pctl_ipc_law_case *a, pctl_ipc_recording *r)
{
	pctl_ops_recorder rec = recorder(s, a->n_tensors);
	pctl_law_case c = {.head = PCTL_HEAD(pctl_law_case),
			   .law = a->law,
			   .round = a->round,
			   .n_out = a->n_out,
			   .n_tensors = a->n_tensors,
			   .op = &a->query,
			   .types = a->types};
	pctl_span *tensors = pctl_arena_array(s->arena, a->n_tensors, sizeof(*tensors));
	pctl_law_sink sink;
	pctl_status status;
	pctl_ipc_window w;

	if (!attach(s, &w))
		return pctl_serve_bad(s);
	c.tensors = tensors;
	if (tensors && a->n_types == a->n_tensors && PCTL_HAS(s->ops, pctl_oplib, law) &&
	    s->ops->law && place(&w, a->tensors, a->n_tensors, tensors)) {
		pctl_ops_record_law(&rec, &sink);
		status = give(s, &rec, "what a law or problem asks for is",
			      s->ops->law(s->inst, &s->call, &c, &sink), r);
	} else {
		status = pctl_serve_bad(s);
	}
	pctl_ipc_window_close(&w);
	return status;
}
