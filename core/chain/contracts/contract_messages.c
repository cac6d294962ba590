/* The messages `contract` and `call`, and views; see contracts.h. */
#include "chain/contracts/contracts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "chain/contracts/contract_runtime.h"
#include "chain/data/data.h"
#include "chain/state/amount.h"
#include "chain/state/cursor.h"
#include "foundation/base/num.h"
#include "foundation/base/vec.h"

/* ---- what both ask --------------------------------------------------------------------------- */

uint64_t pctl_contract_gas(const pctl_taking *t, uint64_t fuel)
{
	uint64_t gas;

	return pctl_num_mul(fuel / 1000 + (fuel % 1000 != 0), pctl_contract_price(t), &gas)
		       ? gas
		       : UINT64_MAX;
}

/* The prices are there from here on. */
static pctl_status check_prices(const pctl_taking *t)
{
	const pctl_gas_schedule *schedule;

	if (t->params.values[PCTL_PARAM_CONTRACTS] == 0)
		return pctl_refuse(t->call, PC6115_CONTRACTS_OFF,
				   "the parameter `contracts` is 0 in block %" PRIu64, t->height);
	return pctl_chain_prices(t->c, &t->params, t->call, &schedule);
}

static pctl_status is_there(const pctl_taking *t, const char *cid, int *out)
{
	sqlite3_stmt *stmt = NULL;
	pctl_status status = pctl_cursor_keep(t->s, t->call, &stmt,
					      "SELECT 1 FROM contracts WHERE cid = ?", "t", cid);

	*out = 0;
	if (status == PCTL_OK)
		status = pctl_cursor_next(t->s, stmt, t->call, out);
	pctl_cursor_done(stmt);
	return status;
}

static pctl_status check_there(const pctl_taking *t, const char *cid)
{
	int there;
	pctl_status status = is_there(t, cid, &there);

	return status == PCTL_OK && !there
		       ? pctl_refuse(t->call, PC6130_CONTRACT_UNKNOWN, "no contract %s", cid)
		       : status;
}

/* ---- contract --------------------------------------------------------------------------------- */

pctl_status pctl_contract_price_code(const pctl_taking *t, const pctl_msg_contract *m,
				     uint64_t *out)
{
	pctl_status status = check_prices(t);

	*out = 0;
	if (status == PCTL_OK)
		status = pctl_data_price_kept(t, m->n_code, t->call, out);
	if (status == PCTL_OK &&
	    !pctl_amount_add(out, pctl_contract_gas(t, PCTL_CONTRACT_FUEL_UPLOAD * m->n_code)))
		status = pctl_refuse(t->call, PC5712_LEDGER_OVERFLOW, "the price of a contract");
	return status;
}

static pctl_status pay_for_code(const pctl_taking *t, const pctl_msg_contract *m)
{
	uint64_t gas = 0;
	pctl_status status = pctl_contract_price_code(t, m, &gas);

	t->out->as.contract.gas_used = gas;
	return status == PCTL_OK ? pctl_ledger_pay(t->s, m->sender, gas, 0, t->call) : status;
}

/* That it compiles is the last question: it is the dear one, which only a block asks. */
static pctl_status check_code(const pctl_taking *t, const pctl_msg_contract *m)
{
	pctl_wasm_module *module = NULL;
	pctl_wasm *w;
	pctl_status status;

	if (pctl_chain_only_tries(t->c))
		return PCTL_OK;
	status = pctl_contract_wasm(t->c, t->call, &w);
	if (status == PCTL_OK)
		status = pctl_wasm_compile(w, m->code, (size_t)m->n_code, t->call, &module);
	pctl_wasm_release(module);
	return status;
}

