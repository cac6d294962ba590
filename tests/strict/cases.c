/* Implementation of cases.h: the functions of both languages stand next to each other, line by line the same; a slip
 * between them shows as wrong results everywhere. */
#include "cases.h"

#include "foundation/base/str.h"

static const char wgsl_number[] =
	"fn mixed(x : u32) -> u32 {\n"
	"  var h = x;\n"
	"  h = (h ^ (h >> 16u)) * 0x9e3779b1u;\n"
	"  h = (h ^ (h >> 15u)) * 0x85ebca77u;\n"
	"  h = (h ^ (h >> 13u)) * 0xc2b2ae3du;\n"
	"  return h ^ (h >> 16u);\n"
	"}\n"
	"fn clamped(e : i32) -> u32 { return u32(clamp(e, 0, TOP - 1)) << M; }\n"
	"fn digits(r : u32, how : u32) -> u32 {\n"
	"  let n = (r >> 8u) % (M + 1u);\n"
	"  var m = mixed(r);\n"
	"  if (how == 1u) { m = m & (ONES << n); }\n"
	"  if (how == 2u) { m = ONES << n; }\n"
	"  if (how == 3u) { m = (ONES >> n) + (r >> 30u); }\n"
	"  if (how == 4u) { m = (1u << n) + (r >> 31u) - 1u; }\n"
	"  if (how == 5u) { m = 0u; }\n"
	"  if (how == 6u) { m = ((m & (ONES << n)) | (1u << n)) + (r >> 30u) - 1u; }\n"
	"  return m & ONES;\n"
	"}\n"
	"fn number(r : u32, kind : u32) -> u32 {\n"
	"  let s = mixed(r + 0x51ed270bu);\n"
	"  let sign = s & SIGN;\n"
	"  let m = digits(s, (s >> 5u) % 8u);\n"
	"  var v = s & (SIGN - 1u);\n"
	"  if (kind == 1u) { v = digits(s, s % 7u) >> (r % (M + 1u)); }\n"
	"  if (kind == 2u) { v = clamped(TOP - 1 - i32(r % 3u)) | m; }\n"
	"  if (kind == 3u) { v = clamped(1 + i32(r % (M + 3u))) | m; }\n"
	"  if (kind == 4u) { v = clamped(BIAS + i32(r % (2u * M + 5u)) - i32(M) - 2) | m; }\n"
	"  if (kind == 5u) { v = clamped(BIAS + i32(r % 4u) - 1) | m; }\n"
	"  if (kind == 6u) { v = clamped(BIAS + i32(r % 36u) - 2) | m; }\n"
	"  if (kind == 7u) { v = clamped(i32(r % u32(TOP))) | m; }\n"
	"  if (kind == 8u) {\n"
	"    let k = (1u << (M / 2u)) + (s & ((1u << (M / 2u)) - 1u));\n"
	"    let q = k * k;\n"
	"    let wide = q >> (2u * (M / 2u) + 1u) != 0u;\n"
	"    let up = M - 2u * (M / 2u);\n"
	"    let n = select(q << up, (q << up) >> 1u, wide);\n"
	"    v = (clamped(2 * i32(r % (u32(TOP) / 2u)) + i32(s >> 29u) - 3) | (n & ONES)) + (r >> "
	"30u) - 1u;\n"
	"    v = v & (SIGN - 1u);\n"
	"  }\n"
	"  if (kind == 9u) { v = clamped(BIAS + i32(r % 48u) - 27) | ((((s << 13u) | 0x1000u) + (r "
	">> 30u) - 1u) & ONES); }\n"
	"  if (kind == 10u) { v = clamped(i32(r % u32(TOP))) | ((((s << 16u) | 0x8000u) + (r >> "
	"30u) - 1u) & ONES); }\n"
	"  if (kind == 11u) {\n"
	"    v = 0u;\n"
	"    let c = r % 16u;\n"
	"    if (c == 1u) { v = 1u; }\n"
	"    if (c == 2u) { v = ONES; }\n"
	"    if (c == 3u) { v = ONES + 1u; }\n"
	"    if (c == 4u) { v = ONES + 2u; }\n"
	"    if (c == 5u) { v = (u32(TOP) << M) - 1u; }\n"
	"    if (c == 6u) { v = u32(TOP) << M; }\n"
	"    if (c == 7u) { v = (u32(TOP) << M) | (1u << (M - 1u)); }\n"
	"    if (c == 8u) { v = (u32(TOP) << M) | 1u; }\n"
	"    if (c == 9u) { v = (u32(TOP) << M) | (s & ONES); }\n"
	"    if (c == 10u) { v = u32(BIAS) << M; }\n"
	"    if (c == 11u) { v = (u32(BIAS) << M) + 1u; }\n"
	"    if (c == 12u) { v = (u32(BIAS) << M) - 1u; }\n"
	"    if (c == 13u) { v = (u32(BIAS) + 1u) << M; }\n"
	"    if (c == 14u) { v = (u32(BIAS) - 1u) << M; }\n"
	"  }\n"
	"  return v | sign;\n"
	"}\n";
