/* Reading the files of a block. What is read is spelled again and must be what stood there, so that nothing but the one
 * spelling is accepted. */
#include "chain/blocks/block_record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/base/vec.h"
#include "foundation/base/hex.h"
#include "foundation/base/utf8.h"

/* A file being read line by line. */
typedef struct reader {
	const char *name, *at, *end;
	uint32_t file, reserved;
	uint64_t line;
	const pctl_call *call;
} reader;

static pctl_status fault(const reader *r, const char *what)
{
	return pctl_refuse(r->call, PC5853_BLOCK_RECORD, "%s: file %s, line %" PRIu64 ": %s",
			   r->name, pctl_block_file_name(r->file), r->line, what);
}

static pctl_status begin(const pctl_block_record *rec, uint32_t file, const char *name,
			 const pctl_call *call, reader *r)
{
	*r = (reader){.name = name, .file = file, .call = call, .at = rec->text[file]};
	if (r->at == NULL)
		return fault(r, "the file is missing");
	r->end = r->at + rec->n_bytes[file];
	if (r->end > r->at && r->end[-1] != '\n') {
		r->line = 1;
		return fault(r, "the file does not end with a line end");
	}
	return PCTL_OK;
}

/* The next line without its end, 0 behind the last. */
static int next_line(reader *r, const char **line, size_t *n)
{
	const char *stop;

	if (r->at == r->end)
		return 0;
	stop = memchr(r->at, '\n', (size_t)(r->end - r->at));
	*line = r->at;
	*n = (size_t)(stop - r->at);
	r->at = stop + 1;
	r->line++;
	return 1;
}

/* The next word of a line, up to a blank or its end; 0 when there is none. */
static int word(const char **at, size_t *left, char *out, size_t n_out)
{
	size_t n = 0;

	while (n < *left && (*at)[n] != ' ')
		n++;
	if (n == 0 || n >= n_out)
		return 0;
	memcpy(out, *at, n);
	out[n] = '\0';
	*at += n;
	*left -= n;
	if (*left > 0) {
		++*at;
		--*left;
	}
	return 1;
}

static int number(const char **at, size_t *left, uint64_t *out)
{
	char text[24];

	return word(at, left, text, sizeof(text)) && pctl_num_parse_u64(text, strlen(text), out);
}

/* What was read gives other bytes when it is spelled again: the first line that does. Drops `again`. */
static pctl_status check_same(const pctl_block_record *rec, reader *r, pctl_str_buf *again)
{
	const char *was = rec->text[r->file], *is = again->data == NULL ? "" : again->data;
	const uint64_t n = rec->n_bytes[r->file];
	pctl_status status = PCTL_OK;

	if (again->failed) {
		status = pctl_no_memory(r->call, "a block");
	} else if (n != again->n || memcmp(was, is, n) != 0) {
		r->line = 1;
		for (uint64_t i = 0; i < n && i < again->n && was[i] == is[i]; i++)
			r->line += was[i] == '\n';
		status = fault(r, "it is not spelled as a block spells it");
	}
	pctl_str_drop(again);
	return status;
}

/* ---- the header --------------------------------------------------------------------------- */

static int header_line(reader *r, const char *key, char *value, size_t n_value)
{
	const char *line;
	char found[32];
	size_t n;

	return next_line(r, &line, &n) && word(&line, &n, found, sizeof(found)) &&
	       strcmp(found, key) == 0 && word(&line, &n, value, n_value) && n == 0;
}

static int header_number(reader *r, const char *key, uint64_t *out)
{
	char value[24];

	return header_line(r, key, value, sizeof(value)) &&
	       pctl_num_parse_u64(value, strlen(value), out);
}

static int header_digest(reader *r, const char *key, uint8_t out[PCTL_DIGEST_BYTES])
{
	char value[PCTL_JOB_TEXT_SIZE];

	return header_line(r, key, value, sizeof(value)) && pctl_job_id_parse(value, out);
}

