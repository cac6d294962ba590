/* tensor.sum64 and tensor.matmul64: exact sums of f64, and of products of f64, rounded once (SEMANTICS.md 4.4, 4.6), by integers alone (`exact64.wgsl`):
 * digits of all that a sum can hold, in an invocation's own memory. Slow, and the same everywhere; so where the device has f64, sums that keep what each rounding lost
 * (`double_sum.wgsl`) tell most results first. */
#include <mpfr.h>
#include <stdio.h>

#include "common/tensors/elements.h"
#include "kernels.h"
#include "reduce_axes.h"

/* Bits of a sum: from 2^-1074 to 2^1024, or twice that, 2^31 terms and a sign. */
#define SUM_DIGITS 67u
#define PRODUCT_DIGITS 133u
#define RUN 512u	     /* terms of a lane, but where there are fewer */
#define SUMS_LEAST 2048u     /* terms of all results: fewer are done sooner by one kernel */
#define PRODUCTS_LEAST 2048u /* the same of products */
#define NONE UINT32_MAX	     /* no buffer */

/* Devices are known to be right up to arrays of 1,024 bytes: digits of products lie in two. */
static const char *const one_array = "var<private> total: array<i64, 67>;\n"
				     "fn digit(i: u32) -> i64 {\n\treturn total[i];\n}\n"
				     "fn set_digit(i: u32, v: i64) {\n\ttotal[i] = v;\n}\n";
static const char *const two_arrays =
	"var<private> lower: array<i64, 67>;\nvar<private> upper: array<i64, 66>;\n"
	"fn digit(i: u32) -> i64 {\n\tif (i < 67u) {\n\t\treturn lower[i];\n\t}\n"
	"\treturn upper[i - 67u];\n}\n"
	"fn set_digit(i: u32, v: i64) {\n\tif (i < 67u) {\n\t\tlower[i] = v;\n\t} else {\n"
	"\t\tupper[i - 67u] = v;\n\t}\n}\n";

static void add_exact(kit_wgsl *w, int of_products)
{
	char text[96];

	snprintf(text, sizeof(text), "const DIGITS: u32 = %uu;\nconst LEAST: u32 = %uu;\n",
		 of_products ? PRODUCT_DIGITS : SUM_DIGITS, of_products ? 1074u : 0u);
	kit_wgsl_add(w, text);
	kit_wgsl_add(w, of_products ? two_arrays : one_array);
	kit_wgsl_add(w, KERNEL_EXACT64);
	kit_wgsl_add(w, KERNEL_EXACT64_ROUND);
}

/* Products' rests are fma's. */
static int has_doubles(const kit_plan *p)
{
	return tensor_has_f64(p) && (p->caps->proven & PCTL_PLAN_PROVEN_F64_FMA) != 0;
}

/* n numbers that v has, exact of each, summed and rounded once; a zero is +0. */
static uint64_t rounded(mpfr_t *v, mpfr_ptr *at, uint64_t n)
{
	const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
	uint64_t bits = 0x7ff8000000000000u;
	int ternary;
	mpfr_t sum;
	double y;

	mpfr_init2(sum, 53);
	for (uint64_t i = 0; i < n; i++)
		at[i] = v[i];
	ternary = mpfr_sum(sum, at, (unsigned long)n, MPFR_RNDN);
	if (mpfr_nan_p(sum)) {
		mpfr_clear(sum);
		return bits;
	}
	if (mpfr_zero_p(sum))
		mpfr_set_zero(sum, 1);
	mpfr_set_emin(-1073);
	mpfr_set_emax(1024);
	ternary = mpfr_check_range(sum, ternary, MPFR_RNDN);
	(void)mpfr_subnormalize(sum, ternary, MPFR_RNDN);
	y = mpfr_get_d(sum, MPFR_RNDN);
	mpfr_set_emin(emin);
	mpfr_set_emax(emax);
	mpfr_clear(sum);
	memcpy(&bits, &y, sizeof(bits));
	return bits;
}

/* Room for n numbers of so many bits. */
typedef struct room {
	mpfr_t *v;
	mpfr_ptr *at;
	uint64_t n;
} room;

