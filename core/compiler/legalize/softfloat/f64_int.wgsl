// f64 out of 32-bit integers: values are bits in vec2<u32>, low word first. What becomes of f64 arithmetic in the
// forms on a device whose own is missing or not exact (soft64). Rounds to nearest even, keeps subnormals and signed
// zeros; every NaN made here is 0x7ff8000000000000.

fn pair_add(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let low = a.x + b.x;
  return vec2<u32>(low, a.y + b.y + u32(low < a.x));
}

fn pair_sub(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(a.x - b.x, a.y - b.y - u32(a.x < b.x));
}

fn pair_below(a: vec2<u32>, b: vec2<u32>) -> bool {
  return a.y < b.y || (a.y == b.y && a.x < b.x);
}

fn pair_is_zero(a: vec2<u32>) -> bool {
  return (a.x | a.y) == 0u;
}

fn pair_product(a: u32, b: u32) -> vec2<u32> {
  return vec2<u32>(a * b, mulHigh(a, b));
}

// a * b modulo 2^64.
fn pair_mul(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(a.x * b.x, mulHigh(a.x, b.x) + a.x * b.y + a.y * b.x);
}

fn pair_half(a: vec2<u32>) -> vec2<u32> {
  return vec2<u32>((a.x >> 1u) | (a.y << 31u), a.y >> 1u);
}

fn pair_negate(a: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(0u - a.x, ~a.y + u32(a.x == 0u));
}

fn pair_zeros(a: vec2<u32>) -> u32 {
  return select(countLeadingZeros(a.y), 32u + countLeadingZeros(a.x), a.y == 0u);
}

// Shifts by n < 64.
fn pair_left(a: vec2<u32>, n: u32) -> vec2<u32> {
  let far = n >= 32u;
  let s = n & 31u;
  let x = select(a.x, 0u, far);
  return vec2<u32>(x << s, (select(a.y, a.x, far) << s) | ((x >> 1u) >> (31u - s)));
}

fn pair_right(a: vec2<u32>, n: u32) -> vec2<u32> {
  let far = n >= 32u;
  let s = n & 31u;
  let y = select(a.y, 0u, far);
  return vec2<u32>((select(a.x, a.y, far) >> s) | ((y << 1u) << (31u - s)), y >> s);
}

// a / 2^n for n < 64, the last bit set too when a bit was lost.
fn pair_jam(a: vec2<u32>, n: u32) -> vec2<u32> {
  let far = n >= 32u;
  let x = select(a.x, a.y, far);
  let y = select(a.y, 0u, far);
  let s = n & 31u;
  let lost = (x & ((1u << s) - 1u)) | select(0u, a.x, far);
  return vec2<u32>((x >> s) | ((y << 1u) << (31u - s)) | u32(lost != 0u), y >> s);
}

// f32_settle and f32_pack: the leading one of m is bit 63, or lower when e is 1.
fn f64_settle(sign: u32, e: u32, m: vec2<u32>) -> vec2<u32> {
  let low = (m.x >> 11u) | (m.y << 21u);
  let up = u32((m.x & 0x7ffu) + (low & 1u) > 0x400u);
  let r = pair_add(vec2<u32>(low, ((e - 1u) << 20u) + (m.y >> 11u)), vec2<u32>(up, 0u));
  return select(vec2<u32>(r.x, sign | r.y), vec2<u32>(0u, sign | 0x7ff00000u), r.y >= 0x7ff00000u);
}

fn f64_pack(sign: u32, e: i32, m: vec2<u32>) -> vec2<u32> {
  return f64_settle(sign, u32(clamp(e, 1, 2047)), pair_jam(m, u32(clamp(1 - e, 0, 63))));
}

fn f64_nan() -> vec2<u32> {
  return vec2<u32>(0u, 0x7ff80000u);
}

fn f64_magnitude(a: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(a.x, a.y & 0x7fffffffu);
}

fn f64_is_nan(a: vec2<u32>) -> bool {
  let y = a.y & 0x7fffffffu;
  return y > 0x7ff00000u || (y == 0x7ff00000u && a.x != 0u);
}

fn f64_neg_int(a: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(a.x, a.y ^ 0x80000000u);
}

