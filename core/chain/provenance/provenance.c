/* The walk over jobs behind provenance.h: breadth first from a name, back or forward, within bounds. */
#include "chain/provenance/provenance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/vec.h"
#include "chain/provenance/provenance_private.h"

/* ---- steps -------------------------------------------------------------------------------- */

/* The place of a job's step, made when it is new and there is room; NONE (and *full) otherwise. */
static pctl_status place_of(pctl_provenance_walk *w, const uint8_t job[PCTL_DIGEST_BYTES],
			    uint32_t from, uint32_t depth, uint32_t *out)
{
	char text[PCTL_JOB_TEXT_SIZE];
	pctl_provenance *p = w->p;
	const uintptr_t known = (uintptr_t)pctl_map_get(w->seen, pctl_job_id_format(job, text));
	pctl_provenance_step *step;

	*out = PCTL_PROVENANCE_NONE;
	if (known != 0) {
		*out = (uint32_t)(known - 1);
		return PCTL_OK;
	}
	if (depth > w->o->max_depth || p->n_steps >= w->o->max_steps)
		return PCTL_OK;
	if (!pctl_vec_reserve((void **)&p->steps, p->n_steps, &p->cap_steps, sizeof(*p->steps)) ||
	    !pctl_map_put(w->seen, text, (void *)((uintptr_t)p->n_steps + 1)))
		return pctl_no_memory(w->call, "a history");
	step = &p->steps[p->n_steps];
	memset(step, 0, sizeof(*step));
	memcpy(step->job, job, PCTL_DIGEST_BYTES);
	step->from = from;
	step->depth = depth;
	*out = p->n_steps++;
	return pctl_provenance_fill(w, *out);
}

static void note_cut(pctl_provenance_walk *w, uint32_t depth)
{
	if (depth > w->o->max_depth)
		w->p->cut_depth++;
	else
		w->p->cut_steps++;
}

/* ---- back --------------------------------------------------------------------------------- */

/* What visitors of the walk work on: jobs with a clock above `clock` are followed. */
typedef struct following {
	pctl_provenance_walk *w;
	uint32_t from, depth;
	uint64_t clock;
	pctl_status status;
} following;

static int follow_job(following *f, const uint8_t job[PCTL_DIGEST_BYTES])
{
	uint32_t place;

	f->status = place_of(f->w, job, f->from, f->depth, &place);
	if (f->status != PCTL_OK)
		return 1;
	if (place == PCTL_PROVENANCE_NONE)
		note_cut(f->w, f->depth);
	return place == PCTL_PROVENANCE_NONE;
}

static int follow_maker(void *ctx, const pctl_edge *e)
{
	following *f = ctx;
	uint8_t job[PCTL_DIGEST_BYTES];

	if (!pctl_provenance_job_id(e->source, job) || pctl_provenance_is_later(f->w, e->height))
		return 0;
	return follow_job(f, job) != 0 || (f->w->o->flags & PCTL_PROVENANCE_ALL) == 0;
}

static pctl_status follow_links(pctl_provenance_walk *w, uint32_t at)
{
	const uint32_t first = w->p->steps[at].first_link, n = w->p->steps[at].n_links;
	const uint32_t depth = w->p->steps[at].depth + 1;
	pctl_status status = PCTL_OK;

	for (uint32_t i = first; status == PCTL_OK && i < first + n; i++) {
		uint32_t place;

		if (!w->p->links[i].has_maker)
			continue;
		status = place_of(w, w->p->links[i].maker, at, depth, &place);
		w->p->links[i].step = place;
		if (status == PCTL_OK && place == PCTL_PROVENANCE_NONE)
			note_cut(w, depth);
		if (status == PCTL_OK && place != PCTL_PROVENANCE_NONE &&
		    w->p->steps[place].clock >= w->p->steps[at].clock)
			return pctl_refuse(w->call, PC5882_EDGE_BROKEN,
					   "%s was made at a clock that is not below that of the "
					   "job which took it",
					   w->p->links[i].name);
	}
	return status;
}

