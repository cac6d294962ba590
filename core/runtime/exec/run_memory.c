/* What a run will need of a device's memory at each of its jobs, before any of them runs (SEMANTICS.md 17.2): what is alive then, inputs
 * of the run from their first use on, and what the job makes for itself. The same sum is kept while the run goes on
 * (run_describe.c). */
#include <inttypes.h>
#include <stdlib.h>

#include "foundation/base/num.h"
#include "runtime/exec/run_private.h"

/* Users that are still to come. */
struct ahead {
	pctl_running *r;
	uint32_t (*users)[PCTL_PORTS_MAX];
	uint32_t *input_users;
	uint8_t *input_alive;
	uint64_t alive;
};

static uint64_t input_bytes(const pctl_running *r, uint32_t port)
{
	uint64_t n = 0;

	(void)pctl_type_bytes(&r->input_types[port], &n);
	return n;
}

static void take(uint64_t *sum, uint64_t n)
{
	*sum -= n < *sum ? n : *sum;
}

static void read_inputs(struct ahead *a, const pctl_run_node *n)
{
	uint32_t count;
	const pctl_source *sources = pctl_run_sources(n, &count);

	for (uint32_t i = 0; i < count; i++) {
		const pctl_source s = sources[i];

		if (s.job != PCTL_FROM_INPUT || a->input_alive[s.port])
			continue;
		a->input_alive[s.port] = 1;
		(void)pctl_num_add(a->alive, input_bytes(a->r, s.port), &a->alive);
	}
}

static int reads(const pctl_run_node *n, uint32_t port)
{
	uint32_t count;
	const pctl_source *sources = pctl_run_sources(n, &count);

	for (uint32_t i = 0; i < count; i++)
		if (sources[i].job == PCTL_FROM_INPUT && sources[i].port == port)
			return 1;
	return 0;
}

static uint64_t idle(const struct ahead *a, const pctl_run_node *n)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < a->r->graph->pipeline->n_inputs; i++)
		if (a->input_alive[i] && a->input_users[i] != 0 && !reads(n, i))
			(void)pctl_num_add(sum, input_bytes(a->r, i), &sum);
	return sum;
}

static void done_with(struct ahead *a, const pctl_run_node *n)
{
	for (uint32_t i = 0; i < n->node->n_in; i++) {
		const pctl_source s = n->node->in[i];

		if (s.job == PCTL_FROM_INPUT) {
			if (--a->input_users[s.port] == 0 && a->input_alive[s.port])
				take(&a->alive, input_bytes(a->r, s.port));
		} else if (--a->users[s.job][s.port] == 0 &&
			   !pctl_run_is_within(a->r, &a->r->nodes[s.job])) {
			take(&a->alive, a->r->nodes[s.job].out_bytes[s.port]);
		}
	}
}

static uint32_t left(const void *ahead, pctl_source s)
{
	const struct ahead *a = ahead;

	return s.job == PCTL_FROM_INPUT ? a->input_users[s.port] : a->users[s.job][s.port];
}

/* Of a group all happens where its result is made. */
static void step(struct ahead *a, pctl_run_node *n)
{
	const pctl_job_plan *plan =
		n->group != NULL && n->group->plan != NULL ? n->group->plan : n->canonical;
	uint8_t places[PCTL_PORTS_MAX];
	uint64_t placed = 0;

	if (pctl_run_is_within(a->r, n))
		return;
	read_inputs(a, n);
	n->idle_beside = idle(a, n);
	n->peak_beside = a->alive;
	if (plan != NULL) {
		(void)pctl_run_places(a->r, n, plan, left, a, places, &placed);
		(void)pctl_num_add(a->alive, pctl_run_own_bytes(n, plan) - placed, &n->peak_beside);
	}
	for (uint32_t i = 0; i < n->node->n_out; i++)
		if (n->recalled == NULL || n->values[i] != NULL)
			(void)pctl_num_add(a->alive, n->out_bytes[i], &a->alive);
	for (uint32_t i = 0; i < (n->group == NULL ? 1 : n->group->n_jobs); i++)
		done_with(a, n->group == NULL ? n : &a->r->nodes[n->group->jobs[i]]);
	for (uint32_t i = 0; i < n->node->n_out; i++)
		if (n->needed[i] == 0)
			take(&a->alive, n->out_bytes[i]);
}

