/* The edges of the state that count for the rank, with the stakes of who drew them. */
#include <stdlib.h>
#include <string.h>

#include "foundation/base/arena.h"
#include "chain/epoch/epoch.h"
#include "chain/epoch/snapshot.h"
#include "chain/state/cursor.h"

#define ACCOUNT_PREFIX "account:"
#define JOB_PREFIX "job:"

typedef struct taking {
	pctl_chain_state *state;
	const pctl_call *call;
	pctl_arena *arena;
	pctl_snapshot_link *links;
	uint64_t n, n_room;
	/* Edges of one job stand together: the job before this one, who sent it, and its sender's bond. */
	char job[PCTL_EDGE_NAME_MAX + 1];
	char sender[PCTL_ACCOUNT_SIZE];
	const char *account;
	uint64_t stake;
	int has_gone; /* links were taken back */
	pctl_status status;
} taking;

static const char *behind(const char *name, const char *prefix)
{
	const size_t n = strlen(prefix);

	return strncmp(name, prefix, n) == 0 ? name + n : name;
}

static pctl_status sender_of(taking *t, const pctl_edge *e)
{
	uint8_t id[PCTL_DIGEST_BYTES];
	pctl_chain_job job;
	pctl_status status;

	if (strcmp(t->job, e->job) == 0)
		return PCTL_OK;
	memset(id, 0, sizeof(id));
	(void)pctl_job_id_parse(behind(e->job, JOB_PREFIX), id);
	status = pctl_jobs_read(t->state, id, t->call, &job);
	if (status != PCTL_OK)
		return status;
	strncpy(t->job, e->job, sizeof(t->job) - 1);
	memcpy(t->sender, job.sender, sizeof(t->sender));
	pctl_chain_job_clear(&job);
	return PCTL_OK;
}

static pctl_status stake_of(taking *t, const char *account)
{
	pctl_ledger_account a;
	pctl_status status;

	if (t->account != NULL && strcmp(t->account, account) == 0)
		return PCTL_OK;
	status = pctl_ledger_account_read(t->state, account, t->call, &a);
	if (status != PCTL_OK)
		return status;
	t->stake = a.bond;
	t->account = pctl_arena_dup(t->arena, account);
	return t->account == NULL ? pctl_epoch_no_memory(t->call) : PCTL_OK;
}

static pctl_status room(taking *t)
{
	const uint64_t n = t->n_room == 0 ? 1024 : 2 * t->n_room;
	pctl_snapshot_link *more;

	if (t->n < t->n_room)
		return PCTL_OK;
	more = realloc(t->links, n * sizeof(*more));
	if (more == NULL)
		return pctl_epoch_no_memory(t->call);
	t->links = more;
	t->n_room = n;
	return PCTL_OK;
}

/* Asked only where the state has such links at all; NULL: is there any. */
static pctl_status look_gone(taking *t, const pctl_edge *e, const char *account, int *out)
{
	sqlite3_stmt *stmt = NULL;
	pctl_status status =
		e == NULL ? pctl_cursor_keep(t->state, t->call, &stmt,
					     "SELECT 1 FROM links_gone LIMIT 1", "")
			  : pctl_cursor_keep(t->state, t->call, &stmt,
					     "SELECT 1 FROM links_gone WHERE source = ? AND "
					     "target = ? AND account = ?",
					     "ttt", e->source, e->target, account);

	*out = 0;
	if (status == PCTL_OK)
		status = pctl_cursor_next(t->state, stmt, t->call, out);
	pctl_cursor_done(stmt);
	return status;
}

static pctl_status take_edge(taking *t, const pctl_edge *e)
{
	const char *account = behind(e->via, ACCOUNT_PREFIX);
	pctl_snapshot_link link = {.clock = e->clock};
	int is_gone = 0;
	pctl_status status = room(t);

	if (status == PCTL_OK && e->kind == PCTL_EDGE_INPUT) {
		status = sender_of(t, e);
		account = t->sender;
	}
	if (status == PCTL_OK && e->kind == PCTL_EDGE_LINK && t->has_gone)
		status = look_gone(t, e, account, &is_gone);
	if (status != PCTL_OK || is_gone || strcmp(account, PCTL_EPOCH_ACCOUNT) == 0)
		return status;
	status = stake_of(t, account);
	if (status != PCTL_OK)
		return status;
	link.source = pctl_arena_dup(t->arena, e->source);
	link.target = pctl_arena_dup(t->arena, e->target);
	link.account = t->account;
	link.stake = t->stake;
	if (link.source == NULL || link.target == NULL)
		return pctl_epoch_no_memory(t->call);
	t->links[t->n++] = link;
	return PCTL_OK;
}

static int visit(void *ctx, const pctl_edge *e)
{
	taking *t = ctx;

	if (e->kind == PCTL_EDGE_LINK || e->kind == PCTL_EDGE_INPUT)
		t->status = take_edge(t, e);
	return t->status != PCTL_OK;
}

pctl_status pctl_snapshot_take(pctl_chain_state *s, uint64_t height, uint32_t most_edges,
			       const pctl_call *call, pctl_snapshot *out)
{
	taking t = {.state = s, .call = call, .arena = pctl_arena_create()};
	pctl_status status = t.arena == NULL ? pctl_epoch_no_memory(call) : PCTL_OK;

	memset(out, 0, sizeof(*out));
	if (status == PCTL_OK && most_edges != 0)
		status = look_gone(&t, NULL, NULL, &t.has_gone);
	if (status == PCTL_OK)
		status = pctl_edges_all(s, visit, &t, call);
	if (status == PCTL_OK)
		status = t.status;
	if (status == PCTL_OK)
		status = most_edges == 0
				 ? pctl_snapshot_spell(t.links, t.n, height, call, out)
				 : pctl_snapshot_spell_most(t.links, t.n, height, most_edges,
							    PCTL_SNAPSHOT_NODES_MAX, call, out);
	free(t.links);
	pctl_arena_destroy(t.arena);
	return status;
}
