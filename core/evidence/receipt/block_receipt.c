/* Signed receipts of blocks and of their jobs: written, read, and one job taken out of its block. */
#include "evidence/receipt/block_receipt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "foundation/base/num.h"
#include "foundation/diag/diag.h"
#include "evidence/receipt/form.h"

#define OPENING                                                                              \
	"// What the jobs of a block did, signed by a node that ran them. `pipectl receipt " \
	"verify FILE` checks it.\nreceipt : {\n"

/* ---- writing ------------------------------------------------------------------------------ */

static void add_head(pctl_str_buf *s, const pctl_block_receipt *r)
{
	pctl_str_add(s, OPENING);
	pctl_form_string(s, "  ", "schema", PCTL_BLOCK_RECEIPT_SCHEMA);
	pctl_form_u64(s, "  ", "height", r->height);
	pctl_form_u64(s, "  ", "jobs", r->n_jobs);
	pctl_form_digest(s, "  ", "root", r->root);
	pctl_form_digest(s, "  ", "previous", r->who.previous);
	pctl_form_digest(s, "  ", "state", r->who.state);
	pctl_form_string(s, "  ", "pipectl", r->who.version);
	pctl_form_string(s, "  ", "executor", r->who.executor);
	pctl_str_add(s, "  identity : (");
	for (uint32_t i = 0; i < r->who.n_facts; i++) {
		pctl_str_add(s, i == 0 ? "\n    [ " : ",\n    [ ");
		pctl_form_quote(s, r->who.facts[i].key);
		pctl_str_add(s, ", ");
		pctl_form_quote(s, r->who.facts[i].value);
		pctl_str_add(s, " ]");
	}
	pctl_str_add(s, " );\n  evidence : (");
	for (uint32_t i = 0; i < r->who.n_standings; i++) {
		const pctl_block_standing *x = &r->who.standings[i];
		char text[PCTL_EVIDENCE_TEXT];

		pctl_str_addf(s, "%s[ \"%" PRIu64 "\", \"%s\" ]", i == 0 ? "\n    " : ",\n    ",
			      x->n_jobs, pctl_evidence_text(x->evidence, text));
	}
	pctl_str_add(s, " );\n};\n");
}

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
			pctl_form_quote(s, line.data);
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
					     "%" PRIu64 " of %" PRIu32 " jobs stand somehow",
					     standing, r.n_jobs);
	}
	if (status == PCTL_OK) {
		memcpy(r.root, r.all.root, sizeof(r.root));
		add_head(&text, &r);
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

static void take_standings(pctl_form_taker *t, const pctl_conf_value *g, uint64_t jobs,
			   pctl_block_signing *who)
{
	const pctl_conf_value *list = pctl_form_take_list(t, g, "evidence");
	pctl_block_standing *to = pctl_form_take_room(t, list->n_items, sizeof(*to));
	uint64_t sum = 0;

	for (uint32_t i = 0; to != NULL && i < list->n_items; i++) {
		const pctl_conf_value *v = list->items[i];

		if (v->kind != PCTL_CONF_ARRAY || v->n_items != 2 || v->items[0]->text == NULL ||
		    v->items[1]->text == NULL ||
		    !pctl_num_parse_u64(v->items[0]->text, strlen(v->items[0]->text),
					&to[i].n_jobs) ||
		    to[i].n_jobs == 0 || !pctl_num_add(sum, to[i].n_jobs, &sum) ||
		    !pctl_evidence_parse(v->items[1]->text, &to[i].evidence)) {
			t->missing = "evidence";
			return;
		}
	}
	if (sum != jobs)
		t->missing = "evidence";
	who->standings = to;
	who->n_standings = list->n_items;
}

static pctl_status take_head(pctl_block_receipt *r, size_t n_signed, const pctl_call *call)
{
	pctl_form_taker t = {.arena = r->arena};
	const pctl_conf_value *g, *list;
	pctl_block_fact *facts;
	pctl_conf *conf = NULL;
	uint64_t jobs;
	pctl_status status = pctl_conf_read_text(r->name, r->head, n_signed, call, &conf);

	if (status != PCTL_OK)
		return status;
	g = pctl_form_take_group(&t, pctl_conf_root(conf), "receipt");
	if (strcmp(pctl_form_take_string(&t, g, "schema"), PCTL_BLOCK_RECEIPT_SCHEMA) != 0)
		t.missing = "schema";
	r->height = pctl_form_take_u64(&t, g, "height");
	jobs = pctl_form_take_u64(&t, g, "jobs");
	pctl_form_take_digest(&t, g, "root", r->root);
	pctl_form_take_digest(&t, g, "previous", r->who.previous);
	pctl_form_take_digest(&t, g, "state", r->who.state);
	r->who.version = pctl_form_take_string(&t, g, "pipectl");
	r->who.executor = pctl_form_take_string(&t, g, "executor");
	list = pctl_form_take_list(&t, g, "identity");
	facts = pctl_form_take_room(&t, list->n_items, sizeof(*facts));
	for (uint32_t i = 0; facts != NULL && i < list->n_items; i++) {
		const pctl_conf_value *v = list->items[i];

		if (v->kind != PCTL_CONF_ARRAY || v->n_items != 2 || v->items[0]->text == NULL ||
		    v->items[1]->text == NULL) {
			t.missing = "identity";
			break;
		}
		facts[i].key = pctl_arena_dup(r->arena, v->items[0]->text);
		facts[i].value = pctl_arena_dup(r->arena, v->items[1]->text);
		if (facts[i].key == NULL || facts[i].value == NULL)
			t.missing = "memory";
	}
	r->who.facts = facts;
	r->who.n_facts = list->n_items;
	r->n_jobs = (uint32_t)jobs;
	if (jobs > UINT32_MAX)
		t.missing = "jobs";
	take_standings(&t, g, jobs, &r->who);
	pctl_conf_destroy(conf);
	return t.missing == NULL ? PCTL_OK
				 : pctl_refuse(call, PC5901_RECEIPT_FORM,
					       "%s: \"%s\" is missing or is no value of a %s",
					       r->name, t.missing, PCTL_BLOCK_RECEIPT_SCHEMA);
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

static void add_job(pctl_str_buf *s, const pctl_block_receipt *r, const char *line)
{
	char hex[2 * PCTL_DIGEST_BYTES + 1];

	pctl_str_addf(s, "job : {\n  index = \"%" PRIu32 "\";\n", r->index);
	pctl_form_string(s, "  ", "statement", line);
	pctl_str_add(s, "  path : (");
	for (uint32_t i = 0; i < r->n_path; i++)
		pctl_str_addf(s, "%s\"%s\"", i == 0 ? "\n    " : ",\n    ",
			      pctl_digest_hex(r->path[i], hex));
	pctl_str_add(s, " );\n};\n");
}

/* The tail of a job's receipt, held against what writing gives. */
static pctl_status take_job(pctl_block_receipt *r, const char *tail, size_t n,
			    const pctl_call *call)
{
	pctl_form_taker t = {.arena = r->arena};
	const pctl_conf_value *g, *list;
	pctl_str_buf again = PCTL_STR_BUF_INIT;
	uint8_t leaf[PCTL_DIGEST_BYTES];
	pctl_conf *conf = NULL;
	const char *line;
	uint64_t index;
	pctl_status status = pctl_conf_read_text(r->name, tail, n, call, &conf);

	if (status != PCTL_OK)
		return status;
	g = pctl_form_take_group(&t, pctl_conf_root(conf), "job");
	index = pctl_form_take_u64(&t, g, "index");
	line = pctl_form_take_string(&t, g, "statement");
	list = pctl_form_take_list(&t, g, "path");
	for (uint32_t i = 0; i < list->n_items && i < PCTL_TREE_PATH_MAX; i++)
		if (list->items[i]->text == NULL ||
		    !pctl_digest_parse_hex(list->items[i]->text, r->path[i]))
			t.missing = "path";
	r->n_path = list->n_items;
	r->index = (uint32_t)index;
	if (r->n_path > PCTL_TREE_PATH_MAX || index > UINT32_MAX)
		t.missing = "path";
	if (t.missing != NULL) {
		status = pctl_refuse(call, PC5901_RECEIPT_FORM, "%s: \"%s\" is missing or no value",
				     r->name, t.missing);
		goto out;
	}
	add_job(&again, r, line);
	if (again.failed || again.n != n || memcmp(again.data, tail, n) != 0) {
		status = pctl_refuse(call, PC5902_RECEIPT_CONTRADICTS,
				     "%s is not written as receipts are", r->name);
		goto out;
	}
	status = pctl_block_statement_read(line, strlen(line), r->arena, call, &r->job);
	if (status == PCTL_OK)
		status = pctl_tree_leaf(line, strlen(line), call, leaf);
	if (status == PCTL_OK &&
	    !pctl_tree_proof_valid(leaf, r->index, r->n_jobs,
				   (const uint8_t(*)[PCTL_DIGEST_BYTES])r->path, r->n_path,
				   r->root))
		status = pctl_refuse(call, PC5902_RECEIPT_CONTRADICTS,
				     "%s: the path does not lead to the root that was signed",
				     r->name);
	r->is_job = 1;
out:
	pctl_str_drop(&again);
	pctl_conf_destroy(conf);
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
	pctl_str_buf again = PCTL_STR_BUF_INIT;
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
	if (status != PCTL_OK)
		return status;
	add_head(&again, r);
	if (again.failed || again.n != n_signed || memcmp(again.data, r->head, n_signed) != 0)
		status = pctl_refuse(call, PC5902_RECEIPT_CONTRADICTS,
				     "%s is not written as receipts are", r->name);
	pctl_str_drop(&again);
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
		add_job(out, &one, line.data);
		if (out->failed)
			status = pctl_no_memory(call, "a receipt");
	}
	pctl_str_drop(&line);
	return status;
}
