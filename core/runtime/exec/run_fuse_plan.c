/* The plan of a group (run_fuse.c): one kernel that the host writes, or where there is a middle the plan of its library with functions of the host's
 * in it; and the same job by job. */
#include <stdlib.h>
#include <string.h>

#include "foundation/diag/diag.h"
#include "runtime/exec/run_fuse.h"

const pctl_kernel_module *pctl_run_element_unit(const pctl_run_node *n)
{
	return n->canonical->steps[0].unit;
}

/* Elements of a value that a job's function takes at a port, or gives. */
uint32_t pctl_run_lanes_in(const pctl_run_node *n, uint32_t port)
{
	return n->canonical->form == PCTL_PLAN_FORM_FUNCTION
		       ? pctl_port_lanes(pctl_op_input(n->node->op.desc, port))
		       : 1;
}

uint32_t pctl_run_lanes_out(const pctl_run_node *n)
{
	return n->canonical->form == PCTL_PLAN_FORM_FUNCTION
		       ? pctl_port_lanes(&n->node->op.desc->out[0])
		       : 1;
}

pctl_tensor_type pctl_run_places_out(const pctl_run_node *n)
{
	pctl_tensor_type places;

	(void)pctl_type_places(&n->out[0], pctl_run_lanes_out(n), &places);
	return places;
}

/* How element i of a job is found in its operand. */
pctl_index_map pctl_run_index_map(const pctl_run_node *n, uint32_t port)
{
	pctl_index_map m = {.rank = 0};
	const pctl_tensor_type out = pctl_run_places_out(n);
	pctl_tensor_type in, like;

	(void)pctl_type_places(&n->in[port], pctl_run_lanes_in(n, port), &in);
	like = in;
	if (n->canonical->form == PCTL_PLAN_FORM_VIEW) {
		pctl_index_map_view(&n->canonical->view, &m);
	} else {
		like.dtype = out.dtype;
		if (!pctl_type_equal(&like, &out))
			pctl_index_map_stretch(&in, &out, &m);
	}
	pctl_index_map_simplify(&m);
	return m;
}

/* ---- its plan ----------------------------------------------------------------------------- */

/* A source of the group as its jobs read it. */
static pctl_tensor_type read_type(const pctl_running *r, const pctl_run_group *g, pctl_source s)
{
	pctl_tensor_type type = s.job == PCTL_FROM_INPUT ? r->input_types[s.port]
							 : r->nodes[s.job].out[s.port],
			 places = type;

	for (uint32_t j = 0; j < g->n_jobs; j++) {
		const pctl_run_node *n = &r->nodes[g->jobs[j]];

		for (uint32_t i = 0; i < n->node->n_in; i++)
			if (n->node->in[i].job == s.job && n->node->in[i].port == s.port)
				(void)pctl_type_places(&type, pctl_run_lanes_in(n, i), &places);
	}
	return places;
}

/* Elementary functions are long: one a time then, so that a kernel does not become four times as long. */
static int is_short(const pctl_run_node *n)
{
	const pctl_program *p = pctl_run_element_unit(n)->program;

	for (uint32_t i = 0; i < p->n_insts; i++)
		if (p->insts[i].op >= PCTL_OP_FSIN && p->insts[i].op < PCTL_OP_FSIN + 0x40)
			return 0;
	return 1;
}

static uint32_t number_of(const pctl_run_group *g, pctl_source s)
{
	uint32_t i = 0;

	while (i < g->n_in && (g->in[i].job != s.job || g->in[i].port != s.port))
		i++;
	if (i < g->n_in)
		return i;
	for (i = 0; i < g->n_jobs && g->jobs[i] != s.job; i++)
		;
	return g->n_in + i;
}

