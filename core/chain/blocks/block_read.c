/* Reading the files of a block by their tables. What is read is spelled again and must be what stood there, so that nothing but the
 * one spelling is accepted. */
#include "chain/blocks/block_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/utf8.h"

static pctl_status fault(const char *name, uint32_t file, uint32_t i, const char *what,
			 const pctl_call *call)
{
	return pctl_refuse(call, PC5853_BLOCK_RECORD, "%s: file %s, line %" PRIu32 ": %s", name,
			   pctl_block_file_name(file), i + 1, what);
}

static pctl_status read(const pctl_record_type *t, const pctl_block_record *rec, uint32_t file,
			const char *name, pctl_arena *a, const pctl_call *call, void *out)
{
	const char *text = rec->text[file];
	const size_t n = (size_t)rec->n_bytes[file];
	char of[128];

	if (text == NULL)
		return fault(name, file, 0, "the file is missing", call);
	snprintf(of, sizeof(of), "%s: file %s", name, pctl_block_file_name(file));
	return pctl_record_read_exact(t, of, text, n, a, call, out);
}

pctl_status pctl_block_read_header(const pctl_block_record *rec, const char *name,
				   const pctl_call *call, pctl_block_header *out)
{
	pctl_block_record again = *rec;
	pctl_arena *a = pctl_arena_create();
	uint8_t root[PCTL_DIGEST_BYTES];
	pctl_status status;

	memset(out, 0, sizeof(*out));
	status = a == NULL ? pctl_no_memory(call, "a block")
			   : read(&pctl_block_header_type, rec, PCTL_BLOCK_HEADER, name, a, call,
				  out);
	pctl_arena_destroy(a);
	if (status != PCTL_OK)
		return status;
	if (out->tree[0] != '\0' && !pctl_digest_parse_hex(out->tree, root))
		return fault(name, PCTL_BLOCK_HEADER, 11, "this is no root of a tree", call);
	memcpy(root, out->root, sizeof(root));
	again.text[PCTL_BLOCK_HEADER] = NULL;
	status = pctl_block_record_close(&again, out, call);
	free(again.text[PCTL_BLOCK_HEADER]);
	if (status == PCTL_OK && memcmp(out->root, root, sizeof(root)) != 0)
		status = pctl_refuse(call, PC5854_BLOCK_ROOT,
				     "%s: the state root is not that of the files", name);
	return status;
}

/* ---- genesis ------------------------------------------------------------------------------ */

/* A parameter that came later may be left out. */
static pctl_status take_parameters(const pctl_block_lines *l, const char *name,
				   const pctl_call *call, pctl_params *out)
{
	const pctl_block_parameter *said = l->items;
	pctl_status status = PCTL_OK;
	uint32_t k = 0;

	pctl_params_default(out);
	for (uint32_t i = 0; status == PCTL_OK && i < PCTL_PARAM_COUNT; i++) {
		if (k < l->n && strcmp(said[k].name, pctl_param_at(i)->name) == 0)
			status = pctl_param_parse(i, said[k++].value, call, &out->values[i]);
		else if (i < PCTL_PARAM_LATER)
			return fault(name, PCTL_BLOCK_GENESIS, k,
				     "this line is not the parameter that must stand here", call);
	}
	if (status == PCTL_OK && k != l->n)
		status = fault(name, PCTL_BLOCK_GENESIS, k,
			       "this line is one more than there are parameters", call);
	return status == PCTL_OK ? pctl_params_check(out, call) : status;
}

pctl_status pctl_block_read_genesis(const pctl_block_record *rec, const char *name,
				    const pctl_call *call, pctl_params *out)
{
	pctl_arena *a = pctl_arena_create();
	pctl_str_buf again = PCTL_STR_BUF_INIT;
	pctl_block_lines l = {.n = 0};
	pctl_status status = a == NULL ? pctl_no_memory(call, "a block")
				       : read(&pctl_block_genesis_type, rec, PCTL_BLOCK_GENESIS,
					      name, a, call, &l);

	if (status == PCTL_OK)
		status = take_parameters(&l, name, call, out);
	if (status == PCTL_OK)
		pctl_block_genesis_text(out, &again);
	if (again.failed)
		status = pctl_no_memory(call, "a block");
	else if (status == PCTL_OK &&
		 (again.n != rec->n_bytes[PCTL_BLOCK_GENESIS] ||
		  memcmp(again.data, rec->text[PCTL_BLOCK_GENESIS], again.n) != 0))
		status = fault(name, PCTL_BLOCK_GENESIS, 0,
			       "the parameters are not in the one form in which a block is written",
			       call);
	pctl_str_drop(&again);
	pctl_arena_destroy(a);
	return status;
}

