/* The files of a block (their lines: block_lines.c), closing a record with its state root, and comparing two records. */
#include "chain/blocks/block_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- closing ------------------------------------------------------------------------------ */

static pctl_status take(pctl_hasher *h, const void *text, uint64_t n, const pctl_call *call)
{
	pctl_cid cid;
	pctl_status status = pctl_cid_of(text == NULL ? "" : text, n, call, &cid);

	return status == PCTL_OK ? pctl_hasher_update(h, cid.digest, PCTL_DIGEST_BYTES) : status;
}

/* The header without its last line is what the root is taken over. */
static pctl_status take_files(pctl_hasher *hash, const pctl_block_record *r,
			      const pctl_block_header *h, const pctl_str_buf *head,
			      const pctl_call *call)
{
	static const char domains[2][16] = {"pipectl state 1", "pipectl state 2"};
	const size_t n_last = strlen("state_root \n") + 2 * sizeof(h->root);
	pctl_status status =
		pctl_hasher_update(hash, domains[h->tree[0] != '\0'], sizeof(domains[0]));

	if (status == PCTL_OK)
		status = pctl_hasher_update(hash, h->previous, PCTL_DIGEST_BYTES);
	if (status == PCTL_OK)
		status = take(hash, head->data, head->n - n_last, call);
	for (uint32_t i = PCTL_BLOCK_GENESIS; status == PCTL_OK && i < PCTL_BLOCK_FILES; i++)
		if (r->text[i] != NULL)
			status = take(hash, r->text[i], r->n_bytes[i], call);
	return status;
}

static pctl_status find_root(const pctl_block_record *r, pctl_block_header *h,
			     const pctl_call *call)
{
	pctl_str_buf head = PCTL_STR_BUF_INIT;
	pctl_hasher *hash = NULL;
	pctl_status status;

	pctl_record_text(&pctl_block_header_type, h, &head);
	status = head.failed ? pctl_no_memory(call, "a block") : pctl_hasher_create(call, &hash);
	if (status == PCTL_OK)
		status = take_files(hash, r, h, &head, call);
	status = pctl_hasher_end(hash, status, h->root);
	pctl_str_drop(&head);
	return status;
}

pctl_status pctl_block_record_close(pctl_block_record *r, pctl_block_header *h,
				    const pctl_call *call)
{
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_status status = find_root(r, h, call);

	if (status != PCTL_OK)
		return status;
	pctl_record_text(&pctl_block_header_type, h, &text);
	free(r->text[PCTL_BLOCK_HEADER]);
	r->n_bytes[PCTL_BLOCK_HEADER] = text.n;
	r->text[PCTL_BLOCK_HEADER] = pctl_str_finish(&text);
	return r->text[PCTL_BLOCK_HEADER] != NULL ? PCTL_OK : pctl_no_memory(call, "a block");
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
	/* Without edges. */
	const uint32_t is_dense =
		!pctl_block_has_file(r->text[PCTL_BLOCK_HEADER], PCTL_BLOCK_EDGES);
	uint32_t n = 0;

	for (uint32_t i = 0; i < PCTL_BLOCK_FILES; i++)
		if (r->text[i] != NULL)
			out[n++] = (pctl_gitlog_file){names[i], r->text[i], r->n_bytes[i], is_dense,
						      0};
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
				   names[file],
				   x == NULL ? "made again, but not in the record"
					     : "in the record, but not made again");
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