static pctl_element_node element_of(const pctl_run_group *g, const pctl_run_node *n)
{
	const pctl_op_ref *op = &n->node->op;
	const int is_view = n->canonical->form == PCTL_PLAN_FORM_VIEW;
	pctl_element_node e = {.kind = is_view ? PCTL_ELEMENT_VIEW : PCTL_ELEMENT_FUNCTION,
			       .type = pctl_run_places_out(n),
			       .n_in = n->node->n_in};

	if (n->canonical->form == PCTL_PLAN_FORM_OTHER)
		return (pctl_element_node){.kind = PCTL_ELEMENT_GIVEN, .type = n->out[0]};
	for (uint32_t i = 0; i < e.n_in; i++) {
		e.in[i] = number_of(g, n->node->in[i]);
		e.map[i] = pctl_run_index_map(n, i);
	}
	if (!is_view) {
		e.op = op->desc->name;
		e.operand = n->in[0].dtype;
		e.text = op->lib->function(op->inst, op->index, e.operand);
	}
	return e;
}

/* What the kernel is made of: sources of the group, then its jobs. *lanes: of an invocation, where nothing else says how many. */
static void describe(const pctl_running *r, const pctl_run_group *g, pctl_element_node *nodes,
		     uint64_t *in_bytes, uint32_t *lanes)
{
	*lanes = 4;
	for (uint32_t i = 0; i < g->n_in; i++) {
		nodes[i] = (pctl_element_node){
			.kind = PCTL_ELEMENT_INPUT, .buffer = i, .type = read_type(r, g, g->in[i])};
		(void)pctl_type_buffer_bytes(&nodes[i].type, &in_bytes[i]);
	}
	for (uint32_t i = 0; i < g->n_jobs; i++) {
		const pctl_run_node *n = &r->nodes[g->jobs[i]];

		nodes[g->n_in + i] = element_of(g, n);
		if (n->canonical->form != PCTL_PLAN_FORM_OTHER && !is_short(n))
			*lanes = 1;
	}
}

/* The plan of the middle's library, in which functions stand for the jobs before and behind it. */
static pctl_status plan_middle(pctl_running *r, const pctl_run_group *g, pctl_session *on,
			       const pctl_element_node *nodes, const uint64_t *in_bytes,
			       const pctl_call *call, pctl_job_plan **out)
{
	pctl_run_node *n = &r->nodes[g->middle];
	const pctl_op_ref *ops[PCTL_ELEMENTWISE_NODES] = {NULL};
	pctl_plan_caps caps;
	const pctl_op_query q = pctl_run_query(n);
	pctl_through t = {.op = &n->node->op,
			  .q = &q,
			  .n_nodes = g->n_in + g->n_jobs,
			  .n_in = g->n_in,
			  .nodes = nodes,
			  .in_bytes = in_bytes};
	const uint32_t mine = number_of(g, (pctl_source){g->middle, 0});
	pctl_status status = pctl_run_plan_caps(r, n, on, call, &caps);

	(void)pctl_type_buffer_bytes(&n->out[0], &t.out_bytes);
	for (uint32_t i = 0; i < n->node->n_in; i++) {
		uint32_t from = number_of(g, n->node->in[i]);

		/* Views of bytes as they lie are these bytes. */
		while (from >= g->n_in && !pctl_run_reads_through(n, i))
			from = nodes[from].in[0];
		t.in[i] = from;
		if (from < g->n_in)
			continue;
		t.in[i] = UINT32_MAX;
		t.functions[t.n_functions++] =
			(pctl_through_function){PCTL_PLAN_READ_THROUGH(i), from};
	}
	if (mine + 1 != t.n_nodes)
		t.functions[t.n_functions++] =
			(pctl_through_function){PCTL_PLAN_WRITE_THROUGH(0), t.n_nodes - 1};
	for (uint32_t i = 0; i < t.n_functions; i++)
		t.flags |= t.functions[i].flag;
	for (uint32_t i = 0; i < g->n_jobs; i++)
		ops[g->n_in + i] = &r->nodes[g->jobs[i]].node->op;
	return status == PCTL_OK ? pctl_run_through_once(r, r->nodes[g->root].node->job->id, &t,
							 ops, &caps, call, out)
				 : status;
}

