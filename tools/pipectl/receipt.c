/* Receipts as the verbs make, open and show them. */
#include "receipt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"

/* ---- run --receipt ------------------------------------------------------------------------ */

pctl_status pctl_app_receipt_begin(pctl_app *app, const pctl_loaded_pipeline *p,
				   pctl_run_options *o, pctl_receipt **out)
{
	const char *trace = pctl_option_value(&app->line, "--trace");
	uint32_t level = PCTL_TRACE_JOBS;

	*out = NULL;
	if (trace != NULL && !pctl_trace_level_parse(trace, &level))
		return pctl_refuse(app->call, PC10_USAGE,
				   "--trace takes job, round or step, not \"%s\"", trace);
	if (!pctl_option_has(&app->line, "--receipt"))
		return trace == NULL ? PCTL_OK
				     : pctl_refuse(app->call, PC10_USAGE,
						   "--trace belongs to --receipt FILE");
	return pctl_receipt_begin(&app->host, p, level, o, app->call, out);
}

pctl_status pctl_app_receipt_finish(pctl_app *app, const pctl_loaded_pipeline *p,
				    const pctl_run_options *o, const pctl_run_result *result,
				    pctl_receipt *r)
{
	const char *path = pctl_option_value(&app->line, "--receipt");
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_status status = pctl_receipt_finish(&app->host, p, o, result, app->call, r, &text);

	if (status == PCTL_OK)
		status = pctl_file_write(path, text.data, text.n, 1, app->call);
	pctl_str_drop(&text);
	return status;
}

/* ---- opening ------------------------------------------------------------------------------ */

pctl_status pctl_app_receipt_open(pctl_app *app, const char *path, pctl_app_receipt *out)
{
	pctl_some_receipt some;
	pctl_status status;
	uint64_t n;

	*out = (pctl_app_receipt){.path = path};
	status = pctl_file_read(path, PCTL_RECEIPT_BYTES_MAX, app->call, &out->text, &n);
	if (status != PCTL_OK)
		return status;
	out->n = pctl_receipt_proof_at(out->text, n);
	out->has_proof = out->n != n;
	status = pctl_some_receipt_parse(path, out->text, out->n, app->call, &some);
	out->run = some.run;
	out->block = some.block;
	if (status == PCTL_OK && out->has_proof)
		status = pctl_row_proof_read(path, out->text + out->n, (size_t)(n - out->n),
					     app->arena, app->call, &out->proof);
	return status;
}

void pctl_app_receipt_close(pctl_app_receipt *r)
{
	free(r->text);
	pctl_receipt_destroy(r->run);
	pctl_block_receipt_destroy(r->block);
	*r = (pctl_app_receipt){.path = NULL};
}

/* ---- showing ------------------------------------------------------------------------------ */

static void json_data(pctl_json *j, const char *key, const pctl_receipt_data *data, uint32_t n)
{
	char cid[PCTL_CID_TEXT_SIZE];

	pctl_json_key(j, key);
	pctl_json_array_begin(j);
	for (uint32_t i = 0; i < n; i++) {
		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "name", data[i].name);
		pctl_json_kv_string(j, "cid", pctl_cid_format(&data[i].cid, cid));
		if (data[i].type[0] != '\0')
			pctl_json_kv_string(j, "type", data[i].type);
		pctl_json_kv_u64(j, "bytes", data[i].n_bytes);
		pctl_json_object_end(j);
	}
	pctl_json_array_end(j);
}

static void json_pairs(pctl_json *j, const char *key, const pctl_receipt_pair *pairs, uint32_t n)
{
	pctl_json_key(j, key);
	pctl_json_object_begin(j);
	for (uint32_t i = 0; i < n; i++)
		pctl_json_kv_string(j, pairs[i].key, pairs[i].value);
	pctl_json_object_end(j);
}

static const char *device_of(const pctl_receipt *r, const pctl_receipt_job *job)
{
	return job->device == PCTL_RECEIPT_NO_DEVICE ? "" : r->devices[job->device].selector;
}

static void json_jobs(pctl_json *j, const pctl_receipt *r)
{
	char cid[PCTL_CID_TEXT_SIZE], text[PCTL_EVIDENCE_TEXT];

	pctl_json_key(j, "jobs");
	pctl_json_array_begin(j);
	for (uint32_t i = 0; i < r->n_jobs; i++) {
		const pctl_receipt_job *job = &r->jobs[i];

		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "id", job->id);
		pctl_json_kv_string(j, "what", job->what);
		pctl_json_kv_string(j, "device", device_of(r, job));
		pctl_json_kv_u64(j, "repeat", job->repeat);
		pctl_json_kv_u64(j, "gas", job->gas);
		pctl_json_kv_string(j, "evidence", pctl_evidence_text(job->evidence, text));
		pctl_json_kv_string(j, "races", pctl_policy_races_word(job->races));
		pctl_json_key(j, "kernels");
		pctl_json_array_begin(j);
		for (uint32_t k = 0; k < job->n_kernels; k++)
			pctl_json_string(j, pctl_cid_format(&job->kernels[k], cid));
		pctl_json_array_end(j);
		pctl_json_object_end(j);
	}
	pctl_json_array_end(j);
}

