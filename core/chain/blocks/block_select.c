/* Choosing the jobs of a block: the longest prefix of the queue whose gas fits the budget. A job that fails for a reason
 * of its own or of a parent's takes no gas. From version 2 of the rules on jobs are considered in the order of block_queue.c, and what
 * does not fit is skipped. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "chain/state/amount.h"
#include "chain/blocks/block_private.h"
#include "chain/transition/submit.h"
#include "foundation/base/utf8.h"

#define DEPENDENCY "dependency failed: "

const char *pctl_block_job_of(const char *reference)
{
	return strncmp(reference, "job:", 4) == 0 ? reference + 4 : NULL;
}

const char *pctl_block_reference(const pctl_msg_execute *m, uint32_t i, uint32_t *group,
				 uint32_t *binding)
{
	*group = *binding = 0;
	if (i == 0)
		return m->input;
	if (i > m->n_bindings)
		return NULL;
	*group = m->bindings[i - 1].group;
	*binding = m->bindings[i - 1].binding;
	return m->bindings[i - 1].cid;
}

pctl_block_job *pctl_block_find(const pctl_block_work *w, const char *name)
{
	const char *id = pctl_block_job_of(name);

	return pctl_map_get(w->by_id, id == NULL ? name : id);
}

/* ---- why a job fails ---------------------------------------------------------------------- */

/* Why the job `id` failed, NULL when it did not. A job that neither ended nor is of this block is waited for under version 2 of
 * the rules, and breaks the queue's order under version 1. */
static pctl_status failure_of(pctl_block_work *w, pctl_block_job *by, const char *id,
			      const char **out)
{
	const pctl_chain_job *user = &by->row;
	const pctl_block_job *here = pctl_block_find(w, id);
	char text[PCTL_JOB_TEXT_SIZE];
	uint8_t digest[PCTL_DIGEST_BYTES];
	pctl_chain_job job = {.message = NULL};
	pctl_status status;

	*out = here == NULL ? NULL : here->error;
	if (here != NULL && here->row.clock >= user->clock && here->error == NULL)
		return pctl_refuse(w->call, PC5860_BLOCK_ORDER,
				   "job %s (clock %" PRIu64
				   ") depends on job %s, whose clock %" PRIu64 " is not below it",
				   pctl_job_id_format(user->id, text), user->clock, id,
				   here->row.clock);
	if (here != NULL)
		return PCTL_OK;
	(void)pctl_job_id_parse(id, digest);
	status = pctl_jobs_read(w->s, digest, w->call, &job);
	if (status == PCTL_OK && job.status == PCTL_JOB_PENDING &&
	    pctl_params_has_stakes(&w->params))
		by->waits = 1;
	else if (status == PCTL_OK && job.status == PCTL_JOB_PENDING)
		status = pctl_refuse(w->call, PC5860_BLOCK_ORDER,
				     "job %s depends on job %s, which comes after it in the queue",
				     pctl_job_id_format(user->id, text), id);
	if (status == PCTL_OK && job.status == PCTL_JOB_FAILED) {
		*out = pctl_arena_dup(w->arena, job.error);
		if (*out == NULL)
			status = pctl_no_memory(w->call, "a block");
	}
	pctl_chain_job_clear(&job);
	return status;
}

/* Cut at the most that a reason may have, at a character's border. */
static void cut(char *text)
{
	if (strlen(text) > PCTL_MESSAGE_ERROR_MAX)
		text[pctl_utf8_cut(text, PCTL_MESSAGE_ERROR_MAX)] = '\0';
}

/* What fails because of another names the job that failed first, however long the chain. */
static pctl_status inherit(pctl_block_work *w, const char *id, const char *cause, const char **out)
{
	char *text = strncmp(cause, DEPENDENCY, strlen(DEPENDENCY)) == 0
			     ? pctl_arena_dup(w->arena, cause)
			     : pctl_arena_printf(w->arena, DEPENDENCY "job %s: %s", id, cause);

	if (text == NULL)
		return pctl_no_memory(w->call, "a block");
	cut(text);
	*out = text;
	return PCTL_OK;
}

static pctl_status check_parents(pctl_block_work *w, pctl_block_job *job)
{
	const pctl_msg_execute *m = &job->message.as.execute;
	const char *cause = NULL, *reference;
	uint32_t group, binding;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < m->n_after; i++)
		status = failure_of(w, job, m->after[i], &cause);
	for (uint32_t i = 0; status == PCTL_OK && job->error == NULL && i < m->n_parent_jobs; i++) {
		status = failure_of(w, job, m->parent_jobs[i], &cause);
		if (status == PCTL_OK && cause != NULL)
			status = inherit(w, m->parent_jobs[i], cause, &job->error);
	}
	for (uint32_t i = 0; status == PCTL_OK && job->error == NULL &&
			     (reference = pctl_block_reference(m, i, &group, &binding)) != NULL;
	     i++) {
		const char *id = pctl_block_job_of(reference);

		if (id == NULL)
			continue;
		status = failure_of(w, job, id, &cause);
		if (status == PCTL_OK && cause != NULL)
			status = inherit(w, id, cause, &job->error);
	}
	return status;
}

