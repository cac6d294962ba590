// f32 out of 32-bit integers: values are bits in u32. This is what a device with nothing else runs, so sums and
// products are kept short. Everything rounds to nearest even, keeps subnormals and signed zeros, and gives the one
// NaN 0x7fc00000. 64-bit intermediates are pairs, low word first (pair_* in f64_int.wgsl).

// The nearest f32 to a significand m at the exponent 1 <= e <= 255, as units of 2^-8 in the last place: its leading
// one is bit 31, or lower when e is 1. The last bit of m also stands for all that was cut off below.
fn f32_settle(sign: u32, e: u32, m: u32) -> u32 {
  let q = m >> 8u;
  let up = u32((m & 0xffu) + (q & 1u) > 0x80u);
  // The leading one of a normal q adds 1 to the exponent, hence - 1; a carry out of q does the same.
  return sign | min(((e - 1u) << 23u) + q + up, 0x7f800000u);
}

// The same for any exponent, with the leading one of m at bit 31.
fn f32_pack(sign: u32, e: i32, m: u32) -> u32 {
  let s = u32(clamp(1 - e, 0, 31));
  return f32_settle(sign, u32(clamp(e, 1, 255)), (m >> s) | u32((m & ((1u << s) - 1u)) != 0u));
}

fn f32_is_nan(a: u32) -> bool {
  return (a << 1u) > 0xff000000u;
}

fn f32_neg(a: u32) -> u32 {
  return a ^ 0x80000000u;
}

// The smaller is shifted under the larger with 6 bits to spare and the rest gathered in the last one. More than one
// leading bit cancels only where the shift is at most 1, and then nothing was gathered.
fn f32_add_int(a: u32, b: u32) -> u32 {
  let swapped = (a & 0x7fffffffu) < (b & 0x7fffffffu);
  let x = select(a, b, swapped);
  let y = select(b, a, swapped);
  let ex = (x >> 23u) & 0xffu;
  let ey = (y >> 23u) & 0xffu;
  if (ex == 0xffu) {
    return select(x, 0x7fc00000u, f32_is_nan(x) || y == (x ^ 0x80000000u));
  }
  let mx = ((x & 0x7fffffu) | (u32(ex != 0u) << 23u)) << 6u;
  let my = ((y & 0x7fffffu) | (u32(ey != 0u) << 23u)) << 6u;
  let e = max(ex, 1u);
  let d = min(e - max(ey, 1u), 31u);
  let under = (my >> d) | u32((my & ((1u << d) - 1u)) != 0u);
  let sum = mx + select(under, 0u - under, ((x ^ y) >> 31u) == 1u);
  if (sum == 0u) {
    return x & y & 0x80000000u;
  }
  // No further up than the least exponent: what lies below the normal range is exact and needs no rounding.
  let s = min(countLeadingZeros(sum), e + 1u);
  return f32_settle(x & 0x80000000u, e + 2u - s, sum << s);
}

fn f32_sub_int(a: u32, b: u32) -> u32 {
  return f32_add_int(a, b ^ 0x80000000u);
}

fn f32_mul_int(a: u32, b: u32) -> u32 {
  let sign = (a ^ b) & 0x80000000u;
  var ea = i32((a >> 23u) & 0xffu);
  var eb = i32((b >> 23u) & 0xffu);
  var ma = (a << 8u) | 0x80000000u;
  var mb = (b << 8u) | 0x80000000u;
  if (min(ea, eb) == 0 || max(ea, eb) == 255) {
    let x = a & 0x7fffffffu;
    let y = b & 0x7fffffffu;
    if (max(x, y) >= 0x7f800000u) {
      return select(sign | 0x7f800000u, 0x7fc00000u, max(x, y) > 0x7f800000u || min(x, y) == 0u);
    }
    if (min(x, y) == 0u) {
      return sign;
    }
    if (ea == 0) {
      let z = countLeadingZeros(x);
      ma = x << z;
      ea = 9 - i32(z);
    }
    if (eb == 0) {
      let z = countLeadingZeros(y);
      mb = y << z;
      eb = 9 - i32(z);
    }
  }
  // Both have 8 zeros at the end, so the low word matters only by being 0 or not.
  let high = mulHigh(ma, mb);
  let top = high >> 31u;
  return f32_pack(sign, ea + eb - 127 + i32(top), (high << (1u - top)) | u32(ma * mb != 0u));
}

