/* Disputes, from version 2 of the rules on: the job is run again on the reference, and who was wrong pays. Nobody votes. */
#include <inttypes.h>
#include <string.h>

#include "chain/chain_private.h"
#include "chain/data/data.h"
#include "chain/ledger/stake.h"
#include "chain/state/amount.h"
#include "chain/state/cursor.h"
#include "chain/transition/rerun.h"

typedef struct dispute {
	const pctl_taking *t;
	const pctl_msg_verdict *m;
	pctl_chain_job job;
	char executor[PCTL_ACCOUNT_SIZE]; /* that was paid for it */
	uint64_t deposit;
} dispute;

static pctl_status refuse(const dispute *d, const char *why)
{
	return pctl_refuse(d->t->call, PC5899_DISPUTE_JOB, "job %s %s", d->m->job_id, why);
}

/* ---- before anything runs ------------------------------------------------------------------ */

/* *found: there is a row, and it says who. */
static pctl_status read_name(dispute *d, sqlite3_stmt *stmt, pctl_status status, int *found)
{
	*found = 0;
	if (status == PCTL_OK)
		status = pctl_cursor_next(d->t->s, stmt, d->t->call, found);
	if (status == PCTL_OK && *found)
		pctl_cursor_text(stmt, 0, d->executor, sizeof(d->executor));
	sqlite3_finalize(stmt);
	return status;
}

/* Whom a settlement names, or who was paid for the block that ended the job. */
static pctl_status read_executor(dispute *d)
{
	sqlite3_stmt *stmt = NULL;
	int found;
	pctl_status status =
		pctl_cursor_open(d->t->s, d->t->call, &stmt,
				 "SELECT executor FROM settlements WHERE job = ?", "d", d->job.id);

	status = read_name(d, stmt, status, &found);
	if (status != PCTL_OK || found)
		return status;
	status =
		pctl_cursor_open(d->t->s, d->t->call, &stmt,
				 "SELECT executor FROM blocks WHERE height = ?", "h", d->job.ended);
	return read_name(d, stmt, status, &found);
}

static pctl_status check_new(const dispute *d)
{
	sqlite3_stmt *stmt = NULL;
	int found = 0;
	pctl_status status = pctl_cursor_open(
		d->t->s, d->t->call, &stmt, "SELECT 1 FROM disputes WHERE job = ?", "d", d->job.id);

	if (status == PCTL_OK)
		status = pctl_cursor_next(d->t->s, stmt, d->t->call, &found);
	sqlite3_finalize(stmt);
	return status == PCTL_OK && found ? refuse(d, "was judged before") : status;
}

/* What disputes of the open block run again is within what a block may run. */
static pctl_status check_budget(const dispute *d)
{
	const pctl_taking *t = d->t;
	sqlite3_stmt *stmt = NULL;
	uint64_t budget, gas = d->job.gas, one;
	int more = 1;
	pctl_status status = pctl_params_block_budget(&t->params, t->call, &budget);

	if (status == PCTL_OK)
		status = pctl_cursor_open(t->s, t->call, &stmt,
					  "SELECT gas FROM disputes WHERE height = ?", "h",
					  t->height);
	while (status == PCTL_OK) {
		status = pctl_cursor_next(t->s, stmt, t->call, &more);
		if (status != PCTL_OK || !more)
			break;
		status = pctl_cursor_amount(stmt, 0, t->call, &one);
		if (status == PCTL_OK && !pctl_amount_add(&gas, one))
			gas = UINT64_MAX;
	}
	sqlite3_finalize(stmt);
	return status == PCTL_OK && gas > budget
		       ? refuse(d, "and the disputes before it cost more gas than a block has")
		       : status;
}

static pctl_status check(dispute *d)
{
	const pctl_taking *t = d->t;
	const uint64_t *v = t->params.values;
	pctl_ledger_account a;
	pctl_status status;

	if (d->job.status != PCTL_JOB_COMPLETE)
		return refuse(d, "is not complete");
	if (t->height - d->job.ended > v[PCTL_PARAM_UNBONDING_BLOCKS])
		return refuse(d, "ended too long ago");
	status = check_new(d);
	if (status == PCTL_OK)
		status = pctl_stake_check_floor(t->s, d->m->sender, t->height, &t->params, t->call);
	if (status == PCTL_OK)
		status = pctl_ledger_account_read(t->s, d->m->sender, t->call, &a);
	if (status != PCTL_OK)
		return status;
	d->deposit = v[PCTL_PARAM_DISPUTE_DEPOSIT] > d->job.gas ? v[PCTL_PARAM_DISPUTE_DEPOSIT]
								: d->job.gas;
	if (a.balance < d->deposit)
		return pctl_refuse(t->call, PC5713_LEDGER_FUNDS,
				   "%s has a balance of %" PRIu64 ", the deposit is %" PRIu64,
				   d->m->sender, a.balance, d->deposit);
	status = check_budget(d);
	return status == PCTL_OK ? read_executor(d) : status;
}