static const char wgsl_triples[] =
	"fn exponent(v : u32) -> i32 { return i32((v >> M) & u32(TOP)); }\n"
	"fn numbers(salt : u32, counter : u32) -> vec3<u32> {\n"
	"  let r0 = mixed(counter ^ salt);\n"
	"  let r1 = mixed(r0 + 0x3c6ef372u);\n"
	"  let r2 = mixed(r1 + 0xdaa66d2bu);\n"
	"  let r3 = mixed(r2 + 0x78dde6e4u);\n"
	"  let a = number(r1, (r0 >> 2u) % 12u);\n"
	"  var b = number(r2, (r0 >> 8u) % 12u);\n"
	"  var c = number(r3, (r0 >> 14u) % 12u);\n"
	"  let how = r0 >> 28u;\n"
	"  let near = (r3 & SIGN);\n"
	"  if (how == 1u) { b = (a + (r2 % 9u) - 4u) ^ near; }\n"
	"  if (how == 2u) { b = near | clamped(exponent(a) - i32(r2 % (M + 4u))) | digits(r2, r0 % "
	"7u); }\n"
	"  if (how == 3u) { b = near | clamped(exponent(a) - i32(M) - 1 + i32(r2 % 3u)) | "
	"digits(r2, 5u - r0 % 2u); }\n"
	"  if (how == 4u) { b = near | clamped(BIAS - exponent(a) - i32(r2 % (M + 3u)) + 2) | "
	"digits(r2, r0 % 7u); }\n"
	"  if (how == 5u) { b = near | clamped(BIAS + TOP - exponent(a) - i32(r2 % 4u)) | "
	"digits(r2, r0 % 7u); }\n"
	"  if (how == 6u) { b = near | clamped(exponent(a) - BIAS + i32(r2 % (M + 3u))) | "
	"digits(r2, r0 % 7u); }\n"
	"  if (how == 7u) { b = near | clamped(exponent(a) - i32(r2 % 6u) + 2) | digits(r2, r0 % "
	"7u); }\n"
	"  if (how >= 8u && how < 13u) {\n"
	"    let x = (a & ONES) | (ONES + 1u);\n"
	"    let y = (b & ONES) | (ONES + 1u);\n"
	"    let up = (M + 1u) / 2u;\n"
	"    let p = (x >> (M + 1u - up)) * (y >> (M + 1u - up));\n"
	"    let q = select(p << 1u, p, p >> (2u * up - 1u) != 0u);\n"
	"    let wide = i32(p >> (2u * up - 1u));\n"
	"    let e = exponent(a) + exponent(b) - BIAS + wide;\n"
	"    let f = q << (M + 1u - 2u * up);\n"
	"    let opposite = ((a ^ b) & SIGN) ^ SIGN;\n"
	"    c = opposite | clamped(e) | (f & ONES);\n"
	"    if (how == 9u) { c = c + r2 % 5u - 2u; }\n"
	"    if (how == 10u) { c = near | clamped(e - i32(r2 % (2u * M + 6u)) + 2) | digits(r3, r0 "
	"% 7u); }\n"
	"    if (how == 11u) { c = near | clamped(e + i32(r2 % (M + 4u))) | digits(r3, r0 % 7u); "
	"}\n"
	"    if (how == 12u) { c = near | clamped(i32(r2 % (M + 3u))) | digits(r3, r0 % 7u); }\n"
	"  }\n"
	"  return vec3<u32>(a, b, c) & vec3<u32>(SIGN | (SIGN - 1u));\n"
	"}\n"
	"fn integer(salt : u32, counter : u32) -> u32 {\n"
	"  let r = mixed(counter ^ salt);\n"
	"  let s = mixed(r + 0x3c6ef372u);\n"
	"  let n = (r >> 3u) % 32u;\n"
	"  let k = (r >> 8u) % 32u;\n"
	"  var v = s;\n"
	"  if (r % 8u == 1u) { v = s >> n; }\n"
	"  if (r % 8u == 2u) { v = (s << n) >> k; }\n"
	"  if (r % 8u == 3u) { v = ((s << n) | (1u << n)) + (s >> 30u) - 1u; }\n"
	"  if (r % 8u == 4u) { v = (0xffffffffu << n) >> k; }\n"
	"  if (r % 8u == 5u) { v = (1u << n) + (s >> 29u) - 3u; }\n"
	"  if (r % 8u == 6u) { v = 0u - (s >> n); }\n"
	"  if (r % 8u == 7u) { v = ((((s >> 1u) | 0x80000000u) << n) | (1u << n)) + (s & 1u); }\n"
	"  return v;\n"
	"}\n";

