/* Receipts of blocks: signed when a block ends here, and disputes between two of them, whose jobs are run again on the
 * reference by the state and the store of this home. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "block.h"
#include "chain/blocks/block.h"
#include "chain/transition/submit.h"
#include "receipt.h"

const char *pctl_app_block_receipts(pctl_app *app)
{
	return pctl_arena_printf(app->arena, "%s/chain/receipts", app->host.config->home);
}

/* ---- signing ------------------------------------------------------------------------------ */

/* The plugin that a device's selector begins with. */
static void plugin_facts(pctl_app *app, const char *executor, pctl_block_signing *who)
{
	pctl_block_fact *facts = pctl_arena_array(app->arena, 3, sizeof(*facts));
	char *id = pctl_arena_dup_n(app->arena, executor, strcspn(executor, ": "));
	const pctl_plugin_info *p = id == NULL || app->host.registry == NULL
					    ? NULL
					    : pctl_registry_find(app->host.registry, id);

	if (facts == NULL || p == NULL)
		return;
	facts[0] = (pctl_block_fact){"plugin", p->id};
	facts[1] = (pctl_block_fact){"plugin-version", p->version == NULL ? "" : p->version};
	facts[2] = (pctl_block_fact){"plugin-sha256", p->sha256 == NULL ? "" : p->sha256};
	who->facts = facts;
	who->n_facts = 3;
}

/* How the outputs stand here, job by job in the order of the block's receipts, equal ones in a row together. */
static pctl_status standings_of(const pctl_app_signing *signing, const pctl_block_record *record,
				pctl_arena *arena, const pctl_call *call, pctl_block_signing *who)
{
	pctl_block_statements all;
	pctl_block_standing *to;
	pctl_status status =
		pctl_block_statements_read("receipts", record->text[PCTL_BLOCK_RECEIPTS],
					   record->n_bytes[PCTL_BLOCK_RECEIPTS], arena, call, &all);

	if (status != PCTL_OK)
		return status;
	to = pctl_arena_array(arena, all.n + (size_t)1, sizeof(*to));
	if (to == NULL)
		return pctl_no_memory(signing->app->call, "a receipt");
	for (uint32_t i = 0; i < all.n; i++) {
		const pctl_evidence e = pctl_chain_evidence(signing->chain, all.items[i].job);

		if (who->n_standings == 0 ||
		    pctl_evidence_compare(to[who->n_standings - 1].evidence, e) != 0)
			to[who->n_standings++].evidence = e;
		to[who->n_standings - 1].n_jobs++;
	}
	who->standings = to;
	return PCTL_OK;
}

static pctl_status sign_record(void *ctx, const pctl_block_record *record, const pctl_call *call)
{
	const pctl_app_signing *signing = ctx;
	const pctl_executor *executor = signing->executor;
	pctl_block_signing who = {.version = PIPECTL_VERSION, .executor = NULL};
	pctl_block_header header;
	pctl_signer *signer = NULL;
	pctl_arena *arena = pctl_arena_create();
	const char *dir = pctl_app_block_receipts(signing->app);
	pctl_status status = dir == NULL
				     ? pctl_no_memory(signing->app->call, "a receipt")
				     : pctl_block_read_header(record, "the block", call, &header);

	if (status == PCTL_OK)
		status = pctl_installation_signer(&signing->app->host, signing->app->call, &signer);
	if (executor != NULL && executor->describe != NULL)
		who.executor = executor->describe(executor->ctx);
	if (who.executor == NULL)
		who.executor = "none";
	if (status == PCTL_OK)
		status = arena == NULL ? pctl_no_memory(signing->app->call, "a receipt")
				       : standings_of(signing, record, arena, call, &who);
	if (status == PCTL_OK) {
		memcpy(who.previous, header.previous, sizeof(who.previous));
		memcpy(who.state, header.root, sizeof(who.state));
		plugin_facts(signing->app, who.executor, &who);
		status = pctl_block_receipt_write(dir, record->text[PCTL_BLOCK_RECEIPTS],
						  record->n_bytes[PCTL_BLOCK_RECEIPTS], &who,
						  signer, call);
	}
	pctl_signer_close(signer);
	pctl_arena_destroy(arena);
	return status;
}

