/* Flattened conditions give the bytes of the program as written: generated programs, flattened for devices that do
 * next to no nesting right, on the reference, or legalised on the plugin that PCTL_TEST_PLUGIN names. The reference
 * never sees legalised programs elsewhere; here it stands for a device. */
#include "main.h"
#include "test_legalize_flatten.h"
#include "test_legalize_run.h"

#include "compiler/legalize/legal_parts.h"
#include "planted/planted.h"
#include "compiler/analysis/extents.h"
#include "evidence/suite/case.h"
#include "evidence/suite/gen.h"

static const uint32_t limits[] = {1, 2, 3, 5, 9};
enum { N_LIMITS = sizeof(limits) / sizeof(limits[0]) };

/* Where programs run, and what became of them. */
typedef struct trial {
	rig reference, device;
	pctl_softfloat *forms;
	const char *plugin; /* NULL: the device is the reference */
	uint32_t flattened, within, deepest;
} trial;

static void trial_open(trial *t)
{
	memset(t, 0, sizeof(*t));
	t->plugin = getenv("PCTL_TEST_PLUGIN");
	rig_open(&t->reference, PIPECTL_BINARY_DIR "/plugins/cpu.so");
	rig_open(&t->device, t->plugin ? t->plugin : PIPECTL_BINARY_DIR "/plugins/cpu.so");
	t->reference.loud = t->device.loud = 1;
	rig_must(&t->reference, pctl_softfloat_create(&t->reference.call, &t->forms), "the forms");
}

static void trial_close(trial *t)
{
	rig_close(&t->reference);
	rig_close(&t->device);
	pctl_softfloat_destroy(t->forms);
}

static uint64_t extent(trial *t, const pctl_program *p, uint32_t which)
{
	pctl_extents x;

	rig_must(&t->reference, pctl_program_extents(p, NULL, &t->reference.call, &x),
		 "its extents");
	return x.need[which];
}

static uint32_t nesting(trial *t, const pctl_program *p)
{
	return (uint32_t)extent(t, p, PCTL_EXTENT_NESTING);
}

/* For the device and the limit; NULL: it stays what it is. */
static pctl_program *flattened(trial *t, const pctl_program *p, uint32_t limit)
{
	const pctl_legal_options options = {
		.head = PCTL_HEAD(pctl_legal_options), .forms = t->forms, .nesting = limit};
	pctl_program *out = NULL;

	if (nesting(t, p) <= limit)
		return NULL;
	if (t->plugin)
		rig_must(&t->reference,
			 pctl_legalise(p, &t->device.caps, &options, &t->reference.call, &out),
			 "legalising");
	else
		/* Whether or not it becomes less deep: loops cannot. */
		rig_must(&t->reference, legal_flatten(p, limit, &t->reference.call, &out),
			 "flattening");
	return out;
}

static rig_bytes *copies(const rig_bytes *arrays, uint32_t n)
{
	rig_bytes *out = calloc(n, sizeof(*out));

	for (uint32_t i = 0; i < n; i++) {
		out[i] = arrays[i];
		if (!arrays[i].data)
			continue;
		out[i].data = malloc(arrays[i].n_bytes);
		memcpy(out[i].data, arrays[i].data, arrays[i].n_bytes);
	}
	return out;
}

static void drop(rig_bytes *arrays, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		free(arrays[i].data);
	free(arrays);
}

static void run(rig *r, const pctl_program *p, const rig_bytes *arrays, uint32_t n,
		const uint32_t groups[3])
{
	uint8_t *wire = NULL;
	uint64_t n_wire = 0;

	rig_must(r, pctl_program_encode(p, &r->call, &wire, &n_wire), "its wire form");
	rig_run(r, wire, n_wire, 0, arrays, n, groups[0], groups[1], groups[2]);
	free(wire);
}

/* "" or the first word that differs. */
static const char *difference(const rig_bytes *want, const rig_bytes *got, uint32_t n)
{
	static char text[120];

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t *w = want[i].data, *g = got[i].data;

		for (uint64_t k = 0; k < want[i].n_bytes / 4; k++) {
			if (w[k] == g[k])
				continue;
			snprintf(text, sizeof(text), "array %u word %llu: got %08x, wanted %08x", i,
				 (unsigned long long)k, g[k], w[k]);
			return text;
		}
	}
	return "";
}