/* ---- running ------------------------------------------------------------------------------- */

/* A job whose output was taken in is complete, so its row has it. */
static pctl_status resolve(const pctl_taking *t, const char *reference, pctl_cid *out)
{
	uint8_t id[PCTL_DIGEST_BYTES];
	pctl_chain_job row;
	pctl_status status;

	if (strncmp(reference, "job:", 4) != 0)
		return pctl_cid_read(reference, t->call, out);
	(void)pctl_job_id_parse(reference + 4, id);
	status = pctl_jobs_read(t->s, id, t->call, &row);
	*out = row.output;
	pctl_chain_job_clear(&row);
	return status;
}

/* Bytes that this node lacks are its own trouble: they were there when the block ended. */
static pctl_status run(const dispute *d, const pctl_msg_execute *m, pctl_cid *out)
{
	const pctl_taking *t = d->t;
	const pctl_executor *reference = pctl_chain_reference(t->c);
	pctl_task_binding bindings[PCTL_RERUN_BINDINGS_MAX] = {{0}};
	pctl_blob blobs[PCTL_RERUN_BINDINGS_MAX] = {{0}};
	pctl_cid cids[PCTL_RERUN_BINDINGS_MAX];
	uint32_t n = 0;
	pctl_status status = PCTL_OK;

	if (reference == NULL)
		return pctl_refuse(t->call, PC5850_BLOCK_EXECUTOR,
				   "a dispute needs the reference, and the chain was opened "
				   "without it");
	for (; status == PCTL_OK && n < m->n_bindings + 1u; n++) {
		status = resolve(t, n == 0 ? m->input : m->bindings[n - 1].cid, &cids[n]);
		if (status == PCTL_OK)
			status = pctl_data_get(t->c, &cids[n], t->call, &blobs[n]);
		bindings[n] = (pctl_task_binding){n == 0 ? 0 : m->bindings[n - 1].group,
						  n == 0 ? 0 : m->bindings[n - 1].binding, &cids[n],
						  blobs[n].data, blobs[n].n_bytes};
	}
	if (status == PCTL_OK)
		status = pctl_chain_rerun(t->c, reference, m, d->job.height, d->m->job_id, bindings,
					  n, t->call, out);
	for (uint32_t i = 0; i < n; i++)
		pctl_blob_release(&blobs[i]);
	return status == PCTL_E_NOT_FOUND
		       ? pctl_refuse(t->call, PC5701_CHAIN_STATE,
				     "bytes of job %s are not in the store of this node",
				     d->m->job_id)
		       : status;
}

/* ---- who pays ------------------------------------------------------------------------------ */

static pctl_status settle(const dispute *d, const pctl_cid *right)
{
	const pctl_taking *t = d->t;
	const int is_wrong = pctl_cid_compare(right, &d->job.output) != 0;
	char text[PCTL_CID_TEXT_SIZE];
	const int is_claimed = strcmp(pctl_cid_format(right, text), d->m->output) == 0;
	uint64_t taken = 0;
	pctl_status status = PCTL_OK;

	if (is_wrong)
		status = pctl_stake_slash(t->s, t->height, d->job.id, d->executor, d->job.gas, 0,
					  &t->params, t->call, &taken);
	/* Who did not know the right output has not run it: an accusation at random is not free. */
	if (status == PCTL_OK && !(is_wrong && is_claimed))
		status = pctl_ledger_pay(t->s, d->m->sender, d->deposit,
					 t->params.values[PCTL_PARAM_SLASH_TREASURY], t->call);
	if (status != PCTL_OK)
		return status;
	return pctl_cursor_write(t->s, t->call, "INSERT INTO disputes VALUES (?, ?, ?, ?, ?, ?)",
				 "dtthaa", d->job.id, d->m->sender, is_wrong ? d->executor : "",
				 t->height, d->job.gas, taken);
}

pctl_status pctl_apply_dispute(const pctl_taking *t, const pctl_msg_verdict *m)
{
	dispute d = {.t = t, .m = m};
	pctl_request message = {.kind = 0};
	uint8_t id[PCTL_DIGEST_BYTES];
	pctl_cid right;
	pctl_status status;

	(void)pctl_job_id_parse(m->job_id, id);
	status = pctl_jobs_read(t->s, id, t->call, &d.job);
	if (status == PCTL_OK)
		status = check(&d);
	right = d.job.output; /* of one that is only tried: the dearest that it may come to for its sender */
	if (status == PCTL_OK)
		status = pctl_request_decode(d.job.message, d.job.n_message, t->call, &message);
	/* Who came in by a snapshot has no bytes but those that are state. */
	if (status == PCTL_OK)
		status = pctl_data_check_kept(t, &message.as.execute);
	if (status == PCTL_OK && !pctl_chain_only_tries(t->c))
		status = run(&d, &message.as.execute, &right);
	if (status == PCTL_OK)
		status = settle(&d, &right);
	pctl_request_destroy(&message);
	pctl_chain_job_clear(&d.job);
	return status;
}