static void json_devices(pctl_json *j, const pctl_receipt *r)
{
	pctl_json_key(j, "devices");
	pctl_json_array_begin(j);
	for (uint32_t i = 0; i < r->n_devices; i++) {
		const pctl_receipt_device *d = &r->devices[i];

		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "selector", d->selector);
		pctl_json_kv_string(j, "name", d->name);
		pctl_json_kv_string(j, "plugin", d->plugin);
		pctl_json_kv_string(j, "version", d->version);
		pctl_json_kv_string(j, "sha256", d->sha256);
		pctl_json_kv_string(j, "profile", d->profile);
		json_pairs(j, "identity", d->facts, d->n_facts);
		pctl_json_object_end(j);
	}
	pctl_json_array_end(j);
}

static void json_trace(pctl_json *j, const pctl_receipt *r)
{
	char hex[2 * PCTL_DIGEST_BYTES + 1];

	pctl_json_key(j, "trace");
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "level", pctl_trace_level_name(r->level));
	pctl_json_kv_string(j, "root", pctl_digest_hex(r->trace.root, hex));
	pctl_json_key(j, "leaves");
	pctl_json_array_begin(j);
	for (uint32_t i = 0; i < r->trace.n; i++)
		pctl_json_string(j, r->trace.leaves[i].line);
	pctl_json_array_end(j);
	pctl_json_object_end(j);
}

static void json_run(pctl_json *j, const pctl_receipt *r)
{
	char hex[2 * PCTL_DIGEST_BYTES + 1], text[PCTL_EVIDENCE_TEXT];

	pctl_json_kv_string(j, "kind", "run");
	pctl_json_kv_string(j, "signer", r->signer);
	pctl_json_kv_string(j, "pipeline", r->pipeline);
	pctl_json_kv_string(j, "semantics", r->semantics);
	pctl_json_kv_string(j, "class", r->max_class);
	pctl_json_kv_bool(j, "native", (int)r->native);
	pctl_json_kv_string(j, "schedule", r->schedule);
	pctl_json_kv_string(j, "schedule_id", r->schedule_id);
	json_data(j, "texts", r->texts, r->n_texts);
	json_data(j, "inputs", r->inputs, r->n_inputs);
	json_pairs(j, "params", r->params, r->n_params);
	json_data(j, "outputs", r->outputs, r->n_outputs);
	pctl_json_kv_u64(j, "gas", r->gas);
	pctl_json_kv_bool(j, "memoised", !r->executed);
	pctl_json_kv_string(j, "evidence", pctl_evidence_text(r->evidence, text));
	pctl_json_kv_string(j, "memo", pctl_digest_hex(r->memo, hex));
	json_jobs(j, r);
	json_devices(j, r);
	json_pairs(j, "libraries", r->libraries, r->n_libraries);
	pctl_json_kv_string(j, "policy", r->policy);
	pctl_json_kv_string(j, "policy_id", r->policy_id);
	pctl_json_key(j, "source");
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "repository", r->repository);
	pctl_json_kv_string(j, "commit", r->commit);
	pctl_json_kv_string(j, "path", r->path);
	pctl_json_kv_string(j, "state", r->state);
	pctl_json_object_end(j);
	pctl_json_kv_string(j, "pipectl", r->version);
	pctl_json_kv_string(j, "made", r->made);
	json_trace(j, r);
}

static void json_block(pctl_json *j, const pctl_block_receipt *r)
{
	char hex[2 * PCTL_DIGEST_BYTES + 1];
	const pctl_block_statement *items = r->is_job ? &r->job : r->all.items;

	pctl_json_kv_string(j, "kind", r->is_job ? "job" : "block");
	pctl_json_kv_string(j, "signer", r->signer);
	pctl_json_kv_u64(j, "height", r->height);
	pctl_json_kv_string(j, "root", pctl_digest_hex(r->root, hex));
	pctl_json_kv_string(j, "previous", pctl_digest_hex(r->who.previous, hex));
	pctl_json_kv_string(j, "state", pctl_digest_hex(r->who.state, hex));
	pctl_json_kv_string(j, "executor", r->who.executor);
	pctl_json_key(j, "identity");
	pctl_json_object_begin(j);
	for (uint32_t i = 0; i < r->who.n_facts; i++)
		pctl_json_kv_string(j, r->who.facts[i].key, r->who.facts[i].value);
	pctl_json_object_end(j);
	pctl_json_key(j, "jobs");
	pctl_json_array_begin(j);
	for (uint32_t i = 0; i < (r->is_job ? 1 : r->all.n); i++) {
		char cid[PCTL_CID_TEXT_SIZE], standing[PCTL_EVIDENCE_TEXT];

		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "job", pctl_digest_hex(items[i].job, hex));
		pctl_json_kv_string(j, "program", pctl_cid_format(&items[i].program, cid));
		pctl_json_kv_bool(j, "complete", (int)items[i].complete);
		if (items[i].complete)
			pctl_json_kv_string(j, "output", pctl_cid_format(&items[i].output, cid));
		else
			pctl_json_kv_string(j, "error", items[i].error);
		if (items[i].complete)
			pctl_json_kv_string(j, "evidence",
					    pctl_evidence_text(pctl_block_receipt_evidence(
								       r, r->is_job ? r->index : i),
							       standing));
		pctl_json_kv_u64(j, "gas", items[i].gas);
		pctl_json_object_end(j);
	}
	pctl_json_array_end(j);
}

