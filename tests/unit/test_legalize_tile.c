/* Matrix tiles against an oracle written here in plain C, which shares nothing with what it judges: as written on the
 * reference, and as ordinary code and as a device's own tiles on the reference or on the plugin that PCTL_TEST_PLUGIN names.
 * Every size, both signs, any order, strides and offsets that fall between words, arrays that end early, lanes that disagree. */
#include "compiler/analysis/extents.h"
#include "compiler/eval/specialise.h"
#include "compiler/legalize/legal.h"
#include "main.h"
#include "test_legalize_run.h"

#define GROUPS 2u
#define LOCAL 64u
#define SUBGROUPS (GROUPS * LOCAL / 32u)
#define N_SHAPES 16u
#define WORDS 400u	/* of a factor's array: some tiles end outside */
#define OUT_WORDS 4000u /* 4 subgroups, 2 results each, some of it outside */
#define OUT_STEP 520u

typedef struct side {
	uint32_t columns; /* by columns */
	uint32_t offset, stride;
} side;

typedef struct kernel_case {
	uint32_t m, n, k, is_signed;
	uint32_t shared; /* the left factor comes through workgroup memory */
	side left, right, sum, out;
	uint32_t apart[3]; /* from a subgroup's left, right and sum to the next one's */
} kernel_case;

static uint32_t draw(uint32_t *at, uint32_t seed, uint32_t n)
{
	return (uint32_t)(rig_random(seed, (*at)++) >> 33) % n;
}

static kernel_case case_of(uint32_t shape, uint32_t seed)
{
	kernel_case c = {.m = shape & 1 ? 16 : 8,
			 .n = shape & 2 ? 16 : 8,
			 .k = shape & 4 ? 32 : 16,
			 .is_signed = shape >> 3};
	uint32_t at = 0;

	c.shared = draw(&at, seed, 3) == 0;
	c.left = (side){draw(&at, seed, 2), draw(&at, seed, 9), 1 + draw(&at, seed, 60)};
	c.right = (side){draw(&at, seed, 2), draw(&at, seed, 9), 1 + draw(&at, seed, 60)};
	c.sum = (side){draw(&at, seed, 2), draw(&at, seed, 40), draw(&at, seed, 20)};
	c.out = (side){draw(&at, seed, 2), draw(&at, seed, 5), 0};
	c.apart[0] = 7;
	c.apart[1] = 5;
	c.apart[2] = 1;
	c.out.stride = (c.out.columns ? c.m : c.n) + draw(&at, seed, 4);
	if (seed % 3 == 0) { /* what real programs have: whole words, some of them outside */
		c.left.stride = c.right.stride = 32 + 16 * draw(&at, seed, 3);
		c.left.offset = c.right.offset = 16 * draw(&at, seed, 2);
		c.apart[0] = c.apart[1] = 16;
		c.apart[2] = c.sum.stride = 4 * (1 + draw(&at, seed, 6));
		c.sum.offset = c.out.offset = 4;
		c.out.stride = 16 + 4 * draw(&at, seed, 4);
	}
	return c;
}

static const char *order(const side *s)
{
	return s->columns ? "col_major" : "row_major";
}

