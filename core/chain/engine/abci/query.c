/* Queries; see query.h. */
#include "chain/engine/abci/query.h"

#include <engine.pb-c.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "chain/accounts/account.h"
#include "chain/chain_private.h"
#include "chain/node/first_error.h"
#include "chain/state/cursor.h"
#include "chain/state/track.h"
#include "chain/sync/rowproof.h"
#include "foundation/base/file.h"
#include "foundation/base/num.h"

#define DATA_MAX 4096u /* bytes of a query, but for a message */

typedef struct asking {
	pctl_chain *reader;
	const Abci__QueryRequest *q;
	pctl_arena *arena;
	const pctl_call *call;
	Abci__QueryResponse *out;
	const char *data; /* of the query, with a NUL behind it */
	uint64_t last;
} asking;

static pctl_status refuse(asking *a, uint32_t code, const char *text)
{
	a->out->code = code;
	a->out->log = pctl_arena_dup(a->arena, text);
	return a->out->log == NULL ? pctl_no_memory(a->call, "an answer") : PCTL_OK;
}

static pctl_status give(asking *a, const void *bytes, uint64_t n)
{
	a->out->value.data = (uint8_t *)pctl_arena_dup_n(a->arena, bytes, (size_t)n);
	a->out->value.len = (size_t)n;
	return a->out->value.data == NULL ? pctl_no_memory(a->call, "an answer") : PCTL_OK;
}

/* A request that changes nothing, through the one door. */
static pctl_status serve(asking *a, const pctl_request *r)
{
	pctl_response answer;
	uint8_t *bytes = NULL;
	uint64_t n = 0;
	pctl_status status = pctl_chain_serve(a->reader, r, a->call, &answer);

	if (status != PCTL_OK)
		return status;
	if (answer.kind == PCTL_MSG_ERROR) {
		status = refuse(a, answer.as.error.code, answer.as.error.message);
	} else {
		status = pctl_response_encode(&answer, a->call, &bytes, &n);
		if (status == PCTL_OK)
			status = give(a, bytes, n);
	}
	free(bytes);
	pctl_response_destroy(&answer);
	return status;
}

static pctl_status answer_job(asking *a)
{
	const pctl_request r = {.kind = PCTL_MSG_QUERY, .as.query = {a->data}};
	uint8_t id[PCTL_DIGEST_BYTES];

	return pctl_job_id_parse(a->data, id)
		       ? serve(a, &r)
		       : refuse(a, PC6172_ENGINE_QUERY, "an id of a job has 64 digits");
}

static pctl_status answer_block(asking *a)
{
	pctl_request r = {.kind = PCTL_MSG_BLOCK_QUERY};
	char *end = NULL;

	r.as.block.height = strtoull(a->data, &end, 10);
	r.as.block.executor = "";
	if (*end != '\0' || a->data[0] == '-' || r.as.block.height > PCTL_CHAIN_HEIGHT_MAX)
		return refuse(a, PC6172_ENGINE_QUERY, "this is no height");
	return serve(a, &r);
}

/* What this node signed of a block that is final. */
static pctl_status answer_statement(asking *a)
{
	const char *dir = a->reader->dir, *path;
	uint64_t height = 0, n = 0;
	char *text = NULL;
	pctl_status status;

	if (!pctl_num_parse_u64(a->data, strlen(a->data), &height) || height == 0 ||
	    height > a->last)
		return refuse(a, PC6172_ENGINE_QUERY, "this is no height of a final block");
	path = pctl_arena_printf(a->arena, "%s/receipts/%" PRIu64 ".statement",
				 dir == NULL ? "." : dir, height);
	if (path == NULL)
		return pctl_no_memory(a->call, "an answer");
	if (!pctl_file_exists(path))
		return refuse(a, PC6172_ENGINE_QUERY, "this node did not end that block");
	status = pctl_file_read(path, DATA_MAX, a->call, &text, &n);
	if (status == PCTL_OK)
		status = give(a, text, n);
	free(text);
	return status;
}

static pctl_status answer_message(asking *a)
{
	pctl_request r;
	pctl_status status;

	if (pctl_request_decode(a->q->data.data, a->q->data.len, NULL, &r) != PCTL_OK)
		return refuse(a, PC6172_ENGINE_QUERY, "the data is no request");
	if (r.kind == PCTL_MSG_QUERY || r.kind == PCTL_MSG_BLOCK_QUERY || r.kind == PCTL_MSG_GET ||
	    r.kind == PCTL_MSG_VIEW || r.kind == PCTL_MSG_GRAPH)
		status = serve(a, &r);
	else
		status = refuse(a, PC6172_ENGINE_QUERY, "the request is no query");
	pctl_request_destroy(&r);
	return status;
}

