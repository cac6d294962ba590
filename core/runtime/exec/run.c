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
	if (s.job == PCTL_FROM_INPUT) {
		r->input_users[s.port]++;
	} else {
		r->nodes[s.job].users[s.port]++;
		r->nodes[s.job].needed[s.port] = 1;
	}
}

pctl_status pctl_run_set_up(pctl_running *r, const pctl_graph *g, const pctl_run_options *o,
			    const pctl_call *call)
{
	const pctl_pipeline *p = g->pipeline;

	*r = (pctl_running){.graph = g, .o = o, .call = call, .result = result_create()};
	if (r->result == NULL)
		return pctl_no_memory(call, "a run");
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
	r->sets = pctl_tensor_sets_create();
	if (r->sources == NULL || r->inputs == NULL || r->input_users == NULL ||
	    r->input_alive == NULL || r->input_types == NULL || r->nodes == NULL ||
	    r->input_evidence == NULL || r->dims == NULL || r->sets == NULL ||
	    r->result->inputs == NULL || r->result->outputs == NULL || r->result->jobs == NULL)
		return pctl_no_memory(call, "a run");
	if (o->flags & PCTL_RUN_NATIVE && p->max_class != PCTL_CLASS_APPROXIMATE)
		return pctl_refuse(call, PC5215_NATIVE_FORMS, "the pipeline's class is %s",
				   pctl_class_name(p->max_class));
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		r->nodes[i].node = &g->nodes[i];
		r->nodes[g->order[i]].place = i;
	}
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		for (uint32_t k = 0; k < g->nodes[i].n_in; k++) {
			add_user(r, g->nodes[i].in[k]);
		}
	}
	for (uint32_t i = 0; i < p->n_outputs; i++)
		add_user(r, g->outputs[i]);
	return PCTL_OK;
}