static pctl_status make_room(const kit_use *u, uint64_t n, mpfr_prec_t bits, room *out)
{
	out->n = 0;
	out->v = kit_scratch(u, n * sizeof(*out->v));
	out->at = kit_scratch(u, n * sizeof(*out->at));
	if (out->v == NULL || out->at == NULL)
		return pctl_refuse(u->call, PC2_NOMEM, "no memory for terms");
	for (; out->n < n; out->n++)
		mpfr_init2(out->v[out->n], bits);
	return PCTL_OK;
}

static void leave_room(const kit_use *u, room *r)
{
	for (uint64_t i = 0; i < r->n; i++)
		mpfr_clear(r->v[i]);
	kit_scratch_free(u, r->v);
	kit_scratch_free(u, r->at);
	mpfr_free_cache();
}

static double double_at(const void *data, uint64_t i)
{
	double v;

	memcpy(&v, (const uint8_t *)data + 8 * i, 8);
	return v;
}

/* ---- sums ------------------------------------------------------------------------------------- */

static pctl_status axes_of(const kit_use *u, tensor_axes *a)
{
	if (u->q->in[0].dtype != PCTL_SCALAR_F64)
		return kit_refuse_type(u, 0, u->op->desc.in[0].type);
	return tensor_axes_given(u, a);
}

static pctl_status sum64_infer(const kit_use *u, pctl_op_result *out)
{
	return tensor_axes_infer(u, axes_of, out);
}

/* Lanes of a result, each of which leaves a sum. */
static tensor_round lanes_of(const tensor_axes *a, uint64_t terms, uint32_t from)
{
	const uint64_t few = terms / 32, many = 16384 / (a->count + 1) + 1;
	tensor_round r = {.terms = terms, .width = 1, .from = from};

	r.lanes = (terms + RUN - 1) / RUN;
	if (r.lanes < (few < many ? few : many))
		r.lanes = few < many ? few : many;
	r.lanes += r.lanes == 0;
	r.runs = r.lanes;
	r.last = r.runs == 1;
	return r;
}

/* marks: what quick sums told, UNTOLD where they did not: only that is summed; or NONE. */
static void run_sums(kit_plan *p, const tensor_axes *a, const tensor_round *r, uint32_t marks)
{
	kit_wgsl w = kit_wgsl_make(p->use, 16384);
	char text[200];

	tensor_round_text(&w, a, r);
	add_exact(&w, 0);
	snprintf(text, sizeof(text), "alias S = array<u32, %u>;\n", SUM_DIGITS + 1);
	kit_wgsl_add(&w, text);
	kit_wgsl_add(&w, r->first ? "@group(0) @binding(1) var<storage, read> x: array<u64>;\n"
				    "fn take(i: u32) {\n\tsum_term(x[i]);\n}\n"
				  : "@group(0) @binding(1) var<storage, read> x: array<S>;\n"
				    "fn take(i: u32) {\n\tfor (var d = 0u; d < DIGITS; d++) {\n"
				    "\t\tset_digit(d, digit(d) + i64(x[i][d]));\n\t}\n\tsaw |= "
				    "x[i][DIGITS];\n}\n");
	kit_wgsl_add(
		&w,
		r->last ? "@group(0) @binding(2) var<storage, read_write> y: array<u64>;\n"
			  "fn put(item: u32) {\n\ty[item] = sum_round();\n}\n"
			: "@group(0) @binding(2) var<storage, read_write> y: array<S>;\n"
			  "fn put(item: u32) {\n\tsum_carry();\n"
			  "\tfor (var d = 0u; d < DIGITS; d++) {\n"
			  "\t\ty[item][d] = u32(digit(d));\n\t}\n\ty[item][DIGITS] = saw;\n}\n");
	if (marks != NONE)
		kit_wgsl_add(&w, "@group(0) @binding(3) var<storage, read> marks: array<u64>;\n");
	kit_wgsl_named(&w, KERNEL_SUM64,
		       marks != NONE ? " && marks[item % params.count] == 0xffffffffffffffff"
				       "lu"
				     : "");
	tensor_round_run(p, "tensor/sum64.wgsl", a, r, &w,
			 (kit_slot[]){KIT_ALL(tensor_round_params(p, a, r)), tensor_round_from(r),
				      KIT_ALL(r->to), KIT_ALL(marks)},
			 marks != NONE ? 4 : 3);
}

