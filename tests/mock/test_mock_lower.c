/* Programs lowered wrongly: each fault changes the results it is about, in scalars and vectors, and no others; late ones
 * spare what is built outside of a job. */
#include "device_fixture.h"

#include <math.h>

#include "runtime/device/limits.h"

static uint32_t bits(float f)
{
	uint32_t u;

	memcpy(&u, &f, 4);
	return u;
}

static float value(uint32_t u)
{
	float f;

	memcpy(&f, &u, 4);
	return f;
}

static float flush(float f)
{
	return (bits(f) & 0x7f800000) == 0 ? value(bits(f) & 0x80000000) : f;
}

/* Operands of case i: values whose product and sums round, and subnormals. */
static const uint32_t cases[][3] = {
	{0x3f800001, 0x3f800001, 0xbf800002}, /* fma keeps what the product loses */
	{0x3fffffff, 0x3f8ccccd, 0x42280000},
	{0x4b800000, 0x3f800000, 0x3f800000}, /* 2^24 + 1 + 1 */
	{0x00000003, 0x3f800000, 0x00000001}, /* subnormals */
	{0x0d800000, 0x2e800000, 0x80000001}, /* a subnormal product */
	{0x3f800000, 0x40000000, 0x40400000},
};
#define N (uint32_t)(sizeof(cases) / sizeof(cases[0]))

enum { RIGHT, CONTRACT, FLUSH, COEFFICIENT, TREE, NAN_BITS };

/* What the kernel of device_floats writes for a case. */
static void expect(int fault, const uint32_t in[3], uint32_t out[DEVICE_FLOATS_OUT])
{
	float x = value(in[0]), y = value(in[1]), z = value(in[2]);
	volatile float product, sum;

	if (fault == FLUSH) {
		x = flush(x);
		y = flush(y);
		z = flush(z);
	}
	product = x * y;
	if (fault == FLUSH)
		product = flush(product);
	sum = fault == CONTRACT ? fmaf(x, y, z) : product + z;
	out[0] = bits(fault == FLUSH ? flush(sum) : sum);
	sum = fault == TREE ? y + z : x + y;
	if (fault == FLUSH)
		sum = flush(sum);
	sum = fault == TREE ? x + sum : sum + z;
	out[1] = bits(fault == FLUSH ? flush(sum) : sum);
	product = x * value(fault == COEFFICIENT ? 0x3fc00001 : 0x3fc00000);
	out[2] = bits(fault == FLUSH ? flush(product) : product);
	out[3] = fault == NAN_BITS ? 0x7fc00001 : 0x7fc00000;
}

static void run_floats(device_fixture *b, int fault)
{
	uint32_t got[N * DEVICE_FLOATS_OUT], want[DEVICE_FLOATS_OUT];
	pctl_buffer *in = device_buffer(b, &cases[0][0], N * 3),
		    *out = device_buffer(b, NULL, N * 4);
	pctl_kernel *k = device_floats(b);
	pctl_list *l = device_list(b);
	uint32_t differing = 0;

	device_record(b, l, k, in, sizeof(cases), out, sizeof(got), N);
	assert_int_equal(b->t->list_end(l, &b->call), PCTL_OK);
	assert_int_equal(device_run(b, l, 1), PCTL_OK);
	device_read(b, out, got, N * DEVICE_FLOATS_OUT);
	for (uint32_t i = 0; i < N; i++) {
		uint32_t right[DEVICE_FLOATS_OUT];

		expect(fault, cases[i], want);
		expect(RIGHT, cases[i], right);
		for (uint32_t k2 = 0; k2 < DEVICE_FLOATS_OUT; k2++) {
			if (got[4 * i + k2] != want[k2])
				fail_msg("fault %d, case %u, result %u: 0x%08x, not 0x%08x", fault,
					 i, k2, got[4 * i + k2], want[k2]);
			differing += want[k2] != right[k2];
		}
	}
	/* A fault that changes nothing would prove nothing. */
	assert_true(fault == RIGHT ? differing == 0 : differing > 0);
	b->t->list_destroy(b->dev, l);
	b->t->kernel_destroy(b->dev, k);
	b->t->buffer_destroy(b->dev, in);
	b->t->buffer_destroy(b->dev, out);
}

