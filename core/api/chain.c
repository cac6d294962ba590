/* The chain: opening it, accounts, ending, showing and verifying blocks; see pipectl/chain.h. */
#include <stdlib.h>
#include <string.h>

#include "api/chain_private.h"
#include "chain/replay/verify.h"
#include "foundation/base/clock.h"

pctl_status pipectl_chain_text(pctl_arena *arena, const pctl_call *call, const char *text,
			       const char **out)
{
	*out = pctl_arena_dup(arena, text);
	return *out == NULL ? pctl_no_memory(call, "a text") : PCTL_OK;
}

pctl_status pipectl_chain_begin(pipectl_chain *c, const char *phase, int sends)
{
	pctl_status status = pipectl_begin(c->p, NULL, phase);

	pctl_arena_clear(c->said);
	if (status == PCTL_OK && sends && c->account == NULL)
		status = pipectl_misused(&c->p->call,
					 "the chain was opened without an account, so that nobody "
					 "sends a message");
	return status;
}

/* ---- devices, and progress of what they are given ------------------------------------------ */

static void tell(const pipectl_chain *c)
{
	const pctl_progress now = {.stage = "run",
				   .device = c->devices.describe(c->devices.ctx),
				   .unit = "jobs",
				   .done = c->done,
				   .total = c->total,
				   .elapsed_ns = pctl_clock_ns() - c->begun_ns};

	pipectl_tell(c->p, &now);
}

static void pass_diagnostic(void *ctx, const pctl_diag *d)
{
	const pctl_call *call = &((pipectl_chain *)ctx)->p->call;

	call->diag(call->ctx, d);
}

/* Asked at least every 100 ms while a device is waited for, which is as often as progress is told. */
static uint32_t tell_and_ask(void *ctx)
{
	const pipectl_chain *c = ctx;

	tell(c);
	return c->p->call.cancelled(c->p->call.ctx);
}

static pctl_status run_told(void *ctx, const pctl_task *tasks, uint32_t n, const pctl_call *call)
{
	pipectl_chain *c = ctx;
	pctl_call told = *call;
	pctl_status status;

	/* Of verification, which counts blocks itself, nothing is told here. */
	if (c->begun_ns == 0)
		return c->devices.run(c->devices.ctx, tasks, n, call);
	told.ctx = c;
	told.diag = pass_diagnostic;
	told.cancelled = tell_and_ask;
	tell(c);
	status = c->devices.run(c->devices.ctx, tasks, n, &told);
	c->done += status == PCTL_OK ? n : 0;
	tell(c);
	return status;
}

static const char *describe_devices(void *ctx)
{
	const pipectl_chain *c = ctx;

	return c->devices.describe(c->devices.ctx);
}

static pctl_status open_devices(pipectl_chain *c)
{
	pctl_run_options run;
	pctl_status status;

	if (c->devices.run != NULL)
		return PCTL_OK;
	status = pctl_request_run_options(&c->p->host, &c->request, &c->p->call, &run);
	if (status == PCTL_OK)
		status = pctl_home_executor(&run, NULL, &c->p->call, &c->devices);
	if (status != PCTL_OK) {
		pctl_executor_close(&c->devices);
		c->devices = (pctl_executor){.run = NULL};
	}
	return status;
}

/* ---- opening ------------------------------------------------------------------------------- */

static pctl_status take_options(pipectl_chain *c, const pipectl_chain_options *options)
{
	pctl_run_request *q = &c->request;
	const pctl_call *call = &c->p->call;
	pipectl_chain_options o;
	const char **backends;
	pctl_status status = PIPECTL_TAKE(call, &o, options);

	if (status != PCTL_OK)
		return status;
	if (o.verify_ppm > 1000000)
		return pipectl_misused(call, "verify_ppm is more than 1000000");
	if (o.n_backends != 0 && o.backends == NULL)
		return pipectl_misused(call, "backends are counted, and there are none");
	backends = pctl_arena_array(c->arena, o.n_backends, sizeof(*backends));
	if (backends == NULL)
		return pctl_no_memory(call, "a chain");
	for (uint32_t i = 0; status == PCTL_OK && i < o.n_backends; i++)
		status = pipectl_chain_text(c->arena, call, o.backends[i], &backends[i]);
	q->backends = backends;
	q->n_backends = o.n_backends;
	q->verify_ppm = o.verify_ppm;
	q->flags = c->p->asked.flags & PIPECTL_DEBUG ? PCTL_RUN_DEBUG : 0;
	if (status == PCTL_OK && o.account != NULL)
		status = pctl_ledger_check_name(o.account, call);
	return status == PCTL_OK && o.account != NULL
		       ? pipectl_chain_text(c->arena, call, o.account, &c->account)
		       : status;
}

