/* Edges by what they join, and what all questions share; see query.h. */
#include "chain/graph/query.h"

#include <inttypes.h>
#include <string.h>

#include "chain/graph/edges_private.h"
#include "chain/state/cursor.h"
#include "foundation/base/bytes.h"
#include "foundation/base/hash.h"

#define LOOKED_MAX 20000u /* rows in one answer: some tens of milliseconds */
#define BYTES_MAX (1u << 20)
#define NEXT_HEAD 16u /* height, and a mark of the question */

/* ---- continuing ---------------------------------------------------------------------------- */

uint64_t pctl_query_number(const uint8_t *at)
{
	return pctl_be_get(at, 8);
}

void pctl_query_put_number(uint8_t *at, uint64_t v)
{
	pctl_be_put(at, v, 8);
}

/* All but what may change from page to page. */
static uint64_t mark_of(const pctl_msg_graph *q)
{
	const uint64_t numbers[] = {q->op, q->role, q->kinds, q->from_clock, q->to_clock};
	uint64_t h = pctl_fnv64_text(PCTL_FNV64, q->name);
	uint8_t bytes[8];

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		pctl_query_put_number(bytes, numbers[i]);
		h = pctl_fnv64(h, bytes, sizeof(bytes));
	}
	return h;
}

pctl_status pctl_query_bad_next(const pctl_query_page *p, const char *why)
{
	return pctl_refuse(p->call, PC5730_MESSAGE_OPERATION, "graph.next: %s", why);
}

pctl_status pctl_query_go_on(pctl_query_page *p, const void *bytes, uint64_t n)
{
	uint8_t *next = pctl_arena_alloc(p->arena, NEXT_HEAD + n);

	if (next == NULL)
		return pctl_no_memory(p->call, "an answer");
	pctl_query_put_number(next, p->height);
	pctl_query_put_number(next + 8, mark_of(p->q));
	memcpy(next + NEXT_HEAD, bytes, n);
	p->next = (pctl_msg_bytes){next, NEXT_HEAD + n};
	return PCTL_OK;
}

static pctl_status read_next(pctl_query_page *p)
{
	const pctl_msg_bytes *next = &p->q->next;

	if (next->n == 0)
		return PCTL_OK;
	if (next->n <= NEXT_HEAD)
		return pctl_query_bad_next(p, "it is too short to be one");
	if (pctl_query_number(next->data + 8) != mark_of(p->q))
		return pctl_query_bad_next(p, "it is from the answer to another question");
	p->height = pctl_query_number(next->data);
	if (p->height > p->last + 1)
		return pctl_query_bad_next(p, "it is from a block that is not there");
	if (p->q->height != 0 && p->q->height != p->height)
		return pctl_refuse(p->call, PC5730_MESSAGE_OPERATION,
				   "graph.next: the answers before were as of block %" PRIu64,
				   p->height);
	p->from = next->data + NEXT_HEAD;
	p->n_from = next->n - NEXT_HEAD;
	return PCTL_OK;
}

pctl_status pctl_query_begin(pctl_query_page *p)
{
	const uint64_t open = p->last + 1;
	pctl_status status;

	p->limit = p->q->limit != 0   ? p->q->limit
		   : p->q->prove != 0 ? PCTL_MESSAGE_GRAPH_PROVED
				      : PCTL_MESSAGE_GRAPH_DEFAULT;
	p->height = p->q->height != 0 ? p->q->height : p->q->prove ? p->last : open;
	if (p->height > open || (p->q->prove && p->height > p->last))
		return pctl_refuse(p->call, PC5852_BLOCK_UNKNOWN,
				   "block %" PRIu64 ", and the last finished one is %" PRIu64,
				   p->height, p->last);
	status = read_next(p);
	p->edges = pctl_arena_array(p->arena, p->limit, sizeof(*p->edges));
	p->jobs = pctl_arena_array(p->arena, p->limit, sizeof(*p->jobs));
	if (status == PCTL_OK && (p->edges == NULL || p->jobs == NULL))
		status = pctl_no_memory(p->call, "an answer");
	return status;
}

