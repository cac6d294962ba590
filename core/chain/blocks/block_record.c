/* Spelling the files of a block, closing a record with its state root, and comparing two records. */
#include "chain/blocks/block_record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/hex.h"

static const char *const names[PCTL_BLOCK_FILES] = {
	"header", "genesis",  "messages", "results",  "clocks",
	"edges",  "balances", "receipts", "manifest",
};

const char *pctl_block_file_name(uint32_t file)
{
	return file < PCTL_BLOCK_FILES ? names[file] : NULL;
}

void pctl_block_record_clear(pctl_block_record *r)
{
	for (uint32_t i = 0; i < PCTL_BLOCK_FILES; i++)
		free(r->text[i]);
	memset(r, 0, sizeof(*r));
}

/* ---- lines -------------------------------------------------------------------------------- */

/* The number of a request's one field is its kind. */
static const char *kind_word(const uint8_t *bytes, uint64_t n)
{
	static const struct {
		uint32_t kind;
		const char *word;
	} words[] = {
		{PCTL_MSG_UPLOAD, "upload"}, {PCTL_MSG_EXECUTE, "execute"},
		{PCTL_MSG_LEDGER, "ledger"}, {PCTL_MSG_PARAMS, "params"},
		{PCTL_MSG_NAME, "name"},     {PCTL_MSG_CANCEL, "cancel"},
		{PCTL_MSG_LINK, "link"},     {PCTL_MSG_VERDICT, "verdict"},
	};

	for (uint32_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (n > 0 && bytes[0] == (words[i].kind << 3 | 2))
			return words[i].word;
	return "other";
}

pctl_status pctl_block_message_text(uint32_t origin, const uint8_t *bytes, uint64_t n,
				    const pctl_call *call, pctl_str_buf *out)
{
	if (n > PCTL_MESSAGE_MAX)
		return pctl_refuse(call, PC5780_MESSAGE_SIZE, "a message of %" PRIu64 " bytes", n);
	pctl_str_addf(out, "%s %s ", origin == PCTL_ORIGIN_MESSAGE ? "message" : "epoch",
		      kind_word(bytes, n));
	pctl_hex_add(out, bytes, n);
	pctl_str_add(out, "\n");
	return PCTL_OK;
}

void pctl_block_result_text(const pctl_block_result *r, pctl_str_buf *out)
{
	char cid[PCTL_CID_TEXT_SIZE];

	pctl_hex_add(out, r->id, PCTL_DIGEST_BYTES);
	if (r->status == PCTL_JOB_COMPLETE)
		pctl_str_addf(out, " %" PRIu64 " complete %" PRIu64 " %s %" PRIu64 "\n", r->clock,
			      r->gas, pctl_cid_format(&r->output, cid), r->n_output);
	else
		pctl_str_addf(out, " %" PRIu64 " failed %" PRIu64 " %s\n", r->clock, r->gas,
			      r->error);
}

void pctl_block_need_text(const pctl_block_need *n, pctl_str_buf *out)
{
	char cid[PCTL_CID_TEXT_SIZE];

	pctl_str_addf(out, "%s %s %" PRIu64 "\n", pctl_cid_format(&n->cid, cid),
		      n->is_made ? "made" : "needed", n->n_bytes);
}

void pctl_block_genesis_text(const pctl_params *p, pctl_str_buf *out)
{
	char value[PCTL_PARAM_TEXT_SIZE];

	for (uint32_t i = 0; i < PCTL_PARAM_COUNT; i++)
		if (pctl_param_is_said(i, p->values[i]))
			pctl_str_addf(out, "%s %s\n", pctl_param_at(i)->name,
				      pctl_param_format(i, p->values[i], value));
}

/* ---- closing ------------------------------------------------------------------------------ */

static void head_text(const pctl_block_header *h, pctl_str_buf *out)
{
	pctl_str_addf(out,
		      "pipectl-block 1\n"
		      "height %" PRIu64 "\n"
		      "first_clock %" PRIu64 "\n"
		      "final_clock %" PRIu64 "\n"
		      "executor %s\n"
		      "budget %" PRIu64 "\n"
		      "complete %" PRIu64 "\n"
		      "failed %" PRIu64 "\n"
		      "deferred %" PRIu64 "\n"
		      "gas %" PRIu64 "\n"
		      "previous_root ",
		      h->height, h->first_clock, h->clock, h->executor, h->budget, h->complete,
		      h->failed, h->deferred, h->gas);
	pctl_hex_add(out, h->previous, PCTL_DIGEST_BYTES);
	pctl_str_add(out, "\n");
}

static pctl_status take(pctl_hasher *h, const void *text, uint64_t n, const pctl_call *call)
{
	pctl_cid cid;
	pctl_status status = pctl_cid_of(text == NULL ? "" : text, n, call, &cid);

	return status == PCTL_OK ? pctl_hasher_update(h, cid.digest, PCTL_DIGEST_BYTES) : status;
}

static pctl_status take_files(pctl_hasher *hash, const pctl_block_record *r,
			      const pctl_block_header *h, const pctl_str_buf *head,
			      const pctl_call *call)
{
	static const char domain[] = "pipectl state 1";
	pctl_status status = pctl_hasher_update(hash, domain, sizeof(domain));

	if (status == PCTL_OK)
		status = pctl_hasher_update(hash, h->previous, PCTL_DIGEST_BYTES);
	if (status == PCTL_OK)
		status = take(hash, head->data, head->n, call);
	for (uint32_t i = PCTL_BLOCK_GENESIS; status == PCTL_OK && i < PCTL_BLOCK_FILES; i++)
		if (r->text[i] != NULL)
			status = take(hash, r->text[i], r->n_bytes[i], call);
	return status;
}

pctl_status pctl_block_record_close(pctl_block_record *r, pctl_block_header *h,
				    const pctl_call *call)
{
	pctl_str_buf head = PCTL_STR_BUF_INIT;
	pctl_hasher *hash = NULL;
	pctl_cid root;
	pctl_status status;

	head_text(h, &head);
	if (head.failed) {
		pctl_str_drop(&head);
		return pctl_refuse(call, PC2_NOMEM, "no memory for a block");
	}
	status = pctl_hasher_create(call, &hash);
	if (status == PCTL_OK)
		status = take_files(hash, r, h, &head, call);
	if (status != PCTL_OK)
		pctl_hasher_destroy(hash);
	else
		status = pctl_hasher_finish(hash, &root);
	if (status != PCTL_OK) {
		pctl_str_drop(&head);
		return status;
	}
	memcpy(h->root, root.digest, PCTL_DIGEST_BYTES);
	pctl_str_add(&head, "state_root ");
	pctl_hex_add(&head, h->root, PCTL_DIGEST_BYTES);
	pctl_str_add(&head, "\n");
	free(r->text[PCTL_BLOCK_HEADER]);
	r->n_bytes[PCTL_BLOCK_HEADER] = head.n;
	r->text[PCTL_BLOCK_HEADER] = pctl_str_finish(&head);
	return r->text[PCTL_BLOCK_HEADER] != NULL
		       ? PCTL_OK
		       : pctl_refuse(call, PC2_NOMEM, "no memory for a block");
}

char *pctl_block_commit_text(const pctl_block_header *h, char buf[PCTL_BLOCK_COMMIT_TEXT_SIZE])
{
	char root[PCTL_JOB_TEXT_SIZE];

	snprintf(buf, PCTL_BLOCK_COMMIT_TEXT_SIZE,
		 "block %" PRIu64 "\n\nclocks %" PRIu64 " to %" PRIu64 "; jobs: %" PRIu64
		 " complete, %" PRIu64 " failed, %" PRIu64 " deferred; gas %" PRIu64
		 "\nstate root %s\n",
		 h->height, h->first_clock, h->clock, h->complete, h->failed, h->deferred, h->gas,
		 pctl_job_id_format(h->root, root));
	return buf;
}

uint32_t pctl_block_record_files(const pctl_block_record *r, pctl_gitlog_file *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < PCTL_BLOCK_FILES; i++)
		if (r->text[i] != NULL)
			out[n++] = (pctl_gitlog_file){names[i], r->text[i], r->n_bytes[i]};
	return n;
}

