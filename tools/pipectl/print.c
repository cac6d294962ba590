/* What running verbs print: results, plans, receipts; as text and as JSON from the same values. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "host/document.h"

void pctl_app_print_run(pctl_app *app, const char *title, const pctl_run_result *r)
{
	char cid[PCTL_CID_TEXT_SIZE], text[PCTL_EVIDENCE_TEXT];

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
	for (uint32_t i = 0; i < r->n_choices; i++) {
		if (r->choices[i].taken)
			fprintf(stderr, ", on %s (%s): %s", r->choices[i].selector,
				r->choices[i].name, r->choices[i].why);
	}
	fputc('\n', stderr);
	for (uint32_t i = 0; app->verbose && i < r->n_jobs; i++)
		fprintf(stderr,
			"  %s %s on %s: gas %" PRIu64 ", %" PRIu64 " rounds, %.3f s, races %s%s\n",
			r->jobs[i].id, r->jobs[i].what, r->jobs[i].device, r->jobs[i].gas,
			r->jobs[i].repeat, (double)r->jobs[i].stats.wall_ns * 1e-9,
			pctl_policy_races_word(r->jobs[i].races),
			r->jobs[i].verified ? ", verified" : "");
	if (app->verbose && r->memo_void != NULL)
		fprintf(stderr, "  a remembered result was not taken: %s\n", r->memo_void);
	for (uint32_t i = 0; app->verbose && i < r->n_choices; i++) {
		if (!r->choices[i].taken)
			fprintf(stderr, "  not %s (%s): %s\n", r->choices[i].selector,
				r->choices[i].name, r->choices[i].why);
	}
}

void pctl_app_print_plan(pctl_app *app, const pctl_graph *g, const pctl_run_result *r)
{
	if (app->json) {
		pctl_document_plan(&app->document, g, r, app->host.policy);
		return;
	}
	printf("%-16s %-24s %-12s %8s %16s %16s %-8s %s\n", "job", "what", "device", "rounds",
	       "gas", "bytes", "class", "races");
	for (uint32_t i = 0; i < r->n_jobs; i++)
		printf("%-16s %-24s %-12s %8" PRIu64 " %16" PRIu64 " %16" PRIu64 " %-8s %s\n",
		       r->jobs[i].id, r->jobs[i].what,
		       r->jobs[i].device == NULL ? "" : r->jobs[i].device, r->jobs[i].repeat,
		       r->jobs[i].gas, r->jobs[i].buffer_bytes,
		       pctl_class_name(r->jobs[i].determinism), pctl_race_name(r->jobs[i].race));
	if (r->stopped_at != NULL)
		printf("job \"%s\" and what follows depend on a size found in the data\n",
		       r->stopped_at);
	printf("gas %" PRIu64 "%s, schedule %s, largest job %" PRIu64 " bytes\n", r->gas,
	       r->has_gas ? "" : " so far", pctl_gas_schedule_name(app->host.schedule),
	       r->peak_bytes);
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
	return PCTL_OK;
}

pctl_status pctl_app_write_outs(pctl_app *app, const pctl_run_result *r, const pctl_setting *outs,
				uint32_t n)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		for (uint32_t k = 0; k < r->n_outputs; k++) {
			if (strcmp(r->outputs[k].name, outs[i].name) == 0)
				status = pctl_store_get_file(app->host.store, &r->outputs[k].cid,
							     outs[i].value, app->call);
		}
	}
	return status;
}
