/* Lengths of arrays that are checked before a loop: which loops are written twice, each with a twin that is not; programs of addresses
 * on a device that does not check what is proven, but takes the last element; wrong rules are found. */
#include "compiler/ir/tables.h"
#include "compiler/legalize/legal_parts.h"
#include "main.h"
#include "planted/planted.h"
#include "test_legalize_run.h"
#include "test_legalize_simplify.h"
#include "unit/failing_allocation.h"

typedef pctl_status (*pass)(const pctl_program *p, const pctl_call *call, pctl_program **out);

/* As a device gets it: *out is NULL where no loop is written twice. */
static pctl_status checked_before(const pctl_program *p, pass lengths, const pctl_call *call,
				  pctl_program **out)
{
	pctl_program *first = NULL;
	pctl_status status = legal_hoist_pass(p, call, &first);

	*out = NULL;
	if (status == PCTL_OK)
		status = lengths(first ? first : p, call, out);
	pctl_program_destroy(first);
	return status;
}

/* ---- which loops -------------------------------------------------------------------------- */

static const struct {
	const char *what, *body;
	uint32_t loops, proven; /* LOOPs afterwards, accesses of storage without a check */
} cases[] = {
	{"a loop's variable", "for (var i = 0u; i < u.x; i++) { r[i] = 1u; }", 2, 1},
	{"compared the other way round", "for (var i = 0u; u.x >= i; i++) { r[i] = 1u; }", 2, 1},
	{"not compared from below", "for (var i = 9u; i > u.x; i--) { r[i] = 1u; }", 1, 0},
	{"in a conjunction", "for (var i = 0u; (i < u.x) & (u.y > 2u); i++) { r[i] = 1u; }", 2, 1},
	{"not in a disjunction", "for (var i = 0u; (i < u.x) | (i < u.y); i++) { r[i] = 1u; }", 1,
	 0},
	{"scaled, moved, of coordinates",
	 "for (var i = 0u; i < u.x; i++) { r[i * u.y + g.x * 4u + u.z] = 1u; }", 2, 1},
	{"not a difference", "for (var i = 0u; i < u.x; i++) { r[i - u.y] = 1u; }", 1, 0},
	{"a difference from before the loop",
	 "for (var i = 0u; i < u.x; i++) { r[i + (u.z - u.y)] = 1u; }", 2, 1},
	{"masked, a remainder, a quotient, the lesser",
	 "for (var i = 0u; i < u.x; i++) { r[(a[i] & 63u) + a[i % u.y] % u.y + i / 3u + min(a[i / "
	 "u.y], i)] = 1u; }",
	 2, 4},
	{"not out of memory", "for (var i = 0u; i < u.x; i++) { r[a[i]] = 1u; }", 2, 1},
	{"not stored to on the way", "for (var i = 0u; i < u.x; i++) { i += u.y; r[i] = 1u; }", 1,
	 0},
	{"nor on a way round",
	 "for (var i = 0u; i < u.x; i++) { for (var j = 0u; j < 3u; j++) { i += u.y; } r[i] = 1u; "
	 "}",
	 2, 0},
	{"a whole nest",
	 "for (var i = 0u; i < u.x; i++) { for (var j = 0u; j < i; j++) { r[i * u.y + j] = 1u; } }",
	 4, 1},
	{"the loop inside, where only that has a bound",
	 "for (var i = 0u; i < u.x; i++) { for (var j = 0u; j < a[i]; j++) { r[j] = 1u; } }", 3, 1},
	{"not with an effect in the test",
	 "for (var i = 0u; (i < u.x) & (tick(i) < 9u); i++) { r[i] = 1u; }", 1, 0},
	{"not without a test", "var i = 0u; loop { if (i >= u.x) { break; } r[i] = 1u; i++; }", 1,
	 0},
	{"not with a barrier", "for (var i = 0u; i < u.x; i++) { workgroupBarrier(); r[i] = 1u; }",
	 1, 0},
	{"not where invocations meet in a function",
	 "for (var i = 0u; i < u.x; i++) { meet(); r[i] = 1u; }", 1, 0},
	{"by what each invocation has of its own",
	 "let n = a[g.x]; for (var i = 0u; i < n; i++) { r[i] = 1u; }", 2, 1},
	{"by two such values",
	 "let n = a[g.x]; let m = a[g.x + 1u]; for (var i = 0u; i < n; i++) { r[i + m] = 1u; }", 2,
	 1},
	{"beside a barrier",
	 "for (var i = 0u; i < u.x; i++) { workgroupBarrier(); for (var j = 0u; j < 3u; j++) { r[i "
	 "+ j] = 1u; } }",
	 3, 1},
	{"not signed", "for (var i = 0; i < i32(u.x); i++) { r[i] = 1u; }", 1, 0},
	{"an atomic", "for (var i = 0u; i < u.x; i++) { atomicAdd(&h.n[i], 1u); }", 2, 1},
	{"not an array that has its length", "for (var i = 0u; i < u.x; i++) { w[i] = 1u; }", 1, 0},
};

