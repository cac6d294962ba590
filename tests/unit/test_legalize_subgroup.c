/* Subgroup operations against an oracle written here in plain C, which shares nothing with what it judges: as written on
 * the reference, through workgroup memory on the reference or on the plugin that PCTL_TEST_PLUGIN names, and natively there where
 * the device takes a size. */
#include "compiler/analysis/extents.h"
#include "compiler/eval/specialise.h"
#include "compiler/legalize/legal.h"
#include "main.h"
#include "test_legalize_run.h"
#include "test_legalize_subgroup.h"

#define GROUPS 3u

/* ---- kernels of some rows each: the compilers of drivers take long over large ones ---- */

#define ROWS_AT_ONCE 8u

static void write_text(char *out, size_t n, uint32_t subgroup, const uint32_t local[3],
		       uint32_t first)
{
	const uint32_t end = first + ROWS_AT_ONCE < N_ROWS ? first + ROWS_AT_ONCE : N_ROWS;

	size_t used = (size_t)snprintf(
		out, n,
		"//# subgroup = %u\n"
		"enable f16, subgroups;\nrequires subgroup_id;\n"
		"@group(0) @binding(0) var<storage, read> xs: array<u32>;\n"
		"@group(0) @binding(1) var<storage, read> ks: array<u32>;\n"
		"@group(0) @binding(2) var<storage, read_write> r: array<u32>;\n"
		"struct Ids { @builtin(subgroup_id) number: u32, @builtin(local_invocation_index) "
		"i: u32 }\n"
		"override width = %uu;\n"
		"fn step(x: u32) -> u32 { return subgroupAdd(x) ^ subgroupShuffleUp(x, 1); }\n"
		"fn in_loop(x: u32) -> u32 {\n  var t = 0u;\n"
		"  for (var i = 0; i < 3; i++) { t = t * 3u + step(x + t); }\n  return t;\n}\n"
		"fn after_branch(x: u32) -> u32 {\n  var y = x;\n"
		"  if (x & 1u) == 1u { y = y * 3u; } else { y = y + 7u; }\n"
		"  return subgroupAdd(y);\n}\n"
		"@compute @workgroup_size(width, %u, %u)\n"
		"fn main(@builtin(workgroup_id) group: vec3u, ids: Ids, @builtin(subgroup_size) "
		"size: "
		"u32,\n  @builtin(subgroup_invocation_id) lane: u32, @builtin(num_subgroups) "
		"count: "
		"u32) {\n"
		"  let number = ids.number;\n  let n = %uu;\n"
		"  let x = xs[group.x * n + ids.i];\n  let k = ks[group.x * n + ids.i];\n"
		"  let s = bitcast<i32>(x);\n  let h = bitcast<vec2<f16>>(x);\n"
		"  let o = (group.x * n + ids.i) * %uu;\n",
		subgroup, local[0], local[1], local[2], local[0] * local[1] * local[2],
		(unsigned)N_ROWS);

	for (uint32_t i = first; i < end; i++)
		used += (size_t)snprintf(out + used, n - used, "  r[o + %uu] = %s;\n", i,
					 rows[i].text);
	snprintf(out + used, n - used, "}\n");
	assert_true(used + 4 < n);
}

/* Values where products do not vanish; lanes near the subgroup, and far ones that wrap. */
static void fill(uint32_t *x, uint32_t *k, uint32_t n, uint32_t seed)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t a = rig_random(seed, 2 * i), b = rig_random(seed, 2 * i + 1);

		x[i] = (uint32_t)a | 1u;
		if (a >> 60 == 0)
			x[i] ^= 1u;
		k[i] = (uint32_t)b >> (b >> 32) % 32;
		if (b >> 62 == 0)
			k[i] = ~0u - (uint32_t)(b >> 40) % 8;
	}
}

static int is_quiet; /* what is planted is meant to differ */

