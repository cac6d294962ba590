/* Signed receipts of blocks and of their jobs: written, read, and one job taken out of its block. */
#include "evidence/receipt/block_receipt.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "foundation/base/num.h"
#include "foundation/diag/diag.h"
#include "evidence/receipt/form.h"
#include "runtime/cas/codings.h"

/* ---- the tables --------------------------------------------------------------------------- */

#define AT(member) offsetof(pctl_block_receipt, member)
static const pctl_record_field fact_fields[] = {
	PCTL_RECORD_FIELD(TEXT, "key", pctl_block_fact, key, .means = "a fact"),
	PCTL_RECORD_FIELD(TEXT, "value", pctl_block_fact, value, .means = "its value")};
static const pctl_record_shape fact =
	PCTL_RECORD_SHAPE(fact_fields, PCTL_RECORD_ARRAY, pctl_block_fact);

static const pctl_record_field standing_fields[] = {
	PCTL_RECORD_FIELD(U64, "jobs", pctl_block_standing, n_jobs, .least = 1,
			  .means = "so many jobs in a row"),
	PCTL_RECORD_FIELD(CODED, "evidence", pctl_block_standing, evidence,
			  .coding = &pctl_evidence_coding, .means = "stand so")};
static const pctl_record_shape standing_shape =
	PCTL_RECORD_SHAPE(standing_fields, PCTL_RECORD_ARRAY, pctl_block_standing);

static const pctl_record_field head_fields[] = {
	{.key = "schema",
	 .kind = PCTL_RECORD_CONSTANT,
	 .constant = PCTL_BLOCK_RECEIPT_SCHEMA,
	 .means = "version of the format"},
	PCTL_RECORD_FIELD(U64, "height", pctl_block_receipt, height, .means = "of the block"),
	PCTL_RECORD_FIELD(U32, "jobs", pctl_block_receipt, n_jobs, .means = "how many it has"),
	PCTL_RECORD_FIELD(HEX, "root", pctl_block_receipt, root, .bound = PCTL_DIGEST_BYTES,
			  .means = "of the tree over the statements of its jobs (RFC 6962)"),
	PCTL_RECORD_FIELD(HEX, "previous", pctl_block_receipt, who.previous,
			  .bound = PCTL_DIGEST_BYTES, .means = "state root that it starts from"),
	PCTL_RECORD_FIELD(HEX, "state", pctl_block_receipt, who.state, .bound = PCTL_DIGEST_BYTES,
			  .means = "state root that it ends with"),
	PCTL_RECORD_FIELD(TEXT, "pipectl", pctl_block_receipt, who.version,
			  .means = "version of the program"),
	PCTL_RECORD_FIELD(TEXT, "executor", pctl_block_receipt, who.executor,
			  .means = "what ran the jobs"),
	PCTL_RECORD_FIELD(LIST, "identity", pctl_block_receipt, who.facts, .n_at = AT(who.n_facts),
			  .of = &fact, .means = "of plugin, device and driver"),
	PCTL_RECORD_FIELD(LIST, "evidence", pctl_block_receipt, who.standings,
			  .n_at = AT(who.n_standings), .of = &standing_shape,
			  .means = "how outputs stand by the word of who signs; together as many "
				   "as there are jobs")};
static const pctl_record_shape head =
	PCTL_RECORD_SHAPE(head_fields, PCTL_RECORD_BLOCK, pctl_block_receipt);
const pctl_record_type pctl_block_receipt_type = {
	.group = "receipt",
	.opening =
		"// What the jobs of a block did, signed by a node that ran them. `pipectl receipt "
		"verify FILE` checks it.\n",
	.shape = &head,
	.form = PC5901_RECEIPT_FORM,
	.contradicts = PC5902_RECEIPT_CONTRADICTS,
	.title = "Receipt of a block",
	.where = "`HEIGHT.receipt`; signed; behind the signature stand the statements of all jobs, "
		 "`statements : ( \"LINE\", .. );`, or those of one job (below)",
};

static const pctl_record_field step_fields[] = {
	{.key = "digest", .kind = PCTL_RECORD_HEX, .bound = PCTL_DIGEST_BYTES}};
