/* Rows of jobs: adding, ending, and the walks over the queue, a block's results and everything. */
#include "chain/jobs/jobs.h"

#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "chain/state/cursor.h"
#include "chain/state/tables.h"

#define COLUMNS                                                                       \
	"id, position, height, clock, gas, status, origin, sender, ended, gas_used, " \
	"output, output_bytes, error, message"

void pctl_chain_job_clear(pctl_chain_job *job)
{
	free(job->message);
	job->message = NULL;
	job->n_message = 0;
}

char *pctl_job_id_format(const uint8_t id[PCTL_DIGEST_BYTES], char buf[PCTL_JOB_TEXT_SIZE])
{
	return pctl_digest_hex(id, buf);
}

int pctl_job_id_parse(const char *text, uint8_t out[PCTL_DIGEST_BYTES])
{
	return pctl_digest_parse_hex(text, out);
}

/* ---- writing ------------------------------------------------------------------------------ */

/* The row that is in the way is read, so that one that nobody wrote is found to be none. */
static pctl_status job_twice(pctl_chain_state *s, const pctl_chain_job *job, const pctl_call *call)
{
	char text[PCTL_JOB_TEXT_SIZE];
	sqlite3_stmt *stmt = NULL;
	int more;
	pctl_status status =
		pctl_cursor_keep(s, call, &stmt, "SELECT 1 FROM jobs WHERE id = ? OR position = ?",
				 "dh", job->id, job->position);

	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, call, &more);
	pctl_cursor_done(stmt);
	return status == PCTL_OK
		       ? pctl_refuse(call, PC5803_JOB_TWICE,
				     "the state has a job %s, or one at position %llu, already",
				     pctl_job_id_format(job->id, text),
				     (unsigned long long)job->position)
		       : status;
}

pctl_status pctl_jobs_add(pctl_chain_state *s, const pctl_chain_job *job, const pctl_call *call)
{
	pctl_status status = pctl_cursor_height(job->position, call);

	if (status == PCTL_OK)
		status = pctl_cursor_height(job->height, call);
	if (status == PCTL_OK)
		status = pctl_cursor_height(job->clock, call);
	if (status == PCTL_OK)
		status = pctl_cursor_write(
			s, call,
			"INSERT INTO jobs (" COLUMNS ") VALUES "
			"(?, ?, ?, ?, ?, ?, ?, ?, 0, ?, '', ?, '', ?) ON CONFLICT DO NOTHING",
			"dhhhahhtaab", job->id, job->position, job->height, job->clock, job->gas,
			(uint64_t)PCTL_JOB_PENDING, (uint64_t)job->origin, job->sender, (uint64_t)0,
			job->output_bytes, job->message, job->n_message);
	return status == PCTL_OK && sqlite3_changes(pctl_chain_db(s)) == 0 ? job_twice(s, job, call)
									   : status;
}

/* PC5801 or PC5802: why a job cannot end. */
static pctl_status not_pending(pctl_chain_state *s, const uint8_t id[PCTL_DIGEST_BYTES],
			       const pctl_call *call)
{
	char text[PCTL_JOB_TEXT_SIZE];
	sqlite3_stmt *stmt = NULL;
	int more = 0, status_now = 0;
	pctl_status status =
		pctl_cursor_keep(s, call, &stmt, "SELECT status FROM jobs WHERE id = ?", "d", id);

	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, call, &more);
	if (status == PCTL_OK && more)
		status_now = sqlite3_column_int(stmt, 0);
	pctl_cursor_done(stmt);
	if (status != PCTL_OK)
		return status;
	pctl_job_id_format(id, text);
	if (!more)
		return pctl_refuse(call, PC5801_JOB_UNKNOWN, "no job %s", text);
	return pctl_refuse(call, PC5802_JOB_ENDED, "job %s is %s", text,
			   status_now == PCTL_JOB_COMPLETE ? "complete" : "failed");
}

pctl_status pctl_jobs_end(pctl_chain_state *s, const uint8_t id[PCTL_DIGEST_BYTES], uint32_t status,
			  uint64_t height, uint64_t gas_used, const pctl_cid *output,
			  const char *error, const pctl_call *call)
{
	char cid[PCTL_CID_TEXT_SIZE] = "";
	pctl_status rc = pctl_cursor_height(height, call);

	if (rc != PCTL_OK)
		return rc;
	if (output != NULL)
		pctl_cid_format(output, cid);
	rc = pctl_cursor_write(s, call,
			       "UPDATE jobs SET status = ?, ended = ?, gas_used = ?, output = ?, "
			       "error = ? WHERE id = ? AND status = ?",
			       "hhattdh", (uint64_t)status, height, gas_used, cid,
			       error == NULL ? "" : error, id, (uint64_t)PCTL_JOB_PENDING);
	return rc == PCTL_OK && sqlite3_changes(pctl_chain_db(s)) == 0 ? not_pending(s, id, call)
								       : rc;
}

/* ---- reading ------------------------------------------------------------------------------ */