/* From version 2 of the rules on what a job needs beyond the rules costs what a refusal does (refusal.h): every node has looked
 * at it. What fails because of another job has cost nothing that was not paid. */
static pctl_status charge(pctl_block_work *w, pctl_block_job *job)
{
	const pctl_msg_execute *m = &job->message.as.execute;
	pctl_params then;
	pctl_status status = pctl_params_in_force(w->s, job->row.height, w->call, &then);

	if (status != PCTL_OK || then.values[PCTL_PARAM_RULES] == PCTL_RULES_RELEASED)
		return status;
	return pctl_chain_validation_gas(w->chain, m, &w->params, w->call, &job->row.gas_used);
}

/* What was in bounds when it was submitted need not be under the parameters of this block. */
static pctl_status check_bounds(pctl_block_work *w, pctl_block_job *job)
{
	const uint64_t most = w->params.values[PCTL_PARAM_OUTPUT_BYTES_MAX];

	if (job->error != NULL)
		return PCTL_OK;
	if (job->row.gas > w->header.budget)
		job->error = pctl_arena_printf(
			w->arena, "gas %" PRIu64 " is above the block's budget of %" PRIu64,
			job->row.gas, w->header.budget);
	else if (job->message.as.execute.output_bytes > most)
		job->error = pctl_arena_printf(
			w->arena, "output of %" PRIu64 " bytes is above the %" PRIu64 " allowed",
			job->message.as.execute.output_bytes, most);
	else
		return PCTL_OK;
	return job->error == NULL ? pctl_no_memory(w->call, "a block") : charge(w, job);
}

/* ---- the queue ---------------------------------------------------------------------------- */

typedef struct walk {
	pctl_block_work *w;
	pctl_status status;
	int full;
	uint64_t gas;
} walk;

pctl_status pctl_block_job_make(pctl_block_work *w, const pctl_chain_job *row, pctl_block_job **out)
{
	pctl_block_job *job = pctl_arena_alloc(w->arena, sizeof(*job));
	pctl_status status;

	*out = NULL;
	if (job == NULL)
		return pctl_no_memory(w->call, "a block");
	job->row = *row;
	job->row.message = pctl_arena_alloc(w->arena, (size_t)row->n_message);
	if (job->row.message == NULL)
		return pctl_no_memory(w->call, "a block");
	memcpy(job->row.message, row->message, (size_t)row->n_message);
	status = pctl_request_decode(job->row.message, row->n_message, w->call, &job->message);
	if (status == PCTL_OK)
		*out = job;
	return status;
}

/* Remember it, and of whose outputs of this block it makes use. */
static pctl_status take(pctl_block_work *w, pctl_block_job *job)
{
	char id[PCTL_JOB_TEXT_SIZE];
	const char *reference;
	uint32_t group, binding;

	if (!pctl_map_put(w->by_id, pctl_job_id_format(job->row.id, id), job) ||
	    !PCTL_VEC_PUSH(&w->jobs, job))
		return pctl_no_memory(w->call, "a block");
	for (uint32_t i = 0;
	     job->error == NULL && (reference = pctl_block_reference(&job->message.as.execute, i,
								     &group, &binding)) != NULL;
	     i++) {
		const char *parent = pctl_block_job_of(reference);
		pctl_block_job *from = parent == NULL ? NULL : pctl_block_find(w, parent);

		if (from != NULL)
			from->n_users++;
	}
	return PCTL_OK;
}

static pctl_status defer(walk *k, const uint8_t row_id[PCTL_DIGEST_BYTES])
{
	pctl_block_work *w = k->w;
	char id[PCTL_JOB_TEXT_SIZE];

	k->full = !pctl_params_has_stakes(&w->params);
	w->header.deferred++;
	if (w->n_deferred == PCTL_MESSAGE_BLOCK_JOBS_MAX)
		return PCTL_OK;
	w->deferred[w->n_deferred] = pctl_arena_dup(w->arena, pctl_job_id_format(row_id, id));
	return w->deferred[w->n_deferred++] == NULL ? pctl_no_memory(w->call, "a block") : PCTL_OK;
}

