/* The shader jobs of a pipeline as messages of one batch. Shaders that the registry lacks are uploaded by the sender, data
 * goes into the store, and an edge between jobs becomes an input job:ID. */
#include "chain/home/pipeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "foundation/base/num.h"
#include "chain/registry/registry.h"
#include "chain/messages/uniform.h"
#include "chain/transition/submit.h"
#include "runtime/graph/pipeline.h"

/* ---- overrides ----------------------------------------------------------------------------- */

static int compare_overrides(const void *a, const void *b)
{
	return strcmp(((const pctl_msg_override *)a)->name, ((const pctl_msg_override *)b)->name);
}

pctl_status pctl_home_overrides(pctl_installation *in, pctl_chain *c,
				const pctl_override_value *given, uint32_t n, pctl_arena *arena,
				const pctl_call *call, pctl_msg_execute *m)
{
	pctl_msg_override *to = pctl_arena_array(arena, n, sizeof(*to));
	const pctl_chain_source *source;
	const pctl_program *program;
	pctl_params params;
	pctl_status status = PCTL_OK;

	m->overrides = to;
	m->n_overrides = n;
	if (to == NULL)
		return pctl_no_memory(call, "overrides");
	if (n == 0)
		return PCTL_OK;
	status = pctl_chain_source_of(c, m->shader_cid, call, &source);
	if (status == PCTL_OK)
		status = pctl_home_params(c, call, &params);
	if (status == PCTL_OK)
		status = pctl_rules_compiled(in->kernels, source, &params, call, &program);
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		to[i].name = given[i].name;
		status = pctl_override_bits(program, &given[i], call, &to[i].bits);
	}
	if (status == PCTL_OK && n > 1)
		qsort(to, n, sizeof(*to), compare_overrides);
	return status;
}

#define LARGEST_INPUT (128u << 20)

/* A dimension that a size of data gave, an input in the store, a job that was taken in. */
typedef struct dimension {
	const char *name;
	uint64_t value;
} dimension;
typedef struct datum {
	const char *cid;
	uint64_t n_bytes;
} datum;

typedef struct lowering {
	pctl_installation *in;
	pctl_chain *c;
	const pctl_home_submit *o;
	const pctl_call *call;
	pctl_arena *arena;
	const pctl_pipeline *p;
	const pctl_vfs *view;	 /* the texts that were admitted */
	const char **param_text; /* by p->params */
	datum *inputs;		 /* by p->inputs */
	const char **ids;	 /* by p->jobs; NULL: not submitted yet */
	dimension *dims;
	uint32_t n_dims, reserved;
} lowering;

static pctl_status cannot(const lowering *l, const pctl_pos *pos, const char *what)
{
	return pctl_refuse_at(l->call, PC5827_JOB_PIPELINE, pos, NULL, "%s", what);
}

/* ---- numbers ------------------------------------------------------------------------------- */

static const char *param(const lowering *l, const char *name)
{
	for (uint32_t i = 0; i < l->p->n_params; i++)
		if (strcmp(l->p->params[i].name, name) == 0)
			return l->param_text[i];
	return NULL;
}

/* A dimension by its name, or a parameter that is a number. */
static int value_of(void *ctx, const char *name, uint64_t *out)
{
	const lowering *l = ctx;
	const char *text;

	for (uint32_t i = 0; i < l->n_dims; i++) {
		if (strcmp(l->dims[i].name, name) == 0) {
			*out = l->dims[i].value;
			return 1;
		}
	}
	text = param(l, name);
	return text != NULL && pctl_num_parse_u64(text, strlen(text), out);
}

