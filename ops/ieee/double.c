/* ieee.add64 sub64 .. ge64: arithmetic, rounding to integers and comparisons of f64, each with one rounding. They are ops of their own, since what released ops
 * take never changes. A device computes them by its own f64 where that was shown to be exact, else by integers; the reference by MPFR, whose exponents
 * are an f64's meanwhile. They are proved as plans are. */
#include "ieee.h"

#define TOP 0x8000000000000000u
#define INFINITE 0x7ff0000000000000u
#define CANONICAL 0x7ff8000000000000u

/* a, b, c: bits. */
typedef struct double_row {
	const char *wgsl;
	uint64_t (*eval)(const struct double_row *row, mpfr_t v[4], const uint64_t x[3]);
	int (*real1)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
	int (*real2)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);
	int (*whole)(mpfr_ptr, mpfr_srcptr);
	const char *narrow; /* the op that gives the same of f32; NULL where it is no law */
	uint32_t wanted; /* of comparisons: bits 0, 1, 2: below, equal, above; 8: what NaN gives */
	int side;	 /* of min and max */
} double_row;

/* ---- the reference ---------------------------------------------------------------------------- */

static int is_nan(uint64_t x)
{
	return (x & ~TOP) > INFINITE;
}

static void take(mpfr_t v, uint64_t bits)
{
	double x;

	memcpy(&x, &bits, sizeof(x));
	mpfr_set_d(v, x, MPFR_RNDN);
}

/* What was rounded to 53 bits, with the bits that a subnormal has. */
static uint64_t give(mpfr_t v, int ternary)
{
	uint64_t bits;
	double x;

	(void)mpfr_subnormalize(v, ternary, MPFR_RNDN);
	if (mpfr_nan_p(v))
		return CANONICAL;
	x = mpfr_get_d(v, MPFR_RNDN);
	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static uint64_t eval_real1(const double_row *row, mpfr_t v[4], const uint64_t x[3])
{
	take(v[0], x[0]);
	return give(v[3], row->real1(v[3], v[0], MPFR_RNDN));
}

static uint64_t eval_real2(const double_row *row, mpfr_t v[4], const uint64_t x[3])
{
	take(v[0], x[0]);
	take(v[1], x[1]);
	return give(v[3], row->real2(v[3], v[0], v[1], MPFR_RNDN));
}

static uint64_t eval_fma(const double_row *row, mpfr_t v[4], const uint64_t x[3])
{
	(void)row;
	for (uint32_t i = 0; i < 3; i++)
		take(v[i], x[i]);
	return give(v[3], mpfr_fma(v[3], v[0], v[1], v[2], MPFR_RNDN));
}

static uint64_t eval_whole(const double_row *row, mpfr_t v[4], const uint64_t x[3])
{
	take(v[0], x[0]);
	(void)row->whole(v[3], v[0]);
	return give(v[3], 0);
}

static uint64_t eval_neg(const double_row *row, mpfr_t v[4], const uint64_t x[3])
{
	(void)row;
	(void)v;
	return x[0] ^ TOP;
}

static uint64_t eval_abs(const double_row *row, mpfr_t v[4], const uint64_t x[3])
{
	(void)row;
	(void)v;
	return x[0] & ~TOP;
}

/* Ascends with the numbers, -0 below +0. */
static int64_t order_of(uint64_t x)
{
	return x & TOP ? -(int64_t)(x & ~TOP) - 1 : (int64_t)x;
}

static uint64_t eval_extreme(const double_row *row, mpfr_t v[4], const uint64_t x[3])
{
	(void)v;
	if (is_nan(x[0]))
		return is_nan(x[1]) ? CANONICAL : x[1];
	if (is_nan(x[1]))
		return x[0];
	return (order_of(x[0]) > order_of(x[1])) == (row->side > 0) ? x[0] : x[1];
}

static uint64_t eval_compare(const double_row *row, mpfr_t v[4], const uint64_t x[3])
{
	int at;

	(void)v;
	if (is_nan(x[0]) || is_nan(x[1]))
		return row->wanted >> 8;
	at = ((x[0] | x[1]) & ~TOP) == 0       ? 1
	     : order_of(x[0]) < order_of(x[1]) ? 0
	     : x[0] == x[1]		       ? 1
					       : 2;
	return row->wanted >> at & 1;
}

/* ---- what all share --------------------------------------------------------------------------- */

static const double_row *row_of(const kit_use *u)
{
	return u->op->data;
}

static int is_truth(const kit_use *u)
{
	return row_of(u)->eval == eval_compare;
}

static const char *double_function(const kit_op *op, uint32_t dtype)
{
	const double_row *row = op->data;

	return dtype == PCTL_SCALAR_F64 ? row->wgsl : NULL;
}

static pctl_status double_infer(const kit_use *u, pctl_op_result *out)
{
	const pctl_tensor_type *x = u->q->in;

	for (uint32_t i = 0; i < u->q->n_in; i++) {
		if (x[i].dtype != PCTL_SCALAR_F64)
			return kit_refuse_type(u, i, u->op->desc.in[i].type);
		if (!kit_same_shape(&x[i], &x[0]))
			return kit_refuse_type(u, i, "the type and shape of port \"a\"");
	}
	out->out[0] = x[0];
	if (is_truth(u))
		out->out[0].dtype = PCTL_SCALAR_U32;
	return kit_limit(u, "elements", kit_elements(&x[0]), IEEE_ELEMENTS_MAX);
}

static pctl_status double_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const uint64_t n = kit_elements(&u->q->in[0]), bytes = is_truth(u) ? 4 : 8;
	const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
	mpfr_t v[4];

	for (uint32_t i = 0; i < 4; i++)
		mpfr_init2(v[i], 53);
	mpfr_set_emin(-1073);
	mpfr_set_emax(1024);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t x[3] = {0}, y;

		for (uint32_t k = 0; k < u->q->n_in; k++)
			memcpy(&x[k], (const uint8_t *)in[k].data + 8 * i, 8);
		y = row_of(u)->eval(row_of(u), v, x);
		memcpy((uint8_t *)out[0].data + bytes * i, &y, bytes);
	}
	mpfr_set_emin(emin);
	mpfr_set_emax(emax);
	for (uint32_t i = 0; i < 4; i++)
		mpfr_clear(v[i]);
	mpfr_free_cache();
	return PCTL_OK;
}

