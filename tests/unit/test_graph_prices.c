/* What consensus-2 prices and older schedules do not: sides of branches together, a job, a message, what is zeroed. The first program
 * is one whose use was above its price, counted by the reference. */
#include <stdlib.h>

#include "foundation/diag/diag.h"
#include "runtime/gas/gas.h"
#include "runtime/graph/kernel.h"
#include "main.h"
#include "compiler/wgsl/wgsl.h"
#include "rig.h"

#define OLD PIPECTL_SOURCE_DIR "/conf/gas/cybergraph-0.2.cfg"
#define NEW PIPECTL_SOURCE_DIR "/conf/gas/consensus-2.cfg"
#define FRAME(size, body)                                                                         \
	"@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n"                         \
	"@compute @workgroup_size(" size ") fn main(@builtin(workgroup_id) g: vec3<u32>,\n"       \
	"@builtin(local_invocation_index) l: u32, @builtin(global_invocation_id) id: vec3<u32>) " \
	"{\n" body "\n}"

typedef struct made {
	pctl_kernels *kernels;
	const pctl_kernel_module *u;
} made;

static made make(const char *text)
{
	const pctl_kernel_source source = {.name = "t.wgsl", .text = text, .n_text = strlen(text)};
	pctl_diag_list *l = pctl_diag_list_create();
	made m = {.kernels = pctl_kernels_create(NULL)};

	if (pctl_kernels_get(m.kernels, &source, pctl_diag_list_call(l), &m.u) != PCTL_OK)
		fail_msg("%s", pctl_diag_list_at(l, 0)->message);
	pctl_diag_list_destroy(l);
	return m;
}

/* Of one part a gas, so that sums are exact. */
static pctl_gas_schedule *schedule(const char *path)
{
	pctl_gas_schedule *s = NULL;

	assert_int_equal(pctl_gas_schedule_read(path, NULL, &s), PCTL_OK);
	if (pctl_gas_row_name(s, PCTL_GAS_PARTS) != NULL)
		assert_int_equal(pctl_gas_row_set(s, PCTL_GAS_PARTS, 1), 1);
	return s;
}

static pctl_gas_price price(const pctl_gas_schedule *s, const made *m, uint32_t groups, uint32_t of)
{
	const pctl_gas_query q = {.program = m->u->program,
				  .analysis = m->u->analysis,
				  .groups = {groups, 1, 1},
				  .of = of,
				  .instructions = 10,
				  .output_bytes = 64};
	pctl_gas_price out;

	assert_int_equal(pctl_gas_price_of(s, &q, NULL, &out), PCTL_OK);
	return out;
}

static uint64_t workgroup(const pctl_gas_schedule *s, const char *text)
{
	made m = make(text);
	const uint64_t out = price(s, &m, 1, 0).cost_per_workgroup;

	pctl_kernels_destroy(m.kernels);
	return out;
}

static uint64_t used(const pctl_gas_schedule *s, const made *m, uint32_t n_groups)
{
	pctl_counts counts = {.head = PCTL_HEAD(pctl_counts)};
	const uint32_t groups[3] = {n_groups, 1, 1};
	pctl_binding b = {.n_bytes = 4096};
	pctl_kernel *kernel;
	uint64_t out;
	rig r;

	rig_open(&r, PIPECTL_BINARY_DIR "/plugins/cpu.so");
	kernel = rig_build(&r, m->u->wire, m->u->wire_bytes, PCTL_BUILD_COUNT);
	rig_must(&r,
		 r.api->buffer_create(r.dev, NULL, b.n_bytes,
				      PCTL_BUFFER_STORAGE | PCTL_BUFFER_TRANSFER, &b.buffer),
		 "buffer_create");
	rig_dispatch(&r, kernel, &b, 1, groups);
	rig_must(&r, r.api->counts(r.dev, NULL, &counts), "counts");
	r.api->buffer_destroy(r.dev, b.buffer);
	r.api->kernel_destroy(r.dev, kernel);
	rig_close(&r);
	assert_int_equal(pctl_gas_actual(s, &counts, NULL, &out), PCTL_OK);
	return out;
}

/* One side has a barrier, which one invocation finds dear; the other has arithmetic, which 64 of them do. */
#define BARRIER_OR_WORK                                                                          \
	FRAME("64", "var a = id.x;\nif (g.x == 0u) { storageBarrier(); } else {\n"               \
		    "a = a * 3u; a = a ^ 5u; a = a * 7u; a = a ^ 9u; a = a * 11u; a = a ^ 13u; " \
		    "a = a * 3u; a = a ^ 5u; }\no[id.x] = a;")

