/* Matrix tiles of floats against an oracle written here in plain C (the host's fma, component by component), which shares nothing
 * with what it judges: as written on the reference, and as ordinary code and as a device's own tiles on the reference or on the
 * plugin that PCTL_TEST_PLUGIN names. Every shape, factors of f32 and f64, arrays of floats and of their bits, any order, strides and offsets
 * that are not aligned, arrays that end early; numbers whose sums are rounded, and NaN with payloads. */
#include <math.h>

#include "compiler/eval/specialise.h"
#include "compiler/legalize/legal.h"
#include "main.h"
#include "test_legalize_run.h"

#define GROUPS 2u
#define LOCAL 64u
#define SUBGROUPS (GROUPS * LOCAL / 32u)
#define N_SHAPES 12u
#define ELEMENTS 400u /* of a factor's array, and of the sums': some tiles end outside */
#define OUT 3000u     /* f64: 4 subgroups, 2 results each, some of it outside */
#define OUT_STEP 400u

typedef struct side {
	uint32_t columns; /* by columns */
	uint32_t offset, stride;
} side;

typedef struct kernel_case {
	uint32_t m, k, is_wide;
	uint32_t as_bits; /* arrays of integers */
	uint32_t width;	  /* components of an element of the factors' arrays */
	uint32_t shared;  /* the left factor comes through workgroup memory */
	side left, right, sum, out;
	uint32_t apart[3]; /* from a subgroup's left, right and sum to the next one's */
} kernel_case;

static uint32_t draw(uint32_t *at, uint32_t seed, uint32_t n)
{
	return (uint32_t)(rig_random(seed, (*at)++) >> 33) % n;
}

static side side_of(uint32_t *at, uint32_t seed, uint32_t line, int aligned)
{
	const uint32_t unit = aligned ? 4 : 1;
	side s;

	s.columns = draw(at, seed, 2);
	s.offset = unit * draw(at, seed, 30 / unit);
	s.stride = line + unit * draw(at, seed, 8 / unit);
	return s;
}

static kernel_case case_of(uint32_t shape, uint32_t seed)
{
	kernel_case c = {.m = shape & 1 ? 16 : 8, .k = 4u << shape / 2 % 3, .is_wide = shape >= 6};
	const int aligned = seed % 3 == 0;
	uint32_t at = 0;

	c.as_bits = draw(&at, seed, 2);
	c.width = 1u << draw(&at, seed, 3);
	c.shared = draw(&at, seed, 2);
	c.left = side_of(&at, seed, 16, aligned);
	c.right = side_of(&at, seed, 16, aligned);
	c.sum = side_of(&at, seed, 16, aligned);
	c.out = side_of(&at, seed, 16, aligned);
	for (uint32_t i = 0; i < 3; i++)
		c.apart[i] = 4 * draw(&at, seed, 24) + (aligned ? 0 : draw(&at, seed, 4));
	return c;
}

static const char *order(const side *s)
{
	return s->columns ? "col_major" : "row_major";
}

static void write_text(char *out, size_t n, const kernel_case *c)
{
	const char *type = c->is_wide ? "f64" : "f32";
	const char *scalar = c->is_wide ? c->as_bits ? "u64" : "f64" : c->as_bits ? "u32" : "f32";
	char element[32];
	const char *sum = c->as_bits ? "u64" : "f64";
	int used;

	snprintf(element, sizeof(element), c->width > 1 ? "vec%u<%s>" : "%.0u%s",
		 c->width > 1 ? c->width : 0, scalar);
	used = snprintf(
		out, n,
		"//# subgroup = 32\nenable chromium_experimental_subgroup_matrix;\n"
		"@group(0) @binding(0) var<storage, read> a: array<%s>;\n"
		"@group(0) @binding(1) var<storage, read> b: array<%s>;\n"
		"@group(0) @binding(2) var<storage, read> s: array<%s>;\n"
		"@group(0) @binding(3) var<storage, read_write> r: array<%s>;\n"
		"var<workgroup> t: array<%s, %u>;\n"
		"alias L = subgroup_matrix_left<%s, %u, %u>;\n"
		"alias R = subgroup_matrix_right<%s, 8, %u>;\n"
		"alias S = subgroup_matrix_result<f64, 8, %u>;\n"
		"fn twice(x: L, y: R, s: S) -> S {\n  var t = s;\n"
		"  for (var i = 0; i < 2; i++) { t = subgroupMatrixMultiplyAccumulate(x, y, t); }\n"
		"  return t;\n}\n"
		"@compute @workgroup_size(%u)\n"
		"fn main(@builtin(workgroup_id) g: vec3u, @builtin(local_invocation_index) l: u32) "
		"{\n"
		"  let n = g.x * %uu + l / 32u;\n"
		"  for (var i = l; i < %uu; i += %uu) { t[i] = a[i]; }\n  workgroupBarrier();\n"
		"  let x = subgroupMatrixLoad<L, %s>(&%s, n * %uu + %uu, %u);\n"
		"  let y = subgroupMatrixLoad<R>(&b, n * %uu + %uu, %s, %uu);\n"
		"  var sum = subgroupMatrixLoad<S, %s>(&s, i32(n) * %u + %u, %uu);\n"
		"  if g.x == 0u { sum = twice(x, y, sum); }\n"
		"  let once = subgroupMatrixMultiply<f64>(x, y);\n"
		"  subgroupMatrixStore<%s>(&r, n * %uu + %uu, sum, %uu);\n"
		"  subgroupMatrixStore(&r, n * %uu + %uu, once, %s, %uu);\n}\n",
		element, element, sum, sum, element, ELEMENTS / c->width, type, c->k, c->m, type,
		c->k, c->m, LOCAL, LOCAL / 32, ELEMENTS / c->width, LOCAL, order(&c->left),
		c->shared ? "t" : "a", c->apart[0], c->left.offset, c->left.stride, c->apart[1],
		c->right.offset, c->right.columns ? "true" : "false", c->right.stride,
		order(&c->sum), c->apart[2], c->sum.offset, c->sum.stride, order(&c->out),
		2 * OUT_STEP, c->out.offset, c->out.stride, 2 * OUT_STEP, OUT_STEP + c->out.offset,
		c->out.columns ? "true" : "false", c->out.stride);

	assert_true(used > 0 && (size_t)used < n);
}