static void failed(uint32_t limit, const char *what, const char *text)
{
	fprintf(stderr, "%s\n", text);
	fail_msg("limit %u: %s", limit, what);
}

static void compare(trial *t, const pctl_program *p, const rig_bytes *arrays, uint32_t n,
		    const uint32_t groups[3], const char *text)
{
	rig_bytes *want = copies(arrays, n);

	run(&t->reference, p, want, n, groups);
	for (uint32_t i = 0; i < N_LIMITS; i++) {
		pctl_program *flat = flattened(t, p, limits[i]);
		rig_bytes *got = flat ? copies(arrays, n) : NULL;

		if (flat) {
			run(&t->device, flat, got, n, groups);
			t->flattened++;
			t->within += nesting(t, flat) <= limits[i];
			if (difference(want, got, n)[0])
				failed(limits[i], difference(want, got, n), text);
			/* Bounds are found again: a device counts turns, too. */
			if (!t->plugin &&
			    extent(t, flat, PCTL_EXTENT_TURNS) > extent(t, p, PCTL_EXTENT_TURNS))
				failed(limits[i], "the bound of a loop is lost", text);
		}
		drop(got, got ? n : 0);
		pctl_program_destroy(flat);
	}
	if (nesting(t, p) > t->deepest)
		t->deepest = nesting(t, p);
	drop(want, n);
}

/* PCTL_TEST_PROGRAMS says it: few for a device, thousands for the reference under the label slow. */
static uint32_t how_many(uint32_t here)
{
	const char *asked = getenv("PCTL_TEST_PROGRAMS");

	return asked ? (uint32_t)strtoul(asked, NULL, 10) : PCTL_TEST_SHARE(here);
}

/* ---- programs of control ------------------------------------------------------------------ */

typedef struct control {
	uint32_t a[FLAT_LANES], r[FLAT_LANES * FLAT_WORDS], t[8], u[4];
	rig_bytes arrays[4];
} control;

static void control_fill(control *c, uint64_t seed)
{
	memset(c, 0, sizeof(*c));
	for (uint32_t i = 0; i < FLAT_LANES; i++)
		c->a[i] = (uint32_t)(rig_random(seed, 1000 + i) >> (i % 3 ? 32 : 60));
	for (uint32_t i = 0; i < 4; i++)
		c->u[i] = (uint32_t)(rig_random(seed, 2000 + i) >> 32);
	c->arrays[0] = (rig_bytes){c->a, sizeof(c->a), 0};
	c->arrays[1] = (rig_bytes){c->r, sizeof(c->r), 0};
	c->arrays[2] = (rig_bytes){c->t, sizeof(c->t), 0};
	c->arrays[3] = (rig_bytes){c->u, sizeof(c->u), 1};
}

static const uint32_t control_groups[3] = {FLAT_LANES / 8, 1, 1};

static pctl_program *compiled(trial *t, const char *text)
{
	const pctl_wgsl_options options = {.file = "test.wgsl"};
	pctl_program *p = NULL;

	if (pctl_wgsl_compile(text, strlen(text), &options, &t->reference.call, &p) != PCTL_OK)
		fail_msg("%s", text);
	return p;
}

static void test_legalize_flatten__control(void **state)
{
	char *text = malloc(FLAT_TEXT);
	trial t;

	(void)state;
	trial_open(&t);
	for (uint64_t seed = 1; seed <= how_many(1200); seed++) {
		flat_writer w = {.text = text, .seed = seed};
		pctl_program *p;
		control c;

		flat_program(&w, 3 + (int)(seed % 7));
		control_fill(&c, seed);
		p = compiled(&t, text);
		compare(&t, p, c.arrays, 4, control_groups, text);
		pctl_program_destroy(p);
	}
	print_message("%u flattened, %u within the limit, up to %u levels\n", t.flattened, t.within,
		      t.deepest);
	assert_true(t.within > t.flattened / 8 && t.flattened > (t.plugin ? 0 : how_many(1200)));
	trial_close(&t);
	free(text);
}

