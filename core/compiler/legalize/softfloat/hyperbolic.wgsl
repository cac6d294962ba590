// sinh, cosh, tanh, asinh, acosh and atanh, rounded correctly to f32, f16 and bf16. No branch on the common path and no
// table: sinh and cosh join e^x and e^-x for x = k ln 2 + r through sinh r and cosh r, tanh is a quotient of
// e^2x - 1 and e^2x + 1, the inverses are e ln 2 + atanh(s) with one quotient s. Constants by sollya/hyperbolic.sollya.
// Error below 2^-51 of the result, from half a dozen roundings; the series are within 2^-55. That this is enough for
// one more rounding is no estimate: every f32, f16 and bf16 was run (HARD.md).

// HYP_S: relative error <= 2^-61.671875 up to 0.3466796875
const HYP_S2 = 0x1.5555555555559p-3lf;
const HYP_S4 = 0x1.111111110f657p-7lf;
const HYP_S6 = 0x1.a01a01b001afp-13lf;
const HYP_S8 = 0x1.71ddf81661fe1p-19lf;
const HYP_S10 = 0x1.af5f1c1c32842p-26lf;
// HYP_C: relative error <= 2^-51.890625 up to 0.3466796875
const HYP_C2 = 0x1.55555555543d7p-5lf;
const HYP_C4 = 0x1.6c16c1770618ep-10lf;
const HYP_C6 = 0x1.a019bd4d1c176p-16lf;
const HYP_C8 = 0x1.288d921b6f9fep-22lf;
// HYP_A: relative error <= 2^-55.765625 up to 0.20050048828125
const HYP_A2 = 0x1.5555555555799p-2lf;
const HYP_A4 = 0x1.99999998e8c42p-3lf;
const HYP_A6 = 0x1.249249b7386d2p-3lf;
const HYP_A8 = 0x1.c71bfe59a12b1p-4lf;
const HYP_A10 = 0x1.747559ac95c1ap-4lf;
const HYP_A12 = 0x1.3849dc60c53a3p-4lf;
const HYP_A14 = 0x1.3b0221749a40fp-4lf;
const HYP_HALF_HI = 0x1.62e42fefa3ap-2lf;
const HYP_HALF_LO = -0x1.0ca86c3898dp-50lf;

// The magnitude of y with the sign of x.
fn hyp_signed(y: f64, x: f64) -> f64 {
  let b = bitcast<vec2<u32>>(y);
  let s = bitcast<vec2<u32>>(x);
  return bitcast<f64>(vec2<u32>(b.x, (b.y & 0x7fffffffu) | (s.y & 0x80000000u)));
}

fn hyp_abs(x: f64) -> f64 {
  let b = bitcast<vec2<u32>>(x);
  return bitcast<f64>(vec2<u32>(b.x, b.y & 0x7fffffffu));
}

// sinh(r) and cosh(r) - 1 for |r| <= ln(2)/2; q = r * r.
fn hyp_sinh_part(r: f64, q: f64) -> f64 {
  let p = mad64(q * q, mad64(q * q, HYP_S10, mad64(q, HYP_S8, HYP_S6)), mad64(q, HYP_S4, HYP_S2));
  return mad64(r * q, p, r);
}

fn hyp_cosh_part(q: f64) -> f64 {
  let p = mad64(q * q, mad64(q, HYP_C8, HYP_C6), mad64(q, HYP_C4, HYP_C2));
  return q * mad64(q, p, 0.5lf);
}

fn sinh_odd(x: f64) -> f64 {
  let v = hyp_abs(exp_clamp(x, 0x40568000u));
  let m = mad64(v, EXP_INV, EXP_ROUND);
  let n = bitcast<vec2<u32>>(m).x << 20u;
  let k = m - EXP_ROUND;
  let r = mad64(k, -EXP_LO, mad64(k, -EXP_HI, v));
  let q = r * r;
  let up = bitcast<f64>(vec2<u32>(0u, 0x3fe00000u + n));
  let down = bitcast<f64>(vec2<u32>(0u, 0x3fe00000u - n));
  let a = up + down;
  let b = up - down;
  let y = b + mad64(a, hyp_sinh_part(r, q), b * hyp_cosh_part(q));
  // One f32 is nearer to a tie than this resolves; its hyperbolic sine rounds to it.
  return hyp_signed(select(y, v, v == 0x1.250bfep-11lf), x);
}

