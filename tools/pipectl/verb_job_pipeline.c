/* `job submit --pipeline`: options and text around pctl_home_submit_pipeline. */
#include "job.h"

/* What is printed of each job, in the JSON document or as a line. */
typedef struct printing {
	pctl_app *app;
	uint32_t has_begun, reserved;
} printing;

/* The list of jobs, in the JSON document; a pipeline that is refused has none. */
static void begin(printing *to)
{
	if (to->has_begun || !to->app->json)
		return;
	pctl_json_key(&to->app->document, "jobs");
	pctl_json_array_begin(&to->app->document);
	to->has_begun = 1;
}

static pctl_status print_taken(void *ctx, const char *name, const pctl_chain_job *job)
{
	printing *to = ctx;
	pctl_json *j = &to->app->document;

	begin(to);
	if (to->app->json)
		pctl_json_object_begin(j);
	pctl_job_print_submitted(to->app, name, job);
	if (to->app->json)
		pctl_json_object_end(j);
	return PCTL_OK;
}

/* Shaders are named by their CID in what is said of them; their text is shown beside it. */
static void show_source(void *ctx, const char *name, const char *text, uint64_t n)
{
	pctl_diag_list_source(((printing *)ctx)->app->diagnostics, name, text, n);
}

static pctl_status submit(pctl_app *app, pctl_chain *c, pctl_loaded_pipeline *p,
			  pctl_home_submit *o)
{
	printing to = {.app = app};
	pctl_status status;

	o->source = show_source;
	o->taken = print_taken;
	o->ctx = &to;
	status = pctl_home_submit_pipeline(&app->host, c, p, o, app->call);
	if (status == PCTL_OK)
		begin(&to);
	if (to.has_begun)
		pctl_json_array_end(&app->document);
	return status;
}

pctl_status pctl_job_submit_pipeline(pctl_app *app, pctl_chain *c)
{
	pctl_loaded_pipeline p = {.revision = NULL};
	pctl_home_submit o = {.sender = NULL};
	pctl_setting *ins = NULL, *sets = NULL;
	pctl_status status = pctl_app_sender(app, &o.sender);

	if (!pctl_option_has(&app->line, "--gas-limit"))
		return pctl_refuse(app->call, PC10_USAGE, "--gas-limit is missing");
	if (status == PCTL_OK)
		status = pctl_app_number(app, "--gas-limit", 0, &o.gas_limit);
	if (status == PCTL_OK)
		status = pctl_app_settings(app, "--in", &ins, &o.n_ins);
	if (status == PCTL_OK)
		status = pctl_app_settings(app, "--set", &sets, &o.n_sets);
	o.ins = ins;
	o.sets = sets;
	if (status == PCTL_OK)
		status = pctl_app_load(app, pctl_option_value(&app->line, "--pipeline"), &p);
	if (status == PCTL_OK)
		status = submit(app, c, &p, &o);
	pctl_loaded_pipeline_close(&p);
	return status;
}
