/* Reading a pipeline file: its schema, then the plain tables of pipeline.h. */
#include "runtime/graph/pipeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/conf/schema.h"

#define COUNT(a) ((uint32_t)(sizeof(a) / sizeof((a)[0])))

static const char *const class_words[] = {"integer", "strict", "approximate", NULL};
static const char *const job_kinds[] = {"op", "shader", "vm"};

static const pctl_conf_field scalar_element = {.key = "value", .kind = PCTL_FIELD_SCALAR};
static const pctl_conf_field string_element = {.key = "reference", .kind = PCTL_FIELD_STRING};
/* A reference, or several between brackets: read_feeds says which. */
static const pctl_conf_field feed_element = {.key = "reference", .kind = PCTL_FIELD_ANY};

static const pctl_conf_field input_fields[] = {
	{.key = "type",
	 .kind = PCTL_FIELD_STRING,
	 .flags = PCTL_FIELD_REQUIRED,
	 .doc = "type of the data, u32[m,2]"},
	{.key = "file",
	 .kind = PCTL_FIELD_STRING,
	 .doc = "read from this file unless --in names another"},
	{.key = "cid",
	 .kind = PCTL_FIELD_STRING,
	 .doc = "taken from the store unless --in names another"},
};
static const pctl_conf_schema input_schema = PCTL_CONF_SCHEMA("an input", input_fields);
static const pctl_conf_field input_element = {
	.key = "input", .kind = PCTL_FIELD_GROUP, .group = &input_schema};

static const pctl_conf_field repeat_fields[] = {
	{.key = "count",
	 .kind = PCTL_FIELD_SCALAR,
	 .flags = PCTL_FIELD_REQUIRED,
	 .doc = "how often; 0 passes the carried inputs on"},
	{.key = "carry",
	 .kind = PCTL_FIELD_MAP,
	 .element = &string_element,
	 .flags = PCTL_FIELD_REQUIRED,
	 .doc = "input port = the output port that feeds it the next time"},
};
static const pctl_conf_schema repeat_schema = PCTL_CONF_SCHEMA("a repeat", repeat_fields);

static const pctl_conf_field job_fields[] = {
	{.key = "id",
	 .kind = PCTL_FIELD_NAME,
	 .flags = PCTL_FIELD_REQUIRED,
	 .doc = "name of the job"},
	{.key = "op", .kind = PCTL_FIELD_STRING, .doc = "an op of an op library, rank.step@1"},
	{.key = "shader", .kind = PCTL_FIELD_STRING, .doc = "a WGSL file"},
	{.key = "vm", .kind = PCTL_FIELD_STRING, .doc = "a file of a machine, x.vm.cfg"},
	{.key = "entry", .kind = PCTL_FIELD_NAME, .doc = "entry point of the shader"},
	{.key = "dispatch",
	 .kind = PCTL_FIELD_LIST,
	 .min = 1,
	 .max = 3,
	 .element = &scalar_element,
	 .doc = "workgroups: numbers, \"$param\", \"dim\" or \"dim/64\" (rounded up)"},
	{.key = "in",
	 .kind = PCTL_FIELD_MAP,
	 .element = &feed_element,
	 .doc = "port = \"$input\" or \"job.port\"; [ .. ] of them where the port is a list"},
	{.key = "out",
	 .kind = PCTL_FIELD_MAP,
	 .element = &string_element,
	 .doc = "variable = type (shader jobs), or place = type (vm jobs)"},
	{.key = "attr",
	 .kind = PCTL_FIELD_MAP,
	 .element = &scalar_element,
	 .doc = "attributes of the op"},
	{.key = "override",
	 .kind = PCTL_FIELD_MAP,
	 .element = &scalar_element,
	 .doc = "overrides of the shader"},
	{.key = "repeat",
	 .kind = PCTL_FIELD_GROUP,
	 .group = &repeat_schema,
	 .doc = "run several times"},
	{.key = "after",
	 .kind = PCTL_FIELD_LIST,
	 .element = &string_element,
	 .doc = "jobs that run before"},
	{.key = "placement",
	 .kind = PCTL_FIELD_STRING,
	 .doc = "a backend or device this job must run on"},
};
static const pctl_conf_schema job_schema = PCTL_CONF_SCHEMA("a job", job_fields);
static const pctl_conf_field job_element = {
	.key = "job", .kind = PCTL_FIELD_GROUP, .group = &job_schema};

