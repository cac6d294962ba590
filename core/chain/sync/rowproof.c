/* Proofs of rows: the table of the file, and checking one. */
#include "chain/sync/rowproof.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "chain/blocks/block_lines.h"
#include "foundation/base/hex.h"
#include "foundation/base/num.h"

/* ---- the table ------------------------------------------------------------------------------ */

typedef pctl_row_proof proof;
typedef pctl_proof_bytes piece;
typedef pctl_proof_leaf leaf;
typedef pctl_proof_digest digest;

#define PCTL_PROOF_BYTES_MAX (1u << 24)
#define BYTES(KEY, M, MEANS)                                                         \
	PCTL_RECORD_FIELD(BYTES, KEY, proof, M.data, .n_at = offsetof(proof, M.n),   \
			  .flags = PCTL_RECORD_NAMED, .bound = PCTL_PROOF_BYTES_MAX, \
			  .means = MEANS)
static const pctl_record_field row_fields[] = {
	PCTL_RECORD_FIELD(BYTES, "row", piece, data, .n_at = offsetof(piece, n),
			  .bound = PCTL_PROOF_BYTES_MAX, .means = "canonical bytes")};
static const pctl_record_shape row_shape =
	PCTL_RECORD_OF_LINES(row_fields, PCTL_RECORD_ROW, ' ', piece);
static const pctl_record_field leaf_fields[] = {
	PCTL_RECORD_SIZED(HEX, "key", leaf, key, .means = "of a leaf"),
	PCTL_RECORD_SIZED(HEX, "value", leaf, value, .means = "of it")};
static const pctl_record_shape leaf_shape =
	PCTL_RECORD_OF_LINES(leaf_fields, PCTL_RECORD_ROW, ' ', leaf);
static const pctl_record_field digest_fields[] = {
	PCTL_RECORD_SIZED(HEX, "digest", digest, digest, .means = "a hash")};
static const pctl_record_shape digest_shape =
	PCTL_RECORD_OF_LINES(digest_fields, PCTL_RECORD_ROW, ' ', digest);

static const pctl_record_field proof_fields[] = {
	{.key = "pipectl-proof",
	 .kind = PCTL_RECORD_CONSTANT,
	 .flags = PCTL_RECORD_NAMED,
	 .constant = "1",
	 .means = "version of the format"},
	PCTL_RECORD_FIELD(U64, "height", proof, height, .flags = PCTL_RECORD_NAMED, .least = 1,
			  .bound = INT64_MAX, .means = "of the block"),
	PCTL_RECORD_SIZED(CHARS, "table", proof, table, .flags = PCTL_RECORD_NAMED, .least = 1,
			  .means = "of `schema.def`"),
	BYTES("key", key, "canonical bytes of the primary key"),
	PCTL_RECORD_FIELD(LIST, "row", proof, row, .n_at = offsetof(proof, n_row),
			  .flags = PCTL_RECORD_NAMED | PCTL_RECORD_WITHIN, .bound = 1,
			  .of = &row_shape, .means = "the row, unless there is none"),
	PCTL_RECORD_FIELD(LIST, "other", proof, other, .n_at = offsetof(proof, n_other),
			  .flags = PCTL_RECORD_NAMED | PCTL_RECORD_WITHIN, .bound = 1,
			  .of = &leaf_shape,
			  .means = "leaf at whose place that of the key would be"),
	PCTL_RECORD_FIELD(LIST, "sibling", proof, siblings, .n_at = offsetof(proof, n_siblings),
			  .flags = PCTL_RECORD_NAMED, .bound = PCTL_RADIX_DEPTH,
			  .of = &digest_shape, .means = "on the way from the root of the tree"),
	PCTL_RECORD_FIELD(LIST, "file", proof, files, .n_at = offsetof(proof, n_files),
			  .flags = PCTL_RECORD_NAMED | PCTL_RECORD_WITHIN,
			  .bound = PCTL_BLOCK_FILES - 1, .of = &digest_shape,
			  .means = "SHA-256 of each file of the record but `header`"),
	BYTES("header", header, "the file `header`"),
	BYTES("commit", commit, "the git commit of the block, without git's head"),
	BYTES("entries", entries, "the git tree of that commit, likewise")};
static const pctl_record_shape proof_shape =
	PCTL_RECORD_OF_LINES(proof_fields, PCTL_RECORD_LINES, ' ', proof);
const pctl_record_type pctl_row_proof_type = {
	.opening = "",
	.shape = &proof_shape,
	.quoting = PCTL_RECORD_PLAIN,
	.form = PC6144_TREE_PROOF_FORM,
	.contradicts = PC6144_TREE_PROOF_FORM,
	.title = "Proof of a row",
	.where = "What `ledger prove` writes; SEMANTICS.md 8.7 says when it holds",
};

