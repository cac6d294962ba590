/* Sanitizing builds: planted races, misses and divergent barriers are found with both instructions
 * and invocations, and a clean twin of each finds nothing. */
#include "harness.h"
#include "main.h"

#include <stdlib.h>

typedef struct bench {
	rig r;
	prog p;
	uint32_t data, shared, gid, lid;
	pctl_finding found[16];
	uint32_t n_found;
} bench;

static void start(bench *b)
{
	memset(b, 0, sizeof(*b));
	harness_open(&b->r, PIPECTL_CPU_PLUGIN);
	prog_begin(&b->p);
	b->data = prog_storage(&b->p, "data", pctl_build_array(b->p.b, b->p.u32, 0, 0), 1);
	b->shared = prog_var(&b->p, "shared", pctl_build_array(b->p.b, b->p.u32, 64, 0),
			     PCTL_SPACE_WORKGROUP);
	prog_main(&b->p);
	b->gid = prog_builtin(&b->p, PCTL_BUILTIN_GLOBAL_ID, 0);
	b->lid = prog_builtin(&b->p, PCTL_BUILTIN_LOCAL_INDEX, 0);
}

static void finish(bench *b, uint32_t groups)
{
	uint32_t data[256] = {0};
	rig_bytes array = {data, sizeof(data), 0};

	rig_run_prog(&b->r, &b->p, 64, PCTL_BUILD_SANITIZE, &array, 1, groups);
	assert_int_equal(b->r.api->findings(b->r.dev, &b->r.call, 16, b->found, &b->n_found),
			 PCTL_OK);
	assert_true(b->n_found <= 16);
	rig_close(&b->r);
}

static uint32_t u(bench *b, uint32_t v)
{
	return prog_u32(&b->p, v);
}

static uint32_t xor1(bench *b, uint32_t v)
{
	return prog_op(&b->p, PCTL_OP_XOR, b->p.u32, 2, v, u(b, 1));
}

static void barrier(bench *b, uint32_t bits)
{
	prog_op(&b->p, PCTL_OP_BARRIER, 0, 1, bits);
}

static void a_write_and_a_read_of_the_neighbour(void **state)
{
	(void)state;
	/* 0: no barrier; 1: right barrier; 2: the other kind of barrier; in both memories */
	for (int storage = 0; storage < 2; storage++) {
		for (int how = 0; how < 3; how++) {
			const uint32_t right =
				storage ? PCTL_BARRIER_STORAGE : PCTL_BARRIER_WORKGROUP;
			uint32_t root, at, store, load;
			bench b;

			start(&b);
			root = storage ? b.data : b.shared;
			at = storage ? b.gid : b.lid;
			prog_store(&b.p, at, root, 1, at);
			if (how)
				barrier(&b, how == 1 ? right : 3 - right);
			load = prog_load(&b.p, b.p.u32, root, 1, xor1(&b, at));
			store = prog_op(&b.p, PCTL_OP_ADD, b.p.u32, 2, load, load) +
				1; /* keep it used */
			(void)store;
			finish(&b, 2);
			if (how == 1) {
				assert_int_equal(b.n_found, 0);
				continue;
			}
			assert_int_equal(b.n_found, 1);
			assert_int_equal(b.found[0].kind, PCTL_FINDING_RACE);
			assert_int_equal(b.found[0].var, root);
			assert_int_equal(b.found[0].function, 1);
			assert_int_equal(b.found[0].inst, load);
			assert_int_equal(b.found[0].other_function, 1);
			assert_true(b.found[0].other_inst < load);
			assert_int_equal(b.found[0].count, 128);
			assert_int_equal(b.found[0].invocation ^ b.found[0].other_invocation, 1);
			assert_int_equal(b.found[0].address,
					 4 * (b.found[0].other_invocation % 64));
		}
	}
}

/* All invocations store the same value at one place: still a race, of the instruction with itself.
 */
static void writes_of_one_place(void **state)
{
	(void)state;
	for (int atomic = 0; atomic < 2; atomic++) {
		uint32_t counter;
		bench b;

		memset(&b, 0, sizeof(b));
		harness_open(&b.r, PIPECTL_CPU_PLUGIN);
		prog_begin(&b.p);
		counter = prog_storage(
			&b.p, "n", atomic ? pctl_build_atomic(b.p.b, PCTL_SCALAR_U32) : b.p.u32, 1);
		prog_main(&b.p);
		if (atomic)
			prog_op(&b.p, PCTL_OP_ATOMIC_ADD, b.p.u32, 2, u(&b, 7), counter);
		else
			prog_store(&b.p, u(&b, 7), counter, 0);
		finish(&b, 3);
		assert_int_equal(b.n_found, atomic ? 0 : 1);
		if (!atomic) {
			assert_int_equal(b.found[0].kind, PCTL_FINDING_RACE);
			assert_int_equal(b.found[0].inst, b.found[0].other_inst);
			assert_int_equal(b.found[0].count, 3 * 64 - 1);
		}
	}
}