/* ---- comparing ---------------------------------------------------------------------------- */

static pctl_status differs(const char *name, uint32_t file, const pctl_block_record *a,
			   const pctl_block_record *b, const pctl_call *call)
{
	const char *x = a->text[file], *y = b->text[file];
	uint64_t line = 1;

	if (x == NULL || y == NULL)
		return pctl_refuse(call, PC5856_BLOCK_DIFFERS, "%s: file %s is %s", name,
				   names[file], x == NULL ? "not to be there" : "missing");
	for (;;) {
		const size_t n = strcspn(x, "\n"), m = strcspn(y, "\n");

		if (n != m || memcmp(x, y, n) != 0 || x[n] != y[m])
			return pctl_refuse(call, PC5856_BLOCK_DIFFERS,
					   "%s: file %s, line %" PRIu64
					   ": recorded is \"%.*s\", made again \"%.*s\"",
					   name, names[file], line, (int)(n < 300 ? n : 300), x,
					   (int)(m < 300 ? m : 300), y);
		if (x[n] == '\0')
			return PCTL_OK;
		x += n + 1;
		y += m + 1;
		line++;
	}
}

pctl_status pctl_block_compare(const char *name, const pctl_block_record *recorded,
			       const pctl_block_record *made, const pctl_call *call)
{
	/* The header follows from the others, so what differs in them is said first. */
	for (uint32_t i = 1; i <= PCTL_BLOCK_FILES; i++) {
		const uint32_t file = i % PCTL_BLOCK_FILES;
		const char *x = recorded->text[file], *y = made->text[file];

		if ((x == NULL) != (y == NULL) || recorded->n_bytes[file] != made->n_bytes[file] ||
		    (x != NULL && memcmp(x, y, recorded->n_bytes[file]) != 0))
			return differs(name, file, recorded, made, call);
	}
	return PCTL_OK;
}