static const pctl_conf_field pipeline_fields[] = {
	{.key = "name",
	 .kind = PCTL_FIELD_NAME,
	 .flags = PCTL_FIELD_REQUIRED,
	 .doc = "name of the pipeline"},
	{.key = "about", .kind = PCTL_FIELD_STRING, .doc = "what it does, one line"},
	{.key = "class",
	 .kind = PCTL_FIELD_CHOICE,
	 .words = class_words,
	 .flags = PCTL_FIELD_REQUIRED,
	 .doc = "the most it may need: integer, strict or approximate"},
	{.key = "gas_limit", .kind = PCTL_FIELD_U64, .doc = "refused above this"},
	{.key = "params",
	 .kind = PCTL_FIELD_MAP,
	 .element = &scalar_element,
	 .doc = "name = default, --set changes it"},
	{.key = "inputs",
	 .kind = PCTL_FIELD_MAP,
	 .element = &input_element,
	 .doc = "data that comes from outside"},
	{.key = "jobs",
	 .kind = PCTL_FIELD_LIST,
	 .min = 1,
	 .element = &job_element,
	 .flags = PCTL_FIELD_REQUIRED,
	 .doc = "what runs"},
	{.key = "outputs",
	 .kind = PCTL_FIELD_MAP,
	 .element = &string_element,
	 .flags = PCTL_FIELD_REQUIRED,
	 .doc = "name = \"job.port\""},
};
static const pctl_conf_schema pipeline_schema = PCTL_CONF_SCHEMA("a pipeline", pipeline_fields);
static const pctl_conf_field file_fields[] = {
	{.key = "pipeline",
	 .kind = PCTL_FIELD_GROUP,
	 .group = &pipeline_schema,
	 .flags = PCTL_FIELD_REQUIRED,
	 .doc = "the pipeline"},
};
static const pctl_conf_schema file_schema = PCTL_CONF_SCHEMA("a pipeline file", file_fields);

const pctl_conf_schema *pctl_pipeline_schema(void)
{
	return &file_schema;
}

struct reader {
	pctl_pipeline *p;
	const pctl_call *call;
	pctl_status status;
};

static void keep(struct reader *r, pctl_status status)
{
	if (r->status == PCTL_OK)
		r->status = status;
}

static const char *dup(struct reader *r, const char *s)
{
	const char *copy = pctl_arena_dup(r->p->arena, s);

	if (s != NULL && copy == NULL)
		keep(r, pctl_no_memory(r->call, "a pipeline"));
	return copy == NULL && s != NULL ? "" : copy;
}

static void *table(struct reader *r, uint32_t n, size_t size)
{
	void *t = pctl_arena_array(r->p->arena, n, size);

	if (t == NULL)
		keep(r, pctl_no_memory(r->call, "a pipeline"));
	return t;
}

static pctl_pos place(struct reader *r, pctl_pos pos)
{
	pos.file = dup(r, pos.file);
	return pos;
}

static uint32_t count(const pctl_conf_value *v)
{
	return v == NULL ? 0 : v->n_items;
}

static pctl_pipe_value read_value(struct reader *r, const pctl_conf_value *v)
{
	pctl_pipe_value out = {place(r, v->pos), dup(r, v->text), 0, v->kind == PCTL_CONF_STRING};

	if (out.is_string && out.text[0] == '$') {
		out.text++;
		out.is_param = 1;
	}
	return out;
}

static pctl_pipe_ref read_ref(struct reader *r, const pctl_conf_value *v)
{
	pctl_pipe_ref out = {place(r, v->pos), dup(r, v->text), NULL, NULL};
	const char *dot = strchr(out.text, '.');

	if (out.text[0] == '$' && dot == NULL && out.text[1] != '\0') {
		out.name = out.text + 1;
	} else if (dot != NULL && dot != out.text && dot[1] != '\0' && out.text[0] != '$') {
		out.job = pctl_arena_dup_n(r->p->arena, out.text, (size_t)(dot - out.text));
		out.name = dot + 1;
	} else {
		keep(r, pctl_refuse_at(r->call, PC4003_REFERENCE_SYNTAX, &v->pos,
				       "write \"$input\" or \"job.port\"",
				       "\"%s\" is not a reference", out.text));
		out.name = "";
	}
	return out;
}

