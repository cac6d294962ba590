// bf16: values are bits in a u32 below 0x10000, the upper half of an f32. Sums and roots go through f32 (24 >= 2 * 8
// + 2; sums of the subnormal range are exact there, roots are never in it). A product or quotient may be rounded
// twice into the subnormal range and err, so those two are made of integers, which for 8 bits is as short; the fused
// product is made in two words.

// The nearest bf16, as f32_pack: sign in bit 15, leading one in bit 31.
fn bf16_pack(sign: u32, e: i32, m: u32) -> u32 {
  let s = u32(clamp(1 - e, 0, 31));
  let t = (m >> s) | u32((m & ((1u << s) - 1u)) != 0u);
  let q = t >> 24u;
  let up = u32((t & 0xffffffu) + (q & 1u) > 0x800000u);
  return sign | min((u32(clamp(e, 1, 255) - 1) << 7u) + q + up, 0x7f80u);
}

fn bf16_is_nan(a: u32) -> bool {
  return (a & 0x7fffu) > 0x7f80u;
}

fn bf16_to_f32(a: u32) -> u32 {
  return select(a << 16u, 0x7fc00000u, bf16_is_nan(a));
}

// Subnormals included: the two formats share their exponents, so the carry does all.
fn f32_to_bf16(a: u32) -> u32 {
  return select((a + 0x7fffu + ((a >> 16u) & 1u)) >> 16u, 0x7fc0u, f32_is_nan(a));
}

fn bf16_to_f16(a: u32) -> u32 {
  return f32_to_f16(a << 16u);
}

fn bf16_to_i32(a: u32) -> i32 {
  return f32_to_i32_int(a << 16u);
}

fn bf16_to_u32(a: u32) -> u32 {
  return f32_to_u32_int(a << 16u);
}

fn bf16_from_u32(n: u32) -> u32 {
  let z = countLeadingZeros(n);
  return select(bf16_pack(0u, 158 - i32(z), n << (z & 31u)), 0u, n == 0u);
}

fn bf16_from_i32(n: i32) -> u32 {
  return ((u32(n) >> 16u) & 0x8000u) | bf16_from_u32(select(u32(n), 0u - u32(n), n < 0));
}

fn bf16_add(a: u32, b: u32) -> u32 {
  return f32_to_bf16(f32_add(a << 16u, b << 16u));
}

fn bf16_sub(a: u32, b: u32) -> u32 {
  return f32_to_bf16(f32_add(a << 16u, (b ^ 0x8000u) << 16u));
}

// The significand of a number other than 0, leading one at bit 7, and its biased exponent.
fn bf16_unit(x: u32) -> u32 {
  return select((x & 0x7fu) | 0x80u, x << ((countLeadingZeros(x) - 24u) & 31u), x < 0x80u);
}

fn bf16_exponent(x: u32) -> i32 {
  return select(i32(x >> 7u), 25 - i32(countLeadingZeros(x)), x < 0x80u);
}

fn bf16_mul(a: u32, b: u32) -> u32 {
  let sign = (a ^ b) & 0x8000u;
  let x = a & 0x7fffu;
  let y = b & 0x7fffu;
  if (max(x, y) >= 0x7f80u) {
    return select(sign | 0x7f80u, 0x7fc0u, max(x, y) > 0x7f80u || min(x, y) == 0u);
  }
  if (min(x, y) == 0u) {
    return sign;
  }
  let p = bf16_unit(x) * bf16_unit(y);
  let top = p >> 15u;
  return bf16_pack(sign, bf16_exponent(x) + bf16_exponent(y) - 127 + i32(top), p << (17u - top));
}

