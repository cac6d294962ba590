/* Running pipelines, and their results; see pipectl.h. */
#include <stdlib.h>
#include <string.h>

#include "api/private.h"
#include "host/outputs.h"
#include "host/receipts.h"

/* blobs: of outputs, data NULL until asked for; cids: their texts. */
struct pipectl_result {
	pipectl *p;
	pctl_arena *arena;
	pctl_run_result *run;
	pctl_blob *blobs;
	char (*cids)[PCTL_CID_TEXT_SIZE];
	char *json;
	pctl_str_buf receipt;
	uint32_t telemetry, reserved;
};

void pipectl_result_release(pipectl_result *r)
{
	if (r == NULL)
		return;
	for (uint32_t i = 0; r->blobs != NULL && i < r->run->n_outputs; i++)
		if (r->blobs[i].data != NULL)
			pctl_blob_release(&r->blobs[i]);
	pctl_run_result_destroy(r->run);
	pctl_arena_destroy(r->arena);
	pctl_str_drop(&r->receipt);
	free(r->json);
	free(r);
}

static pctl_status make_document(pipectl_pipeline *pl, pipectl_result *r)
{
	pctl_json j;

	pctl_document_begin(&j, "run");
	pctl_document_place(&j, &pl->loaded.place);
	pctl_document_run(&j, pl->loaded.pipeline->name, r->run, pl->p->host.policy);
	return pipectl_document(pl->p, &j, PCTL_OK, &r->json);
}

static pctl_status describe(pipectl_pipeline *pl, pipectl_result *r)
{
	const uint32_t n = r->run->n_outputs;

	r->telemetry = pl->p->host.policy->telemetry;
	r->blobs = pctl_arena_array(r->arena, n, sizeof(*r->blobs));
	r->cids = pctl_arena_array(r->arena, n, sizeof(*r->cids));
	if (r->blobs == NULL || r->cids == NULL)
		return pctl_no_memory(&pl->p->call, "a result");
	for (uint32_t i = 0; i < n; i++) {
		pctl_run_output *o = &r->run->outputs[i];

		pctl_cid_format(&o->cid, r->cids[i]);
		/* The pipeline's own text, which may be gone before the result. */
		o->name = pctl_arena_dup(r->arena, o->name);
		if (o->name == NULL)
			return pctl_no_memory(&pl->p->call, "a result");
	}
	return make_document(pl, r);
}

static pctl_status run(pipectl_pipeline *pl, const pipectl_run_options *options, pipectl_result *r)
{
	pipectl *p = pl->p;
	pctl_receipt *receipt = NULL;
	pctl_run_options o;
	pctl_run_request q;
	pipectl_run_options asked;
	pctl_status status = PIPECTL_TAKE(&p->call, &asked, options);

	if (status == PCTL_OK)
		status = pipectl_request(p, options, r->arena, &q);
	if (status == PCTL_OK)
		status = pctl_request_run_options(&p->host, &q, &p->call, &o);
	if (status == PCTL_OK)
		status = pctl_admit(&p->host, &pl->loaded, &p->call);
	if (status == PCTL_OK && asked.flags & PIPECTL_RUN_RECEIPT)
		status = pctl_receipt_begin(&p->host, &pl->loaded, PCTL_TRACE_JOBS, &o, &p->call,
					    &receipt);
	if (status == PCTL_OK)
		status = pctl_run_pipeline(&p->host, &pl->loaded, &o, &p->call, &r->run);
	if (status == PCTL_OK && receipt != NULL)
		status = pctl_receipt_finish(&p->host, &pl->loaded, &o, r->run, &p->call, receipt,
					     &r->receipt);
	pctl_receipt_destroy(receipt);
	return status == PCTL_OK ? describe(pl, r) : status;
}

pctl_status pipectl_pipeline_run(pipectl_pipeline *pl, const pipectl_run_options *options,
				 pipectl_result **out)
{
	pctl_status status = pipectl_begin(pl->p, pl->loaded_said, "run");
	pipectl_result *r = NULL;

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	r = calloc(1, sizeof(*r));
	if (r == NULL || (r->arena = pctl_arena_create()) == NULL) {
		free(r);
		return pctl_no_memory(&pl->p->call, "a result");
	}
	r->p = pl->p;
	status = pipectl_end(pl->p, run(pl, options, r));
	if (status == PCTL_OK)
		*out = r;
	else
		pipectl_result_release(r);
	return status;
}

/* ---- what came of it ---------------------------------------------------------------------- */

static const char *evidence_text(pipectl_result *r, pctl_evidence e)
{
	char text[PCTL_EVIDENCE_TEXT];

	return pctl_arena_dup(r->arena, pctl_evidence_text(e, text));
}