static int is_list(const pctl_conf_value *v)
{
	return v->kind == PCTL_CONF_ARRAY || v->kind == PCTL_CONF_LIST;
}

/* What feeds a port, or each element of a list that does. */
static pctl_pipe_feed *read_feeds(struct reader *r, const pctl_conf_value *v, uint32_t *n)
{
	pctl_pipe_feed *feeds;
	uint32_t most = 0;

	for (uint32_t i = 0; i < count(v); i++)
		most += is_list(v->items[i]) ? v->items[i]->n_items : 1;
	feeds = table(r, most, sizeof(*feeds));
	*n = 0;
	for (uint32_t i = 0; feeds != NULL && i < count(v); i++) {
		const pctl_conf_value *item = v->items[i];

		if (is_list(item) && item->n_items == 0)
			keep(r, pctl_refuse_at(r->call, PC4108_LIST, &item->pos, NULL,
					       "the list for port \"%s\" is empty", item->key));
		for (uint32_t k = 0; k < (is_list(item) ? item->n_items : 1); k++) {
			const pctl_conf_value *from = is_list(item) ? item->items[k] : item;

			if (from->kind != PCTL_CONF_STRING) {
				keep(r, pctl_refuse_at(r->call, PC4003_REFERENCE_SYNTAX, &from->pos,
						       "write \"$input\" or \"job.port\"",
						       "what feeds port \"%s\" is not a reference",
						       item->key));
				continue;
			}
			feeds[*n].port = dup(r, item->key);
			feeds[*n].pos = place(r, item->key_pos);
			feeds[(*n)++].from = read_ref(r, from);
		}
	}
	return feeds;
}

static pctl_pipe_named *read_named(struct reader *r, const pctl_conf_value *v, uint32_t *n)
{
	pctl_pipe_named *named = table(r, count(v), sizeof(*named));

	*n = named == NULL ? 0 : count(v);
	for (uint32_t i = 0; i < *n; i++) {
		named[i].name = dup(r, v->items[i]->key);
		named[i].pos = place(r, v->items[i]->key_pos);
		named[i].value = read_value(r, v->items[i]);
	}
	return named;
}

static void read_type(struct reader *r, const pctl_conf_value *v, pctl_type_pattern *out)
{
	pctl_status status = pctl_type_parse(v->text, r->p->arena, &v->pos, r->call, out);

	if (status == PCTL_OK && out->n_dtypes != 1)
		status = pctl_refuse_at(r->call, PC4020_TYPE_SYNTAX, &v->pos,
					"name one element type", "\"%s\" is not one type", v->text);
	for (uint32_t i = 0; status == PCTL_OK && i < out->rank && !out->any_shape; i++) {
		if (out->dim[i].name == NULL && out->dim[i].value == 0)
			status =
				pctl_refuse_at(r->call, PC4021_EXTENT, &v->pos,
					       "name the dimension where data may be empty: u32[n]",
					       "\"%s\" has an extent of 0", v->text);
	}
	keep(r, status);
}

static void read_repeat(struct reader *r, const pctl_conf_value *v, pctl_pipe_job *job)
{
	const pctl_conf_value *carry = pctl_conf_get(v, "carry");

	if (v == NULL)
		return;
	job->repeat = read_value(r, pctl_conf_get(v, "count"));
	job->carry = table(r, count(carry), sizeof(*job->carry));
	job->n_carry = job->carry == NULL ? 0 : count(carry);
	for (uint32_t i = 0; i < job->n_carry; i++) {
		const pctl_conf_value *c = carry->items[i];
		pctl_pipe_feed *f = &job->carry[i];

		f->port = dup(r, c->key);
		f->pos = place(r, c->key_pos);
		f->from = (pctl_pipe_ref){place(r, c->pos), dup(r, c->text), NULL, dup(r, c->text)};
	}
}

static void read_results(struct reader *r, const pctl_conf_value *v, pctl_pipe_job *job)
{
	const pctl_conf_value *out = pctl_conf_get(v, "out");

	job->out = table(r, count(out), sizeof(*job->out));
	job->n_out = job->out == NULL ? 0 : count(out);
	for (uint32_t i = 0; i < job->n_out; i++) {
		job->out[i].name = dup(r, out->items[i]->key);
		job->out[i].pos = place(r, out->items[i]->key_pos);
		job->out[i].type_pos = place(r, out->items[i]->pos);
		read_type(r, out->items[i], &job->out[i].type);
	}
}