// About 2^62 / d for 2^31 <= d < 2^32, as a factor in [1 - 2^-29, 1 + 2^-30.9] of it: one Newton step from a
// quotient of 16 bits. That is off by -2^-16 to 2^-15, of which the step leaves the square; of the truncations one
// adds less than 2^-31 and one takes less than 2^-30.
fn reciprocal32(d: u32) -> u32 {
  let r = (0xffffffffu / (d >> 16u)) << 15u;
  return mulHigh(r, 0u - mulHigh(r, d));
}

fn f32_div_int(a: u32, b: u32) -> u32 {
  let sign = (a ^ b) & 0x80000000u;
  var ea = i32((a >> 23u) & 0xffu);
  var eb = i32((b >> 23u) & 0xffu);
  var ma = (a & 0x7fffffu) | 0x800000u;
  var mb = (b & 0x7fffffu) | 0x800000u;
  if (min(ea, eb) == 0 || max(ea, eb) == 255) {
    let x = a & 0x7fffffffu;
    let y = b & 0x7fffffffu;
    if (max(x, y) > 0x7f800000u || (x == y && (x == 0u || x == 0x7f800000u))) {
      return 0x7fc00000u;
    }
    if (x == 0x7f800000u || y == 0u) {
      return sign | 0x7f800000u;
    }
    if (y == 0x7f800000u || x == 0u) {
      return sign;
    }
    if (ea == 0) {
      let z = countLeadingZeros(x) - 8u;
      ma = x << z;
      ea = 1 - i32(z);
    }
    if (eb == 0) {
      let z = countLeadingZeros(y) - 8u;
      mb = y << z;
      eb = 1 - i32(z);
    }
  }
  let less = u32(ma < mb);
  ma = ma << less;
  // floor(ma * 2^25 / mb), which has 26 bits: the estimate is off by at most 1, and the remainder, known modulo
  // 2^32 and small, tells.
  var q = mulHigh(ma << 7u, reciprocal32(mb << 8u)) >> 4u;
  var rest = (ma << 25u) - q * mb;
  let over = (rest >> 31u) == 1u;
  q = q - u32(over);
  rest = rest + select(0u, mb, over);
  let under = rest >= mb;
  q = q + u32(under);
  rest = rest - select(0u, mb, under);
  return f32_pack(sign, ea - eb + 127 - i32(less), (q << 6u) | u32(rest != 0u));
}

// About 2^30 / sqrt(x / 2^32) for 2^30 <= x < 2^32, as a factor in [1 - 2^-26.5, 1 + 2^-28] of it: Sollya's
// remez(1, 3, [1/4;1], sqrt(x)), off by at most 0.0071, then two Newton steps, each leaving 1.5 times the square.
fn reciprocal_sqrt32(x: u32) -> u32 {
  let c2 = 1672337544u - mulHigh(x, 654567279u);
  let c1 = 1586696375u - mulHigh(x, c2);
  var r = (835471609u - mulHigh(x, c1)) << 2u;
  r = mulHigh(r, (0x30000000u - mulHigh(x, mulHigh(r, r))) << 2u) << 1u;
  return mulHigh(r, (0x30000000u - mulHigh(x, mulHigh(r, r))) << 2u) << 1u;
}

