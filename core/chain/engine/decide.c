/* Decided blocks become blocks of the chain; see decide.h. */
#include "chain/engine/decide.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "chain/accounts/account.h"
#include "chain/blocks/block.h"
#include "chain/engine/decide_private.h"
#include "chain/registry/rules.h"
#include "foundation/base/file.h"
#include "foundation/base/hex.h"

/* ---- opening ------------------------------------------------------------------------------- */

/* Genesis, and what the chain itself put there at the end of an epoch, are the same everywhere. */
static int is_foreign(void *ctx, uint32_t origin, const uint8_t *bytes, uint64_t n)
{
	(void)bytes;
	(void)n;
	return *(int *)ctx = (origin & ~(uint32_t)PCTL_ORIGIN_REFUSED) == PCTL_ORIGIN_MESSAGE;
}

static pctl_status check_open(pctl_decider *d, const pctl_call *call)
{
	int foreign = 0;
	const pctl_status status = pctl_inbox_visit(d->chain->state, is_foreign, &foreign, call);

	return status == PCTL_OK && foreign
		       ? pctl_refuse(call, PC6165_ENGINE_OPEN,
				     "block %" PRIu64 " of this home is open and has messages",
				     d->last.height + 1)
		       : status;
}

static pctl_status read_last(pctl_decider *d, const pctl_call *call)
{
	pctl_block_row row;
	const pctl_status status = pctl_blocks_last(d->chain->state, call, &row);

	d->last.height = row.height;
	memcpy(d->last.root, row.height == 0 ? d->id : row.root, sizeof(d->last.root));
	return status;
}

static pctl_status check_rules(pctl_decider *d, const pctl_call *call)
{
	pctl_params p;
	const pctl_status status =
		pctl_params_in_force(d->chain->state, d->last.height + 1, call, &p);

	if (status == PCTL_OK && p.values[PCTL_PARAM_RULES] == PCTL_RULES_RELEASED)
		return pctl_refuse(call, PC6164_ENGINE_RULES,
				   "the rules of block %" PRIu64 " are those of version 1",
				   d->last.height + 1);
	return status == PCTL_OK ? pctl_chain_follows(d->chain, &p, d->last.height + 1, call)
				 : status;
}

pctl_status pctl_decider_open(pctl_chain *c, const char *dir, const pctl_call *call,
			      pctl_decider **out)
{
	pctl_decider *d = calloc(1, sizeof(*d));
	pctl_status status = PCTL_OK;

	*out = NULL;
	if (d == NULL)
		return pctl_no_memory(call, "a decider");
	d->chain = c;
	d->dir = strdup(dir);
	d->arena = pctl_arena_create();
	d->scratch = pctl_arena_create();
	if (d->dir == NULL || d->arena == NULL || d->scratch == NULL)
		status = pctl_no_memory(call, "a decider");
	if (status == PCTL_OK)
		status = pctl_file_make_dirs(dir, call);
	if (status == PCTL_OK)
		status = pctl_chain_id(c->state, call, d->id);
	if (status == PCTL_OK)
		status = read_last(d, call);
	if (status == PCTL_OK)
		status = check_rules(d, call);
	if (status == PCTL_OK)
		status = check_open(d, call);
	d->abstains = c->gas_per_ms != 0 && c->abstains;
	c->abstains = 0;
	if (status == PCTL_OK)
		*out = d;
	else
		pctl_decider_close(d);
	return status;
}

static void forget_pending(pctl_decider *d)
{
	if (d->pending.height != 0)
		pctl_chain_batch_abort(d->chain);
	d->pending = (pctl_decided){.height = 0};
}

void pctl_decider_close(pctl_decider *d)
{
	if (d == NULL)
		return;
	forget_pending(d);
	pctl_arena_destroy(d->scratch);
	pctl_arena_destroy(d->arena);
	free(d->dir);
	free(d);
}

const pctl_decider_last *pctl_decider_last_of(const pctl_decider *d)
{
	return &d->last;
}

const uint8_t *pctl_decider_chain(const pctl_decider *d)
{
	return d->id;
}

pctl_status pctl_decider_has_jobs(pctl_decider *d, const pctl_call *call, int *out)
{
	pctl_chain_info info;
	const pctl_status status = pctl_chain_info_read(d->chain, call, &info);

	*out = status == PCTL_OK && info.n_pending != 0;
	return status;
}