/* ---- the oracle ---- */

typedef struct bytes {
	float a[ELEMENTS], b[ELEMENTS];
	double a_wide[ELEMENTS], b_wide[ELEMENTS];
	uint64_t s[ELEMENTS], r[OUT], want[OUT];
} bytes;

static uint64_t number(const side *s, uint32_t offset, uint32_t row, uint32_t column)
{
	return offset + (uint64_t)(s->columns ? column : row) * s->stride +
	       (s->columns ? row : column);
}

static double factor(const kernel_case *c, const float *narrow, const double *wide, uint64_t at)
{
	if (at >= ELEMENTS)
		return 0;
	return c->is_wide ? wide[at] : (double)narrow[at];
}

static uint64_t bits_of(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return x != x ? 0x7ff8000000000000u : bits;
}

static double chain(const kernel_case *c, const bytes *x, uint32_t n, uint32_t row, uint32_t column,
		    double sum)
{
	for (uint32_t k = 0; k < c->k; k++)
		sum = fma(factor(c, x->a, x->a_wide,
				 number(&c->left, n * c->apart[0] + c->left.offset, row, k)),
			  factor(c, x->b, x->b_wide,
				 number(&c->right, n * c->apart[1] + c->right.offset, k, column)),
			  sum);
	return sum;
}

static void expect_result(const kernel_case *c, bytes *x, uint32_t n, uint32_t row, uint32_t column)
{
	const uint64_t at = number(&c->sum, n * c->apart[2] + c->sum.offset, row, column);
	const uint64_t to = number(&c->out, n * 2 * OUT_STEP + c->out.offset, row, column);
	const uint64_t none = 0, from = at < ELEMENTS ? x->s[at] : none;
	double sum;

	memcpy(&sum, &from, sizeof(sum));
	if (n < LOCAL / 32)
		sum = chain(c, x, n, row, column, chain(c, x, n, row, column, sum));
	if (to < OUT)
		x->want[to] = bits_of(sum);
	if (to + OUT_STEP < OUT)
		x->want[to + OUT_STEP] = bits_of(chain(c, x, n, row, column, 0));
}

/* Of numbers near each other every sum is rounded; one in sixteen is anything. */
static uint64_t wide_bits(uint64_t x)
{
	return x >> 60 ? (x & ~(0x7ffull << 52)) | (1019 + (x >> 57 & 7)) << 52
		       : x * 0x9e3779b97f4a7c15u;
}

static uint32_t narrow_bits(uint64_t x)
{
	const uint32_t low = (uint32_t)x;

	return x >> 60 ? (low & ~0x7f800000u) | (uint32_t)(123 + (x >> 57 & 7)) << 23
		       : low & (x >> 59 & 1 ? 0x807fffffu : 0xffffffffu);
}

