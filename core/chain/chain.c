/* Opening and closing a chain, what it is made of, and batches of messages. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/accounts/verify.h"
#include "chain/chain_private.h"
#include "chain/executor/executing.h"
#include "chain/state/amount.h"
#include "chain/state/cursor.h"
#include "foundation/tensorfile/threads.h"

/* ---- opening ------------------------------------------------------------------------------- */

static pctl_status seed(pctl_chain *c, const pctl_chain_options *o, const pctl_call *call)
{
	pctl_params genesis;
	int is_seeded = 0;
	pctl_status status = pctl_chain_is_restoring(c->state, call, &is_seeded);

	if (status == PCTL_OK && is_seeded)
		return pctl_refuse(call, PC6149_SNAPSHOT_HOME,
				   "a snapshot is being restored here and has not come to its end");
	if (status == PCTL_OK)
		status = pctl_params_is_seeded(c->state, call, &is_seeded);
	if (status != PCTL_OK || is_seeded)
		return status;
	if (o->genesis != NULL)
		genesis = *o->genesis;
	else
		status = o->seed != NULL
				 ? o->seed(o->seed_ctx, call, &genesis)
				 : pctl_refuse(call, PC5723_PARAM_SEED,
					       "the state has no parameters and none were given");
	if (status != PCTL_OK)
		return status;
	status = pctl_chain_begin(c->state, call);
	/* another process may have been first since */
	if (status == PCTL_OK)
		status = pctl_params_is_seeded(c->state, call, &is_seeded);
	if (status == PCTL_OK && !is_seeded)
		status = pctl_params_seed(c->state, &genesis, call);
	if (status == PCTL_OK)
		status = pctl_chain_commit(c->state, call);
	if (status != PCTL_OK)
		pctl_chain_rollback(c->state);
	return status;
}

static pctl_status open_log(pctl_chain *c, const char *dir, int is_reader, const pctl_call *call)
{
	char path[4096];
	pctl_chain_info info;
	int is_restoring = 0; /* then rows name blocks that no log has */
	pctl_status status;

	if ((size_t)snprintf(path, sizeof(path), "%s/blocks.git", dir) >= sizeof(path))
		return pctl_refuse(call, PC5751_GITLOG_IO, "%s: the path is too long", dir);
	status = pctl_gitlog_open(path, call, &c->log);
	if (status != PCTL_OK || is_reader)
		return status;
	status = pctl_chain_info_read(c, call, &info);
	if (status == PCTL_OK)
		status = pctl_chain_is_restoring(c->state, call, &is_restoring);
	if (status == PCTL_OK)
		status = pctl_gitlog_repair(
			c->log, info.last == 0 || is_restoring ? NULL : &info.commit, call);
	return status;
}

pctl_status pctl_chain_open(const pctl_chain_options *o, const pctl_call *call, pctl_chain **out)
{
	pctl_chain *c = calloc(1, sizeof(*c));
	pctl_status status = PCTL_OK;

	*out = NULL;
	if (c == NULL) {
		pctl_executor reference = o->reference;

		pctl_executor_close(&reference);
		return pctl_no_memory(call, "the chain");
	}
	c->store = o->store;
	c->kernels = o->kernels;
	c->executor = o->executor;
	c->made = o->made;
	c->reference = o->reference;
	c->arena = pctl_arena_create();
	c->texts = pctl_arena_create();
	c->sources = pctl_map_create();
	if (c->arena == NULL || c->texts == NULL || c->sources == NULL)
		status = pctl_no_memory(call, "the chain");
	if (status == PCTL_OK)
		status = pctl_verified_create(call, &c->verified);
	if (status == PCTL_OK && o->dir != NULL) {
		c->dir = pctl_arena_dup(c->arena, o->dir);
		if (c->dir == NULL)
			status = pctl_no_memory(call, "the chain");
	}
	if (status == PCTL_OK && o->wasm != NULL) {
		c->wasm = pctl_arena_dup(c->arena, o->wasm);
		if (c->wasm == NULL)
			status = pctl_no_memory(call, "the chain");
	}
	if (status == PCTL_OK)
		status = o->dir == NULL ? pctl_chain_state_open_memory(call, &c->state)
					: pctl_chain_state_open(o->dir, call, &c->state);
	if (status == PCTL_OK && !o->is_bare && !o->is_reader)
		status = seed(c, o, call);
	if (status == PCTL_OK && o->dir != NULL)
		status = open_log(c, o->dir, o->is_reader != 0, call);
	if (status == PCTL_OK)
		*out = c;
	else
		pctl_chain_close(c);
	return status;
}