pctl_status pctl_block_read_header(const pctl_block_record *rec, const char *name,
				   const pctl_call *call, pctl_block_header *out)
{
	pctl_block_record again = *rec;
	uint8_t root[PCTL_DIGEST_BYTES] = {0};
	char version[8];
	reader r;
	pctl_status status = begin(rec, PCTL_BLOCK_HEADER, name, call, &r);

	memset(out, 0, sizeof(*out));
	if (status != PCTL_OK)
		return status;
	if (!header_line(&r, "pipectl-block", version, sizeof(version)) ||
	    strcmp(version, "1") != 0 || !header_number(&r, "height", &out->height) ||
	    !header_number(&r, "first_clock", &out->first_clock) ||
	    !header_number(&r, "final_clock", &out->clock) ||
	    !header_line(&r, "executor", out->executor, sizeof(out->executor)) ||
	    !header_number(&r, "budget", &out->budget) ||
	    !header_number(&r, "complete", &out->complete) ||
	    !header_number(&r, "failed", &out->failed) ||
	    !header_number(&r, "deferred", &out->deferred) ||
	    !header_number(&r, "gas", &out->gas) ||
	    !header_digest(&r, "previous_root", out->previous) ||
	    !header_digest(&r, "state_root", root) || r.at != r.end)
		return fault(&r, "not the line that a header has there");
	again.text[PCTL_BLOCK_HEADER] = NULL;
	status = pctl_block_record_close(&again, out, call);
	if (status == PCTL_OK && memcmp(out->root, root, sizeof(root)) != 0)
		status = pctl_refuse(call, PC5854_BLOCK_ROOT,
				     "%s: the state root is not that of the files", name);
	if (status == PCTL_OK &&
	    (again.n_bytes[PCTL_BLOCK_HEADER] != rec->n_bytes[PCTL_BLOCK_HEADER] ||
	     memcmp(again.text[PCTL_BLOCK_HEADER], rec->text[PCTL_BLOCK_HEADER],
		    rec->n_bytes[PCTL_BLOCK_HEADER]) != 0))
		status = fault(&r, "it is not spelled as a block spells it");
	free(again.text[PCTL_BLOCK_HEADER]);
	return status;
}

/* ---- genesis ------------------------------------------------------------------------------ */

/* The next line's first word; a parameter that came later may be left out. */
static int begins_with(const reader *r, const char *name)
{
	const size_t n = strlen(name);

	return (size_t)(r->end - r->at) > n && memcmp(r->at, name, n) == 0 && r->at[n] == ' ';
}

pctl_status pctl_block_read_genesis(const pctl_block_record *rec, const char *name,
				    const pctl_call *call, pctl_params *out)
{
	pctl_str_buf again = PCTL_STR_BUF_INIT;
	const char *line;
	size_t n;
	reader r;
	pctl_status status = begin(rec, PCTL_BLOCK_GENESIS, name, call, &r);

	pctl_params_default(out);
	for (uint32_t i = 0; status == PCTL_OK && i < PCTL_PARAM_COUNT; i++) {
		const char *name_of = pctl_param_at(i)->name;
		char key[64], value[PCTL_PARAM_TEXT_SIZE];

		if (i >= PCTL_PARAM_LATER && !begins_with(&r, name_of))
			continue;
		if (!next_line(&r, &line, &n) || !word(&line, &n, key, sizeof(key)) ||
		    strcmp(key, name_of) != 0 || !word(&line, &n, value, sizeof(value)) || n != 0)
			return fault(&r, "not the parameter that stands there");
		status = pctl_param_parse(i, value, call, &out->values[i]);
	}
	if (status == PCTL_OK)
		status = pctl_params_check(out, call);
	if (status != PCTL_OK)
		return status;
	pctl_block_genesis_text(out, &again);
	return check_same(rec, &r, &again);
}

/* ---- messages ----------------------------------------------------------------------------- */

static uint32_t count_lines(const reader *r)
{
	uint32_t n = 0;

	for (const char *c = r->at; c < r->end; c++)
		n += *c == '\n';
	return n;
}

static pctl_status read_message(reader *r, pctl_arena *a, pctl_block_message *m)
{
	char origin[8], kind[16];
	const char *at;
	size_t left;

	if (!next_line(r, &at, &left) || !word(&at, &left, origin, sizeof(origin)) ||
	    !word(&at, &left, kind, sizeof(kind)) || left == 0 || left % 2 != 0 ||
	    left / 2 > PCTL_MESSAGE_MAX)
		return fault(r, "no message");
	m->origin = strcmp(origin, "epoch") == 0 ? PCTL_ORIGIN_EPOCH : PCTL_ORIGIN_MESSAGE;
	m->n_bytes = (uint32_t)(left / 2);
	m->bytes = pctl_arena_alloc(a, m->n_bytes);
	if (m->bytes == NULL)
		return pctl_no_memory(r->call, "a block");
	if (!pctl_hex_parse(at, m->n_bytes, m->bytes))
		return fault(r, "a message is lower-case hex digits");
	return PCTL_OK;
}

pctl_status pctl_block_read_messages(const pctl_block_record *rec, const char *name, pctl_arena *a,
				     const pctl_call *call, pctl_block_message **out,
				     uint32_t *n_out)
{
	pctl_str_buf again = PCTL_STR_BUF_INIT;
	reader r;
	uint32_t n;
	pctl_status status = begin(rec, PCTL_BLOCK_MESSAGES, name, call, &r);

	*out = NULL;
	*n_out = 0;
	if (status != PCTL_OK)
		return status;
	n = count_lines(&r);
	*out = pctl_arena_array(a, n, sizeof(**out));
	if (*out == NULL)
		return pctl_no_memory(call, "a block");
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		status = read_message(&r, a, &(*out)[i]);
		if (status == PCTL_OK)
			status = pctl_block_message_text((*out)[i].origin, (*out)[i].bytes,
							 (*out)[i].n_bytes, call, &again);
	}
	*n_out = n;
	if (status == PCTL_OK)
		return check_same(rec, &r, &again);
	pctl_str_drop(&again);
	return status;
}