pctl_status pctl_row_proof_read(const char *name, const char *text, size_t n, pctl_arena *a,
				const pctl_call *call, pctl_row_proof *out)
{
	return pctl_record_read_exact(&pctl_row_proof_type, name, text, n, a, call, out);
}

/* ---- the trusted block ---------------------------------------------------------------------- */

pctl_status pctl_trusted_read(const char *text, const pctl_call *call, pctl_trusted *out)
{
	memset(out, 0, sizeof(*out));
	out->is_root = strlen(text) == 2 * (size_t)PCTL_DIGEST_BYTES;
	if (out->is_root ? pctl_digest_parse_hex(text, out->root)
			 : pctl_gitlog_oid_parse(text, &out->commit))
		return PCTL_OK;
	return pctl_refuse(
		call, PC10_USAGE,
		"\"%.80s\" is neither the id of a block's commit (40 hex digits) nor its "
		"state root (64)",
		text);
}

static int git_name(const char *kind, const piece *p, uint8_t out[PCTL_GITLOG_OID_BYTES])
{
	return pctl_gitlog_object_id(kind, p->data, p->n, out);
}

/* Does the tree have this file under this name: "100644 NAME" NUL and 20 bytes, one behind the other. */
static int has_file(const piece *tree, const char *name, const uint8_t id[PCTL_GITLOG_OID_BYTES])
{
	static const char mode[] = "100644 ";
	const size_t n_mode = sizeof(mode) - 1, n_name = strlen(name) + 1;

	for (uint32_t at = 0; at < tree->n;) {
		const uint8_t *from = tree->data + at;
		const uint8_t *zero = memchr(from, '\0', tree->n - at);
		const size_t left = zero == NULL ? 0 : (size_t)(tree->data + tree->n - zero) - 1;

		if (left < PCTL_GITLOG_OID_BYTES)
			return 0;
		if ((size_t)(zero - from) + 1 == n_mode + n_name &&
		    memcmp(from, mode, n_mode) == 0 && memcmp(from + n_mode, name, n_name) == 0)
			return memcmp(zero + 1, id, PCTL_GITLOG_OID_BYTES) == 0;
		at = (uint32_t)(zero - tree->data) + 1 + PCTL_GITLOG_OID_BYTES;
	}
	return 0;
}

static const char *commit_fault(const piece *header, const piece *commit, const piece *entries,
				const pctl_gitlog_oid *trusted)
{
	char line[8 + 2 * PCTL_GITLOG_OID_BYTES] = "tree ";
	uint8_t id[PCTL_GITLOG_OID_BYTES];

	if (!git_name("blob", header, id) || !has_file(entries, "header", id))
		return "the header is not in the tree of the commit";
	if (!git_name("tree", entries, id))
		return "no SHA-1 is to be had";
	pctl_hex_print(id, sizeof(id), line + 5);
	strcat(line, "\n");
	if (commit->n < strlen(line) || memcmp(commit->data, line, strlen(line)) != 0)
		return "the tree is not that of the commit";
	if (!git_name("commit", commit, id) || memcmp(id, trusted->id, sizeof(id)) != 0)
		return "the commit is not the trusted one";
	return NULL;
}

static pctl_status state_root(const pctl_block_header *h, const piece *header, const digest *files,
			      uint32_t n_files, const pctl_call *call,
			      uint8_t out[PCTL_DIGEST_BYTES])
{
	static const char domain[] = "pipectl state 2";
	const size_t n_last = strlen("state_root \n") + 2 * sizeof(h->root);
	pctl_hasher *hash = NULL;
	pctl_cid head;
	/* a header in form is longer than its last line */
	pctl_status status = pctl_cid_of(header->data, header->n - n_last, call, &head);

	if (status == PCTL_OK)
		status = pctl_hasher_create(call, &hash);
	if (status == PCTL_OK)
		status = pctl_hasher_update(hash, domain, sizeof(domain));
	if (status == PCTL_OK)
		status = pctl_hasher_update(hash, h->previous, sizeof(h->previous));
	if (status == PCTL_OK)
		status = pctl_hasher_update(hash, head.digest, sizeof(head.digest));
	for (uint32_t i = 0; status == PCTL_OK && i < n_files; i++)
		status = pctl_hasher_update(hash, files[i].digest, sizeof(files[i].digest));
	return pctl_hasher_end(hash, status, out);
}