void pctl_app_sign_blocks(pctl_app_signing *signing, pctl_chain *chain)
{
	signing->chain = chain;
	pctl_chain_set_record(chain, sign_record, signing);
}

/* ---- the reference's statement ------------------------------------------------------------ */

typedef struct judging {
	pctl_app *app;
	pctl_chain *chain;
	const pctl_executor *reference;
	pctl_chain_job row;
	pctl_request message;
	pctl_block_statement right;
	pctl_block_input inputs[PCTL_BLOCK_INPUTS_MAX];
	pctl_blob blobs[PCTL_BLOCK_INPUTS_MAX];
	pctl_task_binding bindings[PCTL_BLOCK_INPUTS_MAX + 1u];
	uint32_t n_blobs;
	uint8_t *uniform, *output;
} judging;

/* A CID, or the output that this home's state has of a job. */
static pctl_status resolve(judging *j, const char *reference, pctl_cid *out)
{
	uint8_t id[PCTL_DIGEST_BYTES];
	pctl_chain_job row;
	pctl_status status;

	if (strncmp(reference, "job:", 4) != 0)
		return pctl_cid_read(reference, j->app->call, out);
	if (!pctl_job_id_parse(reference + 4, id))
		return pctl_refuse(j->app->call, PC5901_RECEIPT_FORM, "\"%s\" is no job",
				   reference);
	status = pctl_jobs_read(pctl_chain_rows(j->chain), id, j->app->call, &row);
	if (status == PCTL_OK) {
		*out = row.output;
		pctl_chain_job_clear(&row);
	}
	return status;
}

static pctl_status bind(judging *j, uint32_t group, uint32_t binding, const char *reference)
{
	pctl_block_input *in = &j->inputs[j->right.n_inputs];
	pctl_status status;

	if (j->right.n_inputs == PCTL_BLOCK_INPUTS_MAX)
		return pctl_refuse(j->app->call, PC5920_BLOCK_STATEMENT, "too many inputs");
	in->group = group;
	in->binding = binding;
	status = resolve(j, reference, &in->cid);
	if (status == PCTL_OK)
		status = pctl_store_get(j->app->host.store, &in->cid, j->app->call,
					&j->blobs[j->n_blobs]);
	if (status != PCTL_OK)
		return status;
	j->bindings[j->n_blobs] = (pctl_task_binding){
		group, binding, &in->cid, j->blobs[j->n_blobs].data, j->blobs[j->n_blobs].n_bytes};
	j->n_blobs++;
	j->right.n_inputs++;
	return PCTL_OK;
}