pctl_status pctl_apply_contract(const pctl_taking *t, const pctl_msg_contract *m)
{
	char text[PCTL_CID_TEXT_SIZE];
	int there = 0;
	pctl_cid cid;
	pctl_status status = check_prices(t);

	if (status == PCTL_OK)
		status = pctl_cid_of(m->code, m->n_code, t->call, &cid);
	if (status == PCTL_OK)
		status = is_there(t, pctl_cid_format(&cid, text), &there);
	if (status == PCTL_OK && there)
		status = pctl_refuse(t->call, PC6131_CONTRACT_THERE, "contract %s", text);
	if (status == PCTL_OK)
		status = pay_for_code(t, m);
	if (status == PCTL_OK)
		status = check_code(t, m);
	if (status == PCTL_OK)
		status = pctl_store_put(pctl_chain_keeps(t->c), m->code, m->n_code, t->call, NULL);
	if (status == PCTL_OK)
		status = pctl_cursor_write(t->s, t->call,
					   "INSERT INTO contracts VALUES (?, ?, ?, ?)", "tthh",
					   text, m->sender, t->height, m->n_code);
	if (status != PCTL_OK)
		return status;
	t->out->as.contract.contract = pctl_arena_dup(t->arena, text);
	return t->out->as.contract.contract == NULL ? pctl_no_memory(t->call, "a contract")
						    : PCTL_OK;
}

/* ---- call ------------------------------------------------------------------------------------- */

/* number, total: of the calls of the open block so far. */
typedef struct calling {
	const pctl_taking *t;
	const pctl_msg_call *m;
	uint8_t id[PCTL_DIGEST_BYTES];
	uint64_t number, total, most; /* most: gas of all its fuel */
	pctl_contract_call *c;
	pctl_wasm_run run;
} calling;

static pctl_status read_block(calling *k)
{
	const pctl_taking *t = k->t;
	sqlite3_stmt *stmt = NULL;
	int more = 0;
	pctl_status status = pctl_cursor_keep(
		t->s, t->call, &stmt,
		"SELECT number, total FROM calls WHERE height = ? ORDER BY number DESC LIMIT 1",
		"h", t->height);

	if (status == PCTL_OK)
		status = pctl_cursor_next(t->s, stmt, t->call, &more);
	if (status == PCTL_OK && more) {
		k->number = (uint64_t)sqlite3_column_int64(stmt, 0);
		status = pctl_cursor_amount(stmt, 1, t->call, &k->total);
	}
	pctl_cursor_done(stmt);
	return status;
}

/* What calls of the open block may run together is within what a block may run. */
static pctl_status check_block(calling *k)
{
	const pctl_taking *t = k->t;
	uint64_t budget = 0, all;
	pctl_status status = read_block(k);

	if (status == PCTL_OK)
		status = pctl_params_block_budget(&t->params, t->call, &budget);
	all = k->total;
	if (status == PCTL_OK && (!pctl_amount_add(&all, k->most) || all > budget))
		status = pctl_refuse(t->call, PC6132_CONTRACT_BLOCK,
				     "%" PRIu64 " fuel are %" PRIu64
				     " gas, the calls before it %" PRIu64 ", a block has %" PRIu64,
				     k->m->fuel, k->most, k->total, budget);
	return status;
}

pctl_status pctl_contract_price_call(const pctl_taking *t, const pctl_msg_call *m, uint64_t *out)
{
	const pctl_status status = check_prices(t);

	*out = status == PCTL_OK ? pctl_contract_gas(t, m->fuel) : 0;
	return status;
}

/* Everything that a refusal can say, before anything runs. */
static pctl_status admit(calling *k, const pctl_request *r)
{
	const pctl_taking *t = k->t;
	uint64_t n;
	const uint8_t *bytes = pctl_request_bare(r, &n);
	pctl_status status = pctl_contract_price_call(t, k->m, &k->most);

	if (status == PCTL_OK)
		status = check_there(t, k->m->contract);
	if (status == PCTL_OK)
		status = check_block(k);
	if (status == PCTL_OK)
		status = pctl_job_id(bytes, n, t->height, t->sequence, t->call, k->id);
	if (status == PCTL_OK)
		status = pctl_ledger_reserve(t->s, k->id, k->m->sender, k->most, t->call);
	return status;
}

