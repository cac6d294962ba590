/* The shader jobs of a pipeline as messages of one batch. Shaders that the registry lacks are uploaded by the sender, data
 * goes into the store, and an edge between jobs becomes an input job:ID. */
#include "chain/home/pipeline.h"

#include <stdlib.h>
#include <string.h>

#include "chain/home/pipeline_private.h"
#include "chain/home/provide.h"
#include "chain/home/submit.h"
#include "chain/registry/registry.h"
#include "chain/transition/submit.h"

pctl_status pctl_lowering_cannot(const lowering *l, const pctl_pos *pos, const char *what)
{
	return pctl_refuse_at(l->call, PC5827_JOB_PIPELINE, pos, NULL, "%s", what);
}

/* The shader of a job: registered, or uploaded now. */
static pctl_status upload(lowering *l, const pctl_pipe_job *job, const char **out)
{
	pctl_request r = {
		.kind = PCTL_MSG_UPLOAD,
		.as.upload = {.sender = l->o->sender, .description = "", .implements = ""}};
	char *path = pctl_vfs_resolve(l->view, l->p->file, job->shader);
	char *text = NULL, name[PCTL_CID_TEXT_SIZE];
	uint64_t n = 0, deprecated;
	int found = 1;
	pctl_cid cid;
	pctl_status status = path == NULL ? pctl_no_memory(l->call, "a pipeline")
					  : pctl_vfs_read(l->view, path, PCTL_MESSAGE_SOURCE_MAX,
							  l->call, &text, &n);

	if (status == PCTL_OK)
		status = pctl_cid_of(text, n, l->call, &cid);
	if (status == PCTL_OK) {
		*out = pctl_arena_dup(l->arena, pctl_cid_format(&cid, name));
		if (l->o->source != NULL)
			l->o->source(l->o->ctx, name, text, n);
		status = *out == NULL ? pctl_no_memory(l->call, "a pipeline")
				      : pctl_shaders_look(pctl_cursor(l->c), *out, l->call, &found,
							  &deprecated);
	}
	r.as.upload.source = (const uint8_t *)text;
	r.as.upload.n_source = n;
	if (status == PCTL_OK && !found)
		status = pctl_chain_apply(l->c, &r, l->call, NULL);
	else if (status == PCTL_OK)
		pctl_home_shader_warn(l->c, *out, l->call);
	free(text);
	free(path);
	return status;
}

static pctl_status check_kind(const lowering *l, const pctl_pipe_job *job)
{
	if (job->kind != PCTL_JOB_SHADER)
		return pctl_lowering_cannot(l, &job->op_pos, "the chain runs shaders, not ops");
	if (job->repeat.text != NULL)
		return pctl_lowering_cannot(l, &job->repeat.pos, "the chain has no repeats");
	if (job->placement != NULL)
		return pctl_lowering_cannot(l, &job->placement_pos,
					    "every node chooses its own device");
	return job->n_out == 1
		       ? PCTL_OK
		       : pctl_lowering_cannot(l, &job->pos, "a job of the chain has one output");
}

static pctl_status overrides(lowering *l, const pctl_pipe_job *job, pctl_msg_execute *m)
{
	pctl_override_value *values = pctl_arena_array(l->arena, job->n_attr, sizeof(*values));

	if (values == NULL)
		return pctl_no_memory(l->call, "a pipeline");
	for (uint32_t i = 0; i < job->n_attr; i++) {
		const pctl_pipe_value *v = &job->attr[i].value;
		const char *text = v->is_param ? pctl_lowering_param(l, v->text) : v->text;

		if (text == NULL)
			return pctl_lowering_cannot(l, &v->pos, "there is no such parameter");
		values[i] = (pctl_override_value){.name = job->attr[i].name, .text = text};
	}
	return pctl_home_overrides(l->in, l->c, values, job->n_attr, l->arena, l->call, m);
}

