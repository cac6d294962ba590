/* Changes of parameters: proposed by who has a bond, weighed by bonds, applied for a height to come. */
#include "chain/ledger/stake.h"

#include <inttypes.h>
#include <string.h>

#include "chain/state/amount.h"
#include "chain/state/cursor.h"

/* ---- reading ------------------------------------------------------------------------------- */

pctl_status pctl_params_proposal_count(pctl_chain_state *s, const pctl_call *call, uint64_t *out)
{
	sqlite3_stmt *stmt = NULL;
	int more = 0;
	pctl_status status =
		pctl_cursor_open(s, call, &stmt, "SELECT coalesce(max(id), 0) FROM proposals", "");

	*out = 0;
	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, call, &more);
	if (status == PCTL_OK && more)
		*out = (uint64_t)sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return status;
}

static pctl_status read_head(pctl_chain_state *s, uint64_t id, const pctl_call *call,
			     pctl_proposal *out)
{
	sqlite3_stmt *stmt = NULL;
	int more = 0;
	char state[16];
	pctl_status status = PCTL_OK;

	if (id <= PCTL_CHAIN_HEIGHT_MAX)
		status = pctl_cursor_open(
			s, call, &stmt, "SELECT sender, height, state FROM proposals WHERE id = ?",
			"h", id);
	if (status == PCTL_OK && stmt != NULL)
		status = pctl_cursor_next(s, stmt, call, &more);
	if (status == PCTL_OK && !more)
		status = pctl_refuse(call, PC5724_PARAM_PROPOSAL, "no proposal %" PRIu64, id);
	if (status == PCTL_OK) {
		out->id = id;
		pctl_cursor_text(stmt, 0, out->sender, sizeof(out->sender));
		out->height = (uint64_t)sqlite3_column_int64(stmt, 1);
		pctl_cursor_text(stmt, 2, state, sizeof(state));
		out->is_applied = strcmp(state, "applied") == 0;
	}
	sqlite3_finalize(stmt);
	return status;
}

static pctl_status read_changes(pctl_chain_state *s, const pctl_call *call, pctl_proposal *p)
{
	sqlite3_stmt *stmt = NULL;
	char name[64], value[PCTL_PARAM_TEXT_SIZE];
	int more = 1;
	pctl_status status = pctl_cursor_open(s, call, &stmt,
					      "SELECT name, value FROM proposal_values "
					      "WHERE proposal = ? ORDER BY name",
					      "h", p->id);

	while (status == PCTL_OK && p->n_changes < PCTL_PARAM_COUNT) {
		pctl_param_change *c = &p->changes[p->n_changes];

		status = pctl_cursor_next(s, stmt, call, &more);
		if (status != PCTL_OK || !more)
			break;
		pctl_cursor_text(stmt, 0, name, sizeof(name));
		pctl_cursor_text(stmt, 1, value, sizeof(value));
		status = pctl_param_find(name, call, &c->param);
		if (status == PCTL_OK)
			status = pctl_param_parse(c->param, value, call, &c->value);
		p->n_changes++;
	}
	sqlite3_finalize(stmt);
	return status;
}

/* The block that it was made in, where that was under version 2 of the rules. */
static pctl_status read_since(pctl_chain_state *s, const pctl_call *call, pctl_proposal *p)
{
	sqlite3_stmt *stmt = NULL;
	int more = 0;
	pctl_status status = pctl_cursor_open(
		s, call, &stmt, "SELECT height FROM proposal_heights WHERE proposal = ?", "h",
		p->id);

	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, call, &more);
	if (status == PCTL_OK && more)
		p->since = (uint64_t)sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return status;
}

/* Bonds as they were when the block of the proposal began. */
static pctl_status weigh_then(pctl_chain_state *s, const pctl_call *call, pctl_proposal *p)
{
	sqlite3_stmt *stmt = NULL;
	char voter[PCTL_ACCOUNT_SIZE];
	uint64_t bond;
	int more = 1;
	pctl_status status = pctl_stake_at(s, NULL, p->since, call, &p->bonds);

	if (status == PCTL_OK)
		status = pctl_cursor_open(
			s, call, &stmt,
			"SELECT voter, yes FROM votes WHERE proposal = ? ORDER BY voter", "h",
			p->id);
	while (status == PCTL_OK) {
		status = pctl_cursor_next(s, stmt, call, &more);
		if (status != PCTL_OK || !more)
			break;
		pctl_cursor_text(stmt, 0, voter, sizeof(voter));
		status = pctl_stake_at(s, voter, p->since, call, &bond);
		/* Parts of all bonds of that moment, so neither can wrap. */
		*(sqlite3_column_int(stmt, 1) ? &p->yes : &p->no) += bond;
	}
	sqlite3_finalize(stmt);
	return status;
}

