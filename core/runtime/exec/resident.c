/* Opening and closing resident runs: all that a run does before its first job, once, and then one list; see resident.h. */
#include "runtime/exec/resident.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/clock.h"
#include "runtime/exec/resident_private.h"

/* What a run may be asked that makes sense of jobs that run one by one alone. */
#define KNOWN_FLAGS                                                                         \
	(PCTL_RUN_IN_PROCESS | PCTL_RUN_DEBUG | PCTL_RUN_FRESH | PCTL_RUN_UNPLACED |        \
	 PCTL_RUN_CANONICAL | PCTL_RUN_NO_FUSE | PCTL_RUN_NO_PLACES | PCTL_RUN_PROFILE_SC | \
	 PCTL_RUN_PROFILE_MC | PCTL_RUN_JOINS(7u))

/* ---- options ------------------------------------------------------------------------------ */

static pctl_status copy_options(pctl_resident *r, const pctl_run_options *o)
{
	pctl_setting *ins = pctl_arena_array(r->arena, o->n_ins, sizeof(*ins));
	const char **backends = pctl_arena_array(r->arena, o->n_backends, sizeof(*backends));
	pctl_input_bytes *given = pctl_arena_array(r->arena, o->n_given, sizeof(*given));

	r->o = *o;
	if (ins == NULL || backends == NULL || given == NULL)
		return pctl_no_memory(r->call, "a resident run");
	for (uint32_t i = 0; i < o->n_ins; i++)
		ins[i] = (pctl_setting){pctl_arena_dup(r->arena, o->ins[i].name),
					pctl_arena_dup(r->arena, o->ins[i].value)};
	for (uint32_t i = 0; i < o->n_backends; i++)
		backends[i] = pctl_arena_dup(r->arena, o->backends[i]);
	for (uint32_t i = 0; i < o->n_given; i++) {
		given[i] = o->given[i];
		given[i].name = pctl_arena_dup(r->arena, o->given[i].name);
	}
	r->o.ins = ins;
	r->o.backends = backends;
	r->o.given = given;
	r->o.flags |= PCTL_RUN_FRESH;
	r->o.memory_bytes = 0; /* it is for all of it, not job by job: pctl_resident_fit */
	return pctl_arena_failed(r->arena) ? pctl_no_memory(r->call, "a resident run") : PCTL_OK;
}

static pctl_status check_options(const pctl_resident *r)
{
	const pctl_run_options *o = &r->o;

	if (o->flags & ~KNOWN_FLAGS || o->observe != NULL || o->trace != NULL ||
	    o->agreed != NULL || o->limit != NULL)
		return pctl_refuse(r->call, PC5250_RESIDENT,
				   "a resident run shows no jobs one by one, and takes no options "
				   "that do");
	if (o->policy->quorum_n >= 2)
		return pctl_refuse(r->call, PC5250_RESIDENT,
				   "the policy asks that several devices agree on each job, a "
				   "resident run stays on one");
	return PCTL_OK;
}

/* ---- everything that a run does before it runs -------------------------------------------- */

static const pctl_job_plan *plan_of(const pctl_run_node *n)
{
	return n->group != NULL && n->group->plan != NULL ? n->group->plan
	       : n->tuned != NULL			  ? n->tuned
							  : n->canonical;
}

static pctl_status check_race(const pctl_resident *r, const pctl_run_node *n,
			      const pctl_job_plan *plan)
{
	return plan->race == PCTL_PROOF_PROVEN
		       ? PCTL_OK
		       : pctl_refuse_at(
				 r->call, PC5250_RESIDENT, &n->node->job->pos,
				 "a run asks the reference about the data of each job; bound "
				 "the indices so that the analysis can prove it",
				 "job \"%s\": that kernel %s has no data race is not proven",
				 n->node->job->id, plan->race_of->name);
}