static pctl_status execute(calling *k)
{
	const pctl_taking *t = k->t;
	pctl_wasm_module *module;
	pctl_status status = pctl_contract_compiled(t->c, k->m->contract, t->call, &module);

	k->run = (pctl_wasm_run){.function = k->m->function,
				 .argument = k->m->argument,
				 .n_argument = k->m->n_argument,
				 .fuel = k->m->fuel};
	if (status == PCTL_OK)
		status = pctl_wasm_call(module, &k->c->host, &k->run, t->call);
	return status;
}

/* A call that is only tried counts as one that used all of its fuel, and takes what it pays: nothing runs that nobody has paid for. */
static pctl_status assume(calling *k)
{
	k->run = (pctl_wasm_run){.used = k->m->fuel};
	return k->m->pay == 0 ? PCTL_OK
			      : pctl_ledger_transfer(k->t->s, k->m->sender, k->m->contract,
						     k->m->pay, k->t->call);
}

/* What a call does is undone where it fails; where the node fails, with the message. */
static pctl_status run_apart(calling *k)
{
	const pctl_taking *t = k->t;
	pctl_status status = pctl_cursor_write(t->s, t->call, "SAVEPOINT calling", "");

	if (status == PCTL_OK && k->m->pay != 0)
		status = pctl_ledger_transfer(t->s, k->m->sender, k->m->contract, k->m->pay,
					      t->call);
	if (status == PCTL_OK)
		status = execute(k);
	if (status != PCTL_OK)
		return status;
	if (k->run.code != 0) {
		pctl_params_forget(t->s);
		status = pctl_cursor_write(t->s, t->call, "ROLLBACK TO calling", "");
		k->c->n_jobs = 0;
	}
	return status == PCTL_OK ? pctl_cursor_write(t->s, t->call, "RELEASE calling", "") : status;
}

static pctl_status keep_row(const calling *k, uint64_t gas)
{
	return pctl_cursor_write(
		k->t->s, k->t->call,
		"INSERT INTO calls (id, height, number, sender, contract, status, code, returned, "
		"fuel, gas, total, paid, jobs) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		"dhhtthhhaaaah", k->id, k->t->height, k->number + 1, k->m->sender, k->m->contract,
		(uint64_t)(k->run.code == 0 ? PCTL_JOB_COMPLETE : PCTL_JOB_FAILED),
		(uint64_t)k->run.code, (uint64_t)(uint32_t)k->run.returned, k->run.used, gas,
		k->total + gas, k->run.code == 0 ? k->m->pay : 0, (uint64_t)k->c->n_jobs);
}

static pctl_status answer(const calling *k, const char *id, uint64_t gas, uint64_t height,
			  pctl_msg_call_response *out)
{
	pctl_arena *a = k->t->arena;

	*out = (pctl_msg_call_response){
		.call_id = pctl_arena_dup(a, id),
		.status = k->run.code == 0 ? PCTL_JOB_COMPLETE : PCTL_JOB_FAILED,
		.returned = (uint32_t)k->run.returned,
		.fuel_used = k->run.used,
		.gas_used = gas,
		.height = height,
		.jobs = k->c->jobs,
		.log = k->c->log,
		.n_jobs = k->c->n_jobs,
		.n_log = k->c->n_log,
		.code = k->run.code,
		.error = pctl_arena_dup(a, k->run.code == 0 ? "" : k->run.words)};
	return out->call_id == NULL || out->error == NULL ? pctl_no_memory(k->t->call, "a call")
							  : PCTL_OK;
}

pctl_status pctl_apply_call(const pctl_taking *t, const pctl_request *r)
{
	const pctl_msg_call *m = &r->as.call;
	calling k = {.t = t, .m = m};
	char id[PCTL_JOB_TEXT_SIZE];
	uint64_t gas;
	pctl_status status = admit(&k, r);

	if (status != PCTL_OK)
		return status;
	k.c = pctl_contract_begin(t, m->contract, m->sender, m->pay);
	if (k.c == NULL)
		return pctl_no_memory(t->call, "a call");
	status = pctl_chain_only_tries(t->c) ? assume(&k) : run_apart(&k);
	if (status != PCTL_OK)
		return status;
	gas = pctl_contract_gas(t, k.run.used);
	status = keep_row(&k, gas);
	return status == PCTL_OK
		       ? answer(&k, pctl_job_id_format(k.id, id), gas, t->height, &t->out->as.call)
		       : status;
}

