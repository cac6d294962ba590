/* What an observer of a run is shown: a job's outputs after it ran, or every buffer of a plan whose last round was cut
 * short; and what a trace is: what each step, round and job wrote. */
#include <inttypes.h>
#include <stdlib.h>

#include "runtime/exec/run_private.h"
#include "runtime/graph/jobplan_step.h"

/* Where the bytes of a view lie. */
struct inside {
	pctl_value *const *values; /* of ports, or NULL: */
	const pctl_job_buffers *buffers;
};

pctl_status pctl_run_observation_read(const pctl_run_observation *v, uint32_t port, uint64_t offset,
				      void *data, uint64_t n, const pctl_call *call)
{
	const struct inside *in = v->inside;

	if (in->values != NULL)
		return pctl_value_read(in->values[port], offset, data, n, call);
	return n == 0 ? PCTL_OK
		      : pctl_session_table(v->session)
				->buffer_read(pctl_session_device(v->session), call,
					      in->buffers->buffers[v->ports[port].number],
					      in->buffers->bases[v->ports[port].number] + offset,
					      data, n);
}

static pctl_run_observation view_of(const pctl_run_observer *observe, const struct inside *inside,
				    const pctl_run_port *ports, uint32_t n_ports)
{
	const pctl_run_node *n = observe->n;

	return (pctl_run_observation){.job = (uint32_t)(n - observe->r->nodes),
				      .ran = observe->job,
				      .plan = n->tuned != NULL ? n->tuned : n->canonical,
				      .canonical = n->canonical,
				      .session = n->session,
				      .ports = ports,
				      .n_ports = n_ports,
				      .in = observe->in,
				      .inside = inside};
}

pctl_status pctl_run_observe(const pctl_run_observer *observe, const pctl_job_run *run)
{
	const pctl_running *r = observe->r;
	const pctl_run_node *n = observe->n;
	const struct inside inside = {n->values, NULL};
	pctl_run_port ports[PCTL_PORTS_MAX] = {0};
	pctl_run_observation view;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; i < n->node->n_out; i++)
		ports[i] = (pctl_run_port){pctl_node_out_name(n->node, i), PCTL_PLAN_OUTPUT, i,
					   n->out[i], n->out_bytes[i]};
	view = view_of(observe, &inside, ports, n->node->n_out);
	if (r->o->observe != NULL && !run->cut)
		status = r->o->observe(r->o->observe_ctx, &view, r->call);
	if (status == PCTL_OK && r->o->trace != NULL && !run->cut && run->repeat == n->node->repeat)
		status = r->o->trace(r->o->trace_ctx, &view, r->call);
	return status;
}

static const char *in_name(const pctl_graph_node *n, uint32_t i)
{
	return n->job->kind == PCTL_JOB_OP ? pctl_op_input(n->op.desc, i)->name
					   : n->job->in[i].port;
}

/* Outputs as a value has them, everything else as large as its buffer. */
static pctl_run_port port_of(const pctl_run_observer *observe, const pctl_job_plan *plan,
			     uint32_t i)
{
	static const char *const kinds[] = {"", "", "", "temporary", "parameters", "turns"};
	const pctl_run_node *n = observe->n;
	const pctl_plan_buffer *b = &plan->buffers[i];
	pctl_run_port port = {NULL, b->kind, i, {.dtype = 0}, b->n_bytes};

	if (b->kind == PCTL_PLAN_INPUT) {
		port.name = in_name(n->node, i);
		port.type = n->in[i];
	} else if (b->kind == PCTL_PLAN_OUTPUT) {
		port.name = pctl_node_out_name(n->node, i - plan->n_in);
		port.type = n->out[i - plan->n_in];
		port.n_bytes = n->out_bytes[i - plan->n_in];
	} else {
		port.name = pctl_arena_printf(observe->r->result->arena, "%s %" PRIu32,
					      kinds[b->kind], i - plan->n_in - plan->n_out);
	}
	return port;
}

static pctl_status look_at(void *ctx, const pctl_job_buffers *buffers, const pctl_call *call)
{
	const pctl_run_observer *observe = ctx;
	const pctl_job_plan *plan = buffers->plan;
	const struct inside inside = {NULL, buffers};
	pctl_run_port *ports =
		pctl_arena_array(observe->r->result->arena, plan->n_buffers, sizeof(*ports));
	pctl_run_observation view = view_of(observe, &inside, ports, plan->n_buffers);

	if (ports == NULL)
		return pctl_no_memory(call, "a run");
	for (uint32_t i = 0; i < plan->n_buffers; i++) {
		ports[i] = port_of(observe, plan, i);
		if (ports[i].name == NULL)
			return pctl_no_memory(call, "a run");
	}
	view.cut = 1;
	return observe->r->o->observe(observe->r->o->observe_ctx, &view, call);
}

/* Ports lie on the heap: a run may have very many steps. */
static pctl_status observed_steps(void *ctx, const pctl_job_buffers *buffers, uint64_t round,
				  uint32_t step, const pctl_call *call)
{
	const pctl_run_observer *observe = ctx;
	const pctl_job_plan *plan = buffers->plan;
	const struct inside inside = {NULL, buffers};
	pctl_run_port *ports = calloc(plan->n_buffers + 1u, sizeof(*ports));
	pctl_run_observation view = view_of(observe, &inside, ports, 0);
	pctl_status status = PCTL_OK;

	if (ports == NULL)
		return pctl_no_memory(call, "a run");
	for (uint32_t i = plan->n_in; i < plan->n_buffers; i++) {
		if (step == 0 ? i >= plan->n_in + plan->n_out
			      : !pctl_step_writes(&plan->steps[step - 1], i))
			continue;
		ports[view.n_ports] = port_of(observe, plan, i);
		if (ports[view.n_ports++].name == NULL)
			status = pctl_no_memory(call, "a run");
	}
	view.level = step == 0 ? PCTL_TRACE_ROUNDS : PCTL_TRACE_STEPS;
	view.round = round;
	view.step = step;
	if (status == PCTL_OK)
		status = observe->r->o->trace(observe->r->o->trace_ctx, &view, call);
	free(ports);
	return status;
}

void pctl_run_limit_job(const pctl_running *r, const pctl_run_node *n, pctl_job_run *run)
{
	const pctl_run_limit *limit = r->o->limit;

	run->traced = (r->o->flags & PCTL_RUN_TRACED) != 0;
	if (r->o->trace != NULL && r->o->trace_level != PCTL_TRACE_JOBS) {
		run->trace = r->o->trace_level;
		run->observed_steps = observed_steps;
	}
	if (r->o->flags & PCTL_RUN_POISON && n->node->job->kind == PCTL_JOB_OP)
		run->poison = r->o->poison_seed;
	if (limit == NULL || &r->nodes[limit->job] != n)
		return;
	if (limit->rounds < run->repeat)
		run->repeat = limit->rounds;
	if (limit->cut && run->repeat != 0) {
		run->cut = 1;
		run->steps = limit->steps;
		run->observe = look_at;
	}
}