static pctl_status run(judging *j, const pctl_msg_execute *m, const pctl_params *params)
{
	pctl_task task = {.name = "dispute", .n_output = m->output_bytes};
	const pctl_call *call = j->app->call;
	uint32_t at = 0;
	uint64_t n_uniform;
	pctl_cid cid;
	pctl_status status = pctl_chain_unit(j->chain, m, params, call, &task.unit);

	/* Bindings of a message ascend, and 0:0 is before them all. */
	if (status == PCTL_OK)
		status = bind(j, 0, 0, m->input);
	while (status == PCTL_OK && at < m->n_bindings) {
		status = bind(j, m->bindings[at].group, m->bindings[at].binding,
			      m->bindings[at].cid);
		at++;
	}
	if (status == PCTL_OK)
		status = pctl_chain_uniform(j->chain, m, params, call, &j->uniform, &n_uniform);
	if (status == PCTL_OK && j->uniform != NULL) {
		j->bindings[j->n_blobs] = (pctl_task_binding){0, 1, NULL, j->uniform, n_uniform};
		status = pctl_cid_of(j->uniform, n_uniform, call, &cid);
		memcpy(j->right.uniform, cid.digest, PCTL_DIGEST_BYTES);
		j->right.has_uniform = 1;
	}
	j->output = calloc(1, (size_t)m->output_bytes + 1);
	if (status == PCTL_OK && j->output == NULL)
		status = pctl_no_memory(j->app->call, "a receipt");
	task.bindings = j->bindings;
	task.n_bindings = j->n_blobs + j->right.has_uniform;
	task.output = j->output;
	memcpy(task.groups, m->dispatch, sizeof(task.groups));
	if (status == PCTL_OK)
		status = j->reference->run(j->reference->ctx, &task, 1, call);
	if (status == PCTL_OK)
		status = pctl_cid_of(j->output, m->output_bytes, call, &j->right.output);
	j->right.inputs = j->inputs;
	j->right.n_output = m->output_bytes;
	j->right.gas = j->row.gas;
	j->right.complete = 1;
	j->right.error = "";
	return status;
}

/* What the statement of a job has to be, by the messages of this home's chain and the reference. */
static pctl_status state_right(judging *j, const uint8_t id[PCTL_DIGEST_BYTES])
{
	const pctl_call *call = j->app->call;
	const pctl_msg_execute *m = &j->message.as.execute;
	const uint8_t *bytes = NULL;
	pctl_params params;
	uint64_t n = 0;
	pctl_cid cid;
	pctl_status status = pctl_jobs_read(pctl_chain_rows(j->chain), id, call, &j->row);

	if (status == PCTL_OK)
		status = pctl_request_decode(j->row.message, j->row.n_message, call, &j->message);
	if (status == PCTL_OK) {
		bytes = pctl_execute_bytes(&j->message, &n);
		status = pctl_cid_of(bytes, n, call, &cid);
	}
	if (status == PCTL_OK)
		status = pctl_cid_read(m->shader_cid, call, &j->right.program);
	if (status == PCTL_OK)
		status = pctl_params_in_force(pctl_chain_rows(j->chain), j->row.height, call,
					      &params);
	if (status != PCTL_OK)
		return status;
	memcpy(j->right.job, id, PCTL_DIGEST_BYTES);
	memcpy(j->right.request, cid.digest, PCTL_DIGEST_BYTES);
	memcpy(j->right.groups, m->dispatch, sizeof(j->right.groups));
	j->right.error = j->row.error;
	return j->row.status == PCTL_JOB_FAILED ? PCTL_OK : run(j, m, &params);
}

static void judging_clear(judging *j)
{
	for (uint32_t i = 0; i < j->n_blobs; i++)
		pctl_blob_release(&j->blobs[i]);
	pctl_request_destroy(&j->message);
	pctl_chain_job_clear(&j->row);
	free(j->uniform);
	free(j->output);
}

/* ---- the dispute -------------------------------------------------------------------------- */

static const pctl_block_statement *list_of(const pctl_block_receipt *r, uint32_t *n)
{
	*n = r->is_job ? 1 : r->all.n;
	return r->is_job ? &r->job : r->all.items;
}

static const char *line_of(pctl_app *app, const pctl_block_statement *s)
{
	const pctl_call silent = {.head = PCTL_HEAD(pctl_call)};
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	const char *line = "";

	if (s != NULL && pctl_block_statement_text(s, &silent, &text) == PCTL_OK)
		line = pctl_arena_dup_n(app->arena, text.data, text.n);
	pctl_str_drop(&text);
	return line;
}