static void refuse_keys(struct reader *r, const pctl_conf_value *v, const pctl_pipe_job *job,
			const char *kind, const char *const *keys, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const pctl_conf_value *wrong = pctl_conf_get(v, keys[i]);

		if (wrong != NULL)
			keep(r,
			     pctl_refuse_at(r->call, PC4005_JOB_KIND, &wrong->key_pos, NULL,
					    "%s job \"%s\" takes no `%s`: that is for shader jobs",
					    kind, job->id, keys[i]));
	}
}

static void read_vm(struct reader *r, const pctl_conf_value *v, pctl_pipe_job *job)
{
	static const char *const shader_keys[] = {"entry", "dispatch", "override", "attr"};

	job->kind = PCTL_JOB_VM;
	job->shader = dup(r, pctl_conf_get(v, "vm")->text);
	job->op_pos = place(r, pctl_conf_get(v, "vm")->pos);
	read_results(r, v, job);
	refuse_keys(r, v, job, "vm", shader_keys, COUNT(shader_keys));
}

static void read_shader(struct reader *r, const pctl_conf_value *v, pctl_pipe_job *job)
{
	const pctl_conf_value *dispatch = pctl_conf_get(v, "dispatch");

	job->kind = PCTL_JOB_SHADER;
	job->shader = dup(r, pctl_conf_get(v, "shader")->text);
	job->op_pos = place(r, pctl_conf_get(v, "shader")->pos);
	job->entry = dup(r, pctl_conf_string_or(v, "entry", NULL));
	job->attr = read_named(r, pctl_conf_get(v, "override"), &job->n_attr);
	if (dispatch == NULL)
		keep(r, pctl_refuse_at(r->call, PC4005_JOB_KIND, &v->pos,
				       "add dispatch = [ X, Y, Z ];",
				       "shader job \"%s\" has no dispatch", job->id));
	for (uint32_t i = 0; i < count(dispatch) && i < 3; i++)
		job->groups[job->n_groups++] = read_value(r, dispatch->items[i]);
	read_results(r, v, job);
	if (pctl_conf_get(v, "attr") != NULL)
		keep(r, pctl_refuse_at(r->call, PC4005_JOB_KIND, &pctl_conf_get(v, "attr")->key_pos,
				       "overrides of a shader stand under `override`",
				       "shader job \"%s\" takes no `attr`", job->id));
}

static void read_op(struct reader *r, const pctl_conf_value *v, pctl_pipe_job *job)
{
	static const char *const shader_keys[] = {"entry", "dispatch", "out", "override"};
	const pctl_conf_value *op = pctl_conf_get(v, "op");

	job->kind = PCTL_JOB_OP;
	job->op_pos = place(r, op->pos);
	if (!pctl_op_name_parse(op->text, r->p->arena, &job->op, &job->version_min,
				&job->version_max))
		keep(r,
		     pctl_refuse_at(r->call, PC4004_OP_SYNTAX, &op->pos, "write library.op@version",
				    "\"%s\" is not the name of an op", op->text));
	job->attr = read_named(r, pctl_conf_get(v, "attr"), &job->n_attr);
	refuse_keys(r, v, job, "op", shader_keys, COUNT(shader_keys));
}