/* Barriers order nothing between workgroups. */
static void workgroups_race_in_spite_of_barriers(void **state)
{
	(void)state;
	for (int own = 0; own < 2; own++) {
		uint32_t at;
		bench b;

		start(&b);
		at = own ? b.gid : b.lid;
		barrier(&b, PCTL_BARRIER_STORAGE);
		prog_store(&b.p, prog_load(&b.p, b.p.u32, b.data, 1, at), b.data, 1, at);
		barrier(&b, PCTL_BARRIER_STORAGE);
		finish(&b, 2);
		assert_int_equal(b.n_found, own ? 0 : 2);
		if (!own) { /* group 1 reads what group 0 wrote; writes what it wrote */
			assert_int_equal(b.found[0].invocation / 64, 1);
			assert_int_equal(b.found[0].other_invocation / 64, 0);
			assert_int_equal(b.found[0].invocation % 64,
					 b.found[0].other_invocation % 64);
		}
	}
}

/* The second dispatch of a list starts clean: dispatches are ordered. */
static void many_readers_then_a_writer(void **state)
{
	bench b;
	uint32_t c;
	(void)state;

	start(&b);
	prog_store(&b.p, prog_load(&b.p, b.p.u32, b.shared, 1, u(&b, 0)), b.shared, 1,
		   prog_op(&b.p, PCTL_OP_ADD, b.p.u32, 2,
			   prog_op(&b.p, PCTL_OP_MIN, b.p.u32, 2, b.lid, u(&b, 62)), u(&b, 1)));
	c = prog_op(&b.p, PCTL_OP_EQ, b.p.boolean, 2, b.lid, u(&b, 5));
	prog_op(&b.p, PCTL_OP_IF, 0, 1, c);
	prog_store(&b.p, u(&b, 1), b.shared, 1, u(&b, 0));
	prog_op(&b.p, PCTL_OP_END_IF, 0, 0);
	finish(&b, 1);
	/* lanes 62 and 63 both store at 63; lane 5 stores where all have read */
	assert_int_equal(b.n_found, 2);
	assert_int_equal(b.found[0].kind, PCTL_FINDING_RACE);
	assert_int_equal(b.found[0].invocation, 63);
	assert_int_equal(b.found[0].other_invocation, 62);
	assert_int_equal(b.found[0].address, 63 * 4);
	assert_int_equal(b.found[1].invocation, 5);
	assert_int_equal(b.found[1].address, 0);
}

static void misses(void **state)
{
	(void)state;
	for (uint32_t shift = 0; shift < 2; shift++) {
		uint32_t load, l;
		bench b;

		start(&b);
		l = PCTL_PLACE_LOCAL |
		    pctl_build_local(b.p.b, "a", pctl_build_array(b.p.b, b.p.u32, 4, 0));
		load = prog_load(
			&b.p, b.p.u32, b.data, 1,
			prog_op(&b.p, PCTL_OP_ADD, b.p.u32, 2, b.gid, u(&b, 192 + shift * 10)));
		prog_store(&b.p, load, l, 1,
			   prog_op(&b.p, PCTL_OP_MOD, b.p.u32, 2, b.gid, u(&b, 4 + shift)));
		finish(&b, 1);
		assert_int_equal(b.n_found, shift ? 2 : 0);
		if (shift) {
			assert_int_equal(b.found[0].kind, PCTL_FINDING_OUT_OF_BOUNDS);
			assert_int_equal(b.found[0].inst, load);
			assert_int_equal(b.found[0].count, 10);
			assert_int_equal(b.found[0].invocation, 54);
			assert_int_equal(b.found[0].var, b.data);
			assert_int_equal(b.found[1].var, PCTL_PLACE_LOCAL | 0);
			assert_int_equal(b.found[1].count, 12); /* 4, 9, .. 59 */
		}
	}
}

