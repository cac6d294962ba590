/* Running the jobs of a block: groups of one clock, cut by bytes, from the store and from outputs of this block into the
 * store. With results known already nothing runs. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "chain/blocks/block_private.h"
#include "chain/data/data.h"
#include "chain/executor/executing.h"
#include "chain/transition/submit.h"

#define BATCH_BYTES \
	(256ull << 20) /* of inputs and outputs of one submission, unless one job needs more */
#define BATCH_JOBS 4096u
#define KEPT_BYTES \
	(512ull << 20) /* of outputs kept for jobs of this block; beyond, the store has them */

/* Jobs order[from] to order[to - 1]: of one clock, given to the executor at once. */
typedef struct batch {
	pctl_block_work *w;
	uint32_t from, to;
	pctl_task *tasks;
	pctl_map *blobs;	/* by CID: pctl_blob of the store */
	PCTL_VEC(void *) owned; /* uniform blocks and outputs, released with free() */
	uint64_t n_bytes, kept;
} batch;

/* The parameters in force where a job was submitted; most jobs of a block share them. */
static pctl_status parameters(pctl_block_work *w, uint64_t height, const pctl_params **out)
{
	pctl_status status = PCTL_OK;

	*out = &w->then;
	if (height == w->submitted && height != 0)
		return PCTL_OK;
	status = pctl_params_in_force(w->s, height, w->call, &w->then);
	w->submitted = status == PCTL_OK ? height : 0;
	return status;
}

/* ---- bytes -------------------------------------------------------------------------------- */

/* The CID of a reference: that of the job's output for job:ID. */
static pctl_status resolve(pctl_block_work *w, const char *reference, pctl_cid *out)
{
	const char *id = pctl_block_job_of(reference);
	const pctl_block_job *from = id == NULL ? NULL : pctl_block_find(w, id);
	uint8_t digest[PCTL_DIGEST_BYTES];
	pctl_chain_job job = {.message = NULL};
	pctl_status status;

	if (id == NULL)
		return pctl_cid_read(reference, w->call, out);
	if (from != NULL && from->has_run) {
		*out = from->output;
		return PCTL_OK;
	}
	(void)pctl_job_id_parse(id, digest);
	status = pctl_jobs_read(w->s, digest, w->call, &job);
	if (status == PCTL_OK && job.status != PCTL_JOB_COMPLETE)
		status = pctl_refuse(w->call, PC5860_BLOCK_ORDER, "job %s has no output yet", id);
	*out = job.output;
	pctl_chain_job_clear(&job);
	return status;
}

/* Inputs and uniform of a job, by name. */
static pctl_status resolve_all(pctl_block_work *w, pctl_block_job *job)
{
	const pctl_msg_execute *m = &job->message.as.execute;
	const char *reference;
	uint32_t group, binding;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK &&
			     (reference = pctl_block_reference(m, i, &group, &binding)) != NULL;
	     i++) {
		pctl_block_input *input = &job->inputs[job->n_inputs++];

		input->group = group;
		input->binding = binding;
		status = resolve(w, reference, &input->cid);
	}
	return status;
}

static pctl_status uniform(pctl_block_work *w, pctl_block_job *job, uint8_t **out, uint64_t *n_out)
{
	const pctl_params *p;
	pctl_cid cid;
	pctl_status status = parameters(w, job->row.height, &p);

	*out = NULL;
	*n_out = 0;
	if (status == PCTL_OK)
		status = pctl_chain_uniform(w->chain, &job->message.as.execute, p, w->call, out,
					    n_out);
	if (status != PCTL_OK || *out == NULL)
		return status;
	status = pctl_cid_of(*out, *n_out, w->call, &cid);
	memcpy(job->uniform, cid.digest, PCTL_DIGEST_BYTES);
	job->has_uniform = 1;
	return status;
}

/* The record says how many they are. */
static pctl_status note_size(pctl_block_work *w, const char *cid, uint64_t n_bytes)
{
	uint64_t *size =
		pctl_map_has(w->sizes, cid) ? NULL : pctl_arena_alloc(w->arena, sizeof(*size));

	if (size == NULL)
		return pctl_map_has(w->sizes, cid) ? PCTL_OK : pctl_no_memory(w->call, "a block");
	*size = n_bytes;
	return pctl_map_put(w->sizes, cid, size) ? PCTL_OK : pctl_no_memory(w->call, "a block");
}