char *cases_wgsl(soft f)
{
	pctl_str_buf t = PCTL_STR_BUF_INIT;

	pctl_str_addf(&t,
		      "const M = %du;\nconst TOP = %di;\nconst BIAS = %di;\nconst ONES = "
		      "0x%xu;\nconst SIGN = 0x%xu;\n%s%s",
		      f->mantissa, (1 << f->exponent) - 1, (1 << (f->exponent - 1)) - 1,
		      (1u << f->mantissa) - 1, 1u << (f->exponent + f->mantissa), wgsl_number,
		      wgsl_triples);
	return pctl_str_finish(&t);
}

/* ---- the same in C ---- */

typedef struct shape {
	uint32_t M, ONES, SIGN;
	int32_t TOP, BIAS;
} shape;

static uint32_t mixed(uint32_t h)
{
	h = (h ^ (h >> 16)) * 0x9e3779b1u;
	h = (h ^ (h >> 15)) * 0x85ebca77u;
	h = (h ^ (h >> 13)) * 0xc2b2ae3du;
	return h ^ (h >> 16);
}

static uint32_t clamped(const shape *k, int32_t e)
{
	return (uint32_t)(e < 0 ? 0 : e > k->TOP - 1 ? k->TOP - 1 : e) << k->M;
}

static uint32_t digits(const shape *k, uint32_t r, uint32_t how)
{
	const uint32_t n = (r >> 8) % (k->M + 1);
	uint32_t m = mixed(r);

	switch (how) {
	case 1:
		m = m & (k->ONES << n);
		break;
	case 2:
		m = k->ONES << n;
		break;
	case 3:
		m = (k->ONES >> n) + (r >> 30);
		break;
	case 4:
		m = (1u << n) + (r >> 31) - 1;
		break;
	case 5:
		m = 0;
		break;
	case 6:
		m = ((m & (k->ONES << n)) | (1u << n)) + (r >> 30) - 1;
		break;
	default:
		break;
	}
	return m & k->ONES;
}

