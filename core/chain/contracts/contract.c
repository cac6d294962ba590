/* The host's side of a call: what a contract asks becomes messages of the contract's own account, served like anybody's
 * inside one batch. */
#include "chain/contracts/contract.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cas/cid.h"

#define SENDER_TAG 0x0a	 /* field 1 of MsgGpuExecute, a string */
#define EXECUTE_TAG 0x12 /* field 2 of Request */

struct pctl_contract {
	pctl_contract_options o;
	pctl_contract_host host;
	const pctl_call *call;
	char (*jobs)[PCTL_CONTRACT_ID_BYTES + 1];
	uint32_t n_jobs, n_logged;
};

/* ---- asking the service -------------------------------------------------------------------- */

static int32_t minus(uint32_t code)
{
	return -(int32_t)code;
}

/* Serve one request; 0, or minus the code of its refusal. Trouble stays in the host. */
static int32_t ask(pctl_contract *c, const pctl_request *r, pctl_response *out)
{
	int32_t result = 0;

	*out = (pctl_response){.kind = 0};
	c->host.failure = c->o.service->serve(c->o.service->ctx, r, c->call, out);
	if (c->host.failure != PCTL_OK)
		result = minus(PC1_INTERNAL);
	else if (out->kind == PCTL_MSG_ERROR)
		result = minus(out->as.error.code);
	else if (out->kind != r->kind)
		c->host.failure =
			pctl_refuse(c->call, PC1_INTERNAL,
				    "a response of kind %" PRIu32 " to a request of %" PRIu32,
				    out->kind, r->kind);
	return result;
}

/* Move gas of the caller's; a refusal is reported with its own code. */
static pctl_status transfer(pctl_contract *c, const char *to, uint64_t amount)
{
	const pctl_request r = {.kind = PCTL_MSG_LEDGER,
				.as.ledger = {.sender = c->o.caller,
					      .op = PCTL_LEDGER_TRANSFER,
					      .to = to,
					      .amount = amount}};
	pctl_response out;
	pctl_status status;

	if (ask(c, &r, &out) < 0 && c->host.failure == PCTL_OK)
		c->host.failure = pctl_refuse(c->call, out.as.error.code, "%s pays %s: %s",
					      c->o.caller, to, out.as.error.message);
	status = c->host.failure;
	pctl_response_destroy(&out);
	return status;
}

static void put_u32(uint8_t *to, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		to[i] = (uint8_t)(v >> 8 * i);
}

static void put_u64(uint8_t *to, uint64_t v)
{
	put_u32(to, (uint32_t)v);
	put_u32(to + 4, (uint32_t)(v >> 32));
}

/* ---- gpu_submit ---------------------------------------------------------------------------- */

typedef struct first_code {
	uint32_t code;
} first_code;

static void keep_code(void *ctx, const pctl_diag *d)
{
	first_code *f = ctx;

	if (f->code == 0 && d->severity == PCTL_SEVERITY_ERROR)
		f->code = d->code;
}

static size_t put_varint(uint8_t *to, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		to[n++] = (uint8_t)(v | 0x80);
	to[n++] = (uint8_t)v;
	return n;
}

/* The message as a request, with its sender, which is its first field. The encoding stays the canonical one. */
static uint8_t *wrap(const pctl_contract *c, const uint8_t *message, uint32_t n, uint64_t *n_out)
{
	const size_t account = strlen(c->o.account);
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
		memcpy(at, c->o.account, account);
		at += account;
	}
	if (n > 0)
		memcpy(at, message, n);
	*n_out = (uint64_t)(at - out) + n;
	return out;
}

static int32_t decode(pctl_contract *c, const uint8_t *message, uint32_t n, pctl_request *out)
{
	first_code f = {.code = 0};
	const pctl_call call = {.head = PCTL_HEAD(pctl_call), .ctx = &f, .diag = keep_code};
	uint64_t n_bytes;
	uint8_t *bytes = wrap(c, message, n, &n_bytes);
	pctl_status status;

	if (bytes == NULL) {
		c->host.failure = pctl_no_memory(c->call, "a message");
		return minus(PC2_NOMEM);
	}
	status = pctl_request_decode(bytes, n_bytes, &call, out);
	free(bytes);
	if (status == PCTL_E_NOMEM)
		c->host.failure = status;
	if (status != PCTL_OK)
		return minus(f.code == 0 ? PC5781_MESSAGE_WIRE : f.code);
	if (strcmp(out->as.execute.sender, c->o.account) == 0)
		return 0;
	pctl_request_destroy(out);
	return minus(PC6126_CONTRACT_SENDER);
}

