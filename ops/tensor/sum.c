/* tensor.sum and tensor.mean along axes: of floats the exact sum, divided exactly, rounded once; of integers modulo 2^width. Sums are
 * shared by lanes, and long ones go in rounds: no cut ever shows. */
#include "common/tensors/exact_reference.h"
#include "exact_sums.h"
#include "kernels.h"

static const uint32_t divided = 1; /* data of tensor.mean */

static int is_mean(const kit_use *u)
{
	return u->op->data != NULL;
}

static pctl_status axes_of(const kit_use *u, tensor_axes *a)
{
	const uint32_t dtype = u->q->in[0].dtype;
	if (tensor_float_format_of(dtype) == NULL &&
	    (is_mean(u) || (kit_dtype_bytes(dtype) != 4 && kit_dtype_bytes(dtype) != 8) ||
	     dtype == PCTL_SCALAR_BOOL))
		return kit_refuse_type(u, 0, u->op->desc.in[0].type);
	return tensor_axes_given(u, a);
}

static pctl_status infer(const kit_use *u, pctl_op_result *out)
{
	return tensor_axes_infer(u, axes_of, out);
}

/* ---- kernels -------------------------------------------------------------------------------- */

static void floats(kit_plan *p, const tensor_axes *a)
{
	const uint32_t dtype = a->out.dtype;
	const uint32_t divisor = (uint32_t)a->terms;
	const int mean = is_mean(p->use), halves = kit_dtype_bytes(dtype) == 2;
	const uint32_t to = halves ? kit_temp(p, 4 * a->count) : kit_out(p, 0);
	tensor_exact e = {.name = "tensor/sum.wgsl",
			  .term = TENSOR_SUM_TERM,
			  .give = TENSOR_GIVE_SUM,
			  .format = tensor_float_format_of(dtype)};

	e.marks = tensor_quick_sums(p, a, mean ? TENSOR_QUICK_MEAN : TENSOR_QUICK_SUM, 0);
	if (mean) {
		e.scale = TENSOR_SCALE_MEAN;
		e.give = "fn give(item: u32) -> u32 {\n\tif (divisor == 0u) {\n\t\tsaw = "
			 "SAW_NAN;\n\t}\n"
			 "\treturn sum_round();\n}\n";
		e.extra_text = "@group(0) @binding(3) var<uniform> divisor: u32;\n";
		e.extra[0] = (kit_slot)KIT_ALL(kit_params(p, &divisor, sizeof(divisor)));
		e.n_extra = 1;
	}
	tensor_exact_sums(p, a, &e, to);
	if (halves)
		tensor_pack(p, to, kit_out(p, 0), a->count, 2);
}

static void run_integers(kit_plan *p, const tensor_axes *a, const tensor_round *r, void *ctx)
{
	const uint64_t bytes = kit_dtype_bytes(a->out.dtype);
	kit_wgsl w = kit_wgsl_make(p->use, 16384);

	(void)ctx;
	tensor_round_text(&w, a, r);
	kit_wgsl_add(&w, bytes == 8 ? "alias A = u64;\n" : "alias A = u32;\n");
	tensor_round_x(p, r, &w, "@group(0) @binding(1) var<storage, read> x: array<A>;\n", NULL);
	kit_wgsl_add(&w, "@group(0) @binding(2) var<storage, read_write> y: array<A>;\n"
			 "fn none() -> A {\n\treturn A(0);\n}\n"
			 "fn join(a: A, b: A) -> A {\n\treturn a + b;\n}\n");
	kit_wgsl_add(&w, tensor_round_reads(p, r)
				 ? "fn take(i: u32, term: u32) -> A {\n\treturn x_word(i);\n}\n"
				 : "fn take(i: u32, term: u32) -> A {\n\treturn x[i];\n}\n");
	kit_wgsl_add(&w, "fn give(a: A) -> A {\n\treturn a;\n}\n");
	tensor_round_tree(p, r, &w);
	tensor_round_run(p, "tensor/sum.wgsl", a, r, &w,
			 (kit_slot[]){KIT_ALL(tensor_round_params(p, a, r)), tensor_round_from(r),
				      KIT_ALL(r->to)},
			 3);
}