/* Bonds of all accounts, and of those that voted on the proposal. */
static pctl_status weigh(pctl_chain_state *s, const pctl_call *call, pctl_proposal *p)
{
	sqlite3_stmt *stmt = NULL;
	uint64_t bond;
	int more = 1;
	pctl_status status = pctl_cursor_open(s, call, &stmt,
					      "SELECT bond, yes FROM accounts LEFT JOIN votes "
					      "ON voter = name AND proposal = ? ORDER BY name",
					      "h", p->id);

	while (status == PCTL_OK) {
		status = pctl_cursor_next(s, stmt, call, &more);
		if (status != PCTL_OK || !more)
			break;
		status = pctl_cursor_amount(stmt, 0, call, &bond);
		if (status == PCTL_OK && !pctl_amount_add(&p->bonds, bond))
			status = pctl_refuse(call, PC5719_LEDGER_BROKEN,
					     "all bonds together are 2^64 or more");
		/* Below the sum of all bonds, so neither can wrap. */
		if (status == PCTL_OK && sqlite3_column_type(stmt, 1) != SQLITE_NULL)
			*(sqlite3_column_int(stmt, 1) ? &p->yes : &p->no) += bond;
	}
	sqlite3_finalize(stmt);
	return status;
}

pctl_status pctl_params_proposal(pctl_chain_state *s, uint64_t id, const pctl_call *call,
				 pctl_proposal *out)
{
	pctl_status status;

	memset(out, 0, sizeof(*out));
	status = read_head(s, id, call, out);
	if (status == PCTL_OK)
		status = read_changes(s, call, out);
	if (status == PCTL_OK)
		status = read_since(s, call, out);
	if (status != PCTL_OK)
		return status;
	return out->since != 0 ? weigh_then(s, call, out) : weigh(s, call, out);
}

/* ---- checks -------------------------------------------------------------------------------- */

/* since: the block whose beginning counts under version 2 of the rules. */
static pctl_status check_voter(pctl_chain_state *s, uint64_t now, uint64_t since, const char *name,
			       const pctl_call *call)
{
	pctl_ledger_account account;
	pctl_params p;
	pctl_status status = pctl_params_in_force(s, now, call, &p);

	if (status == PCTL_OK && pctl_params_has_stakes(&p))
		return pctl_stake_check_floor(s, name, since, &p, call);
	if (status == PCTL_OK)
		status = pctl_ledger_account_read(s, name, call, &account);

	if (status == PCTL_OK && account.bond == 0)
		return pctl_refuse(call, PC5726_PARAM_VOTER, "%s has no bond", name);
	return status;
}

static pctl_status check_height(uint64_t now, uint64_t at, const pctl_call *call)
{
	pctl_status status = pctl_cursor_height(at, call);

	if (status == PCTL_OK && at <= now)
		return pctl_refuse(call, PC5725_CHAIN_HEIGHT,
				   "the change is for height %" PRIu64
				   ", the present one is %" PRIu64,
				   at, now);
	return status;
}

/* The parameters at `height` with the changes of a proposal for `at`, and then those of rows written for heights
 * between: in the state the later row wins. */
static pctl_status check_with(pctl_chain_state *s, uint64_t height, uint64_t at,
			      const pctl_param_change *changes, uint32_t n, const pctl_call *call)
{
	sqlite3_stmt *stmt = NULL;
	pctl_params p;
	int later = 0;
	pctl_status status = pctl_params_in_force(s, height, call, &p);

	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		status = pctl_cursor_open(s, call, &stmt,
					  "SELECT 1 FROM params WHERE name = ? AND height > ? AND "
					  "height <= ?",
					  "thh", pctl_param_at(changes[i].param)->name, at, height);
		if (status == PCTL_OK)
			status = pctl_cursor_next(s, stmt, call, &later);
		if (status == PCTL_OK && !later)
			p.values[changes[i].param] = changes[i].value;
		sqlite3_finalize(stmt);
		stmt = NULL;
	}
	return status == PCTL_OK ? pctl_params_check(&p, call) : status;
}