static uint32_t wrong(const uint32_t *x, const uint32_t *k, const uint32_t *r, uint32_t subgroup,
		      uint32_t n, uint32_t first_row, const char *where)
{
	const uint32_t end = first_row + ROWS_AT_ONCE < N_ROWS ? first_row + ROWS_AT_ONCE : N_ROWS;
	uint32_t bad = 0;

	for (uint32_t i = 0; i < n * GROUPS; i++) {
		const uint32_t local = i % n, number = local / subgroup,
			       first = i - local % subgroup;
		const uint32_t rest = n - number * subgroup;
		const lanes g = {.x = x + first,
				 .k = k + first,
				 .n = rest < subgroup ? rest : subgroup,
				 .size = subgroup,
				 .own = local % subgroup,
				 .number = number,
				 .count = (n + subgroup - 1) / subgroup};

		for (uint32_t row = first_row; row < end; row++) {
			const uint32_t want = rows[row].want(&g), got = r[i * N_ROWS + row];

			if (got == want)
				continue;
			if (bad++ < 8 && !is_quiet)
				fprintf(stderr,
					"%s, subgroup %u of %u: %s in invocation %u: 0x%08x, not "
					"0x%08x\n",
					where, subgroup, n, rows[row].text, i, got, want);
		}
	}
	return bad;
}

typedef struct run {
	legal_kernel k;
	uint32_t *x, *lane, *r;
	uint32_t subgroup, n, first_row;
} run;

typedef struct shape {
	uint32_t subgroup, local[3];
} shape;

static void run_open(run *t, const shape *s, uint32_t first_row)
{
	static char text[16384];
	const uint32_t subgroup = s->subgroup;

	*t = (run){.subgroup = subgroup,
		   .n = s->local[0] * s->local[1] * s->local[2],
		   .first_row = first_row};
	write_text(text, sizeof(text), subgroup, s->local, first_row);
	kernel_open(&t->k, text);
	t->x = calloc(t->n * GROUPS, 4);
	t->lane = calloc(t->n * GROUPS, 4);
	t->r = calloc((size_t)t->n * GROUPS * N_ROWS, 4);
	assert_true(t->x && t->lane && t->r);
	fill(t->x, t->lane, t->n * GROUPS, subgroup * 1000 + t->n);
}

static void run_close(run *t)
{
	free(t->x);
	free(t->lane);
	free(t->r);
	kernel_close(&t->k);
}

/* How many words differ from the oracle's. */
static uint32_t run_program(run *t, rig *r, const pctl_program *p, const char *where)
{
	const size_t n = (size_t)t->n * GROUPS * 4;
	const rig_bytes arrays[3] = {{t->x, n, 0}, {t->lane, n, 0}, {t->r, n * N_ROWS, 0}};

	memset(t->r, 0xa5, n * N_ROWS);
	run_on(r, p, arrays, 3, GROUPS);
	return wrong(t->x, t->lane, t->r, t->subgroup, t->n, t->first_row, where);
}

static pctl_program *specialised(run *t)
{
	pctl_program *out = NULL;

	rig_must(&t->k.r, pctl_program_specialise(t->k.p, "main", NULL, 0, &t->k.r.call, &out),
		 "the values of its overrides");
	return out;
}

/* kinds: PCTL_SUBGROUP_* that were shown to be right. */
static pctl_program *legalised(run *t, const pctl_program *p, const pctl_device_caps *device,
			       uint32_t kinds)
{
	const pctl_legal_options options = {.head = PCTL_HEAD(pctl_legal_options),
					    .forms = t->k.forms,
					    .subgroup_size = t->subgroup,
					    .subgroup_kinds = kinds};
	pctl_program *out = NULL;

	rig_must(&t->k.r, pctl_legalise(p, device, &options, &t->k.r.call, &out), "legalising");
	return out;
}

static const shape shapes[] = {
	{4, {32, 1, 1}},    {8, {32, 2, 1}},  {8, {13, 1, 1}},	  {16, {16, 2, 2}},
	{32, {64, 1, 1}},   {32, {5, 5, 3}},  {64, {128, 1, 1}},  {64, {3, 1, 1}},
	{128, {128, 1, 1}}, {4, {7, 3, 1}},   {8, {64, 1, 1}},	  {16, {40, 1, 1}},
	{32, {8, 4, 2}},    {32, {33, 1, 1}}, {128, {150, 1, 1}}, {4, {5, 4, 2}},
};
#define N_SHAPES (sizeof(shapes) / sizeof(shapes[0]))

/* Subgroup operations of these kinds. */
static uint32_t kind_count(const pctl_program *p, uint32_t kinds)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_insts; i++)
		n += (pctl_legal_subgroup_kind(p->insts[i].op) & kinds) != 0;
	return n;
}