// The significand with its leading one, if it has one, at bit 62.
fn f64_fraction(x: vec2<u32>, e: u32) -> vec2<u32> {
  return vec2<u32>(x.x << 10u, (((x.y & 0xfffffu) | (u32(e != 0u) << 20u)) << 10u) | (x.x >> 22u));
}

fn f64_add_int(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let swapped = pair_below(f64_magnitude(a), f64_magnitude(b));
  let x = select(a, b, swapped);
  let y = select(b, a, swapped);
  let ex = (x.y >> 20u) & 0x7ffu;
  let ey = (y.y >> 20u) & 0x7ffu;
  let minus = ((x.y ^ y.y) >> 31u) == 1u;
  if (ex == 0x7ffu) {
    return select(x, f64_nan(), f64_is_nan(x) || (minus && ey == 0x7ffu));
  }
  let e = max(ex, 1u);
  let under = pair_jam(f64_fraction(y, ey), min(e - max(ey, 1u), 63u));
  let sum = pair_add(f64_fraction(x, ex), select(under, pair_negate(under), minus));
  if (pair_is_zero(sum)) {
    return vec2<u32>(0u, x.y & y.y & 0x80000000u);
  }
  let s = min(pair_zeros(sum), e);
  return f64_settle(x.y & 0x80000000u, e + 1u - s, pair_left(sum, s));
}

fn f64_sub_int(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return f64_add_int(a, f64_neg_int(b));
}

// The significand of a finite number other than 0, its leading one moved to bit 63.
fn f64_unit(x: vec2<u32>) -> vec2<u32> {
  if ((x.y & 0x7ff00000u) != 0u) {
    return vec2<u32>(x.x << 11u, (x.y << 11u) | (x.x >> 21u) | 0x80000000u);
  }
  let m = vec2<u32>(x.x, x.y & 0xfffffu);
  return pair_left(m, pair_zeros(m));
}

// The biased exponent that belongs to it.
fn f64_exponent(x: vec2<u32>) -> i32 {
  let e = i32((x.y >> 20u) & 0x7ffu);
  return select(e, 12 - i32(pair_zeros(vec2<u32>(x.x, x.y & 0xfffffu))), e == 0);
}

// The full product of two words pairs, least significant word first.
fn quad_product(a: vec2<u32>, b: vec2<u32>) -> vec4<u32> {
  let low = pair_product(a.x, b.x);
  let high = pair_product(a.y, b.y);
  let m = pair_product(a.x, b.y);
  let n = pair_product(a.y, b.x);
  let s = pair_add(m, vec2<u32>(low.y, 0u));
  let t = pair_add(n, vec2<u32>(s.x, 0u));
  let top = pair_add(high, pair_add(vec2<u32>(s.y, 0u), vec2<u32>(t.y, 0u)));
  return vec4<u32>(low.x, t.x, top.x, top.y);
}

fn f64_mul_int(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let sign = (a.y ^ b.y) & 0x80000000u;
  let x = f64_magnitude(a);
  let y = f64_magnitude(b);
  let zero = pair_is_zero(x) || pair_is_zero(y);
  if (max(x.y, y.y) >= 0x7ff00000u) {
    return select(vec2<u32>(0u, sign | 0x7ff00000u), f64_nan(), zero || f64_is_nan(x) || f64_is_nan(y));
  }
  if (zero) {
    return vec2<u32>(0u, sign);
  }
  let p = quad_product(f64_unit(x), f64_unit(y));
  let top = p.w >> 31u;
  let m = pair_left(p.zw, 1u - top);
  let low = u32((p.x | p.y) != 0u);
  return f64_pack(sign, f64_exponent(x) + f64_exponent(y) - 1023 + i32(top), vec2<u32>(m.x | low, m.y));
}

