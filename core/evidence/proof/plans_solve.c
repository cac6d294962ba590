/* Answers to problems of plan ops: by the op's plan on a session, and by its own reference() on the host. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/diag/diag.h"
#include "runtime/exec/value.h"
#include "runtime/graph/broadcast.h"
#include "runtime/graph/lookup.h"
#include "runtime/graph/type.h"
#include "evidence/proof/plans.h"

#define TIMEOUT_MS 300000u
#define MEASURES 4u

/* A value of the host's own bytes, taken to the device as that of any run. */
static pctl_status upload(const pctl_problem *p, uint32_t port, const pctl_call *call,
			  pctl_value **out)
{
	*out = pctl_value_from_bytes(p->data[port], p->bytes[port]);
	return *out != NULL ? PCTL_OK : pctl_no_memory(call, "a value");
}

static pctl_status room(pctl_answer *a, const pctl_op_desc *d, const pctl_op_result *r,
			const pctl_call *call)
{
	a->n_out = d->n_out;
	for (uint32_t i = 0; i < d->n_out; i++) {
		a->out[i] = r->out[i];
		if (!pctl_type_bytes(&r->out[i], &a->bytes[i]))
			return pctl_refuse(call, PC4133_SIZE,
					   "%s: an output does not fit in 64 bits", d->name);
	}
	return PCTL_OK;
}

/* Sizes that depend on data, one by one, until infer has all it needs. */
static pctl_status measure(const pctl_session_solver *s, const pctl_problem *p,
			   pctl_value *const *in, const pctl_call *call, pctl_attr *measured,
			   uint32_t *n, pctl_op_result *result)
{
	const pctl_planner planner = {s->ops, s->kernels, pctl_session_plan_caps(s->session), 0};
	pctl_attr attr[PCTL_ATTRS_MAX];

	for (*n = 0; *n <= MEASURES; (*n)++) {
		const pctl_op_query q = pctl_problem_query(p, attr, measured, *n);
		pctl_job_plan *plan = NULL;
		pctl_status status;

		status = pctl_op_infer(&p->op, &q, p->op.desc->name, NULL, call, result);
		if (status != PCTL_OK || result->measure == NULL)
			return status;
		if (*n == MEASURES)
			break;
		measured[*n] = (pctl_attr){result->measure, "", 0};
		status = pctl_job_plan_op(&planner, p->op.desc->name, &p->op, &q, NULL,
					  PCTL_PLAN_MEASURE, call, &plan);
		if (status == PCTL_OK)
			status = pctl_session_qualify(s->session, plan, call);
		if (status == PCTL_OK)
			status = pctl_job_measure(s->session, plan, in, TIMEOUT_MS, NULL, call,
						  &measured[*n].u64);
		pctl_job_plan_destroy(plan);
		if (status != PCTL_OK)
			return status;
	}
	return pctl_refuse(call, PC4132_PLAN, "op \"%s\" measures more than %u sizes",
			   p->op.desc->name, MEASURES);
}

/* A binding of the device that solves in parts: a third of the largest port. 0: nothing is cut. */
static uint64_t part_bytes(const pctl_problem *p, const pctl_op_result *result, uint32_t n_out)
{
	uint64_t most = 0, n;

	for (uint32_t i = 0; i < p->n_in + n_out; i++)
		if (pctl_type_buffer_bytes(i < p->n_in ? &p->in[i] : &result->out[i - p->n_in],
					   &n) &&
		    n > most)
			most = n;
	most = most / 3 / 4 * 4;
	return result->n_cut == 0 ? 0 : most;
}

/* What plans may use of the device's own; that may probe it. */
static pctl_status learn(const pctl_session_solver *s, const pctl_problem *p, const pctl_call *call)
{
	pctl_status status = p->op.desc->op_class < PCTL_CLASS_STRICT
				     ? PCTL_OK
				     : pctl_session_learn_doubles(s->session, call);
	uint32_t bytes = 0;

	for (uint32_t i = 0; i < p->n_in; i++)
		bytes |= p->in[i].dtype == PCTL_SCALAR_I8 || p->in[i].dtype == PCTL_SCALAR_U8;
	return status == PCTL_OK && bytes ? pctl_session_learn_bytes(s->session, call) : status;
}