int pctl_query_is_full(const pctl_query_page *p)
{
	return p->n_edges + p->n_jobs >= p->limit || p->n_bytes >= BYTES_MAX ||
	       p->looked >= LOOKED_MAX;
}

/* ---- one edge ------------------------------------------------------------------------------ */

#define COLUMNS "id, kind, source, target, via, job, height, clock"
enum { ID, KIND, SOURCE, TARGET, VIA, JOB, HEIGHT, CLOCK, N_COLUMNS };

static pctl_status text_of(pctl_query_page *p, uint64_t number, const char **out)
{
	char name[PCTL_EDGE_NAME_MAX + 1];
	pctl_status status = pctl_word_text(p->s, number, p->call, name);

	*out = status == PCTL_OK ? pctl_arena_dup(p->arena, name) : NULL;
	if (status == PCTL_OK && *out == NULL)
		status = pctl_no_memory(p->call, "an answer");
	p->n_bytes += strlen(name) + 8;
	return status;
}

/* Was this link taken back, and not drawn again? */
static pctl_status look_gone(pctl_query_page *p, pctl_msg_graph_edge *e)
{
	const char *colon = strchr(e->via, ':');
	sqlite3_stmt *stmt = NULL;
	int more = 0;
	pctl_status status;

	if (e->kind != PCTL_EDGE_LINK || colon == NULL)
		return PCTL_OK;
	status = pctl_cursor_keep(p->s, p->call, &stmt,
				  "SELECT 1 FROM links_gone WHERE source = ? AND target = ? AND "
				  "account = ?",
				  "ttt", e->source, e->target, colon + 1);
	if (status == PCTL_OK)
		status = pctl_cursor_next(p->s, stmt, p->call, &more);
	pctl_cursor_done(stmt);
	e->is_gone = (uint32_t)more;
	return status;
}

static pctl_status put_edge(pctl_query_page *p, const uint64_t v[N_COLUMNS])
{
	pctl_msg_graph_edge *e = &p->edges[p->n_edges++];
	const char **names[] = {&e->source, &e->target, &e->via, &e->job};
	pctl_status status = PCTL_OK;

	*e = (pctl_msg_graph_edge){
		.number = v[ID], .height = v[HEIGHT], .clock = v[CLOCK], .kind = (uint32_t)v[KIND]};
	p->n_bytes += 32;
	for (int i = 0; status == PCTL_OK && i < 4; i++)
		status = text_of(p, v[SOURCE + i], names[i]);
	return status == PCTL_OK ? look_gone(p, e) : status;
}

/* ---- walks --------------------------------------------------------------------------------- */

/* Where a walk stands: as many numbers as its order has, and what of an edge has to be. via, job: 0 for any; not_from: 0, or no
 * source. */
typedef struct walk {
	pctl_query_page *p;
	uint64_t at[4], via, job, not_from;
	uint32_t is_over, has_more;
} walk;

#define PLACE_BYTES 32u
#define RANKED (1u << PCTL_EDGE_INPUT | 1u << PCTL_EDGE_LINK) /* kinds */
#define ENTERS 16u /* added to the kind of those that enter a name, where both are asked for */

static uint32_t kinds_of(const pctl_msg_graph *q)
{
	return q->op == PCTL_GRAPH_RANK ? RANKED
	       : q->kinds == 0		? PCTL_MESSAGE_KINDS_MAX
					: q->kinds;
}

static int is_wanted(const walk *w, const uint64_t v[N_COLUMNS])
{
	const pctl_msg_graph *q = w->p->q;

	return v[HEIGHT] <= w->p->height && (kinds_of(q) >> v[KIND] & 1) != 0 &&
	       v[CLOCK] >= q->from_clock && (q->to_clock == 0 || v[CLOCK] <= q->to_clock) &&
	       (w->via == 0 || v[VIA] == w->via) && (w->not_from == 0 || v[SOURCE] != w->not_from);
}

