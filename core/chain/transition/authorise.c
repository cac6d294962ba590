/* Who answers for a message; see authorise.h. */
#include "chain/transition/authorise.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "chain/accounts/account.h"
#include "chain/accounts/verify.h"
#include "chain/registry/rules.h"
#include "chain/state/cursor.h"

static int is_signed_for(const pctl_params *p)
{
	return p->values[PCTL_PARAM_RULES] != PCTL_RULES_RELEASED;
}

/* ---- keys ---------------------------------------------------------------------------------- */

/* What controls the account: its keys, or where it has none and is named by the one key that signs, that one. */
static pctl_status control_of(pctl_chain_state *s, const char *sender, const pctl_msg_auth *a,
			      const pctl_call *call, pctl_account_control *out)
{
	char name[PCTL_ACCOUNT_SIZE];
	pctl_status status = pctl_account_control_read(s, sender, call, out);

	if (status != PCTL_OK || out->threshold != 0 || a->n_signatures != 1)
		return status;
	status = pctl_account_of_key(a->signatures[0].key.data, call, name);
	if (status == PCTL_OK && strcmp(name, sender) == 0) {
		out->threshold = out->n_keys = 1;
		memcpy(out->keys[0], a->signatures[0].key.data, PCTL_KEY_BYTES);
	}
	return status;
}

/* Under version 1 the engine answers for every sender. In a chain that began so, an account that has sent messages and has
 * no keys yet takes its first ones in a message that all of them sign, for which the engine answers once more; a name of the
 * chain itself does not, nor one that says itself whose it is, whoever sent under it. */
static pctl_status first_keys(pctl_chain_state *s, const pctl_request *r, uint64_t sequence,
			      const pctl_call *call, pctl_account_control *out)
{
	pctl_params began;
	pctl_status status;

	if (out->threshold != 0 || r->kind != PCTL_MSG_KEYS || sequence == 0 ||
	    pctl_account_is_reserved(r->as.keys.sender) ||
	    pctl_account_is_derived(r->as.keys.sender))
		return PCTL_OK;
	status = pctl_params_in_force(s, 0, call, &began);
	if (status != PCTL_OK || is_signed_for(&began))
		return status;
	out->threshold = out->n_keys = r->as.keys.n_keys;
	for (uint32_t i = 0; i < out->n_keys; i++)
		memcpy(out->keys[i], r->as.keys.keys[i].data, PCTL_KEY_BYTES);
	return PCTL_OK;
}

static int controls(const pctl_account_control *c, const uint8_t *key)
{
	for (uint32_t i = 0; i < c->n_keys; i++)
		if (memcmp(c->keys[i], key, PCTL_KEY_BYTES) == 0)
			return 1;
	return 0;
}

static pctl_status check_signatures(pctl_chain *chain, const pctl_request *r, const char *sender,
				    const pctl_call *call)
{
	pctl_chain_state *s = chain->state;
	const pctl_msg_auth *a = &r->auth;
	pctl_account_control c;
	uint32_t bad = 0;
	pctl_status status = control_of(s, sender, a, call, &c);

	if (status == PCTL_OK)
		status = first_keys(s, r, a->nonce, call, &c);
	for (uint32_t i = 0; status == PCTL_OK && i < a->n_signatures; i++)
		if (!controls(&c, a->signatures[i].key.data) ||
		    !pctl_account_key_is_fit(a->signatures[i].key.data))
			status = pctl_refuse(call, PC5844_AUTH_KEY,
					     "signature %u is by a key that does not control %s", i,
					     sender);
	if (status == PCTL_OK && a->n_signatures < (c.threshold == 0 ? 1 : c.threshold))
		status = pctl_refuse(call, PC5846_AUTH_THRESHOLD, "%u of %u signatures of %s",
				     a->n_signatures, c.threshold == 0 ? 1 : c.threshold, sender);
	if (status == PCTL_OK)
		status = pctl_verified_check(chain->verified, r, call, &bad);
	return status == PCTL_OK && bad < a->n_signatures
		       ? pctl_refuse(call, PC5845_AUTH_SIGNATURE,
				     "signature %u is not of this message", bad)
		       : status;
}

/* ---- the rest of it ------------------------------------------------------------------------ */

/* number: that the message must have. */
static pctl_status check(pctl_chain *c, const pctl_request *r, const char *sender, uint64_t number,
			 uint64_t height, const pctl_call *call)
{
	const pctl_msg_auth *a = &r->auth;
	uint8_t id[PCTL_DIGEST_BYTES];
	pctl_status status;

	if (!a->is_given)
		return pctl_refuse(call, PC5840_AUTH_MISSING, "the message of %s is not signed",
				   sender);
	status = pctl_chain_id(c->state, call, id);
	if (status != PCTL_OK)
		return status;
	if (memcmp(id, a->chain.data, sizeof(id)) != 0)
		return pctl_refuse(call, PC5841_AUTH_CHAIN,
				   "the message of %s names another chain than this one", sender);
	if (a->nonce != number)
		return pctl_refuse(call, PC5842_AUTH_NONCE,
				   "the message of %s has number %" PRIu64 ", not %" PRIu64, sender,
				   a->nonce, number);
	if (a->expiry < height)
		return pctl_refuse(call, PC5843_AUTH_EXPIRED,
				   "the message of %s was for blocks up to %" PRIu64
				   ", this is %" PRIu64,
				   sender, a->expiry, height);
	return check_signatures(c, r, sender, call);
}