/* The first job whose lines differ; *place: its number in the block. */
static pctl_status find_job(pctl_app *app, const pctl_app_receipt r[2],
			    const pctl_block_statement *out[2])
{
	const pctl_block_statement *lists[2];
	uint32_t n[2], i = 0;

	for (uint32_t k = 0; k < 2; k++)
		lists[k] = list_of(r[k].block, &n[k]);
	if (r[0].block->height != r[1].block->height)
		return pctl_refuse(app->call, PC5912_DISPUTE_QUESTION,
				   "%s is of block %" PRIu64 ", %s of block %" PRIu64, r[0].path,
				   r[0].block->height, r[1].path, r[1].block->height);
	/* One job's receipt is held against that job of a whole block. */
	for (uint32_t k = 0; k < 2 && r[0].block->is_job != r[1].block->is_job; k++) {
		const uint32_t index = r[k].block->index;

		if (r[k].block->is_job && index < n[1 - k]) {
			lists[1 - k] += index;
			n[1 - k] = 1;
		}
	}
	if (r[0].block->is_job && r[1].block->is_job &&
	    memcmp(lists[0]->job, lists[1]->job, PCTL_DIGEST_BYTES) != 0)
		return pctl_refuse(app->call, PC5912_DISPUTE_QUESTION,
				   "they are of two different jobs");
	while (i < n[0] && i < n[1] &&
	       strcmp(line_of(app, &lists[0][i]), line_of(app, &lists[1][i])) == 0)
		i++;
	if (i == n[0] && i == n[1])
		return pctl_refuse(app->call, PC5911_DISPUTE_NOTHING,
				   "%" PRIu32 " jobs of block %" PRIu64 " are the same", i,
				   r[0].block->height);
	out[0] = i < n[0] ? &lists[0][i] : NULL;
	out[1] = i < n[1] ? &lists[1][i] : NULL;
	return PCTL_OK;
}

/* Where a claimed output lies in the store, its first wrong byte. */
static const char *detail(judging *j, const pctl_block_statement *claimed)
{
	char cid[PCTL_CID_TEXT_SIZE];
	pctl_blob blob;
	const char *text;
	uint64_t at = 0;

	if (claimed == NULL || !claimed->complete || !j->right.complete ||
	    claimed->n_output != j->right.n_output ||
	    !pctl_store_has(j->app->host.store, &claimed->output))
		return pctl_arena_printf(j->app->arena,
					 "it is not what the reference and this chain give%s",
					 claimed != NULL && claimed->complete && j->right.complete
						 ? "; its bytes are not in the store"
						 : "");
	if (pctl_store_get(j->app->host.store, &claimed->output, j->app->call, &blob) != PCTL_OK)
		return "its bytes cannot be read";
	while (at < blob.n_bytes && blob.data[at] == j->output[at])
		at++;
	text = at == blob.n_bytes
		       ? pctl_arena_printf(j->app->arena, "its output %s is right",
					   pctl_cid_format(&claimed->output, cid))
		       : pctl_arena_printf(j->app->arena,
					   "byte %" PRIu64 " of its output is 0x%02x, not 0x%02x",
					   at, blob.data[at], j->output[at]);
	pctl_blob_release(&blob);
	return text;
}

static pctl_status tell(judging *j, const pctl_app_receipt r[2],
			const pctl_block_statement *const claimed[2], const char *id)
{
	pctl_app *app = j->app;
	const char *right = line_of(app, &j->right), *who[2] = {"", ""};
	pctl_dispute_report report = {.kind = "block",
				      .n_sides = 2,
				      .job = id,
				      .reference = PCTL_REFERENCE,
				      .correct = right,
				      .place = pctl_arena_printf(app->arena,
								 "job %s of block %" PRIu64, id,
								 r[0].block->height)};
	uint32_t n = 0;
	pctl_cid cid;
	pctl_status status;

	for (uint32_t i = 0; i < 2; i++) {
		report.side[i].signer = r[i].block->signer;
		report.side[i].claimed = line_of(app, claimed[i]);
		report.side[i].wrong = strcmp(report.side[i].claimed, right) != 0;
		report.side[i].detail = report.side[i].wrong ? detail(j, claimed[i]) : "";
		if (report.side[i].wrong)
			who[n++] = r[i].path;
	}
	if (report.place == NULL || report.side[0].detail == NULL || report.side[1].detail == NULL)
		return pctl_no_memory(app->call, "a receipt");
	status = pctl_app_put_report(app, r, &report, &cid);
	if (status != PCTL_OK)
		return status;
	pctl_app_print_report(app, r, &report, &cid);
	return pctl_refuse(app->call, PC5913_DISPUTE_WRONG, "%s: %s%s%s", report.place, who[0],
			   n == 2 ? " and " : "", who[1]);
}