static pctl_status run(const pctl_session_solver *s, const pctl_problem *p, const pctl_call *call,
		       pctl_answer *a)
{
	pctl_status status = learn(s, p, call);
	pctl_planner planner = {s->ops, s->kernels, pctl_session_plan_caps(s->session), 0};
	pctl_value *in[PCTL_PORTS_MAX] = {NULL}, *out[PCTL_PORTS_MAX] = {NULL};
	pctl_job_run job = {.repeat = 1, .timeout_ms = TIMEOUT_MS, .out_bytes = a->bytes};
	pctl_attr attr[PCTL_ATTRS_MAX], measured[MEASURES];
	pctl_job_plan *plan = NULL;
	pctl_op_result result;
	pctl_op_query q;
	pctl_shape shape;
	pctl_call quiet = *call;
	uint32_t n;

	quiet.diag = NULL;
	for (uint32_t i = 0; i < p->n_in && status == PCTL_OK; i++)
		status = upload(p, i, call, &in[i]);
	if (status == PCTL_OK)
		status = measure(s, p, in, call, measured, &n, &result);
	if (status == PCTL_OK && s->in_parts) {
		planner.caps.max_binding_bytes = part_bytes(p, &result, p->op.desc->n_out);
		if (planner.caps.max_binding_bytes == 0)
			goto out;
	}
	if (status == PCTL_OK)
		status = room(a, p->op.desc, &result, call);
	if (status == PCTL_OK) {
		q = pctl_problem_query(p, attr, measured, n);
		status = pctl_job_plan_op(&planner, p->op.desc->name, &p->op, &q, result.out,
					  PCTL_PLAN_RUN, s->in_parts ? &quiet : call, &plan);
	}
	/* That nothing fits in so little is an answer of the library's, too. */
	if (s->in_parts && status != PCTL_OK && status != PCTL_E_NOMEM &&
	    status != PCTL_E_CANCELLED) {
		a->n_out = 0;
		status = PCTL_OK;
		goto out;
	}
	if (status == PCTL_OK && s->in_parts &&
	    !pctl_job_plan_fits(plan, 0, planner.caps.max_binding_bytes)) {
		a->n_out = 0;
		goto out;
	}
	if (status == PCTL_OK)
		status = pctl_session_qualify(s->session, plan, call);
	if (status == PCTL_OK) {
		job.plan = plan;
		shape = pctl_shape_next(&s->context->shapes, pctl_session_caps(s->session));
		job.shape = &shape;
		job.held = shape.before != 0;
		status = pctl_job_execute(s->session, &job, in, call, out, s->stats);
	}
	for (uint32_t i = 0; i < a->n_out && status == PCTL_OK; i++)
		status = pctl_value_fetch(out[i], call, &a->data[i]);
out:
	for (uint32_t i = 0; i < PCTL_PORTS_MAX; i++) {
		pctl_value_release(in[i]);
		pctl_value_release(out[i]);
	}
	pctl_job_plan_destroy(plan);
	return status;
}

/* What a solver says of a problem is only passed on when it is an internal failure: that an op found its data invalid is an
 * answer. */
static pctl_status settle(pctl_status status, uint32_t refusal, pctl_diag_list *said,
			  const pctl_call *call, pctl_answer *a)
{
	int refused = 0;

	for (uint32_t i = 0; status != PCTL_OK && i < pctl_diag_list_count(said); i++) {
		const pctl_diag *d = pctl_diag_list_at(said, i);

		refused |= d->code == refusal;
		if (d->code == PC5223_NOT_HELD || d->code == PC5224_GUARD) {
			pctl_answer_clear(a);
			snprintf(a->touched, sizeof(a->touched), "%s", d->message);
			return PCTL_OK;
		}
	}
	if (status != PCTL_OK && refused) {
		pctl_answer_clear(a);
		a->refused = 1;
		return PCTL_OK;
	}
	for (uint32_t i = 0; i < pctl_diag_list_count(said); i++)
		(void)pctl_emit(call, pctl_diag_list_at(said, i));
	return status;
}