/* What f64 sums tell of the results; NONE: not on this device, or not worth it. */
static uint32_t quick_sums(kit_plan *p, const tensor_axes *a)
{
	tensor_round r = tensor_round_first(a, kit_in(p, 0), 16);
	uint64_t n = 2 * a->terms + 8, power = 16;
	char text[160];

	if (!has_doubles(p) || a->terms == 0 || a->count * a->terms < SUMS_LEAST)
		return NONE;
	while (p->status == PCTL_OK) {
		kit_wgsl w = kit_wgsl_make(p->use, 16384);

		n += r.lanes;
		tensor_round_text(&w, a, &r);
		kit_wgsl_add(&w, "alias A = vec4<f64>;\n");
		kit_wgsl_add(&w,
			     r.first ? "@group(0) @binding(1) var<storage, read> x: array<f64>;\n"
				     : "@group(0) @binding(1) var<storage, read> x: array<A>;\n");
		kit_wgsl_add(
			&w,
			r.last ? "@group(0) @binding(2) var<storage, read_write> y: array<u64>;\n"
			       : "@group(0) @binding(2) var<storage, read_write> y: array<A>;\n");
		kit_wgsl_add(&w, KERNEL_DOUBLE_SUM);
		kit_wgsl_add(&w, "fn none() -> A {\n\treturn NO_SUM;\n}\n"
				 "fn join(a: A, b: A) -> A {\n\treturn sums_join(a, b);\n}\n");
		kit_wgsl_add(&w,
			     r.first ? "fn take(i: u32, term: u32) -> A {\n\tlet v = x[i];\n"
				       "\treturn A(v, 0.0lf, abs(v), 0.0lf);\n}\n"
				     : "fn take(i: u32, term: u32) -> A {\n\treturn x[i];\n}\n");
		/* Texts are compiled, so that their numbers are few. */
		while (power < n)
			power *= 2;
		snprintf(text, sizeof(text),
			 "fn give(a: A) -> u64 {\n\treturn told(a, %llu.0lf);\n}\n",
			 (unsigned long long)power);
		kit_wgsl_add(&w, r.last ? text : "fn give(a: A) -> A {\n\treturn a;\n}\n");
		tensor_round_tree(p, &r, &w);
		r.to = kit_temp(p, r.last ? 8 * a->count : 32 * a->count * r.runs);
		tensor_round_run(p, "tensor/quick_sum64.wgsl", a, &r, &w,
				 (kit_slot[]){KIT_ALL(tensor_round_params(p, a, &r)),
					      KIT_ALL(r.from), KIT_ALL(r.to)},
				 3);
		if (r.last)
			return r.to;
		r = tensor_round_next(a, &r, 16);
	}
	return NONE;
}

/* Sums as they are, through the function of the host. */
static void write_sums(kit_plan *p, uint32_t sums, uint64_t count)
{
	tensor_kernel k = tensor_kernel_begin(p, "tensor/sum64_written.wgsl", count, 8, 0);

	tensor_kernel_read(&k, "x", 8, sums);
	kit_wgsl_add(&k.w, "fn product(i: u32) -> u64 {\n\treturn x_raw(i);\n}\n");
	tensor_kernel_run(&k, kit_out(p, 0));
}

static void sum64_plan(kit_plan *p)
{
	tensor_axes a;
	tensor_round r;
	uint32_t marks, to;

	p->status = axes_of(p->use, &a);
	if (p->status != PCTL_OK || a.count == 0 || tensor_rows_apart(p, &a, 0))
		return;
	/* What quick sums told and what they did not is written in two dispatches. */
	to = p->through != 0 ? kit_temp(p, 8 * a.count) : kit_out(p, 0);
	marks = quick_sums(p, &a);
	if (marks != NONE)
		kit_copy(p, marks, 0, to, 0, 8 * a.count);
	r = lanes_of(&a, a.terms, kit_in(p, 0));
	r.first = 1;
	while (p->status == PCTL_OK) {
		r.to = r.last ? to : kit_temp(p, 4ull * (SUM_DIGITS + 1) * a.count * r.runs);
		run_sums(p, &a, &r, marks);
		if (r.last)
			break;
		r = lanes_of(&a, r.runs, r.to);
	}
	if (to != kit_out(p, 0))
		write_sums(p, to, a.count);
}

