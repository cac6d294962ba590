/*
 * Runs pow and atan2, as C made from the WGSL that ships (forms2c.py), over many pairs. The oracle
 * shares nothing with them: glibc's double function decides where 2^-49 to either side of it rounds to
 * the same number, MPFR decides the rest. Not part of the product.
 *
 * bivariate run FUNCTION KIND COUNT SEED		f32 pairs: random, aimed, structured or near; exit 1 on any difference
 * bivariate all FUNCTION f16|bf16 [FIRST LAST [STEP]]	first operands FIRST to LAST with every STEPth second one
 * bivariate hard FUNCTION COUNT			prints special cases, ties and the 64 hardest of 4 COUNT pairs
 * bivariate check FILE...				runs such lists, all of them against MPFR
 */
#include FORMS
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>

typedef int (*mp_function)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);

struct function {
	const char *name;
	double (*libm)(double, double);
	mp_function mp;
	u32 (*form[3])(u32, u32);
};

/* -DFAST: of f32 what devices with f64 take (fast.wgsl). */
#ifdef FAST
#define F32_FORM(n) f32_##n##_fast
#else
#define F32_FORM(n) f32_##n
#endif

#define FUNCTION(n)                                    \
	{                                              \
#n, n, mpfr_##n,                       \
		{                                      \
			F32_FORM(n), f16_##n, bf16_##n \
		}                                      \
	}
static const struct function functions[] = {FUNCTION(pow), FUNCTION(atan2)};

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
	double m = a & ((1u << fraction) - 1), v;

	if (a >= f->infinity)
		v = a == f->infinity ? HUGE_VAL : NAN;
	else
		v = ldexp(e ? m + (1u << fraction) : m, (int)f->least - 2 + (e ? e : 1));
	return bits & f->sign ? -v : v;
}

/* The bits of y rounded once to nearest even. The steps before rint are exact. */
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
	n = rint(ldexp(a, 2 - (int)f->least - e)) + ldexp(e - 1, f->precision - 1);
	return sign | (n >= f->infinity ? f->infinity : (u32)n);
}

static u32 exact_bits(const struct function *fn, const struct format *f, double x, double y)
{
	static mpfr_t a, b, r;
	static int ready;
	int inexact;

	if (!ready) {
		mpfr_inits2(53, a, b, r, (mpfr_ptr)0);
		ready = 1;
	}
	mpfr_set_emin(-1100);
	mpfr_set_emax(1100);
	mpfr_set_prec(r, f->precision);
	mpfr_set_d(a, x, MPFR_RNDN);
	mpfr_set_d(b, y, MPFR_RNDN);
	mpfr_set_emin(f->least);
	mpfr_set_emax(f->largest);
	inexact = fn->mp(r, a, b, MPFR_RNDN);
	mpfr_subnormalize(r, inexact, MPFR_RNDN);
	return bits_of(f, mpfr_get_d(r, MPFR_RNDN));
}

/* What the form has to give; *asked counts the pairs that needed MPFR. */
static u32 wanted(const struct function *fn, const struct format *f, double x, double y,
		  unsigned long *asked)
{
	double g = fn->libm(x, y);
	u32 low = bits_of(f, g * (1 - 0x1p-49)), high = bits_of(f, g * (1 + 0x1p-49));

	if (low == high)
		return low;
	++*asked;
	return exact_bits(fn, f, x, y);
}

/* The distance of the function's value from the nearest tie, in units of the format's last place; 2 for an exact result. */
static double distance(const struct function *fn, const struct format *f, double x, double y)
{
	mpfr_t a, b, r;
	mpfr_exp_t e;
	double d = 1;
	int inexact;

	mpfr_set_emin(-20000);
	mpfr_set_emax(20000);
	mpfr_inits2(53, a, b, (mpfr_ptr)0);
	mpfr_init2(r, 400);
	mpfr_set_d(a, x, MPFR_RNDN);
	mpfr_set_d(b, y, MPFR_RNDN);
	inexact = fn->mp(r, a, b, MPFR_RNDN);
	if (!inexact) {
		d = 2;
	} else if (mpfr_regular_p(r) && mpfr_get_exp(r) <= f->largest) {
		e = mpfr_get_exp(r) - f->precision;
		if (e < f->least - 1)
			e = f->least - 1;
		mpfr_mul_2si(r, r, -e, MPFR_RNDN);
		mpfr_frac(r, r, MPFR_RNDN);
		mpfr_abs(r, r, MPFR_RNDN);
		mpfr_sub_d(r, r, 0.5, MPFR_RNDN);
		d = fabs(mpfr_get_d(r, MPFR_RNDN));
	}
	mpfr_clears(a, b, r, (mpfr_ptr)0);
	return d;
}