static const pctl_record_shape step =
	PCTL_RECORD_SHAPE(step_fields, PCTL_RECORD_ALONE, uint8_t[PCTL_DIGEST_BYTES]);
static const pctl_record_field job_fields[] = {
	PCTL_RECORD_FIELD(U32, "index", pctl_block_receipt, index, .means = "of it in the block"),
	PCTL_RECORD_FIELD(TEXT, "statement", pctl_block_receipt, line, .means = "its line"),
	PCTL_RECORD_FIELD(LIST, "path", pctl_block_receipt, path, .flags = PCTL_RECORD_WITHIN,
			  .n_at = AT(n_path), .bound = PCTL_TREE_PATH_MAX, .of = &step,
			  .means = "from the line to the root")};
static const pctl_record_shape job_shape =
	PCTL_RECORD_SHAPE(job_fields, PCTL_RECORD_BLOCK, pctl_block_receipt);
const pctl_record_type pctl_block_job_type = {
	.group = "job",
	.opening = "",
	.shape = &job_shape,
	.form = PC5901_RECEIPT_FORM,
	.contradicts = PC5902_RECEIPT_CONTRADICTS,
	.title = "One job of a block's receipt",
	.where = "Behind the signed head of the block's receipt",
};

/* ---- writing ------------------------------------------------------------------------------ */

pctl_evidence pctl_block_receipt_evidence(const pctl_block_receipt *r, uint32_t index)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < r->who.n_standings; i++) {
		at += r->who.standings[i].n_jobs;
		if (index < at)
			return r->who.standings[i].evidence;
	}
	return (pctl_evidence){.kind = PCTL_EVIDENCE_NONE};
}

static pctl_status add_statements(pctl_str_buf *s, const pctl_block_statements *all,
				  const pctl_call *call)
{
	pctl_status status = PCTL_OK;

	pctl_str_add(s, "statements : (");
	for (uint32_t i = 0; status == PCTL_OK && i < all->n; i++) {
		pctl_str_buf line = PCTL_STR_BUF_INIT;

		status = pctl_block_statement_text(&all->items[i], call, &line);
		pctl_str_add(s, i == 0 ? "\n  " : ",\n  ");
		if (status == PCTL_OK)
			pctl_record_quote(&pctl_block_receipt_type, line.data, s);
		pctl_str_drop(&line);
	}
	pctl_str_add(s, " );\n");
	return status;
}

static pctl_status write_text(const char *dir, uint64_t height, const pctl_str_buf *s,
			      const pctl_call *call)
{
	char name[40], *path;
	pctl_status status = pctl_file_make_dirs(dir, call);

	snprintf(name, sizeof(name), "%" PRIu64 ".receipt", height);
	path = pctl_path_join(dir, name);
	if (status == PCTL_OK)
		status = path == NULL ? pctl_no_memory(call, "a receipt")
				      : pctl_file_write(path, s->data, s->n, 0, call);
	free(path);
	return status;
}

pctl_status pctl_block_receipt_write(const char *dir, const char *receipts, size_t n,
				     const pctl_block_signing *who, const pctl_signer *signer,
				     const pctl_call *call)
{
	pctl_arena *arena = pctl_arena_create();
	pctl_block_receipt r = {.arena = arena, .who = *who};
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	uint64_t standing = 0;
	pctl_status status;

	if (arena == NULL)
		return pctl_no_memory(call, "a receipt");
	status = pctl_block_statements_read("receipts", receipts, n, arena, call, &r.all);
	if (status == PCTL_OK) {
		r.height = r.all.height;
		r.n_jobs = r.all.n;
		for (uint32_t i = 0; i < who->n_standings; i++)
			standing += who->standings[i].n_jobs;
		if (standing != r.n_jobs)
			status = pctl_refuse(call, PC1_INTERNAL,
					     "%" PRIu64 " of %" PRIu32
					     " jobs of the block have recorded evidence",
					     standing, r.n_jobs);
	}
	if (status == PCTL_OK) {
		memcpy(r.root, r.all.root, sizeof(r.root));
		pctl_record_text(&pctl_block_receipt_type, &r, &text);
		status = pctl_signer_seal(signer, &text, call);
	}
	if (status == PCTL_OK)
		status = add_statements(&text, &r.all, call);
	if (status == PCTL_OK && text.failed)
		status = pctl_no_memory(call, "a receipt");
	if (status == PCTL_OK)
		status = write_text(dir, r.height, &text, call);
	pctl_str_drop(&text);
	pctl_arena_destroy(arena);
	return status;
}