static pctl_status sum64_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const pctl_tensor_type *x = &u->q->in[0];
	const uint64_t n = kit_elements(x);
	tensor_axes a;
	room r = {NULL, NULL, 0};
	pctl_status status = axes_of(u, &a);

	if (status == PCTL_OK)
		status = make_room(u, a.terms, 53, &r);
	for (uint64_t result = 0; status == PCTL_OK && result < a.count; result++) {
		uint64_t terms = 0, bits;

		for (uint64_t i = 0; i < n; i++)
			if (tensor_axes_result(x, a.mask, i) == result)
				mpfr_set_d(r.v[terms++], double_at(in[0].data, i), MPFR_RNDN);
		bits = rounded(r.v, r.at, terms);
		memcpy((uint8_t *)out[0].data + 8 * result, &bits, 8);
	}
	leave_room(u, &r);
	return status;
}

/* ---- products --------------------------------------------------------------------------------- */

#define TERMS_MOST 65536u

/* rows, columns, terms. */
typedef struct sides {
	uint64_t m, n, k;
} sides;

static int is_turned(const kit_use *u)
{
	return kit_attr(u, 0) != 0;
}

static pctl_status sides_of(const kit_use *u, sides *s)
{
	const pctl_tensor_type *a = &u->q->in[0], *b = &u->q->in[1];
	const uint32_t turned = (uint32_t)is_turned(u);

	for (uint32_t i = 0; i < 2; i++)
		if (u->q->in[i].dtype != PCTL_SCALAR_F64 || u->q->in[i].rank != 2)
			return kit_refuse_type(u, i, u->op->desc.in[i].type);
	*s = (sides){a->dim[0], b->dim[1 - turned], a->dim[1]};
	if (b->dim[turned] != s->k)
		return kit_refuse_type(u, 1, "as many terms as a has columns");
	return kit_limit(u, "terms of an element", s->k, TERMS_MOST);
}

static pctl_status matmul64_infer(const kit_use *u, pctl_op_result *out)
{
	sides s;
	const pctl_status status = sides_of(u, &s);

	if (status != PCTL_OK)
		return status;
	out->out[0] = (pctl_tensor_type){.dtype = PCTL_SCALAR_F64, .rank = 2, .dim = {s.m, s.n}};
	out->n_cut = 1;
	out->cut[0] = 1;
	return kit_limit(u, "elements", kit_elements(&out->out[0]), TENSOR_ELEMENTS_MAX);
}

static void matmul64_plan(kit_plan *p)
{
	tensor_kernel k;
	sides s;

	p->status = sides_of(p->use, &s);
	if (p->status != PCTL_OK || s.m * s.n == 0)
		return;
	k = tensor_kernel_begin(p, "tensor/matmul64.wgsl", s.m * s.n, 8, s.k + (s.k == 0));
	k.params.v[0][0] = (uint32_t)s.n;
	k.params.v[0][1] = (uint32_t)s.k;
	k.params.v[0][2] = is_turned(p->use) ? 1 : (uint32_t)s.n;
	k.params.v[0][3] = is_turned(p->use) ? (uint32_t)s.k : 1;
	tensor_kernel_read(&k, "a", 8, kit_in(p, 0));
	tensor_kernel_read(&k, "b", 8, kit_in(p, 1));
	add_exact(&k.w, 1);
	if (has_doubles(p) && s.m * s.n * s.k >= PRODUCTS_LEAST) {
		kit_wgsl_named(&k.w, KERNEL_MATMUL64, "exact");
		kit_wgsl_add(&k.w, KERNEL_DOUBLE_SUM);
		kit_wgsl_add(&k.w, KERNEL_MATMUL64_TOLD);
	} else {
		kit_wgsl_named(&k.w, KERNEL_MATMUL64, "product");
	}
	tensor_kernel_run(&k, kit_out(p, 0));
}

static pctl_status matmul64_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const int turned = is_turned(u);
	sides s;
	room r = {NULL, NULL, 0};
	mpfr_t a, b;
	pctl_status status = sides_of(u, &s);

	if (status == PCTL_OK)
		status = make_room(u, s.k, 106, &r);
	mpfr_init2(a, 53);
	mpfr_init2(b, 53);
	for (uint64_t i = 0; status == PCTL_OK && i < s.m * s.n; i++) {
		const uint64_t row = i / s.n, column = i % s.n;
		uint64_t bits;

		for (uint64_t k = 0; k < s.k; k++) {
			mpfr_set_d(a, double_at(in[0].data, row * s.k + k), MPFR_RNDN);
			mpfr_set_d(
				b,
				double_at(in[1].data, turned ? column * s.k + k : k * s.n + column),
				MPFR_RNDN);
			(void)mpfr_mul(r.v[k], a, b, MPFR_RNDN);
		}
		bits = rounded(r.v, r.at, s.k);
		memcpy((uint8_t *)out[0].data + 8 * i, &bits, 8);
	}
	mpfr_clear(a);
	mpfr_clear(b);
	leave_room(u, &r);
	return status;
}