/* ---- programs of everything --------------------------------------------------------------- */

static int is_of(const pctl_program *p, uint32_t binding, uint8_t space)
{
	for (uint32_t i = 0; i < p->n_vars; i++)
		if (p->vars[i].space == space && p->vars[i].binding == binding)
			return 1;
	return 0;
}

static void one_generated(trial *t, uint64_t seed)
{
	pctl_arena *arena = pctl_arena_create();
	char *text = node_text(gen_program(arena, seed, !t->plugin && seed % 2));
	pctl_kernels *kernels = pctl_kernels_create(NULL);
	const pctl_kernel_module *unit = NULL;
	pctl_kernel_source source = {.name = "generated.wgsl", .text = text};
	rig_bytes arrays[CASE_BINDINGS];
	diff_case c;

	assert_true(diff_case_read(&c, source.name, text));
	source.n_text = strlen(text);
	source.overrides = c.override;
	source.n_overrides = c.n_overrides;
	rig_must(&t->reference, pctl_kernels_get(kernels, &source, &t->reference.call, &unit),
		 text);
	for (uint32_t i = 0; i < CASE_BINDINGS; i++)
		arrays[i] = (rig_bytes){NULL, 0, RIG_UNBOUND};
	for (uint32_t i = 0; i < c.n_bindings; i++) {
		rig_bytes *b = &arrays[c.binding[i].binding];

		if (!is_of(unit->program, c.binding[i].binding, PCTL_SPACE_UNIFORM) &&
		    !is_of(unit->program, c.binding[i].binding, PCTL_SPACE_STORAGE))
			continue;
		b->n_bytes = c.binding[i].n_bytes;
		b->data = malloc(b->n_bytes);
		b->is_uniform =
			(uint32_t)is_of(unit->program, c.binding[i].binding, PCTL_SPACE_UNIFORM);
		diff_case_fill(&c, 0, i, b->data);
	}
	compare(t, unit->program, arrays, c.n_bindings, c.dispatch[0].groups, text);
	for (uint32_t i = 0; i < c.n_bindings; i++)
		free(arrays[i].data);
	pctl_kernels_destroy(kernels);
	free(text);
	pctl_arena_destroy(arena);
}

static void test_legalize_flatten__generated(void **state)
{
	trial t;

	(void)state;
	trial_open(&t);
	for (uint64_t seed = 1; seed <= how_many(450); seed++)
		one_generated(&t, seed);
	print_message("%u flattened, %u within the limit, up to %u levels\n", t.flattened, t.within,
		      t.deepest);
	/* Not one of every few has what is flattened. */
	assert_true(t.flattened > (t.plugin || PCTL_TEST_SANITIZED ? 0 : how_many(450) / 4 * 3));
	trial_close(&t);
}

/* ---- what is left alone ------------------------------------------------------------------- */

static void test_legalize_flatten__within(void **state)
{
	static const char text[] =
		"@group(0) @binding(0) var<storage, read_write> r: array<u32>;\n"
		"fn f(x: u32) -> u32 { if (x > 3u) { return 1u; } return x; }\n"
		"@compute @workgroup_size(1) fn main() { if (r[0] == 1u) { r[1] = f(r[2]); } }\n";
	const pctl_device_caps caps = {.head = PCTL_HEAD(pctl_device_caps),
				       .caps = PCTL_CAP_I64_DIV};
	pctl_legal_options options = {.head = PCTL_HEAD(pctl_legal_options)};
	pctl_program *p, *out;
	uint8_t *wire[3];
	uint64_t n[3];
	trial t;

	(void)state;
	trial_open(&t);
	p = compiled(&t, text);
	options.forms = t.forms;
	/* Any, just enough, one too few. */
	for (uint32_t i = 0; i < 3; i++) {
		options.nesting = i == 0 ? 0 : nesting(&t, p) + 1 - i;
		rig_must(&t.reference, pctl_legalise(p, &caps, &options, &t.reference.call, &out),
			 "legalising");
		rig_must(&t.reference, pctl_program_encode(out, &t.reference.call, &wire[i], &n[i]),
			 "its wire");
		assert_true(i == 0 || nesting(&t, out) <= options.nesting);
		pctl_program_destroy(out);
	}
	assert_true(n[0] == n[1] && memcmp(wire[0], wire[1], n[0]) == 0);
	assert_true(n[0] != n[2] || memcmp(wire[0], wire[2], n[0]) != 0);
	for (uint32_t i = 0; i < 3; i++)
		free(wire[i]);
	pctl_program_destroy(p);
	trial_close(&t);
}

