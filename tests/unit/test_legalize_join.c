/* Dispatches joined to one give the bytes of the dispatches: side by side, one behind the other, and what each workgroup does ahead for itself; what the analysis
 * must not prove of the whole, and what cannot be joined. Faults are planted into what is joined: another part's weight, an output that two write, an element of
 * another workgroup. */
#include "main.h"

#include "planted/planted.h"
#include "test_legalize_run.h"

#include "compiler/eval/specialise.h"
#include "compiler/legalize/join.h"

enum { WORDS = 256, SLOTS = 8, PARTS = 3 };

/* 64 lanes that meet, share memory which begins as zero, and count in a variable of their own. The last workgroup is not full. */
static const char meets[] =
	"@group(0) @binding(0) var<storage, read> x: array<u32>;\n"
	"@group(0) @binding(1) var<storage, read_write> y: array<u32>;\n"
	"var<workgroup> s: array<u32, 64>;\nvar<workgroup> n: atomic<u32>;\nvar<private> p: u32;\n"
	"fn mix(v: u32) -> u32 { p = p * 31u + v; return p ^ (v << 3u); }\n"
	"@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>, "
	"@builtin(local_invocation_index) lane: u32,\n"
	"  @builtin(workgroup_id) wid: vec3<u32>, @builtin(num_workgroups) all: vec3<u32>) {\n"
	"  var here: u32;\n"
	"  s[lane] += mix(x[id.x] + wid.x * 7u + all.x * 64u + id.y + wid.z);\n"
	"  atomicAdd(&n, s[lane] & 3u);\n"
	"  workgroupBarrier();\n"
	"  here += s[63u - lane] + atomicLoad(&n);\n"
	"  if (id.x < arrayLength(&y)) { y[id.x] = here + p; }\n}\n";
/* 32 lanes that do not, and leave early. */
static const char leaves[] =
	"@group(0) @binding(0) var<storage, read> x: array<u32>;\n"
	"@group(0) @binding(1) var<storage, read_write> y: array<u32>;\nvar<private> p: u32;\n"
	"@compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
	"  p += x[id.x];\n  if (id.x >= arrayLength(&y)) { return; }\n  y[id.x] = p * 5u + "
	"arrayLength(&x);\n}\n";
/* Of what another wrote, as floats: the same element; one of another workgroup. */
static const char follows[] =
	"@group(0) @binding(0) var<storage, read> x: array<f32>;\n"
	"@group(0) @binding(1) var<storage, read_write> y: array<u32>;\nvar<workgroup> s: "
	"array<u32, 64>;\n"
	"@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>, "
	"@builtin(local_invocation_index) lane: u32) {\n"
	"  s[lane] += 1u;\n  workgroupBarrier();\n"
	"  if (id.x < arrayLength(&y)) { y[id.x] = bitcast<u32>(x[id.x]) + s[lane ^ 1u]; }\n}\n";
static const char looks_around[] =
	"@group(0) @binding(0) var<storage, read> x: array<u32>;\n"
	"@group(0) @binding(1) var<storage, read_write> y: array<u32>;\n"
	"@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
	"  var sum = 0u;\n  for (var i = 0u; i < 64u; i++) { sum = sum * 3u + x[(id.x + i) % "
	"arrayLength(&x)]; }\n"
	"  y[id.x] = sum;\n}\n";

typedef struct part {
	const char *text;
	uint32_t groups, slots[2];
	uint64_t own[2];
} part;

typedef struct bench {
	rig r;
	pctl_program *p[PARTS];
	pctl_join_part parts[PARTS];
	uint32_t n;
} bench;

static pctl_program *compiled(bench *b, const char *text)
{
	const pctl_wgsl_options options = {.file = "test.wgsl"};
	pctl_program *p, *out;

	rig_must(&b->r, pctl_wgsl_compile(text, strlen(text), &options, &b->r.call, &p), "a part");
	rig_must(&b->r, pctl_program_specialise(p, NULL, NULL, 0, &b->r.call, &out), "a part");
	pctl_program_destroy(p);
	return out;
}

