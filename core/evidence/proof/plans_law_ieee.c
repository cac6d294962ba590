/* The laws of the reductions: their recurrences, put together on the device from smaller problems, and how far from the
 * exact result an approximate one may be, measured with exact sums and products. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <mpfr.h>

#include "runtime/graph/type.h"
#include "evidence/proof/plans.h"

/* A copy of p with elements first .. first + n - 1 of x as a vector, answered by the device. */
static pctl_status part(const pctl_judge *j, const pctl_problem *p, uint64_t first, uint64_t n,
			const char *op, const pctl_call *call, pctl_answer *out)
{
	const uint32_t bytes = pctl_dtype_bytes(p->in[0].dtype);
	const pctl_tensor_type t = {p->in[0].dtype, 1, {n}};
	pctl_problem q;
	pctl_status status = pctl_problem_other(j->ops, op, 1, call, &q);

	memset(out, 0, sizeof(*out));
	if (status == PCTL_OK)
		status = pctl_problem_port(&q, 0, &t, call);
	if (status == PCTL_OK) {
		memcpy(q.data[0], p->data[0] + first * bytes, n * bytes);
		pctl_problem_set(&q, 0, pctl_problem_attr(p, "op"));
		status = j->device->solve(j->device->ctx, &q, call, out);
	}
	pctl_problem_clear(&q);
	return status;
}

/* Two values by the function op, on the device. */
static pctl_status combine(const pctl_judge *j, const pctl_problem *p, const uint8_t *a,
			   const uint8_t *b, const pctl_call *call, pctl_answer *out)
{
	const uint32_t bytes = pctl_dtype_bytes(p->in[0].dtype);
	const pctl_tensor_type t = {p->in[0].dtype, 1, {1}};
	char name[64];
	pctl_problem q;
	pctl_status status;

	memset(out, 0, sizeof(*out));
	snprintf(name, sizeof(name), "ieee.%.20s", pctl_problem_attr(p, "op"));
	status = pctl_problem_other(j->ops, name, 1, call, &q);
	for (uint32_t i = 0; i < 2 && status == PCTL_OK; i++) {
		status = pctl_problem_port(&q, i, &t, call);
		if (status == PCTL_OK)
			memcpy(q.data[i], i == 0 ? a : b, bytes);
	}
	if (status == PCTL_OK)
		status = j->device->solve(j->device->ctx, &q, call, out);
	pctl_problem_clear(&q);
	return status;
}

static pctl_status strict_step(const pctl_judge *j, const pctl_problem *p, const pctl_answer *a,
			       const pctl_call *call, pctl_verdict *out)
{
	const uint32_t bytes = pctl_dtype_bytes(p->in[0].dtype);
	const uint64_t n = pctl_problem_elements(p);
	pctl_answer before = {.n_out = 0}, want = {.n_out = 0};
	pctl_status status = PCTL_OK;

	out->skipped = n < 2;
	if (out->skipped)
		return PCTL_OK;
	status = part(j, p, 0, n - 1, "ieee.reduce_strict", call, &before);
	if (status == PCTL_OK)
		status = combine(j, p, before.data[0], p->data[0] + (n - 1) * bytes, call, &want);
	if (status == PCTL_OK)
		(void)pctl_answer_differs(p, a, &want, out);
	pctl_answer_clear(&before);
	pctl_answer_clear(&want);
	return status;
}

static pctl_status tree_step(const pctl_judge *j, const pctl_problem *p, const pctl_answer *a,
			     const pctl_call *call, pctl_verdict *out)
{
	const uint64_t n = pctl_problem_elements(p);
	pctl_answer left = {.n_out = 0}, right = {.n_out = 0}, want = {.n_out = 0};
	pctl_status status = PCTL_OK;
	uint64_t m = 1;

	out->skipped = n < 2;
	if (out->skipped)
		return PCTL_OK;
	while (2 * m < n)
		m *= 2;
	status = part(j, p, 0, m, "ieee.reduce_tree", call, &left);
	if (status == PCTL_OK)
		status = part(j, p, m, n - m, "ieee.reduce_tree", call, &right);
	if (status == PCTL_OK)
		status = combine(j, p, left.data[0], right.data[0], call, &want);
	if (status == PCTL_OK)
		(void)pctl_answer_differs(p, a, &want, out);
	pctl_answer_clear(&left);
	pctl_answer_clear(&right);
	pctl_answer_clear(&want);
	return status;
}

