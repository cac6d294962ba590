/* Answering queries, and serving any request: what is refused becomes an error response, trouble stays a status. */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "foundation/base/arena.h"
#include "chain/transition/admit.h"
#include "chain/transition/authorise.h"
#include "chain/blocks/block.h"
#include "chain/contracts/contracts.h"
#include "chain/node/serve_graph.h"
#include "chain/registry/rules.h"
#include "chain/chain_private.h"
#include "chain/node/first_error.h"
#include "chain/transition/refusal.h"

/* ---- queries ------------------------------------------------------------------------------- */

static pctl_status answer_job(pctl_chain *c, const char *id_text, const pctl_call *call,
			      pctl_arena *a, pctl_msg_query_response *out)
{
	char cid[PCTL_CID_TEXT_SIZE];
	uint8_t id[PCTL_DIGEST_BYTES];
	pctl_chain_job job;
	pctl_status status;

	(void)pctl_job_id_parse(id_text, id);
	status = pctl_jobs_read(c->state, id, call, &job);
	if (status != PCTL_OK)
		return status;
	pctl_chain_job_clear(&job);
	out->status = pctl_chain_job_status(c, &job);
	out->gas_used = job.gas_used;
	out->logical_clock = job.clock;
	out->output_cid = job.status == PCTL_JOB_COMPLETE
				  ? pctl_arena_dup(a, pctl_cid_format(&job.output, cid))
				  : "";
	out->error = pctl_arena_dup(a, job.error);
	return out->output_cid == NULL || out->error == NULL ? pctl_no_memory(call, "an answer")
							     : PCTL_OK;
}

typedef struct listing {
	pctl_arena *arena;
	const char **ids;
	uint64_t total;
	uint32_t n, failed;
} listing;

static int list_job(void *ctx, const pctl_chain_job *job)
{
	listing *l = ctx;
	char text[PCTL_JOB_TEXT_SIZE];

	l->total++;
	if (l->n == PCTL_MESSAGE_BLOCK_JOBS_MAX)
		return 0;
	l->ids[l->n] = pctl_arena_dup(l->arena, pctl_job_id_format(job->id, text));
	l->failed = l->ids[l->n] == NULL;
	l->n++;
	return (int)l->failed;
}

/* A finished block: its jobs by clock and place in the queue; which jobs it left in the queue is only known as a number,
 * but for the last block, whose are those that were there when it ended. */
static pctl_status answer_block(pctl_chain *c, uint64_t height, const pctl_call *call,
				pctl_arena *a, pctl_msg_block_info *out)
{
	char commit[PCTL_GITLOG_OID_TEXT_SIZE], root[PCTL_JOB_TEXT_SIZE];
	listing l = {.arena = a};
	pctl_block_row row;
	pctl_params p;
	pctl_status status = height == 0 ? pctl_blocks_last(c->state, call, &row)
					 : pctl_blocks_read(c->state, height, call, &row);

	if (status == PCTL_OK && row.height == 0)
		status = pctl_refuse(call, PC5852_BLOCK_UNKNOWN, "no block is finished yet");
	if (status == PCTL_OK)
		status = pctl_params_in_force(c->state, row.height, call, &p);
	if (status == PCTL_OK)
		status = pctl_params_block_budget(&p, call, &out->gas_budget);
	l.ids = pctl_arena_array(a, PCTL_MESSAGE_BLOCK_JOBS_MAX, sizeof(*l.ids));
	if (status == PCTL_OK && l.ids == NULL)
		status = pctl_no_memory(call, "an answer");
	if (status == PCTL_OK)
		status = pctl_jobs_ended_at(c->state, row.height, list_job, &l, call);
	if (status != PCTL_OK)
		return status;
	out->height = row.height;
	out->final_clock = row.clock;
	out->gas_used = row.gas;
	out->messages = row.messages;
	out->jobs = l.ids;
	out->n_jobs = l.n;
	out->jobs_total = l.total;
	out->deferred_total = row.deferred;
	out->executor = pctl_arena_dup(a, row.executor);
	out->state_root = pctl_arena_dup(a, pctl_job_id_format(row.root, root));
	out->commit = pctl_arena_dup(a, pctl_gitlog_oid_format(&row.commit, commit));
	return l.failed || out->executor == NULL || out->state_root == NULL || out->commit == NULL
		       ? pctl_no_memory(call, "an answer")
		       : PCTL_OK;
}

