/* tensor.quantize_scale (SEMANTICS.md 13.12): the scales with which tensor.quantize reaches the largest magnitude of each group. Magnitudes become
 * integers in their order, tensor.max takes the largest, and that is divided by the type's largest number, upwards. */
#include <stdlib.h>

#include "quantize.h"
#include "kernels.h"

/* Extents between commas, as many as x has; none: all 1. */
pctl_status quantize_scales(const kit_use *u, pctl_tensor_type *out)
{
	const pctl_tensor_type *x = &u->q->in[QUANTIZE_X];
	const char *text = u->q->attr[QUANTIZE_SCALE_SCALES].text;
	uint32_t rank = 0;

	*out = (pctl_tensor_type){.dtype = PCTL_SCALAR_F32, .rank = x->rank};
	for (uint32_t d = 0; d < x->rank; d++)
		out->dim[d] = 1;
	while (*text != '\0') {
		char *end;
		const unsigned long long n = strtoull(text, &end, 10);

		if (end == text || *text < '0' || *text > '9' || (*end != ',' && *end != '\0') ||
		    (*end == ',' && end[1] == '\0') || rank == x->rank)
			return kit_refuse_attr(u, "scales",
					       "is extents between commas, as many as x has");
		out->dim[rank++] = n;
		text = *end == ',' ? end + 1 : end;
	}
	if (rank != 0 && rank != x->rank)
		return kit_refuse_attr(u, "scales", "is extents between commas, as many as x has");
	for (uint32_t d = 0; d < x->rank; d++)
		if (out->dim[d] == 0 || x->dim[d] % out->dim[d] != 0)
			return kit_refuse_attr(u, "scales", "has an extent that divides not x's");
	return PCTL_OK;
}

/* x seen with two axes for each of its own, the scales and the elements of each: what has one element left out, and what lies
 * side by side put together. axes: those that are reduced, as words. */
static pctl_status folded(const kit_use *u, const pctl_tensor_type *scales, pctl_tensor_type *out,
			  char axes[2 * PCTL_RANK_MAX + 1])
{
	const pctl_tensor_type *x = &u->q->in[QUANTIZE_X];
	uint32_t last = 2, n = 0;

	*out = (pctl_tensor_type){.dtype = PCTL_SCALAR_U32};
	for (uint32_t k = 0; k < 2 * x->rank; k++) {
		const uint64_t s = scales->dim[k / 2];
		const uint64_t extent = k % 2 == 0 ? s : x->dim[k / 2] / s;

		if (extent == 1)
			continue;
		if (last == k % 2) {
			out->dim[out->rank - 1] *= extent;
			continue;
		}
		if (out->rank == PCTL_RANK_MAX)
			return kit_refuse_size(u, "axes of groups and their elements",
					       out->rank + 1, PCTL_RANK_MAX);
		if (k % 2 == 1) {
			axes[n] = n == 0 ? ' ' : ',';
			axes[n + 1] = (char)('0' + out->rank);
			n += 2;
		}
		last = k % 2;
		out->dim[out->rank++] = extent;
	}
	axes[n] = '\0';
	return PCTL_OK;
}

static pctl_status infer(const kit_use *u, pctl_op_result *out)
{
	char axes[2 * PCTL_RANK_MAX + 1];
	pctl_tensor_type seen;
	const quantize_type *to;
	pctl_status status = quantize_to(u, QUANTIZE_SCALE_TO, &to);

	if (status == PCTL_OK)
		status = quantize_scales(u, &out->out[0]);
	if (status == PCTL_OK)
		status = folded(u, &out->out[0], &seen, axes);
	return status == PCTL_OK ? kit_limit(u, "elements", kit_elements(&u->q->in[QUANTIZE_X]),
					     TENSOR_ELEMENTS_MAX)
				 : status;
}

/* ---- the plan ------------------------------------------------------------------------------- */

/* The magnitudes of x in their order. */
static uint32_t keys_of(kit_plan *p, uint64_t n)
{
	const uint32_t dtype = p->use->q->in[QUANTIZE_X].dtype, params[4] = {(uint32_t)n};
	const tensor_float_layout *f = tensor_float_layout_of(dtype);
	kit_wgsl w = kit_wgsl_make(p->use, 4096);
	kit_kernel kernel = {"tensor/quantize_keys.wgsl", NULL, 64, NULL, 0};
	const uint32_t keys = kit_temp(p, 4 * n), at = kit_params(p, params, sizeof(params));

	convert_add_number(&w, "FROM_BITS", 1 + f->exponent + f->fraction);
	convert_add_number(&w, "FROM_TOP", ((1ull << f->exponent) - 1) << f->fraction);
	kit_wgsl_add(&w, KERNEL_QUANTIZE_KEYS);
	if (p->status == PCTL_OK)
		p->status = kit_wgsl_status(&w);
	kernel.text = w.text;
	kit_run(p, &kernel, n,
		(kit_slot[]){KIT_ALL(at), KIT_ALL(kit_in(p, QUANTIZE_X)), KIT_ALL(keys)}, 3);
	kit_wgsl_free(&w);
	return keys;
}