static uint32_t proven(const pctl_program *p)
{
	uint32_t n = 0;

	for (uint32_t f = 1; f < p->n_functions; f++)
		for (uint32_t v = 0; v < p->functions[f].n_insts; v++) {
			const pctl_inst *in = &p->insts[p->functions[f].first_inst + v];
			pctl_place place;

			n += pctl_place_get(p, &p->functions[f], in, &place) &&
			     place.space == PCTL_SPACE_STORAGE && in->flags != 0;
		}
	return n;
}

static void case_text(char *text, size_t n, const char *body)
{
	snprintf(text, n,
		 "struct H { k: u32, n: array<atomic<u32>> }\n"
		 "@group(0) @binding(0) var<storage, read_write> r: array<u32>;\n"
		 "@group(0) @binding(1) var<storage, read> a: array<u32>;\n"
		 "@group(0) @binding(2) var<uniform> u: vec4<u32>;\n"
		 "@group(0) @binding(3) var<storage, read_write> h: H;\n"
		 "var<workgroup> w: array<u32, 8>;\n"
		 "fn tick(n: u32) -> u32 { h.k += 1u; return n; }\n"
		 "fn meet() { workgroupBarrier(); }\n"
		 "@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) g: vec3<u32>) "
		 "{\n%s\n}",
		 body);
}

static void of_each_rule(void **state)
{
	uint32_t wrong = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[1024];
		pctl_program *out = NULL;
		legal_kernel k;
		uint32_t loops, n;

		case_text(text, sizeof(text), cases[i].body);
		kernel_open(&k, text);
		rig_must(&k.r, checked_before(k.p, legal_lengths_pass, &k.r.call, &out),
			 "checking before loops");
		loops = count_op(out ? out : k.p, "main", PCTL_OP_LOOP);
		n = out ? proven(out) : 0;
		if (loops != cases[i].loops || n != cases[i].proven)
			print_message("%s: %u loops, %u proven\n", cases[i].what, loops, n);
		wrong += loops != cases[i].loops || n != cases[i].proven;
		pctl_program_destroy(out);
		kernel_close(&k);
	}
	assert_int_equal(wrong, 0);
}

/* The switch; and what a device does right: eight turns and the one that leaves, twice. */
static void of_options(void **state)
{
	const pctl_device_caps caps = {.head = PCTL_HEAD(pctl_device_caps),
				       .caps = PCTL_CAP_I64_DIV};
	static const struct {
		uint32_t flags, loops;
		uint64_t turns;
	} with[] = {{0, 2, 0}, {PCTL_LEGAL_NO_LENGTHS, 1, 0}, {0, 2, 18}, {0, 1, 17}};
	char text[1024];
	legal_kernel k;

	(void)state;
	case_text(text, sizeof(text), "for (var i = 0u; i < 8u; i++) { r[i] = 1u; }");
	kernel_open(&k, text);
	for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++) {
		const pctl_legal_options options = {.head = PCTL_HEAD(pctl_legal_options),
						    .forms = k.forms,
						    .flags = with[i].flags,
						    .turns = with[i].turns};
		pctl_program *out = NULL;

		rig_must(&k.r, pctl_legalise(k.p, &caps, &options, &k.r.call, &out), "legalising");
		assert_int_equal(count_op(out, "main", PCTL_OP_LOOP), with[i].loops);
		pctl_program_destroy(out);
	}
	kernel_close(&k);
}

/* ---- generated ---------------------------------------------------------------------------- */