/* A number, "$param", "dim" or "dim/64", rounded up. */
static pctl_status read_number(lowering *l, const pctl_pipe_value *v, uint64_t *out)
{
	const char *text = v->is_param ? param(l, v->text) : v->text, *slash;
	uint64_t divisor = 1;
	char *name;

	if (text == NULL)
		return cannot(l, &v->pos, "there is no such parameter");
	if (pctl_num_parse_u64(text, strlen(text), out))
		return PCTL_OK;
	slash = strchr(text, '/');
	name = pctl_arena_dup_n(l->arena, text,
				slash == NULL ? strlen(text) : (size_t)(slash - text));
	if (name == NULL)
		return pctl_no_memory(l->call, "a pipeline");
	if ((slash != NULL &&
	     (!pctl_num_parse_u64(slash + 1, strlen(slash + 1), &divisor) || divisor == 0)) ||
	    !value_of(l, name, out))
		return cannot(l, &v->pos, "this is known only when the job runs");
	*out = pctl_num_div_up(*out, divisor);
	return PCTL_OK;
}

static pctl_status output_bytes(lowering *l, const pctl_pipe_result *r, uint64_t *out)
{
	uint64_t n = pctl_dtype_bytes(r->type.dtype[0]), one;
	int fits = !r->type.any_shape && r->type.n_dtypes == 1;

	for (uint32_t i = 0; fits && i < r->type.rank; i++) {
		one = r->type.dim[i].value;
		if (r->type.dim[i].name != NULL)
			fits = value_of(l, r->type.dim[i].name, &one);
		fits = fits && pctl_num_mul(n, one, &n);
	}
	*out = n;
	return fits ? PCTL_OK : cannot(l, &r->pos, "the size of this output is not known before");
}

/* ---- data ---------------------------------------------------------------------------------- */

static pctl_status put(lowering *l, const void *data, uint64_t n, datum *out)
{
	char text[PCTL_CID_TEXT_SIZE];
	pctl_cid cid;
	pctl_status status = pctl_store_put(pctl_chain_store(l->c), data, n, l->call, &cid);

	if (status != PCTL_OK)
		return status;
	out->cid = pctl_arena_dup(l->arena, pctl_cid_format(&cid, text));
	out->n_bytes = n;
	return out->cid == NULL ? pctl_no_memory(l->call, "a pipeline") : PCTL_OK;
}

static pctl_status put_file(lowering *l, const char *path, datum *out)
{
	char *data = NULL;
	uint64_t n = 0;
	pctl_status status = pctl_file_read(path, LARGEST_INPUT, l->call, &data, &n);

	if (status == PCTL_OK)
		status = put(l, data, n, out);
	free(data);
	return status;
}

static pctl_status open_input(lowering *l, const pctl_pipe_input *in, const char *given, datum *out)
{
	const char *word = given != NULL ? given : in->cid;
	char *path;
	pctl_cid cid;
	pctl_status status;

	if (word != NULL && pctl_cid_parse(word, &cid)) {
		out->cid = word;
		if (!pctl_store_has(pctl_chain_store(l->c), &cid))
			return pctl_refuse_at(l->call, PC5816_JOB_MISSING, &in->pos, NULL,
					      "no %s in the store", word);
		return pctl_store_size(pctl_chain_store(l->c), &cid, l->call, &out->n_bytes);
	}
	if (given != NULL)
		return put_file(l, given, out);
	if (in->file == NULL)
		return cannot(l, &in->pos, "this input has no data; name it with --in");
	path = in->file[0] == '/' ? strdup(in->file) : pctl_path_join(l->p->directory, in->file);
	status = path == NULL ? pctl_no_memory(l->call, "a pipeline") : put_file(l, path, out);
	free(path);
	return status;
}

/* What the size of an input says of its dimensions. */
static pctl_status learn(lowering *l, const pctl_pipe_input *in, const datum *d)
{
	pctl_tensor_type t;
	uint64_t known;

	if (in->type.any_shape)
		return PCTL_OK;
	if (pctl_type_from_bytes(&in->type, d->n_bytes, value_of, l, &t) != 1)
		return cannot(l, &in->pos, "the data does not have this type");
	for (uint32_t i = 0; i < in->type.rank; i++) {
		const char *name = in->type.dim[i].name;

		if (name == NULL)
			continue;
		if (!value_of(l, name, &known))
			l->dims[l->n_dims++] = (dimension){name, t.dim[i]};
		else if (known != t.dim[i])
			return cannot(l, &in->pos, "the data has another size than the type says");
	}
	return PCTL_OK;
}