static pctl_status answer_bytes(pctl_chain *c, const pctl_msg_get *m, const pctl_call *call,
				pctl_arena *a, pctl_msg_data *out)
{
	pctl_blob blob = {.data = NULL};
	uint8_t *copy;
	uint64_t n = 0, from = 0;
	pctl_cid cid;
	pctl_status status = pctl_cid_read(m->cid, call, &cid);

	if (status == PCTL_OK)
		status = pctl_store_size(c->store, &cid, call, &n);
	from = m->offset < n ? m->offset : n;
	n -= from;
	if (m->length != 0 && m->length < n)
		n = m->length;
	if (status == PCTL_OK && n > PCTL_MESSAGE_DATA_MAX)
		return pctl_refuse(call, PC5789_MESSAGE_COUNT, "get.data: %llu bytes, at most %u",
				   (unsigned long long)n, PCTL_MESSAGE_DATA_MAX);
	if (status == PCTL_OK)
		status = pctl_store_get(c->store, &cid, call, &blob);
	if (status != PCTL_OK)
		return status;
	copy = pctl_arena_alloc(a, (size_t)n);
	if (copy != NULL)
		memcpy(copy, blob.data + from, (size_t)n);
	*out = (pctl_msg_data){copy, n};
	pctl_blob_release(&blob);
	return copy == NULL ? pctl_no_memory(call, "an answer") : PCTL_OK;
}

static pctl_status put_bytes(pctl_chain *c, const pctl_msg_data *m, const pctl_call *call,
			     pctl_arena *a, pctl_msg_cid *out)
{
	char text[PCTL_CID_TEXT_SIZE];
	pctl_chain_info info;
	pctl_params p;
	pctl_cid cid;
	pctl_status status = pctl_chain_last(c, call, &info);

	if (status == PCTL_OK)
		status = pctl_params_in_force(c->state, info.last + 1, call, &p);
	if (status == PCTL_OK && p.values[PCTL_PARAM_RULES] != PCTL_RULES_RELEASED)
		return pctl_refuse(call, PC5835_DATA_PUT,
				   "from version 2 of the rules on a message `blob` brings bytes");
	if (status == PCTL_OK)
		status = pctl_store_put(c->store, m->n_data == 0 ? (const void *)"" : m->data,
					m->n_data, call, &cid);
	if (status != PCTL_OK)
		return status;
	out->cid = pctl_arena_dup(a, pctl_cid_format(&cid, text));
	return out->cid == NULL ? pctl_no_memory(call, "an answer") : PCTL_OK;
}

static pctl_status answer(pctl_chain *c, const pctl_request *r, const pctl_call *call,
			  pctl_arena *a, pctl_response *out)
{
	switch (r->kind) {
	case PCTL_MSG_QUERY:
		return answer_job(c, r->as.query.job_id, call, a, &out->as.query);
	case PCTL_MSG_BLOCK_QUERY:
		return answer_block(c, r->as.block.height, call, a, &out->as.block);
	case PCTL_MSG_PUT:
		return put_bytes(c, &r->as.put, call, a, &out->as.put);
	case PCTL_MSG_GET:
		return answer_bytes(c, &r->as.get, call, a, &out->as.get);
	case PCTL_MSG_VIEW:
		return pctl_contract_view(c, &r->as.call, a, call, &out->as.call);
	case PCTL_MSG_GRAPH:
		return pctl_chain_graph(c, &r->as.graph, a, call, &out->as.graph);
	default:
		return pctl_refuse(call, PC5826_CHAIN_MESSAGE,
				   "a message of kind %u does not belong to this function",
				   r->kind);
	}
}

