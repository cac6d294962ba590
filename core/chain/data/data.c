/* Whether bytes are state, and where this node gets them; see data.h. */
#include "chain/data/data.h"

#include <inttypes.h>
#include <string.h>

#include "chain/graph/edges.h"
#include "chain/registry/rules.h"
#include "chain/state/cursor.h"

/* ---- bytes -------------------------------------------------------------------------------- */

/* Under version 1 of the rules a store's words about what it lacks are all that there is to say. */
static pctl_status lacking(pctl_chain *c, const pctl_cid *cid, const pctl_call *call,
			   pctl_blob *out)
{
	char text[PCTL_CID_TEXT_SIZE];
	pctl_chain_info info;
	pctl_params p;
	pctl_status status = pctl_chain_last(c, call, &info);

	if (status == PCTL_OK)
		status = pctl_params_in_force(c->state, info.last + 1, call, &p);
	if (status == PCTL_OK && p.values[PCTL_PARAM_RULES] == PCTL_RULES_RELEASED)
		return pctl_store_get(c->store, cid, call, out);
	return status == PCTL_OK
		       ? pctl_refuse(call, PC5838_DATA_LACKING,
				     "%s is state, but this node's store does not have it and no "
				     "other node gave it",
				     pctl_cid_format(cid, text))
		       : status;
}

/* What a message of an attempt brought is nowhere else. */
static pctl_store *where(const pctl_chain *c, const pctl_cid *cid)
{
	pctl_store *keeps = pctl_chain_keeps(c);

	return keeps != c->store && pctl_store_has(keeps, cid) ? keeps : c->store;
}

/* The bytes of no length, which nobody has to bring: into the store for whoever looks there, if it takes any. */
static pctl_status nothing(pctl_chain *c, const pctl_cid *cid, const pctl_call *call, int *is_it,
			   pctl_blob *out)
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	pctl_cid empty;
	const pctl_status status = pctl_cid_of("", 0, call, &empty);

	*is_it = status == PCTL_OK && pctl_cid_compare(cid, &empty) == 0;
	if (*is_it) {
		(void)pctl_store_put(c->store, "", 0, &quiet, NULL);
		*out = (pctl_blob){.data = (const uint8_t *)""};
	}
	return status;
}

pctl_status pctl_data_get(pctl_chain *c, const pctl_cid *cid, const pctl_call *call, pctl_blob *out)
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	pctl_status status = pctl_store_get(where(c, cid), cid, &quiet, out);
	int is_nothing;

	if (status == PCTL_E_NOMEM)
		return pctl_no_memory(call, "bytes of the state");
	if (status == PCTL_OK)
		return status;
	status = nothing(c, cid, call, &is_nothing, out);
	if (status != PCTL_OK || is_nothing)
		return status;
	status = PCTL_E_NOT_FOUND;
	if (c->fetch != NULL && c->fetch(c->fetch_ctx, cid, c->store, call) == PCTL_OK)
		status = pctl_store_get(c->store, cid, &quiet, out);
	return status == PCTL_OK ? status : lacking(c, cid, call, out);
}

/* Of what is state, but has no row that says its size. */
static pctl_status size_of(const pctl_taking *t, const pctl_cid *cid, uint64_t *out)
{
	pctl_blob blob;
	const pctl_status status = pctl_data_get(t->c, cid, t->call, &blob);

	*out = status == PCTL_OK ? blob.n_bytes : 0;
	if (status == PCTL_OK)
		pctl_blob_release(&blob);
	return status;
}

/* ---- what is state ------------------------------------------------------------------------ */

static pctl_status look_for(const pctl_taking *t, const char *sql, const char *kinds,
			    const char *cid, int *found, uint64_t *out)
{
	sqlite3_stmt *stmt = NULL;
	pctl_status status = pctl_cursor_keep(t->s, t->call, &stmt, sql, kinds, cid, t->height);

	if (status == PCTL_OK)
		status = pctl_cursor_next(t->s, stmt, t->call, found);
	if (status == PCTL_OK && *found)
		*out = (uint64_t)sqlite3_column_int64(stmt, 0);
	pctl_cursor_done(stmt);
	return status;
}

/* A job that gave the bytes, whichever: all that did have as many, and there may be a great many. */
static pctl_status look_for_output(const pctl_taking *t, const char *text, int *found,
				   uint64_t *n_bytes)
{
	char source[PCTL_EDGE_NAME_MAX + 1];
	uint8_t id[PCTL_DIGEST_BYTES];
	pctl_chain_job job = {.message = NULL};
	pctl_status status = pctl_edges_any_to(t->s, text, PCTL_EDGE_OUTPUT, t->call, source);

	if (status != PCTL_OK || strncmp(source, "job:", 4) != 0 ||
	    !pctl_job_id_parse(source + 4, id))
		return status;
	status = pctl_jobs_read(t->s, id, t->call, &job);
	*found = status == PCTL_OK;
	*n_bytes = job.output_bytes;
	pctl_chain_job_clear(&job);
	return status;
}

pctl_status pctl_data_look(const pctl_taking *t, const char *text, int *found, uint64_t *n_bytes)
{
	char empty[PCTL_CID_TEXT_SIZE];
	pctl_cid cid, none;
	pctl_status status = pctl_cid_read(text, t->call, &cid);

	*found = 0;
	*n_bytes = 0;
	if (status == PCTL_OK)
		status = pctl_cid_of("", 0, t->call, &none);
	if (status != PCTL_OK)
		return status;
	if (strcmp(pctl_cid_format(&none, empty), text) == 0) {
		*found = 1;
		return PCTL_OK;
	}
	status = look_for(t, "SELECT bytes FROM blobs WHERE cid = ? AND expiry >= ?", "th", text,
			  found, n_bytes);
	if (status != PCTL_OK || *found)
		return status;
	status = look_for_output(t, text, found, n_bytes);
	if (status != PCTL_OK || *found)
		return status;
	status = look_for(t, "SELECT 0 FROM shaders WHERE cid = ?", "t", text, found, n_bytes);
	if (status == PCTL_OK && !*found)
		status = look_for(t, "SELECT 0 FROM epochs WHERE graph = ?1 OR names = ?1", "t",
				  text, found, n_bytes);
	return status == PCTL_OK && *found ? size_of(t, &cid, n_bytes) : status;
}
