/* What running verbs print: results, plans, receipts; as text and as JSON from the same values. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "host/document.h"
#include "host/outputs.h"

void pctl_app_list_begin(pctl_app *app, const char *key, const pctl_column *columns, uint32_t n)
{
	pctl_app_progress_clear(app);
	if (app->json) {
		pctl_json_key(&app->document, key);
		pctl_json_array_begin(&app->document);
	} else {
		app->table = pctl_table_begin(columns, n, 0);
	}
}

pctl_status pctl_app_list_end(pctl_app *app, pctl_status status)
{
	pctl_status listed = PCTL_OK;

	if (app->json)
		pctl_json_array_end(&app->document);
	else
		listed = pctl_table_end(app->table, app->call);
	app->table = NULL;
	return status == PCTL_OK ? listed : status;
}

static void print_job(const pctl_run_result *r, uint32_t number)
{
	const pctl_run_job *job = &r->jobs[number];
	char text[PCTL_EVIDENCE_TEXT];

	if (job->remembered)
		fprintf(stderr,
			"  %s %s remembered, %s: gas %" PRIu64 ", %" PRIu64
			" rounds, took %.3f s when it ran\n",
			job->id, job->what, pctl_evidence_text(job->evidence, text), job->gas,
			job->repeat, (double)job->saved_ns * 1e-9);
	else
		fprintf(stderr,
			"  %s %s on %s: gas %" PRIu64 ", %" PRIu64 " rounds, %.3f s, races %s%s\n",
			job->id, job->what, job->device, job->gas, job->repeat,
			(double)job->stats.wall_ns * 1e-9, pctl_policy_races_word(job->races),
			job->verified ? ", verified" : "");
	if (job->stats.fast_kernels != 0 || job->stats.safe_kernels != 0)
		fprintf(stderr,
			"    range contracts: %" PRIu32 " of %" PRIu32
			" kernels without guards, %" PRIu32 " inputs looked at\n",
			job->stats.fast_kernels, job->stats.fast_kernels + job->stats.safe_kernels,
			job->stats.looked);
	if (job->fused != 0)
		fprintf(stderr, "    fused: runs in the kernel of %s\n",
			r->jobs[job->fused - 1].id);
	if (job->memo_void != NULL)
		fprintf(stderr, "    a remembered result was not taken: %s\n", job->memo_void);
}

void pctl_app_print_run(pctl_app *app, const char *title, const pctl_run_result *r)
{
	char cid[PCTL_CID_TEXT_SIZE], text[PCTL_EVIDENCE_TEXT];

	pctl_app_progress_clear(app);
	if (app->json) {
		pctl_document_run(&app->document, title, r, app->host.policy);
		return;
	}
	for (uint32_t i = 0; i < r->n_outputs; i++)
		printf("%s %s\n", r->outputs[i].name, pctl_cid_format(&r->outputs[i].cid, cid));
	if (app->quiet)
		return;
	fprintf(stderr, "gas %" PRIu64 ", %.3f s", r->gas, (double)r->wall_ns * 1e-9);
	if (r->actual_gas != 0)
		fprintf(stderr, " (kernels really used %" PRIu64 ")", r->actual_gas);
	fprintf(stderr, ", %s", pctl_evidence_text(r->evidence, text));
	if (r->memoised)
		fprintf(stderr, ", remembered");
	else if (r->n_remembered != 0)
		fprintf(stderr,
			", %" PRIu32 " of %" PRIu32 " jobs remembered (%" PRIu64
			" gas and %.3f s not spent again)",
			r->n_remembered, r->n_jobs, r->saved_gas, (double)r->saved_ns * 1e-9);
	for (uint32_t i = 0; i < r->n_choices; i++) {
		if (r->choices[i].taken)
			fprintf(stderr, ", on %s (%s): %s", r->choices[i].selector,
				r->choices[i].name, r->choices[i].why);
	}
	fputc('\n', stderr);
	for (uint32_t i = 0; app->verbose && i < r->n_jobs; i++)
		print_job(r, i);
	for (uint32_t i = 0; app->verbose && i < r->n_choices; i++) {
		if (!r->choices[i].taken)
			fprintf(stderr, "  not %s (%s): %s\n", r->choices[i].selector,
				r->choices[i].name, r->choices[i].why);
	}
}

void pctl_app_print_plan(pctl_app *app, const pctl_graph *g, const pctl_run_result *r)
{
	static const pctl_column columns[] = {
		{"job", "", 16},     {"what", " ", 24}, {"device", " ", 12},
		{"rounds", " ", -8}, {"gas", " ", -16}, {"bytes", " ", -16},
		{"peak", " ", -16},  {"class", " ", 8}, {"races", " ", 0}};
	pctl_table *table;
	const char *name;
	uint64_t value;

	if (app->json) {
		pctl_document_plan(&app->document, g, r, app->host.policy);
		return;
	}
	table = pctl_table_begin(columns, PCTL_COLUMNS(columns), PCTL_TABLE_HEADS);
	for (uint32_t i = 0; i < r->n_jobs; i++) {
		pctl_table_cell(table, "%s", r->jobs[i].id);
		pctl_table_cell(table, "%s", r->jobs[i].what);
		pctl_table_cell(table, "%s", r->jobs[i].device == NULL ? "" : r->jobs[i].device);
		pctl_table_cell(table, "%" PRIu64, r->jobs[i].repeat);
		pctl_table_cell(table, "%" PRIu64, r->jobs[i].gas);
		pctl_table_cell(table, "%" PRIu64, r->jobs[i].buffer_bytes);
		pctl_table_cell(table, "%" PRIu64, r->jobs[i].peak_bytes);
		pctl_table_cell(table, "%s", pctl_class_name(r->jobs[i].determinism));
		pctl_table_cell(table, "%s", pctl_race_name(r->jobs[i].race));
	}
	(void)pctl_table_end(table, app->call);
	for (uint32_t i = 0; pctl_document_symbol(g, r, i, &name, &value); i++)
		printf("%s%s = %" PRIu64, i == 0 ? "symbols: " : ", ", name, value);
	if (pctl_document_symbol(g, r, 0, &name, &value))
		putchar('\n');
	if (r->stopped_at != NULL)
		printf("job \"%s\" and what follows depend on a size found in the data\n",
		       r->stopped_at);
	if (r->has_gas)
		printf("gas %" PRIu64, r->gas);
	else if (r->n_jobs != 0)
		printf("gas not known, %" PRIu64 " for the jobs above", r->gas);
	else
		printf("gas not known");
	printf(", schedule %s", pctl_gas_schedule_name(app->host.schedule));
	if (r->n_jobs != 0)
		printf(", memory at most %" PRIu64 " bytes%s", r->peak_bytes,
		       r->has_gas ? "" : " so far");
	putchar('\n');
	for (uint32_t i = 0; i < r->n_jobs; i++)
		if (r->jobs[i].fused != 0 && r->jobs[i].fused - 1 != i)
			printf("fused %s into the kernel of %s\n", r->jobs[i].id,
			       r->jobs[r->jobs[i].fused - 1].id);
	for (uint32_t i = 0; i < r->n_choices; i++)
		printf("device %s (%s): %s%s\n", r->choices[i].selector, r->choices[i].name,
		       r->choices[i].taken ? "taken, " : "not taken, ", r->choices[i].why);
	for (uint32_t i = 0; i < pctl_policy_setting_count(app->host.policy); i++) {
		const pctl_conf_setting *s = pctl_policy_setting_at(app->host.policy, i);

		printf("policy %s = %s (%s)\n", s->key, s->value, s->origin);
	}
}

static pctl_status unknown_output(const pctl_app *app, const pctl_pipeline *p, const char *name)
{
	pctl_str_buf names = PCTL_STR_BUF_INIT;
	pctl_status status;

	for (uint32_t i = 0; i < p->n_outputs; i++)
		pctl_str_addf(&names, "%s%s", i == 0 ? "" : ", ", p->outputs[i].port);
	if (names.failed)
		status = pctl_no_memory(app->call, "the names of outputs");
	else
		status = pctl_refuse(app->call, PC4013_INPUT_UNKNOWN,
				     "the pipeline has no output \"%s\"; it has %s", name,
				     p->n_outputs == 0 ? "none" : names.data);
	pctl_str_drop(&names);
	return status;
}

pctl_status pctl_app_check_outs(pctl_app *app, const pctl_pipeline *p, const pctl_setting *outs,
				uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = 0;

		while (k < p->n_outputs && strcmp(p->outputs[k].port, outs[i].name) != 0)
			k++;
		if (k == p->n_outputs)
			return unknown_output(app, p, outs[i].name);
	}
	return pctl_outputs_check(outs, n, app->call);
}

pctl_status pctl_app_write_outs(pctl_app *app, const pctl_run_result *r, const pctl_setting *outs,
				const pctl_tensor_type *types, uint32_t n)
{
	return pctl_outputs_write(app->host.store, r, outs, types, n, app->call);
}