/* How many read each output, at the beginning: users[] goes down as the run goes on. */
static void count_users(struct ahead *a)
{
	const pctl_graph *g = a->r->graph;

	for (uint32_t i = 0; i < g->n_nodes; i++)
		for (uint32_t k = 0; k < g->nodes[i].n_in; k++) {
			const pctl_source s = g->nodes[i].in[k];

			if (s.job == PCTL_FROM_INPUT)
				a->input_users[s.port]++;
			else
				a->users[s.job][s.port]++;
		}
	for (uint32_t i = 0; i < g->pipeline->n_outputs; i++)
		if (g->outputs[i].job == PCTL_FROM_INPUT)
			a->input_users[g->outputs[i].port]++;
		else
			a->users[g->outputs[i].job][g->outputs[i].port]++;
}

pctl_status pctl_run_foresee(pctl_running *r, uint32_t to, uint64_t *peak)
{
	const pctl_graph *g = r->graph;
	struct ahead a = {.r = r,
			  .users = calloc(g->n_nodes + 1u, sizeof(*a.users)),
			  .input_users = calloc(g->pipeline->n_inputs + 1u, sizeof(uint32_t)),
			  .input_alive = calloc(g->pipeline->n_inputs + 1u, 1)};
	pctl_status status = PCTL_OK;

	*peak = 0;
	if (a.users == NULL || a.input_users == NULL || a.input_alive == NULL)
		status = pctl_no_memory(r->call, "a run");
	else
		count_users(&a);
	for (uint32_t i = 0; status == PCTL_OK && i < to; i++) {
		pctl_run_node *n = &r->nodes[g->order[i]];

		step(&a, n);
		if (n->peak_beside > *peak)
			*peak = n->peak_beside;
	}
	free(a.users);
	free(a.input_users);
	free(a.input_alive);
	return status;
}

/* A value on another device takes nothing of this one: where jobs are placed, each is judged alone. */
pctl_status pctl_run_check_memory(const pctl_running *r, const pctl_run_node *n,
				  const pctl_session *s, const pctl_call *call)
{
	const uint64_t most = pctl_run_budget(r, s);

	if (most == 0 || n->peak_beside - n->idle_beside <= most || n->canonical == NULL)
		return PCTL_OK;
	for (uint32_t i = 0; i < r->graph->n_nodes; i++)
		if (r->graph->nodes[i].job->placement != NULL)
			return PCTL_OK;
	return pctl_refuse(call, PC5204_MEMORY,
			   "%s: at job \"%s\" %" PRIu64
			   " bytes of device memory are needed, with what other jobs left there, "
			   "there are %" PRIu64,
			   pctl_session_name(s), n->node->job->id, n->peak_beside - n->idle_beside,
			   most);
}

uint64_t pctl_run_budget(const pctl_running *r, const pctl_session *s)
{
	return pctl_policy_least(pctl_session_caps(s)->memory_bytes, r->o->memory_bytes);
}

void pctl_run_make_room(pctl_running *r, const pctl_run_node *n, const pctl_job_plan *plan,
			uint64_t placed)
{
	const uint64_t most = pctl_run_budget(r, n->session);
	uint64_t need = r->alive_bytes;

	for (uint32_t i = 0; i < r->graph->pipeline->n_inputs; i++)
		if (!r->input_alive[i] && reads(n, i))
			(void)pctl_num_add(need, input_bytes(r, i), &need);
	(void)pctl_num_add(need, pctl_run_own_bytes(n, plan) - placed, &need);
	if (most == 0 || need <= most)
		return;
	for (uint32_t i = 0; i < r->graph->pipeline->n_inputs; i++) {
		if (!r->input_alive[i] || r->inputs[i] == NULL || reads(n, i))
			continue;
		pctl_value_leave(r->inputs[i]);
		r->input_alive[i] = 0;
		r->alive_bytes -= pctl_value_bytes(r->inputs[i]);
	}
}