pctl_status pctl_chain_answer(pctl_chain *c, const pctl_request *r, const pctl_call *call,
			      pctl_response *out)
{
	pctl_arena *a;
	pctl_status status = r->owner == NULL ? pctl_request_check(r, call) : PCTL_OK;

	memset(out, 0, sizeof(*out));
	if (status != PCTL_OK)
		return status;
	a = pctl_response_arena(out);
	if (a == NULL)
		return pctl_no_memory(call, "an answer");
	out->kind = r->kind;
	status = answer(c, r, call, a, out);
	if (status != PCTL_OK) {
		pctl_response_destroy(out);
		memset(out, 0, sizeof(*out));
	}
	return status;
}

/* ---- serving ------------------------------------------------------------------------------- */

static pctl_status error_response(const node_first_error *e, const pctl_call *call,
				  pctl_response *out)
{
	pctl_arena *a = pctl_response_arena(out);

	if (a == NULL)
		return pctl_no_memory(call, "an answer");
	out->kind = PCTL_MSG_ERROR;
	out->as.error.code = e->code;
	out->as.error.message = pctl_arena_dup(a, e->text[0] == '\0' ? "refused" : e->text);
	return out->as.error.message == NULL ? pctl_no_memory(call, "an answer") : PCTL_OK;
}

static pctl_call listening(node_first_error *e, pctl_chain *c, const pctl_call *call)
{
	const pctl_call inner = node_keep_first(e, call);

	e->chain = c;
	return inner;
}

/* A refusal is answered, the rest is passed on. */
static pctl_status answered(const node_first_error *e, pctl_status status, const pctl_call *call,
			    pctl_response *out)
{
	if (status == PCTL_OK)
		return PCTL_OK;
	if (pctl_is_refusal(status) && e->code != 0)
		return error_response(e, call, out);
	if (e->code != 0)
		(void)pctl_refuse(call, e->code, "%s", e->text);
	return status;
}

pctl_status pctl_chain_serve(pctl_chain *c, const pctl_request *r, const pctl_call *call,
			     pctl_response *out)
{
	node_first_error e;
	const pctl_call inner = listening(&e, c, call);
	pctl_status status;

	memset(out, 0, sizeof(*out));
	switch (r->kind) {
	case PCTL_MSG_QUERY:
	case PCTL_MSG_BLOCK_QUERY:
	case PCTL_MSG_PUT:
	case PCTL_MSG_GET:
	case PCTL_MSG_VIEW:
	case PCTL_MSG_GRAPH:
		status = pctl_chain_answer(c, r, &inner, out);
		break;
	case PCTL_MSG_BLOCK_END:
		status = pctl_authorise_block(c, r, &inner);
		if (status == PCTL_OK)
			status = pctl_chain_end_block(c, r, &inner, out);
		break;
	default:
		status = pctl_chain_apply(c, r, &inner, out);
		break;
	}
	return answered(&e, status, call, out);
}

pctl_status pctl_chain_admit_bytes(pctl_chain *c, const void *bytes, uint64_t n, uint64_t number,
				   uint64_t taken, const pctl_call *call, pctl_admission *admitted,
				   pctl_response *out)
{
	node_first_error e;
	const pctl_call inner = listening(&e, c, call);
	pctl_request r;
	pctl_status status = pctl_request_decode(bytes, n, &inner, &r);

	memset(out, 0, sizeof(*out));
	*admitted = (pctl_admission){.gas = 0};
	if (status == PCTL_OK) {
		status = pctl_chain_admit(c, &r, number, taken, &inner, admitted);
		pctl_request_destroy(&r);
	}
	return answered(&e, status, call, out);
}

pctl_status pctl_chain_take_bytes(pctl_chain *c, const void *bytes, uint64_t n,
				  const pctl_call *call, uint64_t *paid, pctl_response *out)
{
	node_first_error e;
	const pctl_call inner = listening(&e, c, call);
	pctl_request r;
	pctl_status status = pctl_request_decode(bytes, n, &inner, &r);

	memset(out, 0, sizeof(*out));
	*paid = 0;
	if (status == PCTL_OK) {
		status = pctl_apply_paid(c, &r, &inner, paid, out);
		pctl_request_destroy(&r);
	}
	return answered(&e, status, call, out);
}