static pctl_status answer_account(asking *a)
{
	Engine__Account pb = ENGINE__ACCOUNT__INIT;
	uint8_t bytes[128 + PCTL_ACCOUNT_SIZE];
	pctl_ledger_account account;
	pctl_status status =
		pctl_ledger_account_read(pctl_cursor(a->reader), a->data, NULL, &account);

	if (status == PCTL_E_NOT_FOUND || status == PCTL_E_INVALID)
		return refuse(a, PC5714_LEDGER_ACCOUNT, "there is no such account");
	if (status == PCTL_OK)
		status = pctl_account_sequence(pctl_cursor(a->reader), a->data, a->call,
					       &pb.sequence);
	if (status != PCTL_OK)
		return status;
	pb.name = account.name;
	pb.balance = account.balance;
	pb.bond = account.bond;
	return give(a, bytes, engine__account__pack(&pb, bytes));
}

static pctl_status answer_chain(asking *a)
{
	uint8_t id[PCTL_DIGEST_BYTES];
	const pctl_status status = pctl_chain_id(pctl_cursor(a->reader), a->call, id);

	return status == PCTL_OK ? give(a, id, sizeof(id)) : status;
}

/* ---- proofs -------------------------------------------------------------------------------- */

#define WORDS_MAX 8u

static pctl_status give_proof(asking *a, const pctl_str_buf *key, const pctl_str_buf *text)
{
	Abci__ProofOps *ops = pctl_arena_alloc(a->arena, sizeof(*ops));
	Abci__ProofOp *op = pctl_arena_alloc(a->arena, sizeof(*op));
	Abci__ProofOp **list = pctl_arena_alloc(a->arena, sizeof(Abci__ProofOp *));

	if (ops == NULL || op == NULL || list == NULL)
		return pctl_no_memory(a->call, "an answer");
	abci__proof_ops__init(ops);
	abci__proof_op__init(op);
	op->type = (char *)(uintptr_t) "pipectl:row";
	op->key.data = (uint8_t *)pctl_arena_dup_n(a->arena, key->data, key->n);
	op->key.len = key->n;
	op->data.data = (uint8_t *)pctl_arena_dup_n(a->arena, text->data, text->n);
	op->data.len = text->n;
	if (op->key.data == NULL || op->data.data == NULL)
		return pctl_no_memory(a->call, "an answer");
	list[0] = op;
	ops->ops = list;
	ops->n_ops = 1;
	a->out->proof_ops = ops;
	return PCTL_OK;
}

/* The row of a proof is the value, where there is one. */
static pctl_status give_row(asking *a, const pctl_str_buf *text)
{
	pctl_row_proof p;
	const pctl_status status =
		pctl_row_proof_read("a proof", text->data, text->n, a->arena, a->call, &p);

	return status == PCTL_OK && p.n_row != 0 ? give(a, p.row[0].data, p.row[0].n) : status;
}

/* The proof of one row of the last block. What is no key is an answer, what fails here is trouble. */
static pctl_status prove(asking *a, const char *table, const char *const *words, uint32_t n,
			 int is_value)
{
	pctl_str_buf text = PCTL_STR_BUF_INIT, key = PCTL_STR_BUF_INIT;
	node_first_error e;
	const pctl_call first = node_keep_first(&e, a->call);
	pctl_status status = pctl_row_prove(a->reader, table, words, n, &first, &text);

	pctl_str_add(&key, table);
	for (uint32_t i = 0; i < n; i++)
		pctl_str_addf(&key, "\n%s", words[i]);
	if (e.code == PC6142_TREE_KEY || e.code == PC6143_TREE_NONE)
		status = refuse(a, e.code, e.text);
	else if (status != PCTL_OK)
		status = pctl_refuse(a->call, e.code == 0 ? PC1_INTERNAL : e.code, "%s", e.text);
	else if (key.failed)
		status = pctl_no_memory(a->call, "an answer");
	else
		status = give_proof(a, &key, &text);
	if (status == PCTL_OK && a->out->code == 0 && is_value)
		status = give_row(a, &text);
	pctl_str_drop(&text);
	pctl_str_drop(&key);
	return status;
}

