/* A job of a history put into a page, and the way back through what jobs took; see follow.h. */
#include "chain/provenance/follow.h"

#include <stdlib.h>
#include <string.h>

#include "chain/provenance/provenance_private.h"
#include "foundation/base/vec.h"

/* ---- one job ------------------------------------------------------------------------------- */

/* A walk of one step at a time. */
typedef struct stepping {
	pctl_provenance_walk walk;
	pctl_provenance_options options;
	pctl_provenance found;
} stepping;

pctl_status pctl_follow_open(pctl_query_page *p, pctl_follow *f)
{
	stepping *s = pctl_arena_alloc(p->arena, sizeof(*s));

	*f = (pctl_follow){.p = p};
	if (s == NULL)
		return pctl_no_memory(p->call, "a history");
	memset(s, 0, sizeof(*s));
	s->options = (pctl_provenance_options){.max_depth = UINT32_MAX,
					       .max_steps = UINT32_MAX,
					       .height = p->height,
					       .max_makers = PCTL_FOLLOW_MAKERS};
	s->walk = (pctl_provenance_walk){.s = p->s,
					 .o = &s->options,
					 .call = p->call,
					 .p = &s->found,
					 .makers = pctl_map_create()};
	f->w = &s->walk;
	if (s->walk.makers == NULL ||
	    !pctl_vec_reserve((void **)&s->found.steps, 0, &s->found.cap_steps,
			      sizeof(*s->found.steps)))
		return pctl_no_memory(p->call, "a history");
	return PCTL_OK;
}

void pctl_follow_close(pctl_follow *f)
{
	if (f->w == NULL)
		return;
	pctl_provenance_drop_makers(f->w->makers);
	pctl_provenance_clear(f->w->p);
}

static pctl_status put_inputs(pctl_follow *f, pctl_msg_graph_job *m)
{
	const pctl_provenance *found = f->w->p;
	pctl_msg_graph_input *inputs =
		pctl_arena_array(f->p->arena, found->n_links, sizeof(*inputs));
	char id[PCTL_JOB_TEXT_SIZE];

	if (inputs == NULL)
		return pctl_no_memory(f->p->call, "an answer");
	for (uint32_t i = 0; i < found->n_links; i++) {
		const pctl_provenance_link *link = &found->links[i];

		inputs[i] = (pctl_msg_graph_input){
			.kind = link->kind,
			.name = pctl_arena_dup(f->p->arena, link->name),
			.maker = link->has_maker
					 ? pctl_arena_dup(f->p->arena,
							  pctl_job_id_format(link->maker, id))
					 : ""};
		if (inputs[i].name == NULL || inputs[i].maker == NULL)
			return pctl_no_memory(f->p->call, "an answer");
		f->p->n_bytes += strlen(link->name) + 80;
	}
	m->inputs = inputs;
	m->n_inputs = found->n_links;
	return PCTL_OK;
}

static pctl_status fill(pctl_follow *f, const uint8_t id[PCTL_DIGEST_BYTES])
{
	pctl_provenance *found = f->w->p;
	const uint64_t looked = f->w->n_looked;
	pctl_status status;

	memset(&found->steps[0], 0, sizeof(found->steps[0]));
	memcpy(found->steps[0].job, id, PCTL_DIGEST_BYTES);
	found->n_steps = 1;
	found->n_links = 0;
	status = pctl_provenance_fill(f->w, 0);
	f->p->looked += 16 + (uint32_t)(f->w->n_looked - looked);
	f->p->cut += f->w->n_unfollowed;
	f->w->n_unfollowed = 0;
	memcpy(f->output, found->steps[0].output, sizeof(f->output));
	f->clock = found->steps[0].clock;
	return status;
}