static pctl_status is_first(const pctl_taking *t, int *out)
{
	sqlite3_stmt *stmt = NULL;
	pctl_status status =
		pctl_cursor_keep(t->s, t->call, &stmt, "SELECT 1 FROM inbox WHERE origin <> ?", "h",
				 (uint64_t)PCTL_ORIGIN_GENESIS);
	int other = 0;

	if (status == PCTL_OK)
		status = pctl_cursor_next(t->s, stmt, t->call, &other);
	pctl_cursor_done(stmt);
	*out = t->height == 1 && !other;
	return status;
}

/* Of a chain that has not begun yet. */
static pctl_status check_genesis(const pctl_taking *t, const pctl_request *r)
{
	int first = 0;
	pctl_status status = is_first(t, &first);

	if (status != PCTL_OK)
		return status;
	if (!is_signed_for(&t->params) || !first || r->auth.is_given ||
	    (r->kind != PCTL_MSG_KEYS && r->kind != PCTL_MSG_ROLE && r->kind != PCTL_MSG_LEDGER))
		return pctl_refuse(
			t->call, PC5848_GENESIS, "%s",
			!is_signed_for(&t->params)
				? "accounts of genesis are of version 2 of the rules"
			: !first ? "the chain has begun"
				 : "a chain begins with keys, roles and gas of accounts alone");
	return PCTL_OK;
}

pctl_status pctl_authorise(const pctl_taking *t, const pctl_request *r, uint32_t origin)
{
	const char *sender = pctl_request_sender(r);

	if (origin == PCTL_ORIGIN_GENESIS)
		return check_genesis(t, r);
	if (!is_signed_for(&t->params)) {
		if (r->auth.is_given || r->kind == PCTL_MSG_KEYS || r->kind == PCTL_MSG_ROLE ||
		    r->kind == PCTL_MSG_BLOB || r->kind == PCTL_MSG_CONTRACT ||
		    r->kind == PCTL_MSG_CALL || r->kind == PCTL_MSG_STATEMENT)
			return pctl_refuse(t->call, PC5840_AUTH_MISSING,
					   "version 1 of the rules knows no signatures, keys, "
					   "blobs, contracts and statements");
		return PCTL_OK;
	}
	return origin == PCTL_ORIGIN_EPOCH
		       ? PCTL_OK
		       : check(t->c, r, sender, t->sequence, t->height, t->call);
}

pctl_status pctl_authorise_role(const pctl_taking *t, uint32_t role, const char *sender,
				uint32_t origin)
{
	int has = 1;
	pctl_status status = PCTL_OK;

	if (origin != PCTL_ORIGIN_GENESIS && is_signed_for(&t->params))
		status = pctl_account_role_has(t->s, role, sender, t->call, &has);
	if (status == PCTL_OK && !has)
		status = pctl_refuse(t->call, PC5847_AUTH_ROLE, "%s does not have the role `%s`",
				     sender, pctl_account_role_name(role));
	return status;
}

/* In a chain that began under version 1 the engine, whose alone the socket is, ends blocks as before until somebody has the
 * role; `auth` that is given is right or refused all the same. */
static pctl_status is_engines(pctl_chain *c, const pctl_request *r, const pctl_call *call, int *out)
{
	pctl_params began;
	int somebody = 0;
	pctl_status status = pctl_params_in_force(c->state, 0, call, &began);

	*out = 0;
	if (status == PCTL_OK && !is_signed_for(&began) && !r->auth.is_given) {
		status = pctl_account_role_has(c->state, PCTL_ROLE_BLOCK, NULL, call, &somebody);
		*out = !somebody;
	}
	return status;
}

/* Some account of the role signed: its name is not in the message, so each is asked. */
static pctl_status check_some(pctl_chain *c, const pctl_request *r, uint64_t height,
			      const pctl_call *call)
{
	pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	sqlite3_stmt *stmt = NULL;
	int more = 0, found = 0;
	pctl_status status = pctl_cursor_open(
		c->state, call, &stmt, "SELECT account FROM roles WHERE role = ? ORDER BY account",
		"h", (uint64_t)PCTL_ROLE_BLOCK);

	while (status == PCTL_OK && !found) {
		char name[PCTL_ACCOUNT_SIZE];

		status = pctl_cursor_next(c->state, stmt, call, &more);
		if (status != PCTL_OK || !more)
			break;
		pctl_cursor_text(stmt, 0, name, sizeof(name));
		found = check(c, r, name, height, height, &quiet) == PCTL_OK;
	}
	sqlite3_finalize(stmt);
	if (status == PCTL_OK && !found)
		status =
			r->auth.is_given
				? pctl_refuse(call, PC5847_AUTH_ROLE,
					      "no account with the role `%s` signed the end of "
					      "block %" PRIu64 " of this chain",
					      pctl_account_role_name(PCTL_ROLE_BLOCK), height)
				: pctl_refuse(call, PC5840_AUTH_MISSING,
					      "the end of block %" PRIu64 " is not signed", height);
	return status;
}

pctl_status pctl_authorise_block(pctl_chain *c, const pctl_request *r, const pctl_call *call)
{
	pctl_chain_info info;
	pctl_params p;
	int engines = 1;
	pctl_status status = pctl_chain_last(c, call, &info);

	if (status == PCTL_OK)
		status = pctl_params_in_force(c->state, info.last + 1, call, &p);
	if (status == PCTL_OK && is_signed_for(&p))
		status = is_engines(c, r, call, &engines);
	return status == PCTL_OK && !engines ? check_some(c, r, info.last + 1, call) : status;
}