/* ---- results ------------------------------------------------------------------------------ */

static pctl_status read_result(reader *r, pctl_arena *a, pctl_block_result *out)
{
	char id[PCTL_JOB_TEXT_SIZE], how[16], cid[PCTL_CID_TEXT_SIZE];
	const char *at;
	size_t left;

	if (!next_line(r, &at, &left) || !word(&at, &left, id, sizeof(id)) ||
	    !pctl_job_id_parse(id, out->id) || !number(&at, &left, &out->clock) ||
	    !word(&at, &left, how, sizeof(how)) || !number(&at, &left, &out->gas) || left == 0)
		return fault(r, "no result of a job");
	out->status = strcmp(how, "complete") == 0 ? PCTL_JOB_COMPLETE : PCTL_JOB_FAILED;
	out->error = "";
	if (out->status == PCTL_JOB_COMPLETE)
		return word(&at, &left, cid, sizeof(cid)) && pctl_cid_parse(cid, &out->output) &&
				       number(&at, &left, &out->n_output) && left == 0
			       ? PCTL_OK
			       : fault(r, "no result of a complete job");
	if (left > PCTL_MESSAGE_ERROR_MAX || pctl_utf8_bad(at, left, PCTL_UTF8_PLAIN) != left)
		return fault(r, "no reason that a job can have");
	out->error = pctl_arena_dup_n(a, at, left);
	return out->error == NULL ? pctl_no_memory(r->call, "a block") : PCTL_OK;
}

pctl_status pctl_block_read_results(const pctl_block_record *rec, const char *name, pctl_arena *a,
				    const pctl_call *call, pctl_block_result **out, uint32_t *n_out)
{
	pctl_str_buf again = PCTL_STR_BUF_INIT;
	reader r;
	pctl_status status = begin(rec, PCTL_BLOCK_RESULTS, name, call, &r);

	*out = NULL;
	*n_out = 0;
	if (status != PCTL_OK)
		return status;
	*n_out = count_lines(&r);
	*out = pctl_arena_array(a, *n_out, sizeof(**out));
	if (*out == NULL)
		return pctl_no_memory(call, "a block");
	for (uint32_t i = 0; status == PCTL_OK && i < *n_out; i++) {
		status = read_result(&r, a, &(*out)[i]);
		if (status == PCTL_OK)
			pctl_block_result_text(&(*out)[i], &again);
	}
	if (status == PCTL_OK)
		return check_same(rec, &r, &again);
	pctl_str_drop(&again);
	return status;
}

/* ---- the manifest ------------------------------------------------------------------------- */

static pctl_status read_need(reader *r, const pctl_block_need *before, pctl_block_need *out)
{
	char cid[PCTL_CID_TEXT_SIZE], how[16];
	const char *at;
	size_t left;

	if (!next_line(r, &at, &left) || !word(&at, &left, cid, sizeof(cid)) ||
	    !pctl_cid_parse(cid, &out->cid) || !word(&at, &left, how, sizeof(how)) ||
	    !number(&at, &left, &out->n_bytes) || left != 0)
		return fault(r, "no entry of a manifest");
	out->is_made = strcmp(how, "made") == 0;
	if (before != NULL && pctl_cid_compare(&before->cid, &out->cid) >= 0)
		return fault(r, "the CIDs are not in order");
	return PCTL_OK;
}

pctl_status pctl_block_read_manifest(const pctl_block_record *rec, const char *name, pctl_arena *a,
				     const pctl_call *call, pctl_block_need **out, uint32_t *n_out)
{
	pctl_str_buf again = PCTL_STR_BUF_INIT;
	reader r;
	pctl_status status = begin(rec, PCTL_BLOCK_MANIFEST, name, call, &r);

	*out = NULL;
	*n_out = 0;
	if (status != PCTL_OK)
		return status;
	*n_out = count_lines(&r);
	*out = pctl_arena_array(a, *n_out, sizeof(**out));
	if (*out == NULL)
		return pctl_no_memory(call, "a block");
	for (uint32_t i = 0; status == PCTL_OK && i < *n_out; i++) {
		status = read_need(&r, i == 0 ? NULL : &(*out)[i - 1], &(*out)[i]);
		if (status == PCTL_OK)
			pctl_block_need_text(&(*out)[i], &again);
	}
	if (status == PCTL_OK)
		return check_same(rec, &r, &again);
	pctl_str_drop(&again);
	return status;
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
		if (i != PCTL_BLOCK_GENESIS || !at.has_parent)
			status = read_file(log, commit, i, call, out);
	if (status == PCTL_OK)
		status = pctl_block_read_header(out, name, call, header);
	if (status != PCTL_OK)
		pctl_block_record_clear(out);
	return status;
}