/* ---- views ------------------------------------------------------------------------------------ */

pctl_status pctl_contract_view(pctl_chain *c, const pctl_msg_call *m, pctl_arena *arena,
			       const pctl_call *call, pctl_msg_call_response *out)
{
	pctl_taking t = {.c = c, .s = c->state, .call = call, .arena = arena};
	calling k = {.t = &t, .m = m};
	pctl_chain_info info;
	pctl_status status = pctl_chain_last(c, call, &info);

	t.height = info.last + 1;
	t.clock = info.clock + 1;
	if (status == PCTL_OK)
		status = pctl_params_in_force(t.s, t.height, call, &t.params);
	if (status == PCTL_OK)
		status = check_prices(&t);
	if (status == PCTL_OK)
		status = check_there(&t, m->contract);
	if (status == PCTL_OK && m->height != 0 && m->height != info.last)
		status = pctl_refuse(call, PC6133_CONTRACT_VIEW,
				     "the last finished block is %" PRIu64 ", not %" PRIu64,
				     info.last, m->height);
	if (status == PCTL_OK && m->fuel > PCTL_CONTRACT_VIEW_FUEL)
		status = pctl_refuse(call, PC6133_CONTRACT_VIEW,
				     "%" PRIu64 " fuel, a view has at most %" PRIu64, m->fuel,
				     PCTL_CONTRACT_VIEW_FUEL);
	if (status != PCTL_OK)
		return status;
	k.c = pctl_contract_begin(&t, m->contract, NULL, 0);
	if (k.c == NULL)
		return pctl_no_memory(call, "a view");
	status = execute(&k);
	return status == PCTL_OK ? answer(&k, "", 0, info.last, out) : status;
}

/* ---- the end of a block ------------------------------------------------------------------------ */

typedef struct due {
	uint8_t id[PCTL_DIGEST_BYTES];
	uint64_t gas;
} due;

static pctl_status settle_all(pctl_ledger_tab *tab, const char *executor, const due *calls,
			      size_t n, const pctl_call *call)
{
	pctl_ledger_split split;
	pctl_status status = PCTL_OK;

	for (size_t i = 0; status == PCTL_OK && i < n; i++)
		status = pctl_ledger_tab_settle(tab, calls[i].id, calls[i].gas, executor, call,
						&split);
	return status;
}

pctl_status pctl_contracts_settle(pctl_chain_state *s, pctl_ledger_tab *tab, uint64_t height,
				  const char *executor, const pctl_call *call)
{
	PCTL_VEC(due) calls = {0};
	sqlite3_stmt *stmt = NULL;
	int more = 0;
	pctl_status status = pctl_cursor_open(
		s, call, &stmt, "SELECT id, gas FROM calls WHERE height = ? ORDER BY number", "h",
		height);

	while (status == PCTL_OK && (status = pctl_cursor_next(s, stmt, call, &more)) == PCTL_OK &&
	       more) {
		due one = {.gas = 0};

		if (sqlite3_column_bytes(stmt, 0) == PCTL_DIGEST_BYTES)
			memcpy(one.id, sqlite3_column_blob(stmt, 0), PCTL_DIGEST_BYTES);
		status = pctl_cursor_amount(stmt, 1, call, &one.gas);
		if (status == PCTL_OK && !PCTL_VEC_PUSH(&calls, one))
			status = pctl_no_memory(call, "a block");
	}
	sqlite3_finalize(stmt);
	if (status == PCTL_OK)
		status = settle_all(tab, executor, calls.items, calls.n, call);
	free(calls.items);
	return status;
}