static pctl_status open_chain(pipectl_chain *c, const pipectl_chain_options *options)
{
	pctl_status status = take_options(c, options);

	c->executor = (pctl_executor){.run = run_told, .describe = describe_devices, .ctx = c};
	if (status == PCTL_OK)
		status = pctl_home_chain(&c->p->host, &c->executor, &c->p->call, &c->chain);
	if (status != PCTL_OK)
		return status;
	c->signing = (pctl_home_signing){&c->p->host, c->chain, &c->executor, &c->p->call};
	pctl_home_sign_blocks(&c->signing);
	return PCTL_OK;
}

pctl_status pipectl_chain_open(pipectl *p, const pipectl_chain_options *options,
			       pipectl_chain **out)
{
	pctl_status status = pipectl_begin(p, NULL, NULL);
	pipectl_chain *c;

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	c = calloc(1, sizeof(*c));
	if (c == NULL || (c->arena = pctl_arena_create()) == NULL ||
	    (c->said = pctl_arena_create()) == NULL) {
		pipectl_chain_close(c);
		return pctl_no_memory(&p->call, "a chain");
	}
	c->p = p;
	status = pipectl_end(p, open_chain(c, options));
	if (status == PCTL_OK)
		*out = c;
	else
		pipectl_chain_close(c);
	return status;
}

void pipectl_chain_close(pipectl_chain *c)
{
	if (c == NULL)
		return;
	pctl_chain_close(c->chain);
	pctl_executor_close(&c->devices);
	pctl_arena_destroy(c->said);
	pctl_arena_destroy(c->arena);
	free(c);
}

/* ---- accounts ------------------------------------------------------------------------------ */

static pctl_status give_account(pipectl_chain *c, const char *name, pipectl_account *out)
{
	const pctl_call *call = &c->p->call;
	pipectl_account a = {.head = PCTL_HEAD(pipectl_account)};
	pctl_ledger_account row;
	pctl_status status = pctl_ledger_account_read(pctl_cursor(c->chain), name, call, &row);

	if (status == PCTL_OK)
		status = pipectl_chain_text(c->said, call, row.name, &a.name);
	if (status != PCTL_OK)
		return status;
	a.balance = row.balance;
	a.reserved = row.reserved;
	a.bond = row.bond;
	return PIPECTL_GIVE(call, out, &a);
}

pctl_status pipectl_chain_balance(pipectl_chain *c, const char *account, pipectl_account *out)
{
	pctl_status status = pipectl_chain_begin(c, NULL, account == NULL);

	if (status == PCTL_OK)
		status = give_account(c, account == NULL ? c->account : account, out);
	return pipectl_end(c->p, status);
}

pctl_status pipectl_chain_credit(pipectl_chain *c, const char *account, uint64_t amount,
				 pipectl_account *out)
{
	pctl_status status = pipectl_chain_begin(c, NULL, account == NULL);
	const char *to = account == NULL ? c->account : account;
	const pctl_request r = {
		.kind = PCTL_MSG_LEDGER,
		.as.ledger = {.sender = to, .op = PCTL_LEDGER_CREDIT, .to = to, .amount = amount}};

	if (status == PCTL_OK)
		status = pctl_ledger_check_name(to, &c->p->call);
	if (status == PCTL_OK && amount == 0)
		status = pctl_refuse(&c->p->call, PC5711_LEDGER_AMOUNT, "0 is no amount of gas");
	if (status == PCTL_OK)
		status = pctl_chain_apply(c->chain, &r, &c->p->call, NULL);
	if (status == PCTL_OK)
		status = give_account(c, to, out);
	return pipectl_end(c->p, status);
}

/* ---- blocks -------------------------------------------------------------------------------- */