static void fill(bytes *x, const kernel_case *c, uint32_t seed)
{
	for (uint32_t i = 0; i < ELEMENTS; i++) {
		uint32_t narrow = narrow_bits(rig_random(seed, 1000 + i));
		uint64_t wide = wide_bits(rig_random(seed, 4000 + i));

		memcpy(&x->a[i], &narrow, 4);
		memcpy(&x->a_wide[i], &wide, 8);
		narrow = narrow_bits(rig_random(seed, 2000 + i));
		wide = wide_bits(rig_random(seed, 5000 + i));
		memcpy(&x->b[i], &narrow, 4);
		memcpy(&x->b_wide[i], &wide, 8);
		x->s[i] = i % 31 ? wide_bits(rig_random(seed, 3000 + i)) : 0xfff0000000000001u + i;
	}
	memset(x->r, 0xa5, sizeof(x->r));
	memset(x->want, 0xa5, sizeof(x->want));
	for (uint32_t n = 0; n < SUBGROUPS; n++)
		for (uint32_t row = 0; row < c->m; row++)
			for (uint32_t column = 0; column < 8; column++)
				expect_result(c, x, n, row, column);
}

/* ---- runs ---- */

static int is_quiet; /* what is planted is meant to differ */

static uint32_t run_program(rig *r, const pctl_program *p, const kernel_case *c, uint32_t seed,
			    const char *where)
{
	static bytes x;
	const rig_bytes arrays[4] = {
		{c->is_wide ? (void *)x.a_wide : x.a, ELEMENTS * (c->is_wide ? 8 : 4), 0},
		{c->is_wide ? (void *)x.b_wide : x.b, ELEMENTS * (c->is_wide ? 8 : 4), 0},
		{x.s, sizeof(x.s), 0},
		{x.r, sizeof(x.r), 0}};
	uint32_t bad = 0;

	fill(&x, c, seed);
	run_on(r, p, arrays, 4, GROUPS);
	for (uint32_t i = 0; i < OUT; i++) {
		if (x.r[i] == x.want[i] || bad++ >= 4 || is_quiet)
			continue;
		fprintf(stderr, "%s, seed %u, %ux8x%u of %s: f64 %u is 0x%016llx, not 0x%016llx\n",
			where, seed, c->m, c->k, c->is_wide ? "f64" : "f32", i,
			(unsigned long long)x.r[i], (unsigned long long)x.want[i]);
	}
	return bad;
}

/* With PCTL_CAP_TILES in caps: as a device's own. */
static pctl_program *legalised(legal_kernel *k, const pctl_program *p, uint64_t caps)
{
	const pctl_device_caps device = {.head = PCTL_HEAD(pctl_device_caps), .caps = caps};
	const pctl_legal_options options = {.head = PCTL_HEAD(pctl_legal_options),
					    .forms = k->forms,
					    .subgroup_size = 32,
					    .subgroup_kinds = PCTL_SUBGROUP_KINDS,
					    .tile_products = PCTL_TILE_PRODUCTS};
	pctl_program *out = NULL;

	rig_must(&k->r, pctl_legalise(p, &device, &options, &k->r.call, &out), "legalising");
	return out;
}

static uint32_t kind_count(const pctl_program *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_insts; i++)
		n += pctl_op_get(p->insts[i].op)->kind == PCTL_OPKIND_tile;
	return n;
}

static int is_taken(rig *device, const pctl_program *p)
{
	pctl_support support = {.head = PCTL_HEAD(pctl_support)};
	uint8_t *wire = NULL;
	uint64_t n = 0;

	rig_must(device, pctl_program_encode(p, &device->call, &wire, &n), "its wire form");
	rig_must(device, device->api->supports(device->dev, &device->call, wire, n, &support),
		 "asking whether the device takes it");
	free(wire);
	return support.supported != 0;
}

static void open_case(legal_kernel *k, const kernel_case *c)
{
	static char text[8192];
	pctl_program *p = NULL;

	write_text(text, sizeof(text), c);
	kernel_open(k, text);
	rig_must(&k->r, pctl_program_specialise(k->p, "main", NULL, 0, &k->r.call, &p),
		 "one entry");
	pctl_program_destroy(k->p);
	k->p = p;
}

/* device NULL: as written. */
static uint32_t run_shape(uint32_t shape, uint32_t seed, rig *device, int native, uint32_t *n_run)
{
	const kernel_case c = case_of(shape, seed);
	pctl_program *made;
	legal_kernel k;
	uint32_t bad = 0;

	open_case(&k, &c);
	assert_true(k.p->caps & PCTL_CAP_TILES);
	assert_true(k.p->caps & PCTL_CAP_F64);
	assert_int_equal(kind_count(k.p), 7);
	if (!device) {
		bad = run_program(&k.r, k.p, &c, seed, "as written");
	} else {
		made = legalised(&k, k.p,
				 native ? device->caps.caps | PCTL_CAP_TILES | PCTL_CAP_SUBGROUPS |
						  PCTL_CAP_F64 | PCTL_CAP_I64
					: device->caps.caps & ~(uint64_t)PCTL_CAP_TILES);
		assert_int_equal(kind_count(made) > 0, native);
		if (is_taken(device, made)) {
			(*n_run)++;
			bad = run_program(device, made, &c, seed,
					  native ? "the device's own" : "ordinary code");
		}
		pctl_program_destroy(made);
	}
	kernel_close(&k);
	return bad;
}