// Two digits of the quotient from the reciprocal of the divisor's first 32 bits, each short by a few units; the exact
// remainder, known modulo 2^64 and small, carries on.
fn f64_div_int(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let sign = (a.y ^ b.y) & 0x80000000u;
  let x = f64_magnitude(a);
  let y = f64_magnitude(b);
  let x_zero = pair_is_zero(x);
  let y_zero = pair_is_zero(y);
  if (max(x.y, y.y) >= 0x7ff00000u || x_zero || y_zero) {
    let x_large = x.y >= 0x7ff00000u;
    let y_large = y.y >= 0x7ff00000u;
    if (f64_is_nan(x) || f64_is_nan(y) || (x_zero && y_zero) || (x_large && y_large)) {
      return f64_nan();
    }
    return vec2<u32>(0u, sign | select(0u, 0x7ff00000u, x_large || y_zero));
  }
  // Significands of 53 bits, the dividend's doubled where it is less: n / d is in [1, 2).
  let ux = f64_unit(x);
  let uy = f64_unit(y);
  let less = u32(pair_below(ux, uy));
  let n = pair_left(pair_right(ux, 11u), less);
  let d = pair_right(uy, 11u);
  // r <= 2^83 / d: what d has beyond 32 bits and the reciprocal's own excess make at most 2.1 units. It is short by
  // less than 2^-27.6 of itself.
  let r = reciprocal32(uy.y) - 3u;
  // n * 2^29 / d has 30 bits; q1 is short of it by less than 2^2.4 + 0.5 + 1 < 7.
  let q1 = mulHigh((n.y << 10u) | (n.x >> 22u), r);
  let r1 = pair_sub(pair_left(n, 29u), pair_mul(vec2<u32>(q1, 0u), d));
  // r1 * 2^27 / d, with r1 < 7 d; q2 is short of it by less than 7 * 2^-0.6 + 1 + 2 < 8.
  let q2 = mulHigh((r1.y << 7u) | (r1.x >> 25u), r) << 1u;
  let r2 = pair_sub(pair_left(r1, 27u), pair_mul(vec2<u32>(q2, 0u), d));
  let q3 = pair_octal(r2, d);
  let exact = pair_is_zero(pair_sub(r2, pair_mul(vec2<u32>(q3, 0u), d)));
  let q = pair_left(pair_add(pair_left(vec2<u32>(q1, 0u), 27u), vec2<u32>(q2 + q3, 0u)), 7u);
  return f64_pack(sign, f64_exponent(x) - f64_exponent(y) + 1023 - i32(less), vec2<u32>(q.x | u32(!exact), q.y));
}

// floor(a / d) where that is less than 8, for d < 2^61.
fn pair_octal(a: vec2<u32>, d: vec2<u32>) -> u32 {
  let d4 = pair_left(d, 2u);
  let has4 = !pair_below(a, d4);
  let a4 = select(a, pair_sub(a, d4), has4);
  let d2 = pair_left(d, 1u);
  let has2 = !pair_below(a4, d2);
  let a2 = select(a4, pair_sub(a4, d2), has2);
  return 4u * u32(has4) + 2u * u32(has2) + u32(!pair_below(a2, d));
}

// Again two digits, from the reciprocal root of the first 32 bits, and then the units.
fn f64_sqrt_int(a: vec2<u32>) -> vec2<u32> {
  let zero = pair_is_zero(f64_magnitude(a));
  if (zero || a.y >= 0x7ff00000u) {
    return select(f64_nan(), a, zero || (a.y == 0x7ff00000u && a.x == 0u));
  }
  let e = f64_exponent(a);
  let odd_exponent = u32(e & 1);
  // x = m / 2^64 in [1/4, 1).
  let m = pair_right(f64_unit(a), odd_exponent);
  let r = reciprocal_sqrt32(m.y);
  // s <= sqrt(x) * 2^30, short of it by less than 11.4 + 1.5 + 5 < 18.
  let s = mulHigh(m.y, r) - 5u;
  let d = pair_sub(pair_right(m, 4u), pair_product(s, s));
  // sqrt(x) * 2^56 = s * 2^26 + t with t about d / (2^5 sqrt(x)), and d < 2^36. What is taken for t is at most 5 too
  // large and 47 too small, so 8 less is never too large.
  let t = mulHigh((d.y << 26u) | (d.x >> 6u), r) << 3u;
  let root = pair_sub(pair_add(pair_left(vec2<u32>(s, 0u), 26u), vec2<u32>(t, 0u)), vec2<u32>(8u, 0u));
  // m * 2^48 less the square is below 55 * 2^57; a third digit, within 1, and less 1 so as to stay below.
  let rest = pair_sub(pair_left(m, 48u), pair_mul(root, root));
  let digit = mulHigh(rest.y, r) >> 23u;
  let units = digit - u32(digit != 0u);
  let twice = pair_add(pair_left(root, 1u), vec2<u32>(units, 0u));
  return f64_sqrt_finish(pair_add(root, vec2<u32>(units, 0u)), pair_sub(rest, pair_mul(vec2<u32>(units, 0u), twice)),
                         (e + 1022 + i32(odd_exponent)) >> 1u);
}

