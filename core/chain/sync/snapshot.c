/* The files of a snapshot, and what references in its rows stand for. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "chain/blocks/block_private.h"
#include "chain/sync/snapshot_private.h"
#include "foundation/base/file.h"

static const pctl_record_field chunk_fields[] = {
	PCTL_RECORD_SIZED(CHARS, "name", pctl_snapshot_file, name, .least = 1,
			  .means = "of the file"),
	PCTL_RECORD_FIELD(U64, "bytes", pctl_snapshot_file, n_bytes, .bound = INT64_MAX,
			  .means = "of it")};
static const pctl_record_shape chunk_shape =
	PCTL_RECORD_OF_LINES(chunk_fields, PCTL_RECORD_ROW, ' ', pctl_snapshot_file);
static const pctl_record_field index_fields[] = {
	{.key = "pipectl-snapshot",
	 .kind = PCTL_RECORD_CONSTANT,
	 .flags = PCTL_RECORD_NAMED,
	 .constant = "1",
	 .means = "version of the format"},
	PCTL_RECORD_FIELD(U64, "height", pctl_snapshot_index, height, .flags = PCTL_RECORD_NAMED,
			  .least = 1, .bound = INT64_MAX, .means = "of the block"),
	PCTL_RECORD_FIELD(LIST, "chunk", pctl_snapshot_index, chunks,
			  .n_at = offsetof(pctl_snapshot_index, n_chunks),
			  .flags = PCTL_RECORD_NAMED, .bound = 1u << 20, .of = &chunk_shape,
			  .means = "files of rows, ascending by the keys of their leaves")};
static const pctl_record_shape index_shape =
	PCTL_RECORD_OF_LINES(index_fields, PCTL_RECORD_LINES, ' ', pctl_snapshot_index);
const pctl_record_type pctl_snapshot_index_type = {
	.opening = "",
	.shape = &index_shape,
	.quoting = PCTL_RECORD_PLAIN,
	.form = PC6146_SNAPSHOT_FORM,
	.contradicts = PC6146_SNAPSHOT_FORM,
	.title = "Index of a snapshot",
	.where = "File `snapshot` of the folder that `ledger snapshot write` makes",
};

pctl_status pctl_snapshot_put(const char *dir, const char *name, const void *data, uint64_t n,
			      const pctl_call *call)
{
	char path[4096];

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, name) >= sizeof(path))
		return pctl_refuse(call, PC6146_SNAPSHOT_FORM, "%s: the path is too long", dir);
	return pctl_file_write(path, data, n, 1, call);
}

pctl_status pctl_snapshot_resolve(pctl_chain *c, const char *reference, const pctl_call *call,
				  pctl_cid *out)
{
	const char *hex = pctl_block_job_of(reference);
	uint8_t id[PCTL_DIGEST_BYTES];
	pctl_chain_job job;
	pctl_status status;

	if (hex == NULL)
		return pctl_cid_read(reference, call, out);
	if (!pctl_job_id_parse(hex, id))
		return PCTL_E_NOT_FOUND;
	status = pctl_jobs_read(pctl_cursor(c), id, call, &job);
	if (status != PCTL_OK)
		return status;
	*out = job.output;
	pctl_chain_job_clear(&job);
	return job.status == PCTL_JOB_COMPLETE ? PCTL_OK : PCTL_E_NOT_FOUND;
}
