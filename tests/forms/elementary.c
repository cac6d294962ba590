/*
 * Runs the elementary forms, as C made from the WGSL that ships (forms2c.py), over every input of a
 * format. The oracle shares nothing with them: glibc's double function decides where 2^-49 to either
 * side of it rounds to the same number, MPFR decides the rest. Not part of the product.
 *
 * elementary run FUNCTION f32|f16|bf16 [FIRST LAST]   every input; exit 1 on any difference
 * elementary hard FUNCTION                            prints boundaries and the 64 hardest inputs
 * elementary error FUNCTION [N]                       the largest error of the f64 kernel over N inputs
 * elementary check FILE...                            runs such lists, all of them against MPFR
 * elementary quick FILE...                            the same, then every f16 and bf16 input
 *
 * -DFUNCTIONS='FUNCTION(sin), FUNCTION(cos)' takes others than exp, log and the hyperbolic ones.
 */
#include FORMS
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>

typedef int (*mp_function)(mpfr_t, const mpfr_t, mpfr_rnd_t);

struct function {
	const char *name;
	double (*libm)(double);
	mp_function mp;
	double (*kernel)(double);
	u32 (*form[3])(u32);
};

/* -DFAST: of f32 what devices with f64 take (fast.wgsl). */
#ifdef FAST
#define F32_FORM(n) f32_##n##_fast
#else
#define F32_FORM(n) f32_##n
#endif

#define FUNCTION(n)                                    \
	{                                              \
#n, n, mpfr_##n, n##_odd,              \
		{                                      \
			F32_FORM(n), f16_##n, bf16_##n \
		}                                      \
	}

static double rsqrt(double x)
{
	return 1 / sqrt(x);
}

/* MPFR gives +Inf for both zeros, IEEE 754's rSqrt the zero's sign. */
__attribute__((unused)) static int mpfr_rsqrt(mpfr_t r, const mpfr_t x, mpfr_rnd_t d)
{
	int inexact = mpfr_rec_sqrt(r, x, d);

	if (mpfr_zero_p(x))
		mpfr_setsign(r, r, mpfr_signbit(x), d);
	return inexact;
}

#ifndef FUNCTIONS
#define FUNCTIONS                                                                                 \
	FUNCTION(exp), FUNCTION(exp2), FUNCTION(exp10), FUNCTION(log), FUNCTION(log2),            \
		FUNCTION(log10), FUNCTION(sinh), FUNCTION(cosh), FUNCTION(tanh), FUNCTION(asinh), \
		FUNCTION(acosh), FUNCTION(atanh)
#endif
static const struct function functions[] = {FUNCTIONS};

/* precision with the hidden bit; MPFR's exponents (0.5 <= m < 1) of the least and largest numbers */
struct format {
	const char *name;
	int precision;
	mpfr_exp_t least, largest;
	u32 infinity, nan, sign;
	int digits;
};

static const struct format formats[3] = {
	{"f32", 24, -148, 128, 0x7f800000u, 0x7fc00000u, 0x80000000u, 8},
	{"f16", 11, -23, 16, 0x7c00u, 0x7e00u, 0x8000u, 4},
	{"bf16", 8, -132, 128, 0x7f80u, 0x7fc0u, 0x8000u, 4},
};

static double value(const struct format *f, u32 bits)
{
	u32 a = bits & (f->sign - 1);
	int fraction = f->precision - 1, e = (int)(a >> fraction);
	double m = a & ((1u << fraction) - 1);
	double v;

	if (f->precision == 24) {
		float exact;
		memcpy(&exact, &bits, sizeof(exact));
		return (double)exact;
	}
	if (a >= f->infinity)
		v = a == f->infinity ? HUGE_VAL : (double)NAN;
	else if (e == 0)
		v = ldexp(m, (int)f->least - 1);
	else
		v = ldexp(m + (1u << fraction), (int)f->least - 2 + e);
	return bits & f->sign ? -v : v;
}

/* The bits of y rounded once to nearest even. The steps above are exact, rint does the rounding. */
static u32 bits_of(const struct format *f, double y)
{
	u32 sign = signbit(y) ? f->sign : 0;
	double a = fabs(y), n;
	int e;

	if (a != a)
		return f->nan;
	if (a == 0 || a == HUGE_VAL)
		return sign | (a == 0 ? 0 : f->infinity);
	if (f->precision == 24) {
		float narrowed = (float)a;
		u32 u;
		memcpy(&u, &narrowed, sizeof(u));
		return sign | u;
	}
	frexp(a, &e);
	e = e - f->precision < f->least - 1 ? 1 : e - f->precision - (int)f->least + 2;
	n = rint(ldexp(a, 2 - (int)f->least - e));
	/* e is the exponent field and n the fraction with the hidden bit; a carry raises the field. */
	n += ldexp(e - 1, f->precision - 1);
	return sign | (n >= f->infinity ? f->infinity : (u32)n);
}