// From a root of 57 bits at most 2 below floor(sqrt(n)) and rest = n - root^2.
fn f64_sqrt_finish(root: vec2<u32>, rest: vec2<u32>, e: i32) -> vec2<u32> {
  var s = root;
  var left = rest;
  for (var i = 0u; i < 2u; i = i + 1u) {
    let twice = pair_left(s, 1u);
    let up = pair_below(twice, left);
    left = select(left, pair_sub(left, vec2<u32>(twice.x | 1u, twice.y)), up);
    s = pair_add(s, vec2<u32>(u32(up), 0u));
  }
  let q = pair_left(s, 8u);
  return f64_pack(0u, e, vec2<u32>(q.x | u32(!pair_is_zero(left)), q.y));
}

fn quad_is_zero(a: vec4<u32>) -> bool {
  return (a.x | a.y | a.z | a.w) == 0u;
}

fn quad_half(a: vec4<u32>) -> vec4<u32> {
  return vec4<u32>(pair_half(a.xy).x, (a.y >> 1u) | (a.z << 31u), pair_half(a.zw));
}

// a / 2^n for n < 128, the last bit set too when a bit was lost.
fn quad_jam(a: vec4<u32>, n: u32) -> vec4<u32> {
  let far = n >= 64u;
  let low = select(a.xy, a.zw, far);
  let high = select(a.zw, vec2<u32>(0u, 0u), far);
  let s = n & 63u;
  let kept = pair_jam(low, s) | pair_left(pair_left(high, 1u), 63u - s);
  return vec4<u32>(kept.x | u32(far && !pair_is_zero(a.xy)), kept.y, pair_right(high, s));
}

fn quad_add(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
  let low = pair_add(a.xy, b.xy);
  let carry = u32(pair_below(low, a.xy));
  return vec4<u32>(low, pair_add(pair_add(a.zw, b.zw), vec2<u32>(carry, 0u)));
}

fn quad_negate(a: vec4<u32>) -> vec4<u32> {
  return quad_add(vec4<u32>(~a.x, ~a.y, ~a.z, ~a.w), vec4<u32>(1u, 0u, 0u, 0u));
}

// As f32_fma_int, in four words: the product's leading one is bit 126 or 125, the addend's bit 126.
fn f64_fma_int(a: vec2<u32>, b: vec2<u32>, c: vec2<u32>) -> vec2<u32> {
  let sign = (a.y ^ b.y) & 0x80000000u;
  let x = f64_magnitude(a);
  let y = f64_magnitude(b);
  let w = f64_magnitude(c);
  let zero = pair_is_zero(x) || pair_is_zero(y);
  let minus = ((sign ^ c.y) >> 31u) == 1u;
  if (max(max(x.y, y.y), w.y) >= 0x7ff00000u) {
    if (f64_is_nan(x) || f64_is_nan(y) || f64_is_nan(w)) {
      return f64_nan();
    }
    if (max(x.y, y.y) < 0x7ff00000u) {
      return c;
    }
    return select(vec2<u32>(0u, sign | 0x7ff00000u), f64_nan(), zero || (w.y == 0x7ff00000u && minus));
  }
  let w_zero = pair_is_zero(w);
  if (zero) {
    return select(c, vec2<u32>(0u, sign & c.y), w_zero);
  }
  let ep = f64_exponent(x) + f64_exponent(y) - 1022;
  let ec = select(f64_exponent(w), -10000, w_zero);
  let addend = pair_half(f64_unit(w));
  let p = quad_jam(quad_half(quad_product(f64_unit(x), f64_unit(y))), u32(clamp(ec - ep, 0, 127)));
  let q = quad_jam(vec4<u32>(0u, 0u, select(addend, vec2<u32>(0u, 0u), w_zero)), u32(clamp(ep - ec, 0, 127)));
  var sum = quad_add(p, select(q, quad_negate(q), minus));
  if (quad_is_zero(sum)) {
    return vec2<u32>(0u, 0u);
  }
  let below = minus && (sum.w >> 31u) == 1u;
  sum = select(sum, quad_negate(sum), below);
  // The leading one to bit 127, of which the upper half is kept.
  let empty = pair_is_zero(sum.zw);
  let high = select(sum.zw, sum.xy, empty);
  let low = select(sum.xy, vec2<u32>(0u, 0u), empty);
  let z = pair_zeros(high);
  let m = pair_left(high, z) | pair_right(pair_half(low), 63u - z);
  let left = u32(!pair_is_zero(pair_left(low, z)));
  let e = max(ep, ec) + 1 - i32(z + 64u * u32(empty));
  return f64_pack(sign ^ (u32(below) << 31u), e, vec2<u32>(m.x | left, m.y));
}

