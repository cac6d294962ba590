/* A job as the file has it: what it runs, what feeds it, what it repeats. */
#include <stdlib.h>
#include <string.h>

#include "runtime/graph/pipeline_private.h"

static const char *const job_kinds[] = {"op", "shader", "vm"};

#define COUNT(a) ((uint32_t)(sizeof(a) / sizeof((a)[0])))

/* ---- references --------------------------------------------------------------------------- */

int pctl_pipe_ref_parse(pctl_pipe_reader *r, const char *text, pctl_pipe_ref *out)
{
	const char *dot = strrchr(text, '.'), *slash = strchr(text, '/');

	out->text = text;
	out->job = out->name = NULL;
	if (text[0] == '$' && text[1] != '\0' && text[1] != '/' &&
	    (slash == NULL ? dot == NULL : slash[1] != '\0')) {
		out->name = text + 1;
		return 1;
	}
	if (text[0] == '$' || dot == NULL || dot == text || dot[1] == '\0')
		return 0;
	out->job = pctl_arena_dup_n(r->p->arena, text, (size_t)(dot - text));
	out->name = dot + 1;
	return out->job != NULL;
}

static void refuse_syntax(pctl_pipe_reader *r, const pctl_conf_value *v, const char *text)
{
	pctl_pipe_keep(r, pctl_refuse_at(r->call, PC4003_REFERENCE_SYNTAX, &v->pos,
					 "write \"$input\" or \"job.port\"",
					 "\"%s\" is not a reference", text));
}

/* "@x": what goes round, of the innermost group that has the name. */
static const char *carried_here(pctl_pipe_reader *r, const pctl_conf_value *v, const char *name)
{
	const char *names[64];
	uint32_t n = 0;
	char *hint;

	for (const pctl_pipe_turn *t = r->turn; t != NULL; t = t->outer) {
		for (uint32_t i = 0; i < pctl_pipe_count(t->carry); i++) {
			if (strcmp(t->carry->items[i]->key, name) == 0)
				return t->carried[i];
			if (n < COUNT(names))
				names[n++] = t->carry->items[i]->key;
		}
	}
	hint = n == 0 ? NULL : pctl_conf_hint_names(name, names, n);
	pctl_pipe_keep(r, pctl_refuse_at(r->call, PC4010_REFERENCE_UNKNOWN, &v->pos, hint,
					 "no group around this carries \"%s\"", name));
	free(hint);
	return NULL;
}

const char *pctl_pipe_ref_text(pctl_pipe_reader *r, const pctl_conf_value *v)
{
	const char *text = pctl_pipe_text(r, v), *full;
	pctl_pipe_ref ref;

	if (text[0] == '@' && text[1] != '\0')
		return carried_here(r, v, text + 1);
	if (!pctl_pipe_ref_parse(r, text, &ref)) {
		refuse_syntax(r, v, text);
		return NULL;
	}
	if (ref.job == NULL || r->turn == NULL)
		return text;
	full = pctl_arena_printf(r->p->arena, "%s.%s", pctl_pipe_job_name(r, ref.job), ref.name);
	if (full == NULL)
		pctl_pipe_keep(r, pctl_no_memory(r->call, "a pipeline"));
	return full;
}

pctl_pipe_ref pctl_pipe_read_ref(pctl_pipe_reader *r, const pctl_conf_value *v)
{
	const char *text = pctl_pipe_ref_text(r, v);
	pctl_pipe_ref out = {.pos = pctl_pipe_place(r, v->pos), .text = "", .name = ""};

	if (text != NULL && !pctl_pipe_ref_parse(r, text, &out))
		refuse_syntax(r, v, text);
	return out;
}

static int is_list(const pctl_conf_value *v)
{
	return v->kind == PCTL_CONF_ARRAY || v->kind == PCTL_CONF_LIST;
}

