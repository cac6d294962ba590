/* Blobs: rows of what messages brought, and how long they stay; see data.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "chain/data/data.h"
#include "chain/registry/rules.h"
#include "chain/state/cursor.h"
#include "chain/state/counter.h"
#include "foundation/base/map.h"
#include "foundation/base/num.h"

#define RENT_BYTES 1024u
#define RENT_BLOCKS 1024u

/* ---- taking in ---------------------------------------------------------------------------- */

static uint64_t started(uint64_t n, uint64_t unit)
{
	return n / unit + (n % unit != 0);
}

pctl_status pctl_data_price(const pctl_taking *t, uint64_t n_bytes, uint64_t n_blocks,
			    const pctl_call *call, uint64_t *out)
{
	const uint64_t *v = t->params.values;
	uint64_t rent = 0;

	*out = 0;
	return pctl_num_mul(v[PCTL_PARAM_BLOB_BYTE_COST], n_bytes, out) &&
			       pctl_num_mul(started(n_bytes, RENT_BYTES),
					    started(n_blocks, RENT_BLOCKS), &rent) &&
			       pctl_num_mul(rent, v[PCTL_PARAM_BLOB_RENT], &rent) &&
			       pctl_num_add(*out, rent, out)
		       ? PCTL_OK
		       : pctl_refuse(call, PC5712_LEDGER_OVERFLOW, "the price of bytes");
}

pctl_status pctl_data_price_kept(const pctl_taking *t, uint64_t n_bytes, const pctl_call *call,
				 uint64_t *out)
{
	return pctl_data_price(t, n_bytes, t->params.values[PCTL_PARAM_BLOB_BLOCKS_MAX], call, out);
}

/* Once a block, since each of the messages stays in its record; again where the bytes are to stay for longer: who brought them first, for a block, keeps nobody
 * from paying for more. */
static pctl_status check_once(const pctl_taking *t, const char *cid, uint64_t expiry)
{
	sqlite3_stmt *stmt = NULL;
	int there = 0;
	pctl_status status =
		pctl_cursor_keep(t->s, t->call, &stmt,
				 "SELECT 1 FROM blobs WHERE cid = ? AND height = ? AND "
				 "expiry >= ?",
				 "thh", cid, t->height, expiry);

	if (status == PCTL_OK)
		status = pctl_cursor_next(t->s, stmt, t->call, &there);
	pctl_cursor_done(stmt);
	return status == PCTL_OK && there
		       ? pctl_refuse(t->call, PC5837_DATA_BLOCK,
				     "block %" PRIu64 " took in %s already, for as long", t->height,
				     cid)
		       : status;
}

static pctl_status check_size(const pctl_taking *t, const pctl_msg_blob *m)
{
	const uint64_t *v = t->params.values;
	uint64_t before;
	pctl_status status;

	if (m->n_data > v[PCTL_PARAM_BLOB_BYTES_MAX])
		return pctl_refuse(t->call, PC5836_DATA_SIZE,
				   "a blob of %" PRIu64 " bytes, at most %" PRIu64, m->n_data,
				   v[PCTL_PARAM_BLOB_BYTES_MAX]);
	if (m->blocks > v[PCTL_PARAM_BLOB_BLOCKS_MAX])
		return pctl_refuse(t->call, PC5836_DATA_SIZE,
				   "a blob for %" PRIu64 " blocks, at most %" PRIu64, m->blocks,
				   v[PCTL_PARAM_BLOB_BLOCKS_MAX]);
	status = pctl_counter_read(t->s, PCTL_COUNTER_BLOBS, "", t->call, &before);
	if (status == PCTL_OK && (before > v[PCTL_PARAM_BLOCK_BLOB_BYTES] ||
				  m->n_data > v[PCTL_PARAM_BLOCK_BLOB_BYTES] - before))
		return pctl_refuse(t->call, PC5837_DATA_BLOCK,
				   "a blob of %" PRIu64 " bytes; block %" PRIu64 " has %" PRIu64
				   " of at most %" PRIu64,
				   m->n_data, t->height, before, v[PCTL_PARAM_BLOCK_BLOB_BYTES]);
	return status;
}

pctl_status pctl_apply_blob(const pctl_taking *t, const pctl_msg_blob *m)
{
	char text[PCTL_CID_TEXT_SIZE];
	uint64_t gas = 0;
	pctl_cid cid;
	pctl_status status = pctl_cid_of(m->data, m->n_data, t->call, &cid);

	if (status == PCTL_OK)
		status = check_size(t, m);
	if (status == PCTL_OK)
		status = check_once(t, pctl_cid_format(&cid, text), t->height + m->blocks);
	if (status == PCTL_OK)
		status = pctl_data_price(t, m->n_data, m->blocks, t->call, &gas);
	if (status == PCTL_OK)
		status = pctl_ledger_pay(t->s, m->sender, gas, 0, t->call);
	if (status == PCTL_OK)
		status = pctl_counter_add(t->s, PCTL_COUNTER_BLOBS, "", m->n_data, t->call);
	if (status == PCTL_OK)
		status = pctl_chain_bring(t->c, m->data, m->n_data, t->call);
	return status == PCTL_OK
		       ? pctl_cursor_write(
				 t->s, t->call,
				 "INSERT INTO blobs (cid, bytes, sender, height, expiry) "
				 "VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (cid) DO UPDATE SET "
				 "height = ?4, expiry = max(expiry, ?5)",
				 "ththh", text, m->n_data, m->sender, t->height,
				 t->height + m->blocks)
		       : status;
}

