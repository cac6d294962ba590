/* The chain: shaders and jobs that are taken in, and jobs as they stand; see pipectl/chain.h. */
#include <stdlib.h>
#include <string.h>

#include "api/chain_private.h"
#include "chain/home/pipeline.h"

/* items: head and texts in the arena. */
struct pipectl_chain_jobs {
	pipectl *p;
	pctl_arena *arena;
	pipectl_chain_job *items;
	uint32_t n, space;
};

/* ---- shaders ------------------------------------------------------------------------------- */

static pctl_status upload(pipectl_chain *c, const pipectl_chain_source *source,
			  pipectl_chain_shader *out)
{
	const pctl_call *call = &c->p->call;
	pipectl_chain_shader s = {.head = PCTL_HEAD(pipectl_chain_shader)};
	pctl_msg_upload m = {.sender = c->account};
	pctl_response taken = {.kind = 0};
	pipectl_chain_source o;
	pctl_status status = PIPECTL_TAKE(call, &o, source);

	if (status == PCTL_OK && (o.text == NULL || (o.n_tags != 0 && o.tags == NULL)))
		status = pipectl_misused(call, "a shader has no text, or tags that are missing");
	m.source = (const uint8_t *)o.text;
	m.n_source = o.n_bytes;
	m.description = o.description;
	m.implements = o.implements;
	m.tags = o.tags;
	m.n_tags = o.n_tags;
	if (status == PCTL_OK)
		status = pctl_home_upload(c->chain, &m, call, &taken);
	if (status == PCTL_OK)
		status = pipectl_chain_text(c->said, call, taken.as.upload.shader_cid, &s.cid);
	if (status == PCTL_OK) {
		s.cost_per_workgroup = taken.as.upload.profile.cost_per_workgroup;
		s.max_loop_iterations = taken.as.upload.profile.max_loop_iterations;
		s.workgroup_shared_bytes = taken.as.upload.profile.workgroup_shared_bytes;
		status = PIPECTL_GIVE(call, out, &s);
	}
	pctl_response_destroy(&taken);
	return status;
}

pctl_status pipectl_chain_upload(pipectl_chain *c, const pipectl_chain_source *source,
				 pipectl_chain_shader *out)
{
	pctl_status status = pipectl_chain_begin(c, NULL, 1);

	return pipectl_end(c->p, status == PCTL_OK ? upload(c, source, out) : status);
}

/* ---- jobs as they stand -------------------------------------------------------------------- */

static pctl_status copy_job(const pctl_chain_job *row, const char *name, uint32_t state,
			    pctl_arena *arena, const pctl_call *call, pipectl_chain_job *out)
{
	char id[PCTL_JOB_TEXT_SIZE], cid[PCTL_CID_TEXT_SIZE];
	pctl_status status;

	*out = (pipectl_chain_job){.head = PCTL_HEAD(pipectl_chain_job)};
	status = pipectl_chain_text(arena, call, pctl_job_id_format(row->id, id), &out->id);
	if (status == PCTL_OK)
		status = pipectl_chain_text(arena, call, row->sender, &out->sender);
	if (status == PCTL_OK && name != NULL)
		status = pipectl_chain_text(arena, call, name, &out->name);
	if (status == PCTL_OK && state == PCTL_JOB_COMPLETE)
		status = pipectl_chain_text(arena, call, pctl_cid_format(&row->output, cid),
					    &out->output);
	if (status == PCTL_OK && state == PCTL_JOB_FAILED)
		status = pipectl_chain_text(arena, call, row->error, &out->error);
	out->position = row->position;
	out->height = row->height;
	out->clock = row->clock;
	out->gas = row->gas;
	out->gas_used = row->gas_used;
	out->ended = row->ended;
	out->output_bytes = row->output_bytes;
	out->state = state + PIPECTL_JOB_PENDING;
	return status;
}

pctl_status pipectl_chain_job_read(pipectl_chain *c, const char *id, pipectl_chain_job *out)
{
	pctl_chain_job row = {.message = NULL};
	pipectl_chain_job job;
	pctl_status status = pipectl_chain_begin(c, NULL, 0);

	if (status == PCTL_OK)
		status = pctl_home_job_read(c->chain, id == NULL ? "" : id, &c->p->call, &row);
	if (status == PCTL_OK)
		status = copy_job(&row, NULL, row.status, c->said, &c->p->call, &job);
	pctl_chain_job_clear(&row);
	return pipectl_end(c->p, status == PCTL_OK ? PIPECTL_GIVE(&c->p->call, out, &job) : status);
}

/* ---- lists --------------------------------------------------------------------------------- */

/* state: of those that are wanted, 0: all. */
typedef struct listing {
	pipectl_chain *c;
	pipectl_chain_jobs *to;
	uint32_t state;
	pctl_status status;
} listing;