/* ---- reading ------------------------------------------------------------------------------ */

static pctl_status take_head(pctl_block_receipt *r, size_t n_signed, const pctl_call *call)
{
	uint64_t sum = 0;
	pctl_status status = pctl_record_read(&pctl_block_receipt_type, r->name, r->head, n_signed,
					      r->arena, call, r);

	for (uint32_t i = 0; status == PCTL_OK && i < r->who.n_standings; i++)
		(void)pctl_num_add(sum, r->who.standings[i].n_jobs, &sum);
	if (status == PCTL_OK && sum != r->n_jobs)
		status = pctl_refuse(call, PC5901_RECEIPT_FORM,
				     "%s: `evidence` is of %" PRIu64 " jobs, there are %" PRIu32,
				     r->name, sum, r->n_jobs);
	return status == PCTL_OK ? pctl_record_check(&pctl_block_receipt_type, r->name, r->head,
						     n_signed, call, r)
				 : status;
}

static pctl_status take_all(pctl_block_receipt *r, const char *const *lines, uint32_t n,
			    const pctl_call *call)
{
	pctl_block_statement *items = pctl_arena_array(r->arena, n + (size_t)1, sizeof(*items));
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_status status = items == NULL ? pctl_no_memory(call, "a receipt") : PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < n; i++)
		status = pctl_block_statement_read(lines[i], strlen(lines[i]), r->arena, call,
						   &items[i]);
	r->all = (pctl_block_statements){.height = r->height, .items = items, .n = n};
	if (status == PCTL_OK)
		status = pctl_block_statements_text(&r->all, call, &text);
	pctl_str_drop(&text);
	if (status == PCTL_OK && n != r->n_jobs)
		status = pctl_refuse(call, PC5902_RECEIPT_CONTRADICTS,
				     "%s: %" PRIu32 " statements stand there, %" PRIu32
				     " were signed",
				     r->name, n, r->n_jobs);
	if (status == PCTL_OK && memcmp(r->all.root, r->root, sizeof(r->root)) != 0)
		status = pctl_refuse(call, PC5902_RECEIPT_CONTRADICTS,
				     "%s: the statements do not give the root that was signed",
				     r->name);
	return status;
}

/* The tail of a job's receipt. */
static pctl_status take_job(pctl_block_receipt *r, const char *tail, size_t n,
			    const pctl_call *call)
{
	uint8_t leaf[PCTL_DIGEST_BYTES];
	pctl_status status =
		pctl_record_read_exact(&pctl_block_job_type, r->name, tail, n, r->arena, call, r);

	if (status == PCTL_OK)
		status = pctl_block_statement_read(r->line, strlen(r->line), r->arena, call,
						   &r->job);
	if (status == PCTL_OK)
		status = pctl_tree_leaf(r->line, strlen(r->line), call, leaf);
	if (status == PCTL_OK &&
	    !pctl_tree_proof_valid(leaf, r->index, r->n_jobs,
				   (const uint8_t(*)[PCTL_DIGEST_BYTES])r->path, r->n_path,
				   r->root))
		status = pctl_refuse(call, PC5902_RECEIPT_CONTRADICTS,
				     "%s: the path does not lead to the root that was signed",
				     r->name);
	r->is_job = 1;
	return status;
}

static pctl_status take_tail(pctl_block_receipt *r, const char *tail, size_t n,
			     const pctl_call *call)
{
	const char *const *lines;
	uint32_t n_lines;

	if (n >= 6 && memcmp(tail, "job : ", 6) == 0)
		return take_job(r, tail, n, call);
	if (!pctl_form_lines_read(tail, n, "statements", r->arena, &lines, &n_lines))
		return pctl_refuse(call, PC5902_RECEIPT_CONTRADICTS,
				   "%s: what stands behind the signature is no list of statements",
				   r->name);
	return take_all(r, lines, n_lines, call);
}

