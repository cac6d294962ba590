/* Taking in messages: one transaction (or savepoint) around what a message does, its sequence number and its place in
 * the inbox. */
#include <assert.h>
#include <string.h>

#include "chain/accounts/account.h"
#include "chain/chain_private.h"
#include "chain/data/data.h"
#include "chain/graph/edges.h"
#include "chain/registry/own.h"
#include "chain/ledger/stake.h"
#include "chain/registry/rules.h"
#include "chain/transition/authorise.h"
#include "chain/fee.h"
#include "chain/transition/refusal.h"
#include "chain/transition/submit.h"
#include "chain/state/counter.h"
#include "chain/state/cursor.h"
#include "foundation/diag/diag.h"

/* ---- senders ------------------------------------------------------------------------------- */

pctl_status pctl_sequence_use(const pctl_taking *t, const char *sender)
{
	return pctl_cursor_write(
		t->s, t->call,
		"INSERT INTO accounts VALUES (?1, ?2, ?2, ?2, 1) ON CONFLICT (name) "
		"DO UPDATE SET sequence = sequence + 1",
		"ta", sender, (uint64_t)0);
}

/* ---- what messages do ---------------------------------------------------------------------- */

static pctl_status take_ledger(const pctl_taking *t, const pctl_msg_ledger *m, uint32_t origin)
{
	pctl_status status;

	switch (m->op) {
	case PCTL_LEDGER_CREDIT:
		status = pctl_authorise_role(t, PCTL_ROLE_CREDIT, m->sender, origin);
		return status == PCTL_OK ? pctl_ledger_credit(t->s, m->to, m->amount, t->call)
					 : status;
	case PCTL_LEDGER_TRANSFER:
		return pctl_ledger_transfer(t->s, m->sender, m->to, m->amount, t->call);
	case PCTL_LEDGER_BOND:
		return pctl_params_has_stakes(&t->params)
			       ? pctl_stake_bond(t->s, t->height, m->sender, m->amount, t->call)
			       : pctl_ledger_bond(t->s, m->sender, m->amount, t->call);
	default:
		return pctl_params_has_stakes(&t->params)
			       ? pctl_stake_unbond(t->s, t->height, m->sender, m->amount,
						   &t->params, t->call)
			       : pctl_ledger_unbond(t->s, m->sender, m->amount, t->call);
	}
}

static pctl_status propose(const pctl_taking *t, const pctl_msg_params *m)
{
	pctl_param_change changes[PCTL_MESSAGE_CHANGES_MAX];
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < m->n_changes; i++) {
		status = pctl_param_find(m->changes[i].name, t->call, &changes[i].param);
		if (status == PCTL_OK)
			status = pctl_param_parse(changes[i].param, m->changes[i].value, t->call,
						  &changes[i].value);
	}
	return status == PCTL_OK
		       ? pctl_params_propose(t->s, t->height, m->sender, m->height, changes,
					     m->n_changes, t->call, &t->out->as.ack.proposal)
		       : status;
}

static pctl_status take_params(const pctl_taking *t, const pctl_msg_params *m)
{
	switch (m->op) {
	case PCTL_PARAMS_PROPOSE:
		return propose(t, m);
	case PCTL_PARAMS_VOTE:
		return pctl_params_vote(t->s, t->height, m->proposal, m->sender, (int)m->yes,
					t->call);
	default:
		return pctl_params_apply(t->s, t->height, m->proposal, t->call);
	}
}

/* Whether the sender's link was taken back, and whether it was ever drawn. */
static pctl_status look_for_link(const pctl_taking *t, const pctl_msg_link *m, const char *via,
				 int *is_drawn, int *is_gone)
{
	sqlite3_stmt *stmt = NULL;
	pctl_status status =
		pctl_edges_has(t->s, PCTL_EDGE_LINK, m->source, m->target, via, t->call, is_drawn);

	*is_gone = 0;
	if (status == PCTL_OK)
		status = pctl_cursor_keep(t->s, t->call, &stmt,
					  "SELECT 1 FROM links_gone WHERE source = ? AND target = "
					  "? AND account = ?",
					  "ttt", m->source, m->target, m->sender);
	if (status == PCTL_OK)
		status = pctl_cursor_next(t->s, stmt, t->call, is_gone);
	pctl_cursor_done(stmt);
	return status;
}