/* The message of one that is left, or that an error met, is released. */
static pctl_status consider(walk *k, pctl_block_job *job, int *is_left)
{
	pctl_block_work *w = k->w;
	pctl_status status = check_parents(w, job);

	*is_left = 0;
	if (status == PCTL_OK)
		status = check_bounds(w, job);
	if (status == PCTL_OK && job->error == NULL &&
	    (job->waits || job->row.gas > w->header.budget - k->gas || w->jobs.n == UINT32_MAX)) {
		pctl_request_destroy(&job->message);
		*is_left = 1;
		return PCTL_OK;
	}
	if (status == PCTL_OK)
		status = take(w, job);
	if (status != PCTL_OK) {
		pctl_request_destroy(&job->message);
		return status;
	}
	k->gas += job->error == NULL ? job->row.gas : 0;
	return PCTL_OK;
}

static pctl_status consider_row(walk *k, const pctl_chain_job *row, int *is_left)
{
	pctl_block_job *job;
	const pctl_status status = pctl_block_job_make(k->w, row, &job);

	return status == PCTL_OK ? consider(k, job, is_left) : status;
}

static int visit(void *ctx, const pctl_chain_job *row)
{
	walk *k = ctx;
	int is_left = k->full;

	if (!is_left)
		k->status = consider_row(k, row, &is_left);
	if (k->status == PCTL_OK && is_left)
		k->status = defer(k, row->id);
	return k->status != PCTL_OK;
}

/* ---- version 2 ---------------------------------------------------------------------------- */

static int by_position(const void *a, const void *b)
{
	const pctl_block_waiting *x = a, *y = b;

	return x->position < y->position ? -1 : x->position > y->position;
}

static int jobs_by_position(const void *a, const void *b)
{
	const pctl_block_job *const *x = a, *const *y = b;

	return (*x)->row.position < (*y)->row.position ? -1 : 1;
}

/* What the rest of the budget does not hold is not even read, unless no block could. */
static pctl_status consider_waiting(walk *k, pctl_block_waiting *it)
{
	const uint64_t budget = k->w->header.budget;
	pctl_block_job *const job = it->job;
	pctl_chain_job row;
	int is_left = 1;
	pctl_status status;

	it->is_left = 1;
	if (it->gas <= budget && it->gas > budget - k->gas)
		return PCTL_OK;
	it->job = NULL;
	if (job != NULL) {
		status = consider(k, job, &is_left);
	} else {
		status = pctl_jobs_read(k->w->s, it->id, k->w->call, &row);
		if (status == PCTL_OK)
			status = consider_row(k, &row, &is_left);
		pctl_chain_job_clear(&row);
	}
	it->is_left = is_left != 0;
	return status;
}

/* Lists are in the order of the queue, whatever the order in which it was considered. */
static pctl_status select_by_worth(walk *k)
{
	pctl_block_work *w = k->w;
	pctl_block_waiting *all;
	uint32_t n;
	pctl_status status = pctl_block_queue(w, &all, &n);

	for (uint32_t i = 0; status == PCTL_OK && i < n; i++)
		status = consider_waiting(k, &all[i]);
	for (uint32_t i = 0; i < n; i++)
		if (all[i].job != NULL)
			pctl_request_destroy(&all[i].job->message);
	if (status == PCTL_OK && n > 1)
		qsort(all, n, sizeof(*all), by_position);
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++)
		if (all[i].is_left)
			status = defer(k, all[i].id);
	if (status == PCTL_OK && w->jobs.n > 1)
		qsort(w->jobs.items, w->jobs.n, sizeof(w->jobs.items[0]), jobs_by_position);
	return status;
}

static int by_clock(const void *a, const void *b)
{
	const pctl_block_job *const *x = a, *const *y = b;

	if ((*x)->row.clock != (*y)->row.clock)
		return (*x)->row.clock < (*y)->row.clock ? -1 : 1;
	return (*x)->row.position < (*y)->row.position ? -1 : 1;
}

pctl_status pctl_block_select(pctl_block_work *w)
{
	walk k = {.w = w};
	pctl_status status = pctl_params_has_stakes(&w->params)
				     ? select_by_worth(&k)
				     : pctl_jobs_pending(w->s, visit, &k, w->call);

	if (status == PCTL_OK)
		status = k.status;
	if (status != PCTL_OK)
		return status;
	w->header.gas = k.gas;
	w->order = pctl_arena_array(w->arena, w->jobs.n, sizeof(w->order[0]));
	if (w->order == NULL)
		return pctl_no_memory(w->call, "a block");
	for (uint32_t i = 0; i < w->jobs.n; i++)
		if (w->jobs.items[i]->error == NULL)
			w->order[w->n_order++] = w->jobs.items[i];
	if (w->n_order > 1)
		qsort(w->order, w->n_order, sizeof(w->order[0]), by_clock);
	return PCTL_OK;
}