static pctl_status plan_all(pctl_resident *r)
{
	pctl_running *run = &r->run;
	uint32_t planned = 0;
	pctl_status status = pctl_run_plan_ahead(run, &planned);

	if (status == PCTL_OK && planned < run->graph->n_nodes) {
		const pctl_pipe_job *job = run->nodes[run->graph->order[planned]].node->job;

		status = pctl_refuse_at(r->call, PC5250_RESIDENT, &job->pos, NULL,
					"job \"%s\": a size of it is found in its data", job->id);
	}
	for (uint32_t i = 0; status == PCTL_OK && i < run->graph->n_nodes; i++)
		status = check_race(r, &run->nodes[i], run->nodes[i].canonical);
	run->executes = 1;
	if (status == PCTL_OK)
		status = pctl_run_check_gas(run);
	if (status == PCTL_OK)
		status = pctl_run_fuse(run, 0, planned);
	return status;
}

static pctl_status choose(pctl_resident *r)
{
	pctl_status status = r->number == 0 ? pctl_run_choose(&r->run)
					    : pctl_run_choose_as(&r->run, r->family->makers[0]->s);

	r->s = r->run.main;
	if (status != PCTL_OK)
		return status;
	r->t = pctl_session_table(r->s);
	r->dev = pctl_session_device(r->s);
	return PCTL_OK;
}

static pctl_status make_ready(pctl_resident *r, pctl_run_node *n)
{
	pctl_status status = pctl_run_make_ready(&r->run, n);

	if (status == PCTL_OK && n->session != r->s)
		status = pctl_refuse_at(r->call, PC5250_RESIDENT, &n->node->job->pos, NULL,
					"job \"%s\" goes to %s, the others to %s", n->node->job->id,
					pctl_session_name(n->session), pctl_session_name(r->s));
	if (status == PCTL_OK)
		status = check_race(r, n, plan_of(n));
	if (status == PCTL_OK && !pctl_run_is_within(&r->run, n))
		status = pctl_run_first_builds(&r->run, n, plan_of(n));
	return status;
}

static int is_gpu(const pctl_resident *r)
{
	const uint32_t kind = r->s == NULL ? PCTL_DEVICE_CPU : pctl_session_kind(r->s);

	return kind != PCTL_DEVICE_CPU && kind != PCTL_DEVICE_REFERENCE;
}

static void judge(pctl_resident *r)
{
	const pctl_graph *g = r->run.graph;

	for (uint32_t i = 0; i < g->n_nodes; i++)
		pctl_run_judge_evidence(&r->run, &r->run.nodes[g->order[i]], 0);
}

static pctl_status prepare(pctl_resident *r)
{
	pctl_running *run = &r->run;
	pctl_status status = pctl_run_bind_inputs(run);

	if (status == PCTL_OK)
		pctl_run_know_inputs(run);
	if (status == PCTL_OK)
		status = plan_all(r);
	if (status == PCTL_OK)
		status = pctl_resident_check_ports(r);
	if (status == PCTL_OK)
		status = pctl_sample_draw(r->o.verify_ppm, r->call, &run->sample);
	if (status == PCTL_OK)
		status = choose(r);
	/* Groups may be dissolved while they are made ready: all of them, before any is taken. On GPUs from the last on, so that what one lets go another
	 * may have; processors gain nothing by it. */
	for (uint32_t i = run->graph->n_nodes; is_gpu(r) && status == PCTL_OK && i-- > 0;)
		if (run->nodes[run->graph->order[i]].group != NULL)
			status = make_ready(r, &run->nodes[run->graph->order[i]]);
	for (uint32_t i = 0; status == PCTL_OK && i < run->graph->n_nodes; i++)
		status = make_ready(r, &run->nodes[run->graph->order[i]]);
	for (uint32_t i = 0; status == PCTL_OK && i < run->graph->n_nodes; i++)
		pctl_run_describe(run, &run->nodes[run->graph->order[i]],
				  &run->result->jobs[run->result->n_jobs++]);
	if (status == PCTL_OK)
		judge(r);
	return status;
}

/* ---- those that share --------------------------------------------------------------------- */

