/* tensor.variance: the exact variance along axes, rounded once; and the sums that norms share with it. See moments.h. */
#include "moments.h"

#include <math.h>

#include "kernels.h"
#include "reduce_laws.h"

enum { ATTR_DDOF = TENSOR_ATTR_KEEP + 1 };

static pctl_status axes_of(const kit_use *u, tensor_axes *a)
{
	if (tensor_float_format_of(u->q->in[0].dtype) == NULL)
		return kit_refuse_type(u, 0, u->op->desc.in[0].type);
	return tensor_axes_given(u, a);
}

static pctl_status infer(const kit_use *u, pctl_op_result *out)
{
	return tensor_axes_infer(u, axes_of, out);
}

void tensor_moments_text(kit_wgsl *w, const tensor_float_format *format)
{
	kit_wgsl_add(w, format->text);
	kit_wgsl_add(w, KERNEL_DIVIDE_TWICE);
	kit_wgsl_add(w, KERNEL_EXACT_SUM);
	kit_wgsl_add(w, KERNEL_VARIANCE_PLACE);
	kit_wgsl_add(w, KERNEL_VARIANCE);
}

void tensor_moments_sums(kit_plan *p, const tensor_axes *a, uint32_t marks, uint32_t *sums,
			 uint32_t *squares)
{
	tensor_exact e = {.name = "tensor/moments.wgsl",
			  .term = TENSOR_SUM_TERM,
			  .format = tensor_float_format_of(PCTL_SCALAR_F32),
			  .marks = marks};

	*sums = kit_temp(p, 4 * TENSOR_SUM_WORDS * a->count);
	tensor_exact_sums(p, a, &e, *sums);
	e.term = TENSOR_SQUARE_TERM;
	*squares = kit_temp(p, 4 * TENSOR_SUM_WORDS * a->count);
	tensor_exact_sums(p, a, &e, *squares);
}

static void plan(kit_plan *p)
{
	tensor_moments m = {.ddof = (uint32_t)kit_attr(p->use, ATTR_DDOF)};
	kit_kernel kernel = {"tensor/variance.wgsl", NULL, 64, NULL, 0};
	uint32_t sums, squares, to, bytes, marks = TENSOR_NONE;
	tensor_axes a;
	kit_wgsl w;

	p->status = axes_of(p->use, &a);
	if (p->status != PCTL_OK || a.count == 0 || tensor_rows_apart(p, &a, 0))
		return;
	if (a.terms > m.ddof)
		marks = tensor_quick_sums(p, &a, TENSOR_QUICK_VARIANCE, m.ddof);
	tensor_moments_sums(p, &a, marks, &sums, &squares);
	bytes = (uint32_t)kit_dtype_bytes(a.out.dtype);
	to = bytes == 4 ? kit_out(p, 0) : kit_temp(p, 4 * a.count);
	m.n = (uint32_t)a.terms;
	m.count = (uint32_t)a.count;
	w = kit_wgsl_make(p->use, 32768);
	tensor_moments_text(&w, tensor_float_format_of(a.out.dtype));
	kit_wgsl_add(&w, "@group(0) @binding(3) var<storage, read_write> y: array<u32>;\n");
	if (marks != TENSOR_NONE)
		kit_wgsl_add(&w,
			     "@group(0) @binding(4) var<storage, read> marks: array<u32>;\n"
			     "fn product(item: u32) -> u32 {\n"
			     "\tif (marks[item] != 0xffffffffu) {\n\t\treturn marks[item];\n\t}\n"
			     "\treturn moment_of(item, true);\n}\n");
	else
		kit_wgsl_add(&w, "fn product(item: u32) -> u32 {\n"
				 "\treturn moment_of(item, true);\n}\n");
	kit_wgsl_add(&w, KERNEL_RESULT_WORDS);
	kernel.text = w.text;
	if (p->status == PCTL_OK)
		p->status = kit_wgsl_status(&w);
	kit_run(p, &kernel, a.count,
		(kit_slot[]){KIT_ALL(kit_params(p, &m, sizeof(m))), KIT_ALL(sums), KIT_ALL(squares),
			     KIT_ALL(to), KIT_ALL(marks)},
		marks != TENSOR_NONE ? 5 : 4);
	kit_wgsl_free(&w);
	if (bytes != 4)
		tensor_pack(p, to, kit_out(p, 0), a.count, bytes);
}