/* ---- laws ------------------------------------------------------------------------------------- */

static uint64_t places_of(const kit_law *l)
{
	return kit_elements(&l->use.q->in[0]);
}

/* The elements of a tensor in the opposite order. */
static uint32_t turned(kit_law *l, uint32_t tensor, uint32_t dtype)
{
	const uint64_t n = places_of(l), bytes = kit_dtype_bytes(dtype);
	const pctl_tensor_type t = kit_vector(dtype, n);
	uint8_t *data = kit_law_scratch(l, n * bytes);
	uint32_t made = 0;

	for (uint64_t i = 0; data != NULL && i < n; i++)
		memcpy(data + i * bytes, kit_law_data(l, tensor) + (n - 1 - i) * bytes, bytes);
	if (data != NULL)
		made = kit_law_tensor(l, &t, data);
	kit_law_free(l, data);
	return made;
}

static void law_places(kit_law *l)
{
	const uint32_t n_in = l->use.q->n_in;
	uint32_t x[3], y;

	if (places_of(l) < 2)
		return;
	for (uint32_t i = 0; i < n_in; i++)
		x[i] = turned(l, i, PCTL_SCALAR_F64);
	y = turned(l, kit_law_out(l, 0), is_truth(&l->use) ? PCTL_SCALAR_U32 : PCTL_SCALAR_F64);
	kit_law_equal(l, kit_law_use(l, l->use.op->desc.name, x, n_in, NULL, 0, 1), y);
}

