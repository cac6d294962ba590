/* What the requests of ABCI mean; see serve.h. */
#include "chain/engine/abci/serve.h"

#include <abci.pb-c.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/engine/abci/query.h"
#include "chain/engine/abci/snapshots.h"
#include "foundation/base/hex.h"

/* Numbers of the protocol's enumerations. */
enum { ACCEPT = 1, REJECT = 2 };
enum { RECHECK = 1 }; /* of CheckTx */

/* protobuf-c's structs have no const; what is packed is only read. */
static char *borrow(const char *s)
{
	return (char *)(uintptr_t)s;
}

static ProtobufCBinaryData bytes_of(const void *data, uint64_t n)
{
	return (ProtobufCBinaryData){(size_t)n, (uint8_t *)(uintptr_t)data};
}

/* The protocol's gas has a sign; no block has so much. */
static int64_t gas_of(uint64_t gas)
{
	return gas > INT64_MAX ? INT64_MAX : (int64_t)gas;
}

#define MAKE(T, init)                                         \
	T *pb = pctl_arena_alloc(s->arena, sizeof(*pb));      \
	if (pb == NULL)                                       \
		return pctl_no_memory(s->call, "a response"); \
	init(pb)

#define ANSWER(field, CASE)                                \
	s->out->value_case = ABCI__RESPONSE__VALUE_##CASE; \
	s->out->field = pb

typedef struct serving {
	pctl_abci *a;
	const Abci__Request *r;
	pctl_arena *arena;
	const pctl_call *call;
	Abci__Response *out;
} serving;

void pctl_abci_chain(const uint8_t id[PCTL_DIGEST_BYTES], char out[PCTL_ABCI_CHAIN_SIZE])
{
	char hex[2 * PCTL_DIGEST_BYTES + 1];

	pctl_hex_print(id, PCTL_DIGEST_BYTES, hex);
	snprintf(out, PCTL_ABCI_CHAIN_SIZE, "pipectl-%.40s", hex);
}

/* ---- the connection ------------------------------------------------------------------------ */

static pctl_status serve_echo(serving *s)
{
	MAKE(Abci__EchoResponse, abci__echo_response__init);
	pb->message = s->r->echo->message;
	ANSWER(echo, ECHO);
	return PCTL_OK;
}

static pctl_status serve_flush(serving *s)
{
	MAKE(Abci__FlushResponse, abci__flush_response__init);
	ANSWER(flush, FLUSH);
	return PCTL_OK;
}

static pctl_status serve_info(serving *s)
{
	const pctl_decider_last *last = &s->a->last;
	MAKE(Abci__InfoResponse, abci__info_response__init);

	pb->data = borrow("pipectl");
	pb->version = borrow(PIPECTL_VERSION);
	pb->app_version = 1;
	pb->last_block_height = (int64_t)last->height;
	/* Before the first block there is no hash that an engine could know. */
	if (last->height != 0)
		pb->last_block_app_hash = bytes_of(last->root, sizeof(last->root));
	ANSWER(info, INFO);
	return PCTL_OK;
}

/* What an engine says of an application's state when it has nothing to say. */
static int is_empty_state(const ProtobufCBinaryData *b)
{
	return b->len == 0 ||
	       (b->len == 2 && (memcmp(b->data, "{}", 2) == 0 || memcmp(b->data, "\"\"", 2) == 0));
}

static pctl_status serve_init_chain(serving *s)
{
	const Abci__InitChainRequest *q = s->r->init_chain;
	const uint8_t *id = pctl_decider_chain(s->a->decider);
	char name[PCTL_ABCI_CHAIN_SIZE];
	MAKE(Abci__InitChainResponse, abci__init_chain_response__init);

	if (pctl_decider_last_of(s->a->decider)->height != 0)
		return pctl_refuse(s->call, PC6170_ENGINE_TURN,
				   "the chain has begun: its last block is %" PRIu64,
				   pctl_decider_last_of(s->a->decider)->height);
	pctl_abci_chain(id, name);
	if (strcmp(q->chain_id, name) != 0)
		return pctl_refuse(s->call, PC6169_ENGINE_CHAIN,
				   "the chain id is \"%.64s\"; that of this home is \"%s\"",
				   q->chain_id, name);
	if (q->initial_height > 1 || !is_empty_state(&q->app_state_bytes))
		return pctl_refuse(s->call, PC6169_ENGINE_CHAIN, "%s",
				   q->initial_height > 1 ? "the first height is not 1"
							 : "a state was given to begin with");
	pb->app_hash = bytes_of(id, PCTL_DIGEST_BYTES);
	ANSWER(init_chain, INIT_CHAIN);
	/* Who begins at the beginning needs no snapshot. */
	return pctl_abci_join_forget(s->a->join, s->call);
}