/* What the exchange needs of the device is what is said beforehand, or nothing where all stay. */
static void check_memory(const pctl_program *p, const pctl_program *made, uint32_t kinds)
{
	pctl_extents before, after;
	uint64_t said;

	assert_int_equal(pctl_program_extents(p, NULL, NULL, &before), PCTL_OK);
	assert_int_equal(pctl_program_extents(made, NULL, NULL, &after), PCTL_OK);
	said = after.need[PCTL_EXTENT_WORKGROUP] - before.need[PCTL_EXTENT_WORKGROUP];
	if (kinds == 0)
		assert_int_equal(said, pctl_legal_workgroup_bytes(p, 0));
	else
		assert_true(said == 0 || said == pctl_legal_workgroup_bytes(p, 0));
	if (kinds == PCTL_SUBGROUP_KINDS)
		assert_int_equal(said, 0);
}

/* Every row, some at once: as written on the reference (device NULL), or legalised. kinds: those that stay. */
static uint32_t run_shape(const shape *s, rig *device, uint32_t kinds, const char *where)
{
	uint32_t bad = 0;

	for (uint32_t row = 0; row < N_ROWS; row += ROWS_AT_ONCE) {
		pctl_program *p, *made = NULL;
		run t;

		run_open(&t, s, row);
		p = specialised(&t);
		assert_int_equal(pctl_program_subgroup_size(p),
				 kind_count(p, PCTL_SUBGROUP_KINDS) ? s->subgroup : 0);
		if (device)
			made = legalised(&t, p, &device->caps, kinds);
		if (made) {
			check_memory(p, made, kinds);
			/* Movements come, where the others are made of them. */
			if (kinds == PCTL_SUBGROUP_MOVE)
				assert_true(kind_count(made, kinds) >= kind_count(p, kinds));
			else
				assert_int_equal(kind_count(made, kinds), kind_count(p, kinds));
			assert_int_equal(kind_count(made, PCTL_SUBGROUP_KINDS & ~kinds), 0);
		}
		bad += run_program(&t, device ? device : &t.k.r, made ? made : p, where);
		pctl_program_destroy(made);
		pctl_program_destroy(p);
		run_close(&t);
	}
	return bad;
}

/* On the reference. */
static void test_legalize_subgroup__as_written(void **state)
{
	uint32_t bad = 0;

	(void)state;
	for (uint32_t i = 0; i < N_SHAPES; i++)
		bad += run_shape(&shapes[i], NULL, 0, "as written");
	assert_int_equal(bad, 0);
}

/* Through workgroup memory, on the reference and on devices, where the compilers' time allows for some shapes: a size is
 * there whole and in part. */
static void test_legalize_subgroup__exchanged(void **state)
{
	const char *path = getenv("PCTL_TEST_PLUGIN"), *most = getenv("PCTL_TEST_SHAPES");
	const uint32_t n = most ? (uint32_t)atoi(most) : PCTL_TEST_SANITIZED ? 9 : N_SHAPES;
	uint32_t bad = 0;
	rig device;

	(void)state;
	rig_open(&device, path ? path : PIPECTL_BINARY_DIR "/plugins/cpu.so");
	device.loud = 1;
	for (uint32_t i = 0; i < n && i < N_SHAPES; i++)
		bad += run_shape(&shapes[i], &device, 0, "exchanged");
	rig_close(&device);
	assert_int_equal(bad, 0);
}

/* By the device's own operations where it claims a size: all kinds, and each without the others. PCTL_TEST_NATIVE is how many
 * shapes a device must take at least; where it is not set, a device of PCTL_TEST_PLUGIN has no subgroups of its own, and takes none. */
