/* The queue in the order in which a block considers it, under version 2 of the rules; see block_private.h. */
#include <stdlib.h>
#include <string.h>

#include "chain/blocks/block_private.h"

__extension__ typedef unsigned __int128 wide;

#define KEPT_JOBS 16384u /* that were read here and need not be read again */

typedef struct walk {
	pctl_block_work *w;
	pctl_map *by_id; /* hex of the id to its pctl_block_waiting */
	PCTL_VEC(pctl_block_waiting *) all;
	pctl_status status;
} walk;

/* What comes first is less; position apart. */
static int compare_worth(const pctl_block_waiting *a, const pctl_block_waiting *b)
{
	wide x, y;

	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	x = (wide)a->tip * b->per;
	y = (wide)b->tip * a->per;
	return x == y ? 0 : x > y ? -1 : 1;
}

static int by_worth(const void *a, const void *b)
{
	const pctl_block_waiting *x = a, *y = b;
	const int order = compare_worth(x, y);

	if (order != 0)
		return order;
	return x->position < y->position ? -1 : x->position > y->position;
}

static void hold_back(const walk *k, pctl_block_waiting *it, const char *id)
{
	const pctl_block_waiting *parent = pctl_map_get(k->by_id, id);

	if (parent == NULL || compare_worth(it, parent) >= 0)
		return;
	it->first = parent->first;
	it->tip = parent->tip;
	it->per = parent->per;
}

static void hold_back_by_all(const walk *k, pctl_block_waiting *it, const pctl_msg_execute *m)
{
	const char *reference;
	uint32_t group, binding;

	for (uint32_t i = 0; i < m->n_parent_jobs; i++)
		hold_back(k, it, m->parent_jobs[i]);
	for (uint32_t i = 0; i < m->n_after; i++)
		hold_back(k, it, m->after[i]);
	for (uint32_t i = 0; (reference = pctl_block_reference(m, i, &group, &binding)) != NULL;
	     i++)
		if (pctl_block_job_of(reference) != NULL)
			hold_back(k, it, pctl_block_job_of(reference));
}

/* The first of the queue is the oldest, and waits for nobody. */
static uint32_t place_of(const walk *k, const pctl_chain_job *row)
{
	const pctl_block_work *w = k->w;

	if (row->origin == PCTL_ORIGIN_EPOCH)
		return 0;
	return k->all.n == 0 && w->header.height - row->height >=
					w->params.values[PCTL_PARAM_QUEUE_AGE]
		       ? 1
		       : 2;
}

static pctl_status add(walk *k, const pctl_chain_job *row, const pctl_request *r,
		       pctl_block_job *job)
{
	pctl_block_waiting *it = pctl_arena_alloc(k->w->arena, sizeof(*it));
	char id[PCTL_JOB_TEXT_SIZE];

	if (it == NULL)
		return pctl_no_memory(k->w->call, "a block");
	*it = (pctl_block_waiting){.position = row->position,
				   .gas = row->gas,
				   .tip = r->as.execute.tip,
				   .per = row->gas == 0 ? 1 : row->gas,
				   .first = place_of(k, row)};
	memcpy(it->id, row->id, sizeof(it->id));
	hold_back_by_all(k, it, &r->as.execute);
	if (!pctl_map_put(k->by_id, pctl_job_id_format(row->id, id), it) ||
	    !PCTL_VEC_PUSH(&k->all, it))
		return pctl_no_memory(k->w->call, "a block");
	it->job = job;
	return PCTL_OK;
}

static pctl_status add_kept(walk *k, const pctl_chain_job *row)
{
	pctl_block_job *job;
	pctl_status status = pctl_block_job_make(k->w, row, &job);

	if (status != PCTL_OK)
		return status;
	status = add(k, row, &job->message, job);
	if (status != PCTL_OK)
		pctl_request_destroy(&job->message);
	return status;
}

static pctl_status add_row(walk *k, const pctl_chain_job *row)
{
	pctl_request r;
	pctl_status status;

	if (k->all.n < KEPT_JOBS)
		return add_kept(k, row);
	status = pctl_request_decode(row->message, row->n_message, k->w->call, &r);
	if (status == PCTL_OK)
		status = add(k, row, &r, NULL);
	pctl_request_destroy(&r);
	return status;
}

static int visit(void *ctx, const pctl_chain_job *row)
{
	walk *k = ctx;

	k->status = add_row(k, row);
	return k->status != PCTL_OK;
}

pctl_status pctl_block_queue(pctl_block_work *w, pctl_block_waiting **out, uint32_t *n)
{
	walk k = {.w = w, .by_id = pctl_map_create()};
	pctl_status status = k.by_id == NULL ? pctl_no_memory(w->call, "a block")
					     : pctl_jobs_pending(w->s, visit, &k, w->call);

	*out = NULL;
	*n = 0;
	if (status == PCTL_OK)
		status = k.status;
	if (status == PCTL_OK) {
		*out = pctl_arena_array(w->arena, k.all.n, sizeof(**out));
		if (*out == NULL)
			status = pctl_no_memory(w->call, "a block");
	}
	for (uint32_t i = 0; i < k.all.n; i++) {
		if (status == PCTL_OK)
			(*out)[i] = *k.all.items[i];
		else if (k.all.items[i]->job != NULL)
			pctl_request_destroy(&k.all.items[i]->job->message);
	}
	if (status == PCTL_OK) {
		*n = (uint32_t)k.all.n;
		if (*n > 1)
			qsort(*out, *n, sizeof(**out), by_worth);
	}
	free(k.all.items);
	pctl_map_destroy(k.by_id);
	return status;
}