static pctl_status make_states(pctl_resident *r)
{
	pctl_resident_family *f = r->family;

	if (r->number != 0)
		return PCTL_OK;
	f->states = pctl_arena_array(r->arena, r->n_states, sizeof(*f->states));
	if (f->states == NULL)
		return pctl_no_memory(r->call, "a resident run");
	f->n_states = r->n_states;
	for (uint32_t i = 0; i < r->run.graph->pipeline->n_inputs; i++) {
		pctl_resident_held *s = &f->states[r->role_number[i]];

		if (r->role[i] != PCTL_SPAN_STATE)
			continue;
		*s = (pctl_resident_held){.input = r->states[r->role_number[i]].input,
					  .type = r->run.input_types[i]};
		(void)pctl_type_buffer_bytes(&s->type, &s->n_bytes);
	}
	return PCTL_OK;
}

static pctl_status join(pctl_resident *r, const pctl_resident_options *how)
{
	pctl_resident_family *f =
		how->sharing == NULL ? calloc(1, sizeof(*f)) : how->sharing->family;
	pctl_resident **grown;

	if (f == NULL)
		return pctl_no_memory(r->call, "a resident run");
	grown = realloc(f->makers, (f->n_makers + 1u) * sizeof(pctl_resident *));
	if (grown == NULL) {
		if (how->sharing == NULL)
			free(f);
		return pctl_no_memory(r->call, "a resident run");
	}
	f->makers = grown;
	f->makers[f->n_makers] = r;
	r->number = f->n_makers++;
	r->family = f;
	f->references++;
	if (how->sharing == NULL) {
		f->history_bytes = how->history_bytes;
		f->forgot = how->history_bytes == 0;
	} else {
		r->o.like = &f->makers[0]->run;
		r->run.shares = 1;
	}
	return PCTL_OK;
}

static void destroy(pctl_resident *r)
{
	if (r->run.result != NULL) {
		pctl_run_tear_down(&r->run);
		pctl_run_result_destroy(r->run.result);
	}
	free(r->spans);
	free(r->commands);
	free(r->once);
	free(r->reports);
	free(r->maxima);
	free(r->segments);
	free(r->uploads);
	pctl_arena_destroy(r->arena);
	free(r);
}

static void end(pctl_resident_family *f)
{
	const pctl_resident *first = f->makers[0];

	for (uint32_t i = 0; i < f->n_states; i++)
		for (uint32_t k = 0; k < 2; k++)
			if (f->states[i].buffers[k] != NULL)
				first->t->buffer_destroy(first->dev, f->states[i].buffers[k]);
	if (f->slot != NULL)
		first->t->buffer_destroy(first->dev, f->slot);
	pctl_resident_forget(f);
	/* The first has the sessions, and data that others borrow. */
	while (f->n_makers > 0)
		destroy(f->makers[--f->n_makers]);
	free(f->makers);
	free(f);
}

void pctl_resident_close(pctl_resident *r)
{
	pctl_resident_family *f;

	if (r == NULL || r->is_closed)
		return;
	f = r->family;
	r->is_closed = 1;
	if (r->t != NULL)
		pctl_resident_release(r);
	/* Inputs and constants of it stay: others may share them. */
	f->total_bytes -=
		r->pool_bytes + r->params_bytes + r->ask_bytes + r->answer_bytes + r->kept_bytes;
	if (--f->references == 0)
		end(f);
}

/* What it alone has put on the device goes with it. */
static void forget_inputs(pctl_resident *r)
{
	for (uint32_t i = 0; i < r->n_spans; i++)
		if (r->spans[i].is_own && !r->spans[i].is_streamed &&
		    r->family->weight_bytes >= r->spans[i].n_bytes)
			r->family->weight_bytes -= r->spans[i].n_bytes;
}

/* One that could not be opened leaves nothing, and its pipeline may go. */
static void undo(pctl_resident *r)
{
	pctl_resident_family *f = r->family;

	if (r->number == 0) {
		pctl_resident_close(r);
		return;
	}
	if (r->t != NULL)
		pctl_resident_release(r);
	/* One that was not built may have taken the device away from those that it was to share with: a build that is cancelled ends the worker. */
	f->lost |= pctl_session_is_lost(f->makers[0]->s) != 0;
	f->total_bytes -= r->counted_bytes;
	forget_inputs(r);
	f->references--;
	f->n_makers--; /* it is the last */
	destroy(r);
}