/* Never down, and one step at a time. */
static pctl_status check_rules(pctl_chain_state *s, uint64_t at, const pctl_param_change *changes,
			       uint32_t n, const pctl_call *call)
{
	pctl_params p, before;
	pctl_status status = pctl_params_in_force(s, at, call, &p);

	if (status == PCTL_OK)
		status = pctl_params_in_force(s, at - 1, call, &before);
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		if (changes[i].param != PCTL_PARAM_RULES)
			continue;
		if (changes[i].value < p.values[PCTL_PARAM_RULES])
			status = pctl_refuse(call, PC5893_RULES_DOWN,
					     "rules = %" PRIu64 " from height %" PRIu64
					     " on, where %" PRIu64 " are in force",
					     changes[i].value, at, p.values[PCTL_PARAM_RULES]);
		else if (changes[i].value > before.values[PCTL_PARAM_RULES] + 1)
			status = pctl_refuse(call, PC6154_RULES_STEP,
					     "rules = %" PRIu64 " from height %" PRIu64
					     " on, where %" PRIu64 " are in force before",
					     changes[i].value, at, before.values[PCTL_PARAM_RULES]);
	}
	return status;
}

/* At the height of the change, and at every later one for which something was applied. */
static pctl_status check_heights(pctl_chain_state *s, uint64_t at, const pctl_param_change *changes,
				 uint32_t n, const pctl_call *call)
{
	sqlite3_stmt *stmt = NULL;
	int more = 1;
	pctl_status status = check_rules(s, at, changes, n, call);

	if (status == PCTL_OK)
		status = check_with(s, at, at, changes, n, call);
	if (status == PCTL_OK)
		status = pctl_cursor_open(s, call, &stmt,
					  "SELECT DISTINCT height FROM params WHERE height > ? "
					  "ORDER BY height",
					  "h", at);
	while (status == PCTL_OK) {
		status = pctl_cursor_next(s, stmt, call, &more);
		if (status != PCTL_OK || !more)
			break;
		status = check_with(s, (uint64_t)sqlite3_column_int64(stmt, 0), at, changes, n,
				    call);
	}
	sqlite3_finalize(stmt);
	return status;
}

static pctl_status check_changes(const pctl_param_change *changes, uint32_t n,
				 const pctl_call *call)
{
	if (n == 0)
		return pctl_refuse(call, PC5724_PARAM_PROPOSAL, "the proposal changes nothing");
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k < i; k++) {
			if (changes[k].param == changes[i].param)
				return pctl_refuse(call, PC5724_PARAM_PROPOSAL,
						   "the proposal changes %s twice",
						   pctl_param_at(changes[i].param)->name);
		}
	}
	return PCTL_OK;
}

/* ---- the three steps ----------------------------------------------------------------------- */

pctl_status pctl_params_propose(pctl_chain_state *s, uint64_t now, const char *sender, uint64_t at,
				const pctl_param_change *changes, uint32_t n, const pctl_call *call,
				uint64_t *out_id)
{
	char text[PCTL_PARAM_TEXT_SIZE];
	pctl_params p;
	uint64_t id = 0;
	pctl_status status = check_height(now, at, call);

	*out_id = 0;
	if (status == PCTL_OK)
		status = check_voter(s, now, now, sender, call);
	if (status == PCTL_OK)
		status = check_changes(changes, n, call);
	if (status == PCTL_OK)
		status = check_heights(s, at, changes, n, call);
	if (status == PCTL_OK)
		status = pctl_params_proposal_count(s, call, &id);
	if (status != PCTL_OK)
		return status;
	id++;
	status = pctl_cursor_write(s, call, "INSERT INTO proposals VALUES (?, ?, ?, 'open')", "hth",
				   id, sender, at);
	if (status == PCTL_OK)
		status = pctl_params_in_force(s, now, call, &p);
	if (status == PCTL_OK && pctl_params_has_stakes(&p))
		status = pctl_cursor_write(s, call, "INSERT INTO proposal_heights VALUES (?, ?)",
					   "hh", id, now);
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++)
		status = pctl_cursor_write(
			s, call, "INSERT INTO proposal_values VALUES (?, ?, ?)", "htt", id,
			pctl_param_at(changes[i].param)->name,
			pctl_param_format(changes[i].param, changes[i].value, text));
	if (status == PCTL_OK)
		*out_id = id;
	return status;
}