/* A barrier that one invocation finds dearer than the work, and 64 do not; nothing else costs. */
static void dear_barrier(pctl_gas_schedule *s)
{
	static const uint32_t free[] = {PCTL_GAS_INVOCATION, PCTL_GAS_WORKGROUP, PCTL_GAS_DISPATCH};

	for (size_t i = 0; i < 3; i++)
		assert_int_equal(pctl_gas_row_set(s, free[i], 0), 1);
	assert_int_equal(pctl_gas_row_set(s, PCTL_GAS_STORAGE_BARRIER, 3000), 1);
}

static void use_is_below_the_price(void **state)
{
	made m = make(BARRIER_OR_WORK);
	pctl_gas_schedule *before = schedule(OLD), *now = schedule(NEW);

	(void)state;
	dear_barrier(now);
	assert_true(used(before, &m, 8) > price(before, &m, 8, 0).dispatch);
	assert_true(used(now, &m, 8) <= price(now, &m, 8, 0).dispatch);
	pctl_gas_schedule_destroy(before);
	pctl_gas_schedule_destroy(now);
	pctl_kernels_destroy(m.kernels);
}

/* Without a barrier invocations may part: two sides cost what they cost one behind the other, and more cases more. */
static void sides_cost_together(void **state)
{
#define ONE "a = a * 3u + 1u; a ^= a >> 5u;"
#define TWO "a = a * 5u + 7u; a ^= a >> 9u;"
	static const char *const sides = FRAME("64", "var a = id.x;\nif (l < 32u) { " ONE
						     " } else { " TWO " }\no[id.x] = a;");
	static const char *const empty =
		FRAME("64", "var a = id.x;\nif (l < 32u) { } else { }\no[id.x] = a;");
	static const char *const one =
		FRAME("64", "var a = id.x;\nif (l < 32u) { " ONE " } else { }\no[id.x] = a;");
	static const char *const cases =
		FRAME("64", "var a = id.x;\nswitch (l & 3u) { case 0u: { " ONE " } case 1u: { " ONE
			    " } case 2u: { " ONE " } default: { " ONE " } }\no[id.x] = a;");
	static const char *const no_cases = FRAME(
		"64", "var a = id.x;\nswitch (l & 3u) { case 0u: { } case 1u: { } case 2u: { } "
		      "default: { } }\no[id.x] = a;");
	pctl_gas_schedule *before = schedule(OLD), *now = schedule(NEW);
	const uint64_t base = workgroup(now, empty), side = workgroup(now, one) - base;

	(void)state;
	assert_true(side > 0);
	assert_int_equal(workgroup(now, sides) - base, 2 * side);
	assert_int_equal(workgroup(now, cases) - workgroup(now, no_cases), 4 * side);
	/* Released ones: the dearer of two that are alike. */
	assert_int_equal(workgroup(before, sides), workgroup(before, one));
	pctl_gas_schedule_destroy(before);
	pctl_gas_schedule_destroy(now);
}

/* A branch with a barrier is uniform: the side that is dearer for all 64, not for one. */
static void barriers_are_uniform(void **state)
{
	static const char *const work = FRAME(
		"64",
		"var a = id.x;\nif (g.x == 0u) { } else {\na = a * 3u; a = a ^ 5u; a = a * 7u; "
		"a = a ^ 9u; a = a * 11u; a = a ^ 13u; a = a * 3u; a = a ^ 5u; }\no[id.x] = a;");
	pctl_gas_schedule *now = schedule(NEW);

	(void)state;
	dear_barrier(now);
	assert_int_equal(workgroup(now, BARRIER_OR_WORK), workgroup(now, work));
	pctl_gas_schedule_destroy(now);
}