static void open_bench(bench *b, const part *parts, uint32_t n)
{
	memset(b, 0, sizeof(*b));
	rig_open(&b->r, PIPECTL_BINARY_DIR "/plugins/cpu.so");
	b->n = n;
	for (uint32_t i = 0; i < n; i++) {
		b->p[i] = compiled(b, parts[i].text);
		b->parts[i] = (pctl_join_part){.program = b->p[i],
					       .slots = parts[i].slots,
					       .own = parts[i].own,
					       .groups = parts[i].groups};
	}
}

static void close_bench(bench *b)
{
	for (uint32_t i = 0; i < b->n; i++)
		pctl_program_destroy(b->p[i]);
	rig_close(&b->r);
}

/* Lengths that are no multiple of a workgroup. */
static const uint32_t lengths[SLOTS] = {190, 190, 100, 70, 256, 190, 64, 33};

static void fill(uint32_t data[SLOTS][WORDS])
{
	for (uint32_t s = 0; s < SLOTS; s++)
		for (uint32_t i = 0; i < WORDS; i++)
			data[s][i] = (uint32_t)rig_random(s + 1, i);
}

static void one_by_one(bench *b, const part *parts, uint32_t data[SLOTS][WORDS])
{
	for (uint32_t i = 0; i < b->n; i++) {
		rig_bytes arrays[2] = {
			{data[parts[i].slots[0]], lengths[parts[i].slots[0]] * 4, 0},
			{data[parts[i].slots[1]], lengths[parts[i].slots[1]] * 4, 0}};

		run_on(&b->r, b->p[i], arrays, 2, parts[i].groups);
	}
}

static int is_bound(const pctl_program *p, uint32_t slot)
{
	for (uint32_t v = 0; v < p->n_vars; v++)
		if (p->vars[v].space >= PCTL_SPACE_UNIFORM && p->vars[v].binding == slot)
			return 1;
	return 0;
}

static void at_once(bench *b, const pctl_program *p, uint32_t groups, uint32_t data[SLOTS][WORDS])
{
	rig_bytes arrays[SLOTS];

	for (uint32_t s = 0; s < SLOTS; s++)
		arrays[s] = (rig_bytes){data[s], lengths[s] * 4, is_bound(p, s) ? 0 : RIG_UNBOUND};
	run_on(&b->r, p, arrays, SLOTS, groups);
}

static pctl_program *joined(bench *b, uint32_t how)
{
	pctl_program *out;

	rig_must(&b->r, pctl_legal_join(b->parts, b->n, how, &b->r.call, &out), "joining");
	return out;
}

static uint32_t race_of(bench *b, const pctl_program *p, uint32_t groups)
{
	const uint32_t dispatch[3] = {groups, 1, 1};
	pctl_known_binding known[SLOTS];
	const pctl_analysis_query q = {.groups = dispatch, .bindings = known, .n_bindings = SLOTS};
	pctl_analysis *a;
	uint32_t race;

	for (uint32_t s = 0; s < SLOTS; s++)
		known[s] = (pctl_known_binding){0, s, lengths[s] * 4};
	rig_must(&b->r, pctl_program_analyse(p, &q, &b->r.call, &a), "analysing");
	race = a->race;
	pctl_analysis_destroy(a);
	return race;
}

/* The first slot whose bytes differ; SLOTS: none. */
static uint32_t differs(uint32_t a[SLOTS][WORDS], uint32_t b[SLOTS][WORDS])
{
	for (uint32_t s = 0; s < SLOTS; s++)
		if (memcmp(a[s], b[s], sizeof(a[s])) != 0)
			return s;
	return SLOTS;
}

static uint32_t functions_named(const pctl_program *p, const char *name)
{
	uint32_t n = 0;

	for (uint32_t f = 1; f < p->n_functions; f++)
		n += strcmp(pctl_str(p, p->functions[f].name), name) == 0;
	return n;
}

