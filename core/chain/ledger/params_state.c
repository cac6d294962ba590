/* Parameters in the state: the values of height 0 and the values in force at a height. */
#include "chain/ledger/params.h"

#include <string.h>

#include "chain/state/cursor.h"

pctl_status pctl_params_is_seeded(pctl_chain_state *s, const pctl_call *call, int *out)
{
	sqlite3_stmt *stmt = NULL;
	pctl_status status = pctl_cursor_keep(s, call, &stmt, "SELECT 1 FROM params LIMIT 1", "");

	*out = 0;
	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, call, out);
	pctl_cursor_done(stmt);
	return status;
}

pctl_status pctl_params_seed(pctl_chain_state *s, const pctl_params *p, const pctl_call *call)
{
	char text[PCTL_PARAM_TEXT_SIZE];
	int seeded;
	pctl_status status = pctl_params_check(p, call);

	if (status == PCTL_OK)
		status = pctl_params_is_seeded(s, call, &seeded);
	if (status == PCTL_OK && seeded)
		return pctl_refuse(call, PC5723_PARAM_SEED, "the state has parameters already");
	for (uint32_t i = 0; status == PCTL_OK && i < PCTL_PARAM_COUNT; i++)
		if (pctl_param_is_said(i, p->values[i]))
			status = pctl_cursor_write(s, call, "INSERT INTO params VALUES (0, ?, ?)",
						   "tt", pctl_param_at(i)->name,
						   pctl_param_format(i, p->values[i], text));
	pctl_params_forget(s);
	return status;
}

/* The value of one row goes to its place; a later row of the same name replaces it. */
static pctl_status take(sqlite3_stmt *stmt, const pctl_call *call, pctl_params *out, uint64_t *seen)
{
	char name[64], value[PCTL_PARAM_TEXT_SIZE];
	uint64_t before;
	uint32_t i;
	pctl_status status;

	pctl_cursor_text(stmt, 0, name, sizeof(name));
	pctl_cursor_text(stmt, 1, value, sizeof(value));
	status = pctl_param_find(name, call, &i);
	if (status != PCTL_OK)
		return status;
	*seen |= UINT64_C(1) << i;
	before = out->values[i];
	status = pctl_param_parse(i, value, call, &out->values[i]);
	/* The rules never go back, whatever was applied and for when. */
	if (status == PCTL_OK && i == PCTL_PARAM_RULES && out->values[i] < before)
		out->values[i] = before;
	return status;
}

/* Every message and every charge asks for those of a height, of the open block or of one whose jobs waited; they are read
 * once a transaction. */
#define N_HEIGHTS 8u
typedef struct remembered {
	uint64_t epoch;
	struct {
		uint64_t height;
		uint32_t is_set, reserved;
		pctl_params values;
	} of[N_HEIGHTS];
} remembered;

static remembered *of_transaction(pctl_chain_state *s, uint64_t *epoch)
{
	remembered *r = pctl_chain_memory(s, PCTL_MEMORY_PARAMS, sizeof(*r), epoch);

	return sqlite3_get_autocommit(pctl_chain_db(s)) ? NULL : r;
}

void pctl_params_forget(pctl_chain_state *s)
{
	uint64_t epoch;
	remembered *r = of_transaction(s, &epoch);

	for (uint32_t i = 0; r != NULL && i < N_HEIGHTS; i++)
		r->of[i].is_set = 0;
}

static pctl_status read_in_force(pctl_chain_state *s, uint64_t height, const pctl_call *call,
				 pctl_params *out)
{
	_Static_assert(PCTL_PARAM_COUNT < 64, "one bit a parameter");
	const uint64_t all = (UINT64_C(1) << PCTL_PARAM_LATER) - 1;
	sqlite3_stmt *stmt = NULL;
	uint64_t seen = 0;
	int more = 1;
	pctl_status status = pctl_cursor_height(height, call);

	pctl_params_default(out);
	if (status == PCTL_OK)
		status = pctl_cursor_keep(
			s, call, &stmt,
			"SELECT name, value FROM params WHERE height <= ? ORDER BY height, name",
			"h", height);
	while (status == PCTL_OK) {
		status = pctl_cursor_next(s, stmt, call, &more);
		if (status != PCTL_OK || !more)
			break;
		status = take(stmt, call, out, &seen);
	}
	pctl_cursor_done(stmt);
	if (status == PCTL_OK && (seen & all) != all)
		return pctl_refuse(call, PC5723_PARAM_SEED,
				   "the state has no parameters; they are read from a file first");
	return status;
}

pctl_status pctl_params_in_force(pctl_chain_state *s, uint64_t height, const pctl_call *call,
				 pctl_params *out)
{
	uint64_t epoch;
	remembered *r = of_transaction(s, &epoch);
	const uint32_t at = (uint32_t)(height % N_HEIGHTS);
	pctl_status status;

	if (r != NULL && r->epoch != epoch) {
		pctl_params_forget(s);
		r->epoch = epoch;
	}
	if (r != NULL && r->of[at].is_set && r->of[at].height == height) {
		*out = r->of[at].values;
		return PCTL_OK;
	}
	status = read_in_force(s, height, call, out);
	if (status == PCTL_OK && r != NULL) {
		r->of[at].height = height;
		r->of[at].is_set = 1;
		r->of[at].values = *out;
	}
	return status;
}
