/* Invocations that part behind a barrier under a condition, and meet again only where what the condition governs ends: each goes
 * its own way, once. PoCL (3.1) copied what follows for each side, barriers with it, and let invocation 0 decide for its
 * workgroup which side to take. The host plays the workgroups one after the other; every row is a program of its own. */
#include <inttypes.h>
#include <stdlib.h>

#include "foundation/base/str.h"
#include "evidence/suite/trial.h"

#define TURNS 16u
#define KEPT 8u
#define MOST_WG 128u
#define GROUPS 3u

/* How they part; what the barrier stands in; what is kept over barriers; what the condition is made of. */
enum { PART_IF, PART_ELSE, PART_LOOP, PART_CONTINUE, PART_SWITCH, PART_RETURN, PART_BREAK };
enum { IN_MAIN, IN_SETTLE, IN_TURN, IN_ELSE, IN_CASE, IN_EARLY };
enum { KEEP_PRIVATE, KEEP_PRIVATE_WORD, KEEP_LOCAL, KEEP_LOCAL_WORD };
enum { BY_WORKGROUP_MEMORY, BY_UNIFORM, BY_GROUP };

/* $W the workgroup's size, $K(i) an element of what is kept */
static const char *const parts[] = {
	[PART_IF] = "if (lane % 16u == i) { $M }\n",
	[PART_ELSE] = "if (lane % 16u == i) { $M } else { bits += $4; }\n",
	[PART_LOOP] = "for (var k = 0u; k < lane % 4u; k++) { bits = bits * 3u + $3; $3 += bits; "
		      "}\n",
	[PART_CONTINUE] = "if (lane % 16u == i) { $M continue; }\nbits ^= $1;\n",
	[PART_SWITCH] = "switch (lane % 3u) { case 0u: { $M } case 1u: { bits += $4; } default: "
			"{} }\n",
	[PART_RETURN] = "if (lane % 16u == i) { $M return; }\nbits ^= $1;\n",
	[PART_BREAK] = "if (lane % 16u == i) { $M break; }\nbits ^= $1;\n"};

static const char settle[] = "passed[lane] = x * (2u * i + 3u) + lane;\nworkgroupBarrier();\n$F"
			     "workgroupBarrier();\n";

static const char *condition_of(uint32_t by)
{
	return by == BY_WORKGROUP_MEMORY ? "workgroupUniformLoad(&flags[i]) == 1u"
	       : by == BY_UNIFORM	 ? "((params.x >> i) & 1u) == 1u"
					 : "(wid.x + i) % 3u != 0u";
}

static int is_word(uint32_t keep)
{
	return keep == KEEP_PRIVATE_WORD || keep == KEEP_LOCAL_WORD;
}

static void expand(pctl_str_buf *s, const char *text, const uint32_t *p)
{
	for (; *text != '\0'; text++) {
		if (*text != '$') {
			pctl_str_add_n(s, text, 1);
			continue;
		}
		text++;
		if (*text == 'W')
			pctl_str_addf(s, "%" PRIu32 "u", p[3]);
		else if (*text == 'T')
			pctl_str_add(s, is_word(p[2]) ? "u32" : "array<u32, 8>");
		else if (*text == 'P')
			expand(s, parts[p[0]], p);
		else if (*text == 'S')
			expand(s, settle, p);
		else if (*text == 'C')
			pctl_str_add(s, condition_of(p[4]));
		else if (*text == 'M')
			expand(s, "$3 += 5u; bits = bits * 31u + $3 + $2;", p);
		else if (*text == 'F' && is_word(p[2]))
			expand(s, "kept = passed[i % $W] ^ i;\n", p);
		else if (*text == 'F')
			expand(s,
			       "for (var k = 0u; k < 8u; k++) { kept[k] = passed[(i + k) % $W] ^ "
			       "(i + k); }\n",
			       p);
		else if (is_word(p[2]))
			pctl_str_add(s, "kept");
		else
			pctl_str_addf(s, "kept[%c]", *text);
	}
}