static void integers(kit_plan *p, const tensor_axes *a)
{
	const uint64_t bytes = kit_dtype_bytes(a->out.dtype);
	tensor_round r = tensor_in_pieces(p, a)
				 ? tensor_round_pieces(p, a, 0, 4, bytes, run_integers, NULL)
				 : tensor_round_first(a, kit_in(p, 0), 4);

	while (p->status == PCTL_OK) {
		r.to = r.last ? kit_out(p, 0) : kit_temp(p, bytes * a->count * r.runs);
		run_integers(p, a, &r, NULL);
		if (r.last)
			return;
		r = tensor_round_next(a, &r, 4);
	}
}

static void plan(kit_plan *p)
{
	tensor_axes a;

	p->status = axes_of(p->use, &a);
	if (p->status != PCTL_OK || a.count == 0 || tensor_rows_apart(p, &a, 0) ||
	    !tensor_axes_go_through(p, &a))
		return;
	if (tensor_float_format_of(a.out.dtype) != NULL)
		floats(p, &a);
	else
		integers(p, &a);
}

/* ---- reference ------------------------------------------------------------------------------ */

/* Element by element of x, to the result that it belongs to by its coordinates. */
static pctl_status reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const pctl_tensor_type *x = &u->q->in[0];
	const uint64_t n = kit_elements(x), bytes = kit_dtype_bytes(x->dtype);
	const tensor_float_format *format = tensor_float_format_of(x->dtype);
	tensor_axes l;
	pctl_status status = axes_of(u, &l);
	tensor_sum *sums = NULL;

	if (status == PCTL_OK && format != NULL)
		sums = kit_scratch(u, l.count * sizeof(*sums));
	if (status == PCTL_OK && format != NULL && sums == NULL)
		return pctl_refuse(u->call, PC2_NOMEM, "no memory for sums");
	if (sums != NULL)
		memset(sums, 0, l.count * sizeof(*sums));
	else if (status == PCTL_OK)
		memset(out[0].data, 0, l.count * bytes);
	for (uint64_t i = 0; status == PCTL_OK && i < n; i++) {
		const uint64_t result = tensor_axes_result(x, l.mask, i);
		uint64_t a = 0, b = 0;

		if (sums != NULL) {
			tensor_sum_product(&sums[result], tensor_value(x->dtype, in[0].data, i), 1);
			continue;
		}
		memcpy(&a, (char *)out[0].data + result * bytes, bytes);
		memcpy(&b, (const char *)in[0].data + i * bytes, bytes);
		a += b;
		memcpy((char *)out[0].data + result * bytes, &a, bytes);
	}
	for (uint64_t i = 0; sums != NULL && i < l.count; i++) {
		const uint32_t bits = tensor_sum_round(&sums[i], is_mean(u) ? l.terms : 1, format);

		memcpy((char *)out[0].data + i * bytes, &bits, bytes);
	}
	kit_scratch_free(u, sums);
	return status;
}

/* ---- laws ----------------------------------------------------------------------------------- */

/* The elements of x from the last to the first, and then again where `times` is 2. */
static uint32_t reversed(kit_law *l, uint64_t times)
{
	pctl_tensor_type t = l->use.q->in[0];
	const uint64_t n = kit_elements(&t), bytes = kit_dtype_bytes(t.dtype);
	uint8_t *data = kit_law_scratch(l, times * n * bytes + 1);
	uint32_t number = 0;

	if (data == NULL)
		return 0;
	for (uint64_t i = 0; i < times * n; i++)
		memcpy(data + i * bytes, kit_law_data(l, 0) + (n - 1 - i % n) * bytes, bytes);
	t.dim[0] *= times;
	number = kit_law_tensor(l, &t, data);
	kit_law_free(l, data);
	return number;
}

static void again(kit_law *l, uint64_t times)
{
	const pctl_tensor_type *x = &l->use.q->in[0];
	const uint32_t of = x->rank == 0 || kit_elements(x) == 0 || *kit_law_attr(l, "axes") != '\0'
				    ? UINT32_MAX
				    : reversed(l, times);

	if (of != UINT32_MAX)
		kit_law_equal(l, kit_law_use(l, l->use.op->desc.name, &of, 1, l->use.q->attr, 2, 1),
			      kit_law_out(l, 0));
}

static void law_reversed(kit_law *l)
{
	again(l, 1);
}

static void law_repeated(kit_law *l)
{
	again(l, 2);
}