/* ---- laws and problems ------------------------------------------------------------------------ */

static uint32_t converted(kit_law *l, uint32_t tensor, const char *to)
{
	const pctl_attr attr = {"to", to, 0};

	return kit_law_use(l, "tensor.convert", &tensor, 1, &attr, 1, 1);
}

/* x made integers of 8 bits: their sum is what integers give. */
static void sum64_law_integers(kit_law *l)
{
	const uint32_t small = converted(l, 0, "i8");
	const uint32_t doubles = converted(l, small, "f64"), words = converted(l, small, "i32");
	const uint32_t sum = kit_law_use(l, "tensor.sum", &words, 1, l->use.q->attr, 2, 1);

	kit_law_equal(l, kit_law_use(l, "tensor.sum64", &doubles, 1, l->use.q->attr, 2, 1),
		      converted(l, sum, "f64"));
}

static void matmul64_law_integers(kit_law *l)
{
	const pctl_attr attr[] = {{"transpose_b", kit_law_attr(l, "transpose_b"), 0}};
	uint32_t small[2], doubles[2], product;

	for (uint32_t i = 0; i < 2; i++)
		small[i] = converted(l, i, "i8");
	for (uint32_t i = 0; i < 2; i++)
		doubles[i] = converted(l, small[i], "f64");
	product = kit_law_use(l, "tensor.matmul", small, 2, attr, 1, 1);
	kit_law_equal(l, kit_law_use(l, "tensor.matmul64", doubles, 2, attr, 1, 1),
		      converted(l, product, "f64"));
}

/* Both factors with their terms in the opposite order. */
static void matmul64_law_order(kit_law *l)
{
	const int turned = strcmp(kit_law_attr(l, "transpose_b"), "true") == 0;
	const pctl_attr one = {"axes", "1", 0}, other = {"axes", turned ? "1" : "0", 0};
	uint32_t x[2] = {0, 1};

	x[0] = kit_law_use(l, "tensor.flip", &x[0], 1, &one, 1, 1);
	x[1] = kit_law_use(l, "tensor.flip", &x[1], 1, &other, 1, 1);
	kit_law_equal(l, kit_law_use(l, "tensor.matmul64", x, 2, l->use.q->attr, 1, 1),
		      kit_law_out(l, 0));
}

static const uint64_t products[][3] = {{1, 1, 1}, {3, 5, 7}, {2, 3, 65}, {4, 1, 33}, {1, 9, 130},
				       {2, 2, 0}, {0, 3, 2}, {17, 5, 2}, {7, 8, 65}};

static const pctl_op_problems matmul64_problems = {PCTL_HEAD(pctl_op_problems),
						   "matrices of up to 130 columns",
						   KIT_COUNT(products) * TENSOR_KINDS * 2};

static void matmul64_problem(kit_problem *p)
{
	const uint64_t *s = products[p->number / 2 / TENSOR_KINDS % KIT_COUNT(products)];
	const uint32_t kind = (uint32_t)(p->number / 2 % TENSOR_KINDS);
	const int turned = p->number % 2 != 0;
	const pctl_tensor_type a = tensor_type_of(p->dtype, 2, (uint64_t[]){s[0], s[2]});
	const pctl_tensor_type b = tensor_type_of(
		p->dtype, 2, turned ? (uint64_t[]){s[1], s[2]} : (uint64_t[]){s[2], s[1]});

	if (p->number >= matmul64_problems.n) {
		kit_problem_none(p);
		return;
	}
	tensor_problem_fill(p, 0, &a, kind);
	tensor_problem_fill(p, 1, &b, kind);
	tensor_problem_attr(p, 0, turned ? "true" : "false");
	kit_problem_rigid(p);
}

static const pctl_op_problems sum64_problems = {PCTL_HEAD(pctl_op_problems),
						"tensors of up to four dimensions and axes of them",
						TENSOR_SHAPES *TENSOR_KINDS * 3};