/* Case 2j and 2j + 1 side by side in vectors. */
static void run_vectors(device_fixture *b, int fault)
{
	uint32_t in_words[N * 3], got[N * 4];
	pctl_buffer *in, *out;
	pctl_kernel *k;
	pctl_list *l;

	for (uint32_t j = 0; j < N / 2; j++)
		for (uint32_t c = 0; c < 3; c++)
			for (uint32_t lane = 0; lane < 2; lane++)
				in_words[6 * j + 2 * c + lane] = cases[2 * j + lane][c];
	in = device_buffer(b, in_words, N * 3);
	out = device_buffer(b, NULL, N * 4);
	k = device_vectors(b);
	l = device_list(b);
	device_record(b, l, k, in, sizeof(in_words), out, sizeof(got), N / 2);
	assert_int_equal(b->t->list_end(l, &b->call), PCTL_OK);
	assert_int_equal(device_run(b, l, 1), PCTL_OK);
	device_read(b, out, got, N * 4);
	for (uint32_t i = 0; i < N; i++) {
		uint32_t want[DEVICE_FLOATS_OUT];

		expect(fault, cases[i], want);
		for (uint32_t r = 0; r < 2; r++)
			if (got[8 * (i / 2) + 2 * r + i % 2] != want[r])
				fail_msg(
					"fault %d, vectors, case %u, result %u: 0x%08x, not 0x%08x",
					fault, i, r, got[8 * (i / 2) + 2 * r + i % 2], want[r]);
	}
	b->t->list_destroy(b->dev, l);
	b->t->kernel_destroy(b->dev, k);
	b->t->buffer_destroy(b->dev, in);
	b->t->buffer_destroy(b->dev, out);
}

static const struct {
	const char *name;
	int fault;
} faults[] = {
	{"contract", CONTRACT}, {"flush", FLUSH},  {"coefficient", COEFFICIENT},
	{"tree", TREE},		{"nan", NAN_BITS},
};
#define N_FAULTS (sizeof(faults) / sizeof(faults[0]))

static void lower__without_a_fault_floats_are_exact(void **state)
{
	device_fixture b;

	(void)state;
	device_open(&b, "mock:wrap=cpu", 0);
	run_floats(&b, RIGHT);
	run_vectors(&b, RIGHT);
	device_close(&b);
}

static void lower__each_fault_changes_its_own_results(void **state)
{
	device_fixture b;

	(void)state;
	for (size_t i = 0; i < N_FAULTS; i++) {
		char selector[64];

		snprintf(selector, sizeof(selector), "mock:wrap=cpu+%s", faults[i].name);
		device_open(&b, selector, i % 2 ? PCTL_INSTANCE_IN_PROCESS : 0);
		run_floats(&b, faults[i].fault);
		run_vectors(&b, faults[i].fault);
		device_close(&b);
	}
}

static void lower__late_faults_spare_what_no_job_built(void **state)
{
	device_fixture b;

	(void)state;
	for (size_t i = 0; i < N_FAULTS; i++) {
		char selector[64];

		snprintf(selector, sizeof(selector), "mock:wrap=cpu+late-%s", faults[i].name);
		device_open(&b, selector, i % 2 ? 0 : PCTL_INSTANCE_IN_PROCESS);
		run_floats(&b, RIGHT);
		b.call.trace_id = pctl_trace("prices", 0, 0);
		run_floats(&b, faults[i].fault);
		b.call.trace_id = 0;
		run_floats(&b, RIGHT);
		device_close(&b);
	}
}

/* Constant number 2 is the NaN; there is no third, and no table. */
static void lower__a_coefficient_is_chosen_by_number(void **state)
{
	device_fixture b;

	(void)state;
	device_open(&b, "mock:wrap=cpu+coefficient=2", 0);
	run_floats(&b, NAN_BITS);
	device_close(&b);
	device_open(&b, "mock:wrap=cpu+coefficient=3", 0);
	run_floats(&b, RIGHT);
	device_close(&b);
}