static pctl_status parse(pctl_block_receipt *r, const char *text, size_t n, const pctl_call *call)
{
	size_t n_signed;
	pctl_status status;

	r->n_head = pctl_form_head(text, n);
	if (r->n_head > PCTL_RECEIPT_HEAD_MAX)
		return pctl_refuse(call, PC5901_RECEIPT_FORM, "%s has a head of %zu bytes", r->name,
				   r->n_head);
	r->head = pctl_arena_dup_n(r->arena, text, r->n_head);
	if (r->head == NULL)
		return pctl_no_memory(call, "a receipt");
	status = pctl_sealed_check(r->name, r->head, r->n_head, call, &n_signed, r->signer);
	if (status == PCTL_OK)
		status = take_head(r, n_signed, call);
	return status == PCTL_OK ? take_tail(r, text + r->n_head, n - r->n_head, call) : status;
}

pctl_status pctl_block_receipt_parse(const char *name, const char *text, size_t n,
				     const pctl_call *call, pctl_block_receipt **out)
{
	pctl_arena *arena = pctl_arena_create();
	pctl_block_receipt *r = arena == NULL ? NULL : pctl_arena_alloc(arena, sizeof(*r));
	pctl_status status;

	*out = NULL;
	if (r == NULL) {
		pctl_arena_destroy(arena);
		return pctl_no_memory(call, "a receipt");
	}
	r->arena = arena;
	r->name = pctl_arena_dup(arena, name);
	status = r->name == NULL ? pctl_no_memory(call, "a receipt") : parse(r, text, n, call);
	if (status == PCTL_OK)
		*out = r;
	else
		pctl_block_receipt_destroy(r);
	return status;
}

void pctl_block_receipt_destroy(pctl_block_receipt *r)
{
	if (r != NULL)
		pctl_arena_destroy(r->arena); /* which holds r itself */
}

/* ---- one job ------------------------------------------------------------------------------ */

static pctl_status find_path(const pctl_block_receipt *block, pctl_block_receipt *one,
			     const pctl_call *call)
{
	uint8_t(*leaves)[PCTL_DIGEST_BYTES] = calloc(block->all.n + (size_t)1, PCTL_DIGEST_BYTES);
	pctl_status status = leaves == NULL ? pctl_no_memory(call, "a receipt") : PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < block->all.n; i++) {
		pctl_str_buf line = PCTL_STR_BUF_INIT;

		status = pctl_block_statement_text(&block->all.items[i], call, &line);
		if (status == PCTL_OK)
			status = pctl_tree_leaf(line.data, line.n, call, leaves[i]);
		pctl_str_drop(&line);
	}
	if (status == PCTL_OK)
		status = pctl_tree_proof((const uint8_t(*)[PCTL_DIGEST_BYTES])leaves, block->all.n,
					 one->index, call, one->path, &one->n_path);
	free(leaves);
	return status;
}

pctl_status pctl_block_receipt_export(const pctl_block_receipt *block,
				      const uint8_t job[PCTL_DIGEST_BYTES], const pctl_call *call,
				      pctl_str_buf *out)
{
	pctl_block_receipt one = {.index = 0};
	pctl_str_buf line = PCTL_STR_BUF_INIT;
	char hex[2 * PCTL_DIGEST_BYTES + 1];
	pctl_status status;

	while (one.index < block->all.n &&
	       memcmp(block->all.items[one.index].job, job, PCTL_DIGEST_BYTES) != 0)
		one.index++;
	if (one.index == block->all.n)
		return pctl_refuse(call, PC5921_BLOCK_NO_JOB,
				   "%s: job %s is not among the %" PRIu32 " of block %" PRIu64,
				   block->name, pctl_digest_hex(job, hex), block->all.n,
				   block->height);
	status = pctl_block_statement_text(&block->all.items[one.index], call, &line);
	if (status == PCTL_OK)
		status = find_path(block, &one, call);
	if (status == PCTL_OK) {
		pctl_str_add_n(out, block->head, block->n_head);
		one.line = line.data;
		status = pctl_record_put(&pctl_block_job_type, &one, out, "a receipt", call);
	}
	pctl_str_drop(&line);
	return status;
}
