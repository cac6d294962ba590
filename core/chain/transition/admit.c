/* The few questions that a message is asked before it is in a block; see admit.h. */
#include "chain/transition/admit.h"

#include <inttypes.h>
#include <string.h>

#include "chain/accounts/account.h"
#include "chain/data/data.h"
#include "chain/fee.h"
#include "chain/state/amount.h"
#include "chain/transition/authorise.h"

/* ---- what it takes ------------------------------------------------------------------------- */

static pctl_status add(const pctl_taking *t, uint64_t *sum, uint64_t more)
{
	return pctl_amount_add(sum, more) ? PCTL_OK
					  : pctl_refuse(t->call, PC5712_LEDGER_OVERFLOW,
							"what the message takes is 2^64 or more");
}

/* What a message takes of its sender's balance at once, beside its fee, in so far as its bytes say it. */
static pctl_status takes(const pctl_taking *t, const pctl_request *r, pctl_admission *out)
{
	const uint64_t *v = t->params.values;
	uint64_t more = 0;
	pctl_status status = PCTL_OK;

	switch (r->kind) {
	case PCTL_MSG_EXECUTE:
		out->gas = out->takes = r->as.execute.gas_limit;
		more = r->as.execute.tip;
		break;
	case PCTL_MSG_CALL:
		status = pctl_contract_price_call(t, &r->as.call, &out->gas);
		out->takes = out->gas;
		more = r->as.call.pay;
		break;
	case PCTL_MSG_CONTRACT:
		return pctl_contract_price_code(t, &r->as.contract, &out->takes);
	case PCTL_MSG_BLOB:
		return pctl_data_price(t, r->as.blob.n_data, r->as.blob.blocks, t->call,
				       &out->takes);
	case PCTL_MSG_LEDGER:
		more = r->as.ledger.op == PCTL_LEDGER_TRANSFER ||
				       r->as.ledger.op == PCTL_LEDGER_BOND
			       ? r->as.ledger.amount
			       : 0;
		break;
	case PCTL_MSG_NAME:
		more = r->as.name.op == PCTL_NAME_ALIAS ? v[PCTL_PARAM_ALIAS_COST] : 0;
		break;
	case PCTL_MSG_LINK:
		more = r->as.link.is_taken ? 0 : v[PCTL_PARAM_LINK_COST];
		break;
	case PCTL_MSG_VERDICT:
		more = v[PCTL_PARAM_DISPUTE_DEPOSIT];
		break;
	default:
		break;
	}
	return status == PCTL_OK ? add(t, &out->takes, more) : status;
}

static pctl_status check_funds(const pctl_taking *t, const pctl_request *r, uint64_t taken,
			       pctl_admission *out)
{
	pctl_ledger_account a = {.balance = 0};
	uint64_t fee = 0, has;
	pctl_status status = pctl_ledger_account_read(t->s, out->sender, NULL, &a);

	if (status != PCTL_OK && status != PCTL_E_NOT_FOUND && status != PCTL_E_INVALID)
		return pctl_ledger_account_read(t->s, out->sender, t->call, &a);
	has = taken < a.balance ? a.balance - taken : 0;
	status = takes(t, r, out);
	if (status == PCTL_OK && pctl_fee_is_due(t, PCTL_ORIGIN_MESSAGE))
		status = pctl_fee_price(t, r, &fee);
	if (status == PCTL_OK && fee > has)
		return pctl_refuse(t->call, PC5869_MESSAGE_FEE,
				   "the message costs %" PRIu64 " gas, %s has %" PRIu64, fee,
				   out->sender, has);
	if (status == PCTL_OK)
		status = add(t, &out->takes, fee);
	if (status == PCTL_OK && out->takes > has)
		return pctl_refuse(t->call, PC5713_LEDGER_FUNDS,
				   "%s has %" PRIu64 " gas that no message before this one takes, "
				   "it takes %" PRIu64,
				   out->sender, has, out->takes);
	return status;
}

/* ---- all of it ----------------------------------------------------------------------------- */

pctl_status pctl_chain_admit(pctl_chain *c, const pctl_request *r, uint64_t number, uint64_t taken,
			     const pctl_call *call, pctl_admission *out)
{
	const char *sender = pctl_request_sender(r);
	pctl_taking t = {.c = c, .s = c->state, .call = call};
	pctl_chain_info info;
	pctl_status status;

	memset(out, 0, sizeof(*out));
	if (sender == NULL)
		return pctl_refuse(call, PC5826_CHAIN_MESSAGE,
				   "a message of kind %u changes no state", r->kind);
	status = pctl_chain_last(c, call, &info);
	t.height = info.last + 1;
	t.clock = info.clock + 1;
	if (status == PCTL_OK)
		status = pctl_params_in_force(t.s, t.height, call, &t.params);
	if (status == PCTL_OK)
		status = pctl_chain_follows(c, &t.params, t.height, call);
	if (status == PCTL_OK)
		status = pctl_account_sequence(t.s, sender, call, &t.sequence);
	if (status == PCTL_OK && t.sequence < number)
		t.sequence = number;
	if (status == PCTL_OK)
		status = pctl_authorise(&t, r, PCTL_ORIGIN_MESSAGE);
	if (status != PCTL_OK)
		return status;
	/* Who is authorised has a name that fits. */
	memcpy(out->sender, sender, strlen(sender) + 1);
	out->nonce = r->auth.nonce;
	return check_funds(&t, r, taken, out);
}