static pctl_status prove_account(asking *a)
{
	return prove(a, "accounts", &a->data, 1, 0);
}

static pctl_status prove_job(asking *a)
{
	return prove(a, "jobs", &a->data, 1, 0);
}

static pctl_status prove_chain(asking *a)
{
	const char *number = "0";

	return prove(a, "identity", &number, 1, 0);
}

static pctl_status prove_row(asking *a)
{
	char *words[WORDS_MAX + 1], *at = pctl_arena_dup(a->arena, a->data);
	uint32_t n = 0;

	if (at == NULL)
		return pctl_no_memory(a->call, "an answer");
	for (char *end = at; end != NULL && n <= WORDS_MAX; at = end == NULL ? at : end + 1) {
		words[n++] = at;
		end = strchr(at, '\n');
		if (end != NULL)
			*end = '\0';
	}
	if (n > WORDS_MAX || strlen(a->data) != a->q->data.len)
		return refuse(a, PC6172_ENGINE_QUERY, "the data is no table and key");
	return prove(a, words[0], (const char *const *)words + 1, n - 1, 1);
}

/* Only proved. */
static pctl_status answer_row(asking *a)
{
	return a->q->prove ? PCTL_OK
			   : refuse(a, PC6172_ENGINE_QUERY, "a row is answered with `prove` alone");
}

static pctl_status answer(asking *a)
{
	static const struct {
		const char *path;
		pctl_status (*how)(asking *a);
		pctl_status (*proved)(asking *a);
	} paths[] = {{"/account", answer_account, prove_account},
		     {"/job", answer_job, prove_job},
		     {"/block", answer_block, NULL},
		     {"/statement", answer_statement, NULL},
		     {"/message", answer_message, NULL},
		     {"/chain", answer_chain, prove_chain},
		     {"/row", answer_row, prove_row}};

	if (a->q->height != 0 && (uint64_t)a->q->height != a->last)
		return refuse(a, PC6172_ENGINE_QUERY, "only the last block is answered from");
	if (a->q->data.len > (strcmp(a->q->path, "/message") == 0 ? PCTL_MESSAGE_MAX : DATA_MAX))
		return refuse(a, PC6172_ENGINE_QUERY, "the data is too long");
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		pctl_status status;

		if (strcmp(paths[i].path, a->q->path) != 0)
			continue;
		if (a->q->prove && paths[i].proved == NULL)
			return refuse(a, PC6172_ENGINE_QUERY, "of this path there are no proofs");
		status = paths[i].how(a);
		/* What there is not may be proved as well. */
		if (status != PCTL_OK || !a->q->prove ||
		    (a->out->code != 0 && a->out->code != PC5714_LEDGER_ACCOUNT &&
		     a->out->code != PC5801_JOB_UNKNOWN))
			return status;
		return paths[i].proved(a);
	}
	return refuse(a, PC6172_ENGINE_QUERY, "there is no such path");
}

/* A block may become final meanwhile: what is answered is of one height. */
static pctl_status answer_at_once(asking *a)
{
	const Abci__QueryResponse empty = *a->out;
	pctl_chain_info before, after;
	pctl_status status = pctl_chain_info_read(a->reader, a->call, &before);

	while (status == PCTL_OK) {
		a->last = before.last;
		*a->out = empty;
		status = answer(a);
		if (status == PCTL_OK)
			status = pctl_chain_info_read(a->reader, a->call, &after);
		if (status != PCTL_OK || after.last == before.last)
			break;
		before = after;
	}
	a->out->height = (int64_t)a->last;
	return status;
}

pctl_status pctl_abci_query(pctl_chain *reader, const Abci__QueryRequest *q, pctl_arena *arena,
			    const pctl_call *call, Abci__QueryResponse *out)
{
	asking a = {.reader = reader, .q = q, .arena = arena, .call = call, .out = out};
	/* The reader may be older than the tree. */
	pctl_status status = pctl_track_look(pctl_chain_track(pctl_cursor(reader)), call);

	if (status != PCTL_OK)
		return status;
	a.data = pctl_arena_dup_n(arena, q->data.len == 0 ? "" : (char *)q->data.data, q->data.len);
	if (a.data == NULL)
		return pctl_no_memory(call, "an answer");
	status = answer_at_once(&a);
	out->key = q->data;
	out->codespace = (char *)(uintptr_t)(out->code == 0 ? "" : "pipectl");
	return status;
}