pctl_status pctl_app_dispute_blocks(pctl_app *app, const pctl_app_receipt r[2])
{
	const pctl_block_statement *claimed[2] = {NULL, NULL};
	judging *j = pctl_arena_alloc(app->arena, sizeof(*j));
	pctl_executor reference = {.run = NULL};
	char hex[2 * PCTL_DIGEST_BYTES + 1];
	const uint8_t *id;
	pctl_status status =
		j == NULL ? pctl_no_memory(app->call, "a receipt") : find_job(app, r, claimed);

	if (status != PCTL_OK)
		return status;
	id = claimed[0] != NULL ? claimed[0]->job : claimed[1]->job;
	j->app = app;
	j->reference = &reference;
	status = pctl_app_open_executor(app, PCTL_REFERENCE, &reference);
	if (status == PCTL_OK)
		status = pctl_app_chain(app, NULL, &j->chain);
	if (status == PCTL_OK)
		status = state_right(j, id);
	if (status == PCTL_OK)
		status = tell(j, r, claimed, pctl_digest_hex(id, hex));
	judging_clear(j);
	pctl_chain_close(j->chain);
	pctl_executor_close(&reference);
	return status;
}

/* ---- receipt export ----------------------------------------------------------------------- */

pctl_status pctl_verb_receipt_export(pctl_app *app)
{
	const char *to = pctl_option_value(&app->line, "--out"), *word = app->line.arguments[0],
		   *path;
	pctl_app_receipt block = {.path = NULL};
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	uint8_t id[PCTL_DIGEST_BYTES];
	pctl_chain *chain = NULL;
	pctl_chain_job row = {.message = NULL};
	pctl_status status = pctl_app_chain(app, NULL, &chain);

	if (status == PCTL_OK && !pctl_job_id_parse(word, id))
		status = pctl_refuse(app->call, PC10_USAGE, "\"%s\" is no id of a job", word);
	if (status == PCTL_OK)
		status = pctl_jobs_read(pctl_chain_rows(chain), id, app->call, &row);
	if (status == PCTL_OK && row.ended == 0)
		status = pctl_refuse(app->call, PC5921_BLOCK_NO_JOB, "job %s is pending", word);
	if (status == PCTL_OK) {
		path = pctl_arena_printf(app->arena, "%s/%" PRIu64 ".receipt",
					 pctl_app_block_receipts(app), row.ended);
		status = path == NULL ? pctl_no_memory(app->call, "a receipt")
				      : pctl_app_receipt_open(app, path, &block);
	}
	if (status == PCTL_OK && block.block == NULL)
		status = pctl_refuse(app->call, PC5901_RECEIPT_FORM, "%s is no block's receipt",
				     block.path);
	if (status == PCTL_OK)
		status = pctl_block_receipt_export(block.block, id, app->call, &text);
	if (status == PCTL_OK && to != NULL)
		status = pctl_file_write(to, text.data, text.n, 1, app->call);
	else if (status == PCTL_OK && app->json)
		pctl_json_kv_string(&app->document, "receipt", text.data);
	else if (status == PCTL_OK)
		fwrite(text.data, 1, text.n, stdout);
	pctl_str_drop(&text);
	pctl_chain_job_clear(&row);
	pctl_app_receipt_close(&block);
	pctl_chain_close(chain);
	return status;
}