static pctl_status give_block(pipectl_chain *c, const pctl_block_row *row, pipectl_block *out)
{
	const pctl_call *call = &c->p->call;
	char root[PCTL_JOB_TEXT_SIZE], commit[PCTL_GITLOG_OID_TEXT_SIZE];
	pipectl_block b = {.head = PCTL_HEAD(pipectl_block),
			   .height = row->height,
			   .first_clock = row->first_clock,
			   .final_clock = row->clock,
			   .complete = row->complete,
			   .failed = row->failed,
			   .deferred = row->deferred,
			   .messages = row->messages,
			   .gas = row->gas};
	pctl_status status = pipectl_chain_text(c->said, call, row->executor, &b.executor);

	if (status == PCTL_OK)
		status = pipectl_chain_text(c->said, call, pctl_job_id_format(row->root, root),
					    &b.state_root);
	if (status == PCTL_OK)
		status = pipectl_chain_text(
			c->said, call, pctl_gitlog_oid_format(&row->commit, commit), &b.commit);
	return status == PCTL_OK ? PIPECTL_GIVE(call, out, &b) : status;
}

static pctl_status end_block(pipectl_chain *c, const char *executor, pipectl_block *out)
{
	const pctl_request r = {.kind = PCTL_MSG_BLOCK_END, .as.block = {.executor = executor}};
	const pctl_call *call = &c->p->call;
	pctl_chain_info info;
	pctl_block_row row;
	pctl_status status = open_devices(c);

	if (status == PCTL_OK)
		status = pctl_chain_info_read(c->chain, call, &info);
	if (status != PCTL_OK)
		return status;
	c->done = 0;
	c->total = info.n_pending;
	c->begun_ns = pctl_clock_ns();
	status = pctl_chain_end_block(c->chain, &r, call, NULL);
	c->begun_ns = 0;
	if (status == PCTL_OK)
		status = pctl_home_block(c->chain, 0, call, &row);
	return status == PCTL_OK ? give_block(c, &row, out) : status;
}

pctl_status pipectl_chain_block_end(pipectl_chain *c, const char *executor, pipectl_block *out)
{
	pctl_status status = pipectl_chain_begin(c, "block", 0);

	return pipectl_end(c->p, status == PCTL_OK ? end_block(c, executor, out) : status);
}

pctl_status pipectl_chain_block_read(pipectl_chain *c, uint64_t height, pipectl_block *out)
{
	pctl_block_row row;
	pctl_status status = pipectl_chain_begin(c, NULL, 0);

	if (status == PCTL_OK)
		status = pctl_home_block(c->chain, height, &c->p->call, &row);
	if (status == PCTL_OK)
		status = give_block(c, &row, out);
	return pipectl_end(c->p, status);
}

/* ---- verification -------------------------------------------------------------------------- */

static pctl_status verify(pipectl_chain *c, uint64_t from, uint64_t to, pctl_replay_report *report)
{
	pctl_verify_options o = {.from = from,
				 .to = to,
				 .kernels = c->p->host.kernels,
				 .executor = &c->executor,
				 .progress = {pipectl_tell, c->p},
				 .deep = 1};
	pctl_executor reference = {.run = NULL};
	pctl_run_options run;
	pctl_status status = open_devices(c);

	if (status == PCTL_OK)
		status = pctl_request_run_options(&c->p->host, &c->request, &c->p->call, &run);
	if (status == PCTL_OK)
		status = pctl_home_executor(&run, PCTL_REFERENCE, &c->p->call, &reference);
	o.reference = &reference;
	if (status == PCTL_OK)
		status = pctl_verify_blocks(c->chain, &o, &c->p->call, report);
	pctl_executor_close(&reference);
	return status;
}

pctl_status pipectl_chain_verify(pipectl_chain *c, uint64_t from, uint64_t to, pipectl_verdict *out)
{
	pipectl_verdict v = {.head = PCTL_HEAD(pipectl_verdict)};
	pctl_replay_report report = {.blocks = 0};
	pctl_status status = pipectl_chain_begin(c, "verify", 0), given;

	if (status == PCTL_OK)
		status = verify(c, from, to, &report);
	status = pipectl_end(c->p, status);
	v.agreed = status == PCTL_OK;
	v.blocks = report.blocks;
	v.messages = report.messages;
	v.jobs = report.jobs;
	v.executed = report.executed;
	for (uint32_t i = 0; c->p->said != NULL && i < pctl_diag_list_count(c->p->said); i++) {
		const pctl_diag *d = pctl_diag_list_at(c->p->said, i);

		if (v.agreed || v.code != 0 || d->severity != PCTL_SEVERITY_ERROR)
			continue;
		v.code = d->code;
		v.difference = pctl_arena_dup(c->said, d->message);
	}
	given = PIPECTL_GIVE(&c->p->call, out, &v);
	return status == PCTL_OK ? given : status;
}