static pctl_status open_inputs(lowering *l)
{
	const pctl_setting *given = l->o->ins;
	const uint32_t n = l->o->n_ins;
	pctl_status status = PCTL_OK;

	for (uint32_t k = 0; status == PCTL_OK && k < n; k++) {
		uint32_t i = 0;

		while (i < l->p->n_inputs && strcmp(l->p->inputs[i].name, given[k].name) != 0)
			i++;
		if (i == l->p->n_inputs)
			return pctl_refuse(l->call, PC10_USAGE,
					   "--in: the pipeline has no input \"%s\"", given[k].name);
	}
	for (uint32_t i = 0; status == PCTL_OK && i < l->p->n_inputs; i++) {
		const char *word = NULL;

		for (uint32_t k = 0; k < n; k++)
			if (strcmp(l->p->inputs[i].name, given[k].name) == 0)
				word = given[k].value;
		status = open_input(l, &l->p->inputs[i], word, &l->inputs[i]);
		if (status == PCTL_OK)
			status = learn(l, &l->p->inputs[i], &l->inputs[i]);
	}
	return status;
}

static pctl_status set_params(lowering *l)
{
	const pctl_setting *given = l->o->sets;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; i < l->p->n_params; i++)
		l->param_text[i] = l->p->params[i].value.text;
	for (uint32_t k = 0; status == PCTL_OK && k < l->o->n_sets; k++) {
		uint32_t i = 0;

		while (i < l->p->n_params && strcmp(l->p->params[i].name, given[k].name) != 0)
			i++;
		if (i == l->p->n_params)
			return pctl_refuse(l->call, PC10_USAGE,
					   "--set: the pipeline has no parameter \"%s\"",
					   given[k].name);
		l->param_text[i] = given[k].value;
	}
	return status;
}

/* ---- one job ------------------------------------------------------------------------------- */

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
	free(text);
	free(path);
	return status;
}

static const pctl_var *find_var(const pctl_program *p, const char *name)
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
		return cannot(l, &from->pos, "the pipeline has no such input");
	}
	for (uint32_t i = 0; i < l->p->n_jobs; i++) {
		if (strcmp(l->p->jobs[i].id, from->job) != 0 || l->ids[i] == NULL)
			continue;
		if (l->p->jobs[i].n_out != 1 || strcmp(l->p->jobs[i].out[0].name, from->name) != 0)
			return cannot(l, &from->pos, "the job has no such output");
		*out = pctl_arena_printf(l->arena, "job:%s", l->ids[i]);
		return *out == NULL ? pctl_no_memory(l->call, "a pipeline") : PCTL_OK;
	}
	return cannot(l, &from->pos, "no job of this name stands before");
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
		return cannot(l, &feed->pos, "uniforms cannot be the output of a job");
	status = pctl_cid_read(block->cid, l->call, &cid);
	if (status == PCTL_OK)
		status = pctl_store_get(pctl_chain_store(l->c), &cid, l->call, &blob);
	if (status != PCTL_OK)
		return status;
	status = pctl_uniform_encode(program, blob.data, blob.n_bytes, l->call, &document, &n);
	pctl_blob_release(&blob);
	if (status == PCTL_OK)
		status = put(l, document, n, &made);
	free(document);
	if (status == PCTL_OK)
		*out = made.cid;
	return status;
}

static int compare_bindings(const void *a, const void *b)
{
	const pctl_msg_binding *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return x->binding < y->binding ? -1 : x->binding > y->binding;
}

