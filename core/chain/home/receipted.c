/* A receipt against the proof of its job's row; see receipted.h. */
#include "chain/home/receipted.h"

#include <inttypes.h>
#include <string.h>

#include "chain/blocks/block_lines.h"
#include "chain/jobs/jobs.h"
#include "chain/messages/message.h"
#include "chain/state/amount.h"

static const char opening[] = "pipectl-proof ";

uint64_t pctl_receipt_proof_at(const char *text, uint64_t n)
{
	const uint64_t n_opening = sizeof(opening) - 1;

	for (uint64_t at = 0; n >= n_opening && at <= n - n_opening; at++) {
		const char *end;

		if (memcmp(text + at, opening, n_opening) == 0)
			return at;
		end = memchr(text + at, '\n', n - at);
		if (end == NULL)
			break;
		at = (uint64_t)(end - text);
	}
	return n;
}

/* ---- the row -------------------------------------------------------------------------------- */

typedef struct job_row {
	uint64_t ended, gas, n_output;
	int64_t status;
	pctl_row_value id, output, error, message;
} job_row;

static uint64_t amount_of(const pctl_row_value *v)
{
	return v->n == PCTL_AMOUNT_BYTES ? pctl_amount_get(v->data) : 0;
}

/* Columns by their names: the schema is their one place. */
static int read_row(const pctl_state_table *t, const uint8_t *row, uint64_t n, job_row *out)
{
	const char *name;
	uint64_t at = 0, n_key;
	pctl_row_value v;
	char kind;
	int n_name;

	if (!pctl_row_fits(t, row, n, &n_key))
		return 0;
	for (uint32_t i = 0; pctl_state_column(t, i, &name, &n_name, &kind); i++) {
#define IS(word) ((size_t)n_name == strlen(word) && memcmp(name, word, strlen(word)) == 0)
		if (!pctl_row_next(row, n, &at, &v))
			return 0;
		if (IS("id"))
			out->id = v;
		else if (IS("status"))
			out->status = v.number;
		else if (IS("ended"))
			out->ended = (uint64_t)v.number;
		else if (IS("gas_used"))
			out->gas = amount_of(&v);
		else if (IS("output"))
			out->output = v;
		else if (IS("output_bytes"))
			out->n_output = amount_of(&v);
		else if (IS("error"))
			out->error = v;
		else if (IS("message"))
			out->message = v;
#undef IS
	}
	return 1;
}

static int is_text(const pctl_row_value *v, const char *text)
{
	return v->n == strlen(text) && memcmp(v->data, text, v->n) == 0;
}

/* The execute message of the row is the one that the receipt is about. */
static int is_request(const pctl_row_value *message, const uint8_t digest[PCTL_DIGEST_BYTES])
{
	pctl_request r;
	const uint8_t *bytes;
	uint64_t n;
	pctl_cid is;
	int same = 0;

	if (pctl_request_decode(message->data, message->n, NULL, &r) == PCTL_OK &&
	    r.kind == PCTL_MSG_EXECUTE) {
		bytes = pctl_execute_bytes(&r, &n);
		same = pctl_cid_of(bytes, n, NULL, &is) == PCTL_OK &&
		       memcmp(is.digest, digest, PCTL_DIGEST_BYTES) == 0;
	}
	pctl_request_destroy(&r);
	return same;
}

/* What two chains have in common, a job and what came of it, does not make one of them: the signed head names the state. */
static int is_state(const pctl_block_receipt *r, const pctl_row_proof *p,
		    const uint8_t root[PCTL_DIGEST_BYTES])
{
	static const uint8_t none[PCTL_DIGEST_BYTES];

	return p->height != r->height || memcmp(r->who.state, none, sizeof(none)) == 0 ||
	       memcmp(r->who.state, root, sizeof(none)) == 0;
}

static const char *difference(const pctl_block_receipt *r, const job_row *row)
{
	const pctl_block_statement *s = &r->job;
	char cid[PCTL_CID_TEXT_SIZE];

	if (row->id.n != sizeof(s->job) || memcmp(row->id.data, s->job, sizeof(s->job)) != 0)
		return "the row is of another job";
	if (!is_request(&row->message, s->request))
		return "the row has another message";
	if (row->ended != r->height)
		return "the row ended in another block";
	if (row->status != (s->complete ? PCTL_JOB_COMPLETE : PCTL_JOB_FAILED))
		return "the row ended otherwise";
	if (row->gas != s->gas)
		return "the row was charged other gas";
	if (s->complete && (!is_text(&row->output, pctl_cid_format(&s->output, cid)) ||
			    row->n_output != s->n_output))
		return "the row has another output";
	if (!s->complete && !is_text(&row->error, s->error))
		return "the row failed for another reason";
	return NULL;
}

/* ---- the proof ------------------------------------------------------------------------------ */

/* The root that the record in a proof says, which the check holds it to. */
static pctl_status own_root(const pctl_row_proof *p, const pctl_call *call, pctl_trusted *out)
{
	pctl_arena *a = pctl_arena_create();
	pctl_block_header header;
	pctl_status status = a == NULL ? pctl_no_memory(call, "a proof") : PCTL_OK;

	*out = (pctl_trusted){.is_root = 1};
	if (status == PCTL_OK &&
	    pctl_record_read_exact(&pctl_block_header_type, "the proof", (char *)p->header.data,
				   p->header.n, a, NULL, &header) == PCTL_OK)
		memcpy(out->root, header.root, sizeof(out->root));
	else if (status == PCTL_OK)
		status = pctl_refuse(call, PC6145_TREE_PROOF_FALSE,
				     "the proof: the header is not in form");
	pctl_arena_destroy(a);
	return status;
}

pctl_status pctl_receipt_proof_check(const pctl_block_receipt *r, const pctl_row_proof *p,
				     const pctl_trusted *trusted, const pctl_call *call,
				     uint8_t root[PCTL_DIGEST_BYTES])
{
	const int jobs = pctl_state_table_find("jobs", strlen("jobs"));
	const char *fault = NULL;
	pctl_trusted own;
	job_row row;
	uint32_t n;
	pctl_status status = own_root(p, call, &own);

	memset(&row, 0, sizeof(row));
	if (status == PCTL_OK)
		status = pctl_row_proof_check(r->name, p, trusted == NULL ? &own : trusted, call);
	if (status != PCTL_OK)
		return status;
	memcpy(root, own.root, PCTL_DIGEST_BYTES);
	if (!r->is_job)
		fault = "the receipt is of a whole block";
	else if (strcmp(p->table, "jobs") != 0 || p->n_row == 0)
		fault = "the proof shows no row of a job";
	else if (!read_row(&pctl_state_tables(&n)[jobs], p->row[0].data, p->row[0].n, &row))
		fault = "the row is not in the form of its table";
	else if (!is_state(r, p, root))
		fault = "the receipt is of another chain's block";
	else
		fault = difference(r, &row);
	return fault == NULL ? PCTL_OK
			     : pctl_refuse(call, PC5915_RECEIPT_ROW, "%s: %s", r->name, fault);
}