// Every two numbers compare as their magnitudes do, the other way round below zero.
fn f64_eq_int(a: vec2<u32>, b: vec2<u32>) -> bool {
  let zeros = (a.x | b.x | ((a.y | b.y) << 1u)) == 0u;
  return zeros || (a.x == b.x && a.y == b.y && !f64_is_nan(a));
}

// The bits as a number that grows with the value, -0 just below +0.
fn f64_order(a: vec2<u32>) -> vec2<u32> {
  let flip = 0u - (a.y >> 31u);
  return vec2<u32>(a.x ^ flip, a.y ^ (flip | 0x80000000u));
}

fn f64_lt_int(a: vec2<u32>, b: vec2<u32>) -> bool {
  let zeros = (a.x | b.x | ((a.y | b.y) << 1u)) == 0u;
  return !zeros && !f64_is_nan(a) && !f64_is_nan(b) && pair_below(f64_order(a), f64_order(b));
}

fn f64_le_int(a: vec2<u32>, b: vec2<u32>) -> bool {
  return f64_lt_int(a, b) || f64_eq_int(a, b);
}

// minimumNumber and maximumNumber, as the strict floats have them.
fn f64_min_int(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let least = select(b, a, pair_below(f64_order(a), f64_order(b)));
  let number = select(select(least, a, f64_is_nan(b)), b, f64_is_nan(a));
  return select(number, f64_nan(), f64_is_nan(number));
}

fn f64_max_int(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let most = select(a, b, pair_below(f64_order(a), f64_order(b)));
  let number = select(select(most, a, f64_is_nan(b)), b, f64_is_nan(a));
  return select(number, f64_nan(), f64_is_nan(number));
}

// Bits below the units, for 1 <= |a| < 2^52.
fn f64_fraction_mask(a: vec2<u32>) -> vec2<u32> {
  return pair_right(vec2<u32>(0xffffffffu, 0xfffffu), ((a.y >> 20u) & 0x7ffu) - 1023u);
}

fn f64_integral(a: vec2<u32>) -> vec2<u32> {
  return select(a, f64_nan(), f64_is_nan(a));
}

// To the next integer, away from zero when `away`, else towards it.
fn f64_outward(a: vec2<u32>, away: bool) -> vec2<u32> {
  let y = a.y & 0x7fffffffu;
  if (y >= 0x43300000u) {
    return f64_integral(a);
  }
  if (y < 0x3ff00000u) {
    return vec2<u32>(0u, (a.y & 0x80000000u) | select(0u, 0x3ff00000u, away && (y | a.x) != 0u));
  }
  let mask = f64_fraction_mask(a);
  return select(a, pair_add(a, mask), away) & ~mask;
}

fn f64_trunc_int(a: vec2<u32>) -> vec2<u32> {
  return f64_outward(a, false);
}

fn f64_floor_int(a: vec2<u32>) -> vec2<u32> {
  return f64_outward(a, (a.y >> 31u) == 1u);
}

fn f64_ceil_int(a: vec2<u32>) -> vec2<u32> {
  return f64_outward(a, (a.y >> 31u) == 0u);
}

