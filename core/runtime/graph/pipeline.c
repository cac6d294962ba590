/* Reading a pipeline file: its schema, then the plain tables of pipeline.h. Jobs are read by pipeline_job.c, groups of them opened up
 * by pipeline_group.c, inputs by pipeline_inputs.c. */
#include "runtime/graph/pipeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/base/str.h"
#include "foundation/conf/schema.h"
#include "runtime/graph/pipeline_private.h"

void pctl_pipe_keep(pctl_pipe_reader *r, pctl_status status)
{
	if (r->status == PCTL_OK)
		r->status = status;
}

const char *pctl_pipe_dup(pctl_pipe_reader *r, const char *s)
{
	const char *copy = pctl_arena_dup(r->p->arena, s);

	if (s != NULL && copy == NULL)
		pctl_pipe_keep(r, pctl_no_memory(r->call, "a pipeline"));
	return copy == NULL && s != NULL ? "" : copy;
}

void *pctl_pipe_table(pctl_pipe_reader *r, uint32_t n, size_t size)
{
	void *t = pctl_arena_array(r->p->arena, n, size);

	if (t == NULL)
		pctl_pipe_keep(r, pctl_no_memory(r->call, "a pipeline"));
	return t;
}

pctl_pos pctl_pipe_place(pctl_pipe_reader *r, pctl_pos pos)
{
	if (pos.file != r->file_from) {
		r->file_from = pos.file;
		r->file = pctl_pipe_dup(r, pos.file);
	}
	pos.file = r->file;
	return pos;
}

uint32_t pctl_pipe_count(const pctl_conf_value *v)
{
	return v == NULL ? 0 : v->n_items;
}

pctl_pipe_value pctl_pipe_read_value(pctl_pipe_reader *r, const pctl_conf_value *v)
{
	pctl_pipe_value out = {pctl_pipe_place(r, v->pos), pctl_pipe_text(r, v), 0,
			       v->kind == PCTL_CONF_STRING};

	if (out.is_string && out.text[0] == '$') {
		out.text++;
		out.is_param = 1;
	}
	return out;
}

static const char *set_to(const pctl_pipe_reader *r, const char *param)
{
	for (uint32_t i = 0; i < r->n_sets; i++)
		if (strcmp(r->sets[i].name, param) == 0)
			return r->sets[i].value;
	for (uint32_t i = 0; i < r->p->n_params; i++)
		if (strcmp(r->p->params[i].name, param) == 0)
			return r->p->params[i].value.text;
	return NULL;
}

int pctl_pipe_count_of(pctl_pipe_reader *r, const pctl_conf_value *v, const char *what,
		       uint64_t *out)
{
	const pctl_pipe_value value = pctl_pipe_read_value(r, v);
	const char *text = value.is_param ? set_to(r, value.text) : value.text;

	if (text == NULL) {
		const char **names = pctl_pipe_table(r, r->p->n_params + 1u, sizeof(*names));
		char *hint;

		for (uint32_t i = 0; names != NULL && i < r->p->n_params; i++)
			names[i] = r->p->params[i].name;
		hint = names == NULL || r->p->n_params == 0
			       ? NULL
			       : pctl_conf_hint_names(value.text, names, r->p->n_params);
		pctl_pipe_keep(r, pctl_refuse_at(r->call, PC4011_PARAM_UNKNOWN, &v->pos, hint,
						 "no parameter \"%s\"", value.text));
		free(hint);
		return 0;
	}
	if (pctl_num_parse_u64(text, strlen(text), out) && *out <= UINT32_MAX)
		return 1;
	pctl_pipe_keep(r, pctl_refuse_at(r->call, PC4117_REPEAT, &v->pos,
					 "give a number up to 4294967295",
					 "the count \"%s\" of %s is no such number", text, what));
	return 0;
}