/* Loops multiply their own bodies; what is zeroed, invocations and workgroups cost where nothing is done with them. */
static void what_lies_there(void **state)
{
	static const char *const nothing = FRAME("64", "if (id.x == 99999u) { o[0] = 1u; }");
	static const char *const smaller = FRAME("32", "if (id.x == 99999u) { o[0] = 1u; }");
	char shared[1024], own[1024];
	pctl_gas_schedule *s = schedule(NEW);
	const uint64_t base = workgroup(s, nothing);

	(void)state;
	snprintf(shared, sizeof(shared), "var<workgroup> w: array<u32, 256>;\n%s",
		 FRAME("64", "if (id.x == 99999u) { o[0] = w[3]; }"));
	snprintf(own, sizeof(own), "var<private> p: array<u32, 16>;\n%s",
		 FRAME("64", "if (id.x == 99999u) { o[0] = p[3]; }"));
	assert_int_equal(workgroup(s, smaller) - pctl_gas_row(s, PCTL_GAS_WORKGROUP),
			 (base - pctl_gas_row(s, PCTL_GAS_WORKGROUP)) / 2);
	/* A load of 4 bytes of its memory is what they have besides. */
	assert_int_equal(workgroup(s, shared) - base,
			 256 * pctl_gas_row(s, PCTL_GAS_ZERO_WORKGROUP) +
				 64 * pctl_gas_row(s, PCTL_GAS_LOCAL_MEMORY_OPS) *
					 pctl_gas_row(s, PCTL_GAS_INTEGER));
	assert_int_equal(workgroup(s, own) - base,
			 64 *
				 (16 * pctl_gas_row(s, PCTL_GAS_ZERO_OPS) +
				  pctl_gas_row(s, PCTL_GAS_LOCAL_MEMORY_OPS)) *
				 pctl_gas_row(s, PCTL_GAS_INTEGER));
	pctl_gas_schedule_destroy(s);
}

/* A dispatch of no workgroups, a job, a kernel of its own, each by hand. */
static void jobs(void **state)
{
	made m = make(FRAME("64", "o[id.x] = 1u;"));
	pctl_gas_schedule *s = schedule(NEW), *before = schedule(OLD);
	const uint64_t job = pctl_gas_row(s, PCTL_GAS_JOB) + 10 * pctl_gas_row(s, PCTL_GAS_CHECK),
		       build = pctl_gas_row(s, PCTL_GAS_BUILD) +
			       10 * pctl_gas_row(s, PCTL_GAS_BUILD_INSTRUCTION);
	pctl_gas_price p = price(s, &m, 0, 0);

	(void)state;
	assert_int_equal(p.dispatch, pctl_gas_row(s, PCTL_GAS_DISPATCH));
	assert_true(p.dispatch > 0);
	assert_int_equal(p.memory,
			 2 * (pctl_gas_row(s, PCTL_GAS_MEMORY) + pctl_gas_row(s, PCTL_GAS_OUTPUT)));
	assert_int_equal(p.total, p.dispatch + p.memory);
	assert_int_equal(price(s, &m, 0, PCTL_GAS_OF_JOB).total, p.total + job);
	p = price(s, &m, 3, PCTL_GAS_OF_JOB | PCTL_GAS_OF_BUILD);
	assert_int_equal(p.job, job + build);
	assert_int_equal(p.dispatch, 3 * p.cost_per_workgroup + pctl_gas_row(s, PCTL_GAS_DISPATCH));
	/* Older ones have nothing of it. */
	p = price(before, &m, 0, PCTL_GAS_OF_JOB | PCTL_GAS_OF_BUILD);
	assert_int_equal(p.total, 2);
	pctl_gas_schedule_destroy(s);
	pctl_gas_schedule_destroy(before);
	pctl_kernels_destroy(m.kernels);
}

/* Rounded up to a gas: the dispatch, memory, and what is a job's, each for itself. */
static void parts(void **state)
{
	made m = make(FRAME("64", "o[id.x] = 1u;"));
	pctl_gas_schedule *s = schedule(NEW);
	const pctl_gas_message message = {.n_bytes = 7, .beside = PCTL_GAS_WEIGHTS};
	const pctl_gas_price fine = price(s, &m, 3, PCTL_GAS_OF_JOB);
	pctl_gas_price p;
	uint64_t one, gas;

	(void)state;
	assert_int_equal(pctl_gas_of_message(s, &message, NULL, &one), PCTL_OK);
	assert_int_equal(pctl_gas_row_set(s, PCTL_GAS_PARTS, 7), 1);
	p = price(s, &m, 3, PCTL_GAS_OF_JOB);
	assert_int_equal(p.dispatch, (fine.dispatch + 6) / 7);
	assert_int_equal(p.memory, (fine.memory + 6) / 7);
	assert_int_equal(p.job, (fine.job + 6) / 7);
	assert_int_equal(p.total, p.dispatch + p.memory + p.job);
	assert_int_equal(pctl_gas_of_message(s, &message, NULL, &gas), PCTL_OK);
	assert_int_equal(gas, (one + 6) / 7);
	pctl_gas_schedule_destroy(s);
	pctl_kernels_destroy(m.kernels);
}