fn cosh_odd(x: f64) -> f64 {
  let v = hyp_abs(exp_clamp(x, 0x40568000u));
  let m = mad64(v, EXP_INV, EXP_ROUND);
  let n = bitcast<vec2<u32>>(m).x << 20u;
  let k = m - EXP_ROUND;
  let r = mad64(k, -EXP_LO, mad64(k, -EXP_HI, v));
  let q = r * r;
  let up = bitcast<f64>(vec2<u32>(0u, 0x3fe00000u + n));
  let down = bitcast<f64>(vec2<u32>(0u, 0x3fe00000u - n));
  let a = up + down;
  let b = up - down;
  return a + mad64(a, hyp_cosh_part(q), b * hyp_sinh_part(r, q));
}

fn tanh_odd(x: f64) -> f64 {
  let v = hyp_abs(exp_clamp(x, 0x402e0000u));
  let t = v + v;
  let m = mad64(t, EXP_INV, EXP_ROUND);
  let k = m - EXP_ROUND;
  let r = mad64(k, -EXP_LO, mad64(k, -EXP_HI, t));
  let power = exp_power(m);
  let d = power * exp_part(r);
  return hyp_signed(((power - 1.0lf) + d) / ((power + 1.0lf) + d), x);
}

// atanh(s) / s - 1 for |s| <= 0.2005; q = s * s.
fn hyp_atanh_part(q: f64) -> f64 {
  let q2 = q * q;
  let low = mad64(q2, mad64(q, HYP_A8, HYP_A6), mad64(q, HYP_A4, HYP_A2));
  let high = mad64(q2, HYP_A14, mad64(q, HYP_A12, HYP_A10));
  return q * mad64(q2 * q2, high, low);
}

// a >= 0. (1 + a) / (1 - a) is 2^e times a ratio within 2^+-0.6, whose logarithm is 2 atanh(difference / sum).
fn atanh_odd(x: f64) -> f64 {
  let a = hyp_abs(x);
  let u = 1.0lf + a;
  let w = bitcast<vec2<u32>>(1.0lf - a);
  let e = ((bitcast<vec2<u32>>(u).y - w.y) + 0x80000u) >> 20u;
  let v = bitcast<f64>(vec2<u32>(w.x, w.y + (e << 20u)));
  let s = select(u - v, a, e == 0u) / select(u + v, 1.0lf, e == 0u);
  let k = f64(e);
  return hyp_signed(mad64(k, HYP_HALF_HI, s + mad64(s, hyp_atanh_part(s * s), k * HYP_HALF_LO)), x);
}

// The t >= 0 whose hyperbolic sine and cosine are given, the logarithm of u = sine + cosine = 2^e m: it is
// e ln 2 + 2 atanh((m - 1) / (m + 1)), and 2 atanh(sine / (cosine + 1)) where e = 0 and u - 1 would cancel.
fn hyp_log(sine: f64, cosine: f64) -> f64 {
  let u = sine + cosine;
  let b = bitcast<vec2<u32>>(u);
  let e = (b.y - 0x3fe6a09eu) >> 20u;
  let m = bitcast<f64>(vec2<u32>(b.x, b.y - (e << 20u)));
  let s = select(m - 1.0lf, sine, e == 0u) / (select(m, cosine, e == 0u) + 1.0lf);
  let k = f64(e);
  let t = s + s;
  return elem_settle(k * EXP_HI, t + mad64(t, hyp_atanh_part(s * s), k * EXP_LO));
}

fn asinh_odd(x: f64) -> f64 {
  let a = hyp_abs(x);
  let b = sqrt(mad64(a, a, 1.0lf));
  return hyp_signed(hyp_log(a, b), x);
}

// x >= 1.
fn acosh_odd(x: f64) -> f64 {
  let b = sqrt(mad64(x, x, -1.0lf));
  return hyp_log(b, x);
}

fn f32_sinh(x: u32) -> u32 {
  return select(narrow(sinh_odd(widen(x))), 0x7fc00000u, (x & 0x7fffffffu) > 0x7f800000u);
}

