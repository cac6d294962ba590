/* How often blocks run, on the reference: by hand, against what the reference itself counts of the program without counters, and
 * with the same bytes as that. */
#include <stdlib.h>

#include "compiler/analysis/tally.h"
#include "compiler/eval/specialise.h"
#include "compiler/legalize/blocks.h"
#include "compiler/wgsl/wgsl.h"
#include "foundation/diag/diag.h"
#include "main.h"
#include "rig.h"
#include "unit/failing_allocation.h"

#define WORDS 64u
#define HEAD                                                      \
	"@group(0) @binding(0) var<storage> x: array<u32, 64>;\n" \
	"@group(0) @binding(1) var<storage, read_write> y: array<u32, 64>;\n"
#define MAIN                                                                               \
	"@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) g: vec3u) {\n" \
	"let i = g.x; var s = x[i];\n"

static const char *const texts[] = {
	HEAD MAIN "y[i] = s; }",
	HEAD MAIN "if (i > 20u) { s += 7u; } else if (i > 4u) { s = 3u; } y[i] = s; }",
	HEAD MAIN "if (i == 3u) { return; }\nif (i == 5u) { y[i] = 9u; return; }\ny[i] = s; }",
	HEAD MAIN "for (var k = 0u; k < i; k++) { if (k == 9u) { continue; }\n"
		  "if (k == 40u) { break; } s += k * x[k]; }\ny[i] = s; }",
	HEAD MAIN "switch (i % 5u) { case 0u, 1u: { s = 1u; } case 3u: { s += 2u; return; }\n"
		  "default: { s *= 3u; } }\ny[i] = s; }",
	HEAD
	"fn f(a: u32) -> u32 { if (a > 30u) { return a; }\nvar b = a; for (var k = 0u; k < 5u; "
	"k++) { b += k; }\nreturn b; }\n" MAIN "y[i] = f(s) + f(f(i)); }",
	HEAD "var<workgroup> w: array<u32, 8>;\n" MAIN
	     "for (var k = 0u; k < 4u; k++) { w[i % 8u] = s; workgroupBarrier();\n"
	     "s += w[(i + 1u) % 8u]; workgroupBarrier(); }\ny[i] = s; }",
	HEAD MAIN "for (var k = 0u; k < 6u; k++) { for (var j = 0u; j < k; j++) {\n"
		  "if (j == i) { break; }\ns += j; } }\ny[i] = s; }",
};

static pctl_program *compile(const char *text)
{
	const pctl_wgsl_options options = {.file = "test.wgsl"};
	pctl_program *p = NULL, *special = NULL;

	assert_int_equal(pctl_wgsl_compile(text, strlen(text), &options, NULL, &p), PCTL_OK);
	assert_int_equal(pctl_program_specialise(p, NULL, NULL, 0, NULL, &special), PCTL_OK);
	pctl_program_destroy(p);
	return special;
}

typedef struct outcome {
	uint32_t y[WORDS];
	uint32_t runs[512];
	pctl_counts counts;
} outcome;

/* x[i] is i. blocks 0: the program has no counters. */
static void run(const pctl_program *p, uint32_t flags, uint32_t n_blocks, outcome *out)
{
	const uint64_t bytes[3] = {sizeof(out->y), sizeof(out->y), 8ull * n_blocks};
	const uint32_t groups[3] = {WORDS / 8, 1, 1};
	pctl_binding b[3] = {{.binding = 0}, {.binding = 1}, {.group = PCTL_BLOCKS_GROUP}};
	const uint32_t n = n_blocks == 0 ? 2 : 3;
	uint32_t x[WORDS];
	uint8_t *wire = NULL;
	uint64_t n_wire = 0;
	pctl_kernel *kernel;
	rig r;

	memset(out, 0, sizeof(*out));
	out->counts = (pctl_counts){.head = PCTL_HEAD(pctl_counts)};
	rig_open(&r, PIPECTL_BINARY_DIR "/plugins/cpu.so");
	for (uint32_t i = 0; i < WORDS; i++)
		x[i] = i;
	for (uint32_t i = 0; i < n; i++) {
		b[i].n_bytes = bytes[i];
		rig_must(&r,
			 r.api->buffer_create(r.dev, NULL, bytes[i],
					      PCTL_BUFFER_STORAGE | PCTL_BUFFER_TRANSFER,
					      &b[i].buffer),
			 "a buffer");
	}
	rig_must(&r, r.api->buffer_write(r.dev, NULL, b[0].buffer, 0, x, sizeof(x)), "x");
	rig_must(&r, pctl_program_encode(p, NULL, &wire, &n_wire), "a wire form");
	kernel = rig_build(&r, wire, n_wire, flags);
	rig_dispatch(&r, kernel, b, n, groups);
	rig_must(&r, r.api->buffer_read(r.dev, NULL, b[1].buffer, 0, out->y, sizeof(out->y)), "y");
	if (n_blocks != 0)
		rig_must(&r, r.api->buffer_read(r.dev, NULL, b[2].buffer, 0, out->runs, bytes[2]),
			 "counters");
	if (flags != 0)
		rig_must(&r, r.api->counts(r.dev, NULL, &out->counts), "counts");
	for (uint32_t i = 0; i < n; i++)
		r.api->buffer_destroy(r.dev, b[i].buffer);
	r.api->kernel_destroy(r.dev, kernel);
	free(wire);
	rig_close(&r);
}