pctl_status pctl_follow_put(pctl_follow *f, const uint8_t id[PCTL_DIGEST_BYTES])
{
	char text[PCTL_JOB_TEXT_SIZE];
	pctl_msg_graph_job *m = NULL;
	pctl_request r = {.kind = 0};
	pctl_chain_job job;
	pctl_status status = pctl_jobs_read(f->p->s, id, NULL, &job);

	if (status == PCTL_E_NOT_FOUND || (status == PCTL_OK && job.height > f->p->height)) {
		if (status == PCTL_OK)
			pctl_chain_job_clear(&job);
		return pctl_refuse(f->p->call, PC5883_PROVENANCE_UNKNOWN,
				   "the graph knows nothing of job:%s",
				   pctl_job_id_format(id, text));
	}
	if (status == PCTL_OK)
		status = pctl_request_decode(job.message, job.n_message, f->p->call, &r);
	if (status == PCTL_OK)
		status = fill(f, id);
	if (status == PCTL_OK)
		status = pctl_query_put_job(f->p, &job, &r.as.execute, &m);
	if (status == PCTL_OK)
		status = put_inputs(f, m);
	pctl_request_destroy(&r);
	pctl_chain_job_clear(&job);
	return status;
}

/* ---- back ---------------------------------------------------------------------------------- */

/* Jobs that wait to be followed, the highest (clock, id) last. */
typedef struct due {
	uint64_t clock;
	uint8_t id[PCTL_DIGEST_BYTES];
} due;
#define DUE_BYTES (8u + PCTL_DIGEST_BYTES)

typedef struct waiting {
	pctl_follow f;
	due *items;
	uint32_t n, room;
} waiting;

static int compare(const due *a, const due *b)
{
	if (a->clock != b->clock)
		return a->clock < b->clock ? -1 : 1;
	return memcmp(a->id, b->id, PCTL_DIGEST_BYTES);
}

static pctl_status add(waiting *w, uint64_t clock, const uint8_t id[PCTL_DIGEST_BYTES])
{
	due one = {.clock = clock};
	uint32_t low = 0, high = w->n;

	memcpy(one.id, id, PCTL_DIGEST_BYTES);
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (compare(&w->items[middle], &one) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < w->n && compare(&w->items[low], &one) == 0)
		return PCTL_OK;
	if (w->n == PCTL_FOLLOW_MAX) { /* the oldest is left out */
		w->f.p->cut++;
		if (low == 0)
			return PCTL_OK;
		memmove(w->items, w->items + 1, (low - 1) * sizeof(*w->items));
		w->items[low - 1] = one;
		return PCTL_OK;
	}
	if (!pctl_vec_reserve((void **)&w->items, w->n, &w->room, sizeof(*w->items)))
		return pctl_no_memory(w->f.p->call, "a history");
	memmove(w->items + low + 1, w->items + low, (w->n - low) * sizeof(*w->items));
	w->items[low] = one;
	w->n++;
	return PCTL_OK;
}

static pctl_status add_job(waiting *w, const uint8_t id[PCTL_DIGEST_BYTES])
{
	pctl_chain_job job;
	char text[PCTL_JOB_TEXT_SIZE];
	pctl_status status = pctl_jobs_read(w->f.p->s, id, NULL, &job);

	if (status == PCTL_E_NOT_FOUND)
		return pctl_refuse(w->f.p->call, PC5883_PROVENANCE_UNKNOWN,
				   "the graph knows nothing of job:%s",
				   pctl_job_id_format(id, text));
	if (status != PCTL_OK)
		return status;
	status = add(w, job.clock, id);
	pctl_chain_job_clear(&job);
	return status;
}

static pctl_status check_known(pctl_query_page *p, const char *name)
{
	int known = 0;
	const pctl_status status = pctl_edges_known(p->s, name, p->call, &known);

	return status != PCTL_OK || known ? status
					  : pctl_refuse(p->call, PC5883_PROVENANCE_UNKNOWN,
							"the graph knows nothing of %s", name);
}