/* The rows of a statement, each after the place; `order` are the columns that a place is made of. */
static pctl_status walk_rows(walk *w, sqlite3_stmt *stmt, const int order[4])
{
	pctl_status status = PCTL_OK;
	int more = 1;

	while (status == PCTL_OK && !w->is_over) {
		uint64_t v[N_COLUMNS];

		status = pctl_cursor_next(w->p->s, stmt, w->p->call, &more);
		if (status != PCTL_OK || !more)
			break;
		for (int i = 0; i < N_COLUMNS; i++)
			v[i] = (uint64_t)sqlite3_column_int64(stmt, i);
		w->is_over = w->job != 0 && v[JOB] != w->job;
		if (w->is_over)
			break;
		if (pctl_query_is_full(w->p)) {
			w->has_more = w->is_over = 1;
			break;
		}
		w->p->looked++;
		if (is_wanted(w, v))
			status = put_edge(w->p, v);
		for (int i = 0; i < 4; i++)
			w->at[i] = order[i] < 0 ? 0 : v[order[i]];
	}
	sqlite3_reset(stmt);
	return status;
}

static pctl_status walk_with(walk *w, const char *sql, const uint64_t *bound, int n,
			     const int order[4])
{
	sqlite3_stmt *stmt;
	pctl_status status = pctl_chain_statement(w->p->s, sql, w->p->call, &stmt);

	for (int i = 0; status == PCTL_OK && i < n; i++)
		sqlite3_bind_int64(stmt, 1 + i, (sqlite3_int64)bound[i]);
	return status == PCTL_OK ? walk_rows(w, stmt, order) : status;
}

/* By number, up to the block: heights ascend with them. */
static pctl_status walk_numbers(walk *w, uint64_t end)
{
	static const int order[4] = {ID, -1, -1, -1};
	const uint64_t bound[2] = {w->at[0], end};

	return walk_with(w, "SELECT " COLUMNS " FROM edges WHERE id > ? AND id < ? ORDER BY id",
			 bound, 2, order);
}

static pctl_status walk_from(walk *w, uint64_t name)
{
	static const int order[4] = {KIND, CLOCK, ID, -1};
	pctl_status status = PCTL_OK;

	for (uint64_t kind = w->at[0] == 0 ? 1 : w->at[0];
	     status == PCTL_OK && !w->is_over && pctl_edge_name((uint32_t)kind) != NULL; kind++) {
		const int same = kind == w->at[0];
		const uint64_t bound[4] = {name, kind, same ? w->at[1] : 0, same ? w->at[2] : 0};

		if ((kinds_of(w->p->q) >> kind & 1) != 0)
			status = walk_with(w,
					   "SELECT " COLUMNS " FROM edges WHERE source = ? AND "
					   "kind = ? AND (clock, id) > (?, ?) ORDER BY clock, id",
					   bound, 4, order);
	}
	return status;
}

static pctl_status walk_to(walk *w, uint64_t name)
{
	static const int order[4] = {KIND, JOB, SOURCE, VIA};
	pctl_status status = PCTL_OK;

	for (uint64_t kind = w->at[0] == 0 ? 1 : w->at[0];
	     status == PCTL_OK && !w->is_over && pctl_edge_name((uint32_t)kind) != NULL; kind++) {
		const int same = kind == w->at[0];
		const uint64_t bound[5] = {name, kind, same ? w->at[1] : 0, same ? w->at[2] : 0,
					   same ? w->at[3] : 0};

		if ((kinds_of(w->p->q) >> kind & 1) != 0)
			status = walk_with(w,
					   "SELECT " COLUMNS
					   " FROM edges WHERE target = ? AND kind = ? AND (job, "
					   "source, via) > (?, ?, ?) ORDER BY job, source, via",
					   bound, 5, order);
	}
	return status;
}