static void divergent_barriers(void **state)
{
	(void)state;
	/* 0: under a condition of the lane; 1: after an early return; 2: under a uniform condition
	 */
	for (int how = 0; how < 3; how++) {
		uint32_t c;
		bench b;

		start(&b);
		c = prog_op(&b.p, PCTL_OP_GE, b.p.boolean, 2, how == 2 ? u(&b, 12) : b.lid,
			    u(&b, 10));
		prog_op(&b.p, PCTL_OP_IF, 0, 1, c);
		if (how == 1) {
			prog_op(&b.p, PCTL_OP_RETURN, 0, 0);
			prog_op(&b.p, PCTL_OP_END_IF, 0, 0);
			barrier(&b, PCTL_BARRIER_WORKGROUP);
		} else {
			barrier(&b, PCTL_BARRIER_WORKGROUP);
			prog_op(&b.p, PCTL_OP_END_IF, 0, 0);
		}
		finish(&b, 2);
		assert_int_equal(b.n_found, how == 2 ? 0 : 1);
		if (how != 2) {
			assert_int_equal(b.found[0].kind, PCTL_FINDING_DIVERGENT_BARRIER);
			assert_int_equal(b.found[0].count, 2);
			assert_int_equal(b.found[0].invocation, how == 0 ? 10 : 0);
			assert_int_equal(b.found[0].other_invocation, how == 0 ? 0 : 10);
		}
	}
}

/* The same buffer in two dispatches of one list: the second may read what the first wrote. */
static void dispatches_are_ordered(void **state)
{
	const uint32_t groups[3] = {2, 1, 1};
	pctl_binding binding = {0};
	pctl_completion done = {.head = PCTL_HEAD(pctl_completion)};
	pctl_kernel *k;
	pctl_list *l;
	uint64_t ticket, n_wire;
	uint8_t *wire;
	uint32_t n, capacity_asked;
	bench b;
	(void)state;

	start(&b);
	/* data[127 - gid] = gid: clean alone, and after itself */
	prog_store(&b.p, b.gid, b.data, 1,
		   prog_op(&b.p, PCTL_OP_SUB, b.p.u32, 2, u(&b, 127), b.gid));
	prog_load(&b.p, b.p.u32, b.data, 1, u(&b, 1000)); /* one miss: a finding of each dispatch */
	prog_end(&b.p, 64, 1, 1, &wire, &n_wire);
	assert_int_equal(b.r.api->kernel_build(b.r.dev, &b.r.call, wire, n_wire,
					       PCTL_BUILD_SANITIZE, NULL, 0, &k),
			 PCTL_OK);
	binding.n_bytes = 512;
	assert_int_equal(b.r.api->buffer_create(b.r.dev, &b.r.call, 512, PCTL_BUFFER_STORAGE,
						&binding.buffer),
			 PCTL_OK);
	b.r.api->list_begin(b.r.dev, &b.r.call, &l);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(b.r.api->list_dispatch(l, &b.r.call, k, &binding, 1, groups),
				 PCTL_OK);
		b.r.api->list_barrier(l, &b.r.call);
	}
	b.r.api->list_end(l, &b.r.call);
	assert_int_equal(b.r.api->submit(b.r.dev, &b.r.call, l, 3, &ticket), PCTL_OK);
	assert_int_equal(b.r.api->wait(b.r.dev, &b.r.call, ticket, 10000000000u, &done), PCTL_OK);
	/* Asking how many there are takes nothing away. */
	assert_int_equal(b.r.api->findings(b.r.dev, &b.r.call, 0, NULL, &capacity_asked), PCTL_OK);
	assert_int_equal(b.r.api->findings(b.r.dev, &b.r.call, 16, b.found, &n), PCTL_OK);
	assert_int_equal(n, 2);
	assert_int_equal(capacity_asked, 2);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(b.found[i].kind, PCTL_FINDING_OUT_OF_BOUNDS);
		assert_int_equal(b.found[i].dispatch, i);
		assert_int_equal(b.found[i].count, 3 * 128);
	}
	assert_int_equal(b.r.api->findings(b.r.dev, &b.r.call, 16, b.found, &n), PCTL_OK);
	assert_int_equal(n, 0);
	b.r.api->list_destroy(b.r.dev, l);
	b.r.api->buffer_destroy(b.r.dev, binding.buffer);
	b.r.api->kernel_destroy(b.r.dev, k);
	free(wire);
	rig_close(&b.r);
}

PCTL_TESTS_MAIN(PCTL_TEST(a_write_and_a_read_of_the_neighbour), PCTL_TEST(writes_of_one_place),
		PCTL_TEST(workgroups_race_in_spite_of_barriers),
		PCTL_TEST(many_readers_then_a_writer), PCTL_TEST(misses),
		PCTL_TEST(divergent_barriers), PCTL_TEST(dispatches_are_ordered))