/* What a table says of a driver is rechecked on the device that is here. */
static void limits__known_ones_are_rechecked(void **state)
{
	static const struct {
		const char *selector;
		int right;
	} devices[] = {{"mock:wrap=cpu", 1},
		       {"mock:wrap=cpu+turns=20000", 0},
		       {"mock:wrap=cpu+nest=60", 0},
		       {"mock:wrap=cpu+array=2048", 0},
		       {"mock:wrap=cpu+table=2048", 0},
		       /* of long functions nothing is asked: they are only slow */
		       {"mock:wrap=cpu+long=3000", 1}};
	const pctl_extent_limits known = {.most = {[PCTL_EXTENT_TURNS] = 40000,
						   [PCTL_EXTENT_NESTING] = 72,
						   [PCTL_EXTENT_ARRAY] = 4096,
						   [PCTL_EXTENT_TABLES] = 32768}};

	(void)state;
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		pctl_device_caps caps = {.head = PCTL_HEAD(pctl_device_caps)};
		int right = -1;
		device_fixture b;

		device_open(&b, devices[i].selector, 0);
		assert_int_equal(b.t->device_caps(b.dev, &b.call, &caps), PCTL_OK);
		assert_int_equal(
			pctl_probe_known_limits(b.t, b.dev, &caps, &b.call, &known, &right),
			PCTL_OK);
		assert_int_equal(right, devices[i].right);
		device_close(&b);
	}
}

typedef struct sized_fault {
	const char *selector;
	uint32_t extent;
	uint64_t least, most;
} sized_fault;

/* Searches a device's limits: each of the faults is found, and what is beyond them is at most `n_most` limits in all. */
static void searched(const char *selector, const sized_fault *faults_of, size_t n_faults,
		     uint32_t n_most)
{
	pctl_device_caps caps = {.head = PCTL_HEAD(pctl_device_caps)};
	pctl_extent_limits found;
	uint32_t slow, n = 0;
	int lost = -1;
	device_fixture b;

	device_open(&b, selector, 0);
	assert_int_equal(b.t->device_caps(b.dev, &b.call, &caps), PCTL_OK);
	assert_int_equal(pctl_probe_limits(b.t, b.dev, &caps, &b.call, &found, &slow, &lost),
			 PCTL_OK);
	assert_int_equal(lost, 0);
	for (uint32_t e = 0; e < PCTL_N_EXTENTS; e++)
		n += found.most[e] != 0;
	for (size_t i = 0; i < n_faults; i++) {
		uint64_t most = found.most[faults_of[i].extent];

		if (most < faults_of[i].least || most > faults_of[i].most)
			fail_msg("%s: %s %llu", selector, pctl_extent_key(faults_of[i].extent),
				 (unsigned long long)most);
	}
	assert_true(n <= n_most);
	device_close(&b);
}

/* Where nothing is known: each extent is found, and nothing else is blamed. What is right up to the bounds has no limit, but
 * for tables, of which policies allow more than is asked for. A search takes seconds: by day one device has all the faults,
 * and one a single one. */
static void limits__unknown_ones_are_found(void **state)
{
	static const sized_fault devices[] = {
		{"mock:wrap=cpu", PCTL_EXTENT_TABLES, 262144, 262144},
		{"mock:wrap=cpu+turns=20000", PCTL_EXTENT_TURNS, 20000, 20020},
		{"mock:wrap=cpu+nest=60", PCTL_EXTENT_NESTING, 60, 62},
		{"mock:wrap=cpu+array=2048", PCTL_EXTENT_ARRAY, 1792, 2048},
		{"mock:wrap=cpu+array=2048", PCTL_EXTENT_WORKGROUP, 1, 2048},
		{"mock:wrap=cpu+table=32768", PCTL_EXTENT_TABLES, 28672, 32768},
		{"mock:wrap=cpu+long=6000", PCTL_EXTENT_INSTRUCTIONS, 3000, 6100}};
	const size_t n_devices = sizeof(devices) / sizeof(devices[0]);

	(void)state;
	if (pctl_test_more()) {
		for (size_t i = 0; i < n_devices; i++)
			searched(devices[i].selector, &devices[i], 1, 3);
		return;
	}
	searched("mock:wrap=cpu+turns=20000+nest=60+array=2048+table=32768+long=6000", devices + 1,
		 n_devices - 1, PCTL_N_EXTENTS);
	searched(devices[2].selector, &devices[2], 1, 3);
}

PCTL_TESTS_MAIN(PCTL_TEST(limits__unknown_ones_are_found),
		PCTL_TEST(limits__known_ones_are_rechecked),
		PCTL_TEST(lower__without_a_fault_floats_are_exact),
		PCTL_TEST(lower__each_fault_changes_its_own_results),
		PCTL_TEST(lower__late_faults_spare_what_no_job_built),
		PCTL_TEST(lower__a_coefficient_is_chosen_by_number))
