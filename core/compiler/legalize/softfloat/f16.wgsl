// f16: values are bits in a u32 below 0x10000. Every f16 and every sum, product, quotient and root of them is 0 or a
// normal f32, and 24 >= 2 * 11 + 2, so arithmetic goes through f32 and is rounded twice without harm: near a tie of
// at most 12 bits the exact result differs from it by more than 2^-24 of itself, or not at all. Only the fused
// product needs its first rounding to be to odd. f32_*_normal is f32 where nothing subnormal is met (guarded.wgsl).

// The nearest f16, as f32_pack: sign in bit 15, leading one in bit 31.
fn f16_pack(sign: u32, e: i32, m: u32) -> u32 {
  let s = u32(clamp(1 - e, 0, 31));
  let t = (m >> s) | u32((m & ((1u << s) - 1u)) != 0u);
  let q = t >> 21u;
  let up = u32((t & 0x1fffffu) + (q & 1u) > 0x100000u);
  return sign | min((u32(clamp(e, 1, 31) - 1) << 10u) + q + up, 0x7c00u);
}

fn f16_is_nan(a: u32) -> bool {
  return (a & 0x7fffu) > 0x7c00u;
}

fn f16_to_f32(a: u32) -> u32 {
  let x = a & 0x7fffu;
  let sign = (a & 0x8000u) << 16u;
  // A subnormal x * 2^-24 is an integer under f32's own exponent.
  let z = countLeadingZeros(x);
  let small = ((134u - z) << 23u) + ((x << ((z - 8u) & 31u)) & 0x7fffffu);
  let large = select(0x7fc00000u, 0x7f800000u, x == 0x7c00u);
  let magnitude = select(select((x << 13u) + 0x38000000u, large, x >= 0x7c00u), small, x < 0x400u);
  return select(select(sign, 0u, x > 0x7c00u) | magnitude, sign, x == 0u);
}

fn f32_to_f16(a: u32) -> u32 {
  // f32 subnormals get a leading one they have not, and vanish all the same.
  let r = f16_pack((a >> 16u) & 0x8000u, i32((a >> 23u) & 0xffu) - 112, (a << 8u) | 0x80000000u);
  return select(r, 0x7e00u, f32_is_nan(a));
}

fn f16_to_bf16(a: u32) -> u32 {
  return f32_to_bf16(f16_to_f32(a));
}

fn f16_to_i32(a: u32) -> i32 {
  return f32_to_i32_int(f16_to_f32(a));
}

fn f16_to_u32(a: u32) -> u32 {
  return f32_to_u32_int(f16_to_f32(a));
}

fn f16_from_u32(n: u32) -> u32 {
  let z = countLeadingZeros(n);
  return select(f16_pack(0u, 46 - i32(z), n << (z & 31u)), 0u, n == 0u);
}

fn f16_from_i32(n: i32) -> u32 {
  return ((u32(n) >> 16u) & 0x8000u) | f16_from_u32(select(u32(n), 0u - u32(n), n < 0));
}

fn f16_add(a: u32, b: u32) -> u32 {
  return f32_to_f16(f32_add_normal(f16_to_f32(a), f16_to_f32(b)));
}

fn f16_sub(a: u32, b: u32) -> u32 {
  return f32_to_f16(f32_add_normal(f16_to_f32(a), f16_to_f32(b ^ 0x8000u)));
}

fn f16_mul(a: u32, b: u32) -> u32 {
  return f32_to_f16(f32_mul_normal(f16_to_f32(a), f16_to_f32(b)));
}

fn f16_div(a: u32, b: u32) -> u32 {
  return f32_to_f16(f32_div_normal(f16_to_f32(a), f16_to_f32(b)));
}

fn f16_sqrt(a: u32) -> u32 {
  return f32_to_f16(f32_sqrt_normal(f16_to_f32(a)));
}

// The product is exact in f32 (22 bits, at least 2^-48), and so is what the sum loses, a multiple of 2^-48.
fn f16_fma(a: u32, b: u32, c: u32) -> u32 {
  let p = f32_mul_normal(f16_to_f32(a), f16_to_f32(b));
  return f32_to_f16(f32_add_odd(p, f16_to_f32(c)));
}

// a + b rounded to odd, where no subnormal is met and nothing overflows but what was infinite.
fn f32_add_odd(a: u32, b: u32) -> u32 {
  let s = f32_add_normal(a, b);
  let t = f32_add_normal(s, f32_neg(a));
  let lost = f32_add_normal(f32_add_normal(a, f32_neg(f32_add_normal(s, f32_neg(t)))), f32_add_normal(b, f32_neg(t)));
  let exact = (lost << 1u) == 0u || (s & 0x7f800000u) == 0x7f800000u || (s & 1u) == 1u;
  return select(select(s + 1u, s - 1u, ((s ^ lost) >> 31u) == 1u), s, exact);
}

fn f16_order(a: u32) -> i32 {
  return select(i32(a), -1 - i32(a & 0x7fffu), a >= 0x8000u);
}

fn f16_min(a: u32, b: u32) -> u32 {
  let least = select(b, a, f16_order(a) < f16_order(b));
  let number = select(select(least, a, f16_is_nan(b)), b, f16_is_nan(a));
  return select(number, 0x7e00u, f16_is_nan(number));
}

fn f16_max(a: u32, b: u32) -> u32 {
  let most = select(a, b, f16_order(a) < f16_order(b));
  let number = select(select(most, a, f16_is_nan(b)), b, f16_is_nan(a));
  return select(number, 0x7e00u, f16_is_nan(number));
}

fn f16_eq(a: u32, b: u32) -> bool {
  return (a == b && !f16_is_nan(a)) || ((a | b) & 0x7fffu) == 0u;
}

fn f16_lt(a: u32, b: u32) -> bool {
  let ordered = !f16_is_nan(a) && !f16_is_nan(b) && ((a | b) & 0x7fffu) != 0u;
  return ordered && f16_order(a) < f16_order(b);
}

fn f16_le(a: u32, b: u32) -> bool {
  return f16_lt(a, b) || f16_eq(a, b);
}

fn f16_floor(a: u32) -> u32 {
  return f32_to_f16(f32_floor_int(f16_to_f32(a)));
}

fn f16_ceil(a: u32) -> u32 {
  return f32_to_f16(f32_ceil_int(f16_to_f32(a)));
}

fn f16_trunc(a: u32) -> u32 {
  return f32_to_f16(f32_trunc_int(f16_to_f32(a)));
}

fn f16_round(a: u32) -> u32 {
  return f32_to_f16(f32_round_int(f16_to_f32(a)));
}