static uint32_t converted(kit_law *l, uint32_t tensor, const char *to)
{
	const pctl_attr attr = {"to", to, 0};

	return kit_law_use(l, "tensor.convert", &tensor, 1, &attr, 1, 1);
}

/* An f64 has more than twice the bits of an f32 and two, and all its exponents: rounding twice is rounding once. */
static void law_narrow(kit_law *l)
{
	const uint32_t n_in = l->use.q->n_in;
	uint32_t narrow[3], wide[3], y;

	for (uint32_t i = 0; i < n_in; i++)
		narrow[i] = converted(l, i, "f32");
	for (uint32_t i = 0; i < n_in; i++)
		wide[i] = converted(l, narrow[i], "f64");
	y = kit_law_use(l, l->use.op->desc.name, wide, n_in, NULL, 0, 1);
	kit_law_equal(l, is_truth(&l->use) ? y : converted(l, y, "f32"),
		      kit_law_use(l, row_of(&l->use)->narrow, narrow, n_in, NULL, 0, 1));
}

/* fma(a, b, -0) is the product, fma(a, 1, c) the sum. */
static void law_fused(kit_law *l)
{
	static const uint64_t words[] = {TOP, 0x3ff0000000000000u};
	const uint64_t n = places_of(l);
	const pctl_tensor_type t = l->use.q->in[0];
	uint64_t *data = kit_law_scratch(l, 8 * n);
	uint32_t all[2] = {0, 0};

	for (uint32_t k = 0; k < 2 && data != NULL; k++) {
		for (uint64_t i = 0; i < n; i++)
			data[i] = words[k];
		all[k] = kit_law_tensor(l, &t, data);
	}
	if (data != NULL) {
		kit_law_equal(
			l, kit_law_use(l, "ieee.fma64", (uint32_t[]){0, 1, all[0]}, 3, NULL, 0, 1),
			kit_law_use(l, "ieee.mul64", (uint32_t[]){0, 1}, 2, NULL, 0, 1));
		kit_law_equal(
			l, kit_law_use(l, "ieee.fma64", (uint32_t[]){0, all[1], 2}, 3, NULL, 0, 1),
			kit_law_use(l, "ieee.add64", (uint32_t[]){0, 2}, 2, NULL, 0, 1));
	}
	kit_law_free(l, data);
}

/* -(-x) is x, |-x| is |x|. */
static void law_signs(kit_law *l)
{
	const uint32_t x = 0, negative = kit_law_use(l, "ieee.neg64", &x, 1, NULL, 0, 1);
	const int is_neg = row_of(&l->use)->eval == eval_neg;

	kit_law_equal(l, kit_law_use(l, l->use.op->desc.name, &negative, 1, NULL, 0, 1),
		      is_neg ? x : kit_law_out(l, 0));
}

#define JUDGED(how, name, text)                                                  \
	{                                                                        \
		PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED | (how), 0, name, NULL, text \
	}
#define PLACES JUDGED(0, "places", "of operands whose places are in reverse order y's are, too")
static const pctl_law narrow_laws[] = {
	JUDGED(PCTL_LAW_COMPOSED, "narrow",
	       "of operands that are f32: y rounded to f32 is what the op of f32 gives"),
	PLACES};
static const pctl_law fused_laws[] = {
	JUDGED(PCTL_LAW_COMPOSED, "fused",
	       "fma64(a, b, -0) = mul64(a, b), fma64(a, 1, c) = add64(a, c)"),
	PLACES};
static const pctl_law signs_laws[] = {
	JUDGED(PCTL_LAW_COMPOSED, "signs", "neg64(neg64(x)) = x, abs64(neg64(x)) = abs64(x)"),
	PLACES};
static void (*const narrow_checks[])(kit_law *) = {law_narrow, law_places};
static void (*const fused_checks[])(kit_law *) = {law_fused, law_places};
static void (*const signs_checks[])(kit_law *) = {law_signs, law_places};

