/* The worker's side of an op library: asks its table what the host asks, records its plans, and lets its reference work on
 * shared memory. What the library says is passed on as it is; the host judges it. */
#include <stdlib.h>
#include <string.h>

#include "runtime/ipc/ops_wire.h"
#include "runtime/ipc/serve_objects.h"

static pctl_status describe_one(pctl_ipc_server *s, uint32_t i)
{
	const pctl_op_desc *d = s->ops->op_at(s->inst, i);
	const pctl_op_problems *problems;
	const pctl_op_rules *rules;
	pctl_ops_described all;
	uint32_t k;

	memset(&all, 0, sizeof(all));
	if (!d || !PCTL_HAS(d, pctl_op_desc, hardware) || d->head.major != PCTL_ABI_MAJOR)
		return pctl_refuse(&s->call, PC3017_PLUGIN_SHORT,
				   "op %u has no or a short description", i);
	memcpy(&all.desc, d, PCTL_SIZE_WITH(pctl_op_desc, hardware));
	rules = s->ops->rules(s->inst, i);
	if (!rules || !PCTL_HAS(rules, pctl_op_rules, n_alternates))
		return pctl_refuse(&s->call, PC3025_PLUGIN_OP_RULES, "op %u has no rules", i);
	memcpy(&all.rules, rules, PCTL_SIZE_WITH(pctl_op_rules, n_alternates));
	for (k = 0; k < PCTL_OPS_DTYPES; k++)
		all.functions[k] = s->ops->function(s->inst, i, pctl_ops_dtypes[k]);
	all.has_law = PCTL_HAS(s->ops, pctl_oplib, law) && s->ops->law;
	problems = PCTL_HAS(s->ops, pctl_oplib, problem) && s->ops->problems && s->ops->problem
			   ? s->ops->problems(s->inst, i)
			   : NULL;
	if (problems && PCTL_HAS(problems, pctl_op_problems, n))
		memcpy(&all.problems, problems, PCTL_SIZE_WITH(pctl_op_problems, n));
	pctl_ops_put_described(&s->body, &all);
	return PCTL_OK;
}

static pctl_status describe(pctl_ipc_server *s)
{
	const uint32_t n = s->ops->op_count(s->inst);
	pctl_status status = PCTL_OK;
	uint32_t i;

	if (n > PCTL_OPS_MAX)
		return pctl_refuse(&s->call, PC3023_PLUGIN_OPS, "%u ops, more than %u", n,
				   PCTL_OPS_MAX);
	pctl_ipc_put_u32(&s->body, n);
	for (i = 0; i < n && !status; i++)
		status = describe_one(s, i);
	return status;
}

static pctl_status infer(pctl_ipc_server *s, const pctl_ops_query *q)
{
	pctl_op_result result = {.head = PCTL_HEAD(pctl_op_result)};
	const pctl_op_desc *d = s->ops->op_at(s->inst, q->q.op);
	const pctl_status status = s->ops->infer(s->inst, &s->call, &q->q, &result);
	uint32_t i;

	pctl_ops_put_text(&s->body, result.measure);
	for (i = 0; d && i < d->n_out && i < PCTL_PORTS_MAX; i++)
		pctl_ops_put_type(&s->body, &result.out[i]);
	return status;
}

static int plan(pctl_ipc_server *s, pctl_ipc_in *in, const pctl_ops_query *q, pctl_status *status)
{
	pctl_ops_recorder r = {.n_commands = 0};
	pctl_plan_caps caps;
	pctl_plan_sink sink;
	uint32_t flags;

	pctl_ipc_get(in, &caps, sizeof(caps));
	flags = pctl_ipc_get_u32(in);
	r.next_buffer = pctl_ipc_get_u32(in);
	if (!pctl_ipc_in_done(in))
		return 0;
	pctl_ops_record(&r, &sink);
	*status = s->ops->plan(s->inst, &s->call, &q->q, &caps, flags, &sink);
	if (!*status && r.out.failed)
		*status = pctl_refuse(&s->call, PC3109_WORKER_LIMIT,
				      "a plan is larger than %u bytes", PCTL_OPS_PLAN_BYTES);
	pctl_ipc_put_u32(&s->body, r.n_commands);
	if (!*status)
		pctl_ipc_put(&s->body, r.out.data, r.out.n);
	pctl_ipc_out_drop(&r.out);
	return 1;
}

/* Where each span lies in the shared memory: offset and length, inputs first. */
static int get_spans(pctl_ipc_in *in, const pctl_ipc_window *w, pctl_span *spans, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		const uint64_t offset = pctl_ipc_get_u64(in);

		spans[i].n_bytes = pctl_ipc_get_u64(in);
		if (in->failed || offset > w->n_bytes || spans[i].n_bytes > w->n_bytes - offset)
			return 0;
		spans[i].data = w->data + offset;
	}
	return 1;
}