void pctl_chain_close(pctl_chain *c)
{
	if (c == NULL)
		return;
	pctl_chain_close(c->reader);
	pctl_store_close(c->reader_store);
	if (c->state != NULL)
		pctl_chain_rollback(c->state);
	(void)pctl_chain_bring_end(
		c, NULL); /* of a batch that nobody ended: garbage that a later gc finds */
	if (!c->shares_verified)
		pctl_verified_destroy(c->verified);
	pctl_store_close(c->attempted);
	pctl_gas_schedule_destroy(c->schedule);
	pctl_gitlog_close(c->log);
	pctl_chain_state_close(c->state);
	pctl_chain_evidence_end(c);
	pctl_contract_runtime_close(c->contracts);
	pctl_map_destroy(c->units);
	pctl_map_destroy(c->sources);
	pctl_arena_destroy(c->texts);
	pctl_arena_destroy(c->arena);
	pctl_executor_close(&c->reference);
	free(c);
}

pctl_status pctl_chain_forget_shaders(pctl_chain *c, uint32_t most, const pctl_call *call)
{
	pctl_arena *texts;
	pctl_map *sources;
	pctl_status status;

	if (pctl_kernels_kept(c->kernels) <= most && pctl_map_count(c->sources) <= most &&
	    pctl_kernels_kept_bytes(c->kernels) + c->source_bytes <=
		    (uint64_t)most * PCTL_CHAIN_SHADER_BYTES)
		return PCTL_OK;
	texts = pctl_arena_create();
	sources = pctl_map_create();
	status = texts == NULL || sources == NULL ? pctl_no_memory(call, "a chain")
						  : pctl_kernels_forget(c->kernels, call);
	if (status != PCTL_OK) {
		pctl_arena_destroy(texts);
		pctl_map_destroy(sources);
		return status;
	}
	pctl_map_destroy(c->sources);
	pctl_arena_destroy(c->texts);
	c->sources = sources;
	c->texts = texts;
	c->source_bytes = 0;
	return PCTL_OK;
}

pctl_status pctl_chain_reader(pctl_chain *c, const pctl_call *call, pctl_chain **out)
{
	pctl_chain_options o = {.dir = c->dir, .is_reader = 1};
	const char *store = pctl_store_path(c->store);
	pctl_status status = PCTL_OK;

	*out = c->reader;
	if (c->reader != NULL || c->dir == NULL || strcmp(store, "memory") == 0)
		return PCTL_OK;
	if (c->reader_store == NULL)
		status = pctl_store_open(store, PCTL_STORE_READ_ONLY, call, &c->reader_store);
	o.store = c->reader_store;
	if (status == PCTL_OK)
		status = pctl_chain_open(&o, call, &c->reader);
	/* What the one found right the other need not compute. */
	if (status == PCTL_OK) {
		pctl_verified_destroy(c->reader->verified);
		c->reader->verified = c->verified;
		c->reader->shares_verified = 1;
		c->reader->rules_known = c->rules_known;
	}
	*out = c->reader;
	return status;
}

pctl_status pctl_chain_open_apart(const pctl_chain *c, const pctl_call *call, pctl_chain **out,
				  pctl_store **store)
{
	pctl_chain_options o = {.dir = c->dir, .is_reader = 1};
	const char *path = pctl_store_path(c->store);
	pctl_status status;

	*out = NULL;
	*store = NULL;
	if (c->dir == NULL || strcmp(path, "memory") == 0)
		return pctl_refuse(call, PC5701_CHAIN_STATE, "a chain in memory has one reader");
	status = pctl_store_open(path, PCTL_STORE_READ_ONLY, call, store);
	o.store = *store;
	return status == PCTL_OK ? pctl_chain_open(&o, call, out) : status;
}

/* ---- ahead --------------------------------------------------------------------------------- */

#define AHEAD_STEP 8u /* messages of one turn of a thread */

typedef struct ahead {
	pctl_chain *c;
	const pctl_request *const *requests;
	const pctl_msg_bytes *messages;
} ahead;