static u32 exact_bits(const struct function *fn, const struct format *f, double x)
{
	mpfr_t a, r;
	double y;
	int inexact;

	mpfr_set_emin(-1100);
	mpfr_set_emax(1100);
	mpfr_init2(a, 53);
	mpfr_init2(r, f->precision);
	mpfr_set_d(a, x, MPFR_RNDN);
	mpfr_set_emin(f->least);
	mpfr_set_emax(f->largest);
	inexact = fn->mp(r, a, MPFR_RNDN);
	mpfr_subnormalize(r, inexact, MPFR_RNDN);
	y = mpfr_get_d(r, MPFR_RNDN);
	mpfr_clear(a);
	mpfr_clear(r);
	return bits_of(f, y);
}

/* What the form has to give; *asked counts the inputs that needed MPFR. */
static u32 wanted(const struct function *fn, const struct format *f, double x, double y,
		  unsigned long long *asked)
{
	u32 low, high;

	if (x != x || y != y)
		return f->nan;
	low = bits_of(f, y * (1 - 0x1p-49));
	high = bits_of(f, y * (1 + 0x1p-49));
	if (low == high)
		return low;
	++*asked;
	return exact_bits(fn, f, x);
}

/* The distance of the function's value from the nearest tie, in units of the format's last place. */
static double distance(const struct function *fn, const struct format *f, double x)
{
	mpfr_t a, r;
	mpfr_exp_t e;
	double d = 1;
	int inexact;

	mpfr_set_emin(-20000);
	mpfr_set_emax(20000);
	mpfr_init2(a, 53);
	mpfr_init2(r, 400);
	mpfr_set_d(a, x, MPFR_RNDN);
	inexact = fn->mp(r, a, MPFR_RNDN);
	if (mpfr_regular_p(r) && mpfr_get_exp(r) <= f->largest && inexact) {
		e = mpfr_get_exp(r) - f->precision;
		if (e < f->least - 1)
			e = f->least - 1;
		mpfr_mul_2si(r, r, -e, MPFR_RNDN);
		mpfr_frac(r, r, MPFR_RNDN);
		mpfr_abs(r, r, MPFR_RNDN);
		mpfr_sub_d(r, r, 0.5, MPFR_RNDN);
		d = fabs(mpfr_get_d(r, MPFR_RNDN));
	}
	mpfr_clear(a);
	mpfr_clear(r);
	return d;
}

