/* What depends on a name: the edges that leave what was made so far, merged by their clock; see follow.h. */
#include <stdlib.h>
#include <string.h>

#include "chain/graph/edges_private.h"
#include "chain/provenance/follow.h"
#include "chain/provenance/provenance_private.h"
#include "chain/state/cursor.h"
#include "foundation/base/vec.h"

/* Bytes, or a job that others wait for, whose edges of a clock above `clock` count; and the first of these that was not
 * followed yet: its clock, number, and job's number. */
typedef struct source {
	uint64_t clock, number, head_clock, head, head_job;
	uint8_t digest[PCTL_DIGEST_BYTES];
	uint32_t is_job, reserved;
} source;
#define SOURCE_BYTES (9u + PCTL_DIGEST_BYTES)

/* clock, number: of the edge that was followed last; job: whose it was. */
typedef struct merging {
	pctl_follow f;
	source *items;
	uint32_t n, room;
	uint64_t clock, number;
	uint8_t job[PCTL_DIGEST_BYTES];
} merging;
#define MERGED_BYTES (16u + PCTL_DIGEST_BYTES)

/* ---- sources ------------------------------------------------------------------------------- */

static pctl_status name_of(merging *m, source *s)
{
	char text[PCTL_EDGE_NAME_MAX + 1];
	pctl_word word;
	pctl_status status;
	pctl_cid cid;

	memcpy(cid.digest, s->digest, PCTL_DIGEST_BYTES);
	if (s->is_job)
		pctl_provenance_job_name(s->digest, text);
	else
		pctl_cid_format(&cid, text);
	status = pctl_word_spell(text, m->f.p->call, &word);
	if (status == PCTL_OK)
		status = pctl_word_find(m->f.p->s, &word, m->f.p->call);
	s->number = word.number;
	return status;
}

/* Its first edge behind what was followed; head 0: there is none. */
static pctl_status look(merging *m, source *s)
{
	const int from_itself = s->clock >= m->clock;
	const uint64_t clock = from_itself ? s->clock : m->clock;
	const uint64_t number = from_itself ? PCTL_CHAIN_HEIGHT_MAX : m->number;
	pctl_query_page *p = m->f.p;
	sqlite3_stmt *stmt = NULL;
	int more = 0;
	pctl_status status = pctl_cursor_keep(
		p->s, p->call, &stmt,
		"SELECT clock, id, job FROM edges WHERE source = ? AND kind = ? AND (clock, id) > "
		"(?, ?) AND clock <= ? AND height <= ? ORDER BY clock, id LIMIT 1",
		"hhhhhh", s->number, (uint64_t)(s->is_job ? PCTL_EDGE_PARENT : PCTL_EDGE_INPUT),
		clock, number, p->clock, p->height);

	s->head = 0;
	p->looked++;
	if (status == PCTL_OK)
		status = pctl_cursor_next(p->s, stmt, p->call, &more);
	if (status == PCTL_OK && more) {
		s->head_clock = (uint64_t)sqlite3_column_int64(stmt, 0);
		s->head = (uint64_t)sqlite3_column_int64(stmt, 1);
		s->head_job = (uint64_t)sqlite3_column_int64(stmt, 2);
	}
	pctl_cursor_done(stmt);
	return status;
}

/* One that has edges ahead and is not there yet, kept by kind and digest. */
static pctl_status add(merging *m, uint32_t is_job, const uint8_t digest[PCTL_DIGEST_BYTES],
		       uint64_t clock)
{
	source s = {.clock = clock, .is_job = is_job};
	uint32_t low = 0, high = m->n;
	pctl_status status;

	memcpy(s.digest, digest, PCTL_DIGEST_BYTES);
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		const source *at = &m->items[middle];
		const int order = at->is_job != is_job
					  ? (int)at->is_job - (int)is_job
					  : memcmp(at->digest, digest, PCTL_DIGEST_BYTES);

		if (order == 0)
			return PCTL_OK; /* of a lower clock: those of a higher one are among its edges */
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	status = name_of(m, &s);
	if (status == PCTL_OK && s.number != 0)
		status = look(m, &s);
	if (status != PCTL_OK || s.number == 0 || s.head == 0)
		return status;
	if (m->n == PCTL_FOLLOW_MAX) {
		m->f.p->cut++;
		return PCTL_OK;
	}
	if (!pctl_vec_reserve((void **)&m->items, m->n, &m->room, sizeof(*m->items)))
		return pctl_no_memory(m->f.p->call, "what depends on a name");
	memmove(m->items + low + 1, m->items + low, (m->n - low) * sizeof(*m->items));
	m->items[low] = s;
	m->n++;
	return PCTL_OK;
}

/* ---- pages --------------------------------------------------------------------------------- */

static pctl_status add_output(merging *m, const char *output, uint64_t clock)
{
	pctl_cid cid;

	return pctl_cid_parse(output, &cid) ? add(m, 0, cid.digest, clock) : PCTL_OK;
}