static pctl_status walk_back(pctl_provenance_walk *w)
{
	following f = {.w = w, .from = PCTL_PROVENANCE_NONE, .depth = 1};
	uint8_t job[PCTL_DIGEST_BYTES];
	pctl_status status;

	if (pctl_provenance_job_id(w->p->name, job)) {
		follow_job(&f, job);
		status = PCTL_OK;
	} else {
		status = pctl_edges_entering(w->s, w->p->name, PCTL_EDGE_OUTPUT, w->call,
					     &w->p->n_makers);
		if (status == PCTL_OK)
			status = pctl_edges_to(w->s, w->p->name, PCTL_EDGE_OUTPUT, follow_maker, &f,
					       w->call);
	}
	if (status == PCTL_OK)
		status = f.status;
	for (uint32_t i = 0; status == PCTL_OK && i < w->p->n_steps; i++)
		status = follow_links(w, i);
	return status;
}

/* ---- forward ------------------------------------------------------------------------------ */

static int follow_taker(void *ctx, const pctl_edge *e)
{
	following *f = ctx;
	uint8_t job[PCTL_DIGEST_BYTES];

	if (e->clock <= f->clock || !pctl_provenance_job_id(e->job, job) ||
	    pctl_provenance_is_later(f->w, e->height))
		return 0;
	return follow_job(f, job);
}

static pctl_status follow_takers(pctl_provenance_walk *w, const char *name, uint32_t from,
				 uint32_t depth, uint64_t clock)
{
	following f = {.w = w, .from = from, .depth = depth, .clock = clock};
	pctl_status status =
		pctl_edges_from(w->s, name, PCTL_EDGE_INPUT, follow_taker, &f, w->call);

	return status == PCTL_OK ? f.status : status;
}

static int follow_executed(void *ctx, const pctl_edge *e)
{
	uint8_t job[PCTL_DIGEST_BYTES];

	return pctl_provenance_job_id(e->target, job) ? follow_job(ctx, job) : 0;
}

/* Links of steps were read before the steps they may lead to were there. */
static void join_links(pctl_provenance_walk *w)
{
	char text[PCTL_JOB_TEXT_SIZE];

	for (uint32_t i = 0; i < w->p->n_links; i++) {
		pctl_provenance_link *link = &w->p->links[i];
		const uintptr_t known =
			link->has_maker ? (uintptr_t)pctl_map_get(
						  w->seen, pctl_job_id_format(link->maker, text))
					: 0;

		if (known != 0)
			link->step = (uint32_t)(known - 1);
	}
}

static pctl_status walk_forward(pctl_provenance_walk *w)
{
	uint8_t job[PCTL_DIGEST_BYTES];
	following f = {.w = w, .from = PCTL_PROVENANCE_NONE, .depth = 1};
	pctl_status status = PCTL_OK;

	if (pctl_provenance_job_id(w->p->name, job)) {
		follow_job(&f, job);
		status = f.status;
	} else {
		status = follow_takers(w, w->p->name, PCTL_PROVENANCE_NONE, 1, 0);
		/* What an account had run. */
		if (status == PCTL_OK)
			status = pctl_edges_from(w->s, w->p->name, PCTL_EDGE_EXECUTED,
						 follow_executed, &f, w->call);
		if (status == PCTL_OK)
			status = f.status;
	}
	for (uint32_t i = 0; status == PCTL_OK && i < w->p->n_steps; i++) {
		const pctl_provenance_step step = w->p->steps[i];

		if (step.output[0] != '\0')
			status = follow_takers(w, step.output, i, step.depth + 1, step.clock);
	}
	join_links(w);
	return status;
}

/* ---- reading ------------------------------------------------------------------------------ */

static pctl_status check_known(pctl_chain_state *s, const char *name, const pctl_call *call)
{
	uint8_t id[PCTL_DIGEST_BYTES];
	pctl_chain_job job;
	int known;
	pctl_status status = pctl_edges_known(s, name, call, &known);

	if (status != PCTL_OK || known)
		return status;
	if (pctl_provenance_job_id(name, id) && pctl_jobs_read(s, id, NULL, &job) == PCTL_OK) {
		pctl_chain_job_clear(&job);
		return PCTL_OK;
	}
	return pctl_refuse_at(call, PC5883_PROVENANCE_UNKNOWN, NULL,
			      "it holds what messages and jobs of this home's chain made and read; "
			      "a result of `run` "
			      "has a receipt instead (run --receipt)",
			      "the graph of the chain has no job, message or bytes named %s", name);
}