/* splitmix64 */
static uint64_t state;

static uint64_t random_bits(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static double unit(void)
{
	return (double)(random_bits() >> 11) * 0x1p-53;
}

static u32 f32_bits(double v)
{
	return bits_of(&formats[0], v);
}

static double power(double m, int n)
{
	double p = 1;

	while (n--)
		p *= m;
	return p;
}

/* Pairs whose power is a normal or subnormal number; odd significands, powers and roots of them; bases near one. */
static void pow_pair(int kind, u32 *a, u32 *b)
{
	uint64_t r = random_bits();
	double x, v;

	*a = (u32)(r >> 32);
	*b = (u32)r;
	if (kind == 1) {
		*a &= 0x7fffffffu;
		if (*a == 0 || *a >= 0x7f800000u || (r & 7) == 0)
			*a = f32_bits(0.5 + unit());
		v = unit() * 284 - 153;
		*b = f32_bits(v / log2(value(&formats[0], *a)));
	} else if (kind == 2) {
		int root = (int)(r & 3), n = 1 + (int)((r >> 2) % 31), wide[4] = {12, 11, 5, 2};
		uint64_t odd = 1 + 2 * ((r >> 16) %
					(1u << (root ? wide[root] : 1 + (int)((r >> 9) % 12))));
		x = ldexp(power((double)odd, 1 << root), ((int)((r >> 40) % 40) - 20)
								 << (r >> 60 & 1 ? root : 0));
		*a = f32_bits(r >> 61 & 1 ? -x : x);
		*b = f32_bits(ldexp(r >> 8 & 1 ? -n : n, -root));
		if (r >> 62 & 1)
			*a = 0x3f800000u + (u32)((r >> 20) % 64) - 32;
	} else if (kind == 3) {
		x = 1 + ldexp(unit() - 0.5, -(int)(r % 23));
		*a = f32_bits(x);
		v = ldexp(unit() - 0.5, 8 - (int)((r >> 8) % 40));
		x = log2(value(&formats[0], *a));
		*b = f32_bits(x != 0 ? v / x : v) & (r >> 20 & 1 ? 0xffff0000u : 0xffffffffu);
	}
}

/* Operands of like size; quotients that are short, so exact or ties; operands close together or by powers of two. */
static void atan2_pair(int kind, u32 *a, u32 *b)
{
	uint64_t r = random_bits();

	*a = (u32)(r >> 32);
	*b = (u32)r;
	if (kind == 1) {
		int e = (int)((r >> 5) % 300) - 150;
		*a = f32_bits(ldexp(unit(), e) * (r & 1 ? 1 : -1));
		*b = f32_bits(ldexp(unit(), e + (int)((r >> 20) % 57) - 28) * (r & 2 ? 1 : -1));
	} else if (kind == 2) {
		double k = (double)(random_bits() % 4096 | 1),
		       m = (double)(random_bits() % 8192 | 1);
		*a = f32_bits(ldexp(k * m, (int)((r >> 8) % 200) - 160));
		*b = f32_bits(ldexp(k, (int)(r % 100) - 50) * (r >> 63 ? -1 : 1));
	} else if (kind == 3) {
		*a = (*a & 0x807fffffu) | 0x3f800000u;
		*b = (*b & 0x807fffffu) | (0x3d800000u + ((u32)(r >> 40) % 9) * 0x800000u);
		if (r & 64)
			*b = (*a & 0x7fffffffu) + (u32)((r >> 50) % 65) - 32;
	}
}

static void pair(const struct function *fn, int kind, u32 *a, u32 *b)
{
	if (fn == functions)
		pow_pair(kind, a, b);
	else
		atan2_pair(kind, a, b);
}

static int differ(const struct function *fn, const struct format *f, u32 a, u32 b,
		  unsigned long *asked)
{
	double x = value(f, a), y = value(f, b);
	u32 want = wanted(fn, f, x, y, asked), got = fn->form[f - formats](a, b);

	if (got != want)
		printf("%s %s %0*x %0*x: %0*x, should be %0*x\n", fn->name, f->name, f->digits, a,
		       f->digits, b, f->digits, got, f->digits, want);
	return got != want;
}

static const char *const kinds[4] = {"random", "aimed", "structured", "near"};

static int run(const struct function *fn, const char *kind, unsigned long count, unsigned long seed)
{
	unsigned long asked = 0, wrong = 0;
	int k = 0;

	while (k < 4 && strcmp(kinds[k], kind))
		k++;
	state = seed * 0x123456789abcdefull;
	for (unsigned long i = 0; i < count && k < 4 && wrong < 20; i++) {
		u32 a, b;
		pair(fn, k, &a, &b);
		wrong += (unsigned long)differ(fn, &formats[0], a, b, &asked);
	}
	printf("%s %s seed %lu: %lu pairs, %lu wrong, %lu settled by MPFR\n", fn->name, kind, seed,
	       k < 4 ? count : 0, wrong, asked);
	return wrong || k == 4;
}

static int all(const struct function *fn, const struct format *f, u32 first, u32 last, u32 step)
{
	unsigned long asked = 0, wrong = 0, n = 0;

	for (u32 a = first; a <= last && wrong < 20; a++)
		for (u32 b = a * 7 % step; b < 65536; b += step, n++)
			wrong += (unsigned long)differ(fn, f, a, b, &asked);
	printf("%s %s from %x to %x: %lu pairs, %lu wrong, %lu settled by MPFR\n", fn->name,
	       f->name, first, last, n, wrong, asked);
	return wrong || !n;
}

struct hard {
	double distance;
	u32 a, b;
};

static int by_distance(const void *p, const void *q)
{
	const struct hard *a = p, *b = q;

	if (a->distance != b->distance)
		return a->distance < b->distance ? -1 : 1;
	if (a->a != b->a)
		return a->a < b->a ? -1 : 1;
	return a->b < b->b ? -1 : a->b > b->b;
}

static void line(const struct function *fn, const struct format *f, u32 a, u32 b, double d)
{
	printf("%s %0*x %0*x %0*x", f->name, f->digits, a, f->digits, b, f->digits,
	       exact_bits(fn, f, value(f, a), value(f, b)));
	if (d == 2)
		printf(" # exact");
	else if (d < 0.5)
		printf(" # 2^%.1f of a unit from a tie", log2(d));
	printf("\n");
}

static int hard(const struct function *fn, unsigned long count)
{
	const size_t room = (size_t)1 << 20;
	struct hard *found = malloc(room * sizeof(*found));
	size_t n = 0, exact = 0;
	unsigned long asked;

	if (!found)
		return 1;
	for (size_t t = 0; t < 3; t++) {
		const struct format *f = &formats[t];
		const double at[] = {0,	  1,   2,   3,	8,  0.5, 1.5,	   2.5,
				     149, 150, 151, 15, 16, 25,	 HUGE_VAL, NAN};
		const size_t m = sizeof(at) / sizeof(at[0]);
		u32 some[64];
		size_t s = 0;
		for (size_t i = 0; i < m; i++) {
			some[s++] = bits_of(f, at[i]);
			if (at[i] == at[i])
				some[s++] = bits_of(f, -at[i]);
		}
		some[s++] = 1;
		some[s++] = f->sign | 1;
		some[s++] = bits_of(f, 1) - 1;
		some[s++] = bits_of(f, 1) + 1;
		some[s++] = bits_of(f, -1) - 1;
		some[s++] = f->infinity - 1;
		some[s++] = 1u << (f->precision - 1);
		for (size_t i = 0; i < s; i++)
			for (size_t j = 0; j < s; j++)
				line(fn, f, some[i], some[j], 1);
	}
	for (int k = 0; k < 4; k++) {
		state = 1;
		for (unsigned long i = 0; i < count; i++) {
			u32 a, b;
			pair(fn, k, &a, &b);
			double x = value(&formats[0], a), y = value(&formats[0], b);
			asked = 0;
			wanted(fn, &formats[0], x, y, &asked);
			if (!asked || n == room)
				continue;
			double d = distance(fn, &formats[0], x, y);
			if (d == 2 && exact++ < 64)
				line(fn, &formats[0], a, b, d);
			if (d < 0.5)
				found[n++] = (struct hard){d, a, b};
		}
	}
	qsort(found, n, sizeof(*found), by_distance);
	for (size_t i = 0, shown = 0; i < n && shown < 64; i++)
		if (!i || by_distance(&found[i], &found[i - 1])) {
			line(fn, &formats[0], found[i].a, found[i].b, found[i].distance);
			shown++;
		}
	free(found);
	return 0;
}

static const struct function *find(const char *name)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (!strcmp(functions[i].name, name))
			return &functions[i];
	fprintf(stderr, "bivariate: no function %s\n", name);
	return NULL;
}

