/* The shapes of limit_programs.h: each a text of any size, and the same in C. Every step mixes multiplication and
 * exclusive or, so that no compiler folds two into one, and every lane has its own way or its own numbers. */
#include "runtime/device/limit_programs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/wgsl/wgsl.h"

#define LANES PCTL_LIMIT_LANES

static const char frame[] = "@group(0) @binding(0) var<storage, read> a : array<u32>;\n"
			    "@group(0) @binding(1) var<storage, read_write> r : array<u32>;\n"
			    "struct Counts { n : u32, loops : u32, a : u32, b : u32 }\n"
			    "@group(0) @binding(2) var<uniform> u : Counts;\n";
static const char main_text[] =
	"@compute @workgroup_size(64)\n"
	"fn main(@builtin(global_invocation_id) id : vec3<u32>) {\n"
	"  let i = id.x;\n  if (i >= u.n) { return; }\n  let d = a[i];\n  var x = d;\n";
static const char end_text[] = "  r[i] = x;\n}\n";

/* Each $ of the text is a number. */
static void add_sized(pctl_str_buf *s, const char *text, uint32_t n)
{
	for (size_t m; *text != '\0'; text += m) {
		m = strcspn(text, "$");
		pctl_str_add_n(s, text, m);
		if (text[m] == '$') {
			pctl_str_addf(s, "%" PRIu32, n);
			m++;
		}
	}
}

/* ---- turns -------------------------------------------------------------------------------- */

static void turns_text(pctl_str_buf *s, const char *functions, const char *loops)
{
	pctl_str_addf(s, "%s%s%s%s%s", frame, functions, main_text, loops, end_text);
}

static void one_text(pctl_str_buf *out, uint32_t n)
{
	char loop[120];

	snprintf(loop, sizeof(loop),
		 "  for (var k = 0u; k < min(a[64], %" PRIu32 "u); k++) { x = x * 3u + k; }\n", n);
	turns_text(out, "", loop);
}

static void one_expect(uint32_t n, const uint32_t *in, uint32_t *out)
{
	for (uint32_t i = 0; i < LANES; i++) {
		out[i] = in[i];
		for (uint32_t k = 0; k < n; k++)
			out[i] = out[i] * 3 + k;
	}
}

static void sequence_text(pctl_str_buf *out, uint32_t n)
{
	char loops[240];

	snprintf(loops, sizeof(loops),
		 "  for (var k = 0u; k < min(a[64], %" PRIu32 "u); k++) { x = x * 3u + k; }\n"
		 "  for (var k = 0u; k < min(a[64], %" PRIu32 "u); k++) { x = x * 5u + k; }\n",
		 n / 2, n / 2);
	turns_text(out, "", loops);
}

static void sequence_expect(uint32_t n, const uint32_t *in, uint32_t *out)
{
	for (uint32_t i = 0; i < LANES; i++) {
		out[i] = in[i];
		for (uint32_t k = 0; k < n / 2; k++)
			out[i] = out[i] * 3 + k;
		for (uint32_t k = 0; k < n / 2; k++)
			out[i] = out[i] * 5 + k;
	}
}

static void nested_text(pctl_str_buf *out, uint32_t n)
{
	char loops[240];

	snprintf(loops, sizeof(loops),
		 "  for (var j = 0u; j < 16u; j++) { for (var k = 0u; k < min(a[64], %" PRIu32
		 "u); k++) { x = x * 3u + k + j; } }\n",
		 n / 16);
	turns_text(out, "", loops);
}

static void nested_expect(uint32_t n, const uint32_t *in, uint32_t *out)
{
	for (uint32_t i = 0; i < LANES; i++) {
		out[i] = in[i];
		for (uint32_t k = 0; k < n / 16 * 16; k++)
			out[i] = out[i] * 3 + k % (n / 16) + k / (n / 16);
	}
}

static void called_text(pctl_str_buf *out, uint32_t n)
{
	char function[200];

	snprintf(function, sizeof(function),
		 "fn f(y : u32) -> u32 {\n  var x = y;\n"
		 "  for (var k = 0u; k < min(a[64], %" PRIu32
		 "u); k++) { x = x * 3u + k; }\n  return x;\n}\n",
		 n / 16);
	turns_text(out, function, "  for (var j = 0u; j < 16u; j++) { x = f(x) ^ j; }\n");
}