/* ---- one message --------------------------------------------------------------------------- */

void pctl_decide_into(pctl_decider *d, pctl_arena *arena)
{
	d->into = arena;
	d->data_left = PCTL_DECIDE_DATA_MAX;
	d->texts_left = PCTL_DECIDE_TEXTS_MAX;
}

static pctl_status copy_text(pctl_decider *d, const char *text, const pctl_call *call,
			     pctl_decided_result *out)
{
	const uint64_t n = strlen(text);

	if (n > d->texts_left)
		return PCTL_OK;
	d->texts_left -= n;
	out->text = pctl_arena_dup(d->into, text);
	return out->text == NULL ? pctl_no_memory(call, "an answer") : PCTL_OK;
}

static pctl_status copy_answer(pctl_decider *d, const pctl_response *r, const pctl_call *call,
			       pctl_decided_result *out)
{
	uint8_t *bytes = NULL;
	pctl_status status = pctl_response_encode(r, call, &bytes, &out->data.n);

	if (status == PCTL_OK && out->data.n > d->data_left)
		out->data.n = 0;
	if (status == PCTL_OK) {
		d->data_left -= out->data.n;
		out->data.data = (uint8_t *)pctl_arena_dup_n(d->into, (char *)bytes, out->data.n);
		if (out->data.data == NULL)
			status = pctl_no_memory(call, "an answer");
	}
	free(bytes);
	return status;
}

/* The gas of a job as its row has it now. */
static pctl_status read_gas(pctl_decider *d, const uint8_t job[PCTL_DIGEST_BYTES],
			    const pctl_call *call, pctl_decided_result *out)
{
	pctl_chain_job row;
	const pctl_status status = pctl_jobs_read(d->chain->state, job, call, &row);

	if (status != PCTL_OK)
		return status;
	out->gas_wanted = row.gas;
	out->gas_used = row.status == PCTL_JOB_PENDING ? 0 : row.gas_used;
	pctl_chain_job_clear(&row);
	return PCTL_OK;
}

pctl_status pctl_decide_take(pctl_decider *d, const pctl_msg_bytes *m, const pctl_call *call,
			     pctl_decided_result *out, uint8_t job[PCTL_DIGEST_BYTES])
{
	pctl_response r;
	uint64_t paid = 0;
	/* What messages ask to be compiled is theirs to choose. */
	pctl_status status = pctl_chain_forget_shaders(d->chain, PCTL_CHAIN_SHADERS_OPEN, call);

	if (status == PCTL_OK)
		status = pctl_chain_take_bytes(d->chain, m->data, m->n, call, &paid, &r);
	*out = (pctl_decided_result){.text = "", .paid = paid};
	memset(job, 0, PCTL_DIGEST_BYTES);
	if (status != PCTL_OK)
		return status;
	if (r.kind == PCTL_MSG_ERROR) {
		out->code = r.as.error.code;
		status = copy_text(d, r.as.error.message, call, out);
	} else {
		status = copy_answer(d, &r, call, out);
		if (status == PCTL_OK && r.kind == PCTL_MSG_EXECUTE &&
		    pctl_job_id_parse(r.as.execute.job_id, job))
			status = read_gas(d, job, call, out);
	}
	pctl_response_destroy(&r);
	return status;
}

/* ---- a block ------------------------------------------------------------------------------- */

static pctl_status take_all(pctl_decider *d, const pctl_msg_bytes *messages, uint32_t n,
			    const pctl_call *call, pctl_decided_result *results,
			    uint8_t (*jobs)[PCTL_DIGEST_BYTES])
{
	pctl_status status = PCTL_OK;

	pctl_chain_ahead_bytes(d->chain, messages, n);
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		status = pctl_decide_take(d, &messages[i], call, &results[i], jobs[i]);
		if (status == PCTL_OK && pctl_is_cancelled(call))
			status = pctl_refuse(call, PC4_CANCELLED,
					     "cancelled while taking in messages");
	}
	return status;
}

