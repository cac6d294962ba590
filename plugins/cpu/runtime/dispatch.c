/* Running one dispatch: workgroups are taken in order by as many threads as there are; a sanitized
 * dispatch runs on one. Sums up what counting builds counted. */
#include "runtime/device.h"

#include <stdlib.h>

#include "pipectl/float_env.h"

typedef struct shared_run {
	pctl_cpu_job job;
	pctl_kernel *kernel;
	pctl_status status; /* atomic: the first failure */
} shared_run;

static void failure(shared_run *run, pctl_status status)
{
	pctl_status none = PCTL_OK;

	__atomic_compare_exchange_n(&run->status, &none, status, 0, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}

static void run_groups(void *ctx, uint32_t thread)
{
	shared_run *run = ctx;
	pctl_cpu_job *job = &run->job;
	pctl_cpu_batch **batch = &run->kernel->batches[thread];
	const uint32_t per_batch = job->groups_per_batch;

	for (;;) {
		const uint64_t first =
			__atomic_fetch_add(&job->next_group, per_batch, __ATOMIC_RELAXED);
		const uint64_t left = first < job->n_groups ? job->n_groups - first : 0;
		pctl_status status;

		if (left == 0 || __atomic_load_n(&run->status, __ATOMIC_RELAXED) != PCTL_OK)
			return;
		if (__atomic_load_n(job->cancel, __ATOMIC_RELAXED)) {
			failure(run, PCTL_E_CANCELLED);
			return;
		}
		if (!*batch)
			*batch = pctl_cpu_batch_create(job->code, job->k);
		if (!*batch || (job->sanitizer && !pctl_cpu_sanitizer_group(job->sanitizer))) {
			failure(run, PCTL_E_NOMEM);
			return;
		}
		status = pctl_cpu_batch_run(*batch, job, first,
					    left < per_batch ? (uint32_t)left : per_batch);
		if (status != PCTL_OK)
			failure(run, status);
		/* The first place is known, and what runs on is of no use. */
		if (job->sanitizer && job->sanitizer->exceeded)
			return;
	}
}

/* Whatever rounding mode or flushing a driver or the host left behind, this thread runs without. */
static void take_groups(void *ctx, uint32_t thread)
{
	fenv_t saved;

	pctl_float_env_enter(&saved);
	run_groups(ctx, thread);
	pctl_float_env_leave(&saved);
}

static pctl_status start_sanitizer(pctl_device *dev, const pctl_cpu_cmd *cmd, shared_run *run)
{
	const pctl_cpu_code *code = cmd->kernel->code;

	if (!dev->sanitizer)
		dev->sanitizer = pctl_cpu_sanitizer_create();
	if (!dev->sanitizer ||
	    !pctl_cpu_sanitizer_dispatch(dev->sanitizer, cmd->kernel->program, cmd->number,
					 code->workgroup_stride, code->watch_shift))
		return PCTL_E_NOMEM;
	for (uint32_t i = 0; i < code->n_slots; i++) {
		pctl_buffer *b = cmd->buffers[i];

		if (!b || !code->slots[i].writable)
			continue;
		/* What older dispatches left in a shadow means nothing: a coarse one may go. */
		if (b->shadow && b->shadow->shift > code->watch_shift) {
			pctl_cpu_shadow_destroy(b->shadow);
			b->shadow = NULL;
		}
		if (!b->shadow)
			b->shadow = pctl_cpu_shadow_create(b->n_bytes, code->watch_shift);
		if (!b->shadow)
			return PCTL_E_NOMEM;
		cmd->bounds[i].shadow = b->shadow;
	}
	run->job.sanitizer = dev->sanitizer;
	return PCTL_OK;
}

static pctl_status add_counts(pctl_device *dev, pctl_kernel *k)
{
	const pctl_cpu_code *code = k->code;

	if (!dev->counts)
		dev->counts = calloc(1, sizeof(*dev->counts));
	if (!dev->counts)
		return PCTL_E_NOMEM;
	for (uint32_t i = 0; i < k->n_batches; i++) {
		pctl_cpu_batch *s = k->batches[i];

		if (!s)
			continue;
		for (uint32_t c = 0; c < code->n_costs; c++)
			dev->counts->op_units[code->costs[c].op] +=
				code->costs[c].units * s->block_counts[code->costs[c].block];
		for (uint32_t b = 0; b < code->n_blocks; b++) {
			const pctl_cpu_block *block = &code->blocks[b];
			const uint64_t n = s->block_counts[b];

			dev->counts->storage_read_bytes += n * block->storage_read;
			dev->counts->storage_write_bytes += n * block->storage_write;
			dev->counts->other_memory_bytes += n * block->other_memory;
			dev->counts->checked_accesses += n * block->checked;
			dev->counts->lane_ops += n * block->n_insts;
			s->block_counts[b] = 0;
		}
		for (uint32_t b = 0; b < 4; b++) {
			dev->counts->barriers[b] += s->barriers[b];
			s->barriers[b] = 0;
		}
		dev->counts->out_of_bounds += s->out_of_bounds;
		s->out_of_bounds = 0;
	}
	return PCTL_OK;
}

pctl_status pctl_cpu_dispatch(pctl_device *dev, const pctl_cpu_cmd *cmd, const uint32_t groups[3],
			      const uint32_t *cancel)
{
	const pctl_cpu_code *code = cmd->kernel->code;
	shared_run run = {.kernel = cmd->kernel};
	pctl_cpu_job *job = &run.job;
	uint64_t share;

	job->code = code;
	job->k = dev->k;
	job->bounds = cmd->bounds;
	job->cancel = cancel;
	job->n_groups = 1;
	for (int i = 0; i < 3; i++) {
		job->groups[i] = groups[i];
		job->n_groups *= groups[i]; /* at most 65535 cubed */
	}
	if (job->n_groups == 0)
		return PCTL_OK;
	share = (job->n_groups + dev->n_threads - 1) / dev->n_threads;
	job->groups_per_batch =
		share < code->groups_per_batch ? (uint32_t)share : code->groups_per_batch;
	if (code->flags & PCTL_BUILD_SANITIZE) {
		run.status = start_sanitizer(dev, cmd, &run);
		if (run.status == PCTL_OK)
			take_groups(&run, 0);
	} else if (dev->n_threads == 1 || job->n_groups <= job->groups_per_batch) {
		take_groups(&run, 0);
	} else {
		pctl_cpu_pool_run(dev->pool, take_groups, &run);
	}
	if ((code->flags & PCTL_BUILD_COUNT) && add_counts(dev, cmd->kernel) != PCTL_OK)
		failure(&run, PCTL_E_NOMEM);
	return run.status;
}
