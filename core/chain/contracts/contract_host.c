/* The host's side of a call: what a contract asks is done under the contract's own account, as the same asked by a message would be. */
#include "chain/contracts/contract.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "chain/accounts/account.h"
#include "chain/data/data.h"
#include "chain/registry/registry.h"
#include "chain/state/cursor.h"
#include "chain/transition/refusal.h"
#include "chain/transition/submit.h"
#include "foundation/base/bytes.h"
#include "foundation/base/num.h"
#include "runtime/cas/cid.h"

#define SENDER_TAG 0x0a	 /* field 1 of MsgGpuExecute, a string */
#define EXECUTE_TAG 0x12 /* field 2 of Request */

uint64_t pctl_contract_price(const pctl_taking *t)
{
	const pctl_gas_schedule *schedule;
	uint64_t gas = 0;

	/* Made already by who takes messages in (pctl_fee_take, check_prices). */
	if (pctl_chain_prices(t->c, &t->params, NULL, &schedule) != PCTL_OK ||
	    pctl_gas_fuel(schedule, 1000, NULL, &gas) != PCTL_OK)
		return 0;
	return gas;
}

/* ---- refusals and fuel ---------------------------------------------------------------------- */

static int32_t minus(uint32_t code)
{
	return -(int32_t)code;
}

/* What a function of the chain says while a contract asks: the code is the contract's, the words are nobody's. */
typedef struct listener {
	const pctl_call *outer;
	pctl_call call;
	uint32_t code, reserved;
} listener;

static void keep_code(void *ctx, const pctl_diag *d)
{
	listener *l = ctx;

	if (l->code == 0 && d->severity == PCTL_SEVERITY_ERROR)
		l->code = d->code;
}

static uint32_t is_cancelled(void *ctx)
{
	return pctl_is_cancelled(((const listener *)ctx)->outer);
}

static void listen(listener *l, const pctl_contract_call *c)
{
	*l = (listener){.outer = c->t->call,
			.call = {.head = PCTL_HEAD(pctl_call),
				 .diag = keep_code,
				 .cancelled = is_cancelled}};
	l->call.ctx = l;
}

/* 0, or minus the code of a refusal; trouble stays in the host, with words. */
static int32_t heard(pctl_contract_call *c, const listener *l, pctl_status status)
{
	if (status == PCTL_OK)
		return 0;
	if (pctl_is_refusal(status) && l->code != 0)
		return minus(l->code);
	c->host.failure = l->code == 0
				  ? status
				  : pctl_refuse(c->t->call, l->code,
						"a contract asks for what this node cannot do now");
	return minus(PC1_INTERNAL);
}

static int take_fuel(pctl_contract_call *c, uint64_t n)
{
	return c->host.take_fuel(c->host.fuel, n);
}

/* Gas as fuel, at the price that the chain has for fuel, rounded up. */
static int take_gas(pctl_contract_call *c, uint64_t gas)
{
	const uint64_t price = pctl_contract_price(c->t);
	uint64_t fuel;

	if (!pctl_num_mul(gas, 1000, &fuel))
		fuel = UINT64_MAX;
	return take_fuel(c, price == 0 ? 0 : fuel / price + (fuel % price != 0));
}

static int is_view(const pctl_contract_call *c)
{
	return c->caller == NULL;
}

/* ---- gpu_submit ---------------------------------------------------------------------------- */

static size_t put_varint(uint8_t *to, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		to[n++] = (uint8_t)(v | 0x80);
	to[n++] = (uint8_t)v;
	return n;
}

/* The message as a request, with its sender, which is its first field. The encoding stays the canonical one. */
static uint8_t *wrap(const pctl_contract_call *c, const uint8_t *message, uint32_t n,
		     uint64_t *n_out)
{
	const size_t account = strlen(c->account);
	const int named = n > 0 && message[0] == SENDER_TAG;
	const size_t inner = n + (named ? 0 : 2 + account);
	uint8_t *out = malloc(inner + 16), *at = out;

	*n_out = 0;
	if (out == NULL)
		return NULL;
	*at++ = EXECUTE_TAG;
	at += put_varint(at, inner);
	if (!named) {
		*at++ = SENDER_TAG;
		*at++ = (uint8_t)account; /* at most 64 */
		memcpy(at, c->account, account);
		at += account;
	}
	if (n > 0)
		memcpy(at, message, n);
	*n_out = (uint64_t)(at - out) + n;
	return out;
}