static pctl_status damaged(const char *what, const pctl_call *call)
{
	return pctl_refuse(call, PC5701_CHAIN_STATE, "a job's %s is damaged", what);
}

static pctl_status read_message(sqlite3_stmt *stmt, const pctl_call *call, pctl_chain_job *out)
{
	const void *data = sqlite3_column_blob(stmt, 13);
	const size_t n = (size_t)sqlite3_column_bytes(stmt, 13);

	out->message = malloc(n + 1);
	if (out->message == NULL)
		return pctl_no_memory(call, "a job");
	if (n != 0)
		memcpy(out->message, data, n);
	out->n_message = n;
	return PCTL_OK;
}

/* The present row of a statement over all columns. */
static pctl_status read_row(sqlite3_stmt *stmt, const pctl_call *call, pctl_chain_job *out)
{
	char cid[PCTL_CID_TEXT_SIZE];
	pctl_status status;

	memset(out, 0, sizeof(*out));
	if (sqlite3_column_bytes(stmt, 0) != (int)PCTL_DIGEST_BYTES)
		return damaged("id", call);
	memcpy(out->id, sqlite3_column_blob(stmt, 0), PCTL_DIGEST_BYTES);
	out->position = (uint64_t)sqlite3_column_int64(stmt, 1);
	out->height = (uint64_t)sqlite3_column_int64(stmt, 2);
	out->clock = (uint64_t)sqlite3_column_int64(stmt, 3);
	out->status = (uint32_t)sqlite3_column_int(stmt, 5);
	out->origin = (uint32_t)sqlite3_column_int(stmt, 6);
	pctl_cursor_text(stmt, 7, out->sender, sizeof(out->sender));
	out->ended = (uint64_t)sqlite3_column_int64(stmt, 8);
	pctl_cursor_text(stmt, 10, cid, sizeof(cid));
	pctl_cursor_text(stmt, 12, out->error, sizeof(out->error));
	status = pctl_cursor_amount(stmt, 4, call, &out->gas);
	if (status == PCTL_OK)
		status = pctl_cursor_amount(stmt, 9, call, &out->gas_used);
	if (status == PCTL_OK)
		status = pctl_cursor_amount(stmt, 11, call, &out->output_bytes);
	if (status == PCTL_OK && cid[0] != '\0' && !pctl_cid_parse(cid, &out->output))
		status = damaged("output", call);
	return status == PCTL_OK ? read_message(stmt, call, out) : status;
}

pctl_status pctl_jobs_read(pctl_chain_state *s, const uint8_t id[PCTL_DIGEST_BYTES],
			   const pctl_call *call, pctl_chain_job *out)
{
	char text[PCTL_JOB_TEXT_SIZE];
	sqlite3_stmt *stmt = NULL;
	int more = 0;
	pctl_status status =
		pctl_cursor_keep(s, call, &stmt, "SELECT * FROM main.jobs WHERE id = ?", "d", id);

	memset(out, 0, sizeof(*out));
	if (status == PCTL_OK)
		status = pctl_cursor_row(s, stmt, PCTL_STATE_jobs, call, &more);
	if (status == PCTL_OK)
		status = more ? read_row(stmt, call, out)
			      : pctl_refuse(call, PC5801_JOB_UNKNOWN, "no job %s",
					    pctl_job_id_format(id, text));
	pctl_cursor_done(stmt);
	return status;
}

/* Visit the rows of a statement and finalise it. */
static pctl_status walk(pctl_chain_state *s, sqlite3_stmt *stmt, pctl_status status,
			pctl_jobs_visit visit, void *ctx, const pctl_call *call)
{
	pctl_chain_job job;
	int more = 1, is_over = 0;

	while (status == PCTL_OK && !is_over) {
		status = pctl_cursor_row(s, stmt, PCTL_STATE_jobs, call, &more);
		if (status != PCTL_OK || !more)
			break;
		status = read_row(stmt, call, &job);
		if (status == PCTL_OK)
			is_over = visit(ctx, &job) != 0;
		pctl_chain_job_clear(&job);
	}
	sqlite3_finalize(stmt);
	return status;
}

pctl_status pctl_jobs_pending(pctl_chain_state *s, pctl_jobs_visit visit, void *ctx,
			      const pctl_call *call)
{
	sqlite3_stmt *stmt = NULL;
	pctl_status status = pctl_cursor_open(
		s, call, &stmt, "SELECT * FROM main.jobs WHERE status = 0 ORDER BY position", "");

	return walk(s, stmt, status, visit, ctx, call);
}

pctl_status pctl_jobs_ended_at(pctl_chain_state *s, uint64_t height, pctl_jobs_visit visit,
			       void *ctx, const pctl_call *call)
{
	sqlite3_stmt *stmt = NULL;
	pctl_status status = pctl_cursor_height(height, call);

	/* ended 0 is 'not yet', which is no height a job ended at */
	if (status != PCTL_OK || height == 0)
		return status;
	status = pctl_cursor_open(
		s, call, &stmt,
		"SELECT * FROM main.jobs WHERE ended = ? AND ended <> 0 ORDER BY clock, position",
		"h", height);
	return walk(s, stmt, status, visit, ctx, call);
}

