/* Implementation of pairs.h. The functions of both languages do the same line by line: random bits; results inside the
 * range; short operands, whose powers and quotients are exact or ties; operands near one or near each other. */
#include "pairs.h"

#include <math.h>
#include <string.h>

#include <mpfr.h>

const char pair_wgsl[] = "fn mixed(x : u32) -> u32 {\n"
			 "  var h = (x ^ (x >> 16u)) * 0x9e3779b1u;\n"
			 "  h = (h ^ (h >> 15u)) * 0x85ebca77u;\n"
			 "  h = (h ^ (h >> 13u)) * 0xc2b2ae3du;\n"
			 "  return h ^ (h >> 16u);\n"
			 "}\n"
			 "fn whole(n : u32, e : i32) -> u32 {\n"
			 "  let z = countLeadingZeros(n);\n"
			 "  let up = u32(clamp(e + 158 - i32(z), 1, 254));\n"
			 "  return (up << 23u) | (((n << z) >> 8u) & 0x7fffffu);\n"
			 "}\n";

static const char pow_wgsl[] =
	"fn operands(counter : u32) -> vec2<u32> {\n"
	"  let r = mixed(counter ^ 0x706f77u);\n"
	"  let s = mixed(r + 0x3c6ef372u);\n"
	"  let t = mixed(s + 0xdaa66d2bu);\n"
	"  let kind = r % 16u;\n"
	"  var a = s;\n"
	"  var b = t;\n"
	"  if (kind >= 2u && kind < 10u) {\n"
	"    a = a & 0x7fffffffu;\n"
	"    if (kind == 9u) { a = 0x3e800000u + (a >> 7u); }\n"
	"    let e = i32(a >> 23u) - 127;\n"
	"    let size = 31u - countLeadingZeros(u32(abs(e)) + 1u);\n"
	"    b = (t & 0x807fffffu) | ((134u - size - (r >> 8u) % 9u) << 23u);\n"
	"  }\n"
	"  if (kind == 10u) {\n"
	"    let root = (r >> 4u) % 4u;\n"
	"    let most = select(select(select(2u, 5u, root == 2u), 11u, root == 1u), 12u, root == "
	"0u);\n"
	"    let odd = ((s >> 8u) & ((1u << most) - 1u)) | 1u;\n"
	"    var n = odd;\n"
	"    if (root > 0u) { n = n * n; }\n"
	"    if (root > 1u) { n = n * n; }\n"
	"    if (root > 2u) { n = n * n; }\n"
	"    a = whole(n, (i32((s >> 24u) % 40u) - 20) * i32(1u << root)) | (t & 0x80000000u);\n"
	"    b = whole(1u + (t % 31u), 0 - i32(root)) | ((t << 1u) & 0x80000000u);\n"
	"  }\n"
	"  if (kind >= 11u) {\n"
	"    let k = (r >> 4u) % 23u;\n"
	"    let off = (s & 0x7fffffu) >> k;\n"
	"    a = select(0x3f800000u + off, 0x3f800000u - (off >> 1u) - 1u, (s >> 31u) != 0u);\n"
	"    b = (t & 0x807fffffu) | ((128u + k - (r >> 12u) % 16u + 5u) << 23u);\n"
	"    if (kind == 15u) { b = b & 0xffff0000u; }\n"
	"  }\n"
	"  return vec2<u32>(a, b);\n"
	"}\n";

static const char atan2_wgsl[] =
	"fn operands(counter : u32) -> vec2<u32> {\n"
	"  let r = mixed(counter ^ 0x61746132u);\n"
	"  let s = mixed(r + 0x3c6ef372u);\n"
	"  let t = mixed(s + 0xdaa66d2bu);\n"
	"  let kind = r % 16u;\n"
	"  var a = s;\n"
	"  var b = t;\n"
	"  if (kind >= 2u && kind < 9u) {\n"
	"    let e = i32((s >> 23u) & 255u) + i32((r >> 8u) % 57u) - 28;\n"
	"    b = (t & 0x807fffffu) | (u32(clamp(e, 0, 254)) << 23u);\n"
	"  }\n"
	"  if (kind == 9u) {\n"
	"    let k = ((s >> 8u) & 4095u) | 1u;\n"
	"    let m = ((t >> 8u) & 4095u) | 1u;\n"
	"    a = whole(k * m, i32((r >> 4u) % 200u) - 150) | (s & 0x80000000u);\n"
	"    b = whole(k, i32((r >> 12u) % 100u) - 50) | (t & 0x80000000u);\n"
	"  }\n"
	"  if (kind >= 10u && kind < 13u) {\n"
	"    a = (s & 0x807fffffu) | 0x3f800000u;\n"
	"    b = (t & 0x807fffffu) | (0x3d800000u + ((r >> 8u) % 9u) * 0x800000u);\n"
	"  }\n"
	"  if (kind == 13u) {\n"
	"    a = (s & 0x807fffffu) | 0x3f800000u;\n"
	"    b = (a + t % 65u - 32u) ^ (t & 0x80000000u);\n"
	"  }\n"
	"  return vec2<u32>(a, b);\n"
	"}\n";

static uint32_t mixed(uint32_t x)
{
	uint32_t h = (x ^ (x >> 16)) * 0x9e3779b1u;

	h = (h ^ (h >> 15)) * 0x85ebca77u;
	h = (h ^ (h >> 13)) * 0xc2b2ae3du;
	return h ^ (h >> 16);
}