/* Along all axes, the first, the last. */
static void sum64_problem(kit_problem *p)
{
	pctl_tensor_type t = tensor_problem_shapes[p->number / 3 / TENSOR_KINDS % TENSOR_SHAPES];

	if (p->number >= sum64_problems.n) {
		kit_problem_none(p);
		return;
	}
	t.dtype = p->dtype;
	if (t.rank == 1 && t.dim[0] == 64)
		t.dim[0] = 4097;
	tensor_problem_fill(p, 0, &t, (uint32_t)(p->number / 3 % TENSOR_KINDS));
	tensor_problem_attr(p, 0, p->number % 3 == 0 ? "" : p->number % 3 == 1 ? "0" : "-1");
	tensor_problem_attr(p, 1, p->number % 2 ? "true" : "false");
	kit_problem_rigid(p);
}

static void sum64_law_order(kit_law *l)
{
	const pctl_attr axes = {"axes", kit_law_attr(l, "axes"), 0};
	const uint32_t x = 0;
	uint32_t turned;

	if (*axes.text == '\0')
		return;
	turned = kit_law_use(l, "tensor.flip", &x, 1, &axes, 1, 1);
	kit_law_equal(l, kit_law_use(l, "tensor.sum64", &turned, 1, l->use.q->attr, 2, 1),
		      kit_law_out(l, 0));
}

/* ---- the ops ---------------------------------------------------------------------------------- */

static const pctl_port sum64_in[] = {{"x", "f64[...]", "the terms", 0, 0}};
static const pctl_port sum64_out[] = {{"y", "f64[...]", "the sums", PCTL_PORT_THROUGH, 0}};
static const pctl_attr_desc sum64_attr[] = {
	{"axes", "",
	 "what is summed over: numbers of axes between commas, negative ones from the end; if not "
	 "given, all",
	 PCTL_ATTR_STRING, 0, 0, 0},
	{"keep", "false", "these axes stay, with one element", PCTL_ATTR_BOOL, 0, 0, 1},
};
static const pctl_port matmul64_in[] = {
	{"a", "f64[m,k]", "rows", 0, 0},
	{"b", "f64[p,q]", "columns: k by n, or n by k with transpose_b", 0, 0}};
static const pctl_port matmul64_out[] = {{"y", "f64[m,n]", "the products", PCTL_PORT_THROUGH, 0}};
static const pctl_attr_desc matmul64_attr[] = {
	{"transpose_b", "false", "b lies column by column", PCTL_ATTR_BOOL, 0, 0, 1}};
static const pctl_law sum64_laws[] = {
	TENSOR_LAW("integers", "x made i8: the sum of these as f64 is that as integers"),
	TENSOR_LAW("order", "x with the named axes in the opposite order gives the same y"),
};
static void (*const sum64_checks[])(kit_law *) = {sum64_law_integers, sum64_law_order};
static const pctl_law matmul64_laws[] = {
	TENSOR_LAW("integers", "factors made i8: their product as f64 is that as integers"),
	TENSOR_LAW("order", "factors with their terms in the opposite order give the same y"),
};
static void (*const matmul64_checks[])(kit_law *) = {matmul64_law_integers, matmul64_law_order};

static const kit_op ops[] = {
	TENSOR_OP(
		sum64, 1, "tensor.sum64", "sums of f64 along axes, exact",
		"The exact sum, rounded once to f64: no order of addition shows; an exact zero and "
		"the sum of nothing are +0,\nInf - Inf and NaN give the canonical NaN. A sum has "
		"at "
		"most 2^29 terms.",
		PCTL_CLASS_STRICT, sum64_in, 1, sum64_out, sum64_attr, 2, NULL),
	TENSOR_OP(matmul64, 1, "tensor.matmul64", "products of matrices of f64, exact",
		  "y[i,j] is the exact sum of the exact products a[i,k] * b[k,j], rounded once to "
		  "f64: an exact zero and the sum of\nnothing are +0, a sum that rounds to zero "
		  "keeps "
		  "its sign, 0 * Inf, Inf - Inf and NaN give the canonical NaN. At most 65,536 "
		  "terms.",
		  PCTL_CLASS_STRICT, matmul64_in, 2, matmul64_out, matmul64_attr, 1, NULL),
};

const kit_family tensor_double_family = {ops, NULL, KIT_COUNT(ops), 0};
