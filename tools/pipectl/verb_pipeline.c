/* Verbs over pipeline files: check, run, plan. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "host/document.h"
#include "receipt.h"

/* Texts of a revision are no files: diagnostics show them from here. */
static void show_sources(pctl_app *app, const pctl_loaded_pipeline *p)
{
	for (uint32_t i = 0; p->revision != NULL && i < pctl_texts_count(p->texts); i++) {
		uint64_t n;
		const char *bytes = pctl_texts_bytes(p->texts, i, &n);

		pctl_diag_list_source(app->diagnostics, pctl_texts_name(p->texts, i), bytes,
				      (size_t)n);
	}
}

pctl_status pctl_app_load(pctl_app *app, const char *path, pctl_loaded_pipeline *out)
{
	pctl_setting *sets;
	uint32_t n;
	pctl_status status = pctl_app_settings(app, "--set", &sets, &n);

	memset(out, 0, sizeof(*out));
	if (status == PCTL_OK)
		status = pctl_load_pipeline(&app->host, path, sets, n, app->call, out);
	show_sources(app, out);
	return status;
}

static void print_checks(pctl_app *app, const char *path, const pctl_loaded_pipeline *p,
			 pctl_status status)
{
	if (app->json) {
		pctl_document_checks(&app->document, path, p, status);
		return;
	}
	for (uint32_t i = 0; app->verbose && i < p->n_checks; i++)
		fprintf(stderr, "%s: %-12s %s (%s)\n", path, p->checks[i].name,
			pctl_check_outcome_name(p->checks[i].outcome), p->checks[i].about);
	if (!app->quiet)
		printf("%s: %s\n", path, status == PCTL_OK ? "ok" : "refused");
}

static pctl_status check_file(pctl_app *app, const char *path)
{
	const char *const *devices;
	uint32_t n_devices;
	pctl_run_request q;
	pctl_setting *ins;
	pctl_loaded_pipeline p;
	pctl_status status = pctl_app_load(app, path, &p);

	if (status == PCTL_OK)
		status = pctl_app_run_request(app, &q);
	if (status == PCTL_OK)
		status = pctl_app_settings(app, "--in", &ins, &q.n_ins);
	if (status == PCTL_OK)
		status = pctl_app_values(app, "--device", &devices, &n_devices);
	if (status == PCTL_OK) {
		q.ins = ins;
		status = pctl_check_pipeline(&app->host, &p, &q, devices, n_devices, app->call);
	}
	print_checks(app, path, &p, status);
	pctl_loaded_pipeline_close(&p);
	return status;
}

pctl_status pctl_verb_check(pctl_app *app)
{
	pctl_status first = PCTL_OK;

	const char *rev = pctl_option_value(&app->line, "--immutable");

	if (app->line.n_arguments == 0 && rev == NULL)
		return pctl_refuse_at(app->call, PC10_USAGE, NULL, app->line.verb->example,
				      "usage: pipectl check [OPTION]... FILE...");
	if (rev != NULL)
		first = pctl_app_check_immutable(app, rev);
	if (app->json) {
		pctl_json_key(&app->document, "files");
		pctl_json_array_begin(&app->document);
	}
	for (uint32_t i = 0; i < app->line.n_arguments; i++) {
		pctl_status status = check_file(app, app->line.arguments[i]);

		if (first == PCTL_OK)
			first = status;
	}
	if (app->json)
		pctl_json_array_end(&app->document);
	return first;
}

