/* An element that was stored is there when its array or struct is moved as a whole: in every address space, through
 * functions and pointers, at proven indices and at any. NVIDIA's OpenCL compiler (580.159) lost such stores where the
 * index was masked; every row is a program of its own, because what stands beside a store may hide its loss. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/str.h"
#include "evidence/suite/trial.h"

#define ITEMS 256u
#define GROUP 64u
#define LONGEST 32u
#define MARK 77u

enum { INDEX_MASK, INDEX_MOD, INDEX_MIN, INDEX_SHIFT, INDEX_ANY, INDEX_SIGNED };

/* A shape: declarations of the module, the statements of main, how many words an item stores. $N is the length, $E the
 * elements, $I the index; the type of what is stored is O. */
typedef struct shape {
	const char *module, *body;
	uint32_t arrays, words;
} shape;

static const shape shapes[] = {
	/* 0: alone */
	{"alias O = A;\n", "var a = A($E); a[$I] = 77u; out[g.x] = a;\n", 1, 0},
	/* 1: within a struct that is made of it */
	{"struct O { n: u32, a: A }\n", "var a = A($E); a[$I] = 77u; out[g.x] = O(7u, a);\n", 1, 1},
	/* 2: a member */
	{"struct O { n: u32, a: A }\n",
	 "var s = O(7u, A($E)); s.a[$I] = 77u; let t = s; out[g.x] = t;\n", 1, 1},
	/* 3: an array of arrays; the outer index is dynamic too */
	{"alias O = array<A, 2>;\n",
	 "let b = A($E); var m = O(b, b); m[x >> 31u][$I] = 77u; out[g.x] = m;\n", 2, 0},
	/* 4: an array of structs */
	{"struct T { a: u32, b: u32 }\nalias O = array<T, $N>;\n",
	 "let b = A($E); var r: O; for (var k = 0u; k < $Nu; k++) { r[k] = T(b[k], k); }\n"
	 "r[$I].a = 77u; out[g.x] = r;\n",
	 1, 0},
	/* 5: a private variable */
	{"alias O = A;\nvar<private> a: A;\n", "a = A($E); a[$I] = 77u; out[g.x] = a;\n", 1, 0},
	/* 6: through a pointer */
	{"alias O = A;\n", "var a = A($E); let q = &a; (*q)[$I] = 77u; out[g.x] = *q;\n", 1, 0},
	/* 7: taken and given back by a function */
	{"alias O = A;\nfn put(a: A, x: u32) -> A { var b = a; b[$I] = 77u; return b; }\n",
	 "out[g.x] = put(A($E), x);\n", 1, 0},
	/* 8: a copy, and the original that keeps its element */
	{"alias O = array<A, 2>;\n", "var a = A($E); var b = a; b[$I] = 77u; out[g.x] = O(a, b);\n",
	 2, 0},
	/* 9: workgroup memory */
	{"alias O = A;\nvar<workgroup> w: array<A, 64>;\n",
	 "w[li] = A($E); w[li][$I] = 77u; out[g.x] = w[li];\n", 1, 0},
};

/* The largest power of two that is not above n, and its logarithm. */
static uint32_t power_below(uint32_t n, uint32_t *log)
{
	uint32_t p = 1;

	for (*log = 0; 2 * p <= n; p *= 2)
		++*log;
	return p;
}

static void add_index(pctl_str_buf *s, uint32_t index, uint32_t n)
{
	uint32_t log;
	const uint32_t p = power_below(n, &log);

	switch (index) {
	case INDEX_MASK:
		pctl_str_addf(s, "x & %" PRIu32 "u", p - 1);
		break;
	case INDEX_MOD:
		pctl_str_addf(s, "x %% %" PRIu32 "u", n);
		break;
	case INDEX_MIN:
		pctl_str_addf(s, "min(x, %" PRIu32 "u)", n - 1);
		break;
	case INDEX_SHIFT:
		pctl_str_addf(s, "x >> %" PRIu32 "u", 32 - log);
		break;
	case INDEX_SIGNED:
		pctl_str_addf(s, "i32(x) & %" PRIu32 "i", p - 1);
		break;
	default:
		pctl_str_add(s, "x");
	}
}

static uint32_t index_of(uint32_t index, uint32_t n, uint32_t x)
{
	uint32_t log;
	const uint32_t p = power_below(n, &log);

	switch (index) {
	case INDEX_MASK:
	case INDEX_SIGNED:
		return x & (p - 1);
	case INDEX_MOD:
		return x % n;
	case INDEX_MIN:
		return x < n - 1 ? x : n - 1;
	case INDEX_SHIFT:
		return x >> (32 - log);
	default:
		return x;
	}
}

static uint32_t element(uint32_t x, uint32_t k, uint32_t computed)
{
	return computed ? x * (2 * k + 3) + k : 1000 + 3 * k;
}

static void add_elements(pctl_str_buf *s, uint32_t n, uint32_t computed)
{
	for (uint32_t k = 0; k < n; k++) {
		pctl_str_add(s, k == 0 ? "" : ", ");
		if (computed)
			pctl_str_addf(s, "x * %" PRIu32 "u + %" PRIu32 "u", 2 * k + 3, k);
		else
			pctl_str_addf(s, "%" PRIu32 "u", element(0, k, 0));
	}
}

static void expand(pctl_str_buf *s, const char *text, const uint32_t *p)
{
	while (*text != '\0') {
		const size_t n = strcspn(text, "$");

		pctl_str_add_n(s, text, n);
		text += n;
		if (*text == '\0')
			return;
		if (text[1] == 'N')
			pctl_str_addf(s, "%" PRIu32, p[0]);
		else if (text[1] == 'E')
			add_elements(s, p[0], p[3]);
		else
			add_index(s, p[1], p[0]);
		text += 2;
	}
}