static pctl_status add(listing *l, const pctl_chain_job *row, const char *name)
{
	pipectl_chain_jobs *to = l->to;
	const pctl_call *call = &l->c->p->call;
	const uint32_t state = pctl_chain_job_status(l->c->chain, row);

	if (l->state != 0 && l->state != state + PIPECTL_JOB_PENDING)
		return PCTL_OK;
	if (to->n == to->space) {
		const uint32_t space = to->space == 0 ? 16 : 2 * to->space;
		pipectl_chain_job *grown = realloc(to->items, space * sizeof(*grown));

		if (grown == NULL)
			return pctl_no_memory(call, "a list of jobs");
		to->items = grown;
		to->space = space;
	}
	return copy_job(row, name, state, to->arena, call, &to->items[to->n++]);
}

static int visit(void *ctx, const pctl_chain_job *row)
{
	listing *l = ctx;

	l->status = add(l, row, NULL);
	return l->status != PCTL_OK;
}

static pctl_status take_job(void *ctx, const char *name, const pctl_chain_job *row)
{
	return add(ctx, row, name);
}

static pctl_status list_begin(pipectl_chain *c, int sends, uint32_t state, listing *out)
{
	pctl_status status = pipectl_chain_begin(c, NULL, sends);

	*out = (listing){.c = c, .state = state};
	if (status != PCTL_OK)
		return status;
	out->to = calloc(1, sizeof(*out->to));
	if (out->to == NULL || (out->to->arena = pctl_arena_create()) == NULL)
		return pctl_no_memory(&c->p->call, "a list of jobs");
	out->to->p = c->p;
	return PCTL_OK;
}

static pctl_status list_end(listing *l, pctl_status status, pipectl_chain_jobs **out)
{
	status = pipectl_end(l->c->p, status == PCTL_OK ? l->status : status);
	*out = status == PCTL_OK ? l->to : NULL;
	if (status != PCTL_OK)
		pipectl_chain_jobs_release(l->to);
	return status;
}

pctl_status pipectl_chain_jobs_list(pipectl_chain *c, const char *sender, uint32_t state,
				    pipectl_chain_jobs **out)
{
	listing l;
	pctl_status status = list_begin(c, 0, state, &l);

	if (status == PCTL_OK && state > PIPECTL_JOB_FAILED)
		status = pipectl_misused(&c->p->call, "there is no such state of a job");
	if (status == PCTL_OK)
		status = pctl_jobs_all(pctl_cursor(c->chain), sender, visit, &l, &c->p->call);
	return list_end(&l, status, out);
}

pctl_status pipectl_chain_jobs_of_block(pipectl_chain *c, uint64_t height, pipectl_chain_jobs **out)
{
	pctl_block_row row;
	listing l;
	pctl_status status = list_begin(c, 0, 0, &l);

	if (status == PCTL_OK)
		status = pctl_home_block(c->chain, height, &c->p->call, &row);
	if (status == PCTL_OK)
		status = pctl_jobs_ended_at(pctl_cursor(c->chain), row.height, visit, &l,
					    &c->p->call);
	return list_end(&l, status, out);
}

uint32_t pipectl_chain_jobs_count(const pipectl_chain_jobs *jobs)
{
	return jobs->n;
}

pctl_status pipectl_chain_jobs_at(const pipectl_chain_jobs *jobs, uint32_t i,
				  pipectl_chain_job *out)
{
	pctl_status status = pipectl_begin(jobs->p, NULL, NULL);

	if (status == PCTL_OK && i >= jobs->n)
		status = pipectl_misused(&jobs->p->call, "there is no such job");
	return status == PCTL_OK ? PIPECTL_GIVE(&jobs->p->call, out, &jobs->items[i]) : status;
}

void pipectl_chain_jobs_release(pipectl_chain_jobs *jobs)
{
	if (jobs == NULL)
		return;
	pctl_arena_destroy(jobs->arena);
	free(jobs->items);
	free(jobs);
}

/* ---- submitting ---------------------------------------------------------------------------- */

static pctl_status take_settings(const pctl_call *call, const pipectl_setting *from, uint32_t n,
				 pctl_arena *arena, const pctl_setting **out)
{
	pctl_setting *to = pctl_arena_array(arena, n, sizeof(*to));

	*out = to;
	if (to == NULL)
		return pctl_no_memory(call, "settings");
	if (n != 0 && from == NULL)
		return pipectl_misused(call, "settings are counted, and there are none");
	for (uint32_t i = 0; i < n; i++) {
		if (from[i].name == NULL || from[i].value == NULL)
			return pipectl_misused(call, "a setting has no name or no value");
		to[i] = (pctl_setting){from[i].name, from[i].value};
	}
	return PCTL_OK;
}

