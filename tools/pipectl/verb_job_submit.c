/* `job submit`: what a job is, read from the command line, and into the chain. */
#include "job.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "foundation/base/num.h"
#include "chain/messages/uniform.h"
#include "compiler/eval/specialise.h"

/* ---- what a job is ------------------------------------------------------------------------- */

static pctl_status read_bindings(pctl_app *app, pctl_home_job *m)
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
	*out = ids;
	return PCTL_OK;
}

/* --uniform CID, or a file that goes into the store first; *data is released by the caller. */
static pctl_status read_uniform(pctl_app *app, pctl_home_job *m, char **data)
{
	const char *word = pctl_option_value(&app->line, "--uniform");
	pctl_cid cid;
	pctl_status status;

	if (word == NULL || pctl_cid_parse(word, &cid)) {
		m->uniform = word;
		return PCTL_OK;
	}
	status = pctl_file_read(word, PCTL_UNIFORM_CBOR_MAX, app->call, data, &m->n_document);
	m->document = *data;
	return status;
}

static pctl_status want(pctl_app *app, const char *option, const char **out)
{
	*out = pctl_option_value(&app->line, option);
	return *out != NULL ? PCTL_OK : pctl_refuse(app->call, PC10_USAGE, "%s is missing", option);
}

static pctl_status read_job(pctl_app *app, pctl_home_job *m, char **data)
{
	pctl_setting *overrides = NULL;
	const char *gas, *dispatch;
	pctl_status status = pctl_app_sender(app, &m->sender);

	m->entry = pctl_option_value(&app->line, "--entry");
	if (status == PCTL_OK)
		status = want(app, "--shader", &m->shader);
	if (status == PCTL_OK)
		status = want(app, "--input", &m->input);
	if (status == PCTL_OK)
		status = want(app, "--gas-limit", &gas);
	if (status == PCTL_OK)
		status = want(app, "--dispatch", &dispatch);
	if (status == PCTL_OK)
		status = pctl_app_dispatch(app, m->dispatch);
	if (status == PCTL_OK)
		status = pctl_app_number(app, "--gas-limit", 0, &m->gas_limit);
	if (status == PCTL_OK)
		status = pctl_app_number(app, "--parent-clock", 0, &m->parent_clock);
	if (status == PCTL_OK)
		status = pctl_app_number(app, "--output-bytes", 0, &m->output_bytes);
	if (status == PCTL_OK)
		status = pctl_app_number(app, "--tip", 0, &m->tip);
	if (status == PCTL_OK)
		status = read_bindings(app, m);
	if (status == PCTL_OK)
		status = read_ids(app, "--parent", &m->parents, &m->n_parents);
	if (status == PCTL_OK)
		status = read_ids(app, "--after", &m->after, &m->n_after);
	if (status == PCTL_OK)
		status = pctl_app_settings(app, "--override", &overrides, &m->n_overrides);
	m->overrides = overrides;
	return status == PCTL_OK ? read_uniform(app, m, data) : status;
}

/* ---- submit -------------------------------------------------------------------------------- */

void pctl_job_print_submitted(pctl_app *app, const char *name, const pctl_chain_job *job)
{
	char id[PCTL_JOB_TEXT_SIZE];

	pctl_job_id_format(job->id, id);
	if (app->json) {
		if (name != NULL)
			pctl_json_kv_string(&app->document, "name", name);
		pctl_json_kv_string(&app->document, "job", id);
		pctl_json_kv_u64(&app->document, "logical_clock", job->clock);
		pctl_json_kv_u64(&app->document, "gas", job->gas);
	} else {
		printf("%s%s%s clock %" PRIu64 " gas %" PRIu64 "\n", name == NULL ? "" : name,
		       name == NULL ? "" : " ", id, job->clock, job->gas);
	}
}

static pctl_status submit_one(pctl_app *app, pctl_chain *c)
{
	pctl_home_job job = {.sender = NULL};
	pctl_chain_job row = {.message = NULL};
	char *data = NULL;
	pctl_status status = read_job(app, &job, &data);

	if (status == PCTL_OK)
		status = pctl_home_submit_job(&app->host, c, &job, app->call, &row);
	if (status == PCTL_OK)
		pctl_job_print_submitted(app, NULL, &row);
	pctl_chain_job_clear(&row);
	free(data);
	return status;
}

pctl_status pctl_verb_job_submit(pctl_app *app)
{
	pctl_chain *c = NULL;
	pctl_status status = pctl_app_chain(app, NULL, &c);

	if (status == PCTL_OK)
		status = pctl_option_has(&app->line, "--pipeline")
				 ? pctl_job_submit_pipeline(app, c)
				 : submit_one(app, c);
	pctl_chain_close(c);
	return status;
}