/* The bytes of an input: kept ones of this block, or the store's, which live as long as the batch. */
static pctl_status load(batch *b, const char *reference, const pctl_cid *cid, const void **out,
			uint64_t *n_out)
{
	const char *id = pctl_block_job_of(reference);
	const pctl_block_job *from = id == NULL ? NULL : pctl_block_find(b->w, id);
	char text[PCTL_CID_TEXT_SIZE];
	pctl_blob *blob;
	pctl_status status;

	if (from != NULL && from->kept != NULL) {
		*out = from->kept;
		*n_out = from->row.output_bytes;
		return PCTL_OK;
	}
	blob = pctl_map_get(b->blobs, pctl_cid_format(cid, text));
	if (blob == NULL) {
		blob = calloc(1, sizeof(*blob));
		if (blob == NULL)
			return pctl_no_memory(b->w->call, "a block");
		status = pctl_data_get(b->w->chain, cid, b->w->call, blob);
		if (status != PCTL_OK || !pctl_map_put(b->blobs, text, blob)) {
			pctl_blob_release(blob);
			free(blob);
			return status != PCTL_OK ? status : pctl_no_memory(b->w->call, "a block");
		}
		b->n_bytes += blob->n_bytes;
		status = note_size(b->w, text, blob->n_bytes);
		if (status != PCTL_OK)
			return status;
	}
	*out = blob->data;
	*n_out = blob->n_bytes;
	return PCTL_OK;
}

/* ---- tasks -------------------------------------------------------------------------------- */

static pctl_status add_uniform(batch *b, pctl_block_job *job, pctl_task_binding *to, uint32_t *n)
{
	uint8_t *data;
	uint64_t n_bytes;
	pctl_status status = uniform(b->w, job, &data, &n_bytes);

	if (status != PCTL_OK || data == NULL)
		return status;
	if (!PCTL_VEC_PUSH(&b->owned, data)) {
		free(data);
		return pctl_no_memory(b->w->call, "a block");
	}
	to[(*n)++] = (pctl_task_binding){.binding = 1, .data = data, .n_bytes = n_bytes};
	return PCTL_OK;
}

static pctl_status bind(batch *b, pctl_block_job *job, pctl_task *task)
{
	const pctl_msg_execute *m = &job->message.as.execute;
	pctl_task_binding *to =
		pctl_arena_array(b->w->arena, job->n_inputs + 1u, sizeof(pctl_task_binding));
	const char *reference;
	uint32_t group, binding;
	pctl_status status = PCTL_OK;

	if (to == NULL)
		return pctl_no_memory(b->w->call, "a block");
	task->bindings = to;
	for (uint32_t i = 0; status == PCTL_OK &&
			     (reference = pctl_block_reference(m, i, &group, &binding)) != NULL;
	     i++) {
		pctl_task_binding *at = &to[task->n_bindings++];

		*at = (pctl_task_binding){group, binding, &job->inputs[i].cid, NULL, 0};
		status = load(b, reference, at->cid, &at->data, &at->n_bytes);
	}
	return status == PCTL_OK ? add_uniform(b, job, to, &task->n_bindings) : status;
}

static pctl_status make_task(batch *b, pctl_block_job *job, pctl_task *task)
{
	pctl_block_work *w = b->w;
	const pctl_msg_execute *m = &job->message.as.execute;
	char *name = pctl_arena_alloc(w->arena, PCTL_JOB_TEXT_SIZE);
	const pctl_params *p = NULL;
	pctl_status status = name == NULL ? pctl_no_memory(w->call, "a block")
					  : parameters(w, job->row.height, &p);

	memset(task, 0, sizeof(*task));
	if (status == PCTL_OK)
		status = pctl_chain_unit(w->chain, m, p, w->call, &task->unit);
	if (status == PCTL_OK)
		status = resolve_all(w, job);
	if (status == PCTL_OK)
		status = bind(b, job, task);
	if (status != PCTL_OK)
		return status;
	task->name = pctl_job_id_format(job->row.id, name);
	memcpy(task->groups, m->dispatch, sizeof(task->groups));
	task->n_output = m->output_bytes;
	task->evidence = &job->evidence;
	task->output = calloc(1, m->output_bytes == 0 ? 1 : (size_t)m->output_bytes);
	if (task->output == NULL || !PCTL_VEC_PUSH(&b->owned, task->output)) {
		free(task->output);
		return pctl_no_memory(w->call, "a block");
	}
	b->n_bytes += m->output_bytes;
	return PCTL_OK;
}

/* ---- outputs ------------------------------------------------------------------------------ */

static void forget(batch *b, pctl_block_job *job)
{
	if (job->kept != NULL)
		b->kept -= job->row.output_bytes;
	free(job->kept);
	job->kept = NULL;
}

static void release_parents(batch *b, const pctl_block_job *job)
{
	const char *reference;
	uint32_t group, binding;

	for (uint32_t i = 0; (reference = pctl_block_reference(&job->message.as.execute, i, &group,
							       &binding)) != NULL;
	     i++) {
		const char *id = pctl_block_job_of(reference);
		pctl_block_job *from = id == NULL ? NULL : pctl_block_find(b->w, id);

		if (from != NULL && --from->n_users == 0)
			forget(b, from);
	}
}

