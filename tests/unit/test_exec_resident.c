/* Order, places and barriers of resident runs, by random programs of copies, fills and kernels whose workgroups stand in a buffer on a fake device that does what lies between two
 * barriers in any order. What they should give is found here, command by command over spans that share nothing. Faults are planted: a
 * barrier that is left out, a place that is taken twice. */
#include "main.h"

#include "planted/planted.h"
#include "test_exec_resident_fake.h"

static void place(struct bench *b)
{
	assert_int_equal(pctl_resident_order(b->r), PCTL_OK);
	assert_int_equal(pctl_resident_measure(b->r), PCTL_OK);
	assert_int_equal(pctl_resident_fit(b->r, 0), PCTL_OK);
}

/* Bytes that a command writes, or only reads; n 0: none. */
struct bytes {
	const pctl_buffer *buffer;
	uint64_t at, n;
};

static struct bytes written(const fake_command *c)
{
	const pctl_binding *b = &c->bindings[0];

	return c->what == FAKE_INDIRECT ? (struct bytes){b->buffer, b->offset, b->n_bytes}
					: (struct bytes){c->to, c->to_offset, c->n_bytes};
}

static struct bytes only_read(const fake_command *c)
{
	const uint64_t n = c->what == FAKE_INDIRECT ? 12 : c->what == FAKE_COPY ? c->n_bytes : 0;

	return (struct bytes){c->from, c->from_offset, n};
}

static int meet(struct bytes a, struct bytes b)
{
	return a.buffer == b.buffer && a.at < b.at + b.n && b.at < a.at + a.n;
}

static int need_order(const fake_command *a, const fake_command *b)
{
	return meet(written(a), written(b)) || meet(only_read(a), written(b)) ||
	       meet(written(a), only_read(b));
}

/* Static: the first command that needs a barrier behind an earlier one and has none, else the number of commands. */
static uint32_t first_hazard(const pctl_list *l)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		if (l->commands[i].what == FAKE_BARRIER)
			first = i + 1;
		for (uint32_t k = first; l->commands[i].what != FAKE_BARRIER && k < i; k++)
			if (need_order(&l->commands[k], &l->commands[i]))
				return i;
	}
	return l->n;
}

/* Static: two spans that share a byte of a pool while both are alive; SPANS: none do. */
static uint32_t first_overlap(const struct bench *b)
{
	const pctl_resident_span *s = b->r->spans;

	for (uint32_t i = 6; i < SPANS; i++)
		for (uint32_t k = 6; k < i; k++)
			if (s[i].life.is_touched && s[k].life.is_touched &&
			    s[i].life.from <= s[k].life.to && s[k].life.from <= s[i].life.to &&
			    s[i].number == s[k].number && s[i].base < s[k].base + s[k].n_bytes &&
			    s[k].base < s[i].base + s[i].n_bytes)
				return i;
	return SPANS;
}

static uint32_t barriers_in(const pctl_list *l)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->n; i++)
		n += l->commands[i].what == FAKE_BARRIER;
	return n;
}

static void programs_keep_their_meaning(void **state)
{
	uint64_t shared = 0, several = 0;

	(void)state;
	for (uint32_t i = 0; i < PROGRAMS; i++) {
		struct bench b;

		seed_ = 1 + i;
		open_bench(&b, SIZES[i % 3]);
		make_program(&b);
		place(&b);
		record(&b);
		for (uint32_t k = 0; k < b.r->n_pools; k++)
			assert_true(b.r->pools[k]->n_bytes <= SIZES[i % 3]);
		assert_int_equal(first_overlap(&b), SPANS);
		for (uint32_t parity = 0; parity < 2; parity++) {
			assert_int_equal(first_hazard(b.r->segments[0].lists[parity]),
					 b.r->segments[0].lists[parity]->n);
			assert_int_equal(barriers_in(b.r->segments[0].lists[parity]),
					 b.r->n_levels - 1);
			for (backwards = 0; backwards < 2; backwards++)
				assert_true(gives(&b, parity));
		}
		shared += b.r->pool_bytes < b.r->live_bytes;
		several += b.r->n_pools > 1;
		close_bench(&b);
	}
	assert_true(shared > PROGRAMS / 2 && several > PROGRAMS / 8);
}

/* Each barrier of a list is one that is needed: without it the static check names a command, and some order gives other bytes. */
static void a_missing_barrier_is_caught(void **state)
{
	uint32_t tried = 0, other_bytes = 0;
	char named[96] = "";

	(void)state;
	for (uint32_t i = 0; i < 20; i++) {
		struct bench b;
		pctl_list *l;

		seed_ = 1000 + i;
		open_bench(&b, SIZES[i % 3]);
		make_program(&b);
		place(&b);
		record(&b);
		l = b.r->segments[0].lists[0];
		for (uint32_t k = 0; k < l->n; k++) {
			if (l->commands[k].what != FAKE_BARRIER)
				continue;
			l->commands[k].what = FAKE_TIMESTAMP;
			assert_true(first_hazard(l) < l->n);
			snprintf(named, sizeof(named),
				 "command %u of %u needs a barrier behind an earlier one",
				 first_hazard(l), l->n);
			backwards = 1;
			other_bytes += !gives(&b, 0);
			tried++;
			l->commands[k].what = FAKE_BARRIER;
		}
		close_bench(&b);
	}
	assert_true(tried > 100 && other_bytes > tried / 4);
	planted("a barrier is left out", "a resident run", "hazards of the recorded list", named);
}