static const struct format *find_format(const char *name)
{
	for (size_t t = 0; t < 3; t++)
		if (!strcmp(formats[t].name, name))
			return &formats[t];
	fprintf(stderr, "bivariate: no format %s\n", name);
	return NULL;
}

/* FILE is named after its function. */
static int check(const char *path)
{
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	char name[32], text[128], type[8];
	unsigned a, b, output;
	unsigned long n = 0, wrong = 0;
	const struct function *fn;
	FILE *file = fopen(path, "r");

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(base, "."), base);
	fn = find(name);
	while (file && fn && fgets(text, sizeof(text), file)) {
		const struct format *f;
		u32 want, got;
		if (text[0] == '#')
			continue;
		if (sscanf(text, "%7s %x %x %x", type, &a, &b, &output) != 4 ||
		    !(f = find_format(type))) {
			wrong++;
			break;
		}
		want = exact_bits(fn, f, value(f, a), value(f, b));
		got = fn->form[f - formats](a, b);
		n++;
		if ((want != output || got != output) && ++wrong)
			printf("%s %s %x %x: form %x, MPFR %x, list %x\n", name, type, a, b, got,
			       want, output);
	}
	if (file)
		fclose(file);
	printf("%s: %lu checked, %lu wrong\n", path, n, wrong);
	return wrong || !n;
}