/* ---- lists -------------------------------------------------------------------------------- */

pctl_status pctl_block_read_messages(const pctl_block_record *rec, const char *name, pctl_arena *a,
				     const pctl_call *call, pctl_block_message **out,
				     uint32_t *n_out)
{
	pctl_block_lines l = {.n = 0};
	const pctl_status status =
		read(&pctl_block_messages_type, rec, PCTL_BLOCK_MESSAGES, name, a, call, &l);

	*out = status == PCTL_OK ? l.items : NULL;
	*n_out = status == PCTL_OK ? l.n : 0;
	return status;
}

pctl_status pctl_block_read_results(const pctl_block_record *rec, const char *name, pctl_arena *a,
				    const pctl_call *call, pctl_block_result **out, uint32_t *n_out)
{
	pctl_block_lines l = {.n = 0};
	pctl_status status =
		read(&pctl_block_results_type, rec, PCTL_BLOCK_RESULTS, name, a, call, &l);
	pctl_block_result *items = l.items;

	for (uint32_t i = 0; status == PCTL_OK && i < l.n; i++) {
		const char *error = items[i].error == NULL ? "" : items[i].error;
		const size_t n = strlen(error);

		items[i].error = error;
		if (items[i].status == PCTL_JOB_FAILED &&
		    (n == 0 || n > PCTL_MESSAGE_ERROR_MAX ||
		     pctl_utf8_bad(error, n, PCTL_UTF8_PLAIN) != n))
			status = fault(name, PCTL_BLOCK_RESULTS, i, "no reason that a job can have",
				       call);
	}
	*out = status == PCTL_OK ? items : NULL;
	*n_out = status == PCTL_OK ? l.n : 0;
	return status;
}

pctl_status pctl_block_read_manifest(const pctl_block_record *rec, const char *name, pctl_arena *a,
				     const pctl_call *call, pctl_block_need **out, uint32_t *n_out)
{
	pctl_block_lines l = {.n = 0};
	pctl_status status =
		read(&pctl_block_manifest_type, rec, PCTL_BLOCK_MANIFEST, name, a, call, &l);
	pctl_block_need *items = l.items;

	for (uint32_t i = 1; status == PCTL_OK && i < l.n; i++)
		if (pctl_cid_compare(&items[i - 1].cid, &items[i].cid) >= 0)
			status = fault(name, PCTL_BLOCK_MANIFEST, i, "the CIDs are not in order",
				       call);
	*out = status == PCTL_OK ? items : NULL;
	*n_out = status == PCTL_OK ? l.n : 0;
	return status;
}

int pctl_block_has_file(const char *header, uint32_t file)
{
	return (file != PCTL_BLOCK_CLOCKS && file != PCTL_BLOCK_EDGES) || header == NULL ||
	       strstr(header, "\ntree_root ") == NULL;
}

/* ---- from the log ------------------------------------------------------------------------- */

static pctl_status read_file(pctl_gitlog *log, const pctl_gitlog_oid *commit, uint32_t file,
			     const pctl_call *call, pctl_block_record *out)
{
	void *data;
	pctl_status status = pctl_gitlog_read(log, commit, pctl_block_file_name(file), call, &data,
					      &out->n_bytes[file]);

	if (status != PCTL_OK)
		return status;
	out->text[file] = data;
	return PCTL_OK;
}

pctl_status pctl_block_record_read(pctl_gitlog *log, const pctl_gitlog_oid *commit,
				   const pctl_call *call, pctl_block_record *out,
				   pctl_block_header *header)
{
	char name[64] = "commit ";
	pctl_gitlog_commit at;
	pctl_status status = pctl_gitlog_look(log, commit, call, &at);

	memset(out, 0, sizeof(*out));
	pctl_gitlog_oid_format(commit, name + strlen(name));
	for (uint32_t i = 0; status == PCTL_OK && i < PCTL_BLOCK_FILES; i++)
		if (i == PCTL_BLOCK_GENESIS ? !at.has_parent : pctl_block_has_file(out->text[0], i))
			status = read_file(log, commit, i, call, out);
	if (status == PCTL_OK)
		status = pctl_block_read_header(out, name, call, header);
	if (status != PCTL_OK)
		pctl_block_record_clear(out);
	return status;
}
