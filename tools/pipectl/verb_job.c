/* Verbs of jobs: submit, show, list, cancel. */
#include "job.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "foundation/base/num.h"
#include "chain/registry/registry.h"
#include "chain/messages/uniform.h"
#include "compiler/eval/specialise.h"

/* ---- what a job is ------------------------------------------------------------------------- */

static pctl_status read_dispatch(pctl_app *app, uint32_t out[3])
{
	const char *text = pctl_option_value(&app->line, "--dispatch"), *at = text;

	out[0] = out[1] = out[2] = 1;
	for (uint32_t i = 0; at != NULL && i < 3; i++) {
		const size_t n = strcspn(at, ",");
		uint64_t value;

		if (!pctl_num_parse_u64(at, n, &value) || value > UINT32_MAX)
			break;
		out[i] = (uint32_t)value;
		if (at[n] == '\0')
			return PCTL_OK;
		at += n + 1;
	}
	return pctl_refuse(app->call, PC10_USAGE, "--dispatch wants X[,Y[,Z]], not \"%s\"",
			   text == NULL ? "" : text);
}

static int compare_bindings(const void *a, const void *b)
{
	const pctl_msg_binding *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return x->binding < y->binding ? -1 : x->binding > y->binding;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static pctl_status read_bindings(pctl_app *app, pctl_msg_execute *m)
{
	pctl_setting *given;
	pctl_msg_binding *to;
	uint32_t n;
	pctl_status status = pctl_app_settings(app, "--bind", &given, &n);

	if (status != PCTL_OK)
		return status;
	to = pctl_arena_array(app->arena, n, sizeof(*to));
	if (to == NULL)
		return pctl_no_memory(app->call, "a job");
	for (uint32_t i = 0; i < n; i++) {
		const char *colon = strchr(given[i].name, ':');
		uint64_t g, b;

		if (colon == NULL ||
		    !pctl_num_parse_u64(given[i].name, (size_t)(colon - given[i].name), &g) ||
		    !pctl_num_parse_u64(colon + 1, strlen(colon + 1), &b) || g > UINT32_MAX ||
		    b > UINT32_MAX)
			return pctl_refuse(app->call, PC10_USAGE,
					   "--bind wants GROUP:BINDING=CID|job:ID, not \"%s\"",
					   given[i].name);
		to[i] = (pctl_msg_binding){(uint32_t)g, (uint32_t)b, given[i].value};
	}
	if (n > 1)
		qsort(to, n, sizeof(*to), compare_bindings);
	m->bindings = to;
	m->n_bindings = n;
	return PCTL_OK;
}

static pctl_status read_ids(pctl_app *app, const char *option, const char *const **out, uint32_t *n)
{
	const char **ids, *text;

	for (*n = 0; pctl_option_at(&app->line, option, *n) != NULL;)
		++*n;
	ids = pctl_arena_array(app->arena, *n, sizeof(*ids));
	if (ids == NULL)
		return pctl_no_memory(app->call, "a job");
	for (uint32_t i = 0; (text = pctl_option_at(&app->line, option, i)) != NULL; i++)
		ids[i] = text;
	if (*n > 1)
		qsort(ids, *n, sizeof(*ids), compare_texts);
	*out = ids;
	return PCTL_OK;
}

static pctl_status read_overrides(pctl_app *app, pctl_chain *c, pctl_msg_execute *m)
{
	pctl_override_value *values;
	pctl_setting *given;
	uint32_t n;
	pctl_status status = pctl_app_settings(app, "--override", &given, &n);

	if (status != PCTL_OK)
		return status;
	values = pctl_arena_array(app->arena, n, sizeof(*values));
	if (values == NULL)
		return pctl_no_memory(app->call, "a job");
	for (uint32_t i = 0; i < n; i++)
		values[i] = (pctl_override_value){given[i].name, 0, given[i].value};
	return pctl_home_overrides(&app->host, c, values, n, app->arena, app->call, m);
}

/* --uniform CID, or a file that goes into the store first. */
static pctl_status read_uniform(pctl_app *app, pctl_chain *c, const char **out)
{
	const char *word = pctl_option_value(&app->line, "--uniform");
	char text[PCTL_CID_TEXT_SIZE], *data;
	uint64_t n;
	pctl_cid cid;
	pctl_status status;

	*out = word == NULL ? "" : word;
	if (word == NULL || pctl_cid_parse(word, &cid))
		return PCTL_OK;
	status = pctl_file_read(word, PCTL_UNIFORM_CBOR_MAX, app->call, &data, &n);
	if (status != PCTL_OK)
		return status;
	status = pctl_store_put(pctl_chain_store(c), data, n, app->call, &cid);
	free(data);
	*out = pctl_arena_dup(app->arena, pctl_cid_format(&cid, text));
	return status == PCTL_OK && *out == NULL ? pctl_no_memory(app->call, "a job") : status;
}

static pctl_status want(pctl_app *app, const char *option, const char **out)
{
	*out = pctl_option_value(&app->line, option);
	return *out != NULL ? PCTL_OK : pctl_refuse(app->call, PC10_USAGE, "%s is missing", option);
}

static pctl_status read_job(pctl_app *app, pctl_chain *c, pctl_msg_execute *m)
{
	const char *shader, *gas, *entry = pctl_option_value(&app->line, "--entry");
	pctl_status status = pctl_app_sender(app, &m->sender);

	m->entry = entry == NULL ? "" : entry;
	if (status == PCTL_OK)
		status = want(app, "--shader", &shader);
	if (status == PCTL_OK)
		status = want(app, "--input", &m->input);
	if (status == PCTL_OK)
		status = want(app, "--gas-limit", &gas);
	if (status == PCTL_OK)
		status = pctl_app_shader(app, c, shader, &m->shader_cid);
	if (status == PCTL_OK)
		status = read_dispatch(app, m->dispatch);
	if (status == PCTL_OK)
		status = pctl_app_number(app, "--gas-limit", 0, &m->gas_limit);
	if (status == PCTL_OK)
		status = pctl_app_number(app, "--parent-clock", 0, &m->parent_clock);
	if (status == PCTL_OK)
		status = pctl_app_number(app, "--output-bytes", 0, &m->output_bytes);
	if (status == PCTL_OK)
		status = read_bindings(app, m);
	if (status == PCTL_OK)
		status = read_ids(app, "--parent", &m->parent_jobs, &m->n_parent_jobs);
	if (status == PCTL_OK)
		status = read_ids(app, "--after", &m->after, &m->n_after);
	if (status == PCTL_OK)
		status = read_uniform(app, c, &m->uniform_cid);
	return status == PCTL_OK ? read_overrides(app, c, m) : status;
}

/* ---- submit -------------------------------------------------------------------------------- */

pctl_status pctl_job_print_submitted(pctl_app *app, pctl_chain *c, const char *name,
				     const pctl_msg_execute_response *r)
{
	uint8_t id[PCTL_DIGEST_BYTES];
	pctl_chain_job job;
	pctl_status status;

	(void)pctl_job_id_parse(r->job_id, id);
	status = pctl_jobs_read(pctl_cursor(c), id, app->call, &job);
	if (status != PCTL_OK)
		return status;
	if (app->json) {
		if (name != NULL)
			pctl_json_kv_string(&app->document, "name", name);
		pctl_json_kv_string(&app->document, "job", r->job_id);
		pctl_json_kv_u64(&app->document, "logical_clock", r->logical_clock);
		pctl_json_kv_u64(&app->document, "gas", job.gas);
	} else {
		printf("%s%s%s clock %" PRIu64 " gas %" PRIu64 "\n", name == NULL ? "" : name,
		       name == NULL ? "" : " ", r->job_id, r->logical_clock, job.gas);
	}
	pctl_chain_job_clear(&job);
	return PCTL_OK;
}

pctl_status pctl_verb_job_submit(pctl_app *app)
{
	pctl_request r = {.kind = PCTL_MSG_EXECUTE};
	pctl_response out = {.kind = 0};
	pctl_chain *c = NULL;
	pctl_status status = pctl_app_chain(app, NULL, &c);

	if (status == PCTL_OK && pctl_option_has(&app->line, "--pipeline")) {
		status = pctl_job_submit_pipeline(app, c);
		pctl_chain_close(c);
		return status;
	}
	if (status == PCTL_OK)
		status = read_job(app, c, &r.as.execute);
	if (status == PCTL_OK)
		status = pctl_chain_apply(c, &r, app->call, &out);
	if (status == PCTL_OK)
		status = pctl_job_print_submitted(app, c, NULL, &out.as.execute);
	pctl_response_destroy(&out);
	pctl_chain_close(c);
	return status;
}

/* ---- show, list, cancel -------------------------------------------------------------------- */

static const char *const states[] = {"pending", "executing", "complete", "failed"};

static void print_job(pctl_app *app, const pctl_chain_job *job)
{
	char id[PCTL_JOB_TEXT_SIZE], cid[PCTL_CID_TEXT_SIZE] = "";
	pctl_json *j = &app->document;

	pctl_job_id_format(job->id, id);
	if (job->status == PCTL_JOB_COMPLETE)
		pctl_cid_format(&job->output, cid);
	if (!app->json) {
		printf("%s %s clock %" PRIu64 " gas %" PRIu64 " by %s%s%s%s%s\n", id,
		       states[job->status & 3], job->clock,
		       job->ended == 0 ? job->gas : job->gas_used, job->sender,
		       cid[0] == '\0' ? "" : " output ", cid, job->error[0] == '\0' ? "" : ": ",
		       job->error);
		return;
	}
	pctl_json_kv_string(j, "job", id);
	pctl_json_kv_string(j, "state", states[job->status & 3]);
	pctl_json_kv_string(j, "sender", job->sender);
	pctl_json_kv_u64(j, "position", job->position);
	pctl_json_kv_u64(j, "height", job->height);
	pctl_json_kv_u64(j, "logical_clock", job->clock);
	pctl_json_kv_u64(j, "gas", job->gas);
	pctl_json_kv_u64(j, "gas_used", job->gas_used);
	pctl_json_kv_u64(j, "ended", job->ended);
	pctl_json_kv_u64(j, "output_bytes", job->output_bytes);
	pctl_json_kv_string(j, "output", cid);
	pctl_json_kv_string(j, "error", job->error);
}

/* The message of a job, beside its row. */
static void print_message(pctl_app *app, const pctl_msg_execute *m)
{
	pctl_json *j = &app->document;

	if (!app->json) {
		printf("  shader %s input %s dispatch %" PRIu32 ",%" PRIu32 ",%" PRIu32
		       " gas limit %" PRIu64 "\n",
		       m->shader_cid, m->input, m->dispatch[0], m->dispatch[1], m->dispatch[2],
		       m->gas_limit);
		return;
	}
	pctl_json_kv_string(j, "shader", m->shader_cid);
	pctl_json_kv_string(j, "input", m->input);
	pctl_json_kv_u64(j, "gas_limit", m->gas_limit);
	pctl_json_kv_string(j, "uniform", m->uniform_cid);
	pctl_json_kv_u64(j, "parent_clock", m->parent_clock);
	pctl_json_key(j, "parents");
	pctl_json_array_begin(j);
	for (uint32_t i = 0; i < m->n_parent_jobs; i++)
		pctl_json_string(j, m->parent_jobs[i]);
	pctl_json_array_end(j);
}

static pctl_status parse_id(pctl_app *app, uint8_t out[PCTL_DIGEST_BYTES])
{
	const char *text = app->line.arguments[0];

	if (strncmp(text, "job:", 4) == 0)
		text += 4;
	return pctl_job_id_parse(text, out)
		       ? PCTL_OK
		       : pctl_refuse(app->call, PC5801_JOB_UNKNOWN,
				     "\"%.80s\" is not 64 lower-case hex digits", text);
}

pctl_status pctl_verb_job_show(pctl_app *app)
{
	uint8_t id[PCTL_DIGEST_BYTES];
	pctl_request message = {.kind = 0};
	pctl_chain_job job = {.message = NULL};
	pctl_chain *c = NULL;
	pctl_status status = parse_id(app, id);

	if (status == PCTL_OK)
		status = pctl_app_chain(app, NULL, &c);
	if (status == PCTL_OK)
		status = pctl_jobs_read(pctl_cursor(c), id, app->call, &job);
	if (status == PCTL_OK)
		status = pctl_request_decode(job.message, job.n_message, app->call, &message);
	if (status == PCTL_OK) {
		job.status = pctl_chain_job_status(c, &job);
		print_job(app, &job);
		print_message(app, &message.as.execute);
	}
	pctl_request_destroy(&message);
	pctl_chain_job_clear(&job);
	pctl_chain_close(c);
	return status;
}

typedef struct listing {
	pctl_app *app;
	const char *state;
	pctl_chain *c;
} listing;

static int list_job(void *ctx, const pctl_chain_job *row)
{
	const listing *l = ctx;
	pctl_chain_job copy = *row;
	const pctl_chain_job *job = &copy;

	copy.status = pctl_chain_job_status(l->c, row);

	if (l->state != NULL && strcmp(l->state, states[job->status & 3]) != 0)
		return 0;
	if (l->app->json)
		pctl_json_object_begin(&l->app->document);
	print_job(l->app, job);
	if (l->app->json)
		pctl_json_object_end(&l->app->document);
	return 0;
}

pctl_status pctl_verb_job_list(pctl_app *app)
{
	listing l = {app, pctl_option_value(&app->line, "--status"), NULL};
	pctl_chain *c = NULL;
	uint32_t i = 0;
	pctl_status status;

	while (l.state != NULL && i < 4 && strcmp(l.state, states[i]) != 0)
		i++;
	if (i == 4)
		return pctl_refuse(
			app->call, PC10_USAGE,
			"--status takes pending, executing, complete or failed, not \"%s\"",
			l.state);
	status = pctl_app_chain(app, NULL, &c);
	if (status != PCTL_OK)
		return status;
	l.c = c;
	if (app->json) {
		pctl_json_key(&app->document, "jobs");
		pctl_json_array_begin(&app->document);
	}
	status = pctl_jobs_all(pctl_cursor(c), pctl_option_value(&app->line, "--sender"), list_job,
			       &l, app->call);
	if (app->json)
		pctl_json_array_end(&app->document);
	pctl_chain_close(c);
	return status;
}

pctl_status pctl_verb_job_cancel(pctl_app *app)
{
	uint8_t id[PCTL_DIGEST_BYTES];
	char text[PCTL_JOB_TEXT_SIZE];
	pctl_request r = {.kind = PCTL_MSG_CANCEL};
	pctl_chain *c = NULL;
	pctl_status status = parse_id(app, id);

	if (status == PCTL_OK)
		status = pctl_app_sender(app, &r.as.cancel.sender);
	r.as.cancel.job_id = pctl_job_id_format(id, text);
	if (status == PCTL_OK)
		status = pctl_app_chain(app, NULL, &c);
	if (status == PCTL_OK)
		status = pctl_chain_apply(c, &r, app->call, NULL);
	pctl_chain_close(c);
	if (status != PCTL_OK)
		return status;
	if (app->json)
		pctl_json_kv_string(&app->document, "job", text);
	else
		printf("%s cancelled\n", text);
	return PCTL_OK;
}
