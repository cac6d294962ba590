/* Rows of counters (counter.h). */
#include "chain/state/counter.h"

#include "chain/state/cursor.h"

pctl_status pctl_counter_read(pctl_chain_state *s, uint32_t kind, const char *name,
			      const pctl_call *call, uint64_t *out)
{
	sqlite3_stmt *stmt = NULL;
	int more = 0;
	pctl_status status = pctl_cursor_keep(s, call, &stmt,
					      "SELECT n FROM counters WHERE kind = ? AND name = ?",
					      "ht", (uint64_t)kind, name);

	*out = 0;
	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, call, &more);
	if (status == PCTL_OK && more)
		*out = (uint64_t)sqlite3_column_int64(stmt, 0);
	pctl_cursor_done(stmt);
	return status;
}

pctl_status pctl_counter_add(pctl_chain_state *s, uint32_t kind, const char *name, uint64_t by,
			     const pctl_call *call)
{
	return pctl_cursor_write(
		s, call,
		"INSERT INTO counters VALUES (?1, ?2, ?3) ON CONFLICT (kind, name) "
		"DO UPDATE SET n = n + ?3",
		"hth", (uint64_t)kind, name, by);
}

pctl_status pctl_counter_take(pctl_chain_state *s, uint32_t kind, const char *name, uint64_t by,
			      const pctl_call *call)
{
	uint64_t n;
	pctl_status status = pctl_counter_read(s, kind, name, call, &n);

	if (status == PCTL_OK && n < by)
		status = pctl_refuse(call, PC5701_CHAIN_STATE, "the counter of \"%s\" is damaged",
				     name);
	if (status != PCTL_OK || n == by)
		return status == PCTL_OK ? pctl_counter_clear(s, kind, name, call) : status;
	return pctl_cursor_write(s, call,
				 "UPDATE counters SET n = n - ?3 WHERE kind = ?1 AND name = ?2",
				 "hth", (uint64_t)kind, name, by);
}

pctl_status pctl_counter_clear(pctl_chain_state *s, uint32_t kind, const char *name,
			       const pctl_call *call)
{
	return pctl_cursor_write(s, call, "DELETE FROM counters WHERE kind = ? AND name = ?", "ht",
				 (uint64_t)kind, name);
}
