/* Accesses out of bounds: stores have no effect, loads give zero, at every level and in every address space, and what
 * lies beside stays. The host does the same requests on plain words at places it works out itself. */
#include <stdlib.h>
#include <string.h>

#include "evidence/suite/trial.h"

/* Words of programs/bounded.wgsl, by WGSL's layout rules: struct Inner is 128 bytes. */
enum {
	CELLS = 1,
	THREE = 16,
	FOUR = 20,
	WIDE = 24,
	INNER = 32,
	ITEMS = 3,
	LIST = ITEMS * INNER + 1,
	LIST_WORDS = 7,
	BOX = LIST + LIST_WORDS,
	FENCED = 13,
	ROW = 1,
	PAIR = 6,
	TICKETS = 3
};
/* of programs/matrix.wgsl: columns of three take four words */
enum { SQUARE = 4, BETWEEN = 16, TALL = 20, MATRIX_BOX = 40 };

#define MOST 200u

struct request {
	uint32_t kind, i, j, k, value;
};

struct host {
	uint32_t box[BOX], tickets[TICKETS], memory[3 * FENCED], results[MOST];
};

/* An index for an array of n: mostly just inside or just outside, now and then huge or negative. */
static uint32_t index_of(uint64_t r, uint32_t n)
{
	static const uint32_t far[] = {0xffffffff, 0x80000000, 0x7fffffff, 0x40000000, 0x20000000,
				       0x10000000, 0x55555556, 0xfffffffe, 0x01000000, 0x80000001};

	if (r % 8 < 5)
		return (uint32_t)(r >> 8) % n;
	if (r % 8 == 5)
		return n + (uint32_t)(r >> 8) % 3;
	if (r % 8 == 6)
		return far[(r >> 8) % (sizeof(far) / sizeof(far[0]))];
	return 0u - 1u - (uint32_t)(r >> 8) % 5;
}

static void make(uint64_t seed, uint32_t kinds, const uint32_t (*sizes)[3], uint32_t n,
		 struct request *out)
{
	for (uint32_t r = 0; r < n; r++) {
		struct request *q = &out[r];

		q->kind = (uint32_t)suite_mix(seed, 8 * r) % kinds;
		q->i = index_of(suite_mix(seed, 8 * r + 1), sizes[q->kind][0]);
		q->j = index_of(suite_mix(seed, 8 * r + 2), sizes[q->kind][1]);
		q->k = index_of(suite_mix(seed, 8 * r + 3), sizes[q->kind][2]);
		q->value = (uint32_t)suite_mix(seed, 8 * r + 4) | 1;
	}
}

static uint32_t put(uint32_t *at, int inside, uint32_t value)
{
	if (inside)
		*at = value;
	return inside ? value : 0;
}

/* `row` and `pair` of one struct Fenced. */
static uint32_t put_fenced(uint32_t *fenced, const struct request *q)
{
	uint32_t a = put(&fenced[q->i < 5 ? ROW + q->i : 0], q->i < 5, q->value);
	const int inside = q->j < 2 && q->k < 3;

	return a + put(&fenced[inside ? PAIR + q->j * 3 + q->k : 0], inside, q->value);
}

static uint32_t host_request(struct host *h, const struct request *q)
{
	uint32_t *item = h->box + (q->i < ITEMS ? q->i * INNER : 0), old;
	const int has = q->i < ITEMS;
	int inside;

	switch (q->kind) {
	case 0:
	case 1:
		inside = has && q->j < 4 && q->k < 3;
		return put(&item[inside ? CELLS + q->j * 3 + q->k : 0], inside, q->value);
	case 2:
		inside = has && q->j < 3;
		return put(&item[inside ? THREE + q->j : 0], inside, q->value);
	case 3:
		inside = has && q->j < 4;
		return put(&item[inside ? FOUR + q->j : 0], inside, q->value);
	case 4:
		inside = has && q->j < 2;
		put(&item[inside ? WIDE + q->j * 2 + 1 : 0], inside, 0);
		return put(&item[inside ? WIDE + q->j * 2 : 0], inside, q->value);
	case 5:
	case 6:
		inside = q->i < LIST_WORDS;
		return put(&h->box[inside ? LIST + q->i : 0], inside, q->value);
	case 7:
	case 8:
	case 9:
		return put_fenced(h->memory + (q->kind - 7) * FENCED, q);
	default:
		old = q->i < TICKETS ? h->tickets[q->i] : 0;
		if (q->i < TICKETS)
			h->tickets[q->i] += q->value;
		return old;
	}
}

static const uint32_t sizes[11][3] = {{3, 4, 3}, {3, 4, 3}, {3, 3, 1}, {3, 4, 1},
				      {3, 2, 1}, {7, 1, 1}, {7, 1, 1}, {5, 2, 3},
				      {5, 2, 3}, {5, 2, 3}, {3, 1, 1}};