/* ---- reference ------------------------------------------------------------------------------ */

/* A natural number in base 2^16, the lowest digit first: of the sums below 2^800. */
#define NATURAL 50

typedef struct natural {
	uint32_t digit[NATURAL];
} natural;

/* a += times * b * 2^(16 shift), or -= */
static void add_times(natural *a, const natural *b, uint64_t times, int shift, int minus)
{
	int64_t carry = 0;
	uint64_t over = 0;

	for (int i = shift; i < NATURAL; i++) {
		const uint64_t part = (uint64_t)b->digit[i - shift] * (times & 0xffff) + over;
		const int64_t digit =
			(int64_t)a->digit[i] + carry +
			(minus ? -(int64_t)(part & 0xffff) : (int64_t)(part & 0xffff));

		over = part >> 16;
		a->digit[i] = (uint32_t)(digit & 0xffff);
		carry = digit >> 16;
	}
	if (times >> 16)
		add_times(a, b, times >> 16, shift + 1, minus);
}

/* |x| in units of 2^-149. */
static natural units(double x)
{
	natural n = {{0}};
	int exponent;
	uint64_t mantissa = (uint64_t)ldexp(frexp(fabs(x), &exponent), 53);

	exponent += 149 - 53;
	for (; exponent < 0; exponent++)
		mantissa >>= 1;
	for (int i = 0; i < 64; i++)
		if (mantissa >> i & 1)
			n.digit[(exponent + i) / 16] |= 1u << ((exponent + i) % 16);
	return n;
}

static natural product(const natural *a, const natural *b)
{
	natural n = {{0}};

	for (int i = 0; i < 22; i++)
		if (a->digit[i] != 0)
			add_times(&n, b, a->digit[i], i, 0);
	return n;
}

uint32_t tensor_variance(const double *x, uint64_t n, uint64_t ddof, const tensor_float_format *f)
{
	natural above = {{0}}, below = {{0}}, squares = {{0}}, total = {{0}};
	tensor_sum exact = {0};
	int rest = 0;

	for (uint64_t i = 0; i < n; i++) {
		natural u, square;

		if (isnan(x[i]) || isinf(x[i]))
			return f->nan;
		u = units(x[i]);
		square = product(&u, &u);
		add_times(&squares, &square, 1, 0, 0);
		add_times(x[i] < 0 ? &below : &above, &u, 1, 0, 0);
	}
	if (n <= ddof)
		return f->nan;
	/* n Q - (a - b)^2 = n Q + 2 a b - a^2 - b^2 */
	add_times(&total, &squares, n, 0, 0);
	squares = product(&above, &below);
	add_times(&total, &squares, 2, 0, 0);
	squares = product(&above, &above);
	add_times(&total, &squares, 1, 0, 1);
	squares = product(&below, &below);
	add_times(&total, &squares, 1, 0, 1);
	/* By n here, by n - ddof where it is rounded. A rest that is lost lies below every digit there is. */
	for (int i = NATURAL - 1; i >= 0; i--) {
		const uint64_t digit = (uint64_t)rest << 16 | total.digit[i];

		total.digit[i] = (uint32_t)(digit / n);
		rest = (int)(digit % n);
	}
	return tensor_sum_of_digits(&exact, total.digit, rest != 0, n - ddof, f);
}