static void a_place_taken_twice_is_caught(void **state)
{
	uint32_t tried = 0, other_bytes = 0;
	char named[96] = "";

	(void)state;
	for (uint32_t i = 0; i < 40; i++) {
		struct bench b;
		pctl_resident_span *s;

		seed_ = 2000 + i;
		open_bench(&b, SIZES[0]);
		make_program(&b);
		place(&b);
		s = b.r->spans;
		for (uint32_t k = 7; k < SPANS; k++)
			if (s[6].life.from <= s[k].life.to && s[k].life.from <= s[6].life.to &&
			    s[k].life.is_touched && s[6].life.is_touched &&
			    s[k].n_bytes >= s[6].n_bytes) {
				s[6].base = s[k].base;
				break;
			}
		if (first_overlap(&b) < SPANS) {
			snprintf(named, sizeof(named),
				 "spans 6 and %u share bytes while both are alive",
				 first_overlap(&b));
			record(&b);
			backwards = 0;
			other_bytes += !gives(&b, 0);
			tried++;
		} else {
			record(&b);
		}
		close_bench(&b);
	}
	assert_true(tried > 10 && other_bytes > 0);
	planted("two activations lie in one place", "a resident run", "liveness of its spans",
		named);
}

/* Workgroups in a buffer wait for who writes them, and are there as long as who reads them. */
static void numbers_of_workgroups_are_read(void **state)
{
	uint32_t kernels = 0, hazards = 0, other_bytes = 0;
	char named[96] = "";

	(void)state;
	for (uint32_t i = 0; i < 40; i++) {
		struct bench b;
		const pctl_list *l;

		seed_ = 3000 + i;
		open_bench(&b, SIZES[i % 3]);
		make_program(&b);
		for (uint32_t k = 0; k < b.r->n_commands; k++)
			if (b.r->commands[k].kind == PCTL_STEP_KERNEL) {
				b.r->commands[k].ranges[1].n_bytes = 0;
				kernels++;
			}
		place(&b);
		record(&b);
		l = b.r->segments[0].lists[0];
		if (first_hazard(l) < l->n) {
			hazards++;
			snprintf(named, sizeof(named),
				 "command %u of %u needs a barrier behind an earlier one",
				 first_hazard(l), l->n);
		}
		backwards = 1;
		other_bytes += !gives(&b, 0);
		close_bench(&b);
	}
	assert_true(kernels > 400 && hazards > 20 && other_bytes > 4);
	planted("the workgroups of a kernel are not named as read", "a resident run",
		"hazards of the recorded list", named);
}

/* What is over a limit is refused before anything is made. */
static void limits_are_kept(void **state)
{
	struct bench b;

	(void)state;
	seed_ = 5;
	open_bench(&b, SIZES[0]);
	make_program(&b);
	assert_int_equal(pctl_resident_order(b.r), PCTL_OK);
	b.family.budget_bytes = 64;
	assert_int_equal(pctl_resident_measure(b.r), PCTL_OK);
	assert_int_equal(pctl_resident_fit(b.r, 0), PCTL_E_LIMIT);
	assert_int_equal(pctl_diag_list_at(b.said, 0)->code, PC5204_MEMORY);
	close_bench(&b);
	open_bench(&b, 256);
	make_program(&b);
	assert_int_equal(pctl_resident_order(b.r), PCTL_OK);
	assert_int_equal(pctl_resident_measure(b.r), PCTL_E_LIMIT);
	assert_int_equal(pctl_diag_list_at(b.said, 0)->code, PC5203_BINDING_SIZE);
	close_bench(&b);
	open_bench(&b, SIZES[0]);
	b.policy.memory_bytes = b.family.budget_bytes = 100;
	make_program(&b);
	assert_int_equal(pctl_resident_order(b.r), PCTL_OK);
	assert_int_equal(pctl_resident_measure(b.r), PCTL_OK);
	assert_int_not_equal(pctl_resident_fit(b.r, 0), PCTL_OK);
	assert_int_equal(pctl_diag_list_at(b.said, 0)->code, PC4314_POLICY_LIMIT);
	close_bench(&b);
}

/* A kernel may not write what stays. */
static void what_stays_is_not_written(void **state)
{
	struct bench b;

	(void)state;
	open_bench(&b, SIZES[0]);
	make_program(&b);
	b.r->commands[3].ranges[0].span = 0;
	assert_int_equal(pctl_resident_order(b.r), PCTL_E_UNSUPPORTED);
	assert_int_equal(pctl_diag_list_at(b.said, 0)->code, PC5250_RESIDENT);
	close_bench(&b);
}

PCTL_TESTS_MAIN(PCTL_TEST(programs_keep_their_meaning), PCTL_TEST(a_missing_barrier_is_caught),
		PCTL_TEST(a_place_taken_twice_is_caught), PCTL_TEST(numbers_of_workgroups_are_read),
		PCTL_TEST(limits_are_kept), PCTL_TEST(what_stays_is_not_written))