static pctl_status fill(lowering *l, const pctl_pipe_job *job, pctl_msg_execute *m)
{
	const pctl_chain_source *source;
	const pctl_program *program = NULL;
	const pctl_var *out;
	pctl_params params;
	pctl_status status = check_kind(l, job);

	*m = (pctl_msg_execute){.sender = l->o->sender,
				.gas_limit = l->o->gas_limit,
				.dispatch = {1, 1, 1},
				.input = "",
				.uniform_cid = "",
				.entry = job->entry == NULL ? "" : job->entry};
	if (status == PCTL_OK)
		status = upload(l, job, &m->shader_cid);
	if (status == PCTL_OK)
		status = pctl_chain_source_of(l->c, m->shader_cid, l->call, &source);
	if (status == PCTL_OK)
		status = pctl_home_params(l->c, l->call, &params);
	if (status == PCTL_OK)
		status = pctl_rules_compiled(l->in->kernels, source, &params, l->call, &program);
	if (status != PCTL_OK)
		return status;
	out = pctl_lowering_var(program, job->out[0].name);
	if (out == NULL || out->group != 1 || out->binding != 0)
		return pctl_lowering_cannot(l, &job->out[0].pos, "the output is group 1 binding 0");
	status = pctl_lowering_feed(l, job, program, m);
	if (status == PCTL_OK)
		status = pctl_lowering_order(l, job, m);
	if (status == PCTL_OK)
		status = overrides(l, job, m);
	for (uint32_t d = 0; status == PCTL_OK && d < job->n_groups; d++) {
		status = pctl_lowering_groups(l, &job->groups[d], &m->dispatch[d]);
		if (status == PCTL_OK && m->dispatch[d] > PCTL_MESSAGE_GROUPS_MAX)
			status = pctl_lowering_cannot(l, &job->groups[d].pos,
						      "more than 65535 workgroups");
	}
	return status == PCTL_OK ? pctl_lowering_output_bytes(l, &job->out[0], &m->output_bytes)
				 : status;
}

static pctl_status submit(lowering *l, uint32_t i)
{
	pctl_request r = {.kind = PCTL_MSG_EXECUTE};
	pctl_response out = {.kind = 0};
	pctl_chain_job row = {.message = NULL};
	pctl_status status = fill(l, &l->p->jobs[i], &r.as.execute);

	if (status == PCTL_OK)
		status = pctl_home_provide(l->c, &r.as.execute, l->call);
	if (status == PCTL_OK)
		status = pctl_chain_apply(l->c, &r, l->call, &out);
	if (status == PCTL_OK)
		l->ids[i] = pctl_arena_dup(l->arena, out.as.execute.job_id);
	if (status == PCTL_OK && l->ids[i] == NULL)
		status = pctl_no_memory(l->call, "a pipeline");
	if (status == PCTL_OK && l->o->taken != NULL)
		status = pctl_home_job_read(l->c, l->ids[i], l->call, &row);
	if (status == PCTL_OK && l->o->taken != NULL)
		status = l->o->taken(l->o->ctx, l->p->jobs[i].id, &row);
	pctl_chain_job_clear(&row);
	pctl_response_destroy(&out);
	return status;
}

static pctl_status submit_all(lowering *l)
{
	pctl_status status = pctl_chain_batch_begin(l->c, l->call);

	if (status != PCTL_OK)
		return status;
	for (uint32_t i = 0; status == PCTL_OK && i < l->p->n_jobs; i++)
		status = submit(l, i);
	if (status == PCTL_OK)
		return pctl_chain_batch_commit(l->c, l->call);
	pctl_chain_batch_abort(l->c);
	return status;
}

static pctl_status prepare(lowering *l)
{
	pctl_arena *a = l->arena;
	uint32_t n_dims = 0;
	pctl_status status;

	for (uint32_t i = 0; i < l->p->n_inputs; i++)
		n_dims += l->p->inputs[i].type.rank;
	l->param_text = pctl_arena_array(a, l->p->n_params, sizeof(*l->param_text));
	l->inputs = pctl_arena_array(a, l->p->n_inputs, sizeof(*l->inputs));
	l->ids = pctl_arena_array(a, l->p->n_jobs, sizeof(*l->ids));
	l->dims = pctl_arena_array(a, n_dims, sizeof(*l->dims));
	if (l->param_text == NULL || l->inputs == NULL || l->ids == NULL || l->dims == NULL)
		return pctl_no_memory(l->call, "a pipeline");
	status = pctl_lowering_set_params(l);
	return status == PCTL_OK ? pctl_lowering_open_inputs(l) : status;
}

pctl_status pctl_home_submit_pipeline(pctl_installation *in, pctl_chain *c, pctl_loaded_pipeline *p,
				      const pctl_home_submit *o, const pctl_call *call)
{
	lowering l = {.in = in, .c = c, .o = o, .call = call};
	pctl_status status = pctl_admit(in, p, call);

	if (status != PCTL_OK)
		return status;
	l.p = p->pipeline;
	l.view = pctl_texts_vfs(p->texts);
	l.arena = pctl_arena_create();
	status = l.arena == NULL ? pctl_no_memory(call, "a pipeline") : prepare(&l);
	if (status == PCTL_OK)
		status = submit_all(&l);
	pctl_arena_destroy(l.arena);
	return status;
}
