/* tensor.cumsum: sums of prefixes along an axis, each exact and rounded once, of integers modulo 2^width. Rows are cut into parts, whose
 * sums are added in front of each other before the prefixes of a part are made. */
#include "cumsum.h"

#include "common/tensors/exact_reference.h"
#include "exact_sums.h"
#include "kernels.h"
#include "map_laws.h"
#include "reduce_laws.h"

#define PART 32u

pctl_status cumsum_axes(const kit_use *u, tensor_axes *a)
{
	const uint32_t dtype = u->q->in[0].dtype;
	uint32_t mask;
	pctl_status status;

	if (tensor_float_format_of(dtype) == NULL &&
	    ((kit_dtype_bytes(dtype) != 4 && kit_dtype_bytes(dtype) != 8) ||
	     dtype == PCTL_SCALAR_BOOL))
		return kit_refuse_type(u, 0, u->op->desc.in[0].type);
	status = tensor_axis_mask(u, 0, &mask);
	if (status == PCTL_OK)
		status = tensor_axes_of(u, mask, 0, a);
	a->out = u->q->in[0];
	return status;
}

static pctl_status infer(const kit_use *u, pctl_op_result *out)
{
	return tensor_axes_infer(u, cumsum_axes, out);
}

/* ---- kernels -------------------------------------------------------------------------------- */

/* As cumsum_place.wgsl has it. */
typedef struct places {
	uint32_t count, n, parts, inner, reverse, exclusive, has_offsets, none;
} places;

/* A level: its values and, once they are known, what lies in front of each of its elements. */
typedef struct level {
	uint64_t n, inner;
	uint32_t values;
} level;

static void add_level(kit_wgsl *w, const kit_use *u, int elements, int keep)
{
	const uint32_t dtype = u->q->in[0].dtype;
	const tensor_float_format *format = tensor_float_format_of(dtype);

	kit_wgsl_add(w, KERNEL_CUMSUM_PLACE);
	if (format == NULL) {
		kit_wgsl_add(w,
			     kit_dtype_bytes(dtype) == 8 ? "alias A = u64;\n" : "alias A = u32;\n");
		kit_wgsl_add(w, "@group(0) @binding(1) var<storage, read> x: array<A>;\n"
				"@group(0) @binding(2) var<storage, read_write> y: array<A>;\n"
				"var<private> acc: A;\nfn clear() {\n\tacc = A(0);\n}\n"
				"fn add(i: u32) {\n\tacc += x[i];\n}\n"
				"fn put(i: u32) {\n\ty[i] = acc;\n}\n");
		return;
	}
	kit_wgsl_add(w, "alias A = array<u32, 21>;\n");
	kit_wgsl_add(w, elements ? "@group(0) @binding(1) var<storage, read> x: array<u32>;\n"
				 : "@group(0) @binding(1) var<storage, read> x: array<A>;\n");
	kit_wgsl_add(w, keep ? "@group(0) @binding(2) var<storage, read_write> y: array<A>;\n"
			     : "@group(0) @binding(2) var<storage, read_write> y: array<u32>;\n");
	kit_wgsl_add(w, format->text);
	kit_wgsl_add(w, "fn sum_scale() -> bool {\n\treturn false;\n}\n");
	kit_wgsl_add(w, KERNEL_EXACT_SUM);
	kit_wgsl_add(w, KERNEL_SUM_WINDOW);
	kit_wgsl_add(w, "fn clear() {\n\tsum_clear();\n}\n");
	if (elements) {
		kit_wgsl_named(w, kit_codec_bits(dtype), "x");
		kit_wgsl_add(w, "fn add(i: u32) {\n\tsum_term(x_bits(i));\n}\n");
	} else {
		kit_wgsl_add(w, "fn add(i: u32) {\n\tfor (var d = 0u; d < DIGITS; d++) {\n"
				"\t\ttotal[d] += i64(x[i][d]);\n\t}\n\tsaw |= x[i][20];\n}\n");
	}
	if (keep)
		kit_wgsl_add(w, KERNEL_SUM_KEEP);
}