/* ---- opening ------------------------------------------------------------------------------ */

static pctl_status build(pctl_resident *r, const pctl_resident_options *how)
{
	pctl_status status = prepare(r);

	if (status == PCTL_OK)
		status = make_states(r);
	if (status == PCTL_OK)
		status = pctl_resident_make_commands(r);
	if (status == PCTL_OK)
		status = pctl_resident_order(r);
	if (status == PCTL_OK)
		status = pctl_resident_join(r, how->memory_bytes);
	if (status == PCTL_OK)
		status = pctl_resident_measure(r);
	if (status == PCTL_OK)
		status = pctl_resident_fit(r, how->memory_bytes);
	if (status != PCTL_OK) {
		r->pool_bytes = r->params_bytes = r->ask_bytes = r->answer_bytes = r->kept_bytes =
			0;
		return status;
	}
	r->counted_bytes = r->own_bytes;
	r->family->total_bytes += r->counted_bytes;
	status = pctl_resident_fill(r);
	/* Jobs that give the same in every step are not part of one. */
	if (status == PCTL_OK)
		status = pctl_resident_run_once(r);
	return status == PCTL_OK ? pctl_resident_record(r) : status;
}

pctl_status pctl_resident_open(const pctl_graph *g, const pctl_run_options *o,
			       const pctl_resident_options *how, const pctl_call *call,
			       pctl_resident **out)
{
	pctl_resident *r = calloc(1, sizeof(*r));
	pctl_status status;

	*out = NULL;
	if (r == NULL || (r->arena = pctl_arena_create()) == NULL) {
		free(r);
		return pctl_no_memory(call, "a resident run");
	}
	r->call = call;
	status = copy_options(r, o);
	if (status == PCTL_OK)
		status = check_options(r);
	if (status == PCTL_OK && how->sharing != NULL && how->sharing->family->lost)
		status = pctl_refuse(call, PC5251_RESIDENT_LOST,
				     "the resident run that is to be shared is of no more use");
	if (status == PCTL_OK)
		status = join(r, how);
	if (status != PCTL_OK) {
		pctl_arena_destroy(r->arena);
		free(r);
		return status;
	}
	status = pctl_run_set_up(&r->run, g, &r->o, call);
	r->run.shares = r->number != 0;
	r->run.began_ns = pctl_clock_ns();
	if (status == PCTL_OK)
		status = pctl_resident_take_ports(r, how);
	if (status == PCTL_OK)
		status = build(r, how);
	if (status != PCTL_OK) {
		undo(r);
		return status;
	}
	*out = r;
	return PCTL_OK;
}

/* ---- what is known ------------------------------------------------------------------------ */

const pctl_tensor_type *pctl_resident_input_type(const pctl_resident *r, uint32_t i)
{
	return &r->run.input_types[r->changing[i]];
}

const pctl_tensor_type *pctl_resident_output_type(const pctl_resident *r, uint32_t i)
{
	const pctl_source s = r->run.graph->outputs[r->reads[i]];

	return &r->run.nodes[s.job].out[s.port];
}

const pctl_device_caps *pctl_resident_caps(const pctl_resident *r)
{
	return pctl_session_caps(r->s);
}

uint32_t pctl_resident_device_kind(const pctl_resident *r)
{
	return pctl_session_kind(r->s);
}

pctl_status pctl_resident_plan_cid(const pctl_resident *r, const pctl_call *call, pctl_cid *out)
{
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_status status;

	for (uint32_t i = 0; i < r->n_commands; i++) {
		const pctl_resident_command *c = &r->commands[i];

		pctl_str_addf(&text, "%u", c->kind);
		if (c->kind == PCTL_STEP_KERNEL)
			pctl_str_addf(&text, " %s %u %u %u", c->step->unit->build_key,
				      c->step->groups[0], c->step->groups[1], c->step->groups[2]);
		for (uint32_t k = 0; k < c->n_ranges; k++)
			pctl_str_addf(&text, " %" PRIu64 " %" PRIu64, c->ranges[k].offset,
				      c->ranges[k].n_bytes);
		pctl_str_add(&text, "\n");
	}
	status = text.failed ? pctl_no_memory(call, "a plan's name")
			     : pctl_cid_of(text.data == NULL ? "" : text.data, text.n, call, out);
	pctl_str_drop(&text);
	return status;
}