static int keep_job(pctl_contract *c, const char *id)
{
	char(*grown)[PCTL_CONTRACT_ID_BYTES + 1];

	if ((c->n_jobs & (c->n_jobs - 1)) == 0) {
		const size_t room = c->n_jobs == 0 ? 1 : 2 * (size_t)c->n_jobs;

		grown = realloc(c->jobs, room * sizeof(*grown));
		if (grown == NULL)
			return 0;
		c->jobs = grown;
	}
	memcpy(c->jobs[c->n_jobs++], id, PCTL_CONTRACT_ID_BYTES + 1);
	return 1;
}

static int32_t gpu_submit(void *ctx, const uint8_t *message, uint32_t n,
			  uint8_t out[PCTL_CONTRACT_SUBMIT_BYTES])
{
	pctl_contract *c = ctx;
	pctl_request r;
	pctl_response answer;
	int32_t result;

	c->host.spent += PCTL_CONTRACT_FUEL_SUBMIT + (uint64_t)n;
	if (n > PCTL_MESSAGE_MAX)
		return minus(PC5780_MESSAGE_SIZE);
	if (c->n_jobs == PCTL_CONTRACT_SUBMITS_MAX)
		return minus(PC6127_CONTRACT_ROOM);
	result = decode(c, message, n, &r);
	if (result < 0)
		return result;
	result = ask(c, &r, &answer);
	if (result == 0 && c->host.failure == PCTL_OK) {
		memcpy(out, answer.as.execute.job_id, PCTL_CONTRACT_ID_BYTES);
		put_u64(out + PCTL_CONTRACT_ID_BYTES, answer.as.execute.logical_clock);
		if (!keep_job(c, answer.as.execute.job_id))
			c->host.failure = pctl_no_memory(c->call, "an id");
	}
	pctl_response_destroy(&answer);
	pctl_request_destroy(&r);
	return result;
}

/* ---- gpu_result ---------------------------------------------------------------------------- */

static int32_t put_result(const pctl_msg_query_response *q, uint8_t *out, uint32_t n_out)
{
	const char *text = q->status == PCTL_JOB_COMPLETE ? q->output_cid
			   : q->status == PCTL_JOB_FAILED ? q->error
							  : "";
	const uint32_t n = (uint32_t)strlen(text);

	if (n_out < PCTL_CONTRACT_RESULT_BYTES + n)
		return minus(PC6127_CONTRACT_ROOM);
	put_u64(out, q->gas_used);
	put_u64(out + 8, q->logical_clock);
	put_u32(out + 16, n);
	memcpy(out + PCTL_CONTRACT_RESULT_BYTES, text, n);
	return (int32_t)q->status;
}

static int32_t gpu_result(void *ctx, const uint8_t id[PCTL_CONTRACT_ID_BYTES], uint8_t *out,
			  uint32_t n_out)
{
	pctl_contract *c = ctx;
	char text[PCTL_CONTRACT_ID_BYTES + 1];
	const pctl_request r = {.kind = PCTL_MSG_QUERY, .as.query = {.job_id = text}};
	uint8_t digest[PCTL_DIGEST_BYTES];
	pctl_response answer;
	int32_t result;

	c->host.spent += PCTL_CONTRACT_FUEL_RESULT;
	memcpy(text, id, PCTL_CONTRACT_ID_BYTES);
	text[PCTL_CONTRACT_ID_BYTES] = '\0';
	if (!pctl_digest_parse_hex(text, digest))
		return minus(PC5787_MESSAGE_HASH);
	result = ask(c, &r, &answer);
	if (result == 0 && c->host.failure == PCTL_OK)
		result = put_result(&answer.as.query, out, n_out);
	pctl_response_destroy(&answer);
	return result;
}

/* ---- cas_get and log ----------------------------------------------------------------------- */