static pctl_status add_link(const pctl_taking *t, const pctl_msg_link *m, uint32_t kind,
			    const char *via)
{
	const pctl_edge e = {.kind = kind,
			     .source = m->source,
			     .target = m->target,
			     .via = via,
			     .job = "",
			     .height = t->height,
			     .clock = t->clock};

	return pctl_edges_add(t->s, &e, t->call);
}

/* A link that stands already costs again and changes nothing; one that was taken back counts again. */
static pctl_status draw(const pctl_taking *t, const pctl_msg_link *m, const char *via)
{
	const uint64_t cost = t->params.values[PCTL_PARAM_LINK_COST];
	pctl_status status = PCTL_OK;

	if (cost != 0)
		status = pctl_ledger_transfer(t->s, m->sender, PCTL_EPOCH_ACCOUNT, cost, t->call);
	if (status == PCTL_OK)
		status = pctl_cursor_write(t->s, t->call,
					   "DELETE FROM links_gone WHERE source = ? AND target = ? "
					   "AND account = ?",
					   "ttt", m->source, m->target, m->sender);
	return status == PCTL_OK ? add_link(t, m, PCTL_EDGE_LINK, via) : status;
}

static pctl_status take_link(const pctl_taking *t, const pctl_msg_link *m)
{
	const char *via = pctl_arena_printf(t->arena, "account:%s", m->sender);
	int is_drawn, is_gone;
	pctl_status status;

	if (via == NULL)
		return pctl_no_memory(t->call, "a link");
	if (!pctl_params_has_stakes(&t->params))
		return m->is_taken ? pctl_refuse(t->call, PC5896_RULES_EARLY, "link.taken is given")
				   : add_link(t, m, PCTL_EDGE_LINK, via);
	if (!m->is_taken)
		return draw(t, m, via);
	status = look_for_link(t, m, via, &is_drawn, &is_gone);
	if (status == PCTL_OK && (!is_drawn || is_gone))
		status = pctl_refuse(t->call, PC6105_LINK_UNKNOWN, "%s has no link from %s to %s",
				     m->sender, m->source, m->target);
	return status == PCTL_OK
		       ? pctl_cursor_write(t->s, t->call, "INSERT INTO links_gone VALUES (?, ?, ?)",
					   "ttt", m->source, m->target, m->sender)
		       : status;
}

static pctl_status take_role(const pctl_taking *t, const pctl_msg_role *m, uint32_t origin)
{
	const pctl_status status = pctl_authorise_role(t, m->role, m->sender, origin);

	return status == PCTL_OK ? pctl_account_role_set(t->s, m, t->call) : status;
}

/* Every node looked at a job that was taken in under version 2 of the rules: cancelled it costs what a refused one does, set
 * aside until the end of the block says who gets it, with what is given back. */
static pctl_status cancel(const pctl_taking *t, const pctl_chain_job *job,
			  const pctl_msg_execute *m)
{
	uint64_t charged = 0;
	int is_released;
	pctl_params then;
	pctl_status status = pctl_params_in_force(t->s, job->height, t->call, &then);

	is_released = then.values[PCTL_PARAM_RULES] == PCTL_RULES_RELEASED;
	if (status == PCTL_OK && !is_released)
		status = pctl_chain_validation_gas(t->c, m, &t->params, t->call, &charged);
	if (status == PCTL_OK)
		status = pctl_jobs_end(t->s, job->id, PCTL_JOB_FAILED, t->height, charged, NULL,
				       "cancelled by its sender", t->call);
	if (status == PCTL_OK && is_released)
		return pctl_ledger_release(t->s, t->height, job->id, t->call);
	if (status == PCTL_OK && charged == 0)
		status = pctl_ledger_give_back(t->s, job->sender, m->gas_limit + m->tip, t->call);
	return status == PCTL_OK && job->origin != PCTL_ORIGIN_EPOCH
		       ? pctl_counter_take(t->s, PCTL_COUNTER_QUEUE, job->sender, 1, t->call)
		       : status;
}