static void write_text(char *out, size_t n, const kernel_case *c)
{
	const char *w = c->is_signed ? "i32" : "u32", *b = c->is_signed ? "i8" : "u8";
	const int used = snprintf(
		out, n,
		"//# subgroup = 32\nenable chromium_experimental_subgroup_matrix;\n"
		"@group(0) @binding(0) var<storage, read> a: array<%s>;\n"
		"@group(0) @binding(1) var<storage, read> b: array<%s>;\n"
		"@group(0) @binding(2) var<storage, read> s: array<%s>;\n"
		"@group(0) @binding(3) var<storage, read_write> r: array<%s>;\n"
		"var<workgroup> t: array<%s, %u>;\n"
		"alias L = subgroup_matrix_left<%s, %u, %u>;\n"
		"alias R = subgroup_matrix_right<%s, %u, %u>;\n"
		"alias S = subgroup_matrix_result<%s, %u, %u>;\n"
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
		"  sum = twice(x, y, sum);\n"
		"  if g.x == 1u { var none: S; sum = subgroupMatrixMultiplyAccumulate(x, y, none); "
		"}\n"
		"  let once = subgroupMatrixMultiply<%s>(x, y);\n"
		"  subgroupMatrixStore<%s>(&r, n * %uu + %uu, sum, %uu);\n"
		"  subgroupMatrixStore(&r, n * %uu + %uu, once, %s, %uu);\n}\n",
		w, w, w, w, w, WORDS, b, c->k, c->m, b, c->n, c->k, w, c->n, c->m, LOCAL,
		LOCAL / 32, WORDS, LOCAL, order(&c->left), c->shared ? "t" : "a", c->apart[0],
		c->left.offset, c->left.stride, c->apart[1], c->right.offset,
		c->right.columns ? "true" : "false", c->right.stride, order(&c->sum), c->apart[2],
		c->sum.offset, c->sum.stride, w, order(&c->out), 2 * OUT_STEP, c->out.offset,
		c->out.stride, 2 * OUT_STEP, OUT_STEP + c->out.offset,
		c->out.columns ? "true" : "false", c->out.stride);

	assert_true(used > 0 && (size_t)used < n);
}

/* ---- the oracle ---- */

static uint64_t number(const side *s, uint32_t offset, uint32_t row, uint32_t column)
{
	return offset + (uint64_t)(s->columns ? column : row) * s->stride +
	       (s->columns ? row : column);
}

static int64_t byte_at(const uint32_t *words, uint64_t at, int is_signed)
{
	const uint8_t byte = (uint8_t)(at / 4 < WORDS ? words[at / 4] >> 8 * (at % 4) & 0xffu : 0u);

	return is_signed ? (int8_t)byte : byte;
}

typedef struct bytes {
	uint32_t a[WORDS], b[WORDS], s[WORDS], r[OUT_WORDS], want[OUT_WORDS];
} bytes;

static void expect_result(const kernel_case *c, bytes *x, uint32_t n, uint32_t row, uint32_t column)
{
	const uint64_t at = number(&c->sum, n * c->apart[2] + c->sum.offset, row, column);
	const uint32_t base = n * 2 * OUT_STEP + c->out.offset;
	const uint64_t to = number(&c->out, base, row, column);
	uint64_t once = 0, sum = at < WORDS ? x->s[at] : 0;

	for (uint32_t k = 0; k < c->k; k++)
		once += (uint64_t)(byte_at(x->a,
					   number(&c->left, n * c->apart[0] + c->left.offset, row,
						  k),
					   (int)c->is_signed) *
				   byte_at(x->b,
					   number(&c->right, n * c->apart[1] + c->right.offset, k,
						  column),
					   (int)c->is_signed));
	sum = n / (LOCAL / 32) == 1 ? once : sum + 2 * once;
	if (to < OUT_WORDS)
		x->want[to] = (uint32_t)sum;
	if (to + OUT_STEP < OUT_WORDS)
		x->want[to + OUT_STEP] = (uint32_t)once;
}

static void fill(bytes *x, const kernel_case *c, uint32_t seed)
{
	for (uint32_t i = 0; i < WORDS; i++) {
		x->a[i] = (uint32_t)rig_random(seed, 1000 + i);
		x->b[i] = i % 7 ? (uint32_t)rig_random(seed, 2000 + i) : 0x80808080u;
		x->s[i] = (uint32_t)rig_random(seed, 3000 + i);
	}
	memset(x->r, 0xa5, sizeof(x->r));
	memset(x->want, 0xa5, sizeof(x->want));
	for (uint32_t n = 0; n < SUBGROUPS; n++)
		for (uint32_t row = 0; row < c->m; row++)
			for (uint32_t column = 0; column < c->n; column++)
				expect_result(c, x, n, row, column);
}

