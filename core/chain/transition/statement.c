/* Statements about blocks as evidence; see statement.h. */
#include "chain/transition/statement.h"

#include <inttypes.h>
#include <string.h>

#include "chain/accounts/account.h"
#include "chain/accounts/verify.h"
#include "chain/ledger/stake.h"
#include "chain/state/amount.h"
#include "chain/state/cursor.h"
#include "foundation/base/bytes.h"

void pctl_statement_bytes(const uint8_t chain[PCTL_DIGEST_BYTES], uint64_t height,
			  const uint8_t root[PCTL_DIGEST_BYTES], uint8_t out[PCTL_STATEMENT_BYTES])
{
	static const char domain[20] = "pipectl statement 1";

	memcpy(out, domain, sizeof(domain));
	memcpy(out + sizeof(domain), chain, PCTL_DIGEST_BYTES);
	pctl_le_put(out + sizeof(domain) + PCTL_DIGEST_BYTES, height, 8);
	memcpy(out + sizeof(domain) + PCTL_DIGEST_BYTES + 8, root, PCTL_DIGEST_BYTES);
}

typedef struct judging {
	const pctl_taking *t;
	const pctl_msg_statement *m;
	char account[PCTL_ACCOUNT_SIZE];
	uint8_t root[PCTL_DIGEST_BYTES]; /* that the block has */
	uint64_t gas, before;		 /* of the block; what the account lost for it already */
	uint8_t id[PCTL_DIGEST_BYTES];	 /* of what is signed, and of `before` */
} judging;

static pctl_status refuse(const judging *j, const char *why)
{
	return pctl_refuse(j->t->call, PC6116_STATEMENT_BLOCK, "block %" PRIu64 " %s", j->m->height,
			   why);
}

/* What was taken for this block counts: who accused himself of one while he had little at stake does not get off with it when he has more. */
static pctl_status read_before(judging *j)
{
	sqlite3_stmt *stmt = NULL;
	int found = 0;
	pctl_status status =
		pctl_cursor_keep(j->t->s, j->t->call, &stmt,
				 "SELECT taken FROM statements WHERE account = ? AND stated = ?",
				 "th", j->account, j->m->height);

	if (status == PCTL_OK)
		status = pctl_cursor_next(j->t->s, stmt, j->t->call, &found);
	if (status == PCTL_OK && found)
		status = pctl_cursor_amount(stmt, 0, j->t->call, &j->before);
	pctl_cursor_done(stmt);
	return status;
}

/* The name follows from the key for ever, whatever keys the account is given later: nobody turns a key away from under his word. */
static pctl_status check_signed(judging *j)
{
	const pctl_msg_statement *m = j->m;
	uint8_t chain[PCTL_DIGEST_BYTES], bytes[PCTL_STATEMENT_BYTES + 8];
	pctl_cid id;
	pctl_status status = pctl_chain_id(j->t->s, j->t->call, chain);

	if (status == PCTL_OK)
		status = pctl_account_of_key(m->key.data, j->t->call, j->account);
	if (status != PCTL_OK)
		return status;
	pctl_statement_bytes(chain, m->height, m->root.data, bytes);
	if (!pctl_message_signature_is_right(m->key.data, bytes, PCTL_STATEMENT_BYTES,
					     m->signature.data))
		return pctl_refuse(j->t->call, PC6117_STATEMENT_SIGNED,
				   "%s did not sign this of block %" PRIu64, j->account, m->height);
	status = read_before(j);
	for (uint32_t i = 0; i < 8; i++)
		bytes[PCTL_STATEMENT_BYTES + i] = (uint8_t)(j->before >> (8 * i));
	if (status == PCTL_OK)
		status = pctl_cid_of(bytes, sizeof(bytes), j->t->call, &id);
	if (status == PCTL_OK)
		memcpy(j->id, id.digest, sizeof(j->id));
	return status;
}

static pctl_status read_block(judging *j)
{
	sqlite3_stmt *stmt = NULL;
	int found = 0;
	pctl_status status = pctl_cursor_keep(j->t->s, j->t->call, &stmt,
					      "SELECT root, gas FROM blocks WHERE height = ?", "h",
					      j->m->height);

	if (status == PCTL_OK)
		status = pctl_cursor_next(j->t->s, stmt, j->t->call, &found);
	if (status == PCTL_OK && found && sqlite3_column_bytes(stmt, 0) == PCTL_DIGEST_BYTES) {
		memcpy(j->root, sqlite3_column_blob(stmt, 0), PCTL_DIGEST_BYTES);
		status = pctl_cursor_amount(stmt, 1, j->t->call, &j->gas);
	} else if (status == PCTL_OK) {
		status = pctl_refuse(j->t->call, PC5701_CHAIN_STATE,
				     "block %" PRIu64 " is not there, or damaged", j->m->height);
	}
	pctl_cursor_done(stmt);
	return status;
}

static pctl_status check_block(judging *j)
{
	const pctl_taking *t = j->t;
	pctl_status status;

	if (j->m->height >= t->height)
		return refuse(j, "is not final");
	if (t->height - j->m->height > t->params.values[PCTL_PARAM_UNBONDING_BLOCKS])
		return refuse(j, "is too long ago");
	status = read_block(j);
	return status == PCTL_OK && memcmp(j->root, j->m->root.data, PCTL_DIGEST_BYTES) == 0
		       ? refuse(j, "has this root: the statement is right")
		       : status;
}

/* What was at stake: the gas of the block, and no less than what a dispute of one job is about. */
static uint64_t gas_of(const judging *j)
{
	const uint64_t least = j->t->params.values[PCTL_PARAM_DISPUTE_DEPOSIT];

	return j->gas > least ? j->gas : least;
}

pctl_status pctl_apply_statement(const pctl_taking *t, const pctl_msg_statement *m)
{
	judging j = {.t = t, .m = m};
	uint64_t taken = 0;
	pctl_status status = check_signed(&j);

	if (status == PCTL_OK)
		status = check_block(&j);
	if (status == PCTL_OK)
		status = pctl_stake_slash(t->s, t->height, j.id, j.account, gas_of(&j), j.before,
					  &t->params, t->call, &taken);
	/* Otherwise anybody's new keys would leave rows for ever. */
	if (status == PCTL_OK && taken == 0)
		status = refuse(&j, j.before == 0
					    ? "is nothing to an account that has nothing at stake"
					    : "was held against this account before, which has no "
					      "more at stake than then");
	/* At most all there is, which is below 2^64. */
	return status == PCTL_OK
		       ? pctl_cursor_write(
				 t->s, t->call,
				 "INSERT OR REPLACE INTO statements VALUES (?, ?, ?, ?, ?, ?)",
				 "thdtha", j.account, m->height, m->root.data, m->sender, t->height,
				 j.before + taken)
		       : status;
}
