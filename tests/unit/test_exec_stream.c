/* Constant inputs under a budget of device memory: random programs (test_exec_resident_fake.h) give the same bytes whatever stays on the device,
 * nothing is over the budget, and the least budget that a refusal tells is one. */
#include "main.h"

#include "planted/planted.h"
#include "test_exec_resident_fake.h"

static uint64_t fit_in(struct bench *b, uint32_t seed, uint64_t budget)
{
	seed_ = seed;
	open_bench(b, SIZES[0]);
	b->n_weights = WEIGHTS;
	b->family.is_declared = 1;
	b->family.budget_bytes = budget;
	make_program(b);
	assert_int_equal(pctl_resident_order(b->r), PCTL_OK);
	assert_int_equal(pctl_resident_measure(b->r), PCTL_OK);
	return pctl_resident_fit(b->r, 0) == PCTL_OK
		       ? b->r->own_bytes + b->family.weight_bytes + b->family.slot_bytes
		       : 0;
}

/* Under any budget a program gives what it gives, or is refused; the bytes on the device are within it, and what is told as the least budget
 * is one. */
static void streamed_inputs_change_nothing(void **state)
{
	uint32_t streamed = 0, refused = 0, several = 0, caught = 0;

	(void)state;
	for (uint32_t i = 0; i < PROGRAMS; i++) {
		struct bench b;
		const uint64_t all = fit_in(&b, 5000 + i, 0);
		uint64_t weights = b.family.weight_bytes, budget, has;

		close_bench(&b);
		assert_true(weights != 0 && weights < all);
		budget = all - 1 - below((uint32_t)weights - 1);
		has = fit_in(&b, 5000 + i, budget);
		if (has == 0) {
			const char *text = pctl_diag_list_at(b.said, 0)->message;
			const char *least = strstr(text, "each step, is ");

			assert_int_equal(pctl_diag_list_at(b.said, 0)->code, PC5204_MEMORY);
			assert_non_null(least);
			budget = strtoull(least + strlen("each step, is "), NULL, 10);
			close_bench(&b);
			assert_int_equal(fit_in(&b, 5000 + i, budget - 1), 0);
			close_bench(&b);
			has = fit_in(&b, 5000 + i, budget);
			refused++;
		}
		assert_true(has != 0 && has <= budget && b.family.streams);
		record(&b);
		assert_true(gives(&b, 0) && gives(&b, 1));
		streamed += b.r->streamed_bytes != 0;
		several += b.r->n_segments > 1;
		/* A weight that does not come. */
		for (uint32_t k = 0; k < b.r->n_segments; k++)
			b.r->segments[k].n_uploads = 0;
		memset(b.family.slot->data, 0x5a, b.family.slot->n_bytes);
		caught += b.r->streamed_bytes != 0 && !gives(&b, 0);
		close_bench(&b);
	}
	assert_true(streamed > PROGRAMS / 2 && several > PROGRAMS / 8 && refused > 2 &&
		    caught > PROGRAMS / 8);
	planted("a streamed input is not put on the device", "a resident run",
		"bytes that a step gives", "outputs differ from those of the program");
}

PCTL_TESTS_MAIN(PCTL_TEST(streamed_inputs_change_nothing))