static pctl_status reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const pctl_tensor_type *x = &u->q->in[0];
	const uint64_t n = kit_elements(x), bytes = kit_dtype_bytes(x->dtype);
	const tensor_float_format *format = tensor_float_format_of(x->dtype);
	uint64_t *filled;
	double *terms;
	tensor_axes a;
	pctl_status status = axes_of(u, &a);

	if (status != PCTL_OK)
		return status;
	terms = kit_scratch(u, a.count * a.terms * sizeof(*terms));
	filled = kit_scratch(u, a.count * sizeof(*filled));
	if (terms == NULL || filled == NULL)
		status = pctl_refuse(u->call, PC2_NOMEM, "no memory for terms");
	else
		memset(filled, 0, a.count * sizeof(*filled));
	for (uint64_t i = 0; status == PCTL_OK && i < n; i++) {
		const uint64_t result = tensor_axes_result(x, a.mask, i);

		terms[result * a.terms + filled[result]++] = tensor_value(x->dtype, in[0].data, i);
	}
	for (uint64_t i = 0; status == PCTL_OK && i < a.count; i++) {
		const uint32_t bits = tensor_variance(terms + i * a.terms, a.terms,
						      kit_attr(u, ATTR_DDOF), format);

		memcpy((char *)out[0].data + i * bytes, &bits, bytes);
	}
	if (terms != NULL)
		kit_scratch_free(u, terms);
	if (filled != NULL)
		kit_scratch_free(u, filled);
	return status;
}

/* ---- the op --------------------------------------------------------------------------------- */

static const pctl_port ports_in[] = {{"x", "f32|f16|bf16[...]", "the elements", 0, 0}};
static const pctl_port ports_out[] = {
	{"y", "f32|f16|bf16[...]", "the variances, of x's type", 0, 0}};
static const pctl_attr_desc attr[] = {
	{"axes", "",
	 "what is reduced: numbers of axes between commas, negative ones from the end; if not "
	 "given, all",
	 PCTL_ATTR_STRING, 0, 0, 0},
	{"keep", "false", "these axes stay, with one element", PCTL_ATTR_BOOL, 0, 0, 1},
	{"ddof", "0", "what is taken off the number of elements that the sum is divided by",
	 PCTL_ATTR_U64, 0, 0, TENSOR_TERMS_MAX},
};
static const pctl_law laws[] = {
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "permuted", NULL,
	 "x reversed along the reduced axes gives the same y"},
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "transposed", NULL,
	 "x with its axes in reverse order gives y with its own so"},
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "alone", NULL,
	 "a result is the same where its terms are all there is"},
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "repeated", NULL,
	 "ddof 0: terms taken twice give the same y, and negated ones too"},
};
static void (*const checks[])(kit_law *) = {reduce_law_permuted, reduce_law_transposed,
					    reduce_law_alone, reduce_law_repeated};
static const pctl_example boundaries[] = {
	{"nothing", {0}}, {"one", {1}}, {"a lane more", {65}}, {"two rounds", {1025}}};

static const kit_op ops[] = {
	{.desc = {KIT_PLAN_OP("tensor.variance", 1, PCTL_CLASS_STRICT),
		  .doc = "variances along axes, exact and rounded once",
		  .spec = "(n * sum(x^2) - sum(x)^2) / (n * (n - ddof)), exactly, rounded once to "
			  "x's type; the canonical NaN where an element is\ninfinite or NaN, and "
			  "where n is not above ddof.\nx has at most 2^31 elements, a result at "
			  "most "
			  "2^29 terms.",
		  KIT_IN(ports_in), KIT_OUT(ports_out), KIT_ATTR(attr)},
	 .rules = KIT_PLAN_RULES(laws, boundaries),
	 .laws = checks,
	 .problems = &reduce_problems,
	 .problem = reduce_problem,
	 .infer = infer,
	 .plan = plan,
	 .reference = reference},
};

const kit_family tensor_variance_family = {ops, NULL, KIT_COUNT(ops), 0};
