/* Atomic operations are linearizable: what every one gave back and what a cell holds at the end fit one order of all of
 * them. Which order it was is not the same twice, so only what every order gives enters the digest: final values, and
 * of exchanges the sorted values that went round. */
#include <stdlib.h>
#include <string.h>

#include "evidence/suite/trail.h"
#include "evidence/suite/trial.h"
#include "foundation/base/order.h"

enum { ADD, SUB, OR, AND, XOR, MIN, MAX, EXCHANGE, COMPARE, OPS };

#define CELLS 8u

struct answer {
	uint32_t old, done;
};

/* One cell after a run: its operations are those of invocations first, first + stride, .. below `end`. */
struct cell {
	uint32_t op, start, final, expected;
	uint32_t first, end, stride;
	const uint32_t *values;
	const struct answer *answers;
};

static uint32_t after(uint32_t op, uint32_t old, uint32_t value, uint32_t expected)
{
	switch (op) {
	case ADD:
		return old + value;
	case SUB:
		return old - value;
	case OR:
		return old | value;
	case AND:
		return old & value;
	case XOR:
		return old ^ value;
	case MIN:
		return old < value ? old : value;
	case MAX:
		return old > value ? old : value;
	case EXCHANGE:
		return value;
	default:
		return old == expected ? value : old;
	}
}

/* What any order leaves, or for exchanges the values that went round, the final one among them. */
static pctl_status check_final(suite_trial *t, const struct cell *c, uint32_t n)
{
	uint32_t final = c->start, successes = 0, k = 0;
	uint32_t *got = calloc(2ull * n + 2, sizeof(*got)), *want;

	if (got == NULL)
		return pctl_no_memory(t->call, "a trial");
	want = got + n + 1;
	got[k] = c->final;
	want[k++] = c->start;
	for (uint32_t i = c->first; i < c->end; i += c->stride) {
		final = after(c->op, final, c->values[i], c->expected);
		successes += c->answers[i].done;
		got[k] = c->answers[i].old;
		want[k++] = c->values[i];
	}
	if (c->op == EXCHANGE) {
		qsort(got, k, sizeof(*got), pctl_order_u32);
		qsort(want, k, sizeof(*want), pctl_order_u32);
		suite_words(t, "old values and the last, sorted", got, want, k);
	} else if (c->op == COMPARE) {
		suite_words(t, "successes for one expected value", &successes, (uint32_t[1]){n > 0},
			    1);
	} else {
		suite_words(t, "the final value", &c->final, &final, 1);
	}
	free(got);
	return PCTL_OK;
}

static pctl_status check_order(suite_trial *t, const struct cell *c, uint32_t n)
{
	suite_move *moves = calloc(n + 1u, sizeof(*moves));
	uint32_t k = 0, culprit = 0;
	int ordered;

	if (moves == NULL)
		return pctl_no_memory(t->call, "a trial");
	for (uint32_t i = c->first; i < c->end; i += c->stride) {
		const uint32_t old = c->answers[i].old;

		moves[k++] = (suite_move){old, after(c->op, old, c->values[i], c->expected)};
		if (c->op == COMPARE)
			suite_number(t, "exchanged exactly when the old value was expected",
				     c->answers[i].done, old == c->expected);
	}
	ordered = suite_trail(moves, k, c->start, c->final, &culprit);
	free(moves);
	if (ordered < 0)
		return pctl_no_memory(t->call, "a trial");
	if (!ordered && suite_fail(t, "old values fit one order of the operations")) {
		suite_found(t, "no order exists: see value 0x%08x", culprit);
		suite_due(t, "an order from 0x%08x to 0x%08x", c->start, c->final);
	}
	return PCTL_OK;
}

static pctl_status check_cell(suite_trial *t, const struct cell *c)
{
	const uint32_t n = c->first < c->end ? (c->end - c->first - 1) / c->stride + 1 : 0;
	pctl_status status = check_final(t, c, n);

	return status == PCTL_OK ? check_order(t, c, n) : status;
}

/* The operand of invocation i. */
static uint32_t value_of(uint32_t op, uint64_t seed, uint32_t i)
{
	const uint32_t r = (uint32_t)suite_mix(seed, i);

	switch (op) {
	case ADD:
		return 1; /* old values must be a consecutive permutation */
	case OR:
		return 1u << r % 32;
	case AND:
		return ~(1u << r % 32);
	case XOR:
		return 1u << r % 6; /* few values, each met often */
	case MIN:
	case MAX:
		return r >> 12;
	case EXCHANGE:
	case COMPARE:
		return i + 1;
	default:
		return r;
	}
}

static uint32_t start_of(uint32_t op)
{
	return op == AND || op == MIN ? UINT32_MAX : op == ADD ? 0xfffffff0u : 0;
}

static pctl_status add_common(suite_trial *t, suite_work *w, const char *file, uint32_t op,
			      uint32_t b[4], const pctl_kernel_module **unit)
{
	const uint32_t n = t->p[0];
	const uint32_t params[8] = {n, op, t->p[2], 0, start_of(op)};
	pctl_status status = suite_kernel(t, file, NULL, t->p[1], unit);

	b[0] = suite_buffer_add(w, SUITE_UNIFORM, params, sizeof(params));
	b[1] = suite_buffer_add(w, SUITE_IN, NULL, 4ull * n);
	b[3] = suite_buffer_add(w, SUITE_OUT, NULL, 8ull * n);
	if (status == PCTL_OK && w->failed)
		status = pctl_no_memory(t->call, "a trial");
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++)
		suite_data(w, b[1])[i] = value_of(op, t->context->seed + t->p[3], i);
	return status;
}