/* ---- planted faults ----------------------------------------------------------------------- */

/* Where flag number k is cleared, in the order of the text: the constant stored there. 0: there is none. */
static uint32_t clearing(const pctl_program *p, uint32_t k)
{
	for (uint32_t i = 0; i + 1 < p->n_insts; i++) {
		const pctl_inst *in = &p->insts[i], *store = in + 1;
		const pctl_type *type = &p->types[in->type];

		if (in->op != PCTL_OP_CONST || type->scalar != PCTL_SCALAR_BOOL ||
		    pctl_arg(p, in, 0) || store->op != PCTL_OP_STORE)
			continue;
		if (k-- == 0)
			return i;
	}
	return 0;
}

/* Every way to leave a flag set: what is seen, by the first that is. */
static void plant(const char *fault, const char *text)
{
	pctl_program *p;
	rig_bytes *want;
	uint32_t seen = 0, at;
	control c;
	trial t;

	trial_open(&t);
	p = compiled(&t, text);
	control_fill(&c, 5);
	want = copies(c.arrays, 4);
	run(&t.reference, p, want, 4, control_groups);
	for (uint32_t k = 0;; k++) {
		rig_bytes *got = copies(c.arrays, 4);
		pctl_program *flat = NULL;

		rig_must(&t.reference, legal_flatten(p, 1, &t.reference.call, &flat), "flattening");
		at = clearing(flat, k);
		if (at) {
			flat->words[flat->insts[at].first_arg] = 1;
			run(&t.reference, flat, got, 4, control_groups);
			if (difference(want, got, 4)[0] && !seen++)
				planted(fault, "flattened conditions", "the program as written",
					difference(want, got, 4));
		}
		drop(got, 4);
		pctl_program_destroy(flat);
		if (!at)
			break;
	}
	print_message("%s: seen at %u places\n", fault, seen);
	assert_true(seen > 0);
	drop(want, 4);
	pctl_program_destroy(p);
	trial_close(&t);
}

#define PLANT_HEAD                                                        \
	"@group(0) @binding(0) var<storage, read> a: array<u32>;\n"       \
	"@group(0) @binding(1) var<storage, read_write> r: array<u32>;\n" \
	"@group(0) @binding(2) var<storage, read_write> t: array<u32>;\n" \
	"@group(0) @binding(3) var<uniform> u: vec4<u32>;\n"              \
	"@compute @workgroup_size(8)\n"                                   \
	"fn main(@builtin(global_invocation_id) g: vec3<u32>) {\n"        \
	"let i = g.x; var x = a[i] + t[i & 7u] + u.x;\n"

static void test_legalize_flatten__planted(void **state)
{
	(void)state;
	if (getenv("PCTL_TEST_PLUGIN"))
		return;
	plant("a flag that is not cleared for the next turn of a loop",
	      PLANT_HEAD "for (var k = 0u; k < 4u; k++) { if (((x >> k) & 1u) == 1u) {\n"
			 "if (((x >> k) & 2u) == 2u) { x = x * 3u + k; } x += 5u; } }\n"
			 "r[i * 8u] = x; }\n");
	plant("a jump after which what follows its condition is not guarded",
	      PLANT_HEAD "if ((x & 1u) == 1u) { if ((x & 2u) == 2u) { r[i * 8u] = x; return; }\n"
			 "x = x * 7u; } r[i * 8u] = x + 1u; }\n");
}

PCTL_TESTS_MAIN(PCTL_TEST(test_legalize_flatten__within), PCTL_TEST(test_legalize_flatten__control),
		PCTL_TEST(test_legalize_flatten__generated),
		PCTL_TEST(test_legalize_flatten__planted))