static void print_data(const char *what, const pctl_receipt_data *data, uint32_t n)
{
	char cid[PCTL_CID_TEXT_SIZE];

	for (uint32_t i = 0; i < n; i++)
		printf("%-8s %-24s %s %" PRIu64 " bytes %s\n", what, data[i].name,
		       pctl_cid_format(&data[i].cid, cid), data[i].n_bytes, data[i].type);
}

static void print_run(const pctl_receipt *r, int long_form)
{
	char hex[2 * PCTL_DIGEST_BYTES + 1], text[PCTL_EVIDENCE_TEXT];

	printf("run of \"%s\", class %s, made %s by key %s\n", r->pipeline, r->max_class, r->made,
	       r->signer);
	if (r->commit[0] != '\0')
		printf("source   %s %s %s (%s)\n", r->repository, r->commit, r->path, r->state);
	print_data("text", r->texts, r->n_texts);
	print_data("input", r->inputs, r->n_inputs);
	for (uint32_t i = 0; i < r->n_params; i++)
		printf("param    %s = %s\n", r->params[i].key, r->params[i].value);
	for (uint32_t i = 0; i < r->n_jobs; i++)
		printf("job      %s: %s %s, %" PRIu64 " rounds, gas %" PRIu64 ", %s%s\n",
		       r->jobs[i].id, r->jobs[i].what, device_of(r, &r->jobs[i]), r->jobs[i].repeat,
		       r->jobs[i].gas, pctl_evidence_text(r->jobs[i].evidence, text),
		       r->jobs[i].races == PCTL_RACES_UNPROVEN ? ", races trusted" : "");
	for (uint32_t i = 0; i < r->n_devices; i++)
		printf("device   %s, plugin %s %s sha256 %s\n", r->devices[i].name,
		       r->devices[i].plugin, r->devices[i].version, r->devices[i].sha256);
	print_data("output", r->outputs, r->n_outputs);
	printf("%s\n", pctl_evidence_text(r->evidence, text));
	printf("gas %" PRIu64 ", schedule %s, policy %s\n", r->gas, r->schedule, r->policy);
	if (!r->executed)
		printf("nothing ran: remembered under memo key %s, no trace\n",
		       pctl_digest_hex(r->memo, hex));
	else
		printf("trace of every %s, %" PRIu32 " lines, root %s\n",
		       pctl_trace_level_name(r->level), r->trace.n,
		       pctl_digest_hex(r->trace.root, hex));
	for (uint32_t i = 0; long_form && i < r->trace.n; i++)
		printf("  %s\n", r->trace.leaves[i].line);
}

static void print_block(const pctl_block_receipt *r)
{
	const pctl_block_statement *items = r->is_job ? &r->job : r->all.items;
	char hex[2 * PCTL_DIGEST_BYTES + 1], cid[PCTL_CID_TEXT_SIZE], standing[PCTL_EVIDENCE_TEXT];

	printf("%s block %" PRIu64 " of %" PRIu32 " jobs, on %s, signed by key %s\n",
	       r->is_job ? "one job of" : "", r->height, r->n_jobs, r->who.executor, r->signer);
	printf("root %s\n", pctl_digest_hex(r->root, hex));
	for (uint32_t i = 0; i < (r->is_job ? 1 : r->all.n); i++)
		printf("job %s %s, gas %" PRIu64 "%s%s\n", pctl_digest_hex(items[i].job, hex),
		       items[i].complete ? pctl_cid_format(&items[i].output, cid) : items[i].error,
		       items[i].gas, items[i].complete ? ", " : "",
		       items[i].complete ? pctl_evidence_text(pctl_block_receipt_evidence(
								      r, r->is_job ? r->index : i),
							      standing)
					 : "");
}

void pctl_app_print_receipt(pctl_app *app, const pctl_app_receipt *r)
{
	if (app->json && r->run != NULL)
		json_run(&app->document, r->run);
	else if (app->json)
		json_block(&app->document, r->block);
	else if (r->run != NULL)
		print_run(r->run, (int)app->verbose);
	else
		print_block(r->block);
}
