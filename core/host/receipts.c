/* Making and verifying receipts; see receipts.h. */
#include "host/receipts.h"

#include <stdlib.h>
#include <string.h>

#include "host/run.h"

/* Every text into the store, with the name it has from the pipeline's folder. */
static pctl_status keep_texts(pctl_installation *in, const pctl_texts *texts, const pctl_call *call,
			      pctl_receipt_data **out)
{
	const uint32_t n = pctl_texts_count(texts);
	pctl_receipt_data *data = pctl_arena_array(in->arena, n + (size_t)1, sizeof(*data));
	pctl_status status = data == NULL ? pctl_no_memory(call, "texts")
					  : pctl_store_batch_begin(in->store, call);
	pctl_status ended;

	*out = data;
	if (status != PCTL_OK)
		return status;
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		const char *bytes = pctl_texts_bytes(texts, i, &data[i].n_bytes);
		char *name = pctl_texts_relative(texts, i);

		data[i].name = name == NULL ? NULL : pctl_arena_dup(in->arena, name);
		data[i].type = "";
		free(name);
		status = data[i].name == NULL ? pctl_no_memory(call, "texts")
					      : pctl_store_put(in->store, bytes, data[i].n_bytes,
							       call, &data[i].cid);
	}
	ended = pctl_store_batch_commit(in->store, call);
	return status == PCTL_OK ? ended : status;
}

pctl_status pctl_receipt_begin(pctl_installation *in, const pctl_loaded_pipeline *p, uint32_t level,
			       pctl_run_options *o, const pctl_call *call, pctl_receipt **out)
{
	pctl_receipt_data *texts;
	pctl_status status = keep_texts(in, p->texts, call, &texts);

	*out = NULL;
	if (status == PCTL_OK)
		status = pctl_receipt_create(call, out);
	if (status == PCTL_OK)
		status = pctl_receipt_ask(*out, p->graph, o, texts, pctl_texts_count(p->texts),
					  call);
	if (status == PCTL_OK) {
		pctl_receipt_trace(*out, level, o);
		o->flags |= PCTL_RUN_KEEP_INPUTS;
	} else {
		pctl_receipt_destroy(*out);
		*out = NULL;
	}
	return status;
}

static pctl_status add_place(const pctl_repo_place *place, const pctl_call *call, pctl_receipt *r)
{
	r->repository =
		pctl_arena_dup(r->arena, place->repository == NULL ? "" : place->repository);
	r->commit = pctl_arena_dup(r->arena, place->commit);
	r->path = pctl_arena_dup(r->arena, place->path == NULL ? "" : place->path);
	r->state = pctl_repo_state_name(place->state);
	return r->repository == NULL || r->commit == NULL || r->path == NULL
		       ? pctl_no_memory(call, "a receipt")
		       : PCTL_OK;
}

pctl_status pctl_receipt_finish(pctl_installation *in, const pctl_loaded_pipeline *p,
				const pctl_run_options *o, const pctl_run_result *result,
				const pctl_call *call, pctl_receipt *r, pctl_str_buf *out)
{
	pctl_signer *signer = NULL;
	pctl_status status = pctl_receipt_answer(r, o, result, call);

	if (status == PCTL_OK)
		status = add_place(&p->place, call, r);
	if (status == PCTL_OK)
		status = pctl_installation_signer(in, call, &signer);
	if (status == PCTL_OK)
		status = pctl_receipt_text(r, signer, call, out);
	pctl_signer_close(signer);
	return status;
}

static pctl_status run_here(void *ctx, const pctl_graph *g, const pctl_run_options *o,
			    const pctl_call *call, pctl_run_result **out)
{
	return pctl_host_run(ctx, g, o, call, out);
}

pctl_status pctl_receipt_run_again(pctl_installation *in, const pctl_reopened *p,
				   const pctl_run_options *o, const pctl_call *call,
				   pctl_replay *out)
{
	const pctl_runner runner = {run_here, in};

	return pctl_receipt_replay(p, o, &runner, call, out);
}

