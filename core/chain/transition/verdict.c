/* Verdicts under version 1 of the rules: votes of bonded accounts that another gave wrong results, and the slash that a quorum brings.
 * From version 2 on a verdict is a dispute (dispute.c). */
#include <inttypes.h>
#include <string.h>

#include "chain/state/amount.h"
#include "chain/chain_private.h"
#include "chain/state/cursor.h"

/* The id of a verdict is SHA-256( "pipectl verdict 1" NUL || accused || NUL || evidence ). */
static pctl_status id_of(const pctl_taking *t, const pctl_msg_verdict *m,
			 uint8_t out[PCTL_DIGEST_BYTES])
{
	static const char domain[] = "pipectl verdict 1";
	pctl_hasher *h = NULL;
	pctl_status status = pctl_hasher_create(t->call, &h);

	if (status == PCTL_OK)
		status = pctl_hasher_update(h, domain, sizeof(domain));
	if (status == PCTL_OK)
		status = pctl_hasher_update(h, m->accused, strlen(m->accused) + 1);
	if (status == PCTL_OK)
		status = pctl_hasher_update(h, m->evidence, strlen(m->evidence));
	return pctl_hasher_end(h, status, out);
}

/* The bonds of who voted, and all but the accused's; both with the sender's vote counted in. */
typedef struct weights {
	uint64_t yes, all;
} weights;

static pctl_status weigh(const pctl_taking *t, const uint8_t id[PCTL_DIGEST_BYTES],
			 const pctl_msg_verdict *m, weights *out)
{
	sqlite3_stmt *stmt = NULL;
	uint64_t bond;
	int more = 1;
	pctl_status status = pctl_cursor_open(
		t->s, t->call, &stmt,
		"SELECT bond, name = ?1 OR EXISTS (SELECT 1 FROM verdict_votes WHERE verdict = ?2 "
		"AND voter = name) FROM accounts WHERE name <> ?3 ORDER BY name",
		"tdt", m->sender, id, m->accused);

	*out = (weights){0, 0};
	while (status == PCTL_OK) {
		status = pctl_cursor_next(t->s, stmt, t->call, &more);
		if (status != PCTL_OK || !more)
			break;
		status = pctl_cursor_amount(stmt, 0, t->call, &bond);
		if (status == PCTL_OK && !pctl_amount_add(&out->all, bond))
			status = pctl_refuse(t->call, PC5712_LEDGER_OVERFLOW,
					     "all bonds together are 2^64 or more");
		if (status == PCTL_OK && sqlite3_column_int(stmt, 1))
			out->yes += bond; /* at most `all` */
	}
	sqlite3_finalize(stmt);
	return status;
}

static pctl_status no_vote(const pctl_taking *t, const char *name, const char *why)
{
	return pctl_refuse(t->call, PC5825_VERDICT_VOTE, "%s %s", name, why);
}

static pctl_status check_accounts(const pctl_taking *t, const pctl_msg_verdict *m)
{
	pctl_ledger_account voter, accused;
	pctl_status status = pctl_ledger_account_read(t->s, m->sender, t->call, &voter);

	if (status == PCTL_OK)
		status = pctl_ledger_account_read(t->s, m->accused, t->call, &accused);
	if (status != PCTL_OK)
		return status;
	if (strcmp(m->sender, m->accused) == 0)
		return no_vote(t, m->sender, "votes against itself");
	if (voter.bond == 0)
		return no_vote(t, m->sender, "has no bond");
	return accused.bond == 0 ? no_vote(t, m->accused, "has no bond to take from") : PCTL_OK;
}

static pctl_status check_open(const pctl_taking *t, const uint8_t id[PCTL_DIGEST_BYTES],
			      const pctl_msg_verdict *m, int *is_known)
{
	sqlite3_stmt *stmt = NULL;
	int slashed = 0, voted = 0;
	pctl_status status = pctl_cursor_open(
		t->s, t->call, &stmt,
		"SELECT slashed, EXISTS (SELECT 1 FROM verdict_votes WHERE verdict = ?1 AND "
		"voter = ?2) FROM verdicts WHERE id = ?1",
		"dt", id, m->sender);

	*is_known = 0;
	if (status == PCTL_OK)
		status = pctl_cursor_next(t->s, stmt, t->call, is_known);
	if (status == PCTL_OK && *is_known) {
		slashed = sqlite3_column_int64(stmt, 0) != 0;
		voted = sqlite3_column_int(stmt, 1);
	}
	sqlite3_finalize(stmt);
	if (status == PCTL_OK && slashed)
		return pctl_refuse(t->call, PC5718_LEDGER_VERDICT, "%s was slashed for %s",
				   m->accused, m->evidence);
	return status == PCTL_OK && voted ? no_vote(t, m->sender, "voted on this already") : status;
}

pctl_status pctl_apply_verdict(const pctl_taking *t, const pctl_msg_verdict *m)
{
	uint8_t id[PCTL_DIGEST_BYTES];
	weights w;
	uint64_t taken, height = 0;
	int is_known = 0;
	pctl_status status;

	if (pctl_params_has_stakes(&t->params) != (m->job_id[0] != '\0'))
		return pctl_refuse(t->call, PC5894_VERDICT_FORM, "the rules in force ask for %s",
				   m->job_id[0] != '\0' ? "an accused account and evidence"
							: "a job and its right output");
	if (m->job_id[0] != '\0')
		return pctl_apply_dispute(t, m);
	status = id_of(t, m, id);

	if (status == PCTL_OK)
		status = check_accounts(t, m);
	if (status == PCTL_OK)
		status = check_open(t, id, m, &is_known);
	if (status == PCTL_OK)
		status = weigh(t, id, m, &w);
	if (status != PCTL_OK)
		return status;
	if (w.yes >= pctl_amount_part_up(w.all, t->params.values[PCTL_PARAM_QUORUM])) {
		height = t->height;
		status = pctl_ledger_slash(t->s, t->height, id, m->accused, t->call, &taken);
	}
	if (status == PCTL_OK && !is_known)
		status =
			pctl_cursor_write(t->s, t->call, "INSERT INTO verdicts VALUES (?, ?, ?, ?)",
					  "dtth", id, m->accused, m->evidence, height);
	else if (status == PCTL_OK)
		status = pctl_cursor_write(t->s, t->call,
					   "UPDATE verdicts SET slashed = ? WHERE id = ?", "hd",
					   height, id);
	return status == PCTL_OK ? pctl_cursor_write(t->s, t->call,
						     "INSERT INTO verdict_votes VALUES (?, ?, ?)",
						     "dth", id, m->sender, t->height)
				 : status;
}