/* x as one row times a column of ones, which are bytes beside floats and of x's type beside integers. */
static void law_product(kit_law *l)
{
	const uint32_t dtype = l->use.q->in[0].dtype;
	const int is_float = tensor_float_format_of(dtype) != NULL;
	const uint64_t n = kit_elements(&l->use.q->in[0]);
	const uint64_t bytes = is_float ? 1 : kit_dtype_bytes(dtype);
	const pctl_tensor_type row = {dtype, 2, {1, n}};
	const pctl_tensor_type column = {is_float ? PCTL_SCALAR_I8 : dtype, 2, {n, 1}};
	const pctl_attr out = {"out", kit_dtype_name(dtype), 0};
	uint8_t *ones =
		*kit_law_attr(l, "axes") != '\0' || n == 0 ? NULL : kit_law_scratch(l, n * bytes);
	uint32_t factors[2];

	if (ones == NULL)
		return;
	for (uint64_t i = 0; i < n; i++)
		ones[i * bytes] = 1;
	factors[0] = kit_law_tensor(l, &row, kit_law_data(l, 0));
	factors[1] = kit_law_tensor(l, &column, ones);
	kit_law_equal(l, kit_law_use(l, "tensor.matmul", factors, 2, &out, 1, 1),
		      kit_law_out(l, 0));
	kit_law_free(l, ones);
}

/* ---- the ops -------------------------------------------------------------------------------- */

static const pctl_port sum_in[] = {
	{"x", "f32|f16|bf16|i32|u32|i64|u64[...]", "the terms", PCTL_PORT_THROUGH, 0}};
static const pctl_port sum_out[] = {
	{"y", "f32|f16|bf16|i32|u32|i64|u64[...]", "the sums, of x's type", PCTL_PORT_THROUGH, 0}};
static const pctl_port mean_in[] = {{"x", "f32|f16|bf16[...]", "the terms", PCTL_PORT_THROUGH, 0}};
static const pctl_port mean_out[] = {
	{"y", "f32|f16|bf16[...]", "the means, of x's type", PCTL_PORT_THROUGH, 0}};
static const pctl_attr_desc attr[] = {
	{"axes", "",
	 "what is summed over: numbers of axes between commas, negative ones from the end; if not "
	 "given, all",
	 PCTL_ATTR_STRING, 0, 0, 0},
	{"keep", "false", "these axes stay, with one element", PCTL_ATTR_BOOL, 0, 0, 1},
};
static const pctl_law sum_laws[] = {
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "reversed", NULL,
	 "over all axes: x reversed gives the same y"},
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "product", NULL,
	 "over all axes: y is tensor.matmul of x as a row and a column of ones"},
};
static void (*const sum_checks[])(kit_law *) = {law_reversed, law_product};
static const pctl_law mean_laws[] = {
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "reversed", NULL,
	 "over all axes: x reversed gives the same y"},
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "repeated", NULL,
	 "over all axes: x taken twice gives the same y"},
};
static void (*const mean_checks[])(kit_law *) = {law_reversed, law_repeated};
static const pctl_example boundaries[] = {
	{"nothing", {0}}, {"one", {1}}, {"one run", {1024}}, {"two rounds", {1025}}};

#define SUM_OP(op, op_doc, op_spec, id, data_)                                       \
	{                                                                            \
		.desc = {KIT_PLAN_OP(op, 1, PCTL_CLASS_STRICT),                      \
			 .doc = op_doc,                                              \
			 .spec = op_spec                                             \
			 "\nx has at most 2^31 elements, a sum at most 2^29 terms.", \
			 KIT_IN(id##_in),                                            \
			 KIT_OUT(id##_out),                                          \
			 KIT_ATTR(attr)},                                            \
		.rules = KIT_PLAN_RULES(id##_laws, boundaries), .laws = id##_checks, \
		.data = data_, .infer = infer, .plan = plan, .reference = reference  \
	}

static const kit_op ops[] = {
	SUM_OP("tensor.sum", "sums along axes, exact of floats",
	       "Of floats the exact sum, rounded once to their type: no order of addition shows; "
	       "an exact zero and the sum of nothing\n"
	       "are +0, Inf - Inf and NaN give the canonical NaN. Of integers modulo 2^width.",
	       sum, NULL),
	SUM_OP("tensor.mean", "means along axes, exact and rounded once",
	       "The exact sum divided by the number of terms, rounded once to x's type; the mean "
	       "of nothing is the canonical NaN.",
	       mean, &divided),
};

const kit_family tensor_sum_family = {ops, NULL, KIT_COUNT(ops), 0};
