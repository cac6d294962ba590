/* tensor.reduce_max: the largest element, by rounds that leave one in 32. */
#include "kernels.h"
#include "tensor.h"

#define RUN 32u

static pctl_status max_infer(const kit_use *u, pctl_op_result *out)
{
	const pctl_tensor_type *x = &u->q->in[0];

	if (x->dtype != PCTL_SCALAR_U32 && x->dtype != PCTL_SCALAR_U64)
		return kit_refuse_type(u, 0, u->op->desc.in[0].type);
	out->out[0] = kit_vector(x->dtype, 1);
	return kit_limit(u, "elements", kit_elements(x), TENSOR_ELEMENTS_MAX);
}

static void max_plan(kit_plan *p)
{
	const pctl_tensor_type *x = &p->use->q->in[0];
	const uint64_t elem = kit_dtype_bytes(x->dtype);
	const kit_kernel reduce = {"tensor/max_reduce.wgsl",
				   kit_text(p->use, KERNEL_MAX_REDUCE, x->dtype), 64, NULL, 0};
	uint64_t n = kit_elements(x);
	uint32_t values = kit_in(p, 0);

	if (n == 0)
		kit_fill(p, kit_out(p, 0), 0, elem, 0);
	while (n > 0) {
		const uint32_t n_word = (uint32_t)n;
		const uint64_t runs = (n + RUN - 1) / RUN;
		const uint32_t params = kit_params(p, &n_word, sizeof(n_word));
		const uint32_t largest = runs == 1 ? kit_out(p, 0) : kit_temp(p, runs * elem);

		kit_run(p, &reduce, runs,
			(kit_slot[]){KIT_ALL(params), KIT_ALL(values), KIT_ALL(largest)}, 3);
		values = largest;
		n = runs == 1 ? 0 : runs;
	}
}

static pctl_status max_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const uint64_t n = kit_elements(&u->q->in[0]);
	const uint64_t elem = kit_dtype_bytes(u->q->in[0].dtype);
	uint64_t most = 0;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t v = 0;

		memcpy(&v, (const char *)in[0].data + i * elem, elem);
		if (v > most)
			most = v;
	}
	memcpy(out[0].data, &most, elem);
	return PCTL_OK;
}

static const pctl_port max_in[] = {{"x", "u32|u64[...]", "the elements", 0, 0}};
static const pctl_port max_out[] = {{"y", "u32|u64[1]", "the largest of them, of x's type", 0, 0}};
static const pctl_law max_laws[] = {
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "largest", NULL,
	 "y is one of the elements, and no element is above y"},
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "permuted", NULL,
	 "any permutation of x gives the same y"},
};
static void (*const max_laws_checks[])(kit_law *) = {tensor_law_largest, tensor_law_permuted};
static const pctl_example max_boundaries[] = {
	{"no element", {0}},
	{"one element", {1}},
	{"one run", {32}},
	{"two rounds", {33}},
};

static const kit_op max_ops[] = {
	{
		.desc = {KIT_PLAN_OP("tensor.reduce_max", 1, PCTL_CLASS_INTEGER),
			 .doc = "the largest element of a tensor",
			 .spec = "y[0] = the largest element of x by unsigned comparison, 0 when x "
				 "has none.\n"
				 "x has at most 2^31 elements.",
			 KIT_IN(max_in), KIT_OUT(max_out)},
		.rules = KIT_PLAN_RULES(max_laws, max_boundaries),
		.laws = max_laws_checks,
		.infer = max_infer,
		.plan = max_plan,
		.reference = max_reference,
	},
};

static const char *const max_texts[] = {KERNEL_MAX_REDUCE};
const kit_family tensor_reduce_family = {max_ops, max_texts, KIT_COUNT(max_ops),
					 KIT_COUNT(max_texts)};