static pctl_status feed(lowering *l, const pctl_pipe_job *job, const pctl_program *program,
			pctl_msg_execute *m)
{
	pctl_msg_binding *bindings = pctl_arena_array(l->arena, job->n_in, sizeof(*bindings));
	pctl_status status = bindings == NULL ? pctl_no_memory(l->call, "a pipeline") : PCTL_OK;

	m->bindings = bindings;
	for (uint32_t i = 0; status == PCTL_OK && i < job->n_in; i++) {
		const pctl_var *v = find_var(program, job->in[i].port);
		const datum *given;
		const char *source;

		if (v == NULL)
			return cannot(l, &job->in[i].pos, "the shader has no such variable");
		if (v->access & PCTL_ACCESS_WRITE)
			return cannot(l, &job->in[i].pos, "an output begins as zeros on the chain");
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
		qsort(bindings, m->n_bindings, sizeof(*bindings), compare_bindings);
	return status;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static pctl_status order(lowering *l, const pctl_pipe_job *job, pctl_msg_execute *m)
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
			return cannot(l, &ref->pos, "no job of this name stands before");
		ids[k] = l->ids[i];
	}
	if (job->n_after > 1)
		qsort(ids, job->n_after, sizeof(*ids), compare_texts);
	m->after = ids;
	m->n_after = job->n_after;
	return PCTL_OK;
}

static pctl_status check_kind(const lowering *l, const pctl_pipe_job *job)
{
	if (job->kind != PCTL_JOB_SHADER)
		return cannot(l, &job->op_pos, "the chain runs shaders, not ops");
	if (job->repeat.text != NULL)
		return cannot(l, &job->repeat.pos, "the chain has no repeats");
	if (job->placement != NULL)
		return cannot(l, &job->placement_pos, "every node chooses its own device");
	return job->n_out == 1 ? PCTL_OK
			       : cannot(l, &job->pos, "a job of the chain has one output");
}

static pctl_status overrides(lowering *l, const pctl_pipe_job *job, pctl_msg_execute *m)
{
	pctl_override_value *values = pctl_arena_array(l->arena, job->n_attr, sizeof(*values));

	if (values == NULL)
		return pctl_no_memory(l->call, "a pipeline");
	for (uint32_t i = 0; i < job->n_attr; i++) {
		const pctl_pipe_value *v = &job->attr[i].value;
		const char *text = v->is_param ? param(l, v->text) : v->text;

		if (text == NULL)
			return cannot(l, &v->pos, "there is no such parameter");
		values[i] = (pctl_override_value){job->attr[i].name, 0, text};
	}
	return pctl_home_overrides(l->in, l->c, values, job->n_attr, l->arena, l->call, m);
}

static pctl_status fill(lowering *l, const pctl_pipe_job *job, pctl_msg_execute *m)
{
	const pctl_chain_source *source;
	const pctl_program *program = NULL;
	const pctl_var *out;
	pctl_params params;
	uint64_t groups = 1;
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
	out = find_var(program, job->out[0].name);
	if (out == NULL || out->group != 1 || out->binding != 0)
		return cannot(l, &job->out[0].pos, "the output is group 1 binding 0");
	status = feed(l, job, program, m);
	if (status == PCTL_OK)
		status = order(l, job, m);
	if (status == PCTL_OK)
		status = overrides(l, job, m);
	for (uint32_t d = 0; status == PCTL_OK && d < job->n_groups; d++) {
		status = read_number(l, &job->groups[d], &groups);
		if (status == PCTL_OK && groups > PCTL_MESSAGE_GROUPS_MAX)
			status = cannot(l, &job->groups[d].pos, "more than 65535 workgroups");
		m->dispatch[d] = (uint32_t)groups;
	}
	return status == PCTL_OK ? output_bytes(l, &job->out[0], &m->output_bytes) : status;
}

static pctl_status submit(lowering *l, uint32_t i)
{
	pctl_request r = {.kind = PCTL_MSG_EXECUTE};
	pctl_response out = {.kind = 0};
	pctl_status status = fill(l, &l->p->jobs[i], &r.as.execute);

	if (status == PCTL_OK)
		status = pctl_chain_apply(l->c, &r, l->call, &out);
	if (status == PCTL_OK)
		l->ids[i] = pctl_arena_dup(l->arena, out.as.execute.job_id);
	if (status == PCTL_OK && l->ids[i] == NULL)
		status = pctl_no_memory(l->call, "a pipeline");
	if (status == PCTL_OK && l->o->taken != NULL)
		status = l->o->taken(l->o->ctx, l->p->jobs[i].id, &out.as.execute);
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
	status = set_params(l);
	return status == PCTL_OK ? open_inputs(l) : status;
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