/* Keep the output of a task for jobs to come; without room or memory for it the store serves them. */
static void keep(batch *b, pctl_block_job *job, const pctl_task *task)
{
	if (job->n_users == 0 || task->n_output > KEPT_BYTES - b->kept)
		return;
	job->kept = malloc((size_t)task->n_output + 1u);
	if (job->kept == NULL)
		return;
	memcpy(job->kept, task->output, (size_t)task->n_output);
	b->kept += task->n_output;
}

/* Bytes that went in are known already, whatever came out of it. */
static int went_in(const pctl_block_job *job)
{
	for (uint32_t i = 0; i < job->n_inputs; i++)
		if (pctl_cid_compare(&job->inputs[i].cid, &job->output) == 0)
			return 1;
	return 0;
}

static pctl_status note_evidence(pctl_block_work *w, pctl_block_job *job)
{
	for (uint32_t i = 0; i < job->n_inputs; i++)
		job->evidence = pctl_evidence_weaker(
			job->evidence, pctl_chain_evidence_of(w->chain, &job->inputs[i].cid));
	return pctl_chain_evidence_put(w->chain, job->row.id, went_in(job) ? NULL : &job->output,
				       job->evidence, w->call);
}

static pctl_status take_output(batch *b, pctl_block_job *job, const pctl_task *task)
{
	pctl_block_work *w = b->w;
	pctl_status status;

	if (w->watch != NULL && w->watch->output != NULL) {
		status = pctl_cid_of(task->output, task->n_output, w->call, &job->output);
		if (status == PCTL_OK)
			status = w->watch->output(w->watch->ctx, &job->row, task, &job->output,
						  w->call);
	} else {
		status = pctl_store_put(pctl_chain_store(w->chain), task->output, task->n_output,
					w->call, &job->output);
		if (status == PCTL_OK)
			status = note_evidence(w, job);
	}
	job->has_run = status == PCTL_OK;
	if (status == PCTL_OK)
		keep(b, job, task);
	return status;
}

/* ---- batches ------------------------------------------------------------------------------ */

static void end_batch(batch *b)
{
	for (uint32_t i = 0; b->blobs != NULL && i < pctl_map_count(b->blobs); i++) {
		pctl_blob *blob = pctl_map_value_at(b->blobs, i);

		pctl_blob_release(blob);
		free(blob);
	}
	pctl_map_destroy(b->blobs);
	b->blobs = NULL;
	for (uint32_t i = 0; i < b->owned.n; i++)
		free(b->owned.items[i]);
	b->owned.n = 0;
	b->n_bytes = 0;
}

/* As many jobs from b->from on as share a clock and fit: at least one. */
static pctl_status fill(batch *b)
{
	pctl_block_work *w = b->w;
	const uint64_t clock = w->order[b->from]->row.clock;
	pctl_status status = PCTL_OK;

	b->blobs = pctl_map_create();
	if (b->blobs == NULL)
		return pctl_no_memory(w->call, "a block");
	pctl_store_gets_begin(pctl_chain_store(w->chain));
	for (b->to = b->from;
	     status == PCTL_OK && b->to < w->n_order && b->to - b->from < BATCH_JOBS &&
	     b->n_bytes < BATCH_BYTES && w->order[b->to]->row.clock == clock;
	     b->to++)
		status = make_task(b, w->order[b->to], &b->tasks[b->to - b->from]);
	pctl_store_gets_end(pctl_chain_store(w->chain));
	return status;
}

static pctl_status run_batch(batch *b)
{
	pctl_block_work *w = b->w;
	const pctl_executor *executor = pctl_chain_executor(w->chain);
	pctl_status status = fill(b);

	if (status == PCTL_OK)
		status = executor->run(executor->ctx, b->tasks, b->to - b->from, w->call);
	for (uint32_t i = b->from; status == PCTL_OK && i < b->to; i++)
		status = take_output(b, w->order[i], &b->tasks[i - b->from]);
	for (uint32_t i = b->from; status == PCTL_OK && i < b->to; i++)
		release_parents(b, w->order[i]);
	end_batch(b);
	return status;
}

