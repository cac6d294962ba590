/* The id of a chain (account.h). */
#include <string.h>

#include "chain/accounts/account.h"
#include "chain/state/cursor.h"
#include "foundation/base/str.h"

static pctl_status digest(const void *first, uint64_t n_first, const void *second,
			  uint64_t n_second, const pctl_call *call, uint8_t out[PCTL_DIGEST_BYTES])
{
	static const char domain[] = "pipectl chain-id 1";
	pctl_hasher *h = NULL;
	pctl_status status = pctl_hasher_create(call, &h);

	if (status == PCTL_OK)
		status = pctl_hasher_update(h, domain, sizeof(domain));
	if (status == PCTL_OK && n_first != 0)
		status = pctl_hasher_update(h, first, n_first);
	if (status == PCTL_OK && n_second != 0)
		status = pctl_hasher_update(h, second, n_second);
	return pctl_hasher_end(h, status, out);
}

/* Of a chain that began without accounts, whose parameters of height 0 never change. */
static pctl_status of_params(pctl_chain_state *s, const pctl_call *call,
			     uint8_t out[PCTL_DIGEST_BYTES])
{
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	char value[PCTL_PARAM_TEXT_SIZE];
	pctl_params p;
	pctl_status status = pctl_params_in_force(s, 0, call, &p);

	for (uint32_t i = 0; status == PCTL_OK && i < PCTL_PARAM_COUNT; i++)
		if (pctl_param_is_said(i, p.values[i]))
			pctl_str_addf(&text, "%s %s\n", pctl_param_at(i)->name,
				      pctl_param_format(i, p.values[i], value));
	if (text.failed)
		status = pctl_no_memory(call, "the id of a chain");
	if (status == PCTL_OK)
		status = digest(text.data, text.n, NULL, 0, call, out);
	pctl_str_drop(&text);
	return status;
}

pctl_status pctl_chain_id(pctl_chain_state *s, const pctl_call *call,
			  uint8_t out[PCTL_DIGEST_BYTES])
{
	sqlite3_stmt *stmt = NULL;
	int more = 0;
	pctl_status status =
		pctl_cursor_keep(s, call, &stmt, "SELECT id FROM identity WHERE number = 0", "");

	memset(out, 0, PCTL_DIGEST_BYTES);
	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, call, &more);
	if (status == PCTL_OK && more) {
		if (sqlite3_column_bytes(stmt, 0) == PCTL_DIGEST_BYTES)
			memcpy(out, sqlite3_column_blob(stmt, 0), PCTL_DIGEST_BYTES);
		else
			status = pctl_refuse(call, PC5701_CHAIN_STATE,
					     "the id of the chain is damaged");
	}
	pctl_cursor_done(stmt);
	return status == PCTL_OK && !more ? of_params(s, call, out) : status;
}

pctl_status pctl_chain_id_take(pctl_chain_state *s, const void *message, uint64_t n,
			       const pctl_call *call)
{
	uint8_t id[PCTL_DIGEST_BYTES];
	pctl_status status = pctl_chain_id(s, call, id);

	if (status == PCTL_OK)
		status = digest(id, sizeof(id), message, n, call, id);
	return status == PCTL_OK
		       ? pctl_cursor_write(s, call, "INSERT OR REPLACE INTO identity VALUES (0, ?)",
					   "d", id)
		       : status;
}