fn f32_sqrt_int(a: u32) -> u32 {
  if (a - 1u >= 0x7f7fffffu) {
    // Zeros and +inf are their own roots; the rest is negative or a NaN.
    return select(0x7fc00000u, a, (a << 1u) == 0u || a == 0x7f800000u);
  }
  var e = i32(a >> 23u);
  var m = (a & 0x7fffffu) | 0x800000u;
  if (e == 0) {
    let z = countLeadingZeros(a) - 8u;
    m = a << z;
    e = 1 - i32(z);
  }
  // x / 2^32 in [1/4, 1), and its exponent even.
  let odd_exponent = u32(e & 1);
  let x = m << (8u - odd_exponent);
  // floor(sqrt(x * 2^20)), which has 26 bits, from an estimate at most 2 below.
  var s = (mulHigh(x, reciprocal_sqrt32(x)) >> 4u) - 1u;
  var rest = (x << 20u) - s * s;
  for (var i = 0u; i < 2u; i = i + 1u) {
    let up = rest > 2u * s;
    rest = rest - select(0u, 2u * s + 1u, up);
    s = s + u32(up);
  }
  return f32_pack(0u, (e + 126 + i32(odd_exponent)) >> 1u, (s << 6u) | u32(rest != 0u));
}

// The product is exact in a pair, its leading one at bit 62 or 61; the addend has its own at bit 62 and lies above
// 39 zeros. What the shift under the larger one gathers is below anything that cancellation can bring up.
fn f32_fma_int(a: u32, b: u32, c: u32) -> u32 {
  let sign = (a ^ b) & 0x80000000u;
  let x = a & 0x7fffffffu;
  let y = b & 0x7fffffffu;
  let w = c & 0x7fffffffu;
  if (max(max(x, y), w) >= 0x7f800000u) {
    if (max(max(x, y), w) > 0x7f800000u) {
      return 0x7fc00000u;
    }
    if (max(x, y) < 0x7f800000u) {
      return c;
    }
    return select(sign | 0x7f800000u, 0x7fc00000u,
                  min(x, y) == 0u || (w == 0x7f800000u && ((sign ^ c) >> 31u) == 1u));
  }
  if (min(x, y) == 0u) {
    return select(c, sign & c, w == 0u);
  }
  let za = select(8u, countLeadingZeros(x), x < 0x800000u);
  let zb = select(8u, countLeadingZeros(y), y < 0x800000u);
  let ma = ((x & 0x7fffffu) | (u32(x >= 0x800000u) << 23u)) << za;
  let mb = ((y & 0x7fffffu) | (u32(y >= 0x800000u) << 23u)) << zb;
  let ep = i32(max(x >> 23u, 1u) + max(y >> 23u, 1u)) - 126 - i32(za + zb) + 16;
  let product = pair_half(pair_product(ma, mb));
  // A zero addend must not pull the exponent up.
  let ec = select(i32(max(w >> 23u, 1u)), -1000, w == 0u);
  let addend = vec2<u32>(0u, ((w & 0x7fffffu) | (u32(w >= 0x800000u) << 23u)) << 7u);
  let p = pair_jam(product, u32(clamp(ec - ep, 0, 63)));
  let q = pair_jam(addend, u32(clamp(ep - ec, 0, 63)));
  let minus = ((sign ^ c) >> 31u) == 1u;
  var sum = pair_add(p, select(q, pair_negate(q), minus));
  if ((sum.x | sum.y) == 0u) {
    return 0u;
  }
  let below = minus && (sum.y >> 31u) == 1u;
  sum = select(sum, pair_negate(sum), below);
  let z = pair_zeros(sum);
  sum = pair_left(sum, z);
  return f32_pack(sign ^ (u32(below) << 31u), max(ep, ec) + 1 - i32(z), sum.y | u32(sum.x != 0u));
}

// Numbers in the order of their values, as i32: -0 just below +0.
fn f32_order(a: u32) -> i32 {
  return i32(a ^ ((0u - (a >> 31u)) & 0x7fffffffu));
}

fn f32_min_int(a: u32, b: u32) -> u32 {
  let least = select(b, a, f32_order(a) < f32_order(b));
  let number = select(select(least, a, f32_is_nan(b)), b, f32_is_nan(a));
  return select(number, 0x7fc00000u, f32_is_nan(number));
}

fn f32_max_int(a: u32, b: u32) -> u32 {
  let most = select(a, b, f32_order(a) < f32_order(b));
  let number = select(select(most, a, f32_is_nan(b)), b, f32_is_nan(a));
  return select(number, 0x7fc00000u, f32_is_nan(number));
}