static pctl_status run_all(pctl_block_work *w)
{
	batch b = {.w = w};
	pctl_status status = PCTL_OK;

	if (pctl_chain_executor(w->chain) == NULL)
		return pctl_refuse(
			w->call, PC5850_BLOCK_EXECUTOR,
			"%" PRIu32
			" jobs of the block must run, and the chain was opened without an executor",
			w->n_order);
	b.tasks = calloc(w->n_order < BATCH_JOBS ? w->n_order : BATCH_JOBS, sizeof(*b.tasks));
	if (b.tasks == NULL)
		return pctl_no_memory(w->call, "a block");
	for (b.from = 0; status == PCTL_OK && b.from < w->n_order; b.from = b.to) {
		status = run_batch(&b);
		if (status == PCTL_OK && pctl_is_cancelled(w->call))
			status =
				pctl_refuse(w->call, PC4_CANCELLED, "cancelled while running jobs");
	}
	free(b.owned.items);
	free(b.tasks);
	return status;
}

/* Told to whoever asks while it lasts. */
static pctl_status announce(pctl_block_work *w)
{
	uint8_t(*ids)[PCTL_DIGEST_BYTES] = calloc(w->n_order, sizeof(*ids));

	if (ids == NULL)
		return pctl_no_memory(w->call, "a block");
	for (uint32_t i = 0; i < w->n_order; i++)
		memcpy(ids[i], w->order[i]->row.id, sizeof(ids[i]));
	pctl_executing_begin(w->chain->dir, (const uint8_t(*)[PCTL_DIGEST_BYTES])ids, w->n_order,
			     w->call, &w->executing);
	free(ids);
	return PCTL_OK;
}

/* What is on its way into the store is made durable, or is garbage that a later gc finds. */
static pctl_status run_into_store(pctl_block_work *w)
{
	pctl_store *store = pctl_chain_store(w->chain);
	pctl_status status = announce(w), committed;

	if (status == PCTL_OK)
		status = pctl_chain_evidence_begin(w->chain, w->call);
	if (status == PCTL_OK)
		status = pctl_chain_bring_end(w->chain, w->call);
	if (status == PCTL_OK)
		status = pctl_store_batch_begin_many(store, w->call);
	if (status == PCTL_OK) {
		status = run_all(w);
		committed = pctl_store_batch_commit(store, w->call);
		status = status != PCTL_OK ? status : committed;
	}
	return status;
}

/* ---- known results ------------------------------------------------------------------------ */

static pctl_status take_known(pctl_block_work *w, pctl_known_result_fn known, void *ctx)
{
	for (uint32_t i = 0; i < w->n_order; i++) {
		pctl_block_job *job = w->order[i];
		char id[PCTL_JOB_TEXT_SIZE];
		pctl_known_result result = {.status = PCTL_JOB_PENDING};
		uint8_t *data;
		uint64_t n;
		pctl_status status;

		if (!known(ctx, job->row.id, &result) || result.status != PCTL_JOB_COMPLETE ||
		    result.n_output != job->row.output_bytes)
			return pctl_refuse(w->call, PC5863_BLOCK_KNOWN,
					   "job %s has no recorded output of %" PRIu64 " bytes",
					   pctl_job_id_format(job->row.id, id),
					   job->row.output_bytes);
		job->output = result.output;
		job->has_run = 1;
		status = resolve_all(w, job);
		if (status == PCTL_OK)
			status = uniform(w, job, &data, &n);
		if (status != PCTL_OK)
			return status;
		free(data);
	}
	return PCTL_OK;
}

/* ---- the plan ----------------------------------------------------------------------------- */

/* What is declared of this node, said before anything runs. */
static pctl_status plan(pctl_block_work *w)
{
	const pctl_chain *c = w->chain;
	const uint64_t has = pctl_chain_jobs_ms(&w->params);
	const uint64_t takes =
		c->gas_per_ms == 0 ? 0 : pctl_chain_pace_ms(w->header.gas, c->gas_per_ms);

	if (takes <= has)
		return PCTL_OK;
	if (c->abstains)
		return pctl_refuse(w->call, PC5868_BLOCK_PLAN,
				   "block %" PRIu64 ": %" PRIu64 " gas take this node %" PRIu64
				   " ms, jobs have %" PRIu64 " ms",
				   w->header.height, w->header.gas, takes, has);
	pctl_warn_at(w->call, PC5868_BLOCK_PLAN, NULL, NULL,
		     "block %" PRIu64 ": %" PRIu64 " gas take this node %" PRIu64
		     " ms, jobs have %" PRIu64 " ms",
		     w->header.height, w->header.gas, takes, has);
	return PCTL_OK;
}

pctl_status pctl_block_execute(pctl_block_work *w)
{
	void *ctx;
	pctl_known_result_fn known = pctl_chain_known(w->chain, &ctx);
	pctl_status status;

	if (w->n_order == 0)
		return PCTL_OK;
	if (known != NULL)
		return take_known(w, known, ctx);
	status = plan(w);
	return status == PCTL_OK ? run_into_store(w) : status;
}
