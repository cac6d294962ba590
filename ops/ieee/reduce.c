/* ieee.reduce_strict reduce_tree reduce_approx: one value of many, in an order that is part of the
 * op, or, of the last, in whatever order is quick. */
#include <inttypes.h>
#include <stdio.h>

#include "ieee.h"
#include "kernels.h"

enum { ADD, MUL, MIN, MAX, COMBINES };
static const char *const combine_names[COMBINES] = {"add", "mul", "min", "max"};

static uint32_t combine_of(const kit_use *u)
{
	uint32_t i = 0;

	while (i < COMBINES && strcmp(u->q->attr[0].text, combine_names[i]) != 0)
		i++;
	return i;
}

static pctl_status reduce_infer(const kit_use *u, pctl_op_result *out)
{
	const pctl_tensor_type *x = &u->q->in[0];

	if (!ieee_format_of(x->dtype))
		return kit_refuse_type(u, 0, u->op->desc.in[0].type);
	if (combine_of(u) == COMBINES)
		return kit_refuse_attr(u, "op", "is not add, mul, min or max");
	out->out[0] = kit_vector(x->dtype, 1);
	return kit_limit(u, "elements", kit_elements(x), IEEE_ELEMENTS_MAX);
}

/* What no element at all gives. */
static uint32_t identity(uint32_t combine, const ieee_format *f)
{
	static const uint32_t kinds[COMBINES] = {[ADD] = IEEE_FINITE,
						 [MUL] = IEEE_FINITE,
						 [MIN] = IEEE_INFINITE,
						 [MAX] = IEEE_INFINITE};
	const ieee_number x = {
		.kind = kinds[combine], .negative = combine == MAX, .mantissa = combine == MUL};

	return ieee_give(&x, f);
}

/* ---- plans ------------------------------------------------------------------------------------
 */

/* T, combine, and filler: an element that changes nothing beside `last`, which is one. */
#define HEAD(grid, enable, T, e, fill, body)                                      \
	{                                                                         \
		grid enable "alias T = " T ";\n"                                  \
			    "fn combine(a: T, b: T) -> T {\n\treturn " e ";\n}\n" \
			    "fn filler(last: T) -> T {\n\treturn " fill ";\n}\n", \
			body                                                      \
	}
#define HEADS(grid, T, enable, body)                              \
	HEAD(grid, enable, T, "a + b", "T(-0.0)", body),          \
		HEAD(grid, enable, T, "a * b", "T(1.0)", body),   \
		HEAD(grid, enable, T, "min(a, b)", "last", body), \
		HEAD(grid, enable, T, "max(a, b)", "last", body)
#define JOINED(grid, body)                                                 \
	HEADS(grid, "f32", "", body), HEADS(grid, "f16", IEEE_HALF, body), \
		HEADS(grid, "bf16", "", body)

static const kit_joined strict_joined[] = {
	JOINED("//# max dispatch = 1,1,1\n", KERNEL_REDUCE_STRICT)};
static const kit_joined tree_joined[] = {JOINED(IEEE_GRID, KERNEL_REDUCE_TREE)};
static const kit_joined approx_joined[] = {JOINED(IEEE_GRID, KERNEL_REDUCE_APPROX)};

static const char *text_of(const kit_plan *p)
{
	const uint32_t dtype = p->use->q->in[0].dtype;
	const uint32_t type = dtype == PCTL_SCALAR_F32 ? 0 : dtype == PCTL_SCALAR_F16 ? 1 : 2;

	return kit_joined_text(p->use, type * COMBINES + combine_of(p->use));
}

/* Nothing and one element need no kernel; 1 when that was all. Half a word goes as a whole one:
 * both buffers end at 4 bytes. */
static int few(kit_plan *p)
{
	const pctl_tensor_type *x = &p->use->q->in[0];
	const uint64_t n = kit_elements(x);

	if (n == 0)
		kit_fill(p, kit_out(p, 0), 0, 4,
			 identity(combine_of(p->use), ieee_format_of(x->dtype)));
	else if (n == 1)
		kit_copy(p, kit_in(p, 0), 0, kit_out(p, 0), 0, 4);
	return n < 2;
}

#define STRICT_RUN 262144u