static char *text_of(const uint32_t *p)
{
	const shape *f = &shapes[p[2]];
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	pctl_str_addf(&s, "alias A = array<u32, %" PRIu32 ">;\n", p[0]);
	expand(&s, f->module, p);
	pctl_str_add(&s, "@group(0) @binding(0) var<storage, read> inp: array<u32>;\n"
			 "@group(0) @binding(1) var<storage, read_write> out: array<O>;\n"
			 "@compute @workgroup_size(64)\nfn main(@builtin(global_invocation_id) g: "
			 "vec3<u32>, @builtin(local_invocation_index) li: u32) {\n"
			 "let x = inp[(g.x + 246u) % 256u];\n");
	expand(&s, f->body, p);
	pctl_str_add(&s, "}\n");
	return pctl_str_finish(&s);
}

static uint32_t words_of(const uint32_t *p)
{
	return p[2] == 4 ? 2 * p[0] : shapes[p[2]].arrays * p[0] + shapes[p[2]].words;
}

/* What item of number x stores. */
static void expect(const uint32_t *p, uint32_t x, uint32_t *out)
{
	const uint32_t n = p[0], at = index_of(p[1], n, x), which = p[2];
	uint32_t a[LONGEST], *marked = out + shapes[which].words;

	for (uint32_t k = 0; k < n; k++)
		a[k] = element(x, k, p[3]);
	if (which == 4) {
		for (uint32_t k = 0; k < n; k++) {
			out[2 * k] = k == at ? MARK : a[k];
			out[2 * k + 1] = k;
		}
		return;
	}
	if (shapes[which].words != 0)
		out[0] = 7;
	for (uint32_t i = 0; i < shapes[which].arrays; i++)
		memcpy(marked + (size_t)i * n, a, n * sizeof(*a));
	if (which == 3)
		marked += (size_t)(x >> 31) * n;
	if (which == 8)
		marked += n;
	if (at < n)
		marked[at] = MARK;
}

static pctl_status run(suite_trial *t, const pctl_kernel_module *unit)
{
	const uint32_t words = words_of(t->p);
	uint32_t *want = calloc(ITEMS, words * sizeof(*want)), x[ITEMS], b[2];
	suite_work w = {.times = 1};
	pctl_status status;

	if (want == NULL)
		return pctl_no_memory(t->call, "a trial");
	for (uint32_t i = 0; i < ITEMS; i++) {
		const uint64_t r = suite_mix(t->context->seed + 5, i);

		/* half of them small, so that indices of any value hit as well as miss */
		x[i] = (uint32_t)(r & 1 ? r >> 32 : (r >> 32) % (LONGEST + 4));
	}
	for (uint32_t g = 0; g < ITEMS; g++)
		expect(t->p, x[(g + 246) % ITEMS], &want[(size_t)g * words]);
	b[0] = suite_buffer_add(&w, SUITE_IN, x, sizeof(x));
	b[1] = suite_buffer_add(&w, SUITE_OUT, NULL, (uint64_t)ITEMS * words * sizeof(*want));
	suite_step_add(&w, unit, ITEMS / GROUP, b, 2);
	status = suite_run(t, t->context->device, &w);
	if (status == PCTL_OK)
		suite_words(t, "elements of wholes", suite_data(&w, b[1]), want,
			    (uint64_t)ITEMS * words);
	suite_work_drop(&w);
	free(want);
	return status;
}

static pctl_status trial(suite_trial *t)
{
	return suite_with_text(t, "wholes.wgsl", text_of(t->p), run);
}

/* {length, index, shape, elements that are computed} */
#define INDICES(n, shape)                                                                       \
	{n, INDEX_MASK, shape, 0}, {n, INDEX_MASK, shape, 1}, {n, INDEX_MOD, shape, 1},         \
		{n, INDEX_MIN, shape, 1}, {n, INDEX_SHIFT, shape, 1}, {n, INDEX_ANY, shape, 1}, \
	{                                                                                       \
		n, INDEX_SIGNED, shape, 1                                                       \
	}
#define LENGTHS(shape)                                                              \
	INDICES(2, shape), INDICES(4, shape), INDICES(5, shape), INDICES(8, shape), \
		INDICES(16, shape), INDICES(32, shape)
#define SOME(shape)                                                                     \
	{4, INDEX_MASK, shape, 0}, {5, INDEX_MASK, shape, 1}, {8, INDEX_ANY, shape, 1}, \
	{                                                                               \
		32, INDEX_MASK, shape, 1                                                \
	}

static const uint32_t sets[][SUITE_PARAMS] = {LENGTHS(0), LENGTHS(1), SOME(2), SOME(3), SOME(4),
					      SOME(5),	  SOME(6),    SOME(7), SOME(8), SOME(9)};

const suite_unit suite_wholes[] = {
	{.name = "whole-values",
	 .law = "an element that was stored is there when its array or struct is moved as a whole",
	 .domain = "arrays of 2 to 32 elements, six kinds of index, ten ways to move",
	 .param = {"length", "index", "shape", "computed"},
	 .sets = sets,
	 .n_sets = sizeof(sets) / sizeof(sets[0]),
	 .per_block = 6,
	 .trial = trial}};
const uint32_t suite_n_wholes = sizeof(suite_wholes) / sizeof(suite_wholes[0]);
