/* Contracts and calls read from their rows; see contracts.h. */
#include "chain/contracts/contracts.h"

#include <string.h>

#include "chain/state/cursor.h"

static uint64_t number_at(sqlite3_stmt *stmt, int column)
{
	return (uint64_t)sqlite3_column_int64(stmt, column);
}

#define CONTRACT_COLUMNS                                                    \
	"SELECT cid, sender, height, bytes, "                               \
	"(SELECT count(*) FROM contract_rows r WHERE r.contract = c.cid), " \
	"(SELECT count(*) FROM calls k WHERE k.contract = c.cid) FROM contracts c "

pctl_status pctl_contracts_visit(pctl_chain_state *s, const char *cid,
				 int (*visit)(void *ctx, const pctl_contract_row *row), void *ctx,
				 const pctl_call *call)
{
	sqlite3_stmt *stmt = NULL;
	int more = 0, n = 0;
	pctl_status status =
		cid == NULL ? pctl_cursor_open(s, call, &stmt, CONTRACT_COLUMNS "ORDER BY cid", "")
			    : pctl_cursor_open(s, call, &stmt, CONTRACT_COLUMNS "WHERE cid = ?",
					       "t", cid);

	while (status == PCTL_OK && (status = pctl_cursor_next(s, stmt, call, &more)) == PCTL_OK &&
	       more) {
		pctl_contract_row row;

		pctl_cursor_text(stmt, 0, row.cid, sizeof(row.cid));
		pctl_cursor_text(stmt, 1, row.sender, sizeof(row.sender));
		row.height = number_at(stmt, 2);
		row.n_bytes = number_at(stmt, 3);
		row.n_rows = number_at(stmt, 4);
		row.n_calls = number_at(stmt, 5);
		n++;
		if (visit(ctx, &row) != 0)
			break;
	}
	sqlite3_finalize(stmt);
	return status == PCTL_OK && cid != NULL && n == 0
		       ? pctl_refuse(call, PC6130_CONTRACT_UNKNOWN, "no contract %s", cid)
		       : status;
}

#define CALL_COLUMNS                                                                             \
	"SELECT id, sender, contract, height, number, status, code, returned, jobs, fuel, gas, " \
	"paid FROM calls "

static pctl_status read_call(sqlite3_stmt *stmt, const pctl_call *call, pctl_contract_call_row *out)
{
	uint64_t *const numbers[] = {&out->height, &out->number,   &out->status,
				     &out->code,   &out->returned, &out->n_jobs};
	uint64_t *const amounts[] = {&out->fuel, &out->gas, &out->paid};
	pctl_status status = PCTL_OK;

	memset(out, 0, sizeof(*out));
	if (sqlite3_column_bytes(stmt, 0) == PCTL_DIGEST_BYTES)
		memcpy(out->id, sqlite3_column_blob(stmt, 0), PCTL_DIGEST_BYTES);
	pctl_cursor_text(stmt, 1, out->sender, sizeof(out->sender));
	pctl_cursor_text(stmt, 2, out->contract, sizeof(out->contract));
	for (int i = 0; i < 6; i++)
		*numbers[i] = number_at(stmt, 3 + i);
	for (int i = 0; status == PCTL_OK && i < 3; i++)
		status = pctl_cursor_amount(stmt, 9 + i, call, amounts[i]);
	return status;
}

pctl_status pctl_calls_read(pctl_chain_state *s, const uint8_t id[PCTL_DIGEST_BYTES],
			    const pctl_call *call, pctl_contract_call_row *out)
{
	char text[PCTL_JOB_TEXT_SIZE];
	sqlite3_stmt *stmt = NULL;
	int more = 0;
	pctl_status status = pctl_cursor_open(s, call, &stmt, CALL_COLUMNS "WHERE id = ?", "d", id);

	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, call, &more);
	if (status == PCTL_OK && more)
		status = read_call(stmt, call, out);
	sqlite3_finalize(stmt);
	return status == PCTL_OK && !more ? pctl_refuse(call, PC6130_CONTRACT_UNKNOWN, "no call %s",
							pctl_job_id_format(id, text))
					  : status;
}

pctl_status pctl_calls_visit(pctl_chain_state *s, const char *contract,
			     int (*visit)(void *ctx, const pctl_contract_call_row *row), void *ctx,
			     const pctl_call *call)
{
	sqlite3_stmt *stmt = NULL;
	int more = 0;
	pctl_status status = pctl_cursor_open(
		s, call, &stmt, CALL_COLUMNS "WHERE contract = ? ORDER BY height DESC, number DESC",
		"t", contract);

	while (status == PCTL_OK && (status = pctl_cursor_next(s, stmt, call, &more)) == PCTL_OK &&
	       more) {
		pctl_contract_call_row row;

		status = read_call(stmt, call, &row);
		if (status == PCTL_OK && visit(ctx, &row) != 0)
			break;
	}
	sqlite3_finalize(stmt);
	return status;
}