static pctl_status serve_query(serving *s)
{
	MAKE(Abci__QueryResponse, abci__query_response__init);
	ANSWER(query, QUERY);
	return pctl_abci_query(s->a->reader, s->r->query, s->arena, s->call, pb);
}

/* ---- messages and proposals ---------------------------------------------------------------- */

static pctl_status list(serving *s, const ProtobufCBinaryData *txs, size_t n, pctl_msg_bytes **out)
{
	*out = pctl_arena_array(s->arena, n, sizeof(**out));
	for (size_t i = 0; *out != NULL && i < n; i++)
		(*out)[i] = (pctl_msg_bytes){txs[i].data, txs[i].len};
	return *out == NULL ? pctl_no_memory(s->call, "a block") : PCTL_OK;
}

static pctl_status serve_check_tx(serving *s)
{
	const ProtobufCBinaryData *tx = &s->r->check_tx->tx;
	const pctl_msg_bytes message = {tx->data, tx->len};
	pctl_decided_result result;
	int found;
	pctl_status status = pctl_check_refused(
		s->a->checker, &message, s->r->check_tx->type == RECHECK, s->call, &result, &found);
	MAKE(Abci__CheckTxResponse, abci__check_tx_response__init);

	if (status == PCTL_OK && !found)
		status = pctl_check(s->a->checker, s->a->reader, &message, s->call, &result);

	if (status != PCTL_OK)
		return status;
	pb->code = result.code;
	pb->log = borrow(result.text);
	pb->gas_wanted = gas_of(result.gas_wanted);
	pb->codespace = borrow(result.code == 0 ? "" : "pipectl");
	ANSWER(check_tx, CHECK_TX);
	return PCTL_OK;
}

static pctl_status serve_prepare(serving *s)
{
	const Abci__PrepareProposalRequest *q = s->r->prepare_proposal;
	const uint64_t most =
		q->max_tx_bytes < 0 ? PCTL_DECIDE_BYTES_MAX : (uint64_t)q->max_tx_bytes;
	uint32_t *chosen = pctl_arena_array(s->arena, q->n_txs, sizeof(*chosen)), n = 0;
	pctl_msg_bytes *messages;
	pctl_status status = list(s, q->txs, q->n_txs, &messages);
	MAKE(Abci__PrepareProposalResponse, abci__prepare_proposal_response__init);

	if (status == PCTL_OK && chosen == NULL)
		status = pctl_no_memory(s->call, "a block");
	if (status == PCTL_OK)
		status = pctl_decide_choose(s->a->decider, messages, (uint32_t)q->n_txs, most,
					    s->call, chosen, &n);
	if (status != PCTL_OK)
		return status;
	pb->txs = pctl_arena_array(s->arena, n, sizeof(*pb->txs));
	if (pb->txs == NULL)
		return pctl_no_memory(s->call, "a block");
	for (uint32_t i = 0; i < n; i++)
		pb->txs[i] = q->txs[chosen[i]];
	pb->n_txs = n;
	ANSWER(prepare_proposal, PREPARE_PROPOSAL);
	return PCTL_OK;
}

static void tell(const serving *s, uint64_t height, const pctl_judgement *j)
{
	char text[PCTL_DECIDE_TEXT_SIZE + 96];

	if (s->a->told == NULL)
		return;
	snprintf(text, sizeof(text), "block %" PRIu64 " as proposed is rejected, message %u: %s",
		 height, j->index, j->text);
	s->a->told(s->a->told_ctx, j->code, text);
}

static pctl_status serve_process(serving *s)
{
	const Abci__ProcessProposalRequest *q = s->r->process_proposal;
	pctl_judgement j;
	pctl_msg_bytes *messages;
	pctl_status status = list(s, q->txs, q->n_txs, &messages);
	MAKE(Abci__ProcessProposalResponse, abci__process_proposal_response__init);

	if (status == PCTL_OK)
		status = pctl_decide_judge(s->a->decider, (uint64_t)q->height, messages,
					   (uint32_t)q->n_txs, s->call, &j);
	if (status != PCTL_OK)
		return status;
	if (j.code != 0)
		tell(s, (uint64_t)q->height, &j);
	pb->status = j.code == 0 ? ACCEPT : REJECT;
	ANSWER(process_proposal, PROCESS_PROPOSAL);
	return PCTL_OK;
}

/* Votes carry nothing: only that is right. */
static pctl_status serve_extend(serving *s)
{
	MAKE(Abci__ExtendVoteResponse, abci__extend_vote_response__init);
	ANSWER(extend_vote, EXTEND_VOTE);
	return PCTL_OK;
}