static const pctl_example sizes[] = {
	{"one place", {1}},	{"two", {2}},	     {"a prime", {61}},
	{"a workgroup", {256}}, {"one more", {257}}, {"many", {4099}},
};
static const pctl_example bounds[] = {{"none", {0}}, {"three", {3}}};

/* ---- ops -------------------------------------------------------------------------------------- */

#define F64 "f64[...]"
static const pctl_port unary_in[1] = {{"x", F64, "the operand", 0, 0}};
static const pctl_port binary_in[2] = {{"a", F64, "the first operand", 0, 0},
				       {"b", F64, "the second operand, of a's shape", 0, 0}};
static const pctl_port ternary_in[3] = {{"a", F64, "the first factor", 0, 0},
					{"b", F64, "the second factor, of a's shape", 0, 0},
					{"c", F64, "what is added, of a's shape", 0, 0}};
static const pctl_port out[1] = {{"y", F64, "the result, of the operands' shape", 0, 0}};
#define truth_out ieee_truth_out

#define SAME(FN, id, e) FN(#id "64_f64", "f64", "f64", e)
#define TRUTH(id, e) IEEE_FN2(#id "64_f64", "f64", "u32", "select(0u, 1u, " e ")")
#define REAL2(id, e, fn)                       \
	static const double_row id##_row = {   \
		.wgsl = SAME(IEEE_FN2, id, e), \
		.eval = eval_real2,            \
		.real2 = fn,                   \
		.narrow = "ieee." #id,         \
	}
#define WHOLE(id, fn)                                  \
	static const double_row id##_row = {           \
		.wgsl = SAME(IEEE_FN1, id, #id "(x)"), \
		.eval = eval_whole,                    \
		.whole = fn,                           \
		.narrow = "ieee." #id,                 \
	}
#define COMPARE(id, e, of_numbers, of_nan)              \
	static const double_row id##_row = {            \
		.wgsl = TRUTH(id, e),                   \
		.eval = eval_compare,                   \
		.narrow = "ieee." #id,                  \
		.wanted = (of_numbers) | (of_nan) << 8, \
	}
#define EXTREME(id, which)                                \
	static const double_row id##_row = {              \
		.wgsl = SAME(IEEE_FN2, id, #id "(a, b)"), \
		.eval = eval_extreme,                     \
		.narrow = "ieee." #id,                    \
		.side = which,                            \
	}

REAL2(add, "a + b", mpfr_add);
REAL2(sub, "a - b", mpfr_sub);
REAL2(mul, "a * b", mpfr_mul);
REAL2(div, "a / b", mpfr_div);
static const double_row fma_row = {.wgsl = SAME(IEEE_FN3, fma, "fma(a, b, c)"), .eval = eval_fma};
static const double_row sqrt_row = {.wgsl = SAME(IEEE_FN1, sqrt, "sqrt(x)"),
				    .eval = eval_real1,
				    .real1 = mpfr_sqrt,
				    .narrow = "ieee.sqrt"};
static const double_row neg_row = {.wgsl = SAME(IEEE_FN1, neg, "-x"), .eval = eval_neg};
static const double_row abs_row = {.wgsl = SAME(IEEE_FN1, abs, "abs(x)"), .eval = eval_abs};
EXTREME(min, -1);
EXTREME(max, 1);
WHOLE(floor, mpfr_floor);
WHOLE(ceil, mpfr_ceil);
WHOLE(trunc, mpfr_trunc);
static int round_even(mpfr_ptr y, mpfr_srcptr x)
{
	return mpfr_rint(y, x, MPFR_RNDN);
}
WHOLE(round, round_even);
COMPARE(eq, "a == b", 2u, 0u);
COMPARE(ne, "a != b", 5u, 1u);
COMPARE(lt, "a < b", 1u, 0u);
COMPARE(gt, "a > b", 4u, 0u);
COMPARE(le, "a <= b", 3u, 0u);
COMPARE(ge, "a >= b", 6u, 0u);