static const struct answer *answers_of(const suite_work *w, uint32_t buffer)
{
	return (const struct answer *)(const void *)w->buffers[buffer].data;
}

static pctl_status storage_op(suite_trial *t, uint32_t op)
{
	const uint32_t n = t->p[0], wg = t->p[1], cells = t->p[2];
	const pctl_kernel_module *unit;
	suite_work w = {.times = 1};
	uint32_t start[CELLS], b[4];
	pctl_status status = add_common(t, &w, "atomics.wgsl", op, b, &unit);

	for (uint32_t c = 0; c < CELLS; c++)
		start[c] = start_of(op);
	b[2] = suite_buffer_add(&w, SUITE_OUT, start, 4ull * cells);
	suite_step_add(&w, unit, (n + wg - 1) / wg, b, 4);
	if (status == PCTL_OK)
		status = suite_run(t, t->context->device, &w);
	for (uint32_t c = 0; status == PCTL_OK && c < cells; c++) {
		const struct cell cell = {.op = op,
					  .start = start_of(op),
					  .final = suite_data(&w, b[2])[c],
					  .first = c,
					  .end = n,
					  .stride = cells,
					  .values = suite_data(&w, b[1]),
					  .answers = answers_of(&w, b[3])};

		status = check_cell(t, &cell);
	}
	suite_work_drop(&w);
	return status;
}

static pctl_status workgroup_op(suite_trial *t, uint32_t op)
{
	const uint32_t n = t->p[0], wg = t->p[1], cells = t->p[2], groups = (n + wg - 1) / wg;
	const pctl_kernel_module *unit;
	suite_work w = {.times = 1};
	uint32_t b[4];
	pctl_status status = add_common(t, &w, "atomics-workgroup.wgsl", op, b, &unit);

	b[2] = suite_buffer_add(&w, SUITE_OUT, NULL, 4ull * cells * groups);
	suite_step_add(&w, unit, groups, b, 4);
	if (status == PCTL_OK)
		status = suite_run(t, t->context->device, &w);
	for (uint32_t i = 0; status == PCTL_OK && i < groups * cells; i++) {
		const uint32_t group = i / cells, c = i % cells;
		const struct cell cell = {.op = op,
					  .start = start_of(op),
					  .final = suite_data(&w, b[2])[i],
					  .first = group * wg + c,
					  .end = (group + 1) * wg < n ? (group + 1) * wg : n,
					  .stride = cells,
					  .values = suite_data(&w, b[1]),
					  .answers = answers_of(&w, b[3])};

		status = check_cell(t, &cell);
	}
	suite_work_drop(&w);
	return status;
}

/* Both spaces, for the operations first .. last. */
static pctl_status run_ops(suite_trial *t, uint32_t first, uint32_t last)
{
	pctl_status status = PCTL_OK;

	for (uint32_t op = first; status == PCTL_OK && op <= last; op++) {
		status = storage_op(t, op);
		if (status == PCTL_OK)
			status = workgroup_op(t, op);
	}
	return status;
}

static pctl_status add_trial(suite_trial *t)
{
	return run_ops(t, ADD, SUB);
}

static pctl_status bits_trial(suite_trial *t)
{
	return run_ops(t, OR, XOR);
}

static pctl_status extremes_trial(suite_trial *t)
{
	return run_ops(t, MIN, MAX);
}

static pctl_status exchange_trial(suite_trial *t)
{
	return run_ops(t, EXCHANGE, EXCHANGE);
}

static pctl_status compare_trial(suite_trial *t)
{
	return run_ops(t, COMPARE, COMPARE);
}

/* invocations, workgroup size, cells, seed */
static const uint32_t sets[][SUITE_PARAMS] = {
	{1, 256, 1, 1},	   {64, 256, 1, 2},   {2000, 256, 1, 3}, {4096, 256, 3, 4},
	{3000, 256, 8, 5}, {2560, 256, 1, 6}, {1111, 256, 2, 7}};

#define COMMON                                                              \
	.domain = "invocations on few cells, storage and workgroup memory", \
	.param = {"n", "workgroup", "cells", "seed"}, .sets = sets,         \
	.n_sets = sizeof(sets) / sizeof(sets[0]), .per_block = 7, .shrink = 1

const suite_unit suite_atomics[] = {
	{.name = "atomic-add",
	 .law = "old values are a consecutive permutation, the sum is whole",
	 COMMON,
	 .trial = add_trial},
	{.name = "atomic-bits",
	 .law = "old values of or, and, xor fit one order of the operations",
	 COMMON,
	 .trial = bits_trial},
	{.name = "atomic-extremes",
	 .law = "old values of min and max move monotonically to the final value",
	 COMMON,
	 .trial = extremes_trial},
	{.name = "atomic-exchange",
	 .law = "old values of exchange form a chain that ends in the final value",
	 COMMON,
	 .trial = exchange_trial},
	{.name = "atomic-compare-exchange",
	 .law = "compareExchange succeeds at most once for one expected value",
	 COMMON,
	 .trial = compare_trial}};
const uint32_t suite_n_atomics = sizeof(suite_atomics) / sizeof(suite_atomics[0]);
