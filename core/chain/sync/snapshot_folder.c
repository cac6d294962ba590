/* Reading the folder of a snapshot: its index, and the record of its block, which is held against the id that is trusted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/sync/snapshot_private.h"
#include "foundation/base/file.h"

#define INDEX_MAX ((uint64_t)64 << 20)

typedef struct pctl_restore restoring;

pctl_status pctl_restore_in_form(const restoring *r, const char *name, const char *what)
{
	return pctl_refuse(r->call, PC6146_SNAPSHOT_FORM, "%s/%s %s", r->dir, name, what);
}

pctl_status pctl_restore_file(const restoring *r, const char *name, uint64_t limit, char **out,
			      uint64_t *n, int *is_there)
{
	char path[4096];

	*out = NULL;
	*n = 0;
	if ((size_t)snprintf(path, sizeof(path), "%s/%s", r->dir, name) >= sizeof(path))
		return pctl_restore_in_form(r, name, "has too long a path");
	*is_there = pctl_file_exists(path);
	return *is_there ? pctl_file_read(path, limit, r->call, out, n) : PCTL_OK;
}

pctl_status pctl_restore_need_file(const restoring *r, const char *name, uint64_t limit, char **out,
				   uint64_t *n)
{
	int is_there;
	const pctl_status status = pctl_restore_file(r, name, limit, out, n, &is_there);

	return status == PCTL_OK && !is_there ? pctl_restore_in_form(r, name, "is missing")
					      : status;
}

/* ---- the record ----------------------------------------------------------------------------- */

pctl_status pctl_restore_read_index(restoring *r)
{
	char *text = NULL;
	uint64_t n;
	pctl_status status = pctl_restore_need_file(r, "snapshot", INDEX_MAX, &text, &n);

	if (status == PCTL_OK)
		status = pctl_record_read_exact(&pctl_snapshot_index_type, "snapshot", text, n,
						r->arena, r->call, &r->index);
	free(text);
	for (uint32_t i = 0; status == PCTL_OK && i < r->index.n_chunks; i++)
		if (strchr(r->index.chunks[i].name, '/') != NULL ||
		    r->index.chunks[i].name[0] == '.')
			status = pctl_restore_in_form(r, "snapshot",
						      "names a chunk outside the folder");
	return status;
}

pctl_status pctl_restore_read_record(restoring *r, pctl_proof_digest *digests, uint32_t *n_digests)
{
	char name[64];
	pctl_cid cid;
	pctl_status status = PCTL_OK;

	*n_digests = 0;
	for (uint32_t i = 0; status == PCTL_OK && i < PCTL_BLOCK_FILES; i++) {
		int is_there;

		snprintf(name, sizeof(name), "record-%s", pctl_block_file_name(i));
		status = pctl_restore_file(r, name, PCTL_SNAPSHOT_FILE_MAX, &r->record.text[i],
					   &r->record.n_bytes[i], &is_there);
		if (status == PCTL_OK && !is_there && i != PCTL_BLOCK_GENESIS &&
		    pctl_block_has_file(r->record.text[PCTL_BLOCK_HEADER], i))
			status = pctl_restore_in_form(r, name, "is missing");
		if (status != PCTL_OK || !is_there || i == PCTL_BLOCK_HEADER)
			continue;
		status = pctl_cid_of(r->record.text[i], r->record.n_bytes[i], r->call, &cid);
		memcpy(digests[(*n_digests)++].digest, cid.digest, PCTL_DIGEST_BYTES);
	}
	return status;
}

static pctl_status read_piece(restoring *r, const char *name, pctl_proof_bytes *out)
{
	char *text;
	uint64_t n;
	const pctl_status status = pctl_restore_need_file(r, name, INDEX_MAX, &text, &n);

	*out = (pctl_proof_bytes){(uint8_t *)text, (uint32_t)n, 0};
	return status;
}

pctl_status pctl_restore_read_block(restoring *r)
{
	pctl_proof_digest digests[PCTL_BLOCK_FILES];
	pctl_proof_bytes header;
	uint32_t n;
	pctl_status status = pctl_restore_read_record(r, digests, &n);

	if (status == PCTL_OK)
		status = read_piece(r, "record-commit", &r->commit);
	if (status == PCTL_OK)
		status = read_piece(r, "record-entries", &r->entries);
	if (status != PCTL_OK)
		return status;
	header = (pctl_proof_bytes){(uint8_t *)r->record.text[PCTL_BLOCK_HEADER],
				    (uint32_t)r->record.n_bytes[PCTL_BLOCK_HEADER], 0};
	status = pctl_record_is_trusted(r->dir, PC6148_SNAPSHOT_TRUST, &header, digests, n,
					&r->commit, &r->entries, &r->trusted, r->call, &r->header);
	if (status == PCTL_OK && r->header.height != r->index.height)
		return pctl_restore_in_form(r, "snapshot", "is of another height than the record");
	(void)pctl_digest_parse_hex(r->header.tree, r->root);
	return status;
}

pctl_status pctl_snapshot_height(const char *dir, const pctl_call *call, uint64_t *out)
{
	restoring r = {.dir = strdup(dir), .call = call, .arena = pctl_arena_create()};
	const pctl_status status = r.arena == NULL || r.dir == NULL
					   ? pctl_no_memory(call, "a snapshot")
					   : pctl_restore_read_index(&r);

	*out = r.index.height;
	pctl_arena_destroy(r.arena);
	free(r.dir);
	return status;
}