/* One dispatch over a level: sums of its parts, or prefixes; `offsets` UINT32_MAX: there are none. */
static void run(kit_plan *p, const level *l, uint64_t rows, int elements, int prefixes,
		uint32_t offsets, uint32_t to)
{
	const kit_use *u = p->use;
	const uint32_t dtype = u->q->in[0].dtype;
	const int is_float = tensor_float_format_of(dtype) != NULL;
	const int keep = !elements || !prefixes, halves = !keep && kit_dtype_bytes(dtype) == 2;
	const uint64_t parts = (l->n + PART - 1) / PART, count = rows * (prefixes ? l->n : parts);
	const places v = {(uint32_t)count,
			  (uint32_t)l->n,
			  (uint32_t)parts,
			  (uint32_t)l->inner,
			  elements && kit_attr(u, CUMSUM_REVERSE) != 0,
			  !elements || kit_attr(u, CUMSUM_EXCLUSIVE) != 0,
			  offsets != UINT32_MAX,
			  0};
	kit_kernel kernel = {"tensor/cumsum.wgsl", NULL, 64, NULL, 0};
	kit_wgsl w = kit_wgsl_make(u, 32768);
	kit_slot slots[4] = {KIT_ALL(kit_params(p, &v, sizeof(v))), KIT_ALL(l->values), KIT_ALL(to),
			     KIT_ALL(offsets == UINT32_MAX ? l->values : offsets)};

	add_level(&w, u, elements, keep);
	kit_wgsl_add(&w, prefixes ? KERNEL_CUMSUM_PREFIX : KERNEL_CUMSUM_PART);
	if (prefixes)
		kit_wgsl_add(&w, is_float ? "fn add_offset(i: u32) {\n"
					    "\tfor (var d = 0u; d < DIGITS; d++) {\n"
					    "\t\ttotal[d] += i64(offsets[i][d]);\n\t}\n"
					    "\tsaw |= offsets[i][20];\n}\n"
					  : "fn add_offset(i: u32) {\n\tacc += offsets[i];\n}\n");
	if (keep || !is_float)
		kit_wgsl_add(&w, is_float ? "fn finish(i: u32) {\n\tsum_flush();\n\tput(i);\n}\n"
					  : "fn finish(i: u32) {\n\tput(i);\n}\n");
	if (is_float && !keep) {
		kit_wgsl_add(&w, "fn product(i: u32) -> u32 {\n\tclear();\n\tgather(i);\n"
				 "\tsum_flush();\n\treturn sum_round();\n}\n");
		kit_wgsl_add(&w, halves ? KERNEL_RESULT_HALVES : KERNEL_RESULT_WORDS);
	} else {
		kit_wgsl_add(&w, KERNEL_CUMSUM_KEEP);
	}
	kernel.text = w.text;
	if (p->status == PCTL_OK)
		p->status = kit_wgsl_status(&w);
	kit_run(p, &kernel, halves ? (count + 1) / 2 : count, slots, prefixes ? 4 : 3);
	kit_wgsl_free(&w);
}

static void plan(kit_plan *p)
{
	const uint64_t thing = tensor_float_format_of(p->use->q->in[0].dtype) != NULL
				       ? 4 * TENSOR_SUM_WORDS
				       : kit_dtype_bytes(p->use->q->in[0].dtype);
	level levels[8];
	uint32_t depth = 0, offsets = UINT32_MAX;
	tensor_axes a;

	p->status = cumsum_axes(p->use, &a);
	if (p->status != PCTL_OK || kit_elements(&a.out) == 0 || tensor_rows_apart(p, &a, 1))
		return;
	if (cumsum_rows(p, &a))
		return;
	levels[0] = (level){a.terms, a.reduced[0].stride, kit_in(p, 0)};
	while (levels[depth].n > PART) {
		const uint64_t parts = (levels[depth].n + PART - 1) / PART;

		levels[depth + 1] = (level){parts, 1, kit_temp(p, thing * a.count * parts)};
		run(p, &levels[depth], a.count, depth == 0, 0, UINT32_MAX,
		    levels[depth + 1].values);
		depth++;
	}
	for (uint32_t i = depth + 1; i-- > 0;) {
		const uint32_t to =
			i == 0 ? kit_out(p, 0) : kit_temp(p, thing * a.count * levels[i].n);

		run(p, &levels[i], a.count, i == 0, 1, offsets, to);
		offsets = to;
	}
}

/* ---- reference ------------------------------------------------------------------------------ */

