/* An operation gives the same whatever else stands in its kernel: shapes that compilers know and write in another way,
 * alone and beside quotients, against the arithmetic of the host. */
#include "evidence/suite/trial.h"

#define ITEMS 1024u
#define RESULTS 8u

static const char *const entries[] = {"alone", "quotient", "known_divisor", "signed_quotient",
				      "words"};

/* Around the borders in the first shape, of any length in the second; in the third the leading bits of one number at two
 * lengths, up to 1 apart. (The committed certificates hold digests of these very numbers.) */
static uint64_t operand(suite_trial *t, uint32_t i, uint32_t side)
{
	static const uint64_t edges[] = {0,
					 1,
					 2,
					 UINT32_MAX,
					 UINT64_C(1) << 31,
					 UINT64_C(1) << 32,
					 (UINT64_C(1) << 32) + 1,
					 INT64_MAX,
					 UINT64_C(1) << 63,
					 UINT64_MAX - UINT32_MAX,
					 UINT64_MAX - 1,
					 UINT64_MAX};
	const uint32_t n = sizeof(edges) / sizeof(edges[0]);
	const uint64_t r = suite_mix(t->context->seed + 31 * t->p[1] + side, i);
	const uint64_t first = suite_mix(t->context->seed + 31 * t->p[1], i) >> (r & 63);

	if (t->p[1] == 0)
		return edges[side ? i / n % n : i % n];
	return t->p[1] == 1 ? r >> (r & 63) : side ? first + (r >> 8) % 3 - 1 : first;
}

static uint64_t turned(uint64_t x, uint64_t by, uint32_t bits)
{
	const uint64_t mask = bits - 1, all = bits == 64 ? UINT64_MAX : UINT32_MAX;

	return ((x << (by & mask)) | (x >> ((bits - (by & mask)) & mask))) & all;
}

/* What the kernels' shapes mean, in words of `bits`. */
static void shapes(uint64_t x, uint64_t y, uint32_t bits, uint64_t *out)
{
	const uint64_t all = bits == 64 ? UINT64_MAX : UINT32_MAX;
	const uint64_t less = x < y ? x : y, more = x < y ? y : x;

	out[0] = x < y ? 0 : x - y;
	out[1] = all - x < y ? all : x + y;
	out[2] = more - less;
	out[3] = (x > y ? x - y : 0) + more;
	out[4] = turned(x, y, bits);
	out[5] = less * more - (x ^ y);
	for (uint32_t i = 0; i < 6; i++)
		out[i] &= all;
}

/* What does not fit is the border on the side of x. */
static uint64_t cut(int64_t x, int overflows, int64_t v)
{
	return (uint64_t)(!overflows ? v : x < 0 ? INT64_MIN : INT64_MAX);
}

static void shapes_signed(int64_t x, int64_t y, uint64_t *out)
{
	const int64_t less = x < y ? x : y, more = x < y ? y : x;
	const uint64_t apart = (uint64_t)more - (uint64_t)less;
	int64_t v;
	int over = __builtin_sub_overflow(x, y, &v);

	out[0] = cut(x, over, v);
	over = __builtin_add_overflow(x, y, &v);
	out[1] = cut(x, over, v);
	out[2] = apart;
	out[3] = (x > y ? apart : 0) + (uint64_t)more;
	out[4] = (uint64_t)(x >> (y & 63)) ^ (uint64_t)y;
	out[5] = (uint64_t)less * (uint64_t)more - ((uint64_t)x ^ (uint64_t)y);
}

static void expect(uint32_t which, uint64_t x, uint64_t y, uint64_t out[RESULTS])
{
	const int64_t sx = (int64_t)x, sy = (int64_t)y;

	if (which == 3)
		shapes_signed(sx, sy, out);
	else if (which == 4)
		shapes(x & UINT32_MAX, y & UINT32_MAX, 32, out);
	else
		shapes(x, y, 64, out);
	switch (which) {
	case 0:
		out[6] = x * y;
		out[7] = x & y;
		break;
	case 1:
		out[6] = x / (y | 1);
		out[7] = y % (x | 1);
		break;
	case 2:
		out[6] = x / 1000003;
		out[7] = y % 0x100000007;
		break;
	case 3: /* the lowest number by -1 is itself and leaves nothing */
		out[6] = sx == INT64_MIN && (sy | 1) == -1 ? x : (uint64_t)(sx / (sy | 1));
		out[7] = sy == INT64_MIN && (sx | 1) == -1 ? 0 : (uint64_t)(sy % (sx | 1));
		break;
	default:
		out[6] = (x & UINT32_MAX) / ((y & UINT32_MAX) | 1);
		out[7] = x / (y | 1);
	}
}

static pctl_status trial(suite_trial *t)
{
	const pctl_kernel_module *unit;
	suite_work w = {.times = 1};
	uint64_t want[ITEMS * RESULTS], *x, *y;
	uint32_t b[3];
	pctl_status status = suite_kernel(t, "beside.wgsl", entries[t->p[0]], 0, &unit);

	if (status != PCTL_OK)
		return status;
	b[0] = suite_buffer_add(&w, SUITE_IN, NULL, 8ull * ITEMS);
	b[1] = suite_buffer_add(&w, SUITE_IN, NULL, 8ull * ITEMS);
	b[2] = suite_buffer_add(&w, SUITE_OUT, NULL, sizeof(want));
	if (!w.failed) {
		x = (uint64_t *)(void *)suite_data(&w, b[0]);
		y = (uint64_t *)(void *)suite_data(&w, b[1]);
		for (uint32_t i = 0; i < ITEMS; i++) {
			x[i] = operand(t, i, 0);
			y[i] = operand(t, i, 1);
			expect(t->p[0], x[i], y[i], &want[(size_t)i * RESULTS]);
		}
	}
	suite_step_add(&w, unit, ITEMS / 64, b, 3);
	status = suite_run(t, t->context->device, &w);
	if (status == PCTL_OK)
		suite_words(t, entries[t->p[0]], suite_data(&w, b[2]),
			    (const uint32_t *)(const void *)want, ITEMS * RESULTS * 2);
	suite_work_drop(&w);
	return status;
}

static const uint32_t sets[][SUITE_PARAMS] = {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1},
					      {1, 2}, {2, 0}, {2, 1}, {2, 2}, {3, 0},
					      {3, 1}, {3, 2}, {4, 0}, {4, 1}, {4, 2}};

const suite_unit suite_neighbours[] = {
	{.name = "context-free",
	 .law = "an operation gives the same whatever else stands in its kernel",
	 .domain = "shapes of 64 and 32 bits beside quotients",
	 .param = {"kernel", "shape"},
	 .sets = sets,
	 .n_sets = sizeof(sets) / sizeof(sets[0]),
	 .per_block = 3,
	 .trial = trial}};
const uint32_t suite_n_neighbours = sizeof(suite_neighbours) / sizeof(suite_neighbours[0]);
