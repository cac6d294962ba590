/* See fee.h. */
#include "chain/fee.h"

#include <inttypes.h>

#include "chain/state/amount.h"

int pctl_fee_is_due(const pctl_taking *t, uint32_t origin)
{
	return origin == PCTL_ORIGIN_MESSAGE && pctl_params_has_stakes(&t->params) &&
	       t->params.values[PCTL_PARAM_FEE_PPM] != 0;
}

static uint64_t part_of(const pctl_taking *t, uint64_t gas)
{
	return pctl_amount_part(gas, t->params.values[PCTL_PARAM_FEE_PPM]);
}

/* 0 for an account that is not there. */
static uint64_t balance_of(const pctl_taking *t, const char *sender)
{
	pctl_ledger_account a = {.balance = 0};

	return pctl_ledger_account_read(t->s, sender, NULL, &a) == PCTL_OK ? a.balance : 0;
}

static pctl_status pay(const pctl_taking *t, const char *sender, uint64_t gas, int uses_number,
		       const char *what)
{
	pctl_ledger_account a = {.balance = 0};
	const uint64_t has =
		pctl_ledger_account_read(t->s, sender, NULL, &a) == PCTL_OK ? a.balance : 0;

	if (gas > has)
		return pctl_refuse(t->call, PC5869_MESSAGE_FEE,
				   "%s costs %" PRIu64 " gas, %s has %" PRIu64, what, gas, sender,
				   has);
	return gas == 0 ? PCTL_OK : pctl_ledger_burn(t->s, &a, gas, uses_number, t->call);
}

static pctl_gas_message priced(const pctl_request *r)
{
	pctl_gas_message m = {.beside = PCTL_GAS_WEIGHTS};

	(void)pctl_request_bytes(r, &m.n_bytes);
	switch (r->kind) {
	case PCTL_MSG_UPLOAD:
		m.beside = PCTL_GAS_UPLOAD;
		m.source_bytes = r->as.upload.n_source;
		break;
	case PCTL_MSG_LINK:
		m.beside = PCTL_GAS_LINK;
		break;
	case PCTL_MSG_NAME:
		m.beside = r->as.name.op == PCTL_NAME_ALIAS ? PCTL_GAS_ALIAS : m.beside;
		break;
	default:
		break;
	}
	return m;
}

pctl_status pctl_fee_price(const pctl_taking *t, const pctl_request *r, uint64_t *out)
{
	const pctl_gas_message m = priced(r);
	const pctl_gas_schedule *schedule;
	pctl_status status = pctl_chain_prices(t->c, &t->params, t->call, &schedule);

	*out = 0;
	if (status == PCTL_OK)
		status = pctl_gas_of_message(schedule, &m, t->call, out);
	*out = part_of(t, *out);
	return status;
}

pctl_status pctl_fee_take(const pctl_taking *t, const pctl_request *r, uint64_t *out)
{
	pctl_status status = pctl_fee_price(t, r, out);

	if (status == PCTL_OK)
		status = pay(t, pctl_request_sender(r), *out, 1, "the message");
	if (status != PCTL_OK)
		*out = 0;
	return status;
}

pctl_status pctl_fee_refusal(const pctl_taking *t, const char *sender, uint64_t *out)
{
	const uint64_t has = balance_of(t, sender);
	const pctl_gas_schedule *schedule;
	pctl_status status = pctl_chain_prices(t->c, &t->params, t->call, &schedule);

	*out = 0;
	if (status == PCTL_OK)
		status = pctl_gas_refusal(schedule, t->call, out);
	if (status != PCTL_OK)
		return status;
	*out = part_of(t, *out);
	*out = *out < has ? *out : has;
	return pay(t, sender, *out, 0, "the refusal");
}

pctl_status pctl_fee_build(const pctl_taking *t, const char *sender, uint64_t n,
			   uint64_t instructions)
{
	const pctl_gas_schedule *schedule;
	uint64_t gas = 0;
	pctl_status status = pctl_chain_prices(t->c, &t->params, t->call, &schedule);

	if (status == PCTL_OK)
		status = pctl_gas_build(schedule, n, instructions, t->call, &gas);
	return status == PCTL_OK ? pay(t, sender, part_of(t, gas), 0, "the shader") : status;
}
