/* A run from inputs to stored outputs. The order is the promise: everything that can be refused is
 * refused before a device is touched, and nothing is stored before everything has succeeded. */
#include "runtime/exec/run_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/map.h"
#include "foundation/base/num.h"
#include "foundation/diag/diag.h"
#include "foundation/base/clock.h"
#include "foundation/base/hash.h"

void pctl_run_result_destroy(pctl_run_result *r)
{
	if (r != NULL)
		pctl_arena_destroy(r->arena); /* which holds r itself */
}

static pctl_run_result *result_create(void)
{
	pctl_arena *arena = pctl_arena_create();
	pctl_run_result *result = arena == NULL ? NULL : pctl_arena_alloc(arena, sizeof(*result));

	if (result == NULL)
		pctl_arena_destroy(arena);
	else
		result->arena = arena;
	return result;
}

static void add_user(pctl_running *r, pctl_source s)
{
	if (s.job == PCTL_FROM_INPUT)
		r->input_users[s.port]++;
	else
		r->nodes[s.job].users[s.port]++;
}

static pctl_status set_up(pctl_running *r, const pctl_graph *g, const pctl_run_options *o,
			  const pctl_call *call)
{
	const pctl_pipeline *p = g->pipeline;

	*r = (pctl_running){.graph = g, .o = o, .call = call, .result = result_create()};
	if (r->result == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory for a run");
	r->sources = pctl_arena_array(r->result->arena, p->n_inputs, sizeof(pctl_data_source *));
	r->inputs = pctl_arena_array(r->result->arena, p->n_inputs, sizeof(pctl_value *));
	r->input_types = pctl_arena_array(r->result->arena, p->n_inputs, sizeof(*r->input_types));
	r->input_alive = pctl_arena_array(r->result->arena, p->n_inputs, 1);
	r->input_users = pctl_arena_array(r->result->arena, p->n_inputs, sizeof(*r->input_users));
	r->nodes = pctl_arena_array(r->result->arena, g->n_nodes, sizeof(*r->nodes));
	r->result->outputs =
		pctl_arena_array(r->result->arena, p->n_outputs, sizeof(*r->result->outputs));
	r->result->jobs = pctl_arena_array(r->result->arena, g->n_nodes, sizeof(*r->result->jobs));
	r->result->inputs =
		pctl_arena_array(r->result->arena, p->n_inputs, sizeof(*r->result->inputs));
	r->input_evidence =
		pctl_arena_array(r->result->arena, p->n_inputs, sizeof(*r->input_evidence));
	r->dims = pctl_map_create();
	if (r->sources == NULL || r->inputs == NULL || r->input_users == NULL ||
	    r->input_alive == NULL || r->input_types == NULL || r->nodes == NULL ||
	    r->input_evidence == NULL || r->dims == NULL || r->result->inputs == NULL ||
	    r->result->outputs == NULL || r->result->jobs == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory for a run");
	if (o->flags & PCTL_RUN_NATIVE && p->max_class != PCTL_CLASS_APPROXIMATE)
		return pctl_refuse(call, PC5215_NATIVE_FORMS, "the pipeline's class is %s",
				   pctl_class_name(p->max_class));
	for (uint32_t i = 0; i < g->n_nodes; i++)
		r->nodes[i].node = &g->nodes[i];
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		for (uint32_t k = 0; k < g->nodes[i].n_in; k++) {
			add_user(r, g->nodes[i].in[k]);
		}
	}
	for (uint32_t i = 0; i < p->n_outputs; i++)
		add_user(r, g->outputs[i]);
	return PCTL_OK;
}

static void tear_down(pctl_running *r)
{
	for (uint32_t i = 0; r->nodes != NULL && i < r->graph->n_nodes; i++)
		pctl_run_node_clear(&r->nodes[i]);
	for (uint32_t i = 0; r->inputs != NULL && i < r->graph->pipeline->n_inputs; i++)
		pctl_value_release(r->inputs[i]);
	pctl_run_close_sessions(r);
	for (uint32_t i = 0; r->sources != NULL && i < r->graph->pipeline->n_inputs; i++)
		pctl_source_close(r->sources[i]);
	pctl_map_destroy(r->dims);
}

pctl_status pctl_run_check_gas(pctl_running *r)
{
	const pctl_pipeline *p = r->graph->pipeline;
	uint64_t limit = UINT64_MAX;
	const pctl_pos *pos = NULL;

	if (p->has_gas_limit) {
		limit = p->gas_limit;
		pos = &p->gas_pos;
	}
	if (r->o->has_gas_limit && r->o->gas_limit < limit) {
		limit = r->o->gas_limit;
		pos = NULL;
	}
	if (r->gas <= limit)
		return PCTL_OK;
	return pctl_refuse_at(r->call, PC5211_GAS_LIMIT, pos, NULL,
			      "this run needs %" PRIu64 " gas, the limit is %" PRIu64, r->gas,
			      limit);
}

/* Plan nodes in order from *next on, as far as sizes are known; *next is the first that could not
 * be. */
static pctl_status plan_ahead(pctl_running *r, uint32_t *next)
{
	while (*next < r->graph->n_nodes) {
		pctl_run_node *n = &r->nodes[r->graph->order[*next]];
		uint32_t blocked;
		pctl_status status = pctl_run_plan_node(r, n, &blocked);

		if (status != PCTL_OK || blocked)
			return status;
		status = pctl_run_check_policy(r, n, n->canonical, n->gas);
		if (status != PCTL_OK)
			return status;
		if (!pctl_num_add(r->gas, n->gas, &r->gas))
			return pctl_refuse(r->call, PC5211_GAS_LIMIT,
					   "the gas of this run does not fit in 64 bits");
		(*next)++;
	}
	return PCTL_OK;
}

/* The values that feed a node, in port order. */
static void inputs_of(const pctl_running *r, const pctl_run_node *n, pctl_value **in)
{
	for (uint32_t i = 0; i < n->node->n_in; i++) {
		pctl_source s = n->node->in[i];

		in[i] = s.job == PCTL_FROM_INPUT ? r->inputs[s.port]
						 : r->nodes[s.job].values[s.port];
	}
}

static void done_with(pctl_running *r, const pctl_run_node *n)
{
	for (uint32_t i = 0; i < n->node->n_in; i++) {
		pctl_source s = n->node->in[i];
		pctl_run_node *producer;

		if (s.job == PCTL_FROM_INPUT) {
			if (--r->input_users[s.port] == 0) {
				r->alive_bytes -= pctl_value_bytes(r->inputs[s.port]);
				pctl_value_release(r->inputs[s.port]);
				r->inputs[s.port] = NULL;
			}
			continue;
		}
		producer = &r->nodes[s.job];
		if (--producer->users[s.port] == 0) {
			r->alive_bytes -= producer->out_bytes[s.port];
			pctl_value_release(producer->values[s.port]);
			producer->values[s.port] = NULL;
		}
	}
}

/* Note the most that lies on devices at once: what is alive, inputs of the run from their first use
 * on, and what the job makes for itself. */
static void note_peak(pctl_running *r, const pctl_run_node *n, const pctl_job_plan *plan)
{
	uint64_t peak;

	for (uint32_t i = 0; i < n->node->n_in; i++) {
		pctl_source s = n->node->in[i];

		if (s.job != PCTL_FROM_INPUT || r->input_alive[s.port])
			continue;
		r->input_alive[s.port] = 1;
		r->alive_bytes += pctl_value_bytes(r->inputs[s.port]);
	}
	(void)pctl_num_add(r->alive_bytes, pctl_run_own_bytes(n, plan), &peak);
	if (peak > r->result->peak_bytes)
		r->result->peak_bytes = peak;
}

static void tell_progress(void *ctx, uint64_t done, uint64_t total)
{
	const pctl_run_job *job = ((void **)ctx)[1];
	const pctl_running *r = ((void **)ctx)[0];

	if (r->o->progress != NULL)
		r->o->progress(r->o->progress_ctx, job->id, done, total);
}

/* Which jobs are recomputed under verify_ppm: a fixed pick from the key of the run, so that a
 * repeat picks alike. */
static int is_sampled(const pctl_running *r, uint32_t index)
{
	uint64_t h = 0x9e3779b97f4a7c15ull * (index + 1u);

	h = pctl_fnv64(h, r->result->memo_key, 8);
	h ^= h >> 32;
	return h % 1000000u < r->o->verify_ppm;
}

/* Is this node to be shown right by the reference. The reference agreeing with itself shows nothing. */
static uint32_t is_checked(const pctl_running *r, const pctl_run_node *n, uint32_t index)
{
	return r->o->verify_ppm != 0 && is_sampled(r, index) &&
	       pctl_session_kind(n->session) != PCTL_DEVICE_REFERENCE;
}

static void describe(pctl_running *r, const pctl_run_node *n, pctl_run_job *job)
{
	const pctl_graph_node *node = n->node;

	job->id = node->job->id;
	job->what = node->job->kind == PCTL_JOB_OP
			    ? pctl_arena_printf(r->result->arena, "%s@%" PRIu32,
						node->op.desc->name, node->op.desc->version)
			    : (node->job->shader == NULL ? node->job->id : node->job->shader);
	job->repeat = node->repeat;
	job->gas = n->gas;
	job->buffer_bytes = n->canonical->buffer_bytes;
	job->determinism = n->canonical->determinism;
	job->race = n->canonical->race;
	job->order_shows = n->canonical->order != NULL;
	job->races = pctl_run_race_evidence(r, n->tuned != NULL ? n->tuned : n->canonical);
	for (uint32_t i = 0; i < n->canonical->n_steps; i++)
		job->n_kernels += n->canonical->steps[i].kind == PCTL_STEP_KERNEL;
	if (n->session != NULL) {
		job->device = pctl_arena_dup(r->result->arena, pctl_session_id(n->session));
		job->device_name = pctl_arena_dup(r->result->arena, pctl_session_name(n->session));
	}
}

static pctl_status place(pctl_running *r, pctl_run_node *n)
{
	n->session = r->main;
	return n->node->job->placement == NULL || r->o->flags & PCTL_RUN_UNPLACED
		       ? PCTL_OK
		       : pctl_run_session(r, n->node->job->placement, &n->session);
}

/* A session that the node fits: its own, or where that was not named for it the next candidate. What the first one refused
 * is told when there is no other. */
static pctl_status settle(pctl_running *r, pctl_run_node *n, pctl_job_plan **tuned)
{
	pctl_diag_list *said = pctl_diag_list_create();
	pctl_status status;

	*tuned = NULL;
	if (said == NULL)
		return pctl_refuse(r->call, PC2_NOMEM, "no memory for a run");
	pctl_diag_list_set_cancel(said, r->call->cancelled, r->call->ctx);
	status = place(r, n);
	if (status == PCTL_OK)
		status = pctl_run_fits(r, n, n->session, pctl_diag_list_call(said), tuned);
	if (status == PCTL_E_UNSUPPORTED || status == PCTL_E_LIMIT) {
		pctl_diag_list *further = pctl_diag_list_create();

		if (further != NULL) {
			pctl_diag_list_set_cancel(further, r->call->cancelled, r->call->ctx);
			if (pctl_run_move(r, n, pctl_diag_list_call(further), tuned)) {
				pctl_diag_list_destroy(said);
				said = further;
				further = NULL;
				status = PCTL_OK;
			}
		}
		pctl_diag_list_destroy(further);
	}
	for (uint32_t i = 0; i < pctl_diag_list_count(said); i++)
		(void)pctl_emit(r->call, pctl_diag_list_at(said, i));
	pctl_diag_list_destroy(said);
	return status;
}

/* The node on its session, with the plan that runs there; done once. */
static pctl_status make_ready(pctl_running *r, pctl_run_node *n)
{
	pctl_status status;

	if (n->ready)
		return PCTL_OK;
	status = settle(r, n, &n->tuned);
	if (status == PCTL_OK && n->tuned != NULL && n->tuned->race != n->canonical->race)
		status = pctl_run_check_race_policy(r, n, n->tuned, n->gas);
	n->ready = status == PCTL_OK;
	return status;
}

/* What a counting session saw, priced by the schedule of the run. */
static pctl_status add_actual_gas(pctl_running *r, const pctl_run_job *job)
{
	uint64_t actual;
	pctl_status status;

	if (job->stats.counts.lane_ops == 0)
		return PCTL_OK;
	status = pctl_gas_actual(r->o->schedule, &job->stats.counts, r->call, &actual);
	if (status == PCTL_OK &&
	    !pctl_num_add(r->result->actual_gas, actual, &r->result->actual_gas))
		status = pctl_refuse(r->call, PC5211_GAS_LIMIT,
				     "the gas counted does not fit in 64 bits");
	return status;
}

static pctl_status run_node(pctl_running *r, uint32_t index)
{
	pctl_run_node *n = &r->nodes[index];
	pctl_run_job *job = &r->result->jobs[r->result->n_jobs];
	void *progress_ctx[2] = {r, job};
	pctl_run_observer observe = {r, n, job};
	pctl_job_run run = {.repeat = n->node->repeat,
			    .carry = n->node->carry,
			    .out_bytes = n->out_bytes,
			    .timeout_ms = r->o->policy->time_ms,
			    .progress = tell_progress,
			    .progress_ctx = progress_ctx,
			    .observer = &observe,
			    .observed_ctx = &observe};
	pctl_value *in[PCTL_PORTS_MAX];
	pctl_shape shape;
	pctl_status status = make_ready(r, n);

	run.plan = n->tuned != NULL ? n->tuned : n->canonical;
	pctl_run_limit_job(r, n, &run);
	inputs_of(r, n, in);
	if (status == PCTL_OK)
		status = pctl_run_check_maxima(r, &run, in);
	if (status != PCTL_OK)
		return status;
	status = pctl_run_first_builds(r, n, run.plan);
	if (status != PCTL_OK)
		return status;
	run.held = is_checked(r, n, index);
	if (pctl_session_kind(n->session) != PCTL_DEVICE_REFERENCE) {
		shape = pctl_shape_next(&r->shapes, pctl_session_caps(n->session));
		shape.thorough = 0; /* as three of four are in a proof: it costs a run little */
		run.shape = &shape;
	}
	status = pctl_run_check_races(r, n, &run, in);
	if (status != PCTL_OK)
		return status;
	describe(r, n, job);
	r->result->trusted |= job->races == PCTL_RACES_UNPROVEN;
	note_peak(r, n, run.plan);
	status = pctl_job_execute(n->session, &run, in, r->call, n->values, &job->stats);
	if (run.held && (status == PCTL_OK || status == PCTL_E_EXEC)) {
		status = pctl_run_verify(r, n, &run, in, status);
		job->verified = status == PCTL_OK;
	}
	if (status == PCTL_OK && r->o->agreed != NULL)
		status = pctl_run_check_agreed(r, n);
	n->evidence = job->evidence = pctl_run_evidence_of(r, n, (int)job->verified);
	if (status == PCTL_OK)
		status = add_actual_gas(r, job);
	if (status == PCTL_OK)
		status = pctl_run_observe(&observe, &run);
	if (status != PCTL_OK)
		return status;
	for (uint32_t i = 0; i < n->node->n_out; i++)
		r->alive_bytes += n->out_bytes[i];
	r->result->n_jobs++;
	done_with(r, n);
	for (uint32_t i = 0; i < n->node->n_out; i++) {
		if (n->users[i] == 0) {
			pctl_value_release(n->values[i]);
			n->values[i] = NULL;
			r->alive_bytes -= n->out_bytes[i];
		}
	}
	return PCTL_OK;
}

static pctl_status measure_node(pctl_running *r, uint32_t index)
{
	pctl_run_node *n = &r->nodes[index];
	pctl_value *in[PCTL_PORTS_MAX];
	pctl_attr *slot = &n->measured[n->n_measured];
	pctl_job_plan *tuned;
	pctl_session *s = NULL;
	uint64_t gas = 0;
	pctl_status status = pctl_job_plan_gas(n->measure, r->o->schedule, 1, 0, r->call, &gas);

	/* Looking for a size is work like any other: allowed, priced and within the limit before it
	 * runs. */
	if (status == PCTL_OK)
		status = pctl_run_check_policy(r, n, n->measure, gas);
	if (status == PCTL_OK && !pctl_num_add(r->gas, gas, &r->gas))
		status = pctl_refuse(r->call, PC5211_GAS_LIMIT,
				     "the gas of this run does not fit in 64 bits");
	if (status == PCTL_OK)
		status = pctl_run_check_gas(r);
	if (status == PCTL_OK)
		status = settle(r, n, &tuned); /* of a measure there is none */
	inputs_of(r, n, in);
	if (status == PCTL_OK)
		status = pctl_run_check_measure(r, n, &s);
	if (status == PCTL_OK)
		status = pctl_job_measure(s, n->measure, in, r->o->policy->time_ms, r->call,
					  &slot->u64);
	/* Where races are looked for, the reference itself measured. */
	if ((status == PCTL_OK || status == PCTL_E_EXEC) && s != NULL &&
	    pctl_session_kind(s) != PCTL_DEVICE_REFERENCE && is_checked(r, n, index))
		status = pctl_run_verify_measure(r, n, in, status, slot->u64);
	if (status != PCTL_OK)
		return status;
	slot->text = pctl_arena_printf(r->result->arena, "%" PRIu64, slot->u64);
	n->n_measured++;
	return PCTL_OK;
}

static pctl_status run_nodes(pctl_running *r)
{
	uint32_t planned = 0;
	pctl_status status = plan_ahead(r, &planned);

	r->executes = 1;
	if (status == PCTL_OK)
		status = pctl_run_check_gas(r);
	if (status == PCTL_OK)
		status = pctl_shapes_draw(r->call, &r->shapes.seed);
	if (status == PCTL_OK)
		status = pctl_shapes_block(&r->shapes, 0, r->call);
	if (status == PCTL_OK)
		status = pctl_run_choose(r);
	/* A job that cannot run where it is placed is refused before the first one runs. */
	for (uint32_t i = 0; status == PCTL_OK && i < planned; i++)
		status = make_ready(r, &r->nodes[r->graph->order[i]]);
	for (uint32_t i = 0; status == PCTL_OK && i < r->graph->n_nodes;) {
		if (i < planned) {
			uint32_t job = r->graph->order[i++];

			status = run_node(r, job);
			if (r->o->limit != NULL && r->o->limit->job == job)
				break;
			continue;
		}
		status = measure_node(r, r->graph->order[i]);
		if (status == PCTL_OK)
			status = plan_ahead(r, &planned);
		if (status == PCTL_OK)
			status = pctl_run_check_gas(r);
	}
	return status;
}

static pctl_status finish(pctl_running *r, pctl_status status, uint64_t started,
			  pctl_run_result **out)
{
	tear_down(r);
	if (status != PCTL_OK) {
		pctl_run_result_destroy(r->result);
		return status;
	}
	r->result->gas = r->gas;
	r->result->wall_ns = pctl_clock_ns() - started;
	*out = r->result;
	return PCTL_OK;
}

static int is_verified(const pctl_run_result *r)
{
	for (uint32_t i = 0; i < r->n_jobs; i++)
		if (r->jobs[i].verified)
			return 1;
	return 0;
}

pctl_status pctl_run(const pctl_graph *g, const pctl_run_options *o, const pctl_call *call,
		     pctl_run_result **out)
{
	uint64_t started = pctl_clock_ns();
	pctl_running r;
	pctl_status status = set_up(&r, g, o, call);

	*out = NULL;
	if (status == PCTL_OK)
		status = pctl_run_bind_inputs(&r);
	if (status == PCTL_OK)
		status = pctl_run_memo_key(&r, r.result->memo_key);
	if (status == PCTL_OK)
		pctl_run_know_inputs(&r);
	if (status == PCTL_OK && pctl_run_memo_allowed(&r)) {
		if (pctl_run_from_memo(&r)) {
			r.result->has_gas = 1;
			return finish(&r, pctl_run_keep_inputs(&r), started, out);
		}
		if (r.result->memoised)
			return finish(&r, PCTL_E_GAS, started, out);
	}
	if (status == PCTL_OK)
		status = run_nodes(&r);
	if (status == PCTL_OK && r.result->n_jobs == 0)
		status = pctl_refuse(call, PC5209_NOTHING, "no job was executed");
	if (status == PCTL_OK && o->verify_ppm == 1000000 && !is_verified(r.result))
		pctl_warn_at(call, PC5209_NOTHING, NULL, "name another device with --backend",
			     "every job ran on the reference itself: nothing was verified");
	if (status == PCTL_OK)
		status = pctl_run_settle(&r);
	if (status == PCTL_OK && o->observe == NULL)
		status = pctl_run_keep_inputs(&r);
	if (status == PCTL_OK && o->observe == NULL)
		status = pctl_run_store_outputs(&r);
	if (status == PCTL_OK && o->observe == NULL && o->memo != NULL &&
	    o->policy->memo != PCTL_MEMO_OFF && !(o->flags & PCTL_RUN_FRESH) &&
	    !r.result->trusted && g->pipeline->n_outputs <= PCTL_MEMO_OUTPUTS_MAX)
		pctl_run_to_memo(&r);
	if (status == PCTL_OK)
		r.result->has_gas = 1;
	return finish(&r, status, started, out);
}

pctl_status pctl_run_plan(const pctl_graph *g, const pctl_run_options *o, const pctl_call *call,
			  pctl_run_result **out)
{
	uint64_t started = pctl_clock_ns();
	uint32_t planned = 0;
	pctl_running r;
	pctl_status status = set_up(&r, g, o, call);

	*out = NULL;
	if (status == PCTL_OK)
		status = pctl_run_bind_inputs(&r);
	if (status == PCTL_OK)
		status = plan_ahead(&r, &planned);
	if (status == PCTL_OK)
		status = pctl_run_check_gas(&r);
	if (status == PCTL_OK && !(o->flags & PCTL_RUN_NO_DEVICE))
		status = pctl_run_choose(&r);
	for (uint32_t i = 0; status == PCTL_OK && i < planned; i++) {
		pctl_run_node *n = &r.nodes[g->order[i]];

		if (!(o->flags & PCTL_RUN_NO_DEVICE))
			status = make_ready(&r, n);
		if (status == PCTL_OK) {
			describe(&r, n, &r.result->jobs[r.result->n_jobs++]);
			if (n->canonical->buffer_bytes + pctl_run_second_bytes(n, n->canonical) >
			    r.result->peak_bytes)
				r.result->peak_bytes = n->canonical->buffer_bytes +
						       pctl_run_second_bytes(n, n->canonical);
		}
	}
	if (status == PCTL_OK && planned < g->n_nodes)
		r.result->stopped_at = g->nodes[g->order[planned]].job->id;
	if (status == PCTL_OK)
		r.result->has_gas = planned == g->n_nodes;
	return finish(&r, status, started, out);
}