/* What feeds a port, or each element of a list that does. */
static pctl_pipe_feed *read_feeds(pctl_pipe_reader *r, const pctl_conf_value *v, uint32_t *n)
{
	pctl_pipe_feed *feeds;
	uint32_t most = 0;

	for (uint32_t i = 0; i < pctl_pipe_count(v); i++)
		most += is_list(v->items[i]) ? v->items[i]->n_items : 1;
	feeds = pctl_pipe_table(r, most, sizeof(*feeds));
	*n = 0;
	for (uint32_t i = 0; feeds != NULL && i < pctl_pipe_count(v); i++) {
		const pctl_conf_value *item = v->items[i];

		if (is_list(item) && item->n_items == 0)
			pctl_pipe_keep(r, pctl_refuse_at(r->call, PC4108_LIST, &item->pos, NULL,
							 "the list for port \"%s\" is empty",
							 item->key));
		for (uint32_t k = 0; k < (is_list(item) ? item->n_items : 1); k++) {
			const pctl_conf_value *from = is_list(item) ? item->items[k] : item;

			if (from->kind != PCTL_CONF_STRING) {
				pctl_pipe_keep(
					r,
					pctl_refuse_at(r->call, PC4003_REFERENCE_SYNTAX, &from->pos,
						       "write \"$input\" or \"job.port\"",
						       "what feeds port \"%s\" is not a reference",
						       item->key));
				continue;
			}
			feeds[*n].port = pctl_pipe_dup(r, item->key);
			feeds[*n].pos = pctl_pipe_place(r, item->key_pos);
			feeds[(*n)++].from = pctl_pipe_read_ref(r, from);
		}
	}
	return feeds;
}

/* ---- jobs --------------------------------------------------------------------------------- */

static pctl_pipe_named *read_named(pctl_pipe_reader *r, const pctl_conf_value *v, uint32_t *n)
{
	pctl_pipe_named *named = pctl_pipe_table(r, pctl_pipe_count(v), sizeof(*named));

	*n = named == NULL ? 0 : pctl_pipe_count(v);
	for (uint32_t i = 0; i < *n; i++) {
		named[i].name = pctl_pipe_dup(r, v->items[i]->key);
		named[i].pos = pctl_pipe_place(r, v->items[i]->key_pos);
		named[i].value = pctl_pipe_read_value(r, v->items[i]);
	}
	return named;
}

static void refuse_key(pctl_pipe_reader *r, const pctl_conf_value *v, const char *id)
{
	pctl_pipe_keep(r, pctl_refuse_at(r->call, PC4007_GROUP, &v->key_pos,
					 "`index` and `start` are for groups, which have `jobs`",
					 "job \"%s\" is no group and takes no `%s`", id, v->key));
}

static void read_repeat(pctl_pipe_reader *r, const pctl_conf_value *v, pctl_pipe_job *job)
{
	static const char *const of_groups[] = {"index", "start"};
	const pctl_conf_value *carry = pctl_conf_get(v, "carry");

	if (v == NULL)
		return;
	for (uint32_t i = 0; i < COUNT(of_groups); i++) {
		if (pctl_conf_get(v, of_groups[i]) != NULL)
			refuse_key(r, pctl_conf_get(v, of_groups[i]), job->id);
	}
	if (carry == NULL)
		pctl_pipe_keep(r, pctl_refuse_at(r->call, PC1021_CONF_MISSING_KEY, &v->pos, NULL,
						 "the repeat of job \"%s\" needs the key `carry`",
						 job->id));
	job->repeat = pctl_pipe_read_value(r, pctl_conf_get(v, "count"));
	job->carry = pctl_pipe_table(r, pctl_pipe_count(carry), sizeof(*job->carry));
	job->n_carry = job->carry == NULL ? 0 : pctl_pipe_count(carry);
	for (uint32_t i = 0; i < job->n_carry; i++) {
		const pctl_conf_value *c = carry->items[i];
		const char *out = pctl_pipe_text(r, c);
		pctl_pipe_feed *f = &job->carry[i];

		f->port = pctl_pipe_dup(r, c->key);
		f->pos = pctl_pipe_place(r, c->key_pos);
		f->from = (pctl_pipe_ref){pctl_pipe_place(r, c->pos), out, NULL, out};
	}
}