static char *text_of(const uint32_t *p)
{
	static const char *const bodies[] = {
		[IN_MAIN] = "if ($C) {\n$S$P}\n",
		[IN_SETTLE] = "if ($C) {\nsettle(i, lane, x);\n$P}\n",
		[IN_TURN] = "turn(i, lane, x, wid);\n",
		[IN_EARLY] = "turn(i, lane, x, wid);\n",
		[IN_ELSE] = "if (!($C)) {\n} else {\n$S$P}\n",
		[IN_CASE] = "switch (select(0u, 7u, $C)) {\ncase 7u: {\n$S$P}\ndefault: {}\n}\n"};
	const int is_local = p[2] == KEEP_LOCAL || p[2] == KEEP_LOCAL_WORD;
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	expand(&s,
	       "@group(0) @binding(0) var<uniform> params: vec4<u32>;\n"
	       "@group(0) @binding(1) var<storage, read> items: array<u32>;\n"
	       "@group(0) @binding(2) var<storage, read_write> results: array<u32>;\n"
	       "var<workgroup> flags: array<u32, 16>;\nvar<workgroup> passed: array<u32, $W>;\n"
	       "var<private> bits: u32;\n",
	       p);
	if (!is_local)
		expand(&s, "var<private> kept: $T;\n", p);
	if (p[1] == IN_SETTLE)
		expand(&s, "fn settle(i: u32, lane: u32, x: u32) {\n$S}\n", p);
	if (p[1] == IN_TURN)
		expand(&s,
		       "fn turn(i: u32, lane: u32, x: u32, wid: vec3<u32>) {\nif ($C) "
		       "{\n$S$P}\n}\n",
		       p);
	if (p[1] == IN_EARLY)
		expand(&s,
		       "fn turn(i: u32, lane: u32, x: u32, wid: vec3<u32>) {\nif (!($C)) { bits "
		       "+= 3u; return; }\n$S$P}\n",
		       p);
	expand(&s,
	       "@compute @workgroup_size($W)\nfn main(@builtin(global_invocation_id) id: "
	       "vec3<u32>,\n"
	       "@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) wid: vec3<u32>) "
	       "{\nlet x = items[id.x];\n",
	       p);
	expand(&s, is_local ? "var kept: $T;\n" : "", p);
	expand(&s,
	       "bits = lane;\nfor (var k = lane; k < 16u; k += $W) { flags[k] = (params.x >> k) & "
	       "1u; "
	       "}\n"
	       "workgroupBarrier();\nfor (var i = 0u; i < 16u; i++) {\n",
	       p);
	expand(&s, bodies[p[1]], p);
	expand(&s, "}\nresults[id.x] = bits * 7u + $3;\n}\n", p);
	return pctl_str_finish(&s);
}

/* ---- what is due ---- */

typedef struct invocation {
	uint32_t bits, kept[KEPT];
} invocation;

static void mix(invocation *v, uint32_t two, uint32_t three)
{
	v->kept[three] += 5;
	v->bits = v->bits * 31 + v->kept[three] + v->kept[two];
}

/* Element k of what is kept: a word is all of them. */
static uint32_t at(const uint32_t *p, uint32_t k)
{
	return is_word(p[2]) ? 0 : k;
}

static void part(const uint32_t *p, uint32_t i, uint32_t lane, invocation *v)
{
	const int is_own = lane % 16 == i;

	if (p[0] == PART_LOOP) {
		for (uint32_t k = 0; k < lane % 4; k++) {
			v->bits = v->bits * 3 + v->kept[at(p, 3)];
			v->kept[at(p, 3)] += v->bits;
		}
	} else if (p[0] == PART_SWITCH) {
		if (lane % 3 == 0)
			mix(v, at(p, 2), at(p, 3));
		if (lane % 3 == 1)
			v->bits += v->kept[at(p, 4)];
	} else if (is_own) {
		mix(v, at(p, 2), at(p, 3));
	} else if (p[0] == PART_ELSE) {
		v->bits += v->kept[at(p, 4)];
	} else if (p[0] != PART_IF) {
		v->bits ^= v->kept[at(p, 1)];
	}
}

static void play(const uint32_t *p, uint32_t group, uint32_t params, const uint32_t *items,
		 uint32_t *results)
{
	static const invocation fresh;
	uint32_t passed[MOST_WG];
	invocation all[MOST_WG];

	for (uint32_t l = 0; l < p[3]; l++) {
		all[l] = fresh;
		all[l].bits = l;
	}
	for (uint32_t i = 0; i < TURNS; i++) {
		if (p[4] == BY_GROUP ? (group + i) % 3 == 0 : (params >> i & 1) == 0) {
			for (uint32_t l = 0; l < p[3] && p[1] == IN_EARLY; l++)
				all[l].bits += 3;
			continue;
		}
		for (uint32_t l = 0; l < p[3]; l++)
			passed[l] = items[l] * (2 * i + 3) + l;
		for (uint32_t l = 0; l < p[3]; l++) {
			for (uint32_t k = 0; k < (is_word(p[2]) ? 1 : KEPT); k++)
				all[l].kept[k] = passed[(i + k) % p[3]] ^ (i + k);
			part(p, i, l, &all[l]);
		}
	}
	for (uint32_t l = 0; l < p[3]; l++)
		results[l] = all[l].bits * 7 + all[l].kept[at(p, 3)];
}