static int32_t decode(pctl_contract_call *c, const uint8_t *message, uint32_t n, pctl_request *out)
{
	listener l;
	uint64_t n_bytes;
	uint8_t *bytes = wrap(c, message, n, &n_bytes);
	int32_t result;

	listen(&l, c);
	if (bytes == NULL) {
		c->host.failure = pctl_no_memory(c->t->call, "a message");
		return minus(PC2_NOMEM);
	}
	result = heard(c, &l, pctl_request_decode(bytes, n_bytes, &l.call, out));
	free(bytes);
	if (result != 0)
		return result;
	if (strcmp(out->as.execute.sender, c->account) == 0)
		return 0;
	pctl_request_destroy(out);
	return minus(PC6126_CONTRACT_SENDER);
}

/* A shader that is state is read and compiled before it can be refused: that is paid first. */
static int32_t pay_for_shader(pctl_contract_call *c, const pctl_msg_execute *m)
{
	const pctl_taking *t = c->t;
	const pctl_chain_source *source = NULL;
	uint64_t deprecated, gas;
	listener l;
	int found = 0;
	int32_t result;

	listen(&l, c);
	result = heard(c, &l, pctl_shaders_look(t->s, m->shader_cid, &l.call, &found, &deprecated));
	if (result == 0 && !found)
		return minus(PC5804_SHADER_UNKNOWN);
	if (result == 0)
		result = heard(c, &l, pctl_chain_source_of(t->c, m->shader_cid, &l.call, &source));
	if (result != 0)
		return result;
	gas = source->n_text * t->params.values[PCTL_PARAM_VALIDATION_COST];
	return take_gas(c, gas) ? 0 : minus(PC6123_CONTRACT_FUEL);
}

/* One job, as a message of the contract's own; a refusal leaves no row. */
static int32_t queue(pctl_contract_call *c, const pctl_request *r, pctl_response *answer)
{
	const pctl_taking *t = c->t;
	pctl_taking mine = {.c = t->c,
			    .s = t->s,
			    .height = t->height,
			    .clock = t->clock,
			    .params = t->params,
			    .out = answer,
			    .arena = t->arena};
	listener l;
	pctl_status status;

	listen(&l, c);
	mine.call = &l.call;
	status = pctl_cursor_write(t->s, t->call, "SAVEPOINT submitting", "");
	if (status == PCTL_OK)
		status = pctl_account_sequence(t->s, c->account, t->call, &mine.sequence);
	if (status == PCTL_OK)
		status = pctl_apply_job(&mine, r, PCTL_ORIGIN_CONTRACT);
	if (status == PCTL_OK)
		status = pctl_sequence_use(&mine, c->account);
	if (status != PCTL_OK && pctl_is_refusal(status) &&
	    pctl_cursor_write(t->s, t->call, "ROLLBACK TO submitting", "") != PCTL_OK)
		status = PCTL_E_STORE;
	if ((status == PCTL_OK || pctl_is_refusal(status)) &&
	    pctl_cursor_write(t->s, t->call, "RELEASE submitting", "") != PCTL_OK)
		status = PCTL_E_STORE;
	return heard(c, &l, status);
}

static int keep_job(pctl_contract_call *c, const char *id)
{
	if (c->jobs == NULL)
		c->jobs =
			pctl_arena_array(c->t->arena, PCTL_MESSAGE_CALL_JOBS_MAX, sizeof(*c->jobs));
	if (c->jobs == NULL)
		return 0;
	c->jobs[c->n_jobs++] = id;
	return 1;
}

static int32_t gpu_submit(void *ctx, const uint8_t *message, uint32_t n,
			  uint8_t out[PCTL_CONTRACT_SUBMIT_BYTES])
{
	pctl_contract_call *c = ctx;
	pctl_response answer = {.kind = PCTL_MSG_EXECUTE};
	pctl_request r;
	int32_t result;

	if (!take_fuel(c, PCTL_CONTRACT_FUEL_SUBMIT + PCTL_CONTRACT_FUEL_SUBMIT_BYTE * (uint64_t)n))
		return minus(PC6123_CONTRACT_FUEL);
	if (is_view(c))
		return minus(PC6133_CONTRACT_VIEW);
	if (n > PCTL_MESSAGE_MAX)
		return minus(PC5780_MESSAGE_SIZE);
	if (c->n_jobs == PCTL_MESSAGE_CALL_JOBS_MAX)
		return minus(PC6127_CONTRACT_ROOM);
	result = decode(c, message, n, &r);
	if (result != 0)
		return result;
	result = pay_for_shader(c, &r.as.execute);
	if (result == 0)
		result = queue(c, &r, &answer);
	if (result == 0 && keep_job(c, answer.as.execute.job_id)) {
		memcpy(out, answer.as.execute.job_id, PCTL_CONTRACT_ID_BYTES);
		pctl_le_put(out + PCTL_CONTRACT_ID_BYTES, answer.as.execute.logical_clock, 8);
	} else if (result == 0) {
		c->host.failure = pctl_no_memory(c->t->call, "an id");
	}
	pctl_request_destroy(&r);
	return result;
}