static pctl_status serve_verify(serving *s)
{
	MAKE(Abci__VerifyVoteExtensionResponse, abci__verify_vote_extension_response__init);
	pb->status = s->r->verify_vote_extension->vote_extension.len == 0 ? ACCEPT : REJECT;
	ANSWER(verify_vote_extension, VERIFY_VOTE_EXTENSION);
	return PCTL_OK;
}

/* ---- blocks -------------------------------------------------------------------------------- */

static pctl_status serve_finalize(serving *s)
{
	const Abci__FinalizeBlockRequest *q = s->r->finalize_block;
	pctl_decided b;
	pctl_msg_bytes *messages;
	Abci__ExecTxResult *rows;
	pctl_status status = list(s, q->txs, q->n_txs, &messages);
	MAKE(Abci__FinalizeBlockResponse, abci__finalize_block_response__init);

	if (status == PCTL_OK)
		status = pctl_decide(s->a->decider, (uint64_t)q->height, messages,
				     (uint32_t)q->n_txs, s->call, &b);
	if (status != PCTL_OK)
		return status;
	rows = pctl_arena_array(s->arena, b.n_results, sizeof(*rows));
	pb->tx_results = pctl_arena_array(s->arena, b.n_results, sizeof(*pb->tx_results));
	if (rows == NULL || pb->tx_results == NULL)
		return pctl_no_memory(s->call, "a response");
	for (uint32_t i = 0; i < b.n_results; i++) {
		const pctl_decided_result *from = &b.results[i];

		abci__exec_tx_result__init(&rows[i]);
		rows[i].code = from->code;
		rows[i].data = bytes_of(from->data.data, from->data.n);
		rows[i].log = borrow(from->text);
		rows[i].gas_wanted = gas_of(from->gas_wanted);
		rows[i].gas_used = gas_of(from->gas_used);
		rows[i].codespace = borrow(from->code == 0 ? "" : "pipectl");
		pb->tx_results[i] = &rows[i];
	}
	pb->n_tx_results = b.n_results;
	pb->app_hash.data = (uint8_t *)pctl_arena_dup_n(s->arena, (char *)b.root, sizeof(b.root));
	pb->app_hash.len = sizeof(b.root);
	ANSWER(finalize_block, FINALIZE_BLOCK);
	return pb->app_hash.data == NULL ? pctl_no_memory(s->call, "a response") : PCTL_OK;
}

static pctl_status serve_commit(serving *s)
{
	const pctl_status status = pctl_decide_commit(s->a->decider, s->call);
	const uint64_t height = pctl_decider_last_of(s->a->decider)->height;
	MAKE(Abci__CommitResponse, abci__commit_response__init);

	if (status == PCTL_OK && s->a->snapshot_blocks != 0 && height % s->a->snapshot_blocks == 0)
		s->a->due = height;

	ANSWER(commit, COMMIT);
	return status;
}

/* ---- snapshots ----------------------------------------------------------------------------- */

static pctl_status serve_list_snapshots(serving *s)
{
	pctl_abci_snapshot found[PCTL_ABCI_SNAPSHOTS_KEPT];
	Abci__Snapshot *rows = pctl_arena_array(s->arena, PCTL_ABCI_SNAPSHOTS_KEPT, sizeof(*rows));
	uint32_t n = 0;
	pctl_status status = PCTL_OK;
	MAKE(Abci__ListSnapshotsResponse, abci__list_snapshots_response__init);

	pb->snapshots =
		pctl_arena_array(s->arena, PCTL_ABCI_SNAPSHOTS_KEPT, sizeof(Abci__Snapshot *));
	if (rows == NULL || pb->snapshots == NULL)
		return pctl_no_memory(s->call, "a list of snapshots");
	if (s->a->snapshots != NULL)
		status = pctl_abci_snapshot_list(s->a->snapshots, s->arena, s->call, found, &n);
	for (uint32_t i = 0; i < n; i++) {
		abci__snapshot__init(&rows[i]);
		rows[i].height = found[i].height;
		rows[i].format = PCTL_PARCEL_FORMAT;
		rows[i].chunks = found[i].n_parcels;
		rows[i].hash.data = (uint8_t *)pctl_arena_dup_n(s->arena, (char *)found[i].digest,
								PCTL_DIGEST_BYTES);
		rows[i].hash.len = rows[i].hash.data == NULL ? 0 : PCTL_DIGEST_BYTES;
		rows[i].metadata = bytes_of(found[i].text, found[i].n_text);
		pb->snapshots[i] = &rows[i];
	}
	pb->n_snapshots = n;
	ANSWER(list_snapshots, LIST_SNAPSHOTS);
	return status;
}