pctl_status pctl_jobs_all(pctl_chain_state *s, const char *sender, pctl_jobs_visit visit, void *ctx,
			  const pctl_call *call)
{
	sqlite3_stmt *stmt = NULL;
	pctl_status status;

	if (sender == NULL)
		status = pctl_cursor_open(s, call, &stmt,
					  "SELECT * FROM main.jobs ORDER BY position DESC", "");
	else
		status = pctl_cursor_open(
			s, call, &stmt,
			"SELECT * FROM main.jobs WHERE sender = ? ORDER BY position DESC", "t",
			sender);
	return walk(s, stmt, status, visit, ctx, call);
}

pctl_status pctl_jobs_after(pctl_chain_state *s, uint64_t clock, uint64_t position, uint64_t end,
			    pctl_jobs_visit visit, void *ctx, const pctl_call *call)
{
	sqlite3_stmt *stmt = NULL;
	pctl_status status = pctl_cursor_open(
		s, call, &stmt,
		"SELECT id FROM jobs WHERE (clock, position) > (?, ?) AND clock <= ? ORDER BY "
		"clock, position",
		"hhh", clock, position, end);
	pctl_chain_job job;
	int more = 1, is_over = 0;

	while (status == PCTL_OK && !is_over) {
		status = pctl_cursor_next(s, stmt, call, &more);
		if (status != PCTL_OK || !more)
			break;
		if (sqlite3_column_bytes(stmt, 0) != (int)PCTL_DIGEST_BYTES)
			status = damaged("id", call);
		else
			status = pctl_jobs_read(s, sqlite3_column_blob(stmt, 0), call, &job);
		if (status == PCTL_OK) {
			is_over = visit(ctx, &job) != 0;
			pctl_chain_job_clear(&job);
		}
	}
	sqlite3_finalize(stmt);
	return status;
}

/* The two numbers of the one row a kept statement gives; gives it back. */
static pctl_status two_numbers(pctl_chain_state *s, sqlite3_stmt *stmt, pctl_status status,
			       const pctl_call *call, uint64_t *a, uint64_t *b)
{
	int more = 0;

	*a = *b = 0;
	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, call, &more);
	if (status == PCTL_OK && more) {
		*a = (uint64_t)sqlite3_column_int64(stmt, 0);
		*b = (uint64_t)sqlite3_column_int64(stmt, 1);
	}
	pctl_cursor_done(stmt);
	return status;
}

/* One row of them: all jobs of a block may have one clock, and each is held against the tree. */
pctl_status pctl_jobs_has_clock(pctl_chain_state *s, uint64_t clock, const pctl_call *call,
				int *out)
{
	sqlite3_stmt *stmt = NULL;
	pctl_status status;

	*out = 0;
	if (clock > PCTL_CHAIN_HEIGHT_MAX)
		return PCTL_OK;
	status = pctl_cursor_keep(s, call, &stmt, "SELECT 1 FROM jobs WHERE clock = ? LIMIT 1", "h",
				  clock);
	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, call, out);
	pctl_cursor_done(stmt);
	return status;
}

pctl_status pctl_jobs_last(pctl_chain_state *s, const pctl_call *call, uint64_t *clock,
			   uint64_t *position)
{
	sqlite3_stmt *stmt = NULL;
	/* one aggregate a SELECT: each is then one step of an index */
	pctl_status status = pctl_cursor_keep(s, call, &stmt,
					      "SELECT coalesce((SELECT max(clock) FROM jobs), 0), "
					      "coalesce((SELECT max(position) FROM jobs), 0)",
					      "");

	return two_numbers(s, stmt, status, call, clock, position);
}

/* ---- messages of the open block ------------------------------------------------------------ */

pctl_status pctl_inbox_add(pctl_chain_state *s, uint32_t origin, const void *bytes, uint64_t n,
			   const pctl_call *call)
{
	return pctl_cursor_write(s, call,
				 "INSERT INTO inbox VALUES ((SELECT coalesce(max(number), 0) + 1 "
				 "FROM inbox), ?, ?)",
				 "hb", (uint64_t)origin, bytes, n);
}

pctl_status pctl_inbox_visit(pctl_chain_state *s, pctl_inbox_visit_fn visit, void *ctx,
			     const pctl_call *call)
{
	sqlite3_stmt *stmt = NULL;
	int more = 1;
	pctl_status status =
		pctl_cursor_open(s, call, &stmt, "SELECT * FROM main.inbox ORDER BY number", "");

	while (status == PCTL_OK) {
		status = pctl_cursor_row(s, stmt, PCTL_STATE_inbox, call, &more);
		if (status != PCTL_OK || !more ||
		    visit(ctx, (uint32_t)sqlite3_column_int(stmt, 1), sqlite3_column_blob(stmt, 2),
			  (uint64_t)sqlite3_column_bytes(stmt, 2)) != 0)
			break;
	}
	sqlite3_finalize(stmt);
	return status;
}