/* ---- gpu_result ---------------------------------------------------------------------------- */

static int32_t put_result(const pctl_chain_job *job, uint8_t *out, uint32_t n_out)
{
	char cid[PCTL_CID_TEXT_SIZE];
	const char *text = job->status == PCTL_JOB_COMPLETE ? pctl_cid_format(&job->output, cid)
			   : job->status == PCTL_JOB_FAILED ? job->error
							    : "";
	const uint32_t n = (uint32_t)strlen(text);

	if (n_out < PCTL_CONTRACT_RESULT_BYTES + n)
		return minus(PC6127_CONTRACT_ROOM);
	pctl_le_put(out, job->gas_used, 8);
	pctl_le_put(out + 8, job->clock, 8);
	pctl_le_put(out + 16, n, 4);
	memcpy(out + PCTL_CONTRACT_RESULT_BYTES, text, n);
	return (int32_t)job->status;
}

static int32_t gpu_result(void *ctx, const uint8_t id[PCTL_CONTRACT_ID_BYTES], uint8_t *out,
			  uint32_t n_out)
{
	pctl_contract_call *c = ctx;
	char text[PCTL_CONTRACT_ID_BYTES + 1];
	uint8_t digest[PCTL_DIGEST_BYTES];
	pctl_chain_job job;
	listener l;
	int32_t result;

	if (!take_fuel(c, PCTL_CONTRACT_FUEL_READ + (uint64_t)n_out))
		return minus(PC6123_CONTRACT_FUEL);
	memcpy(text, id, PCTL_CONTRACT_ID_BYTES);
	text[PCTL_CONTRACT_ID_BYTES] = '\0';
	if (!pctl_job_id_parse(text, digest))
		return minus(PC5787_MESSAGE_HASH);
	listen(&l, c);
	result = heard(c, &l, pctl_jobs_read(c->t->s, digest, &l.call, &job));
	if (result == 0) {
		result = put_result(&job, out, n_out);
		pctl_chain_job_clear(&job);
	}
	return result;
}

/* ---- cas_get and log ----------------------------------------------------------------------- */

/* The bytes of a CID that is state. */
static int64_t give_bytes(pctl_contract_call *c, const pctl_cid *cid, uint64_t n_bytes,
			  uint8_t *out, uint32_t n_out)
{
	pctl_blob blob;
	listener l;
	int32_t result;

	if (n_out == 0)
		return (int64_t)n_bytes;
	if (!take_fuel(c, n_bytes))
		return minus(PC6123_CONTRACT_FUEL);
	listen(&l, c);
	result = heard(c, &l, pctl_data_get(c->t->c, cid, &l.call, &blob));
	if (result != 0)
		return result;
	if (blob.n_bytes > 0)
		memcpy(out, blob.data, blob.n_bytes < n_out ? (size_t)blob.n_bytes : n_out);
	pctl_blob_release(&blob);
	return (int64_t)n_bytes;
}

static int64_t cas_get(void *ctx, const uint8_t *name, uint32_t n, uint8_t *out, uint32_t n_out)
{
	pctl_contract_call *c = ctx;
	char text[PCTL_CID_TEXT_SIZE];
	uint64_t n_bytes = 0;
	pctl_cid cid;
	listener l;
	int found = 0;
	int32_t result;

	if (!take_fuel(c, PCTL_CONTRACT_FUEL_READ))
		return minus(PC6123_CONTRACT_FUEL);
	if (n != PCTL_CID_TEXT_SIZE - 1)
		return minus(PC5786_MESSAGE_CID);
	memcpy(text, name, n);
	text[n] = '\0';
	if (strlen(text) != n || !pctl_cid_parse(text, &cid))
		return minus(PC5786_MESSAGE_CID);
	listen(&l, c);
	result = heard(c, &l, pctl_data_look(c->t, text, &found, &n_bytes));
	if (result != 0)
		return result;
	if (!found || n_bytes > PCTL_CONTRACT_GET_MAX)
		return minus(PC6125_CONTRACT_BYTES);
	return give_bytes(c, &cid, n_bytes, out, n_out);
}

