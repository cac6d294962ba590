/* Pipelines of one job that a verb makes of its command line: an op, a machine, a shader. */
#include "app.h"

pctl_status pctl_app_one_job(pctl_app *app, const char *name, const pctl_job_room *room,
			     pctl_pipeline **out, pctl_pipe_job **job)
{
	pctl_pipeline *p = pctl_pipeline_create(name);
	pctl_pipe_job *j;

	*out = p;
	*job = NULL;
	if (p == NULL)
		return pctl_no_memory(app->call, "a pipeline");
	p->inputs = pctl_arena_array(p->arena, room->n_in, sizeof(*p->inputs));
	p->outputs = pctl_arena_array(p->arena, room->n_out, sizeof(*p->outputs));
	p->jobs = j = pctl_arena_array(p->arena, 1, sizeof(*j));
	if (p->inputs == NULL || p->outputs == NULL || j == NULL)
		return pctl_no_memory(app->call, "a pipeline");
	p->n_jobs = 1;
	j->in = pctl_arena_array(p->arena, room->n_in, sizeof(*j->in));
	j->out = pctl_arena_array(p->arena, room->n_out, sizeof(*j->out));
	j->attr = pctl_arena_array(p->arena, room->n_attr, sizeof(*j->attr));
	if (j->in == NULL || j->out == NULL || j->attr == NULL)
		return pctl_no_memory(app->call, "a pipeline");
	*job = j;
	return PCTL_OK;
}

pctl_status pctl_app_run_one(pctl_app *app, const char *title, pctl_pipeline *p,
			     pctl_run_options *options, const pctl_setting *outs, uint32_t n_outs)
{
	const pctl_graph_options graph_options = {.ops = pctl_op_library_source(app->host.library),
						  .kernels = app->host.kernels};
	pctl_run_result *result = NULL;
	pctl_graph *g = NULL;
	pctl_status status = pctl_app_check_outs(app, p, outs, n_outs);

	if (status == PCTL_OK)
		status = pctl_graph_resolve(p, &graph_options, app->call, NULL, NULL, &g);
	if (status == PCTL_OK)
		status = pctl_host_run(&app->host, g, options, app->call, &result);
	pctl_app_progress_clear(app);
	if (status == PCTL_OK)
		status = pctl_app_write_outs(app, result, outs, NULL, n_outs);
	if (status == PCTL_OK)
		pctl_app_print_run(app, title, result);
	pctl_run_result_destroy(result);
	pctl_graph_destroy(g);
	return status;
}