pctl_status pctl_verb_run(pctl_app *app)
{
	pctl_run_result *result = NULL;
	pctl_receipt *receipt = NULL;
	pctl_setting *ins, *outs;
	pctl_run_options options;
	uint32_t n_outs;
	pctl_loaded_pipeline p;
	pctl_status status = pctl_app_load(app, app->line.arguments[0], &p);

	if (status == PCTL_OK)
		status = pctl_app_run_options(app, &options);
	if (status == PCTL_OK)
		status = pctl_app_settings(app, "--in", &ins, &options.n_ins);
	if (status == PCTL_OK)
		status = pctl_app_settings(app, "--out", &outs, &n_outs);
	if (status == PCTL_OK)
		status = pctl_app_check_outs(app, p.pipeline, outs, n_outs);
	if (status == PCTL_OK)
		status = pctl_app_check_report(app);
	if (status == PCTL_OK)
		status = pctl_admit(&app->host, &p, app->call);
	if (status == PCTL_OK)
		status = pctl_app_receipt_begin(app, &p, &options, &receipt);
	if (status == PCTL_OK) {
		options.ins = ins;
		status = pctl_run_pipeline(&app->host, &p, &options, app->call, &result);
	}
	pctl_app_progress_clear(app);
	if (status == PCTL_OK)
		status = pctl_app_write_outs(app, result, outs, NULL, n_outs);
	if (status == PCTL_OK && receipt != NULL)
		status = pctl_app_receipt_finish(app, &p, &options, result, receipt);
	if (status == PCTL_OK)
		status = pctl_app_write_report(app, &p, result);
	if (status == PCTL_OK) {
		pctl_app_print_place(app, &p, 0);
		pctl_app_print_run(app, p.pipeline->name, result);
	}
	pctl_receipt_destroy(receipt);
	pctl_run_result_destroy(result);
	pctl_loaded_pipeline_close(&p);
	return status;
}

static void print_dot(const pctl_graph *g)
{
	const pctl_pipeline *p = g->pipeline;

	printf("digraph \"%s\" {\n\trankdir = LR;\n\tnode [shape = box];\n", p->name);
	for (uint32_t i = 0; i < p->n_inputs; i++)
		printf("\t\"$%s\" [shape = ellipse];\n", p->inputs[i].name);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const pctl_graph_node *n = &g->nodes[i];

		printf("\t\"%s\" [label = \"%s\\n%s\"];\n", n->job->id, n->job->id,
		       n->job->kind == PCTL_JOB_OP ? n->job->op : n->job->shader);
		for (uint32_t k = 0; k < n->n_in; k++) {
			if (n->in[k].job == PCTL_FROM_INPUT)
				printf("\t\"$%s\" -> \"%s\";\n", p->inputs[n->in[k].port].name,
				       n->job->id);
			else
				printf("\t\"%s\" -> \"%s\" [label = \"%s\"];\n",
				       g->nodes[n->in[k].job].job->id, n->job->id,
				       pctl_node_out_name(&g->nodes[n->in[k].job], n->in[k].port));
		}
	}
	for (uint32_t i = 0; i < p->n_outputs; i++) {
		printf("\t\"> %s\" [shape = ellipse];\n", p->outputs[i].port);
		if (g->outputs[i].job == PCTL_FROM_INPUT)
			printf("\t\"$%s\" -> \"> %s\";\n", p->inputs[g->outputs[i].port].name,
			       p->outputs[i].port);
		else
			printf("\t\"%s\" -> \"> %s\";\n", g->nodes[g->outputs[i].job].job->id,
			       p->outputs[i].port);
	}
	printf("}\n");
}

pctl_status pctl_verb_plan(pctl_app *app)
{
	pctl_run_result *result = NULL;
	pctl_run_options options;
	pctl_setting *ins;
	pctl_loaded_pipeline p;
	const char *picture = pctl_option_value(&app->line, "--svg");
	pctl_status status = pctl_app_load(app, app->line.arguments[0], &p);

	if (status == PCTL_OK && picture != NULL && pctl_option_has(&app->line, "--dot"))
		status = pctl_refuse(app->call, PC10_USAGE, "give --dot or --svg, not both");
	if (status == PCTL_OK && pctl_option_has(&app->line, "--dot")) {
		print_dot(p.graph);
		goto out;
	}
	if (status == PCTL_OK)
		status = pctl_app_run_options(app, &options);
	if (status == PCTL_OK)
		status = pctl_app_settings(app, "--in", &ins, &options.n_ins);
	if (status == PCTL_OK) {
		options.ins = ins;
		status = pctl_plan_pipeline(&app->host, &p, &options, app->call, &result);
	}
	if (status == PCTL_OK && picture != NULL)
		status = pctl_app_plan_svg(app, p.graph, result, picture);
	if (status == PCTL_OK && (picture == NULL || !pctl_app_is_standard_output(picture))) {
		pctl_app_print_place(app, &p, 1);
		pctl_app_print_plan(app, p.graph, result);
	}
out:
	pctl_run_result_destroy(result);
	pctl_loaded_pipeline_close(&p);
	return status;
}