#define OP(id, op_doc, op_spec, ports_in, ports_out, which)                                        \
	{                                                                                          \
		.desc = {.head = PCTL_HEAD(pctl_op_desc),                                          \
			 .name = "ieee." #id "64",                                                 \
			 .doc = op_doc,                                                            \
			 .spec = op_spec,                                                          \
			 .version = 1,                                                             \
			 .kind = PCTL_OPDEF_FUNCTION,                                              \
			 .category = 'A',                                                          \
			 .op_class = PCTL_CLASS_STRICT,                                            \
			 .convention = 1,                                                          \
			 .n_in = KIT_COUNT(ports_in),                                              \
			 .n_out = 1,                                                               \
			 .in = ports_in,                                                           \
			 .out = ports_out},                                                        \
		.rules = {.head = PCTL_HEAD(pctl_op_rules),                                        \
			  .laws = which##_laws,                                                    \
			  .classes = sizes,                                                        \
			  .boundaries = bounds,                                                    \
			  .n_laws = KIT_COUNT(which##_laws),                                       \
			  .n_classes = KIT_COUNT(sizes),                                           \
			  .n_boundaries = KIT_COUNT(bounds)},                                      \
		.function = double_function, .infer = double_infer, .reference = double_reference, \
		.laws = which##_checks, .data = &id##_row,                                         \
	}
#define ROUNDED                                                                \
	"y rounded once to nearest even; subnormals and the sign of zero are " \
	"kept; " IEEE_CANONICAL
#define NUMBERS \
	"one of the operands, -0 below +0; a NaN loses to a number, two give the canonical one"

static const kit_op ops[] = {
	OP(add, "a + b of f64", ROUNDED, binary_in, out, narrow),
	OP(sub, "a - b of f64", ROUNDED, binary_in, out, narrow),
	OP(mul, "a * b of f64", ROUNDED, binary_in, out, narrow),
	OP(div, "a / b of f64", ROUNDED, binary_in, out, narrow),
	OP(fma, "a * b + c of f64, rounded once", ROUNDED, ternary_in, out, fused),
	OP(sqrt, "square root of f64", ROUNDED, unary_in, out, narrow),
	OP(neg, "-x of f64", "the sign bit changed, of a NaN too", unary_in, out, signs),
	OP(abs, "magnitude of f64", "the sign bit cleared, of a NaN too", unary_in, out, signs),
	OP(min, "the lesser of two f64", NUMBERS, binary_in, out, narrow),
	OP(max, "the greater of two f64", NUMBERS, binary_in, out, narrow),
	OP(floor, "f64 rounded down to an integer", "exact; a zero keeps its sign; " IEEE_CANONICAL,
	   unary_in, out, narrow),
	OP(ceil, "f64 rounded up to an integer", "exact; a zero keeps its sign; " IEEE_CANONICAL,
	   unary_in, out, narrow),
	OP(trunc, "f64 rounded towards zero to an integer",
	   "exact; a zero keeps its sign; " IEEE_CANONICAL, unary_in, out, narrow),
	OP(round, "f64 rounded to the nearest integer",
	   "ties to even; a zero keeps its sign; " IEEE_CANONICAL, unary_in, out, narrow),
	OP(eq, "a = b of f64", "1 or 0; zeros are equal, a NaN equals nothing", binary_in,
	   truth_out, narrow),
	OP(ne, "a != b of f64", "1 or 0; a NaN differs from everything", binary_in, truth_out,
	   narrow),
	OP(lt, "a < b of f64", "1 or 0; 0 with a NaN", binary_in, truth_out, narrow),
	OP(gt, "a > b of f64", "1 or 0; 0 with a NaN", binary_in, truth_out, narrow),
	OP(le, "a <= b of f64", "1 or 0; 0 with a NaN", binary_in, truth_out, narrow),
	OP(ge, "a >= b of f64", "1 or 0; 0 with a NaN", binary_in, truth_out, narrow),
};

const kit_family ieee_double_family = {ops, NULL, KIT_COUNT(ops), 0};