static void read_results(pctl_pipe_reader *r, const pctl_conf_value *v, pctl_pipe_job *job)
{
	const pctl_conf_value *out = pctl_conf_get(v, "out");

	job->out = pctl_pipe_table(r, pctl_pipe_count(out), sizeof(*job->out));
	job->n_out = job->out == NULL ? 0 : pctl_pipe_count(out);
	for (uint32_t i = 0; i < job->n_out; i++) {
		job->out[i].name = pctl_pipe_dup(r, out->items[i]->key);
		job->out[i].pos = pctl_pipe_place(r, out->items[i]->key_pos);
		job->out[i].type_pos = pctl_pipe_place(r, out->items[i]->pos);
		pctl_pipe_read_type(r, out->items[i], &job->out[i].type);
	}
}

static void refuse_keys(pctl_pipe_reader *r, const pctl_conf_value *v, const pctl_pipe_job *job,
			const char *kind, const char *const *keys, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const pctl_conf_value *wrong = pctl_conf_get(v, keys[i]);

		if (wrong != NULL)
			pctl_pipe_keep(
				r, pctl_refuse_at(
					   r->call, PC4005_JOB_KIND, &wrong->key_pos, NULL,
					   "%s job \"%s\" takes no `%s`: that is for shader jobs",
					   kind, job->id, keys[i]));
	}
}

static void read_vm(pctl_pipe_reader *r, const pctl_conf_value *v, pctl_pipe_job *job)
{
	static const char *const shader_keys[] = {"entry", "dispatch", "override", "attr"};

	job->kind = PCTL_JOB_VM;
	job->shader = pctl_pipe_text(r, pctl_conf_get(v, "vm"));
	job->op_pos = pctl_pipe_place(r, pctl_conf_get(v, "vm")->pos);
	read_results(r, v, job);
	refuse_keys(r, v, job, "vm", shader_keys, COUNT(shader_keys));
}

static void read_shader(pctl_pipe_reader *r, const pctl_conf_value *v, pctl_pipe_job *job)
{
	const pctl_conf_value *dispatch = pctl_conf_get(v, "dispatch");

	job->kind = PCTL_JOB_SHADER;
	job->shader = pctl_pipe_text(r, pctl_conf_get(v, "shader"));
	job->op_pos = pctl_pipe_place(r, pctl_conf_get(v, "shader")->pos);
	job->entry = pctl_pipe_dup(r, pctl_conf_string_or(v, "entry", NULL));
	job->attr = read_named(r, pctl_conf_get(v, "override"), &job->n_attr);
	if (dispatch == NULL)
		pctl_pipe_keep(r, pctl_refuse_at(r->call, PC4005_JOB_KIND, &v->pos,
						 "add dispatch = [ X, Y, Z ];",
						 "shader job \"%s\" has no dispatch", job->id));
	for (uint32_t i = 0; i < pctl_pipe_count(dispatch) && i < 3; i++)
		job->groups[job->n_groups++] = pctl_pipe_read_value(r, dispatch->items[i]);
	read_results(r, v, job);
	if (pctl_conf_get(v, "attr") != NULL)
		pctl_pipe_keep(r, pctl_refuse_at(r->call, PC4005_JOB_KIND,
						 &pctl_conf_get(v, "attr")->key_pos,
						 "overrides of a shader stand under `override`",
						 "shader job \"%s\" takes no `attr`", job->id));
}