/* ---- runs ---- */

static int is_quiet; /* what is planted is meant to differ */

static uint32_t run_program(rig *r, const pctl_program *p, const kernel_case *c, uint32_t seed,
			    const char *where)
{
	static bytes x;
	const rig_bytes arrays[4] = {{x.a, sizeof(x.a), 0},
				     {x.b, sizeof(x.b), 0},
				     {x.s, sizeof(x.s), 0},
				     {x.r, sizeof(x.r), 0}};
	uint32_t bad = 0;

	fill(&x, c, seed);
	run_on(r, p, arrays, 4, GROUPS);
	for (uint32_t i = 0; i < OUT_WORDS; i++) {
		if (x.r[i] == x.want[i] || bad++ >= 4 || is_quiet)
			continue;
		fprintf(stderr, "%s, seed %u, %ux%ux%u: word %u is 0x%08x, not 0x%08x\n", where,
			seed, c->m, c->n, c->k, i, x.r[i], x.want[i]);
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

/* The workgroup memory that the product takes is what is said beforehand. */
static void check_memory(const pctl_program *p, const pctl_program *made)
{
	pctl_extents before, after;

	assert_int_equal(pctl_program_extents(p, NULL, NULL, &before), PCTL_OK);
	assert_int_equal(pctl_program_extents(made, NULL, NULL, &after), PCTL_OK);
	assert_true(after.need[PCTL_EXTENT_WORKGROUP] > before.need[PCTL_EXTENT_WORKGROUP]);
	assert_true(after.need[PCTL_EXTENT_WORKGROUP] <=
		    before.need[PCTL_EXTENT_WORKGROUP] + pctl_legal_workgroup_bytes(p, 0));
}

/* 1: the device takes it. */
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

/* Every move that is left says that it is whole, and none of the source is lost. */
static void check_native(const pctl_program *p)
{
	uint32_t moves = 0, products = 0;

	for (uint32_t f = 1; f < p->n_functions; f++) {
		for (uint32_t i = 0; i < p->functions[f].n_insts; i++) {
			const pctl_inst *in = &p->insts[p->functions[f].first_inst + i];

			products += in->op == PCTL_OP_TILE_MULTIPLY_ADD;
			if (!pctl_tile_moved(p, &p->functions[f], in))
				continue;
			assert_true(in->flags & PCTL_INST_WHOLE);
			moves++;
		}
	}
	assert_int_equal(moves, 10);
	assert_int_equal(products, 3);
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

static uint32_t run_shape(uint32_t shape, uint32_t seed, rig *device)
{
	const kernel_case c = case_of(shape, seed);
	pctl_program *made;
	legal_kernel k;
	uint32_t bad;

	open_case(&k, &c);
	assert_true((k.p->caps & (PCTL_CAP_TILES | PCTL_CAP_NARROW)) == PCTL_CAP_TILES);
	assert_int_equal(kind_count(k.p), 8);
	if (!device) {
		bad = run_program(&k.r, k.p, &c, seed, "as written");
	} else {
		made = legalised(&k, k.p, device->caps.caps & ~(uint64_t)PCTL_CAP_TILES);
		assert_int_equal(kind_count(made), 0);
		assert_false(made->caps & PCTL_CAP_TILES);
		check_memory(k.p, made);
		bad = run_program(device, made, &c, seed, "ordinary code");
		pctl_program_destroy(made);
	}
	kernel_close(&k);
	return bad;
}

/* As the device's own; *n_run counts those that it takes. */
static uint32_t run_native(uint32_t shape, uint32_t seed, rig *device, uint32_t *n_run)
{
	const kernel_case c = case_of(shape, seed);
	pctl_program *made;
	legal_kernel k;
	uint32_t bad = 0;

	open_case(&k, &c);
	made = legalised(&k, k.p, device->caps.caps | PCTL_CAP_TILES | PCTL_CAP_SUBGROUPS);
	check_native(made);
	check_memory(k.p, made);
	if (is_taken(device, made)) {
		(*n_run)++;
		bad = run_program(device, made, &c, seed, "the device's own");
	}
	pctl_program_destroy(made);
	kernel_close(&k);
	return bad;
}

static void test_legalize_tile__as_written(void **state)
{
	uint32_t bad = 0;

	(void)state;
	for (uint32_t i = 0; i < 4 * N_SHAPES; i++)
		bad += run_shape(i % N_SHAPES, i, NULL);
	assert_int_equal(bad, 0);
}

static void test_legalize_tile__ordinary_code(void **state)
{
	const char *path = getenv("PCTL_TEST_PLUGIN"), *most = getenv("PCTL_TEST_SHAPES");
	const uint32_t n = most ? (uint32_t)atoi(most) : 3 * N_SHAPES;
	uint32_t bad = 0;
	rig device;

	(void)state;
	rig_open(&device, path ? path : PIPECTL_BINARY_DIR "/plugins/cpu.so");
	device.loud = 1;
	for (uint32_t i = 0; i < n; i++)
		bad += run_shape((i + i / N_SHAPES) * 7 % N_SHAPES, i, &device);
	rig_close(&device);
	assert_int_equal(bad, 0);
}

/* Shapes are the device's to have or not; one that claims tiles has some. */
static void test_legalize_tile__native(void **state)
{
	const char *path = getenv("PCTL_TEST_PLUGIN"), *most = getenv("PCTL_TEST_SHAPES");
	const uint32_t n = most ? (uint32_t)atoi(most) : 6 * N_SHAPES;
	uint32_t bad = 0, n_run = 0;
	rig device;

	(void)state;
	rig_open(&device, path ? path : PIPECTL_BINARY_DIR "/plugins/cpu.so");
	device.loud = 1;
	for (uint32_t i = 0; i < n; i++)
		bad += run_native((i + i / N_SHAPES) * 7 % N_SHAPES, i, &device, &n_run);
	if (path)
		printf("tiles of its own: %u of %u kernels taken, %u words wrong\n", n_run, n, bad);
	assert_int_equal(n_run > 0, (device.caps.caps & PCTL_CAP_TILES) != 0);
	rig_close(&device);
	assert_int_equal(bad, 0);
}

/* ---- lanes that disagree, and what is seen beforehand ---- */

#define HEAD                                                                            \
	"//# subgroup = 32\nenable chromium_experimental_subgroup_matrix;\n"            \
	"@group(0) @binding(0) var<storage, read> a: array<i32>;\n"                     \
	"@group(0) @binding(1) var<storage, read_write> r: array<i32>;\n"               \
	"var<workgroup> t: array<i32, 640>;\n"                                          \
	"@compute @workgroup_size(64)\n"                                                \
	"fn main(@builtin(workgroup_id) g: vec3u, @builtin(local_invocation_index) l: " \
	"u32, @builtin(local_invocation_id) at: vec3u) {\n"                             \
	"  for (var i = l; i < 640u; i += 64u) { t[i] = a[i] ^ i32(i); }\n"             \
	"  workgroupBarrier();\n"
#define LEFT "subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>, row_major>"
#define RIGHT "subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>, col_major>"
#define SUM "subgroupMatrixLoad<subgroup_matrix_result<i32, 16, 16>, row_major>"
#define STORE "subgroupMatrixStore<row_major>"

typedef struct written {
	const char *body;
	uint32_t votes,
		rooms; /* of the legalised program: moves that vote; moves that have a room to go through */
} written;

static void open_written(legal_kernel *k, const char *body)
{
	static char text[8192];
	pctl_program *p = NULL;

	snprintf(text, sizeof(text), "%s%s}\n", HEAD, body);
	kernel_open(k, text);
	rig_must(&k->r, pctl_program_specialise(k->p, "main", NULL, 0, &k->r.call, &p),
		 "one entry");
	pctl_program_destroy(k->p);
	k->p = p;
}

static uint32_t op_count(const pctl_program *p, uint16_t op, int arg)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_insts; i++)
		n += p->insts[i].op == op &&
		     (arg < 0 || pctl_arg(p, &p->insts[i], 0) == (uint32_t)arg);
	return n;
}

/* The reference runs both; they differ where lanes, alignment or bounds are taken for what they are not. */
static void run_written(const written *w)
{
	static uint32_t a[640], r[2][4096];
	const rig_bytes one[2] = {{a, sizeof(a), 0}, {r[0], sizeof(r[0]), 0}};
	const rig_bytes other[2] = {{a, sizeof(a), 0}, {r[1], sizeof(r[1]), 0}};
	pctl_program *made;
	legal_kernel k;

	for (uint32_t i = 0; i < 640; i++)
		a[i] = (uint32_t)rig_random(5, i);
	memset(r, 0, sizeof(r));
	open_written(&k, w->body);
	made = legalised(&k, k.p, PCTL_CAP_TILES | PCTL_CAP_SUBGROUPS);
	assert_int_equal(op_count(made, PCTL_OP_SUBGROUP_ALL, -1), w->votes);
	assert_int_equal(op_count(made, PCTL_OP_BARRIER, PCTL_BARRIER_SUBGROUP), 2 * w->rooms);
	run_on(&k.r, k.p, one, 2, GROUPS);
	run_on(&k.r, made, other, 2, GROUPS);
	if (memcmp(r[0], r[1], sizeof(r[0])) != 0)
		fail_msg("another result: %s", w->body);
	pctl_program_destroy(made);
	kernel_close(&k);
}

static void test_legalize_tile__what_is_seen_beforehand(void **state)
{
	static const written cases[] = {
		/* All of it, though it differs between subgroups and workgroups. */
		{"  let n = l / 32u;\n  let x = " LEFT "(&t, n * 1280u, 80u);\n"
		 "  let y = " RIGHT "(&t, (at.x >> 5u) * 16u + 32u, 48u);\n"
		 "  " STORE
		 "(&r, (g.x * 2u + n) * 256u, subgroupMatrixMultiply<i32>(x, y), 16u);\n",
		 0, 1},
		{"  let n = (l & 32u) * 8u;\n  let x = " LEFT "(&t, n, 32u);\n"
		 "  let y = " RIGHT "(&t, n % 48u, 64u);\n"
		 "  let s = " SUM "(&t, n / 2u, 20u);\n"
		 "  " STORE "(&r, (g.x * 512u + n) % 4096u, "
		 "subgroupMatrixMultiplyAccumulate(x, y, s), 16u);\n",
		 0, 1},
		/* The last line ends outside; the offset is no multiple; lanes disagree. */
		{"  let n = l / 32u;\n  let x = " LEFT "(&t, n * 1344u, 80u);\n"
		 "  let y = " RIGHT "(&t, n * 8u, 48u);\n"
		 "  let s = " SUM "(&t, l & 12u, 16u);\n"
		 "  " STORE "(&r, (g.x * 2u + n) * 256u, "
		 "subgroupMatrixMultiplyAccumulate(x, y, s), 16u);\n",
		 1, 4},
		/* Half a subgroup each; a stride that lanes disagree on; wrapping numbers. */
		{"  let n = l / 16u;\n  let x = " LEFT "(&t, n * 64u, 80u);\n"
		 "  let y = " RIGHT "(&t, 0u - 16u, 16u * (l % 3u));\n"
		 "  let s = " SUM "(&t, 4u, 0xfffffff0u);\n"
		 "  " STORE "(&r, (g.x * 2u + l / 32u) * 300u + l % 2u, "
		 "subgroupMatrixMultiplyAccumulate(x, y, s), 17u);\n",
		 3, 4},
		/* What a variable holds is not looked into; it agrees here. */
		{"  var n = 0u;\n  var s: subgroup_matrix_result<i32, 16, 16>;\n"
		 "  for (var i = 0u; i < 3u; i++) {\n    let x = " LEFT "(&t, n, 64u);\n"
		 "    let y = " RIGHT "(&t, i * 16u, 64u);\n"
		 "    s = subgroupMatrixMultiplyAccumulate(x, y, s);\n    n += 208u;\n  }\n"
		 "  " STORE "(&r, (g.x * 2u + l / 32u) * 256u, s, 16u);\n",
		 2, 3},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		run_written(&cases[i]);
}

/* ---- that it can fail ---- */

static uint32_t run_planted(uint16_t op, uint16_t done_as)
{
	uint32_t found = 0, bad = 0;

	for (uint32_t seed = 0; seed < 12; seed++) {
		const kernel_case c = case_of(seed + 4, seed);
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

static void test_legalize_tile__another_order_is_seen(void **state)
{
	(void)state;
	is_quiet = 1;
	assert_true(run_planted(PCTL_OP_TILE_LOAD_ROWS, PCTL_OP_TILE_LOAD_COLUMNS) > 0);
	assert_true(run_planted(PCTL_OP_TILE_LOAD_COLUMNS, PCTL_OP_TILE_LOAD_ROWS) > 0);
	assert_true(run_planted(PCTL_OP_TILE_STORE_ROWS, PCTL_OP_TILE_STORE_COLUMNS) > 0);
	assert_true(run_planted(PCTL_OP_TILE_STORE_COLUMNS, PCTL_OP_TILE_STORE_ROWS) > 0);
	is_quiet = 0;
}

/* A barrier of a product that orders other memory: the sanitizing reference sees the race. */
static uint32_t races(uint32_t plant)
{
	static bytes x;
	const kernel_case c = case_of(15, 3);
	const rig_bytes arrays[4] = {{x.a, sizeof(x.a), 0},
				     {x.b, sizeof(x.b), 0},
				     {x.s, sizeof(x.s), 0},
				     {x.r, sizeof(x.r), 0}};
	pctl_finding findings[8];
	uint32_t n = 0, seen = 0, at = 0;
	pctl_program *made;
	uint8_t *wire = NULL;
	uint64_t n_wire = 0;
	legal_kernel k;

	fill(&x, &c, 3);
	open_case(&k, &c);
	made = legalised(&k, k.p, 0);
	for (uint32_t i = 0; i < made->n_insts; i++) {
		if (made->insts[i].op == PCTL_OP_BARRIER && ++at == plant)
			made->words[made->insts[i].first_arg] = PCTL_BARRIER_STORAGE;
	}
	assert_true(at >= 2 && plant <= at);
	rig_must(&k.r, pctl_program_encode(made, &k.r.call, &wire, &n_wire), "its wire form");
	rig_run(&k.r, wire, n_wire, PCTL_BUILD_SANITIZE, arrays, 4, GROUPS, 1, 1);
	rig_must(&k.r, k.r.api->findings(k.r.dev, &k.r.call, 8, findings, &n), "findings");
	for (uint32_t i = 0; i < n && i < 8; i++)
		seen += findings[i].kind == PCTL_FINDING_RACE;
	free(wire);
	pctl_program_destroy(made);
	kernel_close(&k);
	return seen;
}

static void test_legalize_tile__a_lost_barrier_is_seen(void **state)
{
	(void)state;
	assert_int_equal(races(0), 0);
	assert_true(races(1) > 0); /* between putting down and reading */
	assert_true(races(2) > 0); /* between reading and the next one's putting down */
}

PCTL_TESTS_MAIN(PCTL_TEST(test_legalize_tile__another_order_is_seen),
		PCTL_TEST(test_legalize_tile__a_lost_barrier_is_seen),
		PCTL_TEST(test_legalize_tile__as_written), PCTL_TEST(test_legalize_tile__native),
		PCTL_TEST(test_legalize_tile__what_is_seen_beforehand),
		PCTL_TEST(test_legalize_tile__ordinary_code))