static pctl_status quietly(void *ctx, const pctl_problem *p, const pctl_call *call,
			   pctl_answer *out, uint32_t refusal,
			   pctl_status (*solve)(const pctl_session_solver *s, const pctl_problem *p,
						const pctl_call *call, pctl_answer *a))
{
	pctl_diag_list *said = pctl_diag_list_create();
	pctl_status status;

	memset(out, 0, sizeof(*out));
	if (said == NULL)
		return pctl_no_memory(call, "a problem of a plan op");
	if (call != NULL)
		pctl_diag_list_set_cancel(said, call->cancelled, call->ctx);
	status = settle(solve(ctx, p, pctl_diag_list_call(said), out), refusal, said, call, out);
	pctl_diag_list_destroy(said);
	if (status != PCTL_OK)
		pctl_answer_clear(out);
	return status;
}

static pctl_status solve_on_session(void *ctx, const pctl_problem *p, const pctl_call *call,
				    pctl_answer *out)
{
	return quietly(ctx, p, call, out, PC5205_JOB_FAILED, run);
}

/* By what the problem knows, else by measuring. */
static pctl_status reference_types(const pctl_session_solver *s, const pctl_problem *p,
				   const pctl_call *call, pctl_attr *measured, uint32_t *n,
				   pctl_op_result *result)
{
	pctl_value *in[PCTL_PORTS_MAX] = {NULL};
	pctl_attr attr[PCTL_ATTRS_MAX];
	pctl_status status = PCTL_OK;

	for (*n = 0; *n < 2; (*n)++) {
		const pctl_op_query q = pctl_problem_query(p, attr, measured, *n);

		status = pctl_op_infer(&p->op, &q, p->op.desc->name, NULL, call, result);
		if (status != PCTL_OK || result->measure == NULL)
			return status;
		if (p->size == UINT64_MAX)
			break;
		measured[*n] = (pctl_attr){result->measure, "", p->size};
	}
	for (uint32_t i = 0; i < p->n_in && status == PCTL_OK; i++)
		status = upload(p, i, call, &in[i]);
	if (status == PCTL_OK)
		status = measure(s, p, in, call, measured, n, result);
	for (uint32_t i = 0; i < PCTL_PORTS_MAX; i++)
		pctl_value_release(in[i]);
	return status;
}

static pctl_status ask_reference(const pctl_session_solver *s, const pctl_problem *p,
				 const pctl_call *call, pctl_answer *a)
{
	pctl_span in[PCTL_PORTS_MAX] = {{NULL, 0}}, out[PCTL_PORTS_MAX] = {{NULL, 0}};
	pctl_attr attr[PCTL_ATTRS_MAX], measured[MEASURES];
	pctl_op_result result;
	pctl_op_query q;
	uint32_t n;
	pctl_status status = reference_types(s, p, call, measured, &n, &result);

	if (status == PCTL_OK)
		status = room(a, p->op.desc, &result, call);
	for (uint32_t i = 0; i < a->n_out && status == PCTL_OK; i++) {
		a->data[i] = calloc(1, pctl_num_align(a->bytes[i], 16) + 16);
		if (a->data[i] == NULL)
			status = pctl_no_memory(call, "an answer");
		out[i] = (pctl_span){a->data[i], a->bytes[i]};
	}
	for (uint32_t i = 0; i < p->n_in; i++)
		in[i] = (pctl_span){p->data[i], p->bytes[i]};
	if (status != PCTL_OK)
		return status;
	q = pctl_problem_query(p, attr, measured, n);
	status = pctl_lookup_check(&p->op, &q, in, call);
	return status != PCTL_OK ? status : p->op.lib->reference(p->op.inst, call, &q, in, out);
}

static pctl_status solve_by_reference(void *ctx, const pctl_problem *p, const pctl_call *call,
				      pctl_answer *out)
{
	return quietly(ctx, p, call, out, PC4205_OP_VALUE, ask_reference);
}

void pctl_solver_session(pctl_session_solver *s, pctl_proof_context *b, pctl_session *session)
{
	*s = (pctl_session_solver){
		{s, solve_on_session}, b, b->ops, b->kernels, session, NULL, 0, 0};
}

void pctl_solver_parts(pctl_session_solver *s, pctl_proof_context *b, pctl_session *session)
{
	pctl_solver_session(s, b, session);
	s->in_parts = 1;
}

void pctl_solver_reference(pctl_session_solver *s, pctl_proof_context *b)
{
	*s = (pctl_session_solver){{s, solve_by_reference},
				   b,
				   b->ops,
				   b->kernels,
				   b->reference != NULL ? b->reference : b->device,
				   NULL,
				   0,
				   0};
}