static void add_up(kit_plan *p, const quantize_type *to, uint32_t greatest, uint64_t n)
{
	const uint32_t dtype = p->use->q->in[QUANTIZE_X].dtype, params[4] = {(uint32_t)n};
	const uint32_t at = kit_params(p, params, sizeof(params));
	kit_kernel kernel = {"tensor/quantize_up.wgsl", NULL, 64, NULL, 0};
	kit_wgsl w = kit_wgsl_make(p->use, 16384);

	kit_wgsl_add(&w, "struct Params {\n\t@size(16) count: u32,\n}\n"
			 "@group(0) @binding(0) var<uniform> params: Params;\n"
			 "@group(0) @binding(1) var<storage, read> keys: array<u32>;\n"
			 "@group(0) @binding(2) var<storage, read_write> y: array<u32>;\n");
	kit_wgsl_add(&w, KERNEL_CONVERT_CODE);
	convert_add_code(&w, dtype, "fn code(i: u32) -> u64 {\n\treturn u64(keys[i]);\n}\n");
	convert_add_wide(&w, "DIVISOR", to->odd);
	convert_add_integer(&w, "DIVISOR_EXPONENT", (int)to->power);
	convert_add_writing(&w, PCTL_SCALAR_F32, 0);
	kit_wgsl_add(&w, KERNEL_QUANTIZE_UP);
	if (p->status == PCTL_OK)
		p->status = kit_wgsl_status(&w);
	kernel.text = w.text;
	kit_run(p, &kernel, n, (kit_slot[]){KIT_ALL(at), KIT_ALL(greatest), KIT_ALL(kit_out(p, 0))},
		3);
	kit_wgsl_free(&w);
}

static void plan(kit_plan *p)
{
	const kit_use *u = p->use;
	const uint64_t n = kit_elements(&u->q->in[QUANTIZE_X]);
	char axes[2 * PCTL_RANK_MAX + 1];
	const quantize_type *to;
	pctl_tensor_type scales, seen;
	uint32_t keys, greatest;
	uint64_t n_scales;

	p->status = quantize_to(u, QUANTIZE_SCALE_TO, &to);
	if (p->status == PCTL_OK)
		p->status = quantize_scales(u, &scales);
	if (p->status == PCTL_OK)
		p->status = folded(u, &scales, &seen, axes);
	n_scales = kit_elements(&scales);
	if (p->status != PCTL_OK || n_scales == 0)
		return;
	/* The largest magnitude of nothing is 0. */
	if (n == 0) {
		kit_fill(p, kit_out(p, 0), 0, 4 * n_scales, 0);
		return;
	}
	keys = greatest = keys_of(p, n);
	if (axes[0] != '\0' && p->status == PCTL_OK) {
		const pctl_attr attr[] = {{"axes", axes + 1, 0}, {"keep", "false", 0}};
		pctl_tensor_type of[2] = {seen, {.dtype = PCTL_SCALAR_U32}};

		for (uint32_t d = 0, at = 1; d < seen.rank; d++) {
			if (axes[at] == (char)('0' + d))
				at += axes[at + 1] == '\0' ? 1 : 2;
			else
				of[1].dim[of[1].rank++] = seen.dim[d];
		}
		greatest = kit_temp(p, 4 * n_scales);
		if (p->status == PCTL_OK)
			p->status = p->sink->op(p->sink->ctx, "tensor.max", 1,
						(uint32_t[]){keys, greatest}, of, 2, attr, 2);
	}
	add_up(p, to, greatest, n_scales);
}

/* ---- the op --------------------------------------------------------------------------------- */

static const pctl_port in[] = {{"x", "f32|f16|bf16[...]", "the numbers", 0, 0}};
static const pctl_port out[] = {{"scale", "f32[...]", "one scale a group", 0, 0}};
static const pctl_attr_desc attr[] = {
	{"to", NULL, "the element type that is to be made", PCTL_ATTR_STRING, 0, 0, 0},
	{"scales", "", "extents of scale between commas, each a divisor of x's; not given: 1 each",
	 PCTL_ATTR_STRING, 0, 0, 0}};
#define LAW(name, words)                                                  \
	{                                                                 \
		PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, name, NULL, words \
	}
static const pctl_law laws[] = {
	LAW("least", "the type's largest number times the scale reaches the largest magnitude, and "
		     "that of the next scale below does not"),
	LAW("negated", "negated numbers give the same scales"),
};
static void (*const checks[])(kit_law *) = {quantize_scale_law_least, quantize_scale_law_negated};
static const pctl_example boundaries[] = {{"nothing", {0}}, {"one", {1}}, {"a word and one", {33}}};

static const kit_op ops[] = {{
	.desc = {KIT_PLAN_OP("tensor.quantize_scale", 1, PCTL_CLASS_STRICT),
		 .doc = "scales by which a narrow type reaches the largest magnitude",
		 .spec = "scale is the least number of at most 16 significant bits, and a multiple "
			 "of 2^-149, that is not below a / Q: a the largest\n"
			 "magnitude among the numbers of a group (a NaN is none; without any, 0), "
			 "Q "
			 "the largest of type `to`. Infinity where a\n"
			 "is, or where an f32 is no such number. Groups as in tensor.quantize. At "
			 "most 2^31 elements.",
		 KIT_IN(in), KIT_OUT(out), KIT_ATTR(attr)},
	.rules = KIT_PLAN_RULES(laws, boundaries),
	.laws = checks,
	.problems = &quantize_scale_problems,
	.problem = quantize_scale_problem,
	.infer = infer,
	.plan = plan,
	.reference = quantize_scale_reference,
}};

const kit_family tensor_quantize_scale_family = {ops, NULL, KIT_COUNT(ops), 0};