pctl_status pctl_resident_keep_tuning(const pctl_resident *r, pctl_tuning_record *record,
				      const pctl_call *call)
{
	return pctl_session_keep_tuning(r->s, record, call);
}

static pctl_evidence evidence_of(const pctl_resident *r)
{
	pctl_evidence e = {.kind = PCTL_EVIDENCE_VERIFIED};

	for (uint32_t i = 0; i < r->run.graph->n_nodes; i++)
		e = pctl_evidence_weaker(e, r->run.nodes[i].evidence);
	return e;
}

/* What a state is hangs on all that share it. */
static pctl_evidence evidence_of_all(const pctl_resident *r)
{
	pctl_evidence e = evidence_of(r);

	for (uint32_t i = 0; r->n_states != 0 && i < r->family->n_makers; i++)
		if (r->family->makers[i]->writes_states)
			e = pctl_evidence_weaker(e, evidence_of(r->family->makers[i]));
	return e;
}

pctl_evidence pctl_resident_evidence(const pctl_resident *r, uint64_t step)
{
	return step < r->family->checked ? (pctl_evidence){.kind = PCTL_EVIDENCE_VERIFIED}
					 : evidence_of_all(r);
}

static uint64_t span_bytes(const pctl_resident *r, uint32_t kind)
{
	uint64_t sum = kind == PCTL_SPAN_ASK ? r->ask_bytes : r->answer_bytes;

	for (uint32_t i = 0; i < r->n_spans; i++)
		if (r->spans[i].kind == kind && r->spans[i].n_bytes > PCTL_RESIDENT_SMALL)
			sum += r->spans[i].n_bytes;
	return sum;
}

int pctl_resident_is_lost(const pctl_resident *r)
{
	return r->family->lost != 0;
}

void pctl_resident_facts_of(const pctl_resident *r, pctl_resident_facts *out)
{
	const pctl_resident_family *f = r->family;

	*out = (pctl_resident_facts){.steps = f->n_steps,
				     .dispatches = r->n_dispatches,
				     .transfers = r->n_transfers,
				     .barriers = r->n_barriers,
				     .levels = r->n_levels,
				     .written_bytes = span_bytes(r, PCTL_SPAN_ASK),
				     .read_bytes = span_bytes(r, PCTL_SPAN_ANSWER),
				     .constant_bytes = r->constant_bytes,
				     .pool_bytes = r->pool_bytes,
				     .live_bytes = r->live_bytes,
				     .total_bytes =
					     f->total_bytes + f->weight_bytes + f->slot_bytes,
				     .weight_bytes = f->weight_bytes,
				     .slot_bytes = f->slot_bytes,
				     .streamed_bytes = r->streamed_bytes,
				     .submissions = r->n_segments,
				     .gas = r->run.gas,
				     .n_pools = r->n_pools,
				     .device = pctl_session_id(r->s),
				     .device_name = pctl_session_name(r->s),
				     .evidence = evidence_of_all(r)};
	for (uint32_t i = 0; i < r->n_spans; i++)
		if (r->spans[i].is_own && !r->spans[i].is_streamed)
			out->constant_bytes += r->spans[i].n_bytes;
	for (uint32_t i = 0; i < f->n_states; i++)
		out->state_bytes += (2u - f->states[i].is_placed) * f->states[i].n_bytes;
	for (uint32_t i = 0; i < r->n_reads; i++) {
		const pctl_source s = r->run.graph->outputs[r->reads[i]];

		if (r->spans[r->value_span[s.job][s.port]].kind != PCTL_SPAN_ANSWER)
			out->read_bytes += r->run.nodes[s.job].out_bytes[s.port];
	}
}