/* What is proven is not checked: whatever is behind the end is the last element. */
static void clamp(legal *l, uint32_t v, const pctl_inst *in)
{
	uint32_t words[PCTL_TYPE_DEPTH_MAX + 2], type, index = PCTL_NONE, kept = 0, n, one;
	pctl_place place;

	if (in->flags && pctl_place_get(l->p, l->fn, in, &place) &&
	    place.space == PCTL_SPACE_STORAGE) {
		words[0] = place.root;
		type = place.root_type;
		for (uint32_t i = 0; i < place.n_chain && index == PCTL_NONE; i++) {
			words[1 + i] = l->p->words[place.chain + i];
			if (l->p->types[type].kind == PCTL_TYPE_RUNTIME_ARRAY &&
			    (in->flags & PCTL_INST_PROVEN(i))) {
				index = words[1 + i];
				kept = l->values[index].id[0];
				n = legal_emit(l, PCTL_OP_ARRAY_LENGTH, l->t_u32, words, 1 + i);
				one = legal_word(l, 1);
				n = legal_emit2(l, PCTL_OP_SUB, l->t_u32, n, one);
				l->values[index].id[0] =
					legal_emit2(l, PCTL_OP_MIN, l->t_u32, kept, n);
			}
			type = pctl_type_step(l->p, type, words[1 + i]);
		}
	}
	legal_int64_rules.instruction(l, v, in);
	if (index != PCTL_NONE)
		l->values[index].id[0] = kept;
}

typedef struct trial {
	rig reference;
	uint32_t programs, changed;
} trial;

/* Program of a seed as the pass has it, on that device, against the program as written; seen: the word that differs. */
static void run_one(trial *t, uint64_t seed, pass lengths, char *seen, size_t n_seen)
{
	char *text = malloc(ADDRESS_TEXT);
	const pctl_wgsl_options options = {.file = "test.wgsl"};
	legal_rules rules = legal_int64_rules;
	legal l = {.call = &t->reference.call};
	address_writer w = {.text = text, .seed = seed};
	pctl_program *p = NULL, *out = NULL, *clamped = NULL;
	address_data d[2];

	rules.instruction = clamp;
	address_program(&w);
	address_fill(&d[0], seed);
	address_fill(&d[1], seed);
	rig_must(&t->reference,
		 pctl_wgsl_compile(text, strlen(text), &options, &t->reference.call, &p), text);
	rig_must(&t->reference, checked_before(p, lengths, &t->reference.call, &out),
		 "checking before loops");
	t->programs++;
	if (out) {
		t->changed++;
		rig_must(&t->reference, legal_rebuild(&l, out, &rules, 0, NULL, &clamped),
			 "clamping");
		run_on(&t->reference, p, d[0].arrays, ADDRESS_BUFFERS, ADDRESS_LANES / 8);
		run_on(&t->reference, clamped, d[1].arrays, ADDRESS_BUFFERS, ADDRESS_LANES / 8);
		for (uint32_t i = 0; i < ADDRESS_BUFFERS && !seen[0]; i++)
			for (uint64_t k = 0; k < d[0].arrays[i].n_bytes / 4 && !seen[0]; k++)
				if (((const uint32_t *)d[0].arrays[i].data)[k] !=
				    ((const uint32_t *)d[1].arrays[i].data)[k])
					snprintf(seen, n_seen,
						 "program %u: word %u of array %u differs",
						 (uint32_t)seed, (uint32_t)k, i);
	}
	pctl_program_destroy(clamped);
	pctl_program_destroy(out);
	pctl_program_destroy(p);
	free(text);
}

static void trial_open(trial *t)
{
	memset(t, 0, sizeof(*t));
	rig_open(&t->reference, PIPECTL_BINARY_DIR "/plugins/cpu.so");
	t->reference.loud = 1;
}

static void of_addresses(void **state)
{
	const char *asked = getenv("PCTL_TEST_PROGRAMS");
	const uint32_t n = asked ? (uint32_t)strtoul(asked, NULL, 10) : PCTL_TEST_SHARE(1500);
	char seen[100] = "";
	trial t;

	(void)state;
	trial_open(&t);
	for (uint64_t seed = 1; seed <= n && !seen[0]; seed++)
		run_one(&t, seed, legal_lengths_pass, seen, sizeof(seen));
	print_message("%u of %u have loops twice\n", t.changed, t.programs);
	assert_string_equal(seen, "");
	assert_true(t.changed > t.programs / 3);
	rig_close(&t.reference);
}

