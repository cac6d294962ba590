/* The laws of the tensor library, checked on what a device answered by code that knows neither kernels nor
 * reference(). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/graph/type.h"
#include "evidence/proof/plans.h"

static uint64_t element(const uint8_t *data, uint64_t i, uint32_t bytes)
{
	uint64_t v = 0;

	memcpy(&v, data + i * bytes, bytes);
	return v;
}

static uint64_t mask_of(uint32_t bytes)
{
	return bytes == 8 ? UINT64_MAX : (1ull << 8 * bytes) - 1;
}

static void broken(pctl_verdict *v, const char *what, uint64_t i, uint64_t got, uint64_t want)
{
	v->failed = 1;
	snprintf(v->got, sizeof(v->got), "%s[%" PRIu64 "] = 0x%" PRIx64, what, i, got);
	snprintf(v->want, sizeof(v->want), "0x%" PRIx64, want);
}

/* ---- reduce_max ------------------------------------------------------------------------------ */

static pctl_status max_is_one(const pctl_judge *j, const pctl_problem *p, const pctl_answer *a,
			      const pctl_call *call, pctl_verdict *out)
{
	const uint32_t bytes = pctl_dtype_bytes(p->in[0].dtype);
	const uint64_t n = pctl_problem_elements(p), y = element(a->data[0], 0, bytes);
	int found = 0;

	(void)j;
	(void)call;
	out->skipped = n == 0;
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t x = element(p->data[0], i, bytes);

		found |= x == y;
		if (x > y) {
			broken(out, "y below x", i, y, x);
			return PCTL_OK;
		}
	}
	if (n > 0 && !found) {
		broken(out, "y", 0, y, 0);
		snprintf(out->want, sizeof(out->want), "one of the elements");
	}
	return PCTL_OK;
}

/* Reversed, then shuffled; the device answers again. */
static pctl_status max_permuted(const pctl_judge *j, const pctl_problem *p, const pctl_answer *a,
				const pctl_call *call, pctl_verdict *out)
{
	const uint32_t bytes = pctl_dtype_bytes(p->in[0].dtype);
	const uint64_t n = pctl_problem_elements(p);

	out->skipped = n < 2;
	for (int way = 0; way < 2 && n > 1 && !out->failed; way++) {
		pctl_answer again = {.n_out = 0};
		pctl_problem q;
		pctl_status status = pctl_problem_copy(p, call, &q);

		for (uint64_t i = 0; i < n && status == PCTL_OK; i++) {
			const uint64_t k =
				way == 0 ? n - 1 - i : pctl_problem_random(n, i) % (i + 1);
			uint8_t kept[16];

			if (way == 0) {
				memcpy(q.data[0] + i * bytes, p->data[0] + k * bytes, bytes);
				continue;
			}
			memcpy(kept, q.data[0] + i * bytes, bytes);
			memcpy(q.data[0] + i * bytes, q.data[0] + k * bytes, bytes);
			memcpy(q.data[0] + k * bytes, kept, bytes);
		}
		if (status == PCTL_OK)
			status = j->device->solve(j->device->ctx, &q, call, &again);
		if (status == PCTL_OK)
			(void)pctl_answer_differs(p, &again, a, out);
		pctl_answer_clear(&again);
		pctl_problem_clear(&q);
		if (status != PCTL_OK)
			return status;
	}
	return PCTL_OK;
}

/* ---- scan ------------------------------------------------------------------------------------ */

static int is_exclusive(const pctl_problem *p)
{
	return strcmp(pctl_problem_attr(p, "exclusive"), "true") == 0;
}

static pctl_status scan_inclusive(const pctl_judge *j, const pctl_problem *p, const pctl_answer *a,
				  const pctl_call *call, pctl_verdict *out)
{
	const uint32_t bytes = pctl_dtype_bytes(p->in[0].dtype);
	const uint64_t n = pctl_problem_elements(p);
	uint64_t before = 0;

	(void)j;
	(void)call;
	out->skipped = is_exclusive(p) || n == 0;
	for (uint64_t i = 0; i < n && !out->skipped; i++) {
		const uint64_t y = element(a->data[0], i, bytes), x = element(p->data[0], i, bytes);

		if (((y - before) & mask_of(bytes)) != x) {
			broken(out, "y", i, y, (before + x) & mask_of(bytes));
			return PCTL_OK;
		}
		before = y;
	}
	return PCTL_OK;
}

static pctl_status scan_exclusive(const pctl_judge *j, const pctl_problem *p, const pctl_answer *a,
				  const pctl_call *call, pctl_verdict *out)
{
	const uint32_t bytes = pctl_dtype_bytes(p->in[0].dtype);
	const uint64_t n = pctl_problem_elements(p);
	uint64_t want = 0;

	(void)j;
	(void)call;
	out->skipped = !is_exclusive(p) || n == 0;
	for (uint64_t i = 0; i < n && !out->skipped; i++) {
		const uint64_t y = element(a->data[0], i, bytes);

		if (y != want) {
			broken(out, "y", i, y, want);
			return PCTL_OK;
		}
		want = (y + element(p->data[0], i, bytes)) & mask_of(bytes);
	}
	return PCTL_OK;
}

/* ---- sort_pairs ------------------------------------------------------------------------------- */