/* Whether y is within 2^-17 units of an f32 tie, where it is worth the exact distance. */
static bool near_tie(double y)
{
	uint64_t v, tie;
	int drop, e;

	if (!(fabs(y) >= 0x1p-149) || fabs(y) >= 0x1p128)
		return false;
	memcpy(&v, &y, sizeof(v));
	e = (int)(v >> 52 & 0x7ff) - 1023;
	drop = e < -126 ? 29 + (-126 - e) : 29;
	v = (v & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
	tie = (uint64_t)1 << (drop - 1);
	v &= 2 * tie - 1;
	return (v > tie ? v - tie : tie - v) < tie >> 16;
}

struct hard {
	double distance;
	u32 input;
};

static int by_distance(const void *a, const void *b)
{
	const struct hard *p = a, *q = b;

	if (p->distance != q->distance)
		return p->distance < q->distance ? -1 : 1;
	return p->input < q->input ? -1 : p->input > q->input;
}

static int run(const struct function *fn, const struct format *f, uint64_t first, uint64_t last)
{
	unsigned long long asked = 0, wrong = 0, n = 0;

	for (uint64_t i = first; i <= last; i++, n++) {
		double x = value(f, (u32)i), y = fn->libm(x);
		u32 want = wanted(fn, f, x, y, &asked), got = fn->form[f - formats]((u32)i);
		if (got != want && wrong++ < 20)
			printf("%s %0*x: %0*x, should be %0*x, 2^%.1f from a tie\n", f->name,
			       f->digits, (u32)i, f->digits, got, f->digits, want,
			       log2(distance(fn, f, x)));
	}
	printf("%s %s: %llu inputs, %llu wrong, %llu settled by MPFR\n", fn->name, f->name, n,
	       wrong, asked);
	return wrong || !n;
}

static void line(const struct function *fn, const struct format *f, u32 input, double d)
{
	double x = value(f, input);
	u32 output = x != x ? f->nan : exact_bits(fn, f, x);

	printf("%s %0*x %0*x", f->name, f->digits, input, f->digits, output);
	if (d < 0.5)
		printf(" # 2^%.1f of a unit from a tie", log2(d));
	printf("\n");
}

/* NaN, 0, subnormal, below 1, 1, above 1, infinite: monotonic in |input| for every function here. */
static int sort(const struct function *fn, const struct format *f, u32 input)
{
	double y = fn->libm(value(f, input));
	u32 a = bits_of(f, y) & (f->sign - 1);
	u32 normal = (u32)1 << (f->precision - 1), one = bits_of(f, 1.0);

	if (y != y)
		return 0;
	return 1 + (a > 0) + (a >= normal) + (a >= one) + (a > one) + (a >= f->infinity);
}

static void edges(const struct function *fn, const struct format *f, u32 first, u32 last)
{
	u32 middle = first + (last - first) / 2;

	if (sort(fn, f, first) == sort(fn, f, last))
		return;
	if (last - first == 1) {
		line(fn, f, first, 1);
		line(fn, f, last, 1);
		return;
	}
	edges(fn, f, first, middle);
	edges(fn, f, middle, last);
}

/* Zero, the ends of the subnormals, one, the largest, infinity, NaNs, with neighbours and both
 * signs; then the inputs on both sides of each change of the result's sort. */
static void boundaries(const struct function *fn, const struct format *f)
{
	u32 least = (u32)1 << (f->precision - 1), one = bits_of(f, 1.0);
	const u32 at[] = {1, least, one, 2 * least, f->infinity, f->nan, f->sign - 2};

	for (int negative = 0; negative < 2; negative++) {
		u32 sign = negative ? f->sign : 0;
		for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
			for (u32 d = 0; d < 3; d++)
				line(fn, f, sign | (at[i] + d - 1), 1);
		edges(fn, f, sign, sign | one);
		edges(fn, f, sign | one, sign | f->infinity);
	}
}

/* Outside these magnitudes no result is near a tie: f(x) is about x or 1, or constant, or no number. */
static bool worth(const struct function *fn, u32 input)
{
	u32 a = input & 0x7fffffffu;

	/* The significands come back every two or three binades. */
	if (fn->libm == rsqrt || fn->libm == cbrt)
		return input >= 0x3f800000u &&
		       input < (fn->libm == cbrt ? 0x41000000u : 0x40800000u);
	if (fn->libm == sin || fn->libm == cos || fn->libm == tan)
		return input >= 0x30800000u && input < 0x7f800000u;

	if (fn->libm == log || fn->libm == log2 || fn->libm == log10 || a >= 0x7f800000u)
		return input < 0x7f800000u;
	return a >= 0x30800000u &&
	       (a <= 0x43200000u || fn->libm == asinh || fn->libm == acosh || fn->libm == log1p);
}

static int hard(const struct function *fn)
{
	const size_t room = (size_t)1 << 22;
	struct hard *found = malloc(room * sizeof(*found));

	if (!found)
		return 1;
	for (size_t t = 0; t < 3; t++) {
		const struct format *f = &formats[t];
		size_t n = 0;
		for (uint64_t i = 0; i < (uint64_t)f->sign * 2; i++) {
			double x, y;
			if (!t && !worth(fn, (u32)i))
				continue;
			x = value(f, (u32)i);
			y = fn->libm(x);
			if (n < room && y == y && (t ? 1 : near_tie(y)))
				found[n++] = (struct hard){distance(fn, f, x), (u32)i};
		}
		qsort(found, n, sizeof(*found), by_distance);
		boundaries(fn, f);
		for (size_t i = 0; i < n && i < 64; i++)
			line(fn, f, found[i].input, found[i].distance);
	}
	free(found);
	return 0;
}

/* splitmix64's finaliser: the i-th of a fixed sequence */
static uint64_t random_bits(uint64_t i)
{
	i = (i + 1) * 0x9e3779b97f4a7c15u;
	i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9u;
	i = (i ^ i >> 27) * 0x94d049bb133111ebu;
	return i ^ i >> 31;
}

/* The largest relative error of the kernel over n f32 numbers, half of them of any magnitude, half from
 * 2^-10 to 2^7; results of f32's range only, since kernels saturate outside. */
static int error(const struct function *fn, unsigned long long n)
{
	mpfr_t a, r, d;
	double worst = 0, at = 0;

	mpfr_set_emin(-20000);
	mpfr_set_emax(20000);
	mpfr_init2(a, 53);
	mpfr_init2(r, 160);
	mpfr_init2(d, 60);
	for (unsigned long long i = 0; i < n; i++) {
		u32 bits = (u32)random_bits(i);
		double x, e;
		if (i & 1)
			bits = (bits & 0x80000000u) |
			       (0x3a800000u + (bits & 0x7fffffffu) % 0x08800000u);
		x = value(&formats[0], bits);
		mpfr_set_d(a, x, MPFR_RNDN);
		fn->mp(r, a, MPFR_RNDN);
		if (fn->libm == tanh && fabs(x) > 15)
			continue;
		if (!mpfr_regular_p(r) || mpfr_get_exp(r) > 128 || mpfr_get_exp(r) < -150)
			continue;
		mpfr_d_sub(d, fn->kernel(x), r, MPFR_RNDN);
		mpfr_div(d, d, r, MPFR_RNDN);
		e = fabs(mpfr_get_d(d, MPFR_RNDN));
		if (e > worst) {
			worst = e;
			at = x;
		}
	}
	mpfr_clear(a);
	mpfr_clear(r);
	mpfr_clear(d);
	printf("%s: 2^%.2f at %a\n", fn->name, log2(worst), at);
	return worst == 0;
}

static const struct function *find(const char *name)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (!strcmp(functions[i].name, name))
			return &functions[i];
	fprintf(stderr, "elementary: no function %s\n", name);
	return NULL;
}