pctl_status pctl_apply_cancel(const pctl_taking *t, const pctl_msg_cancel *m)
{
	uint8_t id[PCTL_DIGEST_BYTES];
	pctl_request r = {.kind = 0};
	pctl_chain_job job;
	pctl_status status;

	(void)pctl_job_id_parse(m->job_id, id);
	status = pctl_jobs_read(t->s, id, t->call, &job);
	if (status != PCTL_OK)
		return status;
	if (strcmp(job.sender, m->sender) != 0)
		status = pctl_refuse(t->call, PC5824_JOB_OWNER, "job %s was submitted by %s",
				     m->job_id, job.sender);
	/* One that has ended is refused as such, whatever it was. */
	if (status == PCTL_OK)
		status = pctl_request_decode(job.message, job.n_message, t->call, &r);
	if (status == PCTL_OK)
		status = cancel(t, &job, &r.as.execute);
	pctl_request_destroy(&r);
	pctl_chain_job_clear(&job);
	return status;
}

static pctl_status act(pctl_taking *t, const pctl_request *r, uint32_t origin)
{
	switch (r->kind) {
	case PCTL_MSG_UPLOAD:
		return pctl_apply_upload(t, &r->as.upload, origin);
	case PCTL_MSG_EXECUTE:
		return pctl_apply_execute(t, r, origin);
	case PCTL_MSG_LEDGER:
		return take_ledger(t, &r->as.ledger, origin);
	case PCTL_MSG_PARAMS:
		return take_params(t, &r->as.params);
	case PCTL_MSG_NAME:
		return pctl_apply_name(t, &r->as.name);
	case PCTL_MSG_CANCEL:
		return pctl_apply_cancel(t, &r->as.cancel);
	case PCTL_MSG_LINK:
		return take_link(t, &r->as.link);
	case PCTL_MSG_KEYS:
		return pctl_account_control_set(t->s, &r->as.keys, t->call);
	case PCTL_MSG_ROLE:
		return take_role(t, &r->as.role, origin);
	case PCTL_MSG_BLOB:
		return pctl_apply_blob(t, &r->as.blob);
	case PCTL_MSG_CONTRACT:
		return pctl_apply_contract(t, &r->as.contract);
	case PCTL_MSG_CALL:
		return pctl_apply_call(t, r);
	case PCTL_MSG_STATEMENT:
		return pctl_apply_statement(t, &r->as.statement);
	default:
		return pctl_apply_verdict(t, &r->as.verdict);
	}
}

/* ---- around it ----------------------------------------------------------------------------- */

static pctl_status keep_message(const pctl_taking *t, const pctl_request *r, uint32_t origin,
				int is_taken)
{
	uint64_t n;
	const uint8_t *bytes = pctl_request_bytes(r, &n);
	const uint32_t how = is_taken ? origin : origin | PCTL_ORIGIN_REFUSED;
	const pctl_status status = pctl_inbox_add(t->s, how, bytes, n, t->call);

	return status == PCTL_OK && origin == PCTL_ORIGIN_GENESIS
		       ? pctl_chain_id_take(t->s, bytes, n, t->call)
		       : status;
}

static pctl_status take_inside(pctl_taking *t, const pctl_request *r, uint32_t origin)
{
	const char *sender = pctl_request_sender(r);
	const int is_acked = r->kind != PCTL_MSG_UPLOAD && r->kind != PCTL_MSG_EXECUTE &&
			     r->kind != PCTL_MSG_CONTRACT && r->kind != PCTL_MSG_CALL;
	pctl_chain_info info;
	pctl_status kept, status = pctl_chain_last(t->c, t->call, &info);

	t->height = info.last + 1;
	t->clock = info.clock + 1;
	if (status == PCTL_OK)
		status = pctl_params_in_force(t->s, t->height, t->call, &t->params);
	if (status == PCTL_OK)
		status = pctl_chain_follows(t->c, &t->params, t->height, t->call);
	if (status == PCTL_OK)
		status = pctl_account_sequence(t->s, sender, t->call, &t->sequence);
	if (status == PCTL_OK)
		status = pctl_authorise(t, r, origin);
	if (status != PCTL_OK)
		return status;
	t->out->kind = r->kind;
	if (is_acked)
		t->out->as.ack.sequence = t->sequence;
	status = pctl_fee_is_due(t, origin) ? pctl_act_for_fee(t, r, origin, act)
					    : act(t, r, origin);
	if (status != PCTL_OK && t->charged == 0)
		return status;
	kept = origin == PCTL_ORIGIN_GENESIS || t->is_counted ? PCTL_OK
							      : pctl_sequence_use(t, sender);
	if (kept == PCTL_OK)
		kept = keep_message(t, r, origin, status == PCTL_OK || t->is_job);
	if (kept != PCTL_OK)
		t->charged = 0;
	return kept == PCTL_OK ? status : kept;
}

