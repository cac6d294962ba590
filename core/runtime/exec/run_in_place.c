/* Outputs in the place of inputs (SEMANTICS.md 17.7): where a plan may do it (runtime/graph/jobplan_in_place.c), and nothing else reads
 * the input afterwards. No result shows it. */
#include <string.h>

#include "runtime/exec/run_private.h"

/* Whoever looks into a job, or says again where it went wrong, wants what went in. */
static int may_place(const pctl_running *r, const pctl_run_node *n, const pctl_job_plan *plan)
{
	const pctl_run_options *o = r->o;

	if (o->flags & (PCTL_RUN_NO_PLACES | PCTL_RUN_SANITIZE | PCTL_RUN_POISON) ||
	    o->observe != NULL || o->trace != NULL || o->limit != NULL || n->group != NULL ||
	    n->node->repeat != 1)
		return 0;
	for (uint32_t i = 0; i < plan->n_buffers; i++)
		if (plan->buffers[i].kind == PCTL_PLAN_TURNS)
			return 0;
	return 1;
}

int pctl_run_places(const pctl_running *r, const pctl_run_node *n, const pctl_job_plan *plan,
		    uint32_t (*left)(const void *ctx, pctl_source s), const void *ctx,
		    uint8_t places[PCTL_PORTS_MAX], uint64_t *n_bytes)
{
	int any = 0;

	memset(places, 0, PCTL_PORTS_MAX);
	*n_bytes = 0;
	for (uint32_t i = 0; i < plan->n_out && may_place(r, n, plan); i++) {
		if (plan->in_place[i] == 0 || left(ctx, n->node->in[plan->in_place[i] - 1]) != 1)
			continue;
		places[i] = plan->in_place[i];
		*n_bytes += plan->buffers[plan->n_in + i].n_bytes;
		any = 1;
	}
	return any;
}

static uint32_t left_now(const void *running, pctl_source s)
{
	const pctl_running *r = running;

	return s.job == PCTL_FROM_INPUT ? r->input_users[s.port] : r->nodes[s.job].users[s.port];
}

pctl_status pctl_run_take_places(pctl_running *r, pctl_run_node *n, pctl_job_run *run,
				 pctl_value *const *in, uint8_t places[PCTL_PORTS_MAX],
				 uint64_t *n_bytes)
{
	pctl_status status = PCTL_OK;
	const uint8_t *held;

	if (!pctl_run_places(r, n, run->plan, left_now, r, places, n_bytes))
		return PCTL_OK;
	run->places = places;
	for (uint32_t i = 0; status == PCTL_OK && i < run->plan->n_out; i++) {
		const uint32_t place = places[i];

		if (place == 0)
			continue;
		if (in[place - 1]->references != 1) {
			places[i] = 0;
			*n_bytes -= run->plan->buffers[run->plan->n_in + i].n_bytes;
		} else if (run->held && in[place - 1]->source == NULL) {
			status = pctl_value_hold(in[place - 1], r->call, &held);
		}
	}
	return status;
}