const char *pctl_data_named(const pctl_msg_execute *m, uint32_t i)
{
	if (i == 0)
		return m->uniform_cid;
	if (i == 1)
		return strncmp(m->input, "job:", 4) == 0 ? "" : m->input;
	if (i - 2 >= m->n_bindings)
		return NULL;
	return strncmp(m->bindings[i - 2].cid, "job:", 4) == 0 ? "" : m->bindings[i - 2].cid;
}

/* ---- the end of a block ------------------------------------------------------------------- */

typedef struct expiring {
	pctl_chain_state *s;
	const pctl_call *call;
	pctl_map *named; /* by jobs in the queue */
	pctl_status status;
} expiring;

static int note_named(void *ctx, const pctl_chain_job *job)
{
	expiring *e = ctx;
	const char *cid;
	pctl_request r;

	e->status = pctl_request_decode(job->message, job->n_message, e->call, &r);
	for (uint32_t i = 0;
	     e->status == PCTL_OK && (cid = pctl_data_named(&r.as.execute, i)) != NULL; i++)
		if (!pctl_map_put(e->named, cid, NULL))
			e->status = pctl_no_memory(e->call, "bytes of the state");
	pctl_request_destroy(&r);
	return e->status != PCTL_OK;
}

/* Their number is bounded by what blocks take in, and each is due once, unless a job waits for it. */
static pctl_status read_due(expiring *e, uint64_t height, pctl_map *due)
{
	sqlite3_stmt *stmt = NULL;
	char cid[PCTL_CID_TEXT_SIZE];
	int more = 0;
	pctl_status status = pctl_cursor_keep(
		e->s, e->call, &stmt, "SELECT cid FROM blobs WHERE expiry <= ?", "h", height);

	while (status == PCTL_OK &&
	       (status = pctl_cursor_next(e->s, stmt, e->call, &more)) == PCTL_OK && more) {
		pctl_cursor_text(stmt, 0, cid, sizeof(cid));
		if (!pctl_map_put(due, cid, NULL))
			status = pctl_no_memory(e->call, "bytes of the state");
	}
	pctl_cursor_done(stmt);
	return status;
}

static pctl_status expire(expiring *e, uint64_t height, pctl_map *due)
{
	pctl_status status = read_due(e, height, due);

	if (status == PCTL_OK && pctl_map_count(due) != 0)
		status = pctl_jobs_pending(e->s, note_named, e, e->call);
	if (status == PCTL_OK)
		status = e->status;
	for (uint32_t i = 0; status == PCTL_OK && i < pctl_map_count(due); i++)
		if (!pctl_map_has(e->named, pctl_map_key_at(due, i)))
			status = pctl_cursor_write(e->s, e->call, "DELETE FROM blobs WHERE cid = ?",
						   "t", pctl_map_key_at(due, i));
	return status;
}

pctl_status pctl_data_expire(pctl_chain_state *s, uint64_t height, const pctl_params *p,
			     const pctl_call *call)
{
	const uint64_t window = p->values[PCTL_PARAM_UNBONDING_BLOCKS];
	expiring e = {.s = s, .call = call};
	pctl_map *due;
	pctl_status status = pctl_counter_clear(s, PCTL_COUNTER_BLOBS, "", call);

	if (status != PCTL_OK || height <= window)
		return status;
	e.named = pctl_map_create();
	due = pctl_map_create();
	status = e.named == NULL || due == NULL ? pctl_no_memory(call, "bytes of the state")
						: expire(&e, height - window, due);
	pctl_map_destroy(e.named);
	pctl_map_destroy(due);
	return status;
}

/* ---- names -------------------------------------------------------------------------------- */

/* What was state when a job took it, and is for as long as it can be disputed: its time does not count. */
pctl_status pctl_data_check_kept(const pctl_taking *t, const pctl_msg_execute *m)
{
	pctl_taking ever = *t;

	ever.height = 0;
	return pctl_data_check(&ever, m);
}

pctl_status pctl_data_check(const pctl_taking *t, const pctl_msg_execute *m)
{
	const char *cid;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && (cid = pctl_data_named(m, i)) != NULL; i++) {
		uint64_t n;
		int found = 1;

		if (cid[0] != '\0')
			status = pctl_data_look(t, cid, &found, &n);
		if (status == PCTL_OK && !found)
			return pctl_refuse(t->call, PC5834_DATA_MISSING, "%s is %s the state", cid,
					   t->height == 0 ? "no longer in" : "not in");
	}
	return status;
}