int main(int argc, char **argv)
{
	const struct function *fn = argc >= 3 && strcmp(argv[1], "check") ? find(argv[2]) : NULL;
	int bad = 0;

	if (argc >= 3 && !strcmp(argv[1], "check")) {
		for (int i = 2; i < argc; i++)
			bad |= check(argv[i]);
		return bad;
	}
	if (fn && argc == 6 && !strcmp(argv[1], "run"))
		return run(fn, argv[3], strtoul(argv[4], NULL, 0), strtoul(argv[5], NULL, 0));
	if (fn && argc == 4 && !strcmp(argv[1], "hard"))
		return hard(fn, strtoul(argv[3], NULL, 0));
	if (fn && argc >= 4 && !strcmp(argv[1], "all")) {
		const struct format *f = find_format(argv[3]);
		if (f)
			return all(fn, f, argc > 5 ? (u32)strtoul(argv[4], NULL, 0) : 0,
				   argc > 5 ? (u32)strtoul(argv[5], NULL, 0) : 65535,
				   argc > 6 ? (u32)strtoul(argv[6], NULL, 0) : 1);
	}
	fprintf(stderr, "usage: bivariate run FUNCTION KIND COUNT SEED | all FUNCTION FORMAT "
			"[FIRST LAST [STEP]] | "
			"hard FUNCTION COUNT | check FILE...\n");
	return 2;
}