/* What the counters say against what the reference counts by itself: of scalars of 32 bits a unit is a run. */
static void hold(const pctl_program *p, const pctl_basic_blocks *b, const outcome *with,
		 const outcome *plain)
{
	uint64_t units[512] = {0}, *runs = calloc(p->n_insts + 1u, sizeof(*runs));
	pctl_tally *tallies = calloc(p->n_insts + 1u, sizeof(*tallies)), sum = {0};

	assert_true(runs != NULL && tallies != NULL);
	for (uint32_t i = 0; i < p->n_insts; i++) {
		const uint32_t block = b->of[i];

		runs[i] = block == 0 ? 0 : with->runs[2 * (block - 1)];
		units[p->insts[i].op] += runs[i];
	}
	for (uint32_t op = 0; op < 512; op++) {
		const pctl_op_info *info = pctl_op_get((uint16_t)op);

		if (info->name == NULL || info->kind != PCTL_OPKIND_elem)
			continue;
		if (units[op] != plain->counts.op_units[op])
			fail_msg("%s: %llu, the reference counts %llu", info->name,
				 (unsigned long long)units[op],
				 (unsigned long long)plain->counts.op_units[op]);
	}
	pctl_tally_program(p, runs, tallies);
	for (uint32_t i = 0; i < p->n_insts; i++)
		pctl_tally_add(&sum, &tallies[i]);
	assert_int_equal(sum.read_bytes, plain->counts.storage_read_bytes);
	assert_int_equal(sum.write_bytes, plain->counts.storage_write_bytes);
	/* Barriers are counted once a workgroup there, here once an invocation. */
	assert_int_equal(sum.barriers, 8 * (plain->counts.barriers[1] + plain->counts.barriers[2] +
					    plain->counts.barriers[3]));
	free(runs);
	free(tallies);
}

static void test_legalize_blocks__counts_are_those_of_the_reference(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		pctl_program *p = compile(texts[i]), *counting = NULL;
		outcome plain, with;
		pctl_basic_blocks b;

		assert_int_equal(pctl_basic_blocks_find(p, NULL, &b), PCTL_OK);
		assert_true(b.n > 0 && b.n <= 256);
		assert_int_equal(pctl_legal_count_blocks(p, &b, NULL, &counting), PCTL_OK);
		run(p, PCTL_BUILD_COUNT | PCTL_BUILD_SANITIZE, 0, &plain);
		run(counting, 0, b.n, &with);
		assert_memory_equal(plain.y, with.y, sizeof(plain.y));
		hold(p, &b, &with, &plain);
		pctl_basic_blocks_clear(&b);
		pctl_program_destroy(counting);
		pctl_program_destroy(p);
	}
}

/* Lines by hand: 64 invocations, of which 43 are above 20 and 16 from 5 to 20. */
static void test_legalize_blocks__by_hand(void **state)
{
	static const char text[] = HEAD "@compute @workgroup_size(8) fn "
					"main(@builtin(global_invocation_id) g: vec3u) {\n"
					"if (g.x > 20u) {\ny[g.x] = x[g.x];\n"
					"} else if (g.x > 4u) {\ny[g.x] = 2u;\n"
					"} else {\nfor (var k = 0u; k < 3u; k++) {\n"
					"y[g.x] += k;\n} } }";
	static const struct {
		uint32_t line, runs;
	} want[] = {{5, 43}, {7, 16}, {10, 15}};
	pctl_program *p = compile(text), *counting = NULL;
	pctl_basic_blocks b;
	outcome with;
	uint32_t found = 0;

	(void)state;
	assert_int_equal(pctl_basic_blocks_find(p, NULL, &b), PCTL_OK);
	assert_int_equal(pctl_legal_count_blocks(p, &b, NULL, &counting), PCTL_OK);
	run(counting, 0, b.n, &with);
	for (uint32_t i = 0; i < p->n_insts; i++)
		for (uint32_t k = 0; k < 3; k++) {
			if (p->insts[i].op != PCTL_OP_STORE || p->origins[i].line != want[k].line)
				continue;
			assert_int_equal(with.runs[2 * (b.of[i] - 1)], want[k].runs);
			assert_int_equal(with.runs[2 * (b.of[i] - 1) + 1], 0);
			found |= 1u << k;
		}
	assert_int_equal(found, 7);
	pctl_basic_blocks_clear(&b);
	pctl_program_destroy(counting);
	pctl_program_destroy(p);
}

static void test_legalize_blocks__without_memory(void **state)
{
	pctl_program *p = compile(texts[5]), *counting = NULL;
	pctl_basic_blocks b;
	pctl_status status = PCTL_E_NOMEM;
	uint32_t k = 0;

	(void)state;
	while (status != PCTL_OK) {
		failing_allocation = ++k;
		status = pctl_basic_blocks_find(p, NULL, &b);
		if (status == PCTL_OK) {
			status = pctl_legal_count_blocks(p, &b, NULL, &counting);
			if (failing_allocation != 0) {
				failing_allocation = 0;
				assert_int_equal(status, PCTL_OK);
			}
			pctl_basic_blocks_clear(&b);
		}
		if (status != PCTL_OK) {
			assert_int_equal(status, PCTL_E_NOMEM);
			assert_null(counting);
		}
		assert_true(k < 100000);
	}
	assert_true(k > 10);
	pctl_program_destroy(counting);
	pctl_program_destroy(p);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_legalize_blocks__counts_are_those_of_the_reference),
		PCTL_TEST(test_legalize_blocks__by_hand),
		PCTL_TEST(test_legalize_blocks__without_memory))
