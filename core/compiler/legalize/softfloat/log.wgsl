// log, log2, log10 and log1p, rounded correctly to f32, f16 and bf16: x = 2^k * m, the result is k log 2 + 2 atanh(s) with
// s = (m - 1) / (m + 1); log1p takes 1 + x for x. One division and no table: tables in constant memory cost an H200 more. Constants by
// sollya/log.sollya. Error below 2^-51 of the result: the quotient, the factor, two sums, LOG_LO; the polynomial is
// within 2^-59. That this is enough for one more rounding is no estimate: every f32, f16 and bf16 was run (HARD.md).

// s * (1 + LOG_A): relative error <= 2^-59.4375 for |s| <= 0.171630859375
const LOG_A2 = 0x1.5555555555594p-2lf;
const LOG_A4 = 0x1.999999997f724p-3lf;
const LOG_A6 = 0x1.249249423d2abp-3lf;
const LOG_A8 = 0x1.c71c51d465ef7p-4lf;
const LOG_A10 = 0x1.74664885f0feap-4lf;
const LOG_A12 = 0x1.39a0da47f22e7p-4lf;
const LOG_A14 = 0x1.2f0d82cc36933p-4lf;
const LOG_HI = 0x1.62e42fefa3ap-1lf;
const LOG_LO = -0x1.0ca86c3898dp-49lf;
const LOG2_TWICE = 0x1.71547652b82fep1lf;
const LOG10_TWICE = 0x1.bcb7b1526e50ep-1lf;
const LOG10_HI = 0x1.34413509f7ap-2lf;
const LOG10_LO = -0x1.0cee0ed4ca7e9p-54lf;

// m in [1/sqrt 2, sqrt 2) of x = 2^k * m, for x positive, finite and normal. `z` is the high word of x less that of
// 1/sqrt 2; k is z's signed part above bit 20.
fn log_mantissa(x: f64, z: u32) -> f64 {
  let b = bitcast<vec2<u32>>(x);
  return bitcast<f64>(vec2<u32>(b.x, b.y - (z & 0xfff00000u)));
}

// t * (atanh(s) / s - 1).
fn log_part(t: f64, s: f64) -> f64 {
  let q = s * s;
  let q2 = q * q;
  let low = mad64(q2, mad64(q, LOG_A8, LOG_A6), mad64(q, LOG_A4, LOG_A2));
  let high = mad64(q2, LOG_A14, mad64(q, LOG_A12, LOG_A10));
  return t * (q * mad64(q2 * q2, high, low));
}

// x is positive and finite, here and below; what other bits give is replaced by the callers.
fn log_odd(x: f64) -> f64 {
  let z = bitcast<vec2<u32>>(x).y - 0x3fe6a09eu;
  let k = f64(bitcast<i32>(z) >> 20u);
  let m = log_mantissa(x, z);
  let s = (m - 1.0lf) / (m + 1.0lf);
  let t = s + s;
  return elem_settle(k * LOG_HI, t + mad64(k, LOG_LO, log_part(t, s)));
}

fn log2_odd(x: f64) -> f64 {
  let z = bitcast<vec2<u32>>(x).y - 0x3fe6a09eu;
  let k = f64(bitcast<i32>(z) >> 20u);
  let m = log_mantissa(x, z);
  let s = (m - 1.0lf) / (m + 1.0lf);
  let t = s * LOG2_TWICE;
  return k + (t + log_part(t, s));
}

fn log10_odd(x: f64) -> f64 {
  let z = bitcast<vec2<u32>>(x).y - 0x3fe6a09eu;
  let k = f64(bitcast<i32>(z) >> 20u);
  let m = log_mantissa(x, z);
  let s = (m - 1.0lf) / (m + 1.0lf);
  let t = s * LOG10_TWICE;
  // One f32 is nearer to a tie than this resolves.
  return select(mad64(k, LOG10_HI, t + mad64(k, LOG10_LO, log_part(t, s))), -0x1.d33a46p4lf, x == 0x1.fddcf4p-98lf);
}

