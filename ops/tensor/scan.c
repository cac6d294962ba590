/* tensor.scan: prefix sums, wrapping. Sums of runs are scanned by the same plan until one workgroup
 * can do the rest; integers wrap, so how the work is cut never shows. */
#include "kernels.h"
#include "tensor.h"

#define RUN 32u
#define SMALL_MAX 8192u
#define LEVELS_MAX 8u

static pctl_status scan_infer(const kit_use *u, pctl_op_result *out)
{
	const pctl_tensor_type *x = &u->q->in[0];

	if (x->rank != 1 || (x->dtype != PCTL_SCALAR_U32 && x->dtype != PCTL_SCALAR_U64))
		return kit_refuse_type(u, 0, u->op->desc.in[0].type);
	out->out[0] = *x;
	return kit_limit(u, "elements", x->dim[0], TENSOR_ELEMENTS_MAX);
}

typedef struct scan_params {
	uint32_t n;
	uint32_t exclusive;
} scan_params;

/* One level on the way down: what is scanned, where its prefixes go. */
typedef struct scan_level {
	uint32_t values, prefixes;
	uint64_t n;
	uint32_t params;
} scan_level;

static void scan_plan(kit_plan *p)
{
	const pctl_tensor_type *x = &p->use->q->in[0];
	const uint64_t elem = kit_dtype_bytes(x->dtype);
	const kit_kernel reduce = {"tensor/scan_reduce.wgsl",
				   kit_text(p->use, KERNEL_SCAN_REDUCE, x->dtype), 64, NULL, 0};
	const kit_kernel apply = {"tensor/scan_apply.wgsl",
				  kit_text(p->use, KERNEL_SCAN_APPLY, x->dtype), 64, NULL, 0};
	const kit_kernel small = {"tensor/scan_small.wgsl",
				  kit_text(p->use, KERNEL_SCAN_SMALL, x->dtype), 256, NULL, 0};
	scan_params params = {(uint32_t)x->dim[0], kit_attr(p->use, 0) != 0};
	scan_level level[LEVELS_MAX];
	uint32_t depth = 0;

	if (x->dim[0] == 0)
		return;
	level[0] = (scan_level){kit_in(p, 0), kit_out(p, 0), x->dim[0],
				kit_params(p, &params, sizeof(params))};
	for (; level[depth].n > SMALL_MAX; depth++) {
		const scan_level *l = &level[depth];
		const uint64_t runs = (l->n + RUN - 1) / RUN;
		const uint32_t sums = kit_temp(p, runs * elem);
		const uint32_t offsets = kit_temp(p, runs * elem);

		kit_run(p, &reduce, runs,
			(kit_slot[]){KIT_ALL(l->params), KIT_ALL(l->values), KIT_ALL(sums)}, 3);
		params = (scan_params){(uint32_t)runs, 1};
		level[depth + 1] =
			(scan_level){sums, offsets, runs, kit_params(p, &params, sizeof(params))};
	}
	kit_run(p, &small, small.local,
		(kit_slot[]){KIT_ALL(level[depth].params), KIT_ALL(level[depth].values),
			     KIT_ALL(level[depth].prefixes)},
		3);
	while (depth > 0) {
		const scan_level *above = &level[depth--];
		const scan_level *l = &level[depth];

		kit_run(p, &apply, (l->n + RUN - 1) / RUN,
			(kit_slot[]){KIT_ALL(l->params), KIT_ALL(l->values),
				     KIT_ALL(above->prefixes), KIT_ALL(l->prefixes)},
			4);
	}
}

static pctl_status scan_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const uint32_t exclusive = kit_attr(u, 0) != 0;
	const uint64_t n = u->q->in[0].dim[0];
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++) {
		if (u->q->in[0].dtype == PCTL_SCALAR_U32) {
			uint32_t v = ((const uint32_t *)in[0].data)[i];

			((uint32_t *)out[0].data)[i] = (uint32_t)(exclusive ? sum : sum + v);
			sum += v;
		} else {
			uint64_t v = ((const uint64_t *)in[0].data)[i];

			((uint64_t *)out[0].data)[i] = exclusive ? sum : sum + v;
			sum += v;
		}
	}
	return PCTL_OK;
}

static const pctl_port scan_in[] = {{"x", "u32|u64[n]", "the elements", 0, 0}};
static const pctl_port scan_out[] = {{"y", "u32|u64[n]", "the sums, of x's type", 0, 0}};
static const pctl_attr_desc scan_attr[] = {
	{"exclusive", "false", "true: the sum of what goes before, false: with the element itself",
	 PCTL_ATTR_BOOL, 0, 0, 1},
};
static const pctl_law scan_laws[] = {
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "inclusive", NULL,
	 "inclusive: y[0] = x[0] and y[i] - y[i-1] = x[i], modulo 2^width"},
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "exclusive", NULL,
	 "exclusive: y[0] = 0 and y[i+1] - y[i] = x[i], modulo 2^width"},
};
static void (*const scan_laws_checks[])(kit_law *) = {tensor_law_inclusive, tensor_law_exclusive};
static const pctl_example scan_boundaries[] = {
	{"no element", {0}},	    {"one element", {1}},
	{"one workgroup", {8192}},  {"just over one workgroup", {8193}},
	{"three levels", {262145}},
};

static const kit_op scan_ops[] = {
	{
		.desc = {KIT_PLAN_OP("tensor.scan", 1, PCTL_CLASS_INTEGER),
			 .doc = "prefix sums of a vector, wrapping",
			 .spec = "inclusive: y[i] = x[0] + .. + x[i]; exclusive: y[i] = x[0] + .. "
				 "+ x[i-1], y[0] = 0.\n"
				 "All sums modulo 2^32 (u32) or 2^64 (u64), so no order of "
				 "addition shows.\n"
				 "n is at most 2^31; n = 0 is valid.",
			 KIT_IN(scan_in), KIT_OUT(scan_out), KIT_ATTR(scan_attr)},
		.rules = KIT_PLAN_RULES(scan_laws, scan_boundaries),
		.laws = scan_laws_checks,
		.infer = scan_infer,
		.plan = scan_plan,
		.reference = scan_reference,
	},
};

static const char *const scan_texts[] = {KERNEL_SCAN_REDUCE, KERNEL_SCAN_APPLY, KERNEL_SCAN_SMALL};
const kit_family tensor_scan_family = {scan_ops, scan_texts, KIT_COUNT(scan_ops),
				       KIT_COUNT(scan_texts)};