static void read_job(struct reader *r, const pctl_conf_value *v, pctl_pipe_job *job)
{
	const pctl_conf_value *after = pctl_conf_get(v, "after"),
			      *placement = pctl_conf_get(v, "placement");
	uint32_t kinds = 0;

	job->id = dup(r, pctl_conf_get(v, "id")->text);
	job->pos = place(r, pctl_conf_get(v, "id")->pos);
	for (uint32_t i = 0; i < COUNT(job_kinds); i++)
		kinds += pctl_conf_get(v, job_kinds[i]) != NULL;
	if (kinds != 1)
		keep(r, pctl_refuse_at(r->call, PC4005_JOB_KIND, &v->pos,
				       "give one of `op`, `shader` and `vm`", "job \"%s\" runs %s",
				       job->id, kinds == 0 ? "nothing" : "more than one thing"));
	else if (pctl_conf_get(v, "op") != NULL)
		read_op(r, v, job);
	else if (pctl_conf_get(v, "vm") != NULL)
		read_vm(r, v, job);
	else
		read_shader(r, v, job);
	job->in = read_feeds(r, pctl_conf_get(v, "in"), &job->n_in);
	read_repeat(r, pctl_conf_get(v, "repeat"), job);
	job->after = table(r, count(after), sizeof(*job->after));
	job->n_after = job->after == NULL ? 0 : count(after);
	for (uint32_t i = 0; i < job->n_after; i++)
		job->after[i] = (pctl_pipe_ref){place(r, after->items[i]->pos),
						dup(r, after->items[i]->text),
						dup(r, after->items[i]->text), NULL};
	if (placement != NULL) {
		job->placement = dup(r, placement->text);
		job->placement_pos = place(r, placement->pos);
	}
}

static void read_inputs(struct reader *r, const pctl_conf_value *v)
{
	pctl_pipeline *p = r->p;

	p->inputs = table(r, count(v), sizeof(*p->inputs));
	p->n_inputs = p->inputs == NULL ? 0 : count(v);
	for (uint32_t i = 0; i < p->n_inputs; i++) {
		const pctl_conf_value *g = v->items[i], *file = pctl_conf_get(g, "file"),
				      *cid = pctl_conf_get(g, "cid");
		pctl_pipe_input *in = &p->inputs[i];

		in->name = dup(r, g->key);
		in->pos = place(r, g->key_pos);
		read_type(r, pctl_conf_get(g, "type"), &in->type);
		in->file = dup(r, pctl_conf_string_or(g, "file", NULL));
		in->cid = dup(r, pctl_conf_string_or(g, "cid", NULL));
		if (file != NULL || cid != NULL)
			in->source_pos = place(r, file != NULL ? file->pos : cid->pos);
		if (file != NULL && cid != NULL)
			keep(r, pctl_refuse_at(r->call, PC4006_INPUT_SOURCE, &cid->pos,
					       "keep one of them",
					       "input \"%s\" has both a file and a cid", in->name));
	}
}

static void read_pipeline(struct reader *r, const pctl_conf_value *v)
{
	const pctl_conf_value *params = pctl_conf_get(v, "params"),
			      *jobs = pctl_conf_get(v, "jobs"),
			      *outputs = pctl_conf_get(v, "outputs");
	const pctl_conf_value *gas = pctl_conf_get(v, "gas_limit"),
			      *class = pctl_conf_get(v, "class");
	pctl_pipeline *p = r->p;
	uint32_t word;

	p->name = dup(r, pctl_conf_get(v, "name")->text);
	p->about = dup(r, pctl_conf_string_or(v, "about", NULL));
	if (pctl_conf_as_choice(class, class_words, 3, r->call, &word) == PCTL_OK)
		p->max_class = PCTL_CLASS_INTEGER + word;
	p->class_pos = place(r, class->pos);
	if (gas != NULL) {
		p->has_gas_limit = 1;
		keep(r, pctl_conf_as_u64(gas, 0, UINT64_MAX, r->call, &p->gas_limit));
		p->gas_pos = place(r, gas->pos);
	}
	p->params = table(r, count(params), sizeof(*p->params));
	p->n_params = p->params == NULL ? 0 : count(params);
	for (uint32_t i = 0; i < p->n_params; i++) {
		p->params[i].name = dup(r, params->items[i]->key);
		p->params[i].pos = place(r, params->items[i]->key_pos);
		p->params[i].value = read_value(r, params->items[i]);
	}
	read_inputs(r, pctl_conf_get(v, "inputs"));
	p->jobs = table(r, count(jobs), sizeof(*p->jobs));
	p->n_jobs = p->jobs == NULL ? 0 : count(jobs);
	for (uint32_t i = 0; i < p->n_jobs; i++)
		read_job(r, jobs->items[i], &p->jobs[i]);
	p->outputs = read_feeds(r, outputs, &p->n_outputs);
	if (count(outputs) == 0)
		keep(r, pctl_refuse_at(r->call, PC4022_NO_OUTPUT, &outputs->pos,
				       "name what the pipeline gives: { name = \"job.port\"; }",
				       "pipeline \"%s\" has no outputs", p->name));
}