static void called_expect(uint32_t n, const uint32_t *in, uint32_t *out)
{
	for (uint32_t i = 0; i < LANES; i++) {
		out[i] = in[i];
		for (uint32_t j = 0; j < 16; j++) {
			for (uint32_t k = 0; k < n / 16; k++)
				out[i] = out[i] * 3 + k;
			out[i] ^= j;
		}
	}
}

/* ---- nesting: lane d leaves at depth d; a level that is lost lets it go on ------------------ */

static void levels_text(pctl_str_buf *s, uint32_t n, const char *open, const char *close)
{
	pctl_str_addf(s, "%s%s", frame, main_text);
	for (uint32_t k = 0; k < n; k++) {
		add_sized(s, open, k);
		pctl_str_addf(s, " x = x * 3u + %" PRIu32 "u;\n", k);
	}
	for (uint32_t k = 0; k < n; k++)
		pctl_str_add(s, close);
	pctl_str_add(s, end_text);
}

static void ifs_text(pctl_str_buf *out, uint32_t n)
{
	levels_text(out, n, "if (d != $u) {", "x = x * 5u; }\n");
}

static void switches_text(pctl_str_buf *out, uint32_t n)
{
	levels_text(out, n, "switch (d) { case $u: {} default: {", "x = x * 5u; } }\n");
}

static void loops_text(pctl_str_buf *out, uint32_t n)
{
	levels_text(out, n, "for (var k$ = 0u; k$ < min(d ^ $u, 1u); k$++) {", "x = x * 5u; }\n");
}

static void functions_text(pctl_str_buf *s, uint32_t n)
{
	pctl_str_addf(s, "%sfn f0(d : u32, x : u32) -> u32 { return x; }\n", frame);
	for (uint32_t k = 1; k <= n; k++)
		pctl_str_addf(s,
			      "fn f%" PRIu32 "(d : u32, y : u32) -> u32 {\n  var x = y;\n"
			      "  if (d != %" PRIu32 "u) { x = f%" PRIu32 "(d, x * 3u + %" PRIu32
			      "u) * 5u; }\n  return x;\n}\n",
			      k, n - k, k - 1, n - k);
	pctl_str_addf(s, "%s  x = f%" PRIu32 "(d, x);\n%s", main_text, n, end_text);
}

static void levels_expect(uint32_t n, const uint32_t *in, uint32_t *out)
{
	for (uint32_t i = 0; i < LANES; i++) {
		const uint32_t depth = in[i] < n ? in[i] : n;

		out[i] = in[i];
		for (uint32_t k = 0; k < depth; k++)
			out[i] = out[i] * 3 + k;
		for (uint32_t k = 0; k < depth; k++)
			out[i] *= 5;
	}
}

/* ---- memory: every element is written, then read in another order --------------------------- */

static const char array_loops[] =
	"  for (var k = 0u; k < $u; k++) { t[k] = d * (2u * k + 3u) + k; }\n"
	"  for (var k = 0u; k < $u; k++) { x = (x * 3u) ^ t[(k + d) % $u]; }\n";

static void local_text(pctl_str_buf *out, uint32_t n)
{
	pctl_str_addf(out, "%s%s", frame, main_text);
	add_sized(out, "  var t : array<u32, $>;\n", n);
	add_sized(out, array_loops, n);
	pctl_str_add(out, end_text);
}

static void private_text(pctl_str_buf *out, uint32_t n)
{
	add_sized(out, "var<private> t : array<u32, $>;\n", n);
	pctl_str_addf(out, "%s%s", frame, main_text);
	add_sized(out, array_loops, n);
	pctl_str_add(out, end_text);
}

static void array_expect(uint32_t n, const uint32_t *in, uint32_t *out)
{
	for (uint32_t i = 0; i < LANES; i++) {
		out[i] = in[i];
		for (uint32_t k = 0; k < n; k++) {
			const uint32_t at = (k + in[i]) % n;

			out[i] = (out[i] * 3) ^ (in[i] * (2 * at + 3) + at);
		}
	}
}