static pctl_status close_block(pctl_decider *d, uint64_t height, const pctl_call *call,
			       pctl_decided *out)
{
	const pctl_request end = {.kind = PCTL_MSG_BLOCK_END, .as.block = {.height = height}};
	pctl_response r;
	pctl_status status = pctl_block_close(d->chain, &end, call, &r);

	if (status != PCTL_OK)
		return status;
	if (!pctl_hex_parse(r.as.block.state_root, PCTL_DIGEST_BYTES, out->root) ||
	    !pctl_gitlog_oid_parse(r.as.block.commit, &d->commit))
		status = pctl_refuse(call, PC1_INTERNAL, "the answer to the end of a block");
	pctl_response_destroy(&r);
	return status;
}

static pctl_status make(pctl_decider *d, uint64_t height, const pctl_msg_bytes *messages,
			uint32_t n, const pctl_call *call, pctl_decided *out)
{
	static const uint8_t none[PCTL_DIGEST_BYTES];
	pctl_decided_result *results = pctl_arena_array(d->arena, n, sizeof(*results));
	uint8_t(*jobs)[PCTL_DIGEST_BYTES] = pctl_arena_array(d->arena, n, sizeof(*jobs));
	pctl_status status = PCTL_OK;

	if (results == NULL || jobs == NULL)
		return pctl_no_memory(call, "a block");
	*out = (pctl_decided){.height = height, .results = results, .n_results = n};
	status = check_open(d, call);
	if (status == PCTL_OK)
		status = take_all(d, messages, n, call, results, jobs);
	if (status == PCTL_OK)
		status = close_block(d, height, call, out);
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++)
		if (memcmp(jobs[i], none, sizeof(none)) != 0)
			status = read_gas(d, jobs[i], call, &results[i]);
	return status;
}

/* All of it inside one batch, which commit ends. */
static pctl_status begin_block(pctl_decider *d, uint64_t height, const pctl_msg_bytes *messages,
			       uint32_t n, const pctl_call *call)
{
	pctl_decided b = {.height = 0};
	pctl_status status = pctl_chain_forget_shaders(d->chain, PCTL_CHAIN_SHADERS_KEPT, call);

	if (status == PCTL_OK)
		status = pctl_chain_batch_begin(d->chain, call);

	if (status != PCTL_OK)
		return status;
	status = make(d, height, messages, n, call, &b);
	if (status == PCTL_OK)
		status = pctl_decide_keep(d, &b, d->digest, call);
	if (status == PCTL_OK)
		d->pending = b;
	else
		pctl_chain_batch_abort(d->chain);
	return status;
}

pctl_status pctl_decide(pctl_decider *d, uint64_t height, const pctl_msg_bytes *messages,
			uint32_t n, const pctl_call *call, pctl_decided *out)
{
	uint8_t digest[PCTL_DIGEST_BYTES];
	pctl_status status = pctl_decide_digest(height, messages, n, call, digest);

	memset(out, 0, sizeof(*out));
	if (status != PCTL_OK)
		return status;
	if (d->pending.height != 0 && d->pending.height == height &&
	    memcmp(d->digest, digest, sizeof(digest)) == 0) {
		*out = d->pending;
		return PCTL_OK;
	}
	/* What was not committed is not decided any more: whoever asks knows better. */
	forget_pending(d);
	pctl_arena_clear(d->arena);
	pctl_decide_into(d, d->arena);
	if (height != 0 && height <= d->last.height)
		return pctl_decide_recall(d, height, digest, call, out);
	if (height != d->last.height + 1)
		return pctl_refuse(call, PC6166_DECIDE_HEIGHT,
				   "block %" PRIu64 " was decided, the next one here is %" PRIu64,
				   height, d->last.height + 1);
	status = check_rules(d, call);
	if (status != PCTL_OK)
		return status;
	memcpy(d->digest, digest, sizeof(digest));
	status = begin_block(d, height, messages, n, call);
	*out = d->pending;
	return status;
}

pctl_status pctl_decide_commit(pctl_decider *d, const pctl_call *call)
{
	pctl_status status;

	if (d->pending.height == 0)
		return pctl_refuse(call, PC6170_ENGINE_TURN,
				   "no block waits for its commit; the last one is %" PRIu64,
				   d->last.height);
	status = pctl_block_final(d->chain, d->pending.height, &d->commit, call);
	if (status == PCTL_OK) {
		d->last.height = d->pending.height;
		memcpy(d->last.root, d->pending.root, sizeof(d->last.root));
	}
	/* Whatever it was, the batch has ended. */
	d->pending = (pctl_decided){.height = 0};
	return status;
}
