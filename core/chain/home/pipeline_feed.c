/* What a job of a pipeline is fed with: inputs, earlier jobs as job:ID, a uniform block as its document. */
#include <stdlib.h>
#include <string.h>

#include "chain/home/pipeline_private.h"
#include "chain/messages/uniform.h"
#include "foundation/base/order.h"

const pctl_var *pctl_lowering_var(const pctl_program *p, const char *name)
{
	for (uint32_t i = 0; i < p->n_vars; i++)
		if ((p->vars[i].space == PCTL_SPACE_STORAGE ||
		     p->vars[i].space == PCTL_SPACE_UNIFORM) &&
		    strcmp(pctl_str(p, p->vars[i].name), name) == 0)
			return &p->vars[i];
	return NULL;
}

/* What an input of a job is: "job:ID", or a CID with *given its datum. */
static pctl_status source_of(lowering *l, const pctl_pipe_feed *feed, const char **out,
			     const datum **given)
{
	const pctl_pipe_ref *from = &feed->from;

	*given = NULL;
	if (from->job == NULL) {
		for (uint32_t i = 0; i < l->p->n_inputs; i++) {
			if (strcmp(l->p->inputs[i].name, from->name) == 0) {
				*given = &l->inputs[i];
				*out = l->inputs[i].cid;
				return PCTL_OK;
			}
		}
		return pctl_lowering_cannot(l, &from->pos, "the pipeline has no such input");
	}
	for (uint32_t i = 0; i < l->p->n_jobs; i++) {
		if (strcmp(l->p->jobs[i].id, from->job) != 0 || l->ids[i] == NULL)
			continue;
		if (l->p->jobs[i].n_out != 1 || strcmp(l->p->jobs[i].out[0].name, from->name) != 0)
			return pctl_lowering_cannot(l, &from->pos, "the job has no such output");
		*out = pctl_arena_printf(l->arena, "job:%s", l->ids[i]);
		return *out == NULL ? pctl_no_memory(l->call, "a pipeline") : PCTL_OK;
	}
	return pctl_lowering_cannot(l, &from->pos, "no earlier job has this name");
}

/* The CBOR document of a uniform block that a pipeline has as bytes. */
static pctl_status uniform(lowering *l, const pctl_program *program, const pctl_pipe_feed *feed,
			   const datum *block, const char **out)
{
	uint8_t *document = NULL;
	uint64_t n = 0;
	pctl_blob blob;
	pctl_cid cid;
	datum made;
	pctl_status status;

	if (block == NULL)
		return pctl_lowering_cannot(l, &feed->pos,
					    "uniforms cannot be the output of a job");
	status = pctl_cid_read(block->cid, l->call, &cid);
	if (status == PCTL_OK)
		status = pctl_store_get(pctl_chain_store(l->c), &cid, l->call, &blob);
	if (status != PCTL_OK)
		return status;
	status = pctl_uniform_encode(program, blob.data, blob.n_bytes, l->call, &document, &n);
	pctl_blob_release(&blob);
	if (status == PCTL_OK)
		status = pctl_lowering_put(l, document, n, &made);
	free(document);
	if (status == PCTL_OK)
		*out = made.cid;
	return status;
}

pctl_status pctl_lowering_feed(lowering *l, const pctl_pipe_job *job, const pctl_program *program,
			       pctl_msg_execute *m)
{
	pctl_msg_binding *bindings = pctl_arena_array(l->arena, job->n_in, sizeof(*bindings));
	pctl_status status = bindings == NULL ? pctl_no_memory(l->call, "a pipeline") : PCTL_OK;

	m->bindings = bindings;
	for (uint32_t i = 0; status == PCTL_OK && i < job->n_in; i++) {
		const pctl_var *v = pctl_lowering_var(program, job->in[i].port);
		const datum *given;
		const char *source;

		if (v == NULL)
			return pctl_lowering_cannot(l, &job->in[i].pos,
						    "the shader has no such variable");
		if (v->access & PCTL_ACCESS_WRITE)
			return pctl_lowering_cannot(l, &job->in[i].pos,
						    "an output begins as zeros on the chain");
		status = source_of(l, &job->in[i], &source, &given);
		if (status != PCTL_OK)
			return status;
		if (v->space == PCTL_SPACE_UNIFORM)
			status = uniform(l, program, &job->in[i], given, &m->uniform_cid);
		else if (v->group == 0 && v->binding == 0)
			m->input = source;
		else
			bindings[m->n_bindings++] =
				(pctl_msg_binding){v->group, v->binding, source};
	}
	if (m->n_bindings > 1)
		qsort(bindings, m->n_bindings, sizeof(*bindings), pctl_msg_binding_order);
	return status;
}

pctl_status pctl_lowering_order(lowering *l, const pctl_pipe_job *job, pctl_msg_execute *m)
{
	const char **ids = pctl_arena_array(l->arena, job->n_after, sizeof(*ids));

	if (ids == NULL)
		return pctl_no_memory(l->call, "a pipeline");
	for (uint32_t k = 0; k < job->n_after; k++) {
		const pctl_pipe_ref *ref = &job->after[k];
		uint32_t i = 0;

		while (i < l->p->n_jobs &&
		       (l->ids[i] == NULL || strcmp(l->p->jobs[i].id, ref->text) != 0))
			i++;
		if (i == l->p->n_jobs)
			return pctl_lowering_cannot(l, &ref->pos, "no earlier job has this name");
		ids[k] = l->ids[i];
	}
	if (job->n_after > 1)
		qsort(ids, job->n_after, sizeof(*ids), pctl_order_texts);
	m->after = ids;
	m->n_after = job->n_after;
	return PCTL_OK;
}