/* Element 64 k + j belongs to lane j, and lane j + k + 1 reads it. */
static void workgroup_text(pctl_str_buf *out, uint32_t n)
{
	add_sized(out, "var<workgroup> t : array<u32, $>;\n", n);
	pctl_str_add(out, frame);
	pctl_str_add(out, "@compute @workgroup_size(64)\n"
			  "fn main(@builtin(local_invocation_index) i : u32) {\n"
			  "  let d = a[i];\n  var x = d + u.b;\n");
	add_sized(out, "  for (var k = 0u; k < $u; k++) { ", n / LANES);
	pctl_str_add(out, "t[k * 64u + i] = d * (2u * k + 3u) + k; }\n  workgroupBarrier();\n");
	add_sized(out, "  for (var k = 0u; k < $u; k++) { ", n / LANES);
	pctl_str_add(out, "x = (x * 3u) ^ t[k * 64u + (i + 63u - k % 64u) % 64u]; }\n");
	pctl_str_add(out, end_text);
}

static void workgroup_expect(uint32_t n, const uint32_t *in, uint32_t *out)
{
	for (uint32_t i = 0; i < LANES; i++) {
		out[i] = in[i];
		for (uint32_t k = 0; k < n / LANES; k++) {
			const uint32_t d = in[(i + 63 - k % 64) % 64];

			out[i] = (out[i] * 3) ^ (d * (2 * k + 3) + k);
		}
	}
}

/* ---- text: a function of many steps, a table of many numbers -------------------------------- */

static uint32_t table_value(uint32_t k)
{
	return (k + 1) * 0x9e3779b9u ^ k << 7;
}

static void steps_text(pctl_str_buf *out, uint32_t n)
{
	pctl_str_addf(out, "%s%s", frame, main_text);
	for (uint32_t k = 0; k < n; k++)
		pctl_str_addf(out, "x = (x * 3u + %" PRIu32 "u) ^ (x >> 7u);\n", k);
	pctl_str_add(out, end_text);
}

static void steps_expect(uint32_t n, const uint32_t *in, uint32_t *out)
{
	for (uint32_t i = 0; i < LANES; i++) {
		out[i] = in[i];
		for (uint32_t k = 0; k < n; k++)
			out[i] = (out[i] * 3 + k) ^ (out[i] >> 7);
	}
}

/* As many tables as it takes; lane i reads every element of its own column. */
static void table_text(pctl_str_buf *out, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++) {
		if (k % PCTL_LOOKUP_WORDS_MAX == 0)
			pctl_str_addf(out, "%sconst t%" PRIu32 " = array(", k == 0 ? "" : ");\n",
				      k / PCTL_LOOKUP_WORDS_MAX);
		pctl_str_addf(out, "%" PRIu32 "u,%s", table_value(k), k % 8 == 7 ? "\n" : "");
	}
	pctl_str_addf(out, ");\n%s%s", frame, main_text);
	for (uint32_t k = 0; k < n; k += PCTL_LOOKUP_WORDS_MAX)
		pctl_str_addf(out,
			      "  for (var k = 0u; k < %" PRIu32 "u; k++) { x = (x * 3u) ^ t%" PRIu32
			      "[k * 64u + (i + d) %% 64u]; }\n",
			      (n - k < PCTL_LOOKUP_WORDS_MAX ? n - k : PCTL_LOOKUP_WORDS_MAX) /
				      LANES,
			      k / PCTL_LOOKUP_WORDS_MAX);
	pctl_str_add(out, end_text);
}

static void table_expect(uint32_t n, const uint32_t *in, uint32_t *out)
{
	for (uint32_t i = 0; i < LANES; i++) {
		out[i] = in[i];
		for (uint32_t k = 0; k < n / LANES; k++)
			out[i] = (out[i] * 3) ^ table_value(k * LANES + (i + in[i]) % LANES);
	}
}

/* ---- the list ----------------------------------------------------------------------------- */