/* The bound of the kernel's loop is a power of two, so that few inputs cost little gas and still
 * there are few programs. A device that does not count as far gets more dispatches, for the same bits. */
static void strict_plan(kit_plan *p)
{
	const uint64_t n = kit_elements(&p->use->q->in[0]);
	const uint64_t turns =
		PCTL_HAS(p->caps, pctl_plan_caps, max_turns) ? p->caps->max_turns : 0;
	const uint64_t longest = turns != 0 && turns < STRICT_RUN ? turns : STRICT_RUN;
	kit_kernel reduce = {"ieee/reduce_strict.wgsl", text_of(p), 1, "run", 1};

	if (few(p))
		return;
	while ((reduce.override_value < n - 1 || reduce.override_value < 16) &&
	       reduce.override_value * 2 <= longest)
		reduce.override_value *= 2;
	for (uint64_t first = 1; first < n; first += reduce.override_value) {
		const uint32_t range[2] = {(uint32_t)first, (uint32_t)n};

		kit_run(p, &reduce, 1,
			(kit_slot[]){KIT_ALL(kit_params(p, range, sizeof(range))),
				     KIT_ALL(kit_in(p, 0)), KIT_ALL(kit_out(p, 0))},
			3);
	}
}

/* Rounds of a kernel whose workgroups of 256 leave one of `run` elements. */
static void rounds(kit_plan *p, const char *name, uint64_t run)
{
	const kit_kernel reduce = {name, text_of(p), 256, NULL, 0};
	const uint64_t width = kit_dtype_bytes(p->use->q->in[0].dtype);
	uint64_t n = kit_elements(&p->use->q->in[0]);
	uint32_t from = kit_in(p, 0);

	if (few(p))
		return;
	while (n > 1) {
		const uint32_t n_word = (uint32_t)n;
		const uint64_t left = (n + run - 1) / run;
		const uint32_t to =
			left == 1 ? kit_out(p, 0) : kit_temp(p, (left * width + 3) & ~3ull);

		kit_run(p, &reduce, left * 256,
			(kit_slot[]){KIT_ALL(kit_params(p, &n_word, sizeof(n_word))), KIT_ALL(from),
				     KIT_ALL(to)},
			3);
		from = to;
		n = left;
	}
}

static void tree_plan(kit_plan *p)
{
	rounds(p, "ieee/reduce_tree.wgsl", 2048);
}

#define APPROX_RUN 8192u
#define APPROX_STEPS 39u /* combinations on the way of one element through a round: 31 and 8 */

static void approx_plan(kit_plan *p)
{
	rounds(p, "ieee/reduce_approx.wgsl", APPROX_RUN);
}

/* The tolerance that approx_plan's order keeps, rounding errors of second order included. */
static uint64_t approx_ulps(uint32_t combine, uint64_t n)
{
	uint64_t steps = 0;

	if (combine == MUL && n > 1)
		return 2 * (n - 1);
	for (; combine == ADD && n > 1; n = (n + APPROX_RUN - 1) / APPROX_RUN)
		steps += APPROX_STEPS;
	return 2 * steps;
}

static pctl_status approx_infer(const kit_use *u, pctl_op_result *out)
{
	const pctl_status status = reduce_infer(u, out);
	char why[96];
	uint64_t least;

	if (status != PCTL_OK)
		return status;
	least = approx_ulps(combine_of(u), kit_elements(&u->q->in[0]));
	if (kit_attr(u, 1) == 0 || kit_attr(u, 1) >= least)
		return PCTL_OK;
	snprintf(why, sizeof(why),
		 "is %" PRIu64 ", the order used can promise %" PRIu64 " (0 asks for no more)",
		 kit_attr(u, 1), least);
	return kit_refuse_attr(u, "ulps", why);
}

/* ---- references -------------------------------------------------------------------------------
 */

/* What a reference works on: the elements, how two of them become one. */
typedef struct reduction {
	const void *data;
	const ieee_format *f;
	ieee_reals reals;
	uint32_t combine;
} reduction;

static uint32_t element(const reduction *r, uint64_t i)
{
	return ieee_load(r->data, i, r->f->bits / 8);
}