static void gives_what_they_give(const part *parts, uint32_t n, uint32_t how)
{
	uint32_t alone[SLOTS][WORDS], together[SLOTS][WORDS], groups;
	pctl_program *p;
	bench b;

	open_bench(&b, parts, n);
	fill(alone);
	fill(together);
	one_by_one(&b, parts, alone);
	p = joined(&b, how);
	groups = pctl_legal_join_groups(b.parts, n, how);
	assert_int_equal(race_of(&b, p, groups), PCTL_PROOF_PROVEN);
	at_once(&b, p, groups, together);
	/* What lies in workgroup memory is written nowhere. */
	for (uint32_t i = 0; i < n; i++)
		if (parts[i].own[1] != 0)
			memcpy(together[parts[i].slots[1]], alone[parts[i].slots[1]],
			       sizeof(alone[0]));
	assert_int_equal(differs(alone, together), SLOTS);
	/* What two have alike is there once, but where each has private variables of its own. */
	assert_true(how != PCTL_JOIN_BESIDE || functions_named(p, "mix") <= 1);
	pctl_program_destroy(p);
	close_bench(&b);
}

static void side_by_side(void **state)
{
	static const part three[] = {
		{meets, 3, {0, 1}, {0}}, {leaves, 4, {0, 2}, {0}}, {meets, 2, {4, 3}, {0}}};
	static const part two[] = {{leaves, 1, {0, 7}, {0}}, {follows, 3, {0, 1}, {0}}};

	(void)state;
	gives_what_they_give(three, 3, PCTL_JOIN_BESIDE);
	gives_what_they_give(two, 2, PCTL_JOIN_BESIDE);
}

static void one_behind_another(void **state)
{
	static const part words_then_floats[] = {{meets, 3, {0, 1}, {0}},
						 {follows, 3, {1, 5}, {0}}};
	static const part memory_again[] = {{meets, 3, {0, 1}, {0}}, {meets, 3, {1, 5}, {0}}};
	static const part in_turn[] = {{leaves, 6, {0, 1}, {0}}, {looks_around, 1, {1, 6}, {0}}};
	static const part turned_last[] = {{meets, 1, {0, 6}, {0}}, {leaves, 3, {6, 2}, {0}}};

	(void)state;
	gives_what_they_give(words_then_floats, 2, PCTL_JOIN_BEHIND);
	gives_what_they_give(memory_again, 2, PCTL_JOIN_BEHIND);
	gives_what_they_give(in_turn, 2, PCTL_JOIN_BEHIND);
	gives_what_they_give(turned_last, 2, PCTL_JOIN_BEHIND);
}

static void each_for_itself(void **state)
{
	static const part around[] = {{meets, 1, {0, 6}, {0, 256}},
				      {looks_around, 4, {6, 4}, {256, 0}}};
	static const part floats[] = {{meets, 1, {0, 6}, {0, 256}}, {follows, 3, {6, 1}, {256, 0}}};

	(void)state;
	gives_what_they_give(around, 2, PCTL_JOIN_AHEAD);
	gives_what_they_give(floats, 2, PCTL_JOIN_AHEAD);
}

