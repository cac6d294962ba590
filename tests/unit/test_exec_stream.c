/* Constant inputs under a budget of device memory: random programs (test_exec_resident_fake.h) give the same bytes whatever stays on the device,
 * nothing is over the budget, and the least budget that a refusal tells is one. */
#include "main.h"

#include <stdio.h>
#include <unistd.h>

#include "foundation/base/file.h"
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

/* A file that is written to while a resident run goes on: what was verified is what goes on, from the host's copies; and where there is no copy,
 * the change is seen before a command reads a byte of it. */
static void a_changed_file_is_noticed(void **state)
{
	char path[WEIGHTS][64];
	pctl_data_source *sources[WEIGHTS];
	uint32_t refused = 0, streamed = 0;
	struct bench b;

	(void)state;
	seed_ = 7000;
	open_bench(&b, SIZES[0]);
	b.n_weights = WEIGHTS;
	make_program(&b);
	for (uint32_t i = 0; i < WEIGHTS; i++) {
		snprintf(path[i], sizeof(path[i]), "/tmp/pctl-stream-%ld-%u", (long)getpid(), i);
		assert_int_equal(pctl_file_write(path[i], b.inputs[i]->host, b.inputs[i]->n_bytes,
						 0, b.r->call),
				 PCTL_OK);
		pctl_value_release(b.inputs[i]);
		assert_int_equal(pctl_source_open_file(path[i], b.r->call, &sources[i]), PCTL_OK);
		b.inputs[i] = pctl_value_from_source(sources[i]);
	}
	assert_int_equal(pctl_resident_order(b.r), PCTL_OK);
	assert_int_equal(pctl_resident_measure(b.r), PCTL_OK);
	b.family.is_declared = 1;
	b.family.budget_bytes = b.r->own_bytes + 3 * 4 * MOST_WORDS;
	assert_int_equal(pctl_resident_fit(b.r, 0), PCTL_OK);
	record(&b);
	/* In its place: the descriptor that the source has sees it. */
	for (uint32_t i = 0; i < WEIGHTS; i++) {
		FILE *f = fopen(path[i], "r+");

		assert_non_null(f);
		assert_int_not_equal(
			fputc(b.inputs[i]->host == NULL ? 1 : b.inputs[i]->host[0] ^ 1, f), EOF);
		assert_int_equal(fclose(f), 0);
	}
	assert_true(gives(&b, 0) && b.family.held_bytes != 0);
	for (uint32_t i = 0; i < WEIGHTS; i++) {
		streamed += b.inputs[i]->host != NULL;
		free(b.inputs[i]->host);
		b.inputs[i]->host = NULL;
	}
	for (uint32_t k = 0; k < b.r->n_segments; k++)
		refused += pctl_resident_upload_segment(b.r, &b.r->segments[k]) == PCTL_E_IO;
	assert_true(streamed > 2 && refused > 0);
	assert_int_equal(pctl_diag_list_at(b.said, 0)->code, PC5210_INPUT_CHANGED);
	close_bench(&b);
	for (uint32_t i = 0; i < WEIGHTS; i++) {
		pctl_source_close(sources[i]);
		remove(path[i]);
	}
	planted("a file of a streamed input is written to", "a resident run", "PC5210",
		"changed while it was read, before a command reads it");
}

PCTL_TESTS_MAIN(PCTL_TEST(streamed_inputs_change_nothing), PCTL_TEST(a_changed_file_is_noticed))