void pctl_pipe_read_type(pctl_pipe_reader *r, const pctl_conf_value *v, pctl_type_pattern *out)
{
	const char *text = pctl_pipe_text(r, v);
	pctl_status status = pctl_type_parse(text, r->p->arena, &v->pos, r->call, out);

	if (status == PCTL_OK && out->n_dtypes != 1)
		status = pctl_refuse_at(r->call, PC4020_TYPE_SYNTAX, &v->pos,
					"name one element type", "\"%s\" is not one type", text);
	for (uint32_t i = 0; status == PCTL_OK && i < out->rank && !out->any_shape; i++) {
		if (out->dim[i].name == NULL && out->dim[i].value == 0)
			status =
				pctl_refuse_at(r->call, PC4021_EXTENT, &v->pos,
					       "name the dimension where data may be empty: u32[n]",
					       "\"%s\" has an extent of 0", text);
	}
	pctl_pipe_keep(r, status);
}

static void read_params(pctl_pipe_reader *r, const pctl_conf_value *params)
{
	pctl_pipeline *p = r->p;

	p->params = pctl_pipe_table(r, pctl_pipe_count(params), sizeof(*p->params));
	p->n_params = p->params == NULL ? 0 : pctl_pipe_count(params);
	for (uint32_t i = 0; i < p->n_params; i++) {
		p->params[i].name = pctl_pipe_dup(r, params->items[i]->key);
		p->params[i].pos = pctl_pipe_place(r, params->items[i]->key_pos);
		p->params[i].value = pctl_pipe_read_value(r, params->items[i]);
	}
}

static void read_outputs(pctl_pipe_reader *r, const pctl_conf_value *v)
{
	for (uint32_t i = 0; i < pctl_pipe_count(v); i++) {
		const pctl_conf_value *item = v->items[i];
		const pctl_pipe_feed f = {.port = pctl_pipe_dup(r, item->key),
					  .pos = pctl_pipe_place(r, item->key_pos),
					  .from = pctl_pipe_read_ref(r, item)};

		if (!PCTL_VEC_PUSH(&r->outputs, f))
			pctl_pipe_keep(r, pctl_no_memory(r->call, "a pipeline"));
	}
}

/* What grew while it was read, into the arena. */
static void *take(pctl_pipe_reader *r, const void *items, uint32_t n, size_t size, uint32_t *count)
{
	void *out = pctl_pipe_table(r, n, size);

	*count = out == NULL ? 0 : n;
	if (*count != 0)
		memcpy(out, items, n * size);
	return out;
}