static uint32_t combined(reduction *r, uint32_t a, uint32_t b)
{
	const uint32_t pair[2] = {a, b};

	switch (r->combine) {
	case ADD:
		return ieee_real_2(&r->reals, mpfr_add, pair, r->f);
	case MUL:
		return ieee_real_2(&r->reals, mpfr_mul, pair, r->f);
	case MIN:
		return ieee_extreme(a, b, -1, r->f);
	default:
		return ieee_extreme(a, b, 1, r->f);
	}
}

static uint32_t in_a_row(reduction *r, uint64_t n)
{
	uint32_t total = element(r, 0);

	for (uint64_t i = 1; i < n; i++)
		total = combined(r, total, element(r, i));
	return total;
}

/* As the definition has it: split at the largest power of two below n. */
static uint32_t in_a_tree(reduction *r, uint64_t first, uint64_t n)
{
	uint64_t middle = 1;
	uint32_t left;

	if (n == 1)
		return element(r, first);
	while (middle * 2 < n)
		middle *= 2;
	left = in_a_tree(r, first, middle);
	return combined(r, left, in_a_tree(r, first + middle, n - middle));
}

/* The result that no order comes nearer to: a sum of floats fits in 600 bits, and a product of so
 * many bits is right far beyond any tolerance. */
static uint32_t at_once(reduction *r, uint64_t n)
{
	mpfr_t total;
	uint32_t y;

	if (r->combine == MIN || r->combine == MAX)
		return in_a_row(r, n);
	mpfr_init2(total, 600);
	ieee_real_set(total, element(r, 0), r->f);
	for (uint64_t i = 1; i < n; i++) {
		ieee_real_set(r->reals.in[0], element(r, i), r->f);
		if (r->combine == ADD)
			mpfr_add(total, total, r->reals.in[0], MPFR_RNDZ);
		else
			mpfr_mul(total, total, r->reals.in[0], MPFR_RNDZ);
	}
	y = ieee_real_get(&r->reals, mpfr_set(r->reals.out, total, MPFR_RNDZ), r->f);
	mpfr_clear(total);
	return y;
}

static void reduce(const kit_use *u, const pctl_span *in, pctl_span *out,
		   uint32_t (*order)(reduction *r, uint64_t n))
{
	const uint64_t n = kit_elements(&u->q->in[0]);
	reduction r = {.data = in[0].data,
		       .f = ieee_format_of(u->q->in[0].dtype),
		       .combine = combine_of(u)};
	uint32_t y;

	ieee_reals_open(&r.reals);
	y = n == 0 ? identity(r.combine, r.f) : n == 1 ? element(&r, 0) : order(&r, n);
	ieee_reals_close(&r.reals);
	ieee_store(out[0].data, 0, r.f->bits / 8, y);
}

static uint32_t whole_tree(reduction *r, uint64_t n)
{
	return in_a_tree(r, 0, n);
}

static pctl_status strict_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	reduce(u, in, out, in_a_row);
	return PCTL_OK;
}

static pctl_status tree_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	reduce(u, in, out, whole_tree);
	return PCTL_OK;
}

static pctl_status approx_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	reduce(u, in, out, at_once);
	return PCTL_OK;
}

/* ---- ops --------------------------------------------------------------------------------------
 */

static const pctl_port reduce_in[1] = {{"x", "f32|f16|bf16[...]", "the elements, row-major", 0, 0}};
static const pctl_port reduce_out[1] = {
	{"y", "f32|f16|bf16[1]", "the one value, of x's type", 0, 0}};
#define OP_ATTR                                                                                  \
	{                                                                                        \
		"op", NULL, "how two values become one: add, mul, min or max", PCTL_ATTR_STRING, \
			0, 0, 0                                                                  \
	}
static const pctl_attr_desc reduce_attr[] = {OP_ATTR};
static const pctl_attr_desc approx_attr[] = {
	OP_ATTR,
	{"ulps", "0", "the tolerance; 0: what the order used can promise", PCTL_ATTR_U64, 0, 0,
	 UINT64_MAX},
};

#define REDUCE_LAW(short_name, how, text)                                                   \
	{                                                                                   \
		.law = PCTL_LAW_CUSTOM, .a = (how), .other = (short_name), .custom = (text) \
	}