void pctl_run_tear_down(pctl_running *r)
{
	for (uint32_t i = 0; r->nodes != NULL && i < r->graph->n_nodes; i++)
		pctl_run_node_clear(&r->nodes[i]);
	for (uint32_t i = 0; r->inputs != NULL && i < r->graph->pipeline->n_inputs; i++)
		pctl_value_release(r->inputs[i]);
	pctl_run_forget(r);
	pctl_run_close_sessions(r);
	for (uint32_t i = 0; r->sources != NULL && i < r->graph->pipeline->n_inputs; i++)
		if (!pctl_run_is_borrowed(r, i))
			pctl_source_close(r->sources[i]);
	pctl_tensor_sets_destroy(r->sets);
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

pctl_status pctl_run_plan_ahead(pctl_running *r, uint32_t *next)
{
	pctl_status checked;
	uint64_t peak;

	while (*next < r->graph->n_nodes) {
		pctl_run_node *n = &r->nodes[r->graph->order[*next]];
		uint32_t blocked = 0;
		pctl_status status =
			n->recalled != NULL ? PCTL_OK : pctl_run_plan_node(r, n, &blocked);

		if (status == PCTL_OK && blocked)
			return pctl_run_foresee(r, *next, &peak);
		if (status != PCTL_OK)
			return status;
		if (n->recalled == NULL)
			status = pctl_run_check_policy(r, n, n->canonical, n->gas);
		if (status != PCTL_OK)
			return status;
		/* What a result costs belongs to the question, remembered or not; found sizes are added when they are
		 * found. */
		if (!pctl_num_add(r->gas, n->gas, &r->gas) ||
		    (n->recalled != NULL && !pctl_num_add(r->gas, n->size_gas, &r->gas)))
			return pctl_refuse(r->call, PC5211_GAS_LIMIT,
					   "the gas of this run does not fit in 64 bits");
		(*next)++;
	}
	checked = pctl_run_check_states(r);
	return checked != PCTL_OK ? checked : pctl_run_foresee(r, *next, &peak);
}

/* The values that feed a node, in port order; of a group, those that its kernel reads. */
static void inputs_of(const pctl_running *r, const pctl_run_node *n, pctl_value **in)
{
	uint32_t count;
	const pctl_source *sources = pctl_run_sources(n, &count);

	for (uint32_t i = 0; i < count; i++) {
		const pctl_source s = sources[i];

		in[i] = s.job == PCTL_FROM_INPUT ? r->inputs[s.port]
						 : r->nodes[s.job].values[s.port];
	}
}

/* Pieces of work for the sample: a node's job, then each size that is found in its data. */
static uint64_t piece_of(uint32_t index, uint32_t which)
{
	return ((uint64_t)index << 8) + which;
}

/* May the reference be asked about what this session does. The reference agreeing with itself shows nothing. */
static uint32_t is_held(const pctl_running *r, const pctl_session *s)
{
	return r->o->verify_ppm != 0 && pctl_session_kind(s) != PCTL_DEVICE_REFERENCE;
}

/* A job of a device that may be asked about: whether it is, is decided when all it gave has been read, in one way for all. */
static pctl_status verify_node(pctl_running *r, uint32_t index, const pctl_job_run *run,
			       pctl_value *const *in, pctl_status device, uint32_t *verified)
{
	pctl_run_node *n = &r->nodes[index];
	pctl_status status = device;
	uint64_t began = pctl_clock_ns();
	const uint8_t *read;

	for (uint32_t i = 0; status == PCTL_OK && i < n->node->n_out; i++)
		status = pctl_value_hold(n->values[i], r->call, &read);
	status = pctl_run_end_stage(r, n, PCTL_STAGE_READ, began, status);
	if (status != device || !pctl_sample_has(&r->sample, piece_of(index, 0)))
		return status;
	began = pctl_clock_ns();
	status = pctl_run_verify(r, n, run, in, device);
	*verified = status == PCTL_OK;
	return pctl_run_end_stage(r, n, PCTL_STAGE_VERIFY, began, status);
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

/* A job whose output nothing but the kernel of its group reads. */
static pctl_status pass_within(pctl_running *r, pctl_run_node *n)
{
	pctl_status status = pctl_run_make_ready(r, n);

	if (status == PCTL_OK && pctl_run_is_within(r, n))
		pctl_run_describe(r, n, &r->result->jobs[r->result->n_jobs++]);
	return status;
}

/* A job that is not run again: its outputs lie in the store, and where others need them they are values already. */
static pctl_status take_recalled(pctl_running *r, pctl_run_node *n)
{
	pctl_run_result *result = r->result;
	pctl_run_job *job = &result->jobs[result->n_jobs++];

	pctl_run_describe(r, n, job);
	job->remembered = 1;
	job->evidence = n->evidence;
	result->n_remembered++;
	/* Sums of what the run's gas has already, and of time, which nobody counts on. */
	result->saved_gas += n->gas + n->size_gas;
	result->saved_ns += job->saved_ns;
	for (uint32_t i = 0; i < n->node->n_out; i++)
		if (n->values[i] != NULL)
			r->alive_bytes += n->out_bytes[i];
	pctl_run_done_with(r, n);
	return PCTL_OK;
}

/* How the outputs of a node stand, and of the jobs of its group, of which it is the last. */
static void judge(pctl_running *r, pctl_run_node *n, int verified)
{
	for (uint32_t i = 0; i < (n->group == NULL ? 1 : n->group->n_jobs); i++) {
		pctl_run_node *one = n->group == NULL ? n : &r->nodes[n->group->jobs[i]];
		pctl_run_job *job = &r->result->jobs[one->place];

		job->verified = (uint32_t)verified;
		pctl_run_judge_evidence(r, one, verified);
		job->evidence = one->evidence;
	}
}

/* What a node has read, or its group, is let go. */
static void done_with(pctl_running *r, const pctl_run_node *n)
{
	for (uint32_t i = 0; i < (n->group == NULL ? 1 : n->group->n_jobs); i++)
		pctl_run_done_with(r, n->group == NULL ? n : &r->nodes[n->group->jobs[i]]);
}

static pctl_status run_node(pctl_running *r, uint32_t index)
{
	pctl_run_node *n = &r->nodes[index];
	pctl_run_job *job = &r->result->jobs[r->result->n_jobs];
	pctl_run_teller teller;
	pctl_value *in[PCTL_PORTS_MAX];
	pctl_run_observer observe = {r, n, job, in};
	pctl_job_run run = {.repeat = n->node->repeat,
			    .carry = n->node->carry,
			    .out_bytes = n->out_bytes,
			    .timeout_ms = r->o->policy->time_ms,
			    .progress = &teller.sink,
			    .observer = &observe,
			    .observed_ctx = &observe};
	const pctl_source *sources;
	uint8_t places[PCTL_PORTS_MAX];
	uint32_t n_sources;
	pctl_shape shape;
	uint64_t began, placed;
	pctl_status status = pctl_run_make_ready(r, n);

	run.plan = n->tuned != NULL ? n->tuned : n->canonical;
	if (n->group != NULL) {
		run.plan = n->group->plan;
		run.carry = NULL;
	}
	pctl_run_limit_job(r, n, &run);
	inputs_of(r, n, in);
	if (status == PCTL_OK)
		status = pctl_run_check_maxima(r, &run, in);
	if (status != PCTL_OK)
		return status;
	began = pctl_clock_ns();
	status = pctl_run_end_stage(r, n, PCTL_STAGE_BUILD, began,
				    pctl_run_first_builds(r, n, run.plan));
	if (status != PCTL_OK)
		return status;
	run.held = is_held(r, n->session);
	if (pctl_session_kind(n->session) != PCTL_DEVICE_REFERENCE) {
		shape = pctl_shape_next(&r->shapes, pctl_session_caps(n->session));
		shape.thorough = 0; /* as three of four are in a proof: it costs a run little */
		run.shape = &shape;
	}
	began = pctl_clock_ns();
	status = pctl_run_end_stage(r, n, PCTL_STAGE_RACES, began,
				    pctl_run_check_races(r, n, &run, in));
	if (status != PCTL_OK)
		return status;
	pctl_run_describe(r, n, job);
	r->result->trusted |= job->races == PCTL_RACES_UNPROVEN;
	n->trusted = job->races == PCTL_RACES_UNPROVEN;
	sources = pctl_run_sources(n, &n_sources);
	for (uint32_t i = 0; i < n_sources; i++)
		if (sources[i].job != PCTL_FROM_INPUT)
			n->trusted |= r->nodes[sources[i].job].trusted;
	status = pctl_run_take_places(r, n, &run, in, places, &placed);
	if (status != PCTL_OK)
		return status;
	pctl_run_make_room(r, n, run.plan, placed);
	pctl_run_note_peak(r, n, run.plan, placed);
	pctl_run_tell(&teller, r, n, "run", n->session);
	run.quiet_turns = !(pctl_session_build_flags(n->session) & PCTL_BUILD_SANITIZE);
	status = pctl_job_execute(n->session, &run, in, r->call, n->values, &job->stats);
	if (status == PCTL_E_EXEC && job->stats.exceeded != 0 && run.quiet_turns)
		status = pctl_run_name_turns(r, n, &run, in, (uint32_t)job->stats.exceeded - 1);
	run.quiet_turns = 0;
	if (status == PCTL_OK)
		status = pctl_run_note_job(r, n, &job->stats);
	if (run.held && (status == PCTL_OK || status == PCTL_E_EXEC))
		status = verify_node(r, index, &run, in, status, &job->verified);
	if (status == PCTL_OK && r->o->agreed != NULL)
		status = pctl_run_check_agreed(r, n);
	judge(r, n, (int)job->verified);
	if (status == PCTL_OK)
		status = add_actual_gas(r, job);
	if (status == PCTL_OK)
		status = pctl_run_observe(&observe, &run);
	began = pctl_clock_ns();
	if (status == PCTL_OK)
		status = pctl_run_keep(r, n);
	if (n->kept) /* what it gave was read for that */
		status = pctl_run_end_stage(r, n, PCTL_STAGE_READ, began, status);
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
	pctl_run_teller teller;
	uint64_t gas = 0, began;
	pctl_status status = pctl_job_plan_gas(n->measure, r->o->schedule, 1, 0, r->call, &gas);

	/* Looking for a size is work like any other: allowed, priced and within the limit before it
	 * runs. */
	if (status == PCTL_OK)
		status = pctl_run_check_policy(r, n, n->measure, gas);
	if (status == PCTL_OK && !pctl_num_add(r->gas, gas, &r->gas))
		status = pctl_refuse(r->call, PC5211_GAS_LIMIT,
				     "the gas of this run does not fit in 64 bits");
	n->size_gas += gas; /* at most the sum above */
	if (status == PCTL_OK)
		status = pctl_run_check_gas(r);
	began = pctl_clock_ns();
	if (status == PCTL_OK)
		status = pctl_run_settle_node(r, n, &tuned); /* of a measure there is none */
	status = pctl_run_end_stage(r, n, PCTL_STAGE_BUILD, began, status);
	inputs_of(r, n, in);
	if (status == PCTL_OK)
		status = pctl_run_check_measure(r, n, &s);
	began = pctl_clock_ns();
	if (status == PCTL_OK) {
		pctl_run_tell(&teller, r, n, "measure", s);
		status = pctl_job_measure(s, n->measure, in, r->o->policy->time_ms, &teller.sink,
					  r->call, &slot->u64);
		status = pctl_run_end_stage(r, n, PCTL_STAGE_MEASURE, began, status);
		began = pctl_clock_ns();
	}
	/* Where races are looked for, the reference itself measured. */
	if ((status == PCTL_OK || status == PCTL_E_EXEC) && s != NULL && is_held(r, s) &&
	    pctl_sample_has(&r->sample, piece_of(index, 1 + n->n_measured)))
		status = pctl_run_end_stage(r, n, PCTL_STAGE_VERIFY, began,
					    pctl_run_verify_measure(r, n, in, status, slot->u64));
	if (status != PCTL_OK)
		return status;
	slot->text = pctl_arena_printf(r->result->arena, "%" PRIu64, slot->u64);
	n->n_measured++;
	return PCTL_OK;
}

static pctl_status step_node(pctl_running *r, uint32_t job)
{
	pctl_run_node *n = &r->nodes[job];
	const uint32_t before = r->result->n_jobs;
	pctl_status status = PCTL_OK;

	if (n->recalled != NULL || n->spared)
		return take_recalled(r, n);
	if (pctl_run_is_within(r, n))
		status = pass_within(r, n);
	return status != PCTL_OK || r->result->n_jobs != before ? status : run_node(r, job);
}

static pctl_status run_nodes(pctl_running *r)
{
	uint32_t planned = 0;
	uint64_t began;
	pctl_status status = pctl_run_plan_ahead(r, &planned);

	r->executes = 1;
	if (status == PCTL_OK)
		status = pctl_run_check_gas(r);
	if (status == PCTL_OK)
		status = pctl_run_fuse(r, 0, planned);
	if (status == PCTL_OK && pctl_run_is_recalled(r)) {
		for (uint32_t i = 0; status == PCTL_OK && i < r->graph->n_nodes; i++)
			status = take_recalled(r, &r->nodes[r->graph->order[i]]);
		return status;
	}
	if (status == PCTL_OK)
		status = pctl_shapes_draw(r->call, &r->shapes.seed);
	if (status == PCTL_OK)
		status = pctl_shapes_block(&r->shapes, 0, r->call);
	if (status == PCTL_OK)
		status = pctl_sample_draw(r->o->verify_ppm, r->call, &r->sample);
	began = pctl_clock_ns();
	if (status == PCTL_OK)
		status = pctl_run_choose(r);
	status = pctl_run_end_stage(r, NULL, PCTL_STAGE_CHOOSE, began, status);
	/* A job that cannot run where it is placed is refused before the first one runs. */
	for (uint32_t i = 0; status == PCTL_OK && i < planned; i++)
		status = pctl_run_make_ready(r, &r->nodes[r->graph->order[i]]);
	for (uint32_t i = 0; status == PCTL_OK && i < r->graph->n_nodes;) {
		if (i < planned) {
			uint32_t job = r->graph->order[i++];

			status = step_node(r, job);
			if (r->o->limit != NULL && r->o->limit->job == job)
				break;
			continue;
		}
		status = measure_node(r, r->graph->order[i]);
		if (status == PCTL_OK)
			status = pctl_run_plan_ahead(r, &planned);
		if (status == PCTL_OK)
			status = pctl_run_fuse(r, i, planned);
		if (status == PCTL_OK)
			status = pctl_run_check_gas(r);
	}
	return status;
}

static pctl_status finish(pctl_running *r, pctl_status status, uint64_t started,
			  pctl_run_result **out)
{
	pctl_run_tear_down(r);
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

pctl_status pctl_run_once(const pctl_graph *g, const pctl_run_options *o, pctl_run_left *left,
			  const pctl_call *call, pctl_run_result **out)
{
	uint64_t started = pctl_clock_ns(), began = started;
	pctl_running r;
	pctl_status status = pctl_run_set_up(&r, g, o, call);

	*out = NULL;
	r.left = left;
	r.began_ns = started;
	if (status == PCTL_OK)
		status = pctl_run_bind_inputs(&r);
	if (status == PCTL_OK)
		status = pctl_run_key(&r, r.result->key);
	if (status == PCTL_OK)
		pctl_run_know_inputs(&r);
	status = pctl_run_end_stage(&r, NULL, PCTL_STAGE_INPUTS, began, status);
	began = pctl_clock_ns();
	if (status == PCTL_OK)
		status = pctl_run_recall(&r);
	status = pctl_run_end_stage(&r, NULL, PCTL_STAGE_RECALL, began, status);
	if (status == PCTL_OK)
		status = run_nodes(&r);
	if (status == PCTL_E_LIMIT)
		pctl_run_leave(&r);
	if (status == PCTL_OK && r.result->n_jobs == 0)
		status = pctl_refuse(call, PC5209_NOTHING, "no job was executed");
	if (status == PCTL_OK && o->verify_ppm == 1000000 && !is_verified(r.result))
		pctl_warn_at(call, PC5209_NOTHING, NULL, "name another device with --backend",
			     "every job ran on the reference itself: nothing was verified");
	if (status == PCTL_OK)
		status = pctl_run_settle(&r);
	began = pctl_clock_ns();
	if (status == PCTL_OK && o->observe == NULL)
		status = pctl_run_keep_inputs(&r);
	if (status == PCTL_OK && o->observe == NULL)
		status = pctl_run_end_stage(&r, NULL, PCTL_STAGE_STORE, began,
					    pctl_run_store_outputs(&r));
	began = pctl_clock_ns();
	if (status == PCTL_OK && pctl_run_remembers(&r)) {
		pctl_run_remember(&r);
		status = pctl_run_end_stage(&r, NULL, PCTL_STAGE_REMEMBER, began, status);
	}
	if (status == PCTL_OK) {
		r.result->memoised = (uint32_t)pctl_run_is_recalled(&r);
		r.result->has_gas = 1;
	}
	return finish(&r, status, started, out);
}

pctl_status pctl_run_plan(const pctl_graph *g, const pctl_run_options *o, const pctl_call *call,
			  pctl_run_result **out)
{
	uint64_t started = pctl_clock_ns();
	uint32_t planned = 0;
	pctl_running r;
	pctl_status status = pctl_run_set_up(&r, g, o, call);

	*out = NULL;
	if (status == PCTL_OK)
		status = pctl_run_bind_inputs(&r);
	if (status == PCTL_OK)
		status = pctl_run_plan_ahead(&r, &planned);
	if (status == PCTL_OK)
		status = pctl_run_check_gas(&r);
	if (status == PCTL_OK && !(o->flags & PCTL_RUN_NO_DEVICE))
		status = pctl_run_fuse(&r, 0, planned);
	if (status == PCTL_OK && !(o->flags & PCTL_RUN_NO_DEVICE))
		status = pctl_run_choose(&r);
	for (uint32_t i = 0; status == PCTL_OK && i < planned; i++) {
		pctl_run_node *n = &r.nodes[g->order[i]];

		if (!(o->flags & PCTL_RUN_NO_DEVICE))
			status = pctl_run_make_ready(&r, n);
		if (status == PCTL_OK)
			pctl_run_describe(&r, n, &r.result->jobs[r.result->n_jobs++]);
	}
	if (status == PCTL_OK)
		status = pctl_run_foresee(&r, planned, &r.result->peak_bytes);
	if (status == PCTL_OK && planned < g->n_nodes)
		r.result->stopped_at = g->nodes[g->order[planned]].job->id;
	if (status == PCTL_OK)
		r.result->has_gas = planned == g->n_nodes;
	return finish(&r, status, started, out);
}
