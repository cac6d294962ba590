/* Which jobs of a run go into one kernel (semantics 14.5); run_fuse_plan.c plans it. A group is one job that gives a result, and
 * before it function ops and views whose outputs nobody else reads, and among them one plan op at most, the middle, whose library lets what
 * it writes, or reads, go through functions. A job that would be computed more than once for an element stays out, and so does one with which the
 * kernel would have too many inputs or instructions: the group is cut there. */
#include <stdlib.h>
#include <string.h>

#include "runtime/exec/run_fuse.h"
#include "foundation/base/order.h"
#include "runtime/graph/lookup.h"

#define MOST_JOBS (PCTL_ELEMENTWISE_NODES - PCTL_ELEMENTWISE_INPUTS)
#define MOST_INSTRUCTIONS 4096u
#define MOST_INDICES 1024u
#define SEVERAL UINT32_MAX /* indices under which a view is read */
#define OF_PORT(port) \
	(SEVERAL - 1u - (port)) /* what the index of an input of the middle is made from */
#define BARE            \
	(SEVERAL - 1u - \
	 PCTL_PORTS_MAX) /* of an input of the middle that is bound: its bytes as they lie */

int pctl_run_may_fuse(const pctl_running *r)
{
	const pctl_run_options *o = r->o;

	/* Whoever looks at jobs one by one sees each of them run. */
	return o->observe == NULL && o->trace == NULL && o->agreed == NULL && o->limit == NULL &&
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

/* It may run with others, as far as it alone is asked. */
static int is_free(const pctl_run_node *n)
{
	return pctl_run_is_element(n->node) && n->recalled == NULL && !n->spared && !n->ready &&
	       n->group == NULL && n->canonical != NULL &&
	       n->canonical->race == PCTL_PROOF_PROVEN && n->canonical->order == NULL &&
	       n->canonical->determinism <= PCTL_CLASS_STRICT && n->out_bytes[0] != 0;
}

/* Its plan is one kernel that the host wrote, of which nothing has to be said while it runs. */
static int can_join(const pctl_run_node *n)
{
	return is_free(n) && n->canonical->form != PCTL_PLAN_FORM_OTHER &&
	       n->canonical->n_steps == 1 && pctl_run_element_unit(n)->turns == 0;
}

/* Its elements may go through a function of the host: each lies in a word or two of its own, or is a whole part of one. */
static int may_go_through(const pctl_tensor_type *t)
{
	/* Types of kernels, and those that libraries read as parts of a word. */
	return t->dtype != PCTL_SCALAR_BOOL && t->dtype != PCTL_SCALAR_NONE &&
	       t->dtype <= PCTL_SCALAR_U16;
}

/* An input of the middle that may be read through a function; its output that may be written so. */
int pctl_run_reads_through(const pctl_run_node *n, uint32_t port)
{
	return n->apart == PCTL_RUN_APART_NOT &&
	       (pctl_op_input(n->node->op.desc, port)->flags & PCTL_PORT_THROUGH) != 0 &&
	       may_go_through(&n->in[port]);
}

static int writes_through(const pctl_run_node *n)
{
	return (n->node->op.desc->out[0].flags & PCTL_PORT_THROUGH) != 0 &&
	       may_go_through(&n->out[0]);
}

/* Its library speaks of functions at some port, and no output of it lies in an input's place. */
static int can_be_middle(const pctl_run_node *n)
{
	const pctl_op_desc *d = n->node->op.desc;
	uint32_t flags;

	if (!is_free(n) || n->apart == PCTL_RUN_APART_ALL ||
	    n->canonical->form != PCTL_PLAN_FORM_OTHER || n->n_measured != 0 ||
	    pctl_lookup_port(d) != UINT32_MAX)
		return 0;
	flags = d->out[0].flags;
	for (uint32_t i = 0; i < n->node->n_in; i++)
		flags |= pctl_op_input(d, i)->flags & PCTL_PORT_THROUGH;
	return (flags & PCTL_PORT_THROUGH) != 0 && PCTL_PORT_PLACE(flags) == 0;
}

static uint32_t instructions_of(const pctl_run_node *n)
{
	const pctl_program *p = pctl_run_element_unit(n)->program;
	uint32_t sum = 0;

	for (uint32_t i = 0; i < p->n_functions; i++)
		sum += p->functions[i].n_insts;
	return sum;
}

/* ---- finding a group ---------------------------------------------------------------------- */

/* An index that is made by a map from another. */
struct index {
	uint32_t from;
	pctl_index_map map;
};

/* A group while it grows, from the job that gives the result. under: of each job the number of the index under which it is
 * read, 0 the result's own. middle: UINT32_MAX while there is none; port: the indices of its inputs. */
struct growing {
	pctl_running *r;
	uint32_t *jobs, n_jobs;
	uint32_t *under; /* by job of the graph; with is_in */
	uint8_t *is_in;
	struct index *indices;
	uint32_t n_indices;
	uint32_t instructions, middle;
	uint32_t port[PCTL_PORTS_MAX];
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
			if (pctl_run_lanes_in(n, i) != pctl_run_lanes_out(&g->r->nodes[job]))
				return 0;
			m = pctl_run_index_map(n, i);
			if (g->jobs[j] == g->middle)
				here = pctl_run_reads_through(n, i) ? g->port[i] : BARE;
			else if (g->under[g->jobs[j]] == BARE)
				here = BARE;
			else
				here = index_under(g, g->under[g->jobs[j]], &m);
			if (users != 0 && *under != here && (here == BARE || *under == BARE))
				return 0;
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
			if (lanes != 0 && lanes != pctl_run_lanes_in(n, i))
				return 0;
			lanes = pctl_run_lanes_in(n, i);
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

/* What an index is made from in the end: of how many places it is one. */
static uint64_t places_of(const struct growing *g, uint32_t index)
{
	const pctl_run_node *root = &g->r->nodes[g->jobs[0]];
	pctl_tensor_type places = pctl_run_places_out(root);
	uint64_t n = 0;

	while (index != 0 && g->indices[index].from < MOST_INDICES)
		index = g->indices[index].from;
	if (index != 0)
		places = g->r->nodes[g->middle].in[OF_PORT(g->indices[index].from)];
	(void)pctl_type_elements(&places, &n);
	return n;
}

/* From now on it is the middle: 0 where there is no room for the indices of its inputs. */
static int set_middle(struct growing *g, uint32_t job)
{
	const uint32_t n_in = g->r->nodes[job].node->n_in;

	if (g->n_indices + n_in > MOST_INDICES)
		return 0;
	g->middle = job;
	for (uint32_t i = 0; i < n_in; i++) {
		g->port[i] = g->n_indices++;
		g->indices[g->port[i]] = (struct index){.from = OF_PORT(i)};
	}
	return 1;
}

/* The job with what it reads: 0 where the kernel would have too many inputs. */
static int put(struct growing *g, uint32_t job, uint32_t under)
{
	pctl_source sources[PCTL_ELEMENTWISE_INPUTS + 1];
	uint32_t n_sources;

	g->is_in[job] = 1;
	g->under[job] = under;
	g->jobs[g->n_jobs++] = job;
	n_sources = sources_of(g, sources, PCTL_ELEMENTWISE_INPUTS);
	if (n_sources <= PCTL_ELEMENTWISE_INPUTS && are_read_alike(g, sources, n_sources))
		return 1;
	g->is_in[job] = 0;
	g->n_jobs--;
	return 0;
}

/* Each element that it gives becomes one of the result, at the same place. */
static void take_middle(struct growing *g, uint32_t job)
{
	const pctl_run_node *n = &g->r->nodes[job], *root = &g->r->nodes[g->jobs[0]];
	uint64_t n_elements = 0;
	uint32_t under = 0;

	(void)pctl_type_elements(&n->out[0], &n_elements);
	if (g->middle == UINT32_MAX && g->n_jobs < MOST_JOBS && writes_through(n) &&
	    pctl_dtype_bytes(root->out[0].dtype) == pctl_dtype_bytes(n->out[0].dtype) &&
	    may_go_through(&root->out[0]) && pctl_run_lanes_out(root) == 1 &&
	    same_placement(n, root) && is_read_within(g, job, &under) && under == 0 &&
	    n_elements == places_of(g, 0) && put(g, job, 0) && !set_middle(g, job)) {
		g->is_in[job] = 0;
		g->n_jobs--;
	}
}

/* A view that gives all of the bytes that it is a view of, in their order. */
static int is_bare(const pctl_run_node *n)
{
	uint64_t from = 0, to = 0;

	return n->canonical->form == PCTL_PLAN_FORM_VIEW && pctl_run_index_map(n, 0).rank == 0 &&
	       pctl_type_elements(&n->in[0], &from) && pctl_type_elements(&n->out[0], &to) &&
	       from == to;
}

/* 1: the job was taken in. */
static int take_in(struct growing *g, uint32_t job)
{
	const pctl_run_node *n = &g->r->nodes[job], *root = &g->r->nodes[g->jobs[0]];
	const uint32_t more = instructions_of(n);
	const pctl_tensor_type places = pctl_run_places_out(n);
	uint32_t under = 0;
	uint64_t mine;

	if (g->n_jobs == MOST_JOBS || g->instructions + more > MOST_INSTRUCTIONS ||
	    !same_placement(n, root) || !is_read_within(g, job, &under))
		return 0;
	(void)pctl_type_elements(&places, &mine);
	if (under == BARE && !is_bare(n))
		return 0;
	/* A function is computed once for each of its elements, or alone. */
	if (n->canonical->form == PCTL_PLAN_FORM_FUNCTION &&
	    (under == SEVERAL || mine < places_of(g, under)))
		return 0;
	if (!put(g, job, under))
		return 0;
	g->instructions += more;
	return 1;
}

static void grow(struct growing *g, uint32_t from, uint32_t to)
{
	/* From the result back: users of a job stand behind it. */
	for (uint32_t place = to; place-- > from;) {
		const uint32_t job = g->r->graph->order[place];

		if (g->is_in[job])
			continue;
		if (can_join(&g->r->nodes[job]))
			(void)take_in(g, job);
		else if (can_be_middle(&g->r->nodes[job]))
			take_middle(g, job);
	}
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
	qsort(places, g->n_jobs, sizeof(*places), pctl_order_u64);
	group->n_jobs = g->n_jobs;
	for (uint32_t i = 0; i < g->n_jobs; i++) {
		group->jobs[i] = r->graph->order[places[i]];
		r->nodes[group->jobs[i]].group = group;
	}
	group->root = g->jobs[0];
	group->middle = g->middle;
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

		if (!can_join(&r->nodes[root]) && !can_be_middle(&r->nodes[root]))
			continue;
		memset(g.is_in, 0, n);
		g.jobs[0] = root;
		g.n_jobs = g.n_indices = 1;
		g.is_in[root] = 1;
		g.under[root] = 0;
		g.middle = UINT32_MAX;
		g.instructions = 0;
		if (can_join(&r->nodes[root]))
			g.instructions = instructions_of(&r->nodes[root]);
		else if (!set_middle(&g, root))
			continue;
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