/* The edges of a job stand one behind the other, from that of its sender on. */
static pctl_status walk_job(walk *w, uint64_t name)
{
	sqlite3_stmt *stmt = NULL;
	uint64_t first = 0;
	int more = 0;
	pctl_status status = pctl_cursor_keep(w->p->s, w->p->call, &stmt,
					      "SELECT id FROM edges WHERE target = ? AND kind = ?",
					      "hh", name, (uint64_t)PCTL_EDGE_EXECUTED);

	if (status == PCTL_OK)
		status = pctl_cursor_next(w->p->s, stmt, w->p->call, &more);
	if (status == PCTL_OK && more)
		first = (uint64_t)sqlite3_column_int64(stmt, 0);
	pctl_cursor_done(stmt);
	if (status != PCTL_OK || first == 0)
		return status;
	w->job = name;
	if (w->at[0] < first)
		w->at[0] = first - 1;
	return walk_numbers(w, PCTL_CHAIN_HEIGHT_MAX);
}

static pctl_status walk_block(walk *w)
{
	uint64_t first = 0, end = 0;
	pctl_status status = pctl_edges_first_at(w->p->s, w->p->height, w->p->call, &first);

	if (status == PCTL_OK)
		status = pctl_edges_first_at(w->p->s, w->p->height + 1, w->p->call, &end);
	if (w->at[0] < first)
		w->at[0] = first - 1;
	return status == PCTL_OK ? walk_numbers(w, end) : status;
}

static pctl_status walk_all(walk *w)
{
	uint64_t end = 0;
	const pctl_status status = pctl_edges_first_at(w->p->s, w->p->height + 1, w->p->call, &end);

	return status == PCTL_OK ? walk_numbers(w, end) : status;
}

/* Those that leave, then those that enter; one from a name to itself leaves it. */
static pctl_status walk_both(walk *w, uint64_t name)
{
	pctl_status status = PCTL_OK;

	w->not_from = 0;
	if (w->at[0] < ENTERS) {
		status = walk_from(w, name);
		if (status != PCTL_OK || w->has_more)
			return status;
		memset(w->at, 0, sizeof(w->at));
	} else {
		w->at[0] -= ENTERS;
	}
	w->not_from = name;
	status = walk_to(w, name);
	w->at[0] += ENTERS;
	return status;
}

static pctl_status walk_name(walk *w)
{
	pctl_word name;
	pctl_status status = pctl_word_spell(w->p->q->name, w->p->call, &name);

	if (status == PCTL_OK)
		status = pctl_word_find(w->p->s, &name, w->p->call);
	if (status != PCTL_OK || name.number == 0)
		return status;
	if (w->p->q->op == PCTL_GRAPH_RANK)
		return walk_both(w, name.number);
	switch (w->p->q->role) {
	case PCTL_EDGE_ROLE_SOURCE:
		return walk_from(w, name.number);
	case PCTL_EDGE_ROLE_TARGET:
		return walk_to(w, name.number);
	case PCTL_EDGE_ROLE_VIA:
		w->via = name.number;
		return walk_all(w);
	case PCTL_EDGE_ROLE_JOB:
		return walk_job(w, name.number);
	default:
		return PCTL_OK; /* a block has no name, message.h */
	}
}

pctl_status pctl_query_edges(pctl_query_page *p)
{
	walk w = {.p = p};
	uint8_t place[PLACE_BYTES];
	pctl_status status;

	if (p->n_from != 0 && p->n_from != PLACE_BYTES)
		return pctl_query_bad_next(p, "it is not as long as a place among edges");
	for (int i = 0; p->n_from != 0 && i < 4; i++) {
		w.at[i] = pctl_query_number(p->from + 8 * i);
		if (w.at[i] > PCTL_CHAIN_HEIGHT_MAX)
			return pctl_query_bad_next(p, "it is no place among edges");
	}
	if (p->q->role == PCTL_EDGE_ROLE_BLOCK_MADE)
		status = walk_block(&w);
	else
		status = p->q->name[0] == '\0' ? walk_all(&w) : walk_name(&w);
	for (int i = 0; i < 4; i++)
		pctl_query_put_number(place + 8 * i, w.at[i]);
	return status == PCTL_OK && w.has_more ? pctl_query_go_on(p, place, sizeof(place)) : status;
}