static void test_legalize_subgroup__native(void **state)
{
	static const uint32_t kinds[] = {PCTL_SUBGROUP_KINDS, PCTL_SUBGROUP_REDUCE,
					 PCTL_SUBGROUP_SCAN, PCTL_SUBGROUP_VOTE,
					 PCTL_SUBGROUP_MOVE};
	const char *path = getenv("PCTL_TEST_PLUGIN"), *least = getenv("PCTL_TEST_NATIVE");
	const uint32_t want = least ? (uint32_t)atoi(least) : path == NULL;
	uint32_t bad = 0, n = 0;
	rig device;

	(void)state;
	rig_open(&device, path ? path : PIPECTL_BINARY_DIR "/plugins/cpu.so");
	device.loud = 1;
	for (uint32_t i = 0; i < N_SHAPES; i++) {
		const uint32_t own =
			device.caps.subgroup_size ? device.caps.subgroup_size : shapes[i].subgroup;
		const uint32_t *local = shapes[i].local;

		if (!(device.caps.caps & PCTL_CAP_SUBGROUPS) || own % shapes[i].subgroup ||
		    local[0] * local[1] * local[2] % own)
			continue;
		/* The cost of a driver's compiler: each kind alone in the first shape only, but for the reference. */
		for (uint32_t k = 0; k < (n == 0 || !path ? 5 : 1); k++)
			bad += run_shape(&shapes[i], &device, kinds[k], "native");
		n++;
	}
	rig_close(&device);
	assert_int_equal(bad, 0);
	assert_true(want ? n >= want : n == 0);
}

/* ---- that it can fail ---- */

/* Every operation done as another one of its form. */
static const struct plant {
	uint16_t op, done_as;
} plants[] = {
	{PCTL_OP_SUBGROUP_ADD, PCTL_OP_SUBGROUP_XOR},
	{PCTL_OP_SUBGROUP_MUL, PCTL_OP_SUBGROUP_INCLUSIVE_MUL},
	{PCTL_OP_SUBGROUP_MIN, PCTL_OP_SUBGROUP_AND},
	{PCTL_OP_SUBGROUP_MAX, PCTL_OP_SUBGROUP_OR},
	{PCTL_OP_SUBGROUP_AND, PCTL_OP_SUBGROUP_MIN},
	{PCTL_OP_SUBGROUP_OR, PCTL_OP_SUBGROUP_MAX},
	{PCTL_OP_SUBGROUP_XOR, PCTL_OP_SUBGROUP_ADD},
	{PCTL_OP_SUBGROUP_INCLUSIVE_ADD, PCTL_OP_SUBGROUP_EXCLUSIVE_ADD},
	{PCTL_OP_SUBGROUP_INCLUSIVE_MUL, PCTL_OP_SUBGROUP_MUL},
	{PCTL_OP_SUBGROUP_EXCLUSIVE_ADD, PCTL_OP_SUBGROUP_INCLUSIVE_ADD},
	{PCTL_OP_SUBGROUP_EXCLUSIVE_MUL, PCTL_OP_SUBGROUP_INCLUSIVE_MUL},
	{PCTL_OP_SUBGROUP_ALL, PCTL_OP_SUBGROUP_ANY},
	{PCTL_OP_SUBGROUP_ANY, PCTL_OP_SUBGROUP_ALL},
	{PCTL_OP_SUBGROUP_SHUFFLE, PCTL_OP_SUBGROUP_SHUFFLE_DOWN},
	{PCTL_OP_SUBGROUP_SHUFFLE_XOR, PCTL_OP_SUBGROUP_SHUFFLE_DOWN},
	{PCTL_OP_SUBGROUP_SHUFFLE_UP, PCTL_OP_SUBGROUP_SHUFFLE_XOR},
	{PCTL_OP_SUBGROUP_SHUFFLE_DOWN, PCTL_OP_SUBGROUP_SHUFFLE_UP},
};

/* All rows of a shape, with one opcode put in the place of another; how many words are seen to be wrong. */
static uint32_t run_planted(const shape *s, const struct plant *plant, uint32_t *found)
{
	uint32_t bad = 0;

	*found = 0;
	for (uint32_t row = 0; row < N_ROWS; row += ROWS_AT_ONCE) {
		pctl_program *p;
		run t;

		run_open(&t, s, row);
		p = specialised(&t);
		for (uint32_t i = 0; i < p->n_insts; i++) {
			if (p->insts[i].op != plant->op)
				continue;
			p->insts[i].op = plant->done_as;
			++*found;
		}
		if (*found)
			bad += run_program(&t, &t.k.r, p, "planted");
		pctl_program_destroy(p);
		run_close(&t);
	}
	return bad;
}