static void read_op(pctl_pipe_reader *r, const pctl_conf_value *v, pctl_pipe_job *job)
{
	static const char *const shader_keys[] = {"entry", "dispatch", "out", "override"};
	const pctl_conf_value *op = pctl_conf_get(v, "op");
	const char *text = pctl_pipe_text(r, op);

	job->kind = PCTL_JOB_OP;
	job->op_pos = pctl_pipe_place(r, op->pos);
	if (!pctl_op_name_parse(text, r->p->arena, &job->op, &job->version_min, &job->version_max))
		pctl_pipe_keep(r, pctl_refuse_at(r->call, PC4004_OP_SYNTAX, &op->pos,
						 "write library.op@version",
						 "\"%s\" is not the name of an op", text));
	job->attr = read_named(r, pctl_conf_get(v, "attr"), &job->n_attr);
	refuse_keys(r, v, job, "op", shader_keys, COUNT(shader_keys));
}

static void read_job(pctl_pipe_reader *r, const pctl_conf_value *v, pctl_pipe_job *job)
{
	const pctl_conf_value *after = pctl_conf_get(v, "after"),
			      *placement = pctl_conf_get(v, "placement");
	const char *id = pctl_conf_get(v, "id")->text;
	uint32_t kinds = 0;

	*job = (pctl_pipe_job){.pos = pctl_pipe_place(r, pctl_conf_get(v, "id")->pos)};
	job->id = r->turn == NULL ? pctl_pipe_dup(r, id)
				  : pctl_arena_printf(r->p->arena, "%s%s", r->turn->prefix, id);
	job->is_of_group = r->turn != NULL;
	if (job->id == NULL)
		job->id = "";
	for (uint32_t i = 0; i < COUNT(job_kinds); i++)
		kinds += pctl_conf_get(v, job_kinds[i]) != NULL;
	if (kinds != 1)
		pctl_pipe_keep(r, pctl_refuse_at(r->call, PC4005_JOB_KIND, &v->pos,
						 "give one of `op`, `shader` and `vm`",
						 "job \"%s\" runs %s", job->id,
						 kinds == 0 ? "nothing" : "more than one thing"));
	else if (pctl_conf_get(v, "op") != NULL)
		read_op(r, v, job);
	else if (pctl_conf_get(v, "vm") != NULL)
		read_vm(r, v, job);
	else
		read_shader(r, v, job);
	job->in = read_feeds(r, pctl_conf_get(v, "in"), &job->n_in);
	read_repeat(r, pctl_conf_get(v, "repeat"), job);
	job->after = pctl_pipe_table(r, pctl_pipe_count(after), sizeof(*job->after));
	job->n_after = job->after == NULL ? 0 : pctl_pipe_count(after);
	for (uint32_t i = 0; i < job->n_after; i++) {
		const char *name = pctl_pipe_job_name(r, pctl_pipe_text(r, after->items[i]));

		job->after[i] =
			(pctl_pipe_ref){pctl_pipe_place(r, after->items[i]->pos), name, name, NULL};
	}
	if (placement != NULL) {
		job->placement = pctl_pipe_text(r, placement);
		job->placement_pos = pctl_pipe_place(r, placement->pos);
	}
}

void pctl_pipe_read_entry(pctl_pipe_reader *r, const pctl_conf_value *v)
{
	pctl_pipe_job job;

	if (pctl_conf_get(v, "jobs") != NULL) {
		pctl_pipe_read_group(r, v);
		return;
	}
	if (r->jobs.n == PCTL_PIPELINE_JOBS_MAX) {
		if (!r->is_full)
			pctl_pipe_keep(r, pctl_refuse_at(r->call, PC4023_JOBS_MOST, &v->pos, NULL,
							 "with job \"%s\" these are more than "
							 "the %u jobs that a pipeline can have",
							 pctl_conf_get(v, "id")->text,
							 PCTL_PIPELINE_JOBS_MAX));
		r->is_full = 1;
		return;
	}
	read_job(r, v, &job);
	if (!PCTL_VEC_PUSH(&r->jobs, job))
		pctl_pipe_keep(r, pctl_no_memory(r->call, "a pipeline"));
}