static pctl_status plan_kernel(pctl_running *r, const pctl_run_group *g, const pctl_session *on,
			       const pctl_element_node *nodes, const uint64_t *in_bytes,
			       uint32_t lanes, const pctl_call *call, pctl_job_plan **out)
{
	const pctl_run_node *root = &r->nodes[g->root];
	pctl_elementwise e = {.name = root->node->job->id,
			      .nodes = nodes,
			      .n_nodes = g->n_in + g->n_jobs,
			      .lanes = lanes,
			      .most_bytes = pctl_session_caps(on)->max_binding_bytes};
	pctl_status status = pctl_job_plan_create(root->node->job->id, call, out);
	uint64_t n_bytes = 0;
	uint32_t number;

	for (uint32_t i = 0; status == PCTL_OK && i < g->n_in; i++)
		status = pctl_job_plan_buffer(*out, PCTL_PLAN_INPUT, in_bytes[i], NULL, call,
					      &number);
	(void)pctl_type_buffer_bytes(&root->out[0], &n_bytes);
	if (status == PCTL_OK)
		status = pctl_job_plan_buffer(*out, PCTL_PLAN_OUTPUT, n_bytes, NULL, call,
					      &e.output);
	return status == PCTL_OK ? pctl_elementwise_plan(r->graph->kernels, &e, call, *out)
				 : status;
}

static pctl_status plan_group(pctl_running *r, const pctl_run_group *g, pctl_session *on,
			      const pctl_call *call, pctl_job_plan **out)
{
	pctl_element_node *nodes = calloc(PCTL_ELEMENTWISE_NODES, sizeof(*nodes));
	uint64_t in_bytes[PCTL_ELEMENTWISE_INPUTS] = {0};
	pctl_status status;
	uint32_t lanes;

	if (nodes == NULL)
		return pctl_no_memory(call, "a plan");
	describe(r, g, nodes, in_bytes, &lanes);
	status = g->middle != UINT32_MAX ? plan_middle(r, g, on, nodes, in_bytes, call, out)
					 : plan_kernel(r, g, on, nodes, in_bytes, lanes, call, out);
	free(nodes);
	if (status == PCTL_OK && ((*out)->race != PCTL_PROOF_PROVEN || (*out)->order != NULL ||
				  (*out)->determinism > PCTL_CLASS_STRICT))
		status = PCTL_E_UNSUPPORTED;
	return status;
}

static void dissolve(pctl_running *r, pctl_run_group *g)
{
	pctl_job_plan_destroy(g->plan);
	g->plan = NULL;
	for (uint32_t i = 0; i < g->n_jobs; i++)
		r->nodes[g->jobs[i]].group = NULL;
}

static int has_before(const pctl_running *r, const pctl_run_group *g)
{
	const pctl_run_node *n = &r->nodes[g->middle];

	for (uint32_t i = 0; i < n->node->n_in; i++)
		if (number_of(g, n->node->in[i]) >= g->n_in && pctl_run_reads_through(n, i))
			return 1;
	return 0;
}

/* On the session of the result, where each of the jobs could run too. */
static pctl_status fit_group(pctl_running *r, pctl_run_group *g, pctl_session *s,
			     const pctl_call *call)
{
	pctl_status status = PCTL_OK;

	if (pctl_session_kind(s) == PCTL_DEVICE_REFERENCE)
		return PCTL_E_UNSUPPORTED;
	for (uint32_t i = 0; status == PCTL_OK && i < g->n_jobs; i++)
		status = pctl_run_check_certified(r, &r->nodes[g->jobs[i]], s, call);
	if (status == PCTL_OK)
		status = plan_group(r, g, s, call, &g->plan);
	for (uint32_t i = 0; status == PCTL_OK && g->plan != NULL && i < g->plan->n_steps; i++)
		if (g->plan->steps[i].kind == PCTL_STEP_KERNEL)
			status = pctl_session_learn(s, g->plan->steps[i].unit, call);
	if (status == PCTL_OK)
		status = pctl_session_qualify(s, g->plan, call);
	if (status == PCTL_OK && r->executes)
		status = pctl_session_build(s, g->plan, call);
	return status;
}