/* Of what is not right or cannot be looked at nothing is kept: it is said where the message is taken in. */
static void verify_one(pctl_chain *c, const pctl_request *r)
{
	uint32_t bad;

	if (r->auth.is_given && pctl_request_sender(r) != NULL)
		(void)pctl_verified_check(c->verified, r, NULL, &bad);
}

static uint64_t verify_some(void *ctx, uint64_t first, uint64_t n)
{
	const ahead *a = ctx;

	for (uint64_t i = first; i < first + n; i++)
		verify_one(a->c, a->requests[i]);
	return UINT64_MAX;
}

static uint64_t verify_bytes(void *ctx, uint64_t first, uint64_t n)
{
	const ahead *a = ctx;

	for (uint64_t i = first; i < first + n; i++) {
		const pctl_msg_bytes *m = &a->messages[i];
		pctl_request r;

		if (pctl_verified_knows(a->c->verified, m->data, m->n) ||
		    pctl_request_decode(m->data, m->n, NULL, &r) != PCTL_OK)
			continue;
		verify_one(a->c, &r);
		pctl_request_destroy(&r);
	}
	return UINT64_MAX;
}

void pctl_chain_ahead(pctl_chain *c, const pctl_request *const *requests, uint32_t n)
{
	ahead a = {.c = c, .requests = requests};

	(void)pctl_threads_run(n, AHEAD_STEP, verify_some, &a);
}

void pctl_chain_ahead_bytes(pctl_chain *c, const pctl_msg_bytes *messages, uint32_t n)
{
	ahead a = {.c = c, .messages = messages};

	(void)pctl_threads_run(n, AHEAD_STEP, verify_bytes, &a);
}

/* ---- parts --------------------------------------------------------------------------------- */

pctl_chain_state *pctl_cursor(pctl_chain *c)
{
	return c->state;
}

uint32_t pctl_chain_job_status(const pctl_chain *c, const pctl_chain_job *job)
{
	return job->status == PCTL_JOB_PENDING && pctl_executing_has(c->dir, job->id)
		       ? PCTL_JOB_EXECUTING
		       : job->status;
}

pctl_gitlog *pctl_chain_log(pctl_chain *c)
{
	return c->log;
}

pctl_store *pctl_chain_store(pctl_chain *c)
{
	return c->store;
}

pctl_store *pctl_chain_keeps(const pctl_chain *c)
{
	return c->attempted != NULL ? c->attempted : c->store;
}

int pctl_chain_only_tries(const pctl_chain *c)
{
	return c->attempted != NULL;
}

const pctl_executor *pctl_chain_executor(const pctl_chain *c)
{
	return c->executor;
}

const pctl_executor *pctl_chain_reference(const pctl_chain *c)
{
	return c->reference.run == NULL ? NULL : &c->reference;
}

void pctl_chain_set_known(pctl_chain *c, pctl_known_result_fn known, void *ctx)
{
	c->known = known;
	c->known_ctx = ctx;
}

void pctl_chain_set_fetch(pctl_chain *c, pctl_fetch_fn fetch, void *ctx)
{
	c->fetch = fetch;
	c->fetch_ctx = ctx;
}

void pctl_chain_set_record(pctl_chain *c, pctl_chain_record_fn record, void *ctx)
{
	c->record = record;
	c->record_ctx = ctx;
}

void pctl_chain_set_report(pctl_chain *c, void (*report)(void *, uint32_t, const char *), void *ctx)
{
	c->report = report;
	c->report_ctx = ctx;
}

/* ---- the pace ------------------------------------------------------------------------------ */

void pctl_chain_set_pace(pctl_chain *c, uint64_t gas_per_ms, int abstains)
{
	c->gas_per_ms = gas_per_ms;
	c->abstains = abstains != 0;
}

void pctl_chain_set_rules(pctl_chain *c, uint64_t newest)
{
	c->rules_known = newest;
}

/* Whether a vote turns contracts on for a later block. */
static pctl_status takes_later(pctl_chain *c, uint64_t height, const pctl_call *call, int *out)
{
	sqlite3_stmt *stmt = NULL;
	pctl_status status = pctl_cursor_open(
		c->state, call, &stmt,
		"SELECT 1 FROM params WHERE name = 'contracts' AND value = '1' AND height > ?", "h",
		height);

	if (status == PCTL_OK)
		status = pctl_cursor_next(c->state, stmt, call, out);
	sqlite3_finalize(stmt);
	return status;
}