/* What is no join of them: the analysis finds it, or the bytes differ. */
static void of_others_is_caught(void **state)
{
	static const part right[] = {
		{meets, 3, {0, 1}, {0}}, {leaves, 4, {4, 2}, {0}}, {meets, 2, {0, 3}, {0}}};
	static const part wrong[] = {
		{meets, 3, {0, 1}, {0}}, {leaves, 4, {4, 2}, {0}}, {meets, 2, {4, 3}, {0}}};
	static const part one_output[] = {{meets, 3, {0, 1}, {0}}, {meets, 3, {4, 1}, {0}}};
	static const part around[] = {{meets, 3, {0, 1}, {0}}, {looks_around, 3, {1, 4}, {0}}};
	uint32_t alone[SLOTS][WORDS], together[SLOTS][WORDS];
	pctl_program *p;
	bench b;

	(void)state;
	open_bench(&b, right, 3);
	fill(alone);
	fill(together);
	one_by_one(&b, right, alone);
	b.parts[2].slots = wrong[2].slots;
	p = joined(&b, PCTL_JOIN_BESIDE);
	at_once(&b, p, 9, together);
	assert_int_equal(differs(alone, together), 3);
	planted("the last of three parts takes the weight of another", "dispatches side by side",
		"test_legalize_join", "output 3 differs from that of the dispatch alone");
	pctl_program_destroy(p);
	close_bench(&b);

	open_bench(&b, one_output, 2);
	p = joined(&b, PCTL_JOIN_BESIDE);
	assert_int_not_equal(race_of(&b, p, 6), PCTL_PROOF_PROVEN);
	planted("two parts side by side write one output", "dispatches side by side",
		"the analysis of races", "the whole is not proven free of races");
	pctl_program_destroy(p);
	close_bench(&b);

	open_bench(&b, around, 2);
	p = joined(&b, PCTL_JOIN_BEHIND);
	assert_int_not_equal(race_of(&b, p, 3), PCTL_PROOF_PROVEN);
	planted("a part looks at what another workgroup wrote", "dispatches one behind the other",
		"the analysis of races", "the whole is not proven free of races");
	pctl_program_destroy(p);
	close_bench(&b);
}

static void what_cannot_be_is_left(void **state)
{
	static const char small[] =
		"@group(0) @binding(0) var<storage, read> x: array<u32>;\n"
		"@group(0) @binding(1) var<storage, read_write> y: array<u32>;\nvar<workgroup> s: "
		"u32;\n"
		"@compute @workgroup_size(8) fn main(@builtin(local_invocation_index) lane: u32) "
		"{\n"
		"  if (lane == 0u) { s = x[0]; }\n  workgroupBarrier();\n  y[lane] = s;\n}\n";
	static const char wide[] = "@group(0) @binding(0) var<storage, read> x: array<u64>;\n"
				   "@group(0) @binding(1) var<storage, read_write> y: array<u32>;\n"
				   "@compute @workgroup_size(64) fn "
				   "main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
				   "  y[id.x] = u32(x[id.x]);\n}\n";
	static const char square[] =
		"@group(0) @binding(0) var<storage, read> x: array<u32>;\n"
		"@group(0) @binding(1) var<storage, read_write> y: array<u32>;\n"
		"@compute @workgroup_size(8, 8) fn main(@builtin(local_invocation_index) lane: "
		"u32) {\n"
		"  y[lane] = x[lane];\n}\n";
	static const struct {
		part parts[2];
		uint32_t how;
	} cases[] = {
		{{{small, 2, {0, 7}, {0}}, {meets, 2, {0, 1}, {0}}}, PCTL_JOIN_BESIDE},
		{{{meets, 2, {0, 1}, {0}}, {square, 1, {0, 6}, {0}}}, PCTL_JOIN_BESIDE},
		{{{meets, 2, {0, 1}, {0}}, {wide, 2, {1, 5}, {0}}}, PCTL_JOIN_BEHIND},
		{{{meets, 3, {0, 1}, {0}}, {looks_around, 1, {1, 6}, {0}}}, PCTL_JOIN_BEHIND},
		{{{meets, 2, {0, 1}, {0, 760}}, {looks_around, 4, {1, 4}, {760, 0}}},
		 PCTL_JOIN_AHEAD},
		{{{meets, 1, {0, 6}, {0, 1u << 20}}, {looks_around, 4, {6, 4}, {1u << 20, 0}}},
		 PCTL_JOIN_AHEAD},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pctl_program *out;
		bench b;

		open_bench(&b, cases[i].parts, 2);
		assert_int_equal(pctl_legal_join(b.parts, 2, cases[i].how, &b.r.call, &out),
				 PCTL_E_UNSUPPORTED);
		assert_null(out);
		close_bench(&b);
	}
}

PCTL_TESTS_MAIN(PCTL_TEST(side_by_side), PCTL_TEST(one_behind_another), PCTL_TEST(each_for_itself),
		PCTL_TEST(of_others_is_caught), PCTL_TEST(what_cannot_be_is_left))