pctl_status pctl_run_foresee_group(pctl_running *r, pctl_run_group *g, pctl_session *s,
				   const pctl_call *call)
{
	pctl_job_plan *plan = NULL;
	const pctl_status status = plan_group(r, g, s, call, &plan);

	if (status == PCTL_OK)
		pctl_session_foresee(s, plan, call);
	pctl_job_plan_destroy(plan);
	return status;
}

/* What stands before that place and is not ready may go with what was dissolved. */
static uint32_t first_free(const pctl_running *r, uint32_t place)
{
	while (place > 0 && !r->nodes[r->graph->order[place - 1]].ready)
		place--;
	return place;
}

pctl_status pctl_run_ready_group(pctl_running *r, pctl_run_group *g, pctl_session *s)
{
	pctl_diag_list *unsaid = pctl_diag_list_create();
	pctl_status status;

	if (unsaid == NULL)
		return pctl_no_memory(r->call, "a run");
	pctl_diag_list_set_cancel(unsaid, r->call->cancelled, r->call->ctx);
	status = fit_group(r, g, s, pctl_diag_list_call(unsaid));
	pctl_diag_list_destroy(unsaid);
	if (pctl_is_cancelled(r->call))
		return pctl_refuse(r->call, PC4_CANCELLED, "while jobs were fused");
	/* What cannot run as one kernel runs as it was declared; why, those jobs say themselves. Without what is before the middle, and without that, the
	 * others may be kernels still. */
	if (status != PCTL_OK) {
		dissolve(r, g);
		if (g->middle == UINT32_MAX)
			return PCTL_OK;
		r->nodes[g->middle].apart =
			has_before(r, g) ? PCTL_RUN_APART_BEFORE : PCTL_RUN_APART_ALL;
		return pctl_run_fuse(r, first_free(r, r->nodes[g->jobs[0]].place),
				     r->nodes[g->root].place + 1);
	}
	for (uint32_t i = 0; i < g->n_jobs; i++) {
		r->nodes[g->jobs[i]].session = s;
		r->nodes[g->jobs[i]].ready = 1;
	}
	return PCTL_OK;
}

const pctl_source *pctl_run_sources(const pctl_run_node *n, uint32_t *count)
{
	*count = n->group != NULL ? n->group->n_in : n->node->n_in;
	return n->group != NULL ? n->group->in : n->node->in;
}

int pctl_run_is_within(const pctl_running *r, const pctl_run_node *n)
{
	return n->group != NULL && n != &r->nodes[n->group->root];
}

/* ---- the same job by job ------------------------------------------------------------------ */

static void feed(const pctl_running *r, const pctl_run_group *g, const pctl_run_node *n,
		 pctl_value *const *made, pctl_value **in)
{
	for (uint32_t i = 0; i < n->node->n_in; i++) {
		const pctl_source s = n->node->in[i];
		uint32_t k = 0;

		while (k < g->n_jobs && (s.job == PCTL_FROM_INPUT || g->jobs[k] != s.job))
			k++;
		in[i] = k < g->n_jobs		   ? made[k]
			: s.job == PCTL_FROM_INPUT ? r->inputs[s.port]
						   : r->nodes[s.job].values[s.port];
	}
}

pctl_status pctl_run_group_apart(pctl_running *r, const pctl_run_group *g, pctl_session *s,
				 const pctl_job_run *like, const pctl_call *call, pctl_value **out)
{
	pctl_value **made = calloc(g->n_jobs, sizeof(pctl_value *));
	pctl_status status = made == NULL ? pctl_no_memory(call, "a run") : PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < g->n_jobs; i++) {
		const pctl_run_node *n = &r->nodes[g->jobs[i]];
		pctl_value *in[PCTL_PORTS_MAX];
		pctl_job_run run = *like;

		run.plan = n->canonical;
		run.out_bytes = n->out_bytes;
		feed(r, g, n, made, in);
		status = pctl_job_execute(s, &run, in, call, &made[i], NULL);
	}
	*out = status == PCTL_OK ? pctl_value_retain(made[g->n_jobs - 1]) : NULL;
	for (uint32_t i = 0; made != NULL && i < g->n_jobs; i++)
		pctl_value_release(made[i]);
	free(made);
	return status;
}