static void tell_join(const serving *s, const char *what, uint64_t number,
		      const pctl_join_answer *a)
{
	char text[sizeof(a->text) + 96];

	if (s->a->told == NULL || a->code == 0)
		return;
	snprintf(text, sizeof(text), "%s %" PRIu64 " is not taken: %s", what, number, a->text);
	s->a->told(s->a->told_ctx, a->code, text);
}

static pctl_status serve_offer_snapshot(serving *s)
{
	/* ACCEPT, ABORT, REJECT, REJECT_FORMAT of the protocol, by the answers of a join. */
	static const uint32_t results[] = {[PCTL_JOIN_ACCEPT] = 1,
					   [PCTL_JOIN_ABORT] = 2,
					   [PCTL_JOIN_REJECT] = 3,
					   [PCTL_JOIN_REJECT_FORMAT] = 4};
	const Abci__OfferSnapshotRequest *q = s->r->offer_snapshot;
	const Abci__Snapshot *of = q->snapshot;
	pctl_join_answer answer = {.what = PCTL_JOIN_REJECT, .code = PC6184_ENGINE_SNAPSHOT};
	pctl_status status = PCTL_OK;
	MAKE(Abci__OfferSnapshotResponse, abci__offer_snapshot_response__init);

	if (pctl_decider_last_of(s->a->decider)->height != 0) {
		answer.what = PCTL_JOIN_ABORT;
		snprintf(answer.text, sizeof(answer.text), "this home has blocks already");
	} else if (of == NULL) {
		snprintf(answer.text, sizeof(answer.text), "there is none in the offer");
	} else {
		const pctl_join_offer o = {.height = of->height,
					   .format = of->format,
					   .n_parcels = of->chunks,
					   .digest = {of->hash.data, of->hash.len},
					   .text = {of->metadata.data, of->metadata.len},
					   .hash = {q->app_hash.data, q->app_hash.len}};

		status = pctl_abci_join_offer(s->a->join, &o, s->call, &answer);
	}
	if (status != PCTL_OK)
		return status;
	tell_join(s, "the snapshot of block", of == NULL ? 0 : of->height, &answer);
	pb->result = results[answer.what];
	ANSWER(offer_snapshot, OFFER_SNAPSHOT);
	return PCTL_OK;
}

static pctl_status serve_load_chunk(serving *s)
{
	const Abci__LoadSnapshotChunkRequest *q = s->r->load_snapshot_chunk;
	char *bytes = NULL;
	uint64_t n = 0;
	pctl_status status = PCTL_OK;
	MAKE(Abci__LoadSnapshotChunkResponse, abci__load_snapshot_chunk_response__init);

	/* What is not there is an empty chunk: the engine asks somebody else. */
	if (s->a->snapshots != NULL && q->format == PCTL_PARCEL_FORMAT)
		status = pctl_abci_snapshot_parcel(s->a->snapshots, q->height, q->chunk, s->call,
						   &bytes, &n);
	if (status == PCTL_OK && n != 0) {
		pb->chunk = bytes_of(pctl_arena_dup_n(s->arena, bytes, (size_t)n), n);
		if (pb->chunk.data == NULL)
			status = pctl_no_memory(s->call, "a chunk");
	}
	free(bytes);
	ANSWER(load_snapshot_chunk, LOAD_SNAPSHOT_CHUNK);
	return status;
}

static pctl_status serve_apply_chunk(serving *s)
{
	/* ACCEPT, ABORT, RETRY, REJECT_SNAPSHOT. */
	static const uint32_t results[] = {[PCTL_JOIN_ACCEPT] = 1,
					   [PCTL_JOIN_ABORT] = 2,
					   [PCTL_JOIN_RETRY] = 3,
					   [PCTL_JOIN_LIE] = 5};
	const Abci__ApplySnapshotChunkRequest *q = s->r->apply_snapshot_chunk;
	const pctl_msg_bytes bytes = {q->chunk.data, q->chunk.len};
	pctl_join_answer answer;
	const pctl_status status =
		pctl_abci_join_parcel(s->a->join, q->index, &bytes, s->call, &answer);
	MAKE(Abci__ApplySnapshotChunkResponse, abci__apply_snapshot_chunk_response__init);

	if (status != PCTL_OK)
		return status;
	tell_join(s, "chunk", q->index, &answer);
	pb->result = results[answer.what];
	pb->refetch_chunks = pctl_arena_array(s->arena, 1, sizeof(uint32_t));
	pb->reject_senders = pctl_arena_array(s->arena, 1, sizeof(char *));
	if (pb->refetch_chunks == NULL || pb->reject_senders == NULL)
		return pctl_no_memory(s->call, "a response");
	pb->refetch_chunks[0] = q->index;
	pb->n_refetch_chunks = answer.what == PCTL_JOIN_RETRY;
	pb->reject_senders[0] = q->sender;
	pb->n_reject_senders = q->sender[0] != '\0' &&
			       (answer.what == PCTL_JOIN_RETRY || answer.what == PCTL_JOIN_LIE);
	ANSWER(apply_snapshot_chunk, APPLY_SNAPSHOT_CHUNK);
	return PCTL_OK;
}