pctl_status pctl_chain_set_contracts(pctl_chain *c, const pctl_call *call)
{
	pctl_chain_info info;
	pctl_params p;
	int later = 0;
	pctl_status status = pctl_chain_last(c, call, &info);

	c->needs_contracts = 1;
	if (status == PCTL_OK)
		status = pctl_params_in_force(c->state, info.last + 1, call, &p);
	if (status == PCTL_OK)
		status = takes_later(c, info.last + 1, call, &later);
	return status == PCTL_OK && (later || p.values[PCTL_PARAM_CONTRACTS] != 0) &&
			       pctl_params_has_stakes(&p)
		       ? pctl_contracts_ready(c, call)
		       : status;
}

pctl_status pctl_chain_follows(pctl_chain *c, const pctl_params *p, uint64_t height,
			       const pctl_call *call)
{
	const uint64_t rules = p->values[PCTL_PARAM_RULES];
	const uint64_t most = c->rules_known == 0 || c->rules_known > PCTL_RULES_KNOWN
				      ? PCTL_RULES_KNOWN
				      : c->rules_known;

	if (rules > most)
		return pctl_refuse(call, PC6153_RULES_AHEAD,
				   "block %" PRIu64 " is under version %" PRIu64
				   " of the rules, this node follows version %" PRIu64
				   " at most: it stops before that block",
				   height, rules, most);
	return c->needs_contracts && p->values[PCTL_PARAM_CONTRACTS] != 0 &&
			       pctl_params_has_stakes(p)
		       ? pctl_contracts_ready(c, call)
		       : PCTL_OK;
}

uint64_t pctl_chain_pace_ms(uint64_t gas, uint64_t gas_per_ms)
{
	return gas / gas_per_ms + (gas % gas_per_ms != 0);
}

uint64_t pctl_chain_jobs_ms(const pctl_params *p)
{
	return pctl_amount_part(p->values[PCTL_PARAM_BLOCK_TIME_MS],
				p->values[PCTL_PARAM_UTILISATION]);
}

/* ---- what others are told of --------------------------------------------------------------- */

pctl_status pctl_chain_recorded(const pctl_chain *c, const struct pctl_block_record *record,
				const pctl_call *call)
{
	return c->record == NULL ? PCTL_OK : c->record(c->record_ctx, record, call);
}

pctl_known_result_fn pctl_chain_known(const pctl_chain *c, void **ctx)
{
	*ctx = c->known_ctx;
	return c->known;
}

pctl_status pctl_chain_prices(pctl_chain *c, const pctl_params *p, const pctl_call *call,
			      const pctl_gas_schedule **out)
{
	pctl_status status = PCTL_OK;

	if (c->schedule == NULL || memcmp(&c->schedule_of, p, sizeof(*p)) != 0) {
		pctl_gas_schedule_destroy(c->schedule);
		status = pctl_chain_schedule(p, call, &c->schedule);
		c->schedule_of = *p;
	}
	*out = c->schedule;
	return status;
}

pctl_status pctl_chain_last(pctl_chain *c, const pctl_call *call, pctl_chain_info *out)
{
	char text[PCTL_GITLOG_OID_TEXT_SIZE];
	sqlite3_stmt *stmt = NULL;
	int more = 0;
	pctl_status status =
		pctl_cursor_keep(c->state, call, &stmt,
				 "SELECT height, clock, git_commit FROM blocks ORDER BY "
				 "height DESC LIMIT 1",
				 "");

	memset(out, 0, sizeof(*out));
	memset(out, 0, sizeof(*out));
	if (status == PCTL_OK)
		status = pctl_cursor_next(c->state, stmt, call, &more);
	if (status == PCTL_OK && more) {
		out->last = (uint64_t)sqlite3_column_int64(stmt, 0);
		out->clock = (uint64_t)sqlite3_column_int64(stmt, 1);
		pctl_cursor_text(stmt, 2, text, sizeof(text));
		if (!pctl_gitlog_oid_parse(text, &out->commit))
			status = pctl_refuse(call, PC5701_CHAIN_STATE,
					     "the commit of block %llu is damaged",
					     (unsigned long long)out->last);
	}
	pctl_cursor_done(stmt);
	return status;
}