static void test_legalize_tile_float__as_written(void **state)
{
	uint32_t bad = 0;

	(void)state;
	for (uint32_t i = 0; i < 6 * N_SHAPES; i++)
		bad += run_shape(i % N_SHAPES, i, NULL, 0, NULL);
	assert_int_equal(bad, 0);
}

static void run_all(int native)
{
	const char *path = getenv("PCTL_TEST_PLUGIN"), *most = getenv("PCTL_TEST_SHAPES");
	const uint32_t n = most ? (uint32_t)atoi(most) : (native ? 5 : 2) * N_SHAPES;
	uint32_t bad = 0, n_run = 0;
	rig device;

	rig_open(&device, path ? path : PIPECTL_BINARY_DIR "/plugins/cpu.so");
	device.loud = 1;
	for (uint32_t i = 0; i < n; i++)
		bad += run_shape((i + i / N_SHAPES) * 5 % N_SHAPES, i, &device, native, &n_run);
	if (path)
		printf("%s: %u of %u kernels taken, %u f64 wrong\n",
		       native ? "tiles of its own" : "ordinary code", n_run, n, bad);
	/* A device without f64 and 64-bit integers of its own has them written out. */
	if (!native)
		assert_int_equal(n_run, n);
	else if (!path)
		assert_true(n_run == n);
	rig_close(&device);
	assert_int_equal(bad, 0);
}

static void test_legalize_tile_float__ordinary_code(void **state)
{
	(void)state;
	run_all(0);
}

static void test_legalize_tile_float__native(void **state)
{
	(void)state;
	run_all(1);
}

/* ---- that it can fail ---- */

static uint32_t run_planted(uint16_t op, uint16_t done_as)
{
	uint32_t found = 0, bad = 0;

	for (uint32_t seed = 0; seed < 12; seed++) {
		const kernel_case c = case_of(seed, seed);
		legal_kernel k;

		open_case(&k, &c);
		for (uint32_t i = 0; i < k.p->n_insts; i++) {
			if (k.p->insts[i].op == op) {
				k.p->insts[i].op = done_as;
				found++;
			}
		}
		bad += run_program(&k.r, k.p, &c, seed, "planted");
		kernel_close(&k);
	}
	assert_true(found);
	return bad;
}

static void test_legalize_tile_float__another_order_is_seen(void **state)
{
	(void)state;
	is_quiet = 1;
	assert_true(run_planted(PCTL_OP_TILE_LOAD_ROWS, PCTL_OP_TILE_LOAD_COLUMNS) > 0);
	assert_true(run_planted(PCTL_OP_TILE_LOAD_COLUMNS, PCTL_OP_TILE_LOAD_ROWS) > 0);
	assert_true(run_planted(PCTL_OP_TILE_STORE_ROWS, PCTL_OP_TILE_STORE_COLUMNS) > 0);
	is_quiet = 0;
}

/* Sums from the other end of K: strides along it are negative, modulo 2^32, in both factors. */
static void test_legalize_tile_float__another_sum_is_seen(void **state)
{
	uint32_t bad = 0;

	(void)state;
	is_quiet = 1;
	for (uint32_t seed = 0; seed < 6; seed++) {
		kernel_case c = case_of(2 + 2 * seed % 10, seed), planted;
		legal_kernel k;

		c.left.columns = 1;
		c.right.columns = 0;
		planted = c;
		planted.left.offset += (c.k - 1) * c.left.stride;
		planted.left.stride = 0u - c.left.stride;
		planted.right.offset += (c.k - 1) * c.right.stride;
		planted.right.stride = 0u - c.right.stride;
		open_case(&k, &c);
		assert_int_equal(run_program(&k.r, k.p, &c, seed, "not planted"), 0);
		kernel_close(&k);
		open_case(&k, &planted);
		bad += run_program(&k.r, k.p, &c, seed, "planted");
		kernel_close(&k);
	}
	is_quiet = 0;
	assert_true(bad > 50);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_legalize_tile_float__another_order_is_seen),
		PCTL_TEST(test_legalize_tile_float__another_sum_is_seen),
		PCTL_TEST(test_legalize_tile_float__as_written),
		PCTL_TEST(test_legalize_tile_float__native),
		PCTL_TEST(test_legalize_tile_float__ordinary_code))