typedef struct pair {
	uint32_t key, payload;
} pair;

static int by_key_and_payload(const void *a, const void *b)
{
	const pair *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->payload < y->payload ? -1 : x->payload > y->payload;
}

static pair *pairs_of(const uint8_t *keys, const uint8_t *payloads, uint64_t n)
{
	pair *out = malloc((n + 1) * sizeof(*out));

	for (uint64_t i = 0; i < n && out != NULL; i++)
		out[i] = (pair){(uint32_t)element(keys, i, 4), (uint32_t)element(payloads, i, 4)};
	return out;
}

static pctl_status sort_permutation(const pctl_judge *j, const pctl_problem *p,
				    const pctl_answer *a, const pctl_call *call, pctl_verdict *out)
{
	const uint64_t n = pctl_problem_elements(p);
	pair *before = pairs_of(p->data[0], p->data[1], n),
	     *after = pairs_of(a->data[0], a->data[1], n);
	pctl_status status = PCTL_OK;

	(void)j;
	out->skipped = n == 0;
	if (before == NULL || after == NULL) {
		status = pctl_refuse(call, PC2_NOMEM, "no memory to check a sort");
		goto out;
	}
	for (uint64_t i = 1; i < n && !out->failed; i++)
		if (after[i - 1].key > after[i].key)
			broken(out, "keys_sorted descends at", i, after[i].key, after[i - 1].key);
	qsort(before, n, sizeof(*before), by_key_and_payload);
	qsort(after, n, sizeof(*after), by_key_and_payload);
	for (uint64_t i = 0; i < n && !out->failed; i++)
		if (by_key_and_payload(&before[i], &after[i]) != 0)
			broken(out, "pairs in order", i,
			       (uint64_t)after[i].key << 32 | after[i].payload,
			       (uint64_t)before[i].key << 32 | before[i].payload);
out:
	free(before);
	free(after);
	return status;
}

/* The same keys again with the places as payloads: among equal keys places must ascend. */
static pctl_status sort_stable(const pctl_judge *j, const pctl_problem *p, const pctl_answer *a,
			       const pctl_call *call, pctl_verdict *out)
{
	const uint64_t n = pctl_problem_elements(p);
	pctl_answer again = {.n_out = 0};
	pctl_problem q;
	pctl_status status = pctl_problem_copy(p, call, &q);

	(void)a;
	out->skipped = n < 2;
	for (uint32_t i = 0; i < n && status == PCTL_OK; i++)
		memcpy(q.data[1] + 4ull * i, &i, 4);
	if (status == PCTL_OK)
		status = j->device->solve(j->device->ctx, &q, call, &again);
	for (uint64_t i = 1; i < n && status == PCTL_OK && !out->failed; i++) {
		const uint64_t one = element(again.data[1], i - 1, 4),
			       two = element(again.data[1], i, 4);

		if (element(again.data[0], i - 1, 4) == element(again.data[0], i, 4) &&
		    one >= two) {
			broken(out, "place after an equal key's, at", i, two, one + 1);
			snprintf(out->want, sizeof(out->want), "above 0x%" PRIx64, one);
		}
	}
	pctl_answer_clear(&again);
	pctl_problem_clear(&q);
	return status;
}

static pctl_status sort_again(const pctl_judge *j, const pctl_problem *p, const pctl_answer *a,
			      const pctl_call *call, pctl_verdict *out)
{
	pctl_answer again = {.n_out = 0};
	pctl_problem q;
	pctl_status status = pctl_problem_copy(p, call, &q);

	for (uint32_t i = 0; i < 2 && status == PCTL_OK; i++)
		memcpy(q.data[i], a->data[i], a->bytes[i]);
	if (status == PCTL_OK)
		status = j->device->solve(j->device->ctx, &q, call, &again);
	if (status == PCTL_OK)
		(void)pctl_answer_differs(p, &again, a, out);
	pctl_answer_clear(&again);
	pctl_problem_clear(&q);
	return status;
}

const pctl_plan_law pctl_plan_laws_tensor[] = {
	{"tensor.reduce_max@1", "y is one of the elements, and no element is above y", "largest",
	 max_is_one, 0, 0},
	{"tensor.reduce_max@1", "any permutation of x gives the same y", "permuted", max_permuted,
	 0, 0},
	{"tensor.scan@1", "inclusive: y[0] = x[0] and y[i] - y[i-1] = x[i], modulo 2^width",
	 "inclusive", scan_inclusive, 0, 0},
	{"tensor.scan@1", "exclusive: y[0] = 0 and y[i+1] - y[i] = x[i], modulo 2^width",
	 "exclusive", scan_exclusive, 0, 0},
	{"tensor.sort_pairs@1",
	 "keys_sorted ascends and the pairs are a permutation of the input's", "sorted permutation",
	 sort_permutation, 0, 0},
	{"tensor.sort_pairs@1", "pairs of equal keys keep their order", "stable", sort_stable, 0,
	 0},
	{"tensor.sort_pairs@1", "sorting what is sorted changes nothing", "idempotent", sort_again,
	 0, 0},
};
const uint32_t pctl_n_plan_laws_tensor =
	sizeof(pctl_plan_laws_tensor) / sizeof(pctl_plan_laws_tensor[0]);