// x above -1 and finite; of a large x the sum 1 + x may lose the 1, which is below 2^-53 of it then. With n = m - 1, exact,
// ln m = t + log_part = n - (n s - log_part); where k is 0, x stands for the n in front, so that a small x is exact in the sum, which comes
// as near to ties as x^3.
fn log1p_odd(x: f64) -> f64 {
  let u = 1.0lf + x;
  let z = bitcast<vec2<u32>>(u).y - 0x3fe6a09eu;
  let e = bitcast<i32>(z) >> 20u;
  let k = f64(e);
  let m = log_mantissa(u, z);
  let n = m - 1.0lf;
  let s = n / (m + 1.0lf);
  let low = mad64(k, LOG_LO, log_part(s + s, s) - n * s);
  // One f32 is nearer to a tie than this resolves.
  let y = select(elem_settle(k * LOG_HI, n + low), elem_settle(x, low), e == 0i);
  return select(y, 0x1.9bddc2p-2lf, x == 0x1.fb035ap-2lf);
}

// y, unless x is no positive number: zeros, negatives, infinity and NaN by their bits. `top` is the sign bit.
fn log_special(x: u32, y: u32, infinity: u32, top: u32, nan: u32) -> u32 {
  let positive = select(y, infinity, x == infinity);
  let ordered = select(positive, nan, x > infinity);
  return select(ordered, infinity | top, (x & (top - 1u)) == 0u);
}

fn f32_log(x: u32) -> u32 {
  return log_special(x, narrow(log_odd(widen(x))), 0x7f800000u, 0x80000000u, 0x7fc00000u);
}

fn f16_log(x: u32) -> u32 {
  return log_special(x, narrow_f16(log_odd(widen_f16(x))), 0x7c00u, 0x8000u, 0x7e00u);
}

fn bf16_log(x: u32) -> u32 {
  return log_special(x, narrow_bf16(log_odd(widen_bf16(x))), 0x7f80u, 0x8000u, 0x7fc0u);
}

fn f32_log2(x: u32) -> u32 {
  return log_special(x, narrow(log2_odd(widen(x))), 0x7f800000u, 0x80000000u, 0x7fc00000u);
}

fn f16_log2(x: u32) -> u32 {
  return log_special(x, narrow_f16(log2_odd(widen_f16(x))), 0x7c00u, 0x8000u, 0x7e00u);
}

fn bf16_log2(x: u32) -> u32 {
  return log_special(x, narrow_bf16(log2_odd(widen_bf16(x))), 0x7f80u, 0x8000u, 0x7fc0u);
}

fn f32_log10(x: u32) -> u32 {
  return log_special(x, narrow(log10_odd(widen(x))), 0x7f800000u, 0x80000000u, 0x7fc00000u);
}

fn f16_log10(x: u32) -> u32 {
  return log_special(x, narrow_f16(log10_odd(widen_f16(x))), 0x7c00u, 0x8000u, 0x7e00u);
}

fn bf16_log10(x: u32) -> u32 {
  return log_special(x, narrow_bf16(log10_odd(widen_bf16(x))), 0x7f80u, 0x8000u, 0x7fc0u);
}

// y, unless x is no number above -1, or is a zero, which is its own. `one` is the format's 1.
fn log1p_special(x: u32, y: u32, infinity: u32, top: u32, nan: u32, one: u32) -> u32 {
  let a = x & (top - 1u);
  let low = select(select(y, infinity | top, x == (one | top)), nan, x > (one | top) || (a > infinity));
  return select(low, x, a == 0u || x == infinity);
}

fn f32_log1p(x: u32) -> u32 {
  return log1p_special(x, narrow(log1p_odd(widen(x))), 0x7f800000u, 0x80000000u, 0x7fc00000u, 0x3f800000u);
}

fn f16_log1p(x: u32) -> u32 {
  return log1p_special(x, narrow_f16(log1p_odd(widen_f16(x))), 0x7c00u, 0x8000u, 0x7e00u, 0x3c00u);
}

fn bf16_log1p(x: u32) -> u32 {
  return log1p_special(x, narrow_bf16(log1p_odd(widen_bf16(x))), 0x7f80u, 0x8000u, 0x7fc0u, 0x3f80u);
}