uint32_t pctl_abci_place(const Abci__Request *r)
{
	switch (r->value_case) {
	case ABCI__REQUEST__VALUE_ECHO:
	case ABCI__REQUEST__VALUE_FLUSH:
	case ABCI__REQUEST__VALUE_INFO:
	case ABCI__REQUEST__VALUE_QUERY:
	case ABCI__REQUEST__VALUE_CHECK_TX:
	case ABCI__REQUEST__VALUE_EXTEND_VOTE:
	case ABCI__REQUEST__VALUE_VERIFY_VOTE_EXTENSION:
	case ABCI__REQUEST__VALUE_LOAD_SNAPSHOT_CHUNK:
		return PCTL_ABCI_AT_ONCE;
	case ABCI__REQUEST__VALUE_APPLY_SNAPSHOT_CHUNK:
		return PCTL_ABCI_ALONE;
	default:
		return PCTL_ABCI_BESIDE;
	}
}

int pctl_abci_waits_for_snapshot(const Abci__Request *r)
{
	return r->value_case == ABCI__REQUEST__VALUE_LIST_SNAPSHOTS ||
	       pctl_abci_place(r) == PCTL_ABCI_ALONE;
}

pctl_status pctl_abci_look(pctl_abci *a, const pctl_call *call)
{
	const pctl_decider_last *last =
		a->decider == NULL ? NULL : pctl_decider_last_of(a->decider);
	const int is_new = last != NULL && last->height != a->last.height;
	const pctl_decide_refusal *refused;
	uint32_t n;

	if (last != NULL)
		a->last = *last;
	if (a->decider != NULL) {
		refused = pctl_decide_refused(a->decider, &n);
		pctl_checker_refused(a->checker, refused, n);
	}
	return is_new ? pctl_checker_forget(a->checker, call) : PCTL_OK;
}

pctl_status pctl_abci_serve(pctl_abci *a, const Abci__Request *r, pctl_arena *arena,
			    const pctl_call *call, Abci__Response *out)
{
	static pctl_status (*const how[])(serving *) = {
		[ABCI__REQUEST__VALUE_ECHO] = serve_echo,
		[ABCI__REQUEST__VALUE_FLUSH] = serve_flush,
		[ABCI__REQUEST__VALUE_INFO] = serve_info,
		[ABCI__REQUEST__VALUE_INIT_CHAIN] = serve_init_chain,
		[ABCI__REQUEST__VALUE_QUERY] = serve_query,
		[ABCI__REQUEST__VALUE_CHECK_TX] = serve_check_tx,
		[ABCI__REQUEST__VALUE_COMMIT] = serve_commit,
		[ABCI__REQUEST__VALUE_LIST_SNAPSHOTS] = serve_list_snapshots,
		[ABCI__REQUEST__VALUE_OFFER_SNAPSHOT] = serve_offer_snapshot,
		[ABCI__REQUEST__VALUE_LOAD_SNAPSHOT_CHUNK] = serve_load_chunk,
		[ABCI__REQUEST__VALUE_APPLY_SNAPSHOT_CHUNK] = serve_apply_chunk,
		[ABCI__REQUEST__VALUE_PREPARE_PROPOSAL] = serve_prepare,
		[ABCI__REQUEST__VALUE_PROCESS_PROPOSAL] = serve_process,
		[ABCI__REQUEST__VALUE_EXTEND_VOTE] = serve_extend,
		[ABCI__REQUEST__VALUE_VERIFY_VOTE_EXTENSION] = serve_verify,
		[ABCI__REQUEST__VALUE_FINALIZE_BLOCK] = serve_finalize,
	};
	serving s = {.a = a, .r = r, .arena = arena, .call = call, .out = out};

	abci__response__init(out);
	if (a->decider == NULL)
		return pctl_refuse(call, PC5701_CHAIN_STATE,
				   "the chain that came in by snapshot could not be opened here; "
				   "start the node again");
	return how[r->value_case](&s);
}