static pctl_status one_element(const pctl_judge *j, const pctl_problem *p, const pctl_answer *a,
			       const pctl_call *call, pctl_verdict *out)
{
	pctl_answer want = *a;

	(void)j;
	(void)call;
	out->skipped = pctl_problem_elements(p) != 1;
	want.data[0] = p->data[0];
	if (!out->skipped)
		(void)pctl_answer_differs(p, a, &want, out);
	return PCTL_OK;
}

static int is_extreme(const pctl_problem *p)
{
	const char *op = pctl_problem_attr(p, "op");

	return strcmp(op, "min") == 0 || strcmp(op, "max") == 0;
}

static pctl_status as_strict(const pctl_judge *j, const pctl_problem *p, const pctl_answer *a,
			     const pctl_call *call, pctl_verdict *out)
{
	pctl_answer want = {.n_out = 0};
	pctl_status status = PCTL_OK;

	out->skipped = !is_extreme(p);
	if (!out->skipped)
		status = part(j, p, 0, pctl_problem_elements(p), "ieee.reduce_strict", call, &want);
	if (status == PCTL_OK && !out->skipped)
		(void)pctl_answer_differs(p, a, &want, out);
	pctl_answer_clear(&want);
	return status;
}

/* ---- the tolerance ---------------------------------------------------------------------------- */

/* Exponent and mantissa bits of a dtype. */
typedef struct layout {
	int e, m, bytes;
} layout;

static layout layout_of(uint32_t dtype)
{
	return dtype == PCTL_SCALAR_F32	  ? (layout){8, 23, 4}
	       : dtype == PCTL_SCALAR_F16 ? (layout){5, 10, 2}
					  : (layout){8, 7, 2};
}

/* All these formats are exact in double. 0 for an infinity or a NaN. */
static int value_of(const layout *f, const uint8_t *at, double *out)
{
	const int bias = (1 << (f->e - 1)) - 1;
	uint32_t bits = 0, exponent, mantissa;

	memcpy(&bits, at, (size_t)f->bytes);
	exponent = bits >> f->m & ((1u << f->e) - 1);
	mantissa = bits & ((1u << f->m) - 1);
	if (exponent == (1u << f->e) - 1)
		return 0;
	*out = exponent == 0 ? ldexp(mantissa, 1 - bias - f->m)
			     : ldexp(mantissa | 1u << f->m, (int)exponent - bias - f->m);
	if (bits >> (f->e + f->m) & 1)
		*out = -*out;
	return 1;
}

/* Sums of up to 2^31 f32 are exact in 400 bits. A product of as many is not: 2000 bits leave it exact to far below any
 * tolerance. Sizes of elements in *size: their sum, or their product. 0: the law does not speak of these. */
static int exact(const pctl_problem *p, const layout *f, int is_product, mpfr_t total, mpfr_t size)
{
	const double most = ldexp(1.0, (1 << (f->e - 1)) - 1),
		     least = ldexp(1.0, 2 - (1 << (f->e - 1)));
	double above = 0, below = 0;

	mpfr_set_si(total, is_product, MPFR_RNDN);
	mpfr_set_si(size, is_product, MPFR_RNDN);
	for (uint64_t i = 0; i < pctl_problem_elements(p); i++) {
		double x;

		if (!value_of(f, p->data[0] + i * (uint64_t)f->bytes, &x) || (is_product && x == 0))
			return 0;
		if (!is_product) {
			mpfr_add_d(total, total, x, MPFR_RNDN);
			mpfr_add_d(size, size, fabs(x), MPFR_RNDN);
			continue;
		}
		mpfr_mul_d(total, total, x, MPFR_RNDN);
		above += x > 1 || x < -1 ? log2(fabs(x)) : 0;
		below += x < 1 && x > -1 ? log2(fabs(x)) : 0;
	}
	if (!is_product) /* no partial sum is above the sum of sizes */
		return mpfr_cmp_d(size, most) < 0;
	/* Any product of some of them lies between these, and roundings move it by little. */
	mpfr_abs(size, total, MPFR_RNDN);
	return above < log2(most) - 1 && below > log2(least) + 1;
}