/* n * 2^e as a normal number; n of at most 24 bits. */
static uint32_t whole(uint32_t n, int32_t e)
{
	const uint32_t z = (uint32_t)__builtin_clz(n);
	const int32_t up = e + 158 - (int32_t)z;

	return (uint32_t)(up < 1 ? 1 : up > 254 ? 254 : up) << 23 | ((n << z) >> 8 & 0x7fffffu);
}

static void pow_operands(uint32_t counter, uint32_t out[2])
{
	const uint32_t r = mixed(counter ^ 0x706f77u), s = mixed(r + 0x3c6ef372u),
		       t = mixed(s + 0xdaa66d2bu), kind = r % 16;
	uint32_t a = s, b = t;

	if (kind >= 2 && kind < 10) {
		int32_t e;
		uint32_t size;

		a &= 0x7fffffffu;
		if (kind == 9)
			a = 0x3e800000u + (a >> 7);
		e = (int32_t)(a >> 23) - 127;
		size = 31 - (uint32_t)__builtin_clz((uint32_t)(e < 0 ? -e : e) + 1);
		b = (t & 0x807fffffu) | (134 - size - (r >> 8) % 9) << 23;
	}
	if (kind == 10) {
		static const uint32_t most[4] = {12, 11, 5, 2};
		const uint32_t root = (r >> 4) % 4;
		uint32_t n = (s >> 8 & ((1u << most[root]) - 1)) | 1;

		for (uint32_t k = 0; k < root; k++)
			n *= n;
		a = whole(n, ((int32_t)((s >> 24) % 40) - 20) * (int32_t)(1u << root)) |
		    (t & 0x80000000u);
		b = whole(1 + t % 31, -(int32_t)root) | (t << 1 & 0x80000000u);
	}
	if (kind >= 11) {
		const uint32_t k = (r >> 4) % 23, off = (s & 0x7fffffu) >> k;

		a = s >> 31 ? 0x3f800000u - (off >> 1) - 1 : 0x3f800000u + off;
		b = (t & 0x807fffffu) | (128 + k - (r >> 12) % 16 + 5) << 23;
		if (kind == 15)
			b &= 0xffff0000u;
	}
	out[0] = a;
	out[1] = b;
}

static void atan2_operands(uint32_t counter, uint32_t out[2])
{
	const uint32_t r = mixed(counter ^ 0x61746132u), s = mixed(r + 0x3c6ef372u),
		       t = mixed(s + 0xdaa66d2bu), kind = r % 16;
	uint32_t a = s, b = t;

	if (kind >= 2 && kind < 9) {
		const int32_t e = (int32_t)(s >> 23 & 255) + (int32_t)((r >> 8) % 57) - 28;

		b = (t & 0x807fffffu) | (uint32_t)(e < 0 ? 0 : e > 254 ? 254 : e) << 23;
	}
	if (kind == 9) {
		const uint32_t k = (s >> 8 & 4095) | 1, m = (t >> 8 & 4095) | 1;

		a = whole(k * m, (int32_t)((r >> 4) % 200) - 150) | (s & 0x80000000u);
		b = whole(k, (int32_t)((r >> 12) % 100) - 50) | (t & 0x80000000u);
	}
	if (kind >= 10 && kind < 13) {
		a = (s & 0x807fffffu) | 0x3f800000u;
		b = (t & 0x807fffffu) | (0x3d800000u + ((r >> 8) % 9) * 0x800000u);
	}
	if (kind == 13) {
		a = (s & 0x807fffffu) | 0x3f800000u;
		b = (a + t % 65 - 32) ^ (t & 0x80000000u);
	}
	out[0] = a;
	out[1] = b;
}

const pair_function pair_functions[] = {{"pow", pow_wgsl, pow_operands},
					{"atan2", atan2_wgsl, atan2_operands}};
const unsigned n_pair_functions = 2;

#define NAN_BITS 0x7fc00000u

static float float_of(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

static uint32_t bits_of(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return isnan(x) ? NAN_BITS : bits;
}

static uint32_t by_mpfr(const pair_function *f, float x, float y)
{
	const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
	mpfr_t a, b;
	uint32_t out;
	int t;

	mpfr_inits2(24, a, b, (mpfr_ptr)0);
	mpfr_set_emin(-148);
	mpfr_set_emax(128);
	mpfr_set_flt(a, x, MPFR_RNDN);
	mpfr_set_flt(b, y, MPFR_RNDN);
	t = f == pair_functions ? mpfr_pow(a, a, b, MPFR_RNDN) : mpfr_atan2(a, a, b, MPFR_RNDN);
	t = mpfr_check_range(a, t, MPFR_RNDN);
	mpfr_subnormalize(a, t, MPFR_RNDN);
	out = bits_of(mpfr_get_flt(a, MPFR_RNDN));
	mpfr_clears(a, b, (mpfr_ptr)0);
	mpfr_set_emin(emin);
	mpfr_set_emax(emax);
	return out;
}

uint32_t pair_eval(const pair_function *f, uint32_t a, uint32_t b, uint64_t *undecided)
{
	const double x = (double)float_of(a), y = (double)float_of(b),
		     v = f == pair_functions ? pow(x, y) : atan2(x, y), d = fabs(v) * 0x1p-49;
	float low, high;

	if (isnan(v) || isinf(v))
		return bits_of((float)v);
	low = (float)(v - d);
	high = (float)(v + d);
	if (memcmp(&low, &high, sizeof(low)) == 0)
		return bits_of(low);
	++*undecided;
	return by_mpfr(f, float_of(a), float_of(b));
}
