// What strict f64 needs beyond what forms compute in: conversions in which subnormals and NaN count, and 64-bit integers.
// f64, i64 and u64 are bits in vec2<u32>, low word first.

fn f64_canonical(a: vec2<u32>) -> vec2<u32> {
  return select(a, f64_nan(), f64_is_nan(a));
}

fn f64_from_f32_strict(a: u32) -> vec2<u32> {
  return f64_canonical(f64_from_f32_int(a));
}

// Where the device's own conversions are exact but for subnormals.
fn f64_from_f32_guarded(a: u32) -> vec2<u32> {
  return select(bitcast<vec2<u32>>(widen_guarded(a)), f64_nan(), (a & 0x7fffffffu) > 0x7f800000u);
}

fn f64_to_f32_guarded(a: vec2<u32>) -> u32 {
  return narrow_guarded(bitcast<f64>(a));
}

fn f64_from_f16(a: u32) -> vec2<u32> {
  return f64_canonical(f64_from_f32_int(f16_to_f32(a)));
}

fn f64_from_bf16(a: u32) -> vec2<u32> {
  return f64_canonical(f64_from_f32_int(a << 16u));
}

fn f64_from_u64(n: vec2<u32>) -> vec2<u32> {
  let z = pair_zeros(n);
  let m = pair_left(n, z & 63u);
  let r = f64_settle(0u, 1086u - z, m);
  return select(r, vec2<u32>(0u, 0u), pair_is_zero(n));
}

fn f64_from_i64(n: vec2<u32>) -> vec2<u32> {
  let sign = n.y & 0x80000000u;
  let r = f64_from_u64(select(n, pair_negate(n), sign != 0u));
  return vec2<u32>(r.x, r.y | sign);
}

// The integer part of 1 <= |a| < 2^64.
fn f64_whole64(a: vec2<u32>) -> vec2<u32> {
  let m = vec2<u32>(a.x << 11u, 0x80000000u | (a.y << 11u) | (a.x >> 21u));
  return pair_right(m, (1086u - ((a.y >> 20u) & 0x7ffu)) & 63u);
}

fn f64_to_u64(a: vec2<u32>) -> vec2<u32> {
  if (a.y < 0x3ff00000u || (a.y >> 31u) == 1u || f64_is_nan(a)) {
    return vec2<u32>(0u, 0u);
  }
  return select(f64_whole64(a), vec2<u32>(0xffffffffu, 0xffffffffu), a.y >= 0x43f00000u);
}

fn f64_to_i64(a: vec2<u32>) -> vec2<u32> {
  let y = a.y & 0x7fffffffu;
  if (y < 0x3ff00000u || f64_is_nan(a)) {
    return vec2<u32>(0u, 0u);
  }
  let negative = (a.y >> 31u) == 1u;
  if (y >= 0x43e00000u) {
    return select(vec2<u32>(0xffffffffu, 0x7fffffffu), vec2<u32>(0u, 0x80000000u), negative);
  }
  let n = f64_whole64(a);
  return select(n, pair_negate(n), negative);
}