pctl_status pipectl_result_summary(pipectl_result *r, pipectl_summary *out)
{
	pipectl_summary s = {.head = PCTL_HEAD(pipectl_summary),
			     .evidence = evidence_text(r, r->run->evidence),
			     .gas = r->run->gas,
			     .seconds = r->telemetry ? (double)r->run->wall_ns * 1e-9 : 0,
			     .remembered = r->run->memoised,
			     .remembered_jobs = r->run->n_remembered,
			     .saved_gas = r->run->saved_gas,
			     .saved_seconds = r->telemetry ? (double)r->run->saved_ns * 1e-9 : 0};
	pctl_status status = pipectl_begin(r->p, NULL, NULL);

	for (uint32_t i = 0; i < r->run->n_choices; i++)
		if (r->run->choices[i].taken && s.device == NULL)
			s.device = r->run->choices[i].selector;
	if (status == PCTL_OK && s.evidence == NULL)
		status = pctl_no_memory(&r->p->call, "a summary");
	return status == PCTL_OK ? PIPECTL_GIVE(&r->p->call, out, &s) : status;
}

uint32_t pipectl_result_job_count(const pipectl_result *r)
{
	return r->run->n_jobs;
}

pctl_status pipectl_result_job(pipectl_result *r, uint32_t i, pipectl_job *out)
{
	const pctl_run_job *from = &r->run->jobs[i < r->run->n_jobs ? i : 0];
	pctl_status status = pipectl_begin(r->p, NULL, NULL);
	pipectl_job job = {.head = PCTL_HEAD(pipectl_job)};

	if (status == PCTL_OK && i >= r->run->n_jobs)
		status = pipectl_misused(&r->p->call, "there is no such job");
	if (status != PCTL_OK)
		return status;
	job.id = from->id;
	job.what = from->what;
	job.device = from->device;
	job.evidence = evidence_text(r, from->evidence);
	job.not_taken = from->memo_void;
	job.gas = from->gas + from->size_gas;
	job.seconds =
		!r->telemetry
			? 0
			: (double)(from->remembered ? from->saved_ns : from->stats.wall_ns) * 1e-9;
	job.remembered = from->remembered;
	if (job.evidence == NULL)
		return pctl_no_memory(&r->p->call, "a job");
	return PIPECTL_GIVE(&r->p->call, out, &job);
}

uint32_t pipectl_result_output_count(const pipectl_result *r)
{
	return r->run->n_outputs;
}

pctl_status pipectl_result_output(pipectl_result *r, uint32_t i, pipectl_output *out)
{
	pctl_status status = pipectl_begin(r->p, NULL, NULL);
	const pctl_run_output *from = &r->run->outputs[i < r->run->n_outputs ? i : 0];
	pipectl_output o = {.head = PCTL_HEAD(pipectl_output)};

	if (status == PCTL_OK && i >= r->run->n_outputs)
		status = pipectl_misused(&r->p->call, "there is no such output");
	if (status != PCTL_OK)
		return status;
	o.name = from->name;
	o.cid = r->cids[i];
	o.dtype = pctl_dtype_name(from->type.dtype);
	o.rank = from->type.rank;
	o.dims = from->type.dim;
	o.n_bytes = from->n_bytes;
	o.evidence = evidence_text(r, from->evidence);
	if (o.evidence == NULL)
		return pctl_no_memory(&r->p->call, "an output");
	return PIPECTL_GIVE(&r->p->call, out, &o);
}

pctl_status pipectl_result_data(pipectl_result *r, uint32_t i, const void **data, uint64_t *n_bytes)
{
	pctl_status status = pipectl_begin(r->p, NULL, NULL);

	*data = NULL;
	*n_bytes = 0;
	if (status == PCTL_OK && i >= r->run->n_outputs)
		status = pipectl_misused(&r->p->call, "there is no such output");
	if (status == PCTL_OK && r->blobs[i].data == NULL)
		status = pctl_store_get(r->p->host.store, &r->run->outputs[i].cid, &r->p->call,
					&r->blobs[i]);
	if (status == PCTL_OK) {
		*data = r->blobs[i].data;
		*n_bytes = r->blobs[i].n_bytes;
	}
	return pipectl_end(r->p, status);
}

static pctl_status write_outputs(pipectl_result *r, const pipectl_setting *outs, uint32_t n)
{
	pctl_setting *all = pctl_arena_array(r->arena, n, sizeof(*all));

	if (all == NULL)
		return pctl_no_memory(&r->p->call, "outputs");
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = 0;

		if (outs[i].name == NULL || outs[i].value == NULL)
			return pipectl_misused(&r->p->call, "an output has no name, or no file");
		while (k < r->run->n_outputs && strcmp(r->run->outputs[k].name, outs[i].name) != 0)
			k++;
		if (k == r->run->n_outputs)
			return pctl_refuse(&r->p->call, PC4013_INPUT_UNKNOWN,
					   "the pipeline has no output \"%s\"", outs[i].name);
		all[i] = (pctl_setting){outs[i].name, outs[i].value};
	}
	return pctl_outputs_write(r->p->host.store, r->run, all, NULL, n, &r->p->call);
}

pctl_status pipectl_result_write(pipectl_result *r, const pipectl_setting *outs, uint32_t n)
{
	pctl_status status = pipectl_begin(r->p, NULL, NULL);

	return pipectl_end(r->p, status == PCTL_OK ? write_outputs(r, outs, n) : status);
}

const char *pipectl_result_json(pipectl_result *r)
{
	return r->json;
}

const char *pipectl_result_receipt(pipectl_result *r, uint64_t *n_bytes)
{
	*n_bytes = r->receipt.n;
	return r->receipt.n == 0 ? NULL : r->receipt.data;
}