/* ---- read back ---------------------------------------------------------------------------- */

pctl_status pctl_some_receipt_parse(const char *name, const char *text, uint64_t n,
				    const pctl_call *call, pctl_some_receipt *out)
{
	static const char block[] = "schema = \"" PCTL_BLOCK_RECEIPT_SCHEMA "\";\n";

	*out = (pctl_some_receipt){.run = NULL};
	/* Which of the two it is stands in its signed head; a text that names neither is refused as a run's. */
	if (memmem(text, n, block, sizeof(block) - 1) != NULL)
		return pctl_block_receipt_parse(name, text, n, call, &out->block);
	return pctl_receipt_parse(name, text, n, call, &out->run);
}

void pctl_some_receipt_clear(pctl_some_receipt *r)
{
	pctl_receipt_destroy(r->run);
	pctl_block_receipt_destroy(r->block);
	*r = (pctl_some_receipt){.run = NULL};
}

const char *pctl_some_receipt_signer(const pctl_some_receipt *r)
{
	return r->run != NULL ? r->run->signer : r->block->signer;
}

static pctl_status has_all(pctl_installation *in, const pctl_block_receipt *r,
			   const pctl_call *call)
{
	const pctl_block_statement *items = r->is_job ? &r->job : r->all.items;
	char cid[PCTL_CID_TEXT_SIZE], hex[2 * PCTL_DIGEST_BYTES + 1];
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; i < (r->is_job ? 1 : r->all.n); i++) {
		const pctl_cid *missing =
			pctl_store_has(in->store, &items[i].program) ? NULL : &items[i].program;

		for (uint32_t k = 0; k < items[i].n_inputs; k++)
			if (!pctl_store_has(in->store, &items[i].inputs[k].cid))
				missing = &items[i].inputs[k].cid;
		if (items[i].complete && !pctl_store_has(in->store, &items[i].output))
			missing = &items[i].output;
		if (missing != NULL)
			status = pctl_refuse(call, PC5904_RECEIPT_MISSING, "%s: of job %s, %s",
					     r->name, pctl_digest_hex(items[i].job, hex),
					     pctl_cid_format(missing, cid));
	}
	return status;
}

pctl_status pctl_some_receipt_verify(pctl_installation *in, const pctl_some_receipt *r,
				     const char *signer, int in_store, const pctl_call *call)
{
	const char *by = pctl_some_receipt_signer(r);
	pctl_status status = PCTL_OK;

	if (signer != NULL && strcmp(signer, by) != 0)
		return pctl_refuse(call, PC5906_RECEIPT_SIGNER, "%s was signed by %s",
				   r->run != NULL ? r->run->name : r->block->name, by);
	if (!in_store)
		return PCTL_OK;
	status = pctl_installation_store(in, call);
	if (status != PCTL_OK)
		return status;
	return r->run != NULL ? pctl_receipt_in_store(r->run, in->store, call)
			      : has_all(in, r->block, call);
}

pctl_status pctl_receipt_keep_report(pctl_installation *in, const pctl_receipt_source receipts[2],
				     pctl_dispute_report *report, const pctl_call *call,
				     pctl_cid *out)
{
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_signer *signer = NULL;
	pctl_status status = pctl_installation_store(in, call);

	if (status == PCTL_OK)
		status = pctl_installation_signer(in, call, &signer);
	for (uint32_t i = 0; status == PCTL_OK && i < 2; i++)
		status = pctl_store_put(in->store, receipts[i].text, receipts[i].n, call,
					&report->side[i].receipt);
	if (status == PCTL_OK)
		status = pctl_dispute_report_text(report, signer, call, &text);
	if (status == PCTL_OK)
		status = pctl_store_put(in->store, text.data, text.n, call, out);
	pctl_signer_close(signer);
	pctl_str_drop(&text);
	return status;
}
