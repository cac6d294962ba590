/* Outputs of a resident run that lie in the place of inputs (SEMANTICS.md 17.7): values that nothing reads afterwards, and states, of
 * which then no step makes a copy. */
#include "runtime/exec/resident_private.h"

uint32_t pctl_resident_kind_of(const pctl_resident *r, uint32_t node, uint32_t port,
			       uint32_t *number)
{
	const pctl_source *outputs = r->run.graph->outputs;

	for (*number = 0; *number < r->n_states; (*number)++) {
		const uint32_t o = r->next_output[*number];

		if (o != UINT32_MAX && outputs[o].job == node && outputs[o].port == port)
			return PCTL_SPAN_NEXT;
	}
	*number = 0;
	for (uint32_t i = 0; i < r->n_reads; i++)
		if (outputs[r->reads[i]].job == node && outputs[r->reads[i]].port == port)
			return PCTL_SPAN_ANSWER;
	return PCTL_SPAN_POOL;
}

/* Where in the order a job's commands stand: with those of its group. */
static uint32_t place_of(const pctl_resident *r, uint32_t node)
{
	const pctl_run_node *n = &r->run.nodes[node];

	return n->group == NULL ? n->place : r->run.nodes[n->group->root].place;
}

/* 1: the job reads it by one port, and no command reads it after those of the job. */
static int reads_last(const pctl_resident *r, uint32_t node, pctl_source s)
{
	const pctl_graph *g = r->run.graph;
	uint32_t own = 0;

	for (uint32_t i = 0; i < g->n_nodes; i++)
		for (uint32_t k = 0; k < g->nodes[i].n_in; k++) {
			if (g->nodes[i].in[k].job != s.job || g->nodes[i].in[k].port != s.port)
				continue;
			own += i == node;
			/* What runs 0 times hands it on to others. */
			if (i != node &&
			    (place_of(r, i) > place_of(r, node) || g->nodes[i].repeat == 0))
				return 0;
		}
	return own == 1;
}

void pctl_resident_places(const pctl_resident *r, uint32_t node, const pctl_job_plan *plan,
			  const uint32_t *span_of, uint8_t places[PCTL_PORTS_MAX])
{
	const pctl_run_node *n = &r->run.nodes[node];
	uint32_t number;

	for (uint32_t i = 0; i < PCTL_PORTS_MAX; i++)
		places[i] = 0;
	/* A state that the reference is asked about is wanted as it was. */
	if (n->group != NULL || n->node->repeat != 1 || r->o.verify_ppm != 0 ||
	    r->o.flags & PCTL_RUN_NO_PLACES)
		return;
	for (uint32_t i = 0; i < plan->n_out; i++) {
		const uint32_t input = plan->in_place[i] - 1u;
		const pctl_resident_span *s;
		uint32_t kind;

		if (plan->in_place[i] == 0 || !reads_last(r, node, n->node->in[input]))
			continue;
		s = &r->spans[span_of[input]];
		kind = pctl_resident_kind_of(r, node, i, &number);
		if (s->n_bytes != plan->buffers[plan->n_in + i].n_bytes)
			continue;
		if (kind == PCTL_SPAN_POOL && s->kind == PCTL_SPAN_POOL)
			places[i] = plan->in_place[i];
		if (kind == PCTL_SPAN_NEXT && s->kind == PCTL_SPAN_STATE && s->number == number &&
		    (r->number == 0 || r->family->states[r->held[number]].is_placed))
			places[i] = plan->in_place[i];
	}
}

int pctl_resident_takes_turns(const pctl_resident *r)
{
	for (uint32_t k = 0; k < r->n_states; k++)
		if (!r->family->states[r->held[k]].is_placed)
			return 1;
	return 0;
}

int pctl_resident_writes_in_place(const pctl_resident *r)
{
	for (uint32_t k = 0; r->writes_states && k < r->n_states; k++)
		if (r->family->states[r->held[k]].is_placed)
			return 1;
	return 0;
}