// Ties to even; see f32_round_int.
fn f64_round_int(a: vec2<u32>) -> vec2<u32> {
  let y = a.y & 0x7fffffffu;
  if (y >= 0x43300000u) {
    return f64_integral(a);
  }
  if (y < 0x3ff00000u) {
    let up = y > 0x3fe00000u || (y == 0x3fe00000u && a.x != 0u);
    return vec2<u32>(0u, (a.y & 0x80000000u) | select(0u, 0x3ff00000u, up));
  }
  let mask = f64_fraction_mask(a);
  let unit = a & pair_add(mask, vec2<u32>(1u, 0u));
  let half = pair_add(pair_half(mask), vec2<u32>(u32(!pair_is_zero(unit)), 0u));
  return pair_add(a, half) & ~mask;
}

fn f64_from_u32_int(n: u32) -> vec2<u32> {
  let z = countLeadingZeros(n);
  let m = n << (z & 31u);
  return select(vec2<u32>(m << 21u, ((1053u - z) << 20u) + (m >> 11u)), vec2<u32>(0u, 0u), n == 0u);
}

fn f64_from_i32_int(n: i32) -> vec2<u32> {
  let r = f64_from_u32_int(select(u32(n), 0u - u32(n), n < 0));
  return vec2<u32>(r.x, r.y | (u32(n) & 0x80000000u));
}

// The integer part of 1 <= |a| < 2^32.
fn f64_whole(a: vec2<u32>) -> u32 {
  return ((a.y << 11u) | (a.x >> 21u) | 0x80000000u) >> ((30u - (a.y >> 20u)) & 31u);
}

// Truncates, saturates, a NaN gives 0: more than the native conversions promise.
fn f64_to_u32_int(a: vec2<u32>) -> u32 {
  if (a.y - 0x3ff00000u >= 0x40100000u || f64_is_nan(a)) {
    return 0u;
  }
  return select(f64_whole(a), 0xffffffffu, a.y >= 0x41f00000u);
}

fn f64_to_i32_int(a: vec2<u32>) -> i32 {
  let y = a.y & 0x7fffffffu;
  if (y < 0x3ff00000u || f64_is_nan(a)) {
    return 0;
  }
  let negative = (a.y >> 31u) == 1u;
  if (y >= 0x41e00000u) {
    return select(2147483647, -2147483647 - 1, negative);
  }
  let n = f64_whole(a);
  return i32(select(n, 0u - n, negative));
}

fn f64_from_f32_int(a: u32) -> vec2<u32> {
  let x = a & 0x7fffffffu;
  let z = countLeadingZeros(x);
  let small = x < 0x800000u;
  // A subnormal's leading one moves to bit 23; the two exponents differ by 896, those of infinities by 1792.
  let m = select(x, (x << ((z - 8u) & 31u)) & 0x7fffffu, small);
  let bias = select(select(896u, 1792u, x >= 0x7f800000u), 905u - z, small) << 20u;
  return vec2<u32>(m << 29u, (a & 0x80000000u) | select(bias + (m >> 3u), 0u, x == 0u));
}

// The first 32 bits of the significand, the last of them also for the rest. Numbers below 2^-1022 come out far too
// large, but so far below the range of what is narrower that only their sign matters.
fn f64_leading(a: vec2<u32>) -> u32 {
  return 0x80000000u | (a.y << 11u) | (a.x >> 21u) | u32((a.x << 11u) != 0u);
}

fn f64_to_f32_int(a: vec2<u32>) -> u32 {
  let r = f32_pack(a.y & 0x80000000u, i32((a.y >> 20u) & 0x7ffu) - 896, f64_leading(a));
  return select(r, 0x7fc00000u, f64_is_nan(a));
}

fn f64_to_f16_int(a: vec2<u32>) -> u32 {
  let r = f16_pack((a.y >> 16u) & 0x8000u, i32((a.y >> 20u) & 0x7ffu) - 1008, f64_leading(a));
  return select(r, 0x7e00u, f64_is_nan(a));
}

fn f64_to_bf16_int(a: vec2<u32>) -> u32 {
  let r = bf16_pack((a.y >> 16u) & 0x8000u, i32((a.y >> 20u) & 0x7ffu) - 896, f64_leading(a));
  return select(r, 0x7fc0u, f64_is_nan(a));
}