static pctl_status trial(suite_trial *t)
{
	const uint32_t n = t->p[0];
	const uint64_t seed = t->context->seed + t->p[1];
	const pctl_kernel_module *unit;
	struct request requests[MOST];
	struct host *h = calloc(1, sizeof(*h));
	suite_work w = {.times = 1};
	uint32_t b[6] = {suite_buffer_add(&w, SUITE_UNIFORM, (uint32_t[4]){n}, 16)};
	pctl_status status = suite_kernel(t, "bounded.wgsl", NULL, 0, &unit);

	if (status == PCTL_OK && h == NULL)
		status = pctl_no_memory(t->call, "a trial");
	if (status != PCTL_OK)
		goto out;
	make(seed, 11, sizes, n, requests);
	for (uint32_t i = 0; i < BOX; i++)
		h->box[i] = 0xb0000000u + i;
	for (uint32_t i = 0; i < TICKETS; i++)
		h->tickets[i] = 0x71000000u + i;
	b[1] = suite_buffer_add(&w, SUITE_IN, requests, n * sizeof(*requests));
	b[2] = suite_buffer_add(&w, SUITE_OUT, h->box, sizeof(h->box));
	b[3] = suite_buffer_add(&w, SUITE_OUT, h->tickets, sizeof(h->tickets));
	b[4] = suite_buffer_add(&w, SUITE_OUT, NULL, 4ull * n);
	b[5] = suite_buffer_add(&w, SUITE_OUT, NULL, sizeof(h->memory));
	suite_step_add(&w, unit, 1, b, 6);
	for (uint32_t r = 0; r < n; r++)
		h->results[r] = host_request(h, &requests[r]);
	status = suite_run(t, t->context->device, &w);
	if (status == PCTL_OK) {
		suite_words(t, "what was read back", suite_data(&w, b[4]), h->results, n);
		suite_words(t, "storage", suite_data(&w, b[2]), h->box, BOX);
		suite_words(t, "atomics", suite_data(&w, b[3]), h->tickets, TICKETS);
		suite_words(t, "private, workgroup and function memory", suite_data(&w, b[5]),
			    h->memory, 3 * FENCED);
	}
out:
	free(h);
	suite_work_drop(&w);
	return status;
}

/* ---- matrices --------------------------------------------------------------------------------- */

static uint32_t host_matrix(uint32_t *box, const struct request *q)
{
	int inside;

	if (q->kind == 0) {
		inside = q->j < 3 && q->k < 3;
		return put(&box[inside ? SQUARE + q->j * 4 + q->k : 0], inside, q->value);
	}
	inside = q->i < 2 && q->j < 2 && q->k < 4;
	return put(&box[inside ? TALL + q->i * 8 + q->j * 4 + q->k : 0], inside, q->value);
}

static pctl_status matrix_trial(suite_trial *t)
{
	static const uint32_t matrix_sizes[2][3] = {{1, 3, 3}, {2, 2, 4}};
	const uint32_t n = t->p[0];
	const pctl_kernel_module *unit;
	struct request requests[MOST];
	uint32_t box[MATRIX_BOX], results[MOST], b[4];
	suite_work w = {.times = 1};
	pctl_status status = suite_kernel(t, "matrix.wgsl", NULL, 0, &unit);

	if (status != PCTL_OK)
		return status;
	make(t->context->seed + t->p[1], 2, matrix_sizes, n, requests);
	for (uint32_t i = 0; i < MATRIX_BOX; i++)
		box[i] = 0x3f000000u + i * 0x101u;
	b[0] = suite_buffer_add(&w, SUITE_UNIFORM, (uint32_t[4]){n}, 16);
	b[1] = suite_buffer_add(&w, SUITE_IN, requests, n * sizeof(*requests));
	b[2] = suite_buffer_add(&w, SUITE_OUT, box, sizeof(box));
	b[3] = suite_buffer_add(&w, SUITE_OUT, NULL, 4ull * n);
	/* Built alone: moving floats asks for nothing that a profile would have to prove. */
	suite_step_add(&w, NULL, 1, b, 4);
	w.steps[0].program = unit->program;
	for (uint32_t r = 0; r < n; r++)
		results[r] = host_matrix(box, &requests[r]);
	status = suite_run(t, t->context->device, &w);
	if (status == PCTL_OK) {
		suite_words(t, "what was read back", suite_data(&w, b[3]), results, n);
		suite_words(t, "storage", suite_data(&w, b[2]), box, MATRIX_BOX);
	}
	suite_work_drop(&w);
	return status;
}

/* requests, seed */
static const uint32_t sets[][SUITE_PARAMS] = {{1, 1},	{8, 2},	  {64, 3},  {200, 4},
					      {200, 5}, {200, 6}, {200, 7}, {200, 8}};

#define ROWS .sets = sets, .n_sets = sizeof(sets) / sizeof(sets[0]), .per_block = 4, .shrink = 1

const suite_unit suite_bounded[] = {
	{.name = "bounded",
	 .law = "a store out of bounds has no effect, a load gives zero, and neighbours stay",
	 .domain = "requests in arrays, vectors and atomics of every address space",
	 .param = {"requests", "seed"},
	 ROWS,
	 .trial = trial},
	{.name = "bounded-matrices",
	 .law = "a store out of bounds has no effect, a load gives zero, and neighbours stay",
	 .domain = "requests in columns and rows of matrices",
	 .param = {"requests", "seed"},
	 ROWS,
	 .trial = matrix_trial}};
const uint32_t suite_n_bounded = sizeof(suite_bounded) / sizeof(suite_bounded[0]);
