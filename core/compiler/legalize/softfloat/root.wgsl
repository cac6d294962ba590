// rsqrt (1/sqrt(x) with one rounding) and cbrt, rounded correctly to f32, f16 and bf16.
//
// No result of either lies within 2^-49 of a tie (24-bit arguments in two or three binades), so a double with an error
// below 2^-51 decides: rsqrt is a root and a quotient, each rounded. cbrt starts from a cubic for m^(-1/3), error 2^-11.9,
// takes one step of third order to 2^-30 and ends with a Newton step for the root itself. Proved for all 2^32 arguments by
// running them (HARD.md). (sollya/root.sollya)

// Zeros, infinities, negative numbers and NaN come out of the two operations as IEEE 754-2019 has them for rSqrt.
fn rsqrt_odd(x: f64) -> f64 {
  return 1.0lf / sqrt(x);
}

fn cbrt_odd(x: f64) -> f64 {
  let w = bitcast<vec2<u32>>(x);
  let h = w.y & 0x7fffffffu;
  // Zeros, infinities and NaN are their own roots.
  if (h - 1u >= 0x7fefffffu) {
    return x;
  }
  // |x| = m 2^(3 q - 510 + part), m in [1, 2), part in 0..2.
  let e = (h >> 20u) - 513u;
  let q = e / 3u;
  let part = e - 3u * q;
  let m = bitcast<f64>(vec2<u32>(w.x, (h & 0xfffffu) | 0x3ff00000u));
  let s = bitcast<f64>(vec2<u32>(w.x, ((h & 0xfffffu) | 0x3ff00000u) + (part << 20u)));
  var y = mad64(m, -0x1.991545e68ce52p-5lf, 0x1.45621f98f6e77p-2lf);
  y = mad64(y, m, -0x1.9eb31e9029616p-1lf);
  y = mad64(y, m, 0x1.8ab91b7f0c05bp0lf);
  y = y * select(select(0x1.428a2f98d728bp-1lf, 0x1.965fea53d6e3dp-1lf, part == 1u), 1.0lf, part == 0u);
  let d = mad64(y * y, y * -s, 1.0lf);
  y = mad64(y, d * mad64(d, 0x1.c71c71c71c71cp-3lf, 0x1.5555555555555p-2lf), y);
  let t = y * y;
  let c = s * t;
  let r = bitcast<vec2<u32>>(mad64(mad64(c * c, c, -s), t * -0x1.5555555555555p-2lf, c));
  return bitcast<f64>(vec2<u32>(r.x, (r.y + ((q - 170u) << 20u)) | (w.y & 0x80000000u)));
}

fn f32_rsqrt(x: u32) -> u32 {
  return narrow(rsqrt_odd(widen(x)));
}

fn f16_rsqrt(x: u32) -> u32 {
  return narrow_f16(rsqrt_odd(widen_f16(x)));
}

fn bf16_rsqrt(x: u32) -> u32 {
  return narrow_bf16(rsqrt_odd(widen_bf16(x)));
}

fn f32_cbrt(x: u32) -> u32 {
  return narrow(cbrt_odd(widen(x)));
}

fn f16_cbrt(x: u32) -> u32 {
  return narrow_f16(cbrt_odd(widen_f16(x)));
}

fn bf16_cbrt(x: u32) -> u32 {
  return narrow_bf16(cbrt_odd(widen_bf16(x)));
}
