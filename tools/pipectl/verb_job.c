/* `job show`, `job list`, `job cancel`. */
#include "job.h"

#include <inttypes.h>
#include <string.h>

#include "chain/messages/uniform.h"

static const char *const states[] = {"pending", "executing", "complete", "failed"};

static const pctl_column job_columns[] = {{"job", "", 0},	   {"state", " ", 0},
					  {"clock", " clock ", 0}, {"gas", " gas ", 0},
					  {"sender", " by ", 0},   {"output", " output ", 0},
					  {"error", ": ", 0}};

static void print_job(pctl_app *app, const pctl_chain_job *job)
{
	char id[PCTL_JOB_TEXT_SIZE], cid[PCTL_CID_TEXT_SIZE] = "";
	pctl_json *j = &app->document;

	pctl_job_id_format(job->id, id);
	if (job->status == PCTL_JOB_COMPLETE)
		pctl_cid_format(&job->output, cid);
	if (!app->json) {
		pctl_table_cell(app->table, "%s", id);
		pctl_table_cell(app->table, "%s", states[job->status & 3]);
		pctl_table_cell(app->table, "%" PRIu64, job->clock);
		pctl_table_cell(app->table, "%" PRIu64, job->ended == 0 ? job->gas : job->gas_used);
		pctl_table_cell(app->table, "%s", job->sender);
		pctl_table_maybe(app->table, cid);
		pctl_table_maybe(app->table, job->error);
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

pctl_status pctl_verb_job_show(pctl_app *app)
{
	pctl_request message = {.kind = 0};
	pctl_chain_job job = {.message = NULL};
	pctl_chain *c = NULL;
	pctl_status status = pctl_app_chain(app, NULL, &c);

	if (status == PCTL_OK)
		status = pctl_home_job_read(c, app->line.arguments[0], app->call, &job);
	if (status == PCTL_OK)
		status = pctl_request_decode(job.message, job.n_message, app->call, &message);
	if (status == PCTL_OK) {
		if (!app->json)
			app->table = pctl_table_begin(job_columns, PCTL_COLUMNS(job_columns), 0);
		print_job(app, &job);
		if (!app->json)
			status = pctl_table_end(app->table, app->call);
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
	pctl_app_list_begin(app, "jobs", job_columns, PCTL_COLUMNS(job_columns));
	status = pctl_jobs_all(pctl_cursor(c), pctl_option_value(&app->line, "--sender"), list_job,
			       &l, app->call);
	pctl_chain_close(c);
	return pctl_app_list_end(app, status);
}

pctl_status pctl_verb_job_cancel(pctl_app *app)
{
	uint8_t id[PCTL_DIGEST_BYTES];
	char text[PCTL_JOB_TEXT_SIZE];
	pctl_request r = {.kind = PCTL_MSG_CANCEL};
	pctl_chain *c = NULL;
	pctl_status status = pctl_home_job_id(app->line.arguments[0], app->call, id);

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