static uint32_t special(const shape *k, uint32_t r, uint32_t s)
{
	const uint32_t top = (uint32_t)k->TOP << k->M, one = (uint32_t)k->BIAS << k->M;

	switch (r % 16) {
	case 1:
		return 1;
	case 2:
		return k->ONES;
	case 3:
		return k->ONES + 1;
	case 4:
		return k->ONES + 2;
	case 5:
		return top - 1;
	case 6:
		return top;
	case 7:
		return top | 1u << (k->M - 1);
	case 8:
		return top | 1;
	case 9:
		return top | (s & k->ONES);
	case 10:
		return one;
	case 11:
		return one + 1;
	case 12:
		return one - 1;
	case 13:
		return ((uint32_t)k->BIAS + 1) << k->M;
	case 14:
		return ((uint32_t)k->BIAS - 1) << k->M;
	default:
		return 0;
	}
}

static uint32_t square(const shape *k, uint32_t r, uint32_t s)
{
	const uint32_t half = k->M / 2, root = (1u << half) + (s & ((1u << half) - 1)),
		       q = root * root, up = k->M - 2 * half,
		       n = q >> (2 * half + 1) != 0 ? (q << up) >> 1 : q << up;
	const int32_t e = 2 * (int32_t)(r % ((uint32_t)k->TOP / 2)) + (int32_t)(s >> 29) - 3;

	return ((clamped(k, e) | (n & k->ONES)) + (r >> 30) - 1) & (k->SIGN - 1);
}

static uint32_t number(const shape *k, uint32_t r, uint32_t kind)
{
	const uint32_t s = mixed(r + 0x51ed270bu), sign = s & k->SIGN,
		       m = digits(k, s, (s >> 5) % 8);
	uint32_t v = s & (k->SIGN - 1);

	switch (kind) {
	case 1:
		v = digits(k, s, s % 7) >> (r % (k->M + 1));
		break;
	case 2:
		v = clamped(k, k->TOP - 1 - (int32_t)(r % 3)) | m;
		break;
	case 3:
		v = clamped(k, 1 + (int32_t)(r % (k->M + 3))) | m;
		break;
	case 4:
		v = clamped(k, k->BIAS + (int32_t)(r % (2 * k->M + 5)) - (int32_t)k->M - 2) | m;
		break;
	case 5:
		v = clamped(k, k->BIAS + (int32_t)(r % 4) - 1) | m;
		break;
	case 6:
		v = clamped(k, k->BIAS + (int32_t)(r % 36) - 2) | m;
		break;
	case 7:
		v = clamped(k, (int32_t)(r % (uint32_t)k->TOP)) | m;
		break;
	case 8:
		v = square(k, r, s);
		break;
	case 9:
		v = clamped(k, k->BIAS + (int32_t)(r % 48) - 27) |
		    ((((s << 13) | 0x1000u) + (r >> 30) - 1) & k->ONES);
		break;
	case 10:
		v = clamped(k, (int32_t)(r % (uint32_t)k->TOP)) |
		    ((((s << 16) | 0x8000u) + (r >> 30) - 1) & k->ONES);
		break;
	case 11:
		v = special(k, r, s);
		break;
	default:
		break;
	}
	return v | sign;
}

static int32_t exponent(const shape *k, uint32_t v)
{
	return (int32_t)((v >> k->M) & (uint32_t)k->TOP);
}