static const pctl_law reduce_strict_laws[] = {
	REDUCE_LAW("one more", PCTL_LAW_JUDGED,
		   "reduce_strict(x, v) = op(reduce_strict(x), v) for x not empty"),
	REDUCE_LAW("one element", PCTL_LAW_JUDGED,
		   "one element comes back as it is, a NaN with its payload too"),
};
static const pctl_law reduce_tree_laws[] = {
	REDUCE_LAW("two parts", PCTL_LAW_JUDGED,
		   "n > 1: reduce_tree(x) = op(reduce_tree(x[..m]), reduce_tree(x[m..])), m the "
		   "largest power of two below n"),
	REDUCE_LAW("as strict", PCTL_LAW_JUDGED, "of min and max: equals reduce_strict"),
	REDUCE_LAW("one element", PCTL_LAW_JUDGED,
		   "one element comes back as it is, a NaN with its payload too"),
};
static const pctl_law reduce_approx_laws[] = {
	REDUCE_LAW("within tolerance", PCTL_LAW_JUDGED | PCTL_LAW_MEASURED,
		   "within ulps of the exact result as the specification measures it"),
	REDUCE_LAW("as strict", PCTL_LAW_JUDGED, "of min and max: equals reduce_strict"),
};
static void (*const strict_checks[])(kit_law *) = {ieee_law_one_more, ieee_law_one_element};
static void (*const tree_checks[])(kit_law *) = {ieee_law_two_parts, ieee_law_as_strict,
						 ieee_law_one_element};
static void (*const approx_checks[])(kit_law *) = {ieee_law_within, ieee_law_as_strict};
/* The number of elements. */
static const pctl_example reduce_bounds[] = {
	{"none", {0}},
	{"one", {1}},
	{"two", {2}},
	{"an odd last", {3}},
	{"one workgroup", {2048}},
	{"just over one workgroup", {2049}},
	{"three levels", {4194305}},
};

#define REDUCE_OP(id, op_doc, op_spec, class, attrs, ask)                                       \
	{                                                                                       \
		.desc = {KIT_PLAN_OP("ieee.reduce_" #id, 1, class),                             \
			 .doc = op_doc,                                                         \
			 .spec = op_spec                                                        \
			 "\nNo element gives +0 (add), 1 (mul), +Inf (min), -Inf (max); one "   \
			 "comes back as it is.\nop is ieee.add, mul, min or max at version 1.", \
			 KIT_IN(reduce_in),                                                     \
			 KIT_OUT(reduce_out),                                                   \
			 KIT_ATTR(attrs)},                                                      \
		.rules = KIT_PLAN_RULES(reduce_##id##_laws, reduce_bounds),                     \
		.reference = id##_reference, .plan = id##_plan, .joined = id##_joined,          \
		.laws = id##_checks, .n_joined = KIT_COUNT(id##_joined), .infer = ask           \
	}

static const kit_op ops[] = {
	REDUCE_OP(strict, "one value, from left to right",
		  "y = op(.. op(op(x[0], x[1]), x[2]) .., x[n-1]), every step rounded to the type.",
		  PCTL_CLASS_STRICT, reduce_attr, reduce_infer),
	REDUCE_OP(
		tree, "one value, by a tree over neighbours",
		"n > 1: y = op(tree(x[0..m]), tree(x[m..n])), m the largest power of two below n: "
		"neighbours\npaired level by level, an odd last one carried up; every step rounded "
		"to the type.",
		PCTL_CLASS_STRICT, reduce_attr, reduce_infer),
	REDUCE_OP(approx, "one value, in any order, within a tolerance",
		  "add: |y - s| <= ulps * ulp(|x[0]| + .. + |x[n-1]|), s the exact sum, where no "
		  "partial "
		  "sum overflows;\nmul: |y - p| <= ulps * ulp(p), p the exact product, where all "
		  "partial "
		  "products are normal;\nmin, max: exact. The order is not part of the op.",
		  PCTL_CLASS_APPROXIMATE, approx_attr, approx_infer),
};

const kit_family ieee_reduce_family = {ops, NULL, KIT_COUNT(ops), 0};