/* The unit in the last place of |v|: of the smallest normal number for all below it. */
static void ulp_of(const layout *f, mpfr_t v, mpfr_t out)
{
	const long low = 2 - (1 << (f->e - 1)); /* exponent of the smallest normal number */
	long e = mpfr_zero_p(v) ? low : (long)mpfr_get_exp(v) - 1;

	e = e < low ? low : e;
	mpfr_set_si_2exp(out, 1, e - f->m, MPFR_RNDN);
}

static pctl_status within(const pctl_judge *j, const pctl_problem *p, const pctl_answer *a,
			  const pctl_call *call, pctl_verdict *out)
{
	const layout f = layout_of(p->in[0].dtype);
	const int is_product = strcmp(pctl_problem_attr(p, "op"), "mul") == 0;
	mpfr_t total, size, ulp, tolerance, error;
	double y;

	(void)j;
	(void)call;
	mpfr_inits2(2000, total, size, ulp, tolerance, error, (mpfr_ptr)0);
	out->skipped = is_extreme(p) || pctl_problem_elements(p) == 0 ||
		       !exact(p, &f, is_product, total, size);
	if (!out->skipped) {
		ulp_of(&f, size, ulp);
		mpfr_set_str(tolerance, pctl_problem_attr(p, "ulps"), 10, MPFR_RNDN);
		mpfr_mul(tolerance, tolerance, ulp, MPFR_RNDN);
		out->failed = (uint32_t)!value_of(&f, a->data[0], &y);
		if (out->failed) {
			snprintf(out->got, sizeof(out->got), "y[0] is no number");
		} else {
			mpfr_d_sub(error, y, total, MPFR_RNDN);
			mpfr_abs(error, error, MPFR_RNDN);
			out->failed = mpfr_cmp(error, tolerance) > 0;
			mpfr_div(error, error, ulp, MPFR_RNDN);
			snprintf(out->got, sizeof(out->got), "y[0] = %a, off by %.4g ulp", y,
				 mpfr_get_d(error, MPFR_RNDU));
		}
		mpfr_snprintf(out->want, sizeof(out->want), "%.17Rg within %.30s ulp", total,
			      pctl_problem_attr(p, "ulps"));
	}
	mpfr_clears(total, size, ulp, tolerance, error, (mpfr_ptr)0);
	return PCTL_OK;
}

const pctl_plan_law pctl_plan_laws_ieee[] = {
	{"ieee.reduce_strict@1", "reduce_strict(x, v) = op(reduce_strict(x), v) for x not empty",
	 "one more", strict_step, 0, 0},
	{"ieee.reduce_strict@1", "one element comes back as it is, a NaN with its payload too",
	 "one element", one_element, 0, 0},
	{"ieee.reduce_tree@1",
	 "n > 1: reduce_tree(x) = op(reduce_tree(x[..m]), reduce_tree(x[m..])), m the largest "
	 "power of two below n",
	 "two parts", tree_step, 0, 0},
	{"ieee.reduce_tree@1", "of min and max: equals reduce_strict", "as strict", as_strict, 0,
	 0},
	{"ieee.reduce_tree@1", "one element comes back as it is, a NaN with its payload too",
	 "one element", one_element, 0, 0},
	{"ieee.reduce_approx@1", "within ulps of the exact result as the specification measures it",
	 "within tolerance", within, 1, 0},
	{"ieee.reduce_approx@1", "of min and max: equals reduce_strict", "as strict", as_strict, 0,
	 0},
};
const uint32_t pctl_n_plan_laws_ieee = sizeof(pctl_plan_laws_ieee) / sizeof(pctl_plan_laws_ieee[0]);
