/* Uses of ops cut into parts: every byte of every output is one part's, ranges fit and begin where they may, and an input's range is what
 * goes along with the output's, element by element. */
#include "main.h"

#include <stdlib.h>

#include "planted/planted.h"
#include "runtime/graph/cut.h"

static uint64_t state_;

static uint32_t draw(uint32_t n)
{
	state_ = state_ * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state_ >> 33) % n;
}

/* What is known of a cut under way. seen: of each byte of the output how many parts have it. */
struct seen {
	const pctl_cut *c;
	uint8_t *seen;
	uint32_t parts, bad;
};

static uint64_t width_of(uint32_t dtype)
{
	return dtype == PCTL_SCALAR_F16 ? 2 : 4;
}

/* Coordinates of element i. */
static void place_of(const pctl_tensor_type *t, uint64_t i, uint64_t *x)
{
	for (uint32_t d = t->rank; d-- > 0;) {
		x[d] = i % t->dim[d];
		i /= t->dim[d];
	}
}

static uint64_t count_of(const pctl_tensor_type *t)
{
	uint64_t n = 1;

	for (uint32_t d = 0; d < t->rank; d++)
		n *= t->dim[d];
	return n;
}

static pctl_status take(void *ctx, const pctl_op_query *q, const pctl_plan_slot *slots, uint32_t n)
{
	struct seen *s = ctx;
	const pctl_cut *c = s->c;
	const pctl_tensor_type *y = &c->result->out[0], *x = &c->q->in[0];
	const pctl_plan_slot *out = &slots[1];
	const uint64_t wy = width_of(y->dtype), wx = width_of(x->dtype);
	uint64_t first[PCTL_RANK_MAX], at[PCTL_RANK_MAX];

	(void)n;
	s->parts++;
	s->bad |= out->offset % c->alignment != 0 || out->n_bytes > c->most_bytes ||
		  slots[0].offset % c->alignment != 0 || slots[0].n_bytes > c->most_bytes;
	for (uint64_t k = 0; k < out->n_bytes; k++)
		s->seen[out->offset + k]++;
	/* The first and last element of the part of x have the coordinates of the part of y in all dimensions that are cut. */
	place_of(y, out->offset / wy, first);
	place_of(x, slots[0].offset / wx, at);
	for (uint32_t d = 0; d < c->result->n_cut; d++)
		s->bad |= at[d] != first[d];
	s->bad |= (count_of(&q->in[0]) * wx + 3) / 4 * 4 != slots[0].n_bytes;
	for (uint32_t d = 0; d < c->result->n_cut; d++)
		s->bad |= (first[d] + q->in[0].dim[d]) > y->dim[d];
	return PCTL_OK;
}

static void random_cuts(void **state)
{
	uint32_t cut = 0, refused = 0;

	(void)state;
	for (uint32_t round = 0; round < 3000; round++) {
		pctl_tensor_type x = {.dtype = PCTL_SCALAR_F32, .rank = 1 + draw(4)};
		pctl_op_query q = {.in = &x, .n_in = 1};
		pctl_op_result r = {.n_cut = 0};
		pctl_plan_slot slots[2] = {{0}};
		struct seen s = {0};
		pctl_cut c = {
			.q = &q, .result = &r, .n_out = 1, .slots = slots, .each = take, .ctx = &s};
		uint64_t n;
		pctl_status status;

		state_ = round;
		(void)draw(1);
		for (uint32_t d = 0; d < x.rank; d++)
			x.dim[d] = 1 + draw(d == 0 ? 40 : 24);
		r.n_cut = 1 + draw(x.rank);
		r.out[0] = x;
		r.out[0].dtype = draw(3) == 0 ? PCTL_SCALAR_F16 : PCTL_SCALAR_F32;
		/* A reduction behind what is cut, or the same shape. */
		if (r.n_cut < x.rank && draw(2))
			r.out[0].rank = r.n_cut;
		r.cut[0] = (1u << r.n_cut) - 1;
		assert_true(pctl_type_buffer_bytes(&x, &slots[0].n_bytes));
		assert_true(pctl_type_buffer_bytes(&r.out[0], &n));
		slots[1].n_bytes = n;
		c.most_bytes = 256u << draw(6);
		c.alignment = 4u << draw(5);
		s.c = &c;
		s.seen = calloc(n + 8, 1);
		assert_true(pctl_cut_check(&c));
		status = pctl_cut_run(&c);
		assert_true(status == PCTL_OK || (status == PCTL_E_UNSUPPORTED && s.parts == 0));
		for (uint64_t k = 0; status == PCTL_OK && k < n; k++)
			assert_int_equal(s.seen[k], 1);
		assert_int_equal(s.bad, 0);
		cut += s.parts > 1;
		refused += status != PCTL_OK;
		free(s.seen);
	}
	assert_true(cut > 300 && refused > 100);
}

static void lies(void **state)
{
	pctl_tensor_type in[2] = {{PCTL_SCALAR_F32, 2, {8, 4}}, {PCTL_SCALAR_F32, 2, {4, 8}}};
	pctl_op_query q = {.in = in, .n_in = 2};
	pctl_op_result r = {.n_cut = 1, .cut = {1, 0}};
	const pctl_cut c = {.q = &q, .result = &r, .n_out = 1};

	(void)state;
	r.out[0] = in[0];
	assert_true(pctl_cut_check(&c));
	r.cut[1] = 1; /* 4 places go along with 8 */
	assert_false(pctl_cut_check(&c));
	r.cut[1] = 2; /* a dimension that is not cut */
	assert_false(pctl_cut_check(&c));
	r.cut[1] = 0;
	r.n_cut = 3; /* more than there are */
	assert_false(pctl_cut_check(&c));
	r.n_cut = 200;
	assert_false(pctl_cut_check(&c));
	planted("a library says that its op can be cut along dimensions that it has not", "infer",
		"the dimensions of all ports", "8 places of y, 4 of an input");
}

PCTL_TESTS_MAIN(PCTL_TEST(random_cuts), PCTL_TEST(lies))