fn f32_eq_int(a: u32, b: u32) -> bool {
  return (a == b && !f32_is_nan(a)) || ((a | b) << 1u) == 0u;
}

fn f32_lt_int(a: u32, b: u32) -> bool {
  let ordered = !f32_is_nan(a) && !f32_is_nan(b) && ((a | b) << 1u) != 0u;
  return ordered && f32_order(a) < f32_order(b);
}

fn f32_le_int(a: u32, b: u32) -> bool {
  let ordered = !f32_is_nan(a) && !f32_is_nan(b);
  return ordered && (f32_order(a) <= f32_order(b) || ((a | b) << 1u) == 0u);
}

// Bits of a below the units, for 1 <= |a| < 2^23.
fn f32_fraction_mask(a: u32) -> u32 {
  return 0x7fffffu >> (((a >> 23u) & 0xffu) - 127u);
}

// a where it is an integer already, the NaN for a NaN.
fn f32_integral(a: u32) -> u32 {
  return select(a, 0x7fc00000u, f32_is_nan(a));
}

fn f32_trunc_int(a: u32) -> u32 {
  let x = a & 0x7fffffffu;
  if (x >= 0x4b000000u) {
    return f32_integral(a);
  }
  if (x < 0x3f800000u) {
    return a & 0x80000000u;
  }
  return a & ~f32_fraction_mask(a);
}

// Away from zero when `away`: floor of a negative number, ceil of a positive one.
fn f32_outward(a: u32, away: bool) -> u32 {
  let x = a & 0x7fffffffu;
  if (x >= 0x4b000000u) {
    return f32_integral(a);
  }
  if (x < 0x3f800000u) {
    return (a & 0x80000000u) | select(0u, 0x3f800000u, away && x != 0u);
  }
  let mask = f32_fraction_mask(a);
  return (a + select(0u, mask, away)) & ~mask;
}

fn f32_floor_int(a: u32) -> u32 {
  return f32_outward(a, (a >> 31u) == 1u);
}

fn f32_ceil_int(a: u32) -> u32 {
  return f32_outward(a, (a >> 31u) == 0u);
}

fn f32_round_int(a: u32) -> u32 {
  let x = a & 0x7fffffffu;
  if (x >= 0x4b000000u) {
    return f32_integral(a);
  }
  if (x < 0x3f800000u) {
    return (a & 0x80000000u) | select(0u, 0x3f800000u, x > 0x3f000000u);
  }
  // Half less one unit, and one more when the integer is odd: the bit above the mask, which for 1 <= |a| < 2 is
  // the last bit of the exponent and rightly 1.
  let mask = f32_fraction_mask(a);
  let last = u32((a & (mask + 1u)) != 0u);
  return (a + (mask >> 1u) + last) & ~mask;
}

fn f32_to_i32_int(a: u32) -> i32 {
  let x = a & 0x7fffffffu;
  if (x < 0x3f800000u || x > 0x7f800000u) {
    return 0;
  }
  if (x >= 0x4f000000u) {
    return select(2147483647, -2147483647 - 1, (a >> 31u) == 1u);
  }
  let n = ((x << 8u) | 0x80000000u) >> (158u - (x >> 23u));
  return i32(select(n, 0u - n, (a >> 31u) == 1u));
}

fn f32_to_u32_int(a: u32) -> u32 {
  if (a - 0x3f800000u > 0x40000000u) {
    // Below 1, negative or a NaN.
    return 0u;
  }
  return select(((a << 8u) | 0x80000000u) >> ((158u - (a >> 23u)) & 31u), 0xffffffffu, a >= 0x4f800000u);
}

fn f32_from_u32_int(n: u32) -> u32 {
  let z = countLeadingZeros(n);
  return select(f32_pack(0u, 158 - i32(z), n << (z & 31u)), 0u, n == 0u);
}

fn f32_from_i32_int(n: i32) -> u32 {
  let sign = u32(n) & 0x80000000u;
  let m = select(u32(n), 0u - u32(n), n < 0);
  return sign | f32_from_u32_int(m);
}