/* Each allocation fails, in turn. */
static void without_memory(void **state)
{
	pctl_status status = PCTL_E_NOMEM;
	pctl_program *out = NULL;
	char text[1024];
	uint32_t n = 0;
	legal_kernel k;

	(void)state;
	case_text(text, sizeof(text), cases[8].body);
	kernel_open(&k, text);
	while (status == PCTL_E_NOMEM) {
		failing_allocation = ++n;
		status = checked_before(k.p, legal_lengths_pass, NULL, &out);
		failing_allocation = 0;
		if (status != PCTL_OK && (status != PCTL_E_NOMEM || out != NULL))
			fail_msg("allocation %u fails, and the status is %d", n, (int)status);
	}
	assert_int_equal(status, PCTL_OK);
	assert_true(n > 20 && out != NULL);
	pctl_program_destroy(out);
	kernel_close(&k);
}

/* ---- wrong rules -------------------------------------------------------------------------- */

#define WRONG(name)                                                                   \
	pctl_status name##_lengths_pass(const pctl_program *p, const pctl_call *call, \
					pctl_program **out)
WRONG(wraps);
WRONG(overflows);
WRONG(equal);
WRONG(first);
WRONG(lowest);
WRONG(stored);

/* Of simplify_wrong.cmake. body: where generated programs have nothing like it, a loop that has. */
static const struct {
	const char *what;
	pass lengths;
	const char *body;
} wrong[] = {
	{"the sum of the largest indices may wrap", wraps_lengths_pass, NULL},
	{"the product of the largest indices may wrap", overflows_lengths_pass, NULL},
	{"an index may be the length", equal_lengths_pass, NULL},
	{"coordinates are those of the first invocation", first_lengths_pass, NULL},
	{"the greater of two is taken for the lesser", lowest_lengths_pass,
	 "for (var i = 0u; i < u.x; i++) { r[min(i, i * 2u)] = 1u; }"},
	{"a variable is what was compared, though it is stored to since", stored_lengths_pass,
	 "for (var i = 0u; i < u.x; i++) { i += u.y; r[i] = 1u; }"},
};

/* Written twice as it must not be, or as the right pass does not write it. */
static void by_hand(const char *body, pass lengths, char *seen, size_t n_seen)
{
	pctl_program *out = NULL, *right = NULL;
	char text[1024];
	legal_kernel k;

	case_text(text, sizeof(text), body);
	kernel_open(&k, text);
	rig_must(&k.r, checked_before(k.p, lengths, &k.r.call, &out), "checking before loops");
	rig_must(&k.r, checked_before(k.p, legal_lengths_pass, &k.r.call, &right),
		 "checking before loops");
	for (uint32_t i = 0; out && right && i < out->n_insts && i < right->n_insts && !seen[0];
	     i++)
		if (out->insts[i].op != right->insts[i].op)
			snprintf(seen, n_seen, "instruction %u of \"%s\" is another one", i, body);
	if (out && !right)
		snprintf(seen, n_seen, "\"%s\" is written twice", body);
	pctl_program_destroy(out);
	pctl_program_destroy(right);
	kernel_close(&k);
}

static void of_wrong_rules(void **state)
{
	trial t;

	(void)state;
	trial_open(&t);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char seen[200] = "";

		if (wrong[i].body)
			by_hand(wrong[i].body, wrong[i].lengths, seen, sizeof(seen));
		for (uint64_t seed = 1; seed <= 2000 && !wrong[i].body && !seen[0]; seed++)
			run_one(&t, seed, wrong[i].lengths, seen, sizeof(seen));
		print_message("%s: %s\n", wrong[i].what, seen[0] ? seen : "not found");
		assert_true(seen[0]);
		planted(wrong[i].what, "lengths checked before loops",
			wrong[i].body ? "which loops are written twice" : "the program as written",
			seen);
	}
	rig_close(&t.reference);
}

PCTL_TESTS_MAIN(PCTL_TEST(of_each_rule), PCTL_TEST(of_options), PCTL_TEST(without_memory),
		PCTL_TEST(of_addresses), PCTL_TEST(of_wrong_rules))