fn f16_sinh(x: u32) -> u32 {
  return select(narrow_f16(sinh_odd(widen_f16(x))), 0x7e00u, (x & 0x7fffu) > 0x7c00u);
}

fn bf16_sinh(x: u32) -> u32 {
  return select(narrow_bf16(sinh_odd(widen_bf16(x))), 0x7fc0u, (x & 0x7fffu) > 0x7f80u);
}

fn f32_cosh(x: u32) -> u32 {
  return select(narrow(cosh_odd(widen(x))), 0x7fc00000u, (x & 0x7fffffffu) > 0x7f800000u);
}

fn f16_cosh(x: u32) -> u32 {
  return select(narrow_f16(cosh_odd(widen_f16(x))), 0x7e00u, (x & 0x7fffu) > 0x7c00u);
}

fn bf16_cosh(x: u32) -> u32 {
  return select(narrow_bf16(cosh_odd(widen_bf16(x))), 0x7fc0u, (x & 0x7fffu) > 0x7f80u);
}

fn f32_tanh(x: u32) -> u32 {
  return select(narrow(tanh_odd(widen(x))), 0x7fc00000u, (x & 0x7fffffffu) > 0x7f800000u);
}

fn f16_tanh(x: u32) -> u32 {
  return select(narrow_f16(tanh_odd(widen_f16(x))), 0x7e00u, (x & 0x7fffu) > 0x7c00u);
}

fn bf16_tanh(x: u32) -> u32 {
  return select(narrow_bf16(tanh_odd(widen_bf16(x))), 0x7fc0u, (x & 0x7fffu) > 0x7f80u);
}

fn f32_asinh(x: u32) -> u32 {
  let a = x & 0x7fffffffu;
  let y = select(narrow(asinh_odd(widen(x))), x, a == 0x7f800000u);
  return select(y, 0x7fc00000u, a > 0x7f800000u);
}

// Below 1 and NaN, by their bits: everything but 1 to infinity.
fn f32_acosh(x: u32) -> u32 {
  let y = select(narrow(acosh_odd(widen(x))), x, x == 0x7f800000u);
  return select(y, 0x7fc00000u, x - 0x3f800000u > 0x7f800000u - 0x3f800000u);
}

fn f32_atanh(x: u32) -> u32 {
  let a = x & 0x7fffffffu;
  let y = select(narrow(atanh_odd(widen(x))), (x ^ a) | 0x7f800000u, a == 0x3f800000u);
  return select(y, 0x7fc00000u, a > 0x3f800000u);
}

fn f16_asinh(x: u32) -> u32 {
  let a = x & 0x7fffu;
  let y = select(narrow_f16(asinh_odd(widen_f16(x))), x, a == 0x7c00u);
  return select(y, 0x7e00u, a > 0x7c00u);
}

// Below 1 and NaN, by their bits: everything but 1 to infinity.
fn f16_acosh(x: u32) -> u32 {
  let y = select(narrow_f16(acosh_odd(widen_f16(x))), x, x == 0x7c00u);
  return select(y, 0x7e00u, x - 0x3c00u > 0x7c00u - 0x3c00u);
}

fn f16_atanh(x: u32) -> u32 {
  let a = x & 0x7fffu;
  let y = select(narrow_f16(atanh_odd(widen_f16(x))), (x ^ a) | 0x7c00u, a == 0x3c00u);
  return select(y, 0x7e00u, a > 0x3c00u);
}

fn bf16_asinh(x: u32) -> u32 {
  let a = x & 0x7fffu;
  let y = select(narrow_bf16(asinh_odd(widen_bf16(x))), x, a == 0x7f80u);
  return select(y, 0x7fc0u, a > 0x7f80u);
}

// Below 1 and NaN, by their bits: everything but 1 to infinity.
fn bf16_acosh(x: u32) -> u32 {
  let y = select(narrow_bf16(acosh_odd(widen_bf16(x))), x, x == 0x7f80u);
  return select(y, 0x7fc0u, x - 0x3f80u > 0x7f80u - 0x3f80u);
}

fn bf16_atanh(x: u32) -> u32 {
  let a = x & 0x7fffu;
  let y = select(narrow_bf16(atanh_odd(widen_bf16(x))), (x ^ a) | 0x7f80u, a == 0x3f80u);
  return select(y, 0x7fc0u, a > 0x3f80u);
}