static const char *directory_of(pctl_arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL
		       ? "."
		       : pctl_arena_dup_n(arena, path, slash == path ? 1 : (size_t)(slash - path));
}

/* Takes conf over. */
static pctl_status read_conf(const pctl_vfs *vfs, const char *path, pctl_conf *conf,
			     const pctl_call *call, pctl_pipeline **out)
{
	struct reader r = {.call = call};

	r.status = pctl_conf_check(pctl_conf_root(conf), &file_schema, call);
	if (r.status != PCTL_OK)
		goto out;
	r.p = pctl_pipeline_create("");
	if (r.p == NULL) {
		r.status = pctl_no_memory(call, "a pipeline");
		goto out;
	}
	r.p->file = dup(&r, path);
	r.p->directory = directory_of(r.p->arena, path);
	r.p->vfs = vfs;
	read_pipeline(&r, pctl_conf_get(pctl_conf_root(conf), "pipeline"));
	if (r.status == PCTL_OK) {
		*out = r.p;
		r.p = NULL;
	}
out:
	pctl_pipeline_destroy(r.p);
	pctl_conf_destroy(conf);
	return r.status;
}

pctl_status pctl_pipeline_read_vfs(const pctl_vfs *vfs, const char *name, const pctl_call *call,
				   pctl_pipeline **out)
{
	pctl_conf *conf;
	pctl_status status;

	*out = NULL;
	status = pctl_conf_read_vfs(vfs, name, call, &conf);
	return status != PCTL_OK ? status : read_conf(vfs, name, conf, call, out);
}

pctl_status pctl_pipeline_read(const char *path, const pctl_call *call, pctl_pipeline **out)
{
	return pctl_pipeline_read_vfs(NULL, path, call, out);
}

pctl_status pctl_pipeline_read_text(const char *name, const char *text, size_t n,
				    const pctl_call *call, pctl_pipeline **out)
{
	pctl_conf *conf;
	pctl_status status;

	*out = NULL;
	status = pctl_conf_read_text(name, text, n, call, &conf);
	return status != PCTL_OK ? status : read_conf(NULL, name, conf, call, out);
}

pctl_pipeline *pctl_pipeline_create(const char *name)
{
	pctl_arena *arena = pctl_arena_create();
	pctl_pipeline *p = arena == NULL ? NULL : pctl_arena_alloc(arena, sizeof(*p));

	if (p == NULL) {
		pctl_arena_destroy(arena);
		return NULL;
	}
	p->arena = arena;
	p->file = "pipeline";
	p->directory = ".";
	p->name = pctl_arena_dup(arena, name);
	p->max_class = PCTL_CLASS_APPROXIMATE;
	return p;
}

void pctl_pipeline_destroy(pctl_pipeline *p)
{
	if (p != NULL)
		pctl_arena_destroy(p->arena); /* which holds p itself */
}

int pctl_op_name_parse(const char *text, pctl_arena *arena, const char **name, uint32_t *min,
		       uint32_t *max)
{
	const char *at = strchr(text, '@'), *dots;
	size_t n = at == NULL ? strlen(text) : (size_t)(at - text);
	uint64_t lo = 0, hi = 0;

	*name = pctl_arena_dup_n(arena, text, n);
	*min = *max = 0;
	if (*name == NULL || n == 0 || memchr(text, '.', n) == NULL)
		return 0;
	if (at == NULL)
		return 1;
	dots = strstr(at + 1, "..");
	if (!pctl_num_parse_u64(at + 1, dots == NULL ? strlen(at + 1) : (size_t)(dots - at - 1),
				&lo))
		return 0;
	hi = lo;
	if (dots != NULL && !pctl_num_parse_u64(dots + 2, strlen(dots + 2), &hi))
		return 0;
	if (lo == 0 || hi < lo || hi > UINT32_MAX)
		return 0;
	*min = (uint32_t)lo;
	*max = (uint32_t)hi;
	return 1;
}

const char *pctl_class_name(uint32_t c)
{
	return c >= PCTL_CLASS_INTEGER && c <= PCTL_CLASS_APPROXIMATE
		       ? class_words[c - PCTL_CLASS_INTEGER]
		       : "?";
}