/* Near -(a * b): what a fused sum cancels. */
static uint32_t against_product(const shape *k, uint32_t a, uint32_t b, uint32_t how,
				const uint32_t r[4])
{
	const uint32_t x = (a & k->ONES) | (k->ONES + 1), y = (b & k->ONES) | (k->ONES + 1),
		       up = (k->M + 1) / 2, p = (x >> (k->M + 1 - up)) * (y >> (k->M + 1 - up)),
		       wide = p >> (2 * up - 1), q = wide != 0 ? p : p << 1,
		       f = q << (k->M + 1 - 2 * up), near = r[3] & k->SIGN,
		       c = (((a ^ b) & k->SIGN) ^ k->SIGN);
	const int32_t e = exponent(k, a) + exponent(k, b) - k->BIAS + (int32_t)wide;

	switch (how) {
	case 9:
		return (c | clamped(k, e) | (f & k->ONES)) + r[2] % 5 - 2;
	case 10:
		return near | clamped(k, e - (int32_t)(r[2] % (2 * k->M + 6)) + 2) |
		       digits(k, r[3], r[0] % 7);
	case 11:
		return near | clamped(k, e + (int32_t)(r[2] % (k->M + 4))) |
		       digits(k, r[3], r[0] % 7);
	case 12:
		return near | clamped(k, (int32_t)(r[2] % (k->M + 3))) | digits(k, r[3], r[0] % 7);
	default:
		return c | clamped(k, e) | (f & k->ONES);
	}
}

/* The second operand, in a relation to the first. */
static uint32_t beside(const shape *k, uint32_t a, uint32_t b, uint32_t how, const uint32_t r[4])
{
	const uint32_t near = r[3] & k->SIGN, d = digits(k, r[2], r[0] % 7);
	const int32_t e = exponent(k, a), m = (int32_t)(r[2] % (k->M + 3));

	switch (how) {
	case 1:
		return (a + r[2] % 9 - 4) ^ near;
	case 2:
		return near | clamped(k, e - (int32_t)(r[2] % (k->M + 4))) | d;
	case 3:
		return near | clamped(k, e - (int32_t)k->M - 1 + (int32_t)(r[2] % 3)) |
		       digits(k, r[2], 5 - r[0] % 2);
	case 4:
		return near | clamped(k, k->BIAS - e - m + 2) | d;
	case 5:
		return near | clamped(k, k->BIAS + k->TOP - e - (int32_t)(r[2] % 4)) | d;
	case 6:
		return near | clamped(k, e - k->BIAS + m) | d;
	case 7:
		return near | clamped(k, e - (int32_t)(r[2] % 6) + 2) | d;
	default:
		return b;
	}
}

void cases_numbers(soft f, uint32_t salt, uint32_t counter, uint32_t out[3])
{
	const shape k = {(uint32_t)f->mantissa, (1u << f->mantissa) - 1,
			 1u << (f->exponent + f->mantissa), (1 << f->exponent) - 1,
			 (1 << (f->exponent - 1)) - 1};
	uint32_t r[4], how;

	r[0] = mixed(counter ^ salt);
	r[1] = mixed(r[0] + 0x3c6ef372u);
	r[2] = mixed(r[1] + 0xdaa66d2bu);
	r[3] = mixed(r[2] + 0x78dde6e4u);
	how = r[0] >> 28;
	out[0] = number(&k, r[1], (r[0] >> 2) % 12);
	out[1] = beside(&k, out[0], number(&k, r[2], (r[0] >> 8) % 12), how, r);
	out[2] = how >= 8 && how < 13 ? against_product(&k, out[0], out[1], how, r)
				      : number(&k, r[3], (r[0] >> 14) % 12);
	for (int i = 0; i < 3; i++)
		out[i] &= k.SIGN | (k.SIGN - 1);
}

uint32_t cases_integer(uint32_t salt, uint32_t counter)
{
	const uint32_t r = mixed(counter ^ salt), s = mixed(r + 0x3c6ef372u), n = (r >> 3) % 32,
		       k = (r >> 8) % 32;

	switch (r % 8) {
	case 1:
		return s >> n;
	case 2:
		return (s << n) >> k;
	case 3:
		return ((s << n) | 1u << n) + (s >> 30) - 1;
	case 4:
		return (0xffffffffu << n) >> k;
	case 5:
		return (1u << n) + (s >> 29) - 3;
	case 6:
		return 0u - (s >> n);
	case 7:
		return ((((s >> 1) | 0x80000000u) << n) | 1u << n) + (s & 1);
	default:
		return s;
	}
}
