/* The same program and input give the same bytes: again and again, between other submits in another order, and on a
 * session opened anew. Nothing is known here of what the bytes should be; other units are for that. */
#include <stdlib.h>
#include <string.h>

#include "evidence/suite/trial.h"

/* What is run: a file, its uniform, whether it has totals. The arrays are n words. */
static const struct task {
	const char *file;
	uint32_t wg, groups, params[4];
	uint64_t out_words[2];
} tasks[] = {{"place.wgsl", 100, 20, {1999, 20, 7, 3}, {2000, 4}},
	     {"rotate.wgsl", 64, 31, {9}, {1984, 0}},
	     {"interleave.wgsl", 64, 31, {31}, {1984, 8}},
	     {"turn.wgsl", 64, 31, {5}, {1984, 31}}};

#define TASKS (sizeof(tasks) / sizeof(tasks[0]))
#define MOST_RUNS 64u

static pctl_status run_task(suite_trial *t, pctl_session *s, uint32_t which, suite_work *w)
{
	const struct task *task = &tasks[which];
	const pctl_kernel_module *unit;
	const uint32_t n = task->wg * task->groups;
	pctl_status status = suite_kernel(t, task->file, NULL, task->wg, &unit);
	uint32_t b[4];

	if (status != PCTL_OK)
		return status;
	b[0] = suite_buffer_add(w, SUITE_UNIFORM, task->params, sizeof(task->params));
	b[1] = suite_buffer_add(w, SUITE_IN, NULL, 4ull * n);
	b[2] = suite_buffer_add(w, SUITE_OUT, NULL, 4 * task->out_words[0]);
	b[3] = suite_buffer_add(w, SUITE_OUT, NULL, 4 * task->out_words[1]);
	for (uint32_t i = 0; !w->failed && i < n; i++)
		suite_data(w, b[1])[i] = (uint32_t)suite_mix(t->context->seed + which, i);
	suite_step_add(w, unit, task->groups, b, 4);
	return suite_run(t, s, w);
}

/* All tasks p[0] times, in an order made of p[1]. */
static pctl_status repeat_trial(suite_trial *t)
{
	suite_work first[TASKS];
	uint32_t order[MOST_RUNS], n = t->p[0] * (uint32_t)TASKS;
	pctl_status status = PCTL_OK;

	memset(first, 0, sizeof(first));
	for (uint32_t i = 0; i < n; i++)
		order[i] = i % (uint32_t)TASKS;
	for (uint32_t i = n; t->p[1] != 0 && i > 1; i--) {
		const uint32_t k = (uint32_t)suite_mix(t->p[1], i) % i, kept = order[k];

		order[k] = order[i - 1];
		order[i - 1] = kept;
	}
	for (uint32_t i = 0; status == PCTL_OK && i < TASKS; i++)
		status = run_task(t, t->context->device, i, &first[i]);
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		suite_work again = {.times = 1};

		status = run_task(t, t->context->device, order[i], &again);
		if (status == PCTL_OK)
			suite_same(t, tasks[order[i]].file, &again, &first[order[i]]);
		suite_work_drop(&again);
	}
	for (uint32_t i = 0; i < TASKS; i++)
		suite_work_drop(&first[i]);
	return status;
}

static pctl_status restart_trial(suite_trial *t)
{
	pctl_proof_context *b = t->context;
	pctl_session *anew = NULL;
	pctl_status status;

	if (b->open_again == NULL)
		return pctl_refuse(t->call, PC1_INTERNAL,
				   "there is no second session to compare with");
	status = b->open_again(b, t->call, &anew);
	for (uint32_t i = 0; status == PCTL_OK && i < TASKS; i++) {
		suite_work first = {.times = 1}, again = {.times = 1};

		status = run_task(t, b->device, i, &first);
		if (status == PCTL_OK)
			status = run_task(t, anew, i, &again);
		if (status == PCTL_OK)
			suite_same(t, tasks[i].file, &again, &first);
		suite_work_drop(&first);
		suite_work_drop(&again);
	}
	if (anew != NULL)
		b->close_again(b, anew);
	return status;
}

static const uint32_t repeat_sets[][SUITE_PARAMS] = {{4, 0}, {4, 1}, {6, 2}, {6, 3}};
static const uint32_t restart_sets[][SUITE_PARAMS] = {{1}};

const suite_unit suite_deterministic[] = {
	{.name = "deterministic",
	 .law = "the same program and input give the same bytes, in any order of submits",
	 .domain = "four programs, repeated and shuffled",
	 .param = {"repeats", "order"},
	 .sets = repeat_sets,
	 .n_sets = sizeof(repeat_sets) / sizeof(repeat_sets[0]),
	 .per_block = 2,
	 .shrink = 1,
	 .trial = repeat_trial},
	{.name = "deterministic-restart",
	 .law = "the same program and input give the same bytes on a session opened again",
	 .domain = "four programs, sessions",
	 .param = {"session"},
	 .sets = restart_sets,
	 .n_sets = 1,
	 .per_block = 1,
	 .trial = restart_trial}};
const uint32_t suite_n_deterministic = sizeof(suite_deterministic) / sizeof(suite_deterministic[0]);