static pctl_status reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const pctl_tensor_type *x = &u->q->in[0];
	const tensor_float_format *format = tensor_float_format_of(x->dtype);
	const uint64_t bytes = kit_dtype_bytes(x->dtype);
	const int exclusive = kit_attr(u, CUMSUM_EXCLUSIVE) != 0;
	tensor_axes a;
	const pctl_status status = cumsum_axes(u, &a);

	for (uint64_t row = 0; status == PCTL_OK && row < a.count; row++) {
		const uint64_t inner = a.reduced[0].stride;
		tensor_sum sum = {0};
		uint64_t integer = 0;

		for (uint64_t t = 0; t < a.terms; t++) {
			const uint64_t index =
				kit_attr(u, CUMSUM_REVERSE) != 0 ? a.terms - 1 - t : t;
			const uint64_t at = (row / inner * a.terms + index) * inner + row % inner;
			tensor_sum so_far = sum;
			uint64_t v = 0, before = integer;
			uint32_t bits;

			memcpy(&v, (const char *)in[0].data + at * bytes, bytes);
			integer += v;
			if (format == NULL) {
				memcpy((char *)out[0].data + at * bytes,
				       exclusive ? &before : &integer, bytes);
				continue;
			}
			tensor_sum_product(&sum, tensor_value(x->dtype, in[0].data, at), 1);
			if (!exclusive)
				so_far = sum;
			bits = tensor_sum_round(&so_far, 1, format);
			memcpy((char *)out[0].data + at * bytes, &bits, bytes);
		}
	}
	return status;
}

/* ---- the op --------------------------------------------------------------------------------- */

#define TYPES "f32|f16|bf16|i32|u32|i64|u64[...]"
static const pctl_port ports_in[] = {{"x", TYPES, "the terms", 0, 0}};
static const pctl_port ports_out[] = {{"y", TYPES, "the sums, of x's type and shape", 0, 0}};
static const pctl_attr_desc attr[] = {
	{"axis", "-1", "along which is summed; a negative number counts from the end",
	 PCTL_ATTR_I64, 0, (uint64_t)-8, 7},
	{"exclusive", "false", "true: what goes before, false: with the element itself",
	 PCTL_ATTR_BOOL, 0, 0, 1},
	{"reverse", "false", "true: from the end of the axis", PCTL_ATTR_BOOL, 0, 0, 1},
};
#define LAW(name, words)                                                  \
	{                                                                 \
		PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, name, NULL, words \
	}
static const pctl_law laws[] = {
	LAW("transposed", "x with its axes in reverse order gives y with its own so"),
	LAW("alone", "the last row gives the same where it is all there is"),
	LAW("turned", "x reversed along the axis, summed from its other end, gives y reversed"),
	LAW("shifted", "exclusive: y is that of x with a zero in front of each row, in place of "
		       "its last element"),
	LAW("last", "inclusive: the last of each row is tensor.sum of it"),
};
static void (*const checks[])(kit_law *) = {map_law_transposed, map_law_alone, cumsum_law_turned,
					    cumsum_law_shifted, cumsum_law_last};
static const pctl_example boundaries[] = {
	{"nothing", {0}}, {"one part", {32}}, {"two levels", {33}}, {"three levels", {1025}}};

static const kit_op ops[] = {
	{.desc = {KIT_PLAN_OP("tensor.cumsum", 1, PCTL_CLASS_STRICT),
		  .doc = "sums of prefixes along an axis, exact of floats",
		  .spec = "Of floats the exact sum of the elements up to each index, rounded once "
			  "to "
			  "their type, with the zeros, infinities and NaN of\ntensor.sum; of "
			  "integers "
			  "modulo 2^width. exclusive: without the element itself; reverse: from "
			  "the "
			  "last index down.\nx has at most 2^31 elements, a row at most 2^29.",
		  KIT_IN(ports_in), KIT_OUT(ports_out), KIT_ATTR(attr)},
	 .rules = KIT_PLAN_RULES(laws, boundaries),
	 .laws = checks,
	 .problems = &reduce_problems,
	 .problem = reduce_problem,
	 .infer = infer,
	 .plan = plan,
	 .reference = reference},
};

const kit_family tensor_cumsum_family = {ops, NULL, KIT_COUNT(ops), 0};
