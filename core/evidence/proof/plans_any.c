/* Problems for a plan op that nothing is known of but its description: shapes from the patterns of its ports, data in
 * patterns that go wrong, attributes at their values. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/diag/diag.h"
#include "runtime/graph/type.h"
#include "evidence/proof/plans.h"

#define SLOTS 3u	 /* patterns a size is tried with */
#define FULL_SIZES 64u	 /* sizes up to this one are tried with every pattern */
#define ONE_SLOT 100000u /* and sizes from this one on with random values alone */

static uint64_t combinations(const pctl_problems *l)
{
	uint64_t n = 1;

	for (uint32_t i = 0; i < PCTL_ATTRS_MAX; i++)
		n *= l->n_values[i] == 0 ? 1 : l->n_values[i];
	return n;
}

uint64_t pctl_problems_any_count(const pctl_problems *l)
{
	return l->n_sizes * PCTL_PROBLEM_PATTERNS * combinations(l);
}

/* 1 when this size is tried with this pattern. */
static int is_tried(uint64_t size, uint32_t number, uint32_t pattern)
{
	if (size <= FULL_SIZES && (size & (size - 1)) == 0)
		return 1;
	if (size >= ONE_SLOT)
		return pattern == 0;
	for (uint32_t k = 0; k < SLOTS; k++)
		if (pattern == (k == 0 ? 0 : (number * 2 + k) % PCTL_PROBLEM_PATTERNS))
			return 1;
	return 0;
}

/* Dimensions by name, in the order in which ports name them: the first is the size, others are small. */
typedef struct dims {
	const char *name[16];
	uint64_t value[16];
	uint32_t n;
} dims;

static uint64_t dim_of(dims *d, const char *name, uint64_t size)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (strcmp(d->name[i], name) == 0)
			return d->value[i];
	if (d->n == 16)
		return 1;
	d->name[d->n] = name;
	d->value[d->n] = d->n == 0 ? size : 1 + (size + d->n) % 5;
	return d->value[d->n++];
}

static pctl_tensor_type shape_of(const pctl_type_pattern *t, dims *d, uint64_t size,
				 uint32_t pattern)
{
	pctl_tensor_type out = {.rank = t->rank};

	if (t->any_shape) {
		/* As a matrix now and then: the shape must not show where the op says "any". */
		out.rank = pattern % 3 == 1 && size % 2 == 0 ? 2 : 1;
		out.dim[0] = out.rank == 2 ? size / 2 : size;
		out.dim[1] = out.rank == 2 ? 2 : 0;
		if (t->lanes != 0)
			out.dim[out.rank++] = t->lanes;
		return out;
	}
	for (uint32_t i = 0; i < t->rank; i++)
		out.dim[i] =
			t->dim[i].name == NULL ? t->dim[i].value : dim_of(d, t->dim[i].name, size);
	return out;
}

static pctl_status fill_ports(const pctl_problems *l, uint64_t size, uint32_t pattern,
			      uint64_t seed, const pctl_call *call, pctl_problem *p)
{
	pctl_arena *arena = pctl_arena_create();
	pctl_status status = arena == NULL ? pctl_no_memory(call, "a problem") : PCTL_OK;
	dims d = {.n = 0};

	for (uint32_t i = 0; i < p->n_in && status == PCTL_OK; i++) {
		pctl_tensor_type type;
		pctl_type_pattern t;
		uint64_t n;

		status = pctl_port_parse(p->op.desc->in[i].type, arena, NULL, call, &t);
		if (status != PCTL_OK)
			break;
		type = shape_of(&t, &d, size, pattern);
		type.dtype = pctl_pattern_has_dtype(&t, l->dtype) ? l->dtype : t.dtype[0];
		status = pctl_problem_port(p, i, &type, call);
		if (status != PCTL_OK || !pctl_type_elements(&type, &n))
			break;
		/* Ports after the first have other data; of the second the places show, so that order does. */
		for (uint64_t k = 0; k < n; k++)
			pctl_problem_value(i == 1 && pattern != 0 ? 3 : pattern, type.dtype,
					   seed + i * 7919u, k, n,
					   p->data[i] + k * pctl_dtype_bytes(type.dtype));
	}
	pctl_arena_destroy(arena);
	return status;
}

/* A tolerance is asked for at the least that the op can promise, found by asking. */
static void tighten(pctl_problem *p, uint32_t attr)
{
	uint64_t low = 1, high = 1ull << 40;
	char text[32];

	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;

		snprintf(text, sizeof(text), "%" PRIu64, middle);
		pctl_problem_set(p, attr, text);
		if (pctl_problem_valid(p))
			high = middle;
		else
			low = middle + 1;
	}
	snprintf(text, sizeof(text), "%" PRIu64, low);
	pctl_problem_set(p, attr, text);
}

pctl_status pctl_problems_any_make(const pctl_problems *l, uint64_t number, const pctl_call *call,
				   pctl_problem *out, int *made)
{
	const uint64_t combos = combinations(l);
	uint64_t combo = number % combos;
	const uint32_t pattern = (uint32_t)(number / combos % PCTL_PROBLEM_PATTERNS);
	const uint32_t at = (uint32_t)(number / combos / PCTL_PROBLEM_PATTERNS);
	pctl_status status;

	*made = is_tried(l->sizes[at], at, pattern);
	if (!*made)
		return PCTL_OK;
	for (uint32_t i = 0; i < out->n_attr; i++) {
		if (l->n_values[i] == 0)
			continue;
		pctl_problem_set(out, i, l->values[i][combo % l->n_values[i]]);
		combo /= l->n_values[i];
	}
	status = fill_ports(l, l->sizes[at], pattern, pctl_problem_random(l->seed, number / combos),
			    call, out);
	for (uint32_t i = 0; i < out->n_attr && status == PCTL_OK; i++)
		if (strcmp(out->op.desc->attr[i].name, "ulps") == 0 &&
		    out->op.desc->op_class == PCTL_CLASS_APPROXIMATE)
			tighten(out, i);
	return status;
}
