/* What the state names; see named.h. */
#include "chain/home/named.h"

#include <stdio.h>
#include <unistd.h>

#include "chain/data/data.h"
#include "chain/state/cursor.h"

typedef struct naming {
	pctl_chain_state *s;
	int (*visit)(void *ctx, const pctl_cid *cid);
	void *ctx;
	const pctl_call *call;
} naming;

/* What is no CID (a place that names nothing, "job:ID", whose output has a row of its own) is none. */
static pctl_status show(const naming *n, const char *text)
{
	pctl_cid cid;

	return !pctl_cid_parse(text, &cid) || n->visit(n->ctx, &cid)
		       ? PCTL_OK
		       : pctl_no_memory(n->call, "what the chain names");
}

static pctl_status show_all(const naming *n, const char *sql)
{
	char text[PCTL_CID_TEXT_SIZE];
	sqlite3_stmt *stmt = NULL;
	int more = 1;
	pctl_status status = pctl_cursor_open(n->s, n->call, &stmt, sql, "");

	while (status == PCTL_OK) {
		status = pctl_cursor_next(n->s, stmt, n->call, &more);
		if (status != PCTL_OK || !more)
			break;
		pctl_cursor_text(stmt, 0, text, sizeof(text));
		status = show(n, text);
	}
	sqlite3_finalize(stmt);
	return status;
}

static pctl_status show_read(const naming *n, const void *message, uint64_t n_message)
{
	pctl_request r;
	const char *cid;
	pctl_status status = pctl_request_decode(message, n_message, n->call, &r);

	for (uint32_t i = 0; status == PCTL_OK && r.kind == PCTL_MSG_EXECUTE &&
			     (cid = pctl_data_named(&r.as.execute, i)) != NULL;
	     i++)
		status = show(n, cid);
	pctl_request_destroy(&r);
	return status;
}

/* Also of jobs that are done: whoever verifies their block reads it again. */
static pctl_status show_jobs(const naming *n)
{
	sqlite3_stmt *stmt = NULL;
	int more = 1;
	pctl_status status = pctl_cursor_open(n->s, n->call, &stmt, "SELECT message FROM jobs", "");

	while (status == PCTL_OK) {
		status = pctl_cursor_next(n->s, stmt, n->call, &more);
		if (status != PCTL_OK || !more)
			break;
		status = show_read(n, sqlite3_column_blob(stmt, 0),
				   (uint64_t)sqlite3_column_bytes(stmt, 0));
	}
	sqlite3_finalize(stmt);
	return status;
}

pctl_status pctl_home_named(pctl_installation *in, int (*visit)(void *ctx, const pctl_cid *cid),
			    void *ctx, const pctl_call *call)
{
	static const char *const lists[] = {"SELECT cid FROM blobs",
					    "SELECT cid FROM shaders",
					    "SELECT output FROM jobs WHERE output <> ''",
					    "SELECT graph FROM epochs",
					    "SELECT names FROM epochs",
					    "SELECT evidence FROM verdicts"};
	naming n = {.visit = visit, .ctx = ctx, .call = call};
	pctl_chain *c = NULL;
	const char *path;
	pctl_status status = pctl_installation_config(in, call);

	if (status != PCTL_OK)
		return status;
	path = pctl_arena_printf(in->arena, "%s/chain/state.sqlite", in->config->home);
	if (path == NULL)
		return pctl_no_memory(call, "a path");
	if (access(path, F_OK) != 0)
		return PCTL_OK;
	status = pctl_home_chain(in, NULL, call, &c);
	if (status == PCTL_OK)
		n.s = pctl_cursor(c);
	for (size_t i = 0; status == PCTL_OK && i < sizeof(lists) / sizeof(lists[0]); i++)
		status = show_all(&n, lists[i]);
	if (status == PCTL_OK)
		status = show_jobs(&n);
	pctl_chain_close(c);
	return status;
}
