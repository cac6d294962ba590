/* `shader tune`: the kernel of `shader run`, counted and timed in place of being run for its result. */
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "shader_cases.h"
#include "shader_tune.h"

static pctl_status parse_tune(pctl_app *app, pctl_tune_options *o)
{
	static const char *const who[] = {"reference", "device", "none"};
	const char *counts = pctl_option_value(&app->line, "--counts");
	const char *repeat = pctl_option_value(&app->line, "--repeat");
	uint64_t rounds = 0;

	*o = (pctl_tune_options){.counts = PCTL_TUNE_BY_REFERENCE};
	while (counts != NULL && o->counts <= PCTL_TUNE_BY_NOBODY &&
	       strcmp(counts, who[o->counts]) != 0)
		o->counts++;
	if (o->counts > PCTL_TUNE_BY_NOBODY)
		return pctl_refuse(app->call, PC10_USAGE,
				   "--counts takes reference, device or none, not \"%s\"", counts);
	if (repeat != NULL && (!pctl_num_parse_u64(repeat, strlen(repeat), &rounds) ||
			       rounds == 0 || rounds > PCTL_TUNE_ROUNDS_MAX))
		return pctl_refuse(app->call, PC10_USAGE,
				   "--repeat wants a number from 1 to %u, not \"%s\"",
				   PCTL_TUNE_ROUNDS_MAX, repeat);
	o->rounds = (uint32_t)rounds;
	return PCTL_OK;
}

/* The kernel runs on two devices, and standard input can be read once. */
static pctl_status refuse_stream(pctl_app *app, const pctl_setting *binds, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(binds[i].value, "-") == 0)
			return pctl_refuse(app->call, PC10_USAGE,
					   "shader tune reads its data more than once, so --bind "
					   "%s wants a file, not standard input",
					   binds[i].name);
	return PCTL_OK;
}

/* A graph of one job for each case, with what they share. */
struct made {
	pctl_pipeline *pipelines[PCTL_SHADER_CASES_MAX];
	pctl_graph *graphs[PCTL_SHADER_CASES_MAX];
	const char *names[PCTL_SHADER_CASES_MAX];
	pctl_tune_result *results[PCTL_SHADER_CASES_MAX];
	uint32_t n;
};

static void drop(struct made *m)
{
	for (uint32_t i = 0; i < m->n; i++) {
		pctl_tune_result_destroy(m->results[i]);
		pctl_graph_destroy(m->graphs[i]);
		pctl_pipeline_destroy(m->pipelines[i]);
	}
}

static pctl_status make(pctl_app *app, const char *path, const pctl_shader_case *c,
			pctl_setting *binds, uint32_t n, struct made *m)
{
	const uint32_t at = m->n++;
	pctl_graph_options options = {.wgsl_flags = 0};
	const pctl_kernel_module *unit;
	pctl_status status = pctl_shader_unit(app, path, &c->options, 0, &unit);

	m->names[at] = c->name;
	if (status == PCTL_OK)
		status = pctl_shader_pipeline(app, path, &c->options, unit->program, binds, n,
					      &m->pipelines[at]);
	if (status != PCTL_OK)
		return status;
	options.ops = pctl_op_library_source(app->host.library);
	options.kernels = app->host.kernels;
	return pctl_graph_resolve(m->pipelines[at], &options, app->call, NULL, NULL,
				  &m->graphs[at]);
}

/* Counts of one case would say nothing of the others. */
static pctl_status refuse_counts(pctl_app *app)
{
	static const char *const others[] = {"--counts", "--blocks"};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (pctl_option_has(&app->line, others[i]))
			return pctl_refuse(app->call, PC10_USAGE,
					   "several values are timed, not counted, so %s has "
					   "nothing to say: give one of each",
					   others[i]);
	return PCTL_OK;
}

static pctl_status tune(pctl_app *app, const char *path, const struct shader_options *o,
			const pctl_tune_options *t, struct made *m)
{
	pctl_shader_case *cases = NULL;
	pctl_setting *binds = NULL;
	pctl_run_options options;
	uint32_t n = 0, n_cases = 0;
	pctl_status status = pctl_shader_cases(app, path, o, &cases, &n_cases);

	if (status == PCTL_OK && n_cases > 1)
		status = refuse_counts(app);
	if (status == PCTL_OK)
		status = pctl_app_settings(app, "--bind", &binds, &n);
	if (status == PCTL_OK)
		status = refuse_stream(app, binds, n);
	if (status == PCTL_OK)
		status = pctl_app_run_options(app, &options);
	for (uint32_t i = 0; status == PCTL_OK && i < n_cases; i++)
		status = make(app, path, &cases[i], binds, n, m);
	if (status != PCTL_OK)
		return status;
	options.ins = binds;
	options.n_ins = n;
	if (m->n == 1)
		status = pctl_tune_kernel(&app->host, m->graphs[0], &options, t, app->call,
					  &m->results[0]);
	else
		status = pctl_tune_sweep(&app->host, (const pctl_graph *const *)m->graphs, m->names,
					 m->n, &options, t, app->call, m->results);
	pctl_app_progress_clear(app);
	if (status == PCTL_OK && m->n == 1)
		status = pctl_shader_tune_print(app, path, o, m->results[0]);
	else if (status == PCTL_OK)
		status = pctl_shader_sweep_print(app, path, m->names, m->results, m->n);
	return status;
}

pctl_status pctl_verb_shader_tune(pctl_app *app)
{
	const char *path = app->line.arguments[0];
	struct shader_options o = {.lists = 1};
	struct made *m = pctl_arena_alloc(app->arena, sizeof(*m));
	pctl_tune_options t;
	pctl_status status = parse_tune(app, &t);

	if (m == NULL)
		return pctl_no_memory(app->call, "a table");
	if (status == PCTL_OK)
		status = pctl_shader_options(app, path, &o);
	if (status == PCTL_OK)
		status = tune(app, path, &o, &t, m);
	drop(m);
	free(o.text);
	return status;
}