/* Inside somebody's transaction a savepoint, else a transaction of its own. */
static pctl_status enter(pctl_chain *c, const pctl_call *call, int *is_nested)
{
	struct sqlite3 *db = pctl_chain_db(c->state);

	*is_nested = !sqlite3_get_autocommit(db);
	if (!*is_nested)
		return pctl_chain_begin(c->state, call);
	return pctl_cursor_write(c->state, call, "SAVEPOINT taking", "");
}

static pctl_status leave(pctl_chain *c, const pctl_call *call, int is_nested, pctl_status status)
{
	pctl_status ended = PCTL_OK;

	if (!is_nested) {
		if (status == PCTL_OK)
			status = pctl_chain_commit(c->state, call);
		if (status != PCTL_OK)
			pctl_chain_rollback(c->state);
		return status;
	}
	/* SQLite itself undoes a transaction for which the disk has no room. */
	if (sqlite3_get_autocommit(pctl_chain_db(c->state)))
		ended = pctl_chain_internal_failure(c->state, "a savepoint", call);
	else if (status != PCTL_OK)
		ended = pctl_cursor_write(c->state, call, "ROLLBACK TO taking", "");
	if (status != PCTL_OK)
		pctl_params_forget(c->state);
	if (ended == PCTL_OK)
		ended = pctl_cursor_write(c->state, call, "RELEASE taking", "");
	if (ended != PCTL_OK)
		status = ended;
	if (status == PCTL_E_STORE && c->batch == PCTL_BATCH_OPEN) {
		pctl_chain_rollback(c->state);
		c->batch = PCTL_BATCH_LOST;
	}
	return status;
}

/* A refusal that is charged is kept as what is taken in is; to its sender it is a refusal all the same. */
static pctl_status take_and_leave(pctl_taking *t, const pctl_request *r, uint32_t origin,
				  int is_nested)
{
	const pctl_status taken = take_inside(t, r, origin);
	const pctl_status kept = leave(t->c, t->call, is_nested, t->charged != 0 ? PCTL_OK : taken);

	if (t->charged == 0)
		return kept;
	if (kept != PCTL_OK)
		t->charged = 0;
	return kept == PCTL_OK ? taken : kept;
}

/* A sealed message. is_again: it is of a record, where one that is refused and charged is in its place. */
static pctl_status take_sealed(pctl_chain *c, const pctl_request *r, uint32_t origin, int is_again,
			       const pctl_call *call, uint64_t *paid, pctl_response *out)
{
	pctl_taking t = {.c = c, .s = c->state, .call = call, .out = out};
	int is_nested = 0;
	pctl_status status;

	if (pctl_request_sender(r) == NULL)
		return pctl_refuse(call, PC5826_CHAIN_MESSAGE,
				   "a message of kind %u does not belong to this function",
				   r->kind);
	if (c->batch == PCTL_BATCH_LOST)
		return pctl_refuse(call, PC5828_CHAIN_BATCH, "the batch has ended");
	t.arena = pctl_response_arena(out);
	if (t.arena == NULL)
		return pctl_no_memory(call, "a message");
	status = enter(c, call, &is_nested);
	if (status == PCTL_OK)
		status = take_and_leave(&t, r, origin, is_nested);
	*paid = t.charged;
	if (is_again && t.charged != 0)
		status = PCTL_OK;
	else
		pctl_refusal_say(&t);
	if (t.said != NULL)
		pctl_diag_list_destroy(t.said);
	return status;
}