static pctl_status begin(merging *m)
{
	pctl_query_page *p = m->f.p;
	char cid[PCTL_CID_TEXT_SIZE];
	uint8_t id[PCTL_DIGEST_BYTES];
	pctl_chain_job job;
	pctl_status status;
	pctl_cid bytes;
	int known = 0;

	if (!pctl_provenance_job_id(p->q->name, id) && !pctl_cid_parse(p->q->name, &bytes))
		return pctl_refuse(p->call, PC5880_EDGE_NAME,
				   "\"%.80s\" is no CID and no job:ID, and nothing depends on "
				   "anything else",
				   p->q->name);
	if (!pctl_provenance_job_id(p->q->name, id)) {
		status = pctl_edges_known(p->s, p->q->name, p->call, &known);
		if (status == PCTL_OK && !known)
			status = pctl_refuse(p->call, PC5883_PROVENANCE_UNKNOWN,
					     "the graph knows nothing of %s", p->q->name);
		return status == PCTL_OK ? add_output(m, p->q->name, 0) : status;
	}
	status = pctl_jobs_read(p->s, id, NULL, &job);
	if (status == PCTL_E_NOT_FOUND)
		return pctl_refuse(p->call, PC5883_PROVENANCE_UNKNOWN,
				   "the graph knows nothing of %s", p->q->name);
	if (status == PCTL_OK)
		status = add(m, 1, id, job.clock);
	if (status == PCTL_OK && job.status == PCTL_JOB_COMPLETE && job.ended <= p->height)
		status = add_output(m, pctl_cid_format(&job.output, cid), job.clock);
	pctl_chain_job_clear(&job);
	return status;
}

static pctl_status load(merging *m)
{
	pctl_query_page *p = m->f.p;
	pctl_status status = PCTL_OK;

	if (p->n_from < MERGED_BYTES || (p->n_from - MERGED_BYTES) % SOURCE_BYTES != 0 ||
	    p->n_from - MERGED_BYTES > (uint64_t)SOURCE_BYTES * PCTL_FOLLOW_MAX)
		return pctl_query_bad_next(p, "it is no list of what was made");
	m->clock = pctl_query_number(p->from);
	m->number = pctl_query_number(p->from + 8);
	memcpy(m->job, p->from + 16, PCTL_DIGEST_BYTES);
	if (m->clock > PCTL_CHAIN_HEIGHT_MAX || m->number > PCTL_CHAIN_HEIGHT_MAX)
		return pctl_query_bad_next(p, "it is no place among edges");
	for (uint64_t at = MERGED_BYTES; status == PCTL_OK && at < p->n_from; at += SOURCE_BYTES) {
		const uint64_t clock = pctl_query_number(p->from + at);

		if (p->from[at + 8] > 1 || clock > PCTL_CHAIN_HEIGHT_MAX)
			return pctl_query_bad_next(p, "what it names is no bytes and no job");
		status = add(m, p->from[at + 8], p->from + at + 9, clock);
	}
	return status;
}

static pctl_status go_on(merging *m)
{
	uint8_t *bytes = malloc(MERGED_BYTES + (size_t)m->n * SOURCE_BYTES);
	pctl_status status;

	if (bytes == NULL)
		return pctl_no_memory(m->f.p->call, "an answer");
	pctl_query_put_number(bytes, m->clock);
	pctl_query_put_number(bytes + 8, m->number);
	memcpy(bytes + 16, m->job, PCTL_DIGEST_BYTES);
	for (uint32_t i = 0; i < m->n; i++) {
		uint8_t *at = bytes + MERGED_BYTES + (size_t)i * SOURCE_BYTES;

		pctl_query_put_number(at, m->items[i].clock);
		at[8] = (uint8_t)m->items[i].is_job;
		memcpy(at + 9, m->items[i].digest, PCTL_DIGEST_BYTES);
	}
	status = pctl_query_go_on(m->f.p, bytes, MERGED_BYTES + (uint64_t)m->n * SOURCE_BYTES);
	free(bytes);
	return status;
}

/* ---- merging ------------------------------------------------------------------------------- */

static uint32_t least(const merging *m)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < m->n; i++)
		if (m->items[i].head_clock < m->items[best].head_clock ||
		    (m->items[i].head_clock == m->items[best].head_clock &&
		     m->items[i].head < m->items[best].head))
			best = i;
	return best;
}

/* The edges of one job stand together, so that it is the job before where it comes again. */
static pctl_status step(merging *m)
{
	const uint32_t at = least(m);
	uint8_t id[PCTL_DIGEST_BYTES];
	char name[PCTL_EDGE_NAME_MAX + 1];
	pctl_status status = pctl_word_text(m->f.p->s, m->items[at].head_job, m->f.p->call, name);

	if (status == PCTL_OK && !pctl_provenance_job_id(name, id))
		return pctl_refuse(m->f.p->call, PC5882_EDGE_BROKEN, "\"%s\" is the job of an edge",
				   name);
	m->clock = m->items[at].head_clock;
	m->number = m->items[at].head;
	if (status == PCTL_OK)
		status = look(m, &m->items[at]);
	if (status == PCTL_OK && m->items[at].head == 0) {
		m->n--;
		memmove(m->items + at, m->items + at + 1, (m->n - at) * sizeof(*m->items));
	}
	if (status != PCTL_OK || memcmp(id, m->job, sizeof(id)) == 0)
		return status;
	memcpy(m->job, id, sizeof(id));
	status = pctl_follow_put(&m->f, id);
	if (status == PCTL_OK)
		status = add(m, 1, id, m->f.clock);
	return status == PCTL_OK ? add_output(m, m->f.output, m->f.clock) : status;
}

pctl_status pctl_query_dependents(pctl_query_page *p)
{
	merging m = {.items = NULL};
	pctl_status status = pctl_follow_open(p, &m.f);

	if (status == PCTL_OK)
		status = p->n_from == 0 ? begin(&m) : load(&m);
	while (status == PCTL_OK && m.n != 0 && (p->n_jobs == 0 || !pctl_query_is_full(p)))
		status = step(&m);
	if (status == PCTL_OK && m.n != 0)
		status = go_on(&m);
	free(m.items);
	pctl_follow_close(&m.f);
	return status;
}