static int64_t cas_get(void *ctx, const uint8_t *cid, uint32_t n, uint8_t *out, uint32_t n_out)
{
	pctl_contract *c = ctx;
	char text[PCTL_CID_TEXT_SIZE];
	const pctl_request r = {.kind = PCTL_MSG_GET, .as.get = {.cid = text}};
	pctl_response answer;
	pctl_cid parsed;
	int64_t size = 0;

	c->host.spent += PCTL_CONTRACT_FUEL_GET;
	if (n != PCTL_CID_TEXT_SIZE - 1)
		return minus(PC5786_MESSAGE_CID);
	memcpy(text, cid, n);
	text[n] = '\0';
	if (strlen(text) != n || !pctl_cid_parse(text, &parsed))
		return minus(PC5786_MESSAGE_CID);
	/* What a node has at hand differs from node to node, so its absence is nothing a contract may see. */
	if (ask(c, &r, &answer) < 0 && c->host.failure == PCTL_OK)
		c->host.failure = pctl_refuse(c->call, PC6125_CONTRACT_BYTES, "%s: %s", text,
					      answer.as.error.message);
	if (c->host.failure == PCTL_OK) {
		size = (int64_t)answer.as.get.n_data;
		c->host.spent += (uint64_t)size;
		if (size > 0 && n_out > 0)
			memcpy(out, answer.as.get.data,
			       (uint64_t)size < n_out ? (size_t)size : n_out);
	}
	pctl_response_destroy(&answer);
	return size;
}

static void log_text(void *ctx, const uint8_t *text, uint32_t n)
{
	pctl_contract *c = ctx;

	c->host.spent += PCTL_CONTRACT_FUEL_LOG + (uint64_t)n;
	if (n > PCTL_CONTRACT_LOG_MAX || c->n_logged + n > PCTL_CONTRACT_LOGS_MAX)
		return;
	c->n_logged += n;
	if (c->o.log != NULL)
		c->o.log(c->o.log_ctx, text, n);
}

/* ---- one call ------------------------------------------------------------------------------ */

pctl_status pctl_contract_begin(const pctl_contract_options *o, const pctl_call *call,
				pctl_contract **out)
{
	pctl_contract *c = calloc(1, sizeof(*c));
	pctl_status status;

	*out = NULL;
	if (c == NULL)
		return pctl_no_memory(call, "a contract's call");
	c->o = *o;
	c->call = call;
	c->host = (pctl_contract_host){.gpu_submit = gpu_submit,
				       .gpu_result = gpu_result,
				       .cas_get = cas_get,
				       .log = log_text,
				       .ctx = c};
	status = o->service->begin(o->service->ctx, call);
	if (status != PCTL_OK) {
		free(c);
		return status;
	}
	if (o->caller != NULL && o->pay != 0)
		status = transfer(c, o->account, o->pay);
	if (status != PCTL_OK)
		return pctl_contract_end(c, status, 0, NULL);
	*out = c;
	return PCTL_OK;
}

pctl_contract_host *pctl_contract_host_of(pctl_contract *c)
{
	return &c->host;
}

uint32_t pctl_contract_jobs(const pctl_contract *c, const char (**out)[PCTL_CONTRACT_ID_BYTES + 1])
{
	*out = (const char(*)[PCTL_CONTRACT_ID_BYTES + 1]) c->jobs;
	return c->n_jobs;
}

pctl_status pctl_contract_end(pctl_contract *c, pctl_status status, uint64_t fuel, uint64_t *gas)
{
	uint64_t due = 0;

	if (gas != NULL)
		*gas = 0;
	if (c == NULL)
		return status;
	if (status == PCTL_OK)
		status = c->host.failure;
	if (c->o.caller != NULL && c->o.fuel_per_gas != 0)
		due = fuel / c->o.fuel_per_gas + (fuel % c->o.fuel_per_gas != 0);
	if (status == PCTL_OK && due != 0)
		status = transfer(c, c->o.paid, due);
	if (status == PCTL_OK)
		status = c->o.service->commit(c->o.service->ctx, c->call);
	else
		c->o.service->abort(c->o.service->ctx);
	if (status == PCTL_OK && gas != NULL)
		*gas = due;
	free(c->jobs);
	free(c);
	return status;
}