pctl_status pctl_record_is_trusted(const char *name, uint32_t code, const pctl_proof_bytes *header,
				   const pctl_proof_digest *files, uint32_t n_files,
				   const pctl_proof_bytes *commit, const pctl_proof_bytes *entries,
				   const pctl_trusted *trusted, const pctl_call *call,
				   pctl_block_header *out)
{
	pctl_arena *a = pctl_arena_create();
	uint8_t root[PCTL_DIGEST_BYTES], tree[PCTL_DIGEST_BYTES];
	const char *fault = NULL;
	pctl_status status;

	if (a == NULL)
		return pctl_no_memory(call, "a proof");
	status = pctl_record_read_exact(&pctl_block_header_type, name, (const char *)header->data,
					header->n, a, NULL, out);
	pctl_arena_destroy(a);
	if (status != PCTL_OK)
		return pctl_refuse(call, code, "%s: the header is not in form", name);
	status = state_root(out, header, files, n_files, call, root);
	if (status != PCTL_OK)
		return status;
	if (!pctl_digest_parse_hex(out->tree, tree))
		fault = "the block has no tree over its state";
	else if (memcmp(root, out->root, sizeof(root)) != 0)
		fault = "the state root is not that of the record";
	else if (trusted->is_root && memcmp(root, trusted->root, sizeof(root)) != 0)
		fault = "the state root is not the trusted one";
	else if (!trusted->is_root)
		fault = commit_fault(header, commit, entries, &trusted->commit);
	return fault == NULL ? PCTL_OK : pctl_refuse(call, code, "%s: %s", name, fault);
}

/* ---- checking ------------------------------------------------------------------------------- */

static pctl_status is_false(const char *name, const char *what, const pctl_call *call)
{
	return pctl_refuse(call, PC6145_TREE_PROOF_FALSE, "%s: %s", name, what);
}

/* The leaf at the end of the way, or none. */
static const char *end_of(pctl_radix *t, const proof *p, const uint8_t key[PCTL_DIGEST_BYTES],
			  pctl_radix_leaf *out, const pctl_call *call)
{
	if (p->n_row != 0) {
		if (p->n_other != 0 || p->row[0].n < p->key.n ||
		    memcmp(p->row[0].data, p->key.data, p->key.n) != 0)
			return "the row is not of this key";
		memcpy(out->key, key, PCTL_DIGEST_BYTES);
		return pctl_row_leaf_value(t, p->row[0].data, p->row[0].n, call, out->value) ==
				       PCTL_OK
			       ? NULL
			       : "no SHA-256 is to be had";
	}
	if (p->n_other == 0)
		return NULL;
	memcpy(out->key, p->other[0].key, PCTL_DIGEST_BYTES);
	memcpy(out->value, p->other[0].value, PCTL_DIGEST_BYTES);
	return memcmp(out->key, key, PCTL_DIGEST_BYTES) == 0 ||
			       !pctl_radix_shares(out->key, key, p->n_siblings)
		       ? "the other leaf does not stand where this key would"
		       : NULL;
}

static pctl_status climb(pctl_radix *t, const char *name, const proof *p, const pctl_call *call,
			 uint8_t root[PCTL_DIGEST_BYTES])
{
	uint8_t key[PCTL_DIGEST_BYTES], at[PCTL_DIGEST_BYTES];
	pctl_radix_leaf end = {.is_gone = 0};
	const char *fault;
	pctl_status status = pctl_row_leaf_key(t, p->table, p->key.data, p->key.n, call, key);

	if (status != PCTL_OK)
		return status;
	fault = end_of(t, p, key, &end, call);
	if (fault != NULL)
		return is_false(name, fault, call);
	status = pctl_radix_hash_of(t, &end, p->n_row + p->n_other, PCTL_RADIX_DEPTH, call, at);
	return status == PCTL_OK
		       ? pctl_radix_climb(t, key,
					  (uint8_t(*)[PCTL_DIGEST_BYTES])(void *)p->siblings,
					  p->n_siblings, at, call, root)
		       : status;
}

pctl_status pctl_row_proof_check(const char *name, const pctl_row_proof *p,
				 const pctl_trusted *trusted, const pctl_call *call)
{
	uint8_t root[PCTL_DIGEST_BYTES], must[PCTL_DIGEST_BYTES];
	pctl_block_header header;
	pctl_radix *t = NULL;
	pctl_status status = pctl_radix_hasher(call, &t);

	if (status == PCTL_OK)
		status = climb(t, name, p, call, root);
	pctl_radix_close(t);
	if (status == PCTL_OK)
		status = pctl_record_is_trusted(name, PC6145_TREE_PROOF_FALSE, &p->header, p->files,
						p->n_files, &p->commit, &p->entries, trusted, call,
						&header);
	if (status != PCTL_OK)
		return status;
	if (!pctl_digest_parse_hex(header.tree, must) || memcmp(root, must, sizeof(must)) != 0)
		return is_false(name, "the way does not lead to the root of the tree", call);
	return header.height == p->height ? PCTL_OK
					  : is_false(name, "the header is of another height", call);
}