static void test_legalize_subgroup__another_operation_is_seen(void **state)
{
	static const shape s = {8, {29, 1, 1}};

	(void)state;
	is_quiet = 1;
	for (size_t i = 0; i < sizeof(plants) / sizeof(plants[0]); i++) {
		uint32_t found;

		if (run_planted(&s, &plants[i], &found) == 0 || !found)
			fail_msg("%s done as %s is not seen", pctl_op_get(plants[i].op)->name,
				 pctl_op_get(plants[i].done_as)->name);
	}
	is_quiet = 0;
}

/* Words read and lanes broadcast from are literals: the word of a ballot, the lane, the size. */
static void test_legalize_subgroup__another_size_or_lane_is_seen(void **state)
{
	static const shape s = {8, {29, 1, 1}};

	(void)state;
	is_quiet = 1;
	for (uint32_t what = 0; what < 2; what++) {
		uint32_t bad = 0, found = 0;

		for (uint32_t row = 0; row < N_ROWS; row += ROWS_AT_ONCE) {
			pctl_program *p;
			run t;

			run_open(&t, &s, row);
			p = specialised(&t);
			for (uint32_t i = 0; i < p->n_insts; i++) {
				const pctl_inst *in = &p->insts[i];

				if (pctl_op_get(in->op)->kind != PCTL_OPKIND_subgroup)
					continue;
				if (what == 0)
					p->words[in->first_arg + in->n_args - 1] = 16;
				else if (in->op == PCTL_OP_SUBGROUP_BROADCAST)
					p->words[in->first_arg + 1] ^= 1;
				found++;
			}
			bad += run_program(&t, &t.k.r, p, "planted");
			pctl_program_destroy(p);
			run_close(&t);
		}
		assert_true(found && bad);
	}
	is_quiet = 0;
}

/* A barrier of the exchange that orders other memory: the sanitizing reference sees the race. */
static uint32_t races(uint32_t plant)
{
	static const shape s = {8, {16, 1, 1}};
	const pctl_device_caps none = {.head = PCTL_HEAD(pctl_device_caps)};
	pctl_finding findings[8];
	uint32_t n = 0, seen = 0, at = 0;
	pctl_program *p, *made;
	uint8_t *wire = NULL;
	uint64_t n_wire = 0;
	run t;

	run_open(&t, &s, 0);
	p = specialised(&t);
	made = legalised(&t, p, &none, 0);
	for (uint32_t i = 0; i < made->n_insts; i++) {
		if (made->insts[i].op == PCTL_OP_BARRIER && ++at == plant)
			made->words[made->insts[i].first_arg] = PCTL_BARRIER_STORAGE;
	}
	assert_true(at >= 2 && plant <= at);
	rig_must(&t.k.r, pctl_program_encode(made, &t.k.r.call, &wire, &n_wire), "its wire form");
	{
		const size_t bytes = (size_t)t.n * GROUPS * 4;
		const rig_bytes arrays[3] = {
			{t.x, bytes, 0}, {t.lane, bytes, 0}, {t.r, bytes * N_ROWS, 0}};

		rig_run(&t.k.r, wire, n_wire, PCTL_BUILD_SANITIZE, arrays, 3, GROUPS, 1, 1);
	}
	rig_must(&t.k.r, t.k.r.api->findings(t.k.r.dev, &t.k.r.call, 8, findings, &n), "findings");
	for (uint32_t i = 0; i < n && i < 8; i++)
		seen += findings[i].kind == PCTL_FINDING_RACE;
	free(wire);
	pctl_program_destroy(made);
	pctl_program_destroy(p);
	run_close(&t);
	return seen;
}

static void test_legalize_subgroup__a_lost_barrier_is_seen(void **state)
{
	(void)state;
	assert_int_equal(races(0), 0);
	assert_true(races(1) > 0); /* between putting down and reading */
	assert_true(races(2) > 0); /* between reading and the next one's putting down */
}

PCTL_TESTS_MAIN(PCTL_TEST(test_legalize_subgroup__another_operation_is_seen),
		PCTL_TEST(test_legalize_subgroup__another_size_or_lane_is_seen),
		PCTL_TEST(test_legalize_subgroup__a_lost_barrier_is_seen),
		PCTL_TEST(test_legalize_subgroup__as_written),
		PCTL_TEST(test_legalize_subgroup__exchanged),
		PCTL_TEST(test_legalize_subgroup__native))
