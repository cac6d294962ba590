/* Shapes of runs: both kinds in every pair, the same again from the same seed, others from another, and nothing of one block
 * in the next. */
#include "main.h"

#include "runtime/exec/shape.h"

#define BLOCKS 64u
#define DRAWS 32u

static const pctl_device_caps caps = {.head = PCTL_HEAD(pctl_device_caps),
				      .binding_alignment = 512};

static void draw(uint64_t seed, pctl_shape out[BLOCKS][DRAWS])
{
	pctl_shapes s = {.seed = seed};

	for (uint64_t b = 0; b < BLOCKS; b++) {
		assert_int_equal(pctl_shapes_block(&s, b, NULL), PCTL_OK);
		for (uint32_t i = 0; i < DRAWS; i++)
			out[b][i] = pctl_shape_next(&s, &caps);
	}
}

static void both_kinds(void **state)
{
	static pctl_shape all[BLOCKS][DRAWS];
	uint32_t thorough = 0, first = 0;

	(void)state;
	draw(7, all);
	for (uint32_t b = 0; b < BLOCKS; b++) {
		for (uint32_t i = 0; i < DRAWS; i++) {
			const pctl_shape *s = &all[b][i];

			assert_int_equal(s->before == 0, s->behind == 0);
			assert_int_equal(s->before % 512, 0);
			assert_int_equal(s->behind % 4, 0);
			thorough += s->thorough;
			if (i % 2 == 1)
				assert_int_not_equal(s->before == 0, s[-1].before == 0);
		}
		first += all[b][0].before == 0;
		if (b % 2 == 1)
			assert_int_not_equal(all[b][0].before == 0, all[b - 1][0].before == 0);
	}
	assert_int_equal(first, BLOCKS / 2);
	assert_in_range(thorough, BLOCKS * DRAWS / 5, BLOCKS * DRAWS / 2);
}

static void drawn(void **state)
{
	static pctl_shape one[BLOCKS][DRAWS], again[BLOCKS][DRAWS], other[BLOCKS][DRAWS];
	uint32_t same = 0, orders = 0;
	uint64_t a = 0, b = 0;

	(void)state;
	draw(1, one);
	draw(1, again);
	draw(2, other);
	assert_memory_equal(one, again, sizeof(one));
	for (uint32_t k = 0; k < BLOCKS; k++)
		for (uint32_t i = 0; i < DRAWS; i++) {
			assert_int_not_equal(one[k][i].key, other[k][i].key);
			same += (one[k][i].before == 0) == (other[k][i].before == 0);
			orders += i % 2 == 0 && one[k][i].before == 0;
		}
	assert_in_range(same, BLOCKS * DRAWS / 3, BLOCKS * DRAWS * 2 / 3);
	assert_in_range(orders, BLOCKS * DRAWS / 8, BLOCKS * DRAWS * 3 / 8);
	assert_int_equal(pctl_shapes_draw(NULL, &a), PCTL_OK);
	assert_int_equal(pctl_shapes_draw(NULL, &b), PCTL_OK);
	assert_int_not_equal(a, b);
}

/* Inputs of one job lie as the job does or not, in zones of their own, and the same ones again. */
static void inputs(void **state)
{
	const pctl_shape jobs[2] = {{0, 0, 5, 0, 0}, {512, 256, 6, 0, 0}};
	uint32_t other[2] = {0, 0};

	(void)state;
	for (uint32_t k = 0; k < 2; k++)
		for (uint32_t i = 0; i < 400; i++) {
			const pctl_zones z = pctl_shape_input(&jobs[k], i, &caps);
			const pctl_zones again = pctl_shape_input(&jobs[k], i, &caps);

			assert_memory_equal(&z, &again, sizeof(z));
			assert_int_equal(z.before == 0, z.behind == 0);
			assert_int_equal(z.before % 512, 0);
			other[k] += (z.before == 0) != (jobs[k].before == 0);
		}
	assert_in_range(other[0], 60, 150);
	assert_in_range(other[1], 60, 150);
}

PCTL_TESTS_MAIN(PCTL_TEST(inputs), PCTL_TEST(both_kinds), PCTL_TEST(drawn))
