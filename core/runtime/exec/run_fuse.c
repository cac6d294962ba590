/* Which jobs of a run go into one kernel (semantics 14.5), and that kernel's plan. A group is one job that gives a result, and
 * before it function ops and views whose outputs nobody else reads. A job that would be computed more than once for an element
 * stays out, and so does one with which the kernel would have too many inputs or instructions: the group is cut there. */
#include <stdlib.h>
#include <string.h>

#include "foundation/diag/diag.h"
#include "runtime/exec/run_private.h"
#include "runtime/graph/elementwise.h"

#define MOST_JOBS (PCTL_ELEMENTWISE_NODES - PCTL_ELEMENTWISE_INPUTS)
#define MOST_INSTRUCTIONS 4096u
#define MOST_INDICES 1024u
#define SEVERAL UINT32_MAX /* indices under which a view is read */

int pctl_run_may_fuse(const pctl_running *r)
{
	const pctl_run_options *o = r->o;

	/* Whoever looks at jobs one by one sees each of them run. */
	return o->observe == NULL && o->watch == NULL && o->agreed == NULL && o->limit == NULL &&
	       !(o->flags & (PCTL_RUN_NO_FUSE | PCTL_RUN_SANITIZE | PCTL_RUN_NATIVE |
			     PCTL_RUN_CANONICAL | PCTL_RUN_TRACED | PCTL_RUN_POISON));
}

int pctl_run_is_element(const pctl_graph_node *n)
{
	if (n->job->kind != PCTL_JOB_OP || n->n_out != 1 || n->n_in == 0 || n->repeat != 1)
		return 0;
	for (uint32_t i = 0; i < n->n_in; i++)
		if (n->carry[i] != 0)
			return 0;
	return 1;
}

static const pctl_kernel_module *unit_of(const pctl_run_node *n)
{
	return n->canonical->steps[0].unit;
}

/* Its plan is one kernel that the host wrote, of which nothing has to be said while it runs. */
static int can_join(const pctl_run_node *n)
{
	return pctl_run_is_element(n->node) && n->recalled == NULL && !n->spared &&
	       n->group == NULL && n->canonical != NULL &&
	       n->canonical->form != PCTL_PLAN_FORM_OTHER && n->canonical->n_steps == 1 &&
	       n->canonical->race == PCTL_PROOF_PROVEN && n->canonical->order == NULL &&
	       n->canonical->determinism <= PCTL_CLASS_STRICT && unit_of(n)->turns == 0 &&
	       n->out_bytes[0] != 0;
}

static uint32_t instructions_of(const pctl_run_node *n)
{
	const pctl_program *p = unit_of(n)->program;
	uint32_t sum = 0;

	for (uint32_t i = 0; i < p->n_functions; i++)
		sum += p->functions[i].n_insts;
	return sum;
}

/* Elements of a value that a job's function takes at a port, or gives. */
static uint32_t lanes_in(const pctl_run_node *n, uint32_t port)
{
	return n->canonical->form == PCTL_PLAN_FORM_FUNCTION
		       ? pctl_port_lanes(pctl_op_input(n->node->op.desc, port))
		       : 1;
}

static uint32_t lanes_out(const pctl_run_node *n)
{
	return n->canonical->form == PCTL_PLAN_FORM_FUNCTION
		       ? pctl_port_lanes(&n->node->op.desc->out[0])
		       : 1;
}

static pctl_tensor_type places_out(const pctl_run_node *n)
{
	pctl_tensor_type places;

	(void)pctl_type_places(&n->out[0], lanes_out(n), &places);
	return places;
}