static pctl_status begin_back(waiting *w)
{
	pctl_query_page *p = w->f.p;
	uint8_t id[PCTL_DIGEST_BYTES];
	pctl_edges_first first;
	pctl_status status;
	pctl_cid cid;

	if (pctl_provenance_job_id(p->q->name, id))
		return add_job(w, id);
	if (!pctl_cid_parse(p->q->name, &cid))
		return pctl_refuse(p->call, PC5880_EDGE_NAME,
				   "\"%.80s\" is no CID and no job:ID, and nothing else has a "
				   "history",
				   p->q->name);
	status = check_known(p, p->q->name);
	if (status == PCTL_OK)
		status = pctl_edges_first_to(p->s, p->q->name, PCTL_EDGE_OUTPUT, p->height,
					     PCTL_FOLLOW_MAKERS, p->call, &first);
	if (status != PCTL_OK)
		return status;
	p->looked += (uint32_t)first.n;
	p->cut += first.n > PCTL_FOLLOW_MAKERS;
	return pctl_provenance_job_id(first.source, id) ? add_job(w, id) : PCTL_OK;
}

static pctl_status load_back(waiting *w)
{
	pctl_query_page *p = w->f.p;
	pctl_status status = PCTL_OK;

	if (p->n_from % DUE_BYTES != 0 || p->n_from > (uint64_t)DUE_BYTES * PCTL_FOLLOW_MAX)
		return pctl_query_bad_next(p, "it is no list of jobs");
	for (uint64_t at = 0; status == PCTL_OK && at < p->n_from; at += DUE_BYTES) {
		const uint32_t n = w->n;

		status = add(w, pctl_query_number(p->from + at), p->from + at + 8);
		if (status == PCTL_OK &&
		    (w->n != n + 1 || memcmp(w->items[n].id, p->from + at + 8, 32) != 0))
			return pctl_query_bad_next(p, "its jobs are not in order");
	}
	return status;
}

static pctl_status go_on_back(waiting *w)
{
	pctl_query_page *p = w->f.p;
	uint8_t *bytes;
	pctl_status status;

	if (w->n == 0)
		return PCTL_OK;
	bytes = malloc((size_t)w->n * DUE_BYTES);
	if (bytes == NULL)
		return pctl_no_memory(p->call, "an answer");
	for (uint32_t i = 0; i < w->n; i++) {
		pctl_query_put_number(bytes + i * DUE_BYTES, w->items[i].clock);
		memcpy(bytes + i * DUE_BYTES + 8, w->items[i].id, PCTL_DIGEST_BYTES);
	}
	status = pctl_query_go_on(p, bytes, (uint64_t)w->n * DUE_BYTES);
	free(bytes);
	return status;
}

/* Follow the highest of those that wait: all that it leads to is lower. */
static pctl_status step_back(waiting *w)
{
	const due next = w->items[--w->n];
	const pctl_provenance *found = w->f.w->p;
	pctl_status status = pctl_follow_put(&w->f, next.id);

	if (status == PCTL_OK && w->f.clock != next.clock)
		return pctl_query_bad_next(w->f.p, "a job of it has another clock");
	for (uint32_t i = 0; status == PCTL_OK && i < found->n_links; i++)
		if (found->links[i].has_maker)
			status = add_job(w, found->links[i].maker);
	if (status == PCTL_OK && w->n != 0 && compare(&w->items[w->n - 1], &next) >= 0)
		return pctl_refuse(w->f.p->call, PC5882_EDGE_BROKEN,
				   "what a job took was made at a clock that is not below its own");
	return status;
}

pctl_status pctl_query_history(pctl_query_page *p)
{
	waiting w = {.items = NULL};
	pctl_status status = pctl_follow_open(p, &w.f);

	if (status == PCTL_OK)
		status = p->n_from == 0 ? begin_back(&w) : load_back(&w);
	/* At least one, however much there was to look at. */
	while (status == PCTL_OK && w.n != 0 && (p->n_jobs == 0 || !pctl_query_is_full(p)))
		status = step_back(&w);
	if (status == PCTL_OK)
		status = go_on_back(&w);
	free(w.items);
	pctl_follow_close(&w.f);
	return status;
}