static pctl_status run(suite_trial *t, const pctl_kernel_module *unit)
{
	const uint32_t n = GROUPS * t->p[3];
	const uint32_t params[4] = {(uint32_t)suite_mix(t->context->seed + 9, 0) | 1};
	uint32_t items[GROUPS * MOST_WG], want[GROUPS * MOST_WG], b[3];
	suite_work w = {.times = 1};
	pctl_status status;

	for (uint32_t i = 0; i < n; i++)
		items[i] = (uint32_t)suite_mix(t->context->seed + 10, i);
	for (uint32_t g = 0; g < GROUPS; g++)
		play(t->p, g, params[0], items + g * t->p[3], want + g * t->p[3]);
	b[0] = suite_buffer_add(&w, SUITE_UNIFORM, params, sizeof(params));
	b[1] = suite_buffer_add(&w, SUITE_IN, items, 4ull * n);
	b[2] = suite_buffer_add(&w, SUITE_OUT, NULL, 4ull * n);
	suite_step_add(&w, unit, GROUPS, b, 3);
	status = suite_run(t, t->context->device, &w);
	if (status == PCTL_OK)
		suite_words(t, "what each invocation made", suite_data(&w, b[2]), want, n);
	suite_work_drop(&w);
	return status;
}

static pctl_status trial(suite_trial *t)
{
	return suite_with_text(t, "parted.wgsl", text_of(t->p), run);
}

/* {part, in, keep, workgroup, by} */
static const uint32_t sets[][SUITE_PARAMS] = {
	{PART_IF, IN_SETTLE, KEEP_PRIVATE, 64, BY_WORKGROUP_MEMORY},
	{PART_IF, IN_MAIN, KEEP_LOCAL, 64, BY_UNIFORM},
	{PART_IF, IN_TURN, KEEP_PRIVATE, 128, BY_GROUP},
	{PART_IF, IN_CASE, KEEP_PRIVATE_WORD, 32, BY_WORKGROUP_MEMORY},
	{PART_ELSE, IN_SETTLE, KEEP_PRIVATE, 32, BY_WORKGROUP_MEMORY},
	{PART_ELSE, IN_ELSE, KEEP_LOCAL, 64, BY_GROUP},
	{PART_LOOP, IN_SETTLE, KEEP_PRIVATE, 64, BY_UNIFORM},
	{PART_LOOP, IN_MAIN, KEEP_LOCAL_WORD, 17, BY_WORKGROUP_MEMORY},
	{PART_LOOP, IN_CASE, KEEP_PRIVATE, 64, BY_GROUP},
	{PART_CONTINUE, IN_SETTLE, KEEP_PRIVATE, 64, BY_WORKGROUP_MEMORY},
	{PART_CONTINUE, IN_MAIN, KEEP_LOCAL, 7, BY_UNIFORM},
	{PART_CONTINUE, IN_ELSE, KEEP_PRIVATE_WORD, 128, BY_GROUP},
	{PART_CONTINUE, IN_CASE, KEEP_LOCAL, 64, BY_WORKGROUP_MEMORY},
	{PART_SWITCH, IN_SETTLE, KEEP_PRIVATE, 64, BY_GROUP},
	{PART_SWITCH, IN_MAIN, KEEP_LOCAL, 3, BY_WORKGROUP_MEMORY},
	{PART_RETURN, IN_TURN, KEEP_PRIVATE, 64, BY_WORKGROUP_MEMORY},
	{PART_RETURN, IN_TURN, KEEP_PRIVATE_WORD, 17, BY_GROUP},
	{PART_BREAK, IN_CASE, KEEP_PRIVATE, 64, BY_WORKGROUP_MEMORY},
	{PART_BREAK, IN_CASE, KEEP_LOCAL_WORD, 128, BY_UNIFORM},
	{PART_IF, IN_EARLY, KEEP_PRIVATE, 64, BY_WORKGROUP_MEMORY},
	{PART_LOOP, IN_EARLY, KEEP_PRIVATE, 128, BY_UNIFORM},
	{PART_SWITCH, IN_EARLY, KEEP_PRIVATE_WORD, 64, BY_WORKGROUP_MEMORY},
	{PART_RETURN, IN_EARLY, KEEP_PRIVATE, 64, BY_GROUP}};

const suite_unit suite_parted[] = {
	{.name = "barrier-parted",
	 .law = "invocations that part behind a barrier under a condition go each its own way, and "
		"meet behind it",
	 .domain = "seven ways to part, in branches, cases and functions, of which some return "
		   "early, sizes 3..128",
	 .param = {"part", "in", "keep", "workgroup", "by"},
	 .sets = sets,
	 .n_sets = sizeof(sets) / sizeof(sets[0]),
	 .per_block = 5,
	 .trial = trial}};
const uint32_t suite_n_parted = sizeof(suite_parted) / sizeof(suite_parted[0]);