/* How element i of a job is found in its operand. */
static pctl_index_map map_of(const pctl_run_node *n, uint32_t port)
{
	pctl_index_map m = {.rank = 0};
	const pctl_tensor_type out = places_out(n);
	pctl_tensor_type in, like;

	(void)pctl_type_places(&n->in[port], lanes_in(n, port), &in);
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

/* ---- finding a group ---------------------------------------------------------------------- */

/* An index that is made by a map from another. */
struct index {
	uint32_t from;
	pctl_index_map map;
};

/* A group while it grows, from the job that gives the result. under: of each job the number of the index under which it is
 * read, 0 the result's own. */
struct growing {
	pctl_running *r;
	uint32_t *jobs, n_jobs;
	uint32_t *under; /* by job of the graph; with is_in */
	uint8_t *is_in;
	struct index *indices;
	uint32_t n_indices;
	uint32_t instructions;
};

static uint32_t index_under(struct growing *g, uint32_t from, const pctl_index_map *m)
{
	if (m->rank == 0 || from == SEVERAL)
		return from;
	for (uint32_t i = 1; i < g->n_indices; i++)
		if (g->indices[i].from == from && memcmp(&g->indices[i].map, m, sizeof(*m)) == 0)
			return i;
	if (g->n_indices == MOST_INDICES)
		return SEVERAL;
	g->indices[g->n_indices] = (struct index){from, *m};
	return g->n_indices++;
}

/* Sources outside the group, each once; more than `most`: most + 1. */
static uint32_t sources_of(const struct growing *g, pctl_source *out, uint32_t most)
{
	uint32_t n = 0;

	for (uint32_t j = 0; j < g->n_jobs; j++) {
		const pctl_graph_node *node = g->r->nodes[g->jobs[j]].node;

		for (uint32_t i = 0; i < node->n_in; i++) {
			const pctl_source s = node->in[i];
			uint32_t k = 0;

			if (s.job != PCTL_FROM_INPUT && g->is_in[s.job])
				continue;
			while (k < n && (out[k].job != s.job || out[k].port != s.port))
				k++;
			if (k < n)
				continue;
			if (n == most)
				return most + 1;
			out[n++] = s;
		}
	}
	return n;
}

/* The index under which all of the group read a job, if they are all of its users; else 0 is returned. */
static int is_read_within(struct growing *g, uint32_t job, uint32_t *under)
{
	uint32_t users = 0;

	for (uint32_t j = 0; j < g->n_jobs; j++) {
		const pctl_run_node *n = &g->r->nodes[g->jobs[j]];

		for (uint32_t i = 0; i < n->node->n_in; i++) {
			pctl_index_map m;
			uint32_t here;

			if (n->node->in[i].job != job)
				continue;
			/* What is made as vectors is read as such. */
			if (lanes_in(n, i) != lanes_out(&g->r->nodes[job]))
				return 0;
			m = map_of(n, i);
			here = index_under(g, g->under[g->jobs[j]], &m);
			*under = users++ == 0 || *under == here ? here : SEVERAL;
		}
	}
	return users != 0 && users == g->r->nodes[job].users[0];
}

/* A source outside the group is read as the same vectors, or elements, wherever it is read. */
static uint32_t lanes_of_source(const struct growing *g, pctl_source s)
{
	uint32_t lanes = 0;

	for (uint32_t j = 0; j < g->n_jobs; j++) {
		const pctl_run_node *n = &g->r->nodes[g->jobs[j]];

		for (uint32_t i = 0; i < n->node->n_in; i++) {
			if (n->node->in[i].job != s.job || n->node->in[i].port != s.port)
				continue;
			if (lanes != 0 && lanes != lanes_in(n, i))
				return 0;
			lanes = lanes_in(n, i);
		}
	}
	return lanes;
}

static int are_read_alike(const struct growing *g, const pctl_source *sources, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (lanes_of_source(g, sources[i]) == 0)
			return 0;
	return 1;
}

static int same_placement(const pctl_run_node *a, const pctl_run_node *b)
{
	const char *x = a->node->job->placement, *y = b->node->job->placement;

	return x == y || (x != NULL && y != NULL && strcmp(x, y) == 0);
}

/* 1: the job was taken in. */
static int take_in(struct growing *g, uint32_t job)
{
	const pctl_run_node *n = &g->r->nodes[job], *root = &g->r->nodes[g->jobs[0]];
	pctl_source sources[PCTL_ELEMENTWISE_INPUTS + 1];
	const uint32_t more = instructions_of(n);
	const pctl_tensor_type places = places_out(n), result = places_out(root);
	uint64_t mine, all;
	uint32_t under = 0, n_sources;

	if (g->n_jobs == MOST_JOBS || g->instructions + more > MOST_INSTRUCTIONS ||
	    !same_placement(n, root) || !is_read_within(g, job, &under))
		return 0;
	(void)pctl_type_elements(&places, &mine);
	(void)pctl_type_elements(&result, &all);
	/* A function is computed once for each of its elements, or alone. */
	if (n->canonical->form == PCTL_PLAN_FORM_FUNCTION && (under == SEVERAL || mine < all))
		return 0;
	g->is_in[job] = 1;
	g->under[job] = under;
	g->jobs[g->n_jobs++] = job;
	n_sources = sources_of(g, sources, PCTL_ELEMENTWISE_INPUTS);
	if (n_sources > PCTL_ELEMENTWISE_INPUTS || !are_read_alike(g, sources, n_sources)) {
		g->is_in[job] = 0;
		g->n_jobs--;
		return 0;
	}
	g->instructions += more;
	return 1;
}

static void grow(struct growing *g, uint32_t from, uint32_t to)
{
	/* From the result back: users of a job stand behind it. */
	for (uint32_t place = to; place-- > from;) {
		const uint32_t job = g->r->graph->order[place];

		if (!g->is_in[job] && can_join(&g->r->nodes[job]))
			(void)take_in(g, job);
	}
}

static int by_place(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The group as it stays: jobs in the graph's order, the result last. */
static pctl_status keep_group(struct growing *g)
{
	pctl_running *r = g->r;
	pctl_arena *arena = r->result->arena;
	pctl_run_group *group = pctl_arena_alloc(arena, sizeof(*group));
	uint64_t places[MOST_JOBS];

	if (group == NULL)
		return pctl_no_memory(r->call, "a run");
	group->jobs = pctl_arena_array(arena, g->n_jobs, sizeof(*group->jobs));
	if (group->jobs == NULL)
		return pctl_no_memory(r->call, "a run");
	for (uint32_t i = 0; i < g->n_jobs; i++)
		places[i] = r->nodes[g->jobs[i]].place;
	qsort(places, g->n_jobs, sizeof(*places), by_place);
	group->n_jobs = g->n_jobs;
	for (uint32_t i = 0; i < g->n_jobs; i++) {
		group->jobs[i] = r->graph->order[places[i]];
		r->nodes[group->jobs[i]].group = group;
	}
	group->root = g->jobs[0];
	group->n_in = sources_of(g, group->in, PCTL_ELEMENTWISE_INPUTS);
	return PCTL_OK;
}

pctl_status pctl_run_fuse(pctl_running *r, uint32_t from, uint32_t to)
{
	const uint32_t n = r->graph->n_nodes;
	struct growing g = {.r = r};
	pctl_status status = PCTL_OK;

	if (!pctl_run_may_fuse(r) || to - from < 2)
		return PCTL_OK;
	g.jobs = calloc(MOST_JOBS, sizeof(*g.jobs));
	g.under = calloc(n, sizeof(*g.under));
	g.is_in = calloc(n, 1);
	g.indices = calloc(MOST_INDICES, sizeof(*g.indices));
	if (g.jobs == NULL || g.under == NULL || g.is_in == NULL || g.indices == NULL)
		status = pctl_no_memory(r->call, "a run");
	for (uint32_t place = to; status == PCTL_OK && place-- > from;) {
		const uint32_t root = r->graph->order[place];

		if (!can_join(&r->nodes[root]))
			continue;
		memset(g.is_in, 0, n);
		g.jobs[0] = root;
		g.n_jobs = g.n_indices = 1;
		g.is_in[root] = 1;
		g.under[root] = 0;
		g.instructions = instructions_of(&r->nodes[root]);
		grow(&g, from, place);
		if (g.n_jobs > 1)
			status = keep_group(&g);
	}
	free(g.jobs);
	free(g.under);
	free(g.is_in);
	free(g.indices);
	return status;
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
				(void)pctl_type_places(&type, lanes_in(n, i), &places);
	}
	return places;
}

/* Elementary functions are long: one a time then, so that a kernel does not become four times as long. */
static int is_short(const pctl_run_node *n)
{
	const pctl_program *p = unit_of(n)->program;

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

static pctl_element_node element_of(const pctl_running *r, const pctl_run_group *g,
				    const pctl_run_node *n)
{
	const pctl_op_ref *op = &n->node->op;
	const int is_view = n->canonical->form == PCTL_PLAN_FORM_VIEW;
	pctl_element_node e = {.kind = is_view ? PCTL_ELEMENT_VIEW : PCTL_ELEMENT_FUNCTION,
			       .type = places_out(n),
			       .n_in = n->node->n_in};

	(void)r;
	for (uint32_t i = 0; i < e.n_in; i++) {
		e.in[i] = number_of(g, n->node->in[i]);
		e.map[i] = map_of(n, i);
	}
	if (!is_view) {
		e.op = op->desc->name;
		e.operand = n->in[0].dtype;
		e.text = op->lib->function(op->inst, op->index, e.operand);
	}
	return e;
}

static pctl_status plan_group(pctl_running *r, const pctl_run_group *g, const pctl_session *on,
			      const pctl_call *call, pctl_job_plan **out)
{
	const pctl_run_node *root = &r->nodes[g->root];
	pctl_element_node *nodes = calloc(PCTL_ELEMENTWISE_NODES, sizeof(*nodes));
	pctl_elementwise e = {.name = root->node->job->id,
			      .nodes = nodes,
			      .lanes = 4,
			      .most_bytes = pctl_session_caps(on)->max_binding_bytes};
	pctl_status status = nodes == NULL ? pctl_no_memory(call, "a plan")
					   : pctl_job_plan_create(root->node->job->id, call, out);
	uint64_t n_bytes = 0;

	for (uint32_t i = 0; status == PCTL_OK && i < g->n_in; i++) {
		const pctl_source s = g->in[i];

		nodes[i] =
			(pctl_element_node){.kind = PCTL_ELEMENT_INPUT, .type = read_type(r, g, s)};
		(void)pctl_type_buffer_bytes(&nodes[i].type, &n_bytes);
		status = pctl_job_plan_buffer(*out, PCTL_PLAN_INPUT, n_bytes, NULL, call,
					      &nodes[i].buffer);
	}
	(void)pctl_type_buffer_bytes(&root->out[0], &n_bytes);
	if (status == PCTL_OK)
		status = pctl_job_plan_buffer(*out, PCTL_PLAN_OUTPUT, n_bytes, NULL, call,
					      &e.output);
	for (uint32_t i = 0; status == PCTL_OK && i < g->n_jobs; i++) {
		const pctl_run_node *n = &r->nodes[g->jobs[i]];

		nodes[g->n_in + i] = element_of(r, g, n);
		if (!is_short(n))
			e.lanes = 1;
	}
	e.n_nodes = g->n_in + g->n_jobs;
	if (status == PCTL_OK)
		status = pctl_elementwise_plan(r->graph->kernels, &e, call, *out);
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
		status = pctl_session_learn(s, g->plan->steps[i].unit, call);
	if (status == PCTL_OK)
		status = pctl_session_qualify(s, g->plan, call);
	if (status == PCTL_OK && r->executes)
		status = pctl_session_build(s, g->plan, call);
	return status;
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
	/* What cannot run as one kernel runs as it was declared; why, those jobs say themselves. */
	if (status != PCTL_OK) {
		dissolve(r, g);
		return PCTL_OK;
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