/* What was proposed under version 1 of the rules has no block whose bonds would count. */
static pctl_status read_open(pctl_chain_state *s, uint64_t now, uint64_t id, const pctl_call *call,
			     pctl_proposal *out)
{
	pctl_params p;
	pctl_status status = pctl_params_in_force(s, now, call, &p);

	if (status == PCTL_OK)
		status = pctl_params_proposal(s, id, call, out);
	if (status == PCTL_OK && out->since == 0 && pctl_params_has_stakes(&p))
		return pctl_refuse(call, PC5724_PARAM_PROPOSAL,
				   "proposal %" PRIu64 " was made under version 1 of the rules",
				   id);

	if (status == PCTL_OK && out->is_applied)
		return pctl_refuse(call, PC5724_PARAM_PROPOSAL,
				   "proposal %" PRIu64 " was applied already", id);
	return status == PCTL_OK ? check_height(now, out->height, call) : status;
}

pctl_status pctl_params_vote(pctl_chain_state *s, uint64_t now, uint64_t id, const char *voter,
			     int yes, const pctl_call *call)
{
	sqlite3_stmt *stmt = NULL;
	pctl_proposal p;
	int voted = 0;
	pctl_status status = read_open(s, now, id, call, &p);

	if (status == PCTL_OK)
		status = check_voter(s, now, p.since, voter, call);
	if (status == PCTL_OK)
		status = pctl_cursor_open(s, call, &stmt,
					  "SELECT 1 FROM votes WHERE proposal = ? AND voter = ?",
					  "ht", id, voter);
	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, call, &voted);
	sqlite3_finalize(stmt);
	if (status == PCTL_OK && voted)
		return pctl_refuse(call, PC5726_PARAM_VOTER,
				   "%s voted on proposal %" PRIu64 " already", voter, id);
	if (status == PCTL_OK)
		status = pctl_cursor_write(s, call, "INSERT INTO votes VALUES (?, ?, ?)", "hth", id,
					   voter, (uint64_t)(yes != 0));
	return status;
}

/* A parameter has one value at a height, whichever proposal came first. */
static pctl_status check_free(pctl_chain_state *s, const pctl_proposal *p, const pctl_call *call)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < p->n_changes; i++) {
		const char *name = pctl_param_at(p->changes[i].param)->name;
		sqlite3_stmt *stmt = NULL;
		int taken = 0;

		status = pctl_cursor_open(s, call, &stmt,
					  "SELECT 1 FROM params WHERE height = ? AND name = ?",
					  "ht", p->height, name);
		if (status == PCTL_OK)
			status = pctl_cursor_next(s, stmt, call, &taken);
		sqlite3_finalize(stmt);
		if (status == PCTL_OK && taken)
			status = pctl_refuse(call, PC5725_CHAIN_HEIGHT,
					     "another change of %s is applied for height %" PRIu64,
					     name, p->height);
	}
	return status;
}

static pctl_status check_quorum(pctl_chain_state *s, uint64_t now, const pctl_proposal *p,
				const pctl_call *call)
{
	pctl_params in_force;
	uint64_t needed;
	pctl_status status = pctl_params_in_force(s, now, call, &in_force);

	if (status != PCTL_OK)
		return status;
	needed = pctl_amount_part_up(p->bonds, in_force.values[PCTL_PARAM_QUORUM]);
	if (p->bonds == 0 || p->yes < needed)
		return pctl_refuse(call, PC5727_PARAM_QUORUM,
				   "bonds of %" PRIu64 " voted yes, %" PRIu64 " of %" PRIu64
				   " are needed",
				   p->yes, needed, p->bonds);
	return PCTL_OK;
}

pctl_status pctl_params_apply(pctl_chain_state *s, uint64_t now, uint64_t id, const pctl_call *call)
{
	char text[PCTL_PARAM_TEXT_SIZE];
	pctl_proposal p;
	pctl_status status = read_open(s, now, id, call, &p);

	if (status == PCTL_OK)
		status = check_quorum(s, now, &p, call);
	if (status == PCTL_OK)
		status = check_free(s, &p, call);
	if (status == PCTL_OK)
		status = check_heights(s, p.height, p.changes, p.n_changes, call);
	for (uint32_t i = 0; status == PCTL_OK && i < p.n_changes; i++)
		status = pctl_cursor_write(
			s, call, "INSERT INTO params VALUES (?, ?, ?)", "htt", p.height,
			pctl_param_at(p.changes[i].param)->name,
			pctl_param_format(p.changes[i].param, p.changes[i].value, text));
	pctl_params_forget(s);
	if (status == PCTL_OK)
		status = pctl_cursor_write(
			s, call, "UPDATE proposals SET state = 'applied' WHERE id = ?", "h", id);
	return status;
}