pctl_status pctl_chain_info_read(pctl_chain *c, const pctl_call *call, pctl_chain_info *out)
{
	sqlite3_stmt *stmt = NULL;
	int more = 0;
	pctl_status status;

	status = pctl_chain_last(c, call, out);
	if (status == PCTL_OK)
		status = pctl_cursor_open(c->state, call, &stmt,
					  "SELECT (SELECT count(*) FROM jobs WHERE status = 0), "
					  "(SELECT count(*) FROM inbox)",
					  "");
	if (status == PCTL_OK)
		status = pctl_cursor_next(c->state, stmt, call, &more);
	if (status == PCTL_OK && more) {
		out->n_pending = (uint64_t)sqlite3_column_int64(stmt, 0);
		out->n_inbox = (uint64_t)sqlite3_column_int64(stmt, 1);
	}
	sqlite3_finalize(stmt);
	return status;
}

/* ---- batches ------------------------------------------------------------------------------- */

pctl_status pctl_chain_batch_begin(pctl_chain *c, const pctl_call *call)
{
	pctl_status status = pctl_chain_begin(c->state, call);

	c->batch = status == PCTL_OK ? PCTL_BATCH_OPEN : PCTL_BATCH_NONE;
	return status;
}

pctl_status pctl_chain_batch_commit(pctl_chain *c, const pctl_call *call)
{
	const uint32_t was = c->batch;
	pctl_status status;

	c->batch = PCTL_BATCH_NONE;
	status = pctl_chain_bring_end(c, call);
	if (was != PCTL_BATCH_OPEN)
		return pctl_refuse(call, PC5828_CHAIN_BATCH, "nothing of the batch was kept");
	if (status == PCTL_OK)
		status = pctl_chain_commit(c->state, call);
	if (status != PCTL_OK)
		pctl_chain_rollback(c->state);
	return status;
}

void pctl_chain_batch_abort(pctl_chain *c)
{
	pctl_chain_rollback(c->state);
	(void)pctl_chain_bring_end(c, NULL);
	c->batch = PCTL_BATCH_NONE;
}

pctl_status pctl_chain_bring(pctl_chain *c, const void *data, uint64_t n, const pctl_call *call)
{
	if (c->attempted == NULL && c->batch == PCTL_BATCH_OPEN && !c->bytes_open) {
		const pctl_status status = pctl_store_batch_begin_many(c->store, call);

		if (status != PCTL_OK)
			return status;
		c->bytes_open = 1;
	}
	return pctl_store_put(pctl_chain_keeps(c), data, n, call, NULL);
}

pctl_status pctl_chain_bring_end(pctl_chain *c, const pctl_call *call)
{
	const uint32_t was = c->bytes_open;

	c->bytes_open = 0;
	return was ? pctl_store_batch_commit(c->store, call) : PCTL_OK;
}

/* ---- attempts ------------------------------------------------------------------------------ */

pctl_status pctl_chain_attempt_begin(pctl_chain *c, const pctl_call *call)
{
	pctl_status status = pctl_store_open_memory(call, &c->attempted);

	if (status != PCTL_OK)
		return status;
	c->attempt_nested = c->batch == PCTL_BATCH_OPEN;
	status = c->attempt_nested ? pctl_cursor_write(c->state, call, "SAVEPOINT attempt", "")
				   : pctl_chain_begin(c->state, call);
	if (status != PCTL_OK) {
		pctl_store_close(c->attempted);
		c->attempted = NULL;
	}
	return status;
}

pctl_status pctl_chain_attempt_end(pctl_chain *c, const pctl_call *call)
{
	pctl_status status = PCTL_OK;

	pctl_store_close(c->attempted);
	c->attempted = NULL;
	if (!c->attempt_nested) {
		pctl_chain_rollback(c->state);
		return PCTL_OK;
	}
	if (c->batch != PCTL_BATCH_OPEN)
		return PCTL_OK; /* undone with the batch, which says so at its commit */
	pctl_params_forget(c->state);
	status = pctl_cursor_write(c->state, call, "ROLLBACK TO attempt", "");
	if (status == PCTL_OK)
		status = pctl_cursor_write(c->state, call, "RELEASE attempt", "");
	if (status != PCTL_OK) {
		pctl_chain_rollback(c->state);
		c->batch = PCTL_BATCH_LOST;
	}
	return status;
}