static void messages(void **state)
{
	pctl_gas_schedule *s = schedule(NEW), *before = schedule(OLD);
	pctl_gas_message m = {.n_bytes = 100, .source_bytes = 40, .beside = PCTL_GAS_UPLOAD};
	const uint64_t each =
		pctl_gas_row(s, PCTL_GAS_MESSAGE) + 100 * pctl_gas_row(s, PCTL_GAS_MESSAGE_BYTE);
	uint64_t gas;

	(void)state;
	assert_int_equal(pctl_gas_of_message(s, &m, NULL, &gas), PCTL_OK);
	assert_int_equal(gas, each + 40 * pctl_gas_row(s, PCTL_GAS_VALIDATION) +
				      pctl_gas_row(s, PCTL_GAS_UPLOAD));
	m = (pctl_gas_message){.n_bytes = 100, .beside = PCTL_GAS_WEIGHTS};
	assert_int_equal(pctl_gas_of_message(s, &m, NULL, &gas), PCTL_OK);
	assert_int_equal(gas, each);
	m.n_bytes = UINT64_MAX;
	assert_int_equal(pctl_gas_of_message(s, &m, NULL, &gas), PCTL_E_GAS);
	assert_int_equal(pctl_gas_fuel(s, 1, NULL, &gas), PCTL_OK);
	assert_int_equal(gas, pctl_gas_row(s, PCTL_GAS_CONTRACT_FUEL));
	assert_int_equal(pctl_gas_fuel(s, 2001, NULL, &gas), PCTL_OK);
	assert_int_equal(gas, 3 * pctl_gas_row(s, PCTL_GAS_CONTRACT_FUEL));
	assert_int_equal(pctl_gas_build(s, 2, 10, NULL, &gas), PCTL_OK);
	assert_int_equal(gas, 2 * pctl_gas_row(s, PCTL_GAS_BUILD) +
				      10 * pctl_gas_row(s, PCTL_GAS_BUILD_INSTRUCTION));
	/* A price is never guessed. */
	assert_int_equal(pctl_gas_of_message(before, &m, NULL, &gas), PCTL_E_INVALID);
	assert_int_equal(pctl_gas_fuel(before, 1, NULL, &gas), PCTL_E_INVALID);
	assert_int_equal(pctl_gas_build(before, 1, 1, NULL, &gas), PCTL_E_INVALID);
	pctl_gas_schedule_destroy(s);
	pctl_gas_schedule_destroy(before);
}

/* The file with one text replaced: the code of the refusal. */
static uint32_t changed(const char *from, const char *to)
{
	char *text = calloc(1, 32768), *at;
	FILE *f = fopen(NEW, "rb");
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_gas_schedule *s = NULL;
	uint32_t code = 0;
	size_t n;

	assert_non_null(f);
	n = fread(text, 1, 16384, f);
	fclose(f);
	at = strstr(text, from);
	assert_non_null(at);
	memmove(at + strlen(to), at + strlen(from), n - (size_t)(at - text) - strlen(from) + 1);
	memcpy(at, to, strlen(to));
	if (pctl_gas_schedule_text("s.cfg", text, pctl_diag_list_call(l), &s) != PCTL_OK)
		code = pctl_diag_list_at(l, 0)->code;
	pctl_gas_schedule_destroy(s);
	pctl_diag_list_destroy(l);
	free(text);
	return code;
}

static void files(void **state)
{
	(void)state;
	assert_int_equal(changed("name = ", "name = "), 0);
	assert_int_equal(changed("branches = \"all\";", ""), PC2603_GAS_SCHEDULE);
	assert_int_equal(changed("branches = \"all\"", "branches = \"some\""), PC1023_CONF_WORD);
	assert_int_equal(changed("    job =", "    // job ="), PC2603_GAS_SCHEDULE);
	assert_int_equal(changed("parts = \"100\"", "parts = \"0\""), PC2603_GAS_SCHEDULE);
	assert_int_equal(changed("    memory_unit_bytes = \"32\"", "    memory_unit_bytes = \"0\""),
			 PC2603_GAS_SCHEDULE);
}

PCTL_TESTS_MAIN(PCTL_TEST(use_is_below_the_price), PCTL_TEST(sides_cost_together),
		PCTL_TEST(barriers_are_uniform), PCTL_TEST(what_lies_there), PCTL_TEST(jobs),
		PCTL_TEST(parts), PCTL_TEST(messages), PCTL_TEST(files))