static int reference(pctl_ipc_server *s, pctl_ipc_in *in, const pctl_ops_query *q,
		     pctl_ipc_channel *ch, pctl_status *status)
{
	pctl_span from[PCTL_PORTS_MAX], to[PCTL_PORTS_MAX];
	pctl_ipc_window w;
	uint32_t n_out;
	int ok;

	n_out = pctl_ops_get_count(in, PCTL_PORTS_MAX);
	if (!pctl_ipc_window_attach(pctl_ipc_take_fd(ch), &w))
		return 0;
	ok = get_spans(in, &w, from, q->q.n_in) && get_spans(in, &w, to, n_out) &&
	     pctl_ipc_in_done(in);
	if (ok)
		*status = s->ops->reference(s->inst, &s->call, &q->q, from, to);
	pctl_ipc_window_close(&w);
	return ok;
}

static pctl_status give_record(pctl_ipc_server *s, pctl_ops_recorder *r, pctl_status status)
{
	if (!status && r->out.failed)
		status = pctl_refuse(&s->call, PC3109_WORKER_LIMIT,
				     "what a law or problem asks for is larger than %u bytes",
				     PCTL_OPS_PLAN_BYTES);
	pctl_ipc_put_u32(&s->body, r->n_commands);
	if (!status)
		pctl_ipc_put(&s->body, r->out.data, r->out.n);
	pctl_ipc_out_drop(&r->out);
	return status;
}

static int problem(pctl_ipc_server *s, pctl_ipc_in *in, pctl_status *status)
{
	const uint32_t op = pctl_ipc_get_u32(in), dtype = pctl_ipc_get_u32(in);
	const uint64_t number = pctl_ipc_get_u64(in), seed = pctl_ipc_get_u64(in);
	pctl_ops_recorder r = {.n_commands = 0};
	pctl_problem_sink sink;

	if (!pctl_ipc_in_done(in) || !PCTL_HAS(s->ops, pctl_oplib, problem) || !s->ops->problem)
		return 0;
	pctl_ops_record_problem(&r, &sink);
	*status = give_record(s, &r,
			      s->ops->problem(s->inst, &s->call, op, dtype, number, seed, &sink));
	return 1;
}

static int law(pctl_ipc_server *s, pctl_ipc_in *in, const pctl_ops_query *q, pctl_ipc_channel *ch,
	       pctl_status *status)
{
	pctl_law_case c = {.head = PCTL_HEAD(pctl_law_case), .op = &q->q};
	pctl_ops_recorder r = {.n_commands = 0};
	pctl_tensor_type *types;
	pctl_law_sink sink;
	pctl_span *tensors;
	pctl_ipc_window w;
	int ok;

	c.law = pctl_ipc_get_u32(in);
	c.round = pctl_ipc_get_u32(in);
	c.n_out = pctl_ipc_get_u32(in);
	c.n_tensors = r.next_buffer = pctl_ops_get_count(in, PCTL_OPS_TENSORS_MAX);
	if (!pctl_ipc_window_attach(pctl_ipc_take_fd(ch), &w))
		return 0;
	types = calloc(c.n_tensors + 1u, sizeof(*types));
	tensors = calloc(c.n_tensors + 1u, sizeof(*tensors));
	for (uint32_t i = 0; types && i < c.n_tensors; i++)
		pctl_ops_get_type(in, &types[i]);
	ok = types && tensors && PCTL_HAS(s->ops, pctl_oplib, law) && s->ops->law &&
	     get_spans(in, &w, tensors, c.n_tensors) && pctl_ipc_in_done(in);
	if (ok) {
		c.types = types;
		c.tensors = tensors;
		pctl_ops_record_law(&r, &sink);
		*status = give_record(s, &r, s->ops->law(s->inst, &s->call, &c, &sink));
	}
	free(types);
	free(tensors);
	pctl_ipc_window_close(&w);
	return ok;
}

int pctl_serve_ops(pctl_ipc_server *s, uint16_t op, pctl_ipc_in *in, pctl_ipc_channel *ch,
		   pctl_status *status)
{
	pctl_ops_query *q;
	int ok = 0;

	*status = PCTL_E_INTERNAL;
	if (op == PCTL_IPC_OPS_DESCRIBE) {
		ok = pctl_ipc_in_done(in);
		if (ok)
			*status = describe(s);
		return ok;
	}
	if (op == PCTL_IPC_OPS_PROBLEM)
		return problem(s, in, status);
	q = malloc(sizeof(*q));
	if (!q || !pctl_ops_get_query(in, q))
		goto out;
	switch (op) {
	case PCTL_IPC_OPS_INFER:
		ok = pctl_ipc_in_done(in);
		if (ok)
			*status = infer(s, q);
		break;
	case PCTL_IPC_OPS_PLAN:
		ok = plan(s, in, q, status);
		break;
	case PCTL_IPC_OPS_REFERENCE:
		ok = reference(s, in, q, ch, status);
		break;
	case PCTL_IPC_OPS_LAW:
		ok = law(s, in, q, ch, status);
		break;
	default:
		break;
	}
out:
	free(q);
	return ok;
}
