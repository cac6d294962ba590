/* Disputes between receipts of blocks; see dispute.h. */
#include "chain/home/dispute.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "chain/transition/submit.h"
#include "foundation/base/str.h"

/* ---- the reference's statement ------------------------------------------------------------ */

typedef struct judging {
	const pctl_call *call;
	pctl_arena *arena;
	pctl_chain *chain;
	pctl_executor reference;
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
		return pctl_cid_read(reference, j->call, out);
	if (!pctl_job_id_parse(reference + 4, id))
		return pctl_refuse(j->call, PC5901_RECEIPT_FORM,
				   "\"%s\" does not name a job: `job:` must be followed by 64 "
				   "lower-case hex digits",
				   reference);
	status = pctl_jobs_read(pctl_cursor(j->chain), id, j->call, &row);
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
		return pctl_refuse(j->call, PC5920_BLOCK_STATEMENT, "too many inputs");
	in->group = group;
	in->binding = binding;
	status = resolve(j, reference, &in->cid);
	if (status == PCTL_OK)
		status = pctl_store_get(pctl_chain_store(j->chain), &in->cid, j->call,
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
	const pctl_call *call = j->call;
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
		status = pctl_no_memory(j->call, "a dispute");
	task.bindings = j->bindings;
	task.n_bindings = j->n_blobs + j->right.has_uniform;
	task.output = j->output;
	memcpy(task.groups, m->dispatch, sizeof(task.groups));
	if (status == PCTL_OK)
		status = j->reference.run(j->reference.ctx, &task, 1, call);
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
	const pctl_call *call = j->call;
	const pctl_msg_execute *m = &j->message.as.execute;
	const uint8_t *bytes = NULL;
	pctl_params params;
	uint64_t n = 0;
	pctl_cid cid;
	pctl_status status = pctl_jobs_read(pctl_cursor(j->chain), id, call, &j->row);

	if (status == PCTL_OK)
		status = pctl_request_decode(j->row.message, j->row.n_message, call, &j->message);
	if (status == PCTL_OK) {
		bytes = pctl_execute_bytes(&j->message, &n);
		status = pctl_cid_of(bytes, n, call, &cid);
	}
	if (status == PCTL_OK)
		status = pctl_cid_read(m->shader_cid, call, &j->right.program);
	if (status == PCTL_OK)
		status = pctl_params_in_force(pctl_cursor(j->chain), j->row.height, call, &params);
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

static const char *line_of(pctl_arena *arena, const pctl_block_statement *s)
{
	const pctl_call silent = {.head = PCTL_HEAD(pctl_call)};
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	const char *line = "";

	if (s != NULL && pctl_block_statement_text(s, &silent, &text) == PCTL_OK)
		line = pctl_arena_dup_n(arena, text.data, text.n);
	pctl_str_drop(&text);
	return line;
}

/* The first job whose lines differ. */
static pctl_status find_job(const judging *j, const pctl_home_claim r[2],
			    const pctl_block_statement *out[2])
{
	const pctl_block_statement *lists[2];
	uint32_t n[2], i = 0;

	for (uint32_t k = 0; k < 2; k++)
		lists[k] = list_of(r[k].receipt, &n[k]);
	if (r[0].receipt->height != r[1].receipt->height)
		return pctl_refuse(j->call, PC5912_DISPUTE_QUESTION,
				   "%s is of block %" PRIu64 ", %s of block %" PRIu64, r[0].name,
				   r[0].receipt->height, r[1].name, r[1].receipt->height);
	/* One job's receipt is held against that job of a whole block. */
	for (uint32_t k = 0; k < 2 && r[0].receipt->is_job != r[1].receipt->is_job; k++) {
		const uint32_t index = r[k].receipt->index;

		if (r[k].receipt->is_job && index < n[1 - k]) {
			lists[1 - k] += index;
			n[1 - k] = 1;
		}
	}
	if (r[0].receipt->is_job && r[1].receipt->is_job &&
	    memcmp(lists[0]->job, lists[1]->job, PCTL_DIGEST_BYTES) != 0)
		return pctl_refuse(j->call, PC5912_DISPUTE_QUESTION,
				   "the statements at the same place in the two receipts are of "
				   "different jobs");
	while (i < n[0] && i < n[1] &&
	       strcmp(line_of(j->arena, &lists[0][i]), line_of(j->arena, &lists[1][i])) == 0)
		i++;
	if (i == n[0] && i == n[1])
		return pctl_refuse(j->call, PC5911_DISPUTE_NOTHING,
				   "%" PRIu32 " jobs of block %" PRIu64
				   " have the same statements in both receipts",
				   i, r[0].receipt->height);
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
	    !pctl_store_has(pctl_chain_store(j->chain), &claimed->output))
		return pctl_arena_printf(
			j->arena,
			"its statement is not what the reference computes and this chain records%s",
			claimed != NULL && claimed->complete && j->right.complete
				? "; its bytes are not in the store"
				: "");
	if (pctl_store_get(pctl_chain_store(j->chain), &claimed->output, j->call, &blob) != PCTL_OK)
		return "its bytes cannot be read";
	while (at < blob.n_bytes && blob.data[at] == j->output[at])
		at++;
	text = at == blob.n_bytes
		       ? pctl_arena_printf(j->arena, "its output %s is right",
					   pctl_cid_format(&claimed->output, cid))
		       : pctl_arena_printf(j->arena,
					   "byte %" PRIu64 " of its output is 0x%02x, not 0x%02x",
					   at, blob.data[at], j->output[at]);
	pctl_blob_release(&blob);
	return text;
}

static pctl_status report_on(judging *j, const pctl_home_claim claims[2],
			     const pctl_block_statement *const claimed[2], const uint8_t *id,
			     pctl_dispute_report *out)
{
	char hex[2 * PCTL_DIGEST_BYTES + 1];

	*out = (pctl_dispute_report){.kind = "block",
				     .n_sides = 2,
				     .job = pctl_arena_dup(j->arena, pctl_digest_hex(id, hex)),
				     .reference = PCTL_REFERENCE,
				     .correct = line_of(j->arena, &j->right)};
	out->place = pctl_arena_printf(j->arena, "job %s of block %" PRIu64, hex,
				       claims[0].receipt->height);
	for (uint32_t i = 0; i < 2; i++) {
		out->side[i].signer = claims[i].receipt->signer;
		out->side[i].claimed = line_of(j->arena, claimed[i]);
		out->side[i].wrong = strcmp(out->side[i].claimed, out->correct) != 0;
		out->side[i].detail = out->side[i].wrong ? detail(j, claimed[i]) : "";
	}
	return out->job == NULL || out->place == NULL || out->side[0].detail == NULL ||
			       out->side[1].detail == NULL
		       ? pctl_no_memory(j->call, "a dispute")
		       : PCTL_OK;
}

/* On the reference, by the chain of this home. */
static pctl_status judge(pctl_installation *in, judging *j, const uint8_t *id)
{
	pctl_run_options run;
	pctl_status status = pctl_installation_run_options(in, j->call, &run);

	if (status == PCTL_OK)
		status = pctl_home_executor(&run, PCTL_REFERENCE, j->call, &j->reference);
	if (status == PCTL_OK)
		status = pctl_home_chain(in, NULL, j->call, &j->chain);
	return status == PCTL_OK ? state_right(j, id) : status;
}

pctl_status pctl_home_dispute(pctl_installation *in, const pctl_home_claim claims[2],
			      pctl_arena *arena, const pctl_call *call, pctl_dispute_report *out)
{
	const pctl_block_statement *claimed[2] = {NULL, NULL};
	judging *j = pctl_arena_alloc(arena, sizeof(*j));
	const uint8_t *id;
	pctl_status status;

	if (j == NULL)
		return pctl_no_memory(call, "a dispute");
	*j = (judging){.call = call, .arena = arena};
	status = find_job(j, claims, claimed);
	if (status == PCTL_OK) {
		id = claimed[0] != NULL ? claimed[0]->job : claimed[1]->job;
		status = judge(in, j, id);
		if (status == PCTL_OK)
			status = report_on(j, claims, claimed, id, out);
	}
	judging_clear(j);
	pctl_chain_close(j->chain);
	pctl_executor_close(&j->reference);
	return status;
}