/* 250 levels and the early return are what the policy's 256 leave; arrays end where it does, too. */
const pctl_limit_program pctl_limit_programs[] = {
	{"one loop", PCTL_EXTENT_TURNS, 16, 1, 4000, 1u << 20, 1, 1u << 16, 0, one_text,
	 one_expect},
	{"loops in sequence", PCTL_EXTENT_TURNS, 16, 2, 4000, 1u << 20, 2, 1u << 16, 0,
	 sequence_text, sequence_expect},
	{"nested loops", PCTL_EXTENT_TURNS, 16, 16, 3200, 1u << 20, 16, 1u << 16, 0, nested_text,
	 nested_expect},
	{"loops in a called function", PCTL_EXTENT_TURNS, 16, 16, 3200, 1u << 20, 16, 1u << 16, 0,
	 called_text, called_expect},
	{"ifs", PCTL_EXTENT_NESTING, LANES, 1, 20, 190, 1, 96, 0, ifs_text, levels_expect},
	{"switches", PCTL_EXTENT_NESTING, LANES, 1, 20, 190, 1, 96, 0, switches_text,
	 levels_expect},
	{"functions with an if each", PCTL_EXTENT_NESTING, LANES, 1, 20, 250, 1, 96, 0,
	 functions_text, levels_expect},
	{"loops in each other", PCTL_EXTENT_NESTING, LANES, 1, 10, 190, 1, 96, 0, loops_text,
	 levels_expect},
	{"workgroup memory", PCTL_EXTENT_WORKGROUP, LANES, LANES, 1024, 1u << 18, 256, 4096, 0,
	 workgroup_text, workgroup_expect},
	{"constant table", PCTL_EXTENT_TABLES, LANES, LANES, 1024, 1u << 16, 1024, 4096, 1,
	 table_text, table_expect},
	{"array in a function", PCTL_EXTENT_ARRAY, 16, 1, 64, 4096, 64, 256, 0, local_text,
	 array_expect},
	{"private array", PCTL_EXTENT_ARRAY, 16, 1, 64, 4096, 64, 256, 0, private_text,
	 array_expect},
	{"steps of a function", PCTL_EXTENT_INSTRUCTIONS, 16, 1, 256, 8192, 256, 1024, 0,
	 steps_text, steps_expect},
};
const uint32_t pctl_limit_n_programs = sizeof(pctl_limit_programs) / sizeof(pctl_limit_programs[0]);

char *pctl_limit_program_text(const pctl_limit_program *s, uint32_t n)
{
	pctl_str_buf text = PCTL_STR_BUF_INIT;

	s->text(&text, n);
	return pctl_str_finish(&text);
}

void pctl_limit_program_input(const pctl_limit_program *s, uint32_t n,
			      uint32_t in[PCTL_LIMIT_WORDS])
{
	/* The deepest levels each have a lane that leaves there. */
	for (uint32_t i = 0; i < LANES; i++)
		in[i] = s->extent != PCTL_EXTENT_NESTING ? 2 * i + 1
			: n > LANES			 ? n - LANES + i + 1
							 : i;
	in[LANES] = n;
}

pctl_status pctl_limit_program_need(const pctl_limit_program *s, uint32_t n, const pctl_call *call,
				    uint64_t *out)
{
	const pctl_wgsl_options options = {.file = "limit.wgsl"};
	char *text = pctl_limit_program_text(s, n);
	pctl_program *program = NULL;
	pctl_extents x;
	pctl_status status;

	*out = 0;
	if (text == NULL)
		return pctl_no_memory(call, "a program");
	status = pctl_wgsl_compile(text, strlen(text), &options, call, &program);
	if (status == PCTL_OK)
		status = pctl_program_extents(program, NULL, call, &x);
	if (status == PCTL_OK)
		*out = x.need[s->extent];
	pctl_program_destroy(program);
	free(text);
	return status;
}

pctl_status pctl_limit_program_within(const pctl_limit_program *s, uint64_t limit,
				      const pctl_call *call, uint32_t *n)
{
	uint64_t first = 0, second = 0, steps;
	pctl_status status = pctl_limit_program_need(s, s->least, call, &first);

	*n = 0;
	if (status == PCTL_OK)
		status = pctl_limit_program_need(s, s->least + s->step, call, &second);
	if (status != PCTL_OK || second <= first || limit < first)
		return status;
	steps = (limit - first) / (second - first);
	if (steps > (UINT32_MAX - s->least) / s->step)
		steps = (UINT32_MAX - s->least) / s->step;
	*n = s->least + (uint32_t)steps * s->step;
	return PCTL_OK;
}
