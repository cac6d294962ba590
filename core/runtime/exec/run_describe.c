/* What a run says of one job, run or remembered; and what lies on devices while it goes on. */
#include <inttypes.h>

#include "foundation/base/num.h"
#include "runtime/exec/run_private.h"

static void describe_recalled(const pctl_run_node *n, pctl_run_job *job)
{
	const pctl_recalled_job *was = n->recalled;

	job->remembered = 1;
	job->saved_ns = was->wall_ns;
	job->buffer_bytes = was->memory;
	job->peak_bytes = was->peak;
	job->determinism = was->determinism;
	job->race = was->proven ? PCTL_PROOF_PROVEN : PCTL_PROOF_UNPROVEN;
	job->races = was->proven ? PCTL_RACES_PROVEN : PCTL_RACES_CHECKED;
	job->n_kernels = was->kernels;
	job->evidence = n->evidence;
}

void pctl_run_describe(pctl_running *r, const pctl_run_node *n, pctl_run_job *job)
{
	const pctl_graph_node *node = n->node;

	job->id = node->job->id;
	job->what = node->job->kind == PCTL_JOB_OP
			    ? pctl_arena_printf(r->result->arena, "%s@%" PRIu32,
						node->op.desc->name, node->op.desc->version)
			    : (node->job->shader == NULL ? node->job->id : node->job->shader);
	job->repeat = node->repeat;
	job->gas = n->gas;
	job->size_gas = n->size_gas;
	job->memo_void = n->memo_void;
	job->out = n->out;
	job->n_out = node->n_out;
	if (n->recalled != NULL) {
		describe_recalled(n, job);
		return;
	}
	job->buffer_bytes = n->canonical->buffer_bytes;
	job->peak_bytes = pctl_run_peak_bytes(n, n->canonical);
	job->determinism = n->canonical->determinism;
	job->race = n->canonical->race;
	job->order_shows = n->canonical->order != NULL;
	job->races = pctl_run_race_evidence(r, n->tuned != NULL ? n->tuned : n->canonical);
	for (uint32_t i = 0; i < n->canonical->n_steps; i++)
		job->n_kernels += n->canonical->steps[i].kind == PCTL_STEP_KERNEL;
	if (n->group != NULL && n->group->plan != NULL)
		job->fused = 1 + r->nodes[n->group->root].place;
	if (n->session != NULL) {
		job->device = pctl_arena_dup(r->result->arena, pctl_session_id(n->session));
		job->device_name = pctl_arena_dup(r->result->arena, pctl_session_name(n->session));
	}
}

/* ---- what is alive ------------------------------------------------------------------------ */

/* One user less; behind the last one what is to be remembered stays with the host. */
static void let_go(pctl_running *r, pctl_run_node *n, uint32_t port)
{
	if (--n->users[port] != 0 || n->values[port] == NULL)
		return;
	r->alive_bytes -= n->out_bytes[port];
	if (n->kept) {
		pctl_value_leave(n->values[port]);
		return;
	}
	pctl_value_release(n->values[port]);
	n->values[port] = NULL;
}

void pctl_run_done_with(pctl_running *r, const pctl_run_node *n)
{
	for (uint32_t i = 0; i < n->node->n_in; i++) {
		pctl_source s = n->node->in[i];

		if (s.job == PCTL_FROM_INPUT) {
			if (--r->input_users[s.port] == 0) {
				if (r->input_alive[s.port])
					r->alive_bytes -= pctl_value_bytes(r->inputs[s.port]);
				pctl_value_release(r->inputs[s.port]);
				r->inputs[s.port] = NULL;
			}
			continue;
		}
		let_go(r, &r->nodes[s.job], s.port);
	}
}

/* Note the most that lies on devices at once: what is alive, inputs of the run from their first use
 * on, and what the job makes for itself. */
void pctl_run_note_peak(pctl_running *r, const pctl_run_node *n, const pctl_job_plan *plan,
			uint64_t placed)
{
	uint32_t count;
	const pctl_source *sources = pctl_run_sources(n, &count);
	uint64_t peak;

	for (uint32_t i = 0; i < count; i++) {
		const pctl_source s = sources[i];

		if (s.job != PCTL_FROM_INPUT || r->input_alive[s.port])
			continue;
		r->input_alive[s.port] = 1;
		r->alive_bytes += pctl_value_bytes(r->inputs[s.port]);
	}
	(void)pctl_num_add(r->alive_bytes, pctl_run_own_bytes(n, plan) - placed, &peak);
	if (peak > r->result->peak_bytes)
		r->result->peak_bytes = peak;
}