static const struct format *find_format(const char *name)
{
	for (size_t t = 0; t < 3; t++)
		if (!strcmp(formats[t].name, name))
			return &formats[t];
	fprintf(stderr, "elementary: no format %s\n", name);
	return NULL;
}

/* FILE is named after its function. */
static int check(const char *path, bool quick)
{
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	char name[32], text[128], type[8];
	unsigned input, output;
	unsigned long n = 0, wrong = 0;
	const struct function *fn;
	FILE *file = fopen(path, "r");

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(base, "."), base);
	fn = find(name);
	while (file && fn && fgets(text, sizeof(text), file)) {
		const struct format *f;
		double x;
		u32 want, got;
		if (text[0] == '#')
			continue;
		if (sscanf(text, "%7s %x %x", type, &input, &output) != 3 ||
		    !(f = find_format(type))) {
			wrong++;
			break;
		}
		x = value(f, input);
		want = x != x ? f->nan : exact_bits(fn, f, x);
		got = fn->form[f - formats](input);
		n++;
		if ((want != output || got != output) && ++wrong)
			printf("%s %s: form %x, MPFR %x, list %x\n", name, type, got, want, output);
	}
	if (file)
		fclose(file);
	printf("%s: %lu checked, %lu wrong\n", path, n, wrong);
	if (quick && fn)
		for (size_t t = 1; t < 3; t++)
			wrong += run(fn, &formats[t], 0, 0xffff) != 0;
	return wrong || !n;
}

int main(int argc, char **argv)
{
	const struct function *fn;
	const struct format *f;
	int bad = 0;

	if (argc >= 4 && !strcmp(argv[1], "run")) {
		fn = find(argv[2]);
		f = find_format(argv[3]);
		if (!fn || !f)
			return 2;
		return run(fn, f, argc > 4 ? strtoull(argv[4], NULL, 0) : 0,
			   argc > 5 ? strtoull(argv[5], NULL, 0) : (uint64_t)f->sign * 2 - 1);
	}
	if (argc >= 3 && !strcmp(argv[1], "error"))
		return (fn = find(argv[2]))
			       ? error(fn, argc > 3 ? strtoull(argv[3], NULL, 0) : 1000000)
			       : 2;
	if (argc == 3 && !strcmp(argv[1], "hard"))
		return (fn = find(argv[2])) ? hard(fn) : 2;
	if (argc >= 3 && (!strcmp(argv[1], "check") || !strcmp(argv[1], "quick"))) {
		for (int i = 2; i < argc; i++)
			bad |= check(argv[i], argv[1][0] == 'q');
		return bad;
	}
	fprintf(stderr, "usage: elementary run FUNCTION FORMAT [FIRST LAST] | hard FUNCTION | "
			"error FUNCTION [N] | "
			"check|quick FILE...\n");
	return 2;
}