/* Who answers for a message made by hand is the author, where the rules ask for anybody. */
static pctl_status take_authored(pctl_chain *c, const pctl_request *r, const pctl_call *call,
				 uint64_t *paid, pctl_response *out)
{
	pctl_request sealed = {.kind = 0}, own = *r;
	pctl_taking t = {.c = c, .s = c->state, .call = call};
	uint8_t id[PCTL_DIGEST_BYTES];
	pctl_arena *arena = NULL;
	pctl_chain_info info;
	pctl_status status = pctl_chain_last(c, call, &info);

	if (status == PCTL_OK)
		status = pctl_params_in_force(c->state, info.last + 1, call, &t.params);
	if (status == PCTL_OK)
		status = pctl_chain_follows(c, &t.params, info.last + 1, call);
	if (status == PCTL_OK && pctl_request_sender(r) != NULL &&
	    t.params.values[PCTL_PARAM_RULES] != PCTL_RULES_RELEASED) {
		arena = pctl_arena_create();
		status = arena == NULL ? pctl_no_memory(call, "a message")
				       : pctl_account_sequence(t.s, pctl_request_sender(r), t.call,
							       &t.sequence);
		if (status == PCTL_OK)
			status = pctl_chain_id(c->state, call, id);
		own.auth = (pctl_msg_auth){.is_given = 1,
					   .chain = {id, sizeof(id)},
					   .nonce = t.sequence,
					   .expiry = info.last + 1 + c->author_blocks};
		if (status == PCTL_OK)
			status = c->author(c->author_ctx, c, pctl_request_sender(r), &own, arena,
					   call);
	}
	if (status == PCTL_OK)
		status = pctl_request_seal(&own, call, &sealed);
	if (status == PCTL_OK)
		status = take_sealed(c, &sealed, PCTL_ORIGIN_MESSAGE, 0, call, paid, out);
	pctl_request_destroy(&sealed);
	pctl_arena_destroy(arena);
	return status;
}

/* A message made by hand is checked and packed here and nowhere else; one that was decoded has been. */
static pctl_status take(pctl_chain *c, const pctl_request *r, uint32_t origin, int is_again,
			const pctl_call *call, uint64_t *paid, pctl_response *out)
{
	pctl_request sealed;
	pctl_status status;

	if (r->owner != NULL)
		return take_sealed(c, r, origin, is_again, call, paid, out);
	if (origin == PCTL_ORIGIN_MESSAGE && !r->auth.is_given && c->author != NULL)
		return take_authored(c, r, call, paid, out);
	status = pctl_request_seal(r, call, &sealed);
	if (status == PCTL_OK)
		status = take_sealed(c, &sealed, origin, is_again, call, paid, out);
	pctl_request_destroy(&sealed);
	return status;
}

static pctl_status take_into(pctl_chain *c, const pctl_request *r, uint32_t origin, int is_again,
			     const pctl_call *call, uint64_t *paid, pctl_response *out)
{
	pctl_response mine = {.kind = 0};
	uint64_t nobody;
	pctl_status status;

	if (paid == NULL)
		paid = &nobody;
	*paid = 0;
	status = take(c, r, origin, is_again, call, paid, &mine);
	if (out != NULL)
		memset(out, 0, sizeof(*out));
	if (status == PCTL_OK && out != NULL)
		*out = mine;
	else
		pctl_response_destroy(&mine);
	return status;
}

pctl_status pctl_chain_apply(pctl_chain *c, const pctl_request *r, const pctl_call *call,
			     pctl_response *out)
{
	return take_into(c, r, PCTL_ORIGIN_MESSAGE, 0, call, NULL, out);
}

pctl_status pctl_apply_paid(pctl_chain *c, const pctl_request *r, const pctl_call *call,
			    uint64_t *paid, pctl_response *out)
{
	return take_into(c, r, PCTL_ORIGIN_MESSAGE, 0, call, paid, out);
}

pctl_status pctl_chain_apply_again(pctl_chain *c, const pctl_request *r, uint32_t origin,
				   const pctl_call *call)
{
	return take_into(c, r, origin, 1, call, NULL, NULL);
}

pctl_status pctl_chain_apply_genesis(pctl_chain *c, const pctl_request *r, const pctl_call *call)
{
	return take_into(c, r, PCTL_ORIGIN_GENESIS, 0, call, NULL, NULL);
}

void pctl_chain_set_author(pctl_chain *c, pctl_author_fn author, void *ctx, uint64_t blocks)
{
	c->author = author;
	c->author_ctx = ctx;
	c->author_blocks = blocks;
}

pctl_status pctl_chain_submit(pctl_chain *c, const pctl_request *r, uint32_t origin,
			      const pctl_call *call, pctl_response *out)
{
	assert(r->kind == PCTL_MSG_EXECUTE || r->kind == PCTL_MSG_UPLOAD);
	return take_into(c, r, origin, 0, call, NULL, out);
}