static void log_text(void *ctx, const uint8_t *text, uint32_t n)
{
	pctl_contract_call *c = ctx;
	pctl_arena *a = c->t->arena;
	uint8_t *copy;

	if (!take_fuel(c, PCTL_CONTRACT_FUEL_LOG + (uint64_t)n) || n > PCTL_CONTRACT_LOG_MAX ||
	    c->n_logged + n > PCTL_MESSAGE_LOGS_MAX || c->n_log == PCTL_MESSAGE_LOGS_MAX)
		return;
	if ((c->n_log & (c->n_log - 1)) == 0) {
		pctl_msg_bytes *grown = pctl_arena_array(
			a, c->n_log == 0 ? 1 : 2 * (size_t)c->n_log, sizeof(*grown));

		if (grown != NULL && c->n_log != 0)
			memcpy(grown, c->log, c->n_log * sizeof(*grown));
		c->log = grown;
	}
	copy = pctl_arena_alloc(a, n + 1u);
	if (c->log == NULL || copy == NULL) {
		c->host.failure = pctl_no_memory(c->t->call, "a text");
		return;
	}
	if (n > 0)
		memcpy(copy, text, n);
	c->log[c->n_log++] = (pctl_msg_bytes){copy, n};
	c->n_logged += n;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* *n: bytes of the row, at most n_out of which were written. 1 where there is one. */
static int32_t read_row(pctl_contract_call *c, const uint8_t *key, uint32_t n_key, uint8_t *out,
			uint32_t n_out, uint64_t *n, int *found)
{
	sqlite3_stmt *stmt = NULL;
	listener l;
	pctl_status status;

	listen(&l, c);
	*n = 0;
	*found = 0;
	status = pctl_cursor_keep(c->t->s, &l.call, &stmt,
				  "SELECT value FROM contract_rows WHERE contract = ? AND key = ?",
				  "tb", c->account, (const void *)key, (uint64_t)n_key);
	if (status == PCTL_OK)
		status = pctl_cursor_next(c->t->s, stmt, &l.call, found);
	if (status == PCTL_OK && *found) {
		*n = (uint64_t)sqlite3_column_bytes(stmt, 0);
		if (*n > 0 && n_out > 0)
			memcpy(out, sqlite3_column_blob(stmt, 0), *n < n_out ? (size_t)*n : n_out);
	}
	pctl_cursor_done(stmt);
	return heard(c, &l, status);
}

static int is_key(uint32_t n)
{
	return n >= 1 && n <= PCTL_CONTRACT_KEY_MAX;
}

static int64_t row_get(void *ctx, const uint8_t *key, uint32_t n_key, uint8_t *out, uint32_t n_out)
{
	pctl_contract_call *c = ctx;
	uint64_t n;
	int found;
	int32_t result;

	if (!take_fuel(c, PCTL_CONTRACT_FUEL_READ + (uint64_t)n_out))
		return minus(PC6123_CONTRACT_FUEL);
	if (!is_key(n_key))
		return minus(PC6127_CONTRACT_ROOM);
	result = read_row(c, key, n_key, out, n_out, &n, &found);
	if (result != 0)
		return result;
	return found ? (int64_t)n : minus(PC6134_CONTRACT_ROW);
}

/* What a row grows by is paid as bytes that stay. */
static int32_t pay_for_row(pctl_contract_call *c, uint64_t before, uint64_t after)
{
	uint64_t had = 0, has = 0;
	listener l;
	int32_t result;

	listen(&l, c);
	result = heard(c, &l, pctl_data_price_kept(c->t, before, &l.call, &had));
	if (result == 0)
		result = heard(c, &l, pctl_data_price_kept(c->t, after, &l.call, &has));
	if (result != 0)
		return result;
	return has <= had || take_gas(c, has - had) ? 0 : minus(PC6123_CONTRACT_FUEL);
}

/* What every import that changes something begins with. */
static int32_t begin_write(pctl_contract_call *c)
{
	if (!take_fuel(c, PCTL_CONTRACT_FUEL_WRITE))
		return minus(PC6123_CONTRACT_FUEL);
	return is_view(c) ? minus(PC6133_CONTRACT_VIEW) : 0;
}

static int32_t row_set(void *ctx, const uint8_t *key, uint32_t n_key, const uint8_t *value,
		       uint32_t n_value)
{
	pctl_contract_call *c = ctx;
	uint64_t n;
	int found;
	listener l;
	int32_t result = begin_write(c);

	if (result != 0)
		return result;
	if (!is_key(n_key) || n_value > PCTL_CONTRACT_ROW_MAX)
		return minus(PC6127_CONTRACT_ROOM);
	result = read_row(c, key, n_key, NULL, 0, &n, &found);
	if (result == 0)
		result = pay_for_row(c, found ? n_key + n : 0, (uint64_t)n_key + n_value);
	if (result != 0)
		return result;
	listen(&l, c);
	return heard(c, &l,
		     pctl_cursor_write(c->t->s, &l.call,
				       "INSERT INTO contract_rows VALUES (?1, ?2, ?3) ON CONFLICT "
				       "(contract, key) DO UPDATE SET value = ?3",
				       "tbb", c->account, (const void *)key, (uint64_t)n_key,
				       (const void *)value, (uint64_t)n_value));
}

static int32_t row_drop(void *ctx, const uint8_t *key, uint32_t n_key)
{
	pctl_contract_call *c = ctx;
	uint64_t n;
	int found;
	listener l;
	int32_t result = begin_write(c);

	if (result != 0)
		return result;
	if (!is_key(n_key))
		return minus(PC6127_CONTRACT_ROOM);
	result = read_row(c, key, n_key, NULL, 0, &n, &found);
	if (result != 0 || !found)
		return result != 0 ? result : minus(PC6134_CONTRACT_ROW);
	listen(&l, c);
	return heard(c, &l,
		     pctl_cursor_write(c->t->s, &l.call,
				       "DELETE FROM contract_rows WHERE contract = ? AND key = ?",
				       "tb", c->account, (const void *)key, (uint64_t)n_key));
}

/* ---- gas and the rest ------------------------------------------------------------------------ */

static int32_t pay(void *ctx, const uint8_t *to, uint32_t n, uint64_t amount)
{
	pctl_contract_call *c = ctx;
	char name[PCTL_ACCOUNT_SIZE];
	const int32_t result = begin_write(c);
	listener l;

	if (result != 0)
		return result;
	if (n >= sizeof(name) || memchr(to, '\0', n) != NULL)
		return minus(PC5710_LEDGER_NAME);
	memcpy(name, to, n);
	name[n] = '\0';
	listen(&l, c);
	return heard(c, &l, pctl_ledger_transfer(c->t->s, c->account, name, amount, &l.call));
}

static int32_t caller(void *ctx, uint8_t *out, uint32_t n_out)
{
	pctl_contract_call *c = ctx;
	const char *name = is_view(c) ? "" : c->caller;
	const uint32_t n = (uint32_t)strlen(name);

	if (take_fuel(c, PCTL_CONTRACT_FUEL_ASK) && n > 0 && n_out > 0)
		memcpy(out, name, n < n_out ? n : n_out);
	return (int32_t)n;
}

static int64_t paid(void *ctx)
{
	pctl_contract_call *c = ctx;

	(void)take_fuel(c, PCTL_CONTRACT_FUEL_ASK);
	return (int64_t)c->paid;
}

static int64_t height(void *ctx)
{
	pctl_contract_call *c = ctx;

	(void)take_fuel(c, PCTL_CONTRACT_FUEL_ASK);
	return (int64_t)c->t->height;
}

pctl_contract_call *pctl_contract_begin(const pctl_taking *t, const char *account,
					const char *caller_name, uint64_t gas)
{
	pctl_contract_call *c = pctl_arena_alloc(t->arena, sizeof(*c));

	if (c != NULL)
		*c = (pctl_contract_call){.t = t,
					  .account = account,
					  .caller = caller_name,
					  .paid = gas,
					  .host = {gpu_submit, gpu_result, cas_get, log_text,
						   row_get, row_set, row_drop, pay, caller, paid,
						   height, c, NULL, NULL, PCTL_OK}};
	return c;
}