void pctl_provenance_drop_makers(pctl_map *makers)
{
	for (uint32_t i = 0; makers != NULL && i < pctl_map_count(makers); i++)
		free(pctl_map_value_at(makers, i));
	pctl_map_destroy(makers);
}

pctl_status pctl_provenance_read(pctl_chain_state *s, const char *name,
				 const pctl_provenance_options *o, const pctl_call *call,
				 pctl_provenance *out)
{
	pctl_provenance_walk w = {.s = s, .o = o, .call = call, .p = out};
	pctl_status status;

	memset(out, 0, sizeof(*out));
	status = check_known(s, name, call);
	if (status != PCTL_OK)
		return status;
	snprintf(out->name, sizeof(out->name), "%s", name);
	out->flags = o->flags;
	w.seen = pctl_map_create();
	w.makers = pctl_map_create();
	if (w.seen == NULL || w.makers == NULL)
		status = pctl_no_memory(call, "a history");
	else
		status = (o->flags & PCTL_PROVENANCE_FORWARD) != 0 ? walk_forward(&w)
								   : walk_back(&w);
	pctl_map_destroy(w.seen);
	pctl_provenance_drop_makers(w.makers);
	if (status != PCTL_OK)
		pctl_provenance_clear(out);
	return status;
}

void pctl_provenance_clear(pctl_provenance *p)
{
	free(p->steps);
	free(p->links);
	memset(p, 0, sizeof(*p));
}

/* ---- orders ------------------------------------------------------------------------------- */

struct place {
	uint64_t clock;
	const uint8_t *job;
	uint32_t at, reserved;
};

static int by_clock(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->clock != y->clock)
		return x->clock < y->clock ? -1 : 1;
	return memcmp(x->job, y->job, PCTL_DIGEST_BYTES);
}

uint32_t *pctl_provenance_order(const pctl_provenance *p)
{
	struct place *places = calloc(p->n_steps + 1u, sizeof(*places));
	uint32_t *order = calloc(p->n_steps + 1u, sizeof(*order));

	if (places == NULL || order == NULL) {
		free(places);
		free(order);
		return NULL;
	}
	for (uint32_t i = 0; i < p->n_steps; i++)
		places[i] = (struct place){p->steps[i].clock, p->steps[i].job, i, 0};
	qsort(places, p->n_steps, sizeof(*places), by_clock);
	for (uint32_t i = 0; i < p->n_steps; i++)
		order[i] = places[i].at;
	free(places);
	return order;
}

pctl_status pctl_provenance_cids(const pctl_provenance *p, const pctl_call *call, pctl_cid **out,
				 uint32_t *n_out)
{
	const size_t room = 1u + 2u * (size_t)p->n_steps + p->n_links;
	pctl_cid *cids = calloc(room, sizeof(*cids));
	uint32_t n = 0, kept = 0;

	*out = NULL;
	*n_out = 0;
	if (cids == NULL)
		return pctl_no_memory(call, "a history");
	n += (uint32_t)pctl_cid_parse(p->name, &cids[n]);
	for (uint32_t i = 0; i < p->n_steps; i++) {
		n += (uint32_t)pctl_cid_parse(p->steps[i].shader, &cids[n]);
		n += (uint32_t)pctl_cid_parse(p->steps[i].output, &cids[n]);
	}
	for (uint32_t i = 0; i < p->n_links; i++)
		n += (uint32_t)pctl_cid_parse(p->links[i].name, &cids[n]);
	qsort(cids, n, sizeof(*cids), pctl_cid_order);
	for (uint32_t i = 0; i < n; i++)
		if (kept == 0 || memcmp(&cids[kept - 1], &cids[i], sizeof(cids[i])) != 0)
			cids[kept++] = cids[i];
	*out = cids;
	*n_out = kept;
	return PCTL_OK;
}