static pctl_status take_texts(const pctl_call *call, const char *const *from, uint32_t n)
{
	if (n != 0 && from == NULL)
		return pipectl_misused(call, "jobs are counted, and there are none");
	for (uint32_t i = 0; i < n; i++)
		if (from[i] == NULL)
			return pipectl_misused(call, "a job to wait for has no id");
	return PCTL_OK;
}

static pctl_status take_bindings(pipectl_chain *c, const pipectl_chain_work *o, pctl_home_job *job)
{
	const pctl_call *call = &c->p->call;
	pctl_msg_binding *to = pctl_arena_array(c->said, o->n_bindings, sizeof(*to));

	if (to == NULL)
		return pctl_no_memory(call, "a job");
	if (o->n_bindings != 0 && o->bindings == NULL)
		return pipectl_misused(call, "bindings are counted, and there are none");
	for (uint32_t i = 0; i < o->n_bindings; i++) {
		const pipectl_binding *b = &o->bindings[i];

		if (b->cid == NULL)
			return pipectl_misused(call, "a binding has no CID");
		to[i] = (pctl_msg_binding){b->group, b->binding, b->cid};
	}
	job->bindings = to;
	job->n_bindings = o->n_bindings;
	return PCTL_OK;
}

static pctl_status take_work(pipectl_chain *c, const pipectl_chain_work *work, pctl_home_job *job)
{
	const pctl_call *call = &c->p->call;
	pipectl_chain_work o;
	pctl_status status = PIPECTL_TAKE(call, &o, work);

	if (status == PCTL_OK &&
	    (o.shader == NULL || o.input == NULL || (o.uniform != NULL && o.document != NULL) ||
	     (o.document == NULL && o.n_document != 0)))
		status = pipectl_misused(call, "a job has no shader, no input, a document that is "
					       "missing, or two uniforms");
	*job = (pctl_home_job){.sender = c->account,
			       .shader = o.shader,
			       .input = o.input,
			       .entry = o.entry,
			       .uniform = o.uniform,
			       .document = o.document,
			       .n_document = o.n_document,
			       .dispatch = {o.dispatch[0], o.dispatch[1], o.dispatch[2]},
			       .gas_limit = o.gas_limit,
			       .parent_clock = o.parent_clock,
			       .output_bytes = o.output_bytes,
			       .parents = o.parents,
			       .after = o.after,
			       .n_parents = o.n_parents,
			       .n_after = o.n_after,
			       .n_overrides = o.n_overrides};
	if (status == PCTL_OK)
		status = take_bindings(c, &o, job);
	if (status == PCTL_OK)
		status = take_texts(call, o.parents, o.n_parents);
	if (status == PCTL_OK)
		status = take_texts(call, o.after, o.n_after);
	return status == PCTL_OK
		       ? take_settings(call, o.overrides, o.n_overrides, c->said, &job->overrides)
		       : status;
}

pctl_status pipectl_chain_submit(pipectl_chain *c, const pipectl_chain_work *work,
				 pipectl_chain_job *out)
{
	const pctl_call *call = &c->p->call;
	pctl_chain_job row = {.message = NULL};
	pipectl_chain_job job;
	pctl_home_job given;
	pctl_status status = pipectl_chain_begin(c, NULL, 1);

	if (status == PCTL_OK)
		status = take_work(c, work, &given);
	if (status == PCTL_OK)
		status = pctl_home_submit_job(&c->p->host, c->chain, &given, call, &row);
	if (status == PCTL_OK)
		status = copy_job(&row, NULL, row.status, c->said, call, &job);
	pctl_chain_job_clear(&row);
	return pipectl_end(c->p, status == PCTL_OK ? PIPECTL_GIVE(call, out, &job) : status);
}

pctl_status pipectl_chain_submit_pipeline(pipectl_chain *c, pipectl_pipeline *pl,
					  const pipectl_setting *inputs, uint32_t n_inputs,
					  uint64_t gas_limit, pipectl_chain_jobs **out)
{
	const pctl_call *call = &c->p->call;
	pctl_home_submit o = {.sender = c->account,
			      .gas_limit = gas_limit,
			      .sets = pl->sets,
			      .n_sets = pl->n_sets,
			      .n_ins = n_inputs,
			      .taken = take_job};
	listing l;
	pctl_status status = list_begin(c, 1, 0, &l);

	o.ctx = &l;
	if (status == PCTL_OK && pl->p != c->p)
		status = pipectl_misused(call, "the pipeline is of another installation");
	if (status == PCTL_OK)
		status = take_settings(call, inputs, n_inputs, c->said, &o.ins);
	if (status == PCTL_OK)
		status = pctl_home_submit_pipeline(&c->p->host, c->chain, &pl->loaded, &o, call);
	return list_end(&l, status, out);
}