static void read_pipeline(pctl_pipe_reader *r, const pctl_conf_value *v)
{
	const pctl_conf_value *jobs = pctl_conf_get(v, "jobs"),
			      *outputs = pctl_conf_get(v, "outputs");
	const pctl_conf_value *gas = pctl_conf_get(v, "gas_limit"),
			      *class = pctl_conf_get(v, "class");
	pctl_pipeline *p = r->p;
	uint32_t word;

	p->name = pctl_pipe_dup(r, pctl_conf_get(v, "name")->text);
	p->about = pctl_pipe_dup(r, pctl_conf_string_or(v, "about", NULL));
	if (pctl_conf_as_choice(class, pctl_pipe_class_words, PCTL_PIPE_KINDS, r->call, &word) ==
	    PCTL_OK)
		p->max_class = PCTL_CLASS_INTEGER + word;
	p->class_pos = pctl_pipe_place(r, class->pos);
	if (gas != NULL) {
		p->has_gas_limit = 1;
		pctl_pipe_keep(r, pctl_conf_as_u64(gas, 0, UINT64_MAX, r->call, &p->gas_limit));
		p->gas_pos = pctl_pipe_place(r, gas->pos);
	}
	read_params(r, pctl_conf_get(v, "params"));
	pctl_pipe_read_inputs(r, pctl_conf_get(v, "inputs"));
	for (uint32_t i = 0; i < pctl_pipe_count(jobs); i++)
		pctl_pipe_read_entry(r, jobs->items[i]);
	read_outputs(r, outputs);
	pctl_pipe_read_states(r, pctl_conf_get(v, "state"));
	pctl_pipe_resolve(r);
	p->jobs = take(r, r->jobs.items, r->jobs.n, sizeof(*p->jobs), &p->n_jobs);
	p->inputs = take(r, r->inputs.items, r->inputs.n, sizeof(*p->inputs), &p->n_inputs);
	p->outputs = take(r, r->outputs.items, r->outputs.n, sizeof(*p->outputs), &p->n_outputs);
	p->states = take(r, r->states.items, r->states.n, sizeof(*p->states), &p->n_states);
	if (p->n_jobs == 0 && r->status == PCTL_OK)
		pctl_pipe_keep(
			r, pctl_refuse_at(
				   r->call, PC4007_GROUP, &jobs->pos, "a count of 1 at least",
				   "pipeline \"%s\" has no job: its groups have no turn", p->name));
	if (p->n_outputs == 0)
		pctl_pipe_keep(
			r, pctl_refuse_at(r->call, PC4022_NO_OUTPUT, &outputs->pos,
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

static void clear(pctl_pipe_reader *r)
{
	pctl_pipeline_destroy(r->p);
	pctl_map_destroy(r->carried);
	pctl_map_destroy(r->named);
	free(r->jobs.items);
	free(r->inputs.items);
	free(r->outputs.items);
	free(r->states.items);
}

/* Takes conf over. */
static pctl_status read_conf(const pctl_vfs *vfs, const char *path, pctl_conf *conf,
			     const pctl_setting *sets, uint32_t n_sets, const pctl_call *call,
			     pctl_pipeline **out)
{
	pctl_pipe_once *once = pctl_pipe_once_create(call);
	pctl_pipe_reader r = {
		.call = pctl_pipe_once_call(once), .once = once, .sets = sets, .n_sets = n_sets};

	r.status = once == NULL
			   ? pctl_no_memory(call, "a pipeline")
			   : pctl_conf_check(pctl_conf_root(conf), pctl_pipeline_schema(), call);
	if (r.status != PCTL_OK)
		goto out;
	r.p = pctl_pipeline_create("");
	r.carried = pctl_map_create();
	r.named = pctl_map_create();
	if (r.p == NULL || r.carried == NULL || r.named == NULL) {
		r.status = pctl_no_memory(call, "a pipeline");
		goto out;
	}
	r.p->file = pctl_pipe_dup(&r, path);
	r.p->directory = directory_of(r.p->arena, path);
	r.p->vfs = vfs;
	read_pipeline(&r, pctl_conf_get(pctl_conf_root(conf), "pipeline"));
	if (r.status == PCTL_OK) {
		*out = r.p;
		r.p = NULL;
	}
out:
	clear(&r);
	pctl_pipe_once_destroy(once);
	pctl_conf_destroy(conf);
	return r.status;
}

pctl_status pctl_pipeline_read_set(const pctl_vfs *vfs, const char *name, const pctl_setting *sets,
				   uint32_t n_sets, const pctl_call *call, pctl_pipeline **out)
{
	pctl_conf *conf;
	pctl_status status;

	*out = NULL;
	status = pctl_conf_read_vfs(vfs, name, call, &conf);
	return status != PCTL_OK ? status : read_conf(vfs, name, conf, sets, n_sets, call, out);
}

pctl_status pctl_pipeline_read_vfs(const pctl_vfs *vfs, const char *name, const pctl_call *call,
				   pctl_pipeline **out)
{
	return pctl_pipeline_read_set(vfs, name, NULL, 0, call, out);
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
	return status != PCTL_OK ? status : read_conf(NULL, name, conf, NULL, 0, call, out);
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
		       ? pctl_pipe_class_words[c - PCTL_CLASS_INTEGER]
		       : "?";
}