fn bf16_div(a: u32, b: u32) -> u32 {
  let sign = (a ^ b) & 0x8000u;
  let x = a & 0x7fffu;
  let y = b & 0x7fffu;
  if (max(x, y) > 0x7f80u || (x == y && (x == 0u || x == 0x7f80u))) {
    return 0x7fc0u;
  }
  if (x == 0x7f80u || y == 0u) {
    return sign | 0x7f80u;
  }
  if (y == 0x7f80u || x == 0u) {
    return sign;
  }
  // Less than 2^17 and at least 2^15: 8 bits and more, the rest in the last.
  let n = bf16_unit(x) << 16u;
  let d = bf16_unit(y);
  let q = n / d;
  let z = countLeadingZeros(q);
  return bf16_pack(sign, bf16_exponent(x) - bf16_exponent(y) + 142 - i32(z), (q << z) | u32(n != q * d));
}

fn bf16_sqrt(a: u32) -> u32 {
  return f32_to_bf16(f32_sqrt(a << 16u));
}

// A product of 16 bits and an addend of 8, each with its leading one at bit 62 or 61, as in f32_fma_int.
fn bf16_fma(a: u32, b: u32, c: u32) -> u32 {
  let sign = (a ^ b) & 0x8000u;
  let x = a & 0x7fffu;
  let y = b & 0x7fffu;
  let w = c & 0x7fffu;
  let minus = ((sign ^ c) & 0x8000u) != 0u;
  if (max(max(x, y), w) >= 0x7f80u) {
    if (max(max(x, y), w) > 0x7f80u) {
      return 0x7fc0u;
    }
    if (max(x, y) < 0x7f80u) {
      return c;
    }
    return select(sign | 0x7f80u, 0x7fc0u, min(x, y) == 0u || (w == 0x7f80u && minus));
  }
  if (min(x, y) == 0u) {
    return select(c, sign & c, w == 0u);
  }
  let ep = bf16_exponent(x) + bf16_exponent(y) - 126;
  let ec = select(bf16_exponent(w), -1000, w == 0u);
  let p = pair_jam(vec2<u32>(0u, (bf16_unit(x) * bf16_unit(y)) << 15u), u32(clamp(ec - ep, 0, 63)));
  let q = pair_jam(vec2<u32>(0u, select(bf16_unit(w) << 23u, 0u, w == 0u)), u32(clamp(ep - ec, 0, 63)));
  var sum = pair_add(p, select(q, pair_negate(q), minus));
  if (pair_is_zero(sum)) {
    return 0u;
  }
  let below = minus && (sum.y >> 31u) == 1u;
  sum = select(sum, pair_negate(sum), below);
  let z = pair_zeros(sum);
  sum = pair_left(sum, z);
  return bf16_pack(sign ^ (u32(below) << 15u), max(ep, ec) + 1 - i32(z), sum.y | u32(sum.x != 0u));
}

fn bf16_min(a: u32, b: u32) -> u32 {
  let least = select(b, a, f16_order(a) < f16_order(b));
  let number = select(select(least, a, bf16_is_nan(b)), b, bf16_is_nan(a));
  return select(number, 0x7fc0u, bf16_is_nan(number));
}

fn bf16_max(a: u32, b: u32) -> u32 {
  let most = select(a, b, f16_order(a) < f16_order(b));
  let number = select(select(most, a, bf16_is_nan(b)), b, bf16_is_nan(a));
  return select(number, 0x7fc0u, bf16_is_nan(number));
}

fn bf16_eq(a: u32, b: u32) -> bool {
  return f32_eq_int(a << 16u, b << 16u);
}

fn bf16_lt(a: u32, b: u32) -> bool {
  return f32_lt_int(a << 16u, b << 16u);
}

fn bf16_le(a: u32, b: u32) -> bool {
  return f32_le_int(a << 16u, b << 16u);
}

fn bf16_floor(a: u32) -> u32 {
  return f32_to_bf16(f32_floor_int(a << 16u));
}

fn bf16_ceil(a: u32) -> u32 {
  return f32_to_bf16(f32_ceil_int(a << 16u));
}

fn bf16_trunc(a: u32) -> u32 {
  return f32_to_bf16(f32_trunc_int(a << 16u));
}

fn bf16_round(a: u32) -> u32 {
  return f32_to_bf16(f32_round_int(a << 16u));
}
